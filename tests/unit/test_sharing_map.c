/* What sharing policies make of what is asked, case by case, and whose it is. */
#include <stdio.h>

#include "tests/support/test.h"

#include "policies/sharing/sharings.h"
#include "tests/support/sched_case.h"

struct fixture {
    struct cluster *cluster;
    struct queue_table *queues;
    queue_id top, team, deep;
};

static void open_fixture(struct fixture *f, const char *cluster)
{
    f->cluster = sched_case_cluster(cluster);
    f->queues = queue_table_new();
    f->top = queue_table_add(f->queues, text_of("top"), QUEUE_ROOT);
    f->team = queue_table_add(f->queues, text_of("team"), f->top);
    f->deep = queue_table_add(f->queues, text_of("deep"), f->team);
}

static void close_fixture(struct fixture *f)
{
    queue_table_free(f->queues);
    cluster_free(f->cluster);
}

static const char one_model[] = "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', "
                                "'mig_recut': true}]}";

struct asked {
    struct request request;
    enum job_class class;
    uint32_t more; /* members beside the first */
};

static struct request map_as(const struct fixture *f, const struct sharing_policy *policy,
                             const struct sharing_config *config, struct asked asked)
{
    const struct sharing sharing = {policy, config != NULL ? config : &policy->defaults, f->cluster, f->queues, true};
    struct job_group groups[1];
    struct job job = job_default();
    job.queue = f->deep;
    job.class = (uint8_t)asked.class;
    job.first.request = asked.request;
    job.first.count = job.first.min_count = 1 + asked.more;
    sharing_map(&sharing, &job, groups);
    return groups[0].request;
}

static struct request map(const struct fixture *f, const struct sharing_policy *policy, struct request request,
                          enum job_class class)
{
    return map_as(f, policy, NULL, (struct asked){request, class, 0});
}

TEST(test_whole)
{
    struct fixture f;
    open_fixture(&f, one_model);
    assert_int_equal(map(&f, &sharing_whole, (struct request){.gpu_milli = 1}, 0).gpus, 1);
    assert_int_equal(map(&f, &sharing_whole, (struct request){.mig = 1 + MIG_3G}, 0).gpus, 1);
    assert_int_equal(map(&f, &sharing_whole, (struct request){.mig = 1 + MIG_3G}, 0).mig, 0);
    assert_int_equal(map(&f, &sharing_whole, (struct request){.gpu_memory_mib = 5}, 0).gpus, 1);
    assert_int_equal(map(&f, &sharing_whole, (struct request){.gpus = 4}, 0).gpus, 4);
    assert_int_equal(map(&f, &sharing_whole, (struct request){.cpu_milli = 4}, 0).gpus, 0);
    /* more than a GPU has is no GPU's */
    assert_int_equal(map(&f, &sharing_whole, (struct request){.gpu_memory_mib = 90 << 10}, 0).gpus, 0);
    close_fixture(&f);
}

/* The smallest instance with the compute and the memory; seven sevenths are a whole GPU. */
TEST(test_mig)
{
    static const struct {
        uint16_t milli;
        uint32_t memory_gib;
        int profile; /* -1: whole */
    } rows[] = {{142, 0, MIG_1G},     {143, 0, MIG_2G}, {285, 0, MIG_2G}, {286, 0, MIG_3G}, {428, 0, MIG_3G},
                {429, 0, MIG_4G},     {571, 0, MIG_4G}, {572, 0, -1},     {0, 9, MIG_1G},   {0, 10, MIG_1G_2MEM},
                {0, 19, MIG_1G_2MEM}, {0, 20, MIG_3G},  {0, 39, MIG_3G},  {0, 40, -1}};
    struct fixture f;
    open_fixture(&f, one_model);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct request got =
            map(&f, &sharing_mig,
                (struct request){.gpu_milli = rows[i].milli, .gpu_memory_mib = rows[i].memory_gib << 10}, JOB_TRAINING);
        assert_int_equal(got.mig, rows[i].profile + 1);
        assert_int_equal(got.gpus, rows[i].profile < 0);
        assert_int_equal(got.gpu_milli + got.gpu_memory_mib, 0);
    }
    close_fixture(&f);
}

