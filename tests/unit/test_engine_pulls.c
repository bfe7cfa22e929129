/* Cold starts by hand: when jobs are ready, what they hold meanwhile, and where their time is booked. */
#include "tests/support/scripted_sched.h"

enum { GB = 1000000000 };

/* All jobs pull an image of 20 x 10^9 bytes, which takes a node 5 s. */
static struct pull_rule rule = {.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                .objects = {{.bytes = INT64_C(20) * GB, .distinct = 1}}};

static struct run_setup cold_setup(const struct cluster *cluster)
{
    struct run_setup setup = scripted_setup(cluster);
    setup.world.cold_starts = (struct pull_table){.is_on = true,
                                                  .rows = &rule,
                                                  .count = 1,
                                                  .node_bytes_per_s = INT64_C(4) * GB,
                                                  .node_cache_bytes = INT64_C(100) * GB};
    return setup;
}

/* GPU seconds of 4 GPUs: seconds of each. */
static void check_lost(const struct run_log *log, job_id job, const time_ns seconds[LOST_CAUSE_COUNT])
{
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        assert_int_equal(log->lost[job].gpu_ns[cause], S(4 * seconds[cause]));
}

/* It holds its GPUs from 10 s on, and works from 15 s to 1015 s. */
static void the_first_start_is_cold(void **state)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = cold_setup(cluster);
    struct run_job jobs[] = {elastic(no_plan), elastic(no_plan)};
    (void)state;
    script_start(S(10), 0, 0, 4);
    script_start(S(100), 1, 4, 4);
    struct run_log *log = run_jobs(&setup, jobs, 2);
    assert_int_equal(log->jobs[0].start, S(10));
    assert_int_equal(log->pulls[0].ready, S(15));
    assert_int_equal(log->jobs[0].end, S(1015));
    assert_int_equal(log->jobs[0].run, S(1005));
    assert_int_equal(log->jobs[0].overhead_gpu_ns, S(4 * 5));
    check_lost(log, 0, (time_ns[LOST_CAUSE_COUNT]){[LOST_PULL] = 5});
    assert_int_equal(log->pulls[0].bytes[RECORD_PULL_REGISTRY], INT64_C(20) * GB);
    assert_int_equal(log->pulls[1].ready, S(100)); /* the node has it */
    assert_int_equal(log->jobs[1].end, S(1100));
    assert_int_equal(log->pulls[1].bytes[RECORD_PULL_LOCAL], INT64_C(20) * GB);
    assert_int_equal(log->jobs[1].lost_gpu_ns, 0);
    run_log_free(log);
    cluster_free(cluster);
}

/* Two jobs ask at once, and one more a second later: pulled once, all are ready at 5 s. */
static void jobs_of_a_node_pull_once(void **state)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = cold_setup(cluster);
    struct run_job jobs[] = {run_job_make(0, S(100), 2, 1), run_job_make(0, S(100), 2, 1),
                             run_job_make(0, S(100), 2, 1)};
    int64_t pulled = 0;
    (void)state;
    script_start(0, 0, 0, 2);
    script_start(0, 1, 2, 2);
    script_start(S(1), 2, 4, 2);
    struct run_log *log = run_jobs(&setup, jobs, 3);
    for (uint32_t j = 0; j < 3; j++) {
        assert_int_equal(log->pulls[j].ready, S(5));
        assert_int_equal(log->jobs[j].end, S(105));
        pulled += log->pulls[j].bytes[RECORD_PULL_REGISTRY];
    }
    assert_int_equal(pulled, INT64_C(20) * GB);
    assert_int_equal(log->lost[2].gpu_ns[LOST_PULL], S(2 * 4));
    run_log_free(log);
    cluster_free(cluster);
}

/* Evicted while it pulls, at 2 s, it leaves at once; the pull goes on until 5 s.  Started again at 3 s it waits for the
 * rest of it, 2 s.  Killed at 205 s it has lost 200 s of work, which its checkpoints of each 150 s keep but for 50.
 * Its third start is warm: it only restarts for 50 s. */
