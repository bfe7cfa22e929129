/* What a node's labels and taints must be: the operators against labels and the tolerations against taints, as
 * Kubernetes' documentation has them ("Assigning Pods to Nodes", "Taints and Tolerations"); texts, tables, traces,
 * explanations and saved schedulers. */
#include "tests/support/test.h"

#include "policies/policy_config.h"
#include "policies/wire.h"
#include "tests/support/json_text.h"
#include "tests/support/sched_case.h"
#include "tests/support/trace_case.h"
#include "workloads/synth/synth.h"

/* Types: no label; zone a, rank 5; zone b, rank -7; zone "", rank x; zone a with a taint each. */
static const char zones[] =
    "{'pools': [{'name': 'none', 'nodes': 1, 'gpus_per_node': 1},{'name': 'a', 'nodes': 1, 'gpus_per_node': 1, "
    "'labels': {'zone': 'a', 'rank': '5'}},{'name': 'b', 'nodes': 1, 'gpus_per_node': 1, 'labels': {'zone': 'b', "
    "'rank': '-7'}},{'name': 'c', 'nodes': 1, 'gpus_per_node': 1, 'labels': {'zone': '', 'rank': 'x'}},{'name': 't1', "
    "'nodes': 1, 'gpus_per_node': 1, 'taints': ['k=v:NoSchedule']},{'name': 't2', 'nodes': 1, 'gpus_per_node': 1, "
    "'taints': ['k=v:NoExecute']},{'name': 't3', 'nodes': 1, 'gpus_per_node': 1, 'taints': ['k=v:PreferNoSchedule']},"
    "{'name': 't4', 'nodes': 1, 'gpus_per_node': 1, 'taints': ['k:NoSchedule', 'l=w:NoExecute']}]}";

enum { LABELLED = 4, TYPES = 8 };

struct row {
    const char *text;
    const char *takes; /* by type: '1' or '0' */
};

/* Of the labels alone: the first four. */
static const struct row operators[] = {
    {"{'key':'zone','operator':'In','values':['a','c']}", "0100"},
    {"{'key':'zone','operator':'In','values':['']}", "0001"},
    {"{'key':'zone','operator':'NotIn','values':['a']}", "1011"}, /* no label, too */
    {"{'key':'zone','operator':'Exists'}", "0111"},
    {"{'key':'zone','operator':'DoesNotExist'}", "1000"},
    {"{'key':'rank','operator':'Gt','values':['4']}", "0100"},
    {"{'key':'rank','operator':'Gt','values':['5']}", "0000"},
    {"{'key':'rank','operator':'Gt','values':['-8']}", "0110"},
    {"{'key':'rank','operator':'Lt','values':['5']}", "0010"},
    {"{'key':'rank','operator':'Lt','values':['9']}", "0110"}, /* no integer is below */
    {"{'key':'Zone','operator':'Exists'}", "0000"},
};

/* Whole asks; taints are of the last four types, all others have none. */
static const struct row asks[] = {
    {"'node_selector':{'zone':'a'}", "01000000"},
    {"'node_selector':{'zone':'a','rank':'-7'}", "00000000"},
    {"'node_affinity':[{'match_expressions':[]}]", "00000000"}, /* holds nowhere */
    {"'node_affinity':[{'match_expressions':[]},{'match_expressions':[{'key':'zone','operator':'DoesNotExist'}]}]",
     "10000010"},
    {"'node_affinity':[{'match_expressions':[{'key':'zone','operator':'Exists'},{'key':'rank','operator':'Lt',"
     "'values':['0']}]}]",
     "00100000"},
    {"'node_selector':{'zone':'b'},'node_affinity':[{'match_expressions':[{'key':'rank','operator':'In',"
     "'values':['5']}]}]",
     "00000000"},
    {"'tolerations':[{'operator':'Exists'}]", "11111111"},
    {"'tolerations':[{'key':'k','operator':'Exists'}]", "11111110"},
    {"'tolerations':[{'key':'k','operator':'Exists','effect':'NoSchedule'}]", "11111010"},
    {"'tolerations':[{'key':'k','operator':'Equal','value':'v'}]", "11111110"},
    {"'tolerations':[{'key':'k','operator':'Equal','value':'w'}]", "11110010"},
    {"'tolerations':[{'key':'k','operator':'Equal'},{'key':'l','operator':'Equal','value':'w','effect':'NoExecute'}]",
     "11110011"},
    {"'tolerations':[{'operator':'Exists','effect':'NoExecute'}]", "11110110"},
    {"'node_selector':{'zone':'b'},'tolerations':[{'operator':'Exists'}]", "00100000"},
};

