/* tests/support/reload.h -- a scheduler saved, freed, and loaded again, as in another process.
 *
 *   world->sched = reload(world->sched, cluster, queues, &policy);
 *
 * The old scheduler is freed, and the bytes and the policy are overwritten when the new one is loaded.  So the address
 * sanitizer, or a different decision, shows code that still reads them.
 */
#ifndef TESTS_SUPPORT_RELOAD_H
#define TESTS_SUPPORT_RELOAD_H

#include "policies/sched.h"

/* The saved state; the caller releases it.  Fails the test if it cannot be saved. */
struct buffer reload_bytes(const struct sched *sched);
bool reload_is_same(const struct buffer *a, const struct buffer *b);

/* Takes ownership of the scheduler.  Fails the test if it cannot be loaded, breaks a law, or is saved with other
 * bytes. */
struct sched *reload(struct sched *sched, const struct cluster *cluster, const struct queue_table *queues,
                     const struct policy_config *policy);

#endif
