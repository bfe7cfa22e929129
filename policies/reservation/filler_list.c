/* The list of fillers. */
#include "policies/eviction/eviction.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"

bool fillers_lists(const struct sched *sched, uint32_t slot)
{
    const struct filler_book *fillers = &sched->planned_starts->fillers;
    return slot < fillers->listed_capacity && fillers->is_listed[slot];
}

bool fillers_has(const struct sched *sched, uint32_t slot)
{
    return fillers_lists(sched, slot) && sched->jobs.jobs[slot].state != SJOB_EVICTING;
}

bool fillers_gives_way(struct sched *sched, uint32_t filler, uint32_t waiting)
{
    return sched->jobs.facts[waiting].waiting_since <= sched->jobs.jobs[filler].decided &&
           eviction_is_ever(sched, waiting, filler);
}

void fillers_add(struct sched *sched, uint32_t slot)
{
    struct filler_book *fillers = &sched->planned_starts->fillers;
    MEM_GROW(fillers->is_listed, fillers->listed_capacity, sched->jobs.used);
    MEM_GROW(fillers->of, fillers->capacity, (size_t)fillers->count + 1);
    fillers->is_listed[slot] = 1;
    fillers->of[fillers->count++] = (struct filler){.slot = slot};
}

static void drop(struct filler_book *fillers, uint32_t slot)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fillers->count; i++)
        if (fillers->of[i].slot != slot)
            fillers->of[kept++] = fillers->of[i];
    fillers->count = kept;
    fillers->is_listed[slot] = 0;
}

/* ---- Events ---- */

static void *fillers_init(struct sched *sched)
{
    return sched->policy.backfill_config.fills_gaps ? &sched->planned_starts->fillers : NULL;
}

static void on_settled(struct sched *sched, void *own, uint32_t slot)
{
    if (sched->jobs.jobs[slot].holding_count == 0 && fillers_lists(sched, slot))
        drop(own, slot);
}

static void on_forgotten(struct sched *sched, void *own, uint32_t slot)
{
    if (fillers_lists(sched, slot))
        drop(own, slot);
}

static const char *fillers_check(const struct sched *sched, const void *own)
{
    const struct filler_book *fillers = own;
    for (uint32_t i = 0; i < fillers->count; i++) {
        const struct sched_job *job = &sched->jobs.jobs[fillers->of[i].slot];
        if (!fillers->is_listed[fillers->of[i].slot] || job->holding_count == 0)
            return "a job is listed as a filler and holds nothing";
        if (!sched->request_classes.at[job->request_class].is_preemptible)
            return "a filler may not be evicted";
    }
    return NULL;
}

const struct observer fillers_observer = {
    .init = fillers_init, .check = fillers_check, .settled = on_settled, .forgotten = on_forgotten};
