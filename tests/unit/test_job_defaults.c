/* tests/unit/test_job_defaults.c -- `workload.defaults`: what is taken where a job does not say it. */
#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"

/* The defaults alone, for a trace of native CSV. */
static struct workload_spec spec_with(const char *defaults, struct error *error)
{
    struct workload_spec spec;
    struct json_doc *doc;
    struct buffer text = {0};
    buffer_format(&text, "{'trace': 'a.csv', 'format': 'native', 'defaults': %s}", defaults);
    *error = json_text_read(&doc, "w.json", buffer_c_string(&text));
    assert_false(error_is(*error));
    struct json_value root = json_doc_root(doc, error);
    workload_read(&spec, &root, "");
    json_doc_free(doc);
    buffer_release(&text);
    return spec;
}

static struct trace_case read_with(const char *defaults, const char *csv, const struct cluster *cluster)
{
    struct error error;
    static struct workload_spec spec; /* whose values the jobs borrow: released when the next one is read */
    workload_release(&spec);
    spec = spec_with(defaults, &error);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return trace_case_read(csv, &spec, cluster);
}

static void refused(const char *defaults, const char *says)
{
    struct error error;
    struct workload_spec spec = spec_with(defaults, &error);
    assert_int_equal(error.kind, ERROR_CONFIG);
    if (strstr(error_message(&error), says) == NULL)
        fail_msg("wanted '%s' in: %s", says, error_message(&error));
    error_release(&error);
    workload_release(&spec);
}

/* ---- what is set ---- */

TEST(what_a_job_says_stays)
{
    struct trace_case read =
        read_with("[{'set': {'priority': 75, 'class': 'inference', 'checkpoint_interval_s': '30m', 'restart_s': 60, "
                  "'checkpoint_duration_s': 5, 'limit_s': '1d', 'estimate_s': 3600, 'preemptible': false}}]",
                  "job_id,submit_s,duration_s,gpus,priority,class,checkpoint_interval_s,restart_s,"
                  "checkpoint_duration_s,limit_s,estimate_s,preemptible\n"
                  "1,0,60,1,,,,,,,,\n2,0,60,1,10,interactive,600,7,8,900,90,false\n",
                  NULL);
    const struct job *silent = &read.jobs[0], *says = &read.jobs[1];
    assert_int_equal(silent->priority, 75);
    assert_int_equal(silent->class, JOB_INFERENCE);
    assert_true(silent->checkpoint.interval == 1800 * TIME_NS_PER_S &&
                silent->checkpoint.restart == 60 * TIME_NS_PER_S);
    assert_true(silent->checkpoint.duration == 5 * TIME_NS_PER_S && silent->limit == 86400 * TIME_NS_PER_S);
    assert_true(silent->estimate == 3600 * TIME_NS_PER_S && !silent->is_preemptible && !silent->is_firm_by_priority);
    assert_int_equal(says->priority, 10);
    assert_int_equal(says->class, JOB_INTERACTIVE);
    assert_true(says->checkpoint.interval == 600 * TIME_NS_PER_S && says->checkpoint.restart == 7 * TIME_NS_PER_S);
    assert_true(says->checkpoint.duration == 8 * TIME_NS_PER_S && says->limit == 900 * TIME_NS_PER_S);
    assert_true(says->estimate == 90 * TIME_NS_PER_S);
    trace_case_release(&read);
}

TEST(an_earlier_row_goes_before_a_later_one)
{
    struct trace_case read = read_with("[{'gpus_max': 1, 'set': {'priority': 50}},"
                                       " {'gpus_min': 8, 'set': {'class': 'interactive', 'priority': 60}},"
                                       " {'class': 'interactive', 'set': {'priority': 70, 'restart_s': 9}},"
                                       " {'set': {'priority': 80}}]",
                                       "job_id,submit_s,duration_s,gpus,class\n"
                                       "1,0,60,1,\n2,0,60,8,\n3,0,60,2,interactive\n4,0,60,2,\n",
                                       NULL);
    const int32_t priorities[] = {50, 60, 70, 80};
    const time_ns restarts[] = {0, 9, 9, 0};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(read.jobs[i].priority, priorities[i]);
        assert_true(read.jobs[i].checkpoint.restart == restarts[i] * TIME_NS_PER_S);
    }
    trace_case_release(&read);
}

