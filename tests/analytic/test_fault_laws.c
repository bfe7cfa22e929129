/* The time that a job with checkpoints takes under the faults of world.faults, against the law that they follow, and
 * how far that is from the law of interruptions that strike at any time.
 *
 * A fault is a point of the job's reference work and strikes once: no write, restart or work that is done again meets
 * one.  So with faults of rate l per second of work, work of dt between checkpoints, writes of w and restarts of u0, a
 * second of work takes on the mean, exactly,
 *
 *     first order   1 + w / dt + l (dt / 2 + u0)                        (Daly, FGCS 22, 2006, without terms in l^2)
 *
 * Interruptions that strike at any time, also while it writes, restarts or works again, make it
 *
 *     closed form   (exp(l (dt + w)) - 1) exp(l u0) / (dt l)            (Daly, as in tests/analytic/test_checkpoints.c)
 *
 * The job runs alone under strict fifo, so it is started again at once. */
#include <math.h>

#include "tests/support/test.h"

#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"

#define MTBF_S 10000.0

struct point {
    double w, u0; /* seconds; dt is Young's: sqrt(2 w MTBF) */
};

static double dt_of(const struct point *at)
{
    return sqrt(2 * at->w * MTBF_S);
}

static double first_order(const struct point *at)
{
    const double dt = dt_of(at);
    return 1 + at->w / dt + (dt / 2 + at->u0) / MTBF_S;
}

static double closed_form(const struct point *at)
{
    const double dt = dt_of(at);
    return (exp((dt + at->w) / MTBF_S) - 1) * exp(at->u0 / MTBF_S) * MTBF_S / dt;
}

static struct cluster *one_node(void)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse(
        "cluster", "{'pools': [{'name': 'h100', 'nodes': 1, 'gpus_per_node': 8, 'gpu_model': 'h100-80gb'}]}");
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return cluster;
}

/* Seconds that a second of work takes. */
static double play(const struct cluster *cluster, const struct point *at, double faults)
{
    struct checkpoint_row row = {.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                 .rule = INTERVAL_FIXED,
                                 .interval = time_from_seconds(dt_of(at)),
                                 .write = time_from_seconds(at->w),
                                 .warmup = time_from_seconds(at->u0)};
    struct run_setup setup = run_setup_default(cluster);
    setup.is_unchecked = true;
    setup.seed = 1;
    setup.world.checkpoints = (struct checkpoint_table){.cost = CHECKPOINTS_CHARGED, .rows = &row, .count = 1};
    setup.world.faults.per_job_h[FAULT_FATAL] = 3600 / MTBF_S;
    setup.world.sample_interval = TIME_NS_MAX / 2;
    const struct run_job job = run_job_make(0, time_from_seconds(faults * MTBF_S), 1, 8);
    struct run_log *log = run_jobs(&setup, &job, 1);
    assert_int_equal(log->jobs[0].state, END_COMPLETED);
    assert_true(fabs(log->faults[0].own / faults - 1) < 5 / sqrt(faults));
    const double taken = (double)(log->jobs[0].end - log->jobs[0].start) / (double)log->jobs[0].work;
    run_log_free(log);
    return taken;
}

TEST(faults_of_work_are_of_first_order)
{
    static const double writes[] = {0.001, 0.01, 0.1}; /* of the mean time between faults */
    const double faults = test_is_full() ? 100000 : 4000;
    struct cluster *cluster = one_node();
    print_message("| w / M | u0 / M | run | first order | closed form | the closed form is longer by |\n");
    print_message("|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        for (int restarts = 0; restarts < 2; restarts++) {
            const struct point at = {writes[i] * MTBF_S, restarts * writes[i] * MTBF_S};
            const double taken = play(cluster, &at, faults), should = first_order(&at), other = closed_form(&at);
            print_message("| %g | %g | %.3f | %.3f | %.3f | %.1f %% |\n", writes[i], restarts * writes[i], taken,
                          should, other, 100 * (other / should - 1));
            /* what is lost is a sum over the faults, each with a second moment of at most twice its square */
            if (fabs(taken / should - 1) > 4 * (should - 1) / should * sqrt(2 / faults))
                fail_msg("w %g, u0 %g: a second of work takes %.4f s, not %.4f", at.w, at.u0, taken, should);
            assert_true(other > should); /* the exponential is above its first terms */
        }
    cluster_free(cluster);
}
