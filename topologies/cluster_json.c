/* topologies/cluster_json.c -- a cluster from its JSON tree (topologies/README.md names every field). */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "topologies/cluster.h"
#include "topologies/cluster_build.h"

enum {
    MILLI = 1000,
    MIB_PER_GB = 1024, /* the unit of users: an 80 GB GPU has 80 x 1024 MiB */
    MEMORY_GB_MAX = 1 << 20,
    GPU_MEMORY_GB_MAX = 1 << 16,
    NICS_MAX = 16,
    NUMA_MAX = 16,
    RAILS_MAX = 16,
    NODE_NAME_MAX = 256,
};

struct reading {
    struct cluster_build *build;
    struct gpu_model *own_models; /* of this file; the strings are borrowed from the document */
    uint32_t own_model_count;
    struct names *pool_names;
    struct arena scratch;
};

/* A pool as read from its object, before it has nodes. */
struct pool_draft {
    struct pool_spec spec;
    const struct gpu_model *model; /* of its GPUs; NULL: none */
    int64_t node_count;
    const char *node_name;
    struct json_value node_names; /* an array; node NULL: names follow the pattern */
};

static bool has_failed(const struct json_object *object)
{
    return error_is(*object->value.error);
}

static uint32_t mib_of_gb(double gb)
{
    return (uint32_t)llround(gb * MIB_PER_GB);
}

/* ---- GPU models ---- */

static const struct gpu_model *find_model(const struct reading *reading, struct text name)
{
    for (uint32_t i = 0; i < reading->own_model_count; i++)
        if (gpu_model_is(&reading->own_models[i], name))
            return &reading->own_models[i];
    return gpu_model_find(name);
}

static void hint_nearest_model(const struct reading *reading, struct text name, struct error *error)
{
    const char *names[2 * CLUSTER_MODELS_MAX + 1];
    size_t count = 0;
    uint32_t built_in_count;
    const struct gpu_model *built_in = gpu_model_table(&built_in_count);
    for (uint32_t i = 0; i < built_in_count && i < CLUSTER_MODELS_MAX; i++)
        names[count++] = built_in[i].name;
    for (uint32_t i = 0; i < reading->own_model_count; i++)
        names[count++] = reading->own_models[i].name;
    names[count] = NULL;
    if (!error_hint_nearest(error, name, names))
        error_set_hint(error, "define it under 'gpu_models', or take 'generic'");
}

static const char *const *read_aliases(struct reading *reading, struct json_object *object)
{
    struct json_value array = json_member(object, "aliases");
    size_t count = array.node == NULL ? 0 : json_array_count(&array);
    const char **aliases = arena_alloc_array(&reading->scratch, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&array, i);
        const char *alias = json_value_string(&item);
        if (alias == NULL || has_failed(object))
            break;
        if (find_model(reading, text_of(alias)) != NULL)
            json_fail(&item, "there is a GPU model called '%s' already", alias);
        aliases[i] = alias;
    }
    return aliases;
}

/* The MIG family of the built-in model that "mig" names. */
static enum mig_family read_mig_family(struct json_object *object)
{
    const char *like = json_get_string(object, "mig_like", NULL);
    if (like == NULL)
        return MIG_NONE;
    const struct gpu_model *model = gpu_model_find(text_of(like));
    if (model != NULL && model->mig != MIG_NONE)
        return model->mig;
    struct json_value value = json_member(object, "mig_like");
    json_fail(&value, "'%s' is no built-in GPU model with MIG", like);
    return MIG_NONE;
}

