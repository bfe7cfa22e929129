/* A run that is forked at a moment, under the same policy, is the run that was never forked: the same fingerprint, and
 * the same rows from the moment on.  For every preset in a world with all physics on, and in random worlds under random
 * policies, at moments between events, at events and a nanosecond after them.  Another policy takes over at any moment:
 * every invariant holds, and each job that had not ended has its row. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "base/random.h"
#include "policies/config/presets.h"
#include "sim/scenario/scenario.h"
#include "tests/support/forked.h"
#include "tests/support/interval.h"
#include "tests/support/random_policy.h"
#include "tests/support/random_sizes.h"
#include "tests/support/rich_world.h"
#include "tests/support/scratch.h"
#include "tests/support/told.h"

enum {
    MOMENTS = 4,
    MOMENTS_SHARED = 16,
    MOMENTS_FULL = 40,
    DRAWS_MAX = 200,
    SEEDS_SMALL = 20,
    SWITCHES_SMALL = 60,
    SEEDS_FULL = 2000,
    STALL_STEPS = 2000
};

#define HOUR (3600 * TIME_NS_PER_S)

/* ---- Runs ---- */

enum { NEVER_FORKED = -1 };

/* at: of the fork; NEVER_FORKED: none.  other: the policy that takes over there; NULL: none.  Every invariant is
 * checked at every instant. */
static struct error play(const struct scenario *scenario, struct told *told, time_ns at, const struct scenario *other)
{
    struct job_source *source;
    told_open(told, scenario->cluster->gpu_count);
    const struct record_sink sink = told_sink(told);
    TRY(scenario_open(scenario, &source));
    struct engine_config config = scenario_engine(scenario, source);
    config.sinks = &sink;
    config.sink_count = 1;
    config.is_checked = true;
    struct engine_policy policy = {0};
    if (other != NULL)
        policy = (struct engine_policy){&other->policy, other->typical, other->typical_count};
    struct error error = at == NEVER_FORKED
                             ? engine_run(&config, &told->result)
                             : forked_run(&config, scenario, at, other != NULL ? &policy : NULL, &told->result);
    job_source_close(source);
    return error;
}

/* ---- Comparisons ---- */

static bool fails(const char *what, const char *name, time_ns at)
{
    print_error("%s, forked at %.9f s: %s\n", name, time_to_seconds(at), what);
    return false;
}

static bool fork_is_same(const struct scenario *scenario, const struct told *whole, time_ns at, const char *name)
{
    struct told fork;
    told_forget();
    struct error error = play(scenario, &fork, at, NULL);
    if (!error_is(error))
        told_compare_fork(whole, &fork, at);
    bool is_good = !error_is(error) || fails(error_message(&error), name, at);
    if (told_broken()[0] != '\0')
        is_good = fails(told_broken(), name, at);
    error_release(&error);
    told_release(&fork);
    return is_good;
}

/* Times of the run, `least` in the small size: at its events, a nanosecond later, and between, but before its last
 * event. */
static uint32_t choose_moments(const struct told *whole, uint64_t seed, uint32_t least, time_ns moments[MOMENTS_FULL])
{
    struct random_stream stream;
    const uint32_t wanted = test_is_full() ? MOMENTS_FULL : least;
    uint32_t count = 0;
    random_stream_init(&stream, seed, "moments", 0);
    time_ns last = 0;
    for (size_t i = 0; i < whole->attempt_count; i++)
        last = whole->attempts[i].end > last ? whole->attempts[i].end : last;
    for (uint32_t i = 0; i < wanted && whole->attempt_count > 0; i++) {
        const time_ns end = whole->attempts[random_below(&stream, (uint32_t)whole->attempt_count)].end;
        const time_ns shift[] = {0, 1, (time_ns)random_below(&stream, 600000) * TIME_NS_PER_MS};
        if (end + shift[i % 3] < last)
            moments[count++] = end + shift[i % 3];
    }
    return count;
}

