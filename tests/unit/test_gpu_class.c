/* tests/unit/test_gpu_class.c -- what a cluster offers by name: what classes come to, and those that cannot be. */
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
#include "topologies/mig.h"

#define HEAD                                                                                                           \
    "{'pools':[{'name':'h','nodes':2,'gpus_per_node':8,'gpu_model':'h100-80gb'},"                                      \
    "{'name':'t','nodes':2,'gpus_per_node':4,'gpu_model':'t4'},"                                                       \
    "{'name':'a','nodes':1,'gpus_per_node':4,'gpu_model':'a100-40gb'},"                                                \
    "{'name':'b','nodes':1,'gpus_per_node':4,'gpu_model':'a100-40gb',"                                                 \
    "'nvlink_island':0},"                                                                                              \
    "{'name':'c','nodes':1,'gpus_per_node':0}],\n'gpu_classes':["

enum { H100 = 1, T4 = 2, A100 = 4 }; /* bits of cluster.models */

static struct cluster *read(const char *classes, struct error *error, struct json_doc **doc)
{
    struct buffer text = {0};
    buffer_format(&text, HEAD "%s]}", classes);
    *error = json_text_read(doc, "c.json", buffer_c_string(&text));
    assert_false(error_is(*error));
    struct json_value root = json_doc_root(*doc, error);
    struct cluster *cluster = cluster_read(&root);
    buffer_release(&text);
    return cluster;
}

static struct cluster *good(const char *classes)
{
    struct error error;
    struct json_doc *doc;
    struct cluster *cluster = read(classes, &error, &doc);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return cluster;
}

static void check(const struct cluster *cluster, const char *name, struct gpu_class is)
{
    const struct gpu_class *class = cluster_gpu_class_of(cluster, text_of(name));
    assert_non_null(class);
    assert_int_equal(class->models, is.models);
    assert_int_equal(class->gpu_milli, is.gpu_milli);
    assert_int_equal(class->gpu_memory_mib, is.gpu_memory_mib);
    assert_int_equal(class->mig, is.mig);
}

static void kinds_and_conditions(void **state)
{
    (void)state;
    struct cluster *cluster = good("{'name':'full','gpu_model':'H100'},{'name':'any'},{'name':'either',"
                                   "'gpu_model':'t4 | h100','gpu_fraction':1},{'name':'tenth','gpu_fraction':0.1},"
                                   "{'name':'seventh','mig':'1g.10gb'},{'name':'memory','gpu_memory_gb':16.5},"
                                   "{'name':'big','min_memory_gb':40},{'name':'bigger','min_memory_gb':40.001},"
                                   "{'name':'wide','min_sms':109},{'name':'cut','mig_capable':true},{'name':'linked',"
                                   "'nvlink':true},{'name':'alone','nvlink':false}");
    check(cluster, "full", (struct gpu_class){.models = H100});
    check(cluster, "any", (struct gpu_class){0});
    check(cluster, "either", (struct gpu_class){.models = H100 | T4});
    check(cluster, "tenth", (struct gpu_class){.gpu_milli = 100});
    check(cluster, "seventh", (struct gpu_class){.models = H100, .mig = MIG_1G + 1});
    check(cluster, "memory", (struct gpu_class){.models = H100 | A100, .gpu_memory_mib = 16896});
    check(cluster, "big", (struct gpu_class){.models = H100 | A100});
    check(cluster, "bigger", (struct gpu_class){.models = H100});
    check(cluster, "wide", (struct gpu_class){.models = H100});
    check(cluster, "cut", (struct gpu_class){.models = H100 | A100});
    check(cluster, "linked", (struct gpu_class){.models = H100}); /* of A100s some have none */
    check(cluster, "alone", (struct gpu_class){.models = T4});    /* and some have it */
    assert_null(cluster_gpu_class_of(cluster, TEXT("ful")));
    cluster_free(cluster);
}

