/* tests/unit/test_communication.c -- speeds of jobs where they stand, against closed forms. */
#include <math.h>

#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "topologies/cluster_load.h"
#include "topologies/communication.h"

enum { PLACES_MAX = 800 };

static struct cluster *cluster_at(const char *path)
{
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, path);
    assert_string_equal(error_message(&error), "");
    return cluster;
}

static struct cluster *dgx(double leaf)
{
    struct cluster *cluster = cluster_at("topologies/dgx-h100-500.json");
    cluster->fabric.leaf_oversubscription = leaf;
    return cluster;
}

static void check_near(double is, double should)
{
    if (!(fabs(is - should) <= 1e-9 * fabs(should)))
        fail_msg("%.12g is not %.12g", is, should);
}

static struct gang_place place_of(const struct cluster *cluster, node_id first, uint32_t step, uint32_t count,
                                  uint16_t mask)
{
    struct link_place places[PLACES_MAX];
    assert_true(count <= PLACES_MAX);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct link_place){first + i * step, mask};
    return gang_place_of(cluster, places, &count);
}

static struct communication sensitivity_of(const char *name)
{
    const struct sensitivity *found = sensitivity_find(text_of(name));
    assert_non_null(found);
    return (struct communication){.sensitivity = *found};
}

/* Against the best place of as many GPUs, in members of a node's GPUs. */
static struct communication_time time_at(const struct communication *communication, const struct cluster *cluster,
                                         const struct gang_place *place)
{
    const uint32_t gpus = place->gpu_count, node = cluster->types[0].gpu_count;
    const struct gang_place best = communication_best(communication, cluster, 0, gpus, gpus < node ? 1 : node);
    return communication_time(communication, place, &best, place->network_bytes_per_s);
}

/* ---- sensitivities ---- */

TEST(names)
{
    static const char *const should[] = {"none", "compute_bound", "all_reduce_bound", "skewed", "bandwidth_bound"};
    uint32_t count;
    const struct sensitivity *table = sensitivity_table(&count);
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(table[i].name, should[i]);
        assert_ptr_equal(sensitivity_find(text_of(should[i])), &table[i]);
    }
    assert_null(sensitivity_find(TEXT("skew")));
}

TEST(nothing_declared_runs_at_full_speed)
{
    struct cluster *cluster = dgx(8);
    const struct gang_place far = place_of(cluster, 0, 32, 15, 0x01);
    const struct communication none = sensitivity_of("none");
    const struct gang_place best = communication_best(NULL, cluster, 0, 15, 1);
    assert_int_equal(best.gpu_count, 15);
    struct communication_time time = communication_time(NULL, &far, &best, 1e6);
    assert_true(time.speed >= 1 && time.speed <= 1);
    time = communication_time(&none, &far, &best, 1e6);
    assert_true(time.speed >= 1 && time.network_ratio <= 0 && time.exposed_ratio <= 0);
    cluster_free(cluster);
}

/* All-gather of 8 GB by 64 GPUs: a ring over 8 domains, 14 us, 56 steps of 1.9 us and 7 of 4 us. */
static double gather_s(uint32_t gpus, uint32_t domains, double nic)
{
    const double ring = fmin(386e9, (double)gpus / domains * nic * 0.966);
    return 14e-6 + 1.9e-6 * (gpus - domains) + 4e-6 * (domains - 1.0) + (gpus - 1.0) / gpus * 8e9 / ring;
}

TEST(a_sensitivity_by_hand)
{
    static const double leaves[] = {1, 4, 8};
    const struct communication own = {
        .sensitivity = {
            .name = "", .kind = COLLECTIVE_ALL_GATHER, .exposed_ratio = 0.3, .hidden_ratio = 0.5, .bytes = 8e9}};
    for (size_t i = 0; i < 3; i++) {
        struct cluster *cluster = dgx(leaves[i]);
        /* In one unit. */
        struct gang_place place = place_of(cluster, 0, 1, 8, 0xff);
        struct communication_time time = time_at(&own, cluster, &place);
        check_near(time.speed, 1);
        check_near(time.step_s, 1);
        check_near(time.exposed_ratio, 0.3);
        check_near(time.network_ratio, 0.6);
        /* A GPU on each of 64 nodes of one rail, in two units: 32 senders where the uplinks are of 32 / r NICs. */
        place = place_of(cluster, 0, 1, 64, 0x01);
        time = time_at(&own, cluster, &place);
        const double all = 0.6 * gather_s(64, 64, 50e9 / leaves[i]) / gather_s(64, 8, 50e9);
        const double step = 0.7 + fmax(0.5 * all, all - 0.9 * 0.7);
        check_near(time.step_s, step);
        check_near(time.speed, 1 / step);
        check_near(time.exposed_ratio, 1 - 0.7 / step);
        check_near(time.network_ratio, fmin(1, all / step));
        /* Two full units: as fast as all the best that 512 GPUs get, at 1:1. */
        place = place_of(cluster, 0, 1, 64, 0xff);
        time = time_at(&own, cluster, &place);
        const double full = 0.6 * gather_s(512, 64, 50e9 / leaves[i]) / gather_s(512, 64, 50e9);
        check_near(time.speed, 1 / (0.7 + fmax(0.5 * full, full - 0.63)));
        cluster_free(cluster);
    }
}

