/* Who shares a GPU with whom, under every sharing policy and isolation, against books that know only jobs and
 * decisions.
 *
 * A small world that leaves late, refuses, loses nodes and cuts GPUs drives the scheduler, which is saved and loaded
 * meanwhile.  What stands on a GPU, leaving members included, is looked at after each decision and each fact: one
 * kind, one trust domain where that is asked, no more clients than the cap, no more than the GPU. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/geometry/geometries.h"
#include "policies/policy_config.h"
#include "policies/quota/quota.h"
#include "policies/sharing/sharings.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"
#include "tests/support/spoil.h"

enum { JOBS = 70, TICKS = 160, PIECES = 12, GPUS = 4, CUTS = 16 };

enum state { NEW, WAITING, STARTING, RUNNING, LEAVING, OVER };

struct entry {
    struct job job;
    enum state state;
    decision_id decision;
    struct piece pieces[PIECES];
    uint32_t piece_count;
};

struct cut {
    node_id node;
    uint32_t gpu;
    mig_layout_id layout;
};

struct world {
    uint64_t seed;
    struct random_stream stream, spoiling;
    struct cluster *cluster;
    struct queue_table *queues;
    struct policy_config policy;
    struct sched *sched;
    struct entry jobs[JOBS];
    struct cut cuts[CUTS];
    uint32_t cut_count;
    node_id down;
    time_ns now;
    uint64_t shared; /* GPUs seen with two clients of a kind that has one */
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return random_below(&w->stream, bound);
}

static void broken(const struct world *w, const char *what)
{
    fail_msg("seed %llu, %s on %s, isolation %u, at %lld: %s", (unsigned long long)w->seed, w->policy.sharing->name,
             w->policy.name, w->policy.sharing_config.isolation, (long long)w->now, what);
}

/* ---- The books ---- */

static queue_id team_of(const struct world *w, const struct job *job)
{
    queue_id chain[8], queue = job->queue;
    uint32_t depth = 0;
    for (; queue != QUEUE_ROOT; queue = w->queues->queues[queue].parent)
        chain[depth++] = queue;
    if (depth == 0)
        return QUEUE_ROOT;
    return w->policy.sharing_config.trust == TRUST_TOP                   ? chain[depth - 1]
           : w->policy.sharing_config.trust == TRUST_PARENT && depth > 1 ? chain[1]
                                                                         : chain[0];
}

static bool is_there(const struct entry *entry)
{
    return entry->state == STARTING || entry->state == RUNNING || entry->state == LEAVING;
}

static bool is_partitioned(const struct world *w, const struct piece *piece)
{
    const struct node_type *type = cluster_node_type(w->cluster, piece->node);
    return piece->gpu_milli < GPU_MILLI && piece->gpu_milli % (GPU_MILLI / MIG_SLICES) == 0 && type->recut_mask != 0 &&
           piece->share == SHARE_PLAIN;
}

/* Two pieces on one GPU that is not cut. */
static void check_pair(struct world *w, const struct entry *a, const struct piece *x, const struct entry *b,
                       const struct piece *y)
{
    const enum share_kind kind = x->share;
    const enum isolation isolation = (enum isolation)w->policy.sharing_config.isolation;
    if (kind != y->share)
        broken(w, "two kinds of shares on one GPU");
    const bool is_apart = kind == SHARE_MPS || isolation != ISOLATION_PROCESS;
    if (is_apart && team_of(w, &a->job) != team_of(w, &b->job))
        broken(w, "two domains share a GPU");
    w->shared += kind != SHARE_PLAIN;
}

