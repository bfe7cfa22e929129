/* tests/unit/test_victim_keys.c -- who is taken first by each key, and the reader of "preemption". */
#include <stdio.h>

#include "tests/support/test.h"

#include "policies/preemption/preemption_read.h"
#include "policies/preemption/preemptions.h"
#include "policies/preemption/victim_keys.h"
#include "tests/support/json_text.h"

#define S TIME_NS_PER_S

static void assert_first(const struct victim_key *key, struct victim_view a, struct victim_view b)
{
    assert_true(key->rank(&a) < key->rank(&b));
}

/* Only the one fact differs; the others must not matter. */
TEST(each_key_asks_its_question)
{
    struct victim_view a = {0}, b = {.is_over_quota = true};
    assert_first(&victim_borrowers, b, a);
    b = (struct victim_view){.is_surplus = true};
    assert_first(&victim_surplus, b, a);
    b = (struct victim_view){.is_evicting = true};
    assert_first(&victim_evicting, b, a);
    b = (struct victim_view){.is_own_queue = true};
    assert_first(&victim_other_queues, a, b);
    assert_first(&victim_own_queue, b, a);
    b = (struct victim_view){.is_by_right = true};
    assert_first(&victim_by_right, b, a);
    b = (struct victim_view){.member_count = 2};
    assert_first(&victim_members, a, b);
    b = (struct victim_view){.gpu_milli = 8000};
    assert_first(&victim_smallest, a, b);
    assert_first(&victim_largest, b, a);
    b = (struct victim_view){.running = 1};
    assert_first(&victim_youngest, a, b);
    assert_first(&victim_oldest, b, a);
    b = (struct victim_view){.loss_gpu_ns = 1};
    assert_first(&victim_cost, a, b);
    b = (struct victim_view){.leaves_in = S};
    assert_int_equal(victim_at_once.rank(&a), victim_at_once.rank(&b));
    a.is_for_service = b.is_for_service = true;
    assert_first(&victim_at_once, a, b);
    a.is_for_service = false;
    b = (struct victim_view){.order_rank = 1};
    assert_first(&victim_order, b, a);
}

TEST(priorities_go_up_from_the_most_negative)
{
    static const int32_t priorities[] = {INT32_MIN, -1, 0, 50, INT32_MAX};
    for (size_t i = 1; i < sizeof priorities / sizeof *priorities; i++)
        assert_first(&victim_priority, (struct victim_view){.priority = priorities[i - 1]},
                     (struct victim_view){.priority = priorities[i]});
}

TEST(latency_is_spared)
{
    struct victim_view training = {.class = JOB_TRAINING};
    struct victim_view interactive = {.class = JOB_INTERACTIVE};
    struct victim_view inference = {.class = JOB_INFERENCE};
    assert_first(&victim_class, training, interactive);
    assert_first(&victim_class, interactive, inference);
}

TEST(the_policies_differ_in_who_evicts_and_how)
{
    assert_false(preemption_none.evicts);
    assert_true(preemption_checkpoint.evicts && !preemption_checkpoint.is_kill);
    assert_true(preemption_kill.evicts && preemption_kill.is_kill);
}

/* ---- the reader ---- */

static void assert_same(const struct preemption_config *a, const struct preemption_config *b)
{
    assert_int_equal(a->victim_key_count, b->victim_key_count);
    for (uint32_t i = 0; i < a->victim_key_count; i++)
        assert_ptr_equal(a->victims[i], b->victims[i]);
    assert_int_equal(a->by_queue, b->by_queue);
    assert_int_equal(a->search, b->search);
    assert_int_equal(a->within_queue, b->within_queue);
    assert_int_equal(a->replaces_victims, b->replaces_victims);
    assert_int_equal(a->victims_of_this_cycle, b->victims_of_this_cycle);
    assert_int_equal(a->resolve, b->resolve);
    assert_int_equal(a->grace, b->grace);
    assert_int_equal(a->preempt_min_runtime, b->preempt_min_runtime);
    assert_int_equal(a->reclaim_min_runtime, b->reclaim_min_runtime);
    assert_int_equal(a->delay, b->delay);
    assert_int_equal(a->attempts_per_cycle, b->attempts_per_cycle);
    assert_int_equal(a->victims_max, b->victims_max);
    assert_int_equal(a->evictions_per_job_max, b->evictions_per_job_max);
    assert_int_equal(a->rematch_cycles, b->rematch_cycles);
    assert_int_equal(a->loss_ratio_milli, b->loss_ratio_milli);
}

struct reading {
    struct preemption_config config;
    const struct preemption_policy *policy;
};

static struct error read_text(const char *text, struct reading *reading)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    struct json_object object;
    *reading = (struct reading){preemption_config_default(), &preemption_none};
    TRY(json_text_read(&doc, "p.json", text));
    struct json_value root = json_doc_root(doc, &error);
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "preemption");
    preemption_config_read(&reading->config, &reading->policy, preemption_policies, victim_keys, &value);
    json_object_close(&object);
    json_doc_free(doc);
    return error;
}

