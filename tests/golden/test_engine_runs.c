/* What happens under every preset, and under random policies, in the random worlds of the simulator
 * (tests/support/random_run.h), against engine_runs.txt: per policy the hashes of all events and of all rows, and some
 * counts.  In these worlds nodes differ, jobs ask for models, labels, shares and memory, depend on others and are
 * elements of arrays.  Like sched_runs.txt it shows which policies a change concerns.
 *
 * engine_trails.txt (tests/support/golden.h) shows where.  A run is named POLICY/SEED; a step of it is a decision, and
 * the last step stands for all events and rows.  For the first run that differs the test prints the decision.  With the
 * name of a run as its argument the program prints the facts and decisions of that run, as lines of policies/wire.h. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "policies/config/presets.h"
#include "tests/support/golden.h"
#include "tests/support/random_run.h"

enum { PRESET_RUNS = 10, RANDOM_RUNS = 60 };

struct sum {
    uint64_t events_hash, rows_hash, cycles, decisions, finished, evicted, plans;
};

/* ---- One run ---- */

struct play {
    struct random_run run;
    struct golden_trails *trails;
    struct buffer line; /* what is told now */
    uint64_t hash;      /* of the decisions so far */
    bool is_printed;
    uint32_t wanted_step; /* to be printed; 0: none */
};

static struct error on_fact(void *self, const struct fact *fact)
{
    struct play *play = self;
    if (!play->is_printed)
        return ERROR_OK;
    play->line.length = 0;
    wire_write_fact(&play->line, play->run.cluster, job_source_queues(play->run.source), fact);
    fwrite(play->line.bytes, 1, play->line.length, stdout);
    return ERROR_OK;
}

static void step(struct play *play, uint64_t hash)
{
    golden_trails_step(play->trails, hash);
    if (play->is_printed)
        fwrite(play->line.bytes, 1, play->line.length, stdout);
    if (play->trails->steps == play->wanted_step)
        print_error("Now that step is: %s", buffer_c_string(&play->line));
}

static struct error on_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                             const struct wire_done *done)
{
    struct play *play = self;
    (void)done;
    for (size_t i = 0; i < count; i++) {
        play->line.length = 0;
        buffer_format(&play->line, "at %lld ns: ", (long long)now);
        wire_write_decision(&play->line, play->run.cluster, &decisions[i]);
        play->hash = hash_bytes(play->line.bytes, play->line.length, play->hash);
        step(play, play->hash);
    }
    return ERROR_OK;
}

/* The last step: what the decisions led to. */
static void tell_end(struct play *play, const struct engine_result *result)
{
    play->line.length = 0;
    buffer_format(&play->line,
                  "the end: events %016llx, rows %016llx, %llu cycles, %llu finished, %llu evicted, %llu plans\n",
                  (unsigned long long)result->fingerprint, (unsigned long long)play->run.hash,
                  (unsigned long long)result->facts.cycles, (unsigned long long)result->finished,
                  (unsigned long long)result->evicted, (unsigned long long)result->plans);
    step(play, hash_bytes(play->line.bytes, play->line.length, 0));
}

static void run_one(struct play *play, const char *name, uint64_t seed, uint32_t choice, struct sum *sum)
{
    const struct port_outside listener = {.self = play, .on_fact = on_fact, .on_cycle = on_cycle};
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    golden_trails_begin(play->trails, name, number);
    random_run_open(&play->run, seed, choice);
    play->run.listener = &listener;
    struct engine_result result = random_run_engine(&play->run);
    tell_end(play, &result);
    sum->events_hash = hash_mix(sum->events_hash, result.fingerprint);
    sum->rows_hash = hash_mix(sum->rows_hash, play->run.hash);
    sum->cycles += result.facts.cycles;
    sum->decisions += result.facts.decisions;
    sum->finished += result.finished;
    sum->evicted += result.evicted;
    sum->plans += result.plans;
    random_run_close(&play->run);
    buffer_release(&play->line);
}

/* ---- All runs ---- */

static const char at_random[] = "at random";

/* The policy of an index: presets, then those drawn at random; false: there are no more. */
static bool policy_at(uint32_t index, const char **name, uint32_t *choice, uint64_t *runs)
{
    uint32_t presets = random_case_preset_count();
    *name = index < presets ? policy_preset_texts[index].name : at_random;
    *choice = index < presets ? index : UINT32_MAX;
    *runs = index < presets ? PRESET_RUNS : RANDOM_RUNS;
    return index <= presets;
}

static void tell(const char *name, uint32_t choice, uint64_t runs, struct buffer *out, struct golden_trails *trails)
{
    struct sum sum = {0};
    for (uint64_t seed = 1; seed <= runs; seed++) {
        struct play play = {.trails = trails};
        run_one(&play, name, seed, choice, &sum);
    }
    buffer_format(out, "%-16s %016llx %016llx", name, (unsigned long long)sum.events_hash,
                  (unsigned long long)sum.rows_hash);
    const uint64_t counts[] = {sum.cycles, sum.decisions, sum.finished, sum.evicted, sum.plans};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        buffer_format(out, " %9llu", (unsigned long long)counts[i]);
    buffer_char(out, '\n');
}

/* Once more the run POLICY/SEED.  False: there is no such run. */
static bool run_named(const char *run, struct play *play)
{
    char policy[128];
    const char *name;
    uint32_t choice;
    uint64_t runs;
    struct sum sum = {0};
    snprintf(policy, sizeof policy, "%s", run);
    const char *seed = golden_split_run(policy);
    for (uint32_t i = 0; seed != NULL && policy_at(i, &name, &choice, &runs); i++)
        if (strcmp(name, policy) == 0) {
            run_one(play, name, strtoull(seed, NULL, 10), choice, &sum);
            return true;
        }
    return false;
}

static void print_difference(const struct golden_difference *first)
{
    struct golden_trails trails = {0};
    struct play play = {.trails = &trails, .wanted_step = first->step};
    assert_true(run_named(first->run, &play));
    golden_trails_release(&trails);
    golden_print_replay(first->run);
}

TEST(runs_are_as_before)
{
    struct buffer told = {0};
    struct golden_trails trails = {0};
    struct golden_difference first;
    const char *name;
    uint32_t choice;
    uint64_t runs;
    buffer_format(&told, "%-16s %16s %16s %9s %9s %9s %9s %9s\n", "policy", "events", "rows", "cycles", "decisions",
                  "finished", "evicted", "plans");
    for (uint32_t i = 0; policy_at(i, &name, &choice, &runs); i++)
        tell(name, choice, runs, &told, &trails);
    bool differs = golden_differs("tests/golden/engine_runs.txt", &told);
    if (golden_trails_differ("tests/golden/engine_trails.txt", &trails, &first)) {
        print_difference(&first);
        differs = true;
    }
    assert_false(differs);
}

static int print_run(const char *run)
{
    struct golden_trails trails = {0};
    struct play play = {.trails = &trails, .is_printed = true};
    bool is_known = run_named(run, &play);
    if (!is_known)
        fprintf(stderr, "no run '%s': POLICY/SEED, as in kai/3\n", run);
    golden_trails_release(&trails);
    return is_known ? 0 : 2;
}

int main(int argc, char **argv)
{
    return argc > 1 ? print_run(argv[1]) : test_run();
}
