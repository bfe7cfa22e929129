/* tests/unit/test_blocks.c -- blocks of a trace drawn with replacement; workloads/readers/blocks.h. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/trace_case.h"
#include "workloads/readers/blocks.h"

enum { JOBS = 600, USERS = 23, DAYS = 40, WEEKS = 5, ARRAYS = 30, DAY_S = 86400, BEGIN_S = 1000 };

#define S(seconds) ((time_ns)(seconds)*TIME_NS_PER_S)

/* ---- A made trace ---- */

struct made {
    struct held held;
    struct names *users;
    struct arena arena;
    struct blocks_users copies;
};

/* Jobs over 40 days (5 weeks and 5 days), in no order: with and without users, names, arrays, deadlines and
 * dependencies on jobs that come before.  The same for each call. */
static void make(struct made *made)
{
    struct random_stream stream;
    *made = (struct made){.users = names_new()};
    random_stream_init(&stream, 11, "made", 0);
    for (uint32_t i = 0; i < JOBS; i++) {
        char name[24];
        struct job job = job_default();
        const struct job_truth truth = {.duration = S(i)};
        job.submit = i == 0 ? S(BEGIN_S) : S(BEGIN_S + random_below(&stream, DAYS * DAY_S / 100) * 100);
        job.deadline = i % 3 == 0 ? job.submit + S(500) : TIME_NEVER;
        job.trace_id = i;
        snprintf(name, sizeof name, "u%u", random_below(&stream, USERS) * random_below(&stream, USERS) / USERS);
        job.user = i % 17 != 0 ? names_add(made->users, text_of(name)) : NAMES_NONE;
        snprintf(name, sizeof name, "job#%u", i);
        job.name = i % 2 == 0 ? arena_copy(&made->arena, text_of(name)) : NULL;
        job.array = i % 4 == 0 ? 1 + random_below(&stream, ARRAYS) : 0;
        if (i % 5 == 4) {
            struct job_after *after = arena_alloc_array(&made->arena, 3, struct job_after);
            for (uint32_t tried = 0; tried < 40 && job.after_count < 3; tried++) {
                const uint32_t other = random_below(&stream, i);
                if (made->held.jobs[other].job.submit <= job.submit)
                    after[job.after_count++] = (struct job_after){.job = other, .kind = (uint8_t)(tried % 3)};
            }
            job.after = after;
        }
        held_add(&made->held, &job, &truth);
    }
}

static void release(struct made *made)
{
    held_release(&made->held);
    names_free(made->users);
    arena_release(&made->arena);
    blocks_users_release(&made->copies);
}

static struct blocks_plan plan_of(enum blocks_kind kind, uint64_t seed)
{
    return (struct blocks_plan){.kind = kind, .begin = S(BEGIN_S), .end = TIME_NEVER, .trace = "made", .seed = seed};
}

/* ---- The law, said again in a naive way ---- */

struct expected {
    uint32_t job, draw, copy;
    time_ns submit;
};

/* The block of a job, from 0; `blocks`: it stays. */
static uint32_t block_of(const struct held *held, enum blocks_kind kind, uint32_t job, uint32_t blocks)
{
    const struct job *own = &held->jobs[job].job;
    if (kind == BLOCKS_WEEKS) {
        const uint32_t week = (uint32_t)((own->submit - S(BEGIN_S)) / S(7 * DAY_S));
        return week < WEEKS ? week : blocks;
    }
    if (own->user == NAMES_NONE)
        return blocks;
    uint32_t before = 0; /* users that came before */
    for (uint32_t i = 0; i < JOBS; i++) {
        const uint32_t user = held->jobs[i].job.user;
        bool is_new = user != NAMES_NONE;
        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = held->jobs[k].job.user != user;
        if (user == own->user)
            return before;
        before += is_new;
    }
    fail_msg("job %u has no block", job);
    return 0;
}

static int by_submission(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->draw < b->draw ? -1 : a->draw > b->draw;
}

