/* Slices; see policies/placement/slices.h. */
#include "policies/placement/slices.h"

#include "policies/placement/placement_config.h"

static uint32_t size_of(const struct placing *placing, uint32_t group)
{
    return placing->asked->request_class->groups[group].slice_members;
}

/* How many members an incomplete slice in the domain lacks; 0: none is incomplete. */
static uint32_t lacking_in(const struct placing *placing, uint32_t group, uint32_t domain)
{
    const struct cluster_level *level = slices_level(placing, group);
    uint32_t held = 0;
    for (uint32_t i = 0; i < placing->asked->held.count; i++) {
        const struct piece *piece = &placing->asked->held.pieces[i];
        if (piece->group == group && level->domain[piece->node] == domain)
            held += piece->member_count;
    }
    const uint32_t over = held % size_of(placing, group);
    return over == 0 ? 0 : size_of(placing, group) - over;
}

/* By domain: how many members it has room for, without regard to slices. */
static uint32_t *member_rooms(const struct placing *placing, uint32_t group, const struct region *region)
{
    const struct cluster_level *level = slices_level(placing, group);
    const struct request *request = &placing->asked->request_class->groups[group].request;
    uint32_t *rooms = arena_alloc_array(&placing->out->scratch, (size_t)level->domain_count + 1, uint32_t);
    for (node_id n = region->first; n <= region->last; n++) {
        const uint32_t domain = level->domain[n];
        if (domain == DOMAIN_NONE || !region_contains(region, n))
            continue;
        const uint32_t room = request_class_room(request, placing->ledger, n, placing->asked->allowed);
        rooms[domain] += room < UINT32_MAX - rooms[domain] ? room : UINT32_MAX - rooms[domain];
    }
    return rooms;
}

uint32_t *slices_rooms(const struct placing *placing, uint32_t group, const struct region *region)
{
    uint32_t *rooms = member_rooms(placing, group, region);
    for (uint32_t d = 0; d < slices_level(placing, group)->domain_count; d++) {
        uint32_t lacking = rooms[d] > 0 ? lacking_in(placing, group, d) : 0;
        if (rooms[d] < lacking)
            lacking = 0;
        rooms[d] -= (rooms[d] - lacking) % size_of(placing, group);
    }
    return rooms;
}

/* Place all `count` members or none. */
static bool place_together(struct placing *placing, uint16_t group, uint32_t count, const struct region *region)
{
    struct placing_mark mark = placing_mark(placing);
    placing->first_growing = placing->out->count;
    for (uint32_t left = count; left > 0; left--)
        if (!placing_member(placing, group, left, region)) {
            placing_rollback(placing, &mark);
            return false;
        }
    placing_commit(placing, &mark);
    return true;
}

/* The domain for the next slice; DOMAIN_NONE: none has room. */
static uint32_t next_domain(const uint32_t *rooms, uint32_t count, uint32_t slice, uint32_t left)
{
    uint32_t best = DOMAIN_NONE;
    for (uint32_t d = 0; d < count; d++) {
        if (rooms[d] < slice)
            continue;
        if (best == DOMAIN_NONE) {
            best = d;
            continue;
        }
        const bool holds = rooms[d] >= left, best_holds = rooms[best] >= left;
        if (holds != best_holds ? holds : holds ? rooms[d] < rooms[best] : rooms[d] > rooms[best])
            best = d;
    }
    return best;
}

/* Place slices into the domain, at most `most` members.  Returns how many members were placed. */
static uint32_t fill_domain(struct placing *placing, uint16_t group, uint32_t most, const struct region *part)
{
    const uint32_t slice = size_of(placing, group);
    uint32_t placed = 0;
    while (placed + slice <= most && place_together(placing, group, slice, part))
        placed += slice;
    return placed;
}

/* Place slices as the policy deals them to domains.  Returns how many members were placed. */
static uint32_t place_dealt(struct placing *placing, uint16_t group, uint32_t left, const struct region *region,
                            uint32_t *rooms)
{
    const struct cluster_level *level = slices_level(placing, group);
    const uint32_t slice = size_of(placing, group);
    uint32_t placed = 0, n = 0;
    if (!domain_shares_are_dealt(placing->domains))
        return 0;
    struct domain_share *shares =
        arena_alloc_array(&placing->out->scratch, (size_t)level->domain_count + 1, struct domain_share);
    for (uint32_t d = 0; d < level->domain_count; d++)
        if (rooms[d] >= slice)
            shares[n++] = (struct domain_share){.id = d, .room = rooms[d] / slice * slice};
    n = domain_shares_deal(placing->domains, shares, n, left / slice * slice, slice);
    for (uint32_t i = 0; i < n; i++) {
        struct region part = region_part(region, level, shares[i].id);
        const uint32_t here = fill_domain(placing, group, shares[i].quota, &part);
        rooms[shares[i].id] -= here;
        placed += here;
    }
    return placed;
}

uint32_t slices_place(struct placing *placing, uint16_t group, uint32_t left, const struct region *region)
{
    const uint32_t slice = size_of(placing, group);
    if (left < slice)
        return 0;
    const struct cluster_level *level = slices_level(placing, group);
    uint32_t *rooms = member_rooms(placing, group, region);
    uint32_t placed = place_dealt(placing, group, left, region, rooms), domain;
    while (placed + slice <= left &&
           (domain = next_domain(rooms, level->domain_count, slice, left - placed)) != DOMAIN_NONE) {
        struct region part = region_part(region, level, domain);
        if (!place_together(placing, group, slice, &part)) {
            rooms[domain] = 0;
            continue;
        }
        rooms[domain] -= slice;
        placed += slice;
    }
    return placed;
}

/* Does the region include nodes of the domain?  A region narrower than the level lies inside one domain. */
static bool reaches(const struct region *region, const struct cluster_level *level, uint32_t domain)
{
    return domain != DOMAIN_NONE && (region->level == NULL || region->level < level ||
                                     level->domain[region->level->first[region->id]] == domain);
}

uint32_t slices_mend(struct placing *placing, uint16_t group, uint32_t left, const struct region *region)
{
    const struct cluster_level *level = slices_level(placing, group);
    uint32_t placed = 0;
    for (uint32_t i = 0; i < placing->asked->held.count; i++) {
        const struct piece *piece = &placing->asked->held.pieces[i];
        const uint32_t domain = level->domain[piece->node];
        bool is_first = piece->group == group && reaches(region, level, domain);
        for (uint32_t k = 0; k < i && is_first; k++)
            is_first = placing->asked->held.pieces[k].group != group ||
                       level->domain[placing->asked->held.pieces[k].node] != domain;
        if (!is_first)
            continue;
        const uint32_t lacking = lacking_in(placing, group, domain);
        struct region part = region_part(region, level, domain);
        if (lacking > 0 && placed + lacking <= left && place_together(placing, group, lacking, &part))
            placed += lacking;
    }
    return placed;
}
