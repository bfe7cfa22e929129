#include "workloads/readers/convert.h"

#include <inttypes.h>

#include "workloads/readers/native_row.h"
#include "workloads/request/ask.h"

enum { MIB_PER_GB = 1024, SWF_FAILED = 0, SWF_COMPLETED = 1, SWF_CANCELLED = 5 };

/* ---- native ---- */

/* In the order of the columns. */
static const enum native_field all_fields[] = {
    NATIVE_JOB_ID,
    NATIVE_SUBMIT,
    NATIVE_DURATION,
    NATIVE_GPUS,
    NATIVE_NODES,
    NATIVE_GPU_FRACTION,
    NATIVE_GPU_MEMORY,
    NATIVE_MIG,
    NATIVE_CPUS,
    NATIVE_MEMORY,
    NATIVE_MIN_MEMBERS,
    NATIVE_GPU_MODEL,
    NATIVE_QUEUE,
    NATIVE_USER,
    NATIVE_CLASS,
    NATIVE_WORKLOAD_CLASS,
    NATIVE_PRIORITY,
    NATIVE_PREEMPTIBLE,
    NATIVE_LIMIT,
    NATIVE_ESTIMATE,
    NATIVE_DEADLINE,
    NATIVE_OUTCOME,
    NATIVE_WAIT,
    NATIVE_SM_ACTIVE,
    NATIVE_MEMORY_BANDWIDTH,
    NATIVE_WOULD_DO,
    NATIVE_CHECKPOINT_INTERVAL,
    NATIVE_CHECKPOINT_DURATION,
    NATIVE_RESTART,
    NATIVE_FAILED,
};

static const enum native_field drawn_fields[] = {
    NATIVE_JOB_ID, NATIVE_SUBMIT, NATIVE_DURATION, NATIVE_GPUS,  NATIVE_NODES, NATIVE_GPU_FRACTION, NATIVE_CPUS,
    NATIVE_MEMORY, NATIVE_QUEUE,  NATIVE_USER,     NATIVE_CLASS, NATIVE_LIMIT, NATIVE_OUTCOME,
};

struct row {
    struct buffer *out;
    uint64_t fields; /* bit i: the enum native_field i is a column */
    bool is_json, is_first;
};

static uint64_t fields_of(enum convert_columns columns)
{
    const enum native_field *fields = columns == CONVERT_DRAWN ? drawn_fields : all_fields;
    const size_t count = columns == CONVERT_DRAWN ? sizeof drawn_fields / sizeof drawn_fields[0]
                                                  : sizeof all_fields / sizeof all_fields[0];
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++)
        mask |= UINT64_C(1) << fields[i];
    return mask;
}

/* The names of the columns. */
static void native_header(struct row *row)
{
    for (size_t i = 0; i < sizeof all_fields / sizeof all_fields[0]; i++)
        if (row->fields >> all_fields[i] & 1)
            buffer_format(row->out, "%s%s", i > 0 ? "," : "", native_columns[all_fields[i]].name);
    buffer_char(row->out, '\n');
}

/* Begin the next column; a value that is absent is empty in CSV, and left out of JSON.  False: nothing follows. */
static bool begin(struct row *row, enum native_field field, bool has)
{
    if (!(row->fields >> field & 1) || (!has && row->is_json))
        return false;
    if (!row->is_first)
        buffer_char(row->out, ',');
    row->is_first = false;
    if (row->is_json)
        buffer_format(row->out, "\"%s\":", native_columns[field].name);
    return has;
}

static void put_scaled(struct row *row, enum native_field field, int64_t value, int64_t scale, bool has)
{
    if (begin(row, field, has))
        buffer_scaled(row->out, value, scale);
}

/* A time, or nothing where it is the usual one. */
static void put_time(struct row *row, enum native_field field, time_ns time, time_ns usual)
{
    put_scaled(row, field, time, TIME_NS_PER_S, time != usual);
}

static void put_text(struct row *row, enum native_field field, struct text text)
{
    if (!begin(row, field, text.at != NULL))
        return;
    if (row->is_json)
        buffer_json(row->out, text);
    else
        buffer_csv(row->out, text);
}

static void put_name(struct row *row, enum native_field field, const char *name)
{
    put_text(row, field, name != NULL ? text_of(name) : (struct text){NULL, 0});
}

static void put_count(struct row *row, enum native_field field, uint64_t count)
{
    put_scaled(row, field, (int64_t)count, 1, count != 0);
}

/* As many millionths of a GB as field_mib reads as these MiB. */
static void put_mib(struct row *row, enum native_field field, uint64_t mib)
{
    put_scaled(row, field, (int64_t)mib * 1000000 / MIB_PER_GB, 1000000, mib != 0);
}

static void put_share(struct row *row, enum native_field field, uint32_t milli, uint32_t usual)
{
    put_scaled(row, field, milli, GPU_MILLI, milli != usual);
}

