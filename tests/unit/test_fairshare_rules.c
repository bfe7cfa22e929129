/* fairshare: every key of its order, its limits, both ways to take back and the saturation test, on small cases that
 * were worked out by hand.  Where a key decides, the keys behind it say the opposite. */
#include "tests/support/test.h"

#include "policies/queues/queues.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"
#include "policies/quota/usage.h"

#define S TIME_NS_PER_S
/* GPUs, cores and GiB as a charge; FIRM: of a job that cannot be preempted. */
#define ASK(gpus, cores, gib) ((const int64_t[QUEUE_SUM_COUNT]){(gpus)*1000, (cores)*1000, (gib)*1024})
#define FIRM(gpus, cores, gib)                                                                                         \
    ((const int64_t[QUEUE_SUM_COUNT]){(gpus)*1000, (cores)*1000, (gib)*1024, (gpus)*1000, (cores)*1000, (gib)*1024})

struct fixture {
    struct cluster *cluster;
    struct queue_table *table;
    struct ledger *ledger;
    struct quota_config config;
    struct queue_tree tree;
};

/* 10 GPUs, 80 cores, 640 GiB. */
static void setup(struct fixture *f)
{
    *f = (struct fixture){.config = {.saturation_milli = 1000, .share_period = 60 * S}};
    f->cluster = cluster_uniform_new(1, 1);
    f->table = queue_table_new();
    f->ledger = ledger_new(f->cluster);
    f->tree = (struct queue_tree){.ledger = f->ledger, .quota = &quota_fairshare, .config = &f->config};
}

static void ready(struct fixture *f)
{
    ledger_queues(f->ledger, f->table);
    queue_tree_update(&f->tree, f->table);
    queue_tree_set_capacity(&f->tree, ASK(10, 80, 640));
}

static void teardown(struct fixture *f)
{
    queue_tree_release(&f->tree);
    ledger_free(f->ledger);
    queue_table_free(f->table);
    cluster_free(f->cluster);
}

static struct queue_spec *spec(struct fixture *f, queue_id q)
{
    return &f->table->queues[q];
}

/* A queue that gets `gpus` GPUs and nothing over; of cores and memory as much as it asks. */
static queue_id add(struct fixture *f, const char *name, queue_id parent, int64_t gpus)
{
    queue_id id = queue_table_add(f->table, text_of(name), parent);
    spec(f, id)->deserved[RESOURCE_GPU] = gpus * 1000;
    spec(f, id)->weight_milli[RESOURCE_GPU] = 0;
    return id;
}

/* `cores` and `gib` as well, and nothing over. */
static void bound(struct fixture *f, queue_id q, int64_t cores, int64_t gib)
{
    spec(f, q)->deserved[RESOURCE_CPU] = cores * 1000;
    spec(f, q)->deserved[RESOURCE_MEMORY] = gib * 1024;
    spec(f, q)->weight_milli[RESOURCE_CPU] = spec(f, q)->weight_milli[RESOURCE_MEMORY] = 0;
}

static void want(struct fixture *f, queue_id q, const int64_t ask[QUEUE_SUM_COUNT])
{
    queue_tree_demand(&f->tree, q, ask, 1);
}

static void hold(struct fixture *f, queue_id q, const int64_t ask[QUEUE_SUM_COUNT])
{
    ledger_charge(f->ledger, q, ask);
    queue_tree_demand(&f->tree, q, ask, 1);
}

static bool goes_first(struct fixture *f, queue_id a, const int64_t *ask_a, queue_id b, const int64_t *ask_b)
{
    struct contender left = {.queue = a, .ask = ask_a}, right = {.queue = b, .ask = ask_b};
    int order = quota_fairshare.compare(&f->tree, left, right);
    assert_int_equal(order<0, quota_fairshare.compare(&f->tree, right, left)> 0);
    return order < 0;
}