/* Seven of the smallest instances fit one GPU, as shares too. */
TEST(test_mps)
{
    static const uint16_t milli[] = {
        [MIG_1G] = 142, [MIG_1G_ME] = 142, [MIG_1G_2MEM] = 250, [MIG_2G] = 285, [MIG_3G] = 500, [MIG_4G] = 571};
    struct fixture f;
    open_fixture(&f, one_model);
    for (uint8_t p = 0; p < MIG_7G; p++) {
        const struct request got = map(&f, &sharing_mps, (struct request){.mig = (uint8_t)(p + 1)}, JOB_INFERENCE);
        assert_int_equal(got.gpu_milli, milli[p]);
        assert_int_equal(got.share, SHARE_MPS);
        assert_int_equal(got.domain, f.deep + 1);
    }
    assert_int_equal(map(&f, &sharing_mps, (struct request){.mig = 1 + MIG_7G}, 0).gpus, 1);
    assert_int_equal(map(&f, &sharing_mps, (struct request){.gpu_milli = 333}, 0).gpu_milli, 333);
    const struct request memory = map(&f, &sharing_mps, (struct request){.gpu_memory_mib = 4096}, JOB_TRAINING);
    assert_int_equal(memory.gpu_memory_mib, 4096); /* another part of each model */
    assert_int_equal(memory.share, SHARE_MPS);
    assert_int_equal(map(&f, &sharing_mps, (struct request){.gpus = 1}, 0).domain, 0);
    close_fixture(&f);
}

TEST(test_timeslice)
{
    struct fixture f;
    open_fixture(&f, one_model);
    const struct request whole = {.gpus = 1}, two = {.gpus = 2};
    const struct request got = map(&f, &sharing_timeslice, whole, JOB_INTERACTIVE);
    assert_int_equal(got.gpu_milli, 250);
    assert_int_equal(got.share, SHARE_TIMESLICE);
    assert_int_equal(got.domain, 0);
    assert_int_equal(map(&f, &sharing_timeslice, whole, JOB_TRAINING).gpus, 1);
    assert_int_equal(map(&f, &sharing_timeslice, two, JOB_INTERACTIVE).gpus, 2);
    /* a share is in one island; only whole GPUs are asked to be (job_complaint) */
    const struct request close = {.gpus = 1, .one_island = true}, close_two = {.gpus = 2, .one_island = true};
    assert_false(map(&f, &sharing_timeslice, close, JOB_INTERACTIVE).one_island);
    assert_true(map(&f, &sharing_timeslice, close, JOB_TRAINING).one_island);
    assert_true(map(&f, &sharing_timeslice, close_two, JOB_INTERACTIVE).one_island);
    /* half of the memory is half of the GPU, however little it computes */
    const struct request memory = {.gpu_memory_mib = 40 << 10};
    assert_int_equal(map(&f, &sharing_timeslice, memory, JOB_INTERACTIVE).gpu_milli, 500);
    /* whole GPUs of several members work together; parts of GPUs never did */
    const struct asked eight = {whole, JOB_INTERACTIVE, 7}, parts = {{.gpu_milli = 900}, JOB_INTERACTIVE, 7};
    assert_int_equal(map_as(&f, &sharing_timeslice, NULL, eight).gpus, 1);
    assert_int_equal(map_as(&f, &sharing_trust, NULL, eight).gpus, 1);
    assert_int_equal(map_as(&f, &sharing_timeslice, NULL, parts).gpu_milli, 250);
    close_fixture(&f);
}

TEST(test_trust)
{
    const struct request share = {.gpu_milli = 142};
    struct fixture f;
    open_fixture(&f, one_model);
    assert_int_equal(map(&f, &sharing_trust, share, JOB_INFERENCE).mig, 1 + MIG_1G);
    assert_int_equal(map(&f, &sharing_trust, share, JOB_TRAINING).share, SHARE_MPS);
    assert_int_equal(map(&f, &sharing_trust, share, JOB_INTERACTIVE).share, SHARE_TIMESLICE);
    close_fixture(&f);
    open_fixture(
        &f, "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb'}]}"); /* never cut */
    assert_int_equal(map(&f, &sharing_trust, share, JOB_INFERENCE).share, SHARE_MPS);
    close_fixture(&f);
}

/* A service keeps the nodes that its share could be on: if only a part of the cluster is partitioned, it runs under
 * MPS. */
