/* A state that somebody changed on purpose, with a right checksum, is refused, or is one that a scheduler can go on
 * from: nothing in it ends the process (tests/support/forged.h).  The states are those of tests/support/any_facts.h. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "policies/state/sched_state.h"
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

static struct any_world *world_after_facts(uint64_t seed, struct random_stream *stream)
{
    static uint8_t bytes[BYTES];
    random_stream_init(stream, seed, "forged", 0);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)random_below(stream, 256);
    struct any_world *world = any_world_new(bytes, BYTES);
    while (any_world_step(world))
        ;
    return world;
}

static void forge(uint64_t seed, struct seen *seen)
{
    struct random_stream stream;
    present_seed = seed;
    struct any_world *world = world_after_facts(seed, &stream);
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

/* Is the state, as it is now, refused for this reason? */
static bool is_refused(const struct any_world *world, const char *reason)
{
    struct buffer bytes = reload_bytes(world->sched);
    struct error error;
    struct sched *loaded = sched_load(world->cluster, world->queues, &world->policy.config,
                                      (struct text){bytes.bytes, bytes.length}, &error);
    buffer_release(&bytes);
    if (loaded != NULL) {
        sched_free(loaded);
        return false;
    }
    const bool is_why = strstr(error_message(&error), reason) != NULL;
    error_release(&error);
    return is_why;
}

/* A free GPU is given an owner.  A trial that takes the GPU would find it owned. */
static void test_owners(void **state)
{
    (void)state;
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(8, 100);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        const struct ledger *ledger = world->sched->ledger;
        for (gpu_id g = 0; g < world->cluster->gpu_count && world->sched->jobs.used > 0; g++) {
            if (ledger->gpus[g].free != GPU_MILLI)
                continue;
            ledger->owner[g] = random_below(&stream, world->sched->jobs.used);
            if (!is_refused(world, "a GPU belongs to a job that does not hold it"))
                fail_msg("seed %llu: a state in which the free GPU %u belongs to the job in slot %u is loaded",
                         (unsigned long long)seed, g, ledger->owner[g]);
            ledger->owner[g] = OWNER_NONE;
            forged++;
        }
        any_world_free(world);
    }
    assert_true(forged > seeds.count);
}

/* A job whose service is none: it would be added to beyond the largest number. */
static void test_service(void **state)
{
    (void)state;
    static const int64_t never[][4] = {/* ran, attained_at - now, attained_gpu_ns, rate_milli */
                                       {-1, 0, 0, 0}, {INT64_MAX, 0, 0, 0}, {0, 1, 0, 0},        {0, INT64_MIN, 0, 0},
                                       {0, 0, -1, 0}, {0, 0, 0, -1},        {0, 0, 0, INT64_MAX}};
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(8, 100);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        const struct job_table *jobs = &world->sched->jobs;
        for (uint32_t slot = 0; slot < jobs->used; slot++) {
            const struct job_facts before = jobs->facts[slot];
            for (size_t n = 0; n < sizeof never / sizeof *never && jobs->jobs[slot].state != SJOB_NONE; n++) {
                struct job_facts *facts = &jobs->facts[slot];
                facts->ran = never[n][0];
                facts->attained_at = world->sched->now + never[n][1];
                facts->attained_gpu_ns = never[n][2];
                facts->rate_milli = never[n][3];
                if (!is_refused(world, "a job has run at no time"))
                    fail_msg("seed %llu: service %zu of slot %u is loaded", (unsigned long long)seed, n, slot);
                *facts = before;
                forged++;
            }
        }
        any_world_free(world);
    }
    assert_true(forged > seeds.count);
}

/* A user whose usage is no amount, in a world whose order reads it. */
static void test_usage(void **state)
{
    (void)state;
    static const double never[] = {-1, -INFINITY, INFINITY, NAN};
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(64, 500);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        const struct accounts *accounts = &world->sched->accounts;
        for (uint32_t u = 0; u < accounts->user_count; u++) {
            const double before = accounts->users[u].usage_unit_s;
            for (size_t n = 0; n < sizeof never / sizeof *never; n++, forged++) {
                accounts->users[u].usage_unit_s = never[n];
                if (!is_refused(world, "it does not hold what its version says"))
                    fail_msg("seed %llu: usage %g of account %u is loaded", (unsigned long long)seed, never[n], u);
            }
            accounts->users[u].usage_unit_s = before;
        }
        any_world_free(world);
    }
    assert_true(forged > 0);
}

/* A queue whose floor of preemption costs is known, though its jobs were never looked at. */
static void test_floor(void **state)
{
    (void)state;
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(64, 500);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        struct candidates *candidates = &world->sched->candidates;
        for (queue_id q = 0; q < world->sched->tree.count && q < candidates->queue_capacity; q++) {
            if (candidates->job_capacity > 0 || world->sched->lists.running[q].count == 0)
                continue;
            candidates->of_queue[q].is_floor_known = true;
            if (!is_refused(world, "the floor of a queue is known"))
                fail_msg("seed %llu: the floor of queue %u is loaded", (unsigned long long)seed, q);
            candidates->of_queue[q].is_floor_known = false;
            forged++;
        }
        any_world_free(world);
    }
    assert_true(forged > 0);
}

