/* policies/state/run_times.h and policies/estimate/history.c: whose runs predict a job's, what counts as a run, and
 * when a prediction is made.  What is predicted is read from the planned start of a job that waits for another's end.
 */
#include "tests/support/test.h"

#include "policies/booking/planned_end.h"
#include "policies/estimate/estimates.h"
#include "policies/policy_config.h"
#include "policies/state/run_times.h"
#include "policies/state/sched_state.h"
#include "tests/support/sched_case.h"

enum { GPUS = 4, NOBODY = NAMES_NONE };

struct world {
    struct sched_case c;
    time_ns now;
    job_id next;
};

static void open_world(struct world *world, const char *policy)
{
    *world = (struct world){.now = SECONDS(1)};
    sched_case_open(&world->c, cluster_uniform_new(1, GPUS), queue_table_new(), policy);
}

static const char planning[] = "{'estimate': 'history', 'backfill': {'policy': 'conservative'}}";

static struct job job_of(struct world *world, uint32_t user, uint16_t gpus)
{
    struct job job = sched_case_job(world->next++, 1, gpus, 50);
    job.user = user;
    return job;
}

/* The job starts on a cluster that is all free; how long it will run, by what is told who waits for all GPUs. */
static time_ns start(struct world *world, struct job job)
{
    sched_case_submit(&world->c, job, world->now);
    assert_int_equal(sched_case_start(&world->c, world->now), 1);
    struct job head = job_of(world, NOBODY, GPUS);
    sched_case_submit(&world->c, head, world->now);
    sched_case_cycle(&world->c, world->now);
    time_ns end = sched_planned_start(world->c.sched, head.id);
    sched_job_cancelled(world->c.sched, head.id, world->now);
    return end == TIME_NEVER ? TIME_NEVER : end - world->now;
}

static void end(struct world *world, job_id id, enum job_end how, bool will_retry)
{
    sched_job_ended(world->c.sched, id, how, will_retry, world->now);
}

/* One job from its start to its end; what it was predicted to run. */
static time_ns run(struct world *world, struct job job, time_ns ran)
{
    time_ns predicted = start(world, job);
    world->now += ran;
    end(world, job.id, JOB_END_COMPLETED, false);
    return predicted;
}

static struct job limited(struct job job, time_ns limit, time_ns estimate)
{
    job.limit = limit;
    job.estimate = estimate;
    return job;
}

TEST(the_mean_of_the_last_two)
{
    uint64_t last[3] = {0};
    assert_true(estimate_history.state_size <= sizeof last);
    assert_true(estimate_history.predict(last) == TIME_NEVER);
    estimate_history.note_run(last, SECONDS(10));
    assert_true(estimate_history.predict(last) == SECONDS(10));
    estimate_history.note_run(last, SECONDS(30));
    assert_true(estimate_history.predict(last) == SECONDS(20));
    estimate_history.note_run(last, SECONDS(2));
    assert_true(estimate_history.predict(last) == SECONDS(16));
    assert_true(estimate_history.length(SECONDS(9), SECONDS(16), NULL) == SECONDS(9));
    assert_true(estimate_history.length(TIME_NEVER, SECONDS(16), NULL) == SECONDS(16));
    assert_true(estimate_history.length(TIME_NEVER, TIME_NEVER, NULL) == TIME_NEVER);
}

/* The user's that ask the same, all the user's, what is declared; the limit bounds each. */
TEST(whose_runs_are_asked)
{
    struct world w;
    open_world(&w, planning);
    assert_true(run(&w, limited(job_of(&w, 1, 4), SECONDS(500), TIME_NEVER), SECONDS(10)) == SECONDS(500));
    assert_true(run(&w, limited(job_of(&w, 1, 4), SECONDS(500), SECONDS(400)), SECONDS(30)) == SECONDS(10));
    assert_true(run(&w, limited(job_of(&w, 1, 4), SECONDS(500), TIME_NEVER), SECONDS(50)) == SECONDS(20));
    assert_true(run(&w, limited(job_of(&w, 1, 2), SECONDS(500), TIME_NEVER), SECONDS(90)) ==
                SECONDS(40)); /* it asks otherwise: all the user's */
    assert_true(run(&w, limited(job_of(&w, 1, 4), SECONDS(25), TIME_NEVER), SECONDS(25)) == SECONDS(25));
    assert_true(run(&w, limited(job_of(&w, 1, 2), SECONDS(500), TIME_NEVER), SECONDS(90)) == SECONDS(90));
    assert_true(run(&w, limited(job_of(&w, 2, 4), SECONDS(500), SECONDS(400)), SECONDS(7)) ==
                SECONDS(400)); /* another user */
    assert_true(run(&w, limited(job_of(&w, NOBODY, 4), SECONDS(500), TIME_NEVER), SECONDS(7)) == SECONDS(500));
    assert_true(run(&w, limited(job_of(&w, NOBODY, 4), SECONDS(500), SECONDS(3)), SECONDS(7)) == SECONDS(3));
    sched_case_close(&w.c);
}

