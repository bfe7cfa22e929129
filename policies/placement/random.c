/* random.  Takes any node with room, each with the same probability, and any GPU with room there.  It is a baseline for
 * the other policies.  The draw is a function of the job's slot, the members left and the GPU space in use, so it is
 * the same in each run.
 * Source: the baseline of packing experiments, such as those in Weng et al., "Beware of Fragmentation" (USENIX ATC
 * 2023).
 * Cost: O(log nodes) for a member and for each change since such a member was placed last
 * (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

static uint64_t mixed(uint64_t word)
{
    /* the finalizer of splitmix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 */
    word += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* The product of `count` and a random fraction (word / 2^64). */
static uint32_t draw(const struct spot *spot, uint32_t count)
{
    const uint64_t word =
        mixed(mixed(mixed((uint64_t)spot->ledger->used_milli) ^ ((uint64_t)spot->owner << 32 | spot->members_left)) ^
              spot->node);
    return (uint32_t)((unsigned __int128)word * count >> 64);
}

/* All spots are equal. */
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
