/* Buddy cells against a tree that splits and merges, and the safety of the hived preset against a search.
 *
 * The search knows only decisions: from the GPUs that guaranteed jobs hold it tries all ways to give every queue all
 * its cells, disjoint, each guaranteed GPU inside a cell of its queue.  After every cycle there must be one.  And the
 * promise itself: a queue without guaranteed jobs that asks for all its cells at once gets them, whatever runs. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/quota/cells.h"
#include "policies/sched.h"
#include "tests/support/interval.h"
#include "tests/support/random_case.h"

/* ---- The tree ---------------------------------------------------------------------------------- */

enum { TREE_NODES = 2 * NODE_GPUS_MAX }; /* node 1 is all 16 GPUs; n has the buddies 2n and 2n + 1 */
enum cell_is { CELL_ABSENT, CELL_FREE, CELL_SPLIT, CELL_TAKEN };

struct tree {
    uint8_t is[TREE_NODES];
};

static uint32_t depth_of(uint32_t n)
{
    uint32_t depth = 0;
    for (; n > 1; n /= 2)
        depth++;
    return depth;
}

static uint32_t level_of(uint32_t n)
{
    return CELL_LEVELS - 1 - depth_of(n);
}

static uint32_t first_of(uint32_t n)
{
    return (n - (1u << depth_of(n))) << level_of(n);
}

/* Take a free cell of the level: of the smallest that has it the first; 0: none. */
static uint32_t tree_take(struct tree *tree, uint32_t level)
{
    uint32_t best = 0;
    for (uint32_t n = 1; n < TREE_NODES; n++)
        if (tree->is[n] == CELL_FREE && level_of(n) >= level && (best == 0 || level_of(n) < level_of(best)))
            best = n;
    if (best == 0)
        return 0;
    while (level_of(best) > level) {
        tree->is[best] = CELL_SPLIT;
        tree->is[2 * best] = tree->is[2 * best + 1] = CELL_FREE;
        best *= 2;
    }
    tree->is[best] = CELL_TAKEN;
    return best;
}

static void tree_give(struct tree *tree, uint32_t n)
{
    tree->is[n] = CELL_FREE;
    while (n > 1 && tree->is[n ^ 1] == CELL_FREE) {
        tree->is[n] = tree->is[n ^ 1] = CELL_ABSENT;
        n /= 2;
        tree->is[n] = CELL_FREE;
    }
}

/* A node of `gpus` GPUs: the rest is taken for ever, GPU by GPU. */
static uint16_t tree_open(struct tree *tree, uint32_t gpus)
{
    *tree = (struct tree){.is = {[1] = CELL_FREE}};
    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
        assert_int_not_equal(tree_take(tree, 0), 0);
    for (uint32_t g = 0; g < gpus; g++)
        tree_give(tree, NODE_GPUS_MAX + g);
    return (uint16_t)((1u << gpus) - 1);
}

static void check_tree(const struct tree *tree, uint16_t free)
{
    uint16_t maximal[CELL_LEVELS] = {0};
    for (uint32_t n = 1; n < TREE_NODES; n++)
        if (tree->is[n] == CELL_FREE)
            maximal[level_of(n)] |= (uint16_t)(1u << first_of(n));
    for (uint32_t l = 0; l < CELL_LEVELS; l++)
        assert_int_equal(cells_maximal(free, l), maximal[l]);
}

TEST(test_masks_are_the_tree)
{
    struct random_stream stream;
    uint32_t rounds = test_is_full() ? 20000 : 1000;
    for (uint32_t seed = 1; seed <= rounds; seed++) {
        struct tree tree;
        uint32_t taken[NODE_GPUS_MAX], count = 0;
        random_stream_init(&stream, seed, "cells", 0);
        uint16_t free = tree_open(&tree, 1 + random_below(&stream, NODE_GPUS_MAX));
        for (uint32_t step = 0; step < 100; step++) {
            if (count > 0 && random_below(&stream, 2) == 0) {
                uint32_t at = random_below(&stream, count), n = taken[at];
                taken[at] = taken[--count];
                tree_give(&tree, n);
                free |= (uint16_t)(((1u << (1u << level_of(n))) - 1) << first_of(n));
            } else {
                uint32_t level = random_below(&stream, CELL_LEVELS);
                uint32_t fit = cells_fit(free, 1u << level);
                uint32_t n = tree_take(&tree, level);
                assert_int_equal(n != 0, fit < CELL_LEVELS);
                if (n != 0) {
                    uint16_t gpus = cells_choose(free, 1u << level);
                    assert_int_equal(gpus, ((1u << (1u << level)) - 1) << first_of(n));
                    free &= (uint16_t)~gpus;
                    taken[count++] = n;
                }
            }
            check_tree(&tree, free);
        }
    }
}

