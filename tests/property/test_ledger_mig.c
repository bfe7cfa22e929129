/* The ledger with MIG instances and task limits against a list of bookings: random moves under nested marks, nodes
 * that come and go; free instances, shares and tasks follow from the list, and after every roll back the hash is what
 * it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/ledger/ledger.h"
#include "tests/support/json_text.h"
#include "tests/support/lawful.h"

enum { STEPS = 20000, BOOKED_MAX = 512, DEPTH_MAX = 4, TASKS_MAX = 6 };

static const char text[] = "{'pools': [{'nodes': 3, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', 'max_tasks': 6, "
                           "'gpus_layout': [['1g.10gb', '1g.10gb', '2g.20gb', '3g.40gb'], ['7g.80gb'], [], "
                           "['4g.40gb', {'profile': '1g.20gb', 'start': 6}]]},{'name': 'plain', 'node_name': 'p%u', "
                           "'nodes': 2, 'gpus_per_node': 2}]}";

enum state { GONE, USED, COMING, CLAIM_USED }; /* CLAIM_USED: taken by a claim that found all free */

struct booking {
    struct space space;
    enum state state;
};

struct twin {
    struct booking bookings[BOOKED_MAX];
    int count;
};

static struct cluster *make_cluster(void)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "cluster", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (cluster == NULL)
        fail_msg("%s", error_text_new(&error));
    json_doc_free(doc);
    return cluster;
}

static bool is_on(const struct booking *booking, node_id node, uint32_t gpu)
{
    return booking->state != GONE && booking->space.node == node && (booking->space.gpu_mask >> gpu & 1);
}

/* Bits of the starts of all instances of the GPU that nobody holds. */
static uint8_t naive_starts(const struct twin *twin, const struct cluster *cluster, node_id node, uint32_t gpu)
{
    const struct node_type *type = cluster_node_type(cluster, node);
    uint8_t starts = 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        starts |= (uint8_t)((type->layouts[gpu].profile[s] != 0) << s);
    for (int i = 0; i < twin->count; i++)
        if (is_on(&twin->bookings[i], node, gpu))
            starts &= (uint8_t) ~(1u << twin->bookings[i].space.mig_start);
    return starts;
}

static uint32_t naive_free(const struct twin *twin, node_id node, uint32_t gpu)
{
    uint32_t free = GPU_MILLI;
    for (int i = 0; i < twin->count; i++)
        if (is_on(&twin->bookings[i], node, gpu))
            free -= twin->bookings[i].space.gpu_milli;
    return free;
}

static uint32_t naive_tasks(const struct twin *twin, node_id node)
{
    uint32_t tasks = 0;
    for (int i = 0; i < twin->count; i++)
        if (twin->bookings[i].state != GONE && twin->bookings[i].space.node == node)
            tasks += twin->bookings[i].space.member_count;
    return tasks;
}

/* Partitioned GPUs of the node with a free instance of the profile, as the index tells them. */
static bool index_has(const struct ledger *ledger, node_id node, uint32_t gpu, uint32_t profile, uint32_t eighths)
{
    const struct node *entry = &ledger->cluster->nodes[node];
    return bits_test(&ledger->index->types[entry->type].mig->open[profile][eighths], entry->first_gpu + gpu);
}

static void compare_gpu(const struct ledger *ledger, const struct twin *twin, node_id node, uint32_t gpu)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_type *type = cluster_node_type(cluster, node);
    uint32_t free = naive_free(twin, node, gpu);
    assert_int_equal(ledger->gpus[cluster->nodes[node].first_gpu + gpu].free, free);
    if (!(type->layout_mask >> gpu & 1)) {
        bool is_whole = ledger->index->free_mask[node] >> gpu & 1;
        assert_int_equal(is_whole, free == GPU_MILLI);
        return;
    }
    assert_false(ledger->index->free_mask[node] >> gpu & 1);
    uint8_t starts = naive_starts(twin, cluster, node, gpu);
    for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++) {
        uint8_t of_profile = 0;
        for (uint32_t s = 0; s < MIG_SLICES; s++)
            if (type->layouts[gpu].profile[s] == p + 1)
                of_profile |= (uint8_t)(starts & 1u << s);
        assert_int_equal(ledger_mig_starts(ledger, node, gpu, (enum mig_profile_id)p), of_profile);
        for (uint32_t e = 0; e <= MIG_SLICES; e++)
            assert_int_equal(index_has(ledger, node, gpu, p, e),
                             of_profile != 0 && e == free / 125 && ledger->node_state[node] == NODE_UP);
    }
}

