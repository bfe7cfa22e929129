/* tests/unit/test_sacct_times.c -- dates of sacct around changes of clocks, GPUs of exclusive jobs, and texts with the
 * separator. */
#include <unistd.h>

#include "tests/support/test.h"

#include "base/buffer.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

#define HEADER  "JobID|Submit|Start|End|State|ReqTRES\n"
#define ELAPSED "JobID|Submit|Start|End|State|Elapsed|ReqTRES\n"
#define GPU     "|COMPLETED|gres/gpu=1\n"

static struct arena arena;

static struct workload_spec spec_in(const char *zone)
{
    struct workload_spec spec = {.format = "sacct", .gpus_per_node = 8};
    struct error error = zone != NULL ? zone_of(&spec.zone, zone, &arena) : ERROR_OK;
    assert_false(error_is(error));
    return spec;
}

#define NIGHT(h) "2025-10-26T" h ":00"

/* The run time of the one job, and its wait. */
static void check(const char *text, const char *zone, time_ns wait, time_ns run_time)
{
    const struct workload_spec spec = spec_in(zone);
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 1);
    if (read.truths[0].duration != run_time || read.truths[0].recorded_wait != wait)
        fail_msg("%s in %s: waits %lld s, runs %lld s", text, zone != NULL ? zone : "no zone",
                 (long long)(read.truths[0].recorded_wait / TIME_NS_PER_S),
                 (long long)(read.truths[0].duration / TIME_NS_PER_S));
    trace_case_release(&read);
}

TEST(test_named_zones)
{
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
        skip();
    /* The order tells which hour is meant. */
    check(HEADER "1|" NIGHT("02:40") "|" NIGHT("02:50") "|" NIGHT("02:10") GPU, "Europe/Berlin", S(600), S(1200));
    check(HEADER "1|" NIGHT("02:55") "|" NIGHT("02:05") "|" NIGHT("02:45") GPU, "Europe/Berlin", S(600), S(2400));
    check(HEADER "1|" NIGHT("01:30") "|" NIGHT("01:30") "|" NIGHT("03:30") GPU, "Europe/Berlin", 0, S(3 * 3600));
    check(HEADER "1|2026-03-29T01:30:00|2026-03-29T01:30:00|2026-03-29T03:30:00" GPU, "Europe/Berlin", 0, S(3600));
    check(HEADER "1|" NIGHT("01:30") "|" NIGHT("01:30") "|" NIGHT("03:30") GPU, "2h", 0, S(2 * 3600));
    /* Elapsed tells it where the order does not. */
    check(ELAPSED "1|" NIGHT("01:00") "|" NIGHT("02:10") "|" NIGHT("02:20") "|COMPLETED|01:10:00|gres/gpu=1\n",
          "Europe/Berlin", S(4200), S(4200));
    check(ELAPSED "1|" NIGHT("01:00") "|" NIGHT("02:10") "|" NIGHT("02:20") "|COMPLETED|00:10:00|gres/gpu=1\n",
          "Europe/Berlin", S(4200), S(600));
    check(ELAPSED "1|" NIGHT("01:00") "|" NIGHT("02:10") "|" NIGHT("03:10") "|COMPLETED|1-00:10:00|gres/gpu=1\n",
          "Europe/Berlin", S(4200), S(7200)); /* it was suspended, say: the order alone */
}

TEST(test_guesses_are_counted)
{
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
        skip();
    const struct workload_spec spec = spec_in("Europe/Berlin");
    struct trace_case read = trace_case_read(HEADER "1|" NIGHT("01:00") "|" NIGHT("02:10") "|" NIGHT("02:20") GPU
                                             "2|" NIGHT("02:40") "|" NIGHT("02:50") "|" NIGHT("02:10") GPU
                                             "3|" NIGHT("03:40") "|" NIGHT("03:50") "|" NIGHT("04:10") GPU,
                                             &spec, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.facts.guessed_hours, 1);
    trace_case_release(&read);
}

