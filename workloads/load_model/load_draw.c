#include "workloads/load_model/load_draw.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "workloads/load_model/load_arrivals.h"
#include "workloads/synth/alias.h"

/* What the clients of a stream share. */
struct shared {
    const struct load_stream *stream;
    struct load_arrivals_plan arrivals; /* with the rate that is wanted */
    struct alias kinds, users;
    struct job *templates; /* by kind */
};

struct client {
    const struct shared *shared;
    uint32_t rank;
    time_ns next;
    uint32_t kind; /* of the last job; UINT32_MAX: none yet */
    struct load_arrivals arrivals;
    struct load_rank ranks; /* of run times */
    struct load_strata kinds;
    struct random_stream repeat, run_time, user, request;
};

struct load_draw {
    struct load_draw_plan plan;
    uint64_t made_count;
    struct shared *shared; /* by stream */
    struct client *clients;
    uint32_t client_count;
    uint32_t *heap; /* of clients that go on, by the next time, then by number */
    uint32_t heap_count;
    struct arena arena;
};

/* ---- Whose job comes next ---- */

static bool is_before(const struct load_draw *draw, uint32_t a, uint32_t b)
{
    const time_ns left = draw->clients[a].next, right = draw->clients[b].next;
    return left != right ? left < right : a < b;
}

static void sift_down(struct load_draw *draw, uint32_t at)
{
    uint32_t *heap = draw->heap;
    while (2 * at + 1 < draw->heap_count) {
        uint32_t child = 2 * at + 1;
        child += child + 1 < draw->heap_count && is_before(draw, heap[child + 1], heap[child]);
        if (!is_before(draw, heap[child], heap[at]))
            return;
        const uint32_t kept = heap[at];
        heap[at] = heap[child];
        heap[child] = kept;
        at = child;
    }
}

/* The first client has a new time; without one it leaves. */
static void heap_settle(struct load_draw *draw)
{
    if (draw->clients[draw->heap[0]].next == TIME_NEVER)
        draw->heap[0] = draw->heap[--draw->heap_count];
    sift_down(draw, 0);
}

static void heap_init(struct load_draw *draw)
{
    draw->heap = arena_alloc_array(&draw->arena, draw->client_count, uint32_t);
    for (uint32_t i = 0; i < draw->client_count; i++)
        if (draw->clients[i].next != TIME_NEVER)
            draw->heap[draw->heap_count++] = i;
    for (uint32_t i = draw->heap_count / 2; i-- > 0;)
        sift_down(draw, i);
}

/* ---- Making ---- */

static void zipf_init(struct alias *alias, const struct load_zipf *zipf, struct arena *arena)
{
    double *weights = mem_zalloc(zipf->count, sizeof *weights);
    for (uint32_t i = 0; i < zipf->count; i++)
        weights[i] = load_zipf_share(zipf, i);
    alias_init(alias, arena, weights, zipf->count);
    mem_free(weights);
}

static void shared_init(struct shared *shared, const struct load_stream *stream, double rate_factor,
                        struct arena *arena)
{
    double *weights = mem_zalloc(stream->kind_count, sizeof *weights);
    shared->stream = stream;
    shared->arrivals = stream->arrivals;
    shared->arrivals.jobs_per_day *= rate_factor;
    shared->templates = arena_alloc_array(arena, stream->kind_count, struct job);
    for (uint32_t i = 0; i < stream->kind_count; i++) {
        enum ask_field culprit;
        struct job *job = &shared->templates[i];
        *job = job_default();
        const char *complaint = ask_shape(&stream->kinds[i].ask, job, &culprit);
        assert(complaint == NULL && "load_model_read has checked it");
        (void)complaint;
        job->class = stream->class;
        weights[i] = stream->kinds[i].weight;
    }
    alias_init(&shared->kinds, arena, weights, stream->kind_count);
    mem_free(weights);
    if (stream->users.count > 0)
        zipf_init(&shared->users, &stream->users, arena);
}

static void client_init(struct client *client, const struct shared *shared, uint32_t rank,
                        const struct load_draw_plan *plan)
{
    const char *name = shared->stream->name;
    const uint64_t entity = hash_bytes(name, strlen(name), 0);
    const uint64_t own = entity + rank * UINT64_C(0x9E3779B97F4A7C15);
    client->shared = shared;
    client->rank = rank;
    client->kind = UINT32_MAX;
    load_arrivals_init(&client->arrivals, &shared->arrivals, plan->seed, entity, rank);
    load_strata_init(&client->kinds, plan->seed, "load.kind", own);
    random_stream_init(&client->repeat, plan->seed, "load.repeat", own);
    load_rank_init(&client->ranks, &shared->stream->memory, true, plan->seed, "load.rank", own);
    random_stream_init(&client->run_time, plan->seed, "load.run_time", own);
    random_stream_init(&client->user, plan->seed, "load.user", own);
    random_stream_init(&client->request, plan->seed, "load.request", own);
    client->next = load_arrivals_next(&client->arrivals, plan->until);
}

