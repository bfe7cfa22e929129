/* A scheduler that is saved, freed and loaded at any moment lives as one that never was: two are told the same random
 * facts, one of them is loaded anew again and again, with cluster and queues of its own each time.  Their decisions
 * are the same to the byte, and so are the ledgers, the answers, and at every stop the bytes they are saved as.  What
 * the books' checks say of worlds with all these in them is asked besides: tests/support/spoil.h.
 *
 * Jobs have dependencies, arrays, shares, MIG, levels, sets, members above the minimum; policies are the presets and
 * random combinations of seams, among them all quotas with past usage, credits and guarantees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/booking/eligible.h"
#include "policies/policy_config.h"
#include "policies/reservation/planned_start.h"
#include "policies/state/sched_state.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/random_case.h"
#include "tests/support/reload.h"
#include "tests/support/spoil.h"

enum { JOBS = 140, STEPS = 500, OPEN_MAX = 512, COPIES = 3, ARRAYS = 3 };

struct open_decision {
    decision_id id;
    job_id job;
    enum decision_kind kind;
};

struct world {
    struct random_stream stream, spoiling;
    uint64_t seed;
    uint32_t step;
    struct random_case_policy policy;
    struct cluster *clusters[COPIES]; /* equal */
    struct queue_table *queues[COPIES];
    uint32_t copy; /* that the twin has */
    struct sched *sched, *twin;
    struct job_group more[RANDOM_CASE_GROUPS_MAX];
    struct job_set sets[2];
    struct job_after after[2];
    uint32_t job_count;
    struct open_decision open[OPEN_MAX];
    uint32_t open_count;
    time_ns now;
};

struct seen { /* that the worlds were worth it */
    uint64_t stops, starts, evictions, partial, reserved, rejected, held, borrowed, planned_start;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return random_below(&w->stream, bound);
}

static bool once_in(struct world *w, uint32_t times)
{
    return below(w, times) == 0;
}

static void complain(const struct world *w, const char *what)
{
    fail_msg("seed %llu, step %u: %s\npolicy %s", (unsigned long long)w->seed, w->step, what, w->policy.text);
}

/* What stands behind the fact is evaluated twice. */
#define BOTH(w, fact, ...)                                                                                             \
    do {                                                                                                               \
        fact((w)->sched, __VA_ARGS__);                                                                                 \
        fact((w)->twin, __VA_ARGS__);                                                                                  \
    } while (0)

/* ---- Opening ---- */

static const char mig_cluster[] =
    "{'levels': ['zone', 'rack', 'node'], 'pools': [{'nodes': 3, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', "
    "'max_tasks': 6, 'labels': {'zone': 'a', 'rack': 'r1'}, 'gpus_layout': [['1g.10gb', '1g.10gb', '2g.20gb', "
    "'3g.40gb'], ['7g.80gb'], [], ['4g.40gb']]},{'name': 'b', 'node_name': 'b%u', 'nodes': 4, 'gpus_per_node': 8, "
    "'labels': {'zone': 'a', 'rack': 'r2'}},{'name': 'c', 'node_name': 'c%u', 'nodes': 4, 'gpus_per_node': 4, "
    "'labels': {'zone': 'b', 'rack': 'r1'}}]}";

static struct cluster *cluster_of(const char *text)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "cluster", text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (cluster == NULL)
        fail_msg("%s", error_message(&error));
    json_doc_free(doc);
    return cluster;
}

