/* The profile of planned free space (policies/reservation/profile.h) against a naive twin.  The twin lists which job
 * has which GPUs, CPUs and memory from when to when, and tries every moment at which a job begins or ends.  Both find
 * the same start and the same nodes, also where two jobs were promised the same space because a running job stays
 * longer. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/reservation/profile.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"

#define SECONDS(n) ((time_ns)(n)*TIME_NS_PER_S)

enum { USES_MAX = 96, STEPS = 60, TIME_STEPS = 40, GROUP = 3, NODES_MAX = 8 };

static const time_ns now = SECONDS(1000);

/* Nodes of 12 GPUs, of 2, with a taint, and with an instance on the first of their GPUs; the last is out of order. */
static const char pools[] = "{'pools': [{'name': 'large', 'nodes': 3, 'gpus_per_node': 12, 'gpu_model': 'h100-80gb', "
                            "'cpus': 16, 'memory_gb': 16},{'name': 'small', 'nodes': 1, 'gpus_per_node': 2, "
                            "'gpu_model': 't4-16gb', 'cpus': 4, 'memory_gb': 4},{'name': 'tainted', 'nodes': 1, "
                            "'gpus_per_node': 4, 'gpu_model': 'h100-80gb', 'cpus': 64, 'memory_gb': 64, "
                            "'taints': ['a=b:NoSchedule']},{'name': 'cut', 'nodes': 1, 'gpus_per_node': 3, "
                            "'gpu_model': 'h100-80gb', 'cpus': 8, 'memory_gb': 8, 'gpus_layout': [['1g.10gb'], [], "
                            "[]]},{'name': 'down', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', "
                            "'cpus': 16, 'memory_gb': 16}]}";

enum { SMALL = 3, TAINTED = 4, CUT = 5, DOWN = 6 };

struct use { /* of the twin: holds this between the times */
    struct space space;
    time_ns from, until;
    bool is_plan; /* put into the profile, not in the ledger */
};

struct world {
    struct random_stream random;
    struct cluster *cluster;
    struct ledger *ledger;
    struct profile profile;
    struct use uses[USES_MAX];
    uint32_t count;
};

/* ---- The twin --------------------------------------------------------------------------------------- */

struct free_space {
    uint16_t mask;
    int64_t cpu_milli, memory_mib;
};

static uint32_t bits_of(uint16_t mask)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < 16; g++)
        count += mask >> g & 1;
    return count;
}

/* What is free now, and what has left by then, but for what was claimed of it, less what is planned. */
static struct free_space free_at(const struct world *world, node_id node, time_ns at)
{
    const struct node_type *type = cluster_node_type(world->cluster, node);
    const struct node_cell *cell = &world->ledger->nodes[node];
    int64_t cpu_left = 0, memory_left = 0;
    struct free_space free = {0, cell->cpu_free, cell->memory_free};
    for (uint32_t g = 0; g < type->gpu_count; g++)
        free.mask |= (uint16_t)((node != CUT || g != 0) << g);
    for (uint32_t i = 0; i < world->count; i++) {
        const struct use *use = &world->uses[i];
        if (use->space.node != node || use->from > at)
            continue;
        if (use->until > at)
            free.mask &= (uint16_t)~use->space.gpu_mask;
        if (use->is_plan && use->until > at) {
            free.cpu_milli -= use->space.cpu_milli;
            free.memory_mib -= use->space.memory_mib;
        } else if (!use->is_plan && use->until <= at) {
            cpu_left += use->space.cpu_milli;
            memory_left += use->space.memory_mib;
        }
    }
    free.cpu_milli += cpu_left > cell->cpu_claimed ? cpu_left - cell->cpu_claimed : 0;
    free.memory_mib += memory_left > cell->memory_claimed ? memory_left - cell->memory_claimed : 0;
    return free;
}

