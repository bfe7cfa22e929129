/* sim/record/record.h -- the record of a run: rows, and the sinks that take them.
 *
 * The simulator emits rows; sinks consume them: the writer of files (sim/record/record_files.h) and the metrics
 * (reports/metrics.h).  The reader of files (reports/record_read.h) emits the same rows, so that a report made from
 * the files equals the one made by the run.
 *
 * Law: a job's row comes once, when nothing more can happen to it (or at the end of the run); its attempts' rows come
 * before it; samples come in order of time, arrived rows in order of percent.  Rows are borrowed during the call, but
 * the names of queues, users and workload classes stay where they are while rows come: the same address is the same
 * name.
 *
 * Columns of jobs.csv.zst, attempts.csv.zst, timeline.csv.zst: the fields below, named and ordered by
 * record_job_columns etc.; times in seconds; amounts in GPUs.  Every field is filled, but for these, which are empty
 * where there is no value:
 *
 *   eligible_s    of a job that waited for others until the run ended
 *   start_s, source   of a job that never started
 *   end_s         of a job that has not ended
 *   sm_active_ratio   of a job whose activity the workload does not tell
 *   wait_s, wait_total_s   of a rejected job
 *   recorded_wait_s   of a job whose workload does not tell how long it waited where it was recorded
 *   user          of a job whose user is not known
 *   reason        of a job that neither waits nor was rejected, or that another program rejected without a reason; of
 *                 an attempt that was not evicted
 *   wait_by_reason_s   see below
 *   lost_write_gpu_s to lost_work_other_gpu_s   if checkpoints are free and there are no cold starts
 *   communication to mfu_ratio   of a job that declares no communication; network_gb_per_s also of one that never
 *                 worked in several NVLink domains, mfu_ratio of one whose MFU is not known
 *   faults to blast_gpus   if the world has no faults of jobs
 *   ready_s to pulled_local_gb   if the world has no cold starts; ready_s also of a job that was never ready
 *   idle_told to given_back_gpu_s   if the world has no monitor
 *   link_tier, link_gb_per_s   of an attempt that holds no more than one GPU
 *   idle_gpus to mig_slices_unplaceable   of a sample when they are not known (struct space_row)
 *
 *   limit_s, estimate_s, deadline_s   of a job that declares none.  estimate_s is the run time that the scheduler was
 *                 told (world.estimates); deadline_s is a moment of the run, as submit_s
 *
 * Law: every total is one sum.  To the last digit, over all rows of a run that was not forked:
 *   - held_gpu_s of a job is the sum over its attempts that are not partial of gpus x (end_s - start_s); run_s, work_s,
 *     evictions and resizes are sums over its attempts, too;
 *   - the last row of the timeline has the sums over all jobs: allocated_gpu_s of held_gpu_s, running_job_s of run_s,
 *     pending_job_s of wait_total_s, partial_gang_gpu_s of the partial attempts, evicted of evictions (an integral is
 *     the exact sum, rounded once to a double);
 *   - in each row of the timeline the causes (spent_*) add up to GPUs x time_s, and their changes follow from what jobs
 *     hold: sim/engine/engine_spent.h;
 *   - a metric of the run is the sum of that metric over the queues, over the classes, and over any other cut.
 * Test: tests/property/test_observing.c.  It once caught that the time held by an elastic job that got fewer members
 * than it asked for, and never changed them, was counted at its full size.
 *
 * wait_by_reason_s: "Resources:12.5;Priority:3", exact seconds, in the order of enum reason; empty for a job that never
 * waited, if another program decided, or if world.wait_times is false.  They sum to wait_total_s; for a rejected job
 * to end_s - submit_s.
 */
#ifndef SIM_RECORD_RECORD_H
#define SIM_RECORD_RECORD_H

#include "base/error.h"
#include "base/reason.h"
#include "base/time.h"
#include "topologies/links.h"
#include "topologies/validation.h"
#include "workloads/job.h"
#include "workloads/offered_load.h"

