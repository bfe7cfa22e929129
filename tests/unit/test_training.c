/* tests/unit/test_training.c -- step times of training plans by hand, laws at random, and plans that are refused. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/json_text.h"
#include "topologies/training.h"

static const struct collective_system *h100(void)
{
    return collective_system_find(TEXT("h100"));
}

static struct error read_plan(const char *text, struct training_plan *plan)
{
    struct json_doc *doc = json_text_parse("plan", text);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    *plan = training_plan_read(&root);
    json_doc_free(doc);
    return error;
}

static struct training_plan plan_of(const char *text)
{
    struct training_plan plan;
    struct error error = read_plan(text, &plan);
    assert_string_equal(error_message(&error), "");
    return plan;
}

static struct training_time time_of(const struct training_plan *plan, double network, uint32_t tp_domains)
{
    const struct training_links links = training_links_packed(plan, h100(), network, tp_domains);
    return training_time(plan, &links, training_peak_tflops(h100(), plan->precision));
}

static void check_near(double is, double should)
{
    if (!(fabs(is - should) <= 1e-9 * fabs(should)))
        fail_msg("%.12g is not %.12g", is, should);
}

/* ---- the model ---- */

/* 72 B s L h^2 (1 + s/6h + V/12hL), equation 3 of Megatron-LM; 12 L h^2 + 2 V h parameters. */
TEST(flops_and_parameters)
{
    const struct training_plan gpt = plan_of("{'layers': 96, 'hidden': 12288, 'sequence': 4096, 'vocabulary': 131072,"
                                             " 'batch': 1152, 'tp': 8, 'pp': 6, 'gpus': 2304}");
    const double h = 12288, layers = 96, s = 4096, v = 131072;
    check_near(training_plan_flops(&gpt), 72 * 1152 * s * layers * h * h * (1 + s / (6 * h) + v / (12 * h * layers)));
    check_near(training_plan_parameters(&gpt), 12 * layers * h * h + 2 * v * h);
    assert_int_equal(gpt.dp, 48);
    assert_int_equal(gpt.virtual_stages, 8);
    assert_int_equal(training_plan_gpus(&gpt), 2304);
    /* Llama 3 405B has 405.9 billion; Mixtral 8x7B 46.7, of which a token uses 12.9. */
    const struct training_plan llama =
        plan_of("{'layers': 126, 'hidden': 16384, 'heads': 128, 'kv_heads': 8, 'ffn': 53248, 'gated': true,"
                " 'sequence': 8192, 'vocabulary': 128256, 'batch': 2048}");
    assert_true(fabs(training_plan_parameters(&llama) / 405.9e9 - 1) < 0.001);
    const struct training_plan mixtral =
        plan_of("{'layers': 32, 'hidden': 4096, 'kv_heads': 8, 'ffn': 14336, 'gated': true, 'experts': 8,"
                " 'experts_per_token': 2, 'sequence': 4096, 'vocabulary': 32000, 'batch': 64}");
    assert_true(fabs(training_plan_parameters(&mixtral) / 46.7e9 - 1) < 0.001);
    const double attention = 2 * 4096.0 * 4096 * 1.25, expert = 3 * 4096.0 * 14336;
    check_near(training_plan_flops(&mixtral),
               6 * 64 * 4096.0 * (32 * (attention + 2 * expert + 2 * 4096.0 * 4096) + 32000 * 4096.0));
}

/* ---- a step ---- */

TEST(one_gpu_only_computes)
{
    const struct training_plan plan =
        plan_of("{'layers': 24, 'hidden': 2048, 'sequence': 2048, 'vocabulary': 50000, 'batch': 8}");
    const struct training_time time = time_of(&plan, 50e9, 1);
    /* Scores are 1 / 8 of the FLOPs of a layer beside 12 h^2, and take 1.75 times as long: FlashAttention-2. */
    const double h = 2048, s = 2048, head = 50000 * h, layers = 24 * 12 * h * h, scores = 24 * 2 * s * h;
    const double beside = 440 / h, all = head + layers + scores;
    check_near(time.mfu_ratio, 0.57 * all / ((head + layers) * (1 + beside) + scores * (1.75 + beside)));
    check_near(time.step_s, training_plan_flops(&plan) / (time.mfu_ratio * 989.4e12));
    assert_true(time.tp_s == 0 && time.pp_s == 0 && time.dp_s == 0 && time.bubble_s == 0 && time.ep_s == 0);
}

