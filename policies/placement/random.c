/* random.  Any node that has room, each with the same chance, and any GPU there: what others must beat.
 * Chance is a function of the job's slot and of how much is used, so that the same run draws the same.
 * Source: the baseline of packing experiments, such as those in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023).
 * Cost: O(nodes with room) a member. */
#include "policies/placement/placements.h"

enum { GPU_BITS = 15 };

static uint64_t mixed(uint64_t word)
{
    /* the finalizer of splitmix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 */
    word += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* The node's draw, and below it, of a share, the best draw of the GPUs that are this spot: one, or all that are free. */
static int64_t score(const struct spot *spot)
{
    const uint64_t draw = mixed(mixed((uint64_t)spot->ledger->used_milli) ^
                                ((uint64_t)spot->owner << 32 | spot->members_left));
    const uint64_t node = mixed(draw ^ spot->node);
    const uint32_t gpus = spot->node_free > 0 ? (uint32_t)spot->node_free : 1;
    uint64_t gpu = 0;
    for (uint32_t g = 0; g < gpus; g++) {
        const uint64_t own = mixed(node ^ ((uint64_t)spot->gpu_left << 8 | g)) >> (64 - GPU_BITS);
        gpu = own > gpu ? own : gpu;
    }
    return (int64_t)((node >> (GPU_BITS + 1) << GPU_BITS) | gpu);
}

const struct placement_policy placement_random = {
    .name = "random",
    .version = 1,
    .summary = "any node with room and any GPU there, by chance; what others must beat",
    .score = score,
    .looks_at_nodes = true,
};
