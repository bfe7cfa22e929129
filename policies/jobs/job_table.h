/* policies/jobs/job_table.h -- the jobs the scheduler knows, from submission to end, in reused slots.
 *
 * What a job holds is a list of holdings, one per piece, each with a phase of its own: a job may run, grow and
 * shrink at the same time.
 *
 * Law: a slot belongs to one job from add to drop; ids are the world's and never reused, slots are.
 * Memory: a slot per job alive, 4 bytes per job ever submitted.
 */
#ifndef POLICIES_JOBS_JOB_TABLE_H
#define POLICIES_JOBS_JOB_TABLE_H

#include "policies/jobs/wait_clock.h"
#include "policies/order/order_config.h"
#include "policies/sched.h"

#define SLOT_NONE UINT32_MAX

enum sched_job_state {
    SJOB_NONE,     /* the slot is free */
    SJOB_HELD,     /* by its submitter, a dependency or the limit of its array */
    SJOB_PENDING,  /* holds nothing */
    SJOB_CLAIMING, /* its first space is promised, some of it still being released */
    SJOB_STARTING, /* START decided, nothing confirmed */
    SJOB_RUNNING,
    SJOB_EVICTING, /* all it holds is on its way out */
};

enum holding_phase {
    HOLDING_CLAIMED,  /* promised; some of it may still be released by others */
    HOLDING_STARTING, /* START decided */
    HOLDING_RUNNING,
    HOLDING_LEAVING, /* EVICT decided: not charged to the queue any more */
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

/* In the order of use: what the end of a plain job looks at comes first. */
struct sched_job {
    job_id id;
    uint32_t request_class; /* of the whole job */
    queue_id queue;
    uint32_t class_queue;   /* where it waits; CLASS_QUEUE_NONE (policies/queues/pending.h): it does not */
    uint8_t state;          /* enum sched_job_state */
    uint8_t reason;         /* enum reason: why it is SJOB_HELD */
    uint8_t fill;           /* enum job_fill */
    bool is_listed;         /* among the possible victims */
    bool is_booked;         /* holds something that runs or starts */
    bool is_below;          /* so, but less than its minimum */
    bool is_element;        /* of an array */
    uint8_t ranked_fill;    /* enum job_fill that its ranks were computed for; UINT8_MAX: none yet */
    uint32_t list_position; /* in whichever list of its state it stands */
    uint32_t held_one;      /* members held, those that leave not counted: of a job of one group, */
    uint32_t *held_more;    /* by group, else */
    struct holding one;     /* the only holding, while `more` is NULL */
    struct holding *more;   /* all of them, else */
    uint32_t holding_count;
    uint32_t ask; /* of the allocation step it waits for */
    int32_t priority;
    uint32_t evictions;
    uint64_t rank[ORDER_CHAIN_MAX];
    time_ns decided; /* when its first START was */
    uint64_t decided_cycle;
    size_t holding_capacity;
    struct wait_mark wait;
};

/* What is looked at seldom. */
struct job_facts {
    time_ns submit, limit, estimate, deadline;
    struct checkpoint_plan checkpoint;
    uint32_t user;
    uint32_t array, array_max;
    job_id displaced_by; /* for whom it was evicted last, in cycle displaced_cycle; JOB_NONE */
    uint64_t displaced_cycle;
    time_ns grace;                         /* that it asks for when evicted; 0: as the policy grants */
    time_ns waiting_since;                 /* when it last came to wait */
    time_ns below_since;                   /* since when it holds less than its minimum, but something; TIME_NEVER */
    time_ns claimed_at;                    /* when its space was promised */
    time_ns saved_at;                      /* the world said its work is safe; TIME_NEVER: it never did */
    time_ns ran, attained_at;              /* run time in all attempts, counted up to then */
    int64_t attained_gpu_ns;               /* GPU time likewise */
    int64_t rate_milli;                    /* GPUs that count since then */
    time_ns preemption_delay, stale_after; /* of its own; JOB_AS_QUEUE */
    uint16_t after_left;                   /* dependencies that are still open */
    bool is_held;                          /* by its submitter */
    uint8_t claim_source;                  /* enum source */
    uint8_t stale_count;                   /* times it was evicted as stale since it last had its minimum */
    bool is_serving;                       /* it runs since attained_at, on GPUs or without */
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
    uint32_t *slot_of; /* by job_id; of one that is in no slot SLOT_NONE - enum ended */
    size_t slot_capacity;
    uint32_t id_count;
};

void job_table_release(struct job_table *table);
/* Save or load (policies/util/archive.h).  request classes: those of the jobs, loaded before.  O(slots + jobs ever
 * submitted). */
struct archive;
struct request_class_table;
void job_table_archive(struct archive *archive, struct job_table *table,
                       const struct request_class_table *request_classes);
uint32_t job_table_add(struct job_table *table, job_id id, uint32_t group_count); /* zeroed but for id, class queue */
void job_table_drop(struct job_table *table, uint32_t slot);                      /* its holdings too */
/* The job, which is in no slot, is over. */
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

/* The GPU time of `milli` thousandths of a GPU over `span`, in GPU-ns. */
static inline int64_t gpu_time(time_ns span, int64_t milli)
{
    int64_t product;
    return __builtin_mul_overflow(span, milli, &product) ? (int64_t)((__int128)span * milli / GPU_MILLI)
                                                         : product / GPU_MILLI;
}

/* GPU time at the rate of now, up to now. */
static inline int64_t attained_gpu_ns(const struct job_facts *facts, time_ns now)
{
    return facts->attained_gpu_ns + gpu_time(now - facts->attained_at, facts->rate_milli);
}

/* Append a holding; the pointer is good until the next append. */
struct holding *sched_job_hold(struct sched_job *job, const struct piece *piece, enum holding_phase phase,
                               decision_id decision);
/* Remove the holding at `index`; the order of the others stays. */
void sched_job_unhold(struct sched_job *job, uint32_t index);

void slot_list_add(struct slot_list *list, struct job_table *table, uint32_t slot);
void slot_list_remove(struct slot_list *list, struct job_table *table, uint32_t slot);

#endif
