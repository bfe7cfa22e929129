/* capacity: shares of what is deserved, guarantees, and who may take from whom. */
#include "tests/support/test.h"

#include "policies/quota/guarantee.h"
#include "tests/support/quota_case.h"

static void guarantee(struct quota_case *c, queue_id queue, int64_t gpus)
{
    quota_case_spec(c, queue)->guarantee[RESOURCE_GPU] = gpus * 1000;
}

TEST(the_smaller_share_of_the_deserved_goes_first)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 8);
    queue_id none = quota_case_add(&c, "none", QUEUE_ROOT, 0);
    quota_case_spec(&c, b)->deserved[RESOURCE_CPU] = 10 * 1000;
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(2));
    quota_case_charge(&c, b, GPUS_CPUS(3, 4)); /* 3/8 of GPUs, 4/10 of CPUs */
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) > 0);
    quota_case_charge(&c, b, GPUS_CPUS(0, 2)); /* 6/10: the larger counts */
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) < 0);
    /* Who deserves nothing has share 1 even when it holds nothing. */
    assert_true(quota_case_compare(&c, none, GPUS(1), a, GPUS(1)) > 0);
    quota_case_charge(&c, a, GPUS(3));                                  /* 5/4 */
    assert_true(quota_case_compare(&c, none, GPUS(1), a, GPUS(1)) < 0); /* both borrow */
    quota_case_spec(&c, a)->priority = 101;
    assert_true(quota_case_compare(&c, none, GPUS(1), a, GPUS(1)) > 0);
    quota_case_release(&c);
}

/* What was taken back must not be taken again: b lost its one large job to a's small one and holds the smaller share
 * now, but that job would take it over what it deserves. */
TEST(who_stays_within_the_deserved_goes_first)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 12);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 8);
    quota_case_spec(&c, b)->priority = 200;
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(3));
    quota_case_charge(&c, b, GPUS(9));
    assert_true(quota_case_may_take(&c, a, GPUS(1), b, GPUS(8)));
    quota_case_uncharge(&c, b, GPUS(8));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(8)) < 0);
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(7)) > 0);
    assert_true(quota_case_compare(&c, a, GPUS(2), b, GPUS(8)) > 0); /* both borrow */
    quota_case_release(&c);
}

TEST(guarantees_stay_free_while_idle)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    queue_id g = quota_case_add(&c, "g", QUEUE_ROOT, 0), g1 = quota_case_add(&c, "g1", g, 6);
    guarantee(&c, g1, 6); /* and so is g guaranteed 6 */
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(4));
    assert_int_equal(queue_tree_forbids(&c.tree, b, GPUS(6)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, b, GPUS(7)), QUEUE_ROOT);
    assert_int_equal(queue_tree_forbids(&c.tree, g1, GPUS(6)), QUEUE_NONE);
    quota_case_charge(&c, g1, GPUS(2)); /* its own, that was counted */
    assert_int_equal(queue_tree_forbids(&c.tree, b, GPUS(6)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, b, GPUS(7)), QUEUE_ROOT);
    assert_int_equal(queue_tree_forbids(&c.tree, g1, GPUS(10)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, g1, GPUS(11)), QUEUE_ROOT);
    quota_case_release(&c);
}

TEST(within_its_guarantee_a_queue_is_never_held_up)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 8);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    guarantee(&c, a, 6);
    guarantee(&c, b, 6); /* more than there is */
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(6));
    assert_int_equal(queue_tree_forbids(&c.tree, b, GPUS(2)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(1)), QUEUE_ROOT);
    quota_case_release(&c);
}

TEST(a_guarantee_is_kept_within_the_limit_of_the_parent)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 8);
    queue_id a = quota_case_add(&c, "a", org, 4), b = quota_case_add(&c, "b", org, 4);
    quota_case_spec(&c, org)->limit[RESOURCE_GPU] = 10 * 1000;
    guarantee(&c, b, 3);
    quota_case_ready(&c);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(7)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(8)), org);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(11)), org);
    quota_case_release(&c);
}

TEST(more_capacity_is_news)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 8);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4);
    quota_case_ready(&c);
    assert_false(quota_case_advance(&c, 1));
    c.capacity[RESOURCE_GPU] = 9000;
    queue_tree_set_capacity(&c.tree, c.capacity);
    assert_true(quota_case_advance(&c, 2));
    assert_false(quota_case_advance(&c, 3));
    guarantee(&c, a, 2);
    queue_tree_update(&c.tree, c.table);
    assert_true(quota_case_advance(&c, 4));
    assert_int_equal(guarantee_of(&c.tree, QUEUE_ROOT, RESOURCE_GPU), 2000);
    quota_case_release(&c);
}

