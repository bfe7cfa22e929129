/* What the presets promise, in random worlds: tests/support/honest_rules.h says what is watched,
 * tests/support/random_world.h what happens.  Besides, of every preset: other ids of jobs and queues give the same
 * decisions, for nothing but age may decide between equals.
 *
 * A broken rule is told with its seed, with the jobs that it takes, and with the situation as a case for
 * `windtunnel case`.  WINDTUNNEL_TEST_SEED plays one seed only, and tells its decisions. */
#include <signal.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "tests/support/honest_rules.h"
#include "tests/support/interval.h"

enum { FINDINGS_MAX = 32 };

struct finding { /* the same rule broken by the same preset */
    const char *rule;
    uint32_t preset, count;
    struct random_world scenario; /* the first */
    struct honest_broken broken;
};

struct campaign {
    struct finding *findings;
    uint32_t finding_count;
    uint64_t worlds, cycles, evictions, wasted, plans, premises;
};

static sigjmp_buf before_play; /* an assertion inside the scheduler is a finding like any other */

static void on_abort(int number)
{
    siglongjmp(before_play, number);
}

/* ---- One world ---- */

static struct honest_broken aborted(const struct honest_world *world)
{
    return (struct honest_broken){.rule = "assertion",
                                  .what = "aborted",
                                  .job = NOBODY,
                                  .tick = world->tick,
                                  .first = world->tick > 1 ? world->tick - 1 : 1};
}

static struct honest_broken play(const struct random_world *scenario, struct campaign *campaign)
{
    static struct honest_rules rules;
    static struct honest_world world;
    if (sigsetjmp(before_play, 1) != 0)
        return aborted(&world);
    honest_world_open(&world, scenario, NULL);
    honest_rules_watch(&rules, &world);
    while (honest_world_tick(&world))
        ;
    if (campaign != NULL) {
        campaign->worlds++;
        campaign->cycles += world.cycles;
        campaign->evictions += world.evictions;
        campaign->wasted += world.wasted;
        campaign->plans += rules.plans_checked;
        campaign->premises += rules.premises;
    }
    struct honest_broken broken = world.broken;
    honest_world_close(&world);
    return broken;
}

/* Side by side with other ids. */
static struct honest_broken play_permuted(const struct random_world *scenario, struct campaign *campaign)
{
    static struct honest_world plain, permuted;
    struct random_stream stream;
    if (sigsetjmp(before_play, 1) != 0)
        return aborted(&plain);
    random_stream_init(&stream, scenario->seed, "permutation", 0);
    honest_world_open(&plain, scenario, NULL);
    honest_world_open(&permuted, scenario, &stream);
    while (honest_world_tick(&plain)) {
        honest_world_tick(&permuted);
        if (plain.hash != permuted.hash)
            honest_world_break(&plain, "permutation", plain.tick, NOBODY, "other ids give other decisions");
    }
    if (campaign != NULL)
        campaign->cycles += plain.cycles + permuted.cycles;
    struct honest_broken broken = plain.broken;
    honest_world_close(&plain);
    honest_world_close(&permuted);
    return broken;
}

/* ---- Findings ---- */

static bool breaks_so(const struct random_world *scenario, const char *rule, struct honest_broken *broken)
{
    *broken = strcmp(rule, "permutation") == 0 ? play_permuted(scenario, NULL) : play(scenario, NULL);
    return broken->rule != NULL && strcmp(broken->rule, rule) == 0;
}

/* Leave out whatever can be left out. */
static void minimise(struct finding *finding)
{
    struct random_world *scenario = &finding->scenario;
    struct honest_broken broken;
    struct random_world calm = *scenario;
    calm.refuse_milli = calm.delay_ticks = 0;
    if (breaks_so(&calm, finding->rule, &broken))
        *scenario = calm;
    for (uint32_t f = 0; f < scenario->fault_count; f++) {
        scenario->faults[f].is_absent = true;
        scenario->faults[f].is_absent = breaks_so(scenario, finding->rule, &broken);
    }
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t j = scenario->job_count; j-- > 0;) {
            if (scenario->jobs[j].is_absent)
                continue;
            scenario->jobs[j].is_absent = true;
            scenario->jobs[j].is_absent = breaks_so(scenario, finding->rule, &broken);
        }
    breaks_so(scenario, finding->rule, &finding->broken);
}

struct snapshot {
    const struct finding *finding;
    struct buffer text;
};

static void take_snapshot(struct honest_world *world)
{
    struct snapshot *snapshot = world->watch.self;
    const struct finding *finding = snapshot->finding;
    char expect[64] = "", name[96];
    bool is_kept = strcmp(finding->rule, "minimal") == 0, is_loop = strcmp(finding->rule, "no_loop") == 0;
    if (world->tick < finding->broken.first || snapshot->text.length > 0)
        return;
    if (is_kept || is_loop)
        snprintf(expect, sizeof expect, "\"j%u\": {\"evicted\": 0}", finding->broken.job);
    else if (finding->broken.job != NOBODY)
        snprintf(expect, sizeof expect, "\"j%u\": {\"status\": \"running\"}", finding->broken.job);
    snprintf(name, sizeof name, "%s: %s, seed %llu", policy_preset_texts[finding->preset].name, finding->rule,
             (unsigned long long)finding->scenario.seed);
    honest_world_case(world, name, finding->broken.tick - finding->broken.first + (is_kept ? 1 : 2), expect,
                      &snapshot->text);
}

