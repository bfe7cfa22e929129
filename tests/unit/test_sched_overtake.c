/* policies/reservation/overtake.c, planned_start.c: backfill beside what else holds space back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/backfill/backfills.h"
#include "tests/support/sched_case.h"

static struct job limited(job_id id, uint16_t gpus, int32_t priority, int64_t limit_s)
{
    struct job job = sched_case_job(id, 1, gpus, priority);
    job.limit = SECONDS(limit_s);
    return job;
}

/* Of 5 free GPUs 2 are kept: of three short jobs behind a head that waits, of 1, 2 and 2 GPUs, two may overtake. */
static void overtakers_leave_the_headroom(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 8), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'easy'}, 'headroom': {'gpus': 2}}");
    sched_case_submit(&c, limited(0, 3, 50, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 8, 50, 100), SECONDS(1));
    sched_case_submit(&c, limited(2, 1, 50, 10), SECONDS(1));
    sched_case_submit(&c, limited(3, 2, 50, 10), SECONDS(1));
    sched_case_submit(&c, limited(4, 2, 50, 10), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 2);
    assert_int_equal(c.decisions[0].job, 2);
    assert_int_equal(c.decisions[1].job, 3);
    sched_case_close(&c);
}

/* Job 1 is promised 3 of 4 GPUs at 5,001 s and will have them for 1,000 s: the head, which needs all, whole or in
 * halves, cannot start before, and who ends at 5,502 s delays nobody. */
static void what_is_promised_will_be_used(void **state)
{
    (void)state;
    for (int halves = 0; halves < 2; halves++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                        "{'order': ['priority'], 'backfill': {'policy': 'easy'}, 'actions': ['allocate', 'preempt'], "
                        "'preemption': {'policy': 'checkpoint', 'grace_s': 300, 'min_runtime_s': 0}}");
        struct job victim = limited(0, 2, 10, 100000);
        victim.checkpoint.duration = SECONDS(300);
        sched_case_submit(&c, victim, 0);
        assert_int_equal(sched_case_start(&c, 0), 1);
        sched_case_submit(&c, limited(1, 3, 90, 1000), SECONDS(5001));
        sched_case_cycle(&c, SECONDS(5001));
        assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
        struct job head = sched_case_job(2, halves ? 8 : 1, halves ? 0 : 4, 50);
        head.first.request.gpu_milli = halves ? 500 : 0;
        head.limit = SECONDS(100);
        sched_case_submit(&c, head, SECONDS(5002));
        sched_case_submit(&c, limited(3, 1, 20, 500), SECONDS(5002));
        assert_int_equal(sched_case_start(&c, SECONDS(5002)), 1);
        assert_int_equal(c.decisions[0].job, 3);
        assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(5001 + 300 + 1000));
        sched_case_close(&c);
    }
}

/* A pass every 30 s: what comes in between waits for the next, which wakes the scheduler once and not again in vain. */
static void slurm_looks_every_interval(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'interval_s': 30, 'resolution_s': 0}}");
    sched_case_submit(&c, limited(0, 3, 50, 1000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 4, 50, 100), SECONDS(1));
    sched_case_submit(&c, limited(2, 1, 50, 100), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1); /* the first pass */
    sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(11));
    sched_case_submit(&c, limited(3, 1, 50, 100), SECONDS(12));
    assert_int_equal(sched_case_start(&c, SECONDS(12)), 0);
    assert_int_equal(c.wake_at, SECONDS(31));
    assert_int_equal(sched_case_start(&c, SECONDS(31)), 1);
    sched_case_submit(&c, limited(4, 1, 50, 100), SECONDS(40));
    assert_int_equal(sched_case_start(&c, SECONDS(40)), 0); /* nothing is free */
    assert_int_equal(c.wake_at, SECONDS(61));
    assert_int_equal(sched_case_start(&c, SECONDS(61)), 0);
    assert_int_equal(c.wake_at, TIME_NEVER);
    sched_case_close(&c);
}

static struct job with_cpus(struct job job, uint32_t cpus)
{
    job.first.request.cpu_milli = cpus * 1000;
    return job;
}

/* Job 1 is promised all CPUs of job 0, which has 300 s to leave, and runs for 1,000 s then: job 2 needs them too and
 * comes after it.  GPUs there are for all of them. */
