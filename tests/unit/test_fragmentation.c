/* policies/jobs/fragmentation.h and typical.h -- what is of no use to whom, by hand, and which jobs are learned to be
 * typical. */
#include <math.h>

#include "tests/support/test.h"

#include "policies/jobs/request_class.h"
#include "policies/policy_config.h"
#include "policies/state/typical.h"
#include "tests/support/sched_case.h"
#include "topologies/cluster_build.h"

static const struct request half = {.gpu_milli = 500}, one = {.gpus = 1}, two = {.gpus = 2}, none = {.cpu_milli = 1000},
                            elsewhere = {.gpus = 1, .gpu_models = 2},
                            greedy = {.gpus = 1, .cpu_milli = CLUSTER_AMPLE_CPU_MILLI / 2 + 1};

/* 4 GPUs: 300 and 700 milli left of two, one free, one taken; half of the CPUs left: 2,000 milli in all. */
static struct ledger *used_node_new(const struct cluster *cluster)
{
    struct ledger *ledger = ledger_new(cluster);
    struct space space = {.gpu_mask = 1, .gpu_milli = 700, .member_count = 1};
    ledger_take(ledger, &space);
    space = (struct space){.gpu_mask = 2, .gpu_milli = 300, .member_count = 1};
    ledger_take(ledger, &space);
    space = (struct space){
        .gpu_mask = 4, .gpu_milli = GPU_MILLI, .cpu_milli = CLUSTER_AMPLE_CPU_MILLI / 2, .member_count = 1};
    ledger_take(ledger, &space);
    return ledger;
}

TEST(each_kind_by_hand)
{
    static const struct {
        const struct request *request;
        double useless;
    } kinds[] = {
        {&half, 300},       /* the GPU with 300 left */
        {&one, 300 + 700},  /* those that are shared */
        {&two, 2000},       /* there is no pair: all of it */
        {&none, 2000},      /* asks no GPU */
        {&elsewhere, 2000}, /* another model */
        {&greedy, 2000},    /* CPUs are short */
    };
    struct cluster *cluster = cluster_uniform_new(1, 4);
    struct ledger *ledger = used_node_new(cluster);
    const struct idle_view view = idle_view_of(ledger, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct typical_job all = {*kinds[i].request, 1, 1, 0};
        const struct typical_jobs typical = {&all, 1, 1};
        assert_true(fabs(fragmentation_of(&view, &typical) - kinds[i].useless) < 1e-9);
    }
    struct typical_job some[] = {{half, 0.5, 1, 0}, {one, 0.25, 1, 0}, {two, 0.25, 1, 0}};
    const struct typical_jobs typical = {some, 3, 3};
    assert_true(fabs(fragmentation_of(&view, &typical) - (150 + 250 + 500)) < 1e-9);
    ledger_free(ledger);
    cluster_free(cluster);
}

static void submit(struct typical_book *book, struct ledger *ledger, struct request_class_table *request_classes,
                   const struct request *request, uint32_t count)
{
    struct job job = job_default();
    job.first.request = *request;
    job.first.count = job.first.min_count = count;
    typical_learn(book, ledger, request_classes, request_class_of(request_classes, ledger->cluster, &job));
}

/* Of 100 members 60, 36 and 4: the first two are more than 95 %. */
TEST(most_of_those_that_came_are_typical)
{
    struct cluster *cluster = cluster_uniform_new(2, 4);
    struct ledger *ledger = ledger_new(cluster);
    struct typical_book book = {0};
    struct request_class_table request_classes;
    request_class_table_init(&request_classes);
    for (uint32_t i = 0; i < 4; i++)
        submit(&book, ledger, &request_classes, &two, 1);
    for (uint32_t i = 0; i < 9; i++)
        submit(&book, ledger, &request_classes, &half, 4); /* members count, not jobs */
    const uint64_t version = ledger->typical_version;
    for (uint32_t i = 0; i < 60; i++)
        submit(&book, ledger, &request_classes, &none, 1);
    assert_true(ledger->typical_version > version);
    assert_ptr_equal(ledger->typical, &book.typical);
    const struct typical_jobs *typical = ledger->typical;
    assert_int_equal(typical->count, 2);
    assert_true(request_is_same(&typical->jobs[0].request, &none));
    assert_true(request_is_same(&typical->jobs[1].request, &half));
    double sum = 0;
    for (uint32_t j = 0; j < typical->count; j++)
        sum += typical->jobs[j].share;
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(typical->jobs[0].share > 0.5 && typical->jobs[0].share < 0.65);
    typical_release(&book);
    request_class_table_release(&request_classes);
    ledger_free(ledger);
    cluster_free(cluster);
}

static const char policy_text[] = "{\"placement\": \"fgd\"}";

/* A job of one GPU, beside a node of four that are free and one of three: for jobs of one GPU both are alike, for
 * those of four the second is lost already.  told: that those of four are usual. */
static node_id chosen_node(bool is_told)
{
    static const struct job_group kinds[] = {{.request = {.gpus = 4}, .count = 9, .min_count = 9}};
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), policy_text);
    sched_case_adopt(&c, sched_case_job(0, 1, 1, 50),
                     (struct piece){.node = 1, .gpu_mask = 1, .gpu_milli = GPU_MILLI, .member_count = 1});
    if (is_told)
        sched_typical_told(c.sched, kinds, 1, SECONDS(1));
    sched_case_submit(&c, sched_case_job(1, 1, 1, 50), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    const node_id node = c.decisions[0].pieces[0].node;
    sched_case_close(&c);
    return node;
}

TEST(what_is_told_counts_and_not_what_comes)
{
    assert_int_equal(chosen_node(false), 0);
    assert_int_equal(chosen_node(true), 1);
}
