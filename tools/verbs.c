/* The command as a whole; its verbs are those of tools/commands.txt. */
#include "tools/verbs.h"

const struct args_command tool_command = {
    .name = "windtunnel",
    .version = WINDTUNNEL_VERSION,
    .summary = "judge GPU cluster schedulers in simulated time",
    .description = (const char *const[]){"Replays or synthesizes job arrivals against a modelled GPU cluster, "
                                         "drives the same scheduler library "
                                         "that a live cluster would link, and reports utilization, queue "
                                         "times and what became of the jobs.",
                                         "Data goes to standard output, everything else to standard error.", NULL},
    .verbs = tool_verbs,
    .exit_statuses = tool_exit_statuses,
    .files = tool_files,
    .values = tool_values,
};
