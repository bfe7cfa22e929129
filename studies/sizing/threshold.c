#include "studies/sizing/threshold.h"

#include <assert.h>
#include <string.h>

struct threshold threshold_of(const struct threshold_options *options)
{
    struct threshold search = {.options = *options};
    assert(options->low <= options->high && options->stride >= 1 && options->scouts >= 1 &&
           options->scouts <= options->looks.n[0]);
    if (search.options.start < options->low)
        search.options.start = options->low;
    if (search.options.start > options->high)
        search.options.start = options->high;
    return search;
}

/* ---- The points ---- */

/* The position of the first point at `index` or above. */
static size_t position(const struct threshold *search, int64_t index)
{
    size_t at = 0;
    while (at < search->count && search->points[at].index < index)
        at++;
    return at;
}

static const struct threshold_point *point_at(const struct threshold *search, int64_t index)
{
    const size_t at = position(search, index);
    return at < search->count && search->points[at].index == index ? &search->points[at] : NULL;
}

/* The greatest number at which it does not hold, and the least above it at which it does; NULL: there is none.  A point
 * that holds below one that does not is an error of few trials, or lies below a gap. */
static const struct threshold_point *failing(const struct threshold *search)
{
    for (size_t i = search->count; i-- > 0;)
        if (!search->points[i].holds)
            return &search->points[i];
    return NULL;
}

static const struct threshold_point *holding(const struct threshold *search)
{
    const struct threshold_point *below = failing(search);
    const size_t at = below != NULL ? (size_t)(below - search->points) + 1 : 0;
    return at < search->count ? &search->points[at] : NULL;
}

/* ---- What to ask ---- */

static bool ask_trials(const struct threshold *search, int64_t index, size_t to, struct threshold_ask *ask)
{
    const struct threshold_point *point = point_at(search, index);
    *ask = (struct threshold_ask){.index = index, .from = point != NULL ? point->trials : 0, .to = to};
    assert(ask->from < to);
    return search->trials + to - ask->from <= search->options.trials_max &&
           (point != NULL || search->count < THRESHOLD_POINTS_MAX);
}

/* A new number between these two, either of which may be NULL.  Few trials say little where more were made next to it.
 */
static bool ask_scouts(const struct threshold *search, int64_t index, const struct threshold_point *below,
                       const struct threshold_point *above, struct threshold_ask *ask)
{
    const size_t scouts = search->options.scouts;
    const bool is_judged = (below != NULL && below->trials > scouts) || (above != NULL && above->trials > scouts);
    return ask_trials(search, index, is_judged ? search->options.looks.n[0] : scouts, ask);
}

/* The trials at the next look, of at most `looks` looks; 0: none is left. */
static size_t next_look(const struct threshold *search, const struct threshold_point *point, size_t looks)
{
    const size_t trials = point != NULL ? point->trials : 0;
    for (size_t l = 0; l < looks && l < search->options.looks.count; l++)
        if (search->options.looks.n[l] > trials)
            return search->options.looks.n[l];
    return 0;
}

static bool is_open(const struct threshold *search, const struct threshold_point *point, size_t looks)
{
    return (point == NULL || !point->is_sure) && next_look(search, point, looks) != 0;
}

/* The next number away from `from`, in steps that double, toward `limit`. */
static int64_t gallop(const struct threshold *search, int64_t from, int64_t limit)
{
    const int64_t start = search->options.start, gone = from > start ? from - start : start - from;
    const int64_t step = gone > 0 ? 2 * gone : search->options.stride;
    if (limit > from)
        return limit - from > step ? from + step : limit;
    return from - limit > step ? from - step : limit;
}

/* Past `from`, which is in doubt, the first number at steps that double which is open, unless one that is sure comes
 * before it.  False: there is none. */
static bool find_farther(const struct threshold *search, int64_t from, bool is_up, size_t looks, int64_t *index)
{
    enum { NEARER = 2 }; /* the answer is nearer than the start was */
    const int64_t first = search->options.stride / NEARER;
    for (int64_t step = first > 1 ? first : 1;; step *= 2) {
        *index = is_up ? from + step : from - step;
        if (*index < search->options.low || *index > search->options.high)
            return false;
        const struct threshold_point *point = point_at(search, *index);
        if (point != NULL && point->is_sure)
            return false;
        if (is_open(search, point, looks))
            return true;
    }
}

/* More trials for the two sides, the one with fewer first, and for what is beyond a side that stays in doubt. */
static bool ask_more(const struct threshold *search, const struct threshold_point *below,
                     const struct threshold_point *above, size_t looks, struct threshold_ask *ask)
{
    const struct threshold_point *sides[] = {above, below};
    const struct threshold_point *fewer = NULL;
    for (size_t s = 0; s < 2; s++)
        if (sides[s] != NULL && is_open(search, sides[s], looks) && (fewer == NULL || sides[s]->trials < fewer->trials))
            fewer = sides[s];
    if (fewer != NULL)
        return ask_trials(search, fewer->index, next_look(search, fewer, looks), ask);
    for (size_t s = 0; s < 2; s++) {
        int64_t index;
        if (sides[s] != NULL && !sides[s]->is_sure && find_farther(search, sides[s]->index, s == 0, looks, &index))
            return ask_trials(search, index, next_look(search, point_at(search, index), looks), ask);
    }
    return false;
}

/* Was a number tried between these two, both included? */
static bool is_tried(const struct threshold *search, int64_t low, int64_t high)
{
    const size_t at = position(search, low);
    return at < search->count && search->points[at].index <= high;
}

