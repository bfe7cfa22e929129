/* Jobs with tags and rules of them on the wire: written as read, and meaning what they say. */
#include "tests/support/test.h"

#include "policies/wire.h"
#include "tests/support/json_text.h"
#include "tests/support/wire_lines.h"

static const char header_text[] =
    "{'windtunnel_events':1,'cluster':{'pools':[{'nodes':2,'gpus_per_node':4,'labels':{'zone':'z','rack':'r1'}},"
    "{'name':'b','nodes':2,'gpus_per_node':4,'labels':{'zone':'z','rack':'r2'}}],'levels':['zone','rack']},"
    "'queues':[],'policy':{}}";

enum { LEVEL_ZONE = 1, LEVEL_RACK = 2 };

struct fixture {
    struct wire_header header;
    struct wire *wire;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct json_doc *doc;
    struct error error = wire_lines_header_parse(&doc, header_text);
    assert_string_equal(error_message(&error), "");
    error = wire_header_read(&fixture->header, doc);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    fixture->wire = wire_new(fixture->header.cluster, fixture->header.queues);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    wire_free(fixture->wire);
    wire_header_release(&fixture->header);
    free(fixture);
    return 0;
}

#define JOB(tags)                                                                                                      \
    "{'job_submitted':0,'job':{'id':0," tags ",'groups':[{'gpus':"                                                     \
    "1}]}}\n"

static const struct job *read_job(struct fixture *fixture, const char *text, struct wire_line *line)
{
    struct error error = wire_lines_read(fixture->wire, 1, text, WIRE_TOLD, line);
    if (error_is(error))
        fail_msg("%s: %s", text, error_message(&error));
    return line->fact.job;
}

TEST_WITH(tags_and_rules_come_back, set_up, tear_down)
{
    static const char *const lines[] = {
        JOB("'tags':[0]"),
        JOB("'tags':[3,65535,1,2]"),
        JOB("'affinity':[{'tag':65535,'level':'node'}]"),
        JOB("'anti_affinity':[{'tag':0,'level':'zone'}]"),
        JOB("'tags':[7,5],'affinity':[{'tag':1,'mode':'preferred','level':'rack'},{'tag':2,'level':'zone'}],"
            "'anti_affinity':[{'tag':2,'level':'rack'},{'tag':7,'mode':'preferred','level':'node'}]"),
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct wire_line line;
        struct buffer out = {0};
        read_job(fixture, lines[i], &line);
        wire_write_fact(&out, fixture->header.cluster, fixture->header.queues, &line.fact);
        assert_json_text_equal(buffer_c_string(&out), lines[i]);
        buffer_release(&out);
        wire_forget(fixture->wire);
    }
}

TEST_WITH(a_rule_means_what_it_says, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct wire_line line;
    const struct job *job = read_job(fixture,
                                     JOB("'tags':[7,5],'affinity':[{'tag':1,'mode':'preferred','level':'rack'}],"
                                         "'anti_affinity':[{'tag':2,'level':'node'},{'tag':4,'mode':'required',"
                                         "'level':'zone'}]"),
                                     &line);
    const struct job_tags meant = {.tags = {7, 5},
                                   .tag_count = 2,
                                   .rules = {{.tag = 1, .level = LEVEL_RACK, .is_preferred = true},
                                             {.tag = 2, .is_apart = true},
                                             {.tag = 4, .level = LEVEL_ZONE, .is_apart = true}},
                                   .rule_count = 3};
    assert_true(job_tags_are_same(job->tags, &meant));
    wire_forget(fixture->wire);
    assert_null(read_job(fixture, JOB("'priority':1"), &line)->tags);
}

struct bad {
    const char *line;
    const char *report; /* how it begins */
};

static const struct bad bads[] = {
    {JOB("'tags':[65536]"), "error: events:5:42: "},
    {JOB("'tags':[-1]"), "error: events:5:42: "},
    {JOB("'tags':[1,2,3,4,5]"), "error: events:5:41: 'tags' must hold at most 4, got 5"},
    {JOB("'tags':[1,1]"), "error: events:5:44: it has this tag already"},
    {JOB("'affinity':[{'tag':1,'level':'row'}]"), "error: events:5:63: there is no level 'row'"},
    {JOB("'affinity':[{'tag':1}]"), "error: events:5:46: "},
    {JOB("'affinity':[{'level':'node'}]"), "error: events:5:46: "},
    {JOB("'affinity':[{'tag':1,'level':'node','mode':'soft'}]"),
     "error: events:5:77: 'mode' must be one of 'required', 'preferred'; got \"soft\""},
    {JOB("'affinity':[{'tag':1,'level':'node'}],'anti_affinity':[{'tag':1,'level':'rack'}]"),
     "error: events:5:88: no such job can be: it must be near a tag, and apart from the same tag"},
};

TEST_WITH(bad_ones_are_refused_with_their_place, set_up, tear_down)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct wire_line line;
        struct error error = wire_lines_read(fixture->wire, 5, bads[i].line, WIRE_TOLD, &line);
        assert_int_equal(error.kind, ERROR_DATA);
        char *report = error_text_new(&error);
        if (strncmp(report, bads[i].report, strlen(bads[i].report)) != 0)
            fail_msg("%s\ngives\n%snot\n%s", bads[i].line, report, bads[i].report);
        free(report);
        error_release(&error);
        wire_forget(fixture->wire);
    }
}
