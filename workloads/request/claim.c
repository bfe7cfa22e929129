#include "workloads/request/claim.h"

#include "topologies/cluster_build.h"

/* The members that a claim becomes. */
struct lie {
    uint32_t members; /* of one claim */
    uint16_t gpus;    /* of one member; 0: it has a piece */
    bool one_island;
    uint8_t slice_level; /* one slice is all members of a claim; 0: no slices */
};

static bool has_model(const struct cluster *cluster, const struct node_pool *pool, uint64_t models)
{
    const struct node_type *type = &cluster->types[pool->type];
    return type->gpu_count > 0 && (models >> type->model & 1);
}

/* The largest node, island and NVLink domain with GPUs of these models, in GPUs. */
struct widths {
    int64_t node, island, nvlink;
};

static struct widths widths_of(const struct cluster *cluster, uint64_t models)
{
    struct widths widths = {0};
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const struct node_pool *pool = &cluster->pools[p];
        const struct node_type *type = &cluster->types[pool->type];
        const uint32_t nodes = pool->nvlink_nodes < pool->node_count ? pool->nvlink_nodes : pool->node_count;
        const int64_t nvlink = (int64_t)nodes * type->island_gpus;
        if (!has_model(cluster, pool, models))
            continue;
        widths.node = type->gpu_count > widths.node ? type->gpu_count : widths.node;
        widths.island = type->island_gpus > widths.island ? type->island_gpus : widths.island;
        widths.nvlink = nvlink > widths.nvlink ? nvlink : widths.nvlink;
    }
    return widths;
}

/* One member per GPU, on any nodes; all members of a claim in one domain of the level. */
static struct lie spread(int64_t count, uint8_t level)
{
    return (struct lie){.members = (uint32_t)count, .gpus = 1, .slice_level = count > 1 ? level : 0};
}

static const char *lie_in_node(const struct widths *widths, int64_t count, struct lie *lie)
{
    if (count > widths->node)
        return "no node has enough such GPUs; 'match' says which level they may span";
    *lie = (struct lie){.members = 1, .gpus = (uint16_t)count};
    return NULL;
}

static const char *lie_in_nvlink(const struct cluster *cluster, const struct widths *widths, int64_t count,
                                 struct lie *lie)
{
    const uint8_t level = cluster_level_of(cluster, TEXT("nvlink"));
    *lie = (struct lie){.members = 1, .gpus = (uint16_t)count, .one_island = count > 1};
    if (count == 1 || count <= widths->island)
        return NULL;
    if (count > widths->nvlink)
        return "no NVLink domain has enough such GPUs";
    if (level == 0)
        return "it spans nodes, and the cluster has no level \"nvlink\"";
    *lie = spread(count, level);
    return NULL;
}

static const char *lie_of(const struct claim *claim, const struct cluster *cluster, uint64_t models, struct lie *lie)
{
    const struct widths widths = widths_of(cluster, models);
    if (claim->match.length == 0 || text_is(claim->match, "node"))
        return lie_in_node(&widths, claim->count, lie);
    if (text_is(claim->match, "nvlink"))
        return lie_in_nvlink(cluster, &widths, claim->count, lie);
    const uint8_t level = cluster_level_of(cluster, claim->match);
    if (level == 0)
        return "the cluster has no level of the name that 'match' says";
    *lie = spread(claim->count, level);
    return NULL;
}

/* One member per piece.  Several MIG instances of a claim must be in one domain of the level that it matches. */
static const char *lie_in_pieces(const struct claim *claim, const struct cluster *cluster,
                                 const struct gpu_class *class, struct lie *lie)
{
    *lie = (struct lie){.members = (uint32_t)claim->count};
    if (claim->match.length == 0)
        return NULL;
    if (text_is(claim->match, "nvlink"))
        return "pieces of GPUs have no NVLink between them: 'match' is of whole GPUs";
    if (class->mig == 0)
        return "shares of GPUs come in no slices: 'match' is of whole GPUs and MIG instances";
    const uint8_t level = cluster_level_of(cluster, claim->match);
    if (level == 0)
        return "the cluster has no level of the name that 'match' says";
    lie->slice_level = claim->count > 1 ? level : 0;
    return NULL;
}

