/* policies/ledger/ledger_new.c -- creates a ledger (all free, all nodes up, no queues) and frees it. */
#include <assert.h>

#include "policies/ledger/ledger_tags.h"

static void init_migs(struct ledger *ledger)
{
    const struct cluster *cluster = ledger->cluster;
    bool any = false;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        any |= (cluster->types[t].layout_mask | cluster->types[t].recut_mask) != 0;
    if (!any)
        return;
    ledger->migs = arena_alloc_array(&ledger->arena, cluster->gpu_count, struct mig_cell);
    ledger->layouts = arena_alloc_array(&ledger->arena, cluster->gpu_count, struct gpu_layout);
    ledger->layout_mask = arena_alloc_array(&ledger->arena, cluster->node_count, uint16_t);
    for (node_id n = 0; n < cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(cluster, n);
        ledger->layout_mask[n] = type->layout_mask;
        for (uint32_t i = 0; i < type->gpu_count; i++) {
            const gpu_id gpu = cluster->nodes[n].first_gpu + i;
            if (!(type->layout_mask >> i & 1))
                continue;
            ledger->layouts[gpu] = type->layouts[i];
            ledger->migs[gpu].free = gpu_layout_all(&type->layouts[i]);
        }
    }
}

static void init_nodes(struct ledger *ledger)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(ledger->cluster, n);
        ledger->nodes[n].cpu_free = type->cpu_milli;
        ledger->nodes[n].memory_free = type->memory_mib;
        ledger->nodes[n].tasks_free = type->max_tasks != 0 ? type->max_tasks : UINT32_MAX;
        ledger->limits_tasks |= type->max_tasks != 0;
    }
}

/* Keep about as many changes as there are nodes: a reader that missed more can look at all nodes instead. */
static void init_changes(struct ledger *ledger)
{
    uint32_t count = 1;
    while (count < ledger->cluster->node_count)
        count *= 2;
    ledger->changes = arena_alloc_array(&ledger->arena, count, node_id);
    ledger->change_mask = count - 1;
}

struct ledger *ledger_new(const struct cluster *cluster)
{
    struct ledger *ledger = mem_zalloc(1, sizeof *ledger);
    assert(cluster->gpu_count < 1u << LEDGER_TABLE_SHIFT && cluster->node_count < 1u << LEDGER_TABLE_SHIFT);
    struct arena *arena = &ledger->arena;
    ledger->cluster = cluster;
    ledger->gpus = arena_alloc_array(arena, cluster->gpu_count, struct gpu_cell);
    ledger->owner = arena_alloc_array(arena, cluster->gpu_count, uint32_t);
    ledger->nodes = arena_alloc_array(arena, cluster->node_count, struct node_cell);
    ledger->node_state = arena_alloc_array(arena, cluster->node_count, uint8_t);
    ledger->is_kept = arena_alloc_array(arena, cluster->node_count, uint8_t);
    ledger->node_version = arena_alloc_array(arena, cluster->node_count, uint32_t);
    ledger->grown = arena_alloc_array(arena, cluster->node_count, node_id);
    ledger->is_grown = arena_alloc_array(arena, cluster->node_count, uint8_t);
    ledger->keeps = arena_alloc_array(arena, cluster->gpu_count, struct gpu_keep);
    ledger->non_preemptible_mask = arena_alloc_array(arena, cluster->node_count, uint16_t);
    ledger->keep_mask = arena_alloc_array(arena, cluster->node_count, uint16_t);
    for (gpu_id g = 0; g < cluster->gpu_count; g++) {
        ledger->keeps[g].keeper = QUEUE_NONE;
        ledger->gpus[g].free = GPU_MILLI;
        ledger->owner[g] = OWNER_NONE;
    }
    init_nodes(ledger);
    init_changes(ledger);
    init_migs(ledger);
    ledger->index = node_index_new(cluster);
    return ledger;
}

void ledger_free(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    node_index_free(ledger->index);
    mem_free(ledger->sums);
    mem_free(ledger->parent);
    mem_free(ledger->log);
    mem_free(ledger->cuts);
    ledger_tags_free(ledger);
    arena_release(&ledger->arena);
    mem_free(ledger);
}

void ledger_queues(struct ledger *ledger, const struct queue_table *queues)
{
    size_t capacity = ledger->queue_capacity;
    MEM_GROW(ledger->sums, capacity, queues->count);
    MEM_GROW(ledger->parent, ledger->queue_capacity, queues->count);
    for (queue_id q = ledger->queue_count; q < queues->count; q++)
        ledger->parent[q] = queues->queues[q].parent;
    ledger->queue_count = queues->count;
}
