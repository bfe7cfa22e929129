/* What evictions cost, by hand: attempts, waits, lost GPU time and overhead; and a law for random workloads: the GPU
 * time a job held is the work it kept and what it lost. */
#include "tests/support/test.h"

#include "policies/order/orders.h"
#include "policies/preemption/preemptions.h"
#include "policies/quota/quotas.h"
#include "policies/sched.h"
#include "tests/support/interval.h"
#include "tests/support/random_jobs.h"

#define S(seconds)      ((seconds)*TIME_NS_PER_S)
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

enum { LOW = 10, HIGH = 90, HIGHER = 95 };

/* Priority first, what does not fit is skipped, the checkpoint preemption without a minimum run time. */
static struct run_setup open_setup(uint32_t nodes, uint16_t gpus, time_ns grace)
{
    struct run_setup setup = run_setup_default(cluster_uniform_new(nodes, gpus));
    setup.policy.order[0] = &order_priority;
    setup.policy.order[1] = &order_fifo;
    setup.policy.order_count = 2;
    setup.policy.is_strict = false;
    setup.policy.preemption = &preemption_checkpoint;
    setup.policy.preempt.grace = grace;
    setup.policy.preempt.preempt_min_runtime = setup.policy.preempt.reclaim_min_runtime = 0;
    return setup;
}

static void close_setup(struct run_setup *setup, struct run_log *log)
{
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup->cluster);
}

/* A job of one member with 8 GPUs. */
static struct run_job make(time_ns submit, time_ns duration, int32_t priority, struct checkpoint_plan plan)
{
    struct run_job made = run_job_make(submit, duration, 1, 8);
    made.job.priority = priority;
    made.job.checkpoint = plan;
    return made;
}

static const struct checkpoint_plan no_plan = {0};

static void check_attempt(const struct run_log *log, job_id id, uint32_t attempt, time_ns start, time_ns end,
                          enum attempt_end why, time_ns saved, time_ns lost)
{
    const struct attempt_row *row = run_attempt(log, id, attempt);
    assert_int_equal(row->start, start);
    assert_int_equal(row->end, end);
    assert_int_equal(row->why, why);
    assert_int_equal(row->reason, why == ATTEMPT_EVICTED ? REASON_PREEMPTED : REASON_NONE);
    assert_int_equal(row->saved, saved);
    assert_int_equal(row->lost, lost);
    assert_int_equal(row->gpu_milli, 8000);
    assert_string_equal(row->placement, "n0:0-7");
}

struct account { /* of a job; GPU times in GPU seconds */
    time_ns end, wait, wait_total, run, work;
    uint32_t evictions;
    int64_t lost_gpu_s, overhead_gpu_s;
};

static void check_account(const struct run_log *log, job_id id, const struct account *expected)
{
    const struct job_row *row = &log->jobs[id];
    assert_int_equal(row->end, expected->end);
    assert_int_equal(row->wait, expected->wait);
    assert_int_equal(row->wait_total, expected->wait_total);
    assert_int_equal(row->run, expected->run);
    assert_int_equal(row->work, expected->work);
    assert_int_equal(row->evictions, expected->evictions);
    assert_int_equal(row->lost_gpu_ns, S(expected->lost_gpu_s));
    assert_int_equal(row->overhead_gpu_ns, S(expected->overhead_gpu_s));
}

/* It stops at 300, writes for 20, waits 100, restarts for 30 and works the 700 that are left. */
TEST(test_saved)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(20), .restart = S(30)};
    const struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(300), S(100), HIGH, no_plan)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 0, 0, S(320), ATTEMPT_EVICTED, S(300), 0);
    check_attempt(log, 1, 0, S(320), S(420), ATTEMPT_ENDED, S(100), 0);
    check_attempt(log, 0, 1, S(420), S(1150), ATTEMPT_ENDED, S(700), 0);
    check_account(log, 0,
                  &(struct account){.end = S(1150),
                                    .wait_total = S(100),
                                    .run = S(1050),
                                    .work = S(1000),
                                    .evictions = 1,
                                    .lost_gpu_s = (20 + 30) * 8,
                                    .overhead_gpu_s = (20 + 30) * 8});
    check_account(log, 1,
                  &(struct account){.end = S(420), .wait = S(20), .wait_total = S(20), .run = S(100), .work = S(100)});
    assert_int_equal(run_last_sample(log)->evicted, 1);
    assert_int_equal(run_last_sample(log)->started, 3);
    assert_int_equal(log->jobs[0].state, END_COMPLETED);
    close_setup(&setup, log);
}

