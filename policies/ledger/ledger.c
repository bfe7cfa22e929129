#include "policies/ledger/ledger_inside.h"

#include <assert.h>
#include <string.h>

static uint32_t *node_words(struct ledger *ledger, node_id node)
{
    return (uint32_t *)&ledger->nodes[node];
}

size_t ledger_mark(struct ledger *ledger)
{
    ledger->mark_depth++;
    return ledger->log_count;
}

/* Inlined where the direction is a constant: plain jobs cause mostly these changes. */
#define DIRECTED static inline __attribute__((always_inline))

DIRECTED void set_whole(struct ledger *ledger, node_id node, uint16_t gpu_mask, uint32_t owner, bool is_take)
{
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    struct gpu_cell *const gpus = &ledger->gpus[first];
    uint32_t *const owners = &ledger->owner[first];
    uint32_t count = 0;
    for (uint32_t mask = gpu_mask; mask != 0; mask &= mask - 1, count++) {
        const size_t g = (size_t)__builtin_ctz(mask);
        assert(gpus[g].free == (is_take ? GPU_MILLI : 0));
        assert((gpus[g].coming | gpus[g].claimed) == 0);
        assert(owners[g] == (is_take ? OWNER_NONE : owner));
        gpus[g].free = is_take ? 0 : GPU_MILLI;
        gpus[g].holders = (uint16_t)(gpus[g].holders + (is_take ? 1 : -1));
        owners[g] = is_take ? owner : OWNER_NONE;
    }
    node_index_change_whole(ledger->index, node, gpu_mask, count, !is_take);
    ledger->used_milli += (is_take ? 1 : -1) * (int64_t)count * GPU_MILLI;
    count_free(ledger, node, (is_take ? -1 : 1) * (int64_t)count * GPU_MILLI);
}

static void undo(struct ledger *ledger, const struct ledger_entry *entry)
{
    uint32_t element = entry->table_index & ((1u << LEDGER_TABLE_SHIFT) - 1);
    switch ((enum table)(entry->table_index >> LEDGER_TABLE_SHIFT)) {
    case TABLE_GPU: {
        uint16_t before = ledger->gpus[element].free;
        memcpy(&ledger->gpus[element], &entry->old, sizeof entry->old);
        node_id node = entry->word;
        node_index_change(ledger->index, node, element - ledger->cluster->nodes[node].first_gpu, before,
                          ledger->gpus[element].free);
        count_free(ledger, node, (int64_t)ledger->gpus[element].free - before);
        ledger_note_change(ledger, node);
        break;
    }
    case TABLE_WHOLE:
        set_whole(ledger, element, (uint16_t)entry->word, (uint32_t)entry->old, entry->word >> TAKE_SHIFT == 0);
        ledger_note_change(ledger, element);
        break;
    case TABLE_OWNER:
        ledger->owner[element] = (uint32_t)entry->old;
        break;
    case TABLE_NODE:
        node_words(ledger, element)[entry->word] = (uint32_t)entry->old;
        break;
    case TABLE_SUM:
        ledger->sums[element][entry->word] = (int64_t)entry->old;
        break;
    case TABLE_TOTAL:
        *total_of(ledger, entry->word) = (int64_t)entry->old;
        break;
    case TABLE_MIG:
        ledger_undo_mig(ledger, element, entry);
        break;
    case TABLE_CUT:
        ledger_undo_cut(ledger, element);
        break;
    case TABLE_SHARE:
    case TABLE_NODE_SHARE:
        ledger_undo_share(ledger, entry);
        break;
    case TABLE_TAG:
        ledger_undo_tag(ledger, element, entry);
        break;
    case TABLE_EXCESS:
        ledger_undo_excess(ledger, element, entry->old);
        break;
    }
}

void ledger_rollback(struct ledger *ledger, size_t mark)
{
    assert(ledger->mark_depth > 0 && mark <= ledger->log_count);
    while (ledger->log_count > mark)
        undo(ledger, &ledger->log[--ledger->log_count]);
    ledger->mark_depth--;
    if (ledger->tags != NULL && ledger->mark_depth == 0)
        ledger_tags_settle(ledger, true);
}

