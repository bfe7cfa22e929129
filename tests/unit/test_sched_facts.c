/* policies/sched.h: what a live system tells the scheduler, and what must come of it at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policies/sched.h"

#define EVICTING                                                                                   \
    "{\"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\", \"preemption\": {\"policy\": "  \
    "\"kill\", \"min_runtime_s\": 0}}"

struct fixture {
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched;
    const struct decision *decisions;
    size_t count;
    time_ns wake_at;
};

static time_ns s(int64_t seconds)
{
    return seconds * TIME_NS_PER_S;
}

static void setup(struct fixture *f, uint32_t nodes, uint16_t gpus_per_node,
                  struct queue_table *queues, const char *text)
{
    struct json_doc *doc;
    struct policy_config policy;
    struct error error = json_doc_parse(&doc, "test", text_of(text), ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    *f = (struct fixture){.cluster = cluster_uniform_new(nodes, gpus_per_node), .queues = queues};
    f->sched = sched_new(f->cluster, queues, &policy, &error);
    assert_non_null(f->sched);
}

static void teardown(struct fixture *f)
{
    sched_free(f->sched);
    queue_table_free(f->queues);
    cluster_free(f->cluster);
}

static struct job plain(job_id id, uint32_t count, uint16_t gpus, int32_t priority)
{
    struct job job = job_default();
    job.id = id;
    job.first.count = job.first.min_count = count;
    job.first.request.gpus = gpus;
    job.priority = priority;
    return job;
}

static void submit(struct fixture *f, struct job job, time_ns now)
{
    job.submit = now;
    sched_job_submitted(f->sched, &job, now);
}

static void cycle(struct fixture *f, time_ns now)
{
    f->count = sched_cycle(f->sched, now, &f->decisions, &f->wake_at);
    assert_null(sched_check(f->sched));
}

static void cycle_and_start(struct fixture *f, time_ns now)
{
    cycle(f, now);
    for (size_t i = 0; i < f->count; i++)
        if (f->decisions[i].kind == DECISION_START)
            sched_job_started(f->sched, f->decisions[i].job, f->decisions[i].id, now);
}

static size_t count_of(const struct fixture *f, enum decision_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += f->decisions[i].kind == kind;
    return count;
}

static struct sched_counts counts_of(const struct fixture *f)
{
    struct sched_counts counts;
    sched_count(f->sched, &counts);
    return counts;
}

/* It failed and is tried again: it waits, and starts in the next cycle. */
static void test_retried_job_waits_again(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), "{}");
    submit(&f, plain(0, 1, 4, 50), 0);
    cycle_and_start(&f, 0);
    sched_job_ended(f.sched, 0, JOB_END_FAILED, true, s(1));
    assert_int_equal(counts_of(&f).pending_jobs, 1);
    assert_int_equal(counts_of(&f).running_jobs, 0);
    cycle_and_start(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_int_equal(counts_of(&f).running_jobs, 1);
    teardown(&f);
}

/* The world could not start it: it holds nothing, waits, and is decided again. */
static void test_refused_start_waits_again(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), "{}");
    submit(&f, plain(0, 2, 2, 50), 0);
    cycle(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 1);
    sched_decision_refused(f.sched, f.decisions[0].id, REFUSED_BUSY, s(1));
    assert_int_equal(counts_of(&f).pending_jobs, 1);
    assert_int_equal(counts_of(&f).running_jobs, 0);
    assert_int_equal(counts_of(&f).used_gpu_milli, 0);
    cycle(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    teardown(&f);
}

/* Somebody else evicts it: what it holds counts as being released, and it is no victim any more. */
static void test_leaving_counts_as_releasing(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), EVICTING);
    submit(&f, plain(0, 1, 4, 10), 0);
    cycle_and_start(&f, 0);
    sched_job_leaving(f.sched, 0, MEMBERS_ALL, s(1));
    assert_int_equal(counts_of(&f).running_jobs, 0);
    assert_int_equal(counts_of(&f).releasing_gpu_milli, 4000);
    submit(&f, plain(1, 1, 4, 90), s(2));
    cycle(&f, s(2));
    assert_int_equal(count_of(&f, DECISION_EVICT), 0);
    sched_job_evicted(f.sched, 0, MEMBERS_ALL, EVICT_LOST, s(3));
    cycle(&f, s(3));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    teardown(&f);
}

