/* reports/metrics_inside.h -- how metrics are kept; for metrics.c, metric_*.c and cuts.c only.
 *
 * While rows come in, a job touches two tallies: that of its queue and that of its cell (class, size, GPU
 * model).  Tenants are sums of queues, and every other cut but the queues' is a sum of cells, so that cuts add up to
 * the whole by construction.
 */
#ifndef REPORTS_METRICS_INSIDE_H
#define REPORTS_METRICS_INSIDE_H

#include "base/mem.h"
#include "base/names.h"
#include "reports/hour_load.h"
#include "reports/metrics.h"
#include "reports/quantile.h"
#include "reports/waterfall.h"

typedef __int128 wide_int; /* GPU-milli x ns of ten million jobs exceed 64 bits */

enum {
    SIZE_SLOTS = 32,  /* "0", "<1", "1", "2", "3-4", ... */
    MODEL_SLOTS = 65, /* 0..63: the cluster's models; 64: MODEL_ANY */
    MODEL_SLOT_ANY = 64,
    KIND_CELL_SLOTS = JOB_CLASS_COUNT * SIZE_SLOTS * MODEL_SLOTS,
    KIND_CACHE_SLOTS = 64,    /* a power of two */
    QUEUE_CACHE_SLOTS = 1024, /* a power of two */
};

/* What tallies sum over the counted jobs.  A number of jobs stands before the sums over these jobs (metrics_sums.c). */
enum tally_sum {
    SUM_WAIT_NS,
    SUM_ASKED_MILLI_NS, /* GPU-milli x time */
    SUM_ALLOCATED_MILLI_NS,
    SUM_KEPT_MILLI_NS,
    SUM_COST_MILLI_NS_USD, /* SUM_ALLOCATED_MILLI_NS x the price of a GPU hour in millionths of a USD */
    SUM_LIMIT_MILLI_NS,    /* the part of SUM_ALLOCATED_MILLI_NS of jobs that were killed at their limit */
    SUM_LOST_GPU_NS,
    SUM_PREEMPTED_GPU_NS,
    /* slowdowns in millionths, each rounded down: of jobs that ran and ended, and of jobs that completed */
    SUM_SLOWDOWN_MICRO,
    SUM_SLOWDOWN_COMPLETED_MICRO,
    SUM_WAITS_NS, /* by reason */
    /* whose checkpoints are charged, or that may start cold */
    SUM_CHARGED_JOBS = SUM_WAITS_NS + REASON_COUNT,
    SUM_CHARGED_GPU_NS, /* by cause */
    /* that declare communication */
    SUM_COMMUNICATION_JOBS = SUM_CHARGED_GPU_NS + LOST_CAUSE_COUNT,
    SUM_HELD_MILLI_NS,
    SUM_EXPOSED_GPU_US,
    SUM_SLOWED_GPU_US,
    SUM_NETWORK_GPU_US,
    SUM_NETWORK_BYTE_US, /* GPU time x bytes/s */
    SUM_PLANNED_GPU_US,
    SUM_PLANNED_MFU_US,             /* GPU time x MFU in millionths */
    SUM_COMMUNICATION_SLOWED_JOBS,  /* of which there is a slowdown */
    SUM_COMMUNICATION_SLOWED_MICRO, /* their slowdowns, each rounded down to a millionth */
    /* whose SM activity the workload declares */
    SUM_ACTIVITY_JOBS,
    SUM_ACTIVE_GPU_US,
    SUM_IDLE_HELD_GPU_US,
    /* whose SM activity is known */
    SUM_KNOWN_JOBS,
    SUM_UNSERVED_GPU_US,
    /* that may have faults */
    SUM_FAULT_JOBS,
    SUM_FAULTS,
    SUM_KILLED_BY_NEIGHBOUR, /* by cause */
    SUM_LOST_BY_NEIGHBOUR_GPU_NS = SUM_KILLED_BY_NEIGHBOUR + RECORD_FAULT_COUNT,
    /* of a world with cold starts */
    SUM_PULL_JOBS,
    SUM_READY_JOBS,                                              /* that were ready once */
    SUM_COLD_NS,                                                 /* from their first start until they were */
    SUM_PULLED_BYTES,                                            /* by source */
    SUM_PULLED_FAR_BYTES = SUM_PULLED_BYTES + RECORD_PULL_COUNT, /* not on the node already */
    SUM_PULLED_ALL_BYTES,
    /* that a monitor measures */
    SUM_MONITORED_JOBS,
    SUM_NOTIFIED_JOBS,
    SUM_SHRINKS,
    SUM_IDLE_EVICTIONS,
    SUM_DISTURBED,
    SUM_GIVEN_GPU_US,
    /* whose wait was recorded */
    SUM_RECORDED_JOBS,
    SUM_NEAR_JOBS, /* simulated within a minute of the record, or within a tenth of it */
    SUM_RECORDED_NS,
    SUM_WAIT_ERROR_NS,
    SUM_WAIT_ERROR_ABS_NS,
    /* that have a deadline */
    SUM_DEADLINE_JOBS,
    SUM_MISSED_JOBS,
    SUM_LATE_NS,
    SUM_COUNT
};

