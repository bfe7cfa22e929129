/* tests/unit/test_claim.c -- jobs that ask by GPU class and by claim: what they come to in traces, cases and mixes, and
 * what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"
#include "tests/support/trace_case.h"
#include "topologies/mig.h"
#include "workloads/request/claim.h"

#define MUST "{'job_id': 1, 'submit_s': 0, 'duration_s': 60"

enum { H100 = 1, GB200 = 2, T4 = 4 }; /* bits of cluster.models */

static struct cluster *cluster;

/* 8 GPUs in two islands, racks of 4 x 4 GPUs under one NVLink, and 2 GPUs without. */
static const char cluster_text[] =
    "{'gpu_models':[{'name':'gb200','memory_gb':186,'nvlink_gb_per_s':900}],'pools':[{'name':'h','nodes':2,"
    "'gpus_per_node':8,'gpu_model':'h100-80gb','nvlink_island':4},{'name':'r','nodes':8,'gpus_per_node':4,"
    "'gpu_model':'gb200','nvlink_nodes':4},{'name':'t','nodes':2,'gpus_per_node':2,'gpu_model':'t4'}],"
    "'levels':['unit','nvlink','node'],'gpu_classes':[{'name':'full','gpu_model':'h100-80gb'},{'name':'seventh',"
    "'mig':'1g.10gb'},{'name':'tenth','gpu_fraction':0.1},{'name':'any'}]}";

static int set_up(void **state)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "c", cluster_text);
    (void)state;
    struct json_value root = json_doc_root(doc, &error);
    cluster = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cluster_free(cluster);
    return 0;
}

static const struct workload_spec native = {.format = "native"}, jsonl = {.format = "jsonl"};

static void check(const struct job_group *group, uint32_t count, struct request is)
{
    assert_true(request_is_same(&group->request, &is));
    assert_int_equal(group->count, count);
}

static void classes_in_csv(void **state)
{
    (void)state;
    struct trace_case read =
        trace_case_read("job_id,submit_s,duration_s,gpus,nodes,cpus,gpu_class,gpu_model,gpu_fraction,"
                        "min_members\n"
                        "1,0,60,8,2,4,full,,,\n2,0,60,2,,,full,,,\n3,0,60,1,,,seventh,,,\n"
                        "4,0,60,3,,2,tenth,t4,,2\n5,0,60,1,,,any,,1,\n",
                        &native, cluster);
    check(&read.jobs[0].first, 2, (struct request){.gpus = 4, .cpu_milli = 2000, .gpu_models = H100});
    check(&read.jobs[1].first, 2, (struct request){.gpus = 1, .gpu_models = H100});
    check(&read.jobs[2].first, 1, (struct request){.mig = MIG_1G + 1, .gpu_models = H100});
    check(&read.jobs[3].first, 3, (struct request){.gpu_milli = 100, .cpu_milli = 667, .gpu_models = T4});
    assert_int_equal(read.jobs[3].first.min_count, 2);
    check(&read.jobs[4].first, 1, (struct request){.gpus = 1});
    trace_case_release(&read);
}

static void classes_in_groups(void **state)
{
    (void)state;
    struct trace_case read = trace_case_read(MUST ", 'groups': [{'count': 2, 'gpus': 4, 'gpu_class': 'full'},"
                                                  "{'count': 5, 'min_members': 3, 'gpu_class': 'seventh'}]}\n",
                                             &jsonl, cluster);
    check(job_group(&read.jobs[0], 0), 2, (struct request){.gpus = 4, .gpu_models = H100});
    check(job_group(&read.jobs[0], 1), 5, (struct request){.mig = MIG_1G + 1, .gpu_models = H100});
    assert_int_equal(job_group(&read.jobs[0], 1)->min_count, 3);
    trace_case_release(&read);
    read = trace_case_read(MUST ", 'gpus': 2, 'gpu_class': 'who knows'}\n", &jsonl, NULL);
    check(&read.jobs[0].first, 2, (struct request){.gpus = 1}); /* no cluster at hand */
    trace_case_release(&read);
}

