/* policies/plugin.h: the ABI that goes with the structs, what is refused, and policies beside those built in. */
#include "tests/support/test.h"
#include <string.h>

#include "policies/config/registry.h"
#include "policies/policy_config.h"
#include "tests/support/json_text.h"

/* When this fails, a struct that plug-ins share with the program has changed: raise PLUGIN_ABI, unless a seam's own
 * struct has only grown at its end, and write down here the new number with the new sizes. */
TEST(test_abi_goes_with_the_structs)
{
    static const struct {
        uint32_t policy_size, view_size;
    } sizes_of_abi_26[] = {
        [PLUGIN_ORDER] = {56, 384},     [PLUGIN_QUOTA] = {200, 1304},  [PLUGIN_PLACEMENT] = {80, 996},
        [PLUGIN_GANG] = {40, 120},      [PLUGIN_ESTIMATE] = {56, 8},   [PLUGIN_VICTIM] = {24, 88},
        [PLUGIN_PREEMPTION] = {40, 88}, [PLUGIN_BACKFILL] = {88, 240},
    };
    if (sizeof(void *) != 8) {
        print_message("skipped: the sizes are those of a 64-bit machine\n");
        skip();
    }
    assert_int_equal(PLUGIN_ABI, 26);
    for (enum plugin_seam seam = PLUGIN_NONE + 1; seam < PLUGIN_SEAM_COUNT; seam++) {
        uint32_t policy_size = plugin_policy_size(seam), view_size = plugin_view_size(seam);
        if (policy_size != sizes_of_abi_26[seam].policy_size || view_size != sizes_of_abi_26[seam].view_size)
            fail_msg("%s: {%u, %u}: raise PLUGIN_ABI", plugin_seam_name(seam), policy_size, view_size);
    }
    assert_int_equal(offsetof(struct windtunnel_plugin, abi), 0);
}

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return (uint64_t)view->submit;
}

static const struct order_policy mine = {.name = "mine", .version = 1, .summary = "as fifo", .rank = rank};
static const struct windtunnel_plugin good = {PLUGIN_FOR(ORDER), .name = "test", .version = "1", .policy = &mine};
static const struct plugin_set nobody;

static void expect_refused(const struct windtunnel_plugin *plugin, const char *said)
{
    struct error error = plugin_check(plugin, "some.so", &nobody);
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error_message(&error), "some.so"));
    if (strstr(error_message(&error), said) == NULL)
        fail_msg("'%s' does not hold '%s'", error_message(&error), said);
    error_release(&error);
}

TEST(test_what_is_refused)
{
    struct windtunnel_plugin bad;
    struct order_policy policy;
    assert_false(error_is(plugin_check(&good, "some.so", &nobody)));
#define REFUSED(assignment, said)                                                                                      \
    bad = good;                                                                                                        \
    policy = mine;                                                                                                     \
    bad.policy = &policy;                                                                                              \
    assignment;                                                                                                        \
    expect_refused(&bad, said)
    REFUSED(bad.abi = 99, "built for plug-in ABI 99, this is ABI 26");
    REFUSED(bad.seam = PLUGIN_NONE, "unknown seam, number 0");
    REFUSED(bad.seam = PLUGIN_SEAM_COUNT, "unknown seam");
    REFUSED(bad.policy_size++, "is a struct of");
    REFUSED(bad.view_size++, "looks at had");
    REFUSED(bad.seam = PLUGIN_QUOTA, "its quota policy is a struct of");
    REFUSED(bad.name = NULL, "its name and its version");
    REFUSED(bad.version = "", "its name and its version");
    REFUSED(bad.version = "1\n2", "its name and its version");
    REFUSED(bad.policy = NULL, "holds no policy");
    REFUSED(policy.name = NULL, "the name of its order policy must be");
    REFUSED(policy.name = "a b", "the name of its order policy must be");
    REFUSED(policy.name = "las", "is taken by one that is built in");
    REFUSED(policy.summary = NULL, "'mine' has no summary");
    REFUSED(policy.rank = NULL, "'mine' lacks the hook 'rank'");
}

static time_ns length(time_ns limit, time_ns estimate, const struct policy_own *own)
{
    (void)own;
    return limit < estimate ? limit : estimate;
}

static time_ns predict(const void *state)
{
    return *(const time_ns *)state;
}

static void note_run(void *last, time_ns ran)
{
    *(time_ns *)last = ran;
}

/* A policy that learns has a state and both hooks; one that does not needs none of them. */
TEST(test_learning)
{
    struct estimate_policy policy = {.name = "mine", .version = 1, .summary = "s", .length = length};
    const struct windtunnel_plugin plugin = {PLUGIN_FOR(ESTIMATE), .name = "test", .version = "1", .policy = &policy};
    assert_false(error_is(plugin_check(&plugin, "some.so", &nobody)));
    policy.state_size = sizeof(time_ns);
    expect_refused(&plugin, "'mine' lacks the hook 'note_run'");
    policy.note_run = note_run;
    expect_refused(&plugin, "'mine' lacks the hook 'predict'");
    policy.predict = predict;
    assert_false(error_is(plugin_check(&plugin, "some.so", &nobody)));
    policy.state_size = PLUGIN_STATE_BYTES_MAX + 1;
    expect_refused(&plugin, "has a bad 'state_size'");
    policy = (struct estimate_policy){.name = "mine", .version = 1, .summary = "s"};
    expect_refused(&plugin, "'mine' lacks the hook 'length'");
}

static struct error read_policy(struct policy_config *config, const char *text, const struct plugin_set *plugins)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "test", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read_with(config, &root, plugins);
    json_doc_free(doc);
    return error;
}

TEST(test_named_as_any_other)
{
    static const struct plugin_set set = {.plugins = {&good}, .count = 1};
    struct policy_config config;
    struct error error = read_policy(&config, "{'plugins': ['some.so'], 'order': ['priority', 'mine']}", &set);
    assert_false(error_is(error));
    assert_int_equal(config.order_count, 2);
    assert_ptr_equal(config.order[0], &order_priority);
    assert_ptr_equal(config.order[1], &mine);
    error = read_policy(&config, "{'placement': 'mine'}", &set); /* another seam */
    assert_true(error_is(error));
    error_release(&error);
    error = read_policy(&config, "{'order': ['mine']}", NULL);
    assert_true(error_is(error));
    error_release(&error);
    error = read_policy(&config, "{'plugins': ['some.so']}", NULL); /* nobody loads them */
    assert_true(error_is(error));
    assert_non_null(strstr(error_message(&error), "plugins"));
    error_release(&error);
}

TEST(test_name_of_another)
{
    static const struct plugin_set set = {.plugins = {&good}, .count = 1};
    struct error error = plugin_check(&good, "some.so", &set);
    assert_non_null(strstr(error_message(&error), "is taken by another plug-in"));
    error_release(&error);
}
