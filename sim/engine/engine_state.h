/* sim/engine/engine_state.h -- the core of the engine, which the parts of the world (engine_part.h) call: engine.c and
 * engine_clock.c (time), engine_know.c (what jobs declare), engine_jobs.c (lives of jobs), engine_hold.c (holdings of
 * jobs, and their cost), engine_spent.c (GPU time by cause), engine_rows.c (the record), engine_stall.c (runs without
 * progress) and engine_check.c (invariants). */
#ifndef SIM_ENGINE_ENGINE_STATE_H
#define SIM_ENGINE_ENGINE_STATE_H

#include <assert.h>
#include <math.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "policies/jobs/member_kinds.h"
#include "sim/engine/engine.h"
#include "sim/engine/engine_part.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/port.h"
#include "sim/engine/stall.h"
#include "sim/job/fault.h"
#include "sim/job/job_pieces.h"
#include "sim/job/life.h"
#include "sim/job/progress.h"

#define ENGINE_SLOT_NONE UINT32_MAX

/* Members of a job that are starting, or that are leaving. */
struct sim_change {
    time_ns due;
    decision_id decision;
    struct piece *pieces; /* owned */
    uint32_t piece_count;
    uint8_t reason; /* enum reason; of leaving members */
    bool is_join;
    bool awaits_save; /* leaving members, which go as soon as the job has written its checkpoint */
};

/* The part of an attempt that ran at earlier speeds. */
struct sim_folded {
    time_ns span, overhead;
    wide_ns work;
};

enum { PACE_ONE = 1 << 20 }; /* units of work in a member-ns: a speed is exact to a millionth */

enum sim_phase { PHASE_WORK, PHASE_LOAD, PHASE_WRITE, PHASE_LEAVE, PHASE_PULL }; /* see engine_saves.c */

/* How fast a member of a job runs, in units of work per ns; without is_paced it is progress.one. */
struct sim_speed {
    uint32_t pace;            /* if is_paced: PACE_ONE x network / slow */
    uint16_t sm_active_milli; /* if is_paced: at full speed, as the workload gives it, or what stands in for it */
    bool is_sliced;           /* the slowest member is on an instance */
    double slow;              /* by its pieces and their other clients, of the slowest member */
    double network;           /* by communication, of 1 at the best place */
    double served;            /* of its compute on whole GPUs, what its pieces do at full pace */
    double host;              /* of its time, on its pieces */
    double write;             /* if is_slowed: what an asynchronous write takes of the speed */
};

/* A GPU with parts that jobs hold: whether a kernel is on it. */
struct gpu_kernels {
    int64_t absence; /* sum over its parts of -log(1 - kernel) x ABSENCE_ONE: of integers, so it is 0 when all left */
    int64_t there;   /* its part of LEVEL_KERNEL */
};

/* Parts of the time of a job, in millionths: struct gpu_parts. */
struct sim_parts {
    uint32_t host, kernel;
};

/* The fields stand in the order in which an event of a plain job reads them.  The end of a plain job reads nothing from
 * `checkpoint` on. */
