#include "sim/event_queue.h"

#include <assert.h>

enum { ARITY = 4, KIND_SHIFT = 56 };

void event_queue_release(struct event_queue *queue)
{
    mem_free(queue->heap);
    *queue = (struct event_queue){0};
}

/* (time, kind, sequence) as one number: which child is first is a toss-up, and numbers compare without branches. */
typedef unsigned __int128 event_key;

static inline event_key key_of(const struct event *event)
{
    return (event_key)(uint64_t)event->time << 64 | event->order;
}

static inline size_t earlier(const struct event *heap, size_t a, size_t b)
{
    return a + (b - a) * (key_of(&heap[b]) < key_of(&heap[a]));
}

static inline size_t first_child(const struct event *heap, size_t child, size_t count)
{
    if (child + ARITY <= count)
        return earlier(heap, earlier(heap, child, child + 1), earlier(heap, child + 2, child + 3));
    size_t best = child;
    for (size_t c = child + 1; c < count; c++)
        best = earlier(heap, best, c);
    return best;
}

void event_queue_push(struct event_queue *queue, time_ns time, enum event_kind kind,
                      uint32_t subject, uint32_t generation)
{
    assert(time >= 0);
    struct event event = {time, (uint64_t)kind << KIND_SHIFT | queue->sequence++, subject,
                          generation};
    if (queue->count == queue->capacity)
        MEM_GROW(queue->heap, queue->capacity, (size_t)queue->count + 1);
    uint32_t at = queue->count++;
    while (at > 0) {
        uint32_t up = (at - 1) / ARITY;
        if (key_of(&event) >= key_of(&queue->heap[up]))
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
    size_t count = queue->count, at = 0;
    for (size_t child = 1; child < count; child = at * ARITY + 1) {
        size_t best = first_child(heap, child, count);
        if (key_of(&last) <= key_of(&heap[best]))
            break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = last; /* of an empty heap: slot 0, unused */
    return first;
}
