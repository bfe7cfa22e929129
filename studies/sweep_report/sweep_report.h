/* studies/sweep_report/sweep_report.h -- what a sweep says, as text and as a page.
 *
 * For each metric: its mean at each level of each factor with the interval over the seeds, the share of the variance
 * that each factor and each pair of factors explains, and the best combination.  On the page also curves with bands of
 * confidence and maps of two factors.  Last the combinations that no other beats in two metrics at once, such as cost
 * and queue time.
 *
 *   struct sweep_report report;
 *   TRY(sweep_report_choose(&report, &results, metrics, metric_count, NULL));
 *   struct show *show = sweep_report_show_new(&report);
 *
 * Law: the document depends on the results and the choice only.  Runs that are not done are said on top.
 *
 * It does not: adjust intervals for their number.
 */
#ifndef STUDIES_SWEEP_REPORT_SWEEP_REPORT_H
#define STUDIES_SWEEP_REPORT_SWEEP_REPORT_H

#include "reports/show.h"
#include "studies/sweep/sweep_effects.h"

enum { SWEEP_REPORT_METRICS_MAX = 16 };
#define SWEEP_REPORT_LEVEL 0.95 /* of intervals */

struct sweep_report {
    const struct sweep_results *results;      /* borrowed */
    size_t columns[SWEEP_REPORT_METRICS_MAX]; /* of the results */
    size_t column_count;
    size_t x;        /* the factor along which curves run; its levels are numbers; SIZE_MAX: none */
    size_t front[2]; /* columns whose front is shown; SWEEP_NO_COLUMN: none */
};

/* metrics: "queue_time_p95_s", or of a key of a cut "queue_time_p95_s:class=training"; count 0: queue time, use,
 * goodput and cost, as far as the runs have them.  x: the name of the factor along the curves; NULL: the
 * factor with most levels among the factors whose levels are numbers.  ERROR_USAGE if a name is not known. */
struct error sweep_report_choose(struct sweep_report *report, const struct sweep_results *results,
                                 const char *const *metrics, size_t metric_count, const char *x) MUST_CHECK;

/* To be freed with show_free. */
struct show *sweep_report_show_new(const struct sweep_report *report);

/* The combination with the best mean; SIZE_MAX: none has a value, all are equal, or neither direction is
 * better. */
size_t sweep_report_best(const struct sweep_report *report, size_t column);

#endif
