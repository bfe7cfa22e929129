#include <stdio.h>

#include "tests/support/test.h"

#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"
#include "workloads/readers/column_map.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

/* The rows of `text` by the map, which is a file. */
static struct trace_case read_by(const char *map, const char *text)
{
    const struct workload_spec spec = {
        .format = "columns", .columns = scratch_write_json("map.json", map), .gpus_per_node = 8};
    return trace_case_read(text, &spec, NULL);
}

static void refused_by(const char *map, const char *text, unsigned line, unsigned column, const char *says)
{
    const struct workload_spec spec = {
        .format = "columns", .columns = scratch_write_json("map.json", map), .gpus_per_node = 8};
    trace_case_refused(text, &spec, NULL, line, column, says);
}

static const char small[] = "{'fields': {'submit_s': 'at', 'duration_s': {'column': 'minutes', 'unit': 'min'}, "
                            "'gpus': 'n'}}";

TEST(test_units_of_time)
{
    static const struct {
        const char *unit, *value;
        time_ns time;
    } cases[] = {{"s", "90.5", 90500 * TIME_NS_PER_MS},
                 {"ms", "9301484000", S(9301484)},
                 {"us", "1500000", 1500 * TIME_NS_PER_MS},
                 {"min", "2.5", S(150)},
                 {"h", "1", S(3600)},
                 {"d", "0.5", S(43200)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char map[256], text[64];
        snprintf(map, sizeof map,
                 "{'fields': {'submit_s': 'at', 'duration_s': {'column': 'd', 'unit': '%s'}, 'gpus': 'n'}}",
                 cases[i].unit);
        snprintf(text, sizeof text, "at,d,n\n0,%s,1\n", cases[i].value);
        struct trace_case read = read_by(map, text);
        assert_true(read.truths[0].duration == cases[i].time);
        trace_case_release(&read);
    }
}

/* The order of day and month comes from all rows of the column, also from one far behind; no order is guessed. */
TEST(test_the_column_tells_the_order_of_its_dates)
{
    static const char map[] = "{'fields': {'submit_s': {'column': 'at', 'unit': 'date'}, "
                              "'duration_s': {'column': 'end', 'since': 'at', 'unit': 'date'}, 'gpus': 'n'}}";
    static const char given[] = "{'fields': {'submit_s': {'column': 'at', 'unit': 'date_month_first'}, "
                                "'duration_s': 's', 'gpus': 'n'}}";
    struct trace_case read = read_by(map, "at,end,n\n03/04/2025 10:00,03.04.2025 10:05,1\n"
                                          "13/04/2025 10:00,2025-04-13T10:10,1\n");
    assert_true(read.jobs[1].submit == S(10 * 86400));
    assert_true(read.truths[0].duration == S(300) && read.truths[1].duration == S(600));
    trace_case_release(&read);
    read = read_by(map, "at,end,n\n03/04/2025 10:00,04.03.2025 10:05,1\n03/14/2025 10:00,2025-03-14 10:10,1\n");
    assert_true(read.truths[0].duration == S(300) && read.jobs[1].submit == S(10 * 86400));
    trace_case_release(&read);
    read = read_by(given, "at,s,n\n03/04/2025,60,1\n03/05/2025,60,1\n");
    assert_true(read.jobs[1].submit == S(86400));
    trace_case_release(&read);
    refused_by(map, "at,end,n\n05.04.2025,06.04.2025,1\n03/04/2025,05/04/2025,1\n", 3, 1,
               "'03/04/2025' has the day or the month first, and the rows of 'at' do not tell");
    refused_by(map, "at,end,n\n03/04/2025,2025-05-04,1\n13/04/2025,2025-05-04,1\n04/13/2025,2025-05-04,1\n", 2, 1,
               "do not tell");
    refused_by(map, "at,end,n\n13/04/2025,2025-05-04,1\n13/14/2025,2025-05-04,1\n", 3, 1, "a date and time such as");
    refused_by(given, "at,s,n\n13/04/2025,60,1\n", 2, 1, "a date and time such as");
}

TEST(test_dates_and_their_zones)
{
    static const char map[] = "{'tz_offset': '8h', 'fields': {'submit_s': {'column': 'at', 'unit': 'date'}, "
                              "'duration_s': {'column': 'end', 'since': 'at', 'unit': 'date'}, 'gpus': 'n'}}";
    struct trace_case read = read_by(map, "at,end,n\n2020-05-04 09:00:00,2020-05-04 10:00:00,1\n"
                                          "2020-05-04T09:00:00+08:00,2020-05-04 01:30:00Z,1\n"
                                          "2020-05-03 17:00:00-0800,2020-05-04 01:10:00+0000,1\n");
    for (uint32_t i = 0; i < 3; i++)
        assert_true(read.jobs[i].submit == 0); /* all are 01:00:00 UTC */
    assert_true(read.facts.first_submit == S(1588554000));
    assert_true(read.truths[0].duration == S(3600) && read.truths[1].duration == S(1800) &&
                read.truths[2].duration == S(600));
    trace_case_release(&read);
    const struct workload_spec utc = {
        .format = "columns", .columns = scratch_write_json("map.json", map), .gpus_per_node = 8, .zone = ZONE_UTC};
    read = trace_case_read("at,end,n\n2020-05-04 09:00:00,2020-05-04 10:00:00,1\n", &utc, NULL);
    assert_true(read.facts.first_submit == S(1588554000 + 8 * 3600)); /* an offset of 0 goes before that of the map */
    trace_case_release(&read);
    refused_by(map, "at,end,n\n2020-05-04 09:00:00,2020-05-04 08:59:59,1\n", 2, 21, "'end' is before 'at'");
    refused_by(map, "at,end,n\n2020-05-04 09:00:00+8,2020-05-04 08:59:59,1\n", 2, 1, "'at' must be a date");
}

/* A constant beside a difference stands where there is none. */
TEST(test_a_constant_where_a_difference_is_empty)
{
    struct trace_case read =
        read_by("{'fields': {'submit_s': 'at', 'gpus': 'n', 'duration_s': {'column': 'end', 'since': 'start', "
                "'negative': 'unknown', 'value': '7'}, 'wait_s': {'column': 'start', 'since': 'at', 'value': '3'}}}",
                "at,start,end,n\n0,5,10,1\n0,,10,1\n1,5,,1\n2,9,4,1\n");
    static const int run_times[] = {5, 7, 7, 7}, waits[] = {5, 3, 4, 7};
    assert_int_equal(read.count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(read.truths[i].duration == S(run_times[i]) && read.truths[i].recorded_wait == S(waits[i]));
    trace_case_release(&read);
}

TEST(test_members_and_amounts)
{
    struct trace_case read = read_by("{'separator': '|', 'columns': ['n', 'at', 'd', 'percent', 'cores', 'kinds'], "
                                     "'fields': {'submit_s': 'at', 'duration_s': 'd', 'count': 'n', "
                                     "'gpus': {'column': 'percent', 'scale': 0.01, 'value': '0'}, "
                                     "'cpus': {'column': 'cores', 'times': 'kinds'}}}",
                                     "2.0|0|10|50|1.5|2\n1|1|10|200.0|1|1\n3|2|10||1|1\n");
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].first.count, 2);
    assert_int_equal(read.jobs[0].first.request.gpu_milli, 500);
    assert_int_equal(read.jobs[0].first.request.cpu_milli, 3000); /* of each of the members */
    assert_int_equal(read.jobs[1].first.request.gpus, 2);
    assert_int_equal(read.jobs[2].first.count, 3);
    assert_int_equal(read.jobs[2].first.request.gpus, 0);
    trace_case_release(&read);
}

