#include "workloads/readers/convert.h"
#include "workloads/readers/native_row.h"

#include <inttypes.h>

#include "workloads/request/ask.h"

enum { MIB_PER_GB = 1024, SWF_FAILED = 0, SWF_COMPLETED = 1, SWF_CANCELLED = 5 };

static void comma(struct buffer *out)
{
    buffer_char(out, ',');
}

/* A time, or nothing where it is the usual one. */
static void put_time(struct buffer *out, time_ns time, time_ns usual)
{
    comma(out);
    if (time != usual)
        buffer_scaled(out, time, TIME_NS_PER_S);
}

static void put_name(struct buffer *out, const char *name)
{
    comma(out);
    if (name != NULL)
        buffer_csv(out, text_of(name));
}

static void put_count(struct buffer *out, uint64_t count)
{
    comma(out);
    if (count != 0)
        buffer_format(out, "%" PRIu64, count);
}

/* As many millionths of a GB as field_mib reads as these MiB. */
static void put_mib(struct buffer *out, uint64_t mib)
{
    comma(out);
    if (mib != 0)
        buffer_scaled(out, (int64_t)mib * 1000000 / MIB_PER_GB, 1000000);
}

static void put_share(struct buffer *out, uint32_t milli, uint32_t usual)
{
    comma(out);
    if (milli != usual)
        buffer_scaled(out, milli, GPU_MILLI);
}

static void put_id(struct buffer *out, const struct job *job)
{
    if (job->name != NULL)
        buffer_csv(out, text_of(job->name));
    else
        buffer_format(out, "%" PRId64, job->trace_id);
}

/* ---- native ---- */

static const char native_header[] =
    "job_id,submit_s,duration_s,gpus,nodes,gpu_fraction,gpu_memory_gb,mig_profile,cpus,memory_gb,min_members,gpu_model,"
    "queue,user,class,workload_class,priority,preemptible,limit_s,estimate_s,deadline_s,outcome,wait_s,sm_active,"
    "memory_bandwidth,would_do,checkpoint_interval_s,checkpoint_duration_s,restart_s,failed_attempts_s\n";

/* Can a row say how the members are?  Several members of pieces, and several kinds of members, it cannot. */
static bool is_plain(const struct job *job)
{
    const struct request *request = &job->first.request;
    const bool is_piece = request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
    return job->group_count == 1 && (job->first.count == 1 || !is_piece);
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

static void native_request(struct buffer *out, const struct cluster *cluster, const struct job *job)
{
    const struct job_group *group = &job->first;
    const struct request *request = &group->request;
    const bool is_flat = request->gpus == 1 && group->count > 1;
    buffer_format(out, ",%" PRIu64, (uint64_t)request->gpus * group->count);
    put_count(out, is_flat ? 0 : group->count);
    put_share(out, request->gpu_milli, 0);
    put_mib(out, request->gpu_memory_mib);
    put_name(out, request->mig != 0 ? ask_mig_name(cluster, request) : NULL);
    comma(out);
    if (request->cpu_milli != 0)
        buffer_scaled(out, (int64_t)request->cpu_milli * group->count, GPU_MILLI);
    put_mib(out, (uint64_t)request->memory_mib * group->count);
    put_count(out, group->min_count != group->count ? group->min_count : 0);
    comma(out);
    ask_models_write(cluster, request->gpu_models, out);
}

static void native_row(struct buffer *out, const struct job_source *source, const struct cluster *cluster,
                       const struct job *job, const struct job_truth *truth)
{
    put_id(out, job);
    comma(out);
    buffer_scaled(out, job->submit, TIME_NS_PER_S);
    comma(out);
    buffer_scaled(out, truth->duration, TIME_NS_PER_S);
    native_request(out, cluster, job);
    put_name(out, job_source_queue_table(source)->queues[job->queue].name);
    put_name(out, job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : NULL);
    put_name(out, job_class_names[job->class]);
    put_name(out,
             truth->workload_class != 0 ? names_text(job_source_classes(source), truth->workload_class - 1u) : NULL);
    buffer_format(out, ",%d,%s", job->priority, job->is_preemptible ? "true" : "false");
    put_time(out, job->limit, TIME_NEVER);
    put_time(out, job->estimate, TIME_NEVER);
    put_time(out, job->deadline, TIME_NEVER);
    put_name(out, job_outcome_names[truth->outcome]);
    put_time(out, truth->recorded_wait, TIME_NEVER);
    put_share(out, truth->sm_active_milli, SM_ACTIVE_UNKNOWN);
    put_share(out, truth->bandwidth_milli, 0);
    put_share(out, truth->would_do_milli, GPU_MILLI);
    put_time(out, job->checkpoint.interval, 0);
    put_time(out, job->checkpoint.duration, 0);
    put_time(out, job->checkpoint.restart, 0);
    comma(out);
    native_failures_write(truth->failures, out);
    buffer_char(out, '\n');
}

struct error convert_native(struct job_source *source, const struct cluster *cluster, struct output *output,
                            struct reason_tally *lost)
{
    struct job job;
    struct job_truth truth;
    bool has;
    buffer_string(output_buffer(output), native_header);
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
        native_row(output_buffer(output), source, cluster, &job, &truth);
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
