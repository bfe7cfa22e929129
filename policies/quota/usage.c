#include "policies/quota/usage.h"
#include "policies/quota/quota_config.h"

#include <math.h>

/* Fractions below 1 are in units of 2^-32. */
#define ONE           (INT64_C(1) << 32)
#define PPM           INT64_C(1000000)
#define USAGE_PPM_MAX (1000 * PPM)
#define LN_2          0.69314718055994530942

static struct usage *usage_of(const struct queue_tree *tree, queue_id queue)
{
    return queue_tree_own(tree, queue);
}

static bool is_integrated(const struct quota_config *config)
{
    return config->usage_weight_milli > 0 && (config->window > 0 || config->half_life > 0);
}

static bool has_window(const struct quota_config *config)
{
    return config->window > 0 && (config->half_life == 0 || config->window / USAGE_BUCKETS < config->half_life);
}

/* The length of a bucket.  Never more than a half-life, so that weights within a bucket stay between 1 and 2. */
static time_ns bucket_length(const struct quota_config *config)
{
    return has_window(config) ? (config->window + USAGE_BUCKETS - 1) / USAGE_BUCKETS : config->half_life;
}

/* The integral of 2^(t / half_life) from 0 to `elapsed`, rounded to a whole nanosecond.  The weight of a piece is the
 * difference of two such values, so pieces add up. */
static int64_t weight_ns(const struct quota_config *config, time_ns elapsed)
{
    if (config->half_life == 0)
        return elapsed;
    double half_life = (double)config->half_life;
    return llround(half_life / LN_2 * expm1((double)elapsed * LN_2 / half_life));
}

/* The factor by which a weight decays over the length of a bucket; ONE is 1. */
static int64_t bucket_decay(const struct quota_config *config)
{
    if (config->half_life == 0)
        return ONE;
    return llround(exp2(-(double)bucket_length(config) / (double)config->half_life) * (double)ONE);
}

/* amount * fraction / ONE.  Amounts stay below 2^110: a billion GPUs for seventy years. */
static __int128 scaled(__int128 amount, int64_t fraction)
{
    return ((amount >> 16) * fraction) >> 16;
}

static const int64_t *amounts_of(const struct queue_tree *tree, queue_id queue)
{
    return queue == QUEUE_ROOT ? tree->capacity : tree->ledger->sums[queue];
}

/* Compute `closed` and `oldest` from the ring, beginning with the oldest slot. */
static void settle(struct usage *usage, uint32_t slot, int64_t decay)
{
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        __int128 oldest = scaled(usage->ring[slot].of[r], decay), closed = 0;
        for (uint32_t i = 1; i < USAGE_BUCKETS; i++) {
            closed = scaled(closed + usage->ring[(slot + i) % USAGE_BUCKETS].of[r], decay);
            oldest = scaled(oldest, decay);
        }
        usage->closed.of[r] = closed;
        usage->oldest.of[r] = oldest;
    }
}

static void close_bucket(struct queue_tree *tree)
{
    struct usage_clock *clock = &usage_of(tree, QUEUE_ROOT)->clock;
    const bool is_ring = has_window(tree->config);
    const int64_t decay = bucket_decay(tree->config);
    const uint32_t filled = clock->slot;
    clock->slot = (filled + 1) % USAGE_BUCKETS;
    clock->bucket_start += bucket_length(tree->config);
    for (queue_id q = 0; q < tree->count; q++) {
        struct usage *usage = usage_of(tree, q);
        if (is_ring) {
            usage->ring[filled] = usage->open;
            settle(usage, clock->slot, decay);
        } else {
            for (int r = 0; r < RESOURCE_COUNT; r++)
                usage->closed.of[r] = scaled(usage->closed.of[r] + usage->open.of[r], decay);
        }
        usage->open = (struct usage_amounts){0};
    }
}

/* Give the root a past in which the cluster always had its present capacity. */
static void give_capacity_its_past(struct queue_tree *tree)
{
    struct usage *root = usage_of(tree, QUEUE_ROOT);
    const int64_t weight = weight_ns(tree->config, bucket_length(tree->config));
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        __int128 full = (__int128)tree->capacity[r] * weight;
        for (uint32_t i = 0; i < USAGE_BUCKETS; i++)
            root->ring[i].of[r] = full;
        root->closed.of[r] = full; /* sum over buckets of a half-life: 1/2 + 1/4 + ... */
    }
    if (has_window(tree->config))
        settle(root, 0, bucket_decay(tree->config));
}

static void share_past(struct usage_amounts *part, const struct usage_amounts *whole, int64_t ppm)
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        part->of[r] = whole->of[r] / PPM * ppm;
}

/* Give a new queue the past that its specification names. */
static void give_past(struct queue_tree *tree, queue_id queue)
{
    const struct usage *root = usage_of(tree, QUEUE_ROOT);
    struct usage *usage = usage_of(tree, queue);
    const int64_t ppm = queue_tree_spec(tree, queue)->usage_ppm;
    usage->is_known = true;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        usage->ppm[r] = (uint32_t)ppm;
    share_past(&usage->open, &root->open, ppm);
    share_past(&usage->closed, &root->closed, ppm);
    share_past(&usage->oldest, &root->oldest, ppm);
    for (uint32_t i = 0; i < USAGE_BUCKETS; i++)
        share_past(&usage->ring[i], &root->ring[i], ppm);
}

static void start(struct queue_tree *tree, time_ns now)
{
    struct usage *root = usage_of(tree, QUEUE_ROOT);
    root->is_known = true;
    root->clock = (struct usage_clock){.start = now, .now = now, .bucket_start = now};
    for (queue_id q = 1; q < tree->count; q++)
        if (queue_tree_spec(tree, q)->usage_ppm > 0) {
            give_capacity_its_past(tree);
            return;
        }
}

