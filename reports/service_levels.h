/* reports/service_levels.h -- the service levels of a scenario, and whether a run met them.
 *
 *   "service_levels": [{"metric": "queue_time_p95_s", "workload_class": "small training", "max": "10m"},
 *                      {"metric": "allocation_ratio", "min": 0.7}]
 *
 * A selector of jobs: a metric, and at most one key of a cut (`class`, `workload_class`, `class_size`, `queue`,
 * `size`, `gpu_model`; none: the whole run).  Its bound is `max`, `min`, or both; of a metric in seconds also as a
 * duration.
 *
 * Law: a level is met if the value is defined and within its bounds, both inclusive; a level whose value is not
 * defined (no such jobs) is neither met nor broken, and says so.
 *
 * It does not: affect the run or its exit status.
 */
#ifndef REPORTS_SERVICE_LEVELS_H
#define REPORTS_SERVICE_LEVELS_H

#include "base/json.h"
#include "reports/metrics.h"

/* Which number of a run. */
struct metric_selector {
    const char *metric;
    const char *cut, *key; /* NULL: the whole run */
};

struct service_level {
    struct metric_selector of;
    const char *unit;
    double max, min; /* INFINITY, -INFINITY: none */
};

struct service_levels {
    const struct service_level *levels; /* texts in the arena */
    size_t count;
};

/* The keys "metric" and of a cut, from an object that may hold others.  Fails through the sticky error. */
struct metric_selector metric_selector_read(struct json_object *object, struct arena *arena);

/* NAN: not defined, or the run has no such jobs. */
double metric_selector_value(const struct metrics *metrics, const struct metric_selector *of);

/* "queue_time_p95_s of small training" */
void metric_selector_write(const struct metric_selector *of, struct buffer *out);

/* The array; absent: none.  Fails through the sticky error. */
struct service_levels service_levels_read(const struct json_value *value, struct arena *arena);

/* The same, of a scenario's text (the manifest's). */
struct error service_levels_of_scenario(const char *scenario_json, struct arena *arena,
                                        struct service_levels *out) MUST_CHECK;

enum level_state { LEVEL_MET, LEVEL_NOT_MET, LEVEL_NOT_DEFINED };
extern const char *const level_state_names[]; /* "met", "not met", "not defined" */
enum level_state service_level_state(const struct metrics *metrics, const struct service_level *level);

/* "at most 10m 00s", "at least 70.0 %"; and a value of that metric, as people write it. */
void service_level_bound(const struct service_level *level, struct buffer *out);
void service_level_value(const struct service_level *level, double value, struct buffer *out);

/* "service_levels": [{"metric", the cut, "max", "min", "unit", "value", "is_met"}, ...] as in result.json; value and
 * is_met are null where the value is not defined. */
void service_levels_write_json(const struct service_levels *levels, const struct metrics *metrics, struct buffer *out);

#endif
