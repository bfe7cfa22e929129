/* workloads/readers/rows.h -- the rows of a trace that a run uses, in the order and the time of the file.
 *
 * What happens to a row, in this order; each is left out if the workload does not name it:
 *
 *   window      rows outside of it go (source.h)
 *   sample      a share of the jobs, or of the users, stays (sample.h)
 *   tenants     queues and users get other names (tenants.h)
 *   growth      jobs of some queues come less or more often (growth.h)
 *   durations   run times, limits and estimates are multiplied by duration_scale
 *
 * Laws
 *  - What comes of a row depends on the row, the workload and the seed alone.
 *  - A job depends on the jobs that are left: a dependency on a job that went is left out, as one on a job before the
 *    window.  job->after names rows by their place in what this gives.
 *  - A second reading of the same file gives the same rows.
 *
 * Memory: 4 bytes per row, if rows name each other and some go or come more often.
 */
#ifndef WORKLOADS_READERS_ROWS_H
#define WORKLOADS_READERS_ROWS_H

#include "workloads/readers/feed.h"
#include "workloads/readers/reader.h"
#include "workloads/readers/tenants.h"

struct rows {
    const struct workload_spec *spec;
    struct job_tables *tables;
    uint64_t seed;
    struct reader reader;
    struct arena arena;       /* holds what rows point to */
    struct arena kept;        /* holds what jobs point to until the end */
    struct side_files *sides; /* borrowed */
    bool is_kept;             /* rows live until rows_release; false: until the next one */
    bool is_read;             /* the file was opened before */
    struct tenants tenants;   /* plan NULL: names stay */
    struct trace_row last;    /* the last row, if it comes more than once */
    uint32_t copies, copy;    /* how often the last row comes; how often it came */
    uint32_t *places;         /* by row of reader.ids: its place; JOB_NONE: it went */
    size_t place_capacity;
    uint32_t place; /* rows given so far in this reading */
};

/* Begin.  spec, tables, sides: borrowed. */
void rows_init(struct rows *rows, const struct workload_spec *spec, struct job_tables *tables, struct side_files *sides,
               uint64_t seed);

/* Open the file, for the first time or once more. */
struct error rows_open(struct rows *rows) MUST_CHECK;

/* The next row; *has false at the end. */
struct error rows_next(struct rows *rows, struct trace_row *row, bool *has) MUST_CHECK;
void rows_close(struct rows *rows);

static inline time_ns rows_scaled(time_ns time, double factor)
{
    return factor == 1 || time == TIME_NEVER ? time : time_from_seconds(time_to_seconds(time) * factor);
}

/* And the attempts that failed before, in memory of the arena. */
void rows_stretch_all(struct job *job, struct job_truth *truth, double factor, struct arena *arena);
void rows_release(struct rows *rows);

#endif