/* A checkpoint takes 90, the grace is 60: it works on until 410 and falls back to its own checkpoint at 400. */
TEST(test_grace_too_short)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.interval = S(100), .duration = S(90), .restart = S(30)};
    const struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(350), S(100), HIGH, no_plan)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 0, 0, S(410), ATTEMPT_EVICTED, S(400), S(10));
    check_attempt(log, 0, 1, S(510), S(1140), ATTEMPT_ENDED, S(600), 0);
    check_account(log, 0,
                  &(struct account){.end = S(1140),
                                    .wait_total = S(100),
                                    .run = S(1040),
                                    .work = S(1000),
                                    .evictions = 1,
                                    .lost_gpu_s = (10 + 30) * 8,
                                    .overhead_gpu_s = 30 * 8});
    assert_int_equal(log->jobs[1].start, S(410));
    close_setup(&setup, log);
}

/* It can save when told to, but not in time, and never does by itself: all is lost, at the end of the grace. */
TEST(test_grace_too_short_and_no_own_checkpoint)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(90)};
    const struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(350), S(100), HIGH, no_plan)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 0, 0, S(410), ATTEMPT_EVICTED, 0, S(410));
    check_attempt(log, 0, 1, S(510), S(1510), ATTEMPT_ENDED, S(1000), 0);
    close_setup(&setup, log);
}

TEST(test_no_checkpoint)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    const struct run_job jobs[] = {make(0, S(1000), LOW, no_plan), make(S(300), S(100), HIGH, no_plan)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 0, 0, S(300), ATTEMPT_EVICTED, 0, S(300));
    check_attempt(log, 0, 1, S(400), S(1400), ATTEMPT_ENDED, S(1000), 0);
    check_account(log, 0,
                  &(struct account){.end = S(1400),
                                    .wait_total = S(100),
                                    .run = S(1300),
                                    .work = S(1000),
                                    .evictions = 1,
                                    .lost_gpu_s = 300 * 8});
    check_account(log, 1, &(struct account){.end = S(400), .run = S(100), .work = S(100)});
    close_setup(&setup, log);
}

/* Killed: no grace, so that it falls back to its last periodic checkpoint although it could save in no time. */
TEST(test_kill)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.interval = S(100)};
    const struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(350), S(100), HIGH, no_plan)};
    setup.policy.preemption = &preemption_kill;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 0, 0, S(350), ATTEMPT_EVICTED, S(300), S(50));
    assert_int_equal(log->jobs[0].lost_gpu_ns, S(50 * 8));
    assert_int_equal(log->jobs[0].preempted_gpu_ns, S(50 * 8));
    assert_int_equal(log->jobs[1].start, S(350));
    assert_int_equal(log->jobs[1].source, SOURCE_GRACE_0);
    close_setup(&setup, log);
}

/* What is left takes no longer than the checkpoint would: it is let finish. */
TEST(test_ends_within_the_grace)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(20), .restart = S(30)};
    for (time_ns left = S(10); left <= S(20); left += S(10)) {
        const struct run_job jobs[] = {make(0, S(300) + left, LOW, plan), make(S(300), S(100), HIGH, no_plan)};
        struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
        check_attempt(log, 0, 0, 0, S(300) + left, ATTEMPT_ENDED, S(300) + left, 0);
        check_account(log, 0, &(struct account){.end = S(300) + left, .run = S(300) + left, .work = S(300) + left});
        assert_int_equal(log->jobs[1].start, S(300) + left);
        run_log_free(log);
    }
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

