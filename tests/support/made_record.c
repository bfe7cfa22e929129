/* tests/support/made_record.c -- see tests/support/made_record.h. */
#include "tests/support/made_record.h"

#include <sys/stat.h>

#include "tests/support/test.h"

#include "reports/metrics.h"
#include "reports/result.h"
#include "sim/record/record_files.h"
#include "tests/support/fake_run.h"
#include "tests/support/made_row.h"
#include "tests/support/scratch.h"

static void ok(struct error error)
{
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

static const char *const nasty_names[] = {
    "plain", "with,comma", "with \"quotes\"", "two\nlines", "back\\slash", "</script>", "=1+1", "\"", ",", "a\"\nb,c"};

static const struct fake_run fake = {.jobs = 1200,
                                     .gpus = 64,
                                     .queues = 9,
                                     .seed = 11,
                                     .load = 0.9,
                                     .warmup_s = 3600,
                                     .price_usd_per_gpu_h = 1.99,
                                     .rejected_every = 100,
                                     .communicates = true,
                                     .queue_names = nasty_names};

/* ---- both ---- */

struct made {
    struct record_files *files;
    struct record_sink file_sink, metric_sink;
    struct metrics *metrics;
};

static struct error on_job(void *self, const struct job_row *row)
{
    struct made *made = self;
    const struct job_row whole = made_row(*row);
    TRY(made->file_sink.on_job(made->files, &whole));
    return made->metric_sink.on_job(made->metrics, &whole);
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct made *made = self;
    return made->file_sink.on_attempt(made->files, row);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct made *made = self;
    TRY(made->file_sink.on_sample(made->files, row));
    return made->metric_sink.on_sample(made->metrics, row);
}

static struct error on_finished(void *self, const struct run_facts *facts)
{
    struct made *made = self;
    return made->metric_sink.on_finished(made->metrics, facts);
}

static struct record_sink begin(struct made *made, const char *folder)
{
    ok(record_files_open(&made->files, folder, fake_run_models));
    made->metrics = metrics_new();
    made->file_sink = record_files_sink(made->files);
    made->metric_sink = metrics_sink(made->metrics);
    return (struct record_sink){
        .self = made, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample, .on_finished = on_finished};
}

static void end(struct made *made, const char *folder, const char *scenario_json)
{
    static const struct result_input inputs[] = {
        {.role = "trace", .name = "jobs.csv", .digest = "00112233445566778899aabbccddeeff"}};
    const struct result_manifest manifest = {.version = "0.1.0",
                                             .seed = 42,
                                             .fingerprint = "0123456789abcdef",
                                             .inputs = inputs,
                                             .input_count = 1,
                                             .scenario_json = scenario_json};
    metrics_finish(made->metrics);
    ok(record_files_commit(&made->files));
    ok(result_write(folder, &manifest, made->metrics, NULL));
    metrics_free(made->metrics);
}

static const char *new_folder(const char *name)
{
    scratch_empty();
    const char *folder = scratch_path(name);
    assert_int_equal(mkdir(folder, 0777), 0);
    return folder;
}

const char *made_fake(void)
{
    const char *folder = new_folder("fake");
    struct made made = {0};
    const struct record_sink sink = begin(&made, folder);
    fake_run_feed(&fake, &sink);
    end(&made, folder, NULL);
    return folder;
}

/* ---- by hand ---- */

#define S TIME_NS_PER_S

static void attempt(const struct record_sink *sink, job_id id, uint32_t number, time_ns start, time_ns stop,
                    int64_t gpu_milli, const char *placement, enum attempt_end why)
{
    const bool is_evicted = why == ATTEMPT_EVICTED;
    const struct attempt_row row = {.id = id,
                                    .attempt = number,
                                    .start = start * S,
                                    .end = stop * S,
                                    .gpu_milli = gpu_milli,
                                    .placement = placement,
                                    .why = (uint8_t)why,
                                    .reason = is_evicted ? REASON_RECLAIMED : REASON_NONE,
                                    .saved = (stop - start) * S - (is_evicted ? S : 0),
                                    .lost = is_evicted ? S : 0,
                                    .link_tier = gpu_milli > GPU_MILLI ? LINK_LEAF : LINK_NONE,
                                    .link_bytes_per_s = gpu_milli > GPU_MILLI ? INT64_C(50000000000) : 0};
    ok(sink->on_attempt(sink->self, &row));
}

/* A job that starts a second after its submission, and completes. */
static struct job_row usual_job(job_id id, const char *name, const char *queue, int64_t gpu_milli, time_ns start,
                                time_ns stop)
{
    return (struct job_row){.id = id,
                            .name = name,
                            .queue = queue,
                            .user = "",
                            .class = JOB_TRAINING,
                            .gpu_milli = gpu_milli,
                            .members = 1,
                            .model = 0,
                            .submit = (start - 1) * S,
                            .eligible = (start - 1) * S,
                            .start = start * S,
                            .end = stop * S,
                            .wait = S,
                            .wait_total = S,
                            .run = (stop - start) * S,
                            .work = (stop - start) * S,
                            .work_asked = (stop - start) * S,
                            .state = END_COMPLETED,
                            .sm_active_milli = 500,
                            .is_counted = true};
}

static void feed_jobs(const struct record_sink *sink)
{
    struct wait_times waits = {0}, evicted_waits = {0};
    wait_times_add(&waits, REASON_RESOURCES, S);
    wait_times_add(&evicted_waits, REASON_SCHEDULING, S);
    wait_times_add(&evicted_waits, REASON_FRAGMENTATION, 2 * S);

    struct job_row huge = usual_job(5, "huge", "red", 99000, 4, 4);
    huge.start = TIME_NEVER;
    huge.end = 3 * S;
    huge.run = huge.work = huge.wait = huge.wait_total = 0;
    huge.model = MODEL_ANY;
    huge.state = END_REJECTED;
    huge.reason = REASON_NEVER_FITS;
    ok(sink->on_job(sink->self, &huge));

    attempt(sink, 3, 0, 2, 4, 1000, "n1:3", ATTEMPT_EVICTED);

    struct job_row host = usual_job(4, "host", "blue", 0, 5, 7);
    attempt(sink, 4, 0, 5, 7, 0, "n1", ATTEMPT_ENDED);
    ok(sink->on_job(sink->self, &host));

    struct job_row share2 = usual_job(2, "share2", "blue", 500, 3, 8);
    share2.class = JOB_INFERENCE;
    share2.workload_class = "small, cheap";
    attempt(sink, 2, 0, 3, 8, 500, "n1:2@500", ATTEMPT_ENDED);
    ok(sink->on_job(sink->self, &share2));

    struct job_row share = usual_job(1, "share", "blue", 500, 2, 9);
    share.class = JOB_INFERENCE;
    attempt(sink, 1, 0, 2, 9, 500, "n1:2@500", ATTEMPT_ENDED);
    ok(sink->on_job(sink->self, &share));

    struct job_row evicted = usual_job(3, NULL, "red", 1000, 2, 10);
    evicted.run = 6 * S;
    evicted.work = 5 * S;
    evicted.wait_total = 3 * S;
    evicted.evictions = 1;
    evicted.lost_gpu_ns = evicted.preempted_gpu_ns = S;
    evicted.waits = &evicted_waits;
    attempt(sink, 3, 1, 6, 10, 1000, "n1:3", ATTEMPT_ENDED);
    ok(sink->on_job(sink->self, &evicted));

    struct job_row gang = usual_job(0, "gang", "red", 6000, 1, 11);
    gang.user = "ann";
    gang.limit = 20 * S;
    gang.deadline = 12 * S;
    gang.members = 2;
    gang.waits = &waits;
    attempt(sink, 0, 0, 1, 11, 6000, "n0:0-3 n1:0-1", ATTEMPT_ENDED);
    ok(sink->on_job(sink->self, &gang));
}

static void feed_samples(const struct record_sink *sink)
{
    const struct timeline_row samples[] = {
        {.time = 0, .pending_jobs = 1, .pending_gpu_milli = 6000, .submitted = 1},
        {.time = 6 * S,
         .running_jobs = 5,
         .allocated_gpu_milli = 8000,
         .active_gpu_milli = 4000,
         .submitted = 6,
         .started = 6,
         .evicted = 1,
         .rejected = 1,
         .allocated_gpu_s = 37,
         .active_gpu_s = 18.5,
         .space = {.is_known = true, .idle_gpu_milli = 500, .fragmented_gpus = {[4] = 0.5}, .gang_gpus = {0}}},
        {.time = 6 * S + 1, .running_jobs = 5, .allocated_gpu_milli = 7000, .submitted = 6, .started = 6, .evicted = 1},
        {.time = 12 * S, .submitted = 6, .started = 6, .ended = 5, .evicted = 1, .rejected = 1, .allocated_gpu_s = 72},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        ok(sink->on_sample(sink->self, &samples[i]));
}

const char *made_hand(void)
{
    static const char scenario[] = "{\"cluster\":{\"name\":\"two\",\"pools\":[{\"gpu_model\":\"h100-80gb\","
                                   "\"gpus_per_node\":4,\"name\":\"p\",\"nodes\":2}]},\"name\":\"hand\"}";
    const struct run_facts facts = {
        .end = 12 * S, .node_count = 2, .gpu_count = 8, .model_names = fake_run_models, .events = 20};
    const char *folder = new_folder("hand");
    struct made made = {0};
    const struct record_sink sink = begin(&made, folder);
    feed_jobs(&sink);
    feed_samples(&sink);
    ok(sink.on_finished(sink.self, &facts));
    end(&made, folder, scenario);
    return folder;
}

/* ---- exports ---- */

struct export_request made_request(const char *record, const char *out)
{
    return (struct export_request){
        .record = record, .out = out != NULL ? scratch_path(out) : NULL, .until = TIME_NEVER};
}

void made_export_as(const char *format, const struct export_request *request)
{
    struct error error = export_record(format, request);
    if (error_is(error))
        fail_msg("%s: %s", format, error_message(&error));
}

struct buffer made_export(const char *format, const char *record)
{
    const struct export_request request = made_request(record, "export");
    made_export_as(format, &request);
    return scratch_read("export");
}
