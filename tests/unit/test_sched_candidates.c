/* policies/state/candidates.c and preemption_cost.c against what they stand for: what an eviction throws away, counted
 * from the job's start and its saves one by one; and the first instant at which a wait is worth that, found by trying.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/allocate/allocate.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

enum { JOBS = 24, SEEDS = 40 };

#define RECLAIMING(method, grace)                                                                                      \
    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'actions': "                                        \
    "['allocate', 'reclaim', 'preempt'], 'preemption': {'policy': '" method "', 'grace_s': " grace                     \
    ", 'min_runtime_s': 900, 'loss_ratio': 1, "                                                                        \
    "'evictions_per_job_max': 2}}"

static const char *const policies[] = {RECLAIMING("checkpoint", "120"), RECLAIMING("kill", "120"),
                                       RECLAIMING("checkpoint", "0")};

struct fixture {
    struct random_stream stream;
    struct sched_case c;
    struct sched *sched;
    time_ns grace; /* that the policy grants */
    queue_id queue;
    struct job jobs[JOBS];
    time_ns started[JOBS], told[JOBS]; /* told: that its work is safe; TIME_NEVER */
    uint32_t evictions[JOBS];
    time_ns now;
};

static uint32_t below(struct fixture *f, uint32_t bound)
{
    return random_below(&f->stream, bound);
}

static void setup(struct fixture *f, uint64_t seed)
{
    *f = (struct fixture){.grace = seed % 3 == 0 ? SECONDS(120) : 0, .now = SECONDS(10000)};
    random_stream_init(&f->stream, seed, "roster", 0);
    struct queue_table *queues = queue_table_new();
    f->queue = queue_table_add(queues, TEXT("q"), QUEUE_ROOT);
    sched_case_open(&f->c, cluster_uniform_new(JOBS + 1, 8), queues, policies[seed % 3]);
    f->sched = f->c.sched;
    sched_case_cycle(&f->c, f->now);
}

/* It runs on a node of its own since some time. */
static void adopt(struct fixture *f, job_id id)
{
    struct job *job = &f->jobs[id];
    uint16_t gpus = (uint16_t)(1 + below(f, 8));
    *job = sched_case_job(id, 1, gpus, 50);
    job->queue = f->queue;
    job->is_preemptible = below(f, 5) != 0;
    job->class = (uint8_t)below(f, JOB_CLASS_COUNT);
    job->checkpoint = (struct checkpoint_plan){.interval = SECONDS(60 * below(f, 5)),
                                               .duration = SECONDS(40 * below(f, 5)),
                                               .restart = SECONDS(30 * below(f, 3))};
    job->grace = SECONDS(50 * below(f, 4));
    f->started[id] = f->now - SECONDS(below(f, 2000));
    f->told[id] = TIME_NEVER;
    struct piece piece = {
        .node = id, .gpu_mask = (uint16_t)((1u << gpus) - 1), .gpu_milli = GPU_MILLI, .member_count = 1};
    sched_job_adopted(f->sched, job, &piece, 1, f->started[id], f->now);
}

/* ---- The naive loss ---- */

static time_ns naive_grace(const struct fixture *f, job_id id)
{
    const struct checkpoint_plan *plan = &f->jobs[id].checkpoint;
    if (plan->interval == 0 && plan->duration == 0)
        return 0; /* it cannot save */
    return f->jobs[id].grace != 0 && f->jobs[id].grace < f->grace ? f->jobs[id].grace : f->grace;
}

static bool saves_in_time(const struct fixture *f, job_id id)
{
    return naive_grace(f, id) != 0 && f->jobs[id].checkpoint.duration <= naive_grace(f, id);
}

static bool saves_alone(const struct fixture *f, job_id id)
{
    bool is_told = f->told[id] != TIME_NEVER && f->told[id] > f->started[id];
    return !is_told && f->jobs[id].checkpoint.interval != 0;
}

/* Since when its work at `now` is not safe: save by save. */
static time_ns unsafe_since(const struct fixture *f, job_id id)
{
    time_ns at = f->started[id];
    if (f->told[id] != TIME_NEVER && f->told[id] > at)
        return f->told[id];
    while (saves_alone(f, id) && at + f->jobs[id].checkpoint.interval <= f->now)
        at += f->jobs[id].checkpoint.interval;
    return at;
}

