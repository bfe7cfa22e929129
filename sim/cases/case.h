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

/* The time of the first cycle, counted from the scheduler's start: leaves room for earlier facts. */
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
    int64_t evicted;                /* tasks, in all rounds so far */
    int64_t reserved;               /* tasks that have space promised */
    bool any_evicted, any_reserved; /* the two numbers mean: 0, or more than 0 */
    int reason;                     /* enum reason; -1 */
    const node_id *nodes;           /* exactly these */
    uint32_t node_count;
    const node_id *reserved_nodes; /* of what is promised to it */
    uint32_t reserved_node_count;
    const uint32_t *evicted_tasks; /* exactly these, of those that ran at first; ascending */
    uint32_t evicted_task_count;
    const uint16_t *gpu_masks; /* one for all its GPUs, or one for each of `nodes` */
    uint32_t gpu_mask_count;
};

struct case_job {
    const char *name;
    struct job job;              /* arrays in the case's arena */
    uint32_t min_members;        /* to be running: of the whole job; the sets have their own */
    const struct piece *pieces;  /* held at the first cycle, of one member each */
    const uint32_t *piece_tasks; /* by piece: which task of the text it is, counted from 0 */
    uint32_t piece_count;
    const char *const *task_names; /* by task of the text, those of a `count` each; NULL: none */
    uint32_t task_count;
    /* By group: members that one task is, and 0 of a group whose members another group counts: a task that needs
     * several MIG instances is a member for each, in a group for each profile. */
    const uint32_t *task_members;
    time_ns started;      /* of the pieces */
    time_ns checkpointed; /* TIME_NEVER: never */
    bool is_leaving;      /* the pieces are on their way out; when they are gone so is the job */
    bool never_leaves;    /* they stay on their way out for ever */
    uint32_t part_of;     /* the leaving part of another job: its index; CASE_NONE: a job of its own */
    struct case_expect expect;
};
#define CASE_NONE UINT32_MAX

struct case_spec {
    const char *name;     /* "case 3" if it has none */
    struct error error;   /* why it cannot be run, with its place; then nothing below can be used */
    struct error warning; /* it can be run, but probably does not say what it means */
    struct policy_config policy;
    struct cluster *cluster;    /* owned */
    uint8_t *node_states;       /* enum node_state, by node_id */
    struct queue_table *queues; /* owned */
    struct case_job *jobs;      /* by job_id */
    uint32_t job_count;
    uint32_t rounds, stable_rounds;
    time_ns round; /* from a cycle to the next */
};

struct case_file {
    struct case_spec *cases;
    size_t count;
    struct json_doc *doc;   /* names are borrowed from it */
    struct plugins plugins; /* whose policies the cases may use */
    struct arena arena;
};

/* Read one case or an array of them.  plugins: what any case may use beside the plug-ins that its policy names; NULL:
 * none. A bad case holds its own error.  An error of the whole file (ERROR_DATA: no JSON, no case in it) is returned;
 * then nothing is kept. */
struct error case_file_read(struct case_file *file, const char *path, const struct plugin_options *plugins) MUST_CHECK;
void case_file_release(struct case_file *file);

/* Run one that has no error.  False: *differs says what is not as expected, without a line's end.  log: a table of
 * every round's decisions and of what each job has then; NULL: none. */
bool case_run(const struct case_spec *spec, struct buffer *differs, struct buffer *log);

#endif
