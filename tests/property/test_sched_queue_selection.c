/* policies/queues/queue_selection.h, pending.h, queues.h: after random events in random queue trees, who goes next is
 * who a naive queue selection names, held anew from the root over shares divided anew, with a look at every waiting
 * job. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/queues/queue_selection.h"
#include "policies/quota/quotas.h"
#include "tests/support/interval.h"
#include "tests/support/quota_case.h"

enum { QUEUES = 14, SHAPES = 80, JOBS = 48, STEPS = 500, RANKS = 2, GPUS = 12 };

enum job_place { NOWHERE, WAITING, RUNNING };

struct world {
    struct random_stream stream;
    uint64_t seed;
    uint32_t step;
    struct quota_case c;     /* its tree is the one that is tested */
    struct queue_tree plain; /* the naive one: never touched, always divided anew */
    struct request_class_table request_classes;
    struct job_table jobs;
    struct pending pending;
    struct queue_selection_scratch scratch;
    job_id next_id;
    uint32_t slots[JOBS];
    enum job_place place[JOBS];
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return random_below(&w->stream, bound);
}

static void complain(const struct world *w, const char *what)
{
    print_error("seed %llu, step %u, quota %s: %s\n", (unsigned long long)w->seed, w->step, w->c.policy->name, what);
    fail();
}

/* ---- The world ---- */

/* Of some worlds the tree is deep, and jobs wait at its ends alone. */
static bool is_deep(const struct world *w)
{
    return w->seed % 3 == 1;
}

static queue_id parent_of(struct world *w, queue_id q)
{
    if (is_deep(w))
        return q - 1 - below(w, q < 3 ? q : 3);
    return below(w, 3) == 0 ? QUEUE_ROOT : below(w, q);
}

static void make_queues(struct world *w)
{
    for (queue_id q = 1; q < QUEUES; q++) {
        char name[16];
        snprintf(name, sizeof name, "q%u", q);
        quota_case_add(&w->c, name, parent_of(w, q), below(w, GPUS));
        struct queue_spec *spec = quota_case_spec(&w->c, q);
        spec->weight_milli[RESOURCE_GPU] = 500 * below(w, 4);
        spec->priority = (int32_t)(100 + below(w, 2));
        spec->created = below(w, 3);
    }
}

/* More than a set of request classes has bits; of some only the class differs. */
static void make_request_classes(struct world *w)
{
    for (uint32_t s = 0; s < SHAPES; s++) {
        struct job job = job_default();
        job.class = (uint8_t)below(w, JOB_CLASS_COUNT);
        job.first.request.gpus = (uint16_t)(1 + below(w, 4));
        job.first.request.cpu_milli = 500 * below(w, 3);
        job.first.count = job.first.min_count = 1 + below(w, 3);
        request_class_of(&w->request_classes, w->c.cluster, &job);
    }
}

static void open_world(struct world *w, uint64_t seed)
{
    static const struct quota_policy *const quotas[] = {&quota_fairshare, &quota_drf, &quota_limits, &quota_proportion,
                                                        &quota_cohort};
    enum { QUOTAS = sizeof quotas / sizeof *quotas };
    *w = (struct world){.seed = seed};
    random_stream_init(&w->stream, seed, "contest", 0);
    quota_case_init(&w->c, quotas[seed % QUOTAS], GPUS);
    w->c.config = (struct quota_config){
        .saturation_milli = 1000, .share_period = TIME_NS_PER_S, .fair_sharing = seed / QUOTAS % 4 == 0};
    make_queues(w);
    quota_case_ready(&w->c);
    w->plain = (struct queue_tree){.ledger = w->c.ledger, .quota = w->c.policy, .config = &w->c.config};
    queue_tree_update(&w->plain, w->c.table);
    queue_tree_set_capacity(&w->plain, w->c.capacity);
    if (w->c.policy->advance != NULL)
        w->c.policy->advance(&w->plain, 0, &w->c.next);
    request_class_table_init(&w->request_classes);
    make_request_classes(w);
    w->pending = (struct pending){
        .jobs = &w->jobs, .request_classes = &w->request_classes, .rank_count = RANKS, .is_strict = below(w, 3) == 0};
    pending_lines(&w->pending, QUEUES);
}

