/* tests/unit/test_mig_layout.c -- MIG layouts against brute force over what nvidia-smi lists.
 *
 * The brute force knows nothing of the code's tables: it reads the placements below and takes every subset of the pairs
 * of profile and start that do not overlap.  Everything that is told of layouts is then looked up among these subsets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topologies/mig_arrange.h"

/* nvidia-smi mig -lgipp of an H100-80GB SXM, each profile named by its compute slices; the other families have the
 * same. */
static const char listing[] = "1g     {0,1,2,3,4,5,6}:1\n"
                              "1g+me  {0,1,2,3,4,5,6}:1\n"
                              "1g.2x  {0,2,4,6}:2\n"
                              "2g     {0,2,4}:2\n"
                              "3g     {0,4}:4\n"
                              "4g     {0}:4\n"
                              "7g     {0}:8\n";

static const char *const models[] = {"a100-40gb", "a100-80gb", "h100-80gb", "h200-141gb", "b200-180gb"};
enum { MODELS = sizeof models / sizeof *models };

enum { PAIRS_MAX = 64, SUBSETS_MAX = 4096, ALL = 2319 };

struct pair {
    unsigned profile, start, size, compute;
};

struct subset {
    struct gpu_layout layout;
    unsigned mask, profiles, compute;
};

static struct pair pairs[PAIRS_MAX];
static unsigned pair_count;
static struct subset subsets[SUBSETS_MAX]; /* in the order of their bytes */
static unsigned subset_count;

/* ---- The brute force ---- */

static void read_listing(void)
{
    unsigned profile = 0;
    for (const char *line = listing; *line != '\0'; line = strchr(line, '\n') + 1, profile++) {
        unsigned size = (unsigned)(strchr(line, ':')[1] - '0');
        for (const char *c = strchr(line, '{'); *c != '}'; c += 2)
            pairs[pair_count++] = (struct pair){profile, (unsigned)(c[1] - '0'), size, (unsigned)(line[0] - '0')};
    }
    assert_int_equal(profile, MIG_PROFILE_COUNT);
    assert_int_equal(pair_count, 25); /* 18, and 7 with media engines */
}

static unsigned slices_of(const struct pair *pair)
{
    return ((1u << pair->size) - 1) << pair->start;
}

static bool can_join(const struct subset *subset, const struct pair *pair)
{
    return !(subset->mask & slices_of(pair)) && !(pair->profile == MIG_1G_ME && (subset->profiles >> MIG_1G_ME & 1));
}

static struct subset joined(struct subset subset, const struct pair *pair)
{
    subset.layout.profile[pair->start] = (uint8_t)(pair->profile + 1);
    subset.mask |= slices_of(pair);
    subset.profiles |= 1u << pair->profile;
    subset.compute += pair->compute;
    return subset;
}

/* Take or leave each pair from `next` on. */
static void choose(struct subset subset, unsigned next)
{
    if (next == pair_count) {
        assert_true(subset_count < SUBSETS_MAX);
        subsets[subset_count++] = subset;
        return;
    }
    choose(subset, next + 1);
    if (can_join(&subset, &pairs[next]))
        choose(joined(subset, &pairs[next]), next + 1);
}

static int compare_subsets(const void *a, const void *b)
{
    return memcmp(((const struct subset *)a)->layout.profile, ((const struct subset *)b)->layout.profile, MIG_SLICES);
}

static const struct subset *find(const struct gpu_layout *layout)
{
    struct subset key = {.layout = *layout};
    return bsearch(&key, subsets, subset_count, sizeof *subsets, compare_subsets);
}

static int set_up(void **state)
{
    (void)state;
    read_listing();
    choose((struct subset){.mask = 0}, 0);
    qsort(subsets, subset_count, sizeof *subsets, compare_subsets);
    return 0;
}

/* The most of that profile that can join, by leaving or taking each start from `next` on. */
static unsigned most_of(struct subset subset, unsigned profile, unsigned next)
{
    if (next == pair_count)
        return 0;
    unsigned most = most_of(subset, profile, next + 1);
    if (pairs[next].profile == profile && can_join(&subset, &pairs[next])) {
        unsigned with = 1 + most_of(joined(subset, &pairs[next]), profile, next + 1);
        most = with > most ? with : most;
    }
    return most;
}

