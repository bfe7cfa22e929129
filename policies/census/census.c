/* Usability of free GPUs; see policies/census/census.h. */
#include "policies/census/census.h"

#include <string.h>

#include "base/hash.h"
#include "policies/jobs/request_class.h"

const uint8_t census_gang_sizes[CENSUS_GANG_SIZES] = {1, 2, 4, 8};

/* The room of each domain for members of each typical job that has a level. */
struct rooms {
    uint64_t **of;               /* by typical job, then domain; NULL: it has no level */
    uint32_t count, level_count; /* typical jobs, and those with a level */
};

static bool has_level(const struct ledger *ledger, const struct typical_job *job)
{
    return job->level > 0 && job->level <= ledger->cluster->level_count;
}

static struct rooms rooms_new(const struct ledger *ledger, const struct typical_jobs *typical)
{
    const struct cluster *cluster = ledger->cluster;
    struct rooms rooms = {mem_zalloc(typical->count + 1, sizeof *rooms.of), typical->count, 0};
    for (uint32_t j = 0; j < typical->count; j++) {
        const struct typical_job *job = &typical->jobs[j];
        if (!has_level(ledger, job))
            continue;
        const struct cluster_level *level = &cluster->levels[job->level - 1];
        rooms.level_count++;
        rooms.of[j] = mem_zalloc(level->domain_count + 1, sizeof *rooms.of[j]);
        for (node_id n = 0; n < cluster->node_count; n++)
            if (level->domain[n] != DOMAIN_NONE)
                rooms.of[j][level->domain[n]] += request_class_room(&job->request, ledger, n, NULL);
    }
    return rooms;
}

static void rooms_release(struct rooms *rooms)
{
    for (uint32_t j = 0; j < rooms->count; j++)
        mem_free(rooms->of[j]);
    mem_free(rooms->of);
}

/* Does the node's domain have room for all members that must be together? */
static bool has_company(const struct ledger *ledger, const struct rooms *rooms, uint32_t index,
                        const struct typical_job *job, node_id node)
{
    if (rooms->of[index] == NULL)
        return true;
    const uint32_t domain = ledger->cluster->levels[job->level - 1].domain[node];
    return domain != DOMAIN_NONE && rooms->of[index][domain] >= job->together;
}

/* Set the free GPUs that typical jobs cannot use, by cause; topology is ignored. */
static void judge_typical(struct census_state *state, const struct typical_jobs *typical)
{
    for (uint32_t j = 0; j < typical->count; j++) {
        const struct typical_job *job = &typical->jobs[j];
        const struct useless useless = useless_for(&state->view, &job->request, state->idle);
        state->fragmented_milli[useless.cause] += job->share * (useless.milli - useless.geometry);
        state->fragmented_milli[FRAGMENT_GEOMETRY] += job->share * useless.geometry;
    }
}

/* The free GPUs that typical jobs could use if their domain had room for all members that must be together. */
static double lonely_milli(const struct ledger *ledger, const struct rooms *rooms, const struct census_state *state,
                           node_id node, const struct typical_jobs *typical)
{
    double milli = 0;
    for (uint32_t j = 0; j < typical->count; j++) {
        const struct typical_job *job = &typical->jobs[j];
        if (!has_company(ledger, rooms, j, job, node))
            milli += job->share * (state->idle - useless_for(&state->view, &job->request, state->idle).milli);
    }
    return milli;
}

static uint32_t stranded_milli(const struct idle_view *view, uint32_t idle, const struct typical_jobs *waiting)
{
    uint32_t least = idle;
    bool is_asked = false;
    for (uint32_t w = 0; w < waiting->count && (!is_asked || least > 0); w++) {
        const struct useless useless = useless_for(view, &waiting->jobs[w].request, idle);
        if (useless.cause == FRAGMENT_NO_GPU)
            continue;
        is_asked = true;
        if (useless.milli < least)
            least = useless.milli;
    }
    return is_asked ? least : 0;
}

