/* policies/ledger/free_total.h -- how much will be free on all nodes together, and when.
 *
 * It sums up the steps of a profile (policies/reservation/profile.h) over all its nodes, and is kept up to date as they
 * change.  It lists the moments at which a step of some node begins, and the change of the free amounts at each.  An
 * amount below 0 on a node counts as 0.
 *
 * Law: where `count` members fit for a length, the sum of their requests is free all that time.  The reverse does not
 * hold, since the free space may be on one node first and on another later.  So a search finds the moments at which a
 * look at every node is worth while.
 *
 *   struct free_search search = free_search_begin(&total, &need, now, length, latest, TIME_NEVER);
 *   for (time_ns at = free_search_next(&search); at != TIME_NEVER; at = free_search_next(&search))
 *       ...
 *
 * Cost: a change O(log moments), plus O(moments / FREE_BLOCK) if a moment is added or removed; a search O(moments).
 */
#ifndef POLICIES_LEDGER_FREE_TOTAL_H
#define POLICIES_LEDGER_FREE_TOTAL_H

#include <stddef.h>

#include "base/time.h"

struct free_amount {
    int64_t gpus, cpu_milli, memory_mib;
};

struct free_change {
    time_ns at;
    struct free_amount more; /* what is added to the free amounts at that moment */
    int64_t steps;           /* how many steps of nodes begin then */
};

/* Moments are kept in blocks, so that to insert one moves few of the others. */
enum { FREE_BLOCK = 64 };

struct free_block {
    uint32_t count;                         /* at least 1 */
    struct free_change changes[FREE_BLOCK]; /* in the order of their times */
};

struct free_total {
    struct free_block **blocks; /* in the order of their times */
    size_t capacity;
    uint32_t count;
};

struct free_place {
    uint32_t block, index; /* after the last: block is the number of blocks, index is 0 */
};

struct free_search {
    const struct free_total *total;
    struct free_amount need, free; /* free: after the changes before `ahead` */
    time_ns at;                    /* the moment to be looked at next */
    time_ns length, latest, until;
    struct free_place next, ahead; /* the moment after `at`; the first change not yet counted */
};

/* `steps` more steps (negative: fewer) begin at that moment, and `more` is added to the free amounts from then on.  A
 * moment at which no step begins is removed; its changes must then add up to 0.  No search may be open. */
void free_total_change(struct free_total *total, time_ns at, int32_t steps, const struct free_amount *more);
void free_total_release(struct free_total *total);

/* Find the moments between `from` and `latest` from which all of `need` is free for `length`, or until `until` if that
 * is earlier.  The moments tried are `from` itself and those at which something changes.  The total must not change
 * while the search is open. */
struct free_search free_search_begin(const struct free_total *total, const struct free_amount *need, time_ns from,
                                     time_ns length, time_ns latest, time_ns until);
/* The next moment found; TIME_NEVER: there is no other. */
time_ns free_search_next(struct free_search *search);

#endif
