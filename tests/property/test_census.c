/* policies/census/census.h -- what free GPUs are good for, against a look at each GPU for each kind of member, on
 * random clusters. */
#include <math.h>

#include "tests/support/test.h"

#include "policies/census/census.h"
#include "policies/jobs/request_class.h"
#include "tests/support/random_placement.h"

enum { SEEDS = 300, KINDS = 6, WAITING = 3 };

static bool takes_work(const struct ledger *ledger, node_id node)
{
    return ledger->node_state[node] == NODE_UP && !cluster_node_type(ledger->cluster, node)->is_tainted;
}

/* Milli of the GPU's free instances of the profile (its number plus 1). */
static uint32_t open_milli(const struct ledger *ledger, node_id node, uint32_t gpu, uint8_t mig)
{
    uint32_t milli = 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (ledger_mig_starts(ledger, node, gpu, (enum mig_profile_id)(mig - 1)) >> s & 1)
            milli += mig_slices((enum mig_profile_id)(mig - 1)) * MIG_SLICE_MILLI;
    return milli;
}

static uint32_t free_milli(const struct ledger *ledger, node_id node, uint32_t gpu)
{
    return ledger->gpus[ledger->cluster->nodes[node].first_gpu + gpu].free;
}

static uint32_t asked_of_each(const struct ledger *ledger, node_id node, const struct request *request)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    return request->gpus > 0 ? GPU_MILLI : request_class_share_milli(request, &ledger->cluster->models[type->model]);
}

/* What the member cannot use of the GPU, and why; the rest of it fits the node. */
static uint32_t naive_useless(const struct ledger *ledger, node_id node, uint32_t gpu, const struct request *request,
                              enum fragment_cause *cause)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const struct node_cell *cell = &ledger->nodes[node];
    const uint32_t free = free_milli(ledger, node, gpu);
    const uint32_t each = asked_of_each(ledger, node, request);
    const bool is_cut = ledger_has_layout(ledger, node, gpu);
    uint32_t enough = 0;
    *cause = FRAGMENT_NO_GPU;
    if (each == 0 && request->mig == 0)
        return free;
    *cause = FRAGMENT_TYPE;
    if ((request->gpu_models != 0 && !(request->gpu_models >> type->model & 1)) ||
        !random_placement_takes_nodes(request, type))
        return free;
    *cause = FRAGMENT_HOST;
    if (cell->cpu_free < request->cpu_milli || cell->memory_free < request->memory_mib)
        return free;
    *cause = FRAGMENT_GEOMETRY;
    if (is_cut || request->mig != 0)
        return is_cut && request->mig != 0 ? free - open_milli(ledger, node, gpu, request->mig) : free;
    for (uint32_t g = 0; g < type->gpu_count; g++)
        enough += !ledger_has_layout(ledger, node, g) && free_milli(ledger, node, g) >= each;
    *cause = request->gpus > enough ? FRAGMENT_GPU_COUNT : FRAGMENT_SHARE;
    return request->gpus > enough || free < each ? free : 0;
}

static bool has_company(struct ledger *ledger, node_id node, const struct typical_job *job)
{
    if (job->level == 0)
        return true;
    const struct cluster_level *level = &ledger->cluster->levels[job->level - 1];
    return level->domain[node] != DOMAIN_NONE &&
           random_placement_room(ledger, &job->request, level, level->domain[node]) >= job->together;
}

static void naive_fragments(struct ledger *ledger, const struct typical_jobs *typical, struct census *census)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        if (!takes_work(ledger, n))
            continue;
        for (uint32_t j = 0; j < typical->count; j++) {
            const struct typical_job *job = &typical->jobs[j];
            const bool is_alone = !has_company(ledger, n, job);
            for (uint32_t g = 0; g < cluster_node_gpus(ledger->cluster, n); g++) {
                enum fragment_cause cause;
                const uint32_t useless = naive_useless(ledger, n, g, &job->request, &cause);
                census->fragmented_milli[cause] += job->share * useless;
                if (is_alone)
                    census->fragmented_milli[FRAGMENT_TOPOLOGY] += job->share * (free_milli(ledger, n, g) - useless);
            }
        }
    }
}

static void naive_stranded(const struct ledger *ledger, const struct typical_jobs *waiting, struct census *census)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        int64_t least = INT64_MAX;
        for (uint32_t w = 0; w < waiting->count && takes_work(ledger, n); w++) {
            const struct request *request = &waiting->jobs[w].request;
            int64_t useless = 0;
            if (asked_of_each(ledger, n, request) == 0 && request->mig == 0)
                continue;
            for (uint32_t g = 0; g < cluster_node_gpus(ledger->cluster, n); g++) {
                enum fragment_cause cause;
                useless += naive_useless(ledger, n, g, request, &cause);
            }
            least = useless < least ? useless : least;
        }
        census->stranded_milli += least == INT64_MAX ? 0 : least;
    }
}

static bool is_asked(const struct typical_jobs *typical, uint32_t profile)
{
    for (uint32_t j = 0; j < typical->count; j++)
        if (typical->jobs[j].request.mig == profile + 1)
            return true;
    return false;
}

