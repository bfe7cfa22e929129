/* cohort: usage in closed form against usage kept by adding and removing along the path, on random trees; what forbids
 * goes on forbidding; and two queues do not evict each other in turn. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/quota/cohort_tree.h"
#include "policies/quota/quota_config.h"
#include "tests/support/quota_case.h"

enum { QUEUES = 24, INNER = 8, TREES = 60, STEPS = 200 };
#define GPU RESOURCE_GPU

/* The oracle: Kueue's books, kept along the path. */
struct books {
    const struct queue_table *table;
    int64_t subtree[QUEUES], usage[QUEUES];
};

static int64_t at_least_0(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

static int64_t local_quota(const struct books *books, queue_id q)
{
    int64_t lending = books->table->queues[q].lending_limit[GPU];
    return lending == QUOTA_UNLIMITED ? 0 : at_least_0(books->subtree[q] - lending);
}

static int64_t local_available(const struct books *books, queue_id q)
{
    return at_least_0(local_quota(books, q) - books->usage[q]);
}

static queue_id parent_of(const struct books *books, queue_id q)
{
    return books->table->queues[q].parent;
}

static void open_books(struct books *books, const struct queue_table *table)
{
    *books = (struct books){.table = table};
    for (queue_id q = table->count - 1; q > QUEUE_ROOT; q--) {
        books->subtree[q] += table->queues[q].deserved[GPU];
        if (parent_of(books, q) != QUEUE_ROOT)
            books->subtree[parent_of(books, q)] += books->subtree[q] - local_quota(books, q);
    }
}

static void add_usage(struct books *books, queue_id q, int64_t amount)
{
    int64_t local = local_available(books, q);
    books->usage[q] += amount;
    if (parent_of(books, q) != QUEUE_ROOT && amount > local)
        add_usage(books, parent_of(books, q), amount - local);
}

static void remove_usage(struct books *books, queue_id q, int64_t amount)
{
    int64_t in_parent = books->usage[q] - local_quota(books, q);
    books->usage[q] -= amount;
    if (in_parent > 0 && parent_of(books, q) != QUEUE_ROOT)
        remove_usage(books, parent_of(books, q), amount < in_parent ? amount : in_parent);
}

static int64_t available(const struct books *books, queue_id q)
{
    if (parent_of(books, q) == QUEUE_ROOT)
        return books->subtree[q] - books->usage[q];
    int64_t parent = available(books, parent_of(books, q));
    int64_t borrowing = books->table->queues[q].borrowing_limit[GPU];
    if (borrowing != QUOTA_UNLIMITED) {
        int64_t stored = books->subtree[q] - local_quota(books, q);
        int64_t used = at_least_0(books->usage[q] - local_quota(books, q));
        parent = stored - used + borrowing < parent ? stored - used + borrowing : parent;
    }
    return local_available(books, q) + parent;
}

static int64_t potential_available(const struct books *books, queue_id q)
{
    if (parent_of(books, q) == QUEUE_ROOT)
        return books->subtree[q];
    int64_t borrowing = books->table->queues[q].borrowing_limit[GPU];
    int64_t most = local_quota(books, q) + potential_available(books, parent_of(books, q));
    if (borrowing != QUOTA_UNLIMITED && books->subtree[q] + borrowing < most)
        most = books->subtree[q] + borrowing;
    return most;
}

static int64_t maybe(struct random_stream *stream, uint32_t bound)
{
    return random_below(stream, 2) ? QUOTA_UNLIMITED : (int64_t)random_below(stream, bound) * 1000;
}

/* Inner queues first, so that the leaves are those from INNER on; some inner queues stay without children. */
static void random_tree(struct quota_case *c, struct random_stream *stream)
{
    quota_case_init(c, &quota_cohort, 16);
    for (uint32_t q = 1; q < QUEUES; q++) {
        char name[16];
        snprintf(name, sizeof name, "q%u", q);
        queue_id parent = random_below(stream, q < INNER ? q : INNER);
        quota_case_add(c, name, parent, random_below(stream, 8));
        struct queue_spec *spec = quota_case_spec(c, q);
        spec->lending_limit[GPU] = maybe(stream, 8);
        spec->borrowing_limit[GPU] = maybe(stream, 12);
        spec->weight_milli[GPU] = random_below(stream, 4) * 1000;
    }
    quota_case_ready(c);
}

static void check_books(struct quota_case *c, const struct books *books)
{
    for (queue_id q = 1; q < QUEUES; q++) {
        queue_id binds;
        assert_int_equal(cohort_state(&c->tree, q)->quota[GPU], books->subtree[q]);
        assert_int_equal(cohort_state(&c->tree, q)->potential_available[GPU], potential_available(books, q));
        assert_int_equal(cohort_usage(&c->tree, q, GPU, COHORT_AS_IS), books->usage[q]);
        assert_int_equal(cohort_available(&c->tree, q, GPU, &binds), available(books, q));
        assert_int_equal(cohort_is_borrowing(&c->tree, q, GPU, COHORT_AS_IS), books->usage[q] > books->subtree[q]);
    }
}

TEST(closed_form_equals_books_kept_along_the_path)
{
    for (uint64_t seed = 0; seed < TREES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        struct books books;
        int64_t held[QUEUES] = {0};
        random_stream_init(&stream, seed, "cohort books", 0);
        random_tree(&c, &stream);
        open_books(&books, c.table);
        for (int step = 0; step < STEPS; step++) {
            queue_id q = INNER + random_below(&stream, QUEUES - INNER);
            int64_t amount = 1 + (int64_t)random_below(&stream, 4000);
            if (random_below(&stream, 2) && amount <= held[q]) {
                quota_case_uncharge(&c, q, (const int64_t[QUEUE_SUM_COUNT]){amount});
                remove_usage(&books, q, amount);
                held[q] -= amount;
            } else { /* beyond what is available, too: quotas may be cut while jobs run */
                quota_case_charge(&c, q, (const int64_t[QUEUE_SUM_COUNT]){amount});
                add_usage(&books, q, amount);
                held[q] += amount;
            }
            check_books(&c, &books);
        }
        quota_case_release(&c);
    }
}

/* As if a change had been made is what it would be. */
TEST(a_change_supposed_equals_a_change_made)
{
    for (uint64_t seed = 0; seed < TREES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        random_stream_init(&stream, seed, "cohort changes", 0);
        random_tree(&c, &stream);
        for (int step = 0; step < STEPS; step++) {
            queue_id q = INNER + random_below(&stream, QUEUES - INNER);
            const int64_t amounts[QUEUE_SUM_COUNT] = {1 + (int64_t)random_below(&stream, 4000)};
            int64_t supposed[QUEUES];
            for (queue_id i = 1; i < QUEUES; i++)
                supposed[i] = cohort_usage(&c.tree, i, GPU, (struct cohort_change){q, amounts, 1});
            quota_case_charge(&c, q, amounts);
            for (queue_id i = 1; i < QUEUES; i++)
                assert_int_equal(cohort_usage(&c.tree, i, GPU, COHORT_AS_IS), supposed[i]);
        }
        quota_case_release(&c);
    }
}

static bool is_below(const struct quota_case *c, queue_id q, queue_id top)
{
    while (q != QUEUE_ROOT && q != top)
        q = c->tree.queues[q].parent;
    return q == top;
}

/* The promise that closes class queues: nothing that happens to other queues lets the job in, and what it says now it
 * says of exactly what is available. */
TEST(what_forbids_goes_on_forbidding)
{
    uint32_t forbidden = 0;
    for (uint64_t seed = 0; seed < TREES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        int64_t held[QUEUES] = {0};
        random_stream_init(&stream, seed, "cohort forbids", 0);
        random_tree(&c, &stream);
        queue_id asker = INNER + random_below(&stream, QUEUES - INNER), binds = QUEUE_NONE;
        int64_t ask[QUEUE_SUM_COUNT] = {0};
        for (int step = 0; step < STEPS; step++) {
            queue_id q = INNER + random_below(&stream, QUEUES - INNER), ignored;
            int64_t amount = 1 + (int64_t)random_below(&stream, 4000);
            if (binds == QUEUE_NONE) {
                asker = INNER + random_below(&stream, QUEUES - INNER);
                ask[GPU] = 1 + (int64_t)random_below(&stream, 6000);
                binds = quota_cohort.forbids(&c.tree, asker, ask);
                assert_int_equal(binds == QUEUE_NONE, ask[GPU] <= cohort_available(&c.tree, asker, GPU, &ignored));
                continue;
            }
            forbidden++;
            if (random_below(&stream, 2) && amount <= held[q]) {
                quota_case_uncharge(&c, q, (const int64_t[QUEUE_SUM_COUNT]){amount});
                held[q] -= amount;
                if (is_below(&c, q, binds)) {
                    binds = QUEUE_NONE;
                    continue;
                }
            } else {
                quota_case_charge(&c, q, (const int64_t[QUEUE_SUM_COUNT]){amount});
                held[q] += amount;
            }
            assert_int_not_equal(quota_cohort.forbids(&c.tree, asker, ask), QUEUE_NONE);
        }
        quota_case_release(&c);
    }
    assert_true(forbidden > 1000);
}

/* ---- Two queues of one cohort, each with jobs that run or wait, and evictions as the engine makes them ---- */

enum { JOBS = 8, ROUNDS = 400 };

struct duel {
    struct quota_case c;
    queue_id queue[2];
    int64_t jobs[2][JOBS][QUEUE_SUM_COUNT];
    bool runs[2][JOBS];
    uint32_t evictions;
};

static void set_running(struct duel *duel, int side, int job, bool runs)
{
    if (runs)
        quota_case_charge(&duel->c, duel->queue[side], duel->jobs[side][job]);
    else
        quota_case_uncharge(&duel->c, duel->queue[side], duel->jobs[side][job]);
    duel->runs[side][job] = runs;
}

static bool fits(struct duel *duel, int side, int job)
{
    return quota_cohort.forbids(&duel->c.tree, duel->queue[side], duel->jobs[side][job]) == QUEUE_NONE;
}

/* The preemptor with its job goes before each victim with its own: what the engine asks of the after-state.  Only
 * initial_share needs it: a queue of which several jobs were taken may want the smallest back. */
static bool is_stable(struct duel *duel, int side, int job, const bool *is_victim)
{
    if (duel->c.config.strategies[0] != STRATEGY_INITIAL_SHARE &&
        duel->c.config.strategies[1] != STRATEGY_INITIAL_SHARE)
        return true;
    for (int v = 0; v < JOBS; v++)
        if (is_victim[v] && quota_case_compare(&duel->c, duel->queue[side], duel->jobs[side][job], duel->queue[!side],
                                               duel->jobs[!side][v]) > 0)
            return false;
    return true;
}

/* Take from the other side until the job fits, give back what was not needed, look again. */
static bool evict_for(struct duel *duel, int side, int job)
{
    bool is_victim[JOBS] = {false};
    const int64_t *ask = duel->jobs[side][job];
    if (!quota_cohort.may_reclaim(&duel->c.tree, duel->queue[side], ask))
        return false;
    for (int v = 0; v < JOBS && !fits(duel, side, job); v++)
        if (duel->runs[!side][v] &&
            quota_case_may_take(&duel->c, duel->queue[side], ask, duel->queue[!side], duel->jobs[!side][v])) {
            is_victim[v] = true;
            set_running(duel, !side, v, false);
        }
    bool is_good = fits(duel, side, job);
    for (int v = 0; v < JOBS; v++) {
        if (!is_victim[v])
            continue;
        set_running(duel, !side, v, true);
        if (is_good && fits(duel, side, job))
            is_victim[v] = false;
        else
            set_running(duel, !side, v, false);
    }
    is_good = is_good && is_stable(duel, side, job, is_victim);
    if (is_good) {
        set_running(duel, side, job, true);
        is_good = quota_case_is_valid(&duel->c, duel->queue[side], ask, duel->queue[!side]);
        if (!is_good)
            set_running(duel, side, job, false);
    }
    for (int v = 0; v < JOBS; v++)
        if (is_victim[v] && !is_good)
            set_running(duel, !side, v, true);
        else
            duel->evictions += is_victim[v];
    return is_good;
}

/* The side that goes first by the order starts what fits, then each side tries to evict.  False when nothing moved. */
static bool play_round(struct duel *duel)
{
    bool has_moved = false;
    for (bool again = true; again;) {
        int best_side = -1, best = 0;
        again = false;
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < JOBS; j++)
                if (!duel->runs[side][j] && fits(duel, side, j) &&
                    (best_side < 0 || (side != best_side &&
                                       quota_case_compare(&duel->c, duel->queue[side], duel->jobs[side][j],
                                                          duel->queue[best_side], duel->jobs[best_side][best]) < 0))) {
                    best_side = side;
                    best = j;
                }
        if (best_side >= 0) {
            set_running(duel, best_side, best, true);
            has_moved = again = true;
        }
    }
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < JOBS; j++)
            if (!duel->runs[side][j] && evict_for(duel, side, j))
                return true;
    return has_moved;
}

