#include "topologies/gpu_class.h"

#include <math.h>
#include <string.h>

#include "topologies/cluster.h"
#include "topologies/cluster_build.h"
#include "topologies/mig.h"

enum { MILLI = 1000, MIB_PER_GB = 1024, GPU_MEMORY_GB_MAX = 1 << 16 };

/* ---- Conditions ---- */

uint64_t cluster_models_used(const struct cluster *cluster)
{
    uint64_t mask = 0;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        if (cluster->types[t].gpu_count > 0)
            mask |= UINT64_C(1) << cluster->types[t].model;
    return mask;
}

/* The models of pools with NVLink, or of pools without. */
static uint64_t models_linked(const struct cluster *cluster, bool is_linked)
{
    uint64_t mask = 0;
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const struct node_pool *pool = &cluster->pools[p];
        const struct node_type *type = &cluster->types[pool->type];
        if (type->gpu_count > 0 && (pool->gpu_island[0] != NVLINK_NONE) == is_linked)
            mask |= UINT64_C(1) << type->model;
    }
    return mask;
}

uint64_t gpu_conditions_models(const struct cluster *cluster, const struct gpu_conditions *conditions)
{
    uint64_t mask = cluster_models_used(cluster);
    if (conditions->models != 0)
        mask &= conditions->models;
    if (conditions->asks_nvlink)
        mask &= ~models_linked(cluster, !conditions->has_nvlink);
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        const struct gpu_model *model = &cluster->models[m];
        if (model->memory_mib < conditions->memory_mib || model->sm_count < conditions->sm_count ||
            (conditions->has_mig && model->mig == MIG_NONE))
            mask &= ~(UINT64_C(1) << m);
    }
    return mask;
}

struct gpu_conditions gpu_conditions_read(struct json_object *object)
{
    struct gpu_conditions conditions = {0};
    const double memory_gb = json_get_real(object, "min_memory_gb", 0, GPU_MEMORY_GB_MAX, 0);
    conditions.memory_mib = (uint32_t)llround(memory_gb * MIB_PER_GB);
    conditions.sm_count = (uint16_t)json_get_int(object, "min_sms", 0, UINT16_MAX, 0);
    conditions.has_mig = json_get_bool(object, "mig_capable", false);
    conditions.asks_nvlink = json_has(object, "nvlink");
    conditions.has_nvlink = json_get_bool(object, "nvlink", false);
    return conditions;
}

/* ---- Reading ---- */

const struct gpu_class *cluster_gpu_class_of(const struct cluster *cluster, struct text name)
{
    for (uint32_t i = 0; i < cluster->gpu_class_count; i++)
        if (text_is(name, cluster->gpu_classes[i].name))
            return &cluster->gpu_classes[i];
    return NULL;
}

void gpu_class_hint(const struct cluster *cluster, struct text name, struct error *error)
{
    const char *names[GPU_CLASSES_MAX + 1];
    for (uint32_t i = 0; i < cluster->gpu_class_count; i++)
        names[i] = cluster->gpu_classes[i].name;
    names[cluster->gpu_class_count] = NULL;
    if (error_hint_nearest(error, name, names))
        return;
    if (cluster->gpu_class_count == 0)
        error_set_hint(error, "the cluster has none; its \"gpu_classes\" would say them");
    else
        error_set_hint(error, "\"gpu_classes\" of the cluster lists them");
}

/* Add a hint that lists the cluster's GPU models. */
static void hint_models(const struct cluster *cluster, struct error *error)
{
    struct buffer text = {0};
    const uint64_t used = cluster_models_used(cluster), linked = models_linked(cluster, true);
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        const struct gpu_model *model = &cluster->models[m];
        if (!(used >> m & 1))
            continue;
        buffer_format(&text, "%s%s (%g GB", text.length > 0 ? ", " : "", model->name,
                      (double)model->memory_mib / MIB_PER_GB);
        if (model->sm_count > 0)
            buffer_format(&text, ", %u SMs", model->sm_count);
        buffer_format(&text, "%s%s)", model->mig != MIG_NONE ? ", MIG" : "", linked >> m & 1 ? ", NVLink" : "");
    }
    if (text.length > 0)
        error_set_hint(error, "the GPUs of this cluster: %s", buffer_c_string(&text));
    else
        error_set_hint(error, "this cluster has no GPUs");
    buffer_release(&text);
}

