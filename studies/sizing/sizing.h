/* studies/sizing/sizing.h -- how much is needed, and how much can be carried: the number in a scenario at which its
 * service levels are just met.
 *
 *   struct sizing_options options = {.version = VERSION, .scenario = scenario,
 *                                  .question = {.path = "cluster.pools.h100.nodes", .aim = SIZING_SMALLEST,
 *                                               .low = 1, .high = 4096, .step = 1, .start = 500},
 *                                  .levels = levels, .cases = &(struct sizing_case){"as it is"}, .case_count = 1,
 *                                  .trials_max = 60, .seeds_max = 40, .alpha = 0.05, .worker_count = 2};
 *   struct sizing sizing;
 *   struct error error = sizing_run(&sizing, &options);
 *   if (!error_is(error))
 *       show = sizing_show_new(&sizing, "A plan", "windtunnel run");    (studies/sizing/sizing_show.h)
 *   sizing_release(&sizing);                                          (on error too)
 *
 * A number meets the levels if the mean of each level's metric over the seeds is within its bound.  It is sure to, or
 * not to, if that is more than chance: the tests of reports/gates.h at alpha / 2, so that an answer with both sides
 * sure is wrong with probability alpha at most.  Which numbers are tried, and how often: studies/sizing/threshold.h.
 * Seeds: the seed of the scenario and the seeds that follow it, the same for every number.
 *
 * Replays without a random part are shaken a little with each seed (studies/run/replay_shake.h), and the replay as it
 * is runs once at the answer.  With `is_unshaken`, or one seed, one run of a number decides, for this replay alone.
 *
 * Each case is the scenario with settings of its own, and has an answer of its own: quarters of growth, other mixes of
 * pools, other values of an assumption.  The search of a case begins at the answer of the one before.
 *
 * Law: the answers depend on the options but for worker_count only.  All runs of a case are at numbers of its question,
 * low + a whole number of steps.
 *
 * More nodes, or less load, may do harm: a gang that fits now may hold up all jobs behind it.  So both sides of the
 * answer are scanned, and pairs of numbers at which a level is surely worse with more are told as reversals
 * (studies/sizing/sizing_monotone.c).  The answer is then the least number above all that were seen to fail.  Between
 * numbers that were tried it is taken that more does no harm.
 */
#ifndef STUDIES_SIZING_SIZING_H
#define STUDIES_SIZING_SIZING_H

#include <signal.h>

#include "reports/gates.h"
#include "reports/service_levels.h"
#include "reports/values.h"
#include "sim/scenario/scenario.h"
#include "studies/sizing/threshold.h"

enum sizing_aim { SIZING_SMALLEST, SIZING_LARGEST };

struct sizing_question {
    const char *path; /* of the number in the scenario */
    enum sizing_aim aim;
    double low, high, step; /* low <= high, step > 0; at most 1e9 steps */
    double start;           /* a guess */
};

enum { SIZING_SETS_MAX = 8, SIZING_CASES_MAX = 64, SIZING_REVERSALS_MAX = 16 };

struct sizing_case {
    const char *name;
    const char *sets[SIZING_SETS_MAX]; /* "path=value", applied after the scenario's; NULL-terminated if fewer */
    const char *varied;     /* the one path that is varied here, low in one case and high in the next; NULL: none */
    const char *assumption; /* in place of which something else is taken here (studies/run/assumptions.h); NULL: none */
};

struct sizing_options {
    const char *version; /* of Windtunnel */
    struct scenario_options scenario;
    struct sizing_question question;
    struct service_levels levels; /* at least one */
    const struct sizing_case *cases;
    size_t case_count;    /* 1 .. SIZING_CASES_MAX */
    bool is_growth;       /* the cases are now and the quarters after it (studies/sizing/sizing_growth.h) */
    double lead_quarters; /* from an order to what was ordered; 0: not given */
    size_t trials_max;    /* runs of a case */
    size_t seeds_max;     /* runs of a number; at least LOOKS_FIRST, or 1: the answer is for one seed alone */
    bool is_unshaken;     /* replays are run as they are */
    double alpha;         /* the probability that a sure answer is wrong; (0, 0.5] */
    size_t worker_count;  /* runs at the same time */
    const char *kept;     /* the folder of runs that are not made again (studies/run/kept_runs.h); NULL: none */
    const volatile sig_atomic_t *stop;
    /* Some times a second; cases and runs that are done.  NULL: nothing to do. */
    void (*on_progress)(void *self, size_t cases, size_t runs);
    void *progress_self;
};

