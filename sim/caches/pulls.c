/* Pulls through caches; see sim/caches/pulls.h.
 *
 * Caches 0 to nodes - 1 are those of the nodes, the others those of the racks.  Source 0 is the registry, source 1 + r
 * the cache of rack r: each is a storage of its own, in which a transfer has the number of its node (in the registry),
 * or of its node within the rack. */
#include "sim/caches/pulls.h"

#include <assert.h>

#include "sim/caches/caches.h"
#include "sim/storage/storage.h"

#define PULL_NONE UINT32_MAX

/* An object that a node waits for. */
struct pull {
    uint32_t object;
    int64_t bytes;
    uint8_t state;         /* enum pull_state */
    uint8_t source;        /* enum pull_source, while it moves */
    uint32_t first_waiter; /* in the order in which they came; PULL_NONE */
    uint32_t next;         /* of its node, or of the free ones; PULL_NONE */
};
enum pull_state { PULL_QUEUED, PULL_AWAITS_RACK, PULL_MOVES };

struct waiter {
    uint32_t slot, need;
    uint32_t next; /* of its pull, or of the free ones; PULL_NONE */
};

/* An object of a job on one of its nodes: number node x objects + object. */
enum need_state { NEED_WAITS, NEED_PINNED, NEED_LOOSE /* there, but not kept */ };

struct pull_job {
    node_id *nodes;
    size_t node_capacity;
    uint8_t *needs; /* enum need_state */
    size_t need_capacity;
    struct job_objects objects;
    uint32_t node_count; /* 0: it has not begun, or has stopped */
    uint32_t waits;      /* needs that wait */
    struct pull_counts counts;
};

struct pull_node {
    uint32_t head; /* the first pull; PULL_NONE */
    uint32_t rack, number;
};

struct pulls {
    const struct pull_table *table;
    uint32_t node_count, rack_count;
    struct pull_node *nodes;
    uint32_t *rack_first; /* by rack, and one more: its first node in rack_nodes */
    node_id *rack_nodes;  /* in order */
    struct caches *caches;
    struct storage **sources;
    struct pull_job *jobs; /* by slot */
    size_t job_capacity;
    struct pull *all;
    size_t pull_capacity;
    uint32_t pull_used, pull_free;
    struct waiter *waiters;
    size_t waiter_capacity;
    uint32_t waiter_used, waiter_free;
    uint32_t *ready; /* slots, in the order in which they became so */
    size_t ready_capacity;
    uint32_t ready_count, ready_first;
    struct pull_counts moved;
};

/* ---- life ---- */

static void racks_find(struct pulls *pulls, const struct cluster *cluster)
{
    pulls->rack_count = 0;
    for (node_id n = 0; n < cluster->node_count; n++)
        if (cluster->nodes[n].unit >= pulls->rack_count)
            pulls->rack_count = cluster->nodes[n].unit + 1;
    pulls->rack_first = mem_zalloc((size_t)pulls->rack_count + 1, sizeof *pulls->rack_first);
    pulls->rack_nodes = mem_zalloc(cluster->node_count, sizeof *pulls->rack_nodes);
    for (node_id n = 0; n < cluster->node_count; n++)
        pulls->rack_first[cluster->nodes[n].unit + 1]++;
    for (uint32_t r = 0; r < pulls->rack_count; r++)
        pulls->rack_first[r + 1] += pulls->rack_first[r];
    uint32_t *filled = mem_zalloc(pulls->rack_count, sizeof *filled);
    for (node_id n = 0; n < cluster->node_count; n++) {
        const uint32_t rack = cluster->nodes[n].unit;
        pulls->nodes[n] = (struct pull_node){.head = PULL_NONE, .rack = rack, .number = filled[rack]++};
        pulls->rack_nodes[pulls->rack_first[rack] + pulls->nodes[n].number] = n;
    }
    mem_free(filled);
}

struct pulls *pulls_new(const struct pull_table *table, const struct cluster *cluster)
{
    struct pulls *pulls = mem_zalloc(1, sizeof *pulls);
    pulls->table = table;
    pulls->node_count = cluster->node_count;
    pulls->nodes = mem_zalloc(cluster->node_count, sizeof *pulls->nodes);
    racks_find(pulls, cluster);
    pulls->caches = caches_new(pulls->node_count + pulls->rack_count);
    pulls->sources = mem_zalloc((size_t)pulls->rack_count + 1, sizeof *pulls->sources);
    pulls->sources[0] = storage_new(table->registry_bytes_per_s, table->node_bytes_per_s);
    for (node_id n = 0; n < pulls->node_count; n++)
        caches_bound(pulls->caches, n, table->node_cache_bytes);
    for (uint32_t r = 0; r < pulls->rack_count; r++) {
        pulls->sources[r + 1] = storage_new(table->rack_bytes_per_s, table->node_bytes_per_s);
        caches_bound(pulls->caches, pulls->node_count + r, table->rack_cache_bytes);
    }
    pulls->pull_free = pulls->waiter_free = PULL_NONE;
    return pulls;
}

