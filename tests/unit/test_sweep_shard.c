/* tests/unit/test_sweep_shard.c -- what was appended to a shard is read again, whatever was cut off behind it or is
 * wrong there; a run counts once, and records that contradict each other are an error that names both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "studies/sweep/sweep_books.h"
#include "tests/support/scratch.h"

enum { RUNS = 5, RECORDS = 4 };
#define PLAN "0123456789abcdef0123456789abcdef"

/* ---- a plan made by hand ---- */

static struct sweep_run runs[RUNS];

static struct sweep_plan plan_of_runs(void)
{
    for (uint32_t r = 0; r < RUNS; r++) {
        runs[r] = (struct sweep_run){.first = r, .seed = r};
        hash_hex(&r, sizeof r, runs[r].key);
    }
    struct sweep_plan plan = {.runs = runs, .run_count = RUNS, .distinct_count = RUNS, .combination_count = 1};
    memcpy(plan.digest, PLAN, sizeof plan.digest);
    return plan;
}

static void make_record(struct shard_record *record, enum run_state state, size_t run, const char *bytes)
{
    *record = (struct shard_record){.state = state, .run = run, .bytes = text_of(bytes)};
    memcpy(record->key, runs[run].key, sizeof record->key);
    hash_hex(bytes, strlen(bytes), record->digest);
}

static void assert_good(struct error error)
{
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
}

static void append(struct shard_writer *writer, enum run_state state, size_t run, const char *bytes)
{
    struct shard_record record;
    make_record(&record, state, run, bytes);
    assert_good(shard_append(writer, &record));
}

/* Write the records that follow each other in `list`: "done 3 text", ending with NULL. */
static void write_shard(const char *worker, const char *const *list)
{
    struct shard_writer writer;
    mkdir(scratch_path("shards"), 0755);
    assert_good(shard_create(&writer, scratch_path("shards"), worker, PLAN));
    for (; *list != NULL; list++) {
        char state[16], text[64] = "";
        size_t run;
        assert_true(sscanf(*list, "%15s %zu %63[^\n]", state, &run, text) >= 2);
        for (int s = RUN_DONE; s < RUN_STATES; s++)
            if (strcmp(run_state_names[s], state) == 0)
                append(&writer, (enum run_state)s, run, text);
    }
    assert_good(shard_sync(&writer));
    shard_close(&writer);
}

/* ---- reading ---- */

/* As scratch_write, without waiting for the disk. */
static const char *put(const char *name, const void *bytes, size_t length)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

struct seen {
    size_t count;
    size_t runs[RECORDS + 1];
    char texts[RECORDS + 1][64];
};

static struct error see(void *self, const struct shard_record *record, uint64_t offset)
{
    struct seen *seen = self;
    (void)offset;
    assert_true(seen->count <= RECORDS && record->bytes.length < 64);
    memcpy(seen->texts[seen->count], record->bytes.at, record->bytes.length);
    seen->texts[seen->count][record->bytes.length] = '\0';
    seen->runs[seen->count++] = record->run;
    return ERROR_OK;
}

static const char *const four[] = {"done 0 the first", "error 3 what", "done 2 ", "timeout 1 took longer", NULL};
static const char *const texts[] = {"the first", "what", "", "took longer"};

/* The bytes up to the end of each record of `four`, and the whole file. */
static size_t ends_of(struct buffer *bytes, size_t ends[RECORDS + 1])
{
    size_t count = 0;
    write_shard("w", four);
    *bytes = scratch_read("shards/w-0.shard");
    ends[count++] = (size_t)((char *)memchr(bytes->bytes, '\n', bytes->length) - bytes->bytes) + 1;
    while (ends[count - 1] < bytes->length) {
        const char *line = bytes->bytes + ends[count - 1];
        const size_t line_length = (size_t)((char *)memchr(line, '\n', bytes->length) - line) + 1;
        size_t length;
        assert_int_equal(sscanf(line, "run %*s %*u %*s %*s %zu", &length), 1);
        ends[count] = ends[count - 1] + line_length + length + 1;
        count++;
    }
    return count;
}

/* Cut off at every byte: what was whole is there, and nothing else. */
static void test_torn(void **state)
{
    struct buffer bytes;
    size_t ends[RECORDS + 1];
    (void)state;
    scratch_empty();
    assert_int_equal(ends_of(&bytes, ends), RECORDS + 1);
    for (size_t length = 0; length <= bytes.length; length++) {
        struct seen seen = {0};
        struct shard_end end;
        size_t whole = 0;
        const char *path = put("cut.shard", bytes.bytes, length);
        assert_good(shard_read(path, PLAN, see, &seen, &end));
        while (whole < RECORDS && ends[whole + 1] <= length)
            whole++;
        assert_int_equal(seen.count, whole);
        for (size_t r = 0; r < whole; r++)
            assert_string_equal(seen.texts[r], texts[r]);
        const size_t good = length < ends[0] ? 0 : ends[whole];
        assert_int_equal(end.whole_bytes, good);
        assert_int_equal(end.torn_bytes, length - good);
    }
    buffer_release(&bytes);
}

