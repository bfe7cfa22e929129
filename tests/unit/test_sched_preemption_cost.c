/* policies/eviction/preemption_cost.c: the first instant at which a wait is worth the preemption cost, against one
 * found by trying; when a plan is tried again; and before which time none is tried. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/allocate/allocate.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/preemption_cost.h"
#include "policies/state/sched_state.h"
#include "tests/support/sched_case.h"

#define NOW SECONDS(100000)

static const char policy_text[] =
    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'actions': ['allocate', 'reclaim', 'preempt'], "
    "'headroom': {'gpus': 2, 'owners_gpus': 8}, 'preemption': {'policy': 'checkpoint', 'grace_s': 100, "
    "'reclaim_min_runtime_s': 700, 'loss_ratio': 1}}";

struct fixture {
    struct random_stream stream;
    struct sched_case c;
    struct sched *sched;
    queue_id queue, other;
    uint32_t preemptor; /* slot of job 0, which asks 8 GPUs and waits */
};

static void setup(struct fixture *f)
{
    *f = (struct fixture){0};
    random_stream_init(&f->stream, 1, "worth", 0);
    struct queue_table *queues = queue_table_new();
    f->queue = queue_table_add(queues, TEXT("q"), QUEUE_ROOT);
    f->other = queue_table_add(queues, TEXT("other"), QUEUE_ROOT);
    sched_case_open(&f->c, cluster_uniform_new(4, 8), queues, policy_text);
    f->sched = f->c.sched;
    sched_case_cycle(&f->c, NOW);
    struct job job = sched_case_job(0, 1, 8, 50);
    job.queue = f->queue;
    sched_case_submit(&f->c, job, NOW);
    f->preemptor = job_table_find(&f->sched->jobs, 0);
}

static void teardown(struct fixture *f)
{
    sched_case_close(&f->c);
}

static void set_waited(struct fixture *f, time_ns waited)
{
    f->sched->jobs.facts[f->preemptor].waiting_since = NOW - waited;
}

static void forget(struct fixture *f)
{
    f->sched->plan->result.affordable_at = f->sched->plan->result.eligible_at = TIME_NEVER;
    f->sched->plan->result.saw_too_costly = false;
}

/* ---- When it is worth it ---- */

/* GPU-ns that the wait is worth at `at`; the ratio is in halves. */
static __int128 worth_then(struct fixture *f, time_ns at, int64_t halves)
{
    return (__int128)(at - f->sched->jobs.facts[f->preemptor].waiting_since) * 8 * halves / 2;
}

/* The first instant from `first` on at which the wait is worth `loss` and what is lost meanwhile with `gpus` GPUs, by
 * bisection; TIME_NEVER: none before `last`. */
