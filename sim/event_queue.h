/* sim/event_queue.h -- what will happen, in a total order: (time, kind, sequence).
 *
 * Law: events of one instant come out by kind, in the order of enum event_kind, then first in, first out.
 * An event is cancelled by its generation: bump the generation of its subject and the event is stale; the
 * consumer drops it when it comes out.  (Measured against handles: no back pointers to keep when entries move,
 * and stale events are rare; `make bench` prints the cost of a push and pop.)
 * A 4-ary heap; push and pop O(log n).
 *
 * It does not: know what events mean.
 */
#ifndef SIM_EVENT_QUEUE_H
#define SIM_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"

enum event_kind {               /* the order within one instant */
                  EVENT_NODE,   /* a node or GPU changes */
                  EVENT_END,    /* a job ends */
                  EVENT_EVICT,  /* a job has left, saved or not */
                  EVENT_EFFECT, /* a START takes effect */
                  EVENT_SUBMIT, /* reserved for submissions, which come from the source */
                  EVENT_TIMER,
};

struct event {
    time_ns time;
    uint64_t order;      /* kind << 56 | sequence */
    uint32_t subject;    /* e.g. a job's slot */
    uint32_t generation; /* of the subject when it was pushed */
};

static inline enum event_kind event_kind(const struct event *event)
{
    return (enum event_kind)(event->order >> 56);
}

struct event_queue {
    struct event *heap;
    size_t capacity;
    uint32_t count;
    uint64_t sequence;
}; /* {0} is empty */

void event_queue_release(struct event_queue *queue);
void event_queue_push(struct event_queue *queue, time_ns time, enum event_kind kind,
                      uint32_t subject, uint32_t generation);
struct event event_queue_pop(struct event_queue *queue); /* must not be empty */

static inline time_ns event_queue_time(const struct event_queue *queue)
{
    return queue->count == 0 ? TIME_NEVER : queue->heap[0].time;
}

#endif