static const struct node_ask *ask_of(const char *text, struct arena *arena, const struct cluster *cluster)
{
    struct node_ask draft;
    char *real = json_text_new(text);
    if (!node_ask_of_text(real, arena, &draft))
        fail_msg("refused: %s", real);
    free(real);
    return node_ask_make(arena, cluster, &draft);
}

TEST(test_operators_against_labels)
{
    struct cluster *cluster = sched_case_cluster(zones);
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct buffer text = {0};
        buffer_format(&text, "'node_affinity':[{'match_expressions':[%s]}]", operators[i].text);
        const struct node_ask *ask = ask_of(buffer_c_string(&text), &arena, cluster);
        for (uint32_t t = 0; t < LABELLED; t++)
            if (node_ask_takes(ask, t) != (operators[i].takes[t] == '1'))
                fail_msg("%s of type %u", operators[i].text, t);
        buffer_release(&text);
    }
    arena_release(&arena);
    cluster_free(cluster);
}

/* The canonical text of each is what was read. */
TEST(test_asks_of_labels_and_taints)
{
    struct cluster *cluster = sched_case_cluster(zones);
    struct arena arena = {0};
    assert_int_equal(cluster->type_count, TYPES);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        const struct node_ask *ask = ask_of(asks[i].text, &arena, cluster);
        const struct request request = {.gpus = 1, .nodes = ask};
        assert_json_text_equal(ask->text, asks[i].text);
        for (uint32_t t = 0; t < TYPES; t++)
            if (request_takes_type(&request, cluster, t) != (asks[i].takes[t] == '1'))
                fail_msg("%s of type %u", asks[i].text, t);
    }
    const struct request plain = {.gpus = 1};
    for (uint32_t t = 0; t < TYPES; t++)
        assert_int_equal(request_takes_type(&plain, cluster, t), "11110010"[t] == '1');
    arena_release(&arena);
    cluster_free(cluster);
}

/* Types behind the 64th, which labels of racks make, are told apart. */
TEST(test_hundreds_of_types)
{
    struct buffer json = {0};
    struct arena arena = {0};
    buffer_string(&json, "{'pools': [");
    for (int r = 0; r < 200; r++)
        buffer_format(&json, "%s{'name': 'p%d', 'nodes': 1, 'gpus_per_node': 1, 'labels': {'rack': '%d'}}",
                      r > 0 ? "," : "", r, r);
    buffer_string(&json, "]}");
    struct cluster *cluster = sched_case_cluster(buffer_c_string(&json));
    const struct node_ask *ask = ask_of(
        "'node_affinity':[{'match_expressions':[{'key':'rack','operator':'Gt','values':['127']}]}]", &arena, cluster);
    assert_int_equal(cluster->type_count, 200);
    for (uint32_t t = 0; t < 200; t++)
        assert_int_equal(node_ask_takes(ask, t), t > 127);
    cluster_free(cluster);
    arena_release(&arena);
    buffer_release(&json);
}

TEST(test_equal_asks_are_kept_once)
{
    struct cluster *cluster = sched_case_cluster(zones);
    struct node_asks table = {0};
    struct arena first = {0}, second = {0};
    const struct node_ask *a = ask_of(asks[0].text, &first, cluster);
    const struct node_ask *b = ask_of(asks[0].text, &second, cluster);
    const struct node_ask *c = ask_of(asks[6].text, &second, cluster);
    assert_true(node_ask_is_same(a, b));
    assert_false(node_ask_is_same(a, c));
    assert_false(node_ask_is_same(a, NULL));
    const struct node_ask *own = node_asks_own(&table, a);
    assert_ptr_equal(node_asks_own(&table, b), own);
    assert_ptr_not_equal(node_asks_own(&table, c), own);
    assert_null(node_asks_own(&table, NULL));
    assert_int_equal(table.count, 2);
    arena_release(&first);
    arena_release(&second);
    assert_json_text_equal(own->text, asks[0].text); /* nothing of it was theirs */
    assert_true(node_ask_takes(own, 1));
    node_asks_release(&table);
    cluster_free(cluster);
}

/* ---- traces ---- */

#define MUST   "{'job_id': 1, 'submit_s': 0, 'duration_s': 60, 'gpus': 1, "
#define GROUPS "{'job_id': 1, 'submit_s': 0, 'duration_s': 60, "

static const struct workload_spec jsonl = {.format = "jsonl"};
static const struct workload_spec native = {.format = "native"};

