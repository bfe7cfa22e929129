/* The referee's books: facts, jobs and space; see sim/referee/referee_books.h. */
#include "sim/referee/referee_books.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policies/jobs/request_class.h"

enum { IDS_AHEAD_MAX = 1 << 20 }; /* ids are dense, because tables are as long as the largest id */

bool referee_says(struct referee *referee, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(referee->complaint, sizeof referee->complaint, format, arguments);
    va_end(arguments);
    return false;
}

const char *referee_complaint(const struct referee *referee)
{
    return referee->complaint;
}

struct referee_job *referee_job(const struct referee *referee, job_id id)
{
    return id < referee->id_count ? referee->jobs[id] : NULL;
}

struct referee *referee_new(const struct cluster *cluster, bool gangs_are_whole)
{
    struct referee *referee = mem_zalloc(1, sizeof *referee);
    referee->cluster = cluster;
    referee->gangs_are_whole = gangs_are_whole;
    referee->gpus = mem_zalloc(cluster->gpu_count, sizeof *referee->gpus);
    referee->nodes = mem_zalloc(cluster->node_count, sizeof *referee->nodes);
    for (node_id n = 0; n < cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(cluster, n);
        for (uint32_t i = 0; i < type->gpu_count; i++) {
            struct gpu_cut cut = {.is_partitioned = type->layout_mask >> i & 1};
            if (cut.is_partitioned)
                cut.layout = type->layouts[i];
            struct referee_gpu *gpu = &referee->gpus[cluster->nodes[n].first_gpu + i];
            gpu->cut = cut;
        }
    }
    return referee;
}

/* ---- space ---- */

static void move(struct referee *referee, const struct referee_job *job, const struct piece *piece, bool is_taken)
{
    const struct request *request = &job_group(&job->job, piece->group)->request;
    struct referee_node *node = &referee->nodes[piece->node];
    int64_t members = is_taken ? piece->member_count : -(int64_t)piece->member_count;
    node->cpu_milli += (uint64_t)(members * request->cpu_milli);
    node->memory_mib += (uint64_t)(members * request->memory_mib);
    node->tasks += (uint32_t)members;
    referee_move_share(referee, request, piece, members);
    struct referee_gpu *first = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu];
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        struct referee_gpu *gpu = &first[__builtin_ctz(mask)];
        int milli = is_taken ? piece->gpu_milli : -(int)piece->gpu_milli;
        gpu->used_milli = (uint16_t)(gpu->used_milli + milli);
        if (request->mig != 0)
            gpu->used_slices ^= mig_mask((enum mig_profile_id)(request->mig - 1), piece->mig_start);
    }
}

void referee_take(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        move(referee, job, &pieces[i], true);
}

void referee_give(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        move(referee, job, &pieces[i], false);
}

static const char *node_name(const struct referee *referee, const struct piece *piece)
{
    return referee->cluster->nodes[piece->node].name;
}

/* Is the piece a MIG instance of the requested profile, with one member? */
static bool is_instance(struct referee *referee, const struct request *request, const struct piece *piece)
{
    enum mig_profile_id profile = (enum mig_profile_id)(request->mig - 1);
    unsigned gpu = piece->gpu_mask != 0 ? (unsigned)__builtin_ctz(piece->gpu_mask) : 0;
    if (__builtin_popcount(piece->gpu_mask) != 1 || piece->member_count != 1)
        return referee_says(referee, "a MIG instance is one GPU and one member a piece");
    const struct gpu_cut *cut = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + gpu].cut;
    if (!cut->is_partitioned || cut->layout.profile[piece->mig_start] != request->mig)
        return referee_says(referee, "GPU %u of node %s has no instance of that profile at slice %u", gpu,
                            node_name(referee, piece), piece->mig_start);
    if (piece->gpu_milli != mig_slices(profile) * GPU_MILLI / MIG_SLICES)
        return referee_says(referee, "'milli' of that MIG profile is %u, not %u",
                            mig_slices(profile) * GPU_MILLI / MIG_SLICES, piece->gpu_milli);
    return true;
}

