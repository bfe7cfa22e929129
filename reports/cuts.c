/* reports/cuts.c -- the counted jobs by class, tenant, queue, size and GPU model: sums and exact quantiles. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reports/metrics_inside.h"

const char *const metrics_cut_names[] = {"class", "workload_class", "class_size", "tenant",
                                         "queue", "size",           "gpu_model",  NULL};

static const char *const size_keys[SIZE_SLOTS] = {
    "0",
    "<1",
    "1",
    "2",
    "3-4",
    "5-8",
    "9-16",
    "17-32",
    "33-64",
    "65-128",
    "129-256",
    "257-512",
    "513-1024",
    "1025-2048",
    "2049-4096",
    "4097-8192",
    "8193-16384",
    "16385-32768",
    "32769-65536",
    "65537-131072",
    "131073-262144",
    "262145-524288",
    "524289-1048576",
    "1048577-2097152",
    "2097153-4194304",
    "4194305-8388608",
    "8388609-16777216",
    "16777217-33554432",
    "33554433-67108864",
    "67108865-134217728",
    "134217729-268435456",
    ">268435456",
};

static const char *cut_key(const struct metrics *metrics, enum cut_kind kind, uint32_t slot)
{
    switch (kind) {
    case CUT_ALL:
        return "all";
    case CUT_CLASS:
        return job_class_names[slot];
    case CUT_KIND:
        return names_text(metrics->kind_names, slot);
    case CUT_KIND_SIZE:
        return metrics->kind_sizes[slot];
    case CUT_TENANT:
        return names_text(metrics->tenants, slot);
    case CUT_QUEUE:
        return names_text(metrics->queues, slot);
    case CUT_SIZE:
        return size_keys[slot];
    case CUT_MODEL:
        return slot < metrics->model_count ? metrics->model_names[slot]
               : slot == MODEL_SLOT_ANY    ? RECORD_ANY
                                           : "unknown";
    case CUT_COUNT:
        break;
    }
    assert(false);
    return NULL;
}

static uint32_t slot_count_of(const struct metrics *metrics, enum cut_kind kind)
{
    static const uint32_t counts[CUT_COUNT] = {
        [CUT_ALL] = 1,
        [CUT_CLASS] = JOB_CLASS_COUNT,
        [CUT_SIZE] = SIZE_SLOTS,
        [CUT_MODEL] = MODEL_SLOTS,
    };
    if (kind == CUT_KIND || kind == CUT_KIND_SIZE)
        return names_count(metrics->kind_names) * (kind == CUT_KIND ? 1 : SIZE_SLOTS);
    return kind == CUT_QUEUE    ? names_count(metrics->queues)
           : kind == CUT_TENANT ? names_count(metrics->tenants)
                                : counts[kind];
}

static void tally_merge(struct tally *into, const struct tally *from)
{
    for (int state = 0; state < END_STATE_COUNT; state++)
        into->jobs[state] += from->jobs[state];
    into->zero_waits += from->zero_waits;
    into->zero_admissions += from->zero_admissions;
    into->evictions += from->evictions;
    into->evictions_wasted += from->evictions_wasted;
    into->slowdowns += from->slowdowns;
    for (int source = 0; source < RECORD_SOURCE_COUNT; source++)
        into->admissions[source] += from->admissions[source];
    if (from->wait_ns_max > into->wait_ns_max)
        into->wait_ns_max = from->wait_ns_max;
    if (from->blast_gpu_milli_max > into->blast_gpu_milli_max)
        into->blast_gpu_milli_max = from->blast_gpu_milli_max;
    for (int sum = 0; sum < SUM_COUNT; sum++)
        into->sums[sum] += from->sums[sum];
}

static uint32_t kind_size(const struct cell *cell)
{
    return cell->kind * SIZE_SLOTS + cell->size;
}

/* Keys such as "small training/5-8", for kinds and sizes with jobs. */
static void name_kind_sizes(struct metrics *metrics)
{
    const uint32_t count = names_count(metrics->kind_names) * SIZE_SLOTS;
    metrics->kind_sizes = arena_alloc_array(&metrics->arena, count, const char *);
    for (size_t c = 0; c < metrics->cell_count; c++) {
        const struct cell *cell = &metrics->cells[c];
        struct buffer key = {0};
        if (metrics->kind_sizes[kind_size(cell)] != NULL)
            continue;
        buffer_format(&key, "%s/%s", names_text(metrics->kind_names, cell->kind), size_keys[cell->size]);
        metrics->kind_sizes[kind_size(cell)] = arena_copy(&metrics->arena, (struct text){key.bytes, key.length});
        buffer_release(&key);
    }
}

