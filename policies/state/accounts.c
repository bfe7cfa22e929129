#include "policies/state/accounts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/names.h"
#include "policies/state/sched_state.h"

enum { PPM = 1000000, USER_SHARES = 1000, SLOTS_MIN = 64 };
#define USED_MAX (UINT64_C(1) << 62)

/* ---- finding ---- */

/* The slot of the user in the hash table, or the empty slot where it belongs. */
static size_t slot_of(const struct accounts *accounts, queue_id queue, uint32_t user)
{
    size_t slot = hash_mix(hash_mix(0, queue), user) & (accounts->slot_count - 1);
    while (accounts->slots[slot] != 0) {
        const struct account *account = &accounts->users[accounts->slots[slot] - 1];
        if (account->queue == queue && account->user == user)
            break;
        slot = (slot + 1) & (accounts->slot_count - 1);
    }
    return slot;
}

static void rehash(struct accounts *accounts, size_t slot_count)
{
    mem_free(accounts->slots);
    accounts->slots = mem_zalloc(slot_count, sizeof *accounts->slots);
    accounts->slot_count = slot_count;
    for (uint32_t i = 0; i < accounts->user_count; i++)
        accounts->slots[slot_of(accounts, accounts->users[i].queue, accounts->users[i].user)] = i + 1;
}

const struct account *accounts_find(const struct accounts *accounts, queue_id queue, uint32_t user)
{
    uint32_t found = accounts->slots[slot_of(accounts, queue, user)];
    return found != 0 ? &accounts->users[found - 1] : NULL;
}

/* The account of a user, opened if there is none. */
static struct account *user_account(struct accounts *accounts, queue_id queue, uint32_t user, time_ns now)
{
    size_t slot = slot_of(accounts, queue, user);
    if (accounts->slots[slot] != 0)
        return &accounts->users[accounts->slots[slot] - 1];
    MEM_GROW(accounts->users, accounts->user_capacity, (size_t)accounts->user_count + 1);
    struct account *account = &accounts->users[accounts->user_count++];
    *account = (struct account){.queue = queue,
                                .user = user,
                                .is_user = true,
                                .since = now,
                                .fair_share_ppm = accounts->queues[queue].fair_share_ppm};
    accounts->slots[slot] = accounts->user_count;
    if (accounts->slot_count < 2 * (size_t)accounts->user_count)
        rehash(accounts, 2 * accounts->slot_count);
    return account;
}

/* ---- initialisation ---- */

void accounts_queues(struct accounts *accounts, const struct queue_table *table)
{
    accounts->table = table;
    MEM_GROW(accounts->queues, accounts->queue_capacity, table->count);
    for (queue_id q = accounts->queue_count; q < table->count; q++) {
        queue_id parent = table->queues[q].parent;
        uint32_t ppm = q == QUEUE_ROOT ? PPM : accounts->queues[parent].fair_share_ppm;
        accounts->queues[q] = (struct account){.queue = q, .user = NAMES_NONE, .fair_share_ppm = ppm};
    }
    accounts->queue_count = table->count;
}

void accounts_init(struct accounts *accounts, const struct order_config *config, const struct queue_table *table)
{
    *accounts = (struct accounts){.config = config};
    rehash(accounts, SLOTS_MIN);
    accounts_queues(accounts, table);
}

void accounts_release(struct accounts *accounts)
{
    mem_free(accounts->queues);
    mem_free(accounts->users);
    mem_free(accounts->slots);
    mem_free(accounts->siblings);
    *accounts = (struct accounts){0};
}

/* ---- usage ---- */

static double seconds(time_ns duration)
{
    return (double)duration / (double)TIME_NS_PER_S;
}

/* Of a unit of usage, exp(-rate * t) is left after t seconds; 0: no decay. */
static double decay_per_s(const struct order_config *config)
{
    const double slurm_ln2 = 0.693; /* ln 2 as Slurm's priority/multifactor rounds it */
    if (config->half_life == 0)
        return 0;
    double half_life_s = seconds(config->half_life);
    return config->decays_as_slurm ? -log1p(-slurm_ln2 / half_life_s) : log(2) / half_life_s;
}

/* Units billed per second. */
static double billed(const struct order_config *config, const int64_t holds[RESOURCE_COUNT])
{
    static const double per_unit[RESOURCE_COUNT] = {1000, 1000, 1024}; /* milli, milli, MiB of a GiB */
    bool is_plain = true;
    double sum = 0;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        sum += (double)config->billing_milli[r] / 1000 * (double)holds[r] / per_unit[r];
        is_plain &= config->billing_milli[r] == 0;
    }
    return is_plain ? (double)holds[RESOURCE_GPU] / per_unit[RESOURCE_GPU] : sum;
}

