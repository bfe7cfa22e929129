/* Conservative backfill: nobody starts later than first promised, whatever ends early; and where everything lasts as
 * long as it says, everybody starts when, and where, a naive planner puts him at his submission.
 *
 * The naive planner knows no ledger or profile: it keeps who has which GPU from when to when, and tries every moment
 * at which somebody leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/backfill/backfills.h"
#include "policies/placement/placements.h"
#include "policies/policy_config.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/random_jobs.h"

enum { NODES_MAX = 6, JOB_COUNT = 150, GPUS_MAX = 4 };

static struct policy_config conservative(void)
{
    struct policy_config policy = policy_config_default();
    policy.placement = policy.placement_firm = &placement_first_fit;
    policy.backfill = &backfill_conservative;
    policy.backfill_config = backfill_conservative.defaults;
    return policy;
}

static struct random_jobs spec_of(unsigned request_classes, uint64_t seed)
{
    static const uint16_t gpus[] = {1, 4, 2, 3};
    return (struct random_jobs){.count = JOB_COUNT,
                                .nodes = 2 + (uint32_t)(seed % (NODES_MAX - 1)),
                                .gpus = gpus[seed % 4],
                                .request_classes = request_classes,
                                .load = 0.8 + 0.1 * (double)(seed % 6)};
}

/* ---- The promise: a world of its own, which asks for the planned starts after every cycle ---------------- */

struct lot {
    time_ns promised, planned_start; /* first, last; TIME_NEVER: not yet */
    time_ns started, ends;           /* TIME_NEVER: not yet */
    bool has_ended;
};

struct world {
    struct run_job *jobs;
    struct lot lots[JOB_COUNT];
    struct sched *sched;
    time_ns now;
    uint32_t submitted, moved_up, overtakers;
};

static time_ns next_instant(const struct world *world, time_ns wake)
{
    time_ns next = wake;
    if (world->submitted < JOB_COUNT && world->jobs[world->submitted].job.submit < next)
        next = world->jobs[world->submitted].job.submit;
    for (uint32_t i = 0; i < world->submitted; i++)
        if (!world->lots[i].has_ended && world->lots[i].ends < next)
            next = world->lots[i].ends;
    return next;
}

static void tell(struct world *world)
{
    for (uint32_t i = 0; i < world->submitted; i++) {
        struct lot *lot = &world->lots[i];
        if (lot->has_ended || lot->ends > world->now)
            continue;
        lot->has_ended = true;
        sched_job_ended(world->sched, i, JOB_END_COMPLETED, false, world->now);
    }
    while (world->submitted < JOB_COUNT && world->jobs[world->submitted].job.submit <= world->now) {
        world->lots[world->submitted] = (struct lot){TIME_NEVER, TIME_NEVER, TIME_NEVER, TIME_NEVER, false};
        world->jobs[world->submitted].job.id = world->submitted;
        sched_job_submitted(world->sched, &world->jobs[world->submitted].job, world->now);
        world->submitted++;
    }
}

static void start(struct world *world, const struct decision *decision)
{
    struct lot *lot = &world->lots[decision->job];
    assert_int_equal(decision->kind, DECISION_START);
    lot->started = world->now;
    lot->ends = world->now + world->jobs[decision->job].truth.duration;
    if (lot->promised != TIME_NEVER && lot->started > lot->promised)
        fail_msg("job %u was promised %lld ns and started at %lld ns", decision->job, (long long)lot->promised,
                 (long long)lot->started);
    world->moved_up += lot->started < lot->promised;
    for (uint32_t i = 0; i < decision->job; i++)
        world->overtakers += world->lots[i].started == TIME_NEVER;
    sched_job_started(world->sched, decision->job, decision->id, world->now);
}

static void read_planned_starts(struct world *world)
{
    for (uint32_t i = 0; i < world->submitted; i++) {
        struct lot *lot = &world->lots[i];
        if (lot->started != TIME_NEVER)
            continue;
        time_ns planned_start = sched_planned_start(world->sched, i);
        if (planned_start == TIME_NEVER || planned_start > lot->planned_start || planned_start <= world->now)
            fail_msg("job %u is to start at %lld ns, at %lld ns; before that at %lld ns", i, (long long)planned_start,
                     (long long)world->now, (long long)lot->planned_start);
        lot->promised = lot->promised == TIME_NEVER ? planned_start : lot->promised;
        lot->planned_start = planned_start;
    }
}

/* Half of them use all of their limit. */
static void give_limits(struct run_job *jobs, uint64_t seed)
{
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint32_t dice = (uint32_t)(random >> 40) % 8;
        const time_ns duration = jobs[i].truth.duration > 0 ? jobs[i].truth.duration : 1;
        jobs[i].truth.duration = duration;
        jobs[i].job.limit = dice < 4 ? duration : duration + duration / 4 * dice;
    }
}

static void keep_promises(unsigned request_classes, uint64_t seed, uint32_t *moved_up, uint32_t *overtakers)
{
    const struct random_jobs spec = spec_of(request_classes, seed);
    const struct policy_config policy = conservative();
    struct error error;
    struct cluster *cluster = cluster_uniform_new(spec.nodes, spec.gpus);
    struct queue_table *queues = queue_table_new();
    struct world world = {.jobs = random_jobs_new(&spec, seed)};
    struct sched_counts counts;
    world.sched = sched_new(cluster, queues, &policy, &error);
    assert_non_null(world.sched);
    give_limits(world.jobs, seed);
    time_ns wake = TIME_NEVER;
    for (time_ns next = next_instant(&world, wake); next != TIME_NEVER; next = next_instant(&world, wake)) {
        const struct decision *decisions;
        world.now = next;
        tell(&world);
        size_t count = sched_cycle(world.sched, world.now, &decisions, &wake);
        for (size_t d = 0; d < count; d++)
            start(&world, &decisions[d]);
        read_planned_starts(&world);
        assert_lawful(sched_check(world.sched));
    }
    for (uint32_t i = 0; i < JOB_COUNT; i++)
        assert_true(world.lots[i].has_ended);
    sched_count(world.sched, &counts);
    assert_true(counts.promised_starts > 0);
    assert_int_equal(counts.late_starts, 0);
    *moved_up += world.moved_up;
    *overtakers += world.overtakers;
    sched_free(world.sched);
    queue_table_free(queues);
    cluster_free(cluster);
    random_jobs_free(world.jobs);
}