static bool is_taken_first(struct fixture *f, queue_id a, const int64_t *unit_a, queue_id b, const int64_t *unit_b)
{
    struct contender left = {.queue = a, .ask = unit_a}, right = {.queue = b, .ask = unit_b};
    int order = quota_fairshare.compare_victims(&f->tree, left, right);
    assert_int_equal(order<0, quota_fairshare.compare_victims(&f->tree, right, left)> 0);
    return order < 0;
}

/* Above its share in all resources goes last, whatever its priority; in two of three is not enough. */
TEST(test_over_utilised)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 1), b = add(&f, "b", 0, 1);
    bound(&f, a, 1, 1);
    bound(&f, b, 1, 1);
    spec(&f, a)->priority = 200;
    ready(&f);
    hold(&f, a, ASK(2, 2, 2));
    hold(&f, b, ASK(3, 3, 1));
    assert_false(goes_first(&f, a, ASK(1, 1, 1), b, ASK(1, 1, 1)));
    hold(&f, b, ASK(0, 0, 1)); /* now b as well: priority */
    assert_true(goes_first(&f, a, ASK(1, 1, 1), b, ASK(1, 1, 1)));
    teardown(&f);
}

TEST(test_starved_with_job)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 2), b = add(&f, "b", 0, 2);
    spec(&f, b)->priority = 200;
    ready(&f);
    hold(&f, a, ASK(1, 1, 1));
    hold(&f, b, ASK(2, 1, 1));
    assert_true(goes_first(&f, a, ASK(1, 1, 1), b, ASK(1, 1, 1)));
    assert_false(goes_first(&f, a, ASK(2, 1, 1), b, ASK(1, 1, 1))); /* 3 > 2 */
    spec(&f, a)->deserved[RESOURCE_MEMORY] = 1024;                  /* one resource above is not starved */
    queue_tree_update(&f.tree, f.table);
    assert_false(goes_first(&f, a, ASK(1, 1, 1), b, ASK(1, 1, 1)));
    teardown(&f);
}

TEST(test_priority)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 4), b = add(&f, "b", 0, 4);
    spec(&f, b)->priority = 101;
    ready(&f);
    hold(&f, b, ASK(3, 1, 1));
    assert_false(goes_first(&f, a, ASK(1, 1, 1), b, ASK(1, 1, 1)));
    teardown(&f);
}

/* Nothing is due to a, 0.001 GPUs to b: b's share with the job would be 3000 times that, a's counts 1000. */
TEST(test_undue)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 0), b = add(&f, "b", 0, 0);
    spec(&f, b)->deserved[RESOURCE_GPU] = 1;
    ready(&f);
    want(&f, a, ASK(1, 1, 1));
    want(&f, b, ASK(3, 1, 1));
    assert_false(goes_first(&f, a, ASK(1, 1, 1), b, ASK(3, 1, 1)));
    spec(&f, b)->deserved[RESOURCE_GPU] = 0; /* both undue: 1000 per GPU, 1 against 3 */
    queue_tree_update(&f.tree, f.table);
    assert_true(goes_first(&f, a, ASK(1, 1, 1), b, ASK(3, 1, 1)));
    assert_false(goes_first(&f, a, ASK(3, 1, 1), b, ASK(1, 1, 1)));
    bound(&f, a, 0, 64); /* 1.5 of 0.001 cores are more than 1000, less than 2000 */
    spec(&f, a)->deserved[RESOURCE_CPU] = 1;
    queue_tree_update(&f.tree, f.table);
    const int64_t cores[QUEUE_SUM_COUNT] = {1000, 1500, 1024};
    assert_true(goes_first(&f, a, cores, b, ASK(2, 1, 1)));
    assert_false(goes_first(&f, a, cores, b, ASK(1, 1, 1)));
    teardown(&f);
}

