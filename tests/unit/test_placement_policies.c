/* tests/unit/test_placement_policies.c -- where each policy puts members, on clusters small enough to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "policies/placement/placements.h"
#include "tests/support/json_text.h"
#include "tests/support/lawful.h"

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
    struct request_class_table request_classes;
    struct piece_list pieces;
};

static struct world world_of(const char *text)
{
    struct world world = {0};
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "cluster", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    world.cluster = cluster_read(&root);
    if (world.cluster == NULL)
        fail_msg("%s", error_text_new(&error));
    json_doc_free(doc);
    world.ledger = ledger_new(world.cluster);
    request_class_table_init(&world.request_classes);
    return world;
}

static void release(struct world *world)
{
    assert_lawful(ledger_check(world->ledger));
    piece_list_release(&world->pieces);
    request_class_table_release(&world->request_classes);
    ledger_free(world->ledger);
    cluster_free(world->cluster);
}

/* Whole GPUs, a share, or neither of the node are taken by somebody else. */
static void occupy(struct world *world, node_id node, uint16_t gpu_mask, uint16_t gpu_milli)
{
    struct space space = {.node = node, .gpu_mask = gpu_mask, .gpu_milli = gpu_milli, .member_count = 1};
    ledger_take(world->ledger, &space);
}

static const struct request_class *request_class_for(struct world *world, const struct job *job)
{
    uint32_t id = request_class_of(&world->request_classes, world->cluster, job);
    return &world->request_classes.at[id];
}

static struct job job_of(struct request request, uint32_t count)
{
    struct job job = job_default();
    job.first = (struct job_group){.request = request, .count = count, .min_count = count};
    return job;
}

/* Node indices of the pieces in their order, as text: "0 1 1"; "none" if the job does not fit. */
static void check_nodes(struct world *world, const struct placement_policy *policy, const struct job *job,
                        struct held_pieces held, const char *expected)
{
    struct buffer text = {0};
    size_t mark = ledger_mark(world->ledger);
    if (!placement_place(
            world->ledger,
            &(struct placement_request){
                .policy = policy, .request_class = request_class_for(world, job), .owner = 1, .held = held},
            &world->pieces))
        buffer_string(&text, "none");
    else
        for (uint32_t i = 0; i < world->pieces.count; i++)
            for (uint32_t m = 0; m < world->pieces.pieces[i].member_count; m++)
                buffer_format(&text, "%s%u", text.length > 0 ? " " : "", world->pieces.pieces[i].node);
    ledger_rollback(world->ledger, mark);
    if (strcmp(buffer_c_string(&text), expected) != 0)
        fail_msg("%s: on %s, not %s", policy->name, buffer_c_string(&text), expected);
    buffer_release(&text);
}

#define HELD_NONE ((struct held_pieces){NULL, 0})
#define UNIFORM(nodes, gpus)                                                                                           \
    "{'pools': [{'nodes': " nodes ", 'gpus_per_node': " gpus "}], 'fabric': {'nodes_per_unit': 2}}"

static void pack_takes_few_nodes_and_spread_many(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("4", "4"));
    struct job three = job_of((struct request){.gpus = 1}, 3);
    struct job six = job_of((struct request){.gpus = 1}, 6);
    occupy(&world, 0, 3, GPU_MILLI); /* free: 2 4 3 4 */
    occupy(&world, 2, 1, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &three, HELD_NONE, "0 0 2");
    check_nodes(&world, &placement_pack, &three, HELD_NONE, "2 2 2");
    check_nodes(&world, &placement_strict_pack, &three, HELD_NONE, "2 2 2");
    check_nodes(&world, &placement_spread, &three, HELD_NONE, "0 2 1");
    check_nodes(&world, &placement_strict_spread, &three, HELD_NONE, "0 2 1");
    check_nodes(&world, &placement_pack, &six, HELD_NONE, "1 1 1 1 0 0");
    check_nodes(&world, &placement_strict_pack, &six, HELD_NONE, "none");
    check_nodes(&world, &placement_spread, &six, HELD_NONE, "0 2 1 3 0 2");
    check_nodes(&world, &placement_strict_spread, &six, HELD_NONE, "none");
    release(&world);
}

