/* tests/unit/test_metrics.c -- metrics of runs worked out by hand, and percentiles against a naive sort. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/mem.h"
#include "reports/metrics.h"
#include "reports/view.h"
#include "tests/support/fake_run.h"
#include "tests/support/made_row.h"

#define S TIME_NS_PER_S

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void ok(struct error error)
{
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

static void feed_job(struct metrics *metrics, struct job_row row)
{
    struct record_sink sink = metrics_sink(metrics);
    if (row.name == NULL)
        row.name = "1";
    if (row.user == NULL)
        row.user = "";
    row = made_row(row);
    ok(sink.on_job(sink.self, &row));
}

static void feed_sample(struct metrics *metrics, struct timeline_row row)
{
    struct record_sink sink = metrics_sink(metrics);
    ok(sink.on_sample(sink.self, &row));
}

static void finish(struct metrics *metrics, struct run_facts facts)
{
    static const char *const models[] = {"h100-80gb", NULL};
    struct record_sink sink = metrics_sink(metrics);
    facts.model_names = models;
    ok(sink.on_finished(sink.self, &facts));
    metrics_finish(metrics);
}

static double cut_value(const struct metrics *metrics, const char *cut, const char *key, const char *name)
{
    const char *found;
    for (size_t i = 0; (found = metrics_cut_key(metrics, cut, i)) != NULL; i++) {
        if (strcmp(found, key) != 0)
            continue;
        size_t count;
        const struct metric *values = metrics_cut(metrics, cut, i, &count);
        for (size_t m = 0; m < count; m++)
            if (strcmp(values[m].name, name) == 0)
                return values[m].value;
    }
    return NAN;
}

/* Four GPUs, 100 s.  A: 2 GPUs from 0 to 50.  B: 4 GPUs, waits from 10 to 50, runs to 80, of which 24 s were
 * kept and 6 s lost to an eviction.  C: waits from 20 on and never starts.  D is rejected. */
/* absent_gpu_s: GPU time out of service, of 400 GPU s. */
static struct metrics *four_jobs_of(double absent_gpu_s)
{
    struct metrics *metrics = metrics_new();
    feed_job(metrics, (struct job_row){.id = 0,
                                       .queue = "q1",
                                       .class = JOB_TRAINING,
                                       .gpu_milli = 2000,
                                       .end = 50 * S,
                                       .state = END_COMPLETED,
                                       .run = 50 * S,
                                       .work = 50 * S,
                                       .work_asked = 50 * S,
                                       .is_counted = true});
    feed_job(metrics, (struct job_row){.id = 1,
                                       .queue = "q2",
                                       .class = JOB_INFERENCE,
                                       .gpu_milli = 4000,
                                       .submit = 10 * S,
                                       .eligible = 10 * S,
                                       .start = 50 * S,
                                       .end = 80 * S,
                                       .state = END_COMPLETED,
                                       .wait = 40 * S,
                                       .wait_total = 40 * S,
                                       .run = 30 * S,
                                       .work = 24 * S,
                                       .work_asked = 24 * S,
                                       .evictions = 1,
                                       .lost_gpu_ns = 24 * S,
                                       .is_counted = true});
    feed_job(metrics, (struct job_row){.id = 2,
                                       .queue = "q2",
                                       .class = JOB_INFERENCE,
                                       .gpu_milli = 1000,
                                       .model = 255,
                                       .submit = 20 * S,
                                       .eligible = 20 * S,
                                       .start = TIME_NEVER,
                                       .end = TIME_NEVER,
                                       .state = END_PENDING,
                                       .wait = 80 * S,
                                       .wait_total = 80 * S,
                                       .work_asked = 30 * S,
                                       .is_counted = true});
    feed_job(metrics, (struct job_row){.id = 3,
                                       .queue = "q1",
                                       .class = JOB_TRAINING,
                                       .gpu_milli = 9000,
                                       .model = 255,
                                       .submit = 30 * S,
                                       .eligible = 30 * S,
                                       .start = TIME_NEVER,
                                       .end = 30 * S,
                                       .state = END_REJECTED,
                                       .reason = REASON_NEVER_FITS,
                                       .work_asked = 1000 * S,
                                       .is_counted = true});
    feed_sample(metrics, (struct timeline_row){.time = 0});
    feed_sample(metrics, (struct timeline_row){.time = 100 * S,
                                               .allocated_gpu_s = 220,
                                               .active_gpu_s = 110,
                                               .reserved_gpu_s = 20,
                                               .down_gpu_s = 4,
                                               .pending_job_s = 120,
                                               .partial_gang_gpu_s = 36,
                                               .spent = {[SPENT_ABSENT] = (gpu_time_ns)(absent_gpu_s * 1e9)}});
    const struct offered_load offered = {.kind = OFFERED_STREAM, .ratio = 0.6};
    finish(metrics, (struct run_facts){.end = 100 * S, .gpu_count = 4, .price_usd_per_gpu_h = 3.6, .offered = offered});
    return metrics;
}

