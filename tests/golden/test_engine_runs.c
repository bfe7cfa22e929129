/* What happens under every preset, and under policies drawn at random, in the simulator's random worlds
 * (tests/support/random_run.h), whose nodes differ and whose jobs ask for models, labels, shares and memory, depend on
 * others and are elements of arrays, against engine_runs.txt: for each the hashes of all events and of all rows, and
 * some counts.  As sched_runs.txt beside it, it says whom a change concerns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "policies/config/presets.h"
#include "tests/support/golden.h"
#include "tests/support/random_run.h"

enum { PRESET_RUNS = 10, RANDOM_RUNS = 60 };

struct sum {
    uint64_t events_hash, rows_hash, cycles, decisions, finished, evicted, plans;
};

static void run_one(uint64_t seed, uint32_t choice, struct sum *sum)
{
    struct random_run run;
    random_run_open(&run, seed, choice);
    struct engine_result result = random_run_engine(&run);
    sum->events_hash = hash_mix(sum->events_hash, result.fingerprint);
    sum->rows_hash = hash_mix(sum->rows_hash, run.hash);
    sum->cycles += result.facts.cycles;
    sum->decisions += result.facts.decisions;
    sum->finished += result.finished;
    sum->evicted += result.evicted;
    sum->plans += result.plans;
    random_run_close(&run);
}

static void tell(const char *name, uint32_t choice, uint64_t runs, struct buffer *out)
{
    struct sum sum = {0};
    for (uint64_t seed = 1; seed <= runs; seed++)
        run_one(seed, choice, &sum);
    buffer_format(out, "%-16s %016llx %016llx", name, (unsigned long long)sum.events_hash,
                  (unsigned long long)sum.rows_hash);
    const uint64_t counts[] = {sum.cycles, sum.decisions, sum.finished, sum.evicted, sum.plans};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        buffer_format(out, " %9llu", (unsigned long long)counts[i]);
    buffer_char(out, '\n');
}

static void runs_are_as_before(void **state)
{
    struct buffer told = {0};
    (void)state;
    buffer_format(&told, "%-16s %16s %16s %9s %9s %9s %9s %9s\n", "policy", "events", "rows", "cycles", "decisions",
                  "finished", "evicted", "plans");
    for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
        tell(policy_preset_texts[preset].name, preset, PRESET_RUNS, &told);
    tell("at random", UINT32_MAX, RANDOM_RUNS, &told);
    golden_compare("tests/golden/engine_runs.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_are_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
