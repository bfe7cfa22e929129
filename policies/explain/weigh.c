/* What a decision weighs: the heads of class queues, and a score for each node; see policies/explain.h. */
#include <stdlib.h>
#include <string.h>

#include "policies/booking/booking.h"
#include "policies/booking/sched_tags.h"
#include "policies/explain/explain_nodes.h"
#include "policies/placement/search.h"

/* ---- Heads ---- */

static const char *difference_of(const struct sched *sched, uint32_t class_queue, uint32_t before)
{
    const struct pending *pending = &sched->pending;
    const struct sched_job *job = &sched->jobs.jobs[pending_head(pending, class_queue)];
    const struct sched_job *other = &sched->jobs.jobs[pending_head(pending, before)];
    if (pending->class_queues[class_queue].leaf_queue != pending->class_queues[before].leaf_queue)
        return sched->policy.quota->name;
    for (uint32_t r = 0; r < pending->rank_count; r++)
        if (job->rank[r] != other->rank[r])
            return sched->policy.order[r]->name;
    return "job id";
}

static void add_head(struct sched *sched, uint32_t class_queue, uint32_t before, struct weighing *out)
{
    const struct sched_job *job = &sched->jobs.jobs[pending_head(&sched->pending, class_queue)];
    out->heads[out->head_count++] = (struct weighed_head){
        .job = job->id,
        .queue = job->queue,
        .waiting = sched->pending.class_queues[class_queue].count,
        .reason = sched_why(sched, job->id),
        .behind_by = before == CLASS_QUEUE_NONE ? NULL : difference_of(sched, class_queue, before)};
}

static uint32_t count_ahead(const struct pending *pending, uint32_t class_queue, uint32_t slot)
{
    uint32_t ahead = 0;
    for (uint32_t i = 0; i < pending->class_queues[class_queue].count; i++)
        ahead += pending_compare(pending, pending->class_queues[class_queue].heap[i].slot, slot) < 0;
    return ahead;
}

/* List the heads in the order of the queue selection, up to that of the job's class queue. */
static void weigh_heads(struct sched *sched, uint32_t slot, struct weighing *out)
{
    const uint32_t own = sched->jobs.jobs[slot].class_queue;
    const struct pending *pending = &sched->pending;
    if (own == CLASS_QUEUE_NONE)
        return;
    struct queue_selection_scratch scratch = {0};
    uint32_t count = pending->busy_count, *left = arena_alloc_array(&out->arena, count, uint32_t);
    memcpy(left, pending->busy, count * sizeof *left);
    out->ahead_in_class = count_ahead(pending, own, slot);
    out->heads = arena_alloc_array(&out->arena, count, struct weighed_head);
    for (uint32_t before = CLASS_QUEUE_NONE; before != own;) {
        const uint32_t class_queue = queue_selection_best(&sched->tree, pending, left, count, &scratch);
        add_head(sched, class_queue, before, out);
        before = class_queue;
        for (uint32_t i = 0; i < count; i++)
            if (left[i] == class_queue)
                left[i--] = left[--count];
    }
    queue_selection_release(&scratch);
}

/* ---- Nodes ---- */

static bool is_free(const struct ledger *ledger, const struct space *space)
{
    const struct node_cell *cell = &ledger->nodes[space->node];
    const gpu_id first = ledger->cluster->nodes[space->node].first_gpu;
    if (cell->cpu_free < space->cpu_milli || cell->memory_free < space->memory_mib ||
        cell->tasks_free < space->member_count || !ledger_admits(ledger, space))
        return false;
    if (space->mig == 0 && space->gpu_milli == GPU_MILLI)
        return (ledger->index->free_mask[space->node] & space->gpu_mask) == space->gpu_mask;
    for (uint32_t left = space->gpu_mask; left != 0; left &= left - 1) {
        const uint32_t g = (uint32_t)__builtin_ctz(left);
        const bool has_room =
            space->mig != 0
                ? ledger_mig_starts(ledger, space->node, g, (enum mig_profile_id)(space->mig - 1)) >> space->mig_start &
                      1
                : !ledger_has_layout(ledger, space->node, g) && ledger->gpus[first + g].free >= space->gpu_milli;
        if (!has_room)
            return false;
    }
    return true;
}

