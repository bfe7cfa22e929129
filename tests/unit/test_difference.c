/* One metric on two sides: marks, missing seeds, order of the table, words. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "reports/difference.h"
#include "reports/statistics/student.h"

enum { N = 6 };

static const double base[N] = {100, 110, 95, 105, 120, 90};
static const double noise[N] = {0.5, -1.1, 0.9, -0.4, 1.2, -1.0};

static struct difference compare(const char *metric, double shift, const struct difference_how *how)
{
    double candidate[N];
    const struct metric_selector of = {.metric = metric};
    for (size_t i = 0; i < N; i++)
        candidate[i] = base[i] + shift + noise[i];
    return difference_of(how, &of, base, N, candidate, N);
}

static void assert_words(const struct difference *difference, const char *expected)
{
    struct buffer out = {0};
    difference_write(difference, &out);
    assert_string_equal(buffer_c_string(&out), expected);
    buffer_release(&out);
}

TEST(test_marks)
{
    const struct difference_how how = {.level = 0.95};
    assert_int_equal(compare("queue_time_p95_s", 9, &how).mark, '-');
    assert_int_equal(compare("queue_time_p95_s", -9, &how).mark, '+');
    assert_int_equal(compare("queue_time_p95_s", 0.2, &how).mark, '~');
    assert_int_equal(compare("allocation_ratio", 9, &how).mark, '+');
    assert_int_equal(compare("allocation_ratio", -9, &how).mark, '-');
    assert_int_equal(compare("offered_load_ratio", 9, &how).mark, '*');
    /* A stricter level knows less. */
    const struct difference_how strict = {.level = 0.99999999};
    assert_int_equal(compare("queue_time_p95_s", 9, &strict).mark, '~');
}

TEST(test_numbers_are_those_of_the_tests)
{
    const struct difference_how how = {.level = 0.9}, unpaired = {.level = 0.9, .is_unpaired = true};
    const struct metric_selector of_p95 = {.metric = "queue_time_p95_s"};
    double candidate[N];
    for (size_t i = 0; i < N; i++)
        candidate[i] = base[i] + 9 + noise[i];
    struct difference d = compare("queue_time_p95_s", 9, &how);
    double logs[2][N];
    for (size_t i = 0; i < N; i++) {
        logs[0][i] = log(base[i]);
        logs[1][i] = log(candidate[i]);
    }
    const struct inference of = student_paired(logs[0], logs[1], N, 0, 0.9);
    assert_true(d.change.is_ratio && d.change.of.p == of.p && fabs(d.change.value - (exp(of.mean) - 1)) < 1e-12);
    assert_true(fabs(d.change.low - (exp(of.low) - 1)) < 1e-12 && fabs(d.change.high - (exp(of.high) - 1)) < 1e-12);
    assert_true(d.p_rank == 2.0 / 64); /* all six differences are positive */
    assert_true(fabs(d.difference - (d.candidate - d.base)) < 1e-12);
    d = difference_of(&unpaired, &of_p95, base, N, candidate, N);
    const struct inference welch = student_welch(logs[0], N, logs[1], N, 0, 0.9);
    assert_true(d.change.of.p == welch.p && fabs(d.change.low - (exp(welch.low) - 1)) < 1e-12);
    assert_true(d.p_rank > 2.0 / 64);
}

TEST(test_equal_exact_and_missing)
{
    const struct difference_how how = {.level = 0.95}, exact = {.level = 0.95, .is_exact = true};
    const struct metric_selector of = {.metric = "queue_time_p95_s"};
    struct difference d = difference_of(&how, &of, base, N, base, N);
    assert_true(d.mark == '=' && d.change.value == 0 && d.change.low == 0 && d.change.high == 0 && d.n == N);
    assert_words(&d, "=");
    const double a = 100, b = 112.3, none = NAN;
    d = difference_of(&exact, &of, &a, 1, &b, 1);
    assert_true(d.mark == '-' && !inference_has_interval(&d.change.of));
    assert_words(&d, "+12.3 %");
    d = difference_of(&how, &of, &a, 1, &b, 1);
    assert_true(d.mark == '~' && d.n == 1);
    d = difference_of(&how, &of, &a, 1, &none, 1);
    assert_true(d.mark == '?' && d.n == 0 && d.missing == 1 && isnan(d.difference));
    assert_words(&d, "\xe2\x80\x93");
    const double gaps[] = {100, NAN, 95, 105, NAN, 90}, other[] = {101, 2, 97, NAN, NAN, 90.5};
    d = difference_of(&how, &of, gaps, N, other, N);
    assert_true(d.n == 3 && d.missing == 3 && d.base == 95);
    const double zeros[N] = {0};
    double sixty[N];
    for (size_t i = 0; i < N; i++)
        sixty[i] = 60 + noise[i];
    d = difference_of(&how, &of, zeros, N, sixty, N);
    assert_true(d.mark == '-' && !d.change.is_ratio);
    assert_words(&d, "+1m 00s (+59 s to +1m 01s)");
}