/* With the job: cores rule in a (6/8), GPUs in b (2/4); without a bound on cores, GPUs in both (1/4, 2/4). */
TEST(test_dominant_share)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 4), b = add(&f, "b", 0, 4);
    bound(&f, a, 8, 64);
    bound(&f, b, 8, 64);
    ready(&f);
    assert_false(goes_first(&f, a, ASK(1, 6, 1), b, ASK(2, 1, 1)));
    spec(&f, a)->deserved[RESOURCE_CPU] = spec(&f, b)->deserved[RESOURCE_CPU] = QUOTA_UNLIMITED;
    queue_tree_update(&f.tree, f.table);
    assert_true(goes_first(&f, a, ASK(1, 6, 1), b, ASK(2, 1, 1)));
    spec(&f, a)->limit[RESOURCE_CPU] = 8000; /* a limit bounds what is due, too */
    queue_tree_update(&f.tree, f.table);
    assert_false(goes_first(&f, a, ASK(1, 6, 1), b, ASK(2, 1, 1)));
    teardown(&f);
}

/* 1 + 2 of 4 against 2 + 1 of 4: who holds less goes first, though it is younger. */
TEST(test_dominant_share_without_job)
{
    struct fixture f;
    setup(&f);
    queue_id b = add(&f, "b", 0, 4), a = add(&f, "a", 0, 4);
    ready(&f);
    hold(&f, a, ASK(1, 1, 1));
    hold(&f, b, ASK(2, 1, 1));
    assert_true(goes_first(&f, a, ASK(2, 1, 1), b, ASK(1, 1, 1)));
    teardown(&f);
}

TEST(test_smaller_allocatable_then_older)
{
    struct fixture f;
    setup(&f);
    queue_id c = add(&f, "c", 0, 2), b = add(&f, "b", 0, 4), a = add(&f, "a", 0, 2);
    spec(&f, a)->created = 3;
    spec(&f, b)->created = 1;
    spec(&f, c)->created = 2;
    ready(&f);
    assert_true(goes_first(&f, a, ASK(1, 1, 1), b, ASK(2, 1, 1))); /* 1/2 and 2/4 */
    assert_false(goes_first(&f, a, ASK(1, 1, 1), c, ASK(1, 1, 1)));
    spec(&f, a)->created = 1;
    assert_true(goes_first(&f, a, ASK(1, 1, 1), c, ASK(1, 1, 1)));
    spec(&f, c)->created = 1; /* of one age: the smaller id */
    assert_false(goes_first(&f, a, ASK(1, 1, 1), c, ASK(1, 1, 1)));
    teardown(&f);
}

/* Due 3 each: from who holds most; of equal queues from the younger; a unit counts as held. */
TEST(test_victims)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 3), b = add(&f, "b", 0, 3);
    ready(&f);
    hold(&f, a, ASK(5, 1, 1));
    hold(&f, b, ASK(4, 1, 1));
    assert_true(is_taken_first(&f, a, ASK(1, 0, 0), b, ASK(1, 0, 0)));
    assert_true(is_taken_first(&f, a, ASK(5, 0, 0), b, ASK(1, 0, 0)));
    ledger_charge(f.ledger, a, ASK(-1, 0, 0)); /* one unit of a is taken: equal */
    assert_false(is_taken_first(&f, a, ASK(1, 0, 0), b, ASK(1, 0, 0)));
    ledger_charge(f.ledger, a, ASK(-1, 0, 0)); /* a is left with what it deserves */
    assert_false(is_taken_first(&f, a, ASK(1, 0, 0), b, ASK(1, 0, 0)));
    teardown(&f);
}

/* Above its share in all resources even without the unit comes before a larger holder who would fall below its own. */
TEST(test_victims_of_the_over_utilised)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 3), b = add(&f, "b", 0, 3);
    bound(&f, a, 3, 3);
    bound(&f, b, 3, 3);
    ready(&f);
    hold(&f, a, ASK(6, 6, 6));
    hold(&f, b, ASK(5, 5, 5));
    assert_false(is_taken_first(&f, a, ASK(6, 6, 6), b, ASK(1, 1, 1)));
    assert_true(is_taken_first(&f, a, ASK(2, 2, 2), b, ASK(1, 1, 1)));
    teardown(&f);
}