static time_ns first_worth(struct fixture *f, time_ns first, int64_t loss, int64_t gpus, int64_t halves)
{
    time_ns last = NOW + SECONDS(1000000);
    if (worth_then(f, last, halves) < loss + (__int128)gpus * (last - NOW))
        return TIME_NEVER;
    while (first < last) {
        time_ns middle = first + (last - first) / 2;
        if (worth_then(f, middle, halves) >= loss + (__int128)gpus * (middle - NOW))
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

TEST(who_waits_long_enough)
{
    struct fixture f;
    setup(&f);
    for (int round = 0; round < 3000; round++) {
        int64_t halves = 1 + random_below(&f.stream, 4);
        f.sched->policy.preempt.loss_ratio_milli = halves * 500;
        set_waited(&f, SECONDS(random_below(&f.stream, 500)));
        forget(&f);
        time_ns expected = TIME_NEVER;
        for (uint32_t victim = 0; victim <= random_below(&f.stream, 3); victim++) {
            int64_t gpus = random_below(&f.stream, 16), loss = preemption_cost_of_wait(f.sched, f.preemptor) + 1 +
                                                               SECONDS(random_below(&f.stream, 3000)) / (1 + victim);
            bool is_saved = random_below(&f.stream, 2) == 0;
            struct preemption_cost preemption_cost = {.loss_gpu_ns = loss,
                                                      .growth_milli = gpus * GPU_MILLI,
                                                      .least_gpu_ns = SECONDS(random_below(&f.stream, 3000)),
                                                      .saved_at = is_saved ? NOW + SECONDS(random_below(&f.stream, 600))
                                                                           : TIME_NEVER};
            preemption_cost_note(f.sched, f.preemptor, &preemption_cost);
            time_ns closed = first_worth(&f, NOW, loss, gpus, halves);
            time_ns saved = is_saved
                                ? first_worth(&f, preemption_cost.saved_at, preemption_cost.least_gpu_ns, 0, halves)
                                : TIME_NEVER;
            expected = closed < expected ? closed : expected;
            expected = saved < expected ? saved : expected;
        }
        assert_true(f.sched->plan->result.saw_too_costly);
        if (expected != f.sched->plan->result.affordable_at)
            print_error("round %d: %lld, not %lld\n", round, (long long)f.sched->plan->result.affordable_at,
                        (long long)expected);
        assert_true(expected == f.sched->plan->result.affordable_at);
    }
    teardown(&f);
}

/* 8 GPUs for 125 s at a ratio of 1/1000 are one GPU-second; at 100 years more than 63 bits hold. */
TEST(what_a_wait_is_worth)
{
    struct fixture f;
    setup(&f);
    set_waited(&f, SECONDS(125));
    assert_int_equal(preemption_cost_of_wait(f.sched, f.preemptor), SECONDS(1000));
    f.sched->policy.preempt.loss_ratio_milli = 1;
    assert_int_equal(preemption_cost_of_wait(f.sched, f.preemptor), SECONDS(1));
    f.sched->policy.preempt.loss_ratio_milli = 1000000;
    set_waited(&f, SECONDS(3000000));
    assert_true(preemption_cost_of_wait(f.sched, f.preemptor) == INT64_MAX);
    set_waited(&f, 0);
    assert_int_equal(preemption_cost_of_wait(f.sched, f.preemptor), 0);
    teardown(&f);
}

/* ---- When to look again ---- */

/* After an eighth of the wait, a second at least; before as long again, a minute at least; between them when it may be
 * worth it, or a victim is ripe. */
TEST(a_dear_plan_is_looked_at_again)
{
    static const struct {
        int64_t waited, worth, ripe, expected; /* s; from now on; -1: never */
    } rows[] = {
        {0, -1, -1, 60},    {0, 0, -1, 1},       {0, 30, -1, 30},     {0, 90, 40, 40},
        {0, 90, -1, 60},    {7, 0, -1, 1},       {8, 0, -1, 1},       {16, 0, -1, 2},
        {16, -1, 1, 2},     {16, 3, 1, 2},       {59, -1, -1, 60},    {61, -1, -1, 61},
        {800, 50, 60, 100}, {800, 700, -1, 700}, {800, 900, -1, 800}, {800, 900, 750, 750},
    };
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_waited(&f, SECONDS(rows[i].waited));
        f.sched->plan->result.affordable_at = rows[i].worth < 0 ? TIME_NEVER : NOW + SECONDS(rows[i].worth);
        f.sched->plan->result.eligible_at = rows[i].ripe < 0 ? TIME_NEVER : NOW + SECONDS(rows[i].ripe);
        assert_int_equal(preemption_cost_retry_at(f.sched, f.preemptor) - NOW, SECONDS(rows[i].expected));
    }
    teardown(&f);
}

/* ---- What is lost at the least ---- */

TEST(the_least_that_is_lost)
{
    static const struct {
        int64_t interval, duration, restart, grace; /* s */
        bool is_elastic, is_told;
        int64_t expected;
    } rows[] = {
        {0, 0, 30, 0, false, false, 730},  /* it never saves: all it ran for, at least 700 s */
        {0, 0, 30, 0, false, true, 30},    /* but it was told to have saved */
        {60, 0, 30, 0, false, false, 30},  /* it may just have saved */
        {60, 50, 30, 0, false, false, 80}, /* it saves in its grace of 100 s */
        {60, 100, 30, 0, false, false, 130}, {60, 101, 30, 0, false, false, 30},
        {0, 50, 30, 40, false, false, 730}, /* it asks for less than it takes */
        {0, 40, 30, 40, false, false, 70},   {0, 0, 30, 0, true, false, 0},
        {0, 0, 0, 0, false, false, 700},
    };
    struct fixture f;
    setup(&f);
    for (job_id i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job job = sched_case_job(i + 1, 2, 1, 50);
        job.queue = f.other;
        job.first.min_count = rows[i].is_elastic ? 1 : 2;
        job.checkpoint =
            (struct checkpoint_plan){SECONDS(rows[i].interval), SECONDS(rows[i].duration), SECONDS(rows[i].restart)};
        job.grace = SECONDS(rows[i].grace);
        sched_case_submit(&f.c, job, NOW);
        uint32_t slot = job_table_find(&f.sched->jobs, i + 1);
        if (rows[i].is_told)
            f.sched->jobs.facts[slot].saved_at = NOW;
        f.sched->eviction->least_loss = SECONDS(5000);
        preemption_cost_know(f.sched, slot);
        assert_int_equal(f.sched->eviction->least_loss, SECONDS(rows[i].expected));
        f.sched->eviction->least_loss = SECONDS(rows[i].expected) - 1;
        preemption_cost_know(f.sched, slot);
        assert_int_equal(f.sched->eviction->least_loss, SECONDS(rows[i].expected) - 1);
    }
    teardown(&f);
}

/* The shortest protection of all queues, and never longer than the policy's. */
TEST(the_shortest_protection_counts)
{
    static const struct {
        int64_t own, other, expected; /* s; -1: not said */
    } rows[] = {{-1, -1, 700}, {800, -1, 700}, {600, -1, 600}, {600, 500, 500}, {0, 500, 0}};
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct queue_spec *specs = f.c.queues->queues;
        specs[f.queue].reclaim_min_runtime = rows[i].own < 0 ? -1 : SECONDS(rows[i].own);
        specs[f.other].reclaim_min_runtime = rows[i].other < 0 ? -1 : SECONDS(rows[i].other);
        f.sched->eviction->least_loss = SECONDS(650);
        sched_queues_changed(f.sched, f.c.queues, NOW);
        assert_int_equal(f.sched->eviction->reclaim_least_runtime, SECONDS(rows[i].expected));
        assert_int_equal(f.sched->eviction->least_loss, SECONDS(rows[i].expected < 650 ? rows[i].expected : 650));
    }
    teardown(&f);
}

