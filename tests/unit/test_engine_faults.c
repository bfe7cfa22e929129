/* Whom faults take, and what that costs, by hand. */
#include <math.h>

#include "tests/support/test.h"

#include "base/json.h"
#include "policies/policy_config.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"

#define S(seconds) ((time_ns)(seconds)*TIME_NS_PER_S)
#define HOUR       S(3600)

enum { JOBS_MAX = 3 };
static const time_ns duration = 50 * HOUR;

struct stage { /* one H100, or two, under a policy; only jobs of which `strikes` is set have a fault, and one */
    struct cluster *cluster;
    struct run_setup setup;
    struct run_job jobs[JOBS_MAX];
    uint32_t count;
};

static struct json_doc *read_text(const char *text)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "text", text);
    assert_false(error_is(error));
    return doc;
}

static void open_stage(struct stage *stage, const char *cluster, const char *policy)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = read_text(cluster);
    struct json_value root = json_doc_root(doc, &error);
    stage->cluster = cluster_read(&root);
    assert_non_null(stage->cluster);
    json_doc_free(doc);
    stage->setup = run_setup_default(stage->cluster);
    stage->setup.world.sharing = SHARING_FREE;
    doc = read_text(policy);
    root = json_doc_root(doc, &error);
    policy_config_read(&stage->setup.policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    stage->count = 0;
}

static void add(struct stage *stage, uint8_t class, uint32_t members, uint16_t milli)
{
    struct run_job *job = &stage->jobs[stage->count++];
    *job = run_job_make(0, duration, members, milli == GPU_MILLI);
    job->job.class = class;
    job->truth.sm_active_milli = 100;
    if (milli < GPU_MILLI)
        job->job.first.request.gpu_milli = milli;
}

/* Faults of that cause, and a seed with which job 0 has exactly one and the others none.  Returns its point. */
static time_ns one_fault(struct stage *stage, enum fault_cause cause)
{
    struct fault_rates *rates = &stage->setup.world.faults;
    *rates = (struct fault_rates){{0}};
    rates->per_job_h[cause] = 0.02;
    for (uint64_t seed = 1; seed < 1000; seed++) {
        struct fault first = {0}, second;
        bool is_good = true;
        fault_next(rates, seed, 0, &first);
        second = first;
        fault_next(rates, seed, 0, &second);
        for (job_id other = 1; other < stage->count; other++) {
            struct fault fault = {0};
            fault_next(rates, seed, other, &fault);
            is_good &= fault.at >= duration;
        }
        stage->setup.seed = seed;
        if (is_good && first.at < duration && second.at >= duration)
            return first.at;
    }
    fail_msg("no such seed");
    return 0;
}

#define H100 "{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}"
#define CUT                                                                                                            \
    "{'pools': [{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', 'gpus_layout': [['3g.40gb', '3g.40gb']]}]}"

/* By kind of piece and by cause: does a fault of one job take the other on its GPU?  As sim/job/fault.h and the
 * documents that it names have it. */
