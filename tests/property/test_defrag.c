/* Defragmentation in random worlds with truthful estimates (tests/support/random_world.h), where all jobs that end
 * have said when.  From the decisions and the jobs alone:
 *
 *   guard    no job is moved whose end is nearer than what the move costs it: the grace, the restart, and what it ran
 *            since
 *            its last checkpoint if it cannot write one within the grace
 *   budget   in no cycle are more jobs moved for one job than `moves_per_plan`
 *   place    where nothing fails a job moved as a whole is promised a place in the same cycle, and starts there in
 *            the first cycle after all that was leaving then has left
 *
 * and what tests/support/honest_rules.h watches: gangs, loops, promises that are kept.  WINDTUNNEL_TEST_SEED plays one
 * seed. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/defrag/defrag.h"
#include "policies/estimate/estimates.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemptions.h"
#include "policies/quota/quotas.h"
#include "policies/state/sched_state.h"
#include "tests/support/honest_rules.h"
#include "tests/support/interval.h"

struct defrag_watch {
    struct honest_rules rules; /* first */
    struct honest_watch of_rules;
    time_ns ran[RANDOM_WORLD_JOBS_MAX];        /* in attempts that were evicted, until that was decided */
    uint32_t place_due[RANDOM_WORLD_JOBS_MAX]; /* tick at which it has started at the latest; 0: it is not moved */
};

struct seen {
    uint64_t moves, places, near_ends, again;
};

/* ---- The rules ---- */

static time_ns grace_of(const struct honest_world *world, const struct job *job)
{
    const time_ns granted = world->scenario->policy.preempt.grace;
    if (world->scenario->policy.preemption->is_kill || (job->checkpoint.interval == 0 && job->checkpoint.duration == 0))
        return 0;
    return job->grace > 0 && job->grace < granted ? job->grace : granted;
}

static time_ns cost_of(const struct honest_world *world, const struct honest_job *job)
{
    const struct checkpoint_plan *plan = &job->job.checkpoint;
    const time_ns grace = grace_of(world, &job->job);
    time_ns unsaved = world->now - job->decided;
    if (grace > 0 && plan->duration <= grace)
        unsaved = 0;
    else if (plan->interval > 0)
        unsaved %= plan->interval;
    return grace + plan->restart + unsaved;
}

/* What is decided need not come true. */
static bool may_fail(const struct honest_world *world)
{
    return world->scenario->fault_count > 0 || world->scenario->refuse_milli > 0;
}

/* Since its minimum runs. */
static time_ns run_of(const struct honest_world *world, uint32_t j)
{
    const time_ns since = world->jobs[j].whole_since;
    return since == TIME_NEVER ? 0 : world->now - since;
}

/* ran: in attempts before, all of which may have been saved. */
static void check_guard(struct honest_world *world, uint32_t j, time_ns ran, struct seen *seen)
{
    const struct honest_job *job = &world->jobs[j];
    if (job->job.estimate <= 0 || !world->scenario->policy.defrag_config.spares_ending)
        return;
    const time_ns planned = job->decided + job->job.estimate - world->now;
    const time_ns unsaved = job->job.estimate - ran - run_of(world, j);
    const time_ns left = planned < unsaved ? planned : unsaved;
    const time_ns cost = cost_of(world, job);
    seen->again += ran > 0;
    seen->near_ends += left <= 2 * cost;
    if (left <= cost)
        honest_world_break(world, "guard", world->tick, j, "it ends in %lld ms, the move costs %lld",
                           (long long)(left / 1000000), (long long)(cost / 1000000));
}

static void check_plan(struct honest_world *world, const struct decision *all, size_t at)
{
    const int64_t bound = world->scenario->policy.defrag_config.moves_per_plan;
    int64_t moved = 0;
    for (size_t d = 0; d <= at; d++)
        moved +=
            all[d].kind == DECISION_EVICT && all[d].reason == REASON_CONSOLIDATED && all[d].for_job == all[at].for_job;
    if (bound >= 0 && moved > bound)
        honest_world_break(world, "budget", world->tick, world->job_of[all[at].job], "%lld jobs moved for one",
                           (long long)moved);
}

/* When all that leaves now, with the decisions of this cycle, must have left. */
static uint32_t all_left_by(const struct honest_world *world)
{
    const time_ns grace = world->scenario->policy.preempt.grace, period = world->scenario->period;
    return world->tick + 2 + (uint32_t)((grace + period - 1) / period);
}

static void check_place(struct honest_world *world, const struct decision *all, size_t count, size_t at,
                        struct defrag_watch *watch)
{
    bool is_promised = false;
    if (!world->scenario->policy.defrag_config.holds_places || all[at].is_partial)
        return;
    for (size_t d = at + 1; d < count; d++)
        is_promised |= all[d].kind == DECISION_RESERVE && all[d].job == all[at].job;
    if (!is_promised)
        honest_world_break(world, "place", world->tick, world->job_of[all[at].job],
                           "it was moved, and is promised no place");
    watch->place_due[world->job_of[all[at].job]] = all_left_by(world);
}

static struct seen *seen_of_world; /* where what was seen is counted */