/* Lists that name a class queue of another request class: a job would be put where it is never closed. */
static void test_lists_of_class_queues(void **state)
{
    (void)state;
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(16, 200);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        struct sched *sched = world->sched;
        const uint32_t classes = sched->request_classes.count;
        for (uint32_t id = 0; id < sched->pending.class_queue_count && classes > 1; id++, forged++) {
            const struct class_queue *class_queue = &sched->pending.class_queues[id];
            struct request_class *other = &sched->request_classes.at[(class_queue->request_class + 1) % classes];
            if (other->class_queue_count > 0) {
                const uint32_t before = other->class_queues[0];
                other->class_queues[0] = id;
                if (!is_refused(world, "a class queue names what there is not"))
                    fail_msg("seed %llu: class queue %u of another class is loaded", (unsigned long long)seed, id);
                other->class_queues[0] = before;
            }
            uint32_t *named = &sched->pending.leaf_queues[class_queue->leaf_queue]
                                   .class_queues[class_queue->leaf_queue_position]
                                   .request_class;
            *named = (*named + 1) % classes;
            if (!is_refused(world, "a class queue names what there is not"))
                fail_msg("seed %llu: a queue that misnames class queue %u is loaded", (unsigned long long)seed, id);
            *named = class_queue->request_class;
        }
        any_world_free(world);
    }
    assert_true(forged > 0);
}

/* A GPU in a cell that reaches beyond its node, or that no level has, or of which it is the only part. */
static void test_cells(void **state)
{
    (void)state;
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(8, 100);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        for (node_id n = 0; n < world->cluster->node_count; n++) {
            struct gpu_keep *keeps = &world->sched->ledger->keeps[world->cluster->nodes[n].first_gpu];
            const uint32_t count = cluster_node_gpus(world->cluster, n);
            if (count < 2 || keeps[0].keeper != QUEUE_NONE || keeps[1].keeper != QUEUE_NONE)
                continue;
            static const uint8_t levels[] = {1, 4, 5, 31, 32, 255};
            const struct gpu_keep before = keeps[1];
            for (size_t l = 0; l < sizeof levels; l++, forged++) {
                keeps[1].keeper = 0;
                keeps[1].level = levels[l];
                if (!is_refused(world, "a GPU is part of a cell that cannot be"))
                    fail_msg("seed %llu: a cell of level %u is loaded", (unsigned long long)seed, levels[l]);
            }
            keeps[1] = before;
        }
        any_world_free(world);
    }
    assert_true(forged > 0);
}

/* A class queue of another request class than its jobs ask: the class of a head that does not fit would be closed, and
 * the class queue stay open, for ever. */
static void test_class_queues(void **state)
{
    (void)state;
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(8, 100);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        const struct sched *sched = world->sched;
        for (uint32_t l = 0; l < sched->pending.class_queue_count && sched->request_classes.count > 1; l++) {
            uint32_t *request_class = &sched->pending.class_queues[l].request_class;
            const uint32_t before = *request_class;
            if (sched->pending.class_queues[l].count == 0)
                continue;
            *request_class = (before + 1) % sched->request_classes.count;
            if (!is_refused(world, "a class queue names what there is not"))
                fail_msg("seed %llu: class queue %u of another request class is loaded", (unsigned long long)seed, l);
            *request_class = before;
            forged++;
        }
        any_world_free(world);
    }
    assert_true(forged > 0);
}

/* A job of a queue that there is not.  Lists of jobs by queue, made while the state was read, once took memory for as
 * many queues. */
static void test_queues(void **state)
{
    (void)state;
    uint32_t forged = 0;
    struct random_stream stream;
    const struct test_seeds seeds = test_seeds(24, 200);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct any_world *world = world_after_facts(seed, &stream);
        const struct sched *sched = world->sched;
        for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
            struct sched_job *job = &sched->jobs.jobs[slot];
            const queue_id before = job->queue;
            if (job->state == SJOB_NONE)
                continue;
            job->queue = UINT32_MAX - 1;
            if (!is_refused(world, ""))
                fail_msg("seed %llu: a job of no queue is loaded", (unsigned long long)seed);
            job->queue = before;
            forged++;
        }
        any_world_free(world);
    }
    assert_true(forged > seeds.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forged),  cmocka_unit_test(test_owners),
                                       cmocka_unit_test(test_service), cmocka_unit_test(test_usage),
                                       cmocka_unit_test(test_floor),   cmocka_unit_test(test_lists_of_class_queues),
                                       cmocka_unit_test(test_cells),   cmocka_unit_test(test_class_queues),
                                       cmocka_unit_test(test_queues)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
