#include "workloads/readers/trace_feed.h"

#include <assert.h>
#include <string.h>

#include "base/input.h"
#include "workloads/readers/fill.h"
#include "workloads/readers/held.h"
#include "workloads/readers/known_queues.h"
#include "workloads/readers/rows.h"
#include "workloads/readers/spill.h"
#include "workloads/readers/ties.h"

/* Traces of at most HELD_MAX jobs are read once and kept (40 MB).  Longer ones are read again as a stream, by way of
 * a temporary file if they are not sorted, unless they are drawn in blocks, fill a cluster or come in a closed loop. */
enum { HELD_MAX = 1 << 18 };

enum { HOURS_PER_DAY = 24, PREVIEW_ROWS = 100000 };

struct trace_feed {
    struct feed feed;
    const struct workload_spec *spec;
    struct rows rows; /* open while streaming or loading */
    struct side_files sides;
    struct held held;
    struct spill *spill; /* jobs of a long trace that is not sorted; NULL: of none */
    struct blocks_users copies;
    struct fill fill;
    struct shake *shake; /* what it gives is what comes; NULL: the trace is not shaken */
    struct ties ties;    /* if it is */
    bool is_held;        /* jobs come from `held`, not from the reader */
    bool is_sorted;      /* the trace's submissions never decrease */
    bool is_finished;    /* the second reading has ended, and was of the same bytes */
    struct frozen_facts frozen;
    uint64_t unnamed_count; /* jobs that name no queue, where queues are declared */
    time_ns origin;         /* the trace's time that becomes 0 */
    uint64_t place;         /* in the trace, of the job that was taken last */
    time_ns previous;       /* submission of the job before, in the trace's time */
};

static bool is_filling(const struct workload_spec *spec)
{
    return spec->fill.load != 0;
}

static struct error changed(const struct trace_feed *self)
{
    struct error error = error_new(ERROR_DATA, "%s changed while it was read", self->spec->trace);
    error_set_hint(&error, "run again on a file that nobody writes to");
    return error;
}

/* ---- The first reading ------------------------------------------------------------------------- */

static struct error trace_open(struct trace_feed *self)
{
    TRY(rows_open(&self->rows));
    self->frozen = self->rows.reader.frozen;
    return ERROR_OK;
}

/* The trace is too long to be kept.  If it is not sorted, sorting begins, so that no line is read twice. */
static struct error trace_let_go(struct trace_feed *self)
{
    self->is_held = self->rows.is_kept = false;
    self->spill = self->is_sorted ? NULL : spill_new(0);
    for (size_t i = 0; i < self->held.count && self->spill != NULL; i++)
        TRY(spill_add(self->spill, &self->held.jobs[i].job, &self->held.jobs[i].truth));
    held_release(&self->held);
    return ERROR_OK;
}

static struct error queue_check(struct trace_feed *self, const struct job *job)
{
    const struct queue_table *queues = self->feed.tables->queues;
    const struct reader *reader = &self->rows.reader;
    if (known_queues_have(queues, job->queue))
        return ERROR_OK;
    if (known_queues_is_default(queues, job->queue)) {
        self->unnamed_count++;
        return ERROR_OK;
    }
    return known_queues_job_error(queues, job, self->spec->trace,
                                  reader->format->on_end == NULL ? input_line_number(reader->input) : 0);
}