static void members_held_count(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("4", "4"));
    struct job one = job_of((struct request){.gpus = 1}, 1);
    struct piece piece = {.node = 1, .gpu_mask = 1, .gpu_milli = GPU_MILLI, .member_count = 1};
    struct held_pieces held = {&piece, 1};
    occupy(&world, 1, 1, GPU_MILLI);
    check_nodes(&world, &placement_pack, &one, held, "1");
    check_nodes(&world, &placement_strict_pack, &one, held, "1");
    check_nodes(&world, &placement_spread, &one, held, "0");
    check_nodes(&world, &placement_best_fit, &one, held, "1");
    occupy(&world, 1, 14, GPU_MILLI);
    check_nodes(&world, &placement_pack, &one, held, "0");
    check_nodes(&world, &placement_strict_pack, &one, held, "none");
    occupy(&world, 0, 15, GPU_MILLI);
    occupy(&world, 2, 15, GPU_MILLI);
    occupy(&world, 3, 15, GPU_MILLI);
    check_nodes(&world, &placement_strict_spread, &one, held, "none");
    release(&world);
}

/* Where KAI's packing and best fit part ways. */
static void binpack_is_not_best_fit(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("3", "4"));
    struct job whole = job_of((struct request){.gpus = 1}, 1);
    struct job share = job_of((struct request){.gpu_milli = 300}, 1);
    occupy(&world, 0, 1, 100); /* left: 3.9, of which 3 are whole */
    occupy(&world, 1, 1, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &whole, HELD_NONE, "0");
    check_nodes(&world, &placement_binpack, &whole, HELD_NONE, "1");
    check_nodes(&world, &placement_binpack, &share, HELD_NONE, "0"); /* shared already */
    occupy(&world, 0, 1, 600);                                       /* 300 of it left */
    occupy(&world, 2, 14, GPU_MILLI);
    occupy(&world, 2, 1, 500); /* node 2 has 500 left in all */
    check_nodes(&world, &placement_best_fit, &share, HELD_NONE, "0");
    check_nodes(&world, &placement_binpack, &share, HELD_NONE, "2");
    release(&world);
}

static void binpack_counts_what_is_being_released(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("2", "4"));
    struct job whole = job_of((struct request){.gpus = 1}, 1);
    struct space leaving = {.node = 0, .gpu_mask = 3, .gpu_milli = GPU_MILLI};
    occupy(&world, 0, 3, GPU_MILLI);
    occupy(&world, 1, 1, GPU_MILLI);
    ledger_vacate(world.ledger, &leaving);
    check_nodes(&world, &placement_best_fit, &whole, HELD_NONE, "0");
    check_nodes(&world, &placement_binpack, &whole, HELD_NONE, "1");
    release(&world);
}

static void members_without_gpus_prefer_nodes_without(void **state)
{
    (void)state;
    struct world world = world_of("{'pools': [{'nodes': 1, 'gpus_per_node': 4, 'cpus': 8},{'name': 'cpu', "
                                  "'node_name': 'c%u', 'nodes': 2, 'gpus_per_node': 0, 'cpus': 16}]}");
    struct job job = job_of((struct request){.cpu_milli = 4000}, 1);
    struct space half = {.node = 2, .cpu_milli = 8000, .member_count = 1};
    ledger_take(world.ledger, &half);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "1");
    check_nodes(&world, &placement_binpack, &job, HELD_NONE, "2"); /* the fuller */
    release(&world);
}

/* (free - asked) * 100 / capacity of CPU and memory, mean, cut: 62 + 75 against 87 + 25. */
/* A member without GPUs is no share: gathered on nodes of shares it would take the CPUs that shares need. */
static void gpu_policies_see_no_difference_for_members_without_gpus(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("3", "4"));
    struct job cpus = job_of((struct request){.cpu_milli = 1000}, 1);
    struct job share = job_of((struct request){.gpu_milli = 300}, 1);
    occupy(&world, 1, 1, 400);
    occupy(&world, 2, 3, GPU_MILLI);
    check_nodes(&world, &placement_gpu_clustering, &share, HELD_NONE, "1");
    check_nodes(&world, &placement_gpu_clustering, &cpus, HELD_NONE, "0");
    check_nodes(&world, &placement_gpu_packing, &cpus, HELD_NONE, "0");
    release(&world);
}

