/* GPUs cut anew, against books kept from decisions alone.
 *
 * A random cluster, some of its GPUs partitioned, some whole, some that may not be cut; a random stream of requests
 * for instances, whole GPUs and shares; a world that takes its time to cut, or refuses.  What is told must be legal by
 * the listing of nvidia-smi mig -lgipp, written down here; who is placed must find what he asks; who waits though a
 * GPU could be cut for him, nothing forbidding it, is a fault; and a scheduler that is saved and loaded decides the
 * same. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/policy_config.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"
#include "tests/support/spoil.h"

enum { GUESTS_MAX = 400, NODES_MAX = 4, NODE_GPUS = 3, GPUS_MAX = NODES_MAX * NODE_GPUS, STEPS = 120 };

/* ---- What there may be: nvidia-smi mig -lgipp ------------------------------------------------- */

struct listing {
    uint8_t size, starts, most, compute;
};
static const struct listing listings[MIG_PROFILE_COUNT] = {
    [MIG_1G] = {1, 0x7f, 7, 1}, [MIG_1G_ME] = {1, 0x7f, 1, 1}, [MIG_1G_2MEM] = {2, 0x55, 4, 1},
    [MIG_2G] = {2, 0x15, 3, 2}, [MIG_3G] = {4, 0x11, 2, 3},    [MIG_4G] = {4, 0x01, 1, 4},
    [MIG_7G] = {8, 0x01, 1, 7}};

static uint8_t covered(uint32_t profile, uint32_t start)
{
    return (uint8_t)(((1u << listings[profile].size) - 1) << start);
}

static bool is_legal(const struct gpu_layout *layout)
{
    uint32_t counts[MIG_PROFILE_COUNT] = {0}, compute = 0;
    uint8_t taken = 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++) {
        if (layout->profile[s] == 0)
            continue;
        const uint32_t profile = layout->profile[s] - 1u;
        if (profile >= MIG_PROFILE_COUNT || !(listings[profile].starts >> s & 1) ||
            (taken & covered(profile, s)) != 0 || ++counts[profile] > listings[profile].most)
            return false;
        taken |= covered(profile, s);
        compute += listings[profile].compute;
    }
    return compute <= 7;
}

/* ---- The world -------------------------------------------------------------------------------- */

enum life { NEW, WAITS, RUNS, OVER };

struct guest {
    struct job job;
    enum life life;
    struct piece pieces[4];
    uint32_t piece_count;
};

struct gpu {
    bool is_partitioned, may_recut;
    struct gpu_layout layout, next;
    bool next_partitioned;
    decision_id cutting;     /* 0: it is as it is */
    time_ns done_at, cut_at; /* -1: never */
    uint8_t used;            /* slices; of a whole GPU: any share of it makes it 0xff */
    uint32_t milli;
};

struct world {
    struct sched_case c;
    struct random_stream stream, spoiling;
    struct policy_config policy;
    struct guest guests[GUESTS_MAX];
    uint32_t guest_count, nodes, cuts, refusals, tasks_of_several;
    struct gpu gpus[GPUS_MAX];
    time_ns now;
    bool is_down[NODES_MAX];
    const char *fault;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return random_below(&w->stream, bound);
}

static void blame(struct world *w, const char *fault)
{
    if (w->fault == NULL)
        w->fault = fault;
}

static struct gpu *gpu_of(struct world *w, const struct piece *piece, uint32_t index)
{
    return &w->gpus[w->c.cluster->nodes[piece->node].first_gpu + index];
}

static const char *const instances[] = {"[['1g.10gb','2g.20gb'],[],[]]", "[['7g.80gb'],['3g.40gb','3g.40gb'],[]]",
                                        "[['1g.10gb','1g.20gb','3g.40gb'],['4g.40gb'],[]]"};

