/* From states to rows. */
#include <math.h>

#include "sim/engine/engine_loop.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_state.h"
#include "sim/engine/engine_use.h"
#include "sim/job/placement_text.h"

static void check_sink(struct engine *engine, struct error error)
{
    if (!error_is(error))
        return;
    if (error_is(engine->error))
        error_release(&error);
    else
        engine->error = error;
}

/* Hand the row to each sink that takes such rows. */
#define EMIT(engine, hook, row)                                                                                        \
    for (size_t s = 0; s < (engine)->rows.sink_count; s++)                                                             \
        if ((engine)->rows.sinks[s].hook != NULL)                                                                      \
    check_sink(engine, (engine)->rows.sinks[s].hook((engine)->rows.sinks[s].self, row))

void engine_emit_job(struct engine *engine, const struct sim_job *job)
{
    const struct job_row *row = &job->row;
    struct job_row named;
    if (row->name == NULL && job->trace_id != row->id) {
        engine->rows.number.length = 0;
        buffer_int(&engine->rows.number, job->trace_id);
        named = *row;
        named.name = buffer_c_string(&engine->rows.number);
        row = &named;
    }
    if (engine->parts[0] != NULL) {
        named = *row;
        EACH_PART(engine, row)(engine, (uint32_t)(job - engine->jobs), &named);
        row = &named;
    }
    EMIT(engine, on_job, row);
}

static void write_placement(struct engine *engine, const struct sim_job *job)
{
    engine->rows.placement.length = 0;
    placement_text(&engine->rows.placement, engine->config->cluster, job_pieces_all(&job->pieces),
                   job->pieces.piece_count);
}

/* The narrowest link between its GPUs. */
static struct link link_of(struct engine *engine, const struct sim_job *job)
{
    const struct piece *pieces = job_pieces_all(&job->pieces);
    const uint32_t count = job->pieces.piece_count;
    MEM_GROW(engine->rows.places, engine->rows.place_capacity, (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        engine->rows.places[i] = (struct link_place){pieces[i].node, pieces[i].gpu_mask};
    return links_narrowest(engine->config->cluster, engine->rows.places, count);
}

void engine_emit_attempt(struct engine *engine, const struct sim_job *job, const struct sim_attempt *attempt)
{
    struct link link = {.tier = LINK_NONE};
    if (job->held_milli > GPU_MILLI)
        link = link_of(engine, job);
    if (engine->rows.wants_gangs && link.tier != LINK_NONE && !job->is_waiting)
        EMIT(engine, on_gang,
             (&(struct gang_row){.start = attempt->start,
                                 .end = engine->now,
                                 .gpu_milli = job->held_milli,
                                 .link_tier = (uint8_t)link.tier,
                                 .link_bytes_per_s = link.bytes_per_s}));
    if (!engine->rows.wants_attempts)
        return;
    const time_ns kept = progress_reference(&job->progress, attempt->kept);
    write_placement(engine, job);
    EMIT(engine, on_attempt,
         (&(struct attempt_row){.id = job->row.id,
                                .attempt = job->attempts,
                                .start = attempt->start,
                                .end = engine->now,
                                .gpu_milli = job->held_milli,
                                .placement = buffer_c_string(&engine->rows.placement),
                                .why = (uint8_t)attempt->why,
                                .reason = attempt->why == ATTEMPT_EVICTED ? job->evict_reason : REASON_NONE,
                                .saved = kept - progress_reference(&job->progress, attempt->before),
                                .lost = progress_reference(&job->progress, attempt->work) - kept,
                                .is_partial = job->is_waiting,
                                .link_tier = (uint8_t)link.tier,
                                .link_bytes_per_s = link.bytes_per_s}));
}

/* From the start of the run to `at`; units x ns to units x s. */
static double integral_s(const struct engine *engine, enum level_id id, time_ns at, double units)
{
    const struct level *level = &engine->levels[id];
    return (double)((__int128)level->value * at - level->excess) / (1e9 * units);
}

void engine_emit_sample(struct engine *engine, time_ns at)
{
    if (!engine->rows.wants_samples)
        return;
    const struct level *levels = engine->levels;
    const double idle_gpu_s = integral_s(engine, LEVEL_IDLE, at, GPU_MILLI);
    double partial_gpu_s = integral_s(engine, LEVEL_PARTIAL, at, GPU_MILLI);
    struct timeline_row row = {.time = at,
                               .pending_jobs = (uint32_t)levels[LEVEL_PENDING].value,
                               .running_jobs = (uint32_t)levels[LEVEL_RUNNING].value,
                               .pending_gpu_milli = engine->pending_milli,
                               .allocated_gpu_milli = levels[LEVEL_ALLOCATED].value,
                               .active_gpu_milli = levels[LEVEL_ACTIVE].value / 1000,
                               .reserved_gpu_milli = levels[LEVEL_RESERVED].value + levels[LEVEL_PARTIAL].value,
                               .submitted = engine->counts.submitted,
                               .started = engine->counts.started,
                               .ended = engine->counts.ended,
                               .evicted = engine->counts.evicted,
                               .rejected = engine->counts.rejected,
                               .allocated_gpu_s = integral_s(engine, LEVEL_ALLOCATED, at, GPU_MILLI),
                               .active_gpu_s = integral_s(engine, LEVEL_ACTIVE, at, 1000.0 * GPU_MILLI),
                               .reserved_gpu_s = integral_s(engine, LEVEL_RESERVED, at, GPU_MILLI) + partial_gpu_s,
                               .pending_job_s = integral_s(engine, LEVEL_PENDING, at, 1),
                               .running_job_s = integral_s(engine, LEVEL_RUNNING, at, 1),
                               .partial_gang_gpu_s = partial_gpu_s,
                               .idle_held_gpu_milli = levels[LEVEL_IDLE].value,
                               .idle_held_gpu_s = idle_gpu_s,
                               .space = engine_space(engine)};
    engine_spent_integrals(engine, at, row.spent);
    engine_use_integrals(engine, at, row.use_us);
    EMIT(engine, on_sample, &row);
}

/* The state of the cluster at this moment; the cycle is over, so the scheduler and its ledger can be read. */
static struct arrived_row arrived_row(struct engine *engine)
{
    double gpus = (double)engine->config->cluster->gpu_count;
    struct space_row space = engine_space(engine);
    return (struct arrived_row){.allocation_ratio = (double)engine->levels[LEVEL_ALLOCATED].value / (gpus * GPU_MILLI),
                                .fragmentation_ratio = space.is_known ? space_fragmented_gpus(&space) / gpus : NAN};
}

void engine_emit_arrived(struct engine *engine)
{
    int64_t percent_milli = (int64_t)engine->config->cluster->gpu_count * (GPU_MILLI / 100);
    int64_t reached = engine->filling.milli / percent_milli;
    if (reached == engine->filling.percent)
        return;
    struct arrived_row row = arrived_row(engine);
    while (engine->filling.percent < reached) {
        row.percent = ++engine->filling.percent;
        EMIT(engine, on_arrived, &row);
    }
}

/* Mean price of a GPU; 0 if a pool with GPUs has no price. */
static double mean_price(const struct cluster *cluster)
{
    double sum = 0;
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const struct node_pool *pool = &cluster->pools[p];
        double gpus = (double)pool->node_count * cluster->types[pool->type].gpu_count;
        if (gpus > 0 && pool->price_usd_per_gpu_h <= 0)
            return 0;
        sum += gpus * pool->price_usd_per_gpu_h;
    }
    return cluster->gpu_count > 0 ? sum / cluster->gpu_count : 0;
}

static struct record_queue *queues_new(const struct queue_table *table)
{
    struct record_queue *queues = mem_zalloc(table->count, sizeof *queues);
    for (queue_id q = 1; q < table->count; q++) {
        const queue_id parent = table->queues[q].parent;
        queues[q - 1] = (struct record_queue){.name = table->queues[q].name,
                                              .parent = parent == QUEUE_ROOT ? RECORD_QUEUE_ROOT : parent - 1};
    }
    return queues;
}

static struct record_pool *pools_new(const struct cluster *cluster)
{
    struct record_pool *pools = mem_zalloc(cluster->pool_count + (size_t)1, sizeof *pools);
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const struct node_pool *pool = &cluster->pools[p];
        const struct node_type *type = &cluster->types[pool->type];
        pools[p] = (struct record_pool){.name = pool->name,
                                        .first_node = pool->node_count > 0 ? cluster->nodes[pool->first].name : "",
                                        .model = type->gpu_count > 0 ? type->model : MODEL_ANY,
                                        .node_count = pool->node_count,
                                        .gpus_per_node = type->gpu_count,
                                        .price_usd_per_gpu_h = pool->price_usd_per_gpu_h};
    }
    return pools;
}

