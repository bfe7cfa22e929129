/* Shares that are asked by memory fit a GPU if and only if their memory does: the law of struct gpu_excess
 * (policies/ledger/ledger.h), in the ledger and in whole runs under every preset.
 *
 * The naive ledger adds up what each share takes of the memory, in thousandths of a MiB. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/ledger/ledger.h"
#include "policies/policy_config.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/run.h"

enum { SHARES_MAX = 48, STEPS = 400, GIB = 1024 };

static const uint32_t model_mib[] = {16 * GIB, 24 * GIB, 40 * GIB, 48 * GIB, 80 * GIB, 141 * GIB, 24564, 81559, 999, 7};

static struct request random_request(struct random_stream *random, uint32_t memory_mib)
{
    if (random_below(random, 3) == 0)
        return (struct request){.gpu_milli = (uint16_t)(1 + random_below(random, 999))};
    if (random_below(random, 2) == 0) { /* a part that is, or nearly is, one of a few equal ones */
        const uint32_t part = memory_mib / (1 + random_below(random, 12)), more = random_below(random, 3);
        return (struct request){.gpu_memory_mib = part + more > 1 ? part + more - 1 : 1};
    }
    return (struct request){.gpu_memory_mib = 1 + random_below(random, memory_mib)};
}

/* ---- The ledger ---- */

struct held_share {
    struct space space;
    int64_t memory; /* in thousandths of a MiB */
    bool is_leaving;
};

struct naive {
    struct held_share held[SHARES_MAX];
    uint32_t count;
    int64_t memory, milli;
};

static struct held_share share_of(const struct request *request, const struct gpu_model *model)
{
    struct held_share own = {.space = {.gpu_mask = 1,
                                       .gpu_milli = (uint16_t)request_gpu_milli(request, model),
                                       .gpu_memory_mib = request->gpu_memory_mib,
                                       .member_count = 1}};
    own.memory = request->gpu_memory_mib > 0 ? (int64_t)request->gpu_memory_mib * GPU_MILLI
                                             : (int64_t)request->gpu_milli * model->memory_mib;
    return own;
}

static void leave(struct ledger *ledger, struct naive *naive, uint32_t index)
{
    struct held_share *own = &naive->held[index];
    if (own->space.gpu_milli < GPU_MILLI && !own->is_leaving && naive->count % 2 == 0) {
        ledger_vacate(ledger, &own->space);
        own->is_leaving = true;
        return;
    }
    if (own->is_leaving)
        ledger_arrive(ledger, &own->space);
    else
        ledger_give(ledger, &own->space);
    naive->memory -= own->memory;
    naive->milli -= own->space.gpu_milli;
    naive->held[index] = naive->held[--naive->count];
}

/* In a trial all that leaves is gone, or some are. */
static void try_without(struct ledger *ledger, const struct naive *naive, const struct request *request,
                        const struct gpu_model *model)
{
    const uint64_t hash = ledger_hash(ledger);
    const size_t mark = ledger_mark(ledger);
    const struct held_share asked = share_of(request, model);
    int64_t memory = naive->memory, milli = naive->milli;
    ledger_foresee(ledger);
    for (uint32_t i = 0; i < naive->count; i++) {
        if (!naive->held[i].is_leaving && i % 3 > 0)
            continue;
        if (!naive->held[i].is_leaving)
            ledger_give(ledger, &naive->held[i].space);
        memory -= naive->held[i].memory;
        milli -= naive->held[i].space.gpu_milli;
    }
    const bool fits =
        memory + asked.memory <= (int64_t)model->memory_mib * GPU_MILLI && milli + asked.space.gpu_milli <= GPU_MILLI;
    const bool is_admitted = ledger->gpus[0].free >= asked.space.gpu_milli && ledger_gpu_admits(ledger, 0, request);
    assert_int_equal(is_admitted, fits);
    ledger_rollback(ledger, mark);
    assert_true(ledger_hash(ledger) == hash);
}

