#include "policies/quota/division.h"

#include "policies/quota/amounts.h"
#include "policies/quota/quota_config.h"

enum {
    CPU_CORE_MILLI = 1000,
    GIB_IN_MIB = 1024,
    REMAINDER_BITS = 24,              /* of a unit's fraction that is compared */
    USAGE_WEIGHT_MILLI_MAX = 1000000, /* a larger weight makes no difference */
};

const int64_t division_unit[RESOURCE_COUNT] = {GPU_MILLI, CPU_CORE_MILLI, GIB_IN_MIB};

/* A child, with the values that the passes use again and again. */
struct portion {
    __int128 part; /* its part of the rest in this pass; see part_of */
    int64_t requestable, weight, share;
    int64_t remainder; /* what rounding took in its last pass, as a fraction of a unit; -1: not rounded */
    queue_id queue;
    int32_t priority;
};
_Static_assert(sizeof(struct portion) + sizeof(uint32_t) <= QUEUE_SCRATCH_BYTES, "no room for a portion");

struct pot { /* the amount that is divided, and the children that get it */
    struct queue_tree *tree;
    enum resource resource;
    int64_t left, usage_weight_milli;
    struct portion *portions; /* in the order of the children */
    uint32_t count;
    int32_t lowest, highest; /* priority among them */
    uint32_t *list; /* indices of portions: unsatisfied ones of a priority; in phase 3 the heap of the rounded ones */
};

static int64_t capped(const struct queue_tree *tree, queue_id queue, enum resource r, int64_t demand)
{
    int64_t limit = queue_tree_spec(tree, queue)->limit[r];
    return limit == QUOTA_UNLIMITED ? demand : amount_smaller(demand, limit);
}

/* The child's part of the rest, relative to the parts of the others.  With n = weight / weights, the part is
 * n + k * (n - usage), not less than 0; here it is multiplied by weights * 1000 * 10^6, so that it is an integer. */
static __int128 part_of(const struct pot *pot, const struct portion *portion, int64_t weights)
{
    if (pot->usage_weight_milli == 0)
        return portion->weight;
    int64_t used_ppm = usage_ppm(pot->tree, portion->queue, pot->resource);
    __int128 part = (__int128)portion->weight * (1000 + pot->usage_weight_milli) * 1000000 -
                    (__int128)weights * pot->usage_weight_milli * used_ppm;
    return part > 0 ? part : 0;
}

/* Phase 1. */
static void give_deserved(struct pot *pot, queue_id parent)
{
    const struct queue_tree *tree = pot->tree;
    const enum resource r = pot->resource;
    const int64_t total = pot->left;
    for (queue_id c = tree->queues[parent].first_child; c != QUEUE_NONE; c = tree->queues[c].next_sibling) {
        const struct queue_spec *spec = queue_tree_spec(tree, c);
        const int64_t deserved = spec->deserved[r] == QUOTA_UNLIMITED ? total : spec->deserved[r];
        struct portion *portion = &pot->portions[pot->count++];
        portion->queue = c;
        portion->priority = spec->priority;
        if (portion->priority < pot->lowest)
            pot->lowest = portion->priority;
        if (portion->priority > pot->highest)
            pot->highest = portion->priority;
        portion->weight = spec->weight_milli[r];
        portion->requestable = capped(tree, c, r, tree->queues[c].demand[r]);
        portion->share = amount_smaller(deserved, portion->requestable);
        portion->remainder = -1;
        pot->left -= portion->share;
    }
}

static uint32_t list_unsatisfied(struct pot *pot, int32_t priority)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pot->count; i++) {
        const struct portion *portion = &pot->portions[i];
        if (portion->priority == priority && portion->weight > 0 && portion->share < portion->requestable)
            pot->list[count++] = i;
    }
    return count;
}

struct quotient {
    int64_t units, remainder; /* remainder: in 2^-REMAINDER_BITS of a unit */
};

/* How many units are in `due`.  64 bits suffice nearly always, and divide much faster. */
static inline struct quotient divided(__int128 due, __int128 unit)
{
    if (due >> 63 == 0 && unit >> (63 - REMAINDER_BITS) == 0) {
        uint64_t units = (uint64_t)due / (uint64_t)unit, rest = (uint64_t)due % (uint64_t)unit;
        return (struct quotient){(int64_t)units, (int64_t)((rest << REMAINDER_BITS) / (uint64_t)unit)};
    }
    int64_t units = (int64_t)(due / unit);
    return (struct quotient){units, (int64_t)(((due - units * unit) << REMAINDER_BITS) / unit)};
}

