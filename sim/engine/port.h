/* sim/engine/port.h -- the world's interface to the scheduler: the library in this program, or another program.
 *
 * Facts and cycles of a run go through here.  The library is called directly.  A recorder (sim/live/event_file.h) gets
 * them in addition; another program that decides (sim/live/process.h) gets them instead.
 *
 * Law: a listener changes nothing.  Without listeners a fact costs one test of a word.
 *
 *   port_job_ended(&port, id, JOB_END_COMPLETED, false, now);
 *   size_t count = port_cycle(&port, now, &decisions, &wake_at);
 *   if (error_is(port.error)) ...
 *
 * It does not: own the scheduler, the decider or the listener.
 */
#ifndef SIM_ENGINE_PORT_H
#define SIM_ENGINE_PORT_H

#include "policies/census/census.h"
#include "policies/wire.h"

/* A recorder or another program.  Hooks are called in the order of the facts. */
struct port_outside {
    void *self;
    struct error (*on_fact)(void *self, const struct fact *fact);
    /* A listener's: a cycle is about to take place; sched may be queried, but not changed.  Not called where another
     * program decides.  NULL: not needed. */
    void (*on_cycle_begin)(void *self, struct sched *sched, time_ns now);
    /* A listener's: a cycle took place.  NULL for a decider. */
    struct error (*on_cycle)(void *self, time_ns now, const struct decision *decisions, size_t count,
                             const struct wire_done *done);
    /* A decider's: decide in place of the library.  decisions: borrowed until the next call.  NULL for a listener. */
    struct error (*on_decide)(void *self, time_ns now, const struct decision **decisions, struct wire_done *done);
    /* A decider's: counts of its decisions; see sched_count, sched_why.  Counts not known are 0. */
    void (*on_count)(const void *self, struct sched_counts *counts);
    enum reason (*on_why)(const void *self, job_id job);
};

struct port {
    struct sched *sched;                 /* NULL: `decider` decides */
    const struct port_outside *decider;  /* NULL: the library decides */
    const struct port_outside *listener; /* NULL: none */
    int64_t reserved_gpu_milli;          /* of the decider, as of its last cycle */
    bool is_told;                        /* there is a decider or a listener, so facts are made into values */
    struct error error; /* the first error of the decider or listener; after it they get no more calls */
};

/* Exactly one of sched and decider. */
struct port port_new(struct sched *sched, const struct port_outside *decider, const struct port_outside *listener);

/* Used by the functions below: pass the fact to the decider or listener, and to the library if there is one. */
void port_tell(struct port *port, const struct fact *fact);
size_t port_ask(struct port *port, time_ns now, const struct decision **out, time_ns *wake_at);

static inline void port_job_submitted(struct port *port, const struct job *job, time_ns now)
{
    if (__builtin_expect(port->is_told, false))
        port_tell(port, &(struct fact){.kind = FACT_JOB_SUBMITTED, .now = now, .id = job->id, .job = job});
    else
        sched_job_submitted(port->sched, job, now);
}

static inline void port_job_cancelled(struct port *port, job_id job, time_ns now)
{
    if (__builtin_expect(port->is_told, false))
        port_tell(port, &(struct fact){.kind = FACT_JOB_CANCELLED, .now = now, .id = job});
    else
        sched_job_cancelled(port->sched, job, now);
}

static inline void port_job_started(struct port *port, job_id job, decision_id decision, time_ns now)
{
    if (__builtin_expect(port->is_told, false))
        port_tell(port, &(struct fact){.kind = FACT_JOB_STARTED, .now = now, .id = job, .decision = decision});
    else
        sched_job_started(port->sched, job, decision, now);
}

static inline void port_job_evicted(struct port *port, job_id job, struct members which, enum evict_end end,
                                    time_ns now)
{
    if (__builtin_expect(port->is_told, false))
        port_tell(port,
                  &(struct fact){.kind = FACT_JOB_EVICTED, .now = now, .id = job, .which = which, .evicted = end});
    else
        sched_job_evicted(port->sched, job, which, end, now);
}

static inline void port_job_ended(struct port *port, job_id job, enum job_end end, bool will_retry, time_ns now)
{
    if (__builtin_expect(port->is_told, false))
        port_tell(port,
                  &(struct fact){.kind = FACT_JOB_ENDED, .now = now, .id = job, .end = end, .will_retry = will_retry});
    else
        sched_job_ended(port->sched, job, end, will_retry, now);
}

static inline void port_job_checkpointed(struct port *port, job_id job, time_ns now)
{
    port_tell(port, &(struct fact){.kind = FACT_JOB_CHECKPOINTED, .now = now, .id = job});
}

static inline void port_job_observed(struct port *port, job_id job, const struct observation *observation, time_ns now)
{
    if (__builtin_expect(port->is_told, false))
        port_tell(port, &(struct fact){.kind = FACT_JOB_OBSERVED, .now = now, .id = job, .observed = *observation});
    else
        sched_job_observed(port->sched, job, observation, now);
}

/* first: the queues from this one on are new or changed. */
static inline void port_queues_changed(struct port *port, const struct queue_table *queues, queue_id first, time_ns now)
{
    port_tell(port, &(struct fact){.kind = FACT_QUEUES_CHANGED, .now = now, .queues = queues, .first_queue = first});
}

static inline void port_node_changed(struct port *port, node_id node, enum node_state state, time_ns now)
{
    port_tell(port, &(struct fact){.kind = FACT_NODE_CHANGED, .now = now, .node = node, .state = state});
}

static inline void port_gpu_changed(struct port *port, node_id node, uint32_t gpu_index, mig_layout_id layout,
                                    time_ns now)
{
    port_tell(port,
              &(struct fact){.kind = FACT_GPU_CHANGED, .now = now, .node = node, .gpu = gpu_index, .layout = layout});
}

static inline void port_typical_told(struct port *port, const struct job_group *kinds, uint32_t kind_count, time_ns now)
{
    port_tell(port, &(struct fact){.kind = FACT_TYPICAL_TOLD, .now = now, .kinds = kinds, .kind_count = kind_count});
}

/* As sched_cycle; no decisions after an error of the decider or listener. */
static inline size_t port_cycle(struct port *port, time_ns now, const struct decision **out, time_ns *wake_at)
{
    if (__builtin_expect(port->is_told, false))
        return port_ask(port, now, out, wake_at);
    return sched_cycle(port->sched, now, out, wake_at);
}

/* The counts of the scheduler.  Another program's counts come from on_count. */
void port_count(const struct port *port, struct sched_counts *counts);
enum reason port_why(const struct port *port, job_id job);

/* As sched_census; false for a decider, of which nothing is known. */
static inline bool port_census(const struct port *port, struct census_memo *memo, const struct typical_jobs *typical,
                               struct census *census)
{
    if (port->sched != NULL)
        sched_census(port->sched, memo, typical, census);
    return port->sched != NULL;
}

/* As sched_waited; false for a decider, of which nothing is known. */
static inline bool port_waited(const struct port *port, job_id job, time_ns now, struct wait_times *times)
{
    return port->sched != NULL && sched_waited(port->sched, job, now, times);
}

#endif
