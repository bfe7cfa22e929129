/* policies/placement/domain_list.c -- weighs the domains of a level, and sorts them. */
#include "policies/placement/domain_list.h"

#include <stdlib.h>

#include "policies/placement/placement_config.h"
#include "policies/placement/slices.h"

enum amount { AMOUNT_GPU, AMOUNT_CPU, AMOUNT_MEMORY, AMOUNT_COUNT };

/* Domains of a level inside a region, for the groups of a set. */
struct weighing {
    const struct cluster_level *level; /* NULL: every node is a domain */
    const struct region *region;
    uint64_t groups;                /* bit g */
    uint32_t first, count;          /* domains first..first + count - 1 may lie in the region */
    uint64_t (*free)[AMOUNT_COUNT]; /* by domain - first */
    uint32_t *rooms;                /* by domain - first and group: members that fit, at most those asked */
    uint8_t *holds;                 /* by domain - first */
    bool any_holds;
};

static uint32_t domain_of(const struct weighing *weighing, node_id node)
{
    return weighing->level == NULL ? node : weighing->level->domain[node];
}

/* Does each slice of the group lie in a domain narrower than the domains that are weighed?  Then room for a part of a
 * slice does not count. */
static bool has_slices_inside(const struct placing *placing, const struct weighing *weighing, uint32_t group)
{
    const struct job_group *asked = &placing->asked->request_class->groups[group];
    return asked->slice_members != 0 && weighing->level != NULL && weighing->level < slices_level(placing, group);
}

/* May members of the group be on the node?  Slices need a domain of their level. */
static bool may_stand(const struct placing *placing, uint32_t group, node_id node)
{
    return placing->asked->request_class->groups[group].slice_members == 0 ||
           slices_level(placing, group)->domain[node] != DOMAIN_NONE;
}

/* May members of the set be on nodes of that type? */
static bool is_for(const struct placing *placing, const struct weighing *weighing, uint32_t type)
{
    for (uint64_t left = weighing->groups; left != 0; left &= left - 1)
        if (request_takes_nodes(&placing->asked->request_class->groups[__builtin_ctzll(left)].request,
                                placing->ledger->cluster, type))
            return true;
    return false;
}

static bool is_shut(const struct placing *placing, node_id node)
{
    const struct allowed_space *allowed = placing->asked->allowed;
    return allowed != NULL && allowed->shut != NULL && allowed->shut[node] != 0;
}

static void weigh_node(const struct placing *placing, struct weighing *weighing, node_id node)
{
    const struct ledger *ledger = placing->ledger;
    const struct request_class *request_class = placing->asked->request_class;
    uint32_t domain = domain_of(weighing, node);
    const struct node *entry = &ledger->cluster->nodes[node];
    if (domain == DOMAIN_NONE || !ledger->index->is_listed[node] || is_shut(placing, node) ||
        !is_for(placing, weighing, entry->type))
        return;
    domain -= weighing->first;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        weighing->free[domain][AMOUNT_GPU] += ledger->gpus[entry->first_gpu + i].free;
    weighing->free[domain][AMOUNT_CPU] += ledger->nodes[node].cpu_free;
    weighing->free[domain][AMOUNT_MEMORY] += ledger->nodes[node].memory_free;
    uint32_t *rooms = &weighing->rooms[(size_t)domain * request_class->group_count];
    for (uint64_t left = weighing->groups; left != 0; left &= left - 1) {
        uint32_t g = (uint32_t)__builtin_ctzll(left);
        if (has_slices_inside(placing, weighing, g) || !may_stand(placing, g, node))
            continue;
        uint32_t room = request_class_room(&request_class->groups[g].request, ledger, node, placing->asked->allowed);
        uint32_t lacking = request_class->groups[g].count - rooms[g];
        rooms[g] += room < lacking ? room : lacking;
    }
}

/* Add the room for a group in slices: whole slices, and the members that incomplete slices lack. */
static void weigh_slices(const struct placing *placing, struct weighing *weighing, uint32_t group)
{
    const struct cluster_level *level = slices_level(placing, group);
    const uint32_t *rooms = slices_rooms(placing, group, weighing->region);
    const uint32_t count = placing->asked->request_class->groups[group].count;
    for (uint32_t d = 0; d < level->domain_count; d++) {
        if (rooms[d] == 0)
            continue;
        const uint32_t domain = domain_of(weighing, level->first[d]) - weighing->first;
        uint32_t *room = &weighing->rooms[(size_t)domain * placing->asked->request_class->group_count + group];
        *room = rooms[d] < count - *room ? *room + rooms[d] : count;
    }
}