static void least_allocated_spreads_by_cpu_and_memory(void **state)
{
    (void)state;
    struct world world = world_of("{'pools': [{'nodes': 2, 'gpus_per_node': 4, 'cpus': 16, 'memory_gb': 8}]}");
    struct job job = job_of((struct request){.cpu_milli = 2000, .memory_mib = 1024}, 1);
    struct job gpu = job_of((struct request){.gpus = 1}, 1);
    struct space cpus = {.node = 0, .cpu_milli = 4000, .memory_mib = 1024};
    struct space memory = {.node = 1, .memory_mib = 5120};
    ledger_take(world.ledger, &memory);
    check_nodes(&world, &placement_least_allocated, &job, HELD_NONE, "0");
    ledger_take(world.ledger, &cpus);
    check_nodes(&world, &placement_least_allocated, &job, HELD_NONE, "0");
    check_nodes(&world, &placement_worst_fit, &job, HELD_NONE, "0");
    cpus.memory_mib = 4096;
    ledger_take(world.ledger, &cpus); /* 37 + 25 now */
    check_nodes(&world, &placement_least_allocated, &job, HELD_NONE, "1");
    occupy(&world, 1, 15, GPU_MILLI); /* GPUs do not count here, */
    check_nodes(&world, &placement_least_allocated, &job, HELD_NONE, "1");
    check_nodes(&world, &placement_least_allocated, &gpu, HELD_NONE, "0");
    check_nodes(&world, &placement_least_allocated_gpus, &job, HELD_NONE, "0"); /* here they do */
    release(&world);
}

/* ---- topology ---- */

/* Units of two nodes. */
static void the_fullest_unit_that_fits_is_taken(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("6", "4"));
    struct job job = job_of((struct request){.gpus = 2}, 3);
    occupy(&world, 0, 15, GPU_MILLI); /* units have free: 4, 8, 6 */
    occupy(&world, 4, 3, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "4 1 1");
    job.topology.required = 1;
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "4 5 5");
    check_nodes(&world, &placement_first_fit, &job, HELD_NONE, "4 5 5");
    job.first.count = job.first.min_count = 4;
    check_nodes(&world, &placement_worst_fit, &job, HELD_NONE, "2 3 2 3");
    job.topology.required = 2;
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "none");
    job.first.count = job.first.min_count = 5;
    job.topology = (struct topology_ask){.required = 1};
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "none");
    assert_true(request_class_for(&world, &job)->never_fits);
    release(&world);
}

static void what_is_down_is_not_free(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("4", "4"));
    struct job job = job_of((struct request){.gpus = 1}, 2);
    job.topology.required = 1;
    occupy(&world, 0, 1, GPU_MILLI); /* units have free: 7, 8 */
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "0 0");
    ledger_set_node(world.ledger, 3, NODE_CORDONED); /* 7, 4 */
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "2 2");
    release(&world);
}

/* First one node, then one unit; then units one after another, the emptiest first. */
static void a_preferred_level_widens(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("6", "4"));
    struct job job = job_of((struct request){.gpus = 1}, 2);
    job.topology.preferred = 2;
    occupy(&world, 0, 14, GPU_MILLI); /* free: 1 1 | 3 2 | 3 3 */
    occupy(&world, 1, 14, GPU_MILLI);
    occupy(&world, 2, 1, GPU_MILLI);
    occupy(&world, 3, 3, GPU_MILLI);
    occupy(&world, 4, 1, GPU_MILLI);
    occupy(&world, 5, 1, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "3 3");
    job.first.count = job.first.min_count = 5;
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "2 2 2 3 3");
    job.first.count = job.first.min_count = 7;
    job.topology.preferred = 1;
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "4 4 4 5 5 5 3");
    job.topology.preferred = 2;
    job.topology.required = 1;
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "none");
    release(&world);
}

static void held_members_bind(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("4", "4"));
    struct job job = job_of((struct request){.gpus = 2}, 2);
    struct piece piece = {.node = 2, .gpu_mask = 3, .gpu_milli = GPU_MILLI, .member_count = 1};
    struct held_pieces held = {&piece, 1};
    occupy(&world, 2, 3, GPU_MILLI);
    occupy(&world, 0, 7, GPU_MILLI);
    job.topology.required = 1;
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "1 1");
    check_nodes(&world, &placement_best_fit, &job, held, "2 3");
    occupy(&world, 3, 15, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &job, held, "none");
    job.topology = (struct topology_ask){.preferred = 1};
    check_nodes(&world, &placement_best_fit, &job, held, "1 1");
    release(&world);
}

