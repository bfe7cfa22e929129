/* tests/unit/test_cluster.c -- clusters from JSON: the files we ship, defaults, and bad input. */
#include <stdio.h>

#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "topologies/cluster.h"
#include "topologies/cluster_build.h"
#include "topologies/cluster_load.h"

static struct error read_text(struct cluster **out, const char *text)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    *out = NULL;
    TRY(json_text_read(&doc, "c.json", text));
    struct json_value root = json_doc_root(doc, &error);
    *out = cluster_read(&root);
    json_doc_free(doc);
    return error;
}

static void show_and_fail(struct error *error)
{
    char *report = error_text_new(error);
    fail_msg("%s", report);
}

static struct cluster *cluster_of(const char *text)
{
    struct cluster *cluster;
    struct error error = read_text(&cluster, text);
    if (error_is(error))
        show_and_fail(&error);
    assert_non_null(cluster);
    return cluster;
}

static struct cluster *cluster_at(const char *path)
{
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, path);
    if (error_is(error))
        show_and_fail(&error);
    return cluster;
}

/* What must hold of every cluster, whatever it was made from. */
static void check_laws(const struct cluster *cluster)
{
    uint32_t gpus = 0, of_types = 0;
    uint64_t cpu_milli = 0, memory_mib = 0;
    for (uint32_t i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        const struct node_pool *pool = &cluster->pools[node->pool];
        assert_int_equal(node->first_gpu, gpus);
        assert_in_range(i, pool->first, pool->first + pool->node_count - 1);
        assert_int_equal(node->type, pool->type);
        assert_true(node->unit < cluster->fabric.unit_count);
        assert_true(i == 0 || node->unit == node[-1].unit || node->unit == node[-1].unit + 1);
        gpus += cluster_node_gpus(cluster, i);
        cpu_milli += cluster_node_type(cluster, i)->cpu_milli;
        memory_mib += cluster_node_type(cluster, i)->memory_mib;
    }
    for (uint32_t i = 0; i < cluster->type_count; i++)
        of_types += cluster->types[i].node_count;
    assert_int_equal(gpus, cluster->gpu_count);
    assert_int_equal(of_types, cluster->node_count);
    assert_true(cpu_milli == cluster->cpu_milli && memory_mib == cluster->memory_mib);
    assert_true(cluster->model_count >= 1);
    for (uint32_t i = 0; i < cluster->pool_count; i++) {
        assert_in_range(cluster->pools[i].nic_count, 1, NODE_GPUS_MAX);
        for (unsigned gpu = 0; gpu < NODE_GPUS_MAX; gpu++) {
            assert_true(cluster->pools[i].gpu_rail[gpu] < cluster->fabric.rails);
            assert_true(cluster->pools[i].gpu_numa[gpu] < cluster->pools[i].numa_count);
        }
    }
}

/* DGX H100 SuperPOD RA-11333, table 3, the row of 16 units: 128 leaves, 128 spines, 64 cores. */
TEST(the_500_dgx_h100_are_a_superpod_of_16_units)
{
    struct cluster *cluster = cluster_at("topologies/dgx-h100-500.json");
    check_laws(cluster);
    assert_string_equal(cluster->name, "dgx-h100-500");
    assert_int_equal(cluster->node_count, 500);
    assert_int_equal(cluster->gpu_count, 4000);
    assert_int_equal(cluster->type_count, 1);
    assert_string_equal(cluster->models[cluster->types[0].model].name, "h100-80gb");
    const struct fabric *fabric = &cluster->fabric;
    assert_int_equal(fabric->unit_count, 16);
    assert_int_equal(fabric->leaves, 128);
    assert_int_equal(fabric->spines, 128);
    assert_int_equal(fabric->cores, 64);
    assert_int_equal(fabric->rails, 8);
    assert_true(fabric->rail_bytes_per_s == 50e9);
    assert_int_equal(cluster->nodes[479].unit, 14);
    assert_int_equal(cluster->nodes[480].unit, 15);
    assert_int_equal(cluster->nodes[499].unit, 15);
    const struct node_pool *pool = &cluster->pools[0];
    for (unsigned gpu = 0; gpu < 8; gpu++) {
        assert_int_equal(pool->gpu_rail[gpu], gpu);
        assert_int_equal(pool->gpu_numa[gpu], gpu / 4);
        assert_int_equal(pool->gpu_island[gpu], 0);
    }
    assert_int_equal(pool->gpu_island[8], NVLINK_NONE);
    cluster_free(cluster);
}

