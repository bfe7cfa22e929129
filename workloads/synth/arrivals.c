#include "workloads/synth/arrivals.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { DAYS_PER_WEEK = 7, WORKING_DAYS = 5 };

#define TIME_NS_PER_HOUR (INT64_C(3600) * TIME_NS_PER_S)
#define TIME_NS_PER_DAY  (HOURS_PER_DAY * TIME_NS_PER_HOUR)

static const double whole_demand[] = {1};

/* Rounded to millionths, so that a cosine's last bit has no effect and opposite hours cancel. */
static double hour_factor(const struct arrivals_shape *shape, int hour)
{
    double angle = 2 * M_PI * (hour - shape->peak_hour) / HOURS_PER_DAY;
    return 1 + rint((shape->peak - 1) * cos(angle) * 1e6) / 1e6;
}

static double bursts_norm(const struct arrivals_shape *shape)
{
    double share = (double)shape->burst_duration * shape->bursts_per_day / (double)TIME_NS_PER_DAY;
    return 1 + (shape->burst_factor - 1) * share;
}

static void factors_init(struct arrivals *arrivals)
{
    const struct arrivals_shape *shape = &arrivals->shape;
    double weekday = DAYS_PER_WEEK / (WORKING_DAYS + 2 * shape->weekend_factor);
    for (int hour = 0; hour < HOURS_PER_DAY; hour++)
        arrivals->hour_factor[hour] = hour_factor(shape, hour);
    for (int day = 0; day < DAYS_PER_WEEK; day++)
        arrivals->day_factor[day] = day < WORKING_DAYS ? weekday : weekday * shape->weekend_factor;
}

static bool has_bursts(const struct arrivals *arrivals)
{
    return arrivals->shape.burst_factor > 1;
}

static int on_compare_bursts(const void *left, const void *right)
{
    const struct burst *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->service < b->service ? -1 : a->service > b->service;
}

/* Draw the bursts that start on the day from `day_start` on. */
static void bursts_draw(struct arrivals *arrivals, time_ns day_start)
{
    const struct arrivals_shape *shape = &arrivals->shape;
    time_ns slot = TIME_NS_PER_DAY / shape->bursts_per_day;
    uint32_t count = 0;
    for (uint32_t service = 0; service < arrivals->service_count; service++) {
        for (uint32_t i = 0; i < shape->bursts_per_day; i++) {
            double within = random_uniform(&arrivals->bursts) * time_to_seconds(slot);
            time_ns start = day_start + i * slot + time_from_seconds(within);
            arrivals->today[count++] = (struct burst){start, start + shape->burst_duration, service};
        }
    }
    qsort(arrivals->today, count, sizeof *arrivals->today, on_compare_bursts);
    arrivals->today_count = count;
    arrivals->today_next = 0;
    arrivals->day_end = day_start + TIME_NS_PER_DAY;
}

static void bursts_start(struct arrivals *arrivals)
{
    while (arrivals->today_next < arrivals->today_count && arrivals->today[arrivals->today_next].start <= arrivals->now)
        arrivals->active[arrivals->active_count++] = arrivals->today[arrivals->today_next++];
}

/* Begin and end bursts up to and including `now`, and sum them in the order of their start. */
static void bursts_update(struct arrivals *arrivals)
{
    uint32_t kept = 0;
    double demand = 0;
    bursts_start(arrivals);
    if (arrivals->now >= arrivals->day_end) {
        bursts_draw(arrivals, arrivals->day_end);
        bursts_start(arrivals);
    }
    for (uint32_t i = 0; i < arrivals->active_count; i++) {
        if (arrivals->active[i].end <= arrivals->now)
            continue;
        arrivals->active[kept++] = arrivals->active[i];
        demand += arrivals->demand[arrivals->active[i].service];
    }
    arrivals->active_count = kept;
    arrivals->burst_extra = (arrivals->shape.burst_factor - 1) * demand;
}

