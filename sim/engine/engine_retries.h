/* sim/engine/engine_retries.h -- attempts that failed where the trace was recorded, replayed (struct job_failures).
 *
 * Laws
 *  - The reference work of each attempt is that of the record, and each begins with none done.  When an attempt but the
 *    last has done its work, it fails: the job leaves as one that a fault takes, with the reason `fault`, and waits
 *    again.  The scheduler is told that it has left, as of a fault, and no more.
 *  - The end of the last attempt is that of the job.  A limit may end it before, and a fault of the world may strike.
 *  - Such a job writes no checkpoints: an eviction loses the work of the present attempt, and of that alone.
 *
 * All is off, and `retries` of the engine NULL, until a job with such attempts comes.
 */
#ifndef SIM_ENGINE_ENGINE_RETRIES_H
#define SIM_ENGINE_ENGINE_RETRIES_H

#include "sim/engine/engine_state.h"

struct sim_retry {                       /* of one job */
    const struct job_failures *failures; /* borrowed from the source; NULL: none */
    time_ns last;                        /* reference work of the last attempt */
    uint32_t failed;                     /* attempts so far */
};

/* The job has come; its progress has begun. */
void engine_retry_asks(struct engine *engine, uint32_t slot, const struct job_truth *truth);

/* If the work of an attempt but the last is done, it fails.  False: it does not, and nothing has changed. */
bool engine_retry_fails(struct engine *engine, uint32_t slot);

/* The longest attempt of a job. */
time_ns engine_retry_longest(const struct job_truth *truth);

#endif
