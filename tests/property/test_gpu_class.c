/* What is asked by class or claim is placed on exactly such pieces: random jobs on the shipped cluster with GPU
 * classes, each piece of each start checked against a table that is written by hand, and matches by the cluster's
 * domains. */
#include "tests/support/test.h"

#include "base/bits.h"
#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/policy_config.h"
#include "policies/sched.h"
#include "topologies/cluster_load.h"
#include "workloads/request/claim.h"

enum { SEEDS = 60, STEPS = 60, JOBS_MAX = STEPS, CLASSES = 7 };

/* The classes of topologies/gpu-classes.json: pools by their letters (the first of h100, Cut, racks, small), and the
 * milli of a GPU; mig: how many memory slices. */
static const struct offer {
    const char *name, *pools;
    uint32_t h100_milli, other_milli, slices;
} offers[CLASSES] = {
    {"h100-full", "hc", 1000, 1000, 0}, {"h100-mig-1g", "c", 0, 0, 1}, {"h100-mig-2g", "c", 0, 0, 2},
    {"h100-10gb", "hc", 125, 0, 0},     {"t4-shared", "s", 0, 250, 0}, {"big", "hcr", 1000, 1000, 0},
    {"notebook", "hcrs", 100, 100, 0},
};

struct asked {
    const struct offer *offer;
    uint32_t count; /* GPUs or pieces of one claim */
    char match;     /* 'v': nvlink, 'u': unit; else: none */
    bool is_claim;
    bool large; /* "min_memory_gb": 100 */
};

struct seen {
    uint32_t whole, shares, instances, slices, islands, rejected;
};

static char pool_letter(const struct cluster *cluster, node_id node)
{
    static const char letters[] = "hcrs"; /* in the order of the file */
    return letters[cluster->nodes[node].pool];
}

static void check_piece(const struct cluster *cluster, const struct asked *asked, const struct piece *piece,
                        struct seen *seen)
{
    const char pool = pool_letter(cluster, piece->node);
    const struct offer *offer = asked->offer;
    const uint32_t milli = pool == 'h' || pool == 'c' ? offer->h100_milli : offer->other_milli;
    const struct node_type *type = cluster_node_type(cluster, piece->node);
    assert_non_null(strchr(offer->pools, pool));
    assert_true(!asked->large || pool == 'r');
    if (offer->slices > 0) {
        const unsigned gpu = (unsigned)__builtin_ctz(piece->gpu_mask);
        assert_true(type->layout_mask >> gpu & 1);
        assert_int_equal(mig_slices((enum mig_profile_id)(type->layouts[gpu].profile[piece->mig_start] - 1)),
                         offer->slices);
        seen->instances++;
        return;
    }
    assert_int_equal(type->layout_mask & piece->gpu_mask, 0);
    assert_int_equal(piece->gpu_milli, milli);
    seen->whole += milli == 1000;
    seen->shares += milli < 1000;
}

/* All GPUs of the claim in one island, NVLink domain or unit. */
static void check_match(const struct cluster *cluster, const struct asked *asked, const struct decision *start,
                        struct seen *seen)
{
    const struct node *first = &cluster->nodes[start->pieces[0].node];
    uint32_t gpus = 0;
    for (uint32_t p = 0; p < start->piece_count; p++) {
        const struct node *node = &cluster->nodes[start->pieces[p].node];
        gpus += bits_count16(start->pieces[p].gpu_mask);
        if (asked->match == 'v')
            assert_int_equal(node->nvlink, first->nvlink);
        if (asked->match == 'u')
            assert_int_equal(node->unit, first->unit);
        if (asked->match == 0 && asked->is_claim && asked->offer->slices == 0 &&
            start->pieces[p].gpu_milli == GPU_MILLI)
            assert_ptr_equal(node, first);
    }
    if (asked->offer->slices == 0 && start->pieces[0].gpu_milli == GPU_MILLI)
        assert_int_equal(gpus, asked->count);
    seen->slices += asked->match != 0 && start->piece_count > 1;
    seen->islands += asked->match == 'v' && start->piece_count == 1 && asked->count > 1;
}

