/* cohort: the formulas of lending worked by hand, the order, and who may be evicted for whom. */
#include "tests/support/test.h"

#include "policies/quota/cohort_tree.h"
#include "policies/quota/quota_config.h"
#include "tests/support/quota_case.h"

/* Two teams of 4 and one of 8 GPUs in a cohort; another cohort beside it, both under one. */
struct org {
    struct quota_case c;
    queue_id top, left, right, a, b, big, far;
};

static void setup(struct org *org)
{
    struct quota_case *c = &org->c;
    quota_case_init(c, &quota_cohort, 64);
    org->top = quota_case_add(c, "top", QUEUE_ROOT, 0);
    org->left = quota_case_add(c, "left", org->top, 0);
    org->right = quota_case_add(c, "right", org->top, 0);
    org->a = quota_case_add(c, "a", org->left, 4);
    org->b = quota_case_add(c, "b", org->left, 4);
    org->big = quota_case_add(c, "big", org->left, 8);
    org->far = quota_case_add(c, "far", org->right, 10);
    c->config.reclaim_within_cohort = RECLAIM_ANY;
    c->config.strategies[0] = STRATEGY_FINAL_SHARE;
}

static int64_t available(struct org *org, queue_id queue)
{
    queue_id binds;
    return cohort_available(&org->c.tree, queue, RESOURCE_GPU, &binds);
}

static struct cohort_state now(const struct org *org, queue_id queue)
{
    return *cohort_state(&org->c.tree, queue);
}

static int64_t usage(const struct org *org, queue_id queue)
{
    return cohort_usage(&org->c.tree, queue, RESOURCE_GPU, COHORT_AS_IS);
}

/* A job of the root itself has no queue above from which to reclaim: it read past the tree. */
TEST(the_root_reclaims_nothing)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.big, GPUS(12));
    for (int64_t gpus = 1; gpus <= 64; gpus *= 2)
        assert_false(org.c.policy->may_reclaim(&org.c.tree, QUEUE_ROOT, GPUS(gpus)));
    quota_case_release(&org.c);
}

TEST(idle_quota_of_the_whole_tree_is_available)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    assert_int_equal(now(&org, org.left).quota[RESOURCE_GPU], 16000);
    assert_int_equal(now(&org, org.top).quota[RESOURCE_GPU], 26000);
    assert_int_equal(now(&org, org.a).potential_available[RESOURCE_GPU], 26000);
    quota_case_charge(&org.c, org.far, GPUS(10));
    quota_case_charge(&org.c, org.big, GPUS(12));
    assert_int_equal(available(&org, org.a), 4000);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.a, GPUS(4)), QUEUE_NONE);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.a, GPUS(5)), org.top);
    quota_case_charge(&org.c, org.b, GPUS(7)); /* over all there is: negative, not 0 */
    assert_int_equal(available(&org, org.a), -3000);
    quota_case_release(&org.c);
}

TEST(a_lending_limit_keeps_the_rest_at_home)
{
    struct org org;
    setup(&org);
    quota_case_spec(&org.c, org.big)->lending_limit[RESOURCE_GPU] = 3000;
    quota_case_ready(&org.c);
    assert_int_equal(now(&org, org.big).kept[RESOURCE_GPU], 5000);
    assert_int_equal(now(&org, org.left).quota[RESOURCE_GPU], 4000 + 4000 + 3000);
    quota_case_charge(&org.c, org.big, GPUS(6));
    assert_int_equal(usage(&org, org.left), 1000); /* 5 of the 6 are its own business */
    quota_case_charge(&org.c, org.a, GPUS(2));
    assert_int_equal(usage(&org, org.left), 3000);
    assert_int_equal(available(&org, org.b), 21000 - 3000);
    quota_case_uncharge(&org.c, org.big, GPUS(2));
    assert_int_equal(usage(&org, org.left), 2000);
    assert_int_equal(available(&org, org.big), 1000 + 19000);
    quota_case_release(&org.c);
}

TEST(a_borrowing_limit_binds_where_it_stands)
{
    struct org org;
    setup(&org);
    quota_case_spec(&org.c, org.a)->borrowing_limit[RESOURCE_GPU] = 1000;
    quota_case_spec(&org.c, org.left)->borrowing_limit[RESOURCE_GPU] = 0;
    quota_case_ready(&org.c);
    assert_int_equal(now(&org, org.a).potential_available[RESOURCE_GPU], 5000);
    assert_int_equal(now(&org, org.b).potential_available[RESOURCE_GPU], 16000);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.a, GPUS(5)), QUEUE_NONE);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.a, GPUS(6)), org.a);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.b, GPUS(17)), org.left);
    quota_case_release(&org.c);
}

