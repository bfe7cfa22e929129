#include "workloads/readers/job_columns.h"

#include <inttypes.h>
#include <string.h>

#include "topologies/communication.h"
#include "workloads/request/ask.h"

enum { MIB_PER_GB = 1024 };

typedef enum column_state column_state;

/* ---- values ---- */

static column_state put_scaled(struct buffer *out, int64_t value, int64_t scale, bool is_usual)
{
    buffer_scaled(out, value, scale);
    return is_usual ? COLUMN_USUAL : COLUMN_SET;
}

/* A time, or nothing where it is the usual one. */
static column_state put_time(struct buffer *out, time_ns time, time_ns usual)
{
    return time == usual ? COLUMN_ABSENT : put_scaled(out, time, TIME_NS_PER_S, false);
}

static column_state put_name(struct buffer *out, const char *name, bool is_usual)
{
    if (name == NULL)
        return COLUMN_ABSENT;
    buffer_string(out, name);
    return is_usual ? COLUMN_USUAL : COLUMN_SET;
}

/* As many millionths of a GB as field_mib reads as these MiB. */
static column_state put_mib(struct buffer *out, uint64_t mib)
{
    return mib == 0 ? COLUMN_ABSENT : put_scaled(out, (int64_t)mib * 1000000 / MIB_PER_GB, 1000000, false);
}

static column_state put_share(struct buffer *out, uint32_t milli, uint32_t usual)
{
    return milli == usual ? COLUMN_ABSENT : put_scaled(out, milli, GPU_MILLI, false);
}

static column_state put_count(struct buffer *out, uint64_t count)
{
    return count == 0 ? COLUMN_ABSENT : put_scaled(out, (int64_t)count, 1, false);
}

/* ---- the request ---- */

