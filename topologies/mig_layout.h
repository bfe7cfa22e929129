/* topologies/mig_layout.h -- the MIG instances of one GPU: a layout, its number, and what it still admits.
 *
 * Words: an instance is a profile and the memory slice it starts at; a layout is a set of instances of one GPU;
 * it is legal if each has a start that its profile allows, no two cover the same slice and no profile is there
 * more often than it may.
 *
 * Law: the legal layouts are numbered 0..MIG_LAYOUT_COUNT-1 without gaps, the same in every family, and 0 is the
 * empty one; mig_layout_get(mig_layout_of(layout)) is the layout again.  The number is a rank: going through the
 * slices from 0, at each the layouts where nothing starts come first, then those of each profile in turn.
 *
 *   struct gpu_layout layout = {{[0] = MIG_3G + 1, [4] = MIG_1G + 1}};
 *   mig_layout_id id = mig_layout_of(&layout);
 *   struct mig_room room = mig_layout_room(&layout);      (room.starts[MIG_2G]: bits of where one more would fit)
 *
 * It does not: know the holders of instances (policies/ledger/ledger.h), or names (topologies/mig_arrange.h).
 */
#ifndef TOPOLOGIES_MIG_LAYOUT_H
#define TOPOLOGIES_MIG_LAYOUT_H

#include "topologies/mig.h"

/* The instances of one GPU.  Without instances the GPU is whole. */
struct gpu_layout {
    uint8_t
        profile[MIG_SLICES]; /* by the memory slice at which it starts: enum mig_profile_id + 1; 0: none starts there */
};

typedef uint16_t mig_layout_id;

enum {
    MIG_LAYOUT_COUNT = 2319,
    MIG_INSTANCES_MAX = 7, /* on one GPU: none starts at the last slice */
};

/* ---- Which layout ---- */

/* Why an instance cannot be added: the first reason that applies. */
enum mig_misfit {
    MIG_FITS,
    MIG_NO_START, /* its profile never starts there */
    MIG_TOO_MANY, /* of that profile */
    MIG_OVERLAPS  /* with an existing instance */
};
enum mig_misfit mig_layout_misfit(const struct gpu_layout *layout, enum mig_profile_id profile, unsigned start);

/* For any bytes. */
bool mig_layout_is_legal(const struct gpu_layout *layout);

/* The number of a legal layout (asserted), and the layout of a number below MIG_LAYOUT_COUNT.  O(slices). */
mig_layout_id mig_layout_of(const struct gpu_layout *layout);
struct gpu_layout mig_layout_get(mig_layout_id id);

/* ---- Instances of a legal layout ---- */

uint8_t mig_layout_mask(const struct gpu_layout *layout); /* bits of the slices covered */
uint32_t mig_layout_count(const struct gpu_layout *layout, enum mig_profile_id profile);

/* The free instances of that profile, as bits of their starts. */
static inline uint8_t gpu_layout_starts(const struct gpu_layout *layout, uint8_t free_starts,
                                        enum mig_profile_id profile)
{
    uint8_t out = 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if ((free_starts >> s & 1) && layout->profile[s] == profile + 1)
            out |= (uint8_t)(1u << s);
    return out;
}

/* All instances, as bits of their starts. */
static inline uint8_t gpu_layout_all(const struct gpu_layout *layout)
{
    uint8_t out = 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        out |= (uint8_t)((layout->profile[s] != 0) << s);
    return out;
}

/* ---- Instances that can be added to a legal layout ---- */

/* Room beside the present instances, for each profile alone. */
struct mig_room {
    uint8_t starts[MIG_PROFILE_COUNT]; /* bits: another instance may start there */
};
struct mig_room mig_layout_room(const struct gpu_layout *layout);

#endif
