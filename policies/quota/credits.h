/* policies/quota/credits.h -- the account that the credits policy keeps for each queue.
 *
 * An account is brought up to date when the queue's holdings or the table change, and when its credit opens or runs
 * out.
 *
 * Law: start + banked - spent = balance, exactly, at every moment.  Amounts are milli-GPU nanoseconds.
 */
#ifndef POLICIES_CREDITS_H
#define POLICIES_CREDITS_H

#include <stdbool.h>

#include "base/time.h"

struct credit_account {
    __int128 balance; /* >= 0; at `since` */
    __int128 start;   /* the balance it began with */
    __int128 banked, spent;
    time_ns since;    /* integrated up to this time */
    int64_t held;     /* GPU milli held since then */
    time_ns turns_at; /* when its credit will open or run out if `held` stays; TIME_NEVER */
    uint32_t version; /* of the tree at the last update; 0: never */
    bool is_open;     /* its credit may be spent */
};

#endif
