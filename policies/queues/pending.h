/* policies/queues/pending.h -- jobs that wait, in class queues: one class queue per line and request class.
 *
 * A line is where jobs wait for their turn: the leaf queue, or a single one when the quota policy is flat.  Within a
 * class queue all jobs ask the same, so that what blocks the head blocks all.
 *
 * Law: the head of a class queue is the first by (ranks of the order chain, id).  A class queue is closed while its
 * request class is (placement memo; where only owners may use what is left, for heads known to borrow), or while its
 * queue has no headroom (quota memo); the two are kept apart and ANDed.
 * What the class queues of a line ask is kept as a set of request classes, so that a line where nothing may go is not
 * looked at.
 * Cost: add and remove of the head O(log jobs of the class queue); the head of a line O(its class queues).
 */
#ifndef POLICIES_QUEUES_PENDING_H
#define POLICIES_QUEUES_PENDING_H

#include "policies/jobs/job_table.h"
#include "policies/jobs/request_class.h"

#define CLASS_QUEUE_NONE UINT32_MAX

struct class_queue_entry {
    uint64_t rank; /* the first of the chain */
    uint32_t slot;
};

enum { PLAN_KINDS_MAX = 3 };

enum memo_state { MEMO_ABSENT, MEMO_AWAKE, MEMO_ASLEEP }; /* policies/state/retry_queue.c */

/* What is remembered of eviction plans of one kind that came to nothing: back-off counts state changes. */
struct plan_memo {
    uint32_t failed;         /* in a row */
    uint32_t sleep;          /* how often it slept */
    uint8_t state;           /* enum memo_state */
    bool awaits_affordable;  /* it was too dear: only time, or what its queue deserves, helps */
    bool awaits_start;       /* a victim was ripe but had not started; a start told voids the back-off */
    bool is_dozing;          /* asleep for no failure, but because its head is not patient... */
    time_ns dozes_until;     /* ...before that */
    uint64_t starts_seen;    /* the scheduler's count of starts when that was */
    uint64_t tried_cycle;    /* the last cycle in which a plan failed */
    uint64_t retry_change;   /* no plan before that state change... */
    job_id nobody_for;       /* for this head nobody was found that may go... */
    uint32_t nobody_version; /* ...until its queue's jobs change... */
    time_ns nobody_until;    /* ...or one of them is ripe */
    time_ns eligible_at;     /* ...or before a victim that was too young may be taken; TIME_NEVER */
};

struct class_queue {
    queue_id leaf_queue;
    uint32_t request_class;
    struct class_queue_entry *heap; /* 4-ary */
    size_t capacity;
    uint32_t count;
    uint32_t busy_position;       /* in pending.busy, while count > 0 */
    uint32_t class_position;      /* in pending.by_class, likewise */
    uint32_t leaf_queue_position; /* in its line's class queues */
    queue_id quota_block;         /* the queue whose limit closed it, or QUEUE_NONE */
    queue_id owed_by;             /* while is_over_quota: the queue that is beyond what it deserves with one more */
    bool is_over_quota;           /* nothing that is kept for owners is for its head */
    uint8_t class;                /* enum job_class, of its request class */
    bool is_kept_from;            /* a limit closed it for what is kept for others */
    bool is_offset;               /* its clock has one: */
    time_ns offset[HAND_COUNT];   /* from what it reads of its request class's */
    uint8_t split;                /* enum clock_hand: of kept space; HAND_NONE: all read the same */
    uint8_t instead;              /* enum clock_hand: what jobs not in front read for it */
    uint32_t front_count;         /* jobs in front, WAIT_FRONT */
    time_ns moved[HAND_COUNT];    /* from what is read in front to what the others read */
};

struct leaf_class_queue { /* what a look at the class queues of a line needs of those that cannot go */
    uint32_t class_queue, request_class;
    uint32_t asks_as; /* enum asker; ASKER_COUNT: it does not ask: it has no jobs, or a limit closed it */
};

/* A class queue asks while it has jobs and no queue's limit closed it. */
struct leaf_queue {
    request_class_set asked[ASKER_COUNT]; /* by its class queues */
    struct leaf_class_queue *class_queues;
    size_t capacity;
    uint32_t class_queue_count;
    uint32_t job_count;
    /* class queues that this queue, here or above theirs, made is_over_quota; some are so no more */
    uint32_t *borrowers;
    size_t over_quota_capacity;
    uint32_t over_quota_count;
    uint32_t over_quota_bound;                            /* entries kept before stale ones are removed */
    int64_t over_quota_least_milli;                       /* the least GPUs that one of them asks */
    bool is_changed;                                      /* in pending.changed */
    uint32_t asking[ASKER_COUNT][REQUEST_CLASS_SET_BITS]; /* class queues, by the bit of their request class */
};

