/* The engine by hand: when jobs start, end, are killed, rejected or cut off, and what the rows say of it. */
#include "tests/support/test.h"

#include "policies/placement/placements.h"
#include "tests/support/run.h"

#define S(seconds)      ((seconds)*TIME_NS_PER_S)
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* On nodes x gpus; end with close_setup. */
static struct run_setup open_setup(uint32_t nodes, uint16_t gpus)
{
    return run_setup_default(cluster_uniform_new(nodes, gpus));
}

static void close_setup(struct run_setup *setup, struct run_log *log)
{
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup->cluster);
}

static void check_job(const struct run_log *log, job_id id, enum job_end_state state, time_ns start, time_ns end,
                      time_ns wait)
{
    const struct job_row *row = &log->jobs[id];
    assert_int_equal(row->state, state);
    assert_int_equal(row->start, start);
    assert_int_equal(row->end, end);
    assert_int_equal(row->wait, wait);
}

TEST(test_one_after_the_other)
{
    struct run_setup setup = open_setup(1, 8);
    const struct run_job jobs[] = {run_job_make(S(5), S(100), 1, 8), run_job_make(S(10), S(50), 1, 3),
                                   run_job_make(S(10), S(70), 1, 5), run_job_make(S(175), 0, 1, 8)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 0, END_COMPLETED, S(5), S(105), 0);
    check_job(log, 1, END_COMPLETED, S(105), S(155), S(95));
    check_job(log, 2, END_COMPLETED, S(105), S(175), S(95));
    check_job(log, 3, END_COMPLETED, S(175), S(175), 0); /* an end makes room for a submission of the same instant */
    assert_int_equal(log->jobs[0].gpu_milli, 8000);
    assert_int_equal(log->jobs[2].run, S(70));
    assert_int_equal(log->jobs[2].work, S(70));
    assert_int_equal(log->jobs[2].wait_total, S(95));
    assert_int_equal(log->jobs[2].lost_gpu_ns, 0);
    assert_string_equal(run_attempt(log, 0, 0)->placement, "n0:0-7");
    assert_string_equal(run_attempt(log, 1, 0)->placement, "n0:0-2");
    assert_string_equal(run_attempt(log, 2, 0)->placement, "n0:3-7");
    const struct timeline_row *last = run_last_sample(log);
    assert_int_equal(last->time, S(175));
    assert_true(last->running_job_s == 100 + 50 + 70);
    assert_true(last->pending_job_s == 95 + 95);
    assert_true(last->allocated_gpu_s == 100 * 8 + 50 * 3 + 70 * 5);
    assert_int_equal(log->result.facts.end, S(175));
    assert_int_equal(log->result.finished, 4);
    close_setup(&setup, log);
}

TEST(test_placement_texts)
{
    struct run_setup setup = open_setup(4, 4);
    struct run_job jobs[] = {
        run_job_make(0, S(10), 2, 4),    run_job_make(0, S(10), 6, 1), /* at once: n0 and n1; n2 and half of n3 */
        run_job_make(0, S(20), 1, 1),    run_job_make(0, S(10), 1, 1), /* 2 runs on, alone */
        run_job_make(S(10), S(5), 1, 0), run_job_make(S(10), S(5), 3, 4),
    };
    jobs[4].job.first.request.gpu_milli = 142;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_string_equal(run_attempt(log, 1, 0)->placement, "n2:0-3 n3:0-1");
    assert_string_equal(run_attempt(log, 2, 0)->placement, "n3:2");
    assert_string_equal(run_attempt(log, 3, 0)->placement, "n3:3");
    assert_string_equal(run_attempt(log, 4, 0)->placement, "n3:0@142");
    /* As in sim/record/record.h: "n[0-7]:0-7". */
    assert_string_equal(run_attempt(log, 0, 0)->placement, "n[0-1]:0-3");
    assert_string_equal(run_attempt(log, 5, 0)->placement, "n[0-2]:0-3");
    close_setup(&setup, log);
}

