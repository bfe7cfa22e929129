/* The table of all verbs, and the verb that prints it for shells. */
#include "tools/verbs.h"

#include <string.h>

static int completion(const struct args *args)
{
    const char *shell = args_operand(args, 0);
    struct buffer out = {0};
    for (int i = 0; args_shell_names[i] != NULL; i++)
        if (strcmp(args_shell_names[i], shell) == 0) {
            args_completion(&tool_command, (enum args_shell)i, &out);
            return tool_print(&out);
        }
    struct error error = error_new(ERROR_USAGE, "there are no completions for the shell '%s'", shell);
    error_set_hint(&error, "there are for bash, zsh and fish");
    return tool_fail(&error);
}

static const struct args_example examples[] = {
    {"eval \"$(windtunnel completion bash)\"", "In ~/.bashrc: completes in every new shell."},
    {"eval \"$(windtunnel completion zsh)\"", "In ~/.zshrc, after compinit."},
    {"windtunnel completion fish > ~/.config/fish/completions/windtunnel.fish", "For fish."},
    {0},
};

static const struct args_verb verb_completion = {
    .name = "completion",
    .summary = "print a script that completes commands in bash, zsh or fish",
    .synopsis = "SHELL",
    .description = (const char *const[]){"The script completes commands, options, and values where they are known: "
                                         "presets, formats, metrics, files. An installed program has it in place "
                                         "already; SHELL is bash, zsh or fish.",
                                         NULL},
    .examples = examples,
    .operands_min = 1,
    .operands_max = 1,
    .run = completion,
};

static const struct args_verb *const verbs[] = {&verb_run,
                                                &verb_compare,
                                                &verb_plan,
                                                &verb_sweep_plan,
                                                &verb_sweep_run,
                                                &verb_sweep_resume,
                                                &verb_sweep_work,
                                                &verb_sweep_status,
                                                &verb_sweep_merge,
                                                &verb_sweep_submit,
                                                &verb_sweep_report,
                                                &verb_validate,
                                                &verb_validate_model,
                                                &verb_report,
                                                &verb_bundle,
                                                &verb_reproduce,
                                                &verb_topology_show,
                                                &verb_topology_mig,
                                                &verb_policy_list,
                                                &verb_policy_show,
                                                &verb_policy_check,
                                                &verb_trace_info,
                                                &verb_trace_validate,
                                                &verb_trace_convert,
                                                &verb_trace_freeze,
                                                &verb_trace_fit,
                                                &verb_trace_synth,
                                                &verb_trace_compare,
                                                &verb_case,
                                                &verb_decide,
                                                &verb_explain,
                                                &verb_metrics,
                                                &verb_export,
                                                &verb_schema,
                                                &verb_completion,
                                                NULL};

static const struct args_example exit_statuses[] = {
    {"0", "Success."},
    {"2", "The command line, a scenario, a cluster or a policy is wrong."},
    {"3", "A trace, a record or a stream of events holds bad data, another program decided "
          "nonsense; or, with --strict, jobs that can never fit."},
    {"4", "A file could not be read or written, or the disk is full."},
    {"5", "An internal error: a law of the program itself is broken, or memory ran out."},
    {"10", "Not all cases passed, decisions differ, a model misses what was measured, a policy broke "
           "a law, a gate failed, a bundle gave another run, or a plan found no number that meets its service levels."},
    {"11", "A gate is inconclusive, a plan is not sure of its answer, or a run of a comparison or a sweep failed or is "
           "missing."},
    {"128+N", "Ended by signal N, after writing a partial report."},
    {0},
};

static const struct args_example files[TOOL_FILES + 1] = {
    {TOOL_PREFIX "/share/windtunnel",
     "Scenarios, clusters (topologies), sample traces (workloads/samples) and models of workloads "
     "(workloads/models). Commands find them "
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
    .values = tool_values,
};
