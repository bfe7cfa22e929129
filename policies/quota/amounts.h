/* policies/quota/amounts.h -- helpers of quota policies: ratios without division, and amounts of a queue.
 *
 * Words.  What a queue deserves "in effect" is the amount in its spec.  An inner queue whose spec says 0, the default
 * for GPUs, deserves the sum of its children.  AMOUNT_ANY means no bound; it is larger than any sum of amounts.
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

/* The sum of two amounts that are not negative; at most AMOUNT_ANY. */
static inline int64_t amount_sum(int64_t a, int64_t b)
{
    return amount_smaller(a + b, AMOUNT_ANY);
}

/* part / whole; infinite if only whole is 0, and 0 if both are 0. */
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

/* What the queue deserves in effect; AMOUNT_ANY: no bound.  O(1); O(queues below) for an inner queue whose spec says 0.
 */
int64_t amount_deserved(const struct queue_tree *tree, queue_id queue, enum resource resource);

/* With config->firm_needs_quota: the first queue from `leaf` up whose deserved amount does not allow this much more
 * non-preemptible charge.  QUEUE_NONE: all allow it.  O(depth). */
queue_id amount_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* Do both the preemptor and the unit use the resource?  A unit of charge 0 counts as using all that the preemptor asks:
 * plans use it to ask whether a queue could lose any unit. */
bool amount_is_disputed(const struct taking *taking, enum resource resource);

/* Find the queues at which preemptor and victim are compared: the children of their lowest common ancestor.  False: one
 * is above the other, so there is nothing to take back. */
bool amount_levels(const struct queue_tree *tree, queue_id preemptor, queue_id victim, queue_id *preemptor_top,
                   queue_id *victim_top);

#endif
