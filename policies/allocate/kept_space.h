/* policies/allocate/kept_space.h -- which waiting jobs would start if space were not kept for others.
 *
 * Part of the scheduler's inside.  Space is kept by the headroom (reason Headroom) and by reservations: claims, drains
 * and the planned starts of backfill (reason ReservedForOther).  A class queue that is held up by one of them may hold
 * many more jobs than that space does.  So only its first jobs, those in front, are told so; the others are told what
 * would hold them up when those in front had started: Resources, Fragmentation, QuotaLimit...
 *
 * How: at the end of a cycle a look starts jobs in a trial, in queue order, as an allocate action would with the
 * headroom gone (or, in another trial, with all reservations gone), and counts how many of each class queue start.
 *
 * Laws
 *  - Right after a look the jobs in front of the class queues that the headroom holds up are exactly those that an
 *    allocate action would start with no headroom; likewise for reservations, whose own jobs stand aside.
 *  - Between looks a job keeps the reason that it was told.  When one of those in front leaves, the next job of its
 *    class queue follows.  A job that comes is told what those behind are told; where the last look found no job
 *    behind, that the kept space holds it up, too.
 *  - A look changes no decision.  It is a trial in the ledger; the class queues only say what their jobs are told.
 *  - A look is paid for: each step of it (two queues compared) takes KEPT_SPACE_PRICE facts or decisions.  What is not
 *    spent is saved, up to KEPT_SPACE_CREDIT_MAX; a run begins with KEPT_SPACE_CREDIT.  A cycle after which anything
 *    has changed has its look if what is saved will do for the jobs that wait.
 *
 * Known limits, where the first law is an approximation: a backfill policy that goes through a line (easy,
 * conservative, slurm) is not asked who overtakes; a job that starts in parts asks for no more in the trial, and no
 * plan claims what comes for one that does not fit (replaces_victims); a quota of cells assigns none in a trial; no
 * shorter job is tried in place of a head that is in the way of a planned start. A class queue that is held up by both
 * is told of the headroom alone.  In a strict line the jobs behind, of other request classes, wait for Priority.
 * It does not: say when the space comes, nor look at evictions.
 */
#ifndef POLICIES_ALLOCATE_KEPT_SPACE_H
#define POLICIES_ALLOCATE_KEPT_SPACE_H

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

#endif
