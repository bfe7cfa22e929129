/* The division of the fair share, worked out by hand. */
#include "tests/support/test.h"

#include "policies/queues/queues.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"

#define S TIME_NS_PER_S

struct fixture {
    struct cluster *cluster;
    struct queue_table *table;
    struct ledger *ledger;
    struct quota_config config;
    struct queue_tree tree;
    int64_t capacity[RESOURCE_COUNT];
};

static void setup(struct fixture *f, int64_t gpus)
{
    *f = (struct fixture){.config = {.saturation_milli = 1000, .share_period = 60 * S},
                          .capacity = {gpus * 1000, gpus * 8000, gpus * 64 * 1024}};
    f->cluster = cluster_uniform_new(1, 1);
    f->table = queue_table_new();
    f->ledger = ledger_new(f->cluster);
    f->tree = (struct queue_tree){.ledger = f->ledger, .quota = &quota_fairshare, .config = &f->config};
}

static void ready(struct fixture *f)
{
    ledger_queues(f->ledger, f->table);
    queue_tree_update(&f->tree, f->table);
    queue_tree_set_capacity(&f->tree, f->capacity);
}

static void teardown(struct fixture *f)
{
    queue_tree_release(&f->tree);
    ledger_free(f->ledger);
    queue_table_free(f->table);
    cluster_free(f->cluster);
}

static queue_id add(struct fixture *f, const char *name, queue_id parent, int64_t deserved, int64_t limit,
                    int64_t weight, int32_t priority)
{
    queue_id id = queue_table_add(f->table, text_of(name), parent);
    struct queue_spec *spec = &f->table->queues[id];
    spec->deserved[RESOURCE_GPU] = deserved * (deserved > 0 ? 1000 : 1);
    spec->limit[RESOURCE_GPU] = limit * (limit > 0 ? 1000 : 1);
    spec->weight_milli[RESOURCE_GPU] = weight * 1000;
    spec->priority = priority;
    return id;
}

static void demand_gpus(struct fixture *f, queue_id q, int64_t gpus)
{
    queue_tree_demand(&f->tree, q, (const int64_t[QUEUE_SUM_COUNT]){gpus * 1000}, 1);
}

static int64_t share(struct fixture *f, queue_id q)
{
    return queue_tree_share(&f->tree, q, RESOURCE_GPU);
}

/* 10 GPUs: everybody first gets what it deserves as far as it asks; the rest goes 3:1 by weight, whole GPUs, the odd
 * one to the larger remainder. */
TEST(test_phases)
{
    struct fixture f;
    setup(&f, 10);
    queue_id a = add(&f, "a", 0, 2, -1, 3, 100), b = add(&f, "b", 0, 2, -1, 1, 100), c = add(&f, "c", 0, 3, -1, 1, 100);
    ready(&f);
    demand_gpus(&f, a, 20);
    demand_gpus(&f, b, 20);
    demand_gpus(&f, c, 1); /* asks less than it deserves */
    /* Phase 1: 2, 2, 1; left 5.  By weight 3.75 and 1.25: 3 and 1; left 1 to a's remainder of 0.75. */
    assert_int_equal(share(&f, a), 6000);
    assert_int_equal(share(&f, b), 3000);
    assert_int_equal(share(&f, c), 1000);
    teardown(&f);
}

TEST(test_limits_priorities_weights)
{
    struct fixture f;
    setup(&f, 10);
    queue_id high = add(&f, "high", 0, 0, 4, 1, 200), low = add(&f, "low", 0, 1, -1, 1, 100);
    queue_id none = add(&f, "none", 0, 1, -1, 0, 300);
    ready(&f);
    demand_gpus(&f, high, 9);
    demand_gpus(&f, low, 9);
    demand_gpus(&f, none, 9);
    assert_int_equal(share(&f, high), 4000); /* its limit, before lower priorities */
    assert_int_equal(share(&f, none), 1000); /* weight 0: no more than it deserves */
    assert_int_equal(share(&f, low), 5000);
    teardown(&f);
}

/* Phase 1 promises 12 of 10; nothing is over, and a quota without bound is the whole. */
TEST(test_promises_too_much)
{
    struct fixture f;
    setup(&f, 10);
    queue_id a = add(&f, "a", 0, 6, -1, 1, 100), b = add(&f, "b", 0, 6, -1, 9, 200),
             c = add(&f, "c", 0, -1, -1, 1, 100);
    ready(&f);
    demand_gpus(&f, a, 20);
    demand_gpus(&f, b, 20);
    assert_int_equal(share(&f, a), 6000);
    assert_int_equal(share(&f, b), 6000);
    demand_gpus(&f, c, 20);
    assert_int_equal(share(&f, c), 10000);
    teardown(&f);
}

