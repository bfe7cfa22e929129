/* workloads/distribution/distribution.h: means and probabilities agree with numerical integration, draws with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>

#include "reports/statistics/two_samples.h"
#include "tests/support/json_text.h"
#include "workloads/distribution/distribution.h"

static const char *const laws[] = {
    "{'distribution': 'exponential', 'mean': 60}",
    "{'distribution': 'exponential', 'mean': '1m', 'max': 100}",
    "{'distribution': 'lognormal', 'median': 60, 'sigma': 1.5}",
    "{'distribution': 'lognormal', 'median': 60, 'sigma': 1.5, 'max': 200}",
    "{'distribution': 'gamma', 'shape': 0.5, 'scale': 120}",
    "{'distribution': 'gamma', 'shape': 2, 'scale': 120, 'max': 300}",
    "{'distribution': 'gamma', 'shape': 10.46, 'scale': 0.4871, 'log': true, 'max': 442413}",
    "{'distribution': 'weibull', 'shape': 0.7, 'scale': 60}",
    "{'distribution': 'weibull', 'shape': 0.7, 'scale': 60, 'max': 90}",
    ("{'distribution': 'hyper-gamma', 'first_share': 0.78, 'first_share_per_gpu': -0.0054, 'shapes': [4.2, 312], "
     "'scales': [0.94, 0.03], 'log': true, 'max': 162754}"),
    "{'distribution': 'hyper-gamma', 'first_share': 0.3, 'shapes': [1, 5], 'scales': [10, 2]}",
    "{'distribution': 'empirical', 'points': [[0, 1], [0.25, 1], [0.5, 60], [1, 7200]]}",
    "{'distribution': 'empirical', 'points': [[0, 0], [0.1, 0], [0.4, 3], [0.9, 3], [1, 50]]}",
};
enum { LAW_COUNT = sizeof laws / sizeof *laws };

static struct distribution read(const char *text, struct arena *arena)
{
    struct error error = ERROR_OK;
    struct distribution of;
    struct json_doc *doc = json_text_parse("law.json", text);
    const struct json_value root = json_doc_root(doc, &error);
    distribution_read(&of, &root, arena, true);
    assert_false(error_is(error));
    json_doc_free(doc);
    return of;
}

struct tail {
    const struct distribution *of;
    double gpus;
};

/* P(X > e^t) e^t, whose integral over t is the mean. */
static double tail_at(double t, void *self)
{
    const struct tail *tail = self;
    return (1 - distribution_cdf(tail->of, tail->gpus, exp(t))) * exp(t);
}

static void test_mean_is_the_integral_of_the_tail(void **state)
{
    (void)state;
    gsl_integration_workspace *space = gsl_integration_workspace_alloc(2000);
    for (size_t i = 0; i < LAW_COUNT; i++)
        for (double gpus = 1; gpus < 200; gpus *= 100) {
            struct arena arena = {0};
            const struct distribution of = read(laws[i], &arena);
            struct tail tail = {&of, gpus};
            gsl_function function = {tail_at, &tail};
            double is, error;
            gsl_integration_qag(&function, -30, 25, 0, 1e-7, 2000, GSL_INTEG_GAUSS21, space, &is, &error);
            if (fabs(distribution_mean(&of, gpus) / is - 1) > 1e-5)
                fail_msg("%s: the mean %.9g is not the integral of the tail, %.9g", laws[i],
                         distribution_mean(&of, gpus), is);
            arena_release(&arena);
        }
    gsl_integration_workspace_free(space);
}

static void test_quantiles_invert_probabilities(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct arena arena = {0};
        const struct distribution of = read(laws[i], &arena);
        for (double u = 0.001; u < 1 && distribution_has_quantile(&of); u += 0.0213) {
            const double x = distribution_quantile(&of, u);
            /* where values are tied the probability jumps over u */
            if (distribution_cdf(&of, 1, x * (1 - 1e-9) - 1e-9) > u + 1e-6 ||
                distribution_cdf(&of, 1, x * (1 + 1e-9)) < u - 1e-6)
                fail_msg("%s: P(X <= %g) is %g, not %g", laws[i], x, distribution_cdf(&of, 1, x), u);
        }
        arena_release(&arena);
    }
}

/* Kolmogorov's distance of 20,000 draws exceeds 0.0162 with a probability of 5e-5. */
static void test_draws_have_the_distribution(void **state)
{
    enum { DRAWS = 20000 };
    (void)state;
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct arena arena = {0};
        struct random_stream stream;
        const struct distribution of = read(laws[i], &arena);
        double sum[20] = {0};
        random_stream_init(&stream, 7, "test", i);
        for (int k = 0; k < DRAWS; k++) {
            const double x = distribution_draw(&of, 30, &stream);
            assert_true(x >= 0 && x <= of.max);
            for (int q = 0; q < 20; q++)
                sum[q] += x <= exp(q * 0.6);
        }
        for (int q = 0; q < 20; q++)
            if (fabs(sum[q] / DRAWS - distribution_cdf(&of, 30, exp(q * 0.6))) > 0.0162)
                fail_msg("%s: %g of the draws are at most %g, not %g", laws[i], sum[q] / DRAWS, exp(q * 0.6),
                         distribution_cdf(&of, 30, exp(q * 0.6)));
        arena_release(&arena);
    }
}

