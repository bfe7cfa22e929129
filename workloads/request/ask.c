#include "workloads/request/ask.h"

#include "topologies/mig.h"

enum { MODEL_ABSENT = CLUSTER_MODELS_MAX };

static const char *sharing_complaint(const struct ask *ask, enum ask_field *culprit)
{
    bool is_fraction = ask->gpu_milli != 0 && ask->gpu_milli != GPU_MILLI;
    int kinds = is_fraction + (ask->gpu_memory_mib != 0) + (ask->mig != 0);
    *culprit = is_fraction ? ASK_FRACTION : ask->gpu_memory_mib != 0 ? ASK_GPU_MEMORY : ASK_MIG;
    if (kinds > 1)
        return "a piece of a GPU may be asked in one way only";
    if (kinds == 1 && ask->gpus > 1)
        return "a piece of a GPU excludes more than one GPU";
    *culprit = ASK_FRACTION;
    if (ask->gpu_milli == GPU_MILLI && ask->gpus > 1)
        return "a share of 1 excludes more than one GPU";
    return NULL;
}

/* Set the GPU part of a member that asks for at most one GPU, or for `gpus` whole ones. */
static void request_set_gpus(struct request *request, const struct ask *ask, int64_t gpus)
{
    bool is_fraction = ask->gpu_milli != 0 && ask->gpu_milli != GPU_MILLI;
    request->gpu_milli = is_fraction ? (uint16_t)ask->gpu_milli : 0;
    request->gpu_memory_mib = (uint32_t)ask->gpu_memory_mib;
    request->mig = (uint8_t)ask->mig;
    bool is_piece = is_fraction || ask->gpu_memory_mib != 0 || ask->mig != 0;
    if (!is_piece)
        request->gpus = (uint16_t)(gpus == 0 && ask->gpu_milli == GPU_MILLI ? 1 : gpus);
    request->gpu_models = ask->gpu_models;
}

const char *ask_class(const struct gpu_class *class, struct ask *ask, enum ask_field *culprit)
{
    const int64_t milli = gpu_class_is_whole(class) ? GPU_MILLI : class->gpu_milli;
    *culprit = ASK_FRACTION;
    if (ask->gpu_milli != 0 && ask->gpu_milli != milli)
        return "it contradicts the 'gpu_class' beside it";
    *culprit = ASK_GPU_MEMORY;
    if (ask->gpu_memory_mib != 0 && ask->gpu_memory_mib != class->gpu_memory_mib)
        return "it contradicts the 'gpu_class' beside it";
    *culprit = ASK_MIG;
    if (ask->mig != 0 && ask->mig != class->mig)
        return "it contradicts the 'gpu_class' beside it";
    *culprit = ASK_MODEL;
    if (ask->gpu_models != 0 && class->models != 0 && (ask->gpu_models & class->models) == 0)
        return "no GPU of the 'gpu_class' beside it is of such a model";
    *culprit = ASK_GPUS;
    if (ask->gpus == 0)
        return "it must be 1 or more of the 'gpu_class' beside it";
    ask->gpu_models = ask_both_models(ask->gpu_models, class->models);
    ask->gpu_milli = class->gpu_milli;
    ask->gpu_memory_mib = class->gpu_memory_mib;
    ask->mig = class->mig;
    if (gpu_class_is_whole(class))
        return NULL;
    ask->pieces = ask->gpus;
    ask->gpus = 1;
    return NULL;
}

const char *ask_group(const struct ask *each, uint32_t count, uint32_t min_count, struct job_group *group,
                      enum ask_field *culprit)
{
    const char *complaint = sharing_complaint(each, culprit);
    if (complaint != NULL)
        return complaint;
    *culprit = ASK_GPUS;
    if (each->pieces > 1)
        return "a member holds one piece of a GPU: 'count' says how many members there are";
    if (each->gpus > UINT16_MAX)
        return "no node has enough GPUs";
    struct request request = {
        .cpu_milli = (uint32_t)each->cpu_milli,
        .memory_mib = (uint32_t)each->memory_mib,
        .nodes = each->node_ask,
    };
    request_set_gpus(&request, each, each->gpus);
    bool has_gpu = (request.gpus | request.gpu_milli | request.mig) != 0 || request.gpu_memory_mib != 0;
    if (!has_gpu && request.cpu_milli == 0 && request.memory_mib == 0)
        return "it asks for nothing: no GPUs, no CPUs and no memory";
    *culprit = ASK_MIN_MEMBERS;
    if (min_count > count)
        return "it must not exceed the number of members";
    *group = (struct job_group){.request = request, .count = count, .min_count = min_count == 0 ? count : min_count};
    return NULL;
}

static int64_t divide_up(int64_t sum, int64_t parts)
{
    return (sum + parts - 1) / parts;
}