/* Is the piece made of whole GPUs, or a share of one, as requested? */
static bool is_gpus(struct referee *referee, const struct request *request, const struct piece *piece, uint32_t share)
{
    uint32_t gpus = (uint32_t)__builtin_popcount(piece->gpu_mask);
    bool is_share = share != 0 && share < GPU_MILLI;
    uint32_t each = request->gpus != 0 ? request->gpus : share != 0 ? 1 : 0;
    if (share > GPU_MILLI)
        return referee_says(referee, "no GPU of node %s has enough memory", node_name(referee, piece));
    if (gpus != each * piece->member_count || (is_share && piece->member_count != 1))
        return referee_says(referee, "%u member%s of group %u on node %s need%s %u GPUs, the piece names %u",
                            piece->member_count, piece->member_count == 1 ? "" : "s", piece->group,
                            node_name(referee, piece), piece->member_count == 1 ? "s" : "", each * piece->member_count,
                            gpus);
    if (is_share && piece->share != request->share)
        return referee_says(referee, "the share of group %u on node %s is of another kind", piece->group,
                            node_name(referee, piece));
    if (gpus > 0 && piece->gpu_milli != (is_share ? share : GPU_MILLI))
        return referee_says(referee, "'milli' of group %u is %u on node %s, not %u", piece->group,
                            is_share ? share : GPU_MILLI, node_name(referee, piece), piece->gpu_milli);
    return true;
}

static uint16_t partitioned_of(const struct referee *referee, node_id node)
{
    const struct referee_gpu *first = &referee->gpus[referee->cluster->nodes[node].first_gpu];
    uint16_t mask = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(referee->cluster, node); i++)
        mask |= (uint16_t)(first[i].cut.is_partitioned << i);
    return mask;
}

bool referee_piece_is_asked(struct referee *referee, const struct referee_job *job, const struct piece *piece)
{
    const struct cluster *cluster = referee->cluster;
    const struct node_type *type = cluster_node_type(cluster, piece->node);
    if (piece->group >= job->job.group_count)
        return referee_says(referee, "the job has no group %u", piece->group);
    const struct request *request = &job_group(&job->job, piece->group)->request;
    const struct gpu_model *model = &cluster->models[type->model];
    uint32_t share = request_class_share_milli(request, model);
    if (request_asks_gpus(request) && !request_takes_model(request, type))
        return referee_says(referee, "the GPUs of node %s are of a model that will not do: %s",
                            node_name(referee, piece), model->name);
    if (request->mig != 0)
        return is_instance(referee, request, piece);
    if ((piece->gpu_mask & partitioned_of(referee, piece->node)) != 0)
        return referee_says(referee, "a GPU of node %s is partitioned: it is neither whole nor shared",
                            node_name(referee, piece));
    return is_gpus(referee, request, piece, share);
}

static bool has_room(struct referee *referee, const struct referee_job *job, const struct piece *piece)
{
    const struct request *request = &job_group(&job->job, piece->group)->request;
    const struct node_type *type = cluster_node_type(referee->cluster, piece->node);
    const struct referee_node *node = &referee->nodes[piece->node];
    uint64_t members = piece->member_count;
    if (node->cpu_milli + members * request->cpu_milli > type->cpu_milli)
        return referee_says(referee, "node %s has too few free CPUs", node_name(referee, piece));
    if (node->memory_mib + members * request->memory_mib > type->memory_mib)
        return referee_says(referee, "node %s has too little free memory", node_name(referee, piece));
    if (type->max_tasks != 0 && node->tasks + members > type->max_tasks)
        return referee_says(referee, "node %s takes no more than %u members", node_name(referee, piece),
                            type->max_tasks);
    return true;
}

bool referee_piece_is_free(struct referee *referee, const struct referee_job *job, const struct piece *piece,
                           bool is_new)
{
    const struct request *request = &job_group(&job->job, piece->group)->request;
    const struct node *node = &referee->cluster->nodes[piece->node];
    const struct node_type *type = cluster_node_type(referee->cluster, piece->node);
    if (is_new && referee->nodes[piece->node].state != NODE_UP)
        return referee_says(referee, "node %s takes no new work", node->name);
    if (is_new && !node_ask_tolerates(request->nodes, type))
        return referee_says(referee, "node %s has a taint that is not tolerated", node->name);
    if (is_new && request->nodes != NULL && !node_ask_matches(request->nodes, type))
        return referee_says(referee, "node %s has not the labels that are asked", node->name);
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        unsigned index = (unsigned)__builtin_ctz(mask);
        const struct referee_gpu *gpu = &referee->gpus[node->first_gpu + index];
        uint8_t slices = request->mig == 0 ? 0 : mig_mask((enum mig_profile_id)(request->mig - 1), piece->mig_start);
        if (gpu->used_milli + piece->gpu_milli > GPU_MILLI || (gpu->used_slices & slices) != 0)
            return referee_says(referee, "GPU %u of node %s is not free", index, node->name);
    }
    return referee_outlives_cut(referee, request, piece) && (!is_new || referee_has_company(referee, request, piece)) &&
           has_room(referee, job, piece);
}

/* ---- parts ---- */

