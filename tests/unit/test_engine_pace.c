/* What neighbours on a GPU and pieces of one cost, by hand and against a naive count from the rows. */
#include <math.h>

#include "tests/support/test.h"

#include "base/json.h"
#include "base/random.h"
#include "policies/policy_config.h"
#include "policies/sharing/sharings.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"
#include "topologies/gpu_demand.h"

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

/* Seconds that a unit of each of two jobs takes beside the other; an open one's `sm_active` in `first`. */
static double beside(const struct gpu_demand *first, const struct gpu_demand *second, enum gpu_sharing sharing)
{
    struct gpu_client clients[] = {{.demand = *first, .count = 1}, {.demand = *second, .count = 1}};
    gpu_demand_share(clients, 2, (struct gpu_grant){1, 1}, sharing);
    return clients[0].time;
}

static const struct gpu_demand all_sms = {.compute = 1};

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

/* Open jobs keep their lives.  What they are asked for and cannot serve while the other is there is told. */
TEST(test_turns)
{
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'timeslice'}");
    const struct run_job jobs[] = {notebook(0, 500), notebook(S(50), 500)};
    const struct gpu_demand demand = gpu_demand_of(GPU_NOTEBOOK, 0.5, 0);
    const double served = 50 + 50 / beside(&demand, &demand, GPU_IN_TURNS);
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100);
    near_s(log->jobs[1].end, 150);
    assert_true(served < 90);
    for (int j = 0; j < 2; j++)
        if (fabs((double)log->jobs[j].unserved_gpu_us / 1e6 - 0.5 * (100 - served)) > 0.01)
            fail_msg("%g, not %g", (double)log->jobs[j].unserved_gpu_us / 1e6, 0.5 * (100 - served));
    assert_true(fabs(run_last_sample(log)->active_gpu_s - served) < 0.01);
    assert_int_equal(log->jobs[0].sm_active_milli, 1000); /* more than its quarter of the GPU has */
    run_log_free(log);
    setup.world.sharing = SHARING_FREE;
    log = run_jobs(&setup, jobs, 2);
    assert_int_equal(log->jobs[0].end, S(100));
    assert_int_equal(log->jobs[0].unserved_gpu_us, 0);
    run_log_free(log);
    cluster_free(cluster);
}

/* Half of the SMs each is what they ask for: together they get just that, and alone no more. */
TEST(test_mps)
{
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    const struct run_job jobs[] = {part(0, 1, 500), part(S(50), 1, 500)};
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100);
    near_s(log->jobs[1].end, 150);
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 100) < 0.05);
    assert_int_equal(log->jobs[0].sm_active_milli, 1000);
    run_log_free(log);
    cluster_free(cluster);
}

/* A tenth of the SMs each, but 0.9 and 0.6 of the bandwidth, of which the shares asked for have half. */
TEST(test_bandwidth_mps)
{
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    struct run_job jobs[] = {part(0, 1, 500), part(0, 1, 500)};
    jobs[0].truth.sm_active_milli = jobs[1].truth.sm_active_milli = 100;
    jobs[0].truth.bandwidth_milli = 900;
    jobs[1].truth.bandwidth_milli = 600;
    const struct gpu_demand first = gpu_demand_of(GPU_TRAINING, 0.1, 0.9);
    const struct gpu_demand second = gpu_demand_of(GPU_TRAINING, 0.1, 0.6);
    const double slow = beside(&first, &second, GPU_TOGETHER) / gpu_demand_alone(&first, (struct gpu_grant){0.5, 0.5});
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100 * fmax(1, slow));
    run_log_free(log);
    setup.world.sharing = SHARING_FREE;
    log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100);
    run_log_free(log);
    cluster_free(cluster);
}

/* An eighth of a GPU's bandwidth on the share asked for as on the instance, which has a little less of the SMs. */
TEST(test_bandwidth_instance)
{
    struct cluster *cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
                                           "'gpus_layout': [['1g.10gb']]}]}");
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mig'}");
    struct run_job job = part(0, 1, 125);
    job.truth.bandwidth_milli = 1000;
    struct run_log *log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end, 100 * 132 / 16.0 / 8); /* 16 of 132 SMs are a little less than an eighth */
    run_log_free(log);
    cluster_free(cluster);
}

