#include "sim/event_queue.h"

#include <assert.h>

enum { ARITY = 4, KIND_SHIFT = 56 };

void event_queue_release(struct event_queue *queue)
{
    mem_free(queue->heap);
    *queue = (struct event_queue){0};
}

static inline bool comes_before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void event_queue_push(struct event_queue *queue, time_ns time, enum event_kind kind,
                      uint32_t subject, uint32_t generation)
{
    struct event event = {time, (uint64_t)kind << KIND_SHIFT | queue->sequence++, subject,
                          generation};
    if (queue->count == queue->capacity)
        MEM_GROW(queue->heap, queue->capacity, (size_t)queue->count + 1);
    uint32_t at = queue->count++;
    while (at > 0) {
        uint32_t up = (at - 1) / ARITY;
        if (!comes_before(&event, &queue->heap[up]))
            break;
        queue->heap[at] = queue->heap[up];
        at = up;
    }
    queue->heap[at] = event;
}

struct event event_queue_pop(struct event_queue *queue)
{
    assert(queue->count > 0);
    struct event *heap = queue->heap;
    struct event first = heap[0];
    struct event last = heap[--queue->count];
    uint32_t count = queue->count, at = 0;
    while (true) {
        uint32_t child = at * ARITY + 1, best = child;
        if (child >= count)
            break;
        uint32_t end = child + ARITY < count ? child + ARITY : count;
        for (uint32_t c = child + 1; c < end; c++)
            if (comes_before(&heap[c], &heap[best]))
                best = c;
        if (!comes_before(&heap[best], &last))
            break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = last; /* of an empty heap: slot 0, unused */
    return first;
}
