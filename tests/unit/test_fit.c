/* workloads/fit/fit.h: what is fitted to jobs of a known model is that model. */
#include "tests/support/test.h"
#include <math.h>

#include "base/names.h"
#include "tests/support/json_text.h"
#include "workloads/fit/fit.h"
#include "workloads/load_model/load_draw.h"

static const char truth_text[] =
    "{'workload_model': 1, 'streams': [{'name': 'a', 'arrivals': {'jobs_per_day': 2000, 'gaps': {'distribution': "
    "'weibull', 'shape': 0.6}, 'gap_memory': {'strength': 0.3, 'jobs': 20}, 'cycle': {'period': '1d', 'factors': [1, "
    "3]}, "
    "'days': {'factors': [1, 2, 0, 3, 4]}}, 'memory': {'repeat': 0.4, 'strength': 0.5, 'jobs': 40}, 'users': {'count': "
    "30, "
    "'zipf_exponent': 1.2}, 'request': {'share': 0.7, 'factor': {'distribution': 'constant', 'mean': 4}}, "
    "'kinds': [{'weight': 60, 'gpus': 1, 'run_time': {'distribution': 'lognormal', 'median': 600, 'sigma': 1.5}}, "
    "{'weight': 30, 'gpus': 1, 'outcome': 'failed', 'run_time': {'distribution': 'exponential', 'mean': 100}}, "
    "{'weight': 9, 'gpus': 16, 'nodes': 2, 'run_time': {'distribution': 'lognormal', 'median': 9000, 'sigma': 1}}, "
    "{'weight': 1, 'gpu_fraction': 0.5, 'outcome': 'cancelled', 'run_time': {'distribution': 'constant', 'mean': "
    "7}}]}]}";

enum { DAYS = 40 };

static struct fit_jobs jobs_of(const char *text, uint64_t count)
{
    struct error error = ERROR_OK;
    struct arena arena = {0};
    struct fit_jobs jobs = {0};
    struct json_doc *doc = json_text_parse("model.json", text);
    const struct json_value root = json_doc_root(doc, &error);
    const struct load_model *model = load_model_read(&root, &arena);
    assert_false(error_is(error));
    const struct load_draw_plan plan = {
        .seed = 1, .job_count = count, .until = time_from_seconds(DAYS * 86400.0), .rate_factor = 1};
    struct load_draw *draw = load_draw_new(model, &plan);
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    while (load_draw_next(draw, &job, &truth, &origin)) {
        MEM_GROW(jobs.jobs, jobs.capacity, jobs.count + 1);
        jobs.jobs[jobs.count++] = (struct fit_job){
            .submit_s = time_to_seconds(job.submit),
            .run_time_s = time_to_seconds(truth.duration),
            .limit_s = job.limit != TIME_NEVER ? time_to_seconds(job.limit) : 0,
            .gpu_milli = (uint32_t)job_gpu_milli(&job),
            .nodes = job.first.count,
            .user = origin.user > 0 ? origin.user : NAMES_NONE,
            .outcome = truth.outcome,
        };
    }
    load_draw_free(draw);
    json_doc_free(doc);
    arena_release(&arena);
    return jobs;
}

static void assert_about(const char *what, double is, double wanted, double most)
{
    if (!(fabs(is - wanted) <= most))
        fail_msg("%s is %g, not %g +- %g", what, is, wanted, most);
}

