
#include "tests/support/test.h"

#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

/* A map with one table, "t", whose members are `table`; the trace is "at,app,n". */
#define MAP(table, duration)                                                                                           \
    "{'tables': {'t': {'key': {'name': 'app'}" table "}}, "                                                            \
    "'fields': {'submit_s': 'at', 'duration_s': " duration ", 'gpus': 'n', 'user': 't.who'}}"

static struct workload_spec spec_of(const char *map, const char *table)
{
    struct workload_spec spec = {
        .format = "columns", .columns = scratch_write_json("map.json", map), .gpus_per_node = 8, .table_count = 1};
    spec.tables[0] = (struct table_path){TEXT("t"), scratch_write("t.csv", table, strlen(table))};
    return spec;
}

static void read_as(const char *map, const char *table, const char *text, const char *users, uint32_t count)
{
    const struct workload_spec spec = spec_of(map, table);
    struct trace_case read = trace_case_read(text, &spec, NULL);
    char seen[TRACE_CASE_JOBS_MAX + 1] = "";
    for (uint32_t i = 0; i < read.count; i++)
        seen[i] =
            read.jobs[i].user == NAMES_NONE ? '-' : names_text(job_source_users(read.source), read.jobs[i].user)[0];
    assert_string_equal(seen, users);
    assert_int_equal(read.count, count);
    trace_case_release(&read);
}

static void refused(const char *map, const char *table, const char *text, unsigned line, unsigned column,
                    const char *says)
{
    const struct workload_spec spec = spec_of(map, table);
    trace_case_refused(text, &spec, NULL, line, column, says);
}

/* A row gets the values of the table's row with its key, in any order and with quotes; a row without one has none. */
TEST(test_lookup)
{
    read_as(MAP("", "{'value': '9'}"), "who,extra,name\nann,1,a\n\"bob\",2,\"b,c\"\n",
            "at,app,n\n0,\"b,c\",1\n1,a,1\n2,zz,1\n3,a,2\n", "ba-a", 4);
    refused(MAP("", "'t.long'"), "who,long,name\nann,7,a\n", "at,app,n\n0,a,1\n1,z,1\n", 3, 3,
            "'t.long' must be a number, but is missing");
    const struct workload_spec spec =
        spec_of(MAP(", 'missing': 'they are unknown'", "'t.long'"), "who,long,name\nann,7,a\n");
    struct trace_case read = trace_case_read("at,app,n\n0,a,1\n1,z,1\n", &spec, NULL);
    assert_int_equal(read.count, 1);
    assert_true(read.truths[0].duration == S(7));
    assert_string_equal(read.facts.skipped.reasons[0].why, "they are unknown");
    trace_case_release(&read);
}

TEST(test_several_rows)
{
    static const char table[] = "who,name,v\nann,a,5\nbob,a,3\ncid,a,4\ndan,b,\n", text[] = "at,app,n\n0,a,1\n1,b,1\n";
    read_as(MAP(", 'several': 'first'", "{'value': '9'}"), table, text, "ad", 2);
    read_as(MAP(", 'several': 'last'", "{'value': '9'}"), table, text, "cd", 2);
    read_as(MAP(", 'least': 'v'", "{'value': '9'}"), table, text, "b-", 2); /* a row without a number is not used */
    read_as(MAP(", 'skip': [{'column': 'v', 'is': ['3', '5'], 'why': 'w'}]", "{'value': '9'}"), table, text, "cd", 2);
    read_as(MAP("", "{'value': '9'}"), "who,name\nann,a\nann,a\n", text, "a-", 2);
    refused(MAP("", "{'value': '9'}"), table, text, 3, 5, "another row of the table 't' has this key");
}

TEST(test_keys_of_several_columns)
{
    static const char map[] = "{'tables': {'t': {'key': {'name': 'app'}, 'key_if_there': {'gpus': 'n'}}}, 'fields': "
                              "{'submit_s': 'at', 'duration_s': {'value': '1'}, 'gpus': 'n', 'user': 't.who'}}";
    static const char text[] = "at,app,n\n0,a,1\n1,a,4\n2,b,1\n";
    read_as(map, "name,who\na,x\nb,y\n", text, "xxy", 3);
    read_as(map, "gpus,name,who\n1,a,x\n4,a,z\n4,b,y\n", text, "xz-", 3);
    /* "a" with "b1" is not "ab" with "1" */
    read_as("{'tables': {'t': {'key': {'p': 'app', 'q': 'sub'}}}, 'fields': {'submit_s': 'at', "
            "'duration_s': {'value': '1'}, 'gpus': {'value': '1'}, 'user': 't.who'}}",
            "p,q,who\na,b1,x\nab,1,y\n", "at,app,sub\n0,a,b1\n1,ab,1\n2,ab1,\n", "xy-", 3);
}

