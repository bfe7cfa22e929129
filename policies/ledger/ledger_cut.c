/* The layouts of GPUs and their changes; see policies/ledger/ledger.h. */
#include <assert.h>

#include "policies/ledger/ledger_inside.h"

static bool is_partitioned(const struct ledger *ledger, gpu_id gpu)
{
    if (ledger->layout_mask == NULL)
        return false;
    const node_id node = ledger->index->gpu_node[gpu];
    return ledger_has_layout(ledger, node, gpu - ledger->cluster->nodes[node].first_gpu);
}

struct gpu_free ledger_gpu_free(const struct ledger *ledger, gpu_id gpu)
{
    if (!is_partitioned(ledger, gpu))
        return (struct gpu_free){.milli = ledger->gpus[gpu].free};
    return (struct gpu_free){ledger->gpus[gpu].free, true, ledger->migs[gpu].free, ledger->layouts[gpu]};
}

static uint32_t mig_word(const struct mig_cell *cell)
{
    uint32_t word;
    static_assert(sizeof *cell == sizeof word, "a cell is logged as one word");
    memcpy(&word, cell, sizeof word);
    return word;
}

/* Set the cells of a partitioned GPU, and its layout unless cut is NULL. */
static void put_mig(struct ledger *ledger, gpu_id gpu, struct mig_cell mig, struct gpu_cell cell,
                    const struct gpu_cut *cut)
{
    const node_id node = ledger->index->gpu_node[gpu];
    const uint32_t gpu_index = gpu - ledger->cluster->nodes[node].first_gpu;
    const struct gpu_free before = ledger_gpu_free(ledger, gpu);
    const int64_t free_milli = (int64_t)cell.free - ledger->gpus[gpu].free;
    ledger->migs[gpu] = mig;
    ledger->gpus[gpu] = cell;
    if (cut != NULL) {
        const uint16_t bit = (uint16_t)(1u << gpu_index);
        ledger->layouts[gpu] = cut->layout;
        ledger->layout_mask[node] =
            (uint16_t)(cut->is_partitioned ? ledger->layout_mask[node] | bit : ledger->layout_mask[node] & ~bit);
    }
    const struct gpu_free after = ledger_gpu_free(ledger, gpu);
    node_index_change_mig(ledger->index, node, gpu_index, &before, &after);
    count_free(ledger, node, free_milli);
}

void ledger_set_mig(struct ledger *ledger, gpu_id gpu, struct mig_cell mig, struct gpu_cell cell)
{
    log_word(ledger, TABLE_MIG, gpu, mig_word(&ledger->migs[gpu]), gpu_word(&ledger->gpus[gpu]));
    put_mig(ledger, gpu, mig, cell, NULL);
}

void ledger_undo_mig(struct ledger *ledger, gpu_id gpu, const struct ledger_entry *entry)
{
    struct mig_cell mig;
    struct gpu_cell cell;
    memcpy(&mig, &entry->word, sizeof mig);
    memcpy(&cell, &entry->old, sizeof cell);
    put_mig(ledger, gpu, mig, cell, NULL);
    ledger_note_change(ledger, ledger->index->gpu_node[gpu]);
}

static void set_cut(struct ledger *ledger, gpu_id gpu, struct mig_cell mig, struct gpu_cell cell,
                    const struct gpu_cut *cut)
{
    if (ledger->mark_depth > 0) {
        MEM_GROW(ledger->cuts, ledger->cut_capacity, (size_t)ledger->cut_count + 1);
        ledger->cuts[ledger->cut_count] =
            (struct cut_undo){ledger_cut_of(ledger, gpu), ledger->migs[gpu], ledger->gpus[gpu]};
        log_word(ledger, TABLE_CUT, gpu, ledger->cut_count++, 0);
    }
    put_mig(ledger, gpu, mig, cell, cut);
    ledger_note_change(ledger, ledger->index->gpu_node[gpu]);
}

void ledger_undo_cut(struct ledger *ledger, gpu_id gpu)
{
    const struct cut_undo *undo = &ledger->cuts[--ledger->cut_count];
    put_mig(ledger, gpu, undo->mig, undo->cell, &undo->cut);
    ledger_note_change(ledger, ledger->index->gpu_node[gpu]);
}

uint8_t ledger_mig_starts(const struct ledger *ledger, node_id node, uint32_t gpu_index, enum mig_profile_id profile)
{
    if (!ledger_has_layout(ledger, node, gpu_index))
        return 0;
    const gpu_id gpu = ledger->cluster->nodes[node].first_gpu + gpu_index;
    return gpu_layout_starts(&ledger->layouts[gpu], ledger->migs[gpu].free, profile);
}

struct gpu_cut ledger_cut_of(const struct ledger *ledger, gpu_id gpu)
{
    struct gpu_cut cut = {.is_partitioned = is_partitioned(ledger, gpu)};
    if (cut.is_partitioned)
        cut.layout = ledger->layouts[gpu];
    return cut;
}

static uint32_t instance_milli(const struct gpu_layout *layout, uint32_t start)
{
    return mig_slices((enum mig_profile_id)(layout->profile[start] - 1)) * MIG_SLICE_MILLI;
}

uint8_t ledger_busy_slices(const struct ledger *ledger, gpu_id gpu)
{
    uint8_t busy = 0;
    if (!is_partitioned(ledger, gpu))
        return ledger->gpus[gpu].free == GPU_MILLI ? 0 : UINT8_MAX;
    const struct gpu_layout *layout = &ledger->layouts[gpu];
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (layout->profile[s] != 0 && !(ledger->migs[gpu].free >> s & 1))
            busy |= mig_mask((enum mig_profile_id)(layout->profile[s] - 1), s);
    return busy;
}

