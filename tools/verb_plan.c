/* windtunnel plan: the smallest cluster that will do, and the most that one can carry. */
#include <signal.h>
#include <stdio.h>

#include "base/output.h"
#include "base/worker_pool.h"
#include "studies/run/kept_runs.h"
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
    options->kept = args_string(verb->args, "keep");
    if (options->kept != NULL)
        TRY(kept_runs_open(options->kept));
    options->stop = &caught_signal;
    options->on_progress = show_progress;
    options->progress_self = verb;
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
    struct show *show = sizing_show_new(sizing, title, buffer_c_string(&command));
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
    static const char *const others[] = {"nodes", "smallest", "largest", "growth", "quarters",  "with", "budget",
                                         "pool",  "tornado",  "runs",    "alpha",  "lead-time", NULL};
    for (size_t o = 0; others[o] != NULL; o++)
        if (args_string(args, others[o]) != NULL)
            return error_new(ERROR_USAGE, "--what-if seeks nothing: it goes without --%s", others[o]);
    if (args_flag(args, "capacity") || args_flag(args, "assumptions") || args_flag(args, "json"))
        return error_new(ERROR_USAGE, "--what-if goes without --capacity, --assumptions and --json; `windtunnel "
                                      "compare` writes JSON and takes --assumptions");
    return ERROR_OK;
}

static int ask_what_if(struct verb *verb)
{
    struct buffer out = {0};
    bool is_complete = false;
    struct error error = refuse_others(verb->args);
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

int verb_plan(const struct args *args)
{
    struct verb verb = {.args = args};
    size_t changes;
    (void)args_list(args, "what-if", &changes);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    progress_line_begin(&verb.progress, !args_flag(args, "quiet"));
    const int status = changes > 0 ? ask_what_if(&verb) : seek(&verb);
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}
