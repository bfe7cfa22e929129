/* tests/property/test_accounts.c -- usage against naive time stepping, the fair tree against a literal recomputation,
 * and small cases by hand. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/order/order_read.h"
#include "policies/state/accounts.h"

#define S TIME_NS_PER_S

enum { QUEUES_MAX = 12, USERS_MAX = 4 };

struct fixture {
    struct order_config config;
    struct queue_table *table;
    struct accounts accounts;
};

static struct fixture *fixture_new(void)
{
    struct fixture *f = mem_zalloc(1, sizeof *f);
    f->config = order_config_default();
    f->config.half_life = 0;
    f->table = queue_table_new();
    accounts_init(&f->accounts, &f->config, f->table);
    return f;
}

static void fixture_free(struct fixture *f)
{
    accounts_release(&f->accounts);
    queue_table_free(f->table);
    mem_free(f);
}

static queue_id add_queue(struct fixture *f, queue_id parent, int64_t weight)
{
    char name[16];
    snprintf(name, sizeof name, "q%u", f->table->count);
    queue_id queue = queue_table_add(f->table, text_of(name), parent);
    f->table->queues[queue].weight_milli[RESOURCE_GPU] = weight * 1000;
    accounts_queues(&f->accounts, f->table);
    return queue;
}

static void charge(struct accounts *accounts, queue_id queue, uint32_t user, int64_t gpus, int sign, time_ns now)
{
    const int64_t amounts[QUEUE_SUM_COUNT] = {gpus * 1000, gpus * 16000, gpus * 65536};
    accounts_charge(accounts, queue, user, amounts, sign, now);
}

/* In the first second the user holds `gpu_s` GPUs: as many GPU-seconds of usage, without decay. */
static void use(struct fixture *f, queue_id queue, uint32_t user, int64_t gpu_s)
{
    charge(&f->accounts, queue, user, gpu_s, 1, 0);
}

static uint32_t factor(const struct fixture *f, queue_id queue, uint32_t user)
{
    return accounts_fair_share(&f->accounts, queue, user);
}

