#include "sim/job/holding.h"

#include "base/bits.h"

static uint32_t set_count_of(const struct job *job)
{
    return job->set_count > 0 ? job->set_count : job->group_count;
}

static void plan_sets(struct holding *holding, const struct job *job)
{
    MEM_GROW(holding->sets, holding->set_capacity, (size_t)holding->set_count);
    MEM_GROW(holding->set_of, holding->group_capacity, (size_t)job->group_count);
    holding->needed_count = 0;
    for (uint32_t s = 0; s < job->set_count; s++)
        holding->sets[s].min_members = job->sets[s].min_members;
    for (uint16_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        holding->set_of[g] = job->set_count > 0 ? group->set : g;
        if (job->set_count == 0)
            holding->sets[g].min_members = group->min_count;
    }
    for (uint32_t s = 0; s < holding->set_count; s++)
        holding->needed_count += holding->sets[s].min_members > 0;
}

static void plan_only_set(struct holding *holding, const struct job *job)
{
    holding->only.min_members = job->set_count > 0 ? job->sets[0].min_members : job->first.min_count;
    holding->needed_count = holding->only.min_members > 0;
}

static void plan_tree(struct holding *holding, const struct job *job)
{
    holding->min_sets = job->min_sets;
    holding->may_lack = sets_may_lack(job->sets, holding->set_count, job->min_sets);
    holding->has_tree = holding->may_lack && job->set_count > 0;
    if (!holding->has_tree)
        return;
    MEM_GROW(holding->tree, holding->tree_capacity, (size_t)job->set_count);
    for (uint32_t s = 0; s < job->set_count; s++) {
        holding->tree[s] = job->sets[s];
        holding->tree[s].name = "";
    }
}

void holding_plan(struct holding *holding, const struct job *job)
{
    holding->set_count = set_count_of(job);
    holding->member_count = 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        holding->member_count += job_group(job, g)->count;
    plan_tree(holding, job);
    if (holding->set_count > 1)
        plan_sets(holding, job);
    else
        plan_only_set(holding, job);
    holding_clear(holding);
}

void holding_release(struct holding *holding)
{
    mem_free(holding->more);
    mem_free(holding->sets);
    mem_free(holding->tree);
    mem_free(holding->set_of);
    *holding = (struct holding){0};
}

void holding_clear(struct holding *holding)
{
    holding->piece_count = holding->held_count = 0;
    holding->short_count = holding->needed_count;
    holding->only.held = 0;
    for (uint32_t s = 0; s < holding->set_count && holding->set_count > 1; s++)
        holding->sets[s].held = 0;
}

/* Members that come (sign 1) to the set of a group or leave it (-1). */
static void count_members(struct holding *holding, const struct piece *piece, bool comes)
{
    struct holding_set *set = holding_set(holding, holding_set_of(holding, piece->group));
    bool was_short = set->held < set->min_members;
    set->held = comes ? set->held + piece->member_count : set->held - piece->member_count;
    holding->held_count = comes ? holding->held_count + piece->member_count : holding->held_count - piece->member_count;
    bool is_short = set->held < set->min_members;
    if (is_short != was_short)
        holding->short_count = is_short ? holding->short_count + 1 : holding->short_count - 1;
}

/* Members on whole GPUs of one node are one piece. */
static bool joins_last(const struct holding *holding, const struct piece *piece)
{
    if (holding->piece_count == 0)
        return false;
    const struct piece *last = &holding_pieces(holding)[holding->piece_count - 1];
    return last->node == piece->node && last->group == piece->group && last->gpu_milli == GPU_MILLI &&
           piece->gpu_milli == GPU_MILLI && last->member_count + piece->member_count <= UINT16_MAX;
}

static struct piece *pieces_of(struct holding *holding)
{
    return holding->more != NULL ? holding->more : &holding->one;
}

static void make_room(struct holding *holding, size_t count)
{
    bool is_first = holding->more == NULL;
    if (count <= (is_first ? 1 : holding->piece_capacity))
        return;
    MEM_GROW(holding->more, holding->piece_capacity, count);
    if (is_first)
        holding->more[0] = holding->one;
}

