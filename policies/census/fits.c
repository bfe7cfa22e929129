#include "policies/census/fits.h"

#include "policies/ledger/ledger_tags.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

const char *const fit_names[] = {"fits",         "gpus_per_node", "gpu_model",      "node_labels", "cpus_memory",
                                 "cluster_size", "topology",      "gang_on_slices", NULL};
const char *const unused_names[] = {"not_asked",  "gpu_model",   "gpus_per_node", "not_cut",
                                    "mig_layout", "node_labels", "cpus_memory",   NULL};

_Static_assert(sizeof fit_names / sizeof *fit_names == FIT_COUNT + 1 &&
                   sizeof unused_names / sizeof *unused_names == UNUSED_COUNT + 1,
               "each has a name");

struct fits {
    struct sched *sched;
    uint8_t *why; /* by request class: enum fit + 1; 0: not yet known */
    size_t why_capacity;
    uint64_t count[FIT_COUNT]; /* jobs */
};

struct fits *fits_new(struct sched *sched)
{
    struct fits *fits = mem_zalloc(1, sizeof *fits);
    fits->sched = sched;
    return fits;
}

void fits_free(struct fits *fits)
{
    if (fits == NULL)
        return;
    mem_free(fits->why);
    mem_free(fits);
}

/* ---- Jobs -------------------------------------------------------------------------------------- */

/* The first thing that keeps a member off nodes of the type. */
static enum fit member_lacks(const struct sched *sched, const struct request *request, uint32_t type)
{
    const struct cluster *cluster = sched->cluster;
    if (request_class_gpus_per_node(request, cluster, type, sched->ledger->recuts) == 0)
        return FIT_NO_PIECE;
    if (request_asks_gpus(request) && !request_takes_model(request, &cluster->types[type]))
        return FIT_NO_MODEL;
    if (!request_takes_nodes(request, cluster, type))
        return FIT_NO_NODE;
    return request_class_members_per_node(request, cluster, type, sched->ledger->recuts) == 0 ? FIT_NO_HOST : FITS;
}

static enum fit group_lacks(const struct sched *sched, const struct job_group *group)
{
    enum fit farthest = FIT_NO_PIECE;
    for (uint32_t t = 0; t < sched->cluster->type_count; t++) {
        const enum fit here = member_lacks(sched, &group->request, t);
        if (here == FITS)
            return request_class_room_empty(&group->request, sched->cluster, sched->ledger->recuts) < group->count
                       ? FIT_TOO_MANY
                       : FITS;
        farthest = here > farthest ? here : farthest;
    }
    return farthest;
}

static enum fit request_class_lacks(struct sched *sched, uint32_t id)
{
    const enum reason refusal = sched_refusal(sched, id);
    const struct request_class *request_class = &sched->request_classes.at[id];
    if (refusal == REASON_NONE)
        return FITS;
    if (refusal == REASON_GANG_ON_SLICES)
        return FIT_NOT_SHARED;
    enum fit first = FIT_NO_TOPOLOGY;
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        const enum fit why = group_lacks(sched, &request_class->groups[g]);
        if (why != FITS && why < first)
            first = why;
    }
    return first;
}

enum fit fits_add(struct fits *fits, const struct job *job)
{
    struct sched *sched = fits->sched;
    if (job->tags != NULL)
        ledger_tags_use(sched->ledger);
    const uint32_t request_class = sched->ledger->shares == NULL ? sched_request_class_for(sched, job)
                                                                 : sched_request_class_shared(sched, job, NULL, 0);
    MEM_GROW(fits->why, fits->why_capacity, (size_t)request_class + 1);
    if (fits->why[request_class] == 0)
        fits->why[request_class] = (uint8_t)(request_class_lacks(sched, request_class) + 1);
    const enum fit why = (enum fit)(fits->why[request_class] - 1);
    fits->count[why]++;
    return why;
}

uint64_t fits_count(const struct fits *fits, enum fit why)
{
    return fits->count[why];
}

/* ---- GPUs -------------------------------------------------------------------------------------- */

static enum unused piece_lacks(const struct node_type *node, const struct request *request, uint32_t gpu)
{
    if (node->layout_mask >> gpu & 1)
        return UNUSED_CUT;
    return request->mig != 0 ? UNUSED_WHOLE : UNUSED_SMALL;
}

/* UNUSED_COUNT: nothing is missing, the member could be placed on it. */
static enum unused gpu_lacks(const struct sched *sched, const struct request *request, uint32_t type, uint32_t gpu)
{
    const struct node_type *node = &sched->cluster->types[type];
    const bool recuts = sched->ledger->recuts;
    if (!request_takes_model(request, node))
        return UNUSED_MODEL;
    if ((request_class_gpus_per_node(request, sched->cluster, type, recuts) >> gpu & 1) == 0)
        return piece_lacks(node, request, gpu);
    if (!request_takes_nodes(request, sched->cluster, type))
        return UNUSED_NODE;
    return request_class_members_per_node(request, sched->cluster, type, recuts) == 0 ? UNUSED_HOST : UNUSED_COUNT;
}

static void see_request_class(const struct fits *fits, uint32_t id, uint32_t type, uint8_t closest[NODE_GPUS_MAX])
{
    const struct sched *sched = fits->sched;
    const struct request_class *request_class = &sched->request_classes.at[id];
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        const struct request *request = &request_class->groups[g].request;
        if (!request_asks_gpus(request))
            continue;
        for (uint32_t i = 0; i < sched->cluster->types[type].gpu_count; i++) {
            const enum unused why = gpu_lacks(sched, request, type, i);
            closest[i] = why > closest[i] ? (uint8_t)why : closest[i];
        }
    }
}

void fits_unusable(const struct fits *fits, uint32_t type, uint32_t count[UNUSED_COUNT])
{
    uint8_t closest[NODE_GPUS_MAX] = {UNUSED_NOT_ASKED};
    for (int why = 0; why < UNUSED_COUNT; why++)
        count[why] = 0;
    for (uint32_t id = 0; id < fits->sched->request_classes.count && id < fits->why_capacity; id++)
        if (fits->why[id] == FITS + 1)
            see_request_class(fits, id, type, closest);
    for (uint32_t i = 0; i < fits->sched->cluster->types[type].gpu_count; i++)
        if (closest[i] != UNUSED_COUNT)
            count[closest[i]]++;
}
