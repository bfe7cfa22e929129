/* workloads/readers/read_batsim.c: what its jobs become, and what is refused where. */
#include "tests/support/test.h"

#include "tests/support/trace_case.h"

static const struct workload_spec batsim = {.format = "batsim"};

TEST(jobs_take_their_time_from_profiles)
{
    struct trace_case read = trace_case_read("{\n"
                                             " 'nb_res': 8, 'date': 'today',\n"
                                             " 'jobs': [\n"
                                             "  {'id': 7, 'subtime': 3.25, 'walltime': 60, 'res': 4, "
                                             "'profile': 'long'},\n"
                                             "  {'id': 'w0!1', 'subtime': 5, 'walltime': -1, 'res': 1, "
                                             "'profile': 'short'},\n"
                                             "  {'id': 9, 'subtime': 5, 'res': 1, 'profile': 'short'}],\n"
                                             " 'profiles': {\n"
                                             "  'long': {'type': 'delay', 'delay': 45.5},\n"
                                             "  'short': {'type': 'delay', 'delay': 1, 'np': 1},\n"
                                             "  'unused': {'type': 'parallel'}}\n"
                                             "}\n",
                                             &(struct workload_spec){0}, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].trace_id, 7);
    assert_true(read.jobs[0].submit == 0);
    assert_true(read.jobs[0].limit == 60 * TIME_NS_PER_S);
    assert_int_equal(read.jobs[0].first.count, 4);
    assert_int_equal(read.jobs[0].first.request.gpus, 1);
    assert_true(read.truths[0].duration == 45500 * TIME_NS_PER_MS);
    assert_string_equal(read.jobs[1].name, "w0!1");
    assert_true(read.jobs[1].submit == 1750 * TIME_NS_PER_MS);
    assert_true(read.jobs[1].limit == TIME_NEVER);
    assert_true(read.jobs[2].limit == TIME_NEVER);
    assert_true(read.truths[2].duration == TIME_NS_PER_S);
    trace_case_release(&read);
}

/* The names of Batsim 5; jobs of other profiles are left out, and counted. */
TEST(profiles_that_are_no_delays_leave_their_jobs_out)
{
    struct trace_case read = trace_case_read(
        "{'nb_res': 4, 'jobs': [{'id': '1', 'subtime': 0, 'walltime': 100, 'res': 1, 'profile': 'd'},\n"
        " {'id': '2', 'subtime': 1, 'res': 2, 'profile': 'p'}, {'id': '3', 'subtime': 2, 'res': 4, 'profile': 's'},\n"
        " {'id': '4', 'subtime': 3, 'res': 4, 'profile': 'd'}],\n"
        " 'profiles': {'d': {'type': 'DelayProfile', 'delay': 20.2},\n"
        " 'p': {'type': 'ParallelTaskProfile', 'cpu': [1, 2], 'com': [0, 0, 0, 0]},\n"
        " 's': {'type': 'SequentialCompositionProfile', 'seq': ['d', 'p']}}}\n",
        &(struct workload_spec){0}, NULL);
    assert_int_equal(read.count, 2);
    assert_true(read.truths[0].duration == 20200 * TIME_NS_PER_MS);
    assert_string_equal(read.jobs[1].name, "4");
    assert_int_equal(read.facts.skipped.count, 2);
    trace_case_release(&read);
}

TEST(it_is_told_from_json_lines)
{
    struct trace_case read = trace_case_read("{'jobs': [{'id': 1, 'subtime': 0, 'res': 1, 'profile': 'x'}], "
                                             "'profiles': {'x': {'type': 'delay', 'delay': 2}}}\n",
                                             &(struct workload_spec){0}, NULL);
    assert_string_equal(read.facts.format, "batsim");
    trace_case_release(&read);
}

TEST(what_cannot_be_replayed_is_refused)
{
    trace_case_refused("{'jobs': [{'id': 1, 'subtime': 0, 'res': 1, 'profile': 'x'}],\n"
                       " 'profiles': {'x': {'type': 'parallel'}}}\n",
                       &batsim, NULL, 0, 0, "holds no jobs");
    trace_case_refused("{'jobs': [{'id': 1, 'subtime': 0, 'res': 1, 'profile': 'x'}],\n"
                       " 'profiles': {'x': {'delay': 1}}}\n",
                       &batsim, NULL, 2, 20, "'type' is missing");
    trace_case_refused("{'jobs': [{'id': 1, 'subtime': 0, 'res': 1, 'profile': 'y'}],\n"
                       " 'profiles': {}}\n",
                       &batsim, NULL, 1, 56, "there is no profile 'y'");
    trace_case_refused("{'jobs': [{'id': 1, 'subtime': -1, 'res': 1, 'profile': 'y'}],\n"
                       " 'profiles': {}}\n",
                       &batsim, NULL, 1, 32, "'subtime' must be");
    trace_case_refused("{'jobs': []}\n", &batsim, NULL, 1, 1, "'profiles' is missing");
    trace_case_refused("{'jobs': [], 'profiles': {}}\n", &batsim, NULL, 0, 0, "holds no jobs");
    trace_case_refused("{'jobs': [\n", &batsim, NULL, 1, 11, "the text ends");
}