static queue_id forbids(struct fixture *f, queue_id q, const int64_t *ask)
{
    return queue_tree_forbids(&f->tree, q, ask);
}

TEST(test_limits)
{
    struct fixture f;
    setup(&f);
    queue_id org = add(&f, "org", 0, 0), a = add(&f, "a", org, 0), b = add(&f, "b", org, 0);
    spec(&f, org)->limit[RESOURCE_GPU] = 4000;
    spec(&f, a)->limit[RESOURCE_GPU] = 3000;
    spec(&f, a)->limit[RESOURCE_CPU] = 8000;
    ready(&f);
    assert_int_equal(forbids(&f, a, ASK(3, 8, 600)), QUEUE_NONE);
    assert_int_equal(forbids(&f, a, ASK(4, 1, 1)), a);
    assert_int_equal(forbids(&f, a, ASK(0, 9, 1)), a);
    hold(&f, a, ASK(2, 8, 1));
    assert_int_equal(forbids(&f, b, ASK(2, 70, 1)), QUEUE_NONE);
    assert_int_equal(forbids(&f, b, ASK(3, 1, 1)), org);
    assert_int_equal(forbids(&f, a, ASK(1, 0, 1)), QUEUE_NONE);
    hold(&f, a, ASK(0, 1, 0)); /* above its limit of cores: a job that asks none may still start */
    assert_int_equal(forbids(&f, a, ASK(1, 0, 1)), QUEUE_NONE);
    assert_int_equal(forbids(&f, a, ASK(1, 1, 1)), a);
    teardown(&f);
}

TEST(test_firm_needs_quota)
{
    struct fixture f;
    setup(&f);
    queue_id org = add(&f, "org", 0, 3), a = add(&f, "a", org, 2), b = add(&f, "b", org, 2);
    ready(&f);
    assert_int_equal(forbids(&f, a, FIRM(3, 1, 1)), QUEUE_NONE);
    f.config.firm_needs_quota = true;
    assert_int_equal(forbids(&f, a, ASK(3, 1, 1)), QUEUE_NONE); /* may be preempted */
    assert_int_equal(forbids(&f, a, FIRM(3, 1, 1)), a);
    assert_int_equal(forbids(&f, a, FIRM(2, 70, 600)), QUEUE_NONE); /* no quota for the others */
    hold(&f, a, FIRM(2, 1, 1));
    assert_int_equal(forbids(&f, b, FIRM(1, 1, 1)), QUEUE_NONE);
    assert_int_equal(forbids(&f, b, FIRM(2, 1, 1)), org);
    hold(&f, b, ASK(5, 1, 1)); /* what may be preempted does not count */
    assert_int_equal(forbids(&f, b, FIRM(1, 1, 1)), QUEUE_NONE);
    teardown(&f);
}

static bool may_reclaim(struct fixture *f, queue_id q, const int64_t *ask)
{
    return quota_fairshare.may_reclaim(&f->tree, q, ask);
}

/* a: deserves 2, its share is 5 of 10; within the share it may reclaim, firmly only what it deserves. */
TEST(test_may_reclaim)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 2), b = add(&f, "b", 0, 2);
    spec(&f, a)->weight_milli[RESOURCE_GPU] = spec(&f, b)->weight_milli[RESOURCE_GPU] = 1000;
    ready(&f);
    want(&f, a, ASK(8, 8, 8));
    want(&f, b, ASK(10, 8, 8));
    assert_true(may_reclaim(&f, a, ASK(5, 8, 8)));
    assert_false(may_reclaim(&f, a, ASK(6, 8, 8)));
    assert_false(may_reclaim(&f, a, ASK(1, 9, 8))); /* more cores than it ever asked */
    assert_true(may_reclaim(&f, a, FIRM(2, 8, 8)));
    assert_false(may_reclaim(&f, a, FIRM(3, 8, 8)));
    ledger_charge(f.ledger, a, FIRM(1, 0, 0));
    assert_true(may_reclaim(&f, a, ASK(4, 8, 8)));
    assert_false(may_reclaim(&f, a, FIRM(2, 8, 8)));
    teardown(&f);
}

