/* tests/unit/test_job_columns.c -- the table of a job's text: its losses, and the tables of the docs made of it. */
#include "tests/support/test.h"

#include "base/buffer.h"
#include "base/input.h"
#include "base/mem.h"
#include "workloads/readers/job_columns.h"

TEST(test_each_loss_has_a_text)
{
    const uint8_t all = (1 << JOB_FORMAT_COUNT) - 1;
    for (size_t c = 0; c < job_column_count; c++) {
        const struct job_column *column = &job_columns[c];
        const bool is_native = c < NATIVE_FIELD_COUNT;
        assert_true(is_native == (column->is_said == NULL));
        assert_true(column->kept == all || column->lost != NULL || c == NATIVE_GPU_CLASS);
        assert_true(column->lost == NULL || strlen(column->lost) < REASON_BYTES);
        for (size_t other = 0; other < c; other++)
            assert_true(column->lost == NULL || job_columns[other].lost == NULL ||
                        strcmp(column->lost, job_columns[other].lost) != 0);
        if (is_native) /* native to native loses nothing */
            assert_true((column->kept >> JOBS_NATIVE & 1) != 0 && (column->kept >> JOBS_JSONL & 1) != 0);
    }
    assert_true(job_column_count <= REASONS_MAX);
}

/* Rows of the docs, as the table says them. */
#define TRACE_LINE(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, LOST, TEXT, DEFAULT)                          \
    "| `" JOB_KEY_##FORM(KEY) "` | " TEXT " | " DEFAULT " |\n",
#define OWN_LINE(ID, KEY, KIND, NEED, WHERE, LOST, TEXT, DEFAULT) "| `" KEY "` | " TEXT " | " DEFAULT " |\n",
#define WIRE_KEY_INT(key)                                         key
#define WIRE_KEY_MILLI(key)                                       key
#define WIRE_KEY_BOOL(key)                                        key
#define WIRE_KEY_NAME(key)                                        key
#define WIRE_KEY_TIME(key)                                        key "_ns"
#define WIRE_KEY_PATIENCE(key)                                    key "_ns"
#define WIRE_LINE(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, LOST, TEXT, DEFAULT)                           \
    "| `" WIRE_KEY_##FORM(KEY) "` | " DEFAULT " | " TEXT " |\n",

static const char *const trace_lines[] = {JOB_TEXT(TRACE_LINE, JOB_TEXT_NONE, TRACE_LINE, OWN_LINE)};
static const char *const wire_lines[] = {JOB_TEXT(WIRE_LINE, WIRE_LINE, JOB_TEXT_NONE, JOB_TEXT_NONE)};

/* The file holds the lines, one after another. */
static void check_docs(const char *path, const char *const *lines, size_t count)
{
    struct buffer all = {0};
    char *bytes;
    size_t length;
    struct error error = input_read_all(path, 1 << 20, &bytes, &length);
    assert_false(error_is(error));
    for (size_t i = 0; i < count; i++)
        buffer_string(&all, lines[i]);
    if (memmem(bytes, length, all.bytes, all.length) == NULL) {
        print_error("%s must hold these lines, of workloads/job_text.h:\n", path);
        for (size_t i = 0; i < count; i++)
            print_error("%s", lines[i]);
        fail();
    }
    buffer_release(&all);
    mem_free(bytes);
}

TEST(test_docs_hold_the_table)
{
    check_docs("workloads/README.md", trace_lines, sizeof trace_lines / sizeof trace_lines[0]);
    check_docs("docs/decide.md", wire_lines, sizeof wire_lines / sizeof wire_lines[0]);
}

TEST(test_names_that_are_numbers)
{
    assert_int_equal(job_name_number("q12", 'q'), 12);
    assert_int_equal(job_name_number("q0", 'q'), 0);
    static const char *const others[] = {"q", "q012", "q-1", "q+1", "u12", "q1a", "q99999999999", "", "12"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(job_name_number(others[i], 'q'), -1);
}
