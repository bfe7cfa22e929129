/* Repartitions GPUs for jobs that find no place.
 *
 * To cut a GPU is to change its MIG layout, or to make it whole.  The seam is policies/geometry/geometry.h.
 *
 * Laws: a GPU is cut only if every instance that is destroyed is free, no other cut of it is open, and it has rested
 * since the last one.  The job that a GPU is cut for claims what is made.  No more GPUs are cut within an hour than the
 * policy allows.
 *
 *   choose   in a trial of the ledger, cut one GPU after another until the job fits
 *   check    do the headroom, planned starts allow it?
 *   book     append a REPARTITION for each cut; the job claims its space and starts when the cuts are done
 */
#include <assert.h>
#include <string.h>

#include "policies/booking/booking.h"
#include "policies/booking/told.h"
#include "policies/eviction/eviction.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/repartition/repartition_book.h"
#include "policies/repartition/repartition_places.h"
#include "policies/reservation/reservation.h"
#include "policies/state/headroom.h"
#include "policies/state/sched_state.h"

/* ---- An instance ---- */

/* The layout of the GPU with the new instance.  Instances in use stay; free ones stay where there is still space. */
static struct gpu_cut cut_with(const struct sched *sched, const struct repartition_spot *choice,
                               enum mig_profile_id profile)
{
    const struct ledger *ledger = sched->ledger;
    const struct gpu_cut before = ledger_cut_of(ledger, choice->gpu);
    struct gpu_cut cut = {.is_partitioned = true};
    cut.layout.profile[choice->start] = (uint8_t)(profile + 1);
    for (uint32_t s = 0; before.is_partitioned && s < MIG_SLICES; s++)
        if (before.layout.profile[s] != 0 && !(ledger->migs[choice->gpu].free >> s & 1))
            cut.layout.profile[s] = before.layout.profile[s];
    for (uint32_t s = 0; before.is_partitioned && s < MIG_SLICES; s++) {
        const enum mig_profile_id old = (enum mig_profile_id)(before.layout.profile[s] - 1);
        if (before.layout.profile[s] == 0 || !(ledger->migs[choice->gpu].free >> s & 1) ||
            !(mig_layout_room(&cut.layout).starts[old] >> s & 1))
            continue;
        cut.layout.profile[s] = before.layout.profile[s];
    }
    return cut;
}

/* ---- A plan ---- */

/* Add the cut to the plan; in the trial it is done at once. */
static void order_cut(struct sched *sched, gpu_id gpu, const struct gpu_cut *cut)
{
    struct repartition_book *book = sched->repartitions;
    uint32_t at = 0;
    while (at < book->plan_count && book->plan[at].gpu != gpu)
        at++;
    book->plan[at] = (struct repartition_order){gpu, *cut};
    book->plan_count += at == book->plan_count;
    ledger_repartition(sched->ledger, gpu, cut, true);
}

static bool make_instance(struct sched *sched, const struct request *request)
{
    struct repartition_spot best;
    if (!repartition_places_best(sched, request, &best))
        return false;
    const struct gpu_cut cut = cut_with(sched, &best, (enum mig_profile_id)(request->mig - 1));
    order_cut(sched, best.gpu, &cut);
    return true;
}

/* Make GPUs whole on the node that lacks the fewest for the request. */
static bool make_whole(struct sched *sched, const struct request *request)
{
    const struct gpu_cut whole = {.is_partitioned = false};
    struct repartition_spot best;
    if (!repartition_places_best(sched, request, &best))
        return false;
    uint32_t lacking = (uint32_t)-best.score;
    if (sched->repartitions->plan_count + lacking > REPARTITIONS_PER_PLAN)
        return false;
    for (; lacking > 0; lacking--, best.gpu_mask &= (uint16_t)(best.gpu_mask - 1))
        order_cut(sched, best.gpu + (uint32_t)__builtin_ctz(best.gpu_mask), &whole);
    return true;
}

/* The request of the first group that lacks instances, else of the first group that a cut could help; NULL: none. */
static const struct request *next_wish(struct sched *sched, const struct request_class *ask)
{
    const struct request *wanted = NULL;
    for (uint32_t g = 0; g < ask->group_count; g++) {
        const struct job_group *group = &ask->groups[g];
        if (group->count == 0 || (group->request.mig == 0 && group->request.gpus == 0))
            continue;
        wanted = wanted == NULL ? &group->request : wanted;
        if (group->request.mig != 0 && repartition_places_instances(sched, &group->request) < group->count)
            return &group->request;
    }
    return wanted;
}

