#include "tests/support/sched_mirror.h"
#include "tests/support/test.h"

#include "base/hash.h"
#include "policies/gang/gang.h"
#include "policies/order/order.h"
#include "policies/quota/quotas.h"

struct amounts {                /* of a node; signed, so that an error shows as a negative amount */
    int64_t gpu[NODE_GPUS_MAX]; /* in thousandths of a MiB: whole_gpu */
    int64_t cpu, memory;
};

void mirror_fail(const struct mirror *mirror, const char *what, job_id job)
{
    print_error("seed %llu, cycle %llu, job %u: %s\npolicy %s\n", (unsigned long long)mirror->seed,
                (unsigned long long)mirror->cycle, job, what, mirror->policy.text);
    fail();
}

void mirror_check(const struct mirror *mirror)
{
    const char *broken = sched_check(mirror->sched);
    if (broken != NULL)
        mirror_fail(mirror, broken, JOB_NONE);
}

/* ---- Books ------------------------------------------------------------------------------------- */

/* A GPU is counted in thousandths of a MiB of its memory; where that is not known, as if it had one MiB. */
static int64_t whole_gpu(const struct mirror *mirror, node_id node)
{
    const uint32_t memory_mib = mirror->cluster->models[cluster_node_type(mirror->cluster, node)->model].memory_mib;
    return (int64_t)(memory_mib > 0 ? memory_mib : 1) * GPU_MILLI;
}

/* What a member takes of each of its GPUs. */
static int64_t part_of_gpu(const struct mirror *mirror, node_id node, const struct request *request)
{
    return request->gpu_memory_mib > 0 ? (int64_t)request->gpu_memory_mib * GPU_MILLI
           : request->gpu_milli > 0    ? whole_gpu(mirror, node) / GPU_MILLI * request->gpu_milli
                                       : whole_gpu(mirror, node);
}

static void add_pieces(const struct mirror *mirror, struct amounts *sums, const struct mirror_job *entry, int sign)
{
    for (uint32_t i = 0; i < entry->piece_count; i++) {
        const struct piece *piece = &entry->pieces[i];
        const struct request *request = &job_group(&entry->job, piece->group)->request;
        struct amounts *node = &sums[piece->node];
        for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1)
            node->gpu[__builtin_ctz(mask)] += sign * part_of_gpu(mirror, piece->node, request);
        node->cpu += sign * (int64_t)request->cpu_milli * piece->member_count;
        node->memory += sign * (int64_t)request->memory_mib * piece->member_count;
    }
}

/* What each node has free if jobs in these states hold their pieces. */
static struct amounts *left_new(const struct mirror *mirror, uint32_t states)
{
    const struct cluster *cluster = mirror->cluster;
    struct amounts *left = calloc(cluster->node_count, sizeof *left);
    assert_non_null(left);
    for (node_id n = 0; n < cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(cluster, n);
        left[n].cpu = type->cpu_milli;
        left[n].memory = type->memory_mib;
        for (uint32_t g = 0; g < type->gpu_count; g++)
            left[n].gpu[g] = whole_gpu(mirror, n);
    }
    for (job_id id = 0; id < mirror->job_count; id++)
        if (states >> mirror->jobs[id].state & 1)
            add_pieces(mirror, left, &mirror->jobs[id], -1);
    return left;
}

static bool is_overdrawn(const struct mirror *mirror, const struct amounts *left)
{
    bool bad = false;
    for (node_id n = 0; n < mirror->cluster->node_count; n++) {
        bad |= left[n].cpu < 0 || left[n].memory < 0;
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            bad |= left[n].gpu[g] < 0;
    }
    return bad;
}

static void check_space(const struct mirror *mirror, uint32_t states, const char *what, job_id job)
{
    struct amounts *left = left_new(mirror, states);
    if (is_overdrawn(mirror, left))
        mirror_fail(mirror, what, job);
    free(left);
}

/* Request of a member; memory as on the node where it is the largest share of a GPU. */
static int64_t member_ask(const struct mirror *mirror, const struct request *request)
{
    int64_t most = 0;
    if (request->gpu_memory_mib == 0)
        return request_gpu_milli(request, NULL);
    for (node_id n = 0; n < mirror->cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(mirror->cluster, n);
        const struct gpu_model *model = &mirror->cluster->models[type->model];
        if (type->gpu_count > 0 && model->memory_mib >= request->gpu_memory_mib &&
            request_takes_type(request, mirror->cluster, mirror->cluster->nodes[n].type) &&
            request_gpu_milli(request, model) > most)
            most = request_gpu_milli(request, model);
    }
    return most == 0 ? GPU_MILLI : most;
}

