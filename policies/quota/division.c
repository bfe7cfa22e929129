#include "policies/quota/division.h"

#define EACH_CHILD(pot, c)                                                                         \
    queue_id c = (pot)->tree->queues[(pot)->parent].first_child;                                   \
    c != QUEUE_NONE;                                                                               \
    c = (pot)->tree->queues[c].next_sibling

enum {
    CPU_CORE_MILLI = 1000,
    GIB_IN_MIB = 1024,
    REMAINDER_BITS = 24, /* of a unit's fraction that are compared */
    USAGE_WEIGHT_MILLI_MAX =
        1000000, /* more is no different: any usage above a queue's part counts all */
};

const int64_t division_unit[RESOURCE_COUNT] = {GPU_MILLI, CPU_CORE_MILLI, GIB_IN_MIB};

struct pot { /* what is divided, and among whom */
    struct queue_tree *tree;
    queue_id parent;
    enum resource resource;
    int64_t left;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t capped(const struct queue_tree *tree, queue_id queue, enum resource r,
                      int64_t demand)
{
    int64_t limit = queue_tree_spec(tree, queue)->limit[r];
    return limit == QUOTA_UNLIMITED ? demand : smaller(demand, limit);
}

static int64_t requestable(const struct pot *pot, queue_id queue)
{
    return capped(pot->tree, queue, pot->resource, pot->tree->queues[queue].demand[pot->resource]);
}

static int64_t weight(const struct pot *pot, queue_id queue)
{
    return queue_tree_spec(pot->tree, queue)->weight_milli[pot->resource];
}

static int64_t *share(const struct pot *pot, queue_id queue)
{
    return &pot->tree->queues[queue].share[pot->resource];
}

/* What rounding took from it in the last pass, as a fraction of a unit; -1: not rounded. */
static int64_t *remainder_of(const struct pot *pot, queue_id queue)
{
    return (int64_t *)pot->tree->scratch + pot->tree->scratch_capacity + queue;
}

/* The hungry of one priority, then the heap of those whose part was rounded. */
static int64_t *list_of(const struct pot *pot)
{
    return (int64_t *)pot->tree->scratch + 2 * pot->tree->scratch_capacity;
}

static size_t list_hungry(const struct pot *pot, int32_t priority)
{
    int64_t *list = list_of(pot);
    size_t count = 0;
    for (EACH_CHILD(pot, c))
        if (queue_tree_spec(pot->tree, c)->priority == priority && weight(pot, c) > 0 &&
            *share(pot, c) < requestable(pot, c))
            list[count++] = c;
    return count;
}

/* Its part in what is over, to be set against those of the others: with n = weight / weights, the part is
 * n + k * (n - usage), not negative; here times weights * 1000 * 10^6, so that it is whole. */
static __int128 part_of(const struct pot *pot, queue_id queue, int64_t weights)
{
    const int64_t usage_weight_milli =
        smaller(pot->tree->config->usage_weight_milli, USAGE_WEIGHT_MILLI_MAX);
    if (usage_weight_milli == 0)
        return weight(pot, queue);
    int64_t used_ppm = usage_ppm(pot->tree, queue, pot->resource);
    __int128 part = (__int128)weight(pot, queue) * (1000 + usage_weight_milli) * 1000000 -
                    (__int128)weights * usage_weight_milli * used_ppm;
    return part > 0 ? part : 0;
}

/* Phase 1, and what division_adjust wants to know. */
static void give_deserved(struct pot *pot)
{
    struct fairshare_queue *own = queue_tree_own(pot->tree, pot->parent);
    const enum resource r = pot->resource;
    const int64_t total = pot->left;
    int64_t weights = 0;
    own->requestable[r] = 0;
    own->are_apart[r] = own->are_served[r] = true;
    for (EACH_CHILD(pot, c)) {
        int64_t deserved = queue_tree_spec(pot->tree, c)->deserved[r];
        int64_t given =
            smaller(deserved == QUOTA_UNLIMITED ? total : deserved, requestable(pot, c));
        *share(pot, c) = given;
        *remainder_of(pot, c) = -1;
        pot->left -= given;
        weights += weight(pot, c);
        own->requestable[r] += requestable(pot, c);
        own->are_apart[r] &= deserved == QUOTA_UNLIMITED;
    }
    for (EACH_CHILD(pot, c)) /* hungry among all, its part is least */
        own->are_served[r] &= part_of(pot, c, weights) > 0;
}

struct quotient {
    int64_t units, remainder; /* the latter in 2^-REMAINDER_BITS of a unit */
};

/* How many units are in what is due.  Nearly always 64 bits do, which divide ten times as fast. */
static inline struct quotient divided(__int128 due, __int128 unit)
{
    if (due >> 63 == 0 && unit >> (63 - REMAINDER_BITS) == 0) {
        uint64_t units = (uint64_t)due / (uint64_t)unit, rest = (uint64_t)due % (uint64_t)unit;
        return (struct quotient){(int64_t)units,
                                 (int64_t)((rest << REMAINDER_BITS) / (uint64_t)unit)};
    }
    int64_t units = (int64_t)(due / unit);
    return (struct quotient){units, (int64_t)(((due - units * unit) << REMAINDER_BITS) / unit)};
}

/* Give a hungry child its part of `amount`.  True if it took less, so that the others must be asked again. */
static bool give(struct pot *pot, queue_id queue, int64_t amount, __int128 part, __int128 parts)
{
    const int64_t room = requestable(pot, queue) - *share(pot, queue);
    /* All fits 128 bits: amounts are below 2^40, parts below 2^70 each, children fewer than 2^16. */
    const __int128 due = amount * part, unit = parts * division_unit[pot->resource];
    int64_t given = room;
    bool is_less = false;
    *remainder_of(pot, queue) = -1;
    if (room > amount || room * parts > due) {
        struct quotient quotient = divided(due, unit);
        given = quotient.units * division_unit[pot->resource];
        *remainder_of(pot, queue) = quotient.remainder;
    } else {
        is_less = room * parts < due;
    }
    *share(pot, queue) += given;
    pot->left -= given;
    return is_less;
}

/* One pass of phase 2 among the `count` hungry of one priority: how many still are.  0 also if all parts are 0, or
 * if nobody took less than its part, so that another pass would find nothing but what rounding left. */
static size_t give_by_weight(struct pot *pot, size_t count)
{
    const int64_t amount = pot->left;
    int64_t *list = list_of(pot), weights = 0;
    __int128 parts = 0;
    for (size_t i = 0; i < count; i++)
        weights += weight(pot, (queue_id)list[i]);
    for (size_t i = 0; i < count; i++)
        parts += part_of(pot, (queue_id)list[i], weights);
    if (parts == 0)
        return 0;
    bool again = false;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        queue_id c = (queue_id)list[i];
        again |= give(pot, c, amount, part_of(pot, c, weights), parts);
        if (*remainder_of(pot, c) >= 0)
            list[kept++] = c;
    }
    return again ? kept : 0;
}

