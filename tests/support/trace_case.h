/* tests/support/trace_case.h -- small traces written as text in a test, read through job_source.
 *
 *   struct trace_case read = trace_case_read("job_id,submit_s,duration_s,gpus\n1,0,60,8\n", &spec, cluster);
 *   assert_int_equal(read.count, 1);
 *   trace_case_release(&read);
 */
#ifndef TESTS_SUPPORT_TRACE_CASE_H
#define TESTS_SUPPORT_TRACE_CASE_H

#include "workloads/readers/source.h"

enum { TRACE_CASE_JOBS_MAX = 64 };

struct trace_case {
    struct job jobs[TRACE_CASE_JOBS_MAX]; /* names and groups belong to the source */
    struct job_truth truths[TRACE_CASE_JOBS_MAX];
    uint32_t count;
    struct job_source *source;
    struct workload_facts facts;
    struct error error;
};

/* Write `text` to a temporary file and read it with the spec (its trace is set here; the rest may be zeroed).  JSON may
 * have ' for " (json_text.h).  Fails the test if it cannot be read. */
struct trace_case trace_case_read(const char *text, const struct workload_spec *spec, const struct cluster *cluster);

/* As above for a text that must be refused: ERROR_DATA at that line and column (0: any), with `says` in the message. */
void trace_case_refused(const char *text, const struct workload_spec *spec, const struct cluster *cluster,
                        unsigned line, unsigned column, const char *says);

void trace_case_release(struct trace_case *trace);

/* The name of the queue of job `index`. */
const char *trace_case_queue(const struct trace_case *trace, uint32_t index);

/* The path of a real trace, in $WINDTUNNEL_TRACES or ../shared/traces; NULL, with a message, where it is absent. */
const char *trace_real(const char *name);

/* All jobs of a real trace: facts at the end, and submissions that never decrease checked. */
struct workload_facts trace_real_read(const struct workload_spec *spec, const struct cluster *cluster);

#endif
