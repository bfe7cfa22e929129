/* workloads/readers/service_load.h -- the replicas that a stream of requests needs, as jobs.
 *
 * Time is cut into intervals.  A request asks prompt / prompt_tokens_per_s + output / output_tokens_per_s seconds of a
 * replica.  At the end of an interval an autoscaler measures its work.  It computes how many replicas would be
 * busy for the part `target` of the interval with that work, and that many run in the next interval.  It removes a
 * replica only after `keep` without need for it.
 *
 *   work of an interval of 60 s: 100 replica seconds, target 0.7      ceil(100 / 60 / 0.7) = 3 replicas in the next
 *
 * Each replica is a job from when it is added until it is taken away.
 *
 * Laws
 *  - In interval k as many replicas run as the most that the work of the intervals k-1-keep .. k-1 asks for, and at
 *    least `replicas_min`, from the end of the first interval to the end of the last.
 *  - The replica that was added last leaves first.
 *
 * It does not: queue requests, or look ahead.
 *
 *   service_load_begin(&load, &plan, first);
 *   service_load_add(&load, at, prompt, output);       by time; then, until it is false:
 *   while (service_load_next(&load, &replica)) ...
 *   while (service_load_end(&load)) ...                and service_load_next likewise
 *
 * Source of the rule: Kubernetes' HorizontalPodAutoscaler (desired = ceil(current x metric / target), with a
 * stabilization window for scaling down).
 */
#ifndef WORKLOADS_READERS_SERVICE_LOAD_H
#define WORKLOADS_READERS_SERVICE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum { SERVICE_REPLICAS_MAX = 100000, SERVICE_KEEP_MAX = 10000 };

struct service_plan {
    double prompt_tokens_per_s, output_tokens_per_s; /* that a replica serves */
    double target;                                   /* how busy replicas should be, above 0 to 1 */
    time_ns interval, keep;                          /* keep: at most SERVICE_KEEP_MAX intervals */
    uint32_t replicas_min;
    uint32_t gpus; /* of a replica, on one node */
};

/* Assumed, as are the rates: a model of some ten billion parameters on one H100. */
struct service_plan service_plan_default(void);

struct service_replica {
    time_ns begin, end;
};

struct service_load {
    struct service_plan plan;
    time_ns begin;    /* of the current interval */
    double work_s;    /* of it, in replica seconds */
    uint32_t *wanted; /* of the last keep + 1 intervals, a ring; owned */
    uint32_t wanted_count, wanted_next;
    time_ns *started; /* of the replicas that run, in the order of their start; owned */
    uint32_t running;
    uint32_t goal;     /* replicas of the interval that was closed last */
    time_ns now;       /* its end */
    uint8_t end_steps; /* of service_load_end */
};

/* load: {0}. */
void service_load_begin(struct service_load *load, const struct service_plan *plan, time_ns first);

/* Must the intervals before `at` be closed first?  Closes one, and says so; then service_load_next tells who left. */
bool service_load_close_before(struct service_load *load, time_ns at);

/* Add a request of the current interval.  False: more than SERVICE_REPLICAS_MAX replicas would be needed. */
bool service_load_add(struct service_load *load, uint64_t prompt_tokens, uint64_t output_tokens);

/* There are no more requests: close the last interval, then, one interval later, let all replicas leave.  True: one of
 * these was done, and service_load_next tells who left; false: both were done before. */
bool service_load_end(struct service_load *load);

/* A replica that has left; false: there is no other. */
bool service_load_next(struct service_load *load, struct service_replica *replica);
void service_load_release(struct service_load *load);

#endif
