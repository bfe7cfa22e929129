/* The synthesizer against its closed forms, with fixed seeds and bounds of several standard deviations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/input.h"
#include "tests/support/json_text.h"
#include "topologies/cluster_load.h"
#include "workloads/readers/source.h"
#include "workloads/synth/synth.h"
#include "workloads/synth/synth_spec.h"

enum { SEED = 20260101, GPUS = 4000, MAIN_CLASSES = 4 };

#define SIGMAS 4.5 /* of every bound: a sound generator fails one check in 150,000 */
#define DAY_S  86400.0

#define SIMPLE(arrivals, run_time)                                                                                     \
    "{'duration': '400d', 'load_whole_gpu': 0.5, 'classes': [{'share': 1, "                                            \
    "'arrivals': " arrivals ", 'sizes': [{'gpus': 1}], 'run_time': " run_time "}]}"

static struct synth_spec *spec_of(const char *json, struct arena *arena)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "test", json);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct synth_spec *spec = synth_read(&root, arena);
    if (error_is(error))
        print_error("%s\n", error_message(&error));
    assert_non_null(spec);
    json_doc_free(doc);
    return spec;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        print_error("got %.12g, expected %.12g\n", value, expected);
    assert_true(fabs(value - expected) <= tolerance);
}

/* ---- Run times --------------------------------------------------------------------------------- */

static void check_moments(const struct distribution *run_time)
{
    enum { DRAWS = 400000 };
    struct random_stream stream;
    double sum = 0, squares = 0;
    random_stream_init(&stream, SEED, "test", (uint64_t)run_time->kind);
    for (int i = 0; i < DRAWS; i++) {
        double seconds = run_time_draw_s(run_time, &stream);
        assert_true(seconds >= 0 && seconds <= run_time->max);
        sum += seconds;
        squares += seconds * seconds;
    }
    double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean;
    double expected = distribution_mean(run_time, 0);
    assert_true(fabs(mean - expected) <= SIGMAS * sqrt(variance / DRAWS) + 1e-9 * expected);
}