struct sim_job {
    uint32_t generation; /* of the event of its end; raised to cancel it */
    uint32_t tenure;     /* of the events of its changes; raised to cancel them */
    uint32_t change_count, after_count;
    uint32_t attempts;
    uint32_t owed; /* evictions decided for it since its last START */
    uint8_t state; /* enum life_state */
    uint8_t evict_reason;
    bool is_waiting; /* it does not run: it is pending or starting, or holds less than its minimum */
    bool is_exact;   /* it gets exactly what it asks for, on any GPU model */
    uint8_t outcome; /* enum job_outcome: how it ends when its work is done */
    bool is_paced;   /* it may run at another speed than the trace's: see `speed` */
    bool is_slowed;  /* by an asynchronous write: see `speed` */
    bool is_folded;  /* a part of its attempt ran at earlier speeds: see `folded` */
    /* See engine_use.h. */
    bool is_open;           /* it is asked for work that comes anyway */
    bool is_shared;         /* it gets a part of a GPU */
    bool counts_shares;     /* likewise, and the other clients there are not in engine_clients.c */
    bool counts_all;        /* its parts count in all that it holds */
    bool counts_network;    /* of an open client of a shared GPU: nothing else is counted in engine_use.c */
    struct sim_parts parts; /* of its time, alone on what it gets */
    struct progress progress;
    struct job_pieces pieces;
    int64_t held_milli;  /* GPUs that it holds */
    int64_t asked_milli; /* GPUs that all members ask for */
    time_ns limit;
    time_ns waiting_since; /* while is_waiting */
    time_ns running_since; /* while it does not wait; its limit counts from this time */
    struct job_row row;    /* its row in the record; the name is owned */
    int64_t trace_id;      /* its name if row.name is NULL */
    struct checkpoint_plan checkpoint;
    time_ns stale_since; /* in LIFE_HOLDING: since when it is below its minimum; TIME_NEVER: it never had its minimum */
    time_ns stale_after; /* how long it may be below its minimum: by its own setting, its queue's or the policy's */
    time_ns leaves_at;   /* in LIFE_LEAVING: when all members have left */
    time_ns thaws_at;    /* if frozen: when its checkpoint is written */
    uint8_t phase;       /* enum sim_phase */
    wide_ns begun;       /* if has_charges: units that were done when it last began to run */
    struct sim_speed speed;
    struct sim_folded folded;   /* if is_folded */
    struct sim_change *changes; /* in the order in which they were decided */
    size_t change_capacity;
    struct job_after *after;
    size_t after_capacity;
    double wanted, served;   /* SM activity of what it holds: if all that it is asked for were served, and as it is on
                              * what it asks for; 0, 0: nothing can be missing */
    struct job_group *close; /* the groups of the job, if is_checked and some group asks for closeness */
    size_t close_capacity;
    uint32_t close_count; /* 0: no group asks for closeness */
};

/* An amount, and its integral over time as the present value x time minus `excess` (in units x ns).  So only changes
 * are counted, not every instant. */
struct level {
    int64_t value;
    __int128 excess;
};

/* Time of an attempt that checkpoints and pulls took. */
struct sim_spent {
    time_ns write, leave, load, warmup; /* without work; leave: to write one before members leave */
    time_ns pull;                       /* likewise, until what it pulls was there */
    time_ns slowed;                     /* the part of its time that asynchronous writes took */
};

/* An attempt that ends, for its rows. */
struct sim_attempt {
    time_ns start;
    enum attempt_end why;
    wide_ns before, kept, work; /* units done when it began, that survive it, and done by now */
};

struct sim_eviction { /* as decided; for_job: the preemptor, or JOB_NONE */
    job_id job, for_job;
    uint8_t reason; /* enum reason */
};

enum { EVICTIONS_TOLD = 3 }; /* the last evictions, told when a run stalls */

enum level_id {
    LEVEL_PENDING,
    LEVEL_RUNNING,
    LEVEL_ALLOCATED, /* held by jobs that run */
    LEVEL_ACTIVE,    /* milli-GPU x milli activity */
    LEVEL_IDLE,      /* held by jobs that work while no SM of theirs is busy; part of LEVEL_ALLOCATED */
    LEVEL_RESERVED,  /* reserved for jobs that hold nothing yet */
    LEVEL_PARTIAL,   /* held by jobs with fewer members than their minimum; not in LEVEL_ALLOCATED */
    LEVEL_FREE,      /* held by no job; those below and LEVEL_RESERVED are parts of it */
    LEVEL_STARTING,  /* of STARTs that have not taken effect */
    LEVEL_RECUT,     /* of GPUs that are being repartitioned: what is in no instance that stays */
    LEVEL_UNCOVERED, /* of other partitioned GPUs: what is in no instance */
    LEVEL_ABSENT,    /* of nodes that are not up: what no job holds or is about to hold; the two above leave it out */
    LEVEL_WAITED,    /* see sim/engine/engine_use.h: of GPUs in milli; those below in milli-GPU x millionths */
    LEVEL_HOST,
    LEVEL_NETWORK,
    LEVEL_UNKNOWN,
    LEVEL_KERNEL,
    LEVEL_COUNT
};

/* Slots of jobs that wait or run.  A slot is used again. */
struct job_slots {
    job_id *id_of; /* by slot; apart from the jobs, so that a job's id can be told before the job is fetched */
    size_t id_capacity;
    uint32_t *free;
    size_t free_capacity;
    uint32_t free_count;
    uint32_t *slot_of; /* by job_id; ENGINE_SLOT_NONE */
    size_t slot_capacity;
};