static struct metrics *four_jobs(void)
{
    return four_jobs_of(0);
}

/* Of 400 GPU s 80 are out of service: parts are of the 320 others, and so is the cost. */
TEST(parts_are_of_what_is_in_service)
{
    struct metrics *m = four_jobs_of(80);
    near(metrics_value(m, "spent_absent_gpu_h"), 80.0 / 3600);
    near(metrics_value(m, "allocation_ratio"), 220.0 / 320);
    near(metrics_value(m, "sm_active_ratio"), 110.0 / 320);
    near(metrics_value(m, "idle_reserved_ratio"), 20.0 / 320);
    near(metrics_value(m, "down_ratio"), 4.0 / 320);
    near(metrics_value(m, "cost_usd"), 0.32);
    near(metrics_gpus(m), 3.2);
    near(metrics_value(m, "partial_gang_gpu_h"), 0.01);
    metrics_free(m);
    m = four_jobs();
    assert_true(isnan(metrics_value(m, "spent_absent_gpu_h")));
    near(metrics_gpus(m), 4);
    metrics_free(m);
}

TEST(a_run_of_four_jobs)
{
    struct metrics *m = four_jobs();
    near(metrics_value(m, "allocation_ratio"), 220.0 / 400);
    near(metrics_value(m, "sm_active_ratio"), 110.0 / 400);
    near(metrics_value(m, "idle_reserved_ratio"), 20.0 / 400);
    near(metrics_value(m, "down_ratio"), 4.0 / 400);
    near(metrics_value(m, "partial_gang_gpu_h"), 0.01);
    near(metrics_value(m, "offered_load_ratio"), 0.6); /* a fact of the run */
    near(metrics_never_fit_gpu_s(m), 9000);
    near(metrics_value(m, "queue_time_p50_s"), 40); /* of 0, 40, 80 */
    near(metrics_value(m, "queue_time_p95_s"), 80);
    near(metrics_value(m, "queue_time_mean_s"), 40);
    near(metrics_value(m, "queue_time_max_s"), 80);
    near(metrics_value(m, "admission_p99_s"), 80);
    near(metrics_value(m, "goodput_ratio"), (100.0 + 96) / (100 + 120));
    near(metrics_value(m, "lost_gpu_h"), 24.0 / 3600);
    near(metrics_value(m, "preemptions"), 1);
    near(metrics_value(m, "asked_gpu_h"), (100.0 + 96 + 30) / 3600);
    near(metrics_value(m, "allocated_gpu_h"), 220.0 / 3600);
    double x1 = 1, x2 = 120.0 / 126;
    near(metrics_value(m, "jain_fairness"), (x1 + x2) * (x1 + x2) / (2 * (x1 * x1 + x2 * x2)));
    near(metrics_value(m, "cost_usd"), 0.4);
    near(metrics_value(m, "cost_per_job_usd"), 0.2);
    near(metrics_value(m, "slowdown_bounded_mean"), (1 + 2.916666) / 2); /* 70 / 24, cut at a millionth */
    near(metrics_value(m, "slowdown_bounded_completed_mean"), (1 + 2.916666) / 2);
    near(metrics_value(m, "makespan_s"), 80);
    near(metrics_value(m, "queue_length_mean"), 1.2);
    near(metrics_value(m, "little_error_ratio"), 0);
    metrics_free(m);
}

