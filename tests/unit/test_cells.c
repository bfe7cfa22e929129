/* Buddy cells on masks, how quotas are cut into them, and what the quota policy `cells` says. */
#include "tests/support/test.h"

#include "policies/placement/placements.h"
#include "policies/policy_config.h"
#include "policies/quota/cells.h"
#include "tests/support/quota_case.h"
#include "tests/support/sched_case.h"

/* A guaranteed job of n GPUs. */
#define FIRM(n) ((const int64_t[QUEUE_SUM_COUNT]){(n)*1000, 0, 0, (n)*1000})

TEST(test_levels)
{
    static const uint8_t levels[NODE_GPUS_MAX + 1] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    for (uint32_t gpus = 1; gpus <= NODE_GPUS_MAX; gpus++)
        assert_int_equal(cells_level(gpus), levels[gpus]);
}

TEST(test_cells_of_a_mask)
{
    assert_int_equal(cells_inside(0xffff, 4), 0x0001);
    assert_int_equal(cells_inside(0xffff, 2), 0x1111);
    assert_int_equal(cells_maximal(0xffff, 2), 0);
    assert_int_equal(cells_maximal(0x00fe, 0), 0x0002); /* GPU 1, its buddy is taken */
    assert_int_equal(cells_maximal(0x00fe, 1), 0x0004);
    assert_int_equal(cells_maximal(0x00fe, 2), 0x0010);
    assert_int_equal(cells_maximal(0x00fe, 3), 0);
    assert_int_equal(cells_inside(0x003c, 2), 0);       /* four in a row, but not aligned */
    assert_int_equal(cells_maximal(0x003f, 2), 0x0001); /* a node of 6: one of 4, one of 2 */
    assert_int_equal(cells_maximal(0x003f, 1), 0x0010);
}

TEST(test_choice)
{
    assert_int_equal(cells_choose(0x00ff, 1), 0x0001);
    assert_int_equal(cells_choose(0x00fe, 1), 0x0002); /* the smallest cell */
    assert_int_equal(cells_choose(0x00f2, 1), 0x0002);
    assert_int_equal(cells_choose(0x00fc, 3), 0x0070); /* of a cell of four, not across two */
    assert_int_equal(cells_choose(0x003c, 4), 0x003c); /* no cell: as close as can be */
    assert_int_equal(cells_choose(0x0071, 3), 0x0070); /* three in a window of four */
    assert_int_equal(cells_choose(0x003f, 5), 0x001f);
    assert_int_equal(cells_choose(0x0007, 4), 0);
    assert_int_equal(cells_fit(0x0007, 4), CELL_NOWHERE);
    assert_int_equal(cells_fit(0x00fe, 2), 1);
    assert_int_equal(cells_fit(0x003c, 4), CELL_LEVELS + 3);
}

static void open_case(struct quota_case *c, const char *cluster)
{
    quota_case_init(c, &quota_cells, 1);
    ledger_free(c->ledger);
    cluster_free(c->cluster);
    c->cluster = sched_case_cluster(cluster);
    c->ledger = ledger_new(c->cluster);
    c->tree.ledger = c->ledger;
}

static void assert_owned(const struct quota_case *c, queue_id queue, uint32_t nodes, uint32_t quads, uint32_t pairs,
                         uint32_t ones)
{
    const uint32_t *owned = cells_of(&c->tree, queue)->owned;
    assert_int_equal(owned[4], 0);
    assert_int_equal(owned[3], nodes);
    assert_int_equal(owned[2], quads);
    assert_int_equal(owned[1], pairs);
    assert_int_equal(owned[0], ones);
}

#define TWO_NODES "{'pools': [{'name': 'p', 'nodes': 2, 'gpus_per_node': 8}]}"

TEST(test_quotas_are_cut)
{
    struct quota_case c;
    queue_id unfit;
    open_case(&c, TWO_NODES);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 16); /* inner: says nothing */
    queue_id a = quota_case_add(&c, "a", org, 11);
    queue_id b = quota_case_add(&c, "b", org, 5);
    quota_case_ready(&c);
    assert_null(c.policy->homes.complaint(&c.tree, &unfit));
    assert_owned(&c, org, 0, 0, 0, 0);
    assert_owned(&c, a, 1, 0, 1, 1);
    assert_owned(&c, b, 0, 1, 0, 1);
    quota_case_spec(&c, b)->deserved[RESOURCE_GPU] = 6000;
    assert_non_null(c.policy->homes.complaint(&c.tree, &unfit));
    assert_int_equal(unfit, b);
    quota_case_spec(&c, b)->deserved[RESOURCE_GPU] = QUOTA_UNLIMITED;
    assert_non_null(strstr(c.policy->homes.complaint(&c.tree, &unfit), "unlimited"));
    quota_case_release(&c);
}

