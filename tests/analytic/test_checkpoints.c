/* The time that a job with checkpoints takes under Poisson interruptions, against its closed form.
 *
 * A job works for dt, writes a checkpoint for w while it stands still, and so on.  Interruptions come at the rate l,
 * whatever it does, also while it restarts, which takes u0 after each of them; it is started again at once.  Then its
 * work over the time until it has ended is
 *
 *     dt l exp(-l u0) / (exp(l (dt + w)) - 1)          (Daly, FGCS 22, 2006)
 *
 * The job runs in the engine, under a program that decides in place of the scheduler: it starts the job, and evicts it
 * without a grace when an interruption comes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"
#include "workloads/readers/source.h"

enum { FACTORS = 7 };

#define MTBF_S  10000.0 /* 10^5 interruptions fit into simulated time */
#define NODE_GB 2.0

/* ---- The program that decides ---- */

struct injector {
    struct random_stream stream;
    time_ns next; /* interruption; TIME_NEVER: the job does not run */
    uint64_t decisions, interruptions;
    bool must_start;
    struct piece piece;
    struct decision decision;
};

static time_ns until_next(struct injector *injector)
{
    return time_from_seconds(-MTBF_S * log(1 - random_uniform(&injector->stream)));
}

static struct error on_fact(void *self, const struct fact *fact)
{
    struct injector *injector = self;
    injector->must_start |= fact->kind == FACT_JOB_SUBMITTED || fact->kind == FACT_JOB_EVICTED;
    if (fact->kind == FACT_JOB_SUBMITTED)
        injector->next = fact->now + until_next(injector);
    if (fact->kind == FACT_JOB_ENDED)
        injector->next = TIME_NEVER;
    return ERROR_OK;
}

static struct error on_decide(void *self, time_ns now, const struct decision **decisions, struct wire_done *done)
{
    struct injector *injector = self;
    const bool starts = injector->must_start, evicts = !starts && injector->next <= now;
    *decisions = &injector->decision;
    injector->decision = (struct decision){.id = ++injector->decisions,
                                           .kind = starts ? DECISION_START : DECISION_EVICT,
                                           .for_job = JOB_NONE,
                                           .reason = starts ? REASON_NONE : REASON_NODE_DOWN,
                                           .pieces = &injector->piece,
                                           .piece_count = 1};
    injector->must_start = false;
    if (evicts) {
        injector->interruptions++;
        injector->next = now + until_next(injector);
    }
    *done = (struct wire_done){.decision_count = starts || evicts, .wake_at = injector->next};
    return ERROR_OK;
}

static void on_count(const void *self, struct sched_counts *counts)
{
    (void)self, (void)counts;
}

static enum reason on_why(const void *self, job_id job)
{
    (void)self, (void)job;
    return REASON_NONE;
}

/* ---- A run ---- */

struct point {
    double dt, w, u0; /* seconds */
    bool is_stored;   /* writes go through the storage, and a part of the restart, as long as a write */
};

struct found {
    double efficiency;
    uint64_t interruptions;
};

static struct error keep_row(void *self, const struct job_row *row)
{
    *(struct job_row *)self = *row;
    return ERROR_OK;
}

static double closed_form(const struct point *at)
{
    const double l = 1 / MTBF_S;
    return at->dt * l * exp(-l * at->u0) / (exp(l * (at->dt + at->w)) - 1);
}

static struct error next_job(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    time_ns *duration = self;
    *has = *duration > 0;
    *job = job_default();
    job->first.request.gpus = 8;
    *truth = (struct job_truth){.duration = *duration, .sm_active_milli = SM_ACTIVE_UNKNOWN};
    *duration = 0;
    return ERROR_OK;
}

/* The plan of that point.  The interval is dt, or that of the rule. */
static struct checkpoint_row row_of(const struct point *at, enum checkpoint_interval rule)
{
    const double load = at->is_stored ? at->w : 0;
    return (struct checkpoint_row){.jobs = {.class = -1, .gpus_max = UINT32_MAX},
                                   .rule = (uint8_t)rule,
                                   .interval = time_from_seconds(at->dt),
                                   .write = time_from_seconds(at->w),
                                   .warmup = time_from_seconds(at->u0 - load),
                                   .bytes = at->is_stored ? (int64_t)(at->w * NODE_GB * 1e9) : 0,
                                   .interruptions_per_s = 1 / MTBF_S};
}

