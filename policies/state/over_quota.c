/* Whose queue deserves what it asks, and which lanes stand no chance at what is kept for those.
 *
 * A lane is found to be a borrower's when its head comes, or when its turn does and only space for owners is left; it is
 * listed with the queue that is beyond what it deserves, and looked at again when less is charged there, and enough less
 * for the one that asks least.  Another head is asked anew.
 * Cost: O(depth) a look. */
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"

enum { BORROWERS_MIN = 32 }; /* too few to be worth clearing out */

/* The lowest queue from this one up that would be beyond what it deserves with so much more; QUEUE_NONE. */
static queue_id overdrawn(const struct sched *sched, queue_id queue, const int64_t *ask)
{
    for (queue_id q = queue; q != QUEUE_ROOT; q = sched->tree.queues[q].parent) {
        const struct queue_spec *spec = queue_tree_spec(&sched->tree, q);
        for (int r = 0; r < RESOURCE_COUNT; r++)
            if (ask[r] > 0 && spec->deserved[r] != QUOTA_UNLIMITED &&
                queue_tree_charged(&sched->tree, q, (enum resource)r) + ask[r] > spec->deserved[r])
                return q;
    }
    return QUEUE_NONE;
}

/* The same of the head of the lane; where lines are queues, without a look at the job. */
static queue_id overdrawn_by(const struct sched *sched, const struct lane *lane)
{
    queue_id queue =
        sched->policy.quota->is_flat ? sched->jobs.jobs[lane->heap[0].slot].queue : lane->line;
    return overdrawn(sched, queue, sched->shapes.shapes[lane->shape].charge);
}

static void note_borrower(struct sched *sched, uint32_t lane, queue_id owed_by)
{
    struct line *line = &sched->pending.lines[owed_by];
    int64_t milli = sched->shapes.shapes[sched->pending.lanes[lane].shape].charge[QUEUE_SUM_GPU];
    if (line->borrower_count == 0 || milli < line->borrower_least_milli)
        line->borrower_least_milli = milli;
    MEM_GROW(line->borrowers, line->borrower_capacity, (size_t)line->borrower_count + 1);
    line->borrowers[line->borrower_count++] = lane;
    pending_set_borrower(&sched->pending, lane, true);
    sched->pending.lanes[lane].owed_by = owed_by;
}

bool borrowers_find(struct sched *sched, uint32_t lane_id)
{
    struct lane *lane = &sched->pending.lanes[lane_id];
    queue_id owed_by = overdrawn_by(sched, lane);
    if (owed_by == QUEUE_NONE)
        return false;
    note_borrower(sched, lane_id, owed_by);
    queue_tree_touch(&sched->tree, lane->line);
    return true;
}

/* What the queue deserves beyond what it is charged does not do for any of its borrowers. */
static bool all_stay(const struct sched *sched, queue_id queue)
{
    const struct line *line = &sched->pending.lines[queue];
    int64_t deserved = queue_tree_spec(&sched->tree, queue)->deserved[RESOURCE_GPU];
    return deserved != QUOTA_UNLIMITED && line->borrower_least_milli > 0 &&
           queue_tree_charged(&sched->tree, queue, RESOURCE_GPU) + line->borrower_least_milli >
               deserved;
}

/* Less is charged to a queue: heads that it made borrowers may be none now. */
void borrowers_review(struct sched *sched, queue_id queue)
{
    struct line *line = &sched->pending.lines[queue];
    uint32_t count = line->borrower_count;
    if (count == 0 || (count <= line->borrower_bound && all_stay(sched, queue)))
        return;
    line->borrower_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = line->borrowers[i];
        struct lane *lane = &sched->pending.lanes[id];
        if (!lane->is_borrower || lane->owed_by != queue)
            continue; /* it has another head since */
        queue_id owed_by = overdrawn_by(sched, lane);
        if (owed_by != QUEUE_NONE) {
            note_borrower(sched, id, owed_by);
        } else {
            pending_set_borrower(&sched->pending, id, false);
            queue_tree_touch(&sched->tree, lane->line);
        }
    }
    line->borrower_bound = 2 * line->borrower_count + BORROWERS_MIN;
}

bool sched_is_entitled(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return overdrawn(sched, job->queue, sched->shapes.shapes[job->ask].charge) == QUEUE_NONE;
}
