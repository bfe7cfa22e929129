#include "tests/support/random_run.h"
#include "sim/plugins/guard.h"
#include "tests/support/test.h"

#include "base/hash.h"
#include "policies/policy_config.h"
#include "policies/preemption/preemption.h"
#include "tests/support/json_text.h"

void random_run_fail(const struct random_run *run, const char *what, job_id job)
{
    const struct world_config *world = &run->world;
    print_error("seed %llu, job %u: %s\npolicy %s\nperiod %lld latency %lld queue limit %lld end "
                "%lld warmup %lld ns\n",
                (unsigned long long)run->seed, job, what, run->policy.text, (long long)world->scheduler_period,
                (long long)world->decision_latency, (long long)world->queue_limit, (long long)world->end,
                (long long)world->warmup);
    fail();
}

/* ---- Rows -------------------------------------------------------------------------------------- */

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct random_run *run = self;
    struct random_totals *totals = &run->totals[row->id];
    if (run->row_count[row->id] != 0 || row->attempt != totals->count || row->start < totals->last_end ||
        row->end < row->start)
        random_run_fail(run, "attempts are out of order", row->id);
    time_ns did = row->saved + row->lost; /* work that a resize left unsaved may be lost later */
    if (row->lost < 0 || did < 0 || did > row->end - row->start || (row->is_partial && did != 0))
        random_run_fail(run, "an attempt saved or lost more than it ran", row->id);
    const struct checkpoint_plan *plan = &run->jobs[row->id].job.checkpoint;
    if (row->why == ATTEMPT_EVICTED && row->lost != 0 && plan->interval + plan->duration > 0 &&
        plan->duration <= run->policy.config.preempt.grace && run->policy.config.preempt.grace > 0 &&
        !run->policy.config.preemption->is_kill)
        random_run_fail(run, "a job lost work although it could save it", row->id);
    totals->count++;
    totals->evicted += row->why == ATTEMPT_EVICTED;
    totals->resized += row->why == ATTEMPT_RESIZED;
    totals->lost_milli_ns += (__int128)row->lost * row->gpu_milli;
    totals->lost += row->lost;
    totals->saved += row->saved;
    totals->last_end = row->end;
    double gpu_s = time_to_seconds(row->end - row->start) * (double)row->gpu_milli / GPU_MILLI;
    if (row->is_partial) {
        run->partial_gpu_s += gpu_s;
    } else {
        totals->run += row->end - row->start;
        totals->held_milli_ns += (__int128)(row->end - row->start) * row->gpu_milli;
        run->allocated_gpu_s += gpu_s;
    }
    run->hash = hash_mix(run->hash, hash_bytes(row->placement, strlen(row->placement), (uint64_t)row->start));
    return ERROR_OK;
}

static void check_times(const struct random_run *run, const struct job_row *row)
{
    bool has_started = row->start != TIME_NEVER, has_ended = row->end != TIME_NEVER;
    if (row->wait < 0 || row->wait_total < row->wait || row->run < 0 || row->work < 0 || row->work > row->work_asked)
        random_run_fail(run, "a job's times are impossible", row->id);
    if (has_started && (row->start < row->submit || row->wait != row->start - row->eligible))
        random_run_fail(run, "a job's wait is not the time to its start", row->id);
    if (has_ended && row->state != END_REJECTED && row->end - row->submit != row->wait_total + row->run)
        random_run_fail(run, "waits and attempts do not fill a job's life", row->id);
    if ((row->state == END_COMPLETED || row->state == END_FAILED || row->state == END_CANCELLED) !=
        (has_ended && row->work == row->work_asked && row->state != END_REJECTED))
        random_run_fail(run, "a job's end does not agree with its work", row->id);
}

/* Do its members take the same share of every GPU model? */
static bool is_exact(const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job_group(job, g)->request.gpu_memory_mib != 0)
            return false;
    return true;
}

static bool is_rigid(const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job_group(job, g)->min_count < job_group(job, g)->count)
            return false;
    return true;
}

