/* workloads/load_model: arrivals have the rate, the clustering and the days of their plan; ranks their memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "reports/statistics/two_samples.h"
#include "tests/support/json_text.h"
#include "workloads/load_model/load_arrivals.h"
#include "workloads/load_model/load_draw.h"

#define DAY_S 86400.0

struct times {
    double *of;
    size_t count, capacity;
};

/* The model of one stream with these arrivals. */
static const struct load_model *model_of(const char *arrivals, struct arena *arena)
{
    struct error error = ERROR_OK;
    struct buffer text = {0};
    buffer_format(&text,
                  "{'workload_model': 1, 'streams': [{'name': 'a', 'arrivals': %s, 'kinds': [{'gpus': 1, 'run_time': "
                  "{'distribution': 'constant', 'mean': 60}}]}]}",
                  arrivals);
    struct json_doc *doc = json_text_parse("model.json", buffer_c_string(&text));
    const struct json_value root = json_doc_root(doc, &error);
    const struct load_model *model = load_model_read(&root, arena);
    if (error_is(error))
        fail_msg("%s: %s", arrivals, error_message(&error));
    json_doc_free(doc);
    buffer_release(&text);
    return model;
}

static struct times draw(const char *arrivals, double days, uint64_t seed)
{
    struct arena arena = {0};
    struct times times = {0};
    const struct load_draw_plan plan = {
        .seed = seed, .job_count = UINT64_MAX, .until = time_from_seconds(days * DAY_S), .rate_factor = 1};
    struct load_draw *draw = load_draw_new(model_of(arrivals, &arena), &plan);
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    while (load_draw_next(draw, &job, &truth, &origin)) {
        MEM_GROW(times.of, times.capacity, times.count + 1);
        times.of[times.count++] = time_to_seconds(job.submit);
        assert_true(times.count < 2 || times.of[times.count - 2] <= times.of[times.count - 1]);
        assert_true(times.of[times.count - 1] < days * DAY_S);
    }
    load_draw_free(draw);
    arena_release(&arena);
    return times;
}

static double gap_cv(const struct times *times)
{
    double sum = 0, squares = 0;
    for (size_t i = 1; i < times->count; i++) {
        const double gap = times->of[i] - times->of[i - 1];
        sum += gap;
        squares += gap * gap;
    }
    const double n = (double)times->count - 1, mean = sum / n;
    return sqrt(fmax(0, squares / n - mean * mean)) / mean;
}

static void assert_about(const char *what, double is, double wanted, double most)
{
    if (!(fabs(is - wanted) <= most))
        fail_msg("%s is %g, not %g +- %g", what, is, wanted, most);
}