/* Odd sizes: as many as asked, all free, out of a cell whenever there is one. */
TEST(test_choices_are_sound)
{
    for (uint32_t mask = 0; mask < 1u << 12; mask++)
        for (uint32_t gpus = 1; gpus <= 12; gpus++) {
            uint16_t chosen = cells_choose((uint16_t)mask, gpus);
            uint32_t span = cells_level(gpus), best = CELL_LEVELS;
            bool has_room = (uint32_t)__builtin_popcount(mask) >= gpus;
            assert_int_equal(__builtin_popcount(chosen), has_room ? gpus : 0);
            assert_int_equal(chosen & ~mask, 0);
            if (!has_room)
                continue;
            for (uint32_t l = CELL_LEVELS; l-- > span;)
                for (uint32_t f = 0; f < NODE_GPUS_MAX; f += 1u << l)
                    if ((uint32_t)__builtin_popcount(mask >> f & ((1u << (1u << l)) - 1)) >= gpus)
                        best = l; /* the smallest window that has them */
            uint32_t low = (uint32_t)__builtin_ctz(chosen);
            uint32_t high = 31 - (uint32_t)__builtin_clz((uint32_t)chosen), l = span;
            while (low >> l != high >> l)
                l++;
            assert_int_equal(l, best);
        }
}

/* ---- A small world ----------------------------------------------------------------------------- */

enum { NODES_MAX = 3, QUEUES_MAX = 4, JOBS_MAX = 400, CELLS_MAX = 16 };
enum life { WAITS, RUNS, LEAVES, OVER };

struct guest {
    struct job job;
    enum life life;
    uint16_t gpus[NODES_MAX];
};

struct world {
    struct random_stream stream;
    uint64_t seed;
    struct cluster *cluster;
    struct queue_table *queues;
    struct random_case_policy policy;
    struct sched *sched;
    struct guest guests[JOBS_MAX];
    uint32_t guest_count, gpus_per_node;
    time_ns now;
};

static void fail_world(const struct world *world, const char *what, job_id job)
{
    print_error("seed %llu, job %u, at %lld: %s\n", (unsigned long long)world->seed, job, (long long)world->now, what);
    fail();
}

static void open_world(struct world *world, uint64_t seed)
{
    struct error error;
    uint32_t preset = 0;
    *world = (struct world){.seed = seed};
    random_stream_init(&world->stream, seed, "hived", 0);
    world->gpus_per_node = random_below(&world->stream, 3) == 0 ? 8 : 4;
    uint32_t nodes = 1 + random_below(&world->stream, world->gpus_per_node == 8 ? 2 : NODES_MAX);
    world->cluster = cluster_uniform_new(nodes, (uint16_t)world->gpus_per_node);
    world->queues = queue_table_new();
    uint32_t left = nodes * world->gpus_per_node;
    static const char *const names[QUEUES_MAX] = {"a", "b", "c", "d"};
    for (uint32_t q = 0; q < QUEUES_MAX; q++) {
        queue_id id = queue_table_add(world->queues, text_of(names[q]), QUEUE_ROOT);
        uint32_t gpus = q + 1 == QUEUES_MAX ? left : random_below(&world->stream, left + 1);
        if (q + 1 == QUEUES_MAX && random_below(&world->stream, 2) == 0)
            gpus /= 2;
        left -= gpus;
        world->queues->queues[id].deserved[RESOURCE_GPU] = (int64_t)gpus * GPU_MILLI;
    }
    do
        random_case_policy(&world->stream, preset++, &world->policy);
    while (strcmp(world->policy.config.name, "hived") != 0);
    world->sched = sched_new(world->cluster, world->queues, &world->policy.config, &error);
    assert_non_null(world->sched);
}

static void close_world(struct world *world)
{
    sched_free(world->sched);
    queue_table_free(world->queues);
    cluster_free(world->cluster);
}