__extension__ typedef __int128 gpu_time_ns;                       /* GPUs x ns: 16,384 GPUs pass 64 bits in a week */
#define RECORD_MILLI_NS_PER_GPU_S (INT64_C(1000) * TIME_NS_PER_S) /* thousandths of a GPU x ns */

enum job_end_state {
    END_COMPLETED,
    END_FAILED,
    END_CANCELLED,
    END_LIMIT,    /* killed at its limit */
    END_REJECTED, /* never admitted; see reason */
    END_PENDING,  /* the run ended before it started (censored) */
    END_RUNNING,  /* the run ended while it ran */
    END_STATE_COUNT
};
extern const char *const job_end_names[]; /* "completed", ..., NULL-terminated */

enum { MODEL_ANY = JOB_MODEL_ANY }; /* as `model`: several models would do, or none, or the job asks for no GPUs */

/* Causes of faults: enum fault_cause of sim/job/fault.h. */
enum { RECORD_FAULT_MEMORY, RECORD_FAULT_RUNAWAY, RECORD_FAULT_FATAL, RECORD_FAULT_COUNT };

/* What faults of jobs did to a job. */
struct fault_row {
    uint32_t own;                        /* faults of its own */
    uint32_t killed[RECORD_FAULT_COUNT]; /* times that the fault of another job took it, by cause */
    int64_t lost_gpu_ns;                 /* the part of the row's lost_gpu_ns due to these */
    int64_t blast_gpu_milli;             /* GPUs that the jobs held that one of its own faults took: the most */
};

/* What an idle policy did to a job. */
struct idle_row {
    uint32_t notified;  /* times that its submitter was told */
    uint32_t shrunk;    /* times that it lost members as idle, but not all */
    uint32_t evicted;   /* times that it was evicted as idle */
    uint32_t disturbed; /* the part of these when it was busy, or would have been soon (world.monitor) */
    /* GPU time that it gave back: of the GPUs that it lost as idle, from when they left until it got GPUs again or
     * ended, at most until its work or its limit would have ended it. */
    int64_t given_gpu_us;
};

/* The causes of lost GPU time, where checkpoints are charged (sim/checkpoints/checkpoint_table.h) or jobs start cold
 * (sim/caches/pull_table.h). */
enum lost_cause {
    LOST_WRITE,          /* periodic checkpoints: without work, or the part of its speed that they took */
    LOST_LEAVE,          /* checkpoints made before members left */
    LOST_LOAD,           /* of the last checkpoint */
    LOST_WARMUP,         /* after restarts */
    LOST_PULL,           /* of images, weights and data, before loads */
    LOST_WORK_PREEMPTED, /* work thrown away by evictions for other jobs */
    LOST_WORK_NODE,      /* work thrown away because a node went down */
    LOST_WORK_NEIGHBOUR, /* work thrown away by the fault of another job on the same GPU */
    LOST_WORK_OTHER,     /* work thrown away for other reasons */
    LOST_CAUSE_COUNT
};

/* They add up to lost_gpu_ns; those before LOST_WORK_PREEMPTED to overhead_gpu_ns. */
struct lost_row {
    int64_t gpu_ns[LOST_CAUSE_COUNT];
};

/* What a job pulled onto its nodes (sim/caches/pulls.h), in all its attempts. */
enum { RECORD_PULL_REGISTRY, RECORD_PULL_RACK, RECORD_PULL_LOCAL, RECORD_PULL_COUNT };
struct pull_row {
    time_ns ready;                    /* when all was there for the first time; TIME_NEVER: it never was */
    int64_t bytes[RECORD_PULL_COUNT]; /* from the registry, from caches of racks, on the node already */
};