static void compare_with_twin(const struct ledger *ledger, const struct twin *twin)
{
    const struct cluster *cluster = ledger->cluster;
    int64_t used = 0, coming = 0;
    const char *broken = ledger_check(ledger);
    if (broken != NULL)
        fail_msg("%s", broken);
    for (node_id n = 0; n < cluster->node_count; n++) {
        uint32_t limit = cluster_node_type(cluster, n)->max_tasks;
        for (uint32_t g = 0; g < cluster_node_gpus(cluster, n); g++)
            compare_gpu(ledger, twin, n, g);
        if (limit != 0)
            assert_int_equal(ledger->nodes[n].tasks_free, limit - naive_tasks(twin, n));
    }
    for (int i = 0; i < twin->count; i++) {
        const struct booking *booking = &twin->bookings[i];
        int64_t milli = (int64_t)__builtin_popcount(booking->space.gpu_mask) * booking->space.gpu_milli;
        used += booking->state == USED || booking->state == CLAIM_USED ? milli : 0;
        coming += booking->state == COMING ? milli : 0;
    }
    assert_int_equal(ledger->used_milli, used);
    assert_int_equal(ledger->coming_milli, coming);
    assert_int_equal(ledger->claimed_milli, 0);
}

static bool random_space(struct random_stream *stream, const struct cluster *cluster, const struct twin *twin,
                         struct space *space)
{
    node_id node = random_below(stream, cluster->node_count);
    const struct node_type *type = cluster_node_type(cluster, node);
    uint32_t gpu = random_below(stream, type->gpu_count);
    *space = (struct space){
        .node = node, .gpu_mask = (uint16_t)(1u << gpu), .member_count = 1, .owner = random_below(stream, 3)};
    if (type->max_tasks != 0 && naive_tasks(twin, node) >= type->max_tasks)
        return false;
    if (!(type->layout_mask >> gpu & 1)) {
        space->gpu_milli = (uint16_t)(random_below(stream, 2) ? GPU_MILLI : 300);
        return naive_free(twin, node, gpu) >= space->gpu_milli;
    }
    uint8_t starts = naive_starts(twin, cluster, node, gpu);
    if (starts == 0)
        return false;
    do
        space->mig_start = (uint8_t)random_below(stream, MIG_SLICES);
    while (!(starts >> space->mig_start & 1));
    space->mig = type->layouts[gpu].profile[space->mig_start];
    space->gpu_milli = (uint16_t)(125 * mig_slices((enum mig_profile_id)(space->mig - 1)));
    return true;
}

static void random_move(struct random_stream *stream, struct ledger *ledger, struct twin *twin)
{
    struct booking *booking = twin->count > 0 ? &twin->bookings[random_below(stream, (uint32_t)twin->count)] : NULL;
    uint32_t what = random_below(stream, 4);
    struct space space;
    if (what <= 1 && twin->count < BOOKED_MAX) {
        if (!random_space(stream, ledger->cluster, twin, &space))
            return;
        if (what == 0)
            ledger_take(ledger, &space);
        else
            ledger_claim(ledger, &space);
        twin->bookings[twin->count++] = (struct booking){space, what == 0 ? USED : CLAIM_USED};
    } else if (booking != NULL && (booking->state == USED || booking->state == CLAIM_USED)) {
        if (what == 2) {
            if (booking->state == CLAIM_USED)
                ledger_unclaim(ledger, &booking->space);
            else
                ledger_give(ledger, &booking->space);
            booking->state = GONE;
        } else {
            ledger_vacate(ledger, &booking->space);
            booking->state = COMING;
        }
    } else if (booking != NULL && booking->state == COMING) {
        if (what == 2) {
            ledger_arrive(ledger, &booking->space);
            booking->state = GONE;
        } else {
            ledger_restore(ledger, &booking->space);
            booking->state = USED;
        }
    }
}

/* As if all that is coming had come; what is foreseen is rolled back. */
static void foresee(struct ledger *ledger, struct twin *twin)
{
    static struct twin future;
    bool any = false;
    future = *twin;
    for (int i = 0; i < future.count; i++)
        if (future.bookings[i].state == COMING && ledger->node_state[future.bookings[i].space.node] == NODE_UP) {
            future.bookings[i].state = GONE;
            any = true;
        }
    uint64_t hash = ledger_hash(ledger);
    size_t mark = ledger_mark(ledger);
    assert_int_equal(ledger_foresee(ledger), any);
    compare_with_twin(ledger, &future);
    ledger_rollback(ledger, mark);
    assert_true(ledger_hash(ledger) == hash);
}

