/* The laws that hold between the books, and their hash.
 *
 * All incremental state is recomputed here from the jobs and their holdings alone: the cells of GPUs and nodes, the
 * sums and the demand of queues, the class queues and their heads, the lists of jobs, the preemption bound.  The
 * oracles are plain scans on purpose.
 * Cost: O(jobs * depth + class queues + GPUs). */
#include "base/mem.h"
#include "policies/booking/eligible.h"
#include "policies/booking/sched_tags.h"
#include "policies/order/order.h"
#include "policies/quota/quota.h"
#include "policies/state/candidates.h"
#include "policies/state/headroom.h"
#include "policies/state/over_quota.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/ranks.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

/* ---- Totals over all jobs ---- */

struct share_tally { /* members that share a GPU or a node, by the place in its cell; strange: in none */
    uint32_t now, next, leaving, strange;
};

struct gpu_tally { /* of the holdings on one GPU */
    uint32_t staying_milli, leaving_milli, holders, non_preemptible, non_preemptible_milli, unmovable;
    struct share_tally share;
};

struct node_tally {
    uint64_t staying[RESOURCE_COUNT], leaving[RESOURCE_COUNT]; /* index RESOURCE_GPU: tasks */
    struct share_tally share;
};

struct queue_tally { /* of a queue and all below it */
    int64_t charged[QUEUE_SUM_COUNT], demand[RESOURCE_COUNT];
    uint32_t waiting, in_line; /* in_line: in this queue itself */
    uint32_t first_slot;       /* the first job in this queue itself; SLOT_NONE */
    uint32_t next_slot;        /* the first of them in an open class queue */
    uint32_t listed;           /* possible victims */
};

struct tally {
    struct arena arena;
    struct gpu_tally *gpus;
    struct node_tally *nodes;
    struct queue_tally *queues;
    uint32_t *class_queue_jobs; /* by class queue */
    uint32_t waiting, held, claiming, below, booked, leaving, leaving_firm;
    uint32_t of_class[JOB_CLASS_COUNT], next_of_class[JOB_CLASS_COUNT];
    int64_t claimed_milli;
};

static bool is_flat(const struct sched *sched)
{
    return sched->policy.quota->is_flat;
}

static void tally_open(const struct sched *sched, struct tally *tally)
{
    *tally = (struct tally){0};
    struct arena *arena = &tally->arena;
    tally->gpus = arena_alloc_array(arena, sched->cluster->gpu_count + 1, struct gpu_tally);
    tally->nodes = arena_alloc_array(arena, sched->cluster->node_count + 1, struct node_tally);
    tally->queues = arena_alloc_array(arena, sched->tree.count, struct queue_tally);
    tally->class_queue_jobs = arena_alloc_array(arena, sched->pending.class_queue_count + 1, uint32_t);
    for (queue_id q = 0; q < sched->tree.count; q++)
        tally->queues[q].first_slot = tally->queues[q].next_slot = SLOT_NONE;
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        tally->next_of_class[c] = SLOT_NONE;
}

/* The one of two waiting jobs that goes first. */
static uint32_t first_of(const struct sched *sched, uint32_t a, uint32_t b)
{
    return a == SLOT_NONE || pending_compare(&sched->pending, b, a) < 0 ? b : a;
}

static void tally_share(const struct share_cell *cell, uint8_t kind, const struct space *space,
                        enum holding_phase phase, struct share_tally *tally)
{
    if (cell->kind == SHARE_MIXED && phase != HOLDING_CLAIMED)
        tally->now += space->member_count;
    else if (cell->kind == kind && cell->domain == space->domain)
        tally->now += space->member_count;
    else if (cell->next_kind == kind && cell->next_domain == space->domain)
        tally->next += space->member_count;
    else
        tally->strange += space->member_count;
    tally->leaving += phase == HOLDING_LEAVING ? space->member_count : 0;
}