static bool is_piece(const struct request *request)
{
    return request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

bool job_is_plain(const struct job *job)
{
    return job->group_count == 1 && (job->first.count == 1 || !is_piece(&job->first.request));
}

/* Members of one GPU each: they need no nodes. */
static bool is_flat(const struct job *job)
{
    const struct request *request = &job->first.request;
    return is_piece(request) || (request->gpus == 1 && job->first.count > 1);
}

static column_state of_gpus(const struct job_view *view, struct buffer *out)
{
    const struct job_group *group = &view->job->first;
    const uint64_t gpus = group->request.gpu_milli != 0 ? 1 : (uint64_t)group->request.gpus * group->count;
    return put_scaled(out, (int64_t)gpus, 1, false);
}

static column_state of_nodes(const struct job_view *view, struct buffer *out)
{
    const struct job_group *group = &view->job->first;
    if (is_flat(view->job))
        return COLUMN_ABSENT;
    return put_scaled(out, group->count, 1, group->count == 1 && group->request.gpus <= 1);
}

static column_state of_fraction(const struct job_view *view, struct buffer *out)
{
    return put_share(out, view->job->first.request.gpu_milli, 0);
}

static column_state of_gpu_memory(const struct job_view *view, struct buffer *out)
{
    return put_mib(out, view->job->first.request.gpu_memory_mib);
}

static column_state of_mig(const struct job_view *view, struct buffer *out)
{
    const struct request *request = &view->job->first.request;
    return put_name(out, request->mig != 0 ? ask_mig_name(view->cluster, request) : NULL, false);
}

static column_state of_cpus(const struct job_view *view, struct buffer *out)
{
    const struct job_group *group = &view->job->first;
    const int64_t milli = (int64_t)group->request.cpu_milli * group->count;
    return milli == 0 ? COLUMN_ABSENT : put_scaled(out, milli, GPU_MILLI, false);
}

static column_state of_memory(const struct job_view *view, struct buffer *out)
{
    return put_mib(out, (uint64_t)view->job->first.request.memory_mib * view->job->first.count);
}

static column_state of_min_members(const struct job_view *view, struct buffer *out)
{
    const struct job_group *group = &view->job->first;
    return put_count(out, group->min_count != group->count ? group->min_count : 0);
}

static column_state of_models(const struct job_view *view, struct buffer *out)
{
    if (view->job->first.request.gpu_models == 0)
        return COLUMN_ABSENT;
    ask_models_write(view->cluster, view->job->first.request.gpu_models, out);
    return COLUMN_SET;
}

/* A model that the cluster does not have is written as "?". */
static column_state of_unknown_model(const struct job_view *view, struct buffer *out)
{
    (void)out;
    return view->job->first.request.gpu_models >> 63 != 0 ? COLUMN_SET : COLUMN_ABSENT;
}

/* ---- constraints on nodes ---- */

/* Is this, read as a selector or as tolerations, what the job asks? */
static bool reads_back(const struct job_view *view, struct text text, const struct node_ask *part, bool is_selector)
{
    struct node_ask draft = {.term_count = 0};
    const char *complaint = is_selector ? node_ask_selector_of(text, view->scratch, &draft)
                                        : node_ask_tolerations_of(text, view->scratch, &draft);
    return complaint == NULL &&
           node_ask_is_same(node_ask_make(view->scratch, NULL, &draft), node_ask_make(view->scratch, NULL, part));
}

static bool selector_write(const struct job_view *view, const struct node_ask *ask, struct buffer *out)
{
    const size_t start = out->length;
    for (uint16_t e = 0; e < ask->selector.count; e++)
        buffer_format(out, "%s%s=%s", e > 0 ? ";" : "", ask->selector.expressions[e].key,
                      ask->selector.expressions[e].values[0]);
    const struct node_ask part = {.selector = ask->selector};
    const struct text text = {out->bytes + start, out->length - start};
    if (reads_back(view, text, &part, true))
        return true;
    out->length = start;
    return false;
}

static bool tolerations_write(const struct job_view *view, const struct node_ask *ask, struct buffer *out)
{
    const size_t start = out->length;
    for (uint16_t t = 0; t < ask->toleration_count; t++) {
        const struct toleration *toleration = &ask->tolerations[t];
        buffer_format(out, "%s%s%s%s", t > 0 ? ";" : "", toleration->key[0] != '\0' ? toleration->key : "*",
                      toleration->exists ? "" : "=", toleration->value);
        if (toleration->effect != TAINT_EFFECT_COUNT)
            buffer_format(out, ":%s", taint_effect_names[toleration->effect]);
    }
    const struct node_ask part = {.tolerations = ask->tolerations, .toleration_count = ask->toleration_count};
    const struct text text = {out->bytes + start, out->length - start};
    if (reads_back(view, text, &part, false))
        return true;
    out->length = start;
    return false;
}

static column_state of_selector(const struct job_view *view, struct buffer *out)
{
    const struct node_ask *ask = view->job->first.request.nodes;
    return ask != NULL && ask->selector.count > 0 && selector_write(view, ask, out) ? COLUMN_SET : COLUMN_ABSENT;
}

static column_state of_tolerations(const struct job_view *view, struct buffer *out)
{
    const struct node_ask *ask = view->job->first.request.nodes;
    return ask != NULL && ask->toleration_count > 0 && tolerations_write(view, ask, out) ? COLUMN_SET : COLUMN_ABSENT;
}

/* What a row cannot say: an affinity, and keys and values with the row's own signs. */
static column_state of_affinity(const struct job_view *view, struct buffer *out)
{
    const struct node_ask *ask = view->job->first.request.nodes;
    const size_t start = out->length;
    if (ask == NULL)
        return COLUMN_ABSENT;
    const bool is_said = ask->term_count == 0 && (ask->selector.count == 0 || selector_write(view, ask, out)) &&
                         (ask->toleration_count == 0 || tolerations_write(view, ask, out));
    out->length = start;
    return is_said ? COLUMN_ABSENT : COLUMN_SET;
}

/* ---- facts ---- */

static column_state of_id(const struct job_view *view, struct buffer *out)
{
    if (view->job->name != NULL)
        return put_name(out, view->job->name, false);
    return put_scaled(out, view->job->trace_id, 1, false);
}

static column_state of_submit(const struct job_view *view, struct buffer *out)
{
    return put_scaled(out, view->job->submit, TIME_NS_PER_S, false);
}

static column_state of_duration(const struct job_view *view, struct buffer *out)
{
    return put_scaled(out, view->truth->duration, TIME_NS_PER_S, false);
}

static const char *queue_name(const struct job_view *view)
{
    return job_source_queue_table(view->source)->queues[view->job->queue].name;
}

static column_state of_queue(const struct job_view *view, struct buffer *out)
{
    return put_name(out, queue_name(view), strcmp(queue_name(view), "default") == 0);
}

static const char *user_name(const struct job_view *view)
{
    return view->job->user != NAMES_NONE ? names_text(job_source_users(view->source), view->job->user) : NULL;
}

static column_state of_user(const struct job_view *view, struct buffer *out)
{
    return put_name(out, user_name(view), false);
}

static column_state of_class(const struct job_view *view, struct buffer *out)
{
    return put_name(out, job_class_names[view->job->class], view->job->class == job_default().class);
}

static column_state of_workload_class(const struct job_view *view, struct buffer *out)
{
    const uint8_t class = view->truth->workload_class;
    return put_name(out, class != 0 ? names_text(job_source_classes(view->source), class - 1u) : NULL, false);
}

static column_state of_priority(const struct job_view *view, struct buffer *out)
{
    return put_scaled(out, view->job->priority, 1, view->job->priority == job_default().priority);
}

static column_state of_preemptible(const struct job_view *view, struct buffer *out)
{
    const bool is = view->job->is_preemptible;
    return put_name(out, is ? "true" : "false", is == job_default().is_preemptible);
}

static column_state of_limit(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->limit, TIME_NEVER);
}

