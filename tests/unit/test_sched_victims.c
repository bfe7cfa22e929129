/* policies/eviction/node_search.c, headroom.c, eligible.c: victims that are shares, nodes that are not up, elements
 * that run already. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

#define BY_NODE(more)                                                                                                  \
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'none', "                                            \
    "'actions': ['allocate', 'preempt'], " more "'preemption': {'policy': 'kill', "                                    \
    "'victims': [], 'search': 'node', 'min_runtime_s': 0}}"

static struct job share(job_id id, uint32_t count, uint16_t milli, int32_t priority)
{
    struct job job = sched_case_job(id, count, 0, priority);
    job.first.request.gpu_milli = milli;
    return job;
}

/* Two nodes of a GPU; on one 700 and 200 thousandths are used, on the other 600.  A member of 500 finds room where 600
 * go, not where 700 do; one of 400 is there already. */
TEST(the_cheapest_share_goes)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 1), queue_table_new(), BY_NODE(""));
    sched_case_submit(&c, share(0, 1, 700, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, share(1, 1, 600, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, share(2, 1, 200, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(c.decisions[0].pieces[0].node, 0); /* the best fit */
    sched_case_submit(&c, share(3, 1, 500, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.decisions[0].job, 1);
    sched_case_close(&c);
}

/* Three members of 400: two share a GPU, the third has 200 left beside 400 and 400, and must have one of them gone. */
TEST(shares_add_up_on_a_node)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 2), queue_table_new(), BY_NODE(""));
    for (job_id id = 0; id < 4; id++) {
        sched_case_submit(&c, share(id, 1, 400, (int32_t)(10 + id)), 0);
        assert_int_equal(sched_case_start(&c, 0), 1);
    }
    sched_case_submit(&c, share(4, 2, 400, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 2);
    for (size_t i = 0; i < 2; i++)
        assert_in_range(c.decisions[i].job, 0, 1); /* the lowest priorities */
    sched_case_close(&c);
}

/* A member that asks all the memory of a GPU asks a whole one; one that asks more fits nowhere. */
TEST(all_the_memory_is_a_whole_gpu)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 1), queue_table_new(), BY_NODE(""));
    struct job preemptor = sched_case_job(1, 1, 0, 90);
    preemptor.first.request.gpu_memory_mib = c.cluster->models[0].memory_mib;
    sched_case_submit(&c, share(0, 1, 100, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, preemptor, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    preemptor.id = 2;
    preemptor.first.request.gpu_memory_mib++;
    sched_case_submit(&c, preemptor, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 1);
    sched_case_close(&c);
}

/* One whole node is kept for inference.  The only one that is empty is cordoned, so another is emptied, where that
 * takes least; once that is on its way, nobody else goes. */
TEST(a_cordoned_node_is_no_headroom)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(3, 4), queue_table_new(), BY_NODE("'headroom': {'whole_nodes': 1}, "));
    sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 3, 40), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_node_changed(c.sched, 2, NODE_CORDONED, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.decisions[0].job, 1);
    assert_int_equal(c.decisions[0].reason, REASON_HEADROOM);
    for (int i = 0; i < 40; i++) { /* beyond any back-off */
        sched_job_cancelled(c.sched, 0, SECONDS(2));
        sched_case_cycle(&c, SECONDS(2));
        assert_int_equal(c.count, 0);
    }
    sched_case_close(&c);
}

/* The same while something leaves: half of another node, whose other half has to go too. */
TEST(a_cordoned_node_is_none_later_either)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(3, 4), queue_table_new(), BY_NODE("'headroom': {'whole_nodes': 1}, "));
    sched_case_submit(&c, sched_case_job(0, 1, 2, 50), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 2, 50), 0);
    sched_case_submit(&c, sched_case_job(2, 1, 3, 40), 0);
    assert_int_equal(sched_case_start(&c, 0), 3);
    sched_node_changed(c.sched, 2, NODE_CORDONED, SECONDS(1));
    sched_job_leaving(c.sched, 0, MEMBERS_ALL, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.decisions[0].job, 1);
    sched_case_close(&c);
}

/* Two elements of an array run already, of three that may; the third starts, the fourth waits until one of them ends.
 */
TEST(adopted_elements_count)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 8), queue_table_new(), "{}");
    for (job_id id = 0; id < 4; id++) {
        struct job job = sched_case_job(id, 1, 1, 50);
        job.array = 1;
        job.array_max = 3;
        struct piece piece = {.gpu_mask = (uint16_t)(1u << id), .gpu_milli = GPU_MILLI, .member_count = 1};
        if (id < 2)
            sched_job_adopted(c.sched, &job, &piece, 1, 0, SECONDS(1));
        else
            sched_case_submit(&c, job, SECONDS(1));
    }
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    assert_int_equal(sched_why(c.sched, 3), REASON_ARRAY_LIMIT);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    for (job_id id = 1; id < 4; id++)
        sched_job_ended(c.sched, id, JOB_END_COMPLETED, false, SECONDS(3));
    sched_case_cycle(&c, SECONDS(3));
    assert_int_equal(sched_case_counts(&c).running_jobs, 0);
    sched_case_close(&c);
}

/* A promise is given up after just 50 s, which is when a cycle is asked for. */
TEST(a_promise_ends_on_the_dot)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), BY_NODE("\"reservation_expiry_s\": 50, "));
    sched_case_submit(&c, sched_case_job(0, 1, 4, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    assert_true(c.wake_at == SECONDS(51));
    sched_case_cycle(&c, SECONDS(51) - 1);
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 0);
    sched_case_cycle(&c, SECONDS(51));
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 1);
    sched_case_close(&c);
}
