/* tests/unit/test_shake.c -- a shaken trace: how far jobs move, that neither moves nor factors have a mean of their
 * own, what stays, what depends on the seed. */
#include <math.h>
#include <stdlib.h>

#include "tests/support/test.h"

#include "workloads/readers/shake.h"

enum { JOBS = 20000, GAP_S = 7 };

static struct arena arena;
static const struct shake_plan plan = {.arrivals = 300 * TIME_NS_PER_S, .run_time_sigma = 0.5};

/* Jobs in an array, and what became of them, in the order in which they were. */
struct trace {
    struct shake_job *jobs;
    size_t count, next;
    bool has_dependencies;
    time_ns last;
    struct job *job;
    struct job_truth *truth;
};

static struct error next(void *self, struct shake_job *out, bool *has)
{
    struct trace *trace = self;
    *has = trace->next < trace->count;
    if (*has)
        *out = trace->jobs[trace->next++];
    return ERROR_OK;
}

static struct trace trace_new(size_t count)
{
    struct trace trace = {.count = count, .last = TIME_NEVER};
    trace.jobs = mem_zalloc(count, sizeof *trace.jobs);
    trace.job = mem_zalloc(count, sizeof *trace.job);
    trace.truth = mem_zalloc(count, sizeof *trace.truth);
    for (size_t i = 0; i < count; i++) {
        struct shake_job *job = &trace.jobs[i];
        *job = (struct shake_job){.job = job_default(), .place = i, .group = i};
        job->job.submit = job->first = (time_ns)i * GAP_S * TIME_NS_PER_S;
        job->truth.duration = 100 * TIME_NS_PER_S;
    }
    return trace;
}

static void trace_free(struct trace *trace)
{
    mem_free(trace->jobs);
    mem_free(trace->job);
    mem_free(trace->truth);
}

/* Laws: by submission; of equal submission as before; each comes once; dependencies are those before. */
static void shake(struct trace *trace, const struct shake_plan *how, uint64_t seed)
{
    const struct shake_from from = {
        .self = trace, .next = next, .kept = &arena, .has_dependencies = trace->has_dependencies, .last = trace->last};
    struct shake *shake = shake_new(how, &from, seed);
    uint32_t *rank = mem_zalloc(trace->count, sizeof *rank);
    struct job job;
    struct job_truth truth;
    time_ns before = 0;
    uint64_t order = 0;
    bool has = true;
    trace->next = 0;
    for (size_t i = 0;; i++) {
        assert_false(error_is(shake_next(shake, &job, &truth, &has)));
        assert_true(has == (i < trace->count));
        if (!has)
            break;
        assert_true(job.submit > before || (job.submit == before && (i == 0 || shake_order(shake) > order)));
        before = job.submit;
        order = shake_order(shake);
        rank[order] = (uint32_t)i;
        for (uint32_t a = 0; a < job.after_count; a++)
            assert_int_equal(job.after[a].job, rank[trace->jobs[order].job.after[a].job]);
        trace->job[order] = job;
        trace->truth[order] = truth;
    }
    mem_free(rank);
    shake_free(shake);
}

static double moved_s(const struct trace *trace, size_t i)
{
    return time_to_seconds(trace->job[i].submit - trace->jobs[i].job.submit);
}

TEST(arrivals_move_within_bounds)
{
    struct trace trace = trace_new(JOBS);
    double sum_s = 0, squares = 0;
    for (size_t i = 0; i < JOBS; i += 3)
        trace.jobs[i].job.deadline = trace.jobs[i].job.submit + 1000 * TIME_NS_PER_S;
    shake(&trace, &plan, 5);
    for (size_t i = 0; i < JOBS; i++) {
        const struct job *job = &trace.job[i];
        assert_true(job->submit >= 0 && fabs(moved_s(&trace, i)) <= 300);
        assert_true(i % 3 != 0 ? job->deadline == TIME_NEVER : job->deadline - job->submit == 1000 * TIME_NS_PER_S);
        if (i * GAP_S >= 300) { /* far enough from the begin */
            sum_s += moved_s(&trace, i);
            squares += moved_s(&trace, i) * moved_s(&trace, i);
        }
    }
    /* Uniform in +-300 s: mean 0, standard deviation 173 s; within five standard errors. */
    const double n = JOBS - 300.0 / GAP_S, sigma_s = 300 / sqrt(3);
    assert_true(fabs(sum_s / n) < 5 * sigma_s / sqrt(n));
    assert_true(fabs(sqrt(squares / n) / sigma_s - 1) < 0.03);
    trace_free(&trace);
}