static void write_policy(struct world *w)
{
    static const char *const orders[] = {"'fifo'",
                                         "'priority', 'elastic', 'fifo'",
                                         "'las'",
                                         "'multifactor'",
                                         "'fairtree', 'fifo'",
                                         "'srtf'",
                                         "'drf', 'fifo'",
                                         "'deadline', 'sjf'"};
    static const char *const quotas[] = {
        "'none'",
        "'limits'",
        "{'policy': 'fairshare', 'usage_weight': 1, 'half_life_s': 600, 'share_period_s': 60}",
        "{'policy': 'fairshare', 'usage_weight': 2, 'window_s': 1200}",
        "{'policy': 'cohort', 'reclaim_within_cohort': 'any', 'borrow_within_cohort': 'lower_priority'}",
        "{'policy': 'cohort', 'fair_sharing': true, 'reclaim_within_cohort': 'any'}",
        "'drf'",
        "'capacity'",
        "'proportion'",
        "{'policy': 'credits', 'credit_cap_s': 900, 'share_period_s': 60}",
        "'cells'",
    };
    static const char *const placements[] = {"best_fit", "worst_fit", "pack", "spread", "buddy"};
    static const char *const backfills[] = {"'easy', 'reservations': 3", "'conservative'",
                                            "'slurm', 'depth': 10, 'per_user': 4, 'window_s': 2000"};
    static const char *const defrags[] = {"'consolidation', 'moves_per_plan': 3",
                                          "'consolidation', 'moves_per_h': 5, 'wait_s': 20, 'gang_gpus_min': 2",
                                          "'drain', 'drain_nodes_ratio': 0.5, 'drain_expiry_s': 300",
                                          "'drain', 'drain_nodes_ratio': 1, 'wait_s': 20, 'drain_choice': 'soonest'",
                                          "'consolidation_and_drain', 'drain_nodes_ratio': 0.5, 'moves_per_h': 20",
                                          "'none'"};
    static const char *const evicts[] = {"checkpoint", "checkpoint", "kill", "none"};
    uint32_t quota = once_in(w, 3) ? 0 : below(w, 11);
    bool is_strict = once_in(w, 2), is_planned = quota == 0 && is_strict && !once_in(w, 4);
    uint32_t kept = once_in(w, 3);
    snprintf(w->policy.text, sizeof w->policy.text,
             "{'order': [%s], 'order_config': {'period_s': 60, 'half_life_s': 900}, 'blocking': '%s', 'quota': %s, "
             "'placement': '%s', 'backfill': {'policy': %s}, 'gang': {'policy': '%s', 'stale_after_s': 100}, "
             "'reservation_expiry_s': %u, 'inference_first': %s, 'headroom': {'gpus': %u, 'whole_nodes': %u, "
             "'owners_gpus': %u}, 'preemption': {'policy': '%s', 'search': '%s', 'within_queue': '%s', "
             "'replaces_victims': %s, 'victims_of_this_cycle': %s, 'grace_s': %u, 'min_runtime_s': %u, 'delay_s': %u, "
             "'attempts_per_cycle': %u, 'evictions_per_queue_h': %u, 'loss_ratio': %s, 'spares_inference': %s, "
             "'evictions_per_job_max': 5, 'rematch_cycles': 5}, 'defrag': {'policy': %s}}",
             orders[below(w, 8)], is_strict ? "strict" : "skip", quotas[quota], placements[below(w, 5)],
             is_planned ? backfills[below(w, 3)] : "'none'", once_in(w, 5) ? "hoard" : "all_or_nothing",
             200 + below(w, 2) * 1000, once_in(w, 2) ? "true" : "false", kept * below(w, 4), kept * below(w, 2),
             kept * below(w, 5), evicts[below(w, 4)], once_in(w, 2) ? "node" : "ordered",
             once_in(w, 2) ? "lower" : "lower_or_newer", once_in(w, 3) ? "true" : "false",
             once_in(w, 2) ? "true" : "false", below(w, 3) * 30, below(w, 3) * 50, below(w, 3) * 60, 1 + below(w, 4),
             below(w, 3) * 4, once_in(w, 3) ? "0.1" : "0", once_in(w, 2) ? "true" : "false",
             defrags[below(w, is_planned ? 2 : 6)]);
}

static void read_policy(struct world *w)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "policy", w->policy.text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&w->policy.config, &root);
    if (error_is(error))
        complain(w, error_message(&error));
    json_doc_free(doc);
}

