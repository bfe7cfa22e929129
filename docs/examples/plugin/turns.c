/* turns.  Users take turns: the one for whom the least was started so far goes first.
 *
 * Idea: the user who started the least goes first.  It needs neither quotas nor run times.
 * Parameters: `counts`: a started job counts as one, or as its GPUs.  `forget_after`: after this number of starts all
 * counts are halved, so that old starts count little.
 * State: what was started, by user; users that share a counter (256 of them) take turns together.
 * Cost: O(1), but O(256) once in `forget_after` starts.  The rank moves as jobs start: it is computed anew every
 * order_config.period_s.
 * Known failure: a user with one long job waits as often as one with many short ones. */
#include <policies/plugin.h>

enum { COUNTERS = 256 };
enum { COUNTS, FORGET_AFTER }; /* the parameters, in the order of their declaration */
enum { COUNTS_JOBS, COUNTS_GPUS };

struct turns {
    int64_t started[COUNTERS];
    int64_t starts;
};

static void on_job(void *state, const int64_t *params, enum plugin_event event, const struct order_view *view)
{
    struct turns *turns = state;
    if (event != PLUGIN_JOB_STARTED)
        return;
    turns->started[view->user % COUNTERS] += params[COUNTS] == COUNTS_GPUS ? view->asks[RESOURCE_GPU] : GPU_MILLI;
    if (++turns->starts % params[FORGET_AFTER] == 0)
        for (int i = 0; i < COUNTERS; i++)
            turns->started[i] /= 2;
}

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    const struct turns *turns = view->own->state;
    (void)config; /* the parameters of the built-in orders */
    return rank_of_int(turns->started[view->user % COUNTERS]);
}

static const struct order_policy turns = {
    .name = "turns",
    .version = 1,
    .summary = "the user for whom the least was started goes first; fair over starts, blind to how "
               "long jobs run",
    .moves = true,
    .rank = rank,
};

static const char *const counts[] = {"jobs", "gpus", NULL};

static const struct plugin_param params[] = {
    [COUNTS] = {.name = "counts",
                .kind = PARAM_CHOICE,
                .choices = counts,
                .otherwise = COUNTS_GPUS,
                .help = "what a started job counts as"},
    [FORGET_AFTER] = {.name = "forget_after",
                      .kind = PARAM_INT,
                      .low = 1,
                      .high = 1000000,
                      .otherwise = 1000,
                      .help = "starts after which all counts are halved"},
};

const struct windtunnel_plugin windtunnel_plugin = {
    PLUGIN_FOR(ORDER),
    .name = "turns",
    .version = "1.0",
    .policy = &turns,
    .params = params,
    .param_count = 2,
    .state_size = sizeof(struct turns),
    .on_job = on_job,
};