TEST(blast_radius_by_kind)
{
    static const struct {
        const char *kind, *cluster, *policy;
        uint8_t class;
        uint16_t milli;
        bool takes[FAULT_CAUSE_COUNT]; /* out of memory, runaway, fatal */
    } rows[] = {
        {"MIG", CUT, "{'sharing': 'mig'}", JOB_INFERENCE, 400, {false, false, false}},
        {"MPS", H100, "{'sharing': 'mps'}", JOB_TRAINING, 400, {true, true, true}},
        {"time-slices", H100, "{'sharing': 'timeslice'}", JOB_INTERACTIVE, 250, {true, false, false}},
        {"plain shares", H100, "{'sharing': 'as_asked'}", JOB_TRAINING, 400, {true, false, false}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int cause = 0; cause < FAULT_CAUSE_COUNT; cause++) {
            struct stage stage;
            open_stage(&stage, rows[r].cluster, rows[r].policy);
            add(&stage, rows[r].class, 1, rows[r].milli);
            add(&stage, rows[r].class, 1, rows[r].milli);
            const time_ns at = one_fault(&stage, (enum fault_cause)cause);
            struct run_log *log = run_jobs(&stage.setup, stage.jobs, stage.count);
            const struct attempt_row *own = run_attempt(log, 0, 0), *other = run_attempt(log, 1, 0);
            if (own->end != at || own->reason != REASON_FAULT || log->faults[0].own != 1)
                fail_msg("%s, cause %d: the job's own fault", rows[r].kind, cause);
            const bool is_taken = other->why == ATTEMPT_EVICTED;
            if (is_taken != rows[r].takes[cause])
                fail_msg("%s, cause %d: its neighbour is %staken", rows[r].kind, cause, is_taken ? "" : "not ");
            assert_int_equal(log->faults[1].killed[cause], is_taken);
            assert_int_equal(log->faults[0].blast_gpu_milli, is_taken ? rows[r].milli : 0);
            assert_int_equal(log->faults[1].lost_gpu_ns, is_taken ? at / 1000 * rows[r].milli : 0);
            assert_true(!is_taken || (other->end == at && other->reason == REASON_NEIGHBOUR_FAULT));
            assert_int_equal(log->jobs[0].end, at + duration); /* nothing was saved */
            assert_int_equal(log->jobs[1].end, is_taken ? at + duration : duration);
            assert_int_equal(log->jobs[0].preempted_gpu_ns, 0);
            run_log_free(log);
            cluster_free(stage.cluster);
        }
}

/* What is taken falls back to its last checkpoint, and restarts: that is what the neighbour cost. */
TEST(checkpoints_bound_the_loss)
{
    struct stage stage;
    open_stage(&stage, H100, "{'sharing': 'mps'}");
    add(&stage, JOB_TRAINING, 1, 500);
    add(&stage, JOB_TRAINING, 1, 500);
    stage.jobs[1].job.checkpoint = (struct checkpoint_plan){.interval = HOUR, .duration = S(60), .restart = S(600)};
    const time_ns at = one_fault(&stage, FAULT_FATAL);
    struct run_log *log = run_jobs(&stage.setup, stage.jobs, stage.count);
    const time_ns lost = at % HOUR + S(600);
    assert_int_equal(log->jobs[1].end, duration + lost);
    assert_int_equal(log->faults[1].lost_gpu_ns, lost / 2);
    assert_int_equal(log->jobs[1].lost_gpu_ns, lost / 2);
    assert_int_equal(log->jobs[1].evictions, 1);
    assert_int_equal(log->faults[0].lost_gpu_ns, 0); /* its own fault is no neighbour's */
    assert_int_equal(log->jobs[0].lost_gpu_ns, at / 2);
    run_log_free(log);
    cluster_free(stage.cluster);
}

/* A fault kills each gang that shares the faulty job's GPU, with all of its members.  Jobs that share another GPU with
 * such a gang run on. */
TEST(a_gang_goes_as_a_whole)
{
    struct stage stage;
    open_stage(&stage, "{'pools': [{'nodes': 2, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb'}]}", "{'sharing': 'mps'}");
    add(&stage, JOB_TRAINING, 1, 600);
    add(&stage, JOB_TRAINING, 2, 400);
    add(&stage, JOB_TRAINING, 1, 600);
    const time_ns at = one_fault(&stage, FAULT_RUNAWAY);
    struct run_log *log = run_jobs(&stage.setup, stage.jobs, stage.count);
    assert_int_equal(log->jobs[2].start, 0);
    assert_int_equal(run_attempt(log, 1, 0)->end, at);
    assert_int_equal(log->faults[1].killed[FAULT_RUNAWAY], 1);
    assert_int_equal(log->faults[0].blast_gpu_milli, 800);
    assert_int_equal(log->jobs[2].end, duration);
    run_log_free(log);
    cluster_free(stage.cluster);
}

/* Whole GPUs have no neighbours, and a fault that comes after the job's work is none. */
TEST(nobody_beside_it)
{
    struct stage stage;
    open_stage(&stage, "{'pools': [{'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb'}]}", "{'sharing': 'mps'}");
    add(&stage, JOB_TRAINING, 1, GPU_MILLI);
    add(&stage, JOB_TRAINING, 1, GPU_MILLI);
    const time_ns at = one_fault(&stage, FAULT_OUT_OF_MEMORY);
    struct run_log *log = run_jobs(&stage.setup, stage.jobs, stage.count);
    assert_int_equal(log->jobs[0].end, at + duration);
    assert_int_equal(log->jobs[1].end, duration);
    assert_int_equal(log->faults[0].blast_gpu_milli, 0);
    run_log_free(log);
    stage.jobs[0].truth.duration = at; /* the end comes first */
    log = run_jobs(&stage.setup, stage.jobs, stage.count);
    assert_int_equal(log->jobs[0].end, at);
    assert_int_equal(log->faults[0].own, 0);
    run_log_free(log);
    cluster_free(stage.cluster);
}

/* Half of the SMs is 1/1.2 of what it asks for: faults are at points of its work. */
TEST(faults_follow_the_work)
{
    struct stage stage;
    open_stage(&stage, H100, "{'sharing': 'mps'}");
    add(&stage, JOB_TRAINING, 1, 600);
    add(&stage, JOB_TRAINING, 1, 400);
    const time_ns at = one_fault(&stage, FAULT_FATAL);
    stage.setup.world.sharing = SHARING_MEASURED;
    stage.jobs[0].truth.sm_active_milli = stage.jobs[1].truth.sm_active_milli = 1000;
    struct run_log *log = run_jobs(&stage.setup, stage.jobs, stage.count);
    assert_true(fabs((double)run_attempt(log, 0, 0)->end / (double)at - 1.2) < 1e-5);
    assert_int_equal(run_attempt(log, 1, 0)->end, run_attempt(log, 0, 0)->end);
    run_log_free(log);
    cluster_free(stage.cluster);
}
