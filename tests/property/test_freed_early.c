/* policies/reservation/freed_early.h -- what is kept in mind changes no answer: against a look at every node for
 * everybody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/random.h"
#include "policies/reservation/freed_early.h"
#include "tests/support/interval.h"
#include "topologies/cluster_build.h"

enum { NODES = 4, GPUS = 4, LOTS = 60, TIMES = 200, ASKS = 3 };

struct lot {
    struct space space;
    time_ns from, until; /* the same: none */
};

struct fixture {
    struct cluster *cluster;
    struct ledger *ledger;
    struct profile profile;
    struct freed_early freed_early;
    struct lot lots[LOTS];
    struct random_stream random;
    uint32_t found, refused;
};

static void give(struct fixture *f, struct lot *lot)
{
    profile_give(&f->profile, &lot->space, lot->from, lot->until);
}

static void take(struct fixture *f, const struct lot *lot)
{
    profile_take(&f->profile, &lot->space, lot->from, lot->until);
}

/* Somebody more is planned, where there is room, or goes, and that is noted. */
static void change_lot(struct fixture *f, struct lot *lot)
{
    if (lot->from < lot->until) {
        give(f, lot);
        freed_early_note(&f->freed_early, NODES, lot->space.node);
        lot->until = lot->from;
        return;
    }
    const struct request request = {.gpus = (uint16_t)(1 + random_below(&f->random, ASKS))};
    const time_ns length = 1 + random_below(&f->random, 40);
    struct piece_list pieces = {0};
    const struct profile_ask ask = {
        .request = &request, .count = 1, .from = random_below(&f->random, 50), .latest = TIMES, .length = length};
    const time_ns at = profile_find(&f->profile, &ask, &pieces);
    if (at != TIME_NEVER) {
        *lot =
            (struct lot){{.node = pieces.pieces[0].node, .gpu_mask = pieces.pieces[0].gpu_mask, .gpu_milli = GPU_MILLI},
                         at,
                         at + length};
        take(f, lot);
    }
    mem_free(pieces.pieces);
}

static bool naive_has_room(const struct fixture *f, const struct request *request, time_ns length, time_ns bound)
{
    bool has = false;
    for (uint32_t i = 0; i < f->freed_early.nodes.count; i++)
        has |= profile_find_room(&f->profile, request, f->freed_early.nodes.nodes[i], 0, length, bound) != TIME_NEVER;
    return has;
}

/* For one who is planned: his own place is free for him, and for nobody after him. */
static void check(struct fixture *f)
{
    const struct lot *own = &f->lots[random_below(&f->random, LOTS)];
    const uint32_t ask = random_below(&f->random, ASKS);
    const struct request request = {.gpus = (uint16_t)(1 + ask)};
    const time_ns length = 1 + random_below(&f->random, 40), bound = random_below(&f->random, TIMES);
    const bool is_near = own->from < own->until && f->freed_early.nodes.is_marked != NULL &&
                         f->freed_early.nodes.is_marked[own->space.node];
    if (is_near)
        profile_give(&f->profile, &own->space, own->from, own->until);
    const bool expected = naive_has_room(f, &request, length, bound);
    assert_int_equal(freed_early_has_room(&f->freed_early, &f->profile, &request, ask,
                                          is_near ? own->space.node : NODE_NONE, 0, length, bound),
                     expected);
    if (is_near)
        take(f, own);
    f->found += expected;
    f->refused += !expected && f->freed_early.nodes.count > 0;
}

static void remembers_right(void **state)
{
    (void)state;
    const uint64_t seeds = test_is_full() ? 300 : 20;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct fixture f = {.cluster = cluster_uniform_new(NODES, GPUS)};
        f.ledger = ledger_new(f.cluster);
        random_stream_init(&f.random, seed, "easing", 0);
        for (node_id n = 0; n < NODES; n++)
            profile_begin(&f.profile, f.ledger, n, 0);
        for (uint32_t i = 0; i < LOTS; i++)
            change_lot(&f, &f.lots[i]);
        for (uint32_t i = 0; i < 600; i++) {
            for (uint32_t c = 0; c < 20; c++)
                check(&f);
            change_lot(&f, &f.lots[random_below(&f.random, LOTS)]);
            if (random_below(&f.random, 20) == 0)
                freed_early_forget(&f.freed_early);
        }
        assert_true(f.found > 500 && f.refused > 500); /* or nothing was tried */
        freed_early_release(&f.freed_early);
        profile_release(&f.profile);
        ledger_free(f.ledger);
        cluster_free(f.cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(remembers_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
