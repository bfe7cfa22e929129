/* reports/export/export_perfetto.c -- a trace in the Trace Event Format (JSON), which ui.perfetto.dev opens.
 *
 * A node is a process, each of its GPUs a thread, and an attempt a slice on every GPU that it holds; where jobs share a
 * GPU it has several threads, so that slices of one thread never overlap.  Jobs without GPUs are on a thread of their
 * own.  The slices of a gang on several nodes are joined by flows, from the first GPU of each node to that of the next.
 * Process 1 is the cluster: counters from the timeline.  Times are microseconds of simulated time.
 *
 * Source: "Trace Event Format", Google, 2016; "Importing the JSON trace format", perfetto.dev. */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "reports/export/export.h"
#include "reports/export/lives.h"
#include "reports/export/nodes.h"
#include "reports/export/placement.h"
#include "reports/export/tracks.h"
#include "reports/record_read.h"

enum {
    PID_CLUSTER = 1,
    PID_NODES = 2,              /* of node 0 */
    TID_TRACKS = 2000000,       /* above all processes: a thread with its process's number would be its main thread */
    FLOW_ATTEMPT_BITS = 24,     /* of a flow's number */
    THREAD_ORDER_LANES = 10000, /* places of a GPU in the order of threads */
};

struct writer {
    const struct export_request *request;
    struct output *output;
    struct lives *lives;
    struct nodes *nodes;
    struct tracks *tracks;
    uint64_t gpu_count;
    bool *is_named; /* by node: its process has a name */
    size_t named_capacity;
    bool has_job;
};

/* What a slice says of its job. */
struct subject {
    const struct job_row *job;
    const struct attempt_row *attempt;
    const char *name;
    time_ns start, end; /* of the attempt, cut to the window */
    uint32_t nodes;     /* that it has pieces of, one by one as in the placement */
};

static bool is_in_window(const struct export_request *request, time_ns start, time_ns end)
{
    return start < request->until && (end > request->from || start >= request->from);
}

static bool is_on_node(const struct export_request *request, const char *node)
{
    return request->node == NULL || strcmp(request->node, node) == 0;
}

/* ---- names ---- */

static void name_process(struct writer *writer, uint32_t pid, const char *name)
{
    buffer_members(output_buffer(writer->output),
                   ",\n{'ph':'M','pid':%u,'name':'process_name','args':{'name':%s}}"
                   ",\n{'ph':'M','pid':%u,'name':'process_sort_index','args':{'sort_index':%u}}",
                   pid, name, pid, pid);
}

static void name_thread(struct writer *writer, uint32_t pid, const struct track *track, unsigned gpu_index)
{
    const unsigned long long tid = TID_TRACKS + track->id;
    struct buffer name = {0};
    if (gpu_index == TRACK_NO_GPU)
        buffer_string(&name, "no GPU");
    else
        buffer_format(&name, "GPU %u", gpu_index);
    if (track->lane > 0)
        buffer_format(&name, " (%u)", track->lane + 1);
    buffer_members(output_buffer(writer->output),
                   ",\n{'ph':'M','pid':%u,'tid':%llu,'name':'thread_name','args':{'name':%s}}"
                   ",\n{'ph':'M','pid':%u,'tid':%llu,'name':'thread_sort_index','args':{'sort_index':%u}}",
                   pid, tid, buffer_c_string(&name), pid, tid, gpu_index * THREAD_ORDER_LANES + track->lane);
    buffer_release(&name);
}

/* ---- slices ---- */

static void write_args(struct buffer *out, const struct subject *subject, int64_t share_milli)
{
    const struct attempt_row *row = subject->attempt;
    buffer_members(out, ",'args':{'job':%s,'attempt':%u,'gpus':%.3lld", subject->name, row->attempt,
                   (long long)row->gpu_milli);
    if (share_milli != GPU_MILLI)
        buffer_members(out, ",'share':%.3lld", (long long)share_milli);
    if (subject->nodes > 1)
        buffer_members(out, ",'nodes':%u", subject->nodes);
    buffer_members(out, ",'queue':%s", subject->job->queue);
    if (subject->job->user[0] != '\0')
        buffer_members(out, ",'user':%s", subject->job->user);
    buffer_members(out, ",'why':%s", attempt_end_names[row->why]);
    if (row->reason != REASON_NONE)
        buffer_members(out, ",'reason':%s", reason_name((enum reason)row->reason));
    if (row->is_partial)
        buffer_members(out, ",'is_partial':true");
    if (subject->start != row->start || subject->end != row->end)
        buffer_members(out, ",'start_s':%.9lld,'end_s':%.9lld", (long long)row->start, (long long)row->end);
    buffer_char(out, '}');
}

