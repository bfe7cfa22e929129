/* A program outside is held to rules of tags: of the job, of other jobs, of jobs that stay and jobs that leave. */
#include "tests/support/test.h"

#include "sim/referee/referee.h"
#include "tests/support/wire_lines.h"

/* n0 and n1 are in rack r1, n2 in r2, n3 in none. */
static const char header_text[] = "{'windtunnel_events':1,'cluster':{'pools':[{'nodes':2,'gpus_per_node':4,"
                                  "'labels':{'rack':'r1'}},{'name':'b','nodes':1,'gpus_per_node':4,"
                                  "'labels':{'rack':'r2'}},{'name':'c','nodes':1,'gpus_per_node':4}],"
                                  "'levels':['rack']},'queues':[],'policy':{}}";

struct court {
    struct wire_header header;
    struct wire *wire;
    struct referee *referee;
};

static void open_court(struct court *court)
{
    struct json_doc *doc;
    struct error error = wire_lines_header_parse(&doc, header_text);
    assert_false(error_is(error));
    error = wire_header_read(&court->header, doc);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    court->wire = wire_new(court->header.cluster, court->header.queues);
    court->referee = referee_new(court->header.cluster, true);
}

static void close_court(struct court *court)
{
    referee_free(court->referee);
    wire_free(court->wire);
    wire_header_release(&court->header);
}

/* NULL if the line may be, else why not. */
static const char *verdict(struct court *court, const char *text)
{
    struct wire_line line;
    struct error error = wire_lines_read(court->wire, 1, text, WIRE_TOLD | WIRE_ANSWERED, &line);
    if (error_is(error))
        fail_msg("%s: %s", text, error_message(&error));
    bool may_be = line.kind == WIRE_FACT ? referee_told(court->referee, &line.fact)
                                         : referee_allows(court->referee, &line.decision);
    wire_forget(court->wire);
    return may_be ? NULL : referee_complaint(court->referee);
}

/* Lines that may be, and last, if wrong is not NULL, one that may not, for that reason. */
struct story {
    const char *lines[8];
    const char *wrong;
};

#define JOB(id, tags)            "{'job_submitted':0,'job':{'id':" #id "," tags ",'groups':[{'gpus':1}]}}"
#define START(number, job, node) "{'start':" #number ",'job':" #job ",'pieces':[{'node':'" node "','gpus':'" #job "'}]}"
#define STARTED(number, job)     "{'job_started':0,'job':" #job ",'decision':" #number "}"
#define RULE(kind, tag, level)   "'" kind "':[{'tag':" #tag ",'level':'" level "'}]"
#define WISH(kind, tag, level)   "'" kind "':[{'tag':" #tag ",'level':'" level "','mode':'preferred'}]"
#define DB                       "'tags':[4]"

