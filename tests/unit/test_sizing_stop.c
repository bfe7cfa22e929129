/* A plan that is stopped: what was done until then is its answer so far, wherever the stop comes. */
#include <math.h>

#include "tests/support/test.h"

#include "studies/sizing/sizing_show.h"

static const char scenario[] =
    "{\"cluster\": {\"name\": \"c\", \"pools\": [{\"name\": \"p\", \"nodes\": 4, \"gpus_per_node\": 1, \"gpu_model\": "
    "\"generic\"}]},"
    "\"workload\": {\"load_gpus\": 1, \"synth\": {\"duration\": \"6h\", \"load_whole_gpu\": 1.2, \"classes\": "
    "[{\"name\": \"a\", \"class\": \"training\", \"share\": 1, \"sizes\": [{\"weight\": 1, \"gpus\": 1, \"nodes\": "
    "1}], "
    "\"arrivals\": {\"process\": \"poisson\"}, \"run_time\": {\"distribution\": \"exponential\", \"mean\": 60}}]}},"
    "\"policy\": {\"preset\": \"fifo\"}, \"world\": {\"end\": \"6h\"}}";

static volatile sig_atomic_t stop;
static size_t stop_after; /* runs that end before the stop comes */

static void stop_then(void *self, size_t cases, size_t runs)
{
    (void)self;
    (void)cases;
    if (runs >= stop_after)
        stop = 1;
}

static void run_until_stop(struct sizing *sizing, size_t runs)
{
    static const struct sizing_case as_it_is = {.name = "as it is"};
    static const struct service_level level = {
        .of = {.metric = "queue_time_mean_s"}, .unit = "s", .max = 20, .min = -INFINITY};
    static struct sizing_options options = {
        .version = "test",
        .scenario = {.text = scenario},
        .question = {.path = "cluster.pools.p.nodes", .low = 1, .high = 20, .step = 1, .start = 4},
        .levels = {&level, 1},
        .cases = &as_it_is,
        .case_count = 1,
        .trials_max = 60,
        .seeds_max = 40,
        .alpha = 0.05,
        .worker_count = 1,
        .stop = &stop,
        .on_progress = stop_then};
    stop = 0;
    stop_after = runs;
    struct error error = sizing_run(sizing, &options);
    assert_false(error_is(error));
}

/* The runs of the points, which the words and the judgements are of. */
static size_t runs_shown(const struct sizing *sizing)
{
    size_t count = 0;
    for (size_t p = 0; p < sizing->answers[0].point_count; p++)
        count += sizing->answers[0].points[p].run_count;
    return count;
}

/* A run that ended is shown, unless its number was judged by fewer runs before. */
TEST(test_a_stopped_plan_shows_the_runs_that_ended)
{
    for (size_t runs = 1; runs <= 12; runs++) {
        struct sizing sizing;
        run_until_stop(&sizing, runs);
        assert_true(sizing.is_partial);
        assert_int_equal(sizing.answers[0].run_count, runs);
        const size_t shown = runs_shown(&sizing);
        assert_true(shown >= 1 && shown <= runs);
        if (runs <= 4) /* two numbers, two runs each */
            assert_int_equal(shown, runs);
        assert_false(sizing.answers[0].is_sure);
        for (size_t p = 0; p < sizing.answers[0].point_count; p++) {
            const struct sizing_point *point = &sizing.answers[0].points[p];
            assert_true(point->run_count == 0 || point->judgements[0].gate != NULL);
            for (size_t r = 0; r < point->run_count; r++)
                assert_true(point->runs[r].is_done);
        }
        struct buffer text = {0};
        struct show *show = sizing_show_new(&sizing, "A plan", "windtunnel run");
        show_text(show, &text);
        show_free(show);
        assert_non_null(strstr(buffer_c_string(&text), "Partial"));
        assert_non_null(strstr(buffer_c_string(&text), "not sure"));
        buffer_release(&text);
        sizing_release(&sizing);
    }
}
