/* tests/analytic/test_fabric_fit.c -- a fit to text that was made from the model gives back the parameters of the text:
 * within a percent without noise, and with noise in 95 of 100 intervals. */
#include <math.h>

#include "tests/support/test.h"

#include "studies/fabric/fabric_fit.h"
#include "tests/support/interval.h"
#include "tests/support/nccl_text.h"
#include "tests/support/scratch.h"

TEST_GROUP(scratch_make, scratch_remove)

struct truth {
    double step_s, rate_ratio, nic_bytes_per_s, nvlink_ratio;
};

enum { RUNS_MAX = 8 };

/* A run of each kind and number of hosts, until one of 0 hosts. */
struct runs {
    struct {
        enum collective_kind kind;
        uint32_t hosts;
    } of[RUNS_MAX];
};

static const struct runs usual = {{{COLLECTIVE_ALL_REDUCE, 1},
                                   {COLLECTIVE_ALL_REDUCE, 2},
                                   {COLLECTIVE_ALL_REDUCE, 4},
                                   {COLLECTIVE_ALL_GATHER, 4},
                                   {COLLECTIVE_REDUCE_SCATTER, 8},
                                   {COLLECTIVE_ALL_TO_ALL, 2}}};

static struct nccl_tests make(const struct truth *truth, const struct runs *runs, double noise, uint64_t seed)
{
    const struct transport own = {"own", truth->step_s, truth->rate_ratio, truth->nic_bytes_per_s, "made"};
    const struct collective_system table = collective_system_over(collective_system_find(TEXT("h100")), &own);
    const struct collective_system system = collective_system_scaled(&table, truth->nvlink_ratio);
    struct random_stream random;
    struct buffer text = {0};
    struct nccl_tests tests = {0};
    random_stream_init(&random, seed, "noise", 0);
    for (int i = 0; i < RUNS_MAX && runs->of[i].hosts > 0; i++)
        nccl_text_run(&text, &(struct nccl_text){.kind = runs->of[i].kind,
                                                 .hosts = runs->of[i].hosts,
                                                 .gpus = 8,
                                                 .system = &system,
                                                 .bytes_low = 0x1p16,
                                                 .bytes_high = 0x1p33,
                                                 .noise = noise,
                                                 .random = noise > 0 ? &random : NULL});
    struct error error = nccl_tests_read(&tests, scratch_write("made.txt", text.bytes, text.length));
    assert_false(error_is(error));
    buffer_release(&text);
    return tests;
}

/* It begins with InfiniBand and the NICs of the truth. */
static struct fabric_start start_of(const struct truth *truth)
{
    struct fabric_start start = {.system = *collective_system_find(TEXT("h100")),
                                 .network_bytes_per_s = truth->nic_bytes_per_s,
                                 .nvlink_ratio = 1,
                                 .has_nvls = true};
    start.system.nic_bytes_per_s = truth->nic_bytes_per_s;
    return start;
}

static struct fabric_fit fit_to(const struct truth *truth, const struct runs *runs, double noise, uint64_t seed)
{
    const struct fabric_start start = start_of(truth);
    struct nccl_tests tests = make(truth, runs, noise, seed);
    struct fabric_fit fit;
    struct error error = fabric_fit_make(&fit, &tests, &start);
    assert_false(error_is(error));
    nccl_tests_release(&tests);
    return fit;
}

static bool is_near(double is, double should)
{
    return fabs(is - should) <= 0.01 * should;
}

TEST(what_was_put_in_comes_out)
{
    static const struct truth truths[] = {{50e-6, 0.7, 50e9, 0.9},
                                          {4e-6, 0.8, 25e9, 1},
                                          {396e-6, 0.986, 25e9, 1.2},
                                          {118e-6, 0.873, 50e9, 1},
                                          {2e-3, 0.3, 12.5e9, 0.5}};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct fabric_fit fit = fit_to(&truths[i], &usual, 0, 0);
        const double *should = &truths[i].step_s;
        const double values[] = {should[0], should[1], truths[i].nvlink_ratio};
        for (int p = 0; p < FABRIC_PARAMETER_COUNT; p++)
            if (!fit.estimates[p].is_told || !is_near(fit.estimates[p].value, values[p]))
                fail_msg("truth %zu: parameter %d is %g, not %g", i, p, fit.estimates[p].value, values[p]);
        assert_true(fit.rms < 0.005);
        assert_true(fit.bytes_min == 0x1p16);
        fabric_fit_release(&fit);
    }
}

/* 5 % of noise: 95 % of the intervals of all parameters hold the truth, within 3 standard deviations of that count. */
TEST(noise_stays_in_the_interval)
{
    static const struct truth truth = {50e-6, 0.7, 50e9, 0.9};
    const double values[] = {truth.step_s, truth.rate_ratio, truth.nvlink_ratio};
    const uint64_t texts = test_is_full() ? 100 : 12;
    const double intervals = 3 * (double)texts, least = 0.95 * intervals - 3 * sqrt(0.95 * 0.05 * intervals);
    int inside = 0;
    for (uint64_t seed = 0; seed < texts; seed++) {
        struct fabric_fit fit = fit_to(&truth, &usual, 0.05, seed);
        for (int p = 0; p < FABRIC_PARAMETER_COUNT; p++) {
            const struct fabric_estimate *estimate = &fit.estimates[p];
            assert_true(estimate->is_told);
            assert_true(estimate->low <= estimate->value && estimate->value <= estimate->high);
            inside += estimate->low <= values[p] && values[p] <= estimate->high;
        }
        assert_true(fit.rms > 0.03 && fit.rms < 0.07);
        fabric_fit_release(&fit);
    }
    print_message("%d of %g intervals hold the truth\n", inside, intervals);
    assert_true(inside >= least);
}