static uint32_t client_count(const struct load_stream *stream)
{
    return stream->arrivals.clients.count > 0 ? stream->arrivals.clients.count : 1;
}

struct load_draw *load_draw_new(const struct load_model *model, const struct load_draw_plan *plan)
{
    struct load_draw *draw = mem_zalloc(1, sizeof *draw);
    uint32_t at = 0;
    draw->plan = *plan;
    draw->plan.until = plan->until < TIME_NS_MAX ? plan->until : TIME_NS_MAX;
    for (uint32_t i = 0; i < model->stream_count; i++)
        draw->client_count += client_count(&model->streams[i]);
    draw->shared = arena_alloc_array(&draw->arena, model->stream_count, struct shared);
    draw->clients = arena_alloc_array(&draw->arena, draw->client_count, struct client);
    for (uint32_t i = 0; i < model->stream_count; i++) {
        const struct load_stream *stream = &model->streams[i];
        shared_init(&draw->shared[i], stream, plan->rate_factor, &draw->arena);
        for (uint32_t rank = 0; rank < client_count(stream); rank++)
            client_init(&draw->clients[at++], &draw->shared[i], rank, &draw->plan);
    }
    heap_init(draw);
    return draw;
}

void load_draw_free(struct load_draw *draw)
{
    if (draw == NULL)
        return;
    for (uint32_t i = 0; i < draw->client_count; i++)
        load_arrivals_release(&draw->clients[i].arrivals);
    arena_release(&draw->arena);
    mem_free(draw);
}

/* ---- Drawing ---- */

static time_ns whole_ms(time_ns time)
{
    return time - time % TIME_NS_PER_MS;
}

static uint32_t kind_draw(struct client *client)
{
    const double repeat = client->shared->stream->memory.repeat;
    const bool repeats = repeat > 0 && client->kind != UINT32_MAX && random_uniform(&client->repeat) < repeat;
    return repeats ? client->kind : alias_pick(&client->shared->kinds, load_strata_next(&client->kinds));
}

static double run_time_draw(struct client *client, const struct load_kind *kind)
{
    const double rank = load_rank_next(&client->ranks); /* moves on whether or not the kind uses it */
    if (distribution_has_quantile(&kind->run_time))
        return distribution_quantile(&kind->run_time, rank);
    return distribution_draw(&kind->run_time, load_kind_gpus(kind), &client->run_time);
}

static time_ns limit_draw(struct client *client, double run_time_s)
{
    const struct load_request *request = &client->shared->stream->request;
    if (request->share <= 0 || random_uniform(&client->request) >= request->share)
        return TIME_NEVER;
    const double factor = fmax(1, distribution_draw(&request->factor, 0, &client->request));
    const time_ns wanted = time_from_seconds(fmax(1, ceil(run_time_s * factor)));
    for (uint32_t i = 0; i < request->value_count; i++)
        if (request->values[i] >= wanted)
            return request->values[i];
    return wanted;
}

static uint32_t user_draw(struct client *client)
{
    const struct load_stream *stream = client->shared->stream;
    if (stream->users.count > 0)
        return alias_draw(&client->shared->users, &client->user) + 1;
    return stream->arrivals.clients.count > 0 ? client->rank + 1 : 0;
}

bool load_draw_next(struct load_draw *draw, struct job *job, struct job_truth *truth, struct load_origin *origin)
{
    if (draw->heap_count == 0 || draw->made_count == draw->plan.job_count)
        return false;
    struct client *client = &draw->clients[draw->heap[0]];
    const struct load_stream *stream = client->shared->stream;
    const uint32_t kind = kind_draw(client);
    const double run_time_s = run_time_draw(client, &stream->kinds[kind]);
    client->kind = kind;
    *origin = (struct load_origin){.stream = stream, .kind = &stream->kinds[kind], .user = user_draw(client)};
    *job = client->shared->templates[kind];
    job->id = (job_id)draw->made_count;
    job->trace_id = (int64_t)draw->made_count;
    job->submit = whole_ms(client->next);
    job->limit = limit_draw(client, run_time_s);
    *truth = (struct job_truth){.duration = whole_ms(time_from_seconds(run_time_s)),
                                .recorded_wait = TIME_NEVER,
                                .outcome = stream->kinds[kind].outcome,
                                .sm_active_milli = SM_ACTIVE_UNKNOWN,
                                .would_do_milli = GPU_MILLI};
    draw->made_count++;
    client->next = load_arrivals_next(&client->arrivals, draw->plan.until);
    heap_settle(draw);
    return true;
}