/* The accepted models; 0: none. */
static uint64_t models_of(const struct claim *claim, const struct gpu_class *class, const struct cluster *cluster)
{
    struct gpu_conditions conditions = claim->conditions;
    conditions.models = ask_models(cluster, claim->model);
    if (text_is(claim->match, "nvlink") && claim->count > 1)
        conditions.asks_nvlink = conditions.has_nvlink = true;
    const uint64_t models = gpu_conditions_models(cluster, &conditions);
    return class->models != 0 ? models & class->models : models;
}

static const char *lie_in_cluster(const struct claim *claim, const struct cluster *cluster, struct gpu_class *class,
                                  struct lie *lie)
{
    if (claim->class.length != 0) {
        const struct gpu_class *found = cluster_gpu_class_of(cluster, claim->class);
        if (found == NULL)
            return "the cluster has no GPU class of that name";
        *class = *found;
    }
    const struct gpu_conditions *own = &claim->conditions;
    if (class->mig != 0 && (own->memory_mib != 0 || own->sm_count != 0))
        return "its class is of MIG instances: the profile says what memory and SMs they have";
    const uint64_t models = models_of(claim, class, cluster);
    if (models == 0)
        return "no GPU of this cluster is such as it asks";
    class->models = models == cluster_models_used(cluster) ? 0 : models;
    if (gpu_class_is_whole(class))
        return lie_of(claim, cluster, models, lie);
    return lie_in_pieces(claim, cluster, class, lie);
}

static int64_t divide_up(int64_t sum, int64_t parts)
{
    return (sum + parts - 1) / parts;
}

const char *claims_group(const struct claims *claims, const struct cluster *cluster, struct job_group *group)
{
    const struct claim *claim = &claims->claim;
    struct gpu_class class = {0};
    struct lie lie = {.members = 1, .gpus = (uint16_t)claim->count};
    const char *complaint = NULL;
    if (cluster != NULL)
        complaint = lie_in_cluster(claim, cluster, &class, &lie);
    else if (claim->count > UINT16_MAX)
        lie = (struct lie){.members = (uint32_t)claim->count, .gpus = 1};
    if (complaint != NULL)
        return complaint;
    if (claims->count * lie.members > ASK_GPUS_MAX)
        return "it requests too many GPUs";
    const int64_t min_count = claims->min_count != 0 ? claims->min_count : claims->count;
    *group = (struct job_group){.request = {.gpus = lie.gpus,
                                            .gpu_milli = class.gpu_milli,
                                            .gpu_memory_mib = class.gpu_memory_mib,
                                            .mig = class.mig,
                                            .gpu_models = class.models,
                                            .one_island = lie.one_island,
                                            .cpu_milli = (uint32_t)divide_up(claims->cpu_milli, lie.members),
                                            .memory_mib = (uint32_t)divide_up(claims->memory_mib, lie.members)},
                                .count = (uint32_t)claims->count * lie.members,
                                .min_count = (uint32_t)min_count * lie.members,
                                .slice_level = lie.slice_level,
                                .slice_members = lie.slice_level != 0 ? lie.members : 0};
    return NULL;
}

struct claim claim_read(const struct json_value *value)
{
    struct json_object object;
    json_object_open(&object, value);
    struct claim claim = {.class = text_of(json_get_string(&object, "class", NULL)),
                          .count = json_get_int(&object, "count", 1, ASK_GPUS_MAX, 1),
                          .model = text_of(json_get_string(&object, "gpu_model", NULL)),
                          .conditions = gpu_conditions_read(&object),
                          .match = text_of(json_get_string(&object, "match", NULL))};
    json_object_close(&object);
    return claim;
}
