/* policies/ledger/free_total.h -- what will be free of all nodes together, and when.
 *
 * The sum of the steps of a profile (policies/state/profile.h) over all its nodes, kept up to date as they change: the
 * moments at which some node's step begins, and what comes free or goes at each.  What is below 0 on a node counts as
 * 0.
 *
 * Law: where `count` members fit for a length, the sum of their requests is free all that time.  Not the reverse,
 * for the room may be now on one node and now on another: a search names the moments that are worth a look at every
 * node.
 *
 *   struct free_search search = free_search_begin(&total, &need, now, length, latest, TIME_NEVER);
 *   for (time_ns at = free_search_next(&search); at != TIME_NEVER; at = free_search_next(&search))
 *       ...
 *
 * Cost: a change O(log moments), and O(moments / FREE_BLOCK) for one of thousands that comes or goes; a search
 * O(moments).
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
    struct free_amount more; /* than before that moment */
    int64_t steps;           /* of nodes that begin then */
};

/* Moments are kept in pieces, so that one more moves few of the others. */
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
    uint32_t block, index; /* behind the last: block is the count of blocks, index 0 */
};

struct free_search {
    const struct free_total *total;
    struct free_amount need, free; /* free: after the changes before `ahead` */
    time_ns at;                    /* the moment to be looked at next */
    time_ns length, latest, until;
    struct free_place next, ahead; /* the moment after `at`; the first change not yet counted */
};

/* At that moment `steps` steps more (negative: fewer) begin, and `more` is added to the free amounts from then on.  A
 * moment at which none begins any more is forgotten: what was told of it must then add up to nothing.  No search is
 * under way. */
void free_total_change(struct free_total *total, time_ns at, int32_t steps, const struct free_amount *more);
void free_total_release(struct free_total *total);

/* The moments from `from` on, and not after `latest`, from which on all that is needed is free for `length`, or until
 * `until` if that is sooner: `from` itself and those at which something changes.  The total must not change meanwhile.
 */
struct free_search free_search_begin(const struct free_total *total, const struct free_amount *need, time_ns from,
                                     time_ns length, time_ns latest, time_ns until);
/* The next of them; TIME_NEVER: no more. */
time_ns free_search_next(struct free_search *search);

#endif
