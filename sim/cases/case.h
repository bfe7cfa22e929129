/* sim/cases/case.h -- hand-written scheduling situations: jobs that hold or request GPUs, and the expected result.
 *
 * docs/cases.md describes every field.  A case holds a small cluster, queues, jobs (waiting, running and leaving) and
 * expectations; it drives the scheduler of policies/sched.h cycle by cycle and compares.  There is no event queue and
 * no model of run times: jobs never end by themselves, decisions take effect between two cycles.
 *
 * Laws
 *  - Time is counted from CASE_NOW, the first cycle; the scheduler gets earlier facts (ages, run times) in the order
 *    of time.
 *  - A case that cannot exist (two tasks on one GPU, a task on an unknown node) is an error with its place in the file;
 *    the other cases of the file are run.
 *
 *   struct case_file file;
 *   TRY(case_file_read(&file, path));
 *   for (size_t i = 0; i < file.count; i++)
 *       has_passed = case_run(&file.cases[i], &what_differs, NULL);
 *   case_file_release(&file);
 */
#ifndef SIM_CASES_CASE_H
#define SIM_CASES_CASE_H

#include "base/buffer.h"
#include "base/json.h"
#include "policies/policy_config.h"
#include "policies/sched.h"
#include "sim/plugins/load.h"

/* The time of the first cycle since the scheduler's start, with room for earlier facts. */
#define CASE_NOW (CASE_PAST_DAYS_MAX * INT64_C(86400) * TIME_NS_PER_S)
enum { CASE_PAST_DAYS_MAX = 400 };

enum case_status { CASE_PENDING, CASE_RUNNING, CASE_RELEASING };
extern const char *const case_status_names[]; /* "pending", "running", "releasing", NULL */

/* The expected state of a job.  Numbers that are -1 and pointers that are NULL are not compared. */
struct case_expect {
    bool is_given;
    int status;                     /* enum case_status; -1 */
    int64_t running;                /* tasks */
    int64_t gpu_milli;              /* held by them */
    int64_t evicted;                /* tasks evicted in all rounds so far */
    int64_t reserved;               /* tasks with reserved space */
    bool any_evicted, any_reserved; /* the two numbers are flags: 0: none, 1: at least one */
    int reason;                     /* enum reason; -1 */
    const node_id *nodes;           /* exactly these */
    uint32_t node_count;
    const node_id *reserved_nodes; /* of its reserved space */
    uint32_t reserved_node_count;
    const uint32_t *evicted_tasks; /* exactly these, of the tasks that ran at first; ascending */
    uint32_t evicted_task_count;
    const uint16_t *gpu_masks; /* one for all its GPUs, or one for each of `nodes` */
    uint32_t gpu_mask_count;
};

struct case_job {
    const char *name;
    struct job job;              /* arrays in the case's arena */
    uint32_t min_members;        /* members that must run for the job to be running; sets have their own */
    const struct piece *pieces;  /* held at the first cycle, with one member each */
    const uint32_t *piece_tasks; /* by piece: the task's number in the text, from 0 */
    uint32_t piece_count;
    const char *const
        *task_names; /* by the task's number in the text; a `count` makes that many tasks; NULL: no names */
    uint32_t task_count;
    /* By group: members of one task, or 0 if another group counts the task.  A task that needs several MIG instances
     * has one member for each, and one group for each profile. */
    const uint32_t *task_members;
    time_ns started;      /* of the pieces */
    time_ns checkpointed; /* TIME_NEVER: never */
    bool is_leaving;      /* the pieces are leaving; the job ends when they have left */
    bool never_leaves;    /* the pieces go on leaving for ever */
    uint32_t part_of;     /* it is the leaving part of this job; CASE_NONE: it is a job of its own */
    struct case_expect expect;
};
#define CASE_NONE UINT32_MAX

struct case_spec {
    const char *name;     /* "case 3" if it has none */
    struct error error;   /* with its place: why the case cannot be run; the fields below are then not valid */
    struct error warning; /* the case can be run, but is probably wrong */
    struct policy_config policy;
    struct cluster *cluster;    /* owned */
    uint8_t *node_states;       /* enum node_state, by node_id */
    struct queue_table *queues; /* owned */
    struct case_job *jobs;      /* by job_id */
    uint32_t job_count;
    uint32_t rounds, stable_rounds;
    time_ns round; /* time between two cycles */
};

struct case_file {
    struct case_spec *cases;
    size_t count;
    struct json_doc *doc;   /* owner of the names */
    struct plugins plugins; /* plug-ins that the cases may use */
    struct arena arena;
};

/* Read one case or an array of them.  plugins: those that any case may use in addition to those that its policy names;
 * NULL: none.  A bad case holds its own error.  An error of the whole file is returned, and then nothing is kept
 * (ERROR_DATA: not JSON, or without a case). */
struct error case_file_read(struct case_file *file, const char *path, const struct plugin_options *plugins) MUST_CHECK;

/* As above, from a text.  name: for messages; listener: is told each question of the reader; NULL: none. */
struct error case_file_read_text(struct case_file *file, const char *name, struct text text,
                                 const struct plugin_options *plugins, const struct json_listener *listener) MUST_CHECK;
void case_file_release(struct case_file *file);

/* Run a case that has no error.  False: *differs tells the differences, without a line end.  log: gets a table of each
 * round's decisions and of what each job has then; NULL: none. */
bool case_run(const struct case_spec *spec, struct buffer *differs, struct buffer *log);

#endif
