/* The ready models of workloads/models meet the published summaries that they are made from, and that of the main
 * scenario the scenario: in closed form, and, at the full size, as 10^6 jobs that are drawn. */
#include "tests/support/test.h"
#include <math.h>
#include <stdlib.h>

#include "sim/scenario/scenario.h"
#include "tests/support/interval.h"
#include "workloads/load_model/load_draw.h"
#include "workloads/synth/synth_spec.h"

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

static const struct load_model *model_of(const char *name, struct arena *arena)
{
    const struct load_model *model;
    char path[64];
    snprintf(path, sizeof path, "workloads/models/%s.json", name);
    assert_false(error_is(load_model_open(&model, path, arena)));
    return model;
}

static void assert_near(const char *name, const char *what, double is, double wanted, double part)
{
    if (!(fabs(is / wanted - 1) <= part))
        fail_msg("%s: %s is %g, must be %g", name, what, is, wanted);
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

/* Part of the jobs that run at most x seconds. */
static double run_time_cdf(const struct load_model *model, double x)
{
    double sum = 0, rate = 0;
    for (uint32_t s = 0; s < model->stream_count; s++) {
        const struct load_stream *stream = &model->streams[s];
        double below = 0, weights = 0;
        for (uint32_t i = 0; i < stream->kind_count; i++) {
            const struct load_kind *kind = &stream->kinds[i];
            weights += kind->weight;
            below += kind->weight * distribution_cdf(&kind->run_time, load_kind_gpus(kind), x);
        }
        sum += stream->arrivals.jobs_per_day * below / weights;
        rate += stream->arrivals.jobs_per_day;
    }
    return sum / rate;
}

TEST(test_closed_forms)
{
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        struct arena arena = {0};
        const struct published *of = &published[m];
        const struct load_model *model = model_of(of->name, &arena);
        const struct load_moments moments = load_model_moments(model);
        assert_near(of->name, "the mean run time", moments.run_time_s, of->run_mean_s, 0.01);
        assert_near(of->name, "the mean of GPUs", moments.gpus, of->gpus_mean, 0.01);
        assert_near(of->name, "the part of jobs up to the median run time", run_time_cdf(model, of->run_median_s), 0.5,
                    0.01);
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

TEST(test_draws)
{
    const uint64_t count = test_is_full() ? 1000000 : 50000;
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        struct arena arena = {0};
        check_draws(&published[m], model_of(published[m].name, &arena), count, test_is_full() ? 0.1 : 0.2);
        arena_release(&arena);
    }
}

/* ---- The main scenario's mix ---- */

#define MIX "h100-500x8"
enum { MIX_CLASSES = 4 };

static void scenario_of(struct scenario *scenario, uint64_t jobs)
{
    char count[64];
    snprintf(count, sizeof count, "workload.synth.jobs=%llu", (unsigned long long)jobs);
    const char *const sets[] = {count, "workload.synth.duration=5000d"};
    const struct scenario_options options = {.path = "scenarios/" MIX ".json", .sets = sets, .set_count = 2};
    assert_false(error_is(scenario_load(scenario, &options)));
}

static double class_gpus(const struct synth_class *class)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < class->size_count; i++) {
        const struct ask *ask = &class->sizes[i].ask;
        sum += class->sizes[i].weight * (ask->gpu_milli > 0 ? (double)ask->gpu_milli / GPU_MILLI : (double)ask->gpus);
        weights += class->sizes[i].weight;
    }
    return sum / weights;
}

static void assert_class(const struct load_stream *stream, const struct synth_class *class, double load_gpus)
{
    const struct load_model alone = {stream, 1};
    const struct load_moments moments = load_model_moments(&alone);
    const double mean_s = synth_class_mean_s(class), gpu_s = synth_class_whole_gpus(class) * mean_s;
    assert_string_equal(stream->name, class->name);
    assert_int_equal(stream->class, class->class);
    assert_near(class->name, "the rate", moments.jobs_per_day, class->share * load_gpus / gpu_s * 86400, 0.005);
    assert_near(class->name, "the mean run time", moments.run_time_s, mean_s, 0.005);
    assert_near(class->name, "the mean of GPUs", moments.gpus, class_gpus(class), 1e-6);
    assert_near(class->name, "the mean GPU time", moments.gpu_s, class_gpus(class) * mean_s, 0.005);
    assert_true(fabs(moments.outcome[OUTCOME_FAILED] - class->fail_early) < 1e-6);
    assert_true(fabs(moments.outcome[OUTCOME_CANCELLED] - class->cancelled) < 1e-6);
}