TEST(test_lines_of_json)
{
    struct cluster *cluster = sched_case_cluster(zones);
    struct trace_case read =
        trace_case_read(MUST "\"node_selector\": {\"zo\\u006ee\": \"a\"}, \"tolerations\": [\"k=v:NoSchedule\", "
                             "{\"key\": "
                             "\"l\", \"operator\": \"Exists\"}]}\n" GROUPS
                             "'node_selector': {'zone': 'a'}, 'groups': [{'gpus': 1}, {'gpus': 1, "
                             "'node_selector': {'zone': 'b'}, "
                             "'node_affinity': [{'match_expressions': [{'key': 'rank', 'operator': 'Lt', "
                             "'values': ['0']}]}]}]}\n" MUST
                             "'node_selector': 'zone=a; rank = 5', 'tolerations': '*', 'node_affinity': null}\n",
                        &jsonl, cluster);
    assert_json_text_equal(read.jobs[0].first.request.nodes->text,
                           "'node_selector':{'zone':'a'},'tolerations':[{'key':'k','operator':'Equal','value':'v',"
                           "'effect':'NoSchedule'},{'key':'l','operator':'Exists'}]");
    assert_true(node_ask_takes(read.jobs[0].first.request.nodes, 1));
    assert_json_text_equal(job_group(&read.jobs[1], 0)->request.nodes->text, "'node_selector':{'zone':'a'}");
    assert_json_text_equal(job_group(&read.jobs[1], 1)->request.nodes->text,
                           "'node_selector':{'zone':'b'},'node_affinity':[{'match_expressions':[{'key':'rank',"
                           "'operator':'Lt','values':['0']}]}]");
    assert_json_text_equal(read.jobs[2].first.request.nodes->text,
                           "'node_selector':{'zone':'a','rank':'5'},'tolerations':[{'operator':'Exists'}]");
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_columns)
{
    struct cluster *cluster = sched_case_cluster(zones);
    struct trace_case read = trace_case_read("job_id,submit_s,duration_s,gpus,node_selector,tolerations\n"
                                             "1,0,60,1,zone=a;rank=5,k=v:NoExecute;l\n"
                                             "2,0,60,1,,k:NoSchedule\n"
                                             "3,0,60,1,,\n",
                                             &native, cluster);
    assert_json_text_equal(read.jobs[0].first.request.nodes->text,
                           "'node_selector':{'zone':'a','rank':'5'},'tolerations':[{'key':'k','operator':'Equal',"
                           "'value':'v','effect':'NoExecute'},{'key':'l','operator':'Exists'}]");
    assert_json_text_equal(read.jobs[1].first.request.nodes->text,
                           "'tolerations':[{'key':'k','operator':'Exists','effect':'NoSchedule'}]");
    assert_null(read.jobs[2].first.request.nodes);
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_lines_that_are_refused)
{
    static const char header[] = "job_id,submit_s,duration_s,gpus,node_selector,tolerations\n";
    struct refused {
        const char *rest;
        unsigned column;
        const char *says;
    };
    static const struct refused columns[] = {
        {"1,0,60,1,zone,\n", 10, "'node_selector' must be labels as key=value"},
        {"1,0,60,1,a=1;a=2,\n", 10, "labels of different keys"},
        {"1,0,60,1,,k=v:Never\n", 11, "NoSchedule, NoExecute or PreferNoSchedule"},
        {"1,0,60,1,,=v\n", 11, "key=value:Effect"},
    };
    static const struct refused lines[] = {
        {"'node_affinity': [{'match_expressions': [{'key': 'a', 'operator': 'Is'}]}]}", 125,
         "'operator' must be one of 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'; got \"Is\""},
        {"'node_affinity': [{'match_expressions': [{'key': 'a', 'operator': 'In'}]}]}", 100,
         "In and NotIn need values"},
        {"'node_affinity': [{'match_expressions': [{'key': 'a', 'operator': 'Gt', 'values': ['x']}]}]}", 100,
         "Gt and Lt need one value, an integer"},
        {"'node_affinity': []}", 76, "at least one term"},
        {"'node_selector': ['a']}", 76, "'node_selector' must be an object, got an array"},
        {"'node_selector': {'a': 1}}", 82, "must be a string"},
        {"'tolerations': [{'value': 'x'}]}", 75, "without a key needs Exists"},
        {"'tolerations': [{'key': 'x', 'operator': 'Exists', 'value': 'y'}]}", 75, "takes no value"},
        {"'tolerations': ['x:No']}", 75, "NoSchedule, NoExecute or PreferNoSchedule"},
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct buffer text = {0};
        buffer_format(&text, "%s%s", header, columns[i].rest);
        trace_case_refused(buffer_c_string(&text), &native, NULL, 2, columns[i].column, columns[i].says);
        buffer_release(&text);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct buffer text = {0};
        buffer_format(&text, "%s%s\n", MUST, lines[i].rest);
        trace_case_refused(buffer_c_string(&text), &jsonl, NULL, 1, lines[i].column, lines[i].says);
        buffer_release(&text);
    }
}

