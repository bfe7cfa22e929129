/* A trial without reservations; see policies/state/lend.h. */
#include "policies/state/lend.h"
#include "policies/state/request_classes.h"

size_t lend_reservations(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        ledger_lend_node(sched->ledger, sched->kept_nodes.nodes[i], true);
    const size_t mark = ledger_mark(sched->ledger);
    for (uint32_t c = 0; c < sched->claims.count; c++) {
        const uint32_t slot = sched->claims.slots[c];
        const struct sched_job *job = &sched->jobs.jobs[slot];
        int64_t amounts[QUEUE_SUM_COUNT] = {0};
        for (uint32_t i = 0; i < job->holding_count; i++)
            if (sched_job_holding(job, i)->phase == HOLDING_CLAIMED) {
                sched_move(sched, slot, i, ledger_unclaim);
                sched_add_charge(sched, slot, &sched_job_holding(job, i)->piece, -1, amounts);
            }
        ledger_charge(sched->ledger, job->queue, amounts);
    }
    return mark;
}

void lend_end(struct sched *sched, size_t mark)
{
    ledger_rollback(sched->ledger, mark);
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        ledger_lend_node(sched->ledger, sched->kept_nodes.nodes[i], false);
}

bool lend_would_fit(struct sched *sched, const struct request_class *request_class)
{
    if (!lend_is_any(sched) || sched->ledger->mark_depth > 0)
        return false;
    struct piece_list pieces = {0};
    const size_t mark = lend_reservations(sched);
    const struct placement_request asked = {.policy = sched->policy.placement,
                                            .request_class = request_class,
                                            .owner = OWNER_NONE - 1,
                                            .stop = sched->stop};
    const bool fits =
        placement_may_fit(sched->ledger, request_class) && placement_place(sched->ledger, &asked, &pieces);
    lend_end(sched, mark);
    piece_list_release(&pieces);
    return fits;
}
