/* The table of all verbs, and what the words in capitals of their tables stand for. */
#include "tools/verbs.h"

#include "policies/config/presets.h"
#include "reports/metrics.h"
#include "topologies/collective.h"
#include "topologies/gpu_model.h"
#include "topologies/links.h"
#include "workloads/readers/reader.h"

static const struct args_verb *const verbs[] = {
    &verb_run,           &verb_validate,     &verb_validate_model, &verb_report,
    &verb_topology_show, &verb_topology_mig, &verb_policy_list,    &verb_policy_show,
    &verb_trace_info,    &verb_trace_freeze, &verb_case,           &verb_decide,
    &verb_explain,       &verb_metrics,      &verb_completion,     NULL};

static const struct args_example exit_statuses[] = {
    {"0", "Success."},
    {"2", "The command line, a scenario, a cluster or a policy is wrong."},
    {"3", "A trace, a record or a stream of events holds bad data, another program decided "
          "nonsense; or, with --strict, jobs that can never fit."},
    {"4", "A file could not be read or written, or the disk is full."},
    {"5", "An internal error: a law of the program itself is broken, or memory ran out."},
    {"10", "Not all cases passed, decisions differ, or a model misses what was measured."},
    {"128+N", "Ended by signal N, after writing a partial report."},
    {0},
};

static const struct args_example files[TOOL_FILES + 1] = {
    {TOOL_PREFIX "/share/windtunnel",
     "Scenarios, clusters (topologies) and sample traces (workloads/samples). Commands find them "
     "from any folder: 'windtunnel run h100-500x8' runs scenarios/h100-500x8.json, 'windtunnel "
     "topology show nvl72-8' shows topologies/nvl72-8.json, and 'workloads/samples/philly.csv' is "
     "the sample. A file of that name in the current folder takes precedence."},
    {TOOL_PREFIX "/share/doc/windtunnel",
     "README.md, the guides in docs, and docs/examples: a scheduler in a process, a policy as a "
     "shared object."},
    {0},
};

static const char *preset_name(size_t index)
{
    return policy_preset_texts[index].name;
}

static const char *format_name(size_t index)
{
    return trace_format_names[index];
}

static const char *model_name(size_t index)
{
    uint32_t count;
    const struct gpu_model *models = gpu_model_table(&count);
    return index < count ? models[index].name : NULL;
}

static const char *collective_name(size_t index)
{
    return collective_kind_names[index];
}

static const char *system_name(size_t index)
{
    uint32_t count;
    const struct collective_system *systems = collective_system_table(&count);
    return index < count ? systems[index].name : NULL;
}

/* The tiers that --tier takes: those of switches. */
static const char *tier_name(size_t index)
{
    return link_tier_names[(size_t)LINK_LEAF + index];
}

static const char *shell_name(size_t index)
{
    return args_shell_names[index];
}

static const struct args_value values[] = {
    {.word = "FILE", .kind = ARGS_VALUE_FILE},
    {.word = "SCENARIO", .kind = ARGS_VALUE_FILE},
    {.word = "PLAN", .kind = ARGS_VALUE_FILE},
    {.word = "DIR", .kind = ARGS_VALUE_FOLDER},
    {.word = "RECORD", .kind = ARGS_VALUE_FOLDER},
    {.word = "COMMAND", .kind = ARGS_VALUE_COMMAND},
    {.word = "PRESET", .kind = ARGS_VALUE_NAME, .name = preset_name},
    {.word = "FORMAT", .kind = ARGS_VALUE_NAME, .name = format_name},
    {.word = "METRIC", .kind = ARGS_VALUE_NAME, .name = metrics_name_at},
    {.word = "MODEL", .kind = ARGS_VALUE_NAME, .name = model_name},
    {.word = "KIND", .kind = ARGS_VALUE_NAME, .name = collective_name},
    {.word = "SYSTEM", .kind = ARGS_VALUE_NAME, .name = system_name},
    {.word = "TIER", .kind = ARGS_VALUE_NAME, .name = tier_name},
    {.word = "SHELL", .kind = ARGS_VALUE_NAME, .name = shell_name},
    {0},
};

const struct args_command tool_command = {
    .name = "windtunnel",
    .version = WINDTUNNEL_VERSION,
    .summary = "judge GPU cluster schedulers in simulated time",
    .description = (const char *const[]){"Replays or synthesizes job arrivals against a modelled GPU cluster, "
                                         "drives the same scheduler library "
                                         "that a live cluster would link, and reports utilization, queue "
                                         "times and what became of the jobs.",
                                         "Data goes to standard output, everything else to standard error.", NULL},
    .verbs = verbs,
    .exit_statuses = exit_statuses,
    .files = files,
    .values = values,
};