static job_id submit(struct world *world, queue_id queue, uint32_t gpus, uint32_t members, bool is_preemptible)
{
    struct guest *guest = &world->guests[world->guest_count];
    assert_true(world->guest_count < JOBS_MAX);
    guest->job = job_default();
    guest->job.id = world->guest_count++;
    guest->job.queue = queue;
    guest->job.submit = world->now;
    guest->job.is_preemptible = is_preemptible;
    guest->job.first = (struct job_group){.request = {.gpus = (uint16_t)gpus}, .count = members, .min_count = members};
    sched_job_submitted(world->sched, &guest->job, world->now);
    return guest->job.id;
}

static void take_decision(struct world *world, const struct decision *decision)
{
    struct guest *guest = &world->guests[decision->job];
    switch (decision->kind) {
    case DECISION_START:
        guest->life = RUNS;
        for (uint32_t p = 0; p < decision->piece_count; p++)
            guest->gpus[decision->pieces[p].node] |= decision->pieces[p].gpu_mask;
        sched_job_started(world->sched, decision->job, decision->id, world->now);
        break;
    case DECISION_EVICT:
        if (!guest->job.is_preemptible)
            fail_world(world, "a guaranteed job is evicted", decision->job);
        if (world->guests[decision->for_job].job.is_preemptible)
            fail_world(world, "an opportunistic job evicts", decision->job);
        guest->life = LEAVES;
        break;
    case DECISION_REJECT:
        guest->life = OVER;
        break;
    case DECISION_RESERVE:
    case DECISION_RELEASE:
    case DECISION_NOTIFY:
    case DECISION_REPARTITION:
        break;
    }
}

/* ---- Does every queue have all its cells? ---- */

struct search_cells {
    uint32_t count;
    queue_id queue[CELLS_MAX];
    uint32_t level[CELLS_MAX];
    uint16_t firm[QUEUES_MAX + 1][NODES_MAX]; /* by queue */
    uint16_t covered[NODES_MAX];              /* by cells placed so far */
    uint32_t node_count, gpus;
};

/* Cells of the same kind are placed in ascending order; `from` is where the last one stands. */
static bool place_cells(struct search_cells *search, uint32_t at, uint32_t from)
{
    if (at == search->count) {
        for (uint32_t n = 0; n < search->node_count; n++)
            for (queue_id q = 1; q <= QUEUES_MAX; q++)
                if (search->firm[q][n] & ~search->covered[n])
                    return false;
        return true;
    }
    uint32_t level = search->level[at], each = search->gpus >> level;
    bool is_same = at > 0 && search->queue[at - 1] == search->queue[at] && search->level[at - 1] == level;
    for (uint32_t p = is_same ? from + 1 : 0; p < search->node_count * each; p++) {
        uint32_t node = p / each;
        uint16_t cell = (uint16_t)(((1u << (1u << level)) - 1) << ((p % each) << level));
        bool is_open = (search->covered[node] & cell) == 0;
        for (queue_id q = 1; q <= QUEUES_MAX && is_open; q++)
            is_open = q == search->queue[at] || (search->firm[q][node] & cell) == 0;
        if (!is_open)
            continue;
        search->covered[node] |= cell;
        bool is_found = place_cells(search, at + 1, p);
        search->covered[node] &= (uint16_t)~cell;
        if (is_found)
            return true;
    }
    return false;
}

/* Whole nodes first, then halves and so on. */
static uint32_t cut(const struct world *world, queue_id queue, uint32_t levels[CELLS_MAX])
{
    uint32_t count = 0, level = cells_level(world->gpus_per_node);
    uint32_t gpus = (uint32_t)(world->queues->queues[queue].deserved[RESOURCE_GPU] / GPU_MILLI);
    while (gpus > 0)
        if (gpus >= 1u << level) {
            levels[count++] = level;
            gpus -= 1u << level;
        } else {
            level--;
        }
    return count;
}

static void check_safety(const struct world *world)
{
    struct search_cells search = {.node_count = world->cluster->node_count, .gpus = world->gpus_per_node};
    for (uint32_t l = CELL_LEVELS; l-- > 0;)
        for (queue_id q = 1; q <= QUEUES_MAX; q++) {
            uint32_t levels[CELLS_MAX], count = cut(world, q, levels);
            for (uint32_t i = 0; i < count; i++)
                if (levels[i] == l) {
                    search.queue[search.count] = q;
                    search.level[search.count++] = l;
                }
        }
    uint16_t used[NODES_MAX] = {0};
    for (job_id id = 0; id < world->guest_count; id++) {
        const struct guest *guest = &world->guests[id];
        for (uint32_t n = 0; n < search.node_count; n++) {
            if (used[n] & guest->gpus[n])
                fail_world(world, "a GPU is given twice", id);
            used[n] |= guest->gpus[n];
            if (!guest->job.is_preemptible)
                search.firm[guest->job.queue][n] |= guest->gpus[n];
        }
    }
    if (!place_cells(&search, 0, 0))
        fail_world(world, "a queue's cells have no place any more", JOB_NONE);
}

