/* sim/scenario/scenario_gate.h -- the gate of a scenario while it is loaded: which files it may name (scenario.h). */
#ifndef SIM_SCENARIO_SCENARIO_GATE_H
#define SIM_SCENARIO_SCENARIO_GATE_H

#include "sim/scenario/scenario.h"

/* Of struct json_gate; self: the scenario, with its options.  Notes each file that it lets pass. */
struct error scenario_gate_ask(void *self, const char *role, bool is_typed, const char **path) MUST_CHECK;

#endif