/* Law: the mean of each job's move is 0, at the begin of the run too, and for jobs that depend on others.  A clamp at
 * the begin, or at the job that is depended on, moves them later. */
TEST(no_job_moves_on_average)
{
    enum { COUNT = 60, SEEDS = 4000 };
    static struct job_after after[COUNT];
    struct trace trace = trace_new(COUNT);
    double sum_s[COUNT] = {0};
    trace.has_dependencies = true;
    for (uint32_t i = 31; i < COUNT; i += 2) { /* pairs: one depends on the one before it */
        after[i] = (struct job_after){.job = i - 1};
        trace.jobs[i].job.after = &after[i];
        trace.jobs[i].job.after_count = 1;
        trace.jobs[i].group = trace.jobs[i - 1].group;
        trace.jobs[i].first = trace.jobs[i - 1].first;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        shake(&trace, &plan, seed);
        for (size_t i = 0; i < COUNT; i++)
            sum_s[i] += moved_s(&trace, i);
        for (size_t i = 31; i < COUNT; i += 2)
            assert_true(trace.job[i].submit >= trace.job[i - 1].submit);
    }
    for (size_t i = 0; i < COUNT; i++) {
        const double room_s = fmin(300, time_to_seconds(trace.jobs[i].first));
        if (fabs(sum_s[i] / SEEDS) > 5 * room_s / sqrt(3.0 * SEEDS))
            fail_msg("job %zu moves by %.2f s on average", i, sum_s[i] / SEEDS);
    }
    trace_free(&trace);
}

/* Law: the mean of the factor is 1, and limit and estimate have the factor of the run time: of jobs within their limit
 * and of jobs beyond it. */
TEST(run_times_keep_their_mean_and_their_part_of_the_limit)
{
    struct trace trace = trace_new(JOBS);
    double sum_s = 0, logs = 0;
    for (size_t i = 0; i < JOBS; i++) {
        struct job *job = &trace.jobs[i].job;
        job->limit = (time_ns[]){TIME_NEVER, 100 * TIME_NS_PER_S, 101 * TIME_NS_PER_S, 60 * TIME_NS_PER_S}[i % 4];
        job->estimate = i % 8 < 4 ? TIME_NEVER : 80 * TIME_NS_PER_S;
    }
    shake(&trace, &plan, 5);
    for (size_t i = 0; i < JOBS; i++) {
        const struct job *job = &trace.job[i], *was = &trace.jobs[i].job;
        const double run_s = time_to_seconds(trace.truth[i].duration);
        assert_true(run_s > 0);
        assert_true((trace.truth[i].duration <= job->limit) == (100 * TIME_NS_PER_S <= was->limit));
        assert_true((job->limit == TIME_NEVER) == (was->limit == TIME_NEVER));
        assert_true((job->estimate == TIME_NEVER) == (was->estimate == TIME_NEVER));
        if (job->limit != TIME_NEVER)
            assert_true(fabs(time_to_seconds(job->limit) / run_s - time_to_seconds(was->limit) / 100) < 1e-6);
        if (job->estimate != TIME_NEVER)
            assert_true(fabs(time_to_seconds(job->estimate) / run_s - 0.8) < 1e-6);
        sum_s += run_s;
        logs += log(run_s / 100) * log(run_s / 100);
    }
    /* Mean 100 s, variance (e^0.25 - 1) 100^2; within five standard errors.  E ln^2 = sigma^2 + sigma^4 / 4. */
    assert_true(fabs(sum_s / JOBS - 100) < 5 * 53.3 / sqrt(JOBS));
    assert_true(fabs(logs / JOBS - (0.25 + 0.015625)) < 0.02);
    trace_free(&trace);
}

