/* What was measured, and what is outside; see topologies/range.h. */
#include "topologies/range.h"

#include <assert.h>
#include <math.h>

void range_add(struct range *range, const double *values)
{
    assert(range->axis_count >= 1 && range->axis_count <= RANGE_AXES_MAX);
    for (uint32_t a = 0; a < range->axis_count; a++) {
        assert(values[a] > 0);
        range->least[a] = range->row_count == 0 ? values[a] : fmin(range->least[a], values[a]);
        range->most[a] = range->row_count == 0 ? values[a] : fmax(range->most[a], values[a]);
    }
    range->row_count++;
}

struct range_verdict range_test(const struct range *range, const double *values)
{
    struct range_verdict verdict = {.times = 1};
    if (range->row_count == 0)
        return range_never(range->what_axis, range->what);
    for (uint32_t a = 0; a < range->axis_count; a++) {
        assert(values[a] > 0);
        const double above = values[a] / range->most[a], below = range->least[a] / values[a];
        if (fmax(above, below) > verdict.times)
            verdict = (struct range_verdict){.reason = range->axes[a],
                                             .times = fmax(above, below),
                                             .axis = range->axes[a],
                                             .asked = values[a],
                                             .measured = above > below ? range->most[a] : range->least[a]};
    }
    return verdict;
}

struct range_verdict range_never(const char *axis, const char *reason)
{
    assert(axis != NULL && reason != NULL);
    return (struct range_verdict){.reason = reason, .times = INFINITY, .axis = axis};
}

void range_tell(struct range_verdict verdict, struct buffer *out)
{
    assert(!range_is_inside(verdict));
    if (isinf(verdict.times))
        buffer_format(out, "not validated here: no row of %s was measured", verdict.reason);
    else
        buffer_format(out, "not validated here: %s %.3g times outside the measured rows", verdict.reason,
                      verdict.times);
}
