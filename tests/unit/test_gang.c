/* tests/unit/test_gang.c -- what starts next, what leaves first: by hand, and on random jobs in every state. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/gang/gangs.h"
#include "policies/order/order.h"

enum { GROUPS_MAX = 6, SETS_MAX = 4, COUNT_MAX = 5, MEMBERS_MAX = GROUPS_MAX * COUNT_MAX };

/* A job with what it holds, and its view. */
struct gang {
    struct job_group groups[GROUPS_MAX];
    struct job_set sets[SETS_MAX];
    uint32_t held[GROUPS_MAX];
    struct gang_view view;
};

static void view_gang(struct gang *gang, uint16_t group_count, uint16_t set_count)
{
    gang->view = (struct gang_view){.groups = gang->groups,
                                    .sets = set_count != 0 ? gang->sets : NULL,
                                    .held = gang->held,
                                    .group_count = group_count,
                                    .set_count = set_count};
}

/* Groups of 1 to 5 members; with or without sets, some of which may be empty. */
static void random_gang(struct random_stream *stream, struct gang *gang)
{
    uint32_t total[SETS_MAX] = {0};
    uint16_t group_count = (uint16_t)(1 + random_below(stream, GROUPS_MAX));
    uint16_t set_count = (uint16_t)random_below(stream, SETS_MAX + 1);
    *gang = (struct gang){0};
    for (uint32_t g = 0; g < group_count; g++) {
        struct job_group *group = &gang->groups[g];
        group->count = 1 + random_below(stream, COUNT_MAX);
        group->min_count = 1 + random_below(stream, group->count);
        group->set = set_count != 0 ? (uint16_t)random_below(stream, set_count) : 0;
        total[group->set] += group->count;
    }
    for (uint32_t s = 0; s < set_count; s++)
        gang->sets[s] =
            (struct job_set){.parent = s % 2 ? 0 : SET_NONE, .min_members = random_below(stream, total[s] + 1)};
    view_gang(gang, group_count, set_count);
}

/* Not all sets are needed: of those in no other, and of those in set 0, any number from 1.  Each needs a member, or one
 * of a set in it. */
static void random_choice_gang(struct random_stream *stream, struct gang *gang)
{
    bool has_group[SETS_MAX] = {false};
    do {
        random_gang(stream, gang);
        memset(has_group, false, sizeof has_group);
        for (uint32_t g = 0; g < gang->view.group_count; g++)
            has_group[gang->groups[g].set] = true;
    } while (gang->view.set_count > 0 &&
             memchr(has_group, false, gang->view.set_count) != NULL); /* a set without groups */
    const uint32_t sets = gang->view.set_count;
    for (uint32_t s = 0; s < sets; s++)
        gang->sets[s].min_members += gang->sets[s].min_members == 0;
    const uint32_t outer = sets == 0 ? gang->view.group_count : sets_in(gang->sets, sets, SET_NONE);
    gang->view.min_sets = (uint16_t)(1 + random_below(stream, outer));
    const uint32_t inner = sets == 0 ? 0 : sets_in(gang->sets, sets, 0);
    gang->sets[0].min_sets = (uint16_t)(inner > 0 ? random_below(stream, inner + 1) : 0);
}

static void hold_at_random(struct random_stream *stream, struct gang *gang)
{
    for (uint32_t g = 0; g < gang->view.group_count; g++)
        gang->held[g] = random_below(stream, gang->groups[g].count + 1);
}

static uint32_t sum(const uint32_t counts[], uint32_t count)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += counts[i];
    return total;
}

static bool is_full(const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->view.group_count; g++)
        if (gang->held[g] != gang->groups[g].count)
            return false;
    return true;
}

static uint32_t set_of(const struct gang *gang, uint32_t group)
{
    return gang->view.sets != NULL ? gang->groups[group].set : group;
}

/* Literally: the set's own groups hold its minimum, and enough of the sets in it are satisfied. */
static bool is_satisfied(const struct gang *gang, uint32_t set)
{
    uint32_t held = 0, inner = 0, satisfied = 0;
    for (uint32_t g = 0; g < gang->view.group_count; g++)
        held += set_of(gang, g) == set ? gang->held[g] : 0;
    if (gang->view.sets == NULL)
        return held >= gang->groups[set].min_count;
    for (uint32_t s = set + 1; s < gang->view.set_count; s++)
        if (gang->sets[s].parent == set) {
            inner++;
            satisfied += is_satisfied(gang, s);
        }
    const uint32_t needed = gang->sets[set].min_sets > 0 ? gang->sets[set].min_sets : inner;
    return held >= gang->sets[set].min_members && satisfied >= needed;
}

