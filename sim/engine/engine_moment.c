/* Saves and loads a run; see sim/engine/moment.h.
 *
 * It saves all state of the world that a later instant can depend on.  It leaves out scratch, memos of the census, and
 * what follows from cluster, world, seed and the declarations of the jobs: these are read once more. */
#include "sim/engine/engine_moment.h"

#include "policies/config/digest.h"
#include "policies/quota/quota.h"
#include "sim/engine/engine_activity.h"
#include "sim/engine/engine_loop.h"
#include "sim/engine/engine_monitor.h"
#include "sim/engine/engine_nodes.h"
#include "sim/engine/engine_pace.h"
#include "sim/engine/engine_pulls.h"
#include "sim/engine/engine_saves.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/moment.h"
#include "sim/network/network.h"
#include "sim/storage/storage.h"

enum { MOMENT_VERSION = 2, SLOT_NONE = UINT32_MAX };
#define MOMENT_BYTE_ORDER UINT32_C(0x04030201)

static const char moment_magic[8] = {'w', 't', 'w', 'o', 'r', 'l', 'd', '\n'};

struct moment_header { /* no padding; then `length` bytes */
    char magic[8];
    uint32_t byte_order, pointer_bytes;
    uint32_t version, job_count; /* submitted, or read ahead */
    uint64_t cluster, policy;    /* digests; with the cluster its size over time */
    uint64_t seed;
    uint64_t arrivals; /* hash of the jobs so far; 0: it was not kept */
    time_ns at;
    uint64_t length;
    uint64_t checksum; /* of all that follows, and of this header without it */
};

static uint64_t checksum_of(struct moment_header header, const char *bytes)
{
    header.checksum = 0;
    return hash_bytes(bytes, header.length, hash_bytes(&header, sizeof header, 0));
}

/* ---- Counts and lists ---- */

static void archive_level(struct archive *archive, struct level *level)
{
    ARCHIVE_KNOWS(struct level, 32);
    ARCHIVE(archive, level->value);
    ARCHIVE(archive, level->excess);
}

static void archive_times(struct archive *archive, struct engine *engine)
{
    /* A fork wants a row of its beginning. */
    bool wants_row = engine->wants_row && (engine->config->fork == NULL || engine->now > engine->from);
    ARCHIVE(archive, engine->now);
    ARCHIVE(archive, engine->next_sample);
    ARCHIVE(archive, engine->sample_count);
    ARCHIVE(archive, wants_row);
    engine->wants_row = archive_is_reading(archive) ? wants_row : engine->wants_row;
    ARCHIVE(archive, engine->last_submit);
    ARCHIVE(archive, engine->cycle_due);
    ARCHIVE(archive, engine->last_cycle);
    archive_expect(archive, engine->now >= 0 && moment_is_time(engine->now) && engine->next_sample >= engine->now &&
                                moment_is_time(engine->next_sample) && engine->last_submit >= 0 &&
                                engine->last_submit <= engine->now && moment_is_time(engine->cycle_due) &&
                                engine->cycle_due >= engine->now && engine->last_cycle >= -1 &&
                                engine->last_cycle <= engine->now);
}

static void archive_counts(struct archive *archive, struct engine *engine)
{
    struct run_facts *facts = &engine->result->facts;
    for (int id = 0; id < LEVEL_COUNT; id++)
        archive_level(archive, &engine->levels[id]);
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        archive_level(archive, &engine->spent[cause]);
    archive_level(archive, &engine->spent_short);
    ARCHIVE(archive, engine->spent_lost);
    ARCHIVE(archive, engine->pending_milli);
    ARCHIVE(archive, engine->submitted);
    ARCHIVE(archive, engine->started);
    ARCHIVE(archive, engine->ended);
    ARCHIVE(archive, engine->evicted);
    ARCHIVE(archive, engine->rejected);
    ARCHIVE(archive, engine->first_starts);
    ARCHIVE(archive, engine->decisions);
    ARCHIVE(archive, engine->cycles);
    ARCHIVE(archive, engine->event_count);
    ARCHIVE(archive, engine->arrived_percent);
    ARCHIVE(archive, engine->arrived_milli);
    ARCHIVE(archive, engine->fingerprint);
    ARCHIVE(archive, engine->queues_known);
    ARCHIVE(archive, engine->has_reserved);
    ARCHIVE(archive, facts->recuts);
    ARCHIVE(archive, facts->recut_gpu_h);
    ARCHIVE(archive, engine->result->never_fits);
    ARCHIVE(archive, engine->result->queue_full);
    archive_expect(archive, engine->submitted <= SCHED_JOB_ID_MAX);
}

