/* tests/unit/test_shake.c -- a shaken trace: how far jobs move, what stays, what depends on the seed. */
#include <math.h>

#include "tests/support/test.h"

#include "base/mem.h"
#include "workloads/readers/shake.h"

enum { JOBS = 20000, GAP_S = 7 };

static struct arena arena;
static const struct shake_plan plan = {.arrivals = 300 * TIME_NS_PER_S, .run_time_sigma = 0.5};

/* Job i runs 100 s; each tenth depends on the one before, each fourth has a limit, each third a deadline. */
static void make(struct held *held)
{
    static struct job_after after[JOBS];
    *held = (struct held){0};
    for (uint32_t i = 0; i < JOBS; i++) {
        struct job job = {.id = i, .submit = (time_ns)i * GAP_S * TIME_NS_PER_S};
        struct job_truth truth = {.duration = 100 * TIME_NS_PER_S};
        job.limit = i % 4 == 0 ? 120 * TIME_NS_PER_S : TIME_NEVER;
        job.deadline = i % 3 == 0 ? job.submit + 1000 * TIME_NS_PER_S : TIME_NEVER;
        if (i % 10 == 9) {
            after[i] = (struct job_after){.job = i - 1};
            job.after = &after[i];
            job.after_count = 1;
        }
        held_add(held, &job, &truth);
    }
}

TEST(arrivals_move_within_bounds)
{
    struct held held;
    size_t later = 0, earlier = 0;
    double sum_s = 0, squares = 0;
    make(&held);
    shake_jobs(&held, &plan, 0, 5, &arena);
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct job *job = &held.jobs[i].job;
        const time_ns by = job->submit - (time_ns)i * GAP_S * TIME_NS_PER_S;
        assert_true(job->submit >= 0);
        assert_true(by <= plan.arrivals + (job->after_count > 0 ? plan.arrivals : 0));
        assert_true(by >= -plan.arrivals);
        if (job->deadline != TIME_NEVER)
            assert_true(job->deadline - job->submit == 1000 * TIME_NS_PER_S);
        later += by > 0;
        earlier += by < 0;
        if (job->after_count == 0 && i >= 100) { /* far enough from the begin */
            sum_s += time_to_seconds(by);
            squares += time_to_seconds(by) * time_to_seconds(by);
        }
    }
    /* Uniform in +-300 s: mean 0, standard deviation 173 s; within five standard errors. */
    const double n = (JOBS - 100) * 0.9, sigma_s = 300 / sqrt(3);
    assert_true(20 * later > 9 * (size_t)JOBS && 20 * earlier > 9 * (size_t)JOBS);
    assert_true(fabs(sum_s / n) < 5 * sigma_s / sqrt(n));
    assert_true(fabs(sqrt(squares / n) / sigma_s - 1) < 0.03);
    held_release(&held);
}

TEST(dependencies_stay_in_order)
{
    struct held held;
    make(&held);
    shake_jobs(&held, &plan, 0, 5, &arena);
    for (uint32_t i = 9; i < JOBS; i += 10)
        assert_true(held.jobs[i].job.submit >= held.jobs[i - 1].job.submit);
    held_release(&held);
}

TEST(run_times_keep_their_mean_and_limits)
{
    struct held held;
    double sum_s = 0, logs = 0;
    size_t count = 0;
    make(&held);
    shake_jobs(&held, &plan, 0, 5, &arena);
    for (uint32_t i = 0; i < JOBS; i++) {
        const double run_s = time_to_seconds(held.jobs[i].truth.duration);
        assert_true(run_s > 0);
        assert_true(held.jobs[i].truth.duration <= held.jobs[i].job.limit);
        if (held.jobs[i].job.limit != TIME_NEVER)
            continue;
        sum_s += run_s;
        logs += log(run_s / 100) * log(run_s / 100);
        count++;
    }
    /* Mean 100 s, variance (e^0.25 - 1) 100^2; within five standard errors.  E ln^2 = sigma^2 + sigma^4 / 4. */
    assert_true(fabs(sum_s / (double)count - 100) < 5 * 53.3 / sqrt((double)count));
    assert_true(fabs(logs / (double)count - (0.25 + 0.015625)) < 0.02);
    held_release(&held);
}

