/* policies/jobs/request_archive.h -- what jobs ask for, in the saved state of a scheduler.
 *
 * Law: what is loaded is what was saved.  A flag that is neither 0 nor 1 breaks the archive, and so does a node ask
 * that was not saved before.
 *
 * It does not: see whether a request makes sense (job_tags_complaint, and the checks of the library when it is loaded).
 */
#ifndef POLICIES_JOBS_REQUEST_ARCHIVE_H
#define POLICIES_JOBS_REQUEST_ARCHIVE_H

#include "policies/jobs/request_class.h"
#include "policies/util/archive.h"

/* All node asks; this comes before the first request. */
void request_archive_asks(struct archive *archive, struct node_asks *asks);

void request_archive(struct archive *archive, struct request *request); /* its node ask is one of archive->asks */
void request_archive_group(struct archive *archive, struct job_group *group);
void request_archive_set(struct archive *archive, struct job_set *set);
void request_archive_tags(struct archive *archive, struct job_tags *tags);

#endif
