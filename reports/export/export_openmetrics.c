/* reports/export/export_openmetrics.c -- series with simulated timestamps, in OpenMetrics text.
 *
 * `promtool tsdb create-blocks-from openmetrics` makes blocks of it for Prometheus.  A family stands in one piece, as
 * the format wants it; so the timeline is read once for each of its series, and memory does not grow with it.  Each
 * series has the label `run`: the name of the record's folder.
 *
 * Source: OpenMetrics 1.0 (github.com/OpenObservability/OpenMetrics). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "reports/export/export.h"
#include "reports/export/result_rows.h"
#include "reports/export/series.h"
#include "reports/record_read.h"
#include "reports/result.h"

struct family {
    const char *name; /* without "windtunnel_", and of a counter without "_total" */
    const char *unit; /* the end of the name; "": none */
    const char *help;
    bool is_counter;
};

/* A series of the timeline. */
struct line {
    struct family family;
    const char *label; /* NULL: only `run` */
    const char *value; /* of the label */
    double (*of)(const struct timeline_row *row);
    bool is_space; /* known only where row.space is */
};

struct writer {
    const struct export_request *request;
    struct output *output;
    struct buffer run; /* the label, as text: run="..." */
    const struct line *line;
    struct timeline_row held; /* the last sample; of samples in one millisecond the last counts */
    bool has_held;
    struct series *series;
    time_ns end;
};

#define GETTER(name, expression)                                                                                       \
    static double name(const struct timeline_row *row)                                                                 \
    {                                                                                                                  \
        return (expression);                                                                                           \
    }
GETTER(pending_jobs, row->pending_jobs)
GETTER(running_jobs, row->running_jobs)
GETTER(pending_gpus, (double)row->pending_gpu_milli / GPU_MILLI)
GETTER(allocated_gpus, (double)row->allocated_gpu_milli / GPU_MILLI)
GETTER(active_gpus, (double)row->active_gpu_milli / GPU_MILLI)
GETTER(reserved_gpus, (double)row->reserved_gpu_milli / GPU_MILLI)
GETTER(down_gpus, (double)row->down_gpu_milli / GPU_MILLI)
GETTER(idle_gpus, (double)row->space.idle_gpu_milli / GPU_MILLI)
GETTER(stranded_gpus, (double)row->space.stranded_gpu_milli / GPU_MILLI)
GETTER(fragmented_0, row->space.fragmented_gpus[0])
GETTER(fragmented_1, row->space.fragmented_gpus[1])
GETTER(fragmented_2, row->space.fragmented_gpus[2])
GETTER(fragmented_3, row->space.fragmented_gpus[3])
GETTER(fragmented_4, row->space.fragmented_gpus[4])
GETTER(fragmented_5, row->space.fragmented_gpus[5])
GETTER(fragmented_6, row->space.fragmented_gpus[6])
GETTER(gang_0, (double)row->space.gang_gpus[0])
GETTER(gang_1, (double)row->space.gang_gpus[1])
GETTER(gang_2, (double)row->space.gang_gpus[2])
GETTER(gang_3, (double)row->space.gang_gpus[3])
GETTER(slices, (double)row->space.mig_slices_unplaceable)
GETTER(submitted, (double)row->submitted)
GETTER(started, (double)row->started)
GETTER(ended, (double)row->ended)
GETTER(evicted, (double)row->evicted)
GETTER(rejected, (double)row->rejected)
GETTER(allocated_s, row->allocated_gpu_s)
GETTER(active_s, row->active_gpu_s)
GETTER(reserved_s, row->reserved_gpu_s)
GETTER(down_s, row->down_gpu_s)
GETTER(pending_s, row->pending_job_s)
GETTER(running_s, row->running_job_s)
GETTER(partial_s, row->partial_gang_gpu_s)
GETTER(idle_held_gpus, (double)row->idle_held_gpu_milli / GPU_MILLI)
GETTER(idle_held_s, row->idle_held_gpu_s)