/* Where GPUs do not divide over the nodes that a publisher names, they may lie anywhere. */
TEST(test_nodes)
{
    static const char map[] = "{'fields': {'submit_s': 'at', 'duration_s': 'd', 'gpus': 'n', 'nodes': 'of'}}";
    struct trace_case read = read_by(map, "at,d,n,of\n0,1,16,2\n1,1,16,4\n2,1,7,2\n3,1,16,\n");
    static const uint32_t counts[] = {2, 4, 7, 2}, gpus[] = {8, 4, 1, 8};
    assert_int_equal(read.jobs[2].first.count * read.jobs[2].first.request.gpus, 7);
    for (uint32_t i = 0; i < 4; i++) {
        if (i == 2)
            continue;
        assert_int_equal(read.jobs[i].first.count, counts[i]);
        assert_int_equal(read.jobs[i].first.request.gpus, gpus[i]);
    }
    trace_case_release(&read);
}

TEST(test_words_and_conditions)
{
    struct trace_case read =
        read_by("{'skip': [{'column': 'kind', 'is': ['cpu', ''], 'why': 'they need no GPU'}], 'fields': {"
                "'submit_s': 'at', 'duration_s': {'column': 'end', 'since': 'start', 'missing': 'they never ran'}, "
                "'wait_s': {'column': 'start', 'since': 'at'}, 'gpus': {'value': '1'}, "
                "'deadline_s': {'column': 'due', 'after': 'at', 'only': {'kind': ['strict']}}, "
                "'outcome': {'column': 'state', 'words': {'*': 'failed', 'OK': 'completed', "
                "'CANCELLED*': 'cancelled'}}}}", /* sorted, as a record has them, or not */
                "at,start,end,kind,due,state\n10,12,20,strict,30,OK\n11,12,20,best,30,CANCELLED by 7\n"
                "12,Unknown,20,best,1,OK\n13,14,20,cpu,1,OK\n14,15,16,best,NaN,NODE_FAIL\n15,15,15,,1,OK\n");
    assert_int_equal(read.count, 3);
    assert_true(read.jobs[0].deadline == S(30)); /* time 0 is the first submission */
    assert_true(read.jobs[1].deadline == TIME_NEVER);
    assert_int_equal(read.truths[0].outcome, OUTCOME_COMPLETED);
    assert_int_equal(read.truths[1].outcome, OUTCOME_CANCELLED);
    assert_int_equal(read.truths[2].outcome, OUTCOME_FAILED);
    assert_true(read.truths[0].recorded_wait == S(2) && read.truths[1].recorded_wait == S(1));
    assert_int_equal(read.facts.skipped.count, 3);
    assert_int_equal(read.facts.skipped.reason_count, 2);
    assert_string_equal(read.facts.skipped.reasons[0].why, "they never ran");
    assert_int_equal(read.facts.skipped.reasons[1].count, 2);
    trace_case_release(&read);
}