TEST(a_queue_under_no_cohort_borrows_from_nobody)
{
    struct quota_case c;
    quota_case_init(&c, &quota_cohort, 16);
    c.config.reclaim_within_cohort = RECLAIM_ANY;
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    quota_case_ready(&c);
    assert_int_equal(c.policy->forbids(&c.tree, a, GPUS(5)), a);
    quota_case_charge(&c, b, GPUS(8));
    assert_false(c.policy->may_reclaim(&c.tree, a, GPUS(1)));
    assert_false(quota_case_may_take(&c, a, GPUS(1), b, GPUS(1)));
    quota_case_release(&c);
}

TEST(what_is_not_under_quota_is_free)
{
    struct org org;
    setup(&org);
    quota_case_spec(&org.c, org.b)->deserved[RESOURCE_CPU] = 8000;
    quota_case_spec(&org.c, org.far)->deserved[RESOURCE_CPU] = 8000;
    quota_case_spec(&org.c, org.far)->lending_limit[RESOURCE_CPU] = 0;
    quota_case_spec(&org.c, org.a)->lending_limit[RESOURCE_CPU] = 2000;
    quota_case_spec(&org.c, org.big)->deserved[RESOURCE_CPU] = 0;
    quota_case_ready(&org.c);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.a, GPUS_CPUS(1, 900)), QUEUE_NONE);
    quota_case_charge(&org.c, org.a, GPUS_CPUS(1, 900));
    /* a's own CPUs are unbounded, but it lends 2: b has its 8 and those. */
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.b, GPUS_CPUS(1, 10)), QUEUE_NONE);
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.b, GPUS_CPUS(1, 11)), org.top);
    quota_case_release(&org.c);
}

TEST(classical_who_does_not_borrow_goes_first)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.a, GPUS(3));
    assert_true(quota_case_compare(&org.c, org.a, GPUS(2), org.b, GPUS(4)) > 0);
    assert_true(quota_case_compare(&org.c, org.a, GPUS(1), org.b, GPUS(5)) < 0);
    /* Both borrow: 1/26 against 2/26. */
    assert_true(quota_case_compare(&org.c, org.a, GPUS(2), org.b, GPUS(6)) < 0);
    /* Neither does, both would fill theirs: the older. */
    assert_true(quota_case_compare(&org.c, org.a, GPUS(1), org.b, GPUS(4)) < 0);
    quota_case_release(&org.c);
}

TEST(fair_sharing_goes_by_weighted_share_with_the_job)
{
    struct org org;
    setup(&org);
    org.c.config.fair_sharing = true;
    quota_case_spec(&org.c, org.b)->weight_milli[RESOURCE_GPU] = 3000;
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.a, GPUS(5));
    /* a: 2 borrowed of 26 lendable, weight 1; b: 5 of 26, weight 3. */
    assert_true(quota_case_compare(&org.c, org.a, GPUS(1), org.b, GPUS(9)) > 0);
    assert_true(quota_case_compare(&org.c, org.a, GPUS(1), org.b, GPUS(11)) < 0);
    struct cohort_share share = cohort_share(&org.c.tree, org.a, COHORT_AS_IS);
    assert_int_equal(ratio_compare(share.plain, (struct ratio){1, 26}), 0);
    /* Of weight 0 borrowing is infinite; two such go by what they borrow. */
    quota_case_spec(&org.c, org.a)->weight_milli[RESOURCE_GPU] = 0;
    assert_true(quota_case_compare(&org.c, org.a, GPUS(1), org.b, GPUS(20)) > 0);
    quota_case_spec(&org.c, org.b)->weight_milli[RESOURCE_GPU] = 0;
    assert_true(quota_case_compare(&org.c, org.a, GPUS(1), org.b, GPUS(20)) < 0);
    /* Victims: the larger share as it is. */
    assert_true(quota_cohort.compare_victims(&org.c.tree,
                                             (struct contender){.queue = org.a, .ask = GPUS(1), .leaf = org.a},
                                             (struct contender){.queue = org.b, .ask = GPUS(1), .leaf = org.b}) < 0);
    quota_case_release(&org.c);
}

TEST(the_dominant_resource_counts)
{
    struct org org;
    setup(&org);
    org.c.config.fair_sharing = true;
    for (queue_id q = org.a; q <= org.far; q++)
        quota_case_spec(&org.c, q)->deserved[RESOURCE_CPU] = 10 * 1000;
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.a, GPUS_CPUS(5, 30)); /* 1/26 of GPUs, 20/40 of CPUs */
    quota_case_charge(&org.c, org.b, GPUS_CPUS(8, 0));  /* 4/26 of GPUs */
    struct cohort_share a = cohort_share(&org.c.tree, org.a, COHORT_AS_IS);
    assert_int_equal(ratio_compare(a.plain, (struct ratio){1, 2}), 0);
    assert_true(quota_case_compare(&org.c, org.a, GPUS(0), org.b, GPUS(0)) > 0);
    quota_case_release(&org.c);
}