/* Make one cut, or the cuts on one node, that the job needs.  False: there is none. */
static bool make_more(struct sched *sched, const struct request_class *ask)
{
    const struct request *wanted = next_wish(sched, ask);
    if (wanted == NULL || sched->repartitions->plan_count == REPARTITIONS_PER_PLAN)
        return false;
    return wanted->mig != 0 ? make_instance(sched, wanted) : make_whole(sched, wanted);
}

/* In the trial, cut GPUs until the job is placed. */
static bool plan_cuts(struct sched *sched, uint32_t slot)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    for (uint32_t step = 0; step < REPARTITIONS_PER_PLAN && make_more(sched, ask); step++) {
        size_t mark = ledger_mark(sched->ledger);
        if (sched_place(sched, slot, &sched->repartitions->pieces)) {
            ledger_commit(sched->ledger, mark);
            return true;
        }
        ledger_rollback(sched->ledger, mark);
    }
    return false;
}

/* ---- Booking ---- */

/* If all of a node must be free for a cut, keep new jobs off the node until the cut is done. */
static void keep_node(struct sched *sched, node_id node)
{
    if (sched->policy.geometry_config.needs == RECUT_NODE && !sched->ledger->is_kept[node])
        ledger_keep_node(sched->ledger, node, true);
}

/* Is the node kept from new jobs until a GPU of it is cut? */
static bool needs_node(const struct sched *sched, node_id node)
{
    if (sched->policy.geometry_config.needs != RECUT_NODE || sched->ledger->node_state[node] != NODE_UP)
        return false;
    for (uint32_t i = 0; i < sched->repartitions->count; i++)
        if (sched->ledger->index->gpu_node[sched->repartitions->open[i].gpu] == node)
            return true;
    return false;
}

static void review_node(struct sched *sched, node_id node)
{
    if (sched->policy.geometry_config.needs == RECUT_NODE && sched->ledger->is_kept[node] != needs_node(sched, node))
        ledger_keep_node(sched->ledger, node, !sched->ledger->is_kept[node]);
}

static void tell_cut(struct sched *sched, uint32_t slot, const struct repartition_order *order)
{
    struct repartition_book *book = sched->repartitions;
    const node_id node = sched->ledger->index->gpu_node[order->gpu];
    const uint32_t index = order->gpu - sched->cluster->nodes[node].first_gpu;
    struct decision *decision = sched_decide(sched, DECISION_REPARTITION, slot);
    const struct piece piece = {.node = node, .gpu_mask = (uint16_t)(1u << index), .gpu_milli = GPU_MILLI};
    decision->layout = order->cut.is_partitioned ? mig_layout_of(&order->cut.layout) : MIG_LAYOUT_WHOLE;
    const decision_id id = decision->id;
    sched_tell_piece(sched, &piece);
    MEM_GROW(book->open, book->capacity, (size_t)book->count + 1);
    book->open[book->count++] = (struct recut){id, order->gpu, ledger_cut_of(sched->ledger, order->gpu)};
    ledger_repartition(sched->ledger, order->gpu, &order->cut, false);
    book->cut_at[order->gpu] = sched->now + 1;
    keep_node(sched, node);
    book->told++;
}

/* A version of all that may make a cut possible: space grew, or the tags that the job's rules read have changed.  Both
 * counts only rise. */
static uint64_t room_version(const struct sched *sched, const struct request_class *ask)
{
    const struct ledger *ledger = sched->ledger;
    const bool minds_tags = ask->tags != NULL && ledger->tags != NULL;
    return ledger->growth_count + (minds_tags ? ledger->tags->version : 0);
}

/* A cut failed: it is not tried again before room_version changes, unless a GPU rests that might help later. */
static void note_failure(const struct sched *sched, struct request_class *ask)
{
    if (sched->repartitions->rested_at == TIME_NEVER)
        ask->recut_seen = room_version(sched, ask);
}

