/* tests/golden/test_report_table.c -- the table of a made-up run against report_table.txt.
 *
 * With WINDTUNNEL_GOLDEN_UPDATE=1 in the environment (make golden-update) the file is written anew
 * instead of compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/input.h"
#include "base/mem.h"
#include "reports/table.h"
#include "tests/support/fake_run.h"

static const char golden_path[] = "tests/golden/report_table.txt";

static void print_run(struct buffer *out)
{
    static const struct fake_run run = {.jobs = 20000,
                                        .gpus = 512,
                                        .queues = 30,
                                        .seed = 5,
                                        .load = 0.97,
                                        .warmup_s = 86400,
                                        .price_usd_per_gpu_h = 2.5,
                                        .rejected_every = 1500};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    fake_run_feed(&run, &sink);
    metrics_finish(metrics);
    table_run(metrics, &(struct table_options){.cluster = "dgx-h100-64", .policy = "fifo"}, out);
    metrics_free(metrics);
}

static void the_table_is_as_before(void **state)
{
    (void)state;
    struct buffer printed = {0};
    print_run(&printed);
    const char *update = getenv("WINDTUNNEL_GOLDEN_UPDATE");
    if (update != NULL && strcmp(update, "1") == 0) {
        FILE *file = fopen(golden_path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(printed.bytes, 1, printed.length, file), printed.length);
        assert_int_equal(fclose(file), 0);
    }
    char *golden;
    size_t length;
    assert_false(error_is(input_read_all(golden_path, 1 << 20, &golden, &length)));
    struct buffer expected = {0};
    buffer_bytes(&expected, golden, length);
    assert_string_equal(buffer_c_string(&printed), buffer_c_string(&expected));
    mem_free(golden);
    buffer_release(&expected);
    buffer_release(&printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
