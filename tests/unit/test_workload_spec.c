#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"
#include "workloads/readers/source.h"
#include "workloads/synth/synth_spec.h"

/* Read `json` as a workload; the error, if any, goes to *error. */
static struct workload_spec spec_read(const char *json, struct error *error)
{
    struct workload_spec spec;
    struct json_doc *doc;
    *error = json_text_read(&doc, "w.json", json);
    if (error_is(*error))
        fail_msg("%s", error_message(error));
    struct json_value root = json_doc_root(doc, error);
    workload_read(&spec, &root, "base/folder");
    json_doc_free(doc); /* whatever is kept must be the spec's own */
    return spec;
}

static struct workload_spec spec_good(const char *json)
{
    struct error error;
    struct workload_spec spec = spec_read(json, &error);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return spec;
}

static void refused(const char *json, const char *place, const char *says)
{
    struct error error;
    struct workload_spec spec = spec_read(json, &error);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *report = error_text_new(&error);
    if (strstr(report, place) == NULL || strstr(report, says) == NULL)
        fail_msg("wanted '%s' and '%s' in:\n%s", place, says, report);
    free(report);
    error_release(&error);
    workload_release(&spec);
}

static void test_defaults(void **state)
{
    (void)state;
    struct workload_spec spec = spec_good("{'trace': 'jobs.csv.zst'}");
    assert_string_equal(spec.trace, "base/folder/jobs.csv.zst");
    assert_null(spec.format);
    assert_null(spec.synth);
    assert_true(spec.load == 0 && spec.duration_scale == 1 && spec.processors_per_gpu == 1);
    assert_int_equal(spec.gpus_per_node, 8);
    assert_true(spec.bad_lines_max == 0 && spec.zone.offset == 0 && spec.default_duration == 0);
    assert_true(spec.window_from == 0 && spec.window_to == 0);
    workload_release(&spec);
}

static void test_everything_of_a_trace(void **state)
{
    (void)state;
    struct workload_spec spec =
        spec_good("{'trace': '/a/b.swf', 'format': 'swf', 'load': 0.9, 'window': ['2017-10-01', "
                  "'2017-10-15 12:00:00'], 'duration_scale': 2, 'processors_per_gpu': 16, 'gpus_per_node': 4, "
                  "'bad_lines_max': 3, 'tz_offset': '-8h', 'default_duration': '1h'}");
    const time_ns zone = -8 * 3600 * TIME_NS_PER_S;
    assert_string_equal(spec.trace, "/a/b.swf");
    assert_string_equal(spec.format, "swf");
    assert_true(spec.load == 0.9 && spec.duration_scale == 2 && spec.processors_per_gpu == 16);
    assert_int_equal(spec.gpus_per_node, 4);
    assert_int_equal(spec.bad_lines_max, 3);
    assert_true(spec.zone.offset == zone);
    assert_true(spec.window_from == INT64_C(1506816000) * TIME_NS_PER_S - zone);
    assert_true(spec.window_to == INT64_C(1508068800) * TIME_NS_PER_S - zone);
    assert_true(spec.default_duration == 3600 * TIME_NS_PER_S);
    workload_release(&spec);
    spec = spec_good("{'trace': '-', 'window': [0, '3d'], 'tz_offset': 3600}");
    assert_string_equal(spec.trace, "-");
    assert_true(spec.window_from == 0 && spec.window_to == 3 * 86400 * TIME_NS_PER_S);
    assert_true(spec.zone.offset == 3600 * TIME_NS_PER_S);
    workload_release(&spec);
}

