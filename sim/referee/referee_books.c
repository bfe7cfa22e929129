/* The referee's books: facts and jobs; see sim/referee/referee_books.h. */
#include "sim/referee/referee_books.h"

#include <assert.h>
#include <string.h>

enum { IDS_AHEAD_MAX = 1 << 20 }; /* ids are dense, because tables are as long as the largest id */

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
