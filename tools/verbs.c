/* The table of all verbs. */
#include "tools/verbs.h"

static const struct args_verb *const verbs[] = {&verb_run,
                                                &verb_compare,
                                                &verb_validate,
                                                &verb_validate_model,
                                                &verb_report,
                                                &verb_topology_show,
                                                &verb_topology_mig,
                                                &verb_policy_list,
                                                &verb_policy_show,
                                                &verb_trace_info,
                                                &verb_trace_freeze,
                                                &verb_case,
                                                &verb_decide,
                                                &verb_explain,
                                                &verb_metrics,
                                                &verb_export,
                                                NULL};

static const struct args_example exit_statuses[] = {
    {"0", "Success."},
    {"2", "The command line, a scenario, a cluster or a policy is wrong."},
    {"3", "A trace, a record or a stream of events holds bad data, another program decided "
          "nonsense; or, with --strict, jobs that can never fit."},
    {"4", "A file could not be read or written, or the disk is full."},
    {"5", "An internal error: a law of the program itself is broken, or memory ran out."},
    {"10", "Not all cases passed, decisions differ, a model misses what was measured, or a gate "
           "failed."},
    {"11", "A gate is inconclusive, or a run of a comparison failed."},
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
};