static void test_run_time_means(void **state)
{
    (void)state;
    const struct distribution cases[] = {
        {.kind = DISTRIBUTION_LOGNORMAL, .scale = 2400, .sigma = 1.0, .max = INFINITY},
        {.kind = DISTRIBUTION_LOGNORMAL, .scale = 2400, .sigma = 1.8, .max = 259200},
        {.kind = DISTRIBUTION_LOGNORMAL, .scale = 100, .sigma = 0.7, .max = 100},
        {.kind = DISTRIBUTION_LOGNORMAL, .scale = 100, .sigma = 0, .max = 200},
        {.kind = DISTRIBUTION_EXPONENTIAL, .scale = 3600, .max = INFINITY},
        {.kind = DISTRIBUTION_EXPONENTIAL, .scale = 3600, .max = 3600},
        {.kind = DISTRIBUTION_CONSTANT, .scale = 77, .max = INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_moments(&cases[i]);
}

/* ---- Arrivals ---------------------------------------------------------------------------------- */

struct arrival_counts {
    double hours[HOURS_PER_DAY], days[7], all, weeks;
    double bursting; /* arrivals that a burst brought or that fell into the burst of their service */
};

static void arrivals_count(const struct arrivals_shape *request_class, uint32_t services, double rate_per_s, int weeks,
                           struct arrival_counts *counts)
{
    struct arena arena = {0};
    struct arrivals arrivals = {0};
    double *demand = arena_alloc_array(&arena, services, double);
    time_ns until = weeks * 7 * INT64_C(86400) * TIME_NS_PER_S, previous = 0, now;
    for (uint32_t i = 0; i < services; i++)
        demand[i] = 1.0 / services;
    arrivals_init(&arrivals, &arena, request_class, rate_per_s, demand, services, SEED, 1);
    *counts = (struct arrival_counts){.weeks = weeks};
    while ((now = arrivals_next(&arrivals, until)) != TIME_NEVER) {
        int64_t hour = now / (3600 * TIME_NS_PER_S);
        assert_true(now >= previous && now < until && now % TIME_NS_PER_US == 0);
        previous = now;
        counts->all++;
        counts->hours[hour % HOURS_PER_DAY]++;
        counts->days[hour / HOURS_PER_DAY % 7]++;
        counts->bursting += arrivals_burst_service(&arrivals, 0.9999999) != UINT32_MAX && arrivals.active_count != 0;
    }
    arena_release(&arena);
}

static void assert_poisson(double count, double expected)
{
    if (fabs(count - expected) > SIGMAS * sqrt(expected) + 1e-9)
        print_error("got %g, expected %g\n", count, expected);
    assert_true(fabs(count - expected) <= SIGMAS * sqrt(expected) + 1e-9);
}

static void test_arrivals_follow_the_day_and_week(void **state)
{
    (void)state;
    const struct arrivals_shape request_class = {2, 14, 0.5, 1, 0, 1};
    const double rate = 0.02;
    struct arrival_counts counts;
    arrivals_count(&request_class, 1, rate, 60, &counts);
    double week = rate * 7 * DAY_S, weeks = counts.weeks;
    assert_poisson(counts.all, week * weeks); /* the mean is kept */
    for (int hour = 0; hour < HOURS_PER_DAY; hour++) {
        double factor = 1 + cos(2 * M_PI * (hour - 14) / 24.0);
        assert_poisson(counts.hours[hour], factor * week * weeks / HOURS_PER_DAY);
    }
    for (int day = 0; day < 7; day++)
        assert_poisson(counts.days[day], (day < 5 ? 1.0 : 0.5) * week * weeks / 6);
    assert_true(counts.hours[2] == 0); /* the trough of peak / mean 2 */
}

/* Bursts: the mean stays; a service has 3 x its rate in its bursts, and they fill 2 x 20 min of a day. */
static void test_bursts_keep_the_mean(void **state)
{
    (void)state;
    const struct arrivals_shape request_class = {1, 14, 1, 3, 1200 * TIME_NS_PER_S, 2};
    const double rate = 0.02, share = 2 * 1200 / DAY_S;
    struct arrival_counts counts;
    arrivals_count(&request_class, 1, rate, 200, &counts);
    double expected = rate * 7 * DAY_S * counts.weeks;
    assert_poisson(counts.all, expected);
    assert_poisson(counts.bursting, expected * 3 * share / (1 + 2 * share));
    struct arrival_counts many;
    arrivals_count(&request_class, 50, rate, 60, &many);
    assert_poisson(many.all, rate * 7 * DAY_S * many.weeks);
}

static void test_gaps_are_exponential(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct arena arena = {0};
    struct arrivals arrivals = {0};
    const struct arrivals_shape request_class = {1, 14, 1, 1, 0, 1};
    const double rate = 3.0;
    double squares = 0;
    time_ns previous = 0;
    arrivals_init(&arrivals, &arena, &request_class, rate, NULL, 0, SEED, 2);
    for (int i = 0; i < COUNT; i++) {
        time_ns now = arrivals_next(&arrivals, TIME_NS_MAX);
        double gap = time_to_seconds(now - previous) * rate;
        squares += gap * gap;
        previous = now;
    }
    /* E[gap^2] = 2, its variance 20; the mean of n gaps has variance 1/n. */
    assert_true(fabs(squares / COUNT - 2) < SIGMAS * sqrt(20.0 / COUNT));
    assert_true(fabs(time_to_seconds(previous) * rate / COUNT - 1) < SIGMAS * sqrt(1.0 / COUNT));
    arena_release(&arena);
}

/* ---- The main mix ------------------------------------------------------------------------------ */

static struct workload_spec main_mix(struct error *error)
{
    struct workload_spec spec;
    struct json_doc *doc;
    struct json_object object;
    char *bytes;
    size_t length;
    *error = input_read_all("scenarios/h100-500x8.json", 1 << 20, &bytes, &length);
    assert_false(error_is(*error));
    *error = json_doc_parse(&doc, "scenario", (struct text){bytes, length}, ERROR_CONFIG);
    assert_false(error_is(*error));
    mem_free(bytes);
    struct json_value root = json_doc_root(doc, error);
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "workload");
    workload_read(&spec, &value, "scenarios");
    if (error_is(*error))
        print_error("%s\n", error_message(error));
    assert_false(error_is(*error));
    json_doc_free(doc);
    return spec;
}

struct class_sums {
    double jobs, whole_s, whole_s2, asked_s, would_s, run_s;
    double failed, cancelled;
};

static const struct synth_class *class_of(const struct synth_spec *spec, const struct job *job)
{
    for (uint32_t i = 0; i < spec->class_count; i++)
        if (spec->classes[i].sm_active_low != 0 && spec->classes[i].class == job->class &&
            (job->class != JOB_TRAINING ||
             (spec->classes[i].checkpoint.interval != 0) == (job->checkpoint.interval != 0)))
            return &spec->classes[i];
    return NULL;
}

static double whole_gpus(const struct job *job)
{
    int64_t milli = job_gpu_milli(job);
    return milli < GPU_MILLI ? 1 : (double)milli / GPU_MILLI;
}

static void sums_add(struct class_sums *sums, const struct job *job, const struct job_truth *truth)
{
    double run_s = time_to_seconds(truth->duration), whole = whole_gpus(job) * run_s;
    double asked = (double)job_gpu_milli(job) / GPU_MILLI * run_s;
    sums->jobs++;
    sums->run_s += run_s;
    sums->whole_s += whole;
    sums->whole_s2 += whole * whole;
    sums->asked_s += asked;
    sums->would_s += asked * truth->would_do_milli / GPU_MILLI;
    sums->failed += truth->outcome == OUTCOME_FAILED;
    sums->cancelled += truth->outcome == OUTCOME_CANCELLED;
}

/* Generated GPU-seconds per class are share x load of the fleet; 8 fortnights, so that the bounds bite. */
static void test_class_loads_of_the_main_mix(void **state)
{
    (void)state;
    enum { RUNS = 8 };
    struct error error;
    struct workload_spec spec = main_mix(&error);
    struct cluster *cluster = cluster_uniform_new(500, 8);
    struct class_sums sums[MAIN_CLASSES] = {{0}}, all = {0};
    struct job job;
    struct job_truth truth;
    double fleet_s = RUNS * 14 * DAY_S * GPUS;
    for (int run = 0; run < RUNS; run++) {
        struct synth *synth = synth_new(spec.synth, cluster, SEED + (uint64_t)run);
        struct queue_table *queues = queue_table_new();
        synth_tenants(synth, queues);
        while (synth_next(synth, &job, &truth)) {
            assert_null(job_complaint(&job));
            sums_add(&sums[class_of(spec.synth, &job) - spec.synth->classes], &job, &truth);
            sums_add(&all, &job, &truth);
        }
        queue_table_free(queues);
        synth_free(synth);
    }
    for (int i = 0; i < MAIN_CLASSES; i++) {
        const struct synth_class *class = &spec.synth->classes[i];
        double expected = class->share * spec.synth->load_whole_gpu;
        double sigma = sqrt(sums[i].whole_s2) / fleet_s; /* compound Poisson: Var = N E[X^2] */
        print_message("%-15s %8.0f jobs, load whole %.4f (expected %.4f, sigma %.4f), asked %.4f, "
                      "would do %.4f, at a time %.0f\n",
                      class->name, sums[i].jobs, sums[i].whole_s / fleet_s, expected, sigma, sums[i].asked_s / fleet_s,
                      sums[i].would_s / fleet_s, sums[i].run_s / (RUNS * 14 * DAY_S));
        assert_true(fabs(sums[i].whole_s / fleet_s - expected) < SIGMAS * sigma);
        assert_true(sigma < 0.12 * expected);
    }
    print_message("all: whole %.3f, asked %.3f, would do %.3f\n", all.whole_s / fleet_s, all.asked_s / fleet_s,
                  all.would_s / fleet_s);
    assert_near(all.whole_s / fleet_s, 1.2, 0.05);
    assert_near(all.asked_s / fleet_s, 0.9, 0.05);
    assert_near(all.would_s / fleet_s, 0.7, 0.05);
    struct synth *synth = synth_new(spec.synth, cluster, SEED);
    double expected_h = synth_gpu_h_per_day(synth), asked_h = all.asked_s / fleet_s * GPUS * 24;
    assert_near(asked_h, expected_h, SIGMAS * sqrt(all.whole_s2) / fleet_s * GPUS * 24);
    assert_int_equal(synth_load_gpus(synth), GPUS);
    synth_free(synth);
    assert_near(sums[0].run_s / (RUNS * 14 * DAY_S), 1600, 60); /* replicas at a time (Little) */
    double small = sums[2].jobs;
    assert_true(fabs(sums[2].failed / small - 0.15) < SIGMAS * sqrt(0.15 * 0.85 / small));
    assert_true(fabs(sums[2].cancelled / small - 0.10) < SIGMAS * sqrt(0.1 * 0.9 / small));
    cluster_free(cluster);
    workload_release(&spec);
}

/* With load_gpus a load is kept whatever the cluster's size. */
static void test_work_is_absolute(void **state)
{
    (void)state;
    enum { DAYS = 400 };
    struct arena arena = {0};
    struct synth_spec *load = spec_of(SIMPLE("{}", "{'distribution': 'exponential', 'mean': '1h'}"), &arena);
    load->load_gpus = 40;
    const double expected_h = 0.5 * 40 * 24;
    struct cluster *small = cluster_uniform_new(5, 8), *large = cluster_uniform_new(11, 8);
    struct synth *a = synth_new(load, small, SEED), *b = synth_new(load, large, SEED);
    struct job job, other;
    struct job_truth truth, other_truth;
    double asked_s = 0, squares = 0;
    while (synth_next(a, &job, &truth)) {
        assert_true(synth_next(b, &other, &other_truth));
        assert_memory_equal(&job, &other, sizeof job);
        assert_memory_equal(&truth, &other_truth, sizeof truth);
        double work = (double)job_gpu_milli(&job) / GPU_MILLI * time_to_seconds(truth.duration);
        asked_s += work;
        squares += work * work;
    }
    assert_false(synth_next(b, &other, &other_truth));
    assert_near(synth_gpu_h_per_day(a), expected_h, 1e-9);
    assert_near(asked_s / 3600 / DAYS, expected_h, SIGMAS * sqrt(squares) / 3600 / DAYS);
    synth_free(a);
    synth_free(b);
    cluster_free(small);
    cluster_free(large);
    arena_release(&arena);
}

/* Demand is Zipf over projects: the sorted counts meet r^-1 / H. */
static void test_demand_is_zipf(void **state)
{
    (void)state;
    enum { PROJECTS = 40, JOBS = 200000 };
    struct arena arena = {0};
    struct synth_spec *spec = spec_of("{'jobs': 200000, 'load_whole_gpu': 0.5, 'tenants': {'organisations': 2, "
                                      "'teams': 5, 'projects': 40, 'zipf_exponent': 1}, 'classes': [{'share': 1, "
                                      "'sizes': [{'gpus': 1}], 'run_time': {'distribution': 'exponential', "
                                      "'mean': '1h'}}]}",
                                      &arena);
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct queue_table *queues = queue_table_new();
    struct synth *synth = synth_new(spec, cluster, SEED);
    double counts[PROJECTS] = {0}, harmonic = 0;
    struct job job;
    struct job_truth truth;
    int jobs = 0;
    synth_tenants(synth, queues);
    assert_int_equal(queues->count, 1 + 2 + 5 + PROJECTS);
    for (; synth_next(synth, &job, &truth); jobs++) {
        const char *name = queues->queues[job.queue].name;
        assert_memory_equal(name, "project", strlen("project"));
        counts[atoi(name + strlen("project"))]++;
    }
    assert_int_equal(jobs, JOBS);
    for (int i = 0; i < PROJECTS; i++)
        harmonic += 1.0 / (i + 1);
    for (int rank = 1; rank <= 5; rank++) { /* each of the largest is told apart from the next */
        int best = 0;
        for (int i = 1; i < PROJECTS; i++)
            best = counts[i] > counts[best] ? i : best;
        assert_poisson(counts[best], JOBS / (rank * harmonic));
        counts[best] = 0;
    }
    int64_t deserved[4] = {0}; /* by depth: every level sums to the cluster */
    for (queue_id id = 1; id < queues->count; id++) {
        const struct queue_spec *queue = &queues->queues[id];
        int depth = queue->name[0] == 'o' ? 1 : queue->name[0] == 't' ? 2 : 3;
        deserved[depth] += queue->deserved[RESOURCE_GPU];
    }
    for (int depth = 1; depth <= 3; depth++)
        assert_int_equal(deserved[depth], 80 * GPU_MILLI);
    synth_free(synth);
    queue_table_free(queues);
    cluster_free(cluster);
    arena_release(&arena);
}

/* ---- Independence and repetition --------------------------------------------------------------- */

#define TWO_CLASSES(other)                                                                                             \
    "{'duration': '20d', 'load_whole_gpu': 0.8, 'tenants': {'teams': 3, 'projects': "                                  \
    "12},"                                                                                                             \
    " 'classes': [" other ", {'name': 'watched', 'share': 0.5, 'class': 'inference',"                                  \
    " 'arrivals': {'diurnal_peak_to_mean': 1.5, 'weekly': true,"                                                       \
    "   'burst': {'factor': 4, 'duration': '30m', 'per_day': 3}},"                                                     \
    " 'sizes': [{'weight': 1, 'gpus': 1}, {'weight': 2, 'gpu_milli': 250}],"                                           \
    " 'run_time': {'distribution': 'lognormal', 'median': '1h', 'sigma': 1},"                                          \
    " 'sm_active': [0.2, 0.4], 'fail_early': 0.1}]}"

/* The hash of all jobs of the class "watched" (inference) but for their ids. */
static uint64_t watched_hash(const char *json, uint64_t seed, int *count)
{
    struct arena arena = {0};
    struct synth_spec *spec = spec_of(json, &arena);
    struct cluster *cluster = cluster_uniform_new(20, 8);
    struct queue_table *queues = queue_table_new();
    struct synth *synth = synth_new(spec, cluster, seed);
    struct job job;
    struct job_truth truth;
    uint64_t hash = 0;
    synth_tenants(synth, queues);
    for (*count = 0; synth_next(synth, &job, &truth);) {
        if (job.class != JOB_INFERENCE)
            continue;
        hash = hash_mix(hash, (uint64_t)job.submit);
        hash = hash_mix(hash, job.queue);
        hash = hash_mix(hash, (uint64_t)job_gpu_milli(&job));
        hash = hash_mix(hash, (uint64_t)truth.duration);
        hash = hash_mix(hash, (uint64_t)truth.sm_active_milli << 8 | truth.outcome);
        ++*count;
    }
    synth_free(synth);
    queue_table_free(queues);
    cluster_free(cluster);
    arena_release(&arena);
    return hash;
}

static void test_classes_do_not_move_each_other(void **state)
{
    (void)state;
    const char *one = TWO_CLASSES("{'name': 'other', 'share': 0.5, 'sizes': [{'gpus': 1}], "
                                  "'run_time': {'distribution': 'exponential', 'mean': '1h'}}");
    const char *two = TWO_CLASSES("{'name': 'else', 'share': 0.2, 'sizes': [{'gpus': 2}, {'gpus': 4}], "
                                  "'cancelled': 0.5, 'run_time': {'distribution': 'constant', 'mean': '9m'}}, "
                                  "{'name': 'third', 'share': 0.3, 'sizes': [{'gpus': 8}], "
                                  "'run_time': {'distribution': 'constant', 'mean': '2h'}}");
    int count_one, count_two;
    uint64_t hash = watched_hash(one, SEED, &count_one);
    assert_true(hash == watched_hash(two, SEED, &count_two));
    assert_int_equal(count_one, count_two);
    assert_true(count_one > 1000);
    assert_true(hash != watched_hash(one, SEED + 1, &count_two));
    assert_true(hash == watched_hash(one, SEED, &count_two));
}

/* Jobs that end early are shorter by what the rate counts on; constant run times leave no other spread. */
static void test_early_ends_have_their_mean(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct synth_spec *spec =
        spec_of("{'jobs': 100000, 'load_whole_gpu': 0.5, 'classes': [{'share': 1, 'sizes': [{'gpus': 1}], "
                "'run_time': {'distribution': 'constant', 'mean': 1000}, 'fail_early': 0.8, 'cancelled': 0.15}]}",
                &arena);
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct queue_table *queues = queue_table_new();
    struct synth *synth = synth_new(spec, cluster, SEED);
    struct job job;
    struct job_truth truth;
    double sums[OUTCOME_COUNT] = {0}, squares = 0, all = 0, jobs = (double)spec->job_count;
    synth_tenants(synth, queues);
    while (synth_next(synth, &job, &truth)) {
        double seconds = time_to_seconds(truth.duration);
        assert_true(truth.outcome != OUTCOME_FAILED || seconds <= 100);
        assert_true(seconds <= 1000);
        sums[truth.outcome] += seconds;
        squares += seconds * seconds;
        all += seconds;
    }
    double deviation = sqrt((squares / jobs - all * all / jobs / jobs) / jobs);
    assert_near(synth_class_mean_s(&spec->classes[0]), 0.8 * 50 + 0.15 * 500 + 0.05 * 1000, 1e-9);
    assert_near(all / jobs, synth_class_mean_s(&spec->classes[0]), SIGMAS * deviation);
    assert_near(sums[OUTCOME_FAILED] / jobs, 0.8 * 50, SIGMAS * 35 / sqrt(jobs));
    synth_free(synth);
    queue_table_free(queues);
    cluster_free(cluster);
    arena_release(&arena);
}

static void test_ends_by_count_and_by_time(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct synth_spec *spec = spec_of(SIMPLE("{}", "{'distribution': 'exponential', 'mean': '1h'}"), &arena);
    struct cluster *cluster = cluster_uniform_new(1, 4);
    struct synth *synth = synth_new(spec, cluster, 1);
    struct queue_table *queues = queue_table_new();
    struct job job;
    struct job_truth truth;
    double jobs = 0;
    time_ns previous = 0;
    synth_tenants(synth, queues);
    for (; synth_next(synth, &job, &truth); jobs++) {
        assert_true(job.submit >= previous && job.submit < spec->duration);
        assert_int_equal(job.id, (job_id)jobs);
        previous = job.submit;
    }
    assert_false(synth_next(synth, &job, &truth));
    assert_poisson(jobs, 400 * 24 * 2); /* load 0.5 of 4 GPUs is 2 jobs an hour */
    synth_free(synth);
    queue_table_free(queues);
    cluster_free(cluster);
    arena_release(&arena);
}

/* Tensor-parallel groups of 8 are members of a whole node, or slices of two; levels are those of the cluster. */
static void test_groups_and_levels(void **state)
{
    (void)state;
    static const char mix[] = "{'jobs': 50, 'load_whole_gpu': 0.5, 'classes': [{'share': 1, 'sizes': [{'gpus': 32, "
                              "'tensor_parallel': 8, 'topology': {'required': 'unit', 'preferred': 'node'}}], "
                              "'run_time': {'distribution': 'exponential', 'mean': '1h'}}]}";
    struct arena arena = {0};
    struct synth_spec *spec = spec_of(mix, &arena);
    struct cluster *racks, *nodes = cluster_uniform_new(8, 8);
    struct error error = cluster_load(&racks, "topologies/nvl72-8.json");
    const char *class_name;
    uint32_t index;
    assert_string_equal(error_message(&error), "");
    for (int i = 0; i < 2; i++) {
        const struct cluster *cluster = i == 0 ? nodes : racks;
        struct queue_table *queues = queue_table_new();
        struct job job;
        struct job_truth truth;
        assert_null(synth_complaint(spec, cluster, &class_name, &index));
        struct synth *synth = synth_new(spec, cluster, SEED);
        synth_tenants(synth, queues);
        assert_true(synth_next(synth, &job, &truth));
        assert_null(job_complaint(&job));
        assert_int_equal(job.first.count * job.first.request.gpus, 32);
        assert_int_equal(job.first.request.gpus, i == 0 ? 8 : 4);
        assert_int_equal(job.first.slice_members, i == 0 ? 0 : 2);
        assert_int_equal(job.topology.required, cluster_level_of(cluster, TEXT("unit")));
        assert_int_equal(job.topology.preferred, cluster_level_of(cluster, TEXT("node")));
        synth_free(synth);
        queue_table_free(queues);
    }
    racks->level_count = 1; /* neither "nvlink" nor "node" */
    assert_non_null(synth_complaint(spec, racks, &class_name, &index));
    assert_int_equal(index, 0);
    cluster_free(racks);
    cluster_free(nodes);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_and_levels),
        cmocka_unit_test(test_run_time_means),
        cmocka_unit_test(test_arrivals_follow_the_day_and_week),
        cmocka_unit_test(test_bursts_keep_the_mean),
        cmocka_unit_test(test_gaps_are_exponential),
        cmocka_unit_test(test_class_loads_of_the_main_mix),
        cmocka_unit_test(test_work_is_absolute),
        cmocka_unit_test(test_demand_is_zipf),
        cmocka_unit_test(test_classes_do_not_move_each_other),
        cmocka_unit_test(test_early_ends_have_their_mean),
        cmocka_unit_test(test_ends_by_count_and_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
