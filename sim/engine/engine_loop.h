/* sim/engine/engine_loop.h -- jobs that are held back until the jobs that their users waited for have ended.
 *
 * In a closed loop (workloads/readers/user_loop.h) a job does not exist before it is submitted: neither the scheduler
 * nor a count, a queue or a share knows of it, and its waiting time begins with its submission.  So the engine takes
 * all jobs from the source when the run begins.  If job B follows job A, the engine holds B back until A has ended:
 * completed, failed, killed at its limit, cancelled or rejected.  If an attempt of A fails and A is tried again, A has
 * not ended.
 *
 *   job 7, submitted at 100 s, follows no job            submitted at 100 s
 *   job 9 follows 7, think time 30 s; 7 ends at 500 s    submitted at 530 s
 *
 * Laws
 *  - A job keeps the id that it has in the open loop, so that runs can be compared job by job.
 *  - Jobs are submitted in the order of (time, id).  With the recorded ends this is the order of the open loop.
 *  - A job is submitted after the jobs on which it depends (job->after), whenever its own time is.
 *  - Its deadline stays as long after its submission as recorded.
 *  - A job whose turn does not come before the run ends has no row.  It is counted as held back.
 *
 * Cost: O(log jobs) per submission.  Memory: 328 bytes a job for the whole run, beside the 336 of the source, which
 * holds all jobs.
 *
 * It does not: decide which jobs follow which.
 */
#ifndef SIM_ENGINE_ENGINE_LOOP_H
#define SIM_ENGINE_ENGINE_LOOP_H

#include "sim/engine/engine_state.h"

struct engine_loop; /* NULL in an open loop */

/* Take all jobs from the source, if the loop is closed. */
struct error engine_loop_open(struct engine *engine) MUST_CHECK;
void engine_loop_release(struct engine *engine);

/* The calls below are for closed loops only. */

void engine_loop_show(struct engine *engine);             /* set next_job to the job that is to be submitted next */
void engine_loop_taken(struct engine *engine);            /* next_job was submitted: show the next one */
void engine_loop_ended(struct engine *engine, job_id id); /* release the jobs that follow it */
bool engine_loop_is_over(const struct engine *engine);    /* all jobs were submitted */

/* A job that was submitted, as it was; false: it was not. */
bool engine_loop_submitted(const struct engine *engine, job_id id, struct job *job, struct job_truth *truth);

struct loop_facts engine_loop_facts(const struct engine *engine);

#endif
