/* Recorded attempts that fail, replayed: when they end, what they cost, and that everything else stays. */
#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/run.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

enum { FAILURES_MAX = 4 };

/* Failures of a job, in storage of the test: as struct job_failures, which has no end. */
struct failures {
    uint32_t count;
    time_ns work[FAILURES_MAX];
};
_Static_assert(offsetof(struct failures, work) == offsetof(struct job_failures, work), "the same place");

static const struct job_failures *told(const struct failures *failures)
{
    return (const void *)failures;
}

TEST(test_one_node_in_turn)
{
    static struct failures first = {2, {S(60), S(30)}}, second = {1, {S(200)}};
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = run_setup_default(cluster);
    struct run_job jobs[] = {run_job_make(0, S(100), 1, 8), run_job_make(S(10), S(5), 1, 8),
                             run_job_make(S(20), S(7), 1, 8)};
    jobs[0].truth.failures = told(&first);
    jobs[1].truth.failures = told(&second);
    jobs[1].truth.outcome = OUTCOME_FAILED;
    struct run_log *log = run_jobs(&setup, jobs, 3);
    assert_true(log->jobs[0].start == 0 && log->jobs[0].end == S(190));
    assert_true(log->jobs[1].start == S(190) && log->jobs[1].end == S(395));
    assert_true(log->jobs[2].start == S(395) && log->jobs[2].end == S(402));
    assert_int_equal(log->jobs[0].state, END_COMPLETED);
    assert_int_equal(log->jobs[1].state, END_FAILED);
    assert_int_equal(log->jobs[0].evictions, 2);
    assert_int_equal(log->jobs[0].lost_gpu_ns, 8 * S(90));
    assert_int_equal(log->jobs[1].lost_gpu_ns, 8 * S(200));
    assert_int_equal(log->jobs[2].lost_gpu_ns, 0);
    const struct attempt_row *attempt = run_attempt(log, 0, 1);
    assert_true(attempt->start == S(60) && attempt->end == S(90) && attempt->lost == S(30) && attempt->saved == 0);
    assert_int_equal(attempt->reason, REASON_FAULT);
    assert_true(run_attempt(log, 0, 2)->saved == S(100));
    run_log_free(log);
    cluster_free(cluster);
}

/* A limit is of each attempt; a job that reaches it does not fail before. */
TEST(test_limit)
{
    static struct failures failures = {1, {S(60)}};
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = run_setup_default(cluster);
    setup.world.kills_at_limit = true;
    struct run_job jobs[] = {run_job_make(0, S(70), 1, 8), run_job_make(0, S(50), 1, 8)};
    jobs[0].truth.failures = jobs[1].truth.failures = told(&failures);
    jobs[0].job.limit = S(70);
    jobs[1].job.limit = S(55);
    struct run_log *log = run_jobs(&setup, jobs, 2);
    assert_int_equal(log->jobs[0].state, END_COMPLETED);
    assert_true(log->jobs[0].end == S(130));
    assert_int_equal(log->jobs[1].state, END_LIMIT);
    assert_true(log->jobs[1].end == S(185));
    run_log_free(log);
    cluster_free(cluster);
}

/* Perfect estimates are of the longest attempt, so that no attempt outlasts its plan. */
TEST(test_estimates)
{
    static struct failures failures = {1, {S(300)}};
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = run_preset("easy");
    setup.world.estimates.kind = ESTIMATES_PERFECT;
    /* job 0 leaves 4 GPUs; job 1 needs all 8 and waits; job 2, 4 GPUs for 200 s, may overtake only if job 0 is known to
     * run for 300 s */
    struct run_job jobs[] = {run_job_make(0, S(10), 1, 4), run_job_make(S(1), S(10), 1, 8),
                             run_job_make(S(2), S(200), 1, 4)};
    jobs[0].truth.failures = told(&failures);
    struct run_log *log = run_jobs(&setup, jobs, 3);
    assert_true(log->jobs[2].start == S(2));
    assert_true(log->jobs[0].end == S(310));
    run_log_free(log);
    cluster_free(cluster);
}

static void random_failures(struct random_stream *stream, struct failures *failures)
{
    *failures = (struct failures){0};
    failures->count = 1 + random_below(stream, FAILURES_MAX);
    for (uint32_t i = 0; i < failures->count; i++)
        failures->work[i] = S(1 + random_below(stream, 500));
}

/* Under every policy each attempt of the record fails once, after its work, and the job ends as it should.  The job
 * that preempts others loses their present attempts alone. */
TEST(test_random_jobs)
{
    enum { JOBS = 120, SEEDS = 6 };
    static const char *const presets[] = {"fifo", "windtunnel", "kai", "easy"};
    static struct failures failures[JOBS];
    struct cluster *cluster = cluster_uniform_new(3, 8);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct random_stream stream;
        struct run_job jobs[JOBS];
        struct run_setup setup = run_setup_default(cluster);
        setup.policy = run_preset(presets[seed % 4]);
        random_stream_init(&stream, seed, "retries", 0);
        time_ns at = 0;
        for (uint32_t i = 0; i < JOBS; i++) {
            at += S(random_below(&stream, 120));
            const uint32_t members = 1 + random_below(&stream, 3);
            jobs[i] =
                run_job_make(at, S(1 + random_below(&stream, 900)), members, (uint16_t)(1 + random_below(&stream, 8)));
            jobs[i].job.priority = random_below(&stream, 4) == 0 ? 90 : 50;
            random_failures(&stream, &failures[i]);
            if (random_below(&stream, 2) == 0)
                jobs[i].truth.failures = told(&failures[i]);
        }
        struct run_log *log = run_jobs(&setup, jobs, JOBS);
        uint32_t failed[JOBS] = {0};
        for (uint32_t a = 0; a < log->attempt_count; a++) {
            const struct attempt_row *row = &log->attempts[a];
            if (row->why != ATTEMPT_EVICTED || row->reason != REASON_FAULT)
                continue;
            const struct job_failures *own = jobs[row->id].truth.failures;
            assert_non_null(own);
            assert_in_range(failed[row->id], 0, own->count - 1);
            assert_true(row->lost == own->work[failed[row->id]++] && row->saved == 0);
        }
        for (uint32_t i = 0; i < JOBS; i++) {
            const struct job_failures *own = jobs[i].truth.failures;
            assert_int_equal(log->jobs[i].state, END_COMPLETED);
            assert_int_equal(failed[i], own != NULL ? own->count : 0);
            assert_true(log->jobs[i].work == jobs[i].truth.duration);
        }
        run_log_free(log);
    }
    cluster_free(cluster);
}