/* Sums over some of the counted jobs. */
struct tally {
    uint64_t jobs[END_STATE_COUNT];
    uint64_t zero_waits, zero_admissions; /* counted instead of kept as points */
    uint64_t evictions, evictions_wasted;
    uint64_t slowdowns;                       /* jobs in SUM_SLOWDOWN_MICRO */
    uint64_t admissions[RECORD_SOURCE_COUNT]; /* jobs that started, by the source of their space */
    int64_t wait_ns_max;
    int64_t blast_gpu_milli_max; /* of one fault */
    wide_int sums[SUM_COUNT];
};

struct cell {
    uint8_t class, size, model; /* slots */
    uint32_t kind;              /* workload class */
    struct tally tally;
};

struct group {
    struct tally tally;
    struct ranks wait, admission;
    struct ranks slowdown; /* by communication, in millionths */
    struct ranks ready;    /* from submission */
    struct ranks cold;     /* from the first start to ready */
};

enum cut_kind {
    CUT_ALL,
    CUT_CLASS,
    CUT_KIND,      /* workload class */
    CUT_KIND_SIZE, /* kind x SIZE_SLOTS + size */
    CUT_TENANT,    /* none if the tree of queues is not known */
    CUT_QUEUE,
    CUT_SIZE,
    CUT_MODEL,
    CUT_COUNT
};

struct cut {
    uint32_t slot_count;
    struct group *groups;   /* by slot */
    uint32_t *order;        /* the slots with jobs, in the order of the keys */
    size_t count;           /* number of slots in `order` */
    struct metric *metrics; /* count x (METRIC_COUNT - METRIC_CUTS_FROM); CUT_ALL: METRIC_COUNT */
};

