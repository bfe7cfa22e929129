/* topologies/cluster_json_write.c -- a cluster as the JSON that cluster_read takes. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "topologies/cluster_build.h"

enum { MILLI = 1000, MIB_PER_GB = 1024, NAME_BYTES_MAX = 300, ZEROS_MAX = 9 };

static void put_key(struct buffer *out, const char *key)
{
    char last = out->bytes[out->length - 1];
    if (last != '{')
        buffer_char(out, ',');
    buffer_json(out, text_of(key));
    buffer_char(out, ':');
}

static void put_text(struct buffer *out, const char *key, const char *value)
{
    put_key(out, key);
    buffer_json(out, text_of(value));
}

static void put_int(struct buffer *out, const char *key, int64_t value)
{
    put_key(out, key);
    buffer_int(out, value);
}

static void put_real(struct buffer *out, const char *key, double value)
{
    put_key(out, key);
    buffer_double(out, value);
}

static void put_real_if(struct buffer *out, const char *key, double value)
{
    if (value > 0)
        put_real(out, key, value);
}

/* ---- GPU models ---- */

static const char *built_in_with(enum mig_family family)
{
    uint32_t count;
    const struct gpu_model *table = gpu_model_table(&count);
    uint32_t i = 0;
    while (i < count && table[i].mig != family)
        i++;
    return i < count ? table[i].name : NULL;
}

static void put_model(struct buffer *out, const struct gpu_model *model)
{
    buffer_char(out, '{');
    put_text(out, "name", model->name);
    put_real(out, "memory_gb", (double)model->memory_mib / MIB_PER_GB);
    put_int(out, "sm_count", model->sm_count);
    put_int(out, "power_w", model->power_w);
    put_real_if(out, "bf16_tflops", model->bf16_tflops);
    put_real_if(out, "memory_gb_per_s", model->memory_bytes_per_s / 1e9);
    put_real_if(out, "nvlink_gb_per_s", model->nvlink_bytes_per_s / 1e9);
    if (model->mig != MIG_NONE)
        put_text(out, "mig_like", built_in_with(model->mig));
    put_text(out, "source", model->source);
    put_key(out, "aliases");
    buffer_char(out, '[');
    for (uint32_t i = 0; model->aliases != NULL && model->aliases[i] != NULL; i++) {
        if (i > 0)
            buffer_char(out, ',');
        buffer_json(out, text_of(model->aliases[i]));
    }
    buffer_string(out, "]}");
}

/* Models that are not built in. */
static void put_models(struct buffer *out, const struct cluster *cluster)
{
    bool is_first = true;
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        if (gpu_model_find(text_of(cluster->models[m].name)) != NULL)
            continue;
        if (is_first)
            put_key(out, "gpu_models");
        buffer_char(out, is_first ? '[' : ',');
        put_model(out, &cluster->models[m]);
        is_first = false;
    }
    if (!is_first)
        buffer_char(out, ']');
}

/* ---- pools ---- */

/* Does "%0Wu" (width 0: "%u") between these texts give the name of every node of the pool? */
static bool names_follow(const struct cluster *cluster, const struct node_pool *pool, struct text before,
                         struct text after, int width)
{
    char name[NAME_BYTES_MAX];
    for (node_id n = pool->first; n < pool->first + pool->node_count; n++) {
        int length = snprintf(name, sizeof name, "%.*s%0*u%.*s", (int)before.length, before.at, width, n,
                              (int)after.length, after.at);
        if (length < 0 || strcmp(name, cluster->nodes[n].name) != 0)
            return false;
    }
    return true;
}

