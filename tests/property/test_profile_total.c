/* policies/reservation/profile.h and free_total.h -- the profile, and the total of its nodes, against a table of what
 * is free at every moment. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/reservation/profile.h"
#include "tests/support/interval.h"
#include "topologies/cluster_build.h"

/* Whatever is asked of a node's CPUs and memory is a multiple of a quarter. */
enum { NODES = 3, GPUS = 3, MOMENTS = 40, LOTS = 24, CPU = CLUSTER_AMPLE_CPU_MILLI / 4 };
enum { MEMORY = CLUSTER_AMPLE_MEMORY_MIB / 4 };

struct lot {
    struct space space;
    time_ns from, until; /* the same: none; TIME_NEVER: for ever */
};

struct fixture {
    struct cluster *cluster;
    struct ledger *ledger;
    struct profile profile;
    struct lot lots[LOTS];
    struct random_stream random;
};

/* The room of a node from one moment until another. */
static uint32_t naive_room(const struct fixture *f, node_id node, const struct request *request, time_ns from,
                           time_ns until)
{
    uint32_t mask = (1u << GPUS) - 1;
    uint32_t cpu = CLUSTER_AMPLE_CPU_MILLI, memory = CLUSTER_AMPLE_MEMORY_MIB;
    for (time_ns t = from; t < until && t <= MOMENTS; t++) {
        uint32_t cpu_free = CLUSTER_AMPLE_CPU_MILLI, memory_free = CLUSTER_AMPLE_MEMORY_MIB;
        for (uint32_t i = 0; i < LOTS; i++) {
            const struct lot *lot = &f->lots[i];
            if (lot->space.node != node || t < lot->from || t >= lot->until)
                continue;
            mask &= ~(uint32_t)lot->space.gpu_mask;
            cpu_free -= lot->space.cpu_milli;
            memory_free -= lot->space.memory_mib;
        }
        cpu = cpu_free < cpu ? cpu_free : cpu;
        memory = memory_free < memory ? memory_free : memory;
    }
    uint32_t room = (uint32_t)__builtin_popcount(mask) / (request->gpus > 0 ? request->gpus : 1);
    room = request->gpus == 0 ? UINT32_MAX : room;
    room = request->cpu_milli > 0 && cpu / request->cpu_milli < room ? cpu / request->cpu_milli : room;
    return request->memory_mib > 0 && memory / request->memory_mib < room ? memory / request->memory_mib : room;
}

static time_ns naive_find(const struct fixture *f, const struct request *request, uint32_t count, time_ns from,
                          time_ns length, time_ns latest)
{
    for (time_ns at = from; at <= MOMENTS && at <= latest; at++) {
        uint64_t room = 0;
        for (node_id n = 0; n < NODES; n++)
            room += naive_room(f, n, request, at, time_after(at, length));
        if (room >= count)
            return at;
    }
    return TIME_NEVER;
}

static struct request random_request(struct fixture *f)
{
    struct request request = {.gpus = (uint16_t)random_below(&f->random, GPUS + 1),
                              .cpu_milli = CPU * random_below(&f->random, 3),
                              .memory_mib = MEMORY * random_below(&f->random, 3)};
    if (request.gpus == 0 && request.cpu_milli == 0)
        request.gpus = 1;
    return request;
}

/* Put in somebody who fits, or take him out. */
static void change_lot(struct fixture *f, struct lot *lot)
{
    if (lot->from < lot->until) {
        profile_give(&f->profile, &lot->space, lot->from, lot->until);
        lot->until = lot->from;
        return;
    }
    struct request request = random_request(f);
    struct piece_list pieces = {0};
    time_ns length = random_below(&f->random, 12) == 0 ? TIME_NEVER : 1 + random_below(&f->random, 9);
    const struct profile_ask ask = {.request = &request,
                                    .count = 1,
                                    .from = random_below(&f->random, MOMENTS - 10),
                                    .latest = MOMENTS - 10,
                                    .length = length};
    time_ns from = profile_find(&f->profile, &ask, &pieces);
    if (from != TIME_NEVER)
        *lot = (struct lot){.space = {.node = pieces.pieces[0].node,
                                      .gpu_mask = pieces.pieces[0].gpu_mask,
                                      .gpu_milli = GPU_MILLI,
                                      .cpu_milli = request.cpu_milli,
                                      .memory_mib = request.memory_mib},
                            .from = from,
                            .until = time_after(from, length)};
    if (from != TIME_NEVER)
        profile_take(&f->profile, &lot->space, lot->from, lot->until);
    mem_free(pieces.pieces);
}

