/* workloads/job.h -- a job as its submitter declares it, which is all that a scheduler may know of it.
 *
 * A job is one or more groups of equal members; a member is what one node must hold
 * together.  The usual shapes:
 *
 *   4 GPUs on one node        one group, 1 member of 4 GPUs
 *   32 nodes x 8 GPUs         one group, 32 members of 8 GPUs
 *   16 GPUs anywhere (flat)   one group, 16 members of 1 GPU
 *   a seventh of a GPU        one group, 1 member of 142 milli-GPUs
 *   tensor parallel over 8    one group, 8 members of 4 GPUs in slices of 2, each in one NVLink domain (NVL72)
 *   2 MIG instances a node    one group, 2 members of one instance in a slice of 2, on one node (level "node")
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
#include "workloads/node_ask.h"

typedef uint32_t job_id; /* dense, from 0, in the order of submission; never reused */
#define JOB_NONE UINT32_MAX

enum { GPU_MILLI = 1000 };

enum job_class { JOB_TRAINING, JOB_INTERACTIVE, JOB_INFERENCE, JOB_CLASS_COUNT };
const char *job_class_name(enum job_class class); /* "training", "interactive", "inference" */
extern const char *const job_class_names[];       /* NULL-terminated */

/* How a share of a GPU is used beside others. */
enum share_kind {
    SHARE_PLAIN,     /* nothing is said of it */
    SHARE_MPS,       /* all clients at the same time */
    SHARE_TIMESLICE, /* in turns */
    SHARE_KIND_COUNT
};

/* What one member asks.  Exactly one of gpus, gpu_milli, gpu_memory_mib, mig is not 0 (mig: profile + 1), or none for
 * a member that needs no GPU.  One that needs nothing at all still stands on a node, as one of its tasks. */
struct request {
    uint16_t gpus;           /* whole GPUs of one node */
    uint16_t gpu_milli;      /* a share of one GPU, 1..999 */
    uint32_t gpu_memory_mib; /* memory on one GPU */
    uint8_t mig;             /* enum mig_profile_id + 1 */
    bool one_island;         /* its whole GPUs lie in one island of the node (topologies/cluster.h) */
    uint8_t share;           /* enum share_kind, of a share; what the scheduler made of it: 0 in a declaration */
    uint32_t cpu_milli;
    uint32_t memory_mib;
    uint32_t domain;              /* only those of the same share its GPU or node; 0: all may; as `share` */
    uint64_t gpu_models;          /* bit i: cluster.models[i] will do; 0: any */
    const struct node_ask *nodes; /* made for the cluster it is asked of; borrowed; NULL: any node without a taint */
};

/* A domain: of a member that stands for those of all. */
#define REQUEST_ANYBODYS UINT32_MAX

struct job_group {
    struct request request; /* per member */
    uint32_t count;         /* members, >= 1 */
    uint32_t min_count;     /* that must run together, 1..count; unused when the job has sets */
    uint16_t set;           /* the set its members belong to; 0 when the job has none */
    uint8_t slice_level;    /* the level of slices, counted as in topology_ask; 0: it has none */
    uint32_t slice_members; /* members in a slice, each slice in one domain; 0: it has none */
};

/* Slices.  A tensor-parallel group of several members must not leave its NVLink domain, wherever the others of the job
 * are: the members of such a group of the job (struct job_group) are parted into slices of `slice_members`, and all of
 * a slice are in one domain of `slice_level`.  Which member is of which slice is not said: in every domain of that
 * level stands a multiple of slice_members of them.
 * A task that needs several MIG instances of one node is a slice, too: a member holds one instance, so the task is as
 * many members as it needs instances, in a slice of the level "node".  They may be on one GPU or on several.  Members
 * on shares or on memory of a GPU come in no slices.
 * Laws: slice_members divides count.  A group in slices has its minimum at all its members, and so has its set: slices
 * start and leave together (an elastic job could be left with a part of one).
 * Source: Kueue's podset slices (kueue.x-k8s.io/podset-slice-required-topology, -size); Slurm's --segment. */

/* Where members of a job or of a set must be, and where they had better be: levels of the cluster's tree of
 * domains (topologies/cluster.h), counted from 1, the widest; 0: nothing is asked. */
struct topology_ask {
    uint8_t required, preferred;
};

/* A subgroup: members, of one or more groups, that belong together.  Without sets each group is a set of its own.
 * Laws
 *  - A set is satisfied when its own groups have min_members, and min_sets of the sets directly in it are satisfied.
 *  - A job runs when min_sets of the sets that are in no other are satisfied, and it holds a member.
 *  - The members of a set that is not satisfied do no work, and neither do those of the sets in it.
 *  - It never runs with nothing: some set that it needs must need a member.
 * Source: KAI-Scheduler's pod groups: minSubGroup, and minMember of each subgroup. */
