/* No job waits beside space that it may have, and what is said of a waiting job is true.  In random worlds under every
 * preset: gangs and elastic jobs, some bound to units and nodes, queues, evictions, failures, refused decisions.
 *
 * Each world is played until nothing has changed for longer than every interval of a preset (QUIET).  Laws then:
 *  - No waiting job is one of which `explain` says that the next cycle starts it.
 *  - A reason is true.  In a copy of the process (tests/support/in_child.h) all other jobs that wait are cancelled.  A
 *    job that was said to lack space, or to be kept from it by a limit or the headroom, does not start there.  A job
 *    that was said to be behind others is not the only one that waits.
 *  - The scheduler rests: cycles that decide nothing ask for no other one within a second (law 6 of policies/sched.h).
 *
 * WINDTUNNEL_WORLDS="FIRST COUNT" plays COUNT worlds under each preset, from seed FIRST on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/config/presets.h"
#include "policies/explain.h"
#include "tests/support/honest_world.h"
#include "tests/support/in_child.h"
#include "tests/support/interval.h"

enum { WORLDS_SMALL = 12, WORLDS_FULL = 120, RESTLESS_MAX = 100 };

#define QUIET (700 * TIME_NS_PER_S)

struct counts {
    uint64_t worlds, quiet, waiting, alone, by_reason[REASON_COUNT];
};

struct watcher {
    time_ns changed_at; /* the last fact or decision */
    uint64_t outside, hash;
};

static uint64_t broken;

static void complain(const struct honest_world *world, uint32_t job, const char *what, const char *said)
{
    broken++;
    if (broken <= 60)
        print_error("seed %llu, preset %s, kind %d, tick %u, job %u: %s (%s)\n",
                    (unsigned long long)world->scenario->seed, policy_preset_texts[world->scenario->preset].name,
                    world->scenario->kind, world->tick, job, what, said);
}

static bool waits(const struct honest_world *world, uint32_t job)
{
    return honest_job_waits(&world->jobs[job]) && sched_why(world->sched, world->jobs[job].job.id) != REASON_NONE;
}

struct alone {
    const struct honest_world *world;
    uint32_t job;
};

/* Does the job start in the next cycle, if no other job waits? */
static void start_alone(void *self, void *result)
{
    const struct honest_world *world = ((struct alone *)self)->world;
    const uint32_t job = ((struct alone *)self)->job;
    const struct decision *decisions;
    const job_id id = world->jobs[job].job.id;
    time_ns wake_at;
    bool starts = false, evicts = false;
    for (uint32_t j = 0; j < world->scenario->job_count; j++)
        if (j != job && waits(world, j))
            sched_job_cancelled(world->sched, world->jobs[j].job.id, world->now);
    const size_t count = sched_cycle(world->sched, world->now + world->scenario->period, &decisions, &wake_at);
    for (size_t i = 0; i < count; i++) {
        starts |= decisions[i].kind == DECISION_START && decisions[i].job == id;
        evicts |= decisions[i].kind == DECISION_EVICT;
    }
    *(bool *)result = starts && !evicts; /* an eviction for a job that grows makes other reasons */
}

static bool starts_alone(const struct honest_world *world, uint32_t job)
{
    struct alone alone = {world, job};
    bool starts = false;
    in_child(start_alone, &alone, &starts, sizeof starts);
    return starts;
}

static bool says_that_it_may_not(enum reason code)
{
    return code == REASON_RESOURCES || code == REASON_FRAGMENTATION || code == REASON_TOPOLOGY ||
           code == REASON_AFFINITY || code == REASON_QUOTA_LIMIT || code == REASON_HEADROOM;
}

static void judge(const struct honest_world *world, uint32_t job, uint32_t waiting, struct counts *counts)
{
    struct explanation why;
    if (!sched_explain(world->sched, world->jobs[job].job.id, &why))
        return;
    counts->waiting++;
    counts->by_reason[why.code]++;
    if (strstr(why.text, "the next cycle decides") != NULL)
        complain(world, job, "it could start, and nothing starts it", why.text);
    if (why.code == REASON_SCHEDULING)
        complain(world, job, "no cycle has looked at it", why.text);
    if (why.code == REASON_PRIORITY && waiting == 1)
        complain(world, job, "it is said to be behind others, and no other job waits", why.text);
    if (!says_that_it_may_not(why.code))
        return;
    counts->alone++;
    if (starts_alone(world, job))
        complain(world, job, why.text, "it starts when no other job waits");
}

/* Let it run on: it takes no decision, so nothing changes. */
static void run_on(void *self, void *result)
{
    const struct honest_world *world = self;
    const struct decision *decisions;
    time_ns now = world->now, wake_at = world->wake_at > now ? world->wake_at : now + 1;
    uint32_t restless = 0;
    for (uint32_t cycle = 0; cycle < 4 * RESTLESS_MAX && wake_at != TIME_NEVER; cycle++) {
        const time_ns last = now;
        now = wake_at;
        if (sched_cycle(world->sched, now, &decisions, &wake_at) > 0)
            break;
        restless = now - last < TIME_NS_PER_S ? restless + 1 : 0;
        *(bool *)result |= restless > RESTLESS_MAX;
    }
}

