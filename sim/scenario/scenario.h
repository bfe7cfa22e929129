/* sim/scenario/scenario.h -- everything a run needs, read from one JSON object and overrides.
 *
 *   {"cluster":  "../topologies/dgx-h100-500.json" or an object,
 *    "workload": {...}                       see workloads/README.md
 *    "queues":   [...]                       see topologies/README.md; optional
 *    "policy":   {"preset": "windtunnel", "set": {"preemption.grace_s": 60}}, or {"file": "mine.json"}, or the fields
 *    "world":    {"scheduler_period_s": 1, "decision_latency_s": 0, "limits": "kill" | "ignore",
 *                 "queue_limit": 100, "end": "14d", "warmup": "1d", "sample_s": 600,
 *                 "wait_times": true, "stall_steps": 1000000},
 *    "plugins":  ["mine.so"],                policies of your own (policies/plugin.h); a policy may name some too
 *    "title":    "What-if: 50 nodes more",
 *    "service_levels": [...],                see reports/service_levels.h
 *    "gates":    [...],                      see reports/gates.h
 *    "seed":     1}
 *
 * Order of precedence: the file; the shorthands (trace, cluster, policy...); `--set` in the order given. Overrides
 * below `cluster.` and `policy.` reach into the files these name: cluster.pools.h100.nodes=512.  They do not change the
 * workload: loads refer to workload.load_gpus, or else to the GPUs of the named cluster before such overrides.  Paths
 * in the file are relative to its folder, paths given as options to the current folder (scenario_files.h).
 *
 * Laws
 *  - Only files that the scenario names are read; unknown fields are errors.
 *  - What comes with a file that the user did not write opens nothing: each name of a file or plug-in passes a gate
 *    (base/json.h), which is open for what the user typed and for the files that the user named, and what these name in
 *    turn.  For a scenario out of a container (`text`) the gate of the container decides, and without one nothing is
 *    opened.  tests/property/test_gate.c and tests/cli/untrusted.sh check it.
 */
#ifndef SIM_SCENARIO_SCENARIO_H
#define SIM_SCENARIO_SCENARIO_H

#include "base/error.h"
#include "sim/engine/engine.h"
#include "sim/plugins/load.h"

struct scenario_options { /* all may be NULL or 0 */
    const char *path;     /* of the scenario file */
    const char *text; /* a resolved scenario, used instead of a file; its paths are relative to the present folder */
    const struct json_gate *gate; /* which files `text` may name; NULL: none */
    const char *trace, *format;
    const char *cluster; /* a file */
    const char *policy;  /* a preset's name, or a file if it holds '/' or ends in .json */
    const char *title;   /* of the report page */
    const char *seed;
    const char *const *sets; /* "path=value" */
    size_t set_count;
    struct plugin_options
        plugins; /* of the command line; the plug-ins that the scenario and policy files name are loaded too */
    const char *const *trusted; /* folders whose data files a record may open (studies/run/record_gate.h) */
    size_t trusted_count;
    const struct json_listener *listener; /* is told each question of the readers; NULL: none */
};

/* Of a text that the program made itself, or that the user takes for a scenario: it may name any file. */
extern const struct json_gate scenario_open_gate;

struct scenario_opened { /* a file that the scenario named, and passed the gate */
    const char *role, *path;
};

struct scenario {
    struct cluster *cluster;
    struct workload_spec workload;
    struct policy_config policy;
    struct job_group *typical; /* policy.typical: the typical members; NULL: not given */
    uint32_t typical_count;
    struct world_config world;
    uint64_t seed;
    char *resolved;    /* canonical JSON of the whole scenario */
    char *policy_text; /* canonical JSON of the policy */
    struct json_doc *doc;
    char digest[33];          /* of the scenario file as it was read; "" if there is none */
    char cluster_digest[33];  /* of the cluster file; "" for an inline cluster */
    const char *cluster_path; /* "" for an inline one */
    struct plugins plugins;   /* that the policy can use */
    struct scenario_opened *opened;
    size_t opened_count, opened_capacity;
    const struct scenario_options *options; /* while it is loaded */
    struct arena arena;
};

struct error scenario_load(struct scenario *scenario, const struct scenario_options *options) MUST_CHECK;
void scenario_release(struct scenario *scenario);

/* The title of its page: `title`, else `name`; NULL: neither is given.  Borrowed. */
const char *scenario_title(const struct scenario *scenario);

/* The GPUs of its cluster, if some load of its workload is relative to them because the scenario gives no number of its
 * own; 0: none is.  With another cluster its jobs would be others, unless workload.load_gpus is set to this. */
uint32_t scenario_open_load_gpus(const struct scenario *scenario);

/* The policy preset named by `value`, as a document that the caller owns; an unknown name is an error at `value`. */
struct error scenario_preset_doc(struct json_doc **doc, const struct json_value *value) MUST_CHECK;

/* The policy that --policy names, as a document that the caller owns: a preset, or a file if the name holds '/' or ends
 * in .json. */
struct error scenario_policy_doc(struct json_doc **doc, const char *policy) MUST_CHECK;

/* The jobs of the scenario.  Its queues are filled in. */
struct error scenario_open(const struct scenario *scenario, struct job_source **source) MUST_CHECK;

/* The run of the scenario with these jobs, plug-ins watched, without sinks; both are borrowed. */
struct engine_config scenario_engine(const struct scenario *scenario, struct job_source *source);

#endif