static struct cluster *cluster_draw(struct world *w)
{
    struct buffer text = {0};
    w->nodes = 1 + below(w, NODES_MAX);
    buffer_string(&text, "{'name': 'c', 'pools': [");
    for (uint32_t n = 0; n < w->nodes; n++) {
        buffer_format(&text,
                      "%s{'name': 'p%u', 'nodes': 1, 'gpus_per_node': %d, 'gpu_model': 'h100-80gb', 'cpus': 32, "
                      "'memory_gb': 256",
                      n > 0 ? "," : "", n, NODE_GPUS);
        if (below(w, 2) == 0)
            buffer_format(&text, ", 'gpus_layout': %s", instances[below(w, 3)]);
        if (below(w, 3) > 0)
            buffer_format(&text, ", 'mig_recut': %s", below(w, 4) > 0 ? "true" : "false");
        buffer_char(&text, '}');
    }
    buffer_string(&text, "]}");
    struct cluster *cluster = sched_case_cluster(buffer_c_string(&text));
    buffer_release(&text);
    return cluster;
}

static void policy_draw(struct world *w, struct buffer *text)
{
    static const char *const needs[] = {"instances", "gpu", "node"};
#define EVICTING                                                                                                       \
    "'preemption': {'policy': 'kill', 'victims': ['smallest'], 'within_queue': "                                       \
    "'lower'}"
    static const char *const rests[] = {"{'order': ['fifo'], 'blocking': 'skip'",
                                        "{'order': ['priority', 'fifo'], 'blocking': 'skip', " EVICTING,
                                        "{'order': ['fifo'], 'blocking': 'strict', 'backfill': {'policy': 'easy'}"};
    buffer_string(text, rests[below(w, 3)]);
    buffer_format(text, ", 'geometry': {'policy': 'on_demand', 'needs': '%s', 'rest_s': %u}}", needs[below(w, 3)],
                  below(w, 2) * below(w, 100));
}

static void open_gpus(struct world *w)
{
    for (node_id n = 0; n < w->nodes; n++) {
        const struct node_type *type = cluster_node_type(w->c.cluster, n);
        for (uint32_t i = 0; i < NODE_GPUS; i++) {
            struct gpu *gpu = &w->gpus[n * NODE_GPUS + i];
            *gpu = (struct gpu){
                .is_partitioned = type->layout_mask >> i & 1, .may_recut = type->recut_mask >> i & 1, .cut_at = -1};
            if (gpu->is_partitioned)
                gpu->layout = type->layouts[i];
        }
    }
}

static void submit(struct world *w)
{
    struct guest *guest = &w->guests[w->guest_count];
    struct job job = sched_case_job(w->guest_count++, 1, 1, 40 + (int32_t)below(w, 20));
    struct request request = {.cpu_milli = 1000 * below(w, 8)};
    switch (below(w, 8)) {
    case 0:
        request.gpus = (uint16_t)(1 + below(w, NODE_GPUS));
        break;
    case 1:
        request.gpu_milli = (uint16_t)(100 + below(w, 800));
        break;
    default:
        request.mig = (uint8_t)(1 + below(w, MIG_PROFILE_COUNT));
    }
    job.first.request = request;
    job.first.count = job.first.min_count = 1 + (below(w, 6) == 0 ? below(w, 3) : 0);
    if (request.mig != 0 && job.first.count > 1 && below(w, 2) == 0) { /* a task of several */
        job.first.slice_members = job.first.count;
        job.first.slice_level = cluster_level_of(w->c.cluster, TEXT("node"));
    }
    assert_null(job_complaint(&job));
    *guest = (struct guest){.job = job, .life = WAITS};
    sched_case_submit(&w->c, job, w->now);
}

/* ---- What is told ------------------------------------------------------------------------------ */

static bool is_node_free(const struct world *w, node_id node)
{
    for (uint32_t i = 0; i < NODE_GPUS; i++)
        if (w->gpus[node * NODE_GPUS + i].used != 0)
            return false;
    return true;
}

/* What is in use keeps its instance. */
static bool keeps_used(const struct gpu *gpu, const struct gpu_layout *next)
{
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (gpu->layout.profile[s] != 0 && gpu->layout.profile[s] != next->profile[s] &&
            (gpu->used & covered(gpu->layout.profile[s] - 1u, s)) != 0)
            return false;
    return true;
}

