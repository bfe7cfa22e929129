/* windtunnel trace freeze: the jobs of a scenario or a record as a trace. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output.h"
#include "reports/result.h"
#include "studies/run/record_gate.h"
#include "tools/verbs.h"
#include "workloads/readers/freeze.h"

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static struct error write_trace(struct job_source *source, const struct scenario *scenario, const char *path)
{
    struct output *output;
    const bool is_zstd = ends_in(path, ".zst");
    TRY(output_open(&output, path, is_zstd ? OUTPUT_ZSTD : OUTPUT_PLAIN));
    struct error error = freeze_write(source, scenario->cluster, output, NULL);
    if (!error_is(error))
        return output_commit(&output);
    output_discard(&output);
    return error;
}

struct freeze_run {
    const char *path; /* of the scenario or of the record */
    const char *out;
    struct result record; /* used if `path` is a record */
    struct record_gate gate;
    bool is_record;
    struct scenario scenario;
    struct job_source *source;
};

static struct error freeze_all(struct freeze_run *run, const struct args *args)
{
    struct scenario_options options = tool_scenario_options(args);
    tool_trust(args, &options);
    if (ends_in(run->out, ".csv") || ends_in(run->out, ".csv.zst"))
        return error_new(ERROR_USAGE, "a frozen trace is JSON lines, since columns cannot say all "
                                      "of a job: let '--out' end in .jsonl or .jsonl.zst");
    if (run->path != NULL && is_folder(run->path)) {
        TRY(result_read(&run->record, run->path));
        run->is_record = true;
        options.path = NULL;
        options.text = run->record.manifest.scenario_json;
        options.gate = &run->gate.gate;
        record_gate_init(&run->gate, run->path, &run->record, &options);
    }
    TRY(scenario_load(&run->scenario, &options));
    TRY(scenario_open(&run->scenario, &run->source));
    job_source_keep_arrivals(run->source);
    return write_trace(run->source, &run->scenario, run->out);
}

int verb_trace_freeze(const struct args *args)
{
    struct freeze_run run = {.path = args_operand(args, 0), .out = args_string(args, "out")};
    if (run.out == NULL)
        run.out = "/dev/stdout";
    struct error error = freeze_all(&run, args);
    int status = 0;
    if (error_is(error))
        status = tool_fail(&error);
    else
        tool_say("%llu jobs; arrivals %016llx\n", (unsigned long long)job_source_facts(run.source)->job_count,
                 (unsigned long long)job_source_arrivals(run.source));
    if (status == 0 && job_source_facts(run.source)->is_filling)
        tool_say("note: these jobs fill the cluster: what free GPUs are good for, and the policy fgd, "
                 "judge by them now, not by all jobs of the trace\n");
    job_source_close(run.source);
    scenario_release(&run.scenario);
    record_gate_release(&run.gate);
    if (run.is_record)
        result_release(&run.record);
    return status;
}
