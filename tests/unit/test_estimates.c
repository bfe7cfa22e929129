/* sim/engine/estimates.h, policies/estimate/: what jobs say of their run time, and who believes it. */
#include <math.h>

#include "tests/support/test.h"

#include "policies/backfill/backfills.h"
#include "policies/estimate/estimates.h"
#include "sim/engine/estimates.h"
#include "tests/support/random_jobs.h"

#define S(n) ((n)*TIME_NS_PER_S)

TEST(what_is_declared_stays)
{
    const struct estimates none = {.kind = ESTIMATES_AS_DECLARED};
    assert_true(estimates_make(&none, 1, 2, S(30), S(7)) == S(7));
    assert_true(estimates_make(&none, 1, 2, S(30), TIME_NEVER) == TIME_NEVER);
    const struct estimates perfect = {.kind = ESTIMATES_PERFECT};
    assert_true(estimates_make(&perfect, 1, 2, S(30), S(7)) == S(30));
    assert_true(estimates_make(&perfect, 1, 2, 0, S(7)) == 1);
}

/* Of the lognormal error half is below 1, and the mean of its logarithm's square is sigma squared: within three
 * standard errors of 10,000 draws. */
TEST(noise_is_lognormal_around_the_truth)
{
    enum { DRAWS = 10000 };
    const struct estimates noisy = {.kind = ESTIMATES_NOISY, .factor = 2, .sigma = 0.5};
    double below = 0, squares = 0;
    for (uint64_t job = 0; job < DRAWS; job++) {
        time_ns estimate = estimates_make(&noisy, 1, job, S(1000), TIME_NEVER);
        double error = log((double)estimate / (double)S(2000));
        below += error < 0;
        squares += error * error;
        assert_true(estimate == estimates_make(&noisy, 1, job, S(1000), S(5)));
    }
    assert_true(fabs(below / DRAWS - 0.5) < 3 * 0.5 / sqrt(DRAWS));
    assert_true(fabs(squares / DRAWS - 0.25) < 3 * 0.25 * sqrt(2.0 / DRAWS));
    assert_true(estimates_make(&noisy, 1, 3, S(1000), 0) != estimates_make(&noisy, 2, 3, S(1000), 0));
    assert_true(estimates_make(&noisy, 1, 3, S(1000), 0) != estimates_make(&noisy, 1, 4, S(1000), 0));
    const struct estimates exact = {.kind = ESTIMATES_NOISY, .factor = 3, .sigma = 0};
    assert_true(estimates_make(&exact, 1, 3, S(1000), 0) == S(3000));
    const struct estimates wild = {.kind = ESTIMATES_NOISY, .factor = 1000, .sigma = 0};
    assert_true(estimates_make(&wild, 1, 3, TIME_NEVER / 2, 0) < TIME_NEVER);
    assert_true(estimates_make(&exact, 1, 3, 0, 0) == 1);
}

TEST(limits_and_estimates_bound_each_other)
{
    assert_true(estimate_limit.length(S(9), S(5), NULL) == S(9));
    assert_true(estimate_limit.length(TIME_NEVER, S(5), NULL) == S(5));
    assert_true(estimate_limit.length(TIME_NEVER, TIME_NEVER, NULL) == TIME_NEVER);
    assert_true(estimate_declared.length(S(9), S(5), NULL) == S(5));
    assert_true(estimate_declared.length(S(9), S(12), NULL) == S(9));
    assert_true(estimate_declared.length(S(9), TIME_NEVER, NULL) == S(9));
    assert_true(estimate_declared.length(TIME_NEVER, TIME_NEVER, NULL) == TIME_NEVER);
}

static struct run_log *run(const struct run_setup *setup, struct run_job *jobs, uint32_t count)
{
    struct run_log *log = run_jobs(setup, jobs, count);
    for (uint32_t i = 0; i < count; i++)
        assert_true(log->jobs[i].start != TIME_NEVER);
    return log;
}

static uint32_t count_different(const struct run_log *a, const struct run_log *b)
{
    uint32_t different = 0;
    for (uint32_t i = 0; i < a->job_count; i++)
        different += a->jobs[i].start != b->jobs[i].start;
    return different;
}

/* Exact limits, perfect estimates, and perfect estimates that are believed before limits ten times too long, make the
 * same schedule; such limits, believed, another. */
TEST(who_is_believed_makes_the_schedule)
{
    enum { COUNT = 200 };
    struct random_jobs spec = {.count = COUNT,
                               .nodes = 6,
                               .gpus = 4,
                               .request_classes = RANDOM_SINGLE | RANDOM_GANG | RANDOM_FLAT,
                               .load = 1.2};
    struct run_job *jobs = random_jobs_new(&spec, 11);
    struct cluster *cluster = cluster_uniform_new(spec.nodes, spec.gpus);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy.backfill = &backfill_easy;
    setup.policy.backfill_config = backfill_easy.defaults;
    for (uint32_t i = 0; i < COUNT; i++)
        jobs[i].job.limit = jobs[i].truth.duration > 0 ? jobs[i].truth.duration : 1;
    struct run_log *limits = run(&setup, jobs, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        jobs[i].job.limit *= 10;
    struct run_log *long_limits = run(&setup, jobs, COUNT);
    setup.world.estimates.kind = ESTIMATES_PERFECT;
    setup.policy.estimate = &estimate_declared;
    struct run_log *declared = run(&setup, jobs, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        jobs[i].job.limit = TIME_NEVER;
    setup.policy.estimate = &estimate_limit;
    struct run_log *perfect = run(&setup, jobs, COUNT);
    assert_int_equal(count_different(limits, perfect), 0);
    assert_int_equal(count_different(limits, declared), 0);
    assert_true(count_different(limits, long_limits) > 0);
    run_log_free(limits);
    run_log_free(long_limits);
    run_log_free(declared);
    run_log_free(perfect);
    cluster_free(cluster);
    random_jobs_free(jobs);
}
