/* policies/describe.h -- what a scheduler knows, as the facts from which another one begins.
 *
 * The description is a stream in the language of policies/wire.h: a header, then facts, all at the time of the last
 * fact or cycle.  A scheduler that is told them has adopted what there is.  There is no other form of adoption: an
 * adaptor that has no log (sim/live/decide.h) writes such lines of what it sees in its cluster.
 *
 *   header               cluster; queues, with usage_ppm as it is now; policy
 *   node_changed         of each node that is not up
 *   gpu_changed          of each GPU that is partitioned, or was when the cluster was read
 *   user_usage_told      of each user with an account, where the order counts usage
 *   job_history_told     of each job, before it: evictions, the clocks of guards, attained service
 *   job_submitted        of each job that waits, as it was declared; held if it is held now, after what has not ended
 *   job_adopted          of each job that holds space, on the pieces that it has or is about to have
 *   job_leaving          members of it that are being evicted: all, or those of a node if all of them there leave
 *
 * Laws
 *  - A scheduler that read the description takes all of its facts, passes sched_check, and holds the same space for
 *    the same jobs.  tests/property/test_describe.c.
 *  - Describing changes nothing, and the same state gives the same bytes.
 *
 * What it does not carry, so that decisions after an adoption may differ; the test above prints how often, by cause:
 *  - Decisions that are open: their numbers are gone.  A START counts as having taken effect.  The evictions are told
 *    with a job and a node, without a decision; members that stay on a node beside others that leave count as staying.
 *  - Claims (RESERVE), repartitions under way: they are made again.
 *  - Planned starts of backfill, and what conservative backfill has promised.
 *  - Back-offs of failed plans, and evictions and moves of the last hour that count against limits.
 *  - What was learned: run times by the `history` estimate, typical jobs, idle jobs, objects on nodes.
 *  - Usage of CPUs and memory apart from that of GPUs; the shape of a window of past usage; states of plug-ins; times
 *    waited by reason; that a job was adopted below its minimum.
 *  - Jobs that have ended.  A job with such an id would be taken.
 */
#ifndef POLICIES_DESCRIBE_H
#define POLICIES_DESCRIBE_H

#include "base/buffer.h"
#include "policies/sched.h"

/* What the job's submitter declared; the scheduler does not keep it as it was.  Borrowed until the next call. */
typedef const struct job *declared_job_fn(void *self, job_id job);

/* Append the description.  policy: for the header, see wire_write_header.  declared: called for each job that is known,
 * in the order of ids.  O(whole state). */
void sched_describe(const struct sched *sched, struct text policy, declared_job_fn *declared, void *self,
                    struct buffer *out);

#endif
