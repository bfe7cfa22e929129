/* policies/placement/domains.c -- places sets of members in domains, level by level, best fit first. */
#include "policies/placement/domains.h"

#include "policies/placement/by_node.h"
#include "policies/placement/domain_list.h"
#include "policies/placement/one_node.h"
#include "policies/placement/placement_config.h"
#include "policies/placement/slices.h"

static uint16_t set_of(const struct request_class *request_class, uint32_t group)
{
    return request_class->set_count == 0 ? SET_NONE : request_class->groups[group].set;
}

/* `above` itself if the set is `above`, else the set just below `above` that contains the set; SET_NONE: it is not
 * below. */
static uint16_t set_towards(const struct request_class *request_class, uint16_t set, uint16_t above)
{
    while (set != SET_NONE && set != above && request_class->sets[set].parent != above)
        set = request_class->sets[set].parent;
    return set;
}

/* The groups of a set and all below it, as bits. */
static uint64_t groups_of(const struct request_class *request_class, uint16_t set)
{
    uint64_t groups = 0;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (set == SET_NONE || set_towards(request_class, set_of(request_class, g), set) != SET_NONE)
            groups |= UINT64_C(1) << g;
    return groups;
}

/* Where members go if no domain of `level` holds them all: into its domains one after another, then anywhere in the
 * region. */
struct filling {
    const struct region *region;
    const struct cluster_level *level; /* NULL: the region is not divided */
    struct domain_list list;
};

/* outer: how the set that contains it is filled; NULL: it is in none. */
static bool place_set(struct placing *placing, uint16_t set, const struct region *region, const struct filling *outer);

static struct topology_ask asked_of(const struct placing *placing, uint16_t set)
{
    return set == SET_NONE ? placing->topology : placing->asked->request_class->sets[set].topology;
}

/* The part of the outer filling that lies in the region. */
static struct filling inherit(struct placing *placing, const struct region *region, const struct filling *outer)
{
    struct filling out = {.region = region, .level = outer->level};
    out.list.domains = arena_alloc_array(&placing->out->scratch, outer->list.count, struct domain);
    for (uint32_t i = 0; i < outer->list.count; i++)
        if (region_contains(region, outer->level->first[outer->list.domains[i].id]))
            out.list.domains[out.list.count++] = outer->list.domains[i];
    return out;
}

/* The only group of the set that has members; UINT32_MAX: there is none, or several. */
static uint32_t only_group(const struct request_class *request_class, uint64_t groups)
{
    uint32_t only = UINT32_MAX;
    for (uint64_t left = groups; left != 0; left &= left - 1) {
        const uint32_t g = (uint32_t)__builtin_ctzll(left);
        if (request_class->groups[g].count > 0 && only != UINT32_MAX)
            return UINT32_MAX;
        only = request_class->groups[g].count > 0 ? g : only;
    }
    return only;
}

/* Deal the members of the set to the domains as the policy says.  Not done for a set of several groups. */
static void deal(struct placing *placing, uint16_t set, struct domain_list *list)
{
    const uint32_t group = only_group(placing->asked->request_class, groups_of(placing->asked->request_class, set));
    if (!domain_shares_are_dealt(placing->domains) || group == UINT32_MAX)
        return;
    const struct job_group *asked = &placing->asked->request_class->groups[group];
    const uint32_t step = asked->slice_members != 0 ? asked->slice_members : 1;
    struct domain_share *shares = arena_alloc_array(&placing->out->scratch, list->count, struct domain_share);
    for (uint32_t i = 0; i < list->count; i++)
        shares[i] = (struct domain_share){.id = list->domains[i].id, .room = list->domains[i].room / step * step};
    list->count = domain_shares_deal(placing->domains, shares, list->count, asked->count / step * step, step);
    for (uint32_t i = 0; i < list->count; i++) {
        list->domains[i].id = shares[i].id;
        list->domains[i].quota = shares[i].quota;
    }
}

static bool place_sliced(struct placing *placing, uint16_t group, const struct filling *filling)
{
    uint32_t left = placing->asked->request_class->groups[group].count;
    left -= slices_mend(placing, group, left, filling->region);
    for (uint32_t i = 0; i < filling->list.count && left > 0; i++) {
        struct region part = region_part(filling->region, filling->level, filling->list.domains[i].id);
        const uint32_t quota = filling->list.domains[i].quota;
        left -= slices_place(placing, group, left < quota ? left : quota, &part);
    }
    return slices_place(placing, group, left, filling->region) == left;
}

static bool place_group(struct placing *placing, uint16_t group, const struct filling *filling)
{
    uint32_t left = placing->asked->request_class->groups[group].count;
    if (placing->asked->request_class->groups[group].slice_members != 0)
        return place_sliced(placing, group, filling);
    for (uint32_t i = 0; i < filling->list.count && left > 0; i++) {
        struct region part = region_part(filling->region, filling->level, filling->list.domains[i].id);
        uint32_t quota = filling->list.domains[i].quota;
        for (; quota > 0 && left > 0 && placing_member(placing, group, left, &part); quota--)
            left--;
    }
    for (; left > 0; left--)
        if (!placing_member(placing, group, left, filling->region))
            return false;
    return true;
}

static bool try_set(struct placing *placing, uint16_t set, const struct region *region)
{
    struct placing_mark mark = placing_mark(placing);
    bool is_placed = place_set(placing, set, region, NULL);
    if (is_placed)
        placing_commit(placing, &mark);
    else
        placing_rollback(placing, &mark);
    return is_placed;
}

