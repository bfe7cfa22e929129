/* studies/divergence/named_job.h -- a job that a study names, for people and for programs.
 *
 * A decision knows ids alone; names, queues and classes come with the job's row, at the end of its life or of the run.
 *
 *   struct named_job job = {.id = id};            no row yet: "job number 7"
 *   named_job_take(&job, row, &arena);            now "job train-7 (training, queue a, 8 GPUs)"
 */
#ifndef STUDIES_DIVERGENCE_NAMED_JOB_H
#define STUDIES_DIVERGENCE_NAMED_JOB_H

#include "base/buffer.h"
#include "base/mem.h"
#include "sim/record/record.h"

struct named_job {
    job_id id;
    const char *name; /* NULL: its row is not known; then the rest is not set */
    const char *queue, *class;
    int64_t gpu_milli;
};

/* Take the texts of its row; the arena owns the copies. */
void named_job_take(struct named_job *job, const struct job_row *row, struct arena *arena);

/* Append "job train-7" or "job number 7". */
void named_job_write_name(const struct named_job *job, struct buffer *out);

/* Append " (training, queue a, 8 GPUs)", or nothing. */
void named_job_write_kind(const struct named_job *job, struct buffer *out);

/* Append the members of its JSON object, without braces: "id": 7, "job": "train-7", ... */
void named_job_write_json(const struct named_job *job, struct buffer *out);

#endif