static void claimed_cpus_are_nobody_elses(void **state)
{
    (void)state;
    struct sched_case c;
    struct cluster *cluster = cluster_uniform_new(1, 4);
    cluster->types[0].cpu_milli = 8000;
    sched_case_open(&c, cluster, queue_table_new(),
                    "{'order': ['priority'], 'backfill': {'policy': 'easy'}, 'actions': ['allocate', 'preempt'], "
                    "'preemption': {'policy': 'checkpoint', 'grace_s': 300, 'min_runtime_s': 0}}");
    struct job victim = with_cpus(limited(0, 1, 10, 100000), 8);
    victim.checkpoint.duration = SECONDS(300);
    sched_case_submit(&c, victim, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, with_cpus(limited(1, 1, 90, 1000), 8), SECONDS(10));
    sched_case_cycle(&c, SECONDS(10));
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    sched_case_submit(&c, with_cpus(limited(2, 1, 50, 100), 8), SECONDS(20));
    sched_case_submit(&c, limited(3, 1, 20, 100), SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(20)), 1); /* job 3 needs no CPU */
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(10 + 300 + 1000));
    sched_case_close(&c);
}

/* Of jobs that name no user nothing is counted. */
static void nobody_is_no_user(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'per_user': 1}}");
    sched_case_submit(&c, limited(0, 2, 50, 1000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    for (job_id id = 1; id < 4; id++) {
        struct job job = limited(id, id == 1 ? 4 : 1, 50, 100);
        job.user = NAMES_NONE;
        sched_case_submit(&c, job, SECONDS(1));
    }
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 2);
    sched_case_close(&c);
}

enum meanwhile { NOTHING_COMES, GOES_BEFORE, WAITS_BEFORE, TAKES_ITS_PLACE, IS_ADOPTED };

/* Job 2 comes at 12 s, and many who wait behind job 1. */
static void come(struct sched_case *c, enum meanwhile meanwhile)
{
    const bool waits = meanwhile == WAITS_BEFORE;
    const struct job comes = limited(2, waits ? 4 : 1, 90, waits ? 50 : 138);
    const struct piece piece = {.gpu_mask = 8, .gpu_milli = GPU_MILLI, .member_count = 1};
    if (meanwhile == TAKES_ITS_PLACE)
        sched_job_cancelled(c->sched, 1, SECONDS(12));
    if (meanwhile == IS_ADOPTED)
        sched_job_adopted(c->sched, &comes, &piece, 1, SECONDS(12), SECONDS(12));
    else if (meanwhile != NOTHING_COMES)
        sched_case_submit(c, comes, SECONDS(12));
    if (waits)
        sched_case_submit(c, limited(3, 1, 5, 10), SECONDS(12)); /* so that there is a pass */
    for (job_id id = 10; id < SCHED_CASE_JOBS; id++)
        sched_case_submit(c, limited(id, 4, 1, 50), SECONDS(12));
}

/* The head is promised 100 s; what comes at 12 s holds the GPUs that it needs until 150 s, or takes them then. */
static struct sched_counts counts_when(enum meanwhile meanwhile)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['priority', 'fifo'], 'backfill': {'policy': 'easy'}}");
    sched_case_submit(&c, limited(0, 3, 50, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 4, 50, 100), SECONDS(1));
    sched_case_submit(&c, limited(4, 1, 5, 10), SECONDS(1)); /* so that there is a pass */
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
    sched_job_ended(c.sched, 4, JOB_END_COMPLETED, false, SECONDS(11));
    come(&c, meanwhile);
    assert_int_equal(sched_case_start(&c, SECONDS(12)), meanwhile != NOTHING_COMES && meanwhile != IS_ADOPTED);
    if (meanwhile == WAITS_BEFORE)
        sched_job_ended(c.sched, 3, JOB_END_COMPLETED, false, SECONDS(22));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(100));
    if (meanwhile == IS_ADOPTED) /* again a pass, in which a later start is planned start */
        sched_case_submit(&c, limited(5, 1, 5, 500), SECONDS(100));
    assert_int_equal(sched_case_start(&c, SECONDS(100)), meanwhile == NOTHING_COMES || meanwhile == WAITS_BEFORE);
    if (meanwhile == IS_ADOPTED)
        assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(150));
    if (meanwhile != NOTHING_COMES) {
        sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(150));
        assert_int_equal(sched_case_start(&c, SECONDS(150)), 1);
    }
    const struct sched_counts counts = sched_case_counts(&c);
    sched_case_close(&c);
    return counts;
}

