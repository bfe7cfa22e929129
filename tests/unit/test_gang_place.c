/* tests/unit/test_gang_place.c -- where gangs stand and the links that they share, against numbers worked out by
 * hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"
#include "topologies/cluster_load.h"
#include "topologies/gang_place.h"

static struct cluster *cluster_at(const char *path)
{
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, path);
    assert_string_equal(error_message(&error), "");
    return cluster;
}

static struct cluster *cluster_of(const char *text)
{
    struct json_doc *doc = json_text_parse("cluster", text);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return cluster;
}

/* 500 DGX H100 in units of 32 nodes, where the leaves and spines are oversubscribed. */
static struct cluster *dgx(double leaf, double spine)
{
    struct cluster *cluster = cluster_at("topologies/dgx-h100-500.json");
    cluster->fabric.leaf_oversubscription = leaf;
    cluster->fabric.spine_oversubscription = spine;
    return cluster;
}

static void check_near(double is, double should)
{
    if (!(fabs(is - should) <= 1e-9 * fabs(should)))
        fail_msg("%.12g is not %.12g", is, should);
}

enum { PLACES_MAX = 512 };

struct gang {
    struct link_place places[PLACES_MAX];
    uint32_t count;
};

/* `count` nodes from `first` on, `step` apart, with these GPUs each. */
static void add(struct gang *gang, node_id first, uint32_t step, uint32_t count, uint16_t mask)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_true(gang->count < PLACES_MAX);
        gang->places[gang->count++] = (struct link_place){first + (count - 1 - i) * step, mask};
    }
}

static struct gang_place place_of(const struct cluster *cluster, node_id first, uint32_t step, uint32_t count,
                                  uint16_t mask)
{
    struct gang gang = {.count = 0};
    add(&gang, first, step, count, mask);
    return gang_place_of(cluster, gang.places, &gang.count);
}

static void check_domains(const struct gang_place *place, uint32_t gpus, uint32_t domains, uint32_t least, uint32_t gcd)
{
    assert_int_equal(place->gpu_count, gpus);
    assert_int_equal(place->domain_count, domains);
    assert_int_equal(place->domain_gpus_least, least);
    assert_int_equal(place->domain_gpus_gcd, gcd);
}

static void domains_are_counted(void **state)
{
    (void)state;
    struct cluster *cluster = dgx(1, 1);
    struct gang gang = {.count = 0};
    add(&gang, 9, 1, 1, 0x0f);
    add(&gang, 3, 1, 2, 0xff);
    add(&gang, 9, 1, 1, 0x30);
    add(&gang, 5, 1, 1, 0);
    const struct gang_place place = gang_place_of(cluster, gang.places, &gang.count);
    assert_int_equal(gang.count, 3); /* merged, in order */
    assert_int_equal(gang.places[0].node, 3);
    assert_int_equal(gang.places[2].node, 9);
    assert_int_equal(gang.places[2].gpu_mask, 0x3f);
    check_domains(&place, 22, 3, 6, 2);
    assert_int_equal(place.tier, LINK_SPINE); /* node 9 does not use all rails */
    assert_false(place.is_pcie);
    check_near(place.network_bytes_per_s, 50e9);
    const struct collective_place all = gang_place_all(&place);
    assert_int_equal(all.domain_count, 3);
    assert_int_equal(all.gpu_count, 22);
    cluster_free(cluster);
}

static void one_gpu_and_none(void **state)
{
    (void)state;
    struct cluster *cluster = dgx(4, 1);
    struct gang_place place = place_of(cluster, 7, 1, 1, 0x10);
    check_domains(&place, 1, 1, 1, 1);
    assert_int_equal(place.tier, LINK_NONE);
    place = place_of(cluster, 7, 1, 1, 0);
    assert_int_equal(place.gpu_count, 0);
    assert_true(place.network_bytes_per_s > 0);
    cluster_free(cluster);
}

