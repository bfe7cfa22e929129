/* windtunnel metrics: what every metric is. */
#include "reports/metrics.h"
#include "tools/verbs.h"

static int run_metrics(const struct args *args)
{
    struct buffer out = {0};
    struct error error = metrics_explain(args_operand(args, 0), args_flag(args, "json"), &out);
    if (!error_is(error))
        return tool_print(&out);
    buffer_release(&out);
    return tool_fail(&error);
}

static const struct args_option options[] = {
    {.name = "json", .help = "Print JSON in place of text."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel metrics", "All metrics, in the order of result.json."},
    {"windtunnel metrics queue_time_p95_s", "One of them."},
    {0},
};

const struct args_verb verb_metrics = {
    .name = "metrics",
    .summary = "the definitions of the metrics of result.json",
    .synopsis = "[METRIC] [OPTION]...",
    .description =
        (const char *const[]){"Prints for each metric its name, its unit, the better direction, the cuts under \"by\" "
                              "that have it besides the whole run, and its definition. The window is from the end of "
                              "the warm-up to the end of the measured time; the jobs are those submitted in it and "
                              "not rejected. A metric that is not defined for a run is left out of its result.json.",
                              NULL},
    .options = options,
    .examples = examples,
    .operands_max = 1,
    .run = run_metrics,
};
