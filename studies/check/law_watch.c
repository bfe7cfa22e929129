#include "studies/check/law_watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The cycles and evictions that a job may cost; the run may cost one more of each per second of simulated time. */
enum { STEPS_LEAST = 2000, CYCLES_PER_JOB = 300, EVICTIONS_PER_JOB = 60, EVICTIONS_MORE = 4 };

void law_watch_break(struct law_watch *watch, enum check_law law, const char *format, ...)
{
    va_list arguments;
    if (watch->broken != CHECK_LAW_COUNT)
        return;
    watch->broken = law;
    va_start(arguments, format);
    vsnprintf(watch->what, sizeof watch->what, format, arguments);
    va_end(arguments);
}

static bool tells(const struct law_watch *watch, enum check_law law)
{
    return watch->options.laws >> law & 1;
}

static double seconds(time_ns at)
{
    return time_to_seconds(at);
}

/* ---- gang, strict ---- */

static void check_gang(struct law_watch *watch, job_id id)
{
    const struct book_job *job = law_books_job(&watch->books, id);
    if (!job->is_touched || job->was_hurt || book_job_held(job) == 0)
        return;
    watch->seen[CHECK_GANG]++;
    if (!book_job_has_minimum(job))
        law_watch_break(watch, CHECK_GANG, "at %.9g s job %u holds %u of its %u members, fewer than its minimum",
                        seconds(watch->now), id, book_job_held(job), book_job_asked(job));
}

static bool may_start(const struct book_job *job)
{
    return job->state == BOOK_WAITS && !job->job.is_held && job->job.after_count == 0 && job->job.array_max == 0;
}

static bool has_limit(const struct law_watch *watch, queue_id queue)
{
    const struct queue_spec *specs = watch->options.queues->queues;
    for (; queue != QUEUE_ROOT; queue = specs[queue].parent)
        for (int r = 0; r < RESOURCE_COUNT; r++)
            if (specs[queue].limit[r] != QUOTA_UNLIMITED)
                return true;
    return false;
}

/* Does a job wait that was submitted before one that has just started? */
static void check_strict(struct law_watch *watch)
{
    job_id first = JOB_NONE;
    for (job_id id = 0; id < watch->books.job_count; id++) {
        const struct book_job *job = law_books_job(&watch->books, id);
        if (job == NULL)
            continue;
        if (first == JOB_NONE && may_start(job) && !job->has_started && !has_limit(watch, job->job.queue))
            first = id;
        watch->seen[CHECK_STRICT] += job->is_new;
        if (job->is_new && first != JOB_NONE)
            law_watch_break(watch, CHECK_STRICT, "at %.9g s job %u starts before job %u, which was submitted earlier",
                            seconds(watch->now), id, first);
    }
}

/* ---- no_loop ---- */

static void check_loop(struct law_watch *watch, const struct decision *evict)
{
    struct book_job *victim = law_books_job(&watch->books, evict->job);
    const struct book_job *other = law_books_job(&watch->books, evict->for_job);
    if (victim == NULL)
        return;
    watch->seen[CHECK_NO_LOOP]++;
    if (victim->evictions > book_job_asked(victim) + EVICTIONS_MORE)
        law_watch_break(watch, CHECK_NO_LOOP, "at %.9g s job %u is evicted, the %uth time since the last fact",
                        seconds(watch->now), evict->job, victim->evictions);
    /* A job that was consolidated was moved, not preempted. */
    if (other == NULL || evict->reason == REASON_CONSOLIDATED)
        return;
    if (other->evicted_for == evict->job && other->evicted_outside == watch->books.outside &&
        watch->books.cycles - other->evicted_cycle <= NO_LOOP_CYCLES)
        law_watch_break(watch, CHECK_NO_LOOP,
                        "at %.9g s job %u is evicted for job %u, which was evicted for it %llu cycles before",
                        seconds(watch->now), evict->job, evict->for_job,
                        (unsigned long long)(watch->books.cycles - other->evicted_cycle));
    victim->evicted_for = evict->for_job;
    victim->evicted_cycle = watch->books.cycles;
    victim->evicted_outside = watch->books.outside;
}

/* ---- minimal ---- */

static void mark(const struct book_pieces *pieces, uint16_t *taken)
{
    for (uint32_t p = 0; p < pieces->count; p++)
        taken[pieces->list[p].node] |= pieces->list[p].mask;
}

/* Would the preemptor fit on the free GPUs if the victim stayed and all that leave had left? */
static bool fits_beside(const struct law_watch *watch, job_id preemptor, job_id victim)
{
    const struct cluster *cluster = watch->options.cluster;
    const struct job_group *group = &watch->books.jobs[preemptor].job.first;
    uint16_t *taken = mem_zalloc(cluster->node_count, sizeof *taken);
    uint32_t members = 0;
    for (job_id id = 0; id < watch->books.job_count; id++) {
        const struct book_job *job = &watch->books.jobs[id];
        if (job->state == BOOK_HOLDS || id == victim)
            mark(&job->held, taken);
        if (id != preemptor)
            mark(&job->reserved, taken);
    }
    for (node_id n = 0; n < cluster->node_count; n++)
        members += (cluster_node_gpus(cluster, n) - (uint32_t)__builtin_popcount(taken[n])) / group->request.gpus;
    mem_free(taken);
    return members >= group->count;
}

/* The one job for which others are evicted in this cycle; JOB_NONE: there is none, or there are several, or jobs are
 * moved. */
