/* What the free GPUs are good for; see policies/census.h. */
#include "policies/census.h"

#include "policies/sched_state.h"

const uint8_t census_gang_sizes[CENSUS_GANG_SIZES] = {1, 2, 4, 8};

/* Of each typical job that has a level: how many such members each domain of it has room for. */
struct rooms {
    uint64_t **of; /* by typical job, then domain; NULL: it has no level */
    uint32_t count;
};

static bool has_level(const struct ledger *ledger, const struct typical_job *job)
{
    return job->level > 0 && job->level <= ledger->cluster->level_count;
}

static struct rooms rooms_new(const struct ledger *ledger, const struct typical_jobs *typical)
{
    const struct cluster *cluster = ledger->cluster;
    struct rooms rooms = {mem_zalloc(typical->count + 1, sizeof *rooms.of), typical->count};
    for (uint32_t j = 0; j < typical->count; j++) {
        const struct typical_job *job = &typical->jobs[j];
        if (!has_level(ledger, job))
            continue;
        const struct cluster_level *level = &cluster->levels[job->level - 1];
        rooms.of[j] = mem_zalloc(level->domain_count + 1, sizeof *rooms.of[j]);
        for (node_id n = 0; n < cluster->node_count; n++)
            if (level->domain[n] != DOMAIN_NONE)
                rooms.of[j][level->domain[n]] += shape_room(&job->request, ledger, n);
    }
    return rooms;
}

static void rooms_release(struct rooms *rooms)
{
    for (uint32_t j = 0; j < rooms->count; j++)
        mem_free(rooms->of[j]);
    mem_free(rooms->of);
}

/* Has the node's domain room for all that must be together? */
static bool has_company(const struct ledger *ledger, const struct rooms *rooms, uint32_t index,
                        const struct typical_job *job, node_id node)
{
    if (rooms->of[index] == NULL)
        return true;
    const uint32_t domain = ledger->cluster->levels[job->level - 1].domain[node];
    return domain != DOMAIN_NONE && rooms->of[index][domain] >= job->together;
}

static void count_fragments(const struct ledger *ledger, const struct idle_view *view, node_id node,
                            uint32_t idle, const struct typical_jobs *typical,
                            const struct rooms *rooms, struct census *census)
{
    for (uint32_t j = 0; j < typical->count; j++) {
        const struct typical_job *job = &typical->jobs[j];
        const struct useless useless = useless_for(view, &job->request, idle);
        double *milli = census->fragmented_milli;
        milli[useless.cause] += job->share * (useless.milli - useless.geometry);
        milli[FRAGMENT_GEOMETRY] += job->share * useless.geometry;
        if (useless.milli < idle && !has_company(ledger, rooms, j, job, node))
            milli[FRAGMENT_TOPOLOGY] += job->share * (idle - useless.milli);
    }
}

static uint32_t stranded_milli(const struct idle_view *view, uint32_t idle,
                               const struct typical_jobs *waiting)
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

static void count_instances(const struct idle_view *view, const struct typical_jobs *typical,
                            struct census *census)
{
    bool is_asked[MIG_PROFILE_COUNT] = {false};
    uint32_t unplaceable = view->mig_milli;
    for (uint32_t j = 0; j < typical->count; j++)
        if (typical->jobs[j].request.mig != 0)
            is_asked[typical->jobs[j].request.mig - 1] = true;
    for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++)
        if (is_asked[p])
            unplaceable -= view->mig_open_milli[p];
    census->mig_slices_unplaceable += unplaceable / MIG_SLICE_MILLI;
}

static void count_gangs(const struct ledger *ledger, struct census *census)
{
    for (uint32_t t = 0; t < ledger->cluster->type_count; t++)
        for (uint32_t s = 0; s < CENSUS_GANG_SIZES; s++)
            for (uint32_t free = census_gang_sizes[s]; free <= ledger->cluster->types[t].gpu_count;
                 free++)
                census->gang_gpus[s] += (int64_t)ledger->index->types[t].whole[free].member_count *
                                        (free - free % census_gang_sizes[s]);
}

void census_take(const struct ledger *ledger, const struct typical_jobs *typical,
                 const struct typical_jobs *waiting, struct census *census)
{
    struct rooms rooms = rooms_new(ledger, typical);
    *census = (struct census){0};
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        if (ledger->node_state[n] != NODE_UP || cluster_node_type(ledger->cluster, n)->is_tainted)
            continue;
        const struct idle_view view = idle_view_of(ledger, n);
        const uint32_t idle = idle_view_milli(&view);
        if (idle == 0)
            continue;
        census->idle_milli += idle;
        count_fragments(ledger, &view, n, idle, typical, &rooms, census);
        census->stranded_milli += stranded_milli(&view, idle, waiting);
        if (view.mig_milli > 0)
            count_instances(&view, typical, census);
    }
    count_gangs(ledger, census);
    rooms_release(&rooms);
}

/* The kinds of members that jobs wait for, each once. */
static void list_waiting(const struct sched *sched, struct member_kinds *kinds,
                         struct typical_jobs *waiting)
{
    const struct pending *pending = &sched->pending;
    for (uint32_t i = 0; i < pending->busy_count; i++) {
        const struct shape *shape = &sched->shapes.shapes[pending->lanes[pending->busy[i]].shape];
        for (uint32_t g = 0; g < shape->group_count; g++)
            if (shape->groups[g].count > 0)
                member_kinds_find(kinds, &shape->groups[g].request, 0, 1);
    }
    MEM_GROW(waiting->jobs, waiting->capacity, kinds->count);
    for (uint32_t k = 0; k < kinds->count; k++)
        waiting->jobs[waiting->count++] = (struct typical_job){.request = kinds->kinds[k].request};
}

void sched_census(const struct sched *sched, const struct typical_jobs *typical,
                  struct census *census)
{
    struct member_kinds kinds = {0};
    struct typical_jobs waiting = {0};
    list_waiting(sched, &kinds, &waiting);
    census_take(sched->ledger, typical, &waiting, census);
    mem_free(waiting.jobs);
    member_kinds_release(&kinds);
}
