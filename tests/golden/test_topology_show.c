/* The drawing of dgx-h100-500 against topology_show.txt (tests/support/golden.h), and what other clusters show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden.h"
#include "tests/support/json_text.h"
#include "topologies/cluster_build.h"
#include "topologies/cluster_load.h"
#include "topologies/cluster_show.h"

static void draw(const char *path, struct buffer *out)
{
    struct cluster *cluster;
    assert_false(error_is(cluster_load(&cluster, path)));
    cluster_show(cluster, out);
    cluster_free(cluster);
}

static void the_500_dgx_h100_are_drawn_as_before(void **state)
{
    (void)state;
    struct buffer drawn = {0};
    draw("topologies/dgx-h100-500.json", &drawn);
    golden_compare("tests/golden/topology_show.txt", &drawn);
}

static void check_has(struct buffer *text, const char *piece)
{
    if (strstr(buffer_c_string(text), piece) == NULL)
        fail_msg("expected '%s' in\n%s", piece, buffer_c_string(text));
}

static struct cluster *cluster_of(const char *json)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("c.json", json);
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    json_doc_free(doc);
    assert_false(error_is(error));
    return cluster;
}

static void names_fold_where_numbers_follow(void **state)
{
    (void)state;
    struct cluster *cluster =
        cluster_of("{'pools': [{'nodes': 3, 'gpus_per_node': 2, 'node_name': 'a%03u'},\n"
                   " {'nodes': 8, 'gpus_per_node': 0, 'node_name': 'b%u', 'cpus': 1.5, 'memory_gb': 8},\n"
                   " {'nodes': 10, 'gpus_per_node': 1, 'node_name': 'c%u-x'}]}");
    struct buffer text = {0};
    cluster_show(cluster, &text);
    check_has(&text, "  a[000-002]\n");
    check_has(&text, "  b[3-10]\n");
    check_has(&text, "  c11-x,c12-x,c13-x,c14-x,c15-x,c16-x,+4\n");
    check_has(&text, "cluster: 21 nodes, 16 GPUs, ");
    buffer_release(&text);
    cluster_free(cluster);
}

static void names_of_other_width_do_not_fold(void **state)
{
    (void)state;
    static const char *const names[] = {"n8", "n09", "n010", "n012", "n013", "m014", "x"};
    struct cluster_build build;
    cluster_build_init(&build, TEXT("odd"));
    struct pool_spec spec = {.name = TEXT("p"), .numa_count = 1};
    cluster_build_pool(&build, &spec);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(cluster_build_node(&build, text_of(names[i])));
    assert_false(cluster_build_node(&build, TEXT("x")));
    struct fabric fabric = fabric_default();
    struct cluster *cluster = cluster_build_finish(&build, &fabric);
    cluster_build_release(&build);
    struct buffer text = {0};
    cluster_show(cluster, &text);
    check_has(&text, "  n8,n09,n010,n[012-013],m014,x\n");
    buffer_release(&text);
    cluster_free(cluster);
}

static void many_pools_are_shown_by_their_types(void **state)
{
    (void)state;
    struct buffer json = {0}, text = {0};
    for (unsigned i = 0; i < 50; i++)
        buffer_format(&json,
                      "%s{'nodes': 2, 'gpus_per_node': %u, 'cpus': 4, 'memory_gb': 0.5, 'labels': {'rack': 'r%u'}}",
                      i == 0 ? "{'pools': [" : ",", i % 2, i % 2);
    buffer_string(&json, "]}");
    struct cluster *cluster = cluster_of(buffer_c_string(&json));
    cluster_show(cluster, &text);
    check_has(&text, "\n50 pools of 2 types\n");
    check_has(&text, "\n    50     0  -            4 CPUs, 0.5 GB rack=r0\n");
    check_has(&text, "\n    50     1  generic      4 CPUs, 0.5 GB rack=r1\n");
    buffer_release(&json);
    buffer_release(&text);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_500_dgx_h100_are_drawn_as_before),
        cmocka_unit_test(names_fold_where_numbers_follow),
        cmocka_unit_test(names_of_other_width_do_not_fold),
        cmocka_unit_test(many_pools_are_shown_by_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
