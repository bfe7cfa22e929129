/* Jobs that hold GPUs and leave them idle: told or evicted, as the policy says (policies/idle/idle.h).
 *
 * Laws
 *  - Measurements are no state changes: they retry no plan.  Only what this room decides counts as one.
 *  - A job loses members only if all that it has run, it may be preempted, and it was told before.
 *  - An evicted job rests: it waits for nothing (REASON_IDLE) until its rest is over.  So it cannot take its place back
 *    at once.
 *
 * Each event costs O(1), besides keeping two lists: the jobs to be told, and the jobs that rest. */
#include "policies/booking/booking.h"
#include "policies/booking/eligible.h"
#include "policies/idle/idle.h"
#include "policies/state/candidates.h"
#include "policies/state/request_classes.h"

struct hoarder {
    struct idle_spell spell;
    time_ns runs_since;  /* TIME_NEVER: it does not run */
    time_ns rests_until; /* TIME_NEVER: it does not rest */
    uint32_t strikes;    /* how often it lost space as idle */
    bool is_leaving;     /* its eviction as idle is decided */
    bool is_due;         /* it is in the list of those to be told or to lose space */
};

struct hoarder_book {
    struct hoarder *of; /* by slot */
    size_t capacity;
    uint32_t *due; /* slots, in the order in which they came */
    size_t due_capacity;
    uint32_t due_count;
    uint32_t *resting; /* likewise */
    size_t resting_capacity;
    uint32_t resting_count;
};

static void *hoarders_init(struct sched *sched)
{
    return sched->policy.idle->tells ? mem_zalloc(1, sizeof(struct hoarder_book)) : NULL;
}

static void hoarders_release(struct sched *sched, void *own)
{
    struct hoarder_book *book = own;
    (void)sched;
    mem_free(book->of);
    mem_free(book->due);
    mem_free(book->resting);
    mem_free(book);
}

/* Take the slot off a list; the others keep their order. */
static void drop(uint32_t *slots, uint32_t *count, uint32_t slot)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (slots[i] != slot)
            slots[kept++] = slots[i];
    *count = kept;
}

static void undue(struct hoarder_book *book, uint32_t slot)
{
    if (book->of[slot].is_due)
        drop(book->due, &book->due_count, slot);
    book->of[slot].is_due = false;
}

/* ---- Facts ---- */

static void on_enrolled(struct sched *sched, void *own, uint32_t slot, const struct job *job)
{
    struct hoarder_book *book = own;
    (void)sched, (void)job;
    MEM_GROW(book->of, book->capacity, (size_t)slot + 1);
    book->of[slot] = (struct hoarder){.spell = IDLE_SPELL_NEW, .runs_since = TIME_NEVER, .rests_until = TIME_NEVER};
}

static void on_started(struct sched *sched, void *own, uint32_t slot, time_ns at)
{
    const struct hoarder_book *book = own;
    struct hoarder *hoarder = &book->of[slot];
    (void)at;
    if (hoarder->runs_since != TIME_NEVER)
        return; /* it has grown */
    hoarder->runs_since = sched->now;
    hoarder->spell = IDLE_SPELL_NEW;
}

static void rest(struct sched *sched, struct hoarder_book *book, uint32_t slot)
{
    const time_ns span = idle_rest(&sched->policy.idle_config, book->of[slot].strikes);
    book->of[slot].rests_until = time_after(sched->now, span);
    MEM_GROW(book->resting, book->resting_capacity, (size_t)book->resting_count + 1);
    book->resting[book->resting_count++] = slot;
    eligible_rest(sched, slot);
}

static void on_left(struct sched *sched, void *own, uint32_t slot, bool is_saved)
{
    struct hoarder_book *book = own;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct hoarder *hoarder = &book->of[slot];
    (void)is_saved;
    if (job->is_booked)
        return;
    undue(book, slot);
    hoarder->runs_since = TIME_NEVER;
    if (job->state != SJOB_PENDING || !hoarder->is_leaving)
        return;
    hoarder->is_leaving = false;
    rest(sched, book, slot);
}

static void on_refused(struct sched *sched, void *own, uint32_t slot)
{
    const struct hoarder_book *book = own;
    (void)sched;
    book->of[slot].is_leaving = false;
}

static void on_forgotten(struct sched *sched, void *own, uint32_t slot)
{
    struct hoarder_book *book = own;
    (void)sched;
    undue(book, slot);
    if (book->of[slot].rests_until != TIME_NEVER)
        drop(book->resting, &book->resting_count, slot);
}

/* ---- Measurements ---- */

/* Can the policy take space from the job at all? */
static bool can_lose(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return sched_request_class(sched, job)->is_preemptible && sched_grace(sched, slot) > 0;
}

static enum idle_step step_of(const struct sched *sched, const struct hoarder *hoarder)
{
    return idle_step(sched->policy.idle, &sched->policy.idle_config, &hoarder->spell, hoarder->strikes);
}

