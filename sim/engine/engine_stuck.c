/* The end of a run in which jobs wait while nothing runs or comes; see struct run_facts.
 *
 * Law: if a run ends so, its facts say how many jobs wait, for which reasons, which are the first, and what would help
 * one of them.  tests/cli/stuck.sh checks it.  Once, two half-placed gangs that held what the other needed, and a
 * policy without quotas that started nothing, ended without a word. */
#include <stdio.h>
#include <string.h>

#include "policies/explain.h"
#include "sim/engine/engine_loop.h"
#include "sim/engine/engine_state.h"

enum { NAMED_MAX = 3 };
#define LONG_WAIT (3600 * TIME_NS_PER_S) /* where the end of the run cuts it off */

/* Will nothing happen any more, even after the end of the run? */
static bool is_drained(const struct engine *engine)
{
    return engine->cycle_due == TIME_NEVER && !engine->next.is_there && engine->events.count == 0 &&
           (engine->loop == NULL || engine_loop_is_over(engine)) && engine_parts_next(engine) == TIME_NEVER;
}

/* Do all jobs that are left wait?  *oldest: since when the first of them does; TIME_NEVER: none is left. */
static bool do_all_wait(const struct engine *engine, time_ns *oldest)
{
    *oldest = TIME_NEVER;
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        const struct sim_job *job = &engine->jobs[slot];
        if (job->state == LIFE_NONE)
            continue;
        if (job->state != LIFE_PENDING && job->state != LIFE_HOLDING)
            return false;
        if (job->waiting_since < *oldest)
            *oldest = job->waiting_since;
    }
    return *oldest != TIME_NEVER;
}

static void put_name(struct buffer *out, const struct sim_job *job)
{
    if (job->row.name != NULL)
        buffer_shown(out, text_of(job->row.name));
    else
        buffer_int(out, job->trace_id);
}

/* The jobs by reason, and the first of the most frequent one; JOB_NONE: no job waits. */
static job_id count_reasons(const struct engine *engine, uint64_t count[REASON_COUNT])
{
    job_id first[REASON_COUNT], best = JOB_NONE;
    uint64_t most = 0;
    for (int r = 0; r < REASON_COUNT; r++)
        first[r] = JOB_NONE;
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        const struct sim_job *job = &engine->jobs[slot];
        if (job->state == LIFE_NONE)
            continue;
        const enum reason why = port_why(&engine->port, job->row.id);
        count[why]++;
        if (first[why] == JOB_NONE || job->row.id < first[why])
            first[why] = job->row.id;
    }
    for (int r = 0; r < REASON_COUNT; r++)
        if (count[r] > most) {
            most = count[r];
            best = first[r];
        }
    return best;
}

static void put_reasons(struct buffer *out, const uint64_t count[REASON_COUNT])
{
    const char *before = "";
    for (int r = 0; r < REASON_COUNT; r++) {
        if (count[r] == 0)
            continue;
        buffer_format(out, "%s%llu %s", before, (unsigned long long)count[r], reason_name((enum reason)r));
        before = ", ";
    }
}

/* The first jobs by id. */
static void put_first(struct buffer *out, const struct engine *engine, uint64_t all)
{
    uint64_t named = 0;
    for (job_id id = 0; id < engine_id_count(engine) && named < NAMED_MAX; id++) {
        const uint32_t slot = engine->slots.slot_of[id];
        if (slot == ENGINE_SLOT_NONE || engine->jobs[slot].state == LIFE_NONE)
            continue;
        buffer_string(out, named > 0 ? ", " : "");
        put_name(out, &engine->jobs[slot]);
        named++;
    }
    if (all > named)
        buffer_format(out, " and %llu more", (unsigned long long)(all - named));
}

static uint64_t holding_milli(const struct engine *engine, uint64_t *jobs)
{
    int64_t milli = 0;
    *jobs = 0;
    for (uint32_t slot = 0; slot < engine->job_used; slot++)
        if (engine->jobs[slot].state == LIFE_HOLDING) {
            milli += engine->jobs[slot].held_milli;
            (*jobs)++;
        }
    return (uint64_t)milli;
}

static void put_help(struct buffer *out, const struct engine *engine, job_id job)
{
    struct explanation why;
    uint64_t jobs;
    const uint64_t milli = holding_milli(engine, &jobs);
    if (jobs > 0)
        buffer_format(out,
                      "; %llu of them hold %g GPUs for a part of their members, which gang policy 'all_or_nothing' or "
                      "gang.stale_after_s would give back",
                      (unsigned long long)jobs, (double)milli / GPU_MILLI);
    if (engine->port.sched == NULL || !sched_explain(engine->port.sched, job, &why) || why.text[0] == '\0')
        return;
    buffer_string(out, ". Job ");
    put_name(out, &engine->jobs[engine->slots.slot_of[job]]);
    buffer_format(out, ": %s", why.text);
}

void engine_find_stuck(struct engine *engine)
{
    struct run_facts *facts = &engine->result->facts;
    uint64_t count[REASON_COUNT] = {0}, all = 0;
    struct buffer text = {0};
    time_ns oldest;
    if (!do_all_wait(engine, &oldest) || (!is_drained(engine) && engine->now - oldest < LONG_WAIT))
        return;
    const job_id first = count_reasons(engine, count);
    for (int r = 0; r < REASON_COUNT; r++)
        all += count[r];
    buffer_format(&text,
                  "%llu job%s at the end, and nothing runs or comes that could let %s start: ", (unsigned long long)all,
                  all == 1 ? " waits" : "s wait", all == 1 ? "it" : "them");
    put_first(&text, engine, all);
    buffer_string(&text, " (");
    put_reasons(&text, count);
    buffer_char(&text, ')');
    put_help(&text, engine, first);
    facts->stuck_jobs = all;
    snprintf(facts->stuck, sizeof facts->stuck, "%s", buffer_c_string(&text));
    buffer_release(&text);
}