/* Literally: enough sets are satisfied, and something is held. */
static bool runs(const struct gang *gang)
{
    uint32_t sets = gang->view.sets != NULL ? gang->view.set_count : gang->view.group_count;
    uint32_t outer = 0, satisfied = 0;
    for (uint32_t s = 0; s < sets; s++)
        if (gang->view.sets == NULL || gang->sets[s].parent == SET_NONE) {
            outer++;
            satisfied += is_satisfied(gang, s);
        }
    return satisfied >= (gang->view.min_sets > 0 ? gang->view.min_sets : outer) &&
           sum(gang->held, gang->view.group_count) > 0;
}

static void take(struct gang *gang, const uint32_t step[])
{
    for (uint32_t g = 0; g < gang->view.group_count; g++)
        gang->held[g] += step[g];
}

static void assert_step(const struct gang *gang, const struct gang_policy *policy, const uint32_t want[])
{
    uint32_t step[GROUPS_MAX];
    assert_true(policy->next(&gang->view, step));
    assert_memory_equal(step, want, gang->view.group_count * sizeof want[0]);
}

/* A launcher that must run and workers of which two of four must: 1 + 2, then one by one. */
TEST(an_elastic_job_starts_with_its_minimum)
{
    struct gang gang = {.groups = {{.count = 1, .min_count = 1}, {.count = 4, .min_count = 2}}};
    view_gang(&gang, 2, 0);
    assert_int_equal(gang_fill(&gang.view), FILL_BELOW);
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){1, 2});
    take(&gang, (uint32_t[]){1, 2});
    assert_int_equal(gang_fill(&gang.view), FILL_MINIMUM);
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){0, 1});
    take(&gang, (uint32_t[]){0, 1});
    assert_int_equal(gang_fill(&gang.view), FILL_ABOVE);
    gang.held[0] = 0; /* its node failed: only what is missing comes, at once */
    assert_int_equal(gang_fill(&gang.view), FILL_BELOW);
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){1, 0});
    gang.held[0] = gang.held[1] = 1; /* one of two is left: one is missing, though there is room for three */
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){0, 1});
}

/* Set 0 (groups 0 and 2, 4 of 5 members) and set 1 (group 1, 1 of 3): the minimum fills groups in order. */
TEST(sets_are_filled_together)
{
    struct gang gang = {.groups = {{.count = 3, .set = 0}, {.count = 3, .set = 1}, {.count = 2, .set = 0}},
                        .sets = {{.parent = SET_NONE, .min_members = 4}, {.parent = 0, .min_members = 1}}};
    uint32_t step[GROUPS_MAX], set;
    view_gang(&gang, 3, 2);
    assert_int_equal(gang_minimum(&gang.view, 0), 4);
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){3, 1, 1});
    take(&gang, (uint32_t[]){3, 1, 1});
    assert_int_equal(gang_held(&gang.view, 0), 4);
    assert_int_equal(gang_held(&gang.view, 1), 1);
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){0, 0, 1});
    take(&gang, (uint32_t[]){0, 0, 1});
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){0, 1, 0});
    take(&gang, (uint32_t[]){0, 1, 0});
    assert_true(gang_shrink(&gang.view, step, &set)); /* the last set first */
    assert_memory_equal(step, ((uint32_t[]){0, 1, 0}), sizeof(uint32_t[3]));
    gang.held[1] = 1;
    assert_true(gang_shrink(&gang.view, step, &set)); /* and in it the last group */
    assert_memory_equal(step, ((uint32_t[]){0, 0, 1}), sizeof(uint32_t[3]));
    gang.held[2] = 1;
    assert_false(gang_shrink(&gang.view, step, &set)); /* at its minimum: all or nothing */
    assert_memory_equal(step, gang.held, sizeof(uint32_t[3]));
}