struct job_row {
    job_id id;
    const char *name;           /* the trace's own id; NULL: `id` in decimal */
    const char *queue;          /* leaf queue's name */
    const char *user;           /* "" if unknown */
    uint8_t class;              /* enum job_class */
    const char *workload_class; /* the workload's own name of the kind ("small training"); NULL: the name of `class` */
    int32_t priority;
    int64_t gpu_milli;   /* GPUs that all members ask for; from its start on what they hold (of shared GPUs its part) */
    uint32_t members;    /* that it asks for */
    uint8_t model;       /* index into the cluster's models: of its last attempt, else asked_model */
    uint8_t asked_model; /* the only model that its members can get; MODEL_ANY: several, or none */
    time_ns submit;
    time_ns eligible;      /* submit, or when the last job it depends on ended; TIME_NEVER if one has not ended */
    time_ns start;         /* when it first had its minimum of members; TIME_NEVER: never */
    time_ns end;           /* TIME_NEVER if it has not ended */
    uint8_t state;         /* enum job_end_state */
    uint8_t reason;        /* enum reason: why it was rejected, or why it still waits */
    time_ns wait;          /* from eligible to first start, or to the run's end if it has not started; 0 if rejected */
    time_ns wait_total;    /* since its submission, including waits after evictions */
    time_ns recorded_wait; /* from its submission to its first start where the workload was recorded */
    time_ns run;           /* sum of its attempts, without partial ones */
    time_ns work;          /* reference work done and kept */
    time_ns work_asked;    /* reference work in all; for what-ifs */
    uint32_t evictions;    /* that took all members, or too many to run on */
    int64_t lost_gpu_ns;   /* GPU time of work thrown away, and overhead_gpu_ns */
    int64_t overhead_gpu_ns;     /* GPU time spent on checkpoints made for evictions and on restarts; part of lost.  If
                                * checkpoints are charged, on all checkpoints */
    uint16_t sm_active_milli;    /* SM_ACTIVE_UNKNOWN (UINT16_MAX): the workload does not give it */
    bool has_recorded_wait;      /* the workload tells it */
    bool is_counted;             /* submitted after the warm-up: counts in the metrics of jobs */
    uint8_t source;              /* source of the space of its first start: index into record_source_names */
    uint32_t resizes;            /* attempts that ended because members came or went */
    gpu_time_ns held_milli_ns;   /* GPU time held while it ran, in thousandths of a GPU x ns */
    time_ns limit, estimate;     /* that it declares, the estimate as the scheduler was told; TIME_NEVER: none */
    time_ns deadline;            /* TIME_NEVER: none */
    int64_t preempted_gpu_ns;    /* the part of lost_gpu_ns that was lost by evictions for other jobs */
    const struct lost_row *lost; /* lost_gpu_ns by cause; NULL: checkpoints are free, and there are no cold starts */
    uint32_t evictions_wasted;   /* evictions decided for this job that it made no use of */
    /* What communication costs, of a job that declares it (topologies/communication.h); else NULL or "", and 0.  In
     * microseconds: nanoseconds of GPU time pass 64 bits when 16,384 GPUs work for a week. */
    const char *communication;   /* "plan", the name of its sensitivity, or "own" */
    int64_t exposed_gpu_us;      /* GPU time in which its GPUs waited for communication */
    int64_t slowed_gpu_us;       /* GPU time that its work took more than at the best place, alone */
    int64_t network_gpu_us;      /* GPU time in which it worked in several NVLink domains */
    int64_t network_bytes_per_s; /* that each GPU got on the network while it sent: the mean over network_gpu_us */
    int64_t planned_gpu_us;      /* GPU time in which it worked, if its MFU is known */
    uint32_t mfu_micro;          /* its mean over planned_gpu_us, in millionths */
    /* The kind of its SM activity (workloads/activity/activity.h), if the workload declares one; else NULL or "", and
     * then the GPU times are 0. */
    const char *activity;
    int64_t active_gpu_us, idle_held_gpu_us; /* GPU time x SM activity; GPU time held while no SM was busy */
    int64_t unserved_gpu_us; /* SM time on whole GPUs that an open job was asked for while it ran and could not serve */
    const struct fault_row *faults; /* NULL: the world has no faults of jobs */
    const struct pull_row *pulls;   /* NULL: the world has no cold starts */
    const struct idle_row *idle;    /* NULL: the world has no monitor */
    /* waiting times by reason, which add up to wait_total, of a rejected job to end - submit; NULL: it did not wait */
    const struct wait_times *waits;
};
static inline bool job_row_communicates(const struct job_row *row)
{
    return row->communication != NULL && row->communication[0] != '\0';
}

