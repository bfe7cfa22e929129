/* policies/eviction/node_search.c, victims.c, plan.c: of random jobs on random nodes, those go for one that does not
 * fit whom a naive search names: on each node, in the order of admission reversed, as many as it takes, without those
 * who were not needed.  By node, that node goes where they hold least, and lose least; in order, the one that is
 * complete first. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"

enum { NODES = 5, GPUS = 4, CPUS = 8, MEMORY_GB = 16, JOBS = 40, GAINER = JOBS };
enum { DOMAINS = 3, CLIENTS_MAX = 3 };
enum who_shares { SHARING_ANYBODY, SHARING_GPU, SHARING_NODE, SHARINGS };

#define NOW SECONDS(10000)

#define SEARCHING                                                                                                      \
    "{'order': ['priority'], 'blocking': 'skip', 'quota': 'none', 'actions': "                                         \
    "['allocate', 'preempt'], 'preemption': {'policy': 'kill', 'victims': [], "                                        \
    "'search': '%s', 'min_runtime_s': 0, 'victims_max': 64}%s}"

static const char *const sharings[SHARINGS] = {
    "", ", 'sharing': {'policy': 'mps', 'clients_max': 3, 'trust': 'queue'}",
    (", 'sharing': {'policy': 'mps', 'clients_max': 3, 'trust': 'queue', 'isolation': 'node'}")};

struct view { /* of a node */
    int64_t gpu[GPUS], cpu, memory;
    int32_t clients[GPUS][DOMAINS], members[DOMAINS]; /* shares of the GPU; all on the node */
};

struct running {
    struct job job;
    struct piece piece;
    time_ns started;
};

struct world {
    struct random_stream stream;
    struct sched_case c;
    struct view nodes[NODES];
    struct running jobs[JOBS];
    uint32_t count;
    struct job preemptor;
    bool by_node;
    enum who_shares sharing;
};

struct offer {
    int64_t milli, loss;
    uint32_t count;
    uint32_t last; /* to be taken */
    bool goes[JOBS];
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return random_below(&w->stream, bound);
}

static const char nodes[] = "{'pools': [{'name': 'p', 'nodes': 5, 'gpus_per_node': 4, 'node_name': 'n%u', "
                            "'gpu_model': 'h100-80gb', 'cpus': 8, 'memory_gb': 16}]}";

static void ask(struct world *w, struct request *request)
{
    if (below(w, 2) == 0)
        request->gpu_milli = (uint16_t)(100 * (1 + below(w, 9)));
    else
        request->gpus = (uint16_t)below(w, GPUS + 1);
    request->cpu_milli = 500 * below(w, 8);
    request->memory_mib = 1024 * below(w, 8);
}

static void change(struct view *view, const struct running *job, int sign)
{
    for (uint32_t g = 0; g < GPUS; g++)
        view->gpu[g] += job->piece.gpu_mask >> g & 1 ? sign * (int64_t)job->piece.gpu_milli : 0;
    view->cpu += sign * (int64_t)job->job.first.request.cpu_milli;
    view->memory += sign * (int64_t)job->job.first.request.memory_mib;
    if (job->job.first.request.gpu_milli > 0)
        view->clients[__builtin_ctz(job->piece.gpu_mask)][job->job.queue - 1] -= sign;
    view->members[job->job.queue - 1] -= sign;
}

/* Those of other domains; their own are counted in *own. */
static int32_t others(const int32_t counts[DOMAINS], uint32_t domain, int32_t *own)
{
    int32_t count = 0;
    for (uint32_t d = 0; d < DOMAINS; d++)
        count += d == domain ? 0 : counts[d];
    *own = counts[domain];
    return count;
}

static bool admits(const struct world *w, const struct view *view, uint32_t gpu, uint32_t domain)
{
    int32_t own;
    return w->sharing == SHARING_ANYBODY || (others(view->clients[gpu], domain, &own) == 0 && own < CLIENTS_MAX);
}

static bool holds(const struct world *w, const struct view *view, const struct job *job)
{
    const struct request *request = &job->first.request;
    uint32_t whole = 0;
    int32_t own;
    if (w->sharing == SHARING_NODE && others(view->members, job->queue - 1, &own) > 0)
        return false;
    bool has_share = request->gpu_milli == 0;
    for (uint32_t g = 0; g < GPUS; g++) {
        whole += view->gpu[g] == GPU_MILLI;
        has_share |= view->gpu[g] >= request->gpu_milli && admits(w, view, g, job->queue - 1);
    }
    return whole >= request->gpus && has_share && view->cpu >= request->cpu_milli &&
           view->memory >= request->memory_mib;
}

/* Where it finds room: the first GPUs of a random node that have it. */
static void place(struct world *w, struct running *job)
{
    const struct request *request = &job->job.first.request;
    node_id node = below(w, NODES);
    if (!holds(w, &w->nodes[node], &job->job))
        return;
    job->piece = (struct piece){
        .node = node, .gpu_milli = request->gpus > 0 ? GPU_MILLI : request->gpu_milli, .member_count = 1};
    if (w->sharing != SHARING_ANYBODY && request->gpu_milli > 0)
        job->piece.share = SHARE_MPS;
    uint32_t wanted = request->gpu_milli > 0 ? 1 : request->gpus;
    for (uint32_t g = 0; g < GPUS && wanted > 0; g++)
        if (w->nodes[node].gpu[g] >= job->piece.gpu_milli &&
            (request->gpus > 0 || admits(w, &w->nodes[node], g, job->job.queue - 1))) {
            job->piece.gpu_mask |= (uint16_t)(1u << g);
            wanted--;
        }
    change(&w->nodes[node], job, -1);
    sched_job_adopted(w->c.sched, &job->job, &job->piece, 1, job->started, NOW);
    w->count++;
}

