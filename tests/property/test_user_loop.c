/* The closed loop of users: which job follows which, against a search of all pairs; and each submission of runs,
 * against the rule of workloads/readers/user_loop.h applied to the ends of the run's own rows.  A run whose record is
 * replayed on the same cluster is itself. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

enum { JOBS = 400, USERS = 7, NUMBERS_MAX = 60, SEEDS = 30, PRECEDING_PART = 3 };
#define S         TIME_NS_PER_S
#define THINK_MAX (300 * S)

/* ---- Which job follows which ---- */

static time_ns end_of(const struct held_job *job, double scale)
{
    const time_ns wait = job->truth.recorded_wait == TIME_NEVER ? 0 : job->truth.recorded_wait;
    return job->job.submit + wait + (time_ns)((double)job_truth_work(&job->truth) / scale);
}

/* Does the place a stand before b in the order of submission? */
static bool is_earlier(const struct held *held, size_t a, size_t b)
{
    const time_ns at = held->jobs[a].job.submit, to = held->jobs[b].job.submit;
    return at != to ? at < to : a < b;
}

/* By the words of the header, over all pairs. */
static struct loop_link naive_link(const struct held *held, size_t place, double scale)
{
    const struct held_job *own = &held->jobs[place];
    job_id follows = JOB_NONE;
    for (size_t i = 0; i < held->count; i++) {
        const struct held_job *other = &held->jobs[i];
        if (!is_earlier(held, i, place))
            continue;
        if (own->truth.preceding != 0) {
            if (other->job.trace_id + 1 == own->truth.preceding &&
                (follows == JOB_NONE || is_earlier(held, follows, i)))
                follows = (job_id)i;
            continue;
        }
        if (own->job.user == NAMES_NONE || other->job.user != own->job.user || end_of(other, scale) > own->job.submit)
            continue;
        if (follows == JOB_NONE || end_of(other, scale) > end_of(&held->jobs[follows], scale) ||
            (end_of(other, scale) == end_of(&held->jobs[follows], scale) && is_earlier(held, follows, i)))
            follows = (job_id)i;
    }
    if (follows == JOB_NONE)
        return (struct loop_link){JOB_NONE, 0};
    const time_ns gap = own->job.submit - end_of(&held->jobs[follows], scale), think = gap > 0 ? gap : 0;
    if (own->truth.preceding != 0 && own->truth.think >= 0)
        return (struct loop_link){follows, own->truth.think};
    return (struct loop_link){follows, think <= THINK_MAX ? think : LOOP_SESSION};
}

/* Times are coarse, so that many are equal. */
static void make_held(struct held *held, struct random_stream *stream, bool has_preceding)
{
    *held = (struct held){0};
    for (int i = 0; i < JOBS; i++) {
        struct job job = {.submit = (time_ns)random_below(stream, 2000) * 10 * S,
                          .trace_id = random_below(stream, NUMBERS_MAX),
                          .user = random_below(stream, USERS + 1)};
        if (job.user == USERS)
            job.user = NAMES_NONE;
        struct job_truth truth = {
            .duration = (time_ns)random_below(stream, 20) * 10 * S,
            .recorded_wait = random_below(stream, 3) == 0 ? TIME_NEVER : (time_ns)random_below(stream, 10) * 10 * S};
        if (has_preceding && random_below(stream, PRECEDING_PART) == 0) {
            truth.preceding = 1 + random_below(stream, NUMBERS_MAX);
            truth.think = (time_ns)random_below(stream, 600) * S - S;
            if (truth.think < 0)
                truth.think = -S;
        }
        held_add(held, &job, &truth);
    }
}

