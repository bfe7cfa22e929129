/* Lines of a trace that name each other: dependencies and arrays, through sorting, windows and errors; and the sets and
 * topologies of JSON lines. */
#include <stdio.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "tests/support/trace_case.h"
#include "topologies/cluster.h"

#define HEADER "job_id,submit_s,duration_s,gpus,after,array,array_max\n"
#define MUST   "'submit_s': 0, 'duration_s': 10"

static const struct workload_spec native = {.format = "native"}, jsonl = {.format = "jsonl"};

static void check_after(const struct job *job, uint32_t count, const struct job_after *expected)
{
    assert_int_equal(job->after_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(job->after[i].job, expected[i].job);
        assert_int_equal(job->after[i].kind, expected[i].kind);
    }
}

TEST(test_dependencies)
{
    struct trace_case read = trace_case_read(HEADER "17,0,1,1,,,\n"
                                                    "a:b,0,1,1,17,,\n"
                                                    "18,0,1,1,ok:17; not_ok:a:b ;any:17,,\n"
                                                    "17,5,1,1,,,\n"
                                                    "x,5,1,1,17,,\n",
                                             &native, NULL);
    assert_int_equal(read.jobs[0].after_count, 0);
    check_after(&read.jobs[1], 1, (struct job_after[]){{0, AFTER_ANY}});
    check_after(&read.jobs[2], 3, (struct job_after[]){{0, AFTER_OK}, {1, AFTER_NOT_OK}, {0, AFTER_ANY}});
    check_after(&read.jobs[4], 1, (struct job_after[]){{3, AFTER_ANY}}); /* the last of that id */
    trace_case_release(&read);
}

/* Ids are given by submission, dependencies follow. */
TEST(test_sorted)
{
    struct trace_case read = trace_case_read(HEADER "late,30,1,1,,,\n"
                                                    "early,10,1,1,,,\n"
                                                    "middle,20,1,1,ok:early,,\n"
                                                    "last,40,1,1,late;middle,,\n",
                                             &native, NULL);
    check_after(&read.jobs[1], 1, (struct job_after[]){{0, AFTER_OK}});
    check_after(&read.jobs[3], 2, (struct job_after[]){{2, AFTER_ANY}, {1, AFTER_ANY}});
    trace_case_release(&read);
}

/* Jobs before the window are over; the others are numbered without them. */
TEST(test_window)
{
    struct workload_spec spec = native;
    spec.window_from = 10 * TIME_NS_PER_S;
    spec.window_to = 20 * TIME_NS_PER_S;
    struct trace_case read = trace_case_read(HEADER "1,5,1,1,,,\n2,10,1,1,1,,\n3,12,1,1,1;ok:2,,\n", &spec, NULL);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.jobs[0].after_count, 0);
    check_after(&read.jobs[1], 1, (struct job_after[]){{0, AFTER_OK}});
    trace_case_release(&read);
}

TEST(test_refused_dependencies)
{
    trace_case_refused(HEADER "1,0,1,1,2,,\n2,0,1,1,,,\n", &native, NULL, 2, 9,
                       "no job stands before this one with the id \"2\"");
    trace_case_refused(HEADER "1,0,1,1,1,,\n", &native, NULL, 2, 9, "no job stands before");
    trace_case_refused(HEADER "1,9,1,1,,,\n2,8,1,1,ok:1,,\n", &native, NULL, 3, 9,
                       "submitted later than this one is the job \"1\"");
    trace_case_refused(HEADER "1,0,1,1,,,\n2,0,1,1,1;,,\n", &native, NULL, 3, 9,
                       "no job stands before this one with the id \"\"");
    trace_case_refused(HEADER "1,0,1,1,,,2\n", &native, NULL, 2, 11, "'array_max'");
    char text[2048] = HEADER "1,0,1,1,,,\n2,0,1,1,1";
    for (int i = 1; i < JOB_AFTER_MAX; i++)
        strcat(text, ";1");
    size_t length = strlen(text);
    strcat(text, ",,\n");
    struct trace_case read = trace_case_read(text, &native, NULL);
    assert_int_equal(read.jobs[1].after_count, JOB_AFTER_MAX);
    trace_case_release(&read);
    strcpy(text + length, ";1,,\n");
    trace_case_refused(text, &native, NULL, 3, 9, "at most 64");
}