/* Cut GPUs for the job, which is the head of a class queue, if that makes it fit. */
static bool cut_for(struct sched *sched, uint32_t slot)
{
    struct repartition_book *book = sched->repartitions;
    const struct free_space before = headroom_free(sched);
    book->plan_count = 0;
    size_t mark = ledger_mark(sched->ledger);
    bool is_good = plan_cuts(sched, slot);
    if (!is_good)
        note_failure(sched, sched_ask(sched, &sched->jobs.jobs[slot]));
    is_good = is_good && (headroom_spares(sched, slot, before) == 0 || headroom_is_for(sched, slot)) &&
              (!sched->reserves || reserve_is_clear(sched, slot, &sched->repartitions->pieces));
    ledger_rollback(sched->ledger, mark);
    if (!is_good)
        return false;
    for (uint32_t i = 0; i < book->plan_count; i++)
        tell_cut(sched, slot, &book->plan[i]);
    sched_claim(sched, slot, &book->pieces, SOURCE_FREE);
    headroom_close(sched);
    return true;
}

/* ---- Which class queues may ask ---- */

static bool could_help(const struct sched *sched, const struct request_class *ask)
{
    for (uint32_t g = 0; g < ask->group_count; g++)
        if (ask->groups[g].count > 0 && (ask->groups[g].request.mig != 0 || ask->groups[g].request.gpus != 0))
            return ask->recut_seen != room_version(sched, ask);
    return false;
}

/* Does the class queue wait, and could a cut help its head? */
static bool asks_for_cut(const struct sched *sched, uint32_t class_queue_id)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    const struct request_class *ask = &sched->request_classes.at[class_queue->request_class];
    return class_queue->count > 0 && class_queue->quota_block == QUEUE_NONE && ask->closed & REQUEST_CLASS_BLOCKED &&
           could_help(sched, ask) &&
           !(sched->pending.is_strict && pending_first(&sched->pending, class_queue->leaf_queue) != class_queue_id);
}

static bool is_forbidden(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return queue_tree_forbids(&sched->tree, job->queue, sched_ask(sched, job)->charge) != QUEUE_NONE;
}

static void drop_class_queue(struct repartition_book *book, uint32_t *count, uint32_t class_queue)
{
    uint32_t at = 0;
    while (book->class_queues[at] != class_queue)
        at++;
    book->class_queues[at] = book->class_queues[--*count];
}

/* Can a GPU be cut for the request class? */
enum hope { HOPE_UNKNOWN, HOPE_SOME, HOPE_NONE };

static bool has_hope(const struct sched *sched, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sched->repartitions
                ->hopes[sched->pending.class_queues[sched->repartitions->class_queues[i]].request_class] != HOPE_NONE)
            return true;
    return false;
}

/* Find for which of the class queues a GPU could be cut.  If some GPU rests it stays unknown: each class queue is then
 * tried in turn, which finds the end of the rest.  Without it, a day of scenarios/mig-inference.json at a load of 1.2,
 * with `wait_s` 300 and `needs` gpu, takes 2.5 times the instructions. */
static void find_hopes(struct sched *sched, uint32_t count)
{
    struct repartition_book *book = sched->repartitions;
    const time_ns rested_at = book->rested_at;
    struct repartition_spot spot;
    MEM_GROW(book->hopes, book->hope_capacity, (size_t)sched->request_classes.count);
    memset(book->hopes, HOPE_UNKNOWN, sched->request_classes.count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t request_class = sched->pending.class_queues[book->class_queues[i]].request_class;
        if (book->hopes[request_class] != HOPE_UNKNOWN)
            continue;
        const struct request *wanted = next_wish(sched, &sched->request_classes.at[request_class]);
        book->hopes[request_class] =
            wanted != NULL && repartition_places_best(sched, wanted, &spot) ? HOPE_SOME : HOPE_NONE;
    }
    if (book->rested_at != TIME_NEVER)
        memset(book->hopes, HOPE_UNKNOWN, sched->request_classes.count);
    book->rested_at = rested_at;
}

