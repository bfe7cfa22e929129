/* policies/sharing/sharings.h -- the sharing policies there are, and what they are made of; a new one adds a line here
 * and in registry.c. */
#ifndef POLICIES_SHARINGS_H
#define POLICIES_SHARINGS_H

#include "policies/sharing/sharing.h"

extern const struct sharing_policy sharing_as_asked, sharing_whole, sharing_mig, sharing_mps, sharing_timeslice,
    sharing_trust;

/* NVIDIA's MPS documentation: at most 48 clients of a GPU. */
enum { MPS_CLIENTS_MAX = 48, TIMESLICE_CLIENTS = 4 };

/* Is it a piece of a GPU: a share, memory, or an instance? */
static inline bool request_is_part(const struct request *request)
{
    return request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

/* The share of a GPU in milli that the part is: of its compute or of its memory, whichever is more; above GPU_MILLI if
 * no GPU is large enough. */
uint32_t sharing_milli(const struct cluster *cluster, const struct request *request);

/* Make it that. */
void sharing_make_whole(struct request *request, uint32_t gpus);
void sharing_make_share(struct request *request, enum share_kind kind, uint32_t milli);

/* Make a share the smallest MIG instance with its compute and its memory; what needs all seven slices becomes a whole
 * GPU.  False, and nothing changes, if the model has no MIG. */
bool sharing_make_instance(const struct cluster *cluster, struct request *request);

#endif
