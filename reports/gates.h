/* reports/gates.h -- gates: bounds on what a candidate may do to a metric, and the verdict from runs of both sides.
 *
 *   "gates": [{"metric": "queue_time_p95_s", "class": "training", "max_increase": "5%"},
 *             {"metric": "allocation_ratio", "max_decrease": 0.01},
 *             {"metric": "queue_time_p95_s", "queue": "prod", "max": "10m", "side": "new"}]
 *
 * Of a scenario, or of a file of its own: {"gates": [...]} or the array alone.  A file may also hold the other rules of
 * the judge: {"gates": [...], "seeds": 20, "alpha": 0.01}, the number of seeds and `alpha` below.  A gate selects a
 * metric as a service level does.  Its bound:
 *   max_increase, max_decrease   of the candidate against the base, in pairs by seed: "5%" of the base's mean, or an
 *                                amount in the metric's unit (0.01; "10m" or 600 for seconds).  It may be negative:
 *                                {"max_increase": "-5%"} asks for a decrease of at least 5 %.
 *   max, min                     of the mean of one side: every candidate, or the `side` named (which may be the base)
 * An object with several bounds stands for as many gates.  `side` names the one candidate that the gate is for.
 *
 * The rule: a gate tests whether a mean lies on its bound.  It fails if the interval lies beyond the bound, passes if
 * it lies within, else it is inconclusive.  The mean is that of reports/change.h: for a relative bound r of
 * ln(b / ((1 + r) a)) where both sides are positive in every seed, else of b - (1 + r) a; for an amount of b - a; and
 * for max and min of b alone.  Over the gates of a set Holm's rule; over the looks of a sequence the levels of
 * statistics/looks.h.
 *
 * Law: max and min are about the change.  Where the base's values are known, such a gate fails if the candidate breaks
 * the bound and is worse than the base, each for sure; it passes if the candidate keeps the bound for sure, or is
 * better than the base for sure, or has the base's values in every seed.  If both sides break the bound for sure and
 * the last look does not know which is worse, it passes and says that the base already breaks it: that pass says
 * nothing of a change within the noise, which max_increase bounds.
 *
 * Law: the probability that any verdict of a set is wrong (passed beyond the bound, failed within) is at most alpha,
 * for normal differences, as near as t tests keep it over several looks (docs/statistics.md has figures).  Pairs that
 * are equal to the last bit in all seeds are decided at once, and so are the values of a replay alone, n = 1.  A seed
 * without a value on both sides is left out; if just one side has a value, the gate cannot pass, since the missing
 * value may be the worst.  (Let both be NAN for a run that crashed.)
 *
 *   struct gates gates;
 *   TRY(gates_of_file("gates.json", text, &arena, &gates));
 *   for each gate g and candidate c that it is for (gate_is_for):
 *       tests[n++] = (struct gate_test){.gate = g, .side = c.name, .base = a, .candidate = b, .count = seeds};
 *   gates_decide(&(struct gate_rule){.alpha = 0.05, .looks = looks_up_to(40), .look = 0}, tests, n, results);
 *   if (gates_are_settled(results, n)) ...           else more seeds: .look = 1
 *   verdict = gates_state(results, n);
 *
 * It does not: run anything, or choose the exit status.
 */
#ifndef REPORTS_GATES_H
#define REPORTS_GATES_H

#include <stdint.h>

#include "reports/service_levels.h"
#include "reports/statistics/inference.h"
#include "reports/statistics/looks.h"

enum gate_bound { GATE_MAX_INCREASE, GATE_MAX_DECREASE, GATE_MAX, GATE_MIN };
extern const char *const gate_bound_names[]; /* "max_increase", ...: the keys; NULL-terminated */

struct gate {
    struct metric_selector of;
    const char *unit;
    enum better better;
    enum gate_bound bound;
    double amount;    /* 0.05 for "5%"; else in the metric's unit */
    bool is_relative; /* to the base's mean */
    const char *side; /* NULL: every candidate */
    const char *file; /* where it stands, for messages */
    size_t line, column;
};

struct gates {
    const struct gate *gates; /* texts in the arena */
    size_t count;
    double alpha;      /* of a file; 0: not given */
    size_t seed_count; /* of a file; 0: not given */
};

/* ---- Reading ---- */

enum { GATES_MAX = 256, GATES_SEEDS_MAX = 1000 };
#define GATES_ALPHA_MIN 1e-6
#define GATES_ALPHA_MAX 0.5

/* Read the array; absent: none.  Fails through the sticky error. */
struct gates gates_read(const struct json_value *value, struct arena *arena);

/* The root of a file that holds {"gates": [...]} and perhaps the other rules, or the array.  Fails through the sticky
 * error. */
struct gates gates_of_root(const struct json_value *root, struct arena *arena);

/* The text of a file that holds {"gates": [...]} or the array.  ERROR_CONFIG. */
struct error gates_of_file(const char *path, struct text text, struct arena *arena, struct gates *out) MUST_CHECK;

/* The member "gates" of a scenario's text (NULL: none).  name: for messages. */
struct error gates_of_scenario(const char *name, const char *scenario_json, struct arena *arena,
                               struct gates *out) MUST_CHECK;

/* Once the sides are known: every `side` is one of them (NULL-terminated; the first is the base), and no gate against
 * the base is for the base itself.  ERROR_CONFIG at the gate's place. */
