/* policies/sched.h driven by a random world: every kind of fact in any order, refusals, nodes that come and go, late
 * confirmations, facts that do not suit the job's state.  tests/support/sched_mirror.h keeps the books and checks
 * every decision.  In the end everything is over and the scheduler's state is that of a new one. */
#include <signal.h>

#include "tests/support/test.h"

#include "tests/support/interval.h"
#include "tests/support/sched_mirror.h"

enum { STEPS = 700, DRAIN_ROUNDS = 4000 };

/* Time alone: before wake_at, and without facts, a cycle has nothing to do. */
static void wait_quietly(struct mirror *mirror)
{
    time_ns until = mirror->now + (time_ns)random_below(&mirror->stream, 400) * TIME_NS_PER_S;
    mirror_cycle(mirror);
    if (mirror->wake_at <= mirror->now + 1)
        return;
    mirror->now = until < mirror->wake_at ? until : mirror->wake_at - 1;
    if (mirror_cycle(mirror) != 0)
        mirror_fail(mirror, "it had something to do before it wanted to be woken", JOB_NONE);
}

/* ---- Facts ------------------------------------------------------------------------------------- */

static void submit(struct mirror *mirror, struct random_case_job_options *options)
{
    if (mirror->job_count == MIRROR_JOBS_MAX)
        return;
    job_id id = mirror->job_count++;
    struct mirror_job *entry = &mirror->jobs[id];
    entry->job = random_case_job(&mirror->stream, mirror->cluster, mirror->queues->count, options);
    memcpy(entry->more, options->more, sizeof entry->more);
    if (entry->job.more != NULL)
        entry->job.more = entry->more;
    entry->job.id = id;
    entry->job.submit = mirror->now;
    entry->job.is_held = random_case_once_in(&mirror->stream, 10);
    entry->state = entry->job.is_held ? HELD : WAITING;
    sched_job_submitted(mirror->sched, &entry->job, mirror->now);
}

static void fact_ended(struct mirror *mirror, job_id id)
{
    bool will_retry = random_case_once_in(&mirror->stream, 8);
    sched_job_ended(mirror->sched, id, JOB_END_COMPLETED, will_retry, mirror->now);
    mirror_leave(&mirror->jobs[id], will_retry ? WAITING : OVER);
}

static void fact_evicted(struct mirror *mirror, job_id id)
{
    sched_job_evicted(mirror->sched, id, MEMBERS_ALL,
                      random_case_once_in(&mirror->stream, 2) ? EVICT_SAVED : EVICT_LOST, mirror->now);
    mirror->jobs[id].evictions++;
    mirror_leave(&mirror->jobs[id], WAITING);
}

static void fact_refused(struct mirror *mirror, job_id id)
{
    struct mirror_job *entry = &mirror->jobs[id];
    sched_decision_refused(mirror->sched, entry->decision, REFUSED_STALE, mirror->now);
    if (entry->state == STARTING)
        mirror_leave(entry, WAITING);
    else
        entry->state = RUNNING;
    sched_decision_refused(mirror->sched, entry->decision, REFUSED_STALE, mirror->now); /* told twice: nothing */
}

static void fact_cancelled(struct mirror *mirror, job_id id)
{
    sched_job_cancelled(mirror->sched, id, mirror->now);
    if (1 << mirror->jobs[id].state & (1 << HELD | 1 << WAITING | 1 << RESERVED))
        mirror_leave(&mirror->jobs[id], OVER);
}

/* Jobs end, evictions and starts are refused with a chance of one in this number. */
static uint32_t calm_of(const struct mirror *mirror)
{
    return 1 + (uint32_t)(mirror->seed % 12);
}