/* A growth is a START of a part, the first START of a job is not. */
static void test_growth_is_partial(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), "{}");
    struct job job = plain(1, 2, 2, 50);
    job.first.min_count = 1;
    submit(&f, plain(0, 1, 2, 90), 0);
    cycle_and_start(&f, 0);
    submit(&f, job, s(1));
    cycle_and_start(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_false(f.decisions[0].is_partial);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(2));
    cycle_and_start(&f, s(2));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_true(f.decisions[0].is_partial);
    teardown(&f);
}

/* An eviction is one of a part if the job keeps something. */
static void test_shrink_is_partial(void **state)
{
    (void)state;
    for (uint16_t gpus = 2; gpus <= 4; gpus += 2) {
        struct fixture f;
        setup(&f, 1, 4, queue_table_new(), EVICTING);
        struct job job = plain(0, 2, 2, 10);
        job.first.min_count = 1;
        submit(&f, job, 0);
        cycle_and_start(&f, 0);
        cycle_and_start(&f, s(1));
        submit(&f, plain(1, 1, gpus, 90), s(2));
        cycle(&f, s(2));
        assert_int_equal(count_of(&f, DECISION_EVICT), 1);
        assert_int_equal(f.decisions[0].kind, DECISION_EVICT);
        assert_int_equal(f.decisions[0].is_partial, gpus == 2);
        teardown(&f);
    }
}

/* Two gainers wait for a victim each, on two nodes; only who waits for the refused one loses its reservation. */
static void test_refused_eviction_spares_other_claims(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2, 4, queue_table_new(), EVICTING);
    submit(&f, plain(0, 1, 4, 10), 0);
    submit(&f, plain(1, 1, 4, 10), 0);
    cycle_and_start(&f, 0);
    submit(&f, plain(2, 1, 4, 90), s(1));
    submit(&f, plain(3, 1, 4, 90), s(1));
    cycle(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_EVICT), 2);
    assert_int_equal(counts_of(&f).reserved_jobs, 2);
    for (size_t i = 0; i < f.count; i++)
        if (f.decisions[i].kind == DECISION_EVICT) {
            sched_decision_refused(f.sched, f.decisions[i].id, REFUSED_BUSY, s(2));
            break;
        }
    assert_int_equal(counts_of(&f).reserved_jobs, 1);
    assert_int_equal(counts_of(&f).running_jobs, 1);
    cycle(&f, s(2));
    assert_int_equal(count_of(&f, DECISION_RELEASE), 1); /* told once */
    cycle(&f, s(3));
    assert_int_equal(count_of(&f, DECISION_RELEASE), 0);
    teardown(&f);
}

/* Released while it still waits for another job: it is not held again when that one has ended. */
static void test_released_before_its_turn(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), "{}");
    struct job job = plain(1, 1, 4, 50);
    struct job_after after = {.job = 0, .kind = AFTER_ANY};
    job.is_held = true;
    job.after_count = 1;
    job.after = &after;
    submit(&f, plain(0, 1, 4, 50), 0);
    submit(&f, job, 0);
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 1);
    sched_job_released(f.sched, 1, s(1));
    assert_int_equal(counts_of(&f).pending_jobs, 1);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(2));
    cycle_and_start(&f, s(2));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_int_equal(counts_of(&f).running_jobs, 1);
    assert_int_equal(counts_of(&f).pending_jobs, 0);
    teardown(&f);
}

/* It waits for the success of a job that fails: it is rejected, and waits no more. */
static void test_hopeless_job_counts_no_more(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), "{}");
    struct job job = plain(1, 1, 4, 50);
    struct job_after after = {.job = 0, .kind = AFTER_OK};
    job.after_count = 1;
    job.after = &after;
    submit(&f, plain(0, 1, 4, 50), 0);
    submit(&f, job, 0);
    cycle_and_start(&f, 0);
    assert_int_equal(counts_of(&f).pending_jobs, 1);
    sched_job_ended(f.sched, 0, JOB_END_FAILED, false, s(1));
    cycle(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_REJECT), 1);
    assert_int_equal(f.decisions[0].reason, REASON_DEPENDENCY_NEVER);
    assert_int_equal(counts_of(&f).pending_jobs, 0);
    teardown(&f);
}

