/* policies/sched.h -- the scheduler, as a simulator or a live adaptor sees it: facts in, decisions out.
 *
 * The world reports what happened (facts) and asks for a cycle.  The scheduler answers with decisions; the world
 * carries them out and confirms them with facts.  The simulator drives it (sim/engine/engine.c), lines of text do
 * (policies/wire.h), and any program that links libwindtunnel_sched can (tests/library/test_sched_alone.c is a small
 * one).
 *
 * Laws
 *  1. It has no clock, I/O, environment, globals or threads.  `now` comes from outside and never goes back.
 *  2. It knows no future: struct job holds only what a submitter declares.
 *  3. Decisions are booked at once: a START counts as allocated, and what an EVICT names as being released until the
 *     fact comes.  sched_decision_refused undoes either.
 *  4. When a node goes down, the world reports that first.  Then it reports exactly one of evicted or ended for every
 *     job that had anything on the node, also if the job was only starting there.
 *  5. The same facts and cycles at the same times give the same decisions.
 *  6. It comes to rest.  wake_at is a time after now at which something can change.  A cycle that changes nothing asks
 *     for no other one before a new fact, or a timer stated in the policy.  A failed plan is tried again after state
 *     changes, or at a time that it named, never just because there is a cycle.  No timer of the policy is shorter
 *     than a second (SCHED_PATIENCE_MIN), even if the policy file says so.
 *  7. A victim cannot take its place back: in the after-state the order puts the preemptor before every victim, and a
 *     reservation stands until its victims were due to leave.  A job whose eviction helped no job is evicted more and
 *     more rarely.
 *  8. It checks what it is told.  A fact that breaks a precondition stated here is counted (sched_refused) and has no
 *     other effect.  Pointers, and what the readers of clusters, queues, policies and node requests make, are trusted.
 *
 *   struct sched *sched = sched_new(cluster, queues, policy, &error);
 *   sched_job_submitted(sched, &job, now);
 *   size_t count = sched_cycle(sched, now, &decisions, &wake_at);
 *   for (size_t i = 0; i < count; i++)
 *       if (decisions[i].kind == DECISION_START) ... sched_job_started(sched, decisions[i].job, decisions[i].id, now);
 *
 * Members.  A job may hold fewer members than it has: at least its minimum when gangs are all or nothing, one by one
 * under the `hoard` gang policy, and above the minimum it grows and shrinks.  A START of a job that holds members
 * already is a growth; an EVICT of some of its members is a shrink.  Both name their pieces.
 *
 * Geometry.  A REPARTITION asks the world to cut a GPU into other MIG instances (policies/geometry/geometry.h);
 * sched_gpu_changed reports that it is done.  Until then the new instances are claimed for the job that the decision
 * names.  That job starts afterwards.
 *
 * It does not: explain why a job waits, beyond a code and times (policies/explain.h does).
 */
#ifndef POLICIES_SCHED_H
#define POLICIES_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/reason.h"
#include "base/time.h"
#include "topologies/cluster.h"
#include "topologies/mig_layout.h"
#include "topologies/queue_table.h"
#include "workloads/job.h"

struct sched;         /* opaque */
struct policy_config; /* policies/policy_config.h */

enum { PIECE_PART_BITS = 4 };

/* Members of one group on one node.  The amounts of CPU and memory follow from the job's request, and so does the
 * profile of a MIG instance (one member per piece; gpu_milli: GPU_MILLI / 8 for each of its memory slices). */
struct piece {
    node_id node;
    uint16_t gpu_mask;                    /* GPUs of the node, bit i: index i; 0: CPU only */
    uint16_t gpu_milli;                   /* of each GPU in the mask: GPU_MILLI, or a share of the one GPU */
    uint16_t member_count;                /* placed here */
    uint8_t group;                        /* of the job */
    unsigned mig_start : PIECE_PART_BITS; /* memory slice where its MIG instance starts; of others 0 */
    unsigned share : PIECE_PART_BITS;     /* enum share_kind of a share; of others, instances too, SHARE_PLAIN */
};
enum { PIECE_PART_MASK = (1 << PIECE_PART_BITS) - 1 };
_Static_assert(MIG_SLICES - 1 <= PIECE_PART_MASK && SHARE_KIND_COUNT - 1 <= PIECE_PART_MASK, "a part has too few bits");

/* The decision's number in the high half, its job in the low one. */
typedef uint64_t decision_id;

/* The number of a decision among all that its scheduler ever made: 1, 2, 3, ... in the order in which they are told,
 * without gaps.  Decisions that are taken back within their cycle have none. */
static inline uint64_t decision_number(decision_id id)
{
    return id >> 32;
}

/* Instead of a layout: the GPU is not partitioned. */
#define MIG_LAYOUT_WHOLE UINT16_MAX

