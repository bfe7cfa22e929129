/* The referee's verdicts; see sim/referee/referee.h. */
#include "sim/referee/referee.h"

#include <string.h>

#include "sim/job/closeness.h"
#include "sim/referee/referee_books.h"

/* ---- what the job would hold ---- */

/* Fill referee->stand with the job's members without those that are leaving; false if a member that should leave is not
 * there. */
static bool make_stand(struct referee *referee, const struct referee_job *job)
{
    struct job_pieces *stand = &referee->stand;
    job_pieces_plan(stand, &job->job);
    for (uint32_t i = 0; i < job->running.piece_count; i++)
        job_pieces_add(stand, &job_pieces_all(&job->running)[i], 1);
    for (uint32_t p = 0; p < job->part_count; p++)
        if (!job->parts[p].is_join && !job_pieces_take(stand, job->parts[p].pieces, job->parts[p].piece_count))
            return false;
    return true;
}

static void add_joins(struct referee *referee, const struct referee_job *job)
{
    for (uint32_t p = 0; p < job->part_count; p++)
        if (job->parts[p].is_join)
            job_pieces_add(&referee->stand, job->parts[p].pieces, job->parts[p].piece_count);
}

/* Is set `inner` the set `outer` or one inside it?  outer SET_NONE: the whole job. */
static bool is_within(const struct job *job, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != SET_NONE)
        inner = job->set_count > 0 ? job->sets[inner].parent : SET_NONE;
    return inner == outer;
}

/* Are the members of the set in one domain of the level? */
static bool is_together(const struct referee *referee, const struct job *job, uint32_t set, uint8_t level)
{
    const struct job_pieces *stand = &referee->stand;
    uint32_t domain = DOMAIN_NONE;
    bool has_any = false;
    if (level == 0)
        return true;
    for (uint32_t i = 0; i < stand->piece_count; i++) {
        const struct piece *piece = &job_pieces_all(stand)[i];
        uint32_t here = referee->cluster->levels[level - 1].domain[piece->node];
        if (!is_within(job, job_group(job, piece->group)->set, set))
            continue;
        if (here == DOMAIN_NONE || (has_any && here != domain))
            return false;
        domain = here;
        has_any = true;
    }
    return true;
}

static bool topology_holds(struct referee *referee, const struct job *job)
{
    const struct cluster_level *levels = referee->cluster->levels;
    if (!is_together(referee, job, SET_NONE, job->topology.required))
        return referee_says(referee, "its members are not all in one %s", levels[job->topology.required - 1].name);
    for (uint32_t s = 0; s < job->set_count; s++)
        if (!is_together(referee, job, s, job->sets[s].topology.required))
            return referee_says(referee, "the members of its set %u are not all in one %s", s,
                                levels[job->sets[s].topology.required - 1].name);
    return true;
}

static bool closeness_holds(struct referee *referee, const struct job *job)
{
    const struct job_pieces *stand = &referee->stand;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const char *complaint =
            closeness_complaint(referee->cluster, job_group(job, g), g, job_pieces_all(stand), stand->piece_count);
        if (complaint != NULL)
            return referee_says(referee, "%s", complaint);
    }
    return true;
}

static bool counts_hold(struct referee *referee, const struct job *job)
{
    uint32_t held[JOB_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < referee->stand.piece_count; i++)
        held[job_pieces_all(&referee->stand)[i].group] += job_pieces_all(&referee->stand)[i].member_count;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (held[g] > job_group(job, g)->count)
            return referee_says(referee, "it would have %u members of group %u, which has %u", held[g], g,
                                job_group(job, g)->count);
    if (referee->gangs_are_whole && !job_pieces_is_complete(&referee->stand))
        return referee_says(referee, "it would have fewer members than must run together: %u",
                            referee->stand.held_count);
    return true;
}

