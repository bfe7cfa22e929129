/* reports/view.h -- shared by the table and the page: numbers formatted for people, and cuts ordered by demand.
 *
 *   view_count     1,234,567
 *   view_amount    0.42, 4.2, 42, 4,213
 *   view_percent   87.3 %
 *   view_duration  0 s, 4.2 s, 42 s, 12m 05s, 3h 07m, 2d 04h
 * NaN becomes a dash.
 *
 * It does not: choose what to show.
 */
#ifndef REPORTS_VIEW_H
#define REPORTS_VIEW_H

#include "base/buffer.h"
#include "reports/metrics.h"

void view_count(struct buffer *out, double count);
void view_amount(struct buffer *out, double amount);
void view_percent(struct buffer *out, double ratio);
void view_duration(struct buffer *out, double seconds);

/* "500 nodes, 4,000 GPUs": the cluster that ran. */
void view_size(struct buffer *out, const struct metrics *metrics);

/* "offered load 90.3 %: 1,126,942 GPU h asked in 13d 00h": what the jobs asked of all GPU time of the window.  False
 * and nothing if it is not defined. */
bool view_offered(struct buffer *out, const struct metrics *metrics);

/* Seconds that sums are over: of GPU time and cost the window, of what jobs had all from the warm-up to the end. */
double view_window_s(const struct metrics *metrics);
double view_period_s(const struct metrics *metrics);

/* A name for people: control characters and marks that turn the direction of text become '?'; cut to
 * `width_max` characters, the last then being an ellipsis.  Not escaped. */
void view_name(struct buffer *out, const char *name, size_t width_max);

/* Characters in UTF-8 text. */
size_t view_width(struct text text);

/* The shares of all GPU time in the window; they sum to 1.  False if the run has no window. */
struct view_gpu_time {
    double active, inactive; /* allocated and SM-active, allocated and not */
    double reserved, idle, down;
    bool has_active; /* else SM activity is not known: active is 0, inactive all that is allocated */
};
bool view_gpu_time(const struct metrics *metrics, struct view_gpu_time *shares);

/* What jobs waited for, the longest first; how many reasons that are, `job_h` in all. */
struct view_wait {
    enum reason reason;
    double job_h;
};
size_t view_waits(const struct metrics *metrics, struct view_wait waits[REASON_COUNT], double *job_h);

/* A metric of one key of a cut; NAN if there is none. */
double view_cut_value(const struct metrics *metrics, const char *cut, size_t index, const char *name);

/* The indices of the cut's keys by GPU time asked, then by jobs, then in their own order; *count of
 * them; caller frees with mem_free. */
size_t *view_by_demand_new(const struct metrics *metrics, const char *cut, size_t *count);

/* The reason of a rejection in words: "NeverFits", "without a reason". */
const char *view_rejection(enum reason reason);

/* Was that said by another program, which decided?  Not of the queue limit, which is the world's. */
bool view_is_refused(const struct metrics *metrics, enum reason reason);

/* "50.0 % of the training jobs were rejected (12 of 24): their queue times are of the others", of the class at `index`
 * of its cut; false, and nothing, if that are no more than VIEW_REJECTED_PERCENT of them. */
enum { VIEW_REJECTED_PERCENT = 1 };
bool view_class_rejections(struct buffer *out, const struct metrics *metrics, size_t index);

#endif
