/* What a reclaim notes of its victims when it needs none: its preemptor would not fit if all of them left
 * (plan_home_suffices).
 *
 * Where no guard depends on time, only a job that is starting, or was started in this cycle, gives a note, and the note
 * does not depend on the preemptor.  So the notes are taken queue by queue, once for all preemptors of a cycle, and
 * again when a candidate has changed.  A queue whose candidates gave no note is settled until one of them changes.
 * Cost: O(queues + jobs of queues that are not settled) a cycle, then O(queues with notes) a preemptor.  12 hours of
 * h100-500x8.json under `hived` cost 14 % more instructions with a query of each queue for each preemptor. */
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"

static void note_eligible(struct victim_note *note, time_ns at)
{
    note->first = at < note->first ? at : note->first;
    note->last = note->last == TIME_NEVER || at > note->last ? at : note->last;
}

/* What a look at each job of the queue would note.  False: nothing, until a candidate changes. */
static bool take_note(struct sched *sched, queue_id queue, struct victim_note *note)
{
    const struct slot_list *running = &sched->lists.running[queue];
    bool is_settled = true;
    *note = (struct victim_note){.queue = queue, .first = TIME_NEVER, .last = TIME_NEVER};
    for (uint32_t i = 0; i < running->count; i++) {
        const struct victim_candidate *candidate = candidates_get(sched, running->slots[i]);
        const bool is_decided_now = candidate->decided_cycle == sched->cycle;
        is_settled = is_settled && !candidate->is_starting && !candidate->has_surplus && !is_decided_now;
        if (candidate->is_spent || candidate->is_non_preemptible)
            continue;
        if (is_decided_now)
            note_eligible(note, candidate->decided);
        else
            note->awaits_start |= candidate->is_starting && !candidate->is_claiming;
    }
    if (is_settled)
        candidates_set_settled(sched, queue);
    return !is_settled;
}

static void take_notes(struct sched *sched, struct victim_notes *notes)
{
    notes->cycle = sched->cycle;
    notes->changes = sched->candidates.changes;
    notes->count = 0;
    for (queue_id q = 0; q < sched->tree.count; q++) {
        if (sched->lists.running[q].count == 0 || candidates_are_settled(sched, q))
            continue;
        MEM_GROW(notes->at, notes->capacity, (size_t)notes->count + 1);
        notes->count += take_note(sched, q, &notes->at[notes->count]);
    }
}

/* Do the notes depend on neither the preemptor nor the time? */
static bool are_common(const struct sched *sched, const struct plan_request *request)
{
    const struct preemption_config *config = &sched->policy.preempt;
    const bool are_timeless = request->kind == PLAN_CONSOLIDATE
                                  ? !sched->policy.defrag_config.spares_ending
                                  : sched->eviction->reclaim_runtime_max == 0 && config->loss_ratio_milli == 0 &&
                                        !config->victims_of_this_cycle && !sched->eviction->takes_both;
    return are_timeless && !victims_has_rival(sched, request->preemptor) && !sched->policy.quota->is_flat &&
           sched->jobs.jobs[request->preemptor].holding_count == 0; /* else it may be a candidate itself */
}

void victims_note(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    struct victim_notes *notes = &plan->notes;
    if (!are_common(sched, request)) {
        victims_collect(sched, request);
        return;
    }
    if (notes->cycle != sched->cycle || notes->changes != sched->candidates.changes)
        take_notes(sched, notes);
    for (uint32_t n = 0; n < notes->count; n++) {
        const struct victim_note *note = &notes->at[n];
        if (request->kind == PLAN_RECLAIM && !victims_may_reclaim_from(sched, request, note->queue))
            continue;
        plan->result.saw_starting |= note->awaits_start;
        if (note->first == TIME_NEVER)
            continue;
        plan_note_eligible(plan, note->first);
        plan_note_eligible(plan, note->last);
    }
}