/* The number of forks made; -1: one differs. */
static int check_scenario(const struct scenario *scenario, uint64_t seed, uint32_t least, const char *name)
{
    struct told whole;
    time_ns moments[MOMENTS_FULL];
    bool is_good = true;
    struct error error = play(scenario, &whole, NEVER_FORKED, NULL);
    if (error_is(error))
        fail_msg("%s: %s", name, error_message(&error));
    const uint32_t count = choose_moments(&whole, seed, least, moments);
    for (uint32_t i = 0; i < count; i++)
        is_good = fork_is_same(scenario, &whole, moments[i], name) && is_good;
    told_release(&whole);
    return is_good ? (int)count : -1;
}

/* ---- Presets, with all physics ---- */

static void load_physics(struct scenario *scenario, const char *preset, const char *const *more, size_t more_count)
{
    const char *sets[24] = {"cluster.pools.h100.nodes=10",
                            "cluster.fabric.nodes_per_unit=5",
                            "workload.load_gpus=80",
                            "workload.synth.duration=30h",
                            "workload.synth.tenants.projects=12",
                            "workload.synth.tenants.teams=4",
                            "workload.synth.classes.large training.sizes=[{\"weight\": 3, \"gpus\": 16, \"nodes\": 2}, "
                            "{\"weight\": 1, \"gpus\": 32, \"nodes\": 4}]",
                            "world.checkpoints.plans.0.interval=20m",
                            "world.checkpoints.storage_gb_per_s=5",
                            "world.end=40h",
                            "world.warmup=2h",
                            "world.faults={\"out_of_memory_per_job_h\": 0.05, \"runaway_per_job_h\": 0.05, "
                            "\"fatal_per_job_h\": 0.05}"};
    size_t count = 12;
    for (size_t i = 0; i < more_count; i++)
        sets[count++] = more[i];
    const struct scenario_options options = {
        .path = "scenarios/h100-500x8-physics.json", .policy = preset, .sets = sets, .set_count = count};
    struct error error = scenario_load(scenario, &options);
    if (error_is(error))
        fail_msg("%s: %s", preset, error_message(&error));
}

TEST(test_presets)
{
    static const char *const latency[] = {"world.decision_latency_s=40", "world.network=alone"};
    static const char *const free_checkpoints[] = {"world.checkpoints.cost=free", "world.scheduler_period_s=0"};
    int broken = 0, made = 0;
    for (uint32_t p = 0; policy_preset_texts[p].name != NULL; p++) {
        struct scenario scenario;
        struct capacity_step steps[RANDOM_SIZES];
        const char *const *more = p % 3 == 1 ? latency : free_checkpoints;
        load_physics(&scenario, policy_preset_texts[p].name, more, p % 3 == 0 ? 0 : 2);
        if (p % 2 == 1)
            scenario.world.capacity = random_sizes(steps, scenario.cluster, p, 30 * HOUR);
        const int forks = check_scenario(&scenario, p, MOMENTS, policy_preset_texts[p].name);
        broken += forks < 0;
        made += forks;
        scenario_release(&scenario);
    }
    assert_int_equal(broken, 0);
    print_message("%d forks\n", made);
}

TEST(test_sharing)
{
    static const char *const policies[] = {"mps", "trust", "timeslice", "mig"};
    int broken = 0;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct scenario scenario;
        char sharing[64];
        const char *more[] = {sharing, "policy.idle.policy=tell", "policy.warm_weight=500", "world.sharing=measured"};
        snprintf(sharing, sizeof sharing, "policy.sharing.policy=%s", policies[p]);
        load_physics(&scenario, "windtunnel", more, 4);
        broken += check_scenario(&scenario, p, MOMENTS_SHARED, policies[p]) < 0;
        scenario_release(&scenario);
    }
    assert_int_equal(broken, 0);
}

/* ---- Another policy takes over ---- */

/* Jobs that had not ended have a row each, and what they waited for adds up (told_sink).  At a moment at which a part
 * of a job is leaving no policy can take over: that is counted in *between; NULL: an error as any other. */
