/* policies/config/digest.h: a saved state is of one cluster, these queues and this policy: whatever of them is
 * changed, byte by byte, it is another's.  What may differ is named here, beside what lies between the fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/backfill/backfills.h"
#include "policies/config/digest.h"
#include "policies/defrag/defrags.h"
#include "policies/estimate/estimates.h"
#include "policies/gang/gangs.h"
#include "policies/geometry/geometries.h"
#include "policies/idle/idles.h"
#include "policies/order/orders.h"
#include "policies/placement/placements.h"
#include "policies/policy_config.h"
#include "policies/preemption/preemptions.h"
#include "policies/preemption/victim_keys.h"
#include "policies/quota/quotas.h"
#include "policies/sharing/sharings.h"
#include "tests/support/sched_case.h"

struct part { /* of a struct */
    size_t first, size;
};

#define PART(type, member)                                                                                             \
    {                                                                                                                  \
        offsetof(type, member), sizeof((type *)NULL)->member                                                           \
    }

static bool is_in(size_t byte, const struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (byte >= parts[i].first && byte - parts[i].first < parts[i].size)
            return true;
    return false;
}

/* ---- The policy ---- */

#define CHAIN                                                                                                          \
    "{\"order\": [\"multifactor\", \"fifo\"], \"placement_firm\": \"gather\", \"preemption\": "                        \
    "{\"policy\": \"kill\", \"victims\": [\"priority\", \"cost\"]}}"

static struct policy_config chain;
static uint64_t chain_digest;

static int read_chain(void **state)
{
    (void)state;
    chain = sched_case_policy(CHAIN);
    chain_digest = digest_policy(&chain);
    return 0;
}

/* Pointers and what is as long as a count says are changed below. */
static const struct part not_bytes[] = {
    PART(struct policy_config, order),
    PART(struct policy_config, order_count),
    PART(struct policy_config, quota),
    PART(struct policy_config, estimate),
    PART(struct policy_config, backfill),
    PART(struct policy_config, defrag),
    PART(struct policy_config, geometry),
    PART(struct policy_config, sharing),
    PART(struct policy_config, idle),
    PART(struct policy_config, gang),
    PART(struct policy_config, placement),
    PART(struct policy_config, placement_firm),
    PART(struct policy_config, preemption),
    PART(struct policy_config, preempt.victims),
    PART(struct policy_config, preempt.victim_key_count),
    PART(struct policy_config, actions),
    PART(struct policy_config, action_count),
    PART(struct policy_config, plugins), /* tests/unit/test_plugin_own.c */
    PART(struct policy_config, plugin_count),
};

/* For people, and what tests hold it to. */
static const struct part without_effect[] = {
    PART(struct policy_config, name),
    PART(struct policy_config, guarantees),
};

static void every_byte_of_a_policy_counts(void **state)
{
    enum { BETWEEN_FIELDS = 82 };
    uint32_t deaf = 0;
    (void)state;
    for (size_t b = 0; b < sizeof chain; b++) {
        struct policy_config other;
        if (is_in(b, not_bytes, sizeof not_bytes / sizeof *not_bytes))
            continue;
        memcpy(&other, &chain, sizeof other);
        ((unsigned char *)&other)[b] ^= 1;
        const bool is_same = digest_policy(&other) == chain_digest;
        if (is_in(b, without_effect, sizeof without_effect / sizeof *without_effect))
            assert_true(is_same);
        else
            deaf += is_same;
    }
    assert_int_equal(deaf, BETWEEN_FIELDS);
}

