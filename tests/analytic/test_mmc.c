/* M/M/c: the waits of one-GPU jobs against Erlang's formulas.
 *
 * A. K. Erlang (1917); closed forms as in L. Kleinrock, Queueing Systems 1 (1975), 3.5 and 5.9: with a = lambda/mu,
 * P(wait > 0) is Erlang's C(c, a), and given that it waits a job waits exponentially with rate c mu - lambda.
 *
 * Size: 10 seeds of 2e6 jobs (a tenth of that when the size is small), times what a case needs for its intervals to be
 * narrow: half-widths fall with the root of the jobs, and at 2e6 jobs those of p99 are about 7 % for 8 servers at 95
 * %, 9 % for 64 and 13 % for 500.  Every interval must be at most 5 % (15 %) of the figure wide, to each side. The
 * factors come from the widths of a first run; nothing else was set by what was measured. Seeds: 1 to 10, taken before
 * the first run and kept; every case has streams of its own.  The test is deterministic, so that the rare miss that 24
 * intervals of 99 % allow would have shown when it was written: there was none. Warm-up: the cluster starts empty, and
 * a tenth more jobs come before the counted ones and are cut: more than fifty relaxation times, 1 / (c mu (1 -
 * sqrt(rho))^2), of every case.  No job is censored: runs go on until all ended. A build with debug assertions looks
 * for faults of another kind, and is ten times slower: it runs the first case alone.
 */
#include <math.h>

#include "tests/support/test.h"
#include <gsl/gsl_randist.h>

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/run.h"

#ifdef WINDTUNNEL_DEBUG
enum { CASES = 1 };
#else
enum { CASES = 6 };
#endif

enum { SEED_COUNT = 10, FIGURE_COUNT = 4 };
#define SERVICE_S 1000.0 /* mean; long against the microsecond that times are rounded to */

static const char *const figure_names[FIGURE_COUNT] = {"mean", "P(wait)", "median", "p99"};

struct mmc {
    uint32_t nodes;
    uint16_t gpus;
    double load;
    uint32_t stretch; /* of the run, over the common size */
    uint32_t id;      /* of its streams */
};

/* ---- The closed forms -------------------------------------------------------------------------- */

/* Erlang's C by his B: B(n) = a B(n-1) / (n + a B(n-1)). */
static double erlang_c(uint32_t servers, double offered)
{
    double b = 1;
    for (uint32_t n = 1; n <= servers; n++)
        b = offered * b / (n + offered * b);
    double load = offered / servers;
    return b / (1 - load * (1 - b));
}

static double quantile_of(double p_wait, double drain_per_s, double p)
{
    return p_wait <= 1 - p ? 0 : log(p_wait / (1 - p)) / drain_per_s;
}

static void expected(const struct mmc *mmc, double figures[FIGURE_COUNT])
{
    uint32_t servers = mmc->nodes * mmc->gpus;
    double p_wait = erlang_c(servers, mmc->load * servers);
    double drain_per_s = servers * (1 - mmc->load) / SERVICE_S;
    figures[0] = p_wait / drain_per_s;
    figures[1] = p_wait;
    figures[2] = quantile_of(p_wait, drain_per_s, 0.5);
    figures[3] = quantile_of(p_wait, drain_per_s, 0.99);
}

/* ---- The simulation ---------------------------------------------------------------------------- */

struct stream {
    struct random_stream gaps, services;
    double gap_s;
    time_ns submit;
    uint64_t left;
};

static struct error stream_next(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct stream *stream = self;
    *has = stream->left > 0;
    if (!*has)
        return ERROR_OK;
    stream->left--;
    stream->submit += time_from_seconds(gsl_ran_exponential(random_gsl(&stream->gaps), stream->gap_s));
    double service_s = gsl_ran_exponential(random_gsl(&stream->services), SERVICE_S);
    *job = job_default();
    job->submit = stream->submit;
    job->first.request.gpus = 1;
    *truth = (struct job_truth){.duration = time_from_seconds(service_s)};
    return ERROR_OK;
}

struct waits {
    double *wait_s; /* of those that waited */
    size_t waited, capacity;
    size_t count; /* of all jobs */
    double sum_s;
};

static struct error take_wait(void *self, const struct job_row *row)
{
    struct waits *waits = self;
    if (!row->is_counted)
        return ERROR_OK;
    waits->count++;
    if (row->wait == 0)
        return ERROR_OK;
    MEM_GROW(waits->wait_s, waits->capacity, waits->waited + 1);
    waits->wait_s[waits->waited++] = time_to_seconds(row->wait);
    waits->sum_s += time_to_seconds(row->wait);
    return ERROR_OK;
}

/* The value that stands at `rank` when sorted; O(count), where sorting the longest runs takes minutes. */
static double value_at(double *values, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) { /* C. A. R. Hoare, "Algorithm 65: Find", CACM 4(7), 1961 */
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        while (true) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            double held = values[i];
            values[i++] = values[j];
            values[j--] = held;
        }
        if (rank <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[rank];
}