/* A seventh of an H100 for what asks a tenth of one: a service serves more than there; a whole one for a seventh. */
TEST(test_instances)
{
    struct cluster *cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
                                           "'gpus_layout': [['1g.10gb']]}]}");
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mig'}");
    const struct gpu_grant seventh = {mig_profiles(MIG_H100_80)[MIG_1G].sm_count / 132.0, 1 / 8.0};
    struct run_job job = run_job_make(0, S(100), 1, 0);
    job.job.class = JOB_INFERENCE;
    job.job.first.request.gpu_milli = 100;
    job.truth.sm_active_milli = 400;
    struct run_log *log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end, 100);
    /* it keeps all SMs of its instance busy: 16 of 132, of 52.8 that it would need */
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 100 * seventh.sms) < 0.01);
    assert_true(fabs((double)log->jobs[0].unserved_gpu_us / 1e6 - 100 * (0.4 - seventh.sms)) < 0.01);
    run_log_free(log);
    setup.policy = read_policy("{}");
    log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].state, END_REJECTED); /* all GPUs are in instances */
    run_log_free(log);
    cluster_free(cluster);

    cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}");
    setup = run_setup_default(cluster);
    log = run_jobs(&setup, &job, 1); /* as asked: a tenth of the SMs */
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 100 * 0.1) < 0.01);
    assert_true(fabs((double)log->jobs[0].unserved_gpu_us / 1e6 - 100 * 0.3) < 0.01);
    run_log_free(log);
    setup.policy = read_policy("{'sharing': 'whole'}");
    log = run_jobs(&setup, &job, 1); /* a whole GPU for a tenth: all is served */
    assert_true(fabs(run_last_sample(log)->active_gpu_s - 100 * 0.4) < 0.01);
    assert_int_equal(log->jobs[0].unserved_gpu_us, 0);
    run_log_free(log);
    job.job.class = JOB_TRAINING;
    job.job.first.request.gpu_milli = 0;
    job.job.first.request.mig = MIG_1G + 1;
    const struct gpu_demand demand = gpu_demand_of(GPU_TRAINING, 0.4, 0);
    log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end, 100 / gpu_demand_alone(&demand, seventh));
    run_log_free(log);
    cluster_free(cluster);
}

/* Members work in step: the one without a neighbour waits for the other.  Alone a share of 0.6 takes 1 / 0.6. */
TEST(test_slowest)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    const struct run_job jobs[] = {part(0, 2, 600), part(0, 1, 400)};
    const double slow = 0.6 * beside(&all_sms, &all_sms, GPU_TOGETHER);
    struct run_log *log = run_jobs(&setup, jobs, 2);
    near_s(log->jobs[0].end, 100 + 100 - 100 / slow);
    near_s(log->jobs[1].end, 100);
    run_log_free(log);
    cluster_free(cluster);
}

/* Who waits for the rest of his gang uses nothing of what he holds. */
TEST(test_idle_member)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps', 'gang': {'policy': 'hoard', 'stale_after_s': 'never'}, "
                               "'guarantees': [], 'blocking': 'skip'}");
    struct run_job jobs[] = {run_job_make(0, S(50), 1, 1), part(0, 2, 600), part(0, 1, 400)};
    const double slow = 0.6 * beside(&all_sms, &all_sms, GPU_TOGETHER);
    struct run_log *log = run_jobs(&setup, jobs, 3);
    near_s(log->jobs[1].start, 50);
    near_s(log->jobs[2].end, 100);
    near_s(log->jobs[1].end, 100 + 100 - 50 / slow);
    run_log_free(log);
    cluster_free(cluster);
}

/* A share for what asked an instance: as fast as on a whole GPU, against the instance. */
TEST(test_share_for_instance)
{
    struct cluster *cluster = read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}");
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = read_policy("{'sharing': 'mps'}");
    struct run_job job = run_job_make(0, S(100), 1, 0);
    job.job.first.request.mig = MIG_1G + 1;
    job.truth.sm_active_milli = 500;
    const struct gpu_demand demand = gpu_demand_of(GPU_TRAINING, 0.5, 0);
    const struct gpu_grant seventh = {mig_profiles(MIG_H100_80)[MIG_1G].sm_count / 132.0, 1 / 8.0};
    struct run_log *log = run_jobs(&setup, &job, 1);
    near_s(log->jobs[0].end, 100 / gpu_demand_alone(&demand, seventh));
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

