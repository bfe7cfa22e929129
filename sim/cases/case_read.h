/* sim/cases/case_read.h -- shared by the readers of a case: sim/cases/case_file.c (the file and a case),
 * sim/cases/case_policy.c, sim/cases/case_nodes.c, sim/cases/case_queues.c, sim/cases/case_jobs.c (declarations),
 * sim/cases/case_tasks.c (what runs where), sim/cases/case_claim.c (GPU classes and claims), sim/cases/case_mig.c (MIG
 * instances) and sim/cases/case_expect.c.
 *
 * Law: everything fails through the case's sticky error, at the place in the file.
 */
#ifndef SIM_CASES_CASE_READ_H
#define SIM_CASES_CASE_READ_H

#include "base/names.h"
#include "sim/cases/case.h"

enum { CASE_MILLI = 1000, CASE_MIB_PER_GB = 1024, CASE_TASKS_MAX = 100000 };

/* The space of a node that is taken before the first cycle. */
struct case_room {
    uint16_t gpu_milli[NODE_GPUS_MAX];
    uint8_t mig_mask[NODE_GPUS_MAX];   /* memory slices taken */
    const char *holder[NODE_GPUS_MAX]; /* a job that is on the GPU */
    uint64_t cpu_milli, memory_mib;
    uint32_t tasks;
};

struct case_reading {
    struct case_spec *spec;
    struct arena *arena;
    struct error *error;
    const char *path;        /* of the file */
    struct case_room *rooms; /* by node_id */
    struct plugins *plugins; /* of the file */
    struct names *users;
    struct names *tags;
    struct names *job_names; /* by id: the job's place in the text */
    uint32_t *job_ids;       /* by place in the text: the job's id */
};

enum case_task_state { TASK_PENDING, TASK_RUNNING, TASK_RELEASING, TASK_SUCCEEDED };

/* A line of "tasks": equal members.  A task is one member, or one for each MIG instance that it needs.  A task that
 * needs instances of several profiles becomes one line per profile, all in one set. */
struct case_task {
    const struct json_value *value; /* in the arena */
    struct request request;
    uint16_t set; /* index into the draft's sets; SET_NONE */
    uint8_t state;
    bool never_leaves;   /* if it is releasing: for ever */
    const char *name;    /* NULL: none */
    uint8_t slice_level; /* as in struct job_group */
    uint32_t slice_members;
    uint32_t count;                        /* members */
    uint32_t instances;                    /* members of one task; not 0 */
    uint32_t number;                       /* of its first task in the job, from 0 */
    bool is_more;                          /* it belongs to the same task as the line before */
    uint8_t mig_counts[MIG_PROFILE_COUNT]; /* instances of one task, by profile, if it needs several */
    node_id node;                          /* NODE_NONE while it waits */
    int mig_start;                         /* -1: not given */
    uint16_t gpu_index[NODE_GPUS_MAX];
    uint32_t gpu_index_count;
    time_ns running_for;
    struct piece *pieces; /* with one member each; filled by case_tasks_place */
};

/* A job as the text declares it. */
struct case_draft {
    const struct json_value *value;
    struct job job; /* without groups, minimum and sets */
    const char *name;
    struct job_set *sets;
    uint32_t set_count;
    bool *set_has_min;
    bool has_own_sets;   /* sim/cases/case_mig.c: the arrays have room for JOB_SETS_MAX */
    int64_t min_members; /* -1: not given */
    struct case_task *tasks;
    size_t task_capacity;
    uint32_t task_count;    /* lines */
    time_ns checkpoint_age; /* -1: not given */
};

/* Tasks that begin in this line. */
static inline uint32_t case_task_starts(const struct case_task *task)
{
    return task->is_more ? 0 : task->count / task->instances;
}

static inline bool case_failed(const struct case_reading *reading)
{
    return error_is(*reading->error);
}

/* A member of the object that lives as long as the arena.  Its key counts as known. */
const struct json_value *case_member(struct case_reading *reading, struct json_object *object,
                                     const struct json_value *parent, const char *key);
const struct json_value *case_item(struct case_reading *reading, const struct json_value *array, size_t index);

/* Seconds, or a text with a unit; at most CASE_PAST_DAYS_MAX. */
time_ns case_duration(struct json_object *object, const char *key, time_ns otherwise);
uint32_t case_memory_mib(struct json_object *object, const char *key, double gb_max, uint32_t otherwise);

/* The node's id; NODE_NONE after an error at `value`. */
node_id case_node_of(struct case_reading *reading, const struct json_value *value);

/* {"required": LEVEL, "preferred": LEVEL} */
struct topology_ask case_topology_read(struct case_reading *reading, struct json_object *object);

void case_policy_read(struct case_reading *reading, const struct json_value *value);
void case_nodes_read(struct case_reading *reading, const struct json_value *array, const struct json_value *levels);
void case_queues_read(struct case_reading *reading, const struct json_value *array);
void case_jobs_read(struct case_reading *reading, const struct json_value *array);
void case_expect_read(struct case_reading *reading, const struct json_value *value);

/* "gpu_class" of a task, together with the request so far and a "gpu_fraction" of `milli` thousandths. */
void case_class_read(struct case_reading *reading, struct json_object *object, int64_t milli, struct request *request);
/* "claim" of a task whose count, CPUs and memory are already read; the count becomes that of its members. */
void case_claim_read(struct case_reading *reading, struct json_object *object, struct case_task *task);

/* "mig" of a task: the name of a profile, or an object of profiles and how many instances of each it needs. */
void case_mig_read(struct case_reading *reading, struct json_object *object, struct case_task *task);
/* Turn a task that needs several instances into members.  Called after the rest of the line, except for its place, is
 * read.  Instances of one profile become members in slices of the level "node". */
void case_mig_members(struct case_reading *reading, struct json_object *object, struct case_task *task);
/* Add the line of the task, which may become several lines. */
void case_mig_add_lines(struct case_reading *reading, struct case_draft *draft, const struct case_task *task);
/* The minimum of a job with such tasks, in members: they start together, so all of the job does. */
void case_mig_minimum(struct case_draft *draft);

/* The lines of "tasks" of one job. */
void case_tasks_read(struct case_reading *reading, struct case_draft *draft, const struct json_value *array);
/* Place all tasks that run or leave: first those that name their GPUs, then the others, in the order of the text. */
void case_tasks_place(struct case_reading *reading, struct case_draft *drafts, uint32_t count);

#endif