static void test_what_is_written_reads_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct arena arena = {0};
        struct buffer first = {0}, second = {0};
        const struct distribution of = read(laws[i], &arena);
        distribution_write(&of, &first);
        const struct distribution again = read(buffer_c_string(&first), &arena);
        distribution_write(&again, &second);
        assert_string_equal(buffer_c_string(&first), buffer_c_string(&second));
        assert_true(fabs(distribution_mean(&of, 8) / distribution_mean(&again, 8) - 1) < 1e-9);
        buffer_release(&first);
        buffer_release(&second);
        arena_release(&arena);
    }
}

static void test_points_of_values_keep_mean_and_median(void **state)
{
    enum { COUNT = 50000 };
    struct random_stream stream;
    struct arena arena = {0};
    double *values = mem_zalloc(COUNT, sizeof *values), sum = 0;
    (void)state;
    random_stream_init(&stream, 3, "values", 0);
    const struct distribution law = read("{'distribution': 'lognormal', 'median': 60, 'sigma': 2.6}", &arena);
    for (int i = 0; i < COUNT; i++) /* sorted, as probabilities ascend */
        sum += values[i] = distribution_quantile(&law, (i + random_uniform(&stream)) / COUNT);
    for (uint32_t most = 50; most <= 400; most *= 2) {
        const struct distribution of = distribution_of_values(values, COUNT, most, &arena);
        assert_true(of.point_count <= most);
        const double miss = 0.002;
        assert_true(fabs(distribution_mean(&of, 1) / (sum / COUNT) - 1) < miss);
        assert_true(fabs(distribution_quantile(&of, 0.5) / values[COUNT / 2] - 1) < miss);
        assert_true(fabs(distribution_quantile(&of, 1 - 1e-12) / values[COUNT - 1] - 1) < 1e-6);
    }
    const double one = 5;
    const struct distribution single = distribution_of_values(&one, 1, DISTRIBUTION_MADE_MIN, &arena);
    assert_true(fabs(distribution_mean(&single, 1) - 5) < 1e-12);
    mem_free(values);
    arena_release(&arena);
}

static void assert_refused(const char *text, const char *message, int line, int column)
{
    struct error error = ERROR_OK;
    struct arena arena = {0};
    struct distribution of;
    char place[64];
    struct json_doc *doc = json_text_parse("law.json", text);
    const struct json_value root = json_doc_root(doc, &error);
    distribution_read(&of, &root, &arena, true);
    assert_true(error_is(error));
    char *is = error_text_new(&error);
    snprintf(place, sizeof place, "law.json:%d:%d: ", line, column);
    if (strstr(is, place) == NULL || strstr(is, message) == NULL)
        fail_msg("not '%s%s' but %s", place, message, is);
    free(is);
    error_release(&error);
    json_doc_free(doc);
    arena_release(&arena);
}

static void test_refusals_name_the_place(void **state)
{
    (void)state;
    assert_refused("{'distribution': 'lognormal', 'median': 60}", "sigma", 1, 1);
    assert_refused("{'distribution': 'exponential',\n 'mean': 0}", "'mean' must be more than 0", 2, 10);
    assert_refused("{'distribution': 'exponential', 'mean': 9,\n 'max': 1}", "'max' must not be below the median", 1,
                   1);
    assert_refused("{'distribution': 'gamma', 'shape': 1, 'scale': 1, 'log': true}", "the mean is infinite", 1, 1);
    assert_refused("{'distribution': 'empirical',\n 'points': [[0, 2], [1, 1]]}", "must not decrease", 2, 21);
    assert_refused("{'distribution': 'empirical',\n 'points': [[0, 2], [0.5, 3]]}", "the last one 1", 2, 21);
    assert_refused("{'distribution': 'hyper-gamma', 'first_share': 1,\n 'shapes': [1], 'scales': [1, 2]}",
                   "two numbers", 2, 12);
    assert_refused("{'distribution': 'weibull', 'shape': 1, 'scale': 1,\n 'sigma': 1}", "sigma", 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_is_the_integral_of_the_tail),
        cmocka_unit_test(test_quantiles_invert_probabilities),
        cmocka_unit_test(test_draws_have_the_distribution),
        cmocka_unit_test(test_what_is_written_reads_back),
        cmocka_unit_test(test_points_of_values_keep_mean_and_median),
        cmocka_unit_test(test_refusals_name_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
