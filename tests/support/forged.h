/* tests/support/forged.h -- saved states that were changed on purpose, with a checksum that is right.
 *
 *   struct buffer bytes = reload_bytes(sched);
 *   forged_change(&bytes, &stream);              some numbers in it
 *   forged_repair(&bytes);                       its length and its checksum
 *   if (forged_live(&bytes, cluster, queues, policy)) ...   it was loaded, and the scheduler went on
 *
 * Law: nothing that a state holds ends the process.  A state that is loaded breaks no law (sched_check), and facts and
 * cycles can follow.
 */
#ifndef TESTS_SUPPORT_FORGED_H
#define TESTS_SUPPORT_FORGED_H

#include "base/random.h"
#include "policies/sched.h"

/* Change one to three numbers of one, four or eight bytes behind the header. */
void forged_change(struct buffer *bytes, struct random_stream *stream);

/* Make the header's length and checksum those of the bytes.  The layout is that of struct save_header
 * (policies/cycle/save.c). */
void forged_repair(struct buffer *bytes);
enum { FORGED_HEADER_BYTES = 64 };

/* Load the state and go on from it: cycles, ends of jobs, saving.  False: it was refused. */
bool forged_live(const struct buffer *bytes, const struct cluster *cluster, const struct queue_table *queues,
                 const struct policy_config *policy);

#endif