/* ---- synthesized jobs ---- */

static const struct node_ask *previewed;

static void keep_ask(void *self, const struct job *job, const struct job_truth *truth)
{
    (void)self;
    (void)truth;
    previewed = job->first.request.nodes;
}

/* What a preview shows may be kept for as long as the source lives. */
TEST(test_sizes_of_a_mix)
{
    static const char text[] = "{'jobs': 5, 'load_whole_gpu': 0.5, 'classes': [{'name': 'c', 'class': 'training', "
                               "'share': 1, 'arrivals': {'process': 'poisson'}, 'sizes': [{'weight': 1, 'gpus': 1, "
                               "'node_selector': {'zone': 'a'}, 'tolerations': ['k']}], "
                               "'run_time': {'distribution': 'exponential', 'mean': '1h'}}]}";
    struct cluster *cluster = sched_case_cluster(zones);
    struct json_doc *doc;
    struct arena arena = {0};
    struct error error = json_text_read(&doc, "synth", text);
    assert_false(error_is(error));
    const struct json_value root = json_doc_root(doc, &error);
    const struct workload_spec spec = {.synth = synth_read(&root, &arena)};
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    struct job_source *source;
    error = job_source_open(&source, &spec, cluster, 1);
    assert_false(error_is(error));
    error = job_source_preview(source, keep_ask, NULL);
    assert_false(error_is(error));
    assert_json_text_equal(previewed->text,
                           "'node_selector':{'zone':'a'},'tolerations':[{'key':'k','operator':'Exists'}]");
    assert_true(node_ask_takes(previewed, 1));
    struct job job;
    struct job_truth truth;
    bool has;
    error = job_source_next(source, &job, &truth, &has);
    assert_false(error_is(error));
    assert_true(has && node_ask_is_same(job.first.request.nodes, previewed));
    job_source_close(source);
    arena_release(&arena);
    cluster_free(cluster);
}

/* ---- the scheduler ---- */

static const char skip_fifo[] = "{'order': ['fifo'], 'blocking': 'skip'}";

static struct job job_with(job_id id, const struct node_ask *ask)
{
    struct job job = sched_case_job(id, 1, 1, 50);
    job.first.request.nodes = ask;
    return job;
}

/* Every node counts once, and the sentence has the words that Kubernetes uses. */
TEST(test_what_is_refused_is_explained)
{
    struct sched_case c;
    struct arena arena = {0};
    sched_case_open(&c, sched_case_cluster(zones), queue_table_new(), skip_fifo);
    sched_case_submit(&c, job_with(0, ask_of("'node_selector':{'zone':'z'}", &arena, c.cluster)), 0);
    arena_release(&arena); /* the scheduler has its own */
    const struct explanation why = sched_case_explain(&c, 0, REASON_NEVER_FITS);
    assert_true(why.is_never);
    assert_int_equal(why.nodes[EXPLAIN_TAINT], 3);
    assert_int_equal(why.nodes[EXPLAIN_NODE_AFFINITY], 5);
    assert_non_null(strstr(why.text, "3 node(s) had untolerated taint, 5 node(s) didn't match Pod's node "
                                     "affinity/selector."));
    sched_case_cycle(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 1);
    sched_case_close(&c);
}

/* Request classes are equal when asks are, wherever these were made. */
TEST(test_equal_asks_are_one_class)
{
    struct sched_case c;
    struct arena arena = {0};
    sched_case_open(&c, sched_case_cluster(zones), queue_table_new(), skip_fifo);
    for (job_id id = 0; id < 4; id++)
        sched_case_submit(&c, job_with(id, ask_of(asks[id < 2 ? 0 : 6].text, &arena, c.cluster)), 0);
    arena_release(&arena);
    assert_int_equal(sched_case_start(&c, 0), 3); /* zone a has one node */
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(c.count, 1);
    assert_int_equal(c.decisions[0].job, 1);
    assert_int_equal(c.decisions[0].pieces[0].node, 1); /* zone a */
    sched_case_close(&c);
}
