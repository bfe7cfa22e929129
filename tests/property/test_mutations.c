/* Files with bytes changed at random: every reader takes them or refuses them with a place, a word and no control
 * characters; it never crashes (run under the sanitizers), never hangs, and never calls it an error of its own. */
#include "tests/support/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/output.h"
#include "base/random.h"
#include "reports/record_read.h"
#include "reports/result.h"
#include "sim/record/record_files.h"
#include "sim/scenario/scenario.h"
#include "tests/support/fake_run.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"
#include "topologies/cluster_load.h"
#include "topologies/cluster_show.h"

enum {
    ROUNDS_SMALL = 400, /* of each file */
    ROUNDS_FULL = 20000,
    EDITS_MAX = 4,
    RANGE_BYTES_MAX = 40,
    JOBS_MAX = 100000, /* a synthesized workload has no end of its own */
};

/* ---- mutants ---- */

static uint32_t below(struct random_stream *stream, size_t bound)
{
    return random_below(stream, bound > UINT32_MAX ? UINT32_MAX : (uint32_t)bound);
}

/* Put `length` bytes in the place of `removed` bytes at `at`. */
static void splice(struct buffer *bytes, size_t at, size_t removed, const char *inserted, size_t length)
{
    char *copy = mem_alloc(length); /* it may be a part of the bytes themselves */
    memcpy(copy, inserted, length);
    buffer_reserve(bytes, length);
    memmove(bytes->bytes + at + length, bytes->bytes + at + removed, bytes->length - at - removed);
    memcpy(bytes->bytes + at, copy, length);
    bytes->length += length - removed;
    mem_free(copy);
}

/* Values that have broken readers before. */
static const char *const poisons[] = {
    "-1",
    "0",
    "1e400",
    "NaN",
    "-0",
    "1e-400",
    "99999999999999999999",
    "9223372036854775807",
    "-9223372036854775808",
    "null",
    "{}",
    "[]",
    "true",
    "\"",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "\xc0\x80",
    "\xff",
    "%s",
    "%n",
    ",",
    ",,,",
    "\n",
    "\r\n",
    "\xef\xbb\xbf",
    "../../../..",
    "[[[[",
    "}}}",
    "4096",
    "16",
    ":",
    "1e9",
    "0.0000000001",
    "2017-13-45",
    "\x1b[2J",
};

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
}

/* Put a poison in the place of the word at `at`, or between. */
static void poison(struct buffer *bytes, size_t at, struct random_stream *stream)
{
    const char *text = poisons[below(stream, sizeof poisons / sizeof poisons[0])];
    size_t end = at;
    while (at > 0 && is_word(bytes->bytes[at - 1]))
        at--;
    while (end < bytes->length && is_word(bytes->bytes[end]))
        end++;
    splice(bytes, at, end - at, text, strlen(text));
}

static void edit(struct buffer *bytes, struct random_stream *stream)
{
    if (bytes->length == 0)
        return;
    size_t at = below(stream, bytes->length), other = below(stream, bytes->length);
    size_t range = 1 + below(stream, RANGE_BYTES_MAX);
    size_t removed = range < bytes->length - at ? range : bytes->length - at;
    size_t copied = range < bytes->length - other ? range : bytes->length - other;
    switch (below(stream, 7)) {
    case 0:
        bytes->bytes[at] = (char)(bytes->bytes[at] ^ (1 << below(stream, 8)));
        break;
    case 1:
        bytes->bytes[at] = (char)below(stream, 256);
        break;
    case 2: /* a piece goes */
        splice(bytes, at, removed, "", 0);
        break;
    case 3: /* a piece comes twice, perhaps elsewhere */
        splice(bytes, at, 0, bytes->bytes + other, copied);
        break;
    case 4: /* a piece takes the place of another */
        splice(bytes, at, removed, bytes->bytes + other, copied);
        break;
    case 5: /* the rest goes, now and then */
        if (below(stream, 8) == 0)
            bytes->length = at;
        break;
    default:
        poison(bytes, at, stream);
        break;
    }
}