/* Where the space of a START came from. */
enum source {
    SOURCE_FREE,
    SOURCE_HEADROOM, /* free space that is kept for inference */
    SOURCE_GRACE_0,  /* evictions that needed no grace */
    SOURCE_EVICTION,
    SOURCE_GAP, /* free space that a planned start needs later: the job fills the gap, and gives way then */
    SOURCE_COUNT
};

enum decision_kind {
    DECISION_START,       /* pieces: where; of a job that runs: these are added */
    DECISION_EVICT,       /* pieces leave within `grace`; for_job is the preemptor, or JOB_NONE */
    DECISION_RESERVE,     /* pieces are held for job while others leave them; a START follows */
    DECISION_RELEASE,     /* the reservation of job is given up */
    DECISION_REJECT,      /* job will never be started; it is forgotten at once; no fact follows */
    DECISION_REPARTITION, /* the one GPU of the piece is to be cut as `layout` says, for this job */
    DECISION_NOTIFY,      /* tell the submitter that the job seems idle; grace: it may lose space after so long */
};

struct decision {
    decision_id id;
    enum decision_kind kind;
    job_id job;
    job_id for_job;
    enum reason reason;
    time_ns grace;              /* 0: at once, unsaved work is lost */
    bool is_partial;            /* START: a growth; EVICT: a shrink */
    enum source source;         /* START: where its space came from */
    mig_layout_id layout;       /* REPARTITION; MIG_LAYOUT_WHOLE: not partitioned */
    const struct piece *pieces; /* borrowed until the next call that changes the scheduler */
    uint32_t piece_count;
    const struct wait_times *waited; /* REJECT: from its submission; borrowed as the pieces are */
};

/* Some members of a job: those of a decision, those on a node, or all. */
struct members {
    decision_id decision; /* 0: of any decision */
    node_id node;         /* NODE_NONE: on any node */
};
#define MEMBERS_ALL ((struct members){0, NODE_NONE})

/* What a monitor measured of a job: late, noisy and with gaps; never the truth. */
struct observation {
    time_ns since, until;     /* the window of the measurement: [since, until), until <= now */
    uint16_t sm_active_milli; /* mean SM activity of the GPUs that it held, 0..GPU_MILLI */
};

enum job_end { JOB_END_COMPLETED, JOB_END_FAILED, JOB_END_CANCELLED, JOB_END_LIMIT };
enum evict_end { EVICT_SAVED, EVICT_LOST };
enum refusal { REFUSED_STALE, REFUSED_NODE_DOWN, REFUSED_BUSY };
enum node_state { NODE_UP, NODE_CORDONED, NODE_DRAINING, NODE_DOWN, NODE_ABSENT };

/* cluster, queues: borrowed for the scheduler's life; queues may only grow (see sched_queues_changed).
 * On error it returns NULL, and *error says what is wrong in the policy. */
struct sched *sched_new(const struct cluster *cluster, const struct queue_table *queues,
                        const struct policy_config *policy, struct error *error);
void sched_free(struct sched *sched);

/* Facts.  Each is O(1) except for the length of a placement and the depth of the queue tree, unless its comment says
 * so.  A fact about a job that the scheduler does not know (it never came, has ended, or was rejected), or about a
 * decision that is not open, changes nothing and is counted: see sched_refused.  A fact that does not suit the job's
 * state is ignored.
 *
 * Preconditions of all: `now` is not before the last fact or cycle, and at most SCHED_TIME_MAX; nodes are of the
 * cluster; values of an enum are among its names.  A fact that breaks one of them, or one that its comment states, is
 * counted and dropped: see sched_refused. */
#define SCHED_TIME_MAX ((INT64_C(1) << 62) - 1) /* 146 years: a time and a span still add up */
enum {
    SCHED_JOB_ID_MAX = (1 << 28) - 1, /* 4 bytes of memory for each id up to the largest */
    SCHED_ARRAY_MAX = 1 << 24,        /* 32 bytes for each array up to the largest */
    SCHED_MEMBERS_MAX = 1 << 30,      /* of one job */
};

/* The job is new: its id was never told before, and is at most SCHED_JOB_ID_MAX.  Its queue was reported
 * (sched_queues_changed).  The declaration is valid (job_complaint), its levels are of the cluster, and what only the
 * scheduler sets is 0.  No time is negative; limit, estimate, deadline and stale_after are at most SCHED_TIME_MAX or
 * TIME_NEVER, attained_gpu_ns at most SCHED_TIME_MAX, other times TIME_NS_MAX.  It depends on jobs with smaller ids.
 * Copied; a held one waits. */
void sched_job_submitted(struct sched *sched, const struct job *job, time_ns now);
void sched_job_released(struct sched *sched, job_id job, time_ns now);  /* no longer held */
void sched_job_cancelled(struct sched *sched, job_id job, time_ns now); /* while it waits; O(jobs of its kind) */