/* A part that is exactly what is asked is given whole, though it is no whole GPU. */
TEST(test_exact_part)
{
    struct fixture f;
    setup(&f, 1);
    queue_id a = add(&f, "a", 0, 0, -1, 1, 100), b = add(&f, "b", 0, 0, -1, 1, 100);
    ready(&f);
    queue_tree_demand(&f.tree, a, (const int64_t[QUEUE_SUM_COUNT]){500}, 1);
    queue_tree_demand(&f.tree, b, (const int64_t[QUEUE_SUM_COUNT]){500}, 1);
    assert_int_equal(share(&f, a), 500);
    assert_int_equal(share(&f, b), 500);
    teardown(&f);
}

/* CPUs are rounded to cores and memory to GiB; each resource is divided by its own weights. */
TEST(test_units)
{
    struct fixture f;
    setup(&f, 1); /* 8 cores, 64 GiB */
    queue_id a = add(&f, "a", 0, 0, -1, 1, 100), b = add(&f, "b", 0, 0, -1, 1, 100);
    for (queue_id q = a; q <= b; q++)
        f.table->queues[q].deserved[RESOURCE_CPU] = f.table->queues[q].deserved[RESOURCE_MEMORY] = 0;
    f.table->queues[a].weight_milli[RESOURCE_CPU] = 2000;
    f.table->queues[a].weight_milli[RESOURCE_MEMORY] = 9000;
    f.table->queues[a].created = 1; /* the younger */
    ready(&f);
    const int64_t much[QUEUE_SUM_COUNT] = {5000, 100000, 1000000};
    queue_tree_demand(&f.tree, a, much, 1);
    queue_tree_demand(&f.tree, b, much, 1);
    /* GPU 0.5 : 0.5, the rest to the older; cores 5.33 : 2.67; GiB 57.6 : 6.4. */
    assert_int_equal(queue_tree_share(&f.tree, a, RESOURCE_GPU), 0);
    assert_int_equal(queue_tree_share(&f.tree, b, RESOURCE_GPU), 1000);
    assert_int_equal(queue_tree_share(&f.tree, a, RESOURCE_CPU), 5000);
    assert_int_equal(queue_tree_share(&f.tree, b, RESOURCE_CPU), 3000);
    assert_int_equal(queue_tree_share(&f.tree, a, RESOURCE_MEMORY), 58 * 1024);
    assert_int_equal(queue_tree_share(&f.tree, b, RESOURCE_MEMORY), 6 * 1024);
    teardown(&f);
}

/* k = 1, equal weights, a used all: s = max(0, 1/2 + (1/2 - 1)) = 0 against 1/2 + 1/2 = 1. */
TEST(test_past_usage)
{
    struct fixture f;
    setup(&f, 8);
    queue_id a = add(&f, "a", 0, 1, -1, 1, 100), b = add(&f, "b", 0, 1, -1, 1, 100);
    f.config.usage_weight_milli = 1000;
    f.table->queues[a].usage_ppm = 1000000;
    ready(&f);
    demand_gpus(&f, a, 20);
    demand_gpus(&f, b, 20);
    assert_int_equal(share(&f, a), 1000); /* what it deserves is never touched */
    assert_int_equal(share(&f, b), 7000);
    f.table->queues[a].usage_ppm = 500000; /* s = 1/2 : 1, so 2 : 4 of 6 */
    queue_tree_all_stale(&f.tree);
    assert_int_equal(share(&f, a), 3000);
    assert_int_equal(share(&f, b), 5000);
    f.config.usage_weight_milli = 500; /* s = 1/2 : 3/4; 2.4 : 3.6, the rest to the larger remainder */
    queue_tree_all_stale(&f.tree);
    assert_int_equal(share(&f, a), 3000);
    assert_int_equal(share(&f, b), 5000);
    f.table->queues[b].usage_ppm = 3000000; /* above its part by far */
    queue_tree_all_stale(&f.tree);
    assert_int_equal(share(&f, a), 7000);
    teardown(&f);
    setup(&f, 3000002); /* where a thousandth is seen */
    a = add(&f, "a", 0, 1, -1, 1, 100);
    b = add(&f, "b", 0, 1, -1, 1, 100);
    f.config.usage_weight_milli = 1000;
    f.table->queues[a].usage_ppm = 500000;
    ready(&f);
    demand_gpus(&f, a, 9000000);
    demand_gpus(&f, b, 9000000);
    assert_int_equal(share(&f, a), 1000001000);
    assert_int_equal(share(&f, b), 2000001000);
    teardown(&f);
}

