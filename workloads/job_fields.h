/* workloads/job_fields.h -- the fields of a job that only some policies read, a bit each.
 *
 * A policy declares which of them it reads (policies/quota/quota.h, policies/order/order.h), and
 * policies/config/reads.h tells the user which of those that are set nothing reads.  Fields that hold under every
 * policy are not among them: what a job asks for, where it may run, its time limit, dependencies, minimum and array;
 * nor are labels that records and reports show, as its class and user.
 */
#ifndef WORKLOADS_JOB_FIELDS_H
#define WORKLOADS_JOB_FIELDS_H

#include "workloads/job.h"

enum job_field {
    JOB_FIELD_PRIORITY,
    JOB_FIELD_PREEMPTIBLE,
    JOB_FIELD_ESTIMATE,
    JOB_FIELD_DEADLINE,
    JOB_FIELD_CHECKPOINT,
    JOB_FIELD_PREEMPTION_DELAY,
    JOB_FIELD_STALE_AFTER,
    JOB_FIELD_COUNT
};

/* Bits behind those of the fields: what else a workload may leave out (studies/run/assumptions.h), and what has
 * several members. */
enum job_telling {
    JOB_TELLS_LIMIT = JOB_FIELD_COUNT,
    JOB_TELLS_CLASS, /* some job is not of the class that a job has which says none */
    JOB_TELLS_MODEL, /* some job accepts only some GPU models */
    JOB_TELLS_EXCHANGE,
    JOB_TELLS_MEMBERS /* some job has several */
};

#define JOB_READS(field) (UINT32_C(1) << (field))

/* By enum job_field, as a trace names it: "priority", ... */
extern const char *const job_field_names[];

/* What the jobs seen so far set.  {0}: none was seen. */
struct job_fields {
    uint32_t set; /* JOB_READS of fields and tellings; a priority is set if it differs between jobs */
    bool has_any;
    int32_t priority; /* of the first */
};

void job_fields_add(struct job_fields *fields, const struct job *job);

#endif
