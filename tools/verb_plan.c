/* windtunnel plan: the smallest cluster that will do, and the most that one can carry. */
#include <signal.h>
#include <stdio.h>

#include "base/output.h"
#include "base/worker_pool.h"
#include "studies/sizing/sizing_show.h"
#include "tools/progress_line.h"
#include "tools/sizing_question.h"
#include "tools/verbs.h"
#include "tools/what_if.h"

enum {
    WORKERS_MAX = 1024,
    STATUS_NONE = 10, /* no number meets the levels */
    STATUS_OPEN = 11, /* not sure, or stopped */
};

static volatile sig_atomic_t caught_signal;

/* The first signal ends the plan with what is done, the second ends the program. */
static void on_signal(int number)
{
    caught_signal = number;
    signal(number, SIG_DFL);
}

struct verb {
    const struct args *args;
    struct sizing_asked asked;
    struct progress_line progress;
};

static void show_progress(void *self, size_t cases, size_t runs)
{
    struct verb *verb = self;
    const struct sizing_options *options = &verb->asked.options;
    progress_line_show_runs(&verb->progress, cases * options->trials_max + runs,
                            options->case_count * options->trials_max);
}

static struct error run_plan(struct verb *verb, struct sizing *sizing)
{
    struct sizing_options *options = &verb->asked.options;
    int64_t workers;
    TRY(args_int64(verb->args, "jobs", 1, WORKERS_MAX, (int64_t)worker_core_count(), &workers));
    TRY(sizing_asked_read(&verb->asked, verb->args));
    options->worker_count = (size_t)workers;
    options->stop = &caught_signal;
    options->on_progress = show_progress;
    options->progress_self = verb;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    return sizing_run(sizing, options);
}

/* The command of one run, as far as all runs have it. */
static void write_command(const struct args *args, struct buffer *out)
{
    static const char *const options[] = {"trace", "format", "cluster", "policy", NULL};
    size_t count;
    buffer_string(out, "windtunnel run");
    if (args_operand(args, 0) != NULL)
        buffer_format(out, " %s", args_operand(args, 0));
    for (size_t o = 0; options[o] != NULL; o++)
        if (args_string(args, options[o]) != NULL)
            buffer_format(out, " --%s %s", options[o], args_string(args, options[o]));
    const char *const *plugins = args_list(args, "plugin", &count);
    for (size_t p = 0; p < count; p++)
        buffer_format(out, " --plugin %s", plugins[p]);
    const char *const *sets = args_list(args, "set", &count);
    for (size_t s = 0; s < count; s++)
        buffer_format(out, " --set '%s'", sets[s]);
}

/* Of all cases the one that says most against the plan. */
static int sizing_status(const struct sizing *sizing)
{
    int status = sizing->is_partial ? STATUS_OPEN : 0;
    for (size_t a = 0; a < sizing->answer_count; a++) {
        const struct sizing_answer *answer = &sizing->answers[a];
        if (!answer->is_found && answer->is_whole)
            return STATUS_NONE;
        if (!answer->is_sure)
            status = STATUS_OPEN;
    }
    return status;
}

static struct error write_page(const struct verb *verb, const struct show *show)
{
    const char *path = args_string(verb->args, "html");
    struct output *output;
    if (path == NULL)
        return ERROR_OK;
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    show_page(show, NULL, output_buffer(output));
    return output_commit(&output);
}

static int report(const struct verb *verb, const struct sizing *sizing)
{
    struct buffer out = {0}, command = {0};
    write_command(verb->args, &command);
    const char *title = args_string(verb->args, "title");
    struct show *show = sizing_show_new(sizing, title != NULL ? title : "A plan", buffer_c_string(&command));
    struct error error = write_page(verb, show);
    if (args_flag(verb->args, "json"))
        sizing_json(sizing, &out);
    else
        show_text(show, &out);
    show_free(show);
    buffer_release(&command);
    int status = tool_print(&out);
    if (error_is(error))
        status = tool_fail(&error);
    return status != 0 ? status : sizing_status(sizing);
}

static int seek(struct verb *verb)
{
    struct sizing sizing = {0};
    struct error error = run_plan(verb, &sizing);
    progress_line_end(&verb->progress);
    const int status = error_is(error) ? tool_fail(&error) : report(verb, &sizing);
    sizing_release(&sizing);
    sizing_asked_release(&verb->asked);
    return status;
}

/* Options that belong to a question that is sought. */
static struct error refuse_others(const struct args *args)
{
    static const char *const others[] = {"nodes", "smallest", "largest", "growth", "quarters", "with", "budget",
                                         "pool",  "tornado",  "runs",    "alpha",  "html",     NULL};
    for (size_t o = 0; others[o] != NULL; o++)
        if (args_string(args, others[o]) != NULL)
            return error_new(ERROR_USAGE, "--what-if seeks nothing: it goes without --%s", others[o]);
    if (args_flag(args, "capacity") || args_flag(args, "json"))
        return error_new(ERROR_USAGE, "--what-if goes without --capacity and --json; `windtunnel compare` writes JSON");
    return ERROR_OK;
}

static int ask_what_if(struct verb *verb)
{
    struct buffer out = {0};
    bool is_complete = false;
    struct error error = refuse_others(verb->args);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (!error_is(error))
        error = what_if_run(verb->args, &verb->progress, &caught_signal, &out, &is_complete);
    progress_line_end(&verb->progress);
    if (error_is(error)) {
        buffer_release(&out);
        return tool_fail(&error);
    }
    const int status = tool_print(&out);
    return status != 0 ? status : is_complete ? 0 : STATUS_OPEN;
}

