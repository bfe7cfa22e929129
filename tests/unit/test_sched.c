/* policies/sched.h: hand-made situations, each of which went wrong once. */
#include <stdio.h>

#include "tests/support/test.h"

#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

/* A node of 4 large GPUs and one of 4 small ones. */
static struct cluster *two_models(void)
{
    return sched_case_cluster("{'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', "
                              "'node_name': 'a%u'}, {'name': 'b', 'nodes': 1, 'gpus_per_node': 4, "
                              "'gpu_model': 't4-16gb', 'node_name': 'b%u'}]}");
}

#define PREEMPTING(order, blocking, quota, placement, min_runtime, attempts)                                           \
    "{'order': [" order "], 'blocking': '" blocking "', 'quota': '" quota "', 'placement': '" placement                \
    "', 'preemption': {'policy': 'checkpoint', "                                                                       \
    "'grace_s': 30, 'min_runtime_s': " min_runtime ", 'attempts_per_cycle': " attempts "}}"

/* Spread puts a flat job's members on both nodes in turn: several pieces of one victim on one node. */
TEST(test_victim_with_two_pieces_on_a_node)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "worst_fit", "0", "4"));
    sched_case_submit(&c, sched_case_job(0, 8, 1, 10), 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_LOST, SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_case_close(&c);
}

/* The victim keeps its GPUs when its eviction is refused, although somebody had reserved them. */
TEST(test_refused_eviction)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "best_fit", "0", "4"));
    uint64_t empty = sched_hash(c.sched);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 10), 0);
    sched_case_start(&c, 0);
    uint64_t before = sched_hash(c.sched);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(c.decisions[0].kind, DECISION_EVICT);
    sched_decision_refused(c.sched, c.decisions[0].id, REFUSED_BUSY, SECONDS(2));
    assert_true(sched_hash(c.sched) == before);
    sched_job_cancelled(c.sched, 1, SECONDS(2));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(3));
    assert_lawful(sched_check(c.sched));
    assert_true(sched_hash(c.sched) == empty);
    sched_case_close(&c);
}

/* A full queue's job whose kind was found not to fit by another queue: evicting one of its own would make room on
 * the node, but not in the queue. */
TEST(test_plans_keep_limits)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id a = queue_table_add(queues, TEXT("a"), QUEUE_ROOT), b = queue_table_add(queues, TEXT("b"), QUEUE_ROOT);
    queues->queues[a].limit[RESOURCE_GPU] = 2000;
    sched_case_open(&c, cluster_uniform_new(1, 4), queues,
                    PREEMPTING("\"priority\"", "skip", "fairshare", "first_fit", "0", "4"));
    struct job jobs[] = {sched_case_job(0, 1, 1, 10), sched_case_job(1, 1, 1, 10), sched_case_job(2, 1, 1, 10),
                         sched_case_job(3, 1, 2, 10), sched_case_job(4, 1, 2, 90)};
    jobs[0].queue = jobs[1].queue = jobs[4].queue = a;
    jobs[2].queue = jobs[3].queue = b;
    jobs[1].is_preemptible = jobs[2].is_preemptible = false;
    for (int i = 0; i < 3; i++)
        sched_case_submit(&c, jobs[i], 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 3);
    sched_case_submit(&c, jobs[3], SECONDS(1)); /* one GPU is free */
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(c.count, 0);
    sched_case_submit(&c, jobs[4], SECONDS(2));
    sched_case_start(&c, SECONDS(2));
    assert_int_equal(c.count, 0);
    sched_case_close(&c);
}

/* The only victim starts in the same cycle: the preemptor must be looked at again when it has run long enough. */
TEST(test_wakes_for_one_that_starts)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "best_fit", "100", "4"));
    struct job firm = sched_case_job(0, 1, 1, 10);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, sched_case_job(1, 2, 4, 90), SECONDS(1)); /* both nodes: only when the firm job is gone */
    sched_case_submit(&c, sched_case_job(2, 1, 4, 10), SECONDS(1)); /* takes the other node meanwhile */
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(200));
    sched_case_submit(&c, sched_case_job(3, 1, 4, 10), SECONDS(200));
    sched_case_start(&c, SECONDS(200)); /* job 2 ran long enough, job 3 has its node only now */
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_int_equal(c.wake_at, SECONDS(300));
    sched_case_start(&c, SECONDS(300));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 2);
    sched_case_close(&c);
}