struct pending {
    const struct job_table *jobs;
    struct request_class_table *request_classes;
    uint32_t rank_count;
    bool is_strict;
    struct class_queue *class_queues;
    size_t class_queue_capacity;
    struct plan_memo (*memos)[PLAN_KINDS_MAX]; /* by class queue */
    size_t memo_capacity;
    uint32_t class_queue_count;
    uint32_t *busy; /* class queues with jobs, in no order */
    size_t busy_capacity;
    uint32_t busy_count;
    struct leaf_queue *leaf_queues; /* by queue_id */
    size_t leaf_queue_capacity;
    uint32_t leaf_queue_count;
    queue_id *changed; /* lines whose `asked` changed since the queue selection last looked */
    size_t changed_capacity;
    uint32_t changed_count;
    uint32_t job_count;
    uint32_t *by_class[JOB_CLASS_COUNT]; /* those of `busy` whose jobs are of it, in no order */
    size_t by_class_capacity[JOB_CLASS_COUNT];
    uint32_t by_class_count[JOB_CLASS_COUNT];
    uint32_t class_jobs[JOB_CLASS_COUNT];                         /* that wait */
    request_class_set job_class_request_classes[JOB_CLASS_COUNT]; /* of its class queues */
    bool keeps_headroom; /* class queues are split there until a look says otherwise */
};

void pending_release(struct pending *pending);
/* Save or load (policies/util/archive.h). */
struct archive;
void pending_archive(struct archive *archive, struct pending *pending);
void pending_lines(struct pending *pending, uint32_t count); /* there are now `count` queues */

uint32_t pending_class_queue(struct pending *pending, queue_id leaf_queue, uint32_t request_class); /* made if new */
bool pending_add(struct pending *pending, uint32_t class_queue, uint32_t slot); /* is it the head now? */
void pending_remove_head(struct pending *pending, uint32_t class_queue);
void pending_remove(struct pending *pending, uint32_t class_queue, uint32_t slot); /* O(class queue) */

static inline uint32_t pending_head(const struct pending *pending, uint32_t class_queue)
{
    return pending->class_queues[class_queue].heap[0].slot;
}

/* Its head is for what is kept for owners, or is not. */
void pending_set_over_quota(struct pending *pending, uint32_t class_queue, bool is_over_quota);
/* Closed by the limit of this queue; QUEUE_NONE: by none any more. */
void pending_block(struct pending *pending, uint32_t class_queue, queue_id queue);

/* Does this set, of what class queues ask, hold anything that is open to them?  False: no such class queue is open. */
static inline bool pending_may_go(const struct pending *pending, const request_class_set asked[ASKER_COUNT])
{
    const request_class_set *open = pending->request_classes->open;
    return ((asked[ASKER_IN_QUOTA] & open[ASKER_IN_QUOTA]) | (asked[ASKER_OVER_QUOTA] & open[ASKER_OVER_QUOTA])) != 0;
}

static inline bool pending_is_closed(const struct pending *pending, uint32_t class_queue)
{
    const struct class_queue *l = &pending->class_queues[class_queue];
    return l->quota_block != QUEUE_NONE || !request_class_is_open(pending->request_classes->at[l->request_class].closed,
                                                                  l->is_over_quota ? ASKER_OVER_QUOTA : ASKER_IN_QUOTA);
}

/* What keeps its jobs waiting, those in front or the others; HAND_NONE: their turn has not come. */
enum clock_hand pending_hand(const struct pending *pending, uint32_t class_queue, bool is_front);
/* Its clock at a time not before the last change, by hand: see policies/jobs/wait_clock.h. */
void pending_clock(const struct pending *pending, uint32_t class_queue, bool is_front, time_ns now,
                   time_ns reading[HAND_COUNT]);
/* The same now; borrowed until the next change, of `scratch` or of its request class. */
const time_ns *pending_clock_now(struct pending *pending, uint32_t class_queue, bool is_front,
                                 time_ns scratch[HAND_COUNT]);
/* From now on its jobs that are not in front read `instead` while `split` runs; HAND_NONE: all read the same. */
void pending_split(struct pending *pending, uint32_t class_queue, enum clock_hand split, enum clock_hand instead);

/* Ranks of waiting jobs were computed anew: put every class queue in order again.  O(jobs). */
void pending_reorder(struct pending *pending);

/* The class queue with the first head of the line, open or closed. */
uint32_t pending_first(const struct pending *pending, queue_id leaf_queue);

/* The class queue whose head is next in the line: of the open class queues, or, when blocking is strict, of all, and
 * none if that one is closed.  CLASS_QUEUE_NONE if nothing can go. */
uint32_t pending_next(const struct pending *pending, queue_id leaf_queue);

/* The open class queue with the first head of all jobs of this class, whatever their line; CLASS_QUEUE_NONE.  O(class
 * queues with jobs of it). */
uint32_t pending_next_of_class(const struct pending *pending, uint8_t class);

/* <0 if the job in slot a goes before that in slot b. */
int pending_compare(const struct pending *pending, uint32_t a, uint32_t b);

#endif