static const char *lower_case(struct arena *arena, const char *name)
{
    char *copy = arena_copy(arena, text_of(name));
    for (char *c = copy; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    return copy;
}

static void read_model(struct reading *reading, const struct json_value *value)
{
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "name");
    json_need(&object, "memory_gb");
    struct gpu_model model = {0};
    const char *name = json_get_string(&object, "name", "");
    struct json_value name_value = json_member(&object, "name");
    if (!has_failed(&object) && name[0] == '\0')
        json_fail(&name_value, "a GPU model needs a name that is not empty");
    if (!has_failed(&object) && find_model(reading, text_of(name)) != NULL)
        json_fail(&name_value, "there is a GPU model called '%s' already", name);
    model.name = lower_case(&reading->scratch, name);
    model.memory_mib = mib_of_gb(json_get_real(&object, "memory_gb", 1, GPU_MEMORY_GB_MAX, 1));
    model.sm_count = (uint16_t)json_get_int(&object, "sm_count", 0, UINT16_MAX, 0);
    model.power_w = (uint16_t)json_get_int(&object, "power_w", 0, UINT16_MAX, 0);
    model.bf16_tflops = json_get_real(&object, "bf16_tflops", 0, 1e9, 0);
    model.memory_bytes_per_s = json_get_real(&object, "memory_gb_per_s", 0, 1e9, 0) * 1e9;
    model.nvlink_bytes_per_s = json_get_real(&object, "nvlink_gb_per_s", 0, 1e9, 0) * 1e9;
    model.mig = read_mig_family(&object);
    model.source = json_get_string(&object, "source", "the cluster file");
    model.aliases = read_aliases(reading, &object);
    json_object_close(&object);
    if (!has_failed(&object))
        reading->own_models[reading->own_model_count++] = model;
}

static void read_models(struct reading *reading, struct json_object *root)
{
    struct json_value array = json_member(root, "gpu_models");
    size_t count = array.node == NULL ? 0 : json_array_count(&array);
    if (count > CLUSTER_MODELS_MAX) {
        json_fail(&array, "at most %d GPU models are possible, got %zu", CLUSTER_MODELS_MAX, count);
        return;
    }
    reading->own_models = arena_alloc_array(&reading->scratch, count, struct gpu_model);
    for (size_t i = 0; i < count && !has_failed(root); i++) {
        struct json_value item = json_array_item(&array, i);
        read_model(reading, &item);
    }
}

/* ---- pools ---- */

static const struct gpu_model *read_pool_model(const struct reading *reading, struct json_object *pool,
                                               const struct pool_draft *draft)
{
    struct json_value place = json_member(pool, "gpu_model");
    const char *name = json_get_string(pool, "gpu_model", "generic");
    if (place.node != NULL && draft->spec.type.gpu_count == 0) {
        json_fail(&place, "nodes without GPUs have no 'gpu_model'");
        return NULL;
    }
    const struct gpu_model *model = find_model(reading, text_of(name));
    if (model == NULL && !has_failed(pool)) {
        json_fail(&place, "unknown GPU model '%s'", name);
        hint_nearest_model(reading, text_of(name), pool->value.error);
    }
    return model;
}

static void read_gpus(struct reading *reading, struct json_object *pool, struct pool_draft *draft)
{
    struct node_type *type = &draft->spec.type;
    if (!json_has(pool, "hwloc")) /* which tells it */
        json_need(pool, "gpus_per_node");
    type->gpu_count = (uint16_t)json_get_int(pool, "gpus_per_node", 0, NODE_GPUS_MAX, 0);
    double nvlink_bytes_per_s = 0;
    const struct gpu_model *model = has_failed(pool) ? NULL : read_pool_model(reading, pool, draft);
    if (model != NULL && type->gpu_count > 0) {
        draft->model = model;
        type->model = cluster_build_model(reading->build, model);
        nvlink_bytes_per_s = model->nvlink_bytes_per_s;
        if (type->model == CLUSTER_MODELS_MAX)
            json_fail(&pool->value, "more than %d GPU models in one cluster", CLUSTER_MODELS_MAX);
    }
    int64_t all = nvlink_bytes_per_s > 0 && type->gpu_count > 1 ? type->gpu_count : 0;
    int64_t island = json_get_int(pool, "nvlink_island", 0, NODE_GPUS_MAX, all);
    struct json_value value = json_member(pool, "nvlink_island");
    if (island == 1 || (island > 1 && (type->gpu_count == 0 || type->gpu_count % island != 0)))
        json_fail(&value, "'nvlink_island' must be 0 or divide the %u GPUs of a node, got %lld", type->gpu_count,
                  (long long)island);
    else if (island > 1 && model != NULL && nvlink_bytes_per_s <= 0)
        json_fail(&value, "GPU model '%s' has no NVLink", model->name);
    draft->spec.island_gpus = (uint8_t)island;
    draft->spec.nvlink_nodes = (uint32_t)json_get_int(pool, "nvlink_nodes", 1, CLUSTER_NODES_MAX, 1);
    value = json_member(pool, "nvlink_nodes");
    if (draft->spec.nvlink_nodes > 1 && (nvlink_bytes_per_s <= 0 || island != type->gpu_count))
        json_fail(&value, "nodes that share NVLink have it between all their own GPUs");
}

