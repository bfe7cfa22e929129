#include "workloads/readers/job_columns.h"

#include <inttypes.h>
#include <string.h>

#include "topologies/communication.h"
#include "workloads/job_json.h"
#include "workloads/request/ask.h"

enum { MIB_PER_GB = 1024 };

typedef enum column_state column_state;

/* ---- values ---- */

static column_state put_scaled(struct buffer *out, int64_t value, int64_t scale, bool is_usual)
{
    buffer_scaled(out, value, scale);
    return is_usual ? COLUMN_USUAL : COLUMN_SET;
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

static column_state of_gpu_fraction(const struct job_view *view, struct buffer *out)
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

static column_state of_gpu_model(const struct job_view *view, struct buffer *out)
{
    if (view->job->first.request.gpu_models == 0)
        return COLUMN_ABSENT;
    job_models_write(out, view->cluster, view->job->first.request.gpu_models);
    return COLUMN_SET;
}

/* A model that the cluster does not have is written as "?". */
static bool has_unknown_model(const struct job_view *view)
{
    return view->job->first.request.gpu_models >> 63 != 0;
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

static column_state of_node_selector(const struct job_view *view, struct buffer *out)
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
static bool has_affinity(const struct job_view *view)
{
    const struct node_ask *ask = view->job->first.request.nodes;
    struct buffer text = {0};
    if (ask == NULL)
        return false;
    const bool is_said = ask->term_count == 0 && (ask->selector.count == 0 || selector_write(view, ask, &text)) &&
                         (ask->toleration_count == 0 || tolerations_write(view, ask, &text));
    buffer_release(&text);
    return !is_said;
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

static column_state of_workload_class(const struct job_view *view, struct buffer *out)
{
    const uint8_t class = view->truth->workload_class;
    return put_name(out, class != 0 ? names_text(job_source_classes(view->source), class - 1u) : NULL, false);
}

static column_state of_failed(const struct job_view *view, struct buffer *out)
{
    native_failures_write(view->truth->failures, out);
    return view->truth->failures != NULL ? COLUMN_SET : COLUMN_ABSENT;
}

/* ---- ties to other jobs ---- */

static column_state of_after(const struct job_view *view, struct buffer *out)
{
    const bool is_said = view->job->after_count > 0 && (view->ids == NULL || job_ids_after(view->ids, view->job, out));
    return is_said ? COLUMN_SET : COLUMN_ABSENT;
}

/* A dependency that no line can name. */
static bool has_unnamed_after(const struct job_view *view)
{
    struct buffer text = {0};
    const bool is_lost = view->job->after_count > 0 && of_after(view, &text) == COLUMN_ABSENT;
    buffer_release(&text);
    return is_lost;
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

/* ---- members of JSON lines ---- */

static bool has_plan(const struct job_view *view)
{
    const struct communication *communication = view->job->communication;
    return communication != NULL && !has_named_sensitivity(communication);
}

static bool has_closeness(const struct job_view *view)
{
    const struct job *job = view->job;
    bool is_set =
        job->set_count != 0 || job->min_sets != 0 || job->topology.required != 0 || job->topology.preferred != 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        is_set = is_set || job_group(job, g)->slice_members != 0 || job_group(job, g)->request.one_island;
    return is_set;
}

static bool has_groups(const struct job_view *view)
{
    return !job_is_plain(view->job);
}

static bool has_tags(const struct job_view *view)
{
    return view->job->tags != NULL;
}

static bool has_objects(const struct job_view *view)
{
    return view->job->objects != NULL;
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

/* ---- the table ---- */

enum { CSV = 1 << JOBS_NATIVE, JSON = 1 << JOBS_JSONL, SWF = 1 << JOBS_SWF, NATIVE = CSV | JSON };

/* A number of the job's struct or of its truth's. */
static column_state of_number(const struct job_view *view, enum native_field field, struct buffer *out)
{
    const struct job_text *text = &native_texts[field];
    const int64_t value = member_get(&text->at, text->is_truth ? (const void *)view->truth : view->job);
    const bool is_usual = value == text->usual;
    if ((is_usual && (text->where & TEXT_ALWAYS) == 0) ||
        (field == NATIVE_PREEMPTIBLE && view->job->is_firm_by_priority)) /* nobody said */
        return COLUMN_ABSENT;
    if (text->form == TEXT_NAME)
        buffer_string(out, text->names[value]);
    else if (text->form == TEXT_BOOL)
        buffer_string(out, value != 0 ? "true" : "false");
    else if (text->form == TEXT_PATIENCE && value == TIME_NEVER)
        buffer_string(out, "never");
    else
        buffer_scaled(out, value, text->form == TEXT_INT ? 1 : text->form == TEXT_MILLI ? GPU_MILLI : TIME_NS_PER_S);
    return is_usual ? COLUMN_USUAL : COLUMN_SET;
}

#define NUMBER(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, LOST, ...) OWN_ROW(ID, KEY, 0, false, WHERE, LOST)
#define OWN_ROW(ID, KEY, KIND, NEED, WHERE, LOST, ...)                                                                 \
    [NATIVE_##ID] = {.kept = NATIVE | (((WHERE)&TEXT_SWF) != 0 ? SWF : 0), .lost = (LOST)},

const struct job_column job_columns[] = {
    JOB_TEXT(NUMBER, JOB_TEXT_NONE, NUMBER, OWN_ROW) /* then what JSON lines alone say, or none of these formats */
    {has_groups, JSON, "jobs lose that they have members of several kinds or on pieces"},
    {has_closeness, JSON, "jobs lose where their members must be together"},
    {has_tags, JSON, "jobs lose their tags, affinity and anti-affinity"},
    {has_affinity, JSON, "jobs lose constraints on nodes that a row cannot say"},
    {has_plan, JSON, "jobs lose their parallel plan, or a sensitivity of their own"},
    {has_unnamed_after, 0, "jobs lose dependencies: the id of the other job comes again or is no name"},
    {has_unknown_model, 0, "jobs lose names of GPU models that the cluster lacks (--cluster)"},
    {has_objects, 0, "jobs lose the image, weights and data that they pull"},
};
const size_t job_column_count = sizeof job_columns / sizeof job_columns[0];

/* Columns that are no numbers in a struct.  NULL: no job has it. */
static column_state (*const own_values[NATIVE_FIELD_COUNT])(const struct job_view *view, struct buffer *out) = {
    [NATIVE_JOB_ID] = of_id,
    [NATIVE_SUBMIT] = of_submit,
    [NATIVE_DURATION] = of_duration,
    [NATIVE_GPUS] = of_gpus,
    [NATIVE_NODES] = of_nodes,
    [NATIVE_GPU_FRACTION] = of_gpu_fraction,
    [NATIVE_GPU_MEMORY] = of_gpu_memory,
    [NATIVE_MIG] = of_mig,
    [NATIVE_CPUS] = of_cpus,
    [NATIVE_MEMORY] = of_memory,
    [NATIVE_MIN_MEMBERS] = of_min_members,
    [NATIVE_GPU_MODEL] = of_gpu_model,
    [NATIVE_QUEUE] = of_queue,
    [NATIVE_USER] = of_user,
    [NATIVE_WORKLOAD_CLASS] = of_workload_class,
    [NATIVE_FAILED] = of_failed,
    [NATIVE_AFTER] = of_after,
    [NATIVE_ARRAY] = of_array,
    [NATIVE_ARRAY_MAX] = of_array_max,
    [NATIVE_NODE_SELECTOR] = of_node_selector,
    [NATIVE_TOLERATIONS] = of_tolerations,
    [NATIVE_SENSITIVITY] = of_sensitivity,
};

/* Does SWF keep this value of a column that it may keep? */
static bool swf_keeps(const struct job_view *view, size_t column)
{
    switch (column) {
    case NATIVE_JOB_ID:
        return view->job->name == NULL && view->job->trace_id >= 0;
    case NATIVE_QUEUE:
        return job_name_number(queue_name(view), 'q') >= 0;
    case NATIVE_USER:
        return job_name_number(user_name(view), 'u') >= 0;
    default:
        return true;
    }
}

column_state job_column_write(const struct job_view *view, enum native_field field, struct buffer *out)
{
    if (native_texts[field].at.bytes != 0)
        return of_number(view, field, out);
    return own_values[field] != NULL ? own_values[field](view, out) : COLUMN_ABSENT;
}

static bool is_integer(struct text text)
{
    int64_t number;
    const bool is_plain =
        text.length > 0 && text.at[0] >= '0' && text.at[0] <= '9' && (text.at[0] != '0' || text.length == 1);
    return is_plain && text_to_int64(text, 0, INT64_MAX, &number);
}

/* A value of JSON: a number or a word as it is, a text in quotes. */
static void json_write(const struct column *column, struct text value, struct buffer *out)
{
    const bool is_bare = column->kind == FIELD_NUMBER || column->kind == FIELD_BOOL ||
                         (column->kind == FIELD_NUMBER_OR_TEXT && is_integer(value));
    job_key_put(out, column->name);
    if (is_bare)
        buffer_text(out, value);
    else
        buffer_json(out, value);
}

void job_columns_write(const struct job_view *view, uint64_t fields, bool is_json, struct buffer *text,
                       struct buffer *out)
{
    bool is_first = true;
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++) {
        if ((fields >> field & 1) == 0)
            continue;
        text->length = 0;
        const bool has = job_column_write(view, (enum native_field)field, text) != COLUMN_ABSENT;
        const struct text value = {text->bytes, text->length};
        if (is_json && has)
            json_write(&native_columns[field], value, out);
        if (!is_json && !is_first)
            buffer_char(out, ',');
        is_first = false;
        if (!is_json && has && native_columns[field].kind != FIELD_NUMBER)
            buffer_csv(out, value);
        else if (!is_json && has)
            buffer_text(out, value);
    }
}

void job_columns_lost(const struct job_view *view, enum job_format format, struct buffer *scratch,
                      struct reason_tally *lost)
{
    for (size_t c = 0; c < job_column_count; c++) {
        const struct job_column *column = &job_columns[c];
        const bool may_be_kept = (column->kept >> format & 1) != 0;
        if (column->lost == NULL || (may_be_kept && format != JOBS_SWF))
            continue;
        scratch->length = 0;
        const bool is_said = column->is_said != NULL
                                 ? column->is_said(view)
                                 : job_column_write(view, (enum native_field)c, scratch) == COLUMN_SET;
        if (is_said && !(may_be_kept && swf_keeps(view, c)))
            reason_tally_add(lost, column->lost);
    }
}