static struct found play(const struct cluster *cluster, const struct point *at, enum checkpoint_interval rule,
                         double interruptions)
{
    struct checkpoint_row row = row_of(at, rule);
    struct injector injector = {.piece = {.gpu_mask = 0xff, .gpu_milli = GPU_MILLI, .member_count = 1}};
    const struct port_outside decider = {
        .self = &injector, .on_fact = on_fact, .on_decide = on_decide, .on_count = on_count, .on_why = on_why};
    time_ns duration = time_from_seconds(closed_form(at) * MTBF_S * interruptions);
    struct job_row kept;
    const struct record_sink sink = {.self = &kept, .on_job = keep_row};
    struct run_setup setup = run_setup_default(cluster);
    setup.world.checkpoints = (struct checkpoint_table){
        .cost = CHECKPOINTS_CHARGED, .rows = &row, .count = 1, .node_bytes_per_s = (int64_t)(NODE_GB * 1e9)};
    setup.world.sample_interval = TIME_NS_MAX / 2;
    struct job_source *source = job_source_custom(next_job, &duration);
    const struct engine_config config = {.cluster = cluster,
                                         .source = source,
                                         .policy = &setup.policy,
                                         .world = setup.world,
                                         .seed = 1,
                                         .decider = &decider,
                                         .sinks = &sink,
                                         .sink_count = 1};
    struct engine_result result;
    random_stream_init(&injector.stream, 1, "interruptions", (uint64_t)(at->w * 1000));
    struct error error = engine_run(&config, &result);
    assert_string_equal(error_message(&error), "");
    assert_string_equal(error_message(&result.stall), "");
    assert_int_equal(kept.state, END_COMPLETED);
    assert_int_equal(kept.evictions, injector.interruptions);
    job_source_close(source);
    return (struct found){.efficiency = (double)kept.work / (double)(kept.end - kept.start),
                          .interruptions = injector.interruptions};
}

static struct cluster *one_node(void)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse(
        "cluster", "{'pools': [{'name': 'h100', 'nodes': 1, 'gpus_per_node': 8, 'gpu_model': 'h100-80gb', 'cpus': 64,"
                   " 'memory_gb': 512}]}");
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_string_equal(error_message(&error), "");
    json_doc_free(doc);
    return cluster;
}

/* ---- Tests ---- */

static double interruptions_of_a_point(void)
{
    return test_is_full() ? 100000 : 4000;
}

/* 1 %; in the small size as much as so few interruptions leave to chance: the lost time is a sum over them. */
static double tolerance(double efficiency)
{
    const double chance = 4 * (1 - efficiency) * sqrt(2 / interruptions_of_a_point());
    return test_is_full() ? 0.01 : fmax(0.01, chance);
}

/* At least the wanted number of interruptions, but for a chance of less than 10^-6. */
static struct found play_enough(const struct cluster *cluster, const struct point *at, enum checkpoint_interval rule)
{
    const double wanted = interruptions_of_a_point();
    const struct found found = play(cluster, at, rule, wanted * (1 + 5 / sqrt(wanted)));
    assert_true((double)found.interruptions >= wanted);
    return found;
}

static void check_point(const struct point *at, struct found found)
{
    const double should = closed_form(at);
    if (fabs(found.efficiency / should - 1) <= tolerance(should))
        return;
    fail_msg("dt %g s, w %g s, u0 %g s: work over time is %.5f, not %.5f, over %llu interruptions", at->dt, at->w,
             at->u0, found.efficiency, should, (unsigned long long)found.interruptions);
}

/* Overhead: time that is not work, over the work. */
static double overhead(double efficiency)
{
    return 1 / efficiency - 1;
}

static void check_row(const struct cluster *cluster, double w, double u0, bool is_stored)
{
    static const double factors[FACTORS] = {1 / 3.0, 0.5, 0.70711, 1, 1.41421, 2, 3};
    const double young = sqrt(2 * w * MTBF_S);
    double efficiency[FACTORS], best = 0;
    for (int f = 0; f < FACTORS; f++) {
        const struct point at = {.dt = factors[f] * young, .w = w, .u0 = u0, .is_stored = is_stored};
        const struct found found = play_enough(cluster, &at, INTERVAL_FIXED);
        check_point(&at, found);
        efficiency[f] = found.efficiency;
        best = fmax(best, found.efficiency);
    }
    for (enum checkpoint_interval rule = INTERVAL_YOUNG; rule <= INTERVAL_DALY; rule++) {
        const struct point at = {
            .dt = rule == INTERVAL_YOUNG ? young : young - w, .w = w, .u0 = u0, .is_stored = is_stored};
        const struct found found = play_enough(cluster, &at, rule);
        check_point(&at, found);
        if (found.efficiency < (1 - tolerance(best)) * best)
            fail_msg("w %g s, u0 %g s: %s's interval has %.5f, the best of the grid %.5f", w, u0,
                     rule == INTERVAL_YOUNG ? "Young" : "Daly", found.efficiency, best);
        const double least = fmin(overhead(efficiency[0]), overhead(efficiency[FACTORS - 1]));
        if (least < 1.3 * overhead(found.efficiency))
            fail_msg("w %g s, u0 %g s: the overhead %.5f is not 1.3 times smaller than %.5f", w, u0,
                     overhead(found.efficiency), least);
    }
}

static void work_over_time_is_the_closed_form(void **state)
{
    struct cluster *cluster = one_node();
    (void)state;
    for (double w = 1e-4 * MTBF_S; w < 0.2 * MTBF_S; w *= 10)
        for (int restarts = 0; restarts < 2; restarts++)
            check_row(cluster, w, restarts * w, false);
    cluster_free(cluster);
}

/* The same through the storage: a node writes and loads at 2 GB/s, and a quarter of the restart is the load. */
static void so_it_is_through_the_storage(void **state)
{
    struct cluster *cluster = one_node();
    (void)state;
    check_row(cluster, 1e-2 * MTBF_S, 4e-2 * MTBF_S, true);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_over_time_is_the_closed_form),
                                       cmocka_unit_test(so_it_is_through_the_storage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
