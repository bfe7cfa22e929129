/* tests/support/random_world.h -- a random scenario as plain data: a cluster, a queue tree, jobs with their run times
 * and ends, and nodes that fail.
 *
 * tests/support/honest_world.h plays it.  Everything is known in advance.  So a scenario can be played again with other
 * ids, or with jobs left out until it is the smallest one that still fails.
 *
 * Law: the scenario depends on seed, preset and kind alone; every job passes job_complaint.
 */
#ifndef TESTS_SUPPORT_RANDOM_WORLD_H
#define TESTS_SUPPORT_RANDOM_WORLD_H

#include "policies/policy_config.h"
#include "topologies/queue_table.h"
#include "workloads/job.h"

enum {
    RANDOM_WORLD_NODES_MAX = 12,
    RANDOM_WORLD_QUEUES_MAX = 24,
    RANDOM_WORLD_JOBS_MAX = 96,
    RANDOM_WORLD_FAULTS_MAX = 16,
    RANDOM_WORLD_GROUPS_MAX = 3
};

enum random_world_kind {
    RANDOM_WORLD_BUSY,    /* jobs come and end, nodes fail, decisions are refused */
    RANDOM_WORLD_QUIET,   /* jobs come and stay; then nothing happens for a long time */
    RANDOM_WORLD_RECLAIM, /* borrowers of one GPU fill the cluster, then owners come; nothing fails */
    RANDOM_WORLD_KIND_COUNT
};

struct random_node {
    uint16_t gpus;
    uint32_t cpus, memory_gb; /* 0: ample */
};

struct random_queue {
    uint32_t parent;        /* position; QUEUE_NONE: a top queue */
    struct queue_spec spec; /* without name and parent */
    bool is_leaf;
};

struct random_job {
    struct job job; /* its queue is a position; it has no id */
    struct job_group more[RANDOM_WORLD_GROUPS_MAX];
    struct job_set sets[RANDOM_WORLD_GROUPS_MAX];
    time_ns duration;  /* it ends after running this long; TIME_NEVER */
    time_ns cancel_at; /* TIME_NEVER */
    bool is_retried;   /* it fails at first, and comes again */
    bool is_absent;    /* left out of the play */
};

struct random_fault { /* the state of a node changes */
    time_ns at;
    node_id node;
    uint8_t state; /* enum node_state */
    bool is_absent;
};

struct random_world {
    uint64_t seed;
    uint32_t preset; /* index of policy_preset_texts */
    enum random_world_kind kind;
    struct policy_config policy;
    struct random_node nodes[RANDOM_WORLD_NODES_MAX];
    uint32_t node_count;
    struct random_queue queues[RANDOM_WORLD_QUEUES_MAX]; /* parents first */
    uint32_t queue_count;
    struct random_job jobs[RANDOM_WORLD_JOBS_MAX]; /* in order of submission */
    uint32_t job_count;
    struct random_fault faults[RANDOM_WORLD_FAULTS_MAX]; /* in order of time */
    uint32_t fault_count;
    time_ns period;        /* cycles are on this grid */
    uint32_t ticks;        /* to play */
    uint32_t delay_ticks;  /* until a START takes effect */
    uint32_t refuse_milli; /* part of the decisions that is refused */
    bool is_each_tick;     /* a cycle at each tick, even without facts */
    bool communicates;     /* see random_world_communicate */
    bool is_bound;         /* see random_world_bind */
    bool is_watched;       /* see random_world_watch */
};

/* Names of presets: policy_preset_texts. */
void random_world_make(struct random_world *world, uint64_t seed, uint32_t preset, enum random_world_kind kind);

/* Let jobs do without some of their sets: half of the jobs with sets, any number of sets.  All else is unchanged. */
void random_world_choose_sets(struct random_world *world);

/* The cluster has the levels unit (two nodes) and node; a third of the jobs and of their sets require or prefer one, and
 * most of these jobs are elastic.  All else is unchanged. */
void random_world_bind(struct random_world *world);

/* Most jobs declare what they exchange, the fabric is oversubscribed, and the placement policy is `fastest`.  All
 * else is unchanged. */
void random_world_communicate(struct random_world *world);

/* A monitor tells of running jobs whether they are idle, and the policy has an `idle` policy.  All else is
 * unchanged. */
void random_world_watch(struct random_world *world);

/* Built for each play; the caller frees it.  queue_ids: by position. */
struct cluster *random_world_cluster_new(const struct random_world *world);
struct queue_table *random_world_queues_new(const struct random_world *world, const queue_id *queue_ids);

#endif