void referee_add_part(struct referee_job *job, decision_id decision, const struct piece *pieces, uint32_t count,
                      bool is_join)
{
    struct piece *own = mem_zalloc(count, sizeof *own);
    memcpy(own, pieces, count * sizeof *own);
    MEM_GROW(job->parts, job->part_capacity, (size_t)job->part_count + 1);
    job->parts[job->part_count++] =
        (struct referee_part){.decision = decision, .pieces = own, .piece_count = count, .is_join = is_join};
}

static void drop_part(struct referee_job *job, uint32_t index)
{
    mem_free(job->parts[index].pieces);
    for (job->part_count--; index < job->part_count; index++)
        job->parts[index] = job->parts[index + 1];
}

/* ---- jobs ---- */

static void *copy_list(const void *list, size_t count, size_t size)
{
    if (count == 0)
        return NULL;
    void *copy = mem_zalloc(count, size);
    memcpy(copy, list, count * size);
    return copy;
}

static struct referee_job *job_new(struct referee *referee, const struct job *job)
{
    const struct sharing *sharing = &referee->sharing;
    struct referee_job *own = mem_zalloc(1, sizeof *own);
    struct job_group groups[JOB_GROUPS_MAX];
    own->job = *job;
    if (sharing->policy != NULL) {
        sharing_map(sharing, job, groups);
        own->job.first = groups[0];
        job = &own->job;
        own->job.more = groups + 1;
    }
    own->job.more = copy_list(job->more, job->group_count - 1u, sizeof *job->more);
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(&own->job, g);
        ((struct job_group *)(uintptr_t)group)->request.nodes = node_asks_own(&referee->asks, group->request.nodes);
    }
    own->job.sets = copy_list(job->sets, job->set_count, sizeof *job->sets);
    own->job.tags = copy_list(job->tags, job->tags != NULL, sizeof *job->tags);
    own->job.after = copy_list(job->after, job->after_count, sizeof *job->after);
    own->job.communication = NULL; /* no rule depends on it */
    own->job.objects = NULL;       /* likewise */
    own->job.name = NULL;
    own->is_held = job->is_held;
    job_pieces_plan(&own->running, &own->job);
    return own;
}

static void job_free(struct referee_job *job)
{
    if (job == NULL)
        return;
    while (job->part_count > 0)
        drop_part(job, job->part_count - 1);
    mem_free(job->parts);
    mem_free(job->reserved);
    job_pieces_release(&job->running);
    mem_free((void *)(uintptr_t)job->job.more);
    mem_free((void *)(uintptr_t)job->job.sets);
    mem_free((void *)(uintptr_t)job->job.tags);
    mem_free((void *)(uintptr_t)job->job.after);
    mem_free(job);
}

void referee_free(struct referee *referee)
{
    if (referee == NULL)
        return;
    for (uint32_t id = 0; id < referee->id_count; id++)
        job_free(referee->jobs[id]);
    mem_free(referee->jobs);
    mem_free(referee->ends);
    mem_free(referee->arrays);
    mem_free(referee->gpus);
    mem_free(referee->nodes);
    job_pieces_release(&referee->stand);
    node_asks_release(&referee->asks);
    mem_free(referee);
}

void referee_settle(struct referee *referee, struct referee_job *job)
{
    bool is_waiting = job->running.piece_count == 0 && job->part_count == 0;
    if (is_waiting == job->is_waiting)
        return;
    job->is_waiting = is_waiting;
    referee->waiting_count += is_waiting ? 1 : UINT32_MAX;
    referee->placed_count += is_waiting ? UINT32_MAX : 1;
    if (job->job.array != 0)
        referee->arrays[job->job.array] += is_waiting ? UINT32_MAX : 1;
}

void referee_release(struct referee *referee, struct referee_job *job)
{
    for (uint32_t i = 0; i < job->reserved_count; i++)
        referee->nodes[job->reserved[i].node].reservations--;
    mem_free(job->reserved);
    job->reserved = NULL;
    job->reserved_count = 0;
    referee->reserved_count -= job->is_reserved;
    job->is_reserved = false;
}

void referee_reserve(struct referee *referee, struct referee_job *job, const struct piece *pieces, uint32_t count)
{
    referee_release(referee, job);
    job->is_reserved = true;
    referee->reserved_count++;
    job->reserved = copy_list(pieces, count, sizeof *pieces);
    job->reserved_count = count;
    for (uint32_t i = 0; i < count; i++)
        referee->nodes[pieces[i].node].reservations++;
}

