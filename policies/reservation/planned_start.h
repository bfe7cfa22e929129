/* policies/reservation/planned_start.h -- planned starts: when, and on which GPUs, waiting jobs are expected to start.
 *
 * Part of the scheduler's inside: the book of planned ends and planned starts (planned_start_book.c), which
 * planned starts are promises (planned_start_promise.c), how a planned start is found (planned_start.c), planned starts
 * by count where any GPUs will do (planned_units.c), and passes (planned_pass.c), in which backfill policies use them
 * (overtake.c, reserve.c).
 *
 *   planned_start_begin(sched);
 *   if (planned_start_fits_now(sched, slot, NULL, &sched->pieces))
 *       sched_start(...), planned_start_started(sched, slot);
 *   else
 *       planned_start_find(sched, slot, 0, TIME_NEVER, NULL);
 *   planned_start_end_pass(sched);
 */
#ifndef POLICIES_RESERVATION_PLANNED_START_H
#define POLICIES_RESERVATION_PLANNED_START_H

#include "policies/booking/planned_end.h"
#include "policies/reservation/fillers.h"
#include "policies/reservation/profile.h"
#include "policies/state/sched_state.h"
#include "policies/util/node_marks.h"

struct running_end {
    time_ns end;
    uint32_t slot;
};

enum { PLANNED_START_MANY = UINT8_MAX };

struct planned_start { /* policies/reservation/planned_start.c */
    uint32_t slot;
    job_id job;
    uint32_t ask;       /* the request class it is for */
    uint8_t group;      /* its only group; PLANNED_START_MANY: the profile alone cannot decide where it fits */
    bool is_ignored;    /* scratch: to be ignored */
    bool is_yielded;    /* scratch: the job that is placed would give way to it (policies/reservation/fillers.h) */
    queue_id owed_by;   /* where queues compete: the lowest queue that does not deserve the request; QUEUE_NONE */
    uint32_t units;     /* planned by count: it has no pieces; 0: it has pieces */
    time_ns start, end; /* TIME_NEVER: its length is not known */
    uint32_t first_piece, piece_count;
    uint64_t made; /* sequence number */
};

struct planned_start_need { /* of a node, or of one GPU of it */
    node_id node;
    uint16_t gpu_mask; /* one bit, or 0: of the node */
    uint32_t owner;    /* slot of one of the jobs that need it */
    uint32_t milli, cpu_milli, memory_mib;
    int64_t excess; /* struct gpu_excess */
    time_ns start;
    uint32_t next; /* index + 1 of the need of the same node that came before; 0: none */
};

struct units_held { /* by a job */
    uint32_t gpus;  /* that become free at its planned end */
    uint8_t unit;   /* the GPUs that each of its members asks; 0: they cannot be planned by count */
    bool is_holder; /* it holds something */
};

/* Planned starts by count.  All but the first three is computed from holdings, ends and planned starts, so it is not
 * saved. */
struct planned_units {       /* policies/reservation/planned_units.c */
    uint16_t gpus;           /* of a unit, in the last pass; 0: planned starts name GPUs */
    bool is_freed;           /* units came free early */
    bool has_lost;           /* a node has changed: planned starts may not fit any more */
    bool is_unsure;          /* `held` and `holders` must be computed anew */
    uint8_t *known;          /* by request class: its unit + 1; 0: not known yet */
    struct units_held *held; /* by slot */
    size_t known_capacity, held_capacity;
    uint32_t holders[NODE_GPUS_MAX + 1]; /* jobs that hold something, by their unit */
    struct free_total free;              /* in units, over time; as GPUs */
};

struct promise { /* the earliest promised start of a job; start 0: none */
    time_ns start, made_at;
};

struct user_tally { /* jobs of a user that this pass has looked at */
    uint32_t user;
    int64_t jobs;
};

struct class_queue_cursor { /* where a pass is in a class queue */
    uint32_t class_queue;
    uint32_t at;    /* index of the next job to look at */
    uint32_t bound; /* the index behind the last */
};

enum { LENGTH_BINS = 40 }; /* lengths in seconds, by powers of two */

