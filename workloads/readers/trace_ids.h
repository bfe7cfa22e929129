/* workloads/readers/trace_ids.h -- the ids that a trace gives its jobs and arrays, so that its lines can name each
 * other.
 *
 * Jobs in the window are numbered in the order of the file.  The source numbers them in the same way until it sorts
 * them (held_sort turns the numbers then).  If several jobs have an id, it means the last one so far.
 *
 * Law: a dependency names a job that stands before it in the file and is not submitted later.  So that job still comes
 * first after sorting by submission.
 */
#ifndef WORKLOADS_READERS_TRACE_IDS_H
#define WORKLOADS_READERS_TRACE_IDS_H

#include "base/names.h"
#include "workloads/job.h"
#include "workloads/readers/fields.h"

struct trace_id {
    time_ns submit; /* in the trace's own time */
    uint32_t index; /* JOB_NONE: outside the window */
};

struct trace_ids {
    struct names *names; /* of jobs */
    struct trace_id *jobs;
    size_t capacity;
    struct names *arrays; /* borrowed, set before the first job */
    uint32_t job_count;   /* jobs in the window so far */
};

void trace_ids_release(struct trace_ids *ids); /* leaves {0} */

/* Add a job of the file, after its dependencies were read. */
void trace_ids_add(struct trace_ids *ids, struct text id, time_ns submit, bool is_in_window);

/* Fill job->after from "17;ok:18;not_ok:19".  A dependency on a job before the window is left out: that job has
 * ended. */
struct error trace_ids_after(const struct trace_ids *ids, const struct line *line, const struct field *field,
                             struct arena *arena, struct job *job) MUST_CHECK;

/* The number of the array of that name, from 1. */
uint32_t trace_ids_array(struct trace_ids *ids, struct text name);

#endif
