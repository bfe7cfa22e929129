/* topologies/validation.h -- which jobs communicate in ways that nobody measured, and how far from what was measured.
 *
 * Words.  A job communicates if it declares a plan, or a sensitivity of which something is exposed, and has several
 * GPUs.  Its communication at a place is inside if what it declares is inside the range (topologies/range.h) of the
 * tested rows: a plan by topologies/training_rows.h, a sensitivity's collective by topologies/collective_rows.h.  A
 * speed is the ratio of the times at two places, so both must be inside: where the job stands, and its best place.
 *
 * Laws
 *  - A job is outside if it was outside at one place at least.  It counts once, under the axis (struct range_verdict)
 *    of the place that is farthest outside.  So jobs and GPU time of the reasons add up to those outside.
 *  - The GPU time outside is that at places outside; it is at most that of the jobs.
 *  - Reasons are in the order of their GPU time, of equal ones the first first.
 * Test: tests/unit/test_validation.c, against a recount job by job.
 *
 *   struct validation validation = {0};
 *   struct validation_ranges *ranges = validation_ranges_new();
 *   struct range_verdict verdict = validation_test(ranges, job->communication, &place);
 *   validation_add(&validation, verdict, "job 17", gpu_us, gpu_us);
 *
 * Ranges are those of one cluster: its network is one of their conditions.
 *
 * Cost.  A range is computed when the first plan or collective of its kind is tested; a test then is O(axes).
 *
 * It does not: judge the rate of the network.  The rows are of NICs of 400 Gb/s (H100) without oversubscription.
 */
#ifndef TOPOLOGIES_VALIDATION_H
#define TOPOLOGIES_VALIDATION_H

#include "topologies/communication.h"
#include "topologies/range.h"

enum { VALIDATION_REASONS_MAX = 12, VALIDATION_AXIS_BYTES = 24, VALIDATION_NAME_BYTES = 64 };

struct validation_reason {
    char axis[VALIDATION_AXIS_BYTES]; /* "domains", "GPUs", "bytes", "parameters", "sequence", "system", ... */
    char what[VALIDATION_NAME_BYTES]; /* that was never measured; "": see `asked` */
    char job[VALIDATION_NAME_BYTES];  /* the farthest, of equal ones the first */
    double asked, measured;           /* by that job; the end of the range.  0, 0: never measured */
    uint64_t jobs;
    int64_t gpu_us; /* GPU time outside, in microseconds */
};

struct validation { /* {0}: no job communicates */
    uint64_t jobs, outside_jobs;
    int64_t gpu_us, outside_gpu_us;
    struct validation_reason reasons[VALIDATION_REASONS_MAX];
    uint32_t reason_count;
};

/* Does a job of that many GPUs communicate?  communication NULL: no. */
bool validation_communicates(const struct communication *communication, uint32_t gpu_count);

struct validation_ranges; /* opaque: the ranges that were needed so far */
struct validation_ranges *validation_ranges_new(void);
void validation_ranges_free(struct validation_ranges *ranges); /* NULL is allowed */

/* What the job declares, at a place where it has several GPUs.  The verdict borrows from the place's cluster. */
struct range_verdict validation_test(struct validation_ranges *ranges, const struct communication *communication,
                                     const struct gang_place *place);

/* Count a job that communicates.  verdict: the farthest of its places.  job: its name.  outside_gpu_us: at places
 * outside; at most gpu_us. */
void validation_add(struct validation *validation, struct range_verdict verdict, const char *job, int64_t gpu_us,
                    int64_t outside_gpu_us);

/* Append {"jobs": 40, "gpu_h": 1200, "outside_jobs": ..., "outside_gpu_h": ..., "reasons": [{"axis", "what", "job",
 * "asked", "measured", "jobs", "gpu_h"}, ...]}. */
void validation_json(const struct validation *validation, struct buffer *out);

/* Read what validation_json wrote; absent: {0}.  Fails through the sticky error. */
void validation_read(struct validation *validation, const struct json_value *value);

#endif
