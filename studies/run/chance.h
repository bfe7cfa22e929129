/* studies/run/chance.h -- may another seed give another result?
 *
 * A replay without chance is one draw: studies of many runs shake it (replay_shake.h).
 *
 * Law: if two seeds of a scenario give different results, it has chance.  The reverse need not hold: a part that draws
 * may change nothing.
 */
#ifndef STUDIES_RUN_CHANCE_H
#define STUDIES_RUN_CHANCE_H

#include "reports/result.h"

/* A resolved scenario: false if it replays a trace, and nothing of its world or its workload draws.  How long
 * repartitions of GPUs take is drawn too, but whether there are any is not known before the run. */
bool chance_of_scenario(const char *scenario_json);

/* A run, repartitions included.  What another program decided may hold chance of its own. */
bool chance_of_result(const struct result *result);

#endif
