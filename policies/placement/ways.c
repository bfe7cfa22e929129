#include "policies/placement/ways.h"

#include "policies/own.h"
#include "policies/placement/domains.h"

enum { WAYS_MAX = 2 * CLUSTER_LEVELS_MAX + 1 };

struct way {
    struct topology_ask topology;
    enum topology_domains domains;
};

uint32_t ways_member_gpus(const struct request_class *request_class)
{
    uint32_t least = 0;
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        const struct request *request = &request_class->groups[g].request;
        if (!request_asks_gpus(request))
            continue;
        if (request->gpus == 0)
            return 0;
        least = least == 0 || request->gpus < least ? request->gpus : least;
    }
    return least;
}

bool ways_matter(const struct placement_request *asked)
{
    if (asked->policy->score_place == NULL || asked->request_class->communication == NULL)
        return false;
    const uint32_t gpus = ways_member_gpus(asked->request_class);
    return gpus > 0 && (uint64_t)gpus * (asked->request_class->member_count + asked->held.count) > 1;
}

/* ---- Scores ---- */

static void add_gpus(struct place *place, const struct piece *pieces, uint32_t count)
{
    for (uint32_t p = 0; p < count; p++)
        if (pieces[p].gpu_mask != 0)
            place->gpus[place->gpu_place_count++] = (struct link_place){pieces[p].node, pieces[p].gpu_mask};
}

static int32_t score(struct placing *placing)
{
    const struct placement_request *asked = placing->asked;
    const struct held_pieces held = asked->held;
    struct piece_list *out = placing->out;
    struct place place = {.cluster = placing->ledger->cluster,
                          .traffic = placing->ledger->traffic,
                          .scratch = &out->scratch,
                          .communication = asked->request_class->communication,
                          .member_gpus = ways_member_gpus(asked->request_class),
                          .own = owns_of(placing->ledger->owns, asked->policy)};
    place.gpus = arena_alloc_array(&out->scratch, (size_t)held.count + out->count, struct link_place);
    add_gpus(&place, held.pieces, held.count);
    add_gpus(&place, out->pieces, out->count);
    return asked->policy->score_place(&place);
}

/* ---- Ways ---- */

static uint32_t list_ways(const struct placing *placing, struct way ways[WAYS_MAX])
{
    const struct cluster *cluster = placing->ledger->cluster;
    const uint8_t required = placing->topology.required;
    uint32_t count = 0;
    ways[count++] = (struct way){placing->topology, placing->domains};
    for (uint32_t number = cluster->level_count; number > required; number--) {
        const struct topology_ask ask = {.required = required, .preferred = (uint8_t)number};
        ways[count++] = (struct way){ask, placing->domains};
        if (placing->domains != DOMAINS_BALANCED && cluster->levels[number - 1].domain_count < cluster->node_count)
            ways[count++] = (struct way){ask, DOMAINS_BALANCED};
    }
    return count;
}

static bool place_in(struct placing *placing, const struct way *way)
{
    placing->topology = way->topology;
    placing->domains = way->domains;
    return domains_place_all(placing);
}

bool ways_place(struct placing *placing)
{
    struct way ways[WAYS_MAX];
    const uint32_t count = list_ways(placing, ways);
    int32_t best_score = INT32_MIN;
    uint32_t best = 0;
    for (uint32_t w = 0; w < count && best_score < PLACE_BEST; w++) {
        const struct placing_mark mark = placing_mark(placing);
        const bool is_placed = place_in(placing, &ways[w]);
        if (!is_placed && w == 0) {
            placing_rollback(placing, &mark);
            return false;
        }
        const int32_t here = is_placed ? score(placing) : INT32_MIN;
        if (here == PLACE_BEST || (w + 1 == count && here > best_score)) {
            placing_commit(placing, &mark);
            return true;
        }
        if (here > best_score) {
            best_score = here;
            best = w;
        }
        placing_rollback(placing, &mark);
    }
    return place_in(placing, &ways[best]);
}
