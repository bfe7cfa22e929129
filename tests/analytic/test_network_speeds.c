/* How fast gangs run on shared links, against closed forms.
 *
 * Three units of 4 nodes of 8 H100.  A filler holds nodes 0 and 1, so that first fit puts gang A on nodes 2 to 5, over
 * units 0 and 1, and gang B on nodes 6 to 9, over units 1 and 2: two nodes of each stand in unit 1.  A gang waits for
 * communication for a part E of its step at its best place (one unit), and hides nothing: with b of 50 GB/s for each
 * GPU its step takes (1 - E) + E 50 / b.  Messages are so long that their latency does not count. */
#include <math.h>

#include "tests/support/test.h"

#include "policies/placement/placements.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"
#include "topologies/communication.h"

enum { NODES_PER_UNIT = 4, NODES_HERE = 2 }; /* nodes of a gang in a unit */

#define S(seconds) ((time_ns)((seconds)*TIME_NS_PER_S))
#define NIC_GB     50.0
#define E          0.3
#define LONG_S     20000
#define SHORT_S    1000
#define LATE_S     3000

static struct cluster *cluster_of(double oversubscription)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse(
        "cluster", "{'pools': [{'name': 'h100', 'nodes': 12, 'gpus_per_node': 8, 'gpu_model': 'h100-80gb', 'cpus': 64,"
                   " 'memory_gb': 512}], 'fabric': {'nodes_per_unit': 4, 'rails': 8, 'rail_gbps': 400}}");
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    cluster->fabric.leaf_oversubscription = oversubscription;
    return cluster;
}

static const struct communication far_talk = {
    .sensitivity = {.name = "", .kind = COLLECTIVE_POINT_TO_POINT, .exposed_ratio = E, .bytes = 1e15}};

/* ---- Closed forms ---- */

static double step_at(double gb_per_s)
{
    return 1 - E + E * NIC_GB / gb_per_s;
}

/* What a GPU gets alone: two nodes of the gang share the uplink of a rail of 4 nodes. */
static double alone_gb(double oversubscription)
{
    return fmin(NIC_GB, NODES_PER_UNIT * NIC_GB / oversubscription / NODES_HERE);
}

/* What it gets beside another such gang: its mean rate, and half of what both leave. */
static double beside_gb(double oversubscription)
{
    const double link = NODES_PER_UNIT * NIC_GB / oversubscription, peak = alone_gb(oversubscription);
    if (oversubscription <= 1)
        return peak;
    const double demand = peak * (E * NIC_GB / peak) / step_at(peak);
    const double mean = fmin(demand, link / (2 * NODES_HERE));
    return fmin(peak, mean + (link - 2 * NODES_HERE * mean) / NODES_HERE);
}

/* ---- Runs ---- */

static struct run_setup setup_of(double oversubscription)
{
    struct run_setup setup = run_setup_default(cluster_of(oversubscription));
    setup.policy.placement = &placement_first_fit;
    return setup;
}

static struct run_log *run(struct run_setup setup, const struct run_job *jobs, uint32_t count)
{
    struct run_log *log = run_jobs(&setup, jobs, count);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
    return log;
}

static struct run_job gang(double submit_s, double duration_s, uint32_t nodes)
{
    struct run_job made = run_job_make(S(submit_s), S(duration_s), nodes, 8);
    made.job.communication = &far_talk;
    return made;
}

/* Speeds are exact to 2^-20. */
static void check_time(time_ns is, double should_s)
{
    if (!(fabs(time_to_seconds(is) - should_s) <= 2e-6 * should_s))
        fail_msg("%.6f s is not %.6f s", time_to_seconds(is), should_s);
}

static const double oversubscriptions[] = {1, 4, 8};

TEST(in_one_unit_nothing_is_lost)
{
    for (int i = 0; i < 3; i++) {
        const struct run_job jobs[] = {gang(0, LONG_S, 4), gang(0, LONG_S, 4), gang(0, LONG_S, 4)};
        struct run_log *log = run(setup_of(oversubscriptions[i]), jobs, 3);
        for (int j = 0; j < 3; j++) {
            assert_int_equal(log->jobs[j].end, S(LONG_S));
            assert_int_equal(log->jobs[j].slowed_gpu_us, 0);
            check_time(log->jobs[j].exposed_gpu_us * 1000, 32 * LONG_S * E);
        }
        run_log_free(log);
    }
}

TEST(across_units_alone)
{
    for (int i = 0; i < 3; i++) {
        const struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 2, 8), gang(0, LONG_S, 4)};
        const double step = step_at(alone_gb(oversubscriptions[i]));
        struct run_log *log = run(setup_of(oversubscriptions[i]), jobs, 2);
        const struct job_row *row = &log->jobs[1];
        check_time(row->end, LONG_S * step);
        assert_int_equal(row->network_bytes_per_s, llrint(1e9 * alone_gb(oversubscriptions[i])));
        assert_int_equal(row->work, S(LONG_S));
        /* A part 1 - 1/step of its time was lost; of each step it waits step - (1 - E). */
        assert_true(fabs((double)row->slowed_gpu_us / 1e6 - 32 * LONG_S * (step - 1)) < 32 * LONG_S * 1e-5);
        check_time(row->exposed_gpu_us * 1000, 32 * LONG_S * (step - (1 - E)));
        run_log_free(log);
    }
}