/* Messages below 8 MiB take 120 us, as over a network with another protocol for them: they are left out, and change
 * nothing. */
TEST(small_messages_are_left_out)
{
    static const struct truth truth = {396e-6, 0.986, 25e9, 1};
    static const struct runs pair = {{{COLLECTIVE_ALL_REDUCE, 2}}};
    const struct fabric_start start = start_of(&truth);
    struct nccl_tests tests = make(&truth, &pair, 0, 0);
    struct fabric_fit fit;
    for (size_t i = 0; i < tests.count; i++)
        if (tests.rows[i].bytes < 0x1p23)
            tests.rows[i].s = 120e-6;
    struct error error = fabric_fit_make(&fit, &tests, &start);
    assert_false(error_is(error));
    assert_true(fit.bytes_min == 0x1p23);
    assert_int_equal(fit.used, 11);
    assert_true(is_near(fit.estimates[FABRIC_STEP_S].value, truth.step_s));
    assert_true(is_near(fit.estimates[FABRIC_RATE_RATIO].value, truth.rate_ratio));
    fabric_fit_release(&fit);
    nccl_tests_release(&tests);
}

/* One node says nothing of the network; a ratio of the NICs above what NVLink passes on is not seen, and the smallest
 * that fits is taken: 8 NICs of 50 GB/s x 0.965 are the 386 GB/s that a GPU passes on. */
TEST(what_rows_do_not_tell)
{
    static const struct runs one = {{{COLLECTIVE_ALL_REDUCE, 1}}}, rings = {{{COLLECTIVE_ALL_GATHER, 4}}};
    struct fabric_fit fit = fit_to(&(struct truth){99e-6, 0.5, 50e9, 0.9}, &one, 0, 0);
    assert_false(fit.estimates[FABRIC_STEP_S].has_rows);
    assert_false(fit.estimates[FABRIC_STEP_S].is_told);
    assert_true(fit.estimates[FABRIC_STEP_S].value == transports[0].step_s);
    assert_true(fit.estimates[FABRIC_RATE_RATIO].value == transports[0].rate_ratio);
    assert_true(is_near(fit.estimates[FABRIC_NVLINK_RATIO].value, 0.9));
    fabric_fit_release(&fit);
    fit = fit_to(&(struct truth){50e-6, 0.99, 50e9, 1}, &rings, 0, 0);
    assert_true(fabs(fit.estimates[FABRIC_RATE_RATIO].value - 0.965) < 0.001);
    assert_true(fit.estimates[FABRIC_RATE_RATIO].high == 1);
    assert_true(is_near(fit.estimates[FABRIC_STEP_S].value, 50e-6));
    fabric_fit_release(&fit);
}

/* Large messages alone: the step is a thousandth of their time, which 5 % of noise hides.  It stays as it was. */
TEST(a_step_that_noise_hides)
{
    static const struct truth truth = {6e-6, 0.7, 50e9, 1};
    static const struct runs pair = {{{COLLECTIVE_ALL_REDUCE, 4}}};
    const struct fabric_start start = start_of(&truth);
    struct nccl_tests tests = make(&truth, &pair, 0.05, 1), large = {0};
    struct fabric_fit fit;
    for (size_t i = 0; i < tests.count; i++)
        if (tests.rows[i].bytes >= 0x1p27)
            tests.rows[large.count++] = tests.rows[i];
    tests.count = large.count;
    struct error error = fabric_fit_make(&fit, &tests, &start);
    assert_false(error_is(error));
    assert_true(fit.estimates[FABRIC_STEP_S].has_rows);
    assert_false(fit.estimates[FABRIC_STEP_S].is_told);
    assert_true(fit.estimates[FABRIC_STEP_S].value == transports[0].step_s);
    assert_true(fit.estimates[FABRIC_RATE_RATIO].is_told);
    fabric_fit_release(&fit);
    nccl_tests_release(&tests);
}

TEST(too_few_rows_are_refused)
{
    static const struct truth truth = {50e-6, 0.7, 50e9, 1};
    static const struct runs pair = {{{COLLECTIVE_ALL_REDUCE, 2}}};
    struct fabric_start start = start_of(&truth);
    struct nccl_tests tests = make(&truth, &pair, 0, 0);
    struct fabric_fit fit;
    tests.count = 4;
    struct error error = fabric_fit_make(&fit, &tests, &start);
    assert_true(error_is(error));
    assert_non_null(strstr(error_message(&error), "a fit of 2 parameters needs 5"));
    error_release(&error);
    tests.count = 5;
    start.system.domain_gpus = 4;
    start.system.node_gpus = 4;
    error = fabric_fit_make(&fit, &tests, &start);
    assert_true(error_is(error));
    assert_non_null(strstr(error_message(&error), "8 GPUs on a host, where h100 has 4"));
    error_release(&error);
    nccl_tests_release(&tests);
}
