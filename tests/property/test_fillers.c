/* Jobs that fill gaps (policies/reservation/fillers.h) in random worlds, against books of the test's own.
 *
 * Jobs of whole GPUs with exact limits, some of which may be evicted, on a few nodes.  After each cycle a naive count
 * asks law 1 of the job that goes first: if it has a planned start and would fit with the fillers gone that give way to
 * it, it does not wait.  The promise of a job is its first planned start as the first in the order: it starts no later,
 * but for the grace of fillers (law 4). */
#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"

enum { NODES_MAX = 5, GPUS = 4, JOBS = 60, GRACE_S = 7, EVICTIONS_MAX = 3, STEPS_MAX = 100000 };
enum state { COMING, WAITS, CLAIMS, RUNS, LEAVES, OVER };

struct player {
    struct job job;
    uint8_t state; /* enum state */
    bool is_filler;
    uint32_t evictions;
    int64_t left_s, since_s, decided_s, until_s, waits_since_s, promised_s; /* promised_s: -1, it is none */
    uint16_t held[NODES_MAX];
    decision_id decision; /* the last EVICT, and for whom */
    job_id for_job;
};

struct play {
    struct sched_case c;
    struct player of[JOBS];
    uint64_t seed;
    uint32_t nodes;
    int64_t now_s;
    uint32_t fillers, given_way, promises;
};

static const char *const policies[] = {
    "{'order': ['priority', 'fifo'], 'blocking': 'strict', 'actions': ['allocate', 'preempt'], "
    "'backfill': {'policy': 'easy', 'fills_gaps': true}, 'preemption': {'policy': 'checkpoint', 'grace_s': 7, "
    "'victims': ['priority'], 'min_runtime_s': 20, 'evictions_per_job_max': 3, 'delay_s': 1000000}}",
    "{'order': ['priority', 'fifo'], 'blocking': 'strict', 'actions': ['allocate', 'preempt'], 'backfill': {'policy': "
    "'easy', 'reservations': 3, 'fills_gaps': true}, 'preemption': {'policy': 'checkpoint', 'grace_s': 7, "
    "'victims': ['priority'], 'min_runtime_s': 0, 'evictions_per_job_max': 3, 'delay_s': 1000000}}",
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'actions': ['allocate', 'preempt'], "
    "'backfill': {'policy': 'easy', 'reservations': 2, 'fills_gaps': true}, 'preemption': {'policy': 'checkpoint', "
    "'grace_s': 7, 'victims': ['priority'], 'min_runtime_s': 0, 'evictions_per_job_max': 3, 'delay_s': 1000000}}",
};

static uint32_t below(struct random_stream *stream, uint32_t bound)
{
    return (uint32_t)random_below(stream, bound);
}

static void make_jobs(struct play *play, struct random_stream *stream)
{
    int64_t at_s = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        struct player *own = &play->of[j];
        const uint16_t gpus = below(stream, 2) == 0 ? GPUS : (uint16_t)(1 + below(stream, GPUS));
        const uint32_t members = gpus == GPUS ? 1 + below(stream, play->nodes) : 1 + below(stream, 2);
        at_s += below(stream, 3) == 0 ? 0 : below(stream, 60);
        own->left_s = below(stream, 4) == 0 ? 200 + below(stream, 2000) : 1 + below(stream, 200);
        own->since_s = at_s;
        own->promised_s = -1;
        own->job = sched_case_job(j, members, gpus, (int32_t)(10 * below(stream, 4)));
        own->job.is_preemptible = below(stream, 3) > 0;
        own->job.limit = SECONDS(own->left_s);
        own->job.checkpoint.duration = SECONDS(below(stream, GRACE_S + 1));
        own->job.checkpoint.restart = SECONDS(below(stream, 30));
        own->job.checkpoint.interval = below(stream, 2) == 0 ? 0 : SECONDS(50);
    }
}

static bool goes_before(const struct play *play, uint32_t a, uint32_t b)
{
    const int32_t first = play->of[a].job.priority, second = play->of[b].job.priority;
    return first != second ? first > second : a < b;
}

/* ---- What the world does ---- */

static void tell_facts(struct play *play)
{
    for (job_id j = 0; j < JOBS; j++) {
        struct player *own = &play->of[j];
        if (own->state == COMING && own->since_s == play->now_s) {
            sched_case_submit(&play->c, own->job, SECONDS(play->now_s));
            own->state = WAITS;
            own->waits_since_s = play->now_s;
        } else if (own->state == RUNS && own->until_s == play->now_s) {
            sched_job_ended(play->c.sched, j, JOB_END_COMPLETED, false, SECONDS(play->now_s));
            own->state = OVER;
            memset(own->held, 0, sizeof own->held);
        } else if (own->state == LEAVES && own->until_s == play->now_s) {
            sched_job_evicted(play->c.sched, j, (struct members){own->decision, NODE_NONE}, EVICT_SAVED,
                              SECONDS(play->now_s));
            own->state = WAITS;
            own->is_filler = false;
            own->waits_since_s = play->now_s;
            own->promised_s = -1;
            memset(own->held, 0, sizeof own->held);
        }
    }
}

/* Does the job fit with those jobs gone? */
static bool would_fit(const struct play *play, const struct player *own, const bool gone[JOBS])
{
    uint32_t members = 0;
    for (uint32_t n = 0; n < play->nodes; n++) {
        uint16_t taken = 0;
        for (uint32_t j = 0; j < JOBS; j++)
            taken |= gone[j] ? 0 : play->of[j].held[n];
        members += (GPUS - (uint32_t)__builtin_popcount(taken)) / own->job.first.request.gpus;
    }
    return members >= own->job.first.count;
}