/* B comes after LATE_S, does its work beside A, and leaves; A goes on alone. */
TEST(across_units_beside_a_neighbour)
{
    for (int i = 0; i < 3; i++) {
        const double r = oversubscriptions[i], alone = step_at(alone_gb(r)), beside = step_at(beside_gb(r));
        const struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 2, 8), gang(0, LONG_S, 4),
                                       gang(LATE_S, SHORT_S, 4)};
        struct run_log *log = run(setup_of(r), jobs, 3);
        assert_string_equal(run_attempt(log, 2, 0)->placement, "n[6-9]:0-7");
        check_time(log->jobs[2].end - S(LATE_S), SHORT_S * beside);
        /* A did SHORT_S of work while B did; the rest of it alone. */
        check_time(log->jobs[1].end, SHORT_S * beside + (LONG_S - SHORT_S) * alone);
        assert_int_equal(log->jobs[1].work, S(LONG_S));
        assert_true(r == 1 ? beside == alone : beside > alone);
        run_log_free(log);
    }
}

TEST(how_links_are_shared_is_set_by_the_world)
{
    const struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 2, 8), gang(0, LONG_S, 4), gang(0, LONG_S, 4)};
    const struct run_job silent[] = {jobs[0], run_job_make(0, S(LONG_S), 4, 8), run_job_make(0, S(LONG_S), 4, 8)};
    struct run_setup setup = setup_of(8);
    setup.world.network = NETWORK_ALONE;
    struct run_log *alone = run(setup, jobs, 3);
    check_time(alone->jobs[1].end, LONG_S * step_at(alone_gb(8)));
    setup = setup_of(8);
    setup.world.network = NETWORK_FREE;
    struct run_log *free_log = run(setup, jobs, 3);
    struct run_log *silent_log = run(setup_of(8), silent, 3);
    assert_int_equal(free_log->jobs[1].end, S(LONG_S));
    assert_true(free_log->result.fingerprint == silent_log->result.fingerprint);
    assert_true(alone->result.fingerprint != silent_log->result.fingerprint);
    run_log_free(alone);
    run_log_free(free_log);
    run_log_free(silent_log);
}

/* ---- A tensor parallel group ---- */

enum { LAYERS = 32, HIDDEN = 4096, SEQUENCE = 4096, VOCABULARY = 128256, BATCH = 64, TP = 8 };

/* An all-gather, or a reduce-scatter, of a microbatch's activations among 8 GPUs: in a node, or by a ring over two
 * nodes with 4 GPUs, and 4 NICs, in each. */
static double gather_s(bool is_spilled)
{
    const double bytes = 2.0 * SEQUENCE * HIDDEN, sent = bytes * (TP - 1) / TP;
    return is_spilled ? 14e-6 + 6 * 1.9e-6 + 1 * 4.0e-6 + sent / (4 * 0.966 * NIC_GB * 1e9)
                      : 14e-6 + 7 * 1.9e-6 + 2.83e-9 * sqrt(TP * bytes) + sent / 364e9;
}

/* Of one GPU; equation 3 of Megatron-LM. */
static double flops(void)
{
    const double h = HIDDEN, s = SEQUENCE, l = LAYERS, v = VOCABULARY;
    return 72.0 * BATCH * s * l * h * h * (1 + s / (6 * h) + v / (12 * h * l)) / TP;
}

static double plan_step_s(bool is_spilled)
{
    const double h = HIDDEN, s = SEQUENCE, beside = 440 / h;
    const double scores = 12.0 * BATCH * s * s * LAYERS * h / TP; /* of FlashAttention-2: 1.75 of their FLOPs' time */
    const double compute = (flops() * (1 + beside) + 0.75 * scores) / (0.57 * 989.4e12);
    const double exchanged = 8.0 * LAYERS * BATCH * gather_s(is_spilled);
    return compute + fmax(0.35 * exchanged, exchanged - compute);
}

