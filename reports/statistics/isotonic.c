#include "reports/statistics/isotonic.h"

#include <math.h>

#include "base/mem.h"

/* Neighbours that share a level. */
struct block {
    double mean, weight;
    size_t count;
};

void isotonic_fit(const double *values, const double *weights, size_t count, double *fit)
{
    struct block *blocks = mem_zalloc(count + 1, sizeof *blocks);
    size_t block_count = 0;
    for (size_t i = 0; i < count; i++) {
        blocks[block_count++] = (struct block){values[i], weights[i], 1};
        while (block_count > 1 && blocks[block_count - 2].mean > blocks[block_count - 1].mean) {
            struct block *into = &blocks[block_count - 2];
            const struct block *from = &blocks[--block_count];
            const double weight = into->weight + from->weight;
            into->mean = (into->mean * into->weight + from->mean * from->weight) / weight;
            into->weight = weight;
            into->count += from->count;
        }
    }
    size_t at = 0;
    for (size_t b = 0; b < block_count; b++)
        for (size_t i = 0; i < blocks[b].count; i++)
            fit[at++] = blocks[b].mean;
    mem_free(blocks);
}

void isotonic_band(double *low, double *high, size_t count)
{
    for (size_t i = 1; i < count; i++)
        low[i] = fmax(low[i], low[i - 1]);
    for (size_t i = count; i-- > 1;)
        high[i - 1] = fmin(high[i - 1], high[i]);
}
