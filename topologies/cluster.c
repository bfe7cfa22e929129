/* topologies/cluster.c -- construction of a cluster: interned types, numbered nodes, the fabric's counts. */
#include "topologies/cluster.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "topologies/cluster_build.h"

uint8_t cluster_model_of(const struct cluster *cluster, struct text name)
{
    for (uint32_t i = 0; i < cluster->model_count; i++)
        if (gpu_model_is(&cluster->models[i], name))
            return (uint8_t)i;
    return CLUSTER_MODELS_MAX;
}

uint8_t cluster_level_of(const struct cluster *cluster, struct text name)
{
    for (uint32_t i = 0; i < cluster->level_count; i++)
        if (text_is(name, cluster->levels[i].name))
            return (uint8_t)(i + 1);
    return 0;
}

void cluster_free(struct cluster *cluster)
{
    if (cluster == NULL)
        return;
    arena_release(&cluster->arena);
    mem_free(cluster);
}

void cluster_build_init(struct cluster_build *build, struct text name)
{
    *build = (struct cluster_build){
        .cluster = mem_zalloc(1, sizeof *build->cluster), .node_names = names_new(), .transport = transports[0]};
    struct cluster *cluster = build->cluster;
    cluster->name = arena_copy(&cluster->arena, name);
    cluster->models = arena_alloc_array(&cluster->arena, CLUSTER_MODELS_MAX, struct gpu_model);
}

void cluster_build_release(struct cluster_build *build)
{
    cluster_free(build->cluster);
    names_free(build->node_names);
    mem_free(build->types);
    mem_free(build->pools);
    mem_free(build->nodes);
    *build = (struct cluster_build){0};
}