/* "gpu_model": "A|B"; nodes of the cluster must have each of them. */
static uint64_t read_models(const struct cluster *cluster, struct json_object *object)
{
    uint64_t mask = 0;
    struct text rest = text_of(json_get_string(object, "gpu_model", NULL)), name;
    struct json_value value = json_member(object, "gpu_model");
    if (value.node == NULL || error_is(*object->value.error))
        return 0;
    while (text_cut(&rest, '|', &name)) {
        const struct text one = text_trim(name);
        const uint8_t model = cluster_model_of(cluster, one);
        mask |= UINT64_C(1) << model;
        if (model != CLUSTER_MODELS_MAX && (cluster_models_used(cluster) >> model & 1))
            continue;
        if (model == CLUSTER_MODELS_MAX && gpu_model_find(one) == NULL)
            json_fail(&value, "unknown GPU model '%.*s'", (int)one.length, one.at);
        else
            json_fail(&value, "no node of this cluster has GPUs of model '%.*s'", (int)one.length, one.at);
        hint_models(cluster, object->value.error);
        return 0;
    }
    return mask;
}

static void fail_profile(const struct cluster *cluster, const struct json_value *value, const char *profile,
                         uint64_t models)
{
    const char *nearest = NULL;
    for (uint32_t m = 0; m < cluster->model_count && nearest == NULL; m++)
        if (models >> m & 1)
            nearest = mig_profile_nearest(cluster->models[m].mig, text_of(profile));
    json_fail(value, "no GPU that this class takes has a MIG profile '%s'", profile);
    if (nearest != NULL)
        error_set_hint(value->error, "did you mean '%s'?", nearest);
    else
        hint_models(cluster, value->error);
}

/* A name may mean different profiles on different models: the first model of the class decides. */
static void read_mig(const struct cluster *cluster, struct json_object *object, struct gpu_class *class,
                     uint64_t *models)
{
    const char *name = json_get_string(object, "mig", NULL);
    uint64_t found = 0;
    if (name == NULL || error_is(*object->value.error))
        return;
    struct json_value value = json_member(object, "mig");
    if (json_has(object, "min_memory_gb") || json_has(object, "min_sms")) {
        json_fail(&value, "'mig' excludes 'min_memory_gb' and 'min_sms'");
        error_set_hint(object->value.error, "the profile says what an instance has; 'gpu_model' says of which GPUs");
        return;
    }
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        const int profile = *models >> m & 1 ? mig_profile_find(cluster->models[m].mig, text_of(name)) : -1;
        if (profile < 0 || (class->mig != 0 && class->mig != profile + 1))
            continue;
        class->mig = (uint8_t)(profile + 1);
        found |= UINT64_C(1) << m;
    }
    if (found == 0)
        fail_profile(cluster, &value, name, *models);
    *models = found;
}

/* The kind of piece; at most one kind may be given. */
static void read_piece(struct json_object *object, struct gpu_class *class)
{
    const int64_t milli = json_get_scaled(object, "gpu_fraction", MILLI, 1, MILLI, 0);
    const double gb = json_get_real(object, "gpu_memory_gb", 1.0 / MIB_PER_GB, GPU_MEMORY_GB_MAX, 0);
    class->gpu_milli = (uint16_t)(milli == MILLI ? 0 : milli);
    class->gpu_memory_mib = (uint32_t)llround(gb * MIB_PER_GB);
    if (json_has(object, "gpu_fraction") + json_has(object, "gpu_memory_gb") + json_has(object, "mig") > 1)
        json_fail(&object->value, "a class offers one kind of piece: 'gpu_fraction', "
                                  "'gpu_memory_gb' or 'mig', or whole GPUs");
}