/* The same of all copies. */
static void add_queues(struct world *w, bool with_limits)
{
    struct random_stream before = w->stream;
    for (int c = 0; c < COPIES; c++) {
        struct queue_table *table = w->queues[c];
        uint32_t known = table->count;
        w->stream = before;
        random_case_queues(&w->stream, table, w->clusters[c], with_limits);
        for (queue_id q = known; q < table->count; q++) {
            struct queue_spec *spec = &table->queues[q];
            spec->created = below(w, 5) * TIME_NS_PER_S;
            spec->usage_ppm = once_in(w, 3) ? below(w, 300000) : 0;
            spec->credit_gpu_ns = once_in(w, 3) ? below(w, 1000) * TIME_NS_PER_S : 0;
            spec->guarantee[RESOURCE_GPU] = once_in(w, 5) ? GPU_MILLI : 0;
            spec->lending_limit[RESOURCE_GPU] = once_in(w, 5) ? GPU_MILLI : QUOTA_UNLIMITED;
            spec->reclaim_min_runtime = once_in(w, 5) ? below(w, 60) * TIME_NS_PER_S : -1;
        }
    }
}

static void change_limits(struct world *w)
{
    struct random_stream before = w->stream;
    for (int c = 0; c < COPIES; c++) {
        w->stream = before;
        random_case_limits(&w->stream, w->queues[c], w->clusters[c]);
    }
}

static void open_world(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed, .copy = 1};
    random_stream_init(&w->stream, seed, "save", 0);
    bool is_mig = once_in(w, 3);
    struct random_stream before = w->stream;
    for (int c = 0; c < COPIES; c++) {
        w->stream = before;
        w->clusters[c] = is_mig ? cluster_of(mig_cluster) : random_case_cluster(&w->stream);
        w->queues[c] = queue_table_new();
    }
    add_queues(w, once_in(w, 2));
    while (w->sched == NULL) {
        struct error error = ERROR_OK;
        if (once_in(w, 2)) {
            random_case_policy(&w->stream, below(w, random_case_preset_count()), &w->policy);
        } else {
            write_policy(w);
            read_policy(w);
        }
        w->sched = sched_new(w->clusters[0], w->queues[0], &w->policy.config, &error);
        error_release(&error); /* the quotas do not suit the policy */
    }
    struct error error;
    w->twin = sched_new(w->clusters[1], w->queues[1], &w->policy.config, &error);
    assert_non_null(w->twin);
}

static void close_world(struct world *w)
{
    sched_free(w->sched);
    sched_free(w->twin);
    for (int c = 0; c < COPIES; c++) {
        queue_table_free(w->queues[c]);
        cluster_free(w->clusters[c]);
    }
}

/* ---- Stopping ---- */

/* What jobs waited for is kept over a stop as well. */
static void compare_waits(const struct world *w)
{
    struct wait_times a, b;
    for (job_id id = 0; id < w->job_count; id++) {
        const bool has_waited = sched_waited(w->sched, id, w->now, &a);
        if (sched_waited(w->twin, id, w->now, &b) != has_waited || a.mask != b.mask)
            complain(w, "it tells other waits after loading");
        for (uint32_t left = a.mask; left != 0; left &= left - 1)
            if (a.of[__builtin_ctz(left)] != b.of[__builtin_ctz(left)])
                complain(w, "it tells other times of waiting after loading");
    }
}

static void compare_answers(const struct world *w)
{
    struct sched_counts a, b;
    const char *broken = sched_check(w->twin);
    if (broken != NULL)
        complain(w, broken);
    sched_count(w->sched, &a);
    sched_count(w->twin, &b);
    if (a.pending_jobs != b.pending_jobs || a.reserved_jobs != b.reserved_jobs || a.running_jobs != b.running_jobs ||
        a.used_gpu_milli != b.used_gpu_milli || a.reserved_gpu_milli != b.reserved_gpu_milli ||
        a.releasing_gpu_milli != b.releasing_gpu_milli || a.cycles != b.cycles || a.attempts != b.attempts ||
        a.plans != b.plans || a.plans_tried != b.plans_tried || sched_hash(w->sched) != sched_hash(w->twin))
        complain(w, "it counts otherwise after loading");
    for (job_id id = 0; id < w->job_count; id++)
        if (sched_why(w->sched, id) != sched_why(w->twin, id))
            complain(w, "it gives another reason after loading");
    compare_waits(w);
}

