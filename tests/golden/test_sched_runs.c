/* What every preset, and policies that have what no preset has, decide in small random worlds, against sched_runs.txt:
 * a line for each.
 *
 * The laws are other tests' business.  This one says that something changed: `decided` is a hash of all decisions in
 * their order, `told` one of what those that wait and those that count are told; the outcomes are counted.  Who changes
 * what the scheduler decides sees whom that concerns.  With WINDTUNNEL_GOLDEN_UPDATE=1 (make golden-update) the file is
 * written anew instead of compared.
 *
 * How much looking it takes is no golden, for a faster scheduler looks at less and decides the same.
 * WINDTUNNEL_SCHED_WORK=1 prints it, a line for each policy: placements tried, victims sought, and from `rank` on how
 * often each hook of the policy is asked (tests/support/asked_hooks.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "policies/census/census.h"
#include "policies/config/presets.h"
#include "policies/policy_config.h"
#include "tests/support/asked_hooks.h"
#include "tests/support/golden.h"
#include "tests/support/honest_world.h"
#include "tests/support/sched_case.h"

enum { SEEDS = 16 };

struct sum {
    uint64_t decided, told, evictions;
    struct sched_counts counts;
    struct asked asked;
};

/* ---- Policies that have what no preset has ---- */

#define EVICTING                                                                                                       \
    "\"preemption\": {\"policy\": \"checkpoint\", \"victims\": [\"borrowers\", \"cost\"], "                            \
    "\"grace_s\": 2, \"min_runtime_s\": 5}"
#define EVICTING_IN_ORDER                                                                                              \
    "\"preemption\": {\"policy\": \"kill\", \"victims\": [\"surplus\", \"members\", \"oldest\"], "                     \
    "\"search\": \"ordered\", \"within_queue\": \"order\", \"min_runtime_s\": 3, "                                     \
    "\"attempts_per_cycle\": 3, \"victims_max\": 6, \"evictions_per_job_max\": 2, "                                    \
    "\"evictions_per_queue_h\": 3}"
#define SAVING                                                                                                         \
    "\"preemption\": {\"policy\": \"checkpoint\", \"victims\": [\"class\", \"largest\"], "                             \
    "\"within_queue\": \"lower\", \"min_runtime_s\": 4, \"delay_s\": 4, \"loss_ratio\": 0.05}"

