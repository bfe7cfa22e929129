/* No legal policy runs for ever: random combinations of all seams, with numbers at the edges of what is legal, in
 * small random worlds.
 *
 * Properties: the run ends without an error, its invariants hold, it does not stall (sim/engine/stall.h, with a low
 * bound), and the scheduler's cycles and the evictions are bounded by the jobs and the simulated time. A run that
 * breaks one leaves its scenario in a folder, and the test prints how to replay it:
 *   windtunnel run FOLDER/s.json --check
 * WINDTUNNEL_ENDLESS="FIRST COUNT" runs COUNT seeds from FIRST on. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "base/output.h"
#include "policies/sched.h"
#include "sim/scenario/scenario.h"
#include "tests/support/interval.h"
#include "tests/support/random_policy.h"
#include "tests/support/scratch.h"

enum { SEEDS_SMALL = 100, SEEDS_FULL = 2000, DRAWS_MAX = 200 };

/* The cycles and evictions that a job may cost; the run may cost one more of each per SPAN_PER_STEP. */
enum { CYCLES_PER_JOB = 300, EVICTIONS_PER_JOB = 60, STALL_STEPS_PER_JOB = 300, STEPS_LEAST = 2000 };
#define SPAN_PER_STEP TIME_NS_PER_S

struct outcome {
    struct sched_counts counts;
    time_ns end;
    struct engine_result result;
};

struct most { /* of all runs, for people */
    double cycles, evictions;
    uint64_t cycles_seed, evictions_seed;
};

/* Their runs did not end once. */
static const uint64_t once_broken[] = {201,  229,  283,  295,  300,  2366, 2551, 2612, 2784, 2869,
                                       2944, 4829, 5018, 5293, 5317, 6505, 7511, 7812, 8087};

static volatile uint64_t present_seed;

static void on_abort(int number)
{
    print_error("seed %llu: aborted; s.json and j.jsonl are in %s\n", (unsigned long long)present_seed,
                scratch_path(""));
    signal(number, SIG_DFL);
}

static void on_end(void *self, struct sched *sched, time_ns now)
{
    struct outcome *outcome = self;
    sched_count(sched, &outcome->counts);
    outcome->end = now;
}

/* Keep the files where they outlive the test. */
static void keep(const char *why, uint64_t seed)
{
    char folder[] = "/tmp/windtunnel-endless-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    static const char *const names[] = {"s.json", "j.jsonl"};
    for (int f = 0; f < 2; f++) {
        struct buffer bytes = scratch_read(names[f]);
        snprintf(path, sizeof path, "%s/%s", folder, names[f]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fwrite(bytes.bytes, 1, bytes.length, file);
        fclose(file);
        buffer_release(&bytes);
    }
    print_error("seed %llu: %s\n  windtunnel run %s/s.json --check\n", (unsigned long long)seed, why, folder);
}

/* The scenario of the seed: the first draw that is legal. */
static uint32_t load(struct scenario *scenario, uint64_t seed)
{
    for (uint32_t draw = 0; draw < DRAWS_MAX; draw++) {
        struct random_scenario text;
        random_policy_scenario(&text, seed, draw, STEPS_LEAST);
        scratch_write("s.json", text.text.bytes, text.text.length);
        scratch_write("j.jsonl", text.jobs.bytes, text.jobs.length);
        const uint32_t jobs = text.job_count;
        random_scenario_release(&text);
        const struct scenario_options options = {.path = scratch_path("s.json")};
        struct job_source *source = NULL;
        struct error error = scenario_load(scenario, &options);
        if (!error_is(error))
            error = scenario_open(scenario, &source);
        struct sched *sched = NULL;
        if (!error_is(error))
            sched = sched_new(scenario->cluster, job_source_queues(source), &scenario->policy, &error);
        sched_free(sched);
        job_source_close(source);
        if (!error_is(error))
            return jobs;
        if (getenv("WINDTUNNEL_ENDLESS_DRAWS") != NULL)
            print_message("draw %u: %s\n", draw, error_message(&error));
        const bool is_config = error.kind == ERROR_CONFIG || error.kind == ERROR_DATA;
        error_release(&error);
        scenario_release(scenario);
        assert_true(is_config);
    }
    fail_msg("seed %llu: no draw is legal", (unsigned long long)seed);
    return 0;
}

/* What is wrong with the run; "" if nothing. */
static void play(struct scenario *scenario, uint32_t jobs, uint64_t seed, struct most *most, char why[256])
{
    struct outcome outcome = {0};
    struct job_source *source;
    why[0] = '\0';
    struct error error = scenario_open(scenario, &source);
    assert_false(error_is(error));
    struct engine_config config = scenario_engine(scenario, source);
    config.is_checked = seed % 4 == 0;
    config.on_end = on_end;
    config.end_self = &outcome;
    error = engine_run(&config, &outcome.result);
    if (!error_is(error))
        error = outcome.result.stall;
    const double spans = (double)outcome.end / (double)SPAN_PER_STEP;
    const double cycles = (double)outcome.counts.cycles, evictions = (double)outcome.result.evicted;
    if (error_is(error))
        snprintf(why, 256, "%s", error_message(&error));
    else if (cycles > STEPS_LEAST + CYCLES_PER_JOB * (double)jobs + spans)
        snprintf(why, 256, "%.0f cycles for %u jobs in %.0f s", cycles, jobs, spans);
    else if (evictions > STEPS_LEAST + EVICTIONS_PER_JOB * (double)jobs + spans)
        snprintf(why, 256, "%.0f evictions of %u jobs in %.0f s", evictions, jobs, spans);
    error_release(&error);
    job_source_close(source);
    if (cycles / jobs > most->cycles)
        *most = (struct most){cycles / jobs, most->evictions, seed, most->evictions_seed};
    if (evictions / jobs > most->evictions)
        *most = (struct most){most->cycles, evictions / jobs, most->cycles_seed, seed};
}

static bool is_bounded(uint64_t seed, struct most *most)
{
    struct scenario scenario;
    char why[256];
    present_seed = seed;
    const uint32_t jobs = load(&scenario, seed);
    play(&scenario, jobs, seed, most, why);
    if (why[0] != '\0')
        keep(why, seed);
    scenario_release(&scenario);
    scratch_empty();
    return why[0] == '\0';
}

TEST(test_endless)
{
    const struct test_seeds seeds = test_seeds(SEEDS_SMALL, SEEDS_FULL);
    unsigned long long first = seeds.first, count = seeds.count;
    const char *told = getenv("WINDTUNNEL_ENDLESS");
    if (told != NULL)
        assert_int_equal(sscanf(told, "%llu %llu", &first, &count), 2);
    struct most most = {0};
    uint64_t broken = 0;
    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + count; seed++)
        broken += !is_bounded(seed, &most);
    for (size_t i = 0; told == NULL && i < sizeof once_broken / sizeof *once_broken; i++)
        broken += !is_bounded(once_broken[i], &most);
    signal(SIGABRT, SIG_DFL);
    print_message("%llu runs from seed %llu: at most %.0f cycles (seed %llu) and %.0f evictions "
                  "(seed %llu) for each job\n",
                  count, first, most.cycles, (unsigned long long)most.cycles_seed, most.evictions,
                  (unsigned long long)most.evictions_seed);
    assert_int_equal(broken, 0);
}

TEST_GROUP(scratch_make, scratch_remove)
