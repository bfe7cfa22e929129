/* workloads/models/lublin.json against the published constants, computed in another way: as lublin99.c of the Parallel
 * Workloads Archive draws (U. Lublin, D. Feitelson, J. Parallel and Distributed Computing 63(11), 2003), and by
 * integration over its densities. */
#include "tests/support/test.h"
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "base/random.h"
#include "workloads/load_model/load_draw.h"
#include "workloads/load_model/load_model.h"

/* lublin99.c, jobs of any type (its INCLUDE_JOBS_TYPE 0): SERIAL_PROB_ALL, POW2_PROB_ALL, ULOW_ALL, UPROB_ALL; UHI is
 * log2 of the machine, UMED is UHI - 2.5; A1_ALL .. PB_ALL; AARR_ALL, BARR_ALL, ARAR_ALL; TOO_MUCH_TIME,
 * TOO_MUCH_ARRIVE_TIME. */
static const double serial = 0.244, pow2 = 0.576, low = 0.8, medium = 8 - 2.5, high = 8, uprob = 0.86;
static const double a1 = 4.2, b1 = 0.94, a2 = 312, b2 = 0.03, pa = -0.0054, pb = 0.78;
static const double aarr = 10.2303, barr = 0.4871, arar = 1.0225;
static const double too_much_time = 12, too_much_arrive_time = 13;

static const struct load_model *lublin(struct arena *arena)
{
    const struct load_model *model;
    assert_false(error_is(load_model_open(&model, "workloads/models/lublin.json", arena)));
    return model;
}

/* ---- Sizes: the program's rule, over a fine grid of its three uniform numbers ---- */

static double size_by(double which, double stage, double within)
{
    if (which <= serial)
        return 1;
    double power = stage <= uprob ? low + within * (medium - low) : medium + within * (high - medium);
    if (which <= serial + pow2)
        power = floor(power + 0.5);
    return floor(pow(2, power) + 0.5);
}

struct sizes {
    double mean, square, serial, power_of_2, first_share;
};

static struct sizes sizes_by_rule(void)
{
    enum { STEPS = 400000 };
    const double which[] = {serial, pow2, 1 - serial - pow2}, stages[] = {uprob, 1 - uprob};
    struct sizes sum = {0};
    for (int w = 0; w < 3; w++)
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < STEPS; i++) {
                const double at_which = w == 0 ? serial / 2 : w == 1 ? serial + pow2 / 2 : 1;
                const double size = size_by(at_which, s == 0 ? 0 : 1, (i + 0.5) / STEPS);
                const double weight = which[w] * stages[s] / STEPS, log_size = log2(size);
                sum.mean += weight * size;
                sum.square += weight * size * size;
                sum.serial += size <= 1 ? weight : 0;
                sum.power_of_2 += size > 1 && fabs(log_size - rint(log_size)) < 1e-12 ? weight : 0;
                sum.first_share += weight * fmin(1, fmax(0, pa * size + pb));
            }
    return sum;
}

TEST(test_sizes)
{
    struct arena arena = {0};
    const struct load_model *model = lublin(&arena);
    const struct load_stream *stream = &model->streams[0];
    const struct sizes is = sizes_by_rule();
    double whole = 0, one = 0, powers = 0;
    for (uint32_t i = 0; i < stream->kind_count; i++) {
        const double size = load_kind_gpus(&stream->kinds[i]), log_size = log2(size);
        whole += stream->kinds[i].weight;
        one += size <= 1 ? stream->kinds[i].weight : 0;
        powers += size > 1 && fabs(log_size - rint(log_size)) < 1e-12 ? stream->kinds[i].weight : 0;
    }
    const struct load_moments moments = load_model_moments(model);
    assert_true(fabs(whole - 1) < 1e-9);
    assert_true(fabs(moments.gpus / is.mean - 1) < 1e-4);
    assert_true(fabs(moments.gpus_squared / is.square - 1) < 1e-4);
    assert_true(fabs(one - is.serial) < 1e-5);
    assert_true(fabs(powers - is.power_of_2) < 1e-4);
    arena_release(&arena);
}

/* ---- Run times and gaps: integrals of exp(x) times the gamma density, cut where the program draws again ---- */

struct cut {
    double shape, scale, power;
};

static double density(double x, void *self)
{
    const struct cut *cut = self;
    return exp(cut->power * x) * gsl_ran_gamma_pdf(x, cut->shape, cut->scale);
}

