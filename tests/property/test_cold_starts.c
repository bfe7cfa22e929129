/* Cold starts and a warm_weight in random worlds, under every preset: all laws of a run hold
 * (tests/support/random_run.h), a run is repeated exactly, and without objects nothing changes. */
#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/random_run.h"

enum { GB = 1000000000 };

static struct pull_object some_object(struct random_stream *stream)
{
    if (random_below(stream, 3) == 0)
        return (struct pull_object){.bytes = 0, .distinct = 1};
    return (struct pull_object){.bytes = 1 + (int64_t)random_below(stream, 200) * GB,
                                .scope = (uint8_t)random_below(stream, 4),
                                .distinct = 1 + random_below(stream, 5)};
}

/* rules: room for two. */
static struct pull_table some_table(struct random_stream *stream, struct pull_rule *rules)
{
    for (int r = 0; r < 2; r++) {
        rules[r].jobs =
            (struct job_filter){.class = r == 0 ? (int)random_below(stream, 3) : -1, .gpus_max = UINT32_MAX};
        for (int o = 0; o < JOB_OBJECTS_MAX; o++)
            rules[r].objects[o] = some_object(stream);
    }
    return (struct pull_table){.is_on = true,
                               .rows = rules,
                               .count = 2,
                               .registry_bytes_per_s = random_below(stream, 3) * (int64_t)GB,
                               .node_bytes_per_s = (int64_t)GB / 4,
                               .rack_bytes_per_s = random_below(stream, 3) * (int64_t)GB,
                               .node_cache_bytes = random_below(stream, 4) * (int64_t)GB * 100,
                               .rack_cache_bytes = random_below(stream, 4) * (int64_t)GB * 200};
}

enum kind { WITHOUT, WITHOUT_OBJECTS, COLD };

static uint64_t play(uint64_t seed, uint32_t choice, enum kind kind, uint64_t *ends)
{
    struct random_run run;
    struct random_stream stream;
    struct pull_rule rules[2];
    random_run_open(&run, seed, choice);
    random_stream_init(&stream, seed, "cold starts", choice);
    const struct pull_table table = some_table(&stream, rules);
    if (kind != WITHOUT) {
        run.world.cold_starts = table;
        run.policy.config.placement_config.warm_weight = 1 + (int32_t)random_below(&stream, 1000);
    }
    if (kind == WITHOUT_OBJECTS)
        run.world.cold_starts.count = 0;
    const struct engine_result result = random_run_engine(&run);
    *ends += result.finished;
    random_run_close(&run);
    return result.fingerprint;
}

TEST(all_laws_hold)
{
    const struct test_seeds seeds = test_seeds(2, 200);
    uint64_t ends = 0, changed = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        for (uint32_t choice = 0; choice < random_case_preset_count() + 4; choice++) {
            const uint64_t cold = play(seed, choice, COLD, &ends);
            if (play(seed, choice, COLD, &ends) != cold)
                fail_msg("seed %llu, policy %u: the same world runs otherwise", (unsigned long long)seed, choice);
            const uint64_t without = play(seed, choice, WITHOUT, &ends);
            if (play(seed, choice, WITHOUT_OBJECTS, &ends) != without)
                fail_msg("seed %llu, policy %u: without objects it runs otherwise", (unsigned long long)seed, choice);
            changed += cold != without;
        }
    assert_true(ends > 500 && changed > 5);
}
