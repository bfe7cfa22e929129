/* Members that must be close; see sim/job/closeness.h. */
#include "sim/job/closeness.h"

#include "base/bits.h"

bool closeness_is_asked(const struct job *job)
{
    bool is_asked = false;
    for (uint32_t g = 0; g < job->group_count; g++)
        is_asked |= job_group(job, g)->slice_members != 0 || job_group(job, g)->request.one_island;
    return is_asked;
}

/* The number of members in the domain. */
static uint32_t members_in(const struct cluster_level *level, uint32_t domain, uint32_t group,
                           const struct piece *pieces, uint32_t count)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < count; i++)
        if (pieces[i].group == group && level->domain[pieces[i].node] == domain)
            members += pieces[i].member_count;
    return members;
}

/* Members of one piece may exchange GPUs, so each island must hold whole members. */
static bool is_split(const struct cluster *cluster, const struct piece *piece, uint32_t gpus)
{
    const uint32_t size = cluster_node_type(cluster, piece->node)->island_gpus;
    for (uint32_t rest = piece->gpu_mask; size > 0 && rest != 0; rest >>= size)
        if (bits_count16((uint16_t)(rest & ((1u << size) - 1))) % gpus != 0)
            return true;
    return false;
}

const char *closeness_complaint(const struct cluster *cluster, const struct job_group *group, uint32_t index,
                                const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        if (piece->group != index)
            continue;
        if (group->request.one_island && is_split(cluster, piece, group->request.gpus))
            return "a member that asks for one island has GPUs of several";
        if (group->slice_members == 0)
            continue;
        const struct cluster_level *level = &cluster->levels[group->slice_level - 1];
        const uint32_t domain = level->domain[piece->node];
        if (domain == DOMAIN_NONE || members_in(level, domain, index, pieces, count) % group->slice_members != 0)
            return "a slice is not in one domain of its level";
    }
    return NULL;
}