static void tally_shares(const struct ledger *ledger, const struct space *space, enum holding_phase phase,
                         struct tally *tally)
{
    const gpu_id gpu = ledger->cluster->nodes[space->node].first_gpu +
                       (space->gpu_mask == 0 ? 0 : (gpu_id)__builtin_ctz(space->gpu_mask));
    if (space->gpu_mask != 0 && space->gpu_milli < GPU_MILLI && space->mig == 0)
        tally_share(&ledger->shares[gpu], space->share, space, phase, &tally->gpus[gpu].share);
    if (ledger->node_shares != NULL)
        tally_share(&ledger->node_shares[space->node], 0, space, phase, &tally->nodes[space->node].share);
}

static const char *check_share(const struct share_cell *cell, const struct share_tally *tally)
{
    if (tally->strange > 0)
        return "two kinds or domains share a GPU or a node";
    if (tally->now != cell->clients || tally->next != cell->next_clients || tally->leaving != cell->leaving)
        return "those that share a GPU or a node are miscounted";
    return NULL;
}

static void tally_holding(const struct sched *sched, uint32_t slot, const struct holding *holding, struct tally *tally)
{
    const struct request_class *request_class = &sched->request_classes.at[sched->jobs.jobs[slot].request_class];
    struct space space = request_class_space(request_class, &holding->piece, slot);
    bool is_leaving = holding->phase == HOLDING_LEAVING;
    if (sched->ledger->shares != NULL)
        tally_shares(sched->ledger, &space, (enum holding_phase)holding->phase, tally);
    for (uint32_t mask = space.gpu_mask; mask != 0; mask &= mask - 1) {
        struct gpu_tally *gpu =
            &tally->gpus[sched->cluster->nodes[space.node].first_gpu + (uint32_t)__builtin_ctz(mask)];
        *(is_leaving ? &gpu->leaving_milli : &gpu->staying_milli) += space.gpu_milli;
        gpu->holders++;
        gpu->non_preemptible += !request_class->is_preemptible;
        gpu->non_preemptible_milli += request_class->is_preemptible ? 0 : holding->piece.gpu_milli;
        gpu->unmovable += !request_class->is_preemptible;
    }
    struct node_tally *node = &tally->nodes[space.node];
    uint64_t *amounts = is_leaving ? node->leaving : node->staying;
    amounts[RESOURCE_GPU] += sched->ledger->limits_tasks ? space.member_count : 0;
    amounts[RESOURCE_CPU] += space.cpu_milli;
    amounts[RESOURCE_MEMORY] += space.memory_mib;
    tally->leaving += is_leaving;
    tally->leaving_firm += is_leaving && !request_class->is_preemptible;
    if (holding->phase == HOLDING_CLAIMED)
        tally->claimed_milli += piece_milli(&holding->piece);
}

static void tally_waiting(const struct sched *sched, uint32_t slot, struct tally *tally)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    queue_id leaf_queue = is_flat(sched) ? QUEUE_ROOT : job->queue;
    uint8_t class = sched->request_classes.at[job->ask].class;
    bool is_open = !pending_is_closed(&sched->pending, job->class_queue);
    struct queue_tally *queue = &tally->queues[leaf_queue];
    tally->class_queue_jobs[job->class_queue]++;
    tally->waiting++;
    tally->of_class[class]++;
    queue->in_line++;
    const bool is_passed = pending_is_passed(&sched->pending.class_queues[job->class_queue]);
    if (!is_passed && (is_open || !sched->pending.is_strict || job->fill == FILL_BELOW))
        queue->first_slot = first_of(sched, queue->first_slot, slot);
    if (is_open)
        queue->next_slot = first_of(sched, queue->next_slot, slot);
    if (is_open)
        tally->next_of_class[class] = first_of(sched, tally->next_of_class[class], slot);
    for (queue_id q = leaf_queue; q != QUEUE_NONE; q = sched->tree.queues[q].parent)
        tally->queues[q].waiting++;
}

