/* The part of the twin that saves work; see tests/support/work_twin.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/work_twin.h"

bool twin_stands_still(const struct twin_job *job)
{
    return job->is_frozen || job->saves.phase != TWIN_WORKS;
}

/* ---- Transfers ---- */

static uint32_t nodes_of(const struct twin_job *job)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < job->piece_count; p++) {
        uint32_t q = 0;
        while (job->pieces[q].node != job->pieces[p].node)
            q++;
        count += q == p;
    }
    return count;
}

/* Bytes per second of a node that transfers. */
static int64_t rate_of(const struct twin *twin)
{
    const struct checkpoint_table *table = &twin->run.world.checkpoints;
    int64_t rate = INT64_MAX, nodes = 0;
    for (uint32_t j = 0; j < twin->run.job_count; j++)
        nodes += twin->jobs[j].saves.nodes;
    if (nodes > 0)
        rate = (table->bytes_per_s > 0 ? table->bytes_per_s : INT64_MAX) / nodes;
    if (table->node_bytes_per_s > 0 && table->node_bytes_per_s < rate)
        rate = table->node_bytes_per_s;
    return rate > 0 ? rate : 1;
}

static void begin_transfer(struct twin *twin, struct twin_job *job)
{
    struct twin_saves *saves = &job->saves;
    saves->done = TIME_NEVER;
    if (saves->plan.bytes == 0) {
        saves->done = twin->now + saves->plan.write;
        return;
    }
    saves->nodes = nodes_of(job);
    saves->left = (twin_units)((saves->plan.bytes + saves->nodes - 1) / saves->nodes) * TIME_NS_PER_S;
}

static void end_transfer(struct twin_job *job)
{
    job->saves.nodes = 0;
    job->saves.done = TIME_NEVER;
}

void twin_moved(struct twin_job *job)
{
    struct twin_saves *saves = &job->saves;
    const uint32_t nodes = nodes_of(job);
    if (saves->nodes == 0 || !job->is_running || nodes == saves->nodes)
        return;
    const twin_units all = (saves->left > 0 ? saves->left : 0) * saves->nodes;
    saves->left = (all + nodes - 1) / nodes;
    saves->nodes = nodes;
}

void twin_transfer(struct twin *twin, time_ns span)
{
    const int64_t rate = rate_of(twin);
    bool is_any = false;
    for (uint32_t j = 0; j < twin->run.job_count; j++) {
        struct twin_saves *saves = &twin->jobs[j].saves;
        saves->left -= saves->nodes > 0 ? (twin_units)rate * span : 0;
        is_any |= saves->nodes > 0;
    }
    twin->shared += is_any && twin->run.world.checkpoints.node_bytes_per_s > rate;
}

/* ---- Steps ---- */

static bool is_under_way(const struct twin_saves *saves)
{
    return saves->phase != TWIN_WORKS || saves->is_writing;
}

static bool is_whole(const struct twin *twin, const struct twin_job *job)
{
    return is_under_way(&job->saves) && (job->saves.nodes > 0 ? job->saves.left <= 0 : job->saves.done <= twin->now);
}

static time_ns when(const struct twin *twin, const struct twin_job *job, twin_units work)
{
    const twin_units speed = twin_speed(twin, job);
    if (work <= job->work)
        return twin->now;
    if (speed == 0)
        return TIME_NEVER;
    const twin_units takes = (work - job->work + speed - 1) / speed;
    return takes < TIME_NEVER / 2 ? twin->now + job->restart_left + (time_ns)takes : TIME_NEVER;
}

/* When the next step of the job is, if nothing else happens. */
static time_ns step_of(const struct twin *twin, const struct twin_job *job, int64_t rate)
{
    const struct twin_saves *saves = &job->saves;
    if (!job->is_running)
        return TIME_NEVER;
    if (saves->nodes > 0)
        return twin->now + (time_ns)(saves->left > 0 ? (saves->left + rate - 1) / rate : 0);
    if (is_under_way(saves))
        return saves->done;
    if (saves->plan.interval == 0 || job->is_leaving)
        return TIME_NEVER;
    const time_ns due = when(twin, job, saves->next);
    return due < when(twin, job, twin_all_of(job)) ? due : TIME_NEVER;
}

time_ns twin_next_step(const struct twin *twin)
{
    time_ns next = TIME_NEVER;
    const int64_t rate = rate_of(twin);
    for (uint32_t j = 0; twin->is_charged && j < twin->run.job_count; j++) {
        const time_ns at = step_of(twin, &twin->jobs[j], rate);
        next = at < next ? at : next;
    }
    return next;
}

