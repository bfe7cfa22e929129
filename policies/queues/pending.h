/* policies/queues/pending.h -- jobs that wait, in class queues: one for each leaf queue and request class.
 *
 * If the quota policy is flat, all jobs wait in one leaf queue, the root.  There, jobs that are bound by the limits of
 * different queues are in different class queues (limited_by; QUEUE_ROOT: no limit binds them).  All jobs of a class
 * queue ask the same, so what blocks its head blocks all of them.
 *
 * Law: if blocking is strict, a closed head stops the jobs behind it in its leaf queue, unless it runs already and asks
 * for members beyond its minimum: it does not wait (policies/state/waits.h).  Such steps have class queues of their
 * own. (cycle/check.c, tests/cases/left_waiting.json.  Such a step once stopped the line until its job ended.)
 * Law: the head of a class queue is the first job by (ranks of the order chain, id).  A class queue is open if its
 * request class is open to its head (placement memo; space kept for owners is closed to heads over quota), and no limit
 * of its queue or of one above closes it (quota memo).
 * Each leaf queue keeps the set of request classes that its class queues ask, so that a leaf queue where nothing can
 * start is skipped.
 * Cost: to add a job or remove the head O(log jobs of the class queue); the first head of a leaf queue O(its class
 * queues).  Where they are kept sorted: O(log jobs) comparisons and a move of the entries behind the job's.
 */
#ifndef POLICIES_QUEUES_PENDING_H
#define POLICIES_QUEUES_PENDING_H

#include "policies/jobs/job_table.h"
#include "policies/jobs/request_class.h"
#include "policies/util/id_marks.h"

#define CLASS_QUEUE_NONE UINT32_MAX

struct class_queue_entry {
    uint64_t rank; /* the first of the chain */
    uint32_t slot;
    uint32_t seconds; /* its planned length is no less; 0: not noted since it came.  Not saved. */
};

enum { PLAN_KINDS_MAX = 3 };

enum memo_state { MEMO_ABSENT, MEMO_AWAKE, MEMO_ASLEEP }; /* policies/state/retry_queue.c */

enum { PLAN_FAILED_MAX = 12 }; /* a count of failures stops there: the back-off is a power of two of it */

/* What is known of failed plans of one kind for a class queue; the back-off counts state changes. */
struct plan_memo {
    uint32_t failed;            /* count of failures in a row, up to PLAN_FAILED_MAX */
    uint32_t sleep;             /* how often it slept */
    uint8_t state;              /* enum memo_state */
    bool awaits_affordable;     /* it cost too much: only time helps, or that the head is in quota */
    bool awaits_start;          /* a victim's START was not confirmed; a confirmed START voids the back-off */
    bool is_delayed;            /* it sleeps only because its head's delay ends later... */
    time_ns delayed_until;      /* ...at this time */
    uint64_t starts_seen;       /* the scheduler's count of starts when it failed */
    uint64_t tried_cycle;       /* the last cycle in which a plan failed */
    uint64_t retry_change;      /* the next plan is due at this state change, or at eligible_at if that is earlier */
    job_id no_victim_for;       /* there was no candidate for this head... */
    uint32_t no_victim_version; /* ...until the candidates of its queue change... */
    time_ns no_victim_until;    /* ...or one of them may be taken */
    time_ns eligible_at;        /* when a victim that was too young may be taken; TIME_NEVER */
};

/* Does it know of no failure?  Then sched_void_memos (policies/state/retry_queue.h) has nothing to clear. */
static inline bool plan_memo_is_void(const struct plan_memo *memo)
{
    return memo->failed == 0 && memo->retry_change == 0 && memo->no_victim_for == JOB_NONE &&
           !memo->awaits_affordable && memo->state != MEMO_ASLEEP;
}

struct class_queue {
    queue_id leaf_queue;
    uint32_t request_class;
    struct class_queue_entry *heap; /* 4-ary; sorted if pending.is_sorted, which is a heap too */
    size_t capacity;
    uint32_t count;
    uint32_t busy_position;       /* in pending.busy, while count > 0 */
    uint32_t class_position;      /* in pending.by_class, while count > 0 */
    uint32_t leaf_queue_position; /* in its leaf queue's class queues */
    queue_id quota_block;         /* the queue whose limit closed it, or QUEUE_NONE */
    queue_id limited_by;          /* if all jobs wait in one line: the first queue with a limit, from their own up */
    queue_id owed_by;             /* while is_over_quota: the queue that its head would take beyond what it deserves */
    bool is_over_quota;           /* its head is over quota: space kept for owners is closed to it */
    uint8_t class;                /* enum job_class, of its request class */
    bool is_kept_from;            /* it was closed because quota is kept for other jobs */
    bool is_brief;                /* quota_block closed it only until the next fact or cycle begins */
    bool is_offset;               /* `offset` is valid */
    time_ns offset[HAND_COUNT];   /* from the request class's clock to its own */
};

struct leaf_class_queue { /* enough to skip a class queue that cannot start a job */
    uint32_t class_queue, request_class;
    uint32_t asks_as; /* enum asker; ASKER_COUNT: it does not ask, since it has no jobs or a limit closed it */
};