static void stop_twin(struct world *w, struct seen *seen)
{
    w->copy = w->copy % (COPIES - 1) + 1;
    w->twin = reload(w->twin, w->clusters[w->copy], w->queues[w->copy], &w->policy.config);
    struct buffer a = reload_bytes(w->sched), b = reload_bytes(w->twin);
    if (!reload_is_same(&a, &b))
        complain(w, "its state is another than that of one who was never saved");
    buffer_release(&a);
    buffer_release(&b);
    compare_answers(w);
    seen->stops++;
    seen->held += eligible_dependency_count(w->sched, JOB_NONE) > 0;
    seen->planned_start += w->sched->planned_starts->count > 0;
    for (queue_id q = 0; q < w->sched->pending.leaf_queue_count; q++)
        seen->borrowed += w->sched->pending.leaf_queues[q].over_quota_count > 0;
}

/* ---- A cycle of both ---- */

static void compare_decisions(const struct world *w, const struct decision *a, const struct decision *b)
{
    if (a->kind != b->kind || a->job != b->job || a->for_job != b->for_job || a->reason != b->reason ||
        a->source != b->source || a->grace != b->grace || a->is_partial != b->is_partial ||
        a->piece_count != b->piece_count || a->id != b->id)
        complain(w, "it decides otherwise after loading");
    for (uint32_t p = 0; p < a->piece_count; p++)
        if (memcmp(&a->pieces[p], &b->pieces[p], sizeof *a->pieces) != 0)
            complain(w, "it places otherwise after loading");
}

static void note_decision(struct world *w, const struct decision *decision, struct seen *seen)
{
    seen->starts += decision->kind == DECISION_START;
    seen->evictions += decision->kind == DECISION_EVICT;
    seen->reserved += decision->kind == DECISION_RESERVE;
    seen->rejected += decision->kind == DECISION_REJECT;
    seen->partial += decision->is_partial;
    if (decision->kind == DECISION_START || decision->kind == DECISION_EVICT) {
        if (w->open_count == OPEN_MAX)
            complain(w, "too many decisions are open");
        w->open[w->open_count++] = (struct open_decision){decision->id, decision->job, decision->kind};
    }
}

static void cycle(struct world *w, struct seen *seen)
{
    const struct decision *decisions, *others;
    time_ns wake_at, other_wake_at;
    size_t count = sched_cycle(w->sched, w->now, &decisions, &wake_at);
    size_t other_count = sched_cycle(w->twin, w->now, &others, &other_wake_at);
    if (count != other_count || wake_at != other_wake_at)
        complain(w, "it decides more or less, or wakes at another time, after loading");
    for (size_t i = 0; i < count; i++) {
        compare_decisions(w, &decisions[i], &others[i]);
        note_decision(w, &decisions[i], seen);
    }
}

/* ---- Facts, told to both ---- */

static void add_wishes(struct world *w, struct job *job)
{
    uint32_t levels = w->clusters[0]->level_count;
    if (levels > 0 && once_in(w, 4))
        job->topology.required = (uint8_t)(1 + below(w, levels));
    if (levels > 0 && once_in(w, 4))
        job->topology.preferred = (uint8_t)levels;
    if (levels > 0 && once_in(w, 3)) { /* the cluster with MIG */
        job->first.request = (struct request){.mig = (uint8_t)(1 + below(w, 4))};
    }
    if (job->group_count == 2 && once_in(w, 2)) {
        w->sets[0] = (struct job_set){.name = "a", .parent = SET_NONE, .min_members = job->first.min_count};
        w->sets[1] = (struct job_set){.name = "b", .parent = SET_NONE, .min_members = w->more[0].min_count};
        w->more[0].set = 1;
        w->sets[1].topology.required = levels > 0 ? (uint8_t)(1 + below(w, levels)) : 0;
        job->set_count = 2;
        job->sets = w->sets;
    }
    for (; job->after_count < 2 && job->id > 0 && once_in(w, 9); job->after_count++)
        w->after[job->after_count] = (struct job_after){below(w, job->id), (uint8_t)below(w, AFTER_NOT_OK + 1)};
    job->after = job->after_count > 0 ? w->after : NULL;
    job->array = once_in(w, 4) ? 1 + below(w, ARRAYS) : 0;
    job->array_max = job->array == ARRAYS ? 0 : job->array;
}

