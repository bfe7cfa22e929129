/* The data that plans need of each possible victim, in one compact record: a plan reads hundreds of jobs to find a few
 * that it may take.
 *
 * A record is read from the job again only after candidates_forget: when its holdings, their phases, its evictions or
 * its saved work changed.  The preemption cost, which changes with time alone, is computed from the record. Cost:
 * O(holdings) to read a record, then O(1) a query.  Memory: 64 bytes per job alive. */
#include <assert.h>

#include "policies/order/order.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"

static struct queue_candidates *of_queue(struct sched *sched, queue_id queue)
{
    if (queue >= sched->candidates.queue_capacity)
        MEM_GROW(sched->candidates.of_queue, sched->candidates.queue_capacity, (size_t)queue + 1);
    return &sched->candidates.of_queue[queue];
}

/* The job's holdings, their phases, its evictions or its saved work changed. */
static void candidates_forget(struct sched *sched, uint32_t slot)
{
    struct queue_candidates *candidates = of_queue(sched, sched->jobs.jobs[slot].queue);
    if (slot < sched->candidates.job_capacity)
        sched->candidates.of_job[slot].is_known = false;
    candidates->version++;
    sched->candidates.changes++;
    candidates->is_floor_known = false;
}

static void candidates_list(struct sched *sched, void *own, uint32_t slot, bool is_listed)
{
    (void)own;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct queue_candidates *candidates = of_queue(sched, job->queue);
    uint32_t t = 0;
    while (t < candidates->tally_count && candidates->tallies[t].priority != job->priority)
        t++;
    if (t == candidates->tally_count) {
        assert(is_listed);
        MEM_GROW(candidates->tallies, candidates->tally_capacity, (size_t)t + 1);
        candidates->tallies[candidates->tally_count++] = (struct priority_tally){job->priority, 0};
    }
    candidates->tallies[t].jobs += is_listed ? 1 : UINT32_MAX;
    if (candidates->tallies[t].jobs == 0)
        candidates->tallies[t] = candidates->tallies[--candidates->tally_count];
}

uint32_t candidates_count_lower(const struct sched *sched, queue_id queue, int32_t priority)
{
    uint32_t count = 0;
    if (queue >= sched->candidates.queue_capacity)
        return 0;
    const struct queue_candidates *candidates = &sched->candidates.of_queue[queue];
    for (uint32_t t = 0; t < candidates->tally_count; t++)
        count += candidates->tallies[t].priority < priority ? candidates->tallies[t].jobs : 0;
    return count;
}

uint32_t candidates_version(const struct sched *sched, queue_id queue)
{
    return queue < sched->candidates.queue_capacity ? sched->candidates.of_queue[queue].version : 0;
}

bool candidates_are_settled(const struct sched *sched, queue_id queue)
{
    const struct queue_candidates *candidates = &sched->candidates.of_queue[queue];
    return queue < sched->candidates.queue_capacity && candidates->settled_version == candidates->version;
}

void candidates_set_settled(struct sched *sched, queue_id queue)
{
    struct queue_candidates *candidates = of_queue(sched, queue);
    candidates->settled_version = candidates->version;
}

time_ns sched_grace(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    bool can_save = facts->checkpoint.interval > 0 || facts->checkpoint.duration > 0;
    time_ns bound = sched->policy.preempt.grace;
    if (!can_save || sched->policy.preemption->is_kill)
        return 0;
    return facts->grace > 0 && facts->grace < bound ? facts->grace : bound;
}

/* When its work was last saved, how it is saved next, and what an eviction costs by that. */
static void read_saving(const struct sched *sched, uint32_t slot, struct victim_candidate *candidate)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    const struct checkpoint_plan *plan = &facts->checkpoint;
    time_ns grace = sched_grace(sched, slot);
    bool saves = grace > 0 && plan->duration <= grace;
    candidate->lost_at_least = plan->restart + (saves ? plan->duration : 0);
    candidate->growth_milli = saves ? 0 : candidate->held_milli;
    candidate->unsaved_since = candidate->decided;
    candidate->save_interval = plan->interval > 0 ? plan->interval : 0;
    if (sched->policy.preempt.victims_of_this_cycle && sched->jobs.jobs[slot].state == SJOB_STARTING)
        candidate->lost_at_least = candidate->growth_milli = 0; /* a recalled START costs nothing */
    if (facts->saved_at != TIME_NEVER && facts->saved_at > candidate->decided) {
        candidate->unsaved_since = facts->saved_at;
        candidate->save_interval = 0;
    }
}