void pulls_free(struct pulls *pulls)
{
    if (pulls == NULL)
        return;
    for (uint32_t s = 0; s <= pulls->rack_count; s++)
        storage_free(pulls->sources[s]);
    for (size_t j = 0; j < pulls->job_capacity; j++) {
        mem_free(pulls->jobs[j].nodes);
        mem_free(pulls->jobs[j].needs);
    }
    caches_free(pulls->caches);
    mem_free(pulls->sources);
    mem_free(pulls->nodes);
    mem_free(pulls->rack_first);
    mem_free(pulls->rack_nodes);
    mem_free(pulls->jobs);
    mem_free(pulls->all);
    mem_free(pulls->waiters);
    mem_free(pulls->ready);
    mem_free(pulls);
}

/* ---- lists ---- */

static uint32_t new_pull(struct pulls *pulls)
{
    const uint32_t at = pulls->pull_free;
    if (at != PULL_NONE) {
        pulls->pull_free = pulls->all[at].next;
        return at;
    }
    MEM_GROW(pulls->all, pulls->pull_capacity, (size_t)pulls->pull_used + 1);
    return pulls->pull_used++;
}

static void free_pull(struct pulls *pulls, uint32_t at)
{
    pulls->all[at].next = pulls->pull_free;
    pulls->pull_free = at;
}

static void add_waiter(struct pulls *pulls, uint32_t pull, uint32_t slot, uint32_t need)
{
    uint32_t at = pulls->waiter_free;
    if (at != PULL_NONE) {
        pulls->waiter_free = pulls->waiters[at].next;
    } else {
        MEM_GROW(pulls->waiters, pulls->waiter_capacity, (size_t)pulls->waiter_used + 1);
        at = pulls->waiter_used++;
    }
    pulls->waiters[at] = (struct waiter){.slot = slot, .need = need, .next = PULL_NONE};
    uint32_t *link = &pulls->all[pull].first_waiter;
    while (*link != PULL_NONE)
        link = &pulls->waiters[*link].next;
    *link = at;
}

/* Take the waiter off the list at `link`. */
static void free_waiter(struct pulls *pulls, uint32_t *link)
{
    const uint32_t at = *link;
    *link = pulls->waiters[at].next;
    pulls->waiters[at].next = pulls->waiter_free;
    pulls->waiter_free = at;
}

/* The link to the node's pull of that object, or to the end of its list. */
static uint32_t *link_of(struct pulls *pulls, node_id node, uint32_t object)
{
    uint32_t *link = &pulls->nodes[node].head;
    while (*link != PULL_NONE && pulls->all[*link].object != object)
        link = &pulls->all[*link].next;
    return link;
}

/* ---- pulls begin ---- */

static uint32_t rack_cache(const struct pulls *pulls, node_id node)
{
    return pulls->node_count + pulls->nodes[node].rack;
}

/* Does another node of the rack pull the object from the registry? */
static bool is_fetched(const struct pulls *pulls, node_id node, uint32_t object)
{
    const uint32_t rack = pulls->nodes[node].rack;
    for (uint32_t i = pulls->rack_first[rack]; i < pulls->rack_first[rack + 1]; i++) {
        const uint32_t head = pulls->nodes[pulls->rack_nodes[i]].head;
        if (head != PULL_NONE && pulls->all[head].object == object && pulls->all[head].state == PULL_MOVES &&
            pulls->all[head].source == PULL_REGISTRY)
            return true;
    }
    return false;
}

static void count(struct pulls *pulls, uint32_t slot, enum pull_source source, int64_t bytes)
{
    pulls->jobs[slot].counts.bytes[source] += bytes;
    pulls->moved.bytes[source] += bytes;
}

/* The job for which it begins is charged; for the others that wait it is local. */
static void count_begin(struct pulls *pulls, const struct pull *pull)
{
    enum pull_source source = (enum pull_source)pull->source;
    for (uint32_t w = pull->first_waiter; w != PULL_NONE; w = pulls->waiters[w].next) {
        count(pulls, pulls->waiters[w].slot, source, pull->bytes);
        source = PULL_LOCAL;
    }
}

