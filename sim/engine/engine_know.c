/* What the world and the scheduler know of a job from its declaration.  It is noted when the job is submitted. */
#include "sim/engine/engine_demand.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_state.h"
#include "sim/engine/engine_use.h"
#include "topologies/communication.h"

bool engine_silences(const struct engine *engine, const struct job *job)
{
    return job->communication != NULL && engine->config->world.network == NETWORK_FREE;
}

/* The GPUs that all members ask for, and whether the job gets exactly these on any GPU model. */
static void fill_asked(struct sim_job *own, const struct job *job)
{
    own->asked_milli = 0;
    own->is_exact = true;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        own->asked_milli += request_gpu_milli(&group->request, NULL) * group->count;
        own->is_exact &= group->request.gpu_memory_mib == 0 && group->request.mig == 0;
    }
}

/* Under a sharing policy the groups of a job get other pieces of GPUs than they ask for: fill `groups` with these. */
static void map_pieces(const struct engine *engine, const struct job *job, struct job_group *groups)
{
    const struct policy_config *policy = engine->policy;
    if (policy == NULL || policy->sharing->map == NULL) {
        for (uint32_t g = 0; g < job->group_count; g++)
            groups[g] = *job_group(job, g);
        return;
    }
    const struct sharing sharing = {.policy = policy->sharing,
                                    .config = &policy->sharing_config,
                                    .cluster = engine->config->cluster,
                                    .queues = job_source_queues(engine->config->source),
                                    .recuts = policy->geometry->score != NULL};
    sharing_map(&sharing, job, groups);
}

/* Returns the mean SM activity of the pieces that the job gets, if it does there what it does on the requested pieces.
 * For an open job it also notes the SM activity that would serve all that the job is asked for. */
static uint16_t activity(const struct engine *engine, struct sim_job *own, const struct job *job,
                         const struct job_truth *truth, const struct job_group *groups)
{
    int64_t held = 0;
    if (truth->sm_active_milli == SM_ACTIVE_UNKNOWN)
        return truth->sm_active_milli;
    for (uint32_t g = 0; g < job->group_count; g++)
        held += engine_member_milli(engine, &groups[g].request) * groups[g].count;
    const struct engine_asked asked = engine_asked_of(engine, job, truth);
    const double wanted = (double)(truth->sm_active_milli * asked.gpus_milli);
    if (held == 0 || (held == asked.gpus_milli && asked.served == 1))
        return truth->sm_active_milli;
    if (asked.is_open) {
        own->wanted = wanted / GPU_MILLI / (double)held;
        own->served = own->wanted * asked.served;
    }
    return (uint16_t)lrint(fmin(GPU_MILLI, wanted * asked.served / (double)held));
}

static char *own_name(const struct job *job)
{
    return job->name != NULL ? mem_copy_text(job->name) : NULL;
}

static time_ns longest_attempt(const struct job_truth *truth)
{
    time_ns longest = truth->duration;
    for (uint32_t i = 0; truth->failures != NULL && i < truth->failures->count; i++)
        if (truth->failures->work[i] > longest)
            longest = truth->failures->work[i];
    return longest;
}

/* The run time that the scheduler is told: declared by the submitter, or an estimate by the world's setting. */
static time_ns told_estimate(const struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    const struct estimates *estimates = &engine->config->world.estimates;
    if (estimates->kind == ESTIMATES_AS_DECLARED)
        return job->estimate;
    return estimates_make(estimates, engine->config->seed, job->id, longest_attempt(truth), job->estimate);
}

/* Every field is named, so that none is written twice. */
static void fill_row(struct engine *engine, struct sim_job *own, const struct job *job, const struct job_truth *truth)
{
    const struct job_source *source = engine->config->source;
    const struct queue_table *queues = job_source_queues(engine->config->source);
    own->row =
        (struct job_row){.id = job->id,
                         .name = own_name(job),
                         .queue = queues->queues[job->queue].name,
                         .user = job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : "",
                         .class = job->class,
                         .workload_class = truth->workload_class == 0
                                               ? job_class_name(job->class)
                                               : names_text(job_source_classes(source), truth->workload_class - 1u),
                         .priority = job->priority,
                         .gpu_milli = own->asked_milli,
                         .members = own->pieces.member_count,
                         .model = job_only_model(job, engine->config->cluster),
                         .asked_model = 0,
                         .submit = job->submit,
                         .eligible = job->submit,
                         .start = TIME_NEVER,
                         .end = TIME_NEVER,
                         .state = 0,
                         .reason = 0,
                         .wait = 0,
                         .wait_total = 0,
                         .recorded_wait = truth->recorded_wait != TIME_NEVER ? truth->recorded_wait : 0,
                         .has_recorded_wait = truth->recorded_wait != TIME_NEVER,
                         .run = 0,
                         .work = 0,
                         .work_asked = truth->duration,
                         .evictions = 0,
                         .lost_gpu_ns = 0,
                         .overhead_gpu_ns = 0,
                         .sm_active_milli = truth->sm_active_milli,
                         .is_counted = job->submit >= engine->config->world.warmup,
                         .source = 0,
                         .resizes = 0,
                         .held_milli_ns = 0,
                         .limit = job->limit,
                         .estimate = told_estimate(engine, job, truth),
                         .deadline = job->deadline,
                         .preempted_gpu_ns = 0,
                         .lost = NULL,
                         .pulls = NULL,
                         .evictions_wasted = 0,
                         .communication = job->communication != NULL ? communication_name(job->communication) : "",
                         .exposed_gpu_us = 0,
                         .slowed_gpu_us = 0,
                         .network_gpu_us = 0,
                         .network_bytes_per_s = 0,
                         .planned_gpu_us = 0,
                         .mfu_micro = 0,
                         .activity = NULL,
                         .active_gpu_us = 0,
                         .idle_held_gpu_us = 0,
                         .unserved_gpu_us = 0,
                         .faults = NULL,
                         .idle = NULL,
                         .waits = NULL};
    own->row.asked_model = own->row.model;
}

