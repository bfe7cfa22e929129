#include "policies/ledger.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

/* Which array a log entry restores; the upper bits of table_index. */
enum table { TABLE_GPU, TABLE_OWNER, TABLE_NODE, TABLE_SUM, TABLE_TOTAL };
enum { TABLE_SHIFT = 29 };
enum total { TOTAL_USED, TOTAL_COMING, TOTAL_CLAIMED };

static int64_t *total_of(struct ledger *ledger, uint32_t which)
{
    return which == TOTAL_USED     ? &ledger->used_milli
           : which == TOTAL_COMING ? &ledger->coming_milli
                                   : &ledger->claimed_milli;
}

static void log_word(struct ledger *ledger, enum table table, uint32_t element, uint32_t word,
                     uint64_t old)
{
    if (ledger->mark_depth == 0)
        return;
    if (ledger->log_count == ledger->log_capacity)
        MEM_GROW(ledger->log, ledger->log_capacity, ledger->log_count + 1);
    ledger->log[ledger->log_count++] =
        (struct ledger_entry){((uint32_t)table << TABLE_SHIFT) | element, word, old};
}

static uint64_t gpu_word(const struct gpu_cell *cell)
{
    uint64_t word;
    memcpy(&word, cell, sizeof word);
    return word;
}

static uint32_t *node_words(struct ledger *ledger, node_id node)
{
    return (uint32_t *)&ledger->nodes[node];
}

