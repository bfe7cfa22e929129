/* policies/quota/quota.h -- the seam "may this queue have it, is it borrowed, who may take it back".
 *
 * A policy is one const struct; add it to policies/registry.c.  All hooks are pure functions of the tree
 * but for `divide`, which writes the children's shares.
 */
#ifndef POLICIES_QUOTA_H
#define POLICIES_QUOTA_H

#include "policies/queues.h"

struct contender { /* a queue and the job it would start next */
    queue_id queue;
    int64_t ask_milli;
};

struct quota_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    bool
        is_flat; /* all jobs wait in one line, whatever their queue; compare, divide and owes are not called */

    /* May a job of this charge start in this leaf now?  QUEUE_NONE: yes; else the queue that forbids it.
     * Called for every job about to be placed.  NULL: always yes. */
    queue_id (*forbids)(const struct queue_tree *tree, queue_id leaf,
                        const int64_t charge[QUEUE_SUM_COUNT]);

    /* Which of two siblings goes first; <0: a.  Total: ends with the id.  Called O(siblings) per pick. */
    int (*compare)(struct queue_tree *tree, struct contender a, struct contender b);

    /* Set share_milli of all children of `parent`, whose own share is `total`.  Called when stale. */
    void (*divide)(struct queue_tree *tree, queue_id parent, int64_t total);

    /* Is `leaf` due a job of this charge, so that borrowers must give way?  Called once per eviction plan. */
    bool (*is_due)(struct queue_tree *tree, queue_id leaf, const int64_t charge[QUEUE_SUM_COUNT]);

    /* Does `queue` hold more than it is due?  Called once per possible victim. */
    bool (*is_borrowing)(struct queue_tree *tree, queue_id queue);
};

extern const struct quota_policy *const quota_policies[]; /* NULL-terminated */

extern const struct quota_policy quota_none;
extern const struct quota_policy quota_fairshare;

#endif