/* As the run time, whose factor is theirs; a job that stands twice in the list has its own failures each time. */
TEST(failed_attempts_have_the_factor_of_the_run_time)
{
    struct trace trace = trace_new(22);
    struct job_failures *failures = arena_alloc(&arena, sizeof *failures + 2 * sizeof failures->work[0]);
    failures->count = 2;
    failures->work[0] = 1000 * TIME_NS_PER_S;
    failures->work[1] = 30 * TIME_NS_PER_S;
    for (size_t i = 0; i < trace.count; i++)
        trace.jobs[i].truth.failures = failures;
    shake(&trace, &(struct shake_plan){.run_time_sigma = 0.5}, 1);
    assert_true(trace.truth[0].duration != trace.truth[1].duration);
    for (size_t i = 0; i < trace.count; i++) {
        const struct job_failures *made = trace.truth[i].failures;
        const double factor = time_to_seconds(trace.truth[i].duration) / 100;
        assert_int_equal(made->count, 2);
        assert_true(fabs(time_to_seconds(made->work[0]) - factor * 1000) < 1e-4);
        assert_true(fabs(time_to_seconds(made->work[1]) - factor * 30) < 1e-5);
    }
    assert_true(failures->work[0] == 1000 * TIME_NS_PER_S);
    trace_free(&trace);
}

/* A cluster that is filled: none comes after the last submission, and each ends when it would have ended. */
TEST(a_filled_cluster_keeps_its_end)
{
    struct trace trace = trace_new(JOBS);
    size_t moved = 0;
    trace.last = trace.jobs[JOBS - 1].job.submit;
    const time_ns end = trace.last + TIME_NS_PER_S;
    for (size_t i = 0; i < JOBS; i++)
        trace.jobs[i].truth.duration = end - trace.jobs[i].job.submit;
    shake(&trace, &plan, 3);
    for (size_t i = 0; i < JOBS; i++) {
        assert_true(trace.job[i].submit <= trace.last);
        assert_true(trace.job[i].submit + trace.truth[i].duration == end);
        moved += trace.job[i].submit != trace.jobs[i].job.submit;
    }
    assert_true(moved > JOBS - 5);
    trace_free(&trace);
}

static bool is_equal(const struct trace *a, const struct trace *b, bool by_run_time)
{
    for (size_t i = 0; i < JOBS; i++)
        if (by_run_time ? a->truth[i].duration != b->truth[i].duration : a->job[i].submit != b->job[i].submit)
            return false;
    return true;
}

TEST(seeds_and_parts)
{
    struct trace same = trace_new(JOBS), again = trace_new(JOBS), other = trace_new(JOBS), arrivals = trace_new(JOBS),
                 run_times = trace_new(JOBS);
    shake(&same, &plan, 5);
    shake(&again, &plan, 5);
    shake(&other, &plan, 6);
    shake(&arrivals, &(struct shake_plan){.arrivals = plan.arrivals}, 5);
    shake(&run_times, &(struct shake_plan){.run_time_sigma = plan.run_time_sigma}, 5);
    assert_true(is_equal(&same, &again, false) && is_equal(&same, &again, true));
    assert_false(is_equal(&same, &other, false) || is_equal(&same, &other, true));
    assert_true(is_equal(&arrivals, &same, false) && is_equal(&run_times, &same, true));
    for (size_t i = 0; i < JOBS; i++) {
        assert_true(arrivals.truth[i].duration == arrivals.jobs[i].truth.duration);
        assert_true(run_times.job[i].submit == run_times.jobs[i].job.submit);
    }
    trace_free(&same);
    trace_free(&again);
    trace_free(&other);
    trace_free(&arrivals);
    trace_free(&run_times);
}

int main(void)
{
    const int failed = test_run();
    arena_release(&arena);
    return failed;
}
