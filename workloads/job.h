/* workloads/job.h -- a job as its submitter declares it; all that a scheduler may know of it.
 *
 * A job is one or more groups of equal members; a member is what one node must hold
 * together.  The usual shapes:
 *
 *   4 GPUs on one node        one group, 1 member of 4 GPUs
 *   32 nodes x 8 GPUs         one group, 32 members of 8 GPUs
 *   16 GPUs anywhere (flat)   one group, 16 members of 1 GPU
 *   a seventh of a GPU        one group, 1 member of 142 milli-GPUs
 *
 * Law: what really happens to it (run time, failure, activity) is struct job_truth in
 * workloads/job_truth.h, which no policy may include.
 * Amounts are integers: milli-GPUs, milli-CPUs, MiB.
 */
#ifndef WORKLOADS_JOB_H
#define WORKLOADS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/time.h"
#include "topologies/cluster.h"
#include "topologies/queue_table.h"

typedef uint32_t job_id; /* dense, from 0, in the order of submission; never reused */
#define JOB_NONE UINT32_MAX

enum { GPU_MILLI = 1000 };

enum job_class { JOB_TRAINING, JOB_INTERACTIVE, JOB_INFERENCE, JOB_CLASS_COUNT };
const char *job_class_name(enum job_class class); /* "training", "interactive", "inference" */
extern const char *const job_class_names[];       /* NULL-terminated */

/* What one member asks.  Exactly one of gpus, gpu_milli, gpu_memory_mib, mig is not 0 (mig: profile + 1),
 * or none for a member that needs no GPU. */
struct request {
    uint16_t gpus;           /* whole GPUs of one node */
    uint16_t gpu_milli;      /* a share of one GPU, 1..999 */
    uint32_t gpu_memory_mib; /* memory on one GPU */
    uint8_t mig;             /* enum mig_profile_id + 1 */
    uint32_t cpu_milli;
    uint32_t memory_mib;
    uint64_t gpu_models; /* bit i: cluster.models[i] will do; 0: any */
};

struct job_group {
    struct request request; /* per member */
    uint32_t count;         /* members, >= 1 */
    uint32_t min_count;     /* that must run together, 1..count */
};

enum { JOB_GROUPS_MAX = 64 };

/* How the job saves its work. */
struct checkpoint_plan {
    time_ns interval; /* 0: never saves by itself */
    time_ns duration; /* to write one; also what the grace of an eviction must cover */
    time_ns restart;  /* to come back after an eviction */
};

struct job {
    job_id id;
    queue_id queue;
    uint32_t user;    /* id among the workload's users; NAMES_NONE: unknown */
    int32_t priority; /* higher goes first; default 50 */
    uint8_t class;    /* enum job_class */
    bool is_preemptible;
    bool is_held;
    uint16_t group_count;         /* >= 1 */
    struct job_group first;       /* group 0 */
    const struct job_group *more; /* groups 1..; borrowed; NULL if group_count is 1 */
    time_ns submit;
    time_ns limit; /* TIME_NEVER: none declared */
    struct checkpoint_plan checkpoint;
    const char *name; /* the trace's own id as text; borrowed; NULL: use trace_id */
    int64_t trace_id; /* the trace's own id when it is a number */
};

static inline const struct job_group *job_group(const struct job *job, uint32_t index)
{
    return index == 0 ? &job->first : &job->more[index - 1];
}

/* A plain training job of one member asking nothing, priority 50, preemptible, no limit, no checkpoint. */
struct job job_default(void);

/* Milli-GPUs that one member / all members (the minimum ones) ask; memory and MIG requests count by the
 * model's share when `model` is given, else as a whole GPU. */
int64_t request_gpu_milli(const struct request *request, const struct gpu_model *model);
int64_t job_gpu_milli(const struct job *job);

/* Set group 0 to `gpus` whole GPUs: one member if they fit in a node of `gpus_per_node`, equal members on
 * ceil(gpus / gpus_per_node) nodes if that divides, else flat. */
void job_shape_gpus(struct job *job, uint32_t gpus, uint16_t gpus_per_node);

/* Whether the declaration obeys the laws above; the reason it does not, or NULL. */
const char *job_complaint(const struct job *job);

#endif