/* Note the domains where the job holds members of the set: these bind the set. */
static void weigh_held(const struct placing *placing, struct weighing *weighing)
{
    for (uint32_t i = 0; i < placing->asked->held.count; i++) {
        const struct piece *piece = &placing->asked->held.pieces[i];
        if (!(weighing->groups >> piece->group & 1))
            continue;
        uint32_t domain = domain_of(weighing, piece->node);
        weighing->any_holds = true;
        if (domain >= weighing->first && domain - weighing->first < weighing->count)
            weighing->holds[domain - weighing->first] = 1;
    }
}

/* Find the range of domain numbers in the region.  Domains are numbered in the order of their nodes, so it is short. */
static void bound_domains(struct weighing *weighing)
{
    uint32_t last = 0;
    weighing->first = DOMAIN_NONE;
    for (node_id n = weighing->region->first; n <= weighing->region->last; n++) {
        uint32_t domain = domain_of(weighing, n);
        if (domain == DOMAIN_NONE || !region_contains(weighing->region, n))
            continue;
        weighing->first = domain < weighing->first ? domain : weighing->first;
        last = domain > last ? domain : last;
    }
    weighing->count = weighing->first == DOMAIN_NONE ? 0 : last - weighing->first + 1;
}

static void weigh(const struct placing *placing, struct weighing *weighing)
{
    struct arena *scratch = &placing->out->scratch;
    bound_domains(weighing);
    size_t count = weighing->count;
    weighing->free = arena_alloc_many(scratch, count, sizeof *weighing->free);
    weighing->rooms = arena_alloc_array(scratch, count * placing->asked->request_class->group_count, uint32_t);
    weighing->holds = arena_alloc_array(scratch, count, uint8_t);
    for (node_id n = weighing->region->first; count > 0 && n <= weighing->region->last; n++)
        if (region_contains(weighing->region, n))
            weigh_node(placing, weighing, n);
    for (uint64_t left = count > 0 ? weighing->groups : 0; left != 0; left &= left - 1)
        if (has_slices_inside(placing, weighing, (uint32_t)__builtin_ctzll(left)))
            weigh_slices(placing, weighing, (uint32_t)__builtin_ctzll(left));
    weigh_held(placing, weighing);
}

static void add_need(const struct placing *placing, uint64_t groups, uint64_t need[AMOUNT_COUNT])
{
    const struct cluster *cluster = placing->ledger->cluster;
    for (; groups != 0; groups &= groups - 1) {
        const struct job_group *group = &placing->asked->request_class->groups[__builtin_ctzll(groups)];
        const struct request *request = &group->request;
        uint64_t milli = request->mig != 0 ? mig_slices((enum mig_profile_id)(request->mig - 1)) * MIG_SLICE_MILLI
                                           : (uint64_t)request_class_most_milli(request, cluster);
        need[AMOUNT_GPU] += milli * group->count;
        need[AMOUNT_CPU] += (uint64_t)request->cpu_milli * group->count;
        need[AMOUNT_MEMORY] += (uint64_t)request->memory_mib * group->count;
    }
}

/* Compare need_a / free_a with need_b / free_b, by cross multiplication.  A need where nothing is free is the largest.
 */
static int compare_parts(uint64_t need_a, uint64_t free_a, uint64_t need_b, uint64_t free_b)
{
    unsigned __int128 a = (unsigned __int128)need_a * free_b;
    unsigned __int128 b = (unsigned __int128)need_b * free_a;
    return a < b ? -1 : a > b;
}

static struct domain weigh_domain(const struct placing *placing, const struct weighing *weighing, uint32_t index,
                                  const uint64_t need[AMOUNT_COUNT])
{
    const struct request_class *request_class = placing->asked->request_class;
    const uint64_t *free = weighing->free[index];
    struct domain domain = {.id = weighing->first + index,
                            .holds = weighing->holds[index] != 0,
                            .has_all = true,
                            .quota = UINT32_MAX,
                            .free = 1};
    for (uint64_t left = weighing->groups; left != 0; left &= left - 1) {
        uint32_t g = (uint32_t)__builtin_ctzll(left);
        uint32_t room = weighing->rooms[(size_t)index * request_class->group_count + g];
        domain.has_all &= room == request_class->groups[g].count;
        domain.has_any |= room > 0;
        domain.room = room;
    }
    for (uint32_t a = 0; a < AMOUNT_COUNT; a++)
        if (compare_parts(need[a], free[a], domain.need, domain.free) > 0) {
            domain.need = need[a];
            domain.free = free[a];
        }
    return domain;
}