/* Cut GPUs for the head of the class queue.  True: it was done, and the next head may ask. */
static bool try_class_queue(struct sched *sched, uint32_t class_queue, uint32_t count)
{
    struct repartition_book *book = sched->repartitions;
    const uint32_t slot = pending_head(&sched->pending, class_queue);
    const uint32_t request_class = sched->jobs.jobs[slot].ask;
    if (is_forbidden(sched, slot))
        return false;
    if (book->hopes[request_class] == HOPE_NONE) {
        note_failure(sched, &sched->request_classes.at[request_class]);
        return false;
    }
    if (!cut_for(sched, slot)) {
        if (book->plan_count == 0)
            book->hopes[request_class] = HOPE_NONE;
        return false;
    }
    find_hopes(sched, count);
    return asks_for_cut(sched, class_queue);
}

/* The order of the queue selection matters only while a cut is possible for some class queue.  The others only note
 * their failure, in any order. */
static void act(struct sched *sched, void *own)
{
    struct repartition_book *book = own;
    const struct pending *pending = &sched->pending;
    uint32_t count = 0;
    if (pending->job_count == 0)
        return;
    book->rested_at = TIME_NEVER;
    MEM_GROW(book->class_queues, book->class_queue_capacity, (size_t)pending->busy_count + 1);
    for (uint32_t b = 0; b < pending->busy_count; b++)
        if (asks_for_cut(sched, pending->busy[b]))
            book->class_queues[count++] = pending->busy[b];
    if (count > 0)
        find_hopes(sched, count);
    while (count > 0 && has_hope(sched, count)) {
        const uint32_t class_queue =
            queue_selection_best(&sched->tree, &sched->pending, book->class_queues, count, &sched->queue_selection);
        if (!try_class_queue(sched, class_queue, count))
            drop_class_queue(book, &count, class_queue);
    }
    for (; count > 0; count--)
        try_class_queue(sched, book->class_queues[count - 1], count);
}

static time_ns next_wake(const struct sched *sched, const void *own)
{
    const struct repartition_book *book = own;
    return sched->pending.job_count > 0 ? book->rested_at : TIME_NEVER;
}

/* ---- Facts ---- */

static void close_recut(struct repartition_book *book, uint32_t at)
{
    for (book->count--; at < book->count; at++)
        book->open[at] = book->open[at + 1];
}

static bool is_same_cut(const struct gpu_cut *a, const struct gpu_cut *b)
{
    return a->is_partitioned == b->is_partitioned &&
           (!a->is_partitioned || memcmp(&a->layout, &b->layout, sizeof a->layout) == 0);
}

/* May the GPU get this layout: is every instance that goes free? */
static bool is_possible(const struct ledger *ledger, gpu_id gpu, const struct gpu_cut *cut)
{
    const struct gpu_cut now = ledger_cut_of(ledger, gpu);
    if (ledger->migs == NULL || ledger->migs[gpu].making != 0)
        return false;
    if (!now.is_partitioned || !cut->is_partitioned)
        return ledger->gpus[gpu].free == GPU_MILLI;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (now.layout.profile[s] != 0 && now.layout.profile[s] != cut->layout.profile[s] &&
            !(ledger->migs[gpu].free >> s & 1))
            return false;
    return true;
}

static void done(struct sched *sched, gpu_id gpu, const struct gpu_cut *cut)
{
    struct repartition_book *book = sched->repartitions;
    const struct gpu_cut now = ledger_cut_of(sched->ledger, gpu);
    for (uint32_t i = 0; book != NULL && i < book->count; i++)
        if (book->open[i].gpu == gpu && is_same_cut(&now, cut)) {
            close_recut(book, i);
            ledger_made(sched->ledger, gpu);
            review_node(sched, sched->ledger->index->gpu_node[gpu]);
            return;
        }
    if (is_same_cut(&now, cut) || !is_possible(sched->ledger, gpu, cut))
        return;
    ledger_repartition(sched->ledger, gpu, cut, true);
    ledger_note_growth(sched->ledger, sched->ledger->index->gpu_node[gpu]);
}

void sched_gpu_changed(struct sched *sched, node_id node, uint32_t gpu_index, mig_layout_id layout, time_ns now)
{
    struct gpu_cut cut = {.is_partitioned = layout != MIG_LAYOUT_WHOLE};
    if (!told_in_time(sched, now) || !told_well(sched, told_layout(sched, node, gpu_index, layout)))
        return;
    sched_begin_fact(sched, now);
    if (cut.is_partitioned)
        cut.layout = mig_layout_get(layout);
    done(sched, sched->cluster->nodes[node].first_gpu + gpu_index, &cut);
}

