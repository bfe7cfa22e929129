#include "sim/engine/event_queue.h"

#include <assert.h>
#include <stdlib.h>

enum {
    ARITY = 4,
    KIND_SHIFT = 56,
    FEW = 32,            /* a slot with at most this many events goes into the heap */
    ROOM_KEPT_MAX = 4096 /* events that an empty slot keeps memory for */
};

void event_queue_release(struct event_queue *queue)
{
    for (unsigned i = 0; i < EVENT_DIGITS * EVENT_DIGIT_VALUES; i++)
        mem_free(queue->slots[i].events);
    mem_free(queue->heap);
    *queue = (struct event_queue){0};
}

/* ---- The heap ---------------------------------------------------------------------------------- */

/* (time, kind, sequence) as one number: numbers compare without branches, and which child is first cannot be
 * predicted. */
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

static inline void heap_push(struct event_queue *queue, const struct event *event)
{
    if (queue->heap_count == queue->capacity)
        MEM_GROW(queue->heap, queue->capacity, (size_t)queue->heap_count + 1);
    struct event *heap = queue->heap;
    size_t at = queue->heap_count++;
    while (at > 0) {
        size_t up = (at - 1) / ARITY;
        if (key_of(event) >= key_of(&heap[up]))
            break;
        heap[at] = heap[up];
        at = up;
    }
    heap[at] = *event;
}

static inline void heap_drop_first(struct event_queue *queue)
{
    struct event *heap = queue->heap;
    size_t count = --queue->heap_count, at = 0;
    struct event last = heap[count];
    for (size_t child = 1; child < count; child = at * ARITY + 1) {
        size_t best = first_child(heap, child, count);
        if (key_of(&last) <= key_of(&heap[best]))
            break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = last; /* if the heap is empty now, slot 0 is not used */
}

/* ---- The slots --------------------------------------------------------------------------------- */

static inline void slot_push(struct event_queue *queue, const struct event *event)
{
    const uint64_t time = (uint64_t)event->time, differs = time ^ queue->origin;
    const unsigned digit = (63 - (unsigned)__builtin_clzll(differs | 1)) / EVENT_DIGIT_BITS;
    const unsigned value = (time >> (digit * EVENT_DIGIT_BITS)) % EVENT_DIGIT_VALUES;
    struct event_slot *slot = &queue->slots[digit * EVENT_DIGIT_VALUES + value];
    if (slot->count == slot->capacity)
        MEM_GROW(slot->events, slot->capacity, slot->count + 1);
    slot->events[slot->count++] = *event;
    queue->used[digit] |= (uint16_t)(1u << value);
}

static void slot_clear(struct event_slot *slot)
{
    slot->count = 0;
    if (slot->capacity <= ROOM_KEPT_MAX)
        return;
    mem_free(slot->events);
    *slot = (struct event_slot){0};
}

static void open_first_slot(struct event_queue *queue)
{
    unsigned digit = 0;
    while (queue->used[digit] == 0)
        digit++;
    const unsigned value = (unsigned)__builtin_ctz(queue->used[digit]);
    struct event_slot *slot = &queue->slots[digit * EVENT_DIGIT_VALUES + value];
    const uint64_t span = UINT64_C(1) << (digit * EVENT_DIGIT_BITS); /* of the slot's times */
    const bool are_few = slot->count <= FEW || span == 1;
    queue->used[digit] &= (uint16_t) ~(1u << value);
    queue->origin = (queue->origin & ~(span * EVENT_DIGIT_VALUES - 1)) | value * span;
    queue->horizon = are_few ? queue->origin + span : queue->origin;
    for (size_t i = 0; i < slot->count; i++)
        if (are_few)
            heap_push(queue, &slot->events[i]);
        else
            slot_push(queue, &slot->events[i]);
    slot_clear(slot);
}

/* ---- Both -------------------------------------------------------------------------------------- */

static inline void push(struct event_queue *queue, const struct event *event)
{
    const uint64_t time = (uint64_t)event->time;
    if (queue->count++ == 0) {
        queue->origin = time;
        queue->horizon = time + 1;
    }
    if (time < queue->horizon)
        heap_push(queue, event);
    else
        slot_push(queue, event);
}

void event_queue_push(struct event_queue *queue, time_ns time, enum event_kind kind, uint32_t subject,
                      uint32_t generation)
{
    assert(time >= 0);
    struct event event = {time, (uint64_t)kind << KIND_SHIFT | queue->sequence++, subject, generation};
    push(queue, &event);
}

struct event event_queue_pop(struct event_queue *queue)
{
    assert(queue->count > 0);
    struct event first = queue->heap[0];
    heap_drop_first(queue);
    queue->count--;
    while (queue->heap_count == 0 && queue->count > 0)
        open_first_slot(queue);
    return first;
}

bool event_queue_has(const struct event_queue *queue, event_queue_asked_fn *asked, const void *self)
{
    bool has = false;
    for (uint32_t i = 0; i < queue->heap_count && !has; i++)
        has = asked(self, &queue->heap[i]);
    for (size_t s = 0; s < sizeof queue->slots / sizeof *queue->slots && !has; s++)
        for (size_t i = 0; i < queue->slots[s].count && !has; i++)
            has = asked(self, &queue->slots[s].events[i]);
    return has;
}
