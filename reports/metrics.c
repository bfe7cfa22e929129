/* reports/metrics.c -- rows come in, metrics go out. */
#include "reports/metrics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "reports/metrics_inside.h"

static const time_ns slowdown_bound = 10 * TIME_NS_PER_S; /* tau of Feitelson, JSSPP 2001 */

struct metrics *metrics_new(void)
{
    struct metrics *metrics = mem_zalloc(1, sizeof *metrics);
    metrics->queues = names_new();
    metrics->kind_names = names_new();
    metrics->tenants = names_new();
    metrics->submit_min = TIME_NEVER;
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (metrics == NULL)
        return;
    cuts_release(metrics);
    points_release(&metrics->points);
    points_release(&metrics->slowdowns);
    points_release(&metrics->ready);
    points_release(&metrics->cold);
    names_free(metrics->queues);
    names_free(metrics->kind_names);
    names_free(metrics->tenants);
    mem_free(metrics->tenant_of);
    mem_free(metrics->kinds);
    mem_free(metrics->queue_tallies);
    mem_free(metrics->cells);
    mem_free(metrics->samples);
    hour_load_release(&metrics->recorded_load);
    mem_free(metrics->arrived);
    mem_free(metrics->links);
    arena_release(&metrics->arena);
    mem_free(metrics);
}

/* ---- rows ---- */

static uint32_t queue_of_slow(struct metrics *metrics, struct queue_cache_entry *entry, const char *name)
{
    uint32_t queue = names_add(metrics->queues, text_of(name));
    MEM_GROW(metrics->queue_tallies, metrics->queue_capacity, (size_t)queue + 1);
    *entry = (struct queue_cache_entry){name, queue};
    return queue;
}

static inline uint32_t queue_of(struct metrics *metrics, const char *name)
{
    size_t slot = ((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15)) >> 54;
    struct queue_cache_entry *entry = &metrics->cache[slot & (QUEUE_CACHE_SLOTS - 1)];
    if (entry->name == name)
        return entry->queue;
    return queue_of_slow(metrics, entry, name);
}

/* Slot 0: "0"; slot 1: less than a GPU; then powers of two: n whole GPUs have slot 2 + ceil(log2 n). */
static inline uint8_t size_slot(int64_t gpu_milli)
{
    if (gpu_milli <= 0)
        return 0;
    if (gpu_milli < GPU_MILLI)
        return 1;
    uint64_t gpus = ((uint64_t)gpu_milli + GPU_MILLI - 1) / GPU_MILLI;
    unsigned slot = gpus == 1 ? 2 : 66 - (unsigned)__builtin_clzll(gpus - 1);
    return slot < SIZE_SLOTS ? (uint8_t)slot : SIZE_SLOTS - 1;
}

static __attribute__((noinline)) uint32_t kind_of_slow(struct metrics *metrics, struct queue_cache_entry *entry,
                                                       const char *name, uint8_t class)
{
    const uint32_t known = names_count(metrics->kind_names);
    const uint32_t kind = names_add(metrics->kind_names, text_of(name));
    MEM_GROW(metrics->kinds, metrics->kind_capacity, (size_t)kind + 1);
    if (kind == known)
        metrics->kinds[kind].class = class;
    *entry = (struct queue_cache_entry){name, kind};
    return kind;
}

static inline uint32_t kind_of(struct metrics *metrics, const struct job_row *row)
{
    const char *name = row->workload_class != NULL ? row->workload_class : job_class_names[row->class];
    size_t slot = ((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15)) >> 58;
    struct queue_cache_entry *entry = &metrics->kind_cache[slot & (KIND_CACHE_SLOTS - 1)];
    return entry->name == name ? entry->queue : kind_of_slow(metrics, entry, name, row->class);
}

