/* tests/unit/test_referee.c -- decisions that make no sense are told from those that do, one table of each. */
#include "tests/support/test.h"

#include "sim/referee/referee.h"
#include "tests/support/wire_lines.h"

static const char header_text[] =
    "{'windtunnel_events':1,'cluster':{'pools':[{'nodes':3,'gpus_per_node':4,'gpu_model':'h100-80gb','cpus':16,"
    "'memory_gb':64,'labels':{'rack':'r1'}},{'name':'cut','nodes':1,'gpus_per_node':1,'gpu_model':'h100-80gb',"
    "'gpus_layout':[['1g.10gb','3g.40gb']],'labels':{'rack':'r2'}},{'name':'bad','nodes':1,'gpus_per_node':4,"
    "'taints':['a=b:NoSchedule'],'labels':{'rack':'r2'}},{'name':'few','nodes':1,'gpus_per_node':4,'max_tasks':1,"
    "'labels':{'rack':'r2'}}],'levels':['rack','node']},'queues':[],'policy':{}}";

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

/* A story: lines that may be, and last, if wrong is not NULL, one that may not, for that reason. */
struct story {
    const char *lines[12];
    const char *wrong;
};

#define JOB(id, rest)              "{'job_submitted':0,'job':{'id':" #id ",'groups':[" rest "]}}"
#define START(number, job, pieces) "{'start':" #number ",'job':" #job ",'pieces':[" pieces "]}"
#define CUT(number, job, node, layout)                                                                                 \
    "{'repartition':" #number ",'job':" #job ",'node':'" node "','gpu':0,'layout':'" layout "'}"
#define PAIR(node, gpus, group) "{'node':'" node "','gpus':'" gpus "','members':2,'group':" group "}"
#define TWO_OF_THREE                                                                                                   \
    "{'job_submitted':0,'job':{'id':0,'min_sets':2,'groups':[{'count':2,'gpus':1},"                                    \
    "{'count':2,'gpus':1},{'count':2,'gpus':1}]}}"
#define SMALL            JOB(0, "{'mig':'1g.10gb'}")
#define LARGE            JOB(1, "{'mig':'7g.80gb'}")
#define ON_SMALL(number) START(number, 0, "{'node':'n3','gpus':'0','milli':125}")
#define ON(node, gpus)   "{'node':'" node "','gpus':'" gpus "'}"