/* A table that is not needed has fields of its own, and may be found by columns of a table before it. */
TEST(test_tables_that_may_be_given)
{
    static const char map[] =
        "{'tables': {'job': {'columns': ['id', 'who', 'at'], 'separator': '|', 'key': {'id': 'id'}, "
        "'fields': {'submit_s': 'job.at', 'wait_s': {'column': 'at', 'since': 'job.at', 'negative': 'unknown'}}}, "
        "'user': {'key': {'name': 'job.who'}, 'fields': {'queue': {'column': 'user.team', 'or': 'id'}}}}, "
        "'fields': {'submit_s': 'at', 'duration_s': {'value': '60'}, 'gpus': {'value': '1'}}}";
    static const char jobs[] = "7|ann|5\n8|bob|9\n", users[] = "name,team\nbob,blue\nann,\n";
    static const char text[] = "id,at\n7,10\n8,8\n";
    struct workload_spec spec = {
        .format = "columns", .columns = scratch_write_json("map.json", map), .gpus_per_node = 8};
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_true(read.facts.first_submit == S(8) && read.truths[0].recorded_wait == TIME_NEVER);
    trace_case_release(&read);
    spec.tables[0] = (struct table_path){TEXT("job"), scratch_write("job.csv", jobs, sizeof jobs - 1)};
    spec.tables[1] = (struct table_path){TEXT("user"), scratch_write("user.csv", users, sizeof users - 1)};
    spec.table_count = 1;
    read = trace_case_read(text, &spec, NULL);
    assert_true(read.facts.first_submit == S(5) && read.truths[0].recorded_wait == S(5));
    assert_true(read.truths[1].recorded_wait == TIME_NEVER); /* it began before it was submitted */
    assert_string_equal(trace_case_queue(&read, 0), "default");
    trace_case_release(&read);
    spec.table_count = 2;
    read = trace_case_read(text, &spec, NULL);
    assert_string_equal(trace_case_queue(&read, 0), "7");
    assert_string_equal(trace_case_queue(&read, 1), "blue");
    assert_int_equal(read.facts.sides->files[1].row_count, 2);
    trace_case_release(&read);
}

/* An unreadable line of a table is an error with file, line and column; if unreadable lines may be skipped, it counts
 * as one of them. */
TEST(test_bad_rows_of_tables)
{
    static const char text[] = "at,app,n\n0,a,1\n1,b,1\n";
    refused(MAP("", "{'value': '9'}"), "who,name\nann,a\nbob\n", text, 3, 0, "a row must have 2 fields");
    refused(MAP("", "{'value': '9'}"), "who,nom\nann,a\n", text, 1, 0, "the header has no column 'name'");
    refused(MAP(", 'least': 'v'", "{'value': '9'}"), "who,name,v\nann,a,x\n", text, 2, 7, "'v' must be a number");
    struct workload_spec spec =
        spec_of(MAP(", 'least': 'v'", "{'value': '9'}"), "who,name,v\nann,a,1\nbob\ncid,b,x\ndan,b,3\n");
    spec.bad_lines_max = 2;
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.facts.bad_line_count, 2);
    assert_true(read.jobs[1].user != NAMES_NONE);
    trace_case_release(&read);
}

