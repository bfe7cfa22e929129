/* studies/comparison/verdicts.h -- does the verdict hold if something else is taken for what no job says?
 *
 *   struct verdicts verdicts;
 *   struct error error = verdicts_run(&verdicts, &comparison, "queue_time_p95_s");
 *   ... verdicts.cases[0] is the comparison as it is, each of the others takes one alternative ...
 *   verdicts_release(&verdicts);                                       (on error too)
 *
 * What is assumed, and the alternatives, come from the jobs of all sides (studies/run/assumptions.h).  An alternative
 * is set on every side, and the comparison is made once more, with the same gates, seeds and metric.
 *
 * Words.  A verdict is the mark of a difference (reports/difference.h), or the state of the gates.  It turns where it
 * is better as it is and worse with an alternative or the reverse, or where gates that pass fail or the reverse.  It
 * fades where it is clear as it is and not with an alternative, or the reverse.
 *
 * Law: the first case has the numbers of the comparison itself, to the last bit.  Test: tests/cli/assumptions.sh.
 *
 * It does not: combine alternatives, or judge records, which are not run.
 */
#ifndef STUDIES_COMPARISON_VERDICTS_H
#define STUDIES_COMPARISON_VERDICTS_H

#include "studies/comparison/comparison.h"
#include "studies/run/assumptions.h"

enum { VERDICT_ROWS_MAX = 16 };

struct verdict {
    char mark;              /* of a difference: = ~ + - * ? */
    double base, candidate; /* means over the seeds */
};

struct verdict_case {
    const struct alternative *of; /* NULL: as it is */
    struct verdict *verdicts;     /* [side * row_count + row], of candidates; in the arena */
    enum gate_state gates;        /* of all gates together */
    const char *failure;          /* why there is no verdict; NULL: there is one */
};

struct verdicts {
    const struct comparison *comparison; /* as it is; borrowed */
    struct assumed_list assumed;         /* texts are constant */
    struct alternatives alternatives;    /* texts in the arena */
    struct verdict_case cases[1 + ALTERNATIVES_MAX];
    size_t case_count;                             /* fewer than there are alternatives: it was stopped */
    struct metric_selector rows[VERDICT_ROWS_MAX]; /* the metric of the whole run, and of each class */
    size_t row_count;
    struct arena arena;
};

enum verdict_change { VERDICT_HOLDS, VERDICT_FADES, VERDICT_TURNS };

/* ERROR_USAGE: a side is a record or a baseline, or the sides go on from a moment. */
struct error verdicts_check(const struct comparison_options *options) MUST_CHECK;

/* Of a comparison that was run.  A stop is no error. */
struct error verdicts_run(struct verdicts *verdicts, const struct comparison *comparison,
                          const char *metric) MUST_CHECK;
void verdicts_release(struct verdicts *verdicts);

/* How the verdict of a case on a side and a row differs from that as it is; and that of the gates. */
enum verdict_change verdicts_change(const struct verdicts *verdicts, size_t of_case, size_t side, size_t row);
enum verdict_change verdicts_change_of_gates(const struct verdicts *verdicts, size_t of_case);

/* What no job of the sides said, as their runs tell. */
void comparison_assumed(const struct comparison *comparison, struct assumed_list *out);

#endif
