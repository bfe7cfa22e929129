/* tests/unit/test_export_parts.c -- what the exports are made of: placements, tracks, attempts kept by job. */
#include "tests/support/test.h"

#include "base/mem.h"
#include "reports/export/lives.h"
#include "reports/export/placement.h"
#include "reports/export/series.h"
#include "reports/export/tracks.h"
#include "tests/support/made_row.h"

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- placements ---- */

/* The pieces as "node/mask/milli " each, "bad" behind them if the text is bad. */
static void assert_placement(const char *text, bool has_gpus, const char *expected)
{
    struct placement_reader reader;
    struct placement_piece piece;
    struct buffer got = {0};
    placement_begin(&reader, text, has_gpus);
    while (placement_next(&reader, &piece))
        buffer_format(&got, "%s/%x/%d ", piece.node, (unsigned)piece.gpu_mask, (int)piece.gpu_milli);
    if (reader.is_bad)
        buffer_string(&got, "bad");
    placement_release(&reader);
    assert_string_equal(buffer_c_string(&got), expected);
    buffer_release(&got);
}

TEST(test_placements)
{
    assert_placement("", true, "");
    assert_placement("n7:0", true, "n7/1/1000 ");
    assert_placement("n[7-9]:0-3,6,8-15", true, "n7/ff4f/1000 n8/ff4f/1000 n9/ff4f/1000 ");
    assert_placement("n[0-1]:0-7 n9:2@142", true, "n0/ff/1000 n1/ff/1000 n9/4/142 ");
    assert_placement("host:a:15@1", true, "host:a/8000/1 ");
    assert_placement("a@b:1", true, "a@b/2/1000 ");
    assert_placement("x[1-2]y:0", true, "x[1-2]y/1/1000 ");
    assert_placement("x[b-2]:0", true, "x[b-2]/1/1000 ");
    assert_placement("n[3-5] m", false, "n3/0/1000 n4/0/1000 n5/0/1000 m/0/1000 ");
    assert_placement("n1@0", false, "n1/0/0 ");
    assert_placement("host:3", false, "host:3/0/1000 ");
}

TEST(test_bad_placements)
{
    static const char *const bad[] = {"n1", "n1:", "n1:16", "n1:3-1", "n1:a", ":0", "n1:0,", "n1:0-", "n1:0@2000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_placement(bad[i], true, "bad");
    assert_placement("n1:0 n2", true, "n1/1/1000 bad");
    struct error error = placement_error(&(struct attempt_row){.id = 4, .attempt = 2, .placement = "n1:"});
    assert_string_equal(error_message(&error), "job 4, attempt 2: 'n1:' is no placement such as 'n[0-7]:0-7 n9:2@142'");
    error_release(&error);
}

/* ---- tracks ---- */

struct interval {
    time_ns start, end;
    uint64_t track;
};

static int by_end(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The most intervals that hold one moment; it is the start of one of them. */
static size_t depth(const struct interval *intervals, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t here = 0;
        for (size_t j = 0; j < count; j++)
            here += intervals[j].start <= intervals[i].start && intervals[i].start < intervals[j].end;
        most = here > most ? here : most;
    }
    return most;
}

/* Nothing overlaps on a track, and there are no more tracks than the depth. */
TEST(test_tracks_are_few)
{
    enum { COUNT = 60, ROUNDS = 300 };
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct interval intervals[COUNT];
        struct tracks *tracks = tracks_new();
        uint64_t random = seed, most = 0;
        for (size_t i = 0; i < COUNT; i++) {
            intervals[i].start = (time_ns)(draw(&random) % 100);
            intervals[i].end = intervals[i].start + 1 + (time_ns)(draw(&random) % (1 + seed % 30));
        }
        qsort(intervals, COUNT, sizeof intervals[0], by_end);
        for (size_t i = 0; i < COUNT; i++) {
            intervals[i].track = tracks_take(tracks, 3, 5, false, intervals[i].start, intervals[i].end)->id;
            most = intervals[i].track > most ? intervals[i].track : most;
            for (size_t j = 0; j < i; j++)
                if (intervals[j].track == intervals[i].track && intervals[j].end > intervals[i].start)
                    fail_msg("seed %d: intervals %zu and %zu overlap on one track", (int)seed, j, i);
        }
        if (most != depth(intervals, COUNT))
            fail_msg("seed %d: %d tracks for a depth of %zu", (int)seed, (int)most, depth(intervals, COUNT));
        tracks_free(tracks);
    }
}

TEST(test_whole_gpu_has_first_track)
{
    struct tracks *tracks = tracks_new();
    assert_int_equal(tracks_take(tracks, 0, 0, false, 0, 4)->lane, 0);
    assert_int_equal(tracks_take(tracks, 0, 0, false, 1, 5)->lane, 1);
    assert_int_equal(tracks_take(tracks, 0, 0, true, 5, 9)->lane, 0);   /* lane 1 became free later */
    assert_int_equal(tracks_take(tracks, 0, 0, false, 9, 10)->lane, 0); /* free last */
    assert_int_equal(tracks_take(tracks, 0, 1, true, 0, 4)->id, 3);     /* another GPU */
    assert_int_equal(tracks_take(tracks, 9, TRACK_NO_GPU, true, 0, 4)->id, 4);
    assert_int_equal(tracks_lane(tracks, 0, 0, 1)->id, 2);
    tracks_free(tracks);
}

