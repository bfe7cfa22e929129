/* tests/unit/test_quota_read.c -- "quota" as a name and as an object, and every way to get it wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/quota/quota_config.h"
#include "policies/quota/quota_read.h"
#include "policies/quota/quotas.h"
#include "tests/support/json_text.h"

#define S TIME_NS_PER_S

struct reading {
    struct quota_config config;
    const struct quota_policy *policy;
};

static struct error read_text(const char *text, struct reading *reading)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    struct json_object object;
    *reading = (struct reading){quota_config_default(), &quota_none};
    TRY(json_text_read(&doc, "p.json", text));
    struct json_value root = json_doc_root(doc, &error);
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "quota");
    quota_config_read(&reading->config, &reading->policy, quota_policies, &value);
    json_object_close(&object);
    json_doc_free(doc);
    return error;
}

static void a_name_is_enough(void **state)
{
    (void)state;
    struct reading r;
    assert_false(error_is(read_text("{}", &r)));
    assert_ptr_equal(r.policy, &quota_none);
    assert_false(error_is(read_text("{'quota': 'fairshare'}", &r)));
    assert_ptr_equal(r.policy, &quota_fairshare);
    assert_int_equal(r.config.saturation_milli, 1000);
    assert_int_equal(r.config.share_period, 60 * S);
    assert_false(error_is(read_text("{'quota': {'usage_weight': 1}}", &r)));
    assert_ptr_equal(r.policy, &quota_none);
}

static void every_field_is_read(void **state)
{
    (void)state;
    struct reading r;
    struct error error =
        read_text("{'quota': {'policy': 'cohort', 'firm_needs_quota': true, 'saturation_multiplier': 1.25, "
                  "'window_s': '7d', 'half_life_s': '1d', 'usage_weight': 0.5, 'share_period_s': 30, "
                  "'fair_sharing': true, 'reclaim_within_cohort': 'any', 'borrow_within_cohort': 'lower_priority', "
                  "'borrow_max_priority': -5, 'strategies': ['initial_share']}}",
                  &r);
    assert_false(error_is(error));
    assert_ptr_equal(r.policy, &quota_cohort);
    assert_true(r.config.firm_needs_quota);
    assert_int_equal(r.config.saturation_milli, 1250);
    assert_int_equal(r.config.window, 7 * 86400 * S);
    assert_int_equal(r.config.half_life, 86400 * S);
    assert_int_equal(r.config.usage_weight_milli, 500);
    assert_int_equal(r.config.share_period, 30 * S);
    assert_true(r.config.fair_sharing);
    assert_int_equal(r.config.reclaim_within_cohort, RECLAIM_ANY);
    assert_int_equal(r.config.borrow_within_cohort, RECLAIM_LOWER_PRIORITY);
    assert_int_equal(r.config.borrow_max_priority, -5);
    assert_int_equal(r.config.strategies[0], STRATEGY_INITIAL_SHARE);
    assert_int_equal(r.config.strategies[1], STRATEGY_NONE);
}

static void strategies_keep_their_order(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "{'quota': {'strategies': ['initial_share', 'final_share']}}";
    assert_false(error_is(read_text(text, &r)));
    assert_int_equal(r.config.strategies[0], STRATEGY_INITIAL_SHARE);
    assert_int_equal(r.config.strategies[1], STRATEGY_FINAL_SHARE);
}

static void bad_fields_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"'fairshares'", "there is no quota 'fairshares'"},
        {"['fairshare']", "an object"},
        {"{'policy': 'fairshares'}", "'policy' must be one of"},
        {"{'saturation_multiplier': 0.999}", "from 1 to"},
        {"{'usage_weight': -1}", "from 0"},
        {"{'share_period_s': 0}", "'share_period_s' must be at least a second"},
        {"{'reclaim_within_cohort': 'all'}", "'reclaim_within_cohort' must be one of"},
        {"{'borrow_within_cohort': 'any'}", "'borrow_within_cohort' must be one of"},
        {"{'strategies': []}", "'strategies' must hold from 1 to 2 names"},
        {"{'strategies': ['final_share', 'final_share']}", "named twice"},
        {"{'strategies': ['last_share']}", "there is no strategy 'last_share'"},
        {"{'half_live_s': 3}", "half_live_s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        struct reading r;
        snprintf(text, sizeof text, "{'quota': %s}", cases[i].text);
        struct error error = read_text(text, &r);
        assert_true(error_is(error));
        if (strstr(error_message(&error), cases[i].message) == NULL)
            fail_msg("%s: '%s' does not say '%s'", text, error_message(&error), cases[i].message);
        error_release(&error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_enough),
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(strategies_keep_their_order),
        cmocka_unit_test(bad_fields_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
