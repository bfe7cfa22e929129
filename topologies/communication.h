/* topologies/communication.h -- what a job exchanges in each step, and how fast it runs where it stands.
 *
 * A job declares its parallel plan (topologies/training.h), or a sensitivity: which part of a step is communication,
 * and of what kind.  The recorded run time of a job is that of its best place, alone; the speed of a place is the step
 * time there, divided into that of the best place.
 *
 * Law (sensitivity).  At the best place a step takes 1: compute takes 1 - exposed_ratio, and GPUs wait for
 * communication exposed_ratio.  Communication takes exposed_ratio / (1 - hidden_ratio) in all; hidden_ratio of it is
 * behind compute.  Elsewhere it takes longer by the ratio of collective_time of one exchange of `bytes`.  Behind
 * compute stays the same part, but no more than 0.9 of compute (as for DP in topologies/training.h):
 *
 *   exposed = max((1 - hidden_ratio) c, c - 0.9 (1 - exposed_ratio))
 *
 * (A sensitivity that hides more than 0.9 of compute at the best place hides that much elsewhere too.)
 *
 * Law (both).  Speed is in (0, 1]; 1 at the best place, and for a job that declares nothing or has one GPU; it never
 * falls as the network gets faster.  No place in the same pool has a shorter step than the best, with one exception: an
 * all-reduce of few MB by a tree over several domains starts some microseconds earlier where fewer GPUs are in each
 * domain.  Its speed there is 1.
 *
 *   const struct communication *declared = ...;
 *   struct gang_place best = communication_best(declared, cluster, pool, 16, 8);
 *   struct communication_time here = communication_time(declared, &place, &best, place.network_bytes_per_s);
 *   here.speed
 *
 * It does not: know other jobs; a caller gives the network that they leave.  Compute is as fast everywhere: that of
 * the GPUs of the best place; a GPU whose rate is not known counts as an H100.  All groups of a plan have the network's
 * rate of the whole job, also those that stay in a unit.
 */
#ifndef TOPOLOGIES_COMMUNICATION_H
#define TOPOLOGIES_COMMUNICATION_H

#include "base/buffer.h"
#include "base/json.h"
#include "topologies/gang_place.h"
#include "topologies/training.h"

struct sensitivity {
    const char *name; /* "all_reduce_bound"; "" if the workload defines it itself */
    enum collective_kind kind;
    double exposed_ratio; /* of a step at the best place, 0 to 0.95 */
    double hidden_ratio;  /* of communication at the best place, 0 to 0.95 */
    double bytes;         /* of one exchange: a GPU's buffer, as topologies/collective.h counts; 1 to 1e15 */
};

/* "none", "compute_bound", "all_reduce_bound", "skewed", "bandwidth_bound"; docs/network.md has their values. */
const struct sensitivity *sensitivity_table(uint32_t *count);
const struct sensitivity *sensitivity_find(struct text name); /* NULL: unknown */

struct communication {
    bool has_plan;
    struct training_plan plan;      /* if has_plan */
    struct sensitivity sensitivity; /* else */
};

/* From the members `plan` or `sensitivity` (a name or an object) of an object that is being read; false: it has
 * neither, and *communication is not set.  gpu_count: of the job: a plan without `dp` gets what is left; 0: not known
 * yet, `dp` may be left out and is then 0 (communication_fit).  Sets the sticky error at the value that is wrong.
 * Nothing is borrowed from the document. */
bool communication_read(struct communication *communication, struct json_object *object, uint32_t gpu_count);

/* The communication of a job of `gpu_count` GPUs: a plan whose dp is 0 gets the replicas that these make.  False: the
 * plan does not fit so many GPUs, and *why is set. */
bool communication_fit(const struct communication *declared, uint64_t gpu_count, struct communication *fitted,
                       struct training_complaint *why);

/* Append `"plan":{...}` or `"sensitivity":...`; communication_read makes an equal one of it. */
void communication_write(const struct communication *communication, struct buffer *out);

bool communication_is_same(const struct communication *a, const struct communication *b);
uint64_t communication_hash(const struct communication *communication);

/* "plan", the name of its sensitivity, or "own" for one that the workload defines itself. */
const char *communication_name(const struct communication *communication);

struct communication_time {
    double step_s;        /* of a plan; else as a part of the step at the best place */
    double exposed_ratio; /* of this step: GPUs wait for communication */
    double network_ratio; /* of this step: it sends over the network, hidden or not; 0: all in one domain */
    double speed;         /* of the best place's: (0, 1] */
    double mfu_ratio;     /* 0: no plan, or the rate of the GPU is not known */
};

/* The place with the shortest step on empty nodes of that pool (topologies/gang_place.h), among: as few domains as hold
 * the job, with members spread evenly; the same, where groups of GPUs stay together that divide tp; more domains, where
 * each GPU then has more of the NICs, or does without PCIe.  gpu_count, member_gpus: at least 1. */
struct gang_place communication_best(const struct communication *communication, const struct cluster *cluster,
                                     uint32_t pool, uint32_t gpu_count, uint32_t member_gpus);

/* network_bytes_per_s: what one GPU gets on the network, above 0.  communication NULL: speed 1.  A plan for more or
 * fewer GPUs than the place has (members left) is scaled in its replicas; its dp is not 0 (communication_fit).  O(1),
 * pure. */
struct communication_time communication_time(const struct communication *communication, const struct gang_place *place,
                                             const struct gang_place *best, double network_bytes_per_s);

#endif