/* NULL: there are more kinds than cells. */
static inline struct cell *cell_of(struct metrics *metrics, const struct job_row *row)
{
    uint8_t size = size_slot(row->gpu_milli);
    uint8_t model = row->model < MODEL_SLOT_ANY ? row->model : MODEL_SLOT_ANY;
    assert(row->class < JOB_CLASS_COUNT);
    const uint32_t kind = kind_of(metrics, row);
    uint16_t *index = &metrics->kinds[kind].cell_of[(row->class * SIZE_SLOTS + size) * MODEL_SLOTS + model];
    if (*index == 0) {
        if (metrics->cell_count == UINT16_MAX)
            return NULL;
        MEM_GROW(metrics->cells, metrics->cell_capacity, metrics->cell_count + 1);
        metrics->cells[metrics->cell_count++] =
            (struct cell){.class = row->class, .size = size, .model = model, .kind = kind};
        *index = (uint16_t)metrics->cell_count;
    }
    return &metrics->cells[*index - 1];
}

/* The amounts that a job adds to each of its tallies. */
struct job_sums {
    uint64_t zero_wait, zero_admission;
    wide_int asked, allocated, cost, kept, limit;
    int64_t slowdown_micro;  /* 0: it did not run, or has not ended */
    int64_t completed_micro; /* the same, of a job that completed; else 0 */
    bool has_started;
};

static int64_t slowdown_micro(const struct job_row *row)
{
    time_ns bound = row->work > slowdown_bound ? row->work : slowdown_bound;
    double slowdown = (double)(row->wait_total + row->run) / (double)bound;
    return slowdown > 1 ? (int64_t)(slowdown * 1e6) : 1000000;
}

/* Called twice for each job.  Not inlined, so that the second call finds the code in the cache. */
static __attribute__((noinline)) void tally_add(struct tally *tally, const struct job_row *row,
                                                const struct job_sums *sums)
{
    tally->jobs[row->state]++;
    tally->zero_waits += sums->zero_wait;
    tally->zero_admissions += sums->zero_admission;
    if (row->wait > tally->wait_ns_max)
        tally->wait_ns_max = row->wait;
    tally->sums[SUM_WAIT_NS] += row->wait;
    tally->sums[SUM_ASKED_MILLI_NS] += sums->asked;
    tally->sums[SUM_ALLOCATED_MILLI_NS] += sums->allocated;
    tally->sums[SUM_COST_MILLI_NS_USD] += sums->cost;
    tally->sums[SUM_KEPT_MILLI_NS] += sums->kept;
    tally->sums[SUM_LIMIT_MILLI_NS] += sums->limit;
    tally->admissions[row->source] += sums->has_started;
    tally->slowdowns += sums->slowdown_micro > 0;
    tally->sums[SUM_SLOWDOWN_MICRO] += sums->slowdown_micro;
    tally->sums[SUM_SLOWDOWN_COMPLETED_MICRO] += sums->completed_micro;
}

static bool has_losses(const struct job_row *row)
{
    return (row->evictions | row->evictions_wasted) != 0 || row->lost_gpu_ns != 0;
}

/* Losses, which most jobs do not have. */
static void add_losses(struct tally *tally, const struct job_row *row)
{
    tally->evictions += row->evictions;
    tally->evictions_wasted += row->evictions_wasted;
    tally->sums[SUM_LOST_GPU_NS] += row->lost_gpu_ns;
    tally->sums[SUM_PREEMPTED_GPU_NS] += row->preempted_gpu_ns;
}

static void add_waits(struct tally *queue, struct tally *cell, const struct wait_times *waits)
{
    for (uint32_t left = waits->mask; left != 0; left &= left - 1) {
        int reason = __builtin_ctz(left);
        queue->sums[SUM_WAITS_NS + reason] += waits->of[reason];
        cell->sums[SUM_WAITS_NS + reason] += waits->of[reason];
    }
}

/* Time from submission to start.  For a job that never became eligible: the time of its submission, which points_sort
 * turns into the time since. */
