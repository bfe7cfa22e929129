#include "tests/support/spoil.h"
#include "tests/support/test.h"

#include "policies/eviction/plan_scratch.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/state/sched_state.h"

enum told { BY_BOTH, BY_HASH, BY_CHECK };

struct word {
    const char *name;
    void *at;
    size_t size;
    enum told told;
};

static void change(const struct word *word, bool is_more)
{
    uint64_t value = 0;
    memcpy(&value, word->at, word->size); /* little-endian, like all machines that run this */
    value += is_more ? 1 : UINT64_MAX;
    memcpy(word->at, &value, word->size);
}

static void spoil(struct sched *sched, struct word word, bool is_more)
{
    unsigned char kept[sizeof(uint64_t)];
    const uint64_t hash = sched_hash(sched);
    memcpy(kept, word.at, word.size);
    change(&word, is_more);
    if (word.told != BY_CHECK && sched_hash(sched) == hash)
        fail_msg("%s %s by one leaves the hash as it is", word.name, is_more ? "more" : "less");
    if (word.told != BY_HASH && sched_check(sched) == NULL)
        fail_msg("no check finds that %s is %s by one", word.name, is_more ? "more" : "less");
    memcpy(word.at, kept, word.size);
}

#define SPOIL(value, by)                                                                                               \
    spoil(sched, (struct word){#value, &(value), sizeof(value), (by)}, random_below(stream, 2) == 0)

/* Negate the flag; sched_check must complain. */
static void turn(struct sched *sched, const char *name, bool *flag)
{
    *flag = !*flag;
    if (sched_check(sched) == NULL)
        fail_msg("no check finds that %s is %s", name, *flag ? "true" : "false");
    *flag = !*flag;
}

#define TURN(flag) turn(sched, #flag, &(flag))

/* ---- What is where ---- */

static void spoil_gpu(struct sched *sched, gpu_id g, struct random_stream *stream)
{
    struct ledger *ledger = sched->ledger;
    SPOIL(ledger->gpus[g].free, BY_BOTH);
    SPOIL(ledger->gpus[g].coming, BY_BOTH);
    SPOIL(ledger->gpus[g].claimed, BY_BOTH);
    SPOIL(ledger->gpus[g].holders, BY_BOTH);
    SPOIL(ledger->owner[g], BY_HASH);
    SPOIL(ledger->keeps[g].non_preemptible_holders, BY_CHECK);
    if (ledger->migs != NULL) {
        SPOIL(ledger->migs[g].claimed, BY_HASH);
        SPOIL(ledger->layouts[g].profile[1], BY_HASH);
    }
    if (ledger->shares != NULL) {
        SPOIL(ledger->shares[g].clients, BY_BOTH);
        SPOIL(ledger->shares[g].leaving, BY_BOTH);
        SPOIL(ledger->shares[g].next_clients, BY_BOTH);
        SPOIL(ledger->shares[g].domain, BY_BOTH);
    }
    if (sched->policy.preemption->evicts)
        SPOIL(sched->preemption_bound.unmovable[g], BY_CHECK);
}

static void spoil_tag(struct sched *sched, struct random_stream *stream)
{
    struct ledger_tags *tags = sched->ledger->tags;
    TURN(tags->is_touched);
    struct tag_count *counts = tags->tables[random_below(stream, tags->count)].at;
    if (counts == NULL)
        return;
    const uint32_t place = random_below(stream, tags->everywhere + 1);
    SPOIL(counts[place].stay, BY_BOTH);
    SPOIL(counts[place].present, BY_BOTH);
    SPOIL(counts[place].refuse, BY_BOTH);
}

static void spoil_node(struct sched *sched, node_id n, struct random_stream *stream)
{
    struct ledger *ledger = sched->ledger;
    SPOIL(ledger->nodes[n].cpu_free, BY_BOTH);
    SPOIL(ledger->nodes[n].cpu_coming, BY_BOTH);
    SPOIL(ledger->nodes[n].cpu_claimed, BY_BOTH);
    SPOIL(ledger->nodes[n].memory_free, BY_BOTH);
    SPOIL(ledger->nodes[n].memory_coming, BY_BOTH);
    SPOIL(ledger->nodes[n].memory_claimed, BY_BOTH);
    if (ledger->limits_tasks) {
        SPOIL(ledger->nodes[n].tasks_free, BY_BOTH);
        SPOIL(ledger->nodes[n].tasks_coming, BY_BOTH);
        SPOIL(ledger->nodes[n].tasks_claimed, BY_BOTH);
    }
    if (ledger->migs != NULL)
        SPOIL(ledger->layout_mask[n], BY_HASH);
    if (ledger->node_shares != NULL) {
        SPOIL(ledger->node_shares[n].clients, BY_BOTH);
        SPOIL(ledger->node_shares[n].leaving, BY_BOTH);
        SPOIL(ledger->node_shares[n].next_clients, BY_BOTH);
    }
    SPOIL(ledger->node_state[n], BY_HASH);
    SPOIL(ledger->is_kept[n], BY_HASH);
    SPOIL(ledger->index->free_mask[n], ledger->index->is_listed[n] ? BY_BOTH : BY_HASH);
    if (sched->policy.preemption->evicts) {
        SPOIL(sched->preemption_bound.room[n], BY_CHECK);
        SPOIL(sched->plan->node_mark[n], BY_CHECK);
    }
}

/* ---- Waiting and running jobs ---- */

static void spoil_queue(struct sched *sched, queue_id q, struct random_stream *stream)
{
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        SPOIL(sched->ledger->sums[q][r], BY_BOTH);
    if (!sched->policy.quota->is_flat)
        SPOIL(sched->tree.waits[q].jobs, BY_CHECK);
    for (int r = 0; r < RESOURCE_COUNT && queue_tree_is_asked(&sched->tree); r++)
        SPOIL(sched->tree.queues[q].demand[r], BY_CHECK);
    SPOIL(sched->pending.leaf_queues[q].job_count, BY_CHECK);
    SPOIL(sched->lists.running[q].count, BY_CHECK);
}

static void spoil_class_queue(struct sched *sched, uint32_t l, struct random_stream *stream)
{
    struct class_queue *class_queue = &sched->pending.class_queues[l];
    if (class_queue->count > 1)
        SPOIL(class_queue->count, BY_CHECK);
    if (class_queue->count == 0)
        return;
    SPOIL(class_queue->busy_position, BY_CHECK);
    SPOIL(class_queue->class_position, BY_CHECK);
    SPOIL(class_queue->class, BY_CHECK);
}

static void spoil_job(struct sched *sched, uint32_t slot, struct random_stream *stream)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state == SJOB_NONE)
        return;
    SPOIL(job->fill, BY_CHECK);
    TURN(job->is_booked);
    if (job->is_booked && job->fill != FILL_BELOW)
        TURN(job->is_below);
    if (sched->policy.preemption->evicts)
        TURN(job->is_listed);
    if (job->held_more == NULL)
        SPOIL(job->held_one, BY_CHECK);
    if (job->is_listed)
        SPOIL(job->list_position, BY_CHECK);
    SPOIL(sched->jobs.facts[slot].after_left, BY_CHECK);
    for (uint32_t r = 0; r < sched->policy.order_count && sched->ranks.are_fixed; r++)
        SPOIL(job->rank[r], BY_CHECK);
}