TEST(test_a_zone_is_asked_for)
{
    static const char *const asked[] = {
        HEADER "1|" NIGHT("02:40") "|" NIGHT("02:50") "|" NIGHT("02:10") GPU,
        HEADER "1|" NIGHT("02:55") "|" NIGHT("02:05") "|" NIGHT("02:45") GPU,
        HEADER "1|" NIGHT("01:30") "|" NIGHT("01:30") "|" NIGHT("03:30") GPU,
        HEADER "1|2026-03-29T01:30:00|2026-03-29T01:30:00|2026-03-29T03:30:00" GPU,
        HEADER "1|2026-03-08T01:30:00|2026-03-08T01:30:00|2026-03-08T03:30:00" GPU, /* New York */
        ELAPSED "1|2026-09-27T01:30:00|2026-09-27T01:30:00|2026-09-27T03:30:00|COMPLETED|01:00:00|gres/gpu=1\n",
        /* suspended for 20 minutes, and perhaps over a change */
        ELAPSED "1|" NIGHT("01:30") "|" NIGHT("01:30") "|" NIGHT("03:30") "|COMPLETED|01:40:00|gres/gpu=1\n",
    };
    static const char *const not_asked[] = {
        HEADER "1|2026-05-03T01:30:00|2026-05-03T01:30:00|2026-05-03T03:30:00" GPU,
        HEADER "1|" NIGHT("04:30") "|" NIGHT("04:30") "|" NIGHT("06:30") GPU,
        HEADER "1|1761438600|1761438600|1761445800" GPU,
        ELAPSED "1|2025-10-25T20:30:00|2025-10-25T20:30:00|2025-10-26T20:30:00|COMPLETED|1-00:00:00|gres/gpu=1\n",
    };
    const struct workload_spec spec = spec_in(NULL);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        trace_case_refused(asked[i], &spec, NULL, 2, 0, "its zone is not known");
    for (size_t i = 0; i < sizeof not_asked / sizeof not_asked[0]; i++) {
        struct trace_case read = trace_case_read(not_asked[i], &spec, NULL);
        assert_int_equal(read.count, 1);
        trace_case_release(&read);
    }
}

TEST(test_impossible_times)
{
    const struct workload_spec utc = spec_in("0h");
    trace_case_refused(HEADER "1|200|100|300" GPU, &utc, NULL, 2, 3, "'Submit' must be no later than 'Start'");
    trace_case_refused(HEADER "1|100|200|150" GPU, &utc, NULL, 2, 11, "'End' must be no earlier than 'Start'");
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
        skip();
    const struct workload_spec berlin = spec_in("Europe/Berlin");
    trace_case_refused(HEADER "1|2026-03-29T01:30:00|2026-03-29T02:30:00|2026-03-29T03:30:00" GPU, &berlin, NULL, 2, 23,
                       "do not skip");
}

/* What an exclusive job was given is what it held. */
TEST(test_exclusive_jobs)
{
    const struct workload_spec spec = spec_in(NULL);
    struct trace_case read = trace_case_read(
        "JobID|Submit|Start|End|State|NNodes|ReqTRES|AllocTRES\n"
        "1|0|0|10|COMPLETED|1|cpu=1,mem=5G,node=1|cpu=36,gres/gpu:rtx2080ti=4,gres/gpu=4,mem=180G,node=1\n"
        "2|0|0|10|COMPLETED|1|cpu=4,gres/gpu=1,mem=5G,node=1|cpu=6,gres/gpu=1,mem=5G,node=1\n"
        "3|0|0|10|COMPLETED|1|cpu=1,gres/gpu=1,node=1|cpu=36,gres/gpu:rtx2080ti=4,gres/gpu=4,node=1\n"
        "4|0|0|10|COMPLETED|2|cpu=2,mem=10G,node=2|cpu=72,gres/gpu:a100=16,mem=360G,node=2\n"
        "5|0|0|10|COMPLETED|1|cpu=1,mem=5G,node=1|cpu=36,mem=180G,node=1\n",
        &spec, NULL);
    static const uint32_t gpus[] = {4, 1, 4, 16, 0}, cpus[] = {36, 4, 36, 72, 1};
    assert_int_equal(read.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(read.jobs[i].first.request.gpus * read.jobs[i].first.count, gpus[i]);
        assert_int_equal(read.jobs[i].first.request.cpu_milli * read.jobs[i].first.count, cpus[i] * 1000);
    }
    trace_case_release(&read);
}

TEST(test_texts_with_separators)
{
    const struct workload_spec spec = spec_in(NULL);
    struct trace_case read = trace_case_read("JobID|Submit|JobName|Comment|Start|End|State|ReqTRES\n"
                                             "1|0|a||b|c|5|10|COMPLETED|gres/gpu=2\n"
                                             "2|0|plain||5|10|COMPLETED|gres/gpu=3\n"
                                             "3|0||||||5|10|FAILED|gres/gpu=4\n",
                                             &spec, NULL);
    assert_int_equal(read.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read.jobs[i].first.request.gpus * read.jobs[i].first.count, 2 + i);
        assert_true(read.truths[i].recorded_wait == S(5) && read.truths[i].duration == S(5));
    }
    trace_case_release(&read);
    trace_case_refused("JobID|Submit|JobName|Start|End|Constraints|State|ReqTRES\n"
                       "1|0|a|b|5|10||COMPLETED|gres/gpu=2\n",
                       &spec, NULL, 2, 0, "'Start' stands between columns that may");
    trace_case_refused("JobID|Submit|JobName|Start|End|State|ReqTRES\n"
                       "1|0|a|5|10|COMPLETED\n",
                       &spec, NULL, 2, 0, "a row must have 7 fields");
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

TEST_GROUP(NULL, release)
