#include "studies/run/trial.h"

#include <stdio.h>

#include "studies/run/kept_runs.h"
#include "studies/run/run.h"

static struct error simulate(struct run *run, const struct run_options *options)
{
    TRY(run_simulate(run, options));
    struct error stall = run->result.stall;
    run->result.stall = ERROR_OK;
    return stall;
}

static struct error make_run(const struct trial *trial, struct buffer *out)
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

/* The result that is kept, or else that of the run, which is kept then. */
static struct error find_or_make(const struct trial *trial, const char *path, struct buffer *out)
{
    struct buffer text = {0};
    bool is_kept;
    struct error error = kept_runs_read(path, &text, &is_kept);
    if (!error_is(error) && !is_kept)
        error = make_run(trial, &text);
    if (!error_is(error) && !is_kept)
        error = kept_runs_write(path, (struct text){text.bytes, text.length});
    if (!error_is(error))
        buffer_bytes(out, text.bytes, text.length);
    buffer_release(&text);
    return error;
}

struct error trial_run(const struct trial *trial, struct buffer *out)
{
    struct buffer path = {0};
    char key[RUN_KEY_BYTES];
    if (trial->kept == NULL || trial->record != NULL || trial->sink != NULL || trial->moment != NULL)
        return make_run(trial, out);
    TRY(run_key_of(trial->version, &trial->scenario, trial->seed, key));
    struct error error = find_or_make(trial, kept_runs_path(trial->kept, key, &path), out);
    buffer_release(&path);
    return error;
}