static int64_t ask_of(const struct mirror *mirror, const struct job *job)
{
    int64_t ask = 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        ask += member_ask(mirror, &job_group(job, g)->request) * job_group(job, g)->count;
    return ask;
}

/* What the job holds. */
static int64_t held_by(const struct mirror_job *entry)
{
    int64_t held = 0;
    for (uint32_t p = 0; p < entry->piece_count; p++)
        held += (int64_t)__builtin_popcount(entry->pieces[p].gpu_mask) * entry->pieces[p].gpu_milli;
    return held;
}

/* Would the job's queue and all above it stay within their limits with `more`?  charged: the states of jobs whose
 * charge counts. */
static bool has_headroom_among(const struct mirror *mirror, const struct job *job, int64_t more, unsigned states)
{
    if (ask_of(mirror, job) == 0)
        return true;
    for (queue_id q = job->queue; q != QUEUE_ROOT; q = mirror->queues->queues[q].parent) {
        int64_t limit = mirror->queues->queues[q].limit[RESOURCE_GPU], charged = more;
        for (job_id id = 0; id < mirror->job_count && limit != QUOTA_UNLIMITED; id++) {
            const struct mirror_job *entry = &mirror->jobs[id];
            queue_id at = entry->job.queue;
            while (at != q && at != QUEUE_ROOT)
                at = mirror->queues->queues[at].parent;
            if (at == q && states >> entry->state & 1)
                charged += held_by(entry);
        }
        if (limit != QUOTA_UNLIMITED && charged > limit)
            return false;
    }
    return true;
}

static bool has_headroom(const struct mirror *mirror, const struct job *job, int64_t more)
{
    return has_headroom_among(mirror, job, more, BOOKED);
}

/* The number of members with whole GPUs that fit the free GPUs, island by island if requested. */
static int64_t members_whole(const struct mirror *mirror, node_id node, const struct amounts *left,
                             const struct request *request)
{
    const struct node_pool *pool = &mirror->cluster->pools[mirror->cluster->nodes[node].pool];
    int64_t free[UINT8_MAX + 1] = {0}, members = 0;
    for (uint32_t g = 0; g < cluster_node_gpus(mirror->cluster, node); g++)
        free[request->one_island ? pool->gpu_island[g] : 0] += left->gpu[g] == whole_gpu(mirror, node);
    for (uint32_t i = 0; i <= UINT8_MAX; i++)
        members += free[i] / request->gpus;
    return members;
}

/* The number of members of a request that fit a node with `left` free. */
static int64_t members_in(const struct mirror *mirror, node_id node, const struct amounts *left,
                          const struct request *request)
{
    const struct node_type *type = cluster_node_type(mirror->cluster, node);
    const int64_t share = part_of_gpu(mirror, node, request);
    int64_t members = 0;
    bool needs_gpu = request->gpus + request->gpu_milli + request->gpu_memory_mib > 0;
    if (mirror->node_state[node] != NODE_UP || !random_case_takes_nodes(request, type) ||
        (needs_gpu && request->gpu_models != 0 && !(request->gpu_models >> type->model & 1)))
        return 0;
    for (uint32_t g = 0; g < type->gpu_count && needs_gpu && request->gpus == 0; g++)
        members += left->gpu[g] > 0 ? left->gpu[g] / share : 0;
    if (request->gpus > 0)
        members = members_whole(mirror, node, left, request);
    if (!needs_gpu)
        members = INT32_MAX;
    if (request->cpu_milli > 0 && left->cpu / request->cpu_milli < members)
        members = left->cpu / request->cpu_milli;
    if (request->memory_mib > 0 && left->memory / request->memory_mib < members)
        members = left->memory / request->memory_mib;
    return members < 0 ? 0 : members;
}

