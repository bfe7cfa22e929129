/* sim/engine/engine.h -- the simulated world: jobs arrive, the scheduler decides, time passes, rows are written.
 *
 * Within one instant the order is: ends, evictions, effects of decisions, submissions; then one cycle, if there was a
 * fact or the scheduler requested a cycle.  With scheduler_period 0 a cycle follows at each such instant; above 0
 * cycles are on that grid and idle ticks are skipped.
 *
 * The cost of an eviction: a job that can save within its grace stops working, writes its checkpoint and leaves; it
 * resumes where it stopped, after its restart time.  If it would end before the checkpoint is written, it works on.  If
 * the grace is too short it works until the grace ends and falls back to its last periodic checkpoint.  Without any
 * checkpoint it leaves at once and starts from nothing.  Grace 0 is a kill: the job leaves at once and falls back to
 * its last periodic checkpoint.  Periodic checkpoints are part of the recorded run time; there is one after each
 * interval of reference work.  Where world.checkpoints charges them, all of this takes time: sim/engine/engine_saves.c.
 *
 * Members.  A job runs, and counts as running, while every set of its members has its minimum.  With fewer it holds
 * its GPUs, idles and waits (timeline: reserved and partial, not allocated).  With n of its N members it
 * progresses at n/N of its speed (sim/job/progress.h).  Members that join cost nothing and work at once.  Members that
 * leave cost the checkpoint that all write within the grace (no restart, nothing lost).  If the job cannot save within
 * the grace, they leave at its end, or at once without any checkpoint, and the others continue.  If too few members
 * are left to run, that is an eviction: unsaved work is lost and the next start takes the restart time.
 *
 * Nodes come and go as world.capacity says (sim/engine/engine_capacity.c).
 * In a closed loop of users jobs are held back until others have ended: sim/engine/engine_loop.h.
 *
 * A job that depends on others is eligible when the last of them has ended.  The scheduler decides which jobs start.
 *
 * Law: the same cluster, source, policy, world and seed give the same rows and the same fingerprint.
 * Law: observing changes nothing.  Checks, more or fewer samples, a listener and questions to the scheduler change no
 * decision, no row and no integral at equal times.  Test: tests/property/test_observing.c.  It once caught that
 * reserved space was counted again at instants at which only a listener was told something.
 *
 * A run is made at once, by engine_run, or in steps.  A fork is a run in steps: replayed up to a moment T, it goes on
 * from there.  The moment T is the state before anything of the time T happens.
 *
 *   TRY(engine_open(&engine, &config, &result));      config.sinks: of the part before T
 *   error = engine_replay(engine, T);
 *   error = engine_adopt(engine, &other, source);     optional: another policy takes over
 *   engine_show(engine, &sink, 1);                    rows begin here
 *   error = engine_finish(&engine);                   (or engine_drop(&engine), after an error before it)
 *
 * Laws of forks.  Test: tests/property/test_fork.c.
 *  - Same policy: a fork has the fingerprint of the run that was never forked.  It writes the same rows as that run,
 *    for each job and attempt that ends from T on, and for each sample after T.
 *  - Another policy starts with an empty scheduler.  STARTs on their way take effect at T.  Facts tell it the MIG
 *    layout of each GPU, the GPUs that each running job holds, which jobs are leaving, and when each waiting job was
 *    submitted.  It does not know what the old policy planned (claims, planned starts) or counted (past usage).
 *  - Integrals and counts of the timeline continue from before T.  A row of a job covers the whole life of the job.
 *  - Between two steps no thread is alive and no output is buffered here: the process may fork(2) itself, and each
 *    child may go on (studies/run/fork.h).
 *
 * It does not: read files or clocks, print, or know what metrics are.
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include <signal.h>

#include "base/error.h"
#include "policies/policy_config.h"
#include "sim/caches/pull_table.h"
#include "sim/capacity/capacity_table.h"
#include "sim/checkpoints/checkpoint_table.h"
#include "sim/engine/cycle_watch.h"
#include "sim/engine/estimates.h"
#include "sim/engine/port.h"
#include "sim/engine/recut_costs.h"
#include "sim/job/fault.h"
#include "sim/monitor/monitor.h"
#include "sim/record/record.h"
#include "workloads/readers/source.h"

enum world_sharing { SHARING_MEASURED, SHARING_FREE };
enum world_network { NETWORK_SHARED, NETWORK_ALONE, NETWORK_FREE };

struct world_config {
    time_ns scheduler_period; /* 0: a cycle at every instant with a fact */
    time_ns decision_latency; /* from a START decision to its effect */
    bool kills_at_limit;
    /* jobs that may wait; jobs beyond it are rejected after the cycle that did not start them; -1: no limit */
    int64_t queue_limit;
    time_ns end;             /* TIME_NEVER: when every job has ended */
    time_ns warmup;          /* metrics count from here */
    time_ns sample_interval; /* of the timeline */
    bool has_wait_times;     /* rows tell what jobs waited for, and how long */
    struct estimates estimates;
    /* enum world_sharing: how much sharing a GPU slows a member down.  measured: by its kind; pairs: as measured for
     * pairs, whatever its kind; free: not at all */
    uint8_t sharing;
    /* enum world_network.  shared: jobs that declare communication run at the speed of their place, and share links;
     * alone: as if each were alone; free: declarations are dropped */
    uint8_t network;
    struct checkpoint_table checkpoints; /* what they cost; its rows are borrowed */
    struct pull_table cold_starts;       /* what jobs pull before they work; likewise */
    struct fault_rates faults;           /* of jobs, which may take their neighbours; all 0: none */
    struct monitor_config monitor;       /* measures jobs for the scheduler; period 0: there is none */
    struct recut_costs recut;            /* how long a repartition of a GPU takes */
    uint64_t stall_steps;                /* steps without progress (sim/engine/stall.h) that end the run; 0: no limit */
    struct capacity_table capacity;      /* the nodes in service over time; steps borrowed; {0}: all of them */
    struct activity_table activity;      /* the SM activity of jobs over their lives; rows borrowed; {0}: constant */
};

