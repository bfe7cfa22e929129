/* topologies/cluster_show.c -- a cluster drawn as text. */
#include "topologies/cluster_show.h"

#include <stdio.h>
#include <string.h>

#include "topologies/cluster_build.h"
#include "topologies/mig.h"

enum {
    ROWS_MAX = 40,     /* longer tables show their first and last rows */
    NAME_RUNS_MAX = 6, /* parts of a folded list of names */
    MIB_PER_GB = 1024,
};

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void put_gb(struct buffer *out, uint64_t memory_mib)
{
    if (memory_mib % MIB_PER_GB == 0)
        buffer_format(out, "%llu GB", (unsigned long long)(memory_mib / MIB_PER_GB));
    else
        buffer_format(out, "%.1f GB", (double)memory_mib / MIB_PER_GB);
}

static void put_host(struct buffer *out, uint64_t cpu_milli, uint64_t memory_mib, uint64_t nodes)
{
    if (cpu_milli >= nodes * CLUSTER_AMPLE_CPU_MILLI) {
        buffer_string(out, "ample CPUs, ");
    } else {
        buffer_scaled(out, (int64_t)cpu_milli, 1000);
        buffer_string(out, " CPUs, ");
    }
    if (memory_mib >= nodes * CLUSTER_AMPLE_MEMORY_MIB)
        buffer_string(out, "ample memory");
    else
        put_gb(out, memory_mib);
}

/* ---- names, folded: n[0-31],x7 ---- */

struct numbered {
    size_t prefix_length;
    size_t digit_count; /* 0: the name ends in no number, or in one too long */
    uint64_t number;
};

static struct numbered split_name(const char *name)
{
    size_t length = strlen(name), start = length;
    while (start > 0 && name[start - 1] >= '0' && name[start - 1] <= '9')
        start--;
    struct numbered split = {.prefix_length = start, .digit_count = length - start};
    if (split.digit_count > 15)
        split.digit_count = 0;
    for (size_t i = start; split.digit_count != 0 && i < length; i++)
        split.number = split.number * 10 + (uint64_t)(name[i] - '0');
    return split;
}

/* Does the second name continue the first?  n10 continues n9, and n10 continues n09, but n010 does not continue n9. */
static bool follows(const char *name, const char *next)
{
    struct numbered a = split_name(name), b = split_name(next);
    if (a.digit_count == 0 || b.digit_count == 0 || a.prefix_length != b.prefix_length ||
        memcmp(name, next, a.prefix_length) != 0 || b.number != a.number + 1)
        return false;
    return a.digit_count == b.digit_count || (b.digit_count == a.digit_count + 1 && next[b.prefix_length] != '0');
}

static void put_names(struct buffer *out, const struct cluster *cluster, node_id first, uint32_t count)
{
    node_id end = first + count;
    for (unsigned run = 0; first < end; run++) {
        if (run == NAME_RUNS_MAX) {
            buffer_format(out, ",+%u", end - first);
            return;
        }
        node_id last = first;
        while (last + 1 < end && follows(cluster->nodes[last].name, cluster->nodes[last + 1].name))
            last++;
        const char *name = cluster->nodes[first].name;
        size_t prefix = split_name(name).prefix_length;
        if (run > 0)
            buffer_char(out, ',');
        if (last == first)
            buffer_string(out, name);
        else
            buffer_format(out, "%.*s[%s-%s]", (int)prefix, name, name + prefix, cluster->nodes[last].name + prefix);
        first = last + 1;
    }
}

/* ---- totals and pools ---- */

static void show_totals(const struct cluster *cluster, struct buffer *out)
{
    buffer_format(out, "%s: %u node%s, %u GPU%s, ", cluster->name, cluster->node_count, plural(cluster->node_count),
                  cluster->gpu_count, plural(cluster->gpu_count));
    put_host(out, cluster->cpu_milli, cluster->memory_mib, cluster->node_count);
    buffer_char(out, '\n');
}

static int width_of_pool_names(const struct cluster *cluster)
{
    size_t width = strlen("pool");
    for (uint32_t i = 0; i < cluster->pool_count; i++)
        if (strlen(cluster->pools[i].name) > width)
            width = strlen(cluster->pools[i].name);
    return width > 40 ? 40 : (int)width;
}

static const char *model_name(const struct cluster *cluster, const struct node_type *type)
{
    return type->gpu_count == 0 ? "-" : cluster->models[type->model].name;
}

