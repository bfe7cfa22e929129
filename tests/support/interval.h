/* tests/support/interval.h -- what independent runs say about a mean: Student's 99 % interval. */
#ifndef TESTS_SUPPORT_INTERVAL_H
#define TESTS_SUPPORT_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    double mean, half_width;
};

/* Of independent values, one a seed; count >= 2. */
struct interval interval_99(const double *values, size_t count);

bool interval_holds(const struct interval *interval, double value);

/* Is WINDTUNNEL_TEST_SIZE "full"? */
bool test_is_full(void);

/* The seeds a property is tried with: from 1 on, as many as that size says, or WINDTUNNEL_TEST_SEED alone. */
struct test_seeds {
    uint64_t first, count;
};
struct test_seeds test_seeds(uint64_t count, uint64_t count_full);

#endif
