/* policies/eviction/preemption_cost.c and attempts.c: when a plan is tried again whose preemption cost was too high for
 * the preemptor's wait.  Two nodes of 8 GPUs; queue `lent` runs 8 GPUs on each from the start, queue `waits` asks for 8
 * at 10 s.  Each deserves half, so that only the cost stands in the way. */
#include "tests/support/test.h"

#include "policies/policy_config.h"
#include "policies/sched.h"
#include "tests/support/json_text.h"
#include "tests/support/lawful.h"

static const char policy_text[] =
    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'actions': ['allocate', 'reclaim', 'preempt'], "
    "'preemption': {'policy': 'checkpoint', 'victims': ['cost'], 'search': 'node', 'grace_s': 0, 'min_runtime_s': 0, "
    "'loss_ratio': 1}}";

struct fixture {
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched;
    queue_id lent, waits;
    time_ns wake_at, evicted_at; /* TIME_NEVER: nobody was */
    uint32_t cycles;
};

static time_ns s(int64_t seconds)
{
    return seconds * TIME_NS_PER_S;
}

static void cycle(struct fixture *f, time_ns now)
{
    const struct decision *decisions;
    size_t count = sched_cycle(f->sched, now, &decisions, &f->wake_at);
    for (size_t i = 0; i < count; i++) {
        if (decisions[i].kind == DECISION_START)
            sched_job_started(f->sched, decisions[i].job, decisions[i].id, now);
        if (decisions[i].kind == DECISION_EVICT && f->evicted_at == TIME_NEVER)
            f->evicted_at = now;
    }
    f->cycles++;
    assert_lawful(sched_check(f->sched));
}

static void submit(struct fixture *f, job_id id, queue_id queue, time_ns interval, time_ns now)
{
    struct job job = job_default();
    job.id = id;
    job.submit = now;
    job.queue = queue;
    job.first.request.gpus = 8;
    job.checkpoint.interval = interval;
    sched_job_submitted(f->sched, &job, now);
}

static void setup(struct fixture *f, int64_t waits_deserves_gpus, time_ns interval)
{
    struct json_doc *doc;
    struct policy_config policy;
    struct error error = json_text_read(&doc, "test", policy_text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    *f = (struct fixture){.cluster = cluster_uniform_new(2, 8), .queues = queue_table_new(), .evicted_at = TIME_NEVER};
    f->lent = queue_table_add(f->queues, text_of("lent"), QUEUE_ROOT);
    f->waits = queue_table_add(f->queues, text_of("waits"), QUEUE_ROOT);
    f->queues->queues[f->waits].deserved[RESOURCE_GPU] = waits_deserves_gpus * GPU_MILLI;
    f->sched = sched_new(f->cluster, f->queues, &policy, &error);
    assert_non_null(f->sched);
    submit(f, 0, f->lent, interval, 0);
    submit(f, 1, f->lent, interval, 0);
    cycle(f, 0);
    submit(f, 2, f->waits, 0, s(10));
    f->cycles = 0;
    cycle(f, s(10));
}

static void teardown(struct fixture *f)
{
    sched_free(f->sched);
    queue_table_free(f->queues);
    cluster_free(f->cluster);
}

/* As a world does in which nothing happens. */
static void wake_until(struct fixture *f, time_ns end)
{
    while (f->evicted_at == TIME_NEVER && f->wake_at <= end && f->cycles < 1000)
        cycle(f, f->wake_at);
}

/* What the victims lose grows as fast as the wait, and is 10 s ahead for ever: looking again whenever the gap would be
 * made up by what they lost when last seen never ends. */
TEST(a_gap_that_never_closes_wakes_seldom)
{
    struct fixture f;
    setup(&f, 0, 0);
    wake_until(&f, s(100000));
    assert_true(f.evicted_at == TIME_NEVER);
    assert_in_range(f.cycles, 2, 60);
    teardown(&f);
}

/* They save at 600 s and have lost 80 GPU-s ten seconds later: any look soon after that finds it worth the wait. */
TEST(a_checkpoint_makes_it_worth)
{
    struct fixture f;
    setup(&f, 0, s(600));
    wake_until(&f, s(1200));
    assert_true(f.evicted_at >= s(600));
    assert_true(f.evicted_at <= s(600) + s(600) / 4 + s(30));
    assert_in_range(f.cycles, 2, 20);
    teardown(&f);
}

/* What a queue deserves is not weighed. */
TEST(an_owner_does_not_wait)
{
    struct fixture f;
    setup(&f, 8, 0);
    assert_true(f.evicted_at == s(10));
    teardown(&f);
}

/* It comes to deserve it while it sleeps: that is news, at the first state change. */
TEST(who_becomes_an_owner_is_woken)
{
    struct fixture f;
    setup(&f, 0, 0);
    wake_until(&f, s(1000));
    assert_true(f.evicted_at == TIME_NEVER);
    f.queues->queues[f.waits].deserved[RESOURCE_GPU] = 8 * GPU_MILLI;
    time_ns now = s(1001);
    for (int i = 0; i < 5000 && f.evicted_at == TIME_NEVER; i++) {
        sched_queues_changed(f.sched, f.queues, now);
        cycle(&f, now);
    }
    assert_true(f.evicted_at == now);
    teardown(&f);
}

/* A confirmed checkpoint is seen on the card: evicted at the next look, not after as long again. */
TEST(a_told_checkpoint_counts)
{
    struct fixture f;
    setup(&f, 0, 0);
    wake_until(&f, s(1000));
    sched_job_checkpointed(f.sched, 0, s(1000));
    assert_lawful(sched_check(f.sched));
    wake_until(&f, s(2100));
    assert_true(f.evicted_at > s(1000) && f.evicted_at <= s(2100));
    teardown(&f);
}