static void they_come_back(void **state)
{
    (void)state;
    struct cluster *cluster =
        good("{'name':'a \\'b\\'','gpu_model':'t4|h100'},{'name':'any'},{'name':'tenth','gpu_fraction':0.125},"
             "{'name':'seventh','mig':'1g.10gb'},{'name':'memory','gpu_memory_gb':16.5},{'name':'linked',"
             "'nvlink':true}");
    struct buffer text = {0}, show = {0};
    struct json_doc *doc;
    cluster_write(cluster, &text);
    struct error error = json_text_read(&doc, "again", buffer_c_string(&text));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *again = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    assert_int_equal(again->gpu_class_count, 6);
    for (uint32_t i = 0; i < cluster->gpu_class_count; i++)
        check(again, cluster->gpu_classes[i].name, cluster->gpu_classes[i]);
    cluster_show(cluster, &show);
    assert_non_null(strstr(buffer_c_string(&show), "\nGPU classes\n"
                                                   "a \"b\"    whole GPU of h100-80gb|t4-16gb\n"
                                                   "any      whole GPU of any model\n"
                                                   "tenth    0.125 GPU of any model\n"
                                                   "seventh  1g.10gb of h100-80gb\n"
                                                   "memory   16.5 GB of h100-80gb|a100-40gb\n"
                                                   "linked   whole GPU of h100-80gb\n"));
    buffer_release(&text);
    buffer_release(&show);
    json_doc_free(doc);
    cluster_free(cluster);
    cluster_free(again);
}

/* Refused on line 2 at the place of the mark '@', which is left out, with all of these words. */
static void refused(const char *marked, const char *message, const char *hint)
{
    struct buffer text = {0}, place = {0};
    const char *mark = strchr(marked, '@');
    struct error error;
    struct json_doc *doc;
    assert_non_null(mark);
    buffer_bytes(&text, marked, (size_t)(mark - marked));
    buffer_string(&text, mark + 1);
    buffer_format(&place, "c.json:2:%zu: ", strlen("\"gpu_classes\":[") + (size_t)(mark - marked) + 1);
    assert_null(read(buffer_c_string(&text), &error, &doc));
    char *said = error_text_new(&error);
    if (strstr(said, buffer_c_string(&place)) == NULL || strstr(said, message) == NULL || strstr(said, hint) == NULL)
        fail_msg("%s%s (%s) is not in %s", buffer_c_string(&place), message, hint, said);
    free(said);
    error_release(&error);
    json_doc_free(doc);
    buffer_release(&text);
    buffer_release(&place);
}

static void those_that_cannot_be(void **state)
{
    (void)state;
    refused("@{'gpu_model':'t4'}", "'name'", "");
    refused("{'name':@''}", "a GPU class needs a name that is not empty", "");
    refused("{'name':'x'},{'name':@'x'}", "there is a GPU class called 'x' already", "");
    refused("{'name':'x','gpu_model':@'h1000'}", "unknown GPU model 'h1000'",
            "the GPUs of this cluster: h100-80gb (80 GB, 132 SMs, MIG, NVLink), t4-16gb (16 GB");
    refused("{'name':'x','gpu_model':@'t4|v100-16gb'}", "no node of this cluster has GPUs of model 'v100-16gb'",
            "t4-16gb (16 GB");
    refused("{'name':@'x','min_memory_gb':81}", "no GPU of this cluster is of class 'x'", "h100-80gb (80 GB");
    refused("{'name':@'x','gpu_memory_gb':81}", "no GPU of this cluster is of class 'x'", "");
    refused("{'name':@'x','gpu_model':'t4','mig_capable':true}", "no GPU of this cluster is of class 'x'", "");
    refused("{'name':@'x','gpu_model':'a100-40gb','nvlink':true}", "no GPU of this cluster is of class 'x'", "");
    refused("{'name':'x','mig':@'1g.11gb'}", "no GPU that this class takes has a MIG profile '1g.11gb'",
            "did you mean '1g.10gb'?");
    refused("{'name':'x','gpu_model':'t4','mig':@'1g.10gb'}",
            "no GPU that this class takes has a MIG profile '1g.10gb'", "t4-16gb (16 GB");
    refused("{'name':'x','min_sms':1,'mig':@'1g.10gb'}", "'mig' excludes 'min_memory_gb' and 'min_sms'",
            "the profile says");
    refused("@{'name':'x','gpu_fraction':0.5,'gpu_memory_gb':1}", "a class offers one kind of piece", "");
    refused("{'name':'x',@'share':'mps'}", "unknown key 'share'", "");
    refused("{'name':'x','gpu_fraction':@0}", "'gpu_fraction'", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_conditions),
        cmocka_unit_test(they_come_back),
        cmocka_unit_test(those_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
