/* workloads/readers/source.c -- numbers the jobs of a feed; the feed is chosen in workloads/readers/source_open.c. */
#include "workloads/readers/source.h"

#include <assert.h>
#include <math.h>

#include "workloads/readers/known_queues.h"
#include "workloads/readers/source_inside.h"

static void defaults_apply(const struct job_source *source, const struct job_truth *truth, struct job *job)
{
    if (source->defaults == NULL || source->defaults->count == 0)
        return;
    const struct job_names names = declared_names(&source->tables.declared, job, truth);
    job_defaults_apply(source->defaults, source->tables.cluster, names, truth, job);
}

static void wait_drop(struct workload_facts *facts, struct job_truth *truth)
{
    facts->dropped_wait_count += truth->recorded_wait != TIME_NEVER;
    truth->recorded_wait = TIME_NEVER;
}

struct error job_source_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has)
{
    *has = false;
    if (source->next_id == JOB_NONE)
        return error_new(ERROR_DATA, "a run can have no more than %u jobs", JOB_NONE);
    TRY(source->feed->ops->next(source->feed, job, truth, has));
    if (!*has)
        return ERROR_OK;
    const bool is_known = known_queues_have(source->tables.queues, job->queue);
    source->facts.unnamed_count += !is_known;
    if (!is_known && !known_queues_is_default(source->tables.queues, job->queue))
        return known_queues_job_error(source->tables.queues, job, source->path, 0);
    defaults_apply(source, truth, job);
    TRY(declared_add(&source->tables.declared, job, truth, &source->facts));
    job->id = source->next_id++;
    job_fields_add(&source->facts.fields, job);
    if (source->facts.unrecorded != NULL)
        wait_drop(&source->facts, truth);
    if (source->keeps_arrivals)
        arrivals_print_add(&source->arrivals, &source->tables, job, truth);
    return ERROR_OK;
}

struct error job_source_check(struct job_source *source)
{
    return source->feed->ops->check != NULL ? source->feed->ops->check(source->feed) : ERROR_OK;
}

struct preview {
    const struct job_source *source;
    job_source_seen_fn *seen;
    void *self;
};

static void on_seen(void *self, const struct job *seen, const struct job_truth *truth)
{
    const struct preview *preview = self;
    struct job job = *seen;
    defaults_apply(preview->source, truth, &job);
    preview->seen(preview->self, &job, truth);
}

struct error job_source_preview(struct job_source *source, job_source_seen_fn *seen, void *self)
{
    struct preview preview = {source, seen, self};
    assert(source->next_id == 0);
    return source->feed->ops->preview != NULL ? source->feed->ops->preview(source->feed, on_seen, &preview) : ERROR_OK;
}

uint32_t job_source_preview_max(const struct job_source *source)
{
    return source->feed->preview_max;
}

struct queue_table *job_source_queues(struct job_source *source)
{
    return source->tables.queues;
}

const struct queue_table *job_source_queue_table(const struct job_source *source)
{
    return source->tables.queues;
}

const struct names *job_source_tags(const struct job_source *source)
{
    return source->tables.tags;
}

void job_source_keep_arrivals(struct job_source *source)
{
    source->keeps_arrivals = true;
}

uint64_t job_source_arrivals(const struct job_source *source)
{
    return source->arrivals.hash;
}

const struct names *job_source_users(const struct job_source *source)
{
    return source->tables.users;
}

const struct names *job_source_arrays(const struct job_source *source)
{
    return source->tables.arrays;
}

const struct names *job_source_classes(const struct job_source *source)
{
    return source->tables.classes;
}

const struct communication_set *job_source_communications(const struct job_source *source)
{
    return &source->tables.declared.set;
}

const char *job_source_path(const struct job_source *source)
{
    return source->path;
}

const struct workload_facts *job_source_facts(const struct job_source *source)
{
    return &source->facts;
}

double workload_load(const struct workload_facts *facts, uint32_t gpus)
{
    return facts->gpu_h_per_day > 0 && gpus > 0 ? facts->gpu_h_per_day / (24.0 * gpus) : NAN;
}

enum offered_kind workload_arrivals(const struct workload_facts *facts)
{
    return facts->is_filling ? OFFERED_FILL : facts->loop != NULL ? OFFERED_CLOSED_LOOP : OFFERED_STREAM;
}

const struct blocks_users *job_source_copies(const struct job_source *source)
{
    return source->tables.declared.copies;
}

const struct job_source *job_source_part(const struct job_source *source, uint32_t part)
{
    return part < source->part_count ? source->parts[part] : NULL;
}

uint64_t job_source_dropped_waits(const struct job_source *source)
{
    uint64_t count = source->facts.dropped_wait_count;
    for (uint32_t i = 0; i < source->part_count; i++)
        count += source->parts[i]->facts.dropped_wait_count;
    return count;
}

void job_source_close(struct job_source *source)
{
    if (source == NULL)
        return;
    source->feed->ops->free(source->feed);
    for (uint32_t p = 0; p < source->part_count; p++)
        job_source_close(source->parts[p]);
    mem_free(source->parts);
    declared_release(&source->tables.declared);
    arrivals_print_release(&source->arrivals);
    node_asks_release(&source->tables.asks);
    queue_table_free(source->tables.queues);
    names_free(source->tables.users);
    names_free(source->tables.tags);
    names_free(source->tables.classes);
    names_free(source->tables.arrays);
    mem_free(source);
}
