/* Jobs that declare what they exchange, on the wire: fitted to their GPUs, and refused where they do not fit. */
#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/wire_lines.h"
#include "topologies/communication.h"

#define MODEL             "'layers':4,'hidden':1024,'sequence':512,'vocabulary':5000,'batch':64"
#define JOB(what, groups) "{'job_submitted':0,'job':{'id':0," what ",'groups':[" groups "]}}"

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

static const struct job *read_job(struct wire_lines *wire, const char *text, struct wire_line *line)
{
    struct error error = wire_lines_read(wire->wire, 1, text, WIRE_TOLD, line);
    if (error_is(error))
        fail_msg("%s: %s", text, error_message(&error));
    return line->fact.job;
}

TEST_WITH(a_plan_is_filled_for_its_job, set_up, tear_down)
{
    static const struct {
        const char *line;
        uint32_t dp;
    } cases[] = {
        {JOB("'plan':{" MODEL ",'tp':2}", "{'count':2,'gpus':8}"), 8},
        {JOB("'plan':{" MODEL ",'tp':2,'dp':4}", "{'gpus':8},{'cpus':1}"), 4},
        {JOB("'plan':{" MODEL "}", "{'count':4,'succeeded':2,'gpus':4}"), 8}, /* of those that are left */
    };
    struct wire_lines *wire = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_line line;
        struct buffer out = {0}, again = {0};
        const struct job *job = read_job(wire, cases[i].line, &line);
        assert_true(job->communication->has_plan);
        assert_int_equal(job->communication->plan.dp, cases[i].dp);
        wire_lines_write(wire, &line, &out);
        wire_forget(wire->wire);
        read_job(wire, buffer_c_string(&out), &line);
        wire_lines_write(wire, &line, &again);
        assert_string_equal(buffer_c_string(&out), buffer_c_string(&again));
        buffer_release(&out);
        buffer_release(&again);
        wire_forget(wire->wire);
    }
}

TEST_WITH(sensitivities_come_back, set_up, tear_down)
{
    static const char *const lines[] = {
        JOB("'sensitivity':'skewed'", "{'gpus':8}") "\n",
        JOB("'sensitivity':'none'", "{'gpu_fraction':0.5}") "\n",
        JOB("'sensitivity':{'collective':'all-to-all','exposed_ratio':0.125,'hidden_ratio':0,'bytes':1}",
            "{'gpus':8}") "\n",
    };
    struct wire_lines *wire = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct wire_line line;
        struct buffer out = {0};
        assert_non_null(read_job(wire, lines[i], &line)->communication);
        wire_lines_write(wire, &line, &out);
        assert_json_text_equal(buffer_c_string(&out), lines[i]);
        buffer_release(&out);
        wire_forget(wire->wire);
    }
    struct wire_line line;
    assert_null(read_job(wire, JOB("'plan':null", "{'gpus':8}"), &line)->communication);
}

TEST_WITH(bad_ones_are_refused_with_their_place, set_up, tear_down)
{
    static const struct {
        const char *line, *report; /* how it begins */
    } bads[] = {
        {JOB("'plan':{" MODEL ",'tp':2,'dp':8}", "{'gpus':8}"),
         "events:5:41: tp x pp x dp = 2 x 1 x 8 = 16 GPUs, not 8"},
        {JOB("'plan':{" MODEL ",'tp':8}", "{'gpus':4}"), "events:5:41: 4 GPUs are not a multiple of tp x pp = 8 x 1"},
        {JOB("'plan':{" MODEL ",'tp':3}", "{'gpus':3}"), "events:5:116: tp = 3 does not divide hidden = 1024"},
        {JOB("'plan':{" MODEL "}", "{'gpu_fraction':0.5}"), "events:5:41: a plan is for whole GPUs"},
        {JOB("'plan':{" MODEL "}", "{'cpus':1}"), "events:5:41: a plan is for whole GPUs"},
        {JOB("'sensitivity':'skew'", "{'gpus':4}"), "events:5:48: 'sensitivity' must be one of "},
        {JOB("'sensitivity':'skewed','plan':{}", "{'gpus':4}"), "events:5:48: there is a 'plan' or a 'sensitivity'"},
    };
    struct wire_lines *wire = *state;
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        struct wire_line line;
        struct error error = wire_lines_read(wire->wire, 5, bads[i].line, WIRE_TOLD, &line);
        assert_int_equal(error.kind, ERROR_DATA);
        char *report = error_line_new(&error);
        if (strncmp(report, bads[i].report, strlen(bads[i].report)) != 0)
            fail_msg("%s\ngives\n%s\nnot\n%s", bads[i].line, report, bads[i].report);
        free(report);
        error_release(&error);
        wire_forget(wire->wire);
    }
}
