/* topologies/mig_layout.c -- layouts ranked and unranked by counting how the slices behind can be filled. */
#include "topologies/mig_layout.h"

#include <assert.h>

/* The shape is equal in all families. */
static const struct mig_profile *shape_of(enum mig_profile_id profile)
{
    return &mig_profiles(MIG_H100_80)[profile];
}

/* ---- Ranks ----
 *
 * NOMEn: the ways to fill slices n..7 when the one instance with media engines is gone; WAYSn: while it may still
 * come. Slice n stays empty or a profile that may start there takes its slices; the media profile has the size and
 * starts of a 1g and leads from WAYS to NOME. */
enum {
    NOME8 = 1,
    NOME7 = NOME8,                                         /* nothing starts at 7 */
    NOME6 = NOME7 + NOME7 + NOME8,                         /* empty, 1g, 1g with double memory */
    NOME5 = NOME6 + NOME6,                                 /* empty, 1g */
    NOME4 = NOME5 + NOME5 + 2 * NOME6 + NOME8,             /* ..., and 2g, 3g */
    NOME3 = NOME4 + NOME4,                                 /* as NOME5 */
    NOME2 = NOME3 + NOME3 + 2 * NOME4,                     /* as NOME6, and 2g */
    NOME1 = NOME2 + NOME2,                                 /* as NOME5 */
    NOME0 = NOME1 + NOME1 + 2 * NOME2 + 2 * NOME4 + NOME8, /* ..., and 3g, 4g, 7g */

    WAYS8 = 1,
    WAYS7 = WAYS8,
    WAYS6 = WAYS7 + WAYS7 + WAYS8 + NOME7,
    WAYS5 = WAYS6 + WAYS6 + NOME6,
    WAYS4 = WAYS5 + WAYS5 + 2 * WAYS6 + WAYS8 + NOME5,
    WAYS3 = WAYS4 + WAYS4 + NOME4,
    WAYS2 = WAYS3 + WAYS3 + 2 * WAYS4 + NOME3,
    WAYS1 = WAYS2 + WAYS2 + NOME2,
    WAYS0 = WAYS1 + WAYS1 + 2 * WAYS2 + 2 * WAYS4 + WAYS8 + NOME1,
};
_Static_assert((int)WAYS0 == (int)MIG_LAYOUT_COUNT, "every layout has a number");
_Static_assert(WAYS0 <= UINT16_MAX, "numbers fit their type");

static const mig_layout_id ways[2][MIG_SLICES + 1] = {
    {NOME0, NOME1, NOME2, NOME3, NOME4, NOME5, NOME6, NOME7, NOME8},
    {WAYS0, WAYS1, WAYS2, WAYS3, WAYS4, WAYS5, WAYS6, WAYS7, WAYS8},
};

/* A position on the way through the slices. */
struct walk {
    unsigned slice;
    bool has_media; /* an instance with media engines may still follow */
};

/* Put the profile (+ 1; 0: none) at the slice; false if it may not start there. */
static bool step(struct walk *walk, unsigned choice)
{
    if (choice == 0) {
        walk->slice++;
        return true;
    }
    enum mig_profile_id profile = (enum mig_profile_id)(choice - 1);
    if (!(mig_fit(0, profile) >> walk->slice & 1) || (profile == MIG_1G_ME && !walk->has_media))
        return false;
    walk->slice += mig_slices(profile);
    walk->has_media &= profile != MIG_1G_ME;
    return true;
}

mig_layout_id mig_layout_of(const struct gpu_layout *layout)
{
    assert(mig_layout_is_legal(layout));
    uint32_t id = 0;
    struct walk walk = {.has_media = true};
    while (walk.slice < MIG_SLICES) {
        unsigned taken = layout->profile[walk.slice];
        for (unsigned choice = 0; choice < taken; choice++) {
            struct walk other = walk;
            if (step(&other, choice))
                id += ways[other.has_media][other.slice];
        }
        step(&walk, taken);
    }
    return (mig_layout_id)id;
}

struct gpu_layout mig_layout_get(mig_layout_id id)
{
    assert(id < MIG_LAYOUT_COUNT);
    struct gpu_layout layout = {{0}};
    struct walk walk = {.has_media = true};
    while (walk.slice < MIG_SLICES) {
        for (unsigned choice = 0; choice <= MIG_PROFILE_COUNT; choice++) {
            struct walk next = walk;
            if (!step(&next, choice))
                continue;
            if (id < ways[next.has_media][next.slice]) {
                layout.profile[walk.slice] = (uint8_t)choice;
                walk = next;
                break;
            }
            id = (mig_layout_id)(id - ways[next.has_media][next.slice]);
        }
    }
    return layout;
}

/* ---- Instances of a layout ---- */

uint8_t mig_layout_mask(const struct gpu_layout *layout)
{
    uint8_t mask = 0;
    for (unsigned s = 0; s < MIG_SLICES; s++)
        if (layout->profile[s] != 0)
            mask |= mig_mask((enum mig_profile_id)(layout->profile[s] - 1), s);
    return mask;
}

uint32_t mig_layout_count(const struct gpu_layout *layout, enum mig_profile_id profile)
{
    uint32_t count = 0;
    for (unsigned s = 0; s < MIG_SLICES; s++)
        count += layout->profile[s] == profile + 1;
    return count;
}

enum mig_misfit mig_layout_misfit(const struct gpu_layout *layout, enum mig_profile_id profile, unsigned start)
{
    if (start >= MIG_SLICES || !(mig_fit(0, profile) >> start & 1))
        return MIG_NO_START;
    if (mig_layout_count(layout, profile) >= shape_of(profile)->max_count)
        return MIG_TOO_MANY;
    if (!(mig_fit(mig_layout_mask(layout), profile) >> start & 1))
        return MIG_OVERLAPS;
    return MIG_FITS;
}

bool mig_layout_is_legal(const struct gpu_layout *layout)
{
    struct gpu_layout built = {{0}};
    for (unsigned s = 0; s < MIG_SLICES; s++) {
        uint8_t choice = layout->profile[s];
        if (choice == 0)
            continue;
        if (choice > MIG_PROFILE_COUNT || mig_layout_misfit(&built, (enum mig_profile_id)(choice - 1), s) != MIG_FITS)
            return false;
        built.profile[s] = choice;
    }
    return true;
}

/* ---- Instances that can be added ---- */

struct mig_room mig_layout_room(const struct gpu_layout *layout)
{
    struct mig_room room;
    uint8_t mask = mig_layout_mask(layout);
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        enum mig_profile_id profile = (enum mig_profile_id)p;
        const bool has_left = mig_layout_count(layout, profile) < shape_of(profile)->max_count;
        room.starts[p] = has_left ? mig_fit(mask, profile) : 0;
    }
    return room;
}