/* Give an unsatisfied child its part of `amount`.  True: it asked for less, so another pass is needed. */
static bool give(struct pot *pot, struct portion *portion, int64_t amount, __int128 parts)
{
    const int64_t room = portion->requestable - portion->share;
    /* All fits 128 bits: amounts are below 2^40, parts below 2^70 each, children fewer than 2^16. */
    const __int128 due = amount * portion->part, wanted = room * parts;
    int64_t given = room;
    portion->remainder = -1;
    if (room > amount || wanted > due) {
        struct quotient quotient = divided(due, parts * division_unit[pot->resource]);
        given = quotient.units * division_unit[pot->resource];
        portion->remainder = quotient.remainder;
    }
    portion->share += given;
    pot->left -= given;
    return portion->remainder < 0 && wanted < due;
}

/* One pass of phase 2 among the `count` unsatisfied children of a priority.  Returns how many still are; 0 also if all
 * parts are 0, or if no child took less than its part: then another pass would find only what rounding left. */
static uint32_t give_by_weight(struct pot *pot, uint32_t count)
{
    const int64_t amount = pot->left;
    int64_t weights = 0;
    __int128 parts = 0;
    for (uint32_t i = 0; i < count; i++)
        weights += pot->portions[pot->list[i]].weight;
    for (uint32_t i = 0; i < count; i++) {
        struct portion *portion = &pot->portions[pot->list[i]];
        portion->part = part_of(pot, portion, weights);
        parts += portion->part;
    }
    if (parts == 0)
        return 0;
    bool again = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct portion *portion = &pot->portions[pot->list[i]];
        again |= give(pot, portion, amount, parts);
        if (portion->remainder >= 0)
            pot->list[kept++] = pot->list[i];
    }
    return again ? kept : 0;
}

static bool is_before(const struct pot *pot, uint32_t a, uint32_t b)
{
    const struct portion *left = &pot->portions[a], *right = &pot->portions[b];
    if (left->remainder != right->remainder)
        return left->remainder > right->remainder;
    return queue_tree_compare_age(pot->tree, left->queue, right->queue) < 0;
}

static void sift_down(const struct pot *pot, uint32_t count, uint32_t i)
{
    uint32_t *heap = pot->list;
    for (uint32_t child = 2 * i + 1; child < count; i = child, child = 2 * i + 1) {
        if (child + 1 < count && is_before(pot, heap[child + 1], heap[child]))
            child++;
        if (!is_before(pot, heap[child], heap[i]))
            return;
        uint32_t index = heap[i];
        heap[i] = heap[child];
        heap[child] = index;
    }
}

/* Phase 3 for one priority: gives units to children whose last part was rounded. */
static void deal_rest(struct pot *pot, int32_t priority)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pot->count; i++)
        if (pot->portions[i].priority == priority && pot->portions[i].remainder >= 0)
            pot->list[count++] = i;
    for (uint32_t i = count / 2; i > 0; i--)
        sift_down(pot, count, i - 1);
    while (count > 0 && pot->left > 0) {
        int64_t given = amount_smaller(division_unit[pot->resource], pot->left);
        pot->portions[pot->list[0]].share += given;
        pot->left -= given;
        pot->list[0] = pot->list[--count];
        sift_down(pot, count, 0);
    }
}

/* Find the highest priority below `above` among the children.  False: there is none. */
static bool next_priority(const struct pot *pot, int64_t above, int32_t *priority)
{
    if (above <= pot->lowest)
        return false;
    *priority = above > pot->highest ? pot->highest : pot->lowest;
    for (uint32_t i = 0; above <= pot->highest && i < pot->count; i++) {
        int32_t p = pot->portions[i].priority;
        if (p < above && p > *priority)
            *priority = p;
    }
    return true;
}

void division_divide(struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total)
{
    struct pot pot = {.tree = tree,
                      .resource = resource,
                      .left = total,
                      .lowest = INT32_MAX,
                      .highest = INT32_MIN,
                      .usage_weight_milli = amount_smaller(tree->config->usage_weight_milli, USAGE_WEIGHT_MILLI_MAX),
                      .portions = tree->scratch,
                      .list = (uint32_t *)((struct portion *)tree->scratch + tree->count)};
    int32_t priority;
    give_deserved(&pot, parent);
    for (int64_t above = INT64_MAX; pot.left > 0 && next_priority(&pot, above, &priority); above = priority)
        for (uint32_t count = list_unsatisfied(&pot, priority); count > 0 && pot.left > 0;)
            count = give_by_weight(&pot, count);
    for (int64_t above = INT64_MAX; pot.left > 0 && next_priority(&pot, above, &priority); above = priority)
        deal_rest(&pot, priority);
    for (uint32_t i = 0; i < pot.count; i++)
        tree->queues[pot.portions[i].queue].share[resource] = pot.portions[i].share;
}