/* TP 8, PP 2, DP 4 on 8 nodes: each term by hand. */
TEST(terms_of_a_step)
{
    const struct training_plan plan = plan_of("{'layers': 32, 'hidden': 8192, 'sequence': 4096, 'vocabulary': 32000,"
                                              " 'tp': 8, 'pp': 2, 'dp': 4, 'batch': 64, 'virtual_stages': 4}");
    const struct training_time time = time_of(&plan, 50e9, 1);
    const double m = 64 / 4.0, bytes = 2 * 4096 * 8192.0;
    const struct training_flops flops = training_plan_flops_by_part(&plan);
    const double beside = 440 / 8192.0;
    const double weighed = (flops.products + flops.head) * (1 + beside) + flops.scores * (1.75 + beside);
    check_near(time.compute_s, weighed / 64 / (0.57 * 989.4e12));
    const double gather = 14e-6 + 7 * 1.9e-6 + 2.83e-9 * sqrt(8 * bytes) + 7 / 8.0 * bytes / 364e9;
    check_near(time.tp_s, 0.35 * 16 * m * 8 * gather);
    check_near(time.pp_s, 2 * m * 4 * (5e-6 + bytes / 8 / 45e9));
    check_near(time.bubble_s, (time.compute_s + time.tp_s + time.pp_s) / (m * 4));
    /* One member in each of four nodes. */
    const double parameters = training_plan_parameters(&plan) / 16;
    const double replicas = 2 * (14e-6 + 3 * 4e-6) + 3 / 4.0 * 6 * parameters / 48.3e9;
    check_near(time.dp_s, 0.1 * replicas);
    check_near(time.step_s, time.compute_s + time.tp_s + time.pp_s + time.bubble_s + time.dp_s);
    check_near(time.tflops_per_gpu * time.step_s * 64e12, training_plan_flops(&plan));
    check_near(time.mfu_ratio, time.tflops_per_gpu / 989.4);
    /* On a hundredth of the network compute hides no more than 0.9 of itself. */
    const struct training_time slow = time_of(&plan, 0.5e9, 1);
    check_near(slow.dp_s, 2 * (14e-6 + 3 * 4e-6) + 3 / 4.0 * 6 * parameters / 0.483e9 - 0.9 * slow.compute_s);
}

#define SHARDED                                                                                                        \
    "'layers': 32, 'hidden': 4096, 'sequence': 2048, 'vocabulary': 50368, 'micro_batch': 6, 'batch': 768, 'dp': 128"

/* A layer of 12 h^2 parameters among 128 GPUs in 16 nodes; n log n of nothing else. */
TEST(sharded_layers_are_gathered_in_each_microbatch)
{
    const struct training_plan plan = plan_of("{" SHARDED ", 'zero': 3}");
    const struct training_time time = time_of(&plan, 50e9, 1);
    const double latency = 14e-6 + (127 - 15) * 1.9e-6 + 15 * 4.0e-6, more = 1 + 0.55 * log2(128 / 8.0);
    const double layer = 2 * 12 * 4096.0 * 4096, ends = 2 * 2 * 50368 * 4096.0;
    const double bytes_s = 127 / 128.0 * more * 3 * (32 * layer + ends) / 386e9;
    check_near(time.dp_s, 3 * 33 * latency + 0.4 * bytes_s);
    check_near(time.network_s, 3 * 33 * latency + bytes_s);
    /* Without reshard: gathered once; two microbatches: gathered twice; without prefetch: nothing is hidden. */
    const struct training_plan kept = plan_of("{" SHARDED ", 'zero': 3, 'reshard': false}");
    const struct training_plan gradients = plan_of("{" SHARDED ", 'zero': 2}");
    check_near(time_of(&kept, 50e9, 1).dp_s, time.dp_s * 2 / 3);
    check_near(time_of(&gradients, 50e9, 1).dp_s, time.dp_s * 2 / 3);
    struct training_plan twice = plan;
    twice.micro_batch = 3;
    check_near(time_of(&twice, 50e9, 1).dp_s, 2 * time.dp_s);
    twice.zero = 2; /* parameters stay: one gather, two scatters */
    check_near(time_of(&twice, 50e9, 1).dp_s, time.dp_s);
    const struct training_plan bare = plan_of("{" SHARDED ", 'zero': 3, 'prefetch': false}");
    check_near(time_of(&bare, 50e9, 1).dp_s, time.network_s);
    /* On a fiftieth of the network compute hides no more than 0.9 of itself. */
    const struct training_time slow = time_of(&plan, 1e9, 1);
    check_near(slow.dp_s, slow.network_s - 0.9 * slow.compute_s);
}

