#include "workloads/load_model/load_rows.h"

enum { NS_DIGITS = 1000000000, MILLI = 1000, MIB_PER_GB = 1024 };

static const char header[] =
    "job_id,submit_s,duration_s,gpus,nodes,gpu_fraction,cpus,memory_gb,queue,user,class,limit_s,outcome\n";

struct row {
    struct buffer *out;
    bool is_json;
    bool is_first;
};

/* Begin the next field; one that is absent is empty in CSV and left out of JSON.  False: it is absent. */
static bool begin(struct row *row, const char *name, bool has)
{
    if (!has && row->is_json)
        return false;
    if (!row->is_first)
        buffer_char(row->out, ',');
    row->is_first = false;
    if (row->is_json)
        buffer_format(row->out, "\"%s\":", name);
    return has;
}

static void put_scaled(struct row *row, const char *name, int64_t value, int64_t scale, bool has)
{
    if (begin(row, name, has))
        buffer_scaled(row->out, value, scale);
}

static void put_text(struct row *row, const char *name, const char *text)
{
    begin(row, name, true);
    if (row->is_json)
        buffer_json(row->out, text_of(text));
    else
        buffer_csv(row->out, text_of(text));
}

static void put_user(struct row *row, const struct load_origin *origin)
{
    struct buffer name = {0};
    if (begin(row, "user", origin->user > 0)) {
        buffer_format(&name, "%s-u%u", origin->stream->name, origin->user);
        const struct text text = {name.bytes, name.length};
        if (row->is_json)
            buffer_json(row->out, text);
        else
            buffer_csv(row->out, text);
    }
    buffer_release(&name);
}

static void put_job(struct row *row, const struct job *job, const struct job_truth *truth,
                    const struct load_origin *origin)
{
    const struct ask *ask = &origin->kind->ask;
    const bool is_part = ask->gpu_milli > 0;
    put_scaled(row, "job_id", job->trace_id, 1, true);
    put_scaled(row, "submit_s", job->submit, NS_DIGITS, true);
    put_scaled(row, "duration_s", truth->duration, NS_DIGITS, true);
    put_scaled(row, "gpus", is_part ? 1 : ask->gpus, 1, true);
    put_scaled(row, "nodes", ask->nodes, 1, ask->nodes > 0);
    put_scaled(row, "gpu_fraction", ask->gpu_milli, GPU_MILLI, is_part);
    put_scaled(row, "cpus", ask->cpu_milli, MILLI, ask->cpu_milli > 0);
    put_scaled(row, "memory_gb", ask->memory_mib * 1000000 / MIB_PER_GB, 1000000, ask->memory_mib > 0);
    put_text(row, "queue", origin->stream->queue);
    put_user(row, origin);
    put_text(row, "class", job_class_names[job->class]);
    put_scaled(row, "limit_s", job->limit, NS_DIGITS, job->limit != TIME_NEVER);
    put_text(row, "outcome", job_outcome_names[truth->outcome]);
}

struct error load_rows_write(struct load_draw *draw, enum load_form form, struct output *output, uint64_t *count)
{
    struct buffer *out = output_buffer(output);
    struct job job;
    struct job_truth truth;
    struct load_origin origin;
    *count = 0;
    if (form == LOAD_CSV)
        buffer_string(out, header);
    while (load_draw_next(draw, &job, &truth, &origin)) {
        struct row row = {.out = out, .is_json = form == LOAD_JSON_LINES, .is_first = true};
        if (row.is_json)
            buffer_char(out, '{');
        put_job(&row, &job, &truth, &origin);
        buffer_string(out, row.is_json ? "}\n" : "\n");
        (*count)++;
        TRY(output_flush_if_full(output));
    }
    return ERROR_OK;
}
