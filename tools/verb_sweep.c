/* windtunnel sweep: many runs of one scenario under levels of factors, on one machine or many. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/worker_pool.h"
#include "studies/sweep/sweep_merge.h"
#include "studies/sweep_report/sweep_report.h"
#include "tools/installed.h"
#include "tools/progress_line.h"
#include "tools/sweep_options.h"
#include "tools/verbs.h"

static volatile sig_atomic_t caught_signal;

/* The first signal ends the work: what is recorded stays.  The second ends the program. */
static void on_signal(int number)
{
    caught_signal = number;
    signal(number, SIG_DFL);
}

static int raised(int status)
{
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}

/* ---- sweep plan ---- */

static struct error make_plan(const struct args *args, const char *path, const char *folder, struct sweep_plan *plan)
{
    struct sweep_file file;
    char *present = getcwd(NULL, 0);
    if (present == NULL)
        return error_io("find", "the present folder", errno);
    struct error error = sweep_file_read(&file, installed_find(path, "scenarios/sweeps"));
    if (!error_is(error)) {
        struct sweep_plan_options options = {.version = WINDTUNNEL_VERSION, .file = &file, .paths_folder = present};
        options.sets = args_list(args, "set", &options.set_count);
        options.plugins = args_list(args, "plugin", &options.plugin_count);
        error = sweep_plan_make(plan, &options);
        sweep_file_release(&file);
    }
    free(present);
    TRY(error);
    error = sweep_plan_write(plan, folder);
    if (error_is(error))
        sweep_plan_release(plan);
    return error;
}

static void describe(const struct sweep_plan *plan, const char *folder, struct buffer *out)
{
    for (size_t f = 0; f < plan->factor_count; f++)
        buffer_format(out, "%s: %zu levels\n", plan->factors[f].name, plan->factors[f].level_count);
    buffer_format(out, "%zu combinations x %zu seeds = %zu runs", plan->combination_count, plan->seed_count,
                  plan->run_count);
    if (plan->distinct_count != plan->run_count)
        buffer_format(out, ", %zu of them different", plan->distinct_count);
    buffer_format(out, "\nplan in %s\n", folder);
}

int verb_sweep_plan(const struct args *args)
{
    const char *folder = args_string(args, "out");
    struct sweep_plan plan;
    struct buffer out = {0};
    struct error error = folder == NULL ? error_new(ERROR_USAGE, "'--out' is missing: the folder of the plan")
                                        : make_plan(args, args_operand(args, 0), folder, &plan);
    if (error_is(error))
        return tool_fail(&error);
    describe(&plan, folder, &out);
    sweep_plan_release(&plan);
    return tool_print(&out);
}

/* ---- sweep run, work ---- */

static void show_progress(void *self, size_t done, size_t total)
{
    progress_line_show_runs(self, done, total);
}

static struct error work(const struct args *args, struct sweep_work_options *options, struct sweep_tally *tally)
{
    struct progress_line progress;
    options->stop = &caught_signal;
    options->on_progress = show_progress;
    options->progress_self = &progress;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    progress_line_begin(&progress, !args_flag(args, "quiet"));
    struct error error = sweep_work(options, tally);
    progress_line_end(&progress);
    return error;
}

/* What is recorded of all runs; failures to standard error, but for `status`. */
static int show_books(const struct sweep_plan *plan, const struct sweep_books *books, const struct args *args,
                      bool is_status)
{
    struct buffer out = {0}, failures = {0};
    sweep_show_counts(plan, books, &out);
    sweep_show_failures(plan, books, is_status ? "" : "error: ", is_status && args_flag(args, "all"),
                        is_status ? &out : &failures);
    tool_show(stderr, &failures);
    buffer_release(&failures);
    const int status = tool_print(&out);
    return status == 0 && !sweep_books_is_complete(books) ? SWEEP_STATUS_OPEN : status;
}

static int show(const char *folder, const struct args *args, bool is_status)
{
    struct sweep_plan plan;
    struct sweep_books books;
    struct error error = sweep_plan_read(&plan, folder);
    if (error_is(error))
        return tool_fail(&error);
    error = sweep_books_read(&books, &plan, folder);
    const int status = error_is(error) ? tool_fail(&error) : show_books(&plan, &books, args, is_status);
    sweep_books_release(&books);
    sweep_plan_release(&plan);
    return status;
}

static bool is_plan_folder(const char *path)
{
    struct buffer name = {0};
    buffer_format(&name, "%s/" SWEEP_PLAN_FILE, path);
    const bool is = access(buffer_c_string(&name), F_OK) == 0;
    buffer_release(&name);
    return is;
}