static void move(struct pulls *pulls, node_id node, enum pull_source source, time_ns now)
{
    const struct pull_node *own = &pulls->nodes[node];
    struct pull *pull = &pulls->all[own->head];
    pull->state = PULL_MOVES;
    pull->source = (uint8_t)source;
    count_begin(pulls, pull);
    if (source == PULL_REGISTRY)
        storage_begin(pulls->sources[0], node, pull->bytes, 1, now);
    else
        storage_begin(pulls->sources[1 + own->rack], own->number, pull->bytes, 1, now);
}

/* The first pull of the node begins, unless it moves already or must wait for the rack. */
static void begin_head(struct pulls *pulls, node_id node, time_ns now)
{
    const uint32_t head = pulls->nodes[node].head, cache = rack_cache(pulls, node);
    if (head == PULL_NONE || pulls->all[head].state == PULL_MOVES)
        return;
    struct pull *pull = &pulls->all[head];
    if (caches_has(pulls->caches, cache, pull->object)) {
        caches_use(pulls->caches, cache, pull->object);
        move(pulls, node, PULL_RACK, now);
    } else if (caches_could_keep(pulls->caches, cache, pull->bytes) && is_fetched(pulls, node, pull->object)) {
        pull->state = PULL_AWAITS_RACK;
    } else {
        move(pulls, node, PULL_REGISTRY, now);
    }
}

/* The job needs that object on the node: pin it, or wait for it. */
static void ask(struct pulls *pulls, uint32_t slot, uint32_t need, node_id node, const struct job_object *object)
{
    struct pull_job *job = &pulls->jobs[slot];
    if (caches_has(pulls->caches, node, object->id)) {
        caches_use(pulls->caches, node, object->id);
        caches_pin(pulls->caches, node, object->id);
        job->needs[need] = NEED_PINNED;
        count(pulls, slot, PULL_LOCAL, object->bytes);
        return;
    }
    uint32_t at = *link_of(pulls, node, object->id);
    if (at == PULL_NONE) {
        at = new_pull(pulls);
        *link_of(pulls, node, object->id) = at;
        pulls->all[at] = (struct pull){.object = object->id,
                                       .bytes = object->bytes,
                                       .state = PULL_QUEUED,
                                       .first_waiter = PULL_NONE,
                                       .next = PULL_NONE};
    } else if (pulls->all[at].state == PULL_MOVES) {
        count(pulls, slot, PULL_LOCAL, object->bytes);
    }
    add_waiter(pulls, at, slot, need);
    job->needs[need] = NEED_WAITS;
    job->waits++;
}

bool pulls_begin(struct pulls *pulls, uint32_t slot, const node_id *nodes, uint32_t count,
                 const struct job_objects *objects, time_ns now)
{
    MEM_GROW(pulls->jobs, pulls->job_capacity, (size_t)slot + 1);
    struct pull_job *job = &pulls->jobs[slot];
    assert(job->node_count == 0 && count > 0 && objects->count > 0);
    MEM_GROW(job->nodes, job->node_capacity, (size_t)count);
    MEM_GROW(job->needs, job->need_capacity, (size_t)count * objects->count);
    job->objects = *objects;
    job->node_count = count;
    job->waits = 0;
    for (uint32_t n = 0; n < count; n++) {
        job->nodes[n] = nodes[n];
        for (uint32_t o = 0; o < objects->count; o++)
            ask(pulls, slot, n * objects->count + o, nodes[n], &objects->of[o]);
    }
    for (uint32_t n = 0; n < count; n++)
        begin_head(pulls, nodes[n], now);
    return job->waits == 0;
}

/* ---- pulls end ---- */

/* The jobs that waited for the pull have its object. */
static void serve(struct pulls *pulls, struct pull *pull, node_id node, bool is_kept)
{
    while (pull->first_waiter != PULL_NONE) {
        const struct waiter waiter = pulls->waiters[pull->first_waiter];
        struct pull_job *job = &pulls->jobs[waiter.slot];
        free_waiter(pulls, &pull->first_waiter);
        job->needs[waiter.need] = is_kept ? NEED_PINNED : NEED_LOOSE;
        if (is_kept)
            caches_pin(pulls->caches, node, pull->object);
        if (--job->waits > 0)
            continue;
        MEM_GROW(pulls->ready, pulls->ready_capacity, (size_t)pulls->ready_count + 1);
        pulls->ready[pulls->ready_count++] = waiter.slot;
    }
}

/* The node begins its next pull; so do those of its rack that awaited what it fetched, in the order of nodes. */
static void begin_next(struct pulls *pulls, node_id node, const struct pull *ended, time_ns now)
{
    const uint32_t rack = pulls->nodes[node].rack;
    if (ended->source != PULL_REGISTRY) {
        begin_head(pulls, node, now);
        return;
    }
    for (uint32_t i = pulls->rack_first[rack]; i < pulls->rack_first[rack + 1]; i++) {
        const node_id other = pulls->rack_nodes[i];
        const uint32_t head = pulls->nodes[other].head;
        if (other == node || (head != PULL_NONE && pulls->all[head].object == ended->object))
            begin_head(pulls, other, now);
    }
}

