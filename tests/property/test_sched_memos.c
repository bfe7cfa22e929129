/* What the scheduler remembers of jobs that did not fit saves work and decides nothing: a twin that forgets all of it
 * before every cycle (closed request classes, class queues closed by a limit, borrowers, winners, shares) decides the
 * same, piece by piece.
 *
 * Only where that is the law: without evictions, which remember on purpose how often they failed; where space is free
 * at once, for a job whose space is coming is promised it only when it is tried; where queues are not compared by
 * what their heads ask, so that it does not matter which of them are known not to fit; without whole nodes that are
 * kept, for they may be broken by another meanwhile.  In all other worlds the books are checked after every event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/policy_config.h"
#include "policies/state/sched_state.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/random_case.h"

enum { JOBS = 100, STEPS = 400 };

enum state { NEW, WAITING, STARTING, RUNNING, OVER };

struct world {
    struct random_stream stream;
    uint64_t seed;
    uint32_t step;
    char text[1024];
    bool has_twin;
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched, *twin;
    struct job_group more[JOBS][RANDOM_CASE_GROUPS_MAX];
    enum state state[JOBS];
    decision_id started[JOBS];
    uint32_t job_count;
    time_ns now;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return random_below(&w->stream, bound);
}

static void complain(const struct world *w, const char *what, job_id job)
{
    print_error("seed %llu, step %u, job %u: %s\npolicy %s\n", (unsigned long long)w->seed, w->step, job, what,
                w->text);
    fail();
}

/* ---- The world ---- */

static void write_policy(struct world *w)
{
    static const char *const quotas[] = {"none", "limits", "limits",   "fairshare",
                                         "drf",  "cohort", "capacity", "proportion"};
    static const char *const orders[] = {"'fifo'", "'priority', 'fifo'", "'smallest'", "'priority', 'elastic'"};
    static const char *const placements[] = {"best_fit", "worst_fit", "pack", "spread"};
    bool is_kept = below(w, 3) > 0;
    /* Under a flat quota an owner stands behind a borrower of the same request class: nothing is kept for owners
     * there. */
    uint32_t quota = below(w, 8), owners = is_kept && quota != 0 ? below(w, 4) : 0;
    uint32_t nodes = is_kept && quota > 1 ? below(w, 2) : 0;
    w->has_twin = quota < 3 && nodes == 0;
    snprintf(w->text, sizeof w->text,
             "{'order': [%s], 'blocking': '%s', 'quota': '%s', 'placement': '%s', 'inference_first': %s, "
             "'headroom': {'gpus': %u, 'whole_nodes': %u, 'owners_gpus': %u}, 'preemption': {'policy': 'none'}}",
             orders[below(w, 4)], below(w, 4) == 0 ? "strict" : "skip", quotas[quota], placements[below(w, 4)],
             below(w, 2) == 0 ? "true" : "false", is_kept ? below(w, 3) : 0, nodes, owners);
}

static struct sched *new_sched(struct world *w)
{
    struct json_doc *doc;
    struct policy_config config;
    struct error error = json_text_read(&doc, "policy", w->text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&config, &root);
    if (error_is(error))
        complain(w, error_message(&error), JOB_NONE);
    json_doc_free(doc);
    struct sched *sched = sched_new(w->cluster, w->queues, &config, &error);
    assert_non_null(sched);
    return sched;
}

static void open_world(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed};
    random_stream_init(&w->stream, seed, "memos", 0);
    w->cluster = random_case_cluster(&w->stream);
    w->queues = queue_table_new();
    random_case_queues(&w->stream, w->queues, w->cluster, below(w, 2) == 0);
    write_policy(w);
    w->sched = new_sched(w);
    w->twin = new_sched(w);
}

static void close_world(struct world *w)
{
    sched_free(w->sched);
    sched_free(w->twin);
    queue_table_free(w->queues);
    cluster_free(w->cluster);
}

/* ---- A cycle of both ---- */

static void forget_all(struct sched *sched)
{
    for (uint32_t s = 0; s < sched->request_classes.count; s++)
        request_class_close(&sched->request_classes, s, 0);
    for (uint32_t l = 0; l < sched->pending.class_queue_count; l++) {
        pending_block(&sched->pending, l, QUEUE_NONE);
        pending_set_over_quota(&sched->pending, l, false);
    }
    queue_tree_all_stale(&sched->tree);
}

static void compare(const struct world *w, const struct decision *a, const struct decision *b)
{
    if (a->kind != b->kind || a->job != b->job || a->reason != b->reason || a->source != b->source ||
        a->piece_count != b->piece_count || a->id != b->id)
        complain(w, "who remembers decides otherwise", b->job);
    for (uint32_t p = 0; p < a->piece_count; p++)
        if (memcmp(&a->pieces[p], &b->pieces[p], sizeof *a->pieces) != 0)
            complain(w, "who remembers places otherwise", b->job);
}

