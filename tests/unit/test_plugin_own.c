/* policies/own.h: parameters and states of plug-ins, and the hooks of preemption and backfill; the plug-in is the
 * worked example, compiled in. */
#include "tests/support/test.h"

#include "policies/config/registry.h"
#include "policies/policy_config.h"
#include "tests/support/json_text.h"
#include "tests/support/sched_case.h"

#define EXAMPLE "docs/examples/plugin/turns.c"
#include EXAMPLE

static const struct plugin_set example = {.plugins = {&windtunnel_plugin}, .count = 1};

static struct error read_with(struct policy_config *config, const char *text, const struct plugin_set *plugins)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "p.json", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read_with(config, &root, plugins);
    json_doc_free(doc);
    return error;
}

static struct policy_config policy_with(const char *text, const struct plugin_set *plugins)
{
    struct policy_config config;
    struct error error = read_with(&config, text, plugins);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return config;
}

/* ---- Parameters ---- */

TEST(parameters_have_defaults_and_are_read)
{
    struct policy_config config = policy_with("{'order': ['turns']}", &example);
    assert_int_equal(config.plugin_count, 1);
    assert_int_equal(config.plugins[0].params[COUNTS], COUNTS_GPUS);
    assert_int_equal(config.plugins[0].params[FORGET_AFTER], 1000);
    config = policy_with("{'order': ['turns'], 'params': {'turns': {'counts': 'jobs', 'forget_after': 7}}}", &example);
    assert_int_equal(config.plugins[0].params[COUNTS], COUNTS_JOBS);
    assert_int_equal(config.plugins[0].params[FORGET_AFTER], 7);
    config = policy_with("{'order': ['fifo']}", &example);
    assert_int_equal(config.plugin_count, 0);
}

static void refused_at(const char *marked, const char *words)
{
    const char *mark = strchr(marked, '@');
    struct policy_config config;
    char text[512], place[32];
    assert_non_null(mark);
    snprintf(text, sizeof text, "%.*s%s", (int)(mark - marked), marked, mark + 1);
    snprintf(place, sizeof place, "p.json:1:%d: ", (int)(mark - marked) + 1);
    struct error error = read_with(&config, text, &example);
    assert_true(error_is(error));
    char *said = error_text_new(&error);
    if (strstr(said, place) == NULL || strstr(said, words) == NULL)
        fail_msg("expected %s ... %s, got %s", place, words, said);
    free(said);
    error_release(&error);
}

TEST(bad_parameters_are_refused_at_their_place)
{
    refused_at("{'order': ['turns'], 'params': {'turns': {'forget_after': @0}}}",
               "'forget_after' must be an integer from 1 to 1000000, got 0");
    refused_at("{'order': ['turns'], 'params': {'turns': {'counts': @'gpu'}}}", "did you mean 'gpus'?");
    refused_at("{'order': ['turns'], 'params': {'turns': {@'forget': 1}}}", "unknown key 'forget'");
    refused_at("{'order': ['turns'], 'params': {'turnz': @{}}}", "did you mean 'turns'?");
    refused_at("{'order': ['fifo'], 'params': {'turns': @{}}}", "this policy uses no policy 'turns' of a plug-in");
    refused_at("{'order': ['turns'], 'params': {'turns': @3}}", "must be an object");
}

