/* topologies/communication_set.h -- what jobs exchange, each of several equal ones kept once.
 *
 * Law: they are numbered from 0 in the order in which they came.  A pointer to one stays valid until the release, so
 * two of the same set are equal if and only if their addresses are.
 *
 *   struct communication_set set = {0};
 *   job.communication = communication_set_own(&set, &declared);
 */
#ifndef TOPOLOGIES_COMMUNICATION_SET_H
#define TOPOLOGIES_COMMUNICATION_SET_H

#include "base/mem.h"
#include "topologies/communication.h"

/* Where one was declared first. */
struct communication_origin {
    const char *file;    /* borrowed; NULL: the trace whose jobs these are */
    size_t line, column; /* line 0: not known */
};

struct communication_set {
    const struct communication **items;   /* by number */
    struct communication_origin *origins; /* by number */
    size_t capacity, origin_capacity;
    uint32_t count;
    uint32_t *slots; /* open addressing: number + 1; 0: empty */
    uint32_t slot_count;
    struct arena arena;
}; /* {0} is empty */

/* The set's own copy, borrowed until the release; NULL for NULL.  O(1) if the set has an equal one. */
const struct communication *communication_set_own(struct communication_set *set,
                                                  const struct communication *communication);

/* The one that came last, of which there must be one, was declared there. */
void communication_set_note(struct communication_set *set, struct communication_origin origin);

/* The number of the equal one, which must be there. */
uint32_t communication_set_number(const struct communication_set *set, const struct communication *communication);
void communication_set_release(struct communication_set *set);

#endif