/* base: the preset whose worlds they live in. */
static const struct variant {
    const char *name, *base, *text;
} variants[] = {
    {"fairtree", "slurm",
     "{\"order\": [\"fairtree\", \"largest\"], \"order_config\": {\"period_s\": 20, "
     "\"half_life_s\": "
     "60, \"billing\": {\"gpus\": 3, \"cpus\": 1}}, \"blocking\": \"skip\"}"},
    {"classic shares", "slurm",
     "{\"order\": [\"multifactor\"], \"order_config\": {\"period_s\": 10, \"half_life_s\": 100, "
     "\"fair_share\": \"classic\", \"weight_fair_share\": 100, \"weight_age\": 50, \"age_max_s\": "
     "90, "
     "\"favors_small\": true, \"weight_size\": 70, \"weight_tres\": {\"gpus\": 9}, "
     "\"weight_class\": "
     "{\"inference\": 20, \"interactive\": 10}}, \"blocking\": \"strict\", " EVICTING_IN_ORDER "}"},
    {"times", "tiresias",
     "{\"order\": [\"deadline\", \"srtf\"], \"order_config\": {\"period_s\": 15}, \"blocking\": "
     "\"skip\", " EVICTING_IN_ORDER "}"},
    {"attained", "tiresias",
     "{\"order\": [\"las\", \"ljf\"], \"order_config\": {\"period_s\": 5, \"las_limits_gpu_s\": "
     "[20, "
     "60, 200], \"las_promote\": 3}, \"blocking\": \"skip\", " EVICTING_IN_ORDER "}"},
    {"easy for many", "easy",
     "{\"order\": [\"priority\", \"sjf\"], \"blocking\": \"strict\", \"estimate\": \"history\", "
     "\"backfill\": {\"policy\": \"easy\", \"reservations\": 3}}"},
    {"easy in the contest", "windtunnel",
     "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\", \"quota\": \"fairshare\", "
     "\"estimate\": \"declared\", \"backfill\": {\"policy\": \"easy\", \"reservations\": 4, "
     "\"interval_s\": 10}, " EVICTING "}"},
    {"conservative, evicting", "easy",
     "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"strict\", \"backfill\": "
     "{\"policy\": \"conservative\"}, " EVICTING_IN_ORDER "}"},
    {"kept free", "windtunnel",
     "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\", \"inference_first\": true, "
     "\"quota\": \"fairshare\", \"headroom\": {\"gpus\": 2, \"whole_nodes\": 1, \"owners_gpus\": "
     "3}, "
     "\"placement\": \"worst_fit\", " SAVING "}"},
    {"moves and drains", "windtunnel",
     "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\", \"quota\": \"fairshare\", "
     "\"defrag\": {\"policy\": \"consolidation_and_drain\"}, \"placement\": \"spread\", " EVICTING "}"},
    {"ordered drains", "easy",
     "{\"order\": [\"priority\", \"smallest\"], \"blocking\": \"skip\", \"defrag\": {\"policy\": "
     "\"drain\"}, "
     "\"backfill\": {\"policy\": \"easy\"}, \"placement\": \"least_allocated\"}"},
    {"limits", "windtunnel",
     "{\"order\": [\"fifo\"], \"blocking\": \"strict\", \"quota\": \"limits\", \"placement\": "
     "\"fgd\", " EVICTING "}"},
    {"dominant shares", "volcano",
     "{\"order\": [\"elastic\", \"priority\"], \"blocking\": \"skip\", \"quota\": \"drf\", "
     "\"placement\": \"dot_product\", " EVICTING "}"},
    {"capacity", "volcano",
     "{\"order\": [\"priority\", \"elastic\"], \"blocking\": \"skip\", \"quota\": \"capacity\", "
     "\"placement\": \"gpu_packing\", " EVICTING_IN_ORDER "}"},
    {"proportion", "volcano",
     "{\"order\": [\"drf\", \"elastic\"], \"blocking\": \"skip\", \"quota\": \"proportion\", "
     "\"placement\": \"weighted_binpack\", " EVICTING "}"},
    {"credits", "windtunnel",
     "{\"order\": [\"priority\"], \"blocking\": \"skip\", \"quota\": {\"policy\": \"credits\", "
     "\"credit_cap_s\": 60}, "
     "\"placement\": \"gpu_clustering\", " SAVING "}"},
    {"no credit", "windtunnel",
     "{\"order\": [\"fifo\"], \"blocking\": \"skip\", \"quota\": {\"policy\": \"credits\", "
     "\"credit_cap_s\": 0}, \"placement\": \"gather\", \"gpu_choice\": \"rails\", " EVICTING "}"},
    {"a window of usage", "kai",
     "{\"order\": [\"priority\", \"smallest\"], \"blocking\": \"skip\", \"quota\": {\"policy\": "
     "\"fairshare\", \"usage_weight\": 2, \"window_s\": 40, \"share_period_s\": 5, "
     "\"firm_needs_quota\": true, \"saturation_multiplier\": 1.2}, \"placement\": \"pack\", "
     "\"gpu_choice\": \"near\", \"actions\": [\"allocate\", \"preempt\", \"reclaim\", "
     "\"stale_gang\"], \"gang\": {\"policy\": \"all_or_nothing\", \"stale_after_s\": 5}, "
     "\"preemption\": {\"policy\": \"checkpoint\", \"victims\": [\"queue\", \"smallest\"], "
     "\"resolve\": \"lca\", \"within_queue\": \"lower_or_newer\", \"grace_s\": 3, "
     "\"min_runtime_s\": 2, \"rematch_cycles\": 3, \"evictions_per_cycle\": 4}}"},
    {"cohorts that lend", "kueue",
     "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\", \"quota\": {\"policy\": "
     "\"cohort\", \"reclaim_within_cohort\": \"lower_priority\", \"borrow_within_cohort\": "
     "\"lower_priority\", \"borrow_max_priority\": 60}, \"placement\": \"topology\", "
     "\"preemption\": {\"policy\": \"kill\", \"victims\": [\"evicting\", \"own_queue\", "
     "\"youngest\"], \"search\": \"ordered\", \"within_queue\": \"lower\", \"min_runtime_s\": 0}}"},
    {"equal shares of cohorts", "kueue",
     "{\"order\": [\"elastic\", \"fifo\"], \"blocking\": \"skip\", \"quota\": {\"policy\": "
     "\"cohort\", \"fair_sharing\": true, \"reclaim_within_cohort\": \"any\", \"strategies\": "
     "[\"initial_share\"]}, \"placement\": \"strict_pack\", \"preemption\": {\"policy\": "
     "\"checkpoint\", \"victims\": [\"other_queues\", \"order\"], \"search\": \"node\", "
     "\"grace_s\": "
     "1, \"min_runtime_s\": 1}}"},
    {"who saves waits", "windtunnel",
     "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\", \"inference_first\": true, "
     "\"quota\": \"capacity\", \"backfill\": {\"policy\": \"easy\", \"reservations\": 2, "
     "\"interval_s\": 3}, \"placement\": \"weighted_best_fit\", \"reservation_expiry_s\": 6, "
     "\"headroom\": {\"owners_gpus\": 2}, " SAVING "}"},
    {"slurm that evicts", "slurm",
     "{\"order\": [\"multifactor\", \"fifo\"], \"order_config\": {\"period_s\": 10, "
     "\"weight_age\": "
     "9, \"weight_priority\": 5, \"age_max_s\": 50}, \"blocking\": \"strict\", \"backfill\": "
     "{\"policy\": \"slurm\", \"depth\": 8, \"per_user\": 2, \"window_s\": 200, \"resolution_s\": "
     "7, "
     "\"interval_s\": 4}, \"placement\": \"least_allocated_gpus\", " EVICTING_IN_ORDER "}"},
    {"moves alone", "kai",
     "{\"order\": [\"largest\"], \"blocking\": \"strict\", \"quota\": \"limits\", \"defrag\": "
     "{\"policy\": \"consolidation\", \"moves_per_plan\": 3, \"moves_per_h\": 20, "
     "\"holds_places\": true, \"spares_ending\": true}, \"placement\": \"first_fit\", " EVICTING "}"},
    {"cohorts that share", "kueue",
     "{\"order\": [\"priority\"], \"blocking\": \"strict\", \"quota\": {\"policy\": \"cohort\", "
     "\"fair_sharing\": true}, \"placement\": \"random\", " EVICTING "}"},
    {"past usage", "kai",
     "{\"order\": [\"priority\", \"elastic\"], \"blocking\": \"skip\", \"quota\": {\"policy\": "
     "\"fairshare\", \"usage_weight\": 1, \"half_life_s\": 30}, \"placement\": \"strict_spread\", "
     "\"gang\": {\"policy\": \"hoard\", \"stale_after_s\": 8}, " EVICTING "}"},
};