static void archive_stall(struct archive *archive, struct engine *engine)
{
    struct stall *stall = &engine->stall;
    ARCHIVE_KNOWS(struct stall, 48); /* the limit is the world's */
    ARCHIVE(archive, stall->progress);
    ARCHIVE(archive, stall->cycles);
    ARCHIVE(archive, stall->evictions);
    ARCHIVE(archive, stall->since);
    ARCHIVE(archive, stall->kept);
    archive_expect(archive, stall->since >= 0 && stall->since <= engine->now && moment_is_time(stall->kept));
    ARCHIVE(archive, engine->evictions_decided);
    for (uint32_t i = 0; i < EVICTIONS_TOLD; i++) {
        struct sim_eviction *last = &engine->last_evictions[i];
        ARCHIVE_KNOWS(struct sim_eviction, 12);
        ARCHIVE(archive, last->job);
        ARCHIVE(archive, last->for_job);
        ARCHIVE(archive, last->reason);
        archive_expect(archive, (last->job < engine_id_count(engine) || i >= engine->evictions_decided) &&
                                    (last->for_job < engine_id_count(engine) || last->for_job == JOB_NONE ||
                                     i >= engine->evictions_decided) &&
                                    last->reason < REASON_COUNT);
    }
}

/* Which slots are free, and the generations of all. */
static void archive_slots(struct archive *archive, struct engine *engine)
{
    ARCHIVE_ROOM(archive, engine->jobs, engine->job_capacity, engine->job_used);
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        ARCHIVE(archive, engine->jobs[slot].generation);
        ARCHIVE(archive, engine->jobs[slot].tenure);
    }
    ARCHIVE_ARRAY(archive, engine->free_slots, engine->free_capacity, engine->free_count);
    archive_expect(archive, engine->free_count <= engine->job_used);
    archive_expect_below(archive, engine->free_slots, engine->free_count, engine->job_used);
    ARCHIVE_ARRAY(archive, engine->fresh, engine->fresh_capacity, engine->fresh_count);
    archive_expect_below(archive, engine->fresh, engine->fresh_count, engine->job_used);
    ARCHIVE(archive, engine->has_dependencies);
    if (archive->is_broken)
        return;
    MEM_GROW(engine->id_of, engine->id_capacity, (size_t)engine->job_used);
    MEM_GROW(engine->slot_of, engine->slot_capacity, (size_t)engine_id_count(engine));
    if (!engine->has_dependencies)
        return;
    uint32_t count = engine_id_count(engine);
    MEM_GROW(engine->ended_at, engine->ended_capacity, (size_t)count);
    ARCHIVE_ARRAY(archive, engine->ended_at, engine->ended_capacity, count);
    archive_expect(archive, count == engine_id_count(engine));
    for (uint32_t id = 0; id < count && !archive->is_broken; id++)
        archive_expect(archive, engine->ended_at[id] >= 0 && engine->ended_at[id] <= engine->now);
    if (archive_is_reading(archive) && !archive->is_broken)
        MEM_GROW(engine->ended_at, engine->ended_capacity, (size_t)engine_id_count(engine));
}

/* ---- Jobs ---- */

/* The first job from `id` on that waits or runs; JOB_NONE: none. */
static job_id next_job(const struct engine *engine, job_id id)
{
    while (id < engine_id_count(engine) && engine->slot_of[id] == SLOT_NONE)
        id++;
    return id < engine_id_count(engine) ? id : JOB_NONE;
}

static void save_jobs(struct archive *archive, struct engine *engine)
{
    for (job_id id = next_job(engine, 0); id != JOB_NONE; id = next_job(engine, id + 1)) {
        uint32_t slot = engine->slot_of[id];
        ARCHIVE(archive, id);
        ARCHIVE(archive, slot);
        engine_moment_job(archive, engine, slot, NULL);
    }
    job_id last = JOB_NONE;
    ARCHIVE(archive, last);
}

/* Of the reading of jobs. */
struct rereading {
    struct archive *archive;
    job_id next;   /* that is read next */
    job_id alive;  /* the next one that waits or runs; JOB_NONE */
    uint32_t slot; /* its slot */
    uint32_t alive_count;
    bool adopts;
};