struct ledger *ledger_new(const struct cluster *cluster)
{
    struct ledger *ledger = mem_zalloc(1, sizeof *ledger);
    assert(cluster->gpu_count < 1u << TABLE_SHIFT && cluster->node_count < 1u << TABLE_SHIFT);
    struct arena *arena = &ledger->arena;
    ledger->cluster = cluster;
    ledger->gpus = arena_alloc_array(arena, cluster->gpu_count, struct gpu_cell);
    ledger->owner = arena_alloc_array(arena, cluster->gpu_count, uint32_t);
    ledger->nodes = arena_alloc_array(arena, cluster->node_count, struct node_cell);
    ledger->node_state = arena_alloc_array(arena, cluster->node_count, uint8_t);
    ledger->node_version = arena_alloc_array(arena, cluster->node_count, uint32_t);
    ledger->grown = arena_alloc_array(arena, cluster->node_count, node_id);
    ledger->is_grown = arena_alloc_array(arena, cluster->node_count, uint8_t);
    for (gpu_id g = 0; g < cluster->gpu_count; g++) {
        ledger->gpus[g].free = GPU_MILLI;
        ledger->owner[g] = OWNER_NONE;
    }
    for (node_id n = 0; n < cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(cluster, n);
        ledger->nodes[n].cpu_free = type->cpu_milli;
        ledger->nodes[n].memory_free = type->memory_mib;
    }
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

size_t ledger_mark(struct ledger *ledger)
{
    ledger->mark_depth++;
    return ledger->log_count;
}

static void undo(struct ledger *ledger, const struct ledger_entry *entry)
{
    uint32_t element = entry->table_index & ((1u << TABLE_SHIFT) - 1);
    switch ((enum table)(entry->table_index >> TABLE_SHIFT)) {
    case TABLE_GPU: {
        uint16_t before = ledger->gpus[element].free;
        memcpy(&ledger->gpus[element], &entry->old, sizeof entry->old);
        node_id node = entry->word;
        node_index_change(ledger->index, node, element - ledger->cluster->nodes[node].first_gpu,
                          before, ledger->gpus[element].free);
        ledger->node_version[node]++;
        break;
    }
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
    }
}

void ledger_rollback(struct ledger *ledger, size_t mark)
{
    assert(ledger->mark_depth > 0 && mark <= ledger->log_count);
    while (ledger->log_count > mark)
        undo(ledger, &ledger->log[--ledger->log_count]);
    ledger->mark_depth--;
}

void ledger_commit(struct ledger *ledger, size_t mark)
{
    assert(ledger->mark_depth > 0 && mark <= ledger->log_count);
    (void)mark;
    if (--ledger->mark_depth == 0)
        ledger->log_count = 0;
}

static void add_total(struct ledger *ledger, enum total which, int64_t delta)
{
    if (delta == 0)
        return;
    int64_t *total = total_of(ledger, which);
    log_word(ledger, TABLE_TOTAL, 0, which, (uint64_t)*total);
    *total += delta;
}

static void set_gpu(struct ledger *ledger, node_id node, uint32_t gpu_index, struct gpu_cell after)
{
    gpu_id gpu = ledger->cluster->nodes[node].first_gpu + gpu_index;
    struct gpu_cell *cell = &ledger->gpus[gpu];
    assert(after.free + after.coming + after.claimed <= GPU_MILLI);
    log_word(ledger, TABLE_GPU, gpu, node, gpu_word(cell));
    node_index_change(ledger->index, node, gpu_index, cell->free, after.free);
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

static void note_growth(struct ledger *ledger, node_id node)
{
    if (ledger->mark_depth != 0 || ledger->is_grown[node])
        return;
    ledger->is_grown[node] = 1;
    ledger->grown[ledger->grown_count++] = node;
}

/* How an amount moves between the three kept states and the used rest. */
enum move {
    MOVE_TAKE,
    MOVE_GIVE,
    MOVE_VACATE,
    MOVE_RESTORE,
    MOVE_ARRIVE,
    MOVE_CLAIM,
    MOVE_UNCLAIM
};

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
    case MOVE_RESTORE: /* what was promised is taken back from the promise last */
        part = smaller(s.coming, amount);
        s.coming -= part;
        s.claimed -= amount - part;
        break;
    case MOVE_ARRIVE: /* promises are served first: what was claimed becomes the claimer's, used */
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

static void move_gpu(struct ledger *ledger, const struct space *space, uint32_t gpu_index,
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
    int64_t coming = (int64_t)after.coming - before.coming;
    int64_t claimed = (int64_t)after.claimed - before.claimed;
    add_total(ledger, TOTAL_COMING, coming);
    add_total(ledger, TOTAL_CLAIMED, claimed);
    add_total(ledger, TOTAL_USED, (int64_t)before.free - after.free - coming - claimed);
    if (space->gpu_milli != GPU_MILLI)
        return;
    if (move == MOVE_TAKE || move == MOVE_CLAIM ||
        move == MOVE_RESTORE) { /* restore: a claim may have been on it */
        assert(move != MOVE_TAKE || ledger->owner[gpu] == OWNER_NONE);
        set_owner(ledger, gpu, space->owner);
    } else if ((move == MOVE_GIVE || move == MOVE_ARRIVE || move == MOVE_UNCLAIM) &&
               ledger->owner[gpu] == space->owner) {
        set_owner(ledger, gpu, OWNER_NONE);
    }
}

/* The common case: whole GPUs, free -> used or back.  The same as move_gpu for each, in one pass. */
static void move_whole(struct ledger *ledger, const struct space *space, bool is_take)
{
    gpu_id first = ledger->cluster->nodes[space->node].first_gpu;
    const struct gpu_cell after = {.free = is_take ? 0 : GPU_MILLI, .holders = is_take};
    uint32_t count = 0;
    for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1, count++) {
        gpu_id gpu = first + (uint32_t)__builtin_ctz(mask);
        struct gpu_cell *cell = &ledger->gpus[gpu];
        assert(cell->free == (is_take ? GPU_MILLI : 0) && cell->coming == 0 && cell->claimed == 0);
        assert(ledger->owner[gpu] == (is_take ? OWNER_NONE : space->owner));
        log_word(ledger, TABLE_GPU, gpu, space->node, gpu_word(cell));
        log_word(ledger, TABLE_OWNER, gpu, 0, ledger->owner[gpu]);
        *cell = after;
        ledger->owner[gpu] = is_take ? space->owner : OWNER_NONE;
    }
    node_index_change_whole(ledger->index, space->node, space->gpu_mask, count, !is_take);
    add_total(ledger, TOTAL_USED, (is_take ? 1 : -1) * (int64_t)count * GPU_MILLI);
}

static void move_node(struct ledger *ledger, node_id node, uint32_t first_word, uint32_t amount,
                      enum move move)
{
    if (amount == 0)
        return;
    uint32_t *words = node_words(ledger, node);
    struct split after =
        moved((struct split){words[first_word], words[first_word + 2], words[first_word + 4]}, move,
              amount);
    set_node_word(ledger, node, first_word, after.free);
    set_node_word(ledger, node, first_word + 2, after.coming);
    set_node_word(ledger, node, first_word + 4, after.claimed);
}

static void move_space(struct ledger *ledger, const struct space *space, enum move move)
{
    if (space->gpu_milli == GPU_MILLI && (move == MOVE_TAKE || move == MOVE_GIVE))
        move_whole(ledger, space, move == MOVE_TAKE);
    else
        for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1)
            move_gpu(ledger, space, (uint32_t)__builtin_ctz(mask), move);
    move_node(ledger, space->node, 0, space->cpu_milli, move);
    move_node(ledger, space->node, 1, space->memory_mib, move);
    ledger->node_version[space->node]++;
    if (move == MOVE_GIVE || move == MOVE_ARRIVE || move == MOVE_UNCLAIM)
        note_growth(ledger, space->node);
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
    for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1)
        if (ledger->gpus[first + (uint32_t)__builtin_ctz(mask)].claimed != 0)
            return false;
    const struct node_cell *cell = &ledger->nodes[space->node];
    return cell->cpu_claimed == 0 && cell->memory_claimed == 0;
}