static void add(struct queue_tree *tree, int64_t weight)
{
    for (queue_id q = 0; q < tree->count; q++) {
        const int64_t *amounts = amounts_of(tree, q);
        struct usage *usage = usage_of(tree, q);
        for (int r = 0; r < RESOURCE_COUNT; r++)
            usage->open.of[r] += (__int128)amounts[r] * weight;
    }
}

/* If the gap is so long that nothing from before it counts, skip all but its last buckets. */
static void skip_gap(struct queue_tree *tree, time_ns to)
{
    struct usage_clock *clock = &usage_of(tree, QUEUE_ROOT)->clock;
    const time_ns length = bucket_length(tree->config);
    const time_ns buckets = (to - clock->bucket_start) / length - (USAGE_BUCKETS + 2);
    if (buckets <= 0)
        return;
    clock->bucket_start += buckets * length;
    clock->now = clock->bucket_start;
}

/* Integrate up to `to`: the present charges have held since the last call. */
static void integrate(struct queue_tree *tree, time_ns to)
{
    const struct quota_config *config = tree->config;
    struct usage_clock *clock = &usage_of(tree, QUEUE_ROOT)->clock;
    const time_ns length = bucket_length(config);
    skip_gap(tree, to);
    while (clock->now < to) {
        const bool is_full = to - clock->bucket_start >= length;
        const time_ns until = is_full ? clock->bucket_start + length : to;
        add(tree, weight_ns(config, until - clock->bucket_start) - weight_ns(config, clock->now - clock->bucket_start));
        clock->now = until;
        if (is_full)
            close_bucket(tree);
    }
}

static unsigned bit_count(__int128 amount)
{
    uint64_t high = (uint64_t)(amount >> 64), low = (uint64_t)amount;
    return high != 0 ? 128 - (unsigned)__builtin_clzll(high) : 64 - (low != 0 ? (unsigned)__builtin_clzll(low) : 64);
}

/* used / capacity, rounded to ppm.  Both are cut to the 42 leading bits of the larger, which is far finer than a ppm.
 */
static uint32_t ratio_ppm(__int128 used, __int128 capacity)
{
    const unsigned bits = bit_count(used > capacity ? used : capacity);
    const unsigned shift = bits > 42 ? bits - 42 : 0;
    const int64_t part = (int64_t)(used >> shift), whole = (int64_t)(capacity >> shift);
    if (capacity == 0)
        return 0;
    if (part / USAGE_PPM_MAX * PPM > whole)
        return (uint32_t)USAGE_PPM_MAX;
    const int64_t ppm = (part * PPM + whole / 2) / whole;
    return (uint32_t)(ppm < USAGE_PPM_MAX ? ppm : USAGE_PPM_MAX);
}

static __int128 total_of(const struct usage *usage, enum resource r, int64_t oldest_part)
{
    return usage->open.of[r] + usage->closed.of[r] + scaled(usage->oldest.of[r], oldest_part);
}

/* Set the usage that the division uses to the present one.  True: that of some queue has changed. */
static bool enter(struct queue_tree *tree)
{
    const struct usage *root = usage_of(tree, QUEUE_ROOT);
    const time_ns length = bucket_length(tree->config);
    const time_ns inside = length - (root->clock.now - root->clock.bucket_start);
    const int64_t oldest_part = (int64_t)((__int128)inside * ONE / length);
    bool has_moved = false;
    for (queue_id q = 1; q < tree->count; q++) {
        struct usage *usage = usage_of(tree, q);
        queue_id parent = tree->queues[q].parent;
        for (int r = 0; r < RESOURCE_COUNT; r++) {
            uint32_t ppm = ratio_ppm(total_of(usage, (enum resource)r, oldest_part),
                                     total_of(root, (enum resource)r, oldest_part));
            if (ppm == usage->ppm[r])
                continue;
            usage->ppm[r] = ppm;
            tree->queues[parent].is_share_stale[r] = true;
            queue_tree_touch(tree, parent);
            has_moved = true;
        }
    }
    return has_moved;
}

bool usage_advance(struct queue_tree *tree, time_ns now, time_ns *next)
{
    const time_ns period = tree->config->share_period;
    *next = TIME_NEVER;
    if (!is_integrated(tree->config))
        return false;
    struct usage *root = usage_of(tree, QUEUE_ROOT);
    if (!root->is_known)
        start(tree, now);
    for (queue_id q = 1; q < tree->count; q++)
        if (!usage_of(tree, q)->is_known)
            give_past(tree, q);
    const time_ns step = period > 0 ? now - (now - root->clock.start) % period : now;
    bool has_moved = false;
    if (step > root->clock.now) {
        integrate(tree, step);
        has_moved = enter(tree);
    }
    integrate(tree, now);
    if (period > 0 && tree->waits[QUEUE_ROOT].jobs > 0) /* else no job waits, and no share is needed */
        *next = step + period;
    return has_moved;
}

int64_t usage_ppm(const struct queue_tree *tree, queue_id queue, enum resource resource)
{
    const struct usage *usage = usage_of(tree, queue);
    if (tree->config->usage_weight_milli == 0)
        return 0;
    return is_integrated(tree->config) && usage->is_known ? usage->ppm[resource]
                                                          : queue_tree_spec(tree, queue)->usage_ppm;
}

void usage_describe(struct queue_tree *tree, queue_id queue, struct queue_spec *spec)
{
    if (tree->config->usage_weight_milli > 0)
        spec->usage_ppm = usage_ppm(tree, queue, RESOURCE_GPU);
}