static void find_alive(struct rereading *reading, const struct engine *engine)
{
    struct archive *archive = reading->archive;
    const job_id before = reading->alive;
    ARCHIVE(archive, reading->alive);
    if (reading->alive == JOB_NONE)
        return;
    ARCHIVE(archive, reading->slot);
    archive_expect(archive, reading->alive < engine_id_count(engine) &&
                                (before == JOB_NONE || before < reading->alive) && reading->slot < engine->job_used);
    if (!archive->is_broken)
        archive_expect(archive, engine->jobs[reading->slot].state == LIFE_NONE);
    if (archive->is_broken)
        reading->alive = JOB_NONE;
}

static struct error load_job(struct rereading *reading, struct engine *engine, const struct job *job,
                             const struct job_truth *truth)
{
    const uint32_t slot = reading->slot;
    struct job known = *job;
    if (engine_silences(engine, job))
        known.communication = NULL;
    engine->slot_of[job->id] = slot;
    engine->id_of[slot] = job->id;
    engine_know(engine, slot, &known, truth);
    engine_moment_job(reading->archive, engine, slot, &known);
    reading->alive_count++;
    if (reading->archive->is_broken)
        return ERROR_OK;
    if (reading->adopts)
        return engine_adopt_job(engine, slot, &known);
    return ERROR_OK;
}

static struct error other_jobs(void)
{
    struct error error = error_new(ERROR_DATA, "the workload is not the one of the saved moment");
    error_set_hint(&error, "its trace has changed: run the scenario again with --save-at");
    return error;
}

/* Read the declarations of all jobs submitted so far once more.  For each job that waits or runs, load its state. */
static struct error load_jobs(struct engine *engine, struct archive *archive, bool adopts)
{
    struct rereading reading = {.archive = archive, .alive = JOB_NONE, .adopts = adopts};
    struct job job;
    struct job_truth truth;
    const job_id id_count = engine_id_count(engine);
    for (job_id id = 0; id < id_count; id++)
        engine->slot_of[id] = SLOT_NONE;
    find_alive(&reading, engine);
    for (; reading.next < id_count && !archive->is_broken; reading.next++) {
        bool has = true;
        if (engine->loop != NULL && !engine_loop_submitted(engine, reading.next, &job, &truth))
            continue;
        if (engine->loop == NULL)
            TRY(job_source_next(engine->config->source, &job, &truth, &has));
        if (!has || job.submit > engine->now)
            return other_jobs();
        if (adopts)
            engine_tell_queues(engine);
        if (reading.next != reading.alive)
            continue;
        TRY(load_job(&reading, engine, &job, &truth));
        if (!archive->is_broken)
            find_alive(&reading, engine);
    }
    archive_expect(archive, reading.alive_count + engine->free_count == engine->job_used);
    for (uint32_t f = 0; f < engine->free_count && !archive->is_broken; f++)
        archive_expect(archive, engine->jobs[engine->free_slots[f]].state == LIFE_NONE);
    for (uint32_t f = 0; f < engine->fresh_count && !archive->is_broken; f++)
        archive_expect(archive, engine->jobs[engine->fresh[f]].state != LIFE_NONE);
    return ERROR_OK;
}

/* ---- Parts of the world ---- */

static bool is_free_of(const struct engine *engine, uint32_t slot)
{
    return slot >= engine->job_used || engine->jobs[slot].state == LIFE_NONE;
}

/* Each transfer is that of a job that writes or loads. */
static void check_transfers(struct archive *archive, const struct engine *engine)
{
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        if (!storage_has(engine->storage, slot))
            continue;
        const struct sim_saves *saves = &engine->saves[slot];
        archive_expect(archive, !is_free_of(engine, slot) && !engine->jobs[slot].is_waiting &&
                                    (saves->is_writing || saves->phase == SAVES_LOAD || saves->phase == SAVES_WRITE ||
                                     saves->phase == SAVES_LEAVE));
    }
}

static void archive_storage(struct archive *archive, struct engine *engine)
{
    ARCHIVE(archive, engine->storage_due);
    ARCHIVE(archive, engine->storage_generation);
    storage_archive(archive, engine->storage, engine->job_used, engine->now);
    archive_expect(archive, moment_is_time(engine->storage_due));
    if (archive_is_reading(archive) && !archive->is_broken)
        check_transfers(archive, engine);
}