static void spoil_sums(struct sched *sched, struct random_stream *stream)
{
    SPOIL(sched->lists.held_count, BY_CHECK);
    SPOIL(sched->lists.booked_count, BY_CHECK);
    SPOIL(sched->claims.piece_milli, BY_CHECK);
    SPOIL(sched->ledger->used_milli, BY_CHECK);
    SPOIL(sched->ledger->coming_milli, BY_CHECK);
    SPOIL(sched->ledger->claimed_milli, BY_CHECK);
    SPOIL(sched->pending.job_count, BY_CHECK);
    SPOIL(sched->pending.class_jobs[random_below(stream, JOB_CLASS_COUNT)], BY_CHECK);
    SPOIL(sched->request_classes.closed_count, BY_CHECK);
    SPOIL(sched->tree.closing_count, BY_CHECK);
}

void spoil_books(struct sched *sched, struct random_stream *stream)
{
    const char *broken = sched_check(sched);
    if (broken != NULL)
        fail_msg("%s", broken);
    if (sched->cluster->gpu_count > 0)
        spoil_gpu(sched, random_below(stream, sched->cluster->gpu_count), stream);
    spoil_node(sched, random_below(stream, sched->cluster->node_count), stream);
    if (sched->ledger->tags != NULL && sched->ledger->tags->count > 0)
        spoil_tag(sched, stream);
    spoil_queue(sched, random_below(stream, sched->tree.count), stream);
    if (sched->pending.class_queue_count > 0)
        spoil_class_queue(sched, random_below(stream, sched->pending.class_queue_count), stream);
    if (sched->jobs.used > 0)
        spoil_job(sched, random_below(stream, sched->jobs.used), stream);
    spoil_sums(sched, stream);
}
