/* A state that somebody changed on purpose, with a right checksum, is refused, or is one that a scheduler can go on
 * from: nothing in it ends the process (tests/support/forged.h).  The states are those of tests/support/any_facts.h. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/any_facts.h"
#include "tests/support/forged.h"
#include "tests/support/interval.h"
#include "tests/support/reload.h"

enum { BYTES = 1500, CHANGES = 120 };

static volatile uint64_t present_seed, present_change;

static void on_crash(int number)
{
    print_error("seed %llu, change %llu: signal %d; WINDTUNNEL_TEST_SEED=%llu replays it\n",
                (unsigned long long)present_seed, (unsigned long long)present_change, number,
                (unsigned long long)present_seed);
    signal(number, SIG_DFL);
    raise(number);
}

struct seen {
    uint64_t refused, loaded;
};

static void forge(uint64_t seed, struct seen *seen)
{
    static uint8_t bytes[BYTES];
    struct random_stream stream;
    present_seed = seed;
    random_stream_init(&stream, seed, "forged", 0);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)random_below(&stream, 256);
    struct any_world *world = any_world_new(bytes, BYTES);
    while (any_world_step(world))
        ;
    world->sched = reload(world->sched, world->cluster, world->queues, &world->policy.config); /* it is not refused */
    struct buffer whole = reload_bytes(world->sched);
    for (present_change = 0; present_change < CHANGES; present_change++) {
        struct buffer changed = {0};
        buffer_bytes(&changed, whole.bytes, whole.length);
        forged_change(&changed, &stream);
        forged_repair(&changed);
        const bool is_loaded = forged_live(&changed, world->cluster, world->queues, &world->policy.config);
        seen->loaded += is_loaded;
        seen->refused += !is_loaded;
        buffer_release(&changed);
    }
    buffer_release(&whole);
    any_world_free(world);
}

static void test_forged(void **state)
{
    (void)state;
    struct seen seen = {0};
    const struct test_seeds seeds = test_seeds(24, 1000);
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    signal(SIGFPE, on_crash);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        forge(seed, &seen);
    print_message("%llu changed states refused, %llu loaded\n", (unsigned long long)seen.refused,
                  (unsigned long long)seen.loaded);
    assert_true(seen.refused > seeds.count * CHANGES / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
