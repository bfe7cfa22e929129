/* studies/sweep/sweep_results.h -- the results of a sweep as one table, for everything that reports them.
 *
 *   TRY(sweep_results_read(&results, "out/sweep"));
 *   const struct sweep_plan *plan = &results.plan;
 *   size_t column = sweep_results_column(&results, &(struct metric_selector){.metric = "queue_time_p95_s"});
 *   for (size_t c = 0; c < plan->combination_count; c++)
 *       for (size_t s = 0; s < plan->seed_count; s++)
 *           plan->levels[c * plan->factor_count + f],  sweep_results_number(&results, c, s, column)
 *   sweep_results_release(&results);
 *
 * Words: a column is a metric of the whole run, or of a key of a cut (struct metric_selector); a cell is the value of a
 * run in a column, NAN if it is not defined or the run is not done.
 *
 * Law: the table depends on the plan and on what is recorded, not on who made the runs.  There is a column
 * for each metric that at least one run has.  First come metrics of the whole run, in the order of the table of
 * metrics; then the metrics of each cut, by key in the order in which the runs name the keys.  A result of another
 * version, seed or input than the plan's is an error.
 *
 * It does not: average over seeds.
 */
#ifndef STUDIES_SWEEP_SWEEP_RESULTS_H
#define STUDIES_SWEEP_SWEEP_RESULTS_H

#include "reports/values.h"
#include "studies/sweep/sweep_books.h"

#define SWEEP_NO_COLUMN SIZE_MAX

struct sweep_column {
    struct metric_selector of;
    const struct metric *metric; /* its unit, and which way is better */
};

struct sweep_results {
    struct sweep_plan plan;
    struct sweep_books books; /* books.entries[run].state, .failure */
    struct sweep_column *columns;
    size_t column_count;
    double *cells;             /* [run * column_count + column] */
    const char **fingerprints; /* by run; NULL: it is not done */
    struct arena arena;
};

/* ERROR_DATA if a result is not what the plan asks for.  On error nothing needs to be released. */
struct error sweep_results_read(struct sweep_results *out, const char *folder) MUST_CHECK;
void sweep_results_release(struct sweep_results *results);

/* SWEEP_NO_COLUMN: no run has it. */
size_t sweep_results_column(const struct sweep_results *results, const struct metric_selector *of);

/* The run of a combination with a seed. */
static inline size_t sweep_results_run(const struct sweep_results *results, size_t combination, size_t seed)
{
    return seed * results->plan.combination_count + combination;
}

static inline double sweep_results_number(const struct sweep_results *results, size_t combination, size_t seed,
                                          size_t column)
{
    return results->cells[sweep_results_run(results, combination, seed) * results->column_count + column];
}

#endif