static struct asked draw(struct random_stream *stream)
{
    struct asked asked = {.offer = &offers[random_below(stream, CLASSES)],
                          .count = 1 + random_below(stream, 16),
                          .is_claim = random_below(stream, 3) > 0};
    const bool is_whole = asked.offer->h100_milli == 1000;
    if (asked.is_claim && is_whole)
        asked.match = "\0vu"[random_below(stream, 3)];
    asked.large = asked.is_claim && strcmp(asked.offer->name, "big") == 0 && random_below(stream, 2) == 0;
    if (asked.is_claim && is_whole && asked.match == 0)
        asked.count = 1 + asked.count % (asked.large ? 4 : 8);
    if (asked.match == 'v' && strcmp(asked.offer->name, "h100-full") == 0)
        asked.count = 1 + asked.count % 8;
    return asked;
}

/* As the readers do it. */
static struct job job_of(const struct cluster *cluster, const struct asked *asked)
{
    struct job job = job_default();
    if (asked->is_claim) {
        const struct claims claims = {.claim = {.class = text_of(asked->offer->name),
                                                .count = asked->count,
                                                .conditions.memory_mib = asked->large ? 100 * 1024 : 0,
                                                .match = text_of(asked->match == 'v'   ? "nvlink"
                                                                 : asked->match == 'u' ? "unit"
                                                                                       : NULL)},
                                      .count = 1};
        assert_null(claims_group(&claims, cluster, &job.first));
    } else {
        struct ask ask = {.gpus = asked->count};
        enum ask_field culprit;
        assert_null(ask_class(cluster_gpu_class_of(cluster, text_of(asked->offer->name)), &ask, &culprit));
        assert_null(ask_shape(&ask, &job, &culprit));
    }
    assert_null(job_complaint(&job));
    return job;
}

static void play(const struct cluster *cluster, uint64_t seed, struct seen *seen)
{
    struct asked asked[JOBS_MAX];
    struct random_stream stream;
    struct policy_config policy = policy_config_default();
    struct queue_table *queues = queue_table_new();
    struct error error = ERROR_OK;
    time_ns wake_at, now = 0;
    policy.is_strict = false;
    random_stream_init(&stream, seed, "classes", 0);
    struct sched *sched = sched_new(cluster, queues, &policy, &error);
    assert_non_null(sched);
    for (job_id id = 0; id < JOBS_MAX; id++, now += TIME_NS_PER_S) {
        const struct decision *decisions;
        asked[id] = draw(&stream);
        struct job job = job_of(cluster, &asked[id]);
        job.id = id;
        job.submit = now;
        sched_job_submitted(sched, &job, now);
        const size_t count = sched_cycle(sched, now, &decisions, &wake_at);
        for (size_t d = 0; d < count; d++) {
            const struct decision *decision = &decisions[d];
            seen->rejected += decision->kind == DECISION_REJECT;
            if (decision->kind != DECISION_START)
                continue;
            for (uint32_t p = 0; p < decision->piece_count; p++)
                check_piece(cluster, &asked[decision->job], &decision->pieces[p], seen);
            check_match(cluster, &asked[decision->job], decision, seen);
        }
    }
    sched_free(sched);
    queue_table_free(queues);
}

TEST(pieces_are_as_asked)
{
    struct cluster *cluster;
    struct seen seen = {0};
    struct error error = cluster_load(&cluster, "topologies/gpu-classes.json");
    assert_string_equal(error_message(&error), "");
    assert_int_equal(cluster->gpu_class_count, CLASSES);
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play(cluster, seed, &seen);
    assert_true(seen.whole > 0 && seen.shares > 0 && seen.instances > 0 && seen.slices > 0 && seen.islands > 0);
    cluster_free(cluster);
}
