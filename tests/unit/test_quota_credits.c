/* credits: banking, spending, opening, and what credit gives a right to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/quota/credits.h"
#include "tests/support/quota_case.h"

#define S TIME_NS_PER_S

static int64_t balance_gpu_s(struct quota_case *c, queue_id queue)
{
    queue_tree_update(&c->tree, c->table); /* so that all accounts are brought up to date */
    quota_case_advance(c, c->tree.now);
    const struct credit_account *account = queue_tree_own(&c->tree, queue);
    return (int64_t)(account->balance / ((__int128)S * 1000));
}

static bool is_open(struct quota_case *c, queue_id queue)
{
    return ((const struct credit_account *)queue_tree_own(&c->tree, queue))->is_open;
}

/* a and b deserve 4 GPUs each of 8; at most 100 s of that are banked, 10 s open it. */
static void setup(struct quota_case *c, queue_id *a, queue_id *b)
{
    quota_case_init(c, &quota_credits, 8);
    c->config.credit_cap = 100 * S;
    c->config.share_period = 10 * S;
    *a = quota_case_add(c, "a", QUEUE_ROOT, 4);
    *b = quota_case_add(c, "b", QUEUE_ROOT, 4);
}

static void idle_guarantee_is_banked_up_to_the_cap(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(3));
    assert_int_equal(c.next, 10 * S); /* both were idle when it asked */
    quota_case_advance(&c, 30 * S);
    assert_int_equal(balance_gpu_s(&c, a), 30);
    assert_int_equal(balance_gpu_s(&c, b), 120);
    quota_case_advance(&c, 1000 * S);
    assert_int_equal(balance_gpu_s(&c, a), 400);
    assert_int_equal(balance_gpu_s(&c, b), 400);
    assert_int_equal(c.next, TIME_NEVER);
    quota_case_release(&c);
}

static void spending_drains_it_to_the_nanosecond(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    quota_case_spec(&c, a)->credit_gpu_ns = 7; /* open at once */
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(6));
    quota_case_advance(&c, 0);
    assert_true(is_open(&c, a));
    assert_int_equal(c.next, 4); /* 7 GPU ns at 2 GPUs: 3.5, rounded up */
    assert_false(quota_case_advance(&c, 3));
    assert_true(quota_case_advance(&c, 4));
    assert_false(is_open(&c, a));
    quota_case_advance(&c, 50 * S); /* borrowing costs nothing */
    const struct credit_account *account = queue_tree_own(&c.tree, a);
    assert_true(account->spent == 7000 && account->banked == 0 && account->balance == 0);
    quota_case_release(&c);
}

static void it_opens_when_a_step_is_banked_and_closes_when_all_is_gone(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(2));
    quota_case_charge(&c, b, GPUS(4));
    quota_case_advance(&c, 0);
    assert_int_equal(c.next, 20 * S); /* 40 GPU s at 2 GPUs */
    assert_false(quota_case_advance(&c, 19 * S));
    assert_true(quota_case_advance(&c, 20 * S));
    assert_true(is_open(&c, a));
    quota_case_charge(&c, a, GPUS(3)); /* 1 above */
    assert_false(quota_case_advance(&c, 59 * S));
    assert_int_equal(balance_gpu_s(&c, a), 1);
    assert_int_equal(c.next, 60 * S);
    assert_true(quota_case_advance(&c, 60 * S));
    assert_false(is_open(&c, a));
    quota_case_uncharge(&c, a, GPUS(2));
    quota_case_advance(&c, 61 * S); /* a little is not enough */
    assert_false(is_open(&c, a));
    quota_case_charge(&c, a, GPUS(4));
    quota_case_advance(&c, 100 * S); /* and is not spent while closed */
    assert_int_equal(balance_gpu_s(&c, a), 1);
    quota_case_release(&c);
}

static void own_goes_before_credit_before_borrowing(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    quota_case_spec(&c, a)->credit_gpu_ns = 100 * S;
    queue_id d = quota_case_add(&c, "d", QUEUE_ROOT, 4);
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(4));
    quota_case_charge(&c, d, GPUS(4));
    assert_true(quota_case_compare(&c, a, GPUS(1), b, GPUS(4)) > 0);
    assert_true(quota_case_compare(&c, a, GPUS(4), d, GPUS(1)) < 0);
    assert_true(quota_case_compare(&c, b, GPUS(5), d, GPUS(1)) < 0); /* both borrow: 5/4, 5/4 */
    quota_case_spec(&c, b)->created = 1;
    assert_true(quota_case_compare(&c, b, GPUS(5), d, GPUS(1)) > 0); /* the older */
    quota_case_spec(&c, b)->created = 0;
    assert_true(quota_case_compare(&c, b, GPUS(6), d, GPUS(1)) > 0);
    quota_case_release(&c);
}