enum metric_id {
    /* of the whole run only */
    METRIC_ALLOCATION_RATIO,
    METRIC_SM_ACTIVE_RATIO,
    METRIC_GPU_UTIL_RATIO,
    METRIC_IDLE_RESERVED_RATIO,
    METRIC_IDLE_HELD_RATIO,
    METRIC_DOWN_RATIO,
    METRIC_OFFERED_LOAD_RATIO,
    METRIC_IDLE_RESERVED_GPU_H,
    METRIC_PARTIAL_GANG_GPU_H,
    METRIC_JAIN_FAIRNESS,
    METRIC_COST_USD,
    METRIC_COST_PER_JOB_USD,
    METRIC_MAKESPAN_S,
    METRIC_MAKESPAN_BOUND_S,
    METRIC_MAKESPAN_OVER_BOUND,
    METRIC_QUEUE_LENGTH_MEAN,
    METRIC_LITTLE_ERROR_RATIO,
    METRIC_IDLE_RATIO,
    METRIC_STRANDED_RATIO,
    METRIC_FGD_FRAGMENTATION_RATIO,
    METRIC_FGD_FRAGMENTATION_OF_IDLE_RATIO,
    METRIC_FRAGMENTED_BY_FROM, /* by cause */
    METRIC_LARGEST_GANG_GPUS = METRIC_FRAGMENTED_BY_FROM + RECORD_CAUSE_COUNT,
    METRIC_MIG_SLICES_UNPLACEABLE,
    METRIC_GANG_LINK_GB_PER_S_MEAN,
    METRIC_GANG_LINK_GB_PER_S_P10,
    METRIC_GANG_LINKS_FROM, /* by enum link_tier, from LINK_NVLINK on */
    METRIC_GANG_LINKS_LAST = METRIC_GANG_LINKS_FROM + LINK_TIER_COUNT - 1 - LINK_NVLINK,
    METRIC_RECORDED_ALLOCATION_RATIO,
    METRIC_ALLOCATION_ERROR_RATIO,
    METRIC_ALLOCATION_ERROR_ABS_RATIO,
    METRIC_CLOSED_LOOP_JOBS,
    METRIC_CLOSED_LOOP_HELD,
    METRIC_CLOSED_LOOP_SHIFT_MEAN_S,
    METRIC_CLOSED_LOOP_SHIFT_ABS_MEAN_S,
    METRIC_USEFUL_RATIO,
    METRIC_SPENT_FROM, /* by enum spent_cause */
    METRIC_SPENT_LAST = METRIC_SPENT_FROM + SPENT_COUNT - 1,
    METRIC_WATERFALL_FROM, /* by enum waterfall_part */
    METRIC_WATERFALL_LAST = METRIC_WATERFALL_FROM + FALL_COUNT - 1,
    /* also of cuts */
    METRIC_CUTS_FROM,
    METRIC_QUEUE_TIME_P50_S = METRIC_CUTS_FROM,
    METRIC_QUEUE_TIME_P95_S,
    METRIC_QUEUE_TIME_P99_S,
    METRIC_QUEUE_TIME_MEAN_S,
    METRIC_QUEUE_TIME_MAX_S,
    METRIC_ADMISSION_P99_S,
    METRIC_SLOWDOWN_BOUNDED_MEAN,
    METRIC_SLOWDOWN_BOUNDED_COMPLETED_MEAN,
    METRIC_ASKED_GPU_H,
    METRIC_ALLOCATED_GPU_H,
    METRIC_HELD_COST_USD,
    METRIC_GOODPUT_RATIO,
    METRIC_LIMIT_GPU_H,
    METRIC_LOST_GPU_H,
    METRIC_LOST_BY_PREEMPTION_GPU_H,
    METRIC_LOST_PER_EVICTION_S,
    METRIC_PREEMPTIONS,
    METRIC_EVICTIONS_WASTED,
    METRIC_ADMISSIONS_FREE,
    METRIC_ADMISSIONS_HEADROOM,
    METRIC_ADMISSIONS_GRACE_0,
    METRIC_ADMISSIONS_EVICTION,
    METRIC_ADMISSIONS_GAP,
    METRIC_LOST_FROM, /* by cause */
    METRIC_COMMUNICATION_GPU_H = METRIC_LOST_FROM + LOST_CAUSE_COUNT,
    METRIC_COMMUNICATION_RATIO,
    METRIC_SLOWED_GPU_H,
    METRIC_SLOWED_RATIO,
    METRIC_COMMUNICATION_SLOWDOWN_MEAN,
    METRIC_COMMUNICATION_SLOWDOWN_P95,
    METRIC_NETWORK_GB_PER_S_MEAN,
    METRIC_MFU_RATIO,
    METRIC_ACTIVE_GPU_H,
    METRIC_IDLE_HELD_GPU_H,
    METRIC_UNSERVED_GPU_H,
    METRIC_FAULTS,
    METRIC_KILLED_BY_NEIGHBOUR_FROM, /* by cause */
    METRIC_LOST_BY_NEIGHBOUR_GPU_H = METRIC_KILLED_BY_NEIGHBOUR_FROM + RECORD_FAULT_COUNT,
    METRIC_BLAST_RADIUS_GPUS_MAX,
    METRIC_READY_P50_S,
    METRIC_READY_P99_S,
    METRIC_COLD_START_P50_S,
    METRIC_COLD_START_P99_S,
    METRIC_COLD_START_MEAN_S,
    METRIC_PULLED_REGISTRY_TB,
    METRIC_PULLED_RACK_TB,
    METRIC_NODE_CACHE_HIT_RATIO,
    METRIC_RACK_CACHE_HIT_RATIO,
    METRIC_IDLE_JOBS_TOLD,
    METRIC_IDLE_SHRINKS,
    METRIC_IDLE_EVICTIONS,
    METRIC_IDLE_DISTURBED,
    METRIC_GIVEN_BACK_GPU_H,
    METRIC_RECORDED_JOBS,
    METRIC_RECORDED_WAIT_MEAN,
    METRIC_WAIT_ERROR_MEAN,
    METRIC_WAIT_ERROR_ABS_MEAN,
    METRIC_WAIT_NEAR_RATIO,
    METRIC_DEADLINE_JOBS,
    METRIC_DEADLINES_MISSED,
    METRIC_DEADLINES_MISSED_RATIO,
    METRIC_TARDINESS_MEAN_S,
    METRIC_JOBS_SUBMITTED,
    METRIC_JOBS_ACCEPTED,
    METRIC_REJECTED_RATIO,
    METRIC_JOBS_COMPLETED,
    METRIC_JOBS_FAILED,
    METRIC_JOBS_CANCELLED,
    METRIC_JOBS_LIMIT,
    METRIC_JOBS_REJECTED,
    METRIC_JOBS_PENDING,
    METRIC_JOBS_RUNNING,
    /* waiting times by reason */
    METRIC_WAITS_FROM,
    METRIC_WAIT_RESOURCES_JOB_H = METRIC_WAITS_FROM,
    METRIC_WAIT_FRAGMENTATION_JOB_H,
    METRIC_WAIT_TOPOLOGY_JOB_H,
    METRIC_WAIT_RESERVED_FOR_OTHER_JOB_H,
    METRIC_WAIT_HEADROOM_JOB_H,
    METRIC_WAIT_QUOTA_LIMIT_JOB_H,
    METRIC_WAIT_PRIORITY_JOB_H,
    METRIC_WAIT_RESERVED_JOB_H,
    METRIC_WAIT_HELD_JOB_H,
    METRIC_WAIT_DEPENDENCY_JOB_H,
    METRIC_WAIT_ARRAY_LIMIT_JOB_H,
    METRIC_WAIT_SCHEDULING_JOB_H,
    METRIC_WAIT_CONFIGURING_JOB_H,
    METRIC_WAIT_NEVER_FITS_JOB_H,
    METRIC_WAIT_DEPENDENCY_NEVER_JOB_H,
    METRIC_WAIT_GANG_ON_SLICES_JOB_H,
    METRIC_WAIT_AFFINITY_JOB_H,
    METRIC_WAIT_IDLE_JOB_H,
    METRIC_COUNT
};

