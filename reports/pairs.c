#include "reports/pairs.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"

static size_t finite_of(const double *values, size_t count, double *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            out[kept++] = values[i];
    return kept;
}

struct pairs pairs_new(const double *a, size_t a_count, const double *b, size_t b_count, bool is_paired)
{
    struct pairs pairs = {.a = mem_alloc((a_count + 1) * sizeof *a), .b = mem_alloc((b_count + 1) * sizeof *b)};
    if (a == NULL || !is_paired) {
        pairs.a_count = finite_of(a, a == NULL ? 0 : a_count, pairs.a);
        pairs.b_count = finite_of(b, b_count, pairs.b);
        pairs.half_missing = a == NULL ? 0 : b_count - pairs.b_count;
        pairs.missing = (a == NULL ? 0 : a_count - pairs.a_count) + b_count - pairs.b_count;
        return pairs;
    }
    assert(a_count == b_count);
    for (size_t i = 0; i < b_count; i++) {
        const bool has_a = isfinite(a[i]), has_b = isfinite(b[i]);
        if (has_a && has_b) {
            pairs.a[pairs.a_count++] = a[i];
            pairs.b[pairs.b_count++] = b[i];
        }
        pairs.missing += !has_a || !has_b;
        pairs.half_missing += has_a != has_b;
    }
    return pairs;
}

void pairs_free(struct pairs *pairs)
{
    mem_free(pairs->a);
    mem_free(pairs->b);
    *pairs = (struct pairs){0};
}

bool pairs_are_equal(const struct pairs *pairs)
{
    if (pairs->a_count != pairs->b_count)
        return false;
    for (size_t i = 0; i < pairs->b_count; i++)
        if (pairs->a[i] != pairs->b[i])
            return false;
    return pairs->b_count > 0;
}

double pairs_base(const struct pairs *pairs)
{
    return pairs->a_count > 0 ? gsl_stats_mean(pairs->a, 1, pairs->a_count) : NAN;
}

double pairs_candidate(const struct pairs *pairs)
{
    return pairs->b_count > 0 ? gsl_stats_mean(pairs->b, 1, pairs->b_count) : NAN;
}
