/* policies/census.h -- what the free GPUs of a cluster are good for, at one moment: for the jobs that usually come, for those
 * that wait, and for gangs.
 *
 * Words.  Idle is what is free of the GPUs of nodes that take new work.  Fragmented is the part of it that is of no use for the
 * typical jobs (policies/fragmentation.h), by cause; besides, where members must be together in a domain of the cluster, what
 * one could use of a node of a domain that has no room for all of them.  Stranded is what no member can use of all that wait;
 * nothing, when nobody who asks for GPUs waits.
 *
 * Law: idle >= the sum of the causes, each >= 0; idle >= stranded.
 *
 *   struct census census;
 *   census_take(ledger, &typical, &waiting, &census);
 *
 * Cost: O(nodes * kinds * GPUs of a node), of nodes with nothing free O(1). */
#ifndef POLICIES_CENSUS_H
#define POLICIES_CENSUS_H

#include "policies/fragmentation.h"

enum { CENSUS_GANG_SIZES = 4 };
extern const uint8_t census_gang_sizes[CENSUS_GANG_SIZES]; /* GPUs of a member: 1, 2, 4, 8 */

struct census {
    int64_t idle_milli, stranded_milli;
    double fragmented_milli[FRAGMENT_CAUSE_COUNT];
    /* GPUs of the largest gang of such members that could start, by what GPUs are wholly free; CPUs, memory, quotas and
     * what is kept for others are not looked at. */
    int64_t gang_gpus[CENSUS_GANG_SIZES];
    /* Memory slices free on GPUs with MIG instances, but in no free instance of a profile that a typical job asks. */
    int64_t mig_slices_unplaceable;
};

/* waiting: kinds of the members that wait; of their shares nothing is read. */
void census_take(const struct ledger *ledger, const struct typical_jobs *typical,
                 const struct typical_jobs *waiting, struct census *census);

/* That of a scheduler, by the jobs that wait in it. */
void sched_census(const struct sched *sched, const struct typical_jobs *typical,
                  struct census *census);

#endif
