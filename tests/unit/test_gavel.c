#include <math.h>

#include "tests/support/test.h"

#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

#define RATES                                                                                                          \
    "{\"v100\": {\"('LM (batch size 20)', 2)\": {\"null\": 40.0, \"('A3C', 1)\": [1, 2]},"                             \
    " \"('A3C', 1)\": {\"null\": 2}, \"('CycleGAN', 1)\": {\"null\": 0}},\n"                                           \
    " \"k80\": {\"('A3C', 1)\": {\"null\": 0.5}}}"

static struct workload_spec with(const char *rates, const char *gpu_type)
{
    struct workload_spec spec = {.format = "gavel", .gpus_per_node = 8, .gpu_type = gpu_type, .table_count = 1};
    spec.tables[0] = (struct table_path){TEXT("throughputs"), scratch_write("rates.json", rates, strlen(rates))};
    return spec;
}

/* Lines of each kind say the same in other columns. */
TEST(test_numbers_of_fields)
{
    const struct workload_spec spec = with(RATES, NULL);
    struct trace_case read = trace_case_read("LM (batch size 20)\tcd %s && x\t-n\t1\t8000\t10.5\t2\n"
                                             "LM (batch size 20)\tcd %s && x\t-n\t1\t8000\t2\t1.0\t-1\t10.5\n"
                                             "LM (batch size 20)\tx\tdir\t-n\t1\t8000\t2\t1.0\t-1.0\t10.5\n"
                                             "LM (batch size 20)\tx\tdir\t-n\t1\t8000.0\t2\tstatic\t1\t1.2\t10.5\r\n"
                                             "LM (batch size 20)\tx\tdir\t-n\t1\t8000\t2\tstatic\t1\t-1\t70.25\t10.5\n",
                                             &spec, NULL);
    assert_int_equal(read.count, 5);
    assert_true(read.facts.first_submit == S(21) / 2);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(read.truths[i].duration == (i < 4 ? S(200) : S(281) / 4)); /* 8000 steps, 40 a second; as given */
        assert_int_equal(read.jobs[i].first.request.gpus, 2);
        assert_int_equal(read.truths[i].workload_class, 1);
    }
    assert_string_equal(names_text(job_source_classes(read.source), 0), "LM");
    trace_case_release(&read);
}

TEST(test_gpu_types)
{
    static const char text[] = "A3C\tx\t-n\t0\t100\t0\t1\nCycleGAN\tx\t-n\t0\t100\t1\t1\n";
    struct workload_spec spec = with(RATES, NULL);
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 1);
    assert_true(read.truths[0].duration == S(50));
    assert_int_equal(read.facts.skipped.count, 1); /* throughput 0 */
    trace_case_release(&read);
    spec = with(RATES, "k80");
    trace_case_refused(text, &spec, NULL, 2, 1, "no \"('CycleGAN', 1)\" on the GPU type k80");
    spec.bad_lines_max = 1;
    read = trace_case_read(text, &spec, NULL);
    assert_true(read.truths[0].duration == S(200));
    assert_int_equal(read.facts.bad_line_count, 1);
    trace_case_release(&read);
    spec = with(RATES, "h100");
    trace_case_refused(text, &spec, NULL, 1, 1, "no throughputs of the GPU type 'h100'");
}

TEST(test_bad_tables)
{
    static const char text[] = "A3C\tx\t-n\t0\t100\t0\t1\n";
    struct workload_spec spec = with("{\"v100\": {\"('A3C', 1)\": {\"nil\": 2}}}", NULL);
    trace_case_refused(text, &spec, NULL, 1, 0, "'null' is missing");
    spec = with("{\"v100\": {\"('A3C', 1)\":\n {\"null\": -2}}}", NULL);
    trace_case_refused(text, &spec, NULL, 2, 11, "'null'");
    spec = with("{\"v100\": {\"('A3C', 1)\": {\"null\": 2}", NULL);
    trace_case_refused(text, &spec, NULL, 1, 0, "rates.json");
    spec = with("{\"v100\": [1]}", NULL);
    trace_case_refused(text, &spec, NULL, 1, 10, "object");
}