/* What a layout holds, largest first: "3+2+1+1"; a 1g with double memory is "1d", one with media engines "1m". */
static void name_kind(const struct gpu_layout *layout, char text[32])
{
    static const char *const words[MIG_PROFILE_COUNT] = {"1", "1m", "1d", "2", "3", "4", "7"};
    text[0] = '\0';
    for (unsigned p = MIG_PROFILE_COUNT; p-- > 0;)
        for (unsigned s = 0; s < MIG_SLICES; s++)
            if (layout->profile[s] == p + 1) {
                strcat(text, text[0] == '\0' ? "" : "+");
                strcat(text, words[p]);
            }
}

/* ---- The tables ---- */

static void tables_of_all_models_are_the_listing(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        const struct mig_profile *profiles = mig_profiles(gpu_model_find(text_of(models[m]))->mig);
        uint8_t starts[MIG_PROFILE_COUNT] = {0};
        assert_non_null(profiles);
        for (unsigned i = 0; i < pair_count; i++) {
            const struct mig_profile *profile = &profiles[pairs[i].profile];
            starts[pairs[i].profile] |= (uint8_t)(1u << pairs[i].start);
            assert_int_equal(profile->memory_slices, pairs[i].size);
            assert_int_equal(profile->compute_slices, pairs[i].compute);
            assert_int_equal(profile->name[0], (int)('0' + pairs[i].compute));
        }
        for (unsigned p = 0; p < MIG_PROFILE_COUNT; p++) {
            assert_int_equal(profiles[p].starts, starts[p]);
            assert_int_equal(profiles[p].max_count, most_of((struct subset){.mask = 0}, p, 0));
            assert_int_equal(strstr(profiles[p].name, "+me") != NULL, p == MIG_1G_ME);
        }
    }
}

static void fits_are_the_pairs_that_do_not_overlap(void **state)
{
    (void)state;
    for (unsigned mask = 0; mask < 256; mask++) {
        unsigned fits[MIG_PROFILE_COUNT] = {0};
        for (unsigned i = 0; i < pair_count; i++)
            if (!(slices_of(&pairs[i]) & mask))
                fits[pairs[i].profile] |= 1u << pairs[i].start;
        for (unsigned p = 0; p < MIG_PROFILE_COUNT; p++)
            assert_int_equal(mig_fit((uint8_t)mask, (enum mig_profile_id)p), fits[p]);
    }
}

/* ---- Numbers ---- */

static void numbers_are_dense_and_lead_back(void **state)
{
    (void)state;
    static const struct gpu_layout empty = {{0}};
    assert_int_equal(MIG_LAYOUT_COUNT, ALL);
    assert_int_equal(subset_count, ALL);
    assert_int_equal(mig_layout_of(&empty), 0);
    for (unsigned i = 0; i < subset_count; i++) { /* in the order of their bytes: the rank */
        assert_int_equal(mig_layout_of(&subsets[i].layout), i);
        struct gpu_layout back = mig_layout_get((mig_layout_id)i);
        assert_memory_equal(&back, &subsets[i].layout, sizeof back);
    }
}

static void only_the_subsets_are_legal(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 128, 255};
    unsigned legal = 0, illegal = 0;
    for (unsigned i = 0; i < subset_count; i++)
        for (unsigned s = 0; s < MIG_SLICES; s++)
            for (unsigned b = 0; b < sizeof bytes; b++) {
                struct gpu_layout layout = subsets[i].layout;
                layout.profile[s] = bytes[b];
                bool is_legal = find(&layout) != NULL;
                assert_int_equal(mig_layout_is_legal(&layout), is_legal);
                *(is_legal ? &legal : &illegal) += 1;
            }
    assert_true(legal > ALL && illegal > ALL);
}

/* ---- What a layout holds and admits ---- */

