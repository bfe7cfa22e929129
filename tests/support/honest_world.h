/* tests/support/honest_world.h -- plays a random scenario (tests/support/random_world.h) against policies/sched.h.
 *
 * It does what a simulator does and nothing else: tells facts in their order, runs cycles, carries out what is
 * decided, member by member, and keeps its own books, from which every rule is checked.  A rule that is broken ends
 * the play; `broken` holds the rule, the job and the time.
 *
 *   struct honest_world world;
 *   honest_world_open(&world, &scenario, NULL);
 *   while (honest_world_tick(&world)) ...
 *   honest_world_close(&world);
 *
 * Always checked: space is never given twice (GPUs, CPUs, memory), nor promised twice, and only on nodes that are up;
 * victims hold what they lose; sched_check; the sums of the queue tree are what jobs hold.
 */
#ifndef TESTS_SUPPORT_HONEST_WORLD_H
#define TESTS_SUPPORT_HONEST_WORLD_H

#include "base/buffer.h"
#include "policies/sched.h"
#include "tests/support/random_world.h"

#define NOBODY UINT32_MAX

enum hold_phase { HOLD_STARTING, HOLD_RUNNING, HOLD_LEAVING };

struct hold { /* one member */
    struct piece piece;
    uint8_t phase; /* enum hold_phase */
    decision_id decision;
    uint32_t due_tick; /* when it takes effect */
};

enum honest_state { JOB_COMING, JOB_THERE, JOB_OVER };

struct honest_job {
    const struct random_job *plan;
    struct job job; /* as given to the scheduler, with the ids of this play, and with the pieces that it gets */
    struct job_group more[RANDOM_WORLD_GROUPS_MAX]; /* of it */
    uint8_t share_kind[RANDOM_WORLD_GROUPS_MAX];    /* of its shares, by group: enum share_kind */
    uint32_t share_domain[RANDOM_WORLD_GROUPS_MAX]; /* of them; 0: beside anybody's */
    uint8_t state;                                  /* enum honest_state */
    bool was_retried;
    struct hold *holds;
    size_t hold_capacity;
    uint32_t hold_count;
    struct piece *reserved; /* members */
    size_t reserved_capacity;
    uint32_t reserved_count;
    time_ns decided;      /* first START since it last held nothing */
    time_ns whole_since;  /* since when it has its minimum; TIME_NEVER */
    time_ns below_since;  /* since when it holds less than its minimum, but something; TIME_NEVER */
    bool is_hurt;         /* it lost members by a fault, or some move, since it last had its minimum */
    uint32_t decisions;   /* decisions about it so far */
    uint32_t evictions;   /* evictions decided so far */
    bool was_idle;        /* it was evicted as idle, and may rest */
    uint32_t reserved_at; /* in ticks */
};

struct honest_broken {
    const char *rule; /* NULL: no rule is broken */
    char what[200];
    uint32_t job;
    uint32_t tick;  /* when the rule was found broken */
    uint32_t first; /* when the cause began: a replay should start here */
};

struct honest_world;
/* Observers of a world.  Each may be NULL. */
struct honest_watch {
    void *self;
    void (*on_decision)(struct honest_world *world, const struct decision *all, size_t count, size_t at);
    void (*on_fact)(struct honest_world *world); /* a fact was told that does not follow from a decision */
    void (*on_change)(struct honest_world *world, uint32_t job); /* the job's holdings changed */
    void (*before_cycle)(struct honest_world *world);
    void (*on_tick)(struct honest_world *world, bool had_cycle); /* the end of a tick */
};