/* Waiting times by reason add up to the total wait, to the nanosecond. */
static void check_waits(const struct random_run *run, const struct job_row *row)
{
    time_ns waited = row->state == END_REJECTED ? row->end - row->submit : row->wait_total;
    time_ns sum = row->waits != NULL ? wait_times_sum(row->waits) : 0;
    if (sum != waited || (row->waits != NULL && row->waits->mask == 0))
        random_run_fail(run, "what a job waited for does not add up to its waits", row->id);
    for (uint32_t left = row->waits != NULL ? row->waits->mask : 0; left != 0; left &= left - 1)
        if (row->waits->of[__builtin_ctz(left)] <= 0)
            random_run_fail(run, "a job waited for less than no time", row->id);
}

/* GPU time lost by cause adds up, and that of pulls is what the job held until it was ready. */
static void check_lost(const struct random_run *run, const struct job_row *row)
{
    int64_t overhead = 0, all = 0;
    for (int cause = 0; cause < LOST_CAUSE_COUNT && row->lost != NULL; cause++) {
        overhead += cause < LOST_WORK_PREEMPTED ? row->lost->gpu_ns[cause] : 0;
        all += row->lost->gpu_ns[cause];
    }
    if (row->lost != NULL && (overhead != row->overhead_gpu_ns || all != row->lost_gpu_ns))
        random_run_fail(run, "a job's lost time by cause does not add up", row->id);
    if (row->pulls == NULL || row->evictions > 0 || row->resizes > 0 || !is_rigid(&run->jobs[row->id].job) ||
        row->pulls->ready == TIME_NEVER)
        return;
    const int64_t held = (int64_t)((__int128)(row->pulls->ready - row->start) * row->gpu_milli / GPU_MILLI) -
                         row->lost->gpu_ns[LOST_PULL];
    if (held < 0 || held > 1)
        random_run_fail(run, "the GPU time of a job's pulls is not what it held until it was ready", row->id);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct random_run *run = self;
    const struct random_totals *totals = &run->totals[row->id];
    if (run->row_count[row->id]++ != 0)
        random_run_fail(run, "a job has two rows", row->id);
    check_times(run, row);
    check_waits(run, row);
    check_lost(run, row);
    if (totals->run != row->run || totals->evicted != row->evictions || totals->saved != row->work)
        random_run_fail(run, "a job's attempts do not add up to its row", row->id);
    int64_t lost = row->lost_gpu_ns - row->overhead_gpu_ns;
    /* work counts for all members, even if fewer did it */
    bool is_even = is_exact(&run->jobs[row->id].job);
    int64_t from_attempts =
        (int64_t)(is_even ? (__int128)totals->lost * row->gpu_milli / GPU_MILLI : totals->lost_milli_ns / GPU_MILLI);
    is_even |= is_rigid(&run->jobs[row->id].job);
    int64_t rounding = 64 + row->evictions * (1 + row->gpu_milli / GPU_MILLI);
    if (row->overhead_gpu_ns < 0 || (is_even && llabs(lost - from_attempts) > rounding))
        random_run_fail(run, "a job's lost time is not that of its attempts", row->id);
    if (row->preempted_gpu_ns < 0 || row->preempted_gpu_ns > row->lost_gpu_ns)
        random_run_fail(run, "preemptions lost more than was lost", row->id);
    if (row->resizes != totals->resized || row->held_milli_ns != totals->held_milli_ns)
        random_run_fail(run, "a job's GPU time is not that of its attempts", row->id);
    /* What it held may differ by attempt. */
    if (row->overhead_gpu_ns > (int64_t)(totals->held_milli_ns / GPU_MILLI) + 64 * GPU_MILLI)
        random_run_fail(run, "a job's overhead exceeds its run time", row->id);
    if (row->state != END_REJECTED)
        run->waited_s += time_to_seconds(row->wait_total);
    run->told += row->idle != NULL ? row->idle->notified : 0;
    run->idled += row->idle != NULL ? row->idle->evicted : 0;
    run->rows[row->id] = *row;
    run->hash = hash_mix(hash_mix(run->hash, row->id), (uint64_t)row->end ^ (uint64_t)row->state << 56);
    return ERROR_OK;
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct random_run *run = self;
    const struct timeline_row *last = &run->sample;
    int64_t gpus = (int64_t)run->cluster->gpu_count * GPU_MILLI;
    if (row->time < last->time || row->allocated_gpu_s < last->allocated_gpu_s || row->submitted < last->submitted)
        random_run_fail(run, "the timeline goes back", JOB_NONE);
    if (row->allocated_gpu_milli < 0 || row->allocated_gpu_milli > gpus || row->reserved_gpu_milli < 0)
        random_run_fail(run, "more is allocated than there is", JOB_NONE);
    if (row->submitted != row->ended + row->rejected + row->pending_jobs + row->running_jobs)
        random_run_fail(run, "the timeline loses a job", JOB_NONE);
    run->sample = *row;
    return ERROR_OK;
}

