#include "studies/sweep/sweep_work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "base/worker_pool.h"
#include "studies/run/trial.h"
#include "studies/sweep/cores.h"
#include "studies/sweep/sweep_books.h"

enum {
    STATUS_MEMORY = 105, /* of a process that ran out of memory */
};

struct work {
    const struct sweep_work_options *options;
    struct sweep_tally *tally;
    struct sweep_plan plan;
    size_t *runs; /* to be made, by task */
    size_t run_count;
    struct cores *cores;        /* NULL: none is bound */
    struct error failure;       /* of the books: nothing more is recorded */
    volatile sig_atomic_t stop; /* the caller's stop, or a failure */
    size_t done;
};

/* ---- in the process of a run ---- */

static void on_exhausted(size_t bytes)
{
    (void)bytes;
    _exit(STATUS_MEMORY);
}

static void start_run(void *self, size_t slot)
{
    const struct work *work = self;
    const struct sweep_work_options *options = work->options;
    if (work->cores != NULL)
        cores_bind(work->cores, slot);
    if (options->timeout_ns > 0) {
        const struct itimerval timer = {
            .it_value = {.tv_sec = options->timeout_ns / TIME_NS_PER_S,
                         .tv_usec = (options->timeout_ns % TIME_NS_PER_S + TIME_NS_PER_US - 1) / TIME_NS_PER_US}};
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGALRM);
        signal(SIGALRM, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    mem_on_exhausted(on_exhausted);
    if (options->memory_bytes > 0) {
        const struct rlimit limit = {.rlim_cur = options->memory_bytes, .rlim_max = options->memory_bytes};
        setrlimit(RLIMIT_AS, &limit);
    }
}

static struct error make_run(void *self, size_t task, struct buffer *out)
{
    const struct work *work = self;
    const struct sweep_run *run = &work->plan.runs[work->runs[task]];
    const struct trial trial = {
        .version = work->options->version,
        .scenario = {.text = work->plan.configurations[run->combination], .gate = &scenario_open_gate},
        .seed = run->seed};
    const char *folder = work->options->paths_folder != NULL ? work->options->paths_folder : work->plan.paths_folder;
    if (chdir(folder) != 0)
        return error_io("enter", folder, errno);
    return trial_run(&trial, out);
}

/* ---- what comes back ---- */

static enum run_state failure_of(const struct worker_result *result, char text[160])
{
    const int status = result->status;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        snprintf(text, 160, "took longer than it may");
        return RUN_TIMEOUT;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_MEMORY) {
        snprintf(text, 160, "ran out of memory");
        return RUN_MEMORY;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        snprintf(text, 160, "was killed from outside, perhaps because the machine ran out of memory");
        return RUN_KILLED;
    }
    text[0] = '\0';
    return WIFSIGNALED(status) || WEXITSTATUS(status) != 0 ? RUN_CRASH : RUN_ERROR;
}

/* Nothing more can be recorded, so nothing more is made. */
static void give_up(struct work *work, struct error error)
{
    if (error_is(work->failure))
        error_release(&error);
    else
        work->failure = error;
    work->stop = 1;
}

static void keep_result(void *self, const struct worker_result *result)
{
    struct work *work = self;
    const size_t run = work->runs[result->index];
    char text[160] = "";
    if (error_is(work->failure))
        return;
    if (result->status == WORKER_NOT_STARTED) {
        give_up(work, error_new(ERROR_IO, "%s", result->failure));
        return;
    }
    const enum run_state state = result->is_done ? RUN_DONE : failure_of(result, text);
    const struct text said = result->is_done ? result->bytes : text_of(text[0] != '\0' ? text : result->failure);
    struct error error = sweep_books_keep(work->options->folder, &work->plan, run, state, said);
    if (error_is(error)) {
        give_up(work, error);
        return;
    }
    work->done++;
    work->tally->counts[state]++;
}

static void on_wait(void *self)
{
    struct work *work = self;
    const struct sweep_work_options *options = work->options;
    if (options->stop != NULL && *options->stop != 0)
        work->stop = 1;
    if (options->on_progress != NULL)
        options->on_progress(options->progress_self, work->done, work->run_count);
}

