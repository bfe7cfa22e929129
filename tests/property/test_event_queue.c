/* The event queue against a sorted list: random pushes and pops come out in the order (time, kind, sequence). */
#include "tests/support/test.h"

#include "base/random.h"
#include "sim/engine/event_queue.h"

enum { STEPS = 20000 };

struct naive {
    struct event events[STEPS];
    uint32_t count;
};

/* The first of the unsorted list, by definition; events that tie in time and kind come out first in, first out. */
static struct event naive_pop(struct naive *naive)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < naive->count; i++) {
        const struct event *a = &naive->events[i], *b = &naive->events[best];
        if (a->time < b->time || (a->time == b->time && event_kind(a) < event_kind(b)))
            best = i;
    }
    struct event event = naive->events[best];
    for (uint32_t i = best + 1; i < naive->count; i++)
        naive->events[i - 1] = naive->events[i];
    naive->count--;
    return event;
}

/* Many ties, and times before those that came out already. */
static time_ns narrow_time(struct random_stream *stream, time_ns now)
{
    (void)now;
    return random_below(stream, 50);
}

/* From now on, at distances from nothing to the end of time; some round, so that they tie far away. */
static time_ns wide_time(struct random_stream *stream, time_ns now)
{
    const uint64_t far = (uint64_t)random_below(stream, UINT32_MAX) << 31 >> random_below(stream, 63);
    const uint64_t time = (uint64_t)now + far;
    if (time > INT64_MAX)
        return INT64_MAX;
    return (time_ns)(random_below(stream, 4) == 0 && time > 2000 ? time / 1000 * 1000 : time);
}

static void check_order(time_ns (*draw_time)(struct random_stream *stream, time_ns now))
{
    static struct naive naive;
    struct event_queue queue = {0};
    struct random_stream stream;
    time_ns now = 0;
    naive.count = 0;
    random_stream_init(&stream, 42, "events", 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (queue.count == 0 || random_below(&stream, 100) < (step < STEPS / 2 ? 60 : 40)) {
            time_ns time = draw_time(&stream, now);
            enum event_kind kind = (enum event_kind)random_below(&stream, EVENT_TIMER + 1);
            event_queue_push(&queue, time, kind, step, step + 1);
            naive.events[naive.count++] =
                (struct event){.time = time, .order = (uint64_t)kind << 56, .subject = step, .generation = step + 1};
        } else {
            struct event got = event_queue_pop(&queue), want = naive_pop(&naive);
            assert_int_equal(got.subject, want.subject);
            assert_int_equal(got.generation, want.generation);
            assert_int_equal(got.time, want.time);
            assert_int_equal(event_kind(&got), event_kind(&want));
            now = got.time;
        }
        assert_int_equal(queue.count, naive.count);
    }
    event_queue_release(&queue);
    assert_true(event_queue_time(&queue) == TIME_NEVER);
}

TEST(order_of_near_times)
{
    check_order(narrow_time);
}

TEST(order_of_far_times)
{
    check_order(wide_time);
}