static void draw_anew(struct fixture *f, node_id node)
{
    profile_begin(&f->profile, f->ledger, node, 0);
    for (uint32_t i = 0; i < LOTS; i++)
        if (f->lots[i].space.node == node)
            profile_take(&f->profile, &f->lots[i].space, f->lots[i].from, f->lots[i].until);
}

static void check_find(struct fixture *f, uint32_t *later, uint32_t *refused)
{
    const struct request request = random_request(f);
    const uint32_t count = 1 + random_below(&f->random, 5);
    const time_ns from = random_below(&f->random, 20), length = random_below(&f->random, 15);
    const time_ns latest = random_below(&f->random, 3) == 0 ? TIME_NEVER : from + random_below(&f->random, 20);
    const struct profile_ask ask = {
        .request = &request, .count = count, .from = from, .latest = latest, .length = length};
    struct piece_list pieces = {0};
    time_ns at = profile_find(&f->profile, &ask, &pieces);
    /* of no length at all asks the moment itself */
    assert_int_equal(at, naive_find(f, &request, count, from, length > 0 ? length : 1, latest));
    assert_int_equal(pieces.count, at == TIME_NEVER ? 0 : count);
    if (latest != TIME_NEVER) {
        bool may = profile_may_fit(&f->profile, &ask);
        assert_true(may || at == TIME_NEVER);
        *refused += !may;
    }
    *later += at != TIME_NEVER && at > from;
    mem_free(pieces.pieces);
}

/* Who has his place later may count on it while he looks for an earlier one. */
static void check_move_up(struct fixture *f, const struct lot *lot)
{
    const struct request request = {.gpus = (uint16_t)__builtin_popcount(lot->space.gpu_mask),
                                    .cpu_milli = lot->space.cpu_milli,
                                    .memory_mib = lot->space.memory_mib};
    if (lot->from >= lot->until || lot->from == 0)
        return;
    const struct profile_ask ask = {.request = &request,
                                    .count = 1,
                                    .latest = lot->from - 1,
                                    .length = lot->until == TIME_NEVER ? TIME_NEVER : lot->until - lot->from};
    struct piece_list pieces = {0};
    bool may = profile_may_fit(&f->profile, &ask);
    profile_give(&f->profile, &lot->space, lot->from, lot->until);
    time_ns at = profile_find(&f->profile, &ask, &pieces);
    profile_take(&f->profile, &lot->space, lot->from, lot->until);
    assert_true(may || at == TIME_NEVER);
    mem_free(pieces.pieces);
}

TEST(finds_what_the_table_tells)
{
    const uint64_t seeds = test_is_full() ? 600 : 20;
    uint32_t later = 0, refused = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct fixture f = {.cluster = cluster_uniform_new(NODES, GPUS)};
        f.ledger = ledger_new(f.cluster);
        random_stream_init(&f.random, seed, "profile", 0);
        for (node_id n = 0; n < NODES; n++)
            draw_anew(&f, n);
        for (uint32_t i = 0; i < 300; i++) {
            change_lot(&f, &f.lots[random_below(&f.random, LOTS)]);
            check_find(&f, &later, &refused);
            check_move_up(&f, &f.lots[random_below(&f.random, LOTS)]);
            if (random_below(&f.random, 8) == 0)
                draw_anew(&f, random_below(&f.random, NODES));
        }
        profile_release(&f.profile);
        ledger_free(f.ledger);
        cluster_free(f.cluster);
    }
    assert_true(later > 10 * seeds && refused > 10 * seeds); /* or nothing was tried */
}
