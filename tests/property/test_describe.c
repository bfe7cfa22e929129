/* A description carries over what it says (policies/describe.h): in random worlds under all presets a scheduler is
 * described and replaced by one that was told the description.  Laws: it takes every fact, its laws hold, its books of
 * each job are those that were described, it holds the same space, and is described alike.
 *
 * How far do its decisions differ in the hour after from those of the scheduler that went on?  The table has the share
 * of decisions that the other does not make: the same one, at the same time.  A world counts in the row of the first
 * thing that existed at that moment and that a description does not carry: reservations, planned starts, back-offs.
 * WINDTUNNEL_WORLDS="COUNT": the number of worlds under each preset. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/describe.h"
#include "policies/quota/usage.h"
#include "policies/reservation/planned_start.h"
#include "policies/state/sched_state.h"
#include "policies/wire.h"
#include "tests/support/honest_world.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

enum { DECISIONS_MAX = 4096, WORLDS_SMALL = 3, WORLDS_FULL = 25 };
#define HOUR (3600 * TIME_NS_PER_S)

struct made {
    time_ns at;
    uint64_t what; /* a hash */
};

struct history {
    struct made made[DECISIONS_MAX];
    uint32_t count;
};

enum cause { CAUSE_CLAIMS, CAUSE_PLANNED, CAUSE_BACK_OFF, CAUSE_LEARNED, CAUSE_NONE, CAUSE_COUNT };
static const char *const cause_names[] = {"reservations", "planned starts", "back-offs", "run times learned",
                                          "none of these"};

static struct {
    uint64_t worlds, differing, decisions, other;
} table[CAUSE_COUNT];

static void on_decision(struct honest_world *world, const struct decision *all, size_t count, size_t at)
{
    struct history *history = world->watch.self;
    const struct decision *decision = &all[at];
    uint64_t hash = hash_mix(decision->kind, decision->job);
    (void)count;
    if (decision->kind != DECISION_START && decision->kind != DECISION_EVICT && decision->kind != DECISION_REJECT)
        return;
    for (uint32_t p = 0; p < decision->piece_count; p++)
        hash = hash_mix(hash_mix(hash, decision->pieces[p].node), decision->pieces[p].gpu_mask);
    assert_true(history->count < DECISIONS_MAX);
    history->made[history->count++] = (struct made){world->now, hash};
}

/* Nothing is under way that a fact without a decision could not tell: jobs that leave do so as a whole. */
static bool is_settled(const struct honest_world *world)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++)
        for (uint32_t h = 0; h < world->jobs[j].hold_count; h++)
            if (world->jobs[j].holds[h].phase == HOLD_STARTING ||
                world->jobs[j].holds[h].phase != world->jobs[j].holds[0].phase)
                return false;
    return true;
}

static enum cause cause_of(const struct sched *sched)
{
    if (sched->claims.count > 0)
        return CAUSE_CLAIMS;
    if (sched->planned_starts->count > 0)
        return CAUSE_PLANNED;
    for (int kind = 0; kind < PLAN_KIND_COUNT; kind++)
        if (id_marks_next(&sched->retry_queues[kind].noted, 0) != ID_MARKS_NONE)
            return CAUSE_BACK_OFF;
    return sched->run_times.is_used ? CAUSE_LEARNED : CAUSE_NONE;
}

static const struct job *declared_of(void *self, job_id id)
{
    const struct honest_world *world = self;
    return &world->jobs[world->job_of[id]].job;
}

static void describe(struct honest_world *world, struct buffer *out)
{
    sched_describe(world->sched, text_of("{}"), declared_of, world, out);
}

/* Usage stands in the header's table of queues. */
static void take_queues(struct honest_world *world, struct text header)
{
    struct json_doc *doc;
    struct wire_header read;
    struct error error = wire_header_parse(&doc, "description", header);
    assert_false(error_is(error));
    error = wire_header_read(&read, doc);
    if (error_is(error))
        fail_msg("%s: %.*s", error_message(&error), (int)header.length, header.at);
    assert_int_equal(read.queues->count, world->queues->count);
    for (queue_id q = 0; q < read.queues->count; q++)
        world->queues->queues[q].usage_ppm = read.queues->queues[q].usage_ppm;
    wire_header_release(&read);
    json_doc_free(doc);
}