/* Below `o`, which gets what it asks, a has used too much: only what rounding left is for it, that is all that b does
 * not take.  So its share moves with o's, though neither its demand nor b's part does. */
TEST(test_total_moves)
{
    struct fixture f;
    const int64_t fifth[QUEUE_SUM_COUNT] = {200};
    setup(&f, 8);
    queue_id o = add(&f, "o", 0, 0, -1, 1, 100);
    queue_id a = add(&f, "a", o, 0, -1, 1, 100), b = add(&f, "b", o, 0, -1, 1, 100);
    f.config.usage_weight_milli = 1000;
    f.table->queues[a].usage_ppm = 2000000;
    f.table->queues[b].limit[RESOURCE_GPU] = 400;
    ready(&f);
    queue_tree_demand(&f.tree, b, fifth, 1);
    queue_tree_demand(&f.tree, b, fifth, 1);
    queue_tree_demand(&f.tree, a, fifth, 1);
    assert_int_equal(share(&f, a), 200);
    queue_tree_demand(&f.tree, b, fifth, 1); /* above b's limit: the demand of o alone grows */
    assert_int_equal(share(&f, a), 400);
    queue_tree_demand(&f.tree, o, fifth, 1); /* a job of o itself */
    assert_int_equal(share(&f, a), 600);
    teardown(&f);
}

TEST(test_tree)
{
    struct fixture f;
    setup(&f, 8);
    queue_id x = add(&f, "x", 0, 4, -1, 1, 100), y = add(&f, "y", 0, 4, -1, 1, 100);
    queue_id x1 = add(&f, "x1", x, 1, -1, 1, 100), x2 = add(&f, "x2", x, 3, -1, 1, 100);
    queue_id y1 = add(&f, "y1", y, 4, -1, 1, 100);
    ready(&f);
    demand_gpus(&f, x1, 8);
    assert_int_equal(share(&f, x1), 8000); /* nobody else asks */
    demand_gpus(&f, y1, 2);
    assert_int_equal(share(&f, x1), 6000);
    demand_gpus(&f, x2, 2);
    assert_int_equal(share(&f, x), 6000);
    assert_int_equal(share(&f, x1), 4000);
    assert_int_equal(share(&f, x2), 2000);
    queue_id below_x, below_y;
    queue_tree_below_common(&f.tree, x1, y1, &below_x, &below_y);
    assert_int_equal(below_x, x);
    assert_int_equal(below_y, y);
    teardown(&f);
}

/* What a queue selection found stands while no share has moved, though somebody asks more; a share that moves makes
 * the queue selection below that queue, and all above, be held again. */
TEST(test_a_moved_share_turns_contests)
{
    struct fixture f;
    setup(&f, 10);
    queue_id o = add(&f, "o", 0, -1, 6, 1, 100), a = add(&f, "a", o, -1, -1, 1, 100);
    ready(&f);
    demand_gpus(&f, a, 4);
    assert_int_equal(share(&f, a), 4000);
    for (queue_id q = 0; q <= a; q++)
        f.tree.queues[q].has_winner = true;
    demand_gpus(&f, a, 2);
    assert_int_equal(share(&f, a), 6000);
    for (queue_id q = 0; q <= a; q++) {
        assert_false(f.tree.queues[q].has_winner);
        f.tree.queues[q].has_winner = true;
    }
    demand_gpus(&f, a, 2); /* above the limit of o */
    assert_int_equal(share(&f, a), 6000);
    for (queue_id q = 0; q <= a; q++)
        assert_true(f.tree.queues[q].has_winner);
    teardown(&f);
}

/* Seven queues below one of two, twice over: what is kept of a child and the list of unsatisfied ones do not get into
 * each other's way, wherever they stand.  7 GPUs each ask, and 24 are for 7: three each, and the oldest three get one
 * of what is left. */
TEST(test_many_children)
{
    struct fixture f;
    setup(&f, 48);
    queue_id left = add(&f, "left", 0, 0, -1, 1, 100), right = add(&f, "right", 0, 0, -1, 1, 100);
    queue_id leaves[14];
    for (int i = 0; i < 14; i++) {
        char name[] = {(char)('a' + i), 0};
        leaves[i] = add(&f, name, i < 7 ? left : right, 0, -1, 1, 100);
        f.table->queues[leaves[i]].created = i;
    }
    ready(&f);
    for (int i = 0; i < 14; i++)
        demand_gpus(&f, leaves[i], 7);
    for (int i = 0; i < 14; i++)
        assert_int_equal(share(&f, leaves[i]), i % 7 < 3 ? 4000 : 3000);
    teardown(&f);
}
