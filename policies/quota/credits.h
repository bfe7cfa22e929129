/* policies/quota/credits.h -- the account that the credits policy keeps for each queue.
 *
 * It is brought up to date when what the queue holds has changed, when its credit opens or runs out, and when
 * the table has; not in between.
 *
 * Law: start + banked - spent = balance, exactly, at every moment.  Amounts are milli-GPU nanoseconds.
 */
#ifndef POLICIES_CREDITS_H
#define POLICIES_CREDITS_H

#include <stdbool.h>

#include "base/time.h"

struct credit_account {
    __int128 balance; /* >= 0; as of `since` */
    __int128 start;   /* the balance it began with */
    __int128 banked, spent;
    time_ns since;    /* all before is integrated */
    int64_t held;     /* since then */
    time_ns turns_at; /* when its credit will open or run out if that stays; TIME_NEVER */
    uint32_t version; /* of the tree when it was last looked at; 0: never */
    bool is_open;     /* its credit may be spent */
};

#endif
