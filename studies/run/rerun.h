/* studies/run/rerun.h -- runs of a scenario by another windtunnel program, such as the version that was used before.
 *
 *   struct rerun rerun;
 *   TRY(rerun_open(&rerun, "/opt/old/bin/windtunnel", "/tmp"));      is it there, and what is its version?
 *   TRY(rerun_run(&rerun, &scenario_options, 7, &out));               out: the result.json that it wrote
 *   rerun_close(&rerun);                                              (not after an error of rerun_open)
 *
 * A run is `PROGRAM run SCENARIO --seed=N --out=FOLDER`, with every option that the scenario has here.  A program that
 * does not know one of them refuses the run, which is then an error with what it said.
 *
 * Law: what comes back is what the program wrote.  rerun_close removes all files of the runs.
 *
 * It does not: limit the time of a run, or end the program if the caller is killed (base/worker_pool.h does).
 */
#ifndef STUDIES_RUN_RERUN_H
#define STUDIES_RUN_RERUN_H

#include "base/buffer.h"
#include "sim/scenario/scenario.h"

struct rerun {
    const char *program; /* borrowed; without '/' it is sought in PATH.  NULL: not open */
    char *version;       /* "0.1.0", as the program says; owned */
    char *folder;        /* of the records; owned */
};

/* scratch: an existing folder, in which one is made for the records; what killed processes left there is removed.
 * ERROR_CONFIG if the program cannot be started, or is no windtunnel. */
struct error rerun_open(struct rerun *rerun, const char *program, const char *scratch) MUST_CHECK;
void rerun_close(struct rerun *rerun);

/* Wait for a run with this seed and append its result.json.  May be called for several seeds at the same time, in
 * processes of their own.  What the program says on standard error goes there too.  ERROR_DATA if the run fails. */
struct error rerun_run(const struct rerun *rerun, const struct scenario_options *scenario, uint64_t seed,
                       struct buffer *out) MUST_CHECK;

#endif