/* The folder of the plan; if the operand is the file of a sweep, the plan is made there first. */
static struct error find_folder(const struct args *args, const char **folder)
{
    const char *operand = args_operand(args, 0), *out = args_string(args, "out");
    struct sweep_plan plan;
    struct stat status;
    *folder = operand;
    if (out != NULL && is_plan_folder(operand))
        return error_new(ERROR_USAGE, "'--out' is for the file of a sweep, and %s is a plan", operand);
    if (out == NULL && stat(operand, &status) == 0 && S_ISREG(status.st_mode))
        return error_new(ERROR_USAGE, "'--out' is missing: the folder for the plan of %s", operand);
    if (out == NULL)
        return ERROR_OK;
    TRY(make_plan(args, operand, out, &plan));
    sweep_plan_release(&plan);
    *folder = out;
    return ERROR_OK;
}

int verb_sweep_run(const struct args *args)
{
    struct sweep_work_options options = {.share_count = 1, .is_bound = !args_flag(args, "no-bind")};
    struct sweep_tally tally;
    struct error error = sweep_read_work_options(args, (int64_t)worker_core_count(), &options);
    if (!error_is(error))
        error = find_folder(args, &options.folder);
    if (!error_is(error))
        error = work(args, &options, &tally);
    const int status = error_is(error) ? tool_fail(&error) : show(options.folder, args, false);
    return raised(status);
}

int verb_sweep_resume(const struct args *args)
{
    return verb_sweep_run(args);
}

int verb_sweep_work(const struct args *args)
{
    struct sweep_work_options options = {.folder = args_operand(args, 0)};
    struct sweep_tally tally;
    struct buffer out = {0};
    struct error error = sweep_read_work_options(args, 1, &options);
    if (!error_is(error))
        error = sweep_read_share(args, &options.share_index, &options.share_count);
    if (!error_is(error))
        error = work(args, &options, &tally);
    if (error_is(error))
        return raised(tool_fail(&error));
    size_t made = 0;
    for (int s = RUN_DONE; s < RUN_STATES; s++)
        made += tally.counts[s];
    buffer_format(&out, "share %zu of %zu: %zu recorded before, %zu done, %zu failed, %zu not made\n",
                  options.share_index + 1, options.share_count, tally.known, tally.counts[RUN_DONE],
                  made - tally.counts[RUN_DONE], tally.total - made);
    const int status = tool_print(&out);
    return raised(status == 0 && tally.counts[RUN_DONE] < tally.total ? SWEEP_STATUS_OPEN : status);
}

/* ---- sweep status, merge ---- */

int verb_sweep_status(const struct args *args)
{
    return show(args_operand(args, 0), args, true);
}

static struct error read_format(const struct args *args, enum sweep_format *format)
{
    const char *name = args_string(args, "to");
    *format = SWEEP_CSV;
    if (name == NULL)
        return ERROR_OK;
    for (int f = 0; sweep_format_names[f] != NULL; f++)
        if (strcmp(sweep_format_names[f], name) == 0) {
            *format = (enum sweep_format)f;
            return ERROR_OK;
        }
    return error_new(ERROR_USAGE, "'--to' must be csv, json or sqlite, got '%s'", name);
}

static struct error merge(const struct args *args, bool *is_complete)
{
    struct sweep_results results;
    enum sweep_format format;
    const char *out = args_string(args, "out");
    TRY(read_format(args, &format));
    if (out == NULL && format == SWEEP_SQLITE)
        return error_new(ERROR_USAGE, "'--out' is missing: a database is a file");
    TRY(sweep_results_read(&results, args_operand(args, 0)));
    *is_complete = sweep_books_is_complete(&results.books);
    struct error error = sweep_merge(&results, format, args_flag(args, "all"), out != NULL ? out : "-");
    if (!error_is(error) && !*is_complete)
        tool_say("warning: %zu of %zu runs are not done; their state stands in the result\n",
                 results.plan.run_count - results.books.counts[RUN_DONE], results.plan.run_count);
    sweep_results_release(&results);
    return error;
}

int verb_sweep_merge(const struct args *args)
{
    bool is_complete = false;
    struct error error = merge(args, &is_complete);
    if (error_is(error))
        return tool_fail(&error);
    return is_complete ? 0 : SWEEP_STATUS_OPEN;
}

/* ---- sweep report ---- */

static struct error write_page(const struct show *show, const char *path)
{
    struct output *output;
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    show_page(show, NULL, output_buffer(output));
    return output_commit(&output);
}

int verb_sweep_report(const struct args *args)
{
    struct sweep_results results;
    struct sweep_report report;
    struct buffer out = {0};
    const char *page = args_string(args, "out");
    size_t count;
    const char *const *metrics = args_list(args, "metric", &count);
    struct error error = sweep_results_read(&results, args_operand(args, 0));
    if (error_is(error))
        return tool_fail(&error);
    error = sweep_report_choose(&report, &results, metrics, count, args_string(args, "over"));
    struct show *show = error_is(error) ? NULL : sweep_report_show_new(&report);
    if (show != NULL && page != NULL)
        error = write_page(show, page);
    else if (show != NULL)
        show_text(show, &out);
    show_free(show);
    int status = error_is(error) ? tool_fail(&error) : tool_print(&out);
    if (status == 0 && !sweep_books_is_complete(&results.books))
        status = SWEEP_STATUS_OPEN;
    sweep_results_release(&results);
    return status;
}