/* One fact that suits the job's state, or one that does not and must change nothing. */
static void about_job(struct mirror *mirror, job_id id)
{
    struct mirror_job *entry = &mirror->jobs[id];
    switch (random_below(&mirror->stream, 8)) {
    case 0:
        if (random_case_once_in(&mirror->stream, 4))
            fact_cancelled(mirror, id);
        break;
    case 1:
        sched_job_released(mirror->sched, id, mirror->now);
        if (entry->state == HELD)
            mirror_leave(entry, WAITING);
        break;
    case 2:
        if ((entry->state == STARTING || entry->state == LEAVING) &&
            random_case_once_in(&mirror->stream, calm_of(mirror)))
            fact_refused(mirror, id);
        else if (entry->state != STARTING && entry->state != LEAVING) /* an old decision: nothing */
            sched_decision_refused(mirror->sched, entry->decision, REFUSED_BUSY, mirror->now);
        break;
    case 3:
        if ((entry->state == RUNNING || entry->state == LEAVING) &&
            random_case_once_in(&mirror->stream, calm_of(mirror)))
            fact_ended(mirror, id);
        else if (!(PHYSICAL >> entry->state & 1)) /* not known there: nothing */
            sched_job_ended(mirror->sched, id, JOB_END_FAILED, false, mirror->now);
        break;
    case 4:
        if (entry->state == LEAVING)
            fact_evicted(mirror, id);
        else if (entry->state != STARTING && entry->state != RUNNING)
            sched_job_evicted(mirror->sched, id, MEMBERS_ALL, EVICT_LOST, mirror->now);
        break;
    default:
        sched_job_started(mirror->sched, id, mirror->jobs[id].decision, mirror->now);
        if (entry->state == STARTING)
            entry->state = RUNNING;
    }
}

static bool stands_on(const struct mirror_job *entry, node_id node)
{
    for (uint32_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].node == node)
            return true;
    return false;
}

static void change_node(struct mirror *mirror, node_id node, enum node_state state)
{
    sched_node_changed(mirror->sched, node, state, mirror->now);
    mirror->node_state[node] = (uint8_t)state;
    for (job_id id = 0; id < mirror->job_count && (state == NODE_DOWN || state == NODE_ABSENT); id++) {
        if (!(PHYSICAL >> mirror->jobs[id].state & 1) || !stands_on(&mirror->jobs[id], node))
            continue;
        mirror_check(mirror);
        if (random_case_once_in(&mirror->stream, 2))
            fact_evicted(mirror, id);
        else
            fact_ended(mirror, id);
    }
}

static void change_queues(struct mirror *mirror)
{
    if (random_case_once_in(&mirror->stream, 2) && mirror->queues->count < 40)
        random_case_queues(&mirror->stream, mirror->queues, mirror->cluster, false);
    random_case_limits(&mirror->stream, mirror->queues, mirror->cluster);
    sched_queues_changed(mirror->sched, mirror->queues, mirror->now);
}

static void confirm_starts(struct mirror *mirror)
{
    for (job_id id = 0; id < mirror->job_count; id++)
        if (mirror->jobs[id].state == STARTING) {
            sched_job_started(mirror->sched, id, mirror->jobs[id].decision, mirror->now);
            mirror->jobs[id].state = RUNNING;
        }
}

static void step(struct mirror *mirror, struct random_case_job_options *options)
{
    uint32_t what = random_below(&mirror->stream, 42);
    if (what < 8)
        submit(mirror, options);
    else if (what < 28 && mirror->job_count > 0)
        about_job(mirror, random_below(&mirror->stream, mirror->job_count));
    else if (what == 28)
        change_node(mirror, random_below(&mirror->stream, mirror->cluster->node_count),
                    (enum node_state)random_below(&mirror->stream, NODE_ABSENT + 1));
    else if (what == 29)
        change_node(mirror, random_below(&mirror->stream, mirror->cluster->node_count), NODE_UP);
    else if (what == 30 && random_case_once_in(&mirror->stream, 4))
        change_queues(mirror);
    else if (what < 32)
        confirm_starts(mirror);
    else if (what < 34)
        mirror->now += (time_ns)random_below(&mirror->stream, 120) * TIME_NS_PER_S;
    else if (what < 36)
        wait_quietly(mirror);
    else
        mirror_cycle(mirror);
    mirror_check(mirror);
}