struct job_set {
    const char *name;     /* borrowed; "" if it has none */
    uint16_t parent;      /* its index is smaller; SET_NONE: the job itself */
    uint16_t min_sets;    /* of those directly in it; 0: all */
    uint32_t min_members; /* of its own groups; 0: it may be empty */
    struct topology_ask topology;
};
#define SET_NONE UINT16_MAX

enum { JOB_GROUPS_MAX = 64, JOB_SETS_MAX = 64, JOB_AFTER_MAX = 64 };
enum { JOB_PARTS_MAX = JOB_GROUPS_MAX > JOB_SETS_MAX ? JOB_GROUPS_MAX : JOB_SETS_MAX };

/* How the job saves its work. */
struct checkpoint_plan {
    time_ns interval; /* 0: never saves by itself */
    time_ns duration; /* to write one; also what the grace of an eviction must cover */
    time_ns restart;  /* to come back after an eviction */
};

/* A dependency. */
enum after_kind { AFTER_ANY, AFTER_OK, AFTER_NOT_OK };
struct job_after {
    job_id job;
    uint8_t kind; /* enum after_kind: it ended; it completed; it failed, was cancelled or was killed */
};

enum { JOB_TAGS_MAX = 4, JOB_TAG_RULES_MAX = 8, JOB_TAG_ID_MAX = 65535 };

/* Nearness and distance between jobs.  A job has tags; its rules name tags of other jobs, and a level of the cluster.
 * Laws
 *  - Where a rule of nearness is required, a member goes only into domains that hold a member of another job with the
 *    tag; of distance, only where none is.  The job's own members do not count.
 *  - It holds for both sides: where a member's rule of distance is required, no member of another job with the tag
 *    comes.
 *  - If no other job in the cluster has the tag of an affinity rule, and the job itself has it, the rule holds
 *    everywhere.
 *  - A node in no domain of the level is near no member.
 *  - A leaving member keeps others away until it has left, but attracts none.
 *  - Rules are checked when members are placed; no job is evicted because of them.
 * Source: Kubernetes, inter-pod affinity and anti-affinity; YARN, allocation tags and placement constraints. */
struct tag_rule {
    uint32_t tag;
    uint8_t level; /* counted as in topology_ask; 0: the node */
    bool is_apart; /* of distance; else of nearness */
    bool is_preferred;
    uint8_t unused;
};

struct job_tags {
    uint32_t tags[JOB_TAGS_MAX]; /* ids among the workload's, 0..JOB_TAG_ID_MAX; distinct */
    struct tag_rule rules[JOB_TAG_RULES_MAX];
    uint16_t tag_count, rule_count;
};

struct job {
    job_id id;
    queue_id queue;
    uint32_t user;    /* id among the workload's users; NAMES_NONE: unknown */
    int32_t priority; /* higher goes first; default 50 */
    uint8_t class;    /* enum job_class */
    bool is_preemptible;
    bool is_held;
    uint16_t group_count;          /* >= 1 */
    struct job_group first;        /* group 0 */
    const struct job_group *more;  /* groups 1..; borrowed; NULL if group_count is 1 */
    uint16_t set_count;            /* 0: each group is a set of its own */
    uint16_t min_sets;             /* of those in no other, or of the groups; 0: all */
    const struct job_set *sets;    /* borrowed */
    struct topology_ask topology;  /* of all members */
    uint16_t after_count;          /* jobs that must have ended before it may start */
    const struct job_after *after; /* borrowed */
    const struct job_tags *tags;   /* borrowed; NULL: no tags, no rules */
    uint32_t array;                /* id of the array it is an element of, from 1; 0: none */
    uint32_t array_max;            /* elements of that array that may run at once; 0: all */
    time_ns submit;
    time_ns limit;    /* TIME_NEVER: none declared */
    time_ns estimate; /* of its run time, declared; TIME_NEVER: none */
    time_ns deadline; /* by when it should have ended; TIME_NEVER: none */
    struct checkpoint_plan checkpoint;
    const char *name;        /* the trace's own id as text; borrowed; NULL: use trace_id */
    int64_t trace_id;        /* the trace's own id when it is a number */
    int64_t attained_gpu_ns; /* GPU time it had before it was submitted here; counted by least attained service */
    time_ns grace;           /* that it asks for when evicted, to save its work; at most what the policy
                      grants; 0: that */
    /* It waits this long before others are evicted for it; below its minimum for this long it loses the
     * rest (TIME_NEVER: never).  JOB_AS_QUEUE: as its queue says, or the nearest above it that says something, else
     * the policy. */
    time_ns preemption_delay, stale_after;
};
#define JOB_AS_QUEUE INT64_C(-1)

