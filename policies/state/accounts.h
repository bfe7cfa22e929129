/* policies/state/accounts.h -- usage of users and queues, with decay, and the fair-share factor that follows from it.
 *
 * Words.  An account is a user in a queue, or a queue with all below it.  It holds the charges of its running jobs;
 * holdings are billed by the second (order_config.billing_milli; without it one unit is one GPU) and usage decays by
 * half in order_config.half_life.  Its shares are weight_milli[RESOURCE_GPU] of the queue; users share equally in their
 * queue, each as a queue of weight 1.
 *
 * Laws
 *  - Usage is integrated in closed form: it does not depend on how often it is read.
 *  - The factor changes at a refresh only.  It is a pure function of the queue table and of users' usage, rounded to a
 *    thousandth of a unit-second and summed up the tree.  The order in which users came does not matter.
 *
 * Fair tree: level by level, the account with the larger level factor LF = (shares / siblings' shares) / (usage /
 * parent's usage) goes first, with all accounts below it; LF is 0 without shares, else infinite without usage.  Users
 * are ranked from the last (1) to the first (their number); factor = rank / number.  Equal users share the rank of the
 * first of them; equal queues are ranked as one, their members mixed by their own LF; a user equal to a queue goes
 * before it and shares the rank with the first in it.  Source: Slurm's priority/multifactor with Fair Tree
 * (slurm.schedmd.com/fair_tree.html).
 * Classic: 2^-(UE / S), S the product of shares on the way up, UE = UA + (UE of the parent - UA) * shares / siblings'
 * shares, UA = usage / all usage; below the root UE = UA (slurm.schedmd.com/classic_fair_share.html).
 *
 * Law: users who have not run count.  A user has an account from its first submission on, and `users` of its queue
 * (struct queue_spec) are there from the start: those who have not submitted yet, the absent, have a share and no
 * usage.  Checked by tests/property/test_accounts.c.  The fault that it caught: the factors of users who ran were those
 * of a cluster without all others.
 *
 * Departures from Slurm: a user beyond `users` has an account only from its first submission on.  decays_as_slurm uses
 * Slurm's factor of decay, 1 - 0.693 / half-life per second, but still integrates.  Slurm multiplies the use of a
 * period by the decay of the whole period (relative difference: about half of 0.693 * period / half-life).
 *
 *   accounts_init(&accounts, &config->order_config, queues);
 *   accounts_charge(&accounts, job->queue, job->user, amounts, 1, now);    it starts; -1: it ends
 *   accounts_refresh(&accounts, now);                                      at each period
 *   uint32_t ppm = accounts_fair_share(&accounts, job->queue, job->user);
 *
 * It does not: bound anything (policies/quota), or begin with usage from before the start.
 */
#ifndef POLICIES_STATE_ACCOUNTS_H
#define POLICIES_STATE_ACCOUNTS_H

#include "policies/ledger/ledger.h"
#include "policies/order/order_config.h"

struct account {
    queue_id queue; /* the queue itself, or the queue that charges the user */
    uint32_t user;  /* of a user; NAMES_NONE: all unknown users share one account */
    bool is_user;
    /* of users only */
    int64_t holds[RESOURCE_COUNT];
    double usage_unit_s; /* decayed to `since` */
    time_ns since;
    /* as of the last refresh */
    uint64_t used; /* thousandths of a unit-second */
    uint64_t parent_used;
    uint64_t shares, level_shares;              /* own, and all siblings' */
    double effective_usage, normal_shares;      /* classic, 0..1 */
    uint32_t fair_share_ppm;                    /* of a queue: the factor of a user that is new to it */
    struct account *first_child, *next_sibling; /* during a refresh only */
    uint32_t absent; /* during a refresh only; of a queue: users who have a share and no account */
};

struct accounts {
    const struct order_config *config;
    const struct queue_table *table;
    struct account *queues; /* by queue_id */
    size_t queue_capacity;
    uint32_t queue_count;
    struct account *users;
    size_t user_capacity;
    uint32_t user_count;
    uint32_t *slots; /* hash table: index of a user + 1; 0: empty */
    size_t slot_count;
    struct account **siblings; /* scratch of a refresh */
    size_t sibling_capacity;
};

/* config, table: borrowed. */
void accounts_init(struct accounts *accounts, const struct order_config *config, const struct queue_table *table);
void accounts_release(struct accounts *accounts);

/* The table has grown, or was replaced by a copy that has grown; shares are read at the next refresh. O(new queues). */
void accounts_queues(struct accounts *accounts, const struct queue_table *table);

/* The user is known from now on.  O(1). */
void accounts_open(struct accounts *accounts, queue_id queue, uint32_t user, time_ns now);

/* From `now` on the user holds `amounts` more (sign 1) or less (-1); FIRM amounts are ignored. Opens an account for a
 * new user.  O(1). */
void accounts_charge(struct accounts *accounts, queue_id queue, uint32_t user, const int64_t amounts[QUEUE_SUM_COUNT],
                     int sign, time_ns now);

/* The user's usage, in thousandths of a unit-second, decayed to `now`: accounts_usage gives it, accounts_tell sets it
 * in place of what was known.  O(1). */
int64_t accounts_usage(const struct accounts *accounts, const struct account *user, time_ns now);

/* Bring usage to `now` and compute all factors.  O(accounts * log(siblings)). */
void accounts_refresh(struct accounts *accounts, time_ns now);

/* The factor as of the last refresh, 0..1000000.  A user without an account gets the factor of its queue, which is that
 * of the first user in it.  O(1). */
uint32_t accounts_fair_share(const struct accounts *accounts, queue_id queue, uint32_t user);

/* The account of a user; NULL if it has none.  O(1). */
const struct account *accounts_find(const struct accounts *accounts, queue_id queue, uint32_t user);

#endif