TEST(test_mix_closed_forms)
{
    struct arena arena = {0};
    struct scenario scenario;
    const struct load_model *model = model_of(MIX, &arena);
    scenario_of(&scenario, 1);
    const struct synth_spec *spec = scenario.workload.synth;
    assert_int_equal(model->stream_count, spec->class_count);
    for (uint32_t i = 0; i < spec->class_count; i++)
        assert_class(&model->streams[i], &spec->classes[i], spec->load_whole_gpu * spec->load_gpus);
    scenario_release(&scenario);
    arena_release(&arena);
}

struct drawn {
    double run_s, gpus;
    uint32_t class, outcome;
};

static void from_scenario(struct drawn *drawn, uint64_t count)
{
    struct scenario scenario;
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    uint64_t made = 0;
    scenario_of(&scenario, count);
    assert_false(error_is(scenario_open(&scenario, &source)));
    while (!error_is(job_source_next(source, &job, &truth, &has)) && has)
        drawn[made++] = (struct drawn){time_to_seconds(truth.duration), (double)job_gpu_milli(&job) / GPU_MILLI,
                                       truth.workload_class - 1u, truth.outcome};
    assert_int_equal(made, count);
    job_source_close(source);
    scenario_release(&scenario);
}

static void from_model(struct drawn *drawn, uint64_t count)
{
    struct arena arena = {0};
    const struct load_model *model = model_of(MIX, &arena);
    const struct load_draw_plan plan = {.seed = 1, .job_count = count, .until = TIME_NEVER, .rate_factor = 1};
    struct load_draw *draw = load_draw_new(model, &plan);
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    for (uint64_t i = 0; load_draw_next(draw, &job, &truth, &origin); i++)
        drawn[i] = (struct drawn){time_to_seconds(truth.duration), (double)job_gpu_milli(&job) / GPU_MILLI,
                                  (uint32_t)(origin.stream - model->streams), truth.outcome};
    load_draw_free(draw);
    arena_release(&arena);
}

enum { ANY = 99 };

/* The run times, or GPUs, of the jobs of a class and outcome, sorted. */
static uint64_t chosen(const struct drawn *drawn, uint64_t count, uint32_t class, uint32_t outcome, bool gpus,
                       double *out)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        if ((class == ANY || drawn[i].class == class) && (outcome == ANY || drawn[i].outcome == outcome))
            out[found++] = gpus ? drawn[i].gpus : drawn[i].run_s;
    qsort(out, found, sizeof *out, ascending);
    return found;
}

static double mean_of(const double *values, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Mean, median and share of such jobs of the model and of the scenario are alike. */
static void assert_alike(const struct drawn *drawn[2], uint64_t count, uint32_t class, uint32_t outcome, double part)
{
    double *values[2] = {mem_zalloc(count, sizeof(double)), mem_zalloc(count, sizeof(double))};
    char name[64];
    snprintf(name, sizeof name, MIX ", class %u, outcome %u", class, outcome);
    for (int gpus = 0; gpus < 2; gpus++) {
        uint64_t found[2];
        for (int side = 0; side < 2; side++)
            found[side] = chosen(drawn[side], count, class, outcome, gpus != 0, values[side]);
        if (fabs((double)found[0] - (double)found[1]) > SHARE_MISS * (double)count)
            fail_msg("%s: %g and %g of %g jobs", name, (double)found[0], (double)found[1], (double)count);
        if (found[0] < 100)
            continue;
        assert_true(found[1] >= 100);
        assert_near(name, gpus ? "the mean of GPUs" : "the mean run time", mean_of(values[0], found[0]),
                    mean_of(values[1], found[1]), part);
        if (!gpus || (class == ANY && outcome == ANY)) /* half of small training has one GPU: its median may be 2 */
            assert_near(name, gpus ? "the median of GPUs" : "the median run time", values[0][found[0] / 2],
                        values[1][found[1] / 2], part);
    }
    mem_free(values[0]);
    mem_free(values[1]);
}

TEST(test_mix_draws)
{
    const uint64_t count = test_is_full() ? 1000000 : 50000;
    const double part = test_is_full() ? 0.1 : 0.2;
    struct drawn *drawn[2] = {mem_zalloc(count, sizeof **drawn), mem_zalloc(count, sizeof **drawn)};
    const struct drawn *const_drawn[2] = {drawn[0], drawn[1]};
    from_model(drawn[0], count);
    from_scenario(drawn[1], count);
    assert_alike(const_drawn, count, ANY, ANY, part);
    for (uint32_t class = 0; class < MIX_CLASSES; class ++)
        assert_alike(const_drawn, count, class, ANY, part);
    for (uint32_t outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        assert_alike(const_drawn, count, ANY, outcome, part);
    mem_free(drawn[0]);
    mem_free(drawn[1]);
}
