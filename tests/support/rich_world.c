#include "tests/support/rich_world.h"

#include <stdio.h>

#include "tests/support/test.h"

#include "policies/config/presets.h"
#include "policies/sched.h"
#include "tests/support/random_policy.h"
#include "tests/support/scratch.h"

enum { DRAWS_MAX = 200, STALL_STEPS = 2000, FINE_ROWS = 300 };

static uint32_t preset_count(void)
{
    uint32_t count = 0;
    while (policy_preset_texts[count].name != NULL)
        count++;
    return count;
}

/* Errors of a draw that is not legal are released. */
static bool is_legal(struct scenario *scenario, const struct scenario_options *options)
{
    struct job_source *source = NULL;
    struct sched *sched = NULL;
    struct error error = scenario_load(scenario, options);
    const bool is_loaded = !error_is(error);
    if (!error_is(error))
        error = scenario_open(scenario, &source);
    if (!error_is(error))
        sched = sched_new(scenario->cluster, job_source_queues(source), &scenario->policy, &error);
    sched_free(sched);
    job_source_close(source);
    const bool is_legal = !error_is(error);
    if (!is_legal && error.kind != ERROR_CONFIG && error.kind != ERROR_DATA)
        fail_msg("%s", error_message(&error));
    error_release(&error);
    if (is_loaded && !is_legal)
        scenario_release(scenario);
    return is_legal;
}

static void measure(struct rich_world *world, uint64_t seed)
{
    struct scenario *scenario = &world->scenario;
    if (seed % 3 == 0)
        scenario->world.end = 7200 * TIME_NS_PER_S;
    world->span = scenario->world.end != TIME_NEVER ? scenario->world.end : 86400 * TIME_NS_PER_S;
    if (scenario->world.warmup >= scenario->world.end)
        scenario->world.warmup = 0;
    world->fine = seed % 3 == 0 ? 10 * TIME_NS_PER_S : world->span / FINE_ROWS + 1;
    world->coarse = (seed % 2 == 0 ? 3600 : 86400) * TIME_NS_PER_S;
    for (uint32_t t = 0; t < scenario->cluster->type_count; t++)
        world->has_instances |= strstr(scenario->resolved, "gpus_layout") != NULL;
    world->has_instances |= strstr(scenario->resolved, "mig_recut") != NULL;
}

void rich_world_load(struct rich_world *world, uint64_t seed)
{
    const uint32_t presets = preset_count(), which = (uint32_t)(seed % (presets + 1));
    *world = (struct rich_world){.jobs = 0};
    for (uint32_t draw = 0; draw < DRAWS_MAX; draw++) {
        struct random_scenario text;
        random_policy_rich_scenario(&text, seed, draw, STALL_STEPS);
        scratch_write("s.json", text.text.bytes, text.text.length);
        scratch_write("j.jsonl", text.jobs.bytes, text.jobs.length);
        world->jobs = text.job_count;
        random_scenario_release(&text);
        struct scenario_options options = {.path = scratch_path("s.json")};
        if (which < presets)
            options.policy = policy_preset_texts[which].name;
        if (!is_legal(&world->scenario, &options))
            continue;
        options.policy = policy_preset_texts[(seed * 7 + 3) % presets].name;
        world->has_other = is_legal(&world->other, &options);
        measure(world, seed);
        return;
    }
    fail_msg("seed %llu: no draw is legal", (unsigned long long)seed);
}

void rich_world_release(struct rich_world *world)
{
    scenario_release(&world->scenario);
    if (world->has_other)
        scenario_release(&world->other);
}

void rich_world_keep(uint64_t seed, const char *why)
{
    char folder[] = "/tmp/windtunnel-rich-XXXXXX", path[128];
    static const char *const names[] = {"s.json", "j.jsonl"};
    assert_non_null(mkdtemp(folder));
    for (int f = 0; f < 2; f++) {
        struct buffer bytes = scratch_read(names[f]);
        snprintf(path, sizeof path, "%s/%s", folder, names[f]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fwrite(bytes.bytes, 1, bytes.length, file);
        fclose(file);
        buffer_release(&bytes);
    }
    const uint32_t which = (uint32_t)(seed % (preset_count() + 1));
    print_error("seed %llu: %s\n  windtunnel run %s/s.json%s%s%s\n", (unsigned long long)seed, why, folder,
                which < preset_count() ? " --policy " : "",
                which < preset_count() ? policy_preset_texts[which].name : "",
                seed % 3 == 0 ? " --set world.end=7200" : "");
}