static int run_verb(const struct args *args)
{
    struct verb verb = {.args = args};
    size_t changes;
    (void)args_list(args, "what-if", &changes);
    progress_line_begin(&verb.progress, !args_flag(args, "quiet"));
    const int status = changes > 0 ? ask_what_if(&verb) : seek(&verb);
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}

static const struct args_option options[] = {
    {.name = "nodes",
     .letter = 'n',
     .metavar = "POOL[=LOW..HIGH]",
     .help =
         "Seek the least number of nodes of this pool; that of the only pool is sought by default. The range is from "
         "1 to four times as many as there are, and 16 more."},
    {.name = "capacity",
     .help = "Seek the largest load, in steps of a fortieth of the scenario's or less, up to four times of it."},
    {.name = "smallest",
     .metavar = "PATH=LOW..HIGH[/STEP]",
     .help =
         "Seek the least value of any number of the scenario, such as cluster.pools.h100.gpus_per_node=1..16. It is "
         "taken that larger ones do no harm."},
    {.name = "largest",
     .metavar = "PATH=LOW..HIGH[/STEP]",
     .help = "Seek the largest value of any number of the scenario. It is taken that smaller ones do no harm."},
    {.name = "level",
     .letter = 'l',
     .metavar = "METRIC[:CUT=KEY]<=BOUND",
     .help = "A service level, in place of the service levels of the scenario; >= for a least value. "
             "'windtunnel metrics' lists the "
             "names, docs/scenario.md the cuts.",
     .is_repeatable = true},
    {.name = "growth",
     .metavar = "PERCENT",
     .help = "Answer for the load of now and of the quarters after it, each larger by this much: 10%."},
    {.name = "quarters", .metavar = "N", .help = "The number of quarters of growth; 4."},
    {.name = "with",
     .metavar = "PATH=VALUE,...",
     .help = "Answer for each of these values of another field: the nodes of another pool, or policies."},
    {.name = "tornado",
     .metavar = "PATH=LOW..HIGH",
     .help = "Answer for either end of what this field may be, one field at a time, and say which moves the answer "
             "most.",
     .is_repeatable = true},
    {.name = "budget",
     .metavar = "USD",
     .help = "Seek the mix of two pools for so much per hour that carries the largest load. The pools have a "
             "price_usd_per_gpu_h."},
    {.name = "pool", .metavar = "POOL", .help = "A pool of the budget; two are named.", .is_repeatable = true},
    {.name = "what-if",
     .letter = 'w',
     .metavar = "PATH=CHANGE",
     .help = "Seek nothing, but show what this changes, on the same jobs: PATH=+50, -10%, x1.5 or a value. With more "
             "than one, all are made.",
     .is_repeatable = true},
    {.name = "runs", .metavar = "N", .help = "At most so many runs for an answer; 60."},
    {.name = "seeds",
     .metavar = "N",
     .help = "At most so many runs of one number, 40; 1: the answer of one seed alone. For --what-if just so many of "
             "each side, 5."},
    {.name = "alpha", .metavar = "P", .help = "The probability that a sure answer is wrong; 0.05."},
    {.name = "jobs", .letter = 'j', .metavar = "N", .help = "Runs at the same time; by default one for each core."},
    {.name = "json", .help = "Print one JSON object."},
    {.name = "html", .metavar = "FILE", .help = "Write a page there too, with the curve of each level."},
    {.name = "quiet", .letter = 'q', .help = "No progress."},
    SCENARIO_OPTIONS,
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel plan h100-500x8 --level 'queue_time_p95_s:workload_class=small training<=1h'",
     "The smallest cluster on which small training waits at most an hour at p95."},
    {"windtunnel plan h100-500x8 --capacity --level 'admission_p99_s:class=inference<=2'",
     "The largest load at which inference is admitted within 2 s at p99."},
    {"windtunnel plan h100-500x8 --what-if pools.h100.nodes=+50", "What 50 nodes more would change."},
    {"windtunnel plan mine.json --growth 10% --quarters 4", "The nodes that the next four quarters need."},
    {"windtunnel plan mine.json --nodes h100 --with pools.a100.nodes=0,50,100",
     "Mixes of two pools that will do, with their prices."},
    {0},
};

const struct args_verb verb_plan = {
    .name = "plan",
    .summary = "find the smallest cluster that meets service levels, or the most that one carries",
    .synopsis = "[SCENARIO] [OPTION]...",
    .description =
        (const char *const[]){
            "Seeks the least number of nodes at which the service levels of the scenario are met, or the largest load, "
            "or another number. Prints the answer first, then the levels at it and just past it, then all numbers that "
            "were tried.",
            "A number meets the levels if the mean of each metric over the seeds is within its bound. Numbers are "
            "tried with two runs at first. The numbers on both sides of the answer are tried with 5, 10, 20 and 40 "
            "runs until both are sure, which means: not by chance, at the probability of --alpha. If that takes more "
            "runs than are allowed, the answer says within what range it is sure. A trace that is replayed without "
            "chance is run once for each number.",
            "The exit status is 0 if the answers are sure, 10 if no number in the range meets the levels, 11 if an "
            "answer is not sure. On SIGINT or SIGTERM what is done is shown, and the signal is raised again.",
            NULL},
    .options = options,
    .examples = examples,
    .operands_max = 1,
    .run = run_verb,
};