TEST(hoarding_takes_one_by_one)
{
    struct gang gang = {.groups = {{.count = 2, .min_count = 2}, {.count = 1, .min_count = 1}}};
    uint32_t step[GROUPS_MAX];
    view_gang(&gang, 2, 0);
    assert_step(&gang, &gang_hoard, (uint32_t[]){1, 0});
    gang.held[0] = 2;
    assert_step(&gang, &gang_hoard, (uint32_t[]){0, 1});
    gang.held[1] = 1;
    assert_false(gang_hoard.next(&gang.view, step));
    assert_false(gang_hoard.is_all_or_nothing);
}

/* No set asks for anything: the job still must hold something to run. */
TEST(an_empty_minimum_starts_with_one)
{
    struct gang gang = {.groups = {{.count = 2}}, .sets = {{.parent = SET_NONE}}};
    uint32_t step[GROUPS_MAX], set;
    view_gang(&gang, 1, 1);
    assert_int_equal(gang_fill(&gang.view), FILL_BELOW);
    assert_false(gang_minimum_step(&gang.view, step));
    assert_step(&gang, &gang_all_or_nothing, (uint32_t[]){1});
    gang.held[0] = 1;
    assert_int_equal(gang_fill(&gang.view), FILL_ABOVE);
    assert_false(gang_shrink(&gang.view, step, &set)); /* without its last member it does not go on */
    assert_int_equal(step[0], 1);
    gang.held[0] = 2;
    assert_true(gang_shrink(&gang.view, step, &set));
}

TEST(rigid_jobs_start_whole)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "test_gang_rigid", 0);
    for (int i = 0; i < 2000; i++) {
        struct gang gang;
        random_gang(&stream, &gang);
        uint32_t want[GROUPS_MAX];
        for (uint32_t s = 0; s < gang.view.set_count; s++)
            gang.sets[s].min_members = 0;
        for (uint32_t g = 0; g < gang.view.group_count; g++) {
            want[g] = gang.groups[g].min_count = gang.groups[g].count;
            gang.sets[gang.groups[g].set].min_members += gang.groups[g].count;
        }
        assert_step(&gang, &gang_all_or_nothing, want);
    }
}

static uint32_t satisfied_sets(const struct gang *gang)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < gang_set_count(&gang->view); s++)
        count += is_satisfied(gang, s);
    return count;
}

/* From any state: allocation steps of at least one member, none below the minimum but whole, until the job is full.
 * Where it runs, one member, or what makes a set satisfied. */
static void grow_to_full(struct gang *gang, const struct gang_policy *policy)
{
    uint32_t step[GROUPS_MAX];
    uint32_t left = MEMBERS_MAX;
    while (policy->next(&gang->view, step)) {
        bool ran = runs(gang);
        uint32_t satisfied = satisfied_sets(gang);
        uint32_t size = sum(step, gang->view.group_count);
        assert_true(size > 0 && size <= left);
        left -= size;
        take(gang, step);
        for (uint32_t g = 0; g < gang->view.group_count; g++)
            assert_true(gang->held[g] <= gang->groups[g].count);
        if (policy->is_all_or_nothing)
            assert_true(runs(gang));
        if ((ran && satisfied_sets(gang) == satisfied) || !policy->is_all_or_nothing)
            assert_int_equal(size, 1);
    }
    assert_true(is_full(gang));
    assert_int_equal(sum(step, gang->view.group_count), 0);
}

TEST(every_state_grows_to_full)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "test_gang_grow", 0);
    for (int i = 0; i < 20000; i++) {
        struct gang gang;
        (i % 3 ? random_gang : random_choice_gang)(&stream, &gang);
        if (i % 2)
            hold_at_random(&stream, &gang);
        struct gang other = gang;
        other.view.held = other.held;
        other.view.groups = other.groups;
        other.view.sets = gang.view.sets != NULL ? other.sets : NULL;
        grow_to_full(&gang, &gang_all_or_nothing);
        grow_to_full(&other, &gang_hoard);
    }
}

/* The minimum is no larger than it must be: one member less of any set with a minimum, and it does not run. */
TEST(the_first_chunk_is_minimal)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "test_gang_minimal", 0);
    for (int i = 0; i < 5000; i++) {
        struct gang gang;
        uint32_t step[GROUPS_MAX];
        (i % 3 ? random_gang : random_choice_gang)(&stream, &gang);
        assert_true(gang_all_or_nothing.next(&gang.view, step));
        take(&gang, step);
        for (uint32_t g = 0; g < gang.view.group_count; g++) {
            if (gang.held[g] == 0)
                continue;
            gang.held[g]--;
            assert_false(runs(&gang));
            gang.held[g]++;
        }
    }
}

