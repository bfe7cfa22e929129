/* Members that come and go, by hand: what growing, shrinking and leaving make of a job's end and its rows. */
#include "tests/support/scripted_sched.h"

/* ---- Growth and shrinking ---------------------------------------------------------------------- */

/* Two of four work 400 s (200 s of reference work), then all: 800 s are left. */
static void test_grows(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    script_start(0, 0, 0, 2);
    script_start(S(400), 0, 2, 2);
    struct run_log *log = run_jobs(&setup, &job, 1);
    const struct job_row *row = &log->jobs[0];
    assert_int_equal(row->end, S(1200));
    assert_int_equal(row->state, END_COMPLETED);
    assert_int_equal(row->work, S(1000));
    assert_int_equal(row->run, S(1200));
    assert_int_equal(row->gpu_milli, 4 * GPU_MILLI);
    assert_int_equal(row->resizes, 1);
    assert_int_equal(row->held_milli_ns, (400 * 2 + 800 * 4) * RECORD_MILLI_NS_PER_GPU_S);
    assert_int_equal(row->lost_gpu_ns, 0);
    assert_int_equal(row->evictions, 0);
    check_attempt(log, 0, 0, S(400), ATTEMPT_RESIZED, 2, S(200), 0);
    check_attempt(log, 1, S(400), S(1200), ATTEMPT_ENDED, 4, S(800), 0);
    assert_string_equal(run_attempt(log, 0, 1)->placement, "n0:0-3");
    check_told(0, 's', 1, 0);
    check_told(1, 's', 2, S(400));
    check_told(2, 'x', 0, S(1200));
    assert_true(run_last_sample(log)->allocated_gpu_s == 400 * 2 + 800 * 4);
    assert_int_equal(run_last_sample(log)->started, 1);
    assert_int_equal(run_last_sample(log)->time, S(1200)); /* not 2000, when two would have ended: that was cancelled */
    run_log_free(log);
    cluster_free(cluster);
}

/* Three members for 1 ns do not divide the work evenly: the end is rounded up, nothing else is. */
static void test_odd_speeds(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    job.truth.duration = 100;
    script_start(0, 0, 0, 3);
    script_start(1, 0, 3, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].end, 101); /* 400 member-ns: 3, then 397 by fours */
    assert_int_equal(run_attempt(log, 0, 0)->saved, 0);
    assert_int_equal(run_attempt(log, 0, 1)->saved, 100);
    run_log_free(log);
    cluster_free(cluster);
}

/* Four work 300 s, save for 20, then two do the other 700 s in 1400. */
static void test_shrinks(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.duration = S(20), .restart = S(500)});
    script_start(0, 0, 0, 4);
    script_shrink(S(300), 0, 1, 2);
    struct run_log *log = run_jobs(&setup, &job, 1);
    const struct job_row *row = &log->jobs[0];
    assert_int_equal(row->end, S(320 + 1400)); /* no restart */
    assert_int_equal(row->evictions, 0);
    assert_int_equal(row->lost_gpu_ns, S(20 * 4));
    assert_int_equal(row->overhead_gpu_ns, S(20 * 4));
    assert_int_equal(row->preempted_gpu_ns, S(20 * 4));
    assert_int_equal(row->held_milli_ns, (320 * 4 + 1400 * 2) * RECORD_MILLI_NS_PER_GPU_S);
    check_attempt(log, 0, 0, S(320), ATTEMPT_RESIZED, 4, S(300), 0);
    check_attempt(log, 1, S(320), S(1720), ATTEMPT_ENDED, 2, S(700), 0);
    assert_string_equal(run_attempt(log, 0, 0)->placement, "n0:0-3");
    assert_string_equal(run_attempt(log, 0, 1)->placement, "n0:0,3");
    check_told(1, 'e', 2, S(320));
    assert_int_equal(run_last_sample(log)->evicted, 0);
    run_log_free(log);
    cluster_free(cluster);
}

