/* policies/quota/cells_index.c -- rows of kept GPUs by queue, computed from the keeps. */
#include "policies/quota/cells_index.h"

#include <string.h>

static const struct gpu_keep *keeps_of(const struct ledger *ledger, node_id node)
{
    return &ledger->keeps[ledger->cluster->nodes[node].first_gpu];
}

/* The GPUs of the cell whose first GPU is `i`. */
static uint16_t cell_at(const struct gpu_keep *keeps, uint32_t i)
{
    return (uint16_t)(((1u << (1u << keeps[i].level)) - 1) << i);
}

static uint16_t count_kept(const struct ledger *ledger, node_id node)
{
    const struct gpu_keep *keeps = keeps_of(ledger, node);
    uint16_t kept = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        kept |= (uint16_t)((unsigned)(keeps[i].keeper != QUEUE_NONE) << i);
    return kept;
}

struct cell_index *cells_index(struct ledger *ledger)
{
    const uint32_t node_count = ledger->cluster->node_count;
    if (ledger->cells != NULL)
        return ledger->cells;
    struct cell_index *index = arena_alloc_array(&ledger->arena, 1, struct cell_index);
    index->kept = arena_alloc_array(&ledger->arena, node_count, uint16_t);
    index->rows = arena_alloc_array(&ledger->arena, ledger->cluster->gpu_count, struct home_row);
    index->due.open = arena_alloc_array(&ledger->arena, node_count, uint16_t);
    index->due.free = arena_alloc_array(&ledger->arena, node_count, uint16_t);
    index->places = arena_alloc_array(&ledger->arena, node_count, struct cell_place);
    for (uint32_t c = 0; c < CELL_COSTS; c++)
        bits_init(&index->by_cost[c], &ledger->arena, node_count);
    for (node_id n = 0; n < node_count; n++)
        index->kept[n] = count_kept(ledger, n);
    return ledger->cells = index;
}

void cells_index_keep(struct ledger *ledger, node_id node, uint16_t gpus, queue_id keeper)
{
    struct cell_index *index = ledger->cells;
    if (keeper == QUEUE_NONE)
        index->kept[node] &= (uint16_t)~gpus;
    else
        index->kept[node] |= gpus;
    index->has_rows = false;
    index->firm_changes++;
}

bool cells_is_in_use(const struct gpu_keep *keeps, uint32_t first, uint32_t level)
{
    bool has_own = false, has_others = false;
    for (uint32_t i = first; i < first + (1u << level); i++) {
        has_own |= keeps[i].non_preemptible_holders > 0 && keeps[i].holder == keeps[i].keeper;
        has_others |= keeps[i].non_preemptible_holders > 0 && keeps[i].holder != keeps[i].keeper;
    }
    return has_own && !has_others;
}

static void clear_spans(struct ledger *ledger, struct cell_index *index)
{
    index->span_count = ledger->queue_count;
    if (index->span_capacity < index->span_count) {
        index->span_capacity = 2 * index->span_count;
        index->spans = arena_alloc(&ledger->arena, index->span_capacity * sizeof *index->spans);
    }
    memset(index->spans, 0, index->span_count * sizeof *index->spans);
}

/* Compute the rows.  A queue has at most as many rows as cells, so it gets memory for that many. */
static void draw_rows(struct ledger *ledger, struct cell_index *index)
{
    const uint32_t node_count = ledger->cluster->node_count;
    clear_spans(ledger, index);
    for (node_id n = 0; n < node_count; n++)
        for (uint16_t left = index->kept[n]; left != 0;) {
            const uint32_t i = (uint32_t)__builtin_ctz(left);
            index->spans[keeps_of(ledger, n)[i].keeper].count++;
            left &= (uint16_t)~cell_at(keeps_of(ledger, n), i);
        }
    for (uint32_t q = 0, first = 0; q < index->span_count; q++) {
        index->spans[q].first = first;
        first += index->spans[q].count;
        index->spans[q].count = 0;
    }
    for (node_id n = 0; n < node_count; n++)
        for (uint16_t left = index->kept[n]; left != 0;) {
            const uint32_t i = (uint32_t)__builtin_ctz(left);
            const uint16_t cell = cell_at(keeps_of(ledger, n), i);
            const queue_id q = keeps_of(ledger, n)[i].keeper;
            struct home_row *end = &index->rows[index->spans[q].first + index->spans[q].count];
            if (index->spans[q].count == 0 || end[-1].node != n) {
                *end++ = (struct home_row){.node = n};
                index->spans[q].count++;
            }
            end[-1].gpus |= cell;
            left &= (uint16_t)~cell;
        }
    index->has_rows = true;
}

struct home_rows cells_index_rows(struct ledger *ledger, queue_id queue)
{
    struct cell_index *index = cells_index(ledger);
    if (!index->has_rows)
        draw_rows(ledger, index);
    if (queue >= index->span_count)
        return (struct home_rows){NULL, 0}; /* the queue is newer than the rows: it keeps nothing */
    return (struct home_rows){&index->rows[index->spans[queue].first], index->spans[queue].count};
}

/* Does the row list exactly the GPUs of the node that the queue keeps? */
static bool is_row_right(const struct ledger *ledger, const struct home_row *row, queue_id queue)
{
    const struct gpu_keep *keeps = keeps_of(ledger, row->node);
    uint16_t gpus = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, row->node); i++)
        gpus |= (uint16_t)((unsigned)(keeps[i].keeper == queue) << i);
    return gpus == row->gpus && gpus != 0;
}

static const char *check_rows(const struct ledger *ledger, const struct cell_index *index)
{
    uint64_t in_rows = 0, kept = 0;
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        kept += bits_count16(index->kept[n]);
    for (uint32_t q = 0; q < index->span_count; q++) {
        const struct home_row *rows = &index->rows[index->spans[q].first];
        for (uint32_t r = 0; r < index->spans[q].count; r++) {
            if (!is_row_right(ledger, &rows[r], q) || (r > 0 && rows[r - 1].node >= rows[r].node))
                return "what is known of a queue's cells differs from where they are";
            in_rows += bits_count16(rows[r].gpus);
        }
    }
    return in_rows == kept ? NULL : "cells of a queue are not known";
}

const char *cells_index_check(const struct ledger *ledger)
{
    const struct cell_index *index = ledger->cells;
    if (index == NULL)
        return NULL;
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        if (index->kept[n] != count_kept(ledger, n))
            return "GPUs in cells are not known as such";
    for (uint32_t c = 0; c < CELL_COSTS; c++)
        if (index->by_cost[c].member_count != 0)
            return "something is left of placing cells";
    return index->has_rows ? check_rows(ledger, index) : NULL;
}
