/* tests/unit/test_export.c -- records exported as text: what each format holds of a record made by hand, and of a fake
 * run; and what is refused. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"
#include <jansson.h>
#include <signal.h>

#include "base/mem.h"
#include "base/names.h"
#include "reports/export/export.h"
#include "reports/record_read.h"
#include "tests/support/made_record.h"
#include "tests/support/scratch.h"

/* ---- reading jobs and attempts together ---- */

static struct error note_job(void *self, const struct job_row *row)
{
    buffer_format(self, "j%u ", row->id);
    return ERROR_OK;
}

static struct error note_attempt(void *self, const struct attempt_row *row)
{
    buffer_format(self, "a%u.%u ", row->id, row->attempt);
    return ERROR_OK;
}

/* Attempts come up to the end of the job that follows, not further. */
TEST(test_attempts_come_with_jobs)
{
    struct buffer seen = {0};
    const struct record_sink sink = {.self = &seen, .on_job = note_job, .on_attempt = note_attempt};
    assert_false(error_is(record_read_together(made_hand(), &sink)));
    assert_string_equal(buffer_c_string(&seen), "j5 a3.0 a4.0 j4 a2.0 j2 a1.0 j1 a3.1 j3 a0.0 j0 ");
    buffer_release(&seen);
}

/* ---- Batsim ---- */

TEST(test_batsim)
{
    struct buffer text = made_export("batsim", made_hand());
    assert_string_equal(
        buffer_c_string(&text),
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
        "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
        "allocated_resources,consumed_energy,metadata\n"
        "huge,red,training,3,99,-1,0,REJECTED,-1,-1,-1,-1,-1,-1,,-1,\"\"\n"
        "host,blue,training,4,0,-1,1,COMPLETED_SUCCESSFULLY,5,2,7,1,3,1.5,,-1,\"\"\n"
        "share2,blue,\"small, cheap\",2,1,-1,1,COMPLETED_SUCCESSFULLY,3,5,8,1,6,1.2,6,-1,\"\"\n"
        "share,blue,inference,1,1,-1,1,COMPLETED_SUCCESSFULLY,2,7,9,1,8,1.1428571428571428,6,-1,\"\"\n"
        "3,red,training,1,1,-1,0,COMPLETED_KILLED,2,2,4,1,3,1.5,7,-1,\"\"\n"
        "3#1,red,training,4,1,-1,1,COMPLETED_SUCCESSFULLY,6,4,10,2,6,1.5,7,-1,\"\"\n"
        "gang,red,training,0,6,20,1,COMPLETED_SUCCESSFULLY,1,10,11,1,11,1.1,0-5,-1,\"\"\n");
    buffer_release(&text);
}

/* A record without its cluster, and queues with names that need quotes: a row per attempt and rejected job. */
TEST(test_batsim_rows)
{
    struct buffer text = made_export("batsim", made_fake());
    struct text rest = {text.bytes, text.length}, line;
    size_t rejected = 0, started = 0;
    while (text_cut(&rest, '\n', &line)) {
        rejected += memmem(line.at, line.length, ",0,REJECTED,-1,", 15) != NULL;
        started += memmem(line.at, line.length, ",COMPLETED_", 11) != NULL;
    }
    assert_int_equal(rejected, 12); /* every 100th of 1,200 */
    assert_in_range(started, 1000, 1188);
    assert_non_null(strstr(buffer_c_string(&text), ",0-7,-1,\"\"\n"));
    buffer_release(&text);
}

/* ---- Perfetto ---- */

static json_t *trace_events(struct buffer *text, json_t **root)
{
    json_error_t error;
    *root = json_loadb(text->bytes, text->length, JSON_REJECT_DUPLICATES, &error);
    if (*root == NULL)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return json_object_get(*root, "traceEvents");
}

static const char *text_in(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

/* The name that a metadata event of this kind gives a process or thread. */
static const char *name_of(const json_t *events, const char *kind, const json_t *slice)
{
    const bool is_thread = strcmp(kind, "thread_name") == 0;
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        if (strcmp(text_in(event, "name"), kind) == 0 &&
            json_equal(json_object_get(event, "pid"), json_object_get(slice, "pid")) &&
            (!is_thread || json_equal(json_object_get(event, "tid"), json_object_get(slice, "tid"))))
            return text_in(json_object_get(event, "args"), "name");
    }
    return "no name";
}

