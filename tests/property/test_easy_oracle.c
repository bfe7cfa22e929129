/* EASY backfill against a naive oracle: which job starts when and where, and that no job delays the head.
 *
 * The oracle knows no ledger, index or memo: at every cycle it counts what is free on each GPU from the list of jobs
 * that hold something, and what will be free at every planned end.  It reads the words of policies/backfill/easy.c and
 * policies/reservation/planned_start.c.  Limits are too long, exact, too short (nobody is killed), or missing.
 */
#include "tests/support/test.h"

#include "policies/backfill/backfills.h"
#include "policies/placement/placements.h"
#include "tests/support/interval.h"
#include "tests/support/random_jobs.h"

enum { NODES_MAX = 8, CELLS = NODES_MAX * NODE_GPUS_MAX, JOB_COUNT = 120, PLANNED_STARTS_MAX = 4 };

struct lot { /* what the oracle knows of a job */
    time_ns start, end, running_end, decided;
    uint32_t decided_cycle; /* 0: it waits */
    uint16_t held[CELLS];   /* milli, by node x NODE_GPUS_MAX + index */
};

struct foreseen {
    uint32_t job;
    time_ns start, end;
    uint16_t held[CELLS];
};

struct oracle {
    const struct run_job *jobs;
    uint32_t count, nodes, gpus, reservations;
    time_ns period, latency, now;
    uint32_t cycle;
    struct lot *lots;
    struct foreseen foreseen[PLANNED_STARTS_MAX];
    uint32_t foreseen_count;
    uint32_t overtakers;
};

/* ---- Where: the first fit ------------------------------------------------------------------------ */

static bool take_whole(const struct oracle *oracle, uint32_t gpus, uint16_t *free, uint16_t *held)
{
    for (uint32_t n = 0; n < oracle->nodes; n++) {
        uint32_t whole = 0;
        for (uint32_t g = 0; g < oracle->gpus; g++)
            whole += free[n * NODE_GPUS_MAX + g] == GPU_MILLI;
        if (whole < gpus)
            continue;
        for (uint32_t cell = n * NODE_GPUS_MAX; gpus > 0; cell++)
            if (free[cell] == GPU_MILLI) {
                held[cell] = GPU_MILLI;
                free[cell] = 0;
                gpus--;
            }
        return true;
    }
    return false;
}

static bool take_share(const struct oracle *oracle, uint16_t share, uint16_t *free, uint16_t *held)
{
    for (uint32_t n = 0; n < oracle->nodes; n++)
        for (uint32_t g = 0; g < oracle->gpus; g++) {
            uint32_t cell = n * NODE_GPUS_MAX + g;
            if (free[cell] < share)
                continue;
            held[cell] = (uint16_t)(held[cell] + share);
            free[cell] = (uint16_t)(free[cell] - share);
            return true;
        }
    return false;
}

static bool place(const struct oracle *oracle, uint32_t job, const uint16_t *free, uint16_t *held)
{
    uint16_t left[CELLS];
    memcpy(left, free, sizeof left);
    memset(held, 0, CELLS * sizeof *held);
    for (uint32_t i = 0; i < oracle->jobs[job].job.group_count; i++) {
        const struct job_group *group = job_group(&oracle->jobs[job].job, i);
        for (uint32_t m = 0; m < group->count; m++)
            if (group->request.gpus != 0 ? !take_whole(oracle, group->request.gpus, left, held)
                                         : !take_share(oracle, group->request.gpu_milli, left, held))
                return false;
    }
    return true;
}

/* ---- When -------------------------------------------------------------------------------------- */

static time_ns later(time_ns at, time_ns span)
{
    return span >= TIME_NEVER - at ? TIME_NEVER : at + span;
}

static bool holds(const struct oracle *oracle, const struct lot *lot)
{
    return lot->decided_cycle != 0 && (lot->end > oracle->now || lot->decided_cycle == oracle->cycle);
}

static time_ns running_end(const struct oracle *oracle, uint32_t job)
{
    time_ns end = later(oracle->lots[job].decided, oracle->jobs[job].job.limit);
    return end > oracle->now ? end : oracle->now + 1;
}

/* What leaves the cell after `from` and up to `until`. */
static uint32_t leaving(const struct oracle *oracle, uint32_t cell, time_ns from, time_ns until)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < oracle->count; i++)
        if (holds(oracle, &oracle->lots[i]) && running_end(oracle, i) > from && running_end(oracle, i) <= until)
            sum += oracle->lots[i].held[cell];
    return sum;
}