/* A run time above its limit is a job that its limit ended: it may be so again. */
TEST(a_run_time_above_its_limit_is_left_there)
{
    struct held held = {0};
    struct job job = {.limit = 10 * TIME_NS_PER_S, .deadline = TIME_NEVER};
    struct job_truth truth = {.duration = 1000 * TIME_NS_PER_S};
    held_add(&held, &job, &truth);
    shake_jobs(&held, &(struct shake_plan){.run_time_sigma = 0.01}, 0, 1, &arena);
    assert_true(held.jobs[0].truth.duration > 900 * TIME_NS_PER_S);
    assert_true(held.jobs[0].truth.duration != 1000 * TIME_NS_PER_S);
    held_release(&held);
}

/* As the run time, whose factor is theirs; a job that stands twice in the list has its own failures each time. */
TEST(failed_attempts_have_the_factor_of_the_run_time)
{
    struct held held = {0};
    struct job job = {.limit = TIME_NEVER, .deadline = TIME_NEVER};
    struct job_failures *failures = arena_alloc(&arena, sizeof *failures + 2 * sizeof failures->work[0]);
    failures->count = 2;
    failures->work[0] = 1000 * TIME_NS_PER_S;
    failures->work[1] = 30 * TIME_NS_PER_S;
    const struct job_truth truth = {.duration = 100 * TIME_NS_PER_S, .failures = failures};
    held_add(&held, &job, &truth);
    held_add(&held, &job, &truth);
    job.limit = 1001 * TIME_NS_PER_S;
    for (int i = 0; i < 20; i++)
        held_add(&held, &job, &truth);
    shake_jobs(&held, &(struct shake_plan){.run_time_sigma = 0.5}, 0, 1, &arena);
    assert_true(held.jobs[0].truth.duration != held.jobs[1].truth.duration);
    for (size_t i = 0; i < held.count; i++) {
        const struct job_failures *made = held.jobs[i].truth.failures;
        const double factor = time_to_seconds(held.jobs[i].truth.duration) / 100;
        const double first = factor * 1000 > 1001 && i >= 2 ? 1001 : factor * 1000;
        assert_int_equal(made->count, 2);
        assert_true(fabs(time_to_seconds(made->work[0]) - first) < 1e-5);
        assert_true(fabs(time_to_seconds(made->work[1]) - factor * 30) < 1e-6);
    }
    assert_true(failures->work[0] == 1000 * TIME_NS_PER_S);
    held_release(&held);
}

static bool is_equal(const struct held *a, const struct held *b, bool by_run_time)
{
    for (uint32_t i = 0; i < JOBS; i++)
        if (by_run_time ? a->jobs[i].truth.duration != b->jobs[i].truth.duration
                        : a->jobs[i].job.submit != b->jobs[i].job.submit)
            return false;
    return true;
}

TEST(seeds_and_parts)
{
    struct held plain, same, other, arrivals, run_times, again;
    make(&plain);
    make(&same);
    make(&again);
    make(&other);
    make(&arrivals);
    make(&run_times);
    shake_jobs(&same, &plan, 0, 5, &arena);
    shake_jobs(&again, &plan, 0, 5, &arena);
    shake_jobs(&other, &plan, 0, 6, &arena);
    shake_jobs(&arrivals, &(struct shake_plan){.arrivals = plan.arrivals}, 0, 5, &arena);
    shake_jobs(&run_times, &(struct shake_plan){.run_time_sigma = plan.run_time_sigma}, 0, 5, &arena);
    assert_true(is_equal(&same, &again, false) && is_equal(&same, &again, true));
    assert_false(is_equal(&same, &other, false) || is_equal(&same, &other, true));
    assert_true(is_equal(&arrivals, &same, false) && is_equal(&arrivals, &plain, true));
    assert_true(is_equal(&run_times, &same, true) && is_equal(&run_times, &plain, false));
    held_release(&plain);
    held_release(&same);
    held_release(&again);
    held_release(&other);
    held_release(&arrivals);
    held_release(&run_times);
}

int main(void)
{
    const int failed = test_run();
    arena_release(&arena);
    return failed;
}
