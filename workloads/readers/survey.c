#include "workloads/readers/survey.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { SECONDS_PER_HOUR = 3600 };

/* Memory that is not used yet is not touched, so it is not resident. */
static void grow(struct survey_series *series)
{
    enum { CAPACITY_MIN = 1024 };
    series->capacity = series->capacity != 0 ? 2 * series->capacity : CAPACITY_MIN;
    series->values = mem_resize(series->values, series->capacity, sizeof *series->values);
}

static void add(struct survey_series *series, int64_t value)
{
    if (series->count == series->capacity)
        grow(series);
    series->values[series->count++] = value;
    series->sum += value;
}

double survey_total(const struct survey_series *series, int64_t scale)
{
    return (double)(series->sum / scale) + (double)(series->sum % scale) / (double)scale;
}

/* Mean of a series that is not empty, in units of which each has `scale`. */
static double survey_mean(const struct survey_series *series, int64_t scale)
{
    return survey_total(series, scale) / (double)series->count;
}

static const struct {
    const char *name;
    int percent;
} quantiles[] = {{"p10", 10}, {"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};

enum { QUANTILE_COUNT = sizeof quantiles / sizeof quantiles[0] };

/* Nearest rank, of a series that is not empty. */
static size_t rank_of(const struct survey_series *series, int percent)
{
    return (series->count * (size_t)percent + 99) / 100 - 1;
}

/* Move smaller values than the pivot to the front, larger ones to the end: the equal ones are from *equal to *larger
 * then. */
static void partition(int64_t *values, size_t begin, size_t end, int64_t pivot, size_t *equal, size_t *larger)
{
    *equal = begin;
    *larger = end;
    for (size_t at = begin; at < *larger;) {
        const int64_t value = values[at];
        if (value < pivot) {
            values[at++] = values[*equal];
            values[(*equal)++] = value;
        } else if (value > pivot) {
            values[at] = values[--*larger];
            values[*larger] = value;
        } else {
            at++;
        }
    }
}

/* Bring the values of the ranks (ascending, each from begin to end) to their places, as sorting would: quickselect
 * (Hoare, CACM 4, 1961, algorithm 65) with pivots drawn at random, for several ranks.  O(n). */
static void ranks_settle(int64_t *values, size_t begin, size_t end, const size_t *ranks, size_t count,
                         struct random_stream *stream)
{
    while (count > 0 && end - begin > 1) {
        size_t equal, larger, left = 0, right;
        const int64_t pivot = values[begin + random_below(stream, (uint32_t)(end - begin))];
        partition(values, begin, end, pivot, &equal, &larger);
        while (left < count && ranks[left] < equal)
            left++;
        for (right = left; right < count && ranks[right] < larger;)
            right++;
        ranks_settle(values, begin, equal, ranks, left, stream);
        ranks += right;
        count -= right;
        begin = larger;
    }
}

/* The quantiles of a series that is not empty, in units of which each has `scale`. */
static void quantiles_of(struct survey_series *series, int64_t scale, double out[QUANTILE_COUNT])
{
    struct random_stream stream;
    size_t ranks[QUANTILE_COUNT];
    random_stream_init(&stream, 0, "survey_pivots", 0);
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        ranks[i] = rank_of(series, quantiles[i].percent);
    ranks_settle(series->values, 0, series->count, ranks, QUANTILE_COUNT, &stream);
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        out[i] = (double)series->values[ranks[i]] / (double)scale;
}

int64_t survey_quantile(struct survey_series *series, int percent)
{
    struct random_stream stream;
    const size_t rank = rank_of(series, percent);
    random_stream_init(&stream, 0, "survey_pivots", 0);
    ranks_settle(series->values, 0, series->count, &rank, 1, &stream);
    return series->values[rank];
}

static void write_series(struct buffer *out, const char *name, struct survey_series *series, int64_t scale)
{
    double found[QUANTILE_COUNT];
    if (series->count == 0)
        return;
    quantiles_of(series, scale, found);
    buffer_format(out, "%-12s mean %.6g", name, survey_mean(series, scale));
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        buffer_format(out, "  %s %.6g", quantiles[i].name, found[i]);
    buffer_char(out, '\n');
}

static void put_series(struct buffer *out, const char *name, struct survey_series *series, int64_t scale)
{
    double found[QUANTILE_COUNT];
    if (series->count == 0) {
        buffer_members(out, ",\n %s: null", name);
        return;
    }
    quantiles_of(series, scale, found);
    buffer_members(out, ",\n %s: {'count': %llu, 'mean': %g", name, (unsigned long long)series->count,
                   survey_mean(series, scale));
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        buffer_members(out, ", %s: %g", quantiles[i].name, found[i]);
    buffer_char(out, '}');
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
    const int64_t milli = job_gpu_milli(job);
    add(&survey->duration_ns, truth->duration);
    add(&survey->gpus_milli, milli);
    add(&survey->gap_ns, job->submit);
    if (truth->recorded_wait != TIME_NEVER)
        add(&survey->wait_ns, truth->recorded_wait);
    if (survey->jobs == 0 || job->submit > survey->last_submit)
        survey->last_submit = job->submit;
    else
        survey->has_disorder |= job->submit < survey->last_submit;
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
    offered_add(&survey->offered, job, truth);
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Turn the submissions into the times between them. */
static void gaps_make(struct survey *survey)
{
    struct survey_series *gaps = &survey->gap_ns;
    if (survey->has_disorder)
        qsort(gaps->values, gaps->count, sizeof *gaps->values, ascending);
    gaps->sum = 0;
    for (size_t i = 0; i + 1 < gaps->count; i++) {
        gaps->values[i] = gaps->values[i + 1] - gaps->values[i];
        gaps->sum += gaps->values[i];
    }
    gaps->count -= gaps->count > 0;
}

static struct error read_all(struct survey *survey, struct job_source *source)
{
    struct job job;
    struct job_truth truth;
    bool has;
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            return ERROR_OK;
        count_job(survey, &job, &truth);
        if (survey->on_job != NULL)
            survey->on_job(survey->self, &job, &truth);
    }
}

struct error survey_read(struct survey *survey, struct job_source *source)
{
    struct error error = read_all(survey, source);
    if (error_is(error))
        survey_release(survey);
    else
        gaps_make(survey);
    return error;
}

static void on_scanned(void *self, const struct job *job, const struct job_truth *truth)
{
    count_job(self, job, truth);
}

struct scan_listener survey_listener(struct survey *survey)
{
    return (struct scan_listener){survey, on_scanned};
}

void survey_complete(struct survey *survey, const struct workload_facts *facts)
{
    gaps_make(survey);
    survey->last_submit -= facts->origin;
    offered_move(&survey->offered, -facts->origin);
}

void survey_release(struct survey *survey)
{
    mem_free(survey->duration_ns.values);
    mem_free(survey->gpus_milli.values);
    mem_free(survey->gap_ns.values);
    mem_free(survey->wait_ns.values);
    offered_release(&survey->offered);
    *survey = (struct survey){0};
}

/* ---- What is told ---- */

static void write_offered(const struct survey *survey, struct buffer *out)
{
    const struct offered_load load = offered_end(&survey->offered, NULL);
    buffer_format(out, "GPU time     %.1f GPU hours\n", load.all.asked_gpu_s / SECONDS_PER_HOUR);
    if (load.kind == OFFERED_BATCH)
        buffer_format(out,
                      "batch        the jobs come in %.6g s and run %.6g s on average: no load; the makespan on %llu "
                      "GPUs is at least %.6g s\n",
                      load.last_s - load.first_s, load.run_mean_s, (unsigned long long)load.all.gpus, load.bound_s);
    if (isfinite(load.ratio))
        buffer_format(out, "offered load %.3f of %llu GPUs over the span\n", load.ratio,
                      (unsigned long long)load.all.gpus);
    for (uint32_t p = 0; p < load.part_count && isfinite(load.ratio); p++) {
        const struct offered_part *part = &load.parts[p];
        buffer_format(out, "%s%.3f of the %llu GPUs %s", p == 0 ? "by model     " : ", ",
                      offered_part_ratio(&load, part), (unsigned long long)part->gpus,
                      part->model != JOB_MODEL_ANY ? survey->offered.cluster->models[part->model].name
                                                   : "in all by jobs that several models would do for");
    }
    buffer_string(out, load.part_count > 0 && isfinite(load.ratio) ? "\n" : "");
}

static void show_side(const struct side_file *file, struct buffer *out)
{
    buffer_format(out, "table        %.*s: %s, %llu rows", (int)file->name.length, file->name.at, file->digest,
                  (unsigned long long)file->row_count);
    if (file->left_out_count > 0)
        buffer_format(out, " (%llu not used)", (unsigned long long)file->left_out_count);
    buffer_char(out, '\n');
}

void survey_show(struct survey *survey, struct job_source *source, struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(source);
    buffer_format(out, "format       %s\njobs         %llu (%llu without GPU, %llu ask a share, %llu are gangs)\n",
                  facts->format, (unsigned long long)survey->jobs, (unsigned long long)survey->no_gpu,
                  (unsigned long long)survey->shares, (unsigned long long)survey->gangs);
    buffer_format(out, "span         %.2f days\nqueues       %u\nusers        %u\n",
                  time_to_seconds(survey->last_submit) / 86400, job_source_queues(source)->count - 1,
                  names_count(job_source_users(source)));
    write_offered(survey, out);
    if (facts->requests.count > 0)
        buffer_format(out, "requests     %llu, %llu tokens of prompts, %llu tokens of output\n",
                      (unsigned long long)facts->requests.count, (unsigned long long)facts->requests.prompt_tokens,
                      (unsigned long long)facts->requests.output_tokens);
    buffer_string(out, "classes     ");
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
    write_series(out, "duration s", &survey->duration_ns, TIME_NS_PER_S);
    write_series(out, "GPUs", &survey->gpus_milli, GPU_MILLI);
    write_series(out, "gap s", &survey->gap_ns, TIME_NS_PER_S);
    write_series(out, "wait s", &survey->wait_ns, TIME_NS_PER_S);
    reason_tally_show(&facts->skipped, "left out", out);
    if (facts->bad_line_count > 0)
        buffer_format(out, "unreadable   %llu lines\n", (unsigned long long)facts->bad_line_count);
    if (facts->guessed_hours > 0)
        buffer_format(out,
                      "hours        %llu rows have a time in an hour that comes twice, and nothing says which is "
                      "meant: the first was taken\n",
                      (unsigned long long)facts->guessed_hours);
    buffer_format(out, "digest       %s\n", facts->digest);
    for (uint32_t i = 0; facts->sides != NULL && i < facts->sides->count; i++)
        show_side(&facts->sides->files[i], out);
}

static void sides_json(const struct side_files *sides, struct buffer *out)
{
    const uint32_t count = sides != NULL ? sides->count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct side_file *file = &sides->files[i];
        buffer_members(out, i == 0 ? ",\n 'tables': [" : ",\n  ");
        buffer_members(out, "{'name': ");
        buffer_json(out, file->name);
        buffer_members(out, ", 'rows': %llu, 'left_out': %llu, 'digest': %s}", (unsigned long long)file->row_count,
                       (unsigned long long)file->left_out_count, file->digest);
    }
    if (count > 0)
        buffer_char(out, ']');
}

static void put_counts(struct buffer *out, const char *name, const char *const *names, const uint64_t *counts,
                       int count)
{
    buffer_members(out, ",\n %s: {", name);
    for (int i = 0; i < count; i++)
        buffer_members(out, ", %s: %llu", names[i], (unsigned long long)counts[i]);
    buffer_char(out, '}');
}

void survey_json(struct survey *survey, struct job_source *source, struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(source);
    const struct offered_load load = offered_end(&survey->offered, NULL);
    const struct offered_names names = offered_names_of(survey->offered.cluster);
    buffer_members(out,
                   "{'format': %s,\n 'digest': %s,\n 'jobs': %llu,\n 'jobs_without_gpu': %llu, 'jobs_with_shares': "
                   "%llu, 'gangs': %llu,\n 'queues': %u, 'users': %u,\n 'first_submit_s': %.9lld, 'span_s': %.9lld,"
                   "\n 'gpu_h': %g,\n 'offered_load': ",
                   facts->format, facts->digest, (unsigned long long)survey->jobs, (unsigned long long)survey->no_gpu,
                   (unsigned long long)survey->shares, (unsigned long long)survey->gangs,
                   job_source_queues(source)->count - 1, names_count(job_source_users(source)),
                   (long long)facts->first_submit, (long long)survey->last_submit,
                   load.all.asked_gpu_s / SECONDS_PER_HOUR);
    offered_json(&load, names.of, out);
    if (facts->requests.count > 0)
        buffer_members(out, ",\n 'requests': {'count': %llu, 'prompt_tokens': %llu, 'output_tokens': %llu}",
                       (unsigned long long)facts->requests.count, (unsigned long long)facts->requests.prompt_tokens,
                       (unsigned long long)facts->requests.output_tokens);
    put_counts(out, "classes", job_class_names, survey->by_class, JOB_CLASS_COUNT);
    put_counts(out, "outcomes", job_outcome_names, survey->by_outcome, OUTCOME_COUNT);
    put_series(out, "duration_s", &survey->duration_ns, TIME_NS_PER_S);
    put_series(out, "gpus", &survey->gpus_milli, GPU_MILLI);
    put_series(out, "gap_s", &survey->gap_ns, TIME_NS_PER_S);
    put_series(out, "recorded_wait_s", &survey->wait_ns, TIME_NS_PER_S);
    buffer_members(out, ",\n 'left_out': ");
    reason_tally_json(&facts->skipped, out);
    sides_json(facts->sides, out);
    buffer_members(out, ",\n 'guessed_hours': %llu, 'unreadable_lines': %llu}\n",
                   (unsigned long long)facts->guessed_hours, (unsigned long long)facts->bad_line_count);
}