/* Two members of 4 GPUs of the group: on one node, and with half of each of two nodes taken. */
TEST(a_tensor_parallel_group_spilled_over_two_nodes)
{
    const struct communication plan = {.has_plan = true,
                                       .plan = {.tp = TP,
                                                .pp = 1,
                                                .dp = 1,
                                                .ep = 1,
                                                .layers = LAYERS,
                                                .hidden = HIDDEN,
                                                .heads = 32,
                                                .kv_heads = 32,
                                                .head_size = HIDDEN / 32,
                                                .cp = 1,
                                                .zero = 1,
                                                .expert_load = 1,
                                                .ffn = 4 * HIDDEN,
                                                .sequence = SEQUENCE,
                                                .vocabulary = VOCABULARY,
                                                .experts = 1,
                                                .experts_per_token = 1,
                                                .batch = BATCH,
                                                .micro_batch = 1,
                                                .virtual_stages = 1}};
    for (int is_spilled = 0; is_spilled < 2; is_spilled++) {
        struct run_setup setup = setup_of(1);
        struct run_job jobs[13];
        uint32_t count = 0;
        /* Fillers leave one node, or half of each of two. */
        for (; count < (is_spilled ? 12 : 11); count++)
            jobs[count] = run_job_make(0, S(10 * LONG_S), 1, count < 10 + !is_spilled ? 8 : 4);
        const uint32_t group = count;
        jobs[count] = run_job_make(S(1), S(LONG_S), 2, 4);
        jobs[count++].job.communication = &plan;
        setup.policy.placement = &placement_worst_fit; /* of the halves, too */
        struct run_log *log = run(setup, jobs, count);
        const double step = plan_step_s(is_spilled);
        check_time(log->jobs[group].end - S(1), LONG_S * step / plan_step_s(false));
        assert_true(step > plan_step_s(false) * (is_spilled ? 1.02 : 0.99));
        assert_true(fabs((double)log->jobs[group].mfu_micro - 1e6 * flops() / step / 989.4e12) <= 1);
        run_log_free(log);
    }
}

/* Alone it would end before its limit.  A neighbour that comes makes it slower, and it is killed, with the work that it
 * did. */
TEST(a_gang_slowed_beyond_its_limit_is_killed)
{
    const double alone = step_at(alone_gb(8)), beside = step_at(beside_gb(8));
    const double limit_s = LONG_S * alone + 1;
    struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 2, 8), gang(0, LONG_S, 4), gang(LATE_S, LONG_S, 4)};
    jobs[1].job.limit = S(limit_s);
    for (uint32_t count = 2; count <= 3; count++) {
        struct run_setup setup = setup_of(8);
        setup.world.kills_at_limit = true;
        struct run_log *log = run(setup, jobs, count);
        const struct job_row *row = &log->jobs[1];
        assert_int_equal(row->state, count == 2 ? END_COMPLETED : END_LIMIT);
        if (count == 3) {
            assert_int_equal(row->end, S(limit_s));
            check_time(row->work, LATE_S / alone + (limit_s - LATE_S) / beside);
        }
        run_log_free(log);
    }
}

/* The gang has 20 s left when it is told to leave for a job of higher priority, less than a checkpoint takes, so it
 * works on.  A moment later a neighbour starts and makes it slower: it still ends within the grace. */
TEST(a_gang_that_is_slowed_while_it_leaves_has_the_whole_grace)
{
    const double alone = step_at(alone_gb(8)), beside = step_at(beside_gb(8)), left_s = 20, latency_s = 5;
    const double told_s = latency_s + LONG_S * alone - left_s;
    struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 2, 8), gang(0, LONG_S, 4), gang(told_s, LONG_S, 4),
                             run_job_make(S(told_s), S(SHORT_S), 4, 8)};
    struct run_setup setup = setup_of(8);
    struct json_doc *doc = json_text_parse(
        "policy", "{'name': 'p', 'order': ['priority', 'fifo'], 'placement': 'first_fit', 'preemption': {'policy': "
                  "'checkpoint', 'grace_s': 300, 'min_runtime_s': 0}, 'actions': ['allocate', 'preempt']}");
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&setup.policy, &root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    setup.world.decision_latency = S(latency_s); /* of starts */
    jobs[1].job.checkpoint.duration = S(left_s + 1);
    jobs[0].job.is_preemptible = jobs[2].job.is_preemptible = false;
    jobs[0].job.priority = jobs[2].job.priority = 100;
    jobs[3].job.priority = 75;
    struct run_log *log = run(setup, jobs, 4);
    const struct job_row *row = &log->jobs[1];
    const double slowed_s = (left_s - latency_s) * beside / alone;
    assert_true(latency_s + slowed_s > left_s + 1);
    assert_int_equal(row->evictions, 0);
    assert_int_equal(row->state, END_COMPLETED);
    check_time(row->end, told_s + latency_s + slowed_s);
    check_time(log->jobs[2].start, told_s + latency_s);
    assert_int_equal(log->jobs[3].start, row->end + S(latency_s)); /* on its nodes */
    run_log_free(log);
}

/* Of 4 members 3 are there, in one unit: they do three quarters of the work. */
TEST(members_that_lack_cost_their_part)
{
    /* The filler leaves nodes 9 to 11, in unit 2. */
    struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 9, 8), gang(0, LONG_S, 4)};
    jobs[1].job.first.min_count = 3;
    struct run_log *log = run(setup_of(8), jobs, 2);
    check_time(log->jobs[1].end, LONG_S * 4.0 / 3);
    run_log_free(log);
}

/* One node in unit 1 and three in unit 2: all go at the pace of the three. */
TEST(the_unit_with_most_members_decides)
{
    const struct run_job jobs[] = {run_job_make(0, S(10 * LONG_S), 7, 8), gang(0, LONG_S, 4)};
    struct run_log *log = run(setup_of(8), jobs, 2);
    check_time(log->jobs[1].end, LONG_S * step_at(NODES_PER_UNIT * NIC_GB / 8 / 3));
    run_log_free(log);
}
