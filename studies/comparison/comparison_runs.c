/* studies/comparison/comparison_runs.c -- the runs of a comparison, over all cores. */
#include <jansson.h>
#include <string.h>
#include <sys/wait.h>

#include "base/worker_pool.h"
#include "reports/view.h"
#include "studies/comparison/comparison_inside.h"
#include "studies/run/chance.h"
#include "studies/run/trial.h"

enum { HANGS_AFTER = 4 };

/* ---- how a trace has seeds, in words ---- */

/* "30 s" or what the scenario says: "5m". */
static void write_duration(const json_t *value, struct buffer *out)
{
    if (json_is_string(value))
        view_name(out, json_string_value(value), 20);
    else
        view_duration(out, json_number_value(value));
}

char *comparison_blocks_new(const char *scenario_json)
{
    json_t *root = json_loads(scenario_json, 0, NULL);
    const char *blocks = json_string_value(json_object_get(json_object_get(root, "workload"), "blocks"));
    char *copy = blocks != NULL ? mem_copy_text(blocks) : NULL;
    json_decref(root);
    return copy;
}

char *comparison_shake_new(const char *scenario_json)
{
    json_t *root = json_loads(scenario_json, 0, NULL);
    json_t *shake = json_object_get(json_object_get(root, "workload"), "shake");
    json_t *arrivals = json_object_get(shake, "arrivals_s"), *sigma = json_object_get(shake, "run_time_sigma");
    struct buffer text = {0};
    if (arrivals != NULL) {
        buffer_string(&text, "arrivals by up to ");
        write_duration(arrivals, &text);
    }
    if (json_number_value(sigma) > 0) {
        buffer_string(&text, arrivals != NULL ? ", run times by sigma " : "run times by sigma ");
        buffer_double(&text, json_number_value(sigma));
    }
    char *copy = shake != NULL ? mem_copy_text(buffer_c_string(&text)) : NULL;
    buffer_release(&text);
    json_decref(root);
    return copy;
}

/* ---- runs ---- */

struct task {
    size_t side, seed;
    bool is_first;  /* find the first decision in which the side differs */
    bool is_replay; /* run it as it is; else shaken, if the comparison is */
    bool has_begun, has_ended;
    time_ns began; /* by the caller's clock */
};

struct batch {
    struct comparison *comparison;
    struct task *tasks;
    size_t count, done;
    time_ns base_took; /* the longest run of the base with the first seed, by the caller's clock; 0: none is done */
};

static const struct scenario_options *options_of(const struct comparison *comparison, const struct task *task)
{
    return comparison->is_shaken && !task->is_replay ? &comparison->sides[task->side].shaken
                                                     : &comparison->options->sides[task->side].scenario;
}

static bool is_recorded(const struct comparison *comparison, const struct task *task)
{
    return comparison->options->records != NULL && task->seed == 0 && task->is_replay == comparison->is_shaken;
}

/* In a process of its own. */
static struct error run_task(void *self, size_t index, struct buffer *out)
{
    const struct batch *batch = self;
    const struct comparison_options *options = batch->comparison->options;
    const struct task *task = &batch->tasks[index];
    if (task->is_first)
        return comparison_find_first(batch->comparison, task->side, out);
    const struct rerun *rerun = &batch->comparison->sides[task->side].rerun;
    if (rerun->program != NULL)
        return rerun_run(rerun, options_of(batch->comparison, task), batch->comparison->seeds[task->seed], out);
    struct long_run rows = {0};
    struct record_sink sink = long_run_sink(&rows);
    sink.on_sample = NULL;
    sink.on_finished = NULL;
    struct trial trial = {.version = options->version,
                          .scenario = *options_of(batch->comparison, task),
                          .seed = batch->comparison->seeds[task->seed],
                          .sink = batch->comparison->keeps_waits ? &sink : NULL,
                          .kept = options->kept,
                          .moment = options->fork != NULL ? &batch->comparison->moment : NULL};
    if (is_recorded(batch->comparison, task))
        trial.record = options->records[task->side];
    struct error error = trial_run(&trial, out);
    if (!error_is(error) && trial.sink != NULL)
        comparison_write_waits(&rows.waits, out);
    long_run_release(&rows);
    return error;
}

static void keep_failure(struct comparison_run *run, enum error_kind kind, const char *failure, const char *said)
{
    run->kind = kind;
    run->state = COMPARISON_RUN_FAILED;
    run->failure = mem_copy_text(failure);
    run->said = mem_copy_text(said);
}

/* A file that cannot be read, a process that cannot be started or is killed from outside: that is the machine's. */
static bool is_at_fault(const struct worker_result *result)
{
    const bool is_killed = WIFSIGNALED(result->status) && WTERMSIG(result->status) == SIGKILL;
    return result->kind != ERROR_IO && result->status != WORKER_NOT_STARTED && !is_killed;
}

static time_ns clock_of(const struct batch *batch)
{
    const struct comparison_options *options = batch->comparison->options;
    return options->clock != NULL ? options->clock() : 0;
}

