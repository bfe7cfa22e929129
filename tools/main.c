/* windtunnel: find the verb, parse its arguments, run it. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tools/verbs.h"

static const struct args_verb *const verbs[] = {&verb_run,
                                                &verb_validate,
                                                &verb_report,
                                                &verb_topology_show,
                                                &verb_topology_mig,
                                                &verb_policy_list,
                                                &verb_policy_show,
                                                &verb_trace_info,
                                                &verb_case,
                                                &verb_decide,
                                                &verb_explain,
                                                &verb_metrics,
                                                NULL};

static const struct args_example exit_statuses[] = {
    {"0", "Success."},
    {"2", "The command line, a scenario, a cluster or a policy is wrong."},
    {"3", "A trace, a record or a stream of events holds bad data, another program decided "
          "nonsense; or, with --strict, jobs that can never fit."},
    {"4", "A file could not be read or written, or the disk is full."},
    {"5", "An internal error: a law of the program itself is broken, or memory ran out."},
    {"10", "Not all cases passed, or decisions differ."},
    {"128+N", "Ended by signal N, after writing a partial report."},
    {0},
};

static const struct args_command command = {
    .name = "windtunnel",
    .version = WINDTUNNEL_VERSION,
    .summary = "judge GPU cluster schedulers in simulated time",
    .description =
        (const char *const[]){"Replays or synthesizes job arrivals against a modelled GPU cluster, "
                              "drives the same scheduler library "
                              "that a live cluster would link, and reports utilization, queue "
                              "times and what became of the jobs.",
                              "Data goes to standard output, everything else to standard error.",
                              NULL},
    .verbs = verbs,
    .exit_statuses = exit_statuses,
};

static void on_exhausted(size_t bytes)
{
    char text[96];
    int length = snprintf(text, sizeof text, "error: out of memory (%zu bytes wanted)\n", bytes);
    if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(5);
    _exit(5);
}

static int help(int count, char **arguments)
{
    struct buffer out = {0};
    const struct args_verb *verb;
    int used;
    if (count > 0 && strcmp(arguments[0], "--man") == 0) {
        args_manual(&command, &out);
    } else if (count == 0 || (count == 1 && args_help_family(&command, arguments[0], &out))) {
        if (count == 0)
            args_help_command(&command, &out);
    } else {
        struct error error = args_find_verb(&command, count, arguments, &verb, &used);
        if (error_is(error))
            return tool_fail(&error);
        args_help_verb(&command, verb, &out);
    }
    return tool_print(&out);
}

static int run_verb(int count, char **arguments)
{
    const struct args_verb *verb;
    struct args *args;
    struct buffer out = {0};
    int used;
    struct error error = args_find_verb(&command, count, arguments, &verb, &used);
    if (error_is(error)) {
        if (count == 1 && args_help_family(&command, arguments[0], &out)) {
            error_release(&error);
            fwrite(out.bytes, 1, out.length, stderr);
            buffer_release(&out);
            return error_exit_status(ERROR_USAGE);
        }
        return tool_fail(&error);
    }
    error = args_parse(&args, verb, count - used, arguments + used);
    if (error_is(error))
        return tool_fail(&error);
    int status;
    if (args_wants_help(args)) {
        args_help_verb(&command, verb, &out);
        status = tool_print(&out);
    } else {
        status = verb->run(args);
    }
    args_free(args);
    return status;
}

/* The number of a standard stream that the caller closed is taken, lest a file of ours get it and then the table or
 * a message.  Opened for the other direction, it fails in use as a closed one does. */
static void occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(error_exit_status(ERROR_IO));
}

int main(int argc, char **argv)
{
    occupy_standard_streams();
    mem_on_exhausted(on_exhausted);
    tool_set_arguments(argv + (argc > 0));
    json_set_alloc_funcs(mem_alloc, mem_free);
    signal(SIGPIPE, SIG_IGN); /* seen as failed writes */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        struct buffer out = {0};
        args_help_command(&command, &out);
        fwrite(out.bytes, 1, out.length, stderr);
        buffer_release(&out);
        return error_exit_status(ERROR_USAGE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        struct buffer out = {0};
        buffer_string(&out, "windtunnel " WINDTUNNEL_VERSION "\n");
        return tool_print(&out);
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return help(argc - 2, argv + 2);
    return run_verb(argc - 1, argv + 1);
}
