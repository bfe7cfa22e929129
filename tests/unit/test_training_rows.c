/* tests/unit/test_training_rows.c -- measured training steps hold together, and are inside their own range. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "topologies/training_rows.h"

static struct training_plan plan_of(const char *text)
{
    struct json_doc *doc = json_text_parse("plan", text);
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    const struct training_plan plan = training_plan_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return plan;
}

static const struct collective_system *system_of(const char *name)
{
    return collective_system_find(text_of(name));
}

TEST(tested_rows_are_inside_their_own_range)
{
    struct training_complaint why;
    uint32_t tested = 0;
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        if (!training_plan_check(&row.plan, &why))
            fail_msg("%s: %s", row.name, why.what);
        if (!row.is_tested)
            continue;
        const struct range_verdict verdict = training_validated(&row.plan, system_of("h100"));
        if (!range_is_inside(verdict))
            fail_msg("%s: %s", row.name, verdict.reason);
        const struct training_errors errors = training_errors_of(&row.plan);
        const double error = training_row_model_tflops(&row) / row.tflops - 1;
        if (!(error >= errors.least && error <= errors.most))
            fail_msg("%s: %g is not from %g to %g", row.name, error, errors.least, errors.most);
        tested++;
    }
    assert_true(tested > 100);
}

/* Measured values in the units of their sources: 41.25 % of 989.4; tokens x FLOPs of a token; half of the scores. */
TEST(units_of_rows)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        const struct training_flops flops = training_plan_flops_by_part(&row.plan);
        const double all = training_plan_flops(&row.plan);
        if (row.table == TRAINING_TABLE_SHARDED && text_is(text_of(row.name), "70B") && row.plan.dp == 512) {
            assert_true(fabs(row.tflops - 0.4125 * 989.4) < 1e-9);
            found++;
        } else if (text_is(text_of(row.name), "Qwen3 30B")) {
            assert_true(fabs(row.tflops - 12040 * all / (512 * 4096.0) / 1e12) < 1e-9);
            found++;
        } else if (text_is(text_of(row.name), "Qwen3 235B") && row.plan.sequence == 131072) {
            assert_true(fabs(row.tflops * (all - flops.scores / 2) / all - 389) < 1e-9);
            found++;
        }
    }
    assert_int_equal(found, 3);
}

static void check_verdict(const char *system, const char *text, const char *reason, double times)
{
    const struct training_plan plan = plan_of(text);
    const struct range_verdict verdict = training_validated(&plan, system_of(system));
    if (reason == NULL)
        assert_true(range_is_inside(verdict));
    else
        assert_string_equal(verdict.reason, reason);
    if (!(verdict.times >= times && verdict.times <= times))
        fail_msg("%s: %g times outside, not %g", text, verdict.times, times);
}

#define DENSE  "'layers': 32, 'hidden': 4096, 'sequence': 2048, 'vocabulary': 50368, 'batch': 1024"
#define SPARSE DENSE ", 'kv_heads': 4, 'ffn': 1536, 'gated': true, 'experts': 128, 'experts_per_token': 8, 'ep': 32"

TEST(plans_beyond_what_was_measured)
{
    check_verdict("h100", "{" DENSE ", 'dp': 128}", NULL, 1);
    check_verdict("h200", "{" DENSE ", 'dp': 128, 'zero': 3}", NULL, 1);
    check_verdict("h100", "{" DENSE ", 'dp': 1024, 'zero': 3}", "GPUs", 2);
    check_verdict("h100", "{" DENSE ", 'dp': 128, 'zero': 3, 'precision': 'fp8'}", "GPUs", 16);
    check_verdict("b200", "{" DENSE ", 'dp': 128}", "b200", INFINITY);
    check_verdict("h100-pcie", "{" DENSE ", 'dp': 128}", "h100-pcie", INFINITY);
    check_verdict("h100", "{" SPARSE ", 'dp': 128}", "sequence", 2);
    check_verdict("h100", "{" SPARSE ", 'dp': 128, 'zero': 3}", "mixtures of experts with zero 2 or 3", INFINITY);
    const struct training_plan sharded = plan_of("{" SPARSE ", 'dp': 128, 'zero': 3}");
    assert_int_equal(training_errors_of(&sharded).row_count, 0);
}

/* A mixture is compared with mixtures, in its precision and sharding before others. */
TEST(the_nearest_row)
{
    const struct training_plan mixture = plan_of("{" SPARSE ", 'dp': 256}"), dense = plan_of("{" DENSE ", 'dp': 128}");
    const struct training_row far = training_row_nearest(&mixture), near = training_row_nearest(&dense);
    assert_true(far.plan.experts > 1 && far.plan.precision == TRAINING_BF16);
    assert_int_equal(near.plan.experts, 1);
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        const struct training_row own = training_row_nearest(&row.plan);
        assert_true(training_plan_gpus(&own.plan) == training_plan_gpus(&row.plan) &&
                    own.plan.precision == row.plan.precision && own.plan.sequence == row.plan.sequence);
    }
}

TEST(how_far_the_model_is_off_in_words)
{
    const struct training_plan inside = plan_of("{" DENSE ", 'dp': 128}"), outside = plan_of("{" SPARSE ", 'dp': 128}");
    struct buffer text = {0};
    training_rows_tell(&inside, training_validated(&inside, system_of("h100")), "; ", &text);
    assert_string_equal(buffer_c_string(&text),
                        "23 rows of dense plans in bf16, where the model is off by -10 to +5 %");
    text.length = 0;
    training_rows_tell(&outside, training_validated(&outside, system_of("h100")), "; ", &text);
    assert_non_null(strstr(buffer_c_string(&text), "rows of mixtures of experts in bf16, where the model is off by "));
    assert_non_null(strstr(buffer_c_string(&text),
                           "; not validated here: sequence 2 times outside the measured rows; "
                           "the nearest row: Mixtral 8x7B on 64 GPUs in bf16, where the model"));
    buffer_release(&text);
}