static void leave(struct world *world, job_id id)
{
    struct guest *guest = &world->guests[id];
    memset(guest->gpus, 0, sizeof guest->gpus);
    if (guest->life == LEAVES) {
        guest->life = WAITS;
        sched_job_evicted(world->sched, id, MEMBERS_ALL, EVICT_LOST, world->now);
    } else {
        guest->life = OVER;
        sched_job_ended(world->sched, id, JOB_END_COMPLETED, false, world->now);
    }
}

static void cycle(struct world *world)
{
    const struct decision *decisions;
    time_ns wake;
    struct decision copy[JOBS_MAX];
    size_t count = sched_cycle(world->sched, world->now, &decisions, &wake);
    assert_true(count < JOBS_MAX);
    struct piece pieces[JOBS_MAX];
    uint32_t piece_count = 0;
    for (size_t i = 0; i < count; i++) { /* facts void what the cycle gave */
        copy[i] = decisions[i];
        for (uint32_t p = 0; p < copy[i].piece_count; p++)
            pieces[piece_count + p] = decisions[i].pieces[p];
        copy[i].pieces = &pieces[piece_count];
        piece_count += copy[i].piece_count;
    }
    for (size_t i = 0; i < count; i++)
        take_decision(world, &copy[i]);
    check_safety(world);
    const char *broken = sched_check(world->sched);
    if (broken != NULL)
        fail_world(world, broken, JOB_NONE);
    world->now += TIME_NS_PER_S;
    for (job_id id = 0; id < world->guest_count; id++)
        if (world->guests[id].life == LEAVES)
            leave(world, id);
}

/* A random job: of any queue, of any size, alone or with others. */
static void some_submission(struct world *world)
{
    uint32_t gpus = 1 + random_below(&world->stream, world->gpus_per_node);
    if (random_below(&world->stream, 2) == 0)
        gpus = 1u << random_below(&world->stream, 3);
    submit(world, 1 + random_below(&world->stream, QUEUES_MAX), gpus, random_below(&world->stream, 4) == 0 ? 2 : 1,
           random_below(&world->stream, 2) == 0);
}

/* The guaranteed jobs of one queue end; then it asks for all its cells. */
static void drill(struct world *world)
{
    queue_id queue = 1 + random_below(&world->stream, QUEUES_MAX);
    uint32_t levels[CELLS_MAX], count = cut(world, queue, levels);
    for (job_id id = 0; id < world->guest_count; id++) {
        struct guest *guest = &world->guests[id];
        if (guest->job.queue != queue || guest->job.is_preemptible || guest->life == OVER)
            continue;
        if (guest->life == WAITS)
            sched_job_cancelled(world->sched, id, world->now);
        else
            leave(world, id);
        guest->life = OVER;
    }
    cycle(world); /* what was reserved for them is given up */
    job_id first = world->guest_count;
    for (uint32_t i = 0; i < count; i++)
        submit(world, queue, 1u << levels[i], 1, false);
    for (uint32_t i = 0; i < 8; i++)
        cycle(world);
    for (job_id id = first; id < world->guest_count; id++)
        if (world->guests[id].life != RUNS)
            fail_world(world, "a queue did not get a cell it owns", id);
}

TEST(test_cells_are_always_found)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? 5000 : 200;
    static struct world world; /* large */
    for (uint64_t seed = first; seed < first + count; seed++) {
        open_world(&world, seed);
        for (uint32_t step = 0; step < 60; step++) {
            for (uint32_t i = random_below(&world.stream, 4); i > 0; i--)
                some_submission(&world);
            for (job_id id = 0; id < world.guest_count; id++)
                if (world.guests[id].life == RUNS && random_below(&world.stream, 6) == 0)
                    leave(&world, id);
            cycle(&world);
            if (random_below(&world.stream, 10) == 0)
                drill(&world);
        }
        close_world(&world);
    }
}
