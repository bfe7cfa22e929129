#include "sim/job/job_pieces.h"

#include "base/bits.h"

static uint32_t set_count_of(const struct job *job)
{
    return job->set_count > 0 ? job->set_count : job->group_count;
}

static void plan_sets(struct job_pieces *held, const struct job *job)
{
    MEM_GROW(held->sets, held->set_capacity, (size_t)held->set_count);
    MEM_GROW(held->set_of, held->group_capacity, (size_t)job->group_count);
    held->needed_count = 0;
    for (uint32_t s = 0; s < job->set_count; s++)
        held->sets[s].min_members = job->sets[s].min_members;
    for (uint16_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        held->set_of[g] = job->set_count > 0 ? group->set : g;
        if (job->set_count == 0)
            held->sets[g].min_members = group->min_count;
    }
    for (uint32_t s = 0; s < held->set_count; s++)
        held->needed_count += held->sets[s].min_members > 0;
}

static void plan_only_set(struct job_pieces *held, const struct job *job)
{
    held->only.min_members = job->set_count > 0 ? job->sets[0].min_members : job->first.min_count;
    held->needed_count = held->only.min_members > 0;
}

static void plan_tree(struct job_pieces *held, const struct job *job)
{
    held->min_sets = job->min_sets;
    held->may_lack = sets_may_lack(job->sets, held->set_count, job->min_sets);
    held->has_tree = held->may_lack && job->set_count > 0;
    if (!held->has_tree)
        return;
    MEM_GROW(held->tree, held->tree_capacity, (size_t)job->set_count);
    for (uint32_t s = 0; s < job->set_count; s++) {
        held->tree[s] = job->sets[s];
        held->tree[s].name = "";
    }
}

void job_pieces_plan(struct job_pieces *held, const struct job *job)
{
    held->set_count = set_count_of(job);
    held->member_count = 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        held->member_count += job_group(job, g)->count;
    plan_tree(held, job);
    if (held->set_count > 1)
        plan_sets(held, job);
    else
        plan_only_set(held, job);
    job_pieces_clear(held);
}

void job_pieces_release(struct job_pieces *held)
{
    mem_free(held->more);
    mem_free(held->sets);
    mem_free(held->tree);
    mem_free(held->set_of);
    *held = (struct job_pieces){0};
}

void job_pieces_clear(struct job_pieces *held)
{
    held->piece_count = held->held_count = 0;
    held->short_count = held->needed_count;
    held->only.held = 0;
    for (uint32_t s = 0; s < held->set_count && held->set_count > 1; s++)
        held->sets[s].held = 0;
}

/* Members of the piece join their set (sign 1) or leave it (-1). */
static void count_members(struct job_pieces *held, const struct piece *piece, bool comes)
{
    struct held_set *set = job_pieces_set(held, job_pieces_set_of(held, piece->group));
    bool was_short = set->held < set->min_members;
    set->held = comes ? set->held + piece->member_count : set->held - piece->member_count;
    held->held_count = comes ? held->held_count + piece->member_count : held->held_count - piece->member_count;
    bool is_short = set->held < set->min_members;
    if (is_short != was_short)
        held->short_count = is_short ? held->short_count + 1 : held->short_count - 1;
}

/* Members on whole GPUs of one node share a piece. */
static bool joins_last(const struct job_pieces *held, const struct piece *piece)
{
    if (held->piece_count == 0)
        return false;
    const struct piece *last = &job_pieces_all(held)[held->piece_count - 1];
    return last->node == piece->node && last->group == piece->group && last->gpu_milli == GPU_MILLI &&
           piece->gpu_milli == GPU_MILLI && last->member_count + piece->member_count <= UINT16_MAX;
}

static struct piece *pieces_of(struct job_pieces *held)
{
    return held->more != NULL ? held->more : &held->one;
}

static void make_room(struct job_pieces *held, size_t count)
{
    bool is_first = held->more == NULL;
    if (count <= (is_first ? 1 : held->piece_capacity))
        return;
    MEM_GROW(held->more, held->piece_capacity, count);
    if (is_first)
        held->more[0] = held->one;
}

