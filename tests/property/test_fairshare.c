/* fairshare: hand-worked divisions, and lazy division against a full one on random streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/queues.h"
#include "policies/quota/quota.h"

struct fixture {
    struct cluster *cluster;
    struct queue_table *table;
    struct ledger *ledger;
    struct queue_tree tree;
};

static void setup(struct fixture *f, uint32_t gpus)
{
    f->cluster = cluster_uniform_new(gpus, 1);
    f->table = queue_table_new();
    f->ledger = ledger_new(f->cluster);
    f->tree = (struct queue_tree){.ledger = f->ledger, .quota = &quota_fairshare};
}

static void ready(struct fixture *f)
{
    ledger_queues(f->ledger, f->table);
    queue_tree_update(&f->tree, f->table);
    queue_tree_set_capacity(&f->tree, (int64_t)f->cluster->gpu_count * GPU_MILLI);
}

static void teardown(struct fixture *f)
{
    queue_tree_release(&f->tree);
    ledger_free(f->ledger);
    queue_table_free(f->table);
    cluster_free(f->cluster);
}

static queue_id add(struct fixture *f, const char *name, queue_id parent, int64_t deserved,
                    int64_t limit, int64_t weight, int32_t priority)
{
    queue_id id = queue_table_add(f->table, text_of(name), parent);
    struct queue_spec *spec = &f->table->queues[id];
    spec->deserved_milli = deserved * (deserved > 0 ? 1000 : 1);
    spec->limit_milli = limit * (limit > 0 ? 1000 : 1);
    spec->over_quota_weight_milli = weight * 1000;
    spec->priority = priority;
    return id;
}

static int64_t share(struct fixture *f, queue_id q)
{
    return queue_tree_share(&f->tree, q);
}

/* 10 GPUs: everybody first gets what it deserves as far as it asks; the rest goes 3:1 by weight, whole GPUs, the odd
 * one to the larger remainder. */
static void test_phases(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 10);
    queue_id a = add(&f, "a", 0, 2, -1, 3, 100), b = add(&f, "b", 0, 2, -1, 1, 100),
             c = add(&f, "c", 0, 3, -1, 1, 100);
    ready(&f);
    queue_tree_demand(&f.tree, a, 20000);
    queue_tree_demand(&f.tree, b, 20000);
    queue_tree_demand(&f.tree, c, 1000); /* asks less than it deserves */
    /* Phase 1: 2, 2, 1; left 5.  By weight 3.75 and 1.25: 3 and 1; left 1 to a's remainder of 0.75. */
    assert_int_equal(share(&f, a), 6000);
    assert_int_equal(share(&f, b), 3000);
    assert_int_equal(share(&f, c), 1000);
    teardown(&f);
}

static void test_limits_priorities_weights(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 10);
    queue_id high = add(&f, "high", 0, 0, 4, 1, 200), low = add(&f, "low", 0, 1, -1, 1, 100);
    queue_id none = add(&f, "none", 0, 1, -1, 0, 300);
    ready(&f);
    queue_tree_demand(&f.tree, high, 9000);
    queue_tree_demand(&f.tree, low, 9000);
    queue_tree_demand(&f.tree, none, 9000);
    assert_int_equal(share(&f, high), 4000); /* its limit, before lower priorities */
    assert_int_equal(share(&f, none), 1000); /* weight 0: no more than it deserves */
    assert_int_equal(share(&f, low), 5000);
    teardown(&f);
}

static void test_tree(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8);
    queue_id x = add(&f, "x", 0, 4, -1, 1, 100), y = add(&f, "y", 0, 4, -1, 1, 100);
    queue_id x1 = add(&f, "x1", x, 1, -1, 1, 100), x2 = add(&f, "x2", x, 3, -1, 1, 100);
    queue_id y1 = add(&f, "y1", y, 4, -1, 1, 100);
    ready(&f);
    queue_tree_demand(&f.tree, x1, 8000);
    assert_int_equal(share(&f, x1), 8000); /* nobody else asks */
    queue_tree_demand(&f.tree, y1, 2000);
    assert_int_equal(share(&f, x1), 6000);
    queue_tree_demand(&f.tree, x2, 2000);
    assert_int_equal(share(&f, x), 6000);
    assert_int_equal(share(&f, x1), 4000);
    assert_int_equal(share(&f, x2), 2000);
    queue_id below_x, below_y;
    queue_tree_below_common(&f.tree, x1, y1, &below_x, &below_y);
    assert_int_equal(below_x, x);
    assert_int_equal(below_y, y);
    teardown(&f);
}

/* A full division: everything stale, then asked top down in order. */
static void check_against_full(struct fixture *f)
{
    int64_t lazy[256];
    for (queue_id q = 0; q < f->table->count; q++)
        lazy[q] = share(f, q);
    queue_tree_set_capacity(&f->tree, f->tree.capacity_milli);
    for (queue_id q = 0; q < f->table->count; q++)
        assert_int_equal(share(f, q), lazy[q]);
    for (queue_id p = 0; p < f->table->count; p++) {
        int64_t sum = 0, deserved = 0;
        for (queue_id c = f->tree.queues[p].first_child; c != QUEUE_NONE;
             c = f->tree.queues[c].next_sibling) {
            const struct queue_spec *spec = &f->table->queues[c];
            int64_t ask = f->tree.queues[c].demand_milli, limit = spec->limit_milli;
            int64_t could = limit != QUOTA_UNLIMITED && limit < ask ? limit : ask;
            int64_t least = spec->deserved_milli < could ? spec->deserved_milli : could;
            assert_true(lazy[c] >= least); /* what it deserves, as far as it asks */
            assert_true(lazy[c] <= could); /* never more than it can use */
            sum += lazy[c];
            deserved += least;
        }
        if (f->tree.queues[p].first_child != QUEUE_NONE)
            assert_true(sum <= lazy[p] ||
                        sum == deserved); /* no more than there is, but for promises */
    }
}

static void test_lazy_equals_full(void **state)
{
    (void)state;
    struct random_stream stream;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fixture f;
        char name[16];
        int64_t asked[256] = {0};
        random_stream_init(&stream, seed, "fairshare", 0);
        setup(&f, 100);
        for (int i = 0; i < 40; i++) {
            queue_id parent = random_below(&stream, i < 8 ? 1 : 9);
            snprintf(name, sizeof name, "q%d", i);
            add(&f, name, i < 8 ? 0 : parent, random_below(&stream, 12),
                random_below(&stream, 4) == 0 ? (int64_t)random_below(&stream, 20) + 1 : -1,
                random_below(&stream, 4), (int32_t)(100 + random_below(&stream, 2)));
        }
        ready(&f);
        for (int step = 0; step < 300; step++) {
            queue_id q = 9 + random_below(&stream, 32);
            int64_t delta = (int64_t)random_below(&stream, 20000);
            if (random_below(&stream, 2) && asked[q] > 0)
                delta = -(int64_t)random_below(&stream, (uint32_t)asked[q] + 1);
            asked[q] += delta;
            queue_tree_demand(&f.tree, q, delta);
            if (random_below(&stream, 3) == 0)
                share(&f, 1 + random_below(&stream, 40)); /* divide a part only */
            if (step % 10 == 0)
                check_against_full(&f);
        }
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_limits_priorities_weights),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_lazy_equals_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
