/* base/bits.c -- see base/bits.h. */
#include "base/bits.h"

void bits_init(struct bits *set, struct arena *arena, uint32_t capacity)
{
    *set = (struct bits){0};
    uint32_t members = capacity;
    for (int level = 0; level < 3; level++) {
        uint32_t words = members / 64 + (members % 64 != 0);
        set->words[level] = words != 0 ? words : 1;
        set->level[level] = arena_alloc_array(arena, set->words[level], uint64_t);
        members = set->words[level];
    }
}

/* The smallest bit >= from of the word, or 64. */
static inline uint32_t word_next(uint64_t word, uint32_t from)
{
    word &= UINT64_MAX << from;
    return word != 0 ? (uint32_t)__builtin_ctzll(word) : 64;
}

/* The smallest member >= from of one level in the word that holds `from`; looks at no other word. */
static inline uint32_t level_next(const struct bits *set, int level, uint32_t from)
{
    uint32_t word = from >> 6;
    if (word >= set->words[level])
        return BITS_NONE;
    uint32_t bit = word_next(set->level[level][word], from & 63);
    return bit < 64 ? (word << 6) + bit : BITS_NONE;
}

static inline uint32_t level_first(const struct bits *set, int level, uint32_t word)
{
    return (word << 6) + (uint32_t)__builtin_ctzll(set->level[level][word]);
}

uint32_t bits_next(const struct bits *set, uint32_t from)
{
    uint32_t found = level_next(set, 0, from);
    if (found != BITS_NONE)
        return found;
    uint32_t word = level_next(set, 1, (from >> 6) + 1); /* of level 0, not empty */
    if (word == BITS_NONE) {
        uint32_t from_word1 = (from >> 12) + 1;
        uint32_t word1 = level_next(set, 2, from_word1);
        for (uint32_t top = (from_word1 >> 6) + 1; word1 == BITS_NONE && top < set->words[2]; top++)
            if (set->level[2][top] != 0)
                word1 = level_first(set, 2, top);
        if (word1 == BITS_NONE)
            return BITS_NONE;
        word = level_first(set, 1, word1);
    }
    return level_first(set, 0, word);
}
