/* The recorded size of a cluster over time, by hand: which nodes take jobs when, what waits for them, and which GPU
 * time counts as in service.  Waits follow from the steps alone; GPU time is recomputed from the rows of attempts. */
#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/run.h"

#define S(seconds)      ((time_ns)(seconds)*TIME_NS_PER_S)
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static struct run_setup open_setup(uint32_t nodes, uint16_t gpus, const struct capacity_step *steps, uint32_t count)
{
    struct run_setup setup = run_setup_default(cluster_uniform_new(nodes, gpus));
    setup.world.capacity = (struct capacity_table){.steps = steps, .count = count};
    return setup;
}

static void close_setup(struct run_setup *setup, struct run_log *log)
{
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup->cluster);
}

static double absent_s(const struct run_log *log)
{
    return (double)run_last_sample(log)->spent[SPENT_ABSENT] / 1e9;
}

/* Servers that change at known times, one class of jobs of 10 s: at 0 two of four nodes serve, from 15 s one, from 35 s
 * four.  A server that leaves ends its job first. */
TEST(test_servers_change)
{
    const struct capacity_step steps[] = {{0, 0, 2}, {S(15), 0, 1}, {S(35), 0, 4}};
    struct run_setup setup = open_setup(4, 1, steps, COUNT_OF(steps));
    struct run_job jobs[10];
    static const int starts[] = {0, 0, 10, 10, 20, 30, 35, 35, 35, 40};
    for (uint32_t i = 0; i < COUNT_OF(jobs); i++)
        jobs[i] = run_job_make(0, S(10), 1, 1);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    for (uint32_t i = 0; i < COUNT_OF(jobs); i++)
        assert_int_equal(log->jobs[i].start, S(starts[i]));
    /* n2 and n3 to 35 s; n1 from 20 s, when its job has ended */
    assert_true(absent_s(log) == 2 * 35 + (35 - 20));
    close_setup(&setup, log);
}

/* The nodes with the highest numbers leave first, and come back last; a job on one of them runs to its end, and then
 * nothing starts there. */
TEST(test_drains)
{
    const struct capacity_step steps[] = {{S(10), 0, 1}, {S(200), 0, 2}};
    struct run_setup setup = open_setup(3, 8, steps, COUNT_OF(steps));
    const struct run_job jobs[] = {run_job_make(0, S(20), 1, 8), run_job_make(0, S(100), 1, 8),
                                   run_job_make(0, S(50), 1, 3), run_job_make(S(1), S(10), 2, 8)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(log->jobs[i].evictions, 0);
        assert_int_equal(log->jobs[i].state, END_COMPLETED);
    }
    assert_string_equal(run_attempt(log, 1, 0)->placement, "n1:0-7");
    assert_int_equal(log->jobs[1].end, S(100));
    assert_int_equal(log->jobs[3].start, S(200)); /* two nodes are in service again */
    assert_string_equal(run_attempt(log, 3, 0)->placement, "n[0-1]:0-7");
    /* n2: 5 GPUs from 10 s, 3 more from 50 s, to the end; n1: 8 from 100 s to 200 s */
    assert_true(absent_s(log) == 5 * 40 + 8 * (210 - 50) + 8 * 100);
    close_setup(&setup, log);
}

/* A gang larger than what is in service waits, and is not rejected; one larger than the cluster is. */
TEST(test_waits_for_nodes)
{
    const struct capacity_step steps[] = {{0, 0, 0}, {S(1000), 0, 3}, {S(2000), 0, 4}};
    struct run_setup setup = open_setup(4, 8, steps, COUNT_OF(steps));
    const struct run_job jobs[] = {run_job_make(S(5), S(100), 4, 8), run_job_make(S(6), S(100), 5, 8)};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].start, S(2000));
    assert_int_equal(log->jobs[1].state, END_REJECTED);
    assert_int_equal(log->result.never_fits, 1);
    close_setup(&setup, log);
}