/* A line per slice: node, thread, from, for, name, attempt. */
static void slices_as_text(const struct export_request *request, struct buffer *out)
{
    json_t *root, *event;
    size_t i;
    made_export_as("perfetto", request);
    struct buffer text = scratch_read("export");
    const json_t *events = trace_events(&text, &root);
    out->length = 0;
    json_array_foreach(events, i, event)
    {
        if (strcmp(text_in(event, "ph"), "X") != 0)
            continue;
        buffer_format(out, "%s %s %g+%g %s %lld\n", name_of(events, "process_name", event),
                      name_of(events, "thread_name", event), json_number_value(json_object_get(event, "ts")) / 1e6,
                      json_number_value(json_object_get(event, "dur")) / 1e6, text_in(event, "name"),
                      json_integer_value(json_object_get(json_object_get(event, "args"), "attempt")));
    }
    buffer_c_string(out);
    json_decref(root);
    buffer_release(&text);
}

TEST(test_perfetto)
{
    struct buffer text = {0};
    const struct export_request request = made_request(made_hand(), "export");
    slices_as_text(&request, &text);
    assert_string_equal(text.bytes, "n1 no GPU 5+2 training host 0\n"
                                    "n1 GPU 2 3+5 small, cheap share2 0\n"
                                    "n1 GPU 2 (2) 2+7 inference share 0\n"
                                    "n1 GPU 3 2+2 training 3 0\n"
                                    "n1 GPU 3 6+4 training 3 1\n"
                                    "n0 GPU 0 1+10 training gang 0\n"
                                    "n0 GPU 1 1+10 training gang 0\n"
                                    "n0 GPU 2 1+10 training gang 0\n"
                                    "n0 GPU 3 1+10 training gang 0\n"
                                    "n1 GPU 0 1+10 training gang 0\n"
                                    "n1 GPU 1 1+10 training gang 0\n");
    buffer_release(&text);
}

/* What a slice says, and the flow of the gang from node to node. */
TEST(test_perfetto_arguments)
{
    struct buffer text = made_export("perfetto", made_hand());
    static const char *const held[] = {
        "\"bind_id\":\"0x1000000\",\"flow_out\":true,\"args\":{\"job\":\"gang\",\"attempt\":0,\"gpus\":6,\"nodes\":2,"
        "\"queue\":\"red\",\"user\":\"ann\",\"why\":\"ended\"}",
        "\"bind_id\":\"0x1000000\",\"flow_in\":true,\"args\":{\"job\":\"gang\"",
        "\"args\":{\"job\":\"3\",\"attempt\":0,\"gpus\":1,\"queue\":\"red\",\"why\":\"evicted\",\"reason\":"
        "\"Reclaimed\"}",
        "\"args\":{\"job\":\"share\",\"attempt\":0,\"gpus\":0.5,\"share\":0.5,\"queue\":\"blue\"",
        "\"name\":\"GPUs\",\"ts\":6000000,\"args\":{\"allocated\":8,\"active\":4,\"reserved\":0,\"down\":0,"
        "\"pending\":0,\"stranded\":0,\"fragmented\":0.5}}",
        "\"name\":\"utilization\",\"ts\":6000000,\"args\":{\"allocation_ratio\":1,\"sm_active_ratio\":0.5}}",
        "\"name\":\"jobs\",\"ts\":0,\"args\":{\"pending\":1,\"running\":0}}"};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        if (strstr(buffer_c_string(&text), held[i]) == NULL)
            fail_msg("the trace lacks %s", held[i]);
    buffer_release(&text);
}

TEST(test_perfetto_cuts)
{
    struct buffer text = {0};
    struct export_request request = made_request(made_hand(), "export");
    request.node = "n0";
    request.until = 3 * TIME_NS_PER_S;
    slices_as_text(&request, &text);
    assert_string_equal(text.bytes, "n0 GPU 0 1+2 training gang 0\nn0 GPU 1 1+2 training gang 0\n"
                                    "n0 GPU 2 1+2 training gang 0\nn0 GPU 3 1+2 training gang 0\n");
    request = made_request(request.record, "export");
    request.job = "3";
    slices_as_text(&request, &text);
    assert_string_equal(text.bytes, "n1 GPU 3 2+2 training 3 0\nn1 GPU 3 6+4 training 3 1\n");
    request.from = 4 * TIME_NS_PER_S; /* where the first attempt ended */
    request.until = 8 * TIME_NS_PER_S;
    slices_as_text(&request, &text);
    assert_string_equal(text.bytes, "n1 GPU 3 6+2 training 3 1\n");
    struct buffer cut = scratch_read("export");
    assert_non_null(strstr(buffer_c_string(&cut), "\"why\":\"ended\",\"start_s\":6,\"end_s\":10}"));
    buffer_release(&cut);
    buffer_release(&text);
}

struct slice {
    json_int_t tid;
    double start, end;
};