/* a and b share 8 GPUs, all lent to b. */
static void b_borrows(struct org *org)
{
    setup(org);
    quota_case_spec(&org->c, org->big)->lending_limit[RESOURCE_GPU] = 0;
    quota_case_spec(&org->c, org->far)->lending_limit[RESOURCE_GPU] = 0;
}

TEST(classical_reclaim_is_for_what_fits_the_quota)
{
    struct org org;
    b_borrows(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.b, GPUS(8));
    assert_int_equal(quota_cohort.forbids(&org.c.tree, org.a, GPUS(4)), org.top);
    assert_true(quota_cohort.may_reclaim(&org.c.tree, org.a, GPUS(4)));
    assert_false(quota_cohort.may_reclaim(&org.c.tree, org.a, GPUS(9))); /* more than there is */
    assert_true(quota_case_may_take(&org.c, org.a, GPUS(4), org.b, GPUS(2)));
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(5), org.b, GPUS(2)));
    assert_true(quota_case_may_take(&org.c, org.a, GPUS(4), org.b, GPUS(0))); /* could it lose anything? */
    quota_case_uncharge(&org.c, org.b, GPUS(4));
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(4), org.b, GPUS(2))); /* within its own */
    quota_case_charge(&org.c, org.a, GPUS(4));
    assert_true(quota_case_is_valid(&org.c, org.a, GPUS(4), org.b));
    quota_case_charge(&org.c, org.a, GPUS(1)); /* a victim of its own was given back */
    assert_false(quota_case_is_valid(&org.c, org.a, GPUS(4), org.b));
    quota_case_release(&org.c);
}

TEST(reclaim_obeys_the_cohort_policy)
{
    struct org org;
    b_borrows(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.b, GPUS(8));
    struct taking taking = {org.a, org.b, GPUS(4), GPUS(2), 50, 50, NULL};
    assert_true(quota_cohort.may_take(&org.c.tree, &taking));
    org.c.config.reclaim_within_cohort = RECLAIM_LOWER_PRIORITY;
    assert_false(quota_cohort.may_take(&org.c.tree, &taking));
    taking.victim_priority = 49;
    assert_true(quota_cohort.may_take(&org.c.tree, &taking));
    org.c.config.reclaim_within_cohort = RECLAIM_NEVER;
    assert_false(quota_cohort.may_take(&org.c.tree, &taking));
    assert_false(quota_cohort.may_reclaim(&org.c.tree, org.a, GPUS(4)));
    quota_case_release(&org.c);
}

TEST(borrow_within_cohort_takes_lower_priorities_up_to_a_bound)
{
    struct org org;
    b_borrows(&org);
    quota_case_spec(&org.c, org.far)->lending_limit[RESOURCE_GPU] = QUOTA_UNLIMITED;
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.b, GPUS(8));
    quota_case_charge(&org.c, org.a, GPUS(4));
    quota_case_charge(&org.c, org.far, GPUS(6));
    struct taking taking = {org.a, org.b, GPUS(2), GPUS(2), 80, 30, NULL};
    assert_false(quota_cohort.may_reclaim(&org.c.tree, org.a, GPUS(2)));
    assert_false(quota_cohort.may_take(&org.c.tree, &taking));
    org.c.config.borrow_within_cohort = RECLAIM_LOWER_PRIORITY;
    org.c.config.borrow_max_priority = 30;
    assert_true(quota_cohort.may_reclaim(&org.c.tree, org.a, GPUS(2)));
    assert_true(quota_cohort.may_take(&org.c.tree, &taking));
    taking.victim_priority = 31; /* above the bound */
    assert_false(quota_cohort.may_take(&org.c.tree, &taking));
    taking.victim_priority = 30;
    taking.preemptor_priority = 30; /* not lower */
    assert_false(quota_cohort.may_take(&org.c.tree, &taking));
    quota_case_release(&org.c);
}

/* The preemptor borrows itself, but its cohort does not: from other cohorts it takes what is its cohort's. */
TEST(a_cohort_within_its_quota_has_the_advantage)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.far, GPUS(20));
    quota_case_charge(&org.c, org.a, GPUS(4));
    assert_true(quota_cohort.may_reclaim(&org.c.tree, org.a, GPUS(6))); /* left: 10 of 16 */
    assert_true(quota_case_may_take(&org.c, org.a, GPUS(6), org.far, GPUS(5)));
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(13), org.far, GPUS(5)));
    quota_case_charge(&org.c, org.b, GPUS(5));
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(6), org.b, GPUS(1))); /* a near one */
    quota_case_release(&org.c);
}