/* The slot of a job of the cell and the queue in each cut. */
static void find_slots(const struct metrics *metrics, const struct cell *cell, uint32_t queue,
                       uint32_t slots[CUT_COUNT])
{
    slots[CUT_ALL] = 0;
    slots[CUT_CLASS] = cell->class;
    slots[CUT_KIND] = cell->kind;
    slots[CUT_KIND_SIZE] = kind_size(cell);
    slots[CUT_TENANT] = metrics->tenant_of != NULL ? metrics->tenant_of[queue] : 0;
    slots[CUT_QUEUE] = queue;
    slots[CUT_SIZE] = cell->size;
    slots[CUT_MODEL] = cell->model;
}

/* Tenants and queues have tallies of their own; a cut without slots is not known. */
static void sum_tallies(struct metrics *metrics)
{
    struct cut *cuts = metrics->cuts;
    uint32_t slots[CUT_COUNT];
    for (size_t c = 0; c < metrics->cell_count; c++) {
        find_slots(metrics, &metrics->cells[c], 0, slots);
        for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++)
            if (kind != CUT_TENANT && kind != CUT_QUEUE)
                tally_merge(&cuts[kind].groups[slots[kind]].tally, &metrics->cells[c].tally);
    }
    for (uint32_t q = 0; q < cuts[CUT_QUEUE].slot_count; q++) {
        cuts[CUT_QUEUE].groups[q].tally = metrics->queue_tallies[q];
        if (metrics->tenant_of != NULL)
            tally_merge(&cuts[CUT_TENANT].groups[metrics->tenant_of[q]].tally, &metrics->queue_tallies[q]);
    }
}

static void start_ranks(struct group *group)
{
    static const uint8_t wait_percents[] = {50, 95, 99};
    static const uint8_t admission_percents[] = {99};
    uint64_t total = 0;
    for (int state = 0; state < END_STATE_COUNT; state++)
        total += state == END_REJECTED ? 0 : group->tally.jobs[state];
    ranks_init(&group->wait, total, group->tally.zero_waits, wait_percents, 3);
    ranks_init(&group->admission, total, group->tally.zero_admissions, admission_percents, 1);
}

/* Pass the values in ascending order once, and find the ranks of all groups. */
static void walk_points(struct metrics *metrics)
{
    const struct cut *cuts = metrics->cuts;
    uint32_t slots[CUT_COUNT];
    for (size_t i = 0; i < metrics->points.count; i++) {
        const struct point point = metrics->points.sorted[i];
        const bool is_admission = metrics->has_apart && (point.flags & POINT_ADMISSION);
        find_slots(metrics, &metrics->cells[point.cell], point.queue, slots);
        for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++) {
            if (cuts[kind].slot_count == 0)
                continue;
            struct group *group = &cuts[kind].groups[slots[kind]];
            if (point.flags & POINT_WAIT)
                ranks_see(&group->wait, point.value);
            if (is_admission)
                ranks_see(&group->admission, point.value);
        }
    }
}

/* Values that most runs do not have, and the ranks of groups for them. */
struct rare {
    struct points *points;
    size_t ranks;         /* offset in struct group */
    enum tally_sum count; /* of the jobs that have a value */
    uint8_t percents[2], percent_count;
};

static struct ranks *ranks_in(struct group *group, const struct rare *rare)
{
    return (struct ranks *)(void *)((char *)group + rare->ranks);
}

static void rank_rare(struct metrics *metrics, const struct rare *rare)
{
    if (rare->points->chunk_count == 0)
        return;
    points_sort(rare->points, metrics->facts.end);
    for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++) {
        struct cut *cut = &metrics->cuts[kind];
        for (uint32_t slot = 0; slot < cut->slot_count; slot++)
            ranks_init(ranks_in(&cut->groups[slot], rare), (uint64_t)cut->groups[slot].tally.sums[rare->count], 0,
                       rare->percents, rare->percent_count);
        for (size_t i = 0; cut->slot_count > 0 && i < rare->points->count; i++) {
            const struct point *point = &rare->points->sorted[i];
            uint32_t slots[CUT_COUNT];
            find_slots(metrics, &metrics->cells[point->cell], point->queue, slots);
            ranks_see(ranks_in(&cut->groups[slots[kind]], rare), point->value);
        }
    }
}

static void rank_rares(struct metrics *metrics)
{
    const struct rare rares[] = {
        {&metrics->slowdowns, offsetof(struct group, slowdown), SUM_COMMUNICATION_SLOWED_JOBS, {95}, 1},
        {&metrics->ready, offsetof(struct group, ready), SUM_PULL_JOBS, {50, 99}, 2},
        {&metrics->cold, offsetof(struct group, cold), SUM_READY_JOBS, {50, 99}, 2},
    };
    for (size_t r = 0; r < sizeof rares / sizeof rares[0]; r++)
        rank_rare(metrics, &rares[r]);
}