/* A start after the promised one is counted, unless the order has put somebody before the head since: then nothing
 * is promised to it any more.  Nor is anything to who comes in the place of the head when that is cancelled. */
static void late_starts_are_counted(void **state)
{
    (void)state;
    static const uint64_t promised[] = {[NOTHING_COMES] = 1, [WAITS_BEFORE] = 1, [IS_ADOPTED] = 1};
    for (enum meanwhile meanwhile = NOTHING_COMES; meanwhile <= IS_ADOPTED; meanwhile++) {
        const struct sched_counts counts = counts_when(meanwhile);
        assert_int_equal(counts.promised_starts, promised[meanwhile]);
        assert_int_equal(counts.late_starts, meanwhile == IS_ADOPTED);
    }
}

/* In steps of 60 s: what ends in 100 s is planned to end in 120 s, 50 s count as 60 s, and 121 s are too long. */
static void slurm_plans_in_multiples(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'interval_s': 0, 'resolution_s': 60}}");
    sched_case_submit(&c, limited(0, 3, 50, 100), 0);
    sched_case_submit(&c, limited(1, 4, 50, 50), 0);
    sched_case_submit(&c, limited(2, 4, 50, 60), 0);
    sched_case_submit(&c, limited(3, 1, 50, 121), 0);
    sched_case_submit(&c, limited(4, 1, 50, 110), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    assert_int_equal(c.decisions[0].job, 0);
    assert_int_equal(c.decisions[1].job, 4);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(120));
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(180));
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(240));
    assert_int_equal(sched_planned_start(c.sched, 4), TIME_NEVER);
    sched_case_close(&c);
}

/* Source: slurm.conf(5), SchedulerParameters: bf_max_job_test, bf_interval, bf_resolution, bf_window, bf_max_job_user.
 */
static void slurm_has_slurms_defaults(void **state)
{
    (void)state;
    const struct backfill_config *config = &backfill_slurm.defaults;
    assert_int_equal(config->depth, 500);
    assert_int_equal(config->interval, SECONDS(30));
    assert_int_equal(config->resolution, SECONDS(60));
    assert_int_equal(config->window, SECONDS(24 * 60 * 60));
    assert_int_equal(config->per_user, 0);
}

static const char conservative[] = "{'order': ['fifo'], 'backfill': {'policy': 'conservative'}}";

/* Shares are planned in the ledger, where the promise of job 3 counts again once it was looked at and stayed as it is,
 * or was moved: in both, all GPUs are its own before the newcomer would end. */
static void a_promise_that_was_looked_at_counts_again(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), conservative);
        sched_case_submit(&c, limited(0, 2, 50, 100), 0);
        sched_case_submit(&c, limited(1, 1, 50, 60), 0);
        sched_case_submit(&c, limited(2, 1, 50, 50), 0);
        sched_case_submit(&c, limited(3, 4, 50, 50), 0);
        assert_int_equal(sched_case_start(&c, 0), 3);
        assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(100));
        sched_job_ended(c.sched, moves ? 0 : 2, JOB_END_COMPLETED, false, SECONDS(10));
        for (job_id id = 4; id < 6; id++) {
            struct job share = limited(id, 0, 50, id == 4 ? 1000 : 40);
            share.first.request.gpu_milli = 500;
            sched_case_submit(&c, share, SECONDS(10));
        }
        assert_int_equal(sched_case_start(&c, SECONDS(10)), 1);
        assert_int_equal(c.decisions[0].job, 5); /* it ends in time */
        assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(moves ? 60 : 100));
        assert_int_equal(sched_planned_start(c.sched, 4), SECONDS(moves ? 110 : 150));
        sched_case_close(&c);
    }
}

/* Job 2 is promised the node of job 0 at 101 s.  Whatever is seen in the instant in which the promise is made, or
 * later, excuses a late start: that a node is cordoned, or that job 0 stays longer, when that is looked at, when it
 * ends, or when job 2 starts elsewhere.  A promise that is made anew counts. */