TEST(test_placement_gaps)
{
    struct run_setup setup = open_setup(4, 4);
    const struct run_job jobs[] = {run_job_make(0, S(10), 1, 1),    run_job_make(0, S(20), 1, 1),
                                   run_job_make(0, S(10), 1, 1),    run_job_make(0, S(20), 1, 1),
                                   run_job_make(S(10), S(5), 1, 2), run_job_make(S(10), S(5), 3, 4)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_string_equal(run_attempt(log, 4, 0)->placement, "n0:0,2");
    assert_string_equal(run_attempt(log, 5, 0)->placement, "n[1-3]:0-3");
    close_setup(&setup, log);
}

/* Spread: members go round the nodes, and neighbours that hold the same are written as one. */
TEST(test_placement_worst_fit)
{
    struct run_setup setup = open_setup(3, 4);
    uint16_t held[3 * NODE_GPUS_MAX];
    const struct run_job jobs[] = {run_job_make(0, S(10), 1, 1), run_job_make(0, S(10), 5, 1)};
    setup.policy.placement = &placement_worst_fit;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_string_equal(run_attempt(log, 0, 0)->placement, "n0:0");
    run_placement_read(run_attempt(log, 1, 0)->placement, 3, held);
    for (uint32_t n = 0; n < 3; n++)
        for (uint32_t g = 0; g < 4; g++) /* n1 n2, then n0 n1 n2 with three free each */
            assert_int_equal(held[n * NODE_GPUS_MAX + g], (n == 0 ? g == 1 : g < 2) ? GPU_MILLI : 0);
    close_setup(&setup, log);
}

TEST(test_outcomes_and_limits)
{
    struct run_setup setup = open_setup(5, 1);
    struct run_job jobs[5];
    for (uint32_t i = 0; i < 5; i++)
        jobs[i] = run_job_make(0, S(100), 1, 1);
    jobs[0].truth.outcome = OUTCOME_FAILED;
    jobs[1].truth.outcome = OUTCOME_CANCELLED;
    jobs[2].job.limit = S(60);
    jobs[3].job.limit = S(100); /* just in time */
    jobs[4].job.limit = 1;
    setup.world.kills_at_limit = true;
    struct run_log *log = run_jobs(&setup, jobs, 5);
    check_job(log, 0, END_FAILED, 0, S(100), 0);
    check_job(log, 1, END_CANCELLED, 0, S(100), 0);
    check_job(log, 2, END_LIMIT, 0, S(60), 0);
    assert_int_equal(log->jobs[2].work, S(60));
    assert_int_equal(log->jobs[2].work_asked, S(100));
    check_job(log, 3, END_COMPLETED, 0, S(100), 0);
    check_job(log, 4, END_LIMIT, 0, 1, 0);
    run_log_free(log);
    setup.world.kills_at_limit = false;
    log = run_jobs(&setup, jobs, 5);
    check_job(log, 2, END_COMPLETED, 0, S(100), 0);
    check_job(log, 4, END_COMPLETED, 0, S(100), 0);
    close_setup(&setup, log);
}

TEST(test_queue_limit)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job jobs[] = {run_job_make(0, S(100), 1, 1),    run_job_make(S(10), S(10), 1, 1),
                                   run_job_make(S(10), S(10), 1, 1), run_job_make(S(10), S(10), 1, 1),
                                   run_job_make(S(50), S(10), 1, 1), run_job_make(S(105), S(10), 1, 1)};
    setup.world.queue_limit = 1;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 1, END_COMPLETED, S(100), S(110), S(90)); /* of those who come together the last leave */
    check_job(log, 2, END_REJECTED, TIME_NEVER, S(10), 0);
    check_job(log, 3, END_REJECTED, TIME_NEVER, S(10), 0);
    check_job(log, 4, END_REJECTED, TIME_NEVER, S(50), 0);
    check_job(log, 5, END_COMPLETED, S(110), S(120), S(5));
    assert_int_equal(log->jobs[4].reason, REASON_QUEUE_FULL);
    assert_int_equal(log->jobs[4].wait_total, 0);
    assert_int_equal(log->result.queue_full, 3);
    assert_int_equal(log->result.never_fits, 0);
    assert_int_equal(run_last_sample(log)->rejected, 3);
    run_log_free(log);
    setup.world.queue_limit = 0;
    log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->result.queue_full, 4);
    check_job(log, 5, END_COMPLETED, S(105), S(115), 0);
    close_setup(&setup, log);
}

/* A job that was started does not wait any more, although its start has not taken effect. */
TEST(test_queue_limit_with_latency)
{
    struct run_setup setup = open_setup(2, 1);
    const struct run_job jobs[] = {run_job_make(0, S(100), 1, 1), run_job_make(0, S(100), 1, 1),
                                   run_job_make(0, S(10), 1, 1), run_job_make(0, S(10), 1, 1)};
    setup.world.queue_limit = 1;
    setup.world.decision_latency = S(5);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 0, END_COMPLETED, S(5), S(105), S(5));
    check_job(log, 1, END_COMPLETED, S(5), S(105), S(5));
    check_job(log, 2, END_COMPLETED, S(110), S(120), S(110));
    check_job(log, 3, END_REJECTED, TIME_NEVER, 0, 0);
    close_setup(&setup, log);
}

