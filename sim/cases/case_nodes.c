/* sim/cases/case_nodes.c -- the cluster of a case: a pool of its own for every node. */
#include <stdio.h>
#include <string.h>

#include "sim/cases/case_read.h"
#include "topologies/cluster_build.h"

enum { NODES_MAX = 20000, CPUS_MAX = 1000000, MEMORY_GB_MAX = 1 << 20, GPU_MEMORY_GB_MAX = 1 << 16 };

static const char *const state_names[] = {
    [NODE_UP] = "up",     [NODE_CORDONED] = "cordoned", [NODE_DRAINING] = "draining",
    [NODE_DOWN] = "down", [NODE_ABSENT] = "absent",     [NODE_ABSENT + 1] = NULL};

static const struct gpu_model *model_of(struct json_object *object)
{
    const char *name = json_get_string(object, "gpu_model", "generic"), *names[64];
    const struct gpu_model *model = gpu_model_find(text_of(name));
    if (model != NULL)
        return model;
    uint32_t count, kept = 0;
    const struct gpu_model *models = gpu_model_table(&count);
    struct json_value value = json_member(object, "gpu_model");
    json_fail(&value, "there is no GPU model '%s'", name);
    for (uint32_t i = 0; i < count && kept < 63; i++)
        names[kept++] = models[i].name;
    names[kept] = NULL;
    if (!error_hint_nearest(object->value.error, text_of(name), names))
        error_set_hint(object->value.error, "leave it out for a generic one");
    return gpu_model_find(TEXT("generic"));
}

/* The node's model; with "gpu_memory_gb" a model of its own that differs only in memory. */
static uint8_t read_model(struct case_reading *reading, struct cluster_build *build, struct json_object *object,
                          struct gpu_model *model)
{
    *model = *model_of(object);
    uint32_t memory_mib = case_memory_mib(object, "gpu_memory_gb", GPU_MEMORY_GB_MAX, model->memory_mib);
    if (memory_mib == 0) {
        struct json_value value = json_member(object, "gpu_memory_gb");
        json_fail(&value, "'gpu_memory_gb' must be positive");
    }
    if (memory_mib != model->memory_mib) {
        struct buffer name = {0};
        buffer_format(&name, "%s with %u MiB", model->name, memory_mib);
        model->name = arena_copy(reading->arena, (struct text){name.bytes, name.length});
        model->aliases = NULL;
        model->memory_mib = memory_mib;
        buffer_release(&name);
    }
    uint8_t index = cluster_build_model(build, model);
    if (index == CLUSTER_MODELS_MAX)
        json_fail(&object->value, "at most %d GPU models are possible", CLUSTER_MODELS_MAX);
    return index;
}

/* "nvlink_island": GPUs that share NVLink; absent: all GPUs of the node do. */
static void read_island(struct json_object *object, struct pool_spec *spec)
{
    const uint16_t gpus = spec->type.gpu_count;
    const int64_t island = json_get_int(object, "nvlink_island", 1, NODE_GPUS_MAX, gpus);
    struct json_value value = json_member(object, "nvlink_island");
    if (gpus > 0 && island > 0 && gpus % island == 0)
        spec->island_gpus = (uint8_t)island;
    else if (value.node != NULL)
        json_fail(&value, "'nvlink_island' must divide the %u GPUs of the node", gpus);
}

static uint8_t read_node(struct case_reading *reading, struct cluster_build *build, const struct json_value *value)
{
    struct json_object object;
    struct gpu_model model;
    json_object_open(&object, value);
    json_need(&object, "name");
    const char *name = json_get_string(&object, "name", "");
    struct json_value name_value = json_member(&object, "name");
    struct pool_spec spec = {.name = text_of(name), .numa_count = 1};
    spec.type.gpu_count = (uint16_t)json_get_int(&object, "gpus", 0, NODE_GPUS_MAX, 0);
    spec.island_gpus = (uint8_t)spec.type.gpu_count;
    read_island(&object, &spec);
    spec.type.model = read_model(reading, build, &object, &model);
    spec.type.cpu_milli = (uint32_t)json_get_scaled(&object, "cpus", CASE_MILLI, 0, (int64_t)CPUS_MAX * CASE_MILLI,
                                                    CLUSTER_AMPLE_CPU_MILLI);
    spec.type.memory_mib = case_memory_mib(&object, "memory_gb", MEMORY_GB_MAX, CLUSTER_AMPLE_MEMORY_MIB);
    cluster_build_read_extras(reading->arena, &object, spec.type.gpu_count > 0 ? &model : NULL, &spec.type);
    int state = json_get_choice(&object, "state", state_names, NODE_UP);
    json_object_close(&object);
    if (!case_failed(reading) && name[0] == '\0')
        json_fail(&name_value, "a node needs a name that is not empty");
    if (case_failed(reading))
        return NODE_UP;
    cluster_build_pool(build, &spec);
    if (!cluster_build_node(build, text_of(name)))
        json_fail(&name_value, "there is a node named '%s' already", name);
    return (uint8_t)state;
}

void case_nodes_read(struct case_reading *reading, const struct json_value *array, const struct json_value *levels)
{
    struct case_spec *spec = reading->spec;
    struct cluster_build build;
    size_t count = json_array_count(array);
    if (!case_failed(reading) && (count == 0 || count > NODES_MAX))
        json_fail(array, "a case has from 1 to %d nodes", NODES_MAX);
    cluster_build_init(&build, text_of(spec->name));
    spec->node_states = arena_alloc_array(reading->arena, count + 1, uint8_t);
    reading->rooms = arena_alloc_array(reading->arena, count + 1, struct case_room);
    if (levels->node != NULL)
        cluster_build_read_levels(&build, levels);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_array_item(array, i);
        spec->node_states[i] = read_node(reading, &build, &item);
    }
    if (!case_failed(reading)) {
        struct fabric fabric = fabric_default();
        spec->cluster = cluster_build_finish(&build, &fabric);
        if (levels->node != NULL)
            cluster_check_levels(spec->cluster, levels);
    }
    cluster_build_release(&build);
}

node_id case_node_of(struct case_reading *reading, const struct json_value *value)
{
    const struct cluster *cluster = reading->spec->cluster;
    const char *name = json_value_string(value);
    if (case_failed(reading))
        return NODE_NONE;
    for (node_id node = 0; node < cluster->node_count; node++)
        if (strcmp(cluster->nodes[node].name, name) == 0)
            return node;
    const char **names = arena_alloc_array(reading->arena, cluster->node_count + 1u, const char *);
    for (node_id node = 0; node < cluster->node_count; node++)
        names[node] = cluster->nodes[node].name;
    json_fail(value, "there is no node '%s'", name);
    error_hint_nearest(reading->error, text_of(name), names);
    return NODE_NONE;
}
