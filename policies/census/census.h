/* policies/census/census.h -- which requests the free GPUs of a cluster can hold at one moment: those of typical jobs,
 * of waiting jobs, and of gangs.
 *
 * Words.  Idle: the free GPUs of nodes that take new work.  Fragmented: the part of them that typical jobs are expected
 * to be unable to use (policies/jobs/fragmentation.h), by cause.  The cause topology is added here: a member that must
 * be together with others cannot use a node whose domain has no room for all of them.  Stranded: the part that no
 * waiting member can use; 0 if no member that requests GPUs waits.
 *
 * Law: idle >= the sum of the causes, each >= 0; idle >= stranded.
 *
 *   struct census_memo memo = {0};                       belongs to the ledger and the typical jobs
 *   struct census census;
 *   census_take(&memo, ledger, &typical, &waiting, &census);
 *   census_memo_release(&memo);
 *
 * Cost: O(typical jobs * GPUs of a node) for each node state that is not yet among the CENSUS_STATES_MAX remembered
 * ones; O(kinds of waiting members * GPUs of a node) for each state that a node has now; O(1) for a node, O(GPUs) for
 * one that changed since the last census; O(nodes) for each typical job with a level. */
#ifndef POLICIES_CENSUS_CENSUS_H
#define POLICIES_CENSUS_CENSUS_H

#include "policies/jobs/fragmentation.h"

enum { CENSUS_GANG_SIZES = 4 };
extern const uint8_t census_gang_sizes[CENSUS_GANG_SIZES]; /* GPUs of a member: 1, 2, 4, 8 */

struct census {
    int64_t idle_milli, stranded_milli;
    double fragmented_milli[FRAGMENT_CAUSE_COUNT];
    /* GPUs of the largest gang of members of census_gang_sizes that could start on the wholly free GPUs; CPUs, memory,
     * quotas and kept space are ignored. */
    int64_t gang_gpus[CENSUS_GANG_SIZES];
    /* Free memory slices of GPUs with MIG instances that are in no free instance of a profile that a typical job
     * requests. */
    int64_t mig_slices_unplaceable;
};

/* The free space of a node with idle GPUs; nodes with equal free space share a state. */
struct census_state {
    struct idle_view view;
    uint32_t idle, stranded;
    uint64_t judged_at;                         /* the value of census_memo.takes for which `stranded` is valid */
    double fragmented_milli[FRAGMENT_TOPOLOGY]; /* by the causes before FRAGMENT_TOPOLOGY */
    uint32_t causes;                            /* bit i: the amount of cause i is not 0 */
    uint32_t slices_unplaceable;
};

enum { CENSUS_STATES_MAX = 1 << 12 };

struct census_node {
    uint32_t version; /* ledger->node_version for which `state` is valid */
    uint32_t state;   /* index + 1; 0: it has no free GPU, or takes no new work */
};

enum { CENSUS_WHOLE_SLOTS = 256 };

/* The state that a node with these free GPUs, and no other free space on GPUs, was in last. */
struct census_whole {
    uint16_t free_mask;
    uint32_t state; /* index + 1; 0: none */
};

struct census_memo {
    struct census_state *states;
    size_t state_capacity;
    uint32_t state_count;
    uint32_t *slots;           /* 2 * CENSUS_STATES_MAX, open addressing by hash; 0: empty, else index + 1 */
    struct census_node *nodes; /* by node_id */
    struct census_whole whole[CENSUS_WHOLE_SLOTS]; /* by the low bits of the mask */
    uint64_t takes;
};
void census_memo_release(struct census_memo *memo);

/* waiting: the kinds of waiting members; their `share` is not read. */
void census_take(struct census_memo *memo, const struct ledger *ledger, const struct typical_jobs *typical,
                 const struct typical_jobs *waiting, struct census *census);

/* The census of a scheduler's cluster, with the jobs that wait in it. */
void sched_census(const struct sched *sched, struct census_memo *memo, const struct typical_jobs *typical,
                  struct census *census);

#endif