/* A job of that claim, and what its members are. */
static void claims(const char *text, uint32_t count, uint32_t slice, const char *level, struct request is)
{
    struct buffer line = {0};
    buffer_format(&line, MUST ", 'claim': {%s}}\n", text);
    struct trace_case read = trace_case_read(buffer_c_string(&line), &jsonl, cluster);
    const struct job_group *group = &read.jobs[0].first;
    check(group, count, is);
    assert_int_equal(group->min_count, count);
    assert_int_equal(group->slice_members, slice);
    assert_int_equal(group->slice_level, level == NULL ? 0 : cluster_level_of(cluster, text_of(level)));
    assert_null(job_complaint(&read.jobs[0]));
    trace_case_release(&read);
    buffer_release(&line);
}

static void claims_lie_near(void **state)
{
    (void)state;
    claims("'class': 'full'", 1, 0, NULL, (struct request){.gpus = 1, .gpu_models = H100});
    claims("'class': 'full', 'count': 8", 1, 0, NULL, (struct request){.gpus = 8, .gpu_models = H100});
    claims("'count': 6, 'match': 'node'", 1, 0, NULL, (struct request){.gpus = 6});
    claims("'count': 4, 'match': 'nvlink'", 1, 0, NULL,
           (struct request){.gpus = 4, .gpu_models = H100 | GB200, .one_island = true});
    claims("'count': 1, 'match': 'nvlink'", 1, 0, NULL, (struct request){.gpus = 1});
    claims("'count': 6, 'match': 'nvlink'", 6, 6, "nvlink", (struct request){.gpus = 1, .gpu_models = H100 | GB200});
    claims("'count': 16, 'match': 'nvlink', 'min_memory_gb': 100", 16, 16, "nvlink",
           (struct request){.gpus = 1, .gpu_models = GB200});
    claims("'class': 'any', 'count': 12, 'match': 'unit', 'min_sms': 41", 12, 12, "unit",
           (struct request){.gpus = 1, .gpu_models = H100});
    claims("'class': 'seventh', 'count': 3", 3, 0, NULL, (struct request){.mig = MIG_1G + 1, .gpu_models = H100});
    claims("'class': 'tenth', 'gpu_model': 't4|h100', 'mig_capable': true", 1, 0, NULL,
           (struct request){.gpu_milli = 100, .gpu_models = H100});
    claims("'nvlink': false, 'count': 2", 1, 0, NULL, (struct request){.gpus = 2, .gpu_models = T4});
}

/* Claims of a group are counted; CPUs are of each. */
static void groups_of_claims(void **state)
{
    (void)state;
    struct trace_case read =
        trace_case_read(MUST ", 'gpu_model': 'gb200', 'groups': [{'count': 2, 'cpus': 3, 'claim': {'count': 8, "
                             "'match': 'nvlink'}}, {'count': 4, 'min_members': 2, 'claim': {'class': 'tenth', "
                             "'count': 3}}]}\n",
                        &jsonl, cluster);
    const struct job_group *group = job_group(&read.jobs[0], 0);
    check(group, 16, (struct request){.gpus = 1, .cpu_milli = 375, .gpu_models = GB200});
    assert_int_equal(group->slice_members, 8);
    assert_int_equal(group->min_count, 16);
    group = job_group(&read.jobs[0], 1);
    check(group, 12, (struct request){.gpu_milli = 100, .gpu_models = GB200});
    assert_int_equal(group->min_count, 6);
    trace_case_release(&read);
}

static void refused(const char *text, unsigned column, const char *says)
{
    struct buffer line = {0};
    buffer_format(&line, MUST ", %s}\n", text);
    trace_case_refused(buffer_c_string(&line), &jsonl, cluster, 1, column, says);
    buffer_release(&line);
}

static void bad_asks(void **state)
{
    (void)state;
    refused("'gpus': 1, 'gpu_class': 'ful'", 72, "the cluster has no GPU class 'ful'");
    refused("'gpus': 0, 'gpu_class': 'full'", 56, "it must be 1 or more of the 'gpu_class'");
    refused("'gpus': 1, 'gpu_class': 'full', 'gpu_fraction': 0.5", 0,
            "'gpu_fraction': it contradicts the 'gpu_class' beside it");
    refused("'gpus': 1, 'gpu_class': 'full', 'gpu_memory_gb': 5", 0,
            "'gpu_memory_gb': it contradicts the 'gpu_class' beside it");
    refused("'gpus': 1, 'gpu_class': 'full', 'mig_profile': '1g.10gb'", 0,
            "'mig_profile': it contradicts the 'gpu_class' beside it");
    refused("'gpus': 1, 'gpu_class': 'full', 'gpu_model': 't4'", 0,
            "'gpu_model': no GPU of the 'gpu_class' beside it is of such a model");
    refused("'gpus': 4, 'gpu_class': 'seventh', 'nodes': 2", 0, "'nodes': ");
    refused("'groups': [{'gpus': 2, 'gpu_class': 'seventh'}]", 0,
            "'gpus': a member holds one piece of a GPU: 'count' says how many members there are");
    refused("'gpu_class': 'full', 'groups': [{'gpus': 2}]", 0, "it excludes 'groups'");
}