static bool is_before(const struct pot *pot, int64_t a, int64_t b)
{
    int64_t left = *remainder_of(pot, (queue_id)a), right = *remainder_of(pot, (queue_id)b);
    if (left != right)
        return left > right;
    return queue_tree_compare_age(pot->tree, (queue_id)a, (queue_id)b) < 0;
}

static void sift_down(const struct pot *pot, int64_t *heap, size_t count, size_t i)
{
    for (size_t child = 2 * i + 1; child < count; i = child, child = 2 * i + 1) {
        if (child + 1 < count && is_before(pot, heap[child + 1], heap[child]))
            child++;
        if (!is_before(pot, heap[child], heap[i]))
            return;
        int64_t queue = heap[i];
        heap[i] = heap[child];
        heap[child] = queue;
    }
}

/* Phase 3 among one priority: to those whose last part was rounded. */
static void deal_rest(struct pot *pot, int32_t priority)
{
    int64_t *heap = list_of(pot);
    size_t count = 0;
    for (EACH_CHILD(pot, c))
        if (queue_tree_spec(pot->tree, c)->priority == priority && *remainder_of(pot, c) >= 0)
            heap[count++] = c;
    for (size_t i = count / 2; i > 0; i--)
        sift_down(pot, heap, count, i - 1);
    while (count > 0 && pot->left > 0) {
        int64_t given = smaller(division_unit[pot->resource], pot->left);
        *share(pot, (queue_id)heap[0]) += given;
        pot->left -= given;
        heap[0] = heap[--count];
        sift_down(pot, heap, count, 0);
    }
}

/* The highest priority below `above` among the children; false if there is none. */
static bool next_priority(const struct pot *pot, int64_t above, int32_t *priority)
{
    int64_t best = INT64_MIN;
    for (EACH_CHILD(pot, c)) {
        int32_t p = queue_tree_spec(pot->tree, c)->priority;
        if (p < above && p > best)
            best = p;
    }
    *priority = (int32_t)best;
    return best != INT64_MIN;
}

void division_divide(struct queue_tree *tree, queue_id parent, enum resource resource,
                     int64_t total)
{
    struct pot pot = {tree, parent, resource, total};
    int32_t priority;
    give_deserved(&pot);
    for (int64_t above = INT64_MAX; pot.left > 0 && next_priority(&pot, above, &priority);
         above = priority)
        for (size_t count = list_hungry(&pot, priority); count > 0 && pot.left > 0;)
            count = give_by_weight(&pot, count);
    for (int64_t above = INT64_MAX; pot.left > 0 && next_priority(&pot, above, &priority);
         above = priority)
        deal_rest(&pot, priority);
}

/* What may be said of the new shares without dividing:
 *  (a) what is requestable of the child has not changed: nothing has;
 *  (b) it stays hungry.  It was never satisfied in a pass, and with a unit or more above its share it is not now
 *      either (a pass gives less than a unit below what is due), so that every pass goes as before;
 *  (c) siblings that all deserve the whole total get min(total, requestable) each, and nothing else;
 *  (d) there is enough for all, before and after, and no part is zero: everybody gets what it asks.  (Parts add
 *      up to what is left, so that in each pass somebody is satisfied.) */
bool division_adjust(struct queue_tree *tree, queue_id child, enum resource r,
                     int64_t demand_before, int64_t total_before)
{
    const queue_id parent = tree->queues[child].parent;
    struct fairshare_queue *own = queue_tree_own(tree, parent);
    const int64_t total = parent == QUEUE_ROOT ? tree->capacity[r] : tree->queues[parent].share[r];
    const int64_t before = capped(tree, child, r, demand_before);
    const int64_t after = capped(tree, child, r, tree->queues[child].demand[r]);
    const bool was_enough = own->requestable[r] <= total_before;
    int64_t *due = &tree->queues[child].share[r];
    own->requestable[r] += after - before;
    if (total == total_before) {
        if (before == after || (*due < before && after - *due >= division_unit[r]))
            return true;
        if (own->are_apart[r]) {
            *due = smaller(total, after);
            return true;
        }
    }
    if (!own->are_served[r] || !was_enough || own->requestable[r] > total)
        return false;
    *due = after;
    return true;
}