static bool adopts(const struct scenario *scenario, const struct scenario *other, const struct told *whole, time_ns at,
                   const char *name, int *between)
{
    struct told fork;
    told_forget();
    struct error error = play(scenario, &fork, at, other);
    const bool is_between = between != NULL && error_is(error) &&
                            strstr(error_message(&error), "some members of a job, but not all, are leaving") != NULL;
    bool is_good = !error_is(error) || is_between || fails(error_message(&error), name, at);
    if (is_between)
        ++*between;
    for (job_id id = 0; id < whole->id_end && is_good && !is_between; id++)
        if (whole->job_rows[id] > 0 && (whole->jobs[id].end >= at) != (id < fork.id_end && fork.job_rows[id] > 0))
            is_good = fails("not each job that had not ended has a row", name, at);
    if (told_broken()[0] != '\0')
        is_good = fails(told_broken(), name, at);
    error_release(&error);
    told_release(&fork);
    return is_good;
}

/* From each preset to the next one.  A fork may not share GPUs in another way (studies/run/fork.h). */
TEST(test_switches)
{
    static const char *const more[] = {"policy.sharing.policy=as_asked", "world.decision_latency_s=40"};
    uint32_t count = 0;
    int broken = 0, made = 0;
    while (policy_preset_texts[count].name != NULL)
        count++;
    for (uint32_t p = 0; p < count; p++) {
        const char *from = policy_preset_texts[p].name, *to = policy_preset_texts[(p + 1) % count].name;
        struct scenario scenario, other;
        struct capacity_step steps[RANDOM_SIZES];
        struct told whole;
        time_ns moments[MOMENTS_FULL];
        load_physics(&scenario, from, more, 1 + p % 2);
        load_physics(&other, to, more, 1 + p % 2);
        if (p % 2 == 1)
            scenario.world.capacity = other.world.capacity = random_sizes(steps, scenario.cluster, p, 30 * HOUR);
        assert_false(error_is(play(&scenario, &whole, NEVER_FORKED, NULL)));
        const uint32_t moment_count = choose_moments(&whole, p, MOMENTS, moments);
        for (uint32_t i = 0; i < moment_count; i++)
            broken += !adopts(&scenario, &other, &whole, moments[i], to, NULL);
        made += (int)moment_count;
        told_release(&whole);
        scenario_release(&scenario);
        scenario_release(&other);
    }
    print_message("%d switches\n", made);
    assert_int_equal(broken, 0);
}

/* Gangs of 8 GPUs that hoard them: each alone fits when it starts as a whole. */
static void load_hoarders(struct scenario *scenario, uint64_t seed, const char *policy)
{
    struct random_stream stream;
    struct buffer jobs = {0};
    random_stream_init(&stream, seed, "hoarders", 0);
    for (uint32_t j = 0; j < 2 + seed % 3; j++)
        buffer_format(&jobs,
                      "{\"job_id\": %u, \"submit_s\": %u, \"duration_s\": %u, \"limit_s\": 9000, \"groups\": "
                      "[{\"count\": 4, \"min_members\": %u, \"gpus\": 2}, {\"count\": 2, \"gpus\": 1}]}\n",
                      j, random_below(&stream, 100), 1 + random_below(&stream, 300), 1 + random_below(&stream, 3));
    buffer_format(&jobs, "{\"job_id\": 9, \"submit_s\": 7200, \"duration_s\": 1, \"gpus\": 1, \"limit_s\": 9}\n");
    scratch_write("j.jsonl", jobs.bytes, jobs.length);
    buffer_release(&jobs);
    scratch_write_json("s.json", "{'cluster': {'pools': [{'nodes': 1, 'gpus_per_node': 8}]}, 'workload': {'trace': "
                                 "'j.jsonl'}, 'queues': [{'name': 'default', 'quota_gpus': 8}], 'policy': {'gang': "
                                 "{'policy': 'hoard', 'stale_after_s': 'never'}, 'blocking': 'skip', "
                                 "'guarantees': []}}");
    static const char *const sets[] = {"policy.sharing.policy=as_asked"};
    const struct scenario_options options = {
        .path = scratch_path("s.json"), .policy = policy, .sets = sets, .set_count = policy != NULL};
    assert_false(error_is(scenario_load(scenario, &options)));
}