static void tally_job(const struct sched *sched, uint32_t slot, struct tally *tally)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    int64_t charged[QUEUE_SUM_COUNT] = {0};
    bool is_claiming = false;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        is_claiming |= holding->phase == HOLDING_CLAIMED;
        tally_holding(sched, slot, holding, tally);
        if (holding->phase != HOLDING_LEAVING)
            sched_add_charge(sched, slot, &holding->piece, 1, charged);
    }
    for (queue_id q = job->queue; q != QUEUE_NONE; q = sched->tree.queues[q].parent) {
        for (int r = 0; r < QUEUE_SUM_COUNT; r++)
            tally->queues[q].charged[r] += charged[r];
        for (int r = 0; r < RESOURCE_COUNT; r++)
            tally->queues[q].demand[r] += request_class->charge[r];
    }
    tally->queues[job->queue].listed += job->is_listed;
    tally->claiming += is_claiming;
    tally->below += job->is_below;
    tally->booked += job->is_booked;
    tally->held += job->state == SJOB_HELD;
    if (job->class_queue != CLASS_QUEUE_NONE)
        tally_waiting(sched, slot, tally);
}

/* ---- One job ---- */

/* Does its state agree with its holdings? */
static const char *check_state(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    uint32_t count[4] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++)
        count[sched_job_holding(job, i)->phase]++;
    bool is_booked = count[HOLDING_RUNNING] + count[HOLDING_STARTING] > 0;
    enum sched_job_state state = count[HOLDING_RUNNING] > 0   ? SJOB_RUNNING
                                 : is_booked                  ? SJOB_STARTING
                                 : count[HOLDING_CLAIMED] > 0 ? SJOB_CLAIMING
                                 : count[HOLDING_LEAVING] > 0 ? SJOB_EVICTING
                                 : job->state == SJOB_HELD    ? SJOB_HELD
                                                              : SJOB_PENDING;
    if (job->state != state || job->is_booked != is_booked)
        return "a job's state disagrees with its holdings";
    if (sched->policy.preemption->evicts && job->is_listed != (is_booked && request_class->is_preemptible))
        return "the wrong jobs may be victims";
    if (job->is_below && (!is_booked || (job->fill != FILL_BELOW && count[HOLDING_CLAIMED] == 0)))
        return "a job that has its minimum is listed as below it";
    if (!job->is_below && is_booked && job->fill == FILL_BELOW)
        return "a job that lacks its minimum is not listed as below it";
    return NULL;
}

static struct gang_view view_of(const struct sched *sched, const struct sched_job *job)
{
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    return (struct gang_view){.groups = request_class->groups,
                              .sets = request_class->set_count > 0 ? request_class->sets : NULL,
                              .held = job->held_more != NULL ? job->held_more : &job->held_one,
                              .group_count = request_class->group_count,
                              .set_count = request_class->set_count,
                              .min_sets = request_class->min_sets};
}

/* The allocation step that it should ask for; false: none.  It does not ask again for members that are still leaving.
 */
static bool find_step(const struct sched *sched, const struct sched_job *job, const struct gang_view *view,
                      uint32_t step[])
{
    struct gang_view grown = *view;
    uint32_t there[JOB_GROUPS_MAX];
    bool is_spare = true;
    for (uint32_t g = 0; g < view->group_count; g++) {
        there[g] = view->held[g];
        for (uint32_t i = 0; i < job->holding_count; i++) {
            const struct holding *holding = sched_job_holding(job, i);
            if (holding->phase == HOLDING_LEAVING && holding->piece.group == g)
                there[g] += holding->piece.member_count;
        }
    }
    if (job->fill != FILL_BELOW)
        grown.held = there;
    if (!sched->policy.gang->next(&grown, step))
        return false;
    for (uint32_t g = 0; g < view->group_count; g++)
        is_spare &= there[g] + step[g] <= view->groups[g].count;
    return is_spare;
}

/* Is it in the right class queue, with the right request? */
static const char *check_waiting(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    const struct gang_view view = view_of(sched, job);
    uint32_t step[JOB_GROUPS_MAX];
    bool may_wait = job->state != SJOB_HELD && job->state != SJOB_EVICTING;
    for (uint32_t i = 0; i < job->holding_count; i++)
        may_wait &= sched_job_holding(job, i)->phase != HOLDING_CLAIMED;
    if (job->fill != gang_fill(&view))
        return "a job is fuller or emptier than it is said to be";
    bool wants =
        may_wait && !(request_class->is_rigid && job->fill != FILL_BELOW) && find_step(sched, job, &view, step);
    if (wants != (job->class_queue != CLASS_QUEUE_NONE))
        return wants ? "a job that lacks members does not wait" : "a job waits for nothing";
    if (!wants)
        return NULL;
    const struct class_queue *class_queue = &sched->pending.class_queues[job->class_queue];
    if (class_queue->leaf_queue != (is_flat(sched) ? QUEUE_ROOT : job->queue) ||
        class_queue->request_class != job->ask ||
        class_queue->limited_by != (is_flat(sched) ? queue_tree_limited_by(&sched->tree, job->queue) : QUEUE_ROOT))
        return "a job waits in a class queue of others";
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (sched->request_classes.at[job->ask].groups[g].count != step[g])
            return "a job asks for more or less than its next allocation step";
    if (pending_compare(&sched->pending, pending_head(&sched->pending, job->class_queue), slot) > 0)
        return "the head of a class queue is not its first";
    return NULL;
}