/* Without checkpoints they leave at once, and the others go on. */
static void test_shrinks_without_checkpoint(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    script_start(0, 0, 0, 4);
    script_shrink(S(300), 0, 3, 1);
    script_shrink(S(500), 0, 2, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    /* 4000 member-s: 1200, then 600 in 200 s, then 2200 by twos */
    assert_int_equal(log->jobs[0].end, S(1600));
    assert_int_equal(log->jobs[0].lost_gpu_ns, 0);
    assert_int_equal(log->jobs[0].resizes, 2);
    run_log_free(log);
    cluster_free(cluster);
}

/* The grace is too short to save: all work on until it ends. */
static void test_shrinks_late(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.duration = S(90)});
    script_start(0, 0, 0, 4);
    script_shrink(S(300), 0, 2, 2);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(360), ATTEMPT_RESIZED, 4, S(360), 0);
    assert_int_equal(log->jobs[0].end, S(360 + 1280));
    assert_int_equal(log->jobs[0].lost_gpu_ns, 0);
    run_log_free(log);
    cluster_free(cluster);
}

/* It grows while it saves, and shrinks again: frozen until the checkpoint is written, at 320. */
static void test_grows_while_frozen(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.duration = S(20)});
    script_start(0, 0, 0, 3);
    script_shrink(S(300), 0, 2, 1);
    script_start(S(310), 0, 3, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(310), ATTEMPT_RESIZED, 3, S(225), 0);
    check_attempt(log, 1, S(310), S(320), ATTEMPT_RESIZED, 4, 0, 0);
    assert_int_equal(log->jobs[0].overhead_gpu_ns, S(10 * 3 + 10 * 4));
    assert_int_equal(log->jobs[0].end, S(320) + S(3100) / 3 + 1); /* 3100 member-s by threes */
    run_log_free(log);
    cluster_free(cluster);
}

/* All that comes in one instant is one attempt. */
static void test_one_instant(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    script_start(0, 0, 0, 2);
    script_start(0, 0, 2, 1);
    script_start(0, 0, 3, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->attempt_count, 1);
    assert_int_equal(log->jobs[0].end, S(1000));
    assert_int_equal(log->jobs[0].resizes, 0);
    run_log_free(log);
    cluster_free(cluster);
}

/* With a latency the members work when they are there. */
static void test_latency(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    setup.world.decision_latency = S(10);
    script_start(0, 0, 0, 2);
    script_start(S(390), 0, 2, 2);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, S(10), S(400), ATTEMPT_RESIZED, 2, S(195), 0);
    assert_int_equal(log->jobs[0].end, S(400 + 805));
    assert_int_equal(log->jobs[0].wait, S(10));
    check_told(1, 's', 2, S(400));
    run_log_free(log);
    cluster_free(cluster);
}

/* A limit counts from its start, however often the job is resized. */
static void test_limit(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.duration = S(20)});
    setup.world.kills_at_limit = true;
    job.job.limit = S(500);
    script_start(0, 0, 0, 4);
    script_shrink(S(300), 0, 2, 2);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].state, END_LIMIT);
    assert_int_equal(log->jobs[0].end, S(500));
    assert_int_equal(log->jobs[0].work, S(300 + 90));
    run_log_free(log);
    cluster_free(cluster);
}

/* ---- All of them go ---------------------------------------------------------------------------- */

/* Evicted at half speed: a checkpoint stands every 100 s of reference work, here every 200 s. */
static void test_evicted_after_resize(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.interval = S(100), .duration = S(90)});
    script_start(0, 0, 0, 2);
    script_start(S(350), 0, 2, 2);                /* 175 s of work */
    script_evict(S(350), 0, 0, 4)->grace = S(10); /* to 185 at 360; kept: 100 */
    script_start(S(500), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(350), ATTEMPT_RESIZED, 2, S(175), 0);
    check_attempt(log, 1, S(350), S(360), ATTEMPT_EVICTED, 4, S(-75), S(85));
    check_attempt(log, 2, S(500), S(1400), ATTEMPT_ENDED, 4, S(900), 0);
    assert_int_equal(log->jobs[0].lost_gpu_ns, S(85 * 4));
    assert_int_equal(log->jobs[0].preempted_gpu_ns, S(85 * 4));
    check_told(2, 'l', 0, S(360));
    run_log_free(log);
    cluster_free(cluster);
}

/* Shrunk 50 s into a restart of 100, with a checkpoint of 20: the other 50 s of restart come after it. */
static void test_shrinks_while_restarting(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.duration = S(20), .restart = S(100)});
    script_start(0, 0, 0, 4);
    script_evict(S(100), 0, 0, 4);
    script_start(S(200), 0, 0, 4);
    script_shrink(S(250), 0, 2, 2);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 1, S(200), S(270), ATTEMPT_RESIZED, 4, 0, 0);
    check_attempt(log, 2, S(270), S(320 + 1800), ATTEMPT_ENDED, 2, S(900), 0);
    assert_int_equal(log->jobs[0].overhead_gpu_ns, S(20 * 4 + 70 * 4 + 50 * 2));
    assert_int_equal(log->jobs[0].lost_gpu_ns, log->jobs[0].overhead_gpu_ns);
    run_log_free(log);
    cluster_free(cluster);
}

