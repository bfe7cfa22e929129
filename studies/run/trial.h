/* studies/run/trial.h -- a run of a scenario as a function: what to run goes in, the text of its result.json comes out.
 *
 *   struct trial trial = {.version = VERSION, .scenario = options, .seed = 7};
 *   struct buffer out = {0};
 *   TRY(trial_run(&trial, &out));
 *   TRY(values_read_text(&values, "the result", text_of(buffer_c_string(&out))));        (reports/values.h)
 *
 * What studies of many runs are made of: a comparison, a sweep, a plan.  They call it in tasks of base/worker_pool.h.
 *
 * Law: the bytes are a function of the scenario, the seed, the inputs and the version.  A run that made no progress is
 * an error here, because its metrics mean nothing.
 */
#ifndef STUDIES_RUN_TRIAL_H
#define STUDIES_RUN_TRIAL_H

#include "sim/record/record.h"
#include "sim/scenario/scenario.h"
#include "studies/run/fork.h"

struct trial {
    const char *version;              /* of Windtunnel */
    struct scenario_options scenario; /* its `seed` is not used */
    uint64_t seed;                    /* of a run from a moment: that of its record */
    const char *record;               /* the folder of a record that it writes too; NULL: none */
    const struct record_sink *sink;   /* takes the rows; NULL: none */
    const char
        *kept; /* the folder that keeps the result (studies/run/kept_runs.h); NULL: none.  Not with a record, a sink
                       * or a moment, of which it would hold nothing: then it counts for nothing */
    struct fork *moment; /* that the run goes on from (studies/run/fork.h); used up; NULL: the run begins at 0 */
};

/* Append the result, without `host`.  ERROR_CONFIG and ERROR_DATA as run_simulate. */
struct error trial_run(const struct trial *trial, struct buffer *out) MUST_CHECK;

#endif
