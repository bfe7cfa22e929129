#include "studies/divergence/trail.h"

#include "base/hash.h"
#include "base/mem.h"

struct trail trail_from(uint64_t first, uint64_t last)
{
    return (struct trail){.first = first, .last = last, .stride = 1, .marks_max = TRAIL_MARKS_MAX};
}

static uint64_t chained(uint64_t chain, const struct trail_unit *unit)
{
    return hash_mix(hash_mix(chain, (uint64_t)unit->at), unit->hash);
}

/* Is there a mark behind the unit before `count`? */
static bool is_marked(const struct trail *trail, uint64_t count)
{
    return count > trail->first && count <= trail->last && (count - trail->first) % trail->stride == 0;
}

static void drop_every_second(struct trail *trail)
{
    for (size_t i = 0; i < trail->mark_count / 2; i++)
        trail->marks[i] = trail->marks[2 * i + 1];
    trail->mark_count /= 2;
    trail->stride *= 2;
}

void trail_add(struct trail *trail, const struct trail_unit *unit)
{
    trail->chain = chained(trail->chain, unit);
    trail->count++;
    if (!is_marked(trail, trail->count))
        return;
    if (trail->mark_count == trail->marks_max) {
        drop_every_second(trail);
        if (!is_marked(trail, trail->count))
            return;
    }
    MEM_GROW(trail->marks, trail->mark_capacity, trail->mark_count + 1);
    trail->marks[trail->mark_count++] =
        (struct trail_mark){.chain = trail->chain, .at = unit->at, .after = unit->after};
}

void trail_release(struct trail *trail)
{
    mem_free(trail->marks);
    *trail = (struct trail){0};
}

const struct trail_mark *trail_mark_of(const struct trail *trail, uint64_t unit)
{
    if (unit >= trail->count || !is_marked(trail, unit + 1))
        return NULL;
    return &trail->marks[(unit + 1 - trail->first) / trail->stride - 1];
}

struct trail_match trail_match_of(const struct trail *kept)
{
    return (struct trail_match){.kept = kept, .same = kept->first};
}

static void find(struct trail_match *match, uint64_t until)
{
    match->is_found = true;
    match->until = until;
}

void trail_match_add(struct trail_match *match, const struct trail_unit *unit)
{
    if (match->is_found)
        return;
    match->chain = chained(match->chain, unit);
    match->count++;
    if (match->count <= match->kept->first)
        return; /* known to be the same; the other side may have been stopped before */
    if (match->count > match->kept->count) {
        find(match, match->count);
        return;
    }
    const struct trail_mark *mark = trail_mark_of(match->kept, match->count - 1);
    if (mark == NULL)
        return;
    if (mark->chain == match->chain)
        match->same = match->count;
    else
        find(match, match->count);
}

void trail_match_end(struct trail_match *match)
{
    if (match->is_found)
        return;
    if (match->count < match->kept->count)
        find(match, match->count + 1);
    else if (match->chain != match->kept->chain)
        find(match, match->count);
}
