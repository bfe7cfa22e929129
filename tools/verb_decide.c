/* windtunnel decide: the scheduler alone, driven by lines of facts. */
#include <errno.h>
#include <stdio.h>

#include "sim/live/decide.h"
#include "tools/installed.h"
#include "tools/verbs.h"

enum {
    STATUS_BAD_LINES = 3,
    STATUS_DIFFERS = 10 /* as for other checks that fail */
};

static struct error print(void *self, struct text lines)
{
    (void)self;
    errno = 0;
    if (fwrite(lines.at, 1, lines.length, stdout) != lines.length || fflush(stdout) != 0)
        return error_io("write", "standard output", errno);
    return ERROR_OK;
}

int verb_decide(const struct args *args)
{
    const char *path = args_operand(args, 0);
    struct decide_options options = {.path = path != NULL ? path : "-",
                                     .policy = args_string(args, "policy"),
                                     .cluster = installed_find(args_string(args, "cluster"), "topologies"),
                                     .log = args_string(args, "log"),
                                     .describe = args_string(args, "describe"),
                                     .is_checked = args_flag(args, "check"),
                                     .is_strict = args_flag(args, "strict"),
                                     .on_answer = print};
    struct decide_result result;
    int64_t cycles = 0;
    struct error bad = args_int64(args, "cycles", 1, INT64_MAX, 0, &cycles);
    if (error_is(bad))
        return tool_fail(&bad);
    options.cycles = (uint64_t)cycles;
    options.sets = args_list(args, "set", &options.set_count);
    if (options.log != NULL && options.is_checked) {
        bad = error_new(ERROR_USAGE, "--check writes nothing, and --log keeps what comes");
        return tool_fail(&bad);
    }
    struct error error = decide_run(&options, &result);
    if (result.torn_bytes > 0)
        tool_say("note: the last line of %s was not whole: %llu bytes were cut off\n", options.log,
                 (unsigned long long)result.torn_bytes);
    if (error_is(error)) {
        error_release(&result.difference);
        return tool_fail(&error);
    }
    if (result.bad_lines > 0) {
        tool_say("error: %llu lines could not be taken, and were answered with 'bad_line'\n",
                 (unsigned long long)result.bad_lines);
        return STATUS_BAD_LINES;
    }
    if (!options.is_checked)
        return 0;
    if (error_is(result.difference)) {
        tool_fail(&result.difference);
        return STATUS_DIFFERS;
    }
    tool_say("the same %llu decisions in %llu cycles\n", (unsigned long long)result.decisions,
             (unsigned long long)result.cycles);
    return 0;
}
