#include "workloads/load_model/load_arrivals.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#define NS_PER_DAY (INT64_C(86400) * TIME_NS_PER_S)
#define S_PER_DAY  86400.0

double load_zipf_share(const struct load_zipf *zipf, uint32_t index)
{
    return zipf->count == 0 ? 1 : pow(index + 1.0, -zipf->exponent) / zipf->sum;
}

static double mean_of(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / count : 1;
}

/* The chain visits state i with the frequency w_i (W - w_i): its moves from i to j, w_i w_j of all, then balance. */
static double states_mean(const struct load_arrivals_plan *plan)
{
    double whole = 0, time = 0, work = 0;
    for (uint32_t i = 0; i < plan->state_count; i++)
        whole += plan->states[i].weight;
    for (uint32_t i = 0; i < plan->state_count; i++) {
        const struct load_state *state = &plan->states[i];
        const double stay = state->weight * (whole - state->weight) * state->mean_s;
        time += stay;
        work += stay * state->factor;
    }
    return time > 0 ? work / time : 1;
}

/* ---- The rate ---- */

static uint32_t state_after(struct load_arrivals *arrivals, uint32_t last)
{
    const struct load_arrivals_plan *plan = arrivals->plan;
    double whole = 0, at;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < plan->state_count; i++)
        whole += i != last ? plan->states[i].weight : 0;
    at = random_uniform(&arrivals->states) * whole;
    for (uint32_t i = 0; i < plan->state_count; i++) {
        if (i == last)
            continue;
        chosen = i;
        at -= plan->states[i].weight;
        if (at < 0)
            break;
    }
    return chosen;
}

static void state_enter(struct load_arrivals *arrivals)
{
    while (arrivals->state_end <= arrivals->now) {
        arrivals->state = state_after(arrivals, arrivals->state);
        const double stay_s =
            gsl_ran_exponential(random_gsl(&arrivals->states), arrivals->plan->states[arrivals->state].mean_s);
        arrivals->state_end = time_after(arrivals->state_end, time_from_seconds(fmax(stay_s, 1e-6)));
    }
}

/* The factor from `now` on, and where it changes. */
static void segment_enter(struct load_arrivals *arrivals)
{
    const struct load_arrivals_plan *plan = arrivals->plan;
    arrivals->factor = 1;
    arrivals->edge = TIME_NEVER;
    if (plan->cycle_count > 0) {
        const time_ns part = plan->period / plan->cycle_count;
        const int64_t index = arrivals->now / part;
        arrivals->factor *= plan->cycle[index % plan->cycle_count];
        arrivals->edge = (index + 1) * part;
    }
    if (plan->state_count > 0) {
        state_enter(arrivals);
        arrivals->factor *= plan->states[arrivals->state].factor;
        if (arrivals->state_end < arrivals->edge)
            arrivals->edge = arrivals->state_end;
    }
}

/* Go on until this much of factor x seconds has passed.  False: not before `until`. */
static bool pass(struct load_arrivals *arrivals, double work, time_ns until)
{
    while (true) {
        const double factor = arrivals->factor;
        const double room = factor > 0 ? factor * time_to_seconds(arrivals->edge - arrivals->now) : 0;
        if (work < room)
            break;
        if (arrivals->edge >= until)
            return false;
        work -= room;
        arrivals->now = arrivals->edge;
        segment_enter(arrivals);
    }
    const time_ns at = arrivals->now + time_from_seconds(work / arrivals->factor);
    arrivals->now = at < arrivals->edge ? at : arrivals->edge;
    if (arrivals->now == arrivals->edge)
        segment_enter(arrivals);
    return arrivals->now < until;
}

/* In units of the mean gap. */
static double gap_draw(struct load_arrivals *arrivals)
{
    const struct distribution *gaps = &arrivals->plan->gaps;
    if (distribution_has_quantile(gaps))
        return distribution_quantile(gaps, load_rank_next(&arrivals->ranks)) / arrivals->gap_mean;
    return distribution_draw(gaps, 0, &arrivals->gaps) / arrivals->gap_mean;
}

/* ---- Days ---- */

