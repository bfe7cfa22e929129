/* A loss system: what is not started at once is rejected; blocking by class against the Kaufman-Roberts recursion.
 *
 * J. S. Kaufman, "Blocking in a shared resource environment", IEEE Trans. Comm. 29 (1981); J. W. Roberts (1981):
 * with a_k the offered load of class k and b_k what a job of it asks, j q(j) = sum of a_k b_k q(j - b_k), and class k
 * finds no room with the probability that more than C - b_k are taken.  It depends on the durations by their means
 * alone, so that constant and lognormal ones must be blocked alike.
 *
 * Seeds 1 to 10 of each distribution's own streams, taken before the first run.  The first jobs are cut as warm-up:
 * 4,000 of them are over 100 mean durations, and a loss system forgets its start within a few.
 */
#include <math.h>

#include "tests/support/test.h"
#include <gsl/gsl_randist.h>

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/run.h"

enum { SEED_COUNT = 10, CLASS_COUNT = 4, GPU_COUNT = 64, WARMUP_JOBS = 4000 };
#define DURATION_S      1000.0
#define LOGNORMAL_SIGMA 1.0

static const uint32_t asks[CLASS_COUNT] = {1, 2, 4, 8};

/* Jobs of each class present at a time, were none rejected: 20, 8, 3 and 1.5 are 60 GPUs of the 64. */
static const double offered[CLASS_COUNT] = {20, 8, 3, 1.5};

enum duration { EXPONENTIAL, CONSTANT, LOGNORMAL };
static const char *const duration_names[] = {"exponential", "constant", "lognormal"};

static void expected(double blocking[CLASS_COUNT])
{
    double q[GPU_COUNT + 1] = {1}, sum = 1;
    for (uint32_t j = 1; j <= GPU_COUNT; j++) {
        for (uint32_t k = 0; k < CLASS_COUNT; k++)
            if (j >= asks[k])
                q[j] += offered[k] * asks[k] * q[j - asks[k]] / j;
        sum += q[j];
    }
    for (uint32_t k = 0; k < CLASS_COUNT; k++) {
        blocking[k] = 0;
        for (uint32_t j = GPU_COUNT - asks[k] + 1; j <= GPU_COUNT; j++)
            blocking[k] += q[j] / sum;
    }
}

struct stream {
    struct random_stream gaps, kinds, durations;
    enum duration duration;
    time_ns submit;
    uint64_t left;
};

static double offered_of_all(void)
{
    double sum = 0;
    for (uint32_t k = 0; k < CLASS_COUNT; k++)
        sum += offered[k];
    return sum;
}

/* One Poisson stream, split by chance: as good as one of each class. */
static uint32_t draw_class(struct stream *stream)
{
    double u = random_uniform(&stream->kinds) * offered_of_all();
    uint32_t k = 0;
    for (; k + 1 < CLASS_COUNT && u >= offered[k]; k++)
        u -= offered[k];
    return k;
}

static double draw_duration_s(struct stream *stream)
{
    gsl_rng *rng = random_gsl(&stream->durations);
    switch (stream->duration) {
    case CONSTANT:
        return DURATION_S;
    case LOGNORMAL: /* its mean is exp(zeta + sigma^2 / 2) */
        return gsl_ran_lognormal(rng, log(DURATION_S) - LOGNORMAL_SIGMA * LOGNORMAL_SIGMA / 2, LOGNORMAL_SIGMA);
    case EXPONENTIAL:
        break;
    }
    return gsl_ran_exponential(rng, DURATION_S);
}

static struct error stream_next(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct stream *stream = self;
    *has = stream->left > 0;
    if (!*has)
        return ERROR_OK;
    stream->left--;
    stream->submit += time_from_seconds(gsl_ran_exponential(random_gsl(&stream->gaps), DURATION_S / offered_of_all()));
    *job = job_default();
    job->submit = stream->submit;
    job->first.request.gpus = 1;
    job->first.count = job->first.min_count = asks[draw_class(stream)];
    *truth = (struct job_truth){.duration = time_from_seconds(draw_duration_s(stream))};
    return ERROR_OK;
}

struct tally {
    uint64_t asked[CLASS_COUNT], rejected[CLASS_COUNT];
};

static struct error take_job(void *self, const struct job_row *row)
{
    struct tally *tally = self;
    uint32_t k = (uint32_t)__builtin_ctz(row->members);
    assert_true(row->wait == 0); /* it starts at once or never */
    if (!row->is_counted)
        return ERROR_OK;
    tally->asked[k]++;
    if (row->state == END_REJECTED) {
        assert_int_equal(row->reason, REASON_QUEUE_FULL);
        tally->rejected[k]++;
    }
    return ERROR_OK;
}

static void simulate(enum duration duration, uint64_t seed, double blocking[CLASS_COUNT])
{
    uint64_t jobs = test_is_full() ? 1000000 : 100000;
    struct stream stream = {.duration = duration, .left = jobs + WARMUP_JOBS};
    struct tally tally = {0};
    random_stream_init(&stream.gaps, seed, "loss-gaps", duration);
    random_stream_init(&stream.kinds, seed, "loss-classes", duration);
    random_stream_init(&stream.durations, seed, "loss-durations", duration);
    struct cluster *cluster = cluster_uniform_new(GPU_COUNT, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.is_unchecked = true;
    setup.world.queue_limit = 0;
    setup.world.warmup = time_from_seconds(WARMUP_JOBS * DURATION_S / offered_of_all());
    setup.world.sample_interval = TIME_NS_MAX;
    struct record_sink sink = {.self = &tally, .on_job = take_job};
    struct engine_result result = run_source(&setup, job_source_custom(stream_next, &stream), &sink);
    assert_true(result.submitted == result.finished + result.queue_full);
    for (uint32_t k = 0; k < CLASS_COUNT; k++)
        blocking[k] = (double)tally.rejected[k] / (double)tally.asked[k];
    cluster_free(cluster);
}

static void check(enum duration duration)
{
    double blocking[CLASS_COUNT][SEED_COUNT], one[CLASS_COUNT], truth[CLASS_COUNT];
    bool is_good = true;
    expected(truth);
    for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
        simulate(duration, seed, one);
        for (uint32_t k = 0; k < CLASS_COUNT; k++)
            blocking[k][seed - 1] = one[k];
    }
    print_message("%s durations:\n", duration_names[duration]);
    for (uint32_t k = 0; k < CLASS_COUNT; k++) {
        struct interval interval = interval_99(blocking[k], SEED_COUNT);
        bool is_inside = interval_holds(&interval, truth[k]);
        bool is_narrow = interval.half_width <= (test_is_full() ? 0.05 : 0.15) * truth[k];
        print_message("  %u GPUs: expected %.6f  measured %.6f +- %.6f%s%s\n", asks[k], truth[k], interval.mean,
                      interval.half_width, is_inside ? "" : "  OUTSIDE", is_narrow ? "" : "  TOO WIDE");
        is_good &= is_inside && is_narrow;
    }
    assert_true(is_good);
}

TEST(test_exponential)
{
    check(EXPONENTIAL);
}

TEST(test_constant)
{
    check(CONSTANT);
}

TEST(test_lognormal)
{
    check(LOGNORMAL);
}
