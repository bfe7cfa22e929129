/* What quota policies measure: what is in dispute between a preemptor and a unit, and that one of
 * the smallest amount, a MiB, counts. */
#include "tests/support/test.h"

#include "policies/quota/amounts.h"
#include "tests/support/quota_case.h"

/* Of GPUs, CPUs and memory. */
#define AMOUNTS(gpus, cpus, memory) ((const int64_t[QUEUE_SUM_COUNT]){(gpus)*1000, (cpus)*1000, (memory)*1024})

static void check_disputed(const int64_t *ask, const int64_t *unit, bool gpu, bool cpu, bool memory)
{
    struct taking taking = {.preemptor_ask = ask, .victim_unit = unit};
    assert_int_equal(amount_is_disputed(&taking, RESOURCE_GPU), gpu);
    assert_int_equal(amount_is_disputed(&taking, RESOURCE_CPU), cpu);
    assert_int_equal(amount_is_disputed(&taking, RESOURCE_MEMORY), memory);
}

TEST(what_both_use_is_disputed)
{
    check_disputed(AMOUNTS(1, 1, 1), AMOUNTS(1, 1, 1), true, true, true);
    check_disputed(AMOUNTS(1, 0, 1), AMOUNTS(1, 1, 0), true, false, false);
    /* A unit of one resource alone is something, whichever it is: of the others it has none to lose. */
    check_disputed(AMOUNTS(1, 1, 1), AMOUNTS(1, 0, 0), true, false, false);
    check_disputed(AMOUNTS(1, 1, 1), AMOUNTS(0, 1, 0), false, true, false);
    check_disputed(AMOUNTS(1, 1, 1), AMOUNTS(0, 0, 1), false, false, true);
}

TEST(of_a_unit_of_nothing_all_that_is_asked_is)
{
    check_disputed(AMOUNTS(1, 0, 1), AMOUNTS(0, 0, 0), true, false, true);
    check_disputed(AMOUNTS(0, 2, 0), AMOUNTS(0, 0, 0), false, true, false);
}

/* Memory alone. */
#define MIB(n) ((const int64_t[QUEUE_SUM_COUNT]){0, 0, (n)})

TEST(a_mib_beyond_a_quota_is_too_much)
{
    struct quota_case c;
    quota_case_init(&c, &quota_limits, 4);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4);
    quota_case_spec(&c, a)->deserved[RESOURCE_MEMORY] = 10;
    quota_case_ready(&c);
    quota_case_charge(&c, a, MIB(9));
    assert_int_equal(c.policy->forbids(&c.tree, a, MIB(1)), QUEUE_NONE);
    quota_case_charge(&c, a, MIB(1));
    assert_int_equal(c.policy->forbids(&c.tree, a, MIB(1)), a);
    quota_case_release(&c);
}

/* Two queues divide the 2^20 MiB evenly. */
TEST(a_mib_beyond_a_share_is_too_much)
{
    enum { HALF = 512 * 1024 };
    struct quota_case c;
    quota_case_init(&c, &quota_proportion, 4);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 0), b = quota_case_add(&c, "b", QUEUE_ROOT, 0);
    quota_case_spec(&c, a)->priority = quota_case_spec(&c, b)->priority + 1;
    quota_case_ready(&c);
    quota_case_demand(&c, a, MIB(2 * HALF));
    quota_case_demand(&c, b, MIB(2 * HALF));
    assert_int_equal(queue_tree_share(&c.tree, a, RESOURCE_MEMORY), HALF);
    quota_case_charge(&c, a, MIB(HALF - 1));
    quota_case_charge(&c, b, MIB(HALF - 1));
    assert_true(c.policy->may_reclaim(&c.tree, a, MIB(1)));
    quota_case_charge(&c, a, MIB(1));
    assert_false(c.policy->may_reclaim(&c.tree, a, MIB(1)));
    /* a is at its share, b not yet: that comes before a's priority. */
    assert_true(quota_case_compare(&c, a, MIB(1), b, MIB(2)) > 0);
    quota_case_release(&c);
}

/* Something of nothing is a share of 1: a's is larger than b's half, though it holds no GPU. */
TEST(a_mib_of_nothing_deserved_is_all_of_it)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 8);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    quota_case_spec(&c, a)->deserved[RESOURCE_MEMORY] = 0;
    quota_case_ready(&c);
    quota_case_charge(&c, b, GPUS(2));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) < 0);
    quota_case_charge(&c, a, MIB(1));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) > 0);
    quota_case_release(&c);
}

/* A job of n GPUs that cannot be preempted. */
#define FIRM(n) ((const int64_t[QUEUE_SUM_COUNT]){(n)*1000, 0, 0, (n)*1000})

/* a holds 2 of the 4 GPUs it deserves, b 3: a's share is the smaller, though its limit, 2, is reached. */
TEST(a_limit_says_nothing_of_what_is_deserved)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 16);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    quota_case_spec(&c, a)->limit[RESOURCE_GPU] = 2000;
    quota_case_spec(&c, b)->limit[RESOURCE_GPU] = 8000;
    quota_case_ready(&c);
    quota_case_charge(&c, a, FIRM(2));
    quota_case_charge(&c, b, GPUS(3));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(1)) < 0);
    /* With 4 held b may hold more, but is entitled to nothing more, firm or not. */
    assert_true(c.policy->may_reclaim(&c.tree, b, FIRM(1)));
    quota_case_charge(&c, b, GPUS(1));
    assert_false(c.policy->may_reclaim(&c.tree, b, GPUS(1)));
    assert_false(c.policy->may_reclaim(&c.tree, b, FIRM(1)));
    quota_case_release(&c);
}

/* v holds no CPU of the 5 that are kept for it; that does not protect its GPUs. */
TEST(a_guarantee_spares_what_would_be_taken_alone)
{
    struct quota_case c;
    quota_case_init(&c, &quota_capacity, 8);
    queue_id g = quota_case_add(&c, "g", QUEUE_ROOT, 4), v = quota_case_add(&c, "v", QUEUE_ROOT, 2);
    quota_case_spec(&c, v)->guarantee[RESOURCE_CPU] = 5000;
    quota_case_spec(&c, v)->guarantee[RESOURCE_GPU] = 1000;
    quota_case_ready(&c);
    quota_case_charge(&c, v, GPUS(3));
    assert_true(quota_case_may_take(&c, g, GPUS(1), v, GPUS(1)));
    assert_true(quota_case_may_take(&c, g, GPUS(1), v, GPUS(2)));
    assert_false(quota_case_may_take(&c, g, GPUS(1), v, GPUS(3))); /* less than 1 GPU is left */
    quota_case_release(&c);
}
