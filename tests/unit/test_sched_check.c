/* policies/cycle/check.c, and the checks of retry queues and candidates: each book is broken in turn, and that is
 * noticed.  The other tests ask sched_check whether the scheduler keeps its books; here it is asked whether it would
 * tell. */
#include "tests/support/test.h"

#include "policies/allocate/allocate.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/state/candidates.h"
#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

/* Owners find 4 GPUs; grace, so that victims are on their way out for a while. */
static const char policy_text[] =
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'gang': {'policy': 'all_or_nothing', "
    "'stale_after_s': 6000}, 'headroom': {'owners_gpus': 4}, 'actions': ['allocate', 'consolidation', 'reclaim', "
    "'preempt', 'stale_gang'], 'preemption': {'policy': 'checkpoint', 'victims': ['cost'], 'search': 'node', "
    "'grace_s': 300, 'min_runtime_s': 1000, 'evictions_per_job_max': 3}}";

enum { GANG, FIRM, VICTIM, OLD, ELASTIC, YOUNG, HELD, CLAIMER, WAITS, WAITS_TOO, LIMITED, BORROWS };

struct fixture {
    struct sched_case c;
    queue_id own, other, full;
    struct sched *sched;
};

static struct job job_of(job_id id, queue_id queue, uint32_t count, uint16_t gpus, int32_t priority)
{
    struct job job = sched_case_job(id, count, gpus, priority);
    job.queue = queue;
    job.first.request.cpu_milli = 1000;
    job.first.request.memory_mib = 1024;
    return job;
}

static struct sched_job *job_at(struct fixture *f, job_id id)
{
    return &f->sched->jobs.jobs[job_table_find(&f->sched->jobs, id)];
}

/* One of everything: who runs, grows, leaves, is promised space, is stale, is held, and waits for one reason or
 * another. */
static void setup(struct fixture *f)
{
    struct queue_table *queues = queue_table_new();
    f->own = queue_table_add(queues, TEXT("own"), QUEUE_ROOT);
    f->other = queue_table_add(queues, TEXT("other"), QUEUE_ROOT);
    f->full = queue_table_add(queues, TEXT("full"), f->other);
    queues->queues[f->own].deserved[RESOURCE_GPU] = 24 * GPU_MILLI;
    queues->queues[f->full].limit[RESOURCE_GPU] = GPU_MILLI;
    sched_case_open(&f->c, cluster_uniform_new(6, 4), queues, policy_text);
    f->sched = f->c.sched;
    struct job jobs[] = {
        job_of(GANG, f->own, 2, 4, 50), job_of(FIRM, f->own, 1, 4, 50),    job_of(VICTIM, f->own, 1, 4, 20),
        job_of(OLD, f->own, 1, 3, 60),  job_of(ELASTIC, f->own, 2, 1, 55),
    };
    jobs[FIRM].is_preemptible = false;
    jobs[VICTIM].checkpoint.duration = SECONDS(100);
    jobs[ELASTIC].first.min_count = 1;
    for (job_id id = GANG; id <= ELASTIC; id++)
        sched_case_submit(&f->c, jobs[id], 0);
    sched_case_start(&f->c, 0);
    for (int64_t at = 1; at < 4; at++)
        sched_case_start(&f->c, SECONDS(at));
    sched_case_submit(&f->c, job_of(YOUNG, f->own, 1, 1, 10), SECONDS(800));
    sched_case_start(&f->c, SECONDS(800));
    const struct job_after after = {GANG, AFTER_OK};
    struct job held = job_of(HELD, f->own, 1, 1, 50);
    held.after = &after;
    held.after_count = 1;
    sched_case_submit(&f->c, held, SECONDS(900));
    /* The gang loses half; what is left is stale. */
    node_id lost = sched_job_holding(job_at(f, GANG), 0)->piece.node;
    sched_job_leaving(f->sched, GANG, (struct members){0, lost}, SECONDS(900));
    sched_job_evicted(f->sched, GANG, (struct members){0, lost}, EVICT_LOST, SECONDS(900));
    sched_node_changed(f->sched, lost, NODE_CORDONED, SECONDS(900));
    sched_case_submit(&f->c, job_of(CLAIMER, f->own, 1, 4, 40), SECONDS(1100));
    sched_case_submit(&f->c, job_of(WAITS, f->own, 1, 4, 30), SECONDS(1100));
    sched_case_submit(&f->c, job_of(WAITS_TOO, f->own, 1, 4, 30), SECONDS(1100));
    struct job limited = job_of(LIMITED, f->full, 2, 1, 90);
    limited.class = JOB_INFERENCE; /* what is kept is kept for it: only its queue's limit holds it up */
    sched_case_submit(&f->c, limited, SECONDS(1100));
    sched_case_submit(&f->c, job_of(BORROWS, f->other, 1, 1, 50), SECONDS(1100));
    sched_case_cycle(&f->c, SECONDS(1100));
    sched_case_cycle(&f->c, SECONDS(1101));
}

static void teardown(struct fixture *f)
{
    assert_lawful(sched_check(f->sched));
    sched_case_close(&f->c);
}

/* Off by `delta`, each way of being wrong in turn. */
#define NOTICED(f, word, delta)                                                                                        \
    do {                                                                                                               \
        __typeof__(word) *const at_ = &(word);                                                                         \
        const __typeof__(word) kept_ = *at_;                                                                           \
        *at_ = (__typeof__(word))((__int128)kept_ + (delta));                                                          \
        if (sched_check((f)->sched) == NULL)                                                                           \
            fail_msg("%s off by %d is not noticed", #word, (int)(delta));                                              \
        *at_ = kept_;                                                                                                  \
        assert_lawful(sched_check((f)->sched));                                                                        \
    } while (0)
#define NOTICED_FLIPPED(f, word) NOTICED(f, word, (word) ? -1 : 1)
#define NOTICED_BOTH(f, word)                                                                                          \
    do {                                                                                                               \
        NOTICED(f, word, 1);                                                                                           \
        NOTICED(f, word, -1);                                                                                          \
    } while (0)

TEST(the_scene_is_rich)
{
    struct fixture f;
    setup(&f);
    assert_int_equal(f.sched->claims.count, 1);
    assert_int_equal(f.sched->lists.below_count, 1);
    assert_int_equal(f.sched->lists.held_count, 1);
    assert_int_equal(f.sched->lists.leaving_count, 1);
    assert_int_equal(job_at(&f, VICTIM)->state, SJOB_EVICTING);
    assert_int_equal(job_at(&f, ELASTIC)->fill, FILL_ABOVE);
    assert_true(f.sched->pending.class_queues[job_at(&f, BORROWS)->class_queue].is_over_quota);
    assert_int_equal(f.sched->pending.class_queues[job_at(&f, LIMITED)->class_queue].quota_block, f.full);
    assert_true(f.sched->pending.memos[job_at(&f, WAITS)->class_queue][PLAN_PREEMPT].eligible_at == SECONDS(1800));
    teardown(&f);
}

TEST(what_jobs_are_called)
{
    struct fixture f;
    setup(&f);
    NOTICED(&f, job_at(&f, OLD)->state, -1);
    NOTICED(&f, job_at(&f, CLAIMER)->state, 1);
    NOTICED(&f, job_at(&f, CLAIMER)->state, -1);
    NOTICED(&f, job_at(&f, HELD)->state, 1);
    NOTICED(&f, job_at(&f, VICTIM)->state, -1);
    NOTICED_FLIPPED(&f, job_at(&f, OLD)->is_booked);
    NOTICED_FLIPPED(&f, job_at(&f, CLAIMER)->is_booked);
    NOTICED_FLIPPED(&f, job_at(&f, OLD)->is_listed);
    NOTICED_FLIPPED(&f, job_at(&f, FIRM)->is_listed);
    NOTICED_FLIPPED(&f, job_at(&f, OLD)->is_below);
    NOTICED_FLIPPED(&f, job_at(&f, CLAIMER)->is_below);
    NOTICED(&f, job_at(&f, OLD)->fill, 1);
    NOTICED(&f, job_at(&f, OLD)->fill, -1);
    NOTICED(&f, job_at(&f, ELASTIC)->fill, -1);
    NOTICED(&f, job_at(&f, WAITS)->fill, 1);
    NOTICED_BOTH(&f, job_at(&f, OLD)->held_one);
    NOTICED(&f, job_at(&f, VICTIM)->held_one, 1);
    NOTICED_BOTH(&f, job_at(&f, WAITS)->rank[0]);
    NOTICED_BOTH(&f, job_at(&f, OLD)->rank[1]);
    NOTICED(&f, job_at(&f, WAITS)->ask, -1);
    NOTICED(&f, job_at(&f, WAITS)->class_queue, 1);
    NOTICED(&f, job_at(&f, WAITS)->id, 1);
    NOTICED_BOTH(&f, f.sched->jobs.facts[job_table_find(&f.sched->jobs, HELD)].after_left);
    NOTICED(&f, f.sched->jobs.facts[job_table_find(&f.sched->jobs, CLAIMER)].after_left, 1);
    NOTICED_BOTH(&f, job_at(&f, OLD)->list_position);
    teardown(&f);
}

TEST(what_waits_where)
{
    struct fixture f;
    setup(&f);
    struct pending *pending = &f.sched->pending;
    struct class_queue *class_queue = &pending->class_queues[job_at(&f, WAITS)->class_queue];
    NOTICED_BOTH(&f, class_queue->count);
    NOTICED_BOTH(&f, class_queue->leaf_queue);
    NOTICED_BOTH(&f, class_queue->request_class);
    NOTICED(&f, class_queue->busy_position, 1);
    NOTICED(&f, class_queue->class_position, 1);
    NOTICED(&f, pending->by_class_count[JOB_TRAINING], -1);
    NOTICED(&f, class_queue->heap[0].slot, job_table_find(&f.sched->jobs, WAITS) - class_queue->heap[0].slot);
    NOTICED_FLIPPED(&f, class_queue->is_over_quota);
    NOTICED_BOTH(&f, pending->leaf_queues[f.own].job_count);
    NOTICED_BOTH(&f, pending->job_count);
    NOTICED_BOTH(&f, pending->class_jobs[JOB_TRAINING]);
    NOTICED(&f, pending->class_jobs[JOB_INFERENCE], 1);
    NOTICED(&f, pending->class_queues[job_at(&f, BORROWS)->class_queue].owed_by, -1);
    NOTICED(&f, f.sched->headroom.owners_milli, -f.sched->headroom.owners_milli);
    NOTICED_FLIPPED(&f, f.sched->tree.queues[f.full].has_closed_class_queues);
    NOTICED_BOTH(&f, f.sched->tree.closing_count);
    NOTICED(&f, class_queue->class, 1);
    NOTICED_BOTH(&f, f.sched->tree.waits[QUEUE_ROOT].jobs);
    NOTICED_BOTH(&f, f.sched->tree.waits[f.full].jobs);
    NOTICED(&f, f.sched->tree.waits[QUEUE_ROOT].first, QUEUE_NONE - f.sched->tree.waits[QUEUE_ROOT].first);
    NOTICED_BOTH(&f, f.sched->request_classes.closed_count);
    NOTICED(&f, f.sched->tree.queues[f.own].demand[RESOURCE_GPU], 1);
    NOTICED(&f, f.sched->tree.queues[QUEUE_ROOT].demand[RESOURCE_MEMORY], -1);
    teardown(&f);
}

TEST(what_is_held)
{
    struct fixture f;
    setup(&f);
    struct ledger *ledger = f.sched->ledger;
    const struct piece *piece = &sched_job_holding(job_at(&f, OLD), 0)->piece;
    gpu_id gpu = f.c.cluster->nodes[piece->node].first_gpu + (uint32_t)__builtin_ctz(piece->gpu_mask);
    node_id left = sched_job_holding(job_at(&f, VICTIM), 0)->piece.node;
    NOTICED_BOTH(&f, ledger->gpus[gpu].holders);
    NOTICED(&f, ledger->gpus[gpu].free, 1);
    NOTICED(&f, ledger->gpus[gpu].coming, 1);
    NOTICED(&f, ledger->gpus[f.c.cluster->nodes[left].first_gpu].claimed, -1);
    NOTICED(&f, ledger->owner[gpu], 1);
    NOTICED(&f, ledger->keeps[gpu].non_preemptible_holders, 1);
    NOTICED(&f, f.sched->preemption_bound.unmovable[gpu], 1);
    NOTICED(&f, f.sched->preemption_bound.room[left], -1);
    NOTICED(&f, f.sched->preemption_bound.by_room[4], 1);
    NOTICED_BOTH(&f, ledger->nodes[piece->node].cpu_free);
    NOTICED_BOTH(&f, ledger->nodes[piece->node].memory_free);
    NOTICED_BOTH(&f, ledger->nodes[left].cpu_claimed);
    NOTICED_BOTH(&f, ledger->nodes[left].memory_claimed);
    NOTICED(&f, ledger->nodes[left].cpu_coming, 1);
    NOTICED(&f, ledger->nodes[left].memory_coming, 1);
    for (int r = 0; r < QUEUE_SUM_COUNT; r++) {
        NOTICED_BOTH(&f, ledger->sums[QUEUE_ROOT][r]);
        NOTICED_BOTH(&f, ledger->sums[f.own][r]);
    }
    NOTICED_BOTH(&f, ledger->used_milli);
    NOTICED_BOTH(&f, ledger->coming_milli);
    NOTICED_BOTH(&f, ledger->claimed_milli);
    NOTICED(&f, ledger->index->free_mask[piece->node], 1);
    NOTICED_FLIPPED(&f, ledger->index->is_listed[piece->node]);
    teardown(&f);
}

TEST(who_is_on_which_list)
{
    struct fixture f;
    setup(&f);
    NOTICED_BOTH(&f, f.sched->lists.held_count);
    NOTICED_BOTH(&f, f.sched->lists.booked_count);
    NOTICED_BOTH(&f, f.sched->claims.piece_milli);
    NOTICED(&f, f.sched->claims.count, -1);
    NOTICED(&f, f.sched->lists.below_count, -1);
    NOTICED(&f, f.sched->lists.below[0], job_table_find(&f.sched->jobs, OLD) - f.sched->lists.below[0]);
    NOTICED_BOTH(&f, f.sched->lists.leaving_count);
    NOTICED(&f, f.sched->lists.running[f.own].count, -1);
    NOTICED(&f, f.sched->lists.running[f.own].slots[0], 1);
    NOTICED(&f, f.sched->plan->node_mark[0], 1);
    NOTICED(&f, f.sched->plan->node_search.nodes[0].first, 1);
    NOTICED(&f, f.sched->plan->node_search.nodes[0].milli, 1);
    NOTICED(&f, f.sched->ledger->mark_depth, 1);
    NOTICED(&f, f.sched->ledger->log_count, 1);
    teardown(&f);
}

TEST(what_victims_cards_say)
{
    struct fixture f;
    setup(&f);
    struct victim_candidate *candidate = candidates_get(f.sched, job_table_find(&f.sched->jobs, OLD));
    NOTICED_FLIPPED(&f, candidate->is_non_preemptible);
    NOTICED_FLIPPED(&f, candidate->is_spent);
    NOTICED_FLIPPED(&f, candidate->is_claiming);
    NOTICED_FLIPPED(&f, candidate->is_starting);
    NOTICED_FLIPPED(&f, candidate->has_surplus);
    NOTICED_BOTH(&f, candidate->decided);
    NOTICED_BOTH(&f, candidate->decided_cycle);
    NOTICED_BOTH(&f, candidate->held_milli);
    NOTICED_BOTH(&f, candidate->growth_milli);
    NOTICED_BOTH(&f, candidate->lost_at_least);
    NOTICED_BOTH(&f, candidate->save_interval);
    NOTICED_BOTH(&f, candidate->unsaved_since);
    candidates_floor(f.sched, f.own);
    assert_lawful(sched_check(f.sched));
    NOTICED(&f, f.sched->candidates.of_queue[f.own].floor_gpu_ns, INT64_C(1) << 60);
    teardown(&f);
}

TEST(who_will_be_woken)
{
    struct fixture f;
    setup(&f);
    uint32_t class_queue = job_at(&f, WAITS)->class_queue;
    struct plan_memo *memo = &f.sched->pending.memos[class_queue][PLAN_PREEMPT];
    struct retry_queue *retry_queue = &f.sched->retry_queues[PLAN_PREEMPT];
    NOTICED_BOTH(&f, memo->sleep);
    NOTICED_BOTH(&f, memo->retry_change);
    NOTICED_BOTH(&f, memo->eligible_at);
    NOTICED_FLIPPED(&f, memo->awaits_start);
    NOTICED(&f, memo->state, MEMO_AWAKE - MEMO_ASLEEP);
    NOTICED(&f, memo->state, MEMO_ABSENT - MEMO_ASLEEP);
    NOTICED(&f, f.sched->pending.memos[class_queue][PLAN_CONSOLIDATE].state, MEMO_ASLEEP - MEMO_AWAKE);
    NOTICED(&f, f.sched->retry_queues[PLAN_CONSOLIDATE].awake_count, -1);
    NOTICED(&f, f.sched->retry_queues[PLAN_CONSOLIDATE].awake[0], 1);
    NOTICED(&f, retry_queue->by_time.count, -1);
    assert_true(retry_queue->by_change.count > 1);
    NOTICED(&f, retry_queue->by_change.at[0].key, 100);
    NOTICED(&f, retry_queue->by_change.at[retry_queue->by_change.count - 1].key, -100);
    teardown(&f);
}

/* Nothing is told for a day, while ranks are computed anew every 5 minutes and with them every plan is void: who sleeps
 * again and again is not kept once for each time. */
TEST(sleepers_do_not_pile_up)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['srtf'], 'blocking': 'skip', 'preemption': {'policy': 'kill', 'min_runtime_s': 0}}");
    struct job firm = sched_case_job(0, 1, 4, 50);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0);
    for (job_id id = 1; id < 4; id++)
        sched_case_submit(&c, sched_case_job(id, 1, (uint16_t)id, 50), 0);
    sched_case_start(&c, 0);
    for (int64_t at = 300; at < 86400; at += 300)
        sched_case_cycle(&c, SECONDS(at));
    for (int k = 0; k < PLAN_KIND_COUNT; k++)
        assert_in_range(c.sched->retry_queues[k].by_change.count, 0, 16);
    assert_int_equal(c.sched->retry_queues[PLAN_PREEMPT].is_used, true);
    sched_case_close(&c);
}
