#include "policies/state/run_times.h"

#include <assert.h>

#include "base/hash.h"
#include "policies/state/sched_state.h"

enum { SLOTS_MIN = 64 };

/* ---- States, by teacher ---- */

/* The slot of the teacher in the hash table, or the empty slot where it belongs. */
static size_t place_of(const struct run_times *times, struct run_teacher teacher)
{
    size_t at = hash_mix(teacher.user, teacher.request_class) & (times->slot_count - 1);
    for (; times->slots[at] != 0; at = (at + 1) & (times->slot_count - 1)) {
        const struct run_teacher *other = &times->teachers[times->slots[at] - 1];
        if (other->user == teacher.user && other->request_class == teacher.request_class)
            break;
    }
    return at;
}

static void rehash(struct run_times *times, size_t slot_count)
{
    mem_free(times->slots);
    times->slots = mem_zalloc(slot_count, sizeof *times->slots);
    times->slot_count = slot_count;
    for (uint32_t t = 0; t < times->teacher_count; t++)
        times->slots[place_of(times, times->teachers[t])] = t + 1;
}

/* NULL: no run of the teacher has ended. */
static const void *find_state(const struct run_times *times, struct run_teacher teacher)
{
    uint32_t found = times->slots[place_of(times, teacher)];
    return found != 0 ? &times->states[(found - 1) * times->state_words] : NULL;
}

static void *own_state(struct run_times *times, struct run_teacher teacher)
{
    size_t at = place_of(times, teacher);
    if (times->slots[at] == 0) {
        const size_t needed = ((size_t)times->teacher_count + 1) * times->state_words;
        MEM_GROW(times->teachers, times->teacher_capacity, (size_t)times->teacher_count + 1);
        MEM_GROW(times->states, times->state_capacity, needed);
        times->teachers[times->teacher_count++] = teacher;
        times->slots[at] = times->teacher_count;
        if (times->slot_count < 2 * (size_t)times->teacher_count)
            rehash(times, 2 * times->slot_count);
        return &times->states[needed - times->state_words];
    }
    return &times->states[(times->slots[at] - 1) * times->state_words];
}

/* ---- Facts ---- */

static void run_times_enroll(struct sched *sched, void *own, uint32_t slot, const struct job *job)
{
    struct run_times *times = own;
    (void)sched, (void)job;
    MEM_GROW(times->runs, times->run_capacity, (size_t)slot + 1);
    times->runs[slot] = (struct run){.since = TIME_NEVER};
}

/* From jobs of the same request class, else from all; TIME_NEVER: nothing is known. */
static time_ns predict(const struct sched *sched, uint32_t user, uint32_t request_class)
{
    const uint32_t request_classes[] = {request_class, RUN_ANY_REQUEST_CLASS};
    time_ns predicted = TIME_NEVER;
    for (size_t s = 0; s < 2 && predicted == TIME_NEVER; s++) {
        const void *state = find_state(&sched->run_times, (struct run_teacher){user, request_classes[s]});
        predicted = state != NULL ? sched->policy.estimate->predict(state) : TIME_NEVER;
    }
    return predicted;
}

static void run_times_expect(struct sched *sched, void *own, uint32_t slot)
{
    const struct run_times *times = own;
    struct run *run = &times->runs[slot];
    const struct job_facts *facts = &sched->jobs.facts[slot];
    const uint32_t request_class = sched->jobs.jobs[slot].request_class;
    if (run->estimate != 0)
        return;
    time_ns estimate = facts->user != NAMES_NONE ? predict(sched, facts->user, request_class) : TIME_NEVER;
    if (estimate == TIME_NEVER)
        estimate = facts->estimate;
    if (estimate == TIME_NEVER && facts->limit == TIME_NEVER)
        estimate = predict(sched, RUN_EVERYBODY, request_class);
    run->estimate = estimate > 0 ? estimate : 1;
}

static void run_times_started(struct sched *sched, void *own, uint32_t slot, time_ns at)
{
    const struct run_times *times = own;
    struct run *run = &times->runs[slot];
    run_times_expect(sched, own, slot); /* an adopted job never waited */
    if (run->since == TIME_NEVER)
        run->since = at;
}

/* The time up to which the attempt's work is saved if it saves nothing now.  The same rule as in
 * policies/state/candidates.c. */
static time_ns safe_until(const struct job_facts *facts, time_ns since, time_ns now)
{
    const time_ns interval = facts->checkpoint.interval;
    if (facts->saved_at != TIME_NEVER && facts->saved_at > since)
        return facts->saved_at;
    return interval > 0 ? now - (now - since) % interval : since;
}

/* If the job has lost all its holdings, it will start again. */
static void run_times_left(struct sched *sched, void *own, uint32_t slot, bool is_saved)
{
    const struct run_times *times = own;
    struct run *run = &times->runs[slot];
    if (run->since == TIME_NEVER || sched->jobs.jobs[slot].is_booked)
        return;
    time_ns until = is_saved ? sched->now : safe_until(&sched->jobs.facts[slot], run->since, sched->now);
    run->kept += until - run->since;
    run->since = TIME_NEVER;
}

static void run_times_end(struct sched *sched, void *own, uint32_t slot, bool will_retry)
{
    struct run_times *times = own;
    const struct run *run = &times->runs[slot];
    const uint32_t user = sched->jobs.facts[slot].user, request_class = sched->jobs.jobs[slot].request_class;
    if (run->since == TIME_NEVER || will_retry)
        return;
    const time_ns ran = run->kept + sched->now - run->since;
    const struct run_teacher teachers[] = {{RUN_EVERYBODY, request_class},
                                           {RUN_EVERYBODY, RUN_ANY_REQUEST_CLASS},
                                           {user, request_class},
                                           {user, RUN_ANY_REQUEST_CLASS}};
    for (size_t t = 0; t < (user != NAMES_NONE ? 4 : 2); t++)
        sched->policy.estimate->note_run(own_state(times, teachers[t]), ran > 0 ? ran : 1);
}

/* ---- Initialisation ---- */

static void *run_times_init(struct sched *sched)
{
    struct run_times *times = &sched->run_times;
    times->is_used = sched->policy.estimate->state_size > 0 && sched->policy.backfill_config.overtakes;
    if (!times->is_used)
        return NULL;
    times->state_words = (sched->policy.estimate->state_size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    rehash(times, SLOTS_MIN);
    return times;
}

static void run_times_release(struct sched *sched, void *own)
{
    struct run_times *times = own;
    (void)sched;
    mem_free(times->runs);
    mem_free(times->teachers);
    mem_free(times->states);
    mem_free(times->slots);
}

const struct observer run_times_observer = {.init = run_times_init,
                                            .release = run_times_release,
                                            .enrolled = run_times_enroll,
                                            .waiting = run_times_expect,
                                            .started = run_times_started,
                                            .left = run_times_left,
                                            .ends = run_times_end};