static size_t expect(const struct held *held, enum blocks_kind kind, uint64_t seed, const uint32_t blocks_by_job[],
                     uint32_t blocks, struct expected *out)
{
    struct random_stream stream;
    uint32_t *times = calloc(blocks + 1, sizeof *times);
    size_t count = 0;
    random_stream_init(&stream, seed, kind == BLOCKS_WEEKS ? "blocks_weeks" : "blocks_users", 0);
    for (uint32_t draw = 0; draw <= blocks; draw++) {
        const uint32_t block = draw < blocks ? random_below(&stream, blocks) : blocks;
        times[block]++;
        for (uint32_t i = 0; i < JOBS; i++) {
            if (blocks_by_job[i] != block)
                continue;
            const time_ns later = kind == BLOCKS_WEEKS ? S(7 * DAY_S) * ((time_ns)draw - (time_ns)block) : 0;
            out[count++] = (struct expected){i, draw, times[block], held->jobs[i].job.submit + later};
        }
    }
    free(times);
    qsort(out, count, sizeof *out, by_submission);
    return count;
}

static void check_name(const struct job *was, const struct job *is, uint32_t copy)
{
    char name[64];
    if (copy == 1) {
        assert_true(was->trace_id == is->trace_id && (was->name == NULL) == (is->name == NULL));
        assert_true(was->name == NULL || strcmp(was->name, is->name) == 0);
        return;
    }
    /* names have one '#', so a copy has two */
    if (was->name != NULL)
        snprintf(name, sizeof name, "%s##%u", was->name, copy);
    else
        snprintf(name, sizeof name, "%lld##%u", (long long)was->trace_id, copy);
    assert_string_equal(is->name, name);
}

static void check_user(const struct made *made, const struct made *before, const struct job *was, const struct job *is,
                       uint32_t copy, enum blocks_kind kind)
{
    char name[64];
    if (kind == BLOCKS_WEEKS || copy == 1) {
        assert_int_equal(is->user, was->user);
        return;
    }
    snprintf(name, sizeof name, "%s##%u", names_text(before->users, was->user), copy);
    assert_string_equal(names_text(made->users, is->user), name);
    assert_true(is->user < made->copies.count);
    assert_int_equal(made->copies.original[is->user], was->user);
    assert_int_equal(made->copies.original[was->user], was->user);
}

/* The dependencies on jobs of the same block, in their order, are there and name the job of the same draw. */
static void check_after(const struct made *before, const struct made *made, const struct expected *expected, size_t at,
                        size_t count, const uint32_t blocks_by_job[])
{
    const struct job *was = &before->held.jobs[expected[at].job].job, *is = &made->held.jobs[at].job;
    uint16_t found = 0;
    for (uint32_t a = 0; a < was->after_count; a++) {
        if (blocks_by_job[was->after[a].job] != blocks_by_job[expected[at].job])
            continue;
        assert_true(found < is->after_count);
        const uint32_t other = is->after[found].job;
        assert_true(other < count && other < at);
        assert_int_equal(expected[other].job, was->after[a].job);
        assert_int_equal(expected[other].draw, expected[at].draw);
        assert_int_equal(is->after[found].kind, was->after[a].kind);
        found++;
    }
    assert_int_equal(is->after_count, found);
}

/* Two jobs are of one array if they are of one in the trace, and of one draw. */
static void check_arrays(const struct made *before, const struct made *made, const struct expected *expected,
                         size_t count)
{
    uint32_t arrays = 0;
    for (size_t i = 0; i < count; i++) {
        const struct job *was = &before->held.jobs[expected[i].job].job, *is = &made->held.jobs[i].job;
        assert_true((was->array == 0) == (is->array == 0));
        if (is->array == 0)
            continue;
        assert_true(is->array <= arrays + 1); /* numbered by their first jobs */
        arrays = is->array > arrays ? is->array : arrays;
        for (size_t k = 0; k < i; k++) {
            const struct job *other = &before->held.jobs[expected[k].job].job;
            const bool is_one = other->array == was->array && expected[k].draw == expected[i].draw && other->array != 0;
            if ((made->held.jobs[k].job.array == is->array) != is_one)
                fail_msg("jobs %zu and %zu: one array or not?", k, i);
        }
    }
}

