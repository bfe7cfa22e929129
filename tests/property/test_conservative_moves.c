/* Conservative backfill where jobs end early and are cancelled, against a naive planner: who starts when, on which
 * GPUs, and what everybody else is promised after every cycle; also where the scheduler is saved and loaded again on
 * the way.
 *
 * The planner knows no ledger or profile: it keeps who has which GPU, CPUs and memory from when to when.  Where
 * something ends early, is cancelled or moves, its nodes are freed: in the order of their starts, promises that are on
 * such a node, or for a member of which such a node has room before, are looked for anew, those of one member on such
 * nodes alone, and taken if they are earlier.  Newcomers follow. */
#include "tests/support/test.h"

#include "policies/backfill/backfills.h"
#include "policies/placement/placements.h"
#include "policies/policy_config.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/random_jobs.h"

enum { NODES_MAX = 6, GPUS_MAX = 4, CELLS = NODES_MAX * GPUS_MAX, JOB_COUNT = 100 };

enum state { COMES, NEW, PROMISED, RUNS, GONE };

struct lot {
    enum state state;
    time_ns start, end; /* as promised, or planned at the start */
    time_ns ends;       /* in truth */
    time_ns cancelled;  /* if it waits then; TIME_NEVER: never */
    uint32_t made;      /* of the promise: a later one has a larger number */
    bool has[CELLS];    /* by node x GPUS_MAX + index */
};

struct planner {
    const struct run_job *jobs;
    uint32_t nodes, gpus, made, moved, cancelled;
    uint32_t cpu_milli, memory_mib; /* of a node */
    time_ns now;
    struct lot lots[JOB_COUNT];
    uint32_t live[JOB_COUNT], live_count; /* promised or running */
    bool is_freed[NODES_MAX];
};

/* ---- Space ------------------------------------------------------------------------------------------ */

static bool is_free(const struct planner *planner, uint32_t cell, time_ns from, time_ns until)
{
    for (uint32_t i = 0; i < planner->live_count; i++) {
        const struct lot *lot = &planner->lots[planner->live[i]];
        if (lot->has[cell] && lot->start < until && lot->end > from)
            return false;
    }
    return true;
}

static uint32_t free_on(const struct planner *planner, uint32_t node, time_ns from, time_ns until,
                        uint32_t free[GPUS_MAX])
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < planner->gpus; g++)
        if (is_free(planner, node * GPUS_MAX + g, from, until))
            free[count++] = g;
    return count;
}

static uint32_t members_on(const struct planner *planner, uint32_t job, uint32_t node)
{
    uint32_t gpus = 0;
    for (uint32_t g = 0; g < planner->gpus; g++)
        gpus += planner->lots[job].has[node * GPUS_MAX + g];
    return gpus / job_group(&planner->jobs[job].job, 0)->request.gpus;
}

/* Members of the job for which there are CPUs and memory at that time. */
static uint32_t room_at(const struct planner *planner, uint32_t job, uint32_t node, time_ns at)
{
    const struct request *asked = &job_group(&planner->jobs[job].job, 0)->request;
    uint32_t cpu_milli = planner->cpu_milli, memory_mib = planner->memory_mib;
    for (uint32_t i = 0; i < planner->live_count; i++) {
        const struct lot *lot = &planner->lots[planner->live[i]];
        const struct request *has = &job_group(&planner->jobs[planner->live[i]].job, 0)->request;
        if (lot->start > at || lot->end <= at)
            continue;
        cpu_milli -= members_on(planner, planner->live[i], node) * has->cpu_milli;
        memory_mib -= members_on(planner, planner->live[i], node) * has->memory_mib;
    }
    const uint32_t by_cpu = asked->cpu_milli > 0 ? cpu_milli / asked->cpu_milli : GPUS_MAX,
                   by_memory = asked->memory_mib > 0 ? memory_mib / asked->memory_mib : GPUS_MAX;
    return by_cpu < by_memory ? by_cpu : by_memory;
}

/* Members that the node holds all the while; *free: its GPUs. */
static uint32_t room_on(const struct planner *planner, uint32_t job, uint32_t node, time_ns from,
                        uint32_t free[GPUS_MAX])
{
    const struct job *asked = &planner->jobs[job].job;
    const time_ns until = from + asked->limit;
    uint32_t least = free_on(planner, node, from, until, free) / job_group(asked, 0)->request.gpus;
    uint32_t room = room_at(planner, job, node, from);
    least = room < least ? room : least;
    for (uint32_t i = 0; i < planner->live_count && least > 0; i++) {
        const time_ns start = planner->lots[planner->live[i]].start;
        if (start <= from || start >= until)
            continue;
        room = room_at(planner, job, node, start);
        least = room < least ? room : least;
    }
    return least;
}