static void bad_claims(void **state)
{
    (void)state;
    refused("'gpus': 1, 'claim': {}", 56, "'gpus': it excludes 'claim', which says it");
    refused("'claim': {}, 'groups': [{'gpus': 1}]", 57, "'claim' beside 'groups'");
    refused("'claim': {}, 'min_members': 1", 0, "the GPUs of a claim come together");
    refused("'claim': {'firstAvailable': []}", 58, "unknown key 'firstAvailable'");
    refused("'claim': 3", 57, "'claim' must be an object");
    refused("'claim': {'count': 0}", 67, "'count' must be an integer");
    refused("'claim': {'class': 'ful'}", 57, "the cluster has no GPU class of that name");
    refused("'claim': {'count': 9}", 57, "no node has enough such GPUs");
    refused("'claim': {'min_memory_gb': 200}", 57, "no GPU of this cluster is such as it asks");
    refused("'claim': {'class': 'full', 'gpu_model': 't4'}", 57, "no GPU of this cluster is such as it asks");
    refused("'claim': {'count': 17, 'match': 'nvlink'}", 57, "no NVLink domain has enough such GPUs");
    refused("'claim': {'count': 2, 'match': 'nvlink', 'gpu_model': 't4'}", 57,
            "no GPU of this cluster is such as it asks");
    refused("'claim': {'count': 2, 'match': 'rack'}", 57, "the cluster has no level of the name that 'match' says");
    refused("'claim': {'class': 'seventh', 'count': 2, 'match': 'nvlink'}", 57,
            "pieces of GPUs have no NVLink between them: 'match' is of whole GPUs");
    refused("'claim': {'class': 'seventh', 'count': 2, 'match': 'rack'}", 57,
            "the cluster has no level of the name that 'match' says");
    refused("'claim': {'class': 'tenth', 'count': 2, 'match': 'node'}", 57,
            "shares of GPUs come in no slices: 'match' is of whole GPUs and MIG instances");
}

/* Several instances of one node: a slice of as many members. */
static void instances_come_in_slices(void **state)
{
    (void)state;
    const struct request seventh = {.mig = MIG_1G + 1, .gpu_models = H100};
    claims("'class': 'seventh', 'count': 3, 'match': 'node'", 3, 3, "node", seventh);
    claims("'class': 'seventh', 'count': 2, 'match': 'unit'", 2, 2, "unit", seventh);
    claims("'class': 'seventh', 'match': 'node'", 1, 0, NULL, seventh);
    struct trace_case read = trace_case_read(MUST ", 'groups': [{'count': 6, 'gpu_class': 'seventh', "
                                                  "'slice_members': 2, 'slice_level': 'node'}]}\n",
                                             &jsonl, cluster);
    check(&read.jobs[0].first, 6, seventh);
    assert_int_equal(read.jobs[0].first.slice_members, 2);
    assert_null(job_complaint(&read.jobs[0]));
    trace_case_release(&read);
    refused("'groups': [{'count': 4, 'min_members': 2, 'gpu_class': 'seventh', 'slice_members': 2, "
            "'slice_level': 'node'}]",
            0, "members in slices start together: the minimum must be all of them");
}

static void shares_come_in_no_slices(void **state)
{
    (void)state;
    refused("'groups': [{'count': 2, 'gpu_class': 'tenth', 'slice_members': 2, 'slice_level': 'unit'}]", 0,
            "shares of GPUs come in no slices");
    refused("'groups': [{'gpu_fraction': 0.5, 'one_island': true}]", 0, "only whole GPUs can be asked in one island");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_in_csv),
        cmocka_unit_test(classes_in_groups),
        cmocka_unit_test(claims_lie_near),
        cmocka_unit_test(groups_of_claims),
        cmocka_unit_test(bad_asks),
        cmocka_unit_test(bad_claims),
        cmocka_unit_test(instances_come_in_slices),
        cmocka_unit_test(shares_come_in_no_slices),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