/* Each set that members join must have its minimum afterwards, even if the job can run without the set. */
static bool sets_hold(struct referee *referee, const struct decision *decision)
{
    struct job_pieces *stand = &referee->stand;
    for (uint32_t i = 0; i < decision->piece_count && referee->gangs_are_whole; i++) {
        const uint32_t s = job_pieces_set_of(stand, decision->pieces[i].group);
        if (job_pieces_set(stand, s)->held < job_pieces_set(stand, s)->min_members)
            return referee_says(referee, "its set %u would have %u members and needs %u", s,
                                job_pieces_set(stand, s)->held, job_pieces_set(stand, s)->min_members);
    }
    return true;
}

/* ---- decisions ---- */

/* May the job start at all?  Else say why not. */
static bool is_eligible(struct referee *referee, const struct referee_job *job)
{
    if (job->is_held)
        return referee_says(referee, "it is held by its submitter");
    if (job->is_leaving)
        return referee_says(referee, "it is being evicted");
    for (uint32_t i = 0; i < job->job.after_count && job->is_waiting; i++) {
        const struct job_after *after = &job->job.after[i];
        if (referee_job(referee, after->job) != NULL)
            return referee_says(referee, "job %u, which it depends on, has not ended", after->job);
        uint8_t end = after->job < referee->id_count ? referee->ends[after->job] : ENDED_NOT;
        if ((end == ENDED_BADLY && after->kind == AFTER_OK) || (end == ENDED_WELL && after->kind == AFTER_NOT_OK))
            return referee_says(referee, "job %u ended otherwise than it asks", after->job);
    }
    if (job->is_waiting && job->job.array != 0 && job->job.array_max != 0 &&
        referee->arrays[job->job.array] >= job->job.array_max)
        return referee_says(referee, "%u elements of its array run, as many as may", job->job.array_max);
    return true;
}

/* Take the pieces one after another, each from the space that the others left.  If one is not possible, take none. */
static bool take_pieces(struct referee *referee, const struct referee_job *job, const struct decision *decision)
{
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        const struct piece *piece = &decision->pieces[i];
        if (!referee_piece_is_asked(referee, job, piece) || !referee_piece_is_free(referee, job, piece, true)) {
            referee_give(referee, job, decision->pieces, i);
            return false;
        }
        referee_take(referee, job, piece, 1);
    }
    return true;
}

static bool stands_well(struct referee *referee, const struct referee_job *job, const struct decision *decision)
{
    make_stand(referee, job);
    add_joins(referee, job);
    job_pieces_add(&referee->stand, decision->pieces, decision->piece_count);
    return counts_hold(referee, &job->job) && sets_hold(referee, decision) && topology_holds(referee, &job->job) &&
           closeness_holds(referee, &job->job) &&
           referee_tags_hold(referee, job, decision->pieces, decision->piece_count);
}

static bool allows_start(struct referee *referee, struct referee_job *job, const struct decision *decision)
{
    uint32_t all = 0;
    for (uint32_t g = 0; g < job->job.group_count; g++)
        all += job_group(&job->job, g)->count;
    make_stand(referee, job);
    add_joins(referee, job);
    if (referee->stand.held_count >= all)
        return referee_says(referee, "it was started already, with all its members");
    if (decision->piece_count == 0)
        return referee_says(referee, "'pieces' must say where");
    if (!is_eligible(referee, job) || !take_pieces(referee, job, decision))
        return false;
    if (!stands_well(referee, job, decision)) {
        referee_give(referee, job, decision->pieces, decision->piece_count);
        return false;
    }
    referee_add_part(job, decision->id, decision->pieces, decision->piece_count, true);
    referee_release(referee, job);
    referee_settle(referee, job);
    return true;
}

/* The named pieces must be held, and not be leaving. */
static bool are_held(struct referee *referee, const struct referee_job *job, const struct decision *decision)
{
    for (uint32_t i = 0; i < decision->piece_count; i++)
        if (!referee_piece_is_asked(referee, job, &decision->pieces[i]))
            return false;
    make_stand(referee, job);
    if (!job_pieces_take(&referee->stand, decision->pieces, decision->piece_count))
        return referee_says(referee, "it does not run on these pieces, or leaves them already");
    return true;
}

