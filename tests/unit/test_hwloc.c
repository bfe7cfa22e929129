/* tests/unit/test_hwloc.c -- keys of a pool from lstopo's XML. */
#include "tests/support/test.h"

#include "sim/scenario/scenario.h"
#include "tests/support/json_text.h"
#include "tests/support/scratch.h"
#include "topologies/cluster_load.h"

TEST(the_example_has_8_gpus_and_8_rails)
{
    struct cluster *cluster;
    assert_false(error_is(cluster_load(&cluster, "topologies/hwloc-node.json")));
    assert_int_equal(cluster->node_count, 4);
    assert_int_equal(cluster->types[0].cpu_milli, 16000);
    assert_int_equal(cluster->types[0].memory_mib, 2 << 20);
    assert_string_equal(cluster->models[0].name, "h100-80gb");
    assert_int_equal(cluster->fabric.rails, 8);
    assert_int_equal(cluster->pools[0].numa_count, 2);
    for (unsigned gpu = 0; gpu < 8; gpu++) {
        assert_int_equal(cluster->pools[0].gpu_numa[gpu], gpu / 4);
        assert_int_equal(cluster->pools[0].gpu_rail[gpu], gpu);
    }
    cluster_free(cluster);
}

/* ---- Small exports, made here: one CPU, 1 GB, one NUMA node, devices as wanted ---- */