/* The job that goes first claims space: it would not fit with one of its victims still there. */
static void check_victims(const struct play *play, job_id claims)
{
    bool gone[JOBS];
    for (uint32_t j = 0; j < JOBS; j++) {
        if (play->of[j].state == WAITS && goes_before(play, j, claims))
            return; /* another one's planned start may need space too */
        gone[j] = play->of[j].state == LEAVES && play->of[j].for_job == claims;
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        if (!gone[j])
            continue;
        gone[j] = false;
        assert_false(would_fit(play, &play->of[claims], gone));
        gone[j] = true;
    }
}

/* The policy's order puts job `before` in front of waiting jobs: the promised starts of those jobs are void. */
static void void_promises(struct play *play, job_id before)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (play->of[j].state == WAITS && goes_before(play, before, j))
            play->of[j].promised_s = -1;
}

static void carry_out(struct play *play, const struct decision *decision)
{
    struct player *own = &play->of[decision->job];
    switch (decision->kind) {
    case DECISION_START:
        own->state = RUNS;
        own->is_filler = decision->source == SOURCE_GAP;
        play->fillers += own->is_filler;
        own->decided_s = play->now_s;
        own->until_s = play->now_s + own->left_s; /* each attempt runs for its whole length, as it is planned */
        if (own->promised_s >= 0 && play->now_s > own->promised_s)
            print_error("seed %llu: job %u starts at %lld s, promised %lld s\n", (unsigned long long)play->seed,
                        decision->job, (long long)play->now_s, (long long)own->promised_s);
        assert_true(own->promised_s < 0 || play->now_s <= own->promised_s);
        void_promises(play, decision->job);
        break;
    case DECISION_EVICT:
        assert_true(own->state == RUNS && own->job.is_preemptible && own->evictions < EVICTIONS_MAX);
        assert_true(own->is_filler && decision->reason == REASON_GAP);
        assert_true(own->job.priority < play->of[decision->for_job].job.priority);
        if (play->of[decision->for_job].promised_s >= 0)
            play->of[decision->for_job].promised_s += GRACE_S;
        own->state = LEAVES;
        own->evictions++;
        own->decision = decision->id;
        own->for_job = decision->for_job;
        own->until_s = play->now_s + GRACE_S < own->until_s ? play->now_s + GRACE_S : own->until_s;
        play->given_way++;
        return;
    case DECISION_RESERVE:
        check_victims(play, decision->job);
        own->state = CLAIMS;
        break;
    default:
        fail();
    }
    memset(own->held, 0, sizeof own->held);
    for (uint32_t p = 0; p < decision->piece_count; p++)
        own->held[decision->pieces[p].node] |= decision->pieces[p].gpu_mask;
}

/* ---- What must hold ---- */

static uint32_t first_of(const struct play *play)
{
    uint32_t first = JOBS;
    for (uint32_t j = 0; j < JOBS; j++)
        if (play->of[j].state == WAITS && (first == JOBS || goes_before(play, j, first)))
            first = j;
    return first;
}

static bool gives_way(const struct player *filler, const struct player *first)
{
    return filler->state == RUNS && filler->is_filler && filler->job.priority < first->job.priority &&
           filler->decided_s >= first->waits_since_s && filler->evictions < EVICTIONS_MAX;
}

static void check_first(struct play *play)
{
    const uint32_t j = first_of(play);
    if (j == JOBS)
        return;
    struct player *first = &play->of[j];
    const time_ns planned = sched_planned_start(play->c.sched, j);
    bool gone[JOBS] = {false};
    assert_false(would_fit(play, first, gone));
    if (planned == TIME_NEVER)
        return;
    for (uint32_t other = 0; other < JOBS; other++)
        gone[other] = gives_way(&play->of[other], first);
    assert_false(would_fit(play, first, gone));
    if (first->promised_s < 0) {
        first->promised_s = planned / TIME_NS_PER_S + (planned % TIME_NS_PER_S > 0);
        play->promises++;
    }
    for (uint32_t other = 0; other < JOBS; other++) /* a job that the order put further back has no promised start */
        if (other != j)
            play->of[other].promised_s = play->of[other].state == CLAIMS ? play->of[other].promised_s : -1;
}

static bool is_over(const struct play *play)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (play->of[j].state != OVER)
            return false;
    return true;
}

static void play_world(struct play *play, uint64_t seed)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "fillers", 0);
    *play = (struct play){.seed = seed, .nodes = 2 + below(&stream, NODES_MAX - 1)};
    sched_case_open(&play->c, cluster_uniform_new(play->nodes, GPUS), queue_table_new(),
                    policies[seed % (sizeof policies / sizeof *policies)]);
    make_jobs(play, &stream);
    for (; !is_over(play) && play->now_s < STEPS_MAX; play->now_s++) {
        tell_facts(play);
        for (uint32_t more = 1; more > 0;) { /* starts are confirmed at once; then the scheduler is asked again */
            sched_case_start(&play->c, SECONDS(play->now_s));
            more = (uint32_t)play->c.count;
            for (size_t d = 0; d < play->c.count; d++)
                carry_out(play, &play->c.decisions[d]);
        }
        check_first(play);
    }
    assert_true(is_over(play)); /* nobody starves, and no jobs evict each other for ever */
    sched_case_close(&play->c);
}

TEST(no_filler_is_in_the_way_of_the_first_job)
{
    const struct test_seeds seeds = test_seeds(60, 3000);
    uint32_t fillers = 0, given_way = 0, promises = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct play *play = mem_zalloc(1, sizeof *play);
        play_world(play, seed);
        fillers += play->fillers;
        given_way += play->given_way;
        promises += play->promises;
        mem_free(play);
    }
    assert_true(seeds.count == 1 || (fillers > seeds.count && given_way > seeds.count / 2 && promises > seeds.count));
}