/* Exact for one group.  False for several, because the policy chooses where each goes. */
static bool fits(const struct mirror *mirror, const struct amounts *left, const struct job *job)
{
    const struct job_group *group = &job->first;
    int64_t members = 0, *rooms = calloc(mirror->cluster->node_count, sizeof *rooms);
    assert_non_null(rooms);
    for (node_id n = 0; n < mirror->cluster->node_count && job->group_count == 1; n++) {
        const int64_t room = members_in(mirror, n, &left[n], &group->request);
        const uint32_t domain =
            group->slice_members == 0 ? n : mirror->cluster->levels[group->slice_level - 1].domain[n];
        if (domain != DOMAIN_NONE)
            rooms[domain] += room;
    }
    for (uint32_t d = 0; d < mirror->cluster->node_count; d++)
        members += group->slice_members == 0 ? rooms[d] : rooms[d] - rooms[d] % group->slice_members;
    free(rooms);
    return job->group_count == 1 && members >= group->count;
}

static void set_pieces(struct mirror_job *entry, const struct piece *pieces, uint32_t count)
{
    free(entry->pieces);
    entry->pieces = NULL;
    entry->piece_count = count;
    if (count == 0)
        return;
    entry->pieces = calloc(count, sizeof *pieces);
    assert_non_null(entry->pieces);
    memcpy(entry->pieces, pieces, count * sizeof *pieces);
}

void mirror_leave(struct mirror_job *entry, enum mirror_state state)
{
    entry->state = state;
    if (!(EVERYBODY >> state & 1))
        set_pieces(entry, NULL, 0);
}

/* ---- Decisions --------------------------------------------------------------------------------- */

static void check_pieces(const struct mirror *mirror, const struct decision *decision)
{
    const struct job *job = &mirror->jobs[decision->job].job;
    uint64_t members[RANDOM_CASE_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        const struct piece *piece = &decision->pieces[i];
        const struct request *request = &job_group(job, piece->group)->request;
        const struct node_type *type = cluster_node_type(mirror->cluster, piece->node);
        uint32_t gpus = (uint32_t)__builtin_popcount(piece->gpu_mask);
        members[piece->group] += piece->member_count;
        if (mirror->node_state[piece->node] != NODE_UP)
            mirror_fail(mirror, "a job was placed on a node that is not up", decision->job);
        if (!random_case_takes_nodes(request, type))
            mirror_fail(mirror, "a job was placed on a node that it may not take", decision->job);
        if (piece->gpu_mask >> type->gpu_count != 0)
            mirror_fail(mirror, "a job was given a GPU its node does not have", decision->job);
        if (gpus != 0 && request->gpu_models != 0 && !(request->gpu_models >> type->model & 1))
            mirror_fail(mirror, "a job was given a GPU of a model it did not ask", decision->job);
        if (request->gpus != 0 &&
            (gpus != request->gpus * (uint32_t)piece->member_count || piece->gpu_milli != GPU_MILLI))
            mirror_fail(mirror, "a member did not get the GPUs it asked", decision->job);
        if (request->gpu_milli != 0 && (gpus != 1 || piece->gpu_milli != request->gpu_milli))
            mirror_fail(mirror, "a member did not get the share it asked", decision->job);
        if (request->gpu_memory_mib != 0 &&
            (gpus != piece->member_count ||
             piece->gpu_milli != request_gpu_milli(request, &mirror->cluster->models[type->model])))
            mirror_fail(mirror, "a member did not get the memory it asked", decision->job);
    }
    for (uint32_t g = 0; g < job->group_count; g++)
        if (members[g] != job_group(job, g)->count)
            mirror_fail(mirror, "not all members were placed", decision->job);
}

/* The fields of a view that depend on the declaration alone; the mirror uses only orders that read no others. */
static struct order_view view_of(const struct job *job)
{
    return (struct order_view){.submit = job->submit,
                               .priority = job->priority,
                               .class = job->class,
                               .user = job->user,
                               .queue = job->queue,
                               .limit = job->limit,
                               .estimate = job->estimate,
                               .deadline = job->deadline};
}