TEST(every_field_is_read)
{
    struct reading r;
    struct error error =
        read_text("{'preemption': {'policy': 'kill', 'victims': ['queue', 'class', 'cost'], 'search': 'ordered', "
                  "'within_queue': 'lower_or_newer', 'replaces_victims': true, 'victims_of_this_cycle': true, "
                  "'resolve': 'queue', 'grace_s': 1, 'preempt_min_runtime_s': 2, 'reclaim_min_runtime_s': 3, "
                  "'delay_s': 4, 'attempts_per_cycle': 5, 'victims_max': 6, "
                  "'evictions_per_job_max': 8, 'rematch_cycles': 10, 'loss_ratio': 1.5}}",
                  &r);
    struct preemption_config want = {.victims = {&victim_class, &victim_cost},
                                     .victim_key_count = 2,
                                     .by_queue = true,
                                     .search = SEARCH_ORDERED,
                                     .within_queue = WITHIN_QUEUE_LOWER_OR_NEWER,
                                     .replaces_victims = true,
                                     .victims_of_this_cycle = true,
                                     .resolve = RESOLVE_QUEUE,
                                     .grace = 1 * S,
                                     .preempt_min_runtime = 2 * S,
                                     .reclaim_min_runtime = 3 * S,
                                     .delay = 4 * S,
                                     .attempts_per_cycle = 5,
                                     .victims_max = 6,
                                     .evictions_per_job_max = 8,
                                     .rematch_cycles = 10,
                                     .loss_ratio_milli = 1500};
    assert_false(error_is(error));
    assert_ptr_equal(r.policy, &preemption_kill);
    assert_same(&r.config, &want);
}

TEST(one_minimum_run_time_sets_both)
{
    struct reading r;
    assert_false(error_is(read_text("{'preemption': {'min_runtime_s': 7}}", &r)));
    assert_int_equal(r.config.preempt_min_runtime, 7 * S);
    assert_int_equal(r.config.reclaim_min_runtime, 7 * S);
    const char *text = "{'preemption': {'reclaim_min_runtime_s': 9, 'min_runtime_s': 0}}";
    assert_false(error_is(read_text(text, &r)));
    assert_int_equal(r.config.preempt_min_runtime, 0);
    assert_int_equal(r.config.reclaim_min_runtime, 9 * S);
}

TEST(absent_fields_stay_and_victims_are_replaced)
{
    struct reading r;
    struct preemption_config otherwise = preemption_config_default();
    assert_false(error_is(read_text("{}", &r)));
    assert_ptr_equal(r.policy, &preemption_none);
    assert_same(&r.config, &otherwise);
    assert_false(error_is(read_text("{'preemption': {'victims': ['queue']}}", &r)));
    assert_true(r.config.by_queue);
    assert_int_equal(r.config.victim_key_count, 0);
    assert_false(error_is(read_text("{'preemption': {'victims': []}}", &r)));
    assert_false(r.config.by_queue);
    assert_int_equal(r.config.victim_key_count, 0);
    assert_false(error_is(read_text("{'preemption': {'within_queue': 'order'}}", &r)));
    assert_int_equal(r.config.within_queue, WITHIN_QUEUE_ORDER);
    assert_false(error_is(read_text("{'preemption': {'victims': ['oldest']}}", &r)));
    assert_false(r.config.by_queue);
    assert_int_equal(r.config.victim_key_count, 1);
    assert_ptr_equal(r.config.victims[0], &victim_oldest);
}

TEST(bad_fields_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{'policy': 'murder'}", "'policy' must be one of"},
        {"{\"victims\": 3}", "an array"},
        {"{\"victims\": [4]}", "must be a string"},
        {"{'victims': ['queue', 'a','b','c','d','e','f','g']}", "from 1 to 6"},
        {"{'victims': ['smalest']}", "there is no victim key 'smalest'"},
        {"{'victims': ['oldest', 'queue']}", "there is no victim key 'queue'"},
        {"{'victims': ['oldest', 'oldest']}", "named twice"},
        {"{'search': 'best'}", "'search' must be one of"},
        {"{\"victims_max\": 0}", "from 1"},
        {"{\"consolidation_max\": 1}", "consolidation_max"},
        {"{\"loss_ratio\": -0.5}", "from 0"},
        {"{\"grace_s\": -1}", "a duration"},
        {"{\"grace\": 1}", "grace"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        struct reading r;
        snprintf(text, sizeof text, "{\"preemption\": %s}", cases[i].text);
        struct error error = read_text(text, &r);
        assert_true(error_is(error));
        if (strstr(error_message(&error), cases[i].message) == NULL)
            fail_msg("%s: '%s' does not say '%s'", text, error_message(&error), cases[i].message);
        error_release(&error);
    }
}