/* Unit 0 has the nodes 0 to 31, unit 1 those up to 63. */
static void uplinks_are_shared_by_the_gpus_of_a_unit(void **state)
{
    (void)state;
    static const double leaves[] = {1, 4, 8};
    for (size_t i = 0; i < 3; i++) {
        struct cluster *cluster = dgx(leaves[i], 1);
        /* A unit: the uplinks are not crossed. */
        check_near(place_of(cluster, 0, 1, 32, 0xff).network_bytes_per_s, 50e9);
        /* Two full units: each rail has 32 senders, and 32 / oversubscription NICs' worth of uplinks. */
        check_near(place_of(cluster, 0, 1, 64, 0xff).network_bytes_per_s, 50e9 / leaves[i]);
        /* Two nodes in two units: a sender a rail. */
        check_near(place_of(cluster, 31, 1, 2, 0xff).network_bytes_per_s, 50e9);
        /* 32 and 1. */
        check_near(place_of(cluster, 0, 1, 33, 0xff).network_bytes_per_s, 50e9 / leaves[i]);
        /* Ten in each. */
        check_near(place_of(cluster, 22, 1, 20, 0xff).network_bytes_per_s, fmin(50e9, 50e9 * 32 / leaves[i] / 10));
        cluster_free(cluster);
    }
}

static void other_rails_use_the_uplinks_of_their_own_unit(void **state)
{
    (void)state;
    struct cluster *cluster = dgx(8, 1);
    struct gang gang = {.count = 0};
    add(&gang, 0, 1, 31, 0x0f);
    check_near(gang_place_of(cluster, gang.places, &gang.count).network_bytes_per_s, 50e9);
    add(&gang, 31, 1, 1, 0xf0);
    check_near(gang_place_of(cluster, gang.places, &gang.count).network_bytes_per_s, 50e9 * 4 / 31);
    cluster_free(cluster);
}

static void spines_are_shared_by_all_rails(void **state)
{
    (void)state;
    struct cluster *cluster = dgx(2, 4);
    struct gang_place place = place_of(cluster, 0, 1, 64, 0xff);
    assert_int_equal(place.tier, LINK_CORE);
    check_near(place.network_bytes_per_s, 50e9 / 8);
    /* A GPU a node: 32 senders in a unit, and uplinks of 32 NICs (256 / 2 / 4). */
    place = place_of(cluster, 0, 1, 64, 0x01);
    check_near(place.network_bytes_per_s, 50e9 / 2); /* but all on one rail of the leaves */
    cluster->fabric.leaf_oversubscription = 1;
    place = place_of(cluster, 0, 1, 64, 0x01);
    check_near(place.network_bytes_per_s, 50e9);
    place = place_of(cluster, 0, 1, 64, 0x0f);
    check_near(place.network_bytes_per_s, 50e9 * 64 / 128);
    cluster->fabric.cores = 0; /* no such tier */
    check_near(place_of(cluster, 0, 1, 64, 0x0f).network_bytes_per_s, 50e9);
    cluster_free(cluster);
}

/* As links_narrowest says of a gang that fills its units. */
static void full_units_have_what_links_say(void **state)
{
    (void)state;
    static const char *const paths[] = {"topologies/dgx-h100-500.json", "topologies/philly-352.json"};
    for (size_t i = 0; i < 2; i++) {
        struct cluster *cluster = cluster_at(paths[i]);
        cluster->fabric.leaf_oversubscription = 4;
        cluster->fabric.spine_oversubscription = 2;
        struct gang gang = {.count = 0};
        add(&gang, 0, 1, 3 * cluster->fabric.nodes_per_unit, 0xff);
        const struct link link = links_narrowest(cluster, gang.places, gang.count);
        const struct gang_place place = gang_place_of(cluster, gang.places, &gang.count);
        assert_true(fabs(place.network_bytes_per_s - (double)link.bytes_per_s) < 1);
        assert_int_equal(place.tier, link.tier);
        cluster_free(cluster);
    }
}

/* Philly: a NIC of 12.5 GB/s for 8 GPUs without NVLink, racks of 16 nodes, 2:1. */
static void nics_are_links_where_gpus_share_them(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_at("topologies/philly-352.json");
    struct fabric_use uses[64];
    struct gang gang = {.count = 0};
    add(&gang, 14, 1, 3, 0x0f);
    const struct gang_place place = gang_place_of(cluster, gang.places, &gang.count);
    assert_true(place.is_pcie);
    check_near(place.network_bytes_per_s, 12.5e9 / 4);
    assert_int_equal(fabric_link_count(cluster), 352 + 22);
    assert_true(fabric_uses_max(cluster, 3) <= 64);
    const uint32_t count = fabric_uses_of(cluster, gang.places, gang.count, uses);
    assert_int_equal(count, 5);
    static const struct fabric_use should[] = {{14, 4}, {15, 4}, {16, 4}, {352, 8}, {353, 4}};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(uses[i].link, should[i].link);
        assert_int_equal(uses[i].senders, should[i].senders);
        check_near(fabric_link_bytes_per_s(cluster, uses[i].link), i < 3 ? 12.5e9 : 12.5e9 * 16 / 2);
    }
    /* One node sends nothing. */
    gang.count = 0;
    add(&gang, 3, 1, 1, 0xff);
    assert_int_equal(gang_place_of(cluster, gang.places, &gang.count).tier, LINK_PCIE);
    assert_int_equal(fabric_uses_of(cluster, gang.places, gang.count, uses), 0);
    cluster_free(cluster);
}

