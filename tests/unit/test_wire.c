/* tests/unit/test_wire.c -- every kind of line reads and writes as the same bytes; bad ones are refused with their
 * place. */
#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/wire_lines.h"

static int set_up(void **state)
{
    struct wire_lines *wire = calloc(1, sizeof *wire);
    wire_lines_open(wire);
    *state = wire;
    return 0;
}

static int tear_down(void **state)
{
    wire_lines_close(*state);
    free(*state);
    return 0;
}

TEST_WITH(the_header_is_written_as_it_was_read, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    struct buffer out = {0};
    wire_write_header(&out, fixture->header.cluster, fixture->header.queues, TEXT("{\"order\":[\"fifo\"]}"));
    char *header = wire_lines_header_new();
    assert_string_equal(buffer_c_string(&out), header);
    free(header);
    buffer_release(&out);
    const struct cluster *cluster = fixture->header.cluster;
    assert_int_equal(cluster->node_count, 3);
    assert_string_equal(cluster->nodes[2].name, "odd one");
    assert_int_equal(cluster->types[1].layouts[0].profile[4], MIG_3G + 1);
    const struct queue_spec *queue = &fixture->header.queues->queues[2];
    assert_int_equal(queue->deserved[RESOURCE_GPU], 500);
    assert_int_equal(queue->limit[RESOURCE_MEMORY], 16 * 1024 + 512);
    assert_int_equal(queue->weight_milli[RESOURCE_GPU], 2250);
    assert_int_equal(queue->weight_milli[RESOURCE_CPU], 1000);
    assert_int_equal(queue->reclaim_min_runtime, 1500000001);
    assert_int_equal(queue->created, -3 * TIME_NS_PER_S);
}

TEST_WITH(every_kind_of_line_comes_back, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    bool has_fact[FACT_COUNT] = {false}, has_decision[DECISION_NOTIFY + 1] = {false};
    char *text;
    for (size_t i = 0; (text = wire_lines_new(i)) != NULL; i++) {
        struct wire_line line;
        struct buffer out = {0};
        struct error error =
            wire_read(fixture->wire, "events", i + 1, wire_lines_text(text), WIRE_TOLD | WIRE_ANSWERED, &line);
        assert_string_equal(error_message(&error), "");
        if (line.kind == WIRE_FACT)
            has_fact[line.fact.kind] = true;
        if (line.kind == WIRE_DECISION)
            has_decision[line.decision.kind] = true;
        wire_lines_write(fixture, &line, &out);
        assert_string_equal(buffer_c_string(&out), text);
        free(text);
        buffer_release(&out);
        wire_forget(fixture->wire);
    }
    for (int kind = 0; kind < FACT_COUNT; kind++)
        assert_true(has_fact[kind]);
    for (int kind = 0; kind <= DECISION_NOTIFY; kind++)
        assert_true(has_decision[kind]);
}

TEST_WITH(a_job_means_what_it_says, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    struct wire_line line;
    char *text = wire_lines_new(1);
    struct error error = wire_read(fixture->wire, "events", 1, wire_lines_text(text), WIRE_TOLD, &line);
    free(text);
    assert_false(error_is(error));
    const struct job *job = line.fact.job;
    assert_int_equal(line.fact.id, 7);
    assert_int_equal(line.fact.now, 9007199254740993); /* more than a double holds */
    assert_int_equal(job->estimate, 123456789012345678);
    assert_int_equal(job->group_count, 4);
    assert_int_equal(job->first.request.gpu_milli, 142);
    assert_int_equal(job->first.request.memory_mib, 1);
    assert_int_equal(job->first.min_count, 2);
    assert_true(job->first.request.gpu_models == (UINT64_C(1) << 63 | 1));
    assert_int_equal(job->more[0].request.gpu_memory_mib, 20 * 1024 + 512);
    assert_int_equal(job->more[1].request.mig, MIG_1G_ME + 1);
    assert_int_equal(job->set_count, 2);
    assert_int_equal(job->sets[1].parent, 0);
    assert_int_equal(job->sets[0].parent, SET_NONE);
    assert_int_equal(job->topology.required, 1);
    assert_int_equal(job->after[2].kind, AFTER_NOT_OK);
    assert_int_equal(job->deadline, 9007199254740994);
    assert_true(job->is_held && !job->is_preemptible);
}

