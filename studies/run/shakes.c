#include "studies/run/shakes.h"

#include <math.h>
#include <string.h>

#include "base/worker_pool.h"
#include "reports/statistics/student.h"
#include "reports/view.h"
#include "studies/run/replay_place.h"
#include "studies/run/replay_shake.h"
#include "studies/run/trial.h"

#define LEVEL 0.95

/* ---- the runs ---- */

struct batch {
    struct shakes *shakes;
    struct trial trial;
    char *failure; /* the first; owned */
};

static struct error run_one(void *self, size_t index, struct buffer *out)
{
    const struct batch *batch = self;
    struct trial trial = batch->trial;
    trial.seed += index;
    return trial_run(&trial, out);
}

static void keep(void *self, const struct worker_result *result)
{
    struct batch *batch = self;
    struct shakes *shakes = batch->shakes;
    struct error error = ERROR_OK;
    if (result->is_done)
        error = values_read_text(&shakes->runs[result->index], "the result of the run", result->bytes);
    shakes->is_done[result->index] = result->is_done && !error_is(error);
    shakes->done_count += shakes->is_done[result->index];
    if (!shakes->is_done[result->index] && batch->failure == NULL)
        batch->failure = mem_copy_text(error_is(error) ? error_message(&error) : result->failure);
    error_release(&error);
}

struct error shakes_run(struct shakes *shakes, const struct shakes_options *options)
{
    *shakes = (struct shakes){.options = options,
                              .runs = mem_zalloc(options->count, sizeof *shakes->runs),
                              .is_done = mem_zalloc(options->count, sizeof *shakes->is_done)};
    struct batch batch = {.shakes = shakes, .trial = {.version = options->version, .scenario = options->scenario}};
    shakes->is_replay =
        replay_shake_apply(options->resolved, &options->scenario, &shakes->arena, &batch.trial.scenario);
    batch.trial.seed = options->seed + !shakes->is_replay;
    const struct worker_pool pool = {.task_count = options->count,
                                     .worker_count = options->worker_count < options->count ? options->worker_count
                                                                                            : options->count,
                                     .run = run_one,
                                     .on_done = keep,
                                     .self = &batch,
                                     .stop = options->stop};
    struct error error = worker_pool_run(&pool);
    if (!error_is(error) && shakes->done_count < 2)
        error = error_new(ERROR_DATA, "fewer than two of the %zu runs of --shakes are done%s%s", options->count,
                          batch.failure != NULL ? ": " : "", batch.failure != NULL ? batch.failure : "");
    mem_free(batch.failure);
    return error;
}

void shakes_release(struct shakes *shakes)
{
    for (size_t i = 0; shakes->runs != NULL && i < shakes->options->count; i++)
        values_release(&shakes->runs[i]);
    mem_free(shakes->runs);
    mem_free(shakes->is_done);
    arena_release(&shakes->arena);
    *shakes = (struct shakes){0};
}

/* ---- what they say ---- */

static bool is_headline(const struct metric_selector *of)
{
    static const char *const whole[] = {"queue_time_mean_s", "queue_time_p95_s", "slowdown_bounded_mean",
                                        "allocation_ratio",  "preemptions",      "jobs_completed"};
    for (size_t i = 0; of->cut == NULL && i < sizeof whole / sizeof *whole; i++)
        if (strcmp(of->metric, whole[i]) == 0)
            return true;
    return of->cut != NULL && strcmp(of->cut, "class") == 0 && strcmp(of->metric, "queue_time_p95_s") == 0;
}

static void add_number(struct show *show, const struct shakes *shakes, const struct value *own)
{
    const char *unit = own->metric->unit;
    double *numbers = mem_zalloc(shakes->options->count, sizeof *numbers);
    size_t count = 0;
    struct buffer name = {0};
    for (size_t i = 0; i < shakes->options->count; i++) {
        const double number = shakes->is_done[i] ? values_number(&shakes->runs[i], &own->of) : NAN;
        if (!isnan(number))
            numbers[count++] = number;
    }
    const struct replay_place place = replay_place_of(own->number, numbers, count);
    const struct inference mean = student_one(numbers, count, 0, LEVEL);
    metric_selector_write(&own->of, &name);
    show_row(show, buffer_c_string(&name));
    show_metric(show, own->of.metric, unit, own->number);
    show_metric(show, own->of.metric, unit, place.mean);
    if (isfinite(mean.low) && mean.low < mean.high) {
        buffer_char(show_below(show), '(');
        view_metric(show_below(show), own->of.metric, unit, mean.low);
        buffer_string(show_below(show), " to ");
        view_metric(show_below(show), own->of.metric, unit, mean.high);
        buffer_char(show_below(show), ')');
    }
    show_metric(show, own->of.metric, unit, place.deviation);
    replay_place_write(&place, show_cell(show));
    buffer_release(&name);
    mem_free(numbers);
}

void shakes_add(struct show *show, const struct shakes *shakes, const struct values *own)
{
    show_section(show, shakes->is_replay ? "This replay, beside shaken ones" : "This run, beside others by chance");
    buffer_format(
        show_line(show, SHOW_NOTE),
        shakes->is_replay
            ? "A replay is one of many that could have been. Means of %zu replays with arrivals moved by up to "
              "a minute and run times by a percent, with the %g %% interval of the mean; their standard "
              "deviation; and where this replay lies."
            : "Means of the runs with %zu other seeds, with the %g %% interval of the mean; their standard "
              "deviation; and where this run lies.",
        shakes->done_count, 100 * LEVEL);
    show_table(show, "metric", shakes->is_replay ? "this replay" : "this run", "mean", "deviation", "<it lies", NULL);
    for (size_t i = 0; i < own->count; i++)
        if (is_headline(&own->list[i].of))
            add_number(show, shakes, &own->list[i]);
}
