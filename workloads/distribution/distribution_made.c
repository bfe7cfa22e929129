/* workloads/distribution/distribution_made.c -- an empirical distribution of values, in few points. */
#include <assert.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "workloads/distribution/distribution.h"

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
};

static void add(struct making *making, double p, double x)
{
    making->points[making->used++] = (struct distribution_point){p, x};
}

/* The segment of the values from..to-1: from its least value to its largest; then the next one jumps to its own. */
static void add_segment(struct making *making, size_t from, size_t to)
{
    struct segment segment = {.low = making->sorted[from], .high = making->sorted[to - 1]};
    const double before = (double)from / making->count, behind = (double)to / making->count;
    for (size_t i = from; i < to; i++)
        segment.mean += making->sorted[i] / (double)(to - from);
    add(making, before, segment.low);
    if (segment.low > 0 && segment.high > segment.low)
        add(making, (before + behind) / 2, middle_of(&segment));
    add(making, behind, segment.high);
}

struct distribution distribution_of_values(const double *sorted, size_t count, uint32_t most, struct arena *arena)
{
    /* three times as many segments, one for numbers and two for sums; three points each */
    const double part = fmax(1, most / DISTRIBUTION_MADE_MIN);
    struct making making = {.sorted = sorted, .count = (double)count};
    double sum = 0, in_segment = 0;
    size_t from = 0;
    assert(count >= 1 && most >= DISTRIBUTION_MADE_MIN);
    making.points = arena_alloc_array(arena, most, struct distribution_point);
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    for (size_t i = 0; i + 1 < count && making.used + 6 <= most; i++) {
        in_segment += sorted[i];
        const bool is_due = (double)(i + 1 - from) * part >= making.count || (in_segment + sorted[i + 1]) * part > sum;
        if (!is_due)
            continue;
        add_segment(&making, from, i + 1);
        from = i + 1;
        in_segment = 0;
    }
    add_segment(&making, from, count);
    return (struct distribution){.kind = DISTRIBUTION_EMPIRICAL,
                                 .scale = 1,
                                 .max = INFINITY,
                                 .points = making.points,
                                 .point_count = making.used};
}
