#include "workloads/readers/merge_feed.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "workloads/readers/job_ids.h"

/* A part, and what its numbers are here. */
struct part {
    struct job_source *source; /* borrowed */
    const struct workload_part *plan;
    queue_id *queue_of;
    uint32_t *user_of, *tag_of, *class_of;
    job_id *place_of; /* by job of the part, if it is a trace: its place in the stream */
    size_t place_capacity;
    struct job job; /* the next, with our numbers but for its dependencies */
    struct job_truth truth;
    bool has_job;
    struct arena arena;                    /* holds the name of the next job */
    struct job_tags tags;                  /* of the next job */
    struct job_after after[JOB_AFTER_MAX]; /* of the job that was given last */
};

struct merge_feed {
    struct feed feed;
    struct part *parts;
    uint32_t part_count;
    uint32_t given; /* the part whose job was given last; part_count: none yet */
    job_id next_place;
    struct blocks_users copies;
};

/* ---- Tables ---- */

static struct text with_prefix(struct buffer *out, const char *prefix, const char *name)
{
    out->length = 0;
    buffer_string(out, prefix);
    buffer_string(out, name);
    return (struct text){out->bytes, out->length};
}

/* The queue of this name; a new one is as the part has it, below the queue that its parent became. */
static queue_id queue_take(struct queue_table *to, const struct queue_spec *spec, queue_id parent, struct text name)
{
    const queue_id known = queue_table_find(to, name);
    if (known != QUEUE_NONE)
        return known;
    const queue_id id = queue_table_add(to, name, parent);
    const char *own_name = to->queues[id].name;
    to->queues[id] = *spec;
    to->queues[id].name = own_name;
    to->queues[id].parent = parent;
    return id;
}

static void take_queues(struct part *part, struct queue_table *to)
{
    const struct queue_table *from = job_source_queue_table(part->source);
    struct buffer name = {0};
    part->queue_of = mem_zalloc(from->count, sizeof *part->queue_of);
    part->queue_of[QUEUE_ROOT] = QUEUE_ROOT;
    for (queue_id q = QUEUE_ROOT + 1; q < from->count; q++)
        part->queue_of[q] = queue_take(to, &from->queues[q], part->queue_of[from->queues[q].parent],
                                       with_prefix(&name, part->plan->prefix, from->queues[q].name));
    buffer_release(&name);
}

/* The numbers that the names have in `to`, where they get the prefix. */
static uint32_t *take_names(struct names *to, const struct names *from, const char *prefix)
{
    struct buffer name = {0};
    const uint32_t count = names_count(from);
    uint32_t *number_of = mem_zalloc(count + 1, sizeof *number_of);
    for (uint32_t i = 0; i < count; i++)
        number_of[i] = names_add(to, with_prefix(&name, prefix, names_text(from, i)));
    buffer_release(&name);
    return number_of;
}

/* A user that `blocks` made stands for another user of its part. */
static void take_copies(struct merge_feed *self, const struct part *part)
{
    const struct blocks_users *copies = job_source_copies(part->source);
    const uint32_t users = names_count(self->feed.tables->users);
    self->copies.original = mem_resize(self->copies.original, users + 1, sizeof *self->copies.original);
    for (size_t u = self->copies.count; u < users; u++)
        self->copies.original[u] = (uint32_t)u;
    self->copies.count = users;
    for (size_t u = 0; copies != NULL && u < copies->count; u++)
        self->copies.original[part->user_of[u]] = part->user_of[copies->original[u]];
}

static struct error take_tables(struct merge_feed *self, struct part *part)
{
    struct job_tables *tables = self->feed.tables;
    take_queues(part, tables->queues);
    part->user_of = take_names(tables->users, job_source_users(part->source), part->plan->prefix);
    part->tag_of = take_names(tables->tags, job_source_tags(part->source), "");
    part->class_of = take_names(tables->classes, job_source_classes(part->source), "");
    take_copies(self, part);
    if (names_count(tables->classes) > WORKLOAD_CLASSES_MAX)
        return error_new(ERROR_CONFIG, "the parts of the merge have %u workload classes; at most %d are possible",
                         names_count(tables->classes), WORKLOAD_CLASSES_MAX);
    return ERROR_OK;
}