TEST(test_arrays_and_times)
{
    struct trace_case read = trace_case_read("job_id,submit_s,duration_s,gpus,array,array_max,estimate_s,deadline_s\n"
                                             "1,100,1,1,sweep,2,50,400\n2,100,1,1,7,,,\n3,110,1,1,sweep,2,,\n",
                                             &native, NULL);
    assert_int_equal(read.jobs[0].array, 1);
    assert_int_equal(read.jobs[0].array_max, 2);
    assert_int_equal(read.jobs[1].array, 2);
    assert_int_equal(read.jobs[1].array_max, 0);
    assert_int_equal(read.jobs[2].array, 1);
    assert_true(read.jobs[0].estimate == 50 * TIME_NS_PER_S);
    assert_true(read.jobs[0].deadline == 300 * TIME_NS_PER_S); /* the trace begins at 100 */
    assert_true(read.jobs[1].estimate == TIME_NEVER && read.jobs[1].deadline == TIME_NEVER);
    trace_case_release(&read);
    trace_case_refused("job_id,submit_s,duration_s,gpus,deadline_s\n1,5,1,1,5\n", &native, NULL, 2, 9,
                       "later than 'submit_s'");
}

/* A trace too long to be held is read twice, and means the same both times. */
TEST(test_streamed)
{
    enum { JOBS = (1 << 18) + 10 }; /* more than workloads/readers/source.c holds */
    char path[] = "/tmp/windtunnel-ids-XXXXXX";
    int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    struct workload_spec spec = {.format = "native", .trace = path};
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has;
    assert_non_null(file);
    fputs("job_id,submit_s,duration_s,gpus,after\n", file);
    for (int i = 0; i < JOBS; i++)
        fprintf(file, i > 0 ? "j%d,%d,1,1,j%d\n" : "j%d,%d,1,1,\n", i, i / 4, i - 1);
    assert_int_equal(fclose(file), 0);
    assert_false(error_is(job_source_open(&source, &spec, NULL, 1)));
    for (uint32_t i = 0; i < JOBS; i++) {
        assert_false(error_is(job_source_next(source, &job, &truth, &has)));
        assert_true(has && job.id == i && job.after_count == (i > 0));
        if (i > 0)
            assert_int_equal(job.after[0].job, i - 1);
    }
    job_source_close(source);
    unlink(path);
}

/* ---- JSON lines -------------------------------------------------------------------------------- */

