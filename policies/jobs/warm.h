/* policies/jobs/warm.h -- which nodes are warm: where jobs with the same objects (struct job_objects) started last.
 *
 * The scheduler infers this from the starts that it is told.  Kubernetes is told instead: kubelet reports the images of
 * a node, 50 at most, with the node's status (nodeStatusMaxImages of KubeletConfiguration, kubernetes.io).  Starts need
 * no further fact, and say the same of weights and data, which no status lists.  Both are guesses: a node may have
 * dropped an object since, or got it in another way.
 *
 * Law.  Of an object the last WARM_NODES nodes are remembered, each once, the latest first.  Objects are remembered in
 * sets of WARM_WAYS by their id; in a set, the one that started longest ago gives way.  So the memory is bounded, and a
 * query costs O(WARM_NODES).
 *
 *   warm_open(&warm);
 *   warm_know(&warm, slot, job->objects);        the job is submitted
 *   warm_started(&warm, slot, node);             it has started there
 *   if (warm_remembers(warm_find(&warm, object), node)) ...
 *
 * It does not: know caches, their sizes, or what they hold.
 */
#ifndef POLICIES_JOBS_WARM_H
#define POLICIES_JOBS_WARM_H

#include "workloads/job.h"

enum { WARM_NODES = 32, WARM_WAYS = 4, WARM_SETS = 1024 };

struct warm_object {
    uint32_t object; /* id + 1; 0: none */
    uint32_t count;
    uint64_t used; /* the number of its last start */
    node_id nodes[WARM_NODES];
};

struct warm {
    struct warm_object *objects; /* WARM_SETS x WARM_WAYS; NULL: nothing is remembered */
    struct job_objects *jobs;    /* by slot */
    size_t job_capacity;
    uint32_t job_count;
    uint64_t starts;
}; /* {0}: nothing is remembered */

void warm_open(struct warm *warm); /* from now on things are remembered */
void warm_release(struct warm *warm);

static inline bool warm_is_open(const struct warm *warm)
{
    return warm->objects != NULL;
}

/* All but warm_objects only if it is open. */
void warm_know(struct warm *warm, uint32_t slot, const struct job_objects *objects); /* NULL: it declares none */
void warm_started(struct warm *warm, uint32_t slot, node_id node);

/* The objects of the job in the slot; NULL: it has none, or there is no such job. */
const struct job_objects *warm_objects(const struct warm *warm, uint32_t slot);
/* Where the object is remembered; NULL: nowhere. */
const struct warm_object *warm_find(const struct warm *warm, uint32_t object);
bool warm_remembers(const struct warm_object *object, node_id node); /* object: of warm_find */

#endif
