/* studies/sweep/sweep_merge.h -- the results of a sweep as one file for other programs.
 *
 * csv: a line for each run of the plan: run, seed, state, a column for each factor, one for each metric of the whole
 * run, and "METRIC of CLASS" for the cut `class`; with is_all for every cut ("METRIC of CUT=KEY").  An undefined value
 * is an empty field.
 * json: {"sweep_results": 1, "version", "title", "factors": [{"name", "levels": [...]}], "seeds": [...],
 *        "metrics": {NAME: {"unit", "better"}},
 *        "runs": [{"run", "key", "seed", "state", "failure", "levels": {FACTOR: LEVEL}, "fingerprint",
 *                  "metrics": {NAME: value}, "by": {CUT: {KEY: {NAME: value}}}}]}
 * sqlite: tables factors, levels, runs (a column for each factor), metrics, results (run, metric, cut, key, value), and
 * the view whole_runs (run, factors, metric, value of the whole run).
 *
 * Law: the bytes are a function of the plan and of what is recorded.  Every run of the plan is there, with its state.
 */
#ifndef STUDIES_SWEEP_SWEEP_MERGE_H
#define STUDIES_SWEEP_SWEEP_MERGE_H

#include "studies/sweep/sweep_results.h"

enum sweep_format { SWEEP_CSV, SWEEP_JSON, SWEEP_SQLITE };
extern const char *const sweep_format_names[]; /* "csv", "json", "sqlite", NULL */

/* Write PATH whole or not at all. */
struct error sweep_merge(const struct sweep_results *results, enum sweep_format format, bool is_all,
                         const char *path) MUST_CHECK;

struct error sweep_merge_sqlite(const struct sweep_results *results, const char *path) MUST_CHECK;

#endif