static void borrowers_give_back_to_owners_and_to_credit(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    queue_id d = quota_case_add(&c, "d", QUEUE_ROOT, 2);
    quota_case_ready(&c);
    quota_case_charge(&c, b, GPUS(6));
    assert_true(quota_case_may_take(&c, a, GPUS(4), b, GPUS(4))); /* over before it is taken */
    assert_false(c.policy->may_reclaim(&c.tree, a, GPUS(5)));
    assert_false(quota_case_may_take(&c, a, GPUS(5), b, GPUS(2)));
    quota_case_advance(&c, 20 * S);
    assert_true(is_open(&c, a) && is_open(&c, d) && !is_open(&c, b));
    assert_true(c.policy->may_reclaim(&c.tree, a, GPUS(5))); /* on credit */
    assert_true(quota_case_may_take(&c, a, GPUS(5), b, GPUS(2)));
    assert_true(quota_case_may_take(&c, a, GPUS(5), b, GPUS(0)));  /* could it lose anything? */
    assert_false(quota_case_may_take(&c, a, GPUS(5), b, GPUS(3))); /* leaves b its own */
    quota_case_charge(&c, d, GPUS(4));                             /* d spends: its excess is its own */
    assert_false(quota_case_may_take(&c, a, GPUS(4), d, GPUS(1)));
    quota_case_charge(&c, a, GPUS(5));
    assert_true(quota_case_is_valid(&c, a, GPUS(5), b));
    quota_case_uncharge(&c, b, GPUS(3));
    assert_false(quota_case_is_valid(&c, a, GPUS(5), b));
    quota_case_uncharge(&c, a, GPUS(1)); /* within its own: b may be left short by a unit */
    assert_true(quota_case_is_valid(&c, a, GPUS(4), b));
    quota_case_release(&c);
}

static void an_inner_queue_without_an_amount_has_its_childrens(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    queue_id org = quota_case_add(&c, "org", QUEUE_ROOT, 0);
    queue_id x = quota_case_add(&c, "x", org, 2), y = quota_case_add(&c, "y", org, 2);
    quota_case_spec(&c, x)->credit_gpu_ns = 100 * S;
    quota_case_ready(&c);
    quota_case_charge(&c, b, GPUS(8));
    quota_case_charge(&c, y, GPUS(3)); /* more than its own, less than org's */
    assert_false(quota_case_may_take(&c, a, GPUS(4), y, GPUS(1)));
    assert_true(quota_case_may_take(&c, x, GPUS(5), b, GPUS(1)));  /* x's credit will do for org */
    assert_false(quota_case_may_take(&c, y, GPUS(2), b, GPUS(1))); /* y has none */
    quota_case_charge(&c, y, GPUS(2));
    assert_true(quota_case_compare(&c, org, GPUS(1), b, GPUS(1)) < 0); /* credit below it */
    assert_true(quota_case_may_take(&c, a, GPUS(4), y, GPUS(1)));
    quota_case_release(&c);
}

/* 1 GPU ns at 0.999 GPUs: a thousandth is left after the first nanosecond, and lasts into the second. */
static void a_thousandth_left_is_not_gone(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    quota_case_spec(&c, a)->credit_gpu_ns = 1;
    quota_case_ready(&c);
    quota_case_charge(&c, a, (const int64_t[QUEUE_SUM_COUNT]){4999});
    quota_case_advance(&c, 0);
    assert_int_equal(c.next, 2);
    assert_false(quota_case_advance(&c, 1));
    assert_true(quota_case_advance(&c, 2));
    quota_case_release(&c);
}

/* Only GPUs are banked, and only GPUs are taken back. */
static void who_asks_no_gpu_takes_nothing_back(void **state)
{
    (void)state;
    struct quota_case c;
    queue_id a, b;
    setup(&c, &a, &b);
    quota_case_ready(&c);
    assert_true(c.policy->may_reclaim(&c.tree, a, GPUS_CPUS(1, 1)));
    assert_false(c.policy->may_reclaim(&c.tree, a, GPUS_CPUS(0, 1)));
    quota_case_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_guarantee_is_banked_up_to_the_cap),
        cmocka_unit_test(spending_drains_it_to_the_nanosecond),
        cmocka_unit_test(it_opens_when_a_step_is_banked_and_closes_when_all_is_gone),
        cmocka_unit_test(own_goes_before_credit_before_borrowing),
        cmocka_unit_test(borrowers_give_back_to_owners_and_to_credit),
        cmocka_unit_test(an_inner_queue_without_an_amount_has_its_childrens),
        cmocka_unit_test(a_thousandth_left_is_not_gone),
        cmocka_unit_test(who_asks_no_gpu_takes_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
