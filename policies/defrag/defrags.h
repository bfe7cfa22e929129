/* policies/defrag/defrags.h -- the defragmentation policies there are. */
#ifndef POLICIES_DEFRAGS_H
#define POLICIES_DEFRAGS_H

#include "policies/defrag/defrag.h"

extern const struct defrag_policy defrag_none, defrag_consolidation;

#endif