static struct job next_job(struct world *w)
{
    struct random_case_job_options options = {
        .max_groups = RANDOM_CASE_GROUPS_MAX, .is_rigid = once_in(w, 2), .has_close = once_in(w, 3)};
    struct job job = random_case_job(&w->stream, w->clusters[0], w->twin->tree.count, &options);
    memcpy(w->more, options.more, sizeof w->more);
    if (job.more != NULL)
        job.more = w->more;
    job.id = w->job_count++;
    job.submit = w->now;
    job.user = below(w, 7);
    job.class = (uint8_t)below(w, JOB_CLASS_COUNT);
    job.is_held = once_in(w, 10);
    job.estimate = once_in(w, 2) ? (1 + below(w, 900)) * TIME_NS_PER_S : TIME_NEVER;
    job.limit = once_in(w, 2) ? (1 + below(w, 900)) * TIME_NS_PER_S : job.limit;
    job.deadline = once_in(w, 3) ? w->now + below(w, 3000) * TIME_NS_PER_S : TIME_NEVER;
    job.grace = once_in(w, 4) ? TIME_NS_PER_S : 0;
    job.attained_gpu_ns = once_in(w, 4) ? below(w, 9000) * TIME_NS_PER_S : 0;
    add_wishes(w, &job);
    const char *complaint = job_complaint(&job);
    if (complaint != NULL)
        complain(w, complaint);
    return job;
}

static void submit(struct world *w)
{
    if (w->job_count == JOBS)
        return;
    struct job job = next_job(w);
    BOTH(w, sched_job_submitted, &job, w->now);
}

/* It was there before the scheduler came: one member of one GPU, on the last of a node. */
static void adopt(struct world *w, node_id node)
{
    uint16_t gpus = cluster_node_gpus(w->clusters[0], node);
    if (gpus == 0 || cluster_node_type(w->clusters[0], node)->layout_mask != 0)
        return;
    struct job job = job_default();
    job.id = w->job_count++;
    job.user = below(w, 7);
    job.queue = below(w, w->queues[0]->count);
    job.is_preemptible = once_in(w, 2);
    job.first.request.gpus = 1;
    struct piece piece = {
        .node = node, .gpu_mask = (uint16_t)(1u << (gpus - 1)), .gpu_milli = GPU_MILLI, .member_count = 1};
    w->now += 20 * TIME_NS_PER_S;
    BOTH(w, sched_job_adopted, &job, &piece, 1, w->now - 10 * TIME_NS_PER_S, w->now);
}

static void settle_decision(struct world *w)
{
    if (w->open_count == 0)
        return;
    uint32_t at = below(w, w->open_count);
    struct open_decision open = w->open[at];
    w->open[at] = w->open[--w->open_count];
    struct members all = {open.id, NODE_NONE};
    if (once_in(w, 12))
        BOTH(w, sched_decision_refused, open.id, REFUSED_STALE, w->now);
    else if (open.kind == DECISION_START)
        BOTH(w, sched_job_started, open.job, open.id, w->now);
    else
        BOTH(w, sched_job_evicted, open.job, all, EVICT_SAVED, w->now);
}

static bool is_booked(const struct world *w, job_id id)
{
    uint32_t slot = job_table_find(&w->sched->jobs, id);
    return slot != SLOT_NONE && w->sched->jobs.jobs[slot].is_booked;
}

static void about_job(struct world *w, job_id id)
{
    enum job_end end = once_in(w, 3) ? JOB_END_FAILED : JOB_END_COMPLETED;
    bool will_retry = once_in(w, 8);
    switch (below(w, 10)) {
    case 0:
        BOTH(w, sched_job_cancelled, id, w->now);
        break;
    case 1:
        BOTH(w, sched_job_evicted, id, MEMBERS_ALL, EVICT_LOST, w->now);
        break;
    case 2:
        if (is_booked(w, id))
            BOTH(w, sched_job_leaving, id, MEMBERS_ALL, w->now);
        break;
    case 3:
    case 4:
        BOTH(w, sched_job_released, id, w->now);
        break;
    case 5:
    case 6:
        BOTH(w, sched_job_checkpointed, id, w->now);
        break;
    default:
        BOTH(w, sched_job_ended, id, end, will_retry, w->now);
    }
}

