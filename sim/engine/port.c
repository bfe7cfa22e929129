#include "sim/engine/port.h"

#include <assert.h>

struct port port_new(struct sched *sched, const struct port_outside *decider, const struct port_outside *listener)
{
    assert((sched != NULL) != (decider != NULL));
    return (struct port){
        .sched = sched, .decider = decider, .listener = listener, .is_told = decider != NULL || listener != NULL};
}

static void tell(struct port *port, const struct port_outside *outside, const struct fact *fact)
{
    if (outside != NULL && !error_is(port->error))
        port->error = outside->on_fact(outside->self, fact);
}

void port_tell(struct port *port, const struct fact *fact)
{
    tell(port, port->listener, fact);
    tell(port, port->decider, fact);
    if (port->sched != NULL)
        fact_tell(port->sched, fact);
}

size_t port_ask(struct port *port, time_ns now, const struct decision **out, time_ns *wake_at)
{
    struct wire_done done = {.wake_at = TIME_NEVER};
    *out = NULL;
    *wake_at = TIME_NEVER;
    if (error_is(port->error))
        return 0;
    if (port->decider != NULL) {
        port->error = port->decider->on_decide(port->decider->self, now, out, &done);
        port->reserved_gpu_milli = done.reserved_gpu_milli;
    } else {
        struct sched_counts counts;
        if (port->listener != NULL && port->listener->on_cycle_begin != NULL)
            port->listener->on_cycle_begin(port->listener->self, port->sched, now);
        done.decision_count = sched_cycle(port->sched, now, out, &done.wake_at);
        sched_count(port->sched, &counts);
        done.reserved_gpu_milli = counts.reserved_gpu_milli;
    }
    if (port->listener != NULL && !error_is(port->error))
        port->error = port->listener->on_cycle(port->listener->self, now, *out, done.decision_count, &done);
    if (error_is(port->error))
        return 0;
    *wake_at = done.wake_at;
    return done.decision_count;
}

void port_count(const struct port *port, struct sched_counts *counts)
{
    if (port->sched != NULL) {
        sched_count(port->sched, counts);
        return;
    }
    *counts = (struct sched_counts){0};
    port->decider->on_count(port->decider->self, counts);
    counts->reserved_gpu_milli = port->reserved_gpu_milli;
}

enum reason port_why(const struct port *port, job_id job)
{
    return port->sched != NULL ? sched_why(port->sched, job) : port->decider->on_why(port->decider->self, job);
}