static void archive_active(struct archive *archive, struct engine *engine)
{
    ARCHIVE_ARRAY(archive, engine->active_slots, engine->active_slot_capacity, engine->active_slot_count);
    for (uint32_t i = 0; i < engine->active_slot_count && !archive->is_broken; i++) {
        const uint32_t slot = engine->active_slots[i];
        archive_expect(archive, !is_free_of(engine, slot) && engine_activity_has(engine, slot));
        if (archive->is_broken)
            return;
        archive_expect(archive, engine->activities[slot]->is_on);
        if (archive_is_reading(archive))
            engine->activities[slot]->on_index = i;
    }
    uint32_t on = 0;
    for (uint32_t slot = 0; slot < engine->job_used && !archive->is_broken; slot++)
        if (!is_free_of(engine, slot) && engine_activity_has(engine, slot)) {
            on += engine->activities[slot]->is_on;
            archive_expect(archive, !engine->activities[slot]->is_on ||
                                        (engine->activities[slot]->on_index < engine->active_slot_count &&
                                         engine->active_slots[engine->activities[slot]->on_index] == slot));
        }
    archive_expect(archive, on == engine->active_slot_count);
}

static void archive_stopped(struct archive *archive, struct engine *engine)
{
    ARCHIVE_ARRAY(archive, engine->stopped_slots, engine->stopped_capacity, engine->stopped_count);
    archive_expect_below(archive, engine->stopped_slots, engine->stopped_count, engine->job_used);
    if (archive->is_broken || !archive_is_reading(archive) || engine->stopped_count == 0)
        return;
    MEM_GROW(engine->spendings, engine->spending_capacity, (size_t)engine->job_used);
    for (uint32_t i = 0; i < engine->stopped_count; i++) {
        struct sim_spending *own = &engine->spendings[engine->stopped_slots[i]];
        archive_expect(archive, !own->is_listed);
        own->is_listed = true;
    }
}

static void archive_paces(struct archive *archive, struct engine *engine)
{
    bool has_network = engine->network != NULL;
    ARCHIVE(archive, engine->pace_changes);
    engine_clients_archive(archive, engine);
    ARCHIVE(archive, has_network);
    archive_expect(archive, !has_network || engine->paces != NULL || engine->job_used == engine->free_count);
    if (!has_network || archive->is_broken)
        return;
    if (engine->network == NULL)
        engine_network_open(engine);
    network_archive(archive, engine->network, engine->job_used);
    for (uint32_t slot = 0; slot < engine->job_used && !archive->is_broken; slot++)
        if (network_has(engine->network, slot))
            archive_expect(archive, !is_free_of(engine, slot) && engine->paces[slot].has_network &&
                                        !engine->jobs[slot].is_waiting);
}

/* Before the jobs: what their declarations need. */
static void archive_before(struct archive *archive, struct engine *engine)
{
    ARCHIVE_KNOWS(struct engine, 8592);
    archive_times(archive, engine);
    archive_counts(archive, engine);
    if (engine->loop != NULL && !archive->is_broken)
        engine_loop_archive(archive, engine);
    archive_stall(archive, engine);
    if (!archive->is_broken)
        archive_slots(archive, engine);
    if (!archive->is_broken)
        engine_gpus_archive(archive, engine);
    if (!archive->is_broken && engine->nodes != NULL)
        engine_nodes_archive(archive, engine);
    if (!archive->is_broken && engine->pulls != NULL)
        engine_pulls_archive_names(archive, engine);
    if (!archive->is_broken && engine->monitor != NULL)
        engine_monitor_archive_runs(archive, engine);
}

static bool is_event(const void *self, const struct event *event)
{
    const struct engine *engine = self;
    const enum event_kind kind = event_kind(event);
    if (kind == EVENT_NODE)
        return engine->gpus != NULL && event->subject < engine->config->cluster->gpu_count;
    if (kind == EVENT_TIMER)
        return engine->monitor != NULL && event->subject <= 1;
    if (kind == EVENT_STORAGE)
        return engine->storage != NULL;
    if (kind == EVENT_PULLS)
        return engine->pulls != NULL;
    if (event->subject >= engine->job_used || kind == EVENT_SUBMIT)
        return false;
    const struct sim_job *job = &engine->jobs[event->subject];
    const bool runs = job->state == LIFE_RUNNING || (job->state == LIFE_LEAVING && !job->is_waiting);
    if (kind == EVENT_END || kind == EVENT_CHECKPOINT)
        return (int32_t)(job->generation - event->generation) > 0 ||
               (job->generation == event->generation && runs && (kind == EVENT_END || engine->saves != NULL));
    return (int32_t)(job->tenure - event->generation) >= 0;
}

