/* reports/quantile.c -- a radix sort of points, and nearest ranks. */
#include "reports/quantile.h"

#include <assert.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGIT_COUNT = 6, DIGIT_VALUES = 1 << DIGIT_BITS };

struct digits {
    uint32_t count[DIGIT_COUNT][DIGIT_VALUES];
};

static inline uint32_t digit_of(int64_t value, unsigned index)
{
    return (uint32_t)((uint64_t)value >> (index * DIGIT_BITS)) & (DIGIT_VALUES - 1);
}

void points_new_chunk(struct points *points)
{
    MEM_GROW(points->chunks, points->chunk_capacity, points->chunk_count + 1);
    points->chunks[points->chunk_count++] = mem_alloc(POINTS_PER_CHUNK * sizeof(struct point));
    points->used = 0;
}

static void gather_chunk(struct points *points, const struct point *chunk, size_t used, time_ns end,
                         struct digits *digits)
{
    for (size_t i = 0; i < used; i++) {
        struct point point = chunk[i];
        if (point.flags & POINT_SUBMIT)
            point.value = point.value < end ? end - point.value : 0;
        assert(point.value >= 0);
        for (unsigned d = 0; d < DIGIT_COUNT; d++)
            digits->count[d][digit_of(point.value, d)]++;
        points->sorted[points->count++] = point;
    }
}

/* Move all chunks into one array, freeing each one when it is copied, to save memory. */
static void gather(struct points *points, time_ns end, struct digits *digits)
{
    size_t total = points->chunk_count == 0 ? 0 : (points->chunk_count - 1) * POINTS_PER_CHUNK + points->used;
    assert(total < UINT32_MAX);
    points->sorted = mem_alloc(total * sizeof(struct point));
    for (size_t c = 0; c < points->chunk_count; c++) {
        size_t used = c + 1 == points->chunk_count ? points->used : POINTS_PER_CHUNK;
        gather_chunk(points, points->chunks[c], used, end, digits);
        mem_free(points->chunks[c]);
    }
    points->chunk_count = 0;
}

/* Stable scatter by one digit. */
static void scatter(const struct point *from, struct point *to, size_t count, unsigned d, const uint32_t *digit_count)
{
    uint32_t place[DIGIT_VALUES];
    uint32_t sum = 0;
    for (unsigned v = 0; v < DIGIT_VALUES; v++) {
        place[v] = sum;
        sum += digit_count[v];
    }
    for (size_t i = 0; i < count; i++)
        to[place[digit_of(from[i].value, d)]++] = from[i];
}

void points_sort(struct points *points, time_ns end)
{
    assert(points->sorted == NULL);
    struct digits *digits = mem_zalloc(1, sizeof *digits);
    gather(points, end, digits);
    struct point *from = points->sorted;
    struct point *to = mem_alloc(points->count * sizeof *to);
    for (unsigned d = 0; d < DIGIT_COUNT && points->count > 0; d++) {
        if (digits->count[d][digit_of(from[0].value, d)] == points->count)
            continue; /* all points have the same digit */
        scatter(from, to, points->count, d, digits->count[d]);
        struct point *swap = from;
        from = to;
        to = swap;
    }
    points->sorted = from;
    mem_free(to);
    mem_free(digits);
}

void points_release(struct points *points)
{
    for (size_t c = 0; c < points->chunk_count; c++)
        mem_free(points->chunks[c]);
    mem_free(points->chunks);
    mem_free(points->sorted);
    *points = (struct points){0};
}

void ranks_init(struct ranks *ranks, uint64_t total, uint64_t zeros, const uint8_t *percent, uint8_t count)
{
    assert(count <= RANKS_MAX && zeros <= total);
    *ranks = (struct ranks){.seen = zeros, .rank_count = total == 0 ? 0 : count};
    for (unsigned i = 0; i < ranks->rank_count; i++) {
        ranks->rank[i] = (total * percent[i] + 99) / 100;
        if (ranks->rank[i] <= zeros)
            ranks->found++; /* its value is 0 already */
    }
    ranks->next = ranks->found < ranks->rank_count ? ranks->rank[ranks->found] : UINT64_MAX;
}

void ranks_found(struct ranks *ranks, int64_t value)
{
    while (ranks->found < ranks->rank_count && ranks->rank[ranks->found] == ranks->seen)
        ranks->value[ranks->found++] = value;
    ranks->next = ranks->found < ranks->rank_count ? ranks->rank[ranks->found] : UINT64_MAX;
}
