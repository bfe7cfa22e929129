/* workloads/distribution/distribution.h -- one-dimensional distributions of positive numbers, as JSON: run times, gaps.
 *
 *   {"distribution": "constant", "mean": 60}              {"distribution": "exponential", "mean": 60}
 *   {"distribution": "lognormal", "median": 60, "sigma": 1.5}
 *   {"distribution": "gamma", "shape": 0.5, "scale": 120}   {"distribution": "weibull", "shape": 0.7, "scale": 60}
 *   {"distribution": "hyper-gamma", "first_share": 0.78, "first_share_per_gpu": -0.0054,
 *    "shapes": [4.2, 312], "scales": [0.94, 0.03], "log": true, "max": 162754}
 *   {"distribution": "empirical", "points": [[0, 1], [0.5, 60], [1, 7200]]}
 *
 * A hyper-gamma is the first of two gamma distributions with the probability first_share + first_share_per_gpu x GPUs
 * (cut to 0..1), else the second.  With "log" (gamma, hyper-gamma) the number is exp of what is drawn.
 * Between two points of an empirical one the logarithm of the number is uniform (the number itself if one end is 0).
 *
 * Laws: `max` truncates: what exceeds it is drawn again, and the mean is that of the truncated distribution.  Means and
 * cumulative probabilities are closed forms; distributions and their inverses are GSL's.
 *
 *   struct distribution run_time;
 *   distribution_read(&run_time, &value, &arena, true);
 *   double seconds = distribution_draw(&run_time, 8, stream);
 *
 * It does not: find parameters (workloads/fit/fit.h makes empirical ones).
 */
#ifndef WORKLOADS_DISTRIBUTION_DISTRIBUTION_H
#define WORKLOADS_DISTRIBUTION_DISTRIBUTION_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"

enum distribution_kind {
    DISTRIBUTION_CONSTANT,
    DISTRIBUTION_EXPONENTIAL,
    DISTRIBUTION_LOGNORMAL,
    DISTRIBUTION_GAMMA,
    DISTRIBUTION_WEIBULL,
    DISTRIBUTION_HYPER_GAMMA,
    DISTRIBUTION_EMPIRICAL
};
extern const char *const distribution_names[]; /* NULL-terminated */

enum { DISTRIBUTION_POINTS_MAX = 4096 };

struct distribution_point {
    double p, x; /* p: cumulative probability; both never decrease; the first p is 0, the last 1 */
};

struct distribution {
    enum distribution_kind kind;
    double scale;    /* constant, exponential: the mean; lognormal: the median; weibull: the scale */
    double sigma;    /* lognormal */
    double shape;    /* weibull */
    double first[2]; /* gamma, hyper-gamma: the share of the first, at 0 GPUs and more per GPU */
    double shapes[2], scales[2];
    bool is_log;
    double max;                              /* INFINITY: not truncated */
    const struct distribution_point *points; /* empirical; in the arena */
    uint32_t point_count;
};

/* Fails through the sticky error.  is_scaled: scale, mean or median must be given; else 1 is taken.  arena: of points;
 * NULL: only constant, exponential and lognormal are allowed. */
void distribution_read(struct distribution *of, const struct json_value *value, struct arena *arena, bool is_scaled);

/* As JSON, which distribution_read reads back. */
void distribution_write(const struct distribution *of, struct buffer *out);

/* gpus: of the job; used by first_share_per_gpu alone.  O(1); empirical: O(points). */
double distribution_mean(const struct distribution *of, double gpus);
double distribution_cdf(const struct distribution *of, double gpus, double x); /* P(X <= x) */

/* The number whose cumulative probability is u (0 < u < 1); not for gamma and hyper-gamma. */
bool distribution_has_quantile(const struct distribution *of);
double distribution_quantile(const struct distribution *of, double u);

double distribution_draw(const struct distribution *of, double gpus, struct random_stream *stream);

/* The empirical distribution of the values, which must be sorted (count >= 1), in at most `most` points, at least
 * DISTRIBUTION_MADE_MIN.  A segment goes from its least value to its largest, and holds at most a part of 1 / (most /
 * DISTRIBUTION_MADE_MIN) of the values, or of their sum (or one value); a point in its middle gives it the mean of its
 * values.  O(count). */
enum { DISTRIBUTION_MADE_MIN = 10 };
struct distribution distribution_of_values(const double *sorted, size_t count, uint32_t most, struct arena *arena);

#endif