/* Tensor-parallel groups, each on one node, all in one unit. */
static void sets_nest(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("6", "4"));
    struct job_group more = {.request = {.gpus = 1}, .count = 3, .min_count = 3, .set = 1};
    struct job_set sets[] = {{.name = "a", .parent = SET_NONE, .topology = {.required = 2}},
                             {.name = "b", .parent = SET_NONE, .topology = {.required = 2}}};
    struct job job = job_of((struct request){.gpus = 1}, 3);
    job.group_count = 2;
    job.more = &more;
    job.set_count = 2;
    job.sets = sets;
    occupy(&world, 0, 3, GPU_MILLI); /* free: 2 4 | 4 2 | 3 4 */
    occupy(&world, 3, 3, GPU_MILLI);
    occupy(&world, 4, 1, GPU_MILLI);
    check_nodes(&world, &placement_first_fit, &job, HELD_NONE, "4 4 4 1 1 1");
    job.topology.required = 1;
    check_nodes(&world, &placement_first_fit, &job, HELD_NONE, "4 4 4 5 5 5");
    job.topology = (struct topology_ask){.preferred = 1};
    check_nodes(&world, &placement_first_fit, &job, HELD_NONE, "4 4 4 5 5 5");
    occupy(&world, 4, 2, GPU_MILLI);
    check_nodes(&world, &placement_first_fit, &job, HELD_NONE, "1 1 1 2 2 2");
    job.topology = (struct topology_ask){.required = 1};
    check_nodes(&world, &placement_first_fit, &job, HELD_NONE, "none");
    release(&world);
}

/* A set inside a set: the inner one is bound by what the outer one requires. */
static void an_inner_set_stays_inside(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("4", "4"));
    struct job_group more = {.request = {.gpus = 4}, .count = 1, .min_count = 1, .set = 1};
    struct job_set sets[] = {{.name = "outer", .parent = SET_NONE, .topology = {.required = 1}},
                             {.name = "inner", .parent = 0, .topology = {.required = 2}}};
    struct job job = job_of((struct request){.gpus = 3}, 1);
    job.group_count = 2;
    job.more = &more;
    job.set_count = 2;
    job.sets = sets;
    occupy(&world, 0, 1, GPU_MILLI); /* free: 3 3 | 3 4 */
    occupy(&world, 1, 1, GPU_MILLI);
    occupy(&world, 2, 1, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "2 3");
    sets[1].topology.required = 1; /* no narrower than what is around it */
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "2 3");
    occupy(&world, 2, 2, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "none");
    release(&world);
}

/* ---- nodes that are not like others ---- */

#define MIG_NODES                                                                                                      \
    "{'pools': [{'nodes': 2, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', "                                           \
    "'gpus_layout': [['3g.40gb', '3g.40gb'], ['4g.40gb', '1g.10gb', '2g.20gb']]},"                                     \
    "{'name': 'whole', 'node_name': 'w%u', 'nodes': 1, 'gpus_per_node': 2, "                                           \
    "'gpu_model': 'h100-80gb'}]}"