static void on_observed(struct sched *sched, void *own, uint32_t slot, const struct observation *observation,
                        time_ns now)
{
    struct hoarder_book *book = own;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct hoarder *hoarder = &book->of[slot];
    const struct idle_config *config = &sched->policy.idle_config;
    const enum job_class class = (enum job_class)sched->request_classes.at[job->request_class].class;
    if (!idle_listens(sched->policy.idle, config, class) || observation->since < hoarder->runs_since)
        return;
    if (now != sched->now)
        sched_pass_time(sched, now);
    if (idle_note(config, &hoarder->spell, observation))
        undue(book, slot);
    const enum idle_step step = step_of(sched, hoarder);
    if (hoarder->is_due || step == IDLE_WAITS || (step == IDLE_ACTS && !can_lose(sched, slot)))
        return;
    hoarder->is_due = true;
    MEM_GROW(book->due, book->due_capacity, (size_t)book->due_count + 1);
    book->due[book->due_count++] = slot;
}

/* ---- The cycle ---- */

/* The jobs whose rest is over wait again. */
static void on_cycle(struct sched *sched, void *own)
{
    struct hoarder_book *book = own;
    for (uint32_t i = 0; i < book->resting_count;) {
        const uint32_t slot = book->resting[i];
        if (book->of[slot].rests_until > sched->now) {
            i++;
            continue;
        }
        book->of[slot].rests_until = TIME_NEVER;
        drop(book->resting, &book->resting_count, slot);
        sched_count_change(sched);
        eligible_rested(sched, slot);
    }
}

static void tell(struct sched *sched, struct hoarder *hoarder, uint32_t slot)
{
    struct decision *decision = sched_decide(sched, DECISION_NOTIFY, slot);
    const time_ns grace = idle_grace(sched->policy.idle, &sched->policy.idle_config, hoarder->strikes);
    decision->reason = REASON_IDLE;
    decision->grace = grace != TIME_NEVER && can_lose(sched, slot) ? grace : 0;
    hoarder->spell.told = hoarder->spell.idle;
}

static void take(struct sched *sched, struct hoarder *hoarder, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = sched_decide(sched, DECISION_EVICT, slot);
    const decision_id id = decision->id;
    decision->reason = REASON_IDLE;
    decision->grace = sched_grace(sched, slot);
    hoarder->strikes++;
    hoarder->is_leaving = true;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        sched_tell_piece(sched, &sched_job_holding(job, i)->piece);
        sched_let_leave(sched, slot, i, id);
    }
    sched_settle(sched, slot);
}

/* Starts and evictions under way come first. */
static bool is_steady(const struct sched_job *job)
{
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase != HOLDING_RUNNING)
            return false;
    return true;
}

static void act(struct sched *sched, void *own)
{
    struct hoarder_book *book = own;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < book->due_count; i++) {
        const uint32_t slot = book->due[i];
        const enum idle_step step = step_of(sched, &book->of[slot]);
        const bool may_lose = step == IDLE_ACTS && can_lose(sched, slot);
        if (may_lose && (sched->pending.job_count == 0 || !is_steady(&sched->jobs.jobs[slot]))) {
            book->due[kept++] = slot;
            continue;
        }
        book->of[slot].is_due = false;
        if (step == IDLE_TELLS)
            tell(sched, &book->of[slot], slot);
        else if (may_lose)
            take(sched, &book->of[slot], slot);
    }
    book->due_count = kept;
}

static time_ns next_wake(const struct sched *sched, const void *own)
{
    const struct hoarder_book *book = own;
    (void)sched;
    time_ns at = TIME_NEVER;
    for (uint32_t i = 0; i < book->resting_count; i++)
        if (book->of[book->resting[i]].rests_until < at)
            at = book->of[book->resting[i]].rests_until;
    return at;
}

static bool is_due(const struct sched *sched, const void *own)
{
    const struct hoarder_book *book = own;
    (void)sched;
    return book->due_count + book->resting_count > 0;
}

static const char *hoarders_check(const struct sched *sched, const void *own)
{
    const struct hoarder_book *book = own;
    for (uint32_t i = 0; i < book->due_count; i++)
        if (!book->of[book->due[i]].is_due || sched->jobs.jobs[book->due[i]].holding_count == 0)
            return "an idle job is to lose space that it does not hold";
    for (uint32_t i = 0; i < book->resting_count; i++) {
        const struct sched_job *job = &sched->jobs.jobs[book->resting[i]];
        if (job->state != SJOB_HELD || job->reason != REASON_IDLE ||
            book->of[book->resting[i]].rests_until == TIME_NEVER)
            return "a job that was evicted as idle does not rest";
    }
    return NULL;
}

const struct observer hoarders_observer = {.init = hoarders_init,
                                           .release = hoarders_release,
                                           .check = hoarders_check,
                                           .enrolled = on_enrolled,
                                           .started = on_started,
                                           .observed = on_observed,
                                           .eviction_refused = on_refused,
                                           .left = on_left,
                                           .forgotten = on_forgotten,
                                           .is_due = is_due,
                                           .cycle_begins = on_cycle,
                                           .act = act,
                                           .wake = next_wake};