static void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) > relative * fmax(fabs(a), fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

TEST(held_for_a_half_life)
{
    struct fixture *f = fixture_new();
    queue_id queue = add_queue(f, QUEUE_ROOT, 1);
    f->config.half_life = 3600 * S;
    charge(&f->accounts, queue, 0, 8, 1, 100 * S);
    charge(&f->accounts, queue, 0, 8, -1, 3700 * S);
    const struct account *user = accounts_find(&f->accounts, queue, 0);
    assert_near(user->usage_unit_s, 8 * 3600 / log(2) / 2, 1e-12);
    accounts_refresh(&f->accounts, 3700 * S + 2 * 3600 * S);
    assert_near(user->usage_unit_s, 8 * 3600 / log(2) / 8, 1e-12);
    assert_int_equal(user->used, lround(8 * 3600 / log(2) / 8 * 1000));
    assert_int_equal(f->accounts.queues[QUEUE_ROOT].used, user->used);
    fixture_free(f);
}

TEST(billing_weighs_what_is_held)
{
    struct fixture *f = fixture_new();
    charge(&f->accounts, QUEUE_ROOT, 0, 2, 1, 0); /* with 32 CPUs and 128 GiB */
    accounts_refresh(&f->accounts, 10 * S);
    const struct account *user = accounts_find(&f->accounts, QUEUE_ROOT, 0);
    assert_near(user->usage_unit_s, 20, 1e-12); /* GPUs alone */
    f->config.billing_milli[RESOURCE_CPU] = 250;
    f->config.billing_milli[RESOURCE_MEMORY] = 10;
    accounts_refresh(&f->accounts, 20 * S);
    assert_near(user->usage_unit_s, 20 + 10 * (8 + 1.28), 1e-12);
    f->config.billing_milli[RESOURCE_GPU] = 3000;
    accounts_refresh(&f->accounts, 30 * S);
    assert_near(user->usage_unit_s, 20 + 20 * (8 + 1.28) + 10 * 6, 1e-12);
    fixture_free(f);
}

/* The naive twin: every second all usage decays, and what is held in it is added as if in its middle. */
struct twin {
    double usage[QUEUES_MAX][USERS_MAX];
    int64_t held[QUEUES_MAX][USERS_MAX];
};

static void step(struct twin *twin, double decay_per_s)
{
    for (int q = 0; q < QUEUES_MAX; q++)
        for (int u = 0; u < USERS_MAX; u++)
            twin->usage[q][u] = twin->usage[q][u] * decay_per_s + (double)twin->held[q][u] * sqrt(decay_per_s);
}

/* Of a queue and all below it; parents have smaller ids. */
static double twin_below(const struct fixture *f, const struct twin *twin, queue_id queue)
{
    double sum = 0;
    for (queue_id q = queue; q < f->table->count; q++) {
        queue_id above = q;
        while (above > queue)
            above = f->table->queues[above].parent;
        for (int u = 0; u < USERS_MAX && above == queue; u++)
            sum += twin->usage[q][u];
    }
    return sum;
}

static void compare_usage(const struct fixture *f, const struct twin *twin)
{
    const double relative = 1e-6; /* the middle of a second: (rate * 1 s)^2 / 24 at most */
    for (queue_id q = 0; q < f->table->count; q++) {
        assert_near((double)f->accounts.queues[q].used / 1000, twin_below(f, twin, q), relative);
        for (uint32_t u = 0; u < USERS_MAX; u++) {
            const struct account *user = accounts_find(&f->accounts, q, u);
            assert_near(user != NULL ? user->usage_unit_s : 0, twin->usage[q][u], relative);
        }
    }
}

static void random_tree(struct random_stream *stream, struct fixture *f)
{
    static const int64_t weights[] = {0, 1, 1, 1, 2, 3};
    uint32_t count = 1 + random_below(stream, QUEUES_MAX - 1);
    while (f->table->count < count)
        add_queue(f, random_below(stream, f->table->count), weights[random_below(stream, 6)]);
}

/* now and then a job comes or goes; another set of accounts is looked at all the time. */
static void live(struct random_stream *stream, struct fixture *f, double decay_per_s)
{
    struct twin twin = {0};
    struct accounts watched;
    accounts_init(&watched, &f->config, f->table);
    for (time_ns now = 0; now < 4000 * S; now += S) {
        if (random_below(stream, 40) == 0) {
            queue_id queue = random_below(stream, f->table->count);
            uint32_t user = random_below(stream, USERS_MAX);
            bool goes = twin.held[queue][user] > 0 && random_below(stream, 2);
            int64_t gpus = goes ? twin.held[queue][user] : 1 + random_below(stream, 64);
            charge(&f->accounts, queue, user, gpus, goes ? -1 : 1, now);
            charge(&watched, queue, user, gpus, goes ? -1 : 1, now);
            twin.held[queue][user] += goes ? -gpus : gpus;
        }
        if (random_below(stream, 50) == 0)
            accounts_refresh(&watched, now);
        step(&twin, decay_per_s);
    }
    accounts_refresh(&f->accounts, 4000 * S);
    accounts_refresh(&watched, 4000 * S);
    compare_usage(f, &twin);
    for (uint32_t i = 0; i < watched.user_count; i++)
        assert_near(f->accounts.users[i].usage_unit_s, watched.users[i].usage_unit_s, 1e-12);
    accounts_release(&watched);
}

TEST(usage_is_what_time_stepping_finds)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "test_accounts_usage", 0);
    for (int i = 0; i < 60; i++) {
        struct fixture *f = fixture_new();
        random_tree(&stream, f);
        double half_life_s = 600 + random_below(&stream, 10000);
        double decay_per_s = exp2(-1 / half_life_s);
        f->config.half_life = (time_ns)half_life_s * S;
        f->config.decays_as_slurm = i % 3 == 1;
        if (i % 3 == 1)
            decay_per_s = 1 - 0.693 / half_life_s;
        if (i % 3 == 2) {
            f->config.half_life = 0;
            decay_per_s = 1;
        }
        live(&stream, f, decay_per_s);
        fixture_free(f);
    }
}

