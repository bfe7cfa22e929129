/* workloads/fit/fit_arrivals.c -- the rate by hours and days, and the gaps in the time that it makes even. */
#include <math.h>
#include <stdlib.h>

#include "workloads/fit/fit_inside.h"

enum { HOURS_PER_DAY = 24, HOURS_PER_WEEK = 168, GAP_POINTS = 300 };
#define S_PER_HOUR 3600.0
#define S_PER_DAY  86400.0

/* Seconds that each hour of the cycle has between the two times. */
static void exposure(double from_s, double to_s, double *hours, uint32_t count)
{
    for (double at = from_s; at < to_s;) {
        const double next = fmin(to_s, (floor(at / S_PER_HOUR) + 1) * S_PER_HOUR);
        hours[(uint64_t)floor(at / S_PER_HOUR) % count] += next - at;
        at = next;
    }
}

/* Factors of mean 1 by the hour of a day or of a week. */
static void fit_hours(struct load_arrivals_plan *out, const struct fit_job *const *jobs, size_t count, uint32_t hours,
                      double from_s, double to_s, struct arena *arena)
{
    double *factors = arena_alloc_array(arena, hours, double), time_s[HOURS_PER_WEEK] = {0}, sum = 0;
    exposure(from_s, to_s, time_s, hours);
    for (size_t i = 0; i < count; i++)
        factors[(uint64_t)(jobs[i]->submit_s / S_PER_HOUR) % hours]++;
    for (uint32_t h = 0; h < hours; h++) {
        factors[h] = time_s[h] > 0 ? factors[h] / time_s[h] : 0;
        sum += factors[h];
    }
    for (uint32_t h = 0; h < hours; h++)
        factors[h] *= hours / sum;
    out->cycle = factors;
    out->cycle_count = hours;
    out->period = (time_ns)(hours * S_PER_HOUR) * TIME_NS_PER_S;
}

static void fit_days(struct load_arrivals_plan *out, const struct fit_job *const *jobs, size_t count, double first_day,
                     double last_day, struct arena *arena)
{
    const uint32_t days = (uint32_t)(last_day - first_day) + 1;
    double *factors = arena_alloc_array(arena, days, double);
    for (size_t i = 0; i < count; i++)
        factors[(size_t)(floor(jobs[i]->submit_s / S_PER_DAY) - first_day)] += days / (double)count;
    out->days = factors;
    out->day_count = days;
}

/* Seconds of a rate of 1 that have passed by then. */
struct even {
    const struct load_arrivals_plan *plan;
    double first_day;
    double *before_day, before_hour[HOURS_PER_WEEK + 1];
};

static double even_time(const struct even *even, double at_s)
{
    const struct load_arrivals_plan *plan = even->plan;
    const double period_s = plan->cycle_count * S_PER_HOUR, period = floor(at_s / period_s);
    const double within_s = at_s - period * period_s;
    const uint32_t hour = (uint32_t)(within_s / S_PER_HOUR);
    const double part = even->before_hour[hour] + plan->cycle[hour] * (within_s - hour * S_PER_HOUR);
    if (plan->day_count == 0)
        return period * period_s + part;
    const uint32_t day = (uint32_t)(period - even->first_day); /* a period is a day */
    return even->before_day[day] + plan->days[day] * part;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void fit_gaps(struct load_arrivals_plan *out, const struct fit_job *const *jobs, size_t count, double first_day,
                     struct arena *arena)
{
    struct even even = {.plan = out, .first_day = first_day};
    double *gaps = mem_zalloc(count, sizeof *gaps);
    even.before_day = mem_zalloc(out->day_count + 1u, sizeof *even.before_day);
    for (uint32_t d = 0; d < out->day_count; d++)
        even.before_day[d + 1] = even.before_day[d] + out->days[d] * S_PER_DAY;
    for (uint32_t h = 0; h < out->cycle_count; h++)
        even.before_hour[h + 1] = even.before_hour[h] + out->cycle[h] * S_PER_HOUR;
    for (size_t i = 0; i + 1 < count; i++)
        gaps[i] = even_time(&even, jobs[i + 1]->submit_s) - even_time(&even, jobs[i]->submit_s);
    for (size_t i = 0; i + 1 < count; i++)
        gaps[i] = fmax(gaps[i], 0); /* a rounding below 0 */
    fit_gap_memory(&out->memory, gaps, count - 1);
    qsort(gaps, count - 1, sizeof *gaps, ascending);
    if (gaps[count - 2] > 0)
        out->gaps = distribution_of_values(gaps, count - 1, GAP_POINTS, arena);
    mem_free(even.before_day);
    mem_free(gaps);
}

void fit_arrivals(struct load_arrivals_plan *out, const struct fit_job *const *jobs, size_t count, double begin_s,
                  double end_s, const struct fit_plan *plan, struct arena *arena)
{
    const double first_day = floor(begin_s / S_PER_DAY), last_day = floor(end_s / S_PER_DAY);
    const bool is_long = last_day - first_day >= FIT_DAYS_MIN;
    *out = (struct load_arrivals_plan){.run = TIME_NEVER, .memory = {.jobs = 1}};
    if (is_long && !plan->has_no_days && last_day - first_day < LOAD_FACTORS_MAX) {
        fit_hours(out, jobs, count, HOURS_PER_DAY, first_day * S_PER_DAY, (last_day + 1) * S_PER_DAY, arena);
        fit_days(out, jobs, count, first_day, last_day, arena);
        out->jobs_per_day = (double)count / out->day_count;
        out->run = plan->run;
    } else {
        fit_hours(out, jobs, count, is_long ? HOURS_PER_WEEK : HOURS_PER_DAY, begin_s, end_s, arena);
        out->jobs_per_day = (double)count / (end_s - begin_s) * S_PER_DAY;
    }
    out->gaps = (struct distribution){.kind = DISTRIBUTION_EXPONENTIAL, .scale = 1, .max = INFINITY};
    if (count > 1)
        fit_gaps(out, jobs, count, first_day, arena);
}