static void open_world(struct world *w, uint64_t seed)
{
    static const char *const names[DOMAINS] = {"a", "b", "c"};
    char policy[512];
    struct queue_table *queues = queue_table_new();
    *w = (struct world){.by_node = seed % 2 == 0, .sharing = (enum who_shares)(seed / 2 % SHARINGS)};
    random_stream_init(&w->stream, seed, "offers", 0);
    for (uint32_t d = 0; d < DOMAINS; d++)
        queue_table_add(queues, text_of(names[d]), QUEUE_ROOT);
    snprintf(policy, sizeof policy, SEARCHING, w->by_node ? "node" : "ordered", sharings[w->sharing]);
    sched_case_open(&w->c, sched_case_cluster(nodes), queues, policy);
    for (node_id n = 0; n < NODES; n++)
        w->nodes[n] = (struct view){.cpu = CPUS * 1000, .memory = MEMORY_GB * 1024};
    for (node_id n = 0; n < NODES; n++)
        for (uint32_t g = 0; g < GPUS; g++)
            w->nodes[n].gpu[g] = GPU_MILLI;
    for (uint32_t tries = 0; tries < 3 * JOBS && w->count < JOBS; tries++) {
        struct running *job = &w->jobs[w->count];
        *job = (struct running){.job = sched_case_job(w->count, 1, 0, (int32_t)below(w, 4)),
                                .started = NOW - SECONDS(10 * below(w, 50))};
        job->job.is_preemptible = below(w, 6) != 0;
        job->job.checkpoint.restart = SECONDS(below(w, 3));
        job->job.queue = 1 + below(w, DOMAINS);
        ask(w, &job->job.first.request);
        place(w, job);
    }
    w->preemptor = sched_case_job(GAINER, 1, 0, 2 + (int32_t)below(w, 3));
    w->preemptor.queue = 1 + below(w, DOMAINS);
    ask(w, &w->preemptor.first.request);
}

/* Who is given up before whom: of lower priority, then the later id. */
static bool goes_before(const struct running *a, const struct running *b)
{
    return a->job.priority != b->job.priority ? a->job.priority < b->job.priority : a->job.id > b->job.id;
}

static bool make_offer(const struct world *w, node_id node, struct offer *offer)
{
    struct view view = w->nodes[node];
    uint32_t order[JOBS], count = 0, taken = 0;
    *offer = (struct offer){0};
    for (uint32_t j = 0; j < w->count; j++) {
        const struct running *job = &w->jobs[j];
        if (job->piece.node != node || !job->job.is_preemptible || job->job.priority >= w->preemptor.priority)
            continue;
        uint32_t at = count++;
        for (; at > 0 && goes_before(job, &w->jobs[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
    while (taken < count && !holds(w, &view, &w->preemptor))
        change(&view, &w->jobs[order[taken++]], 1);
    if (!holds(w, &view, &w->preemptor))
        return false;
    offer->last = order[taken - 1]; /* there is one: without him it did not fit */
    while (taken-- > 0) {
        const struct running *job = &w->jobs[order[taken]];
        int64_t milli = __builtin_popcount(job->piece.gpu_mask) * (int64_t)job->piece.gpu_milli;
        change(&view, job, -1);
        if (holds(w, &view, &w->preemptor))
            continue;
        change(&view, job, 1);
        offer->goes[order[taken]] = true;
        offer->count++;
        offer->milli += milli;
        offer->loss += (NOW - job->started + job->job.checkpoint.restart) / GPU_MILLI * milli;
    }
    return true;
}

static bool is_better(const struct world *w, const struct offer *a, const struct offer *b)
{
    if (!w->by_node)
        return goes_before(&w->jobs[a->last], &w->jobs[b->last]);
    return a->milli != b->milli ? a->milli < b->milli : a->loss < b->loss;
}

static bool best_offer(const struct world *w, struct offer *best)
{
    bool is_found = false;
    for (node_id n = 0; n < NODES; n++) {
        struct offer offer;
        if (!make_offer(w, n, &offer))
            continue;
        if (!is_found || is_better(w, &offer, best))
            *best = offer;
        is_found = true;
    }
    return is_found;
}

static void complain(const struct world *w, uint64_t seed, const char *what)
{
    print_error("seed %llu, %u jobs: %s\n", (unsigned long long)seed, w->count, what);
    fail();
}

static void live(uint64_t seed)
{
    struct world w;
    struct offer best = {0};
    bool fits = false;
    open_world(&w, seed);
    for (node_id n = 0; n < NODES; n++)
        fits |= holds(&w, &w.nodes[n], &w.preemptor);
    bool is_found = !fits && best_offer(&w, &best);
    sched_case_submit(&w.c, w.preemptor, NOW);
    sched_case_cycle(&w.c, NOW);
    if (sched_case_count(&w.c, DECISION_EVICT) != best.count)
        complain(&w, seed, "more or fewer go");
    for (size_t i = 0; i < w.c.count; i++)
        if (w.c.decisions[i].kind == DECISION_EVICT && !best.goes[w.c.decisions[i].job])
            complain(&w, seed, "another goes");
    if (sched_case_count(&w.c, DECISION_START) != fits || sched_case_count(&w.c, DECISION_RESERVE) != is_found)
        complain(&w, seed, "it starts, or is promised space, when it should not, or not when it should");
    sched_case_close(&w.c);
}

TEST(test_offers)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? 50000 : 1500;
    for (uint64_t seed = first; seed < first + count; seed++)
        live(seed);
}