/* Find the pattern from the pool's last node, whose number has the most digits. */
static bool put_pattern(struct buffer *out, const struct cluster *cluster, const struct node_pool *pool)
{
    node_id last = pool->first + pool->node_count - 1;
    const char *name = cluster->nodes[last].name;
    char digits[16];
    if (strchr(name, '%') != NULL || strlen(name) > NAME_BYTES_MAX / 3)
        return false;
    for (int width = 0; width <= ZEROS_MAX; width++) {
        int length = snprintf(digits, sizeof digits, "%0*u", width, last);
        for (const char *at = strstr(name, digits); at != NULL; at = strstr(at + 1, digits)) {
            struct text before = {name, (size_t)(at - name)}, after = text_of(at + length);
            if (!names_follow(cluster, pool, before, after, width))
                continue;
            struct buffer pattern = {0};
            buffer_text(&pattern, before);
            if (width > 0)
                buffer_format(&pattern, "%%0%du", width);
            else
                buffer_string(&pattern, "%u");
            buffer_text(&pattern, after);
            put_text(out, "node_name", buffer_c_string(&pattern));
            buffer_release(&pattern);
            return true;
        }
    }
    return false;
}

static void put_names(struct buffer *out, const struct cluster *cluster, const struct node_pool *pool)
{
    if (put_pattern(out, cluster, pool))
        return;
    put_key(out, "node_names");
    for (uint32_t i = 0; i < pool->node_count; i++) {
        buffer_char(out, i == 0 ? '[' : ',');
        buffer_json(out, text_of(cluster->nodes[pool->first + i].name));
    }
    buffer_char(out, ']');
}

static void put_layouts(struct buffer *out, const struct cluster *cluster, const struct node_type *type)
{
    const struct mig_profile *profiles = mig_profiles(cluster->models[type->model].mig);
    if (type->layout_mask == 0)
        return;
    put_key(out, "gpus_layout");
    for (uint32_t gpu = 0; gpu < type->gpu_count; gpu++) {
        bool is_first = true;
        buffer_string(out, gpu == 0 ? "[[" : ",[");
        for (uint32_t start = 0; start < MIG_SLICES; start++) {
            uint8_t profile = type->layouts[gpu].profile[start];
            if (profile == 0)
                continue;
            buffer_string(out, is_first ? "{" : ",{");
            put_text(out, "profile", profiles[profile - 1].name);
            put_int(out, "start", start);
            buffer_char(out, '}');
            is_first = false;
        }
        buffer_char(out, ']');
    }
    buffer_char(out, ']');
}

static void put_recut(struct buffer *out, const struct node_type *type)
{
    if (type->recut_mask == type->layout_mask)
        return;
    put_key(out, "mig_recut");
    buffer_string(out, type->recut_mask != 0 ? "true" : "false");
}

static void put_taints(struct buffer *out, const struct node_type *type)
{
    if (type->taint_count > 0)
        put_key(out, "taints");
    for (uint32_t i = 0; i < type->taint_count; i++) {
        const struct taint *taint = &type->taints[i];
        buffer_string(out, i == 0 ? "[{" : ",{");
        put_text(out, "key", taint->key);
        if (taint->value[0] != '\0')
            put_text(out, "value", taint->value);
        put_text(out, "effect", taint_effect_names[taint->effect]);
        buffer_string(out, i + 1 < type->taint_count ? "}" : "}]");
    }
}

static void put_labels(struct buffer *out, const struct node_type *type)
{
    if (type->label_count == 0)
        return;
    put_key(out, "labels");
    buffer_char(out, '{');
    for (uint32_t i = 0; i < type->label_count; i++)
        put_text(out, type->labels[i].key, type->labels[i].value);
    buffer_char(out, '}');
}

static uint32_t island_gpus(const struct node_pool *pool, uint32_t gpus)
{
    uint32_t count = 0;
    if (gpus == 0 || pool->gpu_island[0] == NVLINK_NONE)
        return 0;
    while (count < gpus && pool->gpu_island[count] == pool->gpu_island[0])
        count++;
    return count;
}

