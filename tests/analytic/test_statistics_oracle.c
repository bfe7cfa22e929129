/* Statistics against SciPy: p values and intervals of twenty sets of samples to 1e-9.
 *
 * The answers stand in statistics_oracle.txt, which statistics_oracle.py wrote (it says how); test_statistics_oracle.sh
 * runs that again.  Every answer in the file is compared: a key that this test does not know fails it.
 */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/mem.h"
#include "reports/statistics/holm.h"
#include "reports/statistics/looks.h"
#include "reports/statistics/rank_test.h"
#include "reports/statistics/series.h"
#include "reports/statistics/student.h"

enum { SAMPLE_MAX = 128, SAMPLES = 3, KEYS_MAX = 64, SERIES_VALUES_MAX = 20000 };

struct set {
    char name[64];
    double values[SAMPLES][SAMPLE_MAX]; /* a, b, c */
    size_t count[SAMPLES];
};

/* What we compute, by the oracle's key. */
struct answers {
    const char *key[KEYS_MAX];
    double value[KEYS_MAX], width[KEYS_MAX]; /* of the interval whose end it is; 0: not an end */
    size_t count;
};

static void answer(struct answers *answers, const char *key, double value, double width)
{
    assert_true(answers->count < KEYS_MAX);
    answers->key[answers->count] = key;
    answers->value[answers->count] = value;
    answers->width[answers->count++] = width;
}

static void answer_students(const struct set *set, struct answers *out)
{
    const double *a = set->values[0], *b = set->values[1], *c = set->values[2];
    const size_t n = set->count[0];
    struct inference of = student_one(a, n, 99, 0.95);
    answer(out, "one.t", of.statistic, 0);
    answer(out, "one.p", of.p, 0);
    answer(out, "one.low", of.low, of.high - of.low);
    answer(out, "one.high", of.high, of.high - of.low);
    of = student_paired(a, b, n, 0, 0.95);
    answer(out, "paired.t", of.statistic, 0);
    answer(out, "paired.p", of.p, 0);
    answer(out, "paired.low", of.low, of.high - of.low);
    answer(out, "paired.high", of.high, of.high - of.low);
    of = student_paired(a, b, n, 0, 0.999);
    answer(out, "paired.low999", of.low, of.high - of.low);
    of = student_welch(a, n, c, set->count[2], 0, 0.95);
    answer(out, "welch.t", of.statistic, 0);
    answer(out, "welch.p", of.p, 0);
    answer(out, "welch.low", of.low, of.high - of.low);
    answer(out, "welch.high", of.high, of.high - of.low);
}

static void answer_ranks(const struct set *set, struct answers *out)
{
    struct rank_test test = rank_test_pairs(set->values[0], set->values[1], set->count[0]);
    answer(out, "pairs.exact", test.method == METHOD_WILCOXON_EXACT, 0);
    answer(out, "pairs.v", test.statistic, 0);
    answer(out, "pairs.p", test.p, 0);
    test = rank_test_samples(set->values[0], set->count[0], set->values[2], set->count[2]);
    answer(out, "samples.exact", test.method == METHOD_MANN_WHITNEY_EXACT, 0);
    answer(out, "samples.w", test.statistic, 0);
    answer(out, "samples.p", test.p, 0);
}

static void answer_holm(const struct set *set, struct answers *out)
{
    static const char *const keys[] = {"holm0", "holm1", "holm2", "holm3", "holm4", "holm5", "holm6"};
    size_t order[SAMPLE_MAX];
    double highest = 0;
    holm_order(set->values[0], set->count[0], order);
    for (size_t i = 0; i < set->count[0]; i++) {
        highest = fmax(highest, fmin(1, (double)(set->count[0] - i) * set->values[0][order[i]]));
        answer(out, keys[order[i]], highest, 0);
    }
}