static job_id only_preemptor(const struct decision *decisions, size_t count)
{
    job_id only = JOB_NONE;
    for (size_t i = 0; i < count; i++) {
        if (decisions[i].kind != DECISION_EVICT)
            continue;
        if (decisions[i].for_job == JOB_NONE || decisions[i].is_partial || decisions[i].reason == REASON_CONSOLIDATED ||
            (only != JOB_NONE && only != decisions[i].for_job))
            return JOB_NONE;
        only = decisions[i].for_job;
    }
    return only;
}

static void check_minimal(struct law_watch *watch, const struct decision *decisions, size_t count)
{
    const job_id preemptor = only_preemptor(decisions, count);
    const struct book_job *job = law_books_job(&watch->books, preemptor);
    if (job == NULL || job->state != BOOK_WAITS || job->job.first.request.gpus == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (decisions[i].kind != DECISION_EVICT)
            continue;
        watch->seen[CHECK_MINIMAL]++;
        if (fits_beside(watch, preemptor, decisions[i].job))
            law_watch_break(watch, CHECK_MINIMAL, "at %.9g s job %u is evicted for job %u, which fits without that",
                            seconds(watch->now), decisions[i].job, preemptor);
    }
}

/* ---- reclaim ---- */

static void check_reclaim(struct law_watch *watch, job_id id)
{
    const struct book_job *job = law_books_job(&watch->books, id);
    if (job->job.queue != watch->options.owner || job->has_started)
        return;
    if (watch->now - job->job.submit > watch->options.reclaim_bound)
        law_watch_break(watch, CHECK_RECLAIM,
                        "at %.9g s job %u has waited for %.9g s for what its queue deserves and others borrow",
                        seconds(watch->now), id, seconds(watch->now - job->job.submit));
}

/* ---- The listener ---- */

static struct error answer(const struct law_watch *watch)
{
    return watch->broken == CHECK_LAW_COUNT ? ERROR_OK : error_new(ERROR_DATA, "%s", watch->what);
}

static struct error on_fact(void *self, const struct fact *fact)
{
    struct law_watch *watch = self;
    watch->now = fact->now;
    law_books_fact(&watch->books, fact);
    return ERROR_OK;
}

static struct error on_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                             const struct wire_done *done)
{
    struct law_watch *watch = self;
    (void)done;
    watch->now = now;
    law_books_cycle(&watch->books, decisions, count);
    for (size_t i = 0; i < count && tells(watch, CHECK_NO_LOOP); i++)
        if (decisions[i].kind == DECISION_EVICT)
            check_loop(watch, &decisions[i]);
    for (job_id id = 0; id < watch->books.job_count; id++) {
        if (law_books_job(&watch->books, id) == NULL)
            continue;
        if (tells(watch, CHECK_GANG))
            check_gang(watch, id);
        if (tells(watch, CHECK_RECLAIM))
            check_reclaim(watch, id);
    }
    if (tells(watch, CHECK_STRICT))
        check_strict(watch);
    if (tells(watch, CHECK_MINIMAL))
        check_minimal(watch, decisions, count);
    return answer(watch);
}

void law_watch_open(struct law_watch *watch, const struct law_watch_options *options)
{
    *watch = (struct law_watch){.options = *options, .broken = CHECK_LAW_COUNT};
    watch->outside = (struct port_outside){.self = watch, .on_fact = on_fact, .on_cycle = on_cycle};
}

/* ---- The end ---- */

static void check_bounds(struct law_watch *watch)
{
    const double jobs = watch->books.job_count, spans = seconds(watch->now);
    const double cycles = (double)watch->books.cycles, evictions = (double)watch->books.evictions;
    if (cycles > STEPS_LEAST + CYCLES_PER_JOB * jobs + spans)
        law_watch_break(watch, CHECK_ENDS, "%.0f cycles for %.0f jobs in %.9g s", cycles, jobs, spans);
    if (evictions > STEPS_LEAST + EVICTIONS_PER_JOB * jobs + spans)
        law_watch_break(watch, CHECK_ENDS, "%.0f evictions of %.0f jobs in %.9g s", evictions, jobs, spans);
}

static void check_starts(struct law_watch *watch)
{
    for (job_id id = 0; id < watch->books.job_count; id++) {
        const struct book_job *job = law_books_job(&watch->books, id);
        if (job == NULL || job->state == BOOK_CANCELLED)
            continue;
        watch->seen[CHECK_STARTS]++;
        if (job->state == BOOK_REJECTED)
            law_watch_break(watch, CHECK_STARTS, "job %u is rejected, although the idle cluster could hold it", id);
        else if (job->state != BOOK_ENDED)
            law_watch_break(watch, CHECK_STARTS, "job %u waits for ever: nothing runs, and %s", id,
                            job->has_started ? "it does not start again" : "it does not start");
    }
}

static void check_owners(struct law_watch *watch)
{
    for (job_id id = 0; id < watch->books.job_count; id++) {
        const struct book_job *job = law_books_job(&watch->books, id);
        if (job == NULL || job->job.queue != watch->options.owner)
            continue;
        watch->seen[CHECK_RECLAIM]++;
        if (!job->has_started)
            law_watch_break(watch, CHECK_RECLAIM,
                            "job %u never started, although its queue deserves what others borrow", id);
    }
}

void law_watch_end(struct law_watch *watch, bool is_whole)
{
    watch->seen[CHECK_ANSWERS] = watch->seen[CHECK_INVARIANTS] = watch->books.cycles;
    watch->seen[CHECK_ENDS] = 1;
    if (!is_whole)
        return;
    check_bounds(watch);
    if (tells(watch, CHECK_STARTS))
        check_starts(watch);
    if (tells(watch, CHECK_RECLAIM))
        check_owners(watch);
}

void law_watch_release(struct law_watch *watch)
{
    law_books_release(&watch->books);
}