static void close_world(struct world *w)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (w->place[j] != NOWHERE)
            w->jobs.jobs[w->slots[j]].state = SJOB_PENDING;
    queue_selection_release(&w->scratch);
    pending_release(&w->pending);
    job_table_release(&w->jobs);
    request_class_table_release(&w->request_classes);
    queue_tree_release(&w->plain);
    quota_case_release(&w->c);
}

/* ---- Events ---- */

static void demand(struct world *w, const struct sched_job *job, int sign)
{
    const int64_t *ask = w->request_classes.at[job->request_class].charge;
    queue_tree_demand(&w->c.tree, job->queue, ask, sign);
    queue_tree_demand(&w->plain, job->queue, ask, sign);
    queue_tree_touch(&w->c.tree, job->queue);
}

static void wait(struct world *w, uint32_t j)
{
    uint32_t slot = job_table_add(&w->jobs, w->next_id++, 1);
    struct sched_job *job = &w->jobs.jobs[slot];
    job->state = SJOB_PENDING;
    bool has_long_class_queues = w->seed % 3 == 0;
    job->queue = below(w, has_long_class_queues ? 2 : QUEUES);
    job->request_class = job->ask = has_long_class_queues ? 0
                                    : below(w, 3) == 0    ? below(w, w->request_classes.count)
                                                          : below(w, 5);
    while (is_deep(w) && w->c.tree.queues[job->queue].first_child != QUEUE_NONE)
        job->queue = below(w, QUEUES);
    job->priority = (int32_t)below(w, 3);
    w->jobs.facts[slot].submit = below(w, 3);
    for (int r = 0; r < RANKS; r++)
        job->rank[r] = below(w, 4);
    demand(w, job, 1);
    job->class_queue = pending_class_queue(&w->pending, job->queue, job->ask, QUEUE_ROOT);
    pending_add(&w->pending, job->class_queue, slot);
    queue_selection_waiting(&w->c.tree, job->queue, 1);
    w->slots[j] = slot;
    w->place[j] = WAITING;
}

static void unwait(struct world *w, uint32_t j)
{
    struct sched_job *job = &w->jobs.jobs[w->slots[j]];
    if (pending_head(&w->pending, job->class_queue) == w->slots[j])
        pending_remove_head(&w->pending, job->class_queue);
    else
        pending_remove(&w->pending, job->class_queue, w->slots[j]);
    queue_selection_waiting(&w->c.tree, job->queue, -1);
    job->class_queue = CLASS_QUEUE_NONE;
}

static void start(struct world *w, uint32_t j)
{
    const struct sched_job *job = &w->jobs.jobs[w->slots[j]];
    unwait(w, j);
    quota_case_charge(&w->c, job->queue, w->request_classes.at[job->request_class].charge);
    queue_tree_touch_standing(&w->c.tree, job->queue);
    w->place[j] = RUNNING;
}

static void end(struct world *w, uint32_t j)
{
    const struct sched_job *job = &w->jobs.jobs[w->slots[j]];
    if (w->place[j] == WAITING)
        unwait(w, j);
    else
        quota_case_uncharge(&w->c, job->queue, w->request_classes.at[job->request_class].charge);
    demand(w, job, -1);
    queue_tree_touch_standing(&w->c.tree, job->queue);
    job_table_drop(&w->jobs, w->slots[j]);
    w->place[j] = NOWHERE;
}