TEST(philly_is_352_nodes_of_8)
{
    struct cluster *cluster = cluster_at("topologies/philly-352.json");
    check_laws(cluster);
    assert_int_equal(cluster->node_count, 352);
    assert_int_equal(cluster->gpu_count, 2816);
    assert_int_equal(cluster->fabric.unit_count, 22);
    assert_int_equal(cluster->fabric.leaves, 22);
    assert_int_equal(cluster->fabric.cores, 0);
    assert_int_equal(cluster->pools[0].nic_count, 1);
    assert_int_equal(cluster->pools[0].gpu_rail[7], 0);
    assert_int_equal(cluster->pools[0].gpu_island[0], NVLINK_NONE);
    cluster_free(cluster);
}

TEST(nodes_and_gpus_are_enough)
{
    struct cluster *cluster = cluster_of("{'pools':[{'nodes':10,'gpus_per_node':8}]}");
    check_laws(cluster);
    assert_int_equal(cluster->gpu_count, 80);
    assert_string_equal(cluster->models[0].name, "generic");
    assert_int_equal(cluster->types[0].cpu_milli, CLUSTER_AMPLE_CPU_MILLI);
    assert_int_equal(cluster->types[0].memory_mib, CLUSTER_AMPLE_MEMORY_MIB);
    assert_string_equal(cluster->pools[0].name, "pool0");
    assert_string_equal(cluster->nodes[9].name, "n9");
    assert_int_equal(cluster->pools[0].nic_count, 8);
    assert_int_equal(cluster->pools[0].numa_count, 1);
    assert_int_equal(cluster->fabric.unit_count, 1);
    assert_int_equal(cluster->fabric.rails, 8);
    assert_int_equal(cluster->fabric.leaves, 8);
    assert_int_equal(cluster->fabric.spines, 4);
    cluster_free(cluster);
}

TEST(pools_of_many_kinds)
{
    struct cluster *cluster =
        cluster_of("{'gpu_models': [{'name': 'MX1', 'memory_gb': 96, 'sm_count': 100,\n"
                   "    'power_w': 550, 'nvlink_gb_per_s': 100, 'mig_like': 'a100-40gb',\n"
                   "    'aliases': ['mx-one']}],\n"
                   " 'pools': [\n"
                   "  {'name': 'login', 'nodes': 2, 'gpus_per_node': 0, 'cpus': 64.5, 'memory_gb': 0.5},\n"
                   "  {'name': 'mx', 'nodes': 3, 'gpus_per_node': 4, 'gpu_model': 'mx-ONE', 'nics': 2,\n"
                   "   'numa_nodes': 2, 'nvlink_island': 2, 'node_name': 'mx%03u-a', 'cpus': 8,\n"
                   "   'labels': {'zone': 'b', 'rack': 'r1'}},\n"
                   "  {'name': 'mx2', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'mx1', 'cpus': 8,\n"
                   "   'nvlink_island': 2, 'labels': {'rack': 'r1', 'zone': 'b'}, 'price_usd_per_gpu_h': 1.25},\n"
                   "  {'name': 'mx3', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'mx1', 'cpus': 8,\n"
                   "   'labels': {'rack': 'r2', 'zone': 'b'}}]}");
    check_laws(cluster);
    assert_int_equal(cluster->type_count, 3); /* mx and mx2 differ in order of labels alone */
    assert_int_equal(cluster->pools[1].type, cluster->pools[2].type);
    assert_int_equal(cluster->types[cluster->pools[1].type].node_count, 4);
    assert_int_equal(cluster->types[cluster->pools[1].type].island_gpus, 2);
    assert_int_equal(cluster->types[cluster->pools[3].type].island_gpus, 4);
    assert_true(cluster->has_split_nodes);
    assert_int_equal(cluster->model_count, 1);
    assert_string_equal(cluster->models[0].name, "mx1");
    assert_int_equal(cluster->models[0].memory_mib, 96 * 1024);
    assert_int_equal(cluster->models[0].mig, MIG_A100_40);
    assert_int_equal(cluster_model_of(cluster, TEXT("Mx-One")), 0);
    assert_int_equal(cluster_model_of(cluster, TEXT("generic")), CLUSTER_MODELS_MAX);
    assert_int_equal(cluster->types[0].cpu_milli, 64500);
    assert_int_equal(cluster->types[0].memory_mib, 512);
    assert_string_equal(cluster->nodes[2].name, "mx002-a");
    const struct node_pool *mx = &cluster->pools[1];
    assert_int_equal(mx->gpu_island[1], 0);
    assert_int_equal(mx->gpu_island[2], 1);
    assert_int_equal(mx->gpu_rail[1], 0);
    assert_int_equal(mx->gpu_rail[2], 1);
    assert_int_equal(mx->gpu_numa[2], 1);
    assert_true(cluster->pools[2].price_usd_per_gpu_h == 1.25);
    assert_int_equal(cluster->fabric.rails, 4);      /* mx2: a NIC per GPU */
    assert_int_equal(cluster->fabric.unit_count, 4); /* a pool begins a unit */
    assert_string_equal(cluster->types[cluster->pools[3].type].labels[0].value, "r2");
    cluster_free(cluster);
}