static void facts_of_every_layout(void **state)
{
    (void)state;
    for (unsigned i = 0; i < subset_count; i++) {
        const struct gpu_layout *layout = &subsets[i].layout;
        unsigned starts = 0;
        assert_int_equal(mig_layout_mask(layout), subsets[i].mask);
        assert_true(subsets[i].compute <= MIG_COMPUTE_SLICES);
        for (unsigned p = 0; p < MIG_PROFILE_COUNT; p++) {
            unsigned count = 0, here = 0;
            for (unsigned s = 0; s < MIG_SLICES; s++)
                if (layout->profile[s] == p + 1) {
                    count++;
                    here |= 1u << s;
                }
            starts |= here;
            assert_int_equal(mig_layout_count(layout, (enum mig_profile_id)p), count);
            assert_int_equal(gpu_layout_starts(layout, 0xff, (enum mig_profile_id)p), here);
            assert_int_equal(gpu_layout_starts(layout, 0x33, (enum mig_profile_id)p), here & 0x33);
        }
        assert_int_equal(gpu_layout_all(layout), starts);
    }
}

static void room_of_every_layout(void **state)
{
    (void)state;
    for (unsigned i = 0; i < subset_count; i++) {
        struct mig_room room = mig_layout_room(&subsets[i].layout);
        uint8_t starts[MIG_PROFILE_COUNT] = {0};
        for (unsigned k = 0; k < pair_count; k++)
            if (can_join(&subsets[i], &pairs[k]))
                starts[pairs[k].profile] |= (uint8_t)(1u << pairs[k].start);
        assert_memory_equal(room.starts, starts, sizeof starts);
    }
}

static void misfits_tell_why(void **state)
{
    (void)state;
    struct gpu_layout layout = {{[0] = MIG_1G_ME + 1, [4] = MIG_3G + 1}};
    assert_int_equal(mig_layout_misfit(&layout, MIG_2G, 2), MIG_FITS);
    assert_int_equal(mig_layout_misfit(&layout, MIG_2G, 1), MIG_NO_START);
    assert_int_equal(mig_layout_misfit(&layout, MIG_2G, 6), MIG_NO_START);
    assert_int_equal(mig_layout_misfit(&layout, MIG_1G, 8), MIG_NO_START);
    assert_int_equal(mig_layout_misfit(&layout, MIG_1G, 64), MIG_NO_START);
    assert_int_equal(mig_layout_misfit(&layout, MIG_1G_ME, 1), MIG_TOO_MANY);
    assert_int_equal(mig_layout_misfit(&layout, MIG_1G_ME, 0), MIG_TOO_MANY);
    assert_int_equal(mig_layout_misfit(&layout, MIG_2G, 0), MIG_OVERLAPS);
    assert_int_equal(mig_layout_misfit(&layout, MIG_2G, 4), MIG_OVERLAPS);
    assert_int_equal(mig_layout_misfit(&layout, MIG_3G, 0), MIG_OVERLAPS);
}

/* ---- The spelling ---- */

static void spellings_are_read_back(void **state)
{
    (void)state;
    struct buffer text = {0};
    for (int m = 0; m < MODELS; m++)
        for (unsigned i = 0; i < subset_count; i++) {
            const struct gpu_model *model = gpu_model_find(text_of(models[m]));
            struct gpu_layout back;
            text.length = 0;
            mig_layout_write(&subsets[i].layout, model->mig, &text);
            struct error error = mig_layout_read(&back, model, (struct text){text.bytes, text.length});
            assert_false(error_is(error));
            assert_memory_equal(&back, &subsets[i].layout, sizeof back);
        }
    buffer_release(&text);
}

static void check_spelling(const char *model_name, const char *given, const char *canonical)
{
    const struct gpu_model *model = gpu_model_find(text_of(model_name));
    struct gpu_layout layout;
    struct buffer out = {0};
    struct error error = mig_layout_read(&layout, model, text_of(given));
    if (error_is(error))
        fail_msg("%s: %s", given, error_message(&error));
    mig_layout_write(&layout, model->mig, &out);
    assert_string_equal(buffer_c_string(&out), canonical);
    buffer_release(&out);
}