/* The job was submitted and started before this scheduler was made: it runs on these pieces since `started`, which is
 * from 0 to now.  The job is as for sched_job_submitted.  There is a piece, the pieces are of the kind that the job
 * asks for, no group has more members on them than it has, and their space is free.
 * Law: under a gang policy a job that was adopted below its minimum and has not run (started is now) gets its minimum,
 * or is evicted (EVICT, StaleGang): after stale_after if the policy evicts stale gangs, else after SCHED_PATIENCE_MIN.
 * (tests/property/test_fork.c.  A gang that another policy had left half placed once held its GPUs under a policy that
 * starts gangs as a whole.) */
void sched_job_adopted(struct sched *sched, const struct job *job, const struct piece *pieces, uint32_t piece_count,
                       time_ns started, time_ns now);
/* What became of a job before this scheduler was made.  It goes with the next submission or adoption, if that is of
 * this job; without it a job has no past but its attained_gpu_ns.  Times are from 0 to now, or TIME_NEVER where that
 * stands. */
struct job_history {
    uint32_t evictions;
    uint8_t stale_count;     /* how often it was evicted as stale since it last held its minimum */
    time_ns waiting_since;   /* when it last came to wait: what preemption delays and costs count from */
    time_ns below_since;     /* since when it holds something, but less than its minimum; TIME_NEVER: it does not */
    time_ns saved_at;        /* when its work was told to be saved; TIME_NEVER: never */
    time_ns ran;             /* run time in all attempts, up to now */
    int64_t attained_gpu_ns; /* GPU time likewise, with that before its submission */
};
void sched_job_history_told(struct sched *sched, job_id job, const struct job_history *history, time_ns now);
/* The user's decayed usage in that queue (policies/state/accounts.h), in thousandths of a unit-second, takes the place
 * of what was known.  Only order policies that count usage keep it.  That of queues stands in their table
 * (usage_ppm). */
void sched_user_usage_told(struct sched *sched, queue_id queue, uint32_t user, int64_t usage_milli, time_ns now);
/* A START took effect. */
void sched_job_started(struct sched *sched, job_id job, decision_id decision, time_ns now);
/* Members are leaving, without a decision of this scheduler. */
void sched_job_leaving(struct sched *sched, job_id job, struct members which, time_ns now);
/* Members have left; a job that lost all waits again, one below its minimum is stale. */
void sched_job_evicted(struct sched *sched, job_id job, struct members which, enum evict_end end, time_ns now);
void sched_job_ended(struct sched *sched, job_id job, enum job_end end, bool will_retry, time_ns now);
/* A checkpoint is whole: its work up to now is saved.  (One that was written while the job worked on holds the work of
 * its beginning; the difference is not told.)  Without this fact the scheduler assumes the declared interval. */
void sched_job_checkpointed(struct sched *sched, job_id job, time_ns now);
/* A monitor measured its SM activity.  Only the `idle` policy (policies/idle/idle.h) uses it, and only of the classes
 * that it names; others need not be told.  A window that began before the job last came to run is ignored. */
void sched_job_observed(struct sched *sched, job_id job, const struct observation *observation, time_ns now);
void sched_decision_refused(struct sched *sched, decision_id decision, enum refusal why, time_ns now);
/* The open decision of this number: a START that has not taken effect, an EVICT whose members have not left, or a
 * REPARTITION that is not done.  0: none is open.  O(what all jobs hold). */
decision_id sched_open_decision(const struct sched *sched, uint64_t number);
void sched_node_changed(struct sched *sched, node_id node, enum node_state state, time_ns now);
/* The GPU now has this layout, whether this scheduler decided it or not.  What the change removed was reported as
 * having left before.  A layout without an instance that is in use is ignored.  The GPU is one of the node's; the
 * layout is MIG_LAYOUT_WHOLE, or below MIG_LAYOUT_COUNT and the GPU's model has MIG. */
void sched_gpu_changed(struct sched *sched, node_id node, uint32_t gpu_index, mig_layout_id layout, time_ns now);
/* There are at least as many queues as before; they keep their parents, and each stands behind its parent.  O(queues).
 */
void sched_queues_changed(struct sched *sched, const struct queue_table *queues, time_ns now);
/* As above, where those before `first` are as they were reported.  If none of the others was known: O(new queues x
 * their depth), unless they are older than known ones; some quota policies go through all queues at the next cycle. */
void sched_queues_added(struct sched *sched, const struct queue_table *queues, queue_id first, time_ns now);

/* The members of typical jobs, for placement policies that use them (uses_typical): kinds of members, `count` of each.
 * They replace those learned from submitted jobs, and those told before.  Each is valid as the group of a job.  Copied.
 * O(kinds). */
void sched_typical_told(struct sched *sched, const struct job_group *kinds, uint32_t kind_count, time_ns now);