/* ---- Before when no plan is worth it ---- */

/* 32 GPUs, 10 of them kept; what is used leaves `free_gpus` free.  Of the 8 asked those above what is kept are there,
 * and what is coming: the others must be freed, at 100 s each, and the wait is worth 8 GPU-s a second. */
static void setup_earliest(struct fixture *f, int64_t free_gpus, int64_t coming_gpus)
{
    setup(f);
    f->sched->eviction->least_loss = SECONDS(100);
    f->sched->ledger->used_milli = (32 - free_gpus - coming_gpus) * GPU_MILLI;
    f->sched->ledger->coming_milli = coming_gpus * GPU_MILLI;
    set_waited(f, SECONDS(10));
}

static void teardown_earliest(struct fixture *f)
{
    f->sched->ledger->used_milli = f->sched->ledger->coming_milli = 0;
    teardown(f);
}

TEST(no_plan_before_it_is_worth)
{
    static const struct {
        int64_t free, coming, must_free; /* GPUs */
    } rows[] = {{0, 0, 8},  {5, 0, 8},  {10, 0, 8}, {11, 0, 7}, {14, 3, 1},
                {17, 0, 1}, {18, 0, 0}, {0, 5, 3},  {0, 8, 0},  {30, 0, 0}};
    struct fixture f;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup_earliest(&f, rows[i].free, rows[i].coming);
        time_ns since = f.sched->jobs.facts[f.preemptor].waiting_since;
        time_ns expected = rows[i].must_free == 0 ? 0 : since + SECONDS(100 * rows[i].must_free) / 8;
        assert_int_equal(preemption_cost_earliest(f.sched, f.preemptor), expected);
        teardown_earliest(&f);
    }
}

TEST(some_plans_may_be_worth_it_at_once)
{
    struct fixture f;
    setup_earliest(&f, 0, 0);
    struct job_group *group =
        (struct job_group *)(uintptr_t)f.sched->request_classes.at[f.sched->jobs.jobs[f.preemptor].ask].groups;
    struct request_class *ask = &f.sched->request_classes.at[f.sched->jobs.jobs[f.preemptor].ask];
    assert_true(preemption_cost_earliest(f.sched, f.preemptor) > NOW);
    f.sched->headroom.owners_milli = 0; /* nothing is kept: a victim may go for less */
    assert_int_equal(preemption_cost_earliest(f.sched, f.preemptor), 0);
    f.sched->headroom.owners_milli = 1;
    assert_true(preemption_cost_earliest(f.sched, f.preemptor) > NOW);
    f.sched->policy.preempt.loss_ratio_milli = 0; /* losses are not weighed */
    assert_int_equal(preemption_cost_earliest(f.sched, f.preemptor), 0);
    f.sched->policy.preempt.loss_ratio_milli = 1000;
    ask->class = JOB_INFERENCE; /* what is kept is for it */
    assert_int_equal(preemption_cost_earliest(f.sched, f.preemptor), 0);
    ask->class = JOB_TRAINING;
    group->request.gpu_memory_mib = 1; /* the model says how many GPUs that is */
    assert_int_equal(preemption_cost_earliest(f.sched, f.preemptor), 0);
    group->request.gpu_memory_mib = 0;
    f.c.queues->queues[f.queue].deserved[RESOURCE_GPU] = 8 * GPU_MILLI; /* an owner */
    assert_int_equal(preemption_cost_earliest(f.sched, f.preemptor), 0);
    f.c.queues->queues[f.queue].deserved[RESOURCE_GPU] = 8 * GPU_MILLI - 1;
    assert_true(preemption_cost_earliest(f.sched, f.preemptor) > NOW);
    f.sched->eviction->least_loss = INT64_MAX / 1000; /* as good as never, and no overflow */
    assert_true(preemption_cost_earliest(f.sched, f.preemptor) > SECONDS(INT64_C(1000000)));
    teardown_earliest(&f);
}
