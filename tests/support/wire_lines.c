#include "tests/support/wire_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"

static const char header[] =
    "{'windtunnel_events':1,'cluster':{'name':'two','pools':[{'name':'left','nodes':2,'node_name':'n%u',"
    "'gpus_per_node':8,'gpu_model':'h100-80gb','nvlink_island':8,'cpus':64,'memory_gb':512,'labels':{'rack':'r1'},"
    "'nics':8,'numa_nodes':1},{'name':'right','nodes':1,'node_names':['odd one'],'gpus_per_node':2,"
    "'gpu_model':'a100-80gb','nvlink_island':2,'cpus':1.5,'memory_gb':0.5,'labels':{'rack':'r2'},"
    "'gpus_layout':[[{'profile':'3g.40gb','start':4}],[]],'max_tasks':9,'taints':[{'key':'a','value':'b',"
    "'effect':'NoExecute'}],'nics':8,'numa_nodes':1}],'levels':['rack','node'],'fabric':{'nodes_per_unit':32,"
    "'rails':8,'rail_gbps':400,'leaf_oversubscription':1,"
    "'spine_oversubscription':1}},'queues':[{'name':'org','quota_gpus':16},{'name':'a','parent':'org',"
    "'quota_gpus':0.5,'limit_memory_gb':16.5,'over_quota_weight':2.25,'priority':7,'age_s':3,"
    "'reclaim_min_runtime_s':'1500000001ns','preemption_delay_s':5,'stale_after_s':'never','usage_ratio':0.25}],"
    "'policy':{'order':['fifo']}}\n";

/* One of every kind, with every field away from its default at least once. */
static const char *const lines[] = {
    "{'job_submitted':0,'job':{'id':0,'queue':'a','groups':[{'gpus':8}]}}\n",
    "{'job_submitted':9007199254740993,'job':{'id':7,'name':'x \\'y\\'','trace_id':-4,'queue':'a','user':3,"
    "'class':'inference','priority':-5,'preemptible':false,'held':true,'array':2,'array_max':4,"
    "'submit_ns':9007199254740993,'limit_ns':1,'estimate_ns':123456789012345678,'deadline_ns':9007199254740994,"
    "'checkpoint_interval_ns':60000000001,'checkpoint_duration_ns':2,'restart_ns':3,'grace_ns':4,"
    "'preemption_delay_ns':6,'stale_after_ns':7,'attained_gpu_ns':5,'min_sets':1,'topology':{'required':'rack',"
    "'preferred':'node'},'groups':[{'count':3,'gpu_fraction':0.142,'cpus':0.001,'memory_gb':0.0009765625,'set':1,"
    "'min_members':2,'gpu_model':'h100-80gb|?'},{'gpu_memory_gb':20.5},{'mig':'1g.10gb+me'},{'cpus':4}],"
    "'sets':[{'name':'l','min_members':0,'min_sets':1},{'parent':0,'min_members':3,'topology':{'preferred':'node'}}],"
    "'after':[{'job':6},{'job':2,'kind':'ok'},{'job':3,'kind':'not_ok'}]}}\n",
    "{'job_submitted':1,'job':{'id':9,'groups':[{'count':4,'gpus':2,'slice_members':2,'one_island':true,"
    "'slice_level':'rack'}]}}\n",
    "{'job_submitted':1,'job':{'id':9,'groups':[{'count':6,'slice_members':3,'mig':'2g.20gb',"
    "'slice_level':'node'}]}}\n",
    "{'job_submitted':1,'job':{'id':10,'groups':[{'gpus':2,'node_selector':{'rack':'r1'},"
    "'node_affinity':[{'match_expressions':[{'key':'zone','operator':'NotIn','values':['a','b']},{'key':'rack',"
    "'operator':'Exists'}]},{'match_expressions':[{'key':'rank','operator':'Gt','values':['5']}]}],"
    "'tolerations':[{'key':'a','operator':'Equal','value':'b','effect':'NoExecute'},{'operator':'Exists'}]},"
    "{'cpus':1}]}}\n",
    "{'job_submitted':1,'job':{'id':9,'groups':[{'gpus':1}],'sets':[{'name':'s','min_members':1}]}}\n",
    "{'job_submitted':1,'job':{'id':11,'tags':[7,5],'affinity':[{'tag':1,'mode':'preferred','level':'rack'},{'tag':2,"
    "'level':'node'}],'anti_affinity':[{'tag':7,'mode':'preferred','level':'node'},{'tag':3,'level':'rack'}],"
    "'groups':[{'gpus':1}]}}\n",
    "{'job_released':1,'job':7}\n",
    "{'job_cancelled':1,'job':7}\n",
    "{'job_adopted':1,'job':{'id':8,'groups':[{'count':2,'gpus':1}]},'started_ns':0,'pieces':[{'node':'n0',"
    "'gpus':'0-1','members':2}]}\n",
    "{'job_started':1,'job':7,'decision':4294967295}\n",
    "{'job_leaving':1,'job':7}\n",
    "{'job_leaving':1,'job':7,'node':'n1'}\n",
    "{'job_evicted':1,'job':7,'end':'saved'}\n",
    "{'job_evicted':1,'job':7,'decision':3,'node':'odd one','end':'lost'}\n",
    "{'job_ended':1,'job':7,'end':'completed'}\n",
    "{'job_ended':1,'job':7,'end':'limit','will_retry':true}\n",
    "{'job_checkpointed':1,'job':7}\n",
    "{'job_observed':1,'job':7,'since_ns':0,'until_ns':1,'sm_active':0.035}\n",
    "{'decision_refused':1,'decision':9,'why':'node_down'}\n",
    "{'decision_refused':1,'decision':9,'job':7,'why':'node_down'}\n",
    "{'node_changed':1,'node':'n1','state':'draining'}\n",
    "{'job_history_told':1,'job':7,'evictions':3,'stale_count':1,'waiting_since_ns':1,'below_since_ns':0,'saved_at_ns':"
    "1,"
    "'ran_ns':5,'attained_gpu_ns':9}\n",
    "{'user_usage_told':1,'queue':'a','user':4,'usage_milli':1500}\n",
    "{'typical_told':1,'members':[{'count':40,'gpus':2,'cpus':8},{'gpu_fraction':0.25,'gpu_model':'h100-80gb'}]}\n",
    "{'queues_changed':1,'queues':[{'name':'new','parent':'org','quota_gpus':3}]}\n",
    "{'cycle':9223372036854775806}\n",
    "{'start':4294967295,'job':7,'pieces':[{'node':'n0','gpus':'0-3,6'},{'node':'odd one','gpus':'0','milli':500,"
    "'group':2,'mig_start':4},{'node':'n1','gpus':'1','milli':250,'share':'mps'},{'node':'n1','gpus':'1','milli':25,"
    "'group':1,'share':'timeslice'},{'node':'n1','members':5,'group':3}]}\n",
    "{'start':1,'job':7,'partial':true,'source':'grace_0','pieces':[{'node':'n0','gpus':'7'}]}\n",
    "{'evict':4294967295,'job':7,'for_job':0,'grace_ns':30000000000,'reason':'Reclaimed',"
    "'pieces':[{'node':'n0','gpus':'0,2,4'}]}\n",
    "{'reserve':2,'job':7,'reason':'Reserved'}\n",
    "{'release':2,'job':7}\n",
    "{'notify':2,'job':7,'grace_ns':600000000000,'reason':'Idle'}\n",
    "{'reject':2,'job':7,'reason':'DependencyNeverSatisfied'}\n",
    "{'repartition':3,'job':7,'node':'n0','gpu':2,'layout':'1g.10gb@0+3g.40gb@4'}\n",
    "{'repartition':3,'job':7,'node':'n0','gpu':0,'layout':'whole'}\n",
    "{'gpu_changed':7,'node':'n0','gpu':2,'layout':'1g.10gb@0+3g.40gb@4'}\n",
    "{'gpu_changed':7,'node':'n0','gpu':1,'layout':'empty'}\n",
    "{'done':0}\n",
    "{'done':12,'wake_at':66000000001,'reserved_gpu_milli':8000}\n",
    "{'job_submitted':1,'job':{'id':12,'plan':{'tp':2,'pp':1,'dp':4,'ep':1,'layers':4,'hidden':1024,'heads':8,"
    "'kv_heads':8,'ffn':4096,'gated':false,'sequence':512,'vocabulary':5000,'experts':1,'experts_per_token':1,"
    "'batch':64,'micro_batch':2,'virtual_stages':1,'precision':'bf16'},'groups':[{'gpus':8},{'cpus':1}]}}\n",
    "{'job_submitted':1,'job':{'id':13,'sensitivity':'skewed','groups':[{'count':2,'gpus':8}]}}\n",
    "{'job_submitted':1,'job':{'id':14,'sensitivity':{'collective':'all-gather','exposed_ratio':0.3,"
    "'hidden_ratio':0.25,'bytes':1000000},'groups':[{'gpus':1}]}}\n",
};