#define FRAGMENTED                                                                                                     \
    {                                                                                                                  \
        "fragmented_gpus", "", "Free GPUs that typical members of the workload cannot use, by cause.", false           \
    }
#define GANG                                                                                                           \
    {                                                                                                                  \
        "largest_gang_gpus", "", "The largest gang that could start, in GPUs, by GPUs of a member.", false             \
    }

static const struct line lines[] = {
    {{"pending_jobs", "", "Jobs that wait.", false}, NULL, NULL, pending_jobs, false},
    {{"running_jobs", "", "Jobs that run.", false}, NULL, NULL, running_jobs, false},
    {{"pending_gpus", "", "GPUs that waiting jobs ask for.", false}, NULL, NULL, pending_gpus, false},
    {{"allocated_gpus", "", "GPUs allocated to jobs that run.", false}, NULL, NULL, allocated_gpus, false},
    {{"active_gpus", "", "Allocated GPUs x SM activity.", false}, NULL, NULL, active_gpus, false},
    {{"reserved_gpus", "", "GPUs held for a job that does not run yet.", false}, NULL, NULL, reserved_gpus, false},
    {{"idle_held_gpus", "", "Allocated GPUs of which no SM is busy.", false}, NULL, NULL, idle_held_gpus, false},
    {{"down_gpus", "", "GPUs of nodes that are down.", false}, NULL, NULL, down_gpus, false},
    {{"idle_gpus", "", "Free GPUs.", false}, NULL, NULL, idle_gpus, true},
    {{"stranded_gpus", "", "Free GPUs that no waiting member can use.", false}, NULL, NULL, stranded_gpus, true},
    {FRAGMENTED, "cause", "no_gpu", fragmented_0, true},
    {FRAGMENTED, "cause", "type", fragmented_1, true},
    {FRAGMENTED, "cause", "host", fragmented_2, true},
    {FRAGMENTED, "cause", "gpu_count", fragmented_3, true},
    {FRAGMENTED, "cause", "share", fragmented_4, true},
    {FRAGMENTED, "cause", "geometry", fragmented_5, true},
    {FRAGMENTED, "cause", "topology", fragmented_6, true},
    {GANG, "member_gpus", "1", gang_0, true},
    {GANG, "member_gpus", "2", gang_1, true},
    {GANG, "member_gpus", "4", gang_2, true},
    {GANG, "member_gpus", "8", gang_3, true},
    {{"mig_slices_unplaceable", "", "Free slices in no instance that jobs ask.", false}, NULL, NULL, slices, true},
    {{"jobs_submitted", "", "Jobs submitted.", true}, NULL, NULL, submitted, false},
    {{"jobs_started", "", "Starts of jobs, those after evictions too.", true}, NULL, NULL, started, false},
    {{"jobs_ended", "", "Jobs that ended.", true}, NULL, NULL, ended, false},
    {{"jobs_evicted", "", "Evictions.", true}, NULL, NULL, evicted, false},
    {{"jobs_rejected", "", "Jobs that were rejected.", true}, NULL, NULL, rejected, false},
    {{"allocated_gpu_seconds", "seconds", "Integral of allocated_gpus.", true}, NULL, NULL, allocated_s, false},
    {{"active_gpu_seconds", "seconds", "Integral of active_gpus.", true}, NULL, NULL, active_s, false},
    {{"reserved_gpu_seconds", "seconds", "Integral of reserved_gpus.", true}, NULL, NULL, reserved_s, false},
    {{"down_gpu_seconds", "seconds", "Integral of down_gpus.", true}, NULL, NULL, down_s, false},
    {{"pending_job_seconds", "seconds", "Integral of pending_jobs.", true}, NULL, NULL, pending_s, false},
    {{"running_job_seconds", "seconds", "Integral of running_jobs.", true}, NULL, NULL, running_s, false},
    {{"partial_gang_gpu_seconds", "seconds", "The part of reserved_gpu_seconds of gangs below their minimum.", true},
     NULL,
     NULL,
     partial_s,
     false},
    {{"idle_held_gpu_seconds", "seconds", "Integral of idle_held_gpus.", true}, NULL, NULL, idle_held_s, false},
};

