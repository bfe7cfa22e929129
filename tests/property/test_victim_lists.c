/* policies/state/victim_lists.h: where the order chain alone decides which job loses first, plans read kept lists.  A
 * twin with a victim key that is the same for all jobs keeps no lists: each of its plans looks at all jobs, ranks them
 * and sorts them.  Both make the same decisions in random worlds; and the lists are as the law says after each instant
 * (sched_check). */
#include "tests/support/test.h"

#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"
#include "tests/support/interval.h"
#include "tests/support/random_run.h"

static uint64_t nothing(const struct victim_view *view)
{
    (void)view;
    return 0;
}

static const struct victim_key same_for_all = {
    .name = "same_for_all", .summary = "no job before another", .rank = nothing};

struct outcome {
    uint64_t hash;
    uint32_t evicted; /* attempts */
    bool has_lists;
};

static bool evicts(uint64_t seed, uint32_t choice)
{
    struct random_run run;
    random_run_open(&run, seed, choice);
    const bool does = run.policy.config.preemption->evicts;
    random_run_close(&run);
    return does;
}

static struct outcome run_world(uint64_t seed, uint32_t choice, bool sorts)
{
    struct random_run run;
    random_run_open(&run, seed, choice);
    struct preemption_config *preempt = &run.policy.config.preempt;
    preempt->victim_key_count = 0;
    preempt->by_queue = seed % 3 != 0;
    if (seed % 4 == 0)
        preempt->within_queue = WITHIN_QUEUE_ORDER;
    if (sorts)
        preempt->victims[preempt->victim_key_count++] = &same_for_all;
    const struct quota_policy *quota = run.policy.config.quota;
    struct outcome outcome = {.has_lists = (preempt->by_queue || quota->is_flat) && quota->lending.rounds == NULL};
    random_run_engine(&run);
    outcome.hash = run.hash;
    for (job_id id = 0; id < run.job_count; id++)
        outcome.evicted += run.totals[id].evicted;
    random_run_close(&run);
    return outcome;
}

TEST(decisions_are_those_of_a_twin_that_sorts)
{
    const uint32_t seeds = test_is_full() ? 40 : 3;
    uint32_t evicted = 0, runs = 0;
    for (uint32_t choice = 0; choice < random_case_preset_count() + 12; choice++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            const uint64_t own = seed + 100 * choice;
            if (!evicts(own, choice))
                continue;
            const struct outcome lists = run_world(own, choice, false);
            if (!lists.has_lists)
                continue;
            const struct outcome sorted = run_world(own, choice, true);
            if (lists.hash != sorted.hash)
                fail_msg("seed %llu, policy %u: with lists other jobs are evicted", (unsigned long long)own, choice);
            evicted += lists.evicted;
            runs++;
        }
    print_message("%u runs, %u evictions\n", runs, evicted);
    assert_true(runs > 15 && evicted > 100);
}
