/* workloads/offered_load.h -- offered load: the GPU time that jobs ask, against the GPU time that there is while they
 * arrive.  The one place where it is computed; everything that tells a load of a workload reads it here.
 *
 *   struct offered_counts counts;
 *   offered_begin(&counts, OFFERED_STREAM, cluster, world_end);
 *   offered_add(&counts, &job, &truth);                    each job, in any order
 *   struct offered_load load = offered_end(&counts, NULL); all GPUs are in service
 *   offered_release(&counts);
 *
 *   4 jobs of 8 GPUs and 1 hour that arrive at 0 h, 2 h, 4 h and 8 h ask 32 GPU hours.  In 8 hours 16 GPUs have 128:
 *   the offered load is 0.25.
 *
 * Words
 *   asked        GPUs of all members x run time.  An elastic job asks its largest size.  A share of a GPU, memory and
 *                a MIG instance count as parts of a GPU (job_asked_milli).  The run time is that of all recorded
 *                attempts (job_truth_work); a limit does not shorten it
 *   span         from the first submission to the last
 *   in service   the GPUs of the cluster, without those of nodes out of service (world.capacity); a node leaves at the
 *                time that the table says, although a job may still hold it
 *   offered load asked / GPU time in service in the span
 *   batch        jobs that arrive in less time than they run: the span is shorter than the mean run time of the jobs,
 *                and no more come later (world.end).  A percentage of so short a span says nothing, so a batch has no
 *                offered load.  It has a makespan, and a lower bound of it: the larger of asked / all GPUs, and the
 *                makespan if no job waited
 *   stream       all other jobs that are submitted at given times
 *
 * Laws
 *  - The load depends on the jobs, the cluster and the recorded sizes of the cluster alone: it is the same under every
 *    policy, seed of a failure and length of a warm-up.  So jobs that fit no node count, and those of the warm-up.
 *    Jobs submitted after world.end do not exist.
 *  - It is one number: `trace info`, `validate`, `run`, its page, result.json, `report` and `plan` tell the same.
 *  - workload.load is this number: a trace that is scaled to a load has it, to the rounding of times to microseconds,
 *    if all its jobs come before world.end and the GPUs in service are those to which the load is relative.
 *    workload.shake and workload.blocks change the jobs after that, so a seed's own load differs as its jobs do.
 *  - In a closed loop users decide when jobs come, by their waits: it has users in place of a load.  Jobs that fill a
 *    cluster run as long as it is filled: they have no load either.
 *  - Sums are integers, so the order of the jobs does not matter.
 * Test: tests/property/test_offered_load.c recomputes it from the jobs, in random scenarios.  It once caught that one
 * scenario had a load of 1.2, 0.9, 0.855 and 0.605, by the command that told it.
 *
 * It does not: say how busy a cluster will be.  Jobs that are rejected or killed ask what they do not get.
 */
#ifndef WORKLOADS_OFFERED_LOAD_H
#define WORKLOADS_OFFERED_LOAD_H

#include "base/buffer.h"
#include "workloads/job.h"

struct job_truth;

__extension__ typedef unsigned __int128 offered_sum;

enum offered_kind {
    OFFERED_NONE,        /* no job came */
    OFFERED_STREAM,      /* it has a load */
    OFFERED_BATCH,       /* it has a lower bound of its makespan */
    OFFERED_CLOSED_LOOP, /* it has users */
    OFFERED_FILL,        /* jobs that fill the cluster */
    OFFERED_KIND_COUNT
};
extern const char *const offered_kind_names[]; /* "none", "stream", "batch", "closed_loop", "fill"; NULL-terminated */

struct offered_part {
    uint8_t model; /* of the cluster, of jobs that can get no other; JOB_MODEL_ANY: jobs that several would do for */
    uint64_t gpus; /* of the model; of JOB_MODEL_ANY all */
    double asked_gpu_s, gpu_s; /* asked; in service in the span */
};

enum { OFFERED_PARTS_MAX = CLUSTER_MODELS_MAX + 1 };

struct offered_load {
    uint8_t kind; /* enum offered_kind */
    uint64_t jobs;
    double ratio;            /* the offered load; NAN unless it is a stream */
    struct offered_part all; /* of all GPUs and jobs */
    double first_s, last_s;  /* submissions; 0 without jobs */
    double run_mean_s;       /* mean run time of the jobs */
    double bound_s;          /* a lower bound of the makespan of a batch; else 0 */
    uint64_t users;          /* of a closed loop; else 0 */
    /* By GPU model of which there are GPUs, in the order of the cluster, and last JOB_MODEL_ANY if there are such jobs:
     * what they ask adds up to all.  None if the cluster has GPUs of one model. */
    struct offered_part parts[OFFERED_PARTS_MAX];
    uint32_t part_count;
};

/* The load of a part; NAN: nothing is in service, or it is no stream. */
double offered_part_ratio(const struct offered_load *load, const struct offered_part *part);

struct offered_counts {
    const struct cluster *cluster; /* borrowed; NULL: there is no load, and pieces count as whole GPUs */
    uint8_t kind;
    time_ns until;
    bool is_cut; /* some jobs come later, or would have come: this is no batch */
    uint64_t jobs;
    offered_sum run_ns;
    offered_sum asked_milli_ns[OFFERED_PARTS_MAX]; /* by model; the last: JOB_MODEL_ANY */
    time_ns first, last, latest_end;
    uint64_t *users; /* a bit by user; of a closed loop */
    size_t user_capacity;
};

/* kind: OFFERED_STREAM, OFFERED_CLOSED_LOOP or OFFERED_FILL; a stream may turn out to be a batch.  until: jobs that are
 * submitted later do not count, but those of a closed loop; TIME_NEVER: all count. */
void offered_begin(struct offered_counts *counts, enum offered_kind kind, const struct cluster *cluster, time_ns until);

/* Count a job.  O(groups x node types). */
void offered_add(struct offered_counts *counts, const struct job *job, const struct job_truth *truth);

/* Count time from another moment on: all submissions so far move by `shift`. */
void offered_move(struct offered_counts *counts, time_ns shift);

/* Compute it from the counts so far.  in_service: GPU time in nanoseconds by model of the cluster, from the first
 * submission to the last (sim/capacity/capacity_table.h); NULL: all GPUs are always in service. */
struct offered_load offered_end(const struct offered_counts *counts, const offered_sum *in_service);

/* Would a stream of these jobs be a batch? */
bool offered_is_batch(const struct offered_counts *counts);

void offered_release(struct offered_counts *counts); /* {0} is allowed */

/* Append {"kind": ..., "ratio": ..., ...}, as result.json, `trace info` and `validate` have it.  model_names: by model
 * of the cluster. */
void offered_json(const struct offered_load *load, const char *const *model_names, struct buffer *out);

/* The names of the cluster's models, for offered_json.  cluster: NULL: none. */
struct offered_names {
    const char *of[CLUSTER_MODELS_MAX + 1]; /* NULL-terminated; borrowed from the cluster */
};
struct offered_names offered_names_of(const struct cluster *cluster);

#endif