/* Give back everything that it holds or will hold. */
static void vacate(struct referee *referee, struct referee_job *job)
{
    for (uint32_t p = 0; p < job->part_count; p++)
        if (job->parts[p].is_join)
            referee_give(referee, job, job->parts[p].pieces, job->parts[p].piece_count);
    while (job->part_count > 0)
        drop_part(job, job->part_count - 1);
    referee_give(referee, job, job_pieces_all(&job->running), job->running.piece_count);
    job_pieces_clear(&job->running);
    job->is_leaving = false;
    referee_settle(referee, job);
}

void referee_forget(struct referee *referee, job_id id, enum referee_end end)
{
    struct referee_job *job = referee->jobs[id];
    vacate(referee, job);
    referee_release(referee, job);
    referee->waiting_count--;
    referee->ends[id] = (uint8_t)end;
    referee->jobs[id] = NULL;
    job_free(job);
}

/* ---- facts ---- */

static bool is_new(struct referee *referee, const struct job *job)
{
    uint64_t ids_max = referee->told_count + IDS_AHEAD_MAX;
    if (job->id < referee->id_count && (referee->jobs[job->id] != NULL || referee->ends[job->id] != ENDED_NOT))
        return referee_says(referee, "job %u came before: ids are never used again", job->id);
    if (job->id >= ids_max || job->array >= ids_max)
        return referee_says(referee, "job %u: ids of jobs and arrays count from 0 without gaps", job->id);
    return true;
}

static struct referee_job *enroll(struct referee *referee, const struct job *job)
{
    MEM_GROW(referee->jobs, referee->job_capacity, (size_t)job->id + 1);
    MEM_GROW(referee->ends, referee->end_capacity, (size_t)job->id + 1);
    MEM_GROW(referee->arrays, referee->array_capacity, (size_t)job->array + 1);
    if (job->id >= referee->id_count)
        referee->id_count = job->id + 1;
    struct referee_job *own = job_new(referee, job);
    referee->jobs[job->id] = own;
    referee->told_count++;
    referee->waiting_count++;
    own->is_waiting = true;
    return own;
}

/* May a job be adopted on the node?  The scheduler took reserved space out of the free space and would have to give it
 * up first. */
static bool is_unreserved(struct referee *referee, node_id node)
{
    return referee->nodes[node].reservations == 0 ||
           referee_says(referee, "space of node %s is reserved: it is not free for a job to be there",
                        referee->cluster->nodes[node].name);
}

/* No group may have more members on the pieces than it has. */
static bool has_members(struct referee *referee, const struct fact *fact)
{
    uint32_t held[JOB_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < fact->piece_count; i++) {
        uint32_t group = fact->pieces[i].group;
        if (group >= fact->job->group_count)
            return referee_says(referee, "the job has no group %u", group);
        held[group] += fact->pieces[i].member_count;
        if (held[group] > job_group(fact->job, group)->count)
            return referee_says(referee, "more members of group %u than it has", group);
    }
    return fact->piece_count > 0 || referee_says(referee, "a job that runs stands on at least one piece");
}

static bool adopt(struct referee *referee, const struct fact *fact)
{
    if (!has_members(referee, fact))
        return false;
    struct referee_job *own = enroll(referee, fact->job);
    uint32_t taken = 0;
    while (taken < fact->piece_count && referee_piece_is_asked(referee, own, &fact->pieces[taken]) &&
           is_unreserved(referee, fact->pieces[taken].node) &&
           referee_piece_is_free(referee, own, &fact->pieces[taken], false))
        referee_take(referee, own, &fact->pieces[taken++], 1);
    if (taken == fact->piece_count) {
        job_pieces_add(&own->running, fact->pieces, fact->piece_count);
        referee_settle(referee, own);
        return true;
    }
    referee_give(referee, own, fact->pieces, taken);
    referee_forget(referee, fact->id, ENDED_NOT);
    return false;
}

static void started(struct referee *referee, struct referee_job *job, decision_id decision)
{
    for (uint32_t p = 0; p < job->part_count;) {
        const struct referee_part *part = &job->parts[p];
        if (!part->is_join || part->decision != decision) {
            p++;
            continue;
        }
        job_pieces_add(&job->running, part->pieces, part->piece_count);
        drop_part(job, p);
    }
    referee_settle(referee, job);
}

/* Give back the job's members on the node: running, starting or leaving. */
static void vacate_node(struct referee *referee, struct referee_job *job, node_id node)
{
    for (uint32_t i = job->running.piece_count; i-- > 0;) {
        struct piece piece = job_pieces_all(&job->running)[i];
        if (piece.node != node)
            continue;
        referee_give(referee, job, &piece, 1);
        job_pieces_take(&job->running, &piece, 1);
    }
    for (uint32_t p = job->part_count; p-- > 0;) {
        struct referee_part *part = &job->parts[p];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < part->piece_count; i++) {
            if (part->pieces[i].node != node)
                part->pieces[kept++] = part->pieces[i];
            else if (part->is_join)
                referee_give(referee, job, &part->pieces[i], 1);
        }
        part->piece_count = kept;
        if (kept == 0)
            drop_part(job, p);
    }
    referee_settle(referee, job);
}

