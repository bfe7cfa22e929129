/* Free space, fits and charges, from the books of an honest world alone. */
#include <string.h>

#include "policies/quota/quotas.h"
#include "tests/support/honest_world.h"

/* ---- Space ---- */

/* Shares of a kind and a domain. */
struct share {
    uint8_t kind;
    uint32_t domain;
};

static struct share share_of_group(const struct honest_job *job, uint32_t group)
{
    return (struct share){job->share_kind[group], job->share_domain[group]};
}

/* Of a request that is a group's of one of the world's jobs. */
static struct share share_of(const struct honest_world *world, const struct request *request)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++)
        for (uint32_t g = 0; g < world->jobs[j].job.group_count; g++)
            if (&job_group(&world->jobs[j].job, g)->request == request)
                return share_of_group(&world->jobs[j], g);
    return (struct share){SHARE_PLAIN, 0};
}

static void clients_change(struct honest_clients *clients, struct share share, int more)
{
    if (clients->count == 0)
        *clients = (struct honest_clients){.kind = share.kind, .domain = share.domain};
    clients->count += (uint32_t)more;
}

/* How many such shares those on the GPU let join them. */
static int64_t clients_left(const struct honest_world *world, const struct honest_clients *clients, struct share share)
{
    const uint16_t most = world->scenario->policy.sharing_config.clients_max[share.kind];
    if (clients->count > 0 && (clients->kind != share.kind || clients->domain != share.domain))
        return 0;
    return most == 0 ? INT32_MAX : most > clients->count ? most - clients->count : 0;
}

void honest_space_change(const struct honest_world *world, struct honest_space *space, uint32_t j,
                         const struct piece *piece, int sign)
{
    const struct request *request = &job_group(&world->jobs[j].job, piece->group)->request;
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        const int g = __builtin_ctz(mask);
        space->gpu[piece->node][g] += sign * (int64_t)piece->gpu_milli;
        if (request->gpu_milli > 0)
            clients_change(&space->clients[piece->node][g], share_of_group(&world->jobs[j], piece->group), -sign);
    }
    space->cpu[piece->node] += sign * (int64_t)request->cpu_milli;
    space->memory[piece->node] += sign * (int64_t)request->memory_mib;
}

void honest_space_of(const struct honest_world *world, uint32_t counted, struct honest_space *space)
{
    memset(space, 0, sizeof *space);
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(world->cluster, n);
        space->cpu[n] = type->cpu_milli;
        space->memory[n] = type->memory_mib;
        for (uint32_t g = 0; g < type->gpu_count; g++)
            space->gpu[n][g] = GPU_MILLI;
    }
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        const struct honest_job *job = &world->jobs[j];
        for (uint32_t i = 0; i < job->hold_count; i++)
            if (counted & (job->holds[i].phase == HOLD_LEAVING ? COUNT_LEAVING : COUNT_HELD))
                honest_space_change(world, space, j, &job->holds[i].piece, -1);
        for (uint32_t i = 0; i < job->reserved_count && counted & COUNT_RESERVED; i++)
            honest_space_change(world, space, j, &job->reserved[i], -1);
    }
}

bool honest_space_is_overdrawn(const struct honest_world *world, const struct honest_space *space)
{
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        if (space->cpu[n] < 0 || space->memory[n] < 0)
            return true;
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            if (space->gpu[n][g] < 0)
                return true;
    }
    return false;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t members_on(const struct honest_world *world, node_id n, const struct honest_space *space,
                          const struct request *request)
{
    bool needs_gpu = request->gpus + request->gpu_milli > 0;
    int64_t members = needs_gpu ? 0 : INT32_MAX;
    if (world->node_state[n] != NODE_UP)
        return 0;
    const struct share share = share_of(world, request);
    for (uint32_t g = 0; g < NODE_GPUS_MAX && needs_gpu; g++)
        members += request->gpus > 0 ? space->gpu[n][g] == GPU_MILLI
                                     : least(space->gpu[n][g] / request->gpu_milli,
                                             clients_left(world, &space->clients[n][g], share));
    if (request->gpus > 0)
        members /= request->gpus;
    if (request->cpu_milli > 0 && space->cpu[n] / request->cpu_milli < members)
        members = space->cpu[n] / request->cpu_milli;
    if (request->memory_mib > 0 && space->memory[n] / request->memory_mib < members)
        members = space->memory[n] / request->memory_mib;
    return members;
}

