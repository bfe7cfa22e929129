/* random.  Any node that has room, each with the same chance, and any GPU there that has room, likewise: what others
 * must beat.  Chance is a function of the job's slot and of how much is used, so that the same run draws the same.
 * Source: the baseline of packing experiments, such as those in Weng et al., "Beware of Fragmentation" (USENIX ATC
 * 2023).
 * Cost: O(log nodes) a member and for each change since its like was placed last (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

static uint64_t mixed(uint64_t word)
{
    /* the finalizer of splitmix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 */
    word += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* A fraction of 2^64, times the count. */
static uint32_t draw(const struct spot *spot, uint32_t count)
{
    const uint64_t word =
        mixed(mixed(mixed((uint64_t)spot->ledger->used_milli) ^ ((uint64_t)spot->owner << 32 | spot->members_left)) ^
              spot->node);
    return (uint32_t)((unsigned __int128)word * count >> 64);
}

/* Nothing is better than anything else. */
static int64_t score(const struct spot *spot)
{
    (void)spot;
    return 0;
}

const struct placement_policy placement_random = {
    .name = "random",
    .version = 2,
    .summary = "any node with room and any GPU there, by chance; what others must beat",
    .score = score,
    .looks_at_nodes = true,
    .draw = draw,
};
