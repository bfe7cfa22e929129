/* tests/unit/test_record_files.c -- a record written, read back, broken and refused. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "base/input.h"
#include "reports/record_read.h"
#include "reports/result.h"
#include "sim/record/record_files.h"
#include "tests/support/fake_run.h"
#include "tests/support/made_row.h"

static const struct record_queue tree[] = {
    {"org", RECORD_QUEUE_ROOT}, {"team-0/project-0", 0}, {"team-1", 0}, {"team-1/project-1", 2}};

static const struct fake_run usual = {.tree = tree,
                                      .tree_count = 4,
                                      .jobs = 3000,
                                      .gpus = 64,
                                      .queues = 12,
                                      .seed = 11,
                                      .load = 0.9,
                                      .warmup_s = 3600,
                                      .price_usd_per_gpu_h = 1.99,
                                      .rejected_every = 100};

static const char *const nasty_names[] = {
    "plain", "with,comma", "with \"quotes\"", "two\xe2\x90\x8alines", "<script>", "\xc3\xa9t\xc3\xa9", "", "=1+1", "\"",
    ",",     "a\"b,\"c",   "semi;colon"};

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/windtunnel-test-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {RECORD_JOBS_FILE, RECORD_ATTEMPTS_FILE, RECORD_TIMELINE_FILE, RESULT_FILE};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_of(names[i]));
    return rmdir(folder); /* fails if anything else was left behind */
}