static void test_bad_traces(void **state)
{
    (void)state;
    refused("{}", "w.json:1", "either 'trace', 'synth', 'model' or 'merge'");
    refused("{'trace': 'a', 'synth': {}}", "w.json:1", "either 'trace', 'synth', 'model' or 'merge'");
    refused("{\n"
            " 'trace': 'a',\n"
            " 'laod': 0.9}",
            "w.json:3:2", "laod");
    refused("{'trace': ''}", "w.json:1:11", "'trace' must be a path");
    refused("{'trace': 'a', 'format': 'csv'}", "w.json:1:26", "format");
    refused("{'trace': 'a', 'load': -1}", "w.json:1:24", "load");
    refused("{'trace': 'a', 'duration_scale': 0}", "w.json:1:34", "duration_scale");
    refused("{'trace': 'a', 'processors_per_gpu': 0}", "w.json:1:38", "processors_per_gpu");
    refused("{'trace': 'a', 'bad_lines_max': 1.5}", "w.json:1:33", "bad_lines_max");
    refused("{'trace': 'a', 'window': [1]}", "w.json:1:26", "two moments");
    refused("{'trace': 'a', 'window': [5, 5]}", "w.json:1:26", "end after it begins");
    refused("{'trace': 'a', 'window': ['soon', 5]}", "w.json:1:27", "a moment must be");
    refused("{'trace': 'a', 'tz_offset': 'PST'}", "w.json:1:29", "tz_offset");
    refused("{'trace': 'a', 'tz_offset': '30h'}", "w.json:1:29", "26 hours");
}

static void test_fill(void **state)
{
    (void)state;
    struct workload_spec spec = spec_good("{'trace': 'a', 'fill': {'load': 1.3}}");
    assert_true(spec.fill.load == 1.3 && spec.fill.interval == TIME_NS_PER_S && spec.load == 0);
    workload_release(&spec);
    spec = spec_good("{'trace': 'a', 'fill': {'load': 2, 'interval_s': 0.25}}");
    assert_true(spec.fill.load == 2 && spec.fill.interval == 250 * TIME_NS_PER_MS);
    workload_release(&spec);
    spec = spec_good("{'trace': 'a'}");
    assert_true(spec.fill.load == 0);
    workload_release(&spec);
    refused("{'trace': 'a', 'fill': {}}", "w.json:1:24", "'load' is missing");
    refused("{'trace': 'a', 'fill': 1.3}", "w.json:1:24", "fill");
    refused("{'trace': 'a', 'fill': {'load': 0}}", "w.json:1:33", "'load'");
    refused("{'trace': 'a', 'fill': {'load': 1, 'rate': 1}}", "w.json:1:36", "rate");
    refused("{'trace': 'a', 'fill': {'load': 1, 'interval_s': 0}}", "w.json:1:50", "'interval_s' must be above 0");
    refused("{'trace': 'a', 'fill': {'load': 1}, 'load': 0.9}", "w.json:1:45", "'load' cannot stand beside 'fill'");
    refused("{'trace': 'a', 'fill': {'load': 1}, 'window': [0, 1]}", "w.json:1:47",
            "'window' cannot stand beside 'fill'");
    refused("{'trace': 'a', 'fill': {'load': 1}, 'duration_scale': 2}", "w.json:1:55",
            "'duration_scale' cannot stand beside 'fill'");
    refused("{'synth': {}, 'fill': {'load': 1}}", "w.json:1:23", "belongs to a trace");
}

/* ---- Synthesized workloads --------------------------------------------------------------------- */

#define RUN_TIME             "'run_time': {'distribution': 'exponential', 'mean': 60}"
#define SIZES                "'sizes': [{'gpus': 1}]"
#define SYNTH(head, classes) "{'synth': {" head "\n'classes': [" classes "]}}"
#define HEAD                 "'duration': '14d', 'load_whole_gpu': 1.2,"
#define CLASS(more)          "{'share': 1, " SIZES ", " RUN_TIME more "}"

static void test_synth_defaults(void **state)
{
    (void)state;
    struct workload_spec spec = spec_good(SYNTH(HEAD, CLASS("")));
    assert_null(spec.trace);
    const struct synth_spec *synth = spec.synth;
    assert_true(synth->duration == 14 * 86400 * TIME_NS_PER_S && synth->load_whole_gpu == 1.2);
    assert_int_equal(synth->tenants.projects, 0);
    assert_int_equal(synth->class_count, 1);
    const struct synth_class *class = &synth->classes[0];
    assert_string_equal(class->name, "training");
    assert_int_equal(class->priority, 50);
    assert_true(class->is_preemptible && class->limit == TIME_NEVER);
    assert_true(class->arrivals.peak == 1 && class->arrivals.weekend_factor == 1);
    assert_true(class->arrivals.burst_factor == 1);
    assert_int_equal(class->would_do_milli, 1000);
    assert_int_equal(class->sm_active_low, SM_ACTIVE_UNKNOWN);
    assert_true(synth_class_whole_gpus(class) == 1 && synth_class_mean_s(class) == 60);
    workload_release(&spec);
}