static const char *check_job(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    uint32_t members[JOB_GROUPS_MAX] = {0}, open = 0;
    uint64_t rank[ORDER_CHAIN_MAX];
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct piece *piece = &sched_job_holding(job, i)->piece;
        uint8_t phase = sched_job_holding(job, i)->phase;
        if (phase != HOLDING_LEAVING)
            members[piece->group] += piece->member_count;
        for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1)
            if (phase != HOLDING_LEAVING && piece->gpu_milli == GPU_MILLI &&
                request_class->groups[piece->group].request.mig == 0 &&
                sched->ledger->owner[sched->cluster->nodes[piece->node].first_gpu + (uint32_t)__builtin_ctz(mask)] !=
                    slot)
                return "a whole GPU does not belong to the job that holds it";
    }
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if ((job->held_more != NULL ? job->held_more[g] : job->held_one) != members[g])
            return "a job's members differ from its holdings";
    if (job->state == SJOB_HELD)
        open = eligible_dependency_count(sched, job->id);
    if (job_table_find(&sched->jobs, job->id) != slot || open != sched->jobs.facts[slot].after_left)
        return "a job is not found, or waits for more or fewer than it says";
    if (sched->ranks.are_fixed) {
        sched_rank_as(sched, slot, job->fill, rank);
        for (uint32_t r = 0; r < sched->policy.order_count; r++)
            if (rank[r] != job->rank[r])
                return "a rank that is fixed has moved";
    }
    if (sched->ranks.need_service && sched->jobs.facts[slot].is_serving != (job->state == SJOB_RUNNING))
        return "a job runs whose time is not counted, or the reverse";
    const char *broken = sched_job_check(job);
    broken = broken != NULL ? broken : check_state(sched, slot);
    return broken != NULL ? broken : check_waiting(sched, slot);
}

/* ---- Space ---- */

