#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/scratch.h"
#include "workloads/readers/source.h"

/* Transformations of rows, against the rows as text.  Each job of the trace is known by its number. */

enum { ROWS = 400, SUBMIT_MAX_S = 100000, QUEUES = 4, USERS = 7, OUT_MAX = 8 * ROWS };

struct row {
    int id, submit, duration, gpus, queue, user; /* user USERS: none */
    int after[2];                                /* ids; 0: none */
};

struct given {
    struct job job;
    char queue[16], user[16];
    int id, copy; /* of the row; from 1 */
    time_ns duration;
    int after[2], after_copy[2]; /* of the jobs that it names */
};

struct world {
    struct row rows[ROWS + 1]; /* by id, from 1 */
    int order[ROWS];           /* ids as they stand in the file */
    struct given given[OUT_MAX];
    int count;
};

static struct cluster *cluster;

/* A trace that is not sorted.  A job names jobs that stand before it and are not submitted later. */
static void make(struct world *world, uint64_t seed)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "test.rows", 0);
    for (int i = 0; i < ROWS; i++)
        world->order[i] = i + 1;
    for (int i = ROWS - 1; i > 0; i--) {
        const int other = (int)random_below(&stream, (uint32_t)i + 1), kept = world->order[i];
        world->order[i] = world->order[other];
        world->order[other] = kept;
    }
    for (int i = 0; i < ROWS; i++) {
        struct row *row = &world->rows[world->order[i]];
        *row = (struct row){.id = world->order[i],
                            .submit = (int)random_below(&stream, SUBMIT_MAX_S),
                            .duration = 1 + (int)random_below(&stream, 1000),
                            .gpus = 1 + (int)random_below(&stream, 4),
                            .queue = (int)random_below(&stream, QUEUES),
                            .user = (int)random_below(&stream, USERS + 1)};
        for (int a = 0; a < 2 && i > 0; a++) {
            const int other = world->order[random_below(&stream, (uint32_t)i)];
            if (world->rows[other].submit <= row->submit && (a == 0 || row->after[0] != other))
                row->after[a] = other;
        }
    }
}

static const char *write(const struct world *world)
{
    struct buffer text = {0};
    buffer_string(&text, "job_id,submit_s,duration_s,gpus,queue,user,after\n");
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &world->rows[world->order[i]];
        buffer_format(&text, "%d,%d,%d,%d,q%d,", row->id, row->submit, row->duration, row->gpus, row->queue);
        if (row->user < USERS)
            buffer_format(&text, "u%d", row->user);
        buffer_char(&text, ',');
        for (int a = 0; a < 2; a++)
            if (row->after[a] != 0)
                buffer_format(&text, "%s%d", a == 1 && row->after[0] != 0 ? ";" : "", row->after[a]);
        buffer_char(&text, '\n');
    }
    const char *path = scratch_write("rows.csv", text.bytes, text.length);
    buffer_release(&text);
    return path;
}

static void take(struct world *world, struct job_source *source, const struct job *job, const struct job_truth *truth)
{
    struct given *given = &world->given[world->count];
    assert_true(world->count < OUT_MAX && job->id == (job_id)world->count);
    *given = (struct given){.job = *job, .id = (int)job->trace_id, .copy = 1, .duration = truth->duration};
    if (job->name != NULL)
        assert_int_equal(sscanf(job->name, "%d#%d", &given->id, &given->copy), 2);
    snprintf(given->queue, sizeof given->queue, "%s", job_source_queue_table(source)->queues[job->queue].name);
    if (job->user != NAMES_NONE)
        snprintf(given->user, sizeof given->user, "%s", names_text(job_source_users(source), job->user));
    assert_true(job->after_count <= 2);
    for (int a = 0; a < job->after_count; a++) {
        assert_true(job->after[a].job < job->id); /* it comes first */
        given->after[a] = world->given[job->after[a].job].id;
        given->after_copy[a] = world->given[job->after[a].job].copy;
    }
    world->count++;
}

static void read_with(struct world *world, struct workload_spec spec, uint64_t seed)
{
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    spec.trace = write(world);
    spec.format = "native";
    world->count = 0;
    struct error error = job_source_open(&source, &spec, cluster, seed);
    assert_false(error_is(error));
    while (true) {
        error = job_source_next(source, &job, &truth, &has);
        assert_false(error_is(error));
        if (!has)
            break;
        take(world, source, &job, &truth);
    }
    assert_int_equal(job_source_facts(source)->job_count, world->count);
    job_source_close(source);
}

/* How often each row came, by id. */
static void counts_of(const struct world *world, int counts[ROWS + 1])
{
    memset(counts, 0, (ROWS + 1) * sizeof *counts);
    for (int i = 0; i < world->count; i++)
        counts[world->given[i].id]++;
}