/* Read everything once: the facts, and whether it is sorted.  Keep the jobs of a short trace. */
static struct error trace_scan(struct trace_feed *self)
{
    struct trace_row row;
    bool has;
    const struct workload_spec *spec = self->spec;
    const bool is_kept = input_is_once(spec->trace) /* a pipe */ || is_filling(spec) || spec->blocks != BLOCKS_NONE ||
                         spec->loop.is_closed;
    const uint64_t held_max = spec->is_scanned      ? 0
                              : is_kept             ? JOB_NONE
                              : spec->held_max != 0 ? spec->held_max
                                                    : HELD_MAX;
    self->is_held = self->rows.is_kept = true;
    self->is_sorted = true;
    feed_count_again(&self->feed);
    while (true) {
        TRY(rows_next(&self->rows, &row, &has));
        if (!has)
            break;
        if (self->feed.facts->job_count != 0 && row.job.submit < self->previous)
            self->is_sorted = false;
        self->previous = row.job.submit;
        if (self->feed.facts->job_count == JOB_NONE)
            return error_new(ERROR_DATA, "%s holds more than %u jobs", spec->trace, JOB_NONE);
        if (spec->shake.arrivals != 0)
            ties_add(&self->ties, (uint32_t)self->feed.facts->job_count, &row.job);
        feed_count(&self->feed, &row.job, &row.truth);
        TRY(queue_check(self, &row.job));
        TRY(declared_check(&self->feed.tables->declared, &row.job, &row.truth, NULL));
        assert(row.job.submit < 0 || job_complaint(&row.job) == NULL);
        if (spec->scan.on_job != NULL)
            spec->scan.on_job(spec->scan.self, &row.job, &row.truth);
        if (self->is_held && self->feed.facts->job_count > held_max)
            TRY(trace_let_go(self));
        if (self->is_held)
            held_add(&self->held, &row.job, &row.truth);
        else if (self->spill != NULL)
            TRY(spill_add(self->spill, &row.job, &row.truth));
    }
    self->is_finished = self->spill != NULL || spec->is_scanned;
    self->feed.facts->bad_line_count = self->rows.reader.bad_line_count;
    self->feed.facts->guessed_hours = self->rows.reader.guessed_hours;
    self->feed.facts->skipped = self->rows.reader.skipped;
    self->feed.facts->unread = self->rows.reader.unread;
    self->feed.facts->has_ties = self->rows.reader.has_ties;
    self->feed.facts->requests = self->rows.reader.requests;
    self->feed.facts->format = self->rows.reader.format->name;
    return input_finish_digest(self->rows.reader.input, self->feed.facts->digest);
}

/* A trace that was read again must have been the same. */
static struct error trace_finish(struct trace_feed *self)
{
    char digest[33];
    TRY(input_finish_digest(self->rows.reader.input, digest));
    self->is_finished = true;
    return strcmp(digest, self->feed.facts->digest) == 0 ? ERROR_OK : changed(self);
}

/* ---- Between the readings ---------------------------------------------------------------------- */

/* GPU hours that the trace's jobs ask for per day, once a load is reached; 0: they are a batch. */
static double h_per_day(const struct workload_facts *facts)
{
    const double span_s = time_to_seconds(facts->last_submit - facts->first_submit) * facts->arrival_factor;
    const double stretched = facts->duration_factor;
    if (!(span_s > 0) || span_s < facts->recorded.run_mean_s * stretched)
        return 0;
    return facts->recorded.all.asked_gpu_s * stretched / span_s * HOURS_PER_DAY;
}

/* Find the factor by which run times or the gaps between submissions grow, so that the jobs ask for the load that is
 * set. */
static struct error trace_scale(struct trace_feed *self)
{
    const struct workload_spec *spec = self->spec;
    struct workload_facts *facts = self->feed.facts;
    double span_s = time_to_seconds(facts->last_submit - facts->first_submit);
    uint32_t gpus = spec->load_gpus;
    if (gpus == 0 && self->feed.tables->cluster != NULL)
        gpus = self->feed.tables->cluster->gpu_count;
    facts->load_gpus = gpus;
    const double asked_gpu_s = facts->recorded.all.asked_gpu_s;
    if (span_s <= 0 || asked_gpu_s == 0 || gpus == 0)
        return error_new(ERROR_DATA,
                         "%s cannot be scaled to a load: its jobs ask no GPU time, are all submitted at "
                         "once, or the cluster has no GPUs",
                         spec->trace);
    const double too_many = asked_gpu_s / (span_s * gpus) / spec->load;
    if (spec->scales_durations)
        facts->duration_factor = 1 / too_many;
    else
        facts->arrival_factor = too_many;
    return ERROR_OK;
}

