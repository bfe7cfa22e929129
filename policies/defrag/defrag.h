/* policies/defrag/defrag.h -- the seam "what should move".
 *
 * Free space that is scattered over nodes serves no gang.  A policy says whether running jobs are moved to other places
 * to bring it together (policies/eviction/moves.c); how many, a policy file says:
 *
 *   {"defrag": {"policy": "consolidation", "moves_per_plan": 8}}
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

struct defrag_config {
    int64_t moves_per_plan; /* jobs; 0: none, -1: no bound */
    bool spares_ending;     /* a job is not moved that ends sooner than the move costs */
    bool holds_places;      /* the place a moved job is to go to is held for it */
};

struct defrag_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    bool moves;          /* running jobs to other places */
    struct defrag_config defaults;
};

extern const struct defrag_policy *const defrag_policies[]; /* NULL-terminated */

#endif