/* One bit wrong: no record from there on, and none that was never written. */
static void test_damaged(void **state)
{
    struct buffer bytes;
    size_t ends[RECORDS + 1];
    (void)state;
    scratch_empty();
    ends_of(&bytes, ends);
    for (size_t at = 0; at < bytes.length; at++) {
        struct seen seen = {0};
        struct shard_end end;
        size_t whole = 0;
        bytes.bytes[at] ^= 1;
        struct error error = shard_read(put("bad.shard", bytes.bytes, bytes.length), PLAN, see, &seen, &end);
        bytes.bytes[at] ^= 1;
        if (at < ends[0] - 1) { /* the first line, which names the plan */
            assert_int_equal(error.kind, ERROR_DATA);
            error_release(&error);
            continue;
        }
        if (error_is(error)) { /* its end: the line is too long */
            assert_int_equal(at, ends[0] - 1);
            error_release(&error);
            continue;
        }
        while (whole < RECORDS && ends[whole + 1] <= at)
            whole++;
        assert_int_equal(seen.count, whole);
    }
    buffer_release(&bytes);
}

static void test_names(void **state)
{
    struct shard_writer one, other;
    (void)state;
    scratch_empty();
    mkdir(scratch_path("shards"), 0755);
    assert_good(shard_create(&one, scratch_path("shards"), "w", PLAN));
    assert_good(shard_create(&other, scratch_path("shards"), "w", PLAN)); /* each has its own file */
    assert_true(scratch_exists("shards/w-0.shard") && scratch_exists("shards/w-1.shard"));
    shard_close(&one);
    shard_close(&other);
}

/* ---- books ---- */

static void test_books(void **state)
{
    static const char *const one[] = {"killed 0 b", "done 1 x", "crash 2 s", "error 3 b", NULL},
                             *const other[] = {"done 0 y", "done 1 x", "timeout 2 t", "error 3 a", "timeout 1 t", NULL};
    static const enum run_state states[RUNS] = {RUN_DONE, RUN_DONE, RUN_CRASH, RUN_ERROR, RUN_MISSING};
    const struct sweep_plan plan = plan_of_runs();
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct sweep_books books;
        scratch_empty();
        write_shard(order == 0 ? "a" : "z", one);
        write_shard("m", other);
        assert_good(sweep_books_read(&books, &plan, scratch_path("")));
        for (size_t r = 0; r < RUNS; r++)
            assert_int_equal(books.entries[r].state, states[r]);
        assert_string_equal(books.entries[2].failure, "s");
        assert_string_equal(books.entries[3].failure, "a");
        assert_int_equal(books.counts[RUN_DONE], 2);
        assert_int_equal(books.record_count, 9);
        assert_false(sweep_books_is_complete(&books));
        sweep_books_release(&books);
    }
}

static void assert_refused(const char *message)
{
    const struct sweep_plan plan = plan_of_runs();
    struct sweep_books books;
    struct error error = sweep_books_read(&books, &plan, scratch_path(""));
    assert_int_equal(error.kind, ERROR_DATA);
    if (strstr(error_message(&error), message) == NULL)
        assert_string_equal(error_message(&error), message);
    error_release(&error);
}

static void test_contradictions(void **state)
{
    static const char *const x[] = {"done 1 x", NULL}, *const y[] = {"done 0 x", "done 1 y", NULL};
    struct buffer expected = {0};
    (void)state;
    plan_of_runs();
    scratch_empty();
    write_shard("a", x);
    write_shard("b", y);
    buffer_format(&expected, "run 1 is recorded twice with different results: in %s at byte ",
                  scratch_path("shards/a-0.shard"));
    assert_refused(buffer_c_string(&expected));
    expected.length = 0;
    buffer_format(&expected, ", and in %s at byte ", scratch_path("shards/b-0.shard"));
    assert_refused(buffer_c_string(&expected));
    buffer_release(&expected);
}

static void test_strangers(void **state)
{
    static const char *const x[] = {"done 1 x", NULL};
    (void)state;
    plan_of_runs();
    scratch_empty();
    write_shard("a", x);
    runs[1].key[0] = 'x'; /* of the record only: plan_of_runs makes it anew */
    scratch_empty();
    write_shard("a", x);
    assert_refused("the plan has no run 1 with the key x");
    scratch_empty();
    mkdir(scratch_path("shards"), 0755);
    put("shards/a.shard", "hello\n", 6);
    assert_refused("a.shard is no shard of a sweep");
    put("shards/a.shard", "windtunnel-shard 1 fedcba\n", 26);
    assert_refused("belongs to another plan: to fedcba, not to " PLAN);
}

static void test_results(void **state)
{
    struct buffer packed = {0}, result = {0};
    const struct sweep_plan plan = plan_of_runs();
    struct shard_writer writer;
    struct shard_record record;
    struct sweep_books books;
    char long_text[10000];
    (void)state;
    scratch_empty();
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = (char)('a' + i * i % 26);
    make_record(&record, RUN_DONE, 2, "");
    assert_good(sweep_result_pack((struct text){long_text, sizeof long_text}, &packed, record.digest));
    assert_true(packed.length < sizeof long_text);
    record.bytes = (struct text){packed.bytes, packed.length};
    mkdir(scratch_path("shards"), 0755);
    assert_good(shard_create(&writer, scratch_path("shards"), "w", PLAN));
    append(&writer, RUN_ERROR, 0, "before");
    assert_good(shard_append(&writer, &record));
    shard_close(&writer);
    assert_good(sweep_books_read(&books, &plan, scratch_path("")));
    assert_good(sweep_books_result(&books, 2, &result));
    assert_int_equal(result.length, sizeof long_text);
    assert_memory_equal(result.bytes, long_text, sizeof long_text);
    sweep_books_release(&books);
    buffer_release(&packed);
    buffer_release(&result);
}

int main(void)
{
    plan_of_runs();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torn),    cmocka_unit_test(test_damaged),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_books),   cmocka_unit_test(test_contradictions), cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
