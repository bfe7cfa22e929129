/* topologies/range.h -- is a case inside what was measured, and if not, how far outside?
 *
 * Words.  A row is a case that somebody measured and that a model meets.  It has a value on each axis of its kind
 * (NVLink domains, GPUs, bytes; or the hidden size of a model).  The range of a group of rows is the least and the most
 * value on each axis.
 *
 * Laws
 *  - A case is inside if each of its values is in the range, both ends included.
 *  - Outside, the verdict names the axis on which the case is farthest away, and the factor by which it is: value /
 *    most, or least / value.
 *  - What no axis tells (a kind of collective, a precision, a system) is a reason without a factor: nothing of that
 *    kind was measured.  An empty range says the same.  The verdict's axis is then what the reason is one of.
 *  - Of several parts of a case the farthest counts.  A reason without a factor is farther than any factor.
 * Test: tests/unit/test_range.c.
 *
 *   static const char *const axes[] = {"domains", "GPUs"};
 *   struct range range = {.what = "all-reduce", .what_axis = "collective", .axes = axes, .axis_count = 2};
 *   range_add(&range, (const double[]){1, 8});
 *   range_add(&range, (const double[]){8, 64});
 *   range_test(&range, (const double[]){4, 256}).times        (4; the reason is "GPUs", 256 asked, 64 measured)
 *
 * It does not: know which rows there are, nor how good a model is inside a range.
 */
#ifndef TOPOLOGIES_RANGE_H
#define TOPOLOGIES_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum { RANGE_AXES_MAX = 6 };

struct range {
    const char *what, *what_axis; /* the reason of an empty range, and its axis; borrowed */
    const char *const *axes;
    uint32_t axis_count; /* 1 to RANGE_AXES_MAX */
    uint32_t row_count;
    double least[RANGE_AXES_MAX], most[RANGE_AXES_MAX];
};

struct range_verdict {
    const char *reason; /* NULL: inside; the axis that is farthest outside; or what was never measured.  Borrowed. */
    double times;       /* outside: how far, above 1; INFINITY: nothing of that kind was measured; inside: 1 */
    const char *axis;   /* the reason, if it is an axis; of what was never measured, "system" or the like; or NULL */
    double asked, measured; /* on the axis: the value of the case, and the end of the range beyond which it is; or 0 */
};

/* values: of a row, one for each axis, above 0. */
void range_add(struct range *range, const double *values);
struct range_verdict range_test(const struct range *range, const double *values);

/* Nothing of that kind was measured. */
struct range_verdict range_never(const char *axis, const char *reason);

/* Append "not validated here: GPUs 4 times outside the measured rows", or "...: no row of b200 was measured".
 * verdict: outside. */
void range_tell(struct range_verdict verdict, struct buffer *out);

/* The verdict that is farther outside; of equal ones the first. */
static inline struct range_verdict range_farther(struct range_verdict a, struct range_verdict b)
{
    return b.times > a.times ? b : a;
}

static inline bool range_is_inside(struct range_verdict verdict)
{
    return verdict.reason == NULL;
}

#endif