TEST(test_trust_keeps_nodes)
{
    static const char cut[] = "'gpus_layout': [['1g.10gb', '1g.10gb', '2g.20gb'], ['1g.10gb', '3g.40gb']]}";
    const struct request share = {.gpu_milli = 142}, instance = {.mig = 1 + MIG_1G};
    char text[400];
    struct fixture f;
    snprintf(text, sizeof text,
             "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', %s]}", cut);
    open_fixture(&f, text);
    assert_int_equal(map(&f, &sharing_trust, share, JOB_INFERENCE).mig, 1 + MIG_1G);
    close_fixture(&f);
    snprintf(text, sizeof text,
             "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', %s, "
             "{'name': 'b', 'nodes': 3, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb'}]}",
             cut);
    open_fixture(&f, text);
    assert_int_equal(map(&f, &sharing_trust, share, JOB_INFERENCE).share, SHARE_MPS);
    assert_int_equal(map(&f, &sharing_trust, instance, JOB_INFERENCE).mig, 1 + MIG_1G); /* it asked for one */
    assert_int_equal(map(&f, &sharing_trust, instance, JOB_INTERACTIVE).mig, 1 + MIG_1G);
    close_fixture(&f);
}

/* Where there is nothing to share, trust changes nothing; GPUs that cannot be partitioned are shared under MPS. */
TEST(test_trust_does_no_harm)
{
    static const struct asked kept[] = {{{.gpus = 1}, JOB_TRAINING, 0},           {{.gpus = 8}, JOB_TRAINING, 31},
                                        {{.gpus = 1}, JOB_INFERENCE, 0},          {{.gpus = 2}, JOB_INFERENCE, 3},
                                        {{.gpus = 2}, JOB_INTERACTIVE, 0},        {{.gpus = 1}, JOB_INTERACTIVE, 1},
                                        {{.cpu_milli = 4000}, JOB_INTERACTIVE, 0}};
    const struct request share = {.gpu_milli = 142};
    struct fixture f;
    open_fixture(&f, "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 8, 'gpu_model': 'v100-32gb'}]}");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct request got = map_as(&f, &sharing_trust, NULL, kept[i]);
        assert_true(request_is_same(&got, &kept[i].request));
    }
    const struct request got = map(&f, &sharing_trust, share, JOB_INFERENCE);
    assert_int_equal(got.share, SHARE_MPS);
    assert_int_equal(got.gpu_milli, 142);
    close_fixture(&f);
}

/* Isolation says whose it is, apart from the kind; trust how far a team reaches. */
TEST(test_domains)
{
    const struct asked share = {{.gpu_milli = 100}, JOB_TRAINING, 0}, whole = {{.gpus = 1}, JOB_TRAINING, 0},
                       instance = {{.mig = 1}, JOB_TRAINING, 0};
    struct fixture f;
    open_fixture(&f, one_model);
    for (uint8_t i = ISOLATION_PROCESS; i <= ISOLATION_NODE; i++) {
        const struct sharing_config config = {.trust = TRUST_PARENT, .isolation = i};
        const uint32_t own = f.team + 1;
        assert_int_equal(map_as(&f, &sharing_as_asked, &config, share).domain, i == ISOLATION_PROCESS ? 0 : own);
        assert_int_equal(map_as(&f, &sharing_as_asked, &config, whole).domain, i == ISOLATION_NODE ? own : 0);
        assert_int_equal(map_as(&f, &sharing_as_asked, &config, instance).domain, i == ISOLATION_NODE ? own : 0);
    }
    assert_int_equal(sharing_domain(f.queues, f.deep, TRUST_QUEUE), f.deep);
    assert_int_equal(sharing_domain(f.queues, f.deep, TRUST_PARENT), f.team);
    assert_int_equal(sharing_domain(f.queues, f.deep, TRUST_TOP), f.top);
    assert_int_equal(sharing_domain(f.queues, f.top, TRUST_PARENT), f.top);
    assert_int_equal(sharing_domain(f.queues, QUEUE_ROOT, TRUST_TOP), QUEUE_ROOT);
    close_fixture(&f);
}

/* Memory that a small model has not is not asked of it, whatever is made of the part. */
TEST(test_models)
{
    struct fixture f;
    open_fixture(&f, "{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}, "
                     "{'name': 'b', 'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'a100-40gb'}]}");
    const struct request large = {.gpu_memory_mib = 50 << 10}, small = {.gpu_memory_mib = 20 << 10};
    const struct request got = map(&f, &sharing_whole, large, JOB_TRAINING);
    assert_int_equal(got.gpus, 1);
    assert_int_equal(__builtin_popcountll(got.gpu_models), 1);
    assert_true(f.cluster->models[__builtin_ctzll(got.gpu_models)].memory_mib >= 50 << 10);
    assert_int_equal(map(&f, &sharing_whole, small, JOB_TRAINING).gpu_models, 0);
    close_fixture(&f);
}