/* Two possible victims are slow to start and are told to run at once: the one that is ripe first counts. */
TEST(test_wakes_for_the_first_of_two_that_start)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "best_fit", "100", "4"));
    sched_case_submit(&c, sched_case_job(0, 1, 2, 10), 0);
    sched_case_cycle(&c, 0); /* ripe at 100 */
    sched_case_submit(&c, sched_case_job(1, 1, 2, 10), SECONDS(40));
    sched_case_cycle(&c, SECONDS(40)); /* ripe at 140 */
    sched_case_submit(&c, sched_case_job(2, 1, 1, 90), SECONDS(45));
    sched_case_cycle(&c, SECONDS(45));
    for (job_id id = 3; id < 12; id++) { /* some plans that come to nothing, and others that wait */
        sched_case_submit(&c, sched_case_job(id, 1, 1, 50), SECONDS(45));
        sched_case_cycle(&c, SECONDS(45));
    }
    sched_job_started(c.sched, 0, c.starts[0], SECONDS(50));
    sched_job_started(c.sched, 1, c.starts[1], SECONDS(50));
    sched_case_cycle(&c, SECONDS(50));
    assert_int_equal(c.wake_at, SECONDS(100));
    sched_case_cycle(&c, SECONDS(100));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* One plan a cycle: it asks to be called again for the rest. */
TEST(test_wakes_for_the_rest)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "best_fit", "0", "1"));
    sched_case_submit(&c, sched_case_job(0, 1, 4, 10), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1));
    sched_case_submit(&c, sched_case_job(3, 1, 3, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_true(c.wake_at <= SECONDS(1) + 1);
    sched_case_cycle(&c, SECONDS(1) + 1);
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.wake_at, SECONDS(1 + 600)); /* when the first reservation runs out */
    sched_case_close(&c);
}

/* Two alike: the second is planned in the same cycle, or a cycle is asked for. */
TEST(test_plans_for_two_alike)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "best_fit", "0", "4"));
    for (job_id id = 0; id < 2; id++)
        sched_case_submit(&c, sched_case_job(id, 1, 4, 10), 0);
    sched_case_start(&c, 0);
    for (job_id id = 2; id < 4; id++)
        sched_case_submit(&c, sched_case_job(id, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_true(sched_case_count(&c, DECISION_EVICT) == 2 || c.wake_at <= SECONDS(1) + 1);
    sched_case_close(&c);
}

/* Memory of a GPU is a larger share on one model than on another: a victim that asks little on the large ones
 * holds most of a small one. */
TEST(test_plans_with_memory)
{
    struct sched_case c;
    sched_case_open(&c, two_models(), queue_table_new(),
                    PREEMPTING("\"priority\"", "skip", "none", "first_fit", "0", "4"));
    struct job firm = sched_case_job(0, 1, 4, 50);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0); /* the large node */
    struct job job = sched_case_job(1, 4, 0, 10);
    job.first.request = (struct request){.gpu_memory_mib = 12 << 10};
    sched_case_submit(&c, job, 0); /* three quarters of each small one */
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 2);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1));
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* In a strict line the next may go as soon as the first has its reservation. */
TEST(test_strict_goes_on_after_a_plan)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "strict", "none", "best_fit", "0", "4"));
    sched_case_submit(&c, sched_case_job(0, 1, 4, 10), 0);
    struct job firm = sched_case_job(1, 1, 3, 50);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0); /* one GPU stays free */
    sched_case_start(&c, 0);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1)); /* in the place of job 0 */
    sched_case_submit(&c, sched_case_job(3, 1, 1, 5), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_case_close(&c);
}

/* Behind a head that nothing can be done for, nobody evicts his way past it. */
TEST(test_strict_is_not_overtaken_by_plans)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    PREEMPTING("\"priority\"", "strict", "none", "best_fit", "0", "4"));
    struct job firm = sched_case_job(0, 1, 4, 50);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 5), SECONDS(1)); /* blocks its kind */
    sched_case_start(&c, SECONDS(1));
    sched_case_submit(&c, sched_case_job(3, 2, 4, 99), SECONDS(2)); /* the whole cluster: waits for the firm job */
    sched_case_submit(&c, sched_case_job(4, 1, 4, 90), SECONDS(2)); /* could have job 1's node */
    sched_case_start(&c, SECONDS(2));
    sched_case_start(&c, SECONDS(3));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 0);
    assert_int_equal(sched_why(c.sched, 4), REASON_RESOURCES);
    sched_case_close(&c);
}

TEST(test_counts_held_jobs)
{
    struct sched_case c;
    struct sched_counts counts;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    struct job job = sched_case_job(0, 1, 1, 50);
    job.is_held = true;
    sched_case_submit(&c, job, 0);
    sched_case_cycle(&c, 0);
    sched_count(c.sched, &counts);
    assert_int_equal(counts.pending_jobs, 1);
    sched_job_cancelled(c.sched, 0, 0);
    sched_count(c.sched, &counts);
    assert_int_equal(counts.pending_jobs, 0);
    sched_case_close(&c);
}

