/* topologies/mig.c -- the five MIG families, and where a profile still fits. */
#include "topologies/mig.h"

#include <assert.h>
#include <stddef.h>

enum { MASKS = 256 };

/* nvidia-smi mig -lgipp of an H100-80GB, and the NVIDIA MIG user guide: sets of starts, as bits. */
#define STARTS_1G     0x7f /* {0,1,2,3,4,5,6} */
#define STARTS_1G2MEM 0x55 /* {0,2,4,6} */
#define STARTS_2G     0x15 /* {0,2,4} */
#define STARTS_3G     0x11 /* {0,4} */
#define STARTS_FIRST  0x01 /* {0} */

/* The shape of a profile (compute slices, memory slices, starts, at most on one GPU): -lgip of the H100; equal in every
 * family. */
#define SHAPE(compute, memory, start_set, most)                                                                        \
    .compute_slices = (compute), .memory_slices = (memory), .starts = (start_set), .max_count = (most)
#define SHAPE_1G     SHAPE(1, 1, STARTS_1G, 7)
#define SHAPE_1G_ME  SHAPE(1, 1, STARTS_1G, 1)
#define SHAPE_1G2MEM SHAPE(1, 2, STARTS_1G2MEM, 4)
#define SHAPE_2G     SHAPE(2, 2, STARTS_2G, 3)
#define SHAPE_3G     SHAPE(3, 4, STARTS_3G, 2)
#define SHAPE_4G     SHAPE(4, 4, STARTS_FIRST, 1)
#define SHAPE_7G     SHAPE(7, 8, STARTS_FIRST, 1)

/* Memory of a profile without a listing: its slices' share of the board.  This is an upper bound: the H100's listing is
 * 0.9 to 2.5 % below it. */
#define SHARE_MIB(board_gb, slices) ((board_gb)*1024u * (slices) / MIG_SLICES)

/* 0: not known. */
#define SMS(count) .sm_count = (count)

/* SMs: NVIDIA MIG user guide, A100-SXM4-40GB. */
static const struct mig_profile a100_40[MIG_PROFILE_COUNT] = {
    [MIG_1G] = {"1g.5gb", SHAPE_1G, SHARE_MIB(40, 1), SMS(14)},
    [MIG_1G_ME] = {"1g.5gb+me", SHAPE_1G_ME, SHARE_MIB(40, 1), SMS(14)},
    [MIG_1G_2MEM] = {"1g.10gb", SHAPE_1G2MEM, SHARE_MIB(40, 2), SMS(14)},
    [MIG_2G] = {"2g.10gb", SHAPE_2G, SHARE_MIB(40, 2), SMS(28)},
    [MIG_3G] = {"3g.20gb", SHAPE_3G, SHARE_MIB(40, 4), SMS(42)},
    [MIG_4G] = {"4g.20gb", SHAPE_4G, SHARE_MIB(40, 4), SMS(56)},
    [MIG_7G] = {"7g.40gb", SHAPE_7G, SHARE_MIB(40, 8), SMS(98)},
};

/* SMs: NVIDIA MIG user guide, A100-SXM4-80GB. */
static const struct mig_profile a100_80[MIG_PROFILE_COUNT] = {
    [MIG_1G] = {"1g.10gb", SHAPE_1G, SHARE_MIB(80, 1), SMS(14)},
    [MIG_1G_ME] = {"1g.10gb+me", SHAPE_1G_ME, SHARE_MIB(80, 1), SMS(14)},
    [MIG_1G_2MEM] = {"1g.20gb", SHAPE_1G2MEM, SHARE_MIB(80, 2), SMS(14)},
    [MIG_2G] = {"2g.20gb", SHAPE_2G, SHARE_MIB(80, 2), SMS(28)},
    [MIG_3G] = {"3g.40gb", SHAPE_3G, SHARE_MIB(80, 4), SMS(42)},
    [MIG_4G] = {"4g.40gb", SHAPE_4G, SHARE_MIB(80, 4), SMS(56)},
    [MIG_7G] = {"7g.80gb", SHAPE_7G, SHARE_MIB(80, 8), SMS(98)},
};

/* All columns: nvidia-smi mig -lgip of an H100-80GB SXM.  It prints GiB with two digits: 9.75, 19.62 (19.625), 39.50,
 * 79.25. */
static const struct mig_profile h100_80[MIG_PROFILE_COUNT] = {
    [MIG_1G] = {"1g.10gb", SHAPE_1G, 9984, SMS(16)},           [MIG_1G_ME] = {"1g.10gb+me", SHAPE_1G_ME, 9984, SMS(16)},
    [MIG_1G_2MEM] = {"1g.20gb", SHAPE_1G2MEM, 20096, SMS(26)}, [MIG_2G] = {"2g.20gb", SHAPE_2G, 20096, SMS(32)},
    [MIG_3G] = {"3g.40gb", SHAPE_3G, 40448, SMS(60)},          [MIG_4G] = {"4g.40gb", SHAPE_4G, 40448, SMS(64)},
    [MIG_7G] = {"7g.80gb", SHAPE_7G, 81152, SMS(132)},
};