/* Bring the usage up to now: the earlier usage decays, and the current holdings add the integral of the decay. */
static void integrate(const struct order_config *config, struct account *user, time_ns now)
{
    assert(now >= user->since);
    double elapsed_s = seconds(now - user->since);
    double units = billed(config, user->holds);
    user->since = now;
    if (elapsed_s == 0 || (user->usage_unit_s == 0 && units == 0))
        return;
    double decay = decay_per_s(config);
    if (decay == 0) {
        user->usage_unit_s += units * elapsed_s;
        return;
    }
    double lost = -expm1(-decay * elapsed_s); /* lost part of the earlier usage */
    user->usage_unit_s += units * lost / decay - user->usage_unit_s * lost;
}

void accounts_open(struct accounts *accounts, queue_id queue, uint32_t user, time_ns now)
{
    assert(queue < accounts->queue_count);
    user_account(accounts, queue, user, now);
}

void accounts_charge(struct accounts *accounts, queue_id queue, uint32_t user, const int64_t amounts[QUEUE_SUM_COUNT],
                     int sign, time_ns now)
{
    assert(queue < accounts->queue_count);
    struct account *account = user_account(accounts, queue, user, now);
    integrate(accounts->config, account, now);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        account->holds[r] += sign * amounts[r];
        assert(account->holds[r] >= 0);
    }
}

/* In thousandths of a unit-second. */
static uint64_t rounded(const struct account *user)
{
    const double used = rint(user->usage_unit_s * 1000);
    return used < (double)USED_MAX ? (uint64_t)used : USED_MAX;
}

int64_t accounts_usage(const struct accounts *accounts, const struct account *user, time_ns now)
{
    struct account then = *user;
    integrate(accounts->config, &then, now);
    return (int64_t)rounded(&then);
}

static void accounts_tell(struct accounts *accounts, queue_id queue, uint32_t user, int64_t usage_milli, time_ns now)
{
    struct account *account = user_account(accounts, queue, user, now);
    integrate(accounts->config, account, now);
    account->usage_unit_s = (double)usage_milli / 1000;
}

uint32_t accounts_fair_share(const struct accounts *accounts, queue_id queue, uint32_t user)
{
    const struct account *account = accounts_find(accounts, queue, user);
    assert(queue < accounts->queue_count);
    return (account != NULL ? account : &accounts->queues[queue])->fair_share_ppm;
}

/* ---- the level factor ---- */

/* Compare a * b with c * d exactly: -1, 0 or 1. */
static int compare_products(unsigned __int128 a, unsigned __int128 b, unsigned __int128 c, unsigned __int128 d)
{
    unsigned __int128 high[2], low[2];
    const unsigned __int128 factors[2][2] = {{a, b}, {c, d}};
    for (int i = 0; i < 2; i++) {
        unsigned __int128 x0 = (uint64_t)factors[i][0], x1 = factors[i][0] >> 64;
        unsigned __int128 y0 = (uint64_t)factors[i][1], y1 = factors[i][1] >> 64;
        unsigned __int128 middle = x1 * y0 + (x0 * y0 >> 64); /* cannot overflow: (2^64-1)^2 + 2^64-1 */
        unsigned __int128 other = x0 * y1 + (uint64_t)middle;
        high[i] = x1 * y1 + (middle >> 64) + (other >> 64);
        low[i] = other << 64 | (uint64_t)(x0 * y0);
    }
    if (high[0] != high[1])
        return high[0] < high[1] ? -1 : 1;
    return low[0] < low[1] ? -1 : low[0] > low[1];
}

enum level { LEVEL_NOTHING, LEVEL_FINITE, LEVEL_ENDLESS };

static enum level level_of(const struct account *account)
{
    if (account->shares == 0)
        return LEVEL_NOTHING;
    return account->used == 0 ? LEVEL_ENDLESS : LEVEL_FINITE;
}

