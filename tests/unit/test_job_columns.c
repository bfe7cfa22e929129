/* tests/unit/test_job_columns.c -- no native column is forgotten by the table of what a job may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "workloads/readers/job_columns.h"

static void test_each_column_has_a_row(void **state)
{
    (void)state;
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++) {
        size_t rows = 0;
        for (size_t c = 0; c < job_column_count; c++)
            rows += (int)job_columns[c].field == field;
        const size_t wanted =
            field != NATIVE_GPU_CLASS; /* it becomes a request while it is read, which is told there */
        if (rows != wanted)
            fail_msg("'%s' has %zu rows in job_columns", native_columns[field].name, rows);
    }
}

static void test_each_loss_has_a_text(void **state)
{
    (void)state;
    const uint8_t all = (1 << JOB_FORMAT_COUNT) - 1;
    for (size_t c = 0; c < job_column_count; c++) {
        const struct job_column *column = &job_columns[c];
        const bool may_be_lost = column->kept != all || column->swf_keeps != NULL;
        assert_non_null(column->value);
        assert_true(may_be_lost == (column->lost != NULL));
        assert_true(column->lost == NULL || strlen(column->lost) < REASON_BYTES);
        for (size_t other = 0; other < c; other++)
            assert_true(column->lost == NULL || job_columns[other].lost == NULL ||
                        strcmp(column->lost, job_columns[other].lost) != 0);
        if (column->field != NATIVE_FIELD_COUNT) /* native to native loses nothing */
            assert_true((column->kept >> JOBS_NATIVE & 1) != 0 && (column->kept >> JOBS_JSONL & 1) != 0);
    }
    assert_true(job_column_count <= REASONS_MAX);
}

static void test_names_that_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(job_name_number("q12", 'q'), 12);
    assert_int_equal(job_name_number("q0", 'q'), 0);
    static const char *const others[] = {"q", "q012", "q-1", "q+1", "u12", "q1a", "q99999999999", "", "12"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(job_name_number(others[i], 'q'), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_column_has_a_row),
        cmocka_unit_test(test_each_loss_has_a_text),
        cmocka_unit_test(test_names_that_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
