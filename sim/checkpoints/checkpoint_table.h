/* sim/checkpoints/checkpoint_table.h -- how jobs save their work, and what that costs: `world.checkpoints`.
 *
 *   {"cost": "charged", "storage_gb_per_s": 2000, "node_gb_per_s": 5,
 *    "plans": [{"workload_class": "large training", "gpus_min": 64, "interval": "daly", "mtbf": "30d",
 *               "size_gib_per_gpu": 80, "warmup_s": 120},
 *              {"class": "training", "interval": "30m", "mode": "asynchronous", "slowdown": 0.05, "write_s": 60}]}
 *
 * Words.  A write makes a checkpoint.  A blocking write stops the job; an asynchronous one slows it down by `slowdown`,
 * a part of its speed.  A restart loads the last checkpoint, if there is one, and then warms up.
 *
 * Law.  A job has the plan of the first row whose conditions all hold; what that row does not say, and all of a job
 * without a row, is as the job declares (struct checkpoint_plan).  A write takes write_s, or moves the size through the
 * storage (sim/storage/storage.h), and so does a load.  With w the time of a write alone and M the time between
 * interruptions of the job, its interval is, of work at its full speed,
 *
 *    young:  sqrt(2 w M)            (Young, Comm. ACM 17, 1974)
 *    daly:   sqrt(2 w M) - w        (Daly, FGCS 22, 2006, first order), at least w
 *
 * and at least a second.  An asynchronous write costs only w x slowdown: that is in the place of w, and the interval is
 * at least the time of a write.  M is `mtbf`, or 1 day / (interruptions_per_node_day x nodes), where the nodes are as
 * few as can hold the job's GPUs.
 *
 *   const struct saving saving = checkpoint_table_saving(table, cluster, &job, names);
 *
 * It does not: interrupt jobs, or know when they write.
 */
#ifndef SIM_CHECKPOINTS_CHECKPOINT_TABLE_H
#define SIM_CHECKPOINTS_CHECKPOINT_TABLE_H

#include "topologies/cluster.h"
#include "workloads/job_filter.h"

enum checkpoint_cost { CHECKPOINTS_FREE, CHECKPOINTS_CHARGED };
enum checkpoint_interval { INTERVAL_AS_DECLARED, INTERVAL_FIXED, INTERVAL_YOUNG, INTERVAL_DALY };

#define CHECKPOINT_AS_DECLARED (-1) /* as a time */

struct checkpoint_row {
    struct job_filter jobs;     /* parts of a GPU are rounded up */
    uint8_t rule;               /* enum checkpoint_interval */
    bool is_asynchronous;       /* else blocking */
    bool is_per_gpu;            /* the size */
    bool is_per_node;           /* the interruptions */
    time_ns interval;           /* if fixed */
    time_ns write;              /* CHECKPOINT_AS_DECLARED; not used if there is a size */
    time_ns warmup;             /* CHECKPOINT_AS_DECLARED */
    int64_t bytes;              /* the size; 0: none */
    double slowdown;            /* 0..1 */
    double interruptions_per_s; /* of the job or of a node; 0: not given */
};

struct checkpoint_table {
    uint8_t cost; /* enum checkpoint_cost */
    struct checkpoint_row *rows;
    uint32_t count;
    int64_t bytes_per_s, node_bytes_per_s; /* STORAGE_UNLIMITED: not given */
};

enum { CHECKPOINT_ROWS_MAX = 1024 };

/* Absent: free.  classes: the names of the workload's classes, NULL-terminated; NULL: they are not known yet.  What the
 * table points to lies in the arena.  Fails through the sticky error. */
struct checkpoint_table checkpoint_table_read(const struct json_value *value, struct arena *arena,
                                              const char *const *classes);

/* What a job does to save its work. */
struct saving {
    time_ns interval; /* of reference work; 0: it saves nothing by itself */
    time_ns write;    /* the time of a write, alone */
    time_ns load;     /* the time of a load, alone */
    time_ns warmup;
    int64_t bytes; /* that a write or load moves; 0: it takes its time, whatever others do */
    bool is_asynchronous;
    double slowdown;
};

struct saving checkpoint_table_saving(const struct checkpoint_table *table, const struct cluster *cluster,
                                      const struct job *job, struct job_names names);

/* The plan that a scheduler is told: the times alone. */
struct checkpoint_plan saving_declared(const struct saving *saving);

#endif
