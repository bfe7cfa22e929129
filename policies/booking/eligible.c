/* Which jobs may enter a class queue: dependencies between jobs, and arrays that run a few elements at a time.
 *
 * A job with open dependencies is held.  If one of them ended otherwise than asked, the job is rejected, since it could
 * never start.  Of an array with a limit, at most that many elements wait or run; the others are parked in the order of
 * submission.  Cost: O(open dependencies) per job that ends while there are any. */
#include <assert.h>

#include "policies/booking/booking.h"
#include "policies/booking/eligible.h"
#include "policies/state/waits.h"

struct job_array {     /* elements of one array */
    uint32_t limit;    /* 0: none */
    uint32_t eligible; /* waiting or running */
    uint32_t *parked;  /* slots, in order of submission */
    size_t capacity;
    uint32_t first, count;
};

struct dependency { /* `waiter` waits for the end of `on` */
    job_id waiter, on;
    uint8_t kind; /* enum after_kind */
};

struct end { /* of a job whose dependants are looked at */
    job_id job;
    enum ended how;
};

struct eligible_books {
    struct dependency *dependencies;
    size_t dependency_capacity;
    uint32_t dependency_count;
    struct job_array *arrays; /* by id */
    size_t array_capacity;
    struct end *ends; /* scratch of eligible_ended */
    size_t end_capacity;
};

void eligible_init(struct sched *sched)
{
    sched->eligible = mem_zalloc(1, sizeof *sched->eligible);
}

void eligible_release(struct sched *sched)
{
    for (size_t a = 0; a < sched->eligible->array_capacity; a++)
        mem_free(sched->eligible->arrays[a].parked);
    mem_free(sched->eligible->arrays);
    mem_free(sched->eligible->dependencies);
    mem_free(sched->eligible->ends);
    mem_free(sched->eligible);
}

uint32_t eligible_array_count(const struct sched *sched, uint32_t array)
{
    return sched->eligible->arrays[array].eligible;
}

uint32_t eligible_dependency_count(const struct sched *sched, job_id job)
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < sched->eligible->dependency_count; d++)
        count += job == JOB_NONE || sched->eligible->dependencies[d].waiter == job;
    return count;
}

static bool is_met(enum after_kind kind, enum ended end)
{
    return kind == AFTER_ANY || (kind == AFTER_OK) == (end == ENDED_OK);
}

static enum reason depend(struct sched *sched, uint32_t slot, const struct job *job)
{
    struct job_facts *facts = &sched->jobs.facts[slot];
    for (uint32_t i = 0; i < job->after_count; i++) {
        enum ended end = job_table_end(&sched->jobs, job->after[i].job);
        if (end != ENDED_NOT && !is_met(job->after[i].kind, end))
            return REASON_DEPENDENCY_NEVER;
    }
    for (uint32_t i = 0; i < job->after_count; i++) {
        if (job_table_end(&sched->jobs, job->after[i].job) != ENDED_NOT)
            continue;
        MEM_GROW(sched->eligible->dependencies, sched->eligible->dependency_capacity,
                 (size_t)sched->eligible->dependency_count + 1);
        sched->eligible->dependencies[sched->eligible->dependency_count++] =
            (struct dependency){job->id, job->after[i].job, job->after[i].kind};
        facts->after_left++;
    }
    return facts->after_left > 0 ? REASON_DEPENDENCY : REASON_NONE;
}

static struct job_array *array_of(struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    if (facts->array == 0)
        return NULL;
    MEM_GROW(sched->eligible->arrays, sched->eligible->array_capacity, (size_t)facts->array + 1);
    struct job_array *array = &sched->eligible->arrays[facts->array];
    array->limit = facts->array_max;
    return array;
}

/* Count the job among the eligible elements of its array, or park it. */
static enum reason join_array(struct sched *sched, uint32_t slot)
{
    struct job_array *array = array_of(sched, slot);
    if (array == NULL)
        return REASON_NONE;
    if (array->limit == 0 || array->eligible < array->limit) {
        array->eligible++;
        return REASON_NONE;
    }
    MEM_GROW(array->parked, array->capacity, (size_t)array->count + 1);
    array->parked[array->count++] = slot;
    return REASON_ARRAY_LIMIT;
}

void eligible_adopt(struct sched *sched, uint32_t slot)
{
    struct job_array *array = array_of(sched, slot);
    if (array != NULL)
        array->eligible++;
}

static enum reason find_hold(struct sched *sched, uint32_t slot, const struct job *job)
{
    if (job->after_count > 0) {
        enum reason reason = depend(sched, slot, job);
        if (reason != REASON_NONE)
            return reason;
    }
    return job->is_held ? REASON_HELD : join_array(sched, slot);
}

/* Reject the held job, because one of its dependencies can never be met.  The caller settles the jobs that depend on
 * this one. */
static void refuse_held(struct sched *sched, uint32_t slot)
{
    const struct sched_job *held = &sched->jobs.jobs[slot];
    sched->lists.held_count--;
    sched_reject(sched, held->id, (struct asking){held->request_class, held->queue}, REASON_DEPENDENCY_NEVER);
    sched->jobs.facts[slot].array = 0; /* it never joined */
    sched_forget(sched, slot);
}