/* They count for the minimum, and what is left is the job. */
TEST_WITH(members_that_have_succeeded_are_left_out, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    struct wire_line line;
    struct buffer out = {0};
    const char *text = "{'job_submitted':1,'job':{'id':1,'groups':[{'count':5,'gpus':1,'min_members':3,"
                       "'succeeded':2}]}}";
    struct error error = wire_lines_read(fixture->wire, 1, text, WIRE_TOLD, &line);
    assert_false(error_is(error));
    assert_int_equal(line.fact.job->first.count, 3);
    assert_int_equal(line.fact.job->first.min_count, 1);
    wire_lines_write(fixture, &line, &out);
    assert_json_text_equal(buffer_c_string(&out), "{'job_submitted':1,'job':{'id':1,'groups':[{'count':3,'gpus':1,"
                                                  "'min_members':1}]}}\n");
    text = "{'job_submitted':1,'job':{'id':1,'groups':[{'gpus':1,'succeeded':1}]}}";
    error = wire_lines_read(fixture->wire, 1, text, WIRE_TOLD, &line);
    assert_true(error_is(error)); /* nothing would be left of the group */
    error_release(&error);
    buffer_release(&out);
}

TEST_WITH(queues_that_change_are_changed, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    struct wire_line line;
    const char *text = "{'queues_changed':1,'queues':[{'name':'a','parent':'org','quota_gpus':2},{'name':'b'}]}";
    struct error error = wire_lines_read(fixture->wire, 1, text, WIRE_TOLD, &line);
    assert_false(error_is(error));
    const struct queue_table *queues = fixture->header.queues;
    assert_int_equal(queues->count, 4);
    assert_int_equal(queues->queues[2].deserved[RESOURCE_GPU], 2000);
    assert_int_equal(queues->queues[2].priority, 100); /* not said: the default again */
    assert_int_equal(line.fact.first_queue, 1);        /* it names a queue that was there */
    error = wire_lines_read(fixture->wire, 2, "{'queues_changed':1,'queues':[{'name':'c'}]}", WIRE_TOLD, &line);
    assert_false(error_is(error));
    assert_int_equal(line.fact.first_queue, 4); /* it only adds */
}

struct bad {
    const char *line;
    const char *report; /* the first line of it */
};

