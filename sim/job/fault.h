/* sim/job/fault.h -- faults of jobs: when they strike, and whom they take.
 *
 * A fault strikes a job when its work reaches a point, so the same job has the same faults under every policy, however
 * fast it runs.  The points of a job are a Poisson process over its reference work, drawn from a stream of the job's
 * own.  Each strikes once: work that is done again after a restart does not meet it again.
 *
 * The blast radius follows from the kind of the piece:
 *
 *                   whole GPUs, MIG   MPS                   time-slices, plain shares
 *   out of memory   itself            clients of that GPU   clients of that GPU
 *   runaway kernel  itself            clients of that GPU   itself
 *   fatal fault     itself            clients of that GPU   itself
 *
 * Sources: under MPS a fatal fault ends all clients of the GPU's server (NVIDIA, Multi-Process Service), and neither
 * errors nor, in practice, memory are kept apart (nebuly-ai/nos, docs); a client that is killed while its kernel runs
 * counts as such a fault.  In turns memory is not kept apart, and a fault mostly ends its own context (NVIDIA developer
 * forum; nos, docs).  An instance contains its faults (NVIDIA, Multi-Instance GPU).
 *
 *   struct fault fault = {0};
 *   fault_next(&rates, seed, job, &fault);       the first
 *   if (fault_takes_clients(fault.cause, piece.share)) ...
 *
 * It does not: know who shares a GPU, or what a fault costs (sim/engine/engine_faults.c).
 */
#ifndef SIM_JOB_FAULT_H
#define SIM_JOB_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "workloads/job.h"

enum fault_cause { FAULT_OUT_OF_MEMORY, FAULT_RUNAWAY, FAULT_FATAL, FAULT_CAUSE_COUNT };

struct fault_rates {
    double per_job_h[FAULT_CAUSE_COUNT]; /* per hour of reference work of a job; all 0: there are no faults */
};

struct fault {
    time_ns at;      /* reference work of the job; TIME_NEVER: it has no more */
    uint32_t number; /* from 1 */
    uint32_t salt;   /* says which of its shares it strikes: fault_key */
    uint8_t cause;   /* enum fault_cause */
};

bool fault_rates_are_set(const struct fault_rates *rates);

/* The fault after this one; {0}: the first.  Some rate is set. */
void fault_next(const struct fault_rates *rates, uint64_t seed, job_id job, struct fault *fault);

/* Does it take the other clients of a GPU whose shares are of that kind? */
bool fault_takes_clients(enum fault_cause cause, enum share_kind kind);

/* It strikes the share of its job with the least key; equal: the lowest node, then the lowest GPU. */
uint64_t fault_key(const struct fault *fault, node_id node, uint32_t gpu_index);

#endif