static void take_cut(struct world *w, const struct decision *decision)
{
    const struct geometry_config *config = &w->policy.geometry_config;
    const struct piece *piece = &decision->pieces[0];
    struct gpu *gpu = gpu_of(w, piece, (uint32_t)__builtin_ctz(piece->gpu_mask));
    const bool is_partitioned = decision->layout != MIG_LAYOUT_WHOLE;
    struct gpu_layout next = {{0}};
    if (is_partitioned)
        next = mig_layout_get(decision->layout);
    if (!is_legal(&next))
        blame(w, "an illegal layout");
    if (!gpu->may_recut)
        blame(w, "a GPU is cut that may not be");
    if (gpu->cutting != 0)
        blame(w, "a GPU is cut while it is being cut");
    if (gpu->is_partitioned && is_partitioned ? !keeps_used(gpu, &next) : gpu->used != 0)
        blame(w, "something in use is cut");
    if ((config->needs == RECUT_GPU && gpu->used != 0) ||
        (config->needs == RECUT_NODE && !is_node_free(w, piece->node)))
        blame(w, "a GPU is cut beside what must not be there");
    if (gpu->cut_at >= 0 && w->now - gpu->cut_at < config->rest)
        blame(w, "a GPU is cut that has not rested");
    w->cuts++;
    gpu->cutting = decision->id;
    gpu->cut_at = w->now;
    gpu->next = next;
    gpu->next_partitioned = is_partitioned;
    gpu->done_at = w->now + SECONDS(below(w, 30));
}

static void take_piece(struct world *w, const struct guest *guest, const struct piece *piece, int sign)
{
    const struct request *request = &guest->job.first.request;
    for (uint32_t i = 0; i < NODE_GPUS; i++) {
        struct gpu *gpu = gpu_of(w, piece, i);
        if (!(piece->gpu_mask >> i & 1))
            continue;
        if (request->mig != 0) {
            const uint8_t slices = covered(request->mig - 1u, piece->mig_start);
            if (sign > 0 && (!gpu->is_partitioned || gpu->layout.profile[piece->mig_start] != request->mig ||
                             (gpu->used & slices) != 0))
                blame(w, "somebody is put on an instance that is not there, or not free");
            gpu->used ^= slices;
            continue;
        }
        if (sign > 0 && w->is_down[piece->node])
            blame(w, "somebody is put on a node that is down");
        if (sign > 0 && (gpu->is_partitioned || gpu->cutting != 0))
            blame(w, "somebody is put on a GPU that is not whole");
        gpu->milli = sign > 0 ? gpu->milli + piece->gpu_milli : gpu->milli - piece->gpu_milli;
        gpu->used = gpu->milli > 0 ? 0xff : 0;
        if (gpu->milli > GPU_MILLI)
            blame(w, "a GPU is given twice");
    }
}

static void leave(struct world *w, struct guest *guest, enum life life)
{
    for (uint32_t i = 0; i < guest->piece_count; i++)
        take_piece(w, guest, &guest->pieces[i], -1);
    guest->piece_count = 0;
    guest->life = life;
}

static void take_decision(struct world *w, const struct decision *decision)
{
    struct guest *guest = &w->guests[decision->job];
    switch (decision->kind) {
    case DECISION_START:
        guest->life = RUNS;
        for (uint32_t i = 0; i < decision->piece_count; i++) {
            take_piece(w, guest, &decision->pieces[i], 1);
            guest->pieces[guest->piece_count++] = decision->pieces[i];
            if (guest->job.first.slice_members > 0 && guest->pieces[i].node != guest->pieces[0].node)
                blame(w, "a task of several instances is on two nodes");
            w->tasks_of_several += i > 0 && guest->job.first.slice_members > 0;
        }
        break;
    case DECISION_EVICT:
        leave(w, guest, WAITS);
        break;
    case DECISION_REPARTITION:
        take_cut(w, decision);
        break;
    case DECISION_REJECT:
        guest->life = OVER;
        break;
    case DECISION_RESERVE:
    case DECISION_RELEASE:
    case DECISION_NOTIFY:
        break;
    }
}

