#include "workloads/readers/source.h"

#include <assert.h>
#include <string.h>

#include "base/input.h"
#include "workloads/readers/declared.h"
#include "workloads/readers/fill.h"
#include "workloads/readers/freeze.h"
#include "workloads/readers/held.h"
#include "workloads/readers/reader.h"
#include "workloads/readers/spill.h"
#include "workloads/synth/synth.h"

/* Traces of at most HELD_MAX jobs are read once and kept (40 MB).  Longer ones are read again as a stream, by way of
 * a temporary file if they are not sorted, unless they are shaken, are drawn in blocks or fill a cluster. */
enum { HELD_MAX = 1 << 18 };

enum { HOURS_PER_DAY = 24 };

enum { PREVIEW_ROWS = 100000, PREVIEW_MADE = 4000 };

/* Milli-GPU nanoseconds as an integer, so that sums do not depend on the order. */
__extension__ typedef unsigned __int128 gpu_ns;

#define MILLI_NS_PER_GPU_S 1e12

struct job_source {
    const struct workload_spec *spec;
    const struct cluster *cluster;
    uint64_t seed;
    struct queue_table *queues;
    struct names *users;
    struct names *tags;
    struct names *classes;
    struct workload_facts facts;
    struct synth *synth;        /* NULL: a trace */
    job_source_next_fn *custom; /* NULL: a trace, or synth */
    void *custom_self;
    struct reader reader;  /* open while streaming or loading */
    struct arena arena;    /* holds what rows point to */
    struct node_asks asks; /* the jobs' constraints on nodes, kept until the end */
    struct declared declared;
    struct held held;
    struct spill *spill; /* jobs of a long trace that is not sorted; NULL: of none */
    struct blocks_users copies;
    struct fill fill;
    struct arrivals_print arrivals;
    bool keeps_arrivals;
    bool is_read;     /* the trace was opened before */
    bool is_held;     /* jobs come from `held`, not from the reader */
    bool is_sorted;   /* the trace's submissions never decrease */
    bool is_finished; /* the second reading has ended, and was of the same bytes */
    struct frozen_facts frozen;
    time_ns origin;   /* the trace's time that becomes 0 */
    time_ns previous; /* submission of the job before, in the trace's time */
    gpu_ns work;
    job_id next_id;
};

static bool has_window(const struct workload_spec *spec)
{
    return spec->window_from != 0 || spec->window_to != 0;
}

static bool is_filling(const struct workload_spec *spec)
{
    return spec->fill.load != 0;
}

static struct error changed(const struct job_source *source)
{
    struct error error = error_new(ERROR_DATA, "%s changed while it was read", source->spec->trace);
    error_set_hint(&error, "run again on a file that nobody writes to");
    return error;
}

static time_ns time_scaled(time_ns time, double factor)
{
    if (factor == 1 || time == TIME_NEVER)
        return time;
    return time_from_seconds(time_to_seconds(time) * factor);
}

/* ---- The first reading ------------------------------------------------------------------------- */

static void facts_add(struct job_source *source, const struct job *job, const struct job_truth *truth)
{
    struct workload_facts *facts = &source->facts;
    if (facts->job_count == 0)
        facts->first_submit = facts->last_submit = job->submit;
    if (job->submit < facts->first_submit)
        facts->first_submit = job->submit;
    if (job->submit > facts->last_submit)
        facts->last_submit = job->submit;
    facts->job_count++;
    source->work += (gpu_ns)job_asked_milli(job, source->cluster) * (uint64_t)truth->duration;
}

static void facts_finish(struct job_source *source)
{
    struct workload_facts *facts = &source->facts;
    facts->gpu_s = (double)source->work / MILLI_NS_PER_GPU_S;
    double span_s = time_to_seconds(facts->last_submit - facts->first_submit);
    uint32_t gpus = source->cluster != NULL ? source->cluster->gpu_count : 0;
    facts->load_recorded = span_s > 0 && gpus > 0 ? facts->gpu_s / (span_s * gpus) : 0;
}