/* ---- Worlds ---- */

/* What policies look at and tests/support/random_world.c leaves out. */
static void adorn(struct random_world *world)
{
    struct random_stream stream;
    random_stream_init(&stream, world->seed, "sched runs", world->preset);
    for (uint32_t j = 0; j < world->job_count; j++) {
        struct random_job *random = &world->jobs[j];
        struct job *job = &random->job;
        time_ns length = random->duration == TIME_NEVER ? 50 * world->period : random->duration;
        job->user = random_below(&stream, 4);
        job->class = (uint8_t)random_below(&stream, JOB_CLASS_COUNT);
        if (random_below(&stream, 4) != 0)
            job->limit = length + (time_ns)random_below(&stream, 3) * length / 2;
        if (random_below(&stream, 2) == 0)
            job->estimate = length / 2 + (time_ns)random_below(&stream, 3) * length / 4;
        if (random_below(&stream, 2) == 0)
            job->deadline = job->submit + length + (time_ns)random_below(&stream, 20) * world->period;
    }
}

static uint64_t mix_explanation(uint64_t hash, const struct explanation *why)
{
    const int64_t numbers[] = {why->code,
                               why->is_never,
                               why->members,
                               why->members_fitting,
                               why->fits_now,
                               why->gpu_milli_short,
                               why->cpu_milli_short,
                               why->memory_mib_short,
                               why->nodes_short,
                               why->gpu_milli_free,
                               why->over_queue,
                               why->over_queue == QUEUE_NONE ? 0 : why->over_held,
                               why->over_queue == QUEUE_NONE ? 0 : why->over_asked,
                               why->over_queue == QUEUE_NONE ? 0 : why->over_bound,
                               why->ahead,
                               why->first};
    hash = hash_bytes(numbers, sizeof numbers, hash);
    hash = hash_bytes(why->nodes, sizeof why->nodes, hash);
    return hash_bytes(why->text, strlen(why->text), hash);
}

/* What of the free GPUs is of use to nobody. */
static uint64_t mix_census(uint64_t hash, const struct sched *sched)
{
    static struct typical_job some[] = {{{.gpu_milli = 500}, 0.5, 1, 0}, {{.gpus = 2}, 0.5, 1, 0}};
    const struct typical_jobs typical = {some, 2, 2};
    struct census_memo memo = {0};
    struct census census;
    sched_census(sched, &memo, &typical, &census);
    census_memo_release(&memo);
    hash = hash_mix(hash_mix(hash, (uint64_t)census.idle_milli), (uint64_t)census.stranded_milli);
    return hash_bytes(census.gang_gpus, sizeof census.gang_gpus, hash);
}