/* A set in another one goes whole to a domain that the other fills, if one holds it.  Nested: it goes where it asks
 * itself, and without a preference its members fill the other's domains one by one. */
static bool place_child(struct placing *placing, uint16_t set, const struct filling *filling)
{
    if (placing->domains == DOMAINS_NESTED)
        return place_set(placing, set, filling->region, filling);
    for (uint32_t i = 0; i < filling->list.count; i++) {
        struct region part = region_part(filling->region, filling->level, filling->list.domains[i].id);
        if (try_set(placing, set, &part))
            return true;
    }
    return place_set(placing, set, filling->region, NULL);
}

/* Place the set's own groups and the sets just below it, in the order of the scarcest group.  missed: the preferred
 * level of which no domain holds all; NULL: none. */
static bool place_inside(struct placing *placing, uint16_t set, const struct region *region,
                         const struct cluster_level *missed, const struct filling *outer)
{
    const struct request_class *request_class = placing->asked->request_class;
    struct filling filling = {.region = region, .level = missed};
    uint64_t groups = groups_of(request_class, set), sets_done = 0;
    if (missed != NULL) {
        filling.list = domain_list_of(placing, groups, missed, region, true);
        deal(placing, set, &filling.list);
    } else if (outer != NULL && outer->level != NULL && asked_of(placing, set).preferred == 0) {
        filling = inherit(placing, region, outer);
    }
    for (uint32_t i = 0; i < request_class->group_count; i++) {
        uint16_t g = request_class->order[i];
        if (!(groups >> g & 1) || request_class->groups[g].count == 0)
            continue;
        uint16_t below = set_towards(request_class, set_of(request_class, g), set);
        bool is_own = below == set;
        if (!is_own && (sets_done >> below & 1))
            continue;
        if (!is_own)
            sets_done |= UINT64_C(1) << below;
        if (is_own ? !place_group(placing, g, &filling) : !place_child(placing, below, &filling))
            return false;
    }
    return true;
}

/* Place the set in one domain of the level.  missed: the narrower preferred level, if no domain of that holds all. */
static bool place_at_level(struct placing *placing, uint16_t set, const struct region *region,
                           const struct cluster_level *level, const struct cluster_level *missed,
                           const struct filling *outer)
{
    struct domain_list list =
        domain_list_of(placing, groups_of(placing->asked->request_class, set), level, region, false);
    for (uint32_t i = 0; i < list.count; i++) {
        struct region part = region_part(region, level, list.domains[i].id);
        struct placing_mark mark = placing_mark(placing);
        if (place_inside(placing, set, &part, missed, outer)) {
            placing_commit(placing, &mark);
            return true;
        }
        placing_rollback(placing, &mark);
    }
    return false;
}

static bool place_set(struct placing *placing, uint16_t set, const struct region *region, const struct filling *outer)
{
    const struct cluster *cluster = placing->ledger->cluster;
    const struct topology_ask ask = asked_of(placing, set);
    if (ask.required > cluster->level_count)
        return false;
    uint32_t widest = ask.required != 0 ? ask.required : 1;
    uint32_t narrowest = ask.preferred > ask.required ? ask.preferred : ask.required;
    if (narrowest > cluster->level_count)
        narrowest = cluster->level_count;
    const struct cluster_level *missed = NULL;
    for (uint32_t number = narrowest; number >= widest; number--) {
        const struct cluster_level *level = &cluster->levels[number - 1];
        if (place_at_level(placing, set, region, level, missed, outer))
            return true;
        missed = missed != NULL ? missed : level;
    }
    return ask.required == 0 && place_inside(placing, set, region, missed, outer);
}

static bool place_on_node(struct placing *placing, node_id node)
{
    struct region everywhere = region_everywhere(placing->ledger);
    struct region region = region_part(&everywhere, NULL, node);
    return try_set(placing, SET_NONE, &region);
}

static bool place_on_one_node(struct placing *placing)
{
    struct region everywhere = region_everywhere(placing->ledger);
    if (!one_node_may_hold(placing->ledger, placing->asked->request_class))
        return false;
    const struct job_group *only = one_node_only_group(placing);
    if (only != NULL) {
        struct search search = one_node_search(placing, only, &everywhere);
        return by_node_best(placing_memory(placing), &search) && place_on_node(placing, search.best.node);
    }
    struct domain_list list =
        domain_list_of(placing, groups_of(placing->asked->request_class, SET_NONE), NULL, &everywhere, false);
    for (uint32_t i = 0; i < list.count; i++)
        if (place_on_node(placing, list.domains[i].id))
            return true;
    return false;
}

bool domains_place_all(struct placing *placing)
{
    struct region everywhere = region_everywhere(placing->ledger);
    bool is_alone = placing->asked->request_class->member_count == 1 && placing->asked->held.count == 0;
    enum one_node one_node = is_alone ? ONE_NODE_NO : placing->asked->policy->one_node;
    bool is_confined = placing->topology.required != 0 || placing->topology.preferred != 0 ||
                       request_class_asks_domains(placing->asked->request_class);
    if (is_confined || one_node != ONE_NODE_NO)
        arena_reset(&placing->out->scratch);
    if (one_node != ONE_NODE_NO && place_on_one_node(placing))
        return true;
    if (one_node == ONE_NODE_REQUIRED)
        return false;
    return is_confined ? place_set(placing, SET_NONE, &everywhere, NULL) : placing_in_order(placing, &everywhere);
}