TEST(test_a_known_model_comes_back)
{
    struct arena arena = {0};
    struct fit_jobs jobs = jobs_of(truth_text, UINT64_MAX);
    const struct fit_plan plan = {.run = TIME_NEVER};
    const struct load_stream *is = &fit_model(&jobs, &plan, &arena)->streams[0];
    const struct load_arrivals_plan *arrivals = &is->arrivals;
    assert_about("the rate", arrivals->jobs_per_day, 2000, 1);
    assert_int_equal(arrivals->day_count, DAYS);
    for (uint32_t d = 0; d < DAYS; d++)
        assert_about("a day", arrivals->days[d], (double[]){0.5, 1, 0, 1.5, 2}[d % 5], 0.001);
    double morning = 0; /* single hours vary by a tenth, as gaps have memory */
    for (uint32_t h = 0; h < 12; h++)
        morning += arrivals->cycle[h] / 12;
    assert_about("the first half of the day", morning, 0.5, 0.03);
    assert_about("the memory of gaps", arrivals->memory.strength, 0.3, 0.06);
    assert_about("its length", arrivals->memory.jobs, 20, 4);
    assert_about("the repeats", is->memory.repeat, 0.4, 0.02);
    assert_about("the memory", is->memory.strength, 0.5, 0.05);
    assert_about("its length", is->memory.jobs, 40, 5);
    assert_int_equal(is->users.count, 30);
    assert_about("Zipf's exponent", is->users.exponent, 1.2, 0.03);
    assert_about("the share with a limit", is->request.share, 0.7, 0.01);
    assert_about("limits to run times", distribution_mean(&is->request.factor, 0), 4, 0.1);
    fit_release(&jobs);
    arena_release(&arena);
}

/* Shares by kind are those of the jobs, without rounding, and means and medians are theirs. */
TEST(test_kinds_are_those_of_the_jobs)
{
    struct arena arena = {0};
    struct fit_jobs jobs = jobs_of(truth_text, UINT64_MAX);
    const struct fit_plan plan = {.run = TIME_NEVER};
    const struct load_model *model = fit_model(&jobs, &plan, &arena);
    const struct load_stream *is = &model->streams[0];
    double weights = 0;
    assert_int_equal(is->kind_count, 4);
    for (uint32_t k = 0; k < is->kind_count; k++) {
        double sum = 0, count = 0;
        for (size_t i = 0; i < jobs.count; i++)
            if (jobs.jobs[i].kind == k) {
                sum += jobs.jobs[i].run_time_s;
                count++;
                assert_int_equal(jobs.jobs[i].outcome, is->kinds[k].outcome);
                assert_about("GPUs", load_kind_gpus(&is->kinds[k]), jobs.jobs[i].gpu_milli / 1000.0, 1e-9);
            }
        assert_about("the weight of a kind", is->kinds[k].weight, count, 0);
        assert_about("its mean", distribution_mean(&is->kinds[k].run_time, 1), sum / count, 0.003 * sum / count);
        weights += is->kinds[k].weight;
    }
    assert_about("all weights", weights, (double)jobs.count, 0);
    fit_release(&jobs);
    arena_release(&arena);
}

TEST(test_without_days_the_week_is_fitted)
{
    struct arena arena = {0};
    struct fit_jobs jobs = jobs_of(truth_text, UINT64_MAX);
    const struct fit_plan plan = {.run = TIME_NEVER, .has_no_days = true};
    const struct load_arrivals_plan *is = &fit_model(&jobs, &plan, &arena)->streams[0].arrivals;
    assert_int_equal(is->day_count, 0);
    assert_int_equal(is->cycle_count, 168);
    assert_about("the rate", is->jobs_per_day, 2000, 60);
    assert_about("the mean gap in even time", distribution_mean(&is->gaps, 0), 86400 / is->jobs_per_day, 1);
    fit_release(&jobs);
    arena_release(&arena);
}

TEST(test_too_little_is_told)
{
    struct arena arena = {0};
    struct fit_job two[2] = {{.run_time_s = 5, .gpu_milli = 1000, .nodes = 1, .user = NAMES_NONE},
                             {.run_time_s = 9, .gpu_milli = 1000, .nodes = 1, .user = NAMES_NONE}};
    struct fit_jobs jobs = {.jobs = two, .count = 1};
    const struct fit_plan plan = {.run = TIME_NEVER};
    assert_null(fit_model(&jobs, &plan, &arena));
    jobs.count = 2;
    assert_null(fit_model(&jobs, &plan, &arena)); /* at one time */
    two[1].submit_s = 100;
    const struct load_model *model = fit_model(&jobs, &plan, &arena);
    assert_non_null(model);
    assert_about("the mean run time of two", load_model_moments(model).run_time_s, 7, 0.01);
    arena_release(&arena);
}