static void live(struct random_stream *random, struct cluster *cluster, uint32_t *crowded)
{
    const struct gpu_model *model = &cluster->models[0];
    struct ledger *ledger = ledger_new(cluster);
    struct naive naive = {0};
    for (uint32_t step = 0; step < STEPS; step++) {
        const struct request request = random_request(random, model->memory_mib);
        const struct held_share own = share_of(&request, model);
        const bool fits = naive.memory + own.memory <= (int64_t)model->memory_mib * GPU_MILLI &&
                          naive.milli + own.space.gpu_milli <= GPU_MILLI;
        const bool is_admitted = ledger->gpus[0].free >= own.space.gpu_milli && ledger_gpu_admits(ledger, 0, &request);
        if (is_admitted != fits)
            fail_msg("model of %u MiB, %u shares: %u MiB or %u milli are %s, and should%s", model->memory_mib,
                     naive.count, request.gpu_memory_mib, request.gpu_milli, is_admitted ? "admitted" : "refused",
                     fits ? "" : " not");
        *crowded += !fits;
        try_without(ledger, &naive, &request, model);
        if (fits && naive.count < SHARES_MAX) {
            ledger_take(ledger, &own.space);
            naive.memory += own.memory;
            naive.milli += own.space.gpu_milli;
            naive.held[naive.count++] = own;
        } else if (naive.count > 0) {
            leave(ledger, &naive, random_below(random, naive.count));
        }
        assert_lawful(ledger_check(ledger));
    }
    ledger_free(ledger);
}

TEST(shares_fit_if_their_memory_does)
{
    const struct test_seeds seeds = test_seeds(200, 5000);
    uint32_t crowded = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream random;
        struct cluster *cluster = cluster_uniform_new(1, 1);
        random_stream_init(&random, seed, "test_memory_shares", 0);
        cluster->models[0].memory_mib = random_below(&random, 2) == 0
                                            ? model_mib[random_below(&random, sizeof model_mib / sizeof *model_mib)]
                                            : 1 + random_below(&random, 200 * GIB);
        live(&random, cluster, &crowded);
        cluster_free(cluster);
    }
    assert_true(crowded > 10 * seeds.count);
}

/* ---- Runs ---- */

/* As many equal shares as the memory holds, and one more, on one GPU: all but one start at once. */
static void fill(const char *preset, uint32_t memory_mib, uint32_t share_mib)
{
    enum { JOBS_MAX = 40 };
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct run_setup setup = run_setup_default(cluster);
    struct run_job jobs[JOBS_MAX];
    const uint32_t fitting = memory_mib / share_mib;
    uint32_t at_once = 0;
    assert_true(fitting < JOBS_MAX);
    cluster->models[0].memory_mib = memory_mib;
    setup.policy = run_preset(preset);
    for (uint32_t i = 0; i <= fitting; i++) {
        jobs[i] = run_job_make(0, 600 * TIME_NS_PER_S, 1, 0);
        jobs[i].job.first.request = (struct request){.gpu_memory_mib = share_mib};
        jobs[i].job.limit = 600 * TIME_NS_PER_S;
    }
    struct run_log *log = run_jobs(&setup, jobs, fitting + 1);
    for (uint32_t i = 0; i <= fitting; i++)
        at_once += log->jobs[i].start < 600 * TIME_NS_PER_S;
    if (at_once != fitting)
        fail_msg("%s: %u shares of %u MiB run on a GPU of %u MiB, expected %u", preset, at_once, share_mib, memory_mib,
                 fitting);
    run_log_free(log);
    cluster_free(cluster);
}

TEST(every_preset_fills_a_gpu)
{
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++)
        for (uint32_t m = 0; m < 8; m++) {
            const uint32_t memory = model_mib[m];
            fill(preset->name, memory, memory / 3);
            fill(preset->name, memory, memory / 3 + 1);
            fill(preset->name, memory, memory / 2 + 1);
            fill(preset->name, memory, memory / 7);
        }
}