static void check_gpu(struct world *w, node_id node, uint32_t gpu)
{
    const struct entry *others[4 * JOBS];
    const struct piece *on[4 * JOBS];
    uint32_t count = 0, milli = 0;
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t p = 0; is_there(&w->jobs[j]) && p < w->jobs[j].piece_count; p++) {
            const struct piece *piece = &w->jobs[j].pieces[p];
            if (piece->node != node || !(piece->gpu_mask >> gpu & 1))
                continue;
            milli += piece->gpu_milli;
            for (uint32_t i = 0; i < count && !is_partitioned(w, piece); i++)
                if (!is_partitioned(w, on[i]))
                    check_pair(w, &w->jobs[j], piece, others[i], on[i]);
            others[count] = &w->jobs[j];
            on[count++] = piece;
        }
    const uint32_t most = count == 0 ? 0 : w->policy.sharing_config.clients_max[on[0]->share];
    if (milli > GPU_MILLI)
        broken(w, "more than a GPU is given of it");
    if (most != 0 && count > most)
        broken(w, "more clients than the cap");
}

static void check_node(const struct world *w, node_id node)
{
    const struct entry *first = NULL;
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t p = 0; is_there(&w->jobs[j]) && p < w->jobs[j].piece_count; p++) {
            if (w->jobs[j].pieces[p].node != node)
                continue;
            if (first != NULL && team_of(w, &first->job) != team_of(w, &w->jobs[j].job))
                broken(w, "two domains on one node");
            first = &w->jobs[j];
        }
}

/* What the policy's summary says of kinds. */
static void check_kinds(const struct world *w, const struct entry *entry)
{
    const struct sharing_policy *policy = w->policy.sharing;
    const bool makes_slices = policy == &sharing_timeslice || policy == &sharing_trust;
    const bool makes_mps = policy == &sharing_mps || policy == &sharing_trust;
    for (uint32_t p = 0; p < entry->piece_count; p++) {
        const struct piece *piece = &entry->pieces[p];
        const enum share_kind kind = piece->share;
        const bool is_interactive = entry->job.class == JOB_INTERACTIVE;
        if (kind == SHARE_TIMESLICE && (!makes_slices || !is_interactive))
            broken(w, "a time-slice for one who computes");
        if (kind == SHARE_MPS && !makes_mps)
            broken(w, "MPS was not to be had");
        if (policy == &sharing_whole && piece->gpu_mask != 0 && piece->gpu_milli != GPU_MILLI)
            broken(w, "not a whole GPU");
        if (policy == &sharing_mps && piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI && kind != SHARE_MPS)
            broken(w, "a share without MPS");
        if (policy == &sharing_mig && piece->gpu_milli % (GPU_MILLI / MIG_SLICES) != 0)
            broken(w, "a share that is no instance");
    }
}

static void check_pieces(struct world *w)
{
    for (node_id n = 0; n < w->cluster->node_count; n++) {
        for (uint32_t g = 0; g < cluster_node_gpus(w->cluster, n); g++)
            check_gpu(w, n, g);
        if (w->policy.sharing_config.isolation == ISOLATION_NODE)
            check_node(w, n);
    }
    const char *complaint = sched_check(w->sched);
    if (complaint != NULL)
        broken(w, complaint);
    if (random_below(&w->spoiling, 16) == 0)
        spoil_books(w->sched, &w->spoiling);
}

/* ---- The world ---- */

static void make_job(struct world *w, uint32_t id)
{
    static const uint16_t shares[] = {3, 20, 100, 142, 250, 285, 500, 700, 999};
    struct entry *entry = &w->jobs[id];
    struct request *request = &entry->job.first.request;
    const uint32_t kind = below(w, 8);
    entry->job = job_default();
    entry->job.id = id;
    entry->job.queue = below(w, w->queues->count);
    entry->job.class = (uint8_t)below(w, JOB_CLASS_COUNT);
    entry->job.priority = (int32_t)below(w, 4) * 25 + 50;
    entry->job.is_preemptible = entry->job.priority < 100;
    entry->job.limit = below(w, 2) == 0 ? TIME_NEVER : SECONDS(1 + below(w, 60));
    entry->job.submit = w->now;
    entry->job.first.count = entry->job.first.min_count = 1 + below(w, 4) / 3 * below(w, 4);
    request->gpus = kind == 0 ? (uint16_t)(1 + below(w, 2)) : 0;
    request->mig = kind == 1 ? (uint8_t)(1 + below(w, MIG_7G)) : 0;
    request->gpu_memory_mib = kind == 2 ? 1024 * (1 + below(w, 30)) : 0;
    request->gpu_milli = kind > 2 && kind < 7 ? shares[below(w, sizeof shares / 2)] : 0;
    request->cpu_milli = 1000 * (below(w, 3) + (kind == 7));
    assert_null(job_complaint(&entry->job));
    entry->state = WAITING;
    sched_job_submitted(w->sched, &entry->job, w->now);
}

