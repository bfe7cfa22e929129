/* Jobs' requests as the scheduler treats them: the kind of piece (policies/sharing/sharing.h), and whether the request
 * can ever be met. */
#include <string.h>

#include "base/hash.h"
#include "policies/gang/gang.h"
#include "policies/order/order.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

void sched_share(const struct sched *sched, struct ledger *ledger)
{
    const struct sharing_config *config = &sched->policy.sharing_config;
    ledger_share(ledger, config->clients_max, config->isolation == ISOLATION_NODE);
}

/* Is the piece of the kind that a member with this request gets? */
static bool is_such_piece(const struct sched *sched, const struct request *request, const struct piece *piece)
{
    const struct node_type *type = cluster_node_type(sched->cluster, piece->node);
    const uint32_t share = request_class_share_milli(request, &sched->cluster->models[type->model]);
    const uint32_t gpus = bits_count16(piece->gpu_mask);
    if (request->mig != 0)
        return gpus == 1 && (ledger_layout_mask(sched->ledger, piece->node) & piece->gpu_mask) != 0;
    if (share != 0)
        return gpus == 1 && piece->gpu_milli == share && piece->share == request->share;
    return gpus == (uint32_t)request->gpus * piece->member_count && (gpus == 0 || piece->gpu_milli == GPU_MILLI);
}

struct job sched_shared_job(const struct sched *sched, const struct job *job, const struct piece *pieces,
                            uint32_t piece_count, struct job_group groups[])
{
    const struct sharing sharing = {.policy = sched->policy.sharing,
                                    .config = &sched->policy.sharing_config,
                                    .cluster = sched->cluster,
                                    .queues = sched->tree.table,
                                    .recuts = sched->ledger->recuts};
    struct job shared = *job;
    if (sched->ledger->shares == NULL)
        return shared;
    sharing_map(&sharing, job, groups);
    shared.first = groups[0];
    shared.more = groups + 1;
    for (uint32_t p = 0; p < piece_count; p++)
        if (!is_such_piece(sched, &groups[pieces[p].group].request, &pieces[p]))
            return *job;
    return shared;
}

uint32_t sched_request_class_shared(struct sched *sched, const struct job *job, const struct piece *pieces,
                                    uint32_t piece_count)
{
    struct job_group groups[JOB_GROUPS_MAX];
    const struct job shared = sched_shared_job(sched, job, pieces, piece_count, groups);
    return sched_request_class_for(sched, &shared);
}

/* Groups that each fit alone may not fit together, so all are placed in the empty cluster. */
static bool fits_empty(struct sched *sched, const struct request_class *request_class)
{
    if (sched->empty == NULL) {
        sched->empty = ledger_new(sched->cluster);
        sched->empty->placement = &sched->policy.placement_config;
        sched->empty->owns = sched->ledger->owns;
        if (sched->ledger->shares != NULL)
            sched_share(sched, sched->empty);
    }
    size_t mark = ledger_mark(sched->empty);
    const struct placement_request asked = {
        .policy = sched->policy.placement, .request_class = request_class, .stop = sched->stop};
    const bool fits = placement_place(sched->empty, &asked, &sched->pieces);
    ledger_rollback(sched->empty, mark);
    return fits || sched_is_stopped(sched); /* then nothing is proven */
}

/* Runs once per request class. */
static void prove_request_class(struct sched *sched, struct request_class *request_class)
{
    bool is_plain = request_class->group_count == 1 && request_class_goes_anywhere(request_class, sched->cluster);
    if (!is_plain && !request_class->never_fits && !sched->ledger->recuts)
        request_class->never_fits = !fits_empty(sched, request_class);
    request_class->is_proven = true;
}

/* True if the request class's minimum does not fit the empty cluster; the part above the minimum need not fit. */
static bool sched_never_fits(struct sched *sched, uint32_t request_class)
{
    struct request_class *whole = &sched->request_classes.at[request_class];
    if (!whole->is_rigid) {
        uint32_t step[JOB_GROUPS_MAX], none[JOB_GROUPS_MAX] = {0};
        struct gang_view view = {.groups = whole->groups,
                                 .sets = whole->set_count > 0 ? whole->sets : NULL,
                                 .held = none,
                                 .group_count = whole->group_count,
                                 .set_count = whole->set_count,
                                 .min_sets = whole->min_sets};
        if (!gang_minimum_step(&view, step))
            return false;
        uint32_t least = request_class_of_step(&sched->request_classes, sched->cluster, request_class, step, 0);
        whole = &sched->request_classes.at[least]; /* the table may have moved */
    }
    if (!whole->is_proven)
        prove_request_class(sched, whole);
    return whole->never_fits;
}

enum reason sched_refusal(struct sched *sched, uint32_t request_class)
{
    const struct request_class *whole = &sched->request_classes.at[request_class];
    if (sched->policy.sharing_config.refuses_gangs && whole->class == JOB_TRAINING && whole->is_gang_on_pieces)
        return REASON_GANG_ON_SLICES;
    return sched_never_fits(sched, request_class) ? REASON_NEVER_FITS : REASON_NONE;
}

/* GPUs that the piece is charged for, if the charge depends on their model. */
static int64_t placed_milli(const struct sched *sched, const struct request *request, const struct piece *piece)
{
    const struct node_type *type = cluster_node_type(sched->cluster, piece->node);
    if (request->mig == 0)
        return piece_milli(piece);
    return piece->member_count * request_gpu_milli(request, &sched->cluster->models[type->model]);
}