struct job_ends { /* recorded from the first job with dependencies on */
    bool is_on;
    time_ns *at; /* by job_id; 0: it has not ended */
    size_t capacity;
};

struct fresh_jobs { /* submitted since the last cycle, for queue_limit */
    uint32_t *slots;
    size_t capacity;
    uint32_t count;
};

struct next_job { /* read ahead */
    struct job job;
    struct job_truth truth;
    bool is_there;
};

struct engine_counts {
    uint64_t submitted, started, ended, evicted, rejected;
    uint64_t first_starts; /* jobs that ever ran */
    uint64_t decisions, cycles, events;
};

struct samples {
    time_ns next;
    uint64_t count; /* of the grid */
    bool wants_row; /* a sample at `now` is due, to be written when time moves on */
};

struct engine_rows {
    const struct record_sink *sinks;
    size_t sink_count;
    bool wants_jobs, wants_attempts, wants_gangs, wants_samples;
    /* scratch */
    struct link_place *places;
    size_t place_capacity;
    struct wait_times waits; /* of the row that is being written */
    struct buffer placement, number;
};

struct filling { /* where the workload fills the cluster: arrived rows are due */
    bool is_on;
    uint32_t percent; /* of the last arrived row */
    int64_t milli;    /* GPUs that the jobs submitted so far ask for */
};

struct space_memo {
    struct typical_jobs typical; /* the workload's typical jobs, for measuring; count 0: not known */
    struct census_memo census;
};

struct stalls {
    struct stall steps;
    struct sim_eviction last[EVICTIONS_TOLD]; /* a ring */
    uint64_t evictions;                       /* number of all evictions decided */
};

struct measured {
    time_ns last_submit;
    time_ns last_end;              /* of a job, or when one was rejected */
    struct offered_counts offered; /* of the jobs submitted; in a closed loop of all jobs */
    time_ns from;                  /* when rows began: 0, or the moment of a fork */
    struct sched_counts before;    /* of the scheduler at `from`; of one that took over then: 0 */
};

struct waits_before {      /* what jobs waited for before another policy took over */
    struct wait_times *of; /* by slot; NULL: none did */
    size_t capacity;
};

struct engine {
    const struct engine_config *config;
    struct engine_result *result;
    const struct policy_config *policy; /* that decides, or by whose sharing jobs get pieces; NULL: none is known */
    struct port port;
    uint32_t queues_known;
    struct error error; /* the first one; stops the loop */

    /* The clock */
    struct event_queue events;
    time_ns now;
    time_ns cycle_due;  /* TIME_NEVER: no cycle is due */
    time_ns last_cycle; /* -1: there was none yet */
    uint64_t fingerprint;
    uint32_t foreseen; /* the slot that was prefetched for the next event */

    /* The lives of jobs */
    struct sim_job *jobs; /* by slot */
    size_t job_capacity;
    uint32_t job_used;
    struct job_slots slots;
    struct job_ends ended;
    struct fresh_jobs fresh;
    struct next_job next;
    struct engine_loop *loop; /* sim/engine/engine_loop.h; NULL: the loop is open */

    /* The parts */
    const struct engine_part *parts[PART_COUNT + 1]; /* the parts that the world configures, in order; then NULL */
    void *states[PART_COUNT];                        /* of parts, by enum engine_part_id; NULL: not configured */
    uint32_t needs;                                  /* bits of enum job_need: those that some job had */
    bool has_phases;  /* jobs go through the phases of engine_saves.c; in most worlds they do not */
    bool has_charges; /* checkpoints take time */

    /* The books, and what they are written to */
    struct engine_counts counts;
    struct level levels[LEVEL_COUNT];
    int64_t pending_milli;         /* GPUs that waiting jobs ask for */
    bool has_reserved;             /* space was reserved for some job */
    struct spent *spent;           /* see engine_spent.h */
    struct gpu_kernels *kernels;   /* by gpu_id; see engine_use.h; NULL: no GPU is shared yet */
    struct sim_parts *level_parts; /* by program and SM activity in milli; NULL, and 0, 0: not computed yet */
    wide_ns active_lost_ns;        /* sum of the jobs' */
    uint16_t *gpu_used;            /* if is_checked: milli by gpu_id, counted apart from the scheduler */
    struct samples samples;
    struct engine_rows rows;
    struct filling filling;
    struct space_memo space;
    struct stalls stalls;
    struct measured measured;
    struct waits_before before;
};

