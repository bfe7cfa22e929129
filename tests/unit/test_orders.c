/* tests/unit/test_orders.c -- every order on hand-worked pairs, and the reader of their parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/order/order_read.h"
#include "policies/order/orders.h"
#include "tests/support/json_text.h"

#define S TIME_NS_PER_S

static struct order_view plain_view(void)
{
    return (struct order_view){.now = 1000 * S,
                               .submit = 100 * S,
                               .priority = 50,
                               .member_count = 1,
                               .asks = {8000, 64000, 1024},
                               .capacity = {80000, 640000, 10240},
                               .node_count = 10,
                               .limit = TIME_NEVER,
                               .estimate = TIME_NEVER,
                               .deadline = TIME_NEVER,
                               .waiting_since = 100 * S,
                               .fair_share_ppm = 500000};
}

/* a goes before b, and not the other way round. */
static void assert_before_with(const struct order_policy *order, const struct order_config *config, struct order_view a,
                               struct order_view b)
{
    assert_true(order->rank(&a, config) < order->rank(&b, config));
}

static void assert_before(const struct order_policy *order, struct order_view a, struct order_view b)
{
    struct order_config config = order_config_default();
    assert_before_with(order, &config, a, b);
}

static void fifo_takes_the_first_submitted(void **state)
{
    (void)state;
    struct order_view a = plain_view(), b = plain_view();
    b.submit++;
    assert_before(&order_fifo, a, b);
    a.submit = -1; /* adopted jobs were there before the start */
    b.submit = 0;
    assert_before(&order_fifo, a, b);
}

static void priority_takes_the_highest(void **state)
{
    (void)state;
    static const int32_t priorities[] = {INT32_MAX, 100, 50, 0, -1, INT32_MIN};
    for (size_t i = 1; i < sizeof priorities / sizeof *priorities; i++) {
        struct order_view a = plain_view(), b = plain_view();
        a.priority = priorities[i - 1];
        b.priority = priorities[i];
        assert_before(&order_priority, a, b);
    }
}

static void run_times_are_estimates_else_limits(void **state)
{
    (void)state;
    struct order_view shorter = plain_view(), longer = plain_view(), unknown = plain_view();
    shorter.estimate = 10 * S;
    shorter.limit = 1000 * S; /* counts only without an estimate */
    longer.limit = 11 * S;
    assert_before(&order_sjf, shorter, longer);
    assert_before(&order_sjf, longer, unknown);
    assert_before(&order_ljf, longer, shorter);
    assert_before(&order_ljf, shorter, unknown);
    assert_before(&order_srtf, shorter, longer);
    assert_before(&order_srtf, longer, unknown);
}

static void srtf_counts_what_it_ran_in_whole_seconds(void **state)
{
    (void)state;
    struct order_config config = order_config_default();
    struct order_view a = plain_view(), b = plain_view();
    a.estimate = 100 * S;
    a.ran = 95 * S;
    b.estimate = 10 * S;
    assert_before(&order_srtf, a, b);
    b.estimate = 5 * S + 1; /* the same second */
    assert_int_equal(order_srtf.rank(&a, &config), order_srtf.rank(&b, &config));
    a.ran = 500 * S; /* longer than believed: nearly done */
    assert_int_equal(order_srtf.rank(&a, &config), 0);
    assert_true(order_srtf.moves);
}

static void sizes_are_gpus_asked(void **state)
{
    (void)state;
    struct order_view none = plain_view(), small = plain_view(), large = plain_view();
    none.asks[RESOURCE_GPU] = 0;
    none.asks[RESOURCE_CPU] = 1000000;
    small.asks[RESOURCE_GPU] = 142;
    assert_before(&order_smallest, none, small);
    assert_before(&order_smallest, small, large);
    assert_before(&order_largest, large, small);
    assert_before(&order_largest, small, none);
}