/* Names: NVIDIA MIG user guide, H200.  SMs assumed: the die of the H100. */
static const struct mig_profile h200_141[MIG_PROFILE_COUNT] = {
    [MIG_1G] = {"1g.18gb", SHAPE_1G, SHARE_MIB(141, 1), SMS(16)},
    [MIG_1G_ME] = {"1g.18gb+me", SHAPE_1G_ME, SHARE_MIB(141, 1), SMS(16)},
    [MIG_1G_2MEM] = {"1g.35gb", SHAPE_1G2MEM, SHARE_MIB(141, 2), SMS(26)},
    [MIG_2G] = {"2g.35gb", SHAPE_2G, SHARE_MIB(141, 2), SMS(32)},
    [MIG_3G] = {"3g.71gb", SHAPE_3G, SHARE_MIB(141, 4), SMS(60)},
    [MIG_4G] = {"4g.71gb", SHAPE_4G, SHARE_MIB(141, 4), SMS(64)},
    [MIG_7G] = {"7g.141gb", SHAPE_7G, SHARE_MIB(141, 8), SMS(132)},
};

/* Names: NVIDIA MIG user guide, B200.  SMs per profile: not known. */
static const struct mig_profile b200_180[MIG_PROFILE_COUNT] = {
    [MIG_1G] = {"1g.23gb", SHAPE_1G, SHARE_MIB(180, 1), SMS(0)},
    [MIG_1G_ME] = {"1g.23gb+me", SHAPE_1G_ME, SHARE_MIB(180, 1), SMS(0)},
    [MIG_1G_2MEM] = {"1g.45gb", SHAPE_1G2MEM, SHARE_MIB(180, 2), SMS(0)},
    [MIG_2G] = {"2g.45gb", SHAPE_2G, SHARE_MIB(180, 2), SMS(0)},
    [MIG_3G] = {"3g.90gb", SHAPE_3G, SHARE_MIB(180, 4), SMS(0)},
    [MIG_4G] = {"4g.90gb", SHAPE_4G, SHARE_MIB(180, 4), SMS(0)},
    [MIG_7G] = {"7g.180gb", SHAPE_7G, SHARE_MIB(180, 8), SMS(0)},
};

static const struct mig_profile *const families[MIG_FAMILY_COUNT] = {
    [MIG_A100_40] = a100_40,   [MIG_A100_80] = a100_80,   [MIG_H100_80] = h100_80,
    [MIG_H200_141] = h200_141, [MIG_B200_180] = b200_180,
};

/* Bit s of RUNn(mask): slices s..s+n-1 are free.  Doubling works because sizes are powers of two. */
#define RUN1(mask) (~(mask)&0xff)
#define RUN2(mask) (RUN1(mask) & (RUN1(mask) >> 1))
#define RUN4(mask) (RUN2(mask) & (RUN2(mask) >> 2))
#define RUN8(mask) (RUN4(mask) & (RUN4(mask) >> 4))

#define FIT_1(m)                                                                                                       \
    {                                                                                                                  \
        [MIG_1G] = RUN1(m) & STARTS_1G, [MIG_1G_ME] = RUN1(m) & STARTS_1G, [MIG_1G_2MEM] = RUN2(m) & STARTS_1G2MEM,    \
        [MIG_2G] = RUN2(m) & STARTS_2G, [MIG_3G] = RUN4(m) & STARTS_3G, [MIG_4G] = RUN4(m) & STARTS_FIRST,             \
        [MIG_7G] = RUN8(m) & STARTS_FIRST                                                                              \
    }
#define FIT_4(m)  FIT_1(m), FIT_1((m) + 1), FIT_1((m) + 2), FIT_1((m) + 3)
#define FIT_16(m) FIT_4(m), FIT_4((m) + 4), FIT_4((m) + 8), FIT_4((m) + 12)
#define FIT_64(m) FIT_16(m), FIT_16((m) + 16), FIT_16((m) + 32), FIT_16((m) + 48)

static const uint8_t fit[MASKS][MIG_PROFILE_COUNT] = {FIT_64(0), FIT_64(64), FIT_64(128), FIT_64(192)};

const struct mig_profile *mig_profiles(enum mig_family family)
{
    assert(family < MIG_FAMILY_COUNT);
    return families[family];
}

int mig_profile_find(enum mig_family family, struct text name)
{
    const struct mig_profile *profiles = mig_profiles(family);
    for (int p = 0; profiles != NULL && p < MIG_PROFILE_COUNT; p++)
        if (text_is(name, profiles[p].name))
            return p;
    return -1;
}

const char *mig_profile_nearest(enum mig_family family, struct text name)
{
    const struct mig_profile *profiles = mig_profiles(family);
    const char *names[MIG_PROFILE_COUNT + 1] = {NULL};
    for (int p = 0; profiles != NULL && p < MIG_PROFILE_COUNT; p++)
        names[p] = profiles[p].name;
    return text_nearest(name, names);
}

uint8_t mig_fit(uint8_t mask, enum mig_profile_id profile)
{
    assert(profile < MIG_PROFILE_COUNT);
    return fit[mask][profile];
}

uint32_t mig_slices(enum mig_profile_id profile)
{
    assert(profile < MIG_PROFILE_COUNT);
    return h100_80[profile].memory_slices;
}

uint8_t mig_mask(enum mig_profile_id profile, unsigned start)
{
    assert(profile < MIG_PROFILE_COUNT);
    const struct mig_profile *shape = &h100_80[profile]; /* the shape is equal in all families */
    assert(start < MIG_SLICES && (shape->starts >> start & 1));
    return (uint8_t)(((1u << shape->memory_slices) - 1) << start);
}
