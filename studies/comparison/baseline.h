/* studies/comparison/baseline.h -- the values of one side by seed, in a file that fits into a repository.
 *
 *   {"baseline_schema_version": 1, "windtunnel_version": "0.1.0", "scenario": "<digest>",
 *    "replay_shake": "",                 of replays that were shaken, how (studies/run/replay_shake.h); else ""
 *    "runs": [{"seed": 1, "fingerprint": "...", "arrivals": "...", "has_chance": true}, ...],
 *    "values": {"metrics": {"queue_time_p95_s": [311.5, 298, ...], ...},
 *               "by": {"class": {"training": {...}}, "workload_class": {...}}}}
 *
 * Of the cuts it has the classes, the workload classes, and what gates select.  A value that is not defined is null.
 *
 * Law: a value is the one of the run, to the last bit.  The digest is of the scenario as resolved, but for its policy,
 * plug-ins, seed, title, gates and service levels, and for the folders of its files: what two versions of a policy
 * may differ in.
 */
#ifndef STUDIES_COMPARISON_BASELINE_H
#define STUDIES_COMPARISON_BASELINE_H

#include "reports/gates.h"
#include "reports/values.h"

enum { BASELINE_SCHEMA_VERSION = 1 };

struct baseline_run {
    bool has_chance;
    struct values values; /* its manifest has version, seed, fingerprint and arrivals */
};

struct baseline {
    const char *path, *version, *scenario_digest, *replay_shake;
    struct baseline_run *runs;
    size_t run_count;
    struct arena arena; /* owns all but the values */
};

/* ERROR_CONFIG with file, line and column. */
struct error baseline_read(struct baseline *out, const char *path) MUST_CHECK;
void baseline_release(struct baseline *baseline);

/* Does it keep such values?  Those of the whole run, of classes and of workload classes always. */
bool baseline_keeps(const struct baseline *baseline, const struct metric_selector *of);

/* Keep the runs of a side, all of which are done. */
struct comparison;
struct error baseline_save(const char *path, const struct comparison *comparison, size_t side) MUST_CHECK;

/* The digest of a resolved scenario, as 32 hex digits. */
void baseline_scenario_digest(const char *scenario_json, char hex[33]);

#endif