static void the_earliest_deadline_is_first_and_none_is_last(void **state)
{
    (void)state;
    struct order_view a = plain_view(), b = plain_view(), none = plain_view();
    a.deadline = 10 * S; /* already missed */
    b.deadline = 2000 * S;
    assert_before(&order_deadline, a, b);
    assert_before(&order_deadline, b, none);
}

static void nobody_grows_before_everybody_runs(void **state)
{
    (void)state;
    struct order_view below = plain_view(), at = plain_view(), above = plain_view();
    below.fill = FILL_BELOW;
    at.fill = FILL_MINIMUM;
    above.fill = FILL_ABOVE;
    assert_before(&order_elastic, below, at);
    assert_before(&order_elastic, at, above);
}

/* Limits of 3250 and 7200 GPU-seconds make three queues; a limit reached is a queue down. */
static void las_goes_down_the_queues(void **state)
{
    (void)state;
    static const struct {
        int64_t attained_gpu_ns;
        uint64_t queue;
    } cases[] = {{0, 0}, {3250 * S - 1, 0}, {3250 * S, 1}, {7200 * S - 1, 1}, {7200 * S, 2}, {INT64_MAX, 2}};
    struct order_config config = order_config_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct order_view view = plain_view();
        view.attained_gpu_ns = cases[i].attained_gpu_ns;
        assert_int_equal(order_las.rank(&view, &config), cases[i].queue);
    }
}

static void las_promotes_who_waited_long_enough(void **state)
{
    (void)state;
    struct order_config config = order_config_default();
    struct order_view view = plain_view();
    view.attained_gpu_ns = 9000 * S;
    view.ran = 100 * S;
    view.waiting_since = view.now - 250 * S;
    assert_int_equal(order_las.rank(&view, &config), 2); /* never, unless asked for */
    config.las_promote_milli = 2500;
    assert_int_equal(order_las.rank(&view, &config), 0);
    view.waiting_since++;
    assert_int_equal(order_las.rank(&view, &config), 2);
    view.waiting_since = 0;
    view.is_running = true;
    assert_int_equal(order_las.rank(&view, &config), 2);
}

static void fairtree_takes_the_higher_factor(void **state)
{
    (void)state;
    struct order_view a = plain_view(), b = plain_view();
    a.fair_share_ppm = 1000000;
    b.fair_share_ppm = 999999;
    assert_before(&order_fairtree, a, b);
    b.fair_share_ppm = 0;
    assert_before(&order_fairtree, a, b);
    assert_true(order_fairtree.needs_accounts && order_fairtree.moves);
}

static void drf_compares_dominant_shares(void **state)
{
    (void)state;
    struct order_config config = order_config_default();
    struct order_view gpus = plain_view(), cpus = plain_view(), nothing = plain_view();
    gpus.holds[RESOURCE_GPU] = 8000;   /* 10 % */
    cpus.holds[RESOURCE_GPU] = 4000;   /* 5 % */
    cpus.holds[RESOURCE_CPU] = 128000; /* 20 % */
    assert_before(&order_drf, nothing, gpus);
    assert_before(&order_drf, gpus, cpus);
    assert_int_equal(order_drf.rank(&cpus, &config), (UINT64_C(1) << 32) / 5); /* by hand */
    gpus.capacity[RESOURCE_GPU] = 0;                                           /* every node is down */
    assert_before(&order_drf, cpus, gpus);
    gpus.holds[RESOURCE_GPU] = INT64_MAX;
    gpus.capacity[RESOURCE_GPU] = 1;
    assert_int_equal(order_drf.rank(&gpus, &config), UINT64_MAX);
}

static uint64_t points(const struct order_config *config, const struct order_view *view)
{
    return UINT64_MAX - order_multifactor.rank(view, config);
}