/* Some place is the best one: 60 nodes, 4 in each unit; all 500; GPUs on nodes of their own, where they share NICs. */
TEST(the_best_place_exists)
{
    struct communication own = {
        .sensitivity = {.kind = COLLECTIVE_ALL_GATHER, .exposed_ratio = 0.3, .hidden_ratio = 0.5, .bytes = 8e9}};
    struct cluster *cluster = dgx(4);
    struct gang_place place = place_of(cluster, 0, 8, 60, 0xff);
    assert_true(time_at(&own, cluster, &place).speed >= 1);
    place = place_of(cluster, 0, 1, 500, 0xff);
    assert_true(time_at(&own, cluster, &place).speed >= 1);
    place = place_of(cluster, 0, 1, 60, 0xff); /* two units: 32 senders a rail */
    assert_true(time_at(&own, cluster, &place).speed < 0.7);
    cluster_free(cluster);
    cluster = cluster_at("topologies/philly-352.json");
    own.sensitivity.kind = COLLECTIVE_ALL_TO_ALL;
    place = place_of(cluster, 0, 1, 16, 0x01); /* a NIC for each GPU */
    const struct gang_place best = communication_best(&own, cluster, 0, 16, 1),
                            packed = place_of(cluster, 0, 1, 2, 0xff);
    assert_true(communication_time(&own, &place, &best, 12.5e9).speed >= 1);
    assert_true(communication_time(&own, &packed, &best, packed.network_bytes_per_s).speed < 0.5);
    cluster_free(cluster);
}

/* A sensitivity that hides more at its best place than elsewhere could be hidden is still 1 there. */
TEST(the_best_place_has_speed_one)
{
    const struct communication own = {
        .sensitivity = {.kind = COLLECTIVE_ALL_REDUCE, .exposed_ratio = 0.9, .hidden_ratio = 0.95, .bytes = 1e9}};
    struct cluster *cluster = dgx(1);
    const struct gang_place place = place_of(cluster, 0, 1, 4, 0xff);
    const struct communication_time time = time_at(&own, cluster, &place);
    check_near(time.step_s, 1);
    assert_true(time.speed >= 1);
    cluster_free(cluster);
}

TEST(sensitivities_are_in_order)
{
    static const char *const order[] = {"none", "compute_bound", "all_reduce_bound", "skewed", "bandwidth_bound"};
    struct cluster *cluster = dgx(1);
    const struct gang_place far = place_of(cluster, 0, 1, 8, 0x01);
    double last = 2;
    for (size_t i = 0; i < 5; i++) {
        const struct communication communication = sensitivity_of(order[i]);
        const double speed = time_at(&communication, cluster, &far).speed;
        assert_true(speed < last && speed > 0.3);
        last = speed;
    }
    assert_true(last < 0.7);
    cluster_free(cluster);
}

/* ---- plans ---- */

static struct communication plan_of(const char *text)
{
    struct json_doc *doc = json_text_parse("plan", text);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    const struct communication communication = {.has_plan = true, .plan = training_plan_read(&root)};
    json_doc_free(doc);
    assert_string_equal(error_message(&error), "");
    return communication;
}

static struct communication gpt_70b(void)
{
    return plan_of("{'layers': 84, 'hidden': 8192, 'sequence': 4096, 'vocabulary': 131072,"
                   " 'tp': 8, 'pp': 2, 'dp': 48, 'batch': 384}");
}

/* As training_links_packed says: 437 to 237 TFLOP/s by a coarser formula, with 40 GB/s reached. */
TEST(tensor_parallelism_over_nodes_is_slow)
{
    const struct communication plan = gpt_70b();
    const struct collective_system *h100 = collective_system_find(TEXT("h100"));
    struct cluster *cluster = dgx(1);
    const double network = 40e9 / 0.966;
    struct gang_place near = place_of(cluster, 0, 1, 96, 0xff), far = near;
    const struct training_links links = training_links_packed(&plan.plan, h100, network, 1);
    struct communication_time time = communication_time(&plan, &near, &near, network);
    check_near(time.step_s, training_time(&plan.plan, &links, 989.4).step_s);
    check_near(time.mfu_ratio, training_time(&plan.plan, &links, 989.4).mfu_ratio);
    near.network_bytes_per_s = network;
    far.domain_count = 768;
    far.domain_gpus_least = far.domain_gpus_gcd = 1;
    time = communication_time(&plan, &far, &near, network);
    assert_true(fabs(1 - time.speed - 0.46) < 0.03);
    assert_true(time.network_ratio > 0.5);
    cluster_free(cluster);
}