/* ---- Who waits though he need not -------------------------------------------------------------- */

static uint64_t cpu_used(const struct world *w, node_id node)
{
    uint64_t used = 0;
    for (uint32_t g = 0; g < w->guest_count; g++)
        for (uint32_t i = 0; i < w->guests[g].piece_count; i++)
            if (w->guests[g].pieces[i].node == node)
                used += w->guests[g].pieces[i].member_count * (uint64_t)w->guests[g].job.first.request.cpu_milli;
    return used;
}

/* An instance of the profile could be made on the GPU as it is, by the rules of the policy. */
static bool could_make(const struct world *w, node_id node, const struct gpu *gpu, uint32_t profile)
{
    const struct geometry_config *config = &w->policy.geometry_config;
    const uint8_t used = gpu->used;
    uint32_t there = 0;
    if (w->is_down[node] || !gpu->may_recut || (!gpu->is_partitioned && used != 0) ||
        (config->needs == RECUT_GPU && used != 0) || (config->needs == RECUT_NODE && !is_node_free(w, node)) ||
        (gpu->cut_at >= 0 && w->now - gpu->cut_at < config->rest))
        return false;
    for (uint32_t s = 0; s < MIG_SLICES && gpu->is_partitioned; s++)
        there += gpu->layout.profile[s] == profile + 1 && (used & covered(profile, s)) != 0;
    for (uint32_t s = 0; s < MIG_SLICES && there < listings[profile].most; s++)
        if ((listings[profile].starts >> s & 1) && (used & covered(profile, s)) == 0)
            return true;
    return false;
}

/* Nothing is under way, no budget binds, no job stands in a line: a job that asks one possible instance has it. */
static void check_nobody_forgotten(struct world *w)
{
    if (w->policy.is_strict)
        return;
    for (gpu_id g = 0; g < w->nodes * NODE_GPUS; g++)
        if (w->gpus[g].cutting != 0)
            return;
    for (uint32_t j = 0; j < w->guest_count; j++) {
        const struct request *request = &w->guests[j].job.first.request;
        if (w->guests[j].life != WAITS || request->mig == 0 || w->guests[j].job.first.count != 1)
            continue;
        for (gpu_id g = 0; g < w->nodes * NODE_GPUS; g++)
            if (cpu_used(w, g / NODE_GPUS) + request->cpu_milli <= 32000 &&
                could_make(w, g / NODE_GPUS, &w->gpus[g], request->mig - 1u))
                blame(w, "somebody waits though a GPU could be cut for him");
    }
}

/* ---- Time -------------------------------------------------------------------------------------- */

static void finish_cuts(struct world *w)
{
    for (gpu_id g = 0; g < w->nodes * NODE_GPUS; g++) {
        struct gpu *gpu = &w->gpus[g];
        if (gpu->cutting == 0 || gpu->done_at > w->now)
            continue;
        const decision_id decision = gpu->cutting;
        gpu->cutting = 0;
        if (below(w, 10) == 0) {
            w->refusals++;
            sched_decision_refused(w->c.sched, decision, REFUSED_BUSY, w->now);
            continue;
        }
        gpu->is_partitioned = gpu->next_partitioned;
        gpu->layout = gpu->next;
        sched_gpu_changed(w->c.sched, g / NODE_GPUS, g % NODE_GPUS,
                          gpu->is_partitioned ? mig_layout_of(&gpu->layout) : MIG_LAYOUT_WHOLE, w->now);
    }
}

/* A node goes with all that is on it, or comes back. */
static void turn_node(struct world *w)
{
    const node_id node = below(w, w->nodes);
    w->is_down[node] = !w->is_down[node];
    sched_node_changed(w->c.sched, node, w->is_down[node] ? NODE_DOWN : NODE_UP, w->now);
    for (uint32_t j = 0; j < w->guest_count && w->is_down[node]; j++) {
        struct guest *guest = &w->guests[j];
        bool is_there = false;
        for (uint32_t i = 0; i < guest->piece_count; i++)
            is_there |= guest->pieces[i].node == node;
        if (!is_there)
            continue;
        leave(w, guest, WAITS);
        sched_job_evicted(w->c.sched, j, MEMBERS_ALL, EVICT_LOST, w->now);
    }
}

