/* policies/backfill/backfills.h -- the built-in backfill policies. */
#ifndef POLICIES_BACKFILLS_H
#define POLICIES_BACKFILLS_H

#include "policies/backfill/backfill.h"

extern const struct backfill_policy backfill_none, backfill_easy, backfill_conservative, backfill_slurm;

#endif