/* <0 if x goes first: the largest part first (is_filling: the smallest), then the lowest number. */
static int compare_weights(struct part x, struct part y, bool is_filling)
{
    if (x.id == y.id)
        return 0;
    if (x.id == DOMAIN_NONE || y.id == DOMAIN_NONE)
        return x.id == DOMAIN_NONE ? 1 : -1;
    const int parts =
        is_filling ? compare_parts(x.need, x.free, y.need, y.free) : compare_parts(y.need, y.free, x.need, x.free);
    return parts != 0 ? parts : x.id < y.id ? -1 : 1;
}

static int compare_domains(const struct domain *x, const struct domain *y, bool is_filling)
{
    for (uint32_t i = 0; i < x->around_count; i++) {
        const int weights = compare_weights(x->around[i], y->around[i], is_filling);
        if (weights != 0)
            return weights;
    }
    return compare_weights((struct part){x->id, x->need, x->free}, (struct part){y->id, y->need, y->free}, is_filling);
}

static int compare_fullest(const void *a, const void *b)
{
    return compare_domains(a, b, false);
}

static int compare_emptiest(const void *a, const void *b)
{
    return compare_domains(a, b, true);
}

/* The exact reverse of compare_fullest, but that what has no domain comes last. */
static int compare_last(const void *a, const void *b)
{
    const struct domain *x = a, *y = b;
    for (uint32_t i = 0; i < x->around_count; i++)
        if (x->around[i].id != y->around[i].id && (x->around[i].id == DOMAIN_NONE || y->around[i].id == DOMAIN_NONE))
            return x->around[i].id == DOMAIN_NONE ? 1 : -1;
    return compare_domains(y, x, false);
}

/* Add to each domain of the list the domain of the wider level that it is in. */
static void add_around(const struct placing *placing, const struct weighing *inner, const struct cluster_level *wider,
                       const uint64_t need[AMOUNT_COUNT], struct domain_list *list)
{
    struct weighing outer = {.level = wider, .region = inner->region, .groups = inner->groups};
    weigh(placing, &outer);
    for (uint32_t i = 0; i < list->count; i++) {
        struct domain *domain = &list->domains[i];
        struct part *part = &domain->around[domain->around_count++];
        const uint32_t id = wider->domain[inner->level->first[domain->id]];
        part->id = DOMAIN_NONE;
        if (id == DOMAIN_NONE || id < outer.first || id - outer.first >= outer.count)
            continue;
        const struct domain around = weigh_domain(placing, &outer, id - outer.first, need);
        *part = (struct part){.id = id, .need = around.need, .free = around.free};
    }
}

/* Add the levels between the region and the weighed level, the widest first. */
static void add_wider_levels(const struct placing *placing, const struct weighing *inner,
                             const uint64_t need[AMOUNT_COUNT], struct domain_list *list)
{
    const struct cluster_level *level =
        inner->region->level == NULL ? placing->ledger->cluster->levels : inner->region->level + 1;
    if (level >= inner->level)
        return;
    const size_t depth = (size_t)(inner->level - level);
    struct part *parts = arena_alloc_many(&placing->out->scratch, depth * list->count, sizeof *parts);
    for (uint32_t i = 0; i < list->count; i++)
        list->domains[i].around = parts + depth * i;
    for (; level < inner->level; level++)
        add_around(placing, inner, level, need, list);
}

struct domain_list domain_list_of(const struct placing *placing, uint64_t groups, const struct cluster_level *level,
                                  const struct region *region, bool is_filling)
{
    struct weighing weighing = {.level = level, .region = region, .groups = groups};
    uint64_t need[AMOUNT_COUNT] = {0};
    weigh(placing, &weighing);
    add_need(placing, groups, need);
    struct domain_list list = {.domains = arena_alloc_array(&placing->out->scratch, weighing.count, struct domain)};
    for (uint32_t i = 0; i < weighing.count; i++) {
        struct domain domain = weigh_domain(placing, &weighing, i, need);
        if (is_filling ? domain.has_any : domain.has_all && (domain.holds || !weighing.any_holds))
            list.domains[list.count++] = domain;
    }
    if (list.count > 1 && level != NULL && placing->domains == DOMAINS_NESTED)
        add_wider_levels(placing, &weighing, need, &list);
    if (list.count > 1)
        qsort(list.domains, list.count, sizeof *list.domains,
              !is_filling                          ? compare_fullest
              : placing->domains == DOMAINS_NESTED ? compare_last
                                                   : compare_emptiest);
    return list;
}