static void about_class_queue(struct world *w)
{
    if (w->pending.class_queue_count == 0)
        return;
    uint32_t class_queue = below(w, w->pending.class_queue_count);
    queue_id line = w->pending.class_queues[class_queue].leaf_queue;
    if (below(w, 2) == 0)
        pending_block(&w->pending, class_queue, below(w, 2) == 0 ? line : QUEUE_NONE);
    else
        pending_set_over_quota(&w->pending, class_queue, below(w, 2) == 0);
    queue_tree_touch(&w->c.tree, line);
}

static void close_some(struct world *w)
{
    static const uint8_t closed[] = {
        0, 0, 0, REQUEST_CLASS_BLOCKED, REQUEST_CLASS_SPARES_OWNERS, REQUEST_CLASS_SPARES_NODES};
    request_class_close(&w->request_classes, below(w, 2) == 0 ? below(w, w->request_classes.count) : below(w, 5),
                        closed[below(w, sizeof closed)]);
}

static void rank_anew(struct world *w)
{
    for (uint32_t j = 0; j < JOBS; j++)
        for (int r = 0; r < RANKS && w->place[j] == WAITING; r++)
            w->jobs.jobs[w->slots[j]].rank[r] = below(w, 4);
    pending_reorder(&w->pending);
    queue_tree_all_stale(&w->c.tree);
}

static void resize(struct world *w)
{
    const int64_t capacity[RESOURCE_COUNT] = {(1 + below(w, 2 * GPUS)) * 1000, 16000, 16000};
    queue_tree_set_capacity(&w->c.tree, capacity);
    queue_tree_set_capacity(&w->plain, capacity);
    if (w->c.policy->advance != NULL) {
        w->c.policy->advance(&w->c.tree, 0, &w->c.next);
        w->c.policy->advance(&w->plain, 0, &w->c.next);
        queue_tree_all_stale(&w->c.tree);
    }
}

static void happen(struct world *w)
{
    uint32_t j = below(w, JOBS), what = below(w, 32);
    if (what < 20 && w->place[j] == NOWHERE)
        wait(w, j);
    else if (what < 14 && w->place[j] == WAITING)
        start(w, j);
    else if (what < 20)
        end(w, j);
    else if (what < 25)
        close_some(w);
    else if (what < 30)
        about_class_queue(w);
    else if (what == 30 && below(w, 4) == 0)
        rank_anew(w);
    else if (below(w, 4) == 0)
        resize(w);
}

/* ---- The naive queue selection ---- */

/* The waiting job of the line that goes first; of the open class queues alone, or those that are marked. */
static uint32_t naive_first(const struct world *w, queue_id line, bool only_open, const bool marked[])
{
    uint32_t best = SLOT_NONE;
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct sched_job *job = &w->jobs.jobs[w->slots[j]];
        if (w->place[j] != WAITING || job->queue != line ||
            (only_open && pending_is_closed(&w->pending, job->class_queue)) ||
            (marked != NULL && !marked[job->class_queue]))
            continue;
        if (best == SLOT_NONE || pending_compare(&w->pending, w->slots[j], best) < 0)
            best = w->slots[j];
    }
    return best;
}

static uint32_t naive_in_line(const struct world *w, queue_id line, const bool marked[])
{
    if (marked != NULL)
        return naive_first(w, line, false, marked);
    uint32_t first = naive_first(w, line, !w->pending.is_strict, NULL);
    return first != SLOT_NONE && pending_is_closed(&w->pending, w->jobs.jobs[first].class_queue) ? SLOT_NONE : first;
}

/* Who goes next of the queue and all below: a job of its own before all others. */
static uint32_t naive_next(struct world *w, queue_id queue, const bool marked[])
{
    uint32_t slot = naive_in_line(w, queue, marked);
    struct contender best = {.queue = QUEUE_NONE};
    if (slot != SLOT_NONE)
        return slot;
    for (queue_id c = 1; c < QUEUES; c++) {
        uint32_t other = w->c.table->queues[c].parent == queue ? naive_next(w, c, marked) : SLOT_NONE;
        if (other == SLOT_NONE)
            continue;
        struct contender contender = {.queue = c,
                                      .ask = w->request_classes.at[w->jobs.jobs[other].request_class].charge,
                                      .leaf = w->jobs.jobs[other].queue,
                                      .priority = w->jobs.jobs[other].priority,
                                      .submit = w->jobs.facts[other].submit};
        if (slot == SLOT_NONE || w->c.policy->compare(&w->plain, contender, best) < 0) {
            slot = other;
            best = contender;
        }
    }
    return slot;
}

