/* tests/support/spent.h -- checks of GPU time by cause (sim/engine/engine_spent.h) in the rows of a run.
 *
 *   spent_check_sums(log, gpus);                          every row: exact, none below 0
 *   spent_check(log, &(struct spent_s){.useful = 400, .idle = 400});   the last row, in GPU seconds
 */
#ifndef TESTS_SUPPORT_SPENT_H
#define TESTS_SUPPORT_SPENT_H

#include <math.h>

#include "tests/support/test.h"

#include "tests/support/run.h"

/* GPU seconds by cause, in the order of enum spent_cause. */
struct spent_s {
    double useful, communication, neighbours, sliced, repartition, restart, lost, idle_held, reserved, idle, down;
};

/* NULL: the row obeys the law; else which it breaks. */
static inline const char *spent_complaint(const struct timeline_row *row, uint64_t gpus)
{
    gpu_time_ns sum = 0;
    for (int cause = 0; cause < SPENT_COUNT; cause++) {
        sum += row->spent[cause];
        if (row->spent[cause] < 0)
            return "a cause has less than no GPU time";
    }
    return sum != (gpu_time_ns)row->time * (gpu_time_ns)gpus ? "the causes do not add up to the cluster" : NULL;
}

static inline void spent_check_sums(const struct run_log *log, uint64_t gpus)
{
    assert_true(log->sample_count > 0);
    for (uint32_t s = 0; s < log->sample_count; s++) {
        const char *complaint = spent_complaint(&log->samples[s], gpus);
        if (complaint != NULL)
            fail_msg("at %.9f s: %s", time_to_seconds(log->samples[s].time), complaint);
    }
}

static inline double spent_s_of(const struct run_log *log, enum spent_cause cause)
{
    return (double)run_last_sample(log)->spent[cause] / 1e9;
}

/* Within 10^-5 of the larger one, and 10^-5 s: speeds are whole numbers of 2^-20. */
static inline void spent_check(const struct run_log *log, const struct spent_s *should)
{
    const double values[SPENT_COUNT] = {
        should->useful, should->communication, should->neighbours, should->sliced, should->repartition, should->restart,
        should->lost,   should->idle_held,     should->reserved,   should->idle,   should->down};
    for (int cause = 0; cause < SPENT_COUNT; cause++) {
        const double is = spent_s_of(log, (enum spent_cause)cause);
        if (!(fabs(is - values[cause]) <= 1e-5 * (1 + fmax(is, values[cause]))))
            fail_msg("%s: %.6f GPU s, not %.6f", spent_names[cause], is, values[cause]);
    }
}

#endif
