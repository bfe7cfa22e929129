#include "reports/statistics/holm.h"

#include <math.h>

#include "base/mem.h"

void holm_order(const double *p, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && p[order[at - 1]] > p[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

void holm_adjust(const double *p, size_t count, double *adjusted)
{
    size_t *order = mem_alloc((count + 1) * sizeof *order);
    double highest = 0;
    holm_order(p, count, order);
    for (size_t i = 0; i < count; i++) {
        highest = fmax(highest, fmin(1, (double)(count - i) * p[order[i]]));
        adjusted[order[i]] = highest;
    }
    mem_free(order);
}
