/* The ready models of workloads/models meet the published summaries that they are made from: in closed form, and, at
 * the full size, as 10^6 jobs that are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/interval.h"
#include "workloads/load_model/load_draw.h"

/* Means and medians of run time and GPUs of GPU jobs, and shares completed, cancelled, failed (0: not published).
 * Philly, Helios, Seren, Kalos, PAI: InternLM/AcmeTrace, data/cluster_summary.csv; Venus to Uranus:
 * S-Lab-System-Group/HeliosData, cluster_summary.csv; both CC-BY-4.0. */
static const struct published {
    const char *name;
    double run_mean_s, run_median_s, gpus_mean, gpus_median, completed, cancelled, failed;
} published[] = {
    {"philly", 18006.055, 874, 1.928, 1, 0.604, 0.09, 0.305}, {"helios", 6651.681, 206, 3.716, 1, 0.624, 0.221, 0.155},
    {"seren", 1414.335, 122, 5.68, 1, 0.497, 0.075, 0.429},   {"kalos", 1259.689, 124, 26.77, 1, 0.541, 0.062, 0.397},
    {"pai", 4787.109, 480.667, 0.683, 0.5, 0, 0, 0},          {"venus", 13040.598, 204, 6.736, 1, 0.526, 0.272, 0.202},
    {"earth", 5130.609, 234, 2.101, 1, 0.735, 0.136, 0.129},  {"saturn", 5252.927, 124, 4.01, 1, 0.582, 0.272, 0.145},
    {"uranus", 9163.725, 280, 4.038, 1, 0.607, 0.201, 0.192},
};
enum { MODEL_COUNT = sizeof published / sizeof *published };

#define SHARE_MISS 0.02 /* two points */

static const struct load_model *model_of(const struct published *of, struct arena *arena)
{
    const struct load_model *model;
    char path[64];
    snprintf(path, sizeof path, "workloads/models/%s.json", of->name);
    assert_false(error_is(load_model_open(&model, path, arena)));
    return model;
}

static void assert_near(const char *name, const char *what, double is, double wanted, double part)
{
    if (!(fabs(is / wanted - 1) <= part))
        fail_msg("%s: %s is %g, published %g", name, what, is, wanted);
}

static void assert_shares(const struct published *of, const double shares[OUTCOME_COUNT])
{
    if (of->completed <= 0)
        return;
    if (fabs(shares[OUTCOME_COMPLETED] - of->completed) > SHARE_MISS ||
        fabs(shares[OUTCOME_CANCELLED] - of->cancelled) > SHARE_MISS ||
        fabs(shares[OUTCOME_FAILED] - of->failed) > SHARE_MISS)
        fail_msg("%s: shares by outcome %.3f %.3f %.3f are not those published", of->name, shares[OUTCOME_COMPLETED],
                 shares[OUTCOME_CANCELLED], shares[OUTCOME_FAILED]);
}

static double gpus_up_to(const struct load_model *model, double gpus)
{
    double sum = 0, whole = 0;
    for (uint32_t i = 0; i < model->streams[0].kind_count; i++) {
        const struct load_kind *kind = &model->streams[0].kinds[i];
        whole += kind->weight;
        sum += load_kind_gpus(kind) <= gpus ? kind->weight : 0;
    }
    return sum / whole;
}

static void test_closed_forms(void **state)
{
    (void)state;
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        struct arena arena = {0};
        const struct published *of = &published[m];
        const struct load_model *model = model_of(of, &arena);
        const struct load_moments moments = load_model_moments(model);
        assert_near(of->name, "the mean run time", moments.run_time_s, of->run_mean_s, 0.01);
        assert_near(of->name, "the mean of GPUs", moments.gpus, of->gpus_mean, 0.01);
        assert_near(of->name, "the part of jobs up to the median run time",
                    load_model_run_time_cdf(model, of->run_median_s), 0.5, 0.01);
        assert_true(gpus_up_to(model, of->gpus_median) >= 0.5 && gpus_up_to(model, of->gpus_median * 0.99) < 0.5);
        assert_shares(of, moments.outcome);
        arena_release(&arena);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void check_draws(const struct published *of, const struct load_model *model, uint64_t count, double part)
{
    const struct load_draw_plan plan = {.seed = 1, .job_count = count, .until = TIME_NEVER, .rate_factor = 1};
    double *run_s = mem_zalloc(count, sizeof *run_s), *gpus = mem_zalloc(count, sizeof *gpus);
    double run_sum = 0, gpu_sum = 0, shares[OUTCOME_COUNT] = {0};
    struct load_draw *draw = load_draw_new(model, &plan);
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    for (uint64_t i = 0; load_draw_next(draw, &job, &truth, &origin); i++) {
        run_sum += run_s[i] = time_to_seconds(truth.duration);
        gpu_sum += gpus[i] = (double)job_gpu_milli(&job) / GPU_MILLI;
        shares[truth.outcome] += 1.0 / (double)count;
    }
    load_draw_free(draw);
    qsort(run_s, count, sizeof *run_s, ascending);
    qsort(gpus, count, sizeof *gpus, ascending);
    if (test_is_full()) /* a few long jobs decide the mean of fewer draws */
        assert_near(of->name, "the mean run time of the draws", run_sum / (double)count, of->run_mean_s, part);
    assert_near(of->name, "the median run time of the draws", run_s[count / 2], of->run_median_s, part);
    assert_near(of->name, "the mean of GPUs of the draws", gpu_sum / (double)count, of->gpus_mean, part);
    assert_near(of->name, "the median of GPUs of the draws", gpus[count / 2], of->gpus_median, part);
    assert_shares(of, shares);
    mem_free(run_s);
    mem_free(gpus);
}

static void test_draws(void **state)
{
    const uint64_t count = test_is_full() ? 1000000 : 50000;
    (void)state;
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        struct arena arena = {0};
        check_draws(&published[m], model_of(&published[m], &arena), count, test_is_full() ? 0.1 : 0.2);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
