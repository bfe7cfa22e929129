/* A quota policy that says it takes by side (quota.h) is asked once for siblings, and decides as it does when all are
 * asked: every preset with such a quota, in random worlds, beside a copy of its quota that does not say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/config/presets.h"
#include "policies/quota/quota.h"
#include "tests/support/honest_world.h"
#include "tests/support/interval.h"

static uint64_t play(const struct random_world *scenario, uint64_t *evictions)
{
    static struct honest_world world;
    honest_world_open(&world, scenario, NULL);
    world.is_trusted = true;
    while (honest_world_tick(&world))
        ;
    *evictions += world.evictions;
    uint64_t hash = world.hash;
    honest_world_close(&world);
    return hash;
}

static void siblings_answer_for_each_other(void **state)
{
    static struct random_world scenario;
    const uint64_t seeds = test_is_full() ? 400 : 40;
    uint64_t evictions = 0;
    (void)state;
    for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
        for (uint64_t run = 0; run < seeds * RANDOM_WORLD_KIND_COUNT; run++) {
            random_world_make(&scenario, run / RANDOM_WORLD_KIND_COUNT + 1, preset,
                              (enum random_world_kind)(run % RANDOM_WORLD_KIND_COUNT));
            if ((run / RANDOM_WORLD_KIND_COUNT + 1) % 2 == 0)
                random_world_choose_sets(&scenario);
            if (!scenario.policy.quota->takes_by_side)
                break;
            const uint64_t hash = play(&scenario, &evictions);
            struct quota_policy each = *scenario.policy.quota;
            each.takes_by_side = false;
            scenario.policy.quota = &each;
            if (play(&scenario, &evictions) != hash)
                fail_msg("%s, seed %u, kind %u: asked one by one, queues lose otherwise",
                         policy_preset_texts[preset].name, (unsigned)(run / RANDOM_WORLD_KIND_COUNT + 1),
                         (unsigned)(run % RANDOM_WORLD_KIND_COUNT));
        }
    assert_true(evictions > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(siblings_answer_for_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
