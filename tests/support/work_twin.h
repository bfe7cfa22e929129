/* tests/support/work_twin.h -- a naive twin of a run: the work of each job as speed integrated over time.
 *
 * It hears the facts and decisions of a run.  At each instant it computes the pace of every job anew from all that
 * stands on the cluster, and adds pace x working members x time, in whole units.  Law: each attempt's row has the
 * twin's work and what of it survives, to the nanosecond; a job ends in the very nanosecond in which the twin has all
 * of its work, or at its limit; GPU time that is slowed, exposed, on the network or overhead is that of the twin's
 * paces, but for rounding.  A row that breaks it fails the test.
 *
 * Where checkpoints are charged, the twin steps from one write, load and transfer to the next, and gives each transfer
 * its share of the storage at every step.
 *
 *   const struct port_outside listener = work_twin_listener(&twin);
 *   const struct record_sink sink = work_twin_sink(&twin);
 *
 * It knows whole GPUs and shares, under MPS and in turns; no MIG instances, no sets, no nodes that fail.
 */
#ifndef TESTS_SUPPORT_WORK_TWIN_H
#define TESTS_SUPPORT_WORK_TWIN_H

#include "tests/support/random_run.h"
#include "topologies/communication.h"

enum { TWIN_PLANS = 4, TWIN_PIECES_MAX = 512, TWIN_ONE = 1 << 20 }; /* TWIN_ONE: units of a member-ns at full speed */

__extension__ typedef __int128 twin_units;

struct twin_pending { /* a decision that takes effect later */
    decision_id id;
    struct piece *pieces;
    uint32_t piece_count;
    bool is_eviction; /* a partial one */
};

enum twin_phase { TWIN_WORKS, TWIN_LOADS, TWIN_WRITES, TWIN_SAVES_TO_LEAVE };

/* How a job saves its work, where that is charged. */
struct twin_saves {
    struct saving plan;
    enum twin_phase phase;
    bool is_writing;       /* asynchronously */
    twin_units next, held; /* units: where the next write begins; what the asynchronous write under way holds */
    time_ns done;          /* when the write is whole, unless it goes through the storage */
    uint32_t nodes;        /* of a transfer under way; 0: none */
    twin_units left;       /* that each of these nodes has to move, in byte-ns per s */
};

struct twin_job {
    const struct random_job *planned;
    struct communication communication;
    struct piece pieces[TWIN_PIECES_MAX];
    uint32_t piece_count;
    struct twin_pending pending[32];
    uint32_t pending_count;
    uint32_t members, member_gpus; /* member_gpus 0: it does not communicate */
    int64_t one, pace;             /* units of a member-ns; units that a member does now */
    bool is_client, is_running, is_leaving, is_frozen, was_started;
    time_ns restart_left, thaws_at, run_since;
    twin_units work, saved, work_at_row;               /* units */
    time_ns saved_sum;                                 /* of its rows */
    double slowed_us, exposed_us, network_us, idle_us; /* GPU time; idle: restarts, and checkpoints for evictions */
    struct twin_saves saves;
    double speed, exposed_ratio; /* of communication, now */
    uint32_t domain_count, intervals;
    struct fault fault; /* its next one; what follows: tests/support/fault_twin.h */
    bool is_to_fall;    /* by a neighbour's fault of this instant, of the cause `falls_by` */
    uint8_t falls_by;
    uint32_t own_faults, killed[FAULT_CAUSE_COUNT];
    int64_t blast_milli;
};

struct twin {
    struct random_run run;
    struct twin_job *jobs;
    struct network *network;
    time_ns now;
    struct checkpoint_row plans[TWIN_PLANS]; /* for the caller */
    bool is_charged;                         /* checkpoints are */
    uint64_t writes, loads, shared;          /* whole ones; steps in which transfers had less than a node can do */
    bool is_stale;                           /* paces are to be computed anew */
    uint64_t turns, lossy, grown, slow_ns;   /* what was seen: changes of pace under way, evictions with loss, ... */
    uint32_t to_fall;                        /* jobs with is_to_fall */
    uint64_t faults, fallen;
};

/* The caller fills `run`, `jobs` and is_stale = true, and of each job planned, communication, members, member_gpus,
 * one, pace and is_client. */
struct port_outside work_twin_listener(struct twin *twin);
struct record_sink work_twin_sink(struct twin *twin);
void work_twin_release(struct twin *twin); /* what it allocated itself */

/* ---- Its parts: work_twin_saves.c, where checkpoints are charged ---- */

/* Units that the job does now per ns, all members together. */
twin_units twin_speed(const struct twin *twin, const struct twin_job *job);
twin_units twin_all_of(const struct twin_job *job);
bool twin_stands_still(const struct twin_job *job);
/* When the next write begins, or a transfer is whole, at or after twin->now; TIME_NEVER: none. */
time_ns twin_next_step(const struct twin *twin);
void twin_transfer(struct twin *twin, time_ns span);       /* let the transfers go on for that time */
void twin_make_steps(struct twin *twin);                   /* all that are due at twin->now */
void twin_settle(struct twin *twin, struct twin_job *job); /* as above, of one job that members leave */
twin_units twin_kept(const struct twin *twin, const struct twin_job *job);
void twin_begin(struct twin *twin, struct twin_job *job, bool is_first);
void twin_stop(struct twin_job *job);
void twin_moved(struct twin_job *job);                              /* its members came or left */
void twin_check_lost(struct twin *twin, const struct job_row *row); /* the causes add up */
void twin_told_to_leave(struct twin *twin, struct twin_job *job, time_ns grace, time_ns end);

#endif