/* Take the space of a START.  False: some of it is not free now, because it was held for the job before. */
static bool take_start(struct sched *sched, const struct decision *start)
{
    const uint32_t slot = job_table_find(&sched->jobs, start->job);
    if (slot == SLOT_NONE)
        return false;
    const struct request_class *request_class = sched_request_class(sched, &sched->jobs.jobs[slot]);
    const size_t mark = ledger_mark(sched->ledger);
    for (uint32_t p = 0; p < start->piece_count; p++) {
        const struct space space = request_class_space(request_class, &start->pieces[p], slot);
        if (!is_free(sched->ledger, &space)) {
            ledger_rollback(sched->ledger, mark);
            return false;
        }
        ledger_take(sched->ledger, &space);
    }
    ledger_commit(sched->ledger, mark);
    return true;
}

static uint32_t take_starts(struct sched *sched, const struct decision *before, size_t count)
{
    uint32_t taken = 0;
    for (size_t i = 0; i < count; i++)
        taken += before[i].kind == DECISION_START && take_start(sched, &before[i]);
    return taken;
}

/* The group that is placed first. */
static uint16_t first_group(const struct request_class *ask)
{
    uint32_t g = 0;
    while (g + 1 < ask->group_count && ask->groups[ask->order[g]].count == 0)
        g++;
    return ask->order[g];
}

static bool asks_topology(const struct request_class *ask)
{
    bool has_any = ask->topology.required != 0 || ask->topology.preferred != 0;
    for (uint32_t s = 0; s < ask->set_count; s++)
        has_any |= ask->sets[s].topology.required != 0 || ask->sets[s].topology.preferred != 0;
    for (uint32_t g = 0; g < ask->group_count; g++)
        has_any |= ask->groups[g].slice_members != 0;
    return has_any;
}

static int compare_nodes(const void *x, const void *y)
{
    const struct weighed_node *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static void weigh_nodes(struct sched *sched, uint32_t slot, const uint8_t *why, struct weighing *out)
{
    const uint32_t node_count = sched->cluster->node_count;
    struct allowed_space allowed;
    struct placement_request asked = sched_placement_request(sched, slot, &allowed);
    const struct job_group *group = &asked.request_class->groups[first_group(asked.request_class)];
    uint32_t *here = arena_alloc_array(&out->arena, node_count, uint32_t);
    for (uint32_t p = 0; p < asked.held.count; p++)
        here[asked.held.pieces[p].node] += asked.held.pieces[p].member_count;
    if (tags_match(sched, slot)) {
        allowed.shut = ledger_tags_shut(sched->ledger, 0);
        asked.allowed = &allowed;
    }
    out->placement = asked.policy->name;
    out->is_drawn = asked.policy->draw != NULL;
    out->has_topology = asks_topology(asked.request_class);
    out->members = group->count;
    out->nodes = arena_alloc_array(&out->arena, node_count, struct weighed_node);
    for (node_id n = 0; n < node_count; n++) {
        const struct region region = {.first = n, .last = n};
        struct search search = search_of(&asked, sched->ledger, &group->request, &region, here);
        if (search_best(&search, group->count))
            out->nodes[out->node_count++] = (struct weighed_node){.node = n,
                                                                  .score = out->is_drawn ? 0 : search.best.score,
                                                                  .why = why[n],
                                                                  .free_gpus = sched->ledger->index->free_count[n]};
        else
            out->refused[why[n]]++;
    }
    qsort(out->nodes, out->node_count, sizeof *out->nodes, compare_nodes);
}

static bool has_claim(const struct sched_job *job)
{
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase == HOLDING_CLAIMED)
            return true;
    return false;
}

bool sched_weigh(struct sched *sched, job_id job, const struct decision *before, size_t before_count,
                 struct weighing *out)
{
    const uint32_t slot = job_table_find(&sched->jobs, job);
    if (slot == SLOT_NONE || sched->jobs.jobs[slot].wait.kind == WAIT_NOT)
        return false;
    *out = (struct weighing){.inference_first = sched->policy.inference_first,
                             .has_reservation = has_claim(&sched->jobs.jobs[slot])};
    uint8_t *why = arena_alloc_array(&out->arena, sched->cluster->node_count, uint8_t);
    weigh_heads(sched, slot, out);
    const size_t mark = ledger_mark(sched->ledger);
    out->taken_count = take_starts(sched, before, before_count);
    explain_nodes(sched, job, &out->why, why);
    if (!out->has_reservation)
        weigh_nodes(sched, slot, why, out);
    ledger_rollback(sched->ledger, mark);
    return true;
}
