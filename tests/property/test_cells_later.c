/* Cells placed when they are read, against cells placed at once; and what cells_have_room refuses, against the
 * cells of its queue wherever they go. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/quota/cells_index.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/quota_case.h"

enum { NODES = 6, GPUS_EACH = 8, GPUS_ALL = NODES * GPUS_EACH, QUEUES = 5, STEPS = 300 };

/* Parts of a GPU that jobs take, in milli. */
enum { PARTS = 6 };
static const uint16_t parts[PARTS] = {GPU_MILLI, GPU_MILLI, GPU_MILLI, 200, 500, 700};

/* The same facts are told to both: `now` places at each call, `later` when its cells are read. */
struct twins {
    struct random_stream stream;
    struct quota_case now, later;
    queue_id queues[QUEUES];
    uint8_t busy[GPUS_ALL];   /* 0: free; 1: an opportunistic job; 2: a guaranteed one */
    queue_id owner[GPUS_ALL]; /* of the guaranteed job */
    uint16_t milli[GPUS_ALL]; /* that the job takes of the GPU */
    bool is_down[NODES];
    uint64_t seed;
};

static void open_case(struct quota_case *c)
{
    quota_case_init(c, &quota_cells, 1);
    ledger_free(c->ledger);
    cluster_free(c->cluster);
    c->cluster = cluster_uniform_new(NODES, GPUS_EACH);
    c->ledger = ledger_new(c->cluster);
    c->tree.ledger = c->ledger;
}

static void set_quotas(struct twins *t)
{
    uint32_t left = GPUS_ALL;
    for (uint32_t q = 0; q < QUEUES; q++) {
        const uint32_t gpus = random_below(&t->stream, (q + 1 < QUEUES ? left / 2 : left) + 1);
        quota_case_spec(&t->now, t->queues[q])->deserved[RESOURCE_GPU] = gpus * GPU_MILLI;
        quota_case_spec(&t->later, t->queues[q])->deserved[RESOURCE_GPU] = gpus * GPU_MILLI;
        left -= gpus;
    }
    quota_case_ready(&t->now);
    quota_case_ready(&t->later);
}

static void open_twins(struct twins *t, uint64_t seed)
{
    static const char *const names[QUEUES] = {"a", "b", "c", "d", "e"};
    *t = (struct twins){.seed = seed};
    random_stream_init(&t->stream, seed, "cells later", 0);
    open_case(&t->now);
    open_case(&t->later);
    for (uint32_t q = 0; q < QUEUES; q++) {
        t->queues[q] = quota_case_add(&t->now, names[q], QUEUE_ROOT, 0);
        assert_int_equal(quota_case_add(&t->later, names[q], QUEUE_ROOT, 0), t->queues[q]);
    }
    set_quotas(t);
}

static void hold(struct quota_case *c, uint32_t gpu, uint16_t milli, queue_id guaranteed, int sign)
{
    const uint16_t mask = (uint16_t)(1u << gpu % GPUS_EACH);
    struct space space = {.node = gpu / GPUS_EACH, .gpu_mask = mask, .gpu_milli = milli, .member_count = 1};
    struct piece piece = {.node = space.node, .gpu_mask = mask, .gpu_milli = milli, .member_count = 1};
    if (sign > 0)
        ledger_take(c->ledger, &space);
    else
        ledger_give(c->ledger, &space);
    if (guaranteed == QUEUE_NONE)
        return;
    cells_firm_changes(&c->tree);
    ledger_note_non_preemptible(c->ledger, &piece, guaranteed, sign);
}

/* A job comes to a GPU, or leaves it.  A guaranteed job mostly goes to a cell of its queue. */
static void change_gpu(struct twins *t)
{
    const uint32_t gpu = random_below(&t->stream, GPUS_ALL);
    const int sign = t->busy[gpu] == 0 ? 1 : -1;
    if (sign > 0) {
        const queue_id keeper = t->now.ledger->keeps[gpu].keeper;
        const bool is_home = keeper != QUEUE_NONE && random_below(&t->stream, 8) != 0;
        t->busy[gpu] = (uint8_t)(1 + random_below(&t->stream, 2));
        t->milli[gpu] = parts[random_below(&t->stream, PARTS)];
        t->owner[gpu] = is_home ? keeper : t->queues[random_below(&t->stream, QUEUES)];
    }
    const queue_id guaranteed = t->busy[gpu] == 2 ? t->owner[gpu] : QUEUE_NONE;
    hold(&t->now, gpu, t->milli[gpu], guaranteed, sign);
    hold(&t->later, gpu, t->milli[gpu], guaranteed, sign);
    if (sign < 0)
        t->busy[gpu] = 0;
}