static void end_pull(struct pulls *pulls, node_id node, time_ns now)
{
    const uint32_t at = pulls->nodes[node].head, cache = rack_cache(pulls, node);
    struct pull pull = pulls->all[at];
    const bool is_kept = caches_add(pulls->caches, node, pull.object, pull.bytes);
    pulls->nodes[node].head = pull.next;
    free_pull(pulls, at);
    serve(pulls, &pull, node, is_kept);
    if (pull.source == PULL_REGISTRY && !caches_has(pulls->caches, cache, pull.object))
        caches_add(pulls->caches, cache, pull.object, pull.bytes);
    begin_next(pulls, node, &pull, now);
}

/* End a pull that is whole; false: there is none. */
static bool end_one(struct pulls *pulls, time_ns now)
{
    uint32_t number;
    for (uint32_t s = 0; s <= pulls->rack_count; s++)
        if (storage_take(pulls->sources[s], now, &number)) {
            end_pull(pulls, s == 0 ? number : pulls->rack_nodes[pulls->rack_first[s - 1] + number], now);
            return true;
        }
    return false;
}

bool pulls_take(struct pulls *pulls, time_ns now, uint32_t *slot)
{
    while (pulls->ready_first == pulls->ready_count) {
        pulls->ready_first = pulls->ready_count = 0;
        if (!end_one(pulls, now))
            return false;
    }
    *slot = pulls->ready[pulls->ready_first++];
    return true;
}

time_ns pulls_next(const struct pulls *pulls)
{
    time_ns next = TIME_NEVER;
    for (uint32_t s = 0; s <= pulls->rack_count; s++) {
        const time_ns due = storage_next(pulls->sources[s]);
        next = due < next ? due : next;
    }
    return next;
}

/* ---- jobs stop ---- */

/* The job no longer waits for that object on the node; a pull for nobody is dropped unless it moves. */
static void give_up(struct pulls *pulls, uint32_t slot, uint32_t need, node_id node, uint32_t object)
{
    uint32_t *link = link_of(pulls, node, object);
    const uint32_t at = *link;
    assert(at != PULL_NONE);
    uint32_t *waiter = &pulls->all[at].first_waiter;
    while (pulls->waiters[*waiter].slot != slot || pulls->waiters[*waiter].need != need)
        waiter = &pulls->waiters[*waiter].next;
    free_waiter(pulls, waiter);
    if (pulls->all[at].first_waiter != PULL_NONE || pulls->all[at].state == PULL_MOVES)
        return;
    *link = pulls->all[at].next;
    free_pull(pulls, at);
}

static void forget_ready(struct pulls *pulls, uint32_t slot)
{
    uint32_t kept = pulls->ready_first;
    for (uint32_t r = pulls->ready_first; r < pulls->ready_count; r++)
        if (pulls->ready[r] != slot)
            pulls->ready[kept++] = pulls->ready[r];
    pulls->ready_count = kept;
}

void pulls_stop(struct pulls *pulls, uint32_t slot, time_ns now)
{
    if (slot >= pulls->job_capacity || pulls->jobs[slot].node_count == 0)
        return;
    struct pull_job *job = &pulls->jobs[slot];
    const uint32_t objects = job->objects.count;
    for (uint32_t need = job->node_count * objects; need-- > 0;) {
        const node_id node = job->nodes[need / objects];
        const uint32_t object = job->objects.of[need % objects].id;
        if (job->needs[need] == NEED_PINNED)
            caches_unpin(pulls->caches, node, object);
        else if (job->needs[need] == NEED_WAITS)
            give_up(pulls, slot, need, node, object);
    }
    for (uint32_t n = 0; n < job->node_count; n++)
        begin_head(pulls, job->nodes[n], now);
    forget_ready(pulls, slot);
    job->node_count = 0;
}

/* ---- what was pulled ---- */

struct pull_counts pulls_counts(const struct pulls *pulls, uint32_t slot)
{
    return slot < pulls->job_capacity ? pulls->jobs[slot].counts : (struct pull_counts){{0}};
}

void pulls_clear(struct pulls *pulls, uint32_t slot)
{
    if (slot < pulls->job_capacity)
        pulls->jobs[slot].counts = (struct pull_counts){{0}};
}

struct pull_counts pulls_moved(const struct pulls *pulls)
{
    return pulls->moved;
}

bool pulls_has(const struct pulls *pulls, node_id node, uint32_t object)
{
    return caches_has(pulls->caches, node, object);
}
