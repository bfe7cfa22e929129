/* workloads/readers/job_ids.h -- the ids of the jobs that were written, so that later ones can name them.
 *
 *   struct job_ids ids = {0};
 *   struct text id = job_ids_add(&ids, job);               a job that is written
 *   if (!job_ids_after(&ids, job, &text)) ...              "ok:17;any:18"
 *   job_ids_release(&ids);
 *
 * Law: a text that job_ids_after makes is read as the same dependencies (trace_ids.h): a line names a job by its id, so
 * that job must be the last one so far with the id, and the id must stand in a list between semicolons.
 */
#ifndef WORKLOADS_READERS_JOB_IDS_H
#define WORKLOADS_READERS_JOB_IDS_H

#include "base/buffer.h"
#include "base/names.h"
#include "workloads/job.h"

struct job_ids {
    struct names *names; /* the ids, as texts; NULL: none */
    uint32_t *text_of;   /* by job: its text, or NAMES_NONE */
    job_id *last_of;     /* by text: the last job with this id */
    size_t text_capacity, last_capacity, job_count;
    struct buffer text;
    const char *unnamed; /* after job_ids_after returned false: the id that a line cannot name; "" if it was left out */
};

/* Append the id of the job: its name, or its number. */
void job_id_put(const struct job *job, struct buffer *out);

/* The id of the job, and note it.  Borrowed until the release. */
struct text job_ids_add(struct job_ids *ids, const struct job *job);

/* Append the dependencies of the job.  False: a line cannot name one of them; nothing is appended. */
bool job_ids_after(struct job_ids *ids, const struct job *job, struct buffer *out);
void job_ids_release(struct job_ids *ids);

#endif
