/* studies/sizing/sizing.c -- the runs at numbers of a question, and what they say of its levels. */
#include "studies/sizing/sizing.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/worker_pool.h"
#include "studies/run/chance.h"
#include "studies/run/replay_shake.h"
#include "studies/run/trial.h"
#include "studies/sizing/sizing_inside.h"

/* Numbers are counted in steps; where the largest is sought, they are counted downward, so that what is sought is
 * always the least count at which the levels are met. */
static int64_t count_of(const struct sizing_question *question, double number)
{
    const int64_t steps = llround((number - question->low) / question->step);
    return question->aim == SIZING_LARGEST ? -steps : steps;
}

static double number_of(const struct sizing_question *question, int64_t count)
{
    char rounded[32]; /* so that 0.1 + 2 x 0.1 is 0.3 */
    const double number = question->low + (double)(question->aim == SIZING_LARGEST ? -count : count) * question->step;
    snprintf(rounded, sizeof rounded, "%.12g", number);
    return strtod(rounded, NULL);
}

void sizing_write_setting(const struct sizing_question *question, double number, struct buffer *out)
{
    buffer_format(out, "%s=%.12g", question->path, number);
}

/* ---- Runs ---- */

struct batch {
    struct sizing *sizing;
    struct sizing_answer *answer;
    struct sizing_point *point;
    struct trial trial;
    uint64_t seed; /* the first of all */
    size_t from;
    bool is_replay;     /* one run of the replay as it is */
    struct error error; /* the first run that failed */
};

static struct error run_trial(void *self, size_t index, struct buffer *out)
{
    const struct batch *batch = self;
    struct trial trial = batch->trial;
    trial.seed = batch->seed + batch->from + index;
    return trial_run(&trial, out);
}

static void fail(struct batch *batch, uint64_t seed, const struct worker_result *result)
{
    struct buffer setting = {0};
    if (error_is(batch->error))
        return;
    sizing_write_setting(&batch->sizing->options->question, batch->point->number, &setting);
    batch->error = error_new(result->kind, "the run with %s and seed %llu failed: %s", buffer_c_string(&setting),
                             (unsigned long long)seed, result->failure);
    buffer_release(&setting);
}

static void keep_result(void *self, const struct worker_result *result)
{
    struct batch *batch = self;
    const size_t r = batch->from + result->index;
    struct sizing_run *run = batch->is_replay ? &batch->point->replay : &batch->point->runs[r];
    run->seed = batch->seed + r;
    if (!result->is_done) {
        fail(batch, run->seed, result);
        return;
    }
    if (!error_is(batch->error)) { /* else the plan fails with the first */
        batch->error = values_read_text(&run->values, "the result of the run", result->bytes);
        run->is_done = !error_is(batch->error);
    }
    batch->answer->run_count++;
}

static void show_progress(void *self)
{
    const struct batch *batch = self;
    const struct sizing_options *options = batch->sizing->options;
    if (options->on_progress != NULL)
        options->on_progress(options->progress_self, (size_t)(batch->answer - batch->sizing->answers),
                             batch->answer->run_count);
}

static struct error run_batch(struct batch *batch, size_t to)
{
    const struct sizing_options *options = batch->sizing->options;
    const size_t count = to - batch->from;
    struct worker_pool pool = {.task_count = count,
                               .worker_count = options->worker_count < count ? options->worker_count : count,
                               .run = run_trial,
                               .on_done = keep_result,
                               .on_wait = show_progress,
                               .self = batch,
                               .stop = options->stop};
    struct error error = count > 0 ? worker_pool_run(&pool) : ERROR_OK;
    if (!error_is(error))
        return batch->error;
    error_release(&batch->error);
    return error;
}

static bool is_stopped(const struct sizing *sizing)
{
    return sizing->options->stop != NULL && *sizing->options->stop != 0;
}

/* ---- One case ---- */

static struct sizing_point *point_at(struct sizing_answer *answer, double number)
{
    for (size_t p = 0; p < answer->point_count; p++)
        if (answer->points[p].number == number)
            return &answer->points[p];
    return NULL;
}

static struct sizing_point *begin_point(struct sizing *sizing, struct sizing_answer *answer, double number)
{
    struct sizing_point *point = point_at(answer, number);
    if (point != NULL)
        return point;
    point = &answer->points[answer->point_count++];
    *point = (struct sizing_point){
        .number = number,
        .runs = mem_zalloc(sizing->options->seeds_max, sizeof *point->runs),
        .judgements = mem_zalloc(sizing->gates.count, sizeof *point->judgements),
    };
    return point;
}

/* All settings of a run, in the order in which they are applied: of the scenario, of the case, of the number (`last`),
 * of the shaking (`shaken`; NULL: the replay is not shaken). */