/* DGX H100 SuperPOD RA-11333, table 3: all its rows come out of the derivation. */
TEST(switches_are_derived_as_the_reference_architecture_has_them)
{
    static const uint32_t rows[][4] = {{4, 32, 16, 0}, {8, 64, 32, 0}, {16, 128, 128, 64}, {32, 256, 256, 128}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fabric fabric = fabric_default();
        fabric.unit_count = rows[i][0];
        fabric.rails = 8;
        fabric_derive_switches(&fabric);
        assert_int_equal(fabric.leaves, rows[i][1]);
        assert_int_equal(fabric.spines, rows[i][2]);
        assert_int_equal(fabric.cores, rows[i][3]);
    }
}

TEST(more_nics_than_rails_share_them)
{
    struct cluster *cluster = cluster_of("{'pools': [{'nodes': 1, 'gpus_per_node': 8, 'nics': 4}],\n"
                                         " 'fabric': {'rails': 2}}");
    check_laws(cluster);
    for (unsigned gpu = 0; gpu < 8; gpu++)
        assert_int_equal(cluster->pools[0].gpu_rail[gpu], gpu / 2 % 2);
    cluster_free(cluster);
}

TEST(a_uniform_cluster_is_for_tests)
{
    struct cluster *cluster = cluster_uniform_new(100, 8);
    check_laws(cluster);
    assert_int_equal(cluster->gpu_count, 800);
    assert_string_equal(cluster->nodes[99].name, "n99");
    cluster_free(cluster);
    cluster = cluster_uniform_new(1, 0);
    check_laws(cluster);
    assert_string_equal(cluster->models[0].name, "generic");
    cluster_free(cluster);
    cluster_free(NULL);
}

static void check_refused(const char *text, const char *first_line, const char *rest)
{
    struct cluster *cluster;
    struct error error = read_text(&cluster, text);
    assert_null(cluster);
    if (!error_is(error))
        fail_msg("accepted: %s", text);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *report = error_text_new(&error);
    size_t length = strcspn(report, "\n");
    if (strlen(first_line) != length || strncmp(report, first_line, length) != 0)
        fail_msg("for %s\nexpected %s\ngot      %s", text, first_line, report);
    if (strstr(report, rest) == NULL)
        fail_msg("for %s\nexpected '%s' in\n%s", text, rest, report);
    free(report);
    error_release(&error);
}

/* Most cases spoil one field of this; it stands in column 13 of line 1. */
#define POOL(fields) "{'pools': [{'nodes': 2, 'gpus_per_node': 8, " fields "}]}"

/* So that a mix of pools can do without one of them. */
TEST(a_pool_without_nodes_is_as_if_it_were_not_there)
{
    struct cluster *without = cluster_of("{'pools': [{'nodes': 2, 'gpus_per_node': 8}]}");
    struct cluster *with = cluster_of("{'pools': [{'name': 'none', 'nodes': 0, 'gpus_per_node': 4, 'gpu_model': "
                                      "'a100-40gb'}, {'name': 'pool0', 'nodes': 2, 'gpus_per_node': 8}]}");
    struct buffer texts[2] = {{0}, {0}};
    cluster_write(without, &texts[0]);
    cluster_write(with, &texts[1]);
    assert_string_equal(buffer_c_string(&texts[0]), buffer_c_string(&texts[1]));
    buffer_release(&texts[0]);
    buffer_release(&texts[1]);
    cluster_free(without);
    cluster_free(with);
}