static inline bool job_row_is_active(const struct job_row *row)
{
    return row->activity != NULL && row->activity[0] != '\0';
}

enum { RECORD_SOURCE_COUNT = 5 };
/* "free", "headroom", "grace_0", "eviction", "gap", NULL: policies/sched.h */
extern const char *const record_source_names[];

enum attempt_end { ATTEMPT_ENDED, ATTEMPT_EVICTED, ATTEMPT_UNFINISHED, ATTEMPT_RESIZED };
extern const char *const attempt_end_names[]; /* "ended", "evicted", "unfinished", "resized", NULL */

/* An interval in which a job held the same members.  If its members change, the job continues in its next attempt.
 * saved + lost is the reference work done in the interval.  A later eviction may throw away work of an attempt that was
 * resized; that counts as lost in the later attempt, where `saved` may then be negative, so that the sum over a job's
 * attempts is right. */
struct attempt_row {
    job_id id;
    uint32_t attempt;         /* from 0 */
    time_ns start, end;       /* end: the run's end if unfinished */
    int64_t gpu_milli;        /* held */
    const char *placement;    /* "n[0-7]:0-7" style: nodes and GPU indices, runs of equal nodes joined by spaces */
    uint8_t why;              /* enum attempt_end */
    uint8_t reason;           /* enum reason for evictions */
    time_ns saved, lost;      /* reference work kept and thrown away */
    bool is_partial;          /* fewer members than its minimum: it idled, and waited for the others */
    uint8_t link_tier;        /* enum link_tier (topologies/links.h); LINK_NONE with one GPU or less */
    int64_t link_bytes_per_s; /* of each GPU over the narrowest link between them */
};

/* An attempt that worked on more than one GPU: the links between its GPUs, and how long it ran. */
struct gang_row {
    time_ns start, end;
    int64_t gpu_milli;        /* held */
    uint8_t link_tier;        /* enum link_tier, not LINK_NONE */
    int64_t link_bytes_per_s; /* of each GPU over the narrowest link between them */
};

/* What the free GPUs can be used for at one moment (words: policies/census/census.h).  Typical are the kinds of members
 * that are most frequent in the workload, as far as known before the first job comes (workloads/readers/source.h,
 * preview). */
enum {
    RECORD_CAUSE_COUNT = 7,     /* policies/jobs/fragmentation.h */
    RECORD_GANG_SIZE_COUNT = 4, /* 1, 2, 4 and 8 GPUs of a member */
};

struct space_row {
    bool is_known; /* false: another program decided, or the jobs are not known in advance; then all fields are 0 */
    int64_t idle_gpu_milli;
    int64_t stranded_gpu_milli;                 /* that no waiting member can use */
    double fragmented_gpus[RECORD_CAUSE_COUNT]; /* that no typical member can use, by cause */
    int64_t gang_gpus[RECORD_GANG_SIZE_COUNT];  /* the largest gang that could start, in GPUs */
    int64_t mig_slices_unplaceable;
};
double space_fragmented_gpus(const struct space_row *row); /* the sum over the causes */

/* What became of the cluster's GPU time: sim/engine/engine_spent.h defines each cause and says which one counts where
 * several apply. */