TEST(test_bad_lines)
{
    static const struct {
        const char *text, *says;
        unsigned column;
    } cases[] = {{"A3C\tx\t-n\t0\t100\t0\n", "7, 9, 10, 11 or 12 fields between tabs, got 6", 0},
                 {"\tx\t-n\t0\t100\t0\t1\n", "'job_type'", 1},
                 {"A3C\tx\t-n\t0\tten\t0\t1\n", "'total_steps'", 12},
                 {"A3C\tx\t-n\t0\t1e17\t0\t1\n", "73 years", 12},
                 {"A3C\tx\t-n\t0\t100\t\t1\n", "'arrival_time'", 16},
                 {"A3C\tx\t-n\t0\t100\t-5\t1\n", "'arrival_time'", 16},
                 {"A3C\tx\t-n\t0\t100\t5\t0\n", "'scale_factor'", 18},
                 {"A3C\tx\t-n\t0\t100\t5\t2\n", "no \"('A3C', 2)\" on the GPU type v100", 1},
                 {"A\377C\tx\t-n\t0\t100\t5\t2\n", "UTF-8", 1}};
    struct workload_spec spec = with(RATES, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        trace_case_refused(cases[i].text, &spec, NULL, 1, cases[i].column, cases[i].says);
}

/* A trace of twelve fields needs no table; others do, and say so. */
TEST(test_without_table)
{
    struct workload_spec spec = {.format = "gavel", .gpus_per_node = 8};
    struct trace_case read = trace_case_read("A3C\tx\td\t-n\t0\t100\t1\tm\t1\t-1\t7\t0\n", &spec, NULL);
    assert_true(read.truths[0].duration == S(7));
    trace_case_release(&read);
    struct job_source *source;
    const char text[] = "A3C\tx\t-n\t0\t100\t0\t1\n";
    spec.trace = scratch_write("bare.trace", text, sizeof text - 1);
    struct error error = job_source_open(&source, &spec, NULL, 1);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *report = error_text_new(&error);
    assert_non_null(strstr(report, "needs the table 'throughputs'"));
    free(report);
    error_release(&error);
}

TEST(test_sample)
{
    struct workload_spec spec = {.trace = "workloads/samples/gavel.trace", .gpus_per_node = 8, .table_count = 1};
    spec.tables[0] = (struct table_path){TEXT("throughputs"), "workloads/samples/gavel_throughputs.json"};
    struct workload_facts facts = trace_real_read(&spec, NULL);
    assert_string_equal(facts.format, "gavel");
    assert_int_equal(facts.job_count, 4);
    assert_float_equal(facts.recorded.all.asked_gpu_s, 54000 / 60. + 4 * 36000 / 40. + 7200 / 4. + 900 / 2.5, 1e-6);
}

/* Gavel's own tables. */
TEST(test_real_throughputs)
{
    static const char text[] = "LM (batch size 20)\tx\t-n\t1\t1000000\t0\t1\n"
                               "ResNet-50 (batch size 64)\tx\t-n\t1\t1000\t5\t4\n";
    static const struct {
        const char *file, *type;
        double lm, resnet; /* steps a second, read from the files */
    } cases[] = {{"gavel/simulation_throughputs.json.zst", NULL, 64.74245099960703, 9.451949566394442},
                 {"gavel/simulation_throughputs.json.zst", "k80", 17.142289692304086, 2.4122290974193286},
                 {"gavel/physical_cluster_throughputs.json.zst", "p100", 58.805173726707395, 10.36465731519379}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = trace_real(cases[i].file);
        if (path == NULL)
            skip();
        struct workload_spec spec = {
            .format = "gavel", .gpus_per_node = 8, .gpu_type = cases[i].type, .table_count = 1};
        spec.tables[0] = (struct table_path){TEXT("throughputs"), path};
        struct trace_case read = trace_case_read(text, &spec, NULL);
        assert_true(fabs(time_to_seconds(read.truths[0].duration) - 1e6 / cases[i].lm) < 1e-6);
        assert_true(fabs(time_to_seconds(read.truths[1].duration) - 1e3 / cases[i].resnet) < 1e-6);
        assert_int_equal(read.facts.sides->files[0].row_count, 83);
        trace_case_release(&read);
    }
}

TEST_GROUP(scratch_make, scratch_remove)