/* What is free at `at` for a job that stays so long, beside the planned starts. */
static void count_free(const struct oracle *oracle, time_ns at, time_ns length, uint16_t *free)
{
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        uint32_t left = GPU_MILLI, needed = 0;
        time_ns first = TIME_NEVER;
        for (uint32_t i = 0; i < oracle->count; i++)
            if (holds(oracle, &oracle->lots[i]) && (at == oracle->now || running_end(oracle, i) > at))
                left -= oracle->lots[i].held[cell];
        for (uint32_t f = 0; f < oracle->foreseen_count; f++) {
            const struct foreseen *other = &oracle->foreseen[f];
            if (other->held[cell] == 0 || other->start >= later(at, length) || other->end <= at)
                continue;
            needed += other->held[cell];
            first = other->start < first ? other->start : first;
        }
        uint32_t comes = needed > 0 ? leaving(oracle, cell, at, first) : 0;
        uint32_t lacking = needed > comes ? needed - comes : 0;
        free[cell] = (uint16_t)(left - (lacking < left ? lacking : left));
    }
}

/* The first planned end, of jobs and planned starts, after `at`. */
static time_ns next_end(const struct oracle *oracle, time_ns at)
{
    time_ns next = TIME_NEVER;
    for (uint32_t i = 0; i < oracle->count; i++)
        if (holds(oracle, &oracle->lots[i]) && running_end(oracle, i) > at && running_end(oracle, i) < next)
            next = running_end(oracle, i);
    for (uint32_t f = 0; f < oracle->foreseen_count; f++)
        if (oracle->foreseen[f].end > at && oracle->foreseen[f].end < next)
            next = oracle->foreseen[f].end;
    return next;
}

static bool foresee(struct oracle *oracle, uint32_t job)
{
    uint16_t free[CELLS];
    const time_ns length = oracle->jobs[job].job.limit;
    struct foreseen *own = &oracle->foreseen[oracle->foreseen_count];
    for (time_ns at = next_end(oracle, oracle->now); at != TIME_NEVER; at = next_end(oracle, at)) {
        count_free(oracle, at, length, free);
        if (!place(oracle, job, free, own->held))
            continue;
        own->job = job;
        own->start = at;
        own->end = later(at, length);
        oracle->foreseen_count++;
        return true;
    }
    return false;
}

static void decide(struct oracle *oracle)
{
    uint16_t free[CELLS];
    bool has_stopped = false;
    oracle->foreseen_count = 0;
    for (uint32_t i = 0; i < oracle->count && oracle->jobs[i].job.submit <= oracle->now; i++) {
        struct lot *lot = &oracle->lots[i];
        if (lot->decided_cycle != 0)
            continue;
        count_free(oracle, oracle->now, oracle->jobs[i].job.limit, free);
        if (place(oracle, i, free, lot->held)) {
            lot->decided_cycle = oracle->cycle;
            lot->decided = oracle->now;
            lot->start = oracle->now + oracle->latency;
            lot->end = lot->start + oracle->jobs[i].truth.duration;
            oracle->overtakers += has_stopped;
            continue;
        }
        has_stopped = true;
        if (oracle->foreseen_count < oracle->reservations && !foresee(oracle, i))
            return;
    }
}

/* The first end, submission or START that takes effect to come, or on the grid after it. */
static time_ns next_cycle(const struct oracle *oracle)
{
    time_ns next = TIME_NEVER;
    for (uint32_t i = 0; i < oracle->count; i++) {
        const struct lot *lot = &oracle->lots[i];
        time_ns submit = oracle->jobs[i].job.submit;
        if (submit > oracle->now && submit < next)
            next = submit;
        if (holds(oracle, lot) && lot->end < next)
            next = lot->end;
        if (holds(oracle, lot) && lot->start > oracle->now && lot->start < next)
            next = lot->start;
    }
    if (oracle->period == 0 || next == TIME_NEVER)
        return next;
    next = (next + oracle->period - 1) / oracle->period * oracle->period;
    return next > oracle->now ? next : oracle->now + oracle->period;
}

static void foretell(struct oracle *oracle)
{
    oracle->now = -1;
    for (time_ns next = next_cycle(oracle); next != TIME_NEVER; next = next_cycle(oracle)) {
        oracle->now = next;
        oracle->cycle++;
        decide(oracle);
    }
}

/* ---- The comparison ---------------------------------------------------------------------------- */

static bool is_same(const struct oracle *oracle, const struct run_log *log, uint32_t job)
{
    uint16_t held[CELLS];
    run_placement_read(run_attempt(log, job, 0)->placement, NODES_MAX, held);
    return log->jobs[job].start == oracle->lots[job].start && memcmp(held, oracle->lots[job].held, sizeof held) == 0;
}

