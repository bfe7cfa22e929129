/* tests/support/scripted_sched.h -- a scheduler that makes the decisions of a script, for tests of the engine alone.
 *
 * The functions of policies/sched.h are defined here, so that the linker leaves the real ones out.  A test program
 * includes this once, and the decisions of its script are made at their times.  Facts are kept in script.told.  The
 * world is one node of 8 GPUs; a member has one of them.
 *
 *   struct run_setup setup = scripted_setup(cluster);
 *   script_start(0, 0, 0, 2);              at 0 s job 0 on GPUs 0 and 1
 *   script_shrink(S(10), 0, 1, 1);         at 10 s it gives up GPU 1
 *   run_jobs(&setup, &job, 1);
 */
#ifndef TESTS_SUPPORT_SCRIPTED_SCHED_H
#define TESTS_SUPPORT_SCRIPTED_SCHED_H
#include "tests/support/test.h"

#include "policies/census/census.h"
#include "policies/explain.h"
#include "policies/sched.h"
#include "tests/support/run.h"

#define S(seconds)      ((seconds)*TIME_NS_PER_S)
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

struct told {  /* a fact */
    char kind; /* 's'tarted, 'e'victed and saved, 'l'ost, 'x' ended */
    job_id job;
    decision_id decision;
    time_ns at;
};

static struct script {
    struct line {
        time_ns at;
        struct decision decision;
    } lines[32];
    struct piece pieces[32];
    uint32_t count, next;
    struct told told[64];
    uint32_t told_count;
} script;

static struct sched *const some_sched = (struct sched *)&script;

static void tell(char kind, job_id job, decision_id decision, time_ns at)
{
    assert_true(script.told_count < COUNT_OF(script.told));
    script.told[script.told_count++] = (struct told){kind, job, decision, at};
}

bool sched_explain(struct sched *sched, job_id job, struct explanation *out)
{
    (void)sched, (void)job, (void)out;
    return false;
}

struct sched *sched_new(const struct cluster *cluster, const struct queue_table *queues,
                        const struct policy_config *policy, struct error *error)
{
    (void)cluster, (void)queues, (void)policy;
    *error = ERROR_OK;
    return some_sched;
}

void sched_job_started(struct sched *sched, job_id job, decision_id decision, time_ns now)
{
    (void)sched;
    tell('s', job, decision, now);
}

void sched_job_evicted(struct sched *sched, job_id job, struct members which, enum evict_end end, time_ns now)
{
    (void)sched;
    assert_int_equal(which.node, NODE_NONE);
    tell(end == EVICT_SAVED ? 'e' : 'l', job, which.decision, now);
}

void sched_job_ended(struct sched *sched, job_id job, enum job_end end, bool will_retry, time_ns now)
{
    (void)sched, (void)end, (void)will_retry;
    tell('x', job, 0, now);
}

size_t sched_cycle(struct sched *sched, time_ns now, const struct decision **out, time_ns *wake_at)
{
    static struct decision due[COUNT_OF(script.lines)];
    size_t count = 0;
    (void)sched;
    while (script.next < script.count && script.lines[script.next].at <= now) {
        assert_int_equal(script.lines[script.next].at, now);
        due[count++] = script.lines[script.next++].decision;
    }
    *out = due;
    *wake_at = script.next < script.count ? script.lines[script.next].at : TIME_NEVER;
    return count;
}

void sched_count(const struct sched *sched, struct sched_counts *counts)
{
    (void)sched; /* enough for the engine's check: the whole node is used */
    *counts = (struct sched_counts){.used_gpu_milli = 8 * GPU_MILLI};
}

int64_t sched_waiting_gpu_milli(const struct sched *sched)
{
    (void)sched;
    return 3 * GPU_MILLI;
}

