/* policies/state/observer.h -- how a mechanism of the scheduler hears of events: by hooks, and a row of a table.
 *
 * Words.  A mechanism is what only some policies need: it keeps a state of its own, and follows what happens to jobs,
 * nodes and queues.  An observer is its hooks.  It is active in a scheduler whose policy needs it.  Books are no
 * observers: every scheduler has them (ledger, table of jobs, class queues, queue tree, clocks of waits), and booking
 * writes them itself, before or after it calls hooks as the comments of the hooks say.
 *
 * Laws
 *  - The table in policies/cycle/observers.c is the order of all calls: of init and of each event.  A row names the
 *    rows that must stand above it.  Checked by tests/unit/test_observers.c.
 *  - An observer that is not active is in no list, so an event costs what its active observers with that hook cost.
 *    Checked by tests/unit/test_observers.c.
 *  - Every observer has a row.  Checked by tools/lint/observers.
 *  - init decides by policy and cluster alone.  Whether an observer is active never changes.
 *  - A hook writes the state of its own mechanism.  What it changes in the books goes through functions of booking.
 *
 * A mechanism that counts evictions, all of it but its row:
 *
 *   static void *count_init(struct sched *sched)
 *   {
 *       return sched->policy.preemption->evicts ? mem_zalloc(1, sizeof(struct eviction_count)) : NULL;
 *   }
 *
 *   static void count_evicted(struct sched *sched, void *own, uint32_t slot)
 *   {
 *       ((struct eviction_count *)own)->evicted++;
 *   }
 *
 *   const struct observer eviction_count_observer = {
 *       .init = count_init, .release = count_release, .evicted = count_evicted};
 *
 * It does not: pass events to the actions of a policy (allocate, reclaim ...), which the cycle runs in the policy's
 * order, nor to policies at seams, which answer questions.
 */
#ifndef POLICIES_STATE_OBSERVER_H
#define POLICIES_STATE_OBSERVER_H

#include "policies/sched.h"

struct sched;
struct sched_job;

/* own: what init returned.  slot: of the job.  A hook may be NULL: the mechanism does not hear of that event. */
struct observer {
    /* Called once, when the books exist and are empty.  Returns the state of the mechanism, its own or a member of
     * `sched` that others read too; NULL: the policy does not need it, and no other hook is called. */
    void *(*init)(struct sched *sched);
    void (*release)(struct sched *sched, void *own);                  /* free what init and hooks allocated */
    const char *(*check)(const struct sched *sched, const void *own); /* NULL: its laws hold; else what is wrong */

    /* ---- queues and nodes; each is called when the books have the change */
    void (*queues_changed)(struct sched *sched, void *own, const struct queue_table *table, queue_id first);
    void (*node_changed)(struct sched *sched, void *own, node_id node, bool has_turned); /* up to not up, or back */
    void (*typical_told)(struct sched *sched, void *own, const struct job_group *kinds, uint32_t kind_count);
    void (*usage_told)(struct sched *sched, void *own, queue_id queue, uint32_t user, int64_t usage_milli);

    /* ---- the life of a job */
    void (*asked)(struct sched *sched, void *own, uint32_t request_class); /* it is not yet known whether it can fit */
    void (*enrolled)(struct sched *sched, void *own, uint32_t slot, const struct job *job); /* before it has a rank */
    void (*submitted)(struct sched *sched, void *own, uint32_t slot);     /* before it waits; not for adopted jobs */
    void (*waiting)(struct sched *sched, void *own, uint32_t slot);       /* before it enters its class queue */
    void (*unwaits)(struct sched *sched, void *own, uint32_t slot);       /* it is in no class queue any more */
    void (*start_decided)(struct sched *sched, void *own, uint32_t slot); /* its first START */
    void (*runs_on)(struct sched *sched, void *own, uint32_t slot, node_id node); /* members have started there */
    /* A START took effect, or the job was adopted and runs since `at`.  Its state is not yet settled. */
    void (*started)(struct sched *sched, void *own, uint32_t slot, time_ns at);
    void (*saved)(struct sched *sched, void *own, uint32_t slot); /* a checkpoint of it was told */
    /* A measurement came; sched->now may be before it. */
    void (*observed)(struct sched *sched, void *own, uint32_t slot, const struct observation *observation, time_ns now);
    void (*eviction_refused)(struct sched *sched, void *own, uint32_t slot); /* it still counts as leaving */
    void (*evicted)(struct sched *sched, void *own, uint32_t slot);          /* members have left; not yet settled */
    /* Members have left, or the job failed and is tried again; it is settled.  is_saved: with all its work. */
    void (*left)(struct sched *sched, void *own, uint32_t slot, bool is_saved);
    void (*ends)(struct sched *sched, void *own, uint32_t slot, bool will_retry); /* it still holds all that it had */
    void (*forgotten)(struct sched *sched, void *own, uint32_t slot); /* it holds nothing; its slot is still its own */