/* The slice of the first GPU of each node is a step of the gang's flow. */
static void write_flow(struct buffer *out, const struct subject *subject, uint32_t step)
{
    if (subject->nodes < 2)
        return;
    const uint64_t flow = ((uint64_t)subject->attempt->id + 1) << FLOW_ATTEMPT_BITS | subject->attempt->attempt;
    buffer_format(out, ",\"bind_id\":\"0x%" PRIx64 "\"", flow);
    if (step > 0)
        buffer_string(out, ",\"flow_in\":true");
    if (step + 1 < subject->nodes)
        buffer_string(out, ",\"flow_out\":true");
}

static struct error write_slice(struct writer *writer, const struct subject *subject, uint32_t node, unsigned gpu_index,
                                uint16_t lane, int64_t share_milli, int64_t step)
{
    struct track *track = tracks_lane(writer->tracks, node, gpu_index, lane);
    const struct job_row *job = subject->job;
    if (!track->is_named)
        name_thread(writer, PID_NODES + node, track, gpu_index);
    track->is_named = true;
    struct buffer *out = output_buffer(writer->output);
    struct buffer name = {0}; /* Perfetto gives names that differ in digits only one colour */
    buffer_format(&name, "%s %s", job->workload_class != NULL ? job->workload_class : job_class_names[job->class],
                  subject->name);
    buffer_members(out, ",\n{'ph':'X','pid':%u,'tid':%llu,'ts':%.3lld,'dur':%.3lld,'cat':%s,'name':%s",
                   PID_NODES + node, (unsigned long long)TID_TRACKS + track->id, (long long)subject->start,
                   (long long)(subject->end - subject->start), job_class_names[job->class], buffer_c_string(&name));
    buffer_release(&name);
    if (step >= 0)
        write_flow(out, subject, (uint32_t)step);
    write_args(out, subject, share_milli);
    buffer_char(out, '}');
    return output_flush_if_full(writer->output);
}

/* The slices of one piece; the lanes are in the note of the attempt. */
static struct error write_piece(struct writer *writer, const struct subject *subject,
                                const struct placement_piece *piece, const uint16_t **lane, uint32_t step)
{
    const uint32_t node = nodes_number(writer->nodes, piece->node);
    MEM_GROW(writer->is_named, writer->named_capacity, (size_t)node + 1);
    if (!writer->is_named[node])
        name_process(writer, PID_NODES + node, piece->node);
    writer->is_named[node] = true;
    if (piece->gpu_mask == 0)
        return write_slice(writer, subject, node, TRACK_NO_GPU, *(*lane)++, GPU_MILLI, step);
    bool is_first = true;
    for (unsigned mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        TRY(write_slice(writer, subject, node, (unsigned)__builtin_ctz(mask), *(*lane)++, piece->gpu_milli,
                        is_first ? (int64_t)step : -1));
        is_first = false;
    }
    return ERROR_OK;
}

static uint32_t count_pieces(const struct writer *writer, const struct attempt_row *row)
{
    struct placement_reader reader;
    struct placement_piece piece;
    uint32_t count = 0;
    placement_begin(&reader, row->placement, row->gpu_milli > 0);
    while (placement_next(&reader, &piece))
        count += is_on_node(writer->request, piece.node);
    placement_release(&reader);
    return count;
}

static struct error write_attempt(struct writer *writer, const struct job_row *job, const char *name,
                                  const struct life *life)
{
    const struct export_request *request = writer->request;
    const struct attempt_row *row = &life->row;
    const uint16_t *lane = (const uint16_t *)(const void *)life->note.bytes;
    const struct subject subject = {.job = job,
                                    .attempt = row,
                                    .name = name,
                                    .start = row->start > request->from ? row->start : request->from,
                                    .end = row->end < request->until ? row->end : request->until,
                                    .nodes = count_pieces(writer, row)};
    struct placement_reader reader;
    struct placement_piece piece;
    struct error error = ERROR_OK;
    uint32_t step = 0;
    placement_begin(&reader, row->placement, row->gpu_milli > 0);
    while (!error_is(error) && placement_next(&reader, &piece))
        if (is_on_node(request, piece.node))
            error = write_piece(writer, &subject, &piece, &lane, step++);
    placement_release(&reader);
    return error;
}

/* ---- rows ---- */

static void take_track(struct writer *writer, struct life *life, uint32_t node, unsigned gpu_index, bool is_whole)
{
    const struct track *track = tracks_take(writer->tracks, node, gpu_index, is_whole, life->row.start, life->row.end);
    const uint16_t lane = (uint16_t)track->lane;
    buffer_bytes(&life->note, &lane, sizeof lane);
}

/* Tracks are taken in the order of ends, slices are written when the job is known. */
static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct writer *writer = self;
    struct placement_reader reader;
    struct placement_piece piece;
    if (!is_in_window(writer->request, row->start, row->end))
        return ERROR_OK;
    struct life *life = lives_add(writer->lives, row);
    placement_begin(&reader, row->placement, row->gpu_milli > 0);
    while (placement_next(&reader, &piece)) {
        const uint32_t node = nodes_number(writer->nodes, piece.node);
        if (!is_on_node(writer->request, piece.node))
            continue;
        if (piece.gpu_mask == 0)
            take_track(writer, life, node, TRACK_NO_GPU, true);
        for (unsigned mask = piece.gpu_mask; mask != 0; mask &= mask - 1)
            take_track(writer, life, node, (unsigned)__builtin_ctz(mask), piece.gpu_milli == GPU_MILLI);
    }
    struct error error = reader.is_bad ? placement_error(row) : ERROR_OK;
    placement_release(&reader);
    return error;
}