static const char *const *copy_aliases(struct arena *arena, const char *const *aliases)
{
    size_t count = 0;
    while (aliases != NULL && aliases[count] != NULL)
        count++;
    const char **copy = arena_alloc_array(arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_copy(arena, text_of(aliases[i]));
    return copy;
}

uint8_t cluster_build_model(struct cluster_build *build, const struct gpu_model *model)
{
    struct cluster *cluster = build->cluster;
    uint8_t known = cluster_model_of(cluster, text_of(model->name));
    if (known != CLUSTER_MODELS_MAX || cluster->model_count == CLUSTER_MODELS_MAX)
        return known;
    struct gpu_model *copy = &cluster->models[cluster->model_count];
    *copy = *model;
    copy->name = arena_copy(&cluster->arena, text_of(model->name));
    copy->source = arena_copy(&cluster->arena, text_of(model->source));
    copy->aliases = copy_aliases(&cluster->arena, model->aliases);
    return (uint8_t)cluster->model_count++;
}

static int compare_labels(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

static bool labels_equal(const struct node_type *a, const struct node_type *b)
{
    if (a->label_count != b->label_count)
        return false;
    for (uint32_t i = 0; i < a->label_count; i++)
        if (strcmp(a->labels[i].key, b->labels[i].key) != 0 || strcmp(a->labels[i].value, b->labels[i].value) != 0)
            return false;
    return true;
}

static int compare_taints(const void *a, const void *b)
{
    const struct taint *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = strcmp(x->value, y->value);
    return order != 0 ? order : x->effect - y->effect;
}

static bool taints_equal(const struct node_type *a, const struct node_type *b)
{
    if (a->taint_count != b->taint_count)
        return false;
    for (uint32_t i = 0; i < a->taint_count; i++)
        if (compare_taints(&a->taints[i], &b->taints[i]) != 0)
            return false;
    return true;
}

static bool layouts_equal(const struct node_type *a, const struct node_type *b)
{
    return a->layout_mask == b->layout_mask && a->recut_mask == b->recut_mask &&
           (a->layout_mask == 0 || memcmp(a->layouts, b->layouts, a->gpu_count * sizeof *a->layouts) == 0);
}

static bool types_equal(const struct node_type *a, const struct node_type *b)
{
    return a->gpu_count == b->gpu_count && a->model == b->model && a->cpu_milli == b->cpu_milli &&
           a->memory_mib == b->memory_mib && a->max_tasks == b->max_tasks && a->is_tainted == b->is_tainted &&
           a->island_gpus == b->island_gpus && layouts_equal(a, b) && labels_equal(a, b) && taints_equal(a, b);
}

/* A copy with the labels ordered by key, so that equal sets compare equal. */
static const struct label *copy_labels(struct arena *arena, const struct node_type *type)
{
    struct label *copy = arena_alloc_array(arena, type->label_count, struct label);
    for (uint32_t i = 0; i < type->label_count; i++) {
        copy[i].key = arena_copy(arena, text_of(type->labels[i].key));
        copy[i].value = arena_copy(arena, text_of(type->labels[i].value));
    }
    if (type->label_count > 1)
        qsort(copy, type->label_count, sizeof *copy, compare_labels);
    return copy;
}

/* A copy in order, like that of the labels. */
static const struct taint *copy_taints(struct arena *arena, const struct node_type *type)
{
    struct taint *copy = arena_alloc_array(arena, type->taint_count, struct taint);
    for (uint32_t i = 0; i < type->taint_count; i++)
        copy[i] = (struct taint){arena_copy(arena, text_of(type->taints[i].key)),
                                 arena_copy(arena, text_of(type->taints[i].value)), type->taints[i].effect};
    if (type->taint_count > 1)
        qsort(copy, type->taint_count, sizeof *copy, compare_taints);
    return copy;
}

static const struct gpu_layout *copy_layouts(struct arena *arena, const struct node_type *type)
{
    if (type->layout_mask == 0)
        return NULL;
    struct gpu_layout *copy = arena_alloc_array(arena, type->gpu_count, struct gpu_layout);
    memcpy(copy, type->layouts, type->gpu_count * sizeof *copy);
    return copy;
}

static uint32_t intern_type(struct cluster_build *build, struct node_type type)
{
    struct cluster *cluster = build->cluster;
    type.labels = copy_labels(&cluster->arena, &type);
    type.taints = copy_taints(&cluster->arena, &type);
    type.layouts = copy_layouts(&cluster->arena, &type);
    type.node_count = 0;
    for (uint32_t i = 0; i < cluster->type_count; i++)
        if (types_equal(&build->types[i], &type))
            return i;
    MEM_GROW(build->types, build->type_capacity, cluster->type_count + 1u);
    build->types[cluster->type_count] = type;
    return cluster->type_count++;
}

/* gpu_rail holds the NIC until the rails are known. */
static void lay_inside(struct node_pool *pool, const struct pool_spec *spec)
{
    unsigned gpus = spec->type.gpu_count;
    memset(pool->gpu_rail, NIC_BY_INDEX, sizeof pool->gpu_rail);
    memset(pool->gpu_island, NVLINK_NONE, sizeof pool->gpu_island);
    for (unsigned i = 0; i < gpus; i++) {
        pool->gpu_numa[i] = spec->gpu_numa != NULL ? spec->gpu_numa[i] : (uint8_t)(i * spec->numa_count / gpus);
        if (spec->gpu_nic != NULL)
            pool->gpu_rail[i] = spec->gpu_nic[i];
        if (spec->island_gpus != 0)
            pool->gpu_island[i] = (uint8_t)(i / spec->island_gpus);
    }
}

void cluster_build_pool(struct cluster_build *build, const struct pool_spec *spec)
{
    struct cluster *cluster = build->cluster;
    assert(spec->type.gpu_count <= NODE_GPUS_MAX && spec->numa_count >= 1);
    MEM_GROW(build->pools, build->pool_capacity, cluster->pool_count + 1u);
    struct node_type type = spec->type;
    type.island_gpus = spec->island_gpus != 0 ? spec->island_gpus : (uint8_t)type.gpu_count;
    struct node_pool *pool = &build->pools[cluster->pool_count++];
    *pool = (struct node_pool){.name = arena_copy(&cluster->arena, spec->name),
                               .first = cluster->node_count,
                               .type = intern_type(build, type),
                               .nvlink_nodes = spec->nvlink_nodes > 1 ? spec->nvlink_nodes : 1,
                               .nic_count = spec->nic_count,
                               .numa_count = spec->numa_count,
                               .price_usd_per_gpu_h = spec->price_usd_per_gpu_h};
    lay_inside(pool, spec);
}

bool cluster_build_node(struct cluster_build *build, struct text name)
{
    struct cluster *cluster = build->cluster;
    assert(cluster->pool_count > 0 && cluster->node_count < CLUSTER_NODES_MAX);
    if (names_add(build->node_names, name) != cluster->node_count)
        return false;
    struct node_pool *pool = &build->pools[cluster->pool_count - 1];
    struct node_type *type = &build->types[pool->type];
    MEM_GROW(build->nodes, build->node_capacity, cluster->node_count + 1u);
    build->nodes[cluster->node_count++] = (struct node){.type = pool->type,
                                                        .pool = cluster->pool_count - 1,
                                                        .first_gpu = cluster->gpu_count,
                                                        .name = arena_copy(&cluster->arena, name)};
    pool->node_count++;
    type->node_count++;
    cluster->gpu_count += type->gpu_count;
    cluster->cpu_milli += type->cpu_milli;
    cluster->memory_mib += type->memory_mib;
    return true;
}

struct fabric fabric_default(void)
{
    return (struct fabric){.nodes_per_unit = FABRIC_NODES_PER_UNIT,
                           .rail_bytes_per_s = transports[0].nic_bytes_per_s,
                           .leaf_oversubscription = 1,
                           .spine_oversubscription = 1,
                           .nvlink_ratio = 1};
}

static uint32_t switches_for(double cables, unsigned ports)
{
    return (uint32_t)ceil(cables / ports);
}

/* Reproduces all four rows (4, 8, 16, 32 units) of DGX H100 SuperPOD RA-11333, table 3.  With up to 64 leaves there are
 * no cores, and all ports of a spine go to leaves; with more leaves half of them go to cores. */
void fabric_derive_switches(struct fabric *fabric)
{
    const uint32_t half = FABRIC_SWITCH_PORTS / 2;
    double down = (double)fabric->unit_count * fabric->nodes_per_unit * fabric->rails;
    double up = down / fabric->leaf_oversubscription;
    fabric->leaves = fabric->unit_count * fabric->rails * ((fabric->nodes_per_unit + half - 1) / half);
    const bool has_cores = fabric->leaves > FABRIC_SWITCH_PORTS;
    fabric->spines = fabric->leaves == 1 ? 0 : switches_for(up, has_cores ? half : FABRIC_SWITCH_PORTS);
    fabric->cores = has_cores ? switches_for(up / fabric->spine_oversubscription, FABRIC_SWITCH_PORTS) : 0;
}

/* One rail per NIC of the node with the most NICs; a node without a number of NICs has one per GPU. */
static uint32_t derive_rails(const struct cluster_build *build)
{
    uint32_t rails = 1;
    for (uint32_t i = 0; i < build->cluster->pool_count; i++) {
        const struct node_pool *pool = &build->pools[i];
        uint32_t nics = pool->nic_count != 0 ? pool->nic_count : build->types[pool->type].gpu_count;
        if (nics > rails)
            rails = nics;
    }
    return rails;
}

/* Once the rails are known, set the NICs of pools without a number, and the rail of each GPU. */
static void lay_rails(struct cluster_build *build, uint32_t rails)
{
    for (uint32_t i = 0; i < build->cluster->pool_count; i++) {
        struct node_pool *pool = &build->pools[i];
        unsigned gpus = build->types[pool->type].gpu_count;
        if (pool->nic_count == 0)
            pool->nic_count = (uint8_t)rails;
        for (unsigned gpu = 0; gpu < NODE_GPUS_MAX; gpu++) {
            unsigned nic = pool->gpu_rail[gpu];
            if (nic == NIC_BY_INDEX)
                nic = gpu < gpus ? gpu * pool->nic_count / gpus : 0;
            pool->gpu_rail[gpu] = (uint8_t)(nic % rails);
        }
    }
}

static uint32_t number_units(struct cluster_build *build, uint32_t nodes_per_unit)
{
    uint32_t unit = 0, filled = 0;
    for (uint32_t i = 0; i < build->cluster->node_count; i++) {
        struct node *node = &build->nodes[i];
        bool begins_pool = i > 0 && node->pool != build->nodes[i - 1].pool;
        if (filled == nodes_per_unit || (begins_pool && !build->units_span_pools)) {
            unit++;
            filled = 0;
        }
        node->unit = unit;
        filled++;
    }
    return unit + 1;
}

/* NVLink domains are runs of nodes within a pool. */
static void number_nvlink(struct cluster_build *build)
{
    uint32_t nvlink = UINT32_MAX;
    for (uint32_t i = 0; i < build->cluster->node_count; i++) {
        struct node *node = &build->nodes[i];
        const struct node_pool *pool = &build->pools[node->pool];
        nvlink += (i - pool->first) % pool->nvlink_nodes == 0;
        node->nvlink = nvlink;
    }
}

/* ---- levels ---- */

static const char *label_of(const struct cluster *cluster, node_id node, const char *key)
{
    const struct node_type *type = cluster_node_type(cluster, node);
    for (uint32_t i = 0; i < type->label_count; i++)
        if (strcmp(type->labels[i].key, key) == 0)
            return type->labels[i].value;
    return NULL;
}

enum level_kind { LEVEL_NODE, LEVEL_UNIT, LEVEL_NVLINK, LEVEL_LABEL };

static enum level_kind kind_of_level(const char *name)
{
    return strcmp(name, "node") == 0     ? LEVEL_NODE
           : strcmp(name, "unit") == 0   ? LEVEL_UNIT
           : strcmp(name, "nvlink") == 0 ? LEVEL_NVLINK
                                         : LEVEL_LABEL;
}

/* The text that distinguishes the node's domain from its siblings; false: it is in no domain. */
static bool put_place(const struct cluster *cluster, const char *level, node_id node, struct buffer *out)
{
    if (kind_of_level(level) == LEVEL_UNIT) {
        buffer_int(out, cluster->nodes[node].unit);
        return true;
    }
    if (kind_of_level(level) == LEVEL_NVLINK) {
        buffer_int(out, cluster->nodes[node].nvlink);
        return !cluster_is_split(cluster, node);
    }
    const char *value = label_of(cluster, node, level);
    if (value != NULL)
        buffer_string(out, value);
    return value != NULL;
}

/* Nodes of a unit, or of a type, follow each other. */
static bool is_as_before(const struct cluster *cluster, enum level_kind kind, const uint32_t *around, node_id node)
{
    const struct node *at = &cluster->nodes[node];
    return node > 0 && (around == NULL || around[node] == around[node - 1]) &&
           (kind == LEVEL_UNIT     ? at->unit == at[-1].unit
            : kind == LEVEL_NVLINK ? at->nvlink == at[-1].nvlink
                                   : at->type == at[-1].type);
}

/* Number the domains of a level inside those of the level around it. */
static void number_domains(const struct cluster *cluster, struct cluster_level *level, const uint32_t *around,
                           uint32_t *domain)
{
    enum level_kind kind = kind_of_level(level->name);
    struct names *names = names_new();
    struct buffer key = {0};
    for (node_id n = 0; n < cluster->node_count; n++) {
        domain[n] = DOMAIN_NONE;
        if (around != NULL && around[n] == DOMAIN_NONE)
            continue;
        if (kind == LEVEL_NODE) {
            domain[n] = level->domain_count++;
            continue;
        }
        if (is_as_before(cluster, kind, around, n)) {
            domain[n] = domain[n - 1];
            continue;
        }
        key.length = 0;
        buffer_int(&key, around != NULL ? around[n] : 0);
        buffer_char(&key, '/');
        if (put_place(cluster, level->name, n, &key))
            domain[n] = names_add(names, (struct text){key.bytes, key.length});
        level->domain_count = names_count(names);
    }
    names_free(names);
    buffer_release(&key);
}

static void lay_level(struct cluster *cluster, struct cluster_level *level, const uint32_t *around)
{
    struct arena *arena = &cluster->arena;
    uint32_t *domain = arena_alloc_array(arena, cluster->node_count, uint32_t);
    number_domains(cluster, level, around, domain);
    node_id *first = arena_alloc_array(arena, level->domain_count, node_id);
    node_id *last = arena_alloc_array(arena, level->domain_count, node_id);
    for (node_id n = cluster->node_count; n-- > 0;)
        if (domain[n] != DOMAIN_NONE)
            first[domain[n]] = n;
    for (node_id n = 0; n < cluster->node_count; n++)
        if (domain[n] != DOMAIN_NONE)
            last[domain[n]] = n;
    level->domain = domain;
    level->first = first;
    level->last = last;
}

static void lay_levels(struct cluster *cluster, const struct cluster_build *build)
{
    static const char *const usual[] = {"unit", "node"};
    const char *const *names = build->has_levels ? build->levels : usual;
    cluster->level_count = build->has_levels ? build->level_count : 2;
    cluster->levels = arena_alloc_array(&cluster->arena, cluster->level_count, struct cluster_level);
    for (uint32_t i = 0; i < cluster->level_count; i++) {
        struct cluster_level *level = &cluster->levels[i];
        level->name = arena_copy(&cluster->arena, text_of(names[i]));
        lay_level(cluster, level, i > 0 ? level[-1].domain : NULL);
    }
}

static void *move_to_arena(struct arena *arena, const void *array, size_t count, size_t size)
{
    void *copy = arena_alloc_many(arena, count, size);
    memcpy(copy, array, count * size);
    return copy;
}

struct cluster *cluster_build_finish(struct cluster_build *build, const struct fabric *fabric)
{
    struct cluster *cluster = build->cluster;
    assert(cluster->node_count > 0);
    if (cluster->model_count == 0)
        cluster_build_model(build, gpu_model_find(TEXT("generic")));
    cluster->fabric = *fabric;
    if (cluster->fabric.rails == 0)
        cluster->fabric.rails = derive_rails(build);
    lay_rails(build, cluster->fabric.rails);
    cluster->fabric.unit_count = number_units(build, cluster->fabric.nodes_per_unit);
    number_nvlink(build);
    fabric_derive_switches(&cluster->fabric);
    struct arena *arena = &cluster->arena;
    cluster->transport = build->transport;
    cluster->transport.name = arena_copy(arena, text_of(build->transport.name));
    cluster->transport.source = arena_copy(arena, text_of(build->transport.source));
    cluster->types = move_to_arena(arena, build->types, cluster->type_count, sizeof *build->types);
    cluster->pools = move_to_arena(arena, build->pools, cluster->pool_count, sizeof *build->pools);
    cluster->nodes = move_to_arena(arena, build->nodes, cluster->node_count, sizeof *build->nodes);
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        cluster->has_split_nodes |= cluster->types[t].island_gpus < cluster->types[t].gpu_count;
        cluster->has_taints |= cluster->types[t].is_tainted;
    }
    lay_levels(cluster, build);
    build->cluster = NULL;
    return cluster;
}

struct cluster *cluster_uniform_new(uint32_t node_count, uint16_t gpus)
{
    assert(node_count >= 1 && node_count <= CLUSTER_NODES_MAX && gpus <= NODE_GPUS_MAX);
    struct cluster_build build;
    cluster_build_init(&build, TEXT("uniform"));
    uint8_t model = cluster_build_model(&build, gpu_model_find(TEXT("generic")));
    struct pool_spec spec = {.name = TEXT("pool"),
                             .type = {.gpu_count = gpus,
                                      .model = model,
                                      .cpu_milli = CLUSTER_AMPLE_CPU_MILLI,
                                      .memory_mib = CLUSTER_AMPLE_MEMORY_MIB},
                             .numa_count = 1};
    cluster_build_pool(&build, &spec);
    for (uint32_t i = 0; i < node_count; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "n%u", i);
        bool is_new = cluster_build_node(&build, (struct text){name, (size_t)length});
        assert(is_new);
        (void)is_new;
    }
    struct fabric fabric = fabric_default();
    struct cluster *cluster = cluster_build_finish(&build, &fabric);
    cluster_build_release(&build);
    return cluster;
}