TEST(jobs_are_counted_by_how_they_ended)
{
    struct metrics *m = four_jobs();
    near(metrics_value(m, "jobs_submitted"), 4);
    near(metrics_value(m, "jobs_completed"), 2);
    near(metrics_value(m, "jobs_pending"), 1);
    near(metrics_value(m, "jobs_rejected"), 1);
    near(metrics_value(m, "jobs_failed"), 0);
    assert_int_equal(metrics_rejected(m, REASON_NEVER_FITS), 1);
    assert_int_equal(metrics_rejected(m, REASON_QUEUE_FULL), 0);
    assert_true(isnan(metrics_value(m, "no_such_metric")));
    near(cut_value(m, "queue", "q1", "jobs_submitted"), 2);
    near(cut_value(m, "queue", "q2", "queue_time_p50_s"), 40);
    near(cut_value(m, "class", "training", "admission_p99_s"), 0);
    near(cut_value(m, "size", "3-4", "queue_time_max_s"), 40);
    near(cut_value(m, "size", "9-16", "jobs_rejected"), 1); /* nine GPUs */
    near(cut_value(m, "gpu_model", "h100-80gb", "jobs_completed"), 2);
    near(cut_value(m, "gpu_model", "any", "jobs_pending"), 1);
    metrics_free(m);
}

TEST(sizes_go_by_powers_of_two)
{
    static const struct {
        int64_t gpu_milli;
        const char *key;
    } cases[] = {{0, "0"},       {1, "<1"},           {999, "<1"},          {1000, "1"},           {1001, "2"},
                 {2000, "2"},    {3000, "3-4"},       {4000, "3-4"},        {5000, "5-8"},         {8000, "5-8"},
                 {9000, "9-16"}, {512000, "257-512"}, {513000, "513-1024"}, {4000000, "2049-4096"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct metrics *m = metrics_new();
        feed_job(
            m,
            (struct job_row){
                .queue = "q", .gpu_milli = cases[i].gpu_milli, .end = S, .state = END_COMPLETED, .is_counted = true});
        finish(m, (struct run_facts){.end = S, .gpu_count = 1});
        assert_string_equal(metrics_cut_key(m, "size", 0), cases[i].key);
        assert_null(metrics_cut_key(m, "size", 1));
        metrics_free(m);
    }
}

TEST(what_came_before_the_warm_up_does_not_count)
{
    struct metrics *m = metrics_new();
    feed_job(m, (struct job_row){.queue = "q",
                                 .gpu_milli = 1000,
                                 .start = 30 * S,
                                 .end = 40 * S,
                                 .state = END_COMPLETED,
                                 .wait = 30 * S,
                                 .wait_total = 30 * S});
    feed_sample(m, (struct timeline_row){.time = 40 * S, .allocated_gpu_s = 10, .pending_job_s = 30});
    feed_sample(m, (struct timeline_row){.time = 60 * S, .allocated_gpu_s = 30, .pending_job_s = 30});
    feed_sample(m, (struct timeline_row){.time = 100 * S, .allocated_gpu_s = 60, .pending_job_s = 30});
    finish(m, (struct run_facts){.end = 100 * S, .warmup = 50 * S, .gpu_count = 2});
    near(metrics_value(m, "jobs_submitted"), 0);
    assert_true(isnan(metrics_value(m, "queue_time_p50_s")));
    assert_true(isnan(metrics_value(m, "cost_usd")));
    near(metrics_value(m, "allocation_ratio"), (60.0 - 20) / (2 * 50)); /* 20 at 50 s, between 10 and 30 */
    near(metrics_value(m, "queue_length_mean"), 0);
    near(metrics_value(m, "little_error_ratio"), 0); /* the whole run: 30 job seconds, a wait of 30 s */
    metrics_free(m);
}

TEST(little_s_law_broken_is_seen)
{
    for (int has_integral = 0; has_integral < 2; has_integral++) {
        struct metrics *m = metrics_new();
        feed_job(m, (struct job_row){.queue = "q",
                                     .start = 30 * S,
                                     .end = 40 * S,
                                     .wait = 30 * S,
                                     .wait_total = 30 * S,
                                     .is_counted = true});
        feed_sample(m, (struct timeline_row){.time = 100 * S, .pending_job_s = has_integral * 40});
        finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 2});
        near(metrics_value(m, "little_error_ratio"), has_integral ? 0.25 : 1);
        metrics_free(m);
    }
}