static const char *check_cells(const struct sched *sched, node_id node, const struct tally *tally)
{
    const struct ledger *ledger = sched->ledger;
    const struct node_type *type = cluster_node_type(sched->cluster, node);
    uint32_t non_preemptible = 0;
    gpu_id first = sched->cluster->nodes[node].first_gpu;
    uint32_t room = 0;
    for (gpu_id g = first; g < first + type->gpu_count; g++) {
        const struct gpu_cell *cell = &ledger->gpus[g];
        const struct gpu_tally *gpu = &tally->gpus[g];
        if ((uint32_t)cell->free + cell->coming + gpu->staying_milli != GPU_MILLI ||
            (uint32_t)cell->coming + cell->claimed != gpu->leaving_milli + ledger_making_milli(ledger, g) ||
            cell->holders != gpu->holders)
            return "what jobs hold of a GPU differs from its cell";
        const char *broken = ledger->shares == NULL ? NULL : check_share(&ledger->shares[g], &gpu->share);
        if (broken != NULL)
            return broken;
        if (ledger->keeps[g].non_preemptible_holders != gpu->non_preemptible ||
            ledger->keeps[g].non_preemptible_milli != gpu->non_preemptible_milli)
            return "jobs on a GPU that cannot be preempted are miscounted";
        non_preemptible |= (uint32_t)(gpu->non_preemptible > 0) << (g - first);
        if (sched->policy.preemption->evicts && sched->preemption_bound.unmovable[g] != gpu->unmovable)
            return "jobs on a GPU that will never go are miscounted";
        room += gpu->unmovable == 0;
    }
    if (ledger->non_preemptible_mask[node] != non_preemptible)
        return "GPUs with jobs that cannot be preempted are not known as such";
    if (sched->policy.preemption->evicts && sched->preemption_bound.room[node] != room)
        return "GPUs that evictions could free are miscounted";
    const struct node_cell *cell = &ledger->nodes[node];
    const struct node_tally *sums = &tally->nodes[node];
    if (ledger->node_shares != NULL && check_share(&ledger->node_shares[node], &sums->share) != NULL)
        return check_share(&ledger->node_shares[node], &sums->share);
    uint64_t tasks_max = type->max_tasks != 0 ? type->max_tasks : UINT32_MAX;
    if (cell->cpu_free + cell->cpu_coming + sums->staying[RESOURCE_CPU] != type->cpu_milli ||
        cell->cpu_coming + cell->cpu_claimed != sums->leaving[RESOURCE_CPU] ||
        cell->memory_free + cell->memory_coming + sums->staying[RESOURCE_MEMORY] != type->memory_mib ||
        cell->memory_coming + cell->memory_claimed != sums->leaving[RESOURCE_MEMORY])
        return "what jobs hold of a node differs from its cell";
    if (ledger->limits_tasks && (cell->tasks_free + cell->tasks_coming + sums->staying[RESOURCE_GPU] != tasks_max ||
                                 cell->tasks_coming + cell->tasks_claimed != sums->leaving[RESOURCE_GPU]))
        return "the tasks on a node are miscounted";
    return NULL;
}

/* The counts of nodes by preemption bound. */
static const char *check_room(const struct sched *sched)
{
    const struct preemption_bound *preemption_bound = &sched->preemption_bound;
    for (uint32_t i = 0; i < sched->cluster->type_count * (NODE_GPUS_MAX + 1); i++) {
        uint32_t nodes = 0;
        for (node_id n = 0; n < sched->cluster->node_count; n++)
            nodes += sched->cluster->nodes[n].type * (NODE_GPUS_MAX + 1) + preemption_bound->room[n] == i;
        if (nodes != preemption_bound->by_room[i])
            return "nodes that evictions could empty are miscounted";
    }
    return NULL;
}

/* ---- Queues and class queues ---- */

static const char *check_line(const struct sched *sched, queue_id leaf_queue, const struct queue_tally *queue)
{
    const struct pending *pending = &sched->pending;
    uint32_t first = pending_first(pending, leaf_queue), next = pending_next(pending, leaf_queue);
    if ((first == CLASS_QUEUE_NONE ? SLOT_NONE : pending_head(pending, first)) != queue->first_slot)
        return "the first class queue of a leaf queue is wrong";
    uint32_t due = queue->next_slot;
    if (pending->is_strict && due != queue->first_slot)
        due = SLOT_NONE;
    if ((next == CLASS_QUEUE_NONE ? SLOT_NONE : pending_head(pending, next)) != due)
        return "the next class queue of a leaf queue is wrong";
    return pending->leaf_queues[leaf_queue].job_count == queue->in_line ? NULL : "a leaf queue is miscounted";
}

/* The list of child queues in which jobs wait. */
static const char *check_children(const struct sched *sched, queue_id q, const struct tally *tally)
{
    const struct queue_waits *waits = sched->tree.waits;
    uint32_t listed = 0, busy = 0;
    for (queue_id c = sched->tree.queues[q].first_child; c != QUEUE_NONE; c = sched->tree.queues[c].next_sibling)
        busy += tally->queues[c].waiting > 0;
    for (queue_id c = waits[q].first; c != QUEUE_NONE && listed <= busy; c = waits[c].next) {
        listed++;
        if (sched->tree.queues[c].parent != q || tally->queues[c].waiting == 0 ||
            (waits[c].next != QUEUE_NONE && waits[waits[c].next].previous != c))
            return "a queue without waiting jobs is listed as waiting";
    }
    return listed == busy ? NULL : "a queue where jobs wait is not listed";
}