struct sizing_run {
    uint64_t seed;
    bool is_done;
    struct values values; /* if it is */
};

/* A level at a number. */
struct sizing_judgement {
    const struct gate *gate; /* the bound */
    struct gate_result result;
    /* Of the curve that never gets worse with more nodes or less load (reports/statistics/isotonic.h), and of the band
     * that holds it with probability 1 - alpha; fit NAN: more is worse here, and there is no such curve. */
    double fit, fit_low, fit_high;
};

/* Two numbers where more is worse, for sure: more nodes, or less load. */
struct sizing_reversal {
    const struct gate *gate; /* of the level */
    double from, to;         /* the level is worse at `to`, where it should be better */
    double worse, low, high; /* by how much, and the interval; > 0 */
};

struct sizing_point {
    double number;
    struct sizing_run *runs; /* owned */
    size_t run_count;
    struct sizing_run replay; /* as it is, at the answer of a case that is shaken */
    bool has_replay;
    size_t met_count;                    /* runs that keep within the bound of every level, each by itself */
    bool holds, is_sure;                 /* as struct threshold_point, but of the levels: met or not */
    struct sizing_judgement *judgements; /* by gate of struct sizing; owned */
};

struct sizing_answer {
    const struct sizing_case *of;
    struct sizing_point *points; /* in the order in which they were first tried; owned */
    size_t point_count, run_count;
    bool is_exact; /* no run has a random part: one run of a number decides */
    bool is_shaken;
    struct scenario_options shaken;                          /* the settings that shake, alone */
    bool is_found, is_whole, is_sure, has_enough, has_limit; /* struct threshold_answer */
    double number;                                           /* the least or the largest that meets the levels */
    double enough;                                           /* the least or largest that does for sure */
    double limit; /* beyond it none does, for sure: below it if the smallest is sought, above it if the largest is */
    bool has_beyond, is_gapped; /* a number beyond the answer was seen to do, though one between them was not; surely */
    double beyond;              /* that number, the nearest */
    struct sizing_reversal reversals[SIZING_REVERSALS_MAX];
    size_t reversal_count;
};

struct sizing {
    const struct sizing_options *options; /* borrowed */
    struct gates gates;                   /* the bounds of the levels */
    struct sizing_answer *answers;        /* by case; owned */
    size_t answer_count;                  /* cases that were begun */
    bool is_partial;                      /* stopped */
    struct arena arena;
};

/* An error is a wrong scenario, a run that failed, or a level that is of no job; a stop is none: what
 * was done until then is the answer so far. */
struct error sizing_run(struct sizing *sizing, const struct sizing_options *options) MUST_CHECK;
void sizing_release(struct sizing *sizing);

/* The point of the answer; NULL: there is no answer.  And the one just past it; NULL: not tried. */
const struct sizing_point *sizing_answer_point(const struct sizing_answer *answer);
const struct sizing_point *sizing_past_point(const struct sizing *sizing, const struct sizing_answer *answer);

/* The mean of a metric over the runs of a point; NAN: no run has it. */
double sizing_point_mean(const struct sizing_point *point, const struct metric_selector *of);

/* USD per hour for the cluster of a point; NAN: not known. */
double sizing_point_usd_per_h(const struct sizing_point *point);

/* The points of an answer by their numbers, ascending; an array of answer->point_count, to be freed with mem_free. */
const struct sizing_point **sizing_points_new(const struct sizing_answer *answer);

/* "path=number", as the runs of this number have it. */
void sizing_write_setting(const struct sizing_question *question, double number, struct buffer *out);

#endif