/* The first distance from `from` at which nothing was tried since the distance before; false: there is none. */
static bool find_unseen(const struct threshold *search, int64_t from, bool is_up, size_t count, int64_t *index)
{
    int64_t near = 0, far = 1;
    for (size_t i = 0; i < count; i++) {
        const int64_t low = is_up ? from + near + 1 : from - far, high = is_up ? from + far : from - near - 1;
        if (is_up ? low > search->options.high : high < search->options.low)
            return false;
        if (!is_tried(search, low, high)) {
            *index = is_up ? high : low;
            if (*index > search->options.high)
                *index = search->options.high;
            if (*index < search->options.low)
                *index = search->options.low;
            return true;
        }
        const int64_t next = i == 0 ? 2 : near + far; /* 1, 2, 3, 5, 8, 13, ... */
        near = far;
        far = next;
    }
    return false;
}

static bool ask_unseen(const struct threshold *search, const struct threshold_point *below,
                       const struct threshold_point *above, struct threshold_ask *ask)
{
    int64_t index;
    if (above != NULL && find_unseen(search, above->index, true, search->options.scan_above, &index))
        return ask_trials(search, index, search->options.scouts, ask);
    if (below != NULL && find_unseen(search, below->index, false, search->options.scan_below, &index))
        return ask_trials(search, index, search->options.scouts, ask);
    return false;
}

/* More trials for a number at which it holds, and for the next one at which it does not: chance, or a gap? */
static bool ask_gap(const struct threshold *search, const struct threshold_point *below, size_t looks,
                    struct threshold_ask *ask)
{
    for (const struct threshold_point *point = below; point != NULL && point-- > search->points;) {
        const struct threshold_point *next = point + 1;
        if (!point->holds || next->holds)
            continue;
        if (is_open(search, point, looks))
            return ask_trials(search, point->index, next_look(search, point, looks), ask);
        if (point->is_sure && next->trials < search->options.looks.n[0])
            return ask_trials(search, next->index, search->options.looks.n[0], ask);
    }
    return false;
}

bool threshold_next(const struct threshold *search, struct threshold_ask *ask)
{
    const struct threshold_options *options = &search->options;
    const struct threshold_point *below = failing(search), *above = holding(search);
    if (search->count == 0)
        return ask_scouts(search, options->start, below, above, ask);
    if (above == NULL && below->index < options->high)
        return ask_scouts(search, gallop(search, below->index, options->high), below, above, ask);
    if (below == NULL && above->index > options->low)
        return ask_scouts(search, gallop(search, above->index, options->low), below, above, ask);
    if (below != NULL && above != NULL && above->index - below->index > 1)
        return ask_scouts(search, below->index + (above->index - below->index) / 2, below, above, ask);
    if (ask_unseen(search, below, above, ask))
        return true;
    enum { LOOKS_AT_FIRST = 2 }; /* before numbers farther away are tried */
    return ask_gap(search, below, 1, ask) || ask_more(search, below, above, LOOKS_AT_FIRST, ask) ||
           ask_gap(search, below, LOOKS_AT_FIRST, ask) || ask_more(search, below, above, LOOKS_MAX, ask);
}

static bool is_look(const struct threshold *search, size_t trials)
{
    for (size_t l = 0; l < search->options.looks.count; l++)
        if (search->options.looks.n[l] == trials)
            return true;
    return false;
}

void threshold_tell(struct threshold *search, const struct threshold_ask *ask, bool holds, bool is_sure)
{
    const size_t at = position(search, ask->index);
    struct threshold_point *point = &search->points[at];
    if (at == search->count || point->index != ask->index) {
        assert(search->count < THRESHOLD_POINTS_MAX);
        memmove(point + 1, point, (search->count - at) * sizeof *point);
        search->count++;
    }
    *point = (struct threshold_point){
        .index = ask->index, .trials = ask->to, .holds = holds, .is_sure = is_sure && is_look(search, ask->to)};
    search->trials += ask->to - ask->from;
}

struct threshold_answer threshold_answer(const struct threshold *search)
{
    struct threshold_answer answer = {0};
    const struct threshold_point *below = failing(search), *above = holding(search);
    if (above != NULL) {
        const bool is_lowest = above->index == search->options.low;
        answer.is_found = true;
        answer.index = above->index;
        answer.is_whole = below != NULL ? above->index - below->index == 1 : is_lowest;
        answer.is_sure = answer.is_whole && above->is_sure && (below == NULL || below->is_sure);
    } else if (below != NULL) {
        answer.is_whole = below->index == search->options.high;
        answer.is_sure = answer.is_whole && below->is_sure;
    }
    const struct threshold_point *sure_below = NULL;
    for (size_t i = 0; i < search->count; i++)
        if (!search->points[i].holds && search->points[i].is_sure) {
            sure_below = &search->points[i];
            answer.has_needed = true;
            answer.needed = sure_below->index + 1;
        }
    for (size_t i = search->count; i-- > 0 && &search->points[i] != sure_below;)
        if (search->points[i].holds && search->points[i].is_sure) {
            answer.has_enough = true;
            answer.enough = search->points[i].index;
        }
    for (size_t i = 0; below != NULL && &search->points[i] < below; i++)
        if (search->points[i].holds) {
            answer.has_below = true;
            answer.below = search->points[i].index;
            answer.is_gapped = answer.is_gapped ||
                               (search->points[i].is_sure && sure_below != NULL && &search->points[i] < sure_below);
        }
    return answer;
}