static uint32_t slices_unplaceable(const struct idle_view *view, const struct typical_jobs *typical)
{
    bool is_asked[MIG_PROFILE_COUNT] = {false};
    uint32_t unplaceable = view->mig_milli / MIG_SLICE_MILLI;
    for (uint32_t j = 0; j < typical->count; j++)
        if (typical->jobs[j].request.mig != 0)
            is_asked[typical->jobs[j].request.mig - 1] = true;
    for (uint32_t g = 0; g < view->type->gpu_count; g++) {
        uint32_t reach = 0;
        for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++)
            reach |= is_asked[p] ? view->mig_reach[g][p] : 0u;
        unplaceable -= (uint32_t)__builtin_popcount(reach);
    }
    return unplaceable;
}

/* ---- states ---- */

/* Forget all states; every node counts as changed. */
static void forget_states(struct census_memo *memo, const struct ledger *ledger)
{
    memo->state_count = 0;
    memset(memo->whole, 0, sizeof memo->whole);
    memset(memo->slots, 0, 2 * CENSUS_STATES_MAX * sizeof *memo->slots);
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        memo->nodes[n].version = ledger->node_version[n] - 1;
}

static bool is_same_view(const struct idle_view *a, const struct idle_view *b)
{
    return a->type == b->type && a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib &&
           memcmp(a->gpu_milli, b->gpu_milli, sizeof a->gpu_milli) == 0 && a->mig_milli == b->mig_milli &&
           (a->mig_milli == 0 || (memcmp(a->mig_open_milli, b->mig_open_milli, sizeof a->mig_open_milli) == 0 &&
                                  memcmp(a->mig_reach, b->mig_reach, sizeof a->mig_reach) == 0));
}

static uint64_t hash_view(const struct idle_view *view)
{
    uint64_t hash = hash_mix((uintptr_t)view->type, view->mig_milli);
    hash = hash_mix(hash, (uint64_t)view->cpu_milli << 32 | view->memory_mib);
    enum { WORDS = NODE_GPUS_MAX / 4 };
    uint64_t gpus[WORDS];
    _Static_assert(sizeof gpus == sizeof view->gpu_milli, "all of them count");
    memcpy(gpus, view->gpu_milli, sizeof gpus);
    for (size_t w = 0; w < WORDS; w++)
        hash = hash_mix(hash, gpus[w]);
    return view->mig_milli == 0 ? hash
                                : hash_bytes(view->mig_reach, sizeof view->mig_reach,
                                             hash_bytes(view->mig_open_milli, sizeof view->mig_open_milli, hash));
}

/* The index of the state with this view; a new one is added. */
static uint32_t find_state(struct census_memo *memo, const struct idle_view *view, const struct typical_jobs *typical)
{
    uint32_t at = (uint32_t)hash_view(view) % (2 * CENSUS_STATES_MAX);
    while (memo->slots[at] != 0 && !is_same_view(&memo->states[memo->slots[at] - 1].view, view))
        at = (at + 1) % (2 * CENSUS_STATES_MAX);
    if (memo->slots[at] != 0)
        return memo->slots[at] - 1;
    MEM_GROW(memo->states, memo->state_capacity, (size_t)memo->state_count + 1);
    struct census_state *state = &memo->states[memo->state_count];
    *state = (struct census_state){.view = *view, .idle = idle_view_milli(view)};
    judge_typical(state, typical);
    for (int c = 0; c < FRAGMENT_TOPOLOGY; c++)
        state->causes |= (uint32_t)(state->fragmented_milli[c] != 0) << c;
    state->slices_unplaceable = view->mig_milli > 0 ? slices_unplaceable(view, typical) : 0;
    memo->slots[at] = ++memo->state_count;
    return memo->state_count - 1;
}

/* The free milli-GPUs of the node. */
static uint32_t idle_milli(const struct ledger *ledger, node_id node)
{
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    const uint32_t count = cluster_node_gpus(ledger->cluster, node);
    uint32_t idle = 0;
    for (uint32_t g = 0; g < count; g++)
        idle += gpus[g].free;
    return idle;
}

