/* tests/unit/test_cluster_levels.c -- domains from labels, MIG layouts, task limits and taints of a cluster file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"
#include "topologies/cluster.h"
#include "topologies/cluster_show.h"

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

static struct cluster *cluster_of(const char *text)
{
    struct cluster *cluster;
    struct error error = read_text(&cluster, text);
    if (error_is(error))
        fail_msg("%s", error_text_new(&error));
    return cluster;
}

static void check_refused(const char *text, const char *first_line, const char *rest)
{
    struct cluster *cluster;
    struct error error = read_text(&cluster, text);
    assert_null(cluster);
    if (!error_is(error))
        fail_msg("accepted: %s", text);
    char *report = error_text_new(&error);
    size_t length = strcspn(report, "\n");
    if (strlen(first_line) != length || strncmp(report, first_line, length) != 0)
        fail_msg("for %s\nexpected %s\ngot      %s", text, first_line, report);
    if (strstr(report, rest) == NULL)
        fail_msg("for %s\nexpected '%s' in\n%s", text, rest, report);
    free(report);
    error_release(&error);
}

static void check_domains(const struct cluster_level *level, uint32_t node_count, const uint32_t *expected)
{
    for (uint32_t n = 0; n < node_count; n++)
        if (level->domain[n] != expected[n])
            fail_msg("level %s: node %u is in domain %d", level->name, n, (int)level->domain[n]);
    for (uint32_t d = 0; d < level->domain_count; d++) {
        assert_int_equal(level->domain[level->first[d]], d);
        assert_int_equal(level->domain[level->last[d]], d);
        for (uint32_t n = 0; n < node_count; n++)
            assert_true(level->domain[n] != d || (n >= level->first[d] && n <= level->last[d]));
    }
}

static void units_and_nodes_are_the_usual_levels(void **state)
{
    (void)state;
    static const uint32_t units[] = {0, 0, 1, 1, 2}, nodes[] = {0, 1, 2, 3, 4};
    struct cluster *cluster = cluster_of("{'pools': [{'nodes': 5, 'gpus_per_node': 8}], "
                                         "'fabric': {'nodes_per_unit': 2}}");
    assert_int_equal(cluster->level_count, 2);
    assert_int_equal(cluster_level_of(cluster, TEXT("unit")), 1);
    assert_int_equal(cluster_level_of(cluster, TEXT("node")), 2);
    assert_int_equal(cluster_level_of(cluster, TEXT("rack")), 0);
    assert_int_equal(cluster->levels[0].domain_count, 3);
    check_domains(&cluster->levels[0], 5, units);
    check_domains(&cluster->levels[1], 5, nodes);
    cluster_free(cluster);
}

#define POOL(name, labels)                                                                                             \
    "{'name': '" name "', 'nodes': 1, 'gpus_per_node': 1, 'node_name': '" name "%u', 'labels': {" labels "}}"

/* Rack r1 of zone b is not that of zone a; what lacks a label is in no domain of that level and below. */
static void domains_lie_inside_those_around_them(void **state)
{
    (void)state;
    static const uint32_t zones[] = {0, 0, 1, 1, 0, DOMAIN_NONE, 0},
                          racks[] = {0, 1, 2, 2, 0, DOMAIN_NONE, DOMAIN_NONE},
                          nodes[] = {0, 1, 2, 3, 4, DOMAIN_NONE, DOMAIN_NONE};
    static const char text[] = "{'levels': ['zone', 'rack', 'node'], 'pools': [" //
        POOL("a", "'zone': 'a', 'rack': 'r1'") ", "                              //
        POOL("b", "'zone': 'a', 'rack': 'r2'") ", "                              //
        POOL("c", "'zone': 'b', 'rack': 'r1'") ", "                              //
        POOL("d", "'rack': 'r1', 'zone': 'b'") ", "                              //
        POOL("e", "'zone': 'a', 'rack': 'r1', 'x': 'y'") ", "                    //
        POOL("f", "'rack': 'r1'") ", "                                           //
        POOL("g", "'zone': 'a'") "]}";
    struct cluster *cluster = cluster_of(text);
    assert_int_equal(cluster->level_count, 3);
    check_domains(&cluster->levels[0], 7, zones);
    check_domains(&cluster->levels[1], 7, racks);
    check_domains(&cluster->levels[2], 7, nodes);
    assert_int_equal(cluster->levels[2].domain_count, 5);
    cluster_free(cluster);
}

static void equal_nodes_of_two_units_are_in_two_racks(void **state)
{
    (void)state;
    static const uint32_t racks[] = {0, 0, 1, 1};
    struct cluster *cluster = cluster_of("{'levels': ['unit', 'rack'], 'pools': [{'nodes': 4, 'gpus_per_node': 1, "
                                         "'labels': {'rack': 'r'}}], 'fabric': {'nodes_per_unit': 2}}");
    check_domains(&cluster->levels[1], 4, racks);
    cluster_free(cluster);
}