#define SETS "cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' complete_nodeset='0x1'"
static const char head[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n<topology version='2.0'>\n"
    "<object type='Machine' os_index='0' " SETS " allowed_cpuset='0x1' allowed_nodeset='0x1' gp_index='1'>\n"
    "<object type='NUMANode' os_index='0' " SETS " gp_index='2' local_memory='1073741824'/>\n"
    "<object type='PU' os_index='0' " SETS " gp_index='3'/>\n";

#define BRIDGE(bus, devices)                                                                                           \
    "<object type='Bridge' gp_index='1" #bus "' bridge_type='0-1' depth='0' bridge_pci='0000:[" #bus "0-" #bus "f]'>"  \
    "\n" devices "</object>\n"
#define DEVICE(bus, id, inside)                                                                                        \
    "<object type='PCIDev' gp_index='4" #bus "' pci_busid='0000:" #bus ":00.0' pci_type='" id ":0001] [0000:0000] 00'" \
    " pci_link_speed='0'>" inside "</object>\n"
#define GPU        "0302 [10de"
#define INFINIBAND "0207 [15b3"
#define ETHERNET   "0200 [15b3"
#define OS_GPU(index, backend, model)                                                                                  \
    "<object type='OSDev' gp_index='7" #index "' name='nvml" #index                                                    \
    "' osdev_type='1'><info name='Backend' value='" backend "'/><info name='GPUModel' value='" model "'/></object>\n"

/* A pool of one node with that export, and with these keys. */
static struct error load(struct cluster **out, const char *devices, const char *keys)
{
    struct buffer text = {0};
    buffer_format(&text, "%s%s</object>\n</topology>\n", head, devices);
    scratch_write_json("node.xml", buffer_c_string(&text));
    text.length = 0;
    buffer_format(&text, "{'pools': [{'nodes': 1, 'hwloc': 'node.xml'%s}]}", keys);
    struct error error = cluster_load(out, scratch_write_json("c.json", buffer_c_string(&text)));
    buffer_release(&text);
    return error;
}

static void check(const char *devices, const char *keys, const char *expected)
{
    struct cluster *cluster;
    struct buffer text = {0};
    struct error error = load(&cluster, devices, keys);
    assert_string_equal(error_message(&error), "");
    const struct node_pool *pool = &cluster->pools[0];
    const struct node_type *type = &cluster->types[0];
    buffer_format(&text, "%s, %u milli, %u MiB, %u NICs, %u rails:", cluster->models[0].name, type->cpu_milli,
                  type->memory_mib, pool->nic_count, cluster->fabric.rails);
    for (unsigned gpu = 0; gpu < type->gpu_count; gpu++)
        buffer_format(&text, " %u", pool->gpu_rail[gpu]);
    assert_string_equal(buffer_c_string(&text), expected);
    buffer_release(&text);
    cluster_free(cluster);
}

static void check_refused(const char *devices, const char *keys, enum error_kind kind, const char *expected)
{
    struct cluster *cluster;
    struct error error = load(&cluster, devices, keys);
    assert_null(cluster);
    assert_int_equal(error.kind, kind);
    if (strstr(error_message(&error), expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, error_message(&error));
    error_release(&error);
}

TEST(a_gpu_goes_with_the_nearest_nic)
{
    /* Two GPUs share a NIC; a storage NIC alone is no rail; Ethernet with RDMA is one; GPUs of another vendor, and what
     * is no display, do not count. */
    check(BRIDGE(1, DEVICE(11, GPU, "") DEVICE(12, "0300 [10de", "") DEVICE(13, INFINIBAND, ""))
              BRIDGE(2, DEVICE(21, INFINIBAND, ""))
                  BRIDGE(3, DEVICE(31, ETHERNET, "")
                                DEVICE(32, ETHERNET, "<object type='OSDev' gp_index='9' name='mlx5_0' osdev_type='3'/>")
                                    DEVICE(33, GPU, "") DEVICE(34, "0302 [1002", "") DEVICE(35, "0108 [10de", "")),
          "", "generic, 1000 milli, 1024 MiB, 2 NICs, 2 rails: 0 0 1");
    check(BRIDGE(1, DEVICE(11, GPU, "") DEVICE(12, GPU, "") DEVICE(13, GPU, "") DEVICE(14, GPU, "")
                        DEVICE(15, INFINIBAND, "") DEVICE(16, INFINIBAND, "")),
          "", "generic, 1000 milli, 1024 MiB, 2 NICs, 2 rails: 0 1 0 1");
    check(OS_GPU(0, "NVML", "Tesla T4") OS_GPU(1, "NVML", "Tesla T4") OS_GPU(2, "RSMI", "other"),
          ", 'cpus': 0.5, 'gpu_model': 'a10', 'nics': 1", "a10-24gb, 500 milli, 1024 MiB, 1 NICs, 1 rails: 0 0");
}

TEST(what_is_no_node_is_refused)
{
    static const char mixed[] = OS_GPU(0, "NVML", "Tesla T4") OS_GPU(1, "NVML", "NVIDIA A10");
    check_refused(mixed, "", ERROR_CONFIG, "GPUs of two models in one node, 'Tesla T4' and 'NVIDIA A10'");
    check_refused(OS_GPU(0, "NVML", "Riva 128"), "", ERROR_CONFIG, "unknown GPU model 'Riva 128'");
    check_refused(OS_GPU(0, "NVML", "Tesla T4"), ", 'gpus_per_node': 8", ERROR_CONFIG,
                  "'gpu_numa_nodes' has 1 numbers for 8 GPUs");
    check_refused(DEVICE(11, GPU, "") DEVICE(12, INFINIBAND, ""), ", 'gpu_nics': [1]", ERROR_CONFIG,
                  "'gpu_nics' are numbers below 1, got 1");
    check_refused("<html>", "", ERROR_CONFIG, "node.xml is not an XML export of hwloc 2");
    struct cluster *cluster;
    struct error error =
        cluster_load(&cluster, scratch_write_json("d.json", "{'pools': [{'nodes': 1, 'hwloc': 'x'}]}"));
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    struct json_doc *doc = json_text_parse("d.json", "{'pools': [{'nodes': 1, 'hwloc': 'x'}]}");
    const struct json_value root = json_doc_root(doc, &error);
    assert_null(cluster_read(&root));
    assert_string_equal(error_message(&error), "hwloc files cannot be read here");
    error_release(&error);
    json_doc_free(doc);
}

/* Also if it is read twice: before overrides, for the GPUs that the load is of, and after. */
TEST(a_scenario_holds_what_the_export_tells)
{
    struct cluster *cluster;
    struct scenario scenario;
    const char *const sets[] = {"cluster.pools.0.nodes=3"};
    assert_false(error_is(load(&cluster, DEVICE(11, GPU, "") DEVICE(12, INFINIBAND, ""), "")));
    cluster_free(cluster);
    scratch_write("jobs.csv", "job_id,submit_s,duration_s,gpus\n1,0,10,1\n", 41);
    const char *path =
        scratch_write_json("s.json", "{'cluster': 'c.json', 'workload': {'trace': 'jobs.csv', 'load': 1}}");
    struct error error =
        scenario_load(&scenario, &(struct scenario_options){.path = path, .sets = sets, .set_count = 1});
    assert_string_equal(error_message(&error), "");
    assert_int_equal(scenario.cluster->gpu_count, 3);
    assert_non_null(strstr(scenario.resolved, "\"load_gpus\":1"));
    assert_non_null(strstr(scenario.resolved, "\"gpu_nics\":[0]"));
    assert_null(strstr(scenario.resolved, "hwloc"));
    scenario_release(&scenario);
}

TEST_GROUP(scratch_make, scratch_remove)