struct found_start { /* of a request class and a bin of lengths */
    uint64_t pass;
    time_ns length, start; /* TIME_NEVER: no start within the window */
};

struct overtake_scratch {
    struct user_tally *tallies;
    size_t tally_capacity;
    uint32_t tally_count;
    uint32_t *waiting; /* class queues */
    size_t waiting_capacity;
    uint32_t class_queue_count;
    struct class_queue_cursor *cursors; /* a binary heap, by the job that each is at */
    size_t cursor_capacity;
    uint32_t cursor_count;
    uint32_t *again; /* slots of jobs that started in this pass and wait for more members */
    size_t again_capacity;
    uint32_t again_count;
    uint32_t reserved;      /* heads for which this pass sought a planned start */
    uint64_t *refused_from; /* by request class: the least length that did not fit in this pass; UINT64_MAX: none */
    size_t refused_capacity;
    uint32_t refused_count;
    struct found_start (*found)[LENGTH_BINS]; /* by request class: the last planned start sought in a pass */
    size_t found_capacity;
    uint64_t pass;
};

struct planned_start_book {   /* policies/reservation/planned_start_book.c */
    struct planned_start *of; /* of this cycle; with backfill_config.keeps, until their jobs start */
    size_t capacity;
    uint32_t count;
    uint32_t dropped;             /* of them, with JOB_NONE */
    struct piece *pieces, *spare; /* spare: the other copy during compaction */
    size_t piece_capacity, spare_capacity;
    uint32_t piece_count;
    uint64_t made;
    uint8_t *is_promised; /* by slot: has a planned start */
    size_t promised_capacity;
    uint32_t skipped;         /* index of the planned start to be ignored; UINT32_MAX: none */
    bool is_shaken;           /* some planned start may no longer stand */
    bool is_approximate;      /* in this pass the profile of a stale node has space taken that is free */
    struct running_end *ends; /* of all jobs that hold something and have a planned end, in order */
    size_t end_capacity;
    uint32_t end_count, endless_count; /* endless: jobs without a planned end */
    time_ns *end_of;                   /* by slot; 0: it holds nothing */
    size_t end_of_capacity;
    struct promise *promises; /* by slot */
    size_t promise_capacity;
    uint32_t head;                         /* slot of the last job that got a promise as the head */
    uint64_t promised_starts, late_starts; /* see sched_counts */
    bool has_endless;                      /* some running job or planned start has no planned end */
    struct profile profile;                /* planned starts included */
    struct node_marks stale;               /* nodes whose profile must be rebuilt */
    struct node_marks freed;               /* nodes where space was freed early, or came back */
    time_ns outlived_at;                   /* when a job was last seen to outlive its planned end; -1: never */
    uint64_t cycle;                        /* of the last pass */
    time_ns passed_at;                     /* time of the last pass; -1: none */
    uint64_t passed_change;                /* state change of the last pass */
    struct planned_start_need *needs;      /* scratch */
    size_t need_capacity;
    uint32_t need_count;
    uint32_t *need_of; /* scratch, by node_id: index + 1 of its last need; 0 between uses */
    struct planned_units units;
    struct filler_book fillers; /* where jobs fill gaps */
    struct overtake_scratch overtake;
};

/* ---- planned_start_book.c */