static bool may_take(struct fixture *f, queue_id preemptor, const int64_t *ask, queue_id victim)
{
    struct taking taking = {preemptor, victim, ask, ASK(1, 1, 1), 50, 50, NULL};
    return quota_fairshare.may_take(&f->tree, &taking);
}

/* Between a of `one` and c of `two` the organisations count: one is above its share, though a is not. */
TEST(test_maintain_fair_share)
{
    struct fixture f;
    setup(&f);
    queue_id one = add(&f, "one", 0, 4), two = add(&f, "two", 0, 0);
    queue_id a = add(&f, "a", one, 5), b = add(&f, "b", one, 1), c = add(&f, "c", two, 0);
    ready(&f);
    hold(&f, a, ASK(5, 1, 1));
    want(&f, c, ASK(9, 1, 1));
    assert_true(may_take(&f, c, ASK(9, 1, 1), a));    /* 5 > 4, whatever the preemptor */
    assert_false(may_take(&f, b, ASK(2, 1, 1), a));   /* among siblings: 5 <= 5 */
    assert_false(may_take(&f, one, ASK(1, 1, 1), a)); /* nobody takes from its own part */
    ledger_charge(f.ledger, a, ASK(-1, 0, 0));        /* a unit is taken: 4 <= 4 */
    assert_false(may_take(&f, c, ASK(9, 1, 1), a));
    teardown(&f);
}

/* one: deserves 2, its share is 6, it holds 5.  two: deserves 4 and asks no more. */
TEST(test_guarantee_deserved)
{
    struct fixture f;
    setup(&f);
    queue_id one = add(&f, "one", 0, 2), two = add(&f, "two", 0, 4);
    queue_id a = add(&f, "a", one, 2), c = add(&f, "c", two, 4);
    spec(&f, one)->weight_milli[RESOURCE_GPU] = 1000;
    ready(&f);
    hold(&f, a, ASK(5, 1, 1));
    want(&f, a, ASK(5, 1, 1));
    want(&f, c, ASK(4, 1, 1));
    assert_int_equal(queue_tree_share(&f.tree, one, RESOURCE_GPU), 6000);
    assert_true(may_take(&f, c, ASK(4, 1, 1), a));
    assert_false(may_take(&f, c, ASK(5, 1, 1), a)); /* would be above its own quota */
    ledger_charge(f.ledger, c, ASK(1, 0, 0));
    assert_false(may_take(&f, c, ASK(4, 1, 1), a));
    assert_true(may_take(&f, c, ASK(3, 1, 1), a));
    ledger_charge(f.ledger, a, ASK(-3, 0, 0)); /* down to what it deserves */
    assert_false(may_take(&f, c, ASK(1, 1, 1), a));
    teardown(&f);
}

static bool is_valid(struct fixture *f, queue_id preemptor, const int64_t *ask, queue_id loser)
{
    const queue_id touched[2] = {preemptor, loser};
    return quota_fairshare.is_valid(&f->tree, preemptor, ask, touched, 2);
}

