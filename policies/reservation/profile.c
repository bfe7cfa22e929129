/* The planned free space of each node; see policies/reservation/profile.h. */
#include "policies/reservation/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policies/placement/gpu_choice.h"
#include "policies/placement/placement_config.h"

/* The number of GPUs in a mask.  Not all processors have an instruction for it, so the compiler's builtin would call a
 * function. */
static uint32_t count_gpus(uint32_t mask)
{
    mask -= mask >> 1 & 0x5555;
    mask = (mask & 0x3333) + (mask >> 2 & 0x3333);
    mask = (mask + (mask >> 4)) & 0x0f0f;
    return (mask + (mask >> 8)) & 0x1f;
}

/* No node has steps yet. */
static void open_nodes(struct profile *profile, const struct ledger *ledger)
{
    const struct cluster *cluster = ledger->cluster;
    profile->ledger = ledger;
    profile->node_count = cluster->node_count;
    profile->nodes = mem_zalloc(cluster->node_count, sizeof *profile->nodes);
    profile->is_meant = mem_zalloc(cluster->type_count, sizeof *profile->is_meant);
    profile->earliest = mem_zalloc(cluster->node_count, sizeof *profile->earliest);
    profile->block_earliest =
        mem_zalloc((cluster->node_count + PROFILE_BLOCK - 1) / PROFILE_BLOCK, sizeof *profile->block_earliest);
    profile->rooms = mem_zalloc(cluster->node_count, sizeof *profile->rooms);
    profile->glances = mem_zalloc(NODE_GPUS_MAX + 1, sizeof *profile->glances);
    profile->holders = mem_zalloc(cluster->gpu_count + 1, sizeof *profile->holders);
}

/* The steps of the node change. */
static void forget_glances(struct profile *profile, node_id node)
{
    for (uint32_t gpus = 0; gpus <= NODE_GPUS_MAX; gpus++)
        if (profile->glances[gpus] != NULL)
            profile->glances[gpus][node] = (struct profile_glance){0};
}

static struct free_amount amount_of(const struct profile_step *step)
{
    return (struct free_amount){.gpus = count_gpus(step->free_mask),
                                .cpu_milli = step->cpu_free > 0 ? step->cpu_free : 0,
                                .memory_mib = step->memory_free > 0 ? step->memory_free : 0};
}

static struct free_amount less(struct free_amount amount, const struct free_amount *by)
{
    return (struct free_amount){amount.gpus - by->gpus, amount.cpu_milli - by->cpu_milli,
                                amount.memory_mib - by->memory_mib};
}

static const struct free_amount nothing;

/* Add all steps of the node to the total, or take them away. */
static void count_steps(struct free_total *total, const struct node_profile *node, bool is_gone)
{
    struct free_amount before = nothing;
    for (uint32_t s = 0; s < node->count; s++) {
        struct free_amount own = amount_of(&node->steps[s]);
        struct free_amount more = is_gone ? less(before, &own) : less(own, &before);
        free_total_change(total, node->steps[s].from, is_gone ? -1 : 1, &more);
        before = own;
    }
}

void profile_begin(struct profile *profile, const struct ledger *ledger, node_id node, time_ns now)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_cell *cell = &ledger->nodes[node];
    const gpu_id first = cluster->nodes[node].first_gpu;
    if (profile->nodes == NULL)
        open_nodes(profile, ledger);
    struct node_profile *own = &profile->nodes[node];
    forget_glances(profile, node);
    for (gpu_id g = first; g < first + cluster_node_type(cluster, node)->gpu_count; g++)
        profile->holders[g] = ledger->gpus[g].holders;
    count_steps(&profile->total, own, true);
    own->count = 0;
    own->cpu_claimed = cell->cpu_claimed;
    own->memory_claimed = cell->memory_claimed;
    if (!ledger->index->is_listed[node])
        return;
    MEM_GROW(own->steps, own->capacity, (size_t)1);
    own->steps[own->count++] = (struct profile_step){.from = now,
                                                     .cpu_free = cell->cpu_free,
                                                     .memory_free = cell->memory_free,
                                                     .free_mask = ledger->index->free_mask[node],
                                                     .vacant_mask = ledger->index->free_mask[node]};
    count_steps(&profile->total, own, false);
}

