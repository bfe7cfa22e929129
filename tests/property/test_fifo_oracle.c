/* Strict FIFO against a naive oracle: who starts when, and where.
 *
 * The oracle knows no ledger, index or memo: at every cycle it counts what is free from the list of jobs that hold
 * something, and starts waiting jobs in order until one does not fit.  It reads the words of
 * policies/placement/placement.h: the highest score, then the lowest node, then the lowest GPU.
 */
#include "tests/support/test.h"

#include "policies/placement/placements.h"
#include "tests/support/interval.h"
#include "tests/support/random_jobs.h"

enum { NODES_MAX = 12, CELLS = NODES_MAX * NODE_GPUS_MAX, JOB_COUNT = 250 };

enum fit { BEST_FIT, FIRST_FIT, WORST_FIT, FIT_COUNT };
static const struct placement_policy *const policies[FIT_COUNT] = {&placement_best_fit, &placement_first_fit,
                                                                   &placement_worst_fit};

struct lot { /* what the oracle knows of a job */
    time_ns start, end;
    uint32_t decided_cycle; /* 0: it waits */
    uint16_t held[CELLS];   /* milli, by node x NODE_GPUS_MAX + index */
};

struct oracle {
    const struct run_job *jobs;
    uint32_t count, nodes, gpus;
    enum fit fit;
    time_ns period, latency;
    struct lot *lots;
    uint16_t free[CELLS];
};

/* ---- Where ------------------------------------------------------------------------------------- */

static uint32_t whole_free(const struct oracle *oracle, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < oracle->gpus; g++)
        count += oracle->free[node * NODE_GPUS_MAX + g] == GPU_MILLI;
    return count;
}

/* Is a spot with `left` milli on its GPU, on a node of `whole` free ones, better than the best so far? */
static bool is_better(enum fit fit, uint32_t left, uint32_t whole, uint32_t best_left, uint32_t best_whole)
{
    if (fit == FIRST_FIT)
        return false; /* all are equal: the first stays */
    bool is_less = left != best_left ? left < best_left : left == GPU_MILLI && whole < best_whole;
    bool is_more = left != best_left ? left > best_left : left == GPU_MILLI && whole > best_whole;
    return fit == BEST_FIT ? is_less : is_more;
}

static bool take_whole(struct oracle *oracle, uint32_t gpus, uint16_t *held)
{
    uint32_t best = NODES_MAX, best_whole = 0;
    for (uint32_t n = 0; n < oracle->nodes; n++) {
        uint32_t whole = whole_free(oracle, n);
        if (whole < gpus)
            continue;
        if (best == NODES_MAX || is_better(oracle->fit, GPU_MILLI, whole, GPU_MILLI, best_whole)) {
            best = n;
            best_whole = whole;
        }
    }
    if (best == NODES_MAX)
        return false;
    for (uint32_t cell = best * NODE_GPUS_MAX; gpus > 0; cell++)
        if (oracle->free[cell] == GPU_MILLI) {
            held[cell] = GPU_MILLI;
            oracle->free[cell] = 0;
            gpus--;
        }
    return true;
}

static bool take_share(struct oracle *oracle, uint16_t share, uint16_t *held)
{
    uint32_t best = CELLS, best_left = 0, best_whole = 0;
    for (uint32_t n = 0; n < oracle->nodes; n++)
        for (uint32_t g = 0; g < oracle->gpus; g++) {
            uint32_t cell = n * NODE_GPUS_MAX + g, left = oracle->free[cell];
            uint32_t whole = whole_free(oracle, n);
            if (left < share)
                continue;
            if (best == CELLS || is_better(oracle->fit, left, whole, best_left, best_whole)) {
                best = cell;
                best_left = left;
                best_whole = whole;
            }
        }
    if (best == CELLS)
        return false;
    held[best] = (uint16_t)(held[best] + share);
    oracle->free[best] = (uint16_t)(oracle->free[best] - share);
    return true;
}

static bool place(struct oracle *oracle, const struct job *job, uint16_t *held)
{
    memset(held, 0, CELLS * sizeof *held);
    for (uint32_t i = 0; i < job->group_count; i++) {
        const struct job_group *group = job_group(job, i);
        for (uint32_t m = 0; m < group->count; m++)
            if (group->request.gpus != 0 ? !take_whole(oracle, group->request.gpus, held)
                                         : !take_share(oracle, group->request.gpu_milli, held))
                return false;
    }
    return true;
}

/* ---- When -------------------------------------------------------------------------------------- */

/* A job that was decided in an earlier cycle and has ended by now holds nothing. */
static bool holds(const struct lot *lot, time_ns now, uint32_t cycle)
{
    return lot->decided_cycle != 0 && (lot->end > now || lot->decided_cycle == cycle);
}

static void count_free(struct oracle *oracle, time_ns now, uint32_t cycle)
{
    for (uint32_t cell = 0; cell < CELLS; cell++)
        oracle->free[cell] = GPU_MILLI;
    for (uint32_t i = 0; i < oracle->count; i++)
        for (uint32_t cell = 0; cell < CELLS && holds(&oracle->lots[i], now, cycle); cell++)
            oracle->free[cell] = (uint16_t)(oracle->free[cell] - oracle->lots[i].held[cell]);
}