TEST(admission_counts_the_time_held)
{
    struct metrics *m = metrics_new();
    struct job_row row = {.queue = "q",
                          .class = JOB_INFERENCE,
                          .state = END_COMPLETED,
                          .submit = 10 * S,
                          .eligible = 70 * S,
                          .start = 75 * S,
                          .end = 90 * S,
                          .wait = 5 * S,
                          .wait_total = 5 * S,
                          .is_counted = true};
    feed_job(m, row); /* held for 60 s, waited 5 s */
    finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 2});
    near(metrics_value(m, "queue_time_p99_s"), 5);
    near(metrics_value(m, "admission_p99_s"), 65);
    metrics_free(m);

    m = metrics_new();
    row.eligible = row.start = row.end = TIME_NEVER; /* held to the end */
    row.wait = row.wait_total = 0;
    row.state = END_PENDING;
    feed_job(m, row);
    finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 2});
    near(metrics_value(m, "queue_time_p99_s"), 0);
    near(metrics_value(m, "admission_p99_s"), 90);
    metrics_free(m);
}

TEST(a_name_is_what_it_says_wherever_it_stands)
{
    struct metrics *m = metrics_new();
    char names[30][16], name[16];
    for (int i = 0; i < 30; i++) {
        snprintf(names[i], sizeof names[i], "q%d", i % 3);
        feed_job(m, (struct job_row){.queue = names[i], .end = S, .state = END_COMPLETED, .is_counted = true});
    }
    finish(m, (struct run_facts){.end = S, .gpu_count = 1});
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "q%d", i);
        assert_string_equal(metrics_cut_key(m, "queue", (size_t)i), name);
        near(cut_value(m, "queue", name, "jobs_submitted"), 10);
    }
    metrics_free(m);
}

/* ---- against a naive sort ---- */

static uint64_t draw(uint64_t *random)
{
    *random ^= *random << 13; /* xorshift64 (Marsaglia, J. Stat. Soft. 2003) */
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double nearest_rank(double *values, size_t count, double percent)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare_doubles);
    size_t rank = (size_t)ceil(percent * (double)count / 100 - 1e-9);
    return values[rank == 0 ? 0 : rank - 1];
}

static void check_quantiles(const struct metrics *m, const char *cut, const char *key, double *waits,
                            double *admissions, size_t count)
{
    near(cut_value(m, cut, key, "queue_time_p50_s"), nearest_rank(waits, count, 50));
    near(cut_value(m, cut, key, "queue_time_p95_s"), nearest_rank(waits, count, 95));
    near(cut_value(m, cut, key, "queue_time_p99_s"), nearest_rank(waits, count, 99));
    near(cut_value(m, cut, key, "admission_p99_s"), nearest_rank(admissions, count, 99));
}

enum { NAIVE_JOBS = 700, NAIVE_QUEUES = 5 };

static struct job_row random_row(uint64_t *random, const char *queue)
{
    static const time_ns scales[] = {1, 1000, S, 5000 * S, 2000000 * S};
    struct job_row row = {
        .queue = queue, .is_counted = draw(random) % 20 != 0, .class = (uint8_t)(draw(random) % JOB_CLASS_COUNT)};
    row.submit = (time_ns)(draw(random) % 1000) * S;
    row.eligible = row.submit + (draw(random) % 6 == 0 ? (time_ns)(draw(random) % 50) * S : 0);
    if (draw(random) % 3 != 0)
        row.wait = (time_ns)(draw(random) % 7 + draw(random) % 1000) * scales[draw(random) % 5];
    row.start = row.end = row.eligible + row.wait;
    row.state = draw(random) % 10 == 0 ? END_REJECTED : END_COMPLETED;
    if (row.state == END_COMPLETED && draw(random) % 9 == 0) {
        row.state = END_PENDING;
        row.start = row.end = TIME_NEVER;
    }
    row.wait_total = row.wait;
    return row;
}

