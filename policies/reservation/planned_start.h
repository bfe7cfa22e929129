/* policies/reservation/planned_start.h -- when, and on which GPUs, waiting jobs will start by what is known now.
 *
 * Part of the scheduler's inside: the book of planned ends, profiles and planned starts (planned_start_book.c), which
 * planned starts are promises (planned_start_promise.c), how a planned start is found (planned_start.c), and the pass
 * in which backfill policies use them (overtake.c).
 *
 *   planned_start_begin(sched);
 *   if (planned_start_fits_now(sched, slot, NULL, &sched->pieces))
 *       sched_start(...), planned_start_started(sched, slot);
 *   else
 *       planned_start_find(sched, slot, TIME_NEVER, NULL);
 *   planned_start_end_pass(sched);
 */
#ifndef POLICIES_RESERVATION_PLANNED_START_H
#define POLICIES_RESERVATION_PLANNED_START_H

#include "policies/reservation/freed_early.h"
#include "policies/state/profile.h"

struct archive;
struct sched;

struct running_end {
    time_ns end;
    uint32_t slot;
};

enum { PLANNED_START_MANY = UINT8_MAX };

struct planned_start { /* when and where a waiting job will start; policies/reservation/planned_start.c */
    uint32_t slot;
    job_id job;
    uint32_t ask;       /* the request class it is for */
    uint8_t group;      /* of it, all that is asked; PLANNED_START_MANY: more than the profile tells */
    bool is_entitled;   /* where queues compete: to what it asks */
    bool is_aside;      /* scratch: is to be looked away from */
    time_ns start, end; /* TIME_NEVER: its length is not known */
    uint32_t first_piece, piece_count;
    uint64_t made; /* a later one has a larger number */
};

struct planned_start_need { /* of a node, or of one GPU of it */
    node_id node;
    uint16_t gpu_mask; /* one bit, or 0: of the node */
    uint32_t owner;    /* slot of one of those that need it */
    uint32_t milli, cpu_milli, memory_mib;
    time_ns start;
};

struct promise { /* the earliest planned start of a job that others may not delay; start 0: none */
    time_ns start, made_at;
};

struct planned_start_book {   /* policies/reservation/planned_start_book.c */
    struct planned_start *of; /* of this cycle, or standing until their jobs start */
    size_t capacity;
    uint32_t count;
    uint32_t dropped;             /* of them, with JOB_NONE */
    struct piece *pieces, *spare; /* spare: the other copy while they are put together */
    size_t piece_capacity, spare_capacity;
    uint32_t piece_count;
    uint64_t made;
    uint8_t *is_promised; /* by slot: has a planned start */
    size_t promised_capacity;
    uint32_t lifted;          /* index of the planned start that is to be looked away from; UINT32_MAX: none */
    bool is_shaken;           /* some planned start may stand no more */
    bool is_blurred;          /* in this pass something stayed in the profile that is no more */
    struct running_end *ends; /* of all that hold something and will end, in their order */
    size_t end_capacity;
    uint32_t end_count, endless_count; /* those that never say when */
    time_ns *end_of;                   /* by slot; 0: it holds nothing */
    size_t end_of_capacity;
    struct promise *promises; /* by slot */
    size_t promise_capacity;
    uint32_t head;                         /* slot of the last one that was promised something as the head */
    uint64_t promised_starts, late_starts; /* see sched_counts */
    bool has_endless;                      /* something holds space, or will, and never says until when */
    struct profile profile;                /* planned starts included */
    struct node_marks stale;               /* whose profile must be drawn anew */
    struct freed_early eased;              /* where something left before its time, or came back */
    time_ns outlived_at;                   /* when it was last seen that something stayed longer than it said; -1 */
    uint64_t cycle;                        /* of the last pass */
    time_ns passed_at;                     /* when that was; -1 */
    uint64_t passed_change;                /* as of then */
    struct planned_start_need *needs;      /* scratch */
    size_t need_capacity;
    uint32_t need_count;
};

struct user_tally { /* looked at in this pass */
    uint32_t user;
    int64_t jobs;
};

struct overtake_scratch {
    struct user_tally *tallies;
    size_t tally_capacity;
    uint32_t tally_count;
    uint32_t *waiting; /* slots, in the order of the chain; or class queues */
    size_t waiting_capacity;
    uint32_t class_queue_count;
    uint32_t reserved;      /* so many heads were to be given a planned start in this pass */
    uint64_t *refused_from; /* by request class: from this length on it did not fit in this pass; UINT64_MAX: no such */
    size_t refused_capacity;
    uint32_t refused_count;
};

