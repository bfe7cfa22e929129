/* GPU time by cause in whole runs: closed forms for what makes jobs slow, all physics at once in random worlds, and a
 * naive count from the rows of jobs and attempts alone. */
#include <math.h>

#include "tests/support/test.h"

#include "base/json.h"
#include "base/random.h"
#include "policies/placement/placements.h"
#include "policies/policy_config.h"
#include "policies/sharing/sharings.h"
#include "tests/support/json_text.h"
#include "tests/support/random_sizes.h"
#include "tests/support/run.h"
#include "tests/support/spent.h"
#include "topologies/gpu_demand.h"

#define S(seconds)      ((time_ns)((seconds)*1e9))
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static struct policy_config read_policy(const char *text)
{
    struct policy_config policy;
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("policy", text);
    const struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    json_doc_free(doc);
    return policy;
}

static struct cluster *read_cluster(const char *text)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("cluster", text);
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    json_doc_free(doc);
    return cluster;
}

/* ---- Closed forms ---- */

static void run_and_check(struct run_setup setup, const struct run_job *jobs, uint32_t count,
                          const struct spent_s *should)
{
    setup.world.sample_interval = S(3.000000007);
    struct run_log *log = run_jobs(&setup, jobs, count);
    spent_check_sums(log, setup.cluster->gpu_count);
    spent_check(log, should);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
}

static struct run_job share_of(time_ns submit, uint16_t milli)
{
    struct run_job job = run_job_make(submit, S(100), 1, 0);
    job.job.first.request.gpu_milli = milli;
    job.truth.sm_active_milli = 1000;
    return job;
}

/* Both get half of the SMs while both are there, from 50 s on.  That is 1/1.2 of what the first asks for, and more than
 * the second does: the first ends at 110 s. */
TEST(test_neighbours)
{
    struct run_setup setup = run_setup_default(cluster_uniform_new(1, 1));
    setup.policy = read_policy("{'sharing': 'mps'}");
    const struct run_job jobs[] = {share_of(0, 600), share_of(S(50), 400)};
    setup.world.end = S(150);
    run_and_check(setup, jobs, 2, &(struct spent_s){.useful = 100, .neighbours = 6, .idle = 44});
}

static struct gpu_grant seventh(void)
{
    return (struct gpu_grant){mig_profiles(MIG_H100_80)[MIG_1G].sm_count / 132.0, 1 / 8.0};
}

static struct gpu_demand demand_of(const struct run_job *job)
{
    return gpu_demand_of(GPU_TRAINING, job->truth.sm_active_milli / 1e3, 0);
}

/* The only instance of an H100: seven slices are in none, and the job on it is slower than on an eighth of the GPU. */
TEST(test_sliced)
{
    struct run_setup setup = run_setup_default(read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': "
                                                            "'h100-80gb', 'gpus_layout': [['1g.10gb']]}]}"));
    setup.policy = read_policy("{'sharing': 'mig'}");
    struct run_job job = share_of(0, 125);
    const struct gpu_demand demand = demand_of(&job);
    const double slow =
        gpu_demand_alone(&demand, seventh()) / gpu_demand_alone(&demand, (struct gpu_grant){0.125, 0.125});
    setup.world.end = S(100 * slow);
    run_and_check(setup, &job, 1,
                  &(struct spent_s){.useful = 100 / 8.0, .sliced = 100 * (slow - 1) / 8 + 100 * slow * 7 / 8});
}

/* What asked an instance runs faster on a whole GPU: nothing is lost, and all that it holds is useful. */
TEST(test_faster)
{
    struct run_setup setup =
        run_setup_default(read_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}"));
    setup.policy = read_policy("{'sharing': 'whole'}");
    struct run_job job = share_of(0, 0);
    job.job.first.request.mig = MIG_1G + 1;
    const struct gpu_demand demand = demand_of(&job);
    const double slow = gpu_demand_alone(&demand, seventh());
    setup.world.end = S(100 / slow);
    run_and_check(setup, &job, 1, &(struct spent_s){.useful = 100 / slow});
}

static const struct communication far_talk = {
    .sensitivity = {.name = "", .kind = COLLECTIVE_POINT_TO_POINT, .exposed_ratio = 0.3, .bytes = 1e15}};
static const char fabric[] =
    "{'pools': [{'name': 'h100', 'nodes': 12, 'gpus_per_node': 8, 'gpu_model': 'h100-80gb', 'cpus': 64,"
    " 'memory_gb': 512}], 'fabric': {'nodes_per_unit': 4, 'rails': 8, 'rail_gbps': 400}}";

/* Across two units, at half of the bandwidth: the exposed 0.3 of a step takes twice as long.  What the best place
 * exposes, too, is useful. */
TEST(test_communication)
{
    struct run_setup setup = run_setup_default(read_cluster(fabric));
    ((struct cluster *)(uintptr_t)setup.cluster)->fabric.leaf_oversubscription = 4;
    setup.policy.placement = &placement_first_fit;
    struct run_job jobs[] = {run_job_make(0, S(1300), 2, 8), run_job_make(0, S(1000), 4, 8)};
    jobs[1].job.communication = &far_talk;
    setup.world.end = S(1300);
    run_and_check(
        setup, jobs, 2,
        &(struct spent_s){.useful = 16 * 1300 + 32 * 1000, .communication = 32 * 300, .idle = (96 - 16 - 32) * 1300});
}

