/* policies/placement/traffic.h -- how much the booked gangs send over each link of the fabric.
 *
 * Law.  A gang sends over a link with all its GPUs that cross it (topologies/gang_place.h), each at its mean rate when
 * it is alone.  Amounts are whole bytes per second, so sums do not depend on the order of changes: the same gangs in
 * the same places make the same traffic.
 *
 * traffic_rate: a gang sends at its own mean rate, and what the links have left it can use besides; on a full link it
 * gets an even share of the link.  (The world solves max-min shares; this looks at one gang, at the present demands.)
 *
 *   traffic_set(&traffic, cluster, slot, &flow);        a gang stands there
 *   traffic_set(&traffic, cluster, slot, NULL);         it left
 *
 * It does not: know jobs that declare no communication.
 */
#ifndef POLICIES_PLACEMENT_TRAFFIC_H
#define POLICIES_PLACEMENT_TRAFFIC_H

#include "base/mem.h"
#include "topologies/communication.h"

struct traffic_link {
    int64_t bytes_per_s; /* capacity in one direction */
    int64_t sent;        /* the sum of what gangs send */
    uint32_t senders;    /* their GPUs */
};

/* What a gang sends on the links that it crosses. */
struct traffic_flow {
    const struct fabric_use *uses;
    uint32_t use_count;
    int64_t demand; /* bytes/s of one GPU, on the mean over its steps */
};

struct traffic_job;

struct traffic {
    struct traffic_link *links;
    uint32_t link_count;      /* 0: no link can be too narrow, or no policy asks; nothing is kept */
    struct traffic_job *jobs; /* by slot */
    size_t job_capacity;
    struct arena scratch; /* for callers, who reset it before use */
};

void traffic_init(struct traffic *traffic, const struct cluster *cluster);
void traffic_release(struct traffic *traffic);

/* What the job in that slot sends from now on; flow NULL or without uses: nothing.  The uses are copied.  O(uses). */
void traffic_set(struct traffic *traffic, uint32_t slot, const struct traffic_flow *flow);

/* Where these GPUs stand, and what the gang would send if it were alone; memory comes from the arena.  places: as
 * gang_place_of left them. */
struct traffic_flow traffic_flow_of(const struct cluster *cluster, const struct communication *communication,
                                    const struct gang_place *stands, const struct gang_place *best,
                                    const struct link_place *places, uint32_t count, struct arena *arena);

/* What a GPU of another gang with that flow would get on the network while it sends, of at most `peak`. */
double traffic_rate(const struct traffic *traffic, const struct traffic_flow *flow, double peak);

/* The largest part of a link that this gang alone would use on the mean; 0: it crosses none. */
double traffic_part(const struct traffic *traffic, const struct traffic_flow *flow);

#endif