/* Shares of 4 each. */
TEST(test_saturation)
{
    struct fixture f;
    setup(&f);
    queue_id a = add(&f, "a", 0, 4), b = add(&f, "b", 0, 4), c = add(&f, "c", 0, 0);
    ready(&f);
    hold(&f, a, ASK(5, 1, 1));
    hold(&f, b, ASK(5, 1, 1));
    want(&f, c, ASK(1, 1, 1));
    assert_false(is_valid(&f, a, ASK(1, 1, 1), b)); /* 1.25 >= 1.25 */
    assert_true(is_valid(&f, a, ASK(0, 1, 1), b));  /* GPUs are not involved */
    hold(&f, b, ASK(1, 0, 0));
    assert_true(is_valid(&f, a, ASK(1, 1, 1), b)); /* 1.25 < 1.5 */
    f.config.saturation_milli = 1200;              /* 1.5 >= 1.5 */
    assert_false(is_valid(&f, a, ASK(1, 1, 1), b));
    f.config.saturation_milli = 1199;
    assert_true(is_valid(&f, a, ASK(1, 1, 1), b));
    assert_true(is_valid(&f, a, ASK(1, 1, 1), c)); /* who is due nothing is not compared */
    ledger_charge(f.ledger, a, ASK(-1, 0, 0));
    ledger_charge(f.ledger, b, ASK(-5, 0, 0));
    assert_true(is_valid(&f, a, ASK(1, 1, 1), b)); /* not above its share */
    ledger_charge(f.ledger, c, ASK(1, 0, 0));      /* due nothing, holds something: beyond all bounds */
    assert_false(is_valid(&f, c, ASK(1, 1, 1), b));
    teardown(&f);
}

/* one{a, b} and two{c}: a against b as siblings, a against c through their organisations. */
TEST(test_saturation_up_the_tree)
{
    struct fixture f;
    setup(&f);
    queue_id one = add(&f, "one", 0, 6), two = add(&f, "two", 0, 2);
    queue_id a = add(&f, "a", one, 2), b = add(&f, "b", one, 4), c = add(&f, "c", two, 2);
    ready(&f);
    hold(&f, a, ASK(3, 1, 1));
    hold(&f, b, ASK(3, 1, 1));
    hold(&f, c, ASK(2, 1, 1));
    assert_false(is_valid(&f, a, ASK(1, 1, 1), b)); /* 3/2 >= 3/4 */
    assert_true(is_valid(&f, a, ASK(1, 1, 1), c));  /* one: 6/6 is not above */
    hold(&f, a, ASK(1, 0, 0));
    assert_false(is_valid(&f, a, ASK(1, 1, 1), c)); /* 7/6 >= 2/2 */
    teardown(&f);
}

TEST(test_firm_gainer_stays_within_quota)
{
    struct fixture f;
    setup(&f);
    queue_id org = add(&f, "org", 0, 3), a = add(&f, "a", org, 4), b = add(&f, "b", 0, 7);
    ready(&f);
    hold(&f, a, FIRM(3, 1, 1));
    assert_true(is_valid(&f, a, FIRM(1, 1, 1), b));
    hold(&f, a, FIRM(1, 1, 1)); /* a is within its 4, org above its 3 */
    assert_false(is_valid(&f, a, FIRM(1, 1, 1), b));
    hold(&f, b, ASK(10, 1, 1));
    assert_true(is_valid(&f, a, ASK(1, 1, 1), b)); /* 4/3 < 10/7 */
    teardown(&f);
}

