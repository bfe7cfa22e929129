/* policies/state/typical.h -- which jobs usually come, as the scheduler knows it: told, or learned from those that
 * have been submitted; never from those to come.
 *
 * Part of the scheduler's inside, kept only where the placement policy asks for it (uses_typical).
 *
 * Law: once it has been told, nothing is learned.  What was learned changes only when a tenth more members have come,
 * and then ledger->typical_version does.
 *
 *   typical_learn(&book, ledger, &request classes, request class);     at each submission
 *
 * Cost: O(1) a submission, O(kinds log kinds) when a tenth more members have come. */
#ifndef POLICIES_STATE_TYPICAL_H
#define POLICIES_STATE_TYPICAL_H

#include "policies/jobs/member_kinds.h"

struct archive;
struct request_class_table;

struct typical_book {
    bool is_used;
    bool is_told; /* nothing is learned */
    struct member_kinds kinds;
    uint32_t *kind_of; /* by request class: kind of its first group, plus 1; 0: not looked for yet */
    size_t request_class_capacity;
    uint64_t next_at; /* so many members when they are told anew */
    struct typical_jobs typical;
};

void typical_learn(struct typical_book *book, struct ledger *ledger, const struct request_class_table *request_classes,
                   uint32_t request_class);
/* Kinds of members, `count` of each: all of them are typical. */
void typical_tell(struct typical_book *book, struct ledger *ledger, const struct job_group *kinds, uint32_t kind_count);
void typical_release(struct typical_book *book);
/* Save or load; what is loaded into has learned nothing. */
void typical_archive(struct archive *archive, struct typical_book *book, struct ledger *ledger);

#endif
