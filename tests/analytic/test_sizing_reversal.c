/* A cluster where more nodes do harm: under `fifo` a gang of ten nodes is refused by nine, and holds up all jobs behind
 * it on ten.  The plan says so, and where. */
#include <math.h>

#include "tests/support/test.h"

#include "base/worker_pool.h"
#include "studies/sizing/sizing_show.h"

enum { GANG_NODES = 10 };

static const char scenario[] =
    "{\"cluster\": {\"name\": \"c\", \"pools\": [{\"name\": \"p\", \"nodes\": 12, \"gpus_per_node\": 8, "
    "\"gpu_model\": \"generic\"}]},"
    "\"workload\": {\"load_gpus\": 96, \"synth\": {\"duration\": \"3d\", \"load_whole_gpu\": 0.5, \"classes\": ["
    "{\"name\": \"small\", \"class\": \"training\", \"share\": 0.6, \"arrivals\": {\"process\": \"poisson\"}, "
    "\"sizes\": [{\"weight\": 1, \"gpus\": 8, \"nodes\": 1}], "
    "\"run_time\": {\"distribution\": \"exponential\", \"mean\": \"20m\"}},"
    "{\"name\": \"gang\", \"class\": \"inference\", \"share\": 0.4, \"arrivals\": {\"process\": \"poisson\"}, "
    "\"sizes\": [{\"weight\": 1, \"gpus\": 80, \"nodes\": 10}], "
    "\"run_time\": {\"distribution\": \"exponential\", \"mean\": \"20m\"}}]}},"
    "\"policy\": {\"preset\": \"fifo\"}, \"world\": {\"end\": \"3d\", \"warmup\": \"2h\"}}";

static const struct sizing_case as_it_is = {.name = "as it is"};
static const struct service_level level = {.of = {.metric = "queue_time_mean_s", .cut = "class", .key = "training"},
                                           .unit = "s",
                                           .max = 300,
                                           .min = -INFINITY};

static const struct sizing_point *point_at(const struct sizing_answer *answer, double number)
{
    for (size_t p = 0; p < answer->point_count; p++)
        if (answer->points[p].number == number)
            return &answer->points[p];
    return NULL;
}

static void check_words(const struct sizing *sizing)
{
    struct buffer text = {0};
    struct show *show = sizing_show_new(sizing, NULL, "windtunnel run");
    show_text(show, &text);
    show_free(show);
    print_message("%s", buffer_c_string(&text));
    assert_non_null(strstr(buffer_c_string(&text), "More is not always better here: queue_time_mean_s of training is "
                                                   "worse with 10 than with 9, by "));
    assert_non_null(strstr(buffer_c_string(&text), "The levels are met with 9 too, but not with some between"));
    buffer_release(&text);
}

TEST(test_a_node_that_does_harm_is_seen)
{
    const struct sizing_options options = {
        .version = "test",
        .scenario = {.text = scenario},
        .question = {.path = "cluster.pools.p.nodes", .low = 1, .high = 60, .step = 1, .start = 12},
        .levels = {&level, 1},
        .cases = &as_it_is,
        .case_count = 1,
        .trials_max = 80,
        .seeds_max = 40,
        .alpha = 0.05,
        .worker_count = worker_core_count()};
    struct sizing sizing;
    struct error error = sizing_run(&sizing, &options);
    assert_false(error_is(error));
    const struct sizing_answer *answer = &sizing.answers[0];
    check_words(&sizing);
    assert_true(answer->is_found && answer->number > GANG_NODES);
    assert_true(answer->is_gapped);
    assert_true(answer->beyond == GANG_NODES - 1);
    assert_int_equal(answer->reversal_count, 1);
    assert_true(answer->reversals[0].from == GANG_NODES - 1 && answer->reversals[0].to == GANG_NODES);
    assert_true(answer->reversals[0].low > 0);
    /* No curve that never gets worse leads over the step, and one leads on from there. */
    assert_true(isnan(point_at(answer, GANG_NODES - 1)->judgements[0].fit));
    assert_true(isnan(point_at(answer, GANG_NODES)->judgements[0].fit));
    for (size_t p = 0; p < answer->point_count; p++) {
        const struct sizing_judgement *at = &answer->points[p].judgements[0];
        if (answer->points[p].number > GANG_NODES)
            assert_true(at->fit_low <= at->fit && at->fit <= at->fit_high);
    }
    sizing_release(&sizing);
}