static struct gpu_class read_class(struct cluster *cluster, const struct json_value *value)
{
    struct json_object object;
    struct gpu_class class = {0};
    json_object_open(&object, value);
    json_need(&object, "name");
    const char *name = json_get_string(&object, "name", "");
    struct json_value name_value = json_member(&object, "name");
    class.name = arena_copy(&cluster->arena, text_of(name));
    if (!error_is(*value->error) && name[0] == '\0')
        json_fail(&name_value, "a GPU class needs a name that is not empty");
    if (!error_is(*value->error) && cluster_gpu_class_of(cluster, text_of(name)) != NULL)
        json_fail(&name_value, "there is a GPU class called '%s' already", name);
    struct gpu_conditions conditions = gpu_conditions_read(&object);
    conditions.models = read_models(cluster, &object);
    read_piece(&object, &class);
    if (class.gpu_memory_mib > conditions.memory_mib)
        conditions.memory_mib = class.gpu_memory_mib;
    uint64_t models = gpu_conditions_models(cluster, &conditions);
    if (models == 0 && !error_is(*value->error)) {
        json_fail(&name_value, "no GPU of this cluster is of class '%s'", name);
        hint_models(cluster, value->error);
    }
    read_mig(cluster, &object, &class, &models);
    json_object_close(&object);
    class.models = models == cluster_models_used(cluster) ? 0 : models;
    return class;
}

void cluster_read_classes(struct cluster *cluster, const struct json_value *array)
{
    const size_t count = json_array_count(array);
    if (count > GPU_CLASSES_MAX) {
        json_fail(array, "at most %d GPU classes are possible, got %zu", GPU_CLASSES_MAX, count);
        return;
    }
    cluster->gpu_classes = arena_alloc_array(&cluster->arena, count + 1, struct gpu_class);
    for (size_t i = 0; i < count && !error_is(*array->error); i++) {
        struct json_value item = json_array_item(array, i);
        const struct gpu_class class = read_class(cluster, &item);
        cluster->gpu_classes[cluster->gpu_class_count++] = class;
    }
}

/* ---- Writing ---- */

static const char *profile_name(const struct cluster *cluster, const struct gpu_class *class)
{
    const uint64_t models = class->models != 0 ? class->models : cluster_models_used(cluster);
    const struct gpu_model *model = &cluster->models[__builtin_ctzll(models)];
    return mig_profiles(model->mig)[class->mig - 1].name;
}

static void put_models(const struct cluster *cluster, uint64_t models, struct buffer *out)
{
    for (uint32_t m = 0; m < cluster->model_count; m++)
        if (models >> m & 1) {
            if (models & ((UINT64_C(1) << m) - 1))
                buffer_char(out, '|');
            buffer_string(out, cluster->models[m].name);
        }
}

static void write_class(const struct cluster *cluster, const struct gpu_class *class, struct buffer *out)
{
    struct buffer models = {0};
    put_models(cluster, class->models, &models);
    buffer_members(out, ",{'name':%s", class->name);
    if (class->models != 0)
        buffer_members(out, ",'gpu_model':%s", buffer_c_string(&models));
    if (class->gpu_milli != 0)
        buffer_members(out, ",'gpu_fraction':%.3lld", (long long)class->gpu_milli);
    if (class->gpu_memory_mib != 0)
        buffer_members(out, ",'gpu_memory_gb':%g", (double)class->gpu_memory_mib / MIB_PER_GB);
    if (class->mig != 0)
        buffer_members(out, ",'mig':%s", profile_name(cluster, class));
    buffer_char(out, '}');
    buffer_release(&models);
}

void cluster_write_classes(const struct cluster *cluster, struct buffer *out)
{
    if (cluster->gpu_class_count == 0)
        return;
    buffer_members(out, ",'gpu_classes':[");
    for (uint32_t i = 0; i < cluster->gpu_class_count; i++)
        write_class(cluster, &cluster->gpu_classes[i], out);
    buffer_char(out, ']');
}

void gpu_class_show(const struct cluster *cluster, const struct gpu_class *class, struct buffer *out)
{
    if (class->mig != 0)
        buffer_string(out, profile_name(cluster, class));
    else if (class->gpu_memory_mib != 0)
        buffer_format(out, "%g GB", (double)class->gpu_memory_mib / MIB_PER_GB);
    else if (class->gpu_milli != 0)
        buffer_format(out, "%g GPU", (double)class->gpu_milli / MILLI);
    else
        buffer_string(out, "whole GPU");
    buffer_string(out, class->models != 0 ? " of " : " of any model");
    put_models(cluster, class->models, out);
}
