/* Checkpoints that are charged, by hand: when jobs write, what interruptions leave, and what it costs. */
#include "tests/support/scripted_sched.h"

static struct run_setup charged_setup(const struct cluster *cluster, struct checkpoint_row *row)
{
    struct run_setup setup = scripted_setup(cluster);
    setup.world.checkpoints = (struct checkpoint_table){
        .cost = CHECKPOINTS_CHARGED, .rows = row, .count = row != NULL, .bytes_per_s = 4000000000};
    return setup;
}

static struct checkpoint_row plan_of(time_ns interval, time_ns write)
{
    return (struct checkpoint_row){.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                   .rule = INTERVAL_FIXED,
                                   .interval = interval,
                                   .write = write,
                                   .warmup = CHECKPOINT_AS_DECLARED};
}

/* GPU seconds of 4 GPUs: seconds of each. */
static void check_lost(const struct run_log *log, job_id job, const time_ns seconds[LOST_CAUSE_COUNT])
{
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        assert_int_equal(log->lost[job].gpu_ns[cause], S(4 * seconds[cause]));
}

static void evict_at_once(time_ns at)
{
    script_evict(at, 0, 0, 4)->grace = 0; /* reclaimed */
}

/* The job's own plan.  It writes from 100 to 110 s and from 210 s on; at 215 s it is killed and falls back to 100 s of
 * work.  From 300 s on it warms up for 50 s, and does the other 900 s with a write of 10 s after each 100, but not at
 * its end. */
static void test_blocking(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = charged_setup(cluster, NULL);
    struct run_job job = elastic((struct checkpoint_plan){.interval = S(100), .duration = S(10), .restart = S(50)});
    script_start(0, 0, 0, 4);
    evict_at_once(S(215));
    script_start(S(300), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    const struct job_row *row = &log->jobs[0];
    assert_int_equal(row->end, S(350 + 900 + 8 * 10));
    assert_int_equal(row->work, S(1000));
    assert_int_equal(row->overhead_gpu_ns, S((10 + 5 + 50 + 80) * 4));
    assert_int_equal(row->lost_gpu_ns, S((10 + 5 + 50 + 80 + 100) * 4));
    assert_int_equal(row->preempted_gpu_ns, S((50 + 100) * 4)); /* it would have written anyway */
    check_lost(log, 0, (time_ns[]){10 + 5 + 80, 0, 0, 50, 0, 100, 0, 0, 0});
    check_attempt(log, 0, 0, S(215), ATTEMPT_EVICTED, 4, S(100), S(100));
    check_attempt(log, 1, S(300), S(1330), ATTEMPT_ENDED, 4, S(900), 0);
    check_told(1, 'l', 0, S(215));
    run_log_free(log);
    cluster_free(cluster);
}

/* Half as fast for 40 s after each 100 s of work.  The write that begins at 100 s, at 100 s of work, is whole at 140 s;
 * the next begins at 220 s, at 200 s of work, and is under way at 250 s, when the job, with 215 s of work, is
 * killed. */
static void test_asynchronous(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct checkpoint_row row = plan_of(S(100), S(40));
    row.is_asynchronous = true;
    row.slowdown = 0.5;
    struct run_setup setup = charged_setup(cluster, &row);
    struct run_job job = elastic(no_plan);
    script_start(0, 0, 0, 4);
    evict_at_once(S(250));
    script_start(S(300), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].end, S(300 + 900 + 8 * 20));
    assert_int_equal(log->jobs[0].overhead_gpu_ns, S((20 + 15 + 8 * 20) * 4));
    check_lost(log, 0, (time_ns[]){20 + 15 + 8 * 20, 0, 0, 0, 0, 115, 0, 0, 0});
    check_attempt(log, 0, 0, S(250), ATTEMPT_EVICTED, 4, S(100), S(115));
    check_attempt(log, 1, S(300), S(1360), ATTEMPT_ENDED, 4, S(900), 0);
    run_log_free(log);
    cluster_free(cluster);
}