static void test_synth_everything(void **state)
{
    (void)state;
    struct workload_spec spec = spec_good(SYNTH(
        "'jobs': 7, 'load_whole_gpu': 0.5, 'tenants': {'organisations': 2, 'teams': 4, 'projects': 9, "
        "'zipf_exponent': 0.5},",
        "{'name': 'serving', 'class': 'inference', 'share': 1, 'priority': 125, "
        "'arrivals': {'process': 'poisson', 'diurnal_peak_to_mean': 2, 'peak_hour': 9, "
        "'weekly': true, 'weekend_factor': 0.25, 'burst': {'factor': 3, 'duration': '20m', "
        "'per_day': 2}}, 'sizes': [{'weight': 3, 'gpu_milli': 142}, {'weight': 1, 'mig': '1g.10gb', "
        "'whole_gpus': 2}, {'weight': 0, 'gpus': 16, 'nodes': 2, 'cpus': 8, 'memory_gb': 2, "
        "'min_members': 1}], 'run_time': {'distribution': 'lognormal', 'median': '6h', 'sigma': 1.2, "
        "'max': '30d'}, 'sm_active': [0.15, 0.35], 'memory_bandwidth': [0.2, 0.9], 'would_do': 0.5, 'fail_early': 0.2, "
        "'cancelled': 0.1, 'checkpoint': {'interval': '30m', 'duration': 60, 'restart': '5m'}, "
        "'limit': '7d'}"));
    const struct synth_class *class = &spec.synth->classes[0];
    assert_int_equal(spec.synth->job_count, 7);
    assert_int_equal(spec.synth->tenants.teams, 4);
    assert_true(spec.synth->tenants.zipf_exponent == 0.5);
    assert_string_equal(class->name, "serving");
    assert_true(class->is_firm_by_priority);
    assert_true(class->arrivals.peak == 2 && class->arrivals.peak_hour == 9);
    assert_true(class->arrivals.weekend_factor == 0.25 && class->arrivals.burst_factor == 3);
    assert_true(class->arrivals.burst_duration == 1200 * TIME_NS_PER_S);
    assert_int_equal(class->arrivals.bursts_per_day, 2);
    assert_true(synth_class_whole_gpus(class) == 1.25);
    double kept = synth_class_mean_s(class) / distribution_mean(&class->run_time, 0);
    assert_true(kept > 0.7599999 && kept < 0.7600001); /* 0.7 + 0.2 x 0.05 + 0.1 x 0.5 */
    assert_int_equal(class->sm_active_low, 150);
    assert_int_equal(class->sm_active_high, 350);
    assert_int_equal(class->bandwidth_low, 200);
    assert_int_equal(class->bandwidth_high, 900);
    assert_int_equal(class->would_do_milli, 500);
    assert_true(class->checkpoint.restart == 300 * TIME_NS_PER_S);
    assert_true(class->limit == 7 * 86400 * TIME_NS_PER_S);
    assert_int_equal(class->sizes[2].ask.cpu_milli, 8000);
    assert_int_equal(class->sizes[2].ask.memory_mib, 2048);
    workload_release(&spec);
}