static void mutate(struct buffer *bytes, struct random_stream *stream)
{
    uint32_t edits = 1 + below(stream, EDITS_MAX);
    for (uint32_t i = 0; i < edits; i++)
        edit(bytes, stream);
}

/* ---- what a refusal must be ---- */

static void check_text(const char *text, const char *what, uint64_t round)
{
    struct text rest = text_of(text);
    while (rest.length != 0) {
        size_t bytes = text_utf8_bytes(rest);
        if (bytes == 0 || ((unsigned char)rest.at[0] < ' ' && rest.at[0] != '\n') || rest.at[0] == 0x7f)
            fail_msg("%s, round %llu: the message holds byte 0x%02x:\n%s", what, (unsigned long long)round,
                     (unsigned char)rest.at[0], text);
        rest.at += bytes;
        rest.length -= bytes;
    }
}

/* Releases the error; counts it. */
static void check_error(struct error *error, const char *what, uint64_t round, uint32_t *refused)
{
    if (!error_is(*error))
        return;
    ++*refused;
    char *text = error_text_new(error);
    assert_non_null(text);
    if (error->kind != ERROR_CONFIG && error->kind != ERROR_DATA && error->kind != ERROR_IO)
        fail_msg("%s, round %llu: kind %d:\n%s", what, (unsigned long long)round, (int)error->kind, text);
    if (strncmp(text, "error: ", 7) != 0 || error_message(error)[0] == '\0')
        fail_msg("%s, round %llu: no message:\n%s", what, (unsigned long long)round, text);
    if (error->kind != ERROR_IO && strstr(text, "mutant") == NULL)
        fail_msg("%s, round %llu: no place:\n%s", what, (unsigned long long)round, text);
    check_text(text, what, round);
    free(text);
    error_release(error);
}

/* ---- readers ---- */

typedef struct error read_fn(const char *path, const struct cluster *cluster);

static struct error read_jobs(struct job_source *source)
{
    struct job job;
    struct job_truth truth;
    bool has = true;
    for (uint32_t i = 0; i < JOBS_MAX && has; i++) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (has && (job.submit < 0 || truth.duration < 0 || job_complaint(&job) != NULL))
            fail_msg("a job that breaks a law of workloads/job.h was let through");
    }
    return ERROR_OK;
}

static struct error read_trace_as(const char *path, const char *format, const struct cluster *cluster)
{
    struct workload_spec spec = {
        .trace = path, .format = format, .duration_scale = 1, .processors_per_gpu = 1, .gpus_per_node = 8};
    struct job_source *source;
    TRY(job_source_open(&source, &spec, cluster, 1));
    struct error error = read_jobs(source);
    job_source_close(source);
    return error;
}

static struct error read_native(const char *path, const struct cluster *cluster)
{
    return read_trace_as(path, "native", cluster);
}

static struct error read_jsonl(const char *path, const struct cluster *cluster)
{
    return read_trace_as(path, "jsonl", cluster);
}

static struct error read_philly(const char *path, const struct cluster *cluster)
{
    return read_trace_as(path, "philly", cluster);
}

static struct error read_openb(const char *path, const struct cluster *cluster)
{
    return read_trace_as(path, "openb", cluster);
}

static struct error read_swf(const char *path, const struct cluster *cluster)
{
    return read_trace_as(path, "swf", cluster);
}

static struct error read_guessed(const char *path, const struct cluster *cluster)
{
    return read_trace_as(path, NULL, cluster);
}

static struct error read_cluster(const char *path, const struct cluster *unused)
{
    (void)unused;
    struct cluster *cluster;
    struct buffer shown = {0};
    TRY(cluster_load(&cluster, path));
    cluster_show(cluster, &shown);
    buffer_release(&shown);
    cluster_free(cluster);
    return ERROR_OK;
}

