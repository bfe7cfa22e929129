/* A closed loop of users against closed queueing networks.
 *
 * N users each run a job, think, and run the next one, on one server.  The trace is recorded where nobody waits; the
 * run has one GPU.  Closed forms:
 *
 *  - One user: a cycle is service S and think time Z, so the throughput is X = 1 / (Z + S), whatever S is in the run.
 *  - Any N, any times: the interactive response time law X = N / (R + Z), R from submission to end (P. J. Denning and
 *    J. P. Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10, 1978).
 *  - N users with fixed S and Z, N S > S + Z: the server is always busy, so that X = 1 / S and R = N S - Z.
 *  - Exponential S and Z: mean value analysis, R(n) = S (1 + Q(n-1)), X(n) = n / (R(n) + Z), Q(n) = X(n) R(n)
 *    (M. Reiser and S. S. Lavenberg, J. ACM 27, 1980).
 *
 * Seeds 1 to 8, taken before the first run and kept; the intervals are of 99 %. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

enum { USERS_MAX = 12, CYCLES = 400, WARM_UP = 40, SEED_COUNT = 8 };

struct network {
    uint32_t users;
    double service_s, think_s;
    bool is_random;
    double scale; /* of run times: a cluster whose GPUs are slower or faster than the recorded ones */
};

struct seen {
    double x_per_s, r_s; /* throughput; mean response time */
};

static struct cluster *one_gpu;

/* ---- The trace ---- */

struct line {
    time_ns submit, run;
    uint32_t user;
};

static time_ns draw(struct random_stream *stream, double mean_s, bool is_random)
{
    const double s = is_random ? -log(1 - random_uniform(stream)) * mean_s : mean_s;
    return (time_ns)(s * 1000) * (TIME_NS_PER_S / 1000); /* whole ms, which the text holds exactly */
}

static int by_submit(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    return a->submit != b->submit ? (a->submit < b->submit ? -1 : 1) : (a->user > b->user) - (a->user < b->user);
}

static const char *write_trace(const struct network *network, uint64_t seed)
{
    static struct line lines[USERS_MAX * CYCLES];
    struct buffer text = {0};
    const size_t count = (size_t)network->users * CYCLES;
    for (uint32_t user = 0; user < network->users; user++) {
        struct random_stream stream;
        time_ns at = 0;
        random_stream_init(&stream, seed, "test.closed_loop", user);
        for (int k = 0; k < CYCLES; k++) {
            struct line *line = &lines[user * CYCLES + (uint32_t)k];
            *line = (struct line){at, draw(&stream, network->service_s, network->is_random), user};
            at += line->run + draw(&stream, network->think_s, network->is_random);
        }
    }
    qsort(lines, count, sizeof *lines, by_submit);
    buffer_string(&text, "job_id,submit_s,duration_s,gpus,user,wait_s\n");
    for (size_t i = 0; i < count; i++) {
        buffer_format(&text, "%zu,", i + 1);
        buffer_scaled(&text, lines[i].submit, TIME_NS_PER_S);
        buffer_char(&text, ',');
        buffer_scaled(&text, lines[i].run, TIME_NS_PER_S);
        buffer_format(&text, ",1,u%u,0\n", lines[i].user);
    }
    const char *path = scratch_write("users.csv", text.bytes, text.length);
    buffer_release(&text);
    return path;
}

/* ---- The run ---- */

struct rows {
    struct job_row rows[USERS_MAX * CYCLES];
    uint32_t count;
};

static struct error take_row(void *self, const struct job_row *row)
{
    struct rows *rows = self;
    rows->rows[rows->count] = *row;
    rows->rows[rows->count++].name = NULL;
    return ERROR_OK;
}

/* Figures of the jobs that ended while all users were there, without a warm-up. */
static struct seen figures(const struct rows *rows, uint32_t users)
{
    const uint32_t first = users * WARM_UP, last = rows->count * 9 / 10;
    double sum_s = 0;
    for (uint32_t i = first; i < last; i++)
        sum_s += time_to_seconds(rows->rows[i].end - rows->rows[i].submit);
    const double span_s = time_to_seconds(rows->rows[last - 1].end - rows->rows[first - 1].end);
    return (struct seen){(last - first) / span_s, sum_s / (last - first)};
}

