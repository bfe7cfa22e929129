/* drf: the paper's example, scaling in the tree, and reclaim down to even shares. */
#include "tests/support/test.h"

#include "tests/support/quota_case.h"

enum { ASKS_MORE = 1000 };

/* All ask more than they have. */
static void ready(struct quota_case *c)
{
    quota_case_ready(c);
    for (queue_id q = 1; q < c->tree.count; q++)
        if (c->tree.queues[q].first_child == QUEUE_NONE)
            quota_case_demand(c, q, GPUS_CPUS(ASKS_MORE, ASKS_MORE));
}

/* NSDI'11, section 4.1, with 9 GPUs for its CPUs and 18 CPUs for its GB: 3 tasks of <1, 4> and 2 of <3, 1>. */
TEST(the_example_of_the_paper)
{
    struct quota_case c;
    quota_case_init(&c, &quota_drf, 9);
    c.capacity[RESOURCE_CPU] = 18 * 1000;
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 0), b = quota_case_add(&c, "b", QUEUE_ROOT, 0);
    ready(&c);
    const int64_t *ask_a = GPUS_CPUS(1, 4), *ask_b = GPUS_CPUS(3, 1);
    const queue_id order[] = {a, b, a, b, a}; /* 0:0, 2/9:0, 2/9:3/9, 4/9:3/9, 4/9:6/9 */
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool a_first = quota_case_compare(&c, a, ask_a, b, ask_b) < 0;
        assert_int_equal(a_first ? a : b, order[i]);
        quota_case_charge(&c, order[i], a_first ? ask_a : ask_b);
    }
    assert_int_equal(queue_tree_charged(&c.tree, a, RESOURCE_CPU), 12 * 1000);
    assert_int_equal(queue_tree_charged(&c.tree, b, RESOURCE_GPU), 6 * 1000);
    quota_case_release(&c);
}

TEST(weights_scale_the_share)
{
    struct quota_case c;
    quota_case_init(&c, &quota_drf, 12);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 0), b = quota_case_add(&c, "b", QUEUE_ROOT, 0);
    queue_id none = quota_case_add(&c, "none", QUEUE_ROOT, 0);
    quota_case_spec(&c, a)->weight_milli[RESOURCE_GPU] = 3000;
    quota_case_spec(&c, none)->weight_milli[RESOURCE_GPU] = 0;
    ready(&c);
    quota_case_charge(&c, a, GPUS(5));
    quota_case_charge(&c, b, GPUS(2));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) < 0); /* 5/3 against 2 */
    quota_case_charge(&c, a, GPUS(2));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) > 0); /* 7/3 */
    assert_true(quota_case_compare(&c, none, GPUS(1), a, GPUS(1)) > 0);
    assert_false(c.policy->may_reclaim(&c.tree, none, GPUS(1)));
    assert_true(c.policy->may_reclaim(&c.tree, b, GPUS(1)));
    quota_case_release(&c);
}

/* SoCC'13: what one child holds of a resource must not starve its sibling that asks another. */
TEST(children_count_by_the_smallest_share_among_them)
{
    struct quota_case c;
    quota_case_init(&c, &quota_drf, 10);
    c.capacity[RESOURCE_CPU] = 10 * 1000;
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 0), b = quota_case_add(&c, "b", QUEUE_ROOT, 0);
    queue_id x = quota_case_add(&c, "x", org, 0), y = quota_case_add(&c, "y", org, 0);
    ready(&c);
    quota_case_charge(&c, x, GPUS(8));
    quota_case_charge(&c, y, GPUS_CPUS(0, 1));
    quota_case_charge(&c, b, GPUS(2));
    /* x is scaled from 8/10 to y's 1/10: <1, 1> against b's 2/10. */
    assert_true(quota_case_compare(&c, org, GPUS(1), b, GPUS(1)) < 0);
    quota_case_charge(&c, y, GPUS_CPUS(0, 2)); /* now to 3/10 */
    assert_true(quota_case_compare(&c, org, GPUS(1), b, GPUS(1)) > 0);
    quota_case_release(&c);
}

TEST(the_saturated_count_in_full_and_go_last)
{
    struct quota_case c;
    quota_case_init(&c, &quota_drf, 10);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 0), b = quota_case_add(&c, "b", QUEUE_ROOT, 0);
    queue_id x = quota_case_add(&c, "x", org, 0), y = quota_case_add(&c, "y", org, 0);
    quota_case_ready(&c);
    quota_case_demand(&c, x, GPUS(4));
    quota_case_demand(&c, y, GPUS(9));
    quota_case_demand(&c, b, GPUS(9));
    quota_case_charge(&c, x, GPUS(4)); /* all it asks */
    quota_case_charge(&c, y, GPUS(1));
    quota_case_charge(&c, b, GPUS(3));
    assert_true(quota_case_compare(&c, org, GPUS(1), b, GPUS(1)) > 0); /* 4 + 1 against 3 */
    quota_case_charge(&c, y, GPUS(7)); /* 8 of 9: it still goes before one that asks nothing */
    assert_true(quota_case_compare(&c, x, GPUS(0), y, GPUS(1)) > 0);
    quota_case_uncharge(&c, y, GPUS(7));
    quota_case_demand(&c, x, GPUS(1));
    assert_true(quota_case_compare(&c, org, GPUS(1), b, GPUS(1)) < 0); /* 1 + 1 against 3 */
    assert_true(quota_case_compare(&c, x, GPUS(1), y, GPUS(1)) > 0);
    quota_case_release(&c);
}

TEST(reclaim_evens_out_and_stops_there)
{
    struct quota_case c;
    quota_case_init(&c, &quota_drf, 8);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 0), b = quota_case_add(&c, "b", QUEUE_ROOT, 0);
    ready(&c);
    quota_case_charge(&c, b, GPUS(8));
    assert_true(quota_case_may_take(&c, a, GPUS(4), b, GPUS(4))); /* equal in the end */
    assert_true(quota_case_may_take(&c, a, GPUS(4), b, GPUS(0))); /* could it lose anything? */
    assert_false(quota_case_may_take(&c, a, GPUS(5), b, GPUS(4)));
    assert_false(quota_case_may_take(&c, a, GPUS(4), b, GPUS(5)));
    quota_case_uncharge(&c, b, GPUS(4));
    quota_case_charge(&c, a, GPUS(4));
    assert_true(quota_case_is_valid(&c, a, GPUS(4), b));
    assert_false(quota_case_may_take(&c, b, GPUS(4), a, GPUS(4)));
    quota_case_charge(&c, a, GPUS(1));
    assert_false(quota_case_is_valid(&c, a, GPUS(4), b));
    quota_case_release(&c);
}
