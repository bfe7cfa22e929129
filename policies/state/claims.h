/* policies/state/claims.h -- the jobs for which space is reserved that others are leaving.
 *
 * Law: policies/booking alone writes them.  A slot is listed exactly while some holding of its job is claimed.
 */
#ifndef POLICIES_STATE_CLAIMS_H
#define POLICIES_STATE_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct claim_list {
    uint32_t *slots; /* in the order of their plans */
    size_t capacity;
    uint32_t count;
    time_ns until;       /* no claim expires before this */
    int64_t piece_milli; /* GPUs of all claimed holdings */
};

#endif