/* Jobs that have claimed the leaving amount get it first.  Returns the rest, which becomes free. */
static uint32_t unclaimed(uint32_t leaving, uint32_t *claimed)
{
    uint32_t paid = leaving < *claimed ? leaving : *claimed;
    *claimed -= paid;
    return leaving - paid;
}

void profile_leaves(struct profile *profile, const struct space *space, time_ns at)
{
    struct node_profile *node = &profile->nodes[space->node];
    const gpu_id first = profile->ledger->cluster->nodes[space->node].first_gpu;
    const uint16_t partitioned = ledger_layout_mask(profile->ledger, space->node);
    forget_glances(profile, space->node);
    if (node->count == 0)
        return;
    struct profile_step step = node->steps[node->count - 1];
    const struct free_amount before = amount_of(&step);
    const bool is_new = step.from < at;
    for (uint32_t rest = space->gpu_mask; rest != 0; rest &= rest - 1) {
        uint32_t gpu = (uint32_t)__builtin_ctz(rest);
        if (--profile->holders[first + gpu] == 0)
            step.free_mask |= (uint16_t)(1u << gpu & ~(uint32_t)partitioned);
    }
    step.vacant_mask = step.free_mask;
    step.cpu_free += unclaimed(space->cpu_milli, &node->cpu_claimed);
    step.memory_free += unclaimed(space->memory_mib, &node->memory_claimed);
    if (is_new) {
        MEM_GROW(node->steps, node->capacity, (size_t)node->count + 1);
        node->count++;
        step.from = at;
    }
    node->steps[node->count - 1] = step;
    const struct free_amount more = less(amount_of(&step), &before);
    free_total_change(&profile->total, step.from, is_new ? 1 : 0, &more);
}

