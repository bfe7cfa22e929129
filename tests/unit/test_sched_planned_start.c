/* policies/reservation/planned_start.c: when and where a job is planned start, by the profile alone or in the ledger.
 */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

static struct job limited(job_id id, uint16_t gpus, int64_t limit_s)
{
    struct job job = sched_case_job(id, 1, gpus, 50);
    job.limit = SECONDS(limit_s);
    return job;
}

static struct job with_cpus(struct job job, uint32_t cpus)
{
    job.first.request.cpu_milli = cpus * 1000;
    return job;
}

static const char conservative[] = "{'order': ['fifo'], 'backfill': {'policy': 'conservative'}}";
static const char firm_on_one_node[] = "{'order': ['fifo'], 'backfill': {'policy': 'conservative'}, "
                                       "'placement': 'best_fit', 'placement_firm': 'strict_pack'}";

enum wish { ANYWHERE, FIRM, IN_ONE_RACK, SET_IN_ONE_RACK };

/* Half of each node is free at 100 s, all of node 1 at 200 s: who must have one node, or one rack, waits for that. */
TEST(what_is_asked_of_topology_is_waited_for)
{
    static const struct {
        int64_t limit_s;
        struct piece piece;
    } runs[] = {{100, {.node = 0, .gpu_mask = 3}},
                {300, {.node = 0, .gpu_mask = 12}},
                {100, {.node = 1, .gpu_mask = 3}},
                {200, {.node = 1, .gpu_mask = 12}}};
    const struct job_set set = {.name = "", .parent = SET_NONE, .min_members = 2, .topology = {.required = 1}};
    for (enum wish wish = ANYWHERE; wish <= SET_IN_ONE_RACK; wish++) {
        struct sched_case c;
        sched_case_open(&c,
                        sched_case_cluster("{'levels': ['rack', 'node'], 'pools': [{'nodes': 1, 'gpus_per_node': 4, "
                                           "'labels': {'rack': 'a'}},{'nodes': 1, 'gpus_per_node': 4, "
                                           "'labels': {'rack': 'b'}}]}"),
                        queue_table_new(), firm_on_one_node);
        for (job_id id = 0; id < 4; id++)
            sched_case_adopt(&c, limited(id, 2, runs[id].limit_s), runs[id].piece);
        struct job gang = sched_case_job(4, 2, 2, 50);
        gang.limit = SECONDS(50);
        gang.is_preemptible = wish != FIRM;
        gang.topology.required = wish == IN_ONE_RACK;
        gang.set_count = wish == SET_IN_ONE_RACK;
        gang.sets = wish == SET_IN_ONE_RACK ? &set : NULL;
        sched_case_submit(&c, gang, 0);
        assert_int_equal(sched_case_start(&c, 0), 0);
        assert_int_equal(sched_planned_start(c.sched, 4), SECONDS(wish == ANYWHERE ? 100 : 200));
        sched_case_close(&c);
    }
}

/* At 100 s node 1 is free, and has 1 GPU; node 0 has 3, but takes one task only, which ends at 200 s. */
TEST(tasks_are_counted)
{
    struct sched_case c;
    sched_case_open(&c,
                    sched_case_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 4, 'max_tasks': 1},{'nodes': 1, "
                                       "'gpus_per_node': 1}]}"),
                    queue_table_new(), conservative);
    sched_case_adopt(&c, limited(0, 1, 200), (struct piece){.node = 0, .gpu_mask = 1});
    sched_case_adopt(&c, limited(1, 1, 100), (struct piece){.node = 1, .gpu_mask = 1});
    sched_case_submit(&c, limited(2, 3, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(200));
    sched_case_close(&c);
}

/* The gang will have node 1 to itself, though half of node 0 is free: job 2 may stay there for longer. */
TEST(a_forecast_is_where_the_placement_puts_it)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'conservative'}, 'placement': 'pack'}");
    sched_case_adopt(&c, limited(0, 2, 1000), (struct piece){.node = 0, .gpu_mask = 3});
    sched_case_adopt(&c, limited(1, 4, 100), (struct piece){.node = 1, .gpu_mask = 15});
    struct job gang = sched_case_job(2, 2, 2, 50);
    gang.limit = SECONDS(50);
    sched_case_submit(&c, gang, 0);
    sched_case_submit(&c, limited(3, 2, 500), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(c.decisions[0].job, 3);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(100));
    sched_case_close(&c);
}