void ledger_commit(struct ledger *ledger, size_t mark)
{
    assert(ledger->mark_depth > 0 && mark <= ledger->log_count);
    (void)mark;
    if (--ledger->mark_depth == 0)
        ledger->log_count = ledger->cut_count = 0;
    if (ledger->tags != NULL && ledger->mark_depth == 0)
        ledger_tags_settle(ledger, false);
}

static void set_gpu(struct ledger *ledger, node_id node, uint32_t gpu_index, struct gpu_cell after)
{
    gpu_id gpu = ledger->cluster->nodes[node].first_gpu + gpu_index;
    struct gpu_cell *cell = &ledger->gpus[gpu];
    assert(after.free + after.coming + after.claimed <= GPU_MILLI);
    log_word(ledger, TABLE_GPU, gpu, node, gpu_word(cell));
    node_index_change(ledger->index, node, gpu_index, cell->free, after.free);
    count_free(ledger, node, (int64_t)after.free - cell->free);
    *cell = after;
}

static void set_owner(struct ledger *ledger, gpu_id gpu, uint32_t owner)
{
    log_word(ledger, TABLE_OWNER, gpu, 0, ledger->owner[gpu]);
    ledger->owner[gpu] = owner;
}

static void set_node_word(struct ledger *ledger, node_id node, uint32_t word, uint32_t value)
{
    uint32_t *words = node_words(ledger, node);
    if (words[word] == value)
        return;
    log_word(ledger, TABLE_NODE, node, word, words[word]);
    words[word] = value;
}