/* ---- Facts ---- */

static void add_facts(struct workload_facts *facts, const struct part *part, uint32_t index)
{
    const struct workload_facts *own = job_source_facts(part->source);
    const double span_s = time_to_seconds(own->last_submit - own->first_submit) * own->arrival_factor;
    const time_ns end = time_after(part->plan->offset, time_from_seconds(span_s));
    facts->bad_line_count += own->bad_line_count;
    facts->guessed_hours += own->guessed_hours;
    facts->requests.count += own->requests.count;
    facts->requests.prompt_tokens += own->requests.prompt_tokens;
    facts->requests.output_tokens += own->requests.output_tokens;
    reason_tally_join(&facts->skipped, &own->skipped);
    reason_tally_join(&facts->unread, &own->unread);
    facts->has_ties = facts->has_ties || own->has_ties;
    facts->gpu_h_per_day += own->gpu_h_per_day;
    facts->last_submit = end > facts->last_submit ? end : facts->last_submit; /* until the jobs tell it */
    facts->load_gpus = index == 0 || facts->load_gpus == own->load_gpus ? own->load_gpus : 0;
}

/* ---- Jobs ---- */

static const struct job_tags *turn_tags(struct part *part, const struct job_tags *tags)
{
    part->tags = *tags;
    for (uint32_t t = 0; t < tags->tag_count; t++)
        part->tags.tags[t] = part->tag_of[tags->tags[t]];
    for (uint32_t r = 0; r < tags->rule_count; r++)
        part->tags.rules[r].tag = part->tag_of[tags->rules[r].tag];
    return &part->tags;
}

/* The id of the job with the prefix, so that ids of parts differ. */
static const char *name_of(struct part *part, const struct job *job)
{
    struct buffer name = {0};
    buffer_string(&name, part->plan->prefix);
    job_id_put(job, &name);
    const char *kept = arena_copy(&part->arena, (struct text){name.bytes, name.length});
    buffer_release(&name);
    return kept;
}

/* Give the job of a part our numbers, but not its dependencies. */
static void turn(const struct merge_feed *self, struct part *part, struct job *job, struct job_truth *truth)
{
    const uint32_t index = (uint32_t)(part - self->parts);
    arena_reset(&part->arena);
    if (part->plan->prefix[0] != '\0')
        job->name = name_of(part, job);
    job->queue = part->queue_of[job->queue];
    job->user = job->user != NAMES_NONE ? part->user_of[job->user] : NAMES_NONE;
    job->submit = time_after(job->submit, part->plan->offset);
    if (job->deadline != TIME_NEVER)
        job->deadline = time_after(job->deadline, part->plan->offset);
    if (job->array != 0)
        job->array = (job->array - 1) * self->part_count + index + 1;
    if (job->tags != NULL)
        job->tags = turn_tags(part, job->tags);
    if (truth->workload_class != 0)
        truth->workload_class = (uint8_t)(part->class_of[truth->workload_class - 1] + 1);
}

static struct error refill(struct merge_feed *self, struct part *part)
{
    TRY(job_source_next(part->source, &part->job, &part->truth, &part->has_job));
    if (part->has_job)
        turn(self, part, &part->job, &part->truth);
    return ERROR_OK;
}

static void turn_after(struct part *part, struct job *job)
{
    for (uint32_t a = 0; a < job->after_count; a++) {
        part->after[a] = job->after[a];
        part->after[a].job = part->place_of[job->after[a].job];
    }
    if (job->after_count > 0)
        job->after = part->after;
}

static struct part *first_part(const struct merge_feed *self)
{
    struct part *first = NULL;
    for (uint32_t p = 0; p < self->part_count; p++)
        if (self->parts[p].has_job && (first == NULL || self->parts[p].job.submit < first->job.submit))
            first = &self->parts[p];
    return first;
}

