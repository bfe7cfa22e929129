/* studies/run/shakes.h -- how far the numbers of one run may be an accident: runs beside it that differ by chance.
 *
 *   struct shakes shakes;
 *   struct error error = shakes_run(&shakes, &options);
 *   if (!error_is(error))
 *       shakes_add(show, &shakes, &own);                     behind the table of the run
 *   shakes_release(&shakes);                                 (on error too)
 *
 * A replay is shaken (studies/run/replay_shake.h), with the seed of the scenario and those after it.  A
 * scenario that has chance is run with the seeds that follow its own.
 *
 * Law: it depends on the scenario, the version and the number of runs alone, and changes nothing of the run beside
 * which they are.
 */
#ifndef STUDIES_RUN_SHAKES_H
#define STUDIES_RUN_SHAKES_H

#include <signal.h>

#include "reports/show.h"
#include "reports/values.h"
#include "sim/scenario/scenario.h"

struct shakes_options {
    const char *version; /* of Windtunnel */
    struct scenario_options scenario;
    const char *resolved; /* the scenario that they make */
    uint64_t seed;        /* its own */
    size_t count;         /* runs; at least 2 */
    size_t worker_count;  /* runs at the same time */
    const volatile sig_atomic_t *stop;
};

struct shakes {
    const struct shakes_options *options; /* borrowed */
    bool is_replay;                       /* shaken; false: other seeds */
    struct values *runs;                  /* by seed; owned */
    bool *is_done;                        /* by seed; owned */
    size_t done_count;
    struct arena arena;
};

/* A run that fails is left out.  ERROR_DATA: fewer than two are done. */
struct error shakes_run(struct shakes *shakes, const struct shakes_options *options) MUST_CHECK;

/* A section: of each headline number the value of the run, the mean over the others with its interval, their deviation,
 * and where the run lies. */
void shakes_add(struct show *show, const struct shakes *shakes, const struct values *own);
void shakes_release(struct shakes *shakes);

#endif
