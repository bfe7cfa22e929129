/* What neighbours on a GPU and pieces of one cost, by hand and against a naive count from the rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/random.h"
#include "policies/policy_config.h"
#include "policies/sharing/sharings.h"
#include "sim/engine/sharing_speed.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"

#define S(seconds) ((time_ns)(seconds)*TIME_NS_PER_S)

static struct policy_config read_policy(const char *text)
{
    struct policy_config policy;
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "policy", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    return policy;
}

static struct cluster *read_cluster(const char *text)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "cluster", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_false(error_is(error));
    json_doc_free(doc);
    return cluster;
}

/* Within a millisecond: speeds are whole numbers of 2^-20. */
static void near_s(time_ns is, double seconds)
{
    if (fabs((double)is / TIME_NS_PER_S - seconds) > 1e-3)
        fail_msg("%.6f s, not %.6f", (double)is / TIME_NS_PER_S, seconds);
}

static struct run_job notebook(time_ns submit, uint16_t sm_active_milli)
{
    struct run_job job = run_job_make(submit, S(100), 1, 1);
    job.job.class = JOB_INTERACTIVE;
    job.truth.sm_active_milli = sm_active_milli;
    return job;
}

static struct run_job part(time_ns submit, uint32_t members, uint16_t milli)
{
    struct run_job job = run_job_make(submit, S(100), members, 0);
    job.job.first.request.gpu_milli = milli;
    job.truth.sm_active_milli = 1000;
    return job;
}

/* Both are busy all the time: alone for 50 s, in turns for 111 s, the second alone for 50 s. */
static void test_turns(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'timeslice'}");
    const struct run_job jobs[] = {notebook(0, 500), notebook(S(50), 500)};
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 161);
    near_s(log->jobs[1].end, 211);
    assert_int_equal(log->attempt_count, 2);
    near_s(log->attempts[0].saved, 100);
    near_s(log->jobs[0].run, 161);
    near_s(log->jobs[1].work, 100);
    /* half of the SMs for 100 s of work each */
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 100) < 0.01);
    assert_int_equal(log->jobs[0].sm_active_milli, 1000); /* more than its quarter of the GPU has */
    run_log_free(log);
    setup.world.sharing = SHARING_FREE;
    log = run_jobs(&setup, jobs, 2);
    assert_int_equal(log->jobs[0].end, S(100));
    assert_int_equal(log->jobs[1].end, S(150));
    run_log_free(log);
    cluster_free(cluster);
}

/* Half of the issue slots each: together 0.5 + 1 times as long. */
static void test_mps(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    struct run_job jobs[2];
    for (int j = 0; j < 2; j++) {
        jobs[j] = run_job_make(S(50 * j), S(100), 1, 0);
        jobs[j].job.first.request.gpu_milli = 500;
        jobs[j].truth.sm_active_milli = 1000;
    }
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 50 + 75);
    near_s(log->jobs[1].end, 125 + 50);
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 100) < 0.01);
    assert_int_equal(log->jobs[0].sm_active_milli, 800); /* 50 GPU s of 125 s of half a GPU */
    run_log_free(log);
    cluster_free(cluster);
}

/* As measured of pairs: busy 1.6 together, 0.985 - 0.371 x 0.6 of the speed.  In turns 1.11 x 1.6 times as long. */
static void test_pairs(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    const double speed = 0.985 - 0.371 * 0.6;
    setup.policy = read_policy("{'sharing': 'timeslice'}");
    setup.world.sharing = SHARING_PAIRS;
    const struct run_job jobs[] = {notebook(0, 500), notebook(S(50), 300), notebook(S(1000), 500)};
    struct run_log *log = run_jobs(&setup, jobs, 3);
    near_s(log->jobs[0].end, 50 + 50 / speed);
    near_s(log->jobs[1].end, 50 + 50 / speed + 50);
    near_s(log->jobs[2].end, 1100); /* alone */
    run_log_free(log);
    setup.world.sharing = SHARING_MEASURED;
    log = run_jobs(&setup, jobs, 3);
    near_s(log->jobs[0].end, 50 + 50 * 1.11 * 1.6);
    run_log_free(log);
    cluster_free(cluster);
}