/* A borrower inside a cohort that lends is safe from other cohorts. */
TEST(no_cohort_below_the_common_one_may_be_within_its_quota)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.a, GPUS(12)); /* a borrows, its cohort (16) does not */
    assert_false(quota_case_may_take(&org.c, org.far, GPUS(2), org.a, GPUS(1)));
    quota_case_charge(&org.c, org.b, GPUS(5));
    assert_true(quota_case_may_take(&org.c, org.far, GPUS(2), org.a, GPUS(1)));
    quota_case_release(&org.c);
}

TEST(fair_strategies)
{
    struct org org;
    setup(&org);
    org.c.config.fair_sharing = true;
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.b, GPUS(13)); /* borrows 9 of 26 */
    quota_case_charge(&org.c, org.a, GPUS(7));  /* borrows 3 */
    /* final share: a with 2 more borrows 5 <= 9 - 4, with 3 more 6 > 5. */
    assert_true(quota_case_may_take(&org.c, org.a, GPUS(2), org.b, GPUS(4)));
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(3), org.b, GPUS(4)));
    /* initial share: below 9. */
    org.c.config.strategies[1] = STRATEGY_INITIAL_SHARE;
    assert_true(quota_case_may_take(&org.c, org.a, GPUS(5), org.b, GPUS(4)));
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(6), org.b, GPUS(4)));
    /* Neither is needed by who does not borrow. */
    org.c.config.strategies[0] = org.c.config.strategies[1] = STRATEGY_NONE;
    assert_false(quota_case_may_take(&org.c, org.a, GPUS(1), org.b, GPUS(4)));
    assert_true(quota_case_may_take(&org.c, org.big, GPUS(8), org.b, GPUS(4)));
    assert_false(quota_case_may_take(&org.c, org.big, GPUS(9), org.b, GPUS(4)));
    quota_case_release(&org.c);
}

/* Kueue's issue 14543: a plan was good until a victim of the preemptor's own queue was given back. */
TEST(shares_are_looked_at_again_after_trimming)
{
    struct org org;
    setup(&org);
    org.c.config.fair_sharing = true;
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.b, GPUS(9)); /* borrows 5 */
    quota_case_charge(&org.c, org.a, GPUS(9)); /* the job of 4 included, one of 3 evicted: borrows 5 */
    assert_true(quota_case_is_valid(&org.c, org.a, GPUS(4), org.b));
    quota_case_charge(&org.c, org.a, GPUS(3));
    assert_false(quota_case_is_valid(&org.c, org.a, GPUS(4), org.b));
    quota_case_release(&org.c);
}

TEST(a_changed_quota_is_noticed_once)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    assert_false(quota_case_advance(&org.c, 10));
    assert_int_equal(org.c.next, TIME_NEVER);
    quota_case_spec(&org.c, org.far)->deserved[RESOURCE_GPU] = 12000;
    queue_tree_update(&org.c.tree, org.c.table);
    assert_true(quota_case_advance(&org.c, 20));
    assert_int_equal(now(&org, org.a).potential_available[RESOURCE_GPU], 28000);
    assert_false(quota_case_advance(&org.c, 30));
    quota_case_release(&org.c);
}

static int compare_jobs(struct org *org, int32_t priority_a, time_ns submit_a, int32_t priority_b, time_ns submit_b)
{
    return quota_cohort.compare(
        &org->c.tree,
        (struct contender){.queue = org->a, .ask = GPUS(1), .leaf = org->a, .priority = priority_a, .submit = submit_a},
        (struct contender){
            .queue = org->b, .ask = GPUS(1), .leaf = org->b, .priority = priority_b, .submit = submit_b});
}

/* Whatever the queues use: both stay within what is theirs. */
TEST(equals_go_by_priority_and_then_by_age)
{
    struct org org;
    setup(&org);
    quota_case_ready(&org.c);
    quota_case_charge(&org.c, org.a, GPUS(3));
    for (int fair = 0; fair < 2; fair++) {
        org.c.config.fair_sharing = fair;
        assert_true(compare_jobs(&org, 60, 9, 50, 1) < 0);
        assert_true(compare_jobs(&org, 40, 1, 50, 9) > 0);
        assert_true(compare_jobs(&org, 50, 1, 50, 9) < 0);
        assert_true(compare_jobs(&org, 50, 9, 50, 1) > 0);
    }
    quota_case_charge(&org.c, org.a, GPUS(1)); /* 5 of 4 would borrow */
    for (int fair = 0; fair < 2; fair++) {
        org.c.config.fair_sharing = fair;
        assert_true(compare_jobs(&org, 60, 1, 50, 9) > 0);
    }
    quota_case_release(&org.c);
}
