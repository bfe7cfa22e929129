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
    const struct warm_object *found[JOB_OBJECTS_MAX]; /* where each is remembered; NULL: nowhere */
    int64_t bytes;                                    /* of all objects */
    int64_t chosen_free;                              /* milli-GPUs on the chosen node */
    int64_t weight;
};

static int64_t free_milli(const struct ledger *ledger, node_id node)
{
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    const uint32_t count = cluster_node_gpus(ledger->cluster, node);
    int64_t free = 0;
    for (uint32_t g = 0; g < count; g++)
        free += gpus[g].free;
    return free;
}

static int64_t distance(const struct comparison *of, node_id node)
{
    const int64_t away = free_milli(of->ledger, node) - of->chosen_free;
    const int64_t gpus = cluster_node_gpus(of->ledger->cluster, node);
    return gpus == 0 ? 0 : (away < 0 ? -away : away) * ALL * ALL / (gpus * GPU_MILLI);
}

/* What the node is worth for its warm objects, up to `weight` if it remembers all of them.  `bytes`: the bytes that it
 * remembers of the objects before `first`. */
static int64_t warmth(const struct comparison *of, int64_t bytes, uint32_t first, node_id node)
{
    for (uint32_t o = first; o < of->objects->count; o++)
        bytes += warm_remembers(of->found[o], node) ? of->objects->of[o].bytes : 0;
    return of->weight * (int64_t)((double)bytes / (double)of->bytes * ALL);
}

static bool was_looked_at(const struct comparison *of, uint32_t object, node_id node)
{
    for (uint32_t o = 0; o < object; o++)
        if (warm_remembers(of->found[o], node))
            return true;
    return false;
}

/* False only if the member does not fit on the node; then the node is not searched. */
static bool may_fit(const struct ledger *ledger, const struct request *request, node_id node)
{
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    const uint32_t count = cluster_node_gpus(ledger->cluster, node);
    if (request->gpu_milli == 0)
        return ledger->index->free_count[node] >= request->gpus;
    for (uint32_t g = 0; g < count; g++)
        if (gpus[g].free >= request->gpu_milli)
            return true;
    return false;
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

/* Make the node the best offer if it is better than the best one so far.  The node remembers the object. */
static void look_at(const struct comparison *of, struct search *search, uint32_t object, node_id node, node_id chosen,
                    struct warm_offer *best)
{
    const int64_t away = distance(of, node);
    if (of->weight * ALL - away < best->worth /* even with all bytes */ || was_looked_at(of, object, node))
        return;
    struct warm_offer offer = {.worth = warmth(of, of->objects->of[object].bytes, object + 1, node) - away};
    if (offer.worth < best->worth)
        return;
    search->looks_left = UINT32_MAX;
    if ((offer.worth == best->worth && best->candidate.node == chosen) || !may_fit(of->ledger, search->request, node))
        return;
    search->best = (struct candidate){.node = NODE_NONE, .gpu_index = -1};
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
    for (uint32_t o = 0; o < objects->count; o++) {
        of.found[o] = warm_find(ledger->warm, objects->of[o].id);
        of.bytes += objects->of[o].bytes;
    }
    struct warm_offer best = {.candidate = search->best, .worth = warmth(&of, 0, 0, chosen)};
    for (uint32_t o = 0; o < objects->count; o++)
        for (uint32_t n = 0; of.found[o] != NULL && n < of.found[o]->count; n++) {
            const node_id node = of.found[o]->nodes[n];
            if (node != chosen)
                look_at(&of, search, o, node, chosen, &best);
        }
    search->best = best.candidate;
}
