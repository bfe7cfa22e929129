/* Pulls are saved and loaded.
 *
 * Where a pull or a waiter lies in its array does not matter, so the lists of the nodes are saved in their order.  Pins
 * follow from what jobs have pinned.  All that later calls follow is tested: a waiter waits for what its pull brings,
 * each object that a job waits for has one waiter, and each pull that moves has its transfer. */
#include "sim/caches/pulls_inside.h"

enum { NEED_SEEN = 0x80 }; /* while loading: of an object that waits, its waiter was found */

/* ---- Jobs ---- */

static void archive_objects(struct archive *archive, struct job_objects *objects)
{
    ARCHIVE(archive, objects->count);
    archive_expect(archive, objects->count <= JOB_OBJECTS_MAX);
    for (uint32_t o = 0; o < objects->count && !archive->is_broken; o++) {
        ARCHIVE(archive, objects->of[o].id);
        ARCHIVE(archive, objects->of[o].bytes);
        archive_expect(archive, objects->of[o].bytes >= 1);
    }
}

/* What it needs, of a job that has begun. */
static void archive_needs(struct archive *archive, struct pulls *pulls, struct pull_job *job)
{
    uint32_t waits = 0, count = job->node_count * job->objects.count;
    ARCHIVE_ARRAY(archive, job->needs, job->need_capacity, count);
    archive_expect(archive, count == job->node_count * job->objects.count);
    for (uint32_t n = 0; n < job->node_count && !archive->is_broken; n++)
        archive_expect(archive, job->nodes[n] < pulls->node_count && (n == 0 || job->nodes[n - 1] < job->nodes[n]));
    for (uint32_t i = 0; i < count && !archive->is_broken; i++) {
        const node_id node = job->nodes[i / job->objects.count];
        const uint32_t object = job->objects.of[i % job->objects.count].id;
        archive_expect(archive, job->needs[i] <= NEED_LOOSE);
        waits += job->needs[i] == NEED_WAITS;
        if (!archive_is_reading(archive) || job->needs[i] != NEED_PINNED || archive->is_broken)
            continue;
        archive_expect(archive, caches_has(pulls->caches, node, object));
        if (!archive->is_broken)
            caches_pin(pulls->caches, node, object);
    }
    archive_expect(archive, waits == job->waits);
}

static void archive_job(struct archive *archive, struct pulls *pulls, struct pull_job *job)
{
    ARCHIVE_KNOWS(struct pull_job, 120);
    for (int source = 0; source < PULL_SOURCE_COUNT; source++)
        ARCHIVE(archive, job->counts.bytes[source]);
    ARCHIVE(archive, job->waits);
    ARCHIVE_ARRAY(archive, job->nodes, job->node_capacity, job->node_count);
    if (job->node_count == 0 || archive->is_broken)
        return;
    archive_objects(archive, &job->objects);
    archive_expect(archive, job->objects.count > 0 && job->node_count <= pulls->node_count);
    if (!archive->is_broken)
        archive_needs(archive, pulls, job);
}

static void archive_jobs(struct archive *archive, struct pulls *pulls, uint32_t slot_count)
{
    uint32_t count = pulls->job_capacity < slot_count ? (uint32_t)pulls->job_capacity : slot_count;
    ARCHIVE(archive, count);
    archive_expect(archive, count <= slot_count);
    if (archive->is_broken)
        return;
    MEM_GROW(pulls->jobs, pulls->job_capacity, (size_t)count);
    for (uint32_t slot = 0; slot < count && !archive->is_broken; slot++)
        archive_job(archive, pulls, &pulls->jobs[slot]);
}

/* ---- Lists of nodes ---- */

/* Is that a job that waits for the object on the node?  Each of its needs has one waiter. */
static bool is_waiter(struct pulls *pulls, uint32_t slot, uint32_t need, node_id node, const struct pull *pull)
{
    if (slot >= pulls->job_capacity)
        return false;
    struct pull_job *job = &pulls->jobs[slot];
    const uint32_t objects = job->objects.count;
    if (need >= (uint64_t)job->node_count * objects || job->needs[need] != NEED_WAITS)
        return false;
    const struct job_object *object = &job->objects.of[need % objects];
    job->needs[need] |= NEED_SEEN;
    return job->nodes[need / objects] == node && object->id == pull->object && object->bytes == pull->bytes;
}

static void archive_waiters(struct archive *archive, struct pulls *pulls, node_id node, uint32_t at)
{
    uint32_t count = 0, from = pulls->all[at].first_waiter;
    for (uint32_t w = from; w != PULL_NONE; w = pulls->waiters[w].next)
        count++;
    ARCHIVE_KNOWS(struct waiter, 12);
    ARCHIVE(archive, count);
    for (uint32_t i = 0; i < count && !archive->is_broken; i++) {
        struct waiter waiter = {0};
        if (!archive_is_reading(archive)) {
            waiter = pulls->waiters[from];
            from = waiter.next;
        }
        ARCHIVE(archive, waiter.slot);
        ARCHIVE(archive, waiter.need);
        if (!archive_is_reading(archive))
            continue;
        archive_expect(archive, is_waiter(pulls, waiter.slot, waiter.need, node, &pulls->all[at]));
        if (!archive->is_broken)
            pulls_add_waiter(pulls, at, waiter.slot, waiter.need);
    }
}