static inline void engine_hash(struct engine *engine, uint64_t what, uint64_t who)
{
    engine->fingerprint = hash_mix(hash_mix(engine->fingerprint, (uint64_t)engine->now), what << 56 ^ who);
}

/* Parts: engine_parts.c */
void engine_parts_begin(struct engine *engine);                /* before the first job */
void engine_parts_need(struct engine *engine, uint32_t needs); /* begin the parts for a job that comes with these */

/* The clock: engine_clock.c */
void engine_want_cycle(struct engine *engine, time_ns at);
bool engine_is_stale(const struct engine *engine, const struct event *event); /* it was cancelled */

/* Time: engine.c */
/* Make a new scheduler, or let another program decide. */
struct error engine_open_sched(struct engine *engine, const struct engine_policy *policy,
                               const struct port_outside *decider) MUST_CHECK;

static inline void engine_level(struct engine *engine, enum level_id id, int64_t delta)
{
    engine->levels[id].value += delta;
    engine->levels[id].excess += (__int128)delta * engine->now;
}

/* When a part acts next without an event; TIME_NEVER: none does. */
static inline time_ns engine_parts_next(const struct engine *engine)
{
    time_ns next = TIME_NEVER;
    for (const struct engine_part *const *part = engine->parts; *part != NULL; part++) {
        const time_ns at = (*part)->next != NULL ? (*part)->next(engine) : TIME_NEVER;
        next = at < next ? at : next;
    }
    return next;
}

/* Is it of no single job?  Then it counts as an event though it was cancelled. */
static inline bool engine_is_of_parts(const struct event *event)
{
    return event_kind(event) == EVENT_STORAGE || event_kind(event) == EVENT_PULLS;
}

/* The part whose events these are. */
static inline const struct engine_part *engine_part_of(const struct engine *engine, enum event_kind kind)
{
    const struct engine_part *const *part = engine->parts;
    while (*part != NULL && ((*part)->events >> kind & 1) == 0)
        part++;
    return *part;
}

static inline void engine_step(struct sim_job *job, enum life_step what)
{
    enum life_state next = life_next((enum life_state)job->state, what);
    assert(next != LIFE_NONE);
    job->state = (uint8_t)next;
}

/* What jobs hold: engine_hold.c */
bool engine_is_preemption(uint8_t reason); /* of an eviction: for the sake of another job? */
void engine_begin_wait(struct engine *engine, struct sim_job *job);
void engine_end_wait(struct engine *engine, struct sim_job *job);
void engine_join(struct engine *engine, uint32_t slot, const struct piece *pieces, uint32_t count,
                 decision_id decision);                  /* a START or growth takes effect */
void engine_leave(struct engine *engine, uint32_t slot); /* all members have left */
void engine_let_go(struct engine *engine, uint32_t slot,
                   wide_ns work); /* it ends, with this work: book its last attempt, give back its space */
void engine_join_due(struct engine *engine, uint32_t slot);   /* make the joins that are due */
void engine_shrink_due(struct engine *engine, uint32_t slot); /* make the shrinks that are due */
/* The checkpoint for which some members wait is written: they leave. */
void engine_shrink_saved(struct engine *engine, uint32_t slot);
/* The job loses all members at once, without a decision of the scheduler. */
void engine_take(struct engine *engine, uint32_t slot, enum reason reason);
void engine_drop_changes(struct engine *engine, struct sim_job *job, bool joins_only);
void engine_close_job(struct engine *engine, struct sim_job *job); /* the run ends: book what it did */

/* Units of work that a member does per ns: without an asynchronous write, and as it is. */
static inline int64_t engine_full_pace(const struct sim_job *job)
{
    return job->is_paced ? job->speed.pace : job->progress.one;
}

static inline int64_t engine_pace(const struct sim_job *job)
{
    const int64_t full = engine_full_pace(job);
    return __builtin_expect(job->is_slowed, false) ? llrint(fmax(1, (double)full * (1 - job->speed.write))) : full;
}

