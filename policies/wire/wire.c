#include "policies/wire.h"

#include <assert.h>
#include <string.h>

#include "base/names.h"
#include "policies/wire/wire_facts.h"
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
    case FACT_JOB_OBSERVED:
        sched_job_observed(sched, fact->id, &fact->observed, now);
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
        sched_queues_added(sched, fact->queues, fact->first_queue, now);
        break;
    case FACT_TYPICAL_TOLD:
        sched_typical_told(sched, fact->kinds, fact->kind_count, now);
        break;
    case FACT_JOB_HISTORY_TOLD:
        sched_job_history_told(sched, fact->id, &fact->history, fact->now);
        return;
    case FACT_USER_USAGE_TOLD:
        sched_user_usage_told(sched, fact->queue, fact->user, fact->usage_milli, fact->now);
        return;
    case FACT_COUNT:
        assert(false && "not a fact");
    }
}

/* ---- writing ---- */

static void end_line(struct buffer *out)
{
    buffer_string(out, "}\n");
}

void wire_write_fact(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                     const struct fact *fact)
{
    buffer_char(out, '{');
    wire_put_int(out, wire_fact_keys[fact->kind], fact->now);
    wire_put_fact(out, cluster, queues, fact);
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
    wire_put_int(out, wire_decision_keys[decision->kind], (int64_t)decision_number(decision->id));
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

void wire_write_unknown_node(struct buffer *out, uint64_t line, const char *name)
{
    buffer_char(out, '{');
    wire_put_text(out, WIRE_UNKNOWN_KEY, "node");
    wire_put_text(out, "id", name);
    wire_put_int(out, "line", (int64_t)line);
    end_line(out);
}

void wire_write_unknown(struct buffer *out, uint64_t line, const char *what, uint64_t id)
{
    buffer_char(out, '{');
    wire_put_text(out, WIRE_UNKNOWN_KEY, what);
    wire_put_int(out, "id", (int64_t)id);
    wire_put_int(out, "line", (int64_t)line);
    end_line(out);
}

void wire_write_replayed(struct buffer *out, uint64_t lines, time_ns now)
{
    buffer_char(out, '{');
    wire_put_int(out, WIRE_REPLAYED_KEY, (int64_t)lines);
    wire_put_int(out, "now", now);
    end_line(out);
}

void wire_write_bad_line(struct buffer *out, uint64_t line, const char *why)
{
    buffer_char(out, '{');
    wire_put_int(out, WIRE_BAD_LINE_KEY, (int64_t)line);
    wire_put_text(out, "why", why);
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