static void what_comes_with_the_promise_excuses_it(void **state)
{
    (void)state;
    enum { NOBODY = 2 };
    static const struct {
        int cordoned;               /* the node of that job */
        int64_t look_s, ended_s[2]; /* 0: not */
        int64_t promised_s, start_s;
        uint64_t late;
    } cases[] = {{NOBODY, 0, {101, 0}, 101, 105, 1}, {1, 0, {101, 0}, 101, 105, 0},
                 {0, 0, {101, 901}, 901, 905, 1},    {NOBODY, 0, {105, 0}, 101, 105, 0},
                 {NOBODY, 0, {0, 105}, 101, 105, 0}, {NOBODY, 101, {120, 0}, 101, 120, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), conservative);
        sched_case_submit(&c, limited(0, 4, 50, 100), SECONDS(1));
        sched_case_submit(&c, limited(1, 4, 50, 900), SECONDS(1));
        sched_case_submit(&c, limited(2, 4, 50, 50), SECONDS(1));
        assert_int_equal(sched_case_start(&c, SECONDS(1)), 2);
        assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(101));
        if (cases[i].cordoned != NOBODY)
            sched_node_changed(c.sched, c.decisions[cases[i].cordoned].pieces[0].node, NODE_CORDONED, SECONDS(1));
        assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
        assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(cases[i].promised_s));
        if (cases[i].look_s != 0)
            assert_int_equal(sched_case_start(&c, SECONDS(cases[i].look_s)), 0);
        for (job_id id = 0; id < 2; id++)
            if (cases[i].ended_s[id] != 0)
                sched_job_ended(c.sched, id, JOB_END_COMPLETED, false, SECONDS(cases[i].ended_s[id]));
        assert_int_equal(sched_case_start(&c, SECONDS(cases[i].start_s)), 1);
        assert_int_equal(sched_case_counts(&c).promised_starts, 1);
        assert_int_equal(sched_case_counts(&c).late_starts, cases[i].late);
        sched_case_close(&c);
    }
}

/* Under easy the head starts before the pass would see that job 0 stays longer, on the node of job 1, which ends
 * early. */
static void what_stays_longer_excuses_the_head(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 5), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'easy'}}");
    sched_case_submit(&c, limited(0, 4, 50, 100), 0);
    sched_case_submit(&c, limited(1, 4, 50, 900), 0);
    sched_case_submit(&c, limited(2, 5, 50, 50), 0);
    sched_case_submit(&c, limited(3, 1, 50, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 3);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(100));
    sched_job_ended(c.sched, 3, JOB_END_COMPLETED, false, SECONDS(10));
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(105));
    assert_int_equal(sched_case_start(&c, SECONDS(105)), 1);
    assert_int_equal(sched_case_counts(&c).promised_starts, 1);
    assert_int_equal(sched_case_counts(&c).late_starts, 0);
    sched_case_close(&c);
}

/* A promise is kept once: job 1, which starts in time, fails and starts again at once, was promised one start.  That
 * it may not be evicted makes no difference. */
static void a_promise_is_kept_once(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), conservative);
    struct job firm = limited(1, 4, 50, 100);
    firm.is_preemptible = false;
    sched_case_submit(&c, limited(0, 4, 50, 100), 0);
    sched_case_submit(&c, firm, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(100));
    assert_int_equal(sched_case_start(&c, SECONDS(100)), 1);
    sched_job_ended(c.sched, 1, JOB_END_FAILED, true, SECONDS(110));
    assert_int_equal(sched_case_start(&c, SECONDS(110)), 1);
    assert_int_equal(sched_case_counts(&c).promised_starts, 1);
    assert_int_equal(sched_case_counts(&c).late_starts, 0);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(120));
    assert_int_equal(sched_case_start(&c, SECONDS(120)), 0);
    assert_int_equal(c.wake_at, TIME_NEVER); /* nothing is left that could end */
    sched_case_close(&c);
}