/* More GPUs make each step longer, though each GPU has the same work. */
TEST(sharded_training_loses_with_each_doubling)
{
    struct training_plan plan = plan_of("{" SHARDED ", 'zero': 3}");
    double last = 1;
    for (; plan.dp <= 4096; plan.dp *= 2, plan.batch *= 2) {
        const double mfu = time_of(&plan, 50e9, 1).mfu_ratio;
        assert_true(mfu < last * 0.985);
        last = mfu;
    }
}

TEST(gradients_of_unsharded_replicas_are_reduced_once)
{
    const struct training_plan plan = plan_of("{" SHARDED ", 'zero': 0}");
    const struct collective_place place = collective_place_even(h100(), 16, 8, 50e9);
    check_near(time_of(&plan, 50e9, 1).dp_s,
               0.2 * collective_group_s(COLLECTIVE_ALL_GATHER, &place, 4 * training_plan_parameters(&plan)));
}

/* FP8 makes matrix products faster, and neither scores nor the output layer; recomputation repeats a third at half. */
TEST(what_fp8_and_recomputation_change)
{
    const struct training_plan plain =
        plan_of("{'layers': 24, 'hidden': 2048, 'sequence': 2048, 'vocabulary': 50000, 'batch': 8}");
    struct training_plan fp8 = plain;
    fp8.precision = TRAINING_FP8;
    const struct training_flops flops = training_plan_flops_by_part(&plain);
    const double beside = 440 / 2048.0, rate = 0.57 * 989.4e12;
    const double scores = flops.scores * (1.75 + beside), head = flops.head * (1 + beside);
    check_near(time_of(&fp8, 50e9, 1).step_s, (flops.products * (1 / 1.5 + beside) + scores + head) / rate);
    assert_true(time_of(&fp8, 50e9, 1).mfu_ratio < time_of(&plain, 50e9, 1).mfu_ratio);
    struct training_plan again = plain;
    again.recompute = TRAINING_RECOMPUTE_FULL;
    const double layers = flops.products * (1 + beside) + scores;
    check_near(time_of(&again, 50e9, 1).step_s, (layers * (1 + 0.5 / 3) + head) / rate);
    again.recompute = TRAINING_RECOMPUTE_SELECTIVE;
    check_near(time_of(&again, 50e9, 1).step_s, (layers + scores / 3 + head) / rate);
    again = plain;
    again.attention = TRAINING_CUDNN;
    check_near(time_of(&again, 50e9, 1).step_s, (layers + head + flops.scores * (0.4 - 1.75)) / rate);
}

/* Keys and values of four GPUs in a node, two gathers and a scatter for each layer; activations are a quarter. */
TEST(context_parallelism_exchanges_keys_and_values)
{
    const struct training_plan plan = plan_of("{'layers': 32, 'hidden': 4096, 'sequence': 8192, 'vocabulary': 32000,"
                                              " 'kv_heads': 8, 'cp': 4, 'dp': 2, 'batch': 8, 'ffn': 14336}");
    assert_int_equal(training_plan_gpus(&plan), 8);
    const struct training_time time = time_of(&plan, 50e9, 1);
    const struct collective_place place = collective_place_even(h100(), 1, 4, 50e9);
    const double bytes = 2 * 2 * 8192.0 * 8 * 128;
    check_near(time.cp_s, 0.35 * 32 * 4 * 3 * collective_group_s(COLLECTIVE_ALL_GATHER, &place, bytes));
    /* All eight hold the same layers. */
    const struct collective_place all = collective_place_even(h100(), 1, 8, 50e9);
    const double parameters = training_plan_parameters(&plan);
    check_near(time.dp_s, 0.1 * (collective_group_s(COLLECTIVE_REDUCE_SCATTER, &all, 4 * parameters) +
                                 collective_group_s(COLLECTIVE_ALL_GATHER, &all, 2 * parameters)));
}

