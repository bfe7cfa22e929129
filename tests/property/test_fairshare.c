/* fairshare: on random streams of demand, charges, capacity and time the lazy division against a naive full one,
 * whatever the order of the children; and the laws of its two orders. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/queues/queues.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"
#include "policies/quota/usage.h"

enum { QUEUES_MAX = 64, TEAMS = 8, LEAVES = 32 };

#define S TIME_NS_PER_S

struct fixture {
    struct cluster *cluster;
    struct queue_table *table;
    struct ledger *ledger;
    struct quota_config config;
    struct queue_tree tree;
    int64_t capacity[RESOURCE_COUNT];
};

static const int64_t unit[RESOURCE_COUNT] = {1000, 1000, 1024};

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

/* ---- The naive division: section by section as it is told, over the table, with plain fractions ---- */

struct child {
    queue_id id;
    int64_t wants, weight, share, usage;
    int32_t priority;
    __int128 part;
    __int128 rest, rest_of; /* of a unit, from the last pass; rest_of 0: none */
};

static bool wants_more(const struct child *c, int32_t priority)
{
    return c->priority == priority && c->weight > 0 && c->share < c->wants;
}

static __int128 naive_part(const struct fixture *f, const struct child *c, int64_t weights)
{
    const __int128 k = f->config.usage_weight_milli;
    __int128 part = c->weight * 1000000 * (1000 + k) - k * c->usage * weights;
    return part > 0 ? part : 0;
}

static bool naive_pass(const struct fixture *f, struct child *children, uint32_t count, int32_t priority, int64_t u,
                       int64_t *left)
{
    const __int128 amount = *left;
    int64_t weights = 0;
    __int128 parts = 0;
    bool again = false;
    for (uint32_t i = 0; i < count; i++)
        weights += wants_more(&children[i], priority) ? children[i].weight : 0;
    for (uint32_t i = 0; i < count; i++) {
        children[i].part = wants_more(&children[i], priority) ? naive_part(f, &children[i], weights) : 0;
        parts += children[i].part;
    }
    for (uint32_t i = 0; i < count && parts > 0; i++) {
        struct child *c = &children[i];
        if (!wants_more(c, priority))
            continue;
        int64_t room = c->wants - c->share, given = room;
        c->rest_of = 0;
        again |= room * parts < amount * c->part;
        if (room * parts > amount * c->part) {
            given = (int64_t)(amount * c->part / parts) / u * u;
            c->rest = amount * c->part - given * parts;
            c->rest_of = parts * u;
        }
        c->share += given;
        *left -= given;
    }
    return again;
}

static bool has_more_rest(const struct fixture *f, const struct child *a, const struct child *b)
{
    __int128 left = a->rest * b->rest_of, right = b->rest * a->rest_of;
    const struct queue_spec *specs = f->table->queues;
    if (left != right)
        return left > right;
    if (specs[a->id].created != specs[b->id].created)
        return specs[a->id].created < specs[b->id].created;
    return a->id < b->id;
}

static void naive_deal(const struct fixture *f, struct child *children, uint32_t count, int32_t priority, int64_t u,
                       int64_t *left)
{
    while (*left > 0) {
        struct child *best = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (children[i].priority == priority && children[i].rest_of > 0 &&
                (best == NULL || has_more_rest(f, &children[i], best)))
                best = &children[i];
        if (best == NULL)
            return;
        int64_t given = *left < u ? *left : u;
        best->share += given;
        best->rest_of = 0;
        *left -= given;
    }
}

static void naive_divide(const struct fixture *f, queue_id parent, enum resource r, int64_t total,
                         int64_t shares[QUEUES_MAX])
{
    struct child children[QUEUES_MAX];
    uint32_t count = 0;
    int64_t left = total;
    shares[parent] = total;
    for (queue_id q = 1; q < f->table->count; q++) {
        const struct queue_spec *spec = &f->table->queues[q];
        if (spec->parent != parent)
            continue;
        struct child *c = &children[count++];
        *c = (struct child){.id = q,
                            .wants = f->tree.queues[q].demand[r],
                            .weight = spec->weight_milli[r],
                            .usage = usage_ppm(&f->tree, q, r),
                            .priority = spec->priority};
        if (spec->limit[r] != -1 && spec->limit[r] < c->wants)
            c->wants = spec->limit[r];
        int64_t deserved = spec->deserved[r] == -1 ? total : spec->deserved[r];
        c->share = deserved < c->wants ? deserved : c->wants;
        left -= c->share;
    }
    for (int32_t priority = 102; priority >= 100; priority--)
        while (left > 0 && naive_pass(f, children, count, priority, unit[r], &left))
            continue;
    for (int32_t priority = 102; priority >= 100; priority--)
        naive_deal(f, children, count, priority, unit[r], &left);
    for (uint32_t i = 0; i < count; i++)
        naive_divide(f, children[i].id, r, children[i].share, shares);
}