struct honest_world {
    const struct random_world *scenario;
    struct honest_watch watch;
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched;
    job_id job_ids[RANDOM_WORLD_JOBS_MAX];
    uint32_t job_of[RANDOM_WORLD_JOBS_MAX]; /* by id */
    queue_id queue_ids[RANDOM_WORLD_QUEUES_MAX];
    struct honest_job *jobs; /* by position in the scenario */
    uint8_t node_state[RANDOM_WORLD_NODES_MAX];
    uint32_t tick, next_fault;
    time_ns now, wake_at;
    bool is_told;
    bool is_trusted;     /* true: sched_check, which calls the policy's hooks, is not run */
    uint64_t outside;    /* facts so far that do not follow from a decision */
    uint64_t breakages;  /* those of them that may cost a reservation: nodes, refusals */
    uint32_t quiet_tick; /* when the last of them was told */
    uint64_t cycles, idle_cycles, evictions, wasted;
    uint64_t idled; /* evictions of jobs that seemed idle */
    uint64_t hash;  /* of all decisions, with names in place of ids */
    struct honest_broken broken;
    struct buffer *log; /* gets a line for each fact and decision; NULL: none */
};

/* permutation: a random stream for ids; NULL: ids are in order. */
struct random_stream;
void honest_world_open(struct honest_world *world, const struct random_world *scenario,
                       struct random_stream *permutation);
void honest_world_close(struct honest_world *world);

/* Play a tick; false: all ticks are played, or a rule is broken. */
bool honest_world_tick(struct honest_world *world);

/* Note a broken rule; the first one is kept.  job: position, or NOBODY. */
void honest_world_break(struct honest_world *world, const char *rule, uint32_t first, uint32_t job, const char *format,
                        ...) LIKE_PRINTF(5, 6);

/* Members by group that are starting or running. */
void honest_job_members(const struct honest_job *job, uint32_t members[]);
bool honest_job_is_whole(const struct honest_job *job);
uint32_t honest_job_held(const struct honest_job *job); /* number of members, without leaving ones */
bool honest_job_waits(const struct honest_job *job);    /* it is there, and nothing is held or reserved */

/* ---- Free space and fits: computed naively from the books alone (honest_space.c) */

/* Whose shares are on a GPU: only shares of the same kind and domain may join them. */
struct honest_clients {
    uint32_t count, domain;
    uint8_t kind; /* enum share_kind */
};

struct honest_space {
    int64_t gpu[RANDOM_WORLD_NODES_MAX][NODE_GPUS_MAX];
    struct honest_clients clients[RANDOM_WORLD_NODES_MAX][NODE_GPUS_MAX];
    int64_t cpu[RANDOM_WORLD_NODES_MAX], memory[RANDOM_WORLD_NODES_MAX];
};

enum honest_counted {
    COUNT_HELD = 1, /* starting and running */
    COUNT_LEAVING = 2,
    COUNT_RESERVED = 4,
};
void honest_space_of(const struct honest_world *world, uint32_t counted, struct honest_space *space);
/* sign -1: the members take the space. */
void honest_space_change(const struct honest_world *world, struct honest_space *space, uint32_t job,
                         const struct piece *piece, int sign);
bool honest_space_is_overdrawn(const struct honest_world *world, const struct honest_space *space);
/* Place a member at the first place where it fits; false: there is none. */
bool honest_space_take(const struct honest_world *world, struct honest_space *space, const struct request *request);
/* The number of equal members that fit nodes that are up.  Exact. */
uint32_t honest_space_members(const struct honest_world *world, const struct honest_space *space,
                              const struct request *request);

/* What the queue (position) and all below hold, starting, running and reserved, but for what leaves;
 * firm: what cannot be preempted. */
int64_t honest_charge(const struct honest_world *world, uint32_t queue, enum resource resource, bool firm);
bool honest_is_below(const struct honest_world *world, uint32_t queue, uint32_t top);
/* May the job's queue and those above be charged these members more, by the quota's own rule?  Known for the policies
 * none, fairshare, and cohort without borrowing and lending limits. */
bool honest_knows_quota(const struct honest_world *world);
bool honest_quota_allows(const struct honest_world *world, uint32_t job, const uint32_t members[]);
int64_t honest_member_ask(const struct honest_world *world, const struct request *request, enum resource r);

void honest_world_log_decision(struct honest_world *world, const struct decision *decision);

/* The state before this tick's cycle as a case (docs/cases.md), to be run for `rounds` rounds. */
void honest_world_case(const struct honest_world *world, const char *name, uint32_t rounds, const char *expect,
                       struct buffer *out);

#endif