/* A node is cordoned, so the whole tree holds more than there is: that is nobody's loan to the root's own jobs. */
TEST(test_root_takes_nothing_back)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id a = queue_table_add(queues, TEXT("a"), QUEUE_ROOT);
    queues->queues[a].deserved[RESOURCE_GPU] = 8000;
    sched_case_open(&c, cluster_uniform_new(2, 4), queues,
                    PREEMPTING("\"fifo\"", "skip", "fairshare", "best_fit", "0", "4"));
    for (job_id id = 0; id < 2; id++) {
        struct job job = sched_case_job(id, 1, 4, 50);
        job.queue = a;
        sched_case_submit(&c, job, 0);
    }
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 2);
    sched_node_changed(c.sched, 1, NODE_CORDONED, SECONDS(1));
    sched_case_submit(&c, sched_case_job(2, 1, 4, 50), SECONDS(1)); /* in the root itself */
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(c.count, 0);
    sched_case_close(&c);
}

/* Nodes without GPUs have no model that a request for GPU memory could be measured by. */
TEST(test_gpu_memory_without_gpus)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 0), queue_table_new(), "{}");
    struct job job = sched_case_job(0, 1, 0, 50);
    job.first.request.gpu_memory_mib = 1024;
    sched_case_submit(&c, job, 0);
    sched_case_cycle(&c, 0);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.decisions[0].kind, DECISION_REJECT);
    sched_case_close(&c);
}

/* More CPU-only members on a node than 16 bits count. */
TEST(test_many_members_on_a_node)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    uint64_t empty = sched_hash(c.sched);
    struct job job = sched_case_job(0, 70000, 0, 50);
    job.first.request.cpu_milli = 100;
    sched_case_submit(&c, job, 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    uint64_t members = 0;
    for (uint32_t i = 0; i < c.decisions[0].piece_count; i++)
        members += c.decisions[0].pieces[i].member_count;
    assert_int_equal(members, 70000);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(1));
    assert_true(sched_hash(c.sched) == empty);
    sched_case_close(&c);
}

/* Group 0 takes either model, group 1 only the first: an empty cluster holds both. */
TEST(test_groups_leave_each_other_room)
{
    struct sched_case c;
    sched_case_open(&c, two_models(), queue_table_new(), "{}");
    struct job job = sched_case_job(0, 1, 4, 50);
    struct job_group second = job.first;
    second.request.gpu_models = 1; /* the first node's */
    job.group_count = 2;
    job.more = &second;
    sched_case_submit(&c, job, 0);
    sched_case_submit(&c, sched_case_job(1, 1, 1, 50), 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_int_equal(c.decisions[0].job, 0);
    assert_int_equal(c.decisions[0].piece_count, 2);
    sched_case_close(&c);
}

/* What is kept free from a borrower is there for an owner who asks the same, in the cycle after. */
TEST(test_headroom_closes_the_borrower_alone)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id borrower = queue_table_add(queues, TEXT("borrower"), QUEUE_ROOT);
    queue_id owner = queue_table_add(queues, TEXT("owner"), QUEUE_ROOT);
    queues->queues[owner].deserved[RESOURCE_GPU] = 4000;
    sched_case_open(&c, cluster_uniform_new(1, 4), queues,
                    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'placement': 'best_fit', "
                    "'headroom': {'owners_gpus': 1}}");
    struct job job = sched_case_job(0, 1, 4, 50);
    job.queue = borrower;
    sched_case_submit(&c, job, 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 0);
    assert_int_equal(sched_why(c.sched, 0), REASON_HEADROOM);
    job = sched_case_job(1, 1, 4, 50);
    job.queue = owner;
    sched_case_submit(&c, job, SECONDS(1));
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_int_equal(c.decisions[0].job, 1);
    sched_case_close(&c);
}

/* What a job leaves counts for its team though nobody else of its queue waits: the team goes first then. */
TEST(test_contest_sees_queues_without_waiters)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id team = queue_table_add(queues, TEXT("a"), QUEUE_ROOT);
    queue_id other = queue_table_add(queues, TEXT("b"), QUEUE_ROOT);
    queue_id waits = queue_table_add(queues, TEXT("a1"), team);
    queue_id runs = queue_table_add(queues, TEXT("a2"), team);
    queue_id third = queue_table_add(queues, TEXT("c"), QUEUE_ROOT);
    sched_case_open(&c, cluster_uniform_new(1, 5), queues, "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'drf'}");
    const queue_id of[] = {runs, other, third, waits, other, other};
    for (job_id i = 0; i < 6; i++) {
        struct job job = sched_case_job(i, 1, i == 0 ? 3 : 1, 50);
        job.queue = of[i];
        sched_case_submit(&c, job, SECONDS(i));
        sched_case_start(&c, SECONDS(i));
    }
    sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(8));
    sched_case_start(&c, SECONDS(8));
    assert_int_equal(c.decisions[0].job, 4); /* its queue holds 1, the team 3 */
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(9));
    sched_case_cycle(&c, SECONDS(9));
    assert_int_equal(sched_case_count(&c, DECISION_START), 2);
    assert_int_equal(c.decisions[0].job, 3); /* now the team holds nothing, the other queue 2 */
    sched_case_close(&c);
}
