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

/* How a share of a GPU is used beside other shares. */
enum share_kind {
    SHARE_PLAIN,     /* not specified */
    SHARE_MPS,       /* all clients at the same time */
    SHARE_TIMESLICE, /* one client after another */
    SHARE_KIND_COUNT
};

/* What one member asks for.  At most one of gpus, gpu_milli, gpu_memory_mib, mig is not 0 (mig: profile + 1); all are 0
 * for a member without GPUs.  A member that asks for nothing still runs on a node, as one of its tasks. */
struct request {
    uint16_t gpus;           /* whole GPUs of one node */
    uint16_t gpu_milli;      /* a share of one GPU, 1..999 */
    uint32_t gpu_memory_mib; /* memory on one GPU */
    uint8_t mig;             /* enum mig_profile_id + 1 */
    bool one_island;         /* its whole GPUs lie in one island of the node (topologies/cluster.h) */
    uint8_t share;           /* enum share_kind, if it is a share; set by the scheduler: 0 in a declaration */
    uint32_t cpu_milli;
    uint32_t memory_mib;
    uint32_t domain;     /* only members of the same domain share its GPU or node; 0: all may; set by the scheduler */
    uint64_t gpu_models; /* bit i: cluster.models[i] is accepted; 0: any model */
    const struct node_ask *nodes; /* made for the job's cluster; borrowed; NULL: any node without a taint */
};

/* A domain: of a member that represents those of all domains. */
#define REQUEST_ANYBODYS UINT32_MAX

struct job_group {
    struct request request; /* per member */
    uint32_t count;         /* members, >= 1 */
    uint32_t min_count;     /* members that must run together, 1..count; unused when the job has sets */
    uint16_t set;           /* the set its members belong to; 0 when the job has none */
    uint8_t slice_level;    /* the level of its slices, counted as in topology_ask; 0: no slices */
    uint32_t slice_members; /* members per slice, each slice in one domain; 0: no slices */
};

/* Slices.  A tensor-parallel group of several members must not leave its NVLink domain, wherever the job's other
 * members are.  So the members of such a group (struct job_group) form slices of `slice_members`, and all members of a
 * slice are in one domain of `slice_level`.  Members are not assigned to slices: every domain of that level holds a
 * multiple of slice_members of them.
 * A task that needs several MIG instances of one node is a slice, too.  Each member holds one instance, on any GPU of
 * the node, and `slice_level` is that of "node".  Members on shares or on memory of a GPU form no slices.
 * Laws: slice_members divides count.  The minimum of a group in slices is all its members, and so is that of its set:
 * slices start and leave together (an elastic job could be left with a part of one).
 * Source: Kueue's podset slices (kueue.x-k8s.io/podset-slice-required-topology, -size); Slurm's --segment. */

/* Where members of a job or of a set must be, and where they should be if possible: levels of the cluster's tree of
 * domains (topologies/cluster.h), counted from 1, the widest; 0: no constraint. */
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
    uint16_t min_sets;    /* number of sets directly in it that it needs; 0: all */
    uint32_t min_members; /* number of members of its own groups that it needs; 0: it may be empty */
    struct topology_ask topology;
};
#define SET_NONE UINT16_MAX

enum { JOB_GROUPS_MAX = 64, JOB_SETS_MAX = 64, JOB_AFTER_MAX = 64 };
enum { JOB_PARTS_MAX = JOB_GROUPS_MAX > JOB_SETS_MAX ? JOB_GROUPS_MAX : JOB_SETS_MAX };

/* How the job saves its work. */
struct checkpoint_plan {
    time_ns interval; /* 0: never saves by itself */
    time_ns duration; /* to write a checkpoint; the grace of an eviction must be at least this */
    time_ns restart;  /* to resume after an eviction */
};

/* A dependency. */
enum after_kind { AFTER_ANY, AFTER_OK, AFTER_NOT_OK };
struct job_after {
    job_id job;
    uint8_t kind; /* enum after_kind: it ended; it completed; it failed, was cancelled or was killed */
};

