/* policies/state/retry_queue.h -- finds the class queues that may be due for a plan, without looking at the others. */
#ifndef POLICIES_STATE_RETRY_QUEUE_H
#define POLICIES_STATE_RETRY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "policies/state/plan_kind.h"
#include "policies/util/id_marks.h"
#include "workloads/job.h"

struct plan_memo;
struct sched;
struct request_class;

/* A sleeping class queue in a heap by state change or by time.  The entry is stale if the class queue has slept again
 * since. */
struct retry_entry {
    uint64_t key;
    uint32_t class_queue, sleep;
};

struct retry_heap {
    struct retry_entry *at;
    size_t capacity;
    uint32_t count;
};

struct retry_queue { /* of one kind of plan; see retry_queue.c */
    bool is_used;    /* by the policy */
    uint32_t *awake;
    size_t awake_capacity;
    uint32_t awake_count;
    struct retry_heap by_change, by_time;
    struct retry_entry *expectant; /* class queues that wait for a START to be confirmed */
    size_t expectant_capacity;
    uint32_t expectant_count;
    uint64_t starts_seen;
    struct id_marks noted; /* class queues whose memo knows of a failure */
};

/* Does the policy make plans of this kind? */
void retry_queue_use(struct sched *sched, enum plan_kind kind, bool is_used);

/* What a failed plan knows of the next attempt. */
struct plan_failure {
    time_ns eligible_at, eligible_last_at; /* when the first, and the last, of the victims refused may be taken */
    time_ns affordable_at; /* it cost too much: when to try again, whatever changes; TIME_NEVER: it did not */
    bool awaits_start;     /* a victim's START was not confirmed */
    job_id no_victim_for;  /* there was no candidate for this head; JOB_NONE: there were some */
    uint32_t no_victim_version;
};

/* A plan for the head failed: the class queue sleeps.  The number of state changes until its next attempt doubles with
 * each failure. */
void retry_queue_failed(struct sched *sched, uint32_t class_queue, enum plan_kind kind, const struct plan_failure *why);
/* As after a failure, but no victims were sought: none could help. */
void retry_queue_refused(struct sched *sched, uint32_t class_queue, enum plan_kind kind);
/* As after a failure, but no victims were sought: no plan is worth its cost before `at`. */
void retry_queue_await_affordable(struct sched *sched, uint32_t class_queue, enum plan_kind kind, time_ns at);
/* An attempt begins: the times of the last one no longer hold. */
void retry_queue_begin_attempt(struct sched *sched, uint32_t class_queue, enum plan_kind kind);
void retry_queue_succeeded(struct sched *sched, uint32_t class_queue, enum plan_kind kind); /* a plan was booked */
void retry_queue_head_started(struct sched *sched, uint32_t class_queue);                   /* without a plan */
/* May the class queue ask again in this cycle? */
void retry_queue_set_tried(struct sched *sched, uint32_t class_queue, enum plan_kind kind, bool is_tried);
/* The class queue is due, but its head's delay ends only at `until`. */
void retry_queue_delay(struct sched *sched, uint32_t class_queue, enum plan_kind kind, time_ns until);
void retry_queue_new_head(struct sched *sched, uint32_t class_queue);
/* Put class queues that are due on the awake list and take the others out.  False: none is awake. */
bool retry_queue_wake(struct sched *sched, enum plan_kind kind);
/* Has the state change, the time or the START come that the memo waits for? */
bool retry_queue_is_due(const struct sched *sched, const struct plan_memo *memo);
/* When the first retry entry is due by time alone; TIME_NEVER: none.  Class queues with an earlier time that may not
 * ask now are put on the awake list. */
time_ns retry_queue_eligible_at(struct sched *sched, enum plan_kind kind);
/* A plan that failed may succeed now: clear every memo's back-off and wake all class queues. */
void sched_void_memos(struct sched *sched);
const char *retry_queues_check(const struct sched *sched, const void *own); /* NULL: their laws hold */
/* May the head of the class queue ask for such a plan?  Its class queue must be closed, by lack of space or of quota
 * that victims could release; under strict order it must also be the first of its leaf queue. */
bool plan_may_ask(const struct sched *sched, uint32_t class_queue, enum plan_kind kind);

#endif