static struct error trace_judge(struct trace_feed *self)
{
    const struct workload_spec *spec = self->spec;
    struct workload_facts *facts = self->feed.facts;
    if (facts->job_count == 0)
        return error_new(ERROR_DATA, "%s holds no jobs%s%s", spec->trace,
                         workload_has_window(spec) ? " in the window" : "",
                         spec->sample.share > 0 || spec->growth.queues.count > 0 ? " that stay" : "");
    const struct queue_table *queues = self->feed.tables->queues;
    if (self->unnamed_count == facts->job_count)
        return known_queues_error(queues, queue_table_find(queues, TEXT("default")), "every job", spec->trace, 0);
    feed_count_end(&self->feed);
    self->origin = workload_has_window(spec) ? spec->window_from
                   : self->frozen.is_frozen  ? self->frozen.origin
                                             : facts->first_submit;
    facts->origin = self->origin;
    facts->is_filling = self->frozen.is_filling;
    if (facts->is_filling && spec->loop.is_closed)
        return error_new(ERROR_CONFIG, "%s fills the cluster, which is no closed loop", spec->trace);
    facts->arrival_factor = facts->duration_factor = 1;
    if (spec->load > 0)
        TRY(trace_scale(self));
    if (!is_filling(spec))
        facts->gpu_h_per_day = h_per_day(facts);
    return ERROR_OK;
}

/* Sort a long trace. */
static struct error trace_spill(struct trace_feed *self)
{
    struct trace_row row;
    bool has;
    self->spill = spill_new(0);
    while (true) {
        TRY(rows_next(&self->rows, &row, &has));
        if (!has)
            return trace_finish(self);
        TRY(spill_add(self->spill, &row.job, &row.truth));
    }
}

/* Go on with the jobs of blocks that are drawn.  The facts become theirs, except for the span of the submissions. */
static struct error trace_draw(struct trace_feed *self, uint64_t seed)
{
    const struct workload_spec *spec = self->spec;
    struct workload_facts *facts = self->feed.facts;
    const struct blocks_plan plan = {.kind = spec->blocks,
                                     .begin = self->origin,
                                     .end = workload_has_window(spec) ? spec->window_to : TIME_NEVER,
                                     .trace = spec->trace,
                                     .seed = seed};
    const time_ns first_submit = facts->first_submit, last_submit = facts->last_submit;
    TRY(blocks_draw(&self->held, &plan, self->feed.tables->users, &self->rows.arena, &self->copies));
    declared_set_copies(&self->feed.tables->declared, &self->copies);
    feed_count_again(&self->feed);
    ties_release(&self->ties);
    for (size_t i = 0; i < self->held.count; i++) {
        if (spec->shake.arrivals != 0)
            ties_add(&self->ties, (uint32_t)i, &self->held.jobs[i].job);
        feed_count(&self->feed, &self->held.jobs[i].job, &self->held.jobs[i].truth);
    }
    facts->first_submit = first_submit;
    facts->last_submit = last_submit;
    feed_count_end(&self->feed);
    facts->gpu_h_per_day = h_per_day(facts);
    self->is_sorted = true;
    return ERROR_OK;
}

/* ---- One job after another ---------------------------------------------------------------------- */

/* The next job of a trace that is read again, in the trace's time. */
static struct error read_again(struct trace_feed *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct trace_row row;
    *has = false;
    if (!self->is_finished)
        TRY(rows_next(&self->rows, &row, has));
    if (!*has)
        return self->is_finished ? ERROR_OK : trace_finish(self);
    if (row.job.submit < self->previous || row.job.submit < self->origin)
        return changed(self);
    *job = row.job;
    *truth = row.truth;
    self->place++;
    return ERROR_OK;
}

