/* policies/quota/cohort.c: the queue that loses a victim first.  Without fair sharing it is the queue that would be
 * selected last; with fair sharing, the queue with the larger share now, whatever the requests. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/quota/quotas.h"
#include "tests/support/quota_case.h"

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int victims(struct quota_case *c, queue_id a, const int64_t *ask_a, queue_id b, const int64_t *ask_b)
{
    return sign(c->policy->compare_victims(&c->tree, (struct contender){.queue = a, .ask = ask_a, .leaf = a},
                                           (struct contender){.queue = b, .ask = ask_b, .leaf = b}));
}

TEST(who_would_go_last_loses_first)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "victims", 0);
    for (int round = 0; round < 300; round++) {
        struct quota_case c;
        quota_case_init(&c, &quota_cohort, 16);
        queue_id top = quota_case_add(&c, "top", QUEUE_ROOT, 0),
                 a = quota_case_add(&c, "a", top, random_below(&stream, 8)),
                 b = quota_case_add(&c, "b", top, random_below(&stream, 8));
        quota_case_ready(&c);
        quota_case_charge(&c, a, GPUS((int64_t)random_below(&stream, 6)));
        quota_case_charge(&c, b, GPUS((int64_t)random_below(&stream, 6)));
        const int64_t *ask_a = GPUS(1 + (int64_t)random_below(&stream, 3)),
                      *ask_b = GPUS(1 + (int64_t)random_below(&stream, 3));
        int order = victims(&c, a, ask_a, b, ask_b);
        assert_int_equal(order, -sign(quota_case_compare(&c, a, ask_a, b, ask_b)));
        assert_int_equal(order, -victims(&c, b, ask_b, a, ask_a));
        quota_case_release(&c);
    }
}

/* Both deserve 4 of 16 and hold 5 and 6: the second has the larger share, however much the first asks. */
TEST(the_larger_share_loses_first)
{
    struct quota_case c;
    quota_case_init(&c, &quota_cohort, 16);
    c.config.fair_sharing = true;
    queue_id top = quota_case_add(&c, "top", QUEUE_ROOT, 0), a = quota_case_add(&c, "a", top, 4),
             b = quota_case_add(&c, "b", top, 4);
    quota_case_ready(&c);
    quota_case_charge(&c, a, GPUS(5));
    quota_case_charge(&c, b, GPUS(6));
    assert_int_equal(victims(&c, a, GPUS(1), b, GPUS(1)), 1);
    assert_int_equal(victims(&c, a, GPUS(8), b, GPUS(1)), 1);
    assert_int_equal(victims(&c, b, GPUS(1), a, GPUS(8)), -1);
    quota_case_release(&c);
}