static void change_node(struct twins *t)
{
    const node_id node = random_below(&t->stream, NODES);
    t->is_down[node] = !t->is_down[node];
    ledger_set_node(t->now.ledger, node, t->is_down[node] ? NODE_DOWN : NODE_UP);
    ledger_set_node(t->later.ledger, node, t->is_down[node] ? NODE_DOWN : NODE_UP);
}

static void assign(struct twins *t, queue_id first)
{
    cells_assign(&t->now.tree, first);
    cells_assign_later(&t->later.tree, first);
}

static void compare(struct twins *t)
{
    cells_settle(&t->later.tree);
    for (gpu_id g = 0; g < GPUS_ALL; g++)
        if (t->now.ledger->keeps[g].keeper != t->later.ledger->keeps[g].keeper)
            fail_msg("seed %llu: GPU %u is in a cell of queue %u, and of %u when it is read later",
                     (unsigned long long)t->seed, g, t->now.ledger->keeps[g].keeper, t->later.ledger->keeps[g].keeper);
    assert_lawful(cells_index_check(t->later.ledger));
}

/* The members that the queue's cells could hold if all opportunistic jobs left: of whole GPUs, or of a share. */
static uint32_t members_at_home(const struct twins *t, queue_id queue, const struct request *request)
{
    uint32_t members = 0;
    for (node_id n = 0; n < NODES; n++) {
        uint32_t empty = 0, shares = 0;
        for (uint32_t g = n * GPUS_EACH; g < (n + 1) * GPUS_EACH; g++) {
            if (t->now.ledger->keeps[g].keeper != queue)
                continue;
            const uint32_t left = GPU_MILLI - (t->busy[g] == 2 ? t->milli[g] : 0);
            empty += left == GPU_MILLI;
            shares += request->gpus > 0 ? 0 : left / request->gpu_milli;
        }
        members += request->gpus > 0 ? empty / request->gpus : shares;
    }
    return members;
}

/* True if the bound refuses the request: then no assignment of cells could hold it. */
static bool check_home(struct twins *t)
{
    const queue_id queue = t->queues[random_below(&t->stream, QUEUES)];
    const bool is_share = random_below(&t->stream, 3) == 0;
    const struct job_group group = {
        .request = {.gpus = is_share ? 0 : (uint16_t)(1u << random_below(&t->stream, 4)),
                    .gpu_milli = is_share ? parts[PARTS - 3 + random_below(&t->stream, 3)] : 0},
        .count = 1 + random_below(&t->stream, 3)};
    const struct request_class asked = {.groups = &group, .group_count = 1};
    if (cells_have_room(&t->later.tree, queue, &asked, false))
        return false;
    for (uint32_t q = 0; q < QUEUES; q++) {
        assign(t, t->queues[q]);
        if (members_at_home(t, queue, &group.request) >= group.count)
            fail_msg("seed %llu: %u members of %u GPUs and %u milli were refused, but fit in the cells of queue %u",
                     (unsigned long long)t->seed, group.count, group.request.gpus, group.request.gpu_milli, queue);
    }
    return true;
}

static void play(uint64_t seed, uint32_t *refused, uint32_t *put_off)
{
    struct twins t;
    open_twins(&t, seed);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t what = random_below(&t.stream, 32);
        if (what < 14)
            change_gpu(&t);
        else if (what == 14)
            change_node(&t);
        else if (what == 15)
            set_quotas(&t);
        else if (what < 26)
            assign(&t, t.queues[random_below(&t.stream, QUEUES)]);
        else if (what < 30)
            *refused += check_home(&t);
        else {
            *put_off += t.later.ledger->cells != NULL && t.later.ledger->cells->due.is_due;
            compare(&t);
        }
    }
    quota_case_release(&t.now);
    quota_case_release(&t.later);
}

TEST(test_cells_placed_later_are_the_same)
{
    const uint32_t rounds = test_is_full() ? 2000 : 150;
    uint32_t refused = 0, put_off = 0;
    for (uint64_t seed = 1; seed <= rounds; seed++)
        play(seed, &refused, &put_off);
    assert_true(refused > rounds);
    assert_true(put_off > rounds);
}