    /* ---- what jobs hold and wait for; often many times in the life of a job */
    /* A job that is not preemptible got the piece (sign 1) or lost it (-1). */
    void (*held)(struct sched *sched, void *own, const struct piece *piece, int sign);
    void (*releases)(struct sched *sched, void *own, uint32_t slot, node_id node); /* before a piece of it is freed */
    void (*charged)(struct sched *sched, void *own, uint32_t slot, const int64_t amounts[]); /* its queue; no trials */
    void (*listed)(struct sched *sched, void *own, uint32_t slot,
                   bool is_listed); /* as a possible victim, or no more */
    void (*settled)(struct sched *sched, void *own,
                    uint32_t slot); /* its holdings have changed, and all that follows */
    void (*queued)(struct sched *sched, void *own, uint32_t class_queue);   /* a job has entered it */
    void (*new_head)(struct sched *sched, void *own, uint32_t class_queue); /* it may be empty */

    /* ---- the cycle */
    bool (*is_due)(const struct sched *sched, const void *own);  /* must the cycle run though nothing waits? */
    void (*cycle_begins)(struct sched *sched, void *own);        /* its rejections and releases are told */
    void (*act)(struct sched *sched, void *own);                 /* after the actions of the policy */
    time_ns (*wake)(const struct sched *sched, const void *own); /* when a cycle is due without any fact; TIME_NEVER */

    /* ---- decisions of the mechanism itself */
    void (*renamed)(struct sched *sched, void *own, decision_id was, decision_id is);
    bool (*refused)(struct sched *sched, void *own, decision_id decision, time_ns now); /* false: it is not its own */
    decision_id (*open)(const struct sched *sched, const void *own, uint64_t number);   /* 0: it is not its own */
    void (*count)(const struct sched *sched, const void *own, struct sched_counts *counts);
};

/* All hooks but init. */
#define OBSERVER_EVENTS(EVENT)                                                                                         \
    EVENT(release)                                                                                                     \
    EVENT(check)                                                                                                       \
    EVENT(queues_changed)                                                                                              \
    EVENT(node_changed)                                                                                                \
    EVENT(typical_told)                                                                                                \
    EVENT(usage_told)                                                                                                  \
    EVENT(asked)                                                                                                       \
    EVENT(enrolled)                                                                                                    \
    EVENT(submitted)                                                                                                   \
    EVENT(waiting)                                                                                                     \
    EVENT(unwaits)                                                                                                     \
    EVENT(start_decided)                                                                                               \
    EVENT(runs_on)                                                                                                     \
    EVENT(started)                                                                                                     \
    EVENT(saved)                                                                                                       \
    EVENT(observed)                                                                                                    \
    EVENT(eviction_refused)                                                                                            \
    EVENT(evicted)                                                                                                     \
    EVENT(left)                                                                                                        \
    EVENT(ends)                                                                                                        \
    EVENT(forgotten)                                                                                                   \
    EVENT(held)                                                                                                        \
    EVENT(releases)                                                                                                    \
    EVENT(charged)                                                                                                     \
    EVENT(listed)                                                                                                      \
    EVENT(settled)                                                                                                     \
    EVENT(queued)                                                                                                      \
    EVENT(new_head)                                                                                                    \
    EVENT(is_due)                                                                                                      \
    EVENT(cycle_begins)                                                                                                \
    EVENT(act)                                                                                                         \
    EVENT(wake)                                                                                                        \
    EVENT(renamed)                                                                                                     \
    EVENT(refused)                                                                                                     \
    EVENT(open)                                                                                                        \
    EVENT(count)

struct active_observer {
    const struct observer *hooks;
    void *own;
    const struct active_observer *next; /* that has the same hook; NULL: none */
};

#define OBSERVER_LIST(event) const struct active_observer *event; /* the first that has the hook; NULL: none */

struct observers { /* of one scheduler */
    OBSERVER_EVENTS(OBSERVER_LIST)
    struct active_observer *memory; /* of all lists */
};

/* For each active observer with that hook: `each` points to it. */
#define OBSERVERS_EACH(sched, event, each)                                                                             \
    for (const struct active_observer *each = (sched)->observers.event; each != NULL; each = each->next)

/* Call the hook of all of them; the arguments behind `own` follow. */
#define OBSERVERS_TELL(sched, event, ...)                                                                              \
    OBSERVERS_EACH(sched, event, observer_)                                                                            \
    observer_->hooks->event((sched), observer_->own, ##__VA_ARGS__)

#endif