static int64_t naive_loss(const struct fixture *f, job_id id)
{
    const struct checkpoint_plan *plan = &f->jobs[id].checkpoint;
    time_ns span = saves_in_time(f, id) ? plan->duration : f->now - unsafe_since(f, id);
    return (plan->restart + span) * f->jobs[id].first.request.gpus;
}

/* At the best of times from now on. */
static int64_t naive_least(const struct fixture *f, job_id id)
{
    if (f->evictions[id] >= 2)
        return INT64_MAX;
    if (saves_in_time(f, id) || !saves_alone(f, id))
        return naive_loss(f, id);
    return f->jobs[id].checkpoint.restart * f->jobs[id].first.request.gpus;
}

static void check_job(struct fixture *f, job_id id)
{
    const struct job *job = &f->jobs[id];
    uint32_t slot = job_table_find(&f->sched->jobs, id);
    struct victim_candidate *candidate = candidates_get(f->sched, slot);
    struct preemption_cost preemption_cost = candidates_cost(candidate, f->now);
    bool is_safe = saves_in_time(f, id);
    assert_int_equal(sched_grace(f->sched, slot), naive_grace(f, id));
    assert_int_equal(candidate->is_non_preemptible, !job->is_preemptible);
    assert_int_equal(candidate->is_spent, f->evictions[id] >= 2);
    assert_int_equal(candidate->held_milli, job->first.request.gpus * GPU_MILLI);
    assert_false(candidate->is_claiming || candidate->is_starting || candidate->has_surplus);
    assert_int_equal(preemption_cost.loss_gpu_ns, naive_loss(f, id));
    assert_int_equal(preemption_cost.growth_milli, is_safe ? 0 : job->first.request.gpus * GPU_MILLI);
    assert_int_equal(preemption_cost.least_gpu_ns,
                     (job->checkpoint.restart + (is_safe ? job->checkpoint.duration : 0)) * job->first.request.gpus);
    assert_true(preemption_cost.saved_at ==
                (is_safe || !saves_alone(f, id) ? TIME_NEVER : unsafe_since(f, id) + job->checkpoint.interval));
}

static void check_queue(struct fixture *f)
{
    int64_t least = INT64_MAX;
    for (job_id id = 0; id < JOBS; id++)
        if (f->jobs[id].is_preemptible && f->started[id] != TIME_NEVER && naive_least(f, id) < least)
            least = naive_least(f, id);
    candidates_refloor(f->sched, f->queue);
    assert_int_equal(candidates_floor(f->sched, f->queue), least);
    assert_lawful(sched_check(f->sched));
}

static void what_an_eviction_throws_away(void **state)
{
    (void)state;
    struct fixture f;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        setup(&f, seed);
        for (job_id id = 0; id < JOBS; id++)
            adopt(&f, id);
        for (int step = 0; step < 40; step++) {
            f.now += SECONDS(below(&f, 100));
            sched_case_cycle(&f.c, f.now);
            job_id id = below(&f, JOBS);
            if (below(&f, 8) == 0) {
                uint32_t version = candidates_version(f.sched, f.queue);
                sched_job_checkpointed(f.sched, id, f.now);
                f.told[id] = f.now;
                assert_int_not_equal(candidates_version(f.sched, f.queue), version);
            }
            check_job(&f, id);
            check_queue(&f);
        }
        sched_case_close(&f.c);
    }
}