/* The same formula at 40, 20, 10, 5 GB/s: 437, 430, 306, 165. */
TEST(replicas_need_the_network)
{
    static const double gb_per_s[] = {40, 20, 10, 5}, tflops[] = {437, 430, 306, 165};
    const struct communication plan = gpt_70b();
    struct cluster *cluster = dgx(1);
    struct gang_place place = place_of(cluster, 0, 1, 96, 0xff);
    place.network_bytes_per_s = 40e9 / 0.966;
    for (size_t i = 0; i < 4; i++) {
        const struct communication_time time = communication_time(&plan, &place, &place, gb_per_s[i] * 1e9 / 0.966);
        assert_true(fabs(time.speed - tflops[i] / tflops[0]) < 0.05);
    }
    cluster_free(cluster);
}

TEST(a_plan_in_one_rack_or_two)
{
    const struct communication plan = plan_of("{'layers': 64, 'hidden': 8192, 'sequence': 4096, 'vocabulary': 131072,"
                                              " 'tp': 16, 'dp': 4, 'batch': 64}");
    struct cluster *cluster = cluster_at("topologies/nvl72-8.json");
    struct gang_place rack = place_of(cluster, 0, 1, 16, 0x0f), two = place_of(cluster, 10, 1, 16, 0x0f);
    struct communication_time time = time_at(&plan, cluster, &rack);
    check_near(time.speed, 1);
    assert_true(time.network_ratio <= 0);
    time = time_at(&plan, cluster, &two); /* 32 in each: TP stays whole, 2 replicas in each */
    assert_true(time.speed < 1 && time.speed > 0.8 && time.network_ratio > 0);
    two = place_of(cluster, 9, 1, 16, 0x0f); /* 36 and 28: 4 of a TP group together */
    assert_int_equal(two.domain_gpus_gcd, 4);
    assert_true(time_at(&plan, cluster, &two).speed < 0.9 * time.speed);
    cluster_free(cluster);
}

/* A node whose GPUs have NVLink in halves: a TP group of all goes by PCIe. */
TEST(tensor_parallelism_over_islands_is_slow)
{
    struct communication plan = gpt_70b();
    struct cluster *cluster = dgx(1);
    const struct gang_place whole = place_of(cluster, 0, 1, 96, 0xff);
    struct gang_place split = whole;
    split.is_pcie = true;
    const struct communication_time time = communication_time(&plan, &split, &whole, 50e9);
    assert_true(time.speed < 0.7);
    cluster_free(cluster);
}

/* All-gathers of 4 MB: the model's ring has no start-up over two nodes; even so they are not faster than in one. */
TEST(two_nodes_are_not_faster_than_one)
{
    const struct collective_system *h100 = collective_system_find(TEXT("h100"));
    const struct collective_place one = collective_place_even(h100, 1, 8, 50e9),
                                  two = collective_place_even(h100, 2, 4, 50e9);
    const double near = collective_time(COLLECTIVE_ALL_GATHER, &one, 4e6).s;
    assert_true(collective_time(COLLECTIVE_ALL_GATHER, &two, 4e6).s < near);
    check_near(collective_group_s(COLLECTIVE_ALL_GATHER, &two, 4e6), near);
    check_near(collective_group_s(COLLECTIVE_ALL_GATHER, &one, 4e6), near);
    check_near(collective_group_s(COLLECTIVE_ALL_GATHER, &two, 4e9),
               collective_time(COLLECTIVE_ALL_GATHER, &two, 4e9).s);
}

/* Fewer GPUs than the plan has: fewer replicas, each with the batch that it had. */
TEST(members_that_left_are_replicas_less)
{
    const struct communication plan = gpt_70b();
    struct communication half = plan;
    half.plan.dp = 24;
    half.plan.batch = 192;
    struct cluster *cluster = dgx(1);
    const struct gang_place place = place_of(cluster, 0, 1, 48, 0xff);
    const struct communication_time a = communication_time(&plan, &place, &place, 50e9),
                                    b = communication_time(&half, &place, &place, 50e9);
    check_near(a.step_s, b.step_s);
    check_near(a.speed, 1);
    const struct gang_place node = place_of(cluster, 0, 1, 1, 0x0f); /* not even one replica */
    assert_true(communication_time(&plan, &node, &place, 50e9).speed > 0);
    cluster_free(cluster);
}

/* Eight GPUs that exchange 100 MB all to all, in one node and in two, by the transport and the NVLink of the file. */
TEST(a_cluster_has_wires_of_its_own)
{
    struct cluster *cluster = cluster_at("topologies/dgx-h100-500.json");
    const struct communication bound = sensitivity_of("bandwidth_bound");
    cluster->transport.step_s = 2e-3;
    cluster->transport.rate_ratio = 0.5;
    cluster->fabric.nvlink_ratio = 0.8;
    const struct gang_place two = place_of(cluster, 0, 1, 2, 0x0f);
    const double near = 14e-6 + 1.9e-6 + 7.0 / 8 * 1e8 / (0.8 * 364e9);
    const double far = 14e-6 + 2e-3 + 0.5 * 1e8 / (50e9 * 0.5);
    check_near(time_at(&bound, cluster, &two).speed, 1 / (0.9 + 0.1 * far / near));
    check_near(two.system.nvls_bytes_per_s, 0.8 * 310e9);
    check_near(two.system.through_bytes_per_s, 0.8 * 386e9);
    cluster_free(cluster);
}
