/* policies/reservation/reserve.c: for how long planned starts of a queue selection stand, and whom they hold up. */
#include "tests/support/test.h"

#include "policies/explain.h"
#include "tests/support/sched_case.h"

enum { OWNER = 1, OTHER = 2 }; /* queues */

static struct queue_table *two_queues(int64_t owner_gpus, int64_t other_gpus)
{
    struct queue_table *queues = queue_table_new();
    assert_int_equal(queue_table_add(queues, text_of("owner"), QUEUE_ROOT), OWNER);
    assert_int_equal(queue_table_add(queues, text_of("other"), QUEUE_ROOT), OTHER);
    queues->queues[OWNER].deserved[RESOURCE_GPU] = owner_gpus * GPU_MILLI;
    queues->queues[OTHER].deserved[RESOURCE_GPU] = other_gpus * GPU_MILLI;
    return queues;
}

static struct job job_of(job_id id, queue_id queue, uint16_t gpus, int64_t limit_s)
{
    struct job job = sched_case_job(id, 1, gpus, 50);
    job.queue = queue;
    job.limit = limit_s == 0 ? TIME_NEVER : SECONDS(limit_s);
    return job;
}

/* 3 of 4 GPUs are held by `other` for 1,000 s; a gang of the owner asks all 4. */
static void open_with_gang(struct sched_case *c, const char *policy)
{
    sched_case_open(c, cluster_uniform_new(1, 4), two_queues(2, 2), policy);
    sched_case_submit(c, job_of(0, OTHER, 3, 1000), 0);
    assert_int_equal(sched_case_start(c, 0), 1);
    sched_case_submit(c, job_of(1, OWNER, 4, 50), SECONDS(1));
}

#define POLICY(backfill)                                                                                               \
    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', "                                                   \
    "'backfill': {'policy': 'easy'" backfill "}}"

TEST(who_waits_for_a_forecast_goes_when_it_falls)
{
    struct sched_case c;
    open_with_gang(&c, POLICY(", \"interval_s\": 500"));
    sched_case_submit(&c, job_of(2, OTHER, 1, 0), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    assert_int_equal(sched_why(c.sched, 2), REASON_RESERVED_FOR_OTHER);
    assert_int_equal(sched_why(c.sched, 1), REASON_RESOURCES);
    struct explanation why;
    assert_true(sched_explain(c.sched, 2, &why));
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 1);
    assert_non_null(strstr(why.text, "in front of it"));
    assert_true(sched_explain(c.sched, 1, &why)); /* its own planned start keeps nothing from it */
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    sched_job_cancelled(c.sched, 1, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    assert_int_equal(c.decisions[0].job, 2);
    sched_case_close(&c);
}

/* The gang's planned start was on node 0, which is cordoned: it falls, and the pass in the same cycle finds none. */
TEST(a_forecast_falls_with_its_node)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), two_queues(4, 4), POLICY(""));
    sched_case_submit(&c, job_of(0, OTHER, 3, 1000), 0);
    sched_case_submit(&c, job_of(1, OTHER, 4, 5000), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_case_submit(&c, job_of(2, OWNER, 4, 50), SECONDS(1));
    sched_case_submit(&c, job_of(3, OTHER, 1, 2000), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    sched_node_changed(c.sched, 0, NODE_CORDONED, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
    sched_node_changed(c.sched, 0, NODE_UP, SECONDS(3));
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(4));
    assert_int_equal(sched_case_start(&c, SECONDS(4)), 2); /* the gang on node 1, and who waited for it */
    sched_case_close(&c);
}

/* The next pass is 30 s after the first: until then what comes is held up by nobody but the gang, and gets no planned
 * start; then the scheduler is woken, once. */
static void check_interval(int64_t first_s)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), two_queues(4, 4), POLICY(", 'reservations': 2, 'interval_s': 30"));
    sched_case_submit(&c, job_of(0, OTHER, 3, 1000), 0);
    sched_case_submit(&c, job_of(1, OTHER, 3, 2000), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_case_submit(&c, job_of(2, OWNER, 4, 0), SECONDS(first_s));
    assert_int_equal(sched_case_start(&c, SECONDS(first_s)), 0);
    assert_int_equal(c.wake_at, TIME_NEVER); /* nothing has changed since */
    struct job second = job_of(3, OWNER, 4, 0);
    second.first.request.cpu_milli = 1; /* another request class: of each only the first is given one */
    sched_case_submit(&c, second, SECONDS(2));
    sched_case_submit(&c, job_of(4, OTHER, 1, 0), SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1); /* beside the first gang, in the way of the second */
    assert_int_equal(c.decisions[0].job, 4);
    assert_int_equal(c.decisions[0].pieces[0].node, 1);
    assert_int_equal(c.wake_at, SECONDS(first_s + 30));
    sched_job_ended(c.sched, 4, JOB_END_COMPLETED, false, SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(first_s + 30)), 0);
    assert_int_equal(c.wake_at, TIME_NEVER);
    sched_case_submit(&c, job_of(5, OTHER, 1, 0), SECONDS(32));
    assert_int_equal(sched_case_start(&c, SECONDS(32)), 0); /* now both have one */
    assert_int_equal(c.wake_at, SECONDS(first_s + 60));
    sched_case_close(&c);
}

TEST(passes_keep_their_interval)
{
    check_interval(0);
    check_interval(1);
}