/* A renewal process of n gaps with coefficient of variation c has n (1 +- c / sqrt(n)); five of these. */
static void test_renewal(void **state)
{
    static const struct {
        const char *gaps;
        double cv;
    } laws[] = {
        {"{'distribution': 'exponential'}", 1},
        {"{'distribution': 'gamma', 'shape': 0.25}", 2},
        {"{'distribution': 'weibull', 'shape': 0.5}", 2.2360679}, /* sqrt(Gamma(5) / Gamma(3)^2 - 1) */
        {"{'distribution': 'constant'}", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        struct buffer text = {0};
        buffer_format(&text, "{'jobs_per_day': 1000, 'gaps': %s}", laws[i].gaps);
        struct times times = draw(buffer_c_string(&text), 50, 3);
        assert_about("the number of jobs", (double)times.count, 50000, 2 + 5 * laws[i].cv * sqrt(50000));
        assert_about("the variation of gaps", gap_cv(&times), laws[i].cv, 0.05 * laws[i].cv + 1e-3);
        mem_free(times.of);
        buffer_release(&text);
    }
}

static void test_poisson_counts(void **state)
{
    struct times times = draw("{'jobs_per_day': 2400}", 100, 1);
    (void)state;
    assert_about("the dispersion of a Poisson process", sequence_dispersion(times.of, times.count, 3600), 1, 0.15);
    mem_free(times.of);
}

/* Cox and Isham: an MMPP of two states with rates a and b, and stays of 1/p and 1/q, has the dispersion in the long run
 * 1 + 2 p q (a - b)^2 / ((p + q)^2 (a q + b p)); per hour here. */
static void test_states_make_an_mmpp(void **state)
{
    struct times times =
        draw("{'jobs_per_day': 2400, 'states': [{'factor': 3, 'mean': '1h'}, {'factor': 0.5, 'mean': '3h'}]}", 2000, 2);
    const double p = 1, q = 1.0 / 3, scale = 100 / ((3 * q + 0.5 * p) / (p + q)), a = 3 * scale, b = 0.5 * scale;
    const double wanted = 1 + 2 * p * q * (a - b) * (a - b) / ((p + q) * (p + q) * (a * q + b * p));
    (void)state;
    assert_about("the rate of an MMPP", (double)times.count / 2000, 2400, 60);
    assert_about("the dispersion of an MMPP", sequence_dispersion(times.of, times.count, 3600 * 100), wanted,
                 0.15 * wanted);
    mem_free(times.of);
}

static void test_cycle(void **state)
{
    struct times times = draw("{'jobs_per_day': 1000, 'cycle': {'period': '1d', 'factors': [1, 0, 5, 2]}}", 100, 1);
    double parts[4] = {0};
    (void)state;
    for (size_t i = 0; i < times.count; i++)
        parts[(int)(fmod(times.of[i], DAY_S) / (DAY_S / 4))]++;
    assert_about("the first quarter", parts[0], 12500, 600);
    assert_about("a quarter of factor 0", parts[1], 0, 0);
    assert_about("the third quarter", parts[2], 62500, 1300);
    mem_free(times.of);
}

static void test_days_have_their_jobs(void **state)
{
    static const double factors[] = {1, 0, 4, 3};
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct times times =
            draw("{'jobs_per_day': 101, 'gaps': {'distribution': 'weibull', 'shape': 0.4}, 'gap_memory': "
                 "{'strength': 0.5, 'jobs': 7}, 'days': {'factors': [1, 0, 4, 3]}}",
                 8, seed);
        double days[8] = {0};
        for (size_t i = 0; i < times.count; i++)
            days[(int)(times.of[i] / DAY_S)]++;
        for (int d = 0; d < 8; d++)
            assert_about("the jobs of a day", days[d], 101 * factors[d % 4] / 2, 0.9999);
        mem_free(times.of);
    }
}

/* Of two kinds of days, drawn in runs of ten on average, each second of them follows one of its own kind in 9 of 10
 * cases and half of the draws: the list alternates, so that a run shows as changes of the day. */
static void test_days_are_drawn_in_runs(void **state)
{
    struct times times = draw("{'jobs_per_day': 10, 'days': {'factors': [0, 2], 'run': '10d'}}", 20000, 1);
    int changes = 0, full = 0;
    char *has = mem_zalloc(20001, 1);
    (void)state;
    for (size_t i = 0; i < times.count; i++)
        has[(int)(times.of[i] / DAY_S)] = 1;
    for (int d = 0; d < 20000; d++) {
        changes += d > 0 && has[d] != has[d - 1];
        full += has[d];
    }
    assert_about("the part of full days", full / 20000.0, 0.5, 0.02);
    assert_about("the part of changes", changes / 19999.0, 0.95, 0.01); /* 0.9 in a run, half of 0.1 at its end */
    mem_free(has);
    mem_free(times.of);
}

static void test_clients_share_the_rate(void **state)
{
    struct arena arena = {0};
    const struct load_model *model =
        model_of("{'jobs_per_day': 1000, 'gaps': {'distribution': 'gamma', 'shape': 0.3}, 'clients': {'count': 4, "
                 "'zipf_exponent': 1}}",
                 &arena);
    const struct load_draw_plan plan = {.seed = 4, .job_count = 100000, .until = TIME_NEVER, .rate_factor = 2};
    struct load_draw *draw = load_draw_new(model, &plan);
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    double by_user[5] = {0}, last_s = 0;
    (void)state;
    while (load_draw_next(draw, &job, &truth, &origin)) {
        by_user[origin.user]++;
        last_s = time_to_seconds(job.submit);
    }
    assert_about("the jobs of no client", by_user[0], 0, 0);
    for (int u = 1; u <= 4; u++) /* 1/u of H(4) = 25/12 */
        assert_about("the share of a client", by_user[u] / 100000, 12.0 / 25 / u, 0.01);
    assert_about("the days", last_s / DAY_S, 50, 2);
    load_draw_free(draw);
    arena_release(&arena);
}

