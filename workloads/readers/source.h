/* workloads/readers/source.h -- jobs as a stream in the order of submission, wherever they come from.
 *
 * A source takes jobs from a feed (feed.h: a trace with its transformations, a mix of classes, a
 * model, a merge of sources), applies what holds
 * for jobs of any origin, and numbers them.  Its consumer sees one job at a time and needs no memory for the rest.
 *
 * Law: a trace is read once, or twice with the same bytes; submit times never decrease and start at 0 or later; ids are
 * 0, 1, 2, ...; what `job` points to is borrowed until the next call, but job->communication as long as the source
 * lives; the same spec and seed give the same stream.
 *
 *   struct job_source *source;
 *   TRY(job_source_open(&source, &spec, cluster, seed));
 *   TRY(job_source_next(source, &job, &truth, &has));
 */
#ifndef WORKLOADS_READERS_SOURCE_H
#define WORKLOADS_READERS_SOURCE_H

#include "base/error.h"
#include "base/json.h"
#include "base/names.h"
#include "topologies/cluster.h"
#include "workloads/activity/activity_table.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"
#include "workloads/readers/blocks.h"
#include "workloads/readers/communication_table.h"
#include "workloads/readers/fill.h"
#include "workloads/readers/growth.h"
#include "workloads/readers/reason_tally.h"
#include "workloads/readers/sample.h"
#include "workloads/readers/service_load.h"
#include "workloads/readers/shake.h"
#include "workloads/readers/side_files.h"
#include "workloads/readers/tenants.h"
#include "workloads/readers/user_loop.h"

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

/* Of a trace of requests. */
struct request_counts {
    uint64_t count, prompt_tokens, output_tokens;
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
    double model_rate;                 /* of a model: factor of all rates; 0: 1; not with load or gpu_h_per_day */
    const struct workload_part *parts; /* merged; part_count of them */
    uint32_t part_count;               /* 0: it is not a merge */
    double load;                       /* 0: as recorded; else the GPU load to which arrivals are scaled */
    double gpu_h_per_day; /* 0: as recorded; else the GPU hours per day to which arrivals are scaled; not with load */
    uint32_t load_gpus;   /* the GPUs to which loads are relative; 0: those of the run's cluster */
    time_ns window_from, window_to; /* in the trace's own time (dates: since 1970); both 0: everything */
    double duration_scale;          /* 1: as recorded */
    double processors_per_gpu;      /* SWF: default 1 */
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
    bool is_scanned;          /* the trace is read once, for its facts: no job can be taken */
    uint64_t bad_lines_max;   /* unreadable lines that are skipped at most; default 0: the first is an error */
    time_ns tz_offset;        /* of dates without a zone, to be subtracted; default 0 (UTC) */
    bool has_tz;              /* tz_offset was given, perhaps as 0: it goes before that of a map of columns */
    time_ns default_duration; /* of jobs in a trace without any times; 0: such a trace is an error */
    /* load 0: jobs are submitted at the times of the trace; else see workloads/readers/fill.h: no load, window or
     * scale */
    struct fill_plan fill;
    struct sample_plan sample; /* not with frozen queues; rows.h has the order of these */
    struct tenants_plan tenants;
    struct growth_plan growth;
    struct loop_plan loop;                    /* closed: all jobs are held in memory; not with `fill` */
    bool scales_durations;                    /* a load is reached by run times; false: by arrivals */
    enum blocks_kind blocks;                  /* drawn before jobs are shaken; not with `fill` */
    struct shake_plan shake;                  /* not with `fill` */
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

/* Read the object.  base: the folder to which paths are relative.  Fails through the sticky error. */
void workload_read(struct workload_spec *spec, const struct json_value *value, const char *base);
void workload_release(struct workload_spec *spec);

extern const char *const trace_format_names[]; /* NULL-terminated (formats.c) */

/* Found while opening and reading; complete when the stream has ended. */
struct workload_facts {
    uint64_t job_count; /* of the blocks that are drawn */
    uint64_t bad_line_count;
    struct request_counts requests;    /* count 0: it is a trace of jobs */
    struct reason_tally skipped;       /* of rows that are no jobs or never ran, e.g. SWF run time -1 */
    time_ns first_submit, last_submit; /* in the trace's own time, before scaling */
    time_ns origin;                    /* of a trace: its own time that becomes 0 */
    /* sum of duration x GPUs that jobs ask for, after duration_scale and before a load is reached; of the blocks that
     * are drawn */
    double gpu_s;
    double load_recorded;   /* gpu_s / (span x cluster GPUs); 0 if the span is 0 */
    double arrival_factor;  /* factor of the gaps between arrivals; 1 if not scaled; made for the trace as recorded */
    double duration_factor; /* factor of run times by which a load is reached; 1 if not scaled so */
    uint32_t load_gpus;     /* the GPUs to which loads are relative; 0: no load is */
    /* GPU hours that the jobs ask for per day, after scaling; drawn jobs: the intended mean; 0: not known, or the jobs
     * fill the cluster */
    double gpu_h_per_day;
    bool is_filling; /* of jobs that fill the cluster, and that end together */
    /* What jobs follow, by job id, for as long as the source lives; NULL: the loop is open.  In a closed loop, what a
     * job points to lives as long. */
    const struct loop_link *loop;
    char digest[33];                /* of the trace file as it was read; "" for synth */
    const struct side_files *sides; /* what was read beside it; lives as long as the source */
    const char *format;
    /* Of the jobs given so far, those that declare what they exchange: themselves, and by row of the table; the rows
     * live as long as the source. */
    uint64_t declared_count;
    const uint64_t *declared_by_row;
    uint32_t declared_row_count; /* 0: there is no table */
};

struct job_source;

enum { WORKLOAD_CLASSES_MAX = 64 }; /* names of struct job_truth.workload_class */

/* Open the source.  The cluster gives GPU models, and the capacity for `load`.  A trace is read
 * once in advance, and a long one that is sorted is read again as a stream; a long one that is not sorted needs space
 * for a temporary file (workloads/readers/spill.h), and is read again only if its first HELD_MAX jobs are sorted. */
struct error job_source_open(struct job_source **out, const struct workload_spec *spec, const struct cluster *cluster,
                             uint64_t seed) MUST_CHECK;

/* As above with queues that exist already: jobs that name them belong to them, other queues are added.  The source owns
 * the table from then on, also after an error. */
struct error job_source_open_with(struct job_source **out, const struct workload_spec *spec,
                                  const struct cluster *cluster, uint64_t seed, struct queue_table *queues) MUST_CHECK;

/* Jobs made by the caller, for tests and other generators.  `next` is called for each job (an error ends the stream),
 * and obeys the law above, except for ids, which are assigned here. */
typedef struct error job_source_next_fn(void *self, struct job *job, struct job_truth *truth, bool *has);
struct job_source *job_source_custom(job_source_next_fn *next, void *self);

/* The next job; *has false at the end.  job->queue is an id of job_source_queues, which may have grown. */
struct error job_source_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has) MUST_CHECK;

