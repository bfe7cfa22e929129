/* policies/ledger/ledger_inside.h -- the ledger's log and helpers, for the ledger's own sources (ledger_*.c) only. */
#ifndef POLICIES_LEDGER_LEDGER_INSIDE_H
#define POLICIES_LEDGER_LEDGER_INSIDE_H

#include <string.h>

#include "policies/ledger/ledger.h"

/* The array that a log entry restores: the upper bits of table_index. */
enum table {
    TABLE_GPU,
    TABLE_OWNER,
    TABLE_NODE,
    TABLE_SUM,
    TABLE_TOTAL,
    TABLE_MIG,
    TABLE_WHOLE,
    TABLE_CUT,
    TABLE_SHARE,
    TABLE_NODE_SHARE,
    TABLE_TAG,
    TABLE_EXCESS
};
enum { TAKE_SHIFT = 16 }; /* in the word of TABLE_WHOLE: the mask in the lower bits, above them whether it was taken */
enum total { TOTAL_USED, TOTAL_COMING, TOTAL_CLAIMED };

static inline void log_word(struct ledger *ledger, enum table table, uint32_t element, uint32_t word, uint64_t old)
{
    if (ledger->mark_depth == 0)
        return;
    if (ledger->log_count == ledger->log_capacity)
        MEM_GROW(ledger->log, ledger->log_capacity, ledger->log_count + 1);
    ledger->log[ledger->log_count++] =
        (struct ledger_entry){((uint32_t)table << LEDGER_TABLE_SHIFT) | element, word, old};
}

static inline int64_t *total_of(struct ledger *ledger, uint32_t which)
{
    return which == TOTAL_USED     ? &ledger->used_milli
           : which == TOTAL_COMING ? &ledger->coming_milli
                                   : &ledger->claimed_milli;
}

static inline void add_total(struct ledger *ledger, enum total which, int64_t delta)
{
    if (delta == 0)
        return;
    int64_t *total = total_of(ledger, which);
    log_word(ledger, TABLE_TOTAL, 0, which, (uint64_t)*total);
    *total += delta;
}

static inline uint64_t gpu_word(const struct gpu_cell *cell)
{
    uint64_t word;
    memcpy(&word, cell, sizeof word);
    return word;
}

/* GPUs of the node become free (milli > 0), or are taken. */
static inline void count_free(struct ledger *ledger, node_id node, int64_t milli)
{
    if (__builtin_expect(ledger->node_state[node] != NODE_UP, false))
        ledger->not_up_milli -= milli;
}

/* Set the cells of a partitioned GPU, with a log entry. */
void ledger_set_mig(struct ledger *ledger, gpu_id gpu, struct mig_cell mig, struct gpu_cell cell);
struct gpu_free ledger_gpu_free(const struct ledger *ledger, gpu_id gpu);

/* How an amount moves between free, coming, claimed and used. */
enum move { MOVE_TAKE, MOVE_GIVE, MOVE_VACATE, MOVE_RESTORE, MOVE_ARRIVE, MOVE_CLAIM, MOVE_UNCLAIM };

/* policies/ledger/ledger_share.c.  ledger_move_share: update the clients when members come or go.
 * ledger_foresee_shares: the clients when all that is coming on the node is free.  ledger_is_alone: are no clients of
 * another kind or domain, and not too many, still where the space is? */
void ledger_move_share(struct ledger *ledger, const struct space *space, enum move move);
void ledger_foresee_shares(struct ledger *ledger, node_id node);
void ledger_undo_share(struct ledger *ledger, const struct ledger_entry *entry);
/* Likewise of struct gpu_excess; of a space that may be a share asked by memory. */
void ledger_move_excess(struct ledger *ledger, const struct space *space, enum move move);
void ledger_foresee_excess(struct ledger *ledger, node_id node);
void ledger_undo_excess(struct ledger *ledger, gpu_id gpu, uint64_t old);
bool ledger_is_alone(const struct ledger *ledger, const struct space *space);

#define PLACE_NONE UINT32_MAX

/* policies/ledger/ledger_tags.c: update the counts of tags when members come or go. */
void ledger_move_tags(struct ledger *ledger, const struct space *space, enum move move);
void ledger_undo_tag(struct ledger *ledger, uint32_t tag, const struct ledger_entry *entry);
/* Add members of the space's job to the counts of its tags and rules: `stay` that stay, `present` that are present. */
void ledger_tags_add(struct ledger *ledger, const struct space *space, int64_t stay, int64_t present);
/* The place of the node at a level; PLACE_NONE: it is in none.  What is counted of a tag there. */
uint32_t ledger_tags_place(const struct ledger *ledger, uint32_t level, node_id node);
struct tag_count ledger_tags_at(const struct ledger *ledger, uint32_t tag, uint32_t place);
void ledger_tags_settle(struct ledger *ledger, bool is_undone); /* a trial has ended */

void ledger_undo_mig(struct ledger *ledger, gpu_id gpu, const struct ledger_entry *entry);
void ledger_undo_cut(struct ledger *ledger, gpu_id gpu);

#endif