static struct error read_scenario(const char *path, const struct cluster *unused)
{
    (void)unused;
    struct scenario_options options = {.path = path};
    struct scenario scenario;
    struct job_source *source;
    TRY(scenario_load(&scenario, &options));
    struct error error = scenario_open(&scenario, &source);
    if (!error_is(error)) {
        error = read_jobs(source);
        job_source_close(source);
    }
    scenario_release(&scenario);
    return error;
}

/* Metrics want no attempts; then their file is not read. */
static struct error take_attempt(void *self, const struct attempt_row *row)
{
    (void)self;
    return row->start <= row->end ? ERROR_OK : error_new(ERROR_DATA, "mutant: it ends before it starts");
}

static struct error read_record(const char *path, const struct cluster *unused)
{
    (void)unused;
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    sink.on_attempt = take_attempt;
    struct result result;
    char *folder = mem_copy_text(path);
    *strrchr(folder, '/') = '\0';
    struct error error = record_read(folder, &sink);
    if (!error_is(error)) {
        metrics_finish(metrics);
        error = result_read(&result, folder);
        if (!error_is(error))
            result_release(&result);
    }
    mem_free(folder);
    metrics_free(metrics);
    return error;
}

/* ---- the rounds ---- */

struct victim {
    const char *name;   /* what it is */
    const char *path;   /* the whole file, in the repository; NULL: `written` */
    const char *mutant; /* its name in the scratch folder */
    read_fn *read;
    bool is_packed; /* the bytes are compressed after they were changed */
    struct buffer written;
};

static struct buffer file_bytes(const char *path)
{
    char *bytes;
    size_t length;
    struct buffer out = {0};
    struct error error = input_read_all(path, UINT64_C(1) << 26, &bytes, &length);
    assert_false(error_is(error));
    buffer_bytes(&out, bytes, length);
    mem_free(bytes);
    return out;
}

static void write_mutant(const struct victim *victim, const struct buffer *bytes)
{
    struct buffer packed = {0};
    if (victim->is_packed) {
        scratch_zstd_frame(&packed, bytes->bytes, bytes->length, true);
        bytes = &packed;
    }
    scratch_write(victim->mutant, bytes->bytes, bytes->length);
    buffer_release(&packed);
}

static void attack(const struct victim *victim, const struct cluster *cluster)
{
    struct buffer whole = {0}, bytes = {0};
    struct random_stream stream;
    uint32_t rounds = test_is_full() ? ROUNDS_FULL : ROUNDS_SMALL, refused = 0, unused = 0;
    if (victim->path != NULL)
        whole = file_bytes(victim->path);
    else
        buffer_bytes(&whole, victim->written.bytes, victim->written.length);
    write_mutant(victim, &whole);
    struct error error = victim->read(scratch_path(victim->mutant), cluster);
    check_error(&error, victim->name, 0, &unused);
    assert_int_equal(unused, 0); /* unchanged, it is good */
    for (uint64_t round = 1; round <= rounds; round++) {
        random_stream_init(&stream, round, victim->name, 0);
        bytes.length = 0;
        buffer_bytes(&bytes, whole.bytes, whole.length);
        mutate(&bytes, &stream);
        write_mutant(victim, &bytes);
        error = victim->read(scratch_path(victim->mutant), cluster);
        check_error(&error, victim->name, round, &refused);
    }
    write_mutant(victim, &whole); /* for those that read it along with their own */
    print_message("%s: %u of %u refused\n", victim->name, refused, rounds);
    assert_in_range(refused, 1, rounds);
    buffer_release(&whole);
    buffer_release(&bytes);
}

static void attack_all(struct victim *victims, size_t count)
{
    struct cluster *cluster = cluster_uniform_new(32, 8);
    for (size_t i = 0; i < count; i++)
        attack(&victims[i], cluster);
    cluster_free(cluster);
}