/* End the present interval of a job that runs: fold what it did so far.  Called before anything changes that it was
 * done at. */
void engine_fold(struct engine *engine, uint32_t slot);
/* It may run at another speed than the trace's.  Called when it is submitted, by each part that may slow it. */
void engine_make_paced(struct engine *engine, uint32_t slot, const struct job_truth *truth);
/* Give a paced job the speed that the parts say it has from now on. */
void engine_set_speed(struct engine *engine, uint32_t slot);
/* milli-GPU x milli activity of what a paced job holds, if its SM activity is `level` of 1000 at full speed. */
static inline int64_t engine_busy(const struct engine *engine, uint32_t slot, uint32_t level)
{
    int64_t busy = -1;
    for (const struct engine_part *const *part = engine->parts; *part != NULL && busy < 0; part++)
        busy = (*part)->busy != NULL ? (*part)->busy(engine, slot, level) : -1;
    const struct sim_job *job = &engine->jobs[slot];
    return busy >= 0 ? busy : job->held_milli * level * engine_pace(job) / PACE_ONE;
}

/* Give the job its present speed: count its work until now, and push its new end. */
void engine_turn(struct engine *engine, uint32_t slot);
/* Its speed or its phase is another: count its GPU time by cause and its activity as they are now. */
void engine_recount(struct engine *engine, uint32_t slot);

/* Declarations: engine_know.c */
/* Note in the slot what follows from the declaration of a job. */
void engine_know(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth);
/* The job as the scheduler is told of it; `room` holds it if it differs from what it declares. */
const struct job *engine_told(const struct engine *engine, const struct job *job, struct job *room);
/* Is the network free, so that the world must not know what the job exchanges? */
bool engine_silences(const struct engine *engine, const struct job *job);
time_ns engine_stale_after(const struct engine *engine, const struct job *job); /* how long it may be incomplete */

/* Lives: engine_jobs.c */
uint32_t engine_submit(struct engine *engine, const struct job *job, const struct job_truth *truth);
void engine_apply(struct engine *engine, const struct decision *decision); /* carry out a decision */
void engine_event(struct engine *engine, const struct event *event);
void engine_reject(struct engine *engine, uint32_t slot, enum reason reason);
bool engine_waited(struct engine *engine, uint32_t slot, struct wait_times *times); /* false: it did not wait */
void engine_close(struct engine *engine); /* write the rows of all jobs that wait or run */

/* Ids of jobs submitted so far are below it: engine_loop.c. */
job_id engine_id_count(const struct engine *engine);

/* Usability of free GPUs: engine_space.c */
struct error engine_know_typical(struct engine *engine); /* before the first job is fetched */
struct space_row engine_space(struct engine *engine);

/* Runs without progress: engine_stall.c */
void engine_note_eviction(struct engine *engine, const struct decision *decision);
void engine_detect_stall(struct engine *engine); /* after a cycle: result->stall ends the run */

/* Jobs that wait while nothing runs or comes: engine_stuck.c */
void engine_find_stuck(struct engine *engine); /* at the end: fill the facts */

/* The part of a GPU that a member with that request holds: engine_gpus.c */
int64_t engine_member_milli(const struct engine *engine, const struct request *request);

/* Rows: engine_rows.c */
void engine_emit_job(struct engine *engine, const struct sim_job *job);
void engine_emit_attempt(struct engine *engine, const struct sim_job *job,
                         const struct sim_attempt *attempt); /* of the attempt that ends now */
void engine_emit_sample(struct engine *engine, time_ns at);
void engine_emit_arrived(struct engine *engine); /* after a cycle: one row for each new whole percent */
void engine_emit_finished(struct engine *engine);

/* Invariants: engine_check.c */
void engine_check_take(struct engine *engine, const struct piece *pieces, uint32_t count);
void engine_check_give(struct engine *engine, const struct piece *pieces, uint32_t count);
/* Remember its request, if it must be checked. */
void engine_check_asks(struct engine *engine, struct sim_job *own, const struct job *job);
void engine_check_pieces(struct engine *engine, const struct sim_job *job); /* after a change */
void engine_check_instant(struct engine *engine);

#endif
