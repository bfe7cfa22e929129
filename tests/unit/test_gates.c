/* Verdicts of gates: by interval, by equal values, by one exact replay; Holm over a set; missing values; words. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/gates.h"
#include "reports/statistics/student.h"
#include "tests/support/json_text.h"

enum { N = 10 };

/* Noise without a pattern, mean 0, standard deviation near 1. */
static const double noise[N] = {0.3, -1.2, 0.8, 1.5, -0.6, -0.1, 0.9, -1.4, 0.5, -0.7};
static const double base[N] = {100, 120, 90, 105, 110, 95, 130, 85, 100, 115};

static const struct gate increase_5 = {.of = {.metric = "queue_time_p95_s", .cut = "class", .key = "training"},
                                       .unit = "s",
                                       .better = BETTER_LOWER,
                                       .bound = GATE_MAX_INCREASE,
                                       .amount = 0.05,
                                       .is_relative = true};

static struct gate gate_of(const char *metric, enum gate_bound bound, double amount, bool is_relative)
{
    const struct metric *found = metric_find(metric);
    return (struct gate){.of = {.metric = metric},
                         .unit = found->unit,
                         .better = found->better,
                         .bound = bound,
                         .amount = amount,
                         .is_relative = is_relative};
}

static void candidate_of(double factor, double spread, double *out)
{
    for (size_t i = 0; i < N; i++)
        out[i] = factor * base[i] + spread * noise[i];
}

static struct gate_result decide_one(const struct gate_test *test, bool is_exact)
{
    const struct gate_rule rule = {.alpha = 0.05, .looks = looks_once(N), .is_exact = is_exact};
    struct gate_result result;
    gates_decide(&rule, test, 1, &result);
    return result;
}

static void assert_words(const struct gate_test *test, const struct gate_result *result, const char *expected)
{
    struct buffer out = {0};
    gate_write(test, result, &out);
    assert_string_equal(buffer_c_string(&out), expected);
    buffer_release(&out);
}

TEST(test_beyond_within_and_between)
{
    double candidate[N];
    struct gate_test test = {.gate = &increase_5, .base = base, .candidate = candidate, .count = N};
    candidate_of(1.12, 3, candidate);
    struct gate_result result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_FAILED);
    assert_int_equal(result.method, METHOD_PAIRED_T);
    assert_true(result.n == N && result.missing == 0 && result.level == 0.95);
    assert_true(result.low > 0.05 && result.p < 0.05 && result.p_rank < 0.05);
    assert_true(fabs(result.difference - (result.candidate - result.base)) < 1e-12 && result.is_ratio);
    assert_words(&test, &result,
                 "queue_time_p95_s of training: +11.9 % (interval +9.9 to +14.0 %), at most +5 % allowed: failed");
    candidate_of(1.0, 3, candidate);
    test.side = "new";
    result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_PASSED);
    assert_true(result.high < 0.05 && result.p < 0.05);
    assert_words(&test, &result,
                 "new: queue_time_p95_s of training: -0.1 % (interval -2.1 to +2.0 %), at most +5 % allowed: passed");
    candidate_of(1.05, 3, candidate);
    test.side = NULL;
    result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_INCONCLUSIVE);
    assert_true(result.low < 0.05 && result.high > 0.05 && result.p > 0.05);
    assert_words(&test, &result,
                 "queue_time_p95_s of training: +4.9 % (interval +2.9 to +7.0 %), at most +5 % allowed: inconclusive"
                 " (n = 10)");
}

/* Its p is that of the paired t test of ln b - ln (1.05 a); where a value is not positive, of b - 1.05 a. */
TEST(test_the_test_of_a_part)
{
    double candidate[N], scaled[N];
    candidate_of(1.08, 6, candidate);
    for (size_t i = 0; i < N; i++)
        scaled[i] = 1.05 * base[i];
    const struct gate_test test = {.gate = &increase_5, .base = base, .candidate = candidate, .count = N};
    candidate[0] = 0;
    struct gate_result result = decide_one(&test, false);
    struct inference of = student_paired(scaled, candidate, N, 0, 0.95);
    assert_true(result.p == of.p && of.p < 1 && !result.is_ratio);
    /* Told in the unit, and as it was tested. */
    assert_true(fabs(result.bound - 0.05 * result.base) < 1e-12 && fabs(result.value - result.difference) < 1e-12);
    assert_true(fabs(result.low - (of.low + result.bound)) < 1e-12);
    candidate_of(1.08, 6, candidate);
    result = decide_one(&test, false);
    for (size_t i = 0; i < N; i++) {
        scaled[i] = log((1 + 0.05) * base[i]);
        candidate[i] = log(candidate[i]);
    }
    of = student_paired(scaled, candidate, N, 0, 0.95);
    assert_true(result.p == of.p && of.p < 1 && result.is_ratio);
}