/* The smallest wait that a share of p of all jobs does not exceed. */
static double quantile_measured(struct waits *waits, double p)
{
    size_t rank = (size_t)(p * (double)waits->count), zeros = waits->count - waits->waited;
    return rank < zeros ? 0 : value_at(waits->wait_s, waits->waited, rank - zeros);
}

static void measure(struct waits *waits, double figures[FIGURE_COUNT])
{
    figures[0] = waits->sum_s / (double)waits->count;
    figures[1] = (double)waits->waited / (double)waits->count;
    figures[2] = quantile_measured(waits, 0.5);
    figures[3] = quantile_measured(waits, 0.99);
}

static void simulate(const struct mmc *mmc, uint64_t seed, uint64_t jobs, double figures[FIGURE_COUNT])
{
    uint64_t warmup_jobs = jobs / 10;
    uint32_t servers = mmc->nodes * mmc->gpus;
    struct stream stream = {.gap_s = SERVICE_S / (mmc->load * servers), .left = jobs + warmup_jobs};
    struct waits waits = {0};
    random_stream_init(&stream.gaps, seed, "mmc-gaps", mmc->id);
    random_stream_init(&stream.services, seed, "mmc-services", mmc->id);
    struct cluster *cluster = cluster_uniform_new(mmc->nodes, mmc->gpus);
    struct run_setup setup = run_setup_default(cluster);
    setup.is_unchecked = true; /* O(cluster) at each of millions of instants */
    setup.world.warmup = time_from_seconds(stream.gap_s * (double)warmup_jobs);
    setup.world.sample_interval = TIME_NS_MAX;
    struct record_sink sink = {.self = &waits, .on_job = take_wait};
    run_source(&setup, job_source_custom(stream_next, &stream), &sink);
    measure(&waits, figures);
    mem_free(waits.wait_s);
    cluster_free(cluster);
}

/* ---- The judgement ----------------------------------------------------------------------------- */

/* How wide an interval may be, of the figure that is to be met. */
static bool judge(const char *name, const struct interval *interval, double truth, double width_max)
{
    bool is_inside = interval_holds(interval, truth);
    bool is_narrow = interval->half_width <= width_max * truth;
    print_message("  %-8s expected %11.5f  measured %11.5f +- %.5f%s%s\n", name, truth, interval->mean,
                  interval->half_width, is_inside ? "" : "  OUTSIDE", is_narrow ? "" : "  TOO WIDE");
    return is_inside && is_narrow;
}

static void check(const struct mmc *mmc)
{
    double figures[FIGURE_COUNT][SEED_COUNT], one[FIGURE_COUNT], truth[FIGURE_COUNT];
    uint64_t jobs = (test_is_full() ? 2000000 : 200000) * (uint64_t)mmc->stretch;
    bool is_good = true;
    if (mmc->id >= CASES) {
        print_message("skipped: a debug build runs the first queue alone\n");
        skip();
    }
    for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
        simulate(mmc, seed, jobs, one);
        for (int f = 0; f < FIGURE_COUNT; f++)
            figures[f][seed - 1] = one[f];
    }
    expected(mmc, truth);
    print_message("%u x %u GPUs at %.0f %%, seconds of wait at %.0f s of service:\n", mmc->nodes, mmc->gpus,
                  mmc->load * 100, SERVICE_S);
    for (int f = 0; f < FIGURE_COUNT; f++) {
        struct interval interval = interval_99(figures[f], SEED_COUNT);
        is_good &= judge(figure_names[f], &interval, truth[f], test_is_full() ? 0.05 : 0.15);
    }
    assert_true(is_good);
}

TEST(test_8_at_70)
{
    check(&(struct mmc){8, 1, 0.70, 1, 0});
}

TEST(test_8_at_90)
{
    check(&(struct mmc){1, 8, 0.90, 1, 1});
}

TEST(test_8_at_95)
{
    check(&(struct mmc){8, 1, 0.95, 4, 2});
}

TEST(test_64_at_90)
{
    check(&(struct mmc){8, 8, 0.90, 1, 3});
}

TEST(test_64_at_95)
{
    check(&(struct mmc){64, 1, 0.95, 16, 4});
}

TEST(test_500_at_95)
{
    check(&(struct mmc){125, 4, 0.95, 10, 5});
}

/* The formulas themselves, by hand: C(1, a) = a; C(2, 1) = 1/3; the median of M/M/1 at 80 % is ln(1.6) / (mu -
 * lambda). */
TEST(test_closed_forms)
{
    double figures[FIGURE_COUNT];
    assert_true(fabs(erlang_c(1, 0.8) - 0.8) < 1e-12);
    assert_true(fabs(erlang_c(2, 1.0) - 1.0 / 3) < 1e-12);
    expected(&(struct mmc){1, 1, 0.8, 1, 0}, figures);
    assert_true(fabs(figures[0] - 4 * SERVICE_S) < 1e-6); /* rho / (1 - rho) services */
    assert_true(fabs(figures[2] - log(1.6) * 5 * SERVICE_S) < 1e-6);
    assert_true(fabs(figures[3] - log(80) * 5 * SERVICE_S) < 1e-6);
}