/* 0.9 and 0.6 of the memory bandwidth of the GPU: 1.5 times as long for both, under either price; beside 0.1 none. */
static void test_bandwidth_mps(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    struct run_job jobs[] = {part(0, 1, 500), part(0, 1, 500)};
    jobs[0].truth.sm_active_milli = jobs[1].truth.sm_active_milli = 100;
    jobs[0].truth.bandwidth_milli = 900;
    jobs[1].truth.bandwidth_milli = 600;
    for (uint8_t i = 0; i < 2; i++) {
        setup.world.sharing = i == 0 ? SHARING_MEASURED : SHARING_PAIRS;
        struct run_log *log = run_jobs(&setup, jobs, 2);
        near_s(log->jobs[0].end, 150);
        near_s(log->jobs[1].end, 150);
        run_log_free(log);
    }
    jobs[1].truth.bandwidth_milli = 100;
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100 / 0.985);
    run_log_free(log);
    setup.world.sharing = SHARING_FREE;
    jobs[1].truth.bandwidth_milli = 1000;
    log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100);
    run_log_free(log);
    cluster_free(cluster);
}

/* In turns each has all of it. */
static void test_bandwidth_turns(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'timeslice'}");
    struct run_job jobs[] = {notebook(0, 100), notebook(0, 100)};
    jobs[0].truth.bandwidth_milli = jobs[1].truth.bandwidth_milli = 900;
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100);
    run_log_free(log);
    cluster_free(cluster);
}

/* All of a GPU's bandwidth, but an instance has one of 8 slices: eight times as long, more than its SMs cost it. */
static void test_bandwidth_instance(void **state)
{
    (void)state;
    struct cluster *cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
                                           "'gpus_layout': [['1g.10gb']]}]}");
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mig'}");
    struct run_job job = part(0, 1, 100);
    job.job.class = JOB_INFERENCE;
    job.truth.bandwidth_milli = 1000;
    struct run_log *log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end, 800);
    run_log_free(log);
    cluster_free(cluster);
}

/* A seventh of an H100 for what asks a tenth of one; a whole one for what asks a seventh. */
static void test_instances(void **state)
{
    (void)state;
    struct cluster *cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
                                           "'gpus_layout': [['1g.10gb']]}]}");
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mig'}");
    const struct mig_profile *profile = &mig_profiles(MIG_H100_80)[MIG_1G];
    const double slow = sharing_slow_mig(sharing_small_inference, 132, profile->sm_count, 1);
    struct run_job job = run_job_make(0, S(100), 1, 0);
    job.job.class = JOB_INFERENCE;
    job.job.first.request.gpu_milli = 100;
    job.truth.sm_active_milli = 400;
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_true(slow > 3.5);
    near_s(log->jobs[0].end, 100 * slow);
    /* 4 % of a GPU alone */
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 4) < 0.01);
    run_log_free(log);
    cluster_free(cluster);

    cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}");
    setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'whole'}");
    job.job.first.request.gpu_milli = 0;
    job.job.first.request.mig = MIG_1G + 1;
    log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end, 100 / slow);
    run_log_free(log);
    cluster_free(cluster);
}

/* Members work in step: the one without a neighbour waits for the other.  0.4 + 1 against min(0.535, 0.6) + 1. */
static void test_slowest(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    const struct run_job jobs[] = {part(0, 2, 600), part(0, 1, 400)};
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 140);
    near_s(log->jobs[1].end, 140 + 100 - 140 / 1.535);
    run_log_free(log);
    cluster_free(cluster);
}

/* Who waits for the rest of his gang uses nothing of what he holds. */
static void test_idle_member(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps', 'gang': {'policy': 'hoard', 'stale_after_s': 'never'}, "
                               "'guarantees': [], 'blocking': 'skip'}");
    struct run_job jobs[] = {run_job_make(0, S(50), 1, 1), part(0, 2, 600), part(0, 1, 400)};
    struct run_log *log = run_jobs(&setup, jobs, 3);
    near_s(log->jobs[1].start, 50);
    near_s(log->jobs[2].end, 50 + 50 * 1.535);
    near_s(log->jobs[1].end, 50 + 76.75 + 100 - 76.75 / 1.4);
    run_log_free(log);
    cluster_free(cluster);
}