char *wire_lines_header_new(void)
{
    return json_text_new(header);
}

char *wire_lines_new(size_t index)
{
    return index < sizeof lines / sizeof *lines ? json_text_new(lines[index]) : NULL;
}

struct text wire_lines_text(const char *line)
{
    size_t length = strlen(line);
    return (struct text){line, length - (length > 0 && line[length - 1] == '\n')};
}

struct error wire_lines_read(struct wire *wire, uint64_t number, const char *quoted, unsigned awaited,
                             struct wire_line *line)
{
    char *text = json_text_new(quoted);
    struct error error = wire_read(wire, "events", number, wire_lines_text(text), awaited, line);
    free(text);
    return error;
}

struct error wire_lines_header_parse(struct json_doc **doc, const char *quoted)
{
    char *text = json_text_new(quoted);
    struct error error = wire_header_parse(doc, "events", wire_lines_text(text));
    free(text);
    return error;
}

void wire_lines_open(struct wire_lines *wire)
{
    struct json_doc *doc;
    struct error error = wire_lines_header_parse(&doc, header);
    assert_string_equal(error_message(&error), "");
    error = wire_header_read(&wire->header, doc);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    wire->wire = wire_new(wire->header.cluster, wire->header.queues);
}

void wire_lines_close(struct wire_lines *wire)
{
    wire_free(wire->wire);
    wire_header_release(&wire->header);
}

void wire_lines_write(const struct wire_lines *wire, const struct wire_line *line, struct buffer *out)
{
    const struct cluster *cluster = wire->header.cluster;
    switch (line->kind) {
    case WIRE_FACT:
        wire_write_fact(out, cluster, wire->header.queues, &line->fact);
        break;
    case WIRE_CYCLE:
        wire_write_cycle(out, line->now);
        break;
    case WIRE_DECISION:
        wire_write_decision(out, cluster, &line->decision);
        break;
    default:
        wire_write_done(out, &line->done);
    }
}