/* ---- the fair tree by hand ---- */

/* A used 30 and B 10 of equal shares: LF 2/3 and 2, so that b goes first though it used more than either of A's. */
TEST(all_of_the_queue_that_is_owed_more_go_first)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1), b = add_queue(f, QUEUE_ROOT, 1);
    use(f, a, 1, 9);
    use(f, a, 2, 21);
    use(f, b, 3, 10);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, b, 3), 1000000);
    assert_int_equal(factor(f, a, 1), 666666); /* LF (1/2) / (9/30) */
    assert_int_equal(factor(f, a, 2), 333333);
    f->table->queues[a].weight_milli[RESOURCE_GPU] = 4000; /* LF (4/5) / (3/4) against (1/5) / (1/4) */
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a, 1), 1000000);
    assert_int_equal(factor(f, a, 2), 666666);
    assert_int_equal(factor(f, b, 3), 333333);
    fixture_free(f);
}

TEST(equal_users_share_the_better_rank)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1);
    use(f, a, 1, 7);
    use(f, a, 2, 3);
    use(f, a, 3, 0);
    use(f, a, 4, 3);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a, 3), 1000000);
    assert_int_equal(factor(f, a, 2), 750000);
    assert_int_equal(factor(f, a, 4), 750000);
    assert_int_equal(factor(f, a, 1), 250000);
    fixture_free(f);
}

/* A and B are equal, so their users stand in one line by LF: a1 2, b1 and b2 1, a2 2/3. */
TEST(equal_queues_are_ranked_as_one)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1), b = add_queue(f, QUEUE_ROOT, 1);
    use(f, a, 1, 1);
    use(f, a, 2, 3);
    use(f, b, 1, 2);
    use(f, b, 2, 2);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a, 1), 1000000);
    assert_int_equal(factor(f, b, 1), 750000);
    assert_int_equal(factor(f, b, 2), 750000);
    assert_int_equal(factor(f, a, 2), 250000);
    fixture_free(f);
}

/* The level factors are equal, but no two numbers in them: (1/2) / (1/3) and (1/4) / (1/6). */
TEST(equality_is_exact)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 5), b = add_queue(f, QUEUE_ROOT, 5);
    queue_id a1 = add_queue(f, a, 1), a2 = add_queue(f, a, 1);
    queue_id b1 = add_queue(f, b, 1), b2 = add_queue(f, b, 3);
    use(f, a1, 1, 20);
    use(f, a2, 1, 40);
    use(f, b1, 1, 10);
    use(f, b2, 1, 50); /* LF (3/4) / (5/6) = 9/10 against a2's 3/4 */
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a1, 1), 1000000);
    assert_int_equal(factor(f, b1, 1), 1000000);
    assert_int_equal(factor(f, b2, 1), 500000);
    assert_int_equal(factor(f, a2, 1), 250000);
    fixture_free(f);
}

TEST(a_user_equal_to_a_queue_goes_with_its_first)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1);
    use(f, a, 1, 1);
    use(f, a, 2, 3);
    use(f, QUEUE_ROOT, 9, 4);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, QUEUE_ROOT, 9), 1000000);
    assert_int_equal(factor(f, a, 1), 1000000);
    assert_int_equal(factor(f, a, 2), 333333);
    fixture_free(f);
}

TEST(without_shares_one_is_last_and_without_usage_first)
{
    struct fixture *f = fixture_new();
    queue_id none = add_queue(f, QUEUE_ROOT, 0), some = add_queue(f, QUEUE_ROOT, 1);
    queue_id unused = add_queue(f, QUEUE_ROOT, 1);
    use(f, none, 1, 0);
    use(f, some, 1, 1000);
    use(f, unused, 1, 0);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, unused, 1), 1000000);
    assert_int_equal(factor(f, some, 1), 666666);
    assert_int_equal(factor(f, none, 1), 333333);
    fixture_free(f);
}