/* The next row in the window, with its durations scaled. */
static struct error row_next(struct job_source *source, struct trace_row *row, bool *has)
{
    const struct workload_spec *spec = source->spec;
    double factor = spec->duration_scale != 0 ? spec->duration_scale : 1;
    do {
        if (!source->is_held)
            arena_reset(&source->arena);
        TRY(reader_next(&source->reader, row, has));
    } while (*has && has_window(spec) && (row->job.submit < spec->window_from || row->job.submit >= spec->window_to));
    row->truth.duration = time_scaled(row->truth.duration, factor);
    row->job.limit = time_scaled(row->job.limit, factor);
    row->job.estimate = time_scaled(row->job.estimate, factor);
    if (row->job.limit == 0)
        row->job.limit = TIME_NS_PER_US; /* scaling made it 0, which is no limit */
    return ERROR_OK;
}

static struct error trace_open(struct job_source *source)
{
    source->reader = (struct reader){
        .cluster = source->cluster,
        .queues = source->queues,
        .users = source->users,
        .asks = &source->asks,
        .communications = &source->declared.set,
        .tags = source->tags,
        .classes = source->classes,
        .arena = &source->arena,
        .is_again = source->is_read,
    };
    source->is_read = true;
    TRY(reader_open(&source->reader, source->spec));
    source->frozen = source->reader.frozen;
    return ERROR_OK;
}

/* The trace is too long to be kept.  If it is not sorted, sorting begins, so that no line is read twice. */
static struct error trace_let_go(struct job_source *source)
{
    source->is_held = false;
    source->spill = source->is_sorted ? NULL : spill_new(0);
    for (size_t i = 0; i < source->held.count && source->spill != NULL; i++)
        TRY(spill_add(source->spill, &source->held.jobs[i].job, &source->held.jobs[i].truth));
    held_release(&source->held);
    return ERROR_OK;
}

/* Read everything once: the facts, and whether it is sorted.  Keep the jobs of a short trace. */
static struct error trace_scan(struct job_source *source)
{
    struct trace_row row;
    bool has;
    const struct workload_spec *spec = source->spec;
    const bool is_kept = input_is_once(spec->trace) /* a pipe */ || is_filling(spec) || shake_is_on(&spec->shake) ||
                         spec->blocks != BLOCKS_NONE;
    const uint64_t held_max = spec->is_scanned ? 0 : is_kept ? JOB_NONE : HELD_MAX;
    source->is_held = true;
    source->is_sorted = true;
    while (true) {
        TRY(row_next(source, &row, &has));
        if (!has)
            break;
        if (source->facts.job_count != 0 && row.job.submit < source->previous)
            source->is_sorted = false;
        source->previous = row.job.submit;
        if (source->facts.job_count == JOB_NONE)
            return error_new(ERROR_DATA, "%s holds more than %u jobs", spec->trace, JOB_NONE);
        facts_add(source, &row.job, &row.truth);
        TRY(declared_check(&source->declared, &row.job, &row.truth, NULL));
        assert(row.job.submit < 0 || job_complaint(&row.job) == NULL);
        if (spec->scan.on_job != NULL)
            spec->scan.on_job(spec->scan.self, &row.job, &row.truth);
        if (source->is_held && source->facts.job_count > held_max)
            TRY(trace_let_go(source));
        if (source->is_held)
            held_add(&source->held, &row.job, &row.truth);
        else if (source->spill != NULL)
            TRY(spill_add(source->spill, &row.job, &row.truth));
    }
    source->is_finished = source->spill != NULL || spec->is_scanned;
    source->facts.bad_line_count = source->reader.bad_line_count;
    source->facts.skipped = source->reader.skipped;
    source->facts.requests = source->reader.requests;
    source->facts.format = source->reader.format->name;
    return input_finish_digest(source->reader.input, source->facts.digest);
}

/* A trace that was read again must have been the same. */
static struct error trace_finish(struct job_source *source)
{
    char digest[33];
    TRY(input_finish_digest(source->reader.input, digest));
    source->is_finished = true;
    return strcmp(digest, source->facts.digest) == 0 ? ERROR_OK : changed(source);
}

/* ---- Between the readings ---------------------------------------------------------------------- */

/* GPU hours that the trace's jobs ask for per day; 0: all jobs are submitted at once. */
static double recorded_h_per_day(const struct workload_facts *facts)
{
    double span_s = time_to_seconds(facts->last_submit - facts->first_submit);
    return span_s > 0 ? facts->gpu_s / span_s * HOURS_PER_DAY : 0;
}