static struct error on_job(void *self, const struct job_row *job)
{
    struct writer *writer = self;
    struct buffer number = {0};
    const char *name = job->name;
    struct error error = ERROR_OK;
    if (name == NULL) {
        buffer_int(&number, job->id);
        name = buffer_c_string(&number);
    }
    if (writer->request->job == NULL || strcmp(name, writer->request->job) == 0) {
        writer->has_job = true;
        for (const struct life *life = lives_of(writer->lives, job->id); life != NULL && !error_is(error);
             life = life->next)
            error = write_attempt(writer, job, name, life);
    }
    lives_drop(writer->lives, job->id);
    buffer_release(&number);
    return error;
}

static void begin_counter(struct writer *writer, const char *name, time_ns at)
{
    buffer_members(output_buffer(writer->output), ",\n{'ph':'C','pid':%d,'name':%s,'ts':%.3lld,'args':{", PID_CLUSTER,
                   name, (long long)at);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct writer *writer = self;
    struct buffer *out = output_buffer(writer->output);
    if (row->time < writer->request->from || row->time > writer->request->until)
        return ERROR_OK;
    begin_counter(writer, "jobs", row->time);
    buffer_members(out, "'pending':%u,'running':%u}}", row->pending_jobs, row->running_jobs);
    begin_counter(writer, "GPUs", row->time);
    buffer_members(out, "'allocated':%.3lld,'active':%.3lld,'reserved':%.3lld,'down':%.3lld,'pending':%.3lld",
                   (long long)row->allocated_gpu_milli, (long long)row->active_gpu_milli,
                   (long long)row->reserved_gpu_milli, (long long)row->down_gpu_milli,
                   (long long)row->pending_gpu_milli);
    if (row->space.is_known)
        buffer_members(out, ",'stranded':%.3lld,'fragmented':%g", (long long)row->space.stranded_gpu_milli,
                       space_fragmented_gpus(&row->space));
    buffer_string(out, "}}");
    if (writer->gpu_count > 0) {
        const double gpu_milli = (double)writer->gpu_count * GPU_MILLI;
        begin_counter(writer, "utilization", row->time);
        buffer_members(out, "'allocation_ratio':%g,'sm_active_ratio':%g}}",
                       (double)row->allocated_gpu_milli / gpu_milli, (double)row->active_gpu_milli / gpu_milli);
    }
    return output_flush_if_full(writer->output);
}

static struct error on_finished(void *self, const struct run_facts *facts)
{
    struct writer *writer = self;
    (void)facts;
    if (writer->request->job != NULL && !writer->has_job)
        return error_new(ERROR_DATA, "the record has no job '%s'", writer->request->job);
    if (writer->request->node != NULL && !nodes_has(writer->nodes, writer->request->node))
        return error_new(ERROR_DATA, "the record has no node '%s'", writer->request->node);
    return lives_finish(writer->lives);
}

/* ---- the file ---- */

static struct error write_events(struct writer *writer, const struct result *result)
{
    const struct export_request *request = writer->request;
    const struct record_sink sink = {
        .self = writer, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample, .on_finished = on_finished};
    TRY(output_open(&writer->output, request->out != NULL ? request->out : "-", OUTPUT_PLAIN));
    struct buffer *out = output_buffer(writer->output);
    buffer_members(out, "{'displayTimeUnit':'ms','otherData':{'windtunnel':%s,'fingerprint':%s},'traceEvents':[",
                   result->manifest.version, result->manifest.fingerprint);
    name_process(writer, PID_CLUSTER, "cluster");
    TRY(record_read_together(request->record, &sink));
    buffer_string(out, "\n]}\n");
    return output_commit(&writer->output);
}

static struct error write_perfetto(const struct export_request *request)
{
    struct result result;
    TRY(result_read(&result, request->record));
    struct writer writer = {.request = request,
                            .lives = lives_new(),
                            .nodes = nodes_new(&result),
                            .tracks = tracks_new(),
                            .gpu_count = result.facts.gpu_count};
    struct error error = write_events(&writer, &result);
    output_discard(&writer.output);
    result_release(&result);
    lives_free(writer.lives);
    nodes_free(writer.nodes);
    tracks_free(writer.tracks);
    mem_free(writer.is_named);
    return error;
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .summary = "a trace of GPUs by node, for ui.perfetto.dev",
    .target = EXPORT_TEXT,
    .has_cut = true,
    .write = write_perfetto,
};