/* The next job in the order of submission, in the time of the run. */
static struct error take(struct trace_feed *self, struct job *job, struct job_truth *truth, bool *has)
{
    const struct workload_facts *facts = self->feed.facts;
    if (is_filling(self->spec)) {
        self->place = self->fill.next;
        *has = fill_next(&self->fill, job, truth);
        return ERROR_OK;
    }
    if (self->is_held) {
        self->place = held_place(&self->held);
        *has = held_next(&self->held, job, truth);
    } else if (self->spill != NULL) {
        arena_reset(&self->rows.arena);
        TRY(spill_next(self->spill, &self->rows.arena, job, truth, has));
        self->place = spill_place(self->spill);
    } else {
        TRY(read_again(self, job, truth, has));
    }
    if (!*has)
        return ERROR_OK;
    self->previous = job->submit;
    time_ns slack = job->deadline == TIME_NEVER ? TIME_NEVER : job->deadline - job->submit;
    job->submit = rows_scaled(job->submit - self->origin, facts->arrival_factor);
    job->deadline = slack == TIME_NEVER ? TIME_NEVER : job->submit + slack;
    if (facts->duration_factor != 1)
        rows_stretch_all(job, truth, facts->duration_factor, &self->rows.kept);
    return ERROR_OK;
}

/* ---- Shaking ------------------------------------------------------------------------------------ */

static struct error take_unshaken(void *feed, struct shake_job *out, bool *has)
{
    struct trace_feed *self = feed;
    TRY(take(self, &out->job, &out->truth, has));
    if (!*has)
        return ERROR_OK;
    out->place = self->place;
    out->group = ties_group(&self->ties, (uint32_t)self->place);
    out->first = ties_first(&self->ties, (uint32_t)out->group, out->job.submit);
    return ERROR_OK;
}

static struct shake *trace_shake_new(struct trace_feed *self, uint64_t seed)
{
    const struct workload_facts *facts = self->feed.facts;
    const time_ns last = rows_scaled(facts->last_submit - self->origin, facts->arrival_factor);
    const struct shake_from from = {.self = self,
                                    .next = take_unshaken,
                                    .kept = &self->rows.kept,
                                    .has_dependencies = self->ties.count > 0,
                                    .last = facts->is_filling ? last : TIME_NEVER};
    return shake_new(&self->spec->shake, &from, seed);
}

/* Turn the links of a closed loop, whose jobs are held, to the order in which the shaken jobs come.  That needs all of
 * them, so they are shaken twice. */
static struct error trace_shake_links(struct trace_feed *self, uint64_t seed, struct loop_link **links)
{
    struct shake *shake = trace_shake_new(self, seed);
    uint64_t *order = mem_zalloc(self->held.count, sizeof *order);
    struct job job;
    struct job_truth truth;
    struct error error = ERROR_OK;
    bool has = true;
    for (size_t i = 0; i < self->held.count && has && !error_is(error); i++) {
        error = shake_next(shake, &job, &truth, &has);
        order[i] = shake_order(shake);
    }
    if (!error_is(error))
        *links = loop_order(*links, order, self->held.count, &self->rows.kept);
    mem_free(order);
    shake_free(shake);
    self->held.next = 0;
    return error;
}

/* ---- The beginning ----------------------------------------------------------------------------- */

/* Go on in the order of submission.  A trace that is not held is read again. */
static struct error trace_order(struct trace_feed *self, uint64_t seed)
{
    if (self->spec->blocks != BLOCKS_NONE)
        TRY(trace_draw(self, seed));
    struct loop_link *links = NULL;
    if (self->spec->loop.is_closed)
        links = loop_find(&self->held, &self->spec->loop, self->spec->duration_scale, &self->rows.kept);
    if (!self->is_held && self->spill == NULL) {
        arena_reset(&self->rows.arena);
        TRY(trace_open(self));
        if (!self->is_sorted)
            TRY(trace_spill(self));
    }
    if (!self->is_sorted && self->is_held)
        held_sort(&self->held);
    self->previous = INT64_MIN;
    self->place = UINT64_MAX;
    if (links != NULL)
        links = loop_order(links, self->held.order, self->held.count, &self->rows.kept);
    if (links != NULL && shake_is_on(&self->spec->shake))
        TRY(trace_shake_links(self, seed, &links));
    self->feed.facts->loop = links;
    return ERROR_OK;
}

