/* proportion: divisions worked by hand, the order, and who may take from whom. */
#include "tests/support/test.h"

#include "tests/support/quota_case.h"

static queue_id add(struct quota_case *c, const char *name, queue_id parent, int64_t weight, int64_t guarantee)
{
    queue_id queue = quota_case_add(c, name, parent, 0);
    quota_case_spec(c, queue)->weight_milli[RESOURCE_GPU] = weight * 1000;
    quota_case_spec(c, queue)->guarantee[RESOURCE_GPU] = guarantee * 1000;
    return queue;
}

static int64_t share(struct quota_case *c, queue_id queue)
{
    return queue_tree_share(&c->tree, queue, RESOURCE_GPU);
}

TEST(what_one_does_not_ask_goes_to_the_others_by_weight)
{
    struct quota_case c;
    quota_case_init(&c, &quota_proportion, 12);
    queue_id a = add(&c, "a", 0, 3, 0), b = add(&c, "b", 0, 2, 0), d = add(&c, "d", 0, 1, 0);
    quota_case_ready(&c);
    quota_case_demand(&c, a, GPUS(2)); /* of 6 */
    quota_case_demand(&c, b, GPUS(20));
    quota_case_demand(&c, d, GPUS(20));
    assert_int_equal(share(&c, a), 2000);
    assert_int_equal(share(&c, b), 6667); /* 10 by 2:1; the odd milli to the first */
    assert_int_equal(share(&c, d), 3333);
    quota_case_release(&c);
}

/* Not to the lowest id, which says nothing. */
TEST(the_odd_milli_is_the_oldest_queue_s)
{
    struct quota_case c;
    quota_case_init(&c, &quota_proportion, 1);
    queue_id a = add(&c, "a", 0, 1, 0), b = add(&c, "b", 0, 1, 0), d = add(&c, "d", 0, 1, 0);
    quota_case_spec(&c, a)->created = quota_case_spec(&c, b)->created = 1;
    quota_case_ready(&c);
    quota_case_demand(&c, a, GPUS(1));
    quota_case_demand(&c, b, GPUS(1));
    quota_case_demand(&c, d, GPUS(1));
    assert_int_equal(share(&c, a), 333);
    assert_int_equal(share(&c, b), 333);
    assert_int_equal(share(&c, d), 334);
    quota_case_release(&c);
}

TEST(guarantees_and_limits_bound_the_water)
{
    struct quota_case c;
    quota_case_init(&c, &quota_proportion, 12);
    queue_id a = add(&c, "a", 0, 1, 8), b = add(&c, "b", 0, 1, 0), d = add(&c, "d", 0, 1, 0);
    quota_case_spec(&c, d)->limit[RESOURCE_GPU] = 1000;
    quota_case_ready(&c);
    quota_case_demand(&c, a, GPUS(1)); /* keeps its guarantee though it asks less */
    quota_case_demand(&c, b, GPUS(20));
    quota_case_demand(&c, d, GPUS(20));
    assert_int_equal(share(&c, a), 8000);
    assert_int_equal(share(&c, b), 3000);
    assert_int_equal(share(&c, d), 1000);
    quota_case_release(&c);
}

TEST(of_weight_0_it_is_the_guarantee_and_the_tree_passes_shares_down)
{
    struct quota_case c;
    quota_case_init(&c, &quota_proportion, 12);
    queue_id org = add(&c, "org", 0, 1, 0), b = add(&c, "b", 0, 1, 0);
    queue_id x = add(&c, "x", org, 0, 2), y = add(&c, "y", org, 1, 0);
    quota_case_ready(&c);
    quota_case_demand(&c, x, GPUS(9));
    quota_case_demand(&c, y, GPUS(9));
    quota_case_demand(&c, b, GPUS(9));
    assert_int_equal(share(&c, org), 6000);
    assert_int_equal(share(&c, x), 2000);
    assert_int_equal(share(&c, y), 4000);
    quota_case_release(&c);
}