enum spent_cause {
    SPENT_USEFUL,        /* work at the speed of the trace, that is kept or may still be */
    SPENT_COMMUNICATION, /* speed lost to communication, against the best place alone */
    SPENT_NEIGHBOURS,    /* speed lost to other jobs on the same GPU */
    SPENT_SLICED,        /* speed lost on a MIG instance; parts of a partitioned GPU in no instance */
    SPENT_REPARTITION,   /* parts of a GPU that is being repartitioned, but for the instances that stay */
    SPENT_RESTART,       /* checkpoints and restarts: held by a job that writes, loads or warms up */
    SPENT_LOST,          /* work that was thrown away */
    SPENT_IDLE_HELD,     /* held by a job that runs while no SM of its is busy */
    SPENT_RESERVED,      /* kept for a job that does not run yet, or by a gang that is not complete */
    SPENT_IDLE,          /* free */
    SPENT_DOWN,          /* of nodes that are down */
    SPENT_ABSENT,        /* of nodes out of service (world.capacity), but for what jobs still hold there */
    SPENT_COUNT
};
extern const char *const spent_names[]; /* "useful", ..., NULL-terminated */

/* What leads from GPU time by cause to SM activity; docs/activity.md has the law. */
enum use_kind {
    USE_WAITED,      /* free GPUs, as far as jobs that waited asked for them */
    USE_UNCOVERED,   /* of partitioned GPUs, in no instance: part of SPENT_SLICED */
    USE_HOST,        /* of jobs that work: without a kernel, for host and input */
    USE_NETWORK,     /* of jobs that work: for the communication that SPENT_COMMUNICATION is lost to */
    USE_UNKNOWN,     /* of jobs that work, whose SM activity is not known; they count in nothing below */
    USE_ACTIVE_LOST, /* SM activity of work that was thrown away, counted when it was */
    USE_KERNEL,      /* of GPUs while a kernel is on them */
    USE_COUNT
};
extern const char *const use_names[]; /* "waited", ..., NULL-terminated */

/* State just after `time`, and integrals from the start of the run to `time`. */
struct timeline_row {
    time_ns time;
    uint32_t pending_jobs, running_jobs;
    int64_t pending_gpu_milli;   /* that pending jobs ask for */
    int64_t allocated_gpu_milli; /* to running jobs; not to gangs below their minimum */
    int64_t active_gpu_milli;    /* allocated x SM activity; 0 where the activity is not known */
    int64_t reserved_gpu_milli;  /* held for a job that has not started (being freed), or by a gang below its minimum */
    int64_t down_gpu_milli;
    uint64_t submitted, started, ended, evicted, rejected;            /* counts so far */
    double allocated_gpu_s, active_gpu_s, reserved_gpu_s, down_gpu_s; /* integrals */
    double pending_job_s, running_job_s;                              /* integrals of the counts */
    int64_t idle_held_gpu_milli; /* the part of allocated whose job has no SM busy; of jobs with declared activity */
    double idle_held_gpu_s;      /* its integral */
    double partial_gang_gpu_s;   /* GPUs held by gangs below their minimum; part of reserved */
    struct space_row space;
    /* Integrals, by cause: they add up to the cluster's GPUs x `time` exactly.  Each is exact but for less than a
     * nanosecond of one GPU.  Only `useful` falls, when work is lost. */
    gpu_time_ns spent[SPENT_COUNT];
    int64_t use_us[USE_COUNT]; /* integrals in GPUs x microseconds, each rounded down */
};

/* The state when a workload that fills the cluster (workloads/readers/fill.h) has reached `percent`: right after the
 * first cycle by which the submitted jobs, rejected ones included, asked for `percent` % of the cluster's GPUs.  There
 * is one row for each whole percent from 1 on.  Rows that one cycle reaches together differ in `percent` only.  Values
 * are doubles, and result.json holds these rows exactly (reports/result.h). */
struct arrived_row {
    uint32_t percent;
    double allocation_ratio;    /* GPUs allocated to running jobs / all of the cluster's */
    double fragmentation_ratio; /* fragmented GPUs / all of the cluster's; NAN: not known */
};

