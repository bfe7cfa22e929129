#include "reports/long_run.h"

#include "base/mem.h"
#include "workloads/job.h"

/* ---- rows ---- */

static struct error on_job(void *self, const struct job_row *row)
{
    struct job_waits *waits = &((struct long_run *)self)->waits;
    MEM_GROW(waits->jobs, waits->capacity, (size_t)row->id + 1);
    if (waits->count < (size_t)row->id + 1)
        waits->count = (size_t)row->id + 1;
    struct job_wait *job = &waits->jobs[row->id];
    *job = (struct job_wait){.submit = row->submit, .wait = row->wait, .class = row->class};
    if (row->is_counted)
        job->state = row->state == END_REJECTED ? JOB_WAIT_REJECTED
                     : row->start == TIME_NEVER ? JOB_WAIT_PENDING
                                                : JOB_WAIT_STARTED;
    return ERROR_OK;
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct long_run *run = self;
    MEM_GROW(run->samples, run->sample_capacity, run->sample_count + 1);
    run->samples[run->sample_count++] =
        (struct long_run_sample){row->time, row->allocated_gpu_s, (double)row->spent[SPENT_ABSENT] / 1e9};
    return ERROR_OK;
}

static struct error on_finished(void *self, const struct run_facts *facts)
{
    struct long_run *run = self;
    run->warmup = facts->warmup;
    run->until = facts->measured_until > 0 ? facts->measured_until : facts->end;
    run->gpu_count = facts->gpu_count;
    return ERROR_OK;
}

struct record_sink long_run_sink(struct long_run *run)
{
    return (struct record_sink){.self = run, .on_job = on_job, .on_sample = on_sample, .on_finished = on_finished};
}

void job_waits_release(struct job_waits *waits)
{
    mem_free(waits->jobs);
    *waits = (struct job_waits){0};
}

void long_run_release(struct long_run *run)
{
    job_waits_release(&run->waits);
    mem_free(run->samples);
    *run = (struct long_run){0};
}

/* ---- series ---- */

struct series {
    double *values;
    time_ns *times; /* by value: when it comes */
    double sum;
};

static struct series series_of(size_t count)
{
    return (struct series){.values = mem_zalloc(count + 1, sizeof(double)),
                           .times = mem_zalloc(count + 1, sizeof(time_ns))};
}

static void add(struct series *series, struct steady *steady, double value, time_ns time)
{
    series->values[steady->count] = value;
    series->times[steady->count++] = time;
    series->sum += value;
}

/* Judge the values; the series is gone afterwards. */
static void finish(struct series *series, struct steady *steady, double level)
{
    steady->mean = series_steady_mean(series->values, steady->count, level);
    steady->mean_all = steady->count > 0 ? series->sum / (double)steady->count : 0;
    if (steady->mean.warmup_count < steady->count)
        steady->from = series->times[steady->mean.warmup_count];
    mem_free(series->values);
    mem_free(series->times);
}

/* Ids are given in the order of submission. */
struct steady long_run_waits(const struct job_waits *waits, int class, double level)
{
    struct steady steady = {0};
    struct series series = series_of(waits->count);
    for (size_t i = 0; i < waits->count; i++) {
        const struct job_wait *job = &waits->jobs[i];
        if (job->state == JOB_WAIT_NONE || (class != LONG_RUN_ALL && job->class != class))
            continue;
        if (job->state == JOB_WAIT_REJECTED) {
            steady.left_out++;
            continue;
        }
        steady.pending += job->state == JOB_WAIT_PENDING;
        add(&series, &steady, time_to_seconds(job->wait), job->submit);
    }
    finish(&series, &steady, level);
    return steady;
}

static bool has_wait(const struct job_wait *job)
{
    return job->state == JOB_WAIT_STARTED || job->state == JOB_WAIT_PENDING;
}

struct steady long_run_differences(const struct job_waits *a, const struct job_waits *b, int class, double level)
{
    static const struct job_wait none = {.state = JOB_WAIT_NONE};
    struct steady steady = {0};
    const size_t count = a->count > b->count ? a->count : b->count;
    struct series series = series_of(count);
    for (size_t i = 0; i < count; i++) {
        const struct job_wait *first = i < a->count ? &a->jobs[i] : &none, *second = i < b->count ? &b->jobs[i] : &none;
        const struct job_wait *known = first->state != JOB_WAIT_NONE ? first : second;
        if (known->state == JOB_WAIT_NONE || (class != LONG_RUN_ALL && known->class != class))
            continue;
        if (!has_wait(first) || !has_wait(second)) {
            steady.left_out++;
            continue;
        }
        steady.pending += first->state == JOB_WAIT_PENDING || second->state == JOB_WAIT_PENDING;
        steady.unequal += first->wait != second->wait;
        add(&series, &steady, time_to_seconds(second->wait - first->wait), first->submit);
    }
    finish(&series, &steady, level);
    return steady;
}

/* Of the GPUs that were in service between two samples. */
static double allocation(const struct long_run *run, const struct long_run_sample *from,
                         const struct long_run_sample *to)
{
    const double all_s = time_to_seconds(to->time - from->time) * (double)run->gpu_count;
    const double in_service_s = all_s - (to->absent_gpu_s - from->absent_gpu_s);
    return in_service_s > 0 ? (to->allocated_gpu_s - from->allocated_gpu_s) / in_service_s : 0;
}

struct steady long_run_allocation(const struct long_run *run, double level)
{
    struct steady steady = {0};
    for (size_t i = 1; i < run->sample_count; i++) {
        const time_ns gap = run->samples[i].time - run->samples[i - 1].time;
        steady.step = gap > steady.step ? gap : steady.step;
    }
    struct series series = series_of(run->sample_count);
    const struct long_run_sample *before = NULL; /* the sample at the begin of the step */
    for (size_t i = 0; i < run->sample_count && steady.step > 0 && run->gpu_count > 0; i++) {
        const struct long_run_sample *sample = &run->samples[i];
        if (sample->time % steady.step != 0 || sample->time < run->warmup || sample->time > run->until)
            continue;
        if (before != NULL && sample->time - before->time == steady.step)
            add(&series, &steady, allocation(run, before, sample), before->time);
        before = sample;
    }
    finish(&series, &steady, level);
    return steady;
}
