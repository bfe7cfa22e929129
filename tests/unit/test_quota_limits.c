/* limits: fixed quotas at every level, and the order by what is used of them. */
#include "tests/support/test.h"

#include "policies/quota/amounts.h"
#include "tests/support/quota_case.h"

TEST(a_queue_holds_no_more_than_its_own_however_idle_the_others)
{
    struct quota_case c;
    quota_case_init(&c, &quota_limits, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 8);
    quota_case_spec(&c, a)->limit[RESOURCE_GPU] = 6000; /* the smaller of the two counts */
    quota_case_spec(&c, b)->limit[RESOURCE_GPU] = 6000;
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(3));
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS(1)), QUEUE_NONE);
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS(2)), a);
    assert_int_equal(quota_limits.forbids(&c.tree, b, GPUS(6)), QUEUE_NONE);
    assert_int_equal(quota_limits.forbids(&c.tree, b, GPUS(7)), b);
    quota_case_release(&c);
}

TEST(every_level_counts_and_only_what_is_asked)
{
    struct quota_case c;
    quota_case_init(&c, &quota_limits, 16);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 5);
    queue_id a = quota_case_add(&c, "a", org, 4), b = quota_case_add(&c, "b", org, 4);
    quota_case_spec(&c, a)->deserved[RESOURCE_CPU] = 10 * 1000;
    quota_case_ready(&c);
    quota_case_charge(&c, b, GPUS(3));
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS(2)), QUEUE_NONE);
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS(3)), org);
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS_CPUS(1, 11)), a);
    quota_case_charge(&c, a, GPUS_CPUS(0, 10));
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS(2)), QUEUE_NONE); /* asks no CPU */
    quota_case_release(&c);
}

TEST(an_inner_queue_of_zero_is_bounded_by_its_children)
{
    struct quota_case c;
    quota_case_init(&c, &quota_limits, 16);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 0);
    queue_id a = quota_case_add(&c, "a", org, 4), none = quota_case_add(&c, "none", org, 0);
    quota_case_ready(&c);
    assert_int_equal(quota_limits.forbids(&c.tree, a, GPUS(4)), QUEUE_NONE);
    assert_int_equal(quota_limits.forbids(&c.tree, none, GPUS(1)), none);
    assert_int_equal(amount_deserved(&c.tree, org, RESOURCE_GPU), 4000);
    quota_case_release(&c);
}

TEST(the_least_used_quota_goes_first_then_the_older_queue)
{
    struct quota_case c;
    quota_case_init(&c, &quota_limits, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 2), b = quota_case_add(&c, "b", QUEUE_ROOT, 8);
    quota_case_spec(&c, a)->created = 5;
    quota_case_ready(&c);
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) > 0); /* b is older */
    quota_case_charge(&c, a, GPUS(1));
    quota_case_charge(&c, b, GPUS(3));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) > 0); /* 1/2 against 3/8 */
    quota_case_charge(&c, b, GPUS(2));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) < 0); /* 1/2 against 5/8 */
    assert_null(quota_limits.may_reclaim);
    quota_case_release(&c);
}

TEST(ratios_are_totally_ordered)
{
    const struct ratio rising[] = {{0, 5}, {1, 1000}, {333, 1000}, {1, 3}, {7, 7}, {3, 0}};
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
        for (size_t j = 0; j < sizeof rising / sizeof *rising; j++)
            assert_int_equal(ratio_compare(rising[i], rising[j]), (i > j) - (i < j));
    assert_int_equal(ratio_compare((struct ratio){0, 0}, RATIO_ZERO), 0);
    assert_int_equal(ratio_compare((struct ratio){1, 0}, (struct ratio){2, 0}), 0);
}