/* Steps of a minute; b holds half of the cluster from second 90 on, with a half-life of a minute. */
TEST(test_usage_steps)
{
    struct fixture f;
    time_ns next;
    setup(&f);
    queue_id a = add(&f, "a", 0, 0), b = add(&f, "b", 0, 0);
    spec(&f, a)->weight_milli[RESOURCE_GPU] = spec(&f, b)->weight_milli[RESOURCE_GPU] = 1000;
    spec(&f, a)->usage_ppm = 400000;
    f.config.usage_weight_milli = 1000;
    f.config.half_life = 60 * S;
    ready(&f);
    bool (*advance)(struct queue_tree *, time_ns, time_ns *) = quota_fairshare.advance;
    want(&f, a, ASK(20, 1, 1));
    want(&f, b, ASK(20, 1, 1));
    assert_false(advance(&f.tree, 0, &next));
    assert_int_equal(next, TIME_NEVER);                                 /* nobody waits */
    assert_int_equal(queue_tree_share(&f.tree, a, RESOURCE_GPU), 4000); /* s = 0.6 : 1 of 10 */
    f.tree.waits[QUEUE_ROOT].jobs = 1;
    assert_false(advance(&f.tree, 59 * S, &next));
    assert_int_equal(next, 60 * S);
    assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 400000);
    assert_true(advance(&f.tree, 90 * S, &next));
    assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 200000); /* as of second 60 */
    ledger_charge(f.ledger, b, ASK(5, 0, 0));
    assert_true(advance(&f.tree, 150 * S, &next));
    assert_int_equal(next, 180 * S);
    /* As of second 120: 0.1 is left of a's past; b held 5 of 10 for half a half-life: 0.5 * (1 - 2^-0.5). */
    assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 100000);
    assert_int_equal(usage_ppm(&f.tree, b, RESOURCE_GPU), 146447);
    assert_int_equal(usage_ppm(&f.tree, b, RESOURCE_CPU), 0);
    assert_int_equal(queue_tree_share(&f.tree, a, RESOURCE_GPU), 5000); /* 0.9 : 0.8536 of 10 */
    queue_id c = add(&f, "c", 0, 0);
    spec(&f, c)->usage_ppm = 300000; /* new, with a past of its own */
    ledger_queues(f.ledger, f.table);
    queue_tree_update(&f.tree, f.table);
    assert_int_equal(usage_ppm(&f.tree, c, RESOURCE_GPU), 300000);
    advance(&f.tree, 180 * S, &next);
    assert_int_equal(usage_ppm(&f.tree, c, RESOURCE_GPU), 212132); /* half a half-life later */
    teardown(&f);
}

/* A window of 5600 s has buckets of 100 s; of what is used evenly the halves of one leave it just as they should. */
TEST(test_usage_window)
{
    struct fixture f;
    time_ns next;
    setup(&f);
    queue_id a = add(&f, "a", 0, 0), b = add(&f, "b", 0, 0);
    spec(&f, a)->usage_ppm = 560000;
    f.config.usage_weight_milli = 1000;
    f.config.window = 5600 * S;
    f.config.share_period = 50 * S;
    ready(&f);
    quota_fairshare.advance(&f.tree, 0, &next);
    ledger_charge(f.ledger, b, ASK(10, 0, 0));
    for (time_ns t = 50; t <= 5600; t += 50) {
        quota_fairshare.advance(&f.tree, t * S, &next);
        assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 560000 - t * 100);
        assert_int_equal(usage_ppm(&f.tree, b, RESOURCE_GPU), (t * 1000000 + 2800) / 5600);
    }
    ledger_charge(f.ledger, b, ASK(-10, 0, 0));
    ledger_charge(f.ledger, a, ASK(5, 0, 0));
    quota_fairshare.advance(&f.tree, 1000000 * S, &next); /* many windows later */
    assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 500000);
    assert_int_equal(usage_ppm(&f.tree, b, RESOURCE_GPU), 0);
    teardown(&f);
}

/* With neither window nor half-life the past stands as it was told; with no usage weight there is none. */
TEST(test_usage_without_decay)
{
    struct fixture f;
    time_ns next;
    setup(&f);
    queue_id a = add(&f, "a", 0, 0);
    spec(&f, a)->usage_ppm = 400000;
    f.config.usage_weight_milli = 1000;
    ready(&f);
    f.tree.waits[QUEUE_ROOT].jobs = 1;
    hold(&f, a, ASK(5, 1, 1));
    assert_false(quota_fairshare.advance(&f.tree, 0, &next));
    assert_false(quota_fairshare.advance(&f.tree, 7200 * S, &next));
    assert_int_equal(next, TIME_NEVER);
    assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 400000);
    f.config.usage_weight_milli = 0;
    f.config.half_life = 60 * S;
    assert_false(quota_fairshare.advance(&f.tree, 7300 * S, &next));
    assert_int_equal(next, TIME_NEVER);
    assert_int_equal(usage_ppm(&f.tree, a, RESOURCE_GPU), 0);
    teardown(&f);
}