/* When the next cycle is: at the first end or submission to come, or on the grid after it. */
static time_ns next_cycle(const struct oracle *oracle, uint32_t head, time_ns now, uint32_t cycle)
{
    time_ns next = oracle->jobs[head].job.submit;
    if (next <= now)
        next = TIME_NEVER; /* it waits already: only an end can help */
    for (uint32_t i = 0; i < head; i++)
        if (holds(&oracle->lots[i], now, cycle) && oracle->lots[i].end < next)
            next = oracle->lots[i].end;
    if (oracle->period == 0)
        return next;
    next = (next + oracle->period - 1) / oracle->period * oracle->period;
    return next > now ? next : now + oracle->period;
}

static void foretell(struct oracle *oracle)
{
    uint32_t head = 0, cycle = 0;
    time_ns now = -1;
    while (head < oracle->count) {
        now = next_cycle(oracle, head, now, cycle++);
        while (head < oracle->count && oracle->jobs[head].job.submit <= now) {
            struct lot *lot = &oracle->lots[head];
            count_free(oracle, now, cycle);
            if (!place(oracle, &oracle->jobs[head].job, lot->held))
                break;
            lot->decided_cycle = cycle;
            lot->start = now + oracle->latency;
            lot->end = lot->start + oracle->jobs[head++].truth.duration;
        }
    }
}

/* ---- The comparison ---------------------------------------------------------------------------- */

static void compare(const struct oracle *oracle, const struct run_log *log, uint64_t seed)
{
    uint16_t held[CELLS];
    for (uint32_t i = 0; i < oracle->count; i++) {
        const struct lot *lot = &oracle->lots[i];
        const char *placement = run_attempt(log, i, 0)->placement;
        run_placement_read(placement, NODES_MAX, held);
        if (log->jobs[i].start == lot->start && log->jobs[i].end == lot->end &&
            memcmp(held, lot->held, sizeof held) == 0)
            continue;
        print_error("seed %llu: job %u, submitted at %lld ns, started at %lld ns on %s; expected "
                    "%lld ns on",
                    (unsigned long long)seed, i, (long long)oracle->jobs[i].job.submit, (long long)log->jobs[i].start,
                    placement, (long long)lot->start);
        for (uint32_t cell = 0; cell < CELLS; cell++)
            if (lot->held[cell] != 0)
                print_error(" n%u:%u@%u", cell / NODE_GPUS_MAX, cell % NODE_GPUS_MAX, lot->held[cell]);
        fail_msg(" (%s, period %lld ns, latency %lld ns, %u x %u GPUs)", policies[oracle->fit]->name,
                 (long long)oracle->period, (long long)oracle->latency, oracle->nodes, oracle->gpus);
    }
}

static void check_seed(unsigned request_classes, enum fit fit, uint64_t seed)
{
    static const uint16_t gpus[] = {8, 8, 4, 1, 3, 16};
    struct random_jobs spec = {.count = JOB_COUNT,
                               .nodes = 2 + (uint32_t)(seed % (NODES_MAX - 1)),
                               .gpus = gpus[seed % 6],
                               .request_classes = request_classes,
                               .load = 0.6 + 0.1 * (double)(seed % 7)};
    struct run_job *jobs = random_jobs_new(&spec, seed);
    struct cluster *cluster = cluster_uniform_new(spec.nodes, spec.gpus);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy.placement = policies[fit];
    setup.world.scheduler_period = seed / 2 % 2 == 0 ? 0 : TIME_NS_PER_S;
    setup.world.decision_latency = seed / 4 % 2 == 0 ? 0 : 2500 * TIME_NS_PER_MS;
    struct oracle oracle = {.jobs = jobs,
                            .count = spec.count,
                            .nodes = spec.nodes,
                            .gpus = spec.gpus,
                            .fit = fit,
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
}

static void check(unsigned request_classes, enum fit fit)
{
    uint64_t seeds = test_is_full() ? 1000 : 60;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        check_seed(request_classes, fit, seed);
}

TEST(test_whole_nodes)
{
    check(RANDOM_GANG, BEST_FIT);
}

TEST(test_straddling)
{
    for (enum fit fit = 0; fit < FIT_COUNT; fit++)
        check(RANDOM_FLAT, fit);
}

TEST(test_single_best_fit)
{
    check(RANDOM_SINGLE, BEST_FIT);
}

TEST(test_single_first_fit)
{
    check(RANDOM_SINGLE, FIRST_FIT);
}

TEST(test_single_worst_fit)
{
    check(RANDOM_SINGLE, WORST_FIT);
}

TEST(test_shares_best_fit)
{
    check(RANDOM_SHARE | RANDOM_SINGLE, BEST_FIT);
}

TEST(test_shares_first_fit)
{
    check(RANDOM_SHARE | RANDOM_SINGLE, FIRST_FIT);
}

TEST(test_shares_worst_fit)
{
    check(RANDOM_SHARE | RANDOM_SINGLE, WORST_FIT);
}

static const unsigned everything = RANDOM_SINGLE | RANDOM_GANG | RANDOM_FLAT | RANDOM_SHARE | RANDOM_GROUPS;

TEST(test_everything_best_fit)
{
    check(everything, BEST_FIT);
}

TEST(test_everything_first_fit)
{
    check(everything, FIRST_FIT);
}

TEST(test_everything_worst_fit)
{
    check(everything, WORST_FIT);
}