/* ---- planned_start_book.c */

/* The end in the list, no earlier than the next instant. */
time_ns planned_start_end(const struct sched *sched, uint32_t e);

/* What the job holds has changed; it holds nothing and is forgotten; a piece of it is leaving that node for good; it
 * waits no more. */
void planned_start_settle(struct sched *sched, uint32_t slot);
void planned_start_forget(struct sched *sched, uint32_t slot);
void planned_start_left(struct sched *sched, uint32_t slot, node_id node);
void planned_start_unwait(struct sched *sched, uint32_t slot);

/* A pass begins: forget the planned starts that do not stand, put the others in the order of their starts. */
void planned_start_begin(struct sched *sched);
/* No planned start is lifted any more in this pass: the profile is what they say. */
void planned_start_sharpen(struct sched *sched);
void planned_start_end_pass(struct sched *sched);
/* In this pass the job has started. */
void planned_start_started(struct sched *sched, uint32_t slot);

/* The job will start then on sched->pieces. */
void planned_start_add(struct sched *sched, uint32_t slot, uint8_t group, time_ns start);
/* The same, in the list alone; borrowed until the next. */
struct planned_start *planned_start_append(struct sched *sched, uint32_t slot, uint8_t group, time_ns start);
/* Does its job still wait for just that, and are the nodes there? */
bool planned_start_stands(const struct sched *sched, const struct planned_start *planned_start);
/* As if there were no such planned start, until it is put back, or the last one takes its place for good, or nothing
 * does; the indices of the others stay. */
void planned_start_lift(struct sched *sched, uint32_t index);
void planned_start_put_back(struct sched *sched, uint32_t index);
void planned_start_replace(struct sched *sched, uint32_t index);
void planned_start_drop(struct sched *sched, uint32_t index);
/* Is all that was planned start free now?  Then fulfil, of a planned start that is lifted, forgets it and puts its
 * pieces into sched->pieces, for the job to be started there. */
bool planned_start_is_there(struct sched *sched, uint32_t index);
void planned_start_fulfil(struct sched *sched, uint32_t index);
/* Is it on one of the eased nodes? */
bool planned_start_is_near_eased(const struct sched *sched, const struct planned_start *planned_start);

/* ---- planned_start_promise.c */

/* Are standing planned starts made anew when something changes (COMPRESSION_REPLAN)? */
bool planned_start_replans(const struct sched *sched);
/* The job starts: in time, if it was promised one? */
void planned_start_note_start(struct sched *sched, uint32_t slot);
/* The planned start is made; is_head: first of its pass.  It becomes a promise, unless that is for
 * planned_start_note_first to say. */
void planned_start_note_promise(struct sched *sched, const struct planned_start *planned_start, bool is_head);
/* Under `replan`, at the end of a pass: the planned start of the first job in line becomes a promise.  O(class queues
 * + planned starts). */
void planned_start_note_first(struct sched *sched);

/* ---- planned_start.c */

/* When and where the job will start, not after `latest`, kept beside those found before; false: nobody knows.  Where
 * the caller knows that nothing but nodes of `only` can be of use (NULL: any may), one member is looked for there
 * alone. */
bool planned_start_find(struct sched *sched, uint32_t slot, time_ns latest, const struct node_marks *only);
/* Does it fit at that time, with the ledger as it is then, beside planned starts for as long as it runs?  The ledger
 * is as before. */
bool planned_start_fits_at(struct sched *sched, uint32_t slot, time_ns at, struct piece_list *pieces);
/* All that the job holds leaves the ledger, in a trial. */
void planned_start_let_go(struct sched *sched, uint32_t slot);
/* False if nothing that eased lets the job of that planned start start earlier.  Of one member the answer is exact. */
bool planned_start_may_move_up(struct sched *sched, uint32_t index);
/* False if at no moment before its start so much is free, of all nodes together, as the job of that planned start
 * needs. */
bool planned_start_may_fit_earlier(const struct sched *sched, uint32_t index);
/* Is it planned starts alone that it stands in the way of: would it fit now without them? */
bool planned_start_is_all(struct sched *sched, uint32_t slot);
/* Where it may start now without standing in the way of a planned start; `only` as above. */
bool planned_start_fits_now(struct sched *sched, uint32_t slot, const struct node_marks *only,
                            struct piece_list *pieces);

/* ---- overtake.c */

void overtake_release(struct overtake_scratch *overtake);

#endif