/* Drop the claims of jobs on instances that were to be made on the GPU. */
static void drop_claims_of(struct sched *sched, gpu_id gpu)
{
    const node_id node = sched->ledger->index->gpu_node[gpu];
    const uint16_t bit = (uint16_t)(1u << (gpu - sched->cluster->nodes[node].first_gpu));
    for (uint32_t c = sched->claims.count; c-- > 0;) {
        const uint32_t slot = sched->claims.slots[c];
        const struct sched_job *job = &sched->jobs.jobs[slot];
        bool is_there = false;
        for (uint32_t i = 0; i < job->holding_count; i++) {
            const struct holding *holding = sched_job_holding(job, i);
            is_there |= holding->phase == HOLDING_CLAIMED && holding->piece.node == node &&
                        (holding->piece.gpu_mask & bit) != 0;
        }
        if (is_there)
            sched_drop_claim(sched, slot);
    }
}

static void on_renamed(struct sched *sched, void *own, decision_id was, decision_id is)
{
    struct repartition_book *book = own;
    (void)sched;
    for (uint32_t i = 0; i < book->count; i++)
        if (book->open[i].decision == was)
            book->open[i].decision = is;
}

static decision_id find_open(const struct sched *sched, const void *own, uint64_t number)
{
    const struct repartition_book *book = own;
    (void)sched;
    for (uint32_t i = 0; i < book->count; i++)
        if (decision_number(book->open[i].decision) == number)
            return book->open[i].decision;
    return 0;
}

/* The GPU keeps its layout, and jobs that claimed the new instances wait again. */
static bool on_refused(struct sched *sched, void *own, decision_id decision, time_ns now)
{
    struct repartition_book *book = own;
    uint32_t at = 0;
    while (at < book->count && book->open[at].decision != decision)
        at++;
    if (at == book->count)
        return false;
    const struct recut recut = book->open[at];
    sched_begin_fact(sched, now);
    close_recut(book, at);
    drop_claims_of(sched, recut.gpu);
    ledger_made(sched->ledger, recut.gpu); /* nothing is in use, so the old layout can come back */
    if (is_possible(sched->ledger, recut.gpu, &recut.before))
        ledger_repartition(sched->ledger, recut.gpu, &recut.before, true);
    review_node(sched, sched->ledger->index->gpu_node[recut.gpu]);
    return true;
}

static void on_node(struct sched *sched, void *own, node_id node, bool has_turned)
{
    (void)own, (void)has_turned;
    review_node(sched, node);
}

static void *repartitions_init(struct sched *sched)
{
    if (sched->policy.geometry->score == NULL)
        return NULL;
    sched->repartitions = mem_zalloc(1, sizeof *sched->repartitions);
    sched->ledger->recuts = sched->request_classes.recuts = true;
    sched->repartitions->cut_at = mem_zalloc(sched->cluster->gpu_count, sizeof *sched->repartitions->cut_at);
    return sched->repartitions;
}

static void repartitions_release(struct sched *sched, void *own)
{
    struct repartition_book *book = own;
    (void)sched;
    mem_free(book->open);
    mem_free(book->cut_at);
    mem_free(book->class_queues);
    piece_list_release(&book->pieces);
    mem_free(book->hopes);
    repartition_places_free(book->places);
    mem_free(book);
}

static void count_cuts(const struct sched *sched, const void *own, struct sched_counts *counts)
{
    const struct repartition_book *book = own;
    (void)sched;
    counts->recuts = book->told;
}

static const char *repartitions_check(const struct sched *sched, const void *own)
{
    (void)own;
    for (node_id n = 0; n < sched->cluster->node_count; n++)
        if (needs_node(sched, n) != (sched->ledger->is_kept[n] != 0))
            return "a node is kept without a repartition, or the reverse";
    return repartition_places_check(sched);
}

const struct observer repartitions_observer = {.init = repartitions_init,
                                               .release = repartitions_release,
                                               .check = repartitions_check,
                                               .node_changed = on_node,
                                               .act = act,
                                               .wake = next_wake,
                                               .renamed = on_renamed,
                                               .refused = on_refused,
                                               .open = find_open,
                                               .count = count_cuts};