static void compare_descriptions(const struct honest_world *world, const struct buffer *a, const struct buffer *b)
{
    struct text lines = {a->bytes, a->length}, others = {b->bytes, b->length}, line, other;
    while (lines.length > 0 && others.length > 0) {
        text_cut(&lines, '\n', &line);
        text_cut(&others, '\n', &other);
        if (!text_equal(line, other))
            fail_msg("preset %s, kind %d, seed %llu, tick %u: what was described as\n%.*s\nis then\n%.*s",
                     policy_preset_texts[world->scenario->preset].name, (int)world->scenario->kind,
                     (unsigned long long)world->scenario->seed, world->tick, (int)line.length, line.at,
                     (int)other.length, other.at);
    }
    assert_int_equal(a->length, b->length);
}

/* What it holds, but for claims, as a hash that does not depend on the order. */
static uint64_t space_of(const struct sched_job *job)
{
    uint64_t space = 0;
    for (uint32_t h = 0; h < job->holding_count; h++) {
        const struct holding *holding = sched_job_holding(job, h);
        if (holding->phase != HOLDING_CLAIMED)
            space +=
                hash_mix(hash_mix(holding->piece.node, holding->piece.gpu_mask), holding->phase == HOLDING_LEAVING);
    }
    return space;
}

static time_ns run_time_of(const struct job_facts *facts, time_ns now)
{
    return facts->ran + (facts->is_serving ? now - facts->attained_at : 0);
}

#define SAME(field, one, other)                                                                                        \
    do {                                                                                                               \
        const long long one_ = (long long)(one), other_ = (long long)(other);                                          \
        if (one_ != other_)                                                                                            \
            fail_msg("preset %s, seed %llu, job %u: %s is %lld, and %lld in the one that was told",                    \
                     policy_preset_texts[world->scenario->preset].name, (unsigned long long)world->scenario->seed, id, \
                     field, one_, other_);                                                                             \
    } while (0)

/* Two descriptions would be alike too if neither told a field: the books of each job are compared with those that it
 * was told from. */
static void compare_jobs(const struct honest_world *world, const struct sched *old, const struct sched *new)
{
    for (job_id id = 0; id < old->jobs.id_count; id++) {
        const uint32_t a = job_table_find(&old->jobs, id), b = job_table_find(&new->jobs, id);
        SAME("its being there", a != SLOT_NONE, b != SLOT_NONE);
        if (a == SLOT_NONE)
            continue;
        const struct sched_job *one = &old->jobs.jobs[a], *other = &new->jobs.jobs[b];
        const struct job_facts *facts = &old->jobs.facts[a], *others = &new->jobs.facts[b];
        SAME("queue", one->queue, other->queue);
        SAME("priority", one->priority, other->priority);
        SAME("evictions", one->evictions, other->evictions);
        SAME("space", space_of(one), space_of(other));
        SAME("submit", facts->submit, others->submit);
        SAME("user", facts->user, others->user);
        SAME("is_held", facts->is_held, others->is_held);
        SAME("stale_count", facts->stale_count, others->stale_count);
        SAME("below_since", facts->below_since, others->below_since);
        SAME("saved_at", facts->saved_at, others->saved_at);
        SAME("run time", run_time_of(facts, world->now), run_time_of(others, world->now));
        SAME("attained", attained_gpu_ns(facts, world->now), attained_gpu_ns(others, world->now));
        if (space_of(one) != 0)
            SAME("start", one->decided, other->decided);
        else
            SAME("waiting_since", facts->waiting_since, others->waiting_since);
    }
}

/* Usage of users is told in thousandths of a unit-second, each rounded down. */
static uint64_t compare_users(const struct honest_world *world, const struct accounts *old, const struct accounts *new)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < old->user_count; i++) {
        const struct account *user = &old->users[i];
        const int64_t usage = accounts_usage(old, user, world->now);
        uint32_t k = 0;
        while (k < new->user_count && (new->users[k].queue != user->queue || new->users[k].user != user->user))
            k++;
        assert_true(k < new->user_count);
        assert_in_range(accounts_usage(new, &new->users[k], world->now) + 1, usage, usage + 2);
        used += usage > 0;
    }
    return used;
}

