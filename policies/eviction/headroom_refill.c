/* Refills the headroom by evictions where they cost least. */
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/node_search.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/victims.h"
#include "policies/state/headroom.h"

enum { HEADROOM_BACKOFF = 16 };

/* Will the headroom lack a whole node, or GPUs, when all leaving space is free?  *request: what it lacks, a node or one
 * GPU. */
static bool is_short(const struct sched *sched, struct request *request)
{
    const struct headroom *headroom = &sched->headroom;
    const struct free_space now = headroom_free(sched);
    int64_t free = now.gpu_milli + sched->ledger->coming_milli;
    bool lacks_node = now.whole_nodes < headroom->whole_nodes;
    *request = (struct request){.gpus = lacks_node ? headroom->node_gpus : 1};
    return lacks_node || free < headroom->gpu_milli;
}

bool headroom_refill(struct sched *sched)
{
    const struct plan_request plan = {.preemptor = SLOT_NONE, .kind = PLAN_HEADROOM, .loss_bound = INT64_MAX};
    struct request request;
    if (sched->changes < sched->eviction->headroom_retry || !is_short(sched, &request))
        return false;
    size_t mark = ledger_mark(sched->ledger);
    plan_begin(sched->plan);
    sched->plan->result.eligible_at = sched->plan->result.eligible_last_at = sched->plan->result.affordable_at =
        TIME_NEVER;
    victims_collect(sched, &plan);
    ledger_foresee(sched->ledger);
    bool is_found = sched->plan->unit_count > 0 && node_search_take(sched, &plan, &request);
    node_search_end(sched);
    ledger_rollback(sched->ledger, mark);
    if (is_found)
        plan_book(sched, JOB_NONE, PLAN_HEADROOM);
    else
        sched->eviction->headroom_retry = sched->changes + HEADROOM_BACKOFF;
    return is_found;
}