static void assert_state(struct gate gate, double shift, double spread, enum gate_state expected)
{
    double candidate[N];
    for (size_t i = 0; i < N; i++)
        candidate[i] = base[i] + shift + spread * noise[i];
    const struct gate_test test = {.gate = &gate, .base = base, .candidate = candidate, .count = N};
    const struct gate_result result = decide_one(&test, false);
    assert_int_equal(result.state, expected);
    /* The interval agrees with the verdict. */
    const bool is_of_one_side = gate.bound == GATE_MAX || gate.bound == GATE_MIN;
    const bool is_upper = gate.bound == GATE_MAX_INCREASE || gate.bound == GATE_MAX;
    const double bound = gate.bound == GATE_MAX_DECREASE ? -gate.amount : gate.amount;
    const double low = result.low, high = result.high;
    assert_true(low < high);
    assert_int_equal(expected == GATE_FAILED, is_upper ? low > bound : high < bound);
    assert_int_equal(expected == GATE_PASSED, is_upper ? high < bound : low > bound);
    assert_true(is_of_one_side || fabs(result.difference - shift) < 1);
}

TEST(test_each_kind_of_bound)
{
    const struct gate up = gate_of("queue_time_p95_s", GATE_MAX_INCREASE, 5, false);
    assert_state(up, 8, 1, GATE_FAILED);
    assert_state(up, 2, 1, GATE_PASSED);
    assert_state(up, 5, 1, GATE_INCONCLUSIVE);
    const struct gate down = gate_of("allocation_ratio", GATE_MAX_DECREASE, 5, false);
    assert_state(down, -8, 1, GATE_FAILED);
    assert_state(down, -2, 1, GATE_PASSED);
    assert_state(down, 8, 1, GATE_PASSED);
    assert_state(down, -5, 1, GATE_INCONCLUSIVE);
    const struct gate part = gate_of("allocation_ratio", GATE_MAX_DECREASE, 0.05, true);
    assert_state(part, -8, 1, GATE_FAILED);
    assert_state(part, -2, 1, GATE_PASSED);
    const struct gate gain = gate_of("queue_time_p95_s", GATE_MAX_INCREASE, -0.05, true);
    assert_state(gain, -2, 1, GATE_FAILED);
    assert_state(gain, -9, 1, GATE_PASSED);
    const struct gate most = gate_of("queue_time_p95_s", GATE_MAX, 130, false);
    assert_state(most, 60, 1, GATE_FAILED);
    assert_state(most, 0, 1, GATE_PASSED);
    assert_state(most, 25, 1, GATE_INCONCLUSIVE);
    const struct gate least = gate_of("allocation_ratio", GATE_MIN, 130, false);
    assert_state(least, -3, 1, GATE_FAILED);
    assert_state(least, 60, 1, GATE_PASSED);
}

TEST(test_equal_values_decide_at_once)
{
    struct gate_test test = {.gate = &increase_5, .base = base, .candidate = base, .count = 1};
    struct gate_result result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_PASSED);
    assert_int_equal(result.method, METHOD_EQUAL);
    assert_true(result.p == 0 && result.low == 0 && result.high == 0);
    test.count = N;
    result = decide_one(&test, false);
    assert_words(&test, &result, "queue_time_p95_s of training: equal in all 10 seeds, at most +5 % allowed: passed");
    const struct gate none = gate_of("preemptions", GATE_MAX_INCREASE, 0, false);
    test.gate = &none;
    assert_int_equal(decide_one(&test, false).state, GATE_PASSED);
    /* It asks for a gain. */
    const struct gate gain = gate_of("preemptions", GATE_MAX_INCREASE, -0.05, true);
    test.gate = &gain;
    assert_int_equal(decide_one(&test, false).state, GATE_FAILED);
    /* On the bound in every seed, but for rounding: within. */
    double candidate[N];
    candidate_of(1.05, 0, candidate);
    test.gate = &increase_5;
    test.candidate = candidate;
    result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_PASSED);
    assert_words(&test, &result,
                 "queue_time_p95_s of training: +5.0 % (on the bound in all 10 seeds), at most +5 % allowed: passed");
}

