#include "policies/describe.h"

#include <string.h>

#include "policies/state/sched_state.h"
#include "policies/wire.h"

struct describer {
    const struct sched *sched;
    const struct queue_table *queues;
    struct buffer *out;
};

static void tell(const struct describer *describer, struct fact fact)
{
    fact.now = describer->sched->now;
    wire_write_fact(describer->out, describer->sched->cluster, describer->queues, &fact);
}

/* ---- the cluster and the queues ---- */

/* The table, with what the policies remember of the queues. */
static void put_header(const struct describer *describer, struct text policy)
{
    const struct sched *sched = describer->sched;
    struct queue_tree *tree = (struct queue_tree *)(uintptr_t)&sched->tree; /* hooks read only */
    struct queue_table table = *describer->queues;
    table.queues = mem_zalloc(table.count, sizeof *table.queues);
    memcpy(table.queues, describer->queues->queues, table.count * sizeof *table.queues);
    for (queue_id q = QUEUE_ROOT + 1; q < table.count && sched->policy.quota->describe != NULL; q++)
        sched->policy.quota->describe(tree, q, &table.queues[q]);
    wire_write_header(describer->out, sched->cluster, &table, policy);
    mem_free(table.queues);
}

static void tell_node(const struct describer *describer, node_id node)
{
    const struct ledger *ledger = describer->sched->ledger;
    const struct cluster *cluster = describer->sched->cluster;
    const uint16_t cut = cluster_node_type(cluster, node)->layout_mask | ledger_layout_mask(ledger, node);
    for (uint32_t left = cut; left != 0; left &= left - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctz(left);
        const bool is_cut = ledger_has_layout(ledger, node, gpu);
        tell(describer,
             (struct fact){.kind = FACT_GPU_CHANGED,
                           .node = node,
                           .gpu = gpu,
                           .layout = is_cut ? mig_layout_of(&ledger->layouts[cluster->nodes[node].first_gpu + gpu])
                                            : MIG_LAYOUT_WHOLE});
    }
    if (ledger->node_state[node] != NODE_UP)
        tell(
            describer,
            (struct fact){.kind = FACT_NODE_CHANGED, .node = node, .state = (enum node_state)ledger->node_state[node]});
}

static void tell_users(const struct describer *describer)
{
    const struct accounts *accounts = &describer->sched->accounts;
    for (uint32_t i = 0; i < accounts->user_count && describer->sched->ranks.need_accounts; i++)
        tell(describer,
             (struct fact){.kind = FACT_USER_USAGE_TOLD,
                           .queue = accounts->users[i].queue,
                           .user = accounts->users[i].user,
                           .usage_milli = accounts_usage(accounts, &accounts->users[i], describer->sched->now)});
}

/* ---- jobs ---- */

static struct job_history history_of(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    return (struct job_history){.evictions = sched->jobs.jobs[slot].evictions,
                                .stale_count = facts->stale_count,
                                .waiting_since = facts->waiting_since,
                                .below_since = facts->below_since,
                                .saved_at = facts->saved_at,
                                .ran = facts->ran + (facts->is_serving ? sched->now - facts->attained_at : 0),
                                .attained_gpu_ns = attained_gpu_ns(facts, sched->now)};
}

/* The job as it was declared, but for what has changed: whether it is held, and the jobs that it still waits for.  The
 * scheduler rejects a job when a job that it waits for ends in another way than it asked for, so those that have ended
 * need no more be named.  after: memory for those that have not ended. */
static struct job job_now(const struct sched *sched, uint32_t slot, const struct job *declared, struct job_after *after)
{
    struct job job = *declared;
    job.is_held = sched->jobs.facts[slot].is_held;
    job.after_count = 0;
    job.after = after;
    for (uint32_t i = 0; i < declared->after_count; i++)
        if (job_table_find(&sched->jobs, declared->after[i].job) != SLOT_NONE)
            after[job.after_count++] = declared->after[i];
    return job;
}

/* Those of its holdings on the node that are leaving, or all on any node (NODE_NONE): none, some or all of them? */
static void count_leaving(const struct sched_job *job, node_id node, uint32_t *leaving, uint32_t *all)
{
    *leaving = *all = 0;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->phase == HOLDING_CLAIMED || (node != NODE_NONE && holding->piece.node != node))
            continue;
        *leaving += holding->phase == HOLDING_LEAVING;
        ++*all;
    }
}

static void tell_leaving(const struct describer *describer, const struct sched_job *job)
{
    struct fact fact = {.kind = FACT_JOB_LEAVING, .id = job->id, .which = MEMBERS_ALL};
    uint32_t leaving, all;
    count_leaving(job, NODE_NONE, &leaving, &all);
    if (leaving == all && all > 0)
        tell(describer, fact);
    for (uint32_t i = 0; i < job->holding_count && leaving < all; i++) {
        uint32_t there, all_there, before = 0;
        fact.which.node = sched_job_holding(job, i)->piece.node;
        while (before < i && sched_job_holding(job, before)->piece.node != fact.which.node)
            before++;
        count_leaving(job, fact.which.node, &there, &all_there);
        if (before == i && there == all_there && there > 0)
            tell(describer, fact);
    }
}

static void tell_job(const struct describer *describer, uint32_t slot, const struct job *declared)
{
    const struct sched *sched = describer->sched;
    const struct sched_job *own = &sched->jobs.jobs[slot];
    struct job_after after[JOB_AFTER_MAX];
    const struct job job = job_now(sched, slot, declared, after);
    struct piece *pieces = mem_zalloc((size_t)own->holding_count + 1, sizeof *pieces);
    struct fact fact = {.kind = FACT_JOB_SUBMITTED, .id = own->id, .job = &job, .pieces = pieces};
    for (uint32_t i = 0; i < own->holding_count; i++)
        if (sched_job_holding(own, i)->phase != HOLDING_CLAIMED)
            pieces[fact.piece_count++] = sched_job_holding(own, i)->piece;
    if (fact.piece_count > 0) {
        fact.kind = FACT_JOB_ADOPTED;
        fact.started = own->decided;
    }
    tell(describer, (struct fact){.kind = FACT_JOB_HISTORY_TOLD, .id = own->id, .history = history_of(sched, slot)});
    tell(describer, fact);
    if (fact.piece_count > 0)
        tell_leaving(describer, own);
    mem_free(pieces);
}

void sched_describe(const struct sched *sched, struct text policy, declared_job_fn *declared, void *self,
                    struct buffer *out)
{
    const struct describer describer = {.sched = sched, .queues = sched->tree.table, .out = out};
    put_header(&describer, policy);
    for (node_id n = 0; n < sched->cluster->node_count; n++)
        tell_node(&describer, n);
    tell_users(&describer);
    for (job_id id = 0; id < sched->jobs.id_count; id++)
        if (job_table_find(&sched->jobs, id) != SLOT_NONE)
            tell_job(&describer, job_table_find(&sched->jobs, id), declared(self, id));
}