/* ---- Worlds ------------------------------------------------------------------------------------ */

static time_ns some_duration(struct random_stream *stream)
{
    static const uint32_t most_s[] = {1, 300, 600, 1200, 3600, 40 * 86400};
    uint32_t kind = random_below(stream, 24);
    if (kind == 0)
        return 0;
    time_ns seconds = random_below(stream, most_s[kind % 6] + 1);
    return seconds * TIME_NS_PER_S + (random_case_once_in(stream, 3) ? random_below(stream, TIME_NS_PER_S) : 0);
}

/* Some jobs depend on one or two earlier jobs, some are elements of an array. */
static void plan_ties(struct random_stream *stream, struct random_job *planned, job_id id)
{
    uint16_t count = id == 0 || !random_case_once_in(stream, 8) ? 0 : 1;
    count = (uint16_t)(count + (count == 1 && random_case_once_in(stream, 2)));
    for (uint16_t i = 0; i < count; i++)
        planned->after[i] =
            (struct job_after){.job = random_below(stream, id),
                               .kind = (uint8_t)(random_case_once_in(stream, 2) ? AFTER_ANY : random_below(stream, 3))};
    planned->job.after = count > 0 ? planned->after : NULL;
    planned->job.after_count = count;
    if (random_case_once_in(stream, 8)) {
        planned->job.array = 1 + random_below(stream, RANDOM_RUN_ARRAYS);
        planned->job.array_max = RANDOM_RUN_ARRAY_MAX;
    }
}

static void plan_jobs(struct random_stream *stream, struct random_run *run, struct random_case_job_options *options,
                      uint32_t queue_count)
{
    uint32_t gap_s = random_case_once_in(stream, 2) ? 20 : 100;
    time_ns now = 0;
    run->job_count = 1 + random_below(stream, RANDOM_RUN_JOBS_MAX);
    for (uint32_t i = 0; i < run->job_count; i++) {
        struct random_job *planned = &run->jobs[i];
        planned->job = random_case_job(stream, run->cluster, queue_count, options);
        memcpy(planned->more, options->more, sizeof planned->more);
        if (planned->job.more != NULL)
            planned->job.more = planned->more;
        if (random_case_once_in(stream, 3)) /* else it belongs to a burst */
            now += (time_ns)random_below(stream, gap_s) * TIME_NS_PER_S + random_below(stream, 3);
        planned->job.submit = now;
        planned->job.trace_id = i;
        plan_ties(stream, planned, i);
        planned->truth = (struct job_truth){.duration = some_duration(stream),
                                            .outcome = (uint8_t)random_below(stream, OUTCOME_COUNT),
                                            .sm_active_milli = (uint16_t)random_below(stream, 1001),
                                            .would_do_milli = GPU_MILLI};
    }
}

static struct error next_planned(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct random_run *run = self;
    *has = run->next < run->job_count;
    if (*has) {
        *job = run->jobs[run->next].job;
        *truth = run->jobs[run->next++].truth;
    }
    return ERROR_OK;
}

static struct world_config some_world(struct random_stream *stream)
{
    static const int64_t periods[] = {0, 0, 1, 7, 60}, latencies[] = {0, 0, 0, 3, 200};
    struct world_config world = world_config_default();
    world.scheduler_period = periods[random_below(stream, 5)] * TIME_NS_PER_S;
    world.decision_latency = latencies[random_below(stream, 5)] * TIME_NS_PER_S;
    world.kills_at_limit = random_case_once_in(stream, 2);
    if (random_case_once_in(stream, 4))
        world.queue_limit = random_below(stream, 20);
    if (random_case_once_in(stream, 4))
        world.end = (time_ns)(1 + random_below(stream, 4000)) * TIME_NS_PER_S;
    if (random_case_once_in(stream, 2))
        world.warmup = (time_ns)random_below(stream, 1000) * TIME_NS_PER_S;
    if (world.warmup >= world.end)
        world.warmup = 0;
    world.sample_interval = (time_ns)(1 + random_below(stream, 3600)) * TIME_NS_PER_S * 24;
    return world;
}