/* A row for a user or a workload class, and parts of a GPU rounded up. */
TEST(rows_are_for_the_jobs_that_they_name)
{
    struct trace_case read = read_with("[{'user': 'ann', 'set': {'priority': 1}},"
                                       " {'workload_class': 'finetune', 'set': {'priority': 2}},"
                                       " {'gpus_min': 1, 'gpus_max': 1, 'set': {'priority': 3}}]",
                                       "job_id,submit_s,duration_s,gpus,gpu_fraction,user,workload_class\n"
                                       "1,0,60,8,,ann,\n2,0,60,8,,bob,finetune\n3,0,60,0,0.5,bob,\n4,0,60,8,,,\n",
                                       NULL);
    const int32_t priorities[] = {1, 2, 3, 50};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(read.jobs[i].priority, priorities[i]);
    trace_case_release(&read);
}

TEST(a_gpu_model_is_one_of_the_clusters)
{
    struct cluster *cluster = cluster_uniform_new(2, 8);
    const char *name = cluster->models[0].name;
    struct buffer defaults = {0}, csv = {0};
    buffer_format(&defaults, "[{'gpus_min': 2, 'set': {'gpu_model': '%s'}}, {'set': {'gpu_model': 'other'}}]", name);
    buffer_format(
        &csv,
        "job_id,submit_s,duration_s,gpus,gpu_model,cpus\n1,0,60,8,,\n2,0,60,8,other,\n3,0,60,1,%s,\n4,0,60,0,,1\n",
        name);
    struct trace_case read = read_with(buffer_c_string(&defaults), buffer_c_string(&csv), cluster);
    assert_int_equal(read.jobs[0].first.request.gpu_models, 1);
    assert_int_not_equal(read.jobs[1].first.request.gpu_models & 1, 1);
    assert_int_equal(read.jobs[2].first.request.gpu_models, 1);
    assert_int_equal(read.jobs[3].first.request.gpu_models, 0); /* it asks for no GPU */
    trace_case_release(&read);
    buffer_release(&defaults);
    buffer_release(&csv);
    cluster_free(cluster);
}

/* A trace excludes checkpoints where attempts failed before. */
TEST(attempts_that_failed_get_no_checkpoints)
{
    struct trace_case read =
        read_with("[{'set': {'checkpoint_interval_s': 60, 'restart_s': 3}}]",
                  "job_id,submit_s,duration_s,gpus,failed_attempts_s\n1,0,60,1,5;6\n2,0,60,1,\n", NULL);
    assert_true(read.jobs[0].checkpoint.interval == 0 && read.jobs[0].checkpoint.restart == 3 * TIME_NS_PER_S);
    assert_true(read.jobs[1].checkpoint.interval == 60 * TIME_NS_PER_S);
    trace_case_release(&read);
}

/* A preview must show what comes: it once told the placement of members that no job has. */
static uint32_t previewed;

static void on_seen(void *self, const struct job *job, const struct job_truth *truth)
{
    (void)self;
    (void)truth;
    previewed += job->priority == 60;
}

TEST(a_preview_shows_them)
{
    struct error error;
    struct workload_spec spec = spec_with("[{'workload_class': 'x', 'set': {'priority': 60}}]", &error);
    const char *csv = "job_id,submit_s,duration_s,gpus,workload_class\n1,0,60,1,x\n2,0,60,1,y\n";
    struct trace_case read = trace_case_read(csv, &spec, NULL);
    struct job_source *source;
    struct workload_spec again = spec;
    assert_int_equal(read.jobs[0].priority, 60);
    again.trace = scratch_write("again.csv", csv, strlen(csv));
    error = job_source_open(&source, &again, NULL, 1);
    assert_false(error_is(error));
    error = job_source_preview(source, on_seen, NULL);
    assert_false(error_is(error));
    assert_int_equal(previewed, 1);
    job_source_close(source);
    trace_case_release(&read);
}

/* ---- what is refused ---- */

TEST(rows_that_set_nothing_are_refused)
{
    refused("[{'class': 'training'}]", "'set' is missing");
    refused("[{'set': {}}]", "must set a field");
    refused("[{'set': {'prio': 1}}]", "prio");
    refused("[{'set': {'priority': 'high'}}]", "priority");
    refused("[{'set': {'class': 'service'}}]", "class");
    refused("[{'set': {'limit_s': 0}}]", "'limit_s' must be above 0");
    refused("[{'gpus_min': 3, 'gpus_max': 2, 'set': {'priority': 1}}]", "below 'gpus_min'");
    refused("{}", "array");
}

TEST_GROUP(scratch_make, scratch_remove)