/* The number of steps that begin at or before that time. */
static uint32_t steps_until(const struct node_profile *node, time_ns at)
{
    uint32_t low = 0, high = node->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (node->steps[middle].from <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The index of the step that begins at that time; a new step is added if there is none.  Returns the first step for a
 * time before it. */
static uint32_t step_at(struct profile *profile, struct node_profile *node, time_ns at)
{
    const uint32_t s = steps_until(node, at);
    if (s == 0 || node->steps[s - 1].from == at)
        return s == 0 ? 0 : s - 1;
    MEM_GROW(node->steps, node->capacity, (size_t)node->count + 1);
    memmove(&node->steps[s + 1], &node->steps[s], (node->count - s) * sizeof *node->steps);
    node->steps[s] = node->steps[s - 1];
    node->steps[s].from = at;
    node->count++;
    free_total_change(&profile->total, at, 1, &nothing);
    return s;
}

/* At that time the node's free amount now changes by *comes instead of *before: add the difference to the total.
 * Returns *comes. */
static struct free_amount count_change(struct profile *profile, time_ns at, const struct free_amount *comes,
                                       const struct free_amount *before)
{
    const struct free_amount more = less(*comes, before);
    if (more.gpus != 0 || more.cpu_milli != 0 || more.memory_mib != 0)
        free_total_change(&profile->total, at, 0, &more);
    return *comes;
}

static void change(struct profile *profile, const struct space *space, time_ns from, time_ns until, bool is_take)
{
    struct node_profile *node = &profile->nodes[space->node];
    if (node->count == 0 || from >= until)
        return;
    forget_glances(profile, space->node);
    uint32_t first = step_at(profile, node, from);
    uint32_t end = until == TIME_NEVER ? node->count : step_at(profile, node, until);
    struct free_amount come = nothing; /* change of the previous step */
    for (uint32_t s = first; s < end; s++) {
        struct profile_step *step = &node->steps[s];
        const struct free_amount before = amount_of(step);
        const int64_t sign = is_take ? -1 : 1;
        step->free_mask = (uint16_t)(is_take ? step->free_mask & ~(uint32_t)space->gpu_mask
                                             : step->free_mask | (space->gpu_mask & step->vacant_mask));
        step->cpu_free += sign * space->cpu_milli;
        step->memory_free += sign * space->memory_mib;
        const struct free_amount comes = less(amount_of(step), &before);
        come = count_change(profile, step->from, &comes, &come);
    }
    if (first < end && end < node->count)
        count_change(profile, node->steps[end].from, &nothing, &come);
}

void profile_take(struct profile *profile, const struct space *space, time_ns from, time_ns until)
{
    change(profile, space, from, until, true);
}

void profile_give(struct profile *profile, const struct space *space, time_ns from, time_ns until)
{
    change(profile, space, from, until, false);
}

static uint32_t times_in(int64_t amount, uint32_t each)
{
    return each == 0 ? UINT32_MAX : amount < each ? 0 : (uint32_t)(amount / each);
}

/* The number of members that fit into the space that is free from step `s` until that time; *mask: its GPUs. */
static uint32_t room_from(const struct node_profile *node, uint32_t s, time_ns until, const struct request *request,
                          uint16_t *mask)
{
    struct profile_step least = node->steps[s];
    const uint32_t gpus = request->gpus;
    for (uint32_t next = s + 1; next < node->count && node->steps[next].from < until; next++) {
        const struct profile_step *step = &node->steps[next];
        least.free_mask &= step->free_mask;
        if (count_gpus(least.free_mask) < gpus)
            return 0;
        least.cpu_free = step->cpu_free < least.cpu_free ? step->cpu_free : least.cpu_free;
        least.memory_free = step->memory_free < least.memory_free ? step->memory_free : least.memory_free;
    }
    *mask = least.free_mask;
    uint32_t room = times_in(count_gpus(least.free_mask), gpus);
    uint32_t by_cpu = times_in(least.cpu_free, request->cpu_milli);
    uint32_t by_memory = times_in(least.memory_free, request->memory_mib);
    room = by_cpu < room ? by_cpu : room;
    return by_memory < room ? by_memory : room;
}

/* The step that contains `at`. */
static uint32_t step_of(const struct node_profile *node, time_ns at)
{
    const uint32_t begun = steps_until(node, at);
    return begun > 0 ? begun - 1 : 0;
}

/* Before a search: mark the node types that could hold a member at all. */
static void mean_types(struct profile *profile, const struct request *request)
{
    const struct cluster *cluster = profile->ledger->cluster;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        profile->is_meant[t] = request_class_members_per_node(request, cluster, t, false) > 0;
}

static bool is_meant(const struct profile *profile, node_id n)
{
    return profile->nodes[n].count > 0 && profile->is_meant[profile->ledger->cluster->nodes[n].type];
}

/* The first time from `from` on, which is in step `s`, and before `bound`, at which the node has room for a member;
 * TIME_NEVER: none. */
static time_ns first_from_step(const struct node_profile *node, uint32_t s, const struct request *request, time_ns from,
                               time_ns length, time_ns bound)
{
    uint16_t mask;
    for (; s < node->count; s++) {
        time_ns at = node->steps[s].from > from ? node->steps[s].from : from;
        if (at >= bound)
            break;
        if (count_gpus(node->steps[s].free_mask) >= request->gpus &&
            room_from(node, s, time_after(at, length), request, &mask) > 0)
            return at;
    }
    return TIME_NEVER;
}

static time_ns first_on(const struct node_profile *node, const struct request *request, time_ns from, time_ns length,
                        time_ns bound)
{
    return first_from_step(node, step_of(node, from), request, from, length, bound);
}

static struct profile_glance glance_at(const struct node_profile *node, uint32_t gpus, time_ns at)
{
    struct profile_glance glance = {.since = INT64_MIN, .until = INT64_MAX, .first = TIME_NEVER};
    if (node->count == 0)
        return glance;
    uint32_t s = step_of(node, at);
    glance.since = s > 0 ? node->steps[s].from : INT64_MIN;
    while (s < node->count && count_gpus(node->steps[s].free_mask) < gpus)
        s++;
    glance.step = s;
    if (s < node->count)
        glance.first = node->steps[s].from;
    if (s + 1 < node->count)
        glance.until = node->steps[s + 1].from;
    return glance;
}

static struct profile_glance *glances_of(struct profile *profile, uint32_t gpus)
{
    if (profile->glances[gpus] == NULL)
        profile->glances[gpus] = mem_zalloc(profile->node_count, sizeof **profile->glances);
    return profile->glances[gpus];
}

static bool is_glance_right(const struct profile *profile, uint32_t gpus, node_id node)
{
    const struct profile_glance *known = &profile->glances[gpus][node];
    if (known->since >= known->until)
        return true;
    const struct profile_glance now = glance_at(&profile->nodes[node], gpus, known->since);
    return now.since == known->since && now.until == known->until && now.step == known->step &&
           now.first == known->first;
}

const char *profile_check(const struct profile *profile)
{
    bool is_right = true;
    for (uint32_t gpus = 0; gpus <= NODE_GPUS_MAX && profile->nodes != NULL; gpus++)
        for (node_id n = 0; n < profile->node_count && profile->glances[gpus] != NULL; n++)
            is_right &= is_glance_right(profile, gpus, n);
    return is_right ? NULL : "what a search remembers of a node differs from its profile";
}

/* The earliest time from `from` on, and the lowest node with room for a member then. */
static time_ns find_one(struct profile *profile, const struct profile_ask *ask, time_ns from, node_id *node)
{
    const uint32_t gpus = ask->request->gpus;
    time_ns best = time_after(ask->latest, 1);
    struct profile_glance *glances = glances_of(profile, gpus < NODE_GPUS_MAX ? gpus : NODE_GPUS_MAX);
    for (node_id n = 0; n < profile->node_count && best > from; n++) {
        struct profile_glance *glance = &glances[n];
        if (glance->since <= from && glance->first >= best)
            continue;
        if (!is_meant(profile, n))
            continue;
        if (from < glance->since || from >= glance->until)
            *glance = glance_at(&profile->nodes[n], gpus, from);
        if (glance->first >= best)
            continue;
        time_ns at = first_from_step(&profile->nodes[n], glance->step, ask->request, from, ask->length, best);
        if (at < best) {
            best = at;
            *node = n;
        }
    }
    return best > ask->latest ? TIME_NEVER : best;
}

static uint32_t room_at(const struct profile *profile, node_id n, const struct profile_ask *ask, time_ns at)
{
    const struct node_profile *node = &profile->nodes[n];
    uint16_t mask;
    return room_from(node, step_of(node, at), time_after(at, ask->length), ask->request, &mask);
}

/* The first time after `at` from which the node's room may differ: when a step begins, or comes to lie within the
 * length of the members. */
static time_ns room_changes(const struct node_profile *node, time_ns at, time_ns length)
{
    const time_ns until = time_after(at, length);
    const uint32_t next = steps_until(node, at);
    time_ns changes = next < node->count ? node->steps[next].from : TIME_NEVER;
    const uint32_t behind = until == TIME_NEVER ? node->count : steps_until(node, until - 1);
    if (behind < node->count && node->steps[behind].from - length + 1 < changes)
        changes = node->steps[behind].from - length + 1;
    return changes;
}

/* Add to *sum by how much the node's room differs from what it was at the last update. */
static void update_room(struct profile *profile, node_id node, const struct profile_ask *ask, time_ns at, uint64_t *sum)
{
    const uint32_t room = room_at(profile, node, ask, at);
    *sum = *sum - profile->rooms[node] + room;
    profile->rooms[node] = room;
    profile->earliest[node] =
        room == 0 ? first_on(&profile->nodes[node], ask->request, at, ask->length, time_after(ask->latest, 1))
                  : room_changes(&profile->nodes[node], at, ask->length);
}

/* Has the cluster room for all members at that time?  *sum: of the rooms of all nodes at the moment before; 0 at the
 * first.  A node is looked at again when its room may differ; one without room, when it may have some. */
static bool has_rooms(struct profile *profile, const struct profile_ask *ask, time_ns at, uint64_t *sum)
{
    const bool is_first = *sum == 0; /* no room of a node can be out of date */
    for (node_id first = 0; first < profile->node_count; first += PROFILE_BLOCK) {
        const node_id left = profile->node_count - first, end = first + (left < PROFILE_BLOCK ? left : PROFILE_BLOCK);
        time_ns *earliest = &profile->block_earliest[first / PROFILE_BLOCK];
        if (*earliest > at)
            continue;
        *earliest = TIME_NEVER;
        for (node_id n = first; n < end; n++) {
            if (profile->earliest[n] <= at)
                update_room(profile, n, ask, at, sum);
            if (is_first && *sum >= ask->count)
                return true;
            *earliest = profile->earliest[n] < *earliest ? profile->earliest[n] : *earliest;
        }
    }
    return *sum >= ask->count;
}

static time_ns find_many(struct profile *profile, const struct profile_ask *ask, struct free_search *search)
{
    uint64_t sum = 0;
    time_ns at = free_search_next(search);
    if (at == TIME_NEVER)
        return at;
    for (node_id n = 0; n < profile->node_count; n++) {
        profile->earliest[n] = is_meant(profile, n) ? 0 : TIME_NEVER;
        profile->rooms[n] = 0;
        profile->block_earliest[n / PROFILE_BLOCK] = 0;
    }
    while (at != TIME_NEVER && !has_rooms(profile, ask, at, &sum))
        at = free_search_next(search);
    return at;
}

static struct free_amount needed(const struct profile_ask *ask)
{
    const struct request *request = ask->request;
    return (struct free_amount){(int64_t)ask->count * request->gpus, (int64_t)ask->count * request->cpu_milli,
                                (int64_t)ask->count * request->memory_mib};
}

/* The GPUs that a member gets, by the same rule as in policies/placement/placing.c. */
static uint16_t gpus_of(const struct ledger *ledger, const struct piece_list *pieces, node_id n, uint16_t mask,
                        uint32_t count)
{
    if (ledger->placement == NULL || ledger->placement->gpu_choice == GPU_CHOICE_LOWEST)
        return gpu_choice_lowest(mask, count);
    if (ledger->placement->gpu_choice == GPU_CHOICE_RAILS)
        return gpu_choice_rails(mask, pieces_rails(pieces->pieces, pieces->count, n), count);
    return gpu_choice_near(&ledger->cluster->pools[ledger->cluster->nodes[n].pool], mask, count);
}

/* Add a piece for each of up to `count` members that start on the node at that time; returns how many. */
static uint32_t name_pieces(const struct profile *profile, node_id n, const struct profile_ask *ask, time_ns at,
                            uint32_t count, struct piece_list *pieces)
{
    const struct node_profile *node = &profile->nodes[n];
    const uint16_t gpus = ask->request->gpus;
    uint16_t mask = 0;
    uint32_t room = room_from(node, step_of(node, at), time_after(at, ask->length), ask->request, &mask);
    room = room < count ? room : count;
    for (uint32_t i = 0; i < room; i++) {
        struct piece piece = {.node = n,
                              .gpu_mask = gpus_of(profile->ledger, pieces, n, mask, gpus),
                              .gpu_milli = gpus > 0 ? GPU_MILLI : 0,
                              .member_count = 1,
                              .group = ask->group};
        mask &= (uint16_t)~piece.gpu_mask;
        MEM_GROW(pieces->pieces, pieces->capacity, (size_t)pieces->count + 1);
        pieces->pieces[pieces->count++] = piece;
    }
    return room;
}

time_ns profile_find(struct profile *profile, const struct profile_ask *ask, struct piece_list *pieces)
{
    mean_types(profile, ask->request);
    const struct free_amount need = needed(ask);
    struct free_search search =
        free_search_begin(&profile->total, &need, ask->from, ask->length, ask->latest, TIME_NEVER);
    node_id first = 0;
    time_ns at;
    if (ask->count > 1)
        at = find_many(profile, ask, &search);
    else if ((at = free_search_next(&search)) != TIME_NEVER)
        at = find_one(profile, ask, at, &first);
    if (at == TIME_NEVER)
        return at;
    uint32_t left = ask->count;
    pieces->count = 0;
    for (node_id n = first; n < profile->node_count && left > 0; n++)
        if (is_meant(profile, n))
            left -= name_pieces(profile, n, ask, at, left, pieces);
    return at;
}

time_ns profile_find_on(struct profile *profile, const struct profile_ask *ask, const struct node_marks *nodes,
                        struct piece_list *pieces)
{
    time_ns best = TIME_NEVER;
    node_id node = 0;
    mean_types(profile, ask->request);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const node_id n = nodes->nodes[i];
        const time_ns bound = best == TIME_NEVER ? ask->latest : best; /* a later time is of no use */
        if (!is_meant(profile, n))
            continue;
        const time_ns at = first_on(&profile->nodes[n], ask->request, ask->from, ask->length, time_after(bound, 1));
        if (at < best || (at == best && n < node)) {
            best = at;
            node = n;
        }
    }
    if (best == TIME_NEVER)
        return best;
    pieces->count = 0;
    name_pieces(profile, node, ask, best, 1, pieces);
    return best;
}

bool profile_may_fit(const struct profile *profile, const struct profile_ask *ask)
{
    const struct free_amount need = needed(ask);
    struct free_search search =
        free_search_begin(&profile->total, &need, ask->from, ask->length, ask->latest, time_after(ask->latest, 1));
    return free_search_next(&search) != TIME_NEVER;
}

time_ns profile_find_room(const struct profile *profile, const struct request *request, node_id node, time_ns from,
                          time_ns length, time_ns bound)
{
    const struct cluster *cluster = profile->ledger->cluster;
    const time_ns at = first_on(&profile->nodes[node], request, from, length, bound);
    return at != TIME_NEVER && request_class_members_per_node(request, cluster, cluster->nodes[node].type, false) > 0
               ? at
               : TIME_NEVER;
}

bool profile_kept(const struct profile *profile, node_id node, time_ns from, time_ns until, struct space *space)
{
    const struct node_profile *own = &profile->nodes[node];
    if (own->count == 0)
        return false;
    uint32_t s = step_of(own, from);
    struct profile_step least = own->steps[s];
    for (s++; s < own->count && own->steps[s].from < until; s++) {
        const struct profile_step *step = &own->steps[s];
        least.free_mask &= step->free_mask;
        least.cpu_free = step->cpu_free < least.cpu_free ? step->cpu_free : least.cpu_free;
        least.memory_free = step->memory_free < least.memory_free ? step->memory_free : least.memory_free;
    }
    const struct node_cell *cell = &profile->ledger->nodes[node];
    int64_t cpu = least.cpu_free > 0 ? least.cpu_free : 0, memory = least.memory_free > 0 ? least.memory_free : 0;
    *space = (struct space){.node = node,
                            .gpu_mask = (uint16_t)(profile->ledger->index->free_mask[node] & ~least.free_mask),
                            .gpu_milli = GPU_MILLI,
                            .cpu_milli = cell->cpu_free > cpu ? cell->cpu_free - (uint32_t)cpu : 0,
                            .memory_mib = cell->memory_free > memory ? cell->memory_free - (uint32_t)memory : 0};
    return space->gpu_mask != 0 || space->cpu_milli != 0 || space->memory_mib != 0;
}

void profile_release(struct profile *profile)
{
    for (node_id n = 0; n < profile->node_count; n++)
        mem_free(profile->nodes[n].steps);
    mem_free(profile->nodes);
    mem_free(profile->holders);
    mem_free(profile->is_meant);
    mem_free(profile->earliest);
    mem_free(profile->block_earliest);
    mem_free(profile->rooms);
    for (uint32_t gpus = 0; gpus <= NODE_GPUS_MAX && profile->glances != NULL; gpus++)
        mem_free(profile->glances[gpus]);
    mem_free(profile->glances);
    free_total_release(&profile->total);
}
