/* policies/jobs/communication_archive.h -- what jobs exchange, in the saved state of a scheduler.
 *
 * Law: the set read is equal to the one written, number by number.  A text that communication_read refuses, or two that
 * are equal, break the archive (policies/util/archive.h).
 */
#ifndef POLICIES_JOBS_COMMUNICATION_ARCHIVE_H
#define POLICIES_JOBS_COMMUNICATION_ARCHIVE_H

#include "policies/util/archive.h"
#include "topologies/communication_set.h"

/* Save all of the set, or load them into an empty one. */
void communication_archive(struct archive *archive, struct communication_set *set);

/* Save or load which one of the set that is; NULL: none. */
void communication_archive_one(struct archive *archive, const struct communication_set *set,
                               const struct communication **communication);

#endif
