/* Caches of bounded size; see sim/caches/caches.h.
 *
 * All entries lie in one pool.  Those of a cache form a list by last use, and all are found through one hash table. */
#include "sim/caches/caches.h"

#include <assert.h>

#include "base/hash.h"
#include "base/mem.h"

#define ENTRY_NONE UINT32_MAX

struct entry {
    uint32_t cache, object;
    int64_t bytes;
    uint32_t pins;
    uint32_t older, newer; /* of its cache */
    uint32_t next;         /* of its chain in the hash table, or of the free entries */
};

struct cache {
    int64_t bound, bytes, pinned; /* pinned: bytes of the objects with a pin */
    uint32_t oldest, newest;
};

struct caches {
    struct cache *of;
    uint32_t count;
    struct entry *entries;
    size_t entry_capacity;
    uint32_t used, alive, first_free;
    uint32_t *chains;
    uint32_t chain_count; /* a power of two */
};

struct caches *caches_new(uint32_t count)
{
    enum { CHAINS_FIRST = 64 };
    struct caches *caches = mem_zalloc(1, sizeof *caches);
    caches->of = mem_zalloc(count > 0 ? count : 1, sizeof *caches->of);
    caches->count = count;
    for (uint32_t c = 0; c < count; c++)
        caches->of[c].oldest = caches->of[c].newest = ENTRY_NONE;
    caches->first_free = ENTRY_NONE;
    caches->chain_count = CHAINS_FIRST;
    caches->chains = mem_alloc(CHAINS_FIRST * sizeof *caches->chains);
    for (uint32_t i = 0; i < CHAINS_FIRST; i++)
        caches->chains[i] = ENTRY_NONE;
    return caches;
}

void caches_free(struct caches *caches)
{
    if (caches == NULL)
        return;
    mem_free(caches->of);
    mem_free(caches->entries);
    mem_free(caches->chains);
    mem_free(caches);
}

void caches_bound(struct caches *caches, uint32_t cache, int64_t bytes)
{
    assert(cache < caches->count && caches->of[cache].bytes == 0 && bytes >= 0);
    caches->of[cache].bound = bytes;
}

/* ---- The hash table ---- */

static uint32_t chain_of(const struct caches *caches, uint32_t cache, uint32_t object)
{
    return (uint32_t)hash_mix((uint64_t)cache << 32 | object, 0) & (caches->chain_count - 1);
}

static uint32_t find(const struct caches *caches, uint32_t cache, uint32_t object)
{
    uint32_t at = caches->chains[chain_of(caches, cache, object)];
    while (at != ENTRY_NONE && (caches->entries[at].cache != cache || caches->entries[at].object != object))
        at = caches->entries[at].next;
    return at;
}

static struct entry *entry_of(struct caches *caches, uint32_t cache, uint32_t object)
{
    const uint32_t at = find(caches, cache, object);
    assert(at != ENTRY_NONE);
    return &caches->entries[at];
}

static void chain(struct caches *caches, uint32_t at)
{
    uint32_t *head = &caches->chains[chain_of(caches, caches->entries[at].cache, caches->entries[at].object)];
    caches->entries[at].next = *head;
    *head = at;
}

static void unchain(struct caches *caches, uint32_t at)
{
    uint32_t *link = &caches->chains[chain_of(caches, caches->entries[at].cache, caches->entries[at].object)];
    while (*link != at)
        link = &caches->entries[*link].next;
    *link = caches->entries[at].next;
}

/* Twice as many chains.  Chains hold an entry each on average. */
static void spread(struct caches *caches)
{
    const uint32_t before = caches->chain_count;
    uint32_t *old = caches->chains;
    caches->chain_count *= 2;
    caches->chains = mem_alloc(caches->chain_count * sizeof *caches->chains);
    for (uint32_t i = 0; i < caches->chain_count; i++)
        caches->chains[i] = ENTRY_NONE;
    for (uint32_t i = 0; i < before; i++)
        for (uint32_t at = old[i], next; at != ENTRY_NONE; at = next) {
            next = caches->entries[at].next;
            chain(caches, at);
        }
    mem_free(old);
}