struct split { /* free, coming, claimed of one resource of one GPU or node */
    uint32_t free, coming, claimed;
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static struct split moved(struct split s, enum move move, uint32_t amount)
{
    uint32_t part;
    switch (move) {
    case MOVE_TAKE:
        assert(s.free >= amount);
        s.free -= amount;
        break;
    case MOVE_GIVE:
        s.free += amount;
        break;
    case MOVE_VACATE:
        s.coming += amount;
        break;
    case MOVE_RESTORE: /* takes what is coming first, then what is claimed */
        part = smaller(s.coming, amount);
        s.coming -= part;
        s.claimed -= amount - part;
        break;
    case MOVE_ARRIVE: /* claims first: what was claimed is used by the claimant */
        part = smaller(s.claimed, amount);
        s.claimed -= part;
        s.coming -= amount - part;
        s.free += amount - part;
        break;
    case MOVE_CLAIM:
        part = smaller(s.free, amount);
        assert(s.coming >= amount - part);
        s.free -= part;
        s.coming -= amount - part;
        s.claimed += amount - part;
        break;
    case MOVE_UNCLAIM:
        part = smaller(s.claimed, amount);
        s.claimed -= part;
        s.coming += part;
        s.free += amount - part;
        break;
    }
    return s;
}

static int holders_delta(enum move move)
{
    switch (move) {
    case MOVE_TAKE:
    case MOVE_CLAIM:
        return 1;
    case MOVE_GIVE:
    case MOVE_ARRIVE:
    case MOVE_UNCLAIM:
        return -1;
    default:
        return 0;
    }
}

static void add_totals(struct ledger *ledger, const struct split *before, const struct split *after)
{
    int64_t coming = (int64_t)after->coming - before->coming;
    int64_t claimed = (int64_t)after->claimed - before->claimed;
    add_total(ledger, TOTAL_COMING, coming);
    add_total(ledger, TOTAL_CLAIMED, claimed);
    add_total(ledger, TOTAL_USED, (int64_t)before->free - after->free - coming - claimed);
}

static uint8_t with_bit(uint8_t bits, uint8_t bit, bool is_set)
{
    return (uint8_t)(is_set ? bits | bit : bits & ~bit);
}

/* An instance moves as a whole. */
static __attribute__((noinline)) void move_mig(struct ledger *ledger, const struct space *space, enum move move)
{
    gpu_id gpu = ledger->cluster->nodes[space->node].first_gpu + (uint32_t)__builtin_ctz(space->gpu_mask);
    struct mig_cell mig = ledger->migs[gpu];
    struct gpu_cell cell = ledger->gpus[gpu];
    uint8_t bit = (uint8_t)(1u << space->mig_start);
    uint32_t milli = space->gpu_milli;
    struct split before = {mig.free & bit ? milli : 0, mig.coming & bit ? milli : 0, mig.claimed & bit ? milli : 0};
    struct split after = moved(before, move, milli);
    assert(after.free + after.coming + after.claimed <= milli);
    mig.free = with_bit(mig.free, bit, after.free != 0);
    mig.coming = with_bit(mig.coming, bit, after.coming != 0);
    mig.claimed = with_bit(mig.claimed, bit, after.claimed != 0);
    cell.free = (uint16_t)(cell.free + after.free - before.free);
    cell.coming = (uint16_t)(cell.coming + after.coming - before.coming);
    cell.claimed = (uint16_t)(cell.claimed + after.claimed - before.claimed);
    cell.holders = (uint16_t)(cell.holders + holders_delta(move));
    ledger_set_mig(ledger, gpu, mig, cell);
    add_totals(ledger, &before, &after);
}

static __attribute__((noinline)) void move_gpu(struct ledger *ledger, const struct space *space, uint32_t gpu_index,
                                               enum move move)
{
    gpu_id gpu = ledger->cluster->nodes[space->node].first_gpu + gpu_index;
    struct gpu_cell cell = ledger->gpus[gpu];
    struct split before = {cell.free, cell.coming, cell.claimed};
    struct split after = moved(before, move, space->gpu_milli);
    cell.free = (uint16_t)after.free;
    cell.coming = (uint16_t)after.coming;
    cell.claimed = (uint16_t)after.claimed;
    cell.holders = (uint16_t)(cell.holders + holders_delta(move));
    set_gpu(ledger, space->node, gpu_index, cell);
    add_totals(ledger, &before, &after);
    if (space->gpu_milli != GPU_MILLI)
        return;
    if (move == MOVE_TAKE || move == MOVE_CLAIM || move == MOVE_RESTORE) { /* restore: a claim may have been on it */
        assert(move != MOVE_TAKE || ledger->owner[gpu] == OWNER_NONE);
        set_owner(ledger, gpu, space->owner);
    } else if ((move == MOVE_GIVE || move == MOVE_UNCLAIM ||
                /* not if the job itself has claimed what it left */
                (move == MOVE_ARRIVE && !(cell.free == 0 && cell.holders == 1))) &&
               ledger->owner[gpu] == space->owner) {
        set_owner(ledger, gpu, OWNER_NONE);
    }
}

/* The common case: whole GPUs, free -> used or back.  Does what move_gpu does for each, with one log entry. */
DIRECTED void move_whole(struct ledger *ledger, const struct space *space, bool is_take)
{
    log_word(ledger, TABLE_WHOLE, space->node, space->gpu_mask | (uint32_t)is_take << TAKE_SHIFT, space->owner);
    set_whole(ledger, space->node, space->gpu_mask, space->owner, is_take);
}

enum node_resource { NODE_CPU, NODE_MEMORY, NODE_TASKS, NODE_RESOURCES }; /* of struct node_cell */

DIRECTED void move_node(struct ledger *ledger, node_id node, enum node_resource resource, uint32_t amount,
                        enum move move)
{
    if (amount == 0)
        return;
    uint32_t *words = node_words(ledger, node);
    struct split after =
        moved((struct split){words[resource], words[NODE_RESOURCES + resource], words[2 * NODE_RESOURCES + resource]},
              move, amount);
    set_node_word(ledger, node, resource, after.free);
    set_node_word(ledger, node, NODE_RESOURCES + resource, after.coming);
    set_node_word(ledger, node, 2 * NODE_RESOURCES + resource, after.claimed);
}

DIRECTED void move_space(struct ledger *ledger, const struct space *space, enum move move)
{
    if (space->mig != 0)
        move_mig(ledger, space, move);
    else if (space->gpu_milli == GPU_MILLI && (move == MOVE_TAKE || move == MOVE_GIVE))
        move_whole(ledger, space, move == MOVE_TAKE);
    else
        for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1)
            move_gpu(ledger, space, (uint32_t)__builtin_ctz(mask), move);
    move_node(ledger, space->node, NODE_CPU, space->cpu_milli, move);
    move_node(ledger, space->node, NODE_MEMORY, space->memory_mib, move);
    if (ledger->limits_tasks)
        move_node(ledger, space->node, NODE_TASKS, space->member_count, move);
    if (__builtin_expect(ledger->shares != NULL, false))
        ledger_move_share(ledger, space, move);
    if (__builtin_expect(space->gpu_memory_mib != 0, false) && space->gpu_mask != 0)
        ledger_move_excess(ledger, space, move);
    if (__builtin_expect(space->tags != NULL, false))
        ledger_move_tags(ledger, space, move);
    ledger_note_change(ledger, space->node);
    if (move == MOVE_GIVE || move == MOVE_ARRIVE || move == MOVE_UNCLAIM)
        ledger_note_growth(ledger, space->node);
}

