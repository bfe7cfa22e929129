/* workloads/job_text.h -- the text of a job: one table of its fields, from which every format reads and writes them.
 *
 * A row makes a column of native CSV, a member of JSON lines and of frozen traces, a field of column maps and of the
 * scheduler's lines (policies/wire/), a member of a case's job where it says so, a part of the arrivals' hash, and the
 * entry in the tables of workloads/README.md and docs/decide.md.  Adding a column is adding a row.
 *
 *   ROW(id, "key", FORM, place in the struct, low, high, usual, names, where, "jobs lose ...", "what it is", "default")
 *
 * id        of enum native_field (workloads/readers/native_row.h), as NATIVE_ and the id
 * key       without the unit: a time is "limit_s" in traces and cases, and "limit_ns" on the wire
 * FORM      INT, MILLI (thousandths, as a decimal), BOOL, NAME (the index of one of `names`), TIME (0 or more), or
 *           PATIENCE: a time or "never"
 * low, high bounds of the value in the struct, where the form does not give them
 * usual     the value of a job that does not say it; a text without the field means it
 * where     bits of enum job_text_where
 * jobs lose what `trace convert` tells where a format cannot say it
 *
 * The kinds of rows, in the order of a native file's columns:
 *   JOB    a field of struct job that every format has
 *   WIRE   a field of struct job that no trace has in this form
 *   TRUTH  a field of struct job_truth, which policies must not know: their part of the table leaves it out
 *   OWN    what takes code: names of queues, requests, ties to other jobs.  It is read by native_row.c and written by
 *          job_columns.c: OWN(id, "column", kind, is it required?, where, "jobs lose ...", "what it is", "default")
 *
 * Laws
 *  - A field survives every format, or its loss is told.  tests/property/test_job_text.c sets each row to other values
 *    than its usual one and carries it from CSV by way of JSON lines, a frozen trace, the wire and a case.
 *    `preemption_delay_s` was once lost without a word, and missing in the hash of arrivals.
 *  - The tables of the docs hold each row as it stands here (tests/unit/test_job_columns.c).
 */
#ifndef WORKLOADS_JOB_TEXT_H
#define WORKLOADS_JOB_TEXT_H

#include "base/member.h"
#include "workloads/job.h"

enum job_text_form { TEXT_INT, TEXT_MILLI, TEXT_BOOL, TEXT_NAME, TEXT_TIME, TEXT_PATIENCE };

enum job_text_where {
    TEXT_CASE = 1,   /* a job of a case has it, too */
    TEXT_PRINT = 2,  /* a value that is not the usual one changes the hash of arrivals; the others are in it by hand, or
                        are no part of what arrives */
    TEXT_ALWAYS = 4, /* traces are written with it even where it is the usual one */
    TEXT_SWF = 8,    /* SWF keeps it */
    TEXT_UNTOLD = 16 /* no source of jobs sets it: it comes with a live cluster or a case alone */
};