const char *ask_shape(const struct ask *ask, struct job *job, enum ask_field *culprit)
{
    const char *complaint = sharing_complaint(ask, culprit);
    if (complaint != NULL)
        return complaint;
    bool is_piece = ask->gpu_milli != 0 || ask->gpu_memory_mib != 0 || ask->mig != 0;
    int64_t members = ask->nodes != 0 ? ask->nodes : ask->gpus > 1 ? ask->gpus : 1;
    *culprit = ASK_NODES;
    if (is_piece && members > 1)
        return "a piece of a GPU excludes more than one node";
    if (ask->gpus % members != 0)
        return "it must divide 'gpus'";
    struct ask each = *ask;
    each.gpus = ask->gpus / members;
    if (ask->pieces > 1 && ask->nodes != 0)
        return "pieces of GPUs are a member each, on any nodes";
    if (ask->pieces > 1)
        members = ask->pieces;
    each.pieces = 0;
    each.cpu_milli = divide_up(ask->cpu_milli, members);
    each.memory_mib = divide_up(ask->memory_mib, members);
    return ask_group(&each, (uint32_t)members, (uint32_t)ask->min_members, &job->first, culprit);
}

/* The first pool with accepted GPUs; NULL: none. */
static const struct node_pool *pool_for(const struct cluster *cluster, const struct ask *ask)
{
    const struct request request = {.gpus = 1, .gpu_models = ask->gpu_models, .nodes = ask->node_ask};
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const uint32_t type = cluster->pools[p].type;
        if (cluster->types[type].gpu_count > 0 && request_takes_type(&request, cluster, type))
            return &cluster->pools[p];
    }
    return NULL;
}

const char *ask_tensor_parallel(const struct ask *ask, const struct cluster *cluster, struct job *job)
{
    const struct node_pool *pool = pool_for(cluster, ask);
    if (ask->pieces != 0)
        return "a tensor-parallel group is of whole GPUs";
    if (pool == NULL)
        return "no node has GPUs that will do";
    const int64_t island = cluster->types[pool->type].island_gpus;
    const int64_t width = ask->tensor_parallel, each = width < island ? width : island;
    const uint8_t level = cluster_level_of(cluster, TEXT("nvlink"));
    if (width > each * pool->nvlink_nodes)
        return "no NVLink domain has enough GPUs";
    if (width % each != 0)
        return "it does not fill its nodes";
    if (width > each && level == 0)
        return "it spans nodes, and the cluster has no level \"nvlink\"";
    struct ask own = *ask;
    enum ask_field culprit;
    own.nodes = ask->gpus / each;
    const char *complaint = ask_shape(&own, job, &culprit);
    if (complaint != NULL)
        return complaint;
    job->first.request.one_island = each > 1;
    if (width > each) {
        job->first.slice_level = level;
        job->first.slice_members = (uint32_t)(width / each);
    }
    return NULL;
}

uint64_t ask_models(const struct cluster *cluster, struct text names)
{
    uint64_t mask = 0;
    struct text rest = text_trim(names), name;
    if (rest.length == 0 || cluster == NULL)
        return 0;
    while (text_cut(&rest, '|', &name))
        mask |= UINT64_C(1) << cluster_model_of(cluster, text_trim(name));
    return mask;
}

uint64_t ask_both_models(uint64_t a, uint64_t b)
{
    if (a == 0 || b == 0)
        return a | b;
    uint64_t both = a & b;
    return both != 0 ? both : UINT64_C(1) << MODEL_ABSENT;
}

/* The smallest profile of that name in any family; 0: none. */
static int mig_anywhere(struct text name)
{
    int smallest = 0;
    for (int family = MIG_NONE + 1; family < MIG_FAMILY_COUNT; family++) {
        int profile = mig_profile_find((enum mig_family)family, name);
        if (profile >= 0 && (smallest == 0 || profile + 1 < smallest))
            smallest = profile + 1;
    }
    return smallest;
}

int ask_mig(const struct cluster *cluster, struct text name, uint64_t *gpu_models)
{
    int found = 0;
    uint64_t mask = 0;
    *gpu_models = 0;
    if (cluster == NULL)
        return mig_anywhere(name);
    /* In another family the name may mean another profile (1g.10gb): the cluster's first family decides. */
    for (uint32_t i = 0; i < cluster->model_count; i++) {
        int profile = mig_profile_find(cluster->models[i].mig, name);
        if (profile < 0 || (found != 0 && profile + 1 != found))
            continue;
        found = profile + 1;
        mask |= UINT64_C(1) << i;
    }
    if (found == 0) {
        *gpu_models = UINT64_C(1) << MODEL_ABSENT;
        return mig_anywhere(name);
    }
    if (mask != (UINT64_C(1) << cluster->model_count) - 1)
        *gpu_models = mask;
    return found;
}

const char *ask_mig_name(const struct cluster *cluster, const struct request *request)
{
    enum mig_family family = MIG_H100_80;
    for (uint32_t m = cluster->model_count; m-- > 0;)
        if (cluster->models[m].mig != MIG_NONE && (request->gpu_models == 0 || (request->gpu_models >> m & 1)))
            family = cluster->models[m].mig;
    return mig_profiles(family)[request->mig - 1].name;
}
