/* tests/support/reload.h -- a scheduler saved, freed, and loaded again, as in another process.
 *
 *   world->sched = reload(world->sched, cluster, queues, &policy);
 *
 * Nothing of the old one is left to look at: it is freed, and the bytes and the policy are overwritten once the new
 * one is there, so that the address sanitizer, or another decision, shows who still does.
 */
#ifndef TESTS_SUPPORT_RELOAD_H
#define TESTS_SUPPORT_RELOAD_H

#include "policies/sched.h"

/* What it is saved as; the caller releases it.  Fails the test if it cannot be saved. */
struct buffer reload_bytes(const struct sched *sched);
bool reload_is_same(const struct buffer *a, const struct buffer *b);

/* Takes the scheduler.  Fails the test if it cannot be loaded, breaks a law, or is saved as other bytes than before. */
struct sched *reload(struct sched *sched, const struct cluster *cluster, const struct queue_table *queues,
                     const struct policy_config *policy);

#endif
