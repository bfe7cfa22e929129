/* Every field of a queue and of a job, under every preset: either it changes what happens in some random world, or
 * policies/config/reads.h says that nothing reads it, and then it changes nothing in any.  A limit is read by all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/config/reads.h"
#include "tests/support/interval.h"
#include "tests/support/random_run.h"
#include "topologies/queue_fields.h"
#include "workloads/job_fields.h"

enum { SEEDS_FEW = 4, SEEDS_MAX = 300, LIMITS = RESOURCE_COUNT, FIELDS = QUEUE_FIELD_COUNT + LIMITS + JOB_FIELD_COUNT };

static const char *name_of(uint32_t field)
{
    if (field < QUEUE_FIELD_COUNT)
        return queue_field_name((enum queue_field)field);
    if (field < QUEUE_FIELD_COUNT + LIMITS)
        return resource_names[field - QUEUE_FIELD_COUNT];
    return job_field_names[field - QUEUE_FIELD_COUNT - LIMITS];
}

static bool is_read(const struct policy_config *policy, uint32_t field)
{
    const struct policy_reads reads = policy_reads(policy);
    if (field < QUEUE_FIELD_COUNT)
        return reads.queue >> field & 1;
    if (field < QUEUE_FIELD_COUNT + LIMITS)
        return true;
    return reads.job >> (field - QUEUE_FIELD_COUNT - LIMITS) & 1;
}

/* Up to what the whole cluster has. */
static int64_t some_amount(const struct random_run *run, struct random_stream *stream, int r)
{
    static const int64_t unit[RESOURCE_COUNT] = {GPU_MILLI, 1000, 1024};
    return (int64_t)random_below(stream, run->cluster->gpu_count + 1) * unit[r];
}

static void change_queue(const struct random_run *run, struct queue_spec *queue, uint32_t field,
                         struct random_stream *stream)
{
    const time_ns seconds = (time_ns)random_below(stream, 4000) * TIME_NS_PER_S;
    const int r = field < QUEUE_PRIORITY ? (int)(field % RESOURCE_COUNT) : 0;
    if (field >= QUEUE_FIELD_COUNT) {
        const int limited = (int)(field - QUEUE_FIELD_COUNT);
        queue->limit[limited] = some_amount(run, stream, limited) / 2;
    } else if (field < QUEUE_GUARANTEE) {
        queue->deserved[r] = some_amount(run, stream, r);
    } else if (field < QUEUE_BORROWING) {
        queue->guarantee[r] = some_amount(run, stream, r) / 4;
    } else if (field < QUEUE_LENDING) {
        queue->borrowing_limit[r] = some_amount(run, stream, r) / 4;
    } else if (field < QUEUE_WEIGHT) {
        queue->lending_limit[r] = some_amount(run, stream, r) / 4;
    } else if (field < QUEUE_PRIORITY) {
        queue->weight_milli[r] = (int64_t)random_below(stream, 5) * 1000;
    } else if (field == QUEUE_PRIORITY) {
        queue->priority = (int32_t)random_below(stream, 200);
    } else if (field == QUEUE_AGE) {
        queue->created = -seconds;
    } else if (field == QUEUE_RECLAIM_MIN_RUNTIME) {
        queue->reclaim_min_runtime = seconds;
    } else if (field == QUEUE_PREEMPT_MIN_RUNTIME) {
        queue->preempt_min_runtime = seconds;
    } else if (field == QUEUE_PREEMPTION_DELAY) {
        queue->preemption_delay = seconds;
    } else if (field == QUEUE_STALE_AFTER) {
        queue->stale_after = seconds / 100;
    } else if (field == QUEUE_USAGE) {
        queue->usage_ppm = (int64_t)random_below(stream, 1000000);
    } else {
        queue->users = random_below(stream, 50);
    }
}

static void change_job(struct job *job, enum job_field field, struct random_stream *stream)
{
    const time_ns seconds = (time_ns)(1 + random_below(stream, 4000)) * TIME_NS_PER_S;
    switch (field) {
    case JOB_FIELD_PRIORITY:
        job->priority = (int32_t)random_below(stream, 200);
        break;
    case JOB_FIELD_PREEMPTIBLE:
        job->is_preemptible = random_below(stream, 2) == 0;
        break;
    case JOB_FIELD_ESTIMATE:
        job->estimate = seconds;
        break;
    case JOB_FIELD_DEADLINE:
        job->deadline = job->submit + seconds;
        break;
    case JOB_FIELD_CHECKPOINT:
        job->checkpoint.interval = seconds;
        break;
    case JOB_FIELD_PREEMPTION_DELAY:
        job->preemption_delay = seconds;
        break;
    case JOB_FIELD_STALE_AFTER:
        job->stale_after = seconds / 100;
        break;
    case JOB_FIELD_COUNT:
        break;
    }
}

static void change(struct random_run *run, uint32_t field, uint64_t seed)
{
    struct random_stream stream;
    struct queue_table *queues = job_source_queues(run->source);
    random_stream_init(&stream, seed, "fields", field);
    if (field < QUEUE_FIELD_COUNT + LIMITS)
        for (queue_id q = 1; q < queues->count; q++)
            change_queue(run, &queues->queues[q], field, &stream);
    else
        for (uint32_t j = 0; j < run->job_count; j++)
            change_job(&run->jobs[j].job, (enum job_field)(field - QUEUE_FIELD_COUNT - LIMITS), &stream);
}

