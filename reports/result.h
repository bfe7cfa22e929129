/* reports/result.h -- result.json: the inputs and the results of a run, for programs.
 *
 *   {"schema_version": 3,
 *    "manifest": {"version", "seed", "fingerprint", "arrivals",
 *                 "fork": {"fingerprint", "at_s", "is_adopted", "before": [{"until_s", "policy", "plugins",
 *                 "is_outside"}]} (of a run that was forked from another one),
 *                 "inputs": [{"role", "name", "digest"}, ...] (of a plug-in also "plugin", "version"),
 *                 "files": {"jobs.csv.zst": digest, ...} of the record beside it, but the page,
 *                 "workload": {"load_gpus", "gpu_hours_per_day", "arrival_factor", "duration_factor",
 *                              "communication": {"by_job": 3, "by_row": [120, 7]},
 *                              "assumed": [{"what", "taken", "matters", "setting"}, ...]}, "scenario": {...}},
 *    "facts": {...},      what struct run_facts holds: a record folder cannot be read without; "offered_load" is that
 *                         of workloads/offered_load.h
 *    "metrics": {"queue_time_p95_s": {"value", "unit", "better"}, ...},
 *    "by": {"class": {"training": {...}}, "tenant": {...}, "queue": {...}, "size": {...}, "gpu_model": {...},
 *           "arrived_pct": {"1": {"allocation_ratio": {...}}, "2": ...} (of a workload that fills the cluster)},
 *    "service_levels": [{"metric", "class", "max", "unit", "value", "is_met"}, ...] (of a scenario that names some),
 *    "host": {"arguments": [...], "system", ...}}
 *
 * Law: keys in this order; the bytes depend on what the functions are given only, and nothing but "host" depends on the
 * machine, the clock or where the record is written; digests are of compressed files, which another version of zstd may
 * compress otherwise.  The file appears whole or not at all.
 */
#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "reports/assumed.h"
#include "reports/metrics.h"
#include "reports/service_levels.h"
#include "sim/record/record.h"

enum { RESULT_SCHEMA_VERSION = 3 };

/* Up to here a JSON number of seconds gives the nanosecond; a later time of "facts" stands beside it in nanoseconds. */
#define RESULT_EXACT_NS_MAX (INT64_C(1) << 50)

#define RESULT_FILE      "result.json"
#define RESULT_BYTES_MAX (UINT64_C(1) << 30)

struct result_input {
    const char *role;             /* "trace", "cluster", "scenario", "plugin" */
    const char *name;             /* as the user named it */
    const char *digest;           /* 32 hex digits */
    const char *plugin, *version; /* the plug-in's own name and version; NULL: not a plug-in */
};

/* The amount of work that the scenario asks for; {0}: not known. */
struct result_workload {
    const char *format; /* "synth", or the format of the trace; NULL: not known */
    uint64_t load_gpus; /* the GPUs to which its loads are relative; 0: no load is */
    /* GPU hours that its jobs ask for per day: for a trace as replayed, for a mix the intended mean; 0: not known */
    double gpu_h_per_day;
    double arrival_factor;  /* factor of the gaps between a trace's arrivals; 0: not a trace */
    double duration_factor; /* factor of its run times by which a load is reached; 0 and 1: they are not scaled so */
    /* Of the jobs that came, those that declare themselves what they exchange, and those to which each row of
     * `workload.communication` was applied. */
    uint64_t declared_count;
    const uint64_t *declared_by_row; /* borrowed */
    uint32_t declared_row_count;
    struct assumed_list assumed; /* what no job said */
};

/* A file of the record from which rows are read. */
struct result_file {
    const char *name, *digest; /* in the folder; 32 hex digits: base/input.h */
};

/* What decided before the policy of a fork, up to a moment. */
struct result_before {
    time_ns until;
    const char *policy, *plugins; /* of the scenario, canonical JSON; plugins NULL: there are none */
    bool is_outside;              /* another program decided */
};

/* Where a run began that was forked (studies/run/fork.h). */
struct result_fork {
    const char *fingerprint; /* of the record; NULL: the run was not forked */
    time_ns at;
    bool is_adopted;                    /* by another policy */
    const struct result_before *before; /* in order */
    size_t before_count;
};

/* The inputs of the run.  All are borrowed. */
struct result_manifest {
    const char *version; /* of Windtunnel */
    uint64_t seed;       /* above INT64_MAX it is written as a string, because JSON readers would round it */
    const char *fingerprint;
    const char *arrivals; /* hash of the arrivals, 16 hex digits: workloads/readers/freeze.h; NULL: left out */
    struct result_fork fork;
    const struct result_input *inputs;
    size_t input_count;
    const struct result_file *files; /* of the record beside it */
    size_t file_count;               /* 0: there is none, or it was made before digests were written */
    struct result_workload workload;
    struct service_levels levels;
    const char *scenario_json; /* resolved, canonical JSON (json_doc_canonical_new); NULL: {} */
};

/* How the run was started, where, and how fast it was.  NULL and 0: not known, left out. */
struct result_host {
    const char *const *arguments; /* the command line, NULL-terminated; NULL: none */
    const char *folder;           /* in which it was started: names of inputs are relative to it */
    const char *system;           /* "Linux 6.1 x86_64" */
    const char *compiler;
    const char *started; /* UTC date */
    double wall_s, cpu_s;
    uint64_t memory_peak_bytes;
};

/* Write the file as text.  host NULL: {}. */
void result_text(const struct result_manifest *manifest, const struct metrics *metrics, const struct result_host *host,
                 struct buffer *out);

/* Write it to FOLDER/result.json; the folder must exist. */
struct error result_write(const char *folder, const struct result_manifest *manifest, const struct metrics *metrics,
                          const struct result_host *host) MUST_CHECK;

/* The content of the file, from which a report can be made again. */
struct result {
    struct result_manifest manifest;
    struct run_facts facts;
    const struct arrived_row *arrived; /* by.arrived_pct: rows that no other file has */
    size_t arrived_count;
    struct result_host host;
    struct arena arena; /* owns all texts */
};

/* ERROR_DATA with file, line and column if it is not such a file.  On error nothing needs to be released. */
struct error result_read(struct result *out, const char *folder) MUST_CHECK;
struct error result_read_doc(struct result *out, struct json_doc *doc) MUST_CHECK; /* the file, parsed */
void result_release(struct result *result);

#endif
