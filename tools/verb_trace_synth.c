/* windtunnel trace synth: a trace drawn from a model. */
#include <string.h>

#include "base/output.h"
#include "tools/installed.h"
#include "tools/verbs.h"
#include "workloads/load_model/load_model.h"
#include "workloads/readers/convert.h"

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* By the name, without .zst. */
static bool is_json(const char *path)
{
    return ends_in(path, ".jsonl") || ends_in(path, ".jsonl.zst") || ends_in(path, ".json") ||
           ends_in(path, ".json.zst");
}

static struct error read_spec(const struct args *args, struct workload_spec *spec, uint64_t *seed)
{
    const char *jobs = args_string(args, "jobs"), *days = args_string(args, "days");
    int64_t count = 0, number_of_seed = 1;
    double number = 0;
    *spec = (struct workload_spec){.model_rate = 1};
    if ((jobs != NULL) == (days != NULL))
        return error_new(ERROR_USAGE, "give either --jobs or --days: a model goes on for ever");
    TRY(args_int64(args, "jobs", 1, INT64_MAX, 1, &count));
    TRY(args_int64(args, "seed", 0, INT64_MAX, 1, &number_of_seed));
    if (days != NULL && (!text_to_double(text_of(days), &number) || !(number > 0 && number <= 20000)))
        return error_new(ERROR_USAGE, "--days must be a number above 0 and at most 20000, got '%s'", days);
    const char *factor = args_string(args, "rate");
    if (factor != NULL &&
        (!text_to_double(text_of(factor), &spec->model_rate) || !(spec->model_rate >= 1e-6 && spec->model_rate <= 1e6)))
        return error_new(ERROR_USAGE, "--rate must be a factor from 1e-6 to 1e6, got '%s'", factor);
    *seed = (uint64_t)number_of_seed;
    spec->model_jobs = (uint64_t)count * (jobs != NULL);
    spec->model_until = days != NULL ? time_from_seconds(number * 86400) : 0;
    return ERROR_OK;
}

static struct error write_jobs(const struct workload_spec *spec, uint64_t seed, const char *path, uint64_t *count)
{
    const struct convert_form form = {.columns = CONVERT_DRAWN, .is_json = is_json(path)};
    struct reason_tally lost = {0}; /* nothing: the columns are those of a model */
    struct job_source *source;
    struct output *output = NULL;
    TRY(job_source_open(&source, spec, NULL, seed));
    struct error error = output_open(&output, path, ends_in(path, ".zst") ? OUTPUT_ZSTD : OUTPUT_PLAIN);
    if (!error_is(error))
        error = convert_native(source, NULL, &form, output, &lost);
    if (!error_is(error))
        error = output_commit(&output);
    output_discard(&output);
    *count = job_source_facts(source)->job_count;
    job_source_close(source);
    return error;
}

int verb_trace_synth(const struct args *args)
{
    struct arena arena = {0};
    struct workload_spec spec;
    const char *path = args_string(args, "out") != NULL ? args_string(args, "out") : "-";
    uint64_t count = 0, seed = 1;
    struct error error = read_spec(args, &spec, &seed);
    if (!error_is(error))
        error = load_model_open(&spec.model, installed_find(args_operand(args, 0), "workloads/models"), &arena);
    if (!error_is(error))
        error = write_jobs(&spec, seed, path, &count);
    arena_release(&arena);
    if (error_is(error))
        return tool_fail(&error);
    tool_say("%llu jobs\n", (unsigned long long)count);
    return 0;
}