/* A number below `end` for each GPU; NULL: there is no such key. */
static const uint8_t *read_by_gpu(struct reading *reading, struct json_object *pool, const char *key, unsigned gpus,
                                  unsigned end)
{
    const struct json_value array = json_member(pool, key);
    if (array.node == NULL)
        return NULL;
    uint8_t *numbers = arena_alloc(&reading->scratch, NODE_GPUS_MAX);
    const size_t count = json_array_count(&array);
    if (count != gpus)
        json_fail(&array, "'%s' has %zu numbers for %u GPUs", key, count, gpus);
    for (size_t i = 0; i < count && !has_failed(pool); i++) {
        const struct json_value item = json_array_item(&array, i);
        numbers[i] = (uint8_t)json_value_int(&item, 0, NODE_GPUS_MAX - 1);
        if (numbers[i] >= end)
            json_fail(&item, "'%s' are numbers below %u, got %u", key, end, numbers[i]);
    }
    return numbers;
}

static void read_host(struct reading *reading, struct json_object *pool, struct pool_draft *draft)
{
    struct node_type *type = &draft->spec.type;
    type->cpu_milli =
        (uint32_t)json_get_scaled(pool, "cpus", MILLI, 1, CLUSTER_AMPLE_CPU_MILLI, CLUSTER_AMPLE_CPU_MILLI);
    type->memory_mib = CLUSTER_AMPLE_MEMORY_MIB;
    if (json_has(pool, "memory_gb"))
        type->memory_mib = mib_of_gb(json_get_real(pool, "memory_gb", 1.0 / MIB_PER_GB, MEMORY_GB_MAX, 1));
    draft->spec.nic_count = (uint8_t)json_get_int(pool, "nics", 1, NICS_MAX, 0);
    draft->spec.numa_count = (uint8_t)json_get_int(pool, "numa_nodes", 1, NUMA_MAX, 1);
    draft->spec.gpu_numa = read_by_gpu(reading, pool, "gpu_numa_nodes", type->gpu_count, draft->spec.numa_count);
    if (json_has(pool, "gpu_nics"))
        json_need(pool, "nics");
    draft->spec.gpu_nic = read_by_gpu(reading, pool, "gpu_nics", type->gpu_count, draft->spec.nic_count);
}

static struct text read_pool_name(struct reading *reading, struct json_object *pool)
{
    char *other = arena_alloc(&reading->scratch, 32);
    const uint32_t index = names_count(reading->pool_names); /* with pools of 0 nodes */
    snprintf(other, 32, "pool%u", index);
    struct text name = text_of(json_get_string(pool, "name", other));
    struct json_value value = json_has(pool, "name") ? json_member(pool, "name") : pool->value;
    if (has_failed(pool))
        return name;
    if (name.length == 0)
        json_fail(&value, "a pool's name must not be empty");
    else if (names_add(reading->pool_names, name) != index)
        json_fail(&value, "there is a pool named '%.*s' already", (int)name.length, name.at);
    return name;
}

/* The pattern must hold one "%u" or "%0Wu" (W a digit), and no other '%'. */
static bool is_node_pattern(const char *pattern)
{
    const char *percent = strchr(pattern, '%');
    if (percent == NULL || strlen(pattern) > NODE_NAME_MAX / 2)
        return false;
    const char *next = percent + 1;
    if (next[0] == '0' && next[1] >= '1' && next[1] <= '9')
        next += 2;
    return *next == 'u' && strchr(next, '%') == NULL;
}

static const char *read_node_name(struct json_object *pool)
{
    const char *pattern = json_get_string(pool, "node_name", "n%u");
    struct json_value value = json_member(pool, "node_name");
    if (!has_failed(pool) && !is_node_pattern(pattern)) {
        json_fail(&value, "'node_name' must hold %%u (or %%04u) once, got \"%s\"", pattern);
        error_set_hint(pool->value.error, "the node's number in the cluster stands for it");
    }
    return pattern;
}

