/* Sorting jobs by way of a file gives the same jobs, in the same order, as sorting in memory
 * (workloads/readers/held.h). */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/scratch.h"
#include "workloads/readers/held.h"
#include "workloads/readers/source.h"
#include "workloads/readers/spill.h"

static void *kept(struct arena *arena, const void *bytes, size_t length)
{
    void *copy = arena_alloc(arena, length);
    memcpy(copy, bytes, length);
    return copy;
}

/* Times are few, so that many jobs are submitted at once; a job depends on earlier ones, not submitted later. */
static void some_job(struct random_stream *stream, struct arena *arena, const struct held *before, struct job *job,
                     struct job_truth *truth)
{
    char text[64];
    *job = job_default();
    memset(truth, 0, sizeof *truth);
    truth->duration = random_below(stream, 1000);
    truth->recorded_wait = random_below(stream, 2) ? TIME_NEVER : 5;
    job->submit = random_below(stream, 300) * TIME_NS_PER_S;
    job->user = random_below(stream, 9);
    job->trace_id = (int64_t)before->count;
    snprintf(text, sizeof text, "job %.*s", (int)random_below(stream, 40), "0123456789012345678901234567890123456789");
    if (random_below(stream, 2))
        job->name = arena_copy(arena, text_of(text));
    if (random_below(stream, 4) == 0) {
        struct job_group groups[3] = {job->first, job->first, job->first};
        struct job_set sets[2] = {{.name = "outer", .parent = SET_NONE, .min_members = random_below(stream, 9)},
                                  {.name = "the inner one", .min_sets = 1}};
        groups[1].count = random_below(stream, 100);
        job->group_count = (uint16_t)(2 + random_below(stream, 3));
        job->more = kept(arena, groups, (job->group_count - 1u) * sizeof groups[0]);
        job->set_count = 2;
        job->sets = kept(arena, sets, sizeof sets);
    }
    struct job_after after[3];
    for (uint32_t a = 0; before->count > 0 && a < random_below(stream, 4); a++) {
        const job_id other = random_below(stream, (uint32_t)before->count);
        if (before->jobs[other].job.submit <= job->submit)
            after[job->after_count++] = (struct job_after){other, AFTER_OK};
    }
    if (job->after_count > 0)
        job->after = kept(arena, after, job->after_count * sizeof after[0]);
    if (random_below(stream, 5) == 0)
        job->tags =
            kept(arena, &(struct job_tags){.tags = {random_below(stream, 7)}, .tag_count = 1}, sizeof *job->tags);
    if (random_below(stream, 5) == 0)
        job->objects = kept(arena, &(struct job_objects){.of = {{3, 17}}, .count = 1}, sizeof *job->objects);
}

static void same_memory(const void *a, const void *b, size_t bytes)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL && bytes > 0)
        assert_memory_equal(a, b, bytes);
}

static void same_job(const struct job *a, const struct job *b)
{
    assert_true(a->submit == b->submit && a->trace_id == b->trace_id && a->user == b->user);
    assert_int_equal(a->group_count, b->group_count);
    same_memory(a->more, b->more, (a->group_count - 1u) * sizeof *a->more);
    assert_int_equal(a->set_count, b->set_count);
    for (uint32_t s = 0; s < a->set_count; s++) {
        assert_string_equal(a->sets[s].name, b->sets[s].name);
        assert_int_equal(a->sets[s].min_members, b->sets[s].min_members);
        assert_int_equal(a->sets[s].parent, b->sets[s].parent);
    }
    assert_int_equal(a->after_count, b->after_count);
    for (uint32_t i = 0; i < a->after_count; i++)
        assert_int_equal(a->after[i].job, b->after[i].job);
    same_memory(a->tags, b->tags, sizeof *a->tags);
    same_memory(a->objects, b->objects, sizeof *a->objects);
    assert_int_equal(a->name == NULL, b->name == NULL);
    if (a->name != NULL)
        assert_string_equal(a->name, b->name);
}

