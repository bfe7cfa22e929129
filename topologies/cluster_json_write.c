/* topologies/cluster_json_write.c -- a cluster as the JSON that cluster_read takes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "topologies/cluster_build.h"

enum { MIB_PER_GB = 1024, NAME_BYTES_MAX = 300, ZEROS_MAX = 9 };

static void put_real_if(struct buffer *out, const char *key, double value)
{
    if (value > 0)
        buffer_members(out, ",%s:%g", key, value);
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
    buffer_members(out, ",{'name':%s,'memory_gb':%g,'sm_count':%d,'power_w':%d", model->name,
                   (double)model->memory_mib / MIB_PER_GB, model->sm_count, model->power_w);
    put_real_if(out, "bf16_tflops", model->bf16_tflops);
    put_real_if(out, "memory_gb_per_s", model->memory_bytes_per_s / 1e9);
    put_real_if(out, "nvlink_gb_per_s", model->nvlink_bytes_per_s / 1e9);
    if (model->mig != MIG_NONE)
        buffer_members(out, ",'mig_like':%s", built_in_with(model->mig));
    buffer_members(out, ",'source':%s,'aliases':[", model->source);
    for (uint32_t i = 0; model->aliases != NULL && model->aliases[i] != NULL; i++)
        buffer_members(out, ",%s", model->aliases[i]);
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
            buffer_members(out, ",'gpu_models':[");
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
            buffer_members(out, ",'node_name':%s", buffer_c_string(&pattern));
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
    buffer_members(out, ",'node_names':[");
    for (uint32_t i = 0; i < pool->node_count; i++)
        buffer_members(out, ",%s", cluster->nodes[pool->first + i].name);
    buffer_char(out, ']');
}

static void put_layouts(struct buffer *out, const struct cluster *cluster, const struct node_type *type)
{
    const struct mig_profile *profiles = mig_profiles(cluster->models[type->model].mig);
    if (type->layout_mask == 0)
        return;
    buffer_members(out, ",'gpus_layout':[");
    for (uint32_t gpu = 0; gpu < type->gpu_count; gpu++) {
        const uint8_t *placed = type->layouts[gpu].profile;
        buffer_members(out, ",[");
        for (uint32_t start = 0; start < MIG_SLICES; start++)
            if (placed[start] != 0)
                buffer_members(out, ",{'profile':%s,'start':%u}", profiles[placed[start] - 1].name, start);
        buffer_char(out, ']');
    }
    buffer_char(out, ']');
}

static void put_taints(struct buffer *out, const struct node_type *type)
{
    if (type->taint_count > 0)
        buffer_members(out, ",'taints':[");
    for (uint32_t i = 0; i < type->taint_count; i++) {
        const struct taint *taint = &type->taints[i];
        buffer_members(out, ",{'key':%s", taint->key);
        if (taint->value[0] != '\0')
            buffer_members(out, ",'value':%s", taint->value);
        buffer_members(out, ",'effect':%s}", taint_effect_names[taint->effect]);
    }
    if (type->taint_count > 0)
        buffer_char(out, ']');
}

static void put_labels(struct buffer *out, const struct node_type *type)
{
    if (type->label_count == 0)
        return;
    buffer_members(out, ",'labels':{");
    for (uint32_t i = 0; i < type->label_count; i++)
        buffer_members(out, ",%s:%s", type->labels[i].key, type->labels[i].value);
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
    buffer_members(out, ",%s:[", key);
    for (unsigned i = 0; i < gpus; i++)
        buffer_members(out, ",%u", numbers[i]);
    buffer_char(out, ']');
}

static void put_pool(struct buffer *out, const struct cluster *cluster, const struct node_pool *pool)
{
    const struct node_type *type = &cluster->types[pool->type];
    buffer_members(out, ",{'name':%s,'nodes':%u", pool->name, pool->node_count);
    put_names(out, cluster, pool);
    buffer_members(out, ",'gpus_per_node':%u", type->gpu_count);
    if (type->gpu_count > 0) {
        buffer_members(out, ",'gpu_model':%s,'nvlink_island':%u", cluster->models[type->model].name,
                       island_gpus(pool, type->gpu_count));
        if (pool->nvlink_nodes > 1)
            buffer_members(out, ",'nvlink_nodes':%u", pool->nvlink_nodes);
    }
    buffer_members(out, ",'cpus':%.3lld,'memory_gb':%g", (long long)type->cpu_milli,
                   (double)type->memory_mib / MIB_PER_GB);
    put_labels(out, type);
    put_layouts(out, cluster, type);
    if (type->recut_mask != type->layout_mask)
        buffer_members(out, type->recut_mask != 0 ? ",'mig_recut':true" : ",'mig_recut':false");
    if (type->max_tasks > 0)
        buffer_members(out, ",'max_tasks':%u", type->max_tasks);
    put_taints(out, type);
    buffer_members(out, ",'nics':%u,'numa_nodes':%u", pool->nic_count, pool->numa_count);
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

/* Microseconds, so that a number of up to nine decimals is read as it was. */
static double step_us(const struct transport *transport)
{
    return round(transport->step_s * 1e15) / 1e9;
}

/* What the defaults do not say. */
static void put_transport(struct buffer *out, const struct cluster *cluster)
{
    const struct transport *transport = &cluster->transport, *from = transport_find(text_of(transport->name));
    if (from != transports)
        buffer_members(out, ",'transport':%s", transport->name);
    if (!transport_is_same(transport, from))
        buffer_members(out, ",'step_latency_us':%g,'rate_ratio':%g", step_us(transport), transport->rate_ratio);
    if (strcmp(transport->source, from->source) != 0)
        buffer_members(out, ",'source':%s", transport->source);
    if (cluster->fabric.nvlink_ratio < 1 || cluster->fabric.nvlink_ratio > 1)
        buffer_members(out, ",'nvlink_ratio':%g", cluster->fabric.nvlink_ratio);
}

void cluster_write(const struct cluster *cluster, struct buffer *out)
{
    const struct fabric *fabric = &cluster->fabric;
    buffer_members(out, "{'name':%s", cluster->name);
    put_models(out, cluster);
    buffer_members(out, ",'pools':[");
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        put_pool(out, cluster, &cluster->pools[p]);
    buffer_members(out, "],'levels':[");
    for (uint32_t i = 0; i < cluster->level_count; i++)
        buffer_members(out, ",%s", cluster->levels[i].name);
    buffer_members(out, "],'fabric':{'nodes_per_unit':%u", fabric->nodes_per_unit);
    if (units_span_pools(cluster))
        buffer_members(out, ",'units_span_pools':true");
    buffer_members(out, ",'rails':%u,'rail_gbps':%g,'leaf_oversubscription':%g,'spine_oversubscription':%g",
                   fabric->rails, fabric->rail_bytes_per_s * 8 / 1e9, fabric->leaf_oversubscription,
                   fabric->spine_oversubscription);
    put_transport(out, cluster);
    buffer_char(out, '}');
    cluster_write_classes(cluster, out);
    buffer_char(out, '}');
}
