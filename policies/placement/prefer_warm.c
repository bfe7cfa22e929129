#include "policies/placement/prefer_warm.h"

#include "policies/jobs/warm.h"
#include "policies/placement/placement_config.h"

enum { ALL = 1000 };

struct warm_offer {
    struct candidate candidate;
    int64_t worth; /* in millionths */
};

struct comparison {
    const struct ledger *ledger;
    const struct job_objects *objects;
    int64_t bytes;       /* of all objects */
    int64_t chosen_free; /* milli-GPUs on the chosen node */
    int64_t weight;
};

static int64_t free_milli(const struct ledger *ledger, node_id node)
{
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    int64_t free = 0;
    for (uint32_t g = 0; g < cluster_node_gpus(ledger->cluster, node); g++)
        free += gpus[g].free;
    return free;
}

static int64_t distance(const struct comparison *of, node_id node)
{
    const int64_t away = free_milli(of->ledger, node) - of->chosen_free;
    const int64_t gpus = cluster_node_gpus(of->ledger->cluster, node);
    return gpus == 0 ? 0 : (away < 0 ? -away : away) * ALL * ALL / (gpus * GPU_MILLI);
}

static int64_t warmth(const struct comparison *of, node_id node)
{
    const double part = (double)warm_bytes(of->ledger->warm, of->objects, node) / (double)of->bytes;
    return of->weight * (int64_t)(part * ALL);
}

static bool is_better(const struct warm_offer *offer, const struct warm_offer *best, node_id chosen)
{
    if (offer->worth != best->worth)
        return offer->worth > best->worth;
    if (best->candidate.node == chosen)
        return false;
    return offer->candidate.score != best->candidate.score ? offer->candidate.score > best->candidate.score
                                                           : offer->candidate.node < best->candidate.node;
}

static void look_at(const struct comparison *of, struct search *search, node_id node, node_id chosen,
                    struct warm_offer *best)
{
    const int64_t away = distance(of, node);
    if (of->weight * ALL - away < best->worth)
        return; /* even with all bytes */
    struct warm_offer offer = {.worth = warmth(of, node) - away};
    if (offer.worth < best->worth)
        return;
    search->best = (struct candidate){.node = NODE_NONE, .gpu_index = -1};
    search->looks_left = UINT32_MAX;
    search_node(search, node);
    offer.candidate = search->best;
    if (offer.candidate.node != NODE_NONE && is_better(&offer, best, chosen))
        *best = offer;
}

void prefer_warm(const struct placement_request *asked, struct search *search)
{
    const struct ledger *ledger = search->ledger;
    const struct job_objects *objects = warm_objects(ledger->warm, asked->owner);
    const node_id chosen = search->best.node;
    if (objects == NULL || search->policy->draw != NULL || (search->here != NULL && search->here[chosen] > 0))
        return;
    struct comparison of = {.ledger = ledger,
                            .objects = objects,
                            .chosen_free = free_milli(ledger, chosen),
                            .weight = ledger->placement->warm_weight};
    for (uint32_t o = 0; o < objects->count; o++)
        of.bytes += objects->of[o].bytes;
    struct warm_offer best = {.candidate = search->best, .worth = warmth(&of, chosen)};
    for (uint32_t o = 0; o < objects->count; o++) {
        const struct warm_object *object = warm_find(ledger->warm, objects->of[o].id);
        for (uint32_t n = 0; object != NULL && n < object->count; n++)
            if (object->nodes[n] != chosen)
                look_at(&of, search, object->nodes[n], chosen, &best);
    }
    search->best = best.candidate;
}
