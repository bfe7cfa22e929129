/* A scheduler that is killed at any time goes on from its log as if it never had been (sim/live/decide.h).
 *
 * The events of random runs in the simulator, under all presets and random policies, are the stream.  The log of a
 * process that reads all of it is cut anywhere, in the middle of lines too; another process goes on from there.  Its
 * log is the same to the byte in the end, and it answers what the log before the cut had not. */
#include "tests/support/test.h"

#include "base/input.h"
#include "base/random.h"
#include "policies/wire.h"
#include "sim/live/decide.h"
#include "sim/live/event_file.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/random_run.h"
#include "tests/support/scratch.h"

enum { CUTS = 3, HEADERS_MAX = 1 << 20 };

struct seen {
    uint64_t torn, cycles_cut, decisions, in_header;
};

static bool begins(struct text line, const char *with)
{
    return line.length >= strlen(with) && memcmp(line.at, with, strlen(with)) == 0;
}

static bool is_of_world(struct text line)
{
    return begins(line, "{\"job_") || begins(line, "{\"decision_refused") || begins(line, "{\"node_") ||
           begins(line, "{\"gpu_") || begins(line, "{\"queues_") || begins(line, "{\"typical_") ||
           begins(line, "{\"cycle\"");
}

static void put_line(struct buffer *out, struct text line)
{
    buffer_text(out, line);
    buffer_char(out, '\n');
}

/* The header and the facts of a run. */
static void record(uint64_t seed, struct buffer *stream)
{
    struct random_run run;
    struct json_doc *doc;
    struct event_file *file;
    random_run_open(&run, seed, (uint32_t)seed % (random_case_preset_count() + 2));
    struct error error = json_text_read(&doc, "policy", run.policy.text);
    assert_false(error_is(error));
    char *policy = json_doc_canonical_new(doc);
    error = event_file_open(&file, scratch_path(""), run.cluster, job_source_queues(run.source), text_of(policy));
    assert_false(error_is(error));
    run.listener = event_file_listener(file);
    random_run_engine(&run);
    error = event_file_commit(&file);
    assert_false(error_is(error));
    free(policy);
    json_doc_free(doc);
    random_run_close(&run);
    struct input *input;
    struct text line;
    bool has = true;
    error = input_open(&input, scratch_path(EVENT_FILE), NULL);
    for (bool is_header = true; !error_is(error) && has; is_header = false) {
        error = input_line(input, &line, &has);
        if (!error_is(error) && has && (is_header || is_of_world(line)))
            put_line(stream, line);
    }
    assert_false(error_is(error));
    input_close(input);
}

static struct error keep(void *self, struct text lines)
{
    buffer_text(self, lines);
    return ERROR_OK;
}

/* The answers to the stream, by a process that keeps or has that log. */
static struct decide_result decide(const struct buffer *stream, const char *log, struct buffer *answers)
{
    struct decide_result result;
    const char *path = scratch_write("stream.jsonl", stream->bytes, stream->length);
    char *copy = strdup(path); /* the next path takes its place */
    const struct decide_options options = {.path = copy, .log = scratch_path(log), .on_answer = keep, .self = answers};
    struct error error = decide_run(&options, &result);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    free(copy);
    return result;
}

/* Leave out as many lines of the world, and what stands between; the header stays. */
static void skip_told(const struct buffer *stream, uint64_t told, struct buffer *rest)
{
    struct text lines = {stream->bytes, stream->length}, line;
    text_cut(&lines, '\n', &line);
    put_line(rest, line);
    while (told-- > 0)
        text_cut(&lines, '\n', &line);
    buffer_text(rest, lines);
}

/* What stands whole in the first `length` bytes of the log: lines of the world, and answers, which are appended. */
static uint64_t count_whole(const struct buffer *log, size_t length, struct buffer *answers, bool *ends_in_answer)
{
    struct text lines = {log->bytes, length}, line;
    uint64_t told = 0;
    while (memchr(lines.at, '\n', lines.length) != NULL && text_cut(&lines, '\n', &line)) {
        *ends_in_answer = !is_of_world(line);
        told += is_of_world(line);
        if (line.at != log->bytes && *ends_in_answer)
            put_line(answers, line);
    }
    return told;
}