/* One pull of the node; is_first: the one that may move. */
static void archive_pull(struct archive *archive, struct pulls *pulls, node_id node, uint32_t at, bool is_first)
{
    struct pull *pull = &pulls->all[at];
    ARCHIVE_KNOWS(struct pull, 32);
    ARCHIVE(archive, pull->object);
    ARCHIVE(archive, pull->bytes);
    ARCHIVE(archive, pull->state);
    ARCHIVE(archive, pull->source);
    archive_expect(archive, pull->bytes >= 1 && pull->state <= PULL_MOVES && pull->source <= PULL_RACK &&
                                (is_first || pull->state == PULL_QUEUED));
    if (!archive->is_broken)
        archive_waiters(archive, pulls, node, at);
    archive_expect(archive, pulls->all[at].first_waiter != PULL_NONE || pulls->all[at].state == PULL_MOVES);
}

/* A node has an object, or pulls it once. */
static bool is_new(const struct pulls *pulls, node_id node, uint32_t at)
{
    const uint32_t object = pulls->all[at].object;
    bool is_alone = !caches_has(pulls->caches, node, object);
    for (uint32_t p = pulls->nodes[node].head; p != at; p = pulls->all[p].next)
        is_alone = is_alone && pulls->all[p].object != object;
    return is_alone;
}

static void archive_node(struct archive *archive, struct pulls *pulls, node_id node)
{
    uint32_t count = 0, last = PULL_NONE, at = pulls->nodes[node].head;
    for (uint32_t p = at; p != PULL_NONE; p = pulls->all[p].next)
        count++;
    ARCHIVE(archive, count);
    for (uint32_t i = 0; i < count && !archive->is_broken; i++) {
        if (archive_is_reading(archive)) {
            at = pulls_new_pull(pulls);
            pulls->all[at] = (struct pull){.first_waiter = PULL_NONE, .next = PULL_NONE};
            *(last == PULL_NONE ? &pulls->nodes[node].head : &pulls->all[last].next) = at;
        }
        archive_pull(archive, pulls, node, at, i == 0);
        archive_expect(archive, is_new(pulls, node, at));
        last = at;
        at = pulls->all[at].next;
    }
}

/* ---- All ---- */

/* Each pull that moves has its transfer, and no transfer is without. */
static void check_moves(struct archive *archive, const struct pulls *pulls)
{
    uint64_t transfers = 0, moves = 0;
    for (uint32_t s = 0; s <= pulls->rack_count; s++)
        transfers += storage_count(pulls->sources[s]);
    for (node_id n = 0; n < pulls->node_count; n++) {
        const struct pull_node *node = &pulls->nodes[n];
        if (node->head == PULL_NONE || pulls->all[node->head].state != PULL_MOVES)
            continue;
        moves++;
        archive_expect(archive, pulls->all[node->head].source == PULL_REGISTRY
                                    ? storage_has(pulls->sources[0], n)
                                    : storage_has(pulls->sources[1 + node->rack], node->number));
    }
    archive_expect(archive, transfers == moves);
}

static void check_waiters(struct archive *archive, struct pulls *pulls)
{
    for (size_t slot = 0; slot < pulls->job_capacity; slot++) {
        struct pull_job *job = &pulls->jobs[slot];
        for (uint32_t i = 0; i < job->node_count * job->objects.count; i++) {
            archive_expect(archive, job->needs[i] != NEED_WAITS);
            job->needs[i] &= (uint8_t)~NEED_SEEN;
        }
    }
}

static void archive_ready(struct archive *archive, struct pulls *pulls)
{
    uint32_t count = pulls->ready_count - pulls->ready_first;
    uint32_t *ready = pulls->ready != NULL ? pulls->ready + pulls->ready_first : NULL;
    if (!archive_is_reading(archive)) {
        ARCHIVE(archive, count);
        archive_bytes(archive, ready, count * sizeof *ready);
        return;
    }
    ARCHIVE_ARRAY(archive, pulls->ready, pulls->ready_capacity, pulls->ready_count);
    for (uint32_t r = 0; r < pulls->ready_count; r++)
        archive_expect(archive, pulls->ready[r] < pulls->job_capacity && pulls->jobs[pulls->ready[r]].waits == 0 &&
                                    pulls->jobs[pulls->ready[r]].node_count > 0);
}

void pulls_archive(struct archive *archive, struct pulls *pulls, uint32_t slot_count, time_ns now)
{
    ARCHIVE_KNOWS(struct pulls, 168);
    for (int source = 0; source < PULL_SOURCE_COUNT; source++)
        ARCHIVE(archive, pulls->moved.bytes[source]);
    caches_archive(archive, pulls->caches);
    for (uint32_t s = 0; s <= pulls->rack_count && !archive->is_broken; s++)
        storage_archive(archive, pulls->sources[s],
                        s == 0 ? pulls->node_count : pulls->rack_first[s] - pulls->rack_first[s - 1], now);
    if (!archive->is_broken)
        archive_jobs(archive, pulls, slot_count);
    for (node_id n = 0; n < pulls->node_count && !archive->is_broken; n++)
        archive_node(archive, pulls, n);
    if (!archive->is_broken)
        archive_ready(archive, pulls);
    if (archive->is_broken || !archive_is_reading(archive))
        return;
    check_moves(archive, pulls);
    check_waiters(archive, pulls);
}
