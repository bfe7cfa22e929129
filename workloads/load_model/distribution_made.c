/* workloads/load_model/distribution_made.c -- an empirical distribution of values, in few points. */
#include <assert.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "workloads/load_model/distribution.h"

enum { STEPS_MAX = 60 };

/* Mean of numbers whose logarithm is uniform in between. */
static double log_mean(double low, double high)
{
    return high > low ? (high - low) / log1p((high - low) / low) : low;
}

struct segment {
    double low, high, mean;
};

/* By how much the mean is beyond the segment's, with a point in the middle of the probabilities. */
static double excess(double middle, void *self)
{
    const struct segment *segment = self;
    return (log_mean(segment->low, middle) + log_mean(middle, segment->high)) / 2 - segment->mean;
}

/* The middle that gives the segment its mean, or the nearest end. */
static double middle_of(struct segment *segment)
{
    gsl_function function = {excess, segment};
    if (excess(segment->low, segment) >= 0)
        return segment->low;
    if (excess(segment->high, segment) <= 0)
        return segment->high;
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    gsl_root_fsolver_set(solver, &function, segment->low, segment->high);
    for (int i = 0; i < STEPS_MAX; i++) {
        gsl_root_fsolver_iterate(solver);
        if (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver), 0, 1e-7) ==
            GSL_SUCCESS)
            break;
    }
    const double middle = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return middle;
}

struct making {
    const double *sorted;
    double count;
    struct distribution_point *points;
    uint32_t used;
    size_t kept; /* values before the last point */
};

/* End the segment before value number `to`, at x. */
static void end_segment(struct making *making, size_t to, double x)
{
    const struct distribution_point *last = &making->points[making->used - 1];
    struct segment segment = {.low = last->x, .high = x};
    const double p = (double)to / making->count;
    for (size_t i = making->kept; i < to; i++)
        segment.mean += making->sorted[i] / (double)(to - making->kept);
    if (segment.low > 0 && segment.high > segment.low * (1 + 1e-6)) {
        const struct distribution_point middle = {(last->p + p) / 2, middle_of(&segment)};
        making->points[making->used++] = middle;
    }
    making->points[making->used++] = (struct distribution_point){p, x};
    making->kept = to;
}

struct distribution distribution_of_values(const double *sorted, size_t count, uint32_t most, struct arena *arena)
{
    const double part = fmax(1, most / 8); /* three times as many segments (one for numbers, two for sums), two points each */
    struct making making = {.sorted = sorted, .count = (double)count};
    double sum = 0, in_segment = 0;
    assert(count >= 1 && most >= DISTRIBUTION_MADE_MIN);
    making.points = arena_alloc_array(arena, most, struct distribution_point);
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    making.points[making.used++] = (struct distribution_point){0, sorted[0]};
    for (size_t i = 0; i + 1 < count && making.used + 5 <= most; i++) {
        in_segment += sorted[i];
        const bool is_due = (double)(i + 1 - making.kept) * part >= making.count ||
                            (in_segment + sorted[i + 1]) * part > sum;
        if (!is_due)
            continue;
        end_segment(&making, i + 1, (sorted[i] + sorted[i + 1]) / 2);
        in_segment = 0;
    }
    if (making.kept + 1 == count) { /* the largest value alone: a jump to it */
        const double p = making.points[making.used - 1].p;
        making.points[making.used++] = (struct distribution_point){p, sorted[count - 1]};
    }
    end_segment(&making, count, sorted[count - 1]);
    return (struct distribution){
        .kind = DISTRIBUTION_EMPIRICAL, .scale = 1, .max = INFINITY, .points = making.points, .point_count = making.used};
}