/* If every job was eligible when it was submitted, admission times equal waits. */
static void copy_admission(struct cut *cut)
{
    for (uint32_t slot = 0; slot < cut->slot_count; slot++) {
        struct group *group = &cut->groups[slot];
        group->admission.value[0] = group->wait.value[2];
        group->admission.found = group->wait.found == 3;
    }
}

static bool has_jobs(const struct tally *tally)
{
    for (int state = 0; state < END_STATE_COUNT; state++)
        if (tally->jobs[state] != 0)
            return true;
    return false;
}

static int compare_by_name(const void *a, const void *b, void *names)
{
    return strcmp(names_text(names, *(const uint32_t *)a), names_text(names, *(const uint32_t *)b));
}

/* Order workload classes by the class of their first job, then by name, then by size. */
static int compare_kinds(const void *a, const void *b, void *metrics_as_void)
{
    const struct metrics *metrics = metrics_as_void;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (metrics->kinds[x].class != metrics->kinds[y].class)
        return metrics->kinds[x].class < metrics->kinds[y].class ? -1 : 1;
    return strcmp(names_text(metrics->kind_names, x), names_text(metrics->kind_names, y));
}

static int compare_kind_sizes(const void *a, const void *b, void *metrics_as_void)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t kind_x = x / SIZE_SLOTS, kind_y = y / SIZE_SLOTS;
    const int order = compare_kinds(&kind_x, &kind_y, metrics_as_void);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Order queues and tenants by name, so that the order does not depend on which job ended first; other cuts by slot. */
static void order_slots(struct metrics *metrics, enum cut_kind kind)
{
    struct cut *cut = &metrics->cuts[kind];
    cut->order = mem_zalloc(cut->slot_count, sizeof *cut->order);
    for (uint32_t slot = 0; slot < cut->slot_count; slot++)
        if (has_jobs(&cut->groups[slot].tally))
            cut->order[cut->count++] = slot;
    if (kind == CUT_QUEUE || kind == CUT_TENANT)
        qsort_r(cut->order, cut->count, sizeof *cut->order, compare_by_name,
                kind == CUT_QUEUE ? metrics->queues : metrics->tenants);
    else if (kind == CUT_KIND)
        qsort_r(cut->order, cut->count, sizeof *cut->order, compare_kinds, metrics);
    else if (kind == CUT_KIND_SIZE)
        qsort_r(cut->order, cut->count, sizeof *cut->order, compare_kind_sizes, metrics);
}

void cuts_build(struct metrics *metrics)
{
    tenants_find(metrics);
    for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++) {
        struct cut *cut = &metrics->cuts[kind];
        cut->slot_count = slot_count_of(metrics, kind);
        cut->groups = mem_zalloc(cut->slot_count, sizeof *cut->groups);
    }
    name_kind_sizes(metrics);
    sum_tallies(metrics);
    points_sort(&metrics->points, metrics->facts.end);
    for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++)
        for (uint32_t slot = 0; slot < metrics->cuts[kind].slot_count; slot++)
            start_ranks(&metrics->cuts[kind].groups[slot]);
    walk_points(metrics);
    rank_rares(metrics);
    for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++) {
        if (!metrics->has_apart)
            copy_admission(&metrics->cuts[kind]);
        order_slots(metrics, kind);
    }
}

void cuts_release(struct metrics *metrics)
{
    for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++) {
        mem_free(metrics->cuts[kind].groups);
        mem_free(metrics->cuts[kind].order);
        mem_free(metrics->cuts[kind].metrics);
    }
}

static const struct cut *cut_named(const struct metrics *metrics, const char *name)
{
    for (int i = 0; metrics_cut_names[i] != NULL; i++)
        if (strcmp(metrics_cut_names[i], name) == 0)
            return &metrics->cuts[i + 1];
    return NULL;
}

const char *metrics_cut_key(const struct metrics *metrics, const char *name, size_t index)
{
    const struct cut *cut = cut_named(metrics, name);
    if (cut == NULL || index >= cut->count)
        return NULL;
    return cut_key(metrics, (enum cut_kind)(cut - metrics->cuts), cut->order[index]);
}

const struct metric *metrics_cut(const struct metrics *metrics, const char *name, size_t index, size_t *count)
{
    const struct cut *cut = cut_named(metrics, name);
    *count = 0;
    if (cut == NULL || index >= cut->count)
        return NULL;
    *count = METRIC_COUNT - METRIC_CUTS_FROM;
    return &cut->metrics[index * *count];
}