/* ---- attempts by job ---- */

TEST(test_lives)
{
    enum { JOBS = 5000, ATTEMPTS = 3 };
    struct lives *lives = lives_new();
    char placement[] = "n0:0";
    for (uint32_t a = 0; a < ATTEMPTS; a++) {
        for (job_id id = 0; id < JOBS; id++) {
            struct life *life =
                lives_add(lives, &(struct attempt_row){.id = id * 256, .attempt = a, .placement = placement});
            buffer_int(&life->note, id);
        }
    }
    placement[0] = 'x'; /* lives has a copy */
    for (job_id id = 0; id < JOBS; id++) {
        uint32_t count = 0;
        for (struct life *life = lives_of(lives, id * 256); life != NULL; life = life->next) {
            assert_int_equal(life->row.attempt, count++);
            assert_int_equal(life->row.id, id * 256);
            assert_string_equal(life->row.placement, "n0:0");
            assert_int_equal(atoi(buffer_c_string(&life->note)), id);
        }
        assert_int_equal(count, ATTEMPTS);
        struct error error = lives_finish(lives);
        assert_true(error_is(error));
        error_release(&error);
        lives_drop(lives, id * 256);
        lives_drop(lives, id * 256); /* nothing happens */
        assert_null(lives_of(lives, id * 256));
    }
    assert_false(error_is(lives_finish(lives)));
    lives_add(lives, &(struct attempt_row){.id = 7, .placement = placement});
    struct error error = lives_finish(lives);
    assert_string_equal(error_message(&error), "job 7 has attempts, but no row after them");
    error_release(&error);
    lives_free(lives);
}

/* ---- series ---- */

static struct job_row job_at(const char *queue, time_ns submit, time_ns start, time_ns end)
{
    return (struct job_row){.queue = queue,
                            .class = JOB_INFERENCE,
                            .gpu_milli = 2000,
                            .submit = submit,
                            .start = start,
                            .end = end,
                            .wait = start - submit,
                            .run = end - start,
                            .state = END_COMPLETED,
                            .evictions = 2,
                            .lost_gpu_ns = TIME_NS_PER_S};
}

TEST(test_series)
{
    const time_ns hour = 3600 * TIME_NS_PER_S;
    struct series *series = series_new(3 * hour + 1);
    const struct job_row jobs[] = {made_row(job_at("a", 0, hour, 2 * hour)),
                                   made_row(job_at("b", 1, hour + 1, 3 * hour + 1))};
    for (int i = 0; i < 2; i++)
        series_add(series, &jobs[i]);
    series_finish(series);
    assert_int_equal(series_points(series), 5);
    assert_int_equal(series_time(series, 3), 3 * hour);
    assert_int_equal(series_time(series, 4), 3 * hour + 1);
    assert_int_equal(series_queues(series), 2);
    assert_string_equal(series_queue_name(series, 1), "b");
    static const double submitted[] = {1, 2, 2, 2, 2}, started[] = {0, 1, 2, 2, 2}, ended[] = {0, 0, 1, 1, 2};
    for (uint32_t p = 0; p < 5; p++) {
        assert_true(series_of_class(series, JOB_INFERENCE, SUM_SUBMITTED)[p] == submitted[p]);
        assert_true(series_of_class(series, JOB_INFERENCE, SUM_STARTED)[p] == started[p]);
        assert_true(series_of_class(series, JOB_INFERENCE, SUM_ENDED)[p] == ended[p]);
        assert_true(series_of_class(series, JOB_INFERENCE, SUM_EVICTIONS)[p] == 2 * ended[p]);
        assert_true(series_of_class(series, JOB_INFERENCE, SUM_LOST_GPU_S)[p] == ended[p]);
        assert_true(series_of_queue(series, 0, SUM_GPU_S)[p] == (p < 2 ? 0 : 7200));
        assert_true(series_of_queue(series, 0, SUM_WAIT_S)[p] == (p < 1 ? 0 : 3600));
    }
    assert_null(series_of_class(series, JOB_TRAINING, SUM_STARTED));
    series_free(series);
}

/* A run of any length has a bounded number of points, the last one at its end. */
TEST(test_series_points_are_bounded)
{
    const time_ns hour = 3600 * TIME_NS_PER_S;
    static const struct {
        int64_t hours;
        uint32_t points;
    } cases[] = {{0, 1}, {1, 2}, {1999, 2000}, {2000, 1001}, {3998, 2000}, {3999, 1334}, {400000, 1992}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct series *series = series_new(cases[i].hours * hour);
        assert_int_equal(series_points(series), cases[i].points);
        assert_int_equal(series_time(series, series_points(series) - 1), cases[i].hours * hour);
        series_free(series);
    }
}
