/* tests/support/fake_run.c -- see tests/support/fake_run.h. */
#include "tests/support/fake_run.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/mem.h"

const char *const fake_run_models[] = {"h100-80gb", "a100-80gb", NULL};

struct fake_job {
    struct job_row row;
    struct wait_times waits;
    struct fault_row faults;
    char queue[48], user[24], name[24];
};

struct fake_state {
    const struct fake_run *run;
    const struct record_sink *sink;
    uint64_t random;
    struct fake_job *jobs;
    time_ns *ends; /* binary heap of (end, gpus) of the running jobs */
    int64_t *ends_gpu_milli;
    size_t running;
    time_ns end;
};

/* splitmix64 (Steele, Lea, Flood: OOPSLA 2014) */
static uint64_t draw(struct fake_state *state)
{
    uint64_t z = state->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(struct fake_state *state)
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

/* The normal part is approximated by the sum of twelve uniforms. */
static time_ns lognormal(struct fake_state *state, double median_s, double sigma)
{
    double z = -6;
    for (int i = 0; i < 12; i++)
        z += uniform(state);
    return time_from_seconds(fmin(median_s * exp(sigma * z), 7 * 86400.0));
}

static void make_request_class(struct fake_state *state, struct job_row *row)
{
    double kind = uniform(state);
    row->members = 1;
    if (kind < 0.45) {
        row->class = JOB_INFERENCE;
        row->gpu_milli = kind < 0.3 ? 142 : 4000;
        row->work_asked = lognormal(state, 6 * 3600, 1.2);
        row->sm_active_milli = (uint16_t)(150 + draw(state) % 200);
    } else if (kind < 0.75) {
        row->class = JOB_INTERACTIVE;
        row->gpu_milli = 1000;
        row->work_asked = lognormal(state, 2 * 3600, 1.0);
        row->sm_active_milli = (uint16_t)(50 + draw(state) % 100);
    } else {
        row->class = JOB_TRAINING;
        row->members = kind < 0.97 ? 1 : (uint32_t)1 << (2 + draw(state) % 3);
        row->gpu_milli = kind < 0.97 ? (int64_t)1000 << (draw(state) % 4) : row->members * 8000;
        row->work_asked = lognormal(state, kind < 0.97 ? 2400 : 6 * 3600, 1.5);
        row->sm_active_milli = (uint16_t)(500 + draw(state) % 350);
    }
}

static void make_names(struct fake_state *state, struct fake_job *job, uint32_t id)
{
    const struct fake_run *run = state->run;
    uint32_t queue = (uint32_t)(pow(run->queues + 1.0, uniform(state)) - 1); /* Zipf-like */
    if (run->workload_classes != NULL)
        job->row.workload_class = run->workload_classes[job->row.id % 4];
    if (run->queue_names != NULL)
        job->row.queue = run->queue_names[queue];
    else
        snprintf(job->queue, sizeof job->queue, "team-%u/project-%u", queue % 20, queue);
    snprintf(job->user, sizeof job->user, "user-%u", (unsigned)(draw(state) % 97));
    snprintf(job->name, sizeof job->name, "job-%u", id * 7 + 13);
    if (run->queue_names == NULL)
        job->row.queue = job->queue;
    job->row.user = job->user;
    job->row.name = job->name;
}

static double make_jobs(struct fake_state *state)
{
    double gpu_s = 0;
    for (uint32_t i = 0; i < state->run->jobs; i++) {
        struct fake_job *job = &state->jobs[i];
        job->row.id = i;
        job->row.priority = 50;
        make_names(state, job, i);
        make_request_class(state, &job->row);
        if (job->row.gpu_milli > (int64_t)state->run->gpus * GPU_MILLI / 2)
            job->row.gpu_milli = GPU_MILLI;
        gpu_s += (double)job->row.gpu_milli / GPU_MILLI * time_to_seconds(job->row.work_asked);
    }
    return gpu_s;
}

static int compare_times(const void *a, const void *b)
{
    time_ns x = *(const time_ns *)a, y = *(const time_ns *)b;
    return x < y ? -1 : x > y;
}

/* Arrivals over the span, more of them by day. */
static void make_arrivals(struct fake_state *state, double span_s)
{
    uint32_t count = state->run->jobs;
    time_ns *times = mem_zalloc(count, sizeof *times);
    for (uint32_t i = 0; i < count; i++) {
        double t = uniform(state) * span_s;
        t += 0.4 * 86400 / 6.283185307179586 * (1 - cos(6.283185307179586 * t / 86400));
        times[i] = time_from_seconds(t);
    }
    qsort(times, count, sizeof *times, compare_times);
    for (uint32_t i = 0; i < count; i++) {
        state->jobs[i].row.submit = times[i];
        state->jobs[i].row.eligible = times[i] + (i % 50 == 7 ? 30 * TIME_NS_PER_S : 0);
        state->jobs[i].row.is_counted = times[i] >= time_from_seconds(state->run->warmup_s);
    }
    mem_free(times);
}

/* ---- first come, first served ---- */

static void heap_swap(struct fake_state *state, size_t a, size_t b)
{
    time_ns end = state->ends[a];
    int64_t gpu_milli = state->ends_gpu_milli[a];
    state->ends[a] = state->ends[b];
    state->ends_gpu_milli[a] = state->ends_gpu_milli[b];
    state->ends[b] = end;
    state->ends_gpu_milli[b] = gpu_milli;
}

static void heap_add(struct fake_state *state, time_ns end, int64_t gpu_milli)
{
    size_t i = state->running++;
    state->ends[i] = end;
    state->ends_gpu_milli[i] = gpu_milli;
    for (; i > 0 && state->ends[i] < state->ends[(i - 1) / 2]; i = (i - 1) / 2)
        heap_swap(state, i, (i - 1) / 2);
}

static void heap_drop(struct fake_state *state)
{
    heap_swap(state, 0, --state->running);
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < state->running && state->ends[child] < state->ends[least])
                least = child;
        if (least == i)
            return;
        heap_swap(state, i, least);
        i = least;
    }
}