static void depart(struct world *w, struct entry *entry, bool is_end)
{
    const job_id id = entry->job.id;
    entry->state = is_end ? OVER : WAITING;
    entry->piece_count = 0;
    if (is_end)
        sched_job_ended(w->sched, id, JOB_END_COMPLETED, false, w->now);
    else
        sched_job_evicted(w->sched, id, MEMBERS_ALL, EVICT_LOST, w->now);
}

static void carry_out(struct world *w, const struct decision *decision)
{
    struct entry *entry = &w->jobs[decision->job];
    const bool is_refused = below(w, 12) == 0;
    switch (decision->kind) {
    case DECISION_START:
        if (is_refused) {
            sched_decision_refused(w->sched, decision->id, REFUSED_BUSY, w->now);
            return;
        }
        assert_in_range(decision->piece_count, 1, PIECES);
        memcpy(entry->pieces, decision->pieces, decision->piece_count * sizeof *entry->pieces);
        entry->piece_count = decision->piece_count;
        entry->decision = decision->id;
        entry->state = STARTING;
        check_kinds(w, entry);
        return;
    case DECISION_EVICT:
        if (is_refused)
            sched_decision_refused(w->sched, decision->id, REFUSED_STALE, w->now);
        else
            entry->state = LEAVING;
        return;
    case DECISION_REJECT:
        entry->state = OVER;
        return;
    case DECISION_REPARTITION:
        assert_in_range(w->cut_count, 0, CUTS - 1);
        w->cuts[w->cut_count++] = (struct cut){decision->pieces[0].node,
                                               (uint32_t)__builtin_ctz(decision->pieces[0].gpu_mask), decision->layout};
        return;
    case DECISION_RESERVE:
    case DECISION_RELEASE:
    case DECISION_NOTIFY:
        return;
    }
}

static void cycle(struct world *w)
{
    const struct decision *decisions;
    struct decision copy[4 * JOBS];
    struct piece pieces[4 * JOBS][PIECES];
    time_ns wake_at;
    const size_t count = sched_cycle(w->sched, w->now, &decisions, &wake_at);
    assert_in_range(count, 0, 4 * JOBS);
    for (size_t i = 0; i < count; i++) { /* they are borrowed until something is told */
        copy[i] = decisions[i];
        assert_in_range(copy[i].piece_count, 0, PIECES);
        if (copy[i].piece_count > 0)
            memcpy(pieces[i], decisions[i].pieces, copy[i].piece_count * sizeof **pieces);
        copy[i].pieces = pieces[i];
    }
    for (size_t i = 0; i < count; i++)
        carry_out(w, &copy[i]);
    check_pieces(w);
}

static void lose_node(struct world *w)
{
    w->down = below(w, w->cluster->node_count);
    sched_node_changed(w->sched, w->down, NODE_DOWN, w->now);
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t p = 0; p < w->jobs[j].piece_count; p++)
            if (w->jobs[j].pieces[p].node == w->down && is_there(&w->jobs[j])) {
                depart(w, &w->jobs[j], below(w, 2) == 0);
                break;
            }
}