static struct comparison_run *run_of(const struct batch *batch, const struct task *task)
{
    struct comparison_side *own = &batch->comparison->sides[task->side];
    return task->is_replay ? &own->replay : &own->runs[task->seed];
}

static void note_begin(void *self, size_t index)
{
    struct batch *batch = self;
    batch->tasks[index].has_begun = true;
    batch->tasks[index].began = clock_of(batch);
}

static void keep_result(void *self, const struct worker_result *result)
{
    struct batch *batch = self;
    struct task *task = &batch->tasks[result->index];
    struct comparison_side *own = &batch->comparison->sides[task->side];
    struct comparison_run *run = run_of(batch, task);
    task->has_ended = true;
    batch->done++;
    if (task->is_first) {
        comparison_keep_first(batch->comparison, task->side, result);
        return;
    }
    run->seed = batch->comparison->seeds[task->seed];
    if (!result->is_done) {
        keep_failure(run, result->kind, result->failure, result->said);
        run->is_at_fault = is_at_fault(result);
        return;
    }
    const time_ns took = clock_of(batch) - task->began;
    if (task->side == 0 && task->seed == 0 && took > batch->base_took)
        batch->base_took = took;
    struct job_waits waits = {0};
    const struct text text = comparison_take_waits(result->bytes, &waits);
    if (task->seed == 0 && !task->is_replay)
        own->waits = waits;
    else
        job_waits_release(&waits);
    struct error error = values_read_text(&run->values, "the result of the run", text);
    if (error_is(error)) {
        keep_failure(run, error.kind, error_message(&error), "");
        error_release(&error);
        return;
    }
    run->state = COMPARISON_RUN_DONE;
    run->has_chance = chance_of_result(&run->values.result);
}

static void show_progress(void *self)
{
    const struct batch *batch = self;
    const struct comparison_options *options = batch->comparison->options;
    if (options->on_progress != NULL)
        options->on_progress(options->progress_self, batch->done, batch->count);
}

/* All sides of a seed before the next seed, so that what is done when a signal comes makes pairs; the replays as they
 * are before that.  The first decisions are sought beside the first seeds. */
static void fill_batch(struct batch *batch, size_t from, size_t to)
{
    struct comparison *comparison = batch->comparison;
    batch->tasks = mem_zalloc((to - from + 2) * comparison->side_count, sizeof *batch->tasks);
    for (size_t side = 0; side < comparison->side_count && comparison->is_shaken; side++)
        if (!comparison->sides[side].is_fixed && comparison->sides[side].replay.state == COMPARISON_RUN_MISSING)
            batch->tasks[batch->count++] = (struct task){.side = side, .is_replay = true};
    for (size_t seed = from; seed < to; seed++)
        for (size_t side = 0; side < comparison->side_count; side++)
            if (!comparison->sides[side].is_fixed && comparison->sides[side].runs[seed].state == COMPARISON_RUN_MISSING)
                batch->tasks[batch->count++] = (struct task){.side = side, .seed = seed};
    for (size_t side = 1; side < comparison->side_count && from == 0; side++)
        if (comparison_begin_first(comparison, side))
            batch->tasks[batch->count++] = (struct task){.side = side, .is_first = true};
}

/* The time is up: which runs of candidates with the first seed go on, having had HANGS_AFTER times the base's time? */
static void find_hanging(struct batch *batch)
{
    if (!comparison_is_time_up(batch->comparison) || batch->base_took == 0)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        const struct task *task = &batch->tasks[i];
        const time_ns took = clock_of(batch) - task->began;
        if (task->side == 0 || task->is_first || task->seed != 0 || !task->has_begun || task->has_ended ||
            took < HANGS_AFTER * batch->base_took)
            continue;
        struct comparison_run *run = run_of(batch, task);
        struct buffer text = {0};
        buffer_string(&text, "it hangs: it has not ended after ");
        view_duration(&text, time_to_seconds(took));
        buffer_string(&text, ", and that of the base took ");
        view_duration(&text, time_to_seconds(batch->base_took));
        run->seed = batch->comparison->seeds[task->seed];
        keep_failure(run, ERROR_DATA, buffer_c_string(&text), "");
        run->is_at_fault = true;
        buffer_release(&text);
    }
}

struct error comparison_run_seeds(struct comparison *comparison, size_t from, size_t to)
{
    struct batch batch = {.comparison = comparison};
    const struct comparison_options *options = comparison->options;
    fill_batch(&batch, from, to);
    struct worker_pool pool = {.task_count = batch.count,
                               .worker_count =
                                   options->worker_count < batch.count ? options->worker_count : batch.count,
                               .run = run_task,
                               .on_begin = note_begin,
                               .on_done = keep_result,
                               .on_wait = show_progress,
                               .self = &batch,
                               .stop = options->stop};
    struct error error = batch.count > 0 ? worker_pool_run(&pool) : ERROR_OK;
    if (!error_is(error))
        find_hanging(&batch);
    mem_free(batch.tasks);
    return error;
}