#define MIXTURE                                                                                                        \
    "'layers': 16, 'hidden': 4096, 'kv_heads': 4, 'ffn': 1536, 'gated': true, 'experts': 128, 'experts_per_token': 8," \
    " 'sequence': 4096, 'vocabulary': 32000, 'ep': 32, 'dp': 32, 'batch': 64"

/* A token's 8 copies go to 4 nodes: 4 (1 - (3/4)^8) of them over the network.  4 experts on each GPU. */
TEST(experts_on_four_nodes)
{
    const struct training_plan plan = plan_of("{" MIXTURE "}");
    const struct training_time time = time_of(&plan, 50e9, 1);
    const double sent = 2 * 4096.0 * 4096 * 4 * (1 - pow(0.75, 8));
    const double exchange = 14e-6 + 4e-6 + 24 / 32.0 * sent / 48.3e9;
    check_near(time.ep_s, 16 * 2 * (4 * exchange + 4 * 0.4e-3));
    const double experts = training_plan_expert_parameters(&plan);
    check_near(experts, 16 * 128 * 3 * 4096.0 * 1536);
    /* The busiest GPU has 1.5 times the tokens of the mean. */
    const struct training_plan uneven = plan_of("{" MIXTURE ", 'expert_load': 1.5}");
    const struct training_flops flops = training_plan_flops_by_part(&plan);
    const struct training_time slow = time_of(&uneven, 50e9, 1);
    check_near(slow.compute_s - time.compute_s, 0.5 * flops.experts * (1 + 440 / 4096.0) / 32 / (0.57 * 989.4e12));
    check_near(slow.ep_s - time.ep_s, 0.5 * 16 * 2 * 4 * (exchange - 18e-6));
    check_near(training_plan_flops(&uneven), training_plan_flops(&plan));
}

TEST(a_shared_expert_and_heads_of_their_own_size_count)
{
    const struct training_plan plan = plan_of("{" MIXTURE ", 'head_size': 256, 'shared_ffn': 2048}");
    const double attention = 2 * 4096.0 * 256 * (32 + 4), experts = 8 * 3 * 4096.0 * 1536, shared = 3 * 4096.0 * 2048;
    check_near(training_plan_flops(&plan),
               6 * 64 * 4096.0 * (16 * (attention + experts + shared + 2 * 4096 * 32 * 256.0) + 32000 * 4096.0));
    check_near(training_plan_parameters(&plan), 16 * (attention + 16 * experts + shared) + 2 * 32000 * 4096.0);
}

TEST(groups_stand_packed)
{
    struct training_plan plan = plan_of("{'layers': 32, 'hidden': 4096, 'sequence': 4096, 'vocabulary': 32000,"
                                        " 'tp': 2, 'dp': 16, 'ep': 4, 'experts': 8, 'batch': 64, 'pp': 2}");
    struct training_links links = training_links_packed(&plan, h100(), 50e9, 1);
    assert_int_equal(links.tp.domain_count, 1);
    assert_int_equal(links.ep.domain_count, 1); /* four members, side by side */
    assert_int_equal(links.dp.domain_count, 4);
    assert_int_equal(links.dp.domain_gpus_least, 4);
    assert_int_equal(links.expert_dp.domain_count, 4); /* eight members, four GPUs apart */
    assert_int_equal(links.pp.domain_count, 2);
    links = training_links_packed(&plan, h100(), 50e9, 2);
    assert_int_equal(links.tp.domain_count, 2);
    assert_int_equal(links.tp.domain_gpus_least, 1);
    /* A rack of NVL72 holds all of it. */
    links = training_links_packed(&plan, collective_system_find(TEXT("nvl72")), 50e9, 1);
    assert_int_equal(links.dp.domain_count, 1);
    assert_int_equal(links.pp.domain_count, 1);
}