static void happen(struct world *w)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        struct entry *entry = &w->jobs[j];
        if (entry->state == STARTING && below(w, 2) == 0) {
            entry->state = RUNNING;
            sched_job_started(w->sched, j, entry->decision, w->now);
        } else if (entry->state == LEAVING && below(w, 3) == 0) {
            depart(w, entry, below(w, 6) == 0);
        } else if (entry->state == RUNNING && below(w, 12) == 0) {
            depart(w, entry, true);
        }
    }
    while (w->cut_count > 0 && below(w, 2) == 0) {
        const struct cut *cut = &w->cuts[--w->cut_count];
        sched_gpu_changed(w->sched, cut->node, cut->gpu, cut->layout, w->now);
    }
    if (w->down != NODE_NONE && below(w, 4) == 0) {
        sched_node_changed(w->sched, w->down, NODE_UP, w->now);
        w->down = NODE_NONE;
    } else if (w->down == NODE_NONE && below(w, 40) == 0) {
        lose_node(w);
    }
}

static void open_world(struct world *w, uint64_t seed, const struct policy_config *policy)
{
    struct error error;
    *w = (struct world){.seed = seed, .policy = *policy, .down = NODE_NONE};
    random_stream_init(&w->stream, seed, "sharing", 0);
    random_stream_init(&w->spoiling, seed, "spoiling", 0);
    w->cluster =
        sched_case_cluster("{'pools': [{'name': 'a', 'nodes': 2, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', "
                           "'cpus': 64, 'memory_gb': 512, 'mig_recut': true}, {'name': 'b', 'nodes': 1, "
                           "'gpus_per_node': 2, 'gpu_model': 'a100-40gb', 'cpus': 12, 'memory_gb': 64}]}");
    w->queues = queue_table_new();
    const queue_id a = queue_table_add(w->queues, text_of("a"), QUEUE_ROOT);
    const queue_id b = queue_table_add(w->queues, text_of("b"), QUEUE_ROOT);
    queue_table_add(w->queues, text_of("a1"), a);
    const queue_id deep = queue_table_add(w->queues, text_of("a2"), a);
    queue_table_add(w->queues, text_of("a2x"), deep);
    queue_table_add(w->queues, text_of("b1"), b);
    w->sched = sched_new(w->cluster, w->queues, &w->policy, &error);
    assert_non_null(w->sched);
}

static uint64_t play(uint64_t seed, const struct policy_config *policy)
{
    static struct world world;
    struct world *w = &world;
    uint32_t made = 0;
    open_world(w, seed, policy);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        w->now = SECONDS(tick);
        happen(w);
        check_pieces(w);
        while (made < JOBS && below(w, 3) != 0)
            make_job(w, made++);
        cycle(w);
    }
    sched_free(w->sched);
    queue_table_free(w->queues);
    cluster_free(w->cluster);
    return w->shared;
}

static struct policy_config policy_of(uint32_t preset, uint32_t sharing, uint64_t seed)
{
    struct policy_config policy = sched_case_policy(policy_preset_texts[preset].text);
    policy.sharing = sharing_policies[sharing];
    policy.sharing_config = policy.sharing->defaults;
    policy.sharing_config.isolation = (uint8_t)(seed % 4);
    policy.sharing_config.trust = (uint8_t)(seed / 4 % 3);
    if (policy.sharing_config.clients_max[SHARE_MPS] != 0)
        policy.sharing_config.clients_max[SHARE_MPS] = (uint16_t)(2 + seed % 3);
    if (!policy.backfill_config.keeps) {
        policy.geometry = &geometry_on_demand;
        policy.geometry_config = geometry_on_demand.defaults;
    }
    return policy;
}

TEST(test_company)
{
    uint64_t shared = 0;
    const uint64_t seeds = test_is_full() ? 60 : 4;
    for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
        for (uint32_t s = 0; sharing_policies[s] != NULL; s++)
            for (uint64_t seed = 0; seed < seeds; seed++) {
                const struct policy_config policy = policy_of(preset, s, seed + 5 * s);
                if (policy.quota->homes.confines == NULL)
                    shared += play(1 + seed + 1000 * preset + 100 * s, &policy);
            }
    assert_true(shared > 1000);
}