static struct text node_name(const char *pattern, uint32_t number, char name[NODE_NAME_MAX])
{
    const char *percent = strchr(pattern, '%');
    int prefix_length = (int)(percent - pattern);
    int width = percent[1] == '0' ? percent[2] - '0' : 0;
    const char *suffix = percent + (width != 0 ? 4 : 2);
    int length = snprintf(name, NODE_NAME_MAX, "%.*s%0*u%s", prefix_length, pattern, width, number, suffix);
    assert(length < NODE_NAME_MAX);
    return (struct text){name, (size_t)length};
}

/* "node_names": a list used instead of the pattern. */
static void read_node_names(struct json_object *pool, struct pool_draft *draft)
{
    draft->node_names = json_member(pool, "node_names");
    if (draft->node_names.node == NULL)
        return;
    size_t count = json_array_count(&draft->node_names);
    if (json_has(pool, "node_name"))
        json_fail(&draft->node_names, "'node_name' and 'node_names' say the same");
    else if (!has_failed(pool) && count != (size_t)draft->node_count)
        json_fail(&draft->node_names, "there are %zu names for %lld nodes", count, (long long)draft->node_count);
}

/* Names of the list, one by one. */
static void add_named_nodes(struct reading *reading, const struct pool_draft *draft)
{
    const struct json_value *names = &draft->node_names;
    for (int64_t i = 0; i < draft->node_count && !error_is(*names->error); i++) {
        struct json_value item = json_array_item(names, (size_t)i);
        const char *name = json_value_string(&item);
        if (error_is(*names->error))
            return;
        if (name[0] == '\0')
            json_fail(&item, "a node needs a name");
        else if (!cluster_build_node(reading->build, text_of(name)))
            json_fail(&item, "there is a node named '%s' already", name);
    }
}

static void add_nodes(struct reading *reading, const struct json_value *value, const struct pool_draft *draft)
{
    cluster_build_pool(reading->build, &draft->spec);
    if (draft->node_names.node != NULL) {
        add_named_nodes(reading, draft);
        return;
    }
    for (int64_t i = 0; i < draft->node_count; i++) {
        char name[NODE_NAME_MAX];
        struct text text = node_name(draft->node_name, reading->build->cluster->node_count, name);
        if (!cluster_build_node(reading->build, text)) {
            json_fail(value, "there is a node named '%s' already", name);
            error_set_hint(value->error, "give the pool another 'node_name'");
            return;
        }
    }
}

static void read_pool(struct reading *reading, const struct json_value *value)
{
    struct json_object pool;
    struct pool_draft draft = {0};
    json_object_open(&pool, value);
    draft.spec.name = read_pool_name(reading, &pool);
    json_need(&pool, "nodes");
    draft.node_count = json_get_int(&pool, "nodes", 0, CLUSTER_NODES_MAX, 1);
    struct json_value count_value = json_member(&pool, "nodes");
    read_gpus(reading, &pool, &draft);
    read_host(reading, &pool, &draft);
    cluster_build_read_extras(&reading->scratch, &pool, draft.model, &draft.spec.type);
    draft.spec.price_usd_per_gpu_h = json_get_real(&pool, "price_usd_per_gpu_h", 0, 1e6, 0);
    draft.node_name = read_node_name(&pool);
    read_node_names(&pool, &draft);
    const struct json_value hwloc = json_member(&pool, "hwloc");
    json_object_close(&pool);
    if (hwloc.node != NULL && !has_failed(&pool)) { /* cluster_load_json takes it out of the document */
        json_value_string(&hwloc);
        json_fail(&hwloc, "hwloc files cannot be read here");
        error_set_hint(pool.value.error, "write out 'gpus_per_node', 'cpus' and 'memory_gb'");
    }
    if (has_failed(&pool))
        return;
    if (reading->build->cluster->node_count + draft.node_count > CLUSTER_NODES_MAX)
        json_fail(&count_value, "more than %d nodes in one cluster", CLUSTER_NODES_MAX);
    else if (draft.node_count > 0) /* else it is as if it did not stand there */
        add_nodes(reading, value, &draft);
}