/* Ranks are uniform, and their normal scores correlate as s (1 - l / jobs). */
static void test_ranks(void **state)
{
    enum { COUNT = 200000 };
    static const size_t lags[] = {1, 3, 9, 10, 25};
    double *ranks = mem_zalloc(COUNT, sizeof *ranks), *scores = mem_zalloc(COUNT, sizeof *scores);
    (void)state;
    for (int is_even = 0; is_even < 2; is_even++) {
        struct load_rank rank;
        const struct load_memory memory = {.strength = 0.6, .jobs = 10};
        double tenths[10] = {0}, sum = 0;
        load_rank_init(&rank, &memory, is_even, 3, "test", 0);
        for (int i = 0; i < COUNT; i++) {
            ranks[i] = load_rank_next(&rank);
            scores[i] = gsl_cdf_ugaussian_Pinv(ranks[i]);
            tenths[(int)(ranks[i] * 10)]++;
            sum += ranks[i];
        }
        for (int t = 0; t < 10; t++)
            assert_about("a tenth of the ranks", tenths[t] / COUNT, 0.1, 0.006);
        assert_about("the mean rank", sum / COUNT, 0.5, is_even ? 0.0005 : 0.006);
        for (size_t l = 0; l < sizeof lags / sizeof *lags; l++)
            assert_about("the correlation", sequence_correlation(scores, COUNT, lags[l]),
                         0.6 * fmax(0, 1 - (double)lags[l] / 10), 0.03);
    }
    mem_free(ranks);
    mem_free(scores);
}

/* A stream draws the same jobs with and without others beside it. */
static void test_streams_are_independent(void **state)
{
    static const char *const one = "{'name': 'a', 'arrivals': {'jobs_per_day': 50}, 'kinds': [{'gpus': 2, 'run_time': "
                                   "{'distribution': 'exponential', 'mean': 60}}]}";
    double sums[2] = {0};
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct arena arena = {0};
        struct buffer text = {0};
        struct error error = ERROR_OK;
        buffer_format(&text, "{'workload_model': 1, 'streams': [%s%s]}", one,
                      others ? ", {'name': 'b', 'arrivals': {'jobs_per_day': 500}, 'kinds': [{'gpus': 1, 'run_time': "
                               "{'distribution': 'constant', 'mean': 1}}]}"
                             : "");
        struct json_doc *doc = json_text_parse("model.json", buffer_c_string(&text));
        const struct json_value root = json_doc_root(doc, &error);
        const struct load_model *model = load_model_read(&root, &arena);
        assert_false(error_is(error));
        const struct load_draw_plan plan = {
            .seed = 1, .job_count = UINT64_MAX, .until = time_from_seconds(100 * DAY_S), .rate_factor = 1};
        struct load_draw *draw = load_draw_new(model, &plan);
        struct job job;
        struct job_truth truth;
        struct load_origin origin;
        while (load_draw_next(draw, &job, &truth, &origin))
            if (origin.stream == &model->streams[0])
                sums[others] += time_to_seconds(job.submit) + time_to_seconds(truth.duration) * 1e-3;
        load_draw_free(draw);
        json_doc_free(doc);
        buffer_release(&text);
        arena_release(&arena);
    }
    assert_true(sums[0] > 0 && fabs(sums[0] - sums[1]) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renewal),
        cmocka_unit_test(test_poisson_counts),
        cmocka_unit_test(test_states_make_an_mmpp),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_days_have_their_jobs),
        cmocka_unit_test(test_days_are_drawn_in_runs),
        cmocka_unit_test(test_clients_share_the_rate),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_streams_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
