#include "reports/statistics/two_samples.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* ---- Two samples ---- */

double two_samples_ks(const double *a, size_t a_count, const double *b, size_t b_count)
{
    double distance = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        const double value = fmin(a[i], b[j]);
        while (i < a_count && a[i] <= value)
            i++;
        while (j < b_count && b[j] <= value)
            j++;
        distance = fmax(distance, fabs((double)i / (double)a_count - (double)j / (double)b_count));
    }
    return distance;
}

double two_samples_ks_p(double d, size_t a_count, size_t b_count)
{
    enum { TERMS = 100 };
    const double n = (double)a_count, m = (double)b_count, x = sqrt(n * m / (n + m)) * d;
    double sum = 0;
    if (x < 0.2) /* 1 to 12 digits; the series below converges slowly there */
        return 1;
    for (int k = 1; k <= TERMS; k++)
        sum += (k % 2 == 1 ? 2 : -2) * exp(-2 * k * k * x * x);
    return fmin(1, fmax(0, sum));
}

double two_samples_ad(const double *a, size_t a_count, const double *b, size_t b_count)
{
    const double n = (double)a_count, m = (double)b_count, both = n + m;
    double sums[2] = {0, 0};
    for (size_t i = 0, j = 0; i < a_count || j < b_count;) {
        const double value = j == b_count || (i < a_count && a[i] < b[j]) ? a[i] : b[j];
        const size_t a_before = i, b_before = j;
        while (i < a_count && a[i] <= value)
            i++;
        while (j < b_count && b[j] <= value)
            j++;
        const double ties = (double)(i - a_before + j - b_before);
        const double in_a = (double)(a_before + i) / 2, in_b = (double)(b_before + j) / 2, below = in_a + in_b;
        const double weight = below * (both - below) - both * ties / 4;
        if (weight <= 0)
            continue;
        sums[0] += ties / both * pow(both * in_a - n * below, 2) / weight;
        sums[1] += ties / both * pow(both * in_b - m * below, 2) / weight;
    }
    return (both - 1) / both * (sums[0] / n + sums[1] / m);
}

/* Coefficients: Marsaglia and Marsaglia 2004, function adinf. */
double two_samples_ad_p(double z)
{
    if (z <= 0)
        return 1;
    if (z < 2)
        return 1 -
               exp(-1.2337141 / z) / sqrt(z) *
                   (2.00012 + (0.247105 - (0.0649821 - (0.0347962 - (0.0116720 - 0.00168691 * z) * z) * z) * z) * z);
    if (z > 100)
        return 0;
    return -expm1(-exp(1.0776 - (2.30695 - (0.43424 - (0.082433 - (0.008056 - 0.0003146 * z) * z) * z) * z) * z));
}

/* ---- One sequence ---- */

double sequence_burstiness(double cv)
{
    return (cv - 1) / (cv + 1);
}

double sequence_correlation(const double *values, size_t count, size_t lag)
{
    if (count <= lag + 1)
        return NAN;
    return gsl_stats_correlation(values, 1, values + lag, 1, count - lag);
}

double sequence_dispersion(const double *times, size_t count, double window)
{
    if (count < 2 || times[count - 1] - times[0] < 2 * window)
        return NAN;
    const double windows = floor((times[count - 1] - times[0]) / window);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count;) {
        const double index = floor((times[i] - times[0]) / window);
        const size_t from = i;
        while (i < count && floor((times[i] - times[0]) / window) <= index)
            i++;
        if (index >= windows)
            break;
        sum += (double)(i - from);
        squares += (double)(i - from) * (double)(i - from);
    }
    const double mean = sum / windows;
    return (squares / windows - mean * mean) / mean;
}