/* Is `known` the state of a node on which the GPUs of free_mask are wholly free, and nothing else of its GPUs is? */
static bool is_state_of(const struct census_memo *memo, const struct census_whole *known, uint16_t free_mask,
                        const struct node_type *type, const struct node_cell *cell)
{
    if (known->state == 0 || known->free_mask != free_mask)
        return false;
    const struct idle_view *view = &memo->states[known->state - 1].view;
    return view->type == type && view->cpu_milli == cell->cpu_free && view->memory_mib == cell->memory_free;
}

/* The present value of the node's census_node.state. */
static uint32_t look_at(struct census_memo *memo, const struct ledger *ledger, node_id node,
                        const struct typical_jobs *typical)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const uint16_t free_mask = ledger->index->free_mask[node];
    const uint32_t idle = idle_milli(ledger, node);
    if (idle == 0 || !ledger_is_open(ledger, node) || type->is_tainted)
        return 0;
    const bool is_whole = ledger->migs == NULL && idle == bits_count16(free_mask) * (uint32_t)GPU_MILLI;
    struct census_whole *known = &memo->whole[free_mask % CENSUS_WHOLE_SLOTS];
    if (is_whole && is_state_of(memo, known, free_mask, type, &ledger->nodes[node]))
        return known->state;
    const struct idle_view view = idle_view_of(ledger, node);
    if (memo->state_count == CENSUS_STATES_MAX)
        forget_states(memo, ledger);
    const uint32_t state = find_state(memo, &view, typical) + 1;
    if (is_whole)
        *known = (struct census_whole){free_mask, state};
    return state;
}

void census_memo_release(struct census_memo *memo)
{
    mem_free(memo->states);
    mem_free(memo->slots);
    mem_free(memo->nodes);
    *memo = (struct census_memo){0};
}

/* ---- the whole ---- */

static void count_gangs(const struct ledger *ledger, struct census *census)
{
    for (uint32_t t = 0; t < ledger->cluster->type_count; t++)
        for (uint32_t s = 0; s < CENSUS_GANG_SIZES && !ledger->cluster->types[t].is_tainted; s++)
            for (uint32_t free = census_gang_sizes[s]; free <= ledger->cluster->types[t].gpu_count; free++)
                census->gang_gpus[s] +=
                    (int64_t)ledger->index->types[t].whole[free].member_count * (free - free % census_gang_sizes[s]);
}

static void count_node(struct census *census, struct census_state *state, const struct typical_jobs *waiting,
                       uint64_t take)
{
    if (state->judged_at != take) {
        state->stranded = stranded_milli(&state->view, state->idle, waiting);
        state->judged_at = take;
    }
    census->idle_milli += state->idle;
    census->stranded_milli += state->stranded;
    census->mig_slices_unplaceable += state->slices_unplaceable;
    for (uint32_t left = state->causes; left != 0; left &= left - 1)
        census->fragmented_milli[__builtin_ctz(left)] += state->fragmented_milli[__builtin_ctz(left)];
}

void census_take(struct census_memo *memo, const struct ledger *ledger, const struct typical_jobs *typical,
                 const struct typical_jobs *waiting, struct census *census)
{
    const struct cluster *cluster = ledger->cluster;
    struct rooms rooms = rooms_new(ledger, typical);
    if (memo->slots == NULL) {
        memo->slots = mem_zalloc(2 * CENSUS_STATES_MAX, sizeof *memo->slots);
        memo->nodes = mem_zalloc(cluster->node_count, sizeof *memo->nodes);
        forget_states(memo, ledger);
    }
    memo->takes++;
    *census = (struct census){0};
    struct census_node *const nodes = memo->nodes;
    const uint32_t *const version = ledger->node_version;
    for (node_id n = 0; n < cluster->node_count; n++) {
        if (nodes[n].version != version[n])
            nodes[n] = (struct census_node){version[n], look_at(memo, ledger, n, typical)};
        if (nodes[n].state == 0)
            continue;
        struct census_state *state = &memo->states[nodes[n].state - 1];
        count_node(census, state, waiting, memo->takes);
        if (rooms.level_count > 0)
            census->fragmented_milli[FRAGMENT_TOPOLOGY] += lonely_milli(ledger, &rooms, state, n, typical);
    }
    count_gangs(ledger, census);
    rooms_release(&rooms);
}