struct world_config world_config_default(void);

struct engine_progress {
    time_ns now, end;                         /* end: TIME_NEVER if not known */
    uint64_t submitted, finished, total_jobs; /* total: 0 if not known */
    uint64_t events;
};

struct sched;

/* What decides: a policy of the library, and what its scheduler is told before any job.  All is borrowed. */
struct engine_policy {
    const struct policy_config *policy;
    const struct job_group *typical; /* the typical members (sched_typical_told); NULL: none */
    uint32_t typical_count;
};

struct engine_config {
    const struct cluster *cluster;
    struct job_source *source;
    const struct policy_config *policy;
    struct world_config world;
    uint64_t seed;
    /* the typical members, which the scheduler gets before any job (sched_typical_told); NULL: none */
    const struct job_group *typical;
    uint32_t typical_count;
    const struct port_outside *decider;  /* decides in place of the library; NULL: the library */
    const struct port_outside *listener; /* gets every fact, cycle and decision; NULL: none */
    const struct cycle_watch *watch;     /* NULL: no plug-in runs */
    const struct record_sink *sinks;
    size_t sink_count;
    bool shows_later;                  /* engine_show is going to be called, with sinks that take samples */
    bool is_checked;                   /* verify the invariants at every instant; O(cluster) each */
    const volatile sig_atomic_t *stop; /* not NULL and not 0: end the run now; its record is partial */
    void (*on_progress)(void *self, const struct engine_progress *progress); /* every 65,536 events; may be NULL */
    void *progress_self;
    /* After all rows of the run; sched: the scheduler at `now`, to be queried; may be NULL. */
    void (*on_end)(void *self, struct sched *sched, time_ns now);
    void *end_self;
};

struct engine_result {
    struct run_facts facts;
    uint64_t fingerprint; /* of every event and decision, and of one final random draw */
    uint64_t never_fits;  /* jobs rejected because no state of the cluster could hold them */
    uint64_t refused;     /* jobs rejected by another program, except for their dependencies */
    uint64_t queue_full;  /* jobs rejected by world.queue_limit */
    uint64_t submitted, finished;
    uint64_t limits, estimates; /* jobs of which the scheduler was told one */
    uint64_t evicted;           /* jobs that lost all members, or too many to run on */
    uint64_t plans;             /* to make room, booked by the scheduler */
    /* not ERROR_OK: the run made no progress and was ended, as partial; the caller shows or releases it */
    struct error stall;
};

/* Run to the end.  Errors: of the source, of a sink, of the decider or the listener, or ERROR_INTERNAL when a law is
 * broken. */
struct error engine_run(const struct engine_config *config, struct engine_result *result) MUST_CHECK;

/* ---- The same in steps ---- */

struct engine; /* opaque */

/* Begin at time 0.  config and result are borrowed until the engine is gone.  On error nothing needs to be released. */
struct error engine_open(struct engine **out, const struct engine_config *config,
                         struct engine_result *result) MUST_CHECK;

/* Run up to the moment `at`, or until the run is told to stop.  ERROR_DATA: the run is over before. */
struct error engine_replay(struct engine *engine, time_ns at) MUST_CHECK;

/* Let the library decide from now on, under `policy`, which must give jobs the pieces of GPUs that the policy before
 * gave them; borrowed.  source: the same jobs, none of them taken; borrowed for the call.  ERROR_CONFIG: the policy
 * cannot take over what there is.  O(jobs submitted so far). */
struct error engine_adopt(struct engine *engine, const struct engine_policy *policy,
                          struct job_source *source) MUST_CHECK;

/* Rows begin now, and go to these sinks; borrowed.  Plans and promises are counted from now on. */
void engine_show(struct engine *engine, const struct record_sink *sinks, size_t sink_count);

/* Run to the end.  Errors as of engine_run.  Frees and clears *engine, on error too. */
struct error engine_finish(struct engine **engine) MUST_CHECK;
void engine_drop(struct engine **engine); /* NULL is allowed */

#endif
