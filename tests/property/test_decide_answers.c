/* Wrong lines in good streams: `decide` answers each of them, and decides and ends as if they were not there
 * (sim/live/decide.h).
 *
 * A small world submits jobs, confirms or refuses what a scheduler decides, and ends jobs; its facts are the good
 * stream.  Lines about jobs, nodes and decisions that are not there, and lines that are no facts, are put between. */
#include "tests/support/test.h"

#include "base/output.h"
#include "base/random.h"
#include "policies/wire.h"
#include "sim/live/decide.h"
#include "sim/scenario/scenario.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"

enum { STEPS = 120, JOBS_MAX = 400 };

static const char header_text[] =
    "{\"windtunnel_events\":1,\"cluster\":{\"pools\":[{\"name\":\"p\",\"nodes\":4,\"gpus_per_node\":8}]},"
    "\"queues\":[{\"name\":\"a\",\"quota_gpus\":12},{\"name\":\"b\",\"quota_gpus\":20}],\"policy\":{}}";

static const char *const presets[] = {"fifo", "easy", "kai", "volcano", "kubernetes", "slurm", "windtunnel"};
enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

struct world {
    struct random_stream stream;
    struct wire_header header;
    struct sched *sched;
    struct buffer good, mixed;
    uint64_t lines, wrong_count; /* of `mixed`; how many of them are wrong */
    time_ns now;
    job_id job_count;
    bool is_over[JOBS_MAX], runs[JOBS_MAX];
    uint64_t last_number;
};

static uint32_t below(struct world *world, uint32_t limit)
{
    return (uint32_t)random_below(&world->stream, limit);
}

/* A job that was never submitted, or one that has ended. */
static job_id gone_job(struct world *world)
{
    const job_id job = below(world, world->job_count + 1);
    return job < world->job_count && world->is_over[job] ? job : world->job_count + below(world, 1000);
}

/* The number of a decision that is not open. */
static uint64_t gone_number(struct world *world)
{
    const uint64_t number = 1 + below(world, (uint32_t)world->last_number + 1);
    return sched_open_decision(world->sched, number) == 0 ? number : world->last_number + 1 + below(world, 5);
}

static void put_wrong(struct world *world)
{
    static const char *const garbage[] = {"",
                                          "{",
                                          "nonsense",
                                          "[1,2]",
                                          "{\"cycle\":-1}",
                                          "{\"job_ended\":0}",
                                          "{\"start\":}",
                                          "{\"cycle\":0,\"more\":1}",
                                          "\"\\u00zz\""};
    static const char *const about_jobs[] = {"released", "cancelled", "checkpointed", "leaving"};
    struct buffer *out = &world->mixed;
    const long long now = world->now;
    switch (below(world, 9)) {
    case 0:
        buffer_format(out, "{\"job_%s\":%lld,\"job\":%u}\n", about_jobs[below(world, 4)], now, gone_job(world));
        break;
    case 1:
        buffer_format(out, "{\"job_ended\":%lld,\"job\":%u,\"end\":\"failed\"}\n", now, gone_job(world));
        break;
    case 2:
        buffer_format(out, "{\"job_evicted\":%lld,\"job\":%u,\"end\":\"lost\"}\n", now, gone_job(world));
        break;
    case 3:
        buffer_format(out, "{\"decision_refused\":%lld,\"decision\":%llu,\"why\":\"busy\"}\n", now,
                      (unsigned long long)gone_number(world));
        break;
    case 4: /* perhaps an open decision, but of a job that is not there */
        buffer_format(out, "{\"decision_refused\":%lld,\"decision\":%llu,\"job\":%u,\"why\":\"stale\"}\n", now,
                      1 + (unsigned long long)below(world, (uint32_t)world->last_number + 1), gone_job(world));
        break;
    case 5:
        buffer_format(out, "{\"job_started\":%lld,\"job\":%u,\"decision\":%llu}\n", now,
                      below(world, world->job_count + 1), (unsigned long long)gone_number(world));
        break;
    case 6:
        buffer_format(out, "{\"node_changed\":%lld,\"node\":\"nowhere\",\"state\":\"down\"}\n", now);
        break;
    case 7: /* came before, or is far from all others */
        buffer_format(out, "{\"job_submitted\":%lld,\"job\":{\"id\":%u,\"groups\":[{\"gpus\":1}]}}\n", now,
                      world->job_count > 0 && below(world, 2) ? below(world, world->job_count) : 200000000);
        break;
    default:
        buffer_format(out, "%s\n", garbage[below(world, sizeof garbage / sizeof garbage[0])]);
    }
    world->lines++;
    world->wrong_count++;
}

