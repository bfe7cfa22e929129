/* reports/result.h -- result.json: the inputs and the results of a run, for programs.
 *
 *   {"schema_version": 2,
 *    "manifest": {"version", "seed", "fingerprint", "arrivals",
 *                 "inputs": [{"role", "name", "digest"}, ...] (of a plug-in also "plugin", "version"),
 *                 "workload": {"load_gpus", "gpu_hours_per_day", "arrival_factor"}, "scenario": {...}},
 *    "facts": {...},      what struct run_facts holds: a record folder cannot be read without
 *    "metrics": {"queue_time_p95_s": {"value", "unit", "better"}, ...},
 *    "by": {"class": {"training": {...}}, "queue": {...}, "size": {...}, "gpu_model": {...},
 *           "arrived_pct": {"1": {"allocation_ratio": {...}}, "2": ...} (of a workload that fills the cluster)},
 *    "service_levels": [{"metric", "class", "max", "unit", "value", "is_met"}, ...] (of a scenario that names some),
 *    "host": {"arguments": [...], "system", ...}}
 *
 * Law: keys in this order; the bytes depend on what the functions are given only, and nothing but "host" depends on the
 * machine, the clock or where the record is written.  The file appears whole or not at all.
 */
#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include "base/buffer.h"
#include "base/mem.h"
#include "reports/metrics.h"
#include "reports/service_levels.h"
#include "sim/record/record.h"

enum { RESULT_SCHEMA_VERSION = 2 };

#define RESULT_FILE "result.json"

struct result_input {
    const char *role;             /* "trace", "cluster", "scenario", "plugin" */
    const char *name;             /* as the user named it */
    const char *digest;           /* 32 hex digits */
    const char *plugin, *version; /* what a plug-in calls itself; NULL: no plug-in */
};

/* How much work the scenario asks for; {0}: it does not say. */
struct result_workload {
    const char *format; /* "synth", or of the trace; NULL: not known */
    uint64_t load_gpus; /* the GPUs that its loads are shares of; 0: no load is */
    /* GPU hours that its jobs ask a day: of a trace as replayed, of a mix the mean aimed at; 0: not known */
    double gpu_h_per_day;
    double arrival_factor; /* what the gaps between a trace's arrivals were multiplied by; 0: not a trace's */
};

/* What made the run.  All borrowed. */
struct result_manifest {
    const char *version; /* of this program */
    uint64_t seed;       /* above INT64_MAX it is written as a string: JSON readers lose it */
    const char *fingerprint;
    const char *arrivals; /* 16 hex digits: workloads/readers/freeze.h; of the jobs that came; NULL: left out */
    const struct result_input *inputs;
    size_t input_count;
    struct result_workload workload;
    struct service_levels levels;
    const char *scenario_json; /* resolved, canonical JSON (json_doc_canonical_new); NULL: {} */
};

/* Who asked, where, and how fast.  NULL and 0: unknown, left out. */
struct result_host {
    const char *const *arguments; /* the command line, NULL-terminated; NULL: none */
    const char *system;           /* "Linux 6.1 x86_64" */
    const char *compiler;
    const char *started; /* UTC date */
    double wall_s, cpu_s;
    uint64_t memory_peak_bytes;
};

/* The text of the file.  host NULL: {}. */
void result_text(const struct result_manifest *manifest, const struct metrics *metrics, const struct result_host *host,
                 struct buffer *out);

/* Write it to FOLDER/result.json; the folder must be there. */
struct error result_write(const char *folder, const struct result_manifest *manifest, const struct metrics *metrics,
                          const struct result_host *host) MUST_CHECK;

/* What stands in it, for making reports again. */
struct result {
    struct result_manifest manifest;
    struct run_facts facts;
    const struct arrived_row *arrived; /* by.arrived_pct: the only rows that no other file holds */
    size_t arrived_count;
    struct result_host host;
    struct arena arena; /* owns all texts */
};

/* ERROR_DATA with file, line and column if it is not such a file.  On error there is nothing to release. */
struct error result_read(struct result *out, const char *folder) MUST_CHECK;
void result_release(struct result *result);

#endif