static bool is_piece(const struct request *request)
{
    return request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

/* Can a row say how the members are?  Several members of pieces, and several kinds of members, it cannot. */
static bool is_plain(const struct job *job)
{
    return job->group_count == 1 && (job->first.count == 1 || !is_piece(&job->first.request));
}

static void native_lost(const struct job *job, struct reason_tally *lost)
{
    if (job->set_count != 0 || job->topology.required != 0 || job->topology.preferred != 0 ||
        job->first.slice_members != 0 || job->first.request.one_island)
        reason_tally_add(lost, "jobs lose where their members must be together");
    if (job->tags != NULL)
        reason_tally_add(lost, "jobs lose their tags, affinity and anti-affinity");
    if (job->first.request.nodes != NULL)
        reason_tally_add(lost, "jobs lose their constraints on nodes");
    if (job->after_count != 0)
        reason_tally_add(lost, "jobs lose the jobs on which they depend");
    if (job->array != 0)
        reason_tally_add(lost, "jobs lose the array to which they belong");
    if (job->communication != NULL)
        reason_tally_add(lost, "jobs lose what they exchange");
    if (job->objects != NULL)
        reason_tally_add(lost, "jobs lose the image, weights and data that they pull");
}

static void put_models(struct row *row, const struct cluster *cluster, uint64_t models)
{
    struct buffer names = {0};
    if (begin(row, NATIVE_GPU_MODEL, models != 0 || !row->is_json)) {
        ask_models_write(cluster, models, row->is_json ? &names : row->out);
        if (row->is_json)
            buffer_json(row->out, (struct text){names.bytes, names.length});
    }
    buffer_release(&names);
}

static void native_request(struct row *row, const struct cluster *cluster, const struct job *job)
{
    const struct job_group *group = &job->first;
    const struct request *request = &group->request;
    const bool needs_no_nodes = is_piece(request) || (request->gpus == 1 && group->count > 1);
    const uint64_t gpus = request->gpu_milli != 0 ? 1 : (uint64_t)request->gpus * group->count;
    put_scaled(row, NATIVE_GPUS, (int64_t)gpus, 1, true);
    put_count(row, NATIVE_NODES, needs_no_nodes ? 0 : group->count);
    put_share(row, NATIVE_GPU_FRACTION, request->gpu_milli, 0);
    put_mib(row, NATIVE_GPU_MEMORY, request->gpu_memory_mib);
    put_name(row, NATIVE_MIG, request->mig != 0 ? ask_mig_name(cluster, request) : NULL);
    put_scaled(row, NATIVE_CPUS, (int64_t)request->cpu_milli * group->count, GPU_MILLI, request->cpu_milli != 0);
    put_mib(row, NATIVE_MEMORY, (uint64_t)request->memory_mib * group->count);
    put_count(row, NATIVE_MIN_MEMBERS, group->min_count != group->count ? group->min_count : 0);
    put_models(row, cluster, request->gpu_models);
}

static void put_failures(struct row *row, const struct job_failures *failures)
{
    if (!begin(row, NATIVE_FAILED, failures != NULL))
        return;
    const char *quote = row->is_json ? "\"" : "";
    buffer_string(row->out, quote);
    native_failures_write(failures, row->out);
    buffer_string(row->out, quote);
}

static void native_facts(struct row *row, const struct job_source *source, const struct job *job,
                         const struct job_truth *truth)
{
    put_name(row, NATIVE_QUEUE, job_source_queue_table(source)->queues[job->queue].name);
    put_name(row, NATIVE_USER, job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : NULL);
    put_name(row, NATIVE_CLASS, job_class_names[job->class]);
    put_name(row, NATIVE_WORKLOAD_CLASS,
             truth->workload_class != 0 ? names_text(job_source_classes(source), truth->workload_class - 1u) : NULL);
    put_scaled(row, NATIVE_PRIORITY, job->priority, 1, true);
    if (begin(row, NATIVE_PREEMPTIBLE, !job->is_firm_by_priority))
        buffer_string(row->out, job->is_preemptible ? "true" : "false");
    put_time(row, NATIVE_LIMIT, job->limit, TIME_NEVER);
    put_time(row, NATIVE_ESTIMATE, job->estimate, TIME_NEVER);
    put_time(row, NATIVE_DEADLINE, job->deadline, TIME_NEVER);
    put_name(row, NATIVE_OUTCOME, job_outcome_names[truth->outcome]);
    put_time(row, NATIVE_WAIT, truth->recorded_wait, TIME_NEVER);
    put_share(row, NATIVE_SM_ACTIVE, truth->sm_active_milli, SM_ACTIVE_UNKNOWN);
    put_share(row, NATIVE_MEMORY_BANDWIDTH, truth->bandwidth_milli, 0);
    put_share(row, NATIVE_WOULD_DO, truth->would_do_milli, GPU_MILLI);
    put_time(row, NATIVE_CHECKPOINT_INTERVAL, job->checkpoint.interval, 0);
    put_time(row, NATIVE_CHECKPOINT_DURATION, job->checkpoint.duration, 0);
    put_time(row, NATIVE_RESTART, job->checkpoint.restart, 0);
    put_failures(row, truth->failures);
}

static void native_row(struct row *row, const struct job_source *source, const struct cluster *cluster,
                       const struct job *job, const struct job_truth *truth)
{
    row->is_first = true;
    if (row->is_json)
        buffer_char(row->out, '{');
    if (job->name != NULL)
        put_text(row, NATIVE_JOB_ID, text_of(job->name));
    else
        put_scaled(row, NATIVE_JOB_ID, job->trace_id, 1, true);
    put_scaled(row, NATIVE_SUBMIT, job->submit, TIME_NS_PER_S, true);
    put_scaled(row, NATIVE_DURATION, truth->duration, TIME_NS_PER_S, true);
    native_request(row, cluster, job);
    native_facts(row, source, job, truth);
    buffer_string(row->out, row->is_json ? "}\n" : "\n");
}

struct error convert_native(struct job_source *source, const struct cluster *cluster, const struct convert_form *form,
                            struct output *output, struct reason_tally *lost)
{
    struct job job;
    struct job_truth truth;
    struct row row = {.out = output_buffer(output), .fields = fields_of(form->columns), .is_json = form->is_json};
    bool has;
    if (!row.is_json)
        native_header(&row);
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            return ERROR_OK;
        if (!is_plain(&job)) {
            reason_tally_add(lost,
                             "jobs are left out: they have members of several kinds, or several members on pieces");
            continue;
        }
        native_lost(&job, lost);
        native_row(&row, source, cluster, &job, &truth);
        TRY(output_flush_if_full(output));
    }
}

