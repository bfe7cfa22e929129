#include "studies/run/trial.h"

#include <stdio.h>

#include "studies/run/run.h"

static struct error simulate(struct run *run, const struct run_options *options)
{
    TRY(run_simulate(run, options));
    struct error stall = run->result.stall;
    run->result.stall = ERROR_OK;
    return stall;
}

struct error trial_run(const struct trial *trial, struct buffer *out)
{
    struct run run;
    char seed[24];
    struct run_options options = {.version = trial->version,
                                  .scenario = trial->scenario,
                                  .out = trial->record,
                                  .sink = trial->sink,
                                  .keeps_arrivals = true,
                                  .moment = trial->moment};
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)trial->seed);
    if (trial->moment != NULL)
        options.fork = trial->moment->folder;
    else
        options.scenario.seed = seed;
    struct error error = simulate(&run, &options);
    if (!error_is(error))
        error = run_result_text(&run, NULL, out);
    if (!error_is(error) && trial->record != NULL)
        error = run_commit(&run, NULL);
    run_release(&run);
    return error;
}
