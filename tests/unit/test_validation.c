/* tests/unit/test_validation.c -- communication against what was measured: single places by hand, and sums against a
 * recount job by job. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/json_text.h"
#include "topologies/validation.h"

enum { SEEDS = 300, JOBS = 60 };

static struct cluster *cluster_of(const char *model)
{
    char text[400];
    snprintf(text, sizeof text,
             "{'pools': [{'name': 'a', 'nodes': 40, 'gpus_per_node': 8, 'gpu_model': '%s'}],"
             " 'fabric': {'nodes_per_unit': 40, 'rails': 8}}",
             model);
    struct json_doc *doc = json_text_parse("cluster", text);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_non_null(cluster);
    json_doc_free(doc);
    return cluster;
}

static struct communication declared(const char *text, uint32_t gpus)
{
    struct communication communication;
    struct json_doc *doc = json_text_parse("job", text);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    assert_true(communication_read(&communication, &object, gpus));
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return communication;
}

/* On that many nodes, with as many GPUs of each.  Ranges that other tests computed say the same as new ones. */
static struct range_verdict verdict_of(struct validation_ranges *ranges, const char *model, const char *text,
                                       uint32_t nodes, uint32_t gpus_each)
{
    struct cluster *cluster = cluster_of(model);
    struct link_place places[40];
    uint32_t count = nodes;
    for (uint32_t n = 0; n < nodes; n++)
        places[n] = (struct link_place){n, (uint16_t)((1u << gpus_each) - 1)};
    const struct gang_place place = gang_place_of(cluster, places, &count);
    const struct communication communication = declared(text, nodes * gpus_each);
    struct validation_ranges *own = validation_ranges_new();
    struct range_verdict verdict = validation_test(ranges, &communication, &place),
                         alone = validation_test(own, &communication, &place);
    assert_true(verdict.axis == alone.axis && verdict.times == alone.times && verdict.measured == alone.measured);
    validation_ranges_free(own);
    static char reason[64]; /* the cluster's name of a model goes with it */
    snprintf(reason, sizeof reason, "%s", verdict.reason != NULL ? verdict.reason : "");
    verdict.reason = verdict.reason != NULL ? reason : NULL;
    cluster_free(cluster);
    return verdict;
}

static void check(struct range_verdict verdict, const char *axis, double asked, double measured)
{
    if (axis == NULL) {
        assert_null(verdict.reason);
        return;
    }
    assert_non_null(verdict.reason);
    assert_string_equal(verdict.axis, axis);
    assert_true(verdict.asked == asked && verdict.measured == measured);
}

#define ALL_REDUCE(bytes)                                                                                              \
    "{'sensitivity': {'collective': 'all-reduce', 'exposed_ratio': 0.1, 'hidden_ratio': 0, 'bytes': " bytes "}}"
#define ALL_TO_ALL                                                                                                     \
    "{'sensitivity': {'collective': 'all-to-all', 'exposed_ratio': 0.1, 'hidden_ratio': 0, 'bytes': 1e9}}"
#define PLAN(more)                                                                                                     \
    "{'plan': {'layers': 32, 'hidden': 4096, 'sequence': 4096, 'vocabulary': 50368, 'batch': 256" more "}}"
#define MIXTURE ", 'ffn': 1536, 'gated': true, 'experts': 128, 'experts_per_token': 8, 'ep': 8"

TEST(a_place_is_inside_or_outside_by_one_axis)
{
    struct validation_ranges *ranges = validation_ranges_new();
    check(verdict_of(ranges, "h100", ALL_REDUCE("1e9"), 1, 8), NULL, 0, 0);
    check(verdict_of(ranges, "h100", ALL_REDUCE("4e9"), 8, 8), NULL, 0, 0);
    check(verdict_of(ranges, "h100", ALL_REDUCE("4e9"), 32, 8), "domains", 32, 8);
    check(verdict_of(ranges, "h100", ALL_REDUCE("4e9"), 8, 1), "GPUs", 8, 64);
    check(verdict_of(ranges, "h100", ALL_REDUCE("134217728"), 8, 8), "bytes", 0x1p27, 0x1p29);
    check(verdict_of(ranges, "h100", ALL_TO_ALL, 1, 8), "collective", 0, 0);
    check(verdict_of(ranges, "h100", PLAN(""), 16, 8), NULL, 0, 0);
    check(verdict_of(ranges, "h100", PLAN(""), 32, 4), "domains", 32, 16); /* 128 GPUs fill 16 nodes */
    check(verdict_of(ranges, "h100", PLAN(", 'zero': 3, 'precision': 'fp8'"), 16, 8), "GPUs", 128, 8);
    check(verdict_of(ranges, "h100", PLAN(", 'zero': 3" MIXTURE), 16, 8), "kind of plan", 0, 0);
    check(verdict_of(ranges, "h100", PLAN(MIXTURE), 16, 8), NULL, 0, 0);
    validation_ranges_free(ranges);
}

TEST(a_system_without_rows_is_named)
{
    struct validation_ranges *ranges = validation_ranges_new();
    struct range_verdict verdict = verdict_of(ranges, "v100-16gb", ALL_REDUCE("1e9"), 1, 8);
    check(verdict, "system", 0, 0);
    assert_string_equal(verdict.reason, "v100-16gb");
    verdict = verdict_of(ranges, "v100-32gb", ALL_REDUCE("1e9"), 1, 8);
    assert_string_equal(verdict.reason, "v100-32gb");
    check(verdict_of(ranges, "b200-180gb", PLAN(""), 16, 8), "system", 0, 0);
    validation_ranges_free(ranges);
}