static void check_rest(struct honest_world *world)
{
    bool is_restless = false;
    in_child(run_on, world, &is_restless, sizeof is_restless);
    if (is_restless)
        complain(world, NOBODY, "cycles that decide nothing ask for others at once", "");
}

static void on_tick(struct honest_world *world, bool had_cycle)
{
    struct watcher *watcher = world->watch.self;
    (void)had_cycle;
    if (world->outside != watcher->outside || world->hash != watcher->hash)
        watcher->changed_at = world->now;
    watcher->outside = world->outside;
    watcher->hash = world->hash;
}

static bool is_anything_under_way(const struct honest_world *world)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++)
        for (uint32_t h = 0; h < world->jobs[j].hold_count; h++)
            if (world->jobs[j].holds[h].phase != HOLD_RUNNING)
                return true;
    return false;
}

static void play(const struct random_world *scenario, struct counts *counts)
{
    static struct honest_world world;
    struct watcher watcher = {0};
    uint32_t waiting = 0;
    honest_world_open(&world, scenario, NULL);
    world.watch = (struct honest_watch){.self = &watcher, .on_tick = on_tick};
    world.is_trusted = true;
    while (honest_world_tick(&world))
        ;
    counts->worlds++;
    if (world.broken.rule != NULL)
        complain(&world, world.broken.job, world.broken.rule, world.broken.what);
    for (uint32_t j = 0; j < scenario->job_count; j++)
        waiting += world.jobs[j].state == JOB_THERE && sched_why(world.sched, world.jobs[j].job.id) != REASON_NONE;
    if (world.broken.rule == NULL && world.now - watcher.changed_at >= QUIET && !is_anything_under_way(&world)) {
        counts->quiet++;
        for (uint32_t j = 0; j < scenario->job_count; j++)
            if (waits(&world, j))
                judge(&world, j, waiting, counts);
    }
    check_rest(&world);
    honest_world_close(&world);
}

/* Worlds that broke a law once, under some preset. */
static const uint64_t once_broken[] = {5, 50, 95, 121, 130, 515, 1015, 1368, 2865};

static void play_seed(uint64_t seed, uint32_t preset, struct counts *counts)
{
    static struct random_world scenario;
    const enum random_world_kind kind = (enum random_world_kind)(seed % RANDOM_WORLD_KIND_COUNT);
    random_world_make(&scenario, seed, preset, kind);
    if (seed % 4 < 3)
        random_world_bind(&scenario);
    if (seed % 8 < 4)
        random_world_choose_sets(&scenario);
    if (seed % 5 == 0) {
        scenario.policy.headroom.gpu_milli = GPU_MILLI;
        scenario.policy.headroom.owners_milli = 2 * GPU_MILLI;
    }
    scenario.ticks += (uint32_t)(2 * QUIET / scenario.period);
    scenario.is_each_tick = false;
    play(&scenario, counts);
}

static void test_left_waiting(void **state)
{
    (void)state;
    const struct test_seeds seeds = test_seeds(WORLDS_SMALL, WORLDS_FULL);
    unsigned long long first = seeds.first, count = seeds.count;
    const char *told = getenv("WINDTUNNEL_WORLDS");
    if (told != NULL)
        assert_int_equal(sscanf(told, "%llu %llu", &first, &count), 2);
    struct counts all = {0};
    for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++) {
        struct counts own = {0};
        for (uint64_t seed = first; seed < first + count; seed++)
            play_seed(seed, preset, &own);
        for (size_t i = 0; told == NULL && i < sizeof once_broken / sizeof *once_broken; i++)
            play_seed(once_broken[i], preset, &own);
        print_message("%s: %llu worlds, %llu came to rest, %llu jobs waited then, %llu of them tried alone\n",
                      policy_preset_texts[preset].name, (unsigned long long)own.worlds, (unsigned long long)own.quiet,
                      (unsigned long long)own.waiting, (unsigned long long)own.alone);
        all.worlds += own.worlds;
        all.quiet += own.quiet;
        all.waiting += own.waiting;
        all.alone += own.alone;
        for (int r = 0; r < REASON_COUNT; r++)
            all.by_reason[r] += own.by_reason[r];
    }
    for (int r = 0; r < REASON_COUNT; r++)
        if (all.by_reason[r] > 0)
            print_message("%s: %llu\n", reason_name((enum reason)r), (unsigned long long)all.by_reason[r]);
    print_message("note: %llu worlds, %llu came to rest, %llu jobs waited then, %llu of them tried alone\n",
                  (unsigned long long)all.worlds, (unsigned long long)all.quiet, (unsigned long long)all.waiting,
                  (unsigned long long)all.alone);
    assert_int_equal(broken, 0);
    /* The worlds must be rich enough for that to mean something. */
    assert_true(all.quiet * 2 > all.worlds && all.alone > all.quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_left_waiting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
