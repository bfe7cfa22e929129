/* policies/state/typical.h -- the typical jobs, as the scheduler knows them: configured, or learned from submitted
 * jobs, never from future ones.
 *
 * Part of the scheduler's inside, kept only where the placement policy needs it (uses_typical).
 *
 * Law: once typical jobs are configured, nothing is learned.  The learned jobs change only when a tenth more members
 * have come; ledger->typical_version then changes too.
 *
 *   typical_learn(&book, ledger, &request classes, request class);     at each submission
 *
 * Cost: O(1) a submission, O(kinds log kinds) when a tenth more members have come.
 */
#ifndef POLICIES_STATE_TYPICAL_H
#define POLICIES_STATE_TYPICAL_H

#include "policies/jobs/member_kinds.h"

struct request_class_table;

struct typical_book {
    bool is_told; /* nothing is learned */
    struct member_kinds kinds;
    uint32_t *kind_of; /* by request class: kind of its first group, plus 1; 0: not looked up yet */
    size_t request_class_capacity;
    uint64_t next_at; /* member count at which they are passed on again */
    struct typical_jobs typical;
};

void typical_learn(struct typical_book *book, struct ledger *ledger, const struct request_class_table *request_classes,
                   uint32_t request_class);
void typical_release(struct typical_book *book);

#endif
