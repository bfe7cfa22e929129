#include "policies/defrag/defrag.h"

#include <stddef.h>

static const struct defrag_policy none = {.name = "none",
                                          .summary = "nothing moves; a large gang waits until space happens to come "
                                                     "together"};

static const struct defrag_policy consolidation = {
    .name = "consolidation",
    .summary = "running jobs move together so that a waiting one fits; needs space to move to, and "
               "jobs that restart cheaply",
    .defaults = {.moves_per_plan = 16, .spares_ending = true, .holds_places = true},
};

const struct defrag_policy *const defrag_policies[] = {&none, &consolidation, NULL};