/* Free all the while. */
static struct free_space free_between(const struct world *world, node_id node, time_ns from, time_ns until)
{
    struct free_space least = free_at(world, node, from);
    for (uint32_t i = 0; i < world->count; i++) {
        const time_ns edges[] = {world->uses[i].from, world->uses[i].until};
        for (int e = 0; e < 2; e++) {
            if (edges[e] <= from || edges[e] >= until)
                continue;
            struct free_space free = free_at(world, node, edges[e]);
            least.mask &= free.mask;
            if (free.cpu_milli < least.cpu_milli)
                least.cpu_milli = free.cpu_milli;
            if (free.memory_mib < least.memory_mib)
                least.memory_mib = free.memory_mib;
        }
    }
    return least;
}

static time_ns end_of(time_ns at, time_ns length)
{
    return length == TIME_NEVER ? TIME_NEVER : at + length;
}

static bool may_serve(const struct world *world, const struct request *request, node_id node)
{
    const uint8_t model = cluster_node_type(world->cluster, node)->model;
    return node != DOWN && node != TAINTED && (request->gpu_models == 0 || request->gpu_models >> model & 1);
}

/* Who asks none has enough, even of what is promised twice. */
static bool is_enough(int64_t amount, uint32_t asked)
{
    return asked == 0 || amount >= asked;
}

/* Take one member after another out of what is free there; returns how many fit, at most `most`. */
static uint32_t members_on(const struct world *world, const struct request *request, node_id node, time_ns at,
                           time_ns length, uint32_t most, uint16_t masks[])
{
    if (!may_serve(world, request, node))
        return 0;
    struct free_space free = free_between(world, node, at, end_of(at, length));
    uint32_t count = 0;
    while (count < most && bits_of(free.mask) >= request->gpus && is_enough(free.cpu_milli, request->cpu_milli) &&
           is_enough(free.memory_mib, request->memory_mib)) {
        masks[count] = 0;
        for (uint32_t g = 0, left = request->gpus; left > 0; g++)
            if (free.mask >> g & 1) {
                masks[count] |= (uint16_t)(1u << g);
                left--;
            }
        free.mask &= (uint16_t)~masks[count++];
        free.cpu_milli -= request->cpu_milli;
        free.memory_mib -= request->memory_mib;
    }
    return count;
}

static uint32_t members_at(const struct world *world, const struct request *request, time_ns at, time_ns length,
                           uint32_t wanted)
{
    uint16_t masks[16];
    uint32_t count = 0;
    for (node_id n = 0; n < world->cluster->node_count; n++)
        count += members_on(world, request, n, at, length, wanted - count, masks);
    return count;
}

static int compare_times(const void *a, const void *b)
{
    const time_ns x = *(const time_ns *)a, y = *(const time_ns *)b;
    return x < y ? -1 : x > y;
}

/* `from`, and after it all times at which something begins or ends, in order. */
static uint32_t moments(const struct world *world, time_ns from, time_ns out[])
{
    uint32_t count = 0;
    out[count++] = from;
    for (uint32_t i = 0; i < world->count; i++) {
        const time_ns until = world->uses[i].until;
        if (until > from && until != TIME_NEVER)
            out[count++] = until;
    }
    qsort(out, count, sizeof *out, compare_times);
    return count;
}

static time_ns naive_find(const struct world *world, const struct request *request, uint32_t count, time_ns from,
                          time_ns length, time_ns latest)
{
    time_ns at[USES_MAX + 1];
    const uint32_t moment_count = moments(world, from, at);
    for (uint32_t i = 0; i < moment_count && at[i] <= latest; i++)
        if (members_at(world, request, at[i], length, count) == count)
            return at[i];
    return TIME_NEVER;
}

static bool naive_has_room(const struct world *world, const struct request *request, node_id node, time_ns from,
                           time_ns length, time_ns bound)
{
    time_ns at[USES_MAX + 1];
    uint16_t masks[1];
    const uint32_t moment_count = moments(world, from, at);
    for (uint32_t i = 0; i < moment_count && at[i] < bound; i++)
        if (members_on(world, request, node, at[i], length, 1, masks) > 0)
            return true;
    return false;
}

/* ---- The world -------------------------------------------------------------------------------------- */

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    return x->until < y->until ? -1 : x->until > y->until;
}