TEST(links_are_those_of_a_search_of_all_pairs)
{
    const struct loop_plan plan = {.is_closed = true, .think_max = THINK_MAX};
    size_t sessions = 0, within = 0, none = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const double scale = seed % 2 == 0 ? 1 : 2;
        struct random_stream stream;
        struct arena arena = {0};
        struct held held;
        random_stream_init(&stream, seed, "test.user_loop", 0);
        make_held(&held, &stream, seed % 3 == 0);
        const struct loop_link *links = loop_find(&held, &plan, scale, &arena);
        for (size_t i = 0; i < held.count; i++) {
            const struct loop_link naive = naive_link(&held, i, scale);
            if (links[i].follows != naive.follows || links[i].think != naive.think)
                fail_msg("seed %d, job %zu: it follows %u after %.0f s, by a search of all pairs %u after %.0f s",
                         (int)seed, i, links[i].follows, (double)links[i].think / 1e9, naive.follows,
                         (double)naive.think / 1e9);
            none += naive.follows == JOB_NONE;
            sessions += naive.think == LOOP_SESSION;
            within += naive.follows != JOB_NONE && naive.think != LOOP_SESSION;
        }
        held_sort(&held);
        const struct loop_link *ordered = loop_order(links, held.order, held.count, &arena);
        for (size_t i = 0; i < held.count; i++) {
            const struct loop_link was = links[held.order[i]];
            assert_true(ordered[i].think == was.think);
            if (was.follows == JOB_NONE)
                assert_int_equal(ordered[i].follows, JOB_NONE);
            else
                assert_int_equal(held.order[ordered[i].follows], was.follows);
        }
        held_release(&held);
        arena_release(&arena);
    }
    assert_true(sessions > JOBS && within > JOBS && none > SEEDS); /* the test sees all of them */
}

/* ---- Runs ---- */

struct row {
    time_ns submit, run, wait; /* as recorded; wait TIME_NEVER: none */
    int user, gpus, after;     /* after: a row before it; -1: none */
};

struct world {
    struct row rows[JOBS];
    struct job_row told[JOBS]; /* what the run said, by id */
    uint32_t count;
};

static struct cluster *small, *large;

static void make_rows(struct world *world, uint64_t seed)
{
    struct random_stream stream;
    time_ns at = 0;
    random_stream_init(&stream, seed, "test.user_loop.rows", 0);
    for (int i = 0; i < JOBS; i++) {
        at += i > 0 ? (time_ns)random_below(&stream, 60) * S : 0; /* the first submission is time 0 */
        world->rows[i] = (struct row){.submit = at,
                                      .run = (time_ns)random_below(&stream, 400) * S,
                                      .wait = TIME_NEVER,
                                      .user = (int)random_below(&stream, USERS + 1),
                                      .gpus = 1 + (int)random_below(&stream, 4),
                                      .after = -1};
        if (i > 0 && random_below(&stream, 10) == 0)
            world->rows[i].after = (int)random_below(&stream, (uint32_t)i);
    }
}

static const char *write_rows(const struct world *world)
{
    struct buffer text = {0};
    buffer_string(&text, "job_id,submit_s,duration_s,gpus,user,wait_s,after\n");
    for (int i = 0; i < JOBS; i++) {
        const struct row *row = &world->rows[i];
        buffer_format(&text, "%d,%lld,%lld,%d,", i, (long long)(row->submit / S), (long long)(row->run / S), row->gpus);
        if (row->user < USERS)
            buffer_format(&text, "u%d", row->user);
        buffer_char(&text, ',');
        if (row->wait != TIME_NEVER)
            buffer_format(&text, "%lld", (long long)(row->wait / S));
        buffer_char(&text, ',');
        if (row->after >= 0)
            buffer_format(&text, "%d", row->after);
        buffer_char(&text, '\n');
    }
    const char *path = scratch_write("rows.csv", text.bytes, text.length);
    buffer_release(&text);
    return path;
}

static struct error take_row(void *self, const struct job_row *row)
{
    struct world *world = self;
    world->told[row->id] = *row;
    world->count++;
    return ERROR_OK;
}

static struct engine_result run_world(struct world *world, const struct cluster *cluster, const char *preset,
                                      bool is_closed)
{
    struct workload_spec spec = {.trace = write_rows(world),
                                 .format = "native",
                                 .duration_scale = 1,
                                 .gpus_per_node = 8,
                                 .loop = {.is_closed = is_closed, .think_max = THINK_MAX}};
    struct run_setup setup = run_setup_default(cluster);
    struct job_source *source;
    const struct record_sink sink = {.self = world, .on_job = take_row};
    struct error error = job_source_open(&source, &spec, cluster, 1);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    setup.policy = run_preset(preset);
    world->count = 0;
    struct engine_result result = run_source(&setup, source, &sink);
    return result;
}