/* ---- which runs ---- */

static bool is_wanted(const struct work *work, const struct sweep_entry *entry)
{
    return entry->state == RUN_MISSING || entry->state == RUN_KILLED ||
           (entry->state != RUN_DONE && work->options->retries);
}

static struct error choose_runs(struct work *work)
{
    const struct sweep_work_options *options = work->options;
    struct sweep_books books;
    TRY(sweep_books_read(&books, &work->plan, options->folder));
    work->runs = mem_zalloc(work->plan.run_count, sizeof *work->runs);
    for (size_t r = options->share_index; r < work->plan.run_count; r += options->share_count) {
        if (work->plan.runs[r].first != r)
            continue;
        if (is_wanted(work, &books.entries[r]))
            work->runs[work->run_count++] = r;
        else
            work->tally->known++;
    }
    work->tally->total = work->run_count;
    sweep_books_release(&books);
    return ERROR_OK;
}

/* Test that version and inputs are the plan's: the key of a run names them, so its result must come from them. */
static struct error check_input(const struct work *work, const struct sweep_input *input)
{
    const char *folder = work->options->paths_folder != NULL ? work->options->paths_folder : work->plan.paths_folder;
    struct buffer path = {0};
    char digest[33];
    buffer_format(&path, "%s%s%s", input->name[0] == '/' ? "" : folder, input->name[0] == '/' ? "" : "/", input->name);
    struct error error = input_digest(buffer_c_string(&path), digest);
    if (!error_is(error) && strcmp(digest, input->digest) != 0) {
        error = error_new(ERROR_DATA, "the %s %s is not that of the plan: it has changed", input->role,
                          buffer_c_string(&path));
        error_set_hint(&error, "make a new plan in another folder");
    }
    buffer_release(&path);
    return error;
}

/* Files that are opened by each run, not while the plan is made. */
static bool is_read_late(const char *role)
{
    static const char *const roles[] = {"trace", "table", "plugin", "capacity"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i]) == 0)
            return true;
    return false;
}

static struct error check_plan(const struct work *work)
{
    const struct sweep_plan *plan = &work->plan;
    if (strcmp(plan->version, work->options->version) != 0) {
        struct error error = error_new(ERROR_CONFIG, "the plan in %s is of windtunnel %s, and this is %s",
                                       work->options->folder, plan->version, work->options->version);
        error_set_hint(&error, "make a new plan in another folder");
        return error;
    }
    for (size_t i = 0; i < plan->input_count; i++)
        if (is_read_late(plan->inputs[i].role))
            TRY(check_input(work, &plan->inputs[i]));
    return ERROR_OK;
}

/* ---- the whole ---- */

static struct error make_runs(struct work *work)
{
    const struct sweep_work_options *options = work->options;
    const size_t count = options->worker_count < work->run_count ? options->worker_count : work->run_count;
    if (options->is_bound)
        TRY(cores_open(&work->cores, count));
    const struct worker_pool pool = {.task_count = work->run_count,
                                     .worker_count = count,
                                     .on_start = start_run,
                                     .run = make_run,
                                     .on_done = keep_result,
                                     .on_wait = on_wait,
                                     .self = work,
                                     .stop = &work->stop};
    struct error error = worker_pool_run(&pool);
    if (!error_is(work->failure))
        return error;
    error_release(&error); /* the failure came first */
    return work->failure;
}

static struct error work_all(struct work *work)
{
    TRY(sweep_plan_read(&work->plan, work->options->folder));
    TRY(check_plan(work));
    TRY(choose_runs(work));
    return work->run_count > 0 ? make_runs(work) : ERROR_OK;
}

struct error sweep_work(const struct sweep_work_options *options, struct sweep_tally *tally)
{
    struct work work = {.options = options, .tally = tally};
    *tally = (struct sweep_tally){0};
    struct error error = work_all(&work);
    cores_close(&work.cores);
    mem_free(work.runs);
    sweep_plan_release(&work.plan);
    return error;
}
