#include "workloads/readers/synth_feed.h"

#include <stdio.h>

#include "workloads/readers/known_queues.h"
#include "workloads/synth/synth.h"
#include "workloads/synth/synth_spec.h"

struct made_job {
    struct job job;
    struct job_truth truth;
};

struct synth_feed {
    struct feed feed;
    const struct synth_spec *spec;
    struct synth *synth;
    uint64_t seed;
    struct made_job *shown; /* jobs made for the preview, which come first; NULL: it showed none */
    uint32_t shown_count, next;
};

static bool make_next(struct synth_feed *self, struct job *job, struct job_truth *truth)
{
    if (__builtin_expect(self->next == self->shown_count, true))
        return synth_next(self->synth, job, truth);
    *job = self->shown[self->next].job;
    *truth = self->shown[self->next++].truth;
    return true;
}

static struct error synth_feed_next(struct feed *feed, struct job *job, struct job_truth *truth, bool *has)
{
    struct synth_feed *self = (struct synth_feed *)feed;
    *has = make_next(self, job, truth);
    if (*has)
        feed_count(feed, job, truth);
    else
        feed_count_end(feed);
    return ERROR_OK;
}

static struct error synth_feed_preview(struct feed *feed, job_source_seen_fn *seen, void *listener)
{
    struct synth_feed *self = (struct synth_feed *)feed;
    if (self->shown == NULL) {
        self->shown = mem_alloc(FEED_PREVIEW_MADE * sizeof *self->shown);
        while (self->shown_count < FEED_PREVIEW_MADE &&
               synth_next(self->synth, &self->shown[self->shown_count].job, &self->shown[self->shown_count].truth))
            self->shown_count++;
    }
    for (uint32_t i = 0; i < self->shown_count; i++)
        seen(listener, &self->shown[i].job, &self->shown[i].truth);
    return ERROR_OK;
}

static void synth_feed_free(struct feed *feed)
{
    struct synth_feed *self = (struct synth_feed *)feed;
    mem_free(self->shown);
    synth_free(self->synth);
    mem_free(self);
}

static const struct feed_ops synth_feed_ops = {
    .next = synth_feed_next, .preview = synth_feed_preview, .free = synth_feed_free};

/* queue: QUEUE_NONE: of the tenants. */
static struct error queue_check(const struct queue_table *queues, queue_id queue, const char *class_name)
{
    char who[80];
    if (queue == QUEUE_NONE || known_queues_have(queues, queue))
        return ERROR_OK;
    snprintf(who, sizeof who, "the class '%.60s'", class_name);
    return known_queues_error(queues, queue, who, NULL, 0);
}

static struct error begin(struct synth_feed *self, struct job_tables *tables, struct workload_facts *facts)
{
    const char *class_name = "";
    uint32_t index = 0;
    if (tables->cluster == NULL || tables->cluster->gpu_count == 0)
        return error_new(ERROR_CONFIG, "a synthesized workload needs a cluster with GPUs: its load is "
                                       "a share of them");
    const char *complaint = synth_complaint(self->spec, tables->cluster, &class_name, &index);
    if (complaint != NULL)
        return error_new(ERROR_CONFIG, "size %u of the class '%s' cannot be: %s", index + 1, class_name, complaint);
    self->synth = synth_new(self->spec, tables->cluster, self->seed);
    synth_tenants(self->synth, tables->queues);
    for (uint32_t c = 0; c < self->spec->class_count; c++)
        TRY(queue_check(tables->queues, synth_class_queue(self->synth, c), self->spec->classes[c].name));
    synth_classes(self->synth, tables->classes);
    TRY(declared_check_synth(&tables->declared, self->synth));
    facts->format = "synth";
    facts->arrival_factor = facts->duration_factor = 1;
    facts->load_gpus = synth_load_gpus(self->synth);
    facts->gpu_h_per_day = synth_gpu_h_per_day(self->synth);
    return ERROR_OK;
}

struct error synth_feed_open(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                             struct workload_facts *facts, uint64_t seed)
{
    struct synth_feed *self = mem_zalloc(1, sizeof *self);
    self->feed =
        (struct feed){.ops = &synth_feed_ops, .tables = tables, .facts = facts, .preview_max = FEED_PREVIEW_MADE};
    self->spec = spec->synth;
    self->seed = seed;
    *out = &self->feed;
    feed_count_again(&self->feed);
    return begin(self, tables, facts);
}