/* ---- All at once ---- */

static const char *const clusters[] = {
    "{'pools': [{'name': 'a', 'nodes': 6, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', 'mig_recut': true}], "
    "'fabric': {'nodes_per_unit': 2, 'rails': 4, 'rail_gbps': 100}}",
    "{'pools': [{'name': 'a', 'nodes': 3, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb'}, "
    "{'name': 'b', 'nodes': 2, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', 'gpus_layout': "
    "[['1g.10gb', '3g.40gb'], ['2g.20gb', '1g.10gb']]}]}",
};
#define EVICTS(policy)                                                                                                 \
    "'preemption': {'policy': '" policy "', 'within_queue': 'lower', 'grace_s': 30, 'min_runtime_s': 0, "              \
    "'preempt_min_runtime_s': 0}, 'order': ['priority', 'fifo'], 'blocking': 'skip'}"
static const char *const policies[] = {
    "{" EVICTS("checkpoint"),
    "{'sharing': 'mps', " EVICTS("checkpoint"),
    "{'sharing': 'timeslice', " EVICTS("kill"),
    "{'sharing': 'trust', 'geometry': 'on_demand', " EVICTS("checkpoint"),
    "{'sharing': 'mig', 'geometry': 'on_demand', 'blocking': 'skip'}",
    "{'sharing': 'mps', 'gang': {'policy': 'hoard', 'stale_after_s': 'never'}, 'guarantees': [], 'blocking': 'skip'}",
};
static const char activity[] = "[{'class': 'interactive', 'kind': 'notebook', 'level': 0.5, 'level_sd': 0.1,"
                               "  'burst': {'distribution': 'exponential', 'mean': '5m'},"
                               "  'gap': {'distribution': 'exponential', 'mean': '8m'}}]";

enum { ROUNDS = 60, JOBS = 40 };

static void some_jobs(struct random_stream *stream, struct run_job jobs[JOBS])
{
    static const uint16_t sizes[] = {1, 1, 1, 2, 4};
    for (uint32_t j = 0; j < JOBS; j++) {
        const bool is_share = random_below(stream, 2) == 0;
        const uint32_t members = random_below(stream, 3) == 0 ? 2 + random_below(stream, 3) : 1;
        jobs[j] = run_job_make(S(random_below(stream, 8000)), S(1 + random_below(stream, 6000)), is_share ? 1 : members,
                               is_share ? 0 : sizes[random_below(stream, 5)]);
        struct job *job = &jobs[j].job;
        job->class = (uint8_t)random_below(stream, JOB_CLASS_COUNT);
        if (is_share)
            job->first.request.gpu_milli = (uint16_t)(100 + random_below(stream, 600));
        else if (random_below(stream, 2) == 0)
            job->communication = &far_talk;
        if (members > 1 && random_below(stream, 2) == 0)
            job->first.min_count = 1;
        job->priority = (int32_t)random_below(stream, 5);
        job->checkpoint = (struct checkpoint_plan){.interval = S(random_below(stream, 3) * 300),
                                                   .duration = S(random_below(stream, 40)),
                                                   .restart = S(random_below(stream, 90))};
        jobs[j].truth.sm_active_milli = (uint16_t)random_below(stream, 1001);
        jobs[j].truth.would_do_milli = GPU_MILLI;
        jobs[j].truth.bandwidth_milli = (uint16_t)random_below(stream, 900);
    }
    for (uint32_t i = 1; i < JOBS; i++) /* in order of submission */
        for (uint32_t j = i; j > 0 && jobs[j].job.submit < jobs[j - 1].job.submit; j--) {
            const struct run_job other = jobs[j];
            jobs[j] = jobs[j - 1];
            jobs[j - 1] = other;
        }
}

static struct world_config some_world(struct random_stream *stream, struct checkpoint_row *row,
                                      const struct activity_table *table)
{
    struct world_config world = world_config_default();
    world.scheduler_period = random_below(stream, 3) == 0 ? S(7) : 0;
    world.decision_latency = random_below(stream, 3) == 0 ? S(11) : 0;
    world.sharing = SHARING_MEASURED;
    world.sample_interval = S(100 + random_below(stream, 500));
    if (random_below(stream, 3) == 0)
        world.end = S(3000 + random_below(stream, 9000));
    for (int cause = 0; cause < FAULT_CAUSE_COUNT; cause++)
        world.faults.per_job_h[cause] = random_below(stream, 2) == 0 ? 0.3 : 0;
    if (random_below(stream, 2) == 0)
        world.activity = *table;
    if (random_below(stream, 3) == 0)
        return world;
    *row = (struct checkpoint_row){.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                   .rule = INTERVAL_FIXED,
                                   .interval = S(200 + random_below(stream, 600)),
                                   .write = S(random_below(stream, 60)),
                                   .warmup = S(random_below(stream, 60)),
                                   .bytes = (int64_t)random_below(stream, 2) * 40000000000};
    row->is_asynchronous = random_below(stream, 2) == 0;
    row->slowdown = row->is_asynchronous ? 0.3 : 0;
    world.checkpoints =
        (struct checkpoint_table){.cost = CHECKPOINTS_CHARGED, .rows = row, .count = 1, .bytes_per_s = 4000000000};
    return world;
}