/* Who ends leaves the floor too low, which is no harm; looked at anew it has risen.  Who changes has it found anew. */
static void a_floor_is_found_again(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1); /* all are killed */
    for (job_id id = 0; id < 2; id++) {
        f.jobs[id] = sched_case_job(id, 1, 4, 50);
        f.jobs[id].queue = f.queue;
        struct piece piece = {.node = id, .gpu_mask = 15, .gpu_milli = GPU_MILLI, .member_count = 1};
        sched_job_adopted(f.sched, &f.jobs[id], &piece, 1, f.now - SECONDS(100 * (id + 1)), f.now);
    }
    assert_int_equal(candidates_floor(f.sched, f.queue), SECONDS(400));
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, f.now);
    assert_int_equal(candidates_floor(f.sched, f.queue), SECONDS(400));
    candidates_refloor(f.sched, f.queue);
    assert_int_equal(candidates_floor(f.sched, f.queue), SECONDS(800));
    sched_job_checkpointed(f.sched, 1, f.now);
    assert_int_equal(candidates_floor(f.sched, f.queue), 0);
    sched_job_ended(f.sched, 1, JOB_END_COMPLETED, false, f.now);
    candidates_refloor(f.sched, f.queue);
    assert_true(candidates_floor(f.sched, f.queue) == INT64_MAX);
    assert_int_equal(candidates_version(f.sched, 1000), 0); /* a queue nobody was ever in */
    sched_case_close(&f.c);
}

/* Evicted twice, a job is spared for good. */
static void the_spent_have_no_floor(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    struct job job = sched_case_job(0, 1, 8, 50);
    job.queue = f.queue;
    sched_case_submit(&f.c, job, f.now);
    for (uint32_t times = 0; times <= 2; times++) {
        sched_case_start(&f.c, f.now);
        uint32_t slot = job_table_find(&f.sched->jobs, 0);
        assert_int_equal(candidates_get(f.sched, slot)->is_spent, times >= 2);
        assert_true((candidates_floor(f.sched, f.queue) == INT64_MAX) == (times >= 2));
        sched_job_leaving(f.sched, 0, MEMBERS_ALL, f.now);
        sched_job_evicted(f.sched, 0, MEMBERS_ALL, EVICT_LOST, f.now);
    }
    sched_case_close(&f.c);
}

/* 2 of 3 members can go for nothing; of 1e6 GPUs for 100 years there are more milli-GPU ns than 63 bits hold. */
static void surplus_and_large_losses(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    struct job job = sched_case_job(0, 3, 8, 50);
    job.queue = f.queue;
    job.first.min_count = 1;
    sched_case_submit(&f.c, job, f.now);
    for (int i = 0; i < 4; i++)
        sched_case_start(&f.c, f.now + SECONDS(i));
    sched_case_cycle(&f.c, f.now + SECONDS(1000));
    assert_true(candidates_get(f.sched, job_table_find(&f.sched->jobs, 0))->has_surplus);
    assert_int_equal(candidates_floor(f.sched, f.queue), 0);
    struct victim_candidate candidate = {.is_known = true,
                                         .held_milli = INT64_C(1000000) * GPU_MILLI,
                                         .growth_milli = INT64_C(1000000) * GPU_MILLI,
                                         .lost_at_least = SECONDS(10)};
    struct preemption_cost preemption_cost = candidates_cost(&candidate, SECONDS(1000));
    assert_true(preemption_cost.loss_gpu_ns == SECONDS(1010) * 1000000);
    assert_true(preemption_cost.least_gpu_ns == SECONDS(10) * 1000000);
    sched_case_close(&f.c);
}

/* Beyond the largest number of GPU-ns, GPU time stays there. */
static void gpu_time_has_an_end(void **state)
{
    (void)state;
    const time_ns year = 365 * 86400 * TIME_NS_PER_S;
    const struct job_facts facts = {.attained_gpu_ns = 200 * year, .rate_milli = 1000 * 1000};
    assert_int_equal(gpu_time(year, 1000), year);
    assert_int_equal(gpu_time(year, 292 * 1000),
                     292 * year); /* the product is more than 64 bits, the GPU time is not */
    assert_int_equal(gpu_time(year, 293 * 1000), INT64_MAX);
    assert_int_equal(attained_gpu_ns(&facts, 92 * year / 1000), 292 * year);
    assert_int_equal(attained_gpu_ns(&facts, 93 * year / 1000), INT64_MAX);
    assert_int_equal(attained_gpu_ns(&facts, year), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_eviction_throws_away), cmocka_unit_test(a_floor_is_found_again),
        cmocka_unit_test(the_spent_have_no_floor),      cmocka_unit_test(surplus_and_large_losses),
        cmocka_unit_test(gpu_time_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