/* Give back the members of the decision: they have left, or never came. */
static void vacate_part(struct referee *referee, struct referee_job *job, decision_id decision)
{
    if (job->is_leaving && job->leaving_for == decision) {
        vacate(referee, job);
        return;
    }
    for (uint32_t p = job->part_count; p-- > 0;) {
        const struct referee_part *part = &job->parts[p];
        if (part->decision != decision)
            continue;
        if (part->is_join || job_pieces_take(&job->running, part->pieces, part->piece_count))
            referee_give(referee, job, part->pieces, part->piece_count);
        drop_part(job, p);
    }
    referee_settle(referee, job);
}

/* The refusal may not say to which job the decision belonged, but numbers do not come again. */
static void refused(struct referee *referee, struct referee_job *job, decision_id decision)
{
    const uint64_t number = decision_number(decision);
    if (job->is_leaving && decision_number(job->leaving_for) == number)
        job->is_leaving = false;
    for (uint32_t p = job->part_count; p-- > 0;) {
        if (decision_number(job->parts[p].decision) != number)
            continue;
        if (job->parts[p].is_join)
            referee_give(referee, job, job->parts[p].pieces, job->parts[p].piece_count);
        drop_part(job, p);
    }
    referee_settle(referee, job);
}

static void leaving(struct referee_job *job, struct members which)
{
    if (which.node == NODE_NONE)
        job->is_leaving = true;
    for (uint32_t i = 0; which.node != NODE_NONE && i < job->running.piece_count; i++)
        if (job_pieces_all(&job->running)[i].node == which.node)
            referee_add_part(job, 0, &job_pieces_all(&job->running)[i], 1, false);
}

static void evicted(struct referee *referee, struct referee_job *job, struct members which)
{
    if (which.node != NODE_NONE)
        vacate_node(referee, job, which.node);
    else if (which.decision != 0)
        vacate_part(referee, job, which.decision);
    else
        vacate(referee, job);
}

static void ended(struct referee *referee, struct referee_job *job, const struct fact *fact)
{
    if (job->is_waiting)
        return; /* it holds nothing, so there is nothing to end */
    if (fact->will_retry)
        vacate(referee, job);
    else
        referee_forget(referee, fact->id, fact->end == JOB_END_COMPLETED ? ENDED_WELL : ENDED_BADLY);
}

/* Book a fact about a job that is known. */
static void told_of(struct referee *referee, struct referee_job *job, const struct fact *fact)
{
    switch (fact->kind) {
    case FACT_JOB_RELEASED:
        job->is_held = false;
        break;
    case FACT_JOB_CANCELLED:
        if (job->is_waiting)
            referee_forget(referee, fact->id, ENDED_BADLY);
        break;
    case FACT_JOB_STARTED:
        started(referee, job, fact->decision);
        break;
    case FACT_JOB_LEAVING:
        leaving(job, fact->which);
        break;
    case FACT_JOB_EVICTED:
        evicted(referee, job, fact->which);
        break;
    case FACT_JOB_ENDED:
        ended(referee, job, fact);
        break;
    default:
        break;
    }
}

bool referee_told(struct referee *referee, const struct fact *fact)
{
    if (fact->kind == FACT_JOB_SUBMITTED || fact->kind == FACT_JOB_ADOPTED) {
        if (!is_new(referee, fact->job))
            return false;
        if (fact->kind == FACT_JOB_ADOPTED)
            return adopt(referee, fact);
        enroll(referee, fact->job);
        return true;
    }
    if (fact->kind == FACT_NODE_CHANGED)
        referee->nodes[fact->node].state = (uint8_t)fact->state;
    if (fact->kind == FACT_GPU_CHANGED)
        referee_cut_done(referee, fact);
    if (fact->kind == FACT_DECISION_REFUSED) { /* only the decider knows to which job the decision belonged */
        referee_cut_refused(referee, fact->decision);
        for (job_id id = 0; id < referee->id_count; id++)
            if (referee->jobs[id] != NULL)
                refused(referee, referee->jobs[id], fact->decision);
    }
    if (fact->kind >= FACT_DECISION_REFUSED)
        return true;
    struct referee_job *job = referee_job(referee, fact->id);
    if (job != NULL)
        told_of(referee, job, fact);
    return true;
}
