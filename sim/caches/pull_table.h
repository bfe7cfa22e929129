/* sim/caches/pull_table.h -- what jobs pull onto their nodes before they work, and how fast: `world.cold_starts`.
 *
 *   {"registry_gb_per_s": 40, "node_gb_per_s": 3, "rack_gb_per_s": 25, "node_cache_gib": 1000, "rack_cache_gib": 10000,
 *    "jobs": [
 *      {"class": "inference", "image": {"size_gib": 8}, "weights": {"size_gib": 130, "distinct": 40, "zipf": 1}},
 *      {"class": "training", "image": {"size_gib": 12, "scope": "user"}, "data": {"size_gib": 50, "scope": "job"}}]}
 *
 * Words.  A job pulls up to three objects (struct job_objects): its image, its weights and its data, in this order.
 *
 * Law.  A job has the objects of the first row whose conditions all hold (workloads/job_filter.h); without a row it has
 * none.  Two objects are equal if they come from the same place of the same row, for jobs that their scope does not
 * tell apart, and are the same of `distinct` ones.  Which of these a job has is drawn from a stream of the seed for its
 * id, so that all policies see the same: number k of n with a probability in proportion to k^-zipf (Zipf's law).
 *
 *   struct pull_names names = {0};
 *   const struct job_objects objects = pull_table_objects(table, &names, cluster, &job, job_names, seed);
 *
 * It does not: move bytes (sim/caches/pulls.h).
 */
#ifndef SIM_CACHES_PULL_TABLE_H
#define SIM_CACHES_PULL_TABLE_H

#include "topologies/cluster.h"
#include "workloads/job_filter.h"

/* Which jobs of a row share an object. */
enum pull_scope { PULL_SCOPE_ROW, PULL_SCOPE_USER, PULL_SCOPE_QUEUE, PULL_SCOPE_JOB };

struct pull_object {
    int64_t bytes;     /* 0: there is none */
    uint8_t scope;     /* enum pull_scope */
    uint32_t distinct; /* >= 1 */
    const double *sum; /* by number: the probability of this or a smaller one; NULL: all are equally likely */
};

struct pull_rule {
    struct job_filter jobs;                      /* parts of a GPU are rounded up */
    struct pull_object objects[JOB_OBJECTS_MAX]; /* image, weights, data */
};

struct pull_table {
    bool is_on;
    struct pull_rule *rows;
    uint32_t count;
    /* STORAGE_UNLIMITED (0): not given.  registry: in all; node: of a node; rack: of a rack's cache in all */
    int64_t registry_bytes_per_s, node_bytes_per_s, rack_bytes_per_s;
    int64_t node_cache_bytes, rack_cache_bytes; /* of each; 0: nothing is kept */
};

enum { PULL_ROWS_MAX = 1024, PULL_DISTINCT_MAX = 65536 };

/* Absent: off.  classes: the names of the workload's classes, NULL-terminated; NULL: they are not known yet.  What the
 * table points to lies in the arena.  Fails through the sticky error. */
struct pull_table pull_table_read(const struct json_value *value, struct arena *arena, const char *const *classes);

/* The objects named so far; {0}: none. */
struct pull_names {
    struct pull_name *all; /* by id */
    size_t capacity;
    uint32_t count;
    uint32_t *slots; /* by hash: id + 1; 0: free */
    uint32_t slot_count;
};

void pull_names_release(struct pull_names *names);

/* What a job pulls; count 0: nothing.  New objects get the next ids.  O(rows + log distinct). */
struct job_objects pull_table_objects(const struct pull_table *table, struct pull_names *names,
                                      const struct cluster *cluster, const struct job *job, struct job_names job_names,
                                      uint64_t seed);

#endif