static void ok(struct error error)
{
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

/* ---- rows as text, to compare them ---- */

struct rows {
    struct buffer jobs, attempts, samples;
};

static struct error rows_job(void *self, const struct job_row *row)
{
    struct buffer *out = &((struct rows *)self)->jobs;
    buffer_format(out, "%u|%s|%s|%s|%d|%s|%d|%lld|%u|%d|", row->id, row->name != NULL ? row->name : "its number",
                  row->queue, row->user, row->class,
                  row->workload_class != NULL ? row->workload_class : job_class_names[row->class], row->priority,
                  (long long)row->gpu_milli, row->members, row->model);
    const int64_t times[] = {row->submit,         row->eligible, row->start, row->end,        row->wait,
                             row->wait_total,     row->run,      row->work,  row->work_asked, row->lost_gpu_ns,
                             row->overhead_gpu_ns};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        buffer_format(out, "%lld ", (long long)times[i]);
    buffer_format(out, "%d %d %u %d %d %lld ", row->state, row->reason, row->evictions, row->sm_active_milli,
                  row->is_counted, row->has_recorded_wait ? (long long)row->recorded_wait : -1);
    buffer_format(out, "%s|%lld %lld %lld %lld %lld %u ", row->communication != NULL ? row->communication : "",
                  (long long)row->exposed_gpu_us, (long long)row->slowed_gpu_us, (long long)row->network_gpu_us,
                  (long long)row->network_bytes_per_s, (long long)row->planned_gpu_us, row->mfu_micro);
    buffer_format(out, "%s|%lld %lld %lld ", row->activity != NULL ? row->activity : "", (long long)row->active_gpu_us,
                  (long long)row->idle_held_gpu_us, (long long)row->unserved_gpu_us);
    buffer_format(out, "%d %u %lld %lld %lld %u\n", row->source, row->resizes,
                  (long long)(row->held_milli_ns / RECORD_MILLI_NS_PER_GPU_S),
                  (long long)(row->held_milli_ns % RECORD_MILLI_NS_PER_GPU_S), (long long)row->preempted_gpu_ns,
                  row->evictions_wasted);
    buffer_format(out, "%lld %lld %lld ", (long long)row->limit, (long long)row->estimate, (long long)row->deadline);
    if (row->faults != NULL)
        buffer_format(out, "%u %u %u %u %lld %lld ", row->faults->own, row->faults->killed[0], row->faults->killed[1],
                      row->faults->killed[2], (long long)row->faults->lost_gpu_ns,
                      (long long)row->faults->blast_gpu_milli);
    if (row->idle != NULL)
        buffer_format(out, "idle %u %u %u %u %lld ", row->idle->notified, row->idle->shrunk, row->idle->evicted,
                      row->idle->disturbed, (long long)row->idle->given_gpu_us);
    for (int source = 0; source < RECORD_PULL_COUNT && row->pulls != NULL; source++)
        buffer_format(out, "%lld %lld ", (long long)row->pulls->ready, (long long)row->pulls->bytes[source]);
    for (int cause = 0; cause < LOST_CAUSE_COUNT && row->lost != NULL; cause++)
        buffer_format(out, " %lld", (long long)row->lost->gpu_ns[cause]);
    for (int r = 0; r < REASON_COUNT && row->waits != NULL; r++)
        if (row->waits->mask >> r & 1)
            buffer_format(out, " %s %lld", reason_name((enum reason)r), (long long)row->waits->of[r]);
    return ERROR_OK;
}

static struct error rows_attempt(void *self, const struct attempt_row *row)
{
    buffer_format(&((struct rows *)self)->attempts, "%u %u %lld %lld %lld %s %d %d %lld %lld %d %d %lld\n", row->id,
                  row->attempt, (long long)row->start, (long long)row->end, (long long)row->gpu_milli, row->placement,
                  row->why, row->reason, (long long)row->saved, (long long)row->lost, row->is_partial, row->link_tier,
                  (long long)row->link_bytes_per_s);
    return ERROR_OK;
}

static struct error rows_sample(void *self, const struct timeline_row *row)
{
    struct buffer *out = &((struct rows *)self)->samples;
    buffer_format(out, "%lld %u %u %lld %lld %lld %lld %lld %lu %lu %lu %lu %lu ", (long long)row->time,
                  row->pending_jobs, row->running_jobs, (long long)row->pending_gpu_milli,
                  (long long)row->allocated_gpu_milli, (long long)row->active_gpu_milli,
                  (long long)row->reserved_gpu_milli, (long long)row->down_gpu_milli, row->submitted, row->started,
                  row->ended, row->evicted, row->rejected);
    const struct space_row *space = &row->space;
    buffer_format(out, "%d %lld %lld %lld ", space->is_known, (long long)space->idle_gpu_milli,
                  (long long)space->stranded_gpu_milli, (long long)space->mig_slices_unplaceable);
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        buffer_format(out, "%a ", space->fragmented_gpus[c]);
    for (int s = 0; s < RECORD_GANG_SIZE_COUNT; s++)
        buffer_format(out, "%lld ", (long long)space->gang_gpus[s]);
    buffer_format(out, "%lld %a ", (long long)row->idle_held_gpu_milli, row->idle_held_gpu_s);
    buffer_format(out, "%a %a %a %a %a %a %a\n", row->allocated_gpu_s, row->active_gpu_s, row->reserved_gpu_s,
                  row->down_gpu_s, row->pending_job_s, row->running_job_s, row->partial_gang_gpu_s);
    return ERROR_OK;
}

static struct record_sink rows_sink(struct rows *rows)
{
    return (struct record_sink){.self = rows, .on_job = rows_job, .on_attempt = rows_attempt, .on_sample = rows_sample};
}

static void same(struct buffer *a, struct buffer *b)
{
    assert_true(a->length > 0);
    assert_string_equal(buffer_c_string(a), buffer_c_string(b));
    buffer_release(a);
    buffer_release(b);
}

/* ---- writing ---- */

static void write_manifest(const struct metrics *metrics)
{
    struct result_manifest manifest = {.version = "1", .seed = 1, .fingerprint = "f"};
    ok(result_write(folder, &manifest, metrics, NULL));
}

/* The whole record of the run; its result.json text goes to `result`. */
static void write_record(const struct fake_run *run, struct buffer *result)
{
    struct record_files *files;
    ok(record_files_open(&files, folder, fake_run_models));
    struct record_sink sink = record_files_sink(files);
    fake_run_feed(run, &sink);
    ok(record_files_commit(&files));
    assert_null(files);
    struct metrics *metrics = metrics_new();
    sink = metrics_sink(metrics);
    fake_run_feed(run, &sink);
    metrics_finish(metrics);
    write_manifest(metrics);
    if (result != NULL)
        metrics_write_json(metrics, result);
    metrics_free(metrics);
}

TEST_WITH(rows_and_metrics_come_back, make_folder, remove_folder)
{
    for (int is_nasty = 0; is_nasty < 2; is_nasty++) {
        struct fake_run run = usual;
        run.queue_names = is_nasty ? nasty_names : NULL;
        run.workload_classes = is_nasty ? nasty_names : NULL;
        run.communicates = is_nasty;
        struct buffer result = {0}, again = {0};
        struct rows written = {0}, read = {0};
        struct record_sink sink = rows_sink(&written);
        fake_run_feed(&run, &sink);
        write_record(&run, &result);
        sink = rows_sink(&read);
        ok(record_read(folder, &sink));
        same(&written.jobs, &read.jobs);
        same(&written.attempts, &read.attempts);
        same(&written.samples, &read.samples);

        struct metrics *metrics = metrics_new();
        sink = metrics_sink(metrics);
        ok(record_read(folder, &sink));
        metrics_finish(metrics);
        metrics_write_json(metrics, &again);
        same(&result, &again);
        metrics_free(metrics);
    }
}

static void give_job(const struct record_sink *sink, struct job_row row)
{
    row = made_row(row);
    ok(sink->on_job(sink->self, &row));
}

TEST_WITH(rows_come_together_too, make_folder, remove_folder)
{
    struct rows apart = {0}, together = {0};
    struct record_sink sink = rows_sink(&apart);
    write_record(&usual, NULL);
    ok(record_read(folder, &sink));
    sink = rows_sink(&together);
    ok(record_read_together(folder, &sink));
    same(&apart.jobs, &together.jobs);
    same(&apart.attempts, &together.attempts);
    same(&apart.samples, &together.samples);
}

TEST_WITH(extreme_rows_come_back, make_folder, remove_folder)
{
    struct job_row job = {.id = 4294967294u,
                          .name = "x",
                          .queue = "q",
                          .user = "",
                          .class = JOB_INFERENCE,
                          .priority = INT32_MIN,
                          .gpu_milli = 1,
                          .members = UINT32_MAX,
                          .model = 7,
                          .submit = 1,
                          .eligible = TIME_NEVER,
                          .start = TIME_NS_MAX,
                          .end = TIME_NS_MAX,
                          .state = END_LIMIT,
                          .reason = REASON_HELD,
                          .wait = 999999999,
                          .wait_total = INT64_MAX - 1,
                          .work_asked = 1000000001,
                          .evictions = UINT32_MAX,
                          .sm_active_milli = 1000,
                          .communication = "a,\"b\"",
                          .exposed_gpu_us = INT64_MAX,
                          .slowed_gpu_us = 1,
                          .network_gpu_us = INT64_MAX,
                          .network_bytes_per_s = INT64_MAX,
                          .planned_gpu_us = 1,
                          .mfu_micro = 1000000,
                          .faults = &(struct fault_row){UINT32_MAX, {1, UINT32_MAX, 0}, INT64_MAX, INT64_MAX},
                          .idle = &(struct idle_row){UINT32_MAX, 1, UINT32_MAX, 0, INT64_MAX / 1000}};
    const struct lost_row lost = {{1, INT64_MAX - 100, 7, 0, 0, 3, 0, 0, 89}};
    job.lost = &lost;
    job.pulls = &(struct pull_row){TIME_NEVER, {INT64_MAX, 0, 1}};
    job.overhead_gpu_ns = INT64_MAX - 92;
    job.lost_gpu_ns = INT64_MAX;
    struct wait_times waits = {0};
    wait_times_add(&waits, REASON_SCHEDULING, 1);
    wait_times_add(&waits, REASON_RESOURCES, INT64_MAX - 3);
    wait_times_add(&waits, REASON_DEPENDENCY_NEVER, 1);
    job.waits = &waits;
    struct timeline_row sample = {.time = 3,
                                  .allocated_gpu_s = 0.1,
                                  .active_gpu_s = 1e-300,
                                  .pending_job_s = 123456789.123456789,
                                  .submitted = INT64_MAX};
    struct rows written = {0}, read = {0};
    struct job_row plain =
        made_row((struct job_row){.id = 7, .queue = "q", .user = "", .start = 8, .end = 9, .run = 1});
    job = made_row(job);
    ok(rows_job(&written, &job));
    ok(rows_job(&written, &plain));
    ok(rows_sample(&written, &sample));
    write_record(&usual, NULL); /* for its result.json */
    struct record_files *files;
    ok(record_files_open(&files, folder, NULL));
    struct record_sink sink = record_files_sink(files);
    give_job(&sink, job);
    give_job(&sink, plain);
    ok(sink.on_sample(sink.self, &sample));
    ok(record_files_commit(&files));
    sink = rows_sink(&read);
    ok(record_read(folder, &sink));
    same(&written.jobs, &read.jobs);
    same(&written.samples, &read.samples);
    assert_int_equal(read.attempts.length, 0);
}

/* One that ran at once and without a break, one that waits for another, one that was rejected, one that waited and was
 * evicted and sent over the network, one with so small a share of a GPU that its GPU time is no whole number of
 * nanoseconds, with a plan. */
static void write_some(void)
{
    const time_ns s = TIME_NS_PER_S;
    struct job_row plain = {.id = 7,
                            .queue = "q",
                            .user = "",
                            .gpu_milli = 1000,
                            .members = 1,
                            .submit = 8 * s,
                            .eligible = 8 * s,
                            .start = 8 * s,
                            .end = 9 * s,
                            .run = s,
                            .work = s,
                            .work_asked = s,
                            .sm_active_milli = UINT16_MAX,
                            .is_counted = true};
    struct job_row waits = plain, rejected = plain, evicted = plain;
    waits.id = 8;
    waits.eligible = waits.start = waits.end = TIME_NEVER;
    waits.run = waits.work = 0;
    waits.wait_total = 3 * s;
    waits.state = END_PENDING;
    waits.model = 255;
    rejected.id = 9;
    rejected.name = "x";
    rejected.start = TIME_NEVER;
    rejected.end = 8 * s;
    rejected.run = rejected.work = 0;
    rejected.state = END_REJECTED;
    rejected.reason = REASON_HELD;
    rejected.model = 255;
    evicted.id = 10;
    evicted.gpu_milli = 2500;
    evicted.eligible = 9 * s;
    evicted.start = 11 * s;
    evicted.end = 20 * s;
    evicted.run = 7 * s;
    evicted.wait = 2 * s;
    evicted.wait_total = 5 * s;
    evicted.recorded_wait = 3 * s / 2;
    evicted.has_recorded_wait = true;
    evicted.evictions = 1;
    evicted.lost_gpu_ns = 6 * s;
    struct job_row share = evicted;
    evicted.limit = 30 * s, evicted.estimate = 15 * s / 2, evicted.deadline = 40 * s;
    static const struct lost_row lost = {{[LOST_WRITE] = INT64_C(1000000000),
                                          [LOST_LOAD] = INT64_C(2000000000),
                                          [LOST_WORK_PREEMPTED] = INT64_C(3000000000)}};
    evicted.overhead_gpu_ns = 3 * s;
    evicted.lost = &lost;
    evicted.pulls = &(struct pull_row){12 * s, {INT64_C(1500000000), 2, 0}};
    evicted.communication = "all_reduce_bound";
    evicted.exposed_gpu_us = 1500000;
    evicted.slowed_gpu_us = 250000;
    evicted.network_gpu_us = 3000000;
    evicted.network_bytes_per_s = INT64_C(24999999999);
    evicted.activity = "notebook";
    evicted.active_gpu_us = 500000;
    evicted.idle_held_gpu_us = 1250000;
    evicted.unserved_gpu_us = 750000;
    share.communication = "plan";
    share.planned_gpu_us = 3500, share.mfu_micro = 412000;
    share.faults = &(struct fault_row){2, {1, 0, 3}, 1500000000, 2500};
    share.idle = &(struct idle_row){4, 1, 2, 1, 750000};
    share.id = 11;
    share.gpu_milli = 1;
    share.run /= 2;
    struct attempt_row attempt = {
        .id = 7, .start = 8 * s, .end = 9 * s, .gpu_milli = 1000, .placement = "n0:0", .saved = s};
    struct attempt_row again = attempt;
    again.attempt = 1;
    again.placement = "n0:0,2";
    again.gpu_milli = 1500;
    again.link_tier = LINK_LEAF;
    again.link_bytes_per_s = INT64_C(12500000001);
    again.saved = 0;
    again.lost = s;
    write_record(&usual, NULL); /* for its result.json */
    struct record_files *files;
    ok(record_files_open(&files, folder, NULL));
    struct record_sink sink = record_files_sink(files);
    give_job(&sink, plain);
    give_job(&sink, waits);
    give_job(&sink, rejected);
    give_job(&sink, evicted);
    give_job(&sink, share);
    ok(sink.on_attempt(sink.self, &attempt));
    ok(sink.on_attempt(sink.self, &again));
    ok(record_files_commit(&files));
}

/* The lines below the header. */
static void check_lines(const char *name, const char *const *lines)
{
    struct input *input;
    struct text line;
    bool has;
    ok(input_open(&input, path_of(name), NULL));
    ok(input_line(input, &line, &has));
    for (size_t i = 0; lines[i] != NULL; i++) {
        ok(input_line(input, &line, &has));
        assert_true(has);
        if (!text_is(line, lines[i]))
            fail_msg("expected %s, got %.*s", lines[i], (int)line.length, line.at);
    }
    ok(input_line(input, &line, &has));
    assert_false(has);
    input_close(input);
}

TEST_WITH(what_is_discarded_never_appears, make_folder, remove_folder)
{
    write_record(&usual, NULL);
    struct stat before, after;
    assert_int_equal(stat(path_of(RECORD_JOBS_FILE), &before), 0);
    struct record_files *files;
    ok(record_files_open(&files, folder, fake_run_models));
    struct record_sink sink = record_files_sink(files);
    struct fake_run other = usual;
    other.seed = 12;
    fake_run_feed(&other, &sink);
    record_files_discard(&files);
    assert_null(files);
    assert_int_equal(stat(path_of(RECORD_JOBS_FILE), &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
    record_files_discard(&files); /* NULL is fine */
}

/* ---- refusals ---- */

/* Replace the first `from` of a record file by `to` (the file is plain text afterwards, which is read as well). */
static void edit(const char *name, const char *from, const char *to)
{
    struct buffer text = {0};
    struct input *input;
    ok(input_open(&input, path_of(name), NULL));
    struct text line;
    bool has;
    for (ok(input_line(input, &line, &has)); has; ok(input_line(input, &line, &has))) {
        buffer_text(&text, line);
        buffer_char(&text, '\n');
    }
    input_close(input);
    const char *place = strstr(buffer_c_string(&text), from);
    assert_non_null(place);
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    size_t before = (size_t)(place - text.bytes);
    fwrite(text.bytes, 1, before, file);
    fputs(to, file);
    fwrite(place + strlen(from), 1, text.length - before - strlen(from), file);
    assert_int_equal(fclose(file), 0);
    buffer_release(&text);
}

typedef struct error read_fn(const char *folder, const struct record_sink *sink);

static void check_refused_by(read_fn *read, enum error_kind kind, const char *piece, const char *other)
{
    struct rows rows = {0};
    struct record_sink sink = rows_sink(&rows);
    struct error error = read(folder, &sink);
    char *text = error_text_new(&error);
    if (error.kind != kind || strstr(text, piece) == NULL || strstr(text, other) == NULL)
        fail_msg("expected kind %d with '%s' and '%s', got %d: %s", kind, piece, other, error.kind, text);
    free(text);
    error_release(&error);
    buffer_release(&rows.jobs);
    buffer_release(&rows.attempts);
    buffer_release(&rows.samples);
}

/* Reading must fail with this kind, saying all the pieces. */
static void check_refused(enum error_kind kind, const char *piece, const char *other)
{
    check_refused_by(record_read, kind, piece, other);
    check_refused_by(record_read_together, kind, piece, other);
}

TEST_WITH(an_edited_field_is_named_with_its_place, make_folder, remove_folder)
{
    static const struct {
        const char *file, *from, *to, *place, *what;
    } cases[] = {
        {RECORD_JOBS_FILE, "estimate_s,deadline_s,end_s\n", "estimate_s,deadline_s,end_s\n-", "jobs.csv.zst:2:1",
         "submit_s"},
        {RECORD_JOBS_FILE, ",job-13,", ",job-13,more,", "jobs.csv.zst:2", "73 fields"},
        {RECORD_JOBS_FILE, ",job-13,", ",\"job\"-13,", "jobs.csv.zst:2:", "closing quote"},
        {RECORD_JOBS_FILE, ",job-13,", ",job\"13,\"more,", "jobs.csv.zst:2:", "closing quote"},
        {RECORD_JOBS_FILE, "completed", "finished", "jobs.csv.zst:", "state"},
        {RECORD_JOBS_FILE, "NeverFits", "NeverFit", "jobs.csv.zst:", "reason"},
        {RECORD_JOBS_FILE, "h100-80gb", "h100", "jobs.csv.zst:", "gpu_model"},
        {RECORD_JOBS_FILE, "queue,user", "queue,users", "jobs.csv.zst:1", "'user' is missing"},
        {RECORD_JOBS_FILE, "slowed_gpu_s", "slow", "jobs.csv.zst:1", "'slowed_gpu_s' is missing"},
        {RECORD_JOBS_FILE, "queue,user", "queue,queue", "jobs.csv.zst:1", "twice"},
        {RECORD_JOBS_FILE, ",Resources:", ",Resource:", "jobs.csv.zst:", "wait_by_reason_s"},
        {RECORD_JOBS_FILE, ";Priority:", ";Resources:1;Priority:", "jobs.csv.zst:", "each once"},
        {RECORD_JOBS_FILE, "Priority:", "Held:1;Priority:", "jobs.csv.zst:", "do not add up"},
        {RECORD_JOBS_FILE, ";Priority:", ";Priority:-", "jobs.csv.zst:", "wait_by_reason_s"},
        {RECORD_ATTEMPTS_FILE, "ended", "endet", "attempts.csv.zst:2:", "why"},
        {RECORD_TIMELINE_FILE, "\n3600,", "\n36e0x,", "timeline.csv.zst:3:1", "time_s"},
        {RECORD_TIMELINE_FILE, "\n7200,", "\n72,", "timeline.csv.zst:4:1", "before the row above"},
        {RESULT_FILE, "\"end_s\": ", "\"end_s\": -", "result.json:", "end_s"},
        {RESULT_FILE, "\"team-1\": \"org\"", "\"team-1\": \"team-2\"", "result.json:", "no queue 'team-2'"},
        {RESULT_FILE, "\"facts\"", "\"fact\"", "result.json:", "fact"},
        {RESULT_FILE, "\"schema_version\": 3", "\"schema_version\": 2", "result.json:1", "schema_version"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_record(&usual, NULL);
        edit(cases[i].file, cases[i].from, cases[i].to);
        check_refused(ERROR_DATA, cases[i].place, cases[i].what);
    }
}

static const char *const filled_jobs[] = {
    "8,7,8,7,8,1,1,1,1,1,,0,0,,q,,training,training,0,1,0,0,completed,,1,free,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,"
    ",,"
    ",,"
    ",,,,,,,,,,9",
    "8,8,,8,,0,0,1,0,1,,0,3,,q,,training,training,0,1,any,0,pending,,1,,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"
    ",,,,,"
    ",,,,,",
    "8,9,8,x,,0,0,1,0,1,,,,,q,,training,training,0,1,any,0,rejected,Held,1,,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,"
    ",,"
    ",,"
    ",,,,,,,,8",
    "8,10,9,10,11,7,1,1,17.5,2.5,,2,5,1.5,q,,training,training,0,1,0,0,completed,,1,free,1,6,3,0,0,0,"
    "1,0,2,0,0,3,0,0,0,all_reduce_bound,1.5,0.25,3,24.999999999,0,,notebook,0.5,1.25,0.75,,,,,,,12,1.5,0.000000002,0,,,"
    ","
    ",,,30,7.5,40,20",
    "8,11,9,11,11,3.5,1,1,0.0035,0.001,,2,5,1.5,q,,training,training,0,1,0,0,completed,,1,free,1,6,0,"
    "0,0,0,,,,,,,,,,plan,0,0,0,,0.0035,0.412,,,,,2,1,0,3,1.5,2.5,,,,,4,1,2,1,0.75,,,,,20",
    NULL,
};

/* Whatever a field repeats: it is empty only where there is no value. */
TEST_WITH(every_field_is_filled, make_folder, remove_folder)
{
    static const char *const attempts[] = {"7,8,1,n0:0,1,ended,,0,0,0,,,9",
                                           "7,8,0,\"n0:0,2\",1.5,ended,,1,1,0,leaf,12.500000001,9", NULL};
    write_some();
    check_lines(RECORD_JOBS_FILE, filled_jobs);
    check_lines(RECORD_ATTEMPTS_FILE, attempts);
    static const struct {
        const char *from, *to, *place, *what;
    } refused[] = {
        {"\n8,8,,8,", "\n8,8,,,", "jobs.csv.zst:3:", "name: missing"},
        {"\n8,8,,8,,0,", "\n8,8,,8,,,", "jobs.csv.zst:3:", "run_s"},
        {"\n8,8,,", "\n8,8,inf,", "jobs.csv.zst:3:", "eligible_s"},
        {",0,3,,q", ",0,,,q", "jobs.csv.zst:3:", "wait_total_s"},
        {"\n8,9,8,x,,0,0,1,0,1,,,,,", "\n8,9,8,x,,0,0,1,0,1,,0,0,,",
         "jobs.csv.zst:4:", "wait_s: a rejected job has no wait"},
        {",0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,9\n",
         ",0,0,0,0,0,0,,,,,,,,,,,,,1,,,,,,,,,,,,,,,,,,,,,,,,,,,9\n",
         "jobs.csv.zst:2:", "network_gpu_s: a job that declares no communication has none"},
        {",0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,9\n",
         ",0,0,0,0,0,0,,1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,9\n",
         "jobs.csv.zst:2:", "lost_leave_gpu_s: without the first cause there is none"},
        {",12,1.5,0.000000002,0,", ",10,1.5,0.000000002,0,", "jobs.csv.zst:5:", "ready_s: before the start"},
        {",12,1.5,0.000000002,0,", ",12,,0.000000002,0,",
         "jobs.csv.zst:5:", "ready_s: without 'pulled_registry_gb' there is none"},
        {",1,0,2,0,0,3,0,0,0,all", ",1,0,2,0,0,4,0,0,0,all", "jobs.csv.zst:5:", "the causes do not add up"},
        {"all_reduce_bound,1.5,", "all_reduce_bound,,", "jobs.csv.zst:5:", "exposed_gpu_s"},
        {",3,24.999999999,", ",0,24.999999999,", "jobs.csv.zst:5:", "network_gb_per_s: a mean over no GPU time"},
        {",0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,9\n",
         ",0,0,0,0,0,0,,,,,,,,,,,,,,,,,,1,,,,,,,,,,,,,,,,,,,,,,9\n",
         "jobs.csv.zst:2:", "active_gpu_s: a job without declared activity has none"},
        {",notebook,0.5,", ",notebook,,", "jobs.csv.zst:5:", "active_gpu_s"},
        {",0.0035,0.412,", ",0.0035,1.412,", "jobs.csv.zst:6:", "mfu_ratio: not a ratio"},
        {",2,1,0,3,1.5,2.5,", ",,1,0,3,1.5,2.5,",
         "jobs.csv.zst:6:", "killed_by_memory: without 'faults' there is none"},
        {",2,1,0,3,1.5,2.5,", ",2,1,,3,1.5,2.5,", "jobs.csv.zst:6:", "killed_by_runaway"},
        {",4,1,2,1,0.75,", ",,1,2,1,0.75,", "jobs.csv.zst:6:", "idle_shrunk: without 'idle_told' there is none"},
        {",4,1,2,1,0.75,", ",4,1,2,,0.75,", "jobs.csv.zst:6:", "idle_disturbed"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        write_some();
        edit(RECORD_JOBS_FILE, refused[i].from, refused[i].to);
        check_refused(ERROR_DATA, refused[i].place, refused[i].what);
    }
}

TEST_WITH(columns_are_found_by_name, make_folder, remove_folder)
{
    write_record(&usual, NULL);
    edit(RECORD_ATTEMPTS_FILE, "why,reason,attempt,", "reason,why,attempt,"); /* now every row has them swapped */
    check_refused(ERROR_DATA, "attempts.csv.zst:2:", "why");
}

TEST_WITH(a_truncated_file_is_refused, make_folder, remove_folder)
{
    static const char *const names[] = {RECORD_JOBS_FILE, RECORD_ATTEMPTS_FILE, RECORD_TIMELINE_FILE};
    for (size_t i = 0; i < 3; i++) {
        write_record(&usual, NULL);
        struct stat status;
        assert_int_equal(stat(path_of(names[i]), &status), 0);
        assert_int_equal(truncate(path_of(names[i]), status.st_size - 9), 0);
        check_refused(ERROR_DATA, names[i], "");
    }
}

TEST_WITH(a_missing_file_is_named, make_folder, remove_folder)
{
    static const char *const names[] = {RESULT_FILE, RECORD_JOBS_FILE, RECORD_ATTEMPTS_FILE, RECORD_TIMELINE_FILE};
    for (size_t i = 0; i < 4; i++) {
        write_record(&usual, NULL);
        assert_int_equal(unlink(path_of(names[i])), 0);
        check_refused(ERROR_IO, names[i], folder);
    }
}

static struct error refuse(void *self, const struct job_row *row)
{
    (void)self;
    (void)row;
    return error_new(ERROR_INTERNAL, "no more, please");
}

TEST_WITH(the_sink_s_error_comes_out, make_folder, remove_folder)
{
    write_record(&usual, NULL);
    struct record_sink sink = {.on_job = refuse};
    struct error error = record_read(folder, &sink);
    assert_int_equal(error.kind, ERROR_INTERNAL);
    assert_string_equal(error_message(&error), "no more, please");
    error_release(&error);
}