static void make_run(struct fake_state *state, struct job_row *row)
{
    row->limit = row->id % 3 == 0 ? 2 * row->work_asked + 1 : TIME_NEVER;
    row->estimate = row->id % 4 == 0 ? row->work_asked / 2 : TIME_NEVER;
    row->deadline = row->id % 5 == 0 ? row->submit + 2 * row->work_asked : TIME_NEVER;
    uint64_t luck = draw(state) % 100;
    row->model = (uint8_t)(row->id % 10 == 0);
    row->work = luck < 8 ? row->work_asked / 10 : row->work_asked;
    row->state = luck < 8 ? END_FAILED : luck < 12 ? END_CANCELLED : END_COMPLETED;
    row->run = row->work;
    row->source = (uint8_t)(row->id % RECORD_SOURCE_COUNT);
    row->evictions_wasted = luck == 97;
    if (luck >= 95) {
        row->evictions = 1;
        row->reason = REASON_NONE;
        time_ns repeated = row->work / 5;
        row->run += repeated;
        row->lost_gpu_ns = row->gpu_milli * (repeated / 1000);
        row->overhead_gpu_ns = row->lost_gpu_ns / 10;
        row->preempted_gpu_ns = luck == 95 ? row->lost_gpu_ns / 2 : 0;
        row->resizes = luck == 96 ? 3 : 0; /* with three quarters of its members most of the time */
    }
}

/* Set the start and end of every job; jobs that have not ended when the last one comes are cut off. */
static void simulate(struct fake_state *state)
{
    int64_t free_milli = (int64_t)state->run->gpus * GPU_MILLI;
    time_ns clock = 0;
    for (uint32_t i = 0; i < state->run->jobs; i++) {
        struct job_row *row = &state->jobs[i].row;
        if (state->run->rejected_every != 0 && i % state->run->rejected_every == 5) {
            *row = (struct job_row){.id = row->id,
                                    .name = row->name,
                                    .queue = row->queue,
                                    .user = row->user,
                                    .class = row->class,
                                    .workload_class = row->workload_class,
                                    .priority = 50,
                                    .gpu_milli = ((int64_t)state->run->gpus + 8) * GPU_MILLI,
                                    .members = 1,
                                    .model = 255,
                                    .submit = row->submit,
                                    .eligible = row->submit,
                                    .start = TIME_NEVER,
                                    .end = row->submit,
                                    .work_asked = row->work_asked,
                                    .state = END_REJECTED,
                                    .reason = REASON_NEVER_FITS,
                                    .limit = TIME_NEVER,
                                    .estimate = TIME_NEVER,
                                    .deadline = TIME_NEVER,
                                    .is_counted = row->is_counted};
            continue;
        }
        make_run(state, row);
        if (row->eligible > clock)
            clock = row->eligible;
        while (state->running > 0 && (state->ends[0] <= clock || free_milli < row->gpu_milli)) {
            if (state->ends[0] > clock)
                clock = state->ends[0];
            free_milli += state->ends_gpu_milli[0];
            heap_drop(state);
        }
        free_milli -= row->gpu_milli;
        row->start = clock;
        row->end = clock + row->run;
        heap_add(state, row->end, row->gpu_milli);
    }
    state->end = state->jobs[state->run->jobs - 1].row.submit + 60 * TIME_NS_PER_S;
}

