/* workloads/readers/source_inside.h -- what a source keeps; for source.c (the stream) and source_open.c only. */
#ifndef WORKLOADS_READERS_SOURCE_INSIDE_H
#define WORKLOADS_READERS_SOURCE_INSIDE_H

#include "workloads/readers/feed.h"
#include "workloads/readers/freeze.h"

struct job_source {
    struct feed *feed; /* gives the jobs */
    struct job_tables tables;
    struct workload_facts facts;
    struct job_source **parts; /* of a merge; owned */
    uint32_t part_count;
    const struct job_defaults *defaults; /* of the spec */
    struct arrivals_print arrivals;
    bool keeps_arrivals;
    job_id next_id;
    const char *path; /* of the trace; "workload" without one */
};

#endif