static const char **settings(const struct sizing_options *options, const struct sizing_case *of, const char *last,
                             const struct scenario_options *shaken, size_t *count)
{
    const size_t shaken_count = shaken != NULL ? shaken->set_count : 0;
    const char **sets = mem_zalloc(options->scenario.set_count + SIZING_SETS_MAX + 1 + shaken_count, sizeof *sets);
    *count = 0;
    for (size_t s = 0; s < options->scenario.set_count; s++)
        sets[(*count)++] = options->scenario.sets[s];
    for (size_t s = 0; s < SIZING_SETS_MAX && of->sets[s] != NULL; s++)
        sets[(*count)++] = of->sets[s];
    sets[(*count)++] = last;
    for (size_t s = 0; s < shaken_count; s++)
        sets[(*count)++] = shaken->sets[s];
    return sets;
}

/* Give the first `to` runs to the point.  If a stop left some of them undone, a point that was never judged gets the
 * runs that are done, and a judged point keeps the runs of its judgement, because judgements are made at looks. */
static void take_runs(struct sizing_point *point, size_t to)
{
    size_t done = point->run_count;
    for (size_t r = point->run_count; r < to; r++)
        if (point->runs[r].is_done) {
            const struct sizing_run run = point->runs[r];
            point->runs[r] = point->runs[done];
            point->runs[done++] = run;
        }
    if (done == to || point->run_count == 0)
        point->run_count = done;
}

/* to 0: the replay as it is. */
static struct error run_point(struct sizing *sizing, struct sizing_answer *answer, struct sizing_point *point,
                              uint64_t seed, size_t to)
{
    const bool is_replay = to == 0;
    struct buffer setting = {0};
    struct batch batch = {.sizing = sizing,
                          .answer = answer,
                          .point = point,
                          .seed = seed,
                          .from = is_replay ? 0 : point->run_count,
                          .is_replay = is_replay,
                          .trial = {.version = sizing->options->version,
                                    .scenario = sizing->options->scenario,
                                    .kept = sizing->options->kept}};
    sizing_write_setting(&sizing->options->question, point->number, &setting);
    const char **sets = settings(sizing->options, answer->of, buffer_c_string(&setting),
                                 is_replay ? NULL : &answer->shaken, &batch.trial.scenario.set_count);
    batch.trial.scenario.sets = sets;
    struct error error = run_batch(&batch, is_replay ? 1 : to);
    if (!error_is(error) && !is_replay)
        take_runs(point, to);
    point->has_replay = point->replay.is_done;
    mem_free(sets);
    buffer_release(&setting);
    return error;
}

static void take_answer(const struct sizing_question *question, const struct threshold *search,
                        struct sizing_answer *answer)
{
    const struct threshold_answer found = threshold_answer(search);
    answer->is_found = found.is_found;
    answer->is_whole = found.is_whole;
    answer->is_sure = found.is_sure;
    answer->number = number_of(question, found.index);
    answer->has_enough = found.has_enough;
    answer->enough = number_of(question, found.enough);
    answer->has_limit = found.has_needed;
    answer->limit = number_of(question, found.needed);
    answer->has_beyond = found.has_below;
    answer->is_gapped = found.is_gapped;
    answer->beyond = number_of(question, found.below);
}

static struct threshold begin_search(const struct sizing *sizing, double start, bool is_once)
{
    enum { SCOUTS = 2, STRIDES = 8, SCAN_ABOVE = 7, SCAN_BELOW = 4 }; /* an eighth of a guess is its error, say */
    const struct sizing_question *question = &sizing->options->question;
    const int64_t ends[] = {count_of(question, question->low), count_of(question, question->high)};
    const double stride = fabs(start) / question->step / STRIDES;
    struct threshold_options options = {.low = ends[0] < ends[1] ? ends[0] : ends[1],
                                        .high = ends[0] < ends[1] ? ends[1] : ends[0],
                                        .start = count_of(question, start),
                                        .stride = stride > 1 ? (int64_t)stride : 1,
                                        .scouts = is_once ? 1 : SCOUTS,
                                        .looks = is_once ? looks_once(1) : looks_up_to(sizing->options->seeds_max),
                                        .trials_max = sizing->options->trials_max,
                                        .scan_above = SCAN_ABOVE,
                                        .scan_below = SCAN_BELOW};
    return threshold_of(&options);
}