static inline struct point admission_of(const struct job_row *row)
{
    if (row->start != TIME_NEVER)
        return (struct point){.value = row->start - row->submit};
    if (row->eligible >= row->submit && row->eligible != TIME_NEVER)
        return (struct point){.value = row->eligible - row->submit + row->wait};
    return (struct point){.value = row->submit, .flags = POINT_SUBMIT};
}

/* Keep the values that are not 0, and count the zeros. */
static inline void job_points(struct metrics *metrics, const struct job_row *row, uint32_t queue, uint16_t cell,
                              struct job_sums *sums)
{
    struct point point = admission_of(row);
    point.queue = queue;
    point.cell = cell;
    bool is_apart = point.value != row->wait || point.flags != 0;
    if (is_apart) {
        metrics->has_apart = true;
        sums->zero_admission = point.value == 0 && point.flags == 0;
        point.flags |= POINT_ADMISSION;
        if (!sums->zero_admission)
            points_add(&metrics->points, point);
    }
    sums->zero_wait = row->wait == 0;
    if (!is_apart)
        sums->zero_admission = sums->zero_wait;
    if (row->wait == 0)
        return;
    point.value = row->wait;
    point.flags = is_apart ? POINT_WAIT : POINT_WAIT | POINT_ADMISSION;
    points_add(&metrics->points, point);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct metrics *metrics = self;
    assert(row->state < END_STATE_COUNT && row->reason < REASON_COUNT && row->wait >= 0 &&
           row->source < RECORD_SOURCE_COUNT);
    if (row->state != END_REJECTED)
        metrics->all_waits_ns += row->wait_total;
    if (row->sm_active_milli == UINT16_MAX && row->run > 0 && row->gpu_milli > 0)
        metrics->has_unknown_activity = true;
    if (job_row_is_active(row) && row->run > 0)
        metrics->has_declared_activity = true;
    if (row->has_recorded_wait)
        recorded_load_add(metrics, row);
    if (row->state == END_REJECTED && row->reason == REASON_NEVER_FITS)
        metrics->never_fit_milli_ns += (wide_int)row->gpu_milli * row->work_asked;
    if (!row->is_counted)
        return ERROR_OK;
    uint32_t queue = queue_of(metrics, row->queue);
    struct cell *cell = cell_of(metrics, row);
    if (cell == NULL)
        return error_new(ERROR_DATA, "the jobs are of more than %u kinds: workload classes, sizes and GPU models",
                         UINT16_MAX);
    struct tally *queue_tally = &metrics->queue_tallies[queue];
    if (row->state == END_REJECTED) {
        queue_tally->jobs[END_REJECTED]++;
        cell->tally.jobs[END_REJECTED]++;
        metrics->rejected[row->reason]++;
        return ERROR_OK;
    }
    const bool is_over_limit = row->state == END_LIMIT;
    const wide_int allocated = row->held_milli_ns;
    struct job_sums sums = {
        .asked = (wide_int)row->gpu_milli * row->work_asked,
        .allocated = allocated,
        .cost = allocated * metrics->prices_micro[row->model < MODEL_SLOT_ANY ? row->model : MODEL_SLOT_ANY],
        .kept = is_over_limit ? 0 : (wide_int)row->gpu_milli * row->work,
        .limit = is_over_limit ? allocated : 0,
        .slowdown_micro = row->start != TIME_NEVER && row->end != TIME_NEVER ? slowdown_micro(row) : 0,
        .has_started = row->start != TIME_NEVER,
    };
    sums.completed_micro = row->state == END_COMPLETED ? sums.slowdown_micro : 0;
    job_points(metrics, row, queue, (uint16_t)(cell - metrics->cells), &sums);
    tally_add(queue_tally, row, &sums);
    tally_add(&cell->tally, row, &sums);
    if (has_losses(row)) {
        add_losses(queue_tally, row);
        add_losses(&cell->tally, row);
    }
    if (row->waits != NULL)
        add_waits(queue_tally, &cell->tally, row->waits);
    sums_add(metrics, row, queue_tally, &cell->tally,
             (struct point){.queue = queue, .cell = (uint16_t)(cell - metrics->cells)});
    if (row->submit < metrics->submit_min)
        metrics->submit_min = row->submit;
    if (row->end != TIME_NEVER && row->end > metrics->end_max)
        metrics->end_max = row->end;
    return ERROR_OK;
}