static void check_seed(enum blocks_kind kind, uint64_t seed)
{
    struct made before, made;
    static struct expected expected[JOBS * USERS];
    static uint32_t blocks_by_job[JOBS];
    make(&before);
    make(&made);
    const uint32_t blocks = kind == BLOCKS_WEEKS ? WEEKS : names_count(made.users);
    for (uint32_t i = 0; i < JOBS; i++)
        blocks_by_job[i] = block_of(&before.held, kind, i, blocks);
    const struct blocks_plan plan = plan_of(kind, seed);
    assert_false(error_is(blocks_draw(&made.held, &plan, made.users, &made.arena, &made.copies)));
    const size_t count = expect(&before.held, kind, seed, blocks_by_job, blocks, expected);
    assert_int_equal(made.held.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct held_job *was = &before.held.jobs[expected[i].job], *is = &made.held.jobs[i];
        assert_true(is->job.submit == expected[i].submit);
        assert_true(is->truth.duration == was->truth.duration);
        assert_true(was->job.deadline == TIME_NEVER ? is->job.deadline == TIME_NEVER
                                                    : is->job.deadline - is->job.submit == S(500));
        assert_int_equal(is->job.queue, was->job.queue);
        check_name(&was->job, &is->job, expected[i].copy);
        check_user(&made, &before, &was->job, &is->job, expected[i].copy, kind);
        check_after(&before, &made, expected, i, count, blocks_by_job);
    }
    check_arrays(&before, &made, expected, count);
    release(&before);
    release(&made);
}

TEST(weeks_are_drawn_by_the_law)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        check_seed(BLOCKS_WEEKS, seed);
}

TEST(users_are_drawn_by_the_law)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        check_seed(BLOCKS_USERS, seed);
}

/* ---- On average it is the trace ---- */

/* The jobs of n seeds: their mean is the trace's, within four standard errors.  The variance of a sum of B draws of
 * blocks is B times that of the sizes of blocks. */
static void check_mean(enum blocks_kind kind)
{
    enum { SEEDS = 1500 };
    struct made before;
    make(&before);
    const uint32_t blocks = kind == BLOCKS_WEEKS ? WEEKS : names_count(before.users);
    double *sizes = calloc(blocks + 1, sizeof *sizes), mean = 0, variance = 0, sum = 0, squares = 0;
    for (uint32_t i = 0; i < JOBS; i++)
        sizes[block_of(&before.held, kind, i, blocks)]++;
    for (uint32_t b = 0; b < blocks; b++)
        mean += sizes[b] / blocks;
    for (uint32_t b = 0; b < blocks; b++)
        variance += (sizes[b] - mean) * (sizes[b] - mean) / blocks;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct made made;
        make(&made);
        const struct blocks_plan plan = plan_of(kind, seed);
        assert_false(error_is(blocks_draw(&made.held, &plan, made.users, &made.arena, &made.copies)));
        sum += (double)made.held.count;
        squares += ((double)made.held.count - JOBS) * ((double)made.held.count - JOBS);
        release(&made);
    }
    const double error = sqrt(blocks * variance / SEEDS);
    assert_true(error > 0.2);
    assert_true(fabs(sum / SEEDS - JOBS) < 4 * error);
    assert_true(fabs(squares / SEEDS / (blocks * variance) - 1) < 0.2);
    free(sizes);
    release(&before);
}

TEST(on_average_as_many_jobs_come_as_the_trace_has)
{
    check_mean(BLOCKS_WEEKS);
    check_mean(BLOCKS_USERS);
}

/* ---- As the source of a run ---- */

#define THREE_WEEKS                                                                                                    \
    "job_id,submit_s,duration_s,gpus,user\n"                                                                           \
    "1,5,3600,1,ann\n"                                                                                                 \
    "2,700000,3600,2,bob\n"                                                                                            \
    "3,1300000,3600,4,ann\n"                                                                                           \
    "4,1900000,3600,8,ann\n" /* day 21 from the first submission: the fourth week, which is not whole */

