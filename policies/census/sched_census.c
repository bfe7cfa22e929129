/* The census with the waiting jobs of a scheduler; see policies/census/census.h. */
#include "policies/census/census.h"
#include "policies/jobs/member_kinds.h"
#include "policies/state/sched_state.h"

/* The kinds of members that jobs wait for, each once. */
static void list_waiting(const struct sched *sched, struct member_kinds *kinds, struct typical_jobs *waiting)
{
    const struct pending *pending = &sched->pending;
    for (uint32_t i = 0; i < pending->busy_count; i++) {
        const struct request_class *request_class =
            &sched->request_classes.at[pending->class_queues[pending->busy[i]].request_class];
        for (uint32_t g = 0; g < request_class->group_count; g++)
            if (request_class->groups[g].count > 0)
                member_kinds_find(kinds, &request_class->groups[g].request, 0, 1);
    }
    MEM_GROW(waiting->jobs, waiting->capacity, kinds->count);
    for (uint32_t k = 0; k < kinds->count; k++)
        waiting->jobs[waiting->count++] = (struct typical_job){.request = kinds->kinds[k].request};
}

void sched_census(const struct sched *sched, struct census_memo *memo, const struct typical_jobs *typical,
                  struct census *census)
{
    struct member_kinds kinds = {0};
    struct typical_jobs waiting = {0};
    list_waiting(sched, &kinds, &waiting);
    census_take(memo, sched->ledger, typical, &waiting, census);
    mem_free(waiting.jobs);
    member_kinds_release(&kinds);
}