static void nodes_that_share_nvlink_are_a_domain(void **state)
{
    (void)state;
    static const uint32_t nvlink[] = {0, 0, 1, 1, 2, 3, 4, DOMAIN_NONE};
    struct cluster *cluster =
        cluster_of("{'levels': ['nvlink'], 'pools': [{'name': 'rack', 'nodes': 5, 'gpus_per_node': 4, "
                   "'gpu_model': 'h100', 'nvlink_nodes': 2},{'name': 'alone', 'nodes': 1, 'gpus_per_node': 8, "
                   "'gpu_model': 'h100'},{'name': 'pcie', 'nodes': 1, 'gpus_per_node': 8, 'gpu_model': 't4'},"
                   "{'name': 'split', 'nodes': 1, 'gpus_per_node': 8, 'gpu_model': 'h100', 'nvlink_island': 4}]}");
    check_domains(&cluster->levels[0], 8, nvlink);
    assert_int_equal(cluster->levels[0].domain_count, 5);
    assert_false(cluster_is_split(cluster, 6));
    assert_true(cluster_is_split(cluster, 7));
    cluster_free(cluster);
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 4, 'gpu_model': 't4', 'nvlink_nodes': 2}]}",
                  "error: c.json:1:80: nodes that share NVLink have it between all their own GPUs",
                  "at /pools/0/nvlink_nodes");
    check_refused("{'pools': [{'nodes': 2, 'gpus_per_node': 4, 'gpu_model': 'h100', 'nvlink_island': 2, "
                  "'nvlink_nodes': 2}]}",
                  "error: c.json:1:102: nodes that share NVLink have it between all their own GPUs",
                  "at /pools/0/nvlink_nodes");
}

static void a_file_may_have_no_levels(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_of("{'levels': [], 'pools': [{'nodes': 2, 'gpus_per_node': 1}]}");
    assert_int_equal(cluster->level_count, 0);
    cluster_free(cluster);
}

static void bad_levels_are_refused(void **state)
{
    (void)state;
#define LEVELS(list) "{'levels': [" list "], 'pools': [{'nodes': 1, 'gpus_per_node': 1}]}"
    check_refused(LEVELS("'node', 'rak'"),
                  "error: c.json:1:21: no node has the label 'rak' and those of the levels before "
                  "it",
                  "at /levels/1");
    check_refused(LEVELS("'node', 'node'"), "error: c.json:1:21: the level 'node' stands here twice", "at /levels/1");
    check_refused(LEVELS("1"), "error: c.json:1:13: 'levels[0]' must be a string, got 1", "at /levels/0");
    check_refused(LEVELS("'a','b','c','d','e','f','g','h','i'"),
                  "error: c.json:1:12: at most 8 levels are possible, got 9", "at /levels");
}

#define H100(fields)                                                                                                   \
    "{'pools': [{'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', " fields "}]"                               \
    "}"

static void layouts_hold_instances_by_start(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_of(H100("'gpus_layout': [[{'profile': '3g.40gb', 'start': 4}, "
                                              "{'profile': '1g.10gb', 'start': 0}, '1g.10gb'], null, ['7g.80gb']]"));
    const struct node_type *type = &cluster->types[0];
    assert_int_equal(type->layout_mask, 5);
    assert_int_equal(type->layouts[0].profile[4], MIG_3G + 1);
    assert_int_equal(type->layouts[0].profile[0], MIG_1G + 1);
    assert_int_equal(type->layouts[0].profile[1], MIG_1G + 1);
    assert_int_equal(type->layouts[0].profile[2], 0);
    assert_int_equal(type->layouts[2].profile[0], MIG_7G + 1);
    cluster_free(cluster);
    cluster = cluster_of(H100("'gpus_layout': [['4g.40gb', '1g.10gb', '2g.20gb']]"));
    assert_int_equal(cluster->types[0].layouts[0].profile[6], MIG_1G + 1); /* leaves 4 to the 2g */
    assert_int_equal(cluster->types[0].layouts[0].profile[4], MIG_2G + 1);
    cluster_free(cluster);
}