static bool is_plain(const struct victim_candidate *candidate)
{
    return !(candidate->is_non_preemptible || candidate->is_spent || candidate->is_claiming || candidate->is_starting ||
             candidate->is_leaving || candidate->has_surplus);
}

static void read_candidate(const struct sched *sched, uint32_t slot, struct victim_candidate *candidate)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    *candidate = (struct victim_candidate){.is_known = true,
                                           .is_non_preemptible = !request_class->is_preemptible,
                                           .is_spent = job->evictions >= sched->policy.preempt.evictions_per_job_max,
                                           .has_surplus = job->fill == FILL_ABOVE,
                                           .decided = job->decided,
                                           .decided_cycle = job->decided_cycle};
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        candidate->held_milli += piece_milli(&holding->piece);
        candidate->is_claiming |= holding->phase == HOLDING_CLAIMED;
        candidate->is_starting |= holding->phase == HOLDING_STARTING;
        candidate->is_leaving |= holding->phase == HOLDING_LEAVING;
    }
    candidate->is_plain = is_plain(candidate);
    read_saving(sched, slot, candidate);
}

struct victim_candidate *candidates_get(struct sched *sched, uint32_t slot)
{
    if (slot >= sched->candidates.job_capacity)
        MEM_GROW(sched->candidates.of_job, sched->candidates.job_capacity, (size_t)slot + 1);
    struct victim_candidate *candidate = &sched->candidates.of_job[slot];
    if (!candidate->is_known)
        read_candidate(sched, slot, candidate);
    return candidate;
}

time_ns candidates_unsaved(struct victim_candidate *candidate, time_ns now)
{
    time_ns span = now - candidate->unsaved_since;
    if (candidate->save_interval > 0 && span >= candidate->save_interval) {
        candidate->unsaved_since += span / candidate->save_interval * candidate->save_interval;
        span = now - candidate->unsaved_since;
    }
    return span;
}

struct preemption_cost candidates_cost(struct victim_candidate *candidate, time_ns now)
{
    struct preemption_cost preemption_cost = {.growth_milli = candidate->growth_milli, .saved_at = TIME_NEVER};
    const time_ns span = candidate->growth_milli > 0 ? candidates_unsaved(candidate, now) : 0;
    preemption_cost.least_gpu_ns = gpu_time(candidate->lost_at_least, candidate->held_milli);
    if (candidate->growth_milli > 0 && candidate->save_interval > 0)
        preemption_cost.saved_at = candidate->unsaved_since + candidate->save_interval;
    preemption_cost.loss_gpu_ns =
        span == 0 ? preemption_cost.least_gpu_ns : gpu_time(candidate->lost_at_least + span, candidate->held_milli);
    return preemption_cost;
}

/* The least that an eviction costs, now or later.  The cost of a job that checkpoints by itself falls at its next
 * checkpoint; an eviction of surplus members costs nothing. */
static int64_t least_loss(struct victim_candidate *candidate, time_ns now)
{
    if (candidate->has_surplus)
        return 0;
    const bool grows_for_good = candidate->growth_milli > 0 && candidate->save_interval == 0;
    return gpu_time(candidate->lost_at_least + (grows_for_good ? candidates_unsaved(candidate, now) : 0),
                    candidate->held_milli);
}

int64_t candidates_floor(struct sched *sched, queue_id queue)
{
    struct queue_candidates *candidates = of_queue(sched, queue);
    const struct slot_list *running = &sched->lists.running[queue];
    if (candidates->is_floor_known)
        return candidates->floor_gpu_ns;
    candidates->is_floor_known = true;
    candidates->floor_gpu_ns = INT64_MAX;
    for (uint32_t i = 0; i < running->count; i++) {
        struct victim_candidate *candidate = candidates_get(sched, running->slots[i]);
        int64_t least = candidate->is_spent ? INT64_MAX : least_loss(candidate, sched->now);
        if (least < candidates->floor_gpu_ns)
            candidates->floor_gpu_ns = least;
    }
    return candidates->floor_gpu_ns;
}