TEST(test_never_fits)
{
    struct run_setup setup = open_setup(2, 4);
    const struct run_job jobs[] = {run_job_make(0, S(10), 1, 5), run_job_make(0, S(10), 3, 4),
                                   run_job_make(0, S(10), 9, 1), run_job_make(0, S(10), 8, 1)};
    setup.world.queue_limit = 0; /* a rejected job is not rejected twice */
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    for (job_id id = 0; id < 3; id++) {
        check_job(log, id, END_REJECTED, TIME_NEVER, 0, 0);
        assert_int_equal(log->jobs[id].reason, REASON_NEVER_FITS);
        assert_int_equal(log->jobs[id].model, id == 0 ? MODEL_ANY : 0); /* no model, or the only one */
    }
    check_job(log, 3, END_COMPLETED, 0, S(10), 0); /* nobody was held up */
    assert_int_equal(log->result.never_fits, 3);
    assert_int_equal(log->result.queue_full, 0);
    assert_int_equal(log->result.submitted, 4);
    assert_int_equal(log->result.finished, 1);
    close_setup(&setup, log);
}

TEST(test_warmup)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job jobs[] = {run_job_make(0, S(10), 1, 1), run_job_make(S(24), S(10), 1, 1),
                                   run_job_make(S(25), S(10), 1, 1), run_job_make(S(60), S(10), 1, 1)};
    setup.world.warmup = S(25);
    setup.world.sample_interval = S(20);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_false(log->jobs[0].is_counted);
    assert_false(log->jobs[1].is_counted);
    assert_true(log->jobs[2].is_counted); /* submitted just then */
    assert_true(log->jobs[3].is_counted);
    assert_int_equal(log->result.facts.warmup, S(25));
    assert_int_equal(log->samples[2].time, S(25)); /* after 0 and 20 a row at its end, so that windows are exact */
    assert_true(log->samples[2].running_job_s == 11);
    assert_int_equal(log->samples[3].time, S(40)); /* back on the grid */
    close_setup(&setup, log);
}

/* sim/record/record.h: a row is the state just after its time. */
TEST(test_samples_are_just_after)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job jobs[] = {run_job_make(0, S(10), 1, 1), run_job_make(S(20), S(25), 1, 1),
                                   run_job_make(S(20), S(1), 1, 1)};
    setup.world.sample_interval = S(10);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->samples[0].time, 0);
    assert_int_equal(log->samples[0].submitted, 1);
    assert_int_equal(log->samples[0].running_jobs, 1);
    assert_int_equal(log->samples[1].running_jobs, 0);
    assert_int_equal(log->samples[1].ended, 1);
    assert_int_equal(log->samples[2].running_jobs, 1);
    assert_int_equal(log->samples[2].pending_jobs, 1);
    assert_int_equal(log->samples[2].allocated_gpu_milli, 1000);
    close_setup(&setup, log);
}

/* Whatever falls on the end of the run, the last row is the state at the end. */
TEST(test_last_sample)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job jobs[] = {run_job_make(0, S(20), 1, 1), run_job_make(S(20), 0, 1, 1)};
    setup.world.sample_interval = S(10);
    for (uint32_t count = 1; count <= 2; count++) {
        struct run_log *log = run_jobs(&setup, jobs, count);
        assert_int_equal(run_last_sample(log)->time, S(20));
        assert_int_equal(run_last_sample(log)->submitted, count);
        assert_int_equal(run_last_sample(log)->started, count);
        assert_int_equal(run_last_sample(log)->ended, count);
        assert_int_equal(run_last_sample(log)->running_jobs, 0);
        run_log_free(log);
    }
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* The run ends at 500 s: one job runs, one waits for space, one behind it for its turn, one was just decided. */
TEST(test_cut_off)
{
    struct run_setup setup = open_setup(2, 8);
    const struct run_job jobs[] = {run_job_make(S(20), S(1000), 1, 7), run_job_make(S(20), S(475), 1, 8),
                                   run_job_make(S(495), S(100), 2, 8), run_job_make(S(496), S(100), 1, 1),
                                   run_job_make(S(501), S(100), 1, 1)};
    setup.world.end = S(500);
    setup.world.decision_latency = S(5);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 0, END_RUNNING, S(25), TIME_NEVER, S(5));
    assert_int_equal(log->jobs[0].run, S(475));
    assert_int_equal(log->jobs[0].work, S(475));
    assert_int_equal(run_attempt(log, 0, 0)->why, ATTEMPT_UNFINISHED);
    assert_int_equal(run_attempt(log, 0, 0)->end, S(500));
    check_job(log, 1, END_COMPLETED, S(25), S(500), S(5)); /* an end in the last instant counts */
    check_job(log, 2, END_PENDING, TIME_NEVER, TIME_NEVER, S(5));
    assert_int_equal(log->jobs[2].reason, REASON_RESOURCES);
    assert_int_equal(log->jobs[2].wait_total, S(5));
    check_job(log, 3, END_PENDING, TIME_NEVER, TIME_NEVER, S(4));
    assert_int_equal(log->jobs[3].reason, REASON_PRIORITY);
    assert_int_equal(log->result.submitted, 4); /* the last came too late */
    assert_int_equal(log->result.facts.end, S(500));
    assert_int_equal(run_last_sample(log)->time, S(500));
    assert_true(run_last_sample(log)->running_job_s == 2 * 475);
    assert_true(run_last_sample(log)->pending_job_s == 5 + 5 + 5 + 4);
    assert_int_equal(run_last_sample(log)->pending_jobs, 2);
    close_setup(&setup, log);
}