#define CHANGED(member, value)                                                                                         \
    do {                                                                                                               \
        struct policy_config other = chain;                                                                            \
        other.member = (value);                                                                                        \
        if (digest_policy(&other) == chain_digest)                                                                     \
            fail_msg("%s does not count", #member);                                                                    \
    } while (0)

static void every_seam_and_its_version_count(void **state)
{
    struct quota_policy newer = *chain.quota;
    struct order_policy newer_order = *chain.order[1];
    (void)state;
    newer.version++;
    newer_order.version++;
    CHANGED(quota, &newer);
    CHANGED(order[1], &newer_order);
    CHANGED(order_count, 1);
    CHANGED(order[0], &order_priority);
    CHANGED(order[1], &order_las);
    CHANGED(quota, &quota_fairshare);
    CHANGED(estimate, &estimate_declared);
    CHANGED(backfill, &backfill_easy);
    CHANGED(defrag, &defrag_consolidation);
    CHANGED(geometry, &geometry_on_demand);
    CHANGED(sharing, &sharing_mps);
    CHANGED(idle, &idle_tell);
    CHANGED(gang, &gang_hoard);
    CHANGED(placement, &placement_spread);
    CHANGED(placement_firm, &placement_spread);
    CHANGED(placement_firm, NULL);
    CHANGED(preemption, &preemption_none);
    CHANGED(preempt.victims[0], &victim_oldest);
    CHANGED(preempt.victims[1], &victim_oldest);
    CHANGED(preempt.victim_key_count, 1);
    CHANGED(actions[0], chain.actions[1]);
    CHANGED(actions[chain.action_count - 1], chain.actions[0]);
    CHANGED(action_count, chain.action_count - 1);
}

/* What follows the last of a chain is nobody's business. */
static void only_so_many_of_a_chain_count(void **state)
{
    struct policy_config other = chain;
    (void)state;
    other.order[2] = &order_las;
    other.preempt.victims[2] = &victim_oldest;
    assert_true(digest_policy(&other) == chain_digest);
}

/* ---- The queues ---- */

static void every_byte_of_a_queue_counts(void **state)
{
    enum { BETWEEN_FIELDS = 12 };
    struct queue_table *queues = queue_table_new();
    static const struct part name[] = {PART(struct queue_spec, name)};
    uint32_t deaf = 0;
    (void)state;
    queue_table_add(queues, TEXT("a"), QUEUE_ROOT);
    queue_table_add(queues, TEXT("b"), QUEUE_ROOT);
    const uint64_t before = digest_queues(queues, 2);
    assert_true(before != digest_queues(queues, 1));
    assert_true(before != digest_queues(queues, 3));
    unsigned char *bytes = (unsigned char *)&queues->queues[1];
    for (size_t b = 0; b < sizeof(struct queue_spec); b++) {
        if (is_in(b, name, 1))
            continue;
        bytes[b] ^= 1;
        deaf += digest_queues(queues, 2) == before;
        bytes[b] ^= 1;
    }
    assert_int_equal(deaf, BETWEEN_FIELDS);
    queues->queues[2].parent = 1; /* behind those that are counted */
    assert_true(before == digest_queues(queues, 2));
    queue_table_free(queues);
}

/* ---- The cluster ---- */

#define CLUSTER                                                                                                        \
    "{\"pools\": [{\"name\": \"p\", \"nodes\": 2, \"gpus_per_node\": 4, \"cpus\": 8, "                                 \
    "\"memory_gb\": 32, \"gpu_model\": \"A100-40GB\", \"max_tasks\": 9, \"labels\": {\"rack\": "                       \
    "\"r1\"}, \"taints\": [{\"key\": \"team\", \"value\": \"x\", \"effect\": \"NoSchedule\"}]}"                        \
    ", {\"name\": \"q\", \"nodes\": 1, \"gpus_per_node\": 2}]}"

static uint64_t digest_with(const char *from, const char *to)
{
    char text[1024];
    const char *at = strstr(CLUSTER, from);
    assert_non_null(at);
    const int before = (int)(at - CLUSTER);
    snprintf(text, sizeof text, "%.*s%s%s", before, CLUSTER, to, at + strlen(from));
    struct cluster *cluster = sched_case_cluster(text);
    const uint64_t digest = digest_cluster(cluster);
    cluster_free(cluster);
    return digest;
}

static void what_a_cluster_is_counts(void **state)
{
    static const char *const changes[][2] = {
        {"\"nodes\": 2", "\"nodes\": 3"},
        {"\"gpus_per_node\": 4", "\"gpus_per_node\": 5"},
        {"\"cpus\": 8", "\"cpus\": 7"},
        {"\"memory_gb\": 32", "\"memory_gb\": 31"},
        {"A100-40GB", "A100-80GB"},
        {"\"max_tasks\": 9", "\"max_tasks\": 8"},
        {"rack", "rock"},
        {"r1", "r2"},
        {"team", "term"},
        {"\"x\"", "\"y\""},
        {"NoSchedule", "PreferNoSchedule"},
    };
    (void)state;
    const uint64_t before = digest_with("", "");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (digest_with(changes[i][0], changes[i][1]) == before)
            fail_msg("%s does not count", changes[i][0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_a_policy_counts), cmocka_unit_test(every_seam_and_its_version_count),
        cmocka_unit_test(only_so_many_of_a_chain_count), cmocka_unit_test(every_byte_of_a_queue_counts),
        cmocka_unit_test(what_a_cluster_is_counts),
    };
    return cmocka_run_group_tests(tests, read_chain, NULL);
}