/* ---- A whole life ------------------------------------------------------------------------------ */

/* Confirm what was decided, end what runs; true if anything was there to do. */
static bool settle(struct mirror *mirror)
{
    bool moved = false;
    for (job_id id = 0; id < mirror->job_count; id++) {
        struct mirror_job *entry = &mirror->jobs[id];
        moved |= (1 << entry->state & (1 << STARTING | 1 << RUNNING | 1 << LEAVING)) != 0;
        if (entry->state == LEAVING)
            fact_evicted(mirror, id);
        else if (entry->state == RUNNING)
            fact_ended(mirror, id);
        else if (entry->state == STARTING)
            entry->state = RUNNING, sched_job_started(mirror->sched, id, mirror->jobs[id].decision, mirror->now);
        mirror_check(mirror);
    }
    return moved;
}

/* All nodes come back, all jobs may run: every job that can run does; facts alone wake the scheduler. */
static void drain(struct mirror *mirror)
{
    bool moved = true;
    for (node_id n = 0; n < mirror->cluster->node_count; n++)
        change_node(mirror, n, NODE_UP);
    for (job_id id = 0; id < mirror->job_count; id++)
        if (mirror->jobs[id].state == HELD) {
            sched_job_released(mirror->sched, id, mirror->now);
            mirror->jobs[id].state = WAITING;
        }
    for (uint32_t round = 0; moved; round++) {
        if (round == DRAIN_ROUNDS)
            mirror_fail(mirror, "it never comes to an end", JOB_NONE);
        mirror->now += TIME_NS_PER_S;
        mirror_cycle(mirror);
        moved = settle(mirror);
    }
    for (job_id id = 0; id < mirror->job_count; id++) {
        if (mirror->jobs[id].state == RESERVED)
            mirror_fail(mirror, "a reservation that never starts", id);
        if (mirror->jobs[id].state == WAITING)
            fact_cancelled(mirror, id); /* cycles proved that it cannot go: see check_nothing_fits */
    }
    mirror_check(mirror);
}

static volatile uint64_t present_seed;
static uint64_t cycles; /* in all worlds */

/* An assertion inside the scheduler: say which seed, then die of it. */
static void on_abort(int number)
{
    print_error("seed %llu: aborted\n", (unsigned long long)present_seed);
    signal(number, SIG_DFL);
}

static uint64_t live(uint64_t seed)
{
    struct mirror mirror;
    struct random_case_job_options options = {
        .max_groups = RANDOM_CASE_GROUPS_MAX, .is_rigid = true, .has_close = seed % 2 == 0};
    struct error error;
    present_seed = seed;
    mirror_open(&mirror, seed);
    for (int i = 0; i < STEPS; i++)
        step(&mirror, &options);
    drain(&mirror);
    struct sched *empty = sched_new(mirror.cluster, mirror.queues, &mirror.policy.config, &error);
    assert_non_null(empty);
    if (sched_hash(mirror.sched) != sched_hash(empty))
        mirror_fail(&mirror, "everything is over and something is left in the ledger", JOB_NONE);
    sched_free(empty);
    uint64_t hash = mirror.hash;
    cycles += mirror.cycle;
    mirror_close(&mirror);
    return hash;
}

TEST(test_random_worlds)
{
    signal(SIGABRT, on_abort);
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1, count = only != NULL     ? 1
                                                                          : test_is_full() ? 4000
                                                                                           : 120;
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t hash = live(seed);
        if (seed % 8 == 0 && live(seed) != hash) {
            print_error("seed %llu: the same facts gave other decisions\n", (unsigned long long)seed);
            fail();
        }
    }
    print_message("%llu cycles\n", (unsigned long long)cycles);
}
