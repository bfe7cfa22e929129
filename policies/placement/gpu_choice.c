/* Choices of GPUs; see policies/placement/gpu_choice.h. */
#include "policies/placement/gpu_choice.h"

#include <assert.h>

#include "base/bits.h"

uint16_t gpu_choice_lowest(uint16_t mask, uint32_t count)
{
    uint16_t out = 0;
    for (; count > 0 && mask != 0; count--) {
        out |= (uint16_t)(mask & -mask);
        mask &= (uint16_t)(mask - 1);
    }
    return out;
}

uint16_t gpu_choice_island(uint32_t island_gpus, uint16_t mask, uint32_t count)
{
    uint16_t best = 0;
    for (uint32_t first = 0; first < NODE_GPUS_MAX; first += island_gpus) {
        const uint16_t island = mask & (uint16_t)(((1u << island_gpus) - 1) << first);
        if (bits_count16(island) >= count && (best == 0 || bits_count16(island) < bits_count16(best)))
            best = island;
    }
    return best;
}

uint16_t gpu_choice_rails(uint16_t free_mask, uint16_t wanted, uint32_t count)
{
    const uint16_t same = gpu_choice_lowest(free_mask & wanted, count);
    return same | gpu_choice_lowest(free_mask & (uint16_t)~wanted, count - bits_count16(same));
}

struct parts { /* GPUs, grouped by their island's or NUMA node's number */
    uint16_t of[NODE_GPUS_MAX];
    uint32_t count;
};

static struct parts parts_of(const uint8_t number[NODE_GPUS_MAX], uint16_t mask)
{
    struct parts parts = {.count = 0};
    for (; mask != 0; parts.count++)
        for (uint32_t g = (uint32_t)__builtin_ctz(mask), first = g; g < NODE_GPUS_MAX; g++)
            if ((mask >> g & 1) && number[g] == number[first]) {
                parts.of[parts.count] |= (uint16_t)(1u << g);
                mask &= (uint16_t) ~(1u << g);
            }
    return parts;
}

static uint16_t mask_of(const struct parts *parts, uint32_t set)
{
    uint16_t mask = 0;
    for (; set != 0; set &= set - 1)
        mask |= parts->of[__builtin_ctz(set)];
    return mask;
}

/* The smallest number of parts that hold `count` of the GPUs: takes the largest parts. */
static uint32_t fewest(const struct parts *parts, uint16_t gpus, uint32_t count)
{
    uint32_t taken = 0, held = 0, set = 0;
    for (; held < count; taken++) {
        uint32_t best = 0, best_count = 0;
        for (uint32_t i = 0; i < parts->count; i++) {
            const uint32_t own = bits_count16(parts->of[i] & gpus);
            if (!(set >> i & 1) && own > best_count) {
                best = i;
                best_count = own;
            }
        }
        assert(best_count > 0);
        set |= 1u << best;
        held += best_count;
    }
    return taken;
}

static uint32_t first_set(uint32_t size)
{
    return (1u << size) - 1;
}

/* The next larger number with as many bits (Gosper, HAKMEM, item 175). */
static uint32_t next_set(uint32_t set)
{
    const uint32_t low = set & -set, above = set + low;
    return above | (((set ^ above) >> 2) / low);
}

struct choice {
    uint32_t numas, island_free, numa_free;
    uint16_t mask; /* 0: none yet */
};

static bool is_better(const struct choice *one, const struct choice *other)
{
    if (other->mask == 0 || one->numas != other->numas)
        return other->mask == 0 || one->numas < other->numas;
    if (one->island_free != other->island_free)
        return one->island_free < other->island_free;
    if (one->numa_free != other->numa_free)
        return one->numa_free < other->numa_free;
    const uint16_t differ = one->mask ^ other->mask;
    return (one->mask & differ & -differ) != 0;
}

/* Find the best choice inside these islands, if it is better than the best so far. */
static void choose_inside(const struct parts *numas, uint16_t island, uint32_t count, struct choice *best)
{
    struct choice choice = {.numas = fewest(numas, island, count), .island_free = bits_count16(island)};
    for (uint32_t set = first_set(choice.numas); set < 1u << numas->count; set = next_set(set)) {
        const uint16_t numa = mask_of(numas, set);
        if (bits_count16(numa & island) < count)
            continue;
        choice.numa_free = bits_count16(numa);
        choice.mask = gpu_choice_lowest(numa & island, count);
        if (is_better(&choice, best))
            *best = choice;
    }
}

uint16_t gpu_choice_near(const struct node_pool *pool, uint16_t free_mask, uint32_t count)
{
    const struct parts islands = parts_of(pool->gpu_island, free_mask);
    const struct parts numas = parts_of(pool->gpu_numa, free_mask);
    struct choice best = {.mask = 0};
    if (count == 0 || (islands.count <= 1 && numas.count <= 1))
        return gpu_choice_lowest(free_mask, count);
    const uint32_t size = fewest(&islands, free_mask, count);
    for (uint32_t set = first_set(size); set < 1u << islands.count; set = next_set(set)) {
        const uint16_t island = mask_of(&islands, set);
        if (bits_count16(island) >= count)
            choose_inside(&numas, island, count, &best);
    }
    return best.mask;
}

uint16_t gpu_choice_share(const struct node_pool *pool, uint16_t equal, uint16_t all_free, uint16_t gpus)
{
    const uint16_t used = gpus & (uint16_t)~all_free;
    uint16_t beside = 0;
    for (uint32_t rest = equal; rest != 0; rest &= rest - 1) {
        const uint32_t g = (uint32_t)__builtin_ctz(rest);
        for (uint32_t others = used; others != 0; others &= others - 1)
            if (pool->gpu_numa[__builtin_ctz(others)] == pool->gpu_numa[g])
                beside |= (uint16_t)(1u << g);
    }
    return gpu_choice_lowest(beside != 0 ? beside : equal, 1);
}
