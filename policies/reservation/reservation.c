/* What the room hears of events: an observer for all policies, one where jobs overtake in one line, and one where
 * planned starts stay. */
#include "policies/reservation/reservation.h"
#include "policies/reservation/planned_start.h"

static void *reservation_init(struct sched *sched)
{
    const struct policy_config *policy = &sched->policy;
    struct planned_start_book *book = mem_zalloc(1, sizeof *book);
    sched->planned_starts = book;
    sched->overtake = mem_zalloc(1, sizeof *sched->overtake);
    sched->overtakes = policy->backfill_config.overtakes && policy_has_one_line(policy);
    sched->reserves = policy->backfill_config.overtakes && !sched->overtakes;
    if (sched->overtakes)
        pending_keep_sorted(&sched->pending);
    book->passed_at = book->outlived_at = -1;
    book->lifted = book->head = UINT32_MAX;
    return book;
}

static void reservation_release(struct sched *sched, void *own)
{
    overtake_release(sched->overtake);
    planned_start_release(own);
}

static const char *reservation_check(const struct sched *sched, const void *own)
{
    const struct planned_start_book *book = own;
    (void)sched;
    return profile_check(&book->profile);
}

static void reservation_count(const struct sched *sched, const void *own, struct sched_counts *counts)
{
    const struct planned_start_book *book = own;
    (void)sched;
    counts->promised_starts = book->promised_starts;
    counts->late_starts = book->late_starts;
}

const struct observer reservation_observer = {
    .init = reservation_init, .release = reservation_release, .check = reservation_check, .count = reservation_count};

static void *running_ends_init(struct sched *sched)
{
    return sched->overtakes ? sched->planned_starts : NULL;
}

const struct observer running_ends_observer = {.init = running_ends_init,
                                               .check = planned_units_check,
                                               .node_changed = planned_start_node_changed,
                                               .start_decided = planned_start_note_start,
                                               .forgotten = planned_start_forgotten,
                                               .releases = planned_start_released,
                                               .settled = planned_start_settled};

static void *promised_starts_init(struct sched *sched)
{
    return sched->policy.backfill_config.keeps ? sched->planned_starts : NULL;
}

const struct observer promised_starts_observer = {.init = promised_starts_init, .unwaits = planned_start_unwaits};
