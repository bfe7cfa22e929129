/* policies/defrag/defrags.h -- the defragmentation policies there are. */
#ifndef POLICIES_DEFRAGS_H
#define POLICIES_DEFRAGS_H

#include "policies/defrag/defrag.h"

/* What all of them start from. */
#define DEFRAG_MOVES  .moves_per_plan = 16, .spares_ending = true, .holds_places = true
#define DEFRAG_DRAINS .drain_nodes_ppm = 100000, .drain_expiry = 43200 * TIME_NS_PER_S

extern const struct defrag_policy defrag_none, defrag_consolidation, defrag_drain, defrag_consolidation_and_drain;

#endif
