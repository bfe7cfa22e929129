/* tests/support/forked.h -- a run that is replayed up to a moment, and goes on from there. */
#ifndef TESTS_SUPPORT_FORKED_H
#define TESTS_SUPPORT_FORKED_H

#include "sim/scenario/scenario.h"

/* config: of `scenario`; its sinks get the rows from the moment `at` on.  other: the policy that takes over there;
 * NULL: none does. */
struct error forked_run(const struct engine_config *config, const struct scenario *scenario, time_ns at,
                        const struct engine_policy *other, struct engine_result *result) MUST_CHECK;

#endif