TEST(every_kind_is_read_and_told)
{
    static const char *const choices[] = {"a", "b", NULL};
    static const struct plugin_param all[] = {
        {"i", PARAM_INT, -5, 5, 1, NULL, "h"},
        {"m", PARAM_MILLI, 0, 2000, 500, NULL, "h"},
        {"b", PARAM_BOOL, 0, 0, 1, NULL, "h"},
        {"d", PARAM_DURATION, TIME_NS_PER_S, 3600 * TIME_NS_PER_S, 60 * TIME_NS_PER_S, NULL, "h"},
        {"c", PARAM_CHOICE, 0, 0, 1, choices, "h"}};
    static const char *const told[] = {"an integer from -5 to 5", "a number from 0 to 2", "true or false",
                                       "a duration from 1 to 3600 s", "one of \"a\", \"b\""};
    static const char *const written[] = {"1", "0.5", "true", "60", "\"b\""};
    struct windtunnel_plugin plugin = windtunnel_plugin;
    struct plugin_set set = {.plugins = {&plugin}, .count = 1};
    struct policy_config config;
    plugin.params = all;
    plugin.param_count = 5;
    assert_false(error_is(plugin_check(&plugin, "x.so", &(struct plugin_set){.count = 0})));
    config = policy_with("{'order': ['turns'], 'params': {'turns': {'i': -5, 'm': 1.25, 'b': false, 'd': '2m', "
                         "'c': 'a'}}}",
                         &set);
    const int64_t expected[] = {-5, 1250, 0, 120 * TIME_NS_PER_S, 0};
    for (int i = 0; i < 5; i++) {
        struct buffer out = {0};
        assert_int_equal(config.plugins[0].params[i], expected[i]);
        plugin_param_describe(&all[i], &out);
        assert_string_equal(buffer_c_string(&out), told[i]);
        out.length = 0;
        plugin_param_write(&all[i], all[i].otherwise, &out);
        assert_string_equal(buffer_c_string(&out), written[i]);
        buffer_release(&out);
    }
    struct error error = read_with(&config, "{'order': ['turns'], 'params': {'turns': {'d': 0.5}}}", &set);
    assert_string_equal(error_message(&error), "'d' must be a duration from 1 to 3600 s");
    error_release(&error);
}

static void expect_refused(const struct windtunnel_plugin *plugin, const char *words)
{
    const struct plugin_set none = {.count = 0};
    struct error error = plugin_check(plugin, "x.so", &none);
    assert_int_equal(error.kind, ERROR_CONFIG);
    if (strstr(error_message(&error), words) == NULL)
        fail_msg("'%s' does not hold '%s'", error_message(&error), words);
    error_release(&error);
}

TEST(bad_declarations_are_refused)
{
    struct windtunnel_plugin bad;
    struct plugin_param param;
    struct order_policy policy;
#define REFUSED(assignment, said)                                                                                      \
    bad = windtunnel_plugin;                                                                                           \
    policy = *(const struct order_policy *)bad.policy;                                                                 \
    param = params[FORGET_AFTER];                                                                                      \
    bad.params = &param;                                                                                               \
    bad.param_count = 1;                                                                                               \
    bad.policy = &policy;                                                                                              \
    assignment;                                                                                                        \
    expect_refused(&bad, said)
    REFUSED(param.name = "A", "the name of parameter 0");
    REFUSED(param.help = NULL, "'forget_after' of 'turns' has no help");
    REFUSED(param.kind = PARAM_KIND_COUNT, "is of an unknown kind");
    REFUSED(param.otherwise = 0, "has a default out of its bounds");
    REFUSED(param.kind = PARAM_CHOICE, "fewer than 2");
    REFUSED(param.kind = PARAM_BOOL, "has a default other than 0 and 1");
    REFUSED(bad.param_count = OWN_PARAMS_MAX + 1, "bad 'param_count'");
    REFUSED(bad.params = NULL, "bad 'param_count'");
    REFUSED(bad.state_size = 0, "an 'on_job' and no 'state_size'");
    REFUSED(bad.on_job = NULL, "a state and no 'on_job'");
    REFUSED(bad.state_size = PLUGIN_STATE_BYTES_MAX + 1, "more than 65536 bytes");
    REFUSED(policy.is_constant = true, "has a bad 'is_constant'");
#undef REFUSED
}

/* ---- State ---- */

enum { JOBS = 60, GPUS = 4 };

static struct job job_of(job_id id)
{
    struct job job = sched_case_job(id, 1, (uint16_t)(1 + id % 2), 50);
    job.user = id * 7 % 5;
    job.submit = (time_ns)id * TIME_NS_PER_S / 2;
    return job;
}