static void config_refused(const struct workload_spec *spec, const char *says)
{
    struct job_source *source;
    struct workload_spec own = *spec;
    own.trace = scratch_write("trace.csv", "at,app,n\n0,a,1\n", 15);
    struct error error = job_source_open(&source, &own, NULL, 1);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *text = error_text_new(&error);
    if (strstr(text, says) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", says, text);
    free(text);
    error_release(&error);
}

TEST(test_tables_that_are_missing_or_unknown)
{
    struct workload_spec spec = spec_of(MAP("", "{'value': '9'}"), "who,name\nann,a\n");
    spec.table_count = 0;
    config_refused(&spec, "needs the table 't'");
    spec.table_count = 1;
    spec.tables[0].name = TEXT("other");
    config_refused(&spec, "needs the table 't'");
    spec.tables[1] = spec.tables[0];
    spec.tables[0].name = TEXT("t");
    spec.table_count = 2;
    config_refused(&spec, "have no table 'other'");
    spec = spec_of(MAP(", 'least': 'v', 'several': 'last'", "{'value': '9'}"), "who,name\n");
    config_refused(&spec, "exclude each other");
    spec =
        spec_of("{'tables': {'t': {'key': {}}}, 'fields': {'submit_s': 'at', 'duration_s': 'app', 'gpus': 'n'}}", "");
    config_refused(&spec, "needs a 'key'");
    spec = spec_of("{'tables': {'t': {'key': {'a': 'u.x'}}, 'u': {'key': {'a': 'app'}}}, "
                   "'fields': {'submit_s': 'at', 'duration_s': 'app', 'gpus': 'n'}}",
                   "");
    config_refused(&spec, "that stand before its own");
    spec = spec_of("{'fields': {'submit_s': {'or': 'at', 'value': '1'}, 'duration_s': 'app', 'gpus': 'n'}}", "");
    config_refused(&spec, "'or' is used where");
}

/* PAI's tasks with the tables of jobs, instances and tags, all made up; expected values by hand. */
TEST(test_pai)
{
    struct workload_spec spec = {
        .trace = "workloads/samples/pai_task_table.csv", .format = "pai", .gpus_per_node = 8, .table_count = 3};
    spec.tables[0] = (struct table_path){TEXT("job"), "workloads/samples/pai_job_table.csv"};
    spec.tables[1] = (struct table_path){TEXT("instance"), "workloads/samples/pai_instance_table.csv"};
    spec.tables[2] = (struct table_path){TEXT("tag"), "workloads/samples/pai_group_tag_table.csv"};
    static const time_ns submits[] = {0, S(50), S(200), S(200)}, waits[] = {0, S(50), S(90), S(90)};
    static const char *const users[] = {"u0002", "u0001", "u0001", "u0001"}, *const classes[] = {"tensorflow", "ctr",
                                                                                                 "bert", "bert"};
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    struct error error = job_source_open(&source, &spec, NULL, 1);
    for (uint32_t i = 0; !error_is(error); i++) {
        error = job_source_next(source, &job, &truth, &has);
        if (!has)
            break;
        assert_in_range(i, 0, 3);
        assert_true(job.submit == submits[i] && truth.recorded_wait == waits[i]);
        assert_string_equal(names_text(job_source_users(source), job.user), users[i]);
        assert_string_equal(names_text(job_source_classes(source), truth.workload_class - 1u), classes[i]);
    }
    assert_false(error_is(error));
    const struct side_files *sides = job_source_facts(source)->sides;
    assert_int_equal(sides->files[1].row_count, 6);
    assert_int_equal(sides->files[1].left_out_count, 1);
    char digest[33];
    assert_false(error_is(input_digest("workloads/samples/pai_instance_table.csv", digest)));
    assert_string_equal(sides->files[1].digest, digest);
    job_source_close(source);
}

TEST(test_pollux)
{
    struct workload_spec spec = {.trace = "workloads/samples/pollux.csv", .gpus_per_node = 8, .table_count = 1};
    spec.tables[0] = (struct table_path){TEXT("run_times"), "workloads/samples/pollux_run_times.csv"};
    struct workload_facts facts = trace_real_read(&spec, NULL);
    assert_string_equal(facts.format, "pollux");
    assert_int_equal(facts.job_count, 4);
    assert_float_equal(facts.recorded.all.asked_gpu_s, 4 * 1800 + 8 * 14400 + 1800 + 2 * 7200, 1e-6);
    spec.format = "pollux";
    trace_case_refused("name,time,application,num_replicas,batch_size\na-0,1,gpt,1,8\n", &spec, NULL, 2, 7,
                       "'run_times.run_time_s' must be a number, but is missing");
}

/* A long trace is read twice, its tables once; the result is that of a short one. */
TEST(test_long_trace)
{
    enum { ROWS = 264000 }; /* more than are held in memory */
    struct buffer text = {0};
    buffer_string(&text, "at,app,n\n");
    for (int i = 0; i < ROWS; i++)
        buffer_format(&text, "%d,%c,1\n", i / 2 * 2 + 1 - i % 2, 'a' + i % 3);
    struct workload_spec spec = spec_of(MAP("", "'t.long'"), "who,long,name\nann,7,a\nbob,9,b\ncid,11,c\n");
    spec.trace = scratch_write("long.csv", text.bytes, text.length);
    buffer_release(&text);
    spec.trace = scratch_path("long.csv");
    struct workload_facts facts = trace_real_read(&spec, NULL);
    assert_int_equal(facts.job_count, ROWS);
    assert_float_equal(facts.recorded.all.asked_gpu_s, ROWS / 3 * (7. + 9 + 11), 1e-6);
}

TEST_GROUP(scratch_make, scratch_remove)