/* Steps do not keep a run alive when no job is left; up to world.end they count.  Of several steps of one instant the
 * last holds. */
TEST(test_end)
{
    const struct capacity_step steps[] = {{0, 0, 0}, {0, 0, 2}, {S(500), 0, 1}};
    struct run_setup setup = open_setup(2, 8, steps, COUNT_OF(steps));
    const struct run_job job = run_job_make(0, S(10), 1, 8), two[] = {job, run_job_make(S(700), S(10), 1, 8)};
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->result.facts.end, S(10));
    assert_true(absent_s(log) == 0);
    struct run_setup plain = setup;
    plain.world.capacity.count = 0;
    struct run_log *other = run_jobs(&plain, &job, 1);
    assert_true(log->result.fingerprint == other->result.fingerprint);
    run_log_free(other);
    run_log_free(log);
    log = run_jobs(&setup, two, 2); /* nothing runs when the size changes */
    assert_true(absent_s(log) == 8 * (710 - 500));
    run_log_free(log);
    setup.world.end = S(1000);
    log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->result.facts.end, S(1000));
    assert_true(absent_s(log) == 8 * 500);
    close_setup(&setup, log);
}

/* A START that takes effect after its node has left: it runs, and keeps the node from being absent. */
TEST(test_start_under_way)
{
    const struct capacity_step steps[] = {{S(5), 0, 0}};
    struct run_setup setup = open_setup(1, 8, steps, COUNT_OF(steps));
    const struct run_job jobs[] = {run_job_make(0, S(100), 1, 6), run_job_make(S(1), S(100), 1, 6)};
    setup.world.decision_latency = S(10);
    setup.world.end = S(300);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].start, S(10));
    assert_int_equal(log->jobs[0].end, S(110));
    assert_int_equal(log->jobs[1].state, END_PENDING);
    assert_true(absent_s(log) == 2 * (110 - 5) + 8 * (300 - 110));
    close_setup(&setup, log);
}

/* ---- Random worlds ---- */

enum { NODES = 6, GPUS = 8, JOBS = 120, STEPS = 24 };

static void random_jobs(struct random_stream *stream, struct run_job *jobs)
{
    time_ns submit = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        submit += S(random_below(stream, 60));
        const uint32_t members = random_below(stream, 4) == 0 ? 1 + random_below(stream, 3) : 1;
        jobs[i] = run_job_make(submit, S(1 + random_below(stream, 400)), members,
                               members > 1 ? GPUS : (uint16_t)(1 + random_below(stream, GPUS)));
    }
}

/* A full cluster at last, so that all jobs end. */
static void random_steps(struct random_stream *stream, struct capacity_step *steps)
{
    time_ns at = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        steps[i] = (struct capacity_step){at, 0, i + 1 < STEPS ? random_below(stream, NODES + 1) : NODES};
        at += S(random_below(stream, 400));
    }
}

/* GPU nanoseconds out of service: of each node and step, less what attempts held there. */
static __int128 naive_absent(const struct run_log *log, const struct capacity_step *steps)
{
    const time_ns end = log->result.facts.end;
    __int128 sum = 0;
    for (uint32_t s = 0; s < STEPS; s++) {
        const time_ns from = steps[s].at, to = s + 1 < STEPS && steps[s + 1].at < end ? steps[s + 1].at : end;
        if (to <= from)
            continue;
        sum += (__int128)(to - from) * GPUS * (NODES - steps[s].nodes);
        for (uint32_t a = 0; a < log->attempt_count; a++) {
            const struct attempt_row *row = &log->attempts[a];
            uint16_t milli[NODES * NODE_GPUS_MAX];
            const time_ns begin = row->start > from ? row->start : from, until = row->end < to ? row->end : to;
            run_placement_read(row->placement, NODES, milli);
            for (uint32_t g = steps[s].nodes * NODE_GPUS_MAX; g < NODES * NODE_GPUS_MAX && until > begin; g++)
                sum -= (__int128)(until - begin) * milli[g] / GPU_MILLI;
        }
    }
    return sum;
}

