/* Deals members to domains; see policies/placement/domain_shares.h. */
#include "policies/placement/domain_shares.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int compare_ids(const struct domain_share *a, const struct domain_share *b)
{
    return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_roomiest(const void *a, const void *b)
{
    const struct domain_share *x = a, *y = b;
    return x->room != y->room ? (x->room > y->room ? -1 : 1) : compare_ids(x, y);
}

static int compare_fullest(const void *a, const void *b)
{
    const struct domain_share *x = a, *y = b;
    return x->room != y->room ? (x->room < y->room ? -1 : 1) : compare_ids(x, y);
}

/* How many domains are needed for `count` members; `shares` stand in the order of their room, the most first.  n also
 * if even all hold too few. */
static uint32_t fewest(const struct domain_share *shares, uint32_t n, uint32_t count)
{
    uint64_t room = 0;
    uint32_t taken = 0;
    while (taken < n && room < count)
        room += shares[taken++].room;
    return taken;
}

/* Fill the domains one after another in their present order. */
static uint32_t deal_in_order(struct domain_share *shares, uint32_t n, uint32_t count)
{
    uint32_t used = 0;
    for (; used < n && count > 0; used++) {
        shares[used].quota = lesser(shares[used].room, count);
        count -= shares[used].quota;
    }
    return used;
}

static uint32_t deal_fewest(struct domain_share *shares, uint32_t n, uint32_t count)
{
    qsort(shares, n, sizeof *shares, compare_roomiest);
    uint32_t used = 0;
    for (; used < n && count > 0; used++) {
        uint32_t best = used;
        for (uint32_t i = used + 1; i < n && shares[i].room >= count; i++)
            if (shares[i].room < shares[best].room)
                best = i; /* the rest fits here too */
        struct domain_share taken = shares[best];
        for (uint32_t i = best; i > used; i--)
            shares[i] = shares[i - 1];
        taken.quota = lesser(taken.room, count);
        shares[used] = taken;
        count -= taken.quota;
    }
    return used;
}

static uint32_t deal_balanced(struct domain_share *shares, uint32_t n, uint32_t count, uint32_t step)
{
    qsort(shares, n, sizeof *shares, compare_roomiest);
    const uint32_t used = fewest(shares, n, count);
    for (uint32_t left = used; left > 0; left--) { /* the fullest first: what it cannot take goes to the next */
        struct domain_share *share = &shares[left - 1];
        const uint32_t even = left == 1 ? count : count / left / step * step;
        share->quota = lesser(share->room, even);
        count -= share->quota;
    }
    return used;
}

/* The domains of `shares` whose numbers are in one aligned run of 2^order numbers. */
struct aggregate {
    uint32_t first, count; /* positions, in the order of the numbers */
    uint64_t room;
};

static struct aggregate aggregate_at(const struct domain_share *shares, uint32_t n, uint32_t first, uint32_t order)
{
    struct aggregate out = {.first = first};
    for (uint32_t i = first; i < n && shares[i].id >> order == shares[first].id >> order; i++) {
        out.room += shares[i].room;
        out.count++;
    }
    return out;
}

static int compare_numbers(const void *a, const void *b)
{
    return compare_ids(a, b);
}

/* How many domains of the aggregate `count` members need. */
static uint32_t needed_in(const struct domain_share *shares, const struct aggregate *aggregate, uint32_t count)
{
    struct domain_share *own = mem_alloc(aggregate->count * sizeof *own);
    for (uint32_t i = 0; i < aggregate->count; i++)
        own[i] = shares[aggregate->first + i];
    qsort(own, aggregate->count, sizeof *own, compare_roomiest);
    const uint32_t needed = fewest(own, aggregate->count, count);
    mem_free(own);
    return needed;
}

/* The best aggregate of that order; room 0: none holds `count` members. */
static struct aggregate best_aggregate(const struct domain_share *shares, uint32_t n, uint32_t order, uint32_t count)
{
    struct aggregate best = {0};
    uint32_t best_needed = 0;
    for (uint32_t first = 0, next; first < n; first = next) {
        const struct aggregate one = aggregate_at(shares, n, first, order);
        next = first + one.count;
        if (one.room < count)
            continue;
        const uint32_t needed = needed_in(shares, &one, count);
        if (best.room == 0 || needed < best_needed || (needed == best_needed && one.room < best.room)) {
            best = one;
            best_needed = needed;
        }
    }
    return best;
}

static uint32_t deal_block(struct domain_share *shares, uint32_t n, uint32_t count)
{
    enum { ORDERS = 32 };
    qsort(shares, n, sizeof *shares, compare_numbers);
    for (uint32_t order = 0; order < ORDERS && count > 0; order++) {
        const struct aggregate best = best_aggregate(shares, n, order, count);
        if (best.room == 0)
            continue;
        for (uint32_t i = 0; i < best.count; i++) { /* to the front */
            struct domain_share other = shares[i];
            shares[i] = shares[best.first + i];
            shares[best.first + i] = other;
        }
        return deal_fewest(shares, best.count, count);
    }
    return deal_fewest(shares, n, count);
}

uint32_t domain_shares_deal(enum topology_domains how, struct domain_share *shares, uint32_t n, uint32_t count,
                            uint32_t step)
{
    assert(domain_shares_are_dealt(how) && step > 0);
    for (uint32_t i = 0; i < n; i++)
        shares[i].quota = 0;
    if (n == 0)
        return 0;
    switch (how) {
    case DOMAINS_BALANCED:
        return deal_balanced(shares, n, count, step);
    case DOMAINS_FEWEST:
        return deal_fewest(shares, n, count);
    case DOMAINS_BLOCK:
        return deal_block(shares, n, count);
    default:
        qsort(shares, n, sizeof *shares, compare_fullest);
        return deal_in_order(shares, n, count);
    }
}
