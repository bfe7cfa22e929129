/* sim/engine/event_queue.h -- the pending events in a total order: (time, kind, sequence).
 *
 * Law: events of one instant come out by kind, in the order of enum event_kind, then first in, first out. An event is
 * cancelled by its generation: bump the generation of its subject and the event is stale; the consumer drops it when
 * it comes out.  (Measured against handles: no back pointers to keep when entries move, and stale events are rare.)
 *
 * Few events are due soon, and most wait long: only those before the `horizon` are in order, in a 4-ary heap.  All
 * others wait in slots, in any order.  A slot holds the times whose highest digit that differs from `origin` has a
 * given place and value.  When the heap is empty the first slot is opened: its events go into
 * the heap if they are few, else each to a slot of a lower digit.  So a push or pop costs the same as in a heap of a
 * dozen, however many events there are; at worst O(log n), and a move for each digit of a time.
 *
 * It does not: know what events mean.
 */
#ifndef SIM_ENGINE_EVENT_QUEUE_H
#define SIM_ENGINE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"

/* The order within one instant. */
enum event_kind {
    EVENT_NODE,       /* a node or GPU changes */
    EVENT_END,        /* a job ends */
    EVENT_EVICT,      /* a job has left, saved or not */
    EVENT_EFFECT,     /* a START takes effect */
    EVENT_SUBMIT,     /* reserved for submissions, which come from the source */
    EVENT_TIMER,      /* of the monitor */
    EVENT_CHECKPOINT, /* a job begins to write a checkpoint, or has written or loaded one */
    EVENT_STORAGE,    /* the storage has moved all of a transfer */
    EVENT_PULLS,      /* a pull of an object is whole */
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

enum {
    EVENT_DIGIT_BITS = 4, /* of a time; a power of two */
    EVENT_DIGITS = 64 / EVENT_DIGIT_BITS,
    EVENT_DIGIT_VALUES = 1 << EVENT_DIGIT_BITS,
};

struct event_slot {
    struct event *events; /* in any order */
    size_t capacity, count;
};

struct event_queue {
    struct event *heap; /* not empty while there are events; its first is the first of all */
    size_t capacity;
    uint32_t heap_count;
    uint32_t count; /* of all events */
    uint64_t sequence;
    uint64_t horizon;            /* events before it are in the heap, all others in the slots */
    uint64_t origin;             /* <= horizon */
    uint16_t used[EVENT_DIGITS]; /* by digit, the lowest first: slots that are not empty, as bits */
    struct event_slot slots[EVENT_DIGITS * EVENT_DIGIT_VALUES]; /* by digit, then by the digit's value */
};                                                              /* {0} is empty */

void event_queue_release(struct event_queue *queue);
void event_queue_push(struct event_queue *queue, time_ns time, enum event_kind kind, uint32_t subject,
                      uint32_t generation);
struct event event_queue_pop(struct event_queue *queue); /* must not be empty */

/* Is there an event that this says true of?  Asks in any order.  O(events). */
typedef bool event_queue_asked_fn(const void *self, const struct event *event);
bool event_queue_has(const struct event_queue *queue, event_queue_asked_fn *asked, const void *self);

static inline time_ns event_queue_time(const struct event_queue *queue)
{
    return queue->count == 0 ? TIME_NEVER : queue->heap[0].time;
}

#endif