/* The rows as jobs that are held, so that their links can be searched for. */
static void hold(const struct world *world, struct held *held)
{
    *held = (struct held){0};
    for (int i = 0; i < JOBS; i++) {
        const struct row *row = &world->rows[i];
        struct job job = {.submit = row->submit, .user = row->user < USERS ? (uint32_t)row->user : NAMES_NONE};
        struct job_truth truth = {.duration = row->run, .recorded_wait = row->wait};
        held_add(held, &job, &truth);
    }
}

/* When the job comes, by the rule and what the run says of other jobs. */
static time_ns rule(const struct world *world, const struct held *held, int id)
{
    const struct loop_link link = naive_link(held, (size_t)id, 1);
    time_ns at = world->rows[id].submit;
    if (link.follows != JOB_NONE) {
        const time_ns end = world->told[link.follows].end;
        at = link.think != LOOP_SESSION ? end + link.think : at > end ? at : end;
    }
    if (world->rows[id].after >= 0 && world->told[world->rows[id].after].submit > at)
        at = world->told[world->rows[id].after].submit;
    return at;
}

TEST(each_submission_obeys_the_rule)
{
    static const char *const presets[] = {"fifo", "easy", "windtunnel"};
    struct world world;
    size_t earlier = 0, later = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct held held;
        make_rows(&world, seed);
        hold(&world, &held);
        const struct engine_result result = run_world(&world, seed % 2 == 0 ? small : large, presets[seed % 3], true);
        assert_int_equal(world.count, JOBS);
        assert_int_equal(result.facts.loop.held_back, 0);
        double sum_s = 0;
        for (int i = 0; i < JOBS; i++) {
            const time_ns submit = world.told[i].submit, wanted = rule(&world, &held, i);
            if (submit != wanted)
                fail_msg("seed %d, job %d: submitted at %.0f s, by the rule at %.0f s", (int)seed, i,
                         time_to_seconds(submit), time_to_seconds(wanted));
            earlier += submit < world.rows[i].submit;
            later += submit > world.rows[i].submit;
            sum_s += time_to_seconds(submit - world.rows[i].submit);
        }
        assert_true(result.facts.loop.shift_mean_s > sum_s / JOBS - 1e-6 &&
                    result.facts.loop.shift_mean_s < sum_s / JOBS + 1e-6);
        held_release(&held);
    }
    assert_true(earlier + later > JOBS);
    assert_true(later > 0);
}

/* What the open run says of waits becomes the record. */
TEST(a_record_replayed_on_its_own_cluster_is_itself)
{
    static const char *const presets[] = {"fifo", "easy"};
    static struct world world;
    for (uint64_t seed = 0; seed < 6; seed++) {
        make_rows(&world, seed);
        const uint64_t open = run_world(&world, small, presets[seed % 2], false).fingerprint;
        for (int i = 0; i < JOBS; i++)
            world.rows[i].wait = world.told[i].start - world.rows[i].submit;
        const struct engine_result closed = run_world(&world, small, presets[seed % 2], true);
        assert_true(closed.facts.loop.followed > JOBS / 10);
        for (int i = 0; i < JOBS; i++)
            if (world.told[i].submit != world.rows[i].submit)
                fail_msg("seed %d, job %d: recorded at %.0f s, replayed at %.0f s", (int)seed, i,
                         time_to_seconds(world.rows[i].submit), time_to_seconds(world.told[i].submit));
        assert_true(closed.fingerprint == open);
        assert_true(closed.facts.loop.shift_abs_mean_s == 0);
    }
}

static int set_up(void **state)
{
    small = cluster_uniform_new(2, 4);
    large = cluster_uniform_new(20, 4);
    return scratch_make(state);
}

static int tear_down(void **state)
{
    cluster_free(small);
    cluster_free(large);
    return scratch_remove(state);
}

TEST_GROUP(set_up, tear_down)