/* Tells of the first that went another way: the others may follow from it. */
static void compare(const struct oracle *oracle, const struct run_log *log, uint64_t seed)
{
    time_ns first_at = TIME_NEVER;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < oracle->count; i++) {
        time_ns ours = log->jobs[i].start, at = oracle->lots[i].start;
        at = ours < at ? ours : at;
        if (!is_same(oracle, log, i) && at < first_at) {
            first_at = at;
            first = i;
        }
    }
    if (first != UINT32_MAX)
        fail_msg("seed %llu: job %u, submitted at %lld ns, started at %lld ns on %s; expected %lld "
                 "ns (%u reservations, period %lld ns, latency %lld ns, %u x %u GPUs)",
                 (unsigned long long)seed, first, (long long)oracle->jobs[first].job.submit,
                 (long long)log->jobs[first].start, run_attempt(log, first, 0)->placement,
                 (long long)oracle->lots[first].start, oracle->reservations, (long long)oracle->period,
                 (long long)oracle->latency, oracle->nodes, oracle->gpus);
}

/* Too long, exact, too short, missing. */
static void give_limits(struct run_job *jobs, uint64_t seed)
{
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint32_t dice = (uint32_t)(random >> 40) % 16;
        const time_ns duration = jobs[i].truth.duration;
        time_ns limit = dice < 4 ? duration : dice < 5 ? duration / 2 : duration + (duration / 4) * (dice % 7) + 1;
        jobs[i].job.limit = dice == 15 && seed % 4 == 0 ? TIME_NEVER : limit > 0 ? limit : 1;
    }
}

static uint32_t check_seed(unsigned request_classes, uint32_t reservations, uint64_t seed)
{
    static const uint16_t gpus[] = {1, 8, 4, 2, 1, 3};
    struct random_jobs spec = {.count = JOB_COUNT,
                               .nodes = 2 + (uint32_t)(seed % (NODES_MAX - 1)),
                               .gpus = gpus[seed % 6],
                               .request_classes = request_classes,
                               .load = 0.7 + 0.1 * (double)(seed % 7)};
    struct run_job *jobs = random_jobs_new(&spec, seed);
    give_limits(jobs, seed);
    struct cluster *cluster = cluster_uniform_new(spec.nodes, spec.gpus);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy.placement = setup.policy.placement_firm = &placement_first_fit;
    setup.policy.backfill = &backfill_easy;
    setup.policy.backfill_config = backfill_easy.defaults;
    setup.policy.backfill_config.names_gpus = true;
    setup.policy.backfill_config.reservations = reservations;
    setup.world.scheduler_period = seed / 2 % 2 == 0 ? 0 : TIME_NS_PER_S;
    setup.world.decision_latency = seed / 4 % 2 == 0 ? 0 : 2500 * TIME_NS_PER_MS;
    struct oracle oracle = {.jobs = jobs,
                            .count = spec.count,
                            .nodes = spec.nodes,
                            .gpus = spec.gpus,
                            .reservations = reservations,
                            .period = setup.world.scheduler_period,
                            .latency = setup.world.decision_latency,
                            .lots = mem_zalloc(spec.count, sizeof *oracle.lots)};
    foretell(&oracle);
    struct run_log *log = run_jobs(&setup, jobs, spec.count);
    compare(&oracle, log, seed);
    run_log_free(log);
    mem_free(oracle.lots);
    cluster_free(cluster);
    random_jobs_free(jobs);
    return oracle.overtakers;
}

static void check(unsigned request_classes, uint32_t reservations)
{
    const struct test_seeds seeds = test_seeds(40, 1000);
    uint32_t overtakers = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        overtakers += check_seed(request_classes, reservations, seed);
    assert_true(seeds.count == 1 || overtakers > seeds.count); /* or nothing was compared */
}

TEST(one_gpu_members)
{
    check(RANDOM_FLAT, 1);
}

TEST(whole_nodes_and_parts_of_nodes)
{
    check(RANDOM_SINGLE | RANDOM_GANG, 1);
}

TEST(shares_beside_whole_gpus)
{
    check(RANDOM_SHARE | RANDOM_SINGLE | RANDOM_GROUPS, 1);
}

TEST(several_reservations)
{
    check(RANDOM_SINGLE | RANDOM_GANG | RANDOM_FLAT, 3);
    check(RANDOM_SHARE | RANDOM_SINGLE, PLANNED_STARTS_MAX);
}