static column_state of_estimate(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->estimate, TIME_NEVER);
}

static column_state of_deadline(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->deadline, TIME_NEVER);
}

static column_state of_outcome(const struct job_view *view, struct buffer *out)
{
    return put_name(out, job_outcome_names[view->truth->outcome], view->truth->outcome == truth_default().outcome);
}

static column_state of_wait(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->truth->recorded_wait, TIME_NEVER);
}

static column_state of_sm_active(const struct job_view *view, struct buffer *out)
{
    return put_share(out, view->truth->sm_active_milli, truth_default().sm_active_milli);
}

static column_state of_bandwidth(const struct job_view *view, struct buffer *out)
{
    return put_share(out, view->truth->bandwidth_milli, truth_default().bandwidth_milli);
}

static column_state of_would_do(const struct job_view *view, struct buffer *out)
{
    return put_share(out, view->truth->would_do_milli, truth_default().would_do_milli);
}

static column_state of_checkpoint_interval(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->checkpoint.interval, 0);
}

static column_state of_checkpoint_duration(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->checkpoint.duration, 0);
}

static column_state of_restart(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->checkpoint.restart, 0);
}

static column_state of_failed(const struct job_view *view, struct buffer *out)
{
    native_failures_write(view->truth->failures, out);
    return view->truth->failures != NULL ? COLUMN_SET : COLUMN_ABSENT;
}

static column_state of_preemption_delay(const struct job_view *view, struct buffer *out)
{
    return put_time(out, view->job->preemption_delay, JOB_AS_QUEUE);
}

static column_state of_stale_after(const struct job_view *view, struct buffer *out)
{
    if (view->job->stale_after == TIME_NEVER)
        return put_name(out, "never", false);
    return put_time(out, view->job->stale_after, JOB_AS_QUEUE);
}

/* ---- ties to other jobs ---- */

static column_state of_after(const struct job_view *view, struct buffer *out)
{
    const bool is_said = view->job->after_count > 0 && (view->ids == NULL || job_ids_after(view->ids, view->job, out));
    return is_said ? COLUMN_SET : COLUMN_ABSENT;
}

/* A dependency that no line can name. */
static column_state of_unnamed_after(const struct job_view *view, struct buffer *out)
{
    const size_t start = out->length;
    const bool is_lost = view->job->after_count > 0 && of_after(view, out) == COLUMN_ABSENT;
    out->length = start;
    return is_lost ? COLUMN_SET : COLUMN_ABSENT;
}

static column_state of_array(const struct job_view *view, struct buffer *out)
{
    const struct names *arrays = job_source_arrays(view->source);
    if (view->job->array == 0)
        return COLUMN_ABSENT;
    if (view->job->array <= names_count(arrays))
        return put_name(out, names_text(arrays, view->job->array - 1), false);
    return put_scaled(out, view->job->array, 1, false);
}

static column_state of_array_max(const struct job_view *view, struct buffer *out)
{
    return put_count(out, view->job->array_max);
}

/* ---- what is exchanged ---- */

static bool has_named_sensitivity(const struct communication *communication)
{
    return communication != NULL && !communication->has_plan && communication->sensitivity.name[0] != '\0';
}

static column_state of_sensitivity(const struct job_view *view, struct buffer *out)
{
    const struct communication *communication = view->job->communication;
    return put_name(out, has_named_sensitivity(communication) ? communication->sensitivity.name : NULL, false);
}