static void setup_duel(struct duel *duel, struct random_stream *stream, bool fair)
{
    *duel = (struct duel){0};
    quota_case_init(&duel->c, &quota_cohort, 16);
    queue_id cohort = quota_case_add(&duel->c, "cohort", QUEUE_ROOT, random_below(stream, 9));
    for (int side = 0; side < 2; side++) {
        duel->queue[side] = quota_case_add(&duel->c, side == 0 ? "a" : "b", cohort, random_below(stream, 9));
        struct queue_spec *spec = quota_case_spec(&duel->c, duel->queue[side]);
        spec->weight_milli[GPU] = random_below(stream, 8) * 500;
        for (int j = 0; j < JOBS; j++)
            duel->jobs[side][j][GPU] = (1 + (int64_t)random_below(stream, 8)) * 1000;
    }
    duel->c.config.fair_sharing = fair;
    duel->c.config.reclaim_within_cohort = RECLAIM_ANY;
    duel->c.config.strategies[0] = (uint8_t)(1 + random_below(stream, 2));
    duel->c.config.strategies[1] = (uint8_t)random_below(stream, 3);
    quota_case_ready(&duel->c);
}

/* Kueue proves it for pairs in site/content/en/docs/concepts/fair_sharing.md: it comes to rest. */
TEST(two_queues_do_not_evict_each_other_in_turn)
{
    uint32_t evictions = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct random_stream stream;
        struct duel duel;
        random_stream_init(&stream, seed, "cohort duel", 0);
        setup_duel(&duel, &stream, seed % 2 == 0);
        int first = (int)random_below(&stream, 2); /* one side comes early and takes all it can */
        for (int j = 0; j < JOBS; j++)
            if (fits(&duel, first, j))
                set_running(&duel, first, j, true);
        int round = 0;
        while (round < ROUNDS && play_round(&duel))
            round++;
        if (round == ROUNDS)
            print_error("seed %d does not come to rest\n", (int)seed);
        assert_true(round < ROUNDS);
        evictions += duel.evictions;
        quota_case_release(&duel.c);
    }
    assert_true(evictions > 500);
}