/* Below 0: a's level factor is larger.  The two need not be siblings. */
static int compare_level(const struct account *a, const struct account *b)
{
    enum level level_a = level_of(a), level_b = level_of(b);
    if (level_a != level_b)
        return level_a > level_b ? -1 : 1;
    if (level_a != LEVEL_FINITE)
        return 0;
    if (a->level_shares == b->level_shares && a->parent_used == b->parent_used) { /* as siblings */
        unsigned __int128 left = (unsigned __int128)a->shares * b->used;
        unsigned __int128 right = (unsigned __int128)b->shares * a->used;
        return left > right ? -1 : left < right;
    }
    return compare_products((unsigned __int128)b->shares * b->parent_used, (unsigned __int128)a->level_shares * a->used,
                            (unsigned __int128)a->shares * a->parent_used,
                            (unsigned __int128)b->level_shares * b->used);
}

static int compare_siblings(const void *left, const void *right)
{
    const struct account *a = *(const struct account *const *)left;
    const struct account *b = *(const struct account *const *)right;
    int order = compare_level(a, b);
    if (order == 0)
        order = b->is_user - a->is_user;
    if (order == 0)
        order = (a->queue > b->queue) - (a->queue < b->queue);
    return order != 0 ? order : (a->user > b->user) - (a->user < b->user);
}

/* ---- the fair tree ---- */

struct ranking {
    uint32_t user_count;
    uint32_t rank;        /* of the next user that is not tied */
    uint32_t shared_rank; /* of the previous user and of the users tied with it */
    struct account **spare;
};

static uint32_t ppm_of(const struct ranking *ranking, bool is_tied)
{
    uint32_t rank = is_tied ? ranking->shared_rank : ranking->rank;
    return ranking->user_count == 0 ? PPM : (uint32_t)((uint64_t)rank * PPM / ranking->user_count);
}

/* Rank all users below these siblings and so many absent ones among them.  is_tied: the first of them is tied with the
 * previous user. */
static void rank_siblings(struct ranking *ranking, struct account **siblings, size_t count, uint32_t absent,
                          bool is_tied)
{
    qsort(siblings, count, sizeof *siblings, compare_siblings);
    if (absent > 0 && !is_tied)
        ranking->shared_rank = ranking->rank;
    ranking->rank -= absent; /* their level factor is infinite, and users go before equal queues */
    for (size_t i = 0; i < count; i++) {
        struct account *account = siblings[i];
        if (i > 0)
            is_tied = compare_level(siblings[i - 1], account) == 0;
        else if (absent > 0)
            is_tied = level_of(account) == LEVEL_ENDLESS;
        account->fair_share_ppm = ppm_of(ranking, is_tied);
        if (account->is_user) {
            ranking->shared_rank = is_tied ? ranking->shared_rank : ranking->rank;
            ranking->rank--;
            continue;
        }
        /* Equal queues are ranked as one, so their members are gathered in the spare array.  It has space for each
         * account of the tree once. */
        struct account **members = ranking->spare;
        uint32_t absent_below = 0;
        for (;; i++) {
            absent_below += siblings[i]->absent;
            for (struct account *m = siblings[i]->first_child; m != NULL; m = m->next_sibling)
                *ranking->spare++ = m;
            siblings[i]->fair_share_ppm = account->fair_share_ppm;
            if (i + 1 == count || compare_level(account, siblings[i + 1]) != 0)
                break;
        }
        rank_siblings(ranking, members, (size_t)(ranking->spare - members), absent_below, is_tied);
    }
}

static void rank_tree(struct accounts *accounts)
{
    size_t count = (size_t)accounts->queue_count + accounts->user_count;
    uint32_t users = accounts->user_count;
    for (queue_id q = 0; q < accounts->queue_count; q++)
        users += accounts->queues[q].absent;
    MEM_GROW(accounts->siblings, accounts->sibling_capacity, count);
    struct ranking ranking = {
        .user_count = users, .rank = users, .shared_rank = users, .spare = accounts->siblings + 1};
    accounts->siblings[0] = &accounts->queues[QUEUE_ROOT];
    rank_siblings(&ranking, accounts->siblings, 1, 0, false);
}

/* ---- the classic factor ---- */

static uint32_t classic_ppm(double effective_usage, double normal_shares)
{
    if (normal_shares == 0)
        return 0;
    return (uint32_t)lround(exp2(-effective_usage / normal_shares) * PPM);
}

static void classic_account(const struct account *parent, struct account *account, uint64_t all)
{
    double part = account->level_shares != 0 ? (double)account->shares / (double)account->level_shares : 0;
    double usage = all != 0 ? (double)account->used / (double)all : 0;
    bool is_top = parent->queue == QUEUE_ROOT;
    account->normal_shares = parent->normal_shares * part;
    account->effective_usage = is_top ? usage : usage + (parent->effective_usage - usage) * part;
}