static bool is_no_event(const void *self, const struct event *event)
{
    return !is_event(self, event);
}

static void archive_after(struct archive *archive, struct engine *engine)
{
    if (engine_has_phases(engine))
        archive_storage(archive, engine);
    if (!archive->is_broken && engine->pulls != NULL)
        engine_pulls_archive(archive, engine);
    if (!archive->is_broken && engine->monitor != NULL)
        engine_monitor_archive(archive, engine);
    if (!archive->is_broken)
        archive_active(archive, engine);
    if (!archive->is_broken)
        archive_stopped(archive, engine);
    if (!archive->is_broken)
        archive_paces(archive, engine);
    if (!archive->is_broken)
        event_queue_archive(archive, &engine->events, engine->now);
    if (!archive->is_broken && archive_is_reading(archive))
        archive_expect(archive, !event_queue_has(&engine->events, is_no_event, engine));
}

/* ---- Saving ---- */

static struct error cannot(const char *what, const char *hint)
{
    struct error error = error_new(ERROR_CONFIG, "no moment of this run can be saved or forked: %s", what);
    error_set_hint(&error, "%s", hint);
    return error;
}

struct error engine_moment_check(const struct engine_config *config)
{
    if (config->save_count == 0 && config->fork == NULL)
        return ERROR_OK;
    if (config->decider != NULL)
        return cannot("another program decides, and its state is not known", "run it without --scheduler");
    const struct quota_policy *quota = config->policy->quota;
    if (quota->state_size > 0 && quota->archive == NULL) {
        struct error error = cannot("a plug-in of the policy cannot save its state", "");
        error_set_hint(&error, "give the quota policy '%s' the hook 'archive' (policies/quota/quota.h)", quota->name);
        return error;
    }
    for (uint32_t i = 0; i < config->save_count; i++)
        if (config->saves[i] > config->world.end)
            return error_new(ERROR_CONFIG, "the moment at %.9g s is after the end of the run, at %.9g s",
                             time_to_seconds(config->saves[i]), time_to_seconds(config->world.end));
    return ERROR_OK;
}

static uint64_t digest_of_cluster(const struct engine_config *config)
{
    const uint64_t size = capacity_table_hash(&config->world.capacity);
    return size != 0 ? hash_mix(digest_cluster(config->cluster), size) : digest_cluster(config->cluster);
}

struct error engine_moment_save(struct engine *engine)
{
    const struct engine_config *config = engine->config;
    struct buffer world = {0}, sched = {0};
    struct archive archive = {.out = &world};
    engine_carry_to(engine, engine->now);
    struct moment_header header = {.byte_order = MOMENT_BYTE_ORDER,
                                   .pointer_bytes = sizeof(void *),
                                   .version = MOMENT_VERSION,
                                   .job_count = (uint32_t)engine->submitted + engine->has_next,
                                   .cluster = digest_of_cluster(config),
                                   .policy = digest_policy(config->policy),
                                   .seed = config->seed,
                                   .arrivals = job_source_arrivals(config->source),
                                   .at = engine->now};
    memcpy(header.magic, moment_magic, sizeof header.magic);
    buffer_bytes(&world, &header, sizeof header);
    archive_before(&archive, engine);
    save_jobs(&archive, engine);
    archive_after(&archive, engine);
    header.length = world.length - sizeof header;
    header.checksum = checksum_of(header, world.bytes + sizeof header);
    memcpy(world.bytes, &header, sizeof header);
    struct error error = sched_save(engine->port.sched, &sched);
    if (!error_is(error))
        error = config->on_moment(config->moment_self, &(struct moment){.at = engine->now,
                                                                        .world = {world.bytes, world.length},
                                                                        .sched = {sched.bytes, sched.length}});
    buffer_release(&world);
    buffer_release(&sched);
    engine->result->saved += !error_is(error);
    return error;
}

/* ---- Loading ---- */

static struct error refuse(const char *why, const char *hint)
{
    struct error error = error_new(ERROR_DATA, "saved moment: %s", why);
    error_set_hint(&error, "%s", hint);
    return error;
}