/* A job depends on the jobs of its row that came, and always on the first of them. */
static void check_after(const struct world *world)
{
    int counts[ROWS + 1];
    counts_of(world, counts);
    for (int i = 0; i < world->count; i++) {
        const struct given *given = &world->given[i];
        const struct row *row = &world->rows[given->id];
        int expected[2] = {0, 0}, count = 0;
        for (int a = 0; a < 2; a++)
            if (row->after[a] != 0 && counts[row->after[a]] > 0)
                expected[count++] = row->after[a];
        assert_int_equal(given->job.after_count, count);
        for (int a = 0; a < count; a++) {
            assert_int_equal(given->after[a], expected[a]);
            assert_int_equal(given->after_copy[a], 1);
        }
    }
}

TEST(test_sample)
{
    static const double shares[] = {0.05, 0.2, 0.5, 0.9, 1};
    static struct world world;
    int before[ROWS + 1], counts[ROWS + 1], sum = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        make(&world, seed);
        memset(before, 0, sizeof before);
        for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
            read_with(&world, (struct workload_spec){.sample = {.share = shares[s]}}, seed);
            counts_of(&world, counts);
            check_after(&world);
            for (int id = 1; id <= ROWS; id++)
                assert_true(counts[id] <= 1 && counts[id] >= before[id]); /* nested */
            memcpy(before, counts, sizeof before);
            sum += shares[s] == 0.2 ? world.count : 0;
        }
        assert_int_equal(world.count, ROWS); /* a share of 1 */
    }
    /* 16,000 draws of 0.2, within five standard deviations. */
    assert_true(abs(sum - 3200) < 5 * 51);
}

/* The same jobs stay wherever their rows stand, and with a seed of its own whatever the seed of the run. */
TEST(test_sample_depends_on_ids_alone)
{
    static struct world world;
    int counts[ROWS + 1], again[ROWS + 1];
    struct workload_spec spec = {.sample = {.share = 0.3, .has_seed = true, .seed = 9}};
    make(&world, 1);
    read_with(&world, spec, 1);
    counts_of(&world, counts);
    make(&world, 2);
    read_with(&world, spec, 5);
    counts_of(&world, again);
    assert_memory_equal(counts, again, sizeof counts);
    spec.sample.seed = 10;
    read_with(&world, spec, 5);
    counts_of(&world, again);
    assert_memory_not_equal(counts, again, sizeof counts);
}

TEST(test_sample_of_users)
{
    static struct world world;
    int kept = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int counts[ROWS + 1], by_user[USERS + 1][2] = {{0}};
        make(&world, seed);
        read_with(&world, (struct workload_spec){.sample = {.share = 0.5, .by = SAMPLE_USERS}}, seed);
        counts_of(&world, counts);
        for (int id = 1; id <= ROWS; id++)
            by_user[world.rows[id].user][counts[id]]++;
        for (int user = 0; user < USERS; user++)
            assert_true(by_user[user][0] == 0 || by_user[user][1] == 0); /* with all jobs */
        assert_true(by_user[USERS][0] > 0 && by_user[USERS][1] > 0);     /* each by itself */
        for (int user = 0; user < USERS; user++)
            kept += by_user[user][1] > 0;
    }
    assert_true(abs(kept - 140) < 5 * 9); /* 280 draws of 0.5 */
}

TEST(test_tenants)
{
    static const struct name_rule queues[] = {{"q0", "red", 0}, {"q[12]", "none", 0}, {"*2", "", 0}, {"q?", "blue", 0}};
    static const struct name_rule users[] = {{"u1", "ann", 0}, {"u*", "", 0}};
    static const char *const queue_of[QUEUES] = {"red", "blue", "default", "blue"};
    static struct world world;
    make(&world, 3);
    read_with(&world, (struct workload_spec){.tenants = {{queues, 4}, {users, 2}}}, 1);
    assert_int_equal(world.count, ROWS);
    for (int i = 0; i < world.count; i++) {
        const struct row *row = &world.rows[world.given[i].id];
        assert_string_equal(world.given[i].queue, queue_of[row->queue]);
        assert_string_equal(world.given[i].user, row->user == 1 ? "ann" : "");
    }
    /* names without a rule stay, and what is sampled is told by the names of the trace */
    int counts[ROWS + 1], again[ROWS + 1];
    struct workload_spec spec = {.sample = {.share = 0.5, .by = SAMPLE_USERS}};
    read_with(&world, spec, 1);
    counts_of(&world, counts);
    spec.tenants = (struct tenants_plan){{queues, 1}, {users, 2}};
    read_with(&world, spec, 1);
    counts_of(&world, again);
    assert_memory_equal(counts, again, sizeof counts);
    for (int i = 0; i < world.count; i++)
        assert_true(world.rows[world.given[i].id].queue == 0 || world.given[i].queue[0] == 'q');
}