void sched_free(struct sched *sched)
{
    (void)sched;
}
void sched_job_submitted(struct sched *sched, const struct job *job, time_ns now)
{
    (void)sched, (void)job, (void)now;
}
void sched_job_released(struct sched *sched, job_id job, time_ns now)
{
    (void)sched, (void)job, (void)now;
}
void sched_job_cancelled(struct sched *sched, job_id job, time_ns now)
{
    (void)sched, (void)job, (void)now;
}
void sched_job_adopted(struct sched *sched, const struct job *job, const struct piece *pieces, uint32_t piece_count,
                       time_ns started, time_ns now)
{
    (void)sched, (void)job, (void)pieces, (void)piece_count, (void)started, (void)now;
}
void sched_job_leaving(struct sched *sched, job_id job, struct members which, time_ns now)
{
    (void)sched, (void)job, (void)which, (void)now;
}
void sched_job_checkpointed(struct sched *sched, job_id job, time_ns now)
{
    (void)sched, (void)job, (void)now;
}
void sched_job_observed(struct sched *sched, job_id job, const struct observation *observation, time_ns now)
{
    (void)sched, (void)job, (void)observation, (void)now;
}
void sched_job_history_told(struct sched *sched, job_id job, const struct job_history *history, time_ns now)
{
    (void)sched, (void)job, (void)history, (void)now;
}
void sched_user_usage_told(struct sched *sched, queue_id queue, uint32_t user, int64_t usage_milli, time_ns now)
{
    (void)sched, (void)queue, (void)user, (void)usage_milli, (void)now;
}
void sched_decision_refused(struct sched *sched, decision_id decision, enum refusal why, time_ns now)
{
    (void)sched, (void)decision, (void)why, (void)now;
}
void sched_node_changed(struct sched *sched, node_id node, enum node_state state, time_ns now)
{
    (void)sched, (void)node, (void)state, (void)now;
}
void sched_gpu_changed(struct sched *sched, node_id node, uint32_t gpu_index, mig_layout_id layout, time_ns now)
{
    (void)sched, (void)node, (void)gpu_index, (void)layout, (void)now;
}
void sched_queues_changed(struct sched *sched, const struct queue_table *queues, time_ns now)
{
    (void)sched, (void)queues, (void)now;
}
void sched_queues_added(struct sched *sched, const struct queue_table *queues, queue_id first, time_ns now)
{
    (void)sched, (void)queues, (void)first, (void)now;
}
void sched_typical_told(struct sched *sched, const struct job_group *kinds, uint32_t kind_count, time_ns now)
{
    (void)sched, (void)kinds, (void)kind_count, (void)now;
}
void sched_census(const struct sched *sched, struct census_memo *memo, const struct typical_jobs *typical,
                  struct census *census)
{
    (void)sched, (void)memo, (void)typical;
    *census = (struct census){0};
}
enum reason sched_why(const struct sched *sched, job_id job)
{
    (void)sched, (void)job;
    return REASON_RESOURCES;
}
bool sched_waited(const struct sched *sched, job_id job, time_ns now, struct wait_times *times)
{
    (void)sched, (void)job, (void)now;
    *times = (struct wait_times){0};
    return false;
}
void sched_stop_at(struct sched *sched, const volatile int *stop)
{
    (void)sched, (void)stop;
}
void sched_trust_jobs(struct sched *sched, bool is_on)
{
    (void)sched, (void)is_on;
}
const struct refused_facts *sched_refused(const struct sched *sched)
{
    static const struct refused_facts none;
    (void)sched;
    return &none;
}
const char *wrong_fact_text(enum wrong_fact wrong)
{
    (void)wrong;
    return "";
}
void sched_count_waits(struct sched *sched, bool is_on)
{
    (void)sched, (void)is_on;
}
const char *sched_check(const struct sched *sched)
{
    (void)sched;
    return NULL;
}
uint64_t sched_hash(const struct sched *sched)
{
    (void)sched;
    return 0;
}

/* ---- Lines of the script ---- */

enum { GRACE_S = 60 };

/* `count` members of one GPU each on node 0, from GPU `first` on. */
static inline struct decision *script_say(time_ns at, enum decision_kind kind, job_id job, uint32_t first,
                                          uint32_t count)
{
    uint32_t i = script.count++;
    assert_true(i < COUNT_OF(script.lines));
    script.pieces[i] = (struct piece){
        .gpu_mask = (uint16_t)(((1u << count) - 1) << first), .gpu_milli = GPU_MILLI, .member_count = (uint16_t)count};
    script.lines[i].at = at;
    script.lines[i].decision = (struct decision){
        .id = i + 1, .kind = kind, .job = job, .for_job = JOB_NONE, .pieces = &script.pieces[i], .piece_count = 1};
    return &script.lines[i].decision;
}

static inline void script_start(time_ns at, job_id job, uint32_t first, uint32_t count)
{
    script_say(at, DECISION_START, job, first, count)->is_partial = first > 0;
}

static inline struct decision *script_evict(time_ns at, job_id job, uint32_t first, uint32_t count)
{
    struct decision *decision = script_say(at, DECISION_EVICT, job, first, count);
    decision->grace = S(GRACE_S);
    decision->reason = REASON_RECLAIMED;
    return decision;
}

static inline void script_shrink(time_ns at, job_id job, uint32_t first, uint32_t count)
{
    script_evict(at, job, first, count)->is_partial = true;
}

static inline struct run_setup scripted_setup(const struct cluster *cluster)
{
    script = (struct script){0};
    struct run_setup setup = run_setup_default(cluster);
    setup.policy.guarantees = 0; /* the script may start gangs in parts */
    return setup;
}

/* One elastic job of 4 members, at least 2; its work takes 1000 s on all four. */
static inline struct run_job elastic(struct checkpoint_plan plan)
{
    struct run_job made = run_job_make(0, S(1000), 4, 1);
    made.job.first.min_count = 2;
    made.job.checkpoint = plan;
    return made;
}

static const struct checkpoint_plan no_plan = {0};

static inline void check_attempt(const struct run_log *log, uint32_t attempt, time_ns from, time_ns to,
                                 enum attempt_end why, int64_t gpus, time_ns saved, time_ns lost)
{
    const struct attempt_row *row = run_attempt(log, 0, attempt);
    assert_int_equal(row->start, from);
    assert_int_equal(row->end, to);
    assert_int_equal(row->why, why);
    assert_int_equal(row->gpu_milli, gpus * GPU_MILLI);
    assert_int_equal(row->saved, saved);
    assert_int_equal(row->lost, lost);
}

static inline void check_told(uint32_t index, char kind, decision_id decision, time_ns at)
{
    assert_true(index < script.told_count);
    assert_int_equal(script.told[index].kind, kind);
    assert_int_equal(script.told[index].decision, decision);
    assert_int_equal(script.told[index].at, at);
}

#endif
