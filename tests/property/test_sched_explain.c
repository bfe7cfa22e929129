/* Why jobs wait, in random worlds under every preset (tests/support/honest_world.h): nodes fail, decisions are
 * refused, starts take their time, gangs grow and shrink.
 *
 * The times that the scheduler keeps in running sums are those of a plain oracle that asks sched_why of every job
 * after every tick and adds the time until the next.  Explanations count every node once, say the code of sched_why,
 * and leave no trace: a twin that is never asked decides the same and has the same books. */
#include "tests/support/test.h"

#include "policies/config/presets.h"
#include "policies/explain.h"
#include "policies/state/headroom.h"
#include "tests/support/honest_world.h"

enum { WORLDS_SMALL = 240, WORLDS_FULL = 2400 };

struct oracle { /* by position of the job */
    time_ns of[RANDOM_WORLD_JOBS_MAX][REASON_COUNT];
    enum reason why[RANDOM_WORLD_JOBS_MAX];
    bool is_there[RANDOM_WORLD_JOBS_MAX]; /* in the scheduler, as of the last tick */
    time_ns at;
};

static uint64_t told[REASON_COUNT], seen[EXPLAIN_NODE_COUNT], compared;

static void complain(const struct honest_world *world, uint32_t job, const char *what)
{
    print_error("seed %llu, preset %s, kind %d, tick %u, job %u: %s\n", (unsigned long long)world->scenario->seed,
                policy_preset_texts[world->scenario->preset].name, world->scenario->kind, world->tick, job, what);
    fail();
}

static void compare(const struct honest_world *world, const struct oracle *oracle, uint32_t job)
{
    struct wait_times times;
    sched_waited(world->sched, world->jobs[job].job.id, world->now, &times);
    for (int r = 0; r < REASON_COUNT; r++) {
        time_ns kept = times.mask >> r & 1 ? times.of[r] : 0;
        if (kept != oracle->of[job][r]) {
            print_error("%s: kept %lld ns, was %lld ns\n", reason_name((enum reason)r), (long long)kept,
                        (long long)oracle->of[job][r]);
            complain(world, job, "the times kept are not those that sched_why told");
        }
        compared += kept > 0;
    }
}

/* After a tick: what was said at the last held until now; what is said now holds until the next. */
static void watch(const struct honest_world *world, struct oracle *oracle)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        if (oracle->is_there[j] && oracle->why[j] != REASON_NONE)
            oracle->of[j][oracle->why[j]] += world->now - oracle->at;
        oracle->is_there[j] = world->jobs[j].state == JOB_THERE;
        if (!oracle->is_there[j])
            continue; /* what the scheduler has forgotten cannot be asked */
        oracle->why[j] = sched_why(world->sched, world->jobs[j].job.id);
        told[oracle->why[j]]++;
        compare(world, oracle, j);
    }
    oracle->at = world->now;
}

static void ask(const struct honest_world *world, uint32_t job)
{
    struct explanation why;
    const job_id id = world->jobs[job].job.id;
    const enum reason code = sched_why(world->sched, id);
    uint32_t sum = 0;
    if (sched_explain(world->sched, id, &why) != (code != REASON_NONE))
        complain(world, job, "is explained exactly if it does not wait");
    if (code == REASON_NONE)
        return;
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++) {
        sum += why.nodes[i];
        seen[i] += why.nodes[i];
    }
    if (sum != world->cluster->node_count)
        complain(world, job, "the nodes do not sum to the cluster");
    if (why.code != code || why.text[0] == '\0' || why.members_fitting > why.members)
        complain(world, job, "the explanation makes no sense");
    if (why.gpu_milli_free > sched_free_milli(world->sched))
        complain(world, job, "more GPUs are free to it than there are");
    if (why.fits_now && why.members_fitting != why.members)
        complain(world, job, "it fits as a whole, but its members do not");
}

static void play(const struct random_world *scenario)
{
    static struct honest_world quiet, asked;
    static struct oracle oracle;
    memset(&oracle, 0, sizeof oracle);
    honest_world_open(&quiet, scenario, NULL);
    honest_world_open(&asked, scenario, NULL);
    while (honest_world_tick(&quiet)) {
        honest_world_tick(&asked);
        for (uint32_t j = 0; j < scenario->job_count; j++)
            if (asked.jobs[j].state == JOB_THERE)
                ask(&asked, j);
        if (quiet.hash != asked.hash || sched_hash(quiet.sched) != sched_hash(asked.sched) ||
            quiet.wake_at != asked.wake_at)
            complain(&asked, NOBODY, "asking has changed what is decided");
        watch(&asked, &oracle);
    }
    if (quiet.broken.rule != NULL)
        complain(&quiet, quiet.broken.job, quiet.broken.what);
    honest_world_close(&quiet);
    honest_world_close(&asked);
}

TEST(test_random_worlds)
{
    static struct random_world scenario;
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    const char *seed = getenv("WINDTUNNEL_TEST_SEED");
    uint32_t worlds = size != NULL && strcmp(size, "full") == 0 ? WORLDS_FULL : WORLDS_SMALL;
    uint64_t base = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    uint32_t presets = 0;
    while (policy_preset_texts[presets].name != NULL)
        presets++;
    for (uint32_t w = 0; w < worlds; w++) {
        random_world_make(&scenario, base + w, w % presets,
                          (enum random_world_kind)(w / presets % RANDOM_WORLD_KIND_COUNT));
        if ((base + w) % 2 == 0)
            random_world_choose_sets(&scenario);
        if (w / presets % 2 == 0) { /* no preset keeps any of so small a cluster */
            scenario.policy.headroom.gpu_milli = GPU_MILLI;
            scenario.policy.headroom.owners_milli = 2 * GPU_MILLI;
        }
        play(&scenario);
    }
    /* The worlds must be rich enough for that to mean something. */
    static const enum reason codes[] = {REASON_RESOURCES,     REASON_PRIORITY, REASON_QUOTA_LIMIT, REASON_RESERVED,
                                        REASON_FRAGMENTATION, REASON_HEADROOM, REASON_SCHEDULING,  REASON_CONFIGURING};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (told[codes[i]] == 0)
            print_error("no job ever waited for %s\n", reason_name(codes[i]));
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_true(told[codes[i]] > 0);
    assert_true(compared > 10000);
    assert_true(seen[EXPLAIN_NOT_UP] > 0 && seen[EXPLAIN_GPUS_BUSY] > 0 && seen[EXPLAIN_KEPT] > 0 &&
                seen[EXPLAIN_FITS] > 0);
}
