/* policies/census/census.h -- what the free GPUs of a cluster are good for, at one moment: for the jobs that usually
 * come, for those that wait, and for gangs.
 *
 * Words.  Idle is what is free of the GPUs of nodes that take new work.  Fragmented is the part of it that is of no
 * use for the typical jobs (policies/jobs/fragmentation.h), by cause; besides, where members must be together in a
 * domain of the cluster, what one could use of a node of a domain that has no room for all of them.  Stranded is what
 * no member can use of all that wait; nothing, when nobody who asks for GPUs waits.
 *
 * Law: idle >= the sum of the causes, each >= 0; idle >= stranded.
 *
 *   struct census_memo memo = {0};                       belongs to the ledger and the typical jobs
 *   struct census census;
 *   census_take(&memo, ledger, &typical, &waiting, &census);
 *   census_memo_release(&memo);
 *
 * Cost: O(kinds * GPUs of a node) for each state that a node with something free has not had before (CENSUS_STATES_MAX
 * are remembered) and, by those that wait, for each that one has; O(1) for a node, O(GPUs) for one that changed since
 * the last time; O(nodes) for each typical job with a level. */
#ifndef POLICIES_CENSUS_CENSUS_H
#define POLICIES_CENSUS_CENSUS_H

#include "policies/jobs/fragmentation.h"

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

/* A state that a node with something for somebody was seen in. */
struct census_state {
    struct idle_view view;
    uint32_t idle, stranded;
    uint64_t judged_at;                         /* the count of takes for which `stranded` holds */
    double fragmented_milli[FRAGMENT_TOPOLOGY]; /* by the causes before it */
    uint32_t slices_unplaceable;
};

enum { CENSUS_STATES_MAX = 1 << 12 };

struct census_node {
    uint32_t version; /* ledger->node_version when it was seen in that state */
    uint32_t state;   /* index + 1; 0: nothing of it is free, or it takes no new work */
};

struct census_memo {
    struct census_state *states;
    size_t state_capacity;
    uint32_t state_count;
    uint32_t *slots;           /* 2 * CENSUS_STATES_MAX, open addressing by hash; 0: empty, else index + 1 */
    struct census_node *nodes; /* by node_id */
    uint64_t takes;
};
void census_memo_release(struct census_memo *memo);

/* waiting: kinds of the members that wait; of their shares nothing is read. */
void census_take(struct census_memo *memo, const struct ledger *ledger, const struct typical_jobs *typical,
                 const struct typical_jobs *waiting, struct census *census);

/* That of a scheduler, by the jobs that wait in it. */
void sched_census(const struct sched *sched, struct census_memo *memo, const struct typical_jobs *typical,
                  struct census *census);

#endif
