/* Facts of every kind, in any order, with any values: the scheduler drops the impossible ones and counts them, and all
 * its laws hold after each (tests/support/any_facts.h).  A wrong fact changes nothing that is saved. */
#include <signal.h>

#include "tests/support/test.h"

#include "tests/support/any_facts.h"
#include "tests/support/interval.h"
#include "tests/support/state_text.h"

enum { BYTES = 4000 };

static volatile uint64_t present_seed;

static void on_crash(int number)
{
    print_error("seed %llu: signal %d; WINDTUNNEL_TEST_SEED=%llu replays it\n", (unsigned long long)present_seed,
                number, (unsigned long long)present_seed);
    signal(number, SIG_DFL);
    raise(number);
}

struct seen {
    uint64_t steps, cycles, started, adopted, refused[WRONG_COUNT];
};

static void live(uint64_t seed, struct seen *seen)
{
    static uint8_t bytes[BYTES];
    struct random_stream stream;
    present_seed = seed;
    random_stream_init(&stream, seed, "told", 0);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)random_below(&stream, 256);
    struct any_world *world = any_world_new(bytes, BYTES);
    bool has_step = true;
    while (has_step) {
        struct buffer before = state_text(world->sched);
        const uint64_t refused = sched_refused(world->sched)->count, changes = world->queue_changes;
        has_step = any_world_step(world);
        if (sched_refused(world->sched)->count == refused + 1 && world->queue_changes == changes) {
            struct buffer after = state_text(world->sched);
            if (!state_text_is_same(&before, &after))
                fail_msg("seed %llu, step %llu: a fact was refused and the state has changed", (unsigned long long)seed,
                         (unsigned long long)world->steps);
            buffer_release(&after);
        }
        buffer_release(&before);
    }
    seen->steps += world->steps;
    seen->cycles += world->cycles;
    seen->started += world->started;
    seen->adopted += world->adopted;
    for (int w = 0; w < WRONG_COUNT; w++)
        seen->refused[w] += sched_refused(world->sched)->by[w];
    any_world_free(world);
}

TEST(test_facts_in_any_order)
{
    struct seen seen = {0};
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    const uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    const uint64_t count = only != NULL ? 1 : test_is_full() ? 1000 : 24;
    for (uint64_t seed = first; seed < first + count; seed++)
        live(seed, &seen);
    print_message("%llu steps, %llu cycles, %llu jobs started, %llu adopted\n", (unsigned long long)seen.steps,
                  (unsigned long long)seen.cycles, (unsigned long long)seen.started, (unsigned long long)seen.adopted);
    if (only != NULL)
        return;
    assert_true(seen.started > 50 && seen.adopted > 5);
    for (enum wrong_fact wrong = WRONG_TIME; wrong < WRONG_COUNT; wrong++)
        if (seen.refused[wrong] == 0)
            fail_msg("no fact was refused because %s", wrong_fact_text(wrong));
}