/* Jobs come two a second and run for 5 s; which start when, as text. */
static void play(const struct policy_config *policy, struct buffer *told)
{
    struct cluster *cluster = cluster_uniform_new(1, GPUS);
    struct queue_table *queues = queue_table_new();
    struct error error = ERROR_OK;
    struct sched *sched = sched_new(cluster, queues, policy, &error);
    int ends[JOBS] = {0};
    job_id next = 0;
    for (int second = 0; second < 4 * JOBS; second++) {
        const time_ns now = (time_ns)second * TIME_NS_PER_S;
        const struct decision *decisions;
        time_ns ignored;
        for (job_id j = 0; j < next; j++)
            if (ends[j] == second && second > 0)
                sched_job_ended(sched, j, JOB_END_COMPLETED, false, now);
        for (; next < JOBS && job_of(next).submit <= now; next++) {
            struct job job = job_of(next);
            sched_job_submitted(sched, &job, now);
        }
        const size_t count = sched_cycle(sched, now, &decisions, &ignored);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(decisions[i].kind, DECISION_START);
            buffer_format(told, "%d:%u ", second, decisions[i].job);
            ends[decisions[i].job] = second + 5;
            sched_job_started(sched, decisions[i].job, decisions[i].id, now);
        }
    }
    sched_free(sched);
    cluster_free(cluster);
    queue_table_free(queues);
}

#define TURNS                                                                                                          \
    "{'order': ['turns', 'fifo'], 'order_config': {'period_s': 1}, 'blocking': "                                       \
    "'skip', 'params': {'turns': {'forget_after': 20}}}"

TEST(a_state_changes_the_order)
{
    struct buffer by_turns = {0}, fifo = {0};
    const struct policy_config turns_policy = policy_with(TURNS, &example);
    const struct policy_config fifo_policy = sched_case_policy("{'blocking': 'skip'}");
    play(&turns_policy, &by_turns);
    play(&fifo_policy, &fifo);
    assert_string_not_equal(buffer_c_string(&by_turns), buffer_c_string(&fifo));
    buffer_release(&by_turns);
    buffer_release(&fifo);
}

/* By hand: user 0 has started 2 GPUs, user 1 nothing: user 1 goes first, though it came later. */
TEST(a_state_is_told_of_starts)
{
    struct policy_config policy = policy_with(TURNS, &example);
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct queue_table *queues = queue_table_new();
    struct error error = ERROR_OK;
    struct sched *sched = sched_new(cluster, queues, &policy, &error);
    const struct decision *decisions;
    time_ns ignored;
    for (job_id id = 0; id < 3; id++) {
        struct job job = sched_case_job(id, 1, 2, 50);
        job.user = id == 2;
        sched_job_submitted(sched, &job, 0);
    }
    assert_int_equal(sched_cycle(sched, 0, &decisions, &ignored), 1);
    assert_int_equal(decisions[0].job, 0);
    sched_job_started(sched, 0, decisions[0].id, 0);
    sched_job_ended(sched, 0, JOB_END_COMPLETED, false, SECONDS(5));
    assert_int_equal(sched_cycle(sched, SECONDS(5), &decisions, &ignored), 1);
    assert_int_equal(decisions[0].job, 2);
    sched_free(sched);
    cluster_free(cluster);
    queue_table_free(queues);
}

/* ---- Preemption and backfill ---- */

static const struct plugin_param floor_params[] = {
    {.name = "floor", .kind = PARAM_INT, .low = 0, .high = 100, .otherwise = 20, .help = "h"}};

/* Those of a priority from the floor on are spared. */
static bool spares(const struct victim_view *view)
{
    return view->priority >= view->own->params[0];
}

static const struct preemption_policy gentle = {
    .name = "gentle", .version = 1, .summary = "s", .evicts = true, .is_kill = true, .spares = spares};
static const struct windtunnel_plugin gentle_plugin = {PLUGIN_FOR(PREEMPTION), .name = "gentle",
                                                       .version = "1",         .policy = &gentle,
                                                       .params = floor_params, .param_count = 1};

/* Those of a priority from the floor on are given planned starts. */
static bool reserves(const struct order_view *view)
{
    return view->priority >= view->own->params[0];
}