void holding_add(struct holding *holding, const struct piece *pieces, uint32_t count)
{
    make_room(holding, (size_t)holding->piece_count + count);
    struct piece *own = pieces_of(holding);
    for (uint32_t i = 0; i < count; i++) {
        count_members(holding, &pieces[i], true);
        if (!joins_last(holding, &pieces[i])) {
            own[holding->piece_count++] = pieces[i];
            continue;
        }
        struct piece *last = &own[holding->piece_count - 1];
        last->gpu_mask |= pieces[i].gpu_mask;
        last->member_count = (uint16_t)(last->member_count + pieces[i].member_count);
    }
}

/* The piece that holds all of `part`; piece_count if none does. */
static uint32_t find(const struct holding *holding, const struct piece *part)
{
    uint32_t i = 0;
    for (; i < holding->piece_count; i++) {
        const struct piece *piece = &holding_pieces(holding)[i];
        if (piece->node == part->node && piece->group == part->group && piece->gpu_milli == part->gpu_milli &&
            piece->mig_start == part->mig_start && piece->member_count >= part->member_count &&
            (part->gpu_mask & ~piece->gpu_mask) == 0)
            break;
    }
    return i;
}

bool holding_take(struct holding *holding, const struct piece *pieces, uint32_t count)
{
    struct piece *own = pieces_of(holding);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = find(holding, &pieces[i]);
        if (at == holding->piece_count)
            return false;
        struct piece *piece = &own[at];
        count_members(holding, &pieces[i], false);
        piece->member_count = (uint16_t)(piece->member_count - pieces[i].member_count);
        piece->gpu_mask &= (uint16_t)~pieces[i].gpu_mask;
        if (piece->member_count > 0)
            continue;
        for (holding->piece_count--; at < holding->piece_count; at++)
            own[at] = own[at + 1];
    }
    return true;
}

/* Which sets are satisfied without gone[g] members of each group; gone NULL: with all. */
static bool settle_without(const struct holding *holding, const uint32_t gone[], bool satisfied[])
{
    uint32_t left = holding->held_count;
    for (uint32_t s = 0; s < holding->set_count; s++) {
        const uint32_t less = gone != NULL ? gone[s] : 0;
        satisfied[s] = holding->sets[s].held - less >= holding->sets[s].min_members;
        left -= less;
    }
    return sets_settle(holding->has_tree ? holding->tree : NULL, holding->set_count, holding->min_sets, satisfied) &&
           left > 0;
}

bool holding_is_complete_without(struct holding *holding, const struct piece *pieces, uint32_t count)
{
    uint32_t gone[JOB_PARTS_MAX] = {0};
    bool satisfied[JOB_PARTS_MAX];
    for (uint32_t i = 0; i < count; i++)
        gone[holding_set_of(holding, pieces[i].group)] += pieces[i].member_count;
    if (holding->may_lack)
        return settle_without(holding, gone, satisfied);
    for (uint32_t s = 0; s < holding->set_count; s++) {
        const struct holding_set *set = holding_set(holding, s);
        if (set->held - gone[s] < set->min_members)
            return false;
    }
    return true;
}

bool holding_has_enough_sets(const struct holding *holding)
{
    bool satisfied[JOB_PARTS_MAX];
    return settle_without(holding, NULL, satisfied);
}

uint32_t holding_working(const struct holding *holding)
{
    bool satisfied[JOB_PARTS_MAX];
    uint32_t working = 0;
    if (!holding->may_lack)
        return holding->held_count;
    settle_without(holding, NULL, satisfied);
    for (uint32_t s = 0; s < holding->set_count; s++) {
        const uint16_t parent = holding->has_tree ? holding->tree[s].parent : SET_NONE;
        satisfied[s] &= parent == SET_NONE || satisfied[parent];
        working += satisfied[s] ? holding->sets[s].held : 0;
    }
    return working > 0 ? working : holding->held_count;
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