static column_state of_plan(const struct job_view *view, struct buffer *out)
{
    (void)out;
    const struct communication *communication = view->job->communication;
    return communication != NULL && !has_named_sensitivity(communication) ? COLUMN_SET : COLUMN_ABSENT;
}

/* ---- members of JSON lines ---- */

static column_state of_closeness(const struct job_view *view, struct buffer *out)
{
    (void)out;
    const struct job *job = view->job;
    bool is_set =
        job->set_count != 0 || job->min_sets != 0 || job->topology.required != 0 || job->topology.preferred != 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        is_set = is_set || job_group(job, g)->slice_members != 0 || job_group(job, g)->request.one_island;
    return is_set ? COLUMN_SET : COLUMN_ABSENT;
}

static column_state of_groups(const struct job_view *view, struct buffer *out)
{
    (void)out;
    return job_is_plain(view->job) ? COLUMN_ABSENT : COLUMN_SET;
}

static column_state of_tags(const struct job_view *view, struct buffer *out)
{
    (void)out;
    return view->job->tags != NULL ? COLUMN_SET : COLUMN_ABSENT;
}

static column_state of_objects(const struct job_view *view, struct buffer *out)
{
    (void)out;
    return view->job->objects != NULL ? COLUMN_SET : COLUMN_ABSENT;
}

/* ---- what SWF keeps ---- */

int64_t job_name_number(const char *name, char letter)
{
    int64_t number;
    if (name == NULL || name[0] != letter || (name[1] == '0' && name[2] != '\0') ||
        !text_to_int64(text_of(name + 1), 0, INT32_MAX, &number))
        return -1;
    return name[1] >= '0' && name[1] <= '9' ? number : -1;
}

static bool swf_keeps_id(const struct job_view *view)
{
    return view->job->name == NULL && view->job->trace_id >= 0;
}

static bool swf_keeps_queue(const struct job_view *view)
{
    return job_name_number(queue_name(view), 'q') >= 0;
}

static bool swf_keeps_user(const struct job_view *view)
{
    return job_name_number(user_name(view), 'u') >= 0;
}

/* ---- the table ---- */

enum {
    CSV = 1 << JOBS_NATIVE,
    JSON = 1 << JOBS_JSONL,
    SWF = 1 << JOBS_SWF,
    NATIVE = CSV | JSON,
};