/* The job that was given last was borrowed until now. */
static struct error merge_feed_next(struct feed *feed, struct job *job, struct job_truth *truth, bool *has)
{
    struct merge_feed *self = (struct merge_feed *)feed;
    for (uint32_t p = 0; p < self->part_count; p++)
        if (self->given == self->part_count || self->given == p)
            TRY(refill(self, &self->parts[p]));
    struct part *part = first_part(self);
    *has = part != NULL;
    if (part == NULL) {
        feed_count_end(feed);
        return ERROR_OK;
    }
    self->given = (uint32_t)(part - self->parts);
    *job = part->job;
    *truth = part->truth;
    turn_after(part, job);
    if (part->plan->spec.trace != NULL) {
        MEM_GROW(part->place_of, part->place_capacity, (size_t)job->id + 1);
        part->place_of[job->id] = self->next_place;
    }
    self->next_place++;
    feed_count(feed, job, truth);
    return ERROR_OK;
}

/* ---- The feed ---- */

struct preview {
    const struct merge_feed *self;
    struct part *part;
    job_source_seen_fn *seen;
    void *listener;
};

static void on_seen(void *self, const struct job *seen, const struct job_truth *seen_truth)
{
    const struct preview *preview = self;
    struct job job = *seen;
    struct job_truth truth = *seen_truth;
    turn(preview->self, preview->part, &job, &truth);
    preview->seen(preview->listener, &job, &truth);
}

static struct error merge_feed_preview(struct feed *feed, job_source_seen_fn *seen, void *listener)
{
    struct merge_feed *self = (struct merge_feed *)feed;
    for (uint32_t p = 0; p < self->part_count; p++) {
        struct preview preview = {self, &self->parts[p], seen, listener};
        TRY(job_source_preview(self->parts[p].source, on_seen, &preview));
    }
    return ERROR_OK;
}

static struct error merge_feed_check(struct feed *feed)
{
    struct merge_feed *self = (struct merge_feed *)feed;
    for (uint32_t p = 0; p < self->part_count; p++)
        TRY(job_source_check(self->parts[p].source));
    return ERROR_OK;
}

static void merge_feed_free(struct feed *feed)
{
    struct merge_feed *self = (struct merge_feed *)feed;
    for (uint32_t p = 0; p < self->part_count; p++) {
        arena_release(&self->parts[p].arena);
        mem_free(self->parts[p].queue_of);
        mem_free(self->parts[p].user_of);
        mem_free(self->parts[p].tag_of);
        mem_free(self->parts[p].class_of);
        mem_free(self->parts[p].place_of);
    }
    mem_free(self->parts);
    blocks_users_release(&self->copies);
    mem_free(self);
}

static const struct feed_ops merge_feed_ops = {
    .next = merge_feed_next, .preview = merge_feed_preview, .check = merge_feed_check, .free = merge_feed_free};

struct feed *merge_feed_new(uint32_t part_count, struct job_tables *tables, struct workload_facts *facts)
{
    struct merge_feed *self = mem_zalloc(1, sizeof *self);
    self->feed = (struct feed){.ops = &merge_feed_ops, .tables = tables, .facts = facts};
    self->part_count = self->given = part_count;
    self->parts = mem_zalloc(part_count, sizeof *self->parts);
    feed_count_again(&self->feed);
    facts->format = "merge";
    facts->arrival_factor = facts->duration_factor = 1;
    declared_set_copies(&tables->declared, &self->copies);
    return &self->feed;
}

struct error merge_feed_take(struct feed *feed, uint32_t index, const struct workload_part *plan,
                             struct job_source *source)
{
    struct merge_feed *self = (struct merge_feed *)feed;
    struct part *part = &self->parts[index];
    part->plan = plan;
    part->source = source;
    TRY(take_tables(self, part));
    add_facts(feed->facts, part, index);
    return ERROR_OK;
}