/* 10 GPUs for three equal queues. */
static void thirds(struct quota_case *c, queue_id q[3])
{
    quota_case_init(c, &quota_proportion, 10);
    for (int i = 0; i < 3; i++)
        q[i] = add(c, i == 0 ? "a" : i == 1 ? "b" : "d", 0, 1, 0);
    quota_case_ready(c);
    for (int i = 0; i < 3; i++)
        quota_case_demand(c, q[i], GPUS(20));
}

TEST(the_overused_go_last)
{
    struct quota_case c;
    queue_id q[3];
    thirds(&c, q);
    quota_case_charge(&c, q[0], GPUS(4)); /* of 3 1/3 */
    quota_case_charge(&c, q[1], GPUS(2));
    assert_true(quota_case_compare(&c, q[0], GPUS(1), q[1], GPUS(2)) > 0);
    assert_true(quota_case_compare(&c, q[1], GPUS(1), q[2], GPUS(1)) > 0); /* the smaller part */
    quota_case_spec(&c, q[1])->priority = 200;
    assert_true(quota_case_compare(&c, q[1], GPUS(1), q[2], GPUS(1)) < 0);
    assert_true(quota_case_compare(&c, q[1], GPUS(2), q[2], GPUS(1)) > 0); /* it would be over */
    assert_true(quota_case_compare(&c, q[1], GPUS(2), q[2], GPUS(4)) < 0); /* so would both */
    quota_case_charge(&c, q[1], GPUS(2));                                  /* it is over */
    assert_true(quota_case_compare(&c, q[1], GPUS(1), q[2], GPUS(4)) > 0);
    c.capacity[RESOURCE_GPU] = 12 * 1000; /* now it is just at its share: no better */
    queue_tree_set_capacity(&c.tree, c.capacity);
    assert_true(quota_case_compare(&c, q[1], GPUS(1), q[2], GPUS(5)) > 0);
    quota_case_release(&c);
}

/* Volcano's issues 377 and 561: the tenth GPU must not go round between queues of 3 1/3 each. */
TEST(two_queues_do_not_take_one_gpu_in_turn)
{
    struct quota_case c;
    queue_id q[3];
    thirds(&c, q);
    quota_case_charge(&c, q[0], GPUS(4));
    quota_case_charge(&c, q[1], GPUS(3));
    quota_case_charge(&c, q[2], GPUS(2));
    assert_false(quota_case_may_take(&c, q[1], GPUS(1), q[0], GPUS(1)));
    assert_false(c.policy->may_reclaim(&c.tree, q[1], GPUS(1)));
    assert_true(c.policy->may_reclaim(&c.tree, q[2], GPUS(1)));
    assert_true(quota_case_may_take(&c, q[2], GPUS(1), q[0], GPUS(1)));
    assert_true(quota_case_may_take(&c, q[2], GPUS(1), q[0], GPUS(0)));  /* could it lose anything? */
    assert_false(quota_case_may_take(&c, q[2], GPUS(1), q[1], GPUS(1))); /* not over */
    quota_case_charge(&c, q[2], GPUS(1));
    assert_true(quota_case_is_valid(&c, q[2], GPUS(1), q[0]));
    quota_case_charge(&c, q[2], GPUS(1));
    assert_false(quota_case_is_valid(&c, q[2], GPUS(1), q[0]));
    quota_case_release(&c);
}

TEST(guarantees_hold_against_borrowers_and_reclaimers)
{
    struct quota_case c;
    quota_case_init(&c, &quota_proportion, 10);
    queue_id a = add(&c, "a", 0, 1, 5), b = add(&c, "b", 0, 4, 0);
    quota_case_ready(&c);
    quota_case_demand(&c, b, GPUS(20));
    assert_int_equal(c.policy->forbids(&c.tree, b, GPUS(6)), QUEUE_ROOT);
    assert_int_equal(c.policy->forbids(&c.tree, b, GPUS(5)), QUEUE_NONE);
    quota_case_demand(&c, a, GPUS(9));
    quota_case_charge(&c, a, GPUS(8)); /* share 5 */
    assert_true(quota_case_may_take(&c, b, GPUS(5), a, GPUS(3)));
    assert_false(quota_case_may_take(&c, b, GPUS(5), a, GPUS(4)));
    quota_case_release(&c);
}
