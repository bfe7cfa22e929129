/* tests/unit/test_cluster_load.c -- clusters from files: node lists plain and zstd, JSON, and what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "topologies/cluster_load.h"

#define HEADER "sn,cpu_milli,memory_mib,gpu,model\n"

static const char sample[] = HEADER "node-0,64000,262144,2,P100\n"
                                    "node-1,64000,262144,2,P100\n"
                                    "node-2,96000,393216,8,G2\r\n"
                                    "\n"
                                    "cpu-0,32000,131072,0,\n"
                                    "node-3,64000,262144,2,P100\n"
                                    "node-4,96000,786432,8,V100M32";

static char folder[] = "/tmp/windtunnel-cluster-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *write_file(const char *name, const void *bytes, size_t length)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void check_sample(const char *path)
{
    struct cluster *cluster;
    struct cluster_file file;
    assert_false(error_is(cluster_load_file(&file, path)));
    assert_null(file.doc);
    assert_non_null(file.cluster);
    cluster_free(file.cluster);
    assert_false(error_is(cluster_load(&cluster, path)));
    assert_int_equal(cluster->node_count, 6);
    assert_int_equal(cluster->gpu_count, 22);
    assert_int_equal(cluster->cpu_milli, 416000);
    assert_int_equal(cluster->type_count, 4);
    assert_int_equal(cluster->pool_count, 5); /* runs of equal nodes */
    assert_int_equal(cluster->pools[3].type, cluster->pools[0].type);
    assert_int_equal(cluster->types[0].node_count, 3);
    assert_string_equal(cluster->nodes[3].name, "cpu-0");
    assert_int_equal(cluster->nodes[4].first_gpu, 12);
    assert_string_equal(cluster->models[cluster->types[0].model].name, "p100-16gb");
    uint8_t g2 = cluster_model_of(cluster, TEXT("G2"));
    assert_int_equal(g2, cluster->types[1].model);
    assert_int_equal(cluster->models[g2].memory_mib, 80 * 1024);
    assert_int_equal(cluster_model_of(cluster, TEXT("V100M32")), cluster->types[3].model);
    assert_int_equal(cluster->fabric.unit_count, 1); /* runs are no racks */
    cluster_free(cluster);
    unlink(path);
}

static void a_plain_node_list_is_read(void **state)
{
    (void)state;
    check_sample(write_file("nodes.csv", sample, strlen(sample)));
}

static void a_zstd_node_list_is_read(void **state)
{
    (void)state;
    char packed[1024];
    size_t length = ZSTD_compress(packed, sizeof packed, sample, strlen(sample), 1);
    assert_false(ZSTD_isError(length));
    check_sample(write_file("nodes.csv.zst", packed, length));
}

static void check_refused(const char *text, enum error_kind kind, const char *expected)
{
    const char *path = write_file("bad.csv", text, strlen(text));
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, path);
    assert_null(cluster);
    if (!error_is(error))
        fail_msg("accepted: %s", text);
    char *report = error_text_new(&error), line[512];
    snprintf(line, sizeof line, "error: %s%s", path, expected);
    size_t length = strcspn(report, "\n");
    if (strlen(line) != length || strncmp(report, line, length) != 0)
        fail_msg("for %s\nexpected %s\ngot      %s", text, line, report);
    assert_int_equal(error.kind, kind);
    free(report);
    error_release(&error);
    unlink(path);
}

static void bad_lists_are_refused_with_their_place(void **state)
{
    (void)state;
    check_refused(HEADER, ERROR_DATA, ": the node list is empty");
    check_refused("sn,cpu,memory_mib,gpu,model\n", ERROR_DATA, ":1:4: expected column 'cpu_milli'");
    check_refused("sn,cpu_milli\n", ERROR_DATA, ":1: expected 5 fields, got 2");
    check_refused(HEADER "a,1000,1024,1\n", ERROR_DATA, ":2: expected 5 fields, got 4");
    check_refused(HEADER "a,1000,1024,1,T4,x\n", ERROR_DATA, ":2: expected 5 fields, got 6");
    check_refused(HEADER ",1000,1024,1,T4\n", ERROR_DATA, ":2:1: a node needs a name");
    check_refused(HEADER "a,-1,1024,1,T4\n", ERROR_DATA, ":2:3: 'cpu_milli' must be an integer from 1 to 1000000000");
    check_refused(HEADER "a,1000,1e3,1,T4\n", ERROR_DATA, ":2:8: 'memory_mib' must be an integer from 1 to 1073741824");
    check_refused(HEADER "a,1000,1024,17,T4\n", ERROR_DATA, ":2:13: 'gpu' must be an integer from 0 to 16");
    check_refused(HEADER "a,1000,1024,0,T4\n", ERROR_DATA, ":2:15: a node without GPUs has no 'model'");
    check_refused(HEADER "a,1000,1024,1,T4\na,1000,1024,1,T4\n", ERROR_DATA,
                  ":3:1: there is a node of that name already");
}