/* A node as it is drawn in a pass: what holds it leaves in the order of the ends, then the plans. */
static void draw_node(struct world *world, node_id node)
{
    qsort(world->uses, world->count, sizeof *world->uses, compare_uses);
    profile_begin(&world->profile, world->ledger, node, now);
    for (uint32_t i = 0; i < world->count; i++)
        if (!world->uses[i].is_plan && world->uses[i].space.node == node && world->uses[i].until != TIME_NEVER)
            profile_leaves(&world->profile, &world->uses[i].space, world->uses[i].until);
    for (uint32_t i = 0; i < world->count; i++)
        if (world->uses[i].is_plan && world->uses[i].space.node == node)
            profile_take(&world->profile, &world->uses[i].space, world->uses[i].from, world->uses[i].until);
}

static time_ns random_time(struct world *world)
{
    return now + SECONDS(1 + random_below(&world->random, TIME_STEPS));
}

/* Whole GPUs, a share of one that others share too, an instance, or CPUs alone. */
static struct space random_holding(struct world *world, node_id node)
{
    const gpu_id first = world->cluster->nodes[node].first_gpu;
    struct space space = {.node = node,
                          .gpu_milli = GPU_MILLI,
                          .cpu_milli = 1000 * random_below(&world->random, 4),
                          .memory_mib = 1024 * random_below(&world->random, 4),
                          .owner = world->count,
                          .member_count = 1};
    const uint32_t kind = random_below(&world->random, 4);
    for (uint32_t g = 0; g < cluster_node_gpus(world->cluster, node) && kind < 3; g++) {
        const uint32_t free = world->ledger->gpus[first + g].free;
        if (node == CUT && g == 0)
            continue;
        if (kind < 2 && free == GPU_MILLI && random_below(&world->random, 2))
            space.gpu_mask |= (uint16_t)(1u << g);
        else if (kind == 2 && free >= 300 && space.gpu_mask == 0 && random_below(&world->random, 2))
            space.gpu_mask = (uint16_t)(1u << g);
    }
    if (kind == 2)
        space.gpu_milli = 300;
    if (node == CUT && kind == 3 && ledger_mig_starts(world->ledger, node, 0, MIG_1G) != 0) {
        space.gpu_mask = 1;
        space.gpu_milli = 125;
        space.mig = MIG_1G + 1;
        space.mig_start = (uint8_t)__builtin_ctz(ledger_mig_starts(world->ledger, node, 0, MIG_1G));
    }
    const struct node_cell *cell = &world->ledger->nodes[node];
    if (space.cpu_milli > cell->cpu_free)
        space.cpu_milli = 0;
    if (space.memory_mib > cell->memory_free)
        space.memory_mib = 0;
    return space;
}

/* It is on its way out, and another has claimed all of it. */
static void claim(struct world *world, const struct use *victim)
{
    struct use claimer = *victim;
    ledger_vacate(world->ledger, &victim->space);
    claimer.space.owner = world->count;
    claimer.until += SECONDS(random_below(&world->random, 10));
    ledger_claim(world->ledger, &claimer.space);
    world->uses[world->count++] = claimer;
}

static void open_world(struct world *world, uint64_t seed)
{
    *world = (struct world){.cluster = sched_case_cluster(pools)};
    random_stream_init(&world->random, seed, "profile", 0);
    world->ledger = ledger_new(world->cluster);
    const uint32_t holders = 4 + random_below(&world->random, 24);
    for (uint32_t i = 0; i < holders; i++) {
        const node_id node = random_below(&world->random, world->cluster->node_count);
        struct space space = random_holding(world, node);
        ledger_take(world->ledger, &space);
        const bool is_endless = random_below(&world->random, 10) == 0;
        const struct use use = {space, 0, is_endless ? TIME_NEVER : random_time(world), false};
        world->uses[world->count++] = use;
        if (!is_endless && space.gpu_milli == GPU_MILLI && random_below(&world->random, 6) == 0)
            claim(world, &use);
    }
    ledger_set_node(world->ledger, DOWN, NODE_DOWN);
    for (node_id n = 0; n < world->cluster->node_count; n++)
        draw_node(world, n);
}

static void close_world(struct world *world)
{
    profile_release(&world->profile);
    ledger_free(world->ledger);
    cluster_free(world->cluster);
}

