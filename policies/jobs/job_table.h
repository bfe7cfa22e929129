/* policies/jobs/job_table.h -- the jobs that the scheduler knows, from submission to end, in slots.
 *
 * A job has a list of holdings, one for each piece.  Each holding has its own phase, so a job may run, grow and shrink
 * at the same time.
 *
 * Law: a slot belongs to one job from add to drop.  Job ids come from the facts and are never reused; slots are reused.
 * Memory: a slot for each job alive, 4 bytes for each job ever submitted.
 */
#ifndef POLICIES_JOBS_JOB_TABLE_H
#define POLICIES_JOBS_JOB_TABLE_H

#include "base/bits.h"
#include "policies/jobs/wait_clock.h"
#include "policies/order/order_config.h"
#include "policies/sched.h"

#define SLOT_NONE UINT32_MAX

enum sched_job_state {
    SJOB_NONE,     /* the slot is free */
    SJOB_HELD,     /* by its submitter, a dependency or the limit of its array */
    SJOB_PENDING,  /* holds nothing */
    SJOB_CLAIMING, /* its first space is claimed; other jobs still release some of it */
    SJOB_STARTING, /* START decided, nothing confirmed */
    SJOB_RUNNING,
    SJOB_EVICTING, /* all that it holds is leaving */
};

enum { HOLDING_PHASES = 4 };

enum holding_phase {
    HOLDING_CLAIMED,  /* claimed; other jobs may still release some of it */
    HOLDING_STARTING, /* START decided */
    HOLDING_RUNNING,
    HOLDING_LEAVING, /* EVICT decided: no longer charged to the queue */
};

struct holding {
    struct piece piece;
    uint8_t phase;        /* enum holding_phase */
    decision_id decision; /* the open one; 0: none */
};

static inline bool holding_is_in_place(const struct holding *holding)
{
    return holding->phase == HOLDING_RUNNING || holding->phase == HOLDING_STARTING;
}

/* Ordered by use: the fields that the end of a plain job reads come first. */
struct sched_job {
    job_id id;
    uint32_t request_class; /* of the whole job */
    queue_id queue;
    uint32_t class_queue;   /* where it waits; CLASS_QUEUE_NONE (policies/queues/pending.h): it does not wait */
    uint8_t state;          /* enum sched_job_state */
    uint8_t reason;         /* enum reason: why it is SJOB_HELD */
    uint8_t fill;           /* enum job_fill */
    bool is_listed;         /* among the possible victims */
    bool is_booked;         /* some holding runs or starts */
    bool is_below;          /* is_booked, but with less than its minimum */
    bool is_element;        /* of an array */
    uint8_t ranked_fill;    /* enum job_fill that its ranks were computed for; UINT8_MAX: none yet */
    uint32_t list_position; /* its position in the list of its state */
    uint32_t held_one;      /* members held, without those that leave, of a job of one group */
    uint32_t *held_more;    /* the same by group, of a job of several */
    struct holding one;     /* the only holding, while `more` is NULL */
    struct holding *more;   /* else all holdings */
    uint32_t holding_count;
    uint32_t ask; /* request class of the allocation step that it waits for */
    int32_t priority;
    uint32_t evictions;
    uint64_t rank[ORDER_CHAIN_MAX];
    time_ns decided; /* time of its first START */
    uint64_t decided_cycle;
    size_t holding_capacity;
    struct wait_mark wait;
    uint32_t phase_counts[HOLDING_PHASES]; /* its holdings by phase */
    uint32_t open_from;                    /* no holding before this index belongs to an open START */
    uint32_t unheld;                       /* how many holdings it has lost */
    int64_t running_milli;                 /* GPUs of its running holdings */
};

/* Fields that are seldom read. */
struct job_facts {
    time_ns submit, limit, estimate, deadline;
    struct checkpoint_plan checkpoint;
    uint32_t user;
    uint32_t array, array_max;
    job_id displaced_by; /* the job for which it was evicted last, in cycle displaced_cycle; JOB_NONE */
    uint64_t displaced_cycle;
    uint8_t displaced_reason;              /* enum reason of that eviction */
    time_ns grace;                         /* the grace that it asks for when evicted; 0: as the policy grants */
    time_ns waiting_since;                 /* when it last came to wait */
    time_ns below_since;                   /* since when it holds something, but less than its minimum; TIME_NEVER */
    time_ns claimed_at;                    /* when its space was claimed */
    time_ns saved_at;                      /* when its work was told to be saved; TIME_NEVER: never */
    time_ns ran, attained_at;              /* run time in all attempts, up to attained_at */
    int64_t attained_gpu_ns;               /* GPU time in all attempts, up to attained_at */
    int64_t rate_milli;                    /* GPUs that count since attained_at */
    time_ns preemption_delay, stale_after; /* set by the job itself; JOB_AS_QUEUE: not set */
    uint16_t after_left;                   /* dependencies that are still open */
    bool is_held;                          /* by its submitter */
    uint8_t claim_source;                  /* enum source */
    uint8_t stale_count;                   /* how often it was evicted as stale since it last held its minimum */
    bool is_serving;                       /* it has been running since attained_at, with or without GPUs */
    bool is_left_partial;                  /* adopted below its minimum, without having run; not whole since */
};

