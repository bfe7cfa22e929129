/* reports/export/tracks.h -- the tracks of a timeline on which attempts are drawn: one per GPU, more if jobs share it.
 *
 * Law: what lies on one track does not overlap.  An attempt takes the track of its GPU that became free last before
 * its start; a whole GPU, its first track.  Attempts that come in the order of their ends, as in a record, need no more
 * tracks than there are jobs on the GPU at once (Carlisle and Lloyd, On the k-coloring of intervals, 1995).
 *
 *   struct track *track = tracks_take(tracks, node, gpu_index, true, row->start, row->end);
 */
#ifndef REPORTS_EXPORT_TRACKS_H
#define REPORTS_EXPORT_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "topologies/cluster.h"

enum { TRACK_NO_GPU = NODE_GPUS_MAX }; /* as gpu_index: jobs that hold no GPU of the node */

struct track {
    uint32_t lane; /* of the GPU, from 0 */
    time_ns end;   /* of what was drawn last on it */
    bool is_named; /* for the user, who sets it; false at first */
    uint64_t id;   /* of the track, from 1, in the order of first use */
};

struct tracks; /* opaque */

struct tracks *tracks_new(void);
void tracks_free(struct tracks *tracks); /* NULL is allowed */

/* The track for an attempt; borrowed until the next call. */
struct track *tracks_take(struct tracks *tracks, uint32_t node, unsigned gpu_index, bool is_whole, time_ns start,
                          time_ns end);

/* A track that was taken, by its lane. */
struct track *tracks_lane(struct tracks *tracks, uint32_t node, unsigned gpu_index, uint32_t lane);

#endif
