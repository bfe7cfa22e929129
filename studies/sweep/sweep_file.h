/* studies/sweep/sweep_file.h -- the file of a sweep: a scenario, what is changed in it, and which seeds.
 *
 *   {"scenario": "mig-inference.json",              relative to the folder of this file
 *    "set": {"world.end": "2d"},                    holds for all runs
 *    "factors": [
 *      {"name": "policy", "path": "policy.preset", "values": ["fifo", "windtunnel"]},
 *      {"path": "workload.synth.load_whole_gpu", "values": [0.7, 0.9]},
 *      {"name": "cluster", "levels": {"small": {"cluster.pools.h100.nodes": 20},
 *                                     "large": {"cluster.pools.h100.nodes": 40, "cluster.pools.h100.cpus": 256}}},
 *      {"path": "policy.preemption.grace_s", "range": [10, 1000], "scale": "log", "integer": true}],
 *    "design": {"kind": "latin_hypercube", "points": 50, "seed": 7},     by default {"kind": "factorial"}
 *    "exclude": [{"policy": "fifo", "cluster": ["small"]}, {"policy.preemption.grace_s": {"min": 500}}],
 *    "seeds": 5}                                    the scenario's seed and the four after it; or a list
 *
 * Words: a factor is what is varied, by default named as its path; a level is one of its values, with a name.  A
 * combination takes a level of each factor.  A path is that of `--set`.
 *
 * Law: levels of a factor differ, no path stands in two factors, and a combination that an entry of `exclude` matches
 * in all of its factors is left out.  Strings at `cluster`, `workload.trace`, `policy.file`, `policy.typical` and
 * in `plugins` are files, relative to the folder of this file.
 *
 * It does not: read the scenario (studies/sweep/sweep_plan.h).
 */
#ifndef STUDIES_SWEEP_SWEEP_FILE_H
#define STUDIES_SWEEP_SWEEP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"

enum {
    SWEEP_FACTORS_MAX = 64,
    SWEEP_LEVELS_MAX = 100000,       /* of a factor */
    SWEEP_COMBINATIONS_MAX = 100000, /* before `exclude` */
    SWEEP_SEEDS_MAX = 10000,
    SWEEP_RUNS_MAX = 1000000,
};

struct sweep_level {
    const char *name; /* a string as it is, another value as canonical JSON, or the name that the file gives */
    bool is_number;   /* the value is one, or the name that the file gives reads as one */
    double number;
    const char *const *sets; /* "path=value", value as canonical JSON */
    size_t set_count;
    size_t line, column; /* where it stands in the file */
};

struct sweep_factor {
    const char *name;
    const struct sweep_level *levels; /* a range: ascending */
    size_t level_count;
};

struct sweep_file {
    const char *path;
    char digest[33];
    const char *scenario;    /* the path to open */
    const char *const *sets; /* of all runs */
    size_t set_count;
    struct sweep_factor *factors;
    size_t factor_count; /* 0: only seeds vary */
    uint32_t *levels;    /* [combination * factor_count + factor]: index of a level */
    size_t combination_count;
    const uint64_t *seeds; /* NULL: the scenario's seed and the seeds after it */
    size_t seed_count;
    struct arena arena; /* owns all */
};

/* ERROR_CONFIG with file, line and column; on error nothing needs to be released. */
struct error sweep_file_read(struct sweep_file *out, const char *path) MUST_CHECK;
void sweep_file_release(struct sweep_file *file);

#endif