/* In the order of the columns of a native file. */
const struct job_column job_columns[] = {
    {NATIVE_JOB_ID, of_id, NATIVE | SWF, swf_keeps_id, "jobs lose their id: they are numbered"},
    {NATIVE_SUBMIT, of_submit, NATIVE | SWF, NULL, NULL},
    {NATIVE_DURATION, of_duration, NATIVE | SWF, NULL, NULL},
    {NATIVE_GPUS, of_gpus, NATIVE | SWF, NULL, NULL},
    {NATIVE_NODES, of_nodes, NATIVE, NULL, "jobs lose how their GPUs lie on nodes"},
    {NATIVE_GPU_FRACTION, of_fraction, NATIVE, NULL, "jobs on a part of a GPU become jobs on a whole one"},
    {NATIVE_GPU_MEMORY, of_gpu_memory, NATIVE, NULL, "jobs on memory of a GPU become jobs on a whole one"},
    {NATIVE_MIG, of_mig, NATIVE, NULL, "jobs on a MIG instance become jobs on a whole GPU"},
    {NATIVE_CPUS, of_cpus, NATIVE, NULL, "jobs lose their CPUs"},
    {NATIVE_MEMORY, of_memory, NATIVE, NULL, "jobs lose their memory"},
    {NATIVE_MIN_MEMBERS, of_min_members, NATIVE, NULL, "jobs lose their minimum of members"},
    {NATIVE_GPU_MODEL, of_models, NATIVE, NULL, "jobs lose the GPU models that they accept"},
    {NATIVE_QUEUE, of_queue, NATIVE | SWF, swf_keeps_queue, "jobs lose the name of their queue: it is numbered"},
    {NATIVE_USER, of_user, NATIVE | SWF, swf_keeps_user, "jobs lose the name of their user: it is numbered"},
    {NATIVE_CLASS, of_class, NATIVE, NULL, "jobs lose their class"},
    {NATIVE_WORKLOAD_CLASS, of_workload_class, NATIVE, NULL, "jobs lose the workload's own name of their class"},
    {NATIVE_PRIORITY, of_priority, NATIVE, NULL, "jobs lose their priority"},
    {NATIVE_PREEMPTIBLE, of_preemptible, NATIVE, NULL, "jobs lose that they are not preemptible"},
    {NATIVE_LIMIT, of_limit, NATIVE | SWF, NULL, NULL},
    {NATIVE_ESTIMATE, of_estimate, NATIVE, NULL, "jobs lose their estimate"},
    {NATIVE_DEADLINE, of_deadline, NATIVE, NULL, "jobs lose their deadline"},
    {NATIVE_OUTCOME, of_outcome, NATIVE | SWF, NULL, NULL},
    {NATIVE_WAIT, of_wait, NATIVE | SWF, NULL, NULL},
    {NATIVE_SM_ACTIVE, of_sm_active, NATIVE, NULL, "jobs lose their SM activity"},
    {NATIVE_MEMORY_BANDWIDTH, of_bandwidth, NATIVE, NULL, "jobs lose their memory bandwidth"},
    {NATIVE_WOULD_DO, of_would_do, NATIVE, NULL, "jobs lose the GPU share that would do"},
    {NATIVE_CHECKPOINT_INTERVAL, of_checkpoint_interval, NATIVE, NULL, "jobs lose how often they write checkpoints"},
    {NATIVE_CHECKPOINT_DURATION, of_checkpoint_duration, NATIVE, NULL, "jobs lose how long they write a checkpoint"},
    {NATIVE_RESTART, of_restart, NATIVE, NULL, "jobs lose how long they take to restart"},
    {NATIVE_FAILED, of_failed, NATIVE, NULL, "jobs lose their attempts that failed"},
    {NATIVE_AFTER, of_after, NATIVE, NULL, "jobs lose the jobs on which they depend"},
    {NATIVE_ARRAY, of_array, NATIVE, NULL, "jobs lose the array to which they belong"},
    {NATIVE_ARRAY_MAX, of_array_max, NATIVE, NULL, "jobs lose how many of their array may run at once"},
    {NATIVE_NODE_SELECTOR, of_selector, NATIVE, NULL, "jobs lose the labels of nodes that they need"},
    {NATIVE_TOLERATIONS, of_tolerations, NATIVE, NULL, "jobs lose the taints of nodes that they tolerate"},
    {NATIVE_PREEMPTION_DELAY, of_preemption_delay, NATIVE, NULL, "jobs lose how long they wait before they preempt"},
    {NATIVE_STALE_AFTER, of_stale_after, NATIVE, NULL, "jobs lose how long they may be below their minimum"},
    {NATIVE_SENSITIVITY, of_sensitivity, NATIVE, NULL, "jobs lose their sensitivity to the network"},
    /* Members of JSON lines, and what none of these formats says. */
    {NATIVE_FIELD_COUNT, of_groups, JSON, NULL, "jobs lose that they have members of several kinds or on pieces"},
    {NATIVE_FIELD_COUNT, of_closeness, JSON, NULL, "jobs lose where their members must be together"},
    {NATIVE_FIELD_COUNT, of_tags, JSON, NULL, "jobs lose their tags, affinity and anti-affinity"},
    {NATIVE_FIELD_COUNT, of_affinity, JSON, NULL, "jobs lose constraints on nodes that a row cannot say"},
    {NATIVE_FIELD_COUNT, of_plan, JSON, NULL, "jobs lose their parallel plan, or a sensitivity of their own"},
    {NATIVE_FIELD_COUNT, of_unnamed_after, 0, NULL,
     "jobs lose dependencies: the id of the other job comes again or is no name"},
    {NATIVE_FIELD_COUNT, of_unknown_model, 0, NULL, "jobs lose names of GPU models that the cluster lacks (--cluster)"},
    {NATIVE_FIELD_COUNT, of_objects, 0, NULL, "jobs lose the image, weights and data that they pull"},
};
const size_t job_column_count = sizeof job_columns / sizeof job_columns[0];

void job_columns_lost(const struct job_view *view, enum job_format format, struct buffer *scratch,
                      struct reason_tally *lost)
{
    for (size_t c = 0; c < job_column_count; c++) {
        const struct job_column *column = &job_columns[c];
        const bool may_be_kept = (column->kept >> format & 1) != 0;
        if (column->lost == NULL || (may_be_kept && (format != JOBS_SWF || column->swf_keeps == NULL)))
            continue;
        scratch->length = 0;
        if (column->value(view, scratch) == COLUMN_SET && !(may_be_kept && column->swf_keeps(view)))
            reason_tally_add(lost, column->lost);
    }
}
