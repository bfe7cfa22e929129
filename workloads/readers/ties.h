/* workloads/readers/ties.h -- which jobs of a trace are joined by dependencies, directly or by way of others.
 *
 *   struct ties ties = {0};
 *   ties_add(&ties, place, &job);            each, in the order of the file
 *   ties_group(&ties, place)                 after the last: equal for jobs that are joined
 *   ties_release(&ties);
 *
 * Law: the group is named by the smallest place in it; a job without dependencies, on which none depends, is its own.
 *
 * Memory: 4 bytes a job from the first dependency on, and 8 more once ties_first is called; else nothing.  Cost: O(1)
 * on average (union-find; Tarjan, JACM 22, 1975).
 */
#ifndef WORKLOADS_READERS_TIES_H
#define WORKLOADS_READERS_TIES_H

#include "workloads/job.h"

struct ties {
    uint32_t *leader; /* by place: a smaller place of the same group, or its own */
    time_ns *first;   /* by group: what ties_first returns; TIME_NEVER: not asked yet */
    size_t count, capacity;
};

/* job->after names jobs by place, below this one or above it. */
void ties_add(struct ties *ties, uint32_t place, const struct job *job);
uint32_t ties_group(struct ties *ties, uint32_t place);

/* The time with which this was first called for a job of the group. */
time_ns ties_first(struct ties *ties, uint32_t group, time_ns time);
void ties_release(struct ties *ties);

#endif
