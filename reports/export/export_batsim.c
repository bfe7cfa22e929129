/* reports/export/export_batsim.c -- jobs.csv with the columns of Batsim, which evalys reads.
 *
 * Source: docs of Batsim 4, "Output files"; a recorded jobs.csv of Batsim.
 *
 * A row is an attempt, because a job of Batsim holds the same resources from its start to its end.  As in Batsim, an
 * attempt after an eviction is a job of its own: "NAME#1" after "NAME", submitted when the one before it ended.  Jobs
 * that never started have no row, but for rejected ones.  Resources are GPUs, numbered over the cluster; of a shared
 * GPU, the GPU.  workload_name is the queue, profile the workload class.  requested_time, Batsim's walltime, is the
 * job's time limit, -1 if it has none.  consumed_energy is -1, which the record does not hold. */
#include <inttypes.h>

#include "base/output.h"
#include "reports/export/export.h"
#include "reports/export/lives.h"
#include "reports/export/nodes.h"
#include "reports/export/placement.h"
#include "reports/record_read.h"

struct writer {
    struct output *output;
    struct lives *lives;
    struct nodes *nodes;
};

/* What Batsim calls the end of this attempt. */
static const char *final_state(const struct job_row *job, const struct attempt_row *attempt)
{
    if (attempt->why != ATTEMPT_ENDED)
        return "COMPLETED_KILLED"; /* evicted, resized, or the run ended */
    switch (job->state) {
    case END_COMPLETED:
        return "COMPLETED_SUCCESSFULLY";
    case END_FAILED:
        return "COMPLETED_FAILED";
    case END_LIMIT:
        return "COMPLETED_WALLTIME_REACHED";
    default:
        return "COMPLETED_KILLED";
    }
}

static void write_name(struct buffer *out, const struct job_row *job, uint32_t attempt)
{
    struct buffer name = {0};
    if (job->name != NULL)
        buffer_string(&name, job->name);
    else
        buffer_int(&name, job->id);
    if (attempt > 0)
        buffer_format(&name, "#%" PRIu32, attempt);
    buffer_csv(out, (struct text){name.bytes, name.length});
    buffer_release(&name);
}

static void write_s(struct buffer *out, time_ns span)
{
    buffer_char(out, ',');
    buffer_scaled(out, span, TIME_NS_PER_S);
}

/* Up to requested_time. */
static void write_request(struct buffer *out, const struct job_row *job, uint32_t attempt, time_ns submit,
                          int64_t gpu_milli)
{
    write_name(out, job, attempt);
    buffer_char(out, ',');
    buffer_csv(out, text_of(job->queue));
    buffer_char(out, ',');
    buffer_csv(out, text_of(job->workload_class != NULL ? job->workload_class : job_class_names[job->class]));
    write_s(out, submit);
    buffer_format(out, ",%" PRId64, (gpu_milli + GPU_MILLI - 1) / GPU_MILLI);
    if (job->limit == TIME_NEVER)
        buffer_string(out, ",-1");
    else
        write_s(out, job->limit);
}

/* The GPUs from `first` up to `end`, not included; none: nothing. */
static void write_run(struct buffer *out, uint64_t first, uint64_t end, const char **between)
{
    if (first == end)
        return;
    buffer_format(out, "%s%" PRIu64, *between, first);
    if (end - first > 1)
        buffer_format(out, "-%" PRIu64, end - 1);
    *between = " ";
}

/* "0-7 16-23": the pieces of one node, then those of the next. */
static struct error write_resources(struct writer *writer, const struct attempt_row *row)
{
    struct buffer *out = output_buffer(writer->output);
    struct placement_reader reader;
    struct placement_piece piece;
    uint64_t first = 0, end = 0; /* a run of GPUs that is not written yet; empty: none */
    const char *between = ",";
    placement_begin(&reader, row->placement, row->gpu_milli > 0);
    while (placement_next(&reader, &piece)) {
        const uint32_t node = nodes_number(writer->nodes, piece.node);
        for (unsigned mask = piece.gpu_mask; mask != 0; mask &= mask - 1) {
            const uint64_t gpu = nodes_gpu(writer->nodes, node, (unsigned)__builtin_ctz(mask));
            if (gpu != end) {
                write_run(out, first, end, &between);
                first = gpu;
            }
            end = gpu + 1;
        }
    }
    write_run(out, first, end, &between);
    if (between[0] == ',')
        buffer_char(out, ','); /* no GPUs */
    struct error error = reader.is_bad ? placement_error(row) : ERROR_OK;
    placement_release(&reader);
    return error;
}

static struct error write_attempt(struct writer *writer, const struct job_row *job, const struct attempt_row *row,
                                  time_ns submit)
{
    struct buffer *out = output_buffer(writer->output);
    const char *state = final_state(job, row);
    const time_ns ran = row->end - row->start;
    write_request(out, job, row->attempt, submit, row->gpu_milli);
    buffer_format(out, ",%d,%s", job->state == END_COMPLETED && row->why == ATTEMPT_ENDED, state);
    write_s(out, row->start);
    write_s(out, ran);
    write_s(out, row->end);
    write_s(out, row->start - submit);
    write_s(out, row->end - submit);
    buffer_char(out, ',');
    if (ran > 0)
        buffer_double(out, time_to_seconds(row->end - submit) / time_to_seconds(ran));
    else
        buffer_string(out, row->end > submit ? "inf" : "1");
    TRY(write_resources(writer, row));
    buffer_string(out, ",-1,\"\"\n");
    return output_flush_if_full(writer->output);
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct writer *writer = self;
    lives_add(writer->lives, row);
    return ERROR_OK;
}

static struct error on_job(void *self, const struct job_row *job)
{
    struct writer *writer = self;
    time_ns submit = job->submit;
    for (const struct life *life = lives_of(writer->lives, job->id); life != NULL; life = life->next) {
        TRY(write_attempt(writer, job, &life->row, submit));
        submit = life->row.end;
    }
    lives_drop(writer->lives, job->id);
    if (job->state != END_REJECTED)
        return ERROR_OK;
    struct buffer *out = output_buffer(writer->output);
    write_request(out, job, 0, job->submit, job->gpu_milli);
    buffer_string(out, ",0,REJECTED,-1,-1,-1,-1,-1,-1,,-1,\"\"\n");
    return output_flush_if_full(writer->output);
}

static struct error on_finished(void *self, const struct run_facts *facts)
{
    struct writer *writer = self;
    (void)facts;
    return lives_finish(writer->lives);
}

static struct error write_rows(struct writer *writer, const struct export_request *request)
{
    static const char header[] =
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
        "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
        "allocated_resources,consumed_energy,metadata\n";
    const struct record_sink sink = {
        .self = writer, .on_job = on_job, .on_attempt = on_attempt, .on_finished = on_finished};
    TRY(output_open(&writer->output, request->out != NULL ? request->out : "-", OUTPUT_PLAIN));
    buffer_string(output_buffer(writer->output), header);
    TRY(record_read_together(request->record, &sink));
    return output_commit(&writer->output);
}

static struct error write_batsim(const struct export_request *request)
{
    struct result result;
    TRY(result_read(&result, request->record));
    struct writer writer = {.lives = lives_new(), .nodes = nodes_new(&result)};
    result_release(&result);
    struct error error = write_rows(&writer, request);
    output_discard(&writer.output);
    lives_free(writer.lives);
    nodes_free(writer.nodes);
    return error;
}

const struct export_format export_batsim = {
    .name = "batsim",
    .summary = "Batsim's jobs.csv, a row per attempt, for evalys",
    .target = EXPORT_TEXT,
    .write = write_batsim,
};
