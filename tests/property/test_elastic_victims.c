/* Reclaim and elastic jobs, in random worlds of one node: a queue loses no unit that it holds within its quota.
 *
 * A unit is a surplus member, or the minimum of a job, which goes after all its surplus.  A queue may lose a unit while
 * it holds more than it deserves (fairshare: or more than its share, which is not less).  So what it holds after the
 * cycle, with the unit that went last, is more than it deserves.  Which one went last is not told; the largest that can
 * have is taken.  On one node a victim that is evicted has no other place, so every EVICT counts.  */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"

enum { GPUS = 8, QUEUES = 3, JOBS = 6 };

struct world {
    struct sched_case c;
    queue_id queues[QUEUES];
    uint32_t deserved[QUEUES], held[QUEUES];
    struct {
        uint32_t queue, count, minimum, lost;
    } jobs[JOBS + 1];
    uint32_t job_count;
};

static const char *kai(void)
{
    const struct embedded_text *preset = policy_preset_texts;
    while (preset->name != NULL && strcmp(preset->name, "kai") != 0)
        preset++;
    return preset->text;
}

/* Queues of random quotas, in sum perhaps more than there is, and elastic jobs of one GPU per member that fill the
 * node. */
static void open_world(struct world *world, struct random_stream *stream)
{
    static const char *const names[QUEUES] = {"a", "b", "c"};
    struct queue_table *queues = queue_table_new();
    *world = (struct world){0};
    for (uint32_t q = 0; q < QUEUES; q++) {
        world->queues[q] = queue_table_add(queues, text_of(names[q]), QUEUE_ROOT);
        world->deserved[q] = random_below(stream, GPUS);
        queues->queues[world->queues[q]].deserved[RESOURCE_GPU] = (int64_t)world->deserved[q] * GPU_MILLI;
    }
    sched_case_open(&world->c, cluster_uniform_new(1, GPUS), queues, kai());
    for (uint32_t free = GPUS; free > 0 && world->job_count < JOBS; world->job_count++) {
        const uint32_t j = world->job_count, count = 1 + random_below(stream, free);
        const uint32_t queue = 1 + random_below(stream, QUEUES - 1), minimum = 1 + random_below(stream, count);
        struct job job = sched_case_job(j, count, 1, 50);
        struct piece pieces[GPUS];
        job.first.min_count = minimum;
        job.queue = world->queues[queue];
        job.submit = 0;
        for (uint32_t i = 0; i < count; i++)
            pieces[i] = (struct piece){.gpu_mask = (uint16_t)(1u << --free), .gpu_milli = GPU_MILLI, .member_count = 1};
        sched_job_adopted(world->c.sched, &job, pieces, count, 0, 0);
        world->jobs[j].queue = queue;
        world->jobs[j].count = count;
        world->jobs[j].minimum = minimum;
        world->held[queue] += count;
    }
}

static void check(const struct world *world, uint64_t seed)
{
    uint32_t lost[QUEUES] = {0}, largest[QUEUES] = {0};
    for (uint32_t j = 0; j < world->job_count; j++) {
        const uint32_t queue = world->jobs[j].queue, gone = world->jobs[j].lost;
        const bool is_whole = gone == world->jobs[j].count;
        const uint32_t unit = gone == 0 ? 0 : is_whole ? world->jobs[j].minimum : 1;
        lost[queue] += gone;
        largest[queue] = unit > largest[queue] ? unit : largest[queue];
        if (gone > 0 && !is_whole && world->jobs[j].count - gone < world->jobs[j].minimum)
            fail_msg("seed %llu: job %u keeps fewer members than its minimum", (unsigned long long)seed, j);
    }
    for (uint32_t q = 0; q < QUEUES; q++)
        if (lost[q] > 0 && world->held[q] - lost[q] + largest[q] <= world->deserved[q])
            fail_msg("seed %llu: queue %u deserves %u, held %u and lost %u, the last %u of them within its quota",
                     (unsigned long long)seed, q, world->deserved[q], world->held[q], lost[q], largest[q]);
}

TEST(a_queue_loses_nothing_within_its_quota)
{
    uint32_t evictions = 0, parts = 0;
    const struct test_seeds seeds = test_seeds(2000, 20000);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream stream;
        struct world world;
        random_stream_init(&stream, seed, "elastic victims", 0);
        open_world(&world, &stream);
        struct job asks = sched_case_job(JOBS, 1, (uint16_t)(1 + random_below(&stream, GPUS)), 50);
        asks.queue = world.queues[0];
        sched_case_submit(&world.c, asks, SECONDS(1));
        sched_case_cycle(&world.c, SECONDS(1));
        for (size_t i = 0; i < world.c.count; i++) {
            const struct decision *decision = &world.c.decisions[i];
            if (decision->kind != DECISION_EVICT)
                continue;
            for (uint32_t p = 0; p < decision->piece_count; p++)
                world.jobs[decision->job].lost += decision->pieces[p].member_count;
            evictions++;
            parts += decision->is_partial;
        }
        check(&world, seed);
        sched_case_close(&world.c);
    }
    print_message("%llu worlds, %u evictions, %u of surplus alone\n", (unsigned long long)seeds.count, evictions,
                  parts);
    assert_true(seeds.count == 1 || (evictions > seeds.count / 10 && parts > 0));
}