static void impossible_layouts_are_refused(void **state)
{
    (void)state;
    check_refused(H100("'gpus_layout': [[{'profile': '3g.40gb', 'start': 2}]]"),
                  "error: c.json:1:88: an instance of 3g.40gb cannot start at slice 2",
                  "at /pools/0/gpus_layout/0/0; 3g.40gb may start at 0 or 4");
    check_refused(H100("'gpus_layout': [[{'profile': '4g.40gb', 'start': 0}, {'profile': '1g.10gb', 'start': 3}]]"),
                  "error: c.json:1:124: this instance of 1g.10gb overlaps one before it",
                  "at /pools/0/gpus_layout/0/1");
    check_refused(H100("'gpus_layout': [['4g.40gb', '4g.40gb']]"), "error: c.json:1:99: a GPU has at most 1 of 4g.40gb",
                  "");
    check_refused(H100("'gpus_layout': [['1g.10gb+me', '1g.10gb+me']]"),
                  "error: c.json:1:102: a GPU has at most 1 of 1g.10gb+me", "");
    check_refused(H100("'gpus_layout': [['3g.40gb', '3g.40gb', '1g.10gb']]"),
                  "error: c.json:1:87: these instances do not fit one GPU together", "at /pools/0/gpus_layout/0");
    check_refused(H100("'gpus_layout': [['1g.5gb']]"),
                  "error: c.json:1:88: GPU model 'h100-80gb' has no MIG profile '1g.5gb'", "did you mean '1g.");
    check_refused(H100("'gpus_layout': [[], [], [], [], []]"),
                  "error: c.json:1:86: there are 5 layouts for the 4 GPUs of a node", "");
    check_refused("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpus_layout': [['1g']]}]}",
                  "error: c.json:1:62: GPU model 'generic' has no MIG", "");
}

static void limits_and_taints_make_types(void **state)
{
    (void)state;
    struct cluster *cluster =
        cluster_of("{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 1},{'name': 'b', 'nodes': 1, "
                   "'gpus_per_node': 1, 'max_tasks': 3},{'name': 'c', 'nodes': 1, 'gpus_per_node': 1, "
                   "'taints': ['x=y:NoSchedule']},{'name': 'd', 'nodes': 1, 'gpus_per_node': 1, "
                   "'taints': [{'key': 'x'}]},{'name': 'e', 'nodes': 1, 'gpus_per_node': 1, "
                   "'taints': ['x:PreferNoSchedule', {'key': 'k', 'effect': 'PreferNoSchedule'}]},{'name': 'f', "
                   "'nodes': 1, 'gpus_per_node': 1, 'taints': ['k:PreferNoSchedule', 'x:PreferNoSchedule']}]}");
    assert_int_equal(cluster->type_count, 5);
    assert_int_equal(cluster->types[1].max_tasks, 3);
    assert_false(cluster->types[0].is_tainted);
    assert_true(cluster->types[2].is_tainted);
    assert_string_equal(cluster->types[2].taints[0].key, "x");
    assert_string_equal(cluster->types[2].taints[0].value, "y");
    assert_int_equal(cluster->types[2].taints[0].effect, TAINT_NO_SCHEDULE);
    assert_true(cluster->types[3].is_tainted);
    assert_string_equal(cluster->types[3].taints[0].value, "");
    assert_int_equal(cluster->types[4].taint_count, 2);
    assert_false(cluster->types[4].is_tainted);  /* soft */
    assert_int_equal(cluster->nodes[5].type, 4); /* the same in another order */
    cluster_free(cluster);
}

static void taints_that_cannot_be_are_refused(void **state)
{
    (void)state;
    check_refused("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'taints': ['x=y:Never']}]}",
                  "error: c.json:1:56: there is no effect 'Never' of a taint", "PreferNoSchedule");
    check_refused("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'taints': ['=y']}]}",
                  "error: c.json:1:56: a taint needs a key", "");
}

static void what_is_unusual_is_shown(void **state)
{
    (void)state;
    static const char *const pieces[] = {"n[0-1] rack=r, at most 3 tasks, tainted\n", "\nlevels: rack (1), node (2)\n",
                                         "\n  GPU1: 1g.10gb at 0, 3g.40gb at 4\n"};
    struct cluster *cluster =
        cluster_of("{'levels': ['rack', 'node'], 'pools': [{'nodes': 2, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', "
                   "'labels': {'rack': 'r'}, 'max_tasks': 3, 'taints': ['x'], 'gpus_layout': [null, ['1g.10gb', "
                   "'3g.40gb']]}]}");
    struct buffer text = {0};
    cluster_show(cluster, &text);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (strstr(buffer_c_string(&text), pieces[i]) == NULL)
            fail_msg("expected '%s' in\n%s", pieces[i], buffer_c_string(&text));
    buffer_release(&text);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_and_nodes_are_the_usual_levels),
        cmocka_unit_test(domains_lie_inside_those_around_them),
        cmocka_unit_test(equal_nodes_of_two_units_are_in_two_racks),
        cmocka_unit_test(nodes_that_share_nvlink_are_a_domain),
        cmocka_unit_test(a_file_may_have_no_levels),
        cmocka_unit_test(bad_levels_are_refused),
        cmocka_unit_test(layouts_hold_instances_by_start),
        cmocka_unit_test(impossible_layouts_are_refused),
        cmocka_unit_test(limits_and_taints_make_types),
        cmocka_unit_test(taints_that_cannot_be_are_refused),
        cmocka_unit_test(what_is_unusual_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
