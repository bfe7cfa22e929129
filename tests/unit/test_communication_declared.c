/* tests/unit/test_communication_declared.c -- what jobs exchange: of traces, and by the table of a workload. */
#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/trace_case.h"
#include "topologies/communication_set.h"

#define JOB   "{'job_id': 1, 'submit_s': 0, 'duration_s': 60"
#define MODEL "'layers': 32, 'hidden': 4096, 'sequence': 4096, 'vocabulary': 32000, 'batch': 64"

static const struct workload_spec jsonl = {.format = "jsonl"};

static const char *name_of(const struct job *job)
{
    return job->communication != NULL ? communication_name(job->communication) : "-";
}

/* ---- sets ---- */

TEST(a_set_keeps_equal_ones_once)
{
    struct communication_set set = {0};
    const struct communication *first[500];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 500; i++) {
            const struct communication one = {.sensitivity = {"", COLLECTIVE_ALL_REDUCE, 0.3, 0.5, 1e9 + i}};
            const struct communication *own = communication_set_own(&set, &one);
            assert_true(own != &one && communication_is_same(own, &one));
            if (round == 0)
                first[i] = own;
            assert_ptr_equal(own, first[i]);
            assert_int_equal(communication_set_number(&set, &one), i);
        }
    assert_int_equal(set.count, 500);
    assert_null(communication_set_own(&set, NULL));
    communication_set_release(&set);
}

/* ---- traces ---- */

TEST(json_lines_declare)
{
    struct trace_case read = trace_case_read(
        JOB
        ", 'gpus': 64, 'nodes': 8, 'plan': {" MODEL ", 'tp': 8}}\n" JOB ", 'gpus': 2, 'sensitivity': 'skewed'}\n" JOB
        ", 'sensitivity': {'collective': 'all-to-all', 'exposed_ratio': 0.1, 'bytes': 1e6}, 'gpus': 1}\n" JOB
        ", 'gpus': 4, 'plan': null, 'sensitivity': null}\n" JOB
        ", 'groups': [{'count': 2, 'gpus': 4}, {'count': 3, 'cpus': 1}], 'plan': {" MODEL ", 'dp': 8}}\n" JOB
        ", 'groups': [{'count': 4, 'succeeded': 2, 'gpus': 4}], 'plan': {" MODEL "}}\n" JOB
        ", 'gpus': 2, 'sensitivity': 'skewed'}\n" JOB ", 'gpu_fraction': 0.5, 'gpus': 0, 'sensitivity': 'skewed'}\n",
        &jsonl, NULL);
    const char *const names[] = {"plan", "skewed", "own", "-", "plan", "plan", "skewed", "-"};
    assert_int_equal(read.count, 8);
    for (uint32_t i = 0; i < read.count; i++)
        assert_string_equal(name_of(&read.jobs[i]), names[i]);
    assert_int_equal(read.jobs[0].communication->plan.dp, 8);
    assert_int_equal(read.jobs[4].communication->plan.dp, 8);
    assert_int_equal(read.jobs[5].communication->plan.dp, 8); /* of those that are left */
    assert_ptr_equal(read.jobs[1].communication, read.jobs[6].communication);
    assert_int_equal(read.facts.declared_count, 6);
    assert_int_equal(read.facts.declared_row_count, 0);
    trace_case_release(&read);
}

TEST(columns_declare)
{
    struct trace_case read = trace_case_read("job_id,submit_s,duration_s,gpus,gpu_fraction,sensitivity\n"
                                             "1,0,60,8,,all_reduce_bound\n2,0,60,8,,\n3,0,60,0,0.5,skewed\n",
                                             &(struct workload_spec){.format = "native"}, NULL);
    assert_string_equal(name_of(&read.jobs[0]), "all_reduce_bound");
    assert_string_equal(name_of(&read.jobs[1]), "-");
    assert_string_equal(name_of(&read.jobs[2]), "-");
    trace_case_release(&read);
    trace_case_refused("job_id,submit_s,duration_s,gpus,sensitivity\n1,0,60,8,\n2,0,60,8,allreduce\n",
                       &(struct workload_spec){.format = "native"}, NULL, 3, 10,
                       "'sensitivity' must be one of 'none', 'compute_bound', 'all_reduce_bound', 'skewed', "
                       "'bandwidth_bound', got \"allreduce\"");
}

static void refused(const char *text, unsigned line, unsigned column, const char *says)
{
    trace_case_refused(text, &jsonl, NULL, line, column, says);
}