/* Integrals up to one time. */
struct integrals {
    double time_s;
    double allocated_gpu_s, active_gpu_s, reserved_gpu_s, down_gpu_s;
    double pending_job_s, partial_gang_gpu_s, idle_held_gpu_s;
    double spent_gpu_s[SPENT_COUNT], use_gpu_s[USE_COUNT];
};

/* Mean usability of free GPUs over the window, in GPUs.  A sample holds until the next one. */
struct space_means {
    double time_s; /* length of the part of the window for which they are known; 0: none */
    double idle, stranded;
    double fragmented[RECORD_CAUSE_COUNT];
    double gang; /* for members of a whole node of 8 GPUs */
    double slices;
};

/* GPU time of gangs over one kind of link. */
struct link_use {
    int64_t bytes_per_s;
    wide_int milli_ns;
    uint8_t tier; /* enum link_tier */
};

struct queue_cache_entry {
    const char *name; /* borrowed; see the law of sim/record/record.h */
    uint32_t queue;
};

/* A workload class: its class, and its cells. */
struct kind {
    uint8_t class;                     /* of its first job; workload classes are ordered by it */
    uint16_t cell_of[KIND_CELL_SLOTS]; /* index + 1; 0: none */
};

struct metrics {
    struct names *queues;
    struct queue_cache_entry cache[QUEUE_CACHE_SLOTS];
    struct tally *queue_tallies;       /* by id */
    int64_t prices_micro[MODEL_SLOTS]; /* of a GPU hour in millionths of a USD, by model */
    bool has_prices;
    size_t queue_capacity;
    struct names *kind_names;
    struct queue_cache_entry kind_cache[KIND_CACHE_SLOTS];
    struct kind *kinds; /* by id */
    size_t kind_capacity;
    struct names *tenants;   /* slots of CUT_TENANT */
    uint32_t *tenant_of;     /* by id of `queues`; NULL: the tree of queues is not known */
    const char **kind_sizes; /* the keys of CUT_KIND_SIZE by slot; NULL: no job */
    struct cell *cells;
    size_t cell_count, cell_capacity;
    struct points points;
    struct points slowdowns;     /* of jobs that declare communication */
    struct points ready, cold;   /* of jobs in a world with cold starts */
    bool has_unknown_activity;   /* the SM activity of some job that ran is not known */
    bool has_declared_activity;  /* the workload declares the SM activity of some job that ran */
    bool has_apart;              /* some admission time differs from the wait */
    time_ns submit_min, end_max; /* of counted jobs; TIME_NEVER and 0: none */
    wide_int all_waits_ns;       /* including jobs of the warm-up, for Little's law */
    uint64_t rejected[REASON_COUNT];
    wide_int never_fit_milli_ns; /* GPU-milli x time that jobs asked which never fit */

