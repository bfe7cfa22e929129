/* tests/unit/test_sched_save.c -- saved schedulers that are damaged, cut off, or of something else: each is refused
 * with an error that says so, and nothing is half loaded.  tests/property/test_sched_save.c has what loads and goes
 * on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "policies/policy_config.h"
#include "policies/quota/quotas.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

enum { /* of the header, as policies/cycle/save.c writes it */
       BYTE_ORDER_AT = 8,
       POINTER_BYTES_AT = 12,
       VERSION_AT = 16,
       LENGTH_AT = 48,
       CHECKSUM_AT = 56,
       HEADER_BYTES = 64
};

static const char policy_text[] =
    "{'order': ['priority', 'fairtree'], 'blocking': 'skip', "
    "'quota': {'policy': 'fairshare', 'usage_weight': 1}, 'preemption': {'policy': 'checkpoint', "
    "'min_runtime_s': 0, 'grace_s': 30}}";

static struct queue_table *make_queues(void)
{
    struct queue_table *queues = queue_table_new();
    queue_table_add(queues, TEXT("a"), QUEUE_ROOT);
    queue_table_add(queues, TEXT("b"), QUEUE_ROOT);
    queues->queues[1].deserved[RESOURCE_GPU] = 4 * GPU_MILLI;
    return queues;
}

static struct job job_in(job_id id, queue_id queue, uint16_t gpus, int32_t priority)
{
    struct job job = sched_case_job(id, 1, gpus, priority);
    job.queue = queue;
    job.checkpoint.duration = SECONDS(1);
    return job;
}

/* Two jobs run, one is being evicted for a third that has a reservation, others wait, one depends on another. */
static void open_case(struct sched_case *c)
{
    static const struct job_after after = {0, AFTER_OK};
    sched_case_open(c, cluster_uniform_new(2, 4), make_queues(), policy_text);
    sched_case_submit(c, job_in(0, 1, 4, 50), 0);
    sched_case_submit(c, job_in(1, 2, 4, 10), 0);
    assert_int_equal(sched_case_start(c, SECONDS(1)), 2);
    sched_case_submit(c, job_in(2, 2, 4, 90), SECONDS(2));
    sched_case_submit(c, job_in(3, 1, 3, 50), SECONDS(2));
    struct job held = job_in(4, 1, 1, 50);
    held.after_count = 1;
    held.after = &after;
    sched_case_submit(c, held, SECONDS(3));
    sched_case_cycle(c, SECONDS(40));
    assert_int_equal(sched_case_count(c, DECISION_EVICT), 1);
    assert_int_equal(sched_case_counts(c).reserved_jobs, 1);
}

static struct buffer save(const struct sched_case *c)
{
    struct buffer saved = {0};
    struct error error = sched_save(c->sched, &saved);
    assert_false(error_is(error));
    assert_true(saved.length > HEADER_BYTES);
    return saved;
}

static struct sched *load(const struct sched_case *c, const struct buffer *saved, size_t length, struct error *error)
{
    const struct policy_config policy = sched_case_policy(policy_text);
    /* In a block of its own, so that a read behind it is seen. */
    char *bytes = mem_alloc(length);
    memcpy(bytes, saved->bytes, length);
    struct sched *sched = sched_load(c->cluster, c->queues, &policy, (struct text){bytes, length}, error);
    mem_free(bytes);
    return sched;
}

static void expect_refusal(struct sched *sched, struct error *error, const char *what)
{
    assert_null(sched);
    assert_int_equal(error->kind, ERROR_DATA);
    if (strstr(error_message(error), what) == NULL)
        fail_msg("'%s' does not say '%s'", error_message(error), what);
    error_release(error);
}

static void what_is_cut_off_is_refused(void **state)
{
    struct sched_case c;
    struct error error;
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c);
    for (size_t length = 0; length < saved.length; length++) {
        struct sched *sched = load(&c, &saved, length, &error);
        expect_refusal(sched, &error,
                       length < BYTE_ORDER_AT  ? "these bytes are not one"
                       : length < HEADER_BYTES ? "its header is cut off"
                                               : "it is cut off");
    }
    buffer_char(&saved, 0);
    expect_refusal(load(&c, &saved, saved.length, &error), &error, "data follows it");
    buffer_release(&saved);
    sched_case_close(&c);
}

static void every_changed_byte_is_refused(void **state)
{
    struct sched_case c;
    struct error error;
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c);
    for (size_t at = 0; at < saved.length; at++) {
        const char flip = (char)(1 << at % 8);
        saved.bytes[at] ^= flip;
        struct sched *sched = load(&c, &saved, saved.length, &error);
        expect_refusal(sched, &error, at >= HEADER_BYTES ? "it is damaged" : "");
        saved.bytes[at] ^= flip;
    }
    buffer_release(&saved);
    sched_case_close(&c);
}

static void put(struct buffer *saved, size_t at, uint64_t value, size_t bytes)
{
    memcpy(saved->bytes + at, &value, bytes);
}

static void another_kind_of_machine_is_refused(void **state)
{
    struct sched_case c;
    struct error error;
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c);
    put(&saved, BYTE_ORDER_AT, 0x01020304, 4);
    expect_refusal(load(&c, &saved, saved.length, &error), &error, "byte order");
    put(&saved, BYTE_ORDER_AT, 0x04030201, 4);
    put(&saved, POINTER_BYTES_AT, sizeof(void *) / 2, 4);
    expect_refusal(load(&c, &saved, saved.length, &error), &error, "another pointer size");
    put(&saved, POINTER_BYTES_AT, sizeof(void *), 4);
    put(&saved, VERSION_AT, 999, 4);
    expect_refusal(load(&c, &saved, saved.length, &error), &error, "another version");
    saved.bytes[0] = 'W';
    expect_refusal(load(&c, &saved, saved.length, &error), &error, "these bytes are not one");
    buffer_release(&saved);
    sched_case_close(&c);
}