/* From now on, if *stop is not 0, a cycle starts no more jobs and ends soon, in the middle of a job's growth too; what
 * it has decided stands.  For a world that is about to end: law 5 does not hold from then on.  Borrowed;
 * NULL, as at first: no stop.  O(1). */
void sched_stop_at(struct sched *sched, const volatile int *stop);

/* What is wrong with a fact. */
enum wrong_fact {
    WRONG_NOTHING,
    WRONG_TIME,
    WRONG_JOB,    /* its declaration */
    WRONG_JOB_ID, /* told before, or too large */
    WRONG_QUEUE,
    WRONG_NODE,
    WRONG_GPU,
    WRONG_LAYOUT,
    WRONG_PIECES,
    WRONG_QUEUES,
    WRONG_VALUE, /* of an enum */
    WRONG_UNKNOWN_JOB,
    WRONG_DECISION, /* it is not open */
    WRONG_COUNT
};

/* The facts that were dropped since the scheduler was made.  Borrowed; a caller that wants to know whether
 * its last fact was taken compares `count` before and after. */
struct refused_facts {
    uint64_t count; /* of all kinds */
    uint64_t by[WRONG_COUNT];
    enum wrong_fact last; /* WRONG_NOTHING: none was dropped */
};
const struct refused_facts *sched_refused(const struct sched *sched);

/* The world has tested what its jobs declare, as the readers of traces do: of a new job only its id and its queue are
 * tested.  Off by default. */
void sched_trust_jobs(struct sched *sched, bool is_on);
const char *wrong_fact_text(enum wrong_fact wrong); /* for any value; static: "its node is not in the cluster" */

/* Decide.  `now` as in a fact; at a wrong time nothing is decided.  *out is borrowed until the next call.  *wake_at:
 * when a cycle is due even if no fact comes (TIME_NEVER: never). */
size_t sched_cycle(struct sched *sched, time_ns now, const struct decision **out, time_ns *wake_at);

/* Counts for reports and checks. */
struct sched_counts {
    uint32_t pending_jobs;            /* jobs without a START, also reserved and held ones */
    uint32_t reserved_jobs;           /* those of them for which space is being freed */
    uint32_t running_jobs;            /* started or starting, not being evicted */
    int64_t used_gpu_milli;           /* booked to starting and running jobs and to reservations already there */
    int64_t reserved_gpu_milli;       /* the part of it held for jobs whose other pieces are not free yet */
    int64_t releasing_gpu_milli;      /* of jobs being evicted */
    uint64_t cycles, attempts, plans; /* cycles; placements tried; eviction plans committed */
    uint64_t plans_tried;             /* attempts to make a plan; most fail */
    uint64_t promised_starts;         /* starts of jobs for which backfill had promised a time */
    /* Promised starts that came later, although no job outlived its planned end, no node changed and the order put no
     * job before them. */
    uint64_t late_starts;
    uint64_t recuts; /* GPUs for which a REPARTITION was decided */
};
void sched_count(const struct sched *sched, struct sched_counts *counts);
/* GPUs that waiting jobs ask for: all that could start if there were room and their turn came, with members beyond the
 * minimum of jobs that run.  Jobs that are held, or that others hold back, ask for none.  O(1). */
int64_t sched_waiting_gpu_milli(const struct sched *sched);

/* Why a job waits, as of the last cycle (policies/state/waits.h).  REASON_NONE: it is not known, or does not wait. */
enum reason sched_why(const struct sched *sched, job_id job);

/* The planned start of a waiting job, as of the last cycle that planned starts; TIME_NEVER: it has none.  Under
 * `conservative` the job starts no later, unless a job outlives its limit.  O(jobs with a planned start). */
time_ns sched_planned_start(const struct sched *sched, job_id job);

/* Does the job fill a gap (policies/reservation/fillers.h)?  *to: the waiting job with the earliest planned start that
 * it gives way to, and *start that time; JOB_NONE and TIME_NEVER: none waits now.  O(jobs with a planned start). */
bool sched_fills_gap(struct sched *sched, job_id job, job_id *to, time_ns *start);

/* How long the job has waited until `now` in all its waits, by the reason that sched_why gave; the times add up
 * exactly.  now: not before the last fact or cycle.  False: it has not waited, or is not known. */
bool sched_waited(const struct sched *sched, job_id job, time_ns now, struct wait_times *times);

/* Switch the counting of these times on or off, before the first fact; it is on by default.  sched_why answers in any
 * case. */
void sched_count_waits(struct sched *sched, bool is_on);

/* Compute all sums and lists again and compare.  NULL if all laws hold, else a static text that says which is broken.
 * O(whole state); for debug runs and tests. */
const char *sched_check(const struct sched *sched);

/* Hash of the ledger's logical state. */
uint64_t sched_hash(const struct sched *sched);

#endif
