/* policies/drain/drain.h -- keeps nodes free of new jobs until they are empty, for a gang that waits for them.
 *
 *   drain_review(sched);                        at the beginning of a cycle
 *   drain_seek(sched);                          at its end
 *   drain_node_changed(sched, node, state);     for each fact about a node, before the ledger knows it
 *
 * Laws: a node is kept for a drain (ledger->is_kept) exactly while it is listed in sched->kept_nodes.  A kept node is
 * up.  The policy bounds their number.
 */
#ifndef POLICIES_DRAIN_DRAIN_H
#define POLICIES_DRAIN_DRAIN_H

#include "policies/sched.h"

struct sched;

/* At the beginning of a cycle: end the drain, or start its gang if it fits now. */
void drain_review(struct sched *sched);
/* At the end of a cycle: begin a drain if a gang is due for one; move jobs off the kept nodes. */
void drain_seek(struct sched *sched);
/* When drains need the next cycle even if no fact comes before. */
time_ns drain_wake(const struct sched *sched);
/* The state of the node is told: unless it is up, it is no longer kept. */
void drain_node_changed(struct sched *sched, node_id node, enum node_state state);
void drain_init(struct sched *sched);
void drain_release(struct sched *sched);
/* How many drains have begun, and on how many of them the gang started. */
void drain_count(const struct sched *sched, uint64_t *begun, uint64_t *filled);

#endif
