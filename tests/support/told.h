/* tests/support/told.h -- what a run tells: its rows and its metrics, kept and compared.
 *
 *   struct told told;
 *   told_open(&told, gpu_count);
 *   const struct record_sink sinks[] = {told_sink(&told), metrics_sink(told.metrics)};
 *   ... run; metrics_finish(told.metrics) ...
 *   told_compare(&told, &other);
 *   if (told_broken()[0] != '\0') ...
 *   told_release(&told);
 *
 * The first law that breaks is kept as a text.
 */
#ifndef TESTS_SUPPORT_TOLD_H
#define TESTS_SUPPORT_TOLD_H

#include "base/names.h"
#include "reports/metrics.h"
#include "sim/engine/engine.h"

struct told {
    uint64_t gpu_count;
    struct names *queues; /* names of queues outlive the run */
    struct job_row *jobs; /* by id */
    uint64_t *texts;      /* by id: a hash of the row's texts and parts */
    uint8_t *job_rows;    /* by id */
    size_t job_capacity, text_capacity, row_capacity;
    job_id id_end;
    struct attempt_row *attempts; /* without placements */
    uint64_t *hashes;             /* of each, with its placement */
    size_t attempt_count, attempt_capacity, hash_capacity;
    struct timeline_row *samples;
    size_t sample_count, sample_capacity;
    struct metrics *metrics;
    struct engine_result result; /* its stall is released with it */
};

enum { TOLD_VALUES = 40 }; /* numbers of a row of a job */

void told_open(struct told *told, uint64_t gpu_count);
void told_release(struct told *told);

/* Keeps the rows.  Of each it checks that the causes of GPU time add up to the GPUs, and a job's waits to its wait. */
struct record_sink told_sink(struct told *told);

/* The numbers of a row; the last may be unused, and are 0. */
void told_values_of(const struct job_row *row, int64_t values[TOLD_VALUES]);

/* b observed the same run as a: decisions, rows of jobs and attempts, samples at equal times and metrics are equal. */
void told_compare(const struct told *a, const struct told *b);

/* b goes on from the moment `at` of the run a, under the same policy: its decisions are a's, and so are its rows from
 * then on. */
void told_compare_fork(const struct told *a, const struct told *b, time_ns at);

/* The metrics; sampled means only if the samples are the same. */
void told_compare_metrics(const struct metrics *a, const struct metrics *b, bool has_equal_samples);

/* The law that broke first since told_forget; "": none. */
__attribute__((format(printf, 1, 2))) void broken(const char *format, ...);
const char *told_broken(void);
void told_forget(void);

#endif