static void divide_anew(struct world *w)
{
    queue_tree_all_stale(&w->plain);
    for (queue_id q = 1; q < QUEUES && w->c.policy->divide != NULL; q++)
        queue_tree_divide(&w->plain, q);
}

static uint32_t slot_of(const struct world *w, uint32_t class_queue)
{
    return class_queue == CLASS_QUEUE_NONE ? SLOT_NONE : pending_head(&w->pending, class_queue);
}

/* The best of some class queues, open or closed. */
static void check_best(struct world *w)
{
    bool *marked = calloc(w->pending.class_queue_count + 1, sizeof *marked);
    uint32_t *class_queues = calloc(w->pending.class_queue_count + 1, sizeof *class_queues), count = 0;
    uint32_t part = 1 + below(w, 4);
    assert_non_null(marked);
    assert_non_null(class_queues);
    for (uint32_t l = 0; l < w->pending.class_queue_count; l++)
        if (w->pending.class_queues[l].count > 0 && below(w, part) == 0) {
            marked[l] = true;
            class_queues[count++] = l;
        }
    for (queue_id q = 1; q < QUEUES; q++) /* as the queue selection of the cycle before has left them */
        queue_tree_divide(&w->c.tree, q);
    uint32_t best = queue_selection_best(&w->c.tree, &w->pending, class_queues, count, &w->scratch);
    if (slot_of(w, best) != (count == 0 ? SLOT_NONE : naive_next(w, QUEUE_ROOT, marked)))
        complain(w, "the best of some class queues is another");
    free(marked);
    free(class_queues);
}

static void check_shares(struct world *w)
{
    for (queue_id q = 1; q < QUEUES && w->c.policy->divide != NULL; q++)
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            if (queue_tree_share(&w->c.tree, q, r) != w->plain.queues[q].share[r])
                complain(w, "a share is not that of a full division");
}

static void check_classes(const struct world *w)
{
    for (uint8_t class = 0; class < JOB_CLASS_COUNT; class ++) {
        uint32_t best = SLOT_NONE;
        for (uint32_t j = 0; j < JOBS; j++) {
            const struct sched_job *job = &w->jobs.jobs[w->slots[j]];
            if (w->place[j] == WAITING && w->request_classes.at[job->request_class].class == class &&
                !pending_is_closed(&w->pending, job->class_queue) &&
                (best == SLOT_NONE || pending_compare(&w->pending, w->slots[j], best) < 0))
                best = w->slots[j];
        }
        if (slot_of(w, pending_next_of_class(&w->pending, class)) != best)
            complain(w, "the next of a class is another");
    }
}

static void live(uint64_t seed)
{
    struct world w;
    open_world(&w, seed);
    for (w.step = 0; w.step < STEPS; w.step++) {
        happen(&w);
        if (below(&w, 3) == 0)
            continue; /* several at once */
        uint32_t next = slot_of(&w, queue_selection_next(&w.c.tree, &w.pending));
        divide_anew(&w);
        if (next != naive_next(&w, QUEUE_ROOT, NULL))
            complain(&w, "another goes next");
        check_classes(&w);
        if (below(&w, 4) == 0)
            check_best(&w);
        if (below(&w, 8) == 0)
            check_shares(&w);
    }
    close_world(&w);
}

TEST(test_contest)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? 2000 : 150;
    for (uint64_t seed = first; seed < first + count; seed++)
        live(seed);
}