static const struct story stories[] = {
    /* A required affinity. */
    {{JOB(0, DB), JOB(1, RULE("affinity", 4, "rack")), START(1, 0, "n0"), START(2, 1, "n1")}, NULL},
    {{JOB(0, DB), JOB(1, RULE("affinity", 4, "rack")), START(1, 0, "n0"), START(2, 1, "n2")},
     "job 1: its rule 0 is not met in the rack of node 'n2'"},
    {{JOB(0, DB), JOB(1, RULE("affinity", 4, "node")), START(1, 0, "n0"), START(2, 1, "n1")},
     "job 1: its rule 0 is not met in the node of node 'n1'"},
    {{JOB(0, DB), JOB(1, RULE("affinity", 4, "rack")), START(1, 1, "n0")},
     "job 1: its rule 0 is not met in the rack of node 'n0'"},
    {{JOB(0, DB), JOB(1, RULE("affinity", 4, "rack")), START(1, 0, "n3"), START(2, 1, "n3")},
     "job 1: its rule 0 is not met in the rack of node 'n3'"},
    /* Of its own tag, of which nobody is anywhere; and then somebody is. */
    {{JOB(0, DB "," RULE("affinity", 4, "rack")), JOB(1, DB "," RULE("affinity", 4, "rack")), START(1, 0, "n0"),
      START(2, 1, "n2")},
     "job 1: its rule 0 is not met in the rack of node 'n2'"},
    {{JOB(0, DB "," RULE("affinity", 4, "rack")), JOB(1, DB "," RULE("affinity", 4, "rack")), START(1, 0, "n0"),
      START(2, 1, "n1")},
     NULL},
    /* Who leaves draws nobody in, and keeps others away until it has left. */
    {{JOB(0, DB), JOB(1, RULE("affinity", 4, "rack")), START(1, 0, "n0"), STARTED(1, 0),
      "{'evict':2,'job':0,'for_job':1}", START(3, 1, "n1")},
     "job 1: its rule 0 is not met in the rack of node 'n1'"},
    {{JOB(0, DB), JOB(1, RULE("anti_affinity", 4, "rack")), START(1, 0, "n0"), STARTED(1, 0),
      "{'evict':2,'job':0,'for_job':1}", START(3, 1, "n1")},
     "job 1: its rule 0 must keep it from the rack of node 'n1'"},
    {{JOB(0, DB), JOB(1, RULE("anti_affinity", 4, "rack")), START(1, 0, "n0"), STARTED(1, 0),
      "{'evict':2,'job':0,'for_job':1}", "{'job_evicted':1,'job':0,'end':'lost'}", START(3, 1, "n1")},
     NULL},
    /* A required anti-affinity. */
    {{JOB(0, DB), JOB(1, RULE("anti_affinity", 4, "rack")), START(1, 0, "n0"), START(2, 1, "n1")},
     "job 1: its rule 0 must keep it from the rack of node 'n1'"},
    {{JOB(0, DB), JOB(1, RULE("anti_affinity", 4, "node")), START(1, 0, "n0"), START(2, 1, "n0")},
     "job 1: its rule 0 must keep it from the node of node 'n0'"},
    {{JOB(0, DB), JOB(1, RULE("anti_affinity", 4, "node")), START(1, 0, "n0"), START(2, 1, "n1")}, NULL},
    /* And of those who are there. */
    {{JOB(0, RULE("anti_affinity", 4, "rack")), JOB(1, DB), START(1, 0, "n0"), START(2, 1, "n1")},
     "job 1: job 0 keeps it from the rack of node 'n1'"},
    {{JOB(0, RULE("anti_affinity", 4, "rack")), JOB(1, DB), START(1, 0, "n0"), START(2, 1, "n2")}, NULL},
    {{JOB(0, RULE("anti_affinity", 4, "rack")), JOB(1, "'tags':[5]"), START(1, 0, "n0"), START(2, 1, "n1")}, NULL},
    /* What is only preferred binds nobody. */
    {{JOB(0, DB), JOB(1, WISH("affinity", 4, "rack")), START(1, 0, "n0"), START(2, 1, "n2")}, NULL},
    {{JOB(0, WISH("anti_affinity", 4, "rack")), JOB(1, DB), START(1, 0, "n0"), START(2, 1, "n0")}, NULL},
};

TEST(rules_of_tags_bind)
{
    for (size_t s = 0; s < sizeof stories / sizeof stories[0]; s++) {
        struct court court;
        open_court(&court);
        for (size_t i = 0; i < 8 && stories[s].lines[i] != NULL; i++) {
            const bool is_last = i == 7 || stories[s].lines[i + 1] == NULL;
            const char *wrong = verdict(&court, stories[s].lines[i]);
            const char *expected = is_last ? stories[s].wrong : NULL;
            if ((wrong == NULL) != (expected == NULL) || (wrong != NULL && strcmp(wrong, expected) != 0))
                fail_msg("story %zu, %s: %s", s, stories[s].lines[i], wrong != NULL ? wrong : "is let pass");
        }
        close_court(&court);
    }
}

/* A START that a rule forbids has booked nothing: neither the space nor the nearness. */
TEST(what_a_rule_forbids_leaves_no_trace)
{
    struct court court;
    open_court(&court);
    assert_null(verdict(&court, JOB(0, DB)));
    assert_null(verdict(&court, JOB(1, DB "," RULE("anti_affinity", 4, "rack"))));
    assert_null(verdict(&court, JOB(2, RULE("affinity", 4, "rack"))));
    assert_null(verdict(&court, START(1, 0, "n0")));
    assert_non_null(verdict(&court, START(2, 1, "n1")));
    assert_non_null(verdict(&court, START(2, 2, "n2")));
    assert_null(verdict(&court, START(2, 1, "n2")));
    assert_null(verdict(&court, START(3, 2, "n2")));
    close_court(&court);
}