TEST(newcomers_stand_first_in_their_queue)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1), b = add_queue(f, QUEUE_ROOT, 1);
    assert_int_equal(factor(f, a, 1), 1000000); /* nobody is known */
    use(f, a, 1, 9);
    use(f, a, 2, 21);
    use(f, b, 1, 10);
    assert_int_equal(factor(f, a, 2), 1000000); /* nothing moves before the refresh */
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a, 7), 666666);
    assert_int_equal(factor(f, b, 7), 1000000);
    assert_null(accounts_find(&f->accounts, a, 7)); /* asking opens no account */
    charge(&f->accounts, a, 7, 1, 1, S);
    assert_int_equal(factor(f, a, 7), 666666);
    assert_int_equal(factor(f, add_queue(f, a, 1), 1), 666666); /* a queue that came since */
    fixture_free(f);
}

/* Slurm's association table has all users: 4 of equal shares, of whom one used 30 and one 10. */
TEST(users_who_have_not_run_count)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1);
    f->table->queues[a].users = 4;
    use(f, a, 1, 30);
    use(f, a, 2, 10);
    accounts_open(&f->accounts, a, 3, 0);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a, 3), 1000000);
    assert_int_equal(factor(f, a, 9), 1000000); /* has not submitted yet */
    assert_int_equal(factor(f, a, 2), 500000);
    assert_int_equal(factor(f, a, 1), 250000);
    f->config.fair_share = FAIR_SHARE_CLASSIC;
    accounts_refresh(&f->accounts, S);
    assert_int_equal(accounts_find(&f->accounts, a, 1)->level_shares, 4000);
    fixture_free(f);
}

TEST(many_users_are_told_apart)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1), b = add_queue(f, QUEUE_ROOT, 1);
    for (uint32_t u = 0; u < 3000; u++) {
        use(f, a, u, 1 + u);
        use(f, b, u, 5000 + u);
    }
    use(f, b, NAMES_NONE, 1);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(f->accounts.user_count, 6001);
    for (uint32_t u = 1; u < 3000; u++) {
        assert_int_equal(accounts_find(&f->accounts, b, u)->used, (5000 + u) * UINT64_C(1000));
        assert_true(factor(f, a, u) < factor(f, a, u - 1));
        assert_true(factor(f, b, u) < factor(f, b, NAMES_NONE));
    }
    fixture_free(f);
}

/* ---- the fair tree against a literal recomputation ---- */

struct entry { /* a queue, or a user in one */
    queue_id queue;
    uint32_t user;
    bool is_user;
    int64_t shares, level_shares, used, parent_used;
    uint32_t rank;
};

struct oracle {
    struct entry nodes[QUEUES_MAX * (USERS_MAX + 1)];
    uint32_t count, user_count;
    uint32_t rank, tied_rank;
};

static bool goes_below(const struct fixture *f, const struct entry *node, queue_id queue)
{
    return node->is_user ? node->queue == queue : f->table->queues[node->queue].parent == queue;
}

/* Shares over siblings' shares, over usage over the parent's, as a fraction; 0/1 and 1/0 for the ends. */
static void level_factor(const struct entry *node, __int128 *over, __int128 *under)
{
    *over = node->shares == 0 ? 0 : node->used == 0 ? 1 : node->shares * node->parent_used;
    *under = node->shares == 0 ? 1 : (__int128)node->level_shares * node->used;
}

static int compare_nodes(const struct entry *a, const struct entry *b)
{
    __int128 over_a, under_a, over_b, under_b;
    level_factor(a, &over_a, &under_a);
    level_factor(b, &over_b, &under_b);
    if (under_a == 0 || under_b == 0)
        return (under_a != 0) - (under_b != 0);
    __int128 left = over_a * under_b, right = over_b * under_a;
    return left > right ? -1 : left < right;
}

