#include "tests/support/interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct interval interval_99(const double *values, size_t count)
{
    double t = gsl_cdf_tdist_Pinv(0.995, (double)count - 1);
    return (struct interval){.mean = gsl_stats_mean(values, 1, count),
                             .half_width = t * gsl_stats_sd(values, 1, count) / sqrt((double)count)};
}

bool interval_holds(const struct interval *interval, double value)
{
    return fabs(value - interval->mean) <= interval->half_width;
}

bool test_is_full(void)
{
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    return size != NULL && strcmp(size, "full") == 0;
}

struct test_seeds test_seeds(uint64_t count, uint64_t count_full)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    if (only != NULL)
        return (struct test_seeds){strtoull(only, NULL, 10), 1};
    return (struct test_seeds){1, test_is_full() ? count_full : count};
}
