/* sim/caches/caches.h -- caches of bounded size: which objects each holds, and which goes first.
 *
 * Words.  An object is some bytes with an identity: a container image, the weights of a model, a set of data.  A pin is
 * a user of an object in a cache.
 *
 * Law.  The objects of a cache never take more than its bound.  An object that comes makes those without a pin leave,
 * the least recently used first, until it fits.  If it would not fit even then it is not kept, and nothing leaves.  A
 * use is an add, caches_use or the last unpin.
 *
 *   struct caches *caches = caches_new(node_count);
 *   caches_bound(caches, 7, 500 * GIB);
 *   if (!caches_has(caches, 7, object))
 *       is_kept = caches_add(caches, 7, object, bytes);
 *
 * Cost: O(1) for each call, but for each object that leaves, or that is pinned and is passed over.
 *
 * It does not: know what objects are, where they come from, or what that takes.
 */
#ifndef SIM_CACHES_CACHES_H
#define SIM_CACHES_CACHES_H

#include <stdbool.h>
#include <stdint.h>

struct caches;

struct caches *caches_new(uint32_t count); /* of bound 0, empty */
void caches_free(struct caches *caches);   /* NULL is allowed */
/* Before its first object.  bytes >= 0. */
void caches_bound(struct caches *caches, uint32_t cache, int64_t bytes);

bool caches_has(const struct caches *caches, uint32_t cache, uint32_t object);
/* Could it hold an object of that size if nothing were pinned? */
bool caches_could_keep(const struct caches *caches, uint32_t cache, int64_t bytes);
/* Put in an object that it does not have.  False: it is not kept. */
bool caches_add(struct caches *caches, uint32_t cache, uint32_t object, int64_t bytes);

/* Of an object that it has. */
void caches_use(struct caches *caches, uint32_t cache, uint32_t object);
void caches_pin(struct caches *caches, uint32_t cache, uint32_t object);
void caches_unpin(struct caches *caches, uint32_t cache, uint32_t object); /* as often as it was pinned */

int64_t caches_bytes(const struct caches *caches, uint32_t cache); /* of the objects that it has */

#endif