void ledger_charge(struct ledger *ledger, queue_id queue, const int64_t amounts[QUEUE_SUM_COUNT])
{
    for (queue_id q = queue; q != QUEUE_NONE; q = ledger->parent[q])
        for (uint32_t r = 0; r < QUEUE_SUM_COUNT; r++) {
            if (amounts[r] == 0)
                continue;
            log_word(ledger, TABLE_SUM, q, r, (uint64_t)ledger->sums[q][r]);
            ledger->sums[q][r] += amounts[r];
        }
}

void ledger_set_node(struct ledger *ledger, node_id node, enum node_state state)
{
    assert(ledger->mark_depth == 0);
    uint16_t free_milli[NODE_GPUS_MAX] = {0};
    gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        free_milli[i] = ledger->gpus[first + i].free;
    ledger->node_state[node] = (uint8_t)state;
    ledger->node_version[node]++;
    if (state == NODE_UP) {
        node_index_list(ledger->index, node, free_milli);
        note_growth(ledger, node);
    } else {
        node_index_unlist(ledger->index, node, free_milli);
    }
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

uint64_t ledger_hash(const struct ledger *ledger)
{
    const struct cluster *cluster = ledger->cluster;
    uint64_t hash = hash_bytes(ledger->gpus, cluster->gpu_count * sizeof *ledger->gpus, 1);
    hash = hash_bytes(ledger->owner, cluster->gpu_count * sizeof *ledger->owner, hash);
    hash = hash_bytes(ledger->nodes, cluster->node_count * sizeof *ledger->nodes, hash);
    hash = hash_bytes(ledger->node_state, cluster->node_count, hash);
    hash = hash_bytes(ledger->sums, ledger->queue_count * sizeof *ledger->sums, hash);
    for (node_id n = 0; n < cluster->node_count; n++)
        hash = hash_mix(hash, ledger->index->free_mask[n]);
    return hash;
}

static const char *check_node(const struct ledger *ledger, node_id node, int64_t totals[3])
{
    const struct node *entry = &ledger->cluster->nodes[node];
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const struct type_index *index = &ledger->index->types[entry->type];
    bool is_up = ledger->node_state[node] == NODE_UP;
    uint16_t mask = 0;
    for (uint32_t i = 0; i < type->gpu_count; i++) {
        const struct gpu_cell *cell = &ledger->gpus[entry->first_gpu + i];
        if (cell->free + cell->coming + cell->claimed > GPU_MILLI)
            return "a GPU's free, coming and claimed shares exceed the whole";
        if (cell->free == GPU_MILLI && ledger->owner[entry->first_gpu + i] != OWNER_NONE)
            return "a free GPU has an owner";
        totals[TOTAL_USED] += GPU_MILLI - cell->free - cell->coming - cell->claimed;
        totals[TOTAL_COMING] += cell->coming;
        totals[TOTAL_CLAIMED] += cell->claimed;
        if (cell->free == GPU_MILLI)
            mask |= (uint16_t)(1u << i);
        else if (is_up && cell->free > 0 &&
                 (index->shared[cell->free] == NULL ||
                  !bits_test(index->shared[cell->free], entry->first_gpu + i)))
            return "a shared GPU is missing from the node index";
    }
    const struct node_cell *cell = &ledger->nodes[node];
    if ((uint64_t)cell->cpu_free + cell->cpu_coming + cell->cpu_claimed > type->cpu_milli ||
        (uint64_t)cell->memory_free + cell->memory_coming + cell->memory_claimed > type->memory_mib)
        return "a node's free CPU or memory exceeds what it has";
    if (is_up && (ledger->index->free_mask[node] != mask ||
                  !bits_test(&index->whole[__builtin_popcount(mask)], node)))
        return "a node stands in the wrong bucket of the node index";
    return NULL;
}

const char *ledger_check(const struct ledger *ledger)
{
    int64_t totals[3] = {0, 0, 0};
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const char *broken = check_node(ledger, n, totals);
        if (broken != NULL)
            return broken;
    }
    if (totals[TOTAL_USED] != ledger->used_milli || totals[TOTAL_COMING] != ledger->coming_milli ||
        totals[TOTAL_CLAIMED] != ledger->claimed_milli)
        return "the sums over GPUs differ from the totals kept";
    return NULL;
}