static const struct bad bads[] = {
    {"", "error: events:5:1: "},
    {"[]", "error: events:5:1: "},
    {"{'cycle':1", "error: events:5:11: "},
    {"{'job':1}", "error: events:5:1: such a line has no place here"},
    {"{'cycle':1.5}", "error: events:5:10: 'cycle' must be an integer from 0 to 9223372036854775806, got 1.5"},
    {"{'cycle':1,'cycel':2}", "error: events:5:12: "},
    {"{'job_ended':1,'end':'completed'}", "error: events:5:1: "},
    {"{'job_ended':1,'job':2}", "error: events:5:1: "},
    {"{'job_ended':1,'job':2,'end':'done'}",
     "error: events:5:30: 'end' must be one of 'completed', 'failed', 'cancelled', 'limit'; got "
     "\"done\""},
    {"{'job_ended':1,'job':-2,'end':'failed'}",
     "error: events:5:22: 'job' must be an integer from 0 to 4294967294, got -2"},
    {"{'node_changed':1,'node':'n9','state':'up'}", "error: events:5:26: the cluster has no node 'n9'"},
    {"{'gpu_changed':1,'node':'n0','gpu':8,'layout':'whole'}",
     "error: events:5:36: 'gpu' must be an integer from 0 to 7, got 8"},
    {"{'gpu_changed':1,'node':'n0','gpu':0}", "error: events:5:1: "},
    {"{'job_submitted':1,'job':{'id':1,'queue':'b','groups':[{'gpus':1}]}}",
     "error: events:5:42: there is no queue 'b'"},
    {"{'job_submitted':1,'job':{'id':1,'queue':'a','groups':[]}}",
     "error: events:5:55: 'groups' must hold at least one"},
    {"{'job_submitted':1,'job':{'id':1,'queue':'a','groups':[{'gpus':1,'gpu_fraction':0.5}]}}",
     "error: events:5:26: no such job can be: a member asks for GPUs in more than one way"},
    {"{'job_submitted':1,'job':{'id':1,'groups':[{'gpus':1}],'after':[{'job':1}]}}",
     "error: events:5:65: a job can depend on jobs of smaller ids only"},
    {"{'job_submitted':1,'job':{'id':1,'groups':[{'gpus':1}],'topology':{'required':'row'}}}",
     "error: events:5:79: there is no level 'row'"},
    {"{'start':1,'job':1,'pieces':[{'node':'odd one','gpus':'1-2'}]}",
     "error: events:5:55: 'gpus' must name some of the 2 GPUs of the node, as in \"0-3,6\""},
    {"{'start':1,'job':1,'pieces':[{'node':'n0','gpus':'3-1'}]}",
     "error: events:5:50: 'gpus' must name some of the 8 GPUs of the node, as in \"0-3,6\""},
    {"{'start':0,'job':1}", "error: events:5:10: 'start' must be an integer from 1 to 4294967295, got 0"},
    {"{'evict':1,'job':1,'reason':'Because'}", "error: events:5:29: 'reason' must be one of "},
    {"{'done':0,'wake_at':'soon'}", "error: events:5:21: "},
    {"{'queues_changed':1,'queues':[{'name':'a'}]}", "error: events:5:31: the queue 'a' has another parent already"},
};

TEST_WITH(bad_lines_are_refused_with_their_place, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct wire_line line;
        struct error error = wire_lines_read(fixture->wire, 5, bads[i].line, WIRE_TOLD | WIRE_ANSWERED, &line);
        assert_int_equal(error.kind, ERROR_DATA);
        char *report = error_text_new(&error);
        if (strncmp(report, bads[i].report, strlen(bads[i].report)) != 0)
            fail_msg("%s\ngives\n%snot\n%s", bads[i].line, report, bads[i].report);
        free(report);
        error_release(&error);
        wire_forget(fixture->wire);
    }
}

TEST_WITH(only_what_is_awaited_may_come, set_up, tear_down)
{
    struct wire_lines *fixture = *state;
    struct wire_line line;
    struct error error = wire_lines_read(fixture->wire, 1, "{'cycle':1}", WIRE_ANSWERED, &line);
    assert_int_equal(error.kind, ERROR_DATA);
    error_release(&error);
    error = wire_lines_read(fixture->wire, 1, "{'start':1,'job':0}", WIRE_TOLD, &line);
    assert_int_equal(error.kind, ERROR_DATA);
    error_release(&error);
    /* Passed over, whatever it names. */
    error = wire_lines_read(fixture->wire, 1, "{'start':1,'job':0,'pieces':[{'node':'gone'}]}", WIRE_TOLD | WIRE_PASSED,
                            &line);
    assert_false(error_is(error));
    assert_int_equal(line.kind, WIRE_ANSWER);
}

TEST(other_headers_are_refused)
{
    struct json_doc *doc;
    struct error error = wire_lines_header_parse(&doc, "{'cycle':1}");
    assert_string_equal(error_message(&error), "the first line is no header of events");
    error_release(&error);
    assert_null(doc);
    error = wire_lines_header_parse(&doc, "{'windtunnel_events':2}");
    assert_string_equal(error_message(&error), "this program reads version 1, not 2");
    error_release(&error);
    error = wire_lines_header_parse(&doc, "{'windtunnel_events':1,'queues':[]}");
    assert_false(error_is(error));
    struct wire_header header;
    error = wire_header_read(&header, doc);
    assert_int_equal(error.kind, ERROR_DATA);
    assert_null(header.cluster);
    assert_null(header.queues);
    error_release(&error);
    json_doc_free(doc);
}