TEST(bad_lines_have_their_places)
{
    refused(JOB ", 'gpus': 8}\n" JOB ", 'gpus': 8, 'plan': {" MODEL ", 'tp': 3}}\n", 2, 156,
            "tp = 3 does not divide hidden = 4096");
    refused(JOB ", 'gpus': 8, 'plan': {" MODEL ", 'dp': 16}}\n", 1, 156, "tp x pp x dp = 1 x 1 x 16 = 16 GPUs, not 8");
    refused(JOB ", 'gpus': 8, 'plan': {" MODEL ", 'dp': 4}}\n", 1, 156, "tp x pp x dp = 1 x 1 x 4 = 4 GPUs, not 8");
    refused(JOB ", 'gpus': 12, 'plan': {'tp': 8, " MODEL "}}\n", 1, 75,
            "12 GPUs are not a multiple of tp x pp = 8 x 1");
    refused(JOB ", 'gpus': 8, 'plan': {'tq': 8, " MODEL "}}\n", 1, 68, "unknown key 'tq'");
    refused(JOB ", 'gpu_fraction': 0.5, 'gpus': 0, 'plan': {" MODEL "}}\n", 1, 88, "a plan is for whole GPUs");
    refused(JOB ", 'gpus': 0, 'cpus': 1, 'plan': {" MODEL "}}\n", 1, 78, "a plan is for whole GPUs");
    refused(JOB ", 'gpus': 8}\n\n\n" JOB ", 'gpus': 8, 'sensitivity': 'skew'}\n", 4, 74, "did you mean 'skewed'?");
    refused(JOB ", 'gpus': 8, 'sensitivity': 'none', 'plan': {" MODEL "}}\n", 1, 74, "not both");
}

/* ---- the table ---- */

static struct error table_read(const char *json, struct workload_spec *spec)
{
    struct json_doc *doc = json_text_parse("w.json", json);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    workload_read(spec, &root, "");
    json_doc_free(doc);
    return error;
}

static struct workload_spec table_of(const char *rows)
{
    struct workload_spec spec;
    struct buffer text = {0};
    buffer_format(&text, "{'trace': 'x', 'format': 'jsonl', 'communication': %s}", rows);
    struct error error = table_read(buffer_c_string(&text), &spec);
    assert_string_equal(error_message(&error), "");
    buffer_release(&text);
    return spec;
}

TEST(the_first_row_wins)
{
    struct workload_spec spec = table_of(
        "[{'gpus_min': 16, 'gpus_max': 64, 'class': 'training', 'plan': {" MODEL ", 'tp': 8}},\n"
        " {'workload_class': 'tune', 'user': 'ann', 'sensitivity': 'all_reduce_bound'},\n"
        " {'workload_class': 'tune', 'sensitivity': 'skewed'}, {'class': 'inference', 'sensitivity': 'none'},\n"
        " {'gpus_max': 1, 'sensitivity': 'compute_bound'}]");
    struct trace_case read = trace_case_read(
        JOB ", 'gpus': 16, 'nodes': 2}\n" JOB ", 'gpus': 64, 'nodes': 8, 'workload_class': 'tune', 'user': 'ann'}\n" JOB
            ", 'gpus': 128, 'nodes': 16, 'workload_class': 'tune', 'user': 'ann'}\n" JOB
            ", 'gpus': 8, 'workload_class': 'tune', 'user': 'bob'}\n" JOB ", 'gpus': 16, 'class': 'inference'}\n" JOB
            ", 'gpus': 8}\n" JOB ", 'gpus': 1}\n" JOB ", 'gpus': 0, 'gpu_fraction': 0.5}\n" JOB
            ", 'gpus': 0, 'cpus': 1}\n" JOB ", 'gpus': 16, 'sensitivity': 'bandwidth_bound'}\n" JOB
            ", 'gpus': 16, 'nodes': 2}\n" JOB ", 'groups': [{'gpus': 1}, {'gpu_fraction': 0.5}]}\n",
        &spec, NULL);
    const char *const names[] = {"plan", "plan", "all_reduce_bound", "skewed", "none", "-", "compute_bound",
                                 "-",    "-",    "bandwidth_bound",  "plan",   "-"};
    const uint64_t by_row[] = {3, 1, 1, 1, 1};
    assert_int_equal(read.count, 12);
    for (uint32_t i = 0; i < read.count; i++)
        assert_string_equal(name_of(&read.jobs[i]), names[i]);
    assert_int_equal(read.jobs[0].communication->plan.dp, 2);
    assert_int_equal(read.jobs[1].communication->plan.dp, 8);
    assert_ptr_equal(read.jobs[0].communication, read.jobs[10].communication);
    assert_int_equal(read.facts.declared_count, 1);
    assert_int_equal(read.facts.declared_row_count, 5);
    assert_memory_equal(read.facts.declared_by_row, by_row, sizeof by_row);
    trace_case_release(&read);
    workload_release(&spec);
}

/* The error of opening the source on 16 nodes of 8 GPUs. */
static void opening_fails(const char *json, const char *trace, const char *line)
{
    struct workload_spec spec;
    struct error error = table_read(json, &spec);
    assert_string_equal(error_message(&error), "");
    struct cluster *cluster = cluster_uniform_new(16, 8);
    if (trace != NULL)
        spec.trace = trace;
    struct job_source *source;
    error = job_source_open(&source, &spec, cluster, 1);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *is = error_line_new(&error);
    if (strncmp(is, line, strlen(line)) != 0)
        fail_msg("not '%s' but:\n%s", line, is);
    free(is);
    error_release(&error);
    cluster_free(cluster);
    workload_release(&spec);
}