enum { JOB_TAGS_MAX = 4, JOB_TAG_RULES_MAX = 8, JOB_TAG_ID_MAX = 65535 };

/* Affinity and anti-affinity between jobs.  A job has tags; its rules name tags of other jobs, and a level of the
 * cluster.
 * Laws
 *  - Required affinity: a member goes only into domains that hold a member of another job with the tag.  Required
 *    anti-affinity: only into domains that hold none.  The job's own members do not count.
 *  - Anti-affinity holds for both sides: no member of another job with the tag comes into the domain of a member whose
 *    job requires it.
 *  - If no other job in the cluster has the tag of an affinity rule, and the job itself has it, the rule holds
 *    everywhere.
 *  - A node in no domain of the level is near no member.
 *  - A leaving member keeps others away until it has left, but attracts none.
 *  - Rules are checked when members are placed; no job is evicted because of them.
 * Source: Kubernetes, inter-pod affinity and anti-affinity; YARN, allocation tags and placement constraints. */
struct tag_rule {
    uint32_t tag;
    uint8_t level; /* counted as in topology_ask; 0: the node */
    bool is_apart; /* anti-affinity; false: affinity */
    bool is_preferred;
    uint8_t unused;
};

struct job_tags {
    uint32_t tags[JOB_TAGS_MAX]; /* ids among the workload's, 0..JOB_TAG_ID_MAX; distinct */
    struct tag_rule rules[JOB_TAG_RULES_MAX];
    uint16_t tag_count, rule_count;
};

/* What must be on each node of a job before the job can work there: a container image, weights, data.  Equal ids name
 * equal objects; they are dense, from 0.  The ids of a job are distinct. */
enum { JOB_OBJECTS_MAX = 3, JOB_OBJECT_ID_MAX = INT32_MAX };

struct job_object {
    uint32_t id;
    int64_t bytes; /* >= 1 */
};

struct job_objects {
    struct job_object of[JOB_OBJECTS_MAX]; /* in the order in which a node pulls them */
    uint16_t count;
};

struct job {
    job_id id;
    queue_id queue;
    uint32_t user;    /* id among the workload's users; NAMES_NONE: unknown */
    int32_t priority; /* larger goes first; default 50 */
    uint8_t class;    /* enum job_class */
    bool is_preemptible;
    bool is_firm_by_priority; /* its submitter did not say: it is preemptible unless the policy tells by its priority */
    bool is_held;
    uint16_t group_count;          /* >= 1 */
    struct job_group first;        /* group 0 */
    const struct job_group *more;  /* groups 1..; borrowed; NULL if group_count is 1 */
    uint16_t set_count;            /* 0: each group is a set of its own */
    uint16_t min_sets;             /* number of sets in no other, or of groups, that it needs; 0: all */
    const struct job_set *sets;    /* borrowed */
    struct topology_ask topology;  /* of all members */
    uint16_t after_count;          /* jobs that must have ended before it may start */
    const struct job_after *after; /* borrowed */
    const struct job_tags *tags;   /* borrowed; NULL: no tags, no rules */
    /* topologies/communication.h; borrowed; NULL: it declares none */
    const struct communication *communication;
    const struct job_objects *objects; /* borrowed; NULL: it declares none */
    uint32_t array;                    /* id of its array, from 1; 0: none */
    uint32_t array_max;                /* elements of its array that may run at once; 0: all */
    time_ns submit;
    time_ns limit;    /* TIME_NEVER: none is declared */
    time_ns estimate; /* declared run time; TIME_NEVER: none */
    time_ns deadline; /* the time by which it should have ended; TIME_NEVER: none */
    struct checkpoint_plan checkpoint;
    const char *name;        /* the trace's own id as text; borrowed; NULL: use trace_id */
    int64_t trace_id;        /* the trace's own id when it is a number */
    int64_t attained_gpu_ns; /* GPU time that it used before its submission here; counted by least attained service */
    /* the grace that it asks for to save its work; at most what the policy grants; 0: what the policy grants */
    time_ns grace;
    /* How long it waits before other jobs are evicted for it; how long it may be below its minimum before it loses the
     * rest (TIME_NEVER: for ever).  JOB_AS_QUEUE: the time of its queue, or of the nearest queue above that has one,
     * else of the policy. */
    time_ns preemption_delay, stale_after;
};
#define JOB_AS_QUEUE INT64_C(-1)