static struct gpu_demand demand_of(const struct run_job *job)
{
    const enum gpu_program program = job->job.class == JOB_INFERENCE  ? GPU_SERVICE
                                     : job->job.class == JOB_TRAINING ? GPU_TRAINING
                                                                      : GPU_NOTEBOOK;
    return gpu_demand_of(program, job->truth.sm_active_milli / 1e3, 0);
}

/* Of a GPU, that it holds. */
static double milli_of(const struct run_job *job, bool is_mps)
{
    const struct request *request = &job->job.first.request;
    if (!is_mps && job->job.class == JOB_INTERACTIVE)
        return 0.25;
    return request->gpus != 0 ? 1 : request->gpu_milli / 1e3;
}

/* Returns the units of work per second that the job does, or, if it is open, that it serves. */
static double speed_at(const struct run_job *jobs, const struct stay *stays, uint32_t count, const struct stay *own,
                       time_ns at, bool is_mps)
{
    struct gpu_client clients[JOBS];
    uint32_t client_count = 0, mine = 0;
    const struct request *request = &jobs[own->job].job.first.request;
    if (is_mps ? request->gpus != 0 : jobs[own->job].job.class != JOB_INTERACTIVE && request->gpus != 0)
        return 1;
    for (uint32_t i = 0; i < count; i++)
        if (stays[i].gpu == own->gpu && stays[i].start <= at && at < stays[i].end) {
            mine = &stays[i] == own || stays[i].job == own->job ? client_count : mine;
            clients[client_count++] = (struct gpu_client){.demand = demand_of(&jobs[stays[i].job]), .count = 1};
        }
    gpu_demand_share(clients, client_count, (struct gpu_grant){1, 1}, is_mps ? GPU_TOGETHER : GPU_IN_TURNS);
    return 1 / clients[mine].time;
}

/* Reference work per second, and the part of the compute of a unit of work that is in it. */
struct rate {
    double work, use;
};

static struct rate rate_at(const struct run_job *jobs, const struct stay *stays, uint32_t count, const struct stay *own,
                           time_ns at, bool is_mps)
{
    const struct request *request = &jobs[own->job].job.first.request;
    const struct gpu_demand demand = demand_of(&jobs[own->job]);
    const double part = request->gpus != 0 ? 1 : request->gpu_milli / 1e3;
    const double asked = gpu_demand_alone(&demand, (struct gpu_grant){part, part});
    const double speed = speed_at(jobs, stays, count, own, at, is_mps);
    if (demand.is_open)
        return (struct rate){1, speed};
    const double work = part < 1 ? fmin(1, speed * asked) : speed;
    return (struct rate){work, work / asked};
}

/* All instants at which somebody comes or goes part the time into pieces of constant speed. */
static struct rate naive_done(const struct run_job *jobs, const struct stay *stays, uint32_t count,
                              const struct stay *own, bool is_mps)
{
    struct rate done = {0};
    for (time_ns at = own->start; at < own->end;) {
        time_ns next = own->end;
        for (uint32_t i = 0; i < count; i++) {
            if (stays[i].start > at && stays[i].start < next)
                next = stays[i].start;
            if (stays[i].end > at && stays[i].end < next)
                next = stays[i].end;
        }
        if (next > own->works_from) {
            const double span = (double)(next - (at > own->works_from ? at : own->works_from));
            const struct rate rate = rate_at(jobs, stays, count, own, at, is_mps);
            done.work += span * rate.work;
            done.use += span * rate.use;
        }
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

TEST(test_naive)
{
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
            const double done = naive_done(jobs, stays, count, &stays[i], is_mps).work;
            slowed += done < 0.999 * (double)(stays[i].end - stays[i].start);
            overhead +=
                (double)((stays[i].works_from < stays[i].end ? stays[i].works_from : stays[i].end) - stays[i].start) *
                milli_of(&jobs[stays[i].job], is_mps);
            struct stay all = stays[i];
            all.works_from = all.start; /* while it restarts it counts as active */
            const double busy = naive_done(jobs, stays, count, &all, is_mps).use *
                                demand_of(&jobs[stays[i].job]).compute / TIME_NS_PER_S;
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