TEST(spilled_tensor_parallelism_is_slow)
{
    const struct training_plan plan = plan_of("{'layers': 84, 'hidden': 8192, 'sequence': 4096, 'vocabulary': 131072,"
                                              " 'tp': 8, 'pp': 2, 'dp': 48, 'batch': 384}");
    const double network = 40e9 / 0.966; /* 40 GB/s reached */
    const double near = time_of(&plan, network, 1).tflops_per_gpu, far = time_of(&plan, network, 8).tflops_per_gpu;
    assert_true(fabs(1 - far / near - 0.46) < 0.05); /* a coarser formula loses 46 %, with one rate and no latency */
    const double two = time_of(&plan, network, 2).tflops_per_gpu;
    assert_true(two > far && two < near);
}

/* ---- laws, at random ---- */

static struct training_plan random_plan(struct random_stream *random)
{
    struct training_plan plan = {.tp = 1u << random_below(random, 5), .pp = 1 + random_below(random, 16)};
    plan.ep = 1u << random_below(random, 4);
    plan.experts = plan.ep > 1 ? 16 : 1;
    plan.experts_per_token = plan.ep > 1 ? 2 : 1;
    plan.dp = plan.ep * (1 + random_below(random, 100));
    plan.cp = 1;
    plan.zero = random_below(random, 4);
    plan.has_reshard = random_below(random, 2);
    plan.has_prefetch = random_below(random, 2);
    plan.recompute = (enum training_recompute)random_below(random, 3);
    plan.expert_load = 1;
    plan.heads = 16 * (1 + random_below(random, 16));
    plan.head_size = 64;
    plan.hidden = plan.head_size * plan.heads;
    plan.kv_heads = 16;
    plan.ffn = 4 * plan.hidden;
    plan.is_gated = random_below(random, 2);
    plan.layers = plan.pp * (1 + random_below(random, 20));
    plan.virtual_stages = 1 + random_below(random, plan.layers / plan.pp);
    plan.sequence = 1u << random_below(random, 18);
    plan.vocabulary = 1 + random_below(random, 200000);
    plan.micro_batch = 1 + random_below(random, 4);
    plan.batch = plan.dp * plan.micro_batch * (1 + random_below(random, 64));
    return plan;
}

/* MFU is between 0 and the share of the peak that compute reaches; less network never speeds a step up. */
TEST(mfu_stays_in_its_bounds)
{
    struct random_stream random;
    struct training_complaint why;
    for (uint64_t seed = 0; seed < 10000; seed++) {
        random_stream_init(&random, seed, "training", 0);
        const struct training_plan plan = random_plan(&random);
        if (!training_plan_check(&plan, &why))
            fail_msg("seed %llu: %s: %s", (unsigned long long)seed, why.key, why.what);
        const double network = 1e8 * pow(10, 4 * random_uniform(&random));
        const uint32_t domains = 1 + random_below(&random, plan.tp);
        const struct training_time time = time_of(&plan, network, domains);
        if (!(time.mfu_ratio > 0 && time.mfu_ratio < 0.57) || !isfinite(time.step_s) || time.dp_s < 0 || time.tp_s < 0)
            fail_msg("seed %llu: MFU %g, step %g s", (unsigned long long)seed, time.mfu_ratio, time.step_s);
        if (time_of(&plan, network / 2, domains).step_s < time.step_s)
            fail_msg("seed %llu: half the network is faster", (unsigned long long)seed);
    }
}

/* ---- refusals ---- */