static void check_against_naive(struct fixture *f)
{
    int64_t naive[QUEUES_MAX];
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        naive_divide(f, QUEUE_ROOT, (enum resource)r, f->tree.capacity[r], naive);
        for (queue_id q = 0; q < f->table->count; q++)
            assert_int_equal(queue_tree_share(&f->tree, q, (enum resource)r), naive[q]);
    }
}

/* ---- Random trees and streams ---- */

static int64_t below(struct random_stream *stream, int64_t bound)
{
    return (int64_t)random_below(stream, (uint32_t)bound);
}

static void random_spec(struct random_stream *stream, struct queue_spec *spec)
{
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        int64_t scale = r == RESOURCE_GPU ? 1000 : r == RESOURCE_CPU ? 8000 : 65536;
        spec->deserved[r] =
            below(stream, r == RESOURCE_GPU ? 12 : 3) == 0 ? QUOTA_UNLIMITED : below(stream, 24) * scale / 2;
        spec->limit[r] = below(stream, 4) == 0 ? (below(stream, 20) + 1) * scale : QUOTA_UNLIMITED;
        spec->weight_milli[r] = below(stream, 4) * 700;
    }
    spec->priority = (int32_t)(100 + below(stream, 3));
    spec->created = below(stream, 3);
    spec->usage_ppm = below(stream, 2) * below(stream, 400000);
}

/* Teams below the root, the rest below teams; `turn` rotates the order in which the same queues are added. */
static void random_tree(struct fixture *f, uint64_t seed, uint32_t turn)
{
    char name[16], parent[16];
    for (uint32_t n = 0; n < TEAMS + LEAVES; n++) {
        uint32_t i = n < TEAMS ? (n + turn) % TEAMS : TEAMS + (n - TEAMS + turn) % LEAVES;
        struct random_stream stream;
        random_stream_init(&stream, seed, "queue", i);
        snprintf(name, sizeof name, "q%u", i);
        snprintf(parent, sizeof parent, "q%u", random_below(&stream, TEAMS));
        queue_id above = i < TEAMS ? QUEUE_ROOT : queue_table_find(f->table, text_of(parent));
        queue_id id = queue_table_add(f->table, text_of(name), above);
        random_spec(&stream, &f->table->queues[id]);
        if (seed % 2 == 0)
            f->table->queues[id].created = i; /* nobody's turn depends on the id */
    }
}

/* What a queue asks, moved at random: little in the first half of a stream, more than there is in the second. */
static void random_demand(struct fixture *f, struct random_stream *stream, queue_id q, int64_t asked[RESOURCE_COUNT],
                          bool is_deep)
{
    int64_t ask[QUEUE_SUM_COUNT] = {0};
    int sign = below(stream, 2) == 0 ? -1 : 1;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        if (below(stream, 4) == 0)
            continue;
        int64_t most = (is_deep ? 20 : 2) * unit[r] * (r == RESOURCE_GPU ? 1 : 8);
        ask[r] = below(stream, most);
        if (sign < 0)
            ask[r] = asked[r] == 0 ? 0 : below(stream, asked[r] + 1);
        asked[r] += sign * ask[r];
    }
    queue_tree_demand(&f->tree, q, ask, sign);
}

/* Somebody holds something for a while. */
static void random_past(struct fixture *f, struct random_stream *stream, queue_id q, time_ns *now)
{
    time_ns next;
    *now += below(stream, 100) * S;
    quota_fairshare.advance(&f->tree, *now, &next);
    ledger_charge(f->ledger, q, (const int64_t[QUEUE_SUM_COUNT]){below(stream, 20000), below(stream, 20000)});
}

static void random_change(struct fixture *f, struct random_stream *stream, time_ns *now)
{
    queue_id q = 1 + random_below(stream, f->table->count - 1);
    int64_t capacity[RESOURCE_COUNT];
    switch (below(stream, 5)) {
    case 0: /* nodes come and go */
        for (int r = 0; r < RESOURCE_COUNT; r++)
            capacity[r] = f->capacity[r] / 4 * (1 + below(stream, 4));
        queue_tree_set_capacity(&f->tree, capacity);
        break;
    case 1:
        random_spec(stream, &f->table->queues[q]);
        queue_tree_update(&f->tree, f->table);
        break;
    case 2:
        random_past(f, stream, q, now);
        break;
    default: /* divide a part only */
        queue_tree_share(&f->tree, q, (enum resource)below(stream, RESOURCE_COUNT));
    }
}