static void read_pools(struct reading *reading, struct json_object *root)
{
    json_need(root, "pools");
    struct json_value array = json_member(root, "pools");
    if (has_failed(root))
        return;
    size_t count = json_array_count(&array);
    if (count == 0)
        json_fail(&array, "a cluster needs at least one pool");
    for (size_t i = 0; i < count && !has_failed(root); i++) {
        struct json_value item = json_array_item(&array, i);
        read_pool(reading, &item);
    }
    if (!has_failed(root) && reading->build->cluster->node_count == 0)
        json_fail(&array, "a cluster needs at least one node");
}

/* ---- fabric ---- */

/* A transport of the table, and what the cluster says otherwise. */
static struct transport read_transport(struct json_object *object)
{
    const struct transport *from = &transports[json_get_choice(object, "transport", transport_names, 0)];
    struct transport transport = *from;
    transport.step_s = json_get_real(object, "step_latency_us", 0.1, 1e5, from->step_s * 1e6) / 1e6;
    transport.rate_ratio = json_get_real(object, "rate_ratio", 0.01, 1, from->rate_ratio);
    if (!json_has(object, "step_latency_us"))
        transport.step_s = from->step_s;
    transport.source =
        json_get_string(object, "source", transport_is_same(&transport, from) ? from->source : "the cluster file");
    return transport;
}

static struct fabric read_fabric(struct json_object *object, const struct transport *transport)
{
    struct fabric fabric = fabric_default();
    fabric.nodes_per_unit =
        (uint32_t)json_get_int(object, "nodes_per_unit", 1, CLUSTER_NODES_MAX, FABRIC_NODES_PER_UNIT);
    if (json_has(object, "rails"))
        fabric.rails = (uint32_t)json_get_int(object, "rails", 1, RAILS_MAX, 1);
    fabric.rail_bytes_per_s =
        json_get_real(object, "rail_gbps", 1e-3, 1e5, transport->nic_bytes_per_s * 8 / 1e9) * 1e9 / 8;
    fabric.leaf_oversubscription = json_get_real(object, "leaf_oversubscription", 1, 1000, 1);
    fabric.spine_oversubscription = json_get_real(object, "spine_oversubscription", 1, 1000, 1);
    fabric.nvlink_ratio = json_get_real(object, "nvlink_ratio", 0.01, 10, 1);
    return fabric;
}

static struct cluster *finish(struct reading *reading, struct json_object *root)
{
    struct json_value value = json_member(root, "fabric");
    if (value.node == NULL) {
        struct fabric fabric = fabric_default();
        return cluster_build_finish(reading->build, &fabric);
    }
    struct json_object object;
    json_object_open(&object, &value);
    reading->build->transport = read_transport(&object);
    struct fabric fabric = read_fabric(&object, &reading->build->transport);
    reading->build->units_span_pools = json_get_bool(&object, "units_span_pools", false);
    json_object_close(&object);
    if (has_failed(root))
        return NULL;
    return cluster_build_finish(reading->build, &fabric);
}

struct cluster *cluster_read(const struct json_value *value)
{
    struct json_object root;
    json_object_open(&root, value);
    const char *name = json_get_string(&root, "name", CLUSTER_UNNAMED);
    struct cluster_build build;
    cluster_build_init(&build, text_of(name));
    struct reading reading = {.build = &build, .pool_names = names_new()};
    read_models(&reading, &root);
    read_pools(&reading, &root);
    struct json_value levels = json_member(&root, "levels");
    if (levels.node != NULL && !has_failed(&root))
        cluster_build_read_levels(&build, &levels);
    struct cluster *cluster = has_failed(&root) ? NULL : finish(&reading, &root);
    if (levels.node != NULL && cluster != NULL)
        cluster_check_levels(cluster, &levels);
    struct json_value classes = json_member(&root, "gpu_classes");
    if (classes.node != NULL && cluster != NULL)
        cluster_read_classes(cluster, &classes);
    json_object_close(&root);
    names_free(reading.pool_names);
    arena_release(&reading.scratch);
    cluster_build_release(&build);
    if (!error_is(*value->error))
        return cluster;
    cluster_free(cluster);
    return NULL;
}
