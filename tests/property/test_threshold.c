/* The search for the least number at which something holds: without chance it is the threshold itself, in few trials;
 * with chance, what it calls sure is wrong at most as often as it may be. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "reports/statistics/student.h"
#include "studies/sizing/threshold.h"

enum { LOW = 1, HIGH = 3000 };

static struct threshold_options exact_from(int64_t start)
{
    return (struct threshold_options){
        .low = LOW, .high = HIGH, .start = start, .stride = 50, .scouts = 1, .looks = looks_once(1), .trials_max = 100};
}

static struct threshold find_exact(int64_t start, int64_t threshold)
{
    const struct threshold_options options = exact_from(start);
    struct threshold search = threshold_of(&options);
    struct threshold_ask ask;
    while (threshold_next(&search, &ask))
        threshold_tell(&search, &ask, ask.index >= threshold, true);
    return search;
}

TEST(test_without_chance_the_threshold_is_found)
{
    static const int64_t starts[] = {-5, 1, 2, 400, 1700, 3000, 9999};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
        for (int64_t threshold = LOW; threshold <= HIGH; threshold += threshold < 40 ? 1 : 37) {
            const struct threshold search = find_exact(starts[s], threshold);
            const struct threshold_answer answer = threshold_answer(&search);
            assert_true(answer.is_found && answer.is_whole && answer.is_sure);
            assert_int_equal(answer.index, threshold);
            assert_int_equal(answer.enough, threshold);
            assert_true(answer.has_needed == (threshold > LOW));
            assert_true(search.trials <= 7 + 12 + 2); /* gallop in steps from 50 on, and bisect */
        }
}

TEST(test_nowhere_is_told)
{
    const struct threshold search = find_exact(10, HIGH + 1);
    const struct threshold_answer answer = threshold_answer(&search);
    assert_false(answer.is_found);
    assert_true(answer.is_whole && answer.is_sure && answer.has_needed);
    assert_int_equal(answer.needed, HIGH + 1);
}

TEST(test_trials_are_bounded)
{
    for (size_t most = 0; most < 12; most++) {
        struct threshold_options options = exact_from(7);
        options.trials_max = most;
        struct threshold search = threshold_of(&options);
        struct threshold_ask ask;
        while (threshold_next(&search, &ask))
            threshold_tell(&search, &ask, ask.index >= 2222, true);
        assert_int_equal(search.trials, most);
        assert_false(threshold_answer(&search).is_sure);
    }
}

/* ---- Gaps: it holds, and then not, and then again. ---- */

static struct threshold find_gapped(int64_t start, int64_t first, int64_t gap, int64_t last)
{
    struct threshold_options options = exact_from(start);
    options.scan_above = 7;
    options.scan_below = 4;
    struct threshold search = threshold_of(&options);
    struct threshold_ask ask;
    while (threshold_next(&search, &ask))
        threshold_tell(&search, &ask, (ask.index >= first && ask.index < gap) || ask.index > last, true);
    return search;
}

/* Distances of which one is tried: do these lie among `from` .. `from` + count - 1? */
static bool is_within_reach(int64_t from, int64_t count)
{
    static const int64_t ends[] = {1, 2, 3, 5, 8, 13};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if ((i > 0 ? ends[i - 1] + 1 : 1) >= from && ends[i] <= from + count - 1)
            return true;
    return false;
}

/* However the search comes to it: the answer is beyond a gap that begins near it, and a gap near it is told. */
TEST(test_a_gap_near_the_answer_is_seen)
{
    static const int64_t starts[] = {1, 90, 400, 2900};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
        for (int64_t first = 100; first < 104; first++)
            for (int64_t width = 1; width <= 5; width++)
                for (int64_t gap = 1; gap <= 5; gap++) {
                    const int64_t last = first + width + gap - 1;
                    const struct threshold search = find_gapped(starts[s], first, first + width, last);
                    const struct threshold_answer answer = threshold_answer(&search);
                    assert_true(answer.is_found && answer.is_whole && answer.is_sure);
                    assert_true(answer.index == last + 1 || answer.index == first);
                    assert_int_equal(answer.enough, answer.index);
                    assert_true(answer.is_gapped == answer.has_below);
                    assert_true(!answer.has_below || answer.below < answer.index);
                    if (is_within_reach(width, gap))
                        assert_int_equal(answer.index, last + 1);
                    if (answer.index == last + 1 && is_within_reach(gap, width) && gap <= 3)
                        assert_true(answer.is_gapped);
                }
}