/* Or the law was kept because nothing happened; of one seed that cannot be said. */
static void check_tried(const struct test_seeds *seeds, uint32_t moved_up, uint32_t overtakers)
{
    assert_true(seeds->count == 1 || (moved_up > seeds->count && overtakers > seeds->count));
}

static void nobody_starts_later_than_promised(void **state)
{
    (void)state;
    const struct test_seeds seeds = test_seeds(60, 2000);
    uint32_t moved_up = 0, overtakers = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        keep_promises(seed % 3 == 0 ? RANDOM_FLAT | RANDOM_GANG : RANDOM_SINGLE | RANDOM_GANG | RANDOM_FLAT, seed,
                      &moved_up, &overtakers);
    check_tried(&seeds, moved_up, overtakers);
}

/* Shares of a GPU, and groups of several kinds, are planned in the ledger and not in the profile. */
static void nor_do_shares(void **state)
{
    (void)state;
    const struct test_seeds seeds = test_seeds(8, 300);
    uint32_t moved_up = 0, overtakers = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        keep_promises(RANDOM_SHARE | RANDOM_SINGLE | RANDOM_GROUPS, seed, &moved_up, &overtakers);
    check_tried(&seeds, moved_up, overtakers);
}

/* ---- The naive planner ----------------------------------------------------------------------------- */

struct planner {
    uint32_t nodes, gpus, count;
    time_ns start[JOB_COUNT], end[JOB_COUNT];
    bool has[JOB_COUNT][NODES_MAX * GPUS_MAX]; /* by node x gpus + index */
};

static bool is_free(const struct planner *planner, uint32_t cell, time_ns from, time_ns until)
{
    for (uint32_t i = 0; i < planner->count; i++)
        if (planner->has[i][cell] && planner->start[i] < until && planner->end[i] > from)
            return false;
    return true;
}

static bool fits(struct planner *planner, const struct job *job, time_ns from)
{
    const uint32_t own = planner->count, gpus = job_group(job, 0)->request.gpus;
    uint32_t left = job_group(job, 0)->count;
    memset(planner->has[own], 0, sizeof planner->has[own]);
    for (uint32_t n = 0; n < planner->nodes; n++) {
        uint32_t free[GPUS_MAX], count = 0, used = 0;
        for (uint32_t g = 0; g < planner->gpus; g++)
            if (is_free(planner, n * planner->gpus + g, from, from + job->limit))
                free[count++] = g;
        for (; left > 0 && count - used >= gpus; left--)
            for (uint32_t g = 0; g < gpus; g++)
                planner->has[own][n * planner->gpus + free[used++]] = true;
    }
    return left == 0;
}

static void plan(struct planner *planner, const struct job *job)
{
    const uint32_t own = planner->count;
    time_ns best = TIME_NEVER;
    if (fits(planner, job, job->submit))
        best = job->submit;
    for (uint32_t i = 0; i < own && best != job->submit; i++)
        if (planner->end[i] > job->submit && planner->end[i] < best && fits(planner, job, planner->end[i]))
            best = planner->end[i];
    assert_true(fits(planner, job, best));
    planner->start[own] = best;
    planner->end[own] = best + job->limit;
    planner->count++;
}

static void all_goes_as_planned(void **state)
{
    (void)state;
    const struct test_seeds seeds = test_seeds(40, 1000);
    uint32_t waited = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        const struct random_jobs spec = spec_of(seed % 2 == 0 ? RANDOM_FLAT : RANDOM_SINGLE | RANDOM_GANG, seed);
        struct run_job *jobs = random_jobs_new(&spec, seed);
        struct cluster *cluster = cluster_uniform_new(spec.nodes, spec.gpus);
        struct run_setup setup = run_setup_default(cluster);
        struct planner *planner = mem_zalloc(1, sizeof *planner);
        setup.policy = conservative();
        setup.policy.backfill_config.names_gpus = true;
        planner->nodes = spec.nodes;
        planner->gpus = spec.gpus;
        for (uint32_t i = 0; i < spec.count; i++) {
            jobs[i].truth.duration += jobs[i].truth.duration == 0;
            jobs[i].job.limit = jobs[i].truth.duration;
            plan(planner, &jobs[i].job);
        }
        struct run_log *log = run_jobs(&setup, jobs, spec.count);
        for (uint32_t i = 0; i < spec.count; i++) {
            waited += planner->start[i] > jobs[i].job.submit;
            if (log->jobs[i].start != planner->start[i])
                fail_msg("seed %llu: job %u started at %lld ns on %s; expected %lld ns", (unsigned long long)seed, i,
                         (long long)log->jobs[i].start, run_attempt(log, i, 0)->placement,
                         (long long)planner->start[i]);
        }
        run_log_free(log);
        mem_free(planner);
        cluster_free(cluster);
        random_jobs_free(jobs);
    }
    assert_true(seeds.count == 1 || waited > seeds.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_starts_later_than_promised),
        cmocka_unit_test(nor_do_shares),
        cmocka_unit_test(all_goes_as_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