/* Go on in a random order.  The facts become those of the jobs that will be submitted. */
static struct error trace_fill(struct trace_feed *self, uint64_t seed)
{
    struct workload_facts *facts = self->feed.facts;
    struct job job;
    struct job_truth truth;
    TRY(fill_begin(&self->fill, &self->held, self->feed.tables->cluster, &self->spec->fill, self->spec->trace, seed));
    facts->is_filling = true;
    feed_count_again(&self->feed);
    while (fill_next(&self->fill, &job, &truth))
        feed_count(&self->feed, &job, &truth);
    feed_count_end(&self->feed);
    fill_rewind(&self->fill);
    self->origin = 0; /* filling makes its own times */
    return ERROR_OK;
}

static struct error trace_begin(struct trace_feed *self, uint64_t seed)
{
    TRY(trace_open(self));
    TRY(trace_scan(self));
    TRY(trace_judge(self));
    rows_close(&self->rows);
    if (self->spec->is_scanned)
        return ERROR_OK;
    TRY(is_filling(self->spec) ? trace_fill(self, seed) : trace_order(self, seed));
    if (shake_is_on(&self->spec->shake))
        self->shake = trace_shake_new(self, seed);
    return ERROR_OK;
}

static struct error trace_feed_next(struct feed *feed, struct job *job, struct job_truth *truth, bool *has)
{
    struct trace_feed *self = (struct trace_feed *)feed;
    return self->shake != NULL ? shake_next(self->shake, job, truth, has) : take(self, job, truth, has);
}

static struct error trace_feed_check(struct feed *feed)
{
    struct trace_feed *self = (struct trace_feed *)feed;
    return self->is_held || self->is_finished ? ERROR_OK : trace_finish(self);
}

/* How many rows of a trace a preview shows. */
static uint32_t preview_rows(const struct trace_feed *self)
{
    const uint32_t most = self->frozen.preview_jobs;
    return self->is_held ? (most != 0 ? most : UINT32_MAX) : most != 0 && most < PREVIEW_ROWS ? most : PREVIEW_ROWS;
}

/* Preview a trace that is not held, in the file's order.  It is then opened again from its beginning, unless its jobs
 * are sorted already. */
static struct error trace_preview(struct trace_feed *self, job_source_seen_fn *seen, void *listener)
{
    struct trace_row row;
    bool has;
    if (self->spill != NULL) {
        rows_close(&self->rows);
        TRY(trace_open(self));
    }
    for (uint32_t i = 0; i < preview_rows(self); i++) {
        TRY(rows_next(&self->rows, &row, &has));
        if (!has)
            break;
        seen(listener, &row.job, &row.truth);
    }
    rows_close(&self->rows);
    arena_reset(&self->rows.arena);
    return self->spill != NULL ? ERROR_OK : trace_open(self);
}

static struct error trace_feed_preview(struct feed *feed, job_source_seen_fn *seen, void *listener)
{
    struct trace_feed *self = (struct trace_feed *)feed;
    if (!self->is_held)
        return trace_preview(self, seen, listener);
    for (size_t i = 0; i < self->held.count && i < preview_rows(self); i++)
        seen(listener, &self->held.jobs[i].job, &self->held.jobs[i].truth);
    return ERROR_OK;
}

static void trace_feed_free(struct feed *feed)
{
    struct trace_feed *self = (struct trace_feed *)feed;
    shake_free(self->shake);
    ties_release(&self->ties);
    fill_release(&self->fill);
    held_release(&self->held);
    spill_free(self->spill);
    blocks_users_release(&self->copies);
    rows_release(&self->rows);
    side_files_release(&self->sides);
    mem_free(self);
}

static const struct feed_ops trace_feed_ops = {
    .next = trace_feed_next, .preview = trace_feed_preview, .check = trace_feed_check, .free = trace_feed_free};

struct error trace_feed_open(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                             struct workload_facts *facts, uint64_t seed)
{
    struct trace_feed *self = mem_zalloc(1, sizeof *self);
    self->feed = (struct feed){.ops = &trace_feed_ops, .tables = tables, .facts = facts};
    self->spec = spec;
    side_files_init(&self->sides, spec->tables, spec->table_count);
    facts->sides = &self->sides;
    rows_init(&self->rows, spec, tables, &self->sides, seed);
    *out = &self->feed;
    TRY(trace_begin(self, seed));
    self->feed.preview_max = self->frozen.preview_jobs;
    return ERROR_OK;
}
