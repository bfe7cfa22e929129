/* workloads/readers/model_feed.h -- jobs drawn from a model of a workload (workloads/load_model) as a feed.
 *
 *   "workload": {"model": "philly", "duration": "14d", "load": 0.9}
 *
 * Law: the same model, seed and end give the jobs of the trace that `trace synth` writes.
 *
 * Rates.  The jobs of a model ask for a number of GPU hours per day that follows from it in closed form
 * (load_model_moments).  A load or GPU hours per day multiply all its rates, so that it becomes the wanted one.
 */
#ifndef WORKLOADS_READERS_MODEL_FEED_H
#define WORKLOADS_READERS_MODEL_FEED_H

#include "workloads/readers/feed.h"

/* Make the feed of spec->model; its queues and users are added to the tables.  *out must be freed through its ops, also
 * after an error.  ERROR_CONFIG: the load cannot be reached, as the jobs ask for no GPU time. */
struct error model_feed_open(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                             struct workload_facts *facts, uint64_t seed) MUST_CHECK;

#endif
