/* policies/explain.h and policies/state/waits.h: the smallest nodes and parts of GPUs, what has come for a claim, and
 * refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/explain.h"
#include "tests/support/sched_case.h"

#define SKIP_FIFO "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'none'}"

static const char smallest_nodes[] =
    "{'pools': [{'name': 'other', 'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 't4-16gb'},{'name': 'none', "
    "'nodes': 1, 'gpus_per_node': 0},{'name': 'cut', 'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
    "'gpus_layout': [['4g.40gb', '3g.40gb']]},{'name': 'free', 'nodes': 1, 'gpus_per_node': 1, "
    "'gpu_model': 'h100-80gb'}]}";

/* However GPUs are asked, one GPU of another model is a mismatch and none at all too few; CPUs alone are found
 * anywhere. */
static void test_the_smallest_nodes(void **state)
{
    (void)state;
    static const struct request asks[] = {
        {.gpus = 1}, {.gpu_milli = 500}, {.gpu_memory_mib = 1024}, {.mig = MIG_3G + 1}, {.cpu_milli = 1}};
    struct sched_case c;
    sched_case_open(&c, sched_case_cluster(smallest_nodes), queue_table_new(), SKIP_FIFO);
    for (uint32_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        struct job job = sched_case_job(i, 1, 0, 50);
        const bool is_cpu = asks[i].cpu_milli > 0;
        job.first.request = asks[i];
        job.first.request.gpu_models = UINT64_C(1) << cluster_model_of(c.cluster, TEXT("h100-80gb"));
        sched_case_submit(&c, job, 0);
        struct explanation why = sched_case_explain(&c, i, REASON_SCHEDULING);
        assert_int_equal(why.nodes[EXPLAIN_MISMATCH], is_cpu ? 0 : 1);
        assert_int_equal(why.nodes[EXPLAIN_TOO_SMALL], is_cpu ? 0 : 2); /* `none`, and one h100 */
        assert_int_equal(why.nodes[EXPLAIN_FITS], is_cpu ? 4 : 1);
        assert_int_equal(why.gpu_milli_free, is_cpu ? 3000 : 1000); /* of GPUs that it may use */
        assert_true(why.fits_now);
        assert_false(why.is_never);
    }
    sched_case_close(&c);
}

/* All that has an instance is taken: less is free than it asks. */
static void test_instances_are_busy(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, sched_case_cluster(smallest_nodes), queue_table_new(), SKIP_FIFO);
    for (job_id id = 0; id < 3; id++) {
        struct job job = sched_case_job(id, 1, 0, 50);
        job.first.request.mig = (id == 0 ? MIG_4G : MIG_3G) + 1;
        sched_case_submit(&c, job, 0);
    }
    assert_int_equal(sched_case_start(&c, 0), 2);
    struct explanation why = sched_case_explain(&c, 2, REASON_FRAGMENTATION);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    assert_int_equal(why.nodes[EXPLAIN_TOO_SMALL], 3);
    sched_case_close(&c);
}

/* A node counts with its GPUs as they are cut now: one that lost its instances is too small, one that got them is not,
 * and as many members fit an empty one as it has. */