/* clang-format off */
#define JOB_TEXT(JOB, WIRE, TRUTH, OWN) \
    OWN(JOB_ID, "job_id", FIELD_NUMBER_OR_TEXT, true, TEXT_SWF, "jobs lose their id: they are numbered", \
        "a number, or any text", "required") \
    OWN(SUBMIT, "submit_s", FIELD_NUMBER, true, TEXT_SWF, NULL, "seconds, 0 or more", "required") \
    OWN(DURATION, "duration_s", FIELD_NUMBER, true, TEXT_SWF, NULL, \
        "run time in seconds on the requested resources, well placed and alone; 0 or more", "required") \
    OWN(GPUS, "gpus", FIELD_NUMBER, true, TEXT_SWF, NULL, \
        "whole GPUs of all members; 0 for jobs with only CPUs and memory", "required") \
    OWN(NODES, "nodes", FIELD_NUMBER, false, 0, "jobs lose how their GPUs lie on nodes", \
        "the number of members, each with `gpus / nodes` GPUs of one node; must divide `gpus`", \
        "members of 1 GPU on any nodes") \
    OWN(GPU_FRACTION, "gpu_fraction", FIELD_NUMBER, false, 0, \
        "jobs on a part of a GPU become jobs on a whole one", \
        "a share of one GPU, 0.001 to 1 (1 is a whole one); excludes `gpus` above 1", "") \
    OWN(GPU_MEMORY, "gpu_memory_gb", FIELD_NUMBER, false, 0, \
        "jobs on memory of a GPU become jobs on a whole one", "memory on one GPU; excludes `gpus` above 1", "") \
    OWN(MIG, "mig_profile", FIELD_TEXT, false, 0, "jobs on a MIG instance become jobs on a whole GPU", \
        "a MIG profile, such as `1g.10gb`; excludes `gpus` above 1", "") \
    OWN(GPU_CLASS, "gpu_class", FIELD_TEXT, false, 0, NULL, \
        "a GPU class of the cluster (topologies/README.md), of which it asks for `gpus`; see below", "") \
    OWN(CPUS, "cpus", FIELD_NUMBER, false, 0, "jobs lose their CPUs", \
        "of the whole job, split evenly over its members, rounded up", "0") \
    OWN(MEMORY, "memory_gb", FIELD_NUMBER, false, 0, "jobs lose their memory", "as `cpus`; 1 GB is 1024 MiB", \
        "0") \
    OWN(MIN_MEMBERS, "min_members", FIELD_NUMBER, false, 0, "jobs lose their minimum of members", \
        "members that must run together; with n of N members the job has n/N of its speed", "all") \
    OWN(GPU_MODEL, "gpu_model", FIELD_TEXT, false, 0, "jobs lose the GPU models that they accept", \
        "accepted models, `A\\|B`", "any") \
    OWN(QUEUE, "queue", FIELD_TEXT, false, TEXT_SWF, "jobs lose the name of their queue: it is numbered", \
        "a name. If the scenario declares queues, each must be one of them, and some job must name one", \
        "`default`") \
    OWN(USER, "user", FIELD_TEXT, false, TEXT_SWF, "jobs lose the name of their user: it is numbered", "a name", \
        "unknown") \
    WIRE(USER_NUMBER, "user", INT, user, 0, NAMES_NONE, NAMES_NONE, NULL, 0, NULL, \
         "a number; equal numbers are the same user", "unknown") \
    JOB(CLASS, "class", NAME, class, 0, INT16_MAX, JOB_TRAINING, job_class_names, TEXT_CASE | TEXT_ALWAYS, \
        "jobs lose their class", "`training`, `interactive`, `inference`", "`training`") \
    OWN(WORKLOAD_CLASS, "workload_class", FIELD_TEXT, false, 0, \
        "jobs lose the workload's own name of their class", \
        "the workload's own name for this kind of job, such as `small training`; reports have a row for " \
        "each. At most 64 names", "the class") \
    JOB(PRIORITY, "priority", INT, priority, INT32_MIN, INT32_MAX, 50, NULL, TEXT_CASE | TEXT_ALWAYS, \
        "jobs lose their priority", "larger goes first", "50") \
    JOB(PREEMPTIBLE, "preemptible", BOOL, is_preemptible, 0, 1, true, NULL, TEXT_ALWAYS, \
        "jobs lose that they are not preemptible", "`true` or `false`", \
        "true; in a trace, unless the policy tells by the priority (`preemption.firm_priority`: under `kai` " \
        "from 100 on it is false)") \
    WIRE(HELD, "held", BOOL, is_held, 0, 1, false, NULL, TEXT_UNTOLD, NULL, "it waits for `job_released`", "false") \
    WIRE(ARRAY_NUMBER, "array", INT, array, 0, INT32_MAX, 0, NULL, 0, NULL, \
         "number of the array that it belongs to", "0: none") \
    WIRE(ARRAY_MOST, "array_max", INT, array_max, 0, UINT32_MAX, 0, NULL, 0, NULL, \
         "how many elements of its array may run at once", "0: all") \
    WIRE(SUBMITTED, "submit", TIME, submit, 0, TIME_NS_MAX, 0, NULL, 0, NULL, "submission", "0") \
    JOB(LIMIT, "limit", TIME, limit, 1, TIME_NS_MAX, TIME_NEVER, NULL, TEXT_CASE | TEXT_SWF, NULL, \
        "declared limit, above 0", "none") \
    JOB(ESTIMATE, "estimate", TIME, estimate, 0, TIME_NS_MAX, TIME_NEVER, NULL, TEXT_CASE, \
        "jobs lose their estimate", "declared run time on all members, for policies that use it", "none") \
    JOB(DEADLINE, "deadline", TIME, deadline, 0, TIME_NS_MAX, TIME_NEVER, NULL, 0, "jobs lose their deadline", \
        "the time by which it should end, on the clock of its submission and later than that; its distance " \
        "from the submission stays the same when `load` moves arrivals", "none") \
    TRUTH(OUTCOME, "outcome", NAME, outcome, 0, INT16_MAX, OUTCOME_COMPLETED, job_outcome_names, \
          TEXT_ALWAYS | TEXT_SWF, NULL, "`completed`, `failed`, `cancelled`: how it ends after `duration_s`", \
          "`completed`") \
    TRUTH(WAIT, "wait", TIME, recorded_wait, 0, TIME_NS_MAX, TIME_NEVER, NULL, TEXT_SWF, NULL, \
          "how long it waited where the trace was recorded, from its submission to its first start; it does " \
          "not change the run", "not known") \
    TRUTH(SM_ACTIVE, "sm_active", MILLI, sm_active_milli, 0, GPU_MILLI, SM_ACTIVE_UNKNOWN, NULL, 0, \
          "jobs lose their SM activity", \
          "mean SM activity of each of its GPUs if it had them whole and alone, 0 to 1, whatever piece it requests " \
          "(docs/activity.md)", \
          "not known: the report leaves SM activity out") \
    TRUTH(MEMORY_BANDWIDTH, "memory_bandwidth", MILLI, bandwidth_milli, 0, GPU_MILLI, 0, NULL, 0, \
          "jobs lose their memory bandwidth", \
          "mean part of the memory bandwidth of one GPU that a member uses when it has the whole GPU alone, " \
          "0 to 1, whatever piece it requests (docs/activity.md)", "0: it never waits for memory") \
    TRUTH(WOULD_DO, "would_do", MILLI, would_do_milli, 1, GPU_MILLI, GPU_MILLI, NULL, 0, \
          "jobs lose the GPU share that would do", \
          "part of each requested GPU that would suffice, above 0 to 1; if `sm_active` is not known, the " \
          "part of its SMs that it uses beside others (docs/activity.md)", "1") \
    JOB(CHECKPOINT_INTERVAL, "checkpoint_interval", TIME, checkpoint.interval, 0, TIME_NS_MAX, 0, NULL, 0, \
        "jobs lose how often they write checkpoints", "work from one checkpoint that it writes to the next", \
        "0: it writes none") \
    JOB(CHECKPOINT_DURATION, "checkpoint_duration", TIME, checkpoint.duration, 0, TIME_NS_MAX, 0, NULL, 0, \
        "jobs lose how long they write a checkpoint", "how long it writes a checkpoint", "0") \
    JOB(RESTART, "restart", TIME, checkpoint.restart, 0, TIME_NS_MAX, 0, NULL, 0, \
        "jobs lose how long they take to restart", "how long it takes to go on after an eviction", "0") \
    WIRE(GRACE, "grace", TIME, grace, 0, TIME_NS_MAX, 0, NULL, TEXT_CASE | TEXT_UNTOLD, NULL, \
         "the grace that it requests when it is evicted; the policy's is the upper bound", "0: the policy's") \
    OWN(FAILED, "failed_attempts_s", FIELD_NUMBER_OR_TEXT, false, 0, "jobs lose their attempts that failed", \
        "run times of its attempts before the last, which failed, between semicolons: `60;30.5`; not beside " \
        "`checkpoint_interval_s`", "none") \
    OWN(AFTER, "after", FIELD_NUMBER_OR_TEXT, false, 0, "jobs lose the jobs on which they depend", \
        "jobs that must have ended before it may start, by `job_id`, joined by `;`: `17` any end, `ok:17` " \
        "completed, `not_ok:17` failed, cancelled or killed; at most 64", "none") \
    OWN(ARRAY, "array", FIELD_NUMBER_OR_TEXT, false, 0, "jobs lose the array to which they belong", \
        "its array", "none") \
    OWN(ARRAY_MAX, "array_max", FIELD_NUMBER, false, 0, "jobs lose how many of their array may run at once", \
        "how many elements of its array may run at once", "0: all") \
    OWN(NODE_SELECTOR, "node_selector", FIELD_TEXT, false, 0, "jobs lose the labels of nodes that they need", \
        "labels that a node must have, `zone=a;disk=ssd`", "any") \
    OWN(TOLERATIONS, "tolerations", FIELD_TEXT, false, 0, "jobs lose the taints of nodes that they tolerate", \
        "taints that it tolerates, joined by `;`: `key=value:Effect`, `key:Effect` (any value), `key` (any " \
        "value and effect), `*` (all)", "none") \
    JOB(PREEMPTION_DELAY, "preemption_delay", TIME, preemption_delay, JOB_AS_QUEUE, TIME_NS_MAX, JOB_AS_QUEUE, \
        NULL, TEXT_CASE | TEXT_PRINT, "jobs lose how long they wait before they preempt", \
        "how long it waits, from its submission or its last eviction, before other jobs are evicted for it", \
        "as its queue, then the policy (`preemption.delay_s`)") \
    JOB(STALE_AFTER, "stale_after", PATIENCE, stale_after, JOB_AS_QUEUE, TIME_NEVER, JOB_AS_QUEUE, NULL, \
        TEXT_CASE | TEXT_PRINT, "jobs lose how long they may be below their minimum", \
        "how long it may be below its minimum before it loses the rest, or for ever (`never`)", \
        "as its queue, then the policy (`gang.stale_after_s`)") \
    WIRE(ATTAINED, "attained_gpu", TIME, attained_gpu_ns, 0, INT64_MAX, 0, NULL, TEXT_UNTOLD, NULL, \
         "GPU time it had before", "0") \
    WIRE(MIN_SETS, "min_sets", INT, min_sets, 1, JOB_PARTS_MAX, 0, NULL, 0, NULL, \
         "how many of the sets that are in no other (or of the groups) must have their minimum", "all") \
    OWN(SENSITIVITY, "sensitivity", FIELD_TEXT, false, 0, "jobs lose their sensitivity to the network", \
        "how much its speed depends on the network: `none`, `compute_bound`, `all_reduce_bound`, `skewed`, " \
        "`bandwidth_bound`; see \"Communication\"", \
        "as `workload.communication` says; else it declares nothing")
/* clang-format on */

/* The key with its unit: in traces and cases, and on the wire. */
#define JOB_KEY_INT(key)      key
#define JOB_KEY_MILLI(key)    key
#define JOB_KEY_BOOL(key)     key
#define JOB_KEY_NAME(key)     key
#define JOB_KEY_TIME(key)     key "_s"
#define JOB_KEY_PATIENCE(key) key "_s"

/* A row of a field that is a number in its struct. */
struct job_text {
    const char *key; /* with its unit */
    struct member at;
    uint8_t form;  /* enum job_text_form */
    uint8_t where; /* bits of enum job_text_where */
    bool is_truth; /* of struct job_truth, else of struct job */
    int64_t low, high, usual;
    const char *const *names; /* TEXT_NAME: NULL-terminated */
};

#define JOB_TEXT_ROW(type, has_truth, ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, ...)                       \
    {                                                                                                                  \
        .key = JOB_KEY_##FORM(KEY), .at = MEMBER(type, PLACE), .form = TEXT_##FORM, .where = (WHERE),                  \
        .is_truth = (has_truth), .low = (LOW), .high = (HIGH), .usual = (USUAL), .names = (NAMES)                      \
    }

#define JOB_TEXT_NONE(...)

#endif
