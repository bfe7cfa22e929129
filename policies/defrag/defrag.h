/* policies/defrag/defrag.h -- the seam "what should move".
 *
 * Free space that is scattered over nodes serves no gang.  Two ways to bring it together: running jobs are moved to
 * other places (policies/eviction/moves.c), or nodes that are nearly empty are kept from everybody until they are
 * empty (policies/drain/drain.c).  A policy says which of them are used; how much, and for whom, a policy file says:
 *
 *   {"defrag": {"policy": "consolidation", "moves_per_plan": 8, "moves_per_h": 30, "gang_gpus_min": 64}}
 *
 * Laws: every budget counts steps, never time spent.  Who is moved has a place to go to.  Unless `spares_ending` is
 * off, no job is moved that by its planned end has less left to run than the move costs it.
 *
 * A policy is one const struct; add it to policies/config/registry.c.
 */
#ifndef POLICIES_DEFRAG_H
#define POLICIES_DEFRAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/* Of the nodes that a drain may choose, first come: those with the fewest GPUs in use; those that will be empty
 * soonest. */
enum drain_choice { DRAIN_EMPTIEST, DRAIN_SOONEST };

struct defrag_config {
    /* The jobs that moves and drains serve. */
    int64_t gang_milli_min; /* they ask at least this many milli-GPUs; 0: all */
    time_ns wait;           /* and have waited this long */
    /* Moves. */
    int64_t moves_per_plan; /* jobs; 0: none, -1: no bound */
    int64_t moves_per_h;    /* jobs moved in any hour; 0: no bound */
    bool spares_ending;     /* a job is not moved that ends sooner than the move costs */
    bool holds_places;      /* the place a moved job is to go to is held for it */
    /* Drains. */
    uint8_t drain_choice;    /* enum drain_choice */
    int64_t drain_nodes_ppm; /* nodes kept at once, as a part of the cluster */
    time_ns drain_expiry;    /* a drain is given up after that; TIME_NEVER: never */
};

struct defrag_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    bool moves;          /* running jobs to other places */
    bool drains;         /* nodes for a waiting gang */
    struct defrag_config defaults;
};

extern const struct defrag_policy *const defrag_policies[]; /* NULL-terminated */

#endif