static void rank_nodes(const struct fixture *f, struct oracle *oracle, struct entry **nodes, uint32_t count,
                       bool is_tied)
{
    for (uint32_t i = 1; i < count; i++) /* insertion: larger factor first, users before queues */
        for (uint32_t j = i; j > 0; j--) {
            int order = compare_nodes(nodes[j - 1], nodes[j]);
            if (order < 0 || (order == 0 && nodes[j - 1]->is_user >= nodes[j]->is_user))
                break;
            struct entry *other = nodes[j];
            nodes[j] = nodes[j - 1];
            nodes[j - 1] = other;
        }
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            is_tied = compare_nodes(nodes[i - 1], nodes[i]) == 0;
        if (nodes[i]->is_user) {
            if (!is_tied)
                oracle->tied_rank = oracle->rank;
            nodes[i]->rank = oracle->tied_rank;
            oracle->rank--;
            continue;
        }
        struct entry *members[QUEUES_MAX * (USERS_MAX + 1)];
        uint32_t member_count = 0, first = i;
        for (; i < count && compare_nodes(nodes[first], nodes[i]) == 0; i++)
            for (uint32_t n = 0; n < oracle->count; n++)
                if (goes_below(f, &oracle->nodes[n], nodes[i]->queue))
                    members[member_count++] = &oracle->nodes[n];
        i--;
        rank_nodes(f, oracle, members, member_count, is_tied);
    }
}

/* Usage from 0 to 3 units so that ties are everywhere; where units are large, some miss one by a GPU-second. */
static void random_oracle(struct random_stream *stream, struct fixture *f, struct oracle *oracle)
{
    static const int64_t units[] = {1, 1009, INT64_C(1) << 33};
    int64_t unit = units[random_below(stream, 3)];
    for (queue_id q = 0; q < f->table->count; q++) {
        oracle->nodes[oracle->count++] =
            (struct entry){.queue = q, .shares = f->table->queues[q].weight_milli[RESOURCE_GPU] / 1000};
        uint32_t users = random_below(stream, USERS_MAX + 1);
        for (uint32_t u = 0; u < users; u++) {
            int64_t used = random_below(stream, 4) * unit + (random_below(stream, 8) == 0);
            oracle->nodes[oracle->count++] =
                (struct entry){.queue = q, .user = u, .is_user = true, .shares = 1, .used = used};
        }
        oracle->user_count += users;
        f->table->queues[q].users = users;
    }
}

static void sum_oracle(const struct fixture *f, struct oracle *oracle)
{
    struct entry *queues[QUEUES_MAX];
    for (uint32_t n = 0; n < oracle->count; n++)
        if (!oracle->nodes[n].is_user)
            queues[oracle->nodes[n].queue] = &oracle->nodes[n];
    for (uint32_t n = 0; n < oracle->count; n++)
        for (queue_id q = oracle->nodes[n].queue; oracle->nodes[n].is_user && q != QUEUE_NONE;
             q = f->table->queues[q].parent)
            queues[q]->used += oracle->nodes[n].used;
    for (queue_id q = 0; q < f->table->count; q++) {
        int64_t level_shares = 0;
        for (uint32_t n = 0; n < oracle->count; n++)
            level_shares += goes_below(f, &oracle->nodes[n], q) ? oracle->nodes[n].shares : 0;
        for (uint32_t n = 0; n < oracle->count; n++)
            if (goes_below(f, &oracle->nodes[n], q)) {
                oracle->nodes[n].parent_used = queues[q]->used;
                oracle->nodes[n].level_shares = level_shares;
            }
    }
}

