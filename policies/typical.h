/* policies/typical.h -- which jobs usually come, learned from those that have been submitted; never from those to come.
 *
 * Part of the scheduler's inside, kept only where the placement policy asks for it (uses_typical).  Members that ask the
 * same are a kind; the kinds that most members are of, up to TYPICAL_PERCENT of all, are the typical jobs.
 *
 * Law: what is told changes only when a tenth more members have come, and then ledger->typical_version does.
 *
 *   typical_learn(&book, ledger, &shapes, shape);     at each submission
 *
 * Source: the share is that of the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023).
 * Cost: O(1) a submission of a shape that is known, O(kinds) of another; O(kinds log kinds) when a tenth more have come. */
#ifndef POLICIES_TYPICAL_H
#define POLICIES_TYPICAL_H

#include "policies/fragmentation.h"

struct archive;
struct shape_table;

enum { TYPICAL_PERCENT = 95 };

struct member_kind {
    struct request request;
    uint64_t members;
};

struct typical_book {
    bool is_used;
    struct member_kind *kinds; /* in the order they came */
    size_t kind_capacity;
    uint32_t kind_count;
    uint32_t *kind_of; /* by shape: kind of its first group, plus 1; 0: not looked for yet */
    size_t shape_capacity;
    uint64_t members, next_at; /* in all; so many when they are told anew */
    struct typical_jobs typical;
};

void typical_learn(struct typical_book *book, struct ledger *ledger,
                   const struct shape_table *shapes, uint32_t shape);
void typical_release(struct typical_book *book);
/* Save or load; what is loaded into has learned nothing. */
void typical_archive(struct archive *archive, struct typical_book *book, struct ledger *ledger);

#endif
