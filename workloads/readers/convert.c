#include "workloads/readers/convert.h"

#include <inttypes.h>
#include <string.h>

#include "workloads/readers/job_columns.h"

enum { SWF_FAILED = 0, SWF_COMPLETED = 1, SWF_CANCELLED = 5 };

/* What is needed to see the jobs of a source. */
struct viewing {
    struct job job;
    struct job_truth truth;
    struct job_view view;
    struct job_ids ids;
    struct arena scratch;
    struct buffer text;
};

static void viewing_init(struct viewing *viewing, const struct job_source *source, const struct cluster *cluster)
{
    *viewing = (struct viewing){0};
    viewing->view = (struct job_view){.job = &viewing->job,
                                      .truth = &viewing->truth,
                                      .source = source,
                                      .cluster = cluster,
                                      .ids = job_source_facts(source)->has_ties ? &viewing->ids : NULL,
                                      .scratch = &viewing->scratch};
}

static struct error viewing_next(struct viewing *viewing, struct job_source *source, bool *has)
{
    arena_reset(&viewing->scratch);
    return job_source_next(source, &viewing->job, &viewing->truth, has);
}

static void viewing_release(struct viewing *viewing)
{
    job_ids_release(&viewing->ids);
    arena_release(&viewing->scratch);
    buffer_release(&viewing->text);
}

/* ---- native ---- */

static const enum native_field drawn_fields[] = {
    NATIVE_JOB_ID, NATIVE_SUBMIT, NATIVE_DURATION, NATIVE_GPUS,  NATIVE_NODES, NATIVE_GPU_FRACTION, NATIVE_CPUS,
    NATIVE_MEMORY, NATIVE_QUEUE,  NATIVE_USER,     NATIVE_CLASS, NATIVE_LIMIT, NATIVE_OUTCOME,
};

/* Bit i: the enum native_field i is a column.  A file with ids of other jobs costs memory to read, so it has them only
 * if some job may name another. */
static uint64_t fields_of(enum convert_columns columns, bool has_ties)
{
    uint64_t mask = 0;
    if (columns == CONVERT_DRAWN) {
        for (size_t i = 0; i < sizeof drawn_fields / sizeof drawn_fields[0]; i++)
            mask |= UINT64_C(1) << drawn_fields[i];
        return mask;
    }
    mask = (UINT64_C(1) << NATIVE_FIELD_COUNT) - 1 - (UINT64_C(1) << NATIVE_GPU_CLASS);
    return has_ties ? mask : mask & ~(UINT64_C(1) << NATIVE_AFTER);
}

/* The names of the columns. */
static void native_header(uint64_t fields, struct buffer *out)
{
    bool is_first = true;
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++) {
        if ((fields >> field & 1) == 0)
            continue;
        buffer_format(out, "%s%s", is_first ? "" : ",", native_columns[field].name);
        is_first = false;
    }
    buffer_char(out, '\n');
}

static struct error native_rows(struct job_source *source, const struct convert_form *form, struct viewing *viewing,
                                struct output *output, struct reason_tally *lost)
{
    const uint64_t fields = fields_of(form->columns, job_source_facts(source)->has_ties);
    struct buffer *out = output_buffer(output);
    bool has;
    if (!form->is_json)
        native_header(fields, out);
    while (true) {
        TRY(viewing_next(viewing, source, &has));
        if (!has)
            return ERROR_OK;
        if (!job_is_plain(&viewing->job)) {
            reason_tally_add(lost,
                             "jobs are left out: they have members of several kinds, or several members on pieces");
            continue;
        }
        if (form->columns == CONVERT_ALL)
            job_columns_lost(&viewing->view, JOBS_NATIVE, &viewing->text, lost);
        if (form->is_json)
            buffer_char(out, '{');
        job_columns_write(&viewing->view, fields, form->is_json, &viewing->text, out);
        buffer_string(out, form->is_json ? "}\n" : "\n");
        if (viewing->view.ids != NULL)
            job_ids_add(&viewing->ids, &viewing->job);
        TRY(output_flush_if_full(output));
    }
}

struct error convert_native(struct job_source *source, const struct cluster *cluster, const struct convert_form *form,
                            struct output *output, struct reason_tally *lost)
{
    struct viewing viewing;
    viewing_init(&viewing, source, cluster);
    struct error error = native_rows(source, form, &viewing, output, lost);
    viewing_release(&viewing);
    return error;
}

/* ---- SWF ---- */

/* The numbers of queues or users.  q12 has the number 12, as it is read; others get the next that is free.  Two names
 * have different numbers. */
struct numbering {
    char letter;
    int64_t *number_of; /* by id; -1: none so far */
    size_t capacity, count;
    struct names *taken; /* the numbers, as texts */
    int64_t next;
};

static bool numbering_take(struct numbering *numbering, int64_t number)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%" PRId64, number);
    const struct text name = {text, (size_t)length};
    if (numbering->taken == NULL)
        numbering->taken = names_new();
    if (names_find(numbering->taken, name) != NAMES_NONE)
        return false;
    names_add(numbering->taken, name);
    return true;
}