/* Evicted again 10 s into its restart: those 10, another checkpoint and a whole restart later on are overhead. */
TEST(test_evicted_while_restarting)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(20), .restart = S(30)};
    const struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(300), S(100), HIGH, no_plan),
                                   make(S(430), S(100), HIGHER, no_plan)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 1, S(420), S(450), ATTEMPT_EVICTED, 0, 0);
    check_attempt(log, 0, 2, S(550), S(1280), ATTEMPT_ENDED, S(700), 0);
    check_account(log, 0,
                  &(struct account){.end = S(1280),
                                    .wait_total = S(200),
                                    .run = S(320 + 30 + 730),
                                    .work = S(1000),
                                    .evictions = 2,
                                    .lost_gpu_s = (20 + 10 + 20 + 30) * 8,
                                    .overhead_gpu_s = (20 + 10 + 20 + 30) * 8});
    close_setup(&setup, log);
}

/* A limit counts for each attempt.  Killed at 20 s in a restart of 30, it lost those 20 and not 30. */
TEST(test_killed_while_restarting)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(5), .restart = S(30)};
    struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(10), S(100), HIGH, no_plan)};
    jobs[0].job.limit = S(20);
    setup.world.kills_at_limit = true;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    check_attempt(log, 0, 0, 0, S(15), ATTEMPT_EVICTED, S(10), 0);
    check_attempt(log, 0, 1, S(115), S(135), ATTEMPT_ENDED, 0, 0);
    assert_int_equal(log->jobs[0].state, END_LIMIT);
    check_account(log, 0,
                  &(struct account){.end = S(135),
                                    .wait_total = S(100),
                                    .run = S(15 + 20),
                                    .work = S(10),
                                    .evictions = 1,
                                    .lost_gpu_s = (5 + 20) * 8,
                                    .overhead_gpu_s = (5 + 20) * 8});
    close_setup(&setup, log);
}

/* Cut off while evicted: the first wait is what it was, the total goes on; while leaving: it still runs. */
TEST(test_cut_off)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(20), .restart = S(30)};
    const struct run_job jobs[] = {make(S(5), S(1000), LOW, plan), make(S(300), S(100), HIGH, no_plan)};
    setup.world.end = S(350);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].state, END_PENDING);
    assert_int_equal(log->jobs[0].start, S(5));
    check_account(log, 0,
                  &(struct account){.end = TIME_NEVER,
                                    .wait_total = S(30),
                                    .run = S(315),
                                    .work = S(295),
                                    .evictions = 1,
                                    .lost_gpu_s = 20 * 8,
                                    .overhead_gpu_s = 20 * 8});
    assert_int_equal(log->jobs[1].state, END_RUNNING);
    assert_int_equal(log->jobs[1].work, S(30));
    run_log_free(log);
    setup.world.end = S(310);
    log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].state, END_RUNNING);
    assert_int_equal(log->jobs[0].run, S(305));
    assert_int_equal(log->jobs[0].work, S(295)); /* it does not work while it saves */
    assert_int_equal(log->jobs[1].state, END_PENDING);
    assert_int_equal(log->jobs[1].reason, REASON_RESERVED);
    close_setup(&setup, log);
}

/* 64 GPUs lose two days: more milli-GPU nanoseconds than 63 bits hold. */
TEST(test_long_losses_of_large_gangs)
{
    struct run_setup setup = open_setup(8, 8, S(60));
    const int64_t lost_s = 2 * 86400;
    struct run_job jobs[] = {make(0, S(10 * 86400), LOW, no_plan), make(S(lost_s), S(100), HIGH, no_plan)};
    jobs[0].job.first.count = jobs[0].job.first.min_count = 8;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(run_attempt(log, 0, 0)->lost, S(lost_s));
    assert_int_equal(log->jobs[0].lost_gpu_ns, S(lost_s * 64));
    close_setup(&setup, log);
}

