/* The table of a made-up run, without and with communication, against report_table*.txt (tests/support/golden.h). */
#include "tests/support/test.h"

#include "reports/run_show.h"
#include "tests/support/fake_run.h"
#include "tests/support/golden.h"

static void print_run(bool communicates, struct buffer *out)
{
    const struct fake_run run = {.jobs = 20000,
                                 .gpus = 512,
                                 .queues = 30,
                                 .seed = 5,
                                 .load = 0.97,
                                 .warmup_s = 86400,
                                 .price_usd_per_gpu_h = 2.5,
                                 .rejected_every = 1500,
                                 .communicates = communicates};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    fake_run_feed(&run, &sink);
    metrics_finish(metrics);
    struct show *show = run_show_new(metrics, &(struct run_show){.cluster = "dgx-h100-64", .policy = "fifo"});
    show_text(show, out);
    show_free(show);
    metrics_free(metrics);
}

TEST(the_table_is_as_before)
{
    struct buffer printed = {0};
    print_run(false, &printed);
    golden_compare("tests/golden/report_table.txt", &printed);
}

TEST(a_run_that_communicates_has_one_more_section)
{
    struct buffer printed = {0};
    print_run(true, &printed);
    golden_compare("tests/golden/report_table_communication.txt", &printed);
}