static bool is_on(const struct sched_job *job, node_id node)
{
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->piece.node == node && sched_job_holding(job, i)->phase != HOLDING_CLAIMED)
            return true;
    return false;
}

static void change_node(struct world *w)
{
    node_id node = below(w, w->clusters[0]->node_count);
    enum node_state state = once_in(w, 2) ? NODE_UP : (enum node_state)below(w, NODE_ABSENT + 1);
    struct members there = {0, node};
    BOTH(w, sched_node_changed, node, state, w->now);
    for (job_id id = 0; id < w->job_count && state >= NODE_DOWN; id++) {
        uint32_t slot = job_table_find(&w->sched->jobs, id);
        if (slot != SLOT_NONE && is_on(&w->sched->jobs.jobs[slot], node))
            BOTH(w, sched_job_evicted, id, there, EVICT_LOST, w->now);
    }
}

/* Sometimes the twin is stopped while the table has grown and it was not told yet. */
static void change_queues(struct world *w, struct seen *seen)
{
    if (once_in(w, 2) && w->queues[0]->count < 30) {
        add_queues(w, false);
        if (once_in(w, 2))
            stop_twin(w, seen);
    } else {
        change_limits(w);
    }
    sched_queues_changed(w->sched, w->queues[0], w->now);
    sched_queues_changed(w->twin, w->queues[w->copy], w->now);
}

static void happen(struct world *w, struct seen *seen)
{
    uint32_t what = below(w, 40);
    if (what < 10)
        submit(w);
    else if (what < 16)
        settle_decision(w);
    else if (what < 20 && w->job_count > 0)
        about_job(w, below(w, w->job_count));
    else if (what == 20)
        change_node(w);
    else if (what == 21 && once_in(w, 4))
        change_queues(w, seen);
    else if (what < 25)
        w->now += below(w, 100) * TIME_NS_PER_S;
    else if (what < 33)
        stop_twin(w, seen);
    else
        cycle(w, seen);
}

static void live(uint64_t seed, struct seen *seen)
{
    static struct world w;
    open_world(&w, seed);
    random_stream_init(&w.spoiling, seed, "spoiling", 0);
    for (uint32_t i = below(&w, 3); i > 0 && i <= w.clusters[0]->node_count; i--)
        adopt(&w, i - 1);
    for (w.step = 0; w.step < STEPS; w.step++) {
        happen(&w, seen);
        if (w.step % 10 == 0)
            spoil_books(w.twin, &w.spoiling);
        if (sched_hash(w.sched) != sched_hash(w.twin))
            complain(&w, "the ledgers differ");
    }
    compare_answers(&w);
    close_world(&w);
}

static void test_random_facts(void **state)
{
    struct seen seen = {.stops = 0};
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    const uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    const uint64_t count = only != NULL ? 1 : test_is_full() ? 4000 : 120;
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        live(seed, &seen);
    print_message("%llu stops, %llu with dependencies, %llu with borrowers, %llu with forecasts\n",
                  (unsigned long long)seen.stops, (unsigned long long)seen.held, (unsigned long long)seen.borrowed,
                  (unsigned long long)seen.planned_start);
    print_message("%llu starts, %llu evictions, %llu growths and shrinks, %llu reservations, %llu "
                  "rejections\n",
                  (unsigned long long)seen.starts, (unsigned long long)seen.evictions, (unsigned long long)seen.partial,
                  (unsigned long long)seen.reserved, (unsigned long long)seen.rejected);
    if (count > 1) /* worlds in which nothing happens prove nothing */
        assert_true(seen.starts > 1000 && seen.evictions > 200 && seen.partial > 100 && seen.reserved > 100 &&
                    seen.rejected > 100 && seen.held > 1000 && seen.borrowed > 10 && seen.planned_start > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_facts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
