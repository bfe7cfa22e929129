/* workloads/readers/known_queues.h -- jobs may be only in the queues that the scenario declares.
 *
 * Law: if a scenario declares queues, each job that names a queue names one of them, unless the workload brings queues
 * of its own (tenants of a synthesized workload, frozen traces).  Another name is an error that lists the queues there
 * are, and so is a trace, a stream or a class of which no job names a queue.  If only some jobs of a trace name none,
 * they are in the queue "default", and their number is told.  Without declared queues each name makes a queue.
 * tests/cli/queue_names.sh checks every kind of workload.  Once, jobs of a misspelt queue got a queue without a quota,
 * and waited for ever without a word.
 */
#ifndef WORKLOADS_READERS_KNOWN_QUEUES_H
#define WORKLOADS_READERS_KNOWN_QUEUES_H

#include "base/error.h"
#include "topologies/queue_table.h"

/* Is the queue declared, or is none?  queues: the source's. */
static inline bool known_queues_have(const struct queue_table *queues, queue_id queue)
{
    return queues->declared_count == 0 || queue < queues->declared_count;
}

/* Is it the queue of jobs that name none? */
bool known_queues_is_default(const struct queue_table *queues, queue_id queue);

/* The error that `who`, such as "job '40'" or "the class 'training'", is in a queue that is not declared.  path NULL:
 * it has no place in a file; line 0: not known. */
struct error known_queues_error(const struct queue_table *queues, queue_id queue, const char *who, const char *path,
                                uint64_t line) MUST_CHECK;

/* As above for a job that is in such a queue. */
struct job;
struct error known_queues_job_error(const struct queue_table *queues, const struct job *job, const char *path,
                                    uint64_t line) MUST_CHECK;

#endif