/* A share for what asked an instance: as fast as on a whole GPU, against the instance. */
static void test_share_for_instance(void **state)
{
    (void)state;
    struct cluster *cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}");
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    struct run_job job = run_job_make(0, S(100), 1, 0);
    job.job.class = JOB_INFERENCE;
    job.job.first.request.mig = MIG_1G + 1;
    job.truth.sm_active_milli = 500;
    struct run_log *log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end,
           100 / sharing_slow_mig(sharing_small_inference, 132, mig_profiles(MIG_H100_80)[MIG_1G].sm_count, 1));
    run_log_free(log);
    cluster_free(cluster);
}

/* ---- from the rows alone ---- */

static const time_ns restart = 20 * TIME_NS_PER_S;

enum { JOBS = 40, NODES = 2, GPUS = NODES * 2, ROUNDS = 60 };

struct stay { /* of a job on one GPU */
    time_ns start, end, works_from;
    double done; /* told */
    uint32_t job, gpu;
};

static double use_of(const struct run_job *job)
{
    const struct request *request = &job->job.first.request;
    const double asked = request->gpus != 0 ? 1 : request->gpu_milli / 1e3;
    return asked * job->truth.sm_active_milli / 1e3;
}

/* Of a GPU, that it holds. */
static double milli_of(const struct run_job *job, bool is_mps)
{
    const struct request *request = &job->job.first.request;
    if (!is_mps && job->job.class == JOB_INTERACTIVE)
        return 0.25;
    return request->gpus != 0 ? 1 : request->gpu_milli / 1e3;
}

static double slow_at(const struct run_job *jobs, const struct stay *stays, uint32_t count, const struct stay *own,
                      time_ns at, bool is_mps)
{
    double used = 0, busy = 0;
    const double mine = use_of(&jobs[own->job]);
    if (is_mps ? jobs[own->job].job.first.request.gpus != 0
               : jobs[own->job].job.class != JOB_INTERACTIVE && jobs[own->job].job.first.request.gpus != 0)
        return 1;
    for (uint32_t i = 0; i < count; i++)
        if (stays[i].gpu == own->gpu && stays[i].start <= at && at < stays[i].end) {
            used += use_of(&jobs[stays[i].job]);
            busy += fmin(1, 2 * use_of(&jobs[stays[i].job]));
        }
    return is_mps ? fmax(1, fmin(0.535, 1 - mine) + used) : busy <= 1 ? 1 : 1.11 * busy;
}

/* All instants at which somebody comes or goes part the time into pieces of constant speed. */
static double naive_done(const struct run_job *jobs, const struct stay *stays, uint32_t count, const struct stay *own,
                         bool is_mps)
{
    double done = 0;
    for (time_ns at = own->start; at < own->end;) {
        time_ns next = own->end;
        for (uint32_t i = 0; i < count; i++) {
            if (stays[i].start > at && stays[i].start < next)
                next = stays[i].start;
            if (stays[i].end > at && stays[i].end < next)
                next = stays[i].end;
        }
        if (next > own->works_from)
            done += (double)(next - (at > own->works_from ? at : own->works_from)) /
                    slow_at(jobs, stays, count, own, at, is_mps);
        at = next;
    }
    return done;
}

static uint32_t list_stays(const struct run_log *log, struct stay *stays)
{
    uint16_t milli[NODES * NODE_GPUS_MAX];
    uint32_t count = 0;
    for (uint32_t a = 0; a < log->attempt_count; a++) {
        const struct attempt_row *row = &log->attempts[a];
        run_placement_read(row->placement, NODES, milli);
        for (uint32_t g = 0; g < NODES * NODE_GPUS_MAX; g++)
            if (milli[g] != 0)
                stays[count++] = (struct stay){row->start,
                                               row->end,
                                               row->start + (row->attempt > 0 ? restart : 0),
                                               (double)(row->saved + row->lost),
                                               row->id,
                                               g};
    }
    return count;
}

