/* GPU time by cause, by hand: what a script of decisions makes of one node of 8 GPUs. */
#include "tests/support/scripted_sched.h"
#include "tests/support/spent.h"

static void run_and_check(struct run_setup setup, const struct run_job *jobs, uint32_t count,
                          const struct spent_s *should)
{
    setup.world.sample_interval = 7 * TIME_NS_PER_S + 3; /* rows inside of phases */
    struct run_log *log = run_jobs(&setup, jobs, count);
    spent_check_sums(log, 8);
    spent_check(log, should);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

static struct run_setup plain_setup(void)
{
    return scripted_setup(cluster_uniform_new(1, 8));
}

static struct run_setup charged_setup(struct checkpoint_row *row)
{
    struct run_setup setup = plain_setup();
    setup.world.checkpoints = (struct checkpoint_table){
        .cost = CHECKPOINTS_CHARGED, .rows = row, .count = row != NULL, .bytes_per_s = 4000000000};
    return setup;
}

static struct decision *evict_at(time_ns at, time_ns grace)
{
    struct decision *decision = script_evict(at, 0, 0, 4);
    decision->grace = grace;
    return decision;
}

/* 4 GPUs work for 1000 s, the others are idle. */
static void test_plain(void **state)
{
    (void)state;
    const struct run_job job = elastic(no_plan);
    struct run_setup setup = plain_setup();
    script_start(0, 0, 0, 4);
    run_and_check(setup, &job, 1, &(struct spent_s){.useful = 4000, .idle = 4000});
}

static void check_use(struct run_log *log, enum use_kind kind, double gpu_s)
{
    const double is = (double)run_last_sample(log)->use_us[kind] / 1e6;
    if (fabs(is - gpu_s) > 1e-2)
        fail_msg("use %s: %.6f, not %.6f", use_names[kind], is, gpu_s);
}

/* Of training whose SMs are busy for half of the time a kernel is there for 0.76 of it, and for 0.24 the host works.
 * Three of the four free GPUs are asked for. */
static void test_kernels(void **state)
{
    (void)state;
    struct run_job job = elastic(no_plan);
    struct run_setup setup = plain_setup();
    job.truth.sm_active_milli = 500;
    script_start(0, 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_use(log, USE_KERNEL, 0.76 * 4000);
    check_use(log, USE_HOST, 0.24 * 4000);
    check_use(log, USE_WAITED, 3 * 1000);
    check_use(log, USE_UNKNOWN, 0);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* Nothing is known of the job but that it holds its GPUs. */
static void test_unknown(void **state)
{
    (void)state;
    struct run_job job = elastic(no_plan);
    struct run_setup setup = plain_setup();
    job.truth.sm_active_milli = SM_ACTIVE_UNKNOWN;
    script_start(0, 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    check_use(log, USE_UNKNOWN, 4000);
    check_use(log, USE_KERNEL, 0);
    check_use(log, USE_HOST, 0);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* Two of four members, then all: at half of the speed on half of the GPUs nothing is lost. */
static void test_members(void **state)
{
    (void)state;
    const struct run_job job = elastic(no_plan);
    struct run_setup setup = plain_setup();
    setup.world.end = S(1200);
    script_start(0, 0, 0, 2);
    script_start(S(400), 0, 2, 2);
    run_and_check(setup, &job, 1, &(struct spent_s){.useful = 4000, .idle = 6 * 400 + 4 * 800});
}

/* Killed at 215 s, of 15 s since its last checkpoint; waits until 300 s; restarts for 50 s. */
static void test_free_checkpoints(void **state)
{
    (void)state;
    const struct run_job job = elastic((struct checkpoint_plan){.interval = S(100), .restart = S(50)});
    struct run_setup setup = plain_setup();
    script_start(0, 0, 0, 4);
    evict_at(S(215), 0);
    script_start(S(300), 0, 0, 4);
    run_and_check(setup, &job, 1,
                  &(struct spent_s){.useful = 4000, .restart = 200, .lost = 60, .idle = 4 * (215 + 50 + 800) + 8 * 85});
}

/* It stops to write its checkpoint from 200 s to 220 s, and leaves.  Evicted again inside of its restart. */
static void test_saves_to_leave(void **state)
{
    (void)state;
    const struct run_job job = elastic((struct checkpoint_plan){.duration = S(20), .restart = S(50)});
    struct run_setup setup = plain_setup();
    script_start(0, 0, 0, 4);
    evict_at(S(200), S(GRACE_S));
    script_start(S(300), 0, 0, 4);
    evict_at(S(330), 0);
    script_start(S(400), 0, 0, 4);
    run_and_check(setup, &job, 1,
                  &(struct spent_s){.useful = 4000,
                                    .restart = 4 * (20 + 30 + 50),
                                    .idle = 4 * (220 + 30 + 50 + 800) + 8 * (80 + 70)});
}

/* The case of tests/unit/test_engine_saves.c: writes of 10 s, a warm-up of 50 s, 100 s of work thrown away.  Its SMs
 * are busy only while it works. */
static void test_charged(void **state)
{
    (void)state;
    struct run_setup setup = charged_setup(NULL);
    struct run_job job = elastic((struct checkpoint_plan){.interval = S(100), .duration = S(10), .restart = S(50)});
    job.truth.sm_active_milli = 500;
    script_start(0, 0, 0, 4);
    evict_at(S(215), 0);
    script_start(S(300), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    spent_check_sums(log, 8);
    spent_check(log,
                &(struct spent_s){
                    .useful = 4000, .restart = 4 * (10 + 5 + 50 + 80), .lost = 400, .idle = 4 * (215 + 1030) + 8 * 85});
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 0.5 * 4400) < 1e-3);
    check_use(log, USE_ACTIVE_LOST, 0.5 * 400);
    check_use(log, USE_KERNEL, 0.76 * 4400); /* none while it loads, writes or warms up */
    check_use(log, USE_HOST, 0.24 * 4400);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* Half as fast for 40 s after each 100 s of work; killed at 250 s with 115 s of work that no checkpoint holds. */
static void test_asynchronous(void **state)
{
    (void)state;
    struct checkpoint_row row = {.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                 .rule = INTERVAL_FIXED,
                                 .interval = S(100),
                                 .write = S(40),
                                 .warmup = CHECKPOINT_AS_DECLARED,
                                 .is_asynchronous = true,
                                 .slowdown = 0.5};
    struct run_setup setup = charged_setup(&row);
    struct run_job job = elastic(no_plan);
    job.truth.sm_active_milli = 500;
    script_start(0, 0, 0, 4);
    evict_at(S(250), 0);
    script_start(S(300), 0, 0, 4);
    struct run_log *log = run_jobs(&setup, &job, 1);
    spent_check_sums(log, 8);
    spent_check(log, &(struct spent_s){.useful = 4000,
                                       .restart = 4 * (20 + 15 + 8 * 20),
                                       .lost = 4 * 115,
                                       .idle = 4 * (250 + 1060) + 8 * 50});
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 0.5 * (4000 + 460)) < 1e-2);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* A gang of four that waits for its last two members, with a latency of 30 s from decision to effect. */
static void test_reserved(void **state)
{
    (void)state;
    struct run_job job = elastic(no_plan);
    job.job.first.min_count = 4;
    struct run_setup setup = plain_setup();
    setup.world.decision_latency = S(30);
    script_start(0, 0, 0, 2);
    script_start(S(100), 0, 2, 2);
    run_and_check(setup, &job, 1,
                  &(struct spent_s){.useful = 4000,
                                    .reserved = 2 * 30 + 2 * 100 + 2 * 30,
                                    .idle = 6 * 30 + 6 * 70 + 4 * 30 + 4 * 1000});
}

/* GPU 7 has an instance of four memory slices for four compute slices, and one of four for three.  The first is
 * destroyed in 0.5 s, and three of one slice are made in 1 s each; the other stays.  Then a slice is in no instance.
 * At 500 s the GPU is made whole: four instances are destroyed, and its mode is switched in 20 s. */
static void test_repartition(void **state)
{
    (void)state;
    const struct run_job job = elastic(no_plan);
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = scripted_setup(cluster);
    struct gpu_layout before = {.profile = {[0] = MIG_4G + 1, [4] = MIG_3G + 1}};
    struct gpu_layout after = {.profile = {[0] = MIG_1G + 1, [1] = MIG_1G + 1, [2] = MIG_1G + 1, [4] = MIG_3G + 1}};
    setup.world.recut.mode_min = setup.world.recut.mode_max = S(20);
    cluster->types[0].layout_mask = 1 << 7;
    const struct gpu_layout layouts[8] = {[7] = before};
    cluster->types[0].layouts = layouts;
    script_start(0, 0, 0, 4);
    struct decision *recut = script_say(S(100), DECISION_REPARTITION, 0, 7, 1);
    recut->layout = mig_layout_of(&after);
    struct decision *whole = script_say(S(500), DECISION_REPARTITION, 0, 7, 1);
    whole->layout = MIG_LAYOUT_WHOLE;
    const double first = 0.5 + 3, second = 4 * 0.5 + 20;
    run_and_check(setup, &job, 1,
                  &(struct spent_s){.useful = 4000,
                                    .sliced = 0.125 * (500 - 100 - first),
                                    .repartition = 0.5 * first + second,
                                    .idle = 3 * 1000 + 100 + 0.5 * first + 0.875 * (400 - first) + 500 - second});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_kernels),
                                       cmocka_unit_test(test_unknown),
                                       cmocka_unit_test(test_members),
                                       cmocka_unit_test(test_free_checkpoints),
                                       cmocka_unit_test(test_saves_to_leave),
                                       cmocka_unit_test(test_charged),
                                       cmocka_unit_test(test_asynchronous),
                                       cmocka_unit_test(test_reserved),
                                       cmocka_unit_test(test_repartition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