/* Charge the users in an order by chance, each in two parts.  Returns how many of them without usage stay absent. */
static uint32_t charge_oracle(struct random_stream *stream, struct fixture *f, struct oracle *oracle)
{
    uint32_t start = random_below(stream, oracle->count);
    bool is_backwards = random_below(stream, 2), some_are_absent = random_below(stream, 2);
    uint32_t absent = 0;
    for (uint32_t i = 0; i < oracle->count; i++) {
        uint32_t n = is_backwards ? oracle->count - 1 - i : i;
        const struct entry *node = &oracle->nodes[(start + n) % oracle->count];
        int64_t part = node->used / (1 + random_below(stream, 5));
        if (!node->is_user)
            continue;
        if (node->used == 0 && some_are_absent && random_below(stream, 4) > 0) {
            absent++;
            continue;
        }
        use(f, node->queue, node->user, part);
        use(f, node->queue, node->user, node->used - part);
    }
    return absent;
}

/* So that products of shares and usage leave 128 bits. */
static void enlarge_weights(struct fixture *f)
{
    for (queue_id q = 0; q < f->table->count; q++)
        f->table->queues[q].weight_milli[RESOURCE_GPU] *= 1 << 18;
}

TEST(the_fair_tree_is_what_recursion_finds)
{
    struct random_stream stream;
    uint32_t tied_count = 0, absent_count = 0;
    random_stream_init(&stream, 1, "test_accounts_tree", 0);
    for (int i = 0; i < 5000; i++) {
        struct fixture *f = fixture_new();
        struct oracle oracle = {0};
        random_tree(&stream, f);
        if (random_below(&stream, 2))
            enlarge_weights(f);
        random_oracle(&stream, f, &oracle);
        sum_oracle(f, &oracle);
        const uint32_t absent = charge_oracle(&stream, f, &oracle);
        accounts_refresh(&f->accounts, S);
        absent_count += absent;
        struct entry *root = &oracle.nodes[0];
        oracle.rank = oracle.tied_rank = oracle.user_count;
        rank_nodes(f, &oracle, &root, 1, false);
        assert_int_equal(f->accounts.user_count + absent, oracle.user_count);
        for (uint32_t n = 0; n < oracle.count; n++) {
            const struct entry *node = &oracle.nodes[n];
            if (!node->is_user)
                continue;
            uint64_t ppm = UINT64_C(1000000) * node->rank / oracle.user_count;
            assert_int_equal(factor(f, node->queue, node->user), ppm);
            tied_count += n > 0 && node[-1].is_user && node[-1].rank == node->rank;
        }
        fixture_free(f);
    }
    assert_true(tied_count > 1000 && absent_count > 1000);
}

/* ---- the classic factor ---- */

/* A used 30 of 40 and is due a half: 2^-(0.75/0.5).  Its user without usage is charged half of what A is. */
TEST(classic_by_hand)
{
    struct fixture *f = fixture_new();
    queue_id a = add_queue(f, QUEUE_ROOT, 1), b = add_queue(f, QUEUE_ROOT, 1);
    queue_id none = add_queue(f, QUEUE_ROOT, 0);
    f->config.fair_share = FAIR_SHARE_CLASSIC;
    accounts_refresh(&f->accounts, 0);
    assert_int_equal(factor(f, a, 1), 1000000);
    use(f, a, 1, 30);
    use(f, a, 2, 0);
    use(f, b, 1, 10);
    use(f, none, 1, 0);
    accounts_refresh(&f->accounts, S);
    assert_int_equal(factor(f, a, 1), 125000); /* 2^-(0.75 / 0.25) */
    assert_int_equal(factor(f, a, 2), 353553); /* 2^-(0.375 / 0.25) */
    assert_int_equal(factor(f, a, 7), 353553); /* who comes new is as a queue's part of it: 2^-(0.75 / 0.5) */
    assert_int_equal(factor(f, b, 1), 707107); /* 2^-(0.25 / 0.5) */
    assert_int_equal(factor(f, none, 1), 0);
    assert_int_equal(factor(f, QUEUE_ROOT, 1), 1000000);
    fixture_free(f);
}
