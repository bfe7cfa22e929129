/* Gangs that hold a part of themselves, dependencies, and what evictions were for: by hand, from a script. */
#include <string.h>

#include "tests/support/scripted_sched.h"

/* ---- A gang that comes member by member -------------------------------------------------------- */

/* One GPU from 10 s, two from 20, four from 50 on: it waits and idles until the third, works alone on three. */
static void test_hoards(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    job.job.first.min_count = 3;
    job.truth.sm_active_milli = 500;
    script_start(S(10), 0, 0, 1);
    script_start(S(20), 0, 1, 1);
    script_start(S(50), 0, 2, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    const struct job_row *row = &log->jobs[0];
    const struct timeline_row *last = run_last_sample(log);
    assert_int_equal(row->start, S(50));
    assert_int_equal(row->wait, S(50));
    assert_int_equal(row->wait_total, S(50));
    assert_int_equal(row->end, S(50) + S(4000) / 3 + 1);
    assert_int_equal(row->run, row->end - S(50));
    check_attempt(log, 0, S(10), S(20), ATTEMPT_RESIZED, 1, 0, 0);
    check_attempt(log, 1, S(20), S(50), ATTEMPT_RESIZED, 2, 0, 0);
    assert_true(run_attempt(log, 0, 1)->is_partial);
    assert_false(run_attempt(log, 0, 2)->is_partial);
    assert_int_equal(run_attempt(log, 0, 0)->link_tier, LINK_NONE); /* one GPU */
    assert_int_equal(run_attempt(log, 0, 1)->link_tier, LINK_PCIE);
    assert_true(run_attempt(log, 0, 1)->link_bytes_per_s == LINKS_PCIE_BYTES_PER_S);
    assert_true(last->partial_gang_gpu_s == 10 + 30 * 2);
    assert_true(last->pending_job_s == 50);
    assert_int_equal(last->started, 1);
    double allocated = last->allocated_gpu_s;
    assert_true(last->active_gpu_s < allocated * 0.5001 && last->active_gpu_s > allocated * 0.4999);
    run_log_free(log);
    cluster_free(cluster);
}

/* Two sets: both must have their minimum, whatever the sum. */
static void test_sets(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    static const struct job_group more = {.request = {.gpus = 1}, .count = 4, .min_count = 4, .set = 1};
    static const struct job_set sets[] = {{.name = "a", .parent = SET_NONE, .min_members = 1},
                                          {.name = "b", .parent = 0, .min_members = 2}};
    struct run_job job = run_job_make(0, S(800), 4, 1);
    job.job.group_count = 2;
    job.job.more = &more;
    job.job.set_count = 2;
    job.job.sets = sets;
    script_start(0, 0, 0, 4);
    script_start(S(100), 0, 4, 1);
    script_start(S(200), 0, 5, 1);
    script.pieces[1].group = script.pieces[2].group = 1;
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].start, S(200));
    assert_int_equal(log->jobs[0].end, S(200) + (S(800 * 8) + 5) / 6);
    assert_true(run_last_sample(log)->partial_gang_gpu_s == 100 * 4 + 100 * 5);
    run_log_free(log);
    cluster_free(cluster);
}

/* Cut off while it holds less than its minimum: it still waits, and its holding has a row. */
static void test_cut_off(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    setup.world.end = S(100);
    script_start(S(10), 0, 0, 1);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].state, END_PENDING);
    assert_int_equal(log->jobs[0].start, TIME_NEVER);
    assert_int_equal(log->jobs[0].wait, S(100));
    assert_int_equal(log->jobs[0].run, 0);
    check_attempt(log, 0, S(10), S(100), ATTEMPT_UNFINISHED, 1, 0, 0);
    assert_int_equal(run_last_sample(log)->pending_jobs, 1);
    assert_int_equal(run_last_sample(log)->reserved_gpu_milli, GPU_MILLI);
    run_log_free(log);
    cluster_free(cluster);
}

struct one { /* what a custom source gives */
    struct run_job job;
    bool is_given;
};

static struct error next_one(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct one *one = self;
    *has = !one->is_given;
    one->is_given = true;
    *job = one->job.job;
    *truth = one->job.truth;
    return ERROR_OK;
}

/* The engine must find that a law is broken, and say so. */
static void check_broken(const struct run_setup *setup, struct run_job job, const char *expected)
{
    struct engine_result result;
    struct one one = {job, false};
    struct job_source *source = job_source_custom(next_one, &one);
    struct engine_config config = {.cluster = setup->cluster,
                                   .source = source,
                                   .policy = &setup->policy,
                                   .world = setup->world,
                                   .is_checked = true};
    struct error error = engine_run(&config, &result);
    assert_false(error_is(result.stall));
    assert_true(error_is(error));
    assert_non_null(strstr(error_message(&error), expected));
    error_release(&error);
    job_source_close(source);
}