/* ---- SWF ---- */

static void swf_lost(const struct job *job, struct reason_tally *lost)
{
    if (job->set_count != 0 || job->group_count > 1 || job->first.request.gpus > 1 ||
        (job->first.count > 1 && job->first.min_count != job->first.count))
        reason_tally_add(lost, "jobs lose how their GPUs lie on nodes");
    if (job_gpu_milli(job) % GPU_MILLI != 0)
        reason_tally_add(lost, "jobs on a part of a GPU become jobs on a whole one");
    if (job->first.request.gpu_models != 0)
        reason_tally_add(lost, "jobs lose the GPU models that they accept");
    if (job->class != JOB_TRAINING || job->priority != job_default().priority)
        reason_tally_add(lost, "jobs lose their class or priority");
    if (job->estimate != TIME_NEVER || job->deadline != TIME_NEVER)
        reason_tally_add(lost, "jobs lose their estimate or deadline");
    if (job->after_count != 0)
        reason_tally_add(lost, "jobs lose the jobs on which they depend");
    if (job->name != NULL)
        reason_tally_add(lost, "jobs lose their name: they are numbered");
}

/* Seconds or -1. */
static void swf_time(struct buffer *out, time_ns time)
{
    buffer_char(out, ' ');
    if (time == TIME_NEVER)
        buffer_string(out, "-1");
    else
        buffer_scaled(out, time, TIME_NS_PER_S);
}

static void swf_row(struct buffer *out, uint64_t number, const struct job *job, const struct job_truth *truth)
{
    const int64_t gpus = (job_gpu_milli(job) + GPU_MILLI - 1) / GPU_MILLI;
    const int status = truth->outcome == OUTCOME_FAILED      ? SWF_FAILED
                       : truth->outcome == OUTCOME_CANCELLED ? SWF_CANCELLED
                                                             : SWF_COMPLETED;
    buffer_format(out, "%" PRIu64, number);
    swf_time(out, job->submit);
    swf_time(out, truth->recorded_wait);
    swf_time(out, truth->duration);
    buffer_format(out, " %" PRId64 " -1 -1 %" PRId64, gpus, gpus);
    swf_time(out, job->limit);
    buffer_format(out, " -1 %d %" PRId64 " -1 -1 %u -1 -1 -1\n", status,
                  job->user != NAMES_NONE ? (int64_t)job->user + 1 : -1, job->queue);
}

/* The header's fields are those of the standard; it may hold comments at its end, too. */
static void swf_names(struct buffer *out, const struct job_source *source)
{
    const struct queue_table *queues = job_source_queue_table(source);
    for (uint32_t q = 1; q < queues->count; q++)
        buffer_format(out, "; Queue: %u %s\n", q, queues->queues[q].name);
}

struct error convert_swf(struct job_source *source, struct output *output, struct reason_tally *lost)
{
    struct job job;
    struct job_truth truth;
    bool has;
    uint64_t number = 0;
    buffer_format(output_buffer(output),
                  "; Version: 2.2\n; UnixStartTime: %" PRId64 "\n; Note: a processor is a GPU\n"
                  "; Note: users are numbered, queues too (their names are at the end)\n",
                  job_source_facts(source)->first_submit / TIME_NS_PER_S);
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            break;
        if (job_gpu_milli(&job) == 0) {
            reason_tally_add(lost, "jobs are left out: they have no GPU");
            continue;
        }
        swf_lost(&job, lost);
        if (truth.failures != NULL)
            reason_tally_add(lost, "jobs lose their attempts that failed");
        swf_row(output_buffer(output), ++number, &job, &truth);
        TRY(output_flush_if_full(output));
    }
    swf_names(output_buffer(output), source);
    return ERROR_OK;
}