/* Four GPUs stand free while the other four are being left: idle, but reserved. */
TEST(test_reserved)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(20)};
    struct run_job jobs[] = {make(0, S(1000), LOW, plan), make(S(300), S(100), HIGH, no_plan)};
    jobs[0].job.first.request.gpus = 4;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_true(run_last_sample(log)->reserved_gpu_s == 4 * 20);
    assert_int_equal(run_last_sample(log)->time, S(1120));
    assert_true(run_last_sample(log)->allocated_gpu_s == 4 * 320 + 8 * 100 + 4 * 700);
    close_setup(&setup, log);
}

/* ---- Who goes, and when ------------------------------------------------------------------------ */

static void fill_two(struct queue_table *queues)
{
    queues->queues[queue_table_add(queues, TEXT("owner"), QUEUE_ROOT)].deserved[RESOURCE_GPU] = 4000;
    queues->queues[queue_table_add(queues, TEXT("borrower"), QUEUE_ROOT)].deserved[RESOURCE_GPU] = 4000;
}

/* Under fair share the borrower gives back what is owed, and no more: of two alike the one of the later id
 * goes. */
TEST(test_reclaim)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct checkpoint_plan plan = {.duration = S(10)};
    struct run_job jobs[] = {make(0, S(1000), 50, plan), make(0, S(1000), 50, plan), make(S(100), S(50), 50, no_plan)};
    for (uint32_t i = 0; i < 3; i++) {
        jobs[i].job.queue = i < 2 ? 2 : 1;
        jobs[i].job.first.request.gpus = 4;
    }
    setup.policy.quota = &quota_fairshare;
    setup.fill_queues = fill_two;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(run_attempt(log, 1, 0)->why, ATTEMPT_EVICTED);
    assert_int_equal(run_attempt(log, 1, 0)->reason, REASON_RECLAIMED);
    assert_int_equal(run_attempt(log, 1, 0)->end, S(110));
    assert_string_equal(run_attempt(log, 2, 0)->placement, "n0:4-7");
    assert_int_equal(log->jobs[2].start, S(110));
    assert_int_equal(log->jobs[0].evictions, 0);
    assert_int_equal(log->jobs[1].end, S(160 + 900));
    assert_int_equal(log->jobs[1].preempted_gpu_ns, S(10 * 4));
    assert_int_equal(log->jobs[2].source, SOURCE_EVICTION);
    assert_int_equal(log->jobs[0].source, SOURCE_FREE);
    close_setup(&setup, log);
}

/* A victim that was too young is taken as soon as it is ripe. */
TEST(test_ripe)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct run_job jobs[] = {make(0, S(1000), LOW, no_plan), make(S(20), S(10), HIGH, no_plan)};
    setup.policy.preempt.preempt_min_runtime = setup.policy.preempt.reclaim_min_runtime = S(60);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[1].start, S(60));
    close_setup(&setup, log);
}

/* Also one that was decided in the very cycle that asked. */
TEST(test_ripe_though_just_decided)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    setup.policy.preempt.preempt_min_runtime = setup.policy.preempt.reclaim_min_runtime = S(60);
    struct run_job jobs[] = {make(0, S(1000), LOW, no_plan), make(S(100), S(10), HIGH, no_plan),
                             make(S(100), S(1000), LOW, no_plan)};
    jobs[0].job.first.request.gpus = jobs[2].job.first.request.gpus = 4;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(run_attempt(log, 2, 0)->start, S(100));
    assert_int_equal(log->jobs[1].start, S(160));
    close_setup(&setup, log);
}

/* A victim whose start had been decided but had not taken effect is taken when it has. */
TEST(test_victim_that_was_starting)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct run_job jobs[] = {make(0, S(1000), LOW, no_plan), make(S(1), S(10), HIGH, no_plan)};
    setup.world.decision_latency = S(5);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(run_attempt(log, 0, 0)->start, S(5));
    assert_int_equal(log->jobs[1].start, S(10)); /* evicted at 5, decided then */
    close_setup(&setup, log);
}

