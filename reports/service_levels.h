/* reports/service_levels.h -- the service levels of a scenario, and whether a run met them.
 *
 *   "service_levels": [{"metric": "queue_time_p95_s", "workload_class": "small training", "max": "10m"},
 *                      {"metric": "allocation_ratio", "min": 0.7}]
 *
 * A selector of jobs: a metric, and at most one key of a cut (`class`, `workload_class`, `class_size`, `tenant`,
 * `queue`, `size`, `gpu_model`; none: the whole run).  Its bound is `max`, `min`, or both; of a metric in seconds also
 * as a duration.
 *
 * Law: a level is met if the value is defined and within its bounds, both inclusive.  A level whose value is not
 * defined (there are no such jobs) is neither met nor broken; its state is "not defined".
 *
 * It does not: affect the run or its exit status.
 */
#ifndef REPORTS_SERVICE_LEVELS_H
#define REPORTS_SERVICE_LEVELS_H

#include "base/json.h"
#include "reports/metrics.h"

/* Names a metric of a run, or of a cut. */
struct metric_selector {
    const char *metric;
    const char *cut, *key; /* NULL: the whole run */
};

struct service_level {
    struct metric_selector of;
    const char *unit;
    double max, min; /* INFINITY, -INFINITY: no bound */
};

struct service_levels {
    const struct service_level *levels; /* texts in the arena */
    size_t count;
};

/* Read "metric" and the cut's key from an object that may hold other keys.  Fails through the sticky error. */
struct metric_selector metric_selector_read(struct json_object *object, struct arena *arena);

/* Do both name the same metric of the same jobs? */
bool metric_selector_is_same(const struct metric_selector *a, const struct metric_selector *b);

/* NAN: it is not defined, or the run has no such jobs. */
double metric_selector_value(const struct metrics *metrics, const struct metric_selector *of);

/* Read a bound of a metric with this unit: a number, of seconds also a duration ("10m"). */
double metric_bound_read(struct json_object *object, const char *key, const char *unit, double otherwise);

/* "queue_time_p95_s of small training" */
void metric_selector_write(const struct metric_selector *of, struct buffer *out);
/* The same in words, without the unit: "queue time p95 of small training" */
void metric_selector_words(const struct metric_selector *of, struct buffer *out);

/* Read the array; absent: none.  Fails through the sticky error. */
struct service_levels service_levels_read(const struct json_value *value, struct arena *arena);

/* As above, from a scenario's text (as in the manifest). */
struct error service_levels_of_scenario(const char *scenario_json, struct arena *arena,
                                        struct service_levels *out) MUST_CHECK;

enum level_state { LEVEL_MET, LEVEL_NOT_MET, LEVEL_NOT_DEFINED };
extern const char *const level_state_names[]; /* "met", "not met", "not defined" */
enum level_state service_level_state(const struct metrics *metrics, const struct service_level *level);

/* Append "at most 10m 00s" or "at least 70.0 %"; and a value of that metric in the same form. */
void service_level_bound(const struct service_level *level, struct buffer *out);
void service_level_value(const struct service_level *level, double value, struct buffer *out);

/* Append "service_levels": [{"metric", the cut, "max", "min", "unit", "value", "is_met"}, ...] as in result.json.
 * value and is_met are null if the value is not defined. */
void service_levels_write_json(const struct service_levels *levels, const struct metrics *metrics, struct buffer *out);

#endif