/* ---- The order of use ---- */

static void link_newest(struct caches *caches, uint32_t at)
{
    struct entry *entry = &caches->entries[at];
    struct cache *cache = &caches->of[entry->cache];
    entry->newer = ENTRY_NONE;
    entry->older = cache->newest;
    if (cache->newest != ENTRY_NONE)
        caches->entries[cache->newest].newer = at;
    else
        cache->oldest = at;
    cache->newest = at;
}

static void unlink_entry(struct caches *caches, uint32_t at)
{
    const struct entry *entry = &caches->entries[at];
    struct cache *cache = &caches->of[entry->cache];
    if (entry->older != ENTRY_NONE)
        caches->entries[entry->older].newer = entry->newer;
    else
        cache->oldest = entry->newer;
    if (entry->newer != ENTRY_NONE)
        caches->entries[entry->newer].older = entry->older;
    else
        cache->newest = entry->older;
}

static void drop(struct caches *caches, uint32_t at)
{
    struct entry *entry = &caches->entries[at];
    unlink_entry(caches, at);
    unchain(caches, at);
    caches->of[entry->cache].bytes -= entry->bytes;
    entry->next = caches->first_free;
    caches->first_free = at;
    caches->alive--;
}

static uint32_t new_entry(struct caches *caches)
{
    uint32_t at = caches->first_free;
    if (++caches->alive > caches->chain_count)
        spread(caches);
    if (at != ENTRY_NONE) {
        caches->first_free = caches->entries[at].next;
        return at;
    }
    MEM_GROW(caches->entries, caches->entry_capacity, (size_t)caches->used + 1);
    return caches->used++;
}

/* ---- Objects ---- */

bool caches_has(const struct caches *caches, uint32_t cache, uint32_t object)
{
    return find(caches, cache, object) != ENTRY_NONE;
}

bool caches_could_keep(const struct caches *caches, uint32_t cache, int64_t bytes)
{
    return bytes <= caches->of[cache].bound;
}

bool caches_add(struct caches *caches, uint32_t cache, uint32_t object, int64_t bytes)
{
    struct cache *own = &caches->of[cache];
    assert(cache < caches->count && bytes >= 0 && !caches_has(caches, cache, object));
    if (bytes > own->bound - own->pinned)
        return false;
    for (uint32_t at = own->oldest, newer; own->bytes > own->bound - bytes; at = newer) {
        newer = caches->entries[at].newer;
        if (caches->entries[at].pins == 0)
            drop(caches, at);
    }
    const uint32_t at = new_entry(caches);
    caches->entries[at] = (struct entry){.cache = cache, .object = object, .bytes = bytes};
    own->bytes += bytes;
    chain(caches, at);
    link_newest(caches, at);
    return true;
}

void caches_use(struct caches *caches, uint32_t cache, uint32_t object)
{
    const uint32_t at = find(caches, cache, object);
    assert(at != ENTRY_NONE);
    unlink_entry(caches, at);
    link_newest(caches, at);
}

void caches_pin(struct caches *caches, uint32_t cache, uint32_t object)
{
    struct entry *entry = entry_of(caches, cache, object);
    if (entry->pins++ == 0)
        caches->of[cache].pinned += entry->bytes;
}

void caches_unpin(struct caches *caches, uint32_t cache, uint32_t object)
{
    struct entry *entry = entry_of(caches, cache, object);
    assert(entry->pins > 0);
    if (--entry->pins > 0)
        return;
    caches->of[cache].pinned -= entry->bytes;
    caches_use(caches, cache, object);
}

int64_t caches_bytes(const struct caches *caches, uint32_t cache)
{
    return caches->of[cache].bytes;
}