static const struct backfill_policy choosy = {
    .name = "choosy",
    .version = 1,
    .summary = "s",
    .defaults = {.overtakes = true, .reservations = 1, .depth = BACKFILL_ALL, .window = TIME_NEVER},
    .reserves = reserves};
static const struct windtunnel_plugin choosy_plugin = {PLUGIN_FOR(BACKFILL), .name = "choosy",       .version = "1",
                                                       .policy = &choosy,    .params = floor_params, .param_count = 1};
static const struct plugin_set both = {.plugins = {&gentle_plugin, &choosy_plugin}, .count = 2};

/* Of priority 10 one runs and one of 30: a job of 90 takes the lower; with a floor of 5 neither. */
static size_t evictions_with(const char *search, int priority_floor)
{
    char text[256];
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct queue_table *queues = queue_table_new();
    struct error error = ERROR_OK;
    snprintf(text, sizeof text,
             "{'order': ['priority'], 'blocking': 'skip', 'preemption': {'policy': 'gentle', 'min_runtime_s': 0, "
             "'search': '%s'}, 'params': {'gentle': {'floor': %d}}}",
             search, priority_floor);
    const struct policy_config policy = policy_with(text, &both);
    struct sched *sched = sched_new(cluster, queues, &policy, &error);
    const struct decision *decisions;
    size_t evicted = 0;
    time_ns ignored;
    for (job_id id = 0; id < 2; id++) {
        struct job job = sched_case_job(id, 1, 1, id == 0 ? 10 : 30);
        struct piece piece = {.gpu_mask = (uint16_t)(1u << id), .gpu_milli = GPU_MILLI, .member_count = 1};
        sched_job_adopted(sched, &job, &piece, 1, 0, SECONDS(10));
    }
    struct job wide = sched_case_job(2, 1, 2, 90);
    sched_job_submitted(sched, &wide, SECONDS(20));
    const size_t count = sched_cycle(sched, SECONDS(21), &decisions, &ignored);
    for (size_t i = 0; i < count; i++)
        evicted += decisions[i].kind == DECISION_EVICT;
    sched_free(sched);
    cluster_free(cluster);
    queue_table_free(queues);
    return evicted;
}

TEST(a_preemption_policy_spares)
{
    static const char *const searches[] = {"ordered", "node"};
    for (int s = 0; s < 2; s++) {
        assert_int_equal(evictions_with(searches[s], 100), 2);
        assert_int_equal(evictions_with(searches[s], 20), 0); /* one alone does not make room */
        assert_int_equal(evictions_with(searches[s], 5), 0);
    }
}

/* 1 of 2 GPUs is taken for 100 s; the head asks 2 and has a priority of 50; a job of 1 for 1000 s would delay it. */
static bool overtakes_with(int priority_floor)
{
    char text[256];
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct queue_table *queues = queue_table_new();
    struct error error = ERROR_OK;
    snprintf(text, sizeof text, "{'backfill': {'policy': 'choosy'}, 'params': {'choosy': {'floor': %d}}}",
             priority_floor);
    const struct policy_config policy = policy_with(text, &both);
    struct sched *sched = sched_new(cluster, queues, &policy, &error);
    const struct decision *decisions;
    time_ns ignored;
    static const time_ns limits_s[] = {100, 100, 1000};
    static const uint16_t gpus[] = {1, 2, 1};
    bool has_overtaken = false;
    for (job_id id = 0; id < 3; id++) {
        struct job job = sched_case_job(id, 1, gpus[id], 50);
        job.limit = SECONDS(limits_s[id]);
        sched_job_submitted(sched, &job, 0);
    }
    const size_t count = sched_cycle(sched, 0, &decisions, &ignored);
    for (size_t i = 0; i < count; i++)
        has_overtaken |= decisions[i].kind == DECISION_START && decisions[i].job == 2;
    sched_free(sched);
    cluster_free(cluster);
    queue_table_free(queues);
    return has_overtaken;
}

TEST(a_backfill_policy_chooses_who_is_promised)
{
    assert_false(overtakes_with(50)); /* the head has a planned start */
    assert_true(overtakes_with(51));  /* it has none */
}
