/* Who may start before those in front of him: policies/backfill/ in the cycle.
 *
 * After the line has come to a stop the waiting jobs are gone through in the order of the chain.  The first that do not
 * fit get a forecast, as many as the policy reserves; the others start if they fit now beside all forecasts.  As soon as
 * one of the first can be given none, nobody overtakes.
 * Cost: O(waiting jobs * log) to put them in order, a placement for each that could fit. */
#include <stdlib.h>

#include "policies/sched_state.h"

static int compare_waiting(const void *a, const void *b, void *pending)
{
    return pending_compare(pending, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* In the order of the chain: whoever might start, and of those whose shape does not fit as many as could be given a
 * forecast, which are at the head of their lanes when only one is. */
static uint32_t list_waiting(struct sched *sched)
{
    struct overtake_scratch *scratch = &sched->overtake;
    const struct pending *pending = &sched->pending;
    const bool heads_do = sched->policy.backfill_config.reservations == 1;
    uint32_t count = 0;
    MEM_GROW(scratch->waiting, scratch->waiting_capacity, (size_t)pending->job_count + 1);
    for (uint32_t b = 0; b < pending->busy_count; b++) {
        const uint32_t id = pending->busy[b];
        const struct lane *lane = &pending->lanes[id];
        uint32_t jobs = heads_do && pending_is_closed(pending, id) ? 1 : lane->count;
        for (uint32_t i = 0; i < jobs; i++)
            scratch->waiting[count++] = lane->heap[i].slot;
    }
    qsort_r(scratch->waiting, count, sizeof *scratch->waiting, compare_waiting, &sched->pending);
    return count;
}

/* One that asked the same, for no longer, did not fit in this pass: since then space has only gone. */
static bool is_refused(const struct sched *sched, uint32_t slot)
{
    uint32_t ask = sched->jobs.jobs[slot].ask;
    return ask < sched->overtake.refused_count &&
           sched->overtake.refused_from[ask] <= (uint64_t)forecast_length(sched, slot);
}

static void note_refused(struct sched *sched, uint32_t slot)
{
    struct overtake_scratch *scratch = &sched->overtake;
    uint32_t ask = sched->jobs.jobs[slot].ask;
    MEM_GROW(scratch->refused_from, scratch->refused_capacity, (size_t)ask + 1);
    while (scratch->refused_count <= ask)
        scratch->refused_from[scratch->refused_count++] = UINT64_MAX;
    uint64_t length = (uint64_t)forecast_length(sched, slot);
    if (length < scratch->refused_from[ask])
        scratch->refused_from[ask] = length;
}

/* Is all free space there that the job needs, and is it for him? */
static bool fits_beside_forecasts(struct sched *sched, uint32_t slot)
{
    const struct shape *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    if (ask->closed != 0 || is_refused(sched, slot))
        return false;
    if (forecast_fits_now(sched, slot, &sched->pieces))
        return true;
    note_refused(sched, slot);
    if (!forecast_is_all(sched, slot))
        shape_close(&sched->shapes, sched->jobs.jobs[slot].ask, SHAPE_BLOCKED);
    return false;
}

static bool is_forbidden(struct sched *sched, uint32_t slot)
{
    const struct quota_policy *quota = sched->policy.quota;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return quota->forbids != NULL &&
           quota->forbids(&sched->tree, job->queue, sched->shapes.shapes[job->ask].charge) !=
               QUEUE_NONE;
}

void overtake(struct sched *sched)
{
    const struct pending *pending = &sched->pending;
    if (!sched->policy.backfill->overtakes || pending->job_count == 0 ||
        !pending_may_go(pending, pending->lines[QUEUE_ROOT].asked))
        return; /* nothing that fits is asked */
    forecast_begin(sched);
    if (sched->forecasts.end_count == 0)
        return; /* nobody knows when anything comes */
    uint32_t count = list_waiting(sched);
    sched->overtake.refused_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = sched->overtake.waiting[i];
        if (is_forbidden(sched, slot))
            continue;
        if (fits_beside_forecasts(sched, slot)) {
            sched_start(sched, slot, SOURCE_FREE);
            forecast_started(sched, slot);
            continue;
        }
        if (sched->forecasts.count < sched->policy.backfill_config.reservations &&
            !forecast_find(sched, slot))
            return;
    }
}

void overtake_release(struct sched *sched)
{
    mem_free(sched->overtake.waiting);
    mem_free(sched->overtake.refused_from);
}
