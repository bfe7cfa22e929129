/* Request classes: how many members the GPUs, CPUs and memory of a node hold, empty or as it is; and what
 * one placement leaves to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/placement/placements.h"
#include "tests/support/json_text.h"

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
    struct request_class_table request_classes;
};

/* A node of 4 large GPUs and one of 4 small ones. */
static struct world two_models(void)
{
    struct world world;
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("cluster", "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 4, "
                                                      "'gpu_model': 'h100-80gb', 'node_name': 'a%u'}, {'name': 'b', "
                                                      "'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 't4-16gb', "
                                                      "'node_name': 'b%u'}]}");
    struct json_value root = json_doc_root(doc, &error);
    world.cluster = cluster_read(&root);
    assert_non_null(world.cluster);
    json_doc_free(doc);
    world.ledger = ledger_new(world.cluster);
    request_class_table_init(&world.request_classes);
    return world;
}

static void release(struct world *world)
{
    request_class_table_release(&world->request_classes);
    ledger_free(world->ledger);
    cluster_free(world->cluster);
}

/* The bit of the node's model. */
static uint64_t model_of(const struct world *world, node_id node)
{
    return UINT64_C(1) << cluster_node_type(world->cluster, node)->model;
}

/* Members on the empty node, by its type; and as it is. */
static void check_room(const struct world *world, struct request request, node_id node, uint32_t empty, uint32_t now)
{
    assert_int_equal(request_class_members_per_node(&request, world->cluster, world->cluster->nodes[node].type, false),
                     empty);
    assert_int_equal(request_class_room(&request, world->ledger, node, NULL), now);
}

static void other_models_hold_nobody(void **state)
{
    (void)state;
    struct world world = two_models();
    for (node_id node = 0; node < 2; node++) {
        check_room(&world, (struct request){.gpus = 1}, node, 4, 4);
        check_room(&world, (struct request){.gpus = 1, .gpu_models = model_of(&world, node)}, node, 4, 4);
        check_room(&world, (struct request){.gpus = 1, .gpu_models = model_of(&world, 1 - node)}, node, 0, 0);
        check_room(&world, (struct request){.gpu_milli = 500, .gpu_models = model_of(&world, 1 - node)}, node, 0, 0);
    }
    release(&world);
}

static void a_gpu_too_small_holds_nobody(void **state)
{
    (void)state;
    struct world world = two_models();
    const struct request request = {.gpu_memory_mib = 40 << 10}; /* half a large one */
    check_room(&world, request, 0, 8, 8);
    assert_int_equal(request_class_members_per_node(&request, world.cluster, world.cluster->nodes[1].type, false), 0);
    release(&world);
}

static void nodes_that_take_no_work_hold_nobody(void **state)
{
    (void)state;
    struct world world = two_models();
    ledger_set_node(world.ledger, 0, NODE_CORDONED);
    check_room(&world, (struct request){.gpus = 2}, 0, 2, 0);
    check_room(&world, (struct request){.gpus = 2}, 1, 2, 2);
    ledger_set_node(world.ledger, 0, NODE_UP);
    check_room(&world, (struct request){.gpus = 2}, 0, 2, 2);
    release(&world);
}

static bool fits(struct world *world, struct request request, node_id node)
{
    struct job job = job_default();
    job.first.request = request;
    uint32_t id = request_class_of(&world->request_classes, world->cluster, &job);
    return request_class_fits_member(&world->request_classes.at[id], world->ledger, node);
}

static void all_that_is_free_is_enough(void **state)
{
    (void)state;
    struct world world = two_models();
    const struct node_cell *cell = &world.ledger->nodes[0];
    assert_true(fits(&world, (struct request){.gpus = 4}, 0));
    assert_false(fits(&world, (struct request){.gpus = 5}, 0));
    assert_true(fits(&world, (struct request){.memory_mib = cell->memory_free}, 0));
    assert_false(fits(&world, (struct request){.memory_mib = cell->memory_free + 1}, 0));
    assert_true(fits(&world, (struct request){.cpu_milli = cell->cpu_free}, 0));
    assert_false(fits(&world, (struct request){.cpu_milli = cell->cpu_free + 1}, 0));
    release(&world);
}