static void put_labels(const struct node_type *type, struct buffer *out)
{
    for (uint32_t i = 0; i < type->label_count; i++)
        buffer_format(out, " %s=%s", type->labels[i].key, type->labels[i].value);
}

static void put_limits(const struct node_type *type, struct buffer *out)
{
    if (type->max_tasks != 0)
        buffer_format(out, ", at most %u task%s", type->max_tasks, plural(type->max_tasks));
    if (type->is_tainted)
        buffer_string(out, ", tainted");
    buffer_char(out, '\n');
}

static void show_pool(const struct cluster *cluster, const struct node_pool *pool, int width, struct buffer *out)
{
    const struct node_type *type = &cluster->types[pool->type];
    buffer_format(out, "%-*s %6u %5u  %-12s %4u %4u  ", width, pool->name, pool->node_count, type->gpu_count,
                  model_name(cluster, type), pool->nic_count, pool->numa_count);
    if (pool->price_usd_per_gpu_h > 0)
        buffer_format(out, "%7.2f  ", pool->price_usd_per_gpu_h);
    else
        buffer_string(out, "      -  ");
    put_names(out, cluster, pool->first, pool->node_count);
    put_labels(type, out);
    put_limits(type, out);
}

/* Is row `i` of `count` left out?  Writes at the first such row how many are. */
static bool is_left_out(uint32_t i, uint32_t count, const char *what, struct buffer *out)
{
    if (count <= ROWS_MAX || i < ROWS_MAX / 2 || i >= count - ROWS_MAX / 2)
        return false;
    if (i == ROWS_MAX / 2)
        buffer_format(out, "... %u more %s\n", count - ROWS_MAX, what);
    return true;
}

static void show_pools(const struct cluster *cluster, struct buffer *out)
{
    int width = width_of_pool_names(cluster);
    buffer_format(out, "\n%-*s  nodes  GPUs  %-12s NICs NUMA  $/GPU-h  names\n", width, "pool", "model");
    for (uint32_t i = 0; i < cluster->pool_count; i++)
        show_pool(cluster, &cluster->pools[i], width, out);
}

/* Shown instead of pools if there are many, as for a node list. */
static void show_types(const struct cluster *cluster, struct buffer *out)
{
    buffer_format(out, "\n%u pools of %u types\n nodes  GPUs  %-12s inside\n", cluster->pool_count, cluster->type_count,
                  "model");
    for (uint32_t i = 0; i < cluster->type_count; i++) {
        const struct node_type *type = &cluster->types[i];
        if (is_left_out(i, cluster->type_count, "types", out))
            continue;
        buffer_format(out, "%6u %5u  %-12s ", type->node_count, type->gpu_count, model_name(cluster, type));
        put_host(out, type->cpu_milli, type->memory_mib, 1);
        put_labels(type, out);
        put_limits(type, out);
    }
}

/* ---- levels ---- */

/* Only if the file names levels: units and nodes are shown anyway. */
static void show_levels(const struct cluster *cluster, struct buffer *out)
{
    if (cluster->level_count == 2 && cluster_level_of(cluster, TEXT("unit")) == 1 &&
        cluster_level_of(cluster, TEXT("node")) == 2)
        return;
    buffer_string(out, "\nlevels:");
    for (uint32_t i = 0; i < cluster->level_count; i++)
        buffer_format(out, "%s %s (%u)", i > 0 ? "," : "", cluster->levels[i].name, cluster->levels[i].domain_count);
    buffer_string(out, cluster->level_count > 0 ? "\n" : " none\n");
}

/* ---- GPU classes ---- */

static void show_classes(const struct cluster *cluster, struct buffer *out)
{
    int width = 0;
    if (cluster->gpu_class_count == 0)
        return;
    for (uint32_t i = 0; i < cluster->gpu_class_count; i++)
        if ((int)strlen(cluster->gpu_classes[i].name) > width)
            width = (int)strlen(cluster->gpu_classes[i].name);
    buffer_string(out, "\nGPU classes\n");
    for (uint32_t i = 0; i < cluster->gpu_class_count; i++) {
        if (is_left_out(i, cluster->gpu_class_count, "classes", out))
            continue;
        buffer_format(out, "%-*s  ", width, cluster->gpu_classes[i].name);
        gpu_class_show(cluster, &cluster->gpu_classes[i], out);
        buffer_char(out, '\n');
    }
}