static int by_track(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The attempts of a fake run overlap on their GPUs, and yet slices on a track do not. */
TEST(test_perfetto_tracks)
{
    struct buffer text = made_export("perfetto", made_fake());
    json_t *root, *event;
    const json_t *events = trace_events(&text, &root);
    struct slice *slices = mem_zalloc(json_array_size(events), sizeof *slices);
    size_t i, count = 0;
    json_array_foreach(events, i, event)
    {
        if (strcmp(text_in(event, "ph"), "X") != 0)
            continue;
        slices[count].tid = json_integer_value(json_object_get(event, "tid"));
        slices[count].start = json_number_value(json_object_get(event, "ts"));
        slices[count].end = slices[count].start + json_number_value(json_object_get(event, "dur"));
        count++;
    }
    assert_in_range(count, 4000, 100000);
    qsort(slices, count, sizeof slices[0], by_track);
    for (i = 1; i < count; i++)
        if (slices[i].tid == slices[i - 1].tid && slices[i].start < slices[i - 1].end - 0.01)
            fail_msg("track %lld: a slice starts at %.3f, the one before ends at %.3f", slices[i].tid, slices[i].start,
                     slices[i - 1].end);
    mem_free(slices);
    json_decref(root);
    buffer_release(&text);
}

/* ---- OpenMetrics ---- */

TEST(test_openmetrics)
{
    struct export_request request = made_request(made_hand(), "export");
    request.epoch = INT64_C(1767225600) * TIME_NS_PER_S;
    made_export_as("openmetrics", &request);
    struct buffer text = scratch_read("export");
    static const char *const held[] = {
        /* of two samples in one millisecond the last */
        ("# HELP windtunnel_allocated_gpus GPUs allocated to jobs that run.\n"
         "# TYPE windtunnel_allocated_gpus gauge\n"
         "windtunnel_allocated_gpus{run=\"hand\"} 0 1767225600\n"
         "windtunnel_allocated_gpus{run=\"hand\"} 7 1767225606\n"
         "windtunnel_allocated_gpus{run=\"hand\"} 0 1767225612\n"),
        "# UNIT windtunnel_allocated_gpu_seconds seconds\n",
        "windtunnel_allocated_gpu_seconds_total{run=\"hand\"} 72 1767225612\n",
        "windtunnel_class_jobs_started_total{run=\"hand\",class=\"training\"} 3 1767225612\n",
        "windtunnel_class_lost_gpu_seconds_total{run=\"hand\",class=\"training\"} 1 1767225612\n",
        "windtunnel_queue_gpu_seconds_total{run=\"hand\",queue=\"red\"} 66 1767225612\n",
        "windtunnel_result{run=\"hand\",metric=\"jobs_completed\"} 5 1767225612\n",
        "windtunnel_gpus{run=\"hand\"} 8 1767225612\n"};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        if (strstr(buffer_c_string(&text), held[i]) == NULL)
            fail_msg("the text lacks %s", held[i]);
    buffer_release(&text);
}

/* The end of the series' name and labels; the value and the time follow. */
static const char *series_end(const char *line)
{
    bool is_quoted = false;
    for (const char *at = line;; at++) {
        assert_true(*at != '\0' && *at != '\n');
        if (*at == '\\')
            at++;
        else if (*at == '"')
            is_quoted = !is_quoted;
        else if (*at == '}' && !is_quoted)
            return at + 1;
    }
}

/* Families and series stand in one piece each, the times of a series rise, names of counters end in _total, labels are
 * escaped, and the text ends with # EOF. */
TEST(test_openmetrics_laws)
{
    struct buffer text = made_export("openmetrics", made_fake());
    struct names *families = names_new(), *series = names_new();
    struct text rest = {text.bytes, text.length}, line = {0};
    uint32_t family = NAMES_NONE;
    double time = 0;
    bool is_counter = false;
    buffer_c_string(&text);
    rest.at = text.bytes;
    while (text_cut(&rest, '\n', &line) && rest.length > 0) {
        if (line.at[0] == '#') {
            char kind[16], name[128], what[128];
            assert_int_equal(sscanf(line.at, "# %15s %127s %127[^\n]", kind, name, what), 3);
            if (strcmp(kind, "HELP") == 0) {
                family = names_add(families, text_of(name));
                assert_int_equal(family, names_count(families) - 1); /* a new one */
            }
            is_counter = strcmp(kind, "TYPE") == 0 ? strcmp(what, "counter") == 0 : is_counter;
            assert_string_equal(name, names_text(families, family));
            continue;
        }
        const char *end = series_end(line.at);
        const char *name = names_text(families, family);
        const uint32_t known = names_count(series),
                       id = names_add(series, (struct text){line.at, (size_t)(end - line.at)});
        assert_memory_equal(line.at, name, strlen(name));
        assert_int_equal(strncmp(line.at + strlen(name), "_total{", 7) == 0, is_counter);
        assert_true(id == known || id == known - 1); /* a new one, or that of the line above */
        double value, at;
        assert_int_equal(sscanf(end, " %lf %lf", &value, &at), 2);
        assert_true(id == known || at > time);
        time = at;
    }
    assert_true(text_is(line, "# EOF"));
    assert_in_range(names_count(families), 30, 60);
    assert_int_not_equal(
        names_find(series, text_of("windtunnel_queue_jobs_started_total{run=\"fake\",queue=\"two\xe2\x90\x8a"
                                   "lines\"}")),
        NAMES_NONE);
    names_free(families);
    names_free(series);
    buffer_release(&text);
}

/* ---- refusals ---- */

static void assert_refused(const char *format, const struct export_request *request, enum error_kind kind,
                           const char *text)
{
    struct error error = export_record(format, request);
    assert_int_equal(error.kind, kind);
    char *got = error_text_new(&error);
    assert_string_equal(got, text);
    free(got);
    error_release(&error);
}

TEST(test_refusals)
{
    struct export_request request = made_request(made_hand(), "export");
    assert_refused("sqllite", &request, ERROR_USAGE,
                   "error: there is no format 'sqllite' to export to\n  did you mean 'sqlite'?\n");
    assert_refused("xml", &request, ERROR_USAGE,
                   "error: there is no format 'xml' to export to\n"
                   "  there are sqlite, perfetto, openmetrics, batsim, csv\n");
    request.epoch = 1;
    assert_refused("batsim", &request, ERROR_USAGE, "error: batsim has no dates, so it takes no --epoch\n");
    request = made_request(request.record, NULL);
    assert_refused("sqlite", &request, ERROR_USAGE, "error: sqlite needs --out FILE\n");
    assert_refused("csv", &request, ERROR_USAGE, "error: csv needs --out DIR\n");
    request = made_request(request.record, "export");
    request.job = "none";
    assert_refused("csv", &request, ERROR_USAGE,
                   "error: csv takes the whole record, without --from, --until, --node and --job\n");
    assert_refused("perfetto", &request, ERROR_DATA, "error: the record has no job 'none'\n");
    request.job = NULL;
    request.node = "n2";
    assert_refused("perfetto", &request, ERROR_DATA, "error: the record has no node 'n2'\n");
    request.from = request.until = TIME_NS_PER_S;
    assert_refused("perfetto", &request, ERROR_USAGE, "error: --from must be before --until\n");
    assert_int_equal(scratch_count(""), 1); /* the record alone */
}

/* A record that is damaged late: nothing appears. */
TEST(test_damaged_record)
{
    for (size_t f = 0; export_formats[f] != NULL; f++) {
        const char *record = made_hand();
        const bool is_folder = export_formats[f]->target == EXPORT_FOLDER;
        const struct export_request request = made_request(record, "export");
        assert_int_equal(unlink(scratch_path("hand/timeline.csv.zst")), 0);
        if (strcmp(export_formats[f]->name, "batsim") == 0) /* reads no samples */
            assert_int_equal(unlink(scratch_path("hand/jobs.csv.zst")), 0);
        struct error error = export_record(export_formats[f]->name, &request);
        assert_int_equal(error.kind, ERROR_IO);
        error_release(&error);
        if (is_folder)
            assert_int_equal(scratch_count("export"), 0);
        assert_int_equal(scratch_count(""), 1 + is_folder);
    }
}

/* When the disk is full, the export fails with an error, and the file that was there before stays unchanged. */
TEST(test_full_disk)
{
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN); /* as the tools do */
    const char *record = made_fake();
    scratch_write("export", "old", 3);
    for (size_t f = 0; export_formats[f] != NULL; f++) {
        if (export_formats[f]->target == EXPORT_FOLDER)
            continue;
        for (rlim_t limit = 0; limit <= 100000; limit += 50000) {
            const struct export_request request = made_request(record, "export");
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, before.rlim_max}), 0);
            struct error error = export_record(export_formats[f]->name, &request);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
            assert_int_equal(error.kind, ERROR_IO);
            assert_non_null(strstr(error_message(&error), "/export: File too large"));
            error_release(&error);
            struct buffer old = scratch_read("export");
            assert_int_equal(old.length, 3);
            buffer_release(&old);
            assert_int_equal(scratch_count(""), 2);
        }
    }
    struct export_request request = made_request(record, NULL);
    request.out = "/dev/full";
    assert_refused("batsim", &request, ERROR_IO, "error: cannot write /dev/full: No space left on device\n");
    assert_refused("sqlite", &request, ERROR_IO,
                   "error: cannot write /dev/full: Invalid argument\n"
                   "  it is not a regular file, and this output is not written from start to end\n");
}

TEST_GROUP(scratch_make, scratch_remove)