static bool allows_evict(struct referee *referee, struct referee_job *job, const struct decision *decision)
{
    if (job->is_leaving)
        return referee_says(referee, "it is being evicted already");
    if (job->running.piece_count == 0)
        return referee_says(referee, "it does not run");
    if (decision->is_partial && decision->piece_count == 0)
        return referee_says(referee, "'pieces' must say which");
    if (decision->piece_count > 0 && !are_held(referee, job, decision))
        return false;
    if (decision->is_partial) {
        referee_add_part(job, decision->id, decision->pieces, decision->piece_count, false);
        return true;
    }
    if (decision->piece_count > 0 && referee->stand.piece_count > 0)
        return referee_says(referee, "the pieces are not all it holds; say \"partial\": true");
    job->is_leaving = true;
    job->leaving_for = decision->id;
    return true;
}

static bool allows_reject(struct referee *referee, struct referee_job *job, const struct decision *decision)
{
    if (!job->is_waiting)
        return referee_says(referee, "a job that runs cannot be rejected");
    if (decision->reason == REASON_QUEUE_FULL)
        return referee_says(referee, "whether the queue is full the world says");
    referee_forget(referee, decision->job, ENDED_BADLY);
    return true;
}

static bool allows_notify(struct referee *referee, const struct referee_job *job)
{
    return job->running.piece_count > 0 || referee_says(referee, "it does not run");
}

static bool allows(struct referee *referee, struct referee_job *job, const struct decision *decision)
{
    switch (decision->kind) {
    case DECISION_START:
        return allows_start(referee, job, decision);
    case DECISION_EVICT:
        return allows_evict(referee, job, decision);
    case DECISION_RESERVE:
        referee_reserve(referee, job, decision->pieces, decision->piece_count);
        return true;
    case DECISION_REPARTITION:
        return referee_allows_cut(referee, decision);
    case DECISION_NOTIFY:
        return allows_notify(referee, job);
    case DECISION_RELEASE:
        referee_release(referee, job);
        return true;
    case DECISION_REJECT:
        break;
    }
    return allows_reject(referee, job, decision);
}

bool referee_allows(struct referee *referee, const struct decision *decision)
{
    struct referee_job *job = referee_job(referee, decision->job);
    if (decision_number(decision->id) <= decision_number(referee->last_decision))
        return referee_says(referee, "numbers of decisions must rise; the one before is %llu",
                            (unsigned long long)decision_number(referee->last_decision));
    if (job == NULL && decision->job < referee->id_count)
        return referee_says(referee, "job %u is over", decision->job);
    if (job == NULL)
        return referee_says(referee, "there is no job %u", decision->job);
    if (decision->for_job != JOB_NONE && referee_job(referee, decision->for_job) == NULL)
        return referee_says(referee, "there is no job %u that could gain", decision->for_job);
    if (!allows(referee, job, decision)) {
        char why[REFEREE_COMPLAINT_BYTES];
        memcpy(why, referee->complaint, sizeof why);
        return referee_says(referee, "job %u: %s", decision->job, why);
    }
    referee->last_decision = decision->id;
    return true;
}

void referee_count(const struct referee *referee, struct sched_counts *counts)
{
    counts->pending_jobs = referee->waiting_count;
    counts->reserved_jobs = referee->reserved_count;
    counts->running_jobs = referee->placed_count;
}

enum reason referee_why(const struct referee *referee, job_id id)
{
    const struct referee_job *job = referee_job(referee, id);
    if (job == NULL || !job->is_waiting)
        return REASON_NONE;
    if (job->is_reserved)
        return REASON_RESERVED;
    for (uint32_t i = 0; i < job->job.after_count; i++)
        if (referee_job(referee, job->job.after[i].job) != NULL)
            return REASON_DEPENDENCY;
    return job->is_held ? REASON_HELD : REASON_NONE;
}
