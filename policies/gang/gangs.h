/* policies/gang/gangs.h -- the gang policies there are. */
#ifndef POLICIES_GANGS_H
#define POLICIES_GANGS_H

#include "policies/gang/gang.h"

extern const struct gang_policy gang_all_or_nothing;
extern const struct gang_policy gang_hoard;

/* Of all sets; without sets each group is one. */
uint32_t gang_set_count(const struct gang_view *view);
bool gang_in_set(const struct gang_view *view, uint32_t group, uint32_t set);

#endif
