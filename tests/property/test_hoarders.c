/* Activity, a monitor and idle policies in random worlds, under every preset: all laws of a run hold
 * (tests/support/random_run.h), a run is repeated exactly, and where no policy listens nothing changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/random.h"
#include "policies/idle/idles.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/random_run.h"

#define MINUTE (60 * TIME_NS_PER_S)

static const char activity[] =
    "[{'class': 'interactive', 'kind': 'notebook', 'level': 0.5, 'abandoned': 0.1,"
    "  'burst': {'distribution': 'exponential', 'mean': '3m'}, 'gap': {'distribution': 'exponential', 'mean': '9m'}},"
    " {'class': 'training', 'kind': 'training', 'level': 0.7, 'stall_level': 0,"
    "  'work': {'distribution': 'exponential', 'mean': '5m'}, 'stall': {'distribution': 'exponential', 'mean': '5m'}}]";

static struct idle_config some_idle(struct random_stream *stream)
{
    return (struct idle_config){.threshold_milli = 50,
                                .classes = 7,
                                .window = (1 + random_below(stream, 5)) * MINUTE,
                                .grace = random_below(stream, 4) * MINUTE,
                                .rest = random_below(stream, 20) * MINUTE};
}

static struct monitor_config some_monitor(struct random_stream *stream)
{
    return (struct monitor_config){.period = (20 + random_below(stream, 300)) * TIME_NS_PER_S,
                                   .delay = random_below(stream, 200) * TIME_NS_PER_S,
                                   .noise = random_below(stream, 2) * 0.05,
                                   .missing = random_below(stream, 2) * 0.2};
}

enum kind { UNWATCHED, UNHEARD, HEARD };

struct totals {
    uint64_t ended, told, evicted;
};

static uint64_t play(uint64_t seed, uint32_t choice, enum kind kind, const struct activity_table *table,
                     struct totals *totals)
{
    static const struct idle_policy *const policies[] = {&idle_tell, &idle_reclaim, &idle_reclaim};
    struct random_run run;
    struct random_stream stream;
    random_run_open(&run, seed, choice);
    random_stream_init(&stream, seed, "hoarders", choice);
    run.world.activity = *table;
    for (uint32_t j = 0; j < run.job_count; j++) /* a check at each tick of the monitor would take too long */
        run.jobs[j].truth.duration %= 120 * MINUTE;
    if (kind != UNWATCHED)
        run.world.monitor = some_monitor(&stream);
    if (kind == HEARD) {
        run.policy.config.idle = policies[random_below(&stream, 3)];
        run.policy.config.idle_config = some_idle(&stream);
    }
    const struct engine_result result = random_run_engine(&run);
    totals->ended += result.finished;
    totals->told += run.told;
    totals->evicted += run.idled;
    random_run_close(&run);
    return result.fingerprint;
}

static void all_laws_hold(void **state)
{
    const struct test_seeds seeds = test_seeds(2, 200);
    struct arena arena = {0};
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("activity", activity);
    const struct json_value root = json_doc_root(doc, &error);
    const struct activity_table table = activity_table_read(&root, &arena, NULL);
    struct totals totals = {0};
    (void)state;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        for (uint32_t choice = 0; choice < random_case_preset_count() + 4; choice++) {
            const uint64_t heard = play(seed, choice, HEARD, &table, &totals);
            if (play(seed, choice, HEARD, &table, &totals) != heard)
                fail_msg("seed %llu, policy %u: the same world runs otherwise", (unsigned long long)seed, choice);
            if (play(seed, choice, UNWATCHED, &table, &totals) != play(seed, choice, UNHEARD, &table, &totals))
                fail_msg("seed %llu, policy %u: a monitor changes what happens", (unsigned long long)seed, choice);
        }
    print_message("%llu jobs ended, %llu were told, %llu evicted\n", (unsigned long long)totals.ended,
                  (unsigned long long)totals.told, (unsigned long long)totals.evicted);
    assert_true(totals.ended > 500 && totals.told > 100 && totals.evicted > 50);
    json_doc_free(doc);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_laws_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