static double day_integral(const struct load_arrivals_plan *plan, int64_t day)
{
    double sum = 0;
    if (plan->cycle_count == 0)
        return S_PER_DAY;
    const time_ns part = plan->period / plan->cycle_count, end = (day + 1) * NS_PER_DAY;
    for (time_ns at = day * NS_PER_DAY; at < end;) {
        const int64_t index = at / part;
        const time_ns next = (index + 1) * part < end ? (index + 1) * part : end;
        sum += plan->cycle[index % plan->cycle_count] * time_to_seconds(next - at);
        at = next;
    }
    return sum;
}

static void day_choose(struct load_arrivals *arrivals)
{
    const struct load_arrivals_plan *plan = arrivals->plan;
    const bool is_drawn =
        plan->run != TIME_NEVER &&
        (arrivals->day == 0 || random_uniform(&arrivals->days) * (double)plan->run < (double)NS_PER_DAY);
    if (is_drawn)
        arrivals->day_index = random_below(&arrivals->days, plan->day_count);
    else if (arrivals->day > 0)
        arrivals->day_index = (arrivals->day_index + 1) % plan->day_count;
}

/* Draw the arrivals of the next day. */
static void day_enter(struct load_arrivals *arrivals)
{
    const struct load_arrivals_plan *plan = arrivals->plan;
    double sum = 0;
    arrivals->day++;
    day_choose(arrivals);
    arrivals->now = arrivals->day * NS_PER_DAY;
    segment_enter(arrivals);
    arrivals->day_s = day_integral(plan, arrivals->day);
    const double mean = arrivals->rate_per_s * plan->days[arrivals->day_index] * arrivals->day_s;
    arrivals->part_count = (size_t)floor(mean + random_uniform(&arrivals->counts));
    arrivals->part_next = 0;
    MEM_GROW(arrivals->parts, arrivals->part_capacity, arrivals->part_count + 1);
    for (size_t i = 0; i <= arrivals->part_count && arrivals->part_count > 0; i++) {
        arrivals->parts[i] = gap_draw(arrivals);
        sum += arrivals->parts[i];
    }
    for (size_t i = 0; i < arrivals->part_count; i++)
        arrivals->parts[i] *= sum > 0 ? arrivals->day_s / sum : 0;
}

static bool pass_in_days(struct load_arrivals *arrivals, time_ns until)
{
    while (arrivals->part_next == arrivals->part_count) {
        if ((arrivals->day + 1) * NS_PER_DAY >= until)
            return false;
        day_enter(arrivals);
    }
    return pass(arrivals, arrivals->parts[arrivals->part_next++], until);
}

/* ---- The stream ---- */

void load_arrivals_init(struct load_arrivals *arrivals, const struct load_arrivals_plan *plan, uint64_t seed,
                        uint64_t entity, uint32_t client)
{
    const double share = load_zipf_share(&plan->clients, client);
    const double factors =
        mean_of(plan->cycle, plan->cycle_count) * mean_of(plan->days, plan->day_count) * states_mean(plan);
    const uint64_t own = entity + client * UINT64_C(0x9E3779B97F4A7C15); /* days and states are those of the stream */
    *arrivals = (struct load_arrivals){.plan = plan, .day = -1, .state = UINT32_MAX};
    arrivals->gap_mean = distribution_mean(&plan->gaps, 0);
    arrivals->rate_per_s = plan->jobs_per_day * share / S_PER_DAY / factors;
    load_rank_init(&arrivals->ranks, &plan->memory, false, seed, "load.gap", own);
    random_stream_init(&arrivals->gaps, seed, "load.gaps", own);
    random_stream_init(&arrivals->counts, seed, "load.counts", own);
    random_stream_init(&arrivals->days, seed, "load.days", entity);
    random_stream_init(&arrivals->states, seed, "load.states", entity);
    segment_enter(arrivals);
}

void load_arrivals_release(struct load_arrivals *arrivals)
{
    mem_free(arrivals->parts);
    arrivals->parts = NULL;
}

time_ns load_arrivals_next(struct load_arrivals *arrivals, time_ns until)
{
    const struct load_arrivals_plan *plan = arrivals->plan;
    if (plan->day_count > 0 ? !pass_in_days(arrivals, until)
                            : !pass(arrivals, gap_draw(arrivals) / arrivals->rate_per_s, until))
        return TIME_NEVER;
    return arrivals->now < until ? arrivals->now : TIME_NEVER;
}