static const char *check_queue(const struct sched *sched, queue_id q, const struct tally *tally)
{
    const char *broken = is_flat(sched) ? NULL : check_children(sched, q, tally);
    const struct queue_tally *queue = &tally->queues[q];
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        if (queue->charged[r] != sched->ledger->sums[q][r])
            return "what jobs hold differs from what their queue is charged";
    for (int r = 0; r < RESOURCE_COUNT && queue_tree_is_asked(&sched->tree); r++)
        if (queue->demand[r] != sched->tree.queues[q].demand[r])
            return "what jobs ask differs from the demand of their queue";
    if (!is_flat(sched) && queue->waiting != sched->tree.waits[q].jobs)
        return "jobs that wait below a queue are miscounted";
    const struct slot_list *listed = &sched->lists.running[q];
    if (listed->count != queue->listed)
        return "possible victims are miscounted";
    for (uint32_t i = 0; i < listed->count; i++) {
        const struct sched_job *job = &sched->jobs.jobs[listed->slots[i]];
        if (job->list_position != i || !job->is_listed || job->queue != q)
            return "a possible victim is listed in the wrong place";
    }
    return broken != NULL ? broken : check_line(sched, q, queue);
}

static const char *check_over_quota(const struct sched *sched, uint32_t id)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[id];
    const struct leaf_queue *leaf_queue = &sched->pending.leaf_queues[class_queue->owed_by];
    if (sched->headroom.owners_milli == 0)
        return "a class queue borrows though nothing is kept for owners";
    if (sched_is_entitled(sched, pending_head(&sched->pending, id)))
        return "a class queue is kept from what its queue deserves";
    for (uint32_t b = 0; b < leaf_queue->over_quota_count; b++)
        if (leaf_queue->borrowers[b] == id)
            return NULL;
    return "a class queue over quota is not listed with its leaf queue";
}

static const char *check_class_queue(const struct sched *sched, uint32_t id, uint32_t jobs)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[id];
    const struct pending *pending = &sched->pending;
    const uint8_t class = pending->request_classes->at[class_queue->request_class].class;
    if (class_queue->count != jobs || class_queue->class != class ||
        (jobs > 0 &&
         (class_queue->busy_position >= pending->busy_count || pending->busy[class_queue->busy_position] != id ||
          class_queue->class_position >= pending->by_class_count[class] ||
          pending->by_class[class][class_queue->class_position] != id)))
        return "the jobs of a class queue are miscounted";
    if (class_queue->quota_block != QUEUE_NONE && !sched->tree.queues[class_queue->quota_block].has_closed_class_queues)
        return "a queue does not record that it closed class queues";
    if (id_marks_has(&pending->blocked, id) != (class_queue->quota_block != QUEUE_NONE) ||
        id_marks_has(&pending->brief, id) != class_queue->is_brief)
        return "a class queue that a limit closed is not known as such, or the reverse";
    return jobs > 0 && class_queue->is_over_quota ? check_over_quota(sched, id) : NULL;
}

/* ---- All together ---- */

/* The preemption cost of every possible victim of the queue is at least the queue's floor, now and later. */
static const char *check_floor(const struct sched *sched, queue_id q)
{
    const struct slot_list *listed = &sched->lists.running[q];
    if (q >= sched->candidates.queue_capacity || !sched->candidates.of_queue[q].is_floor_known)
        return NULL;
    for (uint32_t i = 0; i < listed->count; i++) {
        if (listed->slots[i] >= sched->candidates.job_capacity)
            return "the floor of a queue is known, but not the preemption cost of each of its jobs";
        struct victim_candidate candidate = sched->candidates.of_job[listed->slots[i]];
        struct preemption_cost preemption_cost = candidates_cost(&candidate, sched->now);
        int64_t least = candidate.has_surplus                    ? 0
                        : preemption_cost.saved_at != TIME_NEVER ? preemption_cost.least_gpu_ns
                                                                 : preemption_cost.loss_gpu_ns;
        if (!candidate.is_known || (!candidate.is_spent && least < sched->candidates.of_queue[q].floor_gpu_ns))
            return "the preemption cost of a job is below the floor of its queue";
    }
    return NULL;
}