/* Who declares nothing, and is new, is as everybody is. */
TEST(without_anything_declared)
{
    struct world w;
    open_world(&w, planning);
    assert_true(run(&w, job_of(&w, 1, 4), SECONDS(10)) == TIME_NEVER);
    assert_true(run(&w, job_of(&w, 2, 4), SECONDS(30)) == SECONDS(10));
    assert_true(run(&w, job_of(&w, 3, 4), SECONDS(60)) == SECONDS(20));
    assert_true(run(&w, job_of(&w, NOBODY, 2), SECONDS(70)) == SECONDS(45));
    assert_true(run(&w, job_of(&w, NOBODY, 4), SECONDS(80)) == SECONDS(45));
    assert_true(run(&w, job_of(&w, 4, 4), SECONDS(80)) == SECONDS(70)); /* 60 and 80, not 70 */
    assert_true(run(&w, job_of(&w, 2, 4), SECONDS(30)) == SECONDS(30));
    sched_case_close(&w.c);
}

static void interrupt(struct world *world, job_id id, enum evict_end how)
{
    sched_job_evicted(world->c.sched, id, MEMBERS_ALL, how, world->now);
    world->now += SECONDS(1000); /* waiting is no run */
    assert_int_equal(sched_case_start(&world->c, world->now), 1);
}

/* What the run of a job comes to that is interrupted after 100 s and then runs 7 s. */
static time_ns ran_after(struct world *world, enum evict_end how, time_ns interval, time_ns told)
{
    struct job job = job_of(world, 1, 4);
    job.checkpoint.interval = interval;
    start(world, job);
    if (told > 0)
        sched_job_checkpointed(world->c.sched, job.id, world->now + told);
    world->now += SECONDS(100);
    interrupt(world, job.id, how);
    world->now += SECONDS(7);
    end(world, job.id, JOB_END_COMPLETED, false);
    const struct run_times *times = &world->c.sched->run_times;
    return ((const time_ns *)times->states)[0]; /* the latest run of everybody that asks so */
}

TEST(what_is_kept_of_an_attempt)
{
    struct world w;
    open_world(&w, planning);
    assert_true(ran_after(&w, EVICT_SAVED, 0, 0) == SECONDS(107));
    assert_true(ran_after(&w, EVICT_LOST, 0, 0) == SECONDS(7));
    assert_true(ran_after(&w, EVICT_LOST, 0, SECONDS(40)) == SECONDS(47));
    assert_true(ran_after(&w, EVICT_LOST, SECONDS(30), 0) == SECONDS(97));
    assert_true(ran_after(&w, EVICT_LOST, SECONDS(30), SECONDS(40)) == SECONDS(47));
    assert_true(ran_after(&w, EVICT_SAVED, SECONDS(30), SECONDS(40)) == SECONDS(107));
    sched_case_close(&w.c);
}

/* However it ends it held its space so long; what never ran teaches nothing, nor what is tried again. */
TEST(which_ends_count)
{
    static const enum job_end ends[] = {JOB_END_COMPLETED, JOB_END_FAILED, JOB_END_CANCELLED, JOB_END_LIMIT};
    struct world w;
    open_world(&w, planning);
    for (uint32_t e = 0; e < 4; e++) {
        struct job job = job_of(&w, e, 4);
        start(&w, job);
        w.now += SECONDS(10 + e);
        end(&w, job.id, ends[e], false);
        assert_true(run(&w, job_of(&w, e, 4), SECONDS(5)) == SECONDS(10 + e));
    }
    struct job job = limited(job_of(&w, 9, 4), SECONDS(500), TIME_NEVER);
    start(&w, job);
    w.now += SECONDS(100);
    end(&w, job.id, JOB_END_FAILED, true);
    w.now += SECONDS(100);
    assert_int_equal(sched_case_start(&w.c, w.now), 1);
    w.now += SECONDS(8);
    end(&w, job.id, JOB_END_COMPLETED, false);
    assert_true(run(&w, job_of(&w, 9, 4), SECONDS(5)) == SECONDS(8));
    job = limited(job_of(&w, 10, 4), SECONDS(500), TIME_NEVER);
    sched_case_submit(&w.c, job, w.now);
    sched_case_cycle(&w.c, w.now); /* its START is never confirmed */
    w.now += SECONDS(100);
    end(&w, job.id, JOB_END_FAILED, false);
    assert_true(run(&w, limited(job_of(&w, 10, 4), SECONDS(500), TIME_NEVER), SECONDS(5)) == SECONDS(500));
    sched_case_close(&w.c);
}

