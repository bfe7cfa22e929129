/* tests/unit/test_cluster_write.c -- a cluster that was written reads back as the same cluster. */
#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/scratch.h"
#include "topologies/cluster_load.h"

static struct cluster *read_back(const char *text)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "written", text);
    assert_string_equal(error_message(&error), "");
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return cluster;
}

static void same_type(const struct node_type *a, const struct node_type *b)
{
    assert_int_equal(a->gpu_count, b->gpu_count);
    assert_int_equal(a->cpu_milli, b->cpu_milli);
    assert_int_equal(a->memory_mib, b->memory_mib);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->max_tasks, b->max_tasks);
    assert_int_equal(a->is_tainted, b->is_tainted);
    assert_int_equal(a->taint_count, b->taint_count);
    for (uint32_t i = 0; i < a->taint_count; i++) {
        assert_string_equal(a->taints[i].key, b->taints[i].key);
        assert_string_equal(a->taints[i].value, b->taints[i].value);
        assert_int_equal(a->taints[i].effect, b->taints[i].effect);
    }
    assert_int_equal(a->layout_mask, b->layout_mask);
    if (a->layout_mask != 0)
        assert_memory_equal(a->layouts, b->layouts, a->gpu_count * sizeof *a->layouts);
    assert_int_equal(a->label_count, b->label_count);
    for (uint32_t i = 0; i < a->label_count; i++) {
        assert_string_equal(a->labels[i].key, b->labels[i].key);
        assert_string_equal(a->labels[i].value, b->labels[i].value);
    }
}

static void same(const struct cluster *a, const struct cluster *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->gpu_count, b->gpu_count);
    assert_int_equal(a->type_count, b->type_count);
    assert_int_equal(a->model_count, b->model_count);
    assert_int_equal(a->level_count, b->level_count);
    for (uint32_t t = 0; t < a->type_count; t++) {
        same_type(&a->types[t], &b->types[t]);
        assert_string_equal(a->models[a->types[t].model].name, b->models[b->types[t].model].name);
    }
    for (uint32_t m = 0; m < a->model_count; m++) {
        assert_int_equal(a->models[m].memory_mib, b->models[m].memory_mib);
        assert_int_equal(a->models[m].mig, b->models[m].mig);
    }
    for (uint32_t p = 0; p < a->pool_count; p++) {
        assert_memory_equal(a->pools[p].gpu_rail, b->pools[p].gpu_rail, sizeof a->pools[p].gpu_rail);
        assert_memory_equal(a->pools[p].gpu_numa, b->pools[p].gpu_numa, sizeof a->pools[p].gpu_numa);
    }
    for (node_id n = 0; n < a->node_count; n++) {
        assert_string_equal(a->nodes[n].name, b->nodes[n].name);
        assert_int_equal(a->nodes[n].type, b->nodes[n].type);
        assert_int_equal(a->nodes[n].pool, b->nodes[n].pool);
        assert_int_equal(a->nodes[n].unit, b->nodes[n].unit);
        for (uint32_t l = 0; l < a->level_count; l++)
            assert_int_equal(a->levels[l].domain[n], b->levels[l].domain[n]);
    }
    assert_memory_equal(&a->fabric, &b->fabric, sizeof a->fabric);
    assert_string_equal(a->transport.name, b->transport.name);
    assert_string_equal(a->transport.source, b->transport.source);
    assert_true(transport_is_same(&a->transport, &b->transport));
}

static void check(struct cluster *cluster)
{
    struct buffer first = {0}, second = {0};
    cluster_write(cluster, &first);
    struct cluster *again = read_back(buffer_c_string(&first));
    same(cluster, again);
    cluster_write(again, &second);
    assert_string_equal(buffer_c_string(&first), buffer_c_string(&second));
    cluster_free(again);
    cluster_free(cluster);
    buffer_release(&first);
    buffer_release(&second);
}

static struct cluster *at(const char *path)
{
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, path);
    assert_string_equal(error_message(&error), "");
    return cluster;
}

TEST(shipped_clusters_come_back)
{
    check(at("topologies/dgx-h100-500.json"));
    check(at("topologies/philly-352.json"));
    check(at("topologies/nvl72-8.json"));
    check(at("topologies/hwloc-node.json"));
    check(cluster_uniform_new(3, 2));
}

TEST(everything_a_file_may_say_comes_back)
{
    check(read_back("{\"name\":\"all \\\"of\\\" it\",\"gpu_models\":[{\"name\":\"mx1\",\"memory_gb\":96.5,"
                    "\"sm_count\":7,\"power_w\":550,\"nvlink_gb_per_s\":100,\"mig_like\":\"h100-80gb\","
                    "\"aliases\":[\"m\",\"MX\"],\"source\":\"us\"}],"
                    "\"pools\":[{\"name\":\"a\",\"nodes\":11,\"gpus_per_node\":4,\"gpu_model\":\"mx1\","
                    "\"node_name\":\"1x%03u.rack1\",\"cpus\":0.001,\"memory_gb\":0.0009765625,"
                    "\"nvlink_island\":2,\"nics\":4,\"numa_nodes\":2,\"gpu_nics\":[3,0,1,1],\"gpu_numa_nodes\":[1,0,0,"
                    "1],\"price_usd_per_gpu_h\":0.1,"
                    "\"gpus_layout\":[[],[{\"profile\":\"1g.10gb+me\",\"start\":6}]],\"max_tasks\":3},"
                    "{\"name\":\"b\",\"nodes\":2,\"gpus_per_node\":0,\"node_name\":\"c%u\","
                    "\"labels\":{\"zone\":\"z\",\"a\":\"b{\"}},"
                    "{\"name\":\"c\",\"nodes\":2,\"gpus_per_node\":1,\"node_names\":[\"x%u\",\"y\"],"
                    "\"labels\":{\"zone\":\"w\"},\"taints\":[\"k=v:NoExecute\",\"only\",\"a:b=c\\\"d:"
                    "PreferNoSchedule\"]}],"
                    "\"levels\":[\"zone\",\"unit\"],"
                    "\"fabric\":{\"nodes_per_unit\":4,\"rails\":2,\"rail_gbps\":100,"
                    "\"leaf_oversubscription\":1.5,\"spine_oversubscription\":2,"
                    "\"transport\":\"aws-efa\",\"step_latency_us\":35.123456789,\"rate_ratio\":0.7,"
                    "\"source\":\"our \\\"own\\\" runs\",\"nvlink_ratio\":0.93,"
                    "\"units_span_pools\":true}}"));
}

TEST(each_transport_comes_back)
{
    for (int t = 0; t < TRANSPORT_COUNT; t++) {
        char text[256];
        snprintf(text, sizeof text, "{'pools': [{'nodes': 2, 'gpus_per_node': 8}], 'fabric': {'transport': '%s'}}",
                 transport_names[t]);
        check(read_back(text));
    }
}

TEST(node_lists_come_back)
{
    static const char list[] = "sn,cpu_milli,memory_mib,gpu,model\n"
                               "openb-node-0000,64000,262144,2,P100\n"
                               "openb-node-0007,96000,524288,8,G2\n"
                               "odd,500,1025,0,\n";
    check(at(scratch_write("nodes.csv", list, sizeof list - 1)));
}

TEST_GROUP(scratch_make, scratch_remove)
