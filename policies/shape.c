#include "policies/shape.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

enum { SHAPE_SLOTS_MIN = 64, GROUP_WORDS = 5 };

void shape_table_init(struct shape_table *table)
{
    *table = (struct shape_table){0};
    table->slot_count = SHAPE_SLOTS_MIN;
    table->slots = mem_zalloc(table->slot_count, sizeof *table->slots);
}

void shape_table_release(struct shape_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        mem_free(table->shapes[i].lanes);
    mem_free(table->shapes);
    mem_free(table->slots);
    arena_release(&table->arena);
    *table = (struct shape_table){0};
}

/* A group as words without padding. */
static void group_words(const struct job_group *group, uint64_t words[GROUP_WORDS])
{
    const struct request *r = &group->request;
    words[0] = r->gpus | (uint64_t)r->gpu_milli << 16 | (uint64_t)r->gpu_memory_mib << 32;
    words[1] = r->cpu_milli | (uint64_t)r->memory_mib << 32;
    words[2] = r->gpu_models;
    words[3] = group->count | (uint64_t)group->min_count << 32;
    words[4] = r->mig;
}

static uint64_t hash_job(const struct job *job)
{
    uint64_t hash = job->group_count | (uint64_t)job->is_preemptible << 32;
    for (uint32_t g = 0; g < job->group_count; g++) {
        uint64_t words[GROUP_WORDS];
        group_words(job_group(job, g), words);
        /* Odd multipliers keep the words apart, and the products do not wait for each other. */
        uint64_t sum =
            words[0] * UINT64_C(0x9e3779b97f4a7c15) + words[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
            words[2] * UINT64_C(0x165667b19e3779f9) + words[3] * UINT64_C(0xff51afd7ed558ccd) +
            words[4] * UINT64_C(0xc4ceb9fe1a85ec53);
        hash = hash_mix(hash, sum);
    }
    return hash;
}

static bool is_same(const struct shape *shape, const struct job *job)
{
    if (shape->group_count != job->group_count || shape->is_preemptible != job->is_preemptible)
        return false;
    for (uint32_t g = 0; g < job->group_count; g++) {
        uint64_t a[GROUP_WORDS], b[GROUP_WORDS];
        group_words(&shape->groups[g], a);
        group_words(job_group(job, g), b);
        if (memcmp(a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

uint32_t shape_share_milli(const struct request *request, const struct gpu_model *model)
{
    if (request->gpu_milli != 0)
        return request->gpu_milli;
    if (request->gpu_memory_mib == 0)
        return 0;
    if (model->memory_mib == 0 || request->gpu_memory_mib > model->memory_mib)
        return GPU_MILLI + 1;
    uint64_t milli = (uint64_t)request->gpu_memory_mib * GPU_MILLI;
    return (uint32_t)((milli + model->memory_mib - 1) / model->memory_mib);
}

static uint32_t times_in(uint64_t have, uint64_t need)
{
    uint64_t times = need == 0 ? UINT32_MAX : have / need;
    return times > UINT32_MAX ? UINT32_MAX : (uint32_t)times;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t shape_members_per_node(const struct request *request, const struct cluster *cluster,
                                uint32_t type_id)
{
    const struct node_type *type = &cluster->types[type_id];
    uint32_t count = lesser(times_in(type->cpu_milli, request->cpu_milli),
                            times_in(type->memory_mib, request->memory_mib));
    if (request->mig != 0)
        return 0; /* no GPU is partitioned yet */
    uint32_t share = shape_share_milli(request, &cluster->models[type->model]);
    if (request->gpus == 0 && share == 0)
        return count;
    if (request->gpu_models != 0 && !(request->gpu_models >> type->model & 1))
        return 0;
    if (request->gpus != 0)
        return lesser(count, type->gpu_count / request->gpus);
    if (share > GPU_MILLI)
        return 0;
    return lesser(count, type->gpu_count * (GPU_MILLI / share));
}

/* Members that the empty cluster holds. */
static uint64_t room_for(const struct request *request, const struct cluster *cluster)
{
    uint64_t room = 0;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        room +=
            (uint64_t)shape_members_per_node(request, cluster, t) * cluster->types[t].node_count;
    return room;
}

/* Each group alone must fit the empty cluster: exact for one group, never too strict for several. */
static bool can_never_fit(const struct shape *shape, const struct cluster *cluster)
{
    for (uint32_t g = 0; g < shape->group_count; g++)
        if (room_for(&shape->groups[g].request, cluster) < shape->groups[g].count)
            return true;
    return false;
}

/* Groups by how many times over the empty cluster holds them, the scarcest first. */
static const uint16_t *placing_order(struct shape_table *table, const struct shape *shape,
                                     const struct cluster *cluster)
{
    uint16_t *order = arena_alloc_array(&table->arena, shape->group_count, uint16_t);
    uint64_t times[JOB_GROUPS_MAX];
    for (uint16_t g = 0; g < shape->group_count; g++) {
        times[g] = room_for(&shape->groups[g].request, cluster) / shape->groups[g].count;
        uint32_t at = g;
        for (; at > 0 && times[order[at - 1]] > times[g]; at--)
            order[at] = order[at - 1];
        order[at] = g;
    }
    return order;
}

static void add_charge(struct shape *shape, const struct cluster *cluster)
{
    for (uint32_t g = 0; g < shape->group_count; g++) {
        const struct job_group *group = &shape->groups[g];
        const struct gpu_model *model = cluster->model_count > 0 ? &cluster->models[0] : NULL;
        int64_t gpu = request_gpu_milli(&group->request, model) * group->count;
        shape->member_count += group->count;
        shape->charge[QUEUE_SUM_GPU] += gpu;
        shape->charge[QUEUE_SUM_CPU] += (int64_t)group->request.cpu_milli * group->count;
        shape->charge[QUEUE_SUM_MEMORY] += (int64_t)group->request.memory_mib * group->count;
    }
    if (!shape->is_preemptible)
        shape->charge[QUEUE_SUM_GPU_FIRM] = shape->charge[QUEUE_SUM_GPU];
}

static uint32_t add_shape(struct shape_table *table, const struct cluster *cluster,
                          const struct job *job)
{
    MEM_GROW(table->shapes, table->capacity, table->count + 1);
    struct shape *shape = &table->shapes[table->count];
    struct job_group *groups = arena_alloc_array(&table->arena, job->group_count, struct job_group);
    for (uint32_t g = 0; g < job->group_count; g++)
        groups[g] = *job_group(job, g);
    *shape = (struct shape){
        .groups = groups, .group_count = job->group_count, .is_preemptible = job->is_preemptible};
    add_charge(shape, cluster);
    shape->order = placing_order(table, shape, cluster);
    shape->never_fits = can_never_fit(shape, cluster);
    return table->count++;
}

static uint64_t hash_shape(const struct shape *shape)
{
    struct job job = {.group_count = shape->group_count,
                      .is_preemptible = shape->is_preemptible,
                      .first = shape->groups[0],
                      .more = shape->groups + 1};
    return hash_job(&job);
}

static void insert_slot(struct shape_table *table, uint32_t id, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (table->slot_count - 1);
    while (table->slots[at] != 0)
        at = (at + 1) & (table->slot_count - 1);
    table->slots[at] = id + 1;
}

static void grow_slots(struct shape_table *table)
{
    mem_free(table->slots);
    table->slot_count *= 2;
    table->slots = mem_zalloc(table->slot_count, sizeof *table->slots);
    for (uint32_t id = 0; id < table->count; id++)
        insert_slot(table, id, hash_shape(&table->shapes[id]));
}

uint32_t shape_of(struct shape_table *table, const struct cluster *cluster, const struct job *job)
{
    uint64_t hash = hash_job(job);
    for (uint32_t at = (uint32_t)hash & (table->slot_count - 1); table->slots[at] != 0;
         at = (at + 1) & (table->slot_count - 1))
        if (is_same(&table->shapes[table->slots[at] - 1], job))
            return table->slots[at] - 1;
    uint32_t id = add_shape(table, cluster, job);
    if (table->count * 2 > table->slot_count)
        grow_slots(table);
    else
        insert_slot(table, id, hash);
    return id;
}

static bool member_fits(const struct request *request, const struct ledger *ledger, node_id node)
{
    const struct node_cell *cell = &ledger->nodes[node];
    if (cell->cpu_free < request->cpu_milli || cell->memory_free < request->memory_mib)
        return false;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    uint32_t share = shape_share_milli(request, &ledger->cluster->models[type->model]);
    if (request->gpus == 0 && share == 0)
        return request->mig == 0;
    if (request->gpu_models != 0 && !(request->gpu_models >> type->model & 1))
        return false;
    if (request->gpus != 0)
        return ledger->index->free_count[node] >= request->gpus;
    gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (uint32_t i = 0; i < type->gpu_count; i++)
        if (ledger->gpus[first + i].free >= share)
            return true;
    return false;
}

bool shape_fits_member(const struct shape *shape, const struct ledger *ledger, node_id node)
{
    for (uint32_t g = 0; g < shape->group_count; g++)
        if (member_fits(&shape->groups[g].request, ledger, node))
            return true;
    return false;
}
