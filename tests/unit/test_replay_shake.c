/* tests/unit/test_replay_shake.c -- which scenarios are shaken and how (studies/run/replay_shake.h), and where a replay
 * lies among shaken ones (studies/run/replay_place.h). */
#include <math.h>

#include "tests/support/test.h"

#include "studies/run/replay_place.h"
#include "studies/run/replay_shake.h"

TEST(a_replay_alone_is_shaken)
{
    static const char *const own[] = {"world.end=2d"};
    static const struct {
        const char *scenario;
        const char *sets[2]; /* behind its own */
    } cases[] = {
        {"{\"workload\": {\"trace\": \"a.csv\"}}", {"workload.shake=" REPLAY_SHAKE}},
        {"{\"workload\": {\"merge\": [{\"trace\": \"a.csv\"}, {\"trace\": \"b.csv\"}]}}",
         {"workload.merge.0.shake=" REPLAY_SHAKE, "workload.merge.1.shake=" REPLAY_SHAKE}},
        {"{\"workload\": {\"trace\": \"a.csv\", \"shake\": {\"arrivals_s\": 5}}}", {NULL}},
        {"{\"workload\": {\"trace\": \"a.csv\", \"blocks\": \"users\"}}", {NULL}},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"faults\": {}}}", {NULL}},
        {"{\"workload\": {\"synth\": {}}}", {NULL}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct arena arena = {0};
        const struct scenario_options options = {.seed = "7", .sets = own, .set_count = 1};
        struct scenario_options shaken = {0};
        size_t count = 0;
        const bool is = replay_shake_apply(cases[c].scenario, &options, &arena, &shaken);
        assert_true(is == (cases[c].sets[0] != NULL));
        for (; is && count < 2 && cases[c].sets[count] != NULL; count++)
            assert_string_equal(shaken.sets[1 + count], cases[c].sets[count]);
        if (is) {
            assert_int_equal(shaken.set_count, 1 + count);
            assert_string_equal(shaken.sets[0], own[0]);
            assert_string_equal(shaken.seed, "7");
        }
        arena_release(&arena);
    }
}

static void assert_place(double value, const double *shaken, size_t count, double deviations, size_t below,
                         const char *words)
{
    const struct replay_place place = replay_place_of(value, shaken, count);
    struct buffer text = {0};
    if (isnan(deviations))
        assert_true(isnan(place.deviations));
    else
        assert_true(fabs(place.deviations - deviations) < 1e-12);
    assert_int_equal(place.below, below);
    replay_place_write(&place, &text);
    assert_string_equal(buffer_c_string(&text), words);
    buffer_release(&text);
}

TEST(where_a_replay_lies)
{
    static const double four[] = {2, 4, NAN, 4, 6}, same[] = {3, 3, 3};
    /* Mean 4, variance 8 / 3. */
    assert_place(7, four, 5, 3 / sqrt(8.0 / 3), 4, "1.8 deviations above; 4 of 4 are smaller");
    assert_place(3, four, 5, -1 / sqrt(8.0 / 3), 1, "0.6 deviations below; 1 of 4 are smaller");
    assert_place(4, four, 5, 0, 1, "on their mean");
    assert_place(3, same, 3, 0, 0, "on their mean");
    assert_place(4, same, 3, NAN, 3, "beside all of them, which are equal");
    assert_place(4, same, 1, NAN, 1, "not known from one");
    assert_place(4, same, 0, NAN, 0, "\xe2\x80\x93");
    assert_place(NAN, same, 3, NAN, 0, "\xe2\x80\x93");
}