/* A class queue asks while it has jobs and no queue's limit closed it. */
struct leaf_queue {
    request_class_set asked[ASKER_COUNT]; /* by its class queues */
    struct leaf_class_queue *class_queues;
    size_t capacity;
    uint32_t class_queue_count;
    uint32_t job_count;
    /* class queues of this queue or below whose heads it makes over quota; some no longer are */
    uint32_t *borrowers;
    size_t over_quota_capacity;
    uint32_t over_quota_count;
    bool is_changed;                                      /* in pending.changed */
    uint32_t asking[ASKER_COUNT][REQUEST_CLASS_SET_BITS]; /* class queues, by the bit of their request class */
};

struct pending {
    const struct job_table *jobs;
    struct request_class_table *request_classes;
    uint32_t rank_count;
    bool is_strict;
    bool is_sorted; /* see pending_keep_sorted */
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
    queue_id *changed; /* leaf queues whose `asked` changed since the queue selection last looked */
    size_t changed_capacity;
    uint32_t changed_count;
    uint32_t job_count;
    int64_t gpu_milli;                   /* GPUs that the jobs of all class queues ask for next */
    uint32_t *by_class[JOB_CLASS_COUNT]; /* those of `busy` with jobs of the class, in no order */
    size_t by_class_capacity[JOB_CLASS_COUNT];
    uint32_t by_class_count[JOB_CLASS_COUNT];
    uint32_t class_jobs[JOB_CLASS_COUNT];                         /* count of waiting jobs */
    request_class_set job_class_request_classes[JOB_CLASS_COUNT]; /* those of its class queues */
    struct id_marks blocked;                                      /* class queues that a limit closed */
    struct id_marks brief;                                        /* those of them that are closed briefly */
};

/* No job waits.  jobs, request_classes: borrowed. */
void pending_init(struct pending *pending, const struct job_table *jobs, struct request_class_table *request_classes,
                  uint32_t rank_count, bool is_strict);
/* From now on each class queue is a sorted array, for passes that read the jobs behind the heads in their order.  No
 * job waits yet. */
void pending_keep_sorted(struct pending *pending);
void pending_release(struct pending *pending);
void pending_lines(struct pending *pending, uint32_t count); /* there are `count` queues now */

/* The class queue of these jobs; made if new.  limited_by: QUEUE_ROOT unless the quota policy is flat. */
uint32_t pending_class_queue(struct pending *pending, queue_id leaf_queue, uint32_t request_class, queue_id limited_by);
bool pending_add(struct pending *pending, uint32_t class_queue, uint32_t slot); /* true: it is the head now */
void pending_remove_head(struct pending *pending, uint32_t class_queue);
void pending_remove(struct pending *pending, uint32_t class_queue, uint32_t slot); /* O(class queue) */

static inline uint32_t pending_head(const struct pending *pending, uint32_t class_queue)
{
    return pending->class_queues[class_queue].heap[0].slot;
}

/* Set whether its head is over quota. */
void pending_set_over_quota(struct pending *pending, uint32_t class_queue, bool is_over_quota);
/* Close it by the limit of this queue; QUEUE_NONE: no limit closes it any more. */
void pending_block(struct pending *pending, uint32_t class_queue, queue_id queue);
/* As above, but where the quota policy confines jobs, only until the next fact or cycle begins. */
void pending_block_briefly(struct pending *pending, uint32_t class_queue, queue_id queue);

/* May a request class of these sets be open to the class queues that ask it?  False: none is open. */
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

/* Why its jobs wait; HAND_NONE: their turn has not come. */
enum clock_hand pending_hand(const struct pending *pending, uint32_t class_queue);
/* The reading of its clock at `now`, which is not before the last change; see policies/jobs/wait_clock.h. */
void pending_clock(const struct pending *pending, uint32_t class_queue, time_ns now, time_ns reading[HAND_COUNT]);
/* As above, at the time of the last fact or cycle.  Borrowed until `scratch` or the request class changes. */
const time_ns *pending_clock_now(struct pending *pending, uint32_t class_queue, time_ns scratch[HAND_COUNT]);

/* The job's index in the class queue in which it waits.  O(log jobs) if kept sorted, else O(jobs). */
uint32_t pending_index(const struct pending *pending, uint32_t class_queue, uint32_t slot);

/* Note that the planned length of the job at index `at` of a sorted class queue is at least `seconds`. */
static inline void pending_note_length(struct pending *pending, uint32_t class_queue, uint32_t at, uint32_t seconds)
{
    pending->class_queues[class_queue].heap[at].seconds = seconds;
}

/* Ranks of waiting jobs have changed: sort every class queue again.  O(jobs). */
void pending_reorder(struct pending *pending);

/* Do other jobs of its line pass this class queue, because a limit of its queue closed it? */
static inline bool pending_is_passed(const struct class_queue *class_queue)
{
    return class_queue->limited_by != QUEUE_ROOT && class_queue->quota_block != QUEUE_NONE;
}

/* The class queue with the first head of the leaf queue, open or closed.  Class queues that are out of line do not
 * count (pending_is_out_of_line). */
uint32_t pending_first(const struct pending *pending, queue_id leaf_queue);

/* The class queue whose head is tried next in the leaf queue: the first of the open class queues.  If blocking is
 * strict: the first of all, if that is open.  CLASS_QUEUE_NONE: there is none. */
uint32_t pending_next(const struct pending *pending, queue_id leaf_queue);

/* The open class queue with the first head among all jobs of this class, in any leaf queue; CLASS_QUEUE_NONE: none.
 * O(class queues with such jobs). */
uint32_t pending_next_of_class(const struct pending *pending, uint8_t class);

/* <0 if the job in slot a goes before that in slot b. */
int pending_compare(const struct pending *pending, uint32_t a, uint32_t b);

#endif