static const struct {
    const char *name, *unit, *help;
    enum job_sum sum;
    bool has_queues;
} sums[] = {
    {"jobs_submitted", "", "Jobs submitted", SUM_SUBMITTED, true},
    {"jobs_started", "", "Jobs that started for the first time", SUM_STARTED, true},
    {"jobs_ended", "", "Jobs that ended, rejected ones included", SUM_ENDED, false},
    {"evictions", "", "Evictions of jobs, counted when the job ends", SUM_EVICTIONS, false},
    {"wait_seconds", "seconds", "Waits until the first start, counted when the job starts", SUM_WAIT_S, true},
    {"gpu_seconds", "seconds", "GPU time held, counted when the job ends", SUM_GPU_S, true},
    {"lost_gpu_seconds", "seconds", "GPU time lost by evictions, counted when the job ends", SUM_LOST_GPU_S, false},
};

/* ---- text ---- */

static void write_label(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, "%s=", name);
    buffer_label(out, text_of(value));
}

static void write_head(struct buffer *out, const struct family *family)
{
    buffer_format(out, "# HELP windtunnel_%s %s\n", family->name, family->help);
    buffer_format(out, "# TYPE windtunnel_%s %s\n", family->name, family->is_counter ? "counter" : "gauge");
    if (family->unit[0] != '\0')
        buffer_format(out, "# UNIT windtunnel_%s %s\n", family->name, family->unit);
}

/* label NULL: none besides `run`. */
static struct error write_point(struct writer *writer, const struct family *family, const char *label,
                                const char *label_value, double value, time_ns at)
{
    struct buffer *out = output_buffer(writer->output);
    buffer_format(out, "windtunnel_%s%s{", family->name, family->is_counter ? "_total" : "");
    buffer_text(out, (struct text){writer->run.bytes, writer->run.length});
    if (label != NULL) {
        buffer_char(out, ',');
        write_label(out, label, label_value);
    }
    buffer_string(out, "} ");
    buffer_double(out, value);
    buffer_char(out, ' ');
    buffer_scaled(out, (writer->request->epoch + at) / TIME_NS_PER_MS, TIME_NS_PER_S / TIME_NS_PER_MS);
    buffer_char(out, '\n');
    return output_flush_if_full(writer->output);
}

/* ---- the timeline ---- */

static struct error write_held(struct writer *writer)
{
    const struct line *line = writer->line;
    if (!writer->has_held || (line->is_space && !writer->held.space.is_known))
        return ERROR_OK;
    return write_point(writer, &line->family, line->label, line->value, line->of(&writer->held), writer->held.time);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct writer *writer = self;
    if (writer->has_held && row->time / TIME_NS_PER_MS > writer->held.time / TIME_NS_PER_MS)
        TRY(write_held(writer));
    writer->held = *row;
    writer->has_held = true;
    return ERROR_OK;
}

static struct error write_timeline(struct writer *writer)
{
    const struct record_sink sink = {.self = writer, .on_sample = on_sample};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        writer->line = &lines[i];
        writer->has_held = false;
        if (i == 0 || strcmp(lines[i].family.name, lines[i - 1].family.name) != 0)
            write_head(output_buffer(writer->output), &lines[i].family);
        TRY(record_read(writer->request->record, &sink));
        TRY(write_held(writer));
    }
    return ERROR_OK;
}

/* ---- jobs ---- */

static struct error on_job(void *self, const struct job_row *row)
{
    struct writer *writer = self;
    series_add(writer->series, row);
    return ERROR_OK;
}

static struct error write_series(struct writer *writer, const struct family *family, const char *label,
                                 const char *value, const double *sums_by_point)
{
    for (uint32_t p = 0; sums_by_point != NULL && p < series_points(writer->series); p++)
        TRY(write_point(writer, family, label, value, sums_by_point[p], series_time(writer->series, p)));
    return ERROR_OK;
}