/* One rail with 8 NICs: the leaf of a unit has them all. */
static void one_rail_may_have_many_nics(void **state)
{
    (void)state;
    struct cluster *cluster =
        cluster_of("{'name': 'c', 'pools': [{'name': 'p', 'nodes': 8, 'gpus_per_node': 8, 'gpu_model': 'h100',"
                   " 'nics': 8}], 'fabric': {'nodes_per_unit': 4, 'rails': 1, 'leaf_oversubscription': 2}}");
    struct fabric_use uses[16];
    struct gang gang = {.count = 0};
    add(&gang, 0, 1, 8, 0xff);
    check_near(gang_place_of(cluster, gang.places, &gang.count).network_bytes_per_s, 25e9);
    assert_int_equal(fabric_link_count(cluster), 2);
    assert_int_equal(fabric_uses_of(cluster, gang.places, gang.count, uses), 2);
    assert_int_equal(uses[1].link, 1);
    assert_int_equal(uses[1].senders, 32);
    check_near(fabric_link_bytes_per_s(cluster, 1), 4 * 8 * 50e9 / 2);
    cluster_free(cluster);
}

static void without_oversubscription_no_link_is_too_narrow(void **state)
{
    (void)state;
    struct cluster *cluster = dgx(1, 1);
    struct gang gang = {.count = 0};
    add(&gang, 0, 1, 64, 0xff);
    gang_place_of(cluster, gang.places, &gang.count);
    assert_int_equal(fabric_link_count(cluster), 0);
    assert_int_equal(fabric_uses_max(cluster, 64), 0);
    assert_int_equal(fabric_uses_of(cluster, gang.places, gang.count, NULL), 0);
    cluster_free(cluster);
}

static void racks_and_islands(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_at("topologies/nvl72-8.json");
    cluster->fabric.leaf_oversubscription = 4;
    struct gang_place place = place_of(cluster, 0, 1, 16, 0x0f);
    check_domains(&place, 64, 1, 64, 64);
    assert_int_equal(place.tier, LINK_NVLINK);
    check_near(place.network_bytes_per_s, 50e9);
    place = place_of(cluster, 10, 1, 16, 0x0f);
    check_domains(&place, 64, 2, 32, 32);
    check_near(place.network_bytes_per_s, 50e9 * 18 / 4 / 8);
    assert_int_equal(place.system.domain_gpus, 72);
    cluster_free(cluster);
    cluster = dgx(1, 1);
    for (uint32_t g = 4; g < 8; g++)
        cluster->pools[0].gpu_island[g] = 1;
    assert_false(place_of(cluster, 0, 1, 2, 0xf0).is_pcie);
    assert_true(place_of(cluster, 0, 1, 2, 0x18).is_pcie);
    assert_int_equal(place_of(cluster, 0, 1, 1, 0x18).domain_count, 1);
    cluster_free(cluster);
}

/* ---- systems ---- */

static struct collective_system system_of(const char *gpus)
{
    char text[512];
    snprintf(text, sizeof text, "{'name': 'c', 'pools': [{'name': 'p', 'nodes': 4, %s}], 'fabric': {'rail_gbps': 100}}",
             gpus);
    struct cluster *cluster = cluster_of(text);
    struct collective_system system = collective_system_of(cluster, 0);
    check_near(system.nic_bytes_per_s, 12.5e9);
    system.gpu_model = NULL; /* the cluster's */
    cluster_free(cluster);
    return system;
}