bool honest_space_take(const struct honest_world *world, struct honest_space *space, const struct request *request)
{
    const int64_t milli = request->gpus > 0 ? GPU_MILLI : request->gpu_milli;
    uint32_t gpus = request->gpus > 0 ? request->gpus : request->gpu_milli > 0;
    const struct share share = share_of(world, request);
    node_id n = 0;
    while (n < world->cluster->node_count && members_on(world, n, space, request) < 1)
        n++;
    if (n == world->cluster->node_count)
        return false;
    for (uint32_t g = 0; g < NODE_GPUS_MAX && gpus > 0; g++)
        if (space->gpu[n][g] >= milli && (request->gpus > 0 || clients_left(world, &space->clients[n][g], share) > 0)) {
            space->gpu[n][g] -= milli;
            if (request->gpus == 0)
                clients_change(&space->clients[n][g], share, 1);
            gpus--;
        }
    space->cpu[n] -= request->cpu_milli;
    space->memory[n] -= request->memory_mib;
    return true;
}

uint32_t honest_space_members(const struct honest_world *world, const struct honest_space *space,
                              const struct request *request)
{
    int64_t members = 0;
    for (node_id n = 0; n < world->cluster->node_count; n++)
        members += members_on(world, n, space, request);
    return members > INT32_MAX ? INT32_MAX : (uint32_t)members;
}

/* ---- Charges ---- */

bool honest_is_below(const struct honest_world *world, uint32_t queue, uint32_t top)
{
    while (queue != top && queue != QUEUE_NONE)
        queue = world->scenario->queues[queue].parent;
    return queue == top;
}

int64_t honest_member_ask(const struct honest_world *world, const struct request *request, enum resource r)
{
    (void)world;
    return r == RESOURCE_GPU   ? request->gpu_milli + (int64_t)request->gpus * GPU_MILLI
           : r == RESOURCE_CPU ? (int64_t)request->cpu_milli
                               : (int64_t)request->memory_mib;
}

int64_t honest_charge(const struct honest_world *world, uint32_t queue, enum resource r, bool firm)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        const struct honest_job *job = &world->jobs[j];
        uint32_t members[RANDOM_WORLD_GROUPS_MAX];
        if (!honest_is_below(world, job->plan->job.queue, queue) || (firm && job->job.is_preemptible))
            continue;
        honest_job_members(job, members);
        for (uint32_t i = 0; i < job->reserved_count; i++)
            members[job->reserved[i].group]++;
        for (uint32_t g = 0; g < job->job.group_count; g++)
            sum += members[g] * honest_member_ask(world, &job_group(&job->job, g)->request, r);
    }
    return sum;
}

/* The sum of the quotas below; unlimited: no bound. */
static int64_t nominal_below(const struct honest_world *world, uint32_t top, enum resource r)
{
    int64_t sum = 0;
    for (uint32_t q = 0; q < world->scenario->queue_count; q++) {
        const struct random_queue *queue = &world->scenario->queues[q];
        if (!honest_is_below(world, q, top))
            continue;
        if (queue->spec.deserved[r] != QUOTA_UNLIMITED)
            sum += queue->spec.deserved[r];
        else if (queue->is_leaf)
            return INT64_MAX / 4;
    }
    return sum;
}

static bool queue_allows(const struct honest_world *world, uint32_t q, enum resource r, int64_t more,
                         bool is_non_preemptible)
{
    const struct random_queue *queue = &world->scenario->queues[q];
    const struct policy_config *policy = &world->scenario->policy;
    int64_t charged = honest_charge(world, q, r, false);
    if (queue->spec.limit[r] != QUOTA_UNLIMITED && charged + more > queue->spec.limit[r])
        return false;
    if (policy->quota_config.firm_needs_quota && is_non_preemptible && queue->spec.deserved[r] != QUOTA_UNLIMITED &&
        honest_charge(world, q, r, true) + more > queue->spec.deserved[r])
        return false;
    bool is_cohort = policy->quota == &quota_cohort && queue->parent == QUEUE_NONE;
    return !is_cohort || charged + more <= nominal_below(world, q, r);
}

bool honest_knows_quota(const struct honest_world *world)
{
    const struct quota_policy *quota = world->scenario->policy.quota;
    return quota == &quota_none || quota == &quota_fairshare || quota == &quota_cohort;
}

bool honest_quota_allows(const struct honest_world *world, uint32_t j, const uint32_t members[])
{
    const struct honest_job *job = &world->jobs[j];
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        int64_t ask = 0;
        for (uint32_t g = 0; g < job->job.group_count; g++)
            ask += members[g] * honest_member_ask(world, &job_group(&job->job, g)->request, (enum resource)r);
        for (uint32_t q = job->plan->job.queue; q != QUEUE_NONE && ask > 0; q = world->scenario->queues[q].parent)
            if (!queue_allows(world, q, (enum resource)r, ask, !job->job.is_preemptible))
                return false;
    }
    return true;
}