static uint64_t users_used; /* accounts with usage that were compared */

static void replace(struct honest_world *world)
{
    struct buffer before = {0}, after = {0};
    struct sched_counts old, new;
    struct wire_line read;
    struct error error;
    sched_count(world->sched, &old);
    describe(world, &before);
    struct text lines = {before.bytes, before.length}, line;
    text_cut(&lines, '\n', &line);
    take_queues(world, line);
    struct sched *sched = sched_new(world->cluster, world->queues, &world->scenario->policy, &error);
    assert_false(error_is(error));
    struct wire *wire = wire_new(world->cluster, world->queues);
    while (lines.length > 0 && text_cut(&lines, '\n', &line)) {
        error = wire_read(wire, "description", 1, line, WIRE_TOLD, &read);
        if (error_is(error))
            fail_msg("%s", error_message(&error));
        fact_tell(sched, &read.fact);
        if (sched_refused(sched)->count > 0)
            fail_msg("%s: %.*s", wrong_fact_text(sched_refused(sched)->last), (int)line.length, line.at);
        wire_forget(wire);
    }
    wire_free(wire);
    compare_jobs(world, world->sched, sched);
    if (sched->ranks.need_accounts)
        users_used += compare_users(world, &world->sched->accounts, &sched->accounts);
    sched_free(world->sched);
    world->sched = sched;
    assert_lawful(sched_check(sched));
    describe(world, &after);
    compare_descriptions(world, &before, &after);
    sched_count(sched, &new);
    if (old.reserved_jobs == 0)
        assert_true(old.used_gpu_milli == new.used_gpu_milli &&old.pending_jobs == new.pending_jobs);
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        struct honest_job *job = &world->jobs[j];
        job->reserved_count = 0; /* claims are not carried, nor the numbers of evictions under way */
        for (uint32_t h = 0; h < job->hold_count; h++)
            job->holds[h].decision = 0;
    }
    world->wake_at = world->now;
    buffer_release(&before);
    buffer_release(&after);
}

/* The decisions in the hour from `since` that the other history lacks. */
static uint64_t count_other(const struct history *own, const struct history *others, time_ns since, uint64_t *all)
{
    uint64_t other = 0;
    for (uint32_t i = 0; i < own->count; i++) {
        if (own->made[i].at <= since || own->made[i].at > since + HOUR)
            continue;
        bool is_made = false;
        for (uint32_t k = 0; k < others->count && !is_made; k++)
            is_made = others->made[k].at == own->made[i].at && others->made[k].what == own->made[i].what;
        other += !is_made;
        ++*all;
    }
    return other;
}

static void play(uint64_t seed, uint32_t preset, enum random_world_kind kind)
{
    static struct random_world scenario;
    static struct honest_world plain, adopted;
    static struct history on, anew;
    random_world_make(&scenario, seed, preset, kind);
    scenario.refuse_milli = 0;
    for (uint32_t q = 0; q < scenario.queue_count; q++)
        scenario.queues[q].spec.created = 0; /* text has no queues of the future */
    struct random_stream stream;
    random_stream_init(&stream, seed, "describe", preset);
    const uint32_t from = 1 + random_below(&stream, scenario.ticks / 2 + 1);
    on.count = anew.count = 0;
    honest_world_open(&plain, &scenario, NULL);
    plain.watch = (struct honest_watch){.self = &on, .on_decision = on_decision};
    while (honest_world_tick(&plain))
        ;
    honest_world_close(&plain);
    honest_world_open(&adopted, &scenario, NULL);
    adopted.watch = (struct honest_watch){.self = &anew, .on_decision = on_decision};
    time_ns since = TIME_NEVER;
    enum cause cause = CAUSE_NONE;
    while (honest_world_tick(&adopted))
        if (since == TIME_NEVER && adopted.tick >= from && is_settled(&adopted)) {
            cause = cause_of(adopted.sched);
            replace(&adopted);
            since = adopted.now;
        }
    honest_world_close(&adopted);
    if (since == TIME_NEVER)
        return;
    uint64_t decisions = 0;
    const uint64_t other = count_other(&on, &anew, since, &decisions);
    table[cause].worlds++;
    table[cause].differing += other > 0;
    table[cause].decisions += decisions;
    table[cause].other += other;
}