enum ended { ENDED_NOT, ENDED_OK, ENDED_OTHERWISE }; /* completed; any other way */

struct slot_list { /* an unordered set of slots; never an order of decisions */
    uint32_t *slots;
    size_t capacity;
    uint32_t count;
};

struct job_table {
    struct sched_job *jobs;  /* by slot */
    struct job_facts *facts; /* by slot */
    size_t capacity, facts_capacity;
    uint32_t used; /* slots ever used */
    uint32_t *free_slots;
    size_t free_capacity;
    uint32_t free_count;
    uint32_t *slot_of; /* by job_id; of a job without a slot: SLOT_NONE - enum ended */
    size_t slot_capacity;
    uint32_t id_count;
};

void job_table_release(struct job_table *table);
uint32_t job_table_add(struct job_table *table, job_id id, uint32_t group_count); /* zeroed but for id, class queue */
void job_table_drop(struct job_table *table, uint32_t slot);                      /* its holdings too */
/* The job, which has no slot, has ended. */
void job_table_note_end(struct job_table *table, job_id id, enum ended end);
enum ended job_table_end(const struct job_table *table, job_id id);

static inline uint32_t job_table_find(const struct job_table *table, job_id id) /* SLOT_NONE */
{
    uint32_t slot = id < table->id_count ? table->slot_of[id] : SLOT_NONE;
    return slot < SLOT_NONE - ENDED_OTHERWISE ? slot : SLOT_NONE;
}

static inline struct holding *sched_job_holdings(struct sched_job *job)
{
    return job->more != NULL ? job->more : &job->one;
}

static inline const struct holding *sched_job_holding(const struct sched_job *job, uint32_t index)
{
    return job->more != NULL ? &job->more[index] : &job->one;
}

/* Members held, by group. */
static inline uint32_t *sched_job_held(struct sched_job *job)
{
    return job->held_more != NULL ? job->held_more : &job->held_one;
}

/* The GPU time of `milli` thousandths of a GPU over `span`, in GPU-ns; neither is negative.  More than INT64_MAX, which
 * is 292 years of a GPU, counts as that. */
static inline int64_t gpu_time(time_ns span, int64_t milli)
{
    int64_t product;
    if (!__builtin_mul_overflow(span, milli, &product))
        return product / GPU_MILLI;
    const __int128 exact = (__int128)span * milli / GPU_MILLI;
    return exact > INT64_MAX ? INT64_MAX : (int64_t)exact;
}

/* The job's GPU time up to `now`; at most INT64_MAX. */
static inline int64_t attained_gpu_ns(const struct job_facts *facts, time_ns now)
{
    int64_t sum;
    const int64_t since = gpu_time(now - facts->attained_at, facts->rate_milli);
    return __builtin_add_overflow(facts->attained_gpu_ns, since, &sum) ? INT64_MAX : sum;
}

static inline int64_t piece_milli(const struct piece *piece)
{
    return (int64_t)bits_count16(piece->gpu_mask) * piece->gpu_milli;
}

/* Append a holding.  The pointer is valid until the next append. */
struct holding *sched_job_hold(struct sched_job *job, const struct piece *piece, enum holding_phase phase,
                               decision_id decision);
/* The holding is in this phase now. */
static inline void sched_job_turn(struct sched_job *job, struct holding *holding, enum holding_phase phase)
{
    job->phase_counts[holding->phase]--;
    job->phase_counts[phase]++;
    if (holding->phase == HOLDING_RUNNING)
        job->running_milli -= piece_milli(&holding->piece);
    if (phase == HOLDING_RUNNING)
        job->running_milli += piece_milli(&holding->piece);
    holding->phase = (uint8_t)phase;
}
/* The phases of the job's holdings, as bits. */
static inline uint32_t sched_job_phases(const struct sched_job *job)
{
    uint32_t phases = 0;
    for (uint32_t p = 0; p < HOLDING_PHASES; p++)
        phases |= (uint32_t)(job->phase_counts[p] > 0) << p;
    return phases;
}
/* Remove the holding at `index`; the others keep their order. */
void sched_job_unhold(struct sched_job *job, uint32_t index);

/* NULL: what is counted of its holdings is right, and those of an open START stand side by side; else what is wrong. */
const char *sched_job_check(const struct sched_job *job);

void slot_list_add(struct slot_list *list, struct job_table *table, uint32_t slot);
void slot_list_remove(struct slot_list *list, struct job_table *table, uint32_t slot);

#endif
