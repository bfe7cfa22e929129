/* Runs without progress: counts for sim/engine/stall.h, and the message about a run that stalls. */
#include "policies/backfill/backfill.h"
#include "policies/gang/gang.h"
#include "policies/geometry/geometry.h"
#include "policies/order/order.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"
#include "sim/engine/engine_state.h"

enum { WAITING_TOLD = 3 };

void engine_note_eviction(struct engine *engine, const struct decision *decision)
{
    engine->stalls.last[engine->stalls.evictions++ % EVICTIONS_TOLD] =
        (struct sim_eviction){.job = decision->job, .for_job = decision->for_job, .reason = (uint8_t)decision->reason};
}

static void tell_job(const struct engine *engine, job_id id, struct buffer *out)
{
    const uint32_t slot = engine->slots.slot_of[id];
    const bool is_there = slot < engine->job_used && engine->slots.id_of[slot] == id;
    if (is_there && engine->jobs[slot].row.name != NULL)
        buffer_format(out, "'%s'", engine->jobs[slot].row.name);
    else
        buffer_format(out, "%lld", is_there ? (long long)engine->jobs[slot].trace_id : (long long)id);
}

/* The last evictions, the newest first. */
static void tell_evictions(const struct engine *engine, struct buffer *out)
{
    const uint64_t count = engine->stalls.evictions;
    for (uint64_t i = 1; i <= EVICTIONS_TOLD && i <= count; i++) {
        const struct sim_eviction *last = &engine->stalls.last[(count - i) % EVICTIONS_TOLD];
        buffer_string(out, i == 1 ? "; evicted last: job " : ", job ");
        tell_job(engine, last->job, out);
        if (last->for_job != JOB_NONE) {
            buffer_string(out, " for job ");
            tell_job(engine, last->for_job, out);
        }
        if (last->reason != REASON_NONE)
            buffer_format(out, " (%s)", reason_name((enum reason)last->reason));
    }
}

/* The waiting jobs with the lowest ids. */
static void tell_waiting(const struct engine *engine, struct buffer *out)
{
    uint32_t told = 0;
    const job_id id_count = engine_id_count(engine);
    for (job_id id = 0; id < id_count && told < WAITING_TOLD; id++) {
        if (engine->slots.slot_of[id] == UINT32_MAX || !engine->jobs[engine->slots.slot_of[id]].is_waiting)
            continue;
        buffer_string(out, told++ == 0 ? ": job " : ", job ");
        tell_job(engine, id, out);
        const enum reason why = port_why(&engine->port, id);
        if (why != REASON_NONE)
            buffer_format(out, " (%s)", reason_name(why));
    }
    if (told < engine->levels[LEVEL_PENDING].value)
        buffer_string(out, told > 0 ? ", ..." : "");
}

static void tell_policy(const struct engine *engine, struct buffer *out)
{
    const struct policy_config *policy = engine->policy;
    if (engine->port.decider != NULL) {
        buffer_string(out, "the program that decides");
        return;
    }
    buffer_format(out, "the policy '%s' (order", policy->name);
    for (uint32_t r = 0; r < policy->order_count; r++)
        buffer_format(out, " %s", policy->order[r]->name);
    buffer_format(out, ", quota %s, gang %s, preemption %s, backfill %s, defrag %s, geometry %s)", policy->quota->name,
                  policy->gang->name, policy->preemption->name, policy->backfill->name,
                  policy->defrag_config.moves_per_plan != 0 ? "consolidation" : "none", policy->geometry->name);
}

static struct error stall_error(struct engine *engine)
{
    struct buffer jobs = {0}, policy = {0};
    tell_policy(engine, &policy);
    tell_waiting(engine, &jobs);
    tell_evictions(engine, &jobs);
    struct error error =
        error_new(ERROR_INTERNAL,
                  "the run makes no progress at %.9f s of simulated time under %s: %llu cycles since "
                  "%.9f s and %llu evictions while no job was submitted, started for the first time or "
                  "ended; %lld jobs run, %lld wait%s",
                  time_to_seconds(engine->now), buffer_c_string(&policy),
                  (unsigned long long)engine->stalls.steps.cycles, time_to_seconds(engine->stalls.steps.since),
                  (unsigned long long)engine->stalls.steps.evictions, (long long)engine->levels[LEVEL_RUNNING].value,
                  (long long)engine->levels[LEVEL_PENDING].value, buffer_c_string(&jobs));
    error_set_hint(&error, "world.stall_steps sets how many steps without progress end a run: "
                           "docs/scenario.md");
    buffer_release(&jobs);
    buffer_release(&policy);
    return error;
}

void engine_detect_stall(struct engine *engine)
{
    const uint64_t progress =
        engine->counts.submitted + engine->counts.first_starts + engine->counts.ended + engine->counts.rejected;
    const bool has_more = engine->next.is_there || engine->events.count > 0 || engine->config->world.end != TIME_NEVER;
    if (stall_cycle(&engine->stalls.steps, progress, engine->now, has_more) && !error_is(engine->result->stall))
        engine->result->stall = stall_error(engine);
}