static void classic_factors(struct accounts *accounts)
{
    struct account *root = &accounts->queues[QUEUE_ROOT];
    root->normal_shares = 1;
    for (queue_id q = 1; q < accounts->queue_count; q++) { /* a parent's id is smaller */
        struct account *queue = &accounts->queues[q];
        classic_account(&accounts->queues[accounts->table->queues[q].parent], queue, root->used);
        queue->fair_share_ppm = classic_ppm(queue->effective_usage, queue->normal_shares);
    }
    for (uint32_t i = 0; i < accounts->user_count; i++) {
        struct account *user = &accounts->users[i];
        classic_account(&accounts->queues[user->queue], user, root->used);
        user->fair_share_ppm = classic_ppm(user->effective_usage, user->normal_shares);
    }
}

/* ---- the refresh ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void hang(struct account *parent, struct account *child)
{
    parent->used = smaller(parent->used + child->used, USED_MAX);
    child->next_sibling = parent->first_child;
    parent->first_child = child;
}

/* Build the tree anew: first users below their queues, then queues below their parents, from the last to the first.  So
 * a queue has the usage of its whole subtree before it is added to its own parent. */
static void build_tree(struct accounts *accounts, time_ns now)
{
    const struct queue_spec *specs = accounts->table->queues;
    for (queue_id q = 0; q < accounts->queue_count; q++) {
        accounts->queues[q].shares = (uint64_t)specs[q].weight_milli[RESOURCE_GPU];
        accounts->queues[q].used = 0;
        accounts->queues[q].first_child = NULL;
        accounts->queues[q].absent = specs[q].users;
    }
    for (uint32_t i = 0; i < accounts->user_count; i++) {
        struct account *user = &accounts->users[i];
        integrate(accounts->config, user, now);
        user->used = rounded(user);
        user->shares = USER_SHARES;
        accounts->queues[user->queue].absent -= accounts->queues[user->queue].absent > 0;
        hang(&accounts->queues[user->queue], user);
    }
    for (queue_id q = accounts->queue_count; q-- > 1;)
        hang(&accounts->queues[specs[q].parent], &accounts->queues[q]);
}

/* Give all children of a queue its usage and the sum of their shares. */
static void settle_level(struct account *parent)
{
    uint64_t level_shares = (uint64_t)parent->absent * USER_SHARES;
    for (const struct account *c = parent->first_child; c != NULL; c = c->next_sibling)
        level_shares += c->shares;
    for (struct account *c = parent->first_child; c != NULL; c = c->next_sibling) {
        c->level_shares = level_shares;
        c->parent_used = parent->used;
    }
}

void accounts_refresh(struct accounts *accounts, time_ns now)
{
    build_tree(accounts, now);
    for (queue_id q = 0; q < accounts->queue_count; q++)
        settle_level(&accounts->queues[q]);
    if (accounts->config->fair_share == FAIR_SHARE_CLASSIC)
        classic_factors(accounts);
    else
        rank_tree(accounts);
}

/* ---- Events ---- */

static void *on_init(struct sched *sched)
{
    if (!sched->ranks.need_accounts)
        return NULL;
    accounts_init(&sched->accounts, &sched->policy.order_config, sched->tree.table);
    return &sched->accounts;
}

static void on_release(struct sched *sched, void *own)
{
    (void)sched;
    accounts_release(own);
}

static void on_queues(struct sched *sched, void *own, const struct queue_table *table, queue_id first)
{
    (void)sched, (void)first;
    accounts_queues(own, table);
}

static void on_enrolled(struct sched *sched, void *own, uint32_t slot, const struct job *job)
{
    (void)slot;
    accounts_open(own, job->queue, job->user, sched->now);
}

static void on_charged(struct sched *sched, void *own, uint32_t slot, const int64_t amounts[])
{
    accounts_charge(own, sched->jobs.jobs[slot].queue, sched->jobs.facts[slot].user, amounts, 1, sched->now);
}

static void on_usage(struct sched *sched, void *own, queue_id queue, uint32_t user, int64_t usage_milli)
{
    accounts_tell(own, queue, user, usage_milli, sched->now);
}

const struct observer accounts_observer = {.init = on_init,
                                           .release = on_release,
                                           .queues_changed = on_queues,
                                           .usage_told = on_usage,
                                           .enrolled = on_enrolled,
                                           .charged = on_charged};
