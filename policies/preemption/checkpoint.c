/* checkpoint.  Victims get a grace to save their work, then go; borrowers first, then the lowest priority,
 * then the smallest, then who ran least.
 * Idea: evict where least is owed and least is lost.  Works when jobs can save within the grace; jobs that
 * cannot lose what they did since their last own checkpoint.  Cost: a sort of the possible victims per plan. */
#include "policies/preemption/preemption.h"

static int compare(const struct victim *a, const struct victim *b)
{
    if (a->is_borrower != b->is_borrower)
        return a->is_borrower ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->gpu_milli != b->gpu_milli)
        return a->gpu_milli < b->gpu_milli ? -1 : 1;
    if (a->running != b->running)
        return a->running < b->running ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

const struct preemption_policy preemption_checkpoint = {
    .name = "checkpoint",
    .version = 1,
    .summary = "borrowers first, then low priority, small, young; a grace to save; minimal victims",
    .compare = compare,
};
