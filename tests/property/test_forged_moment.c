/* A moment that somebody changed on purpose, with right checksums, is refused, or is one that a run can go on from:
 * nothing in it makes the program read or write where it must not (docs/security.md).  What a changed number that could
 * be so leads to later may be an assertion; so each moment is tried in a process of its own, and only other signals
 * fail. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "sim/plugins/guard.h"
#include "sim/scenario/scenario.h"
#include "tests/support/interval.h"

enum {
    CHANGES = 150,
    CHANGES_FULL = 20000,
    HEADER_BYTES = 80, /* of struct moment_header (sim/engine/engine_moment.c) */
    CHECKSUM_AT = 72,
    CPU_S = 20, /* of a changed run, which may have no end */
};

enum { REFUSED = 0, LOADED = 10, STATES_MAX = 4 };

static struct buffer worlds[STATES_MAX], scheds[STATES_MAX];
static time_ns times[STATES_MAX];
static uint32_t state_count;

static struct error keep(void *self, const struct moment *moment)
{
    (void)self;
    times[state_count] = moment->at;
    buffer_text(&worlds[state_count], moment->world);
    buffer_text(&scheds[state_count++], moment->sched);
    return ERROR_OK;
}

static struct error play(const struct scenario *scenario, const struct moment *fork, const time_ns *saves,
                         uint32_t save_count)
{
    struct job_source *source;
    struct engine_result result;
    TRY(scenario_open(scenario, &source));
    const struct engine_config config = {.watch = &guard_watch,
                                         .cluster = scenario->cluster,
                                         .source = source,
                                         .policy = &scenario->policy,
                                         .world = scenario->world,
                                         .seed = scenario->seed,
                                         .saves = saves,
                                         .save_count = save_count,
                                         .on_moment = keep,
                                         .fork = fork};
    struct error error = engine_run(&config, &result);
    error_release(&result.stall);
    job_source_close(source);
    return error;
}

static void load(struct scenario *scenario, const char *policy)
{
    const char *const sets[] = {"cluster.pools.h100.nodes=6",
                                "cluster.fabric.nodes_per_unit=3",
                                "workload.load_gpus=48",
                                "workload.synth.duration=16h",
                                "workload.synth.tenants.projects=6",
                                "workload.synth.tenants.teams=2",
                                "workload.synth.classes.large training.sizes=[{\"gpus\": 16, \"nodes\": 2}]",
                                "world.end=20h",
                                "world.warmup=0",
                                "policy.sharing.policy=mps",
                                "world.faults={\"fatal_per_job_h\": 0.05}"};
    const struct scenario_options options = {.path = "scenarios/h100-500x8-physics.json",
                                             .policy = policy,
                                             .sets = sets,
                                             .set_count = sizeof sets / sizeof *sets};
    struct error error = scenario_load(scenario, &options);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

/* Change one to three numbers behind the header, and repair the checksum. */
static void forge(struct buffer *world, struct random_stream *stream)
{
    static const uint64_t edges[] = {0, 1, UINT32_MAX, UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, 255, 65535};
    const uint32_t count = 1 + random_below(stream, 3);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t width = 1u << random_below(stream, 4);
        const size_t at = HEADER_BYTES + random_below(stream, (uint32_t)(world->length - HEADER_BYTES - width));
        uint64_t value = random_below(stream, 4) == 0 ? edges[random_below(stream, 8)] : random_below(stream, 200);
        memcpy(world->bytes + at, &value, width);
    }
    uint64_t checksum = 0;
    memcpy(world->bytes + CHECKSUM_AT, &checksum, sizeof checksum);
    checksum = hash_bytes(world->bytes + HEADER_BYTES, world->length - HEADER_BYTES,
                          hash_bytes(world->bytes, HEADER_BYTES, 0));
    memcpy(world->bytes + CHECKSUM_AT, &checksum, sizeof checksum);
}

/* In a process of its own: the exit status of waitpid. */
static int try(const struct scenario *scenario, const struct moment *moment)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        const struct rlimit cpu = {CPU_S, CPU_S}, core = {0, 0}, memory = {(rlim_t)4 << 30, (rlim_t)4 << 30};
        setrlimit(RLIMIT_CPU, &cpu);
        setrlimit(RLIMIT_CORE, &core);
        if (getenv("WINDTUNNEL_BUILD") == NULL || strstr(getenv("WINDTUNNEL_BUILD"), "sanitized") == NULL)
            setrlimit(RLIMIT_AS, &memory);
        if (getenv("WINDTUNNEL_TEST_LOUD") == NULL)
            assert_non_null(freopen("/dev/null", "w", stderr));
        struct error error = play(scenario, moment, NULL, 0);
        const int result = error_is(error) ? REFUSED : LOADED;
        error_release(&error);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_forged(void **state)
{
    static const time_ns saves[] = {7 * 3600 * TIME_NS_PER_S, 9 * 3600 * TIME_NS_PER_S, 11 * 3600 * TIME_NS_PER_S,
                                    13 * 3600 * TIME_NS_PER_S + 1};
    const struct test_seeds seeds = test_seeds(CHANGES, CHANGES_FULL);
    struct scenario scenario;
    uint64_t refused = 0, loaded = 0, stopped = 0, broken = 0;
    (void)state;
    load(&scenario, "windtunnel");
    assert_false(error_is(play(&scenario, NULL, saves, STATES_MAX)));
    assert_int_equal(state_count, STATES_MAX);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream stream;
        struct buffer world = {0};
        random_stream_init(&stream, seed, "forged", 0);
        const uint32_t s = random_below(&stream, STATES_MAX);
        buffer_bytes(&world, worlds[s].bytes, worlds[s].length);
        forge(&world, &stream);
        const struct moment moment = {
            .at = times[s], .world = {world.bytes, world.length}, .sched = {scheds[s].bytes, scheds[s].length}};
        const int status = try(&scenario, &moment);
        refused += WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
        loaded += WIFEXITED(status) && WEXITSTATUS(status) == LOADED;
        if (WIFSIGNALED(status) &&
            (WTERMSIG(status) == SIGABRT || WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
            stopped++;
        else if (!WIFEXITED(status) || (WEXITSTATUS(status) != REFUSED && WEXITSTATUS(status) != LOADED)) {
            broken++;
            print_error("seed %llu: status %d; WINDTUNNEL_TEST_SEED=%llu replays it\n", (unsigned long long)seed,
                        status, (unsigned long long)seed);
        }
        buffer_release(&world);
    }
    for (uint32_t s = 0; s < STATES_MAX; s++) {
        buffer_release(&worlds[s]);
        buffer_release(&scheds[s]);
    }
    scenario_release(&scenario);
    print_message("%llu changed moments refused, %llu loaded, %llu met an assertion or a limit later\n",
                  (unsigned long long)refused, (unsigned long long)loaded, (unsigned long long)stopped);
    assert_int_equal(broken, 0);
    assert_true(refused > 0 || seeds.count == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
