/* fastest.  Places members as best_fit does; of several ways to place a gang that communicates it takes the one where
 * the gang runs fastest.
 * Idea: the scheduler asks the same functions as the simulated world: where the gang would stand
 * (topologies/gang_place.h), how fast it runs there (topologies/communication.h), and what the links have left beside
 * the gangs that run now (policies/placement/traffic.h).  So a gang that gains by one NVLink domain or one unit gets
 * it, and one that does not leaves it to others.  Speeds are compared in hundredths of the best place's; at equal
 * speeds the gang goes where it needs the smaller part of a shared link, in hundredths; then the first way is taken.
 * Works on oversubscribed fabrics, in racks that share NVLink and for gangs of small members, if jobs declare what they
 * exchange.  Known failures: no job waits for a better place; gangs that come later change the load of the links; what
 * others lose is weighed only among places of equal speed; single members break units as under best_fit.
 * Source: our own; sensitivity by job is the idea of Tiresias (Gu et al., NSDI 2019), which asks skew alone.
 * Cost: as best_fit, for a gang up to 2 placements for each level of the cluster. */
#include <math.h>

#include "policies/placement/placements.h"
#include "policies/placement/traffic.h"
#include "topologies/communication.h"

enum { STEPS = 100 }; /* of speed, and of a part of a link */

static int32_t score_place(const struct place *place)
{
    uint32_t count = place->gpu_place_count;
    const struct gang_place stands = gang_place_of(place->cluster, place->gpus, &count);
    if (stands.gpu_count <= 1)
        return PLACE_BEST;
    const uint32_t pool = place->cluster->nodes[place->gpus[0].node].pool;
    const struct gang_place best =
        communication_best(place->communication, place->cluster, pool, stands.gpu_count, place->member_gpus);
    double rate = stands.network_bytes_per_s, part = 0;
    if (place->traffic != NULL) {
        const struct traffic_flow flow =
            traffic_flow_of(place->cluster, place->communication, &stands, &best, place->gpus, count, place->scratch);
        rate = traffic_rate(place->traffic, &flow, rate);
        part = fmin(1, traffic_part(place->traffic, &flow));
    }
    const int32_t speed = (int32_t)lrint(communication_time(place->communication, &stands, &best, rate).speed * STEPS);
    const int32_t used = (int32_t)lrint(part * STEPS);
    return speed == STEPS && used == 0 ? PLACE_BEST : speed * (STEPS + 1) - used;
}

const struct placement_policy placement_fastest = {
    .name = "fastest",
    .version = 1,
    .summary = "as best_fit, but a gang that declares what it exchanges goes where it runs fastest; worth it on "
               "oversubscribed fabrics and NVL72, nothing for jobs that declare nothing",
    .score = placement_fit_score,
    .prefers_full = true,
    .score_place = score_place,
};
