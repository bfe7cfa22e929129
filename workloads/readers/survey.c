#include "workloads/readers/survey.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void add(struct survey_series *series, double value)
{
    MEM_GROW(series->values, series->capacity, series->count + 1);
    series->values[series->count++] = value;
    series->sum += value;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void write_series(struct buffer *out, const char *name, struct survey_series *series)
{
    static const int percents[] = {10, 50, 90, 99, 100};
    if (series->count == 0)
        return;
    qsort(series->values, series->count, sizeof *series->values, ascending);
    buffer_format(out, "%-12s mean %.6g", name, series->sum / (double)series->count);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        size_t rank = (series->count * (size_t)percents[i] + 99) / 100; /* nearest rank */
        buffer_format(out, "  %s %.6g", percents[i] == 100 ? "max" : (const char *[]){"p10", "p50", "p90", "p99"}[i],
                      series->values[rank - 1]);
    }
    buffer_char(out, '\n');
}

static void count_communication(struct survey *survey, const struct communication *communication)
{
    const char *name = communication_name(communication);
    uint32_t i = 0;
    while (i < survey->communication_count && strcmp(survey->communications[i].name, name) != 0)
        i++;
    assert(i < SURVEY_COMMUNICATIONS_MAX);
    survey->communications[i].name = name;
    survey->communications[i].jobs++;
    survey->communication_count += i == survey->communication_count;
}

static void count_job(struct survey *survey, const struct job *job, const struct job_truth *truth)
{
    int64_t milli = job_gpu_milli(job);
    add(&survey->duration_s, time_to_seconds(truth->duration));
    add(&survey->gpus, (double)milli / GPU_MILLI);
    if (survey->jobs > 0)
        add(&survey->gap_s, time_to_seconds(job->submit - survey->last_submit));
    survey->last_submit = job->submit;
    survey->gpu_s += time_to_seconds(truth->duration) * (double)milli / GPU_MILLI;
    if (milli > survey->gpu_milli_max)
        survey->gpu_milli_max = milli;
    survey->by_class[job->class]++;
    survey->by_outcome[truth->outcome]++;
    survey->jobs++;
    survey->no_gpu += milli == 0;
    survey->shares += milli > 0 && milli < GPU_MILLI;
    survey->gangs += job->first.count > 1 || job->group_count > 1;
    if (job->communication != NULL)
        count_communication(survey, job->communication);
}

static struct error read_all(struct survey *survey, struct job_source *source, job_source_seen_fn *seen, void *self)
{
    struct job job;
    struct job_truth truth;
    bool has;
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            return ERROR_OK;
        count_job(survey, &job, &truth);
        if (seen != NULL)
            seen(self, &job);
    }
}

struct error survey_read(struct survey *survey, struct job_source *source)
{
    return survey_read_with(survey, source, NULL, NULL);
}

struct error survey_read_with(struct survey *survey, struct job_source *source, job_source_seen_fn *seen, void *self)
{
    *survey = (struct survey){0};
    struct error error = read_all(survey, source, seen, self);
    if (error_is(error))
        survey_release(survey);
    return error;
}

void survey_release(struct survey *survey)
{
    mem_free(survey->duration_s.values);
    mem_free(survey->gpus.values);
    mem_free(survey->gap_s.values);
    *survey = (struct survey){0};
}

void survey_show(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(source);
    buffer_format(out, "format       %s\njobs         %llu (%llu without GPU, %llu ask a share, %llu are gangs)\n",
                  facts->format, (unsigned long long)survey->jobs, (unsigned long long)survey->no_gpu,
                  (unsigned long long)survey->shares, (unsigned long long)survey->gangs);
    buffer_format(out, "span         %.2f days\nqueues       %u\n", time_to_seconds(survey->last_submit) / 86400,
                  job_source_queues(source)->count - 1);
    buffer_format(out, "GPU time     %.1f GPU hours", facts->gpu_s / 3600);
    if (facts->load_recorded > 0)
        buffer_format(out, ", %.3f of %u GPUs over the span", facts->load_recorded, cluster->gpu_count);
    buffer_string(out, "\nclasses     ");
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        buffer_format(out, " %s %llu", job_class_names[c], (unsigned long long)survey->by_class[c]);
    buffer_string(out, "\noutcomes    ");
    for (int o = 0; o < OUTCOME_COUNT; o++)
        buffer_format(out, " %s %llu", job_outcome_names[o], (unsigned long long)survey->by_outcome[o]);
    if (survey->communication_count > 0)
        buffer_string(out, "\nexchange    ");
    for (uint32_t i = 0; i < survey->communication_count; i++)
        buffer_format(out, " %s %llu", survey->communications[i].name,
                      (unsigned long long)survey->communications[i].jobs);
    buffer_char(out, '\n');
    write_series(out, "duration s", &survey->duration_s);
    write_series(out, "GPUs", &survey->gpus);
    write_series(out, "gap s", &survey->gap_s);
    if (facts->bad_line_count > 0)
        buffer_format(out, "skipped      %llu unreadable lines\n", (unsigned long long)facts->bad_line_count);
    buffer_format(out, "digest       %s\n", facts->digest);
}
