/* workloads/synth/synth.h -- synthesized arrivals: classes of jobs, each with its arrival process, size mix, duration
 * distribution and tenants.
 *
 * Law: every purpose of every class draws from its own named stream, so a change of one class does not change others.
 * Rates follow from the work: class rate = share x load x GPUs / (mean GPUs x mean duration), or GPU hours per day /
 * (mean GPUs x mean duration), with the means in closed form for the truncated distributions used.  If the scenario
 * gives the GPUs to which loads are relative, the jobs do not depend on the size of the cluster.
 *
 * JSON, all durations in seconds or with units:
 *   {"duration": "14d", "load_whole_gpu": 1.2,
 *    "tenants": {"organisations": 1, "teams": 20, "projects": 200, "zipf_exponent": 1.0},
 *    "classes": [
 *      {"name": "inference", "class": "inference", "share": 0.50, "priority": 125, "preemptible": false,
 *       "arrivals": {"process": "poisson", "diurnal_peak_to_mean": 2, "weekly": true,
 *                    "burst": {"factor": 3, "duration": "20m", "per_day": 2}},
 *       "sizes": [{"weight": 70, "gpu_milli": 142, "whole_gpus": 1}, ...,
 *                 {"weight": 2.5, "gpus": 64, "nodes": 8}, {"gpus": 64, "tensor_parallel": 8}],
 *       "run_time": {"distribution": "lognormal", "median": "6h", "sigma": 1.2, "max": "30d"},
 *       "sm_active": [0.15, 0.35], "would_do": 1.0,
 *       "fail_early": 0.15, "cancelled": 0.10,
 *       "checkpoint": {"interval": "30m", "duration": 60, "restart": "5m"},
 *       "limit": "7d"}]}
 * distributions: "lognormal" (median, sigma), "exponential" (mean), "constant" (mean).
 */
#ifndef WORKLOADS_SYNTH_SYNTH_H
#define WORKLOADS_SYNTH_SYNTH_H

#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"

struct synth_spec; /* opaque; made by synth_read, lives in the arena */

/* Fails through the sticky error. */
struct synth_spec *synth_read(const struct json_value *value, struct arena *arena);

struct synth; /* one stream of the spec; the spec must have no synth_complaint */
struct synth *synth_new(const struct synth_spec *spec, const struct cluster *cluster, uint64_t seed);
void synth_free(struct synth *synth);

/* Why the cluster cannot hold a size of the mix, with its place in *class_name and *index; NULL: it can, as far as
 * tensor-parallel groups are concerned. */
const char *synth_complaint(const struct synth_spec *spec, const struct cluster *cluster, const char **class_name,
                            uint32_t *index);

/* The GPUs to which loads are relative, and the GPU hours that all jobs ask
 * for per day, as the mean over whole weeks (pieces count as in job_asked_milli). */
uint32_t synth_load_gpus(const struct synth *synth);
double synth_gpu_h_per_day(const struct synth *synth);

/* Add the names of the classes in their order: class i is truth.workload_class i + 1. */
void synth_classes(const struct synth *synth, struct names *names);

/* Add the tenants to `queues`: root -> organisation -> team -> project.  Deserved shares sum to the cluster, equal per
 * team, and within a team equal per project.  Demand is Zipf over all projects; a shuffle by the seed assigns the
 * ranks.  Classes that name a queue are in that one. */
void synth_tenants(const struct synth *synth, struct queue_table *queues);

/* The queue of all jobs of the class, after synth_tenants; QUEUE_NONE: the tenants decide. */
queue_id synth_class_queue(const struct synth *synth, uint32_t class_index);

/* Show a job of each size of each class, without id, time and queue, until `seen` returns false. */
typedef bool synth_seen_fn(void *self, const struct job *job, uint32_t class_index, uint32_t size_index);
void synth_sizes(const struct synth *synth, synth_seen_fn *seen, void *self);

/* The next job in the order of submission; false: the duration is over. */
bool synth_next(struct synth *synth, struct job *job, struct job_truth *truth);

#endif