static struct request random_request(struct world *world)
{
    struct request request = {.gpus =
                                  (uint16_t)random_below(&world->random, random_below(&world->random, 4) == 0 ? 13 : 5),
                              .cpu_milli = 1000 * random_below(&world->random, 6),
                              .memory_mib = 1024 * random_below(&world->random, 6)};
    const node_id like = random_below(&world->random, 2) == 0 ? SMALL : CUT;
    if (request.gpus > 0 && random_below(&world->random, 3) == 0)
        request.gpu_models = UINT64_C(1) << cluster_node_type(world->cluster, like)->model;
    return request;
}

static bool asks_nothing(const struct request *request)
{
    return request->gpus == 0 && request->cpu_milli == 0 && request->memory_mib == 0;
}

/* ---- What is compared ------------------------------------------------------------------------------- */

static void compare_pieces(const struct world *world, const struct request *request, uint32_t count, time_ns at,
                           time_ns length, const struct piece_list *pieces)
{
    uint32_t next = 0;
    assert_int_equal(pieces->count, count);
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        uint16_t masks[16];
        uint32_t here = members_on(world, request, n, at, length, count - next, masks);
        for (uint32_t m = 0; m < here; m++) {
            const struct piece *piece = &pieces->pieces[next++];
            assert_int_equal(piece->node, n);
            assert_int_equal(piece->gpu_mask, masks[m]);
            assert_int_equal(piece->gpu_milli, request->gpus > 0 ? GPU_MILLI : 0);
            assert_int_equal(piece->member_count, 1);
            assert_int_equal(piece->group, GROUP);
        }
    }
}

static void compare_kept(const struct world *world)
{
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        const time_ns until = now + SECONDS(1 + n * 7);
        struct space kept = {0};
        const bool is_some = profile_kept(&world->profile, n, now, until, &kept);
        if (n == DOWN || n == TAINTED) {
            assert_false(is_some);
            continue;
        }
        const uint16_t free_mask = world->ledger->index->free_mask[n];
        const struct node_cell *cell = &world->ledger->nodes[n];
        const struct free_space least = free_between(world, n, now, until);
        const int64_t cpu = cell->cpu_free - (least.cpu_milli > 0 ? least.cpu_milli : 0),
                      memory = cell->memory_free - (least.memory_mib > 0 ? least.memory_mib : 0);
        const uint16_t mask = (uint16_t)(free_mask & ~least.mask);
        assert_int_equal(is_some, mask != 0 || cpu > 0 || memory > 0);
        assert_int_equal(kept.node, is_some ? n : kept.node);
        assert_int_equal(kept.gpu_mask, mask);
        assert_int_equal(kept.gpu_milli, GPU_MILLI);
        assert_int_equal(kept.cpu_milli, cpu);
        assert_int_equal(kept.memory_mib, memory);
    }
}

static struct free_amount total_at(const struct world *world, time_ns at)
{
    struct free_amount sum = {0};
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        if (!world->ledger->index->is_listed[n])
            continue;
        const struct free_space free = free_at(world, n, at);
        sum.gpus += bits_of(free.mask);
        sum.cpu_milli += free.cpu_milli > 0 ? free.cpu_milli : 0;
        sum.memory_mib += free.memory_mib > 0 ? free.memory_mib : 0;
    }
    return sum;
}

/* The sum over all nodes, at each moment at which it changes; what is promised twice counts as nothing. */
static void compare_total(const struct world *world)
{
    const struct free_total *total = &world->profile.total;
    struct free_amount sum = {0};
    for (uint32_t b = 0; b < total->count; b++)
        for (uint32_t i = 0; i < total->blocks[b]->count; i++) {
            const struct free_change *change = &total->blocks[b]->changes[i];
            const struct free_amount twin = total_at(world, change->at);
            sum.gpus += change->more.gpus;
            sum.cpu_milli += change->more.cpu_milli;
            sum.memory_mib += change->more.memory_mib;
            assert_int_equal(sum.gpus, twin.gpus);
            assert_int_equal(sum.cpu_milli, twin.cpu_milli);
            assert_int_equal(sum.memory_mib, twin.memory_mib);
        }
}