static void many_ways_to_say_it_and_one_to_spell_it(void **state)
{
    (void)state;
    check_spelling("h100", "3g.40gb@0+1g.10gb@4", "3g.40gb@0+1g.10gb@4");
    check_spelling("h100", "1g.10gb@4+3g.40gb@0", "3g.40gb@0+1g.10gb@4");
    check_spelling("h100", "3g.40gb+1g.10gb", "3g.40gb@0+1g.10gb@4");
    check_spelling("h100", "1g.10gb+3g.40gb@0", "3g.40gb@0+1g.10gb@4");
    check_spelling("h100", "4g.40gb+1g.10gb+2g.20gb", "4g.40gb@0+2g.20gb@4+1g.10gb@6");
    check_spelling("h100", "1g.10gb+me", "1g.10gb+me@0");
    check_spelling("h100", "1g.10gb+1g.10gb+me+1g.10gb", "1g.10gb@0+1g.10gb+me@1+1g.10gb@2");
    check_spelling("h100", "1g.10gb+me@6+1g.20gb@0", "1g.20gb@0+1g.10gb+me@6");
    check_spelling("a100-40gb", "1g.10gb+1g.5gb", "1g.10gb@0+1g.5gb@2"); /* double memory there */
    check_spelling("h200", "7g.141gb", "7g.141gb@0");
    check_spelling("b200", "empty", "empty");
}

static void check_refused(const char *text, const char *report)
{
    struct gpu_layout layout;
    struct error error = mig_layout_read(&layout, gpu_model_find(TEXT("h100")), text_of(text));
    if (!error_is(error))
        fail_msg("accepted: %s", text);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *said = error_text_new(&error);
    if (strcmp(said, report) != 0)
        fail_msg("for '%s'\nexpected %s\ngot      %s", text, report, said);
    free(said);
    error_release(&error);
}

#define HINT_FORM "  a layout is written as '3g.40gb@0+1g.10gb@4'; without instances it is 'empty'\n"

static void wrong_texts_are_refused(void **state)
{
    (void)state;
    check_refused("", "error: a profile is missing at the end\n" HINT_FORM);
    check_refused("1g.10gb@0+", "error: a profile is missing at the end\n" HINT_FORM);
    check_refused("@4", "error: a profile is missing before '@4'\n" HINT_FORM);
    check_refused("1g.10gb++1g.10gb", "error: a profile is missing before '+1g.10gb'\n" HINT_FORM);
    check_refused("1g.11gb@0", "error: GPU model 'h100-80gb' has no MIG profile '1g.11gb'\n"
                               "  did you mean '1g.10gb'?\n");
    check_refused("2g.20gb+me", "error: GPU model 'h100-80gb' has no MIG profile '2g.20gb+me'\n"
                                "  did you mean '1g.10gb+me'?\n");
    check_refused("1g.10gb+mem", "error: GPU model 'h100-80gb' has no MIG profile 'mem'\n"
                                 "  `windtunnel topology mig h100-80gb` lists them\n");
    check_refused("half", "error: GPU model 'h100-80gb' has no MIG profile 'half'\n"
                          "  `windtunnel topology mig h100-80gb` lists them\n");
    check_refused(" 3g.40gb", "error: GPU model 'h100-80gb' has no MIG profile ' 3g.40gb'\n"
                              "  did you mean '3g.40gb'?\n");
    check_refused("3g.40gb@2", "error: '3g.40gb@2': an instance of 3g.40gb cannot start at slice "
                               "2\n  3g.40gb may start at 0 or 4\n");
    check_refused("1g.20gb@7", "error: '1g.20gb@7': an instance of 1g.20gb cannot start at slice "
                               "7\n  1g.20gb may start at 0, 2, 4 or 6\n");
    check_refused("4g.40gb@4", "error: '4g.40gb@4': an instance of 4g.40gb cannot start at slice "
                               "4\n  4g.40gb may start at 0\n");
    static const char *const no_slice[] = {"1g.10gb@8",   "1g.10gb@-1", "1g.10gb@",
                                           "1g.10gb@1.5", "1g.10gb@x",  "1g.10gb@0@1"};
    for (size_t i = 0; i < sizeof no_slice / sizeof *no_slice; i++) {
        char report[160];
        snprintf(report, sizeof report,
                 "error: '%s': the start must be a memory slice, 0 to 7\n"
                 "  leave '@' and it out for the lowest that fits\n",
                 no_slice[i]);
        check_refused(no_slice[i], report);
    }
    check_refused("4g.40gb@0+1g.10gb@3", "error: '1g.10gb@3': this instance of 1g.10gb overlaps one before it\n");
    check_refused("1g.10gb+me@0+1g.10gb+me@1", "error: '1g.10gb+me@1': a GPU has at most 1 of 1g.10gb+me\n");
    check_refused("4g.40gb+4g.40gb", "error: '4g.40gb': a GPU has at most 1 of 4g.40gb\n");
    check_refused("1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.20gb",
                  "error: '1g.20gb': a GPU has at most 7 instances\n");
    check_refused("3g.40gb+3g.40gb+1g.10gb", "error: these instances do not fit one GPU together\n");
    check_refused("empty+1g.10gb", "error: GPU model 'h100-80gb' has no MIG profile 'empty'\n"
                                   "  `windtunnel topology mig h100-80gb` lists them\n");
}