static void naive_round(uint64_t seed)
{
    static const char *const queues[NAIVE_QUEUES] = {"a", "b", "c", "d", "e"};
    double waits[NAIVE_QUEUES + 1][NAIVE_JOBS], admissions[NAIVE_QUEUES + 1][NAIVE_JOBS];
    size_t count[NAIVE_QUEUES + 1] = {0};
    uint64_t random = seed;
    size_t jobs = 1 + draw(&random) % NAIVE_JOBS;
    struct metrics *m = metrics_new();
    for (size_t i = 0; i < jobs; i++) {
        size_t q = draw(&random) % NAIVE_QUEUES;
        struct job_row row = random_row(&random, queues[q]);
        feed_job(m, row);
        if (!row.is_counted || row.state == END_REJECTED)
            continue;
        double held_s = time_to_seconds(row.eligible - row.submit);
        waits[q][count[q]] = time_to_seconds(row.wait);
        admissions[q][count[q]++] = time_to_seconds(row.wait) + held_s;
        if (row.class == JOB_INTERACTIVE) {
            waits[NAIVE_QUEUES][count[NAIVE_QUEUES]] = time_to_seconds(row.wait);
            admissions[NAIVE_QUEUES][count[NAIVE_QUEUES]++] = time_to_seconds(row.wait) + held_s;
        }
    }
    finish(m, (struct run_facts){.end = 100000 * S, .gpu_count = 1});
    for (size_t q = 0; q < NAIVE_QUEUES; q++)
        if (count[q] > 0)
            check_quantiles(m, "queue", queues[q], waits[q], admissions[q], count[q]);
    if (count[NAIVE_QUEUES] > 0)
        check_quantiles(m, "class", "interactive", waits[NAIVE_QUEUES], admissions[NAIVE_QUEUES], count[NAIVE_QUEUES]);
    metrics_free(m);
}

TEST(percentiles_are_those_of_a_naive_sort)
{
    for (uint64_t seed = 1; seed <= 200; seed++)
        naive_round(seed * UINT64_C(0x9e3779b97f4a7c15));
}

/* ---- a larger run ---- */

static const struct record_queue tree[] = {{"team-0", RECORD_QUEUE_ROOT},
                                           {"team-0/project-0", 0},
                                           {"team-0/project-20", 0},
                                           {"team-1/project-1", RECORD_QUEUE_ROOT}};

static const struct fake_run usual = {.tree = tree,
                                      .tree_count = 4,
                                      .jobs = 20000,
                                      .gpus = 256,
                                      .queues = 40,
                                      .seed = 3,
                                      .load = 0.95,
                                      .warmup_s = 86400,
                                      .rejected_every = 500};

static struct metrics *usual_metrics(void)
{
    struct metrics *m = metrics_new();
    struct record_sink sink = metrics_sink(m);
    fake_run_feed(&usual, &sink);
    metrics_finish(m);
    return m;
}

TEST(cuts_sum_to_the_whole)
{
    static const char *const sums[] = {"jobs_submitted", "jobs_completed", "jobs_failed",  "jobs_cancelled",
                                       "jobs_limit",     "jobs_rejected",  "jobs_pending", "jobs_running",
                                       "preemptions",    "lost_gpu_h",     "asked_gpu_h",  "allocated_gpu_h"};
    struct metrics *m = usual_metrics();
    for (int c = 0; metrics_cut_names[c] != NULL; c++) {
        for (size_t s = 0; s < sizeof sums / sizeof sums[0]; s++) {
            double sum = 0;
            const char *key;
            for (size_t i = 0; (key = metrics_cut_key(m, metrics_cut_names[c], i)) != NULL; i++)
                sum += cut_value(m, metrics_cut_names[c], key, sums[s]);
            near(sum, metrics_value(m, sums[s]));
        }
    }
    assert_true(metrics_value(m, "jobs_rejected") > 10);
    assert_true(metrics_value(m, "queue_time_p99_s") > 60);
    near(metrics_value(m, "little_error_ratio"), 0);
    metrics_free(m);
}