/* Put a line of the good stream into both, perhaps with wrong ones before it. */
static void put(struct world *world, struct text line)
{
    while (below(world, 4) == 0)
        put_wrong(world);
    buffer_text(&world->good, line);
    buffer_text(&world->mixed, line);
    world->lines++;
}

static void tell(struct world *world, struct fact *fact)
{
    struct buffer line = {0};
    const uint64_t refused = sched_refused(world->sched)->count;
    fact->now = world->now;
    wire_write_fact(&line, world->header.cluster, world->header.queues, fact);
    put(world, (struct text){line.bytes, line.length});
    fact_tell(world->sched, fact);
    assert_true(sched_refused(world->sched)->count == refused);
    buffer_release(&line);
}

static void submit(struct world *world)
{
    struct job job = job_default();
    job.id = world->job_count;
    job.queue = QUEUE_ROOT + 1 + below(world, 2);
    job.submit = world->now;
    job.limit = (1 + below(world, 100)) * TIME_NS_PER_S;
    job.priority = (int32_t)below(world, 3) * 60;
    job.is_preemptible = job.priority < 100;
    job_shape_gpus(&job, 1 + below(world, below(world, 3) == 0 ? 24 : 8), 8);
    tell(world, &(struct fact){.kind = FACT_JOB_SUBMITTED, .id = job.id, .job = &job});
    world->job_count++;
}

static void answer_decision(struct world *world, const struct decision *decision)
{
    const bool is_refused = below(world, 6) == 0;
    if (decision->kind == DECISION_REJECT)
        world->is_over[decision->job] = true;
    if (decision->kind != DECISION_START && decision->kind != DECISION_EVICT)
        return;
    struct fact fact = {.kind = FACT_DECISION_REFUSED, .decision = decision->id, .which = MEMBERS_ALL};
    fact.refusal = REFUSED_BUSY;
    if (!is_refused) {
        fact.kind = decision->kind == DECISION_START ? FACT_JOB_STARTED : FACT_JOB_EVICTED;
        fact.id = decision->job;
        fact.decision = decision->kind == DECISION_START ? decision->id : 0;
        fact.refusal = REFUSED_STALE;
        fact.which.decision = decision->kind == DECISION_EVICT ? decision->id : 0;
    }
    tell(world, &fact);
    if (!is_refused)
        world->runs[decision->job] = decision->kind == DECISION_START;
}

static void cycle(struct world *world)
{
    const struct decision *decisions;
    time_ns wake;
    struct buffer line = {0};
    wire_write_cycle(&line, world->now);
    put(world, (struct text){line.bytes, line.length});
    buffer_release(&line);
    const size_t count = sched_cycle(world->sched, world->now, &decisions, &wake);
    struct decision *copies = mem_zalloc(count + 1, sizeof *copies);
    if (count > 0)
        memcpy(copies, decisions, count * sizeof *copies); /* only what lives longer than the call is read */
    for (size_t i = 0; i < count; i++)
        assert_true(decision_number(copies[i].id) == ++world->last_number); /* no gaps */
    for (size_t i = 0; i < count; i++)
        answer_decision(world, &copies[i]);
    mem_free(copies);
}

static void end_some(struct world *world)
{
    for (job_id job = 0; job < world->job_count; job++)
        if (world->runs[job] && below(world, 4) == 0) {
            tell(world, &(struct fact){.kind = FACT_JOB_ENDED, .id = job, .end = JOB_END_COMPLETED});
            world->runs[job] = false;
            world->is_over[job] = true;
        }
}