/* Which sets are satisfied.  satisfied: by set, in: whether its own groups have their minimum; out: whether it is.
 * sets: NULL where each group is a set of its own.  min_sets: of the job.  True if the job has as many as it needs.
 * O(set_count). */
bool sets_settle(const struct job_set *sets, uint32_t set_count, uint32_t min_sets, bool satisfied[]);

/* How many sets are directly in `parent`; SET_NONE: in no other.  O(set_count). */
uint32_t sets_in(const struct job_set *sets, uint32_t set_count, uint16_t parent);

/* Does some set, or the job, not need all sets in it?  O(set_count). */
bool sets_may_lack(const struct job_set *sets, uint32_t set_count, uint32_t min_sets);

static inline const struct job_group *job_group(const struct job *job, uint32_t index)
{
    return index == 0 ? &job->first : &job->more[index - 1];
}

static inline bool request_is_same(const struct request *a, const struct request *b)
{
    return a->gpus == b->gpus && a->gpu_milli == b->gpu_milli && a->gpu_memory_mib == b->gpu_memory_mib &&
           a->mig == b->mig && a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib &&
           a->gpu_models == b->gpu_models && a->one_island == b->one_island && a->share == b->share &&
           a->domain == b->domain && node_ask_is_same(a->nodes, b->nodes);
}

/* May members stand on nodes of that type, for all that their labels and taints say? */
static inline bool request_takes_nodes(const struct request *request, const struct cluster *cluster, uint32_t type)
{
    return request->nodes == NULL ? !cluster->types[type].is_tainted : node_ask_takes(request->nodes, type);
}

/* Will the GPUs of that type do?  Of a request that asks GPUs. */
static inline bool request_takes_model(const struct request *request, const struct node_type *type)
{
    return request->gpu_models == 0 || (request->gpu_models >> type->model & 1);
}

static inline bool request_asks_gpus(const struct request *request)
{
    return request->gpus != 0 || request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

/* May members stand on nodes of that type, whatever is free there?  The one place that says so: labels, taints, and
 * the GPU model where GPUs are asked. */
static inline bool request_takes_type(const struct request *request, const struct cluster *cluster, uint32_t type)
{
    return request_takes_nodes(request, cluster, type) &&
           (request_takes_model(request, &cluster->types[type]) || !request_asks_gpus(request));
}

bool job_tags_are_same(const struct job_tags *a, const struct job_tags *b); /* both may be NULL */

/* Is the tag one of them?  O(tags). */
static inline bool job_tags_have(const struct job_tags *tags, uint32_t tag)
{
    for (uint32_t t = 0; t < tags->tag_count; t++)
        if (tags->tags[t] == tag)
            return true;
    return false;
}

/* What no tags and rules can be, or NULL. */
const char *job_tags_complaint(const struct job_tags *tags);

/* A plain training job of one member asking nothing, priority 50, preemptible, no limit, no checkpoint. */
struct job job_default(void);

/* Milli-GPUs that one member / all members ask; memory and MIG requests count by the
 * model's share when `model` is given, else as a whole GPU. */
int64_t request_gpu_milli(const struct request *request, const struct gpu_model *model);
int64_t job_gpu_milli(const struct job *job);

/* The same of all members, memory and MIG requests by the share of the cluster's first model that will do, with
 * which a load is counted.  cluster NULL: as whole GPUs. */
int64_t job_asked_milli(const struct job *job, const struct cluster *cluster);

/* Set group 0 to `gpus` whole GPUs: one member if they fit in a node of `gpus_per_node`, equal members on
 * ceil(gpus / gpus_per_node) nodes if that divides, else flat. */
void job_shape_gpus(struct job *job, uint32_t gpus, uint16_t gpus_per_node);

/* Members that have succeeded count for the minimum of their group or set and hold nothing: make of the job what is
 * left without them.  Groups of which nothing is left go, and those behind them move up; at least one member of the
 * job must be left, and at least one stays needed.  Without sets, groups that go count for min_sets. succeeded: by
 * group, at most its count.  more, sets: job's own, which may be written.  new_index: by group, where it is now;
 * UINT16_MAX: it is gone.
 * Source: KAI-Scheduler counts succeeded pods for minMember. */
void job_leave_out(struct job *job, struct job_group *more, struct job_set *sets, const uint32_t succeeded[],
                   uint16_t new_index[]);

/* Whether the declaration obeys the laws above; the reason it does not, or NULL. */
const char *job_complaint(const struct job *job);

/* The part of it that is of slices and islands; all else obeys. */
const char *job_closeness_complaint(const struct job *job);

#endif
