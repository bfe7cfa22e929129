/* What people read of an honest world: its present state as a case, its decisions as lines. */
#include "policies/config/presets.h"
#include "policies/preemption/preemption.h"
#include "tests/support/honest_world.h"
#include "tests/support/json_text.h"

static double seconds(time_ns span)
{
    return (double)span / (double)TIME_NS_PER_S;
}

static void write_policy(const struct honest_world *world, struct buffer *out)
{
    const struct random_world *scenario = world->scenario;
    buffer_format(out, " 'policy': {'preset': '%s'", policy_preset_texts[scenario->preset].name);
    if (scenario->policy.preemption->evicts)
        buffer_format(out,
                      ", 'set': {'preemption.grace_s': %g, 'preemption.min_runtime_s': %g, 'preemption.delay_s': %g}",
                      seconds(scenario->policy.preempt.grace), seconds(scenario->policy.preempt.reclaim_min_runtime),
                      seconds(scenario->policy.preempt.delay));
    buffer_string(out, "},\n");
}

static void write_nodes(const struct honest_world *world, struct buffer *out)
{
    static const char *const states[] = {"up", "cordoned", "draining", "down", "absent"};
    buffer_string(out, " 'nodes': [");
    for (uint32_t n = 0; n < world->scenario->node_count; n++) {
        const struct random_node *node = &world->scenario->nodes[n];
        buffer_format(out, "%s{'name': 'n%u', 'gpus': %u", n > 0 ? ", " : "", n, node->gpus);
        if (node->cpus > 0)
            buffer_format(out, ", 'cpus': %u", node->cpus);
        if (node->memory_gb > 0)
            buffer_format(out, ", 'memory_gb': %u", node->memory_gb);
        if (world->node_state[n] != NODE_UP)
            buffer_format(out, ", 'state': '%s'", states[world->node_state[n]]);
        buffer_char(out, '}');
    }
    buffer_string(out, "],\n");
}

static void write_queues(const struct honest_world *world, struct buffer *out)
{
    buffer_string(out, " 'queues': [");
    for (uint32_t q = 0; q < world->scenario->queue_count; q++) {
        const struct random_queue *queue = &world->scenario->queues[q];
        const struct queue_spec *spec = &queue->spec;
        buffer_format(out, "%s{'name': 'q%u'", q > 0 ? ",\n            " : "", q);
        if (queue->parent != QUEUE_NONE)
            buffer_format(out, ", 'parent': 'q%u'", queue->parent);
        buffer_format(out, ", 'quota_gpus': %g", (double)spec->deserved[RESOURCE_GPU] / GPU_MILLI);
        if (spec->limit[RESOURCE_GPU] != QUOTA_UNLIMITED)
            buffer_format(out, ", 'limit_gpus': %g", (double)spec->limit[RESOURCE_GPU] / GPU_MILLI);
        buffer_format(out, ", 'over_quota_weight': %g, 'over_quota_weight_cpus': %g",
                      (double)spec->weight_milli[RESOURCE_GPU] / 1000, (double)spec->weight_milli[RESOURCE_CPU] / 1000);
        if (spec->priority != 100)
            buffer_format(out, ", 'priority': %d", spec->priority);
        if (spec->reclaim_min_runtime >= 0)
            buffer_format(out, ", 'reclaim_min_runtime_s': %g", seconds(spec->reclaim_min_runtime));
        if (spec->preempt_min_runtime >= 0)
            buffer_format(out, ", 'preempt_min_runtime_s': %g", seconds(spec->preempt_min_runtime));
        buffer_char(out, '}');
    }
    buffer_string(out, "],\n");
}

static void write_task(const struct honest_world *world, const struct honest_job *job, uint32_t group,
                       const struct hold *hold, uint32_t count, bool is_first, struct buffer *out)
{
    const struct request *request = &job_group(&job->job, group)->request;
    buffer_string(out, is_first ? "{" : ", {");
    if (request->gpu_milli > 0)
        buffer_format(out, "'gpu_fraction': %g, ", request->gpu_milli / 1000.0);
    else
        buffer_format(out, "'gpus': %u, ", request->gpus);
    buffer_format(out, "'cpus': %g, 'memory_gb': %g", request->cpu_milli / 1000.0, request->memory_mib / 1024.0);
    if (job->job.set_count > 0)
        buffer_format(out, ", 'subgroup': '%s'", job->job.sets[job_group(&job->job, group)->set].name);
    if (hold == NULL) {
        buffer_format(out, ", 'count': %u}", count);
        return;
    }
    buffer_format(out, ", 'state': '%s', 'node': 'n%u'", hold->phase == HOLD_LEAVING ? "releasing" : "running",
                  hold->piece.node);
    const char *mark = ", 'gpu_index': [";
    for (uint32_t mask = hold->piece.gpu_mask; mask != 0; mask &= mask - 1, mark = ", ")
        buffer_format(out, "%s%d", mark, __builtin_ctz(mask));
    if (hold->piece.gpu_mask != 0)
        buffer_char(out, ']');
    buffer_format(out, ", 'running_for_s': %g}", seconds(world->now - job->decided));
}