static void forget_gone(struct twin *twin)
{
    int kept = 0;
    for (int i = 0; i < twin->count; i++)
        if (twin->bookings[i].state != GONE)
            twin->bookings[kept++] = twin->bookings[i];
    twin->count = kept;
}

static void run(uint64_t seed)
{
    static struct twin twin, saved[DEPTH_MAX];
    struct random_stream stream;
    struct cluster *cluster = make_cluster();
    struct ledger *ledger = ledger_new(cluster);
    size_t marks[DEPTH_MAX];
    uint64_t hashes[DEPTH_MAX];
    uint32_t depth = 0;
    random_stream_init(&stream, seed, "ledger-mig", 0);
    twin.count = 0;
    for (int step = 0; step < STEPS; step++) {
        uint32_t dice = random_below(&stream, 40);
        if (dice == 0 && depth < DEPTH_MAX) {
            hashes[depth] = ledger_hash(ledger);
            saved[depth] = twin;
            marks[depth++] = ledger_mark(ledger);
        } else if (dice == 1 && depth > 0) {
            ledger_rollback(ledger, marks[--depth]);
            twin = saved[depth];
            assert_true(ledger_hash(ledger) == hashes[depth]);
            compare_with_twin(ledger, &twin);
        } else if (dice == 2 && depth > 0) {
            ledger_commit(ledger, marks[--depth]);
        } else if (dice == 3 && depth == 0) {
            ledger_set_node(ledger, random_below(&stream, cluster->node_count),
                            random_below(&stream, 3) == 0 ? NODE_DOWN : NODE_UP);
        } else if (dice == 4) {
            foresee(ledger, &twin);
        } else {
            random_move(&stream, ledger, &twin);
        }
        if (depth == 0)
            forget_gone(&twin);
        if (step % 16 == 0)
            compare_with_twin(ledger, &twin);
    }
    while (depth > 0)
        ledger_rollback(ledger, marks[--depth]);
    ledger_free(ledger);
    cluster_free(cluster);
}

static void random_moves(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        print_message("seed %d\n", (int)seed);
        run(seed);
    }
}

/* A claim on an instance that is being released is served when it arrives; its neighbours do not notice. */
static void an_instance_can_be_claimed(void **state)
{
    (void)state;
    struct cluster *cluster = make_cluster();
    struct ledger *ledger = ledger_new(cluster);
    uint64_t empty = ledger_hash(ledger);
    struct space victim = {
        .node = 0, .gpu_mask = 1, .gpu_milli = 125, .mig = MIG_1G + 1, .mig_start = 1, .member_count = 1, .owner = 1};
    struct space preemptor = victim, neighbour = victim;
    preemptor.owner = 2;
    neighbour.mig_start = 0;
    ledger_take(ledger, &victim);
    ledger_vacate(ledger, &victim);
    ledger_claim(ledger, &preemptor);
    assert_int_equal(ledger->claimed_milli, 125);
    assert_false(ledger_is_there(ledger, &preemptor));
    ledger_take(ledger, &neighbour);
    assert_true(ledger_is_there(ledger, &neighbour));
    assert_int_equal(ledger_mig_starts(ledger, 0, 0, MIG_1G), 0);
    assert_int_equal(ledger->nodes[0].tasks_free, TASKS_MAX - 3);
    assert_int_equal(ledger->nodes[0].tasks_claimed, 0); /* there was another to be had at once */
    ledger_unclaim(ledger, &preemptor);
    assert_int_equal(ledger->coming_milli, 125);
    ledger_claim(ledger, &preemptor);
    ledger_arrive(ledger, &victim);
    assert_true(ledger_is_there(ledger, &preemptor));
    assert_lawful(ledger_check(ledger));
    ledger_give(ledger, &preemptor);
    ledger_give(ledger, &neighbour);
    assert_int_equal(ledger_mig_starts(ledger, 0, 0, MIG_1G), 3);
    assert_true(ledger_hash(ledger) == empty);
    ledger_free(ledger);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_moves),
        cmocka_unit_test(an_instance_can_be_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
