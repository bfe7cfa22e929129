/* policies/quota/amounts.h -- what quota policies measure: ratios without division, and amounts of a queue.
 *
 * Words.  What a queue deserves "in effect" is what its spec says; an inner queue whose spec says 0, the default
 * for GPUs, deserves what its children do.  AMOUNT_ANY stands for no bound; it is larger than any sum of amounts.
 *
 * Law: amounts stay below 10^15 and weights below 10^10, so that a cross product fits 128 bits.
 */
#ifndef POLICIES_AMOUNTS_H
#define POLICIES_AMOUNTS_H

#include "policies/queues/queues.h"
#include "policies/quota/quota.h"
#include "policies/quota/quota_config.h"

#define AMOUNT_ANY (INT64_MAX / 4)

#define EACH_CHILD(tree, parent, c)                                                                                    \
    queue_id c = (tree)->queues[parent].first_child;                                                                   \
    c != QUEUE_NONE;                                                                                                   \
    c = (tree)->queues[c].next_sibling

static inline int64_t amount_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t amount_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of two amounts that are not negative; never above AMOUNT_ANY. */
static inline int64_t amount_sum(int64_t a, int64_t b)
{
    return amount_smaller(a + b, AMOUNT_ANY);
}

/* part / whole; a part of nothing is infinite, nothing of nothing is 0. */
struct ratio {
    int64_t part;   /* >= 0 */
    __int128 whole; /* >= 0; for instance an amount times a weight */
};
#define RATIO_ZERO ((struct ratio){0, 1})

static inline bool ratio_is_infinite(struct ratio a)
{
    return a.whole == 0 && a.part > 0;
}

/* <0: a is smaller.  Infinite ratios are equal. */
int ratio_compare(struct ratio a, struct ratio b);

static inline struct ratio ratio_larger(struct ratio a, struct ratio b)
{
    return ratio_compare(a, b) >= 0 ? a : b;
}

/* What the queue deserves in effect; AMOUNT_ANY: not bounded.  O(1), or O(queues below) for an inner one of 0. */
int64_t amount_deserved(const struct queue_tree *tree, queue_id queue, enum resource resource);

/* The queue, from `leaf` up, whose limit does not allow this much more; or, with config->firm_needs_quota, whose
 * deserved amount does not allow this much more that cannot be preempted.  QUEUE_NONE: all do.  O(depth). */
queue_id amount_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* Do both the preemptor and the unit use the resource?  A unit of nothing, by which the engine asks whether a queue
 * could lose anything at all, shares all that the preemptor asks. */
bool amount_is_disputed(const struct taking *taking, enum resource resource);

/* Where preemptor and victim are compared: the children of their lowest common ancestor.  False if one stands above
 * the other, so that there is nothing to take back. */
bool amount_levels(const struct queue_tree *tree, queue_id preemptor, queue_id victim, queue_id *preemptor_top,
                   queue_id *victim_top);

#endif