static struct offered_load offered_of(const struct engine *engine)
{
    const struct offered_counts *counts = &engine->measured.offered;
    const struct engine_config *config = engine->config;
    offered_sum in_service[CLUSTER_MODELS_MAX];
    capacity_gpu_time(&config->world.capacity, config->cluster, job_source_facts(config->source), counts->first,
                      counts->last, in_service);
    return offered_end(counts, in_service);
}

void engine_emit_finished(struct engine *engine)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct queue_table *table = job_source_queues(engine->config->source);
    struct record_queue *queues = queues_new(table);
    struct record_pool *pools = pools_new(cluster);
    struct run_facts *facts = &engine->result->facts;
    const char *names[CLUSTER_MODELS_MAX + 1] = {NULL};
    for (uint32_t m = 0; m < cluster->model_count; m++)
        names[m] = cluster->models[m].name;
    facts->end = engine->now;
    facts->warmup =
        engine->config->world.warmup > engine->measured.from ? engine->config->world.warmup : engine->measured.from;
    const bool has_all = engine->loop == NULL || engine_loop_is_over(engine); /* so there is a row at the last one */
    engine->measured.offered.is_cut = engine->next.is_there;
    facts->offered = offered_of(engine);
    bool is_drained = engine->config->world.end == TIME_NEVER && !facts->is_partial && has_all;
    time_ns until = is_drained ? engine->measured.last_submit : facts->end;
    if (facts->offered.kind == OFFERED_BATCH)
        until = !facts->is_partial && engine->counts.ended + engine->counts.rejected == engine->counts.submitted
                    ? engine->measured.last_end
                    : facts->end;
    facts->measured_until = until > facts->warmup ? until : facts->end;
    facts->node_count = cluster->node_count;
    facts->gpu_count = cluster->gpu_count;
    facts->model_names = names;
    facts->queues = queues;
    facts->queue_count = table->count - 1;
    facts->pools = pools;
    facts->pool_count = cluster->pool_count;
    facts->price_usd_per_gpu_h = mean_price(cluster);
    facts->is_decided_outside = engine->port.decider != NULL;
    facts->events = engine->counts.events;
    facts->cycles = engine->counts.cycles;
    facts->decisions = engine->counts.decisions;
    EMIT(engine, on_finished, facts);
    facts->model_names = NULL; /* borrowed only during the hooks */
    facts->queues = NULL;
    facts->queue_count = 0;
    facts->pools = NULL;
    facts->pool_count = 0;
    mem_free(queues);
    mem_free(pools);
}
