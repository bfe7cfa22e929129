/* policies/backfill/backfills.h -- the backfill policies there are. */
#ifndef POLICIES_BACKFILLS_H
#define POLICIES_BACKFILLS_H

#include "policies/backfill/backfill.h"

extern const struct backfill_policy backfill_none, backfill_easy, backfill_conservative, backfill_slurm;

#endif