static double integral(double shape, double scale, double power, double end)
{
    struct cut cut = {shape, scale, power};
    gsl_function function = {density, &cut};
    gsl_integration_workspace *space = gsl_integration_workspace_alloc(1000);
    double is, error;
    gsl_integration_qag(&function, 0, end, 0, 1e-9, 1000, GSL_INTEG_GAUSS61, space, &is, &error);
    gsl_integration_workspace_free(space);
    return is;
}

/* E[exp(X)^power] of a job of that size. */
static double run_time_moment(double size, double power)
{
    const double p = fmin(1, fmax(0, pa * size + pb));
    return (p * integral(a1, b1, power, too_much_time) + (1 - p) * integral(a2, b2, power, too_much_time)) /
           (p * integral(a1, b1, 0, too_much_time) + (1 - p) * integral(a2, b2, 0, too_much_time));
}

TEST(test_run_times)
{
    struct arena arena = {0};
    const struct load_model *model = lublin(&arena);
    const struct load_stream *stream = &model->streams[0];
    double mean = 0, work = 0;
    for (uint32_t i = 0; i < stream->kind_count; i++) {
        const double size = load_kind_gpus(&stream->kinds[i]), seconds = run_time_moment(size, 1);
        assert_true(fabs(distribution_mean(&stream->kinds[i].run_time, size) / seconds - 1) < 1e-6);
        mean += stream->kinds[i].weight * seconds;
        work += stream->kinds[i].weight * size * seconds;
    }
    const struct load_moments moments = load_model_moments(model);
    assert_true(fabs(moments.run_time_s / mean - 1) < 1e-6);
    assert_true(fabs(moments.gpu_s / work - 1) < 1e-6);
    arena_release(&arena);
}

TEST(test_arrivals)
{
    struct arena arena = {0};
    const struct load_model *model = lublin(&arena);
    const double mean_s =
        integral(aarr * arar, barr, 1, too_much_arrive_time) / integral(aarr * arar, barr, 0, too_much_arrive_time);
    assert_true(fabs(load_model_moments(model).jobs_per_day / (86400 / mean_s) - 1) < 1e-6);
    arena_release(&arena);
}

/* ---- What is drawn, beside the program's rule drawn here ---- */

struct drawn {
    double size, log_run, serial, log_gap;
};

enum { JOBS = 100000 };

static struct drawn drawn_by_rule(void)
{
    struct random_stream stream;
    struct drawn sum = {0};
    random_stream_init(&stream, 5, "rule", 0);
    gsl_rng *rng = random_gsl(&stream);
    for (int i = 0; i < JOBS; i++) {
        const double which = random_uniform(&stream), stage = random_uniform(&stream);
        const double size = size_by(which, stage, random_uniform(&stream));
        double run, gap;
        do
            run = random_uniform(&stream) <= pa * size + pb ? gsl_ran_gamma(rng, a1, b1) : gsl_ran_gamma(rng, a2, b2);
        while (run > too_much_time);
        do
            gap = gsl_ran_gamma(rng, aarr * arar, barr);
        while (gap > too_much_arrive_time);
        sum.size += size / JOBS;
        sum.log_run += run / JOBS;
        sum.serial += size <= 1 ? 1.0 / JOBS : 0;
        sum.log_gap += gap / JOBS;
    }
    return sum;
}

/* Standard errors by the model: size 44 / sqrt(n), log of run time 3 / sqrt(n): five of both samples together. */
TEST(test_draws)
{
    struct arena arena = {0};
    const struct load_model *model = lublin(&arena);
    const struct load_draw_plan plan = {.seed = 1, .job_count = JOBS, .until = TIME_NEVER, .rate_factor = 1};
    const struct drawn rule = drawn_by_rule();
    struct load_draw *draw = load_draw_new(model, &plan);
    struct drawn sum = {0};
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    int count = 0;
    while (load_draw_next(draw, &job, &truth, &origin)) {
        const double size = (double)job_gpu_milli(&job) / GPU_MILLI;
        sum.size += size / JOBS;
        sum.serial += size <= 1 ? 1.0 / JOBS : 0;
        sum.log_run += log(fmax(time_to_seconds(truth.duration), 0.001)) / JOBS;
        count++;
    }
    assert_int_equal(count, JOBS);
    assert_true(fabs(sum.size - rule.size) < 5 * 44 * sqrt(2.0 / JOBS));
    assert_true(fabs(sum.serial - rule.serial) < 5 * 0.43 * sqrt(2.0 / JOBS));
    assert_true(fabs(sum.log_run - rule.log_run) < 5 * 3 * sqrt(2.0 / JOBS));
    load_draw_free(draw);
    arena_release(&arena);
}