/* How many instances of the profile are in use on the GPU. */
static uint32_t used_instances(const struct ledger *ledger, gpu_id gpu, enum mig_profile_id profile)
{
    uint32_t count = 0;
    for (uint32_t s = 0; is_partitioned(ledger, gpu) && s < MIG_SLICES; s++)
        count += ledger->layouts[gpu].profile[s] == profile + 1 && !(ledger->migs[gpu].free >> s & 1);
    return count;
}

/* The possible places of one profile do not overlap, so they can be counted. */
uint32_t ledger_mig_room(const struct ledger *ledger, gpu_id gpu, enum mig_profile_id profile)
{
    const uint32_t places = bits_count16(mig_fit(ledger_busy_slices(ledger, gpu), profile));
    const uint32_t most = mig_profiles(MIG_H100_80)[profile].max_count; /* the same in every MIG family */
    const uint32_t used = used_instances(ledger, gpu, profile);
    const uint32_t left = used < most ? most - used : 0;
    return places < left ? places : left;
}

/* Apply the cut to the cells: instances that are in `before` and in `cut` stay, the others go, new ones are added. */
static void keep_instances(struct mig_cell *mig, struct gpu_cell *cell, const struct gpu_layout *before,
                           const struct gpu_cut *cut, bool is_made)
{
    for (uint32_t s = 0; s < MIG_SLICES; s++) {
        const uint8_t bit = (uint8_t)(1u << s);
        const bool is_kept = cut->is_partitioned && before->profile[s] == cut->layout.profile[s];
        if (is_kept)
            continue;
        assert(before->profile[s] == 0 || (mig->free & bit));
        mig->free &= (uint8_t)~bit;
        if (!cut->is_partitioned || cut->layout.profile[s] == 0)
            continue;
        if (is_made) {
            mig->free |= bit;
            continue;
        }
        const uint32_t milli = instance_milli(&cut->layout, s);
        mig->coming |= bit;
        mig->making |= bit;
        cell->free = (uint16_t)(cell->free - milli);
        cell->coming = (uint16_t)(cell->coming + milli);
    }
}

uint32_t ledger_making_milli(const struct ledger *ledger, gpu_id gpu)
{
    uint32_t milli = 0;
    if (ledger->migs == NULL || ledger->migs[gpu].making == 0)
        return 0;
    if (!is_partitioned(ledger, gpu))
        return GPU_MILLI;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (ledger->migs[gpu].making >> s & 1)
            milli += instance_milli(&ledger->layouts[gpu], s);
    return milli;
}

void ledger_repartition(struct ledger *ledger, gpu_id gpu, const struct gpu_cut *cut, bool is_made)
{
    static const struct gpu_layout none;
    const bool was_partitioned = is_partitioned(ledger, gpu);
    struct mig_cell mig = ledger->migs[gpu];
    struct gpu_cell cell = ledger->gpus[gpu];
    const uint16_t coming = cell.coming;
    assert(was_partitioned || (cell.free == GPU_MILLI && mig.making == 0));
    assert(cut->is_partitioned || cell.free == GPU_MILLI);
    keep_instances(&mig, &cell, was_partitioned ? &ledger->layouts[gpu] : &none, cut, is_made);
    if (!cut->is_partitioned && was_partitioned && !is_made) {
        mig.making = MIG_MAKES_WHOLE;
        cell.free = 0;
        cell.coming = GPU_MILLI;
    }
    set_cut(ledger, gpu, mig, cell, cut);
    add_total(ledger, TOTAL_COMING, (int64_t)cell.coming - coming);
}

void ledger_made(struct ledger *ledger, gpu_id gpu)
{
    struct mig_cell mig = ledger->migs[gpu];
    struct gpu_cell cell = ledger->gpus[gpu];
    const struct gpu_cut cut = ledger_cut_of(ledger, gpu);
    uint32_t comes = 0, is_used = 0;
    assert(ledger->mark_depth == 0);
    if (!cut.is_partitioned && mig.making != 0) {
        comes = cell.coming;
        is_used = cell.claimed;
    }
    for (uint32_t s = 0; cut.is_partitioned && s < MIG_SLICES; s++)
        if (mig.making >> s & 1) {
            comes += mig.coming >> s & 1 ? instance_milli(&cut.layout, s) : 0;
            is_used += mig.claimed >> s & 1 ? instance_milli(&cut.layout, s) : 0;
        }
    if (cut.is_partitioned) {
        mig.free |= mig.making & mig.coming;
        mig.coming &= (uint8_t)~mig.making;
        mig.claimed &= (uint8_t)~mig.making;
    }
    mig.making = 0;
    cell.free = (uint16_t)(cell.free + comes);
    cell.coming = (uint16_t)(cell.coming - comes);
    cell.claimed = (uint16_t)(cell.claimed - is_used);
    set_cut(ledger, gpu, mig, cell, &cut);
    add_total(ledger, TOTAL_COMING, -(int64_t)comes);
    add_total(ledger, TOTAL_CLAIMED, -(int64_t)is_used);
    add_total(ledger, TOTAL_USED, is_used);
    ledger_note_growth(ledger, ledger->index->gpu_node[gpu]);
}
