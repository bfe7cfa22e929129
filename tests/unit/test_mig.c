/* tests/unit/test_mig.c -- MIG profiles against nvidia-smi's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "topologies/mig.h"

enum { SLICES = 8 };

struct row {
    const char *name;
    unsigned compute, memory, max_count, sm;
    const char *gib; /* as nvidia-smi prints it: cut to two digits */
    const char *starts;
};

/* nvidia-smi mig -lgip and -lgipp of an H100-80GB SXM. */
static const struct row h100[MIG_PROFILE_COUNT] = {
    {"1g.10gb", 1, 1, 7, 16, "9.75", "0123456"}, {"1g.10gb+me", 1, 1, 1, 16, "9.75", "0123456"},
    {"1g.20gb", 1, 2, 4, 26, "19.62", "0246"},   {"2g.20gb", 2, 2, 3, 32, "19.62", "024"},
    {"3g.40gb", 3, 4, 2, 60, "39.50", "04"},     {"4g.40gb", 4, 4, 1, 64, "39.50", "0"},
    {"7g.80gb", 7, 8, 1, 132, "79.25", "0"},
};

/* NVIDIA MIG user guide: names in the order of the profiles, SMs (0: not known). */
static const struct {
    enum mig_family family;
    const char *names[MIG_PROFILE_COUNT];
    unsigned sm[MIG_PROFILE_COUNT];
} families[] = {
    {MIG_A100_40,
     {"1g.5gb", "1g.5gb+me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"},
     {14, 14, 14, 28, 42, 56, 98}},
    {MIG_A100_80,
     {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
     {14, 14, 14, 28, 42, 56, 98}},
    {MIG_H100_80,
     {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
     {16, 16, 26, 32, 60, 64, 132}},
    {MIG_H200_141,
     {"1g.18gb", "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"},
     {16, 16, 26, 32, 60, 64, 132}},
    {MIG_B200_180,
     {"1g.23gb", "1g.23gb+me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"},
     {0, 0, 0, 0, 0, 0, 0}},
};
enum { FAMILIES = sizeof families / sizeof *families };

static void the_h100_is_as_nvidia_smi_lists_it(void **state)
{
    (void)state;
    const struct mig_profile *profiles = mig_profiles(MIG_H100_80);
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        const struct mig_profile *profile = &profiles[p];
        char gib[16];
        unsigned hundredths = profile->memory_mib * 100 / 1024;
        snprintf(gib, sizeof gib, "%u.%02u", hundredths / 100, hundredths % 100);
        assert_string_equal(profile->name, h100[p].name);
        assert_int_equal(profile->compute_slices, h100[p].compute);
        assert_int_equal(profile->memory_slices, h100[p].memory);
        assert_int_equal(profile->max_count, h100[p].max_count);
        assert_int_equal(profile->sm_count, h100[p].sm);
        assert_string_equal(gib, h100[p].gib);
    }
}

static void every_family_has_its_names_and_the_common_shape(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        const struct mig_profile *profiles = mig_profiles(families[f].family);
        for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
            assert_string_equal(profiles[p].name, families[f].names[p]);
            assert_int_equal(profiles[p].sm_count, families[f].sm[p]);
            assert_int_equal(profiles[p].compute_slices, h100[p].compute);
            assert_int_equal(profiles[p].memory_slices, h100[p].memory);
            assert_int_equal(profiles[p].max_count, h100[p].max_count);
            unsigned starts = 0;
            for (const char *c = h100[p].starts; *c != '\0'; c++)
                starts |= 1u << (*c - '0');
            assert_int_equal(profiles[p].starts, starts);
        }
    }
}

static void profiles_are_found_by_name(void **state)
{
    (void)state;
    assert_null(mig_profiles(MIG_NONE));
    assert_int_equal(mig_profile_find(MIG_NONE, TEXT("1g.10gb")), -1);
    for (size_t f = 0; f < FAMILIES; f++)
        for (int p = 0; p < MIG_PROFILE_COUNT; p++)
            assert_int_equal(mig_profile_find(families[f].family, text_of(families[f].names[p])), p);
    assert_int_equal(mig_profile_find(MIG_A100_40, TEXT("1g.10gb")), MIG_1G_2MEM);
    assert_int_equal(mig_profile_find(MIG_H100_80, TEXT("1g.5gb")), -1);
    assert_int_equal(mig_profile_find(MIG_H100_80, TEXT("1g.10gb+m")), -1);
    assert_int_equal(mig_profile_find(MIG_H100_80, TEXT("")), -1);
}

static void fit_is_what_a_naive_search_finds_for_every_mask(void **state)
{
    (void)state;
    for (unsigned mask = 0; mask < 256; mask++) {
        for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
            unsigned naive = 0;
            for (const char *c = h100[p].starts; *c != '\0'; c++) {
                unsigned start = (unsigned)(*c - '0'), is_free = 1;
                for (unsigned i = start; i < start + h100[p].memory; i++)
                    is_free &= !(mask >> i & 1);
                naive |= is_free << start;
            }
            assert_int_equal(mig_fit((uint8_t)mask, (enum mig_profile_id)p), naive);
        }
    }
}

static void masks_cover_the_slices_from_their_start(void **state)
{
    (void)state;
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        for (const char *c = h100[p].starts; *c != '\0'; c++) {
            unsigned start = (unsigned)(*c - '0'), covered = 0;
            for (unsigned i = 0; i < SLICES; i++)
                covered |= (unsigned)(i >= start && i < start + h100[p].memory) << i;
            assert_int_equal(mig_mask((enum mig_profile_id)p, start), covered);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_h100_is_as_nvidia_smi_lists_it),
        cmocka_unit_test(every_family_has_its_names_and_the_common_shape),
        cmocka_unit_test(profiles_are_found_by_name),
        cmocka_unit_test(fit_is_what_a_naive_search_finds_for_every_mask),
        cmocka_unit_test(masks_cover_the_slices_from_their_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
