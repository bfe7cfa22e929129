/* workloads/readers/freeze.c -- jobs as JSON lines, and the header before them, written. */
#include "workloads/readers/freeze.h"
#include "workloads/readers/job_columns.h"

#include <assert.h>
#include <string.h>

#include "base/input.h"
#include "base/json.h"
#include "workloads/job_json.h"
#include "workloads/request/ask.h"

enum { MIB_PER_GB = 1024 };

struct freeze {
    const struct job_source *source;
    const struct cluster *cluster;
    struct buffer *out;
    struct job_ids ids;
    struct buffer text;
    struct arena scratch;
    struct reason_tally *lost; /* NULL: not asked */
};

/* ---- values ---- */

static void put_scaled(struct buffer *out, const char *name, int64_t value, int64_t scale)
{
    job_key_put(out, name);
    buffer_scaled(out, value, scale);
}

/* Write as many millionths of a GB as field_mib reads as these MiB. */
static void put_mib(struct buffer *out, const char *name, uint32_t mib)
{
    if (mib != 0)
        put_scaled(out, name, (int64_t)mib * 1000000 / MIB_PER_GB, 1000000);
}

/* ---- what members ask ---- */

static void put_request(struct freeze *freeze, const struct request *request)
{
    struct buffer *out = freeze->out;
    if (request->gpus != 0)
        job_int_put(out, "gpus", request->gpus);
    if (request->gpu_milli != 0)
        put_scaled(out, "gpu_fraction", request->gpu_milli, GPU_MILLI);
    put_mib(out, "gpu_memory_gb", request->gpu_memory_mib);
    if (request->mig != 0)
        job_string_put(out, "mig", ask_mig_name(freeze->cluster, request));
    if (request->cpu_milli != 0)
        put_scaled(out, "cpus", request->cpu_milli, 1000);
    put_mib(out, "memory_gb", request->memory_mib);
    if (request->one_island) {
        job_key_put(out, "one_island");
        buffer_string(out, "true");
    }
    job_models_put(out, freeze->cluster, request->gpu_models);
    job_nodes_put(out, request->nodes);
}

static void put_group(struct freeze *freeze, const struct job *job, const struct job_group *group)
{
    struct buffer *out = freeze->out;
    buffer_char(out, '{');
    job_int_put(out, "count", group->count);
    if (job->set_count > 0)
        job_string_put(out, "set", job->sets[group->set].name);
    else if (group->min_count != group->count)
        job_int_put(out, "min_members", group->min_count);
    if (group->slice_level != 0) {
        job_int_put(out, "slice_members", group->slice_members);
        job_string_put(out, "slice_level", freeze->cluster->levels[group->slice_level - 1].name);
    }
    put_request(freeze, &group->request);
    buffer_char(out, '}');
}

/* ---- ids ---- */

static void put_id(struct freeze *freeze, const struct job *job)
{
    const struct text id = job_ids_add(&freeze->ids, job);
    job_key_put(freeze->out, "job_id");
    if (job->name == NULL)
        buffer_text(freeze->out, id);
    else
        buffer_json(freeze->out, id);
}

static struct error put_after(struct freeze *freeze, const struct job *job)
{
    freeze->text.length = 0;
    if (!job_ids_after(&freeze->ids, job, &freeze->text))
        return error_new(ERROR_DATA,
                         "a job depends on the job \"%s\", which a line cannot name: the id "
                         "comes again, or holds ';' or blanks around it",
                         freeze->ids.unnamed);
    if (job->after_count > 0)
        job_string_put(freeze->out, "after", buffer_c_string(&freeze->text));
    return ERROR_OK;
}

/* ---- lines ---- */