/* However often the table has grown meanwhile. */
static void what_is_asked_again_is_the_same_shape(void **state)
{
    (void)state;
    enum { SHAPES = 300 };
    struct world world = two_models();
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < SHAPES; i++) {
            struct job job = job_default();
            job.first.request.cpu_milli = i + 1;
            assert_int_equal(request_class_of(&world.request_classes, world.cluster, &job), i);
        }
    assert_int_equal(world.request_classes.count, SHAPES);
    release(&world);
}

/* Beside what the job holds, on the second node; the next job, which holds nothing, takes the first of two alike. */
static void what_one_job_holds_is_nothing_to_the_next(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(2, 4);
    struct ledger *ledger = ledger_new(cluster);
    struct request_class_table request_classes;
    struct piece_list pieces = {0};
    struct piece piece = {.node = 1, .gpu_mask = 1, .gpu_milli = GPU_MILLI, .member_count = 1};
    request_class_table_init(&request_classes);
    struct job job = job_default();
    job.first.request.gpus = 1;
    uint32_t id = request_class_of(&request_classes, cluster, &job);
    const struct request_class *request_class = &request_classes.at[id];
    const struct held_pieces all[] = {{&piece, 1}, {NULL, 0}};
    for (uint32_t i = 0; i < 2; i++) {
        size_t mark = ledger_mark(ledger);
        assert_true(
            placement_place(ledger,
                            &(struct placement_request){
                                .policy = &placement_pack, .request_class = request_class, .owner = 1, .held = all[i]},
                            &pieces));
        assert_int_equal(pieces.count, 1);
        assert_int_equal(pieces.pieces[0].node, 1 - i);
        ledger_rollback(ledger, mark);
    }
    piece_list_release(&pieces);
    request_class_table_release(&request_classes);
    ledger_free(ledger);
    cluster_free(cluster);
}

/* The most slots of the table that are taken in a row: who hashes alike stands in one. */
static uint32_t longest_run(const struct request_class_table *request_classes)
{
    uint32_t longest = 0, run = 0;
    for (uint32_t at = 0; at < 2 * request_classes->slot_count; at++) { /* it may go round */
        run = request_classes->slots[at % request_classes->slot_count] != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Request classes that differ in one word alone are found without a look at most of the others. */
static void shapes_are_kept_apart(void **state)
{
    (void)state;
    enum { SHAPES = 64 };
    for (int word = 0; word < 3; word++) {
        struct world world = two_models();
        struct job_set sets[8] = {{.min_members = 0}};
        for (uint32_t s = 0; s < 8; s++)
            sets[s].parent = SET_NONE;
        for (uint32_t i = 0; i < SHAPES; i++) {
            struct job job = job_default();
            struct job_group more[1] = {job.first};
            if (word == 0)
                job.first.request.gpu_models = 3 + 4 * (uint64_t)i;
            else if (word == 1)
                job.first.request.memory_mib = i;
            if (word == 2) {
                job.group_count = 2;
                job.more = more;
                job.sets = sets;
                job.set_count = 8;
                job.first.set = (uint16_t)(i % 8);
                more[0].set = (uint16_t)(i / 8);
            }
            assert_int_equal(request_class_of(&world.request_classes, world.cluster, &job), i);
            assert_int_equal(request_class_of(&world.request_classes, world.cluster, &job), i);
        }
        assert_true(longest_run(&world.request_classes) < SHAPES / 2);
        release(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_models_hold_nobody),
        cmocka_unit_test(a_gpu_too_small_holds_nobody),
        cmocka_unit_test(nodes_that_take_no_work_hold_nobody),
        cmocka_unit_test(all_that_is_free_is_enough),
        cmocka_unit_test(what_one_job_holds_is_nothing_to_the_next),
        cmocka_unit_test(what_is_asked_again_is_the_same_shape),
        cmocka_unit_test(shapes_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