static void live(struct world *world, const char *preset)
{
    struct json_doc *header, *policy;
    struct error error = wire_header_parse(&header, "header", text_of(header_text));
    assert_false(error_is(error));
    error = scenario_policy_doc(&policy, preset);
    assert_false(error_is(error));
    error = json_doc_graft(header, "policy", policy);
    assert_false(error_is(error));
    error = wire_header_read(&world->header, header);
    assert_false(error_is(error));
    json_doc_free(header);
    world->sched = sched_new(world->header.cluster, world->header.queues, &world->header.policy, &error);
    assert_false(error_is(error));
    buffer_format(&world->good, "%s\n", header_text);
    buffer_format(&world->mixed, "%s\n", header_text);
    world->lines = 1;
    for (int step = 0; step < STEPS; step++) {
        world->now += (time_ns)below(world, 20) * TIME_NS_PER_S;
        for (uint32_t i = below(world, 4); i > 0 && world->job_count < JOBS_MAX; i--)
            submit(world);
        end_some(world);
        cycle(world);
        const char *broken = sched_check(world->sched);
        if (broken != NULL)
            fail_msg("%s", broken);
    }
}

static struct error keep(void *self, struct text lines)
{
    buffer_text(self, lines);
    return ERROR_OK;
}

static struct decide_result decide_text(const struct buffer *stream, const char *preset, struct buffer *answers)
{
    struct decide_result result;
    struct output *output;
    const char *path = scratch_path("stream.jsonl");
    struct error error = output_open(&output, path, OUTPUT_PLAIN);
    assert_false(error_is(error));
    buffer_bytes(output_buffer(output), stream->bytes, stream->length);
    error = output_commit(&output);
    assert_false(error_is(error));
    error = decide_run(&(struct decide_options){.path = path, .policy = preset, .on_answer = keep, .self = answers},
                       &result);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return result;
}

/* Take the answers to wrong lines out.  Returns their number. */
static uint64_t wrong_out(const struct buffer *answers, struct buffer *rest)
{
    struct text lines = {answers->bytes, answers->length}, line;
    uint64_t count = 0;
    while (lines.length > 0 && text_cut(&lines, '\n', &line)) {
        const bool is_wrong = strncmp(line.at, "{\"unknown\":", 11) == 0 || strncmp(line.at, "{\"bad_line\":", 12) == 0;
        count += is_wrong;
        if (!is_wrong) {
            buffer_text(rest, line);
            buffer_char(rest, '\n');
        }
    }
    return count;
}

static uint64_t check(uint64_t seed, const char *preset)
{
    struct world *world = mem_zalloc(1, sizeof *world);
    struct buffer plain = {0}, answers = {0}, rest = {0};
    random_stream_init(&world->stream, seed, "decide answers", 0);
    live(world, preset);
    decide_text(&world->good, preset, &plain);
    const struct decide_result result = decide_text(&world->mixed, preset, &answers);
    const uint64_t answered = wrong_out(&answers, &rest), wrong_count = world->wrong_count;
    if (answered != wrong_count || result.bad_lines + result.unknown != wrong_count)
        fail_msg("%s, seed %llu: %llu lines are wrong, and %llu were answered", preset, (unsigned long long)seed,
                 (unsigned long long)wrong_count, (unsigned long long)answered);
    if (rest.length != plain.length || memcmp(rest.bytes, plain.bytes, plain.length) != 0)
        fail_msg("%s, seed %llu: wrong lines change what is decided", preset, (unsigned long long)seed);
    assert_true(result.decisions == world->last_number);
    buffer_release(&plain);
    buffer_release(&answers);
    buffer_release(&rest);
    buffer_release(&world->good);
    buffer_release(&world->mixed);
    sched_free(world->sched);
    wire_header_release(&world->header);
    mem_free(world);
    return wrong_count;
}

TEST(test_wrong_lines)
{
    uint64_t wrong_count = 0;
    const uint64_t seeds = test_is_full() ? 200 : 4;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        for (int p = 0; p < PRESET_COUNT; p++)
            wrong_count += check(seed, presets[p]);
    print_message("%llu worlds, %llu wrong lines answered\n", (unsigned long long)seeds * PRESET_COUNT,
                  (unsigned long long)wrong_count);
    assert_true(wrong_count > 1000);
}

TEST_GROUP(scratch_make, scratch_remove)