/* Nothing starts on a node that is out of service. */
static void check_starts(const struct run_log *log, const struct capacity_step *steps)
{
    for (uint32_t a = 0; a < log->attempt_count; a++) {
        uint32_t nodes = NODES;
        uint16_t milli[NODES * NODE_GPUS_MAX];
        for (uint32_t s = 0; s < STEPS && steps[s].at <= log->attempts[a].start; s++)
            nodes = steps[s].nodes;
        run_placement_read(log->attempts[a].placement, NODES, milli);
        for (uint32_t g = nodes * NODE_GPUS_MAX; g < NODES * NODE_GPUS_MAX; g++)
            assert_int_equal(milli[g], 0);
    }
}

TEST(test_naive_gpu_time)
{
    static const char *const presets[] = {"fifo", "easy", "windtunnel", "kai"};
    for (uint32_t round = 0; round < 12; round++) {
        struct random_stream stream;
        struct run_job jobs[JOBS];
        struct capacity_step steps[STEPS];
        random_stream_init(&stream, round, "engine_nodes", 0);
        random_jobs(&stream, jobs);
        random_steps(&stream, steps);
        struct run_setup setup = open_setup(NODES, GPUS, steps, STEPS);
        setup.policy = run_preset(presets[round % COUNT_OF(presets)]);
        setup.world.sample_interval = S(37);
        struct run_log *log = run_jobs(&setup, jobs, JOBS);
        assert_int_equal(log->result.finished, JOBS);
        check_starts(log, steps);
        assert_true(run_last_sample(log)->spent[SPENT_ABSENT] == naive_absent(log, steps));
        close_setup(&setup, log);
    }
}

/* With a size that is always the cluster's nothing changes. */
TEST(test_constant)
{
    const struct capacity_step all[] = {{0, 0, NODES}, {S(100), 0, NODES}};
    struct random_stream stream;
    struct run_job jobs[JOBS];
    random_stream_init(&stream, 1, "engine_nodes", 0);
    random_jobs(&stream, jobs);
    struct run_setup plain = open_setup(NODES, GPUS, NULL, 0), sized = plain;
    sized.world.capacity = (struct capacity_table){.steps = all, .count = COUNT_OF(all)};
    struct run_log *log = run_jobs(&plain, jobs, JOBS), *other = run_jobs(&sized, jobs, JOBS);
    assert_true(log->result.fingerprint == other->result.fingerprint);
    assert_int_equal(log->result.facts.cycles, other->result.facts.cycles);
    run_log_free(other);
    close_setup(&plain, log);
}

/* n nodes of a larger cluster serve as a cluster of n nodes: jobs start at the same times on the same GPUs. */
TEST(test_as_a_smaller_cluster)
{
    static const char *const presets[] = {"fifo", "easy", "conservative", "windtunnel"};
    const struct capacity_step four[] = {{0, 0, 4}};
    for (uint32_t p = 0; p < COUNT_OF(presets); p++) {
        struct random_stream stream;
        struct run_job jobs[JOBS];
        random_stream_init(&stream, p, "engine_nodes", 1);
        random_jobs(&stream, jobs);
        struct run_setup small = open_setup(4, GPUS, NULL, 0), large = open_setup(NODES, GPUS, four, 1);
        small.policy = large.policy = run_preset(presets[p]);
        struct run_log *log = run_jobs(&small, jobs, JOBS), *other = run_jobs(&large, jobs, JOBS);
        for (uint32_t i = 0; i < JOBS; i++) {
            assert_int_equal(log->jobs[i].start, other->jobs[i].start);
            assert_int_equal(log->jobs[i].end, other->jobs[i].end);
        }
        assert_int_equal(log->attempt_count, other->attempt_count);
        for (uint32_t a = 0; a < log->attempt_count; a++)
            assert_string_equal(log->attempts[a].placement, other->attempts[a].placement);
        close_setup(&small, log);
        close_setup(&large, other);
    }
}