/* Was a trace that is read twice the same both times?  If not all of its jobs were taken, this reads the rest of the
 * file, and no job can be taken afterwards.  A trace that changed is ERROR_DATA, here and from job_source_next. */
struct error job_source_check(struct job_source *source) MUST_CHECK;

/* Show some of the jobs before the first one is taken: of a trace those among its first 100,000 rows that are in the
 * window (all, in any order, if it is held in memory); of a synthesized workload or a model its first 4,000.  The
 * stream is unchanged.  A custom source shows none. */
typedef void job_source_seen_fn(void *self, const struct job *job);
struct error job_source_preview(struct job_source *source, job_source_seen_fn *seen, void *self) MUST_CHECK;

/* Owned by the source; the caller may fill in quotas before the first job is taken. */
struct queue_table *job_source_queues(struct job_source *source);
const struct queue_table *job_source_queue_table(const struct job_source *source);
const struct names *job_source_users(const struct job_source *source);
const struct names *job_source_tags(const struct job_source *source);

/* The most jobs that a preview shows; 0: the rule for traces holds. */
uint32_t job_source_preview_max(const struct job_source *source);

/* From now on, hash the arrivals (workloads/readers/freeze.h): every job that is taken. */
void job_source_keep_arrivals(struct job_source *source);
uint64_t job_source_arrivals(const struct job_source *source);
const struct names *job_source_classes(const struct job_source *source); /* WORKLOAD_CLASSES_MAX at most */
const struct workload_facts *job_source_facts(const struct job_source *source);

/* The source of a part of a merge; NULL: there is none. */
const struct job_source *job_source_part(const struct job_source *source, uint32_t part);
void job_source_close(struct job_source *source); /* NULL is allowed */

#endif
