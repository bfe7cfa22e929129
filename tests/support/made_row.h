/* tests/support/made_row.h -- fill in what a job's row that a test wrote by hand leaves at 0: it declares no limit, no
 * estimate and no deadline, and held all its GPUs while it ran. */
#ifndef TESTS_SUPPORT_MADE_ROW_H
#define TESTS_SUPPORT_MADE_ROW_H

#include "sim/record/record.h"

static inline struct job_row made_row(struct job_row row)
{
    row.limit = row.limit == 0 ? TIME_NEVER : row.limit;
    row.estimate = row.estimate == 0 ? TIME_NEVER : row.estimate;
    row.deadline = row.deadline == 0 ? TIME_NEVER : row.deadline;
    if (row.held_milli_ns == 0)
        row.held_milli_ns = (gpu_time_ns)row.gpu_milli * row.run;
    return row;
}

#endif
