/* A scheduler that is saved, freed and loaded again and again lives as one that never was, under every preset: the
 * same decisions, the same ledger, and after every tick the same bytes when it is saved.  The worlds are those of
 * tests/support/honest_world.h, whose rules are watched besides; tests/property/test_sched_save_facts.c has worlds
 * with all that a job can ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/config/presets.h"
#include "tests/support/honest_world.h"
#include "tests/support/interval.h"
#include "tests/support/reload.h"

enum { STOPS = 20 }; /* about this many in a world, beside cycles */

struct stops {
    struct random_stream stream;
    uint64_t made, idled;
};

static void stop(struct honest_world *world)
{
    struct stops *stops = world->watch.self;
    if (random_below(&stops->stream, world->scenario->ticks) >= STOPS)
        return;
    stops->made++;
    world->sched = reload(world->sched, world->cluster, world->queues, &world->scenario->policy);
}

static void stop_at_end(struct honest_world *world, bool had_cycle)
{
    if (had_cycle)
        stop(world);
}

static void compare_worlds(const struct honest_world *plain, const struct honest_world *stopped)
{
    struct buffer a = reload_bytes(plain->sched), b = reload_bytes(stopped->sched);
    bool is_good = plain->hash == stopped->hash && plain->broken.rule == stopped->broken.rule &&
                   plain->wake_at == stopped->wake_at && sched_hash(plain->sched) == sched_hash(stopped->sched) &&
                   reload_is_same(&a, &b);
    buffer_release(&a);
    buffer_release(&b);
    if (!is_good)
        fail_msg("%s, kind %d, seed %llu, tick %u: it goes on in another way after loading",
                 policy_preset_texts[plain->scenario->preset].name, (int)plain->scenario->kind,
                 (unsigned long long)plain->scenario->seed, plain->tick);
}

static void play(struct stops *stops, uint64_t seed, uint32_t preset, enum random_world_kind kind)
{
    static struct random_world scenario;
    static struct honest_world plain, stopped;
    random_world_make(&scenario, seed, preset, kind);
    if ((seed) % 2 == 0)
        random_world_choose_sets(&scenario);
    if (seed % 4 == 3)
        random_world_communicate(&scenario);
    if (seed % 3 == 1)
        random_world_watch(&scenario);
    random_stream_init(&stops->stream, seed, "stops", preset);
    honest_world_open(&plain, &scenario, NULL);
    honest_world_open(&stopped, &scenario, NULL);
    stopped.watch = (struct honest_watch){.self = stops, .before_cycle = stop, .on_tick = stop_at_end};
    bool goes_on = true;
    while (goes_on) {
        goes_on = honest_world_tick(&plain);
        honest_world_tick(&stopped);
        compare_worlds(&plain, &stopped);
    }
    stops->idled += plain.idled;
    honest_world_close(&plain);
    honest_world_close(&stopped);
}

static void test_presets(void **state)
{
    struct stops stops = {.made = 0};
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    const uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    const uint64_t count = only != NULL ? 1 : test_is_full() ? 300 : 8;
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
            for (enum random_world_kind kind = 0; kind < RANDOM_WORLD_KIND_COUNT; kind++)
                play(&stops, seed, preset, kind);
    assert_true(stops.made > count * STOPS);
    assert_true(stops.idled > count || count == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