static const struct story stories[] = {
    {{START(1, 0, ON("n0", "0"))}, "there is no job 0"},
    {{JOB(0, "{'gpus':1}"), JOB(0, "{'gpus':1}")}, "job 0 came before: ids are never used again"},
    {{JOB(9000000, "{'gpus':1}")}, "job 9000000: ids of jobs and arrays count from 0 without gaps"},
    {{JOB(0, "{'gpus':2}"), START(1, 0, ON("n0", "0-1")), START(2, 0, ON("n0", "2-3"))},
     "job 0: it was started already, with all its members"},
    {{JOB(0, "{'gpus':2}"), JOB(1, "{'gpus':2}"), START(1, 0, ON("n0", "0-1")), START(2, 1, ON("n0", "1-2"))},
     "job 1: GPU 1 of node n0 is not free"},
    /* Space that is being left is free when it has been left. */
    {{JOB(0, "{'gpus':4}"), JOB(1, "{'gpus':4}"), START(1, 0, ON("n0", "0-3")),
      "{'job_started':0,'job':0,'decision':1}", "{'evict':2,'job':0,'for_job':1}", START(3, 1, ON("n0", "0-3"))},
     "job 1: GPU 0 of node n0 is not free"},
    {{JOB(0, "{'gpus':4}"), JOB(1, "{'gpus':4}"), START(1, 0, ON("n0", "0-3")),
      "{'job_started':0,'job':0,'decision':1}", "{'evict':2,'job':0,'for_job':1}", "{'reserve':3,'job':1}",
      "{'job_evicted':1,'job':0,'end':'lost'}", START(4, 1, ON("n0", "0-3")), "{'job_started':0,'job':1,'decision':4}",
      "{'job_ended':2,'job':1,'end':'completed'}", START(5, 0, ON("n0", "0-3"))},
     NULL},
    {{JOB(0, "{'gpus':1}"), START(2, 0, ON("n0", "0")), "{'release':2,'job':0}"},
     "numbers of decisions must rise; the one before is 2"},
    {{JOB(0, "{'gpus':2}"), START(1, 0, ON("n0", "0"))},
     "job 0: 1 member of group 0 on node n0 needs 2 GPUs, the piece names 1"},
    {{JOB(0, "{'gpus':1}"), START(1, 0, "")}, "job 0: 'pieces' must say where"},
    {{JOB(0, "{'gpus':1}"), START(1, 0, "{'node':'n0','gpus':'0','group':1}")}, "job 0: the job has no group 1"},
    {{JOB(0, "{'count':2,'gpus':1}"), START(1, 0, ON("n0", "0"))},
     "job 0: it would have fewer members than must run together: 1"},
    {{JOB(0, "{'count':2,'min_members':1,'gpus':1}"), START(1, 0, ON("n0", "0")),
      START(2, 0, ON("n1", "0") "," ON("n1", "1"))},
     "job 0: it would have 3 members of group 0, which has 2"},
    {{JOB(0, "{'count':2,'min_members':1,'gpus':1}"), START(1, 0, ON("n0", "0")), START(2, 0, ON("n1", "0"))}, NULL},
    {{JOB(0, "{'count':2,'gpus':1}"), START(1, 0, "{'node':'n0','gpus':'0-1','members':2}")}, NULL},
    /* Two of three groups are needed: any two; the third comes as a whole. */
    {{TWO_OF_THREE, START(1, 0, PAIR("n0", "0-1", "2"))},
     "job 0: it would have fewer members than must run together: 2"},
    {{TWO_OF_THREE, START(1, 0, PAIR("n0", "0-1", "2") "," PAIR("n0", "2-3", "0")),
      START(2, 0, PAIR("n1", "0-1", "1"))},
     NULL},
    {{TWO_OF_THREE, START(1, 0, PAIR("n0", "0-1", "2") "," PAIR("n0", "2-3", "0")),
      START(2, 0, "{'node':'n1','gpus':'0','group':1}")},
     "job 0: its set 1 would have 1 members and needs 2"},
    /* Shares, memory, instances, models. */
    {{JOB(0, "{'gpu_fraction':0.6}"), JOB(1, "{'gpu_fraction':0.5}"),
      START(1, 0, "{'node':'n0','gpus':'0','milli':600}"), START(2, 1, "{'node':'n0','gpus':'0','milli':500}")},
     "job 1: GPU 0 of node n0 is not free"},
    {{JOB(0, "{'gpu_fraction':0.6}"), START(1, 0, ON("n0", "0"))},
     "job 0: 'milli' of group 0 is 600 on node n0, not 1000"},
    {{JOB(0, "{'gpu_memory_gb':40}"), START(1, 0, "{'node':'n0','gpus':'3','milli':500}")}, NULL},
    {{JOB(0, "{'gpu_memory_gb':90}"), START(1, 0, ON("n0", "3"))}, "job 0: no GPU of node n0 has enough memory"},
    {{JOB(0, "{'gpus':1}"), START(1, 0, ON("n3", "0"))},
     "job 0: a GPU of node n3 is partitioned: it is neither whole nor shared"},
    /* GPUs that are cut anew. */
    {{SMALL, CUT(1, 0, "n0", "1g.10gb@0")}, "job 0: GPU 0 of node n0 may not be cut anew"},
    {{SMALL, LARGE, ON_SMALL(1), CUT(2, 1, "n3", "7g.80gb@0")},
     "job 1: GPU 0 of node n3 is in use where it is to be cut"},
    {{SMALL, LARGE, CUT(1, 1, "n3", "7g.80gb@0"), CUT(2, 1, "n3", "empty")},
     "job 1: GPU 0 of node n3 is being cut already"},
    {{SMALL, LARGE, CUT(1, 1, "n3", "7g.80gb@0"), ON_SMALL(2)}, "job 0: GPU 0 of node n3 is being cut otherwise"},
    {{SMALL, CUT(1, 0, "n3", "1g.10gb@0"), ON_SMALL(2)}, NULL}, /* it stays */
    {{SMALL, LARGE, CUT(1, 1, "n3", "7g.80gb@0"), "{'decision_refused':1,'decision':1,'why':'busy'}", ON_SMALL(2)},
     NULL},
    {{SMALL, LARGE, CUT(1, 1, "n3", "7g.80gb@0"), "{'gpu_changed':1,'node':'n3','gpu':0,'layout':'7g.80gb@0'}",
      START(2, 1, ON("n3", "0"))},
     NULL},
    {{SMALL, LARGE, CUT(1, 1, "n3", "7g.80gb@0"), "{'gpu_changed':1,'node':'n3','gpu':0,'layout':'7g.80gb@0'}",
      ON_SMALL(2)},
     "job 0: GPU 0 of node n3 has no instance of that profile at slice 0"},
    {{JOB(0, "{'mig':'1g.10gb'}"), START(1, 0, "{'node':'n3','gpus':'0','milli':125}"), JOB(1, "{'mig':'1g.10gb'}"),
      START(2, 1, "{'node':'n3','gpus':'0','milli':125}")},
     "job 1: GPU 0 of node n3 is not free"},
    {{JOB(0, "{'mig':'3g.40gb'}"), START(1, 0, "{'node':'n3','gpus':'0','milli':500}")},
     "job 0: GPU 0 of node n3 has no instance of that profile at slice 0"},
    {{JOB(0, "{'mig':'3g.40gb'}"), START(1, 0, "{'node':'n3','gpus':'0','milli':400,'mig_start':4}")},
     "job 0: 'milli' of that MIG profile is 500, not 400"},
    {{JOB(0, "{'gpus':1,'gpu_model':'h100-80gb'}"), START(1, 0, ON("n5", "0"))},
     "job 0: the GPUs of node n5 are of a model that will not do: generic"},
    /* The node. */
    {{JOB(0, "{'gpus':1}"), START(1, 0, ON("n4", "0"))}, "job 0: node n4 has a taint that is not tolerated"},
    {{JOB(0, "{'gpus':1,'tolerations':['a']}"), START(1, 0, ON("n4", "0"))}, NULL},
    {{JOB(0, "{'gpus':1,'node_selector':{'rack':'r1'}}"), START(1, 0, ON("n2", "0"))}, NULL},
    {{JOB(0, "{'gpus':1,'node_selector':{'rack':'r2'}}"), START(1, 0, ON("n0", "0"))},
     "job 0: node n0 has not the labels that are asked"},
    {{JOB(0, "{'gpus':1}"), "{'node_changed':0,'node':'n0','state':'cordoned'}", START(1, 0, ON("n0", "0"))},
     "job 0: node n0 takes no new work"},
    {{JOB(0, "{'gpus':1,'cpus':16.001}"), START(1, 0, ON("n0", "0"))}, "job 0: node n0 has too few free CPUs"},
    {{JOB(0, "{'cpus':1,'memory_gb':40,'count':2}"), START(1, 0, "{'node':'n0','members':2}")},
     "job 0: node n0 has too little free memory"},
    {{JOB(0, "{'gpus':1,'count':2}"), START(1, 0, "{'node':'n5','gpus':'0-1','members':2}")},
     "job 0: node n5 takes no more than 1 members"},
    /* What it waits for. */
    {{"{'job_submitted':0,'job':{'id':0,'held':true,'groups':[{'gpus':1}]}}", START(1, 0, ON("n0", "0"))},
     "job 0: it is held by its submitter"},
    {{JOB(0, "{'gpus':1}"), "{'job_submitted':0,'job':{'id':1,'groups':[{'gpus':1}],'after':[{'job':0}]}}",
      START(1, 1, ON("n0", "0"))},
     "job 1: job 0, which it depends on, has not ended"},
    {{JOB(0, "{'gpus':1}"),
      "{'job_submitted':0,'job':{'id':1,'groups':[{'gpus':1}],'after':[{'job':0,'kind':'not_ok'}]}}",
      START(1, 0, ON("n0", "0")), "{'job_started':0,'job':0,'decision':1}", "{'job_ended':0,'job':0,'end':'completed'}",
      START(2, 1, ON("n0", "0"))},
     "job 1: job 0 ended otherwise than it asks"},
    {{"{'job_submitted':0,'job':{'id':0,'array':1,'array_max':1,'groups':[{'gpus':1}]}}",
      "{'job_submitted':0,'job':{'id':1,'array':1,'array_max':1,'groups':[{'gpus':1}]}}", START(1, 0, ON("n0", "0")),
      START(2, 1, ON("n0", "1"))},
     "job 1: 1 elements of its array run, as many as may"},
    {{"{'job_submitted':0,'job':{'id':0,'topology':{'required':'rack'},'groups':[{'count':2,'gpus':1}]}}",
      START(1, 0, ON("n0", "0") "," ON("n5", "0"))},
     "job 0: its members are not all in one rack"},
    {{"{'job_submitted':0,'job':{'id':0,'groups':[{'gpus':1,'count':2}],'sets':[{'min_members':2,"
      "'topology':{'required':'node'}}]}}",
      START(1, 0, ON("n0", "0") "," ON("n1", "0"))},
     "job 0: the members of its set 0 are not all in one node"},
    /* Evictions, rejections. */
    {{JOB(0, "{'gpus':1}"), "{'evict':1,'job':0}"}, "job 0: it does not run"},
    {{JOB(0, "{'gpus':1}"), START(1, 0, ON("n0", "0")), "{'job_started':0,'job':0,'decision':1}", "{'evict':2,'job':0}",
      "{'evict':3,'job':0}"},
     "job 0: it is being evicted already"},
    {{JOB(0, "{'count':2,'gpus':1}"), START(1, 0, ON("n0", "0") "," ON("n1", "0")),
      "{'job_started':0,'job':0,'decision':1}", "{'evict':2,'job':0,'pieces':[{'node':'n1','gpus':'0'}]}"},
     "job 0: the pieces are not all it holds; say \"partial\": true"},
    {{JOB(0, "{'count':2,'gpus':1}"), START(1, 0, ON("n0", "0") "," ON("n1", "0")),
      "{'job_started':0,'job':0,'decision':1}",
      "{'evict':2,'job':0,'partial':true,'pieces':[{'node':'n1','gpus':'0'}]}",
      "{'evict':3,'job':0,'partial':true,'pieces':[{'node':'n1','gpus':'0'}]}"},
     "job 0: it does not run on these pieces, or leaves them already"},
    {{JOB(0, "{'count':2,'gpus':1}"), START(1, 0, ON("n0", "0") "," ON("n1", "0")),
      "{'job_started':0,'job':0,'decision':1}",
      "{'evict':2,'job':0,'partial':true,'pieces':[{'node':'n1','gpus':'0'}]}",
      "{'job_evicted':1,'job':0,'decision':2,'end':'lost'}", JOB(1, "{'gpus':4}"), START(3, 1, ON("n1", "0-3")),
      START(4, 0, ON("n0", "1"))},
     NULL},
    {{JOB(0, "{'gpus':1}"), START(1, 0, ON("n0", "0")), "{'reject':2,'job':0}"},
     "job 0: a job that runs cannot be rejected"},
    {{JOB(0, "{'gpus':1}"), "{'reject':1,'job':0}", "{'reserve':2,'job':0}"}, "job 0 is over"},
    {{JOB(0, "{'gpus':1}"), "{'evict':1,'job':0,'for_job':5}"}, "there is no job 5 that could gain"},
    /* Jobs that ran before. */
    {{"{'job_adopted':0,'job':{'id':0,'groups':[{'gpus':1}]},'started_ns':0,'pieces':[{'node':'n4','gpus':'0'}]}",
      "{'job_adopted':0,'job':{'id':1,'groups':[{'gpus':1}]},'started_ns':0,'pieces':[{'node':'n4','gpus':'0'}]}"},
     "GPU 0 of node n4 is not free"},
    {{"{'job_adopted':0,'job':{'id':0,'groups':[{'gpus':1}]},'started_ns':0}"},
     "a job that runs stands on at least one piece"},
    {{JOB(0, "{'gpus':1}"), "{'reserve':1,'job':0,'pieces':[{'node':'n0','gpus':'0'}]}",
      "{'job_adopted':0,'job':{'id':1,'groups':[{'gpus':1}]},'started_ns':0,'pieces':[{'node':'n0','gpus':'1'}]}"},
     "space of node n0 is reserved: it is not free for a job to be there"},
    {{JOB(0, "{'gpus':1}"), "{'reserve':1,'job':0,'pieces':[{'node':'n0','gpus':'0'}]}", "{'release':2,'job':0}",
      "{'job_adopted':0,'job':{'id':1,'groups':[{'gpus':1}]},'started_ns':0,'pieces':[{'node':'n0','gpus':'0'}]}",
      START(3, 0, ON("n0", "0"))},
     "job 0: GPU 0 of node n0 is not free"},
    {{"{'job_adopted':0,'job':{'id':0,'groups':[{'gpus':1}]},'started_ns':0,'pieces':[{'node':'n0','gpus':'0-1',"
      "'members':2}]}"},
     "more members of group 0 than it has"},
    {{JOB(0, "{'gpus':1}"), START(1, 0, ON("n0", "0")), "{'decision_refused':0,'decision':1,'why':'busy'}",
      JOB(1, "{'gpus':4}"), START(2, 1, ON("n0", "0-3"))},
     NULL},
};