/* Find which sets are satisfied.  satisfied: by set; in: do its own groups have their minimum?  out: is the set
 * satisfied?  sets: NULL where each group is a set of its own.  min_sets: of the job.  True if as many sets are
 * satisfied as the job needs.  O(set_count). */
bool sets_settle(const struct job_set *sets, uint32_t set_count, uint32_t min_sets, bool satisfied[]);

/* The number of sets directly in `parent`; SET_NONE: of sets in no other.  O(set_count). */
uint32_t sets_in(const struct job_set *sets, uint32_t set_count, uint16_t parent);

/* Can some set, or the job, do without a set in it?  O(set_count). */
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

/* Do the labels and taints of the node type let members run there? */
static inline bool request_takes_nodes(const struct request *request, const struct cluster *cluster, uint32_t type)
{
    return request->nodes == NULL ? !cluster->types[type].is_tainted : node_ask_takes(request->nodes, type);
}

/* Does the request accept the GPU model of that type?  For requests with GPUs. */
static inline bool request_takes_model(const struct request *request, const struct node_type *type)
{
    return request->gpu_models == 0 || (request->gpu_models >> type->model & 1);
}

static inline bool request_asks_gpus(const struct request *request)
{
    return request->gpus != 0 || request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

/* May members run on nodes of that type, by labels, taints and GPU model?  Free space is not considered.  All such
 * tests are made here. */
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

/* Why these tags and rules are not valid, or NULL. */
const char *job_tags_complaint(const struct job_tags *tags);

/* A training job of one member without any request: priority 50, preemptible, no limit, no checkpoint. */
struct job job_default(void);

/* Milli-GPUs that one member / all members ask for.  Memory and MIG requests count by the model's share if `model` is
 * given, else as a whole GPU. */
int64_t request_gpu_milli(const struct request *request, const struct gpu_model *model);
int64_t job_gpu_milli(const struct job *job);

/* The GPUs of a job whose members ask for whole GPUs or none; 0: some ask for a share, for memory or for a MIG
 * instance, or none asks for a GPU. */
uint64_t job_whole_gpus(const struct job *job);

/* As above for all members: memory and MIG requests count by the share of the cluster's first model that is accepted.
 * Used to compute loads.  cluster NULL: they count as whole GPUs. */
int64_t job_asked_milli(const struct job *job, const struct cluster *cluster);

/* Set group 0 to `gpus` whole GPUs: one member if they fit a node of `gpus_per_node`; equal members on ceil(gpus /
 * gpus_per_node) nodes if that divides `gpus`; else members of one GPU. */
void job_shape_gpus(struct job *job, uint32_t gpus, uint16_t gpus_per_node);

/* Turn the job into what is left when some members have succeeded: these count for the minimum of their group or set,
 * and hold nothing.  Empty groups are removed, and later groups move up.  At least one member of the job must be left,
 * and at least one stays needed.  Without sets, removed groups count for min_sets.  succeeded: by group, at most its
 * count.  more, sets: the job's own, which may be written.  new_index: by group, its new index; UINT16_MAX: it is
 * removed.
 * Source: KAI-Scheduler counts succeeded pods for minMember. */
void job_leave_out(struct job *job, struct job_group *more, struct job_set *sets, const uint32_t succeeded[],
                   uint16_t new_index[]);

/* Why the declaration violates the laws above, or NULL. */
const char *job_complaint(const struct job *job);

/* The part of job_complaint about slices and islands; the rest of the job must be valid. */
const char *job_closeness_complaint(const struct job *job);

#endif
