/* sim/referee/referee.h -- checks decisions against the world's own books of jobs and space.
 *
 * It gets the facts and decisions in their order, and reports what is wrong with the first invalid one: an unknown
 * job or one that runs already, space that is not free or does not match the request, too many members.
 *
 * Law: it keeps its own books, independent of the ledger.  The world can carry out every decision that it accepts.
 *
 *   struct referee *referee = referee_new(cluster, gangs_are_whole);
 *   const char *wrong = referee_told(referee, &fact);      (NULL: it can be)
 *   if (!referee_allows(referee, &decision)) ... referee_complaint(referee)
 *
 * It does not: judge whether a decision is wise, or fair.
 */
#ifndef SIM_REFEREE_REFEREE_H
#define SIM_REFEREE_REFEREE_H

#include "policies/wire.h"

struct referee; /* opaque */

/* cluster: borrowed.  gangs_are_whole: no START may leave a job with fewer members than its minimum. */
struct referee *referee_new(const struct cluster *cluster, bool gangs_are_whole);
/* Call it before any fact: jobs get the kinds of pieces, and the neighbours, that this policy allows.  Both are
 * borrowed. */
void referee_share(struct referee *referee, const struct policy_config *policy, const struct queue_table *queues);
void referee_free(struct referee *referee);

/* Book a fact.  False if it is impossible, and then nothing is booked: a job that came before, or one adopted where
 * there is no space.  O(what it names). */
bool referee_told(struct referee *referee, const struct fact *fact);

/* Book a decision.  False if it is not possible, and then nothing is booked.  O(what its job holds). */
bool referee_allows(struct referee *referee, const struct decision *decision);

/* Why the last call returned false; borrowed until the next call. */
const char *referee_complaint(const struct referee *referee);

/* Counts of jobs that wait, of those of them with a reservation, and of jobs that run or start. */
void referee_count(const struct referee *referee, struct sched_counts *counts);

/* The reason as far as the books tell it: REASON_RESERVED, REASON_HELD, REASON_DEPENDENCY, or REASON_NONE. */
enum reason referee_why(const struct referee *referee, job_id job);

#endif
