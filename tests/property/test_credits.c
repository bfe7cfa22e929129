/* credits: what was banked and not spent is there, to the nanosecond, however often one looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/quota/credits.h"
#include "tests/support/quota_case.h"

enum { QUEUES = 7, CASES = 100, STEPS = 150 };

static struct credit_account account(const struct quota_case *c, queue_id q)
{
    return *(const struct credit_account *)queue_tree_own(&c->tree, q);
}

/* Two inner queues, one of them without an amount of its own; and five leaves. */
static void setup(struct quota_case *c, uint64_t seed)
{
    static const queue_id parents[QUEUES] = {0, 0, 1, 1, 2, 2, 0};
    struct random_stream stream;
    random_stream_init(&stream, seed, "credit queues", 0);
    quota_case_init(c, &quota_credits, 32);
    c->config.credit_cap = (const time_ns[]){0, 30, 500, 1000}[random_below(&stream, 4)];
    c->config.share_period = (time_ns)random_below(&stream, 3) * 20;
    for (uint32_t i = 0; i < QUEUES; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%u", i);
        int64_t deserved = i == 0 ? 0 : (i == 1) + (int64_t)random_below(&stream, 6);
        queue_id q = quota_case_add(c, name, parents[i], deserved);
        quota_case_spec(c, q)->credit_gpu_ns = random_below(&stream, 2) * random_below(&stream, 500);
    }
    quota_case_ready(c);
}

/* A charge that changes at random; the queue may come to hold more or less than it deserves. */
static void disturb(struct quota_case *c, struct random_stream *stream)
{
    queue_id q = 3 + random_below(stream, QUEUES - 2);
    int64_t held = queue_tree_charged(&c->tree, q, RESOURCE_GPU);
    int64_t wanted = (int64_t)random_below(stream, 10) * 1000;
    quota_case_charge(c, q, (const int64_t[QUEUE_SUM_COUNT]){wanted - held});
}

static void what_was_banked_and_not_spent_is_there(void **state)
{
    (void)state;
    uint32_t spenders = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        random_stream_init(&stream, seed, "credit times", 0);
        setup(&c, seed);
        for (int step = 0; step < STEPS; step++) {
            if (random_below(&stream, 3) == 0)
                queue_tree_update(&c.tree, c.table);
            quota_case_advance(&c, c.tree.now + random_below(&stream, 100));
            for (queue_id q = 1; q <= QUEUES; q++) {
                struct credit_account a = account(&c, q);
                assert_true(a.start + a.banked - a.spent == a.balance);
                assert_true(a.balance >= 0);
                __int128 cap = (__int128)quota_case_spec(&c, q)->deserved[RESOURCE_GPU] * c.config.credit_cap;
                assert_true(a.balance <= (cap > a.start ? cap : a.start));
                assert_true(!a.is_open || a.balance > 0);
                spenders += a.spent > 0;
            }
            disturb(&c, &stream);
        }
        quota_case_release(&c);
    }
    assert_true(spenders > CASES);
}

/* One account of milli-GPU ns, moved on by one nanosecond at a time. */
struct naive {
    int64_t balance;
    bool is_open;
};

static bool tick(struct naive *naive, const struct quota_case *c, int64_t deserved, int64_t held)
{
    bool was_open = naive->is_open;
    int64_t cap = deserved * c->config.credit_cap, step = deserved * c->config.share_period;
    int64_t opening = step == 0 || cap == 0 ? 1 : step < cap ? step : cap;
    if (held < deserved && naive->balance < cap) {
        naive->balance += deserved - held;
        naive->balance = naive->balance > cap ? cap : naive->balance;
    }
    if (held > deserved && naive->is_open) {
        naive->balance -= held - deserved;
        naive->balance = naive->balance < 0 ? 0 : naive->balance;
    }
    if (naive->balance == 0)
        naive->is_open = false;
    else if (naive->balance >= opening)
        naive->is_open = true;
    return naive->is_open != was_open;
}

/* How many accounts were brought up to date now; to the others nothing happened. */
static uint32_t compare_accounts(const struct quota_case *c, const struct naive *naive, time_ns now)
{
    uint32_t fresh = 0;
    for (queue_id q = 2; q <= QUEUES; q++) {
        assert_int_equal(account(c, q).is_open, naive[q].is_open);
        if (account(c, q).since != now)
            continue;
        assert_true(account(c, q).balance == naive[q].balance);
        fresh++;
    }
    return fresh;
}

/* Advancing only when told to (`next`) and when charges change equals looking every nanosecond. */
static void looking_when_told_is_enough(void **state)
{
    (void)state;
    uint32_t turns = 0, compared = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        struct naive naive[QUEUES + 1] = {0};
        random_stream_init(&stream, seed, "credit looks", 0);
        setup(&c, seed);
        for (queue_id q = 1; q <= QUEUES; q++) {
            naive[q].balance = quota_case_spec(&c, q)->credit_gpu_ns * 1000;
            naive[q].is_open = naive[q].balance > 0;
        }
        time_ns changes = random_below(&stream, 60);
        for (time_ns now = 1; now < 3000; now++) {
            bool has_turned = false;
            for (queue_id q = 2; q <= QUEUES; q++) /* the first has no account */
                has_turned |= tick(&naive[q], &c, quota_case_spec(&c, q)->deserved[RESOURCE_GPU],
                                   queue_tree_charged(&c.tree, q, RESOURCE_GPU));
            assert_true(!has_turned || c.next <= now);
            if (now != changes && c.next > now)
                continue;
            assert_int_equal(quota_case_advance(&c, now), has_turned);
            turns += has_turned;
            if (now == changes) {
                disturb(&c, &stream);
                quota_case_advance(&c, now); /* it says anew when to look */
                changes += 1 + random_below(&stream, 60);
            }
            compared += compare_accounts(&c, naive, now);
        }
        quota_case_release(&c);
    }
    assert_true(turns > CASES && compared > 20 * CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_banked_and_not_spent_is_there),
        cmocka_unit_test(looking_when_told_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