TEST(bad_plans_are_refused)
{
    static const struct {
        const char *members, *why;
    } cases[] = {
        {"'tp': 3", "tp = 3 does not divide hidden = 4096"},
        {"'tp': 64", "tp = 64 does not divide heads = 32"},
        {"'tp': 8, 'heads': 4", "tp = 8 does not divide heads = 4"},
        {"'tp': 8, 'ffn': 1001", "tp = 8 does not divide ffn = 1001"},
        {"'heads': 3", "heads = 3 does not divide hidden = 4096"},
        {"'kv_heads': 5", "kv_heads = 5 does not divide heads = 32"},
        {"'tp': 2, 'pp': 2, 'dp': 2, 'gpus': 16", "tp x pp x dp = 2 x 2 x 2 = 8 GPUs, not 16"},
        {"'tp': 8, 'gpus': 12", "12 GPUs are not a multiple of tp x pp = 8 x 1"},
        {"'tp': 8, 'gpus': 4", "4 GPUs are not a multiple of tp x pp = 8 x 1"},
        {"'dp': 7", "batch = 64 is not a multiple of dp x micro_batch = 7 x 1"},
        {"'dp': 8, 'micro_batch': 16", "batch = 64 is not a multiple of dp x micro_batch = 8 x 16"},
        {"'pp': 64", "pp = 64 stages are more than the 32 layers"},
        {"'pp': 8, 'virtual_stages': 5", "5 virtual stages of each of 8 stages are more than the 32 layers"},
        {"'ep': 2, 'dp': 2", "ep = 2, but the model has no experts"},
        {"'ep': 3, 'experts': 3, 'dp': 4", "ep = 3 does not divide dp = 4"},
        {"'ep': 4, 'experts': 6, 'dp': 4", "ep = 4 does not divide experts = 6"},
        {"'experts_per_token': 2", "a token cannot use 2 of 1 experts"},
        {"'precision': 'fp4'", "'precision' must be one of 'bf16', 'fp8'; got \"fp4\""},
        {"'cp': 3", "cp = 3 does not divide sequence = 4096"},
        {"'cp': 2, 'tp': 2, 'gpus': 6", "6 GPUs are not a multiple of tp x pp x cp = 2 x 1 x 2"},
        {"'ep': 8, 'experts': 8, 'tp': 2, 'dp': 2", "ep = 8 does not divide tp x cp x dp = 4"},
        {"'shared_ffn': 64", "shared_ffn = 64, but the model has no experts"},
        {"'zero': 4", "'zero' must be an integer from 0 to 3, got 4"},
        {"'recompute': 'some'", "'recompute' must be one of 'none', 'selective', 'full'; got \"some\""},
        {"'attention': 'flash'", "'attention' must be one of 'flash2', 'cudnn'; got \"flash\""},
        {"'expert_load': 0.5", "'expert_load' must be a number from 1 to 1000, got 0.5"},
        {"'cq': 2", "unknown key 'cq'"},
        {"'tp': 0", "'tp' must be an integer from 1 to 100000, got 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        struct training_plan plan;
        buffer_format(&text, "{'layers': 32, 'hidden': 4096, 'sequence': 4096, 'vocabulary': 32000, 'batch': 64,\n %s}",
                      cases[i].members);
        struct error error = read_plan(buffer_c_string(&text), &plan);
        assert_string_equal(error_message(&error), cases[i].why);
        error_release(&error);
        buffer_release(&text);
    }
    /* What is needed. */
    struct training_plan plan;
    struct error error = read_plan("{'layers': 32}", &plan);
    assert_int_equal(error.kind, ERROR_CONFIG);
    error_release(&error);
}

TEST(a_refusal_has_its_place)
{
    struct training_plan plan;
    struct error error = read_plan("{'layers': 32, 'hidden': 4096,\n 'sequence': 4096, 'vocabulary': 32000,\n"
                                   " 'batch': 64, 'dp': 7}",
                                   &plan);
    char *line = error_line_new(&error);
    assert_string_equal(line, "plan:3:11: batch = 64 is not a multiple of dp x micro_batch = 7 x 1");
    free(line);
    error_release(&error);
}

TEST(peaks)
{
    assert_true(training_peak_tflops(h100(), TRAINING_BF16) == 989.4);
    assert_true(training_peak_tflops(h100(), TRAINING_FP8) == 2 * 989.4);
    assert_true(training_peak_tflops(collective_system_find(TEXT("a100")), TRAINING_BF16) == 312);
    assert_true(training_peak_tflops(collective_system_find(TEXT("a100")), TRAINING_FP8) == 0);
}
