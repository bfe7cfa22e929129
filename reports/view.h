/* reports/view.h -- shared by the table and the page: numbers formatted for people, and cuts ordered by demand.
 *
 *   view_count     1,234,567
 *   view_amount    0.42, 4.2, 42, 4,213
 *   view_factor    1.02, 9.99, 10, 123: a slowdown
 *   view_percent   87.3 %
 *   view_duration  0 s, 4.2 s, 42 s, 12m 05s, 3h 07m, 2d 04h
 *   view_metric    the form that suits a metric: a duration for seconds, percent for ratios, else an amount
 *   view_change    a change of such a value with its sign: +4m 12s, -1.2 points (of a ratio), +42
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
void view_factor(struct buffer *out, double factor);
void view_percent(struct buffer *out, double ratio);
void view_duration(struct buffer *out, double seconds);

/* A sentence with numbers in it: %g a count, %a an amount, %f a factor, %e a percentage (of the ratio), %E a duration
 * (elapsed seconds), %G a difference of durations with its sign; %s a text as it is.  The compiler checks the types. */
void view_words(struct buffer *out, const char *words, ...) LIKE_PRINTF(2, 3);

void view_metric(struct buffer *out, const char *metric, const char *unit, double value);
void view_change(struct buffer *out, const char *metric, const char *unit, double change);

/* Of a value in this unit: what a drawing divides it by, and the name of what it is then in.  Seconds are drawn in the
 * largest unit in which `high` is at least 1. */
double view_scale(const char *unit, double high, const char **name);

/* "500 nodes, 4,000 GPUs": the cluster of the run. */
void view_size(struct buffer *out, const struct metrics *metrics);

/* What the jobs ask, in a clause: "offered load 90.3 %: 1,126,942 GPU h asked in 13d 00h"; of a batch and a closed loop
 * what they have in its place.  False, and nothing: none of these. */
bool view_offered(struct buffer *out, const struct offered_load *load);

/* How a batch went: "makespan 1h 02m, 1.03 times its lower bound"; else false. */
bool view_makespan(struct buffer *out, const struct metrics *metrics);

/* Does the last job of a stream come long before `until_s`?  GPU time that is measured from `from_s` to `until_s` then
 * includes idle time after the last arrival. */
bool view_has_tail(const struct offered_load *load, double from_s, double until_s);

/* "of it 133 % of the 100 GPUs a10, 20.0 % of the 400 GPUs h100": where the cluster has several models; else false. */
bool view_offered_models(struct buffer *out, const struct metrics *metrics);

/* Seconds over which sums are taken.  window: sums of GPU time and cost.  period: sums over jobs, from the warm-up to
 * the end. */
double view_window_s(const struct metrics *metrics);
double view_period_s(const struct metrics *metrics);

/* Append a name for readers, made visible as buffer_visible does; a mark that has no width or changes the direction of
 * text becomes U+FFFD.  It is cut to `width_max` characters, the last of which is then an ellipsis.  Not escaped. */
void view_name(struct buffer *out, const char *name, size_t width_max);

/* Characters in UTF-8 text. */
size_t view_width(struct text text);

/* The shares of all GPU time in the window; they sum to 1.  False if the run has no window. */
struct view_gpu_time {
    double active, inactive; /* allocated and SM-active, allocated and not */
    double reserved, idle, down;
    bool has_active; /* false: SM activity is not known; active is 0, and inactive is all allocated time */
};
bool view_gpu_time(const struct metrics *metrics, struct view_gpu_time *shares);

/* Waiting times by reason, the longest first; returns the number of reasons.  Job hours are in `job_h`. */
struct view_wait {
    enum reason reason;
    double job_h;
};
size_t view_waits(const struct metrics *metrics, struct view_wait waits[REASON_COUNT], double *job_h);

/* The cluster's GPU time by cause, as far as there is any of a cause, in the order of enum spent_cause; the shares add
 * up to 1.  Returns how many; 0: not known. */
struct view_spent {
    const char *label;
    double gpu_h, share;
};
size_t view_spent(const struct metrics *metrics, struct view_spent spent[SPENT_COUNT]);
extern const char *const view_spent_labels[SPENT_COUNT];

/* The GPU time that jobs lost by cause, likewise; 0: not known, or nothing was lost. */
size_t view_lost(const struct metrics *metrics, struct view_spent lost[LOST_CAUSE_COUNT]);

/* A metric of one key of a cut; NAN: there is none. */
double view_cut_value(const struct metrics *metrics, const char *cut, size_t index, const char *name);

/* The indices of the cut's keys, ordered by GPU time asked for, then by jobs, then as in the cut; *count of them.  The
 * caller frees it with mem_free. */
size_t *view_by_demand_new(const struct metrics *metrics, const char *cut, size_t *count);

/* Are there tenants other than the queues themselves?  In a flat tree each queue is a tenant, which needs no table. */
bool view_has_tenants(const struct metrics *metrics);

/* The reason of a rejection in words: "NeverFits", "without a reason". */
const char *view_rejection(enum reason reason);

/* Did another program that decides give this reason?  The queue limit is the world's. */
bool view_is_refused(const struct metrics *metrics, enum reason reason);

/* Append "50.0 % of the training jobs were rejected (12 of 24): their queue times are of the others", for the class at
 * `index` of its cut.  Appends nothing and returns false if at most VIEW_REJECTED_PERCENT of them were. */
enum { VIEW_REJECTED_PERCENT = 1 };
bool view_class_rejections(struct buffer *out, const struct metrics *metrics, size_t index);

#endif