TEST(test_lazy_equals_naive)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fixture f;
        struct random_stream stream;
        int64_t asked[QUEUES_MAX][RESOURCE_COUNT] = {{0}};
        time_ns now = 0;
        random_stream_init(&stream, seed, "fairshare", 0);
        setup(&f, 60);
        f.config.usage_weight_milli = seed % 4 == 0 ? below(&stream, 3000) : 0;
        f.config.half_life = seed % 8 == 0 ? 600 * S : 0;
        random_tree(&f, seed, 0);
        ready(&f);
        for (int step = 0; step < 600; step++) {
            queue_id q = 1 + random_below(&stream, f.table->count - 1); /* inner ones too */
            random_demand(&f, &stream, q, asked[q], step >= 300);
            if (below(&stream, 10) == 0)
                random_change(&f, &stream, &now);
            if (below(&stream, 3) == 0)
                check_against_naive(&f);
        }
        teardown(&f);
    }
}

TEST(test_order_of_children_does_not_matter)
{
    char name[16];
    for (uint64_t seed = 2; seed <= 40; seed += 2) {
        struct fixture f[2];
        for (uint32_t i = 0; i < 2; i++) {
            setup(&f[i], 60);
            f[i].config.usage_weight_milli = seed % 4 == 0 ? 1000 : 0;
            random_tree(&f[i], seed, i * 5);
            ready(&f[i]);
            for (uint32_t q = TEAMS; q < TEAMS + LEAVES; q++) {
                struct random_stream stream;
                int64_t asked[RESOURCE_COUNT] = {0};
                snprintf(name, sizeof name, "q%u", q);
                queue_id id = queue_table_find(f[i].table, text_of(name));
                for (uint32_t times = 0; times < 4; times++) {
                    random_stream_init(&stream, seed, "demand", q * 4 + times);
                    random_demand(&f[i], &stream, id, asked, true);
                }
            }
        }
        for (uint32_t q = 0; q < TEAMS + LEAVES; q++)
            for (int r = 0; r < RESOURCE_COUNT; r++) {
                int64_t shares[2];
                snprintf(name, sizeof name, "q%u", q);
                for (uint32_t i = 0; i < 2; i++)
                    shares[i] =
                        queue_tree_share(&f[i].tree, queue_table_find(f[i].table, text_of(name)), (enum resource)r);
                assert_int_equal(shares[0], shares[1]);
            }
        teardown(&f[0]);
        teardown(&f[1]);
    }
}

/* ---- The two orders ---- */

static int sign_of(int x)
{
    return (x > 0) - (x < 0);
}

static void random_charges(struct fixture *f, struct random_stream *stream)
{
    for (queue_id q = 1; q < f->table->count; q++) {
        int64_t charge[QUEUE_SUM_COUNT] = {0};
        if (below(stream, 3) == 0)
            continue;
        for (int r = 0; r < RESOURCE_COUNT; r++)
            charge[r] = below(stream, 5) * unit[r] * (r == RESOURCE_GPU ? 1 : 8);
        ledger_charge(f->ledger, q, charge);
        queue_tree_demand(&f->tree, q, charge, 1);
    }
}

/* Antisymmetric and transitive; and the victims' order is the admission's reversed: with the units gone, the one that
 * would be let in last is taken first. */
static void check_orders(struct fixture *f, struct random_stream *stream)
{
    int64_t asks[3][QUEUE_SUM_COUNT] = {{0}};
    struct contender c[3];
    for (int i = 0; i < 3; i++) {
        c[i] = (struct contender){.queue = 1 + random_below(stream, TEAMS), .ask = asks[i]};
        for (int r = 0; r < RESOURCE_COUNT; r++)
            asks[i][r] = below(stream, 3) * unit[r];
    }
    if (c[0].queue == c[1].queue || c[1].queue == c[2].queue || c[0].queue == c[2].queue)
        return;
    int (*compare)(struct queue_tree *, struct contender, struct contender) = quota_fairshare.compare;
    int ab = sign_of(compare(&f->tree, c[0], c[1])), bc = sign_of(compare(&f->tree, c[1], c[2]));
    assert_int_not_equal(ab, 0);
    assert_int_equal(ab, -sign_of(compare(&f->tree, c[1], c[0])));
    if (ab == bc)
        assert_int_equal(sign_of(compare(&f->tree, c[0], c[2])), ab);
    ledger_charge(f->ledger, c[0].queue, asks[0]);
    ledger_charge(f->ledger, c[1].queue, asks[1]);
    assert_int_equal(sign_of(quota_fairshare.compare_victims(&f->tree, c[0], c[1])), -ab);
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < RESOURCE_COUNT; r++)
            asks[i][r] = -asks[i][r];
    ledger_charge(f->ledger, c[0].queue, asks[0]);
    ledger_charge(f->ledger, c[1].queue, asks[1]);
}

TEST(test_orders)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture f;
        struct random_stream stream;
        random_stream_init(&stream, seed, "orders", 0);
        setup(&f, 30);
        random_tree(&f, seed, 0);
        ready(&f);
        random_charges(&f, &stream);
        for (int i = 0; i < 300; i++)
            check_orders(&f, &stream);
        teardown(&f);
    }
}