/* Nothing if they are spread evenly, which readers take for granted.  end: the number of rails, or of NUMA nodes. */
static void put_by_gpu(struct buffer *out, const char *key, const uint8_t *numbers, unsigned gpus, unsigned count,
                       unsigned end)
{
    bool is_even = true;
    for (unsigned i = 0; i < gpus; i++)
        is_even &= numbers[i] == i * count / gpus % end;
    if (is_even)
        return;
    put_key(out, key);
    for (unsigned i = 0; i < gpus; i++)
        buffer_format(out, "%c%u", i == 0 ? '[' : ',', numbers[i]);
    buffer_char(out, ']');
}

static void put_pool(struct buffer *out, const struct cluster *cluster, const struct node_pool *pool)
{
    const struct node_type *type = &cluster->types[pool->type];
    buffer_char(out, '{');
    put_text(out, "name", pool->name);
    put_int(out, "nodes", pool->node_count);
    put_names(out, cluster, pool);
    put_int(out, "gpus_per_node", type->gpu_count);
    if (type->gpu_count > 0) {
        put_text(out, "gpu_model", cluster->models[type->model].name);
        put_int(out, "nvlink_island", island_gpus(pool, type->gpu_count));
        if (pool->nvlink_nodes > 1)
            put_int(out, "nvlink_nodes", pool->nvlink_nodes);
    }
    put_key(out, "cpus");
    buffer_scaled(out, type->cpu_milli, MILLI);
    put_real(out, "memory_gb", (double)type->memory_mib / MIB_PER_GB);
    put_labels(out, type);
    put_layouts(out, cluster, type);
    put_recut(out, type);
    if (type->max_tasks > 0)
        put_int(out, "max_tasks", type->max_tasks);
    put_taints(out, type);
    put_int(out, "nics", pool->nic_count);
    put_int(out, "numa_nodes", pool->numa_count);
    put_by_gpu(out, "gpu_nics", pool->gpu_rail, type->gpu_count, pool->nic_count, cluster->fabric.rails);
    put_by_gpu(out, "gpu_numa_nodes", pool->gpu_numa, type->gpu_count, pool->numa_count, pool->numa_count);
    put_real_if(out, "price_usd_per_gpu_h", pool->price_usd_per_gpu_h);
    buffer_char(out, '}');
}

/* ---- the whole ---- */

static bool units_span_pools(const struct cluster *cluster)
{
    for (node_id n = 1; n < cluster->node_count; n++)
        if (cluster->nodes[n].pool != cluster->nodes[n - 1].pool &&
            cluster->nodes[n].unit == cluster->nodes[n - 1].unit)
            return true;
    return false;
}

static void put_fabric(struct buffer *out, const struct cluster *cluster)
{
    const struct fabric *fabric = &cluster->fabric;
    put_key(out, "fabric");
    buffer_char(out, '{');
    put_int(out, "nodes_per_unit", fabric->nodes_per_unit);
    if (units_span_pools(cluster))
        buffer_string(out, ",\"units_span_pools\":true");
    put_int(out, "rails", fabric->rails);
    put_real(out, "rail_gbps", fabric->rail_bytes_per_s * 8 / 1e9);
    put_real(out, "leaf_oversubscription", fabric->leaf_oversubscription);
    put_real(out, "spine_oversubscription", fabric->spine_oversubscription);
    buffer_char(out, '}');
}

void cluster_write(const struct cluster *cluster, struct buffer *out)
{
    buffer_char(out, '{');
    put_text(out, "name", cluster->name);
    put_models(out, cluster);
    put_key(out, "pools");
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        buffer_char(out, p == 0 ? '[' : ',');
        put_pool(out, cluster, &cluster->pools[p]);
    }
    buffer_char(out, ']');
    put_key(out, "levels");
    buffer_char(out, '[');
    for (uint32_t i = 0; i < cluster->level_count; i++) {
        if (i > 0)
            buffer_char(out, ',');
        buffer_json(out, text_of(cluster->levels[i].name));
    }
    buffer_char(out, ']');
    put_fabric(out, cluster);
    cluster_write_classes(cluster, out);
    buffer_char(out, '}');
}
