/* studies/run/assumptions.h -- what no job of a workload says, what a run takes in its place, and what else it could
 * take.
 *
 * Public traces leave out much of what a policy decides by: how often a job saves its work, how long it will run, whom
 * it goes before.  A run takes something, and a verdict may turn on it.  The table of assumptions.c has a row for each:
 * what is taken, where it matters, and the settings by which something else is taken.
 *
 *   assumptions_find(&scenario, source, false, &list);             after the jobs were taken from the source
 *   assumed_lead(show, &list);                                     (reports/assumed.h)
 *
 * Words.  An alternative is one setting of a scenario ("path=value") that takes something else than is assumed.
 *
 * Laws
 *  - Something is assumed if no job of the workload says it, after `workload.defaults`, and no part of the scenario
 *    does.  It is told only where it can matter: nothing of checkpoints where nothing is ever evicted or interrupted.
 *    Test: tests/unit/test_assumptions.c.  The fault that it caught: p95 of a class under `kai` against `slurm` turned
 *    on checkpoints that a trace lacked, and no output said so.
 *  - What a scenario says itself is never among the alternatives, and an alternative leaves `workload.defaults` of the
 *    scenario as they are.
 *
 * It does not: run anything.
 */
#ifndef STUDIES_RUN_ASSUMPTIONS_H
#define STUDIES_RUN_ASSUMPTIONS_H

#include "reports/assumed.h"
#include "sim/scenario/scenario.h"

struct alternative {
    const char *what; /* that is assumed otherwise: struct assumed */
    const char *name; /* "a checkpoint every 30 minutes" */
    const char *set;  /* "path=value"; in the arena */
};

enum { ALTERNATIVES_MAX = 32 };

struct alternatives {
    struct alternative of[ALTERNATIVES_MAX];
    size_t count;
};

/* Of the jobs that were taken from the source.  is_outside: another program decides, and may read anything. */
void assumptions_find(const struct scenario *scenario, const struct job_source *source, bool is_outside,
                      struct assumed_list *out);

/* Read the jobs of a scenario to their end: what is assumed, and the alternatives, in the arena. */
struct error assumptions_survey(const struct scenario_options *options, struct arena *arena, struct assumed_list *list,
                                struct alternatives *alternatives) MUST_CHECK;

#endif
