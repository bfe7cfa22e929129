/* policies/quota/quotas.h -- the built-in quota policies, one file each; policies/config/registry.c lists them. */
#ifndef POLICIES_QUOTAS_H
#define POLICIES_QUOTAS_H

#include "policies/quota/quota.h"

extern const struct quota_policy quota_none;
extern const struct quota_policy quota_limits;
extern const struct quota_policy quota_fairshare;
extern const struct quota_policy quota_cohort;
extern const struct quota_policy quota_drf;
extern const struct quota_policy quota_capacity;
extern const struct quota_policy quota_proportion;
extern const struct quota_policy quota_cells;

#endif