static inline int running_end_compare(const void *a, const void *b)
{
    const struct running_end *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* The end at that index, no earlier than the next instant. */
static inline time_ns planned_start_end(const struct sched *sched, uint32_t e)
{
    const time_ns end = sched->planned_starts->ends[e].end;
    return end > sched->now ? end : planned_end_rounded(sched, sched->now + 1);
}

/* The space of that piece of the planned start. */
static inline struct space planned_start_space(const struct sched *sched, const struct planned_start *planned_start,
                                               uint32_t piece)
{
    return request_class_space(&sched->request_classes.at[planned_start->ask],
                               &sched->planned_starts->pieces[planned_start->first_piece + piece], planned_start->slot);
}

static inline bool planned_start_has(const struct planned_start_book *book, uint32_t slot)
{
    return slot < book->promised_capacity && book->is_promised[slot];
}

/* Hooks of the room's observers; own: the book. */
void planned_start_settled(struct sched *sched, void *own, uint32_t slot);
void planned_start_forgotten(struct sched *sched, void *own, uint32_t slot);
void planned_start_released(struct sched *sched, void *own, uint32_t slot, node_id node);
void planned_start_unwaits(struct sched *sched, void *own, uint32_t slot);
void planned_start_node_changed(struct sched *sched, void *own, node_id node, bool has_turned);

/* The profile of the node is to be rebuilt; those of the nodes on which the job holds something. */
void planned_start_mark_node(struct sched *sched, node_id node);
void planned_start_mark_job(struct sched *sched, uint32_t slot);
/* The planned end of the job is another one. */
void planned_start_move_end(struct sched *sched, uint32_t slot, time_ns end);
/* The planned end of the job that holds something, as it is listed: that of a filler is its START. */
time_ns planned_start_end_of(const struct sched *sched, uint32_t slot);
/* Does its job still wait with that request? */
bool planned_start_waits(const struct sched *sched, const struct planned_start *planned_start);
/* Has the planned start a piece on a node of `pieces`? */
bool planned_start_shares_node(const struct sched *sched, const struct planned_start *planned_start,
                               const struct piece_list *pieces);
/* Remove all planned starts. */
void planned_start_forget_all(struct sched *sched);
/* Remove planned starts that were dropped or no longer stand, and compact the pieces of the others.  True if any no
 * longer stood. */
bool planned_start_keep_standing(struct sched *sched);

/* Add a planned start of the job on sched->pieces. */
void planned_start_add(struct sched *sched, uint32_t slot, uint8_t group, time_ns start);
/* As above, but not to the profile or the promises; valid until the next call. */
struct planned_start *planned_start_append(struct sched *sched, uint32_t slot, uint8_t group, time_ns start);
/* Lift removes the planned start from the profile.  Afterwards it is put back, replaced by the last one in the list, or
 * dropped; the indices of the others do not change. */
void planned_start_lift(struct sched *sched, uint32_t index);
void planned_start_put_back(struct sched *sched, uint32_t index);
void planned_start_replace(struct sched *sched, uint32_t index);
void planned_start_drop(struct sched *sched, uint32_t index);
/* Is its space free now? */
bool planned_start_is_there(struct sched *sched, uint32_t index);
/* Drop a skipped planned start and copy its pieces into sched->pieces, on which the caller starts the job. */
void planned_start_fulfil(struct sched *sched, uint32_t index);
/* Is a piece of it on a freed node? */
bool planned_start_is_near_freed(const struct sched *sched, const struct planned_start *planned_start);
/* Mark it as dropped.  It is removed later, so that indices stay valid. */
void planned_start_forget_one(struct sched *sched, struct planned_start *planned_start);
/* The profiles of its nodes are to be rebuilt.  is_gone: its space has become free. */
void planned_start_mark(struct sched *sched, const struct planned_start *planned_start, bool is_gone);
/* From now on it is on sched->pieces, which the book copies. */
void planned_start_name(struct sched *sched, struct planned_start *planned_start);
/* Take its space in the profile or, if it is counted, its units. */
void planned_start_take(struct sched *sched, const struct planned_start *planned_start);

/* ---- planned_pass.c */

/* Begin a pass: remove the planned starts that do not stand, order the others by start, rebuild stale profiles. */
void planned_start_begin(struct sched *sched);
/* After the last planned_start_lift of the pass: rebuild the profiles that lifting left inexact. */
void planned_start_sharpen(struct sched *sched);
void planned_start_end_pass(struct sched *sched);
/* Enter a job that started in this pass into the profile. */
void planned_start_started(struct sched *sched, uint32_t slot);

/* ---- planned_units.c; all but the first four only where planned starts are counted */

/* The job's holdings have changed; it is forgotten. */
void planned_units_settle(struct sched *sched, uint32_t slot);
void planned_units_forget(struct sched *sched, uint32_t slot);
/* Decide whether the planned starts of this pass are counted.  O(class queues). */
void planned_units_choose(struct sched *sched);
/* The number of units that jobs of the request class need. */
uint32_t planned_units_asked(const struct sched *sched, uint32_t ask);
/* Compute what is free over time, beside all planned starts.  drops: planned starts that no longer fit,
 * tried in their order, are left out and marked (is_ignored).  Returns how many. */
uint32_t planned_units_draw(struct sched *sched, bool drops);
/* The units of the job's open STARTs. */
uint32_t planned_units_starting(const struct sched *sched, uint32_t slot);
/* Take units between the two times; planned_units_give is the reverse. */
void planned_units_take(struct sched *sched, time_ns from, time_ns until, uint32_t count);
void planned_units_give(struct sched *sched, time_ns from, time_ns until, uint32_t count);
/* The first time between `from` and `latest` from which `count` units are free for `length`, or until `until` if that
 * is earlier; TIME_NEVER: there is none. */
time_ns planned_units_find(const struct sched *sched, uint32_t count, time_ns from, time_ns latest, time_ns length,
                           time_ns until);
/* Are so many free now, without regard to planned starts? */
bool planned_units_are_free(const struct sched *sched, uint32_t count);
/* As planned_start_keep. */
void planned_units_keep(struct sched *sched, uint32_t slot);
void planned_units_release(struct planned_units *units);
/* NULL: what is kept of running jobs agrees with them; else what is wrong.  Where jobs overtake in one line. */
const char *planned_units_check(const struct sched *sched, const void *own);

/* ---- planned_start_promise.c */

/* Does the backfill policy give the job a planned start? */
bool planned_start_is_wanted(struct sched *sched, uint32_t slot);
/* The job starts (observer.start_decided): count its promise, and whether it is late. */
void planned_start_note_start(struct sched *sched, void *own, uint32_t slot);
/* The promise of the job, if it has one, is later by that time: others leave its space. */
void planned_start_postpone(struct sched *sched, uint32_t slot, time_ns by);
/* A planned start was made; is_head: the first of its pass.  Makes it a promise, except, where
 * planned starts do not stand, for jobs other than the head. */
void planned_start_note_promise(struct sched *sched, const struct planned_start *planned_start, bool is_head);

/* ---- planned_start.c */

/* Find the earliest planned start of the job, not after `latest`, beside the existing ones, and add it; false: none is
 * known.  from: it is known not to start earlier; 0: nothing is known.  only: the nodes that can have new room, for a
 * job with one member; NULL: any node may. */
bool planned_start_find(struct sched *sched, uint32_t slot, time_ns from, time_ns latest,
                        const struct node_marks *only);
/* Does the job fit at that time, with the ledger as it is then, beside planned starts for as long as it runs?  Leaves
 * the ledger as it was. */
bool planned_start_fits_at(struct sched *sched, uint32_t slot, time_ns at, struct piece_list *pieces);
/* Name GPUs for the planned starts that were planned by count.  Those for which no GPUs are found are dropped. */
void planned_start_name_all(struct sched *sched);
/* In a trial: remove all holdings of the job from the ledger. */
void planned_start_let_go(struct sched *sched, uint32_t slot);
/* False if space on freed nodes cannot make this planned start earlier.  For a job with one member the answer is exact.
 */
bool planned_start_may_move_up(struct sched *sched, uint32_t index);
/* False if at no time before its start all nodes together have enough free for its job. */
bool planned_start_may_fit_earlier(const struct sched *sched, uint32_t index);
/* Would the job fit now if there were no planned starts? */
bool planned_start_is_all(struct sched *sched, uint32_t slot);
/* Place the job now, on `pieces`, without delaying a planned start; `only` as above.  False: it does not fit. */
bool planned_start_fits_now(struct sched *sched, uint32_t slot, const struct node_marks *only,
                            struct piece_list *pieces);

/* Mark the planned starts that may not delay this job (is_ignored), until the next call. */
void planned_start_ignore_harmless(struct sched *sched, uint32_t slot);
/* Is the request class one that no planned start may delay?  So is inference where the policy puts it first. */
bool planned_start_exempts(const struct sched *sched, uint32_t request_class);

void planned_start_release(struct planned_start_book *book);

#endif
