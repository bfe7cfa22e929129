/* studies/run/fork.h -- a recorded run, replayed up to a moment, from which it goes on (sim/engine/engine.h).
 *
 * The scheduler is deterministic, so a moment needs no file: the scenario of the record is run again under the policy
 * of the record, or with the decisions that another program made in it (events.jsonl.zst).
 *
 *   TRY(fork_open(&fork, "out/main", at, &options));
 *   TRY(fork_scenario(&fork, &scenario, &options));        the same with another policy, if options name one
 *   TRY(fork_replay(&fork, &how));
 *   TRY(fork_go_on(&fork, &scenario, sinks, count));       to the end; fork.result
 *   fork_release(&fork);
 *
 * Where many continuations of one moment are wanted, the process replays once, and forks itself (base/worker_pool.h):
 * each child is an exact copy, and goes on under a scenario and into sinks of its own.  A comparison does so
 * (studies/comparison/comparison.h).
 *
 * Laws
 *  - A fork has the scenario of its record, but for the policy and for what no job and no decision depends on (names,
 *    service levels, gates).
 *  - The replay is the recorded run: the jobs that ended in it are those of the record, with the same times, or there
 *    is an error.
 *  - A continuation in a child is the one that this process would have made.  No thread is alive, traces are read at
 *    places of their own (base/input.h), and there are no outputs yet.  Test: tests/cli/fork.sh.
 *  - A record that is a fork itself is replayed through the policies of the runs before it, which its manifest holds.
 */
#ifndef STUDIES_RUN_FORK_H
#define STUDIES_RUN_FORK_H

#include "base/buffer.h"
#include "reports/result.h"
#include "sim/live/process.h"
#include "sim/scenario/scenario.h"

/* A part of the recorded run, which one policy decided. */
struct fork_part {
    time_ns until;            /* TIME_NEVER: the last one, which the record holds */
    struct scenario scenario; /* of the whole run, with that policy */
    char *plugins;            /* of the scenario, as JSON; NULL: it names none */
};

struct fork_rows { /* jobs that ended, as a hash of their rows */
    time_ns from, until;
    uint64_t count, hash;
};

struct fork {
    const char *folder; /* borrowed */
    time_ns at;
    struct result record;
    char digest[33];         /* of its result.json */
    struct fork_part *parts; /* owned, in order */
    uint32_t part_count;
    struct buffer decisions; /* of another program; empty: the library decided */
    struct process *process; /* that makes them again; NULL: likewise */
    struct fork_rows replayed;
    struct record_sink replay_sink;
    struct job_source *source;
    struct engine_config config;
    struct engine *engine; /* at the moment; NULL: not replayed, or gone on */
    struct engine_result result;
};

struct fork_how { /* as in struct engine_config; all may be NULL, 0 or false */
    bool is_checked;
    time_ns until; /* the last instant of the run that goes on; 0: as the scenario says */
    void (*on_end)(void *self, struct sched *sched, time_ns now);
    void *end_self;
    const volatile sig_atomic_t *stop;
    void (*on_progress)(void *self, const struct engine_progress *progress);
    void *progress_self;
};

/* Read the record and the scenarios of its parts; of the options only plug-ins and what is trusted count.  On error
 * nothing needs to be released. */
struct error fork_open(struct fork *fork, const char *folder, time_ns at,
                       const struct scenario_options *options) MUST_CHECK;

/* Load the record's scenario with these options over it.  ERROR_CONFIG: it differs from the record's in more than the
 * policy, or gives jobs other pieces of GPUs; the error names what differs.  On error too the caller releases the
 * scenario. */
struct error fork_scenario(const struct fork *fork, struct scenario *scenario,
                           const struct scenario_options *options) MUST_CHECK;

/* The scenario of the record, with the policy that decided last in it. */
const struct scenario *fork_last(const struct fork *fork);

/* Run up to the moment, or until it is told to stop.  ERROR_DATA: the run is not that of the record. */
struct error fork_replay(struct fork *fork, const struct fork_how *how) MUST_CHECK;

/* Run to the end, once.  The policy of the scenario takes over, if it is another one; rows from the moment on go to the
 * sinks. */
struct error fork_go_on(struct fork *fork, const struct scenario *scenario, const struct record_sink *sinks,
                        size_t sink_count) MUST_CHECK;

/* What the record of such a run says about the fork.  before: room for part_count, which the answer borrows. */
struct result_fork fork_told(const struct fork *fork, const struct scenario *scenario, struct result_before *before);

void fork_release(struct fork *fork); /* {0} is allowed */

#endif
