/* Kinds of members; see policies/jobs/member_kinds.h. */
#include "policies/jobs/member_kinds.h"

#include <stdlib.h>

#include "base/hash.h"
#include "policies/jobs/request_class.h"

static uint64_t hash_of(const struct request *request, uint8_t level, uint32_t together)
{
    uint64_t hash = hash_mix(request->gpus, request->gpu_milli);
    hash = hash_mix(hash, (uint64_t)request->gpu_memory_mib << 8 | request->mig);
    hash = hash_mix(hash, (uint64_t)request->cpu_milli << 32 | request->memory_mib);
    hash = hash_mix(hash, request->gpu_models);
    if (request->nodes != NULL)
        hash = hash_mix(hash, request->nodes->hash);
    return hash_mix(hash, (uint64_t)together << 16 | (uint64_t)request->one_island << 8 | level);
}

static bool is_kind(const struct member_kind *kind, const struct request *request, uint8_t level, uint32_t together)
{
    return kind->level == level && kind->together == together && request_is_same(&kind->request, request);
}

/* The slot of the kind, or the empty slot where it belongs. */
static uint32_t *slot_of(const struct member_kinds *kinds, const struct request *request, uint8_t level,
                         uint32_t together)
{
    uint32_t at = (uint32_t)hash_of(request, level, together) & (kinds->slot_count - 1);
    while (kinds->slots[at] != 0 && !is_kind(&kinds->kinds[kinds->slots[at] - 1], request, level, together))
        at = (at + 1) & (kinds->slot_count - 1);
    return &kinds->slots[at];
}

static void rehash(struct member_kinds *kinds, uint32_t slot_count)
{
    mem_free(kinds->slots);
    kinds->slots = mem_zalloc(slot_count, sizeof *kinds->slots);
    kinds->slot_count = slot_count;
    for (uint32_t k = 0; k < kinds->count; k++) {
        const struct member_kind *kind = &kinds->kinds[k];
        *slot_of(kinds, &kind->request, kind->level, kind->together) = k + 1;
    }
}

uint32_t member_kinds_find(struct member_kinds *kinds, const struct request *request, uint8_t level, uint32_t together)
{
    struct request nobodys = *request; /* members of different owners are of one kind */
    nobodys.domain = request->domain == 0 ? 0 : REQUEST_ANYBODYS;
    if (kinds->slot_count < 2 * (kinds->count + 1))
        rehash(kinds, kinds->slot_count == 0 ? 64 : 2 * kinds->slot_count);
    uint32_t *slot = slot_of(kinds, &nobodys, level, together);
    if (*slot != 0)
        return *slot - 1;
    MEM_GROW(kinds->kinds, kinds->capacity, (size_t)kinds->count + 1);
    kinds->kinds[kinds->count] = (struct member_kind){nobodys, together, level, 0};
    *slot = ++kinds->count;
    return kinds->count - 1;
}

void member_kinds_add(struct member_kinds *kinds, uint32_t kind, uint64_t members)
{
    kinds->kinds[kind].members += members;
    kinds->members += members;
}

/* The level that members of the group must be together in, and how many of them. */
static uint8_t level_of(const struct job *job, const struct job_group *group, uint32_t *together)
{
    if (group->slice_members != 0 && group->slice_level >= job->topology.required) {
        *together = group->slice_members;
        return group->slice_level;
    }
    *together = group->min_count;
    if (job->set_count > 0 && job->sets[group->set].topology.required > 0) {
        *together = job->sets[group->set].min_members;
        return job->sets[group->set].topology.required;
    }
    return job->topology.required;
}

void member_kinds_add_job(struct member_kinds *kinds, const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        uint32_t together;
        const uint8_t level = level_of(job, group, &together);
        if (level == 0 || together == 0)
            together = 1;
        member_kinds_add(kinds, member_kinds_find(kinds, &group->request, level, together), group->count);
    }
}

/* The kind with the most members first; among equals the one that came first. */
static int compare_kinds(const void *a, const void *b, void *kinds)
{
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct member_kind *all = kinds;
    if (all[i].members != all[j].members)
        return all[i].members > all[j].members ? -1 : 1;
    return i < j ? -1 : i > j;
}

void member_kinds_tell(const struct member_kinds *kinds, struct typical_jobs *typical)
{
    uint32_t *order = mem_zalloc(kinds->count + 1, sizeof *order);
    uint64_t members = 0;
    for (uint32_t k = 0; k < kinds->count; k++)
        order[k] = k;
    if (kinds->count > 1)
        qsort_r(order, kinds->count, sizeof *order, compare_kinds, kinds->kinds);
    typical->count = 0;
    for (uint32_t i = 0; i < kinds->count && members * 100 < kinds->members * TYPICAL_PERCENT; i++) {
        const struct member_kind *kind = &kinds->kinds[order[i]];
        MEM_GROW(typical->jobs, typical->capacity, (size_t)typical->count + 1);
        typical->jobs[typical->count++] =
            (struct typical_job){kind->request, (double)kind->members, kind->together, kind->level};
        members += kind->members;
    }
    for (uint32_t j = 0; j < typical->count; j++)
        typical->jobs[j].share /= (double)members;
    mem_free(order);
}

void member_kinds_release(struct member_kinds *kinds)
{
    mem_free(kinds->kinds);
    mem_free(kinds->slots);
    *kinds = (struct member_kinds){0};
}