static struct gate_result decide_shifted(const struct gate *gate, double shift, double spread, bool is_last)
{
    double candidate[N];
    for (size_t i = 0; i < N; i++)
        candidate[i] = base[i] + shift + spread * noise[i];
    const struct gate_test test = {.gate = gate, .base = base, .candidate = candidate, .count = N};
    const struct gate_rule rule = {.alpha = 0.05, .looks = is_last ? looks_once(N) : looks_up_to(40), .look = !is_last};
    struct gate_result result;
    gates_decide(&rule, &test, 1, &result);
    return result;
}

static void assert_outcome(const struct gate *gate, const struct gate_result *result, const char *expected)
{
    struct buffer out = {0};
    gate_write_outcome(gate, result, &out);
    assert_non_null(strstr(buffer_c_string(&out), expected));
    buffer_release(&out);
}

/* The base's mean is 105.  A change without effect was inconclusive where the base itself sat on the bound. */
TEST(test_an_absolute_bound_is_about_the_change)
{
    const struct gate on = gate_of("preemptions", GATE_MAX, 105, false),
                      broken = gate_of("preemptions", GATE_MAX, 60, false);
    struct gate_test test = {.gate = &on, .base = base, .candidate = base, .count = N};
    struct gate_result result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_PASSED);
    assert_outcome(&on, &result, "(the base's values in all 10 seeds), at most 105 allowed: passed");
    test.gate = &broken;
    result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_PASSED);
    assert_outcome(&broken, &result, ": passed, the base already breaks it (105)");
    assert_int_equal(decide_one(&test, true).state, GATE_PASSED);
    /* Worse for sure: it fails although the base is beyond the bound, or on it. */
    result = decide_shifted(&broken, 3, 1, false);
    assert_int_equal(result.state, GATE_FAILED);
    assert_outcome(&broken, &result, ": failed, worse than the base (105), which breaks it too");
    result = decide_shifted(&on, 40, 1, false);
    assert_true(result.state == GATE_FAILED && result.base_is == GATE_BASE_ON);
    /* Better for sure passes, wherever the bound is. */
    assert_int_equal(decide_shifted(&broken, -3, 1, false).state, GATE_PASSED);
    assert_int_equal(decide_shifted(&on, -3, 1, false).state, GATE_PASSED);
    /* Not known to be worse: the last look passes what the base breaks for sure, and says so; other looks go on. */
    result = decide_shifted(&broken, 0.1, 1, false);
    assert_true(result.state == GATE_INCONCLUSIVE && !result.is_settled);
    result = decide_shifted(&broken, 0.1, 1, true);
    assert_true(result.state == GATE_PASSED && result.is_settled);
    assert_outcome(&broken, &result, ": passed, the base already breaks it (105) and the change is not surely worse");
    result = decide_shifted(&on, 0.1, 1, true);
    assert_int_equal(result.state, GATE_INCONCLUSIVE);
    assert_outcome(&on, &result, "the base itself is on the bound)");
    /* Beyond the bound for sure and worse for sure are both needed: far beyond, hardly worse. */
    result = decide_shifted(&on, 0.3, 1, true);
    assert_int_equal(result.state, GATE_INCONCLUSIVE);
    /* Without a base the bound decides alone. */
    test = (struct gate_test){.gate = &broken, .candidate = base, .count = N};
    assert_int_equal(decide_one(&test, false).state, GATE_FAILED);
}

/* The same shift in every seed has no variance: five seeds are too few, ten do. */
TEST(test_constant_differences_count_signs)
{
    const struct gate gate = gate_of("preemptions", GATE_MAX_INCREASE, 1, false);
    double candidate[N];
    for (size_t i = 0; i < N; i++)
        candidate[i] = base[i] + 3;
    struct gate_test test = {.gate = &gate, .base = base, .candidate = candidate, .count = 5};
    struct gate_result result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_INCONCLUSIVE);
    assert_true(result.p == 0.0625 && result.low == -INFINITY);
    assert_words(&test, &result, "preemptions: +3.0 (no interval, n = 5), at most +1.0 allowed: inconclusive (n = 5)");
    test.count = N;
    result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_FAILED);
    assert_int_equal(result.method, METHOD_SIGNS);
    assert_true(result.low == 3 && result.high == 3);
}

