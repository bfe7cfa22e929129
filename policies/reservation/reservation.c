/* When passes are due; what the room hears of events: an observer for all policies, and one where jobs overtake in one
 * line. */
#include "policies/reservation/reservation.h"
#include "policies/reservation/planned_start.h"

/* ---- Passes ---- */

/* Where queues compete a pass helps only request classes that are closed. */
static bool has_news(const struct sched *sched)
{
    return sched->planned_starts->passed_change != sched->changes &&
           (!sched->reserves || sched->request_classes.closed_count > 0);
}

static time_ns next_pass(const struct sched *sched)
{
    const time_ns passed_at = sched->planned_starts->passed_at;
    return passed_at < 0 ? sched->now : time_after(passed_at, sched->policy.backfill_config.interval);
}

bool reservation_is_due(const struct sched *sched)
{
    return sched->pending.job_count > 0 && (sched->policy.backfill_config.keeps || has_news(sched)) &&
           (!sched->reserves || sched->planned_starts->cycle != sched->cycle) && next_pass(sched) <= sched->now;
}

time_ns reservation_wake(const struct sched *sched)
{
    const struct planned_start_book *book = sched->planned_starts;
    const struct backfill_config *config = &sched->policy.backfill_config;
    time_ns wake = (config->interval > 0 || sched->reserves) && has_news(sched) ? next_pass(sched) : TIME_NEVER;
    for (uint32_t f = 0; f < book->count && config->keeps; f++)
        if (book->of[f].job != JOB_NONE && book->of[f].start > sched->now && book->of[f].start < wake)
            wake = book->of[f].start;
    /* a job that outlives its planned end moves planned starts, which may leave a hole where they were */
    if (config->keeps && book->end_count > 0 && book->ends[0].end < wake)
        wake = book->ends[0].end;
    return wake;
}

/* ---- Observers ---- */

static void *reservation_init(struct sched *sched)
{
    const struct policy_config *policy = &sched->policy;
    struct planned_start_book *book = mem_zalloc(1, sizeof *book);
    sched->planned_starts = book;
    sched->overtakes = policy->backfill_config.overtakes && policy_has_one_line(policy);
    sched->reserves = policy->backfill_config.overtakes && !sched->overtakes;
    if (sched->overtakes)
        pending_keep_sorted(&sched->pending);
    book->passed_at = book->outlived_at = -1;
    book->skipped = book->head = UINT32_MAX;
    return book;
}

static void reservation_release(struct sched *sched, void *own)
{
    (void)sched;
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
                                               .settled = planned_start_settled,
                                               .unwaits = planned_start_unwaits};