/* Under a policy that starts gangs as a whole, each that was left half placed is made whole or released, and ends. */
TEST(test_hoarders)
{
    const struct test_seeds seeds = test_seeds(4, 200);
    const time_ns at = HOUR;
    int broken = 0, stuck = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct scenario scenario, other;
        struct told whole, fork;
        load_hoarders(&scenario, seed, NULL);
        assert_false(error_is(play(&scenario, &whole, NEVER_FORKED, NULL)));
        stuck += whole.result.finished < whole.result.submitted;
        for (uint32_t p = 0; policy_preset_texts[p].name != NULL; p++) {
            const char *name = policy_preset_texts[p].name;
            load_hoarders(&other, seed, name);
            struct error error = play(&scenario, &fork, at, &other);
            if (error_is(error))
                broken += !fails(error_message(&error), name, at);
            else if (other.policy.gang->is_all_or_nothing && fork.result.finished < fork.result.submitted)
                broken += !fails("a gang that was left half placed has not ended", name, at);
            error_release(&error);
            told_release(&fork);
            scenario_release(&other);
        }
        told_release(&whole);
        scenario_release(&scenario);
        scratch_empty();
    }
    assert_true(broken == 0 && stuck > 0);
}

/* A nanosecond before a START takes effect another policy takes over; it may evict the job at once. */
TEST(test_starts)
{
    const struct test_seeds seeds = test_seeds(SWITCHES_SMALL, SEEDS_FULL);
    int broken = 0, made = 0, between = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct rich_world world;
        struct random_stream stream;
        struct told whole;
        char name[32];
        snprintf(name, sizeof name, "rich seed %llu", (unsigned long long)seed);
        random_stream_init(&stream, seed, "starts", 0);
        rich_world_load(&world, seed);
        const bool shares = world.has_other && world.scenario.policy.sharing == world.other.policy.sharing;
        world.scenario.world.decision_latency = world.other.world.decision_latency = 40 * TIME_NS_PER_S;
        struct error error = play(&world.scenario, &whole, NEVER_FORKED, NULL);
        for (uint32_t i = 0; i < 4 && shares && !error_is(error) && whole.attempt_count > 0; i++) {
            const time_ns at = whole.attempts[random_below(&stream, (uint32_t)whole.attempt_count)].start - 1;
            broken += !adopts(&world.scenario, &world.other, &whole, at, name, &between);
            made++;
        }
        error_release(&error);
        told_release(&whole);
        rich_world_release(&world);
        scratch_empty();
    }
    print_message("%d switches, %d of them between two parts of an eviction\n", made, between);
    assert_int_equal(broken, 0);
    assert_true(between * 10 < made);
}

/* ---- Random worlds and policies ---- */

static void load_random(struct scenario *scenario, uint64_t seed)
{
    for (uint32_t draw = 0; draw < DRAWS_MAX; draw++) {
        struct random_scenario text;
        random_policy_scenario(&text, seed, draw, STALL_STEPS);
        scratch_write("s.json", text.text.bytes, text.text.length);
        scratch_write("j.jsonl", text.jobs.bytes, text.jobs.length);
        random_scenario_release(&text);
        const struct scenario_options options = {.path = scratch_path("s.json")};
        struct job_source *source = NULL;
        struct sched *sched = NULL;
        struct error error = scenario_load(scenario, &options);
        if (!error_is(error)) {
            error = scenario_open(scenario, &source);
            if (!error_is(error))
                sched = sched_new(scenario->cluster, job_source_queues(source), &scenario->policy, &error);
            sched_free(sched);
            job_source_close(source);
            if (!error_is(error))
                return;
            scenario_release(scenario);
        }
        error_release(&error);
    }
    fail_msg("seed %llu: no draw is legal", (unsigned long long)seed);
}

TEST(test_random_worlds)
{
    const struct test_seeds seeds = test_seeds(SEEDS_SMALL, SEEDS_FULL);
    int broken = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct scenario scenario;
        struct capacity_step steps[RANDOM_SIZES];
        char name[32];
        snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
        load_random(&scenario, seed);
        if (seed % 2 == 0)
            scenario.world.capacity = random_sizes(steps, scenario.cluster, seed, HOUR);
        broken += check_scenario(&scenario, seed, MOMENTS, name) < 0;
        scenario_release(&scenario);
        scratch_empty();
    }
    assert_int_equal(broken, 0);
}

TEST_GROUP(scratch_make, scratch_remove)