static void check_cut(uint64_t seed, const struct buffer *stream, const struct buffer *log, size_t cut,
                      const struct buffer *answers, struct seen *seen)
{
    struct buffer all = {0}, later = {0}, rest = {0}, expected = {0};
    struct text lines;
    bool ends_in_answer = false;
    const uint64_t told = count_whole(log, cut, &all, &ends_in_answer);
    const bool has_header = memchr(log->bytes, '\n', cut) != NULL;
    scratch_write("cut.jsonl", log->bytes, cut);
    skip_told(stream, told, &rest);
    const struct decide_result result = decide(&rest, "cut.jsonl", &later);
    lines = (struct text){later.bytes, later.length};
    if (has_header) {
        struct text line;
        char replayed[64];
        snprintf(replayed, sizeof replayed, "{\"replayed\":%llu,", (unsigned long long)told);
        text_cut(&lines, '\n', &line);
        if (!begins(line, replayed))
            fail_msg("seed %llu, cut %zu: it says %.*s", (unsigned long long)seed, cut, (int)line.length, line.at);
    }
    buffer_text(&all, lines);
    if (all.length != answers->length || memcmp(all.bytes, answers->bytes, all.length) != 0)
        fail_msg("seed %llu, cut %zu: it answers otherwise", (unsigned long long)seed, cut);
    struct buffer again = scratch_read("cut.jsonl");
    if (again.length != log->length || memcmp(again.bytes, log->bytes, again.length) != 0)
        fail_msg("seed %llu, cut %zu: another log", (unsigned long long)seed, cut);
    assert_true((result.torn_bytes > 0) == (cut > 0 && log->bytes[cut - 1] != '\n'));
    seen->torn += result.torn_bytes > 0;
    seen->in_header += !has_header;
    seen->cycles_cut += has_header && begins(lines, "{\"start\"");
    buffer_release(&again);
    buffer_release(&all);
    buffer_release(&later);
    buffer_release(&rest);
    buffer_release(&expected);
}

TEST(test_killed_and_restarted)
{
    struct seen seen = {0};
    const struct test_seeds seeds = test_seeds(6, 200);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct buffer stream = {0}, answers = {0};
        struct random_stream stops;
        random_stream_init(&stops, seed, "fact log", 0);
        record(seed, &stream);
        seen.decisions += decide(&stream, "whole.jsonl", &answers).decisions;
        struct buffer log = scratch_read("whole.jsonl");
        const size_t header = (size_t)((char *)memchr(log.bytes, '\n', log.length) - log.bytes);
        for (int i = 0; i < CUTS; i++)
            check_cut(seed, &stream, &log, header + random_below(&stops, (uint32_t)(log.length - header + 1)), &answers,
                      &seen);
        check_cut(seed, &stream, &log, random_below(&stops, (uint32_t)header), &answers, &seen);
        scratch_empty();
        buffer_release(&log);
        buffer_release(&stream);
        buffer_release(&answers);
    }
    print_message("%llu decisions, %llu torn lines, %llu cycles answered in the restart\n",
                  (unsigned long long)seen.decisions, (unsigned long long)seen.torn,
                  (unsigned long long)seen.cycles_cut);
    assert_true(seen.decisions > 0 && seen.torn > 0 && seen.in_header > 0);
}

static const char header_text[] =
    "{'windtunnel_events':1,'cluster':{'pools':[{'name':'p','nodes':1,'gpus_per_node':8}]},'queues':[],'policy':%s}\n"
    "{'job_submitted':0,'job':{'id':0,'groups':[{'gpus':1}]}}\n{'cycle':0}\n";

/* The stream with that policy on a log; the error, or none. */
static struct error decide_under(const char *policy, const char *log, struct buffer *answers)
{
    struct decide_result result;
    struct buffer text = {0};
    buffer_format(&text, header_text, policy);
    char *path = strdup(scratch_write_json("other.jsonl", buffer_c_string(&text)));
    const struct decide_options options = {.path = path, .log = scratch_path(log), .on_answer = keep, .self = answers};
    struct error error = decide_run(&options, &result);
    free(path);
    buffer_release(&text);
    return error;
}

/* A log of another policy, and one whose decisions are not made again, are refused, and stay as they are. */
TEST(test_refused)
{
    struct buffer answers = {0};
    struct error error = decide_under("{}", "log", &answers);
    assert_false(error_is(error));
    struct buffer log = scratch_read("log");
    assert_non_null(strstr(buffer_c_string(&log), "{\"start\":1,"));
    error = decide_under("{'blocking':'skip'}", "log", &answers);
    assert_non_null(strstr(error_message(&error), "another policy"));
    error_release(&error);
    struct buffer forged = {0};
    buffer_bytes(&forged, log.bytes, log.length);
    memcpy(strstr(buffer_c_string(&forged), "\"gpus\":\"0\""), "\"gpus\":\"7\"", strlen("\"gpus\":\"7\""));
    scratch_write("log", forged.bytes, forged.length);
    answers.length = 0;
    error = decide_under("{}", "log", &answers);
    assert_non_null(strstr(error_message(&error), "another decision"));
    error_release(&error);
    assert_int_equal(answers.length, 0);
    struct buffer after = scratch_read("log");
    assert_int_equal(after.length, forged.length);
    assert_memory_equal(after.bytes, forged.bytes, after.length);
    buffer_release(&after);
    buffer_release(&forged);
    buffer_release(&log);
    buffer_release(&answers);
}

TEST_GROUP(scratch_make, scratch_remove)