static struct error on_gang(void *self, const struct gang_row *row)
{
    struct metrics *metrics = self;
    size_t at = 0;
    while (at < metrics->link_count &&
           (metrics->links[at].tier != row->link_tier || metrics->links[at].bytes_per_s != row->link_bytes_per_s))
        at++;
    if (at == metrics->link_count) {
        MEM_GROW(metrics->links, metrics->link_capacity, at + 1);
        metrics->links[metrics->link_count++] =
            (struct link_use){.tier = row->link_tier, .bytes_per_s = row->link_bytes_per_s};
    }
    metrics->links[at].milli_ns += (wide_int)row->gpu_milli * (row->end - row->start);
    return ERROR_OK;
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct metrics *metrics = self;
    MEM_GROW(metrics->samples, metrics->sample_capacity, metrics->sample_count + 1);
    metrics->samples[metrics->sample_count++] = *row;
    return ERROR_OK;
}

static struct error on_arrived(void *self, const struct arrived_row *row)
{
    struct metrics *metrics = self;
    assert(row->percent == metrics->arrived_count + 1);
    MEM_GROW(metrics->arrived, metrics->arrived_capacity, metrics->arrived_count + 1);
    metrics->arrived[metrics->arrived_count++] = *row;
    return ERROR_OK;
}