static void answer_looks(const struct set *set, struct answers *out)
{
    static const char *const keys[] = {"look0", "look1", "look2", "look3"};
    struct looks looks = {.count = set->count[0]};
    for (size_t i = 0; i < looks.count; i++)
        looks.n[i] = (size_t)set->values[0][i];
    for (size_t i = 0; i < looks.count; i++)
        answer(out, keys[i], looks_level(&looks, i, set->values[1][0]), 0);
}

/* As statistics_oracle.py, autoregression. */
static void answer_series(const struct set *set, struct answers *out)
{
    const size_t count = (size_t)set->values[0][0];
    const double phi = set->values[0][1];
    double x = set->values[0][2];
    uint64_t seed = (uint64_t)set->values[0][3];
    assert_true(count <= SERIES_VALUES_MAX);
    double *values = mem_alloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 16807 % 2147483647;
        x = phi * x + ((double)(seed % 2001) - 1000) / 1000;
        values[i] = x;
    }
    bool is_found;
    const size_t warmup = series_warmup(values, count, &is_found);
    const struct series_mean mean = series_steady_mean(values, count, 0.95);
    const bool has_interval = mean.of.state == INFERENCE_DEFINED;
    answer(out, "warmup", (double)warmup, 0);
    answer(out, "batches", mean.of.state == INFERENCE_CORRELATED ? 0 : (double)mean.batch_count, 0);
    answer(out, "mean", mean.of.mean, has_interval ? mean.of.high - mean.of.low : 0);
    answer(out, "low", mean.of.low, mean.of.high - mean.of.low);
    answer(out, "high", mean.of.high, mean.of.high - mean.of.low);
    mem_free(values);
}

static void compare(const struct set *set, const struct answers *answers, const char *key, double expected)
{
    size_t i = 0;
    while (i < answers->count && strcmp(answers->key[i], key) != 0)
        i++;
    if (i == answers->count)
        fail_msg("%s: the test does not compute '%s'", set->name, key);
    const double is = answers->value[i], width = answers->width[i];
    const double near = 1e-9 * fmax(fabs(expected), width);
    if (!(fabs(is - expected) <= near))
        fail_msg("%s: %s is %.17g, SciPy says %.17g", set->name, key, is, expected);
}

static size_t read_numbers(char *line, double *out)
{
    size_t count = 0;
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        assert_true(count < SAMPLE_MAX);
        out[count++] = strtod(word, NULL);
    }
    return count;
}

static void compute(const struct set *set, struct answers *answers)
{
    if (answers->count > 0)
        return;
    if (strcmp(set->name, "holm") == 0) {
        answer_holm(set, answers);
    } else if (strcmp(set->name, "looks") == 0) {
        answer_looks(set, answers);
    } else if (strcmp(set->name, "series") == 0) {
        answer_series(set, answers);
    } else {
        answer_students(set, answers);
        answer_ranks(set, answers);
    }
}

TEST(test_answers_equal_scipy)
{
    static const char path[] = "tests/analytic/statistics_oracle.txt";
    struct set *set = mem_zalloc(1, sizeof *set);
    struct answers answers = {0};
    char *line = NULL;
    size_t capacity = 0, compared = 0, of_samples = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (getline(&line, &capacity, file) > 0) {
        char *rest = strchr(line, ' ');
        if (line[0] == '#' || rest == NULL)
            continue;
        *rest++ = '\0';
        if (strcmp(line, "set") == 0) {
            memset(set, 0, sizeof *set);
            answers.count = 0;
            snprintf(set->name, sizeof set->name, "%.*s", (int)strcspn(rest, "\n"), rest);
        } else if (line[1] == '\0' && line[0] >= 'a' && line[0] <= 'c') {
            set->count[line[0] - 'a'] = read_numbers(rest, set->values[line[0] - 'a']);
            of_samples += line[0] == 'c';
        } else {
            compute(set, &answers);
            compare(set, &answers, line, strtod(rest, NULL));
            compared++;
        }
    }
    fclose(file);
    free(line);
    mem_free(set);
    assert_int_equal(of_samples, 20);
    printf("note: %zu answers of %zu sets of samples, and of Holm, looks and series, equal SciPy's\n", compared,
           of_samples);
}