/* What is said of those that wait.  Asking is no work of the scheduler's. */
static void ask_why(const struct honest_world *world, struct sum *sum)
{
    const struct asked kept = sum->asked;
    for (job_id id = 0; id < world->scenario->job_count; id++) {
        struct explanation why;
        struct wait_times waited = {0};
        if (!sched_explain(world->sched, id, &why))
            continue;
        sum->told = mix_explanation(sum->told, &why);
        sum->told = hash_mix(sum->told, (uint64_t)sched_why(world->sched, id));
        sum->told = hash_mix(sum->told, (uint64_t)sched_planned_start(world->sched, id));
        sched_waited(world->sched, id, world->now, &waited);
        for (uint32_t left = waited.mask; left != 0; left &= left - 1)
            sum->told = hash_mix(sum->told, (uint64_t)waited.of[__builtin_ctz(left)]);
    }
    sum->told = mix_census(sum->told, world->sched);
    sum->asked = kept;
}

static void play(const struct random_world *scenario, struct sum *sum)
{
    static struct honest_world world;
    struct sched_counts counts;
    honest_world_open(&world, scenario, NULL);
    world.is_trusted = true;
    while (honest_world_tick(&world))
        if (world.tick % 4 == 0)
            ask_why(&world, sum);
    if (world.broken.rule != NULL)
        fail_msg("%s: %s", world.broken.rule, world.broken.what);
    sched_count(world.sched, &counts);
    sum->decided = hash_mix(sum->decided, world.hash);
    sum->counts.cycles += counts.cycles;
    sum->evictions += world.evictions;
    sum->counts.attempts += counts.attempts;
    sum->counts.plans += counts.plans;
    sum->counts.plans_tried += counts.plans_tried;
    sum->counts.promised_starts += counts.promised_starts;
    sum->counts.drains += counts.drains;
    honest_world_close(&world);
}

static void tell(struct buffer *out, uint64_t number)
{
    buffer_format(out, " %7llu", (unsigned long long)number);
}

static void tell_columns(struct buffer *out, const char *const *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_format(out, " %7s", columns[i]);
    buffer_char(out, '\n');
}

static bool is_work_asked(void)
{
    const char *asked = getenv("WINDTUNNEL_SCHED_WORK");
    return asked != NULL && strcmp(asked, "1") == 0;
}

static void print_work(const char *name, const struct sum *sum)
{
    struct buffer out = {0};
    buffer_format(&out, "%-23s", name);
    tell(&out, sum->counts.attempts);
    tell(&out, sum->counts.plans_tried);
    for (int hook = 0; hook < ASKED_COUNT; hook++)
        tell(&out, sum->asked.of[hook]);
    print_message("%s\n", buffer_c_string(&out));
    buffer_release(&out);
}

static void print_work_columns(void)
{
    static const char *const columns[] = {"placed", "sought", "rank",    "key",  "score", "bound", "forbids", "compare",
                                          "divide", "adjust", "reclaim", "take", "valid", "chunk", "length"};
    struct buffer out = {0};
    buffer_format(&out, "%-23s", "policy");
    tell_columns(&out, columns, sizeof columns / sizeof *columns);
    print_message("%s", buffer_c_string(&out));
    buffer_release(&out);
}

/* policy: NULL: the preset's own. */
static void play_all(const char *name, uint32_t preset, const struct policy_config *policy, struct buffer *out)
{
    static struct random_world scenario;
    struct sum sum = {0};
    for (uint32_t kind = 0; kind < RANDOM_WORLD_KIND_COUNT; kind++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            random_world_make(&scenario, seed, preset, (enum random_world_kind)kind);
            if (policy != NULL)
                scenario.policy = *policy;
            adorn(&scenario);
            asked_hooks(&scenario.policy, &sum.asked);
            play(&scenario, &sum);
        }
    const struct sched_counts *counts = &sum.counts;
    buffer_format(out, "%-23s %016llx %016llx", name, (unsigned long long)sum.decided, (unsigned long long)sum.told);
    tell(out, counts->cycles);
    tell(out, counts->plans);
    tell(out, sum.evictions);
    tell(out, counts->promised_starts);
    tell(out, counts->drains);
    buffer_char(out, '\n');
    if (is_work_asked())
        print_work(name, &sum);
}

static uint32_t preset_named(const char *name)
{
    uint32_t preset = 0;
    while (strcmp(policy_preset_texts[preset].name, name) != 0)
        preset++;
    return preset;
}

static void tell_all(struct buffer *out)
{
    static const char *const columns[] = {"cycles", "plans", "evicted", "promise", "drains"};
    buffer_format(out, "%-23s %16s %16s", "policy", "decided", "told");
    tell_columns(out, columns, sizeof columns / sizeof *columns);
    if (is_work_asked())
        print_work_columns();
    for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
        play_all(policy_preset_texts[preset].name, preset, NULL, out);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        struct policy_config policy = sched_case_policy(variants[v].text);
        play_all(variants[v].name, preset_named(variants[v].base), &policy, out);
    }
}

static void decisions_and_outcomes_are_as_before(void **state)
{
    (void)state;
    struct buffer told = {0};
    tell_all(&told);
    golden_compare("tests/golden/sched_runs.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decisions_and_outcomes_are_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