TEST(bad_pools_are_refused_with_their_place)
{
    check_refused("{}", "error: c.json:1:1: 'pools' is missing", "");
    check_refused("{'pools': []}", "error: c.json:1:11: a cluster needs at least one pool", "at /pools");
    check_refused("{'pools': [{'gpus_per_node': 8}]}", "error: c.json:1:12: 'nodes' is missing", "at /pools/0");
    check_refused("{'pools': [{'nodes': 2}]}", "error: c.json:1:12: 'gpus_per_node' is missing", "at /pools/0");
    check_refused("{'pools': [{'nodes': -1, 'gpus_per_node': 8}]}",
                  "error: c.json:1:22: 'nodes' must be an integer from 0 to 1000000, got -1", "at /pools/0/nodes");
    check_refused("{'pools': [{'nodes': 0, 'gpus_per_node': 8}]}",
                  "error: c.json:1:11: a cluster needs at least one node", "at /pools");
    check_refused("{'pools': [{\n"
                  " 'nodes': 2,\n"
                  "  'gpus_per_node': '8'}]}",
                  "error: c.json:3:20: 'gpus_per_node' must be an integer from 0 to 16, got \"8\"",
                  "at /pools/0/gpus_per_node");
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 17}]}",
                  "error: c.json:1:42: 'gpus_per_node' must be an integer from 0 to 16, got 17",
                  "at /pools/0/gpus_per_node");
    check_refused(POOL("'gpu_model': 'h100-80g'"), "error: c.json:1:58: unknown GPU model 'h100-80g'",
                  "did you mean 'h100-80gb'?");
    check_refused(POOL("'gpu_model': 'zzz'"), "error: c.json:1:58: unknown GPU model 'zzz'",
                  "define it under 'gpu_models'");
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 0, 'gpu_model': 't4'}]}",
                  "error: c.json:1:58: nodes without GPUs have no 'gpu_model'", "at /pools/0/gpu_model");
    check_refused(POOL("'name': ''"), "error: c.json:1:53: a pool's name must not be empty", "at /pools/0/name");
    check_refused("{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 1},\n"
                  "{'name': 'a', 'nodes': 1, 'gpus_per_node': 1}]}",
                  "error: c.json:2:10: there is a pool named 'a' already", "at /pools/1/name");
    check_refused("{'pools': [{'nodes': 999999, 'gpus_per_node': 1},\n"
                  "{'nodes': 2, 'gpus_per_node': 1}]}",
                  "error: c.json:2:11: more than 1000000 nodes in one cluster", "at /pools/1/nodes");
    check_refused(POOL("'gpus': 8"), "error: c.json:1:45: unknown key 'gpus'", "at /pools/0");
}

TEST(bad_insides_are_refused_with_their_place)
{
    check_refused(POOL("'nvlink_island': 3, 'gpu_model': 'h100'"),
                  "error: c.json:1:62: 'nvlink_island' must be 0 or divide the 8 GPUs of a node, "
                  "got 3",
                  "at /pools/0/nvlink_island");
    check_refused(POOL("'nvlink_island': 1"),
                  "error: c.json:1:62: 'nvlink_island' must be 0 or divide the 8 GPUs of a node, "
                  "got 1",
                  "at /pools/0/nvlink_island");
    check_refused(POOL("'nvlink_island': 8, 'gpu_model': 't4'"),
                  "error: c.json:1:62: GPU model 't4-16gb' has no NVLink", "at /pools/0/nvlink_island");
    check_refused(POOL("'node_name': 'n'"), "error: c.json:1:58: 'node_name' must hold %u (or %04u) once, got \"n\"",
                  "the node's number");
    check_refused(POOL("'node_name': 'n%u%s'"),
                  "error: c.json:1:58: 'node_name' must hold %u (or %04u) once, got \"n%u%s\"",
                  "at /pools/0/node_name");
    check_refused(POOL("'node_name': 'n%d'"),
                  "error: c.json:1:58: 'node_name' must hold %u (or %04u) once, got \"n%d\"", "");
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 1, 'node_names': ['a']}]}",
                  "error: c.json:1:59: there are 1 names for 2 nodes", "at /pools/0/node_names");
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 1, 'node_names': ['a', 'a']}]}",
                  "error: c.json:1:65: there is a node named 'a' already", "at /pools/0/node_names/1");
    check_refused("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'node_names': ['a'], 'node_name': 'n%u'}]}",
                  "error: c.json:1:59: 'node_name' and 'node_names' say the same", "");
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 1, 'node_name': 'a%u0'},\n"
                  "{'nodes': 10, 'gpus_per_node': 1, 'node_name': 'a%u'}]}",
                  "error: c.json:2:1: there is a node named 'a10' already", "another 'node_name'");
}

