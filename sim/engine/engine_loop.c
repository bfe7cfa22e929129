#include "sim/engine/engine_loop.h"

#define NS_PER_S 1e9

enum loop_state {
    LOOP_HELD,   /* waits for the end of the job that it follows */
    LOOP_DUE,    /* its time is known */
    LOOP_PARKED, /* its time has come before that of a job on which it depends */
    LOOP_SUBMITTED,
    LOOP_STATE_COUNT
};

struct held_back {
    struct job job; /* as the source gave it */
    struct job_truth truth;
    time_ns at;                          /* of its submission; 0 while it is held */
    uint8_t state;                       /* enum loop_state */
    job_id next;                         /* of the list in which it is; JOB_NONE: it is the last */
    job_id first_follower, first_parked; /* of the lists of jobs that wait for its end, and for its submission */
};

struct engine_loop {
    const struct loop_link *links; /* borrowed; by job */
    struct held_back *jobs;        /* by job */
    size_t capacity;
    job_id count;
    job_id *due; /* a heap by (at, id) */
    job_id due_count, submitted;
    uint64_t followed;            /* jobs submitted that follow another one within a session */
    wide_ns shift, shift_without; /* sum of actual - recorded submissions; without their signs */
};

/* ---- Jobs that are due ---- */

static bool is_before(const struct engine_loop *loop, job_id a, job_id b)
{
    return loop->jobs[a].at != loop->jobs[b].at ? loop->jobs[a].at < loop->jobs[b].at : a < b;
}

static void swap_due(struct engine_loop *loop, job_id a, job_id b)
{
    const job_id id = loop->due[a];
    loop->due[a] = loop->due[b];
    loop->due[b] = id;
}

static void push(struct engine_loop *loop, job_id id, time_ns at)
{
    loop->jobs[id].at = at;
    loop->jobs[id].state = LOOP_DUE;
    job_id place = loop->due_count++;
    loop->due[place] = id;
    for (; place > 0 && is_before(loop, loop->due[place], loop->due[(place - 1) / 2]); place = (place - 1) / 2)
        swap_due(loop, place, (place - 1) / 2);
}

static job_id pop(struct engine_loop *loop)
{
    const job_id id = loop->due[0];
    loop->due[0] = loop->due[--loop->due_count];
    for (job_id place = 0;;) {
        job_id least = place;
        for (uint64_t child = 2 * (uint64_t)place + 1; child <= 2 * (uint64_t)place + 2; child++)
            if (child < loop->due_count && is_before(loop, loop->due[child], loop->due[least]))
                least = (job_id)child;
        if (least == place)
            return id;
        swap_due(loop, place, least);
        place = least;
    }
}

static void list_add(struct engine_loop *loop, job_id *first, job_id id)
{
    loop->jobs[id].next = *first;
    *first = id;
}

/* A job that it depends on and that was not submitted yet; JOB_NONE: none. */
static job_id find_missing(const struct engine_loop *loop, job_id id)
{
    const struct job *job = &loop->jobs[id].job;
    for (uint32_t a = 0; a < job->after_count; a++)
        if (loop->jobs[job->after[a].job].state != LOOP_SUBMITTED)
            return job->after[a].job;
    return JOB_NONE;
}

static void park(struct engine_loop *loop, job_id id, job_id missing)
{
    loop->jobs[id].state = LOOP_PARKED;
    list_add(loop, &loop->jobs[missing].first_parked, id);
}

/* ---- Opening ---- */

static struct held_back held_back_of(const struct job *job, const struct job_truth *truth)
{
    return (struct held_back){.job = *job,
                              .truth = *truth,
                              .state = LOOP_HELD,
                              .next = JOB_NONE,
                              .first_follower = JOB_NONE,
                              .first_parked = JOB_NONE};
}

static struct error take_all(struct engine_loop *loop, struct job_source *source, struct offered_counts *offered)
{
    struct job job;
    struct job_truth truth;
    bool has;
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            return ERROR_OK;
        assert(job.id == loop->count);
        offered_add(offered, &job, &truth);
        MEM_GROW(loop->jobs, loop->capacity, (size_t)loop->count + 1);
        loop->jobs[loop->count++] = held_back_of(&job, &truth);
    }
}