/* GPUs tell the job; each week has one job, so all whole weeks together give three. */
TEST(the_source_gives_what_is_drawn)
{
    struct cluster *cluster = cluster_uniform_new(2, 8);
    const struct workload_spec spec = {.format = "native", .blocks = BLOCKS_WEEKS};
    struct trace_case read = trace_case_read(THREE_WEEKS, &spec, cluster);
    struct random_stream stream;
    double gpu_s = 8 * 3600;
    random_stream_init(&stream, 1, "blocks_weeks", 0);
    assert_int_equal(read.count, 4);
    for (uint32_t slot = 0; slot < 3; slot++) {
        static const uint32_t within_s[] = {5, 700000 - 7 * DAY_S, 1300000 - 14 * DAY_S};
        const uint32_t week = random_below(&stream, 3);
        assert_int_equal(job_gpu_milli(&read.jobs[slot]), (1 << week) * GPU_MILLI);
        assert_true(read.jobs[slot].submit == S((time_ns)slot * 7 * DAY_S + within_s[week] - 5));
        gpu_s += (1 << week) * 3600;
    }
    assert_int_equal(job_gpu_milli(&read.jobs[3]), 8 * GPU_MILLI);
    assert_int_equal(read.jobs[3].submit, S(1900000 - 5));
    assert_int_equal(read.facts.job_count, 4);
    assert_true(read.facts.recorded.all.asked_gpu_s == gpu_s);
    assert_true(fabs(read.facts.gpu_h_per_day - gpu_s / 3600 / ((1900000 - 5) / 86400.0)) < 1e-9);
    trace_case_release(&read);
    cluster_free(cluster);
}

/* The factor that gives the trace a load is that of the trace as recorded. */
TEST(loads_are_of_the_trace)
{
    struct cluster *cluster = cluster_uniform_new(2, 8);
    struct workload_spec spec = {.format = "native", .load = 0.01};
    struct trace_case plain = trace_case_read(THREE_WEEKS, &spec, cluster);
    spec.blocks = BLOCKS_USERS;
    struct trace_case drawn = trace_case_read(THREE_WEEKS, &spec, cluster);
    assert_true(plain.facts.arrival_factor == drawn.facts.arrival_factor);
    assert_true(plain.facts.gpu_h_per_day != drawn.facts.gpu_h_per_day);
    trace_case_release(&plain);
    trace_case_release(&drawn);
    cluster_free(cluster);
}

TEST(a_window_is_cut_from_its_begin)
{
    const struct workload_spec spec = {
        .format = "native", .blocks = BLOCKS_WEEKS, .window_from = S(100), .window_to = S(100 + 14 * DAY_S)};
    struct trace_case read = trace_case_read(THREE_WEEKS, &spec, NULL);
    /* the first week has no job, the second has job 2 and ends before job 4 */
    for (uint32_t i = 0; i < read.count; i++)
        assert_true((read.jobs[i].submit - S(700000 - 100)) % S(7 * DAY_S) == 0 ||
                    (read.jobs[i].submit - S(1300000 - 100)) % S(7 * DAY_S) == 0);
    trace_case_release(&read);
}

TEST(what_cannot_be_drawn_is_refused)
{
    struct workload_spec spec = {.format = "native", .blocks = BLOCKS_USERS};
    trace_case_refused("job_id,submit_s,duration_s,gpus\n1,5,60,1\n2,6,60,1\n", &spec, NULL, 0, 0,
                       "cannot be drawn by users: it names none\n  use 'workload.blocks': \"weeks\"");
    trace_case_refused("job_id,submit_s,duration_s,gpus,user\n1,5,60,1,ann\n2,6,60,1,ann\n", &spec, NULL, 0, 0,
                       "cannot be drawn by users: all its jobs are of one");
    spec.blocks = BLOCKS_WEEKS;
    trace_case_refused("job_id,submit_s,duration_s,gpus\n1,5,60,1\n2,1123204,60,1\n", &spec, NULL, 0, 0,
                       "cannot be drawn by weeks: it has 1 whole week, and at least 2 are needed");
    /* begun days count: 13 days and a second are 14 days */
    struct trace_case read =
        trace_case_read("job_id,submit_s,duration_s,gpus\n1,5,60,1\n2,1123206,60,1\n", &spec, NULL);
    assert_int_equal(read.count, 2);
    trace_case_release(&read);
}