static struct error check_header(const struct engine_config *config, struct moment_header *header)
{
    static const char again[] = "run the scenario again with --save-at";
    const struct text world = config->fork->world;
    if (world.length < sizeof *header || memcmp(world.at, moment_magic, sizeof moment_magic) != 0)
        return refuse("these bytes are not one", again);
    memcpy(header, world.at, sizeof *header);
    if (header->byte_order != MOMENT_BYTE_ORDER || header->pointer_bytes != sizeof(void *))
        return refuse("it is from another kind of machine", "fork it where it was saved");
    if (header->version != MOMENT_VERSION)
        return refuse("it has another version of the format", "fork it with the program that saved it");
    if (header->length != world.length - sizeof *header)
        return refuse("it is cut off, or data follows it", again);
    if (header->checksum != checksum_of(*header, world.at + sizeof *header))
        return refuse("it is damaged: its checksum differs", again);
    if (header->cluster != digest_of_cluster(config) || header->seed != config->seed)
        return refuse("it is of another cluster or seed", "a fork may differ from its record in the policy alone");
    return ERROR_OK;
}

static struct error load_world(struct engine *engine, const struct moment_header *header, bool adopts)
{
    static const char other_program[] = "fork it with the program that saved it, on the record as it was written";
    static const char impossible[] = "it does not hold what its version says";
    const struct text world = engine->config->fork->world;
    struct archive archive = {.at = world.at + sizeof *header, .end = world.at + world.length};
    struct job_source *source = engine->config->source;
    TRY(engine_loop_open(engine));
    archive_before(&archive, engine);
    archive_expect(&archive, engine->now == header->at && header->at == engine->config->fork->at &&
                                 header->job_count - engine->submitted <= 1);
    if (archive.is_broken)
        return refuse(impossible, other_program);
    if (adopts) {
        MEM_GROW(engine->before, engine->before_capacity, (size_t)engine->job_used + 1);
        engine->queues_known = job_source_queues(source)->count;
        TRY(engine_adopt_gpus(engine));
    }
    TRY(load_jobs(engine, &archive, adopts));
    if (!archive.is_broken)
        archive_after(&archive, engine);
    if (!archive.is_broken && engine->nodes != NULL)
        engine_nodes_load(engine, adopts);
    if (archive.is_broken || archive_left(&archive) != 0)
        return refuse(impossible, other_program);
    if (engine->loop != NULL)
        engine_loop_show(engine);
    else
        TRY(job_source_next(source, &engine->next_job, &engine->next_truth, &engine->has_next));
    const uint64_t arrivals = job_source_arrivals(source);
    if (engine->has_next != (header->job_count > engine->submitted) ||
        (engine->has_next && engine->next_job.submit < engine->now) ||
        (header->arrivals != 0 && arrivals != 0 && header->arrivals != arrivals))
        return other_jobs();
    return ERROR_OK;
}

/* The books of the world must add up, and agree with the scheduler's. */
static struct error check_books(struct engine *engine, bool adopts)
{
    const bool is_checked = engine->gpu_used != NULL;
    if (!is_checked)
        engine->gpu_used = mem_zalloc(engine->config->cluster->gpu_count, sizeof *engine->gpu_used);
    for (uint32_t slot = 0; slot < engine->job_used; slot++)
        if (engine->jobs[slot].state != LIFE_NONE)
            engine_check_take(engine, job_pieces_all(&engine->jobs[slot].pieces),
                              engine->jobs[slot].pieces.piece_count);
    if (!error_is(engine->error) && !adopts) /* else the check holds another policy to what this one did */
        engine_check_instant(engine);
    if (!is_checked) {
        mem_free(engine->gpu_used);
        engine->gpu_used = NULL;
    }
    if (!error_is(engine->error))
        return ERROR_OK;
    struct error error = refuse(error_message(&engine->error), "somebody has changed it: run the scenario again");
    error_release(&engine->error);
    engine->error = ERROR_OK;
    return error;
}

struct error engine_moment_load(struct engine *engine)
{
    const struct engine_config *config = engine->config;
    struct moment_header header;
    struct error error;
    TRY(check_header(config, &header));
    const bool adopts = header.policy != digest_policy(config->policy);
    engine->result->is_adopted = adopts;
    if (adopts)
        TRY(engine_open_sched(engine));
    TRY(load_world(engine, &header, adopts));
    if (!adopts) {
        struct sched *sched =
            sched_load(config->cluster, job_source_queues(config->source), config->policy, config->fork->sched, &error);
        TRY(error);
        engine_set_sched(engine, sched);
    }
    TRY(check_books(engine, adopts));
    engine->from = engine->now;
    engine->wants_row = true; /* a row of the beginning */
    if (adopts)
        engine_want_cycle(engine, engine->now);
    port_count(&engine->port, &engine->counts_before);
    return ERROR_OK;
}