TEST(what_cannot_be_is_told_from_what_can)
{
    for (size_t s = 0; s < sizeof stories / sizeof stories[0]; s++) {
        struct court court;
        open_court(&court);
        for (size_t i = 0; i < 12 && stories[s].lines[i] != NULL; i++) {
            bool is_last = i == 11 || stories[s].lines[i + 1] == NULL;
            const char *wrong = verdict(&court, stories[s].lines[i]);
            const char *expected = is_last ? stories[s].wrong : NULL;
            if ((wrong == NULL) != (expected == NULL) || (wrong != NULL && strcmp(wrong, expected) != 0))
                fail_msg("story %zu, %s: %s", s, stories[s].lines[i], wrong != NULL ? wrong : "is let pass");
        }
        close_court(&court);
    }
}

/* A decision that was refused has booked nothing: another may have the space. */
TEST(what_was_refused_leaves_no_trace)
{
    struct court court;
    open_court(&court);
    assert_null(verdict(&court, JOB(0, "{'count':2,'gpus':4}")));
    assert_null(verdict(&court, JOB(1, "{'gpus':4}")));
    assert_non_null(verdict(&court, START(1, 0, ON("n0", "0-3") "," ON("n0", "0-3"))));
    assert_non_null(verdict(&court, START(1, 0, ON("n0", "0-3"))));
    assert_null(verdict(&court, START(1, 1, ON("n0", "0-3"))));
    close_court(&court);
}