TEST(bad_models_are_refused_with_their_place)
{
#define MODEL(fields) "{'gpu_models': [{" fields "}], 'pools': [{'nodes': 1, 'gpus_per_node': 1}]}"
    check_refused(MODEL("'name': 'H100', 'memory_gb': 1"),
                  "error: c.json:1:26: there is a GPU model called 'H100' already", "at /gpu_models/0/name");
    check_refused(MODEL("'name': 'x'"), "error: c.json:1:17: 'memory_gb' is missing", "at /gpu_models/0");
    check_refused(MODEL("'name': '', 'memory_gb': 1"), "error: c.json:1:26: a GPU model needs a name that is not empty",
                  "at /gpu_models/0/name");
    check_refused(MODEL("'name': 'x', 'memory_gb': 8, 'mig_like': 't4'"),
                  "error: c.json:1:59: 't4' is no built-in GPU model with MIG", "at /gpu_models/0/mig_like");
    check_refused(MODEL("'name': 'x', 'memory_gb': 8, 'aliases': ['y', 'T4']"),
                  "error: c.json:1:64: there is a GPU model called 'T4' already", "at /gpu_models/0/aliases/1");
}

TEST(bad_fabrics_are_refused_with_their_place)
{
#define FABRIC(fields) "{'pools': [{'nodes': 64, 'gpus_per_node': 8}],\n'fabric': {" fields "}}"
    check_refused(FABRIC("'rails': 0"), "error: c.json:2:21: 'rails' must be an integer from 1 to 16, got 0",
                  "at /fabric/rails");
    check_refused(FABRIC("'rail': 4"), "error: c.json:2:12: unknown key 'rail'", "rails");
    check_refused(FABRIC("'transport': 'aws-afe'"),
                  "error: c.json:2:25: 'transport' must be one of 'infiniband-ndr', 'roce-400g', 'gcp-tcpxo', "
                  "'aws-efa'; got \"aws-afe\"",
                  "did you mean 'aws-efa'?");
    check_refused(FABRIC("'step_latency_us': 0"),
                  "error: c.json:2:31: 'step_latency_us' must be a number from 0.1 to 100000, got 0",
                  "at /fabric/step_latency_us");
    check_refused(FABRIC("'rate_ratio': 1.1"),
                  "error: c.json:2:26: 'rate_ratio' must be a number from 0.01 to 1, got 1.1", "at /fabric/rate_ratio");
    check_refused(FABRIC("'nvlink_ratio': 0"),
                  "error: c.json:2:28: 'nvlink_ratio' must be a number from 0.01 to 10, got 0",
                  "at /fabric/nvlink_ratio");
    check_refused(FABRIC("'source': 3"), "error: c.json:2:22: 'source' must be a string, got 3", "at /fabric/source");
}

/* The transport of the table, and what the file says in place of its numbers. */
TEST(a_fabric_has_a_transport)
{
    static const struct {
        const char *fields, *name, *source;
        double step_s, rate_ratio, nic_bytes_per_s;
    } rows[] = {
        {"", "infiniband-ndr", "NVIDIA/nccl src/graph/tuning.cc; coreweave/nccl-tests, 64 x H100", 4e-6, 0.966, 50e9},
        {"'transport': 'gcp-tcpxo'", "gcp-tcpxo", NULL, 396e-6, 0.986, 25e9},
        {"'transport': 'aws-efa', 'step_latency_us': 50, 'rail_gbps': 100", "aws-efa", "the cluster file", 50e-6, 0.873,
         12.5e9},
        {"'rate_ratio': 0.5, 'source': 'ours'", "infiniband-ndr", "ours", 4e-6, 0.5, 50e9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "{'pools': [{'nodes': 2, 'gpus_per_node': 8}], 'fabric': {%s}}", rows[i].fields);
        struct cluster *cluster = cluster_of(text);
        const struct transport *is = &cluster->transport;
        assert_string_equal(is->name, rows[i].name);
        assert_string_equal(is->source,
                            rows[i].source != NULL ? rows[i].source : transport_find(text_of(is->name))->source);
        assert_true(is->step_s == rows[i].step_s && is->rate_ratio == rows[i].rate_ratio);
        assert_true(cluster->fabric.rail_bytes_per_s == rows[i].nic_bytes_per_s);
        cluster_free(cluster);
    }
}