static void multifactor_adds_each_term(void **state)
{
    (void)state;
    struct order_config config = order_config_default();
    struct order_view view = plain_view();
    assert_int_equal(points(&config, &view), 1); /* nothing weighs anything: below 1 is 1 */
    config.weight_age = 1000;
    config.age_max = 1800 * S;
    assert_int_equal(points(&config, &view), 500); /* waited 900 s */
    view.ran = 450 * S;
    assert_int_equal(points(&config, &view), 250);
    view.now = 100000 * S;
    assert_int_equal(points(&config, &view), 1000); /* no more than that */
    config.weight_fair_share = 300;
    assert_int_equal(points(&config, &view), 1150); /* half of 300 */
    config.weight_priority = 200;
    assert_int_equal(points(&config, &view), 1250); /* 50 of 100 */
    config.weight_tres[RESOURCE_CPU] = 40;
    assert_int_equal(points(&config, &view), 1254); /* 64 of 640 CPUs */
    view.priority = -1000;
    assert_int_equal(points(&config, &view), 1); /* 1161 - 2000 */
    view.priority = INT32_MAX;
    config.weight_priority = UINT32_MAX;
    assert_true(points(&config, &view) > UINT64_C(92233720300000000)); /* 2^32 * 2^31 / 100 */
}

static void multifactor_favours_a_size(void **state)
{
    (void)state;
    struct order_config config = order_config_default();
    struct order_view view = plain_view();
    config.weight_size = 1000;
    view.member_count = 3;
    assert_int_equal(points(&config, &view), 200); /* (3 of 10 nodes + 8 of 80 GPUs) / 2 */
    config.favors_small = true;
    assert_int_equal(points(&config, &view), 800);
    view.member_count = 1000; /* flat members are more than nodes */
    view.asks[RESOURCE_GPU] = 160000;
    assert_int_equal(points(&config, &view), 1);
}

/* ---- the reader ---- */

struct reading {
    struct order_config config;
    const struct order_policy *chain[3];
    uint32_t count;
};

static struct error read_text(const char *text, struct reading *reading)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    struct json_object object;
    *reading = (struct reading){.config = order_config_default()};
    TRY(json_text_read(&doc, "p.json", text));
    struct json_value root = json_doc_root(doc, &error);
    json_object_open(&object, &root);
    order_chain_read(reading->chain, &reading->count, 3, order_policies, &object);
    order_config_read(&reading->config, &object);
    json_object_close(&object);
    json_doc_free(doc);
    return error;
}

static void every_parameter_is_read(void **state)
{
    (void)state;
    struct reading r;
    struct error error =
        read_text("{'order': ['las', 'priority', 'fifo'], 'order_config': {'period_s': '1m', 'las_limits_gpu_s': [10, "
                  "20, 40], 'las_promote': 2.5, 'weight_age': 1, 'weight_fair_share': 2, 'weight_size': 3, "
                  "'weight_priority': 4, 'weight_tres': {'gpus': 7, "
                  "'memory_gb': 8}, 'age_max_s': 99, 'favors_small': true, 'half_life_s': 0, 'decay': 'slurm', "
                  "'fair_share': 'classic', 'billing': {'gpus': 2, 'cpus': 0.25}}}",
                  &r);
    assert_false(error_is(error));
    assert_int_equal(r.count, 3);
    assert_ptr_equal(r.chain[0], &order_las);
    assert_ptr_equal(r.chain[1], &order_priority);
    assert_ptr_equal(r.chain[2], &order_fifo);
    assert_int_equal(r.config.period, 60 * S);
    assert_int_equal(r.config.las_limit_count, 3);
    assert_int_equal(r.config.las_limit_gpu_ns[2], 40 * S);
    assert_int_equal(r.config.las_promote_milli, 2500);
    assert_int_equal(r.config.weight_age, 1);
    assert_int_equal(r.config.weight_fair_share, 2);
    assert_int_equal(r.config.weight_size, 3);
    assert_int_equal(r.config.weight_priority, 4);
    assert_int_equal(r.config.weight_tres[RESOURCE_GPU], 7);
    assert_int_equal(r.config.weight_tres[RESOURCE_MEMORY], 8);
    assert_int_equal(r.config.age_max, 99 * S);
    assert_true(r.config.favors_small);
    assert_int_equal(r.config.half_life, 0);
    assert_true(r.config.decays_as_slurm);
    assert_int_equal(r.config.fair_share, FAIR_SHARE_CLASSIC);
    assert_int_equal(r.config.billing_milli[RESOURCE_GPU], 2000);
    assert_int_equal(r.config.billing_milli[RESOURCE_CPU], 250);
}