TEST(test_one_exact_replay)
{
    const double a = 100;
    double b = 112.3;
    struct gate_test test = {.gate = &increase_5, .base = &a, .candidate = &b, .count = 1};
    assert_int_equal(decide_one(&test, false).state, GATE_INCONCLUSIVE);
    struct gate_result result = decide_one(&test, true);
    assert_int_equal(result.state, GATE_FAILED);
    assert_int_equal(result.method, METHOD_EXACT);
    assert_words(&test, &result,
                 "queue_time_p95_s of training: +12.3 % (this replay alone, n = 1), at most +5 % allowed: failed");
    b = 104;
    assert_int_equal(decide_one(&test, true).state, GATE_PASSED);
    b = NAN;
    assert_int_equal(decide_one(&test, true).state, GATE_NOT_DEFINED);
    const struct gate most = gate_of("queue_time_p95_s", GATE_MAX, 600, false);
    test = (struct gate_test){.gate = &most, .side = "new", .candidate = &b, .count = 1};
    b = 725;
    result = decide_one(&test, true);
    assert_int_equal(result.state, GATE_FAILED);
    assert_words(&test, &result,
                 "new: queue_time_p95_s: 12m 05s (this replay alone, n = 1), at most 10m 00s allowed: failed");
    b = 600;
    assert_int_equal(decide_one(&test, true).state, GATE_PASSED);
}

TEST(test_missing_values)
{
    double a[N], b[N];
    struct gate_test test = {.gate = &increase_5, .base = a, .candidate = b, .count = N};
    memcpy(a, base, sizeof a);
    candidate_of(1.0, 3, b);
    a[2] = b[2] = NAN; /* a run that crashed */
    struct gate_result result = decide_one(&test, false);
    assert_true(result.state == GATE_PASSED && result.n == 9 && result.missing == 1 && result.half_missing == 0);
    a[2] = 100; /* the candidate alone has none: it may be the worst */
    result = decide_one(&test, false);
    assert_true(result.state == GATE_INCONCLUSIVE && result.n == 9 && result.half_missing == 1);
    assert_true(gates_are_settled(&result, 1)); /* more seeds would not let it pass */
    struct buffer out = {0};
    gate_write(&test, &result, &out);
    assert_non_null(strstr(buffer_c_string(&out), ": inconclusive (in 1 of 10 seeds one side has no value)"));
    buffer_release(&out);
    candidate_of(1.3, 3, b);
    b[2] = NAN;
    assert_int_equal(decide_one(&test, false).state, GATE_FAILED);
    for (size_t i = 0; i < N; i++)
        b[i] = i % 2 == 0 ? NAN : INFINITY;
    result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_NOT_DEFINED);
    assert_true(result.n == 0 && result.p == 1);
    assert_words(&test, &result,
                 "queue_time_p95_s of training: no seed has a value on both sides, at most +5 % allowed: not defined");
    const struct gate most = gate_of("queue_time_p95_s", GATE_MAX, 600, false);
    test.gate = &most;
    candidate_of(1, 3, b);
    b[0] = NAN;
    result = decide_one(&test, false);
    assert_true(result.state == GATE_INCONCLUSIVE && result.n == 9 && result.half_missing == 1);
    a[0] = NAN; /* the seed has no run at all */
    result = decide_one(&test, false);
    assert_true(result.state == GATE_PASSED && result.missing == 1 && result.half_missing == 0);
    test.base = NULL;
    result = decide_one(&test, false);
    assert_true(result.state == GATE_PASSED && isnan(result.base) && isnan(result.difference));
}

