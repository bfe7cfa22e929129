/* `windtunnel plan` on M/M/c: the least number of servers, and the largest load, at which the mean wait is within a
 * bound, against Erlang's formulas (tests/analytic/test_mmc.c names them).
 *
 * The bound lies halfway (by ratio) between the mean waits of c and of c - 1 servers, so that c is the answer.  That
 * the plan finds it, and is sure, does not depend on luck: over up to 40 runs the interval of the mean is far narrower
 * than the gap.
 */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/worker_pool.h"
#include "studies/sizing/sizing_show.h"

#ifdef WINDTUNNEL_DEBUG
enum { CASES = 1 }; /* ten times slower, and not what such a build is for */
#else
enum { CASES = 3 };
#endif

#define SERVICE_S 600.0

static const struct {
    double offered; /* mean number of servers in use */
    int servers, start, days;
} cases[] = {{4, 6, 10, 30}, {15, 19, 12, 15}, {60, 66, 80, 8}};

/* Mean wait of M/M/c. */
static double mean_wait_s(int servers, double offered)
{
    double b = 1;
    for (int n = 1; n <= servers; n++)
        b = offered * b / (n + offered * b);
    const double c = b / (1 - offered / servers * (1 - b));
    return c * SERVICE_S / (servers - offered);
}

static double bound_s(size_t c)
{
    const double offered = cases[c].offered;
    return sqrt(mean_wait_s(cases[c].servers, offered) * mean_wait_s(cases[c].servers - 1, offered));
}

/* load_whole_gpu is the offered number of servers. */
static void write_scenario(double offered, int nodes, int days, struct buffer *out)
{
    buffer_format(
        out,
        "{\"cluster\": {\"name\": \"mmc\", \"pools\": [{\"name\": \"p\", \"nodes\": %d, \"gpus_per_node\": 1, "
        "\"gpu_model\": \"generic\"}]},"
        "\"workload\": {\"load_gpus\": 1, \"synth\": {\"duration\": \"%dd\", \"load_whole_gpu\": %.17g, "
        "\"classes\": [{\"name\": \"a\", \"class\": \"training\", \"share\": 1, \"sizes\": [{\"weight\": 1, "
        "\"gpus\": 1, \"nodes\": 1}], \"arrivals\": {\"process\": \"poisson\"}, \"run_time\": "
        "{\"distribution\": \"exponential\", \"mean\": %g}}]}},"
        "\"policy\": {\"preset\": \"fifo\"}, \"world\": {\"end\": \"%dd\", \"warmup\": \"1d\"}}",
        nodes, days, offered, SERVICE_S, days);
}

static double find(size_t c, const struct sizing_question *question, struct buffer *scenario, bool *is_sure)
{
    static const struct sizing_case as_it_is = {.name = "as it is"};
    const struct service_level level = {
        .of = {.metric = "queue_time_mean_s"}, .unit = "s", .max = bound_s(c), .min = -INFINITY};
    const struct sizing_options options = {.version = "test",
                                           .scenario = {.text = buffer_c_string(scenario)},
                                           .question = *question,
                                           .levels = {&level, 1},
                                           .cases = &as_it_is,
                                           .case_count = 1,
                                           .trials_max = 160,
                                           .seeds_max = 40,
                                           .alpha = 0.05,
                                           .worker_count = worker_core_count()};
    struct sizing sizing;
    struct buffer text = {0};
    struct error error = sizing_run(&sizing, &options);
    assert_false(error_is(error));
    const struct sizing_answer *answer = &sizing.answers[0];
    assert_true(answer->is_found);
    assert_true(answer->reversal_count == 0 && !answer->is_gapped); /* the wait falls with each server */
    const double number = answer->number;
    *is_sure = answer->is_sure;
    struct show *show = sizing_show_new(&sizing, NULL, "windtunnel run");
    show_text(show, &text);
    show_free(show);
    print_message("%s", buffer_c_string(&text));
    buffer_release(&text);
    sizing_release(&sizing);
    return number;
}

TEST(test_least_servers)
{
    for (size_t c = 0; c < CASES; c++) {
        struct buffer scenario = {0};
        bool is_sure;
        write_scenario(cases[c].offered, cases[c].start, cases[c].days, &scenario);
        const struct sizing_question question = {.path = "cluster.pools.p.nodes",
                                                 .aim = SIZING_SMALLEST,
                                                 .low = 1,
                                                 .high = 400,
                                                 .step = 1,
                                                 .start = cases[c].start};
        assert_int_equal((int)find(c, &question, &scenario, &is_sure), cases[c].servers);
        assert_true(is_sure);
        buffer_release(&scenario);
    }
}

/* The load at which the mean wait is the bound, by bisection of the closed form. */
static double exact_load(size_t c)
{
    double low = 0, high = cases[c].servers * 0.999999;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(mean_wait_s(cases[c].servers, middle) <= bound_s(c) ? &low : &high) = middle;
    }
    return low;
}

TEST(test_largest_load)
{
    for (size_t c = 0; c < CASES; c++) {
        struct buffer scenario = {0};
        bool is_sure;
        write_scenario(cases[c].offered, cases[c].servers, cases[c].days, &scenario);
        const struct sizing_question question = {.path = "workload.synth.load_whole_gpu",
                                                 .aim = SIZING_LARGEST,
                                                 .low = cases[c].offered / 100,
                                                 .high = cases[c].offered * 4,
                                                 .step = cases[c].offered / 200,
                                                 .start = cases[c].offered / 2};
        const double found = find(c, &question, &scenario, &is_sure);
        print_message("closed form: %g\n", exact_load(c));
        assert_true(fabs(found / exact_load(c) - 1) <= 0.02);
        buffer_release(&scenario);
    }
}