TEST(test_cut_off_while_starting)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job job = run_job_make(S(97), S(100), 1, 1);
    setup.world.end = S(100);
    setup.world.decision_latency = S(5);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_job(log, 0, END_PENDING, TIME_NEVER, TIME_NEVER, S(3));
    assert_int_equal(log->attempt_count, 0);
    close_setup(&setup, log);
}

struct ends { /* a sink that wants attempts and nothing else */
    uint32_t unfinished, ended;
};

static struct error take_end(void *self, const struct attempt_row *row)
{
    struct ends *ends = self;
    ends->unfinished += row->why == ATTEMPT_UNFINISHED;
    ends->ended += row->why == ATTEMPT_ENDED;
    return ERROR_OK;
}

static struct error two_jobs(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    uint32_t *made = self;
    struct run_job next = run_job_make(0, *made == 0 ? S(10) : S(1000), 1, 1);
    *has = (*made)++ < 2;
    *job = next.job;
    *truth = next.truth;
    return ERROR_OK;
}

TEST(test_sink_of_attempts_alone)
{
    struct run_setup setup = open_setup(2, 1);
    struct ends ends = {0};
    uint32_t made = 0;
    setup.world.end = S(100);
    struct record_sink sink = {.self = &ends, .on_attempt = take_end};
    run_source(&setup, job_source_custom(two_jobs, &made), &sink);
    assert_int_equal(ends.ended, 1);
    assert_int_equal(ends.unfinished, 1);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* Space is held from the decision on; a wait lasts until the start takes effect. */
TEST(test_decision_latency)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job jobs[] = {run_job_make(0, S(100), 1, 1), run_job_make(S(2), S(10), 1, 1)};
    setup.world.decision_latency = S(5);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 0, END_COMPLETED, S(5), S(105), S(5));
    check_job(log, 1, END_COMPLETED, S(110), S(120), S(108));
    assert_true(run_last_sample(log)->allocated_gpu_s == 110);
    close_setup(&setup, log);
}

TEST(test_scheduler_period)
{
    struct run_setup setup = open_setup(1, 1);
    const struct run_job jobs[] = {run_job_make(S(3), S(7), 1, 1), run_job_make(S(10), S(10), 1, 1),
                                   run_job_make(S(30), S(5), 1, 1), run_job_make(S(995), 0, 1, 1),
                                   run_job_make(S(995), S(1), 1, 1)};
    setup.world.scheduler_period = S(10);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 0, END_COMPLETED, S(10), S(17), S(7));
    check_job(log, 1, END_COMPLETED, S(20), S(30), S(10)); /* not at 17 */
    check_job(log, 2, END_COMPLETED, S(30), S(35), 0);     /* end, submission and tick fall together */
    check_job(log, 3, END_COMPLETED, S(1000), S(1000), S(5));
    check_job(log, 4, END_COMPLETED, S(1010), S(1011), S(15)); /* one cycle a tick */
    /* 10, 20, 30, 40 for the end at 35, 1000, 1010 and 1020: idle ticks are skipped. */
    assert_int_equal(log->result.facts.cycles, 7);
    run_log_free(log);
    setup.world.decision_latency = S(2);
    log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_job(log, 0, END_COMPLETED, S(12), S(19), S(9));
    check_job(log, 1, END_COMPLETED, S(22), S(32), S(12));
    check_job(log, 2, END_COMPLETED, S(42), S(47), S(12));
    close_setup(&setup, log);
}

/* Gangs are all or nothing (policies/policy_config.h): whatever the minimum, all members start, and are counted. */
TEST(test_minimum_below_count)
{
    struct run_setup setup = open_setup(1, 8);
    struct run_job job = run_job_make(0, S(10), 6, 1);
    job.job.first.min_count = 2;
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_string_equal(run_attempt(log, 0, 0)->placement, "n0:0-5");
    assert_int_equal(log->jobs[0].members, 6);
    assert_int_equal(run_attempt(log, 0, 0)->gpu_milli, 6000);
    assert_int_equal(log->jobs[0].gpu_milli, 6000);
    assert_true(run_last_sample(log)->allocated_gpu_s == 60);
    close_setup(&setup, log);
}
