/* reports/export/lives.h -- the attempts of the jobs that have not ended, kept until the row of their job comes.
 *
 * A sink of record_read_together sees attempts before their jobs.  This keeps them by job.
 *
 *   struct life *life = lives_add(lives, row);          (on_attempt)
 *   buffer_bytes(&life->note, ...);                     (what else the sink knows of it)
 *
 *   for (const struct life *life = lives_of(lives, row->id); life != NULL; life = life->next)      (on_job)
 *   lives_drop(lives, row->id);
 *
 *   TRY(lives_finish(lives));                           (on_finished)
 */
#ifndef REPORTS_EXPORT_LIVES_H
#define REPORTS_EXPORT_LIVES_H

#include "base/buffer.h"
#include "sim/record/record.h"

struct life {
    struct attempt_row row; /* its placement is owned here */
    struct buffer note;     /* of the user; released with the attempt */
    struct life *next;      /* the next attempt of the job; NULL: none */
};

struct lives; /* opaque */

struct lives *lives_new(void);
void lives_free(struct lives *lives); /* NULL is allowed */

/* A copy of the attempt, the last one of its job so far.  Borrowed until its job is dropped. */
struct life *lives_add(struct lives *lives, const struct attempt_row *row);

struct life *lives_of(const struct lives *lives, job_id id); /* the first attempt; NULL: none */
void lives_drop(struct lives *lives, job_id id);             /* forget them */

/* ERROR_DATA if attempts of some job were never dropped: the record has no row of the job after them. */
struct error lives_finish(const struct lives *lives) MUST_CHECK;

#endif