/* Find the factor by which gaps between submissions grow, so that the jobs ask for the load that is set. */
static struct error trace_scale(struct job_source *source)
{
    const struct workload_spec *spec = source->spec;
    struct workload_facts *facts = &source->facts;
    double span_s = time_to_seconds(facts->last_submit - facts->first_submit);
    uint32_t gpus = spec->load_gpus;
    if (gpus == 0 && source->cluster != NULL)
        gpus = source->cluster->gpu_count;
    if (spec->load > 0)
        facts->load_gpus = gpus;
    if (span_s <= 0 || facts->gpu_s == 0 || (spec->load > 0 && gpus == 0))
        return error_new(ERROR_DATA,
                         "%s cannot be scaled to a load: its jobs ask no GPU time, are all submitted at "
                         "once, or the cluster has no GPUs",
                         spec->trace);
    facts->arrival_factor =
        spec->load > 0 ? facts->gpu_s / (span_s * gpus) / spec->load : recorded_h_per_day(facts) / spec->gpu_h_per_day;
    return ERROR_OK;
}

static struct error trace_judge(struct job_source *source)
{
    const struct workload_spec *spec = source->spec;
    struct workload_facts *facts = &source->facts;
    if (facts->job_count == 0)
        return error_new(ERROR_DATA, "%s holds no jobs%s", spec->trace, has_window(spec) ? " in the window" : "");
    facts_finish(source);
    source->origin = has_window(spec)           ? spec->window_from
                     : source->frozen.is_frozen ? source->frozen.origin
                                                : facts->first_submit;
    facts->origin = source->origin;
    facts->is_filling = source->frozen.is_filling;
    facts->arrival_factor = 1;
    if (spec->load > 0 || spec->gpu_h_per_day > 0)
        TRY(trace_scale(source));
    if (!is_filling(spec))
        facts->gpu_h_per_day = recorded_h_per_day(facts) / facts->arrival_factor;
    return ERROR_OK;
}

/* Sort a long trace. */
static struct error trace_spill(struct job_source *source)
{
    struct trace_row row;
    bool has;
    source->spill = spill_new(0);
    while (true) {
        TRY(row_next(source, &row, &has));
        if (!has)
            return trace_finish(source);
        TRY(spill_add(source->spill, &row.job, &row.truth));
    }
}

/* Go on with the jobs of blocks that are drawn.  The facts become theirs, except for the span of the submissions. */
static struct error trace_draw(struct job_source *source, uint64_t seed)
{
    const struct workload_spec *spec = source->spec;
    struct workload_facts *facts = &source->facts;
    const struct blocks_plan plan = {.kind = spec->blocks,
                                     .begin = source->origin,
                                     .end = has_window(spec) ? spec->window_to : TIME_NEVER,
                                     .trace = spec->trace,
                                     .seed = seed};
    const time_ns first_submit = facts->first_submit, last_submit = facts->last_submit;
    TRY(blocks_draw(&source->held, &plan, source->users, &source->arena, &source->copies));
    declared_set_copies(&source->declared, &source->copies);
    facts->job_count = 0;
    source->work = 0;
    for (size_t i = 0; i < source->held.count; i++)
        facts_add(source, &source->held.jobs[i].job, &source->held.jobs[i].truth);
    facts->first_submit = first_submit;
    facts->last_submit = last_submit;
    facts_finish(source);
    facts->gpu_h_per_day = recorded_h_per_day(facts) / facts->arrival_factor;
    source->is_sorted = true;
    return ERROR_OK;
}

/* Go on in the order of submission.  A trace that is not held is read again. */
static struct error trace_order(struct job_source *source, uint64_t seed)
{
    if (source->spec->blocks != BLOCKS_NONE)
        TRY(trace_draw(source, seed));
    if (shake_is_on(&source->spec->shake)) {
        shake_jobs(&source->held, &source->spec->shake, source->origin, seed);
        source->is_sorted = false;
    }
    if (!source->is_held && source->spill == NULL) {
        arena_reset(&source->arena);
        TRY(trace_open(source));
        if (!source->is_sorted)
            TRY(trace_spill(source));
    }
    if (!source->is_sorted && source->is_held)
        held_sort(&source->held);
    source->previous = INT64_MIN;
    return ERROR_OK;
}

/* Go on in a random order.  The facts become those of the jobs that will be submitted. */
static struct error trace_fill(struct job_source *source, uint64_t seed)
{
    struct workload_facts *facts = &source->facts;
    struct job job;
    struct job_truth truth;
    TRY(fill_begin(&source->fill, &source->held, source->cluster, &source->spec->fill, source->spec->trace, seed));
    facts->is_filling = true;
    facts->job_count = 0;
    source->work = 0;
    while (fill_next(&source->fill, &job, &truth))
        facts_add(source, &job, &truth);
    facts_finish(source);
    fill_rewind(&source->fill);
    return ERROR_OK;
}