/* A table without run times: words stand for them (Pollux names the application alone). */
TEST(test_words_as_numbers)
{
    static const char map[] = "{'fields': {'submit_s': 'time', 'gpus': {'column': 'n', 'words': {'many': '16'}}, "
                              "'duration_s': {'column': 'app', 'unit': 'min', 'words': {'cifar*': '2.5'}}}}";
    struct trace_case read = read_by(map, "time,app,n\n0,cifar10,many\n1,7,2\n");
    assert_true(read.truths[0].duration == S(150) && read.truths[1].duration == S(420));
    assert_int_equal(read.jobs[0].first.count * read.jobs[0].first.request.gpus, 16);
    trace_case_release(&read);
    refused_by(map, "time,app,n\n0,bert,1\n", 2, 3, "'app' must be a number");
}

/* Errors name the file's own columns, and their places. */
TEST(test_bad_rows)
{
    refused_by(small, "at,minutes,n\n0,x,1\n", 2, 3, "'minutes' must be a number");
    refused_by(small, "at,minutes,n\n0,1,\n", 2, 5, "'n' must be a number, but is missing");
    refused_by(small, "at,minutes,n\n0,1,1.5\n", 2, 5, "'n' must be an integer");
    refused_by(small, "at,minutes,n\n-1,1,1\n", 2, 1, "'at'");
    refused_by(small, "at,minutes\n", 1, 0, "the header has no column 'n'");
    refused_by(small, "at,minutes,n\n0,1,1,1\n", 2, 0, "3 fields");
    refused_by(small, "at,minutes,n\n0,1e30,1\n", 2, 3, "'minutes'");
    refused_by(small, "at,minutes,n\n0,1,99999999\n", 2, 5, "'n'");
}

