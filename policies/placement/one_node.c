/* policies/placement/one_node.c -- finds the fullest node that holds all members, with a placement policy whose spot is
 * for all of them. */
#include "policies/placement/one_node.h"

#include "policies/placement/placements.h"

enum { AMOUNTS = 3 }; /* GPU, CPU, memory */

/* What `count` members of the request need. */
static void add_up(const struct request *request, const struct cluster *cluster, uint32_t count, int64_t need[AMOUNTS])
{
    need[0] = request_class_most_milli(request, cluster) * count;
    need[1] = (int64_t)request->cpu_milli * count;
    need[2] = (int64_t)request->memory_mib * count;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* *least: the smallest of free / need over all resources, times the least common multiple of the needs.  So it is an
 * integer, and different fractions stay different.  False: the number is too large. */
static bool times_over(const int64_t need[AMOUNTS], const int64_t free[AMOUNTS], int64_t *least)
{
    int64_t multiple = 1;
    *least = INT64_MAX;
    for (uint32_t a = 0; a < AMOUNTS; a++)
        if (need[a] != 0 && __builtin_mul_overflow(multiple / greatest_divisor(multiple, need[a]), need[a], &multiple))
            return false;
    for (uint32_t a = 0; a < AMOUNTS; a++) {
        int64_t times;
        if (need[a] == 0)
            continue;
        if (__builtin_mul_overflow(free[a], multiple / need[a], &times))
            return false;
        *least = times < *least ? times : *least;
    }
    return true;
}

static int64_t score(const struct spot *spot)
{
    const struct ledger *ledger = spot->ledger;
    const struct node_cell *cell = &ledger->nodes[spot->node];
    const int64_t free[AMOUNTS] = {placement_free_milli(spot), cell->cpu_free, cell->memory_free};
    int64_t need[AMOUNTS], least;
    if (request_class_room(spot->request, ledger, spot->node, spot->allowed) < spot->members_left)
        return SPOT_NEVER;
    add_up(spot->request, ledger->cluster, spot->members_left, need);
    return times_over(need, free, &least) ? -least : SPOT_NEVER;
}

/* Not in the registry: it finds a node, it does not place members.  Its score depends on members_left as joins_members
 * allows. */
static const struct placement_policy fullest_node = {
    .name = "one node",
    .version = 1,
    .summary = "the fullest node that holds all members",
    .score = score,
    .looks_at_nodes = true,
    .joins_members = true,
};

bool one_node_may_hold(const struct ledger *ledger, const struct request_class *request_class)
{
    const struct cluster *cluster = ledger->cluster;
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        bool holds_all = true;
        for (uint32_t g = 0; g < request_class->group_count && holds_all; g++) {
            const struct job_group *group = &request_class->groups[g];
            holds_all = request_class_members_per_node(&group->request, cluster, t, ledger->recuts) >= group->count;
        }
        if (holds_all)
            return true;
    }
    return false;
}

/* Can times_over compute its number for every possible state of a node? */
static bool is_small(const struct cluster *cluster, const struct job_group *group)
{
    int64_t need[AMOUNTS], least;
    add_up(&group->request, cluster, group->count, need);
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        const struct node_type *type = &cluster->types[t];
        const int64_t all[AMOUNTS] = {(int64_t)type->gpu_count * GPU_MILLI, type->cpu_milli, type->memory_mib};
        if (!times_over(need, all, &least))
            return false;
    }
    return true;
}

const struct job_group *one_node_only_group(const struct placing *placing)
{
    const struct request_class *request_class = placing->asked->request_class;
    const struct job_group *only = NULL;
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        if (request_class->groups[g].count == 0)
            continue;
        if (only != NULL)
            return NULL;
        only = &request_class->groups[g];
    }
    if (only == NULL || only->request.mig != 0 || only->slice_members != 0 ||
        search_needs_island(placing->ledger, &only->request) || placing->asked->allowed != NULL ||
        placing->asked->held.count > 0 || request_class_asks_domains(request_class) ||
        !is_small(placing->ledger->cluster, only))
        return NULL;
    return only;
}

struct search one_node_search(const struct placing *placing, const struct job_group *group, const struct region *region)
{
    struct placement_request asked = *placing->asked;
    asked.policy = &fullest_node;
    struct search search = search_of(&asked, placing->ledger, &group->request, region, placing->here);
    search.spot.members_left = group->count;
    return search;
}