void sched_add_charge(const struct sched *sched, uint32_t slot, const struct piece *piece, int sign,
                      int64_t amounts[QUEUE_SUM_COUNT])
{
    const struct request_class *request_class = &sched->request_classes.at[sched->jobs.jobs[slot].request_class];
    const int64_t *each = request_class->member_charge[piece->group];
    const int64_t members = (int64_t)sign * piece->member_count;
    for (uint32_t r = 0; r < QUEUE_SUM_COUNT; r++)
        amounts[r] += members * each[r];
    if (!request_class->is_by_model)
        return;
    const int64_t more =
        sign * placed_milli(sched, &request_class->groups[piece->group].request, piece) - members * each[QUEUE_SUM_GPU];
    amounts[QUEUE_SUM_GPU] += more;
    amounts[RESOURCE_COUNT + QUEUE_SUM_GPU] += request_class->is_preemptible ? 0 : more;
}

/* The next allocation step while some members of the job are leaving.  Those members cannot start elsewhere before they
 * have left. */
static bool next_beside_leaving(struct sched *sched, uint32_t slot, struct gang_view *view, uint32_t step[])
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const uint32_t *held = view->held;
    uint32_t there[JOB_GROUPS_MAX];
    memcpy(there, held, view->group_count * sizeof *there);
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase == HOLDING_LEAVING)
            there[sched_job_holding(job, i)->piece.group] += sched_job_holding(job, i)->piece.member_count;
    if (gang_fill(view) != FILL_BELOW)
        view->held = there;
    if (!sched->policy.gang->next(view, step))
        return false;
    for (uint32_t g = 0; g < view->group_count; g++)
        if (there[g] + step[g] > view->groups[g].count)
            return false;
    return true;
}

/* Does the set (SET_NONE: the job) hold members that bind others of it to their domain?  Then `place` is a node of it.
 * A level that is only preferred decides what fits where several groups are placed one after another. */
static bool is_bound(const struct sched_job *job, const struct request_class *request_class, uint16_t set,
                     node_id *place)
{
    const struct topology_ask ask = set == SET_NONE ? request_class->topology : request_class->sets[set].topology;
    if (ask.required == 0 && (ask.preferred == 0 || request_class->group_count == 1))
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        uint16_t in = request_class->set_count > 0 ? request_class->groups[holding->piece.group].set : SET_NONE;
        while (in != set && in != SET_NONE)
            in = request_class->sets[in].parent;
        *place = holding->piece.node;
        if (in == set && holding->phase != HOLDING_LEAVING)
            return true;
    }
    return false;
}

/* Does each node where the job has members count, since it has rules of tags, slices, or needs a single node? */
static bool minds_nodes(const struct sched *sched, const struct request_class *request_class)
{
    bool minds = request_class->tags != NULL || sched->policy.placement->one_node == ONE_NODE_REQUIRED;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        minds |= request_class->groups[g].slice_members != 0;
    return minds;
}

/* The anchor of the job's next step: a hash of where the members that it holds bind that; and of its queue, where
 * request classes differ by queue. */
static uint64_t anchor_of(const struct sched *sched, uint32_t slot)
{
    const struct cluster *cluster = sched->cluster;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    uint64_t anchor = 0;
    for (uint32_t s = 0; job->holding_count > 0 && s <= request_class->set_count; s++) {
        const uint16_t set = s == request_class->set_count ? SET_NONE : (uint16_t)s;
        const struct topology_ask ask = set == SET_NONE ? request_class->topology : request_class->sets[set].topology;
        const uint8_t level = ask.preferred > ask.required ? ask.preferred : ask.required;
        node_id place;
        if (level <= cluster->level_count && is_bound(job, request_class, set, &place))
            anchor = hash_mix(hash_mix(anchor, s + 1), cluster->levels[level - 1].domain[place]);
    }
    for (uint32_t i = 0; i < job->holding_count && minds_nodes(sched, request_class); i++) {
        const struct holding *holding = sched_job_holding(job, i);
        const uint64_t members = (uint64_t)holding->piece.member_count << 16 | holding->piece.group;
        anchor += hash_mix(hash_mix(holding->phase + 1, members), holding->piece.node);
    }
    if (sched->headroom.is_by_queue)
        anchor = hash_mix(anchor, job->queue);
    return request_class_anchor(anchor, sched->pending.is_strict && job->fill != FILL_BELOW);
}

uint32_t sched_next_step(struct sched *sched, uint32_t slot)
{
    uint32_t step[JOB_GROUPS_MAX];
    struct gang_view view;
    sched_gang_view(sched, slot, &view);
    if (sched->lists.leaving_count > 0 ? !next_beside_leaving(sched, slot, &view, step)
                                       : !sched->policy.gang->next(&view, step))
        return REQUEST_CLASS_NONE;
    return request_class_of_step(&sched->request_classes, sched->cluster, sched->jobs.jobs[slot].request_class, step,
                                 anchor_of(sched, slot));
}

void sched_gang_view(struct sched *sched, uint32_t slot, struct gang_view *view)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = sched_request_class(sched, job);
    *view = (struct gang_view){.groups = request_class->groups,
                               .sets = request_class->set_count > 0 ? request_class->sets : NULL,
                               .held = sched_job_held(job),
                               .group_count = request_class->group_count,
                               .set_count = request_class->set_count,
                               .min_sets = request_class->min_sets,
                               .own = sched->own.gang};
}

void sched_move(struct sched *sched, uint32_t slot, uint32_t holding, ledger_move_fn *move)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct space space = request_class_space(&sched->request_classes.at[job->request_class],
                                             &sched_job_holding(job, holding)->piece, slot);
    move(sched->ledger, &space);
}