TEST(test_without_gaps_a_scan_changes_no_answer)
{
    for (int64_t threshold = 1; threshold < 400; threshold += 3) {
        const struct threshold search = find_gapped(200, threshold, HIGH + 1, HIGH + 1);
        const struct threshold_answer answer = threshold_answer(&search);
        assert_true(answer.is_whole && answer.is_sure && !answer.has_below && !answer.is_gapped);
        assert_int_equal(answer.index, threshold);
    }
}

/* ---- With chance ---- */

enum { TRIALS = 40 };

/* Trials of a number share their chance with those of all others, as runs of one seed do, apart from a part of their
 * own.  The mean is 0 at `threshold` - 1/2. */
struct noisy {
    uint64_t seed;
    double threshold, slope, sigma;
    struct looks looks;
};

static double value(const struct noisy *noisy, int64_t index, uint64_t trial)
{
    struct random_stream common, own;
    random_stream_init(&common, noisy->seed, "common", trial);
    random_stream_init(&own, noisy->seed, "own", (uint64_t)index * TRIALS + trial);
    return noisy->slope * (noisy->threshold - 0.5 - (double)index) +
           noisy->sigma * (0.8 * gsl_ran_ugaussian(random_gsl(&common)) + 0.6 * gsl_ran_ugaussian(random_gsl(&own)));
}

static void try_noisy(const struct noisy *noisy, struct threshold *search, const struct threshold_ask *ask)
{
    double values[TRIALS], sum = 0;
    size_t look = 0;
    for (size_t i = 0; i < ask->to; i++)
        sum += values[i] = value(noisy, ask->index, i);
    while (look < noisy->looks.count && noisy->looks.n[look] < ask->to)
        look++;
    const bool is_look = look < noisy->looks.count && noisy->looks.n[look] == ask->to;
    const double level = is_look ? looks_level(&noisy->looks, look, 0.025) : 0;
    const struct inference mean = student_one(values, ask->to, 0, 0.95);
    threshold_tell(search, ask, sum <= 0, mean.p <= level);
}

static struct threshold find_noisy(const struct noisy *noisy, size_t trials_max)
{
    const struct threshold_options options = {.low = LOW,
                                              .high = HIGH,
                                              .start = 100,
                                              .stride = 16,
                                              .scouts = 2,
                                              .looks = noisy->looks,
                                              .trials_max = trials_max,
                                              .scan_above = 7,
                                              .scan_below = 4};
    struct threshold search = threshold_of(&options);
    struct threshold_ask ask;
    while (threshold_next(&search, &ask))
        try_noisy(noisy, &search, &ask);
    return search;
}

/* Some of the chance is worth many numbers, some less than one. */
TEST(test_sure_is_seldom_wrong)
{
    enum { SEARCHES = 200 };
    static const double sigmas[] = {0.05, 0.3, 1, 4, 30};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        size_t wrong = 0, sure = 0, outside = 0;
        for (uint64_t seed = 0; seed < SEARCHES; seed++) {
            const struct noisy noisy = {.seed = seed + 1000 * s,
                                        .threshold = (double)(50 + seed * 7),
                                        .slope = 1,
                                        .sigma = sigmas[s],
                                        .looks = looks_up_to(TRIALS)};
            const struct threshold search = find_noisy(&noisy, 200);
            const struct threshold_answer answer = threshold_answer(&search);
            const int64_t truth = (int64_t)noisy.threshold;
            assert_true(search.trials <= 200);
            sure += answer.is_sure;
            wrong += answer.is_sure && answer.index != truth;
            outside += (answer.has_enough && answer.enough < truth) || (answer.has_needed && answer.needed > truth);
            assert_true(llabs(answer.index - truth) <= 3 + (int64_t)(2 * sigmas[s]));
        }
        print_message("sigma %g: %zu of %d sure, %zu of them wrong; %zu outside of what is sure\n", sigmas[s], sure,
                      SEARCHES, wrong, outside);
        assert_true(wrong * 20 <= SEARCHES);
        assert_true(outside * 10 <= SEARCHES); /* the number of points that a search judges raises it above 0.05 */
        assert_true(sigmas[s] > 0.3 || sure * 10 >= SEARCHES * 9);
    }
}
