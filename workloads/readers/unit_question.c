#include "workloads/readers/unit_question.h"

#include <string.h>

enum {
    JOBS_MIN = 50,             /* fewer may be a sample or a toy */
    MEDIAN_SHORT_S = 60,       /* most jobs end within a minute, */
    MOST_SHORT_S = 24 * 60,    /* and hardly one runs longer than a day has minutes */
    MEDIAN_LONG_S = 30 * 86400 /* most jobs run longer than a month */
};

/* Formats whose columns are what their file says, not what a publisher defines. */
static bool has_free_unit(const char *format)
{
    return format != NULL &&
           (strcmp(format, "native") == 0 || strcmp(format, "jsonl") == 0 || strcmp(format, "columns") == 0);
}

bool unit_question(struct survey *survey, const struct workload_facts *facts, struct buffer *out)
{
    if (survey->duration_ns.count < JOBS_MIN || !has_free_unit(facts->format))
        return false;
    const double median_s = (double)survey_quantile(&survey->duration_ns, 50) / 1e9;
    const double most_s = (double)survey_quantile(&survey->duration_ns, 99) / 1e9;
    const bool is_short = median_s < MEDIAN_SHORT_S && most_s<MOST_SHORT_S, is_long = median_s> MEDIAN_LONG_S;
    if (!is_short && !is_long)
        return false;
    buffer_format(out,
                  "run times have the median %.6g s, and 99 %% are at most %.6g s: if they are %s, say so: a map of "
                  "columns has a unit for each (docs/traces.md), and workload.duration_scale=%s does for run times and "
                  "limits",
                  median_s, most_s, is_short ? "minutes or hours" : "milliseconds", is_short ? "60" : "0.001");
    return true;
}
