/* policies/state/retry_queue.h -- which class queues may be due for a plan, without a look at those that are not. */
#ifndef POLICIES_STATE_RETRY_QUEUE_H
#define POLICIES_STATE_RETRY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "policies/state/plan_kind.h"

struct archive;
struct plan_memo;
struct sched;
struct request_class;

/* A class queue asleep, in a heap by state change or time; one that slept again meanwhile does not count. */
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
    struct retry_entry *expectant; /* of a START to be confirmed */
    size_t expectant_capacity;
    uint32_t expectant_count;
    uint64_t starts_seen;
};

void retry_queue_note(struct sched *sched, uint32_t class_queue); /* a job came to wait there */
/* The class queue's memo says how long. */
void retry_queue_sleep(struct sched *sched, uint32_t class_queue, enum plan_kind kind);
/* It is due, but its head is not patient before `until`. */
void retry_queue_doze(struct sched *sched, uint32_t class_queue, enum plan_kind kind, time_ns until);
void retry_queue_new_head(struct sched *sched, uint32_t class_queue);
/* Put who is due among the awake, and those that are not out.  False: nobody is awake. */
bool retry_queue_wake(struct sched *sched, enum plan_kind kind);
/* What its memo waits for has come. */
bool retry_queue_is_due(const struct sched *sched, const struct plan_memo *memo);
/* When the first retry entry is due by time alone; TIME_NEVER.  Those that may not ask now are put among the awake. */
time_ns retry_queue_eligible_at(struct sched *sched, enum plan_kind kind);
/* What time alone moved may make a good plan of one that came to nothing: forget the back-off. */
void sched_void_memos(struct sched *sched);
void retry_queue_release(struct sched *sched);
void retry_queue_archive(struct archive *archive, struct sched *sched);
const char *retry_queue_check(const struct sched *sched); /* NULL: its laws hold */
/* May the class queue's head ask for such a plan: space, or a limit that victims could ease, keeps it, and it is its
 * turn? */
bool plan_may_ask(const struct sched *sched, uint32_t class_queue, enum plan_kind kind);
/* Does the policy move jobs for somebody who asks that? */
bool moves_for(const struct sched *sched, const struct request_class *ask);

#endif
