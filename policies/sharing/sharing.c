/* What the sharing policies are made of; see policies/sharing/sharing.h. */
#include <assert.h>

#include "policies/sharing/sharings.h"

queue_id sharing_domain(const struct queue_table *queues, queue_id queue, enum trust_depth depth)
{
    const struct queue_spec *specs = queues->queues;
    if (queue == QUEUE_ROOT || depth == TRUST_QUEUE)
        return queue;
    if (depth == TRUST_PARENT)
        return specs[queue].parent == QUEUE_ROOT ? queue : specs[queue].parent;
    while (specs[queue].parent != QUEUE_ROOT)
        queue = specs[queue].parent;
    return queue;
}

/* Who may be beside it: see enum isolation. */
static uint32_t domain_of(const struct sharing *sharing, const struct job *job, const struct request *request)
{
    const enum isolation isolation = (enum isolation)sharing->config->isolation;
    const bool is_share = request->gpu_milli != 0 || request->gpu_memory_mib != 0;
    const bool is_apart =
        isolation == ISOLATION_NODE || request->share == SHARE_MPS || (is_share && isolation != ISOLATION_PROCESS);
    if (!is_apart)
        return 0;
    return 1 + sharing_domain(sharing->queues, job->queue, (enum trust_depth)sharing->config->trust);
}

/* A part given by its memory goes only to models with that much memory, whatever it is turned into. */
static void keep_models(const struct cluster *cluster, struct request *request)
{
    uint64_t will_do = 0, all = 0;
    for (uint32_t m = 0; request->gpu_memory_mib != 0 && m < cluster->model_count; m++) {
        const uint64_t bit = UINT64_C(1) << m;
        if (request->gpu_models != 0 && !(request->gpu_models & bit))
            continue;
        all |= bit;
        will_do |= cluster->models[m].memory_mib >= request->gpu_memory_mib ? bit : 0;
    }
    if (will_do != all && will_do != 0)
        request->gpu_models = will_do;
}

void sharing_map(const struct sharing *sharing, const struct job *job, struct job_group *groups)
{
    const struct sharing_view view = {.cluster = sharing->cluster,
                                      .config = sharing->config,
                                      .class = (enum job_class)job->class,
                                      .has_members = job->group_count > 1 || job->first.count > 1,
                                      .recuts = sharing->recuts};
    for (uint32_t g = 0; g < job->group_count; g++) {
        groups[g] = *job_group(job, g);
        struct request *request = &groups[g].request;
        if (sharing->policy->map != NULL) {
            keep_models(sharing->cluster, request);
            sharing->policy->map(&view, request);
        }
        request->domain = domain_of(sharing, job, request);
    }
}

/* The GPU model on whose memory the share of a request is computed: of the models that the request accepts, the one
 * with the least memory.  NULL: the cluster has none of them. */
static const struct gpu_model *sharing_model(const struct cluster *cluster, const struct request *request)
{
    const struct gpu_model *least = NULL;
    for (uint32_t m = 0; m < cluster->model_count; m++)
        if ((request->gpu_models == 0 || request->gpu_models >> m & 1) &&
            (least == NULL || cluster->models[m].memory_mib < least->memory_mib))
            least = &cluster->models[m];
    return least;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t sharing_milli(const struct cluster *cluster, const struct request *request)
{
    const struct gpu_model *model = sharing_model(cluster, request);
    if (request->mig != 0) {
        const struct mig_profile *profile = &mig_profiles(MIG_H100_80)[request->mig - 1];
        return larger(profile->compute_slices * (uint32_t)GPU_MILLI / MIG_COMPUTE_SLICES,
                      profile->memory_slices * (uint32_t)GPU_MILLI / MIG_SLICES);
    }
    if (request->gpu_memory_mib == 0)
        return request->gpu_milli;
    if (model == NULL || model->memory_mib == 0)
        return GPU_MILLI + 1;
    const uint64_t milli = ((uint64_t)request->gpu_memory_mib * GPU_MILLI + model->memory_mib - 1) / model->memory_mib;
    return milli > GPU_MILLI ? GPU_MILLI + 1 : (uint32_t)milli;
}

void sharing_make_whole(struct request *request, uint32_t gpus)
{
    request->gpus = (uint16_t)gpus;
    request->gpu_milli = 0;
    request->gpu_memory_mib = 0;
    request->mig = 0;
    request->share = SHARE_PLAIN;
    request->one_island &= gpus > 1; /* one GPU, or a part of it, always is in one */
}

void sharing_make_share(struct request *request, enum share_kind kind, uint32_t milli)
{
    assert(milli > 0 && milli < GPU_MILLI);
    sharing_make_whole(request, 0);
    request->gpu_milli = (uint16_t)milli;
    request->share = (uint8_t)kind;
}

/* Profiles stand in the order of their compute slices, those with more memory behind. */
bool sharing_make_instance(const struct cluster *cluster, struct request *request)
{
    const struct gpu_model *model = sharing_model(cluster, request);
    const struct mig_profile *profiles = model == NULL ? NULL : mig_profiles(model->mig);
    if (profiles == NULL)
        return false;
    for (uint32_t p = 0; p < MIG_7G; p++) {
        if (p == MIG_1G_ME ||
            request->gpu_milli * MIG_COMPUTE_SLICES > profiles[p].compute_slices * (uint32_t)GPU_MILLI ||
            request->gpu_memory_mib > profiles[p].memory_mib)
            continue;
        sharing_make_whole(request, 0);
        request->mig = (uint8_t)(p + 1);
        return true;
    }
    if (request->gpu_memory_mib <= model->memory_mib)
        sharing_make_whole(request, 1);
    return true;
}