static struct error write_classes(struct writer *writer)
{
    const struct series *series = writer->series;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        struct buffer name = {0};
        struct error error = ERROR_OK;
        buffer_format(&name, "class_%s", sums[i].name);
        const struct family family = {buffer_c_string(&name), sums[i].unit, sums[i].help, true};
        write_head(output_buffer(writer->output), &family);
        for (uint8_t c = 0; c < JOB_CLASS_COUNT && !error_is(error); c++)
            error = write_series(writer, &family, "class", job_class_names[c], series_of_class(series, c, sums[i].sum));
        buffer_release(&name);
        TRY(error);
    }
    return ERROR_OK;
}

static struct error write_queues(struct writer *writer)
{
    const struct series *series = writer->series;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        struct buffer name = {0};
        struct error error = ERROR_OK;
        if (!sums[i].has_queues)
            continue;
        buffer_format(&name, "queue_%s", sums[i].name);
        const struct family family = {buffer_c_string(&name), sums[i].unit, sums[i].help, true};
        write_head(output_buffer(writer->output), &family);
        for (uint32_t q = 0; q < series_queues(series) && !error_is(error); q++)
            error = write_series(writer, &family, "queue", series_queue_name(series, q),
                                 series_of_queue(series, q, sums[i].sum));
        buffer_release(&name);
        TRY(error);
    }
    return ERROR_OK;
}

/* ---- result.json ---- */

static const struct family result_family = {"result", "", "The metrics of result.json, at the end of the run.", false};

static struct error on_metric(void *self, const struct metric_value *metric)
{
    struct writer *writer = self;
    if (strcmp(metric->cut, "all") != 0)
        return ERROR_OK;
    return write_point(writer, &result_family, "metric", metric->name, metric->value, writer->end);
}

/* ---- the file ---- */

static struct error write_all(struct writer *writer, const struct result *result)
{
    static const struct family gpus = {"gpus", "", "GPUs of the cluster.", false};
    const struct export_request *request = writer->request;
    const struct record_sink jobs = {.self = writer, .on_job = on_job};
    const struct result_rows metrics = {.self = writer, .on_metric = on_metric};
    TRY(output_open(&writer->output, request->out != NULL ? request->out : "-", OUTPUT_PLAIN));
    TRY(write_timeline(writer));
    TRY(record_read(request->record, &jobs));
    series_finish(writer->series);
    TRY(write_classes(writer));
    TRY(write_queues(writer));
    write_head(output_buffer(writer->output), &gpus);
    for (uint32_t p = 0; p < series_points(writer->series); p++)
        TRY(write_point(writer, &gpus, NULL, NULL, (double)result->facts.gpu_count, series_time(writer->series, p)));
    write_head(output_buffer(writer->output), &result_family);
    TRY(result_rows_read(request->record, &metrics));
    buffer_string(output_buffer(writer->output), "# EOF\n");
    return output_commit(&writer->output);
}

/* The name of the folder, whatever the path to it. */
static void write_run(struct buffer *out, const char *folder)
{
    char *path = realpath(folder, NULL);
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    write_label(out, "run", slash != NULL ? slash + 1 : folder);
    free(path);
}

static struct error write_openmetrics(const struct export_request *request)
{
    struct result result;
    TRY(result_read(&result, request->record));
    struct writer writer = {.request = request, .series = series_new(result.facts.end), .end = result.facts.end};
    write_run(&writer.run, request->record);
    struct error error = write_all(&writer, &result);
    output_discard(&writer.output);
    buffer_release(&writer.run);
    series_free(writer.series);
    result_release(&result);
    return error;
}

const struct export_format export_openmetrics = {
    .name = "openmetrics",
    .summary = "series with simulated timestamps, for Prometheus and Grafana",
    .target = EXPORT_TEXT,
    .has_epoch = true,
    .write = write_openmetrics,
};
