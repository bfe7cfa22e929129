/* tests/unit/test_gpu_model.c -- the table of GPU models: names, aliases, and facts that must hold. */
#include "tests/support/test.h"

#include "topologies/gpu_model.h"
#include "topologies/mig.h"

TEST(the_generic_model_is_first)
{
    uint32_t count;
    const struct gpu_model *table = gpu_model_table(&count);
    assert_true(count >= 11);
    assert_string_equal(table[0].name, "generic");
    assert_int_equal(table[0].memory_mib, 80 * 1024);
    assert_int_equal(table[0].mig, MIG_NONE);
}

/* A name or alias may lead to one model only, or finding would depend on the table's order. */
TEST(every_name_leads_to_its_own_model)
{
    uint32_t count;
    const struct gpu_model *table = gpu_model_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        assert_ptr_equal(gpu_model_find(text_of(table[i].name)), &table[i]);
        for (const char *c = table[i].name; *c != '\0'; c++)
            assert_false(*c >= 'A' && *c <= 'Z');
        assert_true(table[i].memory_mib > 0);
        assert_true(strlen(table[i].source) > 0);
        const char *const *alias = table[i].aliases;
        for (; alias != NULL && *alias != NULL; alias++)
            assert_ptr_equal(gpu_model_find(text_of(*alias)), &table[i]);
    }
}

TEST(names_of_traces_are_known_in_any_case)
{
    static const char *const pairs[][2] = {
        {"V100M16", "v100-16gb"},   {"V100M32", "v100-32gb"},
        {"T4", "t4-16gb"},          {"P100", "p100-16gb"},
        {"A10", "a10-24gb"},        {"h100", "h100-80gb"},
        {"H100-80GB", "h100-80gb"}, {"NVIDIA H100 80GB HBM3", "h100-80gb"},
        {"B200", "b200-180gb"},     {"H200", "h200-141gb"},
        {"a100-40", "a100-40gb"},   {"A100-SXM4-80GB", "a100-80gb"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct gpu_model *model = gpu_model_find(text_of(pairs[i][0]));
        assert_non_null(model);
        assert_string_equal(model->name, pairs[i][1]);
    }
}

TEST(other_names_are_not)
{
    static const char *const unknown[] = {"", "G2", "G3", "a100", "v100", "h10", "h100-80gbx", "A1"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_null(gpu_model_find(text_of(unknown[i])));
    assert_non_null(gpu_model_find((struct text){"T4x", 2})); /* a piece need not end in NUL */
}

/* DGX H100 data sheet and nvidia-smi: the numbers most results lean on. */
TEST(facts_of_the_h100)
{
    const struct gpu_model *h100 = gpu_model_find(TEXT("h100-80gb"));
    assert_int_equal(h100->memory_mib, 81920);
    assert_int_equal(h100->sm_count, 132);
    assert_int_equal(h100->power_w, 700);
    assert_true(h100->nvlink_bytes_per_s == 450e9);
    assert_true(h100->memory_bytes_per_s == 3.35e12);
    assert_int_equal(h100->mig, MIG_H100_80);
}

/* No slice may hold more memory or SMs than the GPU it is cut from. */
TEST(mig_profiles_fit_into_their_models)
{
    uint32_t count, with_mig = 0;
    const struct gpu_model *table = gpu_model_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct mig_profile *profiles = mig_profiles(table[i].mig);
        with_mig += profiles != NULL;
        for (int p = 0; profiles != NULL && p < MIG_PROFILE_COUNT; p++) {
            assert_in_range(profiles[p].memory_mib, 1, table[i].memory_mib);
            assert_in_range(profiles[p].sm_count, 0, table[i].sm_count);
        }
    }
    assert_int_equal(with_mig, 5);
}
