#include "reports/change.h"

#include <math.h>

#include "base/mem.h"
#include "reports/statistics/rank_test.h"
#include "reports/statistics/student.h"
#include "reports/view.h"

/* What is tested: the mean of b - a against `null`, on the scale of the test. */
struct scaled {
    double *a, *b, null;
    bool is_ratio;
};

static bool is_positive(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0))
            return false;
    return true;
}

static struct scaled scaled_new(const struct pairs *pairs, const struct change_how *how)
{
    struct scaled scaled = {.a = mem_alloc((pairs->a_count + 1) * sizeof(double)),
                            .b = mem_alloc((pairs->b_count + 1) * sizeof(double)),
                            .null = how->is_amount ? how->null : 0};
    scaled.is_ratio = !how->is_amount && how->part > -1 && is_positive(pairs->a, pairs->a_count) &&
                      is_positive(pairs->b, pairs->b_count);
    for (size_t i = 0; i < pairs->a_count; i++) {
        const double a = how->is_amount ? pairs->a[i] : (1 + how->part) * pairs->a[i];
        scaled.a[i] = scaled.is_ratio ? log(a) : a;
    }
    for (size_t i = 0; i < pairs->b_count; i++)
        scaled.b[i] = scaled.is_ratio ? log(pairs->b[i]) : pairs->b[i];
    return scaled;
}

static void scaled_free(struct scaled *scaled)
{
    mem_free(scaled->a);
    mem_free(scaled->b);
}

/* From the scale of the test to the change that is told. */
static double told(const struct change *change, const struct change_how *how, double tested)
{
    if (change->is_ratio)
        return isfinite(tested) ? (1 + how->part) * exp(tested) - 1 : tested;
    return how->is_amount ? tested : tested + change->bound;
}

struct change change_of(const struct pairs *pairs, const struct change_how *how)
{
    struct scaled scaled = scaled_new(pairs, how);
    struct change change = {.is_ratio = scaled.is_ratio};
    change.of = how->is_unpaired
                    ? student_welch(scaled.a, pairs->a_count, scaled.b, pairs->b_count, scaled.null, how->level)
                    : student_paired(scaled.a, scaled.b, pairs->b_count, scaled.null, how->level);
    change.bound = how->is_amount ? how->null : scaled.is_ratio ? how->part : how->part * pairs_base(pairs);
    change.beyond = change.of.mean - scaled.null;
    change.value = !how->is_unpaired && pairs_are_equal(pairs) ? 0 : told(&change, how, change.of.mean);
    change.low = told(&change, how, change.of.low);
    change.high = told(&change, how, change.of.high);
    scaled_free(&scaled);
    return change;
}

double change_rank_p(const struct pairs *pairs, const struct change_how *how)
{
    struct scaled scaled = scaled_new(pairs, how);
    for (size_t i = 0; i < pairs->a_count; i++)
        scaled.a[i] += scaled.null;
    const double p = how->is_unpaired ? rank_test_samples(scaled.a, pairs->a_count, scaled.b, pairs->b_count).p
                                      : rank_test_pairs(scaled.a, scaled.b, pairs->b_count).p;
    scaled_free(&scaled);
    return p;
}

struct change change_none(double level)
{
    return (struct change){
        .value = NAN, .low = -INFINITY, .high = INFINITY, .of = inference_none(INFERENCE_TOO_FEW, 0, 0, level)};
}

/* ---- Words ---- */

void change_write(bool is_ratio, const char *metric, const char *unit, double value, struct buffer *out)
{
    if (is_ratio)
        buffer_format(out, "%+.1f %%", value * 100);
    else
        view_change(out, metric, unit, value);
}

void change_write_interval(bool is_ratio, const char *metric, const char *unit, double low, double high,
                           struct buffer *out)
{
    if (is_ratio) {
        buffer_format(out, "%+.1f to %+.1f %%", low * 100, high * 100);
        return;
    }
    view_change(out, metric, unit, low);
    buffer_string(out, " to ");
    view_change(out, metric, unit, high);
}
