#include "workloads/readers/model_feed.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "workloads/load_model/load_draw.h"
#include "workloads/readers/known_queues.h"

enum { SECONDS_PER_HOUR = 3600, HOURS_PER_DAY = 24 };

/* The names of a stream, as numbers of the source's tables. */
struct stream_names {
    queue_id queue;
    uint32_t first_user; /* of users that follow each other */
};

struct model_feed {
    struct feed feed;
    const struct load_model *model;
    struct load_draw *draw;
    struct load_draw_plan plan;
    struct stream_names *names; /* by stream */
};

static bool draw_next(struct model_feed *self, struct load_draw *draw, struct job *job, struct job_truth *truth)
{
    struct load_origin origin;
    if (!load_draw_next(draw, job, truth, &origin))
        return false;
    const struct stream_names *names = &self->names[origin.stream - self->model->streams];
    job->queue = names->queue;
    job->user = origin.user > 0 ? names->first_user + origin.user - 1 : NAMES_NONE;
    return true;
}

static struct error model_feed_next(struct feed *feed, struct job *job, struct job_truth *truth, bool *has)
{
    struct model_feed *self = (struct model_feed *)feed;
    *has = draw_next(self, self->draw, job, truth);
    if (*has)
        feed_count(feed, job, truth);
    else
        feed_count_end(feed);
    return ERROR_OK;
}

static struct error model_feed_preview(struct feed *feed, job_source_seen_fn *seen, void *listener)
{
    struct model_feed *self = (struct model_feed *)feed;
    struct load_draw *other = load_draw_new(self->model, &self->plan);
    struct job job;
    struct job_truth truth;
    for (uint32_t i = 0; i < FEED_PREVIEW_MADE && draw_next(self, other, &job, &truth); i++)
        seen(listener, &job, &truth);
    load_draw_free(other);
    return ERROR_OK;
}

static void model_feed_free(struct feed *feed)
{
    struct model_feed *self = (struct model_feed *)feed;
    load_draw_free(self->draw);
    mem_free(self->names);
    mem_free(self);
}

static const struct feed_ops model_feed_ops = {
    .next = model_feed_next, .preview = model_feed_preview, .free = model_feed_free};

static struct error unknown_queue(const struct queue_table *queues, queue_id queue, const char *stream_name)
{
    char who[80];
    snprintf(who, sizeof who, "the stream '%.60s'", stream_name);
    return known_queues_error(queues, queue, who, NULL, 0);
}

/* A user of a stream has the stream's name, and no other stream has this name: so its users follow each other. */
static struct error add_names(struct model_feed *self)
{
    struct job_tables *tables = self->feed.tables;
    struct buffer name = {0};
    self->names = mem_zalloc(self->model->stream_count, sizeof *self->names);
    for (uint32_t s = 0; s < self->model->stream_count; s++) {
        const struct load_stream *stream = &self->model->streams[s];
        const uint32_t users = stream->users.count > 0 ? stream->users.count : stream->arrivals.clients.count;
        const queue_id queue = queue_table_of(tables->queues, text_of(stream->queue));
        if (!known_queues_have(tables->queues, queue))
            return unknown_queue(tables->queues, queue, stream->name);
        self->names[s] = (struct stream_names){queue, names_count(tables->users)};
        for (uint32_t u = 1; u <= users; u++) {
            name.length = 0;
            buffer_format(&name, "%s-u%u", stream->name, u);
            names_add(tables->users, (struct text){name.bytes, name.length});
        }
    }
    buffer_release(&name);
    return ERROR_OK;
}

/* The factor of all rates that the load asks for.  h_per_day: GPU hours, of the model. */
static struct error find_rate(const struct workload_spec *spec, double h_per_day, struct workload_facts *facts,
                              const struct cluster *cluster, double *rate)
{
    *rate = spec->model_rate > 0 ? spec->model_rate : 1;
    if (spec->load == 0)
        return ERROR_OK;
    facts->load_gpus = spec->load_gpus != 0 ? spec->load_gpus : cluster != NULL ? cluster->gpu_count : 0;
    *rate = spec->load * facts->load_gpus * HOURS_PER_DAY / h_per_day;
    if (!(h_per_day > 0) || !isfinite(h_per_day) || !(*rate > 0))
        return error_new(ERROR_CONFIG, "the rates of the model cannot be scaled to a load: its jobs ask for no GPU "
                                       "time or have no mean run time, or the cluster has no GPUs");
    return ERROR_OK;
}

static struct error check_rate(double jobs_per_day)
{
    if (jobs_per_day <= LOAD_JOBS_PER_DAY_MAX)
        return ERROR_OK;
    return error_new(ERROR_CONFIG, "the model would have %.3g jobs per day; at most %d are possible", jobs_per_day,
                     LOAD_JOBS_PER_DAY_MAX);
}

struct error model_feed_open(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                             struct workload_facts *facts, uint64_t seed)
{
    struct model_feed *self = mem_zalloc(1, sizeof *self);
    const struct load_moments moments = load_model_moments(spec->model);
    const double h_per_day = moments.jobs_per_day * moments.gpu_s / SECONDS_PER_HOUR;
    self->feed =
        (struct feed){.ops = &model_feed_ops, .tables = tables, .facts = facts, .preview_max = FEED_PREVIEW_MADE};
    self->model = spec->model;
    self->plan = (struct load_draw_plan){.seed = seed,
                                         .job_count = spec->model_jobs != 0 ? spec->model_jobs : UINT64_MAX,
                                         .until = spec->model_until != 0 ? spec->model_until : TIME_NEVER};
    *out = &self->feed;
    feed_count_again(&self->feed);
    assert(spec->model_jobs != 0 || spec->model_until != 0);
    TRY(find_rate(spec, h_per_day, facts, tables->cluster, &self->plan.rate_factor));
    TRY(check_rate(moments.jobs_per_day * self->plan.rate_factor));
    TRY(add_names(self));
    self->draw = load_draw_new(self->model, &self->plan);
    facts->format = "model";
    facts->arrival_factor = facts->duration_factor = 1;
    facts->gpu_h_per_day = isfinite(h_per_day) ? h_per_day * self->plan.rate_factor : 0;
    return ERROR_OK;
}
