/* topologies/mig.h -- MIG geometry: profiles, legal starts, and where one still fits.
 *
 * A GPU has 8 memory slices; an instance covers `size` of them from a legal start.
 * The set of covered slices is an 8-bit mask.  Profiles 0..MIG_PROFILE_COUNT-1 are the
 * same for every family in shape (1g, 1g+me, 1g with double memory, 2g, 3g, 4g, 7g);
 * names, memory and SMs differ.
 *
 * Law: mig_fit(mask, p) holds, as bits, exactly the legal starts of p that do not
 * overlap the mask; the memory mask alone keeps compute slices <= 7.
 *
 * It does not: know which instances there are (topologies/mig_layout.h).
 * Source: nvidia-smi mig -lgip / -lgipp of H100-80GB; A100, H200 and B200 have the same start sets.
 */
#ifndef TOPOLOGIES_MIG_H
#define TOPOLOGIES_MIG_H

#include <stdbool.h>
#include <stdint.h>

#include "topologies/gpu_model.h"

enum {
    MIG_SLICES = 8,         /* memory slices of a GPU */
    MIG_COMPUTE_SLICES = 7, /* the last memory slice has no compute slice */
};

enum mig_profile_id {
    MIG_1G,
    MIG_1G_ME,   /* with the media engines; at most one per GPU */
    MIG_1G_2MEM, /* one compute slice, two memory slices */
    MIG_2G,
    MIG_3G,
    MIG_4G,
    MIG_7G,
    MIG_PROFILE_COUNT
};

struct mig_profile {
    const char *name;       /* "1g.10gb" */
    uint8_t compute_slices; /* of 7 */
    uint8_t memory_slices;  /* of 8 */
    uint8_t starts;         /* bit s set: may start at memory slice s */
    uint8_t max_count;      /* on one GPU */
    uint32_t memory_mib;
    uint16_t sm_count; /* 0: not known for this model */
};

/* The profiles of a family, MIG_PROFILE_COUNT long; NULL for MIG_NONE. */
const struct mig_profile *mig_profiles(enum mig_family family);

/* The profile of that name, "+me" included; -1 if the family has none. */
int mig_profile_find(enum mig_family family, struct text name);

/* The name of a profile similar to that one, for "did you mean"; NULL: none. */
const char *mig_profile_nearest(enum mig_family family, struct text name);

/* The starts at which `profile` fits, given the taken slices `mask`, as bits.  O(1). */
uint8_t mig_fit(uint8_t mask, enum mig_profile_id profile);

/* The slices that `profile` covers from `start`. */
uint8_t mig_mask(enum mig_profile_id profile, unsigned start);

/* The number of these slices, equal in every family. */
uint32_t mig_slices(enum mig_profile_id profile);

#endif
