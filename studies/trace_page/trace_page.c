/* studies/trace_page/trace_page.c -- reading a trace for its page. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "studies/trace_page/trace_page_inside.h"

#define HOUR_NS (3600 * TIME_NS_PER_S)

enum { HOURS_MAX = 1 << 20, MONDAY_HOURS = 4 * 24 /* from 1970-01-01, a Thursday, to the first Monday */ };

struct trace_page *trace_page_new(void)
{
    return mem_zalloc(1, sizeof(struct trace_page));
}

double spread_edge(size_t edge)
{
    return exp2((double)edge / SPREAD_PER_OCTAVE);
}

static void spread_add(struct spread *spread, double seconds, double gpu_h)
{
    const double place = seconds > 1 ? ceil(log2(seconds) * SPREAD_PER_OCTAVE) : 0;
    size_t edge = place < SPREAD_EDGES - 1 ? (size_t)place : SPREAD_EDGES - 1;
    if (edge > 0 && seconds <= spread_edge(edge - 1)) /* log2 rounds */
        edge--;
    else if (edge < SPREAD_EDGES - 1 && seconds > spread_edge(edge))
        edge++;
    spread->jobs[edge]++;
    spread->gpu_h[edge] += gpu_h;
    spread->count++;
    spread->gpu_h_sum += gpu_h;
}

static void share_add(struct share *share, double gpu_h)
{
    share->jobs++;
    share->gpu_h += gpu_h;
}

static void shares_add(struct shares *shares, size_t id, double gpu_h)
{
    MEM_GROW(shares->list, shares->capacity, id + 1);
    while (shares->count <= id)
        shares->list[shares->count++] = (struct share){0};
    share_add(&shares->list[id], gpu_h);
}

/* 0: no GPU; 1: a part of one; 2: 1; 3: 2; 4: 3 to 4; ... */
static size_t size_of(int64_t gpu_milli)
{
    size_t size = 2;
    if (gpu_milli < GPU_MILLI)
        return gpu_milli > 0;
    for (int64_t most = GPU_MILLI; most < gpu_milli && size < SIZES - 1; most *= 2)
        size++;
    return size;
}

static void add_submission(struct trace_page *page, time_ns submit, time_ns begin)
{
    const size_t hour = (size_t)(submit / HOUR_NS);
    const int64_t week_hour = ((begin + submit) / HOUR_NS - MONDAY_HOURS) % WEEK_HOURS;
    page->last_submit = submit;
    page->week_jobs[week_hour < 0 ? week_hour + WEEK_HOURS : week_hour]++;
    if (hour >= HOURS_MAX)
        return;
    MEM_GROW(page->hour_jobs, page->hour_capacity, hour + 1);
    while (page->hour_count <= hour)
        page->hour_jobs[page->hour_count++] = 0;
    page->hour_jobs[hour]++;
}

static void add_job(struct trace_page *page, const struct job *job, const struct job_truth *truth, time_ns begin,
                    const struct cluster *cluster)
{
    const int64_t gpu_milli = job_asked_milli(job, cluster);
    const double duration_s = time_to_seconds(truth->duration);
    const double gpu_h = duration_s * (double)gpu_milli / (GPU_MILLI * 3600.0);
    add_submission(page, job->submit, begin);
    hour_load_add(&page->demand, job->submit, truth->duration, gpu_milli);
    spread_add(&page->run_times, duration_s, gpu_h);
    if (truth->recorded_wait != TIME_NEVER) {
        spread_add(&page->waits, time_to_seconds(truth->recorded_wait), gpu_h);
        hour_load_add(&page->recorded, job->submit + truth->recorded_wait, truth->duration, gpu_milli);
    }
    share_add(&page->all, gpu_h);
    share_add(&page->sizes[size_of(gpu_milli)], gpu_h);
    share_add(&page->outcomes[truth->outcome], gpu_h);
    shares_add(&page->queues, job->queue, gpu_h);
    if (job->user != NAMES_NONE)
        shares_add(&page->users, job->user, gpu_h);
}

struct error trace_page_read(struct trace_page *page, struct job_source *source, const struct cluster *cluster)
{
    struct job job;
    struct job_truth truth;
    bool has;
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            return job_source_check(source);
        add_job(page, &job, &truth, job_source_facts(source)->first_submit, cluster);
    }
}

void trace_page_free(struct trace_page *page)
{
    if (page == NULL)
        return;
    hour_load_release(&page->demand);
    hour_load_release(&page->recorded);
    mem_free(page->hour_jobs);
    mem_free(page->queues.list);
    mem_free(page->users.list);
    mem_free(page);
}