static void cut_off(struct fake_state *state, struct job_row *row)
{
    if (row->state == END_REJECTED)
        return;
    if (row->start > state->end) {
        row->start = row->end = TIME_NEVER;
        row->state = END_PENDING;
        row->reason = REASON_RESOURCES;
        row->model = 255;
        row->run = row->work = row->lost_gpu_ns = row->overhead_gpu_ns = 0;
        row->preempted_gpu_ns = 0;
        row->evictions = row->resizes = 0;
        row->source = 0;
        row->wait = state->end > row->eligible ? state->end - row->eligible : 0;
    } else {
        row->wait = row->start - row->eligible;
        if (row->end > state->end) {
            row->run = state->end - row->start;
            row->work = row->run < row->work ? row->run : row->work;
            row->end = TIME_NEVER;
            row->state = END_RUNNING;
        }
    }
    row->wait_total = row->wait;
    row->held_milli_ns = (gpu_time_ns)row->gpu_milli * row->run * (row->resizes > 0 ? 3 : 4) / 4;
}

/* Of training, three of four jobs declare communication: two by a plan, one by a sensitivity with an odd name.  They
 * waited for an eighth of their GPU time, and those with several nodes took longer than at the best place. */
static void communicate(struct job_row *row)
{
    static const char *const names[] = {"plan", "plan", "all-reduce, \"skewed\"", NULL};
    if (row->class != JOB_TRAINING || row->state == END_REJECTED || names[row->id % 4] == NULL)
        return;
    const int64_t held_us = (int64_t)((__int128)row->gpu_milli * row->run / (GPU_MILLI * TIME_NS_PER_US));
    row->communication = names[row->id % 4];
    row->exposed_gpu_us = held_us / 8;
    if (row->id % 4 != 2) {
        row->planned_gpu_us = held_us;
        row->mfu_micro = held_us == 0 ? 0 : 350000 + row->id % 100001;
    }
    if (row->members == 1)
        return;
    row->slowed_gpu_us = held_us * (row->id % 5) / 50;
    row->network_gpu_us = held_us;
    row->network_bytes_per_s = held_us == 0 ? 0 : INT64_C(24999999999) + row->id % 3;
}

/* Two of three interactive jobs that ran declare their activity, one by a name that needs quotes; they were idle for
 * a quarter of their GPU time, and used a tenth of it. */
static void linger(struct job_row *row)
{
    static const char *const names[] = {"notebook", "note, \"book\"", NULL};
    if (row->class != JOB_INTERACTIVE || row->state == END_REJECTED || names[row->id % 3] == NULL)
        return;
    const int64_t held_us = (int64_t)((__int128)row->gpu_milli * row->run / (GPU_MILLI * TIME_NS_PER_US));
    row->activity = names[row->id % 3];
    row->active_gpu_us = held_us / 10;
    row->idle_held_gpu_us = held_us / 4;
    row->unserved_gpu_us = held_us / 8;
}

/* One job in 50 had a fault; as many were taken by those of neighbours, and lost up to all that they lost. */
static void strike(struct fake_job *job)
{
    const uint32_t luck = job->row.id % 50;
    job->faults = (struct fault_row){.own = luck == 7, .blast_gpu_milli = luck == 7 ? 500 + job->row.id % 1000 : 0};
    job->faults.killed[job->row.id / 50 % RECORD_FAULT_COUNT] = luck == 9;
    job->faults.lost_gpu_ns = luck == 9 ? job->row.lost_gpu_ns : 0;
    job->row.faults = &job->faults;
}

/* At most a second until the scheduler examined it; then a third of the rest until its turn. */
static void split_wait(struct fake_job *job)
{
    static const enum reason rest[] = {REASON_RESOURCES, REASON_FRAGMENTATION};
    const time_ns wait = job->row.wait_total;
    const time_ns first = wait < TIME_NS_PER_S ? wait : TIME_NS_PER_S;
    if (wait == 0)
        return;
    wait_times_add(&job->waits, REASON_SCHEDULING, first);
    wait_times_add(&job->waits, REASON_PRIORITY, (wait - first) / 3);
    wait_times_add(&job->waits, rest[job->row.id % 2], wait - first - (wait - first) / 3);
    job->row.waits = &job->waits;
}

