#include "workloads/synth/alias.h"

#include <assert.h>
#include <math.h>

static double chance_rounded(double chance)
{
    return rint(chance * 0x1p32) * 0x1p-32;
}

/* Pair each entry below the mean with one above it, which fills it up. */
static void entries_pair(struct alias *alias, double *scaled, uint32_t *small, uint32_t *large, uint32_t small_count,
                         uint32_t large_count)
{
    while (small_count > 0 && large_count > 0) {
        uint32_t low = small[--small_count], high = large[large_count - 1];
        alias->entries[low] = (struct alias_entry){chance_rounded(scaled[low]), high};
        scaled[high] -= 1 - scaled[low];
        if (scaled[high] >= 1)
            continue;
        large_count--;
        small[small_count++] = high;
    }
    /* The entries left differ from 1 only by rounding. */
    for (uint32_t i = 0; i < large_count; i++)
        alias->entries[large[i]] = (struct alias_entry){1, large[i]};
    for (uint32_t i = 0; i < small_count; i++)
        alias->entries[small[i]] = (struct alias_entry){1, small[i]};
}

void alias_init(struct alias *alias, struct arena *arena, const double *weights, uint32_t count)
{
    double sum = 0;
    double *scaled = mem_zalloc(count, sizeof *scaled);
    uint32_t *small = mem_zalloc(count, sizeof *small), *large = mem_zalloc(count, sizeof *large);
    uint32_t small_count = 0, large_count = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += weights[i];
    assert(count >= 1 && sum > 0);
    alias->entries = arena_alloc_array(arena, count, struct alias_entry);
    alias->count = count;
    for (uint32_t i = count; i-- > 0;) {
        scaled[i] = weights[i] * count / sum;
        if (scaled[i] < 1)
            small[small_count++] = i;
        else
            large[large_count++] = i;
    }
    entries_pair(alias, scaled, small, large, small_count, large_count);
    mem_free(scaled);
    mem_free(small);
    mem_free(large);
}