TEST(reclaim_is_for_what_stays_within_the_deserved)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 8);
    quota_case_spec(&c, a)->deserved[RESOURCE_CPU] = 10 * 1000;
    quota_case_ready(&c);
    quota_case_charge(&c, b, GPUS(9));
    assert_true(c.policy->may_reclaim(&c.tree, a, GPUS(4)));
    assert_false(c.policy->may_reclaim(&c.tree, a, GPUS(5)));
    assert_true(c.policy->may_reclaim(&c.tree, a, GPUS_CPUS(5, 10))); /* some resource will do */
    /* b is over before the unit goes, and may end below. */
    assert_true(quota_case_may_take(&c, a, GPUS(4), b, GPUS(4)));
    assert_false(quota_case_may_take(&c, a, GPUS(5), b, GPUS(4)));
    assert_false(quota_case_may_take(&c, a, GPUS(4), b, GPUS_CPUS(0, 4))); /* nothing shared */
    assert_true(quota_case_may_take(&c, a, GPUS(4), b, GPUS(0)));          /* could b lose anything? */
    quota_case_uncharge(&c, b, GPUS(1));
    assert_false(quota_case_may_take(&c, a, GPUS(4), b, GPUS(4)));
    quota_case_charge(&c, a, GPUS(4));
    assert_true(quota_case_is_valid(&c, a, GPUS(4), b));
    quota_case_charge(&c, a, GPUS(1));
    assert_false(quota_case_is_valid(&c, a, GPUS(4), b));
    quota_case_release(&c);
}

TEST(no_victim_breaks_its_guarantee)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 8), org = quota_case_add(&c, "org", QUEUE_ROOT, 4);
    queue_id b = quota_case_add(&c, "b", org, 4), d = quota_case_add(&c, "d", org, 0);
    guarantee(&c, b, 3);
    quota_case_ready(&c);
    quota_case_charge(&c, b, GPUS(6));
    assert_true(quota_case_may_take(&c, a, GPUS(8), b, GPUS(3)));
    assert_false(quota_case_may_take(&c, a, GPUS(8), b, GPUS(4)));
    quota_case_uncharge(&c, b, GPUS(4));
    quota_case_charge(&c, d, GPUS(2)); /* org holds just what it deserves */
    assert_false(quota_case_may_take(&c, a, GPUS(8), d, GPUS(1)));
    quota_case_charge(&c, d, GPUS(1));
    assert_true(quota_case_may_take(&c, a, GPUS(8), d, GPUS(1)));
    quota_case_release(&c);
}

TEST(limits_and_firm_quota_hold_at_every_level)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 0);
    queue_id a = quota_case_add(&c, "a", org, 2), b = quota_case_add(&c, "b", org, 3);
    quota_case_spec(&c, a)->limit[RESOURCE_GPU] = 7000;
    quota_case_spec(&c, org)->limit[RESOURCE_GPU] = 9000;
    quota_case_ready(&c);
    const int64_t firm[QUEUE_SUM_COUNT] = {3000, 0, 0, 3000};
    quota_case_charge(&c, b, firm);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(6)), QUEUE_NONE);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(7)), org);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(8)), a);
    assert_int_equal(queue_tree_forbids(&c.tree, a, firm), QUEUE_NONE); /* nobody asked for it */
    c.config.firm_needs_quota = true;
    assert_int_equal(queue_tree_forbids(&c.tree, a, firm), a);
    quota_case_spec(&c, a)->deserved[RESOURCE_GPU] = 3000;
    assert_int_equal(queue_tree_forbids(&c.tree, a, firm), QUEUE_NONE);
    quota_case_spec(&c, org)->deserved[RESOURCE_GPU] = 5000; /* with b's that would be 6 */
    assert_int_equal(queue_tree_forbids(&c.tree, a, firm), org);
    assert_int_equal(queue_tree_forbids(&c.tree, a, GPUS(3)), QUEUE_NONE);
    quota_case_release(&c);
}

/* The preemptor's own queue is short, but the one above has all that it deserves: only siblings give. */
TEST(every_level_below_the_common_one_is_asked)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 6), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    queue_id a = quota_case_add(&c, "a", org, 3), s = quota_case_add(&c, "s", org, 3);
    quota_case_ready(&c);
    quota_case_charge(&c, s, GPUS(6));
    quota_case_charge(&c, b, GPUS(10));
    assert_true(quota_case_may_take(&c, a, GPUS(2), s, GPUS(2)));
    assert_false(quota_case_may_take(&c, a, GPUS(2), b, GPUS(2)));
    quota_case_release(&c);
}