static time_ns bursts_edge(const struct arrivals *arrivals, time_ns edge)
{
    if (arrivals->day_end < edge)
        edge = arrivals->day_end;
    if (arrivals->today_next < arrivals->today_count && arrivals->today[arrivals->today_next].start < edge)
        edge = arrivals->today[arrivals->today_next].start;
    if (arrivals->active_count != 0 && arrivals->active[0].end < edge)
        edge = arrivals->active[0].end; /* all last equally long, so the first to start ends first */
    return edge;
}

/* The rate from `now` on, and where it changes. */
static void segment_enter(struct arrivals *arrivals)
{
    int64_t hour = arrivals->now / TIME_NS_PER_HOUR;
    double factor =
        arrivals->hour_factor[hour % HOURS_PER_DAY] * arrivals->day_factor[hour / HOURS_PER_DAY % DAYS_PER_WEEK];
    arrivals->edge = (hour + 1) * TIME_NS_PER_HOUR;
    if (has_bursts(arrivals)) {
        bursts_update(arrivals);
        factor *= (1 + arrivals->burst_extra) / bursts_norm(&arrivals->shape);
        arrivals->edge = bursts_edge(arrivals, arrivals->edge);
    }
    arrivals->rate_per_s = factor / arrivals->mean_gap_s;
}

void arrivals_init(struct arrivals *arrivals, struct arena *arena, const struct arrivals_shape *shape,
                   double rate_per_s, const double *demand, uint32_t service_count, uint64_t seed, uint64_t entity)
{
    assert(rate_per_s >= 0 && shape->peak >= 1 && shape->peak <= 2);
    arrivals->shape = *shape;
    arrivals->demand = service_count != 0 ? demand : whole_demand;
    arrivals->service_count = service_count != 0 ? service_count : 1;
    arrivals->mean_gap_s = 1 / rate_per_s;
    arrivals->is_plain = shape->peak == 1 && shape->weekend_factor == 1 && shape->burst_factor == 1;
    random_stream_init(&arrivals->gaps, seed, "synth.arrivals", entity);
    random_stream_init(&arrivals->bursts, seed, "synth.bursts", entity);
    if (arrivals->is_plain || rate_per_s == 0)
        return;
    factors_init(arrivals);
    if (has_bursts(arrivals)) {
        size_t bursts = (size_t)arrivals->service_count * shape->bursts_per_day;
        arrivals->today = arena_alloc_array(arena, bursts, struct burst);
        /* yesterday's bursts may go on when today's begin */
        arrivals->active = arena_alloc_array(arena, 2 * bursts, struct burst);
        bursts_draw(arrivals, -TIME_NS_PER_DAY);
    }
    segment_enter(arrivals);
}

time_ns arrivals_next(struct arrivals *arrivals, time_ns until)
{
    if (isinf(arrivals->mean_gap_s))
        return TIME_NEVER;
    double work = -log(random_uniform(&arrivals->gaps)); /* in units of the mean gap */
    if (arrivals->is_plain) {
        arrivals->now += time_from_seconds(work * arrivals->mean_gap_s);
        return arrivals->now < until ? arrivals->now : TIME_NEVER;
    }
    while (true) {
        double room = arrivals->rate_per_s * time_to_seconds(arrivals->edge - arrivals->now);
        if (work < room)
            break;
        if (arrivals->edge >= until)
            return TIME_NEVER;
        work -= room;
        arrivals->now = arrivals->edge;
        segment_enter(arrivals);
    }
    arrivals->now += time_from_seconds(work / arrivals->rate_per_s);
    if (arrivals->now > arrivals->edge)
        arrivals->now = arrivals->edge; /* rounding went past the edge */
    return arrivals->now < until ? arrivals->now : TIME_NEVER;
}

uint32_t arrivals_burst_service(const struct arrivals *arrivals, double u)
{
    if (arrivals->active_count == 0)
        return UINT32_MAX;
    double at = u * (1 + arrivals->burst_extra) - 1;
    double factor = arrivals->shape.burst_factor - 1;
    if (at < 0)
        return UINT32_MAX;
    for (uint32_t i = 0; i + 1 < arrivals->active_count; i++) {
        at -= factor * arrivals->demand[arrivals->active[i].service];
        if (at < 0)
            return arrivals->active[i].service;
    }
    return arrivals->active[arrivals->active_count - 1].service;
}