/* Job 0 of `other` has 3 of the 4 GPUs, job 1 is promised all of them. */
static void open_promised(struct sched_case *c)
{
    sched_case_open(c, cluster_uniform_new(1, 4), two_queues(4, 0), POLICY(", \"interval_s\": 500"));
    sched_case_submit(c, job_of(0, OTHER, 3, 1000), 0);
    assert_int_equal(sched_case_start(c, 0), 1);
    sched_case_submit(c, job_of(1, OTHER, 4, 50), SECONDS(1));
    assert_int_equal(sched_case_start(c, SECONDS(1)), 0);
}

/* `other` is promised all 4 GPUs; a job of the owner that comes later, within what he deserves, does not wait for
 * that. */
TEST(owners_do_not_wait_for_borrowers)
{
    struct sched_case c;
    open_promised(&c);
    sched_case_submit(&c, job_of(2, OTHER, 1, 0), SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
    struct job own = job_of(3, OWNER, 1, 0);
    own.first.request.cpu_milli = 1; /* a request class of its own */
    sched_case_submit(&c, own, SECONDS(3));
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 1);
    assert_int_equal(c.decisions[0].job, 3);
    sched_case_close(&c);
}

/* The GPU that is free is kept from job 2 for job 1, which goes before it, and not from the owner's gang. */
TEST(an_explanation_looks_at_who_is_held_up)
{
    struct sched_case c;
    open_promised(&c);
    struct job gang = job_of(3, OWNER, 1, 0);
    gang.first.count = gang.first.min_count = 2;
    sched_case_submit(&c, job_of(2, OTHER, 1, 0), SECONDS(2));
    sched_case_submit(&c, gang, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
    for (int again = 0; again < 2; again++) {
        struct explanation why = sched_case_explain(&c, 2, REASON_RESERVED_FOR_OTHER);
        assert_int_equal(why.nodes[EXPLAIN_KEPT], 1);
        why = sched_case_explain(&c, 3, REASON_RESOURCES);
        assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    }
    sched_case_close(&c);
}

/* Of a class queue whose head would be in the way the first that would not goes, however many are before it. */
TEST(the_shorter_go_before_the_head_of_their_class_queue)
{
    struct sched_case c;
    open_with_gang(&c, POLICY(""));
    sched_case_submit(&c, job_of(2, OTHER, 1, 0), SECONDS(1));
    sched_case_submit(&c, job_of(3, OTHER, 1, 1000), SECONDS(1));
    sched_case_submit(&c, job_of(4, OTHER, 1, 999), SECONDS(1));
    sched_case_submit(&c, job_of(5, OTHER, 1, 10), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1); /* the gang's time is at 1,000 s */
    assert_int_equal(c.decisions[0].job, 4);
    sched_case_close(&c);
}

/* There is room for job 2, of the owner who may take back what is lent, but a planned start is in front: nobody is
 * evicted for him. */
TEST(nobody_is_evicted_for_who_waits_for_a_planned_start)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), two_queues(4, 0),
                    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'backfill': {'policy': 'easy'}, "
                    "'actions': ['allocate', 'reclaim'], 'preemption': {'policy': 'kill', 'min_runtime_s': 0}}");
    struct job firm = job_of(0, OTHER, 2, 1000), lent = job_of(1, OTHER, 1, 5000);
    firm.is_preemptible = false;
    lent.is_preemptible = true;
    sched_case_submit(&c, firm, 0);
    sched_case_submit(&c, lent, 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_case_submit(&c, job_of(2, OWNER, 4, 50), SECONDS(1)); /* at 1,000 s at the earliest */
    sched_case_submit(&c, job_of(3, OWNER, 1, 2000), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 0);
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 0);
    assert_int_equal(sched_why(c.sched, 3), REASON_RESERVED_FOR_OTHER);
    sched_case_close(&c);
}

/* Inference that goes before all queues is held up by no planned start. */
TEST(inference_first_waits_for_no_planned_start)
{
    struct sched_case c;
    open_with_gang(&c, "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'inference_first': true, "
                       "'backfill': {'policy': 'easy'}}");
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    struct job serves = job_of(2, OTHER, 1, 0);
    serves.class = JOB_INFERENCE;
    sched_case_submit(&c, serves, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    sched_case_close(&c);
}

/* Of 40 jobs, which would end every 100 s, one ends early and 22, or 30, others must have left: that is so at 2,200 s,
 * or 3,000 s. */
TEST(the_end_that_suffices_is_found)
{
    for (uint32_t others = 22; others <= 30; others += 8) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(5, 8), two_queues(40, 0), POLICY(""));
        for (job_id id = 0; id < 40; id++)
            sched_case_submit(&c, job_of(id, OTHER, 1, 100 * ((int64_t)id * 7 % 40 + 1)), 0);
        assert_int_equal(sched_case_start(&c, 0), 40);
        struct job gang = sched_case_job(40, others + 1, 1, 50); /* wherever they are */
        gang.queue = OWNER;
        gang.limit = SECONDS(50);
        sched_case_submit(&c, gang, SECONDS(1));
        assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
        sched_job_ended(c.sched, 17, JOB_END_COMPLETED, false, SECONDS(2)); /* at 4,000 s by its limit */
        sched_case_submit(&c, job_of(41, OTHER, 1, 100 * others - 1), SECONDS(2));
        assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
        sched_case_submit(&c, job_of(42, OTHER, 1, 100 * others - 2), SECONDS(2));
        assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
        assert_int_equal(c.decisions[0].job, 42);
        sched_case_close(&c);
    }
}
