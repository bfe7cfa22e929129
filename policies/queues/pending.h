/* policies/queues/pending.h -- jobs that wait, in lanes: one lane per line and shape.
 *
 * A line is where jobs wait for their turn: the leaf queue, or a single one when the quota policy is
 * flat.  Within a lane all jobs ask the same, so that what blocks the head blocks all.
 *
 * Law: the head of a lane is the first by (ranks of the order chain, id).  A lane is closed while its shape is
 * (placement memo; where only owners may use what is left, for heads known to borrow), or while its queue has no
 * headroom (quota memo); the two are kept apart and ANDed.
 * What the lanes of a line ask is kept as a set of shapes, so that a line where nothing may go is not looked at.
 * Cost: add and remove of the head O(log jobs of the lane); the head of a line O(its lanes).
 */
#ifndef POLICIES_QUEUES_PENDING_H
#define POLICIES_QUEUES_PENDING_H

#include "policies/jobs/job_table.h"
#include "policies/jobs/request_class.h"

#define LANE_NONE UINT32_MAX

struct lane_entry {
    uint64_t rank; /* the first of the chain */
    uint32_t slot;
};

enum { PLAN_KINDS_MAX = 3 };

enum memo_state { MEMO_ABSENT, MEMO_AWAKE, MEMO_ASLEEP }; /* policies/state/retry_queue.c */

/* What is remembered of eviction plans of one kind that came to nothing: back-off counts state changes. */
struct plan_memo {
    uint32_t failed;   /* in a row */
    uint32_t sleep;    /* how often it slept */
    uint8_t state;     /* enum memo_state */
    bool awaits_worth; /* it was too dear: only time, or what its queue deserves, helps */
    bool awaits_start; /* a victim was ripe but had not started; a start told voids the back-off */
    bool is_dozing;    /* asleep for no failure, but because its head is not patient... */
    time_ns dozes_until;     /* ...before that */
    uint64_t starts_seen;    /* the scheduler's count of starts when that was */
    uint64_t tried_cycle;    /* the last cycle in which a plan failed */
    uint64_t retry_change;   /* no plan before so many state changes... */
    job_id nobody_for;       /* for this head nobody was found that may go... */
    uint32_t nobody_version; /* ...until its queue's jobs change... */
    time_ns nobody_until;    /* ...or one of them is ripe */
    time_ns ripe_at;         /* ...or before a victim that was too young may be taken; TIME_NEVER */
};

struct lane {
    queue_id line;
    uint32_t shape;
    struct lane_entry *heap; /* 4-ary */
    size_t capacity;
    uint32_t count;
    uint32_t busy_position;  /* in pending.busy, while count > 0 */
    uint32_t class_position; /* in pending.by_class, likewise */
    uint32_t line_position;  /* in its line's lanes */
    queue_id quota_block;    /* the queue whose limit closed it, or QUEUE_NONE */
    queue_id
        owed_by; /* while is_borrower: the queue that is beyond what it deserves with one more */
    bool is_borrower;           /* nothing that is kept for owners is for its head */
    uint8_t class;              /* enum job_class, of its shape */
    bool is_kept_from;          /* a limit closed it for what is kept for others */
    bool is_offset;             /* its clock has one: */
    time_ns offset[HAND_COUNT]; /* from what it reads of its shape's */
    uint8_t split;              /* enum clock_hand: of kept space; HAND_NONE: all read the same */
    uint8_t instead;            /* enum clock_hand: what jobs not in front read for it */
    uint32_t front_count;       /* jobs in front, WAIT_FRONT */
    time_ns moved[HAND_COUNT];  /* from what is read in front to what the others read */
};

struct line_lane { /* what a look at the lanes of a line needs of those that cannot go */
    uint32_t lane, shape;
    uint32_t
        asks_as; /* enum asker; ASKER_COUNT: it does not ask: it has no jobs, or a limit closed it */
};

/* A lane asks while it has jobs and no queue's limit closed it. */
struct line {
    shape_set asked[ASKER_COUNT]; /* by its lanes */
    struct line_lane *lanes;
    size_t capacity;
    uint32_t lane_count;
    uint32_t job_count;
    uint32_t *
        borrowers; /* lanes that this queue, here or above theirs, made is_borrower; some are so no more */
    size_t borrower_capacity;
    uint32_t borrower_count;
    uint32_t
        borrower_bound; /* so many may stand there before those that are so no more are cleared out */
    int64_t borrower_least_milli;                 /* the least GPUs that one of them asks */
    bool is_changed;                              /* in pending.changed */
    uint32_t asking[ASKER_COUNT][SHAPE_SET_BITS]; /* lanes, by the bit of their shape */
};