/* Made when it first comes to wait, and kept: across the ends of others and its own eviction. */
TEST(a_prediction_stands)
{
    struct world w;
    open_world(&w, planning);
    run(&w, job_of(&w, 1, 4), SECONDS(10));
    struct job runs = limited(job_of(&w, 2, 4), SECONDS(500), TIME_NEVER);
    start(&w, runs);
    struct job waits = job_of(&w, 1, 4), held = job_of(&w, 1, 4);
    held.is_held = true;
    sched_case_submit(&w.c, waits, w.now);
    sched_case_submit(&w.c, held, w.now);
    struct job other = job_of(&w, 1, 4); /* ends 90 s after its start, when `waits` waits long since */
    w.now += SECONDS(90);
    sched_job_evicted(w.c.sched, runs.id, MEMBERS_ALL, EVICT_LOST, w.now);
    sched_job_cancelled(w.c.sched, runs.id, w.now);
    sched_job_cancelled(w.c.sched, waits.id, w.now);
    sched_case_submit(&w.c, waits = job_of(&w, 1, 4), w.now);
    w.now += SECONDS(1);
    assert_int_equal(sched_case_start(&w.c, w.now), 1);
    sched_case_submit(&w.c, other, w.now); /* predicted 10 s, as `waits` is */
    w.now += SECONDS(90);
    end(&w, waits.id, JOB_END_COMPLETED, false);
    sched_job_released(w.c.sched, held.id, w.now); /* knows of the 90 s */
    struct run_times *times = &w.c.sched->run_times;
    const uint32_t other_slot = job_table_find(&w.c.sched->jobs, other.id);
    const uint32_t held_slot = job_table_find(&w.c.sched->jobs, held.id);
    assert_true(times->runs[other_slot].estimate == SECONDS(10));
    assert_true(times->runs[held_slot].estimate == SECONDS(50));
    assert_true(planned_length(w.c.sched, other_slot) == SECONDS(10));
    sched_case_close(&w.c);
}

/* Running since 60 s when the scheduler came, of a user whose runs it knows. */
TEST(an_adopted_job)
{
    struct world w;
    open_world(&w, planning);
    run(&w, job_of(&w, 1, 4), SECONDS(100));
    struct job job = job_of(&w, 1, 4), head = job_of(&w, 2, 4);
    const struct piece piece = {.node = 0, .gpu_mask = 15, .gpu_milli = GPU_MILLI, .member_count = 1};
    sched_job_adopted(w.c.sched, &job, &piece, 1, w.now - SECONDS(60), w.now);
    sched_case_submit(&w.c, head, w.now);
    sched_case_cycle(&w.c, w.now);
    assert_true(sched_planned_start(w.c.sched, head.id) == w.now + SECONDS(40));
    sched_job_cancelled(w.c.sched, head.id, w.now);
    w.now += SECONDS(20);
    end(&w, job.id, JOB_END_COMPLETED, false);
    assert_true(run(&w, job_of(&w, 1, 4), SECONDS(1)) == SECONDS(90)); /* 100 and 80 */
    sched_case_close(&w.c);
}

/* Where nothing is learned, or nothing plans, nothing is kept. */
TEST(others_keep_nothing)
{
    static const char *const policies[] = {"{'estimate': 'declared', 'backfill': {'policy': 'conservative'}}",
                                           "{'estimate': 'limit', 'backfill': {'policy': 'conservative'}}",
                                           "{'estimate': 'history'}"};
    for (size_t p = 0; p < 3; p++) {
        struct world w;
        open_world(&w, policies[p]);
        run(&w, job_of(&w, 1, 4), SECONDS(10));
        assert_true(run(&w, job_of(&w, 1, 4), SECONDS(10)) == TIME_NEVER);
        assert_false(w.c.sched->run_times.is_used);
        assert_null(w.c.sched->run_times.runs);
        assert_null(w.c.sched->run_times.slots);
        sched_case_close(&w.c);
    }
}
