/* sim/capacity/capacity_table.h -- the recorded size of a cluster over time: `world.capacity`.
 *
 *   "world": {"capacity": "cluster_gpu_number.csv"}                          a file, plain or zstd
 *   "world": {"capacity": [{"time_s": 0, "nodes": 100}, {"time_s": 86400, "nodes": 96}]}
 *
 * From the time of a row on, the pool has `nodes` nodes in service: its first ones.  Before its first row all nodes of
 * a pool are in service.  After its last row that row holds.  Two forms of files are told apart by the header:
 *
 *   time_s,pool,nodes    (or `gpus`)   seconds of simulated time; `pool` may be left out if the cluster has one
 *   date,<pool>,...,total              GPUs by date.  If each pool of the cluster has a column of its name, these
 *                                      are its sizes; else the cluster must have one pool, and `total` is its size.
 *                                      Helios publishes cluster_gpu_number.csv so: date, GPUs of each virtual
 *                                      cluster, total.
 *
 * GPUs are turned into nodes of the pool, rounded to the nearest number, and up at a half: rounding down would let a
 * cluster shrink by up to a node in each pool, on average by half of one.
 *
 * Laws
 *  - Times do not go back from row to row.  A pool never has more nodes in service than it has: the cluster is modelled
 *    at its largest.
 *  - Of a date the whole day is meant: it counts from 0:00 in the zone of the trace (workload.tz_offset).
 *
 * It does not: know when simulated time begins: dates are on the trace's own clock, and the facts of the workload turn
 * them into simulated times (capacity_step_at).
 */
#ifndef SIM_CAPACITY_CAPACITY_TABLE_H
#define SIM_CAPACITY_CAPACITY_TABLE_H

#include "base/json.h"
#include "topologies/cluster.h"
#include "workloads/offered_load.h"
#include "workloads/readers/source.h"
#include "workloads/readers/zone.h"

enum { CAPACITY_STEPS_MAX = 1 << 20 };

struct capacity_step {
    time_ns at; /* >= 0; simulated, or on the clock of the trace */
    uint32_t pool;
    uint32_t nodes; /* in service from then on */
};

struct capacity_table {                /* {0}: the size is constant */
    const struct capacity_step *steps; /* in order of time */
    uint32_t count;
    bool is_dated;    /* `at` is on the trace's own clock, which the workload's arrivals may be scaled against */
    const char *path; /* NULL: it was no file; else borrowed from the document */
    char digest[33];  /* of the file as it was read */
};

/* How dates become times. */
struct capacity_clock {
    bool is_known;    /* the jobs come from a trace; false: a file with dates is an error */
    struct zone zone; /* of dates, which name none */
};

/* Absent: constant.  The steps lie in the arena.  Fails through the sticky error, at the line and column of a file. */
struct capacity_table capacity_table_read(const struct json_value *value, const struct cluster *cluster,
                                          struct capacity_clock clock, struct arena *arena);

/* When a step is made, in simulated time; before it begins: 0.  facts: of the workload, whose source is open. */
time_ns capacity_step_at(const struct capacity_table *table, uint32_t step, const struct workload_facts *facts);

/* GPU time in service between two times, in nanoseconds by GPU model.  A node that the table has taken out of service
 * does not count, even if jobs still run there.  O(steps). */
void capacity_gpu_time(const struct capacity_table *table, const struct cluster *cluster,
                       const struct workload_facts *facts, time_ns from, time_ns to,
                       offered_sum by_model[CLUSTER_MODELS_MAX]);

#endif