struct error engine_loop_open(struct engine *engine)
{
    const struct engine_config *config = engine->config;
    const struct loop_link *links = job_source_facts(config->source)->loop;
    if (links == NULL)
        return ERROR_OK;
    if (config->decider != NULL) {
        struct error error = error_new(ERROR_CONFIG, "another program cannot schedule a closed loop: it is told jobs "
                                                     "in the order of their numbers");
        error_set_hint(&error, "%s", "leave out 'workload.loop' or --scheduler");
        return error;
    }
    struct engine_loop *loop = engine->loop = mem_zalloc(1, sizeof *loop);
    loop->links = links;
    TRY(take_all(loop, config->source, &engine->measured.offered));
    loop->due = mem_zalloc((size_t)loop->count + 1, sizeof *loop->due);
    for (job_id id = 0; id < loop->count; id++)
        if (links[id].follows != JOB_NONE)
            list_add(loop, &loop->jobs[links[id].follows].first_follower, id);
        else
            push(loop, id, loop->jobs[id].job.submit);
    MEM_GROW(engine->slots.slot_of, engine->slots.slot_capacity, (size_t)loop->count);
    for (job_id id = 0; id < loop->count; id++)
        engine->slots.slot_of[id] = ENGINE_SLOT_NONE;
    return ERROR_OK;
}

void engine_loop_release(struct engine *engine)
{
    if (engine->loop == NULL)
        return;
    mem_free(engine->loop->jobs);
    mem_free(engine->loop->due);
    mem_free(engine->loop);
}

/* ---- The run ---- */

static void fill(const struct held_back *own, struct job *job, struct job_truth *truth)
{
    *job = own->job;
    *truth = own->truth;
    if (job->deadline != TIME_NEVER)
        job->deadline = time_after(own->at, job->deadline - job->submit);
    job->submit = own->at;
}

void engine_loop_show(struct engine *engine)
{
    struct engine_loop *loop = engine->loop;
    while (loop->due_count > 0) {
        const job_id missing = find_missing(loop, loop->due[0]);
        if (missing == JOB_NONE)
            break;
        park(loop, pop(loop), missing);
    }
    engine->next.is_there = loop->due_count > 0;
    if (engine->next.is_there)
        fill(&loop->jobs[loop->due[0]], &engine->next.job, &engine->next.truth);
}

static void count(struct engine_loop *loop, job_id id)
{
    const struct held_back *own = &loop->jobs[id];
    const time_ns shift = own->at - own->job.submit;
    loop->submitted++;
    loop->followed += loop->links[id].follows != JOB_NONE && loop->links[id].think != LOOP_SESSION;
    loop->shift += shift;
    loop->shift_without += shift < 0 ? -shift : shift;
}

void engine_loop_taken(struct engine *engine)
{
    struct engine_loop *loop = engine->loop;
    assert(loop->due_count > 0 && loop->due[0] == engine->next.job.id);
    const job_id id = pop(loop);
    struct held_back *own = &loop->jobs[id];
    own->state = LOOP_SUBMITTED;
    count(loop, id);
    for (job_id parked = own->first_parked, next; parked != JOB_NONE; parked = next) {
        next = loop->jobs[parked].next;
        push(loop, parked, engine->now > loop->jobs[parked].at ? engine->now : loop->jobs[parked].at);
    }
    own->first_parked = JOB_NONE;
    engine_loop_show(engine);
}

/* When it is submitted, now that the job that it follows has ended. */
static time_ns time_of(const struct engine *engine, job_id id)
{
    const struct loop_link *link = &engine->loop->links[id];
    const time_ns recorded = engine->loop->jobs[id].job.submit;
    if (link->think != LOOP_SESSION)
        return time_after(engine->now, link->think);
    return recorded > engine->now ? recorded : engine->now;
}

void engine_loop_ended(struct engine *engine, job_id id)
{
    struct engine_loop *loop = engine->loop;
    for (job_id follower = loop->jobs[id].first_follower, next; follower != JOB_NONE; follower = next) {
        next = loop->jobs[follower].next;
        push(loop, follower, time_of(engine, follower));
    }
    loop->jobs[id].first_follower = JOB_NONE;
    engine_loop_show(engine);
}

job_id engine_id_count(const struct engine *engine)
{
    return engine->loop != NULL ? engine->loop->count : (job_id)engine->counts.submitted;
}

bool engine_loop_is_over(const struct engine *engine)
{
    return engine->loop->submitted == engine->loop->count;
}

bool engine_loop_submitted(const struct engine *engine, job_id id, struct job *job, struct job_truth *truth)
{
    const struct held_back *own = &engine->loop->jobs[id];
    if (own->state == LOOP_SUBMITTED)
        fill(own, job, truth);
    return own->state == LOOP_SUBMITTED;
}

struct loop_facts engine_loop_facts(const struct engine *engine)
{
    const struct engine_loop *loop = engine->loop;
    const double all_ns = loop->submitted > 0 ? (double)loop->submitted * NS_PER_S : 1;
    return (struct loop_facts){.is_closed = true,
                               .followed = loop->followed,
                               .held_back = loop->count - loop->submitted,
                               .shift_mean_s = (double)loop->shift / all_ns,
                               .shift_abs_mean_s = (double)loop->shift_without / all_ns};
}
