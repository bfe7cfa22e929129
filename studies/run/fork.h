/* studies/run/fork.h -- the record that a run is forked from, opened and tested.
 *
 *   struct fork fork;
 *   TRY(fork_open(&fork, "out/main", at, WINDTUNNEL_VERSION));
 *   options.text = fork.record.manifest.scenario_json;
 *   TRY(scenario_load(&scenario, &options));
 *   TRY(fork_scenario(&fork, &scenario, &options));
 *   config.fork = fork.moment;
 *   fork_release(&fork);
 *
 * Law: a fork has the scenario of its record, but for the policy and for what no job and no decision depends on (names,
 * service levels, gates).
 *
 * It does not: look into the moment; engine_run tests it.
 */
#ifndef STUDIES_RUN_FORK_H
#define STUDIES_RUN_FORK_H

#include "reports/result.h"
#include "sim/live/moment_file.h"
#include "sim/scenario/scenario.h"

struct fork {
    const char *folder; /* borrowed */
    struct result record;
    struct moment_list list;
    const struct moment *moment; /* of the list */
};

/* version: of this program; moments of another one are refused.  An error says how to make a record with that moment.
 * On error nothing needs to be released. */
struct error fork_open(struct fork *fork, const char *folder, time_ns at, const char *version) MUST_CHECK;

/* Load the record's scenario with these options over it.  ERROR_CONFIG: it differs from the record's in more than the
 * policy, or gives jobs other pieces of GPUs; the error names what differs.  On error too the caller releases the
 * scenario. */
struct error fork_scenario(const struct fork *fork, struct scenario *scenario,
                           const struct scenario_options *options) MUST_CHECK;

void fork_release(struct fork *fork); /* {0} is allowed */

#endif
