/* studies/run/alone.h -- jobs that would wait for ever, even alone on the whole cluster, by the policy's own rules.
 *
 *   alone_init(&alone, cluster, queues, &policy);
 *   alone_add(&alone, job);                     for each job
 *   ... alone.waiting, alone.text ...
 *
 * Law: each job that is counted was told to a new scheduler with nothing else, which decided nothing about it, and
 * asked for no other cycle or said that a limit or quota forbids it.  Jobs that no node could ever hold are not counted
 * (policies/census/fits.h does that). At most ALONE_KINDS_MAX kinds of job, by queue and request, are tried; others
 * count as starting.
 */
#ifndef STUDIES_RUN_ALONE_H
#define STUDIES_RUN_ALONE_H

#include "policies/explain.h"
#include "policies/policy_config.h"
#include "workloads/job.h"

enum { ALONE_KINDS_MAX = 256 };

struct alone_kind {
    uint64_t key;
    bool waits;
};

struct alone {
    const struct cluster *cluster;
    const struct queue_table *queues;
    const struct policy_config *policy;
    struct alone_kind kinds[ALONE_KINDS_MAX];
    uint32_t kind_count;
    uint64_t waiting;            /* jobs that would wait for ever */
    char first[64];              /* the name of the first of them */
    char text[EXPLAIN_TEXT_MAX]; /* why that one waits, and what must change */
};

/* All are borrowed. */
void alone_init(struct alone *alone, const struct cluster *cluster, const struct queue_table *queues,
                const struct policy_config *policy);
void alone_add(struct alone *alone, const struct job *job);

#endif
