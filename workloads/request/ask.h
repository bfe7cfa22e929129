/* workloads/request/ask.h -- turns the request in a trace line or a size of a mix into the groups of struct job.
 *
 * Law: whole GPUs, CPUs and memory are the job's totals and are split evenly over its members, CPUs and memory
 * rounded up.  With `nodes` there is one member per node; without it a member has one GPU, on any node.
 */
#ifndef WORKLOADS_REQUEST_ASK_H
#define WORKLOADS_REQUEST_ASK_H

#include "base/buffer.h"
#include "workloads/job.h"

/* In the order in which a complaint names them. */
enum ask_field { ASK_GPUS, ASK_NODES, ASK_FRACTION, ASK_GPU_MEMORY, ASK_MIG, ASK_MIN_MEMBERS, ASK_MODEL };

enum { ASK_GPUS_MAX = 1000000 };

struct ask {
    int64_t gpus;           /* 0..ASK_GPUS_MAX */
    int64_t nodes;          /* 0: not given */
    int64_t gpu_milli;      /* 0: no share; GPU_MILLI: a whole GPU */
    int64_t gpu_memory_mib; /* 0: none */
    int mig;                /* profile + 1; 0: none */
    int64_t pieces; /* for a GPU class of shares or instances: how many, with one member each; 0: no such class */
    int64_t cpu_milli, memory_mib;
    int64_t min_members;     /* 0: all */
    int64_t tensor_parallel; /* GPUs that must share NVLink; 0: not given */
    uint64_t gpu_models;
    const struct node_ask *node_ask; /* `nodes` of struct request */
};

/* Add GPUs of the class (topologies/gpu_class.h) to `ask`, which holds the other fields: `gpus` of them, at least one.
 * Returns NULL, or a contradiction with *culprit set. */
const char *ask_class(const struct gpu_class *class, struct ask *ask, enum ask_field *culprit);

/* Set group 0 of `job`.  Returns NULL, or why that is not valid with *culprit set; then the job is unchanged. */
const char *ask_shape(const struct ask *ask, struct job *job, enum ask_field *culprit);

/* As above for one group of `count` members with the request `each`, whose nodes and min_members are ignored. */
const char *ask_group(const struct ask *each, uint32_t count, uint32_t min_count, struct job_group *group,
                      enum ask_field *culprit);

/* Set group 0 to `gpus` GPUs in tensor-parallel groups.  A group that fits an island of a node becomes one member, in
 * one island.  A larger one becomes one member per node, in a slice of the level "nvlink".  The first pool with
 * accepted GPUs decides which.  Returns NULL, or why the cluster cannot hold a group. */
const char *ask_tensor_parallel(const struct ask *ask, const struct cluster *cluster, struct job *job);

/* The mask of the models in "A|B|C"; bit 63 stands for models that the cluster lacks; 0 for an empty text. */
uint64_t ask_models(const struct cluster *cluster, struct text names);

/* The MIG profile + 1 of that name, and the cluster's models that have it (0: all; bit 63: none has, but another family
 * knows it).  Returns 0 if no family knows it. */
int ask_mig(const struct cluster *cluster, struct text name, uint64_t *gpu_models);

/* The name of the request's MIG profile, as the first accepted model with MIG calls it; the request has one. */
const char *ask_mig_name(const struct cluster *cluster, const struct request *request);

/* The models in both masks.  If there is none, the result has only bit 63. */
uint64_t ask_both_models(uint64_t a, uint64_t b);

#endif