static void test_nodes_as_they_are_cut_now(void **state)
{
    (void)state;
    static const char cluster[] =
        "{'pools': [{'name': 'was', 'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
        "'gpus_layout': [['3g.40gb']]},{'name': 'is', 'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
        "'gpus_layout': [['7g.80gb']]}]}";
    static const struct gpu_layout two = {{[0] = MIG_3G + 1, [4] = MIG_3G + 1}}, one = {{[0] = MIG_7G + 1}};
    struct sched_case c;
    sched_case_open(&c, sched_case_cluster(cluster), queue_table_new(), SKIP_FIFO);
    for (job_id id = 0; id < 3; id++) { /* the whole cluster of the file holds one */
        struct job job = sched_case_job(id, 1, 0, 50);
        job.first.request.mig = MIG_3G + 1;
        sched_case_submit(&c, job, 0);
    }
    struct job whole = sched_case_job(3, 1, 0, 50);
    whole.first.request.mig = MIG_7G + 1;
    sched_case_submit(&c, whole, 0);
    struct explanation why = sched_case_explain(&c, 0, REASON_SCHEDULING);
    assert_int_equal(why.nodes[EXPLAIN_TOO_SMALL], 1);
    sched_gpu_changed(c.sched, 0, 0, mig_layout_of(&one), SECONDS(1));
    why = sched_case_explain(&c, 0, REASON_SCHEDULING);
    assert_int_equal(why.nodes[EXPLAIN_TOO_SMALL], 2);
    why = sched_case_explain(&c, 3, REASON_SCHEDULING);
    assert_int_equal(why.nodes[EXPLAIN_FITS], 2);
    sched_gpu_changed(c.sched, 1, 0, mig_layout_of(&two), SECONDS(2));
    why = sched_case_explain(&c, 0, REASON_SCHEDULING);
    assert_int_equal(why.nodes[EXPLAIN_TOO_SMALL], 1);
    assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 3);
    why = sched_case_explain(&c, 2, REASON_FRAGMENTATION);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    sched_case_close(&c);
}

/* Who lacks four instances where an empty GPU may be cut into seven lacks one node; where none may be, as many as that
 * lack one each. */
static void test_nodes_short_where_gpus_are_cut(void **state)
{
    (void)state;
    for (int recuts = 0; recuts < 2; recuts++) {
        struct sched_case c;
        sched_case_open(&c,
                        sched_case_cluster("{'pools': [{'name': 'p', 'nodes': 4, 'gpus_per_node': 1, "
                                           "'gpu_model': 'h100-80gb', 'mig_recut': true, 'gpus_layout': [['1g.10gb', "
                                           "'4g.40gb']]}]}"),
                        queue_table_new(),
                        recuts ? "{'order': ['fifo'], 'geometry': 'on_demand'}" : "{'order': ['fifo']}");
        struct job job = sched_case_job(0, 4, 0, 50);
        job.first.request.mig = MIG_1G + 1;
        for (node_id n = 0; n < 4; n++)
            sched_node_changed(c.sched, n, NODE_DOWN, 0);
        sched_case_submit(&c, job, 0);
        const struct explanation why = sched_case_explain(&c, 0, REASON_SCHEDULING);
        assert_int_equal(why.nodes[EXPLAIN_NOT_UP], 4);
        assert_int_equal(why.nodes_short, recuts ? 1 : 4);
        assert_non_null(strstr(why.text, recuts ? "1 more node with" : "4 more nodes with"));
        sched_case_close(&c);
    }
}

/* Whatever is free counts, on whichever GPU: the first is taken, of the others 0.8 are free. */
static void test_parts_of_several_gpus(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 3), queue_table_new(), SKIP_FIFO);
    for (uint32_t g = 0; g < 3; g++) {
        struct job job = sched_case_job(g, 1, g == 0, 50);
        job.first.request.gpu_milli = g == 0 ? 0 : 600;
        sched_case_adopt(&c, job, (struct piece){.gpu_mask = (uint16_t)(1u << g), .gpu_milli = g == 0 ? 1000 : 600});
    }
    for (job_id id = 3; id < 5; id++) {
        struct job job = sched_case_job(id, 1, 0, 50);
        job.first.request.gpu_milli = id == 3 ? 800 : 801;
        sched_case_submit(&c, job, 0);
    }
    assert_int_equal(sched_case_start(&c, 0), 0);
    struct explanation why = sched_case_explain(&c, 3, REASON_FRAGMENTATION);
    assert_int_equal(why.nodes[EXPLAIN_FRAGMENTED], 1);
    assert_int_equal(why.ahead, 0);
    assert_int_equal(why.first, JOB_NONE);
    why = sched_case_explain(&c, 4, REASON_RESOURCES);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    assert_int_equal(why.members, 1);
    assert_int_equal(why.members_fitting, 0);
    assert_false(why.fits_now);
    assert_int_equal(why.gpu_milli_free, 800);
    assert_int_equal(why.gpu_milli_short, 801);
    assert_int_equal(why.cpu_milli_short, 0);
    assert_int_equal(why.memory_mib_short, 0);
    assert_int_equal(why.nodes_short, 1);
    assert_int_equal(why.over_queue, QUEUE_NONE);
    assert_int_equal(why.ahead, 1);
    assert_int_equal(why.first, 3);
    sched_case_close(&c);
}