struct pending {
    const struct job_table *jobs;
    struct shape_table *shapes;
    uint32_t rank_count;
    bool is_strict;
    struct lane *lanes;
    size_t lane_capacity;
    struct plan_memo (*memos)[PLAN_KINDS_MAX]; /* by lane */
    size_t memo_capacity;
    uint32_t lane_count;
    uint32_t *busy; /* lanes with jobs, in no order */
    size_t busy_capacity;
    uint32_t busy_count;
    struct line *lines; /* by queue_id */
    size_t line_capacity;
    uint32_t line_count;
    queue_id *changed; /* lines whose `asked` changed since the contest last looked */
    size_t changed_capacity;
    uint32_t changed_count;
    uint32_t job_count;
    uint32_t *by_class[JOB_CLASS_COUNT]; /* those of `busy` whose jobs are of it, in no order */
    size_t by_class_capacity[JOB_CLASS_COUNT];
    uint32_t by_class_count[JOB_CLASS_COUNT];
    uint32_t class_jobs[JOB_CLASS_COUNT];    /* that wait */
    shape_set class_shapes[JOB_CLASS_COUNT]; /* of its lanes */
    bool keeps_headroom;                     /* lanes are split there until a look says otherwise */
};

void pending_release(struct pending *pending);
/* Save or load (policies/util/archive.h). */
struct archive;
void pending_archive(struct archive *archive, struct pending *pending);
void pending_lines(struct pending *pending, uint32_t count); /* there are now so many queues */

uint32_t pending_lane(struct pending *pending, queue_id line, uint32_t shape); /* made if new */
bool pending_add(struct pending *pending, uint32_t lane, uint32_t slot); /* is it the head now? */
void pending_remove_head(struct pending *pending, uint32_t lane);
void pending_remove(struct pending *pending, uint32_t lane, uint32_t slot); /* O(lane) */

static inline uint32_t pending_head(const struct pending *pending, uint32_t lane)
{
    return pending->lanes[lane].heap[0].slot;
}

/* Its head is for what is kept for owners, or is not. */
void pending_set_borrower(struct pending *pending, uint32_t lane, bool is_borrower);
/* Closed by the limit of this queue; QUEUE_NONE: by none any more. */
void pending_block(struct pending *pending, uint32_t lane, queue_id queue);

/* Does this set, of what lanes ask, hold anything that is open to them?  False: no such lane is open. */
static inline bool pending_may_go(const struct pending *pending, const shape_set asked[ASKER_COUNT])
{
    const shape_set *open = pending->shapes->open;
    return ((asked[ASKER_OWNER] & open[ASKER_OWNER]) |
            (asked[ASKER_BORROWER] & open[ASKER_BORROWER])) != 0;
}

static inline bool pending_is_closed(const struct pending *pending, uint32_t lane)
{
    const struct lane *l = &pending->lanes[lane];
    return l->quota_block != QUEUE_NONE ||
           !shape_is_open(pending->shapes->shapes[l->shape].closed,
                          l->is_borrower ? ASKER_BORROWER : ASKER_OWNER);
}

/* What keeps its jobs waiting, those in front or the others; HAND_NONE: their turn has not come. */
enum clock_hand pending_hand(const struct pending *pending, uint32_t lane, bool is_front);
/* Its clock at a time not before the last change, by hand: see policies/jobs/wait_clock.h. */
void pending_clock(const struct pending *pending, uint32_t lane, bool is_front, time_ns now,
                   time_ns reading[HAND_COUNT]);
/* The same now; borrowed until the next change, of `scratch` or of its shape. */
const time_ns *pending_clock_now(struct pending *pending, uint32_t lane, bool is_front,
                                 time_ns scratch[HAND_COUNT]);
/* From now on its jobs that are not in front read `instead` while `split` runs; HAND_NONE: all read the same. */
void pending_split(struct pending *pending, uint32_t lane, enum clock_hand split,
                   enum clock_hand instead);

/* Ranks of waiting jobs were computed anew: put every lane in order again.  O(jobs). */
void pending_reorder(struct pending *pending);

/* The lane with the first head of the line, open or closed. */
uint32_t pending_first(const struct pending *pending, queue_id line);

/* The lane whose head is next in the line: of the open lanes, or, when blocking is strict, of all, and none
 * if that one is closed.  LANE_NONE if nothing can go. */
uint32_t pending_next(const struct pending *pending, queue_id line);

/* The open lane with the first head of all jobs of this class, whatever their line; LANE_NONE.  O(lanes with jobs of it). */
uint32_t pending_next_of_class(const struct pending *pending, uint8_t class);

/* <0 if the job in slot a goes before that in slot b. */
int pending_compare(const struct pending *pending, uint32_t a, uint32_t b);

#endif