/* All members, lowest nodes and GPUs first, of the nodes that are freed or of all. */
static bool fits_on(const struct planner *planner, uint32_t job, time_ns at, bool is_freed_only, bool has[CELLS])
{
    const struct job *asked = &planner->jobs[job].job;
    const uint32_t gpus = job_group(asked, 0)->request.gpus;
    uint32_t left = job_group(asked, 0)->count;
    memset(has, 0, CELLS * sizeof *has);
    for (uint32_t n = 0; n < planner->nodes && left > 0; n++) {
        uint32_t free[GPUS_MAX], used = 0;
        if (is_freed_only && !planner->is_freed[n])
            continue;
        uint32_t room = room_on(planner, job, n, at, free);
        for (; left > 0 && room > 0; left--, room--)
            for (uint32_t g = 0; g < gpus; g++)
                has[n * GPUS_MAX + free[used++]] = true;
    }
    return left == 0;
}

static bool fits(const struct planner *planner, uint32_t job, time_ns at, bool has[CELLS])
{
    return fits_on(planner, job, at, false, has);
}

/* The first end by which it fits, after now and before `bound`; TIME_NEVER. */
static time_ns find(const struct planner *planner, uint32_t job, time_ns bound, bool is_freed_only, bool has[CELLS])
{
    bool found[CELLS];
    time_ns best = TIME_NEVER;
    for (uint32_t i = 0; i < planner->live_count; i++) {
        const time_ns end = planner->lots[planner->live[i]].end;
        if (end <= planner->now || end >= bound || end >= best || !fits_on(planner, job, end, is_freed_only, found))
            continue;
        best = end;
        memcpy(has, found, sizeof found);
    }
    return best;
}

static bool member_fits_before(const struct planner *planner, uint32_t job, uint32_t node)
{
    const time_ns bound = planner->lots[job].start;
    uint32_t free[GPUS_MAX];
    if (room_on(planner, job, node, planner->now, free) > 0)
        return true;
    for (uint32_t i = 0; i < planner->live_count; i++) {
        const time_ns end = planner->lots[planner->live[i]].end;
        if (end > planner->now && end < bound && room_on(planner, job, node, end, free) > 0)
            return true;
    }
    return false;
}

/* ---- What it does ----------------------------------------------------------------------------------- */

static void add_live(struct planner *planner, uint32_t job)
{
    planner->live[planner->live_count++] = job;
}

static void remove_live(struct planner *planner, uint32_t job)
{
    uint32_t i = 0;
    while (planner->live[i] != job)
        i++;
    planner->live[i] = planner->live[--planner->live_count];
}

static void ease(struct planner *planner, const bool has[CELLS])
{
    for (uint32_t cell = 0; cell < CELLS; cell++)
        if (has[cell])
            planner->is_freed[cell / GPUS_MAX] = true;
}

static bool is_any_freed(const struct planner *planner)
{
    for (uint32_t n = 0; n < planner->nodes; n++)
        if (planner->is_freed[n])
            return true;
    return false;
}

static bool may_move_up(const struct planner *planner, uint32_t job)
{
    const struct lot *lot = &planner->lots[job];
    for (uint32_t cell = 0; cell < CELLS; cell++)
        if (lot->has[cell] && planner->is_freed[cell / GPUS_MAX])
            return true;
    for (uint32_t n = 0; n < planner->nodes; n++)
        if (planner->is_freed[n] && member_fits_before(planner, job, n))
            return true;
    return false;
}

/* It starts now, wherever it fits then, or is promised a start before `bound`; false: neither. */
static bool settle(struct planner *planner, uint32_t job, time_ns bound, bool is_freed_only)
{
    struct lot *lot = &planner->lots[job];
    bool has[CELLS];
    const bool is_now =
        fits_on(planner, job, planner->now, is_freed_only, has) && fits(planner, job, planner->now, has);
    const time_ns start = is_now ? planner->now : find(planner, job, bound, is_freed_only, has);
    if (start == TIME_NEVER)
        return false;
    memcpy(lot->has, has, sizeof has);
    lot->state = is_now ? RUNS : PROMISED;
    lot->start = start;
    lot->end = start + planner->jobs[job].job.limit;
    lot->made = is_now ? 0 : ++planner->made;
    return true;
}