TEST(test_sides_without_pairs)
{
    double candidate[N];
    candidate_of(1.5, 3, candidate);
    struct gate_test test = {
        .gate = &increase_5, .base = base, .base_count = 8, .candidate = candidate, .count = N, .is_unpaired = true};
    struct gate_result result = decide_one(&test, false);
    assert_int_equal(result.state, GATE_FAILED);
    assert_int_equal(result.method, METHOD_WELCH_T);
    double scaled[8];
    for (size_t i = 0; i < 8; i++)
        scaled[i] = log((1 + 0.05) * base[i]);
    for (size_t i = 0; i < N; i++)
        candidate[i] = log(candidate[i]);
    assert_true(result.p == student_welch(scaled, 8, candidate, N, 0, 0.95).p && result.p_rank < 0.05);
    struct buffer out = {0};
    gate_write(&test, &result, &out);
    assert_non_null(strstr(buffer_c_string(&out), "% (interval +"));
    buffer_release(&out);
    candidate_of(1, 3, candidate);
    assert_int_equal(decide_one(&test, false).state, GATE_INCONCLUSIVE);
    candidate_of(0.5, 3, candidate);
    assert_int_equal(decide_one(&test, false).state, GATE_PASSED);
    candidate[3] = NAN;
    result = decide_one(&test, false);
    assert_true(result.state == GATE_INCONCLUSIVE && result.n == N - 1 && result.half_missing == 1);
}

/* p = 0.02 alone is decided at 0.05, of three not at 0.05 / 3; and after a smaller one it is at 0.05 / 2. */
TEST(test_holm_over_the_set)
{
    const struct gate gate = gate_of("queue_time_p95_s", GATE_MAX_INCREASE, 0, false);
    double near[N], far[N], flat[N];
    for (size_t i = 0; i < N; i++) {
        near[i] = base[i] + 0.85 + noise[i];
        far[i] = base[i] + 9 + noise[i];
        flat[i] = base[i] + noise[i];
    }
    const struct gate_rule rule = {.alpha = 0.05, .looks = looks_once(N)};
    struct gate_test tests[3];
    struct gate_result results[3];
    for (int i = 0; i < 3; i++)
        tests[i] = (struct gate_test){.gate = &gate, .base = base, .count = N};
    tests[0].candidate = flat;
    tests[1].candidate = near;
    tests[2].candidate = flat;
    gates_decide(&rule, &tests[1], 1, results);
    assert_true(results[0].p > 0.05 / 3 && results[0].p < 0.05 / 2);
    assert_int_equal(results[0].state, GATE_FAILED);
    gates_decide(&rule, tests, 3, results);
    assert_int_equal(results[1].state, GATE_INCONCLUSIVE);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(results[i].level - (1 - 0.05 / 3)) < 1e-12);
    assert_true(results[1].low < 0);
    assert_int_equal(gates_state(results, 3), GATE_INCONCLUSIVE);
    assert_false(gates_are_settled(results, 3));
    tests[2].candidate = far;
    gates_decide(&rule, tests, 3, results);
    assert_int_equal(results[2].state, GATE_FAILED);
    assert_int_equal(results[1].state, GATE_FAILED);
    assert_int_equal(results[0].state, GATE_INCONCLUSIVE);
    assert_true(fabs(results[2].level - (1 - 0.05 / 3)) < 1e-12 && fabs(results[1].level - (1 - 0.05 / 2)) < 1e-12 &&
                fabs(results[0].level - 0.95) < 1e-12);
    assert_true(results[1].low > 0);
    assert_int_equal(gates_state(results, 3), GATE_FAILED);
    /* Equal values spend nothing of it, nor do those that are not defined. */
    const double nothing[N] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    tests[0].candidate = base;
    tests[2].candidate = nothing;
    gates_decide(&rule, tests, 3, results);
    assert_int_equal(results[0].state, GATE_PASSED);
    assert_int_equal(results[1].state, GATE_FAILED);
    assert_true(results[1].level == 0.95);
    assert_int_equal(results[2].state, GATE_NOT_DEFINED);
    assert_true(gates_are_settled(results, 3));
    assert_int_equal(gates_state(results, 1), GATE_PASSED);
    assert_int_equal(gates_state(results, 0), GATE_PASSED);
    assert_int_equal(gates_state(results + 2, 1), GATE_INCONCLUSIVE);
}

