/* studies/divergence/trail.h -- a run as a row of hashes, in which another run finds the first place where it differs.
 *
 * A trail counts units (what happened at one moment) and keeps marks: the hash of all units up to that one.  A mark
 * stands behind every unit; if a trail has TRAIL_MARKS_MAX of them, every second one is dropped.  So its memory is
 * bounded, and a difference is found to within `stride` units.  A second trail that begins where the first one still
 * agreed finds it exactly.
 *
 *   struct trail kept = trail_from(0, UINT64_MAX);
 *   ... run A: trail_add(&kept, &unit) ...
 *   struct trail_match match = trail_match_of(&kept);
 *   ... run B: trail_match_add(&match, &unit); stop if match.is_found ...
 *   trail_match_end(&match);          if B has ended
 *   if (match.is_found && !trail_match_is_exact(&match)) ... again, with trail_from(match.same, match.until) ...
 *
 * Law: match.same units are the same on both sides.  If the match is found, one of the units from `same` on, but before
 * `until`, is not, or one side does not have it.
 */
#ifndef STUDIES_DIVERGENCE_TRAIL_H
#define STUDIES_DIVERGENCE_TRAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"

enum { TRAIL_MARKS_MAX = 1 << 16 };

struct trail_unit {
    uint64_t hash; /* of what happened */
    time_ns at;
    uint64_t after; /* cycles that decided something before it; UINT64_MAX: it follows an empty cycle of its time */
};

struct trail_mark {
    uint64_t chain; /* hash of all units up to this one */
    time_ns at;     /* of this unit */
    uint64_t after;
};

struct trail {
    uint64_t first, last;  /* units before `first` and from `last` on get no marks */
    uint64_t stride;       /* marks stand behind units first + stride - 1, first + 2 * stride - 1, ... */
    uint64_t count, chain; /* of all units so far */
    struct trail_mark *marks;
    size_t mark_count, mark_capacity;
    size_t marks_max; /* even */
};

/* Caller: trail_release. */
struct trail trail_from(uint64_t first, uint64_t last);
void trail_add(struct trail *trail, const struct trail_unit *unit);
void trail_release(struct trail *trail);

struct trail_match {
    const struct trail *kept; /* of the other side; borrowed */
    uint64_t count, chain;    /* of the units of this side so far */
    uint64_t same, until;
    bool is_found;
};

struct trail_match trail_match_of(const struct trail *kept);
/* The next unit of this side.  Nothing more is compared once the match is found. */
void trail_match_add(struct trail_match *match, const struct trail_unit *unit);
void trail_match_end(struct trail_match *match); /* this side has no more units */

/* Is the difference that was found in unit `same`? */
static inline bool trail_match_is_exact(const struct trail_match *match)
{
    return match->until == match->same + 1;
}

/* The mark behind unit `unit` of the kept trail; NULL: it has none. */
const struct trail_mark *trail_mark_of(const struct trail *trail, uint64_t unit);

#endif
