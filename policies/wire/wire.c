#include "policies/wire.h"

#include <assert.h>
#include <string.h>

#include "base/names.h"
#include "policies/wire/wire_fields.h"
#include "policies/wire/wire_kinds.h"

void fact_tell(struct sched *sched, const struct fact *fact)
{
    time_ns now = fact->now;
    switch (fact->kind) {
    case FACT_JOB_SUBMITTED:
        sched_job_submitted(sched, fact->job, now);
        break;
    case FACT_JOB_RELEASED:
        sched_job_released(sched, fact->id, now);
        break;
    case FACT_JOB_CANCELLED:
        sched_job_cancelled(sched, fact->id, now);
        break;
    case FACT_JOB_ADOPTED:
        sched_job_adopted(sched, fact->job, fact->pieces, fact->piece_count, fact->started, now);
        break;
    case FACT_JOB_STARTED:
        sched_job_started(sched, fact->id, fact->decision, now);
        break;
    case FACT_JOB_LEAVING:
        sched_job_leaving(sched, fact->id, fact->which, now);
        break;
    case FACT_JOB_EVICTED:
        sched_job_evicted(sched, fact->id, fact->which, fact->evicted, now);
        break;
    case FACT_JOB_ENDED:
        sched_job_ended(sched, fact->id, fact->end, fact->will_retry, now);
        break;
    case FACT_JOB_CHECKPOINTED:
        sched_job_checkpointed(sched, fact->id, now);
        break;
    case FACT_DECISION_REFUSED:
        sched_decision_refused(sched, fact->decision, fact->refusal, now);
        break;
    case FACT_NODE_CHANGED:
        sched_node_changed(sched, fact->node, fact->state, now);
        break;
    case FACT_GPU_CHANGED:
        sched_gpu_changed(sched, fact->node, fact->gpu, fact->layout, now);
        break;
    case FACT_QUEUES_CHANGED:
        sched_queues_changed(sched, fact->queues, now);
        break;
    case FACT_TYPICAL_TOLD:
        sched_typical_told(sched, fact->kinds, fact->kind_count, now);
        break;
    case FACT_COUNT:
        assert(false && "not a fact");
    }
}

/* ---- writing ---- */

static void end_line(struct buffer *out)
{
    buffer_string(out, "}\n");
}

static void put_members(struct buffer *out, const struct cluster *cluster, struct members which)
{
    if (which.decision != 0)
        wire_put_int(out, "decision", (int64_t)which.decision);
    if (which.node != NODE_NONE)
        wire_put_text(out, "node", cluster->nodes[which.node].name);
}

/* What stands behind the kind, the time and the job. */
static void put_rest(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                     const struct fact *fact)
{
    switch (fact->kind) {
    case FACT_JOB_SUBMITTED:
    case FACT_JOB_ADOPTED:
        wire_put_key(out, "job");
        wire_put_job(out, cluster, queues, fact->job);
        if (fact->kind == FACT_JOB_SUBMITTED)
            break;
        wire_put_int(out, "started_ns", fact->started);
        wire_put_pieces(out, cluster, fact->pieces, fact->piece_count);
        break;
    case FACT_JOB_STARTED:
        wire_put_int(out, "decision", (int64_t)fact->decision);
        break;
    case FACT_JOB_LEAVING:
        put_members(out, cluster, fact->which);
        break;
    case FACT_JOB_EVICTED:
        put_members(out, cluster, fact->which);
        wire_put_text(out, "end", wire_evict_ends[fact->evicted]);
        break;
    case FACT_JOB_ENDED:
        wire_put_text(out, "end", wire_job_ends[fact->end]);
        if (fact->will_retry)
            buffer_string(out, ",\"will_retry\":true");
        break;
    case FACT_DECISION_REFUSED:
        wire_put_int(out, "decision", (int64_t)fact->decision);
        wire_put_text(out, "why", wire_refusals[fact->refusal]);
        break;
    case FACT_NODE_CHANGED:
        wire_put_text(out, "node", cluster->nodes[fact->node].name);
        wire_put_text(out, "state", wire_node_states[fact->state]);
        break;
    case FACT_GPU_CHANGED:
        wire_put_cut(out, cluster, fact->node, fact->gpu, fact->layout);
        break;
    case FACT_QUEUES_CHANGED:
        wire_put_key(out, "queues");
        queue_table_write(fact->queues, fact->first_queue, out);
        break;
    case FACT_TYPICAL_TOLD:
        wire_put_key(out, "members");
        wire_write_kinds(out, cluster, fact->kinds, fact->kind_count);
        break;
    case FACT_JOB_RELEASED:
    case FACT_JOB_CANCELLED:
    case FACT_JOB_CHECKPOINTED:
    case FACT_COUNT:
        break;
    }
}

static bool names_job(enum fact_kind kind)
{
    return kind == FACT_JOB_RELEASED || kind == FACT_JOB_CANCELLED || kind == FACT_JOB_STARTED ||
           kind == FACT_JOB_LEAVING || kind == FACT_JOB_EVICTED || kind == FACT_JOB_ENDED ||
           kind == FACT_JOB_CHECKPOINTED;
}

void wire_write_fact(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                     const struct fact *fact)
{
    buffer_char(out, '{');
    wire_put_int(out, wire_fact_keys[fact->kind], fact->now);
    if (names_job(fact->kind))
        wire_put_int(out, "job", fact->id);
    put_rest(out, cluster, queues, fact);
    end_line(out);
}

void wire_write_cycle(struct buffer *out, time_ns now)
{
    buffer_char(out, '{');
    wire_put_int(out, WIRE_CYCLE_KEY, now);
    end_line(out);
}

void wire_write_decision(struct buffer *out, const struct cluster *cluster, const struct decision *decision)
{
    buffer_char(out, '{');
    wire_put_int(out, wire_decision_keys[decision->kind], (int64_t)decision->id);
    wire_put_fields(out, wire_decision_fields, decision);
    if (decision->reason != REASON_NONE)
        wire_put_text(out, "reason", reason_name(decision->reason));
    if (decision->kind == DECISION_REPARTITION)
        wire_put_cut(out, cluster, decision->pieces[0].node, (uint32_t)__builtin_ctz(decision->pieces[0].gpu_mask),
                     decision->layout);
    else if (decision->piece_count > 0)
        wire_put_pieces(out, cluster, decision->pieces, decision->piece_count);
    end_line(out);
}

void wire_write_done(struct buffer *out, const struct wire_done *done)
{
    buffer_char(out, '{');
    wire_put_int(out, WIRE_DONE_KEY, (int64_t)done->decision_count);
    wire_put_fields(out, wire_done_fields, done);
    end_line(out);
}

void wire_write_header(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                       struct text policy)
{
    buffer_char(out, '{');
    wire_put_int(out, WIRE_HEADER_KEY, WIRE_VERSION);
    wire_put_key(out, "cluster");
    cluster_write(cluster, out);
    wire_put_key(out, "queues");
    queue_table_write(queues, 1, out);
    wire_put_key(out, "policy");
    buffer_text(out, policy);
    end_line(out);
}