void job_pieces_add(struct job_pieces *held, const struct piece *pieces, uint32_t count)
{
    make_room(held, (size_t)held->piece_count + count);
    struct piece *own = pieces_of(held);
    for (uint32_t i = 0; i < count; i++) {
        count_members(held, &pieces[i], true);
        if (!joins_last(held, &pieces[i])) {
            own[held->piece_count++] = pieces[i];
            continue;
        }
        struct piece *last = &own[held->piece_count - 1];
        last->gpu_mask |= pieces[i].gpu_mask;
        last->member_count = (uint16_t)(last->member_count + pieces[i].member_count);
    }
}

/* The piece that holds all of `part`; piece_count if none does. */
static uint32_t find(const struct job_pieces *held, const struct piece *part)
{
    uint32_t i = 0;
    for (; i < held->piece_count; i++) {
        const struct piece *piece = &job_pieces_all(held)[i];
        if (piece->node == part->node && piece->group == part->group && piece->gpu_milli == part->gpu_milli &&
            piece->mig_start == part->mig_start && piece->share == part->share &&
            piece->member_count >= part->member_count && (part->gpu_mask & ~piece->gpu_mask) == 0)
            break;
    }
    return i;
}

bool job_pieces_take(struct job_pieces *held, const struct piece *pieces, uint32_t count)
{
    struct piece *own = pieces_of(held);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = find(held, &pieces[i]);
        if (at == held->piece_count)
            return false;
        struct piece *piece = &own[at];
        count_members(held, &pieces[i], false);
        piece->member_count = (uint16_t)(piece->member_count - pieces[i].member_count);
        piece->gpu_mask &= (uint16_t)~pieces[i].gpu_mask;
        if (piece->member_count > 0)
            continue;
        for (held->piece_count--; at < held->piece_count; at++)
            own[at] = own[at + 1];
    }
    return true;
}

/* Find which sets are satisfied when gone[s] members of each set s are gone; gone NULL: none is. */
static bool settle_without(const struct job_pieces *held, const uint32_t gone[], bool satisfied[])
{
    uint32_t left = held->held_count;
    for (uint32_t s = 0; s < held->set_count; s++) {
        const uint32_t less = gone != NULL ? gone[s] : 0;
        satisfied[s] = held->sets[s].held - less >= held->sets[s].min_members;
        left -= less;
    }
    return sets_settle(held->has_tree ? held->tree : NULL, held->set_count, held->min_sets, satisfied) && left > 0;
}

bool job_pieces_is_complete_without(struct job_pieces *held, const struct piece *pieces, uint32_t count)
{
    uint32_t gone[JOB_PARTS_MAX] = {0};
    bool satisfied[JOB_PARTS_MAX];
    for (uint32_t i = 0; i < count; i++)
        gone[job_pieces_set_of(held, pieces[i].group)] += pieces[i].member_count;
    if (held->may_lack)
        return settle_without(held, gone, satisfied);
    for (uint32_t s = 0; s < held->set_count; s++) {
        const struct held_set *set = job_pieces_set(held, s);
        if (set->held - gone[s] < set->min_members)
            return false;
    }
    return true;
}

bool job_pieces_has_enough_sets(const struct job_pieces *held)
{
    bool satisfied[JOB_PARTS_MAX];
    return settle_without(held, NULL, satisfied);
}

uint32_t job_pieces_working(const struct job_pieces *held)
{
    bool satisfied[JOB_PARTS_MAX];
    uint32_t working = 0;
    if (!held->may_lack)
        return held->held_count;
    settle_without(held, NULL, satisfied);
    for (uint32_t s = 0; s < held->set_count; s++) {
        const uint16_t parent = held->has_tree ? held->tree[s].parent : SET_NONE;
        satisfied[s] &= parent == SET_NONE || satisfied[parent];
        working += satisfied[s] ? held->sets[s].held : 0;
    }
    return working > 0 ? working : held->held_count;
}

int64_t pieces_gpu_milli(const struct piece *pieces, uint32_t count)
{
    int64_t milli = 0;
    for (uint32_t i = 0; i < count; i++)
        milli += (int64_t)bits_count16(pieces[i].gpu_mask) * pieces[i].gpu_milli;
    return milli;
}

uint32_t pieces_member_count(const struct piece *pieces, uint32_t count)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < count; i++)
        members += pieces[i].member_count;
    return members;
}
