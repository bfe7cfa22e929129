/* topologies/gpu_class.h -- GPU classes: named kinds of GPUs that a cluster offers.
 *
 * A job that asks for "h100-mig-1g" gets a kind of piece (a whole GPU, a share of one, memory of one, a MIG instance)
 * of GPUs that meet the class's conditions.  The cluster file maps the class to models, so submitters need not.
 *
 *   "gpu_classes": [{"name": "h100-full", "gpu_model": "h100-80gb"},
 *                   {"name": "h100-mig-1g", "gpu_model": "h100-80gb", "mig": "1g.10gb"},
 *                   {"name": "shared", "gpu_fraction": 0.1},
 *                   {"name": "big", "min_memory_gb": 80, "nvlink": true}]
 *
 * Laws
 *  - A class is resolved when the cluster is read, and a job that names one when the job is read
 *    (workloads/request/ask.h): a request knows models and pieces, no classes, and so does the scheduler.
 *  - Conditions apply to the whole GPU of a piece and are evaluated for models: if a model meets them, all its nodes
 *    can be used.
 *  - Some GPU of the cluster meets the conditions of every class.
 *
 * It does not: define how a share runs beside others (policies/sharing/sharing.h), or offer alternatives
 * ("first available").
 * Source of the idea: DeviceClass and ResourceClaim of Kubernetes (Dynamic Resource Allocation, resource.k8s.io/v1).
 */
#ifndef TOPOLOGIES_GPU_CLASS_H
#define TOPOLOGIES_GPU_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/json.h"

struct cluster;

enum { GPU_CLASSES_MAX = 256 };

/* Properties that a GPU must have; {0}: none. */
struct gpu_conditions {
    uint64_t models;     /* bit i: cluster.models[i] is accepted; 0: any model */
    uint32_t memory_mib; /* at least */
    uint16_t sm_count;   /* at least; a model whose number is not known has 0 */
    bool has_mig;        /* the model must support MIG */
    bool asks_nvlink;    /* has_nvlink is a condition */
    bool has_nvlink;     /* true: all nodes of the model have NVLink between GPUs; false: none of them has */
};

struct gpu_class {
    const char *name;
    uint64_t models;         /* accepted models, as bits of cluster.models; 0: any */
    uint16_t gpu_milli;      /* a share, 1..999; at most one of these three is not 0; all 0: a whole GPU */
    uint32_t gpu_memory_mib; /* memory on one GPU */
    uint8_t mig;             /* enum mig_profile_id + 1 */
};

static inline bool gpu_class_is_whole(const struct gpu_class *class)
{
    return class->gpu_milli == 0 && class->gpu_memory_mib == 0 && class->mig == 0;
}

/* The models of nodes with GPUs, as bits. */
uint64_t cluster_models_used(const struct cluster *cluster);

/* The models of these that meet the conditions; 0: none.  O(pools). */
uint64_t gpu_conditions_models(const struct cluster *cluster, const struct gpu_conditions *conditions);

/* The class with that name; NULL: there is none. */
const struct gpu_class *cluster_gpu_class_of(const struct cluster *cluster, struct text name);

/* Set the error's hint to a class with a similar name, or to the list of classes. */
void gpu_class_hint(const struct cluster *cluster, struct text name, struct error *error);

/* Read the array into the cluster, which must be complete otherwise.  Fails through the sticky error. */
void cluster_read_classes(struct cluster *cluster, const struct json_value *array);

/* Read "min_memory_gb", "min_sms", "mig_capable" and "nvlink" of an object; models are not read. */
struct gpu_conditions gpu_conditions_read(struct json_object *object);

/* Append `,"gpu_classes":[...]` if there are any.  Conditions are written as the models that meet them. */
void cluster_write_classes(const struct cluster *cluster, struct buffer *out);

/* Append a short description: "1g.10gb of h100-80gb". */
void gpu_class_show(const struct cluster *cluster, const struct gpu_class *class, struct buffer *out);

#endif