static void cycle(struct world *w)
{
    const struct decision *decisions, *others;
    time_ns wake_at, other_wake_at;
    if (w->has_twin)
        forget_all(w->twin);
    size_t count = sched_cycle(w->sched, w->now, &decisions, &wake_at);
    size_t other_count = sched_cycle(w->twin, w->now, &others, &other_wake_at);
    if (count != other_count)
        complain(w, "who remembers decides more, or less", JOB_NONE);
    for (size_t i = 0; i < count; i++) {
        const struct decision *decision = &decisions[i];
        compare(w, decision, &others[i]);
        if (decision->kind == DECISION_START) {
            w->started[decision->job] = decision->id;
            w->state[decision->job] = STARTING;
        } else if (decision->kind == DECISION_REJECT) {
            w->state[decision->job] = OVER;
        }
    }
}

/* ---- Facts, told to both ---- */

/* What stands behind the fact is evaluated twice. */
#define BOTH(w, fact, ...)                                                                                             \
    do {                                                                                                               \
        fact((w)->sched, __VA_ARGS__);                                                                                 \
        fact((w)->twin, __VA_ARGS__);                                                                                  \
    } while (0)

static void submit(struct world *w)
{
    struct random_case_job_options options = {
        .max_groups = 2, .is_rigid = below(w, 3) > 0, .has_close = below(w, 3) == 0};
    if (w->job_count == JOBS)
        return;
    job_id id = w->job_count++;
    struct job job = random_case_job(&w->stream, w->cluster, w->queues->count, &options);
    memcpy(w->more[id], options.more, sizeof w->more[id]);
    if (job.more != NULL)
        job.more = w->more[id];
    job.id = id;
    job.submit = w->now;
    job.class = (uint8_t)below(w, JOB_CLASS_COUNT);
    w->state[id] = WAITING;
    BOTH(w, sched_job_submitted, &job, w->now);
}

static void about_job(struct world *w, job_id id)
{
    switch (w->state[id]) {
    case WAITING:
        if (below(w, 6) == 0) {
            BOTH(w, sched_job_cancelled, id, w->now);
            if (job_table_find(&w->sched->jobs, id) == SLOT_NONE)
                w->state[id] = OVER;
        }
        break;
    case STARTING:
        w->state[id] = RUNNING;
        BOTH(w, sched_job_started, id, w->started[id], w->now);
        break;
    case RUNNING:
        if (below(w, 3) == 0) {
            w->state[id] = OVER;
            BOTH(w, sched_job_ended, id, JOB_END_COMPLETED, false, w->now);
        } else if (below(w, 2) == 0) {
            w->state[id] = WAITING;
            BOTH(w, sched_job_evicted, id, MEMBERS_ALL, EVICT_SAVED, w->now);
        }
        break;
    default:
        break;
    }
}

static void change_queues(struct world *w)
{
    random_case_limits(&w->stream, w->queues, w->cluster);
    for (queue_id q = 1; q < w->queues->count; q++)
        if (below(w, 4) == 0)
            w->queues->queues[q].deserved[RESOURCE_GPU] = below(w, 12) * GPU_MILLI;
    BOTH(w, sched_queues_changed, w->queues, w->now);
}

static void change_node(struct world *w)
{
    node_id node = below(w, w->cluster->node_count);
    enum node_state state = below(w, 2) == 0 ? NODE_UP : NODE_CORDONED;
    BOTH(w, sched_node_changed, node, state, w->now);
}

static void happen(struct world *w)
{
    uint32_t what = below(w, 32);
    if (what < 8)
        submit(w);
    else if (what < 22 && w->job_count > 0)
        about_job(w, below(w, w->job_count));
    else if (what == 22)
        change_node(w);
    else if (what == 23 && below(w, 3) == 0)
        change_queues(w);
    else if (what < 26)
        w->now += (time_ns)below(w, 100) * TIME_NS_PER_S;
    else
        cycle(w);
}

static void live(uint64_t seed)
{
    struct world w;
    open_world(&w, seed);
    for (w.step = 0; w.step < STEPS; w.step++) {
        happen(&w);
        const char *broken = sched_check(w.sched);
        if (broken != NULL)
            complain(&w, broken, JOB_NONE);
    }
    if (sched_hash(w.sched) != sched_hash(w.twin))
        complain(&w, "the ledgers differ", JOB_NONE);
    close_world(&w);
}

static void test_memos(void **state)
{
    (void)state;
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? 3000 : 150;
    for (uint64_t seed = first; seed < first + count; seed++)
        live(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memos)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
