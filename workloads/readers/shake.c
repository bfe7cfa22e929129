#include "workloads/readers/shake.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "workloads/readers/job_pack.h"
#include "workloads/readers/rows.h"

/* A job that waits until no job that is still to come can be before it. */
struct waiting {
    time_ns submit;
    uint64_t order; /* before it was shaken */
    char *bytes;    /* packed; owned */
};

struct shake {
    struct shake_plan plan;
    struct shake_from from;
    uint64_t seed;
    struct waiting *heap; /* the first submission on top */
    size_t count, capacity;
    uint64_t taken;  /* jobs so far */
    time_ns reached; /* submission of the last job that was taken, before it was shaken */
    bool is_ended;
    uint32_t *rank; /* by order: the place in the new order; NULL: no job depends on another */
    size_t rank_capacity;
    uint32_t given;
    uint64_t order; /* of the job given last */
    struct buffer bytes;
    struct arena arena; /* what the job given last points to */
};

struct shake *shake_new(const struct shake_plan *plan, const struct shake_from *from, uint64_t seed)
{
    struct shake *shake = mem_zalloc(1, sizeof *shake);
    *shake = (struct shake){.plan = *plan, .from = *from, .seed = seed};
    return shake;
}

void shake_free(struct shake *shake)
{
    if (shake == NULL)
        return;
    for (size_t i = 0; i < shake->count; i++)
        mem_free(shake->heap[i].bytes);
    mem_free(shake->heap);
    mem_free(shake->rank);
    buffer_release(&shake->bytes);
    arena_release(&shake->arena);
    mem_free(shake);
}

/* ---- What happens to a job ---- */

static time_ns room(const struct shake *shake, const struct shake_job *of)
{
    time_ns room = shake->plan.arrivals;
    if (of->first < room)
        room = of->first;
    if (shake->from.last != TIME_NEVER && shake->from.last - of->job.submit < room)
        room = shake->from.last - of->job.submit;
    return room;
}

static void move(const struct shake *shake, struct shake_job *of)
{
    struct random_stream stream;
    random_stream_init(&stream, shake->seed, "shake_arrival", of->group);
    const double part = 2 * random_uniform(&stream) - 1;
    const time_ns by = time_from_seconds(part * time_to_seconds(room(shake, of)));
    if (of->job.deadline != TIME_NEVER)
        of->job.deadline = time_after(of->job.deadline - of->job.submit, of->job.submit + by);
    of->job.submit += by;
    if (shake->from.last != TIME_NEVER)
        of->truth.duration -= by;
}

static void stretch(const struct shake *shake, struct shake_job *of)
{
    const double sigma = shake->plan.run_time_sigma;
    const bool is_over = of->truth.duration > of->job.limit;
    struct random_stream stream;
    random_stream_init(&stream, shake->seed, "shake_run_time", of->place);
    rows_stretch_all(&of->job, &of->truth, exp(gsl_ran_gaussian(random_gsl(&stream), sigma) - sigma * sigma / 2),
                     shake->from.kept);
    if (is_over && of->truth.duration <= of->job.limit) /* by rounding */
        of->truth.duration = of->job.limit + 1;
}

/* ---- The jobs that wait ---- */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
    return a->submit != b->submit ? a->submit < b->submit : a->order < b->order;
}

static void heap_add(struct shake *shake, struct waiting item)
{
    MEM_GROW(shake->heap, shake->capacity, shake->count + 1);
    size_t at = shake->count++;
    for (; at > 0 && is_before(&item, &shake->heap[(at - 1) / 2]); at = (at - 1) / 2)
        shake->heap[at] = shake->heap[(at - 1) / 2];
    shake->heap[at] = item;
}

static struct waiting heap_take(struct shake *shake)
{
    const struct waiting first = shake->heap[0], last = shake->heap[--shake->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < shake->count) {
        child += child + 1 < shake->count && is_before(&shake->heap[child + 1], &shake->heap[child]);
        if (!is_before(&shake->heap[child], &last))
            break;
        shake->heap[at] = shake->heap[child];
        at = child;
    }
    shake->heap[at] = last;
    return first;
}

/* ---- One job after another ---- */

static struct error take(struct shake *shake)
{
    struct shake_job of;
    bool has;
    TRY(shake->from.next(shake->from.self, &of, &has));
    shake->is_ended = !has;
    if (!has)
        return ERROR_OK;
    shake->reached = of.job.submit;
    if (shake->plan.arrivals > 0)
        move(shake, &of);
    if (shake->plan.run_time_sigma > 0 && shake->from.last == TIME_NEVER)
        stretch(shake, &of);
    shake->bytes.length = 0;
    job_pack(&of.job, &of.truth, &shake->bytes);
    struct waiting item = {of.job.submit, shake->taken++, mem_zalloc(shake->bytes.length, 1)};
    memcpy(item.bytes, shake->bytes.bytes, shake->bytes.length);
    heap_add(shake, item);
    return ERROR_OK;
}

/* The jobs that it depends on came before it, so their places are known. */
static void turn_after(struct shake *shake, const struct job *job)
{
    struct job_after *after = (struct job_after *)(uintptr_t)job->after; /* in our arena, from job_unpack */
    for (uint32_t a = 0; a < job->after_count; a++)
        after[a].job = shake->rank[after[a].job];
    MEM_GROW(shake->rank, shake->rank_capacity, shake->order + 1);
    shake->rank[shake->order] = shake->given++;
}

struct error shake_next(struct shake *shake, struct job *job, struct job_truth *truth, bool *has)
{
    while (!shake->is_ended && (shake->count == 0 || shake->heap[0].submit > shake->reached - shake->plan.arrivals))
        TRY(take(shake));
    *has = shake->count > 0;
    if (!*has)
        return ERROR_OK;
    const struct waiting first = heap_take(shake);
    arena_reset(&shake->arena);
    job_unpack(first.bytes, &shake->arena, job, truth);
    mem_free(first.bytes);
    shake->order = first.order;
    if (shake->from.has_dependencies)
        turn_after(shake, job);
    return ERROR_OK;
}

uint64_t shake_order(const struct shake *shake)
{
    return shake->order;
}