static void look_again(struct planner *planner, uint32_t job)
{
    struct lot *lot = &planner->lots[job];
    const struct lot before = *lot;
    if (lot->start <= planner->now) {
        lot->state = RUNS;
        return;
    }
    if (!may_move_up(planner, job))
        return;
    remove_live(planner, job);
    if (settle(planner, job, before.start, job_group(&planner->jobs[job].job, 0)->count == 1)) {
        planner->moved++;
        ease(planner, before.has);
    }
    add_live(planner, job);
}

static bool goes_before(const struct lot *a, const struct lot *b)
{
    return a->start != b->start ? a->start < b->start : a->made < b->made;
}

static void plan_cycle(struct planner *planner)
{
    uint32_t order[JOB_COUNT], count = 0;
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        if (planner->lots[i].state != PROMISED)
            continue;
        uint32_t at = count++;
        for (; at > 0 && goes_before(&planner->lots[i], &planner->lots[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        if (planner->lots[order[i]].start <= planner->now || is_any_freed(planner))
            look_again(planner, order[i]);
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        if (planner->lots[i].state != NEW)
            continue;
        assert_true(settle(planner, i, TIME_NEVER, false));
        add_live(planner, i);
    }
    memset(planner->is_freed, 0, sizeof planner->is_freed);
}

/* ---- The world -------------------------------------------------------------------------------------- */

static time_ns next_instant(const struct planner *planner, time_ns wake)
{
    time_ns next = wake;
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        const struct lot *lot = &planner->lots[i];
        const time_ns at = lot->state == COMES      ? planner->jobs[i].job.submit
                           : lot->state == RUNS     ? lot->ends
                           : lot->state == PROMISED ? lot->cancelled
                                                    : TIME_NEVER;
        next = at < next ? at : next;
    }
    return next;
}

static void tell(struct planner *planner, struct sched *sched)
{
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        struct lot *lot = &planner->lots[i];
        const bool ends = lot->state == RUNS && lot->ends <= planner->now,
                   is_cancelled = lot->state == PROMISED && lot->cancelled <= planner->now;
        if (ends)
            sched_job_ended(sched, i, JOB_END_COMPLETED, false, planner->now);
        if (is_cancelled)
            sched_job_cancelled(sched, i, planner->now);
        planner->cancelled += is_cancelled;
        if (is_cancelled || (ends && lot->end > planner->now))
            ease(planner, lot->has);
        if (ends || is_cancelled) {
            lot->state = GONE;
            remove_live(planner, i);
        }
    }
    for (uint32_t i = 0; i < JOB_COUNT; i++)
        if (planner->lots[i].state == COMES && planner->jobs[i].job.submit <= planner->now) {
            planner->lots[i].state = NEW;
            sched_job_submitted(sched, &planner->jobs[i].job, planner->now);
        }
}

/* CPUs and memory are short too; but everybody fits while nothing runs. */
static void give_amounts(struct planner *planner, struct request *request, uint32_t job, uint32_t random)
{
    bool has[CELLS];
    request->cpu_milli = 500 * (random % (8u * request->gpus + 1));
    request->memory_mib = random / 64 % 2 == 0 ? 0 : 512 * (random / 128 % (8u * request->gpus + 1));
    if (!fits(planner, job, 0, has))
        request->cpu_milli = request->memory_mib = 0;
}

/* Half of them use all of their limit; some change their mind. */
static void give_limits(struct planner *planner, struct run_job *jobs, uint64_t seed)
{
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint32_t dice = (uint32_t)(random >> 40) % 8, mind = (uint32_t)(random >> 50) % 8;
        const time_ns duration = jobs[i].truth.duration > 0 ? jobs[i].truth.duration : 1;
        jobs[i].truth.duration = duration;
        jobs[i].job.id = i;
        jobs[i].job.limit = dice < 4 ? duration : duration + duration / 4 * dice;
        give_amounts(planner, &jobs[i].job.first.request, i, (uint32_t)(random >> 20) % 65536);
        planner->lots[i].cancelled = mind > 1 ? TIME_NEVER : jobs[i].job.submit + duration / 2 + 1;
    }
}

struct setup {
    struct cluster *cluster;
    struct queue_table *queues;
    struct policy_config policy;
    struct sched *sched;
};

static void compare_start(const struct planner *planner, const struct decision *decision)
{
    const struct lot *lot = &planner->lots[decision->job];
    bool has[CELLS] = {0};
    assert_int_equal(decision->kind, DECISION_START);
    for (uint32_t p = 0; p < decision->piece_count; p++)
        for (uint32_t g = 0; g < planner->gpus; g++)
            if (decision->pieces[p].gpu_mask >> g & 1)
                has[decision->pieces[p].node * GPUS_MAX + g] = true;
    if (lot->state != RUNS || lot->start != planner->now || memcmp(has, lot->has, sizeof has) != 0)
        fail_msg("job %u started at %lld ns, expected at %lld ns, or elsewhere", decision->job, (long long)planner->now,
                 (long long)lot->start);
}

