/* policies/allocate/kept_space.h -- which waiting jobs would start if space were not kept for others.
 *
 * Words.  Space is kept by the headroom (reason Headroom) and by reservations: claims, drains and the planned starts of
 * backfill (reason ReservedForOther).  The kept space may be too small for all jobs of the class queue that it holds
 * up.  So only the first jobs, which are said to be in front, get that reason.  The jobs behind them get the reason
 * that would hold them up if the jobs in front had started: Resources, Fragmentation, QuotaLimit...
 *
 * How: at the end of a cycle a look starts jobs in a trial, in queue order, as the allocate action would without the
 * headroom (or, in a second trial, without reservations), and counts the jobs of each class queue that start.
 *
 * Laws
 *  - Right after a look, the jobs in front of the class queues that the headroom holds up are exactly the jobs
 *    that an allocate action would start without headroom.  The same holds for reservations; the jobs that they are for
 *    take no part.
 *    Checked by tests/property/test_kept_space.c.  The faults it caught: jobs behind one that a limit held up were told
 *    Priority, though they pass it; a job was told ReservedForOther whose space a job with a limit would take, since
 *    claims used that limit up.
 *  - Between looks a job keeps its reason.  When a job in front leaves, the next job of its class queue takes its
 *    place.  A new job gets the reason of the jobs behind.  If the last look found no job behind, it gets the reason
 *    of the kept space too.
 *  - A look changes no decision.  It is a trial in the ledger, and changes only the reasons of jobs.
 *  - The number of looks is bounded by a credit.  Each fact or decision adds 1; each step of a look (a comparison of
 *    two queues) takes KEPT_SPACE_PRICE.  A run begins with KEPT_SPACE_CREDIT, and KEPT_SPACE_CREDIT_MAX is the most.
 *    A cycle in which something has changed has a look if the credit covers its likely cost.
 *
 * Known limits: the first law is an approximation in these cases.
 *  - Backfill policies of one line (easy, conservative, slurm) are not asked which jobs overtake.
 *  - A job that starts in parts asks for no further part in the trial.
 *  - No plan claims leaving space for a job that does not fit (replaces_victims).
 *  - A quota of cells assigns no cells in a trial.
 *  - No shorter job is tried in place of a head that would delay a planned start.
 *  - A class queue that headroom and reservations both hold up gets the headroom's reason only.
 *  - In a strict leaf queue, the jobs behind of other request classes get Priority.
 * It does not say when the space comes, and it does not look at evictions.
 */
#ifndef POLICIES_ALLOCATE_KEPT_SPACE_H
#define POLICIES_ALLOCATE_KEPT_SPACE_H

#include <stdbool.h>

struct sched;

enum { /* in facts and decisions */
       KEPT_SPACE_PRICE = 2,
       KEPT_SPACE_CREDIT = 1 << 15,
       KEPT_SPACE_CREDIT_MAX = 1 << 18
};

void kept_space_init(struct sched *sched);
void kept_space_release(struct sched *sched);

/* At the end of a cycle, while some request class is closed. */
void kept_space_look(struct sched *sched);
/* Has the last look seen the present state? */
bool kept_space_is_fresh(const struct sched *sched);

#endif