static void systems_follow_the_model(void **state)
{
    (void)state;
    const struct collective_system *h100 = collective_system_find(TEXT("h100"));
    struct collective_system system = system_of("'gpus_per_node': 8, 'gpu_model': 'h100'");
    assert_string_equal(system.name, "h100");
    system = system_of("'gpus_per_node': 4, 'gpu_model': 'h200', 'nvlink_nodes': 2");
    assert_string_equal(system.name, "h200");
    assert_int_equal(system.node_gpus, 4);
    assert_int_equal(system.domain_gpus, 8);
    system = system_of("'gpus_per_node': 4, 'gpu_model': 'b200', 'nvlink_nodes': 18");
    assert_string_equal(system.name, "nvl72");
    system = system_of("'gpus_per_node': 8, 'gpu_model': 'b200'");
    assert_string_equal(system.name, "b200");
    system = system_of("'gpus_per_node': 8, 'gpu_model': 'a100-40'"); /* NVLink as the A100 of 80 GB */
    assert_string_equal(system.name, "a100");
    system = system_of("'gpus_per_node': 8, 'gpu_model': 'h100', 'nvlink_island': 0");
    assert_false(system.has_nvlink);
    system = system_of("'gpus_per_node': 8, 'gpu_model': 'v100-16'"); /* 150 of 450 GB/s, before NVLS */
    check_near(system.ring_bytes_per_s, h100->ring_bytes_per_s / 3);
    assert_true(system.nvls_bytes_per_s <= 0 && system.has_nvlink);
    system = system_of("'gpus_per_node': 8");
    assert_false(system.has_nvlink);
    check_near(system.ring_bytes_per_s, collective_system_find(TEXT("h100-pcie"))->ring_bytes_per_s);
}

static void gb200_is_as_nvl72(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_at("topologies/nvl72-8.json");
    assert_string_equal(collective_system_of(cluster, 0).name, "nvl72");
    cluster_free(cluster);
}

/* ---- the best ---- */

static void best_places(void **state)
{
    (void)state;
    struct cluster *cluster = dgx(4, 1);
    struct gang_place place = gang_place_best(cluster, 0, 8, 8, true);
    check_domains(&place, 8, 1, 8, 8);
    assert_int_equal(place.tier, LINK_NVLINK);
    place = gang_place_best(cluster, 0, 20, 1, true);
    check_domains(&place, 20, 3, 4, 4);
    place = gang_place_best(cluster, 0, 20, 1, false);
    check_domains(&place, 20, 3, 6, 1);
    place = gang_place_best(cluster, 0, 24, 3, false); /* two members of 3 in a node */
    check_domains(&place, 24, 4, 6, 6);
    place = gang_place_best(cluster, 0, 256, 8, true); /* a unit */
    assert_int_equal(place.tier, LINK_LEAF);
    check_near(place.network_bytes_per_s, 50e9);
    place = gang_place_best(cluster, 0, 512, 8, true); /* 4 nodes in each of 16 units, where uplinks are of 8 NICs */
    assert_int_equal(place.tier, LINK_CORE);
    check_near(place.network_bytes_per_s, 50e9);
    place = gang_place_best(cluster, 0, 2400, 8, true); /* 300 nodes: 19 in a unit */
    check_near(place.network_bytes_per_s, 50e9 * 8 / 19);
    place = gang_place_best(cluster, 0, 4000, 8, true); /* all: 32 in a unit, 20 in the last */
    check_near(place.network_bytes_per_s, 50e9 * 8 / 32);
    cluster_free(cluster);
}

static void the_best_place_of_shared_nics(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_at("topologies/philly-352.json");
    struct gang_place place = gang_place_best(cluster, 0, 16, 1, true);
    check_domains(&place, 16, 2, 8, 8);
    check_near(place.network_bytes_per_s, 12.5e9 / 8);
    place = gang_place_even(cluster, 0, 16, 1, 1, 2);
    check_domains(&place, 16, 8, 2, 2);
    check_near(place.network_bytes_per_s, 12.5e9 / 2);
    assert_true(place.is_pcie);
    cluster_free(cluster);
}

/* 32 nodes in one unit and one in the other: the full unit has 32 senders a rail. */
static void a_small_last_unit_takes_few(void **state)
{
    (void)state;
    struct cluster *cluster =
        cluster_of("{'name': 'c', 'pools': [{'name': 'p', 'nodes': 33, 'gpus_per_node': 8, 'gpu_model': 'h100'}],"
                   " 'fabric': {'leaf_oversubscription': 4}}");
    check_near(gang_place_best(cluster, 0, 264, 8, true).network_bytes_per_s, 50e9 / 4);
    check_near(place_of(cluster, 0, 1, 33, 0xff).network_bytes_per_s, 50e9 / 4);
    cluster_free(cluster);
}