static void naive_rest(const struct ledger *ledger, const struct typical_jobs *typical, struct census *census)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        int64_t whole = 0;
        for (uint32_t g = 0; g < cluster_node_gpus(ledger->cluster, n); g++) {
            if (!takes_work(ledger, n))
                continue;
            const uint32_t free = free_milli(ledger, n, g);
            census->idle_milli += free;
            whole += free == GPU_MILLI && !ledger_has_layout(ledger, n, g);
            if (!ledger_has_layout(ledger, n, g))
                continue;
            census->mig_slices_unplaceable += free / MIG_SLICE_MILLI;
            for (uint8_t p = 0; p < MIG_PROFILE_COUNT; p++)
                if (is_asked(typical, p))
                    census->mig_slices_unplaceable -= open_milli(ledger, n, g, p + 1) / MIG_SLICE_MILLI;
        }
        for (uint32_t s = 0; s < CENSUS_GANG_SIZES; s++)
            census->gang_gpus[s] += whole / (1 << s) * (1 << s);
    }
}

static void check(const struct census *census, const struct census *naive, uint64_t seed)
{
    double sum = 0;
    for (int c = 0; c < FRAGMENT_CAUSE_COUNT; c++) {
        if (fabs(census->fragmented_milli[c] - naive->fragmented_milli[c]) > 1e-6)
            fail_msg("seed %d, cause %d: %f, not %f", (int)seed, c, census->fragmented_milli[c],
                     naive->fragmented_milli[c]);
        sum += census->fragmented_milli[c];
    }
    assert_true(sum <= (double)census->idle_milli + 1e-6);
    assert_int_equal(census->idle_milli, naive->idle_milli);
    assert_int_equal(census->stranded_milli, naive->stranded_milli);
    assert_int_equal(census->mig_slices_unplaceable, naive->mig_slices_unplaceable);
    for (uint32_t s = 0; s < CENSUS_GANG_SIZES; s++)
        assert_int_equal(census->gang_gpus[s], naive->gang_gpus[s]);
}

TEST(each_gpu_for_each_kind)
{
    double causes[FRAGMENT_CAUSE_COUNT] = {0};
    int64_t stranded = 0, slices = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "census", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        random_placement_load(&stream, ledger);
        struct typical_job kinds[KINDS], waits[WAITING];
        for (uint32_t k = 0; k < KINDS; k++)
            kinds[k] =
                (struct typical_job){random_placement_request(&stream), 1.0 / KINDS, 1 + random_below(&stream, 20),
                                     (uint8_t)random_below(&stream, cluster->level_count + 1)};
        for (uint32_t w = 0; w < WAITING; w++)
            waits[w] = (struct typical_job){.request = random_placement_request(&stream)};
        const struct typical_jobs typical = {kinds, KINDS, KINDS},
                                  waiting = {waits, WAITING, random_below(&stream, WAITING + 1)}, nobody = {0};
        struct census census, naive = {0};
        struct census_memo memo = {0};
        /* remembered from before: other jobs waited, and some of the space was free */
        census_take(&memo, ledger, &typical, &nobody, &census);
        random_placement_load(&stream, ledger);
        census_take(&memo, ledger, &typical, &waiting, &census);
        census_memo_release(&memo);
        naive_fragments(ledger, &typical, &naive);
        naive_stranded(ledger, &waiting, &naive);
        naive_rest(ledger, &typical, &naive);
        check(&census, &naive, seed);
        for (int c = 0; c < FRAGMENT_CAUSE_COUNT; c++)
            causes[c] += census.fragmented_milli[c];
        stranded += census.stranded_milli;
        slices += census.mig_slices_unplaceable;
        ledger_free(ledger);
        cluster_free(cluster);
    }
    for (int c = 0; c < FRAGMENT_CAUSE_COUNT; c++)
        assert_true(causes[c] > 0); /* each of them is seen */
    assert_true(stranded > 0 && slices > 0);
}

/* Without levels the causes of a cluster add up to what fragmentation_of says of its nodes. */
TEST(causes_add_up)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "sums", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        random_placement_load(&stream, ledger);
        struct typical_job kinds[KINDS];
        for (uint32_t k = 0; k < KINDS; k++)
            kinds[k] = (struct typical_job){random_placement_request(&stream), 1.0 / KINDS, 1, 0};
        const struct typical_jobs typical = {kinds, KINDS, KINDS}, nobody = {0};
        struct census census;
        double causes = 0, nodes = 0;
        struct census_memo memo = {0};
        census_take(&memo, ledger, &typical, &nobody, &census);
        census_memo_release(&memo);
        for (int c = 0; c < FRAGMENT_CAUSE_COUNT; c++)
            causes += census.fragmented_milli[c];
        for (node_id n = 0; n < cluster->node_count; n++) {
            const struct idle_view view = idle_view_of(ledger, n);
            nodes += takes_work(ledger, n) ? fragmentation_of(&view, &typical) : 0;
        }
        assert_true(fabs(causes - nodes) < 1e-6);
        assert_int_equal(census.stranded_milli, 0);
        ledger_free(ledger);
        cluster_free(cluster);
    }
}
