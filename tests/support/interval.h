/* tests/support/interval.h -- Student's 99 % interval of a mean, from independent runs. */
#ifndef TESTS_SUPPORT_INTERVAL_H
#define TESTS_SUPPORT_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    double mean, half_width;
};

/* From independent values, one per seed; count >= 2. */
struct interval interval_99(const double *values, size_t count);

bool interval_holds(const struct interval *interval, double value);

/* Is WINDTUNNEL_TEST_SIZE "full"? */
bool test_is_full(void);

/* The seeds of a property test: from 1 on, as many as the size asks for, or WINDTUNNEL_TEST_SEED alone. */
struct test_seeds {
    uint64_t first, count;
};
struct test_seeds test_seeds(uint64_t count, uint64_t count_full);

#endif
