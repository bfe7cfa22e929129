/* policies/state/headroom.h -- the functions of headroom.c: space that is kept free for inference and for queues
 * within their quota.
 *
 * Part of the scheduler's inside; included by policies/state/sched_state.h, which holds the state. */
#ifndef POLICIES_STATE_HEADROOM_H
#define POLICIES_STATE_HEADROOM_H

#include "policies/state/sched_state.h"

struct free_space { /* in the whole cluster */
    int64_t gpu_milli;
    int64_t whole_nodes; /* if fewer than are kept: with those that will be whole once evictions have ended */
};

void headroom_init(struct sched *sched);
static inline bool headroom_is_kept(const struct sched *sched)
{
    return sched->headroom.is_kept;
}
int64_t sched_free_milli(const struct sched *sched); /* of GPUs on nodes that are up, claimed by no job */
struct free_space headroom_count_free(const struct sched *sched);
/* As above; zeros when no headroom is kept. */
static inline struct free_space headroom_free(const struct sched *sched)
{
    return headroom_is_kept(sched) ? headroom_count_free(sched) : (struct free_space){0, 0};
}
bool headroom_is_for(const struct sched *sched, uint32_t slot);
/* The job is placed in the trial.  Which kept space does it take (bits of enum request_class_closed)?  0: none, the
 * placement is allowed.  before: the free space without the job, and before any victim left. */
uint8_t headroom_spares(const struct sched *sched, uint32_t slot, struct free_space before);
/* A victim is placed elsewhere in the trial.  May it start there?  It may not use headroom that is kept for others,
 * unless its place is claimed for it (holds_places). */
bool headroom_lets_stay(const struct sched *sched, uint32_t slot, struct free_space before);
/* Close the request classes that only the headroom would hold.  A try to place them would end the same way. */
void headroom_close(struct sched *sched);
/* The request class spares whole nodes: note how many are free, for headroom_still_spares. */
static inline void headroom_note_spared(const struct sched *sched, struct request_class *request_class)
{
    request_class->whole_nodes = headroom_free(sched).whole_nodes;
}
/* The bits of request_class->closed, of those about headroom, that still apply with `free` free. */
uint8_t headroom_still_spares(const struct sched *sched, const struct request_class *request_class,
                              struct free_space free);

#endif