/* Copy its dependencies.  From the first job with dependencies on, the ends of jobs are remembered. */
static void fill_after(struct engine *engine, struct sim_job *own, const struct job *job)
{
    own->after_count = job->after_count;
    if (job->after_count == 0)
        return;
    engine->ended.is_on = true;
    MEM_GROW(engine->ended.at, engine->ended.capacity, (size_t)job->id + 1);
    MEM_GROW(own->after, own->after_capacity, (size_t)job->after_count);
    for (uint32_t i = 0; i < job->after_count; i++) {
        assert(job->after[i].job < job->id);
        own->after[i] = job->after[i];
    }
}

time_ns engine_stale_after(const struct engine *engine, const struct job *job)
{
    if (job->stale_after != JOB_AS_QUEUE)
        return job->stale_after;
    return queue_table_stale_after(job_source_queues(engine->config->source), job->queue, engine->policy->stale_after);
}

/* Field by field: the slot keeps its storage, its generation and its tenure. */
static void fill_job(struct engine *engine, struct sim_job *own, const struct job *job, const struct job_truth *truth)
{
    job_pieces_plan(&own->pieces, job);
    engine_check_asks(engine, own, job);
    fill_asked(own, job);
    fill_row(engine, own, job, truth);
    engine->result->limits += own->row.limit != TIME_NEVER;
    engine->result->estimates += own->row.estimate != TIME_NEVER;
    fill_after(engine, own, job);
    own->checkpoint = job->checkpoint;
    own->progress = progress_new(truth->duration, own->pieces.member_count, 1);
    own->outcome = truth->outcome;
    own->trace_id = job->trace_id;
    own->held_milli = 0;
    own->limit = job->limit;
    own->running_since = own->leaves_at = own->thaws_at = 0;
    own->stale_since = TIME_NEVER;
    own->stale_after = engine_stale_after(engine, job);
    own->change_count = 0;
    own->attempts = 0;
    own->owed = 0;
    own->is_paced = own->is_slowed = false;
    own->wanted = own->served = 0;
    own->phase = PHASE_WORK;
    own->state = LIFE_NONE;
    own->evict_reason = REASON_NONE;
}

static struct job_names names_of(const struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    const struct job_source *source = engine->config->source;
    return (struct job_names){.user = job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : "",
                              .workload_class = truth->workload_class != 0
                                                    ? names_text(job_source_classes(source), truth->workload_class - 1u)
                                                    : ""};
}

/* Tell the parts of the job, and the pieces that it gets.  A sharing policy may give it others than it asks for. */
static void tell_parts(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    struct job_group groups[JOB_GROUPS_MAX];
    struct sim_job *own = &engine->jobs[slot];
    map_pieces(engine, job, groups);
    for (uint32_t g = 0; g < job->group_count; g++)
        own->is_exact &= request_is_same(&groups[g].request, &job_group(job, g)->request);
    own->row.sm_active_milli = activity(engine, own, job, truth, groups);
    engine_use_asks(engine, own, job, truth, groups);
    const struct job_asked asked = {.job = job, .truth = truth, .names = names_of(engine, job, truth), .got = groups};
    EACH_PART(engine, submitted)(engine, slot, &asked);
}

/* The job gets what it asks for. */
static void tell_activity(const struct engine *engine, uint32_t slot, const struct job *job,
                          const struct job_truth *truth)
{
    struct job_group groups[JOB_GROUPS_MAX];
    for (uint32_t g = 0; g < job->group_count; g++)
        groups[g] = *job_group(job, g);
    engine->jobs[slot].row.sm_active_milli = activity(engine, &engine->jobs[slot], job, truth, groups);
}

/* With the estimate and the checkpoint plan that the world makes, if it makes them; and not preemptible, if the policy
 * tells that by its priority. */
const struct job *engine_told(const struct engine *engine, const struct job *job, struct job *room)
{
    const struct policy_config *policy = engine->policy;
    const bool becomes_firm = policy != NULL && policy_makes_firm(policy, job);
    if (engine->config->world.estimates.kind == ESTIMATES_AS_DECLARED && !engine->has_phases && !becomes_firm)
        return job;
    *room = *job;
    room->is_preemptible &= !becomes_firm;
    room->estimate = engine->jobs[engine->slots.slot_of[job->id]].row.estimate;
    room->checkpoint = engine->jobs[engine->slots.slot_of[job->id]].checkpoint;
    EACH_PART(engine, told)(engine, engine->slots.slot_of[job->id], room);
    return room;
}

void engine_know(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    fill_job(engine, &engine->jobs[slot], job, truth);
    const uint32_t needs =
        (job->communication != NULL ? NEED_COMMUNICATION : 0u) | (truth->failures != NULL ? NEED_ATTEMPTS : 0u);
    if ((needs & ~engine->needs) != 0)
        engine_parts_need(engine, needs);
    const struct policy_config *policy = engine->policy;
    if (engine->parts[0] != NULL || (policy != NULL && policy->sharing->map != NULL)) {
        tell_parts(engine, slot, job, truth);
    } else {
        engine_use_asks(engine, &engine->jobs[slot], job, truth, NULL);
        if (engine->jobs[slot].is_shared)
            tell_activity(engine, slot, job, truth);
    }
    if (engine->spent->of != NULL)
        engine_spent_asks(engine, slot);
}