void ledger_take(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_TAKE);
}

void ledger_give(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_GIVE);
}

void ledger_vacate(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_VACATE);
}

void ledger_restore(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_RESTORE);
}

void ledger_arrive(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_ARRIVE);
}

void ledger_claim(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_CLAIM);
}

void ledger_unclaim(struct ledger *ledger, const struct space *space)
{
    move_space(ledger, space, MOVE_UNCLAIM);
}

bool ledger_is_there(const struct ledger *ledger, const struct space *space)
{
    gpu_id first = ledger->cluster->nodes[space->node].first_gpu;
    for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1) {
        gpu_id gpu = first + (uint32_t)__builtin_ctz(mask);
        if (space->mig != 0 ? ledger->migs[gpu].claimed >> space->mig_start & 1 : ledger->gpus[gpu].claimed != 0)
            return false;
    }
    if (ledger->shares != NULL && !ledger_is_alone(ledger, space))
        return false;
    const struct node_cell *cell = &ledger->nodes[space->node];
    return cell->cpu_claimed == 0 && cell->memory_claimed == 0 && cell->tasks_claimed == 0;
}

static bool is_coming_on(struct ledger *ledger, node_id node)
{
    const uint32_t *words = node_words(ledger, node) + NODE_RESOURCES;
    const struct gpu_cell *cells = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    uint32_t coming = 0;
    for (uint32_t w = 0; w < NODE_RESOURCES; w++)
        coming |= words[w];
    if (coming != 0 || ledger->coming_milli == 0)
        return coming != 0;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        coming |= cells[i].coming;
    return coming != 0;
}

/* All that is coming on this node becomes free.  The first log entry is for no GPU.  It is undone last, and so notes a
 * change of the node even if no GPU was coming. */
static void foresee_node(struct ledger *ledger, node_id node)
{
    gpu_id first = ledger->cluster->nodes[node].first_gpu;
    log_word(ledger, TABLE_WHOLE, node, 0, OWNER_NONE);
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++) {
        struct gpu_cell cell = ledger->gpus[first + i];
        if (cell.coming == 0)
            continue;
        add_total(ledger, TOTAL_COMING, -(int64_t)cell.coming);
        cell.free = (uint16_t)(cell.free + cell.coming);
        cell.coming = 0;
        if (cell.free == GPU_MILLI && ledger->owner[first + i] != OWNER_NONE)
            set_owner(ledger, first + i, OWNER_NONE);
        if (ledger_has_layout(ledger, node, i)) {
            struct mig_cell mig = ledger->migs[first + i];
            mig.free |= mig.coming;
            mig.coming = 0;
            ledger_set_mig(ledger, first + i, mig, cell);
        } else {
            set_gpu(ledger, node, i, cell);
        }
    }
    uint32_t *words = node_words(ledger, node);
    for (uint32_t w = 0; w < NODE_RESOURCES; w++) {
        set_node_word(ledger, node, w, words[w] + words[NODE_RESOURCES + w]);
        set_node_word(ledger, node, NODE_RESOURCES + w, 0);
    }
    if (ledger->shares != NULL)
        ledger_foresee_shares(ledger, node);
    if (ledger->excess != NULL)
        ledger_foresee_excess(ledger, node);
    ledger_note_change(ledger, node);
}