static struct error trace_begin(struct job_source *source, uint64_t seed)
{
    TRY(trace_open(source));
    TRY(trace_scan(source));
    TRY(trace_judge(source));
    reader_close(&source->reader);
    return source->spec->is_scanned   ? ERROR_OK
           : is_filling(source->spec) ? trace_fill(source, seed)
                                      : trace_order(source, seed);
}

static struct error synth_begin(struct job_source *source, uint64_t seed)
{
    if (source->cluster == NULL || source->cluster->gpu_count == 0)
        return error_new(ERROR_CONFIG, "a synthesized workload needs a cluster with GPUs: its load is "
                                       "a share of them");
    const char *class_name = "";
    uint32_t index = 0;
    const char *complaint = synth_complaint(source->spec->synth, source->cluster, &class_name, &index);
    if (complaint != NULL)
        return error_new(ERROR_CONFIG, "size %u of the class '%s' cannot be: %s", index + 1, class_name, complaint);
    source->synth = synth_new(source->spec->synth, source->cluster, seed);
    synth_tenants(source->synth, source->queues);
    synth_classes(source->synth, source->classes);
    TRY(declared_check_synth(&source->declared, source->synth));
    source->facts.format = "synth";
    source->facts.arrival_factor = 1;
    source->facts.load_gpus = synth_load_gpus(source->synth);
    source->facts.gpu_h_per_day = synth_gpu_h_per_day(source->synth);
    return ERROR_OK;
}

/* ---- The stream -------------------------------------------------------------------------------- */

struct error job_source_open(struct job_source **out, const struct workload_spec *spec, const struct cluster *cluster,
                             uint64_t seed)
{
    return job_source_open_with(out, spec, cluster, seed, queue_table_new());
}

struct error job_source_open_with(struct job_source **out, const struct workload_spec *spec,
                                  const struct cluster *cluster, uint64_t seed, struct queue_table *queues)
{
    struct job_source *source = mem_zalloc(1, sizeof *source);
    assert((spec->trace != NULL) != (spec->synth != NULL));
    source->spec = spec;
    source->cluster = cluster;
    source->seed = seed;
    source->queues = queues;
    source->users = names_new();
    source->tags = names_new();
    source->classes = names_new();
    declared_init(&source->declared, &spec->communication, source->users, source->classes);
    source->facts.declared_by_row = source->declared.by_row;
    source->facts.declared_row_count = spec->communication.count;
    struct error error = spec->synth != NULL ? synth_begin(source, seed) : trace_begin(source, seed);
    *out = source;
    if (error_is(error)) {
        job_source_close(source);
        *out = NULL;
    }
    return error;
}

struct job_source *job_source_custom(job_source_next_fn *next, void *self)
{
    struct job_source *source = mem_zalloc(1, sizeof *source);
    source->queues = queue_table_new();
    source->users = names_new();
    source->tags = names_new();
    source->classes = names_new();
    source->custom = next;
    source->custom_self = self;
    source->facts.format = "custom";
    source->facts.arrival_factor = 1;
    return source;
}

static struct error trace_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has)
{
    if (is_filling(source->spec)) {
        *has = fill_next(&source->fill, job, truth);
        return ERROR_OK;
    }
    if (source->is_held) {
        *has = held_next(&source->held, job, truth);
    } else if (source->spill != NULL) {
        arena_reset(&source->arena);
        TRY(spill_next(source->spill, &source->arena, job, truth, has));
    } else {
        struct trace_row row;
        if (!source->is_finished)
            TRY(row_next(source, &row, has));
        if (!*has)
            return source->is_finished ? ERROR_OK : trace_finish(source);
        if (row.job.submit < source->previous || row.job.submit < source->origin)
            return changed(source);
        *job = row.job;
        *truth = row.truth;
    }
    if (!*has)
        return ERROR_OK;
    source->previous = job->submit;
    time_ns slack = job->deadline == TIME_NEVER ? TIME_NEVER : job->deadline - job->submit;
    job->submit = time_scaled(job->submit - source->origin, source->facts.arrival_factor);
    job->deadline = slack == TIME_NEVER ? TIME_NEVER : job->submit + slack;
    return ERROR_OK;
}

