#include "workloads/readers/fill.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "base/random.h"

/* Milli-GPUs to reach.  The rounding error of a decimal fraction such as 1.3 must not add a job. */
static double target_milli(const struct cluster *cluster, double load)
{
    static const double rounding_milli = 1e-3;
    return ceil(load * cluster->gpu_count * GPU_MILLI - rounding_milli);
}

/* The most jobs that fit into the range of job ids and of times. */
static uint64_t jobs_max(time_ns interval)
{
    uint64_t moments = (uint64_t)(TIME_NEVER - 1) / (uint64_t)interval;
    return moments < JOB_NONE ? moments : JOB_NONE;
}

static void order_add(struct fill *fill, uint32_t index)
{
    MEM_GROW(fill->order, fill->capacity, fill->count + 1);
    fill->order[fill->count++] = index;
}

/* The shuffle of Fisher and Yates, after Durstenfeld (CACM 7, 1964, algorithm 235). */
static void order_shuffle(struct fill *fill, uint64_t seed)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "fill_order", 0);
    for (uint32_t i = 0; i < fill->held->count; i++)
        order_add(fill, i);
    for (size_t left = fill->count; left > 1; left--) {
        uint32_t other = random_below(&stream, (uint32_t)left);
        uint32_t taken = fill->order[other];
        fill->order[other] = fill->order[left - 1];
        fill->order[left - 1] = taken;
    }
}

static int64_t asked_milli(const struct fill *fill, uint32_t index, const struct cluster *cluster)
{
    return job_asked_milli(&fill->held->jobs[index].job, cluster);
}

/* Cut the shuffled trace where it reaches the target, or draw more jobs until it does. */
static struct error order_end(struct fill *fill, const struct cluster *cluster, double target, uint64_t seed)
{
    struct random_stream stream;
    uint64_t count = 0, most = jobs_max(fill->interval);
    int64_t asked = 0;
    random_stream_init(&stream, seed, "fill_draw", 0);
    while ((double)asked < target) {
        if (count == most)
            return error_new(ERROR_DATA,
                             "filling the cluster would take more than %llu jobs, the most that "
                             "a run can have at this interval",
                             (unsigned long long)most);
        if (count == fill->count)
            order_add(fill, random_below(&stream, (uint32_t)fill->held->count));
        asked += asked_milli(fill, fill->order[count++], cluster);
    }
    fill->count = count;
    return ERROR_OK;
}

struct error fill_begin(struct fill *fill, const struct held *held, const struct cluster *cluster,
                        const struct fill_plan *plan, const char *trace, uint64_t seed)
{
    assert(plan->load > 0 && plan->interval > 0 && held->count <= UINT32_MAX);
    *fill = (struct fill){.held = held, .interval = plan->interval};
    if (cluster == NULL || cluster->gpu_count == 0)
        return error_new(ERROR_DATA, "%s has nothing to fill: the cluster has no GPUs", trace);
    int64_t trace_milli = 0;
    for (uint32_t i = 0; i < held->count; i++)
        trace_milli += asked_milli(fill, i, cluster);
    if (trace_milli == 0)
        return error_new(ERROR_DATA, "%s cannot fill a cluster: none of its jobs asks for a GPU", trace);
    order_shuffle(fill, seed);
    return order_end(fill, cluster, target_milli(cluster, plan->load), seed);
}

/* The next job asks for the same as the trace's job that is drawn for its place. */
bool fill_next(struct fill *fill, struct job *job, struct job_truth *truth)
{
    if (fill->next == fill->count)
        return false;
    const struct held_job *entry = &fill->held->jobs[fill->order[fill->next]];
    *job = entry->job;
    *truth = entry->truth;
    job->submit = (time_ns)fill->next * fill->interval;
    job->limit = job->estimate = job->deadline = TIME_NEVER;
    job->after = NULL;
    job->after_count = 0;
    job->array = job->array_max = 0;
    truth->duration = (time_ns)(fill->count - fill->next) * fill->interval;
    truth->recorded_wait = TIME_NEVER;
    truth->outcome = OUTCOME_COMPLETED;
    truth->failures = NULL;
    fill->next++;
    return true;
}

void fill_rewind(struct fill *fill)
{
    fill->next = 0;
}

void fill_release(struct fill *fill)
{
    mem_free(fill->order);
    *fill = (struct fill){0};
}
