/* tests/unit/test_placement_topology.c -- the policy `topology`: nodes worked out by hand under three weights. */
#include "tests/support/test.h"

#include "policies/placement/placement_config.h"
#include "policies/placement/placements.h"

enum { NODES = 96, GPUS = 4 }; /* three units of 32 */

/* The node of a member of `gpus` GPUs; of a gang the nodes of its first and last member. */
static node_id place(struct ledger *ledger, uint16_t weight, uint16_t gpus, uint32_t count, node_id *last)
{
    struct placement_config config = placement_config_default();
    struct job_group group = {.request = {.gpus = gpus, .cpu_milli = gpus == 0}, .count = count};
    const uint16_t order = 0;
    struct request_class request_class = {.groups = &group, .order = &order, .group_count = 1, .member_count = count};
    struct piece_list pieces = {0};
    config.topology.weight = weight;
    ledger->placement = &config;
    size_t mark = ledger_mark(ledger);
    assert_true(placement_place(
        ledger, &(struct placement_request){.policy = &placement_topology, .request_class = &request_class, .owner = 1},
        &pieces));
    ledger_rollback(ledger, mark);
    ledger->placement = NULL;
    node_id first = pieces.pieces[0].node;
    if (last != NULL)
        *last = pieces.pieces[pieces.count - 1].node;
    piece_list_release(&pieces);
    return first;
}

static void take(struct ledger *ledger, node_id node, uint16_t mask)
{
    struct space space = {.node = node, .gpu_mask = mask, .gpu_milli = GPU_MILLI, .member_count = 1};
    ledger_take(ledger, &space);
}

/* One GPU of node 40, in the second unit, is in use. */
TEST(clean_units_are_spared_by_weight)
{
    struct cluster *cluster = cluster_uniform_new(NODES, GPUS);
    struct ledger *ledger = ledger_new(cluster);
    node_id last;
    take(ledger, 40, 1);
    assert_int_equal(place(ledger, 0, 4, 1, NULL), 0);  /* all whole nodes are alike */
    assert_int_equal(place(ledger, 1, 4, 1, NULL), 32); /* the lowest of the unit in use */
    assert_int_equal(place(ledger, 1000, 1, 1, NULL), 32);
    assert_int_equal(place(ledger, 500, 1, 1, NULL), 40); /* and the fullest of it */
    assert_int_equal(place(ledger, 0, 1, 1, NULL), 40);
    assert_int_equal(place(ledger, 500, 0, 1, NULL), 0); /* without GPUs */
    /* 31 nodes of the unit are free; then the job breaks the first unit and stays in it. */
    assert_int_equal(place(ledger, 500, 4, 31, &last), 32);
    assert_int_equal(last, 63);
    assert_int_equal(place(ledger, 500, 4, 40, &last), 32);
    assert_int_equal(last, 8);
    ledger_free(ledger);
    cluster_free(cluster);
}

/* A node that is half full, in a unit of its own, against an empty one of a unit in use. */
TEST(the_weight_decides_between_both)
{
    struct cluster *cluster = cluster_uniform_new(NODES, GPUS);
    struct ledger *ledger = ledger_new(cluster);
    cluster->nodes[95].unit = 3; /* alone */
    take(ledger, 70, 0xf);
    assert_int_equal(place(ledger, 500, 2, 1, NULL), 64);
    take(ledger, 95, 0x3);
    assert_int_equal(place(ledger, 500, 2, 1, NULL), 95); /* broken, and full with it */
    assert_int_equal(place(ledger, 1000, 2, 1, NULL), 64);
    ledger_free(ledger);
    cluster_free(cluster);
}