/* GPUs 0, 2, 4, 6 have a NIC each; all eight share them.  Islands of four have two. */
static void the_best_place_uses_as_many_nics_and_one_island(void **state)
{
    (void)state;
    struct cluster *cluster =
        cluster_of("{'name': 'c', 'pools': [{'name': 'p', 'nodes': 4, 'gpus_per_node': 8, 'gpu_model': 'h100',"
                   " 'nics': 4}]}");
    check_near(gang_place_even(cluster, 0, 16, 4, 4, 1).network_bytes_per_s, 50e9);
    check_near(place_of(cluster, 0, 1, 4, 0x55).network_bytes_per_s, 50e9);
    check_near(gang_place_even(cluster, 0, 16, 4, 4, 2).network_bytes_per_s, 25e9);
    cluster_free(cluster);
    cluster = cluster_of("{'name': 'c', 'pools': [{'name': 'p', 'nodes': 4, 'gpus_per_node': 8, 'gpu_model': 'h100',"
                         " 'nics': 4, 'nvlink_island': 4}]}");
    const struct gang_place one = gang_place_even(cluster, 0, 16, 4, 4, 1),
                            two = gang_place_best(cluster, 0, 16, 4, true);
    check_near(one.network_bytes_per_s, 25e9);
    assert_false(one.is_pcie);
    assert_true(two.is_pcie);
    assert_int_equal(two.domain_count, 2);
    cluster_free(cluster);
}

/* Two pools: the slower GPUs count, and the links of the second pool follow those of the first. */
static void a_gang_in_two_pools(void **state)
{
    (void)state;
    struct cluster *cluster =
        cluster_of("{'name': 'c', 'pools': [{'name': 'p', 'nodes': 4, 'gpus_per_node': 8, 'gpu_model': 'h100',"
                   " 'nics': 4}, {'name': 'q', 'nodes': 4, 'gpus_per_node': 8, 'gpu_model': 'a100-80', 'nics': 2}],"
                   " 'fabric': {'rails': 4}}");
    struct fabric_use uses[32];
    for (uint32_t order = 0; order < 2; order++) {
        struct gang gang = {.count = 0};
        add(&gang, order == 0 ? 3 : 5, 1, 1, 0xff);
        add(&gang, order == 0 ? 5 : 3, 1, 1, 0x0f);
        const struct gang_place place = gang_place_of(cluster, gang.places, &gang.count);
        assert_string_equal(place.system.name, "a100");
        assert_true(place.bf16_tflops > 311 && place.bf16_tflops < 313);
        const uint32_t count = fabric_uses_of(cluster, gang.places, gang.count, uses);
        assert_int_equal(count, order == 0 ? 5 : 4);
        assert_int_equal(uses[0].link, 3 * 4);
        assert_int_equal(uses[0].senders, 2);
        assert_int_equal(uses[count - 1].link, 16 + 1 * 4 + (order == 0 ? 0 : 1));
        assert_int_equal(uses[count - 1].senders, 4);
        check_near(fabric_link_bytes_per_s(cluster, uses[count - 1].link), 50e9);
    }
    assert_int_equal(fabric_link_count(cluster), 2 * 16);
    cluster_free(cluster);
}

static void the_best_place_of_racks(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_at("topologies/nvl72-8.json");
    struct gang_place place = gang_place_best(cluster, 0, 64, 4, true);
    check_domains(&place, 64, 1, 64, 64);
    place = gang_place_best(cluster, 0, 144, 4, true);
    check_domains(&place, 144, 2, 72, 72);
    assert_int_equal(place.tier, LINK_SPINE); /* a rack is a unit */
    cluster->fabric.leaf_oversubscription = 4;
    place = gang_place_best(cluster, 0, 144, 4, true); /* two racks are two units, all their GPUs send */
    check_near(place.network_bytes_per_s, 50e9 / 4);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_are_counted),
        cmocka_unit_test(one_gpu_and_none),
        cmocka_unit_test(uplinks_are_shared_by_the_gpus_of_a_unit),
        cmocka_unit_test(other_rails_use_the_uplinks_of_their_own_unit),
        cmocka_unit_test(spines_are_shared_by_all_rails),
        cmocka_unit_test(full_units_have_what_links_say),
        cmocka_unit_test(nics_are_links_where_gpus_share_them),
        cmocka_unit_test(one_rail_may_have_many_nics),
        cmocka_unit_test(without_oversubscription_no_link_is_too_narrow),
        cmocka_unit_test(racks_and_islands),
        cmocka_unit_test(systems_follow_the_model),
        cmocka_unit_test(gb200_is_as_nvl72),
        cmocka_unit_test(best_places),
        cmocka_unit_test(the_best_place_of_shared_nics),
        cmocka_unit_test(a_small_last_unit_takes_few),
        cmocka_unit_test(the_best_place_uses_as_many_nics_and_one_island),
        cmocka_unit_test(a_gang_in_two_pools),
        cmocka_unit_test(the_best_place_of_racks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