static void open_storage(struct random_run *run)
{
    run->jobs = calloc(RANDOM_RUN_JOBS_MAX, sizeof *run->jobs);
    run->rows = calloc(RANDOM_RUN_JOBS_MAX, sizeof *run->rows);
    run->row_count = calloc(RANDOM_RUN_JOBS_MAX, 1);
    run->totals = calloc(RANDOM_RUN_JOBS_MAX, sizeof *run->totals);
    assert_true(run->jobs != NULL && run->rows != NULL && run->row_count != NULL && run->totals != NULL);
}

/* Some policies refuse quotas larger than the cluster. */
static void fit_quotas(const struct random_run *run, struct queue_table *queues)
{
    struct error error;
    struct sched *sched;
    while ((sched = sched_new(run->cluster, queues, &run->policy.config, &error)) == NULL) {
        error_release(&error);
        for (queue_id q = 1; q < queues->count; q++) {
            int64_t *deserved = &queues->queues[q].deserved[RESOURCE_GPU];
            *deserved = *deserved == QUOTA_UNLIMITED ? GPU_MILLI : *deserved / 2;
        }
    }
    sched_free(sched);
}

void random_run_open(struct random_run *run, uint64_t seed, uint32_t choice)
{
    struct random_stream stream;
    struct random_case_job_options options = {.max_groups = RANDOM_CASE_GROUPS_MAX, .has_close = seed % 2 == 0};
    *run = (struct random_run){.seed = seed};
    random_stream_init(&stream, seed, "presets", choice);
    run->cluster = random_case_cluster(&stream);
    run->source = job_source_custom(next_planned, run);
    struct queue_table *queues = job_source_queues(run->source);
    random_case_queues(&stream, queues, run->cluster, random_case_once_in(&stream, 2));
    random_case_policy(&stream, choice, &run->policy);
    fit_quotas(run, queues);
    run->world = some_world(&stream);
    open_storage(run);
    plan_jobs(&stream, run, &options, queues->count);
}

void random_run_close(struct random_run *run)
{
    job_source_close(run->source);
    cluster_free(run->cluster);
    free(run->jobs);
    free(run->rows);
    free(run->row_count);
    free(run->totals);
}

struct engine_result random_run_engine(struct random_run *run)
{
    struct engine_result result;
    struct record_sink sink = {.self = run, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample};
    struct engine_config config = {.watch = &guard_watch,
                                   .cluster = run->cluster,
                                   .source = run->source,
                                   .policy = &run->policy.config,
                                   .world = run->world,
                                   .listener = run->listener,
                                   .seed = run->seed,
                                   .sinks = &sink,
                                   .sink_count = 1,
                                   .is_checked = true};
    struct error error = engine_run(&config, &result);
    if (!error_is(error))
        error = result.stall;
    if (error_is(error))
        random_run_fail(run, error_message(&error), JOB_NONE);
    return result;
}

void random_run_plain(struct random_run *run, uint32_t nodes, const char *preset_text, uint32_t jobs)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "policy", preset_text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    *run = (struct random_run){.world = world_config_default(), .job_count = jobs};
    policy_config_read(&run->policy.config, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    run->cluster = cluster_uniform_new(nodes, 4);
    run->source = job_source_custom(next_planned, run);
    open_storage(run);
    for (uint32_t i = 0; i < jobs; i++) {
        run->jobs[i].job = job_default();
        run->jobs[i].job.first = (struct job_group){.request = {.gpus = 4}, .count = 1, .min_count = 1};
        run->jobs[i].truth = (struct job_truth){.duration = 1000 * TIME_NS_PER_S, .would_do_milli = GPU_MILLI};
    }
}