/* What ends early leaves too little for jobs 2 and 3 before job 0 has ended too: they wait for resources still. */
static void who_cannot_move_up_waits_for_resources(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 3, 50, 200), 0);
    sched_case_submit(&c, limited(1, 1, 50, 100), 0);
    sched_case_submit(&c, limited(2, 4, 50, 50), 0);
    struct job gang = sched_case_job(3, 2, 1, 50); /* of which one would fit */
    gang.limit = SECONDS(50);
    sched_case_submit(&c, gang, 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    for (job_id id = 2; id < 4; id++)
        assert_int_equal(sched_why(c.sched, id), REASON_RESOURCES);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 0);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(200));
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(250));
    for (job_id id = 2; id < 4; id++)
        assert_int_equal(sched_why(c.sched, id), REASON_RESOURCES);
    sched_case_close(&c);
}

/* Another quarter of what has been planned, at least a second, until that is ahead: the same wherever the cycles fall.
 */
static void what_outlives_its_plan_is_given_a_quarter(void **state)
{
    (void)state;
    static const struct {
        int64_t limit_s;
        time_ns now, end;
    } at[] = {{100, SECONDS(100), SECONDS(125)},
              {100, SECONDS(125), SECONDS(156) + 250 * TIME_NS_PER_MS},
              {100, SECONDS(156), SECONDS(156) + 250 * TIME_NS_PER_MS},
              {2, SECONDS(2), SECONDS(3)},
              {4, SECONDS(4), SECONDS(5)},
              {8, SECONDS(8), SECONDS(10)}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), conservative);
        sched_case_submit(&c, limited(0, 3, 50, at[i].limit_s), 0);
        sched_case_submit(&c, limited(1, 4, 50, 50), 0);
        assert_int_equal(sched_case_start(&c, 0), 1);
        assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(at[i].limit_s));
        assert_int_equal(c.wake_at, SECONDS(at[i].limit_s));
        assert_int_equal(sched_case_start(&c, at[i].now), 0);
        assert_int_equal(sched_planned_start(c.sched, 1), at[i].end);
        assert_int_equal(c.wake_at, at[i].end);
        sched_case_close(&c);
    }
}

/* Job 0 stays on node 0 beyond its 100 s, until 125 s by the next plan: its end counts, not that of job 1 before it. */
static void what_outlives_its_plan_keeps_its_node(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 4, 50, 100), 0);
    sched_case_submit(&c, limited(1, 4, 50, 110), 0);
    sched_case_submit(&c, limited(2, 4, 50, 50), 0);
    sched_case_submit(&c, limited(3, 4, 50, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(100));
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(110));
    assert_int_equal(sched_case_start(&c, SECONDS(100)), 0);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(125));
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(110));
    sched_case_close(&c);
}

/* One node of 2 GPUs: job 0 has one until 10 s, job 1 the other until 4 s.  Job 2 asks both for 10 s and is promised
 * 10 s; job 3 asks one for 5 s and is promised 4 s, before it.  Job 0 ends at 1 s.  In the order of promises job 3
 * goes first: it starts at once, and job 2 moves up to its end. */
static void promises_move_up_in_their_order(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 2), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 1, 50, 10), 0);
    sched_case_submit(&c, limited(1, 1, 50, 4), 0);
    sched_case_submit(&c, limited(2, 2, 50, 10), 0);
    sched_case_submit(&c, limited(3, 1, 50, 5), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(10));
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(4));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(6));
    assert_int_equal(sched_case_counts(&c).late_starts, 0);
    sched_case_close(&c);
}

/* Job 1 may outlive its 50 s, which moves what is promised behind it: the end is looked at, not the promise alone. */
static void a_planned_end_wakes_the_scheduler(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 3, 50, 100), 0);
    sched_case_submit(&c, limited(1, 1, 50, 50), 0);
    sched_case_submit(&c, limited(2, 4, 50, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(100));
    assert_int_equal(c.wake_at, SECONDS(50));
    sched_case_close(&c);
}

/* In the very instant in which its plan ends nobody has been told that it has: it ends in the next. */
static void what_has_not_ended_ends_in_the_next_instant(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'easy'}}");
    sched_case_submit(&c, limited(0, 3, 50, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 4, 50, 50), SECONDS(100));
    sched_case_submit(&c, limited(2, 1, 50, 1), SECONDS(100));
    assert_int_equal(sched_case_start(&c, SECONDS(100)), 0);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100) + 1);
    sched_job_cancelled(c.sched, 1, SECONDS(101));
    sched_job_cancelled(c.sched, 2, SECONDS(101));
    assert_int_equal(sched_case_start(&c, SECONDS(101)), 0);
    assert_int_equal(c.wake_at, TIME_NEVER); /* for whom? */
    sched_case_close(&c);
}