/* The next made-up job.  The facts grow with it. */
static struct error made_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has)
{
    if (source->custom != NULL)
        TRY(source->custom(source->custom_self, job, truth, has));
    else
        *has = synth_next(source->synth, job, truth);
    if (*has)
        facts_add(source, job, truth);
    else
        facts_finish(source);
    return ERROR_OK;
}

struct error job_source_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has)
{
    *has = false;
    if (source->next_id == JOB_NONE)
        return error_new(ERROR_DATA, "a run can have no more than %u jobs", JOB_NONE);
    if (source->synth != NULL || source->custom != NULL)
        TRY(made_next(source, job, truth, has));
    else
        TRY(trace_next(source, job, truth, has));
    if (!*has)
        return ERROR_OK;
    TRY(declared_add(&source->declared, job, truth, &source->facts));
    job->id = source->next_id++;
    if (source->keeps_arrivals)
        arrivals_print_add(&source->arrivals, source, job, truth);
    return ERROR_OK;
}

struct error job_source_check(struct job_source *source)
{
    if (source->spec == NULL || source->spec->trace == NULL || source->is_held || source->is_finished)
        return ERROR_OK;
    return trace_finish(source);
}

/* How many rows of a trace a preview shows. */
static uint32_t preview_rows(const struct job_source *source)
{
    const uint32_t most = source->frozen.preview_jobs;
    return source->is_held ? (most != 0 ? most : UINT32_MAX) : most != 0 && most < PREVIEW_ROWS ? most : PREVIEW_ROWS;
}

uint32_t job_source_preview_max(const struct job_source *source)
{
    return source->synth != NULL ? PREVIEW_MADE : source->frozen.preview_jobs;
}

/* Preview a trace that is not held, in the file's order.  It is then opened again from its beginning, unless its jobs
 * are sorted already. */
static struct error trace_preview(struct job_source *source, job_source_seen_fn *seen, void *self)
{
    struct trace_row row;
    bool has;
    if (source->spill != NULL) {
        reader_close(&source->reader);
        TRY(trace_open(source));
    }
    for (uint32_t i = 0; i < preview_rows(source); i++) {
        TRY(row_next(source, &row, &has));
        if (!has)
            break;
        seen(self, &row.job);
    }
    reader_close(&source->reader);
    arena_reset(&source->arena);
    return source->spill != NULL ? ERROR_OK : trace_open(source);
}

static void synth_preview(struct job_source *source, job_source_seen_fn *seen, void *self)
{
    struct synth *other = synth_new(source->spec->synth, source->cluster, source->seed);
    struct job job;
    struct job_truth truth;
    for (uint32_t i = 0; i < PREVIEW_MADE && synth_next(other, &job, &truth); i++) {
        /* a consumer may keep a request as long as the source lives */
        job.first.request.nodes = node_asks_own(&source->asks, job.first.request.nodes);
        seen(self, &job);
    }
    synth_free(other);
}

struct error job_source_preview(struct job_source *source, job_source_seen_fn *seen, void *self)
{
    assert(source->next_id == 0);
    if (source->custom != NULL)
        return ERROR_OK;
    if (source->synth != NULL)
        synth_preview(source, seen, self);
    else if (!source->is_held)
        return trace_preview(source, seen, self);
    for (size_t i = 0; i < source->held.count && i < preview_rows(source); i++)
        seen(self, &source->held.jobs[i].job);
    return ERROR_OK;
}

struct queue_table *job_source_queues(struct job_source *source)
{
    return source->queues;
}

const struct queue_table *job_source_queue_table(const struct job_source *source)
{
    return source->queues;
}

const struct names *job_source_tags(const struct job_source *source)
{
    return source->tags;
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
    return source->users;
}

const struct names *job_source_classes(const struct job_source *source)
{
    return source->classes;
}

const struct workload_facts *job_source_facts(const struct job_source *source)
{
    return &source->facts;
}

void job_source_close(struct job_source *source)
{
    if (source == NULL)
        return;
    reader_close(&source->reader);
    synth_free(source->synth);
    fill_release(&source->fill);
    held_release(&source->held);
    spill_free(source->spill);
    blocks_users_release(&source->copies);
    declared_release(&source->declared);
    arrivals_print_release(&source->arrivals);
    arena_release(&source->arena);
    node_asks_release(&source->asks);
    queue_table_free(source->queues);
    names_free(source->users);
    names_free(source->tags);
    names_free(source->classes);
    mem_free(source);
}
