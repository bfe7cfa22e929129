/* workloads/readers/source_open.c -- the feed of a source: of its workload, or of the caller. */
#include <assert.h>

#include "base/hash.h"
#include "workloads/readers/merge_feed.h"
#include "workloads/readers/model_feed.h"
#include "workloads/readers/source_inside.h"
#include "workloads/readers/synth_feed.h"
#include "workloads/readers/trace_feed.h"
#include "workloads/readers/workload_changes.h"

static struct job_source *source_new(struct queue_table *queues, const struct cluster *cluster)
{
    struct job_source *source = mem_zalloc(1, sizeof *source);
    source->tables = (struct job_tables){.cluster = cluster,
                                         .queues = queues,
                                         .users = names_new(),
                                         .tags = names_new(),
                                         .classes = names_new(),
                                         .arrays = names_new()};
    return source;
}

struct error job_source_open(struct job_source **out, const struct workload_spec *spec, const struct cluster *cluster,
                             uint64_t seed)
{
    return job_source_open_with(out, spec, cluster, seed, queue_table_new());
}

/* Each part of a merge is a source with tables of its own. */
static struct error parts_open(struct job_source *source, const struct workload_spec *spec, uint64_t seed)
{
    source->parts = mem_zalloc(spec->part_count, sizeof(struct job_source *));
    source->part_count = spec->part_count;
    source->feed = merge_feed_new(spec->part_count, &source->tables, &source->facts);
    for (uint32_t p = 0; p < spec->part_count; p++) {
        TRY(job_source_open(&source->parts[p], &spec->parts[p].spec, source->tables.cluster,
                            p == 0 ? seed : hash_mix(seed, p)));
        TRY(merge_feed_take(source->feed, p, &spec->parts[p], source->parts[p]));
    }
    return ERROR_OK;
}

static struct error feed_open(struct job_source *source, const struct workload_spec *spec, uint64_t seed)
{
    assert((spec->trace != NULL) + (spec->synth != NULL) + (spec->model != NULL) + (spec->part_count > 0) == 1);
    if (spec->part_count > 0)
        return parts_open(source, spec, seed);
    feed_open_fn *open = spec->synth != NULL   ? synth_feed_open
                         : spec->model != NULL ? model_feed_open
                                               : trace_feed_open;
    return open(&source->feed, spec, &source->tables, &source->facts, seed);
}

struct error job_source_open_with(struct job_source **out, const struct workload_spec *spec,
                                  const struct cluster *cluster, uint64_t seed, struct queue_table *queues)
{
    struct job_source *source = source_new(queues, cluster);
    struct job_tables *tables = &source->tables;
    declared_init(&tables->declared, &spec->communication, tables->users, tables->classes);
    source->facts.declared_by_row = tables->declared.by_row;
    source->facts.declared_row_count = spec->communication.count;
    source->defaults = &spec->defaults;
    source->path = spec->trace != NULL ? spec->trace : "workload";
    source->facts.unrecorded = workload_unrecorded(spec);
    struct error error = feed_open(source, spec, seed);
    *out = source;
    if (error_is(error)) {
        job_source_close(source);
        *out = NULL;
    }
    return error;
}

/* ---- Jobs made by the caller ---- */

struct custom_feed {
    struct feed feed;
    job_source_next_fn *next;
    void *self;
};

static struct error custom_next(struct feed *feed, struct job *job, struct job_truth *truth, bool *has)
{
    struct custom_feed *custom = (struct custom_feed *)feed;
    TRY(custom->next(custom->self, job, truth, has));
    if (*has)
        feed_count(feed, job, truth);
    else
        feed_count_end(feed);
    return ERROR_OK;
}

static void custom_free(struct feed *feed)
{
    mem_free(feed);
}

static const struct feed_ops custom_ops = {.next = custom_next, .free = custom_free};

struct job_source *job_source_custom(job_source_next_fn *next, void *self)
{
    struct job_source *source = source_new(queue_table_new(), NULL);
    struct custom_feed *custom = mem_zalloc(1, sizeof *custom);
    *custom = (struct custom_feed){
        {.ops = &custom_ops, .tables = &source->tables, .facts = &source->facts}, .next = next, .self = self};
    source->feed = &custom->feed;
    feed_count_again(&custom->feed);
    source->facts.format = "custom";
    source->facts.arrival_factor = source->facts.duration_factor = 1;
    return source;
}
