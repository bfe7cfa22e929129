/* policies/sched.h: what waiting is counted as, why a job waits, and how much work and how many wake-ups that costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/sched.h"

#define STRICT_PREEMPTING                                                                          \
    "{\"order\": [\"priority\"], \"blocking\": \"strict\", \"quota\": \"none\", \"preemption\": "  \
    "{\"policy\": \"kill\", \"min_runtime_s\": 100}}"

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

static void setup(struct fixture *f, struct cluster *cluster, const char *text)
{
    struct json_doc *doc;
    struct policy_config policy;
    struct error error = json_doc_parse(&doc, "test", text_of(text), ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    *f = (struct fixture){.cluster = cluster, .queues = queue_table_new()};
    f->sched = sched_new(cluster, f->queues, &policy, &error);
    assert_non_null(f->sched);
}

static void teardown(struct fixture *f)
{
    sched_free(f->sched);
    queue_table_free(f->queues);
    cluster_free(f->cluster);
}

static struct job plain(job_id id, uint16_t gpus, int32_t priority)
{
    struct job job = job_default();
    job.id = id;
    job.first.request.gpus = gpus;
    job.priority = priority;
    return job;
}

static void submit(struct fixture *f, struct job job, time_ns now)
{
    job.submit = now;
    sched_job_submitted(f->sched, &job, now);
}

/* A cycle whose STARTs take effect at once.  Returns how many there were. */
static size_t cycle(struct fixture *f, time_ns now)
{
    size_t starts = 0;
    f->count = sched_cycle(f->sched, now, &f->decisions, &f->wake_at);
    for (size_t i = 0; i < f->count; i++)
        if (f->decisions[i].kind == DECISION_START) {
            sched_job_started(f->sched, f->decisions[i].job, f->decisions[i].id, now);
            starts++;
        }
    assert_null(sched_check(f->sched));
    return starts;
}

static uint64_t attempts_of(const struct fixture *f)
{
    struct sched_counts counts;
    sched_count(f->sched, &counts);
    return counts.attempts;
}

/* Limits of 10, 100 and 70 s.  The second waits for 50 s and runs for 10: 90 s are left, more than 70. */
static void waiting_is_no_run_time(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 1), "{\"order\": [\"srtf\"], \"blocking\": \"skip\"}");
    static const int64_t limits_s[] = {10, 100, 70};
    struct job jobs[3];
    for (job_id id = 0; id < 3; id++) {
        jobs[id] = plain(id, 1, 50);
        jobs[id].limit = s(limits_s[id]);
    }
    submit(&f, jobs[0], 0);
    submit(&f, jobs[1], 0);
    assert_int_equal(cycle(&f, 0), 1);
    assert_int_equal(f.decisions[0].job, 0);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(50));
    assert_int_equal(cycle(&f, s(50)), 1);
    assert_int_equal(f.decisions[0].job, 1);
    sched_job_leaving(f.sched, 1, MEMBERS_ALL, s(60));
    sched_job_evicted(f.sched, 1, MEMBERS_ALL, EVICT_SAVED, s(60));
    submit(&f, jobs[2], s(60));
    assert_int_equal(cycle(&f, s(60)), 1);
    assert_int_equal(f.decisions[0].job, 2);
    teardown(&f);
}

/* What ran before the scheduler came counts at once, not only when the ranks are next refreshed: 499 s are left of the
 * first, 999 s of the second, so that the second is last and goes. */
static void what_was_adopted_has_run(void **state)
{
    (void)state;
    struct fixture f;
    setup(
        &f, cluster_uniform_new(1, 2),
        "{\"order\": [\"priority\", \"srtf\"], \"blocking\": \"skip\", \"preemption\": "
        "{\"policy\": \"kill\", \"min_runtime_s\": 0, \"victims\": [], \"search\": \"ordered\"}}");
    struct job first = plain(0, 1, 10), second = plain(1, 1, 10);
    struct piece piece = {.gpu_mask = 1, .gpu_milli = GPU_MILLI, .member_count = 1};
    first.limit = s(1500);
    second.limit = s(1100);
    cycle(&f, s(1000)); /* ranks are as of now */
    sched_job_adopted(f.sched, &first, &piece, 1, 0, s(1001));
    piece.gpu_mask = 2;
    sched_job_adopted(f.sched, &second, &piece, 1, s(900), s(1001));
    submit(&f, plain(2, 1, 90), s(1001));
    assert_int_equal(cycle(&f, s(1001)), 0);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(f.decisions[0].job, 1);
    teardown(&f);
}