static struct seen run(const struct network *network, uint64_t seed)
{
    static struct rows rows;
    struct workload_spec spec = {.trace = write_trace(network, seed),
                                 .format = "native",
                                 .duration_scale = network->scale,
                                 .gpus_per_node = 8,
                                 .loop = {.is_closed = true, .think_max = TIME_NS_PER_S * 1000000}};
    struct run_setup setup = run_setup_default(one_gpu);
    struct job_source *source;
    const struct record_sink sink = {.self = &rows, .on_job = take_row};
    struct error error = job_source_open(&source, &spec, one_gpu, 1);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    setup.is_unchecked = true;
    rows.count = 0;
    run_source(&setup, source, &sink); /* rows come in the order of their ends */
    assert_int_equal(rows.count, network->users * CYCLES);
    return figures(&rows, network->users);
}

static void near(const char *law, double value, double wanted, double part)
{
    if (!(fabs(value - wanted) <= part * fabs(wanted)))
        fail_msg("%s: %.9g, by the closed form %.9g", law, value, wanted);
}

/* ---- The laws ---- */

TEST(one_user_makes_a_job_per_cycle)
{
    const double scales[] = {0.25, 1, 3};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        const struct network network = {1, 100, 50, false, scales[i]};
        const struct seen seen = run(&network, 1);
        near("throughput of one user, 1 / (Z + S)", seen.x_per_s, 1 / (50 + 100 * scales[i]), 1e-9);
        near("response time of one user, S", seen.r_s, 100 * scales[i], 1e-9);
    }
}

TEST(a_full_server_bounds_waits_by_the_number_of_users)
{
    for (uint32_t users = 2; users <= USERS_MAX; users++) {
        const struct network network = {users, 100, 50, false, 1};
        const struct seen seen = run(&network, 1);
        near("throughput of a full server, 1 / S", seen.x_per_s, 0.01, 1e-9);
        near("response time, N S - Z", seen.r_s, 100.0 * users - 50, 1e-9);
    }
}

static struct seen mean_values(const struct network *network)
{
    struct seen wanted = {0};
    const double service_s = network->service_s * network->scale;
    double queue = 0;
    for (uint32_t n = 1; n <= network->users; n++) {
        wanted.r_s = service_s * (1 + queue);
        wanted.x_per_s = n / (wanted.r_s + network->think_s);
        queue = wanted.x_per_s * wanted.r_s;
    }
    return wanted;
}

TEST(exponential_users_obey_mean_value_analysis)
{
    const struct network networks[] = {{4, 1000, 5000, true, 1}, {12, 1000, 8000, true, 1}, {8, 1000, 8000, true, 2}};
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        double x[SEED_COUNT], r[SEED_COUNT], cycle[SEED_COUNT];
        const struct seen wanted = mean_values(&networks[i]);
        for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
            const struct seen seen = run(&networks[i], seed);
            x[seed - 1] = seen.x_per_s;
            r[seed - 1] = seen.r_s;
            cycle[seed - 1] = networks[i].users / seen.x_per_s - seen.r_s;
        }
        const struct interval throughput = interval_99(x, SEED_COUNT), response = interval_99(r, SEED_COUNT);
        const struct interval think = interval_99(cycle, SEED_COUNT);
        if (!interval_holds(&throughput, wanted.x_per_s) || throughput.half_width > 0.05 * wanted.x_per_s)
            fail_msg("network %zu: throughput %.6g +- %.2g, by mean value analysis %.6g", i, throughput.mean,
                     throughput.half_width, wanted.x_per_s);
        if (!interval_holds(&response, wanted.r_s) || response.half_width > 0.08 * wanted.r_s)
            fail_msg("network %zu: response %.6g +- %.2g s, by mean value analysis %.6g s", i, response.mean,
                     response.half_width, wanted.r_s);
        if (!interval_holds(&think, networks[i].think_s) || think.half_width > 0.08 * networks[i].think_s)
            fail_msg("network %zu: N / X - R is %.6g +- %.2g s, by the response time law Z, %.6g s", i, think.mean,
                     think.half_width, networks[i].think_s);
    }
}

static int set_up(void **state)
{
    one_gpu = cluster_uniform_new(1, 1);
    return scratch_make(state);
}

static int tear_down(void **state)
{
    cluster_free(one_gpu);
    return scratch_remove(state);
}

TEST_GROUP(set_up, tear_down)
