/* reports/quantile.h -- exact quantiles of many values, each of which belongs to a queue and a cell.
 *
 * A point costs 16 bytes; the caller counts values of zero and does not add them.  points_sort sorts all points by
 * value.  One walk over them gives the quantiles of any number of groups: count the points of a group until its rank
 * is reached.
 *
 *   points_add(&points, (struct point){.value = wait, .queue = q, .cell = c, .flags = POINT_WAIT});
 *   points_sort(&points, run_end);
 *   for (size_t i = 0; i < points.count; i++)
 *       ranks_see(&group[...], points.sorted[i].value);
 *
 * Sorting needs another 16 bytes a point for a while.  O(n) (radix).
 */
#ifndef REPORTS_QUANTILE_H
#define REPORTS_QUANTILE_H

#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"

enum {
    POINT_WAIT = 1,      /* a wait until the first start, censored ones included */
    POINT_ADMISSION = 2, /* a time from submission to start */
    POINT_SUBMIT = 4,    /* the value is a time of submission; points_sort turns it into the time since */
    POINTS_PER_CHUNK = 1 << 16,
};

struct point {
    int64_t value; /* >= 0: nanoseconds; of slowdowns millionths */
    uint32_t queue;
    uint16_t cell;
    uint16_t flags;
};

struct points {
    struct point **chunks; /* until sorted */
    size_t chunk_count, chunk_capacity;
    size_t used;          /* in the last chunk */
    struct point *sorted; /* after points_sort */
    size_t count;
}; /* {0} is empty */

void points_new_chunk(struct points *points);

static inline void points_add(struct points *points, struct point point)
{
    if (points->chunk_count == 0 || points->used == POINTS_PER_CHUNK)
        points_new_chunk(points);
    points->chunks[points->chunk_count - 1][points->used++] = point;
}

/* Sort all points by value.  end: POINT_SUBMIT values are subtracted from it.  Call it once. */
void points_sort(struct points *points, time_ns end);

void points_release(struct points *points);

/* The ranks of one group that are searched while its values pass in ascending order. */
enum { RANKS_MAX = 3 };

struct ranks {
    uint64_t seen;            /* values that have passed, including zeros that were not kept */
    uint64_t next;            /* the rank that is searched; UINT64_MAX: none is left */
    uint64_t rank[RANKS_MAX]; /* ascending, from 1 */
    int64_t value[RANKS_MAX]; /* the values at these ranks */
    uint8_t found, rank_count;
};

/* Search `count` whole percents among `total` values, `zeros` of which are 0 and do not pass.  The rank of p percent is
 * ceil(p total / 100), the nearest rank.  total 0: nothing is found. */
void ranks_init(struct ranks *ranks, uint64_t total, uint64_t zeros, const uint8_t *percent, uint8_t count);

void ranks_found(struct ranks *ranks, int64_t value); /* the inner part of ranks_see */

static inline void ranks_see(struct ranks *ranks, int64_t value)
{
    if (++ranks->seen == ranks->next)
        ranks_found(ranks, value);
}

#endif