static void saved(struct twin_job *job, twin_units work)
{
    job->saved = work;
    job->saves.next = work + (twin_units)job->saves.plan.interval * job->members * job->one;
}

static void whole(struct twin *twin, struct twin_job *job)
{
    struct twin_saves *saves = &job->saves;
    const enum twin_phase phase = saves->phase;
    end_transfer(job);
    saves->phase = TWIN_WORKS;
    twin->writes += phase != TWIN_LOADS;
    twin->loads += phase == TWIN_LOADS;
    if (phase == TWIN_LOADS)
        job->restart_left = saves->plan.warmup;
    else
        saved(job, saves->is_writing ? saves->held : job->work);
    saves->is_writing = false;
}

static void begin_write(struct twin *twin, struct twin_job *job)
{
    struct twin_saves *saves = &job->saves;
    saves->is_writing = saves->plan.is_asynchronous;
    saves->held = job->work;
    if (!saves->is_writing)
        saves->phase = TWIN_WRITES;
    begin_transfer(twin, job);
}

/* Will a fact tell that members left when its last checkpoint is whole?  Not if their grace was over before. */
static bool waits_to_leave(const struct twin_job *job)
{
    bool waits = job->is_leaving;
    for (uint32_t i = 0; i < job->pending_count; i++)
        waits |= job->pending[i].is_eviction;
    return waits && job->saves.phase == TWIN_SAVES_TO_LEAVE;
}

void twin_make_steps(struct twin *twin)
{
    int64_t rate = rate_of(twin);
    for (uint32_t j = 0; twin->is_charged && j < twin->run.job_count; j++) {
        struct twin_job *job = &twin->jobs[j];
        while (step_of(twin, job, rate) <= twin->now) {
            if (waits_to_leave(job))
                break;
            if (is_under_way(&job->saves))
                whole(twin, job);
            else
                begin_write(twin, job);
            rate = rate_of(twin);
        }
    }
}

void twin_settle(struct twin *twin, struct twin_job *job)
{
    if (twin->is_charged && job->is_running && !job->is_leaving && job->saves.phase != TWIN_LOADS &&
        is_whole(twin, job))
        whole(twin, job);
}

twin_units twin_kept(const struct twin *twin, const struct twin_job *job)
{
    if (!job->is_running || job->saves.phase == TWIN_LOADS || !is_whole(twin, job))
        return job->is_running ? job->saved : job->work;
    return job->saves.is_writing ? job->saves.held : job->work;
}

/* ---- Begin and end ---- */

void twin_begin(struct twin *twin, struct twin_job *job, bool is_first)
{
    saved(job, job->saved);
    job->restart_left = is_first ? 0 : job->saves.plan.warmup;
    if (is_first || job->saves.plan.bytes == 0 || job->saved == 0)
        return;
    job->restart_left = 0;
    job->saves.phase = TWIN_LOADS;
    begin_transfer(twin, job);
}

void twin_stop(struct twin_job *job)
{
    end_transfer(job);
    job->saves.phase = TWIN_WORKS;
    job->saves.is_writing = false;
}

void twin_told_to_leave(struct twin *twin, struct twin_job *job, time_ns grace, time_ns end)
{
    struct twin_saves *saves = &job->saves;
    const struct checkpoint_plan plan = saving_declared(&saves->plan);
    if (!job->is_running || (plan.interval == 0 && plan.duration == 0) || grace == 0)
        return;
    if (saves->phase == TWIN_WRITES || saves->phase == TWIN_SAVES_TO_LEAVE) {
        saves->phase = TWIN_SAVES_TO_LEAVE;
        return;
    }
    if (job->work == job->saved || plan.duration > grace || end - twin->now <= plan.duration)
        return;
    end_transfer(job);
    saves->is_writing = false;
    saves->phase = TWIN_SAVES_TO_LEAVE;
    begin_transfer(twin, job);
}

void twin_check_lost(struct twin *twin, const struct job_row *row)
{
    int64_t sum = 0;
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++) {
        sum += row->lost->gpu_ns[cause];
        if (cause == LOST_WARMUP && sum != row->overhead_gpu_ns)
            random_run_fail(&twin->run, "the overheads by cause do not add up", row->id);
    }
    if (sum != row->lost_gpu_ns)
        random_run_fail(&twin->run, "what was lost by cause does not add up", row->id);
}
