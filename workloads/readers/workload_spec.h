/* workloads/readers/workload_spec.h -- the "workload" of a scenario: where jobs come from, and what is changed of them.
 *
 *   {"trace": "jobs.csv", "load": 0.9, "window": ["7d", "21d"], "shake": {"arrivals_s": "5m"}}
 *
 * Law: what workload_read makes is consistent: fields that exclude each other are not both set.
 *
 *   struct workload_spec spec;
 *   workload_read(&spec, &value, "scenarios");
 *   ...                                      job_source_open (source.h) makes jobs of it
 *   workload_release(&spec);
 *
 * It does not: open a trace, or know the cluster.  workloads/README.md explains each key.
 */
#ifndef WORKLOADS_READERS_WORKLOAD_SPEC_H
#define WORKLOADS_READERS_WORKLOAD_SPEC_H

#include "base/error.h"
#include "base/json.h"
#include "workloads/activity/activity_table.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"
#include "workloads/readers/blocks.h"
#include "workloads/readers/communication_table.h"
#include "workloads/readers/fill.h"
#include "workloads/readers/growth.h"
#include "workloads/readers/job_defaults.h"
#include "workloads/readers/sample.h"
#include "workloads/readers/service_load.h"
#include "workloads/readers/shake.h"
#include "workloads/readers/side_files.h"
#include "workloads/readers/tenants.h"
#include "workloads/readers/user_loop.h"
#include "workloads/readers/zone.h"

/* Hears of each unreadable line that is skipped. */
struct bad_line_listener {
    void *self;
    void (*on_bad_line)(void *self, const struct error *error); /* NULL: nobody */
};

/* Hears of each job of a trace while it is read for the first time: in the order of the file, with its submission and
 * deadline in the trace's own time. */
struct scan_listener {
    void *self;
    void (*on_job)(void *self, const struct job *job, const struct job_truth *truth); /* NULL: nobody */
};

/* Hears now and then while a trace is read: rows so far, and the part of the file, 0..1 (0: not known). */
struct reading_listener {
    void *self;
    void (*on_rows)(void *self, uint64_t rows, double done_ratio); /* NULL: nobody */
};

/* What a trace calls a GPU model, and what that means on the run's cluster. */
struct model_word {
    const char *word;  /* "*": any other */
    const char *means; /* "A|B"; "": any model */
};

struct synth_spec; /* workloads/synth/synth.h */
struct workload_part;
struct column_map; /* workloads/readers/column_map.h */
struct load_model; /* workloads/load_model/load_model.h */

/* What becomes of the attempts that a trace records of one job. */
enum attempts_kind {
    ATTEMPTS_AS_FORMAT, /* as docs/traces.md says of the format */
    ATTEMPTS_MERGED,    /* one attempt, as long as all together */
    ATTEMPTS_LAST,      /* the last alone */
    ATTEMPTS_REPLAYED   /* each but the last fails, and the job waits again */
};
extern const char *const attempts_names[]; /* of those after ATTEMPTS_AS_FORMAT; NULL-terminated */

/* The "workload" of a scenario, made by workload_read or by hand ({0} with trace and format is allowed). */
struct workload_spec {
    const char *trace;   /* path, relative to the scenario's folder; NULL: synth, model or a merge */
    const char *format;  /* one of trace_format_names; NULL: guessed from the header, else an error */
    const char *columns; /* path of a map of columns (workloads/readers/column_map.h); NULL: none */
    struct table_path tables[SIDE_FILES_MAX]; /* table_count of them, of distinct names */
    uint32_t table_count;
    const char *gpu_type;     /* whose run times are taken, where a trace has those of several; NULL: its format says */
    struct synth_spec *synth; /* NULL: not of classes */
    const struct load_model *model;    /* NULL: not drawn from a model */
    uint64_t model_jobs;               /* of a model: the jobs that end the stream; 0: model_until ends it */
    time_ns model_until;               /* of a model: the time that ends it; 0: model_jobs ends it */
    double model_rate;                 /* of a model: factor of all rates; 0: 1; not with load */
    const struct workload_part *parts; /* merged; part_count of them */
    uint32_t part_count;               /* 0: it is not a merge */
    double load;                       /* 0: as recorded; else the GPU load to which arrivals are scaled */
    uint32_t load_gpus;                /* the GPUs to which loads are relative; 0: those of the run's cluster */
    time_ns window_from, window_to;    /* in the trace's own time (dates: since 1970); both 0: everything */
    double duration_scale;             /* 1: as recorded */
    double processors_per_gpu;         /* SWF: default 1 */
    uint16_t gpus_per_node; /* how requests without a number of nodes are shaped; default 8; 0: members of one GPU */
    const struct model_word *models; /* model_count of them, in order; others keep their names */
    uint32_t model_count;
    struct service_plan service; /* of a trace of requests; interval 0: service_plan_default */
    /* The map that is meant by `columns`, read already; NULL: `columns` is its path. */
    const struct column_map *column_map;
    struct bad_line_listener bad_lines;
    enum attempts_kind attempts;
    bool has_no_failures; /* jobs whose recorded outcome is not `completed` are left out */
    struct scan_listener scan;
    struct reading_listener reading;
    bool tells_unread;        /* count what rows say and no job keeps, where that costs time */
    uint64_t held_max;        /* jobs that are kept in memory where they need not be; 0: 2^18 */
    bool is_scanned;          /* the trace is read once, for its facts: no job can be taken */
    uint64_t bad_lines_max;   /* unreadable lines that are skipped at most; default 0: the first is an error */
    struct zone zone;         /* of dates without one; if it is given it goes before that of a map of columns */
    time_ns default_duration; /* of jobs in a trace without any times; 0: such a trace is an error */
    /* load 0: jobs are submitted at the times of the trace; else see workloads/readers/fill.h: no load, window or
     * scale */
    struct fill_plan fill;
    struct sample_plan sample; /* not with frozen queues; rows.h has the order of these */
    struct tenants_plan tenants;
    struct growth_plan growth;
    struct loop_plan loop;   /* closed: all jobs are held in memory; not with `fill` */
    bool scales_durations;   /* a load is reached by run times; false: by arrivals */
    enum blocks_kind blocks; /* drawn before jobs are shaken; not with `fill` */
    struct shake_plan shake;
    struct job_defaults defaults;             /* of what jobs do not say themselves */
    struct communication_table communication; /* of jobs that declare none themselves */
    struct activity_table activity;           /* of the world that runs the jobs; the source does not use it */
    struct arena arena;                       /* owns the strings */
};

/* A workload that is merged with others (workloads/readers/merge_feed.h). */
struct workload_part {
    struct workload_spec spec; /* no merge, no filling, no tables */
    time_ns offset;            /* of its time 0 */
    const char *prefix;        /* before the names of its queues and users */
};

enum { WORKLOAD_PARTS_MAX = 16 };

#define LOAD_OF_CLUSTER "cluster" /* used in place of a number: loads are relative to the run's cluster */

/* Is only a part of the trace replayed? */
static inline bool workload_has_window(const struct workload_spec *spec)
{
    return spec->window_from != 0 || spec->window_to != 0;
}

/* Read the object.  base: the folder to which paths are relative.  Fails through the sticky error. */
void workload_read(struct workload_spec *spec, const struct json_value *value, const char *base);
void workload_release(struct workload_spec *spec);

extern const char *const trace_format_names[]; /* NULL-terminated (formats.c) */

#endif
