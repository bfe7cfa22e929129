/* What jobs are believed to run under `history` against a naive recomputation: the list of all runs there ever were is
 * read from its end for each job that comes.  Jobs start, save, are evicted, fail and are tried again, and end at
 * random; the scheduler is saved and loaded on the way. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/backfill/backfills.h"
#include "policies/booking/planned_end.h"
#include "policies/estimate/estimates.h"
#include "policies/policy_config.h"
#include "policies/state/sched_state.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

enum { STEPS = 1500, USERS = 90, GPUS_MAX = 4, ALIVE_MAX = 12 };

struct known { /* of a job */
    struct job job;
    uint16_t gpus;
    time_ns believed; /* its length */
    time_ns since;    /* -1: it does not run */
    time_ns kept, saved_at;
    bool is_over;
};

struct past_run {
    uint32_t user;
    uint16_t gpus;
    time_ns ran;
};

struct model {
    struct random_stream stream;
    struct cluster *cluster;
    struct queue_table *queues;
    struct policy_config policy;
    struct sched *sched;
    time_ns now;
    uint32_t users;
    struct known jobs[STEPS];
    uint32_t job_count, alive;
    struct past_run ended[STEPS];
    uint32_t ended_count, learned, general;
};

/* The mean of the last two of this user (UINT32_MAX: any) and size (0: any). */
static time_ns mean_of(const struct model *m, uint32_t user, uint16_t gpus)
{
    time_ns last[2] = {0, 0};
    uint32_t count = 0;
    for (uint32_t e = m->ended_count; e-- > 0 && count < 2;)
        if ((user == UINT32_MAX || m->ended[e].user == user) && (gpus == 0 || m->ended[e].gpus == gpus))
            last[count++] = m->ended[e].ran;
    return count == 0 ? TIME_NEVER : count == 1 ? last[0] : (last[0] + last[1]) / 2;
}

static time_ns believed(struct model *m, const struct job *job, uint16_t gpus)
{
    time_ns length = TIME_NEVER;
    if (job->user != NAMES_NONE)
        length = mean_of(m, job->user, gpus);
    if (job->user != NAMES_NONE && length == TIME_NEVER)
        length = mean_of(m, job->user, 0);
    m->learned += length != TIME_NEVER;
    if (length == TIME_NEVER)
        length = job->estimate;
    if (length == TIME_NEVER && job->limit == TIME_NEVER) {
        length = mean_of(m, UINT32_MAX, gpus);
        if (length == TIME_NEVER)
            length = mean_of(m, UINT32_MAX, 0);
        m->general += length != TIME_NEVER;
    }
    return length < job->limit ? length : job->limit;
}

/* Even numbers of seconds, so that means are exact. */
static time_ns draw_time(struct model *m, uint32_t seconds)
{
    return SECONDS(2 * (1 + random_below(&m->stream, seconds)));
}

static void submit(struct model *m)
{
    const job_id id = m->job_count++;
    struct known *known = &m->jobs[id];
    *known = (struct known){.since = -1};
    known->gpus = (uint16_t)(1 + random_below(&m->stream, GPUS_MAX));
    known->job = sched_case_job(id, 1, known->gpus, 50);
    struct job *job = &known->job;
    uint32_t user = random_below(&m->stream, m->users + 1);
    job->user = user < m->users ? user : NAMES_NONE;
    if (random_below(&m->stream, 2) == 0)
        job->limit = draw_time(m, 100);
    if (random_below(&m->stream, 4) == 0)
        job->estimate = draw_time(m, 100);
    if (random_below(&m->stream, 3) == 0)
        job->checkpoint.interval = draw_time(m, 10);
    known->saved_at = -1;
    known->believed = believed(m, job, known->gpus);
    sched_job_submitted(m->sched, job, m->now);
    m->alive++;
}

/* It stops running.  is_saved: with all its work. */
static void stop(struct model *m, struct known *known, bool is_saved)
{
    const time_ns interval = known->job.checkpoint.interval;
    time_ns safe = known->since;
    if (is_saved)
        safe = m->now;
    else if (known->saved_at > known->since)
        safe = known->saved_at;
    else if (interval > 0)
        while (safe + interval <= m->now)
            safe += interval;
    known->kept += safe - known->since;
    known->since = -1;
}

