/* policies/state/request_classes.h -- jobs' requests as the scheduler treats them. */
#ifndef POLICIES_STATE_REQUEST_CLASSES_H
#define POLICIES_STATE_REQUEST_CLASSES_H

#include "policies/state/sched_state.h"

/* Under a sharing policy the ledger records which jobs share a GPU or a node. */
void sched_share(const struct sched *sched, struct ledger *ledger);
/* Why a job of that request class is refused when it is submitted; REASON_NONE: it is not. */
enum reason sched_refusal(struct sched *sched, uint32_t request_class);
/* The request class of the job on the kind of pieces that the policy gives it; unchanged if it already has other
 * pieces. */
uint32_t sched_request_class_shared(struct sched *sched, const struct job *job, const struct piece *pieces,
                                    uint32_t piece_count);
/* The job as the policy lets it share; the job itself if it already has pieces of another kind.  groups: room for
 * JOB_GROUPS_MAX, which the result may borrow.  Without a sharing policy it is the job. */
struct job sched_shared_job(const struct sched *sched, const struct job *job, const struct piece *pieces,
                            uint32_t piece_count, struct job_group groups[]);
/* The request class of the job, with the levels of the policy's topology mode (policies/state/topology_mode.c). */
uint32_t sched_request_class_for(struct sched *sched, const struct job *job);
/* Adds the charge of the holding, times the sign, to `amounts`. */
void sched_add_charge(const struct sched *sched, uint32_t slot, const struct piece *piece, int sign,
                      int64_t amounts[QUEUE_SUM_COUNT]);
/* The request class of the job's next allocation step beside its holdings; REQUEST_CLASS_NONE: nothing, or members that
 * are still leaving. */
uint32_t sched_next_step(struct sched *sched, uint32_t slot);
void sched_gang_view(struct sched *sched, uint32_t slot, struct gang_view *view);

/* An operation of the ledger on the space of the holding. */
typedef void ledger_move_fn(struct ledger *ledger, const struct space *space);
void sched_move(struct sched *sched, uint32_t slot, uint32_t holding, ledger_move_fn *move);

#endif