TEST(test_words)
{
    const struct difference_how how = {.level = 0.95};
    const struct difference d = compare("queue_time_p95_s", 9, &how);
    char expected[64];
    snprintf(expected, sizeof expected, "%+.1f %% (%+.1f to %+.1f %%)", 100 * d.change.value, 100 * d.change.low,
             100 * d.change.high);
    assert_words(&d, expected);
    assert_non_null(strstr(expected, "+8.8 % (+"));
}

/* Law: value and interval have one unit, and no percentage is below -100 %.  Both were seen: "-86.9 % (-127.2 to -55.1
 * %)" where the base's mean is uncertain, "+496.7 % (+14m 19s to +1h 29m)" where it may be zero. */
TEST(test_value_and_interval_have_one_unit)
{
    static const double ups[] = {2, 40, 3, 900, 1, 30}, downs[] = {0.5, 3, 1, 2, 0.4, 5},
                        some[] = {0, 40, 0, 900, 1, 30};
    const struct difference_how how = {.level = 0.95};
    const struct metric_selector of = {.metric = "queue_time_p95_s"};
    struct difference d = difference_of(&how, &of, ups, N, downs, N);
    assert_true(d.change.is_ratio && d.change.low > -1 && d.change.low < d.change.value);
    assert_true(d.change.value < d.change.high);
    struct buffer out = {0};
    difference_write(&d, &out);
    assert_null(strstr(buffer_c_string(&out), " s"));
    out.length = 0;
    d = difference_of(&how, &of, some, N, ups, N); /* a zero: both in seconds */
    assert_false(d.change.is_ratio);
    difference_write(&d, &out);
    assert_null(strchr(buffer_c_string(&out), '%'));
    assert_non_null(strstr(buffer_c_string(&out), " s ("));
    buffer_release(&out);
}

/* A metric of the whole run, or of a queue, exact on both sides. */
static struct difference exact_of(const char *metric, bool is_of_queue, double of_base, double of_candidate)
{
    const struct difference_how how = {.level = 0.95, .is_exact = true};
    const struct metric_selector of = {.metric = metric, .cut = is_of_queue ? "queue" : NULL, .key = "q"};
    return difference_of(&how, &of, &of_base, 1, &of_candidate, 1);
}

/* Each by hand; the largest amounts of the whole run are 5,000 jobs, 80,000 GPU hours and 4,000 job hours. */
TEST(test_sizes_are_relative_to_what_matters)
{
    const struct {
        const char *metric;
        double base, candidate, size;
        bool is_of_queue;
    } given[] = {
        {"jobs_submitted", 5000, 5000, 0, false},
        {"asked_gpu_h", 80000, 80000, 0, false},
        {"wait_resources_job_h", 1000, 4000, 0.75, false},
        {"queue_time_p95_s", 600, 1200, 0.5, false}, /* a doubling and a halving */
        {"queue_time_mean_s", 1200, 600, 0.5, false},
        {"queue_time_p50_s", 0, 2, 0.2, false}, /* of 10 s */
        {"queue_time_max_s", 0, 3600, 1, false},
        {"lost_per_eviction_s", 1, 2, 0.1, false},
        {"idle_reserved_ratio", 0, 0.0005, 0.005, false}, /* of a tenth */
        {"allocation_ratio", 0.6, 0.8, 0.25, false},
        {"slowdown_bounded_mean", 10, 4, 0.6, false},
        {"preemptions", 0, 50, 0.1, false},           /* of 500 jobs */
        {"lost_gpu_h", 0, 400, 0.05, false},          /* of 8,000 GPU hours */
        {"wait_priority_job_h", 10, 30, 0.05, false}, /* of 400 job hours */
        {"cost_per_job_usd", 2, 2.5, 0.2, false},
        {"jobs_pending", 40, 90, 0.1, true},     /* a queue, against the whole run */
        {"jobs_submitted", 1e6, 2e6, 0.5, true}, /* is not the whole run */
        {"mfu_ratio", NAN, 0.4, 0, false},
    };
    enum { COUNT = sizeof given / sizeof *given };
    struct difference list[COUNT], swapped[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        list[i] = exact_of(given[i].metric, given[i].is_of_queue, given[i].base, given[i].candidate);
        swapped[i] = exact_of(given[i].metric, given[i].is_of_queue, given[i].candidate, given[i].base);
    }
    differences_measure(list, COUNT);
    differences_measure(swapped, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        if (fabs(list[i].size - given[i].size) > 1e-12)
            fail_msg("%s: size %g, not %g", given[i].metric, list[i].size, given[i].size);
        assert_true(list[i].size == swapped[i].size);
    }
    differences_measure(NULL, 0);
}

TEST(test_what_moved_most_comes_first)
{
    static const struct {
        char mark;
        double size;
    } given[] = {{'=', 0},    {'~', 0.01}, {'+', 0.2}, {'?', 0}, {'~', 0.9},
                 {'-', 0.05}, {'*', 0.2},  {'-', 1},   {'=', 0}, {'+', 0.3}};
    static const size_t order[] = {7, 9, 2, 6, 5, 4, 1, 0, 8, 3};
    struct difference table[10] = {0};
    for (size_t i = 0; i < 10; i++) {
        table[i].mark = given[i].mark;
        table[i].size = given[i].size;
        table[i].n = i;
    }
    differences_sort(table, 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(table[i].n, order[i]);
    differences_sort(NULL, 0);
}