static void finish(struct model *m, struct known *known)
{
    static const enum job_end ends[] = {JOB_END_COMPLETED, JOB_END_FAILED, JOB_END_CANCELLED, JOB_END_LIMIT};
    time_ns ran = known->kept + m->now - known->since;
    m->ended[m->ended_count++] = (struct past_run){known->job.user, known->gpus, ran > 0 ? ran : 1};
    known->is_over = true;
    known->since = -1;
    m->alive--;
    sched_job_ended(m->sched, known->job.id, ends[random_below(&m->stream, 4)], false, m->now);
}

/* Something happens to it. */
static void disturb(struct model *m, struct known *known)
{
    const uint32_t what = random_below(&m->stream, 8);
    const enum evict_end end = what == 0 ? EVICT_SAVED : EVICT_LOST;
    if (what <= 1) {
        stop(m, known, end == EVICT_SAVED);
        sched_job_evicted(m->sched, known->job.id, MEMBERS_ALL, end, m->now);
    } else if (what == 2) {
        stop(m, known, false);
        sched_job_ended(m->sched, known->job.id, JOB_END_FAILED, true, m->now);
    } else if (what == 3) {
        known->saved_at = m->now;
        sched_job_checkpointed(m->sched, known->job.id, m->now);
    } else {
        finish(m, known);
    }
}

static void cycle(struct model *m)
{
    const struct decision *decisions;
    time_ns wake_at;
    size_t count = sched_cycle(m->sched, m->now, &decisions, &wake_at);
    for (size_t d = 0; d < count; d++) {
        assert_int_equal(decisions[d].kind, DECISION_START);
        m->jobs[decisions[d].job].since = m->now;
        sched_job_started(m->sched, decisions[d].job, decisions[d].id, m->now);
    }
}

static void compare(const struct model *m, uint64_t seed, uint32_t step)
{
    for (uint32_t j = 0; j < m->job_count; j++) {
        if (m->jobs[j].is_over)
            continue;
        uint32_t slot = job_table_find(&m->sched->jobs, m->jobs[j].job.id);
        assert_true(slot != SLOT_NONE);
        time_ns length = planned_length(m->sched, slot);
        if (length != m->jobs[j].believed)
            fail_msg("seed %llu, step %u: job %u is believed to run %lld ns, not %lld", (unsigned long long)seed, step,
                     j, (long long)length, (long long)m->jobs[j].believed);
    }
}

static void play(uint64_t seed)
{
    static struct model m;
    m = (struct model){.now = SECONDS(10)};
    random_stream_init(&m.stream, seed, "run_times", 0);
    m.cluster = cluster_uniform_new(2, GPUS_MAX);
    m.queues = queue_table_new();
    m.users = 1 + random_below(&m.stream, USERS);
    m.policy = policy_config_default();
    m.policy.estimate = &estimate_history;
    m.policy.backfill = seed % 2 == 0 ? &backfill_easy : &backfill_conservative;
    m.policy.backfill_config = m.policy.backfill->defaults;
    struct error error;
    m.sched = sched_new(m.cluster, m.queues, &m.policy, &error);
    assert_false(error_is(error));
    for (uint32_t step = 0; step < STEPS; step++) {
        m.now += draw_time(&m, 20);
        if (m.alive < ALIVE_MAX)
            submit(&m);
        for (uint32_t j = 0; j < m.job_count; j++)
            if (m.jobs[j].since >= 0 && random_below(&m.stream, 4) == 0)
                disturb(&m, &m.jobs[j]);
        cycle(&m);
        compare(&m, seed, step);
    }
    assert_true(m.learned > 100 && m.general > 0);
    assert_lawful(sched_check(m.sched));
    sched_free(m.sched);
    cluster_free(m.cluster);
    queue_table_free(m.queues);
}

TEST(lengths_are_those_of_the_list_of_runs)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    const uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    const uint64_t count = only != NULL ? 1 : test_is_full() ? 100 : 6;
    for (uint64_t seed = first; seed < first + count; seed++)
        play(seed);
}