static void an_eviction_ends_a_pull(void **state)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = cold_setup(cluster);
    struct run_job job = elastic((struct checkpoint_plan){.interval = S(150), .duration = S(10), .restart = S(50)});
    (void)state;
    script_start(0, 0, 0, 4);
    script_evict(S(2), 0, 0, 4);
    script_start(S(3), 0, 0, 4);
    script_evict(S(255), 0, 0, 4)->grace = 0;
    script_start(S(300), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(2), ATTEMPT_EVICTED, 4, 0, 0);
    check_attempt(log, 1, S(3), S(255), ATTEMPT_EVICTED, 4, S(150), S(50)); /* it works from 5 + 50 s on */
    check_attempt(log, 2, S(300), S(350 + 850), ATTEMPT_ENDED, 4, S(850), 0);
    check_told(1, 'e', 0, S(2));
    assert_int_equal(log->pulls[0].ready, S(5));
    check_lost(log, 0,
               (time_ns[LOST_CAUSE_COUNT]){[LOST_PULL] = 2 + 2, [LOST_WARMUP] = 50 + 50, [LOST_WORK_PREEMPTED] = 50});
    assert_int_equal(log->jobs[0].overhead_gpu_ns, S(4 * (4 + 100)));
    assert_int_equal(log->jobs[0].preempted_gpu_ns, S(4 * (2 + 100 + 50))); /* the first pull was not for it */
    run_log_free(log);
    cluster_free(cluster);
}

/* Checkpoints of 40 x 10^9 bytes are charged: a restart pulls for 5 s on a node that keeps nothing, then loads for
 * 10 s, then warms up for 50 s. */
static void pulls_come_before_loads(void **state)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = cold_setup(cluster);
    struct checkpoint_row row = {.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                 .rule = INTERVAL_FIXED,
                                 .interval = S(400),
                                 .bytes = INT64_C(40) * GB,
                                 .warmup = S(50)};
    struct run_job job = elastic(no_plan);
    (void)state;
    setup.world.cold_starts.node_cache_bytes = 0;
    setup.world.checkpoints = (struct checkpoint_table){
        .cost = CHECKPOINTS_CHARGED, .rows = &row, .count = 1, .bytes_per_s = INT64_C(4) * GB};
    script_start(0, 0, 0, 4);
    script_evict(S(425), 0, 0, 4)->grace = 0; /* 400 s of work saved at 415 s, and 10 s more */
    script_start(S(500), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(425), ATTEMPT_EVICTED, 4, S(400), S(10));
    check_attempt(log, 1, S(500), S(500 + 5 + 10 + 50 + 600 + 10), ATTEMPT_ENDED, 4, S(600), 0);
    check_lost(log, 0,
               (time_ns[LOST_CAUSE_COUNT]){[LOST_PULL] = 5 + 5,
                                           [LOST_WRITE] = 10 + 10,
                                           [LOST_LOAD] = 10,
                                           [LOST_WARMUP] = 50,
                                           [LOST_WORK_PREEMPTED] = 10});
    run_log_free(log);
    cluster_free(cluster);
}

/* It is killed at its limit while it pulls. */
static void its_limit_counts_from_the_start(void **state)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = cold_setup(cluster);
    struct run_job job = elastic(no_plan);
    (void)state;
    setup.world.kills_at_limit = true;
    job.job.limit = S(3); /* it never works */
    script_start(0, 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].state, END_LIMIT);
    assert_int_equal(log->jobs[0].end, S(3));
    assert_int_equal(log->jobs[0].work, 0);
    assert_int_equal(log->pulls[0].ready, TIME_NEVER);
    check_lost(log, 0, (time_ns[LOST_CAUSE_COUNT]){[LOST_PULL] = 3});
    run_log_free(log);
    cluster_free(cluster);
}

/* Members that join while it pulls wait with it; members that join later work at once. */
static void members_that_join_cost_nothing(void **state)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = cold_setup(cluster);
    struct run_job job = elastic(no_plan);
    (void)state;
    script_start(0, 0, 0, 2);
    script_start(S(3), 0, 2, 1);
    script_start(S(105), 0, 3, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_attempt(log, 0, 0, S(3), ATTEMPT_RESIZED, 2, 0, 0);
    check_attempt(log, 1, S(3), S(105), ATTEMPT_RESIZED, 3, S(75), 0);
    check_attempt(log, 2, S(105), S(105 + 925), ATTEMPT_ENDED, 4, S(925), 0);
    assert_int_equal(log->lost[0].gpu_ns[LOST_PULL], S(2 * 3 + 3 * 2));
    run_log_free(log);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_start_is_cold),         cmocka_unit_test(jobs_of_a_node_pull_once),
        cmocka_unit_test(an_eviction_ends_a_pull),         cmocka_unit_test(pulls_come_before_loads),
        cmocka_unit_test(its_limit_counts_from_the_start), cmocka_unit_test(members_that_join_cost_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