/* Columns that are members of their own here. */
#define OWN_COLUMNS                                                                                                    \
    (UINT64_C(1) << NATIVE_JOB_ID | UINT64_C(1) << NATIVE_GPU_CLASS | UINT64_C(1) << NATIVE_GPUS |                     \
     UINT64_C(1) << NATIVE_NODES | UINT64_C(1) << NATIVE_GPU_FRACTION | UINT64_C(1) << NATIVE_GPU_MEMORY |             \
     UINT64_C(1) << NATIVE_MIG | UINT64_C(1) << NATIVE_CPUS | UINT64_C(1) << NATIVE_MEMORY |                           \
     UINT64_C(1) << NATIVE_MIN_MEMBERS | UINT64_C(1) << NATIVE_GPU_MODEL | UINT64_C(1) << NATIVE_AFTER |               \
     UINT64_C(1) << NATIVE_NODE_SELECTOR | UINT64_C(1) << NATIVE_TOLERATIONS | UINT64_C(1) << NATIVE_SENSITIVITY)

#define ASSERT_UNTOLD(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, ...)                                       \
    assert(((WHERE)&TEXT_UNTOLD) == 0 || job->PLACE == (USUAL));

static struct error put_job(struct freeze *freeze, const struct job_view *view)
{
    struct buffer *out = freeze->out;
    const struct job *job = view->job;
    JOB_TEXT(JOB_TEXT_NONE, ASSERT_UNTOLD, JOB_TEXT_NONE, JOB_TEXT_NONE)
    buffer_char(out, '{');
    put_id(freeze, job);
    job_columns_write(view, ~OWN_COLUMNS, true, &freeze->text, out);
    TRY(put_after(freeze, job));
    job_topology_put(out, freeze->cluster, job->topology);
    if (job->min_sets > 0)
        job_int_put(out, "min_sets", job->min_sets);
    job_sets_put(out, freeze->cluster, true, job);
    job_key_put(out, "groups");
    for (uint32_t g = 0; g < job->group_count; g++) {
        buffer_char(out, g == 0 ? '[' : ',');
        put_group(freeze, job, job_group(job, g));
    }
    buffer_char(out, ']');
    job_tags_put(out, freeze->cluster, job_source_tags(freeze->source), job->tags);
    if (job->communication != NULL) {
        buffer_char(out, ',');
        communication_write(job->communication, out);
    }
    buffer_string(out, "}\n");
    return ERROR_OK;
}

static void put_names(struct buffer *out, const char *name, const struct names *names)
{
    buffer_members(out, ",%s:[", name);
    for (uint32_t i = 0; i < names_count(names); i++)
        buffer_members(out, ",%s", names_text(names, i));
    buffer_char(out, ']');
}

static void put_header(struct freeze *freeze)
{
    struct buffer *out = freeze->out;
    buffer_members(out, "{%s:%d,'origin_s':0,'preview_jobs':%llu,'fills':%hhd,'queues':", FREEZE_KEY, FREEZE_VERSION,
                   (unsigned long long)job_source_preview_max(freeze->source),
                   job_source_facts(freeze->source)->is_filling);
    queue_table_write(job_source_queue_table(freeze->source), 1, out);
    put_names(out, "users", job_source_users(freeze->source));
    put_names(out, "tags", job_source_tags(freeze->source));
    buffer_string(out, "}\n");
}

static struct error put_all(struct freeze *freeze, struct job_source *source, struct output *output)
{
    struct job job;
    struct job_truth truth;
    const struct job_view view = {.job = &job,
                                  .truth = &truth,
                                  .source = freeze->source,
                                  .cluster = freeze->cluster,
                                  .ids = &freeze->ids,
                                  .scratch = &freeze->scratch};
    bool has;
    put_header(freeze);
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            return ERROR_OK;
        arena_reset(&freeze->scratch);
        if (freeze->lost != NULL)
            job_columns_lost(&view, JOBS_JSONL, &freeze->text, freeze->lost);
        TRY(put_job(freeze, &view));
        TRY(output_flush_if_full(output));
    }
}

struct error freeze_write(struct job_source *source, const struct cluster *cluster, struct output *output,
                          struct reason_tally *lost)
{
    if (job_source_facts(source)->loop != NULL)
        return error_new(ERROR_CONFIG, "a closed loop cannot be frozen: when its jobs come depends on the run");
    struct freeze freeze = {.source = source, .cluster = cluster, .out = output_buffer(output), .lost = lost};
    struct error error = put_all(&freeze, source, output);
    job_ids_release(&freeze.ids);
    arena_release(&freeze.scratch);
    buffer_release(&freeze.text);
    return error;
}
