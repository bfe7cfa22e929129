/* policies/state/headroom.h -- the functions of headroom.c: space that is kept free for inference and for queues
 * within their quota.
 *
 * Part of the scheduler's inside; included by policies/state/sched_state.h, which holds the state. */
#ifndef POLICIES_STATE_HEADROOM_H
#define POLICIES_STATE_HEADROOM_H

#include "policies/state/sched_state.h"

struct free_space { /* in the whole cluster */
    int64_t gpu_milli, whole_nodes;
};

void headroom_init(struct sched *sched);
static inline bool headroom_is_kept(const struct sched *sched)
{
    return sched->headroom.is_kept;
}
int64_t sched_free_milli(const struct sched *sched); /* of GPUs, claimed by no job */
struct free_space headroom_count_free(const struct sched *sched);
/* As above; zeros when no headroom is kept. */
static inline struct free_space headroom_free(const struct sched *sched)
{
    return headroom_is_kept(sched) ? headroom_count_free(sched) : (struct free_space){0, 0};
}
bool headroom_is_for(const struct sched *sched, uint32_t slot);
/* The jobs (bits of enum request_class_closed) whose kept space the job, placed in the trial, takes; 0: none, the
 * placement is allowed.  before: the free space without the job and with no victim gone. */
uint8_t headroom_spares(const struct sched *sched, uint32_t slot, struct free_space before);
/* A victim was placed elsewhere in the trial.  May it start there: is its place claimed, or not kept free for other
 * jobs? */
bool headroom_lets_stay(const struct sched *sched, uint32_t slot, struct free_space before);
/* Close the request classes that may not use the headroom, with the result that a placement would have. */
void headroom_close(struct sched *sched);
/* The causes in request class->closed that still hold with `free` free. */
uint8_t headroom_still_spares(const struct sched *sched, const struct request_class *request_class,
                              struct free_space free);

#endif
