/* studies/run/kept_runs.h -- runs that were made once are not made again: the result of each in a folder.
 *
 *   runs/KEY.json.zst     the result.json of the run with this key
 *
 * The key of a run is a hash of all that its result depends on: its canonical scenario, the digests of its trace, its
 * tables, its plug-ins, its capacity table and its cluster if that is a node list, the version of Windtunnel, and the
 * seed.  So a study that was stopped goes on where it was, one that is asked again makes only the runs that are new,
 * and results may be copied from the folder of one study to that of another: a sweep, a plan, a comparison.
 *
 *   TRY(kept_runs_open("out/plan"));
 *   struct trial trial = {.version = VERSION, .scenario = options, .seed = 7, .kept = "out/plan"};
 *   TRY(trial_run(&trial, &out));          made and kept, or read if it was made before: the same bytes
 *
 * Law: a file appears whole and is on the disk, or it is not there, whatever becomes of the process or the machine.  A
 * process that has another result than the one that is there ends with an error.
 *
 * It does not: keep failures (studies/sweep/sweep_books.h does), or remove anything.
 */
#ifndef STUDIES_RUN_KEPT_RUNS_H
#define STUDIES_RUN_KEPT_RUNS_H

#include "sim/scenario/scenario.h"

#define KEPT_RUNS_FOLDER "runs"
#define KEPT_RUNS_SUFFIX ".json.zst"

enum { RUN_KEY_BYTES = 33 }; /* 32 hex digits and a NUL */

/* Make the folder and the one for runs in it, if they are not there. */
struct error kept_runs_open(const char *folder) MUST_CHECK;

/* ---- keys ---- */

/* The digest of a file that runs read ("trace", "table"), by its path; NULL: it has none. */
struct run_digests {
    const char *(*of)(void *self, const char *role, const char *path);
    void *self;
};

/* The hash of all that a run depends on but its seed.  The scenario was loaded with the seed RUN_KEY_SEED, so that all
 * seeds have the same one. */
#define RUN_KEY_SEED "0"
void run_configuration_hash(const char *version, const struct scenario *scenario, const struct run_digests *digests,
                            char hex[RUN_KEY_BYTES]);

void run_key(const char configuration[RUN_KEY_BYTES], uint64_t seed, char key[RUN_KEY_BYTES]);

/* The key of a run of this scenario, whose files are read for their digests.  ERROR_CONFIG: one of them can be read
 * once only. */
struct error run_key_of(const char *version, const struct scenario_options *options, uint64_t seed,
                        char key[RUN_KEY_BYTES]) MUST_CHECK;

/* ---- results ---- */

/* The path of a result; replaces what is in the buffer. */
const char *kept_runs_path(const char *folder, const char *key, struct buffer *path);

/* Replace what is in `out` by the result; is_kept false: there is none. */
struct error kept_runs_read(const char *path, struct buffer *out, bool *is_kept) MUST_CHECK;

/* ERROR_DATA if another result is there. */
struct error kept_runs_write(const char *path, struct text text) MUST_CHECK;

#endif