static void sort_both(uint32_t count, size_t run_bytes, uint64_t seed)
{
    struct arena arena = {0}, passing = {0};
    struct held held = {0};
    struct spill *spill = spill_new(run_bytes);
    struct random_stream stream;
    struct job job, other;
    struct job_truth truth, other_truth;
    bool has;
    random_stream_init(&stream, seed, "spill", 0);
    for (uint32_t i = 0; i < count; i++) {
        some_job(&stream, &arena, &held, &job, &truth);
        struct error error = spill_add(spill, &job, &truth);
        assert_false(error_is(error));
        held_add(&held, &job, &truth);
    }
    held_sort(&held);
    while (true) {
        arena_reset(&passing); /* as a source does */
        struct error error = spill_next(spill, &passing, &job, &truth, &has);
        assert_false(error_is(error));
        assert_int_equal(has, held_next(&held, &other, &other_truth));
        if (!has)
            break;
        same_job(&job, &other);
        assert_true(truth.duration == other_truth.duration && truth.recorded_wait == other_truth.recorded_wait);
    }
    spill_free(spill);
    held_release(&held);
    arena_release(&arena);
    arena_release(&passing);
}

TEST(test_runs_of_any_length)
{
    static const size_t run_bytes[] = {1, 1000, 20000, 0};
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (size_t r = 0; r < sizeof run_bytes / sizeof run_bytes[0]; r++)
            sort_both(r == 0 ? 100 : 3000, run_bytes[r], seed);
    sort_both(0, 0, 1);
    sort_both(1, 1, 1);
}

TEST(test_no_folder)
{
    const struct job job = job_default();
    const struct job_truth truth = {.duration = 1};
    struct spill *spill = spill_new(1);
    setenv("TMPDIR", "/nowhere", 1);
    struct error error = spill_add(spill, &job, &truth);
    unsetenv("TMPDIR");
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    spill_free(spill);
}

enum { JOBS = 270000, STRIDE = 7919 }; /* coprime: each job comes once, out of order; more jobs than are held */

/* A trace too long to be held gives the same stream, whether its disorder shows before it is too long or after; in the
 * first case no line is read again, so the file may be gone. */
static void read_long_trace(uint64_t sorted_begin)
{
    struct buffer text = {0};
    struct job job;
    struct job_truth truth;
    bool has = true;
    uint32_t count = 0;
    buffer_string(&text, "job_id,submit_s,duration_s,gpus\n");
    for (uint64_t i = 0; i < JOBS; i++) {
        const uint64_t left = JOBS - sorted_begin;
        const uint64_t id = i < sorted_begin ? i : sorted_begin + (i - sorted_begin) * STRIDE % left;
        buffer_format(&text, "%u,%u,%u,1\n", (unsigned)id, (unsigned)id / 2, (unsigned)(i % 100));
    }
    const struct workload_spec spec = {.trace = scratch_write("long.csv", text.bytes, text.length)};
    buffer_release(&text);
    struct job_source *source;
    struct error error = job_source_open(&source, &spec, NULL, 1);
    assert_false(error_is(error));
    if (sorted_begin == 0)
        scratch_write("long.csv", "", 0);
    for (uint64_t last = 0; has; count++) {
        error = job_source_next(source, &job, &truth, &has);
        assert_false(error_is(error));
        if (!has)
            break;
        assert_true(job.submit == (time_ns)(job.trace_id / 2) * TIME_NS_PER_S && (uint64_t)job.submit >= last);
        last = (uint64_t)job.submit;
    }
    assert_int_equal(count, JOBS);
    error = job_source_check(source);
    assert_false(error_is(error));
    job_source_close(source);
}

TEST(test_a_long_trace)
{
    read_long_trace(0);
    read_long_trace(265000);
}

TEST_GROUP(scratch_make, scratch_remove)