/* Released by its submitter, an element may still be one too many of its array: that is then why it waits. */
static void who_is_held_twice_is_told_why(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 2), "{}");
    struct job first = plain(0, 1, 50), second = plain(1, 1, 50);
    first.array = second.array = 1;
    first.array_max = second.array_max = 1;
    second.is_held = true;
    submit(&f, first, 0);
    submit(&f, second, 0);
    assert_int_equal(sched_why(f.sched, 1), REASON_HELD);
    assert_int_equal(cycle(&f, 0), 1);
    sched_job_released(f.sched, 1, s(1));
    assert_int_equal(sched_why(f.sched, 1), REASON_ARRAY_LIMIT);
    assert_int_equal(cycle(&f, s(1)), 0);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(2));
    assert_int_equal(cycle(&f, s(2)), 1);
    teardown(&f);
}

/* The first 1 of 2: that job 1 did not fail, as the second says, is nobody's business. */
static void only_so_many_dependencies_count(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 2), "{}");
    const struct job_after after[] = {{0, AFTER_OK}, {1, AFTER_NOT_OK}};
    struct job waiter = plain(2, 1, 50);
    waiter.after = after;
    waiter.after_count = 1;
    submit(&f, plain(0, 1, 50), 0);
    submit(&f, plain(1, 1, 50), 0);
    assert_int_equal(cycle(&f, 0), 2);
    sched_job_ended(f.sched, 1, JOB_END_COMPLETED, false, s(1));
    submit(&f, waiter, s(1));
    assert_int_equal(sched_why(f.sched, 2), REASON_DEPENDENCY);
    assert_int_equal(cycle(&f, s(1)), 0);
    assert_int_equal(f.count, 0);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(2));
    assert_int_equal(cycle(&f, s(2)), 1);
    teardown(&f);
}

/* A cycle is asked for when ranks that move are due to be computed again, and only while somebody waits. */
static void moving_ranks_are_computed_every_five_minutes(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 1), "{\"order\": [\"srtf\"], \"blocking\": \"skip\"}");
    submit(&f, plain(0, 1, 50), 0);
    assert_int_equal(cycle(&f, 0), 1);
    assert_true(f.wake_at == TIME_NEVER);
    submit(&f, plain(1, 1, 50), s(10));
    assert_int_equal(cycle(&f, s(10)), 0);
    assert_int_equal(f.wake_at, s(300));
    assert_int_equal(cycle(&f, s(300)), 0);
    assert_int_equal(f.wake_at, s(600));
    teardown(&f);
}

/* The head waits for a victim that is ripe at 100 s.  Whoever is behind it in a strict line has no turn, though the
 * back-off of its plan is over: nothing is tried, and nobody asks for a cycle, before that. */
static void a_strict_line_sleeps_until_its_head_may_go_on(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), STRICT_PREEMPTING);
    struct job firm = plain(0, 4, 50);
    firm.is_preemptible = false;
    submit(&f, firm, 0);
    submit(&f, plain(1, 4, 10), 0); /* ripe at 100 s */
    assert_int_equal(cycle(&f, 0), 2);
    submit(&f, plain(2, 4, 5), s(1)); /* evicts nobody: backs off for two changes */
    assert_int_equal(cycle(&f, s(1)), 0);
    submit(&f, plain(3, 3, 99), s(2)); /* the new head: backs off for two changes too */
    assert_int_equal(cycle(&f, s(2)), 0);
    submit(&f, plain(4, 4, 1), s(3)); /* the second since, for job 2 */
    assert_int_equal(cycle(&f, s(3)), 0);
    assert_int_equal(f.wake_at, s(100));
    uint64_t attempts = attempts_of(&f);
    for (int64_t at = 4; at < 10; at++) {
        assert_int_equal(cycle(&f, s(at)), 0);
        assert_int_equal(f.wake_at, s(100));
    }
    assert_int_equal(attempts_of(&f), attempts);
    cycle(&f, s(100));
    assert_int_equal(f.count, 2);
    assert_int_equal(f.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(f.decisions[0].job, 1);
    assert_int_equal(f.decisions[0].for_job, 3);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_is_no_run_time),
        cmocka_unit_test(what_was_adopted_has_run),
        cmocka_unit_test(who_is_held_twice_is_told_why),
        cmocka_unit_test(only_so_many_dependencies_count),
        cmocka_unit_test(moving_ranks_are_computed_every_five_minutes),
        cmocka_unit_test(a_strict_line_sleeps_until_its_head_may_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