static void on_decision(struct honest_world *world, const struct decision *all, size_t count, size_t at)
{
    struct defrag_watch *watch = world->watch.self;
    const uint32_t j = world->job_of[all[at].job];
    if (all[at].kind == DECISION_START && watch->place_due[j] > 0) {
        seen_of_world->places++;
        watch->place_due[j] = 0;
    }
    if (all[at].kind == DECISION_EVICT && all[at].reason == REASON_CONSOLIDATED) {
        seen_of_world->moves++;
        check_guard(world, j, watch->ran[j], seen_of_world);
        check_plan(world, all, at);
        check_place(world, all, count, at, watch);
    }
    if (all[at].kind == DECISION_EVICT && !all[at].is_partial && !may_fail(world) && !world->jobs[j].was_retried)
        watch->ran[j] += run_of(world, j);
    watch->of_rules.on_decision(world, all, count, at);
}

static void on_tick(struct honest_world *world, bool had_cycle)
{
    struct defrag_watch *watch = world->watch.self;
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        if (world->jobs[j].state != JOB_THERE)
            watch->place_due[j] = 0; /* it ended while it could save */
        if (watch->place_due[j] > 0 && world->tick > watch->place_due[j] && !may_fail(world))
            honest_world_break(world, "place", world->tick, j, "the place held for it is not taken");
    }
    watch->of_rules.on_tick(world, had_cycle);
}

/* ---- Worlds ---- */

/* The preset whose name it is. */
static uint32_t preset_of(const char *name)
{
    uint32_t p = 0;
    while (strcmp(policy_preset_texts[p].name, name) != 0)
        p++;
    return p;
}

static void make_truthful(struct random_world *scenario, struct random_stream *stream)
{
    for (uint32_t j = 0; j < scenario->job_count; j++) {
        struct random_job *random = &scenario->jobs[j];
        if (random_below(stream, 2) == 0)
            random->duration = (1 + random_below(stream, 60)) * scenario->period;
        random->job.estimate = random->duration == TIME_NEVER ? 0 : random->duration;
        random->job.checkpoint.restart = random_below(stream, 4) * scenario->period;
        if (random_below(stream, 3) == 0)
            random->job.checkpoint.interval = (1 + random_below(stream, 9)) * scenario->period;
        if (random_below(stream, 3) == 0) /* more than most graces */
            random->job.checkpoint.duration = 2 * scenario->period;
        random->is_retried = false;
    }
}

static void make_policy(struct random_world *scenario, struct random_stream *stream)
{
    struct policy_config *policy = &scenario->policy;
    policy->estimate = &estimate_declared;
    policy->defrag_config.moves_per_plan = (int64_t)random_below(stream, 6) - 1;
    policy->defrag_config.spares_ending = random_below(stream, 4) > 0;
    policy->defrag_config.holds_places = random_below(stream, 4) > 0;
    policy->reservation_expiry = TIME_NEVER;
    policy->preempt.search = random_below(stream, 2) == 0 ? SEARCH_NODE : SEARCH_ORDERED;
    policy->guarantees = GUARANTEE_GANG;
    if (random_below(stream, 3) > 0) /* it leaves no node free */
        policy->placement = policy->placement_firm = &placement_worst_fit;
    if (random_below(stream, 2) == 0) {
        policy->quota = &quota_none;
        policy->action_count = 3;
        policy->actions[0] = ACTION_ALLOCATE;
        policy->actions[1] = ACTION_CONSOLIDATION;
        policy->actions[2] = ACTION_STALE_GANG;
    }
}

static void play(const struct random_world *scenario, struct seen *seen)
{
    static struct honest_world world;
    static struct defrag_watch watch;
    memset(&watch, 0, sizeof watch);
    seen_of_world = seen;
    honest_world_open(&world, scenario, NULL);
    honest_rules_watch(&watch.rules, &world);
    watch.of_rules = world.watch; /* whose `self`, the rules, is ours too: they stand first */
    world.watch.on_decision = on_decision;
    world.watch.on_tick = on_tick;
    while (honest_world_tick(&world))
        ;
    if (world.broken.rule != NULL)
        fail_msg("'%s' is broken; seed %llu, kind %d, tick %u, job %d: %s", world.broken.rule,
                 (unsigned long long)scenario->seed, (int)scenario->kind, world.broken.tick, (int)world.broken.job,
                 world.broken.what);
    honest_world_close(&world);
}

TEST(test_random_worlds)
{
    static struct random_world scenario;
    struct seen seen = {0};
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? 8000 : 800;
    for (uint64_t seed = first; seed < first + count; seed++)
        for (enum random_world_kind kind = RANDOM_WORLD_BUSY; kind <= RANDOM_WORLD_QUIET; kind++) {
            struct random_stream stream;
            random_stream_init(&stream, seed, "defrag", kind);
            random_world_make(&scenario, seed, preset_of("kai"), kind);
            make_truthful(&scenario, &stream);
            make_policy(&scenario, &stream);
            if (random_below(&stream, 2) == 0)
                scenario.fault_count = scenario.refuse_milli = scenario.delay_ticks = 0;
            play(&scenario, &seen);
        }
    print_message("%llu moves, %llu of them near their end, %llu after an eviction, %llu places taken\n",
                  (unsigned long long)seen.moves, (unsigned long long)seen.near_ends, (unsigned long long)seen.again,
                  (unsigned long long)seen.places);
    if (only == NULL) /* worlds where nothing moves prove nothing */
        assert_true(seen.moves > 200 && seen.near_ends > 20 && seen.again > 3 && seen.places > 100);
}