/* Jobs 1 and 2 need 4 of 8 CPUs one after the other, so that 4 are free all the time: a job that may be evicted is
 * planned by the profile, which knows. */
TEST(who_is_not_firm_is_planned_exactly)
{
    struct sched_case c;
    struct cluster *cluster = cluster_uniform_new(1, 4);
    cluster->types[0].cpu_milli = 8000;
    sched_case_open(&c, cluster, queue_table_new(), firm_on_one_node);
    sched_case_submit(&c, limited(0, 3, 100), 0);
    sched_case_submit(&c, with_cpus(limited(1, 3, 50), 4), 0);
    sched_case_submit(&c, with_cpus(limited(2, 3, 50), 4), 0);
    sched_case_submit(&c, with_cpus(limited(3, 1, 250), 4), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    assert_int_equal(c.decisions[1].job, 3);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(150));
    sched_case_close(&c);
}

static struct job share(job_id id, uint16_t gpu_milli, int64_t limit_s)
{
    struct job job = limited(id, 0, limit_s);
    job.first.request.gpu_milli = gpu_milli;
    return job;
}

/* On one GPU, in thousandths: what the first two hold ends at 100 s and 200 s, the two that wait have a planned start,
 * the last two would overtake until 101 s and until 100 s. */
static void check_needs(const uint16_t runs[2], const uint16_t waits[2], int64_t first_s, int64_t second_s)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 1), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'easy', 'reservations': 2}}");
    sched_case_submit(&c, share(0, runs[0], 100), 0);
    sched_case_submit(&c, share(1, runs[1], 200), 0);
    sched_case_submit(&c, share(2, waits[0], 50), 0);
    sched_case_submit(&c, share(3, waits[1], 50), 0);
    sched_case_submit(&c, share(4, 100, 101), 0);
    sched_case_submit(&c, share(5, 100, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 3);
    assert_int_equal(c.decisions[2].job, 5);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(first_s));
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(second_s));
    sched_case_close(&c);
}

/* At 100 s both that wait take all of the GPU but the 100 that stay; or the second takes what 600 leave, long before
 * the first. */
TEST(needs_of_one_gpu_are_summed)
{
    check_needs((const uint16_t[]){600, 100}, (const uint16_t[]){450, 450}, 100, 100);
    check_needs((const uint16_t[]){200, 600}, (const uint16_t[]){500, 400}, 200, 100);
}

/* Job 1 has room when job 0 ends, at 100 s: at the end of the window, or a second behind it. */
TEST(the_window_has_its_end)
{
    static const char *const policies[] = {
        "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'resolution_s': 0, 'window_s': 100}}",
        "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'resolution_s': 0, 'window_s': 99}}"};
    for (int behind = 0; behind < 2; behind++)
        for (int whole = 0; whole < 2; whole++) {
            struct sched_case c;
            sched_case_open(&c, cluster_uniform_new(1, 1), queue_table_new(), policies[behind]);
            sched_case_submit(&c, share(0, 600, 100), 0);
            sched_case_submit(&c, whole ? limited(1, 1, 50) : share(1, 500, 50), 0);
            sched_case_submit(&c, share(2, 100, 10), 0); /* so that there is a pass */
            assert_int_equal(sched_case_start(&c, 0), 2);
            assert_int_equal(sched_planned_start(c.sched, 1), behind ? TIME_NEVER : SECONDS(100));
            sched_case_close(&c);
        }
}

/* Job 1, of half a GPU, was promised 100 s and starts at 10 s: what it was promised is nobody's any more, and job 2,
 * which needs both GPUs for longer than until then, follows its end. */
TEST(a_share_that_moved_up_leaves_nothing)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 2), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 2, 100), 0);
    sched_case_submit(&c, share(1, 500, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(10));
    sched_case_submit(&c, limited(2, 2, 100), SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 1);
    assert_int_equal(c.decisions[0].job, 1);
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(60));
    sched_case_close(&c);
}

/* Job 1, of three quarters of the only GPU, was promised 100 s and would run beyond that from 10 s on: its own promise
 * is not in its way. */
TEST(a_share_is_not_in_its_own_way)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 1), queue_table_new(), conservative);
    sched_case_submit(&c, limited(0, 1, 100), 0);
    sched_case_submit(&c, share(1, 750, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 1);
    sched_case_close(&c);
}
