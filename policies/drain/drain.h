/* policies/drain/drain.h -- nodes that are kept from everybody until they are empty, for a gang that waits.
 *
 * Part of the scheduler's inside.  In a cycle, first drain_review, at the end drain_seek; whatever the world says of a
 * node, drain_node_changed before the ledger knows.
 *
 * Laws: a node is kept (ledger->is_kept) exactly while it stands in `nodes`; it is up; and there are no more of them
 * than the policy allows.
 */
#ifndef POLICIES_DRAIN_DRAIN_H
#define POLICIES_DRAIN_DRAIN_H

#include "policies/sched.h"

struct archive;
struct sched;

/* At the beginning of a cycle: give the drain up, or start its gang if it fits now. */
void drain_review(struct sched *sched);
/* At the end of one: begin a drain if somebody is to have one; move jobs off the nodes. */
void drain_seek(struct sched *sched);
/* When a cycle is wanted for it though nothing is told. */
time_ns drain_wake(const struct sched *sched);
/* The world says what the node is: it is kept no more unless it is up. */
void drain_node_changed(struct sched *sched, node_id node, enum node_state state);
void drain_init(struct sched *sched);
void drain_release(struct sched *sched);
void drain_archive(struct archive *archive, struct sched *sched);
/* Drains begun so far, and those that their gang started on. */
void drain_count(const struct sched *sched, uint64_t *begun, uint64_t *filled);

#endif