TEST(test_described_and_adopted)
{
    const char *asked = getenv("WINDTUNNEL_WORLDS");
    const uint64_t seeds = asked != NULL ? strtoull(asked, NULL, 10) : test_is_full() ? WORLDS_FULL : WORLDS_SMALL;
    uint64_t worlds = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
            play(seed, preset, (enum random_world_kind)(seed % RANDOM_WORLD_KIND_COUNT));
    print_message("%-20s %8s %10s %10s %8s\n", "at the adoption", "worlds", "differing", "decisions", "share");
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        worlds += table[cause].worlds;
        print_message(
            "%-20s %8llu %10llu %10llu %7.1f%%\n", cause_names[cause], (unsigned long long)table[cause].worlds,
            (unsigned long long)table[cause].differing, (unsigned long long)table[cause].decisions,
            table[cause].decisions > 0 ? 100. * (double)table[cause].other / (double)table[cause].decisions : 0.);
    }
    assert_true(worlds > seeds && users_used > 0);
}

static const struct job *only_job(void *self, job_id id)
{
    (void)id;
    return self;
}

/* Random worlds set few clocks: here each part of what became of a job before has a value of its own. */
TEST(test_history_is_described)
{
    static const struct job_history history = {.evictions = 3,
                                               .stale_count = 2,
                                               .waiting_since = SECONDS(5),
                                               .below_since = TIME_NEVER,
                                               .saved_at = SECONDS(4),
                                               .ran = SECONDS(3),
                                               .attained_gpu_ns = 7};
    const struct fact fact = {.kind = FACT_JOB_HISTORY_TOLD, .now = SECONDS(9), .id = 0, .history = history};
    struct sched_case c;
    struct job job = sched_case_job(0, 1, 4, 50);
    struct buffer line = {0}, out = {0};
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{\"order\": [\"fifo\"]}");
    sched_job_history_told(c.sched, 0, &history, SECONDS(9));
    sched_case_submit(&c, job, SECONDS(9));
    sched_describe(c.sched, text_of("{}"), only_job, &job, &out);
    wire_write_fact(&line, c.cluster, c.queues, &fact);
    if (strstr(buffer_c_string(&out), buffer_c_string(&line)) == NULL)
        fail_msg("no %s in %s", line.bytes, out.bytes);
    buffer_release(&line);
    buffer_release(&out);
    sched_case_close(&c);
}

/* A queue that held the whole cluster for a while, under a quota policy that remembers past usage. */
TEST(test_usage_of_queues_is_described)
{
    struct sched_case c;
    struct job job = sched_case_job(0, 1, 4, 50);
    struct buffer out = {0};
    struct text header, lines;
    struct json_doc *doc;
    struct wire_header read;
    struct queue_table *queues = queue_table_new();
    const queue_id queue = queue_table_add(queues, TEXT("a"), QUEUE_ROOT);
    sched_case_open(&c, cluster_uniform_new(1, 4), queues,
                    "{\"order\": [\"fifo\"], \"quota\": {\"policy\": \"fairshare\", \"usage_weight\": 1, "
                    "\"window_s\": 3600}}");
    job.queue = queue;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_cycle(&c, SECONDS(1800));
    const int64_t usage = usage_ppm(&c.sched->tree, queue, RESOURCE_GPU);
    assert_true(usage > 0);
    sched_describe(c.sched, text_of("{}"), only_job, &job, &out);
    lines = (struct text){out.bytes, out.length};
    text_cut(&lines, '\n', &header);
    assert_false(error_is(wire_header_parse(&doc, "description", header)));
    assert_false(error_is(wire_header_read(&read, doc)));
    assert_int_equal(read.queues->queues[queue].usage_ppm, usage);
    wire_header_release(&read);
    json_doc_free(doc);
    buffer_release(&out);
    sched_case_close(&c);
}
