/* workloads/synth/alias.h -- draws an index with given weights in constant time (Walker's alias method, in Vose's form:
 * M. Vose, "A linear algorithm for generating random numbers with a given distribution", IEEE TSE 17(9), 1991).
 *
 * Law: the chances are rounded to 2^-32 of an entry, so that the last bit of a libm result moves no draw.
 */
#ifndef WORKLOADS_SYNTH_ALIAS_H
#define WORKLOADS_SYNTH_ALIAS_H

#include "base/mem.h"
#include "base/random.h"

struct alias_entry {
    double keep;    /* probability of this entry */
    uint32_t other; /* the entry taken otherwise */
};

struct alias {
    struct alias_entry *entries;
    uint32_t count;
};

/* weights: count >= 1; not negative, with a positive sum. */
void alias_init(struct alias *alias, struct arena *arena, const double *weights, uint32_t count);

/* u: uniform in (0, 1). */
static inline uint32_t alias_pick(const struct alias *alias, double u)
{
    double scaled = u * alias->count;
    uint32_t index = (uint32_t)scaled;
    index = index < alias->count ? index : alias->count - 1; /* the product may be rounded up */
    const struct alias_entry *entry = &alias->entries[index];
    return scaled - index < entry->keep ? index : entry->other;
}

/* As alias_pick.  Draws no number if there is only one entry. */
static inline uint32_t alias_draw(const struct alias *alias, struct random_stream *stream)
{
    return alias->count == 1 ? 0 : alias_pick(alias, random_uniform(stream));
}

#endif