static void test_bad_synths(void **state)
{
    (void)state;
    refused("{'load': 0.9, 'synth': {}}", "w.json:1:10", "synth.load_whole_gpu");
    refused("{'window': [1, 2], 'synth': {}}", "w.json:1:12", "belongs to a trace");
    refused(SYNTH("'load_whole_gpu': 1,", CLASS("")), "w.json:1:11", "must end");
    refused(SYNTH("'jobs': 0, 'load_whole_gpu': 1,", CLASS("")), "w.json:1:20", "jobs");
    refused(SYNTH("'jobs': 5,", CLASS("")), "w.json:1", "load_whole_gpu");
    refused(SYNTH(HEAD, ""), "w.json:2:12", "1 to 64 classes");
    refused(SYNTH(HEAD " 'tenants': {'teams': 5, 'projects': 3},", CLASS("")), "tenants", "a team a project");
    refused(SYNTH(HEAD, CLASS(", 'wat': 1")), "w.json:2:", "wat");
    refused(SYNTH(HEAD, "{'share': 0.5, " SIZES ", " RUN_TIME "}"), "w.json:2:12", "must sum to 1");
    refused(SYNTH(HEAD, "{'share': 0.5, " SIZES ", " RUN_TIME "}, {'share': 0.5, " SIZES ", " RUN_TIME "}"),
            "w.json:2:12", "have the name 'training'");
    refused(SYNTH(HEAD, "{'share': 1, 'sizes': [], " RUN_TIME "}"), "/synth/classes/0/sizes", "1 to 1024 sizes");
    refused(SYNTH(HEAD, "{'share': 1, 'sizes': [{'gpus': 3, 'nodes': 2}], " RUN_TIME "}"), "/synth/classes/0/sizes/0",
            "must divide");
    refused(SYNTH(HEAD, "{'share': 1, 'sizes': [{}], " RUN_TIME "}"), "/sizes/0", "asks for nothing");
    refused(SYNTH(HEAD, "{'share': 1, 'sizes': [{'mig': '8g'}], " RUN_TIME "}"), "/sizes/0", "a MIG profile");
    refused(SYNTH(HEAD, "{'share': 1, 'sizes': [{'gpus': 1, 'weight': 0}], " RUN_TIME "}"), "/sizes",
            "'weight' above 0");
    refused(SYNTH(HEAD, CLASS(", 'sm_active': [0.5, 0.1]")), "/sm_active", "the lower number");
    refused(SYNTH(HEAD, CLASS(", 'memory_bandwidth': [0.5]")), "/memory_bandwidth", "an array of two numbers");
    refused(SYNTH(HEAD, CLASS(", 'fail_early': 0.6, 'cancelled': 0.6")), "/classes/0", "sum to more than 1");
    refused(SYNTH(HEAD, CLASS(", 'limit': 0")), "/classes/0", "'limit'");
    refused(SYNTH(HEAD, CLASS(", 'arrivals': {'process': 'gamma'}")), "/process", "poisson");
    refused(SYNTH(HEAD, CLASS(", 'arrivals': {'diurnal_peak_to_mean': 2.5}")), "/arrivals", "diurnal_peak_to_mean");
    refused(SYNTH(HEAD, CLASS(", 'arrivals': {'burst': {'factor': 3, 'duration': '13h', 'per_day': 2}}")),
            "/arrivals/burst", "fit into a day");
}

static void test_bad_run_times(void **state)
{
    (void)state;
    static const struct {
        const char *run_time, *says;
    } cases[] = {
        {"{}", "distribution"},
        {"{'distribution': 'pareto'}", "lognormal"},
        {"{'distribution': 'lognormal', 'median': 60}", "sigma"},
        {"{'distribution': 'lognormal', 'mean': 60, 'sigma': 1}", "median"},
        {"{'distribution': 'exponential', 'mean': 60, 'sigma': 1}", "sigma"},
        {"{'distribution': 'exponential', 'mean': 0}", "more than 0"},
        {"{'distribution': 'exponential', 'mean': 60, 'max': 40}", "'max' must not be below"},
        {"{'distribution': 'constant', 'mean': -5}", "mean"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[512];
        snprintf(json, sizeof json, "{'synth': {" HEAD " 'classes': [{'share': 1, " SIZES ", 'run_time': %s}]}}",
                 cases[i].run_time);
        refused(json, "/synth/classes/0/run_time", cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_everything_of_a_trace),
        cmocka_unit_test(test_bad_traces),     cmocka_unit_test(test_fill),
        cmocka_unit_test(test_synth_defaults), cmocka_unit_test(test_synth_everything),
        cmocka_unit_test(test_bad_synths),     cmocka_unit_test(test_bad_run_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