static void instances_are_taken_one_by_one(void **state)
{
    (void)state;
    struct world world = world_of(MIG_NODES);
    struct job two = job_of((struct request){.mig = MIG_3G + 1}, 2);
    struct job many = job_of((struct request){.mig = MIG_3G + 1}, 5);
    struct job four = job_of((struct request){.mig = MIG_4G + 1}, 3);
    struct job whole = job_of((struct request){.gpus = 1}, 2);
    struct job share = job_of((struct request){.gpu_milli = 100}, 1);
    check_nodes(&world, &placement_best_fit, &two, HELD_NONE, "0 0");
    check_nodes(&world, &placement_worst_fit, &two, HELD_NONE, "0 1");
    check_nodes(&world, &placement_spread, &two, HELD_NONE, "0 1");
    check_nodes(&world, &placement_best_fit, &whole, HELD_NONE, "2 2");
    check_nodes(&world, &placement_best_fit, &share, HELD_NONE, "2");
    assert_true(request_class_for(&world, &many)->never_fits);
    assert_true(request_class_for(&world, &four)->never_fits);
    whole.first.request.gpus = 2;
    assert_true(request_class_for(&world, &whole)->never_fits);
    size_t mark = ledger_mark(world.ledger);
    assert_true(placement_place(world.ledger,
                                &(struct placement_request){.policy = &placement_best_fit,
                                                            .request_class = request_class_for(&world, &two),
                                                            .owner = 1},
                                &world.pieces));
    assert_int_equal(world.pieces.count, 2); /* one member a piece */
    assert_int_equal(world.pieces.pieces[0].mig_start, 0);
    assert_int_equal(world.pieces.pieces[1].mig_start, 4);
    assert_int_equal(world.pieces.pieces[1].gpu_milli, 500);
    assert_int_equal(world.pieces.pieces[1].gpu_mask, 1);
    assert_true(request_class_fits_member(request_class_for(&world, &two), world.ledger, 1));
    assert_false(request_class_fits_member(request_class_for(&world, &two), world.ledger, 0));
    assert_false(request_class_fits_member(request_class_for(&world, &two), world.ledger, 2));
    ledger_rollback(world.ledger, mark);
    assert_true(request_class_fits_member(request_class_for(&world, &two), world.ledger, 0));
    release(&world);
}

static void tainted_and_full_nodes_take_nobody(void **state)
{
    (void)state;
    struct world world = world_of("{'pools': [{'name': 't', 'node_name': 't%u', 'nodes': 1, 'gpus_per_node': 4, "
                                  "'taints': ['a:NoSchedule']},{'nodes': 2, 'gpus_per_node': 4, 'max_tasks': 2}]}");
    struct job job = job_of((struct request){.gpus = 1}, 3);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "1 1 2");
    check_nodes(&world, &placement_pack, &job, HELD_NONE, "1 1 2");
    struct job many = job_of((struct request){.gpus = 1}, 5);
    assert_true(request_class_for(&world, &many)->never_fits);
    assert_false(request_class_fits_member(request_class_for(&world, &job), world.ledger, 0));
    occupy(&world, 1, 1, GPU_MILLI);
    occupy(&world, 1, 2, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "none");
    assert_false(request_class_fits_member(request_class_for(&world, &job), world.ledger, 1));
    occupy(&world, 0, 1, GPU_MILLI); /* what runs there already may */
    assert_lawful(ledger_check(world.ledger));
    ledger_set_node(world.ledger, 0, NODE_DOWN);
    ledger_set_node(world.ledger, 0, NODE_UP);
    check_nodes(&world, &placement_best_fit, &job, HELD_NONE, "none");
    release(&world);
}

/* ---- Buddy cells, and how many nodes a bound leaves to be looked at ---- */

/* Free: a pair on the first node, three GPUs apart on the second, all four on the third.  A single GPU splits no pair,
 * though the first node is the fullest; who asks two gets the pair. */
static void a_single_gpu_splits_no_cell(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("3", "8"));
    struct job one = job_of((struct request){.gpus = 1}, 1);
    struct job two = job_of((struct request){.gpus = 2}, 1);
    occupy(&world, 0, 0xfc, GPU_MILLI);
    occupy(&world, 1, 0xea, GPU_MILLI);
    occupy(&world, 2, 0xf0, GPU_MILLI);
    check_nodes(&world, &placement_buddy, &one, HELD_NONE, "1");
    check_nodes(&world, &placement_buddy, &two, HELD_NONE, "0");
    check_nodes(&world, &placement_best_fit, &one, HELD_NONE, "0");
    release(&world);
}

static const struct placement_policy *counted;
static uint32_t look_count;

static int64_t counting_score(const struct spot *spot)
{
    look_count++;
    return counted->score(spot);
}

/* Nodes, or GPUs, that are looked at to place the job. */
static uint32_t looks_at(struct world *world, const struct placement_policy *policy, const struct job *job)
{
    struct placement_policy counting = *policy;
    size_t mark = ledger_mark(world->ledger);
    counted = policy;
    counting.score = counting_score;
    look_count = 0;
    assert_true(placement_place(
        world->ledger,
        &(struct placement_request){.policy = &counting, .request_class = request_class_for(world, job), .owner = 1},
        &world->pieces));
    ledger_rollback(world->ledger, mark);
    return look_count;
}