static int64_t number_of(struct numbering *numbering, uint32_t id, const char *name)
{
    MEM_GROW(numbering->number_of, numbering->capacity, (size_t)id + 1);
    while (numbering->count <= id)
        numbering->number_of[numbering->count++] = -1;
    int64_t *number = &numbering->number_of[id];
    if (*number >= 0)
        return *number;
    *number = job_name_number(name, numbering->letter);
    if (*number >= 0 && numbering_take(numbering, *number))
        return *number;
    do
        *number = ++numbering->next;
    while (!numbering_take(numbering, *number));
    return *number;
}

static void numbering_release(struct numbering *numbering)
{
    mem_free(numbering->number_of);
    names_free(numbering->taken);
}

struct swf {
    struct viewing viewing;
    struct numbering queues, users;
    bool keeps_ids; /* the first job has a number that may be one of SWF */
    int64_t last;   /* the largest number so far */
};

/* Seconds or -1. */
static void swf_time(struct buffer *out, time_ns time)
{
    buffer_char(out, ' ');
    if (time == TIME_NEVER)
        buffer_string(out, "-1");
    else
        buffer_scaled(out, time, TIME_NS_PER_S);
}

static int64_t swf_number(struct swf *swf, const struct job *job)
{
    const bool has_own = job->name == NULL && job->trace_id >= 0 && job->trace_id < INT64_MAX;
    swf->keeps_ids = swf->last == 0 ? has_own : swf->keeps_ids;
    const int64_t number = swf->keeps_ids && has_own ? job->trace_id : swf->last + 1;
    swf->last = number > swf->last ? number : swf->last;
    return number;
}

static void swf_row(struct swf *swf, struct reason_tally *lost, struct buffer *out)
{
    const struct job *job = &swf->viewing.job;
    const struct job_truth *truth = &swf->viewing.truth;
    const struct job_source *source = swf->viewing.view.source;
    const int64_t gpus = (job_gpu_milli(job) + GPU_MILLI - 1) / GPU_MILLI;
    const int status = truth->outcome == OUTCOME_FAILED      ? SWF_FAILED
                       : truth->outcome == OUTCOME_CANCELLED ? SWF_CANCELLED
                                                             : SWF_COMPLETED;
    const char *queue = job_source_queue_table(source)->queues[job->queue].name;
    const int64_t number = swf_number(swf, job);
    if (!swf->keeps_ids && job->name == NULL && job->trace_id != number)
        reason_tally_add(lost, "jobs lose their id: they are numbered");
    buffer_format(out, "%" PRId64, number);
    swf_time(out, job->submit);
    swf_time(out, truth->recorded_wait);
    swf_time(out, truth->duration);
    buffer_format(out, " %" PRId64 " -1 -1 %" PRId64, gpus, gpus);
    swf_time(out, job->limit);
    const int64_t user = job->user == NAMES_NONE
                             ? -1
                             : number_of(&swf->users, job->user, names_text(job_source_users(source), job->user));
    const int64_t queue_number = strcmp(queue, "default") == 0 ? -1 : number_of(&swf->queues, job->queue, queue);
    buffer_format(out, " -1 %d %" PRId64 " -1 -1 %" PRId64 " -1 -1 -1\n", status, user, queue_number);
}

/* The header's fields are those of the standard; it may hold comments at its end, too.  Queues with names of their own
 * are told there. */
static void swf_names(struct swf *swf, struct buffer *out)
{
    const struct queue_table *queues = job_source_queue_table(swf->viewing.view.source);
    for (uint32_t q = 1; q < queues->count && q < swf->queues.count; q++) {
        if (swf->queues.number_of[q] < 0 || job_name_number(queues->queues[q].name, 'q') == swf->queues.number_of[q])
            continue;
        buffer_format(out, "; Queue: %" PRId64 " ", swf->queues.number_of[q]);
        buffer_json(out, text_of(queues->queues[q].name));
        buffer_char(out, '\n');
    }
}

static struct error swf_rows(struct job_source *source, struct swf *swf, struct output *output,
                             struct reason_tally *lost)
{
    bool has;
    while (true) {
        TRY(viewing_next(&swf->viewing, source, &has));
        if (!has)
            return ERROR_OK;
        if (job_gpu_milli(&swf->viewing.job) == 0) {
            reason_tally_add(lost, "jobs are left out: they have no GPU");
            continue;
        }
        job_columns_lost(&swf->viewing.view, JOBS_SWF, &swf->viewing.text, lost);
        swf_row(swf, lost, output_buffer(output));
        TRY(output_flush_if_full(output));
    }
}

struct error convert_swf(struct job_source *source, const struct cluster *cluster, struct output *output,
                         struct reason_tally *lost)
{
    struct swf swf = {.queues = {.letter = 'q'}, .users = {.letter = 'u'}};
    viewing_init(&swf.viewing, source, cluster);
    swf.viewing.view.ids = NULL;
    buffer_format(output_buffer(output),
                  "; Version: 2.2\n; UnixStartTime: %" PRId64 "\n; Note: a processor is a GPU\n"
                  "; Note: names of queues are at the end\n",
                  job_source_facts(source)->first_submit / TIME_NS_PER_S);
    struct error error = swf_rows(source, &swf, output, lost);
    if (!error_is(error))
        swf_names(&swf, output_buffer(output));
    viewing_release(&swf.viewing);
    numbering_release(&swf.queues);
    numbering_release(&swf.users);
    return error;
}