static struct error run_case(struct sizing *sizing, struct sizing_answer *answer, double start, uint64_t seed)
{
    const struct sizing_question *question = &sizing->options->question;
    const bool is_once = sizing->options->seeds_max == 1;
    struct threshold search = begin_search(sizing, start, answer->is_exact || is_once);
    struct threshold_ask ask;
    answer->points = mem_zalloc(THRESHOLD_POINTS_MAX, sizeof *answer->points);
    while (threshold_next(&search, &ask)) {
        struct sizing_point *point = begin_point(sizing, answer, number_of(question, ask.index));
        TRY(run_point(sizing, answer, point, seed, ask.to));
        sizing->is_partial = is_stopped(sizing);
        if (sizing->is_partial && (point->run_count == 0 || point->run_count <= ask.from))
            break;
        ask.to = point->run_count;
        if (answer->is_exact && chance_of_result(&point->runs[0].values.result)) {
            answer->is_exact = false;
            search = begin_search(sizing, start, is_once);
            continue;
        }
        TRY(sizing_judge(sizing, &search.options.looks, answer->is_exact, point));
        threshold_tell(&search, &ask, point->holds, point->is_sure);
        if (sizing->is_partial)
            break;
    }
    take_answer(question, &search, answer);
    sizing_find_curve(sizing, answer);
    struct sizing_point *at = answer->is_found ? point_at(answer, answer->number) : NULL;
    return answer->is_shaken && at != NULL && !is_stopped(sizing) ? run_point(sizing, answer, at, seed, 0) : ERROR_OK;
}

/* What the scenario of a case says: its first seed, and whether there is chance in it, or it gets some. */
static struct error read_case(struct sizing *sizing, struct sizing_answer *answer, uint64_t *seed)
{
    struct scenario scenario;
    struct scenario_options options = sizing->options->scenario;
    struct buffer setting = {0};
    sizing_write_setting(&sizing->options->question, sizing->options->question.start, &setting);
    const char **sets = settings(sizing->options, answer->of, buffer_c_string(&setting), NULL, &options.set_count);
    options.sets = sets;
    struct error error = scenario_load(&scenario, &options);
    if (!error_is(error)) {
        *seed = scenario.seed;
        answer->is_exact = !chance_of_scenario(scenario.resolved);
        answer->is_shaken =
            sizing->options->seeds_max > 1 && !sizing->options->is_unshaken &&
            replay_shake_apply(scenario.resolved, &(struct scenario_options){0}, &sizing->arena, &answer->shaken);
        answer->is_exact = answer->is_exact && !answer->is_shaken;
    }
    scenario_release(&scenario);
    mem_free(sets);
    buffer_release(&setting);
    return error;
}

/* ---- All cases ---- */

struct error sizing_run(struct sizing *sizing, const struct sizing_options *options)
{
    *sizing = (struct sizing){.options = options};
    assert(options->levels.count > 0 && options->case_count >= 1 && options->case_count <= SIZING_CASES_MAX);
    sizing_make_gates(sizing);
    sizing->answers = mem_zalloc(options->case_count, sizeof *sizing->answers);
    double start = options->question.start;
    for (size_t c = 0; c < options->case_count && !sizing->is_partial; c++) {
        struct sizing_answer *answer = &sizing->answers[sizing->answer_count++];
        uint64_t seed;
        answer->of = &options->cases[c];
        sizing->is_partial = is_stopped(sizing); /* while the options were read */
        if (sizing->is_partial)
            break;
        TRY(read_case(sizing, answer, &seed));
        TRY(run_case(sizing, answer, start, seed));
        if (answer->is_found)
            start = answer->number;
    }
    return ERROR_OK;
}

const struct sizing_point *sizing_answer_point(const struct sizing_answer *answer)
{
    for (size_t p = 0; answer->is_found && p < answer->point_count; p++)
        if (answer->points[p].number == answer->number)
            return &answer->points[p];
    return NULL;
}

const struct sizing_point *sizing_past_point(const struct sizing *sizing, const struct sizing_answer *answer)
{
    const struct sizing_question *question = &sizing->options->question;
    const double past = number_of(question, count_of(question, answer->number) - 1);
    for (size_t p = 0; answer->is_found && p < answer->point_count; p++)
        if (answer->points[p].number == past)
            return &answer->points[p];
    return NULL;
}

/* All runs, since of a batch that failed or was stopped some are done. */
static void release_point(struct sizing_point *point, size_t run_capacity)
{
    for (size_t r = 0; r < run_capacity; r++)
        values_release(&point->runs[r].values);
    values_release(&point->replay.values);
    mem_free(point->runs);
    mem_free(point->judgements);
}

void sizing_release(struct sizing *sizing)
{
    for (size_t a = 0; a < sizing->answer_count; a++) {
        for (size_t p = 0; p < sizing->answers[a].point_count; p++)
            release_point(&sizing->answers[a].points[p], sizing->options->seeds_max);
        mem_free(sizing->answers[a].points);
    }
    mem_free(sizing->answers);
    arena_release(&sizing->arena);
}
