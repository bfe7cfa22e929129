/* studies/sizing/threshold.h -- the least whole number at which something holds, found by trials with chance.
 *
 * It is expected to hold at every number above one at which it holds: more nodes do no harm.  That is looked into on
 * both sides of the answer.  Each number can be tried many times.  The caller makes the trials and judges them; this
 * decides which are worth making.
 *
 *   struct threshold search = threshold_of(&(struct threshold_options){.low = 1, .high = 4096, .start = 500,
 *                                          .stride = 64, .scouts = 2, .looks = looks_up_to(40),
 *                                          .trials_max = 60});
 *   struct threshold_ask ask;
 *   while (threshold_next(&search, &ask)) {
 *       ... make the trials ask.from .. ask.to - 1 of the number ask.index, and judge all from 0 ...
 *       threshold_tell(&search, &ask, holds, is_sure);
 *   }
 *   struct threshold_answer answer = threshold_answer(&search);
 *
 * How: gallop from `start` until numbers are known where it holds and where it does not; bisect between them with few
 * trials; scan both sides of the answer with few trials, at distances of 1, 2, 3, 5, 8, 13, ..., for a number above it
 * at which it does not hold, and one below at which it does; then add trials on both sides of the answer until each
 * side is sure, or moves, as a judgement of few trials may.  If a side stays in doubt, numbers farther away are tried,
 * so that the answer can say within what it is sure.
 *
 * Law: at most `trials_max` trials, and the number of trials of each number is `scouts` or a look.  Where no judgement
 * errs, the answer is the threshold, if trials_max allows it.  Where it holds again and again with gaps, the answer is
 * the least number above all at which it was seen not to hold.  The trials depend on what is told only.
 */
#ifndef STUDIES_SIZING_THRESHOLD_H
#define STUDIES_SIZING_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "reports/statistics/looks.h"

enum { THRESHOLD_POINTS_MAX = 256 };

struct threshold_options {
    int64_t low, high;             /* the numbers that may be the answer */
    int64_t start;                 /* where to begin; is moved into the range */
    int64_t stride;                /* how far off `start` may well be; at least 1 */
    size_t scouts;                 /* trials of a number at first; at most looks.n[0] */
    struct looks looks;            /* trials at which a number can be judged for sure; exact trials: looks_once(1) */
    size_t trials_max;             /* of all numbers */
    size_t scan_above, scan_below; /* distances at which the sides of the answer are scanned; 0: not */
};

struct threshold_point {
    int64_t index;
    size_t trials;
    bool holds;   /* as far as these trials tell */
    bool is_sure; /* it is not by chance that they do */
};

struct threshold {
    struct threshold_options options;
    struct threshold_point points[THRESHOLD_POINTS_MAX]; /* ascending */
    size_t count, trials;
};

struct threshold_ask {
    int64_t index;
    size_t from, to; /* from: the trials that the number has had */
};

struct threshold threshold_of(const struct threshold_options *options);

/* The next trials; false: no more are worth it, or allowed. */
bool threshold_next(const struct threshold *search, struct threshold_ask *ask);

/* is_sure counts only if ask->to is a look. */
void threshold_tell(struct threshold *search, const struct threshold_ask *ask, bool holds, bool is_sure);

struct threshold_answer {
    bool is_found; /* false: it holds nowhere in the range, or the trials did not suffice to find where */
    int64_t index; /* the least number at which it holds */
    bool is_whole; /* the number below is known not to hold, or is outside of the range: false if trials ran out */
    bool is_sure;  /* both sides are */
    bool has_enough, has_needed;
    int64_t enough; /* the least number at which it holds for sure, above all at which it does not for sure */
    int64_t needed; /* one more than the greatest at which it does not for sure: at least this many are needed */
    bool has_below; /* it was seen to hold below one at which it was seen not to */
    int64_t below;  /* the greatest such number */
    bool is_gapped; /* and both are sure: more does harm */
};

struct threshold_answer threshold_answer(const struct threshold *search);

#endif