enum reason eligible_submit(struct sched *sched, uint32_t slot, const struct job *job)
{
    const enum reason reason = find_hold(sched, slot, job);
    if (reason == REASON_NONE)
        return reason;
    sched->jobs.jobs[slot].state = SJOB_HELD;
    sched->jobs.jobs[slot].reason = (uint8_t)reason;
    sched->lists.held_count++;
    if (reason == REASON_DEPENDENCY_NEVER) {
        refuse_held(sched, slot);
        eligible_ended(sched, job->id, ENDED_OTHERWISE);
    }
    return reason;
}

/* Its dependencies are met and it is not held: the job enters its class queue, unless its array has no room. */
static void let_go(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    enum reason reason = join_array(sched, slot);
    job->reason = (uint8_t)reason;
    if (reason != REASON_NONE) {
        waits_review(sched, slot);
        return;
    }
    sched->lists.held_count--;
    job->state = SJOB_PENDING;
    sched->jobs.facts[slot].waiting_since = sched->now;
    sched_wait(sched, slot);
}

void eligible_released(struct sched *sched, uint32_t slot)
{
    sched->jobs.facts[slot].is_held = false;
    if (sched->jobs.jobs[slot].reason == REASON_HELD)
        let_go(sched, slot);
}

/* A dependency of the waiter is met. */
static void meet(struct sched *sched, uint32_t waiter)
{
    struct job_facts *facts = &sched->jobs.facts[waiter];
    if (--facts->after_left > 0)
        return;
    if (facts->is_held) {
        sched->jobs.jobs[waiter].reason = REASON_HELD;
        waits_review(sched, waiter);
    } else {
        let_go(sched, waiter);
    }
}

/* Settle the dependencies on the end of the job, and drop those of jobs that have gone, until one can never be met:
 * then returns its waiter, which is refused.  JOB_NONE: none is left. */
static job_id settle(struct sched *sched, const struct end *end)
{
    struct eligible_books *books = sched->eligible;
    for (uint32_t i = 0; i < books->dependency_count;) {
        const struct dependency dependency = books->dependencies[i];
        const uint32_t waiter = job_table_find(&sched->jobs, dependency.waiter);
        if (waiter != SLOT_NONE && dependency.on != end->job) {
            i++;
            continue;
        }
        books->dependencies[i] = books->dependencies[--books->dependency_count];
        if (waiter == SLOT_NONE)
            continue; /* it was cancelled or refused */
        if (!is_met(dependency.kind, end->how)) {
            refuse_held(sched, waiter);
            return dependency.waiter;
        }
        meet(sched, waiter);
    }
    return JOB_NONE;
}

/* A job that is refused ends too, and what depends on it comes before the rest of what depends on the job before.  The
 * chain of such jobs may be as long as there are jobs, so it lies in memory and not on the stack. */
void eligible_ended(struct sched *sched, job_id job, enum ended how)
{
    struct eligible_books *books = sched->eligible;
    uint32_t count = 0;
    job_table_note_end(&sched->jobs, job, how);
    if (books->dependency_count == 0)
        return;
    MEM_GROW(books->ends, books->end_capacity, 1);
    books->ends[count++] = (struct end){job, how};
    while (count > 0) {
        const job_id refused = settle(sched, &books->ends[count - 1]);
        if (refused == JOB_NONE) {
            count--;
            continue;
        }
        job_table_note_end(&sched->jobs, refused, ENDED_OTHERWISE);
        MEM_GROW(books->ends, books->end_capacity, (size_t)count + 1);
        books->ends[count++] = (struct end){refused, ENDED_OTHERWISE};
    }
}

/* An element of the array has ended. */
static void leave_array(struct sched *sched, uint32_t id)
{
    struct job_array *array = &sched->eligible->arrays[id];
    assert(array->eligible > 0);
    array->eligible--;
    if (array->limit != 0 && array->eligible >= array->limit)
        return; /* jobs that ran before the scheduler started may exceed the limit */
    while (array->first < array->count) {
        uint32_t slot = array->parked[array->first++];
        if (slot == SLOT_NONE)
            continue; /* cancelled while it was parked */
        let_go(sched, slot);
        return;
    }
}

void eligible_forget(struct sched *sched, uint32_t slot, enum ended end)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const job_id id = job->id;
    const uint32_t array = job->is_element ? sched->jobs.facts[slot].array : 0;
    sched_forget(sched, slot);
    if (array != 0)
        leave_array(sched, array);
    eligible_ended(sched, id, end);
}

void eligible_rest(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    assert(job->state == SJOB_PENDING && job->holding_count == 0);
    if (job->class_queue != CLASS_QUEUE_NONE)
        sched_unwait(sched, slot);
    job->state = SJOB_HELD;
    job->reason = REASON_IDLE;
    sched->lists.held_count++;
    waits_review(sched, slot);
}

void eligible_rested(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    sched->lists.held_count--;
    job->state = SJOB_PENDING;
    job->reason = REASON_NONE;
    sched->jobs.facts[slot].waiting_since = sched->now;
    sched_wait(sched, slot);
}

void eligible_unpark(struct sched *sched, uint32_t slot)
{
    sched->lists.held_count--;
    struct job_facts *facts = &sched->jobs.facts[slot];
    if (sched->jobs.jobs[slot].reason == REASON_ARRAY_LIMIT) {
        struct job_array *array = &sched->eligible->arrays[facts->array];
        for (uint32_t i = array->first; i < array->count; i++)
            if (array->parked[i] == slot)
                array->parked[i] = SLOT_NONE;
    }
    if (sched->jobs.jobs[slot].reason != REASON_IDLE)
        facts->array = 0; /* it does not count as eligible */
}
