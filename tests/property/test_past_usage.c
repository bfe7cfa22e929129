/* Past usage of queues against an integral over their whole history, at every step of random streams. */
#include "tests/support/test.h"
#include <math.h>

#include "base/random.h"
#include "policies/queues/queues.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"
#include "policies/quota/usage.h"

#define S TIME_NS_PER_S

enum { HISTORY_MAX = 1024 };

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

static int64_t below(struct random_stream *stream, int64_t bound)
{
    return (int64_t)random_below(stream, (uint32_t)bound);
}

struct history { /* of one queue, GPUs: from times[i] on it held milli[i] */
    time_ns times[HISTORY_MAX];
    int64_t milli[HISTORY_MAX];
    uint32_t count;
};

static void remember(struct history *h, time_ns now, int64_t milli)
{
    assert_true(h->count < HISTORY_MAX);
    h->times[h->count] = now;
    h->milli[h->count++] = milli;
}

/* Integral of milli(t) * 2^((t - now) / half_life) over [from, now]; the past before the first entry is `before`. */
static long double integral(const struct history *h, const struct quota_config *config, time_ns now, long double before)
{
    const long double rate = config->half_life > 0 ? M_LN2 / (long double)config->half_life : 0;
    const time_ns from = config->window > 0 ? now - config->window : INT64_MIN / 2;
    long double sum = 0;
    for (int64_t i = -1; i < h->count; i++) {
        time_ns begin = i < 0 ? from : h->times[i], end = i + 1 < h->count ? h->times[i + 1] : now;
        long double milli = i < 0 ? before : (long double)h->milli[i];
        begin = begin < from ? from : begin;
        end = end > now ? now : end;
        if (begin < end)
            sum +=
                milli *
                (rate == 0 ? (long double)(end - begin)
                           : (expl(rate * (long double)(end - now)) - expl(rate * (long double)(begin - now))) / rate);
    }
    return sum;
}

static void add(struct fixture *f, const char *name)
{
    queue_table_add(f->table, text_of(name), QUEUE_ROOT);
}

struct usage_case {
    time_ns window, half_life, period;
    int64_t past_ppm;
    double tolerance_ppm;
    bool is_idle; /* hours, not minutes, between events */
};

static void change_charge(struct fixture *f, struct random_stream *stream, struct history *h, queue_id q, time_ns now)
{
    int64_t held = queue_tree_charged(&f->tree, q, RESOURCE_GPU);
    int64_t after = below(stream, 3) * below(stream, 20000);
    ledger_charge(f->ledger, q, (const int64_t[QUEUE_SUM_COUNT]){after - held});
    remember(h, now, after);
}

/* Two queues hold what chance says; at every step their usage is that of the history.  A twin is told the time more
 * often and must agree exactly. */
static void run_usage_case(const struct usage_case *c, uint64_t seed)
{
    struct fixture f, twin;
    struct random_stream stream;
    struct history held[2] = {{.count = 0}, {.count = 0}}, there = {.count = 0};
    struct fixture *both[2] = {&f, &twin};
    time_ns now = 7 * S, start = now, next;
    random_stream_init(&stream, seed, "usage", 0);
    for (int i = 0; i < 2; i++) {
        setup(both[i], 40);
        add(both[i], "a");
        add(both[i], "b");
        both[i]->table->queues[1].usage_ppm = c->past_ppm;
        both[i]->config.usage_weight_milli = 1000;
        both[i]->config.window = c->window;
        both[i]->config.half_life = c->half_life;
        both[i]->config.share_period = c->period;
        ready(both[i]);
        quota_fairshare.advance(&both[i]->tree, now, &next);
        remember(&held[i], now, 0);
    }
    remember(&there, now, f.capacity[0]);
    for (int event = 0; event < 600; event++) {
        time_ns until = now + below(&stream, c->is_idle ? 20000 : 600) * S + below(&stream, 1000);
        for (time_ns t = now; t < until; t += (until - now) / 3 + 1)
            quota_fairshare.advance(&twin.tree, t, &next);
        now = until;
        quota_fairshare.advance(&f.tree, now, &next);
        quota_fairshare.advance(&twin.tree, now, &next);
        time_ns step = now - (now - start) % c->period;
        long double past = c->past_ppm > 0 ? 1 : 0;
        long double whole = integral(&there, &f.config, step, past * (long double)f.capacity[0]);
        for (queue_id q = 1; q <= 2 && step > start; q++) {
            long double before = q == 1 ? (long double)(c->past_ppm * f.capacity[0] / 1000000) : 0;
            long double ppm = integral(&held[q - 1], &f.config, step, before) / whole * 1e6L;
            int64_t told = usage_ppm(&f.tree, q, RESOURCE_GPU);
            assert_true(fabsl(ppm - (long double)told) <= c->tolerance_ppm);
            assert_int_equal(told, usage_ppm(&twin.tree, q, RESOURCE_GPU));
        }
        uint32_t which = random_below(&stream, 2);
        change_charge(&f, &stream, &held[which], 1 + which, now);
        ledger_charge(twin.ledger, 1 + which,
                      (const int64_t[QUEUE_SUM_COUNT]){queue_tree_charged(&f.tree, 1 + which, RESOURCE_GPU) -
                                                       queue_tree_charged(&twin.tree, 1 + which, RESOURCE_GPU)});
    }
    teardown(&f);
    teardown(&twin);
}

TEST(test_usage)
{
    /* Steps at the ends of buckets: exact, but for rounding.  Else the window's far edge is known to a bucket. */
    static const struct usage_case cases[] = {
        {.half_life = 3600 * S, .period = 60 * S, .tolerance_ppm = 1},
        {.half_life = 3600 * S, .period = 60 * S, .past_ppm = 300000, .tolerance_ppm = 1},
        {.half_life = 300 * S, .period = 60 * S, .is_idle = true, .tolerance_ppm = 1},
        {.window = 5600 * S, .period = 100 * S, .tolerance_ppm = 1},
        {.window = 5600 * S, .period = 100 * S, .past_ppm = 250000, .tolerance_ppm = 1},
        {.window = 5600 * S, .period = 100 * S, .is_idle = true, .tolerance_ppm = 1},
        {.window = 5600 * S, .half_life = 3000 * S, .period = 100 * S, .past_ppm = 250000, .tolerance_ppm = 1},
        {.window = 7 * 86400 * S, .half_life = 7200 * S, .period = 60 * S, .tolerance_ppm = 1},
        {.window = 5600 * S, .period = 60 * S, .past_ppm = 250000, .tolerance_ppm = 1e6 / 56},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            run_usage_case(&cases[i], seed);
}