static void test_released_counts_once(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, 4, queue_table_new(), "{}");
    struct job job = plain(0, 1, 4, 50);
    job.is_held = true;
    submit(&f, job, 0);
    cycle(&f, 0);
    assert_int_equal(counts_of(&f).pending_jobs, 1);
    sched_job_released(f.sched, 0, s(1));
    assert_int_equal(counts_of(&f).pending_jobs, 1);
    cycle_and_start(&f, s(1));
    assert_int_equal(counts_of(&f).pending_jobs, 0);
    assert_int_equal(counts_of(&f).running_jobs, 1);
    teardown(&f);
}

/* Half of a gang is lost with its node: when its grace (60 s unless a policy says so) is over, the
 * rest goes, and the decision says from where. */
static void test_stale_gang_goes_whole(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2, 4, queue_table_new(), "{\"actions\": [\"allocate\", \"stale_gang\"]}");
    submit(&f, plain(0, 2, 4, 50), 0);
    cycle_and_start(&f, 0);
    sched_node_changed(f.sched, 1, NODE_DOWN, s(1));
    sched_job_evicted(f.sched, 0, (struct members){0, 1}, EVICT_LOST, s(1));
    cycle(&f, s(60));
    assert_int_equal(count_of(&f, DECISION_EVICT), 0);
    cycle(&f, s(61));
    assert_int_equal(count_of(&f, DECISION_EVICT), 1);
    assert_int_equal(f.decisions[0].reason, REASON_STALE_GANG);
    assert_int_equal(f.decisions[0].piece_count, 1);
    assert_int_equal(f.decisions[0].pieces[0].node, 0);
    teardown(&f);
}

/* What an ended job asked is asked no more: of 6 GPUs two queues deserve 3 each, not 2 as with a third one. */
static void test_ended_job_asks_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct queue_table *queues = queue_table_new();
    queue_id gone = queue_table_add(queues, TEXT("gone"), QUEUE_ROOT),
             holds = queue_table_add(queues, TEXT("holds"), QUEUE_ROOT),
             asks = queue_table_add(queues, TEXT("asks"), QUEUE_ROOT);
    for (queue_id q = gone; q <= asks; q++)
        queues->queues[q].deserved[RESOURCE_GPU] = 0;
    setup(&f, 1, 6, queues,
          "{\"blocking\": \"skip\", \"quota\": \"fairshare\", \"preemption\": {\"policy\": "
          "\"kill\", \"min_runtime_s\": 0, \"attempts_per_cycle\": 10}}");
    struct job job = plain(0, 6, 1, 50);
    job.queue = gone;
    submit(&f, job, 0);
    cycle_and_start(&f, 0);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(1));
    for (job_id id = 1; id <= 9; id++) {
        job = plain(id, 1, 1, 50);
        job.queue = id <= 6 ? holds : asks;
        submit(&f, job, id <= 6 ? s(1) : s(2));
        if (id == 6)
            cycle_and_start(&f, s(1));
    }
    assert_int_equal(counts_of(&f).running_jobs, 6);
    cycle(&f, s(2));
    assert_int_equal(count_of(&f, DECISION_EVICT), 3);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retried_job_waits_again),
        cmocka_unit_test(test_refused_start_waits_again),
        cmocka_unit_test(test_leaving_counts_as_releasing),
        cmocka_unit_test(test_growth_is_partial),
        cmocka_unit_test(test_shrink_is_partial),
        cmocka_unit_test(test_refused_eviction_spares_other_claims),
        cmocka_unit_test(test_released_before_its_turn),
        cmocka_unit_test(test_hopeless_job_counts_no_more),
        cmocka_unit_test(test_released_counts_once),
        cmocka_unit_test(test_stale_gang_goes_whole),
        cmocka_unit_test(test_ended_job_asks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