/* Under the gang guarantee no gang holds a part of itself, but a stale one for a while. */
static void test_guarantee(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    setup.policy.guarantees = GUARANTEE_GANG;
    setup.policy.stale_after = S(60);
    script_start(0, 0, 0, 1);
    check_broken(&setup, elastic(no_plan), "a gang holds fewer members than its minimum");
    for (time_ns late = 0; late <= 1; late++) {
        script = (struct script){0};
        script_start(0, 0, 0, 2);
        script_shrink(S(100), 0, 0, 1);
        if (late)
            script_say(S(160) + 1, DECISION_RELEASE, 0, 1, 1); /* an instant at which it is seen */
        script_evict(S(160) + 2 * late, 0, 1, 1);
        script_start(S(200), 0, 0, 4);
        struct run_job job = elastic(no_plan);
        if (late == 0)
            run_log_free(run_jobs(&setup, &job, 1));
        else
            check_broken(&setup, job, "a stale gang was not evicted in time");
    }
    cluster_free(cluster);
}

/* A half of a slice starts. */
static void test_torn_slices_are_found(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct run_job job = elastic(no_plan);
    job.job.first.count = job.job.first.min_count = 4;
    job.job.first.slice_members = 2;
    job.job.first.slice_level = 2;
    assert_null(job_complaint(&job.job));
    script_start(0, 0, 0, 3);
    check_broken(&setup, job, "a slice is not in one domain");
    script = (struct script){0};
    script_start(0, 0, 0, 4);
    run_log_free(run_jobs(&setup, &job, 1));
    cluster_free(cluster);
}

/* ---- What evictions are for -------------------------------------------------------------------- */

/* Three are evicted for job 1: two before its reservation is given up, one before it starts. */
static void test_wasted(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    const struct run_job jobs[] = {run_job_make(0, S(1000), 8, 1), run_job_make(0, S(10), 8, 1),
                                   run_job_make(0, S(10), 8, 1)};
    script_start(0, 0, 0, 8);
    for (time_ns at = S(10); at <= S(30); at += S(10)) {
        script_evict(at, 0, 0, 8)->for_job = 1;
        script_say(at, DECISION_RESERVE, 1, 0, 8);
        if (at == S(30))
            break;
        script_say(at + 1, DECISION_RELEASE, 1, 0, 8);
        script_start(at + 2, 0, 0, 8);
    }
    script_say(S(31), DECISION_START, 1, 0, 8)->source = SOURCE_EVICTION;
    script_start(S(50), 0, 0, 8);
    script_evict(S(60), 0, 0, 8)->for_job = 2;
    setup.world.end = S(70);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].evictions, 4);
    assert_int_equal(log->jobs[0].evictions_wasted, 0);
    assert_int_equal(log->jobs[1].evictions_wasted, 2);
    assert_int_equal(log->jobs[2].evictions_wasted, 1); /* it never started */
    assert_int_equal(log->jobs[0].source, SOURCE_FREE);
    assert_int_equal(log->jobs[1].source, SOURCE_EVICTION);
    run_log_free(log);
    cluster_free(cluster);
}

/* A job is eligible when what it depends on has ended, and waits from then on. */
static void test_eligible(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    static const struct job_after one = {.job = 0}, two[] = {{.job = 0}, {.job = 1}};
    struct run_job jobs[] = {run_job_make(0, S(100), 1, 1), run_job_make(0, S(50), 1, 1),
                             run_job_make(S(10), S(20), 1, 1), run_job_make(S(20), S(5), 1, 1),
                             run_job_make(S(500), S(5), 1, 1)};
    jobs[2].job.after = &one;
    jobs[3].job.after = jobs[4].job.after = two;
    jobs[2].job.after_count = 1;
    jobs[3].job.after_count = jobs[4].job.after_count = 2;
    script_start(0, 0, 0, 1);
    script_start(0, 1, 1, 1);
    script_start(S(130), 2, 2, 1);
    script_start(S(500), 4, 3, 1);
    setup.world.end = S(600);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[2].eligible, S(100));
    assert_int_equal(log->jobs[2].wait, S(30));
    assert_int_equal(log->jobs[2].wait_total, S(120));
    assert_int_equal(log->jobs[3].eligible, S(100)); /* though it never started */
    assert_int_equal(log->jobs[3].wait, S(500));
    assert_int_equal(log->jobs[4].eligible, S(500)); /* it came later than they ended */
    run_log_free(log);
    script = (struct script){0};
    setup.world.end = S(60);
    script_start(0, 0, 0, 1);
    script_start(0, 1, 1, 1);
    log = run_jobs(&setup, jobs, 4);
    assert_int_equal(log->jobs[3].eligible, TIME_NEVER);
    assert_int_equal(log->jobs[3].wait, 0);
    assert_int_equal(log->jobs[3].wait_total, S(40));
    run_log_free(log);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hoards),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_guarantee),
        cmocka_unit_test(test_torn_slices_are_found),
        cmocka_unit_test(test_wasted),
        cmocka_unit_test(test_eligible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