static void near(const char *what, double is, double should, double slack)
{
    if (!(fabs(is - should) <= slack))
        fail_msg("%s: %.6f GPU s, not %.6f", what, is, should);
}

struct row_sums { /* from the rows of jobs and attempts, in GPU s */
    double held, partial, kept, lost, overhead, slowed, idle;
};

static struct row_sums add_rows(const struct run_log *log)
{
    struct row_sums sums = {0};
    for (uint32_t a = 0; a < log->attempt_count; a++) {
        const struct attempt_row *row = &log->attempts[a];
        const double gpu_s = time_to_seconds(row->end - row->start) * (double)row->gpu_milli / GPU_MILLI;
        *(row->is_partial ? &sums.partial : &sums.held) += gpu_s;
    }
    for (uint32_t j = 0; j < log->job_count; j++) {
        const struct job_row *row = &log->jobs[j];
        sums.kept += time_to_seconds(row->work) * (double)row->gpu_milli / GPU_MILLI;
        sums.lost += (double)(row->lost_gpu_ns - row->overhead_gpu_ns) / 1e9;
        sums.overhead += (double)row->overhead_gpu_ns / 1e9;
        sums.slowed += (double)row->slowed_gpu_us / 1e6;
        sums.idle += (double)row->idle_held_gpu_us / 1e6;
    }
    return sums;
}

/* What rows of jobs and attempts say must be what the timeline says at its end. */
static void compare(const struct run_setup *setup, const struct run_log *log)
{
    const struct row_sums sums = add_rows(log);
    double spent[SPENT_COUNT], running = 0;
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        spent[cause] = spent_s_of(log, (enum spent_cause)cause);
    for (int cause = SPENT_USEFUL; cause <= SPENT_IDLE_HELD; cause++)
        running += cause != SPENT_SLICED && cause != SPENT_REPARTITION ? spent[cause] : 0;
    const double slack = 1e-4 * (1 + sums.held);
    const double all = time_to_seconds(run_last_sample(log)->time) * setup->cluster->gpu_count;
    assert_true(running <= sums.held + slack && sums.partial <= spent[SPENT_RESERVED] + slack);
    near("free",
         spent[SPENT_ABSENT] + spent[SPENT_IDLE] + spent[SPENT_RESERVED] + spent[SPENT_SLICED] +
             spent[SPENT_REPARTITION],
         all - running, slack);
    if (setup->world.activity.count == 0) /* else an asynchronous write takes nothing of what is idle */
        near("restart", spent[SPENT_RESTART], sums.overhead, slack);
    if (setup->world.activity.count > 0)
        near("idle held", run_last_sample(log)->idle_held_gpu_s, sums.idle, slack);
    if (setup->policy.sharing->map != NULL || setup->world.activity.count > 0)
        return; /* else all jobs work at the reference speed, but for communication */
    if (setup->world.checkpoints.count == 0 || !setup->world.checkpoints.rows[0].is_asynchronous)
        near("communication", spent[SPENT_COMMUNICATION], sums.slowed, slack);
    near("lost", spent[SPENT_LOST], sums.lost, slack);
    near("useful", spent[SPENT_USEFUL], sums.kept, slack);
    near("running", running, sums.held, slack);
}

TEST(test_random_worlds)
{
    struct arena arena = {0};
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("activity", activity);
    const struct json_value root = json_doc_root(doc, &error);
    const struct activity_table table = activity_table_read(&root, &arena, NULL);
    double seen[SPENT_COUNT] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct random_stream stream;
        struct run_job jobs[JOBS];
        struct checkpoint_row row;
        struct capacity_step steps[RANDOM_SIZES];
        random_stream_init(&stream, 7, "spent", round);
        struct cluster *cluster = read_cluster(clusters[random_below(&stream, COUNT_OF(clusters))]);
        struct run_setup setup = run_setup_default(cluster);
        setup.policy = read_policy(policies[round % COUNT_OF(policies)]);
        some_jobs(&stream, jobs);
        setup.world = some_world(&stream, &row, &table);
        if (round % 2 == 1)
            setup.world.capacity = random_sizes(steps, cluster, round, S(9000));
        struct run_log *log = run_jobs(&setup, jobs, JOBS);
        spent_check_sums(log, cluster->gpu_count);
        compare(&setup, log);
        for (int cause = 0; cause < SPENT_COUNT; cause++)
            seen[cause] += spent_s_of(log, (enum spent_cause)cause);
        run_log_free(log);
        cluster_free(cluster);
    }
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        if (cause != SPENT_DOWN && !(seen[cause] > 100))
            fail_msg("%s occurs for %.3f GPU s in all worlds", spent_names[cause], seen[cause]);
    json_doc_free(doc);
    arena_release(&arena);
}
