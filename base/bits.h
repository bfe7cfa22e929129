/* base/bits.h -- a set of small integers with fast "next member", in three levels of words.
 *
 * Law: the summary bit of a word is set exactly when the word is not zero.
 * bits_next costs at most a handful of word reads for sets of up to 262,144 members
 * per top word; larger sets scan the top level.
 *
 *   for (uint32_t i = bits_next(set, 0); i != BITS_NONE; i = bits_next(set, i + 1)) ...
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

#define BITS_NONE UINT32_MAX

struct bits {
    uint64_t *level[3]; /* level[0]: members; level[1], level[2]: the words of the level below that are not zero */
    uint32_t words[3];
    uint32_t member_count;
};

/* Make an empty set over 0..capacity-1, in memory of the arena. */
void bits_init(struct bits *set, struct arena *arena, uint32_t capacity);

/* The smallest member >= from, or BITS_NONE. */
uint32_t bits_next(const struct bits *set, uint32_t from);

/* The number of bits set.  Where the processor is not known to have an instruction for it, the compiler's builtin is a
 * function call. */
static inline unsigned bits_count16(uint16_t word)
{
    unsigned pairs = word - (word >> 1 & 0x5555u);
    unsigned nibbles = (pairs & 0x3333u) + (pairs >> 2 & 0x3333u);
    unsigned bytes = (nibbles + (nibbles >> 4)) & 0x0f0fu;
    return (bytes + (bytes >> 8)) & 0x1fu;
}

static inline bool bits_test(const struct bits *set, uint32_t i)
{
    return (set->level[0][i >> 6] >> (i & 63)) & 1;
}

static inline void bits_add(struct bits *set, uint32_t i)
{
    uint64_t *word = &set->level[0][i >> 6];
    uint64_t bit = UINT64_C(1) << (i & 63);
    const bool was_empty = *word == 0;
    if (*word & bit)
        return;
    set->member_count++;
    *word |= bit;
    if (!was_empty)
        return;
    set->level[1][i >> 12] |= UINT64_C(1) << ((i >> 6) & 63);
    set->level[2][i >> 18] |= UINT64_C(1) << ((i >> 12) & 63);
}

static inline void bits_remove(struct bits *set, uint32_t i)
{
    uint64_t *word = &set->level[0][i >> 6];
    uint64_t bit = UINT64_C(1) << (i & 63);
    if (!(*word & bit))
        return;
    set->member_count--;
    *word &= ~bit;
    if (*word != 0)
        return;
    set->level[1][i >> 12] &= ~(UINT64_C(1) << ((i >> 6) & 63));
    if (set->level[1][i >> 12] == 0)
        set->level[2][i >> 18] &= ~(UINT64_C(1) << ((i >> 12) & 63));
}

#endif