static void compare_promises(const struct planner *planner, const struct sched *sched)
{
    for (uint32_t i = 0; i < JOB_COUNT; i++)
        if (planner->lots[i].state == PROMISED && sched_planned_start(sched, i) != planner->lots[i].start)
            fail_msg("at %lld ns job %u is promised %lld ns; expected %lld ns", (long long)planner->now, i,
                     (long long)sched_planned_start(sched, i), (long long)planner->lots[i].start);
}

static void play(struct planner *planner, struct setup *setup)
{
    time_ns wake = TIME_NEVER;
    for (time_ns next = next_instant(planner, wake); next != TIME_NEVER; next = next_instant(planner, wake)) {
        const struct decision *decisions;
        uint32_t running = 0;
        planner->now = next;
        struct sched *sched = setup->sched;
        tell(planner, sched);
        for (uint32_t i = 0; i < JOB_COUNT; i++)
            running += planner->lots[i].state == RUNS;
        plan_cycle(planner);
        const size_t count = sched_cycle(sched, planner->now, &decisions, &wake);
        for (size_t d = 0; d < count; d++) {
            const uint32_t job = decisions[d].job;
            compare_start(planner, &decisions[d]);
            planner->lots[job].ends = planner->now + planner->jobs[job].truth.duration;
            sched_job_started(sched, job, decisions[d].id, planner->now);
        }
        for (uint32_t i = 0; i < JOB_COUNT; i++)
            running -= planner->lots[i].state == RUNS;
        assert_int_equal(count, (uint32_t)-running);
        compare_promises(planner, sched);
        assert_lawful(sched_check(sched));
    }
}

struct tried {
    uint32_t moved, cancelled;
};

static void play_seed(uint64_t seed, struct tried *tried)
{
    static const uint16_t gpus[] = {1, 4, 2, 3};
    const struct random_jobs spec = {.count = JOB_COUNT,
                                     .nodes = 2 + (uint32_t)(seed % (NODES_MAX - 1)),
                                     .gpus = gpus[seed % 4],
                                     .request_classes = seed % 3 == 0 ? RANDOM_FLAT | RANDOM_GANG
                                                                      : RANDOM_SINGLE | RANDOM_GANG | RANDOM_FLAT,
                                     .load = 0.8 + 0.1 * (double)(seed % 6)};
    struct run_job *jobs = random_jobs_new(&spec, seed);
    struct setup setup = {.cluster = cluster_uniform_new(spec.nodes, spec.gpus),
                          .queues = queue_table_new(),
                          .policy = policy_config_default()};
    struct planner planner = {.jobs = jobs,
                              .nodes = spec.nodes,
                              .gpus = spec.gpus,
                              .cpu_milli = 2000u * spec.gpus,
                              .memory_mib = 2048u * spec.gpus};
    struct error error;
    setup.cluster->types[0].cpu_milli = planner.cpu_milli;
    setup.cluster->types[0].memory_mib = planner.memory_mib;
    setup.policy.placement = setup.policy.placement_firm = &placement_first_fit;
    setup.policy.backfill = &backfill_conservative;
    setup.policy.backfill_config = backfill_conservative.defaults;
    setup.policy.backfill_config.names_gpus = true;
    setup.sched = sched_new(setup.cluster, setup.queues, &setup.policy, &error);
    assert_non_null(setup.sched);
    give_limits(&planner, jobs, seed);
    play(&planner, &setup);
    for (uint32_t i = 0; i < JOB_COUNT; i++)
        assert_int_equal(planner.lots[i].state, GONE);
    struct sched_counts counts;
    sched_count(setup.sched, &counts);
    assert_int_equal(counts.late_starts, 0);
    tried->moved += planner.moved;
    tried->cancelled += planner.cancelled;
    sched_free(setup.sched);
    queue_table_free(setup.queues);
    cluster_free(setup.cluster);
    random_jobs_free(jobs);
}

TEST(all_move_up_as_planned)
{
    const struct test_seeds seeds = test_seeds(30, 1000);
    struct tried tried = {0};
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        play_seed(seed, &tried);
    assert_true(seeds.count == 1 || (tried.moved > seeds.count && tried.cancelled > seeds.count));
}
