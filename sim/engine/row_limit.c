/* sim/engine/row_limit.c -- see sim/engine/row_limit.h. */
#include "sim/engine/row_limit.h"

struct error row_limit_check(uint64_t rows, time_ns from, double to_s, time_ns interval)
{
    const double interval_s = time_to_seconds(interval);
    const double all = (double)rows + (to_s - time_to_seconds(from)) / interval_s;
    if (!(all > ROW_LIMIT))
        return ERROR_OK;
    struct error error =
        error_new(ERROR_CONFIG, "the timeline would have %.0f rows up to %.9g s, one each %.9g s; at most %d are kept",
                  all, to_s, interval_s, ROW_LIMIT);
    error_set_hint(&error,
                   "set world.sample_s to %.9g or more; if the jobs come more slowly than intended, look at "
                   "workload.load",
                   interval_s * all / ROW_LIMIT);
    return error;
}