static void compare_has_room(struct world *world, const struct request *request, time_ns from, time_ns length)
{
    const time_ns bound = random_time(world);
    for (node_id n = 0; n < world->cluster->node_count; n++)
        assert_int_equal(profile_find_room(&world->profile, request, n, from, length, bound) != TIME_NEVER,
                         naive_has_room(world, request, n, from, length, bound));
}

/* What fits is planned in both; the space of each member, one after another.  What begins now may as well have begun
 * before the profile does. */
static void plan(struct world *world, const struct request *request, const struct piece_list *pieces, time_ns at,
                 time_ns length)
{
    for (uint32_t p = 0; p < pieces->count && world->count < USES_MAX; p++) {
        struct use use = {.space = {.node = pieces->pieces[p].node,
                                    .gpu_mask = pieces->pieces[p].gpu_mask,
                                    .gpu_milli = pieces->pieces[p].gpu_milli,
                                    .cpu_milli = request->cpu_milli,
                                    .memory_mib = request->memory_mib},
                          .from = at == now ? now - SECONDS(p % 2) : at,
                          .until = end_of(at, length),
                          .is_plan = true};
        world->uses[world->count++] = use;
        profile_take(&world->profile, &use.space, use.from, use.until);
    }
}

static void give_one_back(struct world *world)
{
    const uint32_t i = random_below(&world->random, world->count);
    const struct use use = world->uses[i];
    if (!use.is_plan)
        return;
    profile_give(&world->profile, &use.space, use.from, use.until);
    world->uses[i] = world->uses[--world->count];
}

/* It stays longer than was planned: what is planned on its space is promised twice. */
static void outlive(struct world *world)
{
    struct use *use = &world->uses[random_below(&world->random, world->count)];
    if (use->is_plan || use->until == TIME_NEVER)
        return;
    const node_id node = use->space.node;
    use->until += SECONDS(1 + random_below(&world->random, 20));
    draw_node(world, node);
}

static void compare_find(struct world *world, struct piece_list *pieces, uint32_t *waited)
{
    const struct request request = random_request(world);
    const uint32_t count = 1 + random_below(&world->random, 4);
    const time_ns from = random_below(&world->random, 2) == 0 ? now : random_time(world);
    const time_ns length =
        random_below(&world->random, 12) == 0 ? TIME_NEVER : SECONDS(1 + random_below(&world->random, TIME_STEPS));
    if (asks_nothing(&request))
        return;
    compare_has_room(world, &request, from, length);
    const time_ns at = naive_find(world, &request, count, from, length, TIME_NEVER);
    struct profile_ask ask = {
        .request = &request, .count = count, .group = GROUP, .from = from, .latest = TIME_NEVER, .length = length};
    assert_int_equal(profile_find(&world->profile, &ask, pieces), at);
    if (at == TIME_NEVER)
        return;
    compare_pieces(world, &request, count, at, length, pieces);
    ask.latest = at - 1;
    if (at > from)
        assert_int_equal(profile_find(&world->profile, &ask, pieces), TIME_NEVER);
    ask.latest = at;
    assert_int_equal(profile_find(&world->profile, &ask, pieces), at);
    *waited += at > from;
    if (world->count + count < USES_MAX)
        plan(world, &request, pieces, at, length);
}

TEST(the_twin_finds_the_same)
{
    const struct test_seeds seeds = test_seeds(20, 3000);
    uint32_t waited = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct world world;
        struct piece_list pieces = {0};
        open_world(&world, seed);
        for (uint32_t step = 0; step < STEPS; step++) {
            compare_find(&world, &pieces, &waited);
            compare_kept(&world);
            compare_total(&world);
            give_one_back(&world);
            if (step % 4 == 0)
                outlive(&world);
            if (step % 8 == 0)
                draw_node(&world, random_below(&world.random, world.cluster->node_count));
        }
        piece_list_release(&pieces);
        close_world(&world);
    }
    assert_true(seeds.count == 1 || waited > seeds.count); /* or everything was free */
}