TEST(the_distribution_climbs_to_one)
{
    struct metrics *m = usual_metrics();
    for (int class = -1; class < JOB_CLASS_COUNT; class ++) {
        for (size_t max = 2; max <= 300; max += 149) {
            double wait_s[300], ratio[300];
            size_t count = metrics_wait_cdf(m, class, wait_s, ratio, max);
            assert_in_range(count, 2, max);
            for (size_t i = 1; i < count; i++)
                assert_true(wait_s[i] >= wait_s[i - 1] && ratio[i] > ratio[i - 1]);
            near(ratio[count - 1], 1);
            if (class < 0)
                near(wait_s[count - 1], metrics_value(m, "queue_time_max_s"));
        }
    }
    metrics_free(m);
}

TEST(samples_are_thinned_but_keep_their_ends)
{
    for (size_t given = 1; given < 9000; given = given * 2 + 1) {
        struct metrics *m = metrics_new();
        for (size_t i = 0; i < given; i++)
            feed_sample(m, (struct timeline_row){.time = (time_ns)i * S, .allocated_gpu_s = (double)i});
        finish(m, (struct run_facts){.end = (time_ns)given * S, .gpu_count = 1});
        size_t count;
        const struct timeline_row *samples = metrics_samples(m, &count);
        assert_in_range(count, given < METRICS_SAMPLES_MAX ? given : METRICS_SAMPLES_MAX / 2, METRICS_SAMPLES_MAX);
        assert_true(samples[0].time == 0);
        assert_true(samples[count - 1].time == (time_ns)(given - 1) * S);
        if (given > 1)
            near(metrics_value(m, "allocation_ratio"), 1);
        metrics_free(m);
    }
}

TEST(a_run_without_jobs_has_no_waits)
{
    struct metrics *m = metrics_new();
    finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 4});
    assert_true(isnan(metrics_value(m, "allocation_ratio")));
    assert_true(isnan(metrics_value(m, "queue_time_p50_s")));
    assert_true(isnan(metrics_value(m, "jain_fairness")));
    assert_true(isnan(metrics_value(m, "makespan_s")));
    near(metrics_value(m, "jobs_submitted"), 0);
    double wait_s[2], ratio[2];
    assert_int_equal(metrics_wait_cdf(m, -1, wait_s, ratio, 2), 0);
    assert_null(metrics_cut_key(m, "class", 0));
    assert_null(metrics_cut_key(m, "no such cut", 0));
    metrics_free(m);
}

/* Summed over the counted jobs, by queue too; of a reason that nobody waited for there is no metric. */
TEST(what_jobs_waited_for_is_summed)
{
    struct metrics *m = metrics_new();
    for (job_id id = 0; id < 4; id++) {
        struct wait_times waits = {0};
        wait_times_add(&waits, REASON_RESOURCES, 1800 * S);
        wait_times_add(&waits, id == 1 ? REASON_QUOTA_LIMIT : REASON_PRIORITY, 5400 * S);
        feed_job(m, (struct job_row){.id = id,
                                     .queue = id == 0 ? "a" : "b",
                                     .start = 7200 * S,
                                     .end = 7200 * S,
                                     .state = id == 2 ? END_REJECTED : END_COMPLETED,
                                     .wait = 7200 * S,
                                     .wait_total = 7200 * S,
                                     .waits = &waits,
                                     .is_counted = id != 3});
    }
    finish(m, (struct run_facts){.end = 9000 * S, .gpu_count = 8});
    assert_true(metrics_value(m, "wait_resources_job_h") == 1);
    assert_true(metrics_value(m, "wait_priority_job_h") == 1.5);
    assert_true(metrics_value(m, "wait_quota_limit_job_h") == 1.5);
    assert_true(isnan(metrics_value(m, "wait_held_job_h")));
    assert_true(view_cut_value(m, "queue", 0, "wait_priority_job_h") == 1.5);
    assert_true(isnan(view_cut_value(m, "queue", 1, "wait_priority_job_h")));
    assert_true(view_cut_value(m, "queue", 1, "wait_resources_job_h") == 0.5);
    struct view_wait waits[REASON_COUNT];
    double job_h;
    assert_int_equal(view_waits(m, waits, &job_h), 3);
    assert_true(job_h == 4);
    assert_int_equal(waits[2].reason, REASON_RESOURCES);
    metrics_free(m);
}