TEST(who_communicates)
{
    const struct communication none = declared("{'sensitivity': 'none'}", 8), plan = declared(PLAN(""), 8);
    assert_false(validation_communicates(NULL, 8));
    assert_false(validation_communicates(&none, 8));
    assert_false(validation_communicates(&plan, 1));
    assert_true(validation_communicates(&plan, 8));
}

/* ---- sums ---- */

static const char *const axis_names[] = {"domains", "GPUs", "bytes", "system"};
enum { AXIS_COUNT = sizeof axis_names / sizeof *axis_names };

struct made_job {
    int axis; /* AXIS_COUNT: inside */
    struct range_verdict verdict;
    char name[16];
    int64_t gpu_us, outside_gpu_us;
};

static void make_job(struct random_stream *random, uint32_t index, struct made_job *job)
{
    const double factor = 1 + random_below(random, 1000) / 10.0;
    job->axis = (int)random_below(random, AXIS_COUNT + 2);
    job->axis = job->axis > AXIS_COUNT ? AXIS_COUNT : job->axis;
    job->gpu_us = random_below(random, 1000000);
    job->outside_gpu_us = job->axis == AXIS_COUNT ? 0 : random_below(random, (uint32_t)job->gpu_us + 1);
    snprintf(job->name, sizeof job->name, "job %u", index);
    if (job->axis == AXIS_COUNT)
        job->verdict = (struct range_verdict){.times = 1};
    else if (strcmp(axis_names[job->axis], "system") == 0)
        job->verdict = range_never("system", "a100-40gb");
    else
        job->verdict = (struct range_verdict){.reason = axis_names[job->axis],
                                              .times = 100 * factor / 100,
                                              .axis = axis_names[job->axis],
                                              .asked = 100 * factor,
                                              .measured = 100};
}

static void check_reason(const struct validation_reason *reason, const struct made_job *jobs)
{
    const struct made_job *farthest = NULL;
    uint64_t count = 0;
    int64_t gpu_us = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        if (jobs[j].axis == AXIS_COUNT || strcmp(axis_names[jobs[j].axis], reason->axis) != 0)
            continue;
        farthest = farthest == NULL || jobs[j].verdict.times > farthest->verdict.times ? &jobs[j] : farthest;
        gpu_us += jobs[j].outside_gpu_us;
        count++;
    }
    assert_non_null(farthest);
    assert_true(reason->jobs == count && reason->gpu_us == gpu_us);
    assert_string_equal(reason->job, farthest->name);
    assert_string_equal(reason->what, isinf(farthest->verdict.times) ? "a100-40gb" : "");
    assert_true(reason->asked == farthest->verdict.asked && reason->measured == farthest->verdict.measured);
}

static void check_same(const struct validation *a, const struct validation *b)
{
    assert_true(a->jobs == b->jobs && a->gpu_us == b->gpu_us && a->outside_jobs == b->outside_jobs &&
                a->outside_gpu_us == b->outside_gpu_us && a->reason_count == b->reason_count);
    for (uint32_t r = 0; r < a->reason_count; r++) {
        const struct validation_reason *x = &a->reasons[r], *y = &b->reasons[r];
        assert_string_equal(x->axis, y->axis);
        assert_string_equal(x->what, y->what);
        assert_string_equal(x->job, y->job);
        assert_true(x->jobs == y->jobs && x->gpu_us == y->gpu_us && x->asked == y->asked && x->measured == y->measured);
    }
}

/* result.json carries it. */
static void check_text(const struct validation *validation)
{
    struct buffer text = {0};
    struct json_doc *doc = NULL;
    struct error error = ERROR_OK;
    struct validation read;
    validation_json(validation, &text);
    error = json_doc_parse(&doc, "text", (struct text){text.bytes, text.length}, ERROR_DATA);
    assert_false(error_is(error));
    const struct json_value root = json_doc_root(doc, &error);
    validation_read(&read, &root);
    assert_string_equal(error_message(&error), "");
    check_same(validation, &read);
    json_doc_free(doc);
    buffer_release(&text);
}

TEST(sums_are_those_of_the_jobs)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_stream_init(&random, seed, "validation", 0);
        struct made_job jobs[JOBS];
        struct validation sum = {.jobs = 0};
        uint64_t outside = 0, by_reason = 0;
        int64_t gpu_us = 0, outside_gpu_us = 0;
        for (uint32_t j = 0; j < JOBS; j++) {
            make_job(&random, j, &jobs[j]);
            validation_add(&sum, jobs[j].verdict, jobs[j].name, jobs[j].gpu_us, jobs[j].outside_gpu_us);
            outside += jobs[j].axis != AXIS_COUNT;
            gpu_us += jobs[j].gpu_us;
            outside_gpu_us += jobs[j].outside_gpu_us;
        }
        assert_true(sum.jobs == JOBS && sum.outside_jobs == outside);
        assert_true(sum.gpu_us == gpu_us && sum.outside_gpu_us == outside_gpu_us);
        for (uint32_t r = 0; r < sum.reason_count; r++) {
            check_reason(&sum.reasons[r], jobs);
            assert_true(r == 0 || sum.reasons[r].gpu_us <= sum.reasons[r - 1].gpu_us);
            by_reason += sum.reasons[r].jobs;
        }
        assert_true(by_reason == outside);
        check_text(&sum);
    }
}

/* A name that is too long is cut between characters. */
TEST(names_are_cut_whole)
{
    struct validation sum = {.jobs = 0};
    char name[2 * VALIDATION_NAME_BYTES + 1];
    for (size_t i = 0; i + 1 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[sizeof name - 1] = '\0';
    validation_add(&sum, range_never("system", "x"), name, 1, 1);
    assert_true(strlen(sum.reasons[0].job) == VALIDATION_NAME_BYTES - 2);
    check_text(&sum);
}