/* Play it again; what was told and decided goes to stderr. */
static void tell_log(const struct finding *finding, bool is_permuted)
{
    static struct honest_world world;
    static struct buffer log;
    struct random_stream stream;
    random_stream_init(&stream, finding->scenario.seed, "permutation", 0);
    honest_world_open(&world, &finding->scenario, is_permuted ? &stream : NULL);
    world.log = &log;
    if (sigsetjmp(before_play, 1) == 0)
        while (world.tick < finding->broken.tick && honest_world_tick(&world))
            ;
    fwrite(log.bytes, 1, log.length, stderr);
    buffer_release(&log);
    honest_world_close(&world);
}

static void tell(const struct finding *finding)
{
    static struct honest_world world;
    static struct snapshot snapshot;
    snapshot = (struct snapshot){.finding = finding};
    honest_world_open(&world, &finding->scenario, NULL);
    world.watch = (struct honest_watch){.self = &snapshot, .before_cycle = take_snapshot};
    if (sigsetjmp(before_play, 1) == 0)
        while (snapshot.text.length == 0 && honest_world_tick(&world))
            ;
    print_error("%s breaks '%s' in %u worlds; kind %d, seed %llu, tick %u, job %d: %s\n",
                policy_preset_texts[finding->preset].name, finding->rule, finding->count, (int)finding->scenario.kind,
                (unsigned long long)finding->scenario.seed, finding->broken.tick, (int)finding->broken.job,
                finding->broken.what);
    fwrite(snapshot.text.bytes, 1, snapshot.text.length, stderr); /* print_error cuts at 1 KiB */
    buffer_release(&snapshot.text);
    honest_world_close(&world);
    if (getenv("WINDTUNNEL_TEST_SEED") == NULL)
        return;
    tell_log(finding, false);
    if (strcmp(finding->rule, "permutation") == 0)
        tell_log(finding, true);
}

static void find(struct campaign *campaign, const struct random_world *scenario, struct honest_broken broken)
{
    if (broken.rule == NULL)
        return;
    uint32_t i = 0;
    while (i < campaign->finding_count &&
           (campaign->findings[i].preset != scenario->preset || strcmp(campaign->findings[i].rule, broken.rule) != 0))
        i++;
    if (i == FINDINGS_MAX)
        return;
    struct finding *finding = &campaign->findings[i];
    if (i == campaign->finding_count) {
        *finding =
            (struct finding){.rule = broken.rule, .preset = scenario->preset, .scenario = *scenario, .broken = broken};
        campaign->finding_count++;
    }
    finding->count++;
}

/* ---- Campaigns ---- */

static void play_seed(struct campaign *campaign, uint64_t seed, uint32_t preset)
{
    for (enum random_world_kind kind = 0; kind < RANDOM_WORLD_KIND_COUNT; kind++) {
        static struct random_world scenario;
        random_world_make(&scenario, seed, preset, kind);
        if ((seed) % 2 == 0)
            random_world_choose_sets(&scenario);
        if (seed % 5 == 2)
            random_world_watch(&scenario);
        if (kind == RANDOM_WORLD_RECLAIM && !(scenario.policy.guarantees & GUARANTEE_RECLAIM))
            continue;
        find(campaign, &scenario, play(&scenario, campaign));
        find(campaign, &scenario, play_permuted(&scenario, campaign));
    }
}

TEST(test_presets_keep_their_promises)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? 2000 : 150;
    struct campaign campaign = {.findings = calloc(FINDINGS_MAX, sizeof *campaign.findings)};
    assert_non_null(campaign.findings);
    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + count; seed++)
        for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
            play_seed(&campaign, seed, preset);
    print_message("seeds %llu..%llu: %llu worlds, %llu cycles, %llu evictions, %llu reservations wasted\n",
                  (unsigned long long)first, (unsigned long long)(first + count - 1),
                  (unsigned long long)campaign.worlds, (unsigned long long)campaign.cycles,
                  (unsigned long long)campaign.evictions, (unsigned long long)campaign.wasted);
    print_message("%llu victims asked whether they could be spared, %llu claims to what others borrow\n",
                  (unsigned long long)campaign.plans, (unsigned long long)campaign.premises);
    if (only == NULL) /* a campaign that evicts nobody proves nothing */
        assert_true(campaign.cycles > 100000 && campaign.plans > 1000 && campaign.premises > 1000);
    for (uint32_t i = 0; i < campaign.finding_count; i++) {
        minimise(&campaign.findings[i]);
        tell(&campaign.findings[i]);
    }
    uint32_t found = campaign.finding_count;
    free(campaign.findings);
    assert_int_equal(found, 0);
}