static void what_is_absent_stays(void **state)
{
    (void)state;
    struct reading r;
    struct order_config otherwise = order_config_default();
    assert_false(error_is(read_text("{'order_config': {'weight_age': 1}}", &r)));
    assert_int_equal(r.count, 0);
    assert_int_equal(r.config.weight_age, 1);
    assert_int_equal(r.config.period, otherwise.period);
    assert_int_equal(r.config.las_limit_count, otherwise.las_limit_count);
    assert_memory_equal(r.config.las_limit_gpu_ns, otherwise.las_limit_gpu_ns, sizeof otherwise.las_limit_gpu_ns);
    assert_int_equal(r.config.age_max, otherwise.age_max);
    assert_int_equal(r.config.half_life, otherwise.half_life);
    assert_int_equal(r.config.decays_as_slurm, otherwise.decays_as_slurm);
    assert_int_equal(r.config.fair_share, otherwise.fair_share);
    assert_int_equal(r.config.billing_milli[RESOURCE_GPU], 0);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{'order': []}", "'order' must hold from 1 to 3 names"},
        {"{'order': ['fifo','las','sjf','ljf']}", "'order' must hold from 1 to 3 names"},
        {"{'order': ['fifoo']}", "there is no order 'fifoo'"},
        {"{'order': ['fifo', 'fifo']}", "order 'fifo' is named twice"},
        {"{'order_config': {'period_s': 0}}", "'period_s' must be at least a second"},
        {"{'order_config': {'age_max_s': 0.5}}", "'age_max_s' must be at least a second"},
        {"{'order_config': {'half_life_s': 0.5}}", "'half_life_s' must be 0"},
        {"{'order_config': {'las_limits_gpu_s': []}}", "from 1 to 8 limits"},
        {"{'order_config': {'las_limits_gpu_s': [5, 5]}}", "each limit must be larger"},
        {"{'order_config': {'las_limits_gpu_s': [0]}}", "must be an integer from 1"},
        {"{'order_config': {'weight_age': -1}}", "must be an integer from 0"},
        {"{'order_config': {'decay': 'fast'}}", "'decay' must be one of"},
        {"{'order_config': {'weight_agee': 1}}", "weight_agee"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r;
        struct error error = read_text(cases[i].text, &r);
        assert_true(error_is(error));
        if (strstr(error_message(&error), cases[i].message) == NULL)
            fail_msg("%s: '%s' does not say '%s'", cases[i].text, error_message(&error), cases[i].message);
        error_release(&error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_takes_the_first_submitted),
        cmocka_unit_test(priority_takes_the_highest),
        cmocka_unit_test(run_times_are_estimates_else_limits),
        cmocka_unit_test(srtf_counts_what_it_ran_in_whole_seconds),
        cmocka_unit_test(sizes_are_gpus_asked),
        cmocka_unit_test(the_earliest_deadline_is_first_and_none_is_last),
        cmocka_unit_test(nobody_grows_before_everybody_runs),
        cmocka_unit_test(las_goes_down_the_queues),
        cmocka_unit_test(las_promotes_who_waited_long_enough),
        cmocka_unit_test(fairtree_takes_the_higher_factor),
        cmocka_unit_test(drf_compares_dominant_shares),
        cmocka_unit_test(multifactor_adds_each_term),
        cmocka_unit_test(multifactor_favours_a_size),
        cmocka_unit_test(every_parameter_is_read),
        cmocka_unit_test(what_is_absent_stays),
        cmocka_unit_test(bad_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
