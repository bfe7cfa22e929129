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

static int decide(const struct args *args)
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

static const struct args_option options[] = {
    {.name = "check",
     .help = "Write nothing, but compare with the decisions in the input. Report the first "
             "difference with its line and exit with status 10."},
    {.name = "cluster",
     .letter = 'c',
     .metavar = "FILE",
     .help = "A cluster in place of the header's: JSON, or a node list with openb's columns."},
    {.name = "cycles", .metavar = "N", .help = "Stop after the answer to the Nth cycle."},
    {.name = "describe",
     .metavar = "FILE",
     .help = "At the end write what there is as a stream of its own, to begin a log with: nodes, jobs with their past, "
             "usage. The file appears whole or not at all."},
    {.name = "log",
     .metavar = "FILE",
     .help = "Keep the stream there: each line before it is taken, each answer after it was given. If the file is "
             "there, replay it first, say so, and go on with the lines after those that it holds."},
    {.name = "policy",
     .letter = 'p',
     .metavar = "PRESET|FILE",
     .help = "A policy in place of the header's: a preset's name, or a file if it holds '/' or "
             "ends in .json."},
    {.name = "set",
     .metavar = "PATH=VALUE",
     .help = "Override a field of the header, such as policy.preemption.grace_s or "
             "cluster.pools.h100.nodes. Applied in order.",
     .is_repeatable = true},
    {.name = "strict",
     .help = "The first line that cannot be taken, or that is about a job, node or decision that is not there, ends "
             "the program with status 3. Without it such a line is answered, and the stream goes on."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel decide out/main/events.jsonl.zst --check", "Check that this version makes the recorded decisions."},
    {"windtunnel decide out/main/events.jsonl.zst --policy kai", "The decisions of another policy on the same facts."},
    {0},
};

const struct args_verb verb_decide = {
    .name = "decide",
    .summary = "drive the scheduler by lines of facts",
    .synopsis = "[FILE] [OPTION]...",
    .description =
        (const char *const[]){"Reads lines of JSON from FILE (plain or zstd) or standard input: a header, then facts "
                              "and cycles. Writes the decisions of each cycle, and a line that ends them, before it "
                              "reads on, so that a program can drive it through pipes. Ignores decisions in the "
                              "input. The lines are those that 'windtunnel run --events' records and that "
                              "docs/decide.md describes.",
                              NULL},
    .options = options,
    .examples = examples,
    .operands_max = 1,
    .run = decide,
};
