/* workloads/fit/fit_kinds.c -- kinds of jobs: size and outcome, with their run times. */
#include <math.h>
#include <stdlib.h>

#include "workloads/fit/fit_inside.h"

enum { POINTS_MIN = 3 * DISTRIBUTION_MADE_MIN };

/* By size and outcome; jobs of a kind stand together, in the order of their run times. */
static int by_kind(const void *a, const void *b)
{
    const struct fit_job *x = *(const struct fit_job *const *)a, *y = *(const struct fit_job *const *)b;
    if (x->gpu_milli != y->gpu_milli)
        return x->gpu_milli < y->gpu_milli ? -1 : 1;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? -1 : 1;
    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    return x->run_time_s < y->run_time_s ? -1 : x->run_time_s > y->run_time_s;
}

static bool is_same(const struct fit_job *x, const struct fit_job *y)
{
    return x->gpu_milli == y->gpu_milli && x->nodes == y->nodes && x->outcome == y->outcome;
}

/* Members of equal whole GPUs, or a part of one; what is neither becomes whole GPUs anywhere. */
static struct ask ask_of(const struct fit_job *job)
{
    const uint32_t gpus = (job->gpu_milli + GPU_MILLI - 1) / GPU_MILLI;
    if (job->gpu_milli > 0 && job->gpu_milli < GPU_MILLI)
        return (struct ask){.gpu_milli = job->gpu_milli};
    if (job->nodes > 0 && job->nodes <= CLUSTER_NODES_MAX && gpus % job->nodes == 0 && gpus >= job->nodes)
        return (struct ask){.gpus = gpus, .nodes = job->nodes};
    return (struct ask){.gpus = gpus};
}

static uint32_t points_of(size_t count, const struct fit_plan *plan)
{
    const uint32_t most = plan->points != 0 ? plan->points : FIT_POINTS_DEFAULT;
    return count < POINTS_MIN ? POINTS_MIN : 3 * count < most ? 3 * (uint32_t)count : most;
}

/* A kind of few jobs runs as the nearest size of its outcome with many, or as all. */
static void borrow(struct load_kind *kinds, const size_t *sizes, uint32_t count, const struct distribution *all)
{
    for (uint32_t k = 0; k < count; k++) {
        double nearest = INFINITY;
        if (sizes[k] >= FIT_KIND_MIN)
            continue;
        kinds[k].run_time = *all;
        for (uint32_t other = 0; other < count; other++) {
            const double far = fabs(log((load_kind_gpus(&kinds[other]) + 0.1) / (load_kind_gpus(&kinds[k]) + 0.1)));
            if (sizes[other] < FIT_KIND_MIN || kinds[other].outcome != kinds[k].outcome || far >= nearest)
                continue;
            nearest = far;
            kinds[k].run_time = kinds[other].run_time;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static struct distribution run_times_of(struct fit_job **jobs, size_t count, const struct fit_plan *plan,
                                        struct arena *arena)
{
    double *values = mem_zalloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = fmax(jobs[i]->run_time_s, 1e-3);
    qsort(values, count, sizeof *values, ascending);
    const struct distribution made = distribution_of_values(values, count, points_of(count, plan), arena);
    mem_free(values);
    return made;
}

void fit_kinds(struct load_stream *out, struct fit_job *const *jobs, size_t count, const struct fit_plan *plan,
               struct arena *arena)
{
    struct fit_job **sorted = mem_zalloc(count, sizeof *sorted);
    struct load_kind *kinds = NULL;
    size_t capacity = 0, size_capacity = 0, *sizes = NULL;
    uint32_t made = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = jobs[i];
    qsort(sorted, count, sizeof *sorted, by_kind);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && (is_same(sorted[from], sorted[to]) || made + 1 == LOAD_KINDS_MAX);)
            to++;
        MEM_GROW(kinds, capacity, made + 1u);
        MEM_GROW(sizes, size_capacity, made + 1u);
        kinds[made] = (struct load_kind){
            .weight = (double)(to - from), .ask = ask_of(sorted[from]), .outcome = sorted[from]->outcome};
        sizes[made] = to - from;
        if (to - from >= FIT_KIND_MIN)
            kinds[made].run_time = run_times_of(&sorted[from], to - from, plan, arena);
        for (size_t i = from; i < to; i++)
            sorted[i]->kind = made;
        made++;
    }
    const struct distribution all = run_times_of(sorted, count, plan, arena);
    borrow(kinds, sizes, made, &all);
    struct load_kind *kept = arena_alloc_array(arena, made, struct load_kind);
    memcpy(kept, kinds, made * sizeof *kept);
    out->kinds = kept;
    out->kind_count = made;
    mem_free(sorted);
    mem_free(kinds);
    mem_free(sizes);
}
