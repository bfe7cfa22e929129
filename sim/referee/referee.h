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

/* cluster: borrowed.  gangs_are_whole: no job may hold fewer members than its minimum by a START. */
struct referee *referee_new(const struct cluster *cluster, bool gangs_are_whole);
/* Before any fact: jobs get the kinds of pieces, and the company, that this policy gives them.  Both are borrowed. */
void referee_share(struct referee *referee, const struct policy_config *policy, const struct queue_table *queues);
void referee_free(struct referee *referee);

/* Book a fact.  False if it cannot be: a job that is there already, or adopted where there is no space; then nothing
 * is booked.  O(what it names). */
bool referee_told(struct referee *referee, const struct fact *fact);

/* Book a decision; false if it makes no sense, then nothing is booked.  O(what its job holds). */
bool referee_allows(struct referee *referee, const struct decision *decision);

/* Why the last call said no; borrowed until the next. */
const char *referee_complaint(const struct referee *referee);

/* Jobs that wait, those of them with a reservation, and those that run or start. */
void referee_count(const struct referee *referee, struct sched_counts *counts);

/* Of what it knows itself: REASON_RESERVED, REASON_HELD, REASON_DEPENDENCY, or REASON_NONE. */
enum reason referee_why(const struct referee *referee, job_id job);

#endif