/* A kill: gone at once, although it could save in no time. */
static void test_kill(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.interval = S(100)});
    script_start(0, 0, 0, 4);
    script_evict(S(350), 0, 0, 4)->grace = 0;
    script_start(S(351), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(350), ATTEMPT_EVICTED, 4, S(300), S(50));
    check_told(1, 'l', 0, S(350));
    run_log_free(log);
    cluster_free(cluster);
}

/* Below its minimum it stops, falls back, holds what is left and waits; complete again it restarts. */
static void test_stale(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.interval = S(100), .duration = S(90), .restart = S(30)});
    script_start(0, 0, 0, 4);
    script_evict(S(290), 0, 1, 3)->is_partial = true; /* works on until 350 */
    script_start(S(400), 0, 1, 1);                    /* two again */
    struct run_log *log = run_jobs(&setup, &job, 1);
    const struct job_row *row = &log->jobs[0];
    check_attempt(log, 0, 0, S(350), ATTEMPT_EVICTED, 4, S(300), S(50));
    check_attempt(log, 1, S(350), S(400), ATTEMPT_RESIZED, 1, 0, 0);
    assert_true(run_attempt(log, 0, 1)->is_partial);
    check_attempt(log, 2, S(400), S(430 + 1400), ATTEMPT_ENDED, 2, S(700), 0);
    assert_int_equal(row->evictions, 1);
    assert_int_equal(row->wait, 0);
    assert_int_equal(row->wait_total, S(50));
    assert_int_equal(row->run, S(350 + 1430));
    assert_int_equal(row->lost_gpu_ns, S(50 * 4 + 30 * 2));
    assert_true(run_last_sample(log)->partial_gang_gpu_s == 50);
    assert_true(run_last_sample(log)->reserved_gpu_s == 50);
    assert_true(run_last_sample(log)->allocated_gpu_s == 350 * 4 + 1430 * 2);
    check_told(1, 'l', 2, S(350));
    run_log_free(log);
    cluster_free(cluster);
}

/* What is left of a stale gang has nothing to save: it leaves at once, and counts as evicted again. */
static void test_stale_goes(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.duration = S(20)});
    script_start(0, 0, 0, 2);
    script_shrink(S(100), 0, 0, 1);
    script_evict(S(200), 0, 1, 1)->reason = REASON_STALE_GANG;
    script_start(S(300), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(120), ATTEMPT_EVICTED, 2, S(50), 0);
    check_attempt(log, 1, S(120), S(200), ATTEMPT_EVICTED, 1, 0, 0);
    check_attempt(log, 2, S(300), S(1250), ATTEMPT_ENDED, 4, S(950), 0);
    assert_int_equal(run_attempt(log, 0, 1)->reason, REASON_STALE_GANG);
    assert_int_equal(log->jobs[0].evictions, 2);
    assert_int_equal(log->jobs[0].wait_total, S(180));
    check_told(1, 'e', 2, S(120));
    check_told(2, 'l', 0, S(200));
    run_log_free(log);
    cluster_free(cluster);
}

/* It leaves before members on their way to it have come: they do not come. */
static void test_evicted_before_growth(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    setup.world.decision_latency = S(10);
    script_start(0, 0, 0, 2);
    script_start(S(50), 0, 2, 2);
    script_evict(S(55), 0, 0, 2);
    script_start(S(70), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, S(10), S(55), ATTEMPT_EVICTED, 2, 0, S(45) / 2);
    check_attempt(log, 1, S(80), S(1080), ATTEMPT_ENDED, 4, S(1000), 0);
    assert_int_equal(script.told_count, 4); /* started, evicted, started, ended */
    run_log_free(log);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_odd_speeds),
        cmocka_unit_test(test_shrinks),
        cmocka_unit_test(test_shrinks_without_checkpoint),
        cmocka_unit_test(test_shrinks_late),
        cmocka_unit_test(test_grows_while_frozen),
        cmocka_unit_test(test_one_instant),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_evicted_after_resize),
        cmocka_unit_test(test_shrinks_while_restarting),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_stale_goes),
        cmocka_unit_test(test_evicted_before_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