static void bad_map(const char *map, const char *says)
{
    struct column_map out;
    struct arena arena = {0};
    struct error error = column_map_load(&out, scratch_write_json("map.json", map), &arena);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *text = error_text_new(&error);
    if (strstr(text, says) == NULL)
        fail_msg("\"%s\" says \"%s\", not \"%s\"", map, text, says);
    free(text);
    error_release(&error);
    arena_release(&arena);
}

TEST(test_bad_maps)
{
    bad_map("{}", "fields");
    bad_map("{'fields': {'submit_s': 'a', 'gpus': 'n'}}", "duration_s");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': 'd', 'gpus': 'n', 'color': 'c'}}", "color");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': {'unit': 's'}, 'gpus': 'n'}}", "'column'");
    bad_map("{'fields': {'submit_s': {'column': 'a', 'unit': 'weeks'}, 'duration_s': 'd', 'gpus': 'n'}}", "unit");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': {'column': 'd', 'times': 'n'}, 'gpus': 'n'}}", "'times'");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': 'd', 'gpus': {'column': 'n', 'since': 'a'}}}", "'since'");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': {'column': 'd', 'since': 'a', 'after': 'a'}, 'gpus': 'n'}}",
            "exclude");
    bad_map("{'separator': ', ', 'fields': {'submit_s': 'a', 'duration_s': 'd', 'gpus': 'n'}}", "separator");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': 'd', 'gpus': {'column': 'n', 'only': {}}}}", "'only'");
    bad_map("{'fields': {'submit_s': 'a', 'duration_s': 'd', 'gpus': {'column': 'n', 'words': {'x': 1, 'y': '2', "
            "'*': '3'}}}}",
            "'x' must be a string");
}

/* Each map of the project is good, and its sample is told from the others by its first line. */
TEST(test_maps_of_the_project)
{
    static const struct {
        const char *file, *format;
        uint64_t jobs, left_out;
        double gpu_s; /* computed by hand from the sample */
    } samples[] = {{"helios.csv", "helios", 4, 0, 8 * 3600. + 16 * 1800 + 86400},
                   {"trace_seren.csv", "seren", 3, 0, 16 * 120. + 60},
                   {"trace_kalos.csv", "kalos", 2, 1, 8 * 60. + 32 * 10800},
                   {"spot_job_info.csv", "spot", 2, 0, 4 * 7200. + 8 * 86400},
                   {"muri.csv", "muri", 2, 0, 4 * 200. + 100.5},
                   {"chronus.csv", "chronus", 2, 1, 2 * 120. + 60},
                   {"philly.csv", "philly", 11, 0, -1},
                   {"pai_task_table.csv", "pai", 4, 1, 3600. + 60 + 8 * 8400}};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "workloads/samples/%s", samples[i].file);
        const struct workload_spec spec = {.trace = path,
                                           .format = i == 7 ? "pai" : NULL, /* its table has no header */
                                           .gpus_per_node = 8};
        struct workload_facts facts = trace_real_read(&spec, NULL);
        assert_string_equal(facts.format, samples[i].format);
        assert_int_equal(facts.job_count, samples[i].jobs);
        assert_int_equal(facts.skipped.count, samples[i].left_out);
        if (samples[i].gpu_s >= 0)
            assert_float_equal(facts.recorded.all.asked_gpu_s, samples[i].gpu_s, 1e-6);
    }
}

/* Numbers of rows as the publishers and ../shared/traces/README.md give them. */
TEST(test_real_tables)
{
    static const struct {
        const char *name;
        uint64_t jobs, left_out;
    } traces[] = {{"muri/trace1.csv.zst", 1494, 0}, {"chronus/trace_job_Philly_MIX1.csv.zst", 30756, 184}};
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        const char *path = trace_real(traces[i].name);
        if (path == NULL)
            skip();
        const struct workload_spec spec = {.trace = path, .gpus_per_node = 8};
        struct workload_facts facts = trace_real_read(&spec, NULL);
        assert_int_equal(facts.job_count, traces[i].jobs);
        assert_int_equal(facts.skipped.count, traces[i].left_out);
    }
}

TEST_GROUP(scratch_make, scratch_remove)
