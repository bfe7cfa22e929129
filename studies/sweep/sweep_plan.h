/* studies/sweep/sweep_plan.h -- the immutable list of the runs of a sweep.
 *
 * A plan is a folder: plan.json (factors, combinations, seeds, inputs, runs), and configurations.jsonl.zst, which holds
 * the whole scenario of each combination, resolved.  So a worker reads neither the scenario nor the files of cluster
 * and policy; what it does read is a trace and plug-ins, if there are any, at the paths that the scenario names,
 * relative to `paths_folder`.
 *
 *   TRY(sweep_plan_make(&plan, &(struct sweep_plan_options){.version = VERSION, .file = &file, ...}));
 *   TRY(sweep_plan_write(&plan, "out/sweep"));
 *   ...
 *   TRY(sweep_plan_read(&plan, "out/sweep"));
 *
 * Words: the key of a run is that of studies/run/kept_runs.h.  Two combinations may have the same scenario; their
 * runs have the same keys and are made once.
 *
 * Law: a plan that exists is never changed: writing the same plan again does nothing, writing another one is refused.
 * Runs are in the order of their seeds, and of combinations within a seed, so that the first results cover all
 * combinations.
 */
#ifndef STUDIES_SWEEP_SWEEP_PLAN_H
#define STUDIES_SWEEP_SWEEP_PLAN_H

#include "base/buffer.h"
#include "studies/run/kept_runs.h"
#include "studies/sweep/sweep_file.h"

#define SWEEP_PLAN_FILE           "plan.json"
#define SWEEP_CONFIGURATIONS_FILE "configurations.jsonl.zst"

struct sweep_run {
    char key[RUN_KEY_BYTES];
    uint32_t combination;
    uint32_t first; /* the first run with this key; its own index, unless an earlier one has the same */
    uint64_t seed;
};

struct sweep_input {
    const char *role, *name; /* "sweep", "scenario", "cluster", "trace", "plugin"; the path as named */
    char digest[33];         /* base/input.h */
};

struct sweep_plan {
    const char *version;      /* of Windtunnel */
    const char *paths_folder; /* absolute */
    const char *title;        /* the scenario's title or name; NULL: none */
    struct sweep_factor *factors;
    size_t factor_count;
    uint32_t *levels; /* [combination * factor_count + factor] */
    size_t combination_count;
    const char **configurations; /* by combination: resolved canonical JSON, with the seed 0 */
    uint64_t *seeds;
    size_t seed_count;
    struct sweep_run *runs;
    size_t run_count, distinct_count; /* distinct_count: different keys */
    struct sweep_input *inputs;
    size_t input_count, input_capacity; /* no path twice */
    char digest[33];                    /* of plan.json; "" before it is written */
    struct arena arena;                 /* owns all but `inputs` */
};

struct sweep_plan_options {
    const char *version;
    const struct sweep_file *file;
    const char *paths_folder; /* the present folder, absolute */
    const char *const *sets;  /* applied after the sets of the file, before the levels */
    size_t set_count;
    const char *const *plugins; /* more plug-ins, as --plugin names them */
    size_t plugin_count;
};

/* Resolve all combinations.  A level that makes the scenario wrong is an error at the place of the level.  On error
 * nothing needs to be released. */
struct error sweep_plan_make(struct sweep_plan *out, const struct sweep_plan_options *options) MUST_CHECK;

/* Fills the digest.  ERROR_CONFIG if the folder holds another plan. */
struct error sweep_plan_write(struct sweep_plan *plan, const char *folder) MUST_CHECK;

/* ERROR_DATA if it is no such folder, or if a file of it has changed. */
struct error sweep_plan_read(struct sweep_plan *out, const char *folder) MUST_CHECK;

void sweep_plan_release(struct sweep_plan *plan);

/* "policy=fifo, load=0.9"; "the scenario" if nothing varies. */
void sweep_plan_name(const struct sweep_plan *plan, size_t combination, struct buffer *out);

/* The digest of the input at this path; NULL: it is none. */
const char *sweep_plan_digest(const struct sweep_plan *plan, const char *role, const char *name);

#endif
