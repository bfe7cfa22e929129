/* tests/analytic/test_shaken_queue.c -- a shaken M/G/1 queue against Pollaczek and Khinchine's formula.
 *
 * Poisson arrivals that move independently are Poisson arrivals (J. F. C. Kingman, Poisson Processes, 1993, section
 * 5.5), and a run time S that is multiplied by a lognormal factor of mean 1 and sigma s has the mean E[S] and the
 * second moment E[S^2] e^(s^2).  So the mean wait is lambda E[S^2] e^(s^2) / (2 (1 - lambda E[S])).  As in LCG, half of
 * the jobs run exactly as long as their limit: where such run times were clamped at the limit, the mean wait was too
 * small.
 *
 * Seeds 1 to 40, taken before the first run and kept; the intervals are of 99 %. */
#include <math.h>

#include "tests/support/test.h"
#include <gsl/gsl_randist.h>

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/run.h"
#include "workloads/readers/shake.h"

enum { SEEDS = 40, JOBS = 10000 };
#define SHORT_S 100.0
#define LONG_S  1000.0
#define LOAD    0.5

struct queue {
    struct random_stream stream;
    time_ns submit;
    uint64_t place;
    struct shake *shake; /* NULL: none */
};

static struct error next(void *self, struct shake_job *out, bool *has)
{
    struct queue *queue = self;
    *has = queue->place < JOBS;
    if (!*has)
        return ERROR_OK;
    queue->submit += time_from_seconds(gsl_ran_exponential(random_gsl(&queue->stream), (SHORT_S + LONG_S) / 2 / LOAD));
    const double run_s = random_uniform(&queue->stream) < 0.5 ? SHORT_S : LONG_S;
    *out = (struct shake_job){.job = job_default(), .place = queue->place, .group = queue->place};
    out->job.submit = out->first = queue->submit;
    out->job.first.request.gpus = 1;
    out->job.limit = time_from_seconds(LONG_S);
    out->truth.duration = time_from_seconds(run_s);
    queue->place++;
    return ERROR_OK;
}

static struct error next_shaken(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct queue *queue = self;
    return shake_next(queue->shake, job, truth, has);
}

struct waits {
    double sum_s;
    size_t count;
};

static struct error take_wait(void *self, const struct job_row *row)
{
    struct waits *waits = self;
    waits->sum_s += row->is_counted ? time_to_seconds(row->wait) : 0;
    waits->count += row->is_counted;
    return ERROR_OK;
}

static double mean_wait_s(const struct shake_plan *plan, uint64_t seed, const struct cluster *cluster)
{
    struct queue queue = {0};
    struct waits waits = {0};
    struct arena kept = {0};
    struct run_setup setup = run_setup_default(cluster);
    const struct record_sink sink = {.self = &waits, .on_job = take_wait};
    const struct shake_from from = {.self = &queue, .next = next, .kept = &kept, .last = TIME_NEVER};
    random_stream_init(&queue.stream, seed, "shaken-queue", 0);
    queue.shake = shake_new(plan, &from, seed);
    setup.is_unchecked = true;
    setup.world.warmup = time_from_seconds(100 * LONG_S);
    setup.world.sample_interval = TIME_NS_MAX;
    run_source(&setup, job_source_custom(next_shaken, &queue), &sink);
    shake_free(queue.shake);
    arena_release(&kept);
    return waits.sum_s / (double)waits.count;
}

static void check(const struct shake_plan *plan)
{
    double waits_s[SEEDS];
    struct cluster *cluster = cluster_uniform_new(1, 1);
    const double mean_s = (SHORT_S + LONG_S) / 2, squares = (SHORT_S * SHORT_S + LONG_S * LONG_S) / 2;
    const double truth_s = LOAD / mean_s * squares * exp(pow(plan->run_time_sigma, 2)) / (2 * (1 - LOAD));
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        waits_s[seed - 1] = mean_wait_s(plan, seed, cluster);
    cluster_free(cluster);
    const struct interval interval = interval_99(waits_s, SEEDS);
    print_message("  expected %8.2f s  measured %8.2f +- %.2f s\n", truth_s, interval.mean, interval.half_width);
    assert_true(interval.half_width < 0.03 * truth_s);
    assert_true(interval_holds(&interval, truth_s));
}

TEST(little_shaking_changes_no_mean)
{
    check(&(struct shake_plan){.arrivals = 60 * TIME_NS_PER_S, .run_time_sigma = 0.01});
}

TEST(much_shaking_changes_the_mean_as_the_formula_says)
{
    check(&(struct shake_plan){.arrivals = 1800 * TIME_NS_PER_S, .run_time_sigma = 0.3});
}
