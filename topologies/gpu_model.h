/* topologies/gpu_model.h -- the properties of GPU models.
 *
 * Law: facts only, each with its source in the table; a model that a cluster file
 * defines itself has the same shape.  MIG tables are in topologies/mig.h.
 */
#ifndef TOPOLOGIES_GPU_MODEL_H
#define TOPOLOGIES_GPU_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum mig_family { MIG_NONE, MIG_A100_40, MIG_A100_80, MIG_H100_80, MIG_H200_141, MIG_B200_180, MIG_FAMILY_COUNT };

struct gpu_model {
    const char *name;           /* "h100-80gb", lower case */
    const char *const *aliases; /* names used by traces, NULL-terminated; may be NULL */
    uint32_t memory_mib;
    uint16_t sm_count;  /* 0: unknown */
    uint16_t power_w;   /* board power limit; 0: unknown */
    double bf16_tflops; /* dense; 0: unknown or none */
    double memory_bytes_per_s;
    double nvlink_bytes_per_s; /* one direction, all links; 0: none */
    enum mig_family mig;
    const char *source;
};

/* All built-in models, the generic one first. */
const struct gpu_model *gpu_model_table(uint32_t *count);

/* Is this the model's name or one of its aliases?  Case does not count. */
bool gpu_model_is(const struct gpu_model *model, struct text name);

/* Find by name or alias; case does not count; NULL: not known. */
const struct gpu_model *gpu_model_find(struct text name);

#endif