/* ---- GPU models and layouts ---- */

/* GPU0: 1g.10gb at 0, 3g.40gb at 4 */
static void put_layouts(const struct cluster *cluster, const struct node_type *type, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(cluster->models[type->model].mig);
    for (uint32_t gpu = 0; gpu < type->gpu_count; gpu++) {
        const char *separator = ": ";
        if (!(type->layout_mask >> gpu & 1))
            continue;
        buffer_format(out, "  GPU%u", gpu);
        for (unsigned s = 0; s < MIG_SLICES; s++)
            if (type->layouts[gpu].profile[s] != 0) {
                buffer_format(out, "%s%s at %u", separator, profiles[type->layouts[gpu].profile[s] - 1].name, s);
                separator = ", ";
            }
        buffer_char(out, '\n');
    }
}

static void put_model(const struct gpu_model *model, struct buffer *out)
{
    buffer_format(out, "%s: ", model->name);
    put_gb(out, model->memory_mib);
    if (model->sm_count > 0)
        buffer_format(out, ", %u SMs", model->sm_count);
    if (model->power_w > 0)
        buffer_format(out, ", %u W", model->power_w);
    if (model->nvlink_bytes_per_s > 0)
        buffer_format(out, ", NVLink %.0f GB/s each way", model->nvlink_bytes_per_s / 1e9);
    const struct mig_profile *profiles = mig_profiles(model->mig);
    if (profiles != NULL)
        buffer_format(out, ", MIG %s to %s", profiles[MIG_1G].name, profiles[MIG_7G].name);
    buffer_char(out, '\n');
}

static void show_models(const struct cluster *cluster, struct buffer *out)
{
    buffer_char(out, '\n');
    for (uint32_t i = 0; i < cluster->model_count; i++)
        put_model(&cluster->models[i], out);
    for (uint32_t i = 0; i < cluster->type_count; i++)
        put_layouts(cluster, &cluster->types[i], out);
}

/* ---- the fabric ---- */

static void put_tier(struct buffer *out, const char *name, uint32_t switches)
{
    buffer_format(out, "%-6s %6u switch%s\n", name, switches, switches == 1 ? "" : "es");
}

/* Cables of full units: a leaf has all uplinks even if its unit is not full. */
static void put_cables(struct buffer *out, double cables, double oversubscription)
{
    buffer_format(out, "          |  %.0f cables, %g:1\n", cables, oversubscription);
}

static void show_fabric(const struct cluster *cluster, struct buffer *out)
{
    const struct fabric *fabric = &cluster->fabric;
    uint64_t nics = 0;
    for (uint32_t i = 0; i < cluster->pool_count; i++)
        nics += (uint64_t)cluster->pools[i].nic_count * cluster->pools[i].node_count;
    double down = (double)fabric->unit_count * fabric->nodes_per_unit * fabric->rails;
    double up = down / fabric->leaf_oversubscription;
    buffer_format(out, "\nfabric: %u rail%s of %g Gb/s, %u unit%s\n", fabric->rails, plural(fabric->rails),
                  fabric->rail_bytes_per_s * 8 / 1e9, fabric->unit_count, plural(fabric->unit_count));
    if (fabric->cores > 0) {
        put_tier(out, "core", fabric->cores);
        put_cables(out, up / fabric->spine_oversubscription, fabric->spine_oversubscription);
    }
    if (fabric->spines > 0) {
        put_tier(out, "spine", fabric->spines);
        put_cables(out, up, fabric->leaf_oversubscription);
    }
    put_tier(out, "leaf", fabric->leaves);
    buffer_format(out, "          |  %llu cable%s\n", (unsigned long long)nics, plural(nics));
    buffer_format(out, "%-6s %6u\n", "node", cluster->node_count);
    transport_show(&cluster->transport, out);
    if (fabric->nvlink_ratio < 1 || fabric->nvlink_ratio > 1)
        buffer_format(out, "NVLink: %g of the rates of collectives in docs/network.md\n", fabric->nvlink_ratio);
}

void cluster_show(const struct cluster *cluster, struct buffer *out)
{
    show_totals(cluster, out);
    if (cluster->pool_count <= ROWS_MAX)
        show_pools(cluster, out);
    else
        show_types(cluster, out);
    show_levels(cluster, out);
    show_classes(cluster, out);
    show_models(cluster, out);
    show_fabric(cluster, out);
}