#define SYNTH(sizes)                                                                                                   \
    "'synth': {'duration': '1d', 'load_whole_gpu': 0.5, 'classes': [{'name': 'big', 'class': 'training', "             \
    "'share': 1, 'arrivals': {'process': 'poisson'}, 'sizes': [" sizes                                                 \
    "], 'run_time': {'distribution': 'constant', 'mean': '1h'}}]}"

TEST(a_plan_that_does_not_fit)
{
    opening_fails("{'trace': 'x', 'format': 'native', 'communication': [{'gpus_max': 3, 'sensitivity': 'none'},\n"
                  " {'gpus_max': 7, 'plan': {" MODEL ", 'tp': 8}}]}",
                  "workloads/samples/native.csv",
                  "w.json:2:26: the plan does not fit the job 7: 4 GPUs are not a multiple of tp x pp = 8 x 1");
    /* Sizes of a mix are known before its first job. */
    opening_fails(
        "{" SYNTH("{'weight': 1, 'gpus': 8}, {'weight': 1, 'gpus': 4}") ",\n"
                                                                        " 'communication': [{'plan': {" MODEL
                                                                        ", 'tp': 8}}]}",
        NULL,
        "w.json:2:29: the plan does not fit size 2 of the class 'big': 4 GPUs are not a multiple of tp x pp = "
        "8 x 1");
}

TEST(tables_that_are_refused)
{
    static const struct {
        const char *rows, *line;
    } cases[] = {
        {"{}", "w.json:2:1: 'communication' must be an array, got an object"},
        {"[3]", "w.json:2:2: 'communication[0]' must be an object, got 3"},
        {"[{}]", "w.json:2:2: a row needs a 'plan' or a 'sensitivity'"},
        {"[{'sensitivity': 'none', 'plan': {}}]", "w.json:2:18: there is a 'plan' or a 'sensitivity', not both"},
        {"[{'sensitivity': 'no', 'gpus_min': 2}]",
         "w.json:2:18: 'sensitivity' must be one of 'none', 'compute_bound', 'all_reduce_bound', 'skewed', "
         "'bandwidth_bound'; got \"no\""},
        {"[{'sensitivity': 'none', 'gpus_min': 9, 'gpus_max': 8}]",
         "w.json:2:53: 'gpus_max' is 8, below 'gpus_min', which is 9"},
        {"[{'sensitivity': 'none', 'class': 'big'}]",
         "w.json:2:35: 'class' must be one of 'training', 'interactive', 'inference'; got \"big\""},
        {"[{'sensitivity': 'none', 'user': 3}]", "w.json:2:34: 'user' must be a string, got 3; put it in quotes"},
        {"[{'sensitivity': 'none', 'workload_class': ''}]", "w.json:2:44: 'workload_class' must be a name"},
        {"[{'plan': {" MODEL ", 'gpus': 8}, 'gpus_min': 16}]",
         "w.json:2:11: the plan is for 8 GPUs, below 'gpus_min', which is 16"},
        {"[{'plan': {" MODEL ", 'tp': 8, 'dp': 2}, 'gpus_max': 8}]",
         "w.json:2:11: the plan is for 16 GPUs, above 'gpus_max', which is 8"},
        {"[{'plan': {" MODEL ", 'tp': 6}}]", "w.json:2:100: tp = 6 does not divide hidden = 4096"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload_spec spec;
        struct buffer text = {0};
        buffer_format(&text, "{'trace': 'x', 'communication':\n%s}", cases[i].rows);
        struct error error = table_read(buffer_c_string(&text), &spec);
        char *line = error_line_new(&error);
        assert_string_equal(line, cases[i].line);
        free(line);
        error_release(&error);
        workload_release(&spec);
        buffer_release(&text);
    }
}

TEST(synthesized_workloads_know_their_classes)
{
    static const struct {
        const char *row, *line;
    } cases[] = {
        {"{'workload_class': 'big', 'sensitivity': 'none'}", ""},
        {"{'workload_class': 'bigg', 'sensitivity': 'none'}",
         "w.json:2:39: the workload has no class 'bigg'; did you mean 'big'?"},
        {"{'user': 'ann', 'sensitivity': 'none'}", "w.json:2:29: the jobs of a synthesized workload have no users"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload_spec spec;
        struct buffer text = {0};
        buffer_format(&text, "{" SYNTH("{'weight': 1, 'gpus': 8}") ",\n 'communication': [%s]}", cases[i].row);
        struct error error = table_read(buffer_c_string(&text), &spec);
        char *line = error_line_new(&error);
        assert_string_equal(error_is(error) ? line : "", cases[i].line);
        free(line);
        error_release(&error);
        workload_release(&spec);
        buffer_release(&text);
    }
}
