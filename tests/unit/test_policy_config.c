/* policies/policy_config.h: what is refused, and where. */
#include "tests/support/test.h"
#include <string.h>

#include "policies/policy_config.h"
#include "policies/sched.h"
#include "tests/support/json_text.h"
#include "tests/support/sched_case.h"

static void expect_refused(const char *text, const char *said)
{
    struct json_doc *doc;
    struct policy_config policy;
    struct error error = json_text_read(&doc, "test", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_true(error_is(error));
    if (strstr(error_message(&error), said) == NULL)
        fail_msg("'%s' does not hold '%s'", error_message(&error), said);
    error_release(&error);
    json_doc_free(doc);
}

TEST(test_unknown_actions)
{
    expect_refused("{'actions': ['allocate', 'dance']}", "dance");
}

TEST(test_unknown_fields)
{
    expect_refused("{\"colour\": 1}", "colour");
    expect_refused("{'gang': {'colour': 1}}", "colour");
    expect_refused("{'quota': {'policy': 'none', 'colour': 1}}", "colour");
    expect_refused("{'headroom': {'colour': 1}}", "colour");
    expect_refused("{'preemption': {'policy': 'kill', 'colour': 1}}", "colour");
}

/* Promises that last, and passes in the order of a line, need one line that stops. */
TEST(test_backfill_needs_lines_that_suit)
{
    expect_refused("{'blocking': 'skip', 'backfill': {'policy': 'conservative'}}", "strict");
    expect_refused("{'blocking': 'skip', 'backfill': {'policy': 'slurm'}}", "strict");
    expect_refused("{'quota': 'drf', 'backfill': {'policy': 'slurm'}}", "the quota policy 'none'");
    expect_refused("{'backfill': {'policy': 'conservative', 'interval_s': 30}}", "interval_s");
    expect_refused("{'backfill': {'policy': 'easy', 'reservations': 0}}", "'reservations' must be");
    expect_refused("{'backfill': {'policy': 'hard'}}", "hard");
    expect_refused("{'backfill': {'policy': 'conservative', 'fills_gaps': true}}", "fills_gaps");
    expect_refused("{'backfill': {'policy': 'easy', 'fills_gaps': true}, 'preemption': {'policy': 'none'}}", "evicts");
    expect_refused("{'backfill': {'policy': 'easy', 'fills_gaps': true}, 'preemption': {'policy': 'checkpoint'}, "
                   "'actions': ['allocate']}",
                   "'preempt' or 'reclaim'");
    expect_refused("{'backfill': {'colour': 1}}", "colour");
}

TEST(test_placement_parameters)
{
    struct policy_config policy = sched_case_policy("{}");
    assert_int_equal(policy.placement_config.gpu_choice, GPU_CHOICE_LOWEST);
    assert_int_equal(policy.placement_config.weights.gpu, 5);
    assert_int_equal(policy.placement_config.weights.cpu, 1);
    assert_int_equal(policy.placement_config.weights.memory, 1);
    policy = sched_case_policy("{'gpu_choice': 'near', 'placement_weights': {'gpu': 1000, 'memory': 0}}");
    assert_int_equal(policy.placement_config.gpu_choice, GPU_CHOICE_NEAR);
    assert_int_equal(policy.placement_config.weights.gpu, 1000);
    assert_int_equal(policy.placement_config.weights.cpu, 1);
    assert_int_equal(policy.placement_config.weights.memory, 0);
    assert_int_equal(policy.placement_config.topology.mode, TOPOLOGY_AS_ASKED);
    assert_int_equal(policy.placement_config.topology.domains, DOMAINS_BEST_FIT);
    assert_int_equal(policy.placement_config.topology.weight, 500);
    policy = sched_case_policy("{'gpu_choice': 'rails', 'topology': {'mode': 'required', 'domains': 'block', "
                               "'weight': 0}}");
    assert_int_equal(policy.placement_config.gpu_choice, GPU_CHOICE_RAILS);
    assert_int_equal(policy.placement_config.topology.mode, TOPOLOGY_REQUIRED);
    assert_int_equal(policy.placement_config.topology.domains, DOMAINS_BLOCK);
    assert_int_equal(policy.placement_config.topology.weight, 0);
    policy = sched_case_policy("{'topology': {'domains': 'nested'}}");
    assert_int_equal(policy.placement_config.topology.domains, DOMAINS_NESTED);
    expect_refused("{'topology': {'mode': 'near'}}", "'mode'");
    expect_refused("{'topology': {'domains': 'all'}}", "'domains'");
    expect_refused("{'topology': {'weight': 1001}}", "'weight'");
    expect_refused("{'topology': {'level': 'unit'}}", "level");
    expect_refused("{'gpu_choice': 'far'}", "'gpu_choice'");
    expect_refused("{'placement_weights': {'gpu': 1001}}", "'gpu' must be");
    expect_refused("{'placement_weights': {'cpu': -1}}", "'cpu' must be");
    expect_refused("{'placement_weights': {'memory': 0.5}}", "'memory' must be");
    expect_refused("{'placement_weights': {'disk': 1}}", "disk");
    expect_refused("{'placement_weights': {'gpu': 0, 'cpu': 0, 'memory': 0}}", "a weight above 0");
    expect_refused("{\"placement_weights\": 5}", "placement_weights");
}

/* What a policy does not use it may not be given. */
TEST(test_defragmentation)
{
    expect_refused("{'defrag': {'policy': 'tidy'}}", "tidy");
    expect_refused("{'defrag': {'colour': 1}}", "colour");
    expect_refused("{'defrag': {'policy': 'none', 'moves_per_plan': 1}}", "moves_per_plan");
    expect_refused("{'defrag': {'policy': 'consolidation', 'moves_per_plan': -2}}", "from -1");
}