static void a_node_with_gpus_needs_a_model(void **state)
{
    (void)state;
    check_refused(HEADER "a,1000,1024,1,\n", ERROR_DATA, ":2:15: a node with GPUs needs a 'model'");
}

static void too_many_models_are_refused(void **state)
{
    (void)state;
    char text[4096];
    size_t length = (size_t)snprintf(text, sizeof text, HEADER);
    for (unsigned i = 0; i < 64; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "n%u,1,1,1,X%u\n", i, i);
    check_refused(text, ERROR_DATA, ":65:11: more than 63 GPU models in one cluster");
}

static void a_missing_file_and_a_folder_are_io_errors(void **state)
{
    (void)state;
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, "/nonexistent/cluster.json");
    assert_int_equal(error.kind, ERROR_IO);
    assert_null(cluster);
    error_release(&error);
    error = cluster_load(&cluster, folder);
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
}

static void json_stays_open_for_overrides(void **state)
{
    (void)state;
    struct cluster_file file;
    struct error error = ERROR_OK;
    assert_false(error_is(cluster_load_file(&file, "topologies/dgx-h100-500.json")));
    assert_null(file.cluster);
    struct json_doc *doc = file.doc;
    assert_false(error_is(json_doc_set(doc, "pools.h100.nodes=550")));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_false(error_is(error));
    assert_int_equal(cluster->node_count, 550);
    assert_int_equal(cluster->fabric.leaves, 144); /* 18 units of 8 rails */
    cluster_free(cluster);
    json_doc_free(doc);
}

/* Counts as the public data set states them; skipped where the data is absent. */
static void the_real_list_of_openb(void **state)
{
    (void)state;
    const char *traces = getenv("WINDTUNNEL_TRACES");
    char path[4096];
    snprintf(path, sizeof path, "%s/openb/openb_node_list_gpu_node.csv.zst",
             traces != NULL ? traces : "../shared/traces");
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is absent\n", path);
        skip();
    }
    struct cluster *cluster;
    assert_false(error_is(cluster_load(&cluster, path)));
    assert_int_equal(cluster->node_count, 1213);
    assert_int_equal(cluster->gpu_count, 6212);
    assert_int_equal(cluster->cpu_milli, 107018000);
    static const struct {
        const char *model;
        uint16_t gpus;
        uint32_t nodes;
    } counts[] = {{"G2", 8, 549},     {"T4", 2, 387},     {"P100", 2, 131},   {"G3", 8, 39},
                  {"V100M16", 4, 28}, {"V100M32", 8, 21}, {"V100M16", 1, 19}, {"T4", 4, 17},
                  {"V100M32", 4, 9},  {"V100M16", 8, 8},  {"P100", 1, 3},     {"A10", 1, 2}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t nodes = 0;
        for (uint32_t t = 0; t < cluster->type_count; t++)
            if (cluster->types[t].gpu_count == counts[i].gpus &&
                cluster->types[t].model == cluster_model_of(cluster, text_of(counts[i].model)))
                nodes += cluster->types[t].node_count;
        assert_int_equal(nodes, counts[i].nodes);
    }
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_node_list_is_read),
        cmocka_unit_test(a_zstd_node_list_is_read),
        cmocka_unit_test(bad_lists_are_refused_with_their_place),
        cmocka_unit_test(a_node_with_gpus_needs_a_model),
        cmocka_unit_test(too_many_models_are_refused),
        cmocka_unit_test(a_missing_file_and_a_folder_are_io_errors),
        cmocka_unit_test(json_stays_open_for_overrides),
        cmocka_unit_test(the_real_list_of_openb),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