static void end_some(struct world *w)
{
    for (uint32_t j = 0; j < w->guest_count; j++) {
        struct guest *guest = &w->guests[j];
        if (guest->life == RUNS && below(w, 12) == 0) {
            leave(w, guest, OVER);
            sched_job_ended(w->c.sched, j, JOB_END_COMPLETED, false, w->now);
        } else if (guest->life == WAITS && below(w, 200) == 0) {
            guest->life = OVER;
            sched_job_cancelled(w->c.sched, j, w->now);
        }
    }
}

static void cycle(struct world *w)
{
    for (uint32_t again = 0; again < 3; again++) {
        const uint64_t before = sched_case_counts(&w->c).recuts;
        w->c.count = sched_cycle(w->c.sched, w->now, &w->c.decisions, &w->c.wake_at);
        if (sched_check(w->c.sched) != NULL)
            blame(w, sched_check(w->c.sched));
        for (size_t i = 0; i < w->c.count; i++)
            take_decision(w, &w->c.decisions[i]);
        const size_t count = w->c.count;
        struct decision *copy = calloc(count + 1, sizeof *copy);
        assert_non_null(copy);
        for (size_t i = 0; i < count; i++)
            copy[i] = w->c.decisions[i];
        for (size_t i = 0; i < count; i++) {
            if (copy[i].kind == DECISION_START)
                sched_job_started(w->c.sched, copy[i].job, copy[i].id, w->now);
            if (copy[i].kind == DECISION_EVICT)
                sched_job_evicted(w->c.sched, copy[i].job, (struct members){copy[i].id, NODE_NONE}, EVICT_LOST, w->now);
        }
        free(copy);
        if (sched_check(w->c.sched) != NULL)
            blame(w, sched_check(w->c.sched));
        if (random_below(&w->spoiling, 16) == 0)
            spoil_books(w->c.sched, &w->spoiling);
        if (count == 0 && before == sched_case_counts(&w->c).recuts)
            return;
    }
}

static const char *play(uint64_t seed, uint32_t totals[3])
{
    static struct world w;
    struct buffer policy = {0};
    memset(&w, 0, sizeof w);
    random_stream_init(&w.stream, seed, "geometry", 0);
    random_stream_init(&w.spoiling, seed, "spoiling", 0);
    struct cluster *cluster = cluster_draw(&w);
    policy_draw(&w, &policy);
    sched_case_open(&w.c, cluster, queue_table_new(), buffer_c_string(&policy));
    w.policy = sched_case_policy(buffer_c_string(&policy));
    open_gpus(&w);
    for (uint32_t step = 0; step < STEPS && w.fault == NULL; step++) {
        w.now += SECONDS(1 + below(&w, 20));
        end_some(&w);
        finish_cuts(&w);
        if (below(&w, 30) == 0)
            turn_node(&w);
        for (uint32_t n = below(&w, 4); n > 0 && w.guest_count < GUESTS_MAX; n--)
            submit(&w);
        cycle(&w);
        while (w.fault == NULL && w.c.wake_at == w.now + 1) { /* it goes on in the next instant */
            w.now++;
            cycle(&w);
        }
        if (w.fault == NULL)
            check_nobody_forgotten(&w);
    }
    totals[0] += w.cuts;
    totals[1] += w.refusals;
    totals[2] += w.tasks_of_several;
    sched_case_close(&w.c);
    buffer_release(&policy);
    return w.fault;
}

TEST(test_random_worlds)
{
    const uint32_t rounds = test_is_full() ? 5000 : 200;
    uint32_t totals[3] = {0};
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        const char *fault = play(seed, totals);
        if (fault != NULL)
            fail_msg("seed %llu: %s", (unsigned long long)seed, fault);
    }
    print_message("%u cuts, %u refused, %u instances beside others of a task\n", totals[0], totals[1], totals[2]);
    assert_true(totals[0] > 5 * rounds && 2 * totals[1] > rounds && totals[2] > rounds / 2);
}
