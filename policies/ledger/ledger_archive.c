/* Saves and loads the ledger.  No trial is open, so there is no log.  The node index is made again from the cells and
 * the states of nodes. */
#include <assert.h>

#include "policies/ledger/ledger_inside.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/util/archive.h"

static void archive_keep(struct archive *archive, struct gpu_keep *keep)
{
    ARCHIVE_KNOWS(struct gpu_keep, 16);
    ARCHIVE(archive, keep->keeper);
    ARCHIVE(archive, keep->holder);
    ARCHIVE(archive, keep->non_preemptible_holders);
    ARCHIVE(archive, keep->non_preemptible_milli);
    ARCHIVE(archive, keep->level);
}

/* Make non_preemptible_mask again from the loaded keeps. */
static void find_firm(struct ledger *ledger)
{
    ledger->cells = NULL;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[n].first_gpu];
        ledger->non_preemptible_mask[n] = 0;
        for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, n); i++)
            ledger->non_preemptible_mask[n] |= (uint16_t)((unsigned)(keeps[i].non_preemptible_holders > 0) << i);
    }
}

/* Take all nodes of a new ledger out of the index. */
static void unlist_all(struct ledger *ledger)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        ledger_set_node(ledger, n, NODE_ABSENT);
}

/* The cells are loaded: put the nodes into the index. */
static void list_all(struct ledger *ledger)
{
    const node_id *grown;
    ledger->not_up_milli = 0;
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        ledger->not_up_milli += ledger->node_state[n] != NODE_UP ? ledger_node_taken(ledger, n) : 0;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        enum node_state state = (enum node_state)ledger->node_state[n];
        const bool is_kept = ledger->is_kept[n] != 0;
        ledger->is_kept[n] = 0;
        ledger_set_node(ledger, n, NODE_UP); /* the index knows the free GPUs of all nodes, also of those not up */
        if (state != NODE_UP)
            ledger_set_node(ledger, n, state);
        if (is_kept)
            ledger_keep_node(ledger, n, true);
    }
    ledger_take_grown(ledger, &grown);
}

/* The cells from which the index is made. */
static void expect_cells(struct archive *archive, const struct ledger *ledger)
{
    for (gpu_id g = 0; g < ledger->cluster->gpu_count; g++)
        archive_expect(archive, ledger->gpus[g].free <= GPU_MILLI && ledger->gpus[g].coming <= GPU_MILLI &&
                                    ledger->gpus[g].claimed <= GPU_MILLI);
    if (ledger->migs == NULL)
        return;
    for (gpu_id g = 0; g < ledger->cluster->gpu_count; g++) {
        const struct mig_cell *mig = &ledger->migs[g];
        archive_expect(archive, ((mig->free | mig->coming | mig->claimed) & ~gpu_layout_all(&ledger->layouts[g])) == 0);
    }
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const bool has_mig = ledger->cluster->models[cluster_node_type(ledger->cluster, n)->model].mig != MIG_NONE;
        archive_expect(archive, ledger->layout_mask[n] >> cluster_node_gpus(ledger->cluster, n) == 0 &&
                                    (has_mig || ledger->layout_mask[n] == 0));
    }
}

static void archive_grown(struct archive *archive, struct ledger *ledger)
{
    ARCHIVE(archive, ledger->grown_count);
    archive_expect(archive, ledger->grown_count <= ledger->cluster->node_count);
    if (archive->is_broken)
        ledger->grown_count = 0;
    archive_bytes(archive, ledger->grown, ledger->grown_count * sizeof *ledger->grown);
    for (uint32_t i = 0; i < ledger->grown_count; i++) {
        archive_expect(archive, ledger->grown[i] < ledger->cluster->node_count);
        if (!archive->is_broken)
            ledger->is_grown[ledger->grown[i]] = 1;
    }
}

void ledger_archive(struct archive *archive, struct ledger *ledger)
{
    const uint32_t gpus = ledger->cluster->gpu_count, nodes = ledger->cluster->node_count;
    ARCHIVE_KNOWS(struct ledger, 424);
    ARCHIVE_KNOWS(struct gpu_cell, 4 * 2);
    ARCHIVE_KNOWS(struct mig_cell, 4);
    ARCHIVE_KNOWS(struct gpu_layout, MIG_SLICES);
    ARCHIVE_KNOWS(struct node_cell, 9 * 4);
    assert(ledger->mark_depth == 0 && ledger->log_count == 0);
    if (archive_is_reading(archive))
        unlist_all(ledger);
    ARCHIVE(archive, ledger->are_cells_placed);
    archive_bytes(archive, ledger->gpus, gpus * sizeof *ledger->gpus);
    if (ledger->migs != NULL) {
        archive_bytes(archive, ledger->migs, gpus * sizeof *ledger->migs);
        archive_bytes(archive, ledger->layouts, gpus * sizeof *ledger->layouts);
        archive_bytes(archive, ledger->layout_mask, nodes * sizeof *ledger->layout_mask);
        for (gpu_id g = 0; g < gpus; g++)
            archive_expect(archive, mig_layout_is_legal(&ledger->layouts[g]));
    }
    ARCHIVE_KNOWS(struct share_cell, 24);
    if (ledger->shares != NULL)
        archive_bytes(archive, ledger->shares, gpus * sizeof *ledger->shares);
    if (ledger->node_shares != NULL)
        archive_bytes(archive, ledger->node_shares, nodes * sizeof *ledger->node_shares);
    bool has_excess = ledger->excess != NULL;
    ARCHIVE(archive, has_excess);
    ARCHIVE_KNOWS(struct gpu_excess, 8);
    if (has_excess && ledger->excess == NULL)
        ledger->excess = arena_alloc_array(&ledger->arena, gpus + 1, struct gpu_excess);
    if (has_excess)
        archive_bytes(archive, ledger->excess, gpus * sizeof *ledger->excess);
    archive_bytes(archive, ledger->node_state, nodes);
    archive_bytes(archive, ledger->is_kept, nodes);
    for (node_id n = 0; n < nodes; n++)
        archive_expect(archive, ledger->is_kept[n] <= 1 && ledger->node_state[n] <= NODE_ABSENT);
    expect_cells(archive, ledger);
    if (archive_is_reading(archive) && archive->is_broken)
        return; /* no index can be made of it */
    if (archive_is_reading(archive))
        list_all(ledger);
    archive_bytes(archive, ledger->owner, gpus * sizeof *ledger->owner);
    archive_bytes(archive, ledger->nodes, nodes * sizeof *ledger->nodes);
    for (gpu_id g = 0; g < gpus; g++)
        archive_keep(archive, &ledger->keeps[g]);
    if (archive_is_reading(archive))
        find_firm(ledger);
    archive_bytes(archive, ledger->node_version, nodes * sizeof *ledger->node_version);
    size_t capacity = ledger->queue_capacity;
    ARCHIVE_ARRAY(archive, ledger->sums, capacity, ledger->queue_count);
    const uint32_t queue_count = ledger->queue_count;
    ARCHIVE_ARRAY(archive, ledger->parent, ledger->queue_capacity, ledger->queue_count);
    archive_expect(archive, ledger->queue_count == queue_count);
    ARCHIVE(archive, ledger->used_milli);
    ARCHIVE(archive, ledger->coming_milli);
    ARCHIVE(archive, ledger->claimed_milli);
    archive_grown(archive, ledger);
    ARCHIVE(archive, ledger->growth_count);
    ledger_tags_archive(archive, ledger);
}