static void write_tasks(const struct honest_world *world, const struct honest_job *job, struct buffer *out)
{
    bool is_first = true;
    for (uint32_t g = 0; g < job->job.group_count; g++) {
        uint32_t left = job_group(&job->job, g)->count;
        for (uint32_t i = 0; i < job->hold_count; i++)
            if (job->holds[i].piece.group == g) {
                write_task(world, job, g, &job->holds[i], 1, is_first, out);
                is_first = false;
                left--;
            }
        if (left > 0)
            write_task(world, job, g, NULL, left, is_first, out);
        is_first &= left == 0;
    }
}

static void write_job(const struct honest_world *world, uint32_t j, struct buffer *out)
{
    const struct honest_job *job = &world->jobs[j];
    buffer_format(out, "{'name': 'j%u', 'queue': 'q%u', 'priority': %d, 'preemptible': %s, 'age_s': %.9g", j,
                  job->plan->job.queue, job->job.priority, job->job.is_preemptible ? "true" : "false",
                  seconds(world->now - job->job.submit));
    if (job->job.set_count == 0)
        buffer_format(out, ", 'min_members': %u", job->job.first.min_count);
    if (job->job.checkpoint.duration > 0)
        buffer_format(out, ", 'checkpoint_s': %g", seconds(job->job.checkpoint.duration));
    if (job->job.min_sets > 0)
        buffer_format(out, ", 'min_subgroups': %u", job->job.min_sets);
    for (uint32_t s = 0; s < job->job.set_count; s++)
        buffer_format(out, "%s{'name': '%s', 'min_members': %u}%s", s == 0 ? ", 'subgroups': [" : ", ",
                      job->job.sets[s].name, job->job.sets[s].min_members, s + 1u == job->job.set_count ? "]" : "");
    buffer_string(out, ", 'tasks': [");
    write_tasks(world, job, out);
    buffer_string(out, "]}");
}

void honest_world_case(const struct honest_world *world, const char *name, uint32_t rounds, const char *expect,
                       struct buffer *out)
{
    const size_t start = out->length;
    const char *mark = " 'jobs':   [";
    buffer_format(out, "{'name': '%s',\n", name);
    write_policy(world, out);
    write_nodes(world, out);
    write_queues(world, out);
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        if (world->jobs[j].state != JOB_THERE)
            continue;
        buffer_string(out, mark);
        write_job(world, j, out);
        mark = ",\n            ";
    }
    buffer_format(out,
                  "],\n"
                  " 'rounds': %u, 'round_s': %g,\n"
                  " 'expect': {%s}}\n",
                  rounds, seconds(world->scenario->period), expect);
    buffer_c_string(out);
    json_text_requote(out->bytes + start);
}

void honest_world_log_decision(struct honest_world *world, const struct decision *decision)
{
    static const char *const verbs[] = {
        [DECISION_START] = "start",     [DECISION_EVICT] = "evict",   [DECISION_RESERVE] = "reserve",
        [DECISION_RELEASE] = "release", [DECISION_REJECT] = "reject", [DECISION_NOTIFY] = "notify"};
    if (world->log == NULL)
        return;
    buffer_format(world->log, "tick %u: %s j%u", world->tick, verbs[decision->kind], world->job_of[decision->job]);
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        const struct piece *piece = &decision->pieces[i];
        buffer_format(world->log, "%s %u x s%u on n%u", i > 0 ? "," : ":", piece->member_count, piece->group,
                      piece->node);
        for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1)
            buffer_format(world->log, " %d", __builtin_ctz(mask));
    }
    if (decision->for_job != JOB_NONE)
        buffer_format(world->log, " for j%u", world->job_of[decision->for_job]);
    if (decision->reason != REASON_NONE)
        buffer_format(world->log, " (%s)", reason_name(decision->reason));
    buffer_char(world->log, '\n');
}