/* Below 0: a goes before b by the chain. */
static int order_of(const struct mirror *mirror, job_id a, job_id b)
{
    const struct order_config *order_config = &mirror->policy.config.order_config;
    const struct order_view x_view = view_of(&mirror->jobs[a].job), y_view = view_of(&mirror->jobs[b].job);
    for (uint32_t i = 0; i < mirror->policy.config.order_count; i++) {
        uint64_t x = mirror->policy.config.order[i]->rank(&x_view, order_config);
        uint64_t y = mirror->policy.config.order[i]->rank(&y_view, order_config);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* The first waiting job in the order; in one line for all queues, the first that no limit forbids, where jobs of these
 * states are charged.  JOB_NONE: none waits. */
static job_id head_of(const struct mirror *mirror, queue_id queue, unsigned states)
{
    const bool is_flat = mirror->policy.config.quota->is_flat;
    job_id head = JOB_NONE;
    for (job_id id = 0; id < mirror->job_count; id++) {
        const struct job *job = &mirror->jobs[id].job;
        if (mirror->jobs[id].state == WAITING && (is_flat || job->queue == queue) &&
            (head == JOB_NONE || order_of(mirror, id, head) < 0) &&
            (!is_flat || has_headroom_among(mirror, job, ask_of(mirror, job), states)))
            head = id;
    }
    return head;
}

static void take_start(struct mirror *mirror, const struct decision *decision)
{
    struct mirror_job *entry = &mirror->jobs[decision->job];
    entry->was_reserved = entry->state == RESERVED;
    if (!entry->was_reserved && entry->state != WAITING)
        mirror_fail(mirror, "a job was started that does not wait", decision->job);
    check_pieces(mirror, decision);
    entry->state = STARTING;
    entry->decision = decision->id;
    entry->decided = mirror->now;
    entry->decided_cycle = mirror->cycle;
    set_pieces(entry, decision->pieces, decision->piece_count);
    if (!entry->was_reserved && !has_headroom(mirror, &entry->job, 0))
        mirror_fail(mirror, "a START takes a queue above its limit", decision->job);
    check_space(mirror, PHYSICAL, "space was given that others hold", decision->job);
    check_space(mirror, BOOKED, "space was given that others were promised", decision->job);
}

static void take_evict(struct mirror *mirror, const struct decision *decision)
{
    struct mirror_job *entry = &mirror->jobs[decision->job];
    const struct mirror_job *preemptor = &mirror->jobs[decision->for_job];
    const struct preemption_config *guard = &mirror->policy.config.preempt;
    if (entry->state != RUNNING || !entry->job.is_preemptible)
        mirror_fail(mirror, "a job was evicted that does not run or may not be evicted", decision->job);
    time_ns min_runtime =
        decision->reason == REASON_RECLAIMED ? guard->reclaim_min_runtime : guard->preempt_min_runtime;
    if (decision->is_partial || decision->piece_count == 0)
        mirror_fail(mirror, "a job without members to spare is to give up some", decision->job);
    if (mirror->now - entry->decided < min_runtime || (int64_t)entry->evictions >= guard->evictions_per_job_max ||
        entry->decided_cycle == mirror->cycle)
        mirror_fail(mirror, "a job was evicted against a guard", decision->job);
    if (preemptor->state != WAITING || decision->for_job == decision->job)
        mirror_fail(mirror, "an eviction for nobody", decision->job);
    if (decision->reason == REASON_PREEMPTED &&
        (entry->job.priority >= preemptor->job.priority || order_of(mirror, decision->for_job, decision->job) > 0))
        mirror_fail(mirror, "a victim goes before its preemptor", decision->job);
    if (decision->reason == REASON_RECLAIMED && mirror->policy.config.quota == &quota_none)
        mirror_fail(mirror, "nothing can be reclaimed without quotas", decision->job);
    entry->state = LEAVING;
    entry->decision = decision->id;
}

/* The plan's victims are those right before its RESERVE; each of them must be needed. */
static void check_plan(struct mirror *mirror, const struct decision *all, size_t at)
{
    struct mirror_job *preemptor = &mirror->jobs[all[at].job];
    int64_t victims = 0;
    size_t first = at;
    for (; first > 0 && all[first - 1].kind == DECISION_EVICT && all[first - 1].for_job == all[at].job; first--)
        victims++;
    if (victims > mirror->policy.config.preempt.victims_max)
        mirror_fail(mirror, "a plan of too many victims", all[at].job);
    struct amounts *left = left_new(mirror, EVERYBODY);
    for (size_t i = first; i < at; i++)
        add_pieces(mirror, left, &mirror->jobs[all[i].job], 1);
    for (size_t i = first; i < at; i++) {
        struct mirror_job *victim = &mirror->jobs[all[i].job];
        add_pieces(mirror, left, victim, -1);
        victim->state = RUNNING; /* it may be needed for its space, or for its queue's charge */
        if (fits(mirror, left, &preemptor->job) &&
            has_headroom(mirror, &preemptor->job, ask_of(mirror, &preemptor->job)))
            mirror_fail(mirror, "a victim was not needed", all[i].job);
        victim->state = LEAVING;
        add_pieces(mirror, left, victim, 1);
    }
    free(left);
}

static void take_reserve(struct mirror *mirror, const struct decision *all, size_t at)
{
    const struct decision *decision = &all[at];
    struct mirror_job *entry = &mirror->jobs[decision->job];
    if (entry->state != WAITING)
        mirror_fail(mirror, "a reservation for a job that does not wait", decision->job);
    /* the plan was made before its victims left; others may have left before */
    if (mirror->policy.config.is_strict && head_of(mirror, entry->job.queue, BOOKED) != decision->job &&
        head_of(mirror, entry->job.queue, BOOKED | 1u << LEAVING) != decision->job)
        mirror_fail(mirror, "a strict line was overtaken by eviction", decision->job);
    check_plan(mirror, all, at);
    check_pieces(mirror, decision);
    entry->state = RESERVED;
    set_pieces(entry, decision->pieces, decision->piece_count);
    if (!has_headroom(mirror, &entry->job, 0))
        mirror_fail(mirror, "a reservation takes a queue above its limit", decision->job);
    check_space(mirror, BOOKED, "a reservation on space that does not come", decision->job);
}

static void take_decision(struct mirror *mirror, const struct decision *all, size_t at)
{
    const struct decision *decision = &all[at];
    struct mirror_job *entry = &mirror->jobs[decision->job];
    mirror->hash = hash_mix(hash_mix(mirror->hash, decision->id), (uint64_t)decision->kind);
    switch (decision->kind) {
    case DECISION_START:
        take_start(mirror, decision);
        break;
    case DECISION_EVICT:
        take_evict(mirror, decision);
        break;
    case DECISION_RESERVE:
        take_reserve(mirror, all, at);
        break;
    case DECISION_NOTIFY: /* changes nothing */
        break;
    case DECISION_REPARTITION:
        mirror_fail(mirror, "no policy here cuts GPUs anew", decision->job);
        break;
    case DECISION_RELEASE:
        if (entry->state != RESERVED)
            mirror_fail(mirror, "a reservation was released that is not", decision->job);
        mirror_leave(entry, WAITING);
        break;
    case DECISION_REJECT: {
        struct amounts *left = left_new(mirror, 0);
        uint8_t *states = mirror->node_state;
        mirror->node_state = calloc(mirror->cluster->node_count, 1); /* NODE_UP */
        assert_non_null(mirror->node_state);
        if ((entry->state != WAITING && entry->state != HELD && entry->state != OVER) ||
            fits(mirror, left, &entry->job))
            mirror_fail(mirror, "a job was rejected that may fit one day", decision->job);
        free(mirror->node_state);
        mirror->node_state = states;
        free(left);
        mirror_leave(entry, OVER);
        break;
    }
    }
}

/* ---- Nothing is hidden by memos ---------------------------------------------------------------- */

/* No waiting job that may start fits the free space, so no memo hides a job. */
static void check_nothing_fits(const struct mirror *mirror)
{
    const struct policy_config *config = &mirror->policy.config;
    if (config->backfill_config.keeps || (config->backfill_config.overtakes && !policy_has_one_line(config)) ||
        config->backfill_config.interval > 0)
        return; /* free space may be kept for a job, or the job was not examined yet */
    struct amounts *left = left_new(mirror, EVERYBODY);
    for (job_id id = 0; id < mirror->job_count; id++) {
        const struct job *job = &mirror->jobs[id].job;
        if (mirror->jobs[id].state != WAITING)
            continue;
        if (config->is_strict && head_of(mirror, job->queue, BOOKED) != id)
            continue;
        if (fits(mirror, left, job) && has_headroom(mirror, job, ask_of(mirror, job)))
            mirror_fail(mirror, "it fits, may go, and was not started", id);
    }
    free(left);
}

/* Undo the cycle's starts, the last first: no job that still waits and goes before the started job may fit then.  With
 * backfill a job may have been in the way of an earlier one, where a shorter job was not (test_easy_oracle checks
 * that). */
static void check_order(const struct mirror *mirror, const struct decision *all, size_t count)
{
    if (mirror->policy.config.backfill_config.overtakes)
        return;
    struct amounts *left = left_new(mirror, EVERYBODY);
    for (size_t i = count; i-- > 0;) {
        const struct mirror_job *started = &mirror->jobs[all[i].job];
        if (all[i].kind != DECISION_START || started->was_reserved)
            continue;
        add_pieces(mirror, left, started, 1);
        for (job_id id = 0; id < mirror->job_count; id++) {
            const struct job *job = &mirror->jobs[id].job;
            bool same_line = mirror->policy.config.quota->is_flat || job->queue == started->job.queue;
            if (mirror->jobs[id].state == WAITING && same_line && order_of(mirror, id, all[i].job) < 0 &&
                fits(mirror, left, job) && has_headroom(mirror, job, ask_of(mirror, job)))
                mirror_fail(mirror, "it was passed over by one that goes after it", id);
        }
    }
    free(left);
}

size_t mirror_cycle(struct mirror *mirror)
{
    const struct decision *decisions;
    mirror->cycle++;
    size_t count = sched_cycle(mirror->sched, mirror->now, &decisions, &mirror->wake_at);
    mirror_check(mirror);
    bool has_plans = false;
    for (size_t i = 0; i < count; i++) {
        take_decision(mirror, decisions, i);
        has_plans |= decisions[i].kind == DECISION_RESERVE;
    }
    if (mirror->wake_at < mirror->now)
        mirror_fail(mirror, "it wants to be woken in the past", JOB_NONE);
    check_space(mirror, PHYSICAL, "space is held twice", JOB_NONE);
    if (!has_plans) /* evictions lower charges during the cycle */
        check_order(mirror, decisions, count);
    check_nothing_fits(mirror);
    struct sched_counts counts;
    sched_count(mirror->sched, &counts);
    if (counts.reserved_gpu_milli < 0 || counts.reserved_gpu_milli > counts.used_gpu_milli)
        mirror_fail(mirror, "what is reserved already is not a part of what is used", JOB_NONE);
    return count;
}

/* ---- A whole life ---- */

/* Do the checks above apply to the policy?  Others have quotas, orders or plans of their own. */
static bool is_understood(const struct policy_config *config)
{
    const struct preemption_config *preempt = &config->preempt;
    bool is_plain = config->gang->is_all_or_nothing && config->headroom.gpu_milli == 0 && !config->inference_first &&
                    config->defrag_config.moves_per_plan == 0 && preempt->within_queue == WITHIN_QUEUE_LOWER &&
                    preempt->delay == 0 && preempt->loss_ratio_milli == 0 && !preempt->replaces_victims;
    for (uint32_t i = 0; i < config->order_count; i++)
        is_plain &= config->order[i]->is_constant && !config->order[i]->moves && !config->order[i]->needs_accounts;
    return is_plain && (config->quota == &quota_none || config->quota == &quota_fairshare);
}

void mirror_open(struct mirror *mirror, uint64_t seed)
{
    struct error error;
    *mirror = (struct mirror){.seed = seed, .hash = seed};
    random_stream_init(&mirror->stream, seed, "sched-fuzz", 0);
    mirror->cluster = random_case_cluster(&mirror->stream);
    mirror->queues = queue_table_new();
    random_case_queues(&mirror->stream, mirror->queues, mirror->cluster, random_case_once_in(&mirror->stream, 2));
    random_case_policy(&mirror->stream, random_below(&mirror->stream, random_case_preset_count() + 8), &mirror->policy);
    if (!is_understood(&mirror->policy.config))
        random_case_policy(&mirror->stream, UINT32_MAX, &mirror->policy);
    mirror->sched = sched_new(mirror->cluster, mirror->queues, &mirror->policy.config, &error);
    assert_non_null(mirror->sched);
    mirror->jobs = calloc(MIRROR_JOBS_MAX, sizeof *mirror->jobs);
    mirror->node_state = calloc(mirror->cluster->node_count, 1); /* NODE_UP */
    assert_true(mirror->jobs != NULL && mirror->node_state != NULL);
}

void mirror_close(struct mirror *mirror)
{
    for (job_id id = 0; id < mirror->job_count; id++)
        free(mirror->jobs[id].pieces);
    free(mirror->jobs);
    free(mirror->node_state);
    sched_free(mirror->sched);
    queue_table_free(mirror->queues);
    cluster_free(mirror->cluster);
}
