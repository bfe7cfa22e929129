/* workloads/readers/json_sets.h -- the `sets` and `topology` of a JSON line: subgroups of a job's members, and the
 * levels that they require or prefer.
 *
 *   "sets": [{"name": "decode", "min_members": 2, "topology": {"required": "rack", "preferred": "node"}},
 *            {"name": "workers", "parent": "decode"}]
 *
 * `min_sets` of a set: how many of the sets directly in it must be satisfied; default all.  A parent stands before its
 * children.  Levels are names of the cluster's levels (topologies/cluster.h); without a cluster they are ignored.
 */
#ifndef WORKLOADS_READERS_JSON_SETS_H
#define WORKLOADS_READERS_JSON_SETS_H

#include "workloads/readers/json_line.h"
#include "workloads/readers/reader.h"

enum { SET_MINIMUM_ALL = -1 };

struct json_sets {
    struct job_set sets[JOB_SETS_MAX];
    int64_t minimum[JOB_SETS_MAX]; /* SET_MINIMUM_ALL: all members that its groups have */
    uint16_t count;
};

/* The number of the level that a field names; unchanged if it names none, or without a cluster. */
struct error json_level_read(const struct reader *reader, const struct line *line, const struct field *field,
                             uint8_t *level) MUST_CHECK;

/* Read the object {"required": LEVEL, "preferred": LEVEL}. */
struct error json_topology_read(const struct reader *reader, const struct line *line, struct text object,
                                struct topology_ask *ask) MUST_CHECK;

/* Read the array; names are copied into the reader's arena. */
struct error json_sets_read(const struct reader *reader, const struct line *line, struct text array,
                            struct json_sets *sets) MUST_CHECK;

/* The index of the set of that name; -1 if there is none. */
int json_sets_find(const struct json_sets *sets, struct text name);

/* Give the sets to the job, whose groups and min_sets are read already. */
struct error json_sets_finish(const struct reader *reader, const struct line *line, struct text array,
                              const struct json_sets *sets, struct job *job) MUST_CHECK;

#endif