/* A job that writes when it is told to leave takes the write under way: it leaves at 110 s, all saved.  Told again
 * right after its restart, it has nothing to save and leaves at once. */
static void test_leaves(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct checkpoint_row row = plan_of(S(100), S(10));
    struct run_setup setup = charged_setup(cluster, &row);
    struct run_job job = elastic((struct checkpoint_plan){.restart = S(50)});
    script_start(0, 0, 0, 4);
    script_evict(S(105), 0, 0, 4);
    script_start(S(200), 0, 0, 4);
    script_evict(S(220), 0, 0, 4);
    script_start(S(300), 0, 0, 4);
    script_evict(S(380), 0, 0, 4); /* after 30 s of work: it writes for 10 s */
    script_start(S(400), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(110), ATTEMPT_EVICTED, 4, S(100), 0);
    check_attempt(log, 1, S(200), S(220), ATTEMPT_EVICTED, 4, 0, 0);
    check_attempt(log, 2, S(300), S(390), ATTEMPT_EVICTED, 4, S(30), 0);
    check_told(1, 'e', 0, S(110));
    check_told(3, 'e', 0, S(220));
    check_told(5, 'e', 0, S(390));
    assert_int_equal(log->jobs[0].end, S(450 + 870 + 8 * 10)); /* the next writes are after 100 s of work each */
    check_lost(log, 0, (time_ns[]){5 + 8 * 10, 5 + 10, 0, 20 + 50 + 50, 0, 0, 0, 0, 0});
    run_log_free(log);
    cluster_free(cluster);
}

/* Two jobs write 40 GB at the same time, at 4 GB/s in all: 20 s each.  The first is killed at 130 s and loads alone, in
 * 10 s, while the other works; it has 50 s to do. */
static void test_storage(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct checkpoint_row row = plan_of(S(100), 0);
    row.bytes = 40000000000;
    row.warmup = S(5);
    struct run_setup setup = charged_setup(cluster, &row);
    struct run_job jobs[] = {elastic(no_plan), elastic(no_plan)};
    jobs[0].truth.duration = jobs[1].truth.duration = S(150);
    script_start(0, 0, 0, 4);
    script_start(0, 1, 4, 4);
    evict_at_once(S(130));
    script_start(S(140), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, jobs, 2);
    assert_int_equal(log->jobs[1].end, S(100 + 20 + 50));
    assert_int_equal(log->jobs[1].overhead_gpu_ns, S(20 * 4));
    assert_int_equal(log->jobs[0].end, S(140 + 10 + 5 + 50));
    check_lost(log, 0, (time_ns[]){20, 0, 10, 5, 0, 10, 0, 0, 0});
    check_attempt(log, 0, 0, S(130), ATTEMPT_EVICTED, 4, S(100), S(10));
    run_log_free(log);
    cluster_free(cluster);
}

/* Too short a grace for the write: it works until the grace ends.  A shrink waits for the write. */
static void test_grace(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct checkpoint_row row = plan_of(S(400), S(70));
    struct run_setup setup = charged_setup(cluster, &row);
    struct run_job job = elastic(no_plan);
    script_start(0, 0, 0, 4);
    script_evict(S(100), 0, 0, 4);
    script_start(S(200), 0, 0, 4);
    script_evict(S(300), 0, 2, 2)->grace = S(100); /* two of its members */
    script.lines[script.count - 1].decision.is_partial = true;
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(160), ATTEMPT_EVICTED, 4, 0, S(160));
    check_attempt(log, 1, S(200), S(370), ATTEMPT_RESIZED, 4, S(100), 0);
    /* 900 s of work by two of four take 1800 s, and a write after 400 and 800 s of work two times 70 s */
    check_attempt(log, 2, S(370), S(370 + 1800 + 140), ATTEMPT_ENDED, 2, S(900), 0);
    run_log_free(log);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocking), cmocka_unit_test(test_asynchronous), cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_storage),  cmocka_unit_test(test_grace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