/* A victim with two pieces on a node, here of two groups, is one victim. */
TEST(test_victim_of_two_pieces)
{
    struct run_setup setup = open_setup(1, 8, S(60));
    struct run_job jobs[] = {make(0, S(1000), LOW, no_plan), make(S(300), S(100), HIGH, no_plan)};
    const struct job_group more = {.request = {.gpus = 1}, .count = 4, .min_count = 4};
    jobs[0].job.first.request.gpus = 4;
    jobs[0].job.group_count = 2;
    jobs[0].job.more = &more;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].evictions, 1);
    assert_int_equal(log->jobs[0].lost_gpu_ns, S(300 * 8));
    assert_int_equal(log->jobs[1].start, S(300));
    close_setup(&setup, log);
}

/* ---- The law ----------------------------------------------------------------------------------- */

/* Attempts of a job that is not cut off while it runs: nothing it held is unaccounted for.  Amounts of shares are cut
 * to whole nanoseconds at each eviction. */
static void check_conservation(const struct run_log *log, uint64_t seed)
{
    for (uint32_t i = 0; i < log->result.submitted; i++) {
        const struct job_row *row = &log->jobs[i];
        __extension__ __int128 held = (__int128)row->run * row->gpu_milli;
        __extension__ __int128 kept = (__int128)row->work * row->gpu_milli;
        int64_t missing = (int64_t)((held - kept) / GPU_MILLI) - row->lost_gpu_ns;
        if (row->state != END_RUNNING && (missing < 0 || missing > 2 * ((int64_t)row->evictions + 1)))
            fail_msg("seed %llu: job %u held %lld GPU ns that it neither kept nor lost", (unsigned long long)seed, i,
                     (long long)missing);
        assert_true(row->overhead_gpu_ns >= 0 && row->overhead_gpu_ns <= row->lost_gpu_ns);
        assert_true(row->work >= 0 && row->work <= row->work_asked);
        assert_true(row->state != END_COMPLETED || row->work == row->work_asked);
    }
}

static void check_attempts(const struct run_log *log)
{
    time_ns *saved = mem_zalloc(log->job_count, sizeof *saved);
    time_ns *ran = mem_zalloc(log->job_count, sizeof *ran);
    uint32_t *evictions = mem_zalloc(log->job_count, sizeof *evictions);
    for (uint32_t a = 0; a < log->attempt_count; a++) {
        const struct attempt_row *row = &log->attempts[a];
        assert_true(row->saved >= 0 && row->lost >= 0);
        assert_true(row->saved + row->lost <= row->end - row->start);
        saved[row->id] += row->saved;
        ran[row->id] += row->end - row->start;
        evictions[row->id] += row->why == ATTEMPT_EVICTED;
    }
    for (uint32_t i = 0; i < log->result.submitted; i++) {
        assert_int_equal(saved[i], log->jobs[i].work);
        assert_int_equal(ran[i], log->jobs[i].run);
        assert_int_equal(evictions[i], log->jobs[i].evictions);
    }
    mem_free(saved);
    mem_free(ran);
    mem_free(evictions);
}

TEST(test_conservation)
{
    uint64_t evictions = 0, seeds = test_is_full() ? 1000 : 100;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct random_jobs spec = {.count = 300,
                                   .nodes = 2 + (uint32_t)(seed % 5),
                                   .gpus = 8,
                                   .request_classes = RANDOM_SINGLE | RANDOM_GANG | RANDOM_SHARE,
                                   .load = 1.1,
                                   .has_checkpoints = true};
        struct run_setup setup = open_setup(spec.nodes, spec.gpus, S((int64_t)(seed % 4) * 10));
        struct run_job *jobs = random_jobs_new(&spec, seed);
        setup.world.kills_at_limit = seed % 2 == 0;
        setup.world.end = seed % 3 == 0 ? S(3000) : TIME_NEVER;
        struct run_log *log = run_jobs(&setup, jobs, spec.count);
        check_conservation(log, seed);
        check_attempts(log);
        evictions += run_last_sample(log)->evicted;
        random_jobs_free(jobs);
        close_setup(&setup, log);
    }
    assert_true(evictions > seeds);
}