/* A queue of the tree (topologies/queue_table.h), whose root is not listed. */
struct record_queue {
    const char *name;
    uint32_t parent; /* its index, smaller than the queue's own; RECORD_QUEUE_ROOT: the root */
};
#define RECORD_QUEUE_ROOT UINT32_MAX

/* A pool of equal nodes of the cluster. */
struct record_pool {
    const char *name, *first_node; /* the nodes of a pool follow each other in the cluster */
    uint8_t model;                 /* index into the models; MODEL_ANY: its nodes have no GPUs */
    uint32_t node_count, gpus_per_node;
    double price_usd_per_gpu_h; /* 0: unknown */
};

/* Of a closed loop of users (workloads/readers/user_loop.h).  A shift is the time of a submission, less the time at
 * which the job comes in an open loop. */
struct loop_facts {
    bool is_closed;                        /* false: the loop is open, and all else is 0 */
    uint64_t followed;                     /* jobs submitted a think time after the end of another one */
    uint64_t held_back;                    /* jobs that were not submitted, because others had not ended */
    double shift_mean_s, shift_abs_mean_s; /* of the jobs submitted; without their signs */
};

/* Facts of a run that no row holds; they are known at its end. */
enum { RUN_STUCK_BYTES = 900 };

struct run_facts {
    time_ns end;    /* simulated */
    time_ns warmup; /* metrics are taken from here on */
    /* GPU time is measured up to world.end; without one to the last submission, so that GPUs that become free after it
     * do not count as idle (in a closed loop of which jobs are still held back to `end`).  Of a batch
     * (workloads/offered_load.h) it is measured up to its last end, or to `end` if jobs are left.  0: to `end` */
    time_ns measured_until;
    uint64_t node_count, gpu_count; /* of the cluster; 0 nodes: the record does not tell */
    const char *const *model_names; /* NULL-terminated */
    const struct record_queue *queues;
    uint32_t queue_count; /* 0: not known */
    const struct record_pool *pools;
    uint32_t pool_count;        /* 0: not known */
    double price_usd_per_gpu_h; /* mean over the GPUs of all pools; 0: unknown, of a pool at least */
    uint64_t events, cycles, decisions;
    uint64_t promised_starts, late_starts; /* by backfill; policies/sched.h */
    uint64_t recuts;                       /* repartitions of GPUs */
    double recut_gpu_h;                    /* duration of all repartitions */
    struct loop_facts loop;
    struct offered_load offered;  /* in a closed loop of the jobs as recorded */
    struct validation validation; /* of the jobs that ran, from the beginning */
    /* Jobs that wait at the end while nothing runs or comes, and a sentence that says which, why and what would help.
     * If world.end cut the run off, they count if the first of them waited for an hour or longer. */
    uint64_t stuck_jobs;
    char stuck[RUN_STUCK_BYTES]; /* "": none */
    bool is_decided_outside;     /* another program decided, and rejected jobs */
    bool is_partial;             /* ended early, by a signal or a stall */
};

/* A consumer of rows.  A hook may be NULL.  An error stops the run. */
struct record_sink {
    void *self;
    struct error (*on_job)(void *self, const struct job_row *row);
    struct error (*on_attempt)(void *self, const struct attempt_row *row);
    /* For attempts that have a link tier and are not partial.  A sink with this hook alone needs no placement text. */
    struct error (*on_gang)(void *self, const struct gang_row *row);
    struct error (*on_sample)(void *self, const struct timeline_row *row);
    struct error (*on_arrived)(void *self, const struct arrived_row *row);
    struct error (*on_finished)(void *self, const struct run_facts *facts);
};

#define RECORD_ANY "any" /* as gpu_model: MODEL_ANY */

extern const char record_job_columns[]; /* the header lines, without newline */
extern const char record_attempt_columns[];
extern const char record_timeline_columns[];

#endif
