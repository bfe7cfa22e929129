/* studies/likeness/likeness.h -- how alike two traces are: `windtunnel trace compare`.
 *
 * Numbers of each side stand in rows, in groups: amounts, run time, GPUs, gaps between submissions, clustering,
 * outcomes.
 * The distributions of run times, GPUs and gaps are also compared as a whole (reports/statistics/two_samples.h).
 *
 *   struct likeness likeness;
 *   TRY(likeness_side_read(&likeness.sides[0], "original", source_a));
 *   TRY(likeness_side_read(&likeness.sides[1], "model", source_b));
 *   likeness_judge(&likeness);
 *   struct show *show = likeness_show_new(&likeness, "Two traces");
 *   likeness_release(&likeness);
 *
 * Laws: sides are as read, jobs without GPUs included; quantiles are nearest ranks.  A number that is not defined is
 * NAN, written as "-" or null.  Memory: 48 bytes a job of each side.
 */
#ifndef STUDIES_LIKENESS_LIKENESS_H
#define STUDIES_LIKENESS_LIKENESS_H

#include "base/buffer.h"
#include "reports/show.h"
#include "workloads/readers/source.h"

enum likeness_series { LIKENESS_RUN_TIME, LIKENESS_GPUS, LIKENESS_GAP, LIKENESS_SERIES_COUNT };
extern const char *const likeness_series_names[]; /* "run_time_s", "gpus", "gap_s", NULL */

struct likeness_side {
    const char *name;
    double *submit_s;                      /* in order; owned, as the others */
    double *values[LIKENESS_SERIES_COUNT]; /* in the order of submission; gaps: one fewer */
    double *sorted[LIKENESS_SERIES_COUNT]; /* made by likeness_judge */
    size_t count, capacities[LIKENESS_SERIES_COUNT + 1];
    uint64_t by_outcome[OUTCOME_COUNT];
    double gpu_s;
};

struct likeness_row {
    const char *group, *name; /* of group: "run_time_s"; name: "mean" */
    double value[2];
    bool is_key, is_burst; /* likeness_is_within judges them */
};

struct likeness_test {
    double ks, ks_p, ad, ad_p;
};

enum { LIKENESS_ROWS_MAX = 80 };

struct likeness {
    struct likeness_side sides[2];
    struct likeness_row rows[LIKENESS_ROWS_MAX];
    size_t row_count;
    struct likeness_test tests[LIKENESS_SERIES_COUNT];
};

/* Read the source to its end.  name: borrowed.  ERROR_DATA: fewer than two jobs.  On error nothing needs to be
 * released. */
struct error likeness_side_read(struct likeness_side *side, const char *name, struct job_source *source) MUST_CHECK;

/* After both sides: fill rows and tests.  O(n log n). */
void likeness_judge(struct likeness *likeness);

/* Do jobs per day, and means and medians of run time and GPUs, differ by at most this part of side 0, and the
 * burstiness of gaps by at most twice that? */
bool likeness_is_within(const struct likeness *likeness, double part);
bool likeness_row_is_within(const struct likeness_row *row, double part);

/* To be freed with show_free; title NULL: no page is made of it. */
struct show *likeness_show_new(const struct likeness *likeness, const char *title);
void likeness_json(const struct likeness *likeness, struct buffer *out);
void likeness_release(struct likeness *likeness);

#endif
