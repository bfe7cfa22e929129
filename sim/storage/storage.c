/* Transfers that share a bandwidth; see sim/storage/storage.h.
 *
 * `moved` is what a node that transfers all the time has moved since the run began, in byte-ns per s: a transfer is
 * whole when it has risen by its part.  The goals do not change when the rate does, so they stay in one heap. */
#include "sim/storage/storage.h"

#include <assert.h>

#include "base/mem.h"

__extension__ typedef __int128 wide_bytes; /* bytes x ns per s */

#define NEXT_UNKNOWN (-1)

struct transfer {
    wide_bytes goal; /* it is whole when `moved` has come this far */
    uint32_t nodes;
    uint32_t place; /* in the heap, from 1 on; 0: none is under way */
};

struct storage {
    int64_t bytes_per_s, node_bytes_per_s; /* INT64_MAX: no limit */
    wide_bytes moved;                      /* at `since` */
    time_ns since;
    time_ns next;        /* when the next transfer is whole; NEXT_UNKNOWN: something changed since that was found */
    uint64_t node_count; /* of all transfers */
    struct transfer *transfers; /* by slot */
    size_t transfer_capacity;
    uint32_t *heap; /* slots; the least goal first, then the lowest slot */
    size_t heap_capacity;
    uint32_t count;
};

static int64_t limit_of(int64_t bytes_per_s)
{
    return bytes_per_s == STORAGE_UNLIMITED ? INT64_MAX : bytes_per_s;
}

struct storage *storage_new(int64_t bytes_per_s, int64_t node_bytes_per_s)
{
    assert(bytes_per_s >= 0 && node_bytes_per_s >= 0);
    struct storage *storage = mem_zalloc(1, sizeof *storage);
    storage->bytes_per_s = limit_of(bytes_per_s);
    storage->node_bytes_per_s = limit_of(node_bytes_per_s);
    storage->next = NEXT_UNKNOWN;
    return storage;
}

void storage_free(struct storage *storage)
{
    if (storage == NULL)
        return;
    mem_free(storage->transfers);
    mem_free(storage->heap);
    mem_free(storage);
}

/* ---- Rates ---- */

static int64_t rate_of(int64_t bytes_per_s, int64_t node_bytes_per_s, uint64_t nodes)
{
    const int64_t share = (int64_t)((uint64_t)bytes_per_s / nodes);
    const int64_t rate = share < node_bytes_per_s ? share : node_bytes_per_s;
    return rate > 0 ? rate : 1;
}

static wide_bytes moved_at(const struct storage *storage, time_ns at)
{
    if (storage->node_count == 0)
        return storage->moved;
    const int64_t rate = rate_of(storage->bytes_per_s, storage->node_bytes_per_s, storage->node_count);
    return storage->moved + (wide_bytes)rate * (at - storage->since);
}

/* Before transfers change. */
static void advance(struct storage *storage, time_ns now)
{
    assert(now >= storage->since);
    storage->moved = moved_at(storage, now);
    storage->since = now;
    storage->next = NEXT_UNKNOWN;
}

static wide_bytes part_of(wide_bytes all, uint32_t nodes)
{
    return (all + nodes - 1) / nodes;
}

time_ns storage_alone(int64_t bytes_per_s, int64_t node_bytes_per_s, int64_t bytes, uint32_t nodes)
{
    const int64_t rate = rate_of(limit_of(bytes_per_s), limit_of(node_bytes_per_s), nodes);
    const wide_bytes part = part_of(bytes, nodes) * TIME_NS_PER_S;
    const wide_bytes took = (part + rate - 1) / rate;
    return took < TIME_NEVER ? (time_ns)took : TIME_NEVER;
}

/* ---- The heap ---- */

static bool is_before(const struct storage *storage, uint32_t a, uint32_t b)
{
    const wide_bytes x = storage->transfers[a].goal, y = storage->transfers[b].goal;
    return x != y ? x < y : a < b;
}

static void put(struct storage *storage, uint32_t at, uint32_t slot)
{
    storage->heap[at] = slot;
    storage->transfers[slot].place = at + 1;
}