static const char *check_lists(const struct sched *sched, const struct tally *tally)
{
    const struct pending *pending = &sched->pending;
    uint32_t closed = 0, closing = 0;
    for (queue_id q = 0; q < sched->tree.count; q++)
        closing += sched->tree.queues[q].has_closed_class_queues;
    if (closing != sched->tree.closing_count)
        return "queues that keep class queues waiting are miscounted";
    for (uint32_t s = 0; s < sched->request_classes.count; s++) {
        closed += sched->request_classes.at[s].closed != 0;
        if ((request_class_next_closed(&sched->request_classes, s) == s) != (sched->request_classes.at[s].closed != 0))
            return "an open request class is listed as closed, or the reverse";
    }
    if (closed != sched->request_classes.closed_count)
        return "closed request classes are miscounted";
    for (uint32_t i = 0; i < sched->lists.below_count; i++)
        if (!sched->jobs.jobs[sched->lists.below[i]].is_below)
            return "a job is listed as below its minimum that is not";
    for (uint32_t c = 0; c < sched->claims.count; c++)
        if (sched->jobs.jobs[sched->claims.slots[c]].state == SJOB_NONE)
            return "a claim belongs to no job";
    if (tally->below != sched->lists.below_count || tally->claiming != sched->claims.count ||
        tally->held != sched->lists.held_count || tally->booked != sched->lists.booked_count ||
        tally->leaving != sched->lists.leaving_count || tally->leaving_firm != sched->lists.leaving_firm_count ||
        tally->claimed_milli != sched->claims.piece_milli)
        return "jobs of some state are miscounted";
    for (uint8_t c = 0; c < JOB_CLASS_COUNT; c++) {
        uint32_t next = pending_next_of_class(pending, c);
        if (tally->of_class[c] != pending->class_jobs[c] ||
            (next == CLASS_QUEUE_NONE ? SLOT_NONE : pending_head(pending, next)) != tally->next_of_class[c])
            return "the next of a class is another";
    }
    return tally->waiting == pending->job_count ? NULL : "jobs that wait are miscounted";
}

/* Scratch state is reset after each call. */
static const char *check_scratch(const struct sched *sched)
{
    const struct ledger *ledger = sched->ledger;
    bool is_left = ledger->mark_depth != 0 || ledger->log_count != 0;
    for (size_t q = 0; q < sched->queue_selection.capacity; q++)
        is_left |= sched->queue_selection.marks[q].is_marked;
    return is_left ? "something is left of a trial" : NULL;
}

static const char *check_tally(const struct sched *sched, const struct tally *tally)
{
    const char *broken = check_lists(sched, tally);
    for (node_id n = 0; n < sched->cluster->node_count && broken == NULL; n++)
        broken = check_cells(sched, n, tally);
    for (queue_id q = 0; q < sched->tree.count && broken == NULL; q++)
        broken = check_queue(sched, q, tally);
    for (queue_id q = 0; q < sched->tree.count && broken == NULL; q++)
        broken = check_floor(sched, q);
    for (uint32_t l = 0; l < sched->pending.class_queue_count && broken == NULL; l++)
        broken = check_class_queue(sched, l, tally->class_queue_jobs[l]);
    if (broken == NULL && sched->policy.preemption->evicts)
        broken = check_room(sched);
    broken = broken != NULL ? broken : tags_check(sched);
    return broken != NULL ? broken : check_scratch(sched);
}

const char *sched_check(const struct sched *sched)
{
    struct tally tally;
    const char *broken = ledger_check(sched->ledger);
    tally_open(sched, &tally);
    for (uint32_t s = 0; s < sched->jobs.used && broken == NULL; s++)
        if (sched->jobs.jobs[s].state != SJOB_NONE) {
            tally_job(sched, s, &tally);
            broken = check_job(sched, s);
        }
    broken = broken != NULL ? broken : check_tally(sched, &tally);
    OBSERVERS_EACH(sched, check, each)
    broken = broken != NULL ? broken : each->hooks->check(sched, each->own);
    if (broken == NULL && sched->policy.quota->homes.check != NULL)
        broken = sched->policy.quota->homes.check(&sched->tree);
    arena_release(&tally.arena);
    return broken;
}

uint64_t sched_hash(const struct sched *sched)
{
    return ledger_hash(sched->ledger);
}
