#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/scratch.h"
#include "workloads/readers/source.h"

/* A merge against the union of its parts, each read alone, sorted naively. */

enum { PARTS_MAX = 5, JOBS_MAX = 120, UNION_MAX = PARTS_MAX * JOBS_MAX };

struct seen {
    time_ns submit, deadline, duration;
    int part, id; /* place in the part */
    char queue[32], user[32], tag[32], class[32];
    uint32_t array;
    int after[4], after_count; /* places: in the part, or in the merge */
};

static const char *const prefixes[PARTS_MAX] = {"", "b/", "b/", "", "e-"};

static char *write_part(uint64_t seed, int part)
{
    struct random_stream stream;
    struct buffer text = {0};
    char name[16];
    random_stream_init(&stream, seed, "test.merge", (uint64_t)part);
    const int count = 1 + (int)random_below(&stream, JOBS_MAX);
    int submits[JOBS_MAX];
    for (int i = 0; i < count; i++) {
        submits[i] = (int)random_below(&stream, 60); /* many are equal */
        buffer_format(&text, "{\"job_id\": %d, \"submit_s\": %d, \"duration_s\": %u, \"gpus\": 1, \"queue\": \"q%u\"",
                      i, submits[i], 1 + random_below(&stream, 99), random_below(&stream, 3));
        if (random_below(&stream, 4) > 0)
            buffer_format(&text, ", \"user\": \"u%u\"", random_below(&stream, 4));
        if (random_below(&stream, 4) == 0)
            buffer_format(&text, ", \"array\": %u", random_below(&stream, 5));
        if (random_below(&stream, 4) == 0)
            buffer_format(&text, ", \"deadline_s\": %d", submits[i] + 50);
        if (random_below(&stream, 3) == 0)
            buffer_format(&text, ", \"tags\": [\"t%u\"]", random_below(&stream, 3));
        if (random_below(&stream, 3) == 0)
            buffer_format(&text, ", \"workload_class\": \"c%u\"", random_below(&stream, 3));
        const int other = i > 0 ? (int)random_below(&stream, (uint32_t)i) : 0;
        if (i > 0 && submits[other] <= submits[i])
            buffer_format(&text, ", \"after\": \"ok:%d\"", other);
        buffer_string(&text, "}\n");
    }
    snprintf(name, sizeof name, "part%d.jsonl", part);
    char *path = mem_copy_text(scratch_write(name, text.bytes, text.length));
    buffer_release(&text);
    return path;
}

static int read_all(struct seen *seen, const struct workload_spec *spec, const struct cluster *cluster, uint64_t seed)
{
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    int count = 0;
    struct error error = job_source_open(&source, spec, cluster, seed);
    assert_false(error_is(error));
    while (true) {
        error = job_source_next(source, &job, &truth, &has);
        assert_false(error_is(error));
        if (!has)
            break;
        assert_true(count < UNION_MAX && job.id == (job_id)count);
        struct seen *one = &seen[count++];
        *one = (struct seen){.submit = job.submit,
                             .deadline = job.deadline,
                             .duration = truth.duration,
                             .id = (int)job.id,
                             .array = job.array,
                             .after_count = job.after_count};
        snprintf(one->queue, sizeof one->queue, "%s", job_source_queue_table(source)->queues[job.queue].name);
        if (job.user != NAMES_NONE)
            snprintf(one->user, sizeof one->user, "%s", names_text(job_source_users(source), job.user));
        if (job.tags != NULL)
            snprintf(one->tag, sizeof one->tag, "%s", names_text(job_source_tags(source), job.tags->tags[0]));
        if (truth.workload_class != 0)
            snprintf(one->class, sizeof one->class, "%s",
                     names_text(job_source_classes(source), truth.workload_class - 1u));
        for (int a = 0; a < job.after_count; a++)
            one->after[a] = (int)job.after[a].job;
    }
    error = job_source_check(source);
    assert_false(error_is(error));
    job_source_close(source);
    return count;
}

static void prefix(char name[32], const char *with)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", with, name);
    assert_true(strlen(whole) < 32);
    memcpy(name, whole, strlen(whole) + 1);
}

static int place_of(const struct seen *all, int count, int part, int id)
{
    for (int i = 0; i < count; i++)
        if (all[i].part == part && all[i].id == id)
            return i;
    return -1;
}

/* Insertion: stable, and after the jobs of earlier parts. */
static void sort(struct seen *all, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && all[j].submit < all[j - 1].submit; j--) {
            const struct seen kept = all[j];
            all[j] = all[j - 1];
            all[j - 1] = kept;
        }
}

static int union_of(struct seen *all, const struct workload_spec *merge, const struct cluster *cluster)
{
    int count = 0;
    for (uint32_t p = 0; p < merge->part_count; p++) {
        const struct workload_part *part = &merge->parts[p];
        const int own = read_all(all + count, &part->spec, cluster, 1);
        for (struct seen *seen = all + count; seen < all + count + own; seen++) {
            seen->part = (int)p;
            seen->submit += part->offset;
            seen->deadline += seen->deadline != TIME_NEVER ? part->offset : 0;
            prefix(seen->queue, part->prefix);
            if (seen->user[0] != '\0')
                prefix(seen->user, part->prefix);
        }
        count += own;
    }
    sort(all, count);
    return count;
}

static void check(const struct seen *all, const struct seen *merged, int count)
{
    for (int i = 0; i < count; i++) {
        assert_true(merged[i].submit == all[i].submit && merged[i].deadline == all[i].deadline);
        assert_true(merged[i].duration == all[i].duration);
        assert_string_equal(merged[i].queue, all[i].queue);
        assert_string_equal(merged[i].user, all[i].user);
        assert_string_equal(merged[i].tag, all[i].tag);
        assert_string_equal(merged[i].class, all[i].class);
        assert_int_equal(merged[i].after_count, all[i].after_count);
        for (int a = 0; a < all[i].after_count; a++)
            assert_int_equal(merged[i].after[a], place_of(all, count, all[i].part, all[i].after[a]));
        for (int j = 0; j < i; j++) { /* the same array here if it is the same array there */
            const bool is_same = all[i].array != 0 && all[i].array == all[j].array && all[i].part == all[j].part;
            assert_true((merged[i].array != 0) == (all[i].array != 0));
            assert_true((merged[i].array != 0 && merged[i].array == merged[j].array) == is_same);
        }
    }
}

TEST(test_the_union_sorted)
{
    static struct seen all[UNION_MAX], merged[UNION_MAX];
    struct cluster *cluster = cluster_uniform_new(4, 8);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct workload_part parts[PARTS_MAX];
        struct random_stream stream;
        random_stream_init(&stream, seed, "test.merge", 99);
        const uint32_t count = 1 + random_below(&stream, PARTS_MAX);
        for (uint32_t p = 0; p < count; p++)
            parts[p] = (struct workload_part){.spec = {.trace = write_part(seed, (int)p), .format = "jsonl"},
                                              .offset = random_below(&stream, 3) * 10 * TIME_NS_PER_S,
                                              .prefix = prefixes[p]};
        const struct workload_spec merge = {.parts = parts, .part_count = count};
        const int wanted = union_of(all, &merge, cluster);
        assert_int_equal(read_all(merged, &merge, cluster, 1), wanted);
        check(all, merged, wanted);
        for (uint32_t p = 0; p < count; p++)
            mem_free((char *)(uintptr_t)parts[p].spec.trace);
    }
    cluster_free(cluster);
}

TEST_GROUP(scratch_make, scratch_remove)