/* Nodes of 6 are cells of 4 and 2. */
TEST(test_odd_nodes_are_cut)
{
    struct quota_case c;
    queue_id unfit;
    open_case(&c, "{'pools': [{'name': 'p', 'nodes': 3, 'gpus_per_node': 6}]}");
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 16);
    queue_id b = quota_case_add(&c, "b", QUEUE_ROOT, 2);
    quota_case_ready(&c);
    assert_null(c.policy->homes.complaint(&c.tree, &unfit));
    assert_owned(&c, a, 0, 3, 2, 0);
    assert_owned(&c, b, 0, 0, 1, 0);
    quota_case_release(&c);
}

TEST(test_sched_new_refuses)
{
    struct error error;
    struct policy_config policy = policy_config_default();
    struct cluster *cluster = cluster_uniform_new(2, 4);
    struct queue_table *queues = queue_table_new();
    queue_id a = queue_table_add(queues, text_of("team-a"), QUEUE_ROOT);
    policy.quota = &quota_cells;
    queues->queues[a].deserved[RESOURCE_GPU] = 9000;
    assert_null(sched_new(cluster, queues, &policy, &error));
    assert_non_null(strstr(error_message(&error), "team-a"));
    error_release(&error);
    queues->queues[a].deserved[RESOURCE_GPU] = 8000;
    struct sched *sched = sched_new(cluster, queues, &policy, &error);
    assert_non_null(sched);
    sched_free(sched);
    queue_table_free(queues);
    cluster_free(cluster);
}

static uint32_t kept_by(const struct quota_case *c, queue_id queue, node_id node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(c->cluster, node); i++)
        count += c->ledger->keeps[c->cluster->nodes[node].first_gpu + i].keeper == queue;
    return count;
}

/* Empty cells move to where nothing is busy and to nodes that are up; one in use stays. */
TEST(test_empty_cells_move)
{
    struct quota_case c;
    struct piece busy = {.node = 0, .gpu_mask = 0x01, .gpu_milli = GPU_MILLI, .member_count = 1};
    struct space space = {.node = 0, .gpu_mask = 0x01, .gpu_milli = GPU_MILLI, .member_count = 1};
    open_case(&c, TWO_NODES);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 8);
    quota_case_ready(&c);
    cells_assign(&c.tree, a);
    assert_int_equal(kept_by(&c, a, 0), 8);
    ledger_take(c.ledger, &space);
    cells_assign(&c.tree, a);
    assert_int_equal(kept_by(&c, a, 1), 8);
    ledger_note_non_preemptible(c.ledger, &busy, a, 1); /* it was the queue's own guaranteed job, in no cell */
    cells_assign(&c.tree, a);
    assert_int_equal(kept_by(&c, a, 0), 8);
    assert_int_equal(kept_by(&c, a, 1), 0);
    ledger_note_non_preemptible(c.ledger, &busy, a, -1);
    ledger_give(c.ledger, &space);
    ledger_set_node(c.ledger, 0, NODE_DOWN);
    cells_assign(&c.tree, a);
    assert_int_equal(kept_by(&c, a, 1), 8);
    ledger_set_node(c.ledger, 1, NODE_DOWN);
    cells_assign(&c.tree, a);
    assert_int_equal(cells_of(&c.tree, a)->loose[3], 1);
    quota_case_release(&c);
}

TEST(test_who_may)
{
    struct quota_case c;
    open_case(&c, TWO_NODES);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4);
    queue_id b = quota_case_add(&c, "b", QUEUE_ROOT, 8);
    quota_case_spec(&c, b)->limit[RESOURCE_GPU] = 10000;
    quota_case_ready(&c);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(16)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, b, GPUS(11)), b);
    assert_int_equal(c.policy->forbids(&c.tree, a, FIRM(4)), QUEUE_NONE);
    assert_int_equal(c.policy->forbids(&c.tree, a, FIRM(5)), a);
    assert_true(c.policy->may_reclaim(&c.tree, a, FIRM(4)));
    assert_false(c.policy->may_reclaim(&c.tree, a, FIRM(5)));
    assert_false(c.policy->may_reclaim(&c.tree, a, GPUS(1)));
    assert_true(quota_case_may_take(&c, a, FIRM(4), b, GPUS(1)));
    assert_true(quota_case_may_take(&c, a, FIRM(4), a, GPUS(1)));
    assert_false(quota_case_may_take(&c, a, FIRM(4), b, FIRM(1)));
    quota_case_charge(&c, a, FIRM(2));
    assert_int_equal(c.policy->forbids(&c.tree, a, FIRM(3)), a);
    assert_true(quota_case_is_valid(&c, a, FIRM(2), b));
    quota_case_charge(&c, a, FIRM(3));
    assert_false(quota_case_is_valid(&c, a, FIRM(3), b));
    assert_true(quota_case_compare(&c, a, FIRM(1), b, GPUS(1)) < 0); /* the guaranteed before all */
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) > 0); /* b holds nothing */
    assert_int_equal(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)), -quota_case_compare(&c, b, GPUS(1), a, GPUS(1)));
    quota_case_release(&c);
}
