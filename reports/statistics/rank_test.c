#include "reports/statistics/rank_test.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { EXACT_BELOW = 50 }; /* as R's wilcox.test */

/* ---- Ranks ---- */

struct ranked {
    double value; /* sorted by it */
    bool is_ours; /* its rank counts: a positive difference; a value of b */
};

static int by_value(const void *left, const void *right)
{
    const double a = ((const struct ranked *)left)->value, b = ((const struct ranked *)right)->value;
    return (a > b) - (a < b);
}

/* Sort, give ties their mean rank, and return the sum of our ranks.  ties: the sum of t^3 - t over groups of t ties. */
static double sum_of_ranks(struct ranked *values, size_t count, double *ties)
{
    double sum = 0;
    *ties = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && values[next].value == values[first].value;)
            next++;
        const double tied = (double)(next - first), rank = (double)(first + next + 1) / 2;
        *ties += tied * tied * tied - tied;
        for (size_t i = first; i < next; i++)
            sum += values[i].is_ours ? rank : 0;
    }
    return sum;
}

/* Two-sided, with a correction for continuity; distance: of the statistic from its mean. */
static double p_normal(double distance, double variance)
{
    if (!(variance > 0))
        return 1;
    const double corrected = distance - (distance > 0 ? 0.5 : distance < 0 ? -0.5 : 0);
    const double z = corrected / sqrt(variance);
    return fmin(1, 2 * fmin(gsl_cdf_ugaussian_P(z), gsl_cdf_ugaussian_Q(z)));
}

/* Two-sided, from the probabilities of 0, 1, 2, ..., which are symmetric. */
static double p_exact(const double *probability, size_t last, double statistic)
{
    const size_t at = (size_t)statistic, tail = at <= last - at ? at : last - at;
    double p = 0;
    for (size_t i = 0; i <= tail; i++)
        p += probability[i];
    return fmin(1, 2 * p);
}

/* ---- Pairs ---- */

/* P(V = v): every rank counts or not with probability 1/2.  n(n+1)/2 + 1 of them. */
static double *signed_rank_probabilities_new(size_t n)
{
    const size_t last = n * (n + 1) / 2;
    double *probability = mem_zalloc(last + 1, sizeof *probability);
    probability[0] = 1;
    for (size_t rank = 1, reached = 0; rank <= n; rank++) {
        reached += rank;
        for (size_t v = reached + 1; v-- > 0;)
            probability[v] = 0.5 * (probability[v] + (v >= rank ? probability[v - rank] : 0));
    }
    return probability;
}

struct rank_test rank_test_pairs(const double *a, const double *b, size_t count)
{
    struct rank_test test = {.state = INFERENCE_DEFINED, .p = 1};
    if (!inference_is_finite(a, count) || !inference_is_finite(b, count)) {
        test.state = INFERENCE_NOT_FINITE;
        return test;
    }
    struct ranked *values = mem_alloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const double difference = b[i] - a[i];
        if (difference != 0)
            values[test.n++] = (struct ranked){fabs(difference), difference > 0};
    }
    double ties;
    test.statistic = sum_of_ranks(values, test.n, &ties);
    mem_free(values);
    const double n = (double)test.n;
    if (test.n == 0) {
        test.state = count > 0 ? INFERENCE_CONSTANT : INFERENCE_TOO_FEW;
    } else if (test.n < EXACT_BELOW && test.n == count && ties == 0) {
        double *probability = signed_rank_probabilities_new(test.n);
        test.method = METHOD_WILCOXON_EXACT;
        test.p = p_exact(probability, test.n * (test.n + 1) / 2, test.statistic);
        mem_free(probability);
    } else {
        test.method = METHOD_WILCOXON_NORMAL;
        test.p = p_normal(test.statistic - n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - ties / 48);
    }
    return test;
}

/* ---- Two samples ---- */

/* P(W = w) of i and j values, for i = 0..m, as j grows to n.  The largest value is of the first sample with probability
 * i / (i + j), and is then above all j of the other.  Only sums of positive terms: no cancellation. */
static double *rank_sum_probabilities_new(size_t m, size_t n)
{
    const size_t width = m * n + 1;
    double *table = mem_zalloc((m + 1) * width, sizeof *table);
    for (size_t i = 0; i <= m; i++)
        table[i * width] = 1;
    for (size_t j = 1; j <= n; j++)
        for (size_t i = 1; i <= m; i++) {
            double *now = table + i * width;
            const double *fewer = now - width, first = (double)i / (double)(i + j);
            for (size_t w = i * j + 1; w-- > 0;)
                now[w] = first * (w >= j ? fewer[w - j] : 0) + (1 - first) * now[w];
        }
    double *probability = mem_alloc(width * sizeof *probability);
    for (size_t w = 0; w < width; w++)
        probability[w] = table[m * width + w];
    mem_free(table);
    return probability;
}

struct rank_test rank_test_samples(const double *a, size_t a_count, const double *b, size_t b_count)
{
    struct rank_test test = {.state = INFERENCE_DEFINED, .n = a_count + b_count, .p = 1};
    if (a_count == 0 || b_count == 0 || !inference_is_finite(a, a_count) || !inference_is_finite(b, b_count)) {
        test.state = a_count == 0 || b_count == 0 ? INFERENCE_TOO_FEW : INFERENCE_NOT_FINITE;
        return test;
    }
    struct ranked *values = mem_alloc(test.n * sizeof *values);
    for (size_t i = 0; i < a_count; i++)
        values[i] = (struct ranked){a[i], false};
    for (size_t i = 0; i < b_count; i++)
        values[a_count + i] = (struct ranked){b[i], true};
    double ties;
    const double m = (double)b_count, k = (double)a_count, n = m + k;
    test.statistic = sum_of_ranks(values, test.n, &ties) - m * (m + 1) / 2;
    const bool is_constant = values[0].value == values[test.n - 1].value;
    mem_free(values);
    if (is_constant) {
        test.state = INFERENCE_CONSTANT;
    } else if (a_count < EXACT_BELOW && b_count < EXACT_BELOW && ties == 0) {
        double *probability = rank_sum_probabilities_new(b_count, a_count);
        test.method = METHOD_MANN_WHITNEY_EXACT;
        test.p = p_exact(probability, a_count * b_count, test.statistic);
        mem_free(probability);
    } else {
        test.method = METHOD_MANN_WHITNEY_NORMAL;
        test.p = p_normal(test.statistic - m * k / 2, m * k / 12 * (n + 1 - ties / (n * (n - 1))));
    }
    return test;
}