static const double factors[QUEUES] = {0.3, 1.6, 1, 3};

static void grow(struct world *world, double scale, uint64_t seed)
{
    struct name_rule rules[QUEUES];
    char names[QUEUES][8];
    for (int q = 0; q < QUEUES; q++) {
        snprintf(names[q], sizeof names[q], "q%d", q);
        rules[q] = (struct name_rule){names[q], NULL, factors[q] * scale};
    }
    const struct growth_plan growth = {{rules, QUEUES}, 1000 * TIME_NS_PER_S};
    read_with(world,
              (struct workload_spec){.growth = growth, .window_from = 0, .window_to = SUBMIT_MAX_S * TIME_NS_PER_S},
              seed);
}

TEST(test_growth)
{
    static struct world world;
    int jobs[QUEUES] = {0}, rows[QUEUES] = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int counts[ROWS + 1], more[ROWS + 1];
        make(&world, seed);
        grow(&world, 1.3, seed);
        counts_of(&world, more);
        grow(&world, 1, seed);
        counts_of(&world, counts);
        check_after(&world);
        for (int id = 1; id <= ROWS; id++) {
            const int queue = world.rows[id].queue;
            rows[queue]++;
            jobs[queue] += counts[id];
            assert_true(counts[id] >= (int)floor(factors[queue]) && counts[id] <= (int)ceil(factors[queue]));
            assert_true(more[id] >= counts[id]); /* nested */
        }
        for (int i = 0; i < world.count; i++) {
            const struct given *given = &world.given[i];
            const struct row *row = &world.rows[given->id];
            const time_ns later = given->job.submit - row->submit * TIME_NS_PER_S;
            assert_true(given->copy == 1 ? later == 0 : later > 0 && later < 1000 * TIME_NS_PER_S);
            assert_true(given->job.submit < SUBMIT_MAX_S * TIME_NS_PER_S);
            assert_int_equal(job_gpu_milli(&given->job), row->gpus * GPU_MILLI);
            assert_true(given->duration == row->duration * TIME_NS_PER_S);
            assert_int_equal(given->queue[1] - '0', row->queue);
        }
    }
    /* The counts are the factor x the rows: the sum of independent draws of the fraction, within five deviations. */
    for (int q = 0; q < QUEUES; q++) {
        const double part = factors[q] - floor(factors[q]), sigma = sqrt(rows[q] * part * (1 - part));
        assert_true(fabs(jobs[q] - factors[q] * rows[q]) <= 5 * sigma + 1e-6);
    }
}

/* A load that is reached by run times: the load of the jobs that come, computed here; arrivals stay. */
TEST(test_load_by_durations)
{
    static struct world world;
    make(&world, 4);
    struct workload_spec spec = {.load = 0.7, .scales_durations = true, .sample = {.share = 0.6}};
    read_with(&world, spec, 2);
    double gpu_s = 0;
    for (int i = 0; i < world.count; i++)
        gpu_s += time_to_seconds(world.given[i].duration) * world.rows[world.given[i].id].gpus;
    const double span_s = time_to_seconds(world.given[world.count - 1].job.submit - world.given[0].job.submit);
    assert_true(fabs(gpu_s / span_s / cluster->gpu_count / 0.7 - 1) < 1e-9);
    const int first = world.rows[world.given[0].id].submit;
    for (int i = 0; i < world.count; i++)
        assert_true(world.given[i].job.submit == (world.rows[world.given[i].id].submit - first) * TIME_NS_PER_S);
}

/* The definition, letter by letter. */
static bool matches(const char *pattern, const char *name)
{
    if (*pattern == '\0')
        return *name == '\0';
    if (*pattern == '*')
        return matches(pattern + 1, name) || (*name != '\0' && matches(pattern, name + 1));
    return *name != '\0' && (*pattern == '?' || *pattern == *name) && matches(pattern + 1, name + 1);
}

static void text_of_number(char *text, int number, const char *letters, int length)
{
    const int base = (int)strlen(letters);
    for (int i = 0; i < length; i++, number /= base)
        text[i] = letters[number % base];
    text[length] = '\0';
}

TEST(test_patterns)
{
    char pattern[8], name[8];
    for (int p = 0; p < 1024; p++)
        for (int pattern_length = 0; pattern_length <= 5; pattern_length++)
            for (int n = 0; n < 64; n++) {
                text_of_number(pattern, p, "ab*?", pattern_length);
                text_of_number(name, n, "ab", n % 7);
                assert_int_equal(name_rule_matches(pattern, name), matches(pattern, name));
            }
}

static int make_all(void **state)
{
    cluster = cluster_uniform_new(8, 8);
    return scratch_make(state);
}

static int remove_all(void **state)
{
    cluster_free(cluster);
    return scratch_remove(state);
}

TEST_GROUP(make_all, remove_all)
