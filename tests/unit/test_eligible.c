/* tests/unit/test_eligible.c -- jobs that depend on jobs: those that can never start are rejected, however many form
 * one chain, and no others. */
#include "tests/support/test.h"
#include <pthread.h>

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"

enum { CHAIN = 20000, CHAIN_FULL = 100000, STACK_BYTES = 128 << 10, JOBS = 60, AFTER_MAX = 3 };

/* Job `id` comes behind `count` others. */
static void submit(struct sched *sched, job_id id, const struct job_after *after, uint16_t count)
{
    struct job job = sched_case_job(id, 1, 1, 0);
    job.after = count > 0 ? after : NULL;
    job.after_count = count;
    sched_job_submitted(sched, &job, 0);
}

/* ---- a chain ---- */

struct chain {
    struct sched *sched;
    job_id count, rejected_count;
    bool is_in_order;
};

/* The first is cancelled, so none of the others can ever start. */
static void *break_chain(void *self)
{
    struct chain *chain = self;
    const struct decision *decisions;
    time_ns wake_at;
    for (job_id id = 0; id < chain->count; id++)
        submit(chain->sched, id, &(struct job_after){.job = id - 1, .kind = AFTER_OK}, id > 0);
    sched_job_cancelled(chain->sched, 0, 0);
    const size_t count = sched_cycle(chain->sched, 0, &decisions, &wake_at);
    chain->is_in_order = true;
    for (size_t d = 0; d < count; d++)
        if (decisions[d].kind == DECISION_REJECT)
            chain->is_in_order = chain->is_in_order && decisions[d].job == ++chain->rejected_count;
    return NULL;
}

TEST(a_long_chain_needs_no_stack)
{
    struct sched_case c;
    pthread_t thread;
    pthread_attr_t attributes;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{\"order\": [\"fifo\"]}");
    struct chain chain = {.sched = c.sched, .count = test_is_full() ? CHAIN_FULL : CHAIN};
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, break_chain, &chain), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_int_equal(chain.rejected_count, chain.count - 1);
    assert_true(chain.is_in_order);
    sched_case_close(&c);
}

/* ---- any dependencies ---- */

struct world {
    struct job_after after[JOBS][AFTER_MAX];
    uint16_t counts[JOBS];
    bool is_rejected[JOBS]; /* as the law says: one of its dependencies ended otherwise than asked */
};

static void draw(struct world *world, struct random_stream *stream)
{
    *world = (struct world){0};
    world->is_rejected[0] = true; /* it is cancelled, which counts alike */
    for (job_id id = 1; id < JOBS; id++) {
        world->counts[id] = (uint16_t)random_below(stream, AFTER_MAX + 1);
        for (uint16_t i = 0; i < world->counts[id]; i++) {
            const job_id on = (job_id)random_below(stream, id);
            const enum after_kind kind = random_below(stream, 4) == 0 ? AFTER_ANY : AFTER_OK;
            world->after[id][i] = (struct job_after){.job = on, .kind = (uint8_t)kind};
            world->is_rejected[id] |= kind == AFTER_OK && world->is_rejected[on];
        }
    }
}

TEST(those_behind_it_are_rejected_and_no_others)
{
    struct random_stream stream;
    random_stream_init(&stream, 24, "dependencies", 0);
    for (int round = 0; round < 200; round++) {
        struct sched_case c;
        struct world world;
        bool is_told[JOBS] = {true};
        draw(&world, &stream);
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{\"order\": [\"fifo\"]}");
        for (job_id id = 0; id < JOBS; id++)
            submit(c.sched, id, world.after[id], world.counts[id]);
        sched_job_cancelled(c.sched, 0, 0);
        sched_case_cycle(&c, 0);
        for (size_t d = 0; d < c.count; d++)
            if (c.decisions[d].kind == DECISION_REJECT) {
                assert_false(is_told[c.decisions[d].job]);
                is_told[c.decisions[d].job] = true;
            }
        for (job_id id = 0; id < JOBS; id++)
            if (is_told[id] != world.is_rejected[id])
                fail_msg("round %d: job %u is %s", round, id, is_told[id] ? "rejected" : "not rejected");
        sched_case_close(&c);
    }
}