bool ledger_foresee(struct ledger *ledger)
{
    bool has_any = false;
    assert(ledger->mark_depth > 0);
    for (node_id node = 0; node < ledger->cluster->node_count; node++)
        if (ledger_is_open(ledger, node) && is_coming_on(ledger, node)) {
            foresee_node(ledger, node);
            has_any = true;
        }
    return has_any;
}

static void add_sums(int64_t *restrict sums, const int64_t *restrict amounts)
{
    for (uint32_t r = 0; r < QUEUE_SUM_COUNT; r++)
        sums[r] += amounts[r];
}

void ledger_charge(struct ledger *ledger, queue_id queue, const int64_t amounts[QUEUE_SUM_COUNT])
{
    if (ledger->mark_depth == 0) { /* no trial: nothing to log */
        for (queue_id q = queue; q != QUEUE_NONE; q = ledger->parent[q])
            add_sums(ledger->sums[q], amounts);
        return;
    }
    for (queue_id q = queue; q != QUEUE_NONE; q = ledger->parent[q])
        for (uint32_t r = 0; r < QUEUE_SUM_COUNT; r++) {
            if (amounts[r] == 0)
                continue;
            log_word(ledger, TABLE_SUM, q, r, (uint64_t)ledger->sums[q][r]);
            ledger->sums[q][r] += amounts[r];
        }
}

void ledger_note_non_preemptible(struct ledger *ledger, const struct piece *piece, queue_id queue, int sign)
{
    struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[piece->node].first_gpu];
    uint16_t now = ledger->non_preemptible_mask[piece->node];
    assert(ledger->mark_depth == 0);
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        struct gpu_keep *keep = &keeps[__builtin_ctz(mask)];
        keep->non_preemptible_holders = (uint16_t)(keep->non_preemptible_holders + sign);
        keep->non_preemptible_milli = (uint16_t)(keep->non_preemptible_milli + sign * piece->gpu_milli);
        if (sign > 0)
            keep->holder = queue;
        if (keep->non_preemptible_holders > 0)
            now |= (uint16_t)(mask & -mask);
        else
            now &= (uint16_t) ~(mask & -mask);
    }
    ledger->non_preemptible_mask[piece->node] = now;
}

/* Put the node into the index if it takes new work, else take it out. */
static void list_node(struct ledger *ledger, node_id node)
{
    assert(ledger->mark_depth == 0);
    struct gpu_free gpus[NODE_GPUS_MAX];
    gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        gpus[i] = ledger_gpu_free(ledger, first + i);
    ledger_note_change(ledger, node);
    if (ledger_is_open(ledger, node)) {
        node_index_list(ledger->index, node, gpus);
        ledger_note_growth(ledger, node);
    } else {
        node_index_unlist(ledger->index, node, gpus);
    }
}

/* What is not free on the node.  O(GPUs of the node). */
static int64_t ledger_node_taken(const struct ledger *ledger, node_id node)
{
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    int64_t milli = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        milli += GPU_MILLI - gpus[i].free;
    return milli;
}

void ledger_set_node(struct ledger *ledger, node_id node, enum node_state state)
{
    const bool was_up = ledger->node_state[node] == NODE_UP, is_up = state == NODE_UP;
    if (was_up != is_up)
        ledger->not_up_milli += (is_up ? -1 : 1) * ledger_node_taken(ledger, node);
    ledger->node_state[node] = (uint8_t)state;
    list_node(ledger, node);
}

void ledger_keep_node(struct ledger *ledger, node_id node, bool is_kept)
{
    ledger->is_kept[node] = is_kept;
    list_node(ledger, node);
}

uint32_t ledger_take_grown(struct ledger *ledger, const node_id **nodes)
{
    uint32_t count = ledger->grown_count;
    for (uint32_t i = 0; i < count; i++)
        ledger->is_grown[ledger->grown[i]] = 0;
    ledger->grown_count = 0;
    *nodes = ledger->grown;
    return count;
}