    struct timeline_row *samples;
    size_t sample_count, sample_capacity;

    struct link_use *links; /* in the order in which the kinds came: a few dozen at most */
    size_t link_count, link_capacity;

    struct arrived_row *arrived;
    size_t arrived_count, arrived_capacity;

    struct arena arena; /* texts of `facts` */
    const char **model_names;
    size_t model_count;
    struct run_facts facts;
    bool has_facts, is_finished;
    struct integrals window_start, window_end, run_end; /* of all samples, before thinning */
    struct space_means space;
    /* Of all jobs with a recorded wait, from their recorded start for as long as their work takes. */
    struct hour_load recorded_load;
    double
        recorded_apart_gpu_s; /* |simulated - recorded|, summed over the hours of the window; NAN: nothing recorded */
    struct cut cuts[CUT_COUNT];
};

/* Name, unit and definition of every metric (metric_table.c); values are NAN. */
extern const struct metric metric_table[METRIC_COUNT];
extern const char *const better_names[]; /* by enum better */

/* Add what only some jobs have, of a counted job, to the tallies of its queue and its cell (metrics_sums.c).
 * point: without its value. */
void sums_add(struct metrics *metrics, const struct job_row *row, struct tally *queue, struct tally *cell,
              struct point point);
void sums_fill(const struct group *group, double *value); /* nothing of what no job has */

/* GPUs that are allocated, and those of a recorded schedule (metrics_recorded.c). */
void recorded_load_add(struct metrics *metrics, const struct job_row *row);
void recorded_load_compare(struct metrics *metrics, time_ns until);                   /* before samples are thinned */
void recorded_load_fill(const struct metrics *metrics, time_ns until, double *value); /* nothing without a record */

/* Find the tenant of each queue (metric_tenants.c). */
void tenants_find(struct metrics *metrics);

/* Sort, sum and rank: fills cuts[] except their metrics (cuts.c). */
void cuts_build(struct metrics *metrics);
void cuts_release(struct metrics *metrics);

/* Fill the metrics of all cuts, including the whole run (metric_values.c). */
void metric_values_fill(struct metrics *metrics);

#endif