TEST(test_sets)
{
    struct cluster *cluster = cluster_uniform_new(4, 8);
    struct trace_case read = trace_case_read(
        "{'job_id': 1, " MUST ", 'gpus': 1}\n"
        "{'job_id': 2, " MUST ", 'after': 1, 'array': 7, 'array_max': 3, 'topology': {'required': 'node'}, "
        "'groups': [{'set': 'b', 'count': 4, 'gpus': 1}, {'set': 'a', 'gpus': 2}, "
        "{'set': 'b', 'count': 2, 'gpus': 1}], 'sets': [{'name': 'a', 'min_sets': 1}, "
        "{'name': 'b', 'parent': 'a', 'min_members': 3, 'topology': {'preferred': 'node'}}]}\n"
        "{'job_id': 3, " MUST ", 'min_sets': 2, 'groups': [{'gpus': 1}, {'gpus': 2}, {'gpus': 3}]}\n",
        &jsonl, cluster);
    const struct job *job = &read.jobs[1];
    uint8_t node = cluster_level_of(cluster, TEXT("node"));
    assert_int_not_equal(node, 0);
    assert_int_equal(job->set_count, 2);
    assert_string_equal(job->sets[0].name, "a");
    assert_int_equal(job->sets[0].parent, SET_NONE);
    assert_int_equal(job->sets[0].min_members, 1); /* all there are */
    assert_int_equal(job->sets[1].parent, 0);
    assert_int_equal(job->sets[1].min_members, 3);
    assert_int_equal(job->sets[0].min_sets, 1);
    assert_int_equal(job->min_sets, 0);
    assert_int_equal(read.jobs[2].min_sets, 2);
    assert_int_equal(job->sets[1].topology.preferred, node);
    assert_int_equal(job->sets[1].topology.required, 0);
    assert_int_equal(job->topology.required, node);
    assert_int_equal(job->first.set, 1);
    assert_int_equal(job->more[0].set, 0);
    assert_int_equal(job->more[1].set, 1);
    check_after(job, 1, (struct job_after[]){{0, AFTER_ANY}});
    assert_int_equal(job->array_max, 3);
    assert_null(job_complaint(job));
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_slices)
{
    struct cluster *cluster = cluster_uniform_new(4, 8);
    struct trace_case read =
        trace_case_read("{'job_id': 1, " MUST ", 'groups': [{'gpus': 4, 'count': 6, 'slice_members': 3, "
                        "'slice_level': 'unit', 'one_island': true}, {'gpus': 1}]}\n",
                        &jsonl, cluster);
    const struct job *job = &read.jobs[0];
    assert_int_equal(job->first.slice_members, 3);
    assert_int_equal(job->first.slice_level, cluster_level_of(cluster, TEXT("unit")));
    assert_true(job->first.request.one_island);
    assert_int_equal(job->more[0].slice_members, 0);
    assert_false(job->more[0].request.one_island);
    assert_null(job_complaint(job));
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_refused_sets)
{
    static const struct {
        const char *members, *says;
    } cases[] = {
        {"'gpus': 1, 'sets': [{'name': 'a'}]", "'sets' are of 'groups'"},
        {"'sets': {}, 'groups': [{'gpus': 1}]", "'sets' must be an array"},
        {"'sets': [1], 'groups': [{'gpus': 1}]", "'sets[0]' must be an object, got 1"},
        {"'sets': [{}], 'groups': [{'gpus': 1}]", "'name' is missing"},
        {"'sets': [{'name': 'a'}, {'name': 'a'}], 'groups': [{'gpus': 1}]", "no set before it has"},
        {"'sets': [{'name': 'a', 'parent': 'a'}], 'groups': [{'gpus': 1}]", "a set before it"},
        {"'sets': [{'name': 'a'}], 'groups': [{'gpus': 1}]", "one of the job's sets"},
        {"'groups': [{'gpus': 1, 'set': 'a'}]", "no 'sets'"},
        {"'sets': [{'name': 'a'}], 'groups': [{'gpus': 1, 'set': 'a', 'min_members': 1}]", "the group's set says it"},
        {"'sets': [{'name': 'a', 'min_members': 2}], 'groups': [{'gpus': 1, 'set': 'a'}]", "needs more members"},
        {"'sets': [{'name': 'a', 'min_members': 0}], 'groups': [{'gpus': 1, 'set': 'a'}]", "at least one member"},
        {"'min_sets': 3, 'groups': [{'gpus': 1}, {'gpus': 1}]", "'min_sets' must be an integer from 1 to 2"},
        {"'min_sets': 0, 'groups': [{'gpus': 1}, {'gpus': 1}]", "'min_sets' must be an integer from 1 to 2"},
        {"'min_sets': 2, 'sets': [{'name': 'a'}, {'name': 'b', 'parent': 'a'}], 'groups': [{'gpus': 1, 'set': 'a'}, "
         "{'gpus': 1, 'set': 'b'}]",
         "'min_sets' must be an integer from 1 to 1"},
        {"'min_sets': 1, 'gpus': 1", "'min_sets': it is of 'groups'"},
        {"'sets': [{'name': 'a', 'min_sets': 1}], 'groups': [{'gpus': 1, 'set': 'a'}]",
         "set 'a' needs 1 of the sets in it, and has 0"},
        {"'min_sets': 1, 'sets': [{'name': 'a', 'min_members': 0}, {'name': 'b'}], 'groups': [{'gpus': 1, "
         "'set': 'a'}, {'gpus': 1, 'set': 'b'}]",
         "at least one member"},
        {"'groups': [{'gpus': 1, 'count': 4, 'slice_members': 2}]", "are given together"},
        {"'groups': [{'gpus': 1, 'count': 4, 'slice_level': 'unit'}]", "are given together"},
        {"'groups': [{'gpus': 1, 'count': 4, 'slice_members': 2, 'slice_level': 'row'}]", "a level of the cluster"},
        {"'groups': [{'gpus': 1, 'count': 4, 'slice_members': 3, 'slice_level': 'unit'}]", "do not divide"},
        {"'groups': [{'gpus': 1, 'count': 4, 'min_members': 2, 'slice_members': 2, 'slice_level': 'unit'}]",
         "start together"},
        {"'groups': [{'cpus': 1, 'one_island': true}]", "only whole GPUs"},
        {"'groups': [{'gpus': 1, 'one_island': 1}]", "true or false"},
        {"'gpus': 1, 'topology': []", "'topology' must be an object"},
        {"'gpus': 1, 'topology': {'required': 'row'}", "a level of the cluster"},
        {"'gpus': 1, 'topology': {'required': 3}", "a string"},
    };
    struct cluster *cluster = cluster_uniform_new(4, 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{'job_id': 1, " MUST ", %s}\n", cases[i].members);
        trace_case_refused(text, &jsonl, cluster, 1, 0, cases[i].says);
    }
    cluster_free(cluster);
}

TEST(test_samples)
{
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct workload_spec csv = {.trace = "workloads/samples/workflow.csv"},
                         json = {.trace = "workloads/samples/workflow.jsonl"};
    assert_int_equal(trace_real_read(&csv, cluster).job_count, 9);
    assert_int_equal(trace_real_read(&json, cluster).job_count, 4);
    cluster_free(cluster);
}
