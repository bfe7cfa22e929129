#include "workloads/readers/service_load.h"

#include <math.h>

#include "base/mem.h"

struct service_plan service_plan_default(void)
{
    return (struct service_plan){
        .prompt_tokens_per_s = 10000, /* assumed */
        .output_tokens_per_s = 1000,  /* assumed */
        .target = 0.7,                /* assumed */
        .interval = 60 * TIME_NS_PER_S,
        .keep = 300 * TIME_NS_PER_S, /* Kubernetes' default stabilization window for scaling down */
        .replicas_min = 1,
        .gpus = 1,
    };
}

void service_load_begin(struct service_load *load, const struct service_plan *plan, time_ns first)
{
    load->plan = *plan;
    load->begin = first;
    load->wanted_count = (uint32_t)(plan->keep / plan->interval) + 1;
    load->wanted = mem_zalloc(load->wanted_count, sizeof *load->wanted);
    load->started = mem_zalloc(SERVICE_REPLICAS_MAX, sizeof *load->started);
}

static uint32_t replicas_for(const struct service_load *load)
{
    double replicas = ceil(load->work_s / time_to_seconds(load->plan.interval) / load->plan.target);
    return replicas < SERVICE_REPLICAS_MAX ? (uint32_t)replicas : SERVICE_REPLICAS_MAX;
}

static void interval_close(struct service_load *load)
{
    load->wanted[load->wanted_next] = replicas_for(load);
    load->wanted_next = (load->wanted_next + 1) % load->wanted_count;
    load->begin += load->plan.interval;
    load->now = load->begin;
    load->work_s = 0;
    load->goal = load->plan.replicas_min;
    for (uint32_t i = 0; i < load->wanted_count; i++)
        if (load->wanted[i] > load->goal)
            load->goal = load->wanted[i];
    while (load->running < load->goal)
        load->started[load->running++] = load->now;
}

bool service_load_close_before(struct service_load *load, time_ns at)
{
    if (at < load->begin + load->plan.interval)
        return false;
    interval_close(load);
    return true;
}

bool service_load_add(struct service_load *load, uint64_t prompt_tokens, uint64_t output_tokens)
{
    load->work_s +=
        (double)prompt_tokens / load->plan.prompt_tokens_per_s + (double)output_tokens / load->plan.output_tokens_per_s;
    return replicas_for(load) < SERVICE_REPLICAS_MAX;
}

bool service_load_end(struct service_load *load)
{
    if (load->end_steps == 2)
        return false;
    if (load->end_steps++ == 0) {
        interval_close(load);
        return true;
    }
    load->now += load->plan.interval;
    load->goal = 0;
    return true;
}

bool service_load_next(struct service_load *load, struct service_replica *replica)
{
    if (load->running <= load->goal)
        return false;
    *replica = (struct service_replica){load->started[--load->running], load->now};
    return true;
}

void service_load_release(struct service_load *load)
{
    mem_free(load->wanted);
    mem_free(load->started);
    *load = (struct service_load){0};
}