TEST(it_counts_and_knows_why)
{
    struct court court;
    struct sched_counts counts = {0};
    open_court(&court);
    for (size_t i = 0; i < 3; i++) {
        static const char held[] = "{'job_submitted':0,'job':{'id':2,'held':true,'groups':[{'gpus':1}]}}";
        const char *const jobs[] = {JOB(0, "{'gpus':1}"), JOB(1, "{'gpus':1}"), held};
        assert_null(verdict(&court, jobs[i]));
    }
    assert_null(verdict(&court, START(1, 0, ON("n0", "0"))));
    assert_null(verdict(&court, "{'reserve':2,'job':1}"));
    referee_count(court.referee, &counts);
    assert_int_equal(counts.pending_jobs, 2);
    assert_int_equal(counts.reserved_jobs, 1);
    assert_int_equal(counts.running_jobs, 1);
    assert_int_equal(referee_why(court.referee, 0), REASON_NONE);
    assert_int_equal(referee_why(court.referee, 1), REASON_RESERVED);
    assert_int_equal(referee_why(court.referee, 2), REASON_HELD);
    assert_null(verdict(&court, "{'job_cancelled':0,'job':1}"));
    referee_count(court.referee, &counts);
    assert_int_equal(counts.pending_jobs, 1);
    assert_int_equal(counts.reserved_jobs, 0);
    close_court(&court);
}