static void rise(struct storage *storage, uint32_t at)
{
    const uint32_t slot = storage->heap[at];
    for (; at > 0 && is_before(storage, slot, storage->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(storage, at, storage->heap[(at - 1) / 2]);
    put(storage, at, slot);
}

static void sink(struct storage *storage, uint32_t at)
{
    const uint32_t slot = storage->heap[at];
    for (uint32_t next = 2 * at + 1; next < storage->count; next = 2 * at + 1) {
        if (next + 1 < storage->count && is_before(storage, storage->heap[next + 1], storage->heap[next]))
            next++;
        if (!is_before(storage, storage->heap[next], slot))
            break;
        put(storage, at, storage->heap[next]);
        at = next;
    }
    put(storage, at, slot);
}

static void push(struct storage *storage, uint32_t slot)
{
    MEM_GROW(storage->heap, storage->heap_capacity, (size_t)storage->count + 1);
    storage->heap[storage->count] = slot;
    rise(storage, storage->count++);
}

static void pull(struct storage *storage, uint32_t slot)
{
    const uint32_t at = storage->transfers[slot].place - 1;
    const uint32_t last = storage->heap[--storage->count];
    storage->transfers[slot].place = 0;
    if (last == slot)
        return;
    storage->heap[at] = last;
    rise(storage, at);
    sink(storage, storage->transfers[last].place - 1);
}

/* ---- Transfers ---- */

void storage_begin(struct storage *storage, uint32_t slot, int64_t bytes, uint32_t nodes, time_ns now)
{
    assert(bytes >= 0 && nodes > 0 && !storage_has(storage, slot));
    MEM_GROW(storage->transfers, storage->transfer_capacity, (size_t)slot + 1);
    advance(storage, now);
    storage->node_count += nodes;
    storage->transfers[slot] =
        (struct transfer){.goal = storage->moved + part_of(bytes, nodes) * TIME_NS_PER_S, .nodes = nodes};
    push(storage, slot);
}

void storage_stop(struct storage *storage, uint32_t slot, time_ns now)
{
    assert(storage_has(storage, slot));
    advance(storage, now);
    storage->node_count -= storage->transfers[slot].nodes;
    pull(storage, slot);
}

void storage_resize(struct storage *storage, uint32_t slot, uint32_t nodes, time_ns now)
{
    assert(nodes > 0 && storage_has(storage, slot));
    struct transfer *transfer = &storage->transfers[slot];
    if (nodes == transfer->nodes)
        return;
    advance(storage, now);
    const wide_bytes left = transfer->goal > storage->moved ? transfer->goal - storage->moved : 0;
    pull(storage, slot);
    transfer->goal = storage->moved + part_of(left * transfer->nodes, nodes);
    storage->node_count += nodes;
    storage->node_count -= transfer->nodes;
    transfer->nodes = nodes;
    push(storage, slot);
}

bool storage_has(const struct storage *storage, uint32_t slot)
{
    return slot < storage->transfer_capacity && storage->transfers[slot].place > 0;
}

bool storage_is_whole(const struct storage *storage, uint32_t slot, time_ns now)
{
    assert(storage_has(storage, slot));
    return moved_at(storage, now) >= storage->transfers[slot].goal;
}

static time_ns find_next(const struct storage *storage)
{
    if (storage->count == 0)
        return TIME_NEVER;
    const wide_bytes left = storage->transfers[storage->heap[0]].goal - storage->moved;
    const int64_t rate = rate_of(storage->bytes_per_s, storage->node_bytes_per_s, storage->node_count);
    const wide_bytes takes = left > 0 ? (left + rate - 1) / rate : 0;
    return takes < TIME_NEVER - storage->since ? storage->since + (time_ns)takes : TIME_NEVER;
}

time_ns storage_next(struct storage *storage)
{
    if (storage->next == NEXT_UNKNOWN)
        storage->next = find_next(storage);
    return storage->next;
}

bool storage_take(struct storage *storage, time_ns now, uint32_t *slot)
{
    if (storage->count == 0 || storage_next(storage) > now)
        return false;
    *slot = storage->heap[0];
    storage_stop(storage, *slot, now);
    return true;
}