/* A promise without an end is in the way of every job that comes, in the same cycle or later; none overtakes it. */
static void a_promise_without_end_is_remembered(void **state)
{
    (void)state;
    for (int64_t came_s = 0; came_s <= 10; came_s += 10) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), conservative);
        struct job endless = limited(1, 4, 50, 0);
        endless.limit = TIME_NEVER;
        sched_case_submit(&c, limited(0, 3, 50, 100), 0);
        sched_case_submit(&c, endless, 0);
        if (came_s > 0)
            assert_int_equal(sched_case_start(&c, 0), 1);
        sched_case_submit(&c, limited(2, 4, 50, 50), SECONDS(came_s));
        sched_case_submit(&c, limited(3, 1, 50, 50), SECONDS(came_s));
        assert_int_equal(sched_case_start(&c, SECONDS(came_s)), came_s > 0 ? 0 : 1);
        assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
        assert_int_equal(sched_planned_start(c.sched, 2), TIME_NEVER);
        sched_case_close(&c);
    }
}

/* The first pass may be at 0 s: what comes after it wakes the scheduler for the next. */
static void slurm_counts_the_interval_from_the_start(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'interval_s': 30, 'resolution_s': 0}}");
    sched_case_submit(&c, limited(0, 3, 50, 1000), 0);
    sched_case_submit(&c, limited(1, 4, 50, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(2, 1, 50, 100), SECONDS(5));
    assert_int_equal(sched_case_start(&c, SECONDS(5)), 0);
    assert_int_equal(c.wake_at, SECONDS(30));
    assert_int_equal(sched_case_start(&c, SECONDS(30)), 1);
    sched_case_close(&c);
}

/* A promise on a node that takes nothing new is made anew elsewhere; when the node is back it moves up there. */
static void a_promise_leaves_a_node_that_is_cordoned(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 4, 50, 100), 0);
    sched_case_submit(&c, limited(1, 4, 50, 200), 0);
    sched_case_submit(&c, limited(2, 3, 50, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(100));
    sched_node_changed(c.sched, c.decisions[0].pieces[0].node, NODE_CORDONED, SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 0);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(200));
    sched_node_changed(c.sched, 0, NODE_UP, SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(20)), 0);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(100));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(100));
    assert_int_equal(sched_case_start(&c, SECONDS(100)), 1);
    assert_int_equal(sched_case_counts(&c).late_starts, 0);
    assert_int_equal(sched_case_counts(&c).promised_starts, 1);
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overtakers_leave_the_headroom),
        cmocka_unit_test(what_is_promised_will_be_used),
        cmocka_unit_test(slurm_looks_every_interval),
        cmocka_unit_test(claimed_cpus_are_nobody_elses),
        cmocka_unit_test(nobody_is_no_user),
        cmocka_unit_test(late_starts_are_counted),
        cmocka_unit_test(slurm_plans_in_multiples),
        cmocka_unit_test(slurm_has_slurms_defaults),
        cmocka_unit_test(a_promise_that_was_looked_at_counts_again),
        cmocka_unit_test(what_comes_with_the_promise_excuses_it),
        cmocka_unit_test(what_stays_longer_excuses_the_head),
        cmocka_unit_test(a_promise_is_kept_once),
        cmocka_unit_test(who_cannot_move_up_waits_for_resources),
        cmocka_unit_test(what_outlives_its_plan_is_given_a_quarter),
        cmocka_unit_test(a_promise_leaves_a_node_that_is_cordoned),
        cmocka_unit_test(what_outlives_its_plan_keeps_its_node),
        cmocka_unit_test(promises_move_up_in_their_order),
        cmocka_unit_test(a_planned_end_wakes_the_scheduler),
        cmocka_unit_test(what_has_not_ended_ends_in_the_next_instant),
        cmocka_unit_test(a_promise_without_end_is_remembered),
        cmocka_unit_test(slurm_counts_the_interval_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
