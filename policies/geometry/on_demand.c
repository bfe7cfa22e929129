/* on_demand.  Who finds no instance has one made at once, in the place that leaves most room for large ones.
 *
 * Source: dynamic MIG as NVIDIA's driver allows it while other instances of the GPU work (nvidia-smi mig -cgi, -dgi).
 * Choosing the place that costs the least of what could still be placed: Zambianco et al., arXiv 2511.18906.
 * Departure: there each request is placed at once or rejected; here it may wait.
 * Cost: O(log nodes) for each who finds none, and for each node that changed since
 * (policies/repartition/repartition_places.h). Known failure: each small request waits for the driver, and large
 * instances are cut up one by one under a stream of small ones. */
#include "base/bits.h"
#include "policies/geometry/geometries.h"

enum {
    DESTROYED_BITS = 4, /* at most seven instances */
    ROOM_BITS = 10      /* of room_of: below 2^8 */
};

/* Places of every profile that are free, counted by their slices. */
static int64_t room_of(uint8_t busy)
{
    int64_t room = 0;
    for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++)
        if (p != MIG_1G_ME)
            room += (int64_t)mig_slices((enum mig_profile_id)p) * bits_count16(mig_fit(busy, (enum mig_profile_id)p));
    return room;
}

/* A score that keeps room for large instances: first a GPU that is partitioned already, then the place after which the
 * most places are left, each counted by its slices, then the fewest instances destroyed. */
static int64_t geometry_keeps_room(const struct cut_place *place)
{
    const uint8_t after = place->busy | mig_mask(place->profile, place->start);
    const int64_t lost = room_of(place->busy) - room_of(after);
    return -(((int64_t)place->is_whole << ROOM_BITS | lost) << DESTROYED_BITS | (int64_t)place->destroyed);
}

const struct geometry_policy geometry_on_demand = {
    .name = "on_demand",
    .version = 1,
    .summary = "a job that finds no instance gets one made; no space idles in a wrong shape, but "
               "each cut costs seconds, and large places are cut up",
    .score = geometry_keeps_room,
};