void candidates_refloor(struct sched *sched, queue_id queue)
{
    of_queue(sched, queue)->is_floor_known = false;
}

static bool is_same(const struct victim_candidate *a, const struct victim_candidate *b)
{
    time_ns apart = a->unsaved_since - b->unsaved_since;
    return a->is_non_preemptible == b->is_non_preemptible && a->is_spent == b->is_spent &&
           a->is_claiming == b->is_claiming && a->is_starting == b->is_starting && a->is_leaving == b->is_leaving &&
           a->has_surplus == b->has_surplus && a->is_plain == b->is_plain && a->decided == b->decided &&
           a->decided_cycle == b->decided_cycle && a->held_milli == b->held_milli &&
           a->growth_milli == b->growth_milli && a->lost_at_least == b->lost_at_least &&
           a->save_interval == b->save_interval && (a->save_interval > 0 ? apart % a->save_interval == 0 : apart == 0);
}

/* Do the tallies hold each priority of the queue's possible victims with the right count? */
static bool is_tallied(const struct sched *sched, queue_id queue)
{
    const struct slot_list *listed = &sched->lists.running[queue];
    const struct queue_candidates *candidates = &sched->candidates.of_queue[queue];
    uint32_t jobs = 0;
    for (uint32_t t = 0; t < candidates->tally_count; t++) {
        uint32_t counted = 0;
        for (uint32_t i = 0; i < listed->count; i++)
            counted += sched->jobs.jobs[listed->slots[i]].priority == candidates->tallies[t].priority;
        if (counted != candidates->tallies[t].jobs || counted == 0)
            return false;
        jobs += counted;
    }
    return jobs == listed->count;
}

/* Is a queue that is noted as settled free of jobs that are starting? */
static bool is_settled(const struct sched *sched, queue_id queue)
{
    const struct slot_list *listed = &sched->lists.running[queue];
    for (uint32_t i = 0; i < listed->count; i++) {
        struct victim_candidate candidate;
        read_candidate(sched, listed->slots[i], &candidate);
        if (candidate.is_starting)
            return !candidates_are_settled(sched, queue);
    }
    return true;
}

static const char *candidates_check(const struct sched *sched, const void *own)
{
    (void)own;
    for (queue_id q = 0; q < sched->tree.count && q < sched->candidates.queue_capacity; q++)
        if (!is_tallied(sched, q))
            return "the priorities of possible victims are miscounted";
    for (queue_id q = 0; q < sched->tree.count && q < sched->candidates.queue_capacity; q++)
        if (!is_settled(sched, q))
            return "a possible victim is starting, but its queue is noted as settled";
    for (uint32_t s = 0; s < sched->jobs.used; s++) {
        const struct sched_job *job = &sched->jobs.jobs[s];
        struct victim_candidate candidate;
        if (!job->is_listed || s >= sched->candidates.job_capacity || !sched->candidates.of_job[s].is_known)
            continue;
        read_candidate(sched, s, &candidate);
        if (!is_same(&candidate, &sched->candidates.of_job[s]))
            return "a possible victim is not as its card says";
    }
    return NULL;
}

/* ---- Events ---- */

static void *candidates_init(struct sched *sched)
{
    return sched->policy.preemption->evicts ? &sched->candidates : NULL;
}

static void candidates_release(struct sched *sched, void *own)
{
    (void)own;
    for (size_t q = 0; q < sched->candidates.queue_capacity; q++)
        mem_free(sched->candidates.of_queue[q].tallies);
    mem_free(sched->candidates.of_job);
    mem_free(sched->candidates.of_queue);
}

static void on_change(struct sched *sched, void *own, uint32_t slot)
{
    (void)own;
    candidates_forget(sched, slot);
}

static void on_started(struct sched *sched, void *own, uint32_t slot, time_ns at)
{
    (void)own, (void)at;
    candidates_forget(sched, slot);
}

const struct observer candidates_observer = {.init = candidates_init,
                                             .release = candidates_release,
                                             .check = candidates_check,
                                             .started = on_started,
                                             .saved = on_change,
                                             .listed = candidates_list,
                                             .settled = on_change};