static void draw_jobs(struct random_stream *stream, struct run_job *jobs)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        jobs[j] = run_job_make(S(random_below(stream, 4000)), S(1 + random_below(stream, 900)), 1, 0);
        jobs[j].job.class = (uint8_t)random_below(stream, JOB_CLASS_COUNT);
        jobs[j].job.priority = (int32_t)random_below(stream, 3);
        if (random_below(stream, 4) == 0)
            jobs[j].job.first.request.gpus = 1;
        else
            jobs[j].job.first.request.gpu_milli = (uint16_t)(100 + random_below(stream, 700));
        jobs[j].job.checkpoint.restart = restart;
        jobs[j].truth.sm_active_milli = (uint16_t)(100 + random_below(stream, 901));
    }
    for (uint32_t j = 1; j < JOBS; j++) /* in the order of submission */
        for (uint32_t i = j; i > 0 && jobs[i - 1].job.submit > jobs[i].job.submit; i--) {
            const struct run_job later = jobs[i - 1];
            jobs[i - 1] = jobs[i];
            jobs[i] = later;
        }
}

static void test_naive(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_uniform_new(NODES, GPUS / NODES);
    struct run_setup setup = run_setup_default(cluster);
    struct random_stream stream;
    uint32_t slowed = 0, evicted = 0;
    random_stream_init(&stream, 1, "paces", 0);
    for (int round = 0; round < ROUNDS; round++) {
        static struct run_job jobs[JOBS];
        static struct stay stays[JOBS * 64];
        const bool is_mps = round % 2 == 0;
        setup.policy = read_policy(is_mps ? "{'sharing': 'mps', 'order': ['priority', 'fifo'], "
                                            "'preemption': {'policy': 'kill'}, 'actions': ['allocate', 'preempt']}"
                                          : "{'sharing': 'timeslice', 'order': ['priority', 'fifo'], "
                                            "'preemption': {'policy': 'kill'}, 'actions': ['allocate', 'preempt']}");
        draw_jobs(&stream, jobs);
        struct run_log *log = run_jobs(&setup, jobs, JOBS);
        const uint32_t count = list_stays(log, stays);
        double active = 0, overhead = 0, told_overhead = 0;
        double active_of[JOBS] = {0}, held_of[JOBS] = {0};
        for (uint32_t i = 0; i < count; i++) {
            const double done = naive_done(jobs, stays, count, &stays[i], is_mps);
            slowed += done < 0.999 * (double)(stays[i].end - stays[i].start);
            overhead +=
                (double)((stays[i].works_from < stays[i].end ? stays[i].works_from : stays[i].end) - stays[i].start) *
                milli_of(&jobs[stays[i].job], is_mps);
            struct stay all = stays[i];
            all.works_from = all.start; /* while it restarts it counts as active */
            const double busy =
                naive_done(jobs, stays, count, &all, is_mps) * use_of(&jobs[stays[i].job]) / TIME_NS_PER_S;
            active += busy;
            active_of[stays[i].job] += busy;
            held_of[stays[i].job] +=
                milli_of(&jobs[stays[i].job], is_mps) * (double)(stays[i].end - stays[i].start) / TIME_NS_PER_S;
            if (fabs(done - stays[i].done) > 1e-5 * done + 1e3)
                fail_msg("round %d, job %u: %.3f s done, told %.3f s", round, stays[i].job, done / TIME_NS_PER_S,
                         stays[i].done / TIME_NS_PER_S);
        }
        for (uint32_t j = 0; j < JOBS; j++)
            if (fabs(fmin(1, active_of[j] / held_of[j]) * 1e3 - log->jobs[j].sm_active_milli) > 1)
                fail_msg("round %d, job %u: %u milli active", round, j, log->jobs[j].sm_active_milli);
        for (uint32_t j = 0; j < JOBS; j++)
            told_overhead += (double)log->jobs[j].overhead_gpu_ns;
        assert_true(fabs(overhead - told_overhead) <= JOBS * 1e3);
        assert_true(fabs(active - run_last_sample(log)->active_gpu_s) < 1e-4 * active);
        evicted += (uint32_t)log->result.evicted;
        run_log_free(log);
    }
    assert_true(slowed > 100 && evicted > 20);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_mps),
                                       cmocka_unit_test(test_instances),
                                       cmocka_unit_test(test_slowest),
                                       cmocka_unit_test(test_idle_member),
                                       cmocka_unit_test(test_share_for_instance),
                                       cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_bandwidth_mps),
                                       cmocka_unit_test(test_bandwidth_turns),
                                       cmocka_unit_test(test_bandwidth_instance),
                                       cmocka_unit_test(test_naive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