struct error gates_check_sides(const struct gates *gates, const char *const *sides) MUST_CHECK;

/* Do both bound the same metric of the same side in the same direction, by whatever amount? */
bool gate_is_alike(const struct gate *a, const struct gate *b);

/* Is it for this side?  Without `side` a gate is for all but the base. */
bool gate_is_for(const struct gate *gate, const char *side, bool is_base);

/* ---- Deciding ---- */

enum gate_state { GATE_PASSED, GATE_FAILED, GATE_INCONCLUSIVE, GATE_NOT_DEFINED };
extern const char *const gate_state_names[]; /* "passed", "failed", "inconclusive", "not defined" */

/* Where the base itself stands to `max` or `min`: for sure at the gate's level, or else on the bound. */
enum gate_base { GATE_BASE_UNKNOWN, GATE_BASE_WITHIN, GATE_BASE_BEYOND, GATE_BASE_ON };
extern const char *const gate_base_names[]; /* "not known", "within", "beyond", "on the bound" */

/* One gate and the values of its two sides.  For `max` and `min` of the base give the base's values as `candidate`. */
struct gate_test {
    const struct gate *gate;
    const char *side;        /* the candidate's name, for words; NULL: left out */
    const double *base;      /* by seed; NAN: no value.  NULL: not known (`max` and `min` do not need it) */
    const double *candidate; /* by seed, the same seeds as base unless is_unpaired */
    size_t count;            /* of candidate, and of base unless is_unpaired */
    size_t base_count;       /* if is_unpaired */
    bool is_unpaired;        /* the sides have different seeds: Welch's t */
};

struct gate_rule {
    double alpha;       /* 0.05 */
    struct looks looks; /* looks_once(n) without a sequence */
    size_t look;        /* index of this look */
    bool is_exact;      /* one replay without chance: its values decide; count is 1 */
};

struct gate_result {
    enum gate_state state;
    bool is_settled; /* its test is decided, or there are no values: more seeds are not expected to change the state */
    enum inference_method method; /* of the verdict: METHOD_PAIRED_T, METHOD_EQUAL, METHOD_EXACT, ... */
    size_t n;                     /* pairs used; of `max` and `min`, and without pairs: values of the candidate */
    size_t missing;               /* seeds left out because neither side, or just one, has a value */
    size_t half_missing;          /* the part of them where just one has */
    double base, candidate;       /* means of what was used; NAN: not known */
    double difference;            /* candidate - base; NAN as above */
    bool is_ratio;                /* value, low, high and bound are parts of the base: 0.05 is +5 % */
    double value, low, high;      /* the change (of `max` and `min` the candidate's mean), and its interval; none:
                                         * -INFINITY, INFINITY */
    double bound;                 /* in the same unit: of a relative bound without a ratio, its part of the base */
    double level;                 /* of the interval, after Holm and looks: 0.99 */
    double p;                     /* two-sided, of a mean on the bound; before Holm */
    double p_rank;                /* the same by ranks (Wilcoxon, or Mann and Whitney): a check */
    enum gate_base base_is;       /* of `max` and `min` with a base */
    size_t seeds_needed;          /* set by gates_need */
};

/* Judge all tests as one set.  results[i] is of tests[i]. */
void gates_decide(const struct gate_rule *rule, const struct gate_test *tests, size_t count,
                  struct gate_result *results);

/* Failed if any failed; else inconclusive if any is inconclusive or not defined; else passed. */
enum gate_state gates_state(const struct gate_result *results, size_t count);

/* All are settled.  A gate that cannot pass, because one side lacks values, is settled too once its test is decided. */
bool gates_are_settled(const struct gate_result *results, size_t count);

/* How many seeds would decide: set `seeds_needed` of the inconclusive gates, at the spread measured so far.  With that
 * many seeds in all (looks_up_to of it) such a gate is decided four times in five, if nothing but these n seeds is
 * known of its mean (looks_needed); its level is that of a set of the gates that are not decided.  0: not known, since
 * no spread was seen or a side lacks values; GATES_SEEDS_MORE: more than GATES_SEEDS_MOST.
 * Returns the index of the gate that needs most, which holds the set up; SIZE_MAX: none. */
enum { GATES_SEEDS_MOST = 1000 };
#define GATES_SEEDS_MORE SIZE_MAX
size_t gates_need(const struct gate_rule *rule, struct gate_result *results, size_t count);

/* ---- In words ---- */

/* Append "queue_time_p95_s of training: +12.3 % (interval +8.1 to +16.4 %), at most +5.0 % allowed: failed", without a
 * line end.  With test->side: "new: queue_time_p95_s ...". */
void gate_write(const struct gate_test *test, const struct gate_result *result, struct buffer *out);

/* The same without the side. */
void gate_write_outcome(const struct gate *gate, const struct gate_result *result, struct buffer *out);

/* Append "120 seeds would decide it, four times in five"; false, and nothing, if that is not known. */
bool gate_write_need(const struct gate_result *result, struct buffer *out);

/* Append the bound alone: "at most +5.0 % allowed". */
void gate_write_bound(const struct gate *gate, struct buffer *out);

/* Append a JSON object: {"metric", the cut, "max_increase", "side", "unit", "state", "method", "n", "base", ...}.  What
 * is not known is null. */
void gate_write_json(const struct gate_test *test, const struct gate_result *result, struct buffer *out);

#endif