/* What grew last leaves first, back to the minimum; there all go. */
TEST(shrinking_is_growth_reversed)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "test_gang_shrink", 0);
    for (int i = 0; i < 5000; i++) {
        struct gang gang;
        uint32_t grown[MEMBERS_MAX][GROUPS_MAX], step[GROUPS_MAX];
        uint32_t steps = 0, set;
        (i % 3 ? random_gang : random_choice_gang)(&stream, &gang);
        size_t bytes = gang.view.group_count * sizeof step[0];
        while (gang_all_or_nothing.next(&gang.view, grown[steps]))
            take(&gang, grown[steps++]);
        while (steps-- > 1) {
            assert_true(gang_shrink(&gang.view, step, &set));
            assert_memory_equal(step, grown[steps], bytes);
            for (uint32_t g = 0; g < gang.view.group_count; g++)
                gang.held[g] -= step[g];
            assert_true(runs(&gang));
        }
        assert_false(gang_shrink(&gang.view, step, &set));
        assert_memory_equal(step, grown[0], bytes);
    }
}

TEST(in_any_state_shrinking_keeps_it_running_or_ends_it)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "test_gang_any", 0);
    for (int i = 0; i < 20000; i++) {
        struct gang gang;
        uint32_t step[GROUPS_MAX], set;
        (i % 3 ? random_gang : random_choice_gang)(&stream, &gang);
        hold_at_random(&stream, &gang);
        uint8_t fill = gang_fill(&gang.view);
        assert_int_equal(fill != FILL_BELOW, runs(&gang));
        bool goes_on = gang_shrink(&gang.view, step, &set);
        for (uint32_t g = 0; g < gang.view.group_count; g++) {
            assert_true(step[g] <= gang.held[g]);
            gang.held[g] -= step[g];
        }
        assert_int_equal(goes_on, runs(&gang));
        if (goes_on)
            assert_int_equal(fill, FILL_ABOVE);
        else
            assert_int_equal(sum(gang.held, gang.view.group_count), 0);
    }
}

/* Two of three groups are needed: the first two start, the third comes as a whole and leaves as a whole. */
TEST(a_surplus_set_comes_and_goes_as_a_whole)
{
    uint32_t step[GROUPS_MAX], set;
    struct gang gang = {
        .groups = {{.count = 2, .min_count = 1}, {.count = 2, .min_count = 2}, {.count = 3, .min_count = 2}}};
    view_gang(&gang, 3, 0);
    gang.view.min_sets = 2;
    static const uint32_t steps[][3] = {{1, 2, 0}, {1, 0, 0}, {0, 0, 2}, {0, 0, 1}};
    for (uint32_t i = 0; i < 4; i++) {
        assert_step(&gang, &gang_all_or_nothing, steps[i]);
        take(&gang, steps[i]);
        assert_int_equal(gang_fill(&gang.view), i == 0 ? FILL_MINIMUM : FILL_ABOVE);
    }
    assert_false(gang_all_or_nothing.next(&gang.view, step));
    assert_true(gang_shrink(&gang.view, step, &set));
    assert_memory_equal(step, steps[3], sizeof steps[3]);
    assert_int_equal(set, SET_NONE);
    gang.held[2] = 2;
    assert_true(gang_shrink(&gang.view, step, &set));
    assert_memory_equal(step, steps[2], sizeof steps[2]);
    assert_int_equal(set, 2);
    gang.held[0] = gang.held[2] = 0; /* those that run are core, whatever their order */
    assert_int_equal(gang_fill(&gang.view), FILL_BELOW);
    gang.held[2] = 2;
    assert_int_equal(gang_fill(&gang.view), FILL_MINIMUM);
    gang.held[2] = 1; /* what began to run is filled before what did not */
    static const uint32_t missing[] = {0, 0, 1};
    assert_step(&gang, &gang_all_or_nothing, missing);
    assert_int_equal(gang_satisfied(&gang.view), 1);
}