static struct error on_finished(void *self, const struct run_facts *facts)
{
    struct metrics *metrics = self;
    assert(!metrics->has_facts);
    size_t count = 0;
    while (facts->model_names != NULL && facts->model_names[count] != NULL)
        count++;
    const char **names = arena_alloc_array(&metrics->arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        names[i] = arena_copy(&metrics->arena, text_of(facts->model_names[i]));
    struct record_queue *queues =
        arena_alloc_array(&metrics->arena, facts->queue_count + (size_t)1, struct record_queue);
    for (uint32_t q = 0; q < facts->queue_count; q++)
        queues[q] = (struct record_queue){.name = arena_copy(&metrics->arena, text_of(facts->queues[q].name)),
                                          .parent = facts->queues[q].parent};
    struct record_pool *pools = arena_alloc_array(&metrics->arena, facts->pool_count + (size_t)1, struct record_pool);
    for (uint32_t p = 0; p < facts->pool_count; p++) {
        pools[p] = facts->pools[p];
        pools[p].name = arena_copy(&metrics->arena, text_of(facts->pools[p].name));
        pools[p].first_node = arena_copy(&metrics->arena, text_of(facts->pools[p].first_node));
    }
    metrics->facts = *facts;
    metrics->facts.queues = queues;
    metrics->facts.pools = pools;
    metrics->facts.model_names = names;
    metrics->model_names = names;
    metrics->model_count = count;
    metrics->has_facts = true;
    return ERROR_OK;
}

void metrics_set_prices(struct metrics *metrics, const struct record_pool *pools, uint32_t count)
{
    double gpus[MODEL_SLOTS] = {0}, usd[MODEL_SLOTS] = {0};
    bool has_all = count > 0;
    for (uint32_t p = 0; p < count; p++) {
        const double own = (double)pools[p].node_count * pools[p].gpus_per_node;
        const uint32_t model = pools[p].model < MODEL_SLOT_ANY ? pools[p].model : MODEL_SLOT_ANY;
        gpus[model] += own;
        usd[model] += own * pools[p].price_usd_per_gpu_h;
        has_all = has_all && (own == 0 || pools[p].price_usd_per_gpu_h > 0);
    }
    for (uint32_t m = 0; m < MODEL_SLOTS; m++)
        metrics->prices_micro[m] = gpus[m] > 0 ? (int64_t)llround(usd[m] / gpus[m] * 1e6) : 0;
    metrics->has_prices = has_all;
}

struct record_sink metrics_sink(struct metrics *metrics)
{
    return (struct record_sink){
        .self = metrics,
        .on_job = on_job,
        .on_gang = on_gang,
        .on_sample = on_sample,
        .on_arrived = on_arrived,
        .on_finished = on_finished,
    };
}

/* ---- the end ---- */

static struct integrals integrals_of(const struct timeline_row *row)
{
    struct integrals integrals = {
        .time_s = time_to_seconds(row->time),
        .allocated_gpu_s = row->allocated_gpu_s,
        .active_gpu_s = row->active_gpu_s,
        .reserved_gpu_s = row->reserved_gpu_s,
        .down_gpu_s = row->down_gpu_s,
        .pending_job_s = row->pending_job_s,
        .partial_gang_gpu_s = row->partial_gang_gpu_s,
        .idle_held_gpu_s = row->idle_held_gpu_s,
    };
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        integrals.spent_gpu_s[cause] = (double)row->spent[cause] / 1e9;
    for (int kind = 0; kind < USE_COUNT; kind++)
        integrals.use_gpu_s[kind] = (double)row->use_us[kind] / 1e6;
    return integrals;
}

static double between(double low, double high, double share)
{
    return low + (high - low) * share;
}

/* The integrals at a time between two samples, by linear interpolation. */
static struct integrals integrals_between(const struct integrals *a, const struct integrals *b, double time_s)
{
    double share = (time_s - a->time_s) / (b->time_s - a->time_s);
    struct integrals integrals = {
        .time_s = time_s,
        .allocated_gpu_s = between(a->allocated_gpu_s, b->allocated_gpu_s, share),
        .active_gpu_s = between(a->active_gpu_s, b->active_gpu_s, share),
        .reserved_gpu_s = between(a->reserved_gpu_s, b->reserved_gpu_s, share),
        .down_gpu_s = between(a->down_gpu_s, b->down_gpu_s, share),
        .pending_job_s = between(a->pending_job_s, b->pending_job_s, share),
        .partial_gang_gpu_s = between(a->partial_gang_gpu_s, b->partial_gang_gpu_s, share),
        .idle_held_gpu_s = between(a->idle_held_gpu_s, b->idle_held_gpu_s, share),
    };
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        integrals.spent_gpu_s[cause] = between(a->spent_gpu_s[cause], b->spent_gpu_s[cause], share);
    for (int kind = 0; kind < USE_COUNT; kind++)
        integrals.use_gpu_s[kind] = between(a->use_gpu_s[kind], b->use_gpu_s[kind], share);
    return integrals;
}

/* The integrals at a time; after the last sample those of that sample. */
static struct integrals integrals_at(const struct metrics *metrics, time_ns time)
{
    struct integrals before = {0};
    for (size_t i = 0; i < metrics->sample_count; i++) {
        const struct timeline_row *row = &metrics->samples[i];
        struct integrals here = integrals_of(row);
        if (row->time > time)
            return integrals_between(&before, &here, time_to_seconds(time));
        before = here;
    }
    return before;
}

static void window_find(struct metrics *metrics)
{
    if (metrics->sample_count == 0)
        return;
    metrics->run_end = integrals_of(&metrics->samples[metrics->sample_count - 1]);
    metrics->window_start = integrals_at(metrics, metrics->facts.warmup);
    metrics->window_end = integrals_at(metrics, metrics_until(&metrics->facts));
}

static void space_add(struct space_means *sum, const struct space_row *row, double seconds)
{
    sum->time_s += seconds;
    sum->idle += seconds * (double)row->idle_gpu_milli / GPU_MILLI;
    sum->stranded += seconds * (double)row->stranded_gpu_milli / GPU_MILLI;
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        sum->fragmented[c] += seconds * row->fragmented_gpus[c];
    sum->gang += seconds * (double)row->gang_gpus[RECORD_GANG_SIZE_COUNT - 1];
    sum->slices += seconds * (double)row->mig_slices_unplaceable;
}

static void space_find(struct metrics *metrics)
{
    struct space_means *space = &metrics->space;
    const time_ns from = metrics->facts.warmup, until = metrics_until(&metrics->facts);
    for (size_t i = 0; i < metrics->sample_count; i++) {
        const struct timeline_row *row = &metrics->samples[i];
        time_ns start = row->time > from ? row->time : from;
        time_ns end = i + 1 < metrics->sample_count ? metrics->samples[i + 1].time : until;
        end = end < until ? end : until;
        if (row->space.is_known && end > start)
            space_add(space, &row->space, time_to_seconds(end - start));
    }
    if (!(space->time_s > 0))
        return;
    space->idle /= space->time_s;
    space->stranded /= space->time_s;
    space->gang /= space->time_s;
    space->slices /= space->time_s;
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        space->fragmented[c] /= space->time_s;
}

static void samples_thin(struct metrics *metrics)
{
    size_t count = metrics->sample_count;
    if (count <= METRICS_SAMPLES_MAX)
        return;
    size_t stride = (count + METRICS_SAMPLES_MAX - 2) / (METRICS_SAMPLES_MAX - 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i += stride)
        metrics->samples[kept++] = metrics->samples[i];
    if ((count - 1) % stride != 0)
        metrics->samples[kept++] = metrics->samples[count - 1];
    metrics->sample_count = kept;
}

void metrics_finish(struct metrics *metrics)
{
    assert(metrics->has_facts && !metrics->is_finished);
    window_find(metrics);
    space_find(metrics);
    recorded_load_compare(metrics, metrics_until(&metrics->facts));
    samples_thin(metrics);
    cuts_build(metrics);
    metric_values_fill(metrics);
    metrics->is_finished = true;
}

double metrics_never_fit_gpu_s(const struct metrics *metrics)
{
    return (double)metrics->never_fit_milli_ns / (GPU_MILLI * 1e9);
}

uint64_t metrics_rejected(const struct metrics *metrics, enum reason reason)
{
    return reason < REASON_COUNT ? metrics->rejected[reason] : 0;
}

const struct timeline_row *metrics_samples(const struct metrics *metrics, size_t *count)
{
    *count = metrics->sample_count;
    return metrics->samples;
}

const struct run_facts *metrics_facts(const struct metrics *metrics)
{
    return &metrics->facts;
}

size_t metrics_wait_cdf(const struct metrics *metrics, int class, double *wait_s, double *ratio, size_t max)
{
    assert(metrics->is_finished && max >= 2);
    const struct cut *cut = &metrics->cuts[class < 0 ? CUT_ALL : CUT_CLASS];
    const struct group *group = &cut->groups[class < 0 ? 0 : class];
    uint64_t total = 0;
    for (int state = 0; state < END_STATE_COUNT; state++)
        total += state == END_REJECTED ? 0 : group->tally.jobs[state];
    uint64_t seen = group->tally.zero_waits;
    size_t count = 0;
    if (seen > 0) {
        wait_s[count] = 0;
        ratio[count++] = (double)seen / (double)total;
    }
    uint64_t stride = total / (max - 1) + 1; /* each point but the last stands for `stride` jobs */
    uint64_t next = seen + stride;
    for (size_t i = 0; i < metrics->points.count && seen < total; i++) {
        const struct point *point = &metrics->points.sorted[i];
        if (!(point->flags & POINT_WAIT) || (class >= 0 && metrics->cells[point->cell].class != class))
            continue;
        if (++seen < next && seen < total)
            continue;
        wait_s[count] = time_to_seconds(point->value);
        ratio[count++] = (double)seen / (double)total;
        next = seen + stride;
    }
    return count;
}