static void what_stands_behind_the_text_is_not_read(void **state)
{
    (void)state;
    struct gpu_layout layout;
    struct text text = {"1g.20gb@6+1g.10gb@9", strlen("1g.20gb@6+1g.10gb")};
    struct error error = mig_layout_read(&layout, gpu_model_find(TEXT("h100")), text);
    assert_false(error_is(error));
    assert_int_equal(layout.profile[0], MIG_1G + 1);
    assert_int_equal(layout.profile[6], MIG_1G_2MEM + 1);
}

static void starts_far_out_are_refused(void **state)
{
    (void)state;
    struct mig_arrangement arrangement = {.count = 0}, before = arrangement;
    struct mig_complaint why;
    assert_false(mig_arrangement_add(&arrangement, MIG_H100_80, MIG_1G, 1LL << 32, &why));
    assert_string_equal(why.what, "an instance of 1g.10gb cannot start at slice 4294967296");
    assert_string_equal(why.hint, "1g.10gb may start at 0, 1, 2, 3, 4, 5 or 6");
    assert_memory_equal(&arrangement, &before, sizeof before);
}

/* Whatever fits is found: from the instances of a layout alone, in every layout, a legal one with the same. */
static void loose_instances_find_places(void **state)
{
    (void)state;
    for (unsigned i = 0; i < subset_count; i++) {
        struct mig_arrangement arrangement = {.count = 0};
        struct mig_complaint why;
        char asked[32], got[32];
        for (unsigned s = 0; s < MIG_SLICES; s++)
            if (subsets[i].layout.profile[s] != 0)
                assert_true(mig_arrangement_add(&arrangement, MIG_H100_80,
                                                (enum mig_profile_id)(subsets[i].layout.profile[s] - 1), -1, &why));
        assert_true(mig_arrangement_finish(&arrangement, &why));
        assert_non_null(find(&arrangement.layout));
        name_kind(&subsets[i].layout, asked);
        name_kind(&arrangement.layout, got);
        assert_string_equal(got, asked);
    }
}

static void models_without_mig_have_no_layouts(void **state)
{
    (void)state;
    struct gpu_layout layout;
    struct error error = mig_layout_read(&layout, gpu_model_find(TEXT("t4")), TEXT("empty"));
    assert_string_equal(error_message(&error), "GPU model 't4-16gb' has no MIG");
    error_release(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_all_models_are_the_listing),
        cmocka_unit_test(fits_are_the_pairs_that_do_not_overlap),
        cmocka_unit_test(numbers_are_dense_and_lead_back),
        cmocka_unit_test(only_the_subsets_are_legal),
        cmocka_unit_test(facts_of_every_layout),
        cmocka_unit_test(room_of_every_layout),
        cmocka_unit_test(misfits_tell_why),
        cmocka_unit_test(spellings_are_read_back),
        cmocka_unit_test(many_ways_to_say_it_and_one_to_spell_it),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(what_stands_behind_the_text_is_not_read),
        cmocka_unit_test(starts_far_out_are_refused),
        cmocka_unit_test(loose_instances_find_places),
        cmocka_unit_test(models_without_mig_have_no_layouts),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