static void feed_job(struct fake_state *state, const struct job_row *row)
{
    if (row->start != TIME_NEVER && state->sink->on_attempt != NULL) {
        char placement[48];
        snprintf(placement, sizeof placement, "n[%u-%u]:0-7", row->id % 400, row->id % 400 + row->members - 1);
        struct attempt_row attempt = {.id = row->id,
                                      .start = row->start,
                                      .end = row->start + row->run,
                                      .gpu_milli = row->gpu_milli,
                                      .placement = placement,
                                      .why = row->state == END_RUNNING ? ATTEMPT_UNFINISHED
                                             : row->resizes > 0        ? ATTEMPT_RESIZED
                                                                       : ATTEMPT_ENDED,
                                      .saved = row->resizes > 0 ? -row->work : row->work,
                                      .lost = row->run - row->work,
                                      .is_partial = row->id % 97 == 0};
        assert_false(error_is(state->sink->on_attempt(state->sink->self, &attempt)));
    }
    if (state->sink->on_job != NULL)
        assert_false(error_is(state->sink->on_job(state->sink->self, row)));
}

/* ---- the timeline: a sweep over all events, in order ---- */

struct change {
    time_ns at;
    int kind; /* 0 eligible, 1 start, 2 end, 3 sample */
    const struct job_row *row;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static size_t collect(const struct fake_state *state, struct change *changes, time_ns step)
{
    size_t count = 0;
    for (uint32_t i = 0; i < state->run->jobs; i++) {
        const struct job_row *row = &state->jobs[i].row;
        if (row->state == END_REJECTED)
            continue;
        if (row->eligible <= state->end)
            changes[count++] = (struct change){row->eligible, 0, row};
        if (row->start != TIME_NEVER)
            changes[count++] = (struct change){row->start, 1, row};
        if (row->start != TIME_NEVER && row->end != TIME_NEVER)
            changes[count++] = (struct change){row->end, 2, row};
    }
    for (time_ns at = 0; at < state->end; at += step)
        changes[count++] = (struct change){at, 3, NULL};
    changes[count++] = (struct change){state->end, 3, NULL};
    qsort(changes, count, sizeof *changes, compare_changes);
    return count;
}

static void integrate(struct timeline_row *now, time_ns to)
{
    double s = time_to_seconds(to - now->time);
    now->allocated_gpu_s += (double)now->allocated_gpu_milli / 1e3 * s;
    now->active_gpu_s += (double)now->active_gpu_milli / 1e3 * s;
    now->idle_held_gpu_s += (double)now->idle_held_gpu_milli / 1e3 * s;
    now->reserved_gpu_s += (double)now->reserved_gpu_milli / 1e3 * s;
    now->pending_job_s += now->pending_jobs * s;
    now->running_job_s += now->running_jobs * s;
    now->time = to;
}

static void apply(struct timeline_row *now, const struct change *change)
{
    const struct job_row *row = change->row;
    int64_t active = row->gpu_milli * row->sm_active_milli / 1000;
    switch (change->kind) {
    case 0:
        now->submitted++;
        now->pending_jobs++;
        now->pending_gpu_milli += row->gpu_milli;
        break;
    case 1:
        now->started++;
        now->pending_jobs--;
        now->pending_gpu_milli -= row->gpu_milli;
        now->running_jobs++;
        now->allocated_gpu_milli += row->gpu_milli;
        now->active_gpu_milli += active;
        now->idle_held_gpu_milli += active / 2;
        break;
    default:
        now->ended++;
        now->running_jobs--;
        now->allocated_gpu_milli -= row->gpu_milli;
        now->active_gpu_milli -= active;
        now->idle_held_gpu_milli -= active / 2;
    }
}

/* Fragmentation of a part of the free space, which is not always known. */
static struct space_row space_at(const struct timeline_row *now)
{
    struct space_row row = {.is_known = now->ended % 3 != 1};
    if (!row.is_known)
        return row;
    row.idle_gpu_milli = (int64_t)now->ended * 1001;
    row.stranded_gpu_milli = now->pending_gpu_milli / 3;
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        row.fragmented_gpus[c] = now->running_jobs / (c + 3.0);
    for (int s = 0; s < RECORD_GANG_SIZE_COUNT; s++)
        row.gang_gpus[s] = (int64_t)now->started << s;
    row.mig_slices_unplaceable = now->pending_jobs;
    return row;
}

/* All that is allocated is useful, half of what is free was asked for, and kernels are there for a quarter longer than
 * the SMs are busy. */
static void spend(const struct fake_state *state, struct timeline_row *now)
{
    const gpu_time_ns all = (gpu_time_ns)state->run->gpus * now->time;
    const gpu_time_ns useful = (gpu_time_ns)(now->allocated_gpu_s * 1e9), rest = all > useful ? all - useful : 0;
    const gpu_time_ns reserved = (gpu_time_ns)(now->reserved_gpu_s * 1e9);
    now->spent[SPENT_USEFUL] = all - rest;
    now->spent[SPENT_RESERVED] = reserved < rest ? reserved : rest;
    now->spent[SPENT_IDLE] = rest - now->spent[SPENT_RESERVED];
    now->use_us[USE_WAITED] = (int64_t)(now->spent[SPENT_IDLE] / 2000);
    now->use_us[USE_HOST] = (int64_t)(0.2 * (now->allocated_gpu_s - now->active_gpu_s) * 1e6);
    now->use_us[USE_KERNEL] = (int64_t)(1.25 * now->active_gpu_s * 1e6);
}

static void feed_timeline(struct fake_state *state)
{
    time_ns step = 3600 * TIME_NS_PER_S;
    size_t most = (size_t)state->run->jobs * 3 + (size_t)(state->end / step) + 2;
    struct change *changes = mem_zalloc(most, sizeof *changes);
    size_t count = collect(state, changes, step);
    struct timeline_row now = {0};
    for (size_t i = 0; i < count; i++) {
        integrate(&now, changes[i].at);
        if (changes[i].kind == 3) {
            now.reserved_gpu_milli = now.pending_gpu_milli > 8000 ? 8000 : 0;
            now.space = space_at(&now);
            spend(state, &now);
            assert_false(error_is(state->sink->on_sample(state->sink->self, &now)));
        } else {
            apply(&now, &changes[i]);
        }
    }
    mem_free(changes);
}

/* An offered load of two GPU models: jobs ask a fifth of the GPU time of the first, the rest of the second. */
static struct offered_load offered_by(const struct fake_state *state)
{
    const struct fake_run *run = state->run;
    struct offered_load load = {.kind = OFFERED_STREAM, .jobs = run->jobs, .run_mean_s = 1.0 / 3, .part_count = 2};
    double asked_gpu_s = 0;
    time_ns last = 0;
    for (uint32_t i = 0; i < run->jobs; i++) {
        const struct job_row *row = &state->jobs[i].row;
        asked_gpu_s += (double)row->gpu_milli / GPU_MILLI * time_to_seconds(row->work_asked);
        last = row->submit > last ? row->submit : last;
    }
    load.last_s = time_to_seconds(last);
    load.all = (struct offered_part){JOB_MODEL_ANY, run->gpus, asked_gpu_s, run->gpus * load.last_s};
    for (uint8_t m = 0; m < 2; m++)
        load.parts[m] =
            (struct offered_part){m, run->gpus / 2, asked_gpu_s * (m == 0 ? 0.2 : 0.8), run->gpus / 2 * load.last_s};
    load.ratio = offered_part_ratio(&load, &load.all);
    return load;
}

void fake_run_feed(const struct fake_run *run, const struct record_sink *sink)
{
    struct fake_state state = {.run = run, .sink = sink, .random = run->seed};
    state.jobs = mem_zalloc(run->jobs, sizeof *state.jobs);
    state.ends = mem_zalloc(run->jobs, sizeof *state.ends);
    state.ends_gpu_milli = mem_zalloc(run->jobs, sizeof *state.ends_gpu_milli);
    double gpu_s = make_jobs(&state);
    make_arrivals(&state, run->span_s > 0 ? run->span_s : gpu_s / (run->gpus * run->load));
    simulate(&state);
    for (uint32_t i = 0; i < run->jobs; i++) {
        cut_off(&state, &state.jobs[i].row);
        split_wait(&state.jobs[i]);
        if (run->communicates) {
            communicate(&state.jobs[i].row);
            linger(&state.jobs[i].row);
            strike(&state.jobs[i]);
        }
        feed_job(&state, &state.jobs[i].row);
    }
    if (sink->on_sample != NULL)
        feed_timeline(&state);
    struct run_facts facts = {.end = state.end,
                              .warmup = time_from_seconds(run->warmup_s),
                              .gpu_count = run->gpus,
                              .model_names = fake_run_models,
                              .queues = run->tree,
                              .queue_count = run->tree_count,
                              .price_usd_per_gpu_h = run->price_usd_per_gpu_h,
                              .events = 3 * (uint64_t)run->jobs,
                              .cycles = 2 * (uint64_t)run->jobs,
                              .decisions = run->jobs,
                              .offered = offered_by(&state)};
    if (sink->on_finished != NULL)
        assert_false(error_is(sink->on_finished(sink->self, &facts)));
    mem_free(state.jobs);
    mem_free(state.ends);
    mem_free(state.ends_gpu_milli);
}