/* Buddy: the first node has a cell of just one GPU, and no other is looked at.  Gather: of shared GPUs that with the
 * least left goes, and those of its kind score no higher; the others are left out. */
static void what_cannot_win_is_not_looked_at(void **state)
{
    (void)state;
    struct world world = world_of(UNIFORM("4", "8"));
    struct job one = job_of((struct request){.gpus = 1}, 1);
    struct job share = job_of((struct request){.gpu_milli = 100}, 1);
    for (node_id n = 0; n < 4; n++)
        occupy(&world, n, 0x7f, GPU_MILLI); /* GPU 7 is free */
    assert_int_equal(looks_at(&world, &placement_buddy, &one), 1);
    assert_int_equal(looks_at(&world, &placement_gather, &one), 1);
    world.ledger->room = (const uint8_t[]){8, 8, 8, 8}; /* none is firm: not as bounded */
    assert_int_equal(looks_at(&world, &placement_gather, &one), 4);
    world.ledger->room = NULL;
    for (node_id n = 0; n < 4; n++)
        occupy(&world, n, 0x80, (uint16_t)(600 + 100 * (n / 2))); /* left: 400 400 300 300 */
    check_nodes(&world, &placement_gather, &share, HELD_NONE, "2");
    assert_int_equal(looks_at(&world, &placement_gather, &share), 1);
    release(&world);
}

/* Best fit stops at the fullest node with room: one without CPUs left has none, however full it is. */
static void the_fullest_with_room_ends_the_search(void **state)
{
    (void)state;
    struct world world = world_of("{'pools': [{'nodes': 3, 'gpus_per_node': 8, 'cpus': 16}]}");
    struct job one = job_of((struct request){.gpus = 1, .cpu_milli = 1000}, 1);
    struct space cpus = {.node = 2, .cpu_milli = 16000};
    occupy(&world, 1, 0x0f, GPU_MILLI);
    occupy(&world, 2, 0x7f, GPU_MILLI);
    check_nodes(&world, &placement_best_fit, &one, HELD_NONE, "2");
    assert_int_equal(looks_at(&world, &placement_best_fit, &one), 1);
    ledger_take(world.ledger, &cpus);
    check_nodes(&world, &placement_best_fit, &one, HELD_NONE, "1");
    assert_int_equal(looks_at(&world, &placement_best_fit, &one), 2);
    release(&world);
}

/* Who says that more free GPUs score lower must mean it. */
static void prefers_full_is_true(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t p = 0; placement_policies[p] != NULL; p++) {
        const struct placement_policy *policy = placement_policies[p];
        if (!policy->prefers_full)
            continue;
        count++;
        assert_false(policy->looks_at_nodes);
        for (int32_t free = 1; free < NODE_GPUS_MAX; free++) {
            struct spot fuller = {.gpus = 1, .gpu_left = GPU_MILLI, .node_free = free};
            struct spot freer = {.gpus = 1, .gpu_left = GPU_MILLI, .node_free = free + 1};
            assert_true(policy->score(&fuller) > policy->score(&freer));
        }
    }
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pack_takes_few_nodes_and_spread_many),
        cmocka_unit_test(members_held_count),
        cmocka_unit_test(binpack_is_not_best_fit),
        cmocka_unit_test(binpack_counts_what_is_being_released),
        cmocka_unit_test(members_without_gpus_prefer_nodes_without),
        cmocka_unit_test(gpu_policies_see_no_difference_for_members_without_gpus),
        cmocka_unit_test(least_allocated_spreads_by_cpu_and_memory),
        cmocka_unit_test(the_fullest_unit_that_fits_is_taken),
        cmocka_unit_test(what_is_down_is_not_free),
        cmocka_unit_test(a_preferred_level_widens),
        cmocka_unit_test(held_members_bind),
        cmocka_unit_test(sets_nest),
        cmocka_unit_test(an_inner_set_stays_inside),
        cmocka_unit_test(instances_are_taken_one_by_one),
        cmocka_unit_test(tainted_and_full_nodes_take_nobody),
        cmocka_unit_test(a_single_gpu_splits_no_cell),
        cmocka_unit_test(what_cannot_win_is_not_looked_at),
        cmocka_unit_test(the_fullest_with_room_ends_the_search),
        cmocka_unit_test(prefers_full_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