/* Of the two nodes that job 2 claims one has come, whichever it is: that one is kept from job 3, the other is busy. */
static void test_what_has_come_is_kept(void **state)
{
    (void)state;
    for (node_id leaving = 0; leaving < 2; leaving++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                        "{'order': ['priority'], 'blocking': 'skip', 'quota': 'none', "
                        "'preemption': {'policy': 'checkpoint', 'grace_s': 100}}");
        for (job_id id = 0; id < 2; id++) {
            struct job low = sched_case_job(id, 1, 4, 10);
            low.checkpoint.duration = SECONDS(5); /* or it would get no grace */
            sched_case_submit(&c, low, 0);
        }
        assert_int_equal(sched_case_start(&c, 0), 2);
        sched_job_ended(c.sched, 1 - leaving, JOB_END_COMPLETED, false, SECONDS(900));
        sched_case_submit(&c, sched_case_job(2, 2, 4, 50), SECONDS(1000));
        sched_case_cycle(&c, SECONDS(1000));
        assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
        sched_case_submit(&c, sched_case_job(3, 1, 4, 50), SECONDS(1001));
        sched_case_cycle(&c, SECONDS(1001));
        struct explanation why = sched_case_explain(&c, 3, REASON_RESOURCES);
        assert_int_equal(why.nodes[EXPLAIN_KEPT], 1);
        assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
        sched_case_close(&c);
    }
}

/* A gang within one rack that lost a member: only that rack will do, though the other is free. */
static void test_the_rest_goes_where_the_first_are(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c,
                    sched_case_cluster("{'levels': ['rack', 'node'], 'pools': [{'nodes': 2, 'gpus_per_node': 4, "
                                       "'labels': {'rack': 'a'}},{'nodes': 2, 'gpus_per_node': 4, "
                                       "'labels': {'rack': 'b'}}]}"),
                    queue_table_new(),
                    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'none', 'gang': {'policy': 'all_or_nothing', "
                    "'stale_after_s': 60}, 'actions': ['allocate', 'stale_gang']}");
    struct job job = sched_case_job(0, 2, 4, 50);
    job.topology.required = 1;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(c.decisions[0].pieces[1].node, 1);
    sched_node_changed(c.sched, 1, NODE_DOWN, SECONDS(10));
    sched_job_evicted(c.sched, 0, (struct members){0, 1}, EVICT_LOST, SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 0);
    struct explanation why = sched_case_explain(&c, 0, sched_why(c.sched, 0));
    assert_int_equal(why.members, 1);
    assert_int_equal(why.members_fitting, 0);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    assert_int_equal(why.nodes[EXPLAIN_NOT_UP], 1);
    assert_int_equal(why.nodes[EXPLAIN_DOMAIN], 2);
    sched_case_close(&c);
}

/* Who will be refused waits for that until it is told, from when it came. */
static void test_a_refusal_is_waited_for(void **state)
{
    (void)state;
    struct sched_case c;
    struct wait_times times;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), SKIP_FIFO);
    sched_case_submit(&c, sched_case_job(0, 1, 5, 50), SECONDS(10));
    assert_true(sched_waited(c.sched, 0, SECONDS(13), &times));
    assert_int_equal(times.mask, UINT32_C(1) << REASON_NEVER_FITS);
    assert_int_equal(times.of[REASON_NEVER_FITS], SECONDS(3));
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_smallest_nodes),
        cmocka_unit_test(test_instances_are_busy),
        cmocka_unit_test(test_nodes_as_they_are_cut_now),
        cmocka_unit_test(test_nodes_short_where_gpus_are_cut),
        cmocka_unit_test(test_parts_of_several_gpus),
        cmocka_unit_test(test_what_has_come_is_kept),
        cmocka_unit_test(test_the_rest_goes_where_the_first_are),
        cmocka_unit_test(test_a_refusal_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