TEST(test_looks_are_stricter)
{
    const struct gate gate = gate_of("queue_time_p95_s", GATE_MAX_INCREASE, 0, false);
    double near[N];
    for (size_t i = 0; i < N; i++)
        near[i] = base[i] + 0.85 + noise[i];
    const struct gate_test test = {.gate = &gate, .base = base, .candidate = near, .count = N};
    struct gate_rule rule = {.alpha = 0.05, .looks = looks_up_to(40), .look = 1};
    struct gate_result result;
    gates_decide(&rule, &test, 1, &result);
    assert_int_equal(result.state, GATE_INCONCLUSIVE);
    assert_true(fabs(1 - result.level - looks_level(&rule.looks, 1, 0.05)) < 1e-12 && result.low < 0);
}

TEST(test_words_of_changes)
{
    static const struct {
        const char *metric;
        enum gate_bound bound;
        double amount;
        bool is_relative;
        const char *words;
    } bounds[] = {
        {"queue_time_p95_s", GATE_MAX_INCREASE, 600, false, "at most +10m 00s allowed"},
        {"queue_time_p95_s", GATE_MAX_DECREASE, 90, false, "at least -1m 30s allowed"},
        {"queue_time_p95_s", GATE_MIN, 90, false, "at least 1m 30s allowed"},
        {"queue_time_p95_s", GATE_MAX_INCREASE, 0, true, "at most +0 % allowed"},
        {"queue_time_p95_s", GATE_MAX_INCREASE, -0.025, true, "at most -2.5 % allowed"},
        {"allocation_ratio", GATE_MAX_DECREASE, 0.01, false, "at least -1.0 points allowed"},
        {"allocation_ratio", GATE_MIN, 0.7, false, "at least 70.0 % allowed"},
        {"preemptions", GATE_MAX_DECREASE, 0.05, true, "at least -5 % allowed"},
        {"preemptions", GATE_MAX, 1234, false, "at most 1,234 allowed"},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const struct gate gate = gate_of(bounds[i].metric, bounds[i].bound, bounds[i].amount, bounds[i].is_relative);
        struct buffer out = {0};
        gate_write_bound(&gate, &out);
        assert_string_equal(buffer_c_string(&out), bounds[i].words);
        buffer_release(&out);
    }
    /* From nothing to something: no part of the base. */
    const double zeros[N] = {0};
    double candidate[N];
    for (size_t i = 0; i < N; i++)
        candidate[i] = 60 + noise[i];
    const struct gate_test test = {.gate = &increase_5, .base = zeros, .candidate = candidate, .count = N};
    const struct gate_result result = decide_one(&test, false);
    assert_words(&test, &result,
                 "queue_time_p95_s of training: +1m 00s (interval +59 s to +1m 01s), at most +5 % allowed (that is +0"
                 " s): failed");
}

TEST(test_json_can_be_read)
{
    const double a[] = {NAN}, b[] = {NAN};
    double candidate[N];
    candidate_of(1.12, 3, candidate);
    struct gate_test test = {.gate = &increase_5, .side = "n\"ew", .base = base, .candidate = candidate, .count = N};
    struct gate_result result = decide_one(&test, false);
    struct buffer out = {0};
    gate_write_json(&test, &result, &out);
    json_error_t refusal;
    json_t *root = json_loadb(out.bytes, out.length, 0, &refusal);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "state")), "failed");
    assert_string_equal(json_string_value(json_object_get(root, "max_increase")), "5%");
    assert_string_equal(json_string_value(json_object_get(root, "class")), "training");
    assert_string_equal(json_string_value(json_object_get(root, "side")), "n\"ew");
    assert_string_equal(json_string_value(json_object_get(root, "method")), "paired t");
    assert_int_equal(json_integer_value(json_object_get(root, "n")), N);
    assert_true(json_real_value(json_object_get(root, "low")) == result.low);
    assert_true(json_real_value(json_object_get(root, "p")) == result.p);
    json_decref(root);
    out.length = 0;
    test = (struct gate_test){.gate = &increase_5, .base = a, .candidate = b, .count = 1};
    result = decide_one(&test, false);
    gate_write_json(&test, &result, &out);
    root = json_loadb(out.bytes, out.length, 0, &refusal);
    assert_non_null(root);
    assert_true(json_is_null(json_object_get(root, "base")) && json_is_null(json_object_get(root, "low")) &&
                json_is_null(json_object_get(root, "level")));
    json_decref(root);
    buffer_release(&out);
}