TEST(test_traces)
{
    struct victim victims[] = {
        {"native", "workloads/samples/native.csv", "mutant.csv", read_native, .is_packed = false},
        {"native, compressed first", "workloads/samples/native.csv", "mutant.csv.zst", read_guessed, .is_packed = true},
        {"JSON lines", "workloads/samples/native.jsonl", "mutant.jsonl", read_jsonl, .is_packed = false},
        {"Philly", "workloads/samples/philly.csv", "mutant.csv", read_philly, .is_packed = false},
        {"openb", "workloads/samples/openb_pods.csv", "mutant.csv", read_openb, .is_packed = false},
        {"SWF", "workloads/samples/small.swf", "mutant.swf", read_swf, .is_packed = false},
        {"SWF, guessed", "workloads/samples/small.swf", "mutant.swf", read_guessed, .is_packed = false},
    };
    attack_all(victims, sizeof victims / sizeof victims[0]);
}

/* The compressed bytes themselves. */
TEST(test_compressed)
{
    struct buffer text = file_bytes("workloads/samples/native.csv");
    struct victim victim = {.name = "zstd", .mutant = "mutant.csv.zst", .read = read_native};
    scratch_zstd_frame(&victim.written, text.bytes, text.length, true);
    attack_all(&victim, 1);
    buffer_release(&victim.written);
    buffer_release(&text);
}

TEST(test_clusters_and_scenarios)
{
    struct buffer xml = file_bytes("topologies/hwloc-node.xml");
    struct buffer cluster = file_bytes("topologies/dgx-h100-500.json");
    assert_int_equal(mkdir(scratch_path("scenarios"), 0755), 0);
    assert_int_equal(mkdir(scratch_path("topologies"), 0755), 0);
    scratch_write("hwloc-node.xml", xml.bytes, xml.length);
    scratch_write("topologies/dgx-h100-500.json", cluster.bytes, cluster.length);
    struct victim victims[] = {
        {"cluster", "topologies/dgx-h100-500.json", "mutant.json", read_cluster, .is_packed = false},
        {"cluster after hwloc", "topologies/hwloc-node.json", "mutant.json", read_cluster, .is_packed = false},
        {"scenario", "scenarios/h100-500x8.json", "scenarios/mutant.json", read_scenario, .is_packed = false},
    };
    attack_all(victims, sizeof victims / sizeof victims[0]);
    buffer_release(&xml);
    buffer_release(&cluster);
}

TEST(test_records)
{
    struct fake_run run = {.jobs = 60, .gpus = 16, .queues = 4, .seed = 3, .load = 1.1};
    struct record_files *files;
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    const char *folder = scratch_path("mutant");
    struct error error = record_files_open(&files, folder, fake_run_models);
    assert_false(error_is(error));
    struct record_sink rows = record_files_sink(files);
    fake_run_feed(&run, &sink);
    fake_run_feed(&run, &rows);
    metrics_finish(metrics);
    error = record_files_commit(&files);
    assert_false(error_is(error));
    error = result_write(folder, &(struct result_manifest){.version = "0", .fingerprint = "0"}, metrics, NULL);
    assert_false(error_is(error));
    struct victim victims[] = {
        {"result.json", scratch_path("mutant/result.json"), "mutant/result.json", read_record, .is_packed = false},
        {"jobs", scratch_path("mutant/jobs.csv.zst"), "mutant/jobs.csv.zst", read_record, .is_packed = true},
        {"attempts", scratch_path("mutant/attempts.csv.zst"), "mutant/attempts.csv.zst", read_record,
         .is_packed = true},
        {"timeline", scratch_path("mutant/timeline.csv.zst"), "mutant/timeline.csv.zst", read_record,
         .is_packed = true},
    };
    attack_all(victims, sizeof victims / sizeof victims[0]);
    metrics_free(metrics);
}

TEST_GROUP(scratch_make, scratch_remove)