/* As a program would write it that has fewer fields: whole, but not what the version says. */
static void what_is_whole_but_too_short_is_refused(void **state)
{
    struct sched_case c;
    struct error error;
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c);
    for (size_t length = saved.length - 1; length >= HEADER_BYTES; length--) {
        const size_t content = length - HEADER_BYTES;
        put(&saved, LENGTH_AT, content, 8);
        put(&saved, CHECKSUM_AT, 0, 8);
        put(&saved, CHECKSUM_AT,
            hash_bytes(saved.bytes + HEADER_BYTES, content, hash_bytes(saved.bytes, HEADER_BYTES, 0)), 8);
        expect_refusal(load(&c, &saved, length, &error), &error, "it does not hold what its version says");
    }
    buffer_release(&saved);
    sched_case_close(&c);
}

static void what_belongs_to_another_world_is_refused(void **state)
{
    struct sched_case c;
    struct error error;
    struct policy_config policy = sched_case_policy(policy_text);
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c);
    const struct text bytes = {saved.bytes, saved.length};
    struct cluster *cluster = cluster_uniform_new(2, 8);
    expect_refusal(sched_load(cluster, c.queues, &policy, bytes, &error), &error, "another cluster");
    cluster_free(cluster);
    policy.preempt.grace++;
    expect_refusal(sched_load(c.cluster, c.queues, &policy, bytes, &error), &error, "another policy");
    policy = sched_case_policy(policy_text);
    policy.quota = &quota_limits;
    expect_refusal(sched_load(c.cluster, c.queues, &policy, bytes, &error), &error, "another policy");
    policy = sched_case_policy(policy_text);
    struct queue_table *queues = queue_table_new();
    expect_refusal(sched_load(c.cluster, queues, &policy, bytes, &error), &error, "other queues");
    queue_table_free(queues);
    queues = make_queues();
    queues->queues[2].priority++;
    expect_refusal(sched_load(c.cluster, queues, &policy, bytes, &error), &error, "other queues");
    queue_table_free(queues);
    policy.quota = NULL;
    assert_null(sched_load(c.cluster, c.queues, &policy, bytes, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    error_release(&error);
    buffer_release(&saved);
    sched_case_close(&c);
}

/* The names of the policy's file and of the cluster's do not matter, nor do queues that came since. */
static void what_decides_the_same_is_taken(void **state)
{
    struct sched_case c;
    struct error error;
    struct policy_config policy = sched_case_policy(policy_text);
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c), again = {0};
    struct queue_table *queues = make_queues();
    queue_table_add(queues, TEXT("new"), QUEUE_ROOT);
    strcpy(policy.name, "another name");
    struct sched *sched = sched_load(c.cluster, queues, &policy, (struct text){saved.bytes, saved.length}, &error);
    assert_non_null(sched);
    assert_lawful(sched_check(sched));
    assert_int_equal(sched_hash(sched), sched_hash(c.sched));
    assert_int_equal(sched_why(sched, 2), REASON_RESERVED);
    assert_int_equal(sched_why(sched, 4), REASON_DEPENDENCY);
    assert_false(error_is(sched_save(sched, &again)));
    assert_int_equal(again.length, saved.length);
    assert_memory_equal(again.bytes, saved.bytes, saved.length);
    sched_queues_changed(sched, queues, SECONDS(50));
    assert_lawful(sched_check(sched));
    sched_free(sched);
    queue_table_free(queues);
    buffer_release(&saved);
    buffer_release(&again);
    sched_case_close(&c);
}

/* What a policy keeps and cannot write down is not left out in silence. */
static void a_policy_that_cannot_be_saved_says_so(void **state)
{
    struct quota_policy mute = quota_fairshare;
    struct policy_config policy = sched_case_policy(policy_text);
    struct sched_case c = {.cluster = cluster_uniform_new(2, 4), .queues = make_queues()};
    struct buffer out = {0};
    struct error error;
    (void)state;
    mute.archive = NULL;
    policy.quota = &mute;
    c.sched = sched_new(c.cluster, c.queues, &policy, &error);
    assert_non_null(c.sched);
    buffer_string(&out, "before");
    error = sched_save(c.sched, &out);
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error_message(&error), "'fairshare' cannot be saved"));
    assert_int_equal(out.length, 6);
    error_release(&error);
    buffer_release(&out);
    sched_case_close(&c);
}

/* Saving appends, and leaves what stands before. */
static void saving_appends(void **state)
{
    struct sched_case c;
    struct error error;
    struct buffer out = {0};
    (void)state;
    open_case(&c);
    struct buffer saved = save(&c);
    buffer_string(&out, "before");
    assert_false(error_is(sched_save(c.sched, &out)));
    assert_int_equal(out.length, saved.length + 6);
    assert_memory_equal(out.bytes, "before", 6);
    assert_memory_equal(out.bytes + 6, saved.bytes, saved.length);
    struct sched *sched = load(&c, &saved, saved.length, &error);
    assert_non_null(sched);
    sched_free(sched);
    buffer_release(&saved);
    buffer_release(&out);
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_cut_off_is_refused),
                                       cmocka_unit_test(every_changed_byte_is_refused),
                                       cmocka_unit_test(another_kind_of_machine_is_refused),
                                       cmocka_unit_test(what_is_whole_but_too_short_is_refused),
                                       cmocka_unit_test(what_belongs_to_another_world_is_refused),
                                       cmocka_unit_test(what_decides_the_same_is_taken),
                                       cmocka_unit_test(a_policy_that_cannot_be_saved_says_so),
                                       cmocka_unit_test(saving_appends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
