/* studies/trace_page/trace_page_inside.h -- what the page keeps of a trace; for trace_page*.c only. */
#ifndef STUDIES_TRACE_PAGE_TRACE_PAGE_INSIDE_H
#define STUDIES_TRACE_PAGE_TRACE_PAGE_INSIDE_H

#include "reports/hour_load.h"
#include "studies/trace_page/trace_page.h"

enum {
    SPREAD_PER_OCTAVE = 8,
    SPREAD_OCTAVES = 34, /* from 1 s to 500 years */
    SPREAD_EDGES = SPREAD_PER_OCTAVE * SPREAD_OCTAVES + 1,
    WEEK_HOURS = 7 * 24,
    SIZES = 24 /* 0, less than 1, 1, 2, 3-4, ..., and so on by powers of two */
};

/* A histogram of values in seconds.  Bin i counts the values above edge i - 1 and up to edge i, where edge i is
 * 2^(i / SPREAD_PER_OCTAVE) s; bin 0 counts all values up to 1 s. */
struct spread {
    uint64_t jobs[SPREAD_EDGES];
    double gpu_h[SPREAD_EDGES];
    uint64_t count;
    double gpu_h_sum;
};

/* Of a size, an outcome, a queue or a user. */
struct share {
    uint64_t jobs;
    double gpu_h;
};

struct shares { /* by id */
    struct share *list;
    size_t count, capacity;
};

struct trace_page {
    struct hour_load demand, recorded;
    uint64_t *hour_jobs; /* submitted, by hour since the start */
    size_t hour_count, hour_capacity;
    uint64_t week_jobs[WEEK_HOURS]; /* from Monday 0:00 on, in the trace's own time */
    struct spread run_times, waits;
    struct share sizes[SIZES], outcomes[OUTCOME_COUNT], all;
    struct shares queues, users;
    time_ns last_submit;
};

/* The seconds of an edge. */
double spread_edge(size_t edge);

#endif