/* Some policies refuse quotas larger than the cluster. */
static void fit_quotas(const struct random_run *run, struct queue_table *queues)
{
    struct error error;
    struct sched *sched;
    while ((sched = sched_new(run->cluster, queues, &run->policy.config, &error)) == NULL) {
        error_release(&error);
        for (queue_id q = 1; q < queues->count; q++)
            queues->queues[q].deserved[RESOURCE_GPU] /= 2;
    }
    sched_free(sched);
}

/* Does the field matter only to gangs that lost members?  The simulator takes no single members from a gang, and gangs
 * that were adopted are not told in it: nothing can be said of these here. */
static bool needs_losses(uint32_t field)
{
    return field == QUEUE_STALE_AFTER || field == QUEUE_FIELD_COUNT + LIMITS + JOB_FIELD_STALE_AFTER;
}

/* What a field needs to matter: quotas of CPUs or memory, since what is unlimited is not shared out. */
enum kind { WORLD_PLAIN, WORLD_CPUS, WORLD_MEMORY, WORLD_KINDS };

static enum kind kind_for(uint32_t field)
{
    if (field < QUEUE_GUARANTEE || field >= QUEUE_PRIORITY || field % RESOURCE_COUNT == RESOURCE_GPU)
        return WORLD_PLAIN;
    return field % RESOURCE_COUNT == RESOURCE_CPU ? WORLD_CPUS : WORLD_MEMORY;
}

static void set_quotas(struct random_run *run, enum resource r, uint64_t seed)
{
    struct random_stream stream;
    struct queue_table *queues = job_source_queues(run->source);
    random_stream_init(&stream, seed, "quotas", r);
    for (queue_id q = 1; q < queues->count; q++)
        queues->queues[q].deserved[r] = some_amount(run, &stream, (int)r) / 4;
}

/* The fingerprint of a world under a preset, with the field changed or (FIELDS) as it is. */
static uint64_t outcome(uint64_t seed, uint32_t preset, uint32_t field, enum kind kind)
{
    struct random_run run;
    struct engine_result result;
    random_run_open(&run, seed, preset);
    if (kind != WORLD_PLAIN)
        set_quotas(&run, kind == WORLD_CPUS ? RESOURCE_CPU : RESOURCE_MEMORY, seed);
    if (field < FIELDS)
        change(&run, field, seed);
    fit_quotas(&run, job_source_queues(run.source));
    const struct engine_config config = {
        .cluster = run.cluster, .source = run.source, .policy = &run.policy.config, .world = run.world, .seed = seed};
    struct error error = engine_run(&config, &result);
    if (error_is(error) || error_is(result.stall))
        random_run_fail(&run, error_message(error_is(error) ? &error : &result.stall), JOB_NONE);
    random_run_close(&run);
    return result.fingerprint;
}

/* The worlds as they are, by kind and seed; 0: not known yet. */
static uint64_t plain[WORLD_KINDS][SEEDS_MAX];

static bool changes_a_world(uint32_t preset, uint32_t field, uint64_t seeds)
{
    const enum kind kind = kind_for(field);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t *before = &plain[kind][seed];
        if (*before == 0)
            *before = outcome(seed, preset, FIELDS, kind);
        if (outcome(seed, preset, field, kind) != *before)
            return true;
    }
    return false;
}

static void test_each_field_has_an_effect_or_is_told(void **state)
{
    (void)state;
    uint32_t wrong = 0, effects = 0, told = 0;
    for (uint32_t preset = 0; preset < random_case_preset_count(); preset++) {
        struct random_run run;
        random_run_open(&run, 1, preset);
        memset(plain, 0, sizeof plain);
        for (uint32_t field = 0; field < FIELDS; field++) {
            if (needs_losses(field))
                continue;
            const bool reads = is_read(&run.policy.config, field);
            const bool has_effect = changes_a_world(preset, field, reads || test_is_full() ? SEEDS_MAX - 1 : SEEDS_FEW);
            effects += has_effect;
            told += !reads;
            wrong += has_effect != reads;
            if (has_effect != reads)
                print_error("%s, %s: %s, but %s\n", run.policy.config.name, name_of(field),
                            reads ? "said to be read" : "not read",
                            has_effect ? "it changes a world" : "it changes none");
        }
        random_run_close(&run);
    }
    print_message("note: %d fields x %u presets: %u have an effect, %u are told\n", FIELDS, random_case_preset_count(),
                  effects, told);
    assert_int_equal(wrong, 0);
}

/* What would give the field an effect is known. */
static void test_each_field_has_a_reader(void **state)
{
    struct buffer text = {0};
    (void)state;
    for (uint32_t field = 0; field < QUEUE_FIELD_COUNT; field++) {
        text.length = 0;
        policy_readers_of_queue(field, &text);
        assert_int_not_equal(text.length, 0);
    }
    for (uint32_t field = 0; field < JOB_FIELD_COUNT; field++) {
        text.length = 0;
        policy_readers_of_job(field, &text);
        assert_int_not_equal(text.length, 0);
    }
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_field_has_an_effect_or_is_told),
        cmocka_unit_test(test_each_field_has_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
