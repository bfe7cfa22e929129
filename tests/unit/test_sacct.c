
#include "tests/support/test.h"

#include "base/buffer.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

#define HEADER "JobID|User|Account|Submit|Eligible|Start|End|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES\n"
#define GPUS8  "billing=2,cpu=16,gres/gpu=8,mem=2000M,node=1"

static const struct workload_spec sacct = {.format = "sacct", .gpus_per_node = 8};

TEST(test_a_job)
{
    struct trace_case read =
        trace_case_read(HEADER "12|ann|lab|1000|1000|1030|1090|5|COMPLETED|2|"
                               "cpu=8,gres/gpu=16,gres/gpu:h100=16,mem=4G,node=2|cpu=8,gres/gpu=16,node=2\n"
                               "13|bob|lab|1001|1050|1060|1061|UNLIMITED|FAILED|1|cpu=2,mem=512K,node=1|cpu=2\n"
                               "14|bob||1002|1002|1002|1010|Partition_Limit|CANCELLED by 1000|1|"
                               "cpu=1K,gres/gpu:a100=1,gres/gpu:h100=2,node=1|cpu=1\n",
                        &sacct, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].trace_id, 12);
    assert_int_equal(read.jobs[0].first.count, 2);
    assert_int_equal(read.jobs[0].first.request.gpus, 8); /* the typed GPUs are the same ones */
    assert_int_equal(read.jobs[0].first.request.cpu_milli, 4000);
    assert_int_equal(read.jobs[0].first.request.memory_mib, 2048);
    assert_true(read.jobs[0].limit == S(300));
    assert_true(read.truths[0].duration == S(60) && read.truths[0].recorded_wait == S(30));
    assert_string_equal(trace_case_queue(&read, 0), "lab");
    assert_string_equal(trace_case_queue(&read, 1), "default");
    assert_int_equal(read.jobs[1].first.request.gpus, 3); /* typed ones are added up where no sum stands */
    assert_int_equal(read.jobs[1].first.request.cpu_milli, 1024000);
    assert_int_equal(read.truths[1].outcome, OUTCOME_CANCELLED);
    assert_true(read.jobs[1].limit == TIME_NEVER);
    /* it could start when it was eligible */
    assert_int_equal(read.jobs[2].trace_id, 13);
    assert_true(read.jobs[2].submit == S(50) && read.truths[2].recorded_wait == S(10));
    assert_int_equal(read.jobs[2].first.request.gpus, 0);
    assert_int_equal(read.jobs[2].first.request.memory_mib, 1);
    trace_case_release(&read);
}

/* With -D each attempt has a row; a requeue moves the submission, so the rows of other jobs stand between. */
TEST(test_attempts)
{
    struct trace_case read = trace_case_read(HEADER "1|u|a|100|100|110|150|5|REQUEUED|1|" GPUS8 "|" GPUS8 "\n"
                                                    "2|u|a|101|101|160|170|5|NODE_FAIL|1|" GPUS8 "|" GPUS8 "\n"
                                                    "3|u|a|102|102|160|165|5|PREEMPTED|1|" GPUS8 "|" GPUS8 "\n"
                                                    "4|u|a|103|103|160|165|5|REQUEUED|1|" GPUS8 "|" GPUS8 "\n"
                                                    "1|u|a|150|271|280|300|5|NODE_FAIL|1|" GPUS8 "|" GPUS8 "\n"
                                                    "2|u|a|170|291|291|391|5|COMPLETED|1|" GPUS8 "|" GPUS8 "\n"
                                                    "1|u|a|300|421|430|437|5|COMPLETED|1|" GPUS8 "|" GPUS8 "\n",
                                             &sacct, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].trace_id, 1);
    assert_true(read.jobs[0].submit == 0 && read.truths[0].recorded_wait == S(10) && read.truths[0].duration == S(7));
    assert_int_equal(read.truths[0].outcome, OUTCOME_COMPLETED);
    assert_int_equal(read.jobs[1].trace_id, 2);
    assert_true(read.jobs[1].submit == S(1) && read.truths[1].recorded_wait == S(59));
    assert_true(read.truths[1].duration == S(100));
    assert_int_equal(read.jobs[2].trace_id, 3); /* nothing follows: that was its end */
    assert_int_equal(read.truths[2].outcome, OUTCOME_FAILED);
    assert_int_equal(read.facts.skipped.count, 4); /* three earlier attempts, and job 4, which waits again */
    trace_case_release(&read);
}

TEST(test_rows_that_are_no_jobs)
{
    struct trace_case read = trace_case_read(HEADER "1|u|a|100|100|110|150|5|COMPLETED|1|" GPUS8 "|" GPUS8 "\n"
                                                    "1.batch||a|110|110|110|150||COMPLETED|1||cpu=1\n"
                                                    "1.0||a|110|110|110|150||COMPLETED|1||cpu=1\n"
                                                    "2|u|a|100|Unknown|None|120|5|CANCELLED by 0|1|" GPUS8 "|\n"
                                                    "3|u|a|100|100|120|Unknown|5|RUNNING|1|" GPUS8 "|" GPUS8 "\n"
                                                    "4|u|a|100|100|100|100|5|FAILED|1|" GPUS8 "|\n"
                                                    "5_[4-9%2]|u|a|100|100|Unknown|Unknown|5|PENDING|1|" GPUS8 "|\n",
                                             &sacct, NULL);
    assert_int_equal(read.count, 1);
    assert_int_equal(read.facts.skipped.count, 6);
    assert_string_equal(read.facts.skipped.reasons[0].why, "they are steps of jobs");
    assert_int_equal(read.facts.skipped.reasons[0].count, 2);
    trace_case_release(&read);
}

#define ROW(id)                                                                                                        \
    id "|u|a|2026-11-26T06:11:29|2026-11-26T06:11:29|2026-11-26T06:11:30|2026-11-26T06:11:31|5|COMPLETED|1|"           \
       "gres/gpu=1|gres/gpu=1\n"

TEST(test_arrays_and_dates)
{
    struct workload_spec spec = sacct;
    spec.zone = (struct zone){.is_given = true, .offset = S(3600)};
    struct trace_case read = trace_case_read(HEADER ROW("6_0") ROW("6_1") ROW("7+0") ROW("7+1"), &spec, NULL);
    assert_int_equal(read.count, 3);
    assert_true(read.facts.first_submit == S(1795673489 - 3600)); /* date -d 2026-11-26T06:11:29Z +%s, an hour east */
    assert_string_equal(read.jobs[0].name, "6_0");
    assert_true(read.jobs[0].array != 0 && read.jobs[0].array == read.jobs[1].array);
    assert_int_equal(read.jobs[2].array, 0);
    trace_case_release(&read);
}

#define PART(id, submit, start, end, limit, how, gpus)                                                                 \
    id "|u|a|" submit "|" submit "|" start "|" end "|" limit "|" how "|1|gres/gpu=" gpus "|gres/gpu=" gpus "\n"

/* Components that stand next to each other are groups of one job, which runs as long as the longest. */
TEST(test_heterogeneous)
{
    struct trace_case read = trace_case_read(HEADER PART("6", "99", "100", "110", "5", "COMPLETED", "1")
                                             /* submitted first, eligible last, started last, longest */
                                             "7+0|ann|lab|100|100|130|150|5|COMPLETED|2|cpu=8,gres/gpu=16|cpu=8\n"
                                             "7+0.batch||lab|130|130|130|150||COMPLETED|1||cpu=1\n"
                                             "7+1|bob|b|101|105|131|200|9|CANCELLED by 0|1|gres/gpu=2|cpu=1\n"
                                             "7+3|bob|b|101|101|130|140|1|COMPLETED|1|cpu=4,mem=4G|cpu=4\n"
                                             "7+4|bob|b|101|101|Unknown|140|1|CANCELLED by 0|1|gres/gpu=2|\n" PART(
                                                 "9+0", "106", "120", "130", "5", "COMPLETED", "1")
                                                 PART("9+1", "106", "120", "130", "UNLIMITED", "OUT_OF_MEMORY", "8")
                                                     PART("10", "107", "120", "130", "5", "COMPLETED", "1")
                                                         PART("11+0", "108", "120", "130", "5", "CANCELLED", "1")
                                                             PART("11+1", "108", "120", "130", "5", "COMPLETED", "1"),
                                             &sacct, NULL);
    assert_int_equal(read.count, 5);
    assert_int_equal(read.facts.skipped.count, 2); /* a step, and a component that never started */
    const struct job *job = &read.jobs[1];
    assert_int_equal(job->trace_id, 7);
    assert_null(job->name);
    assert_true(job->submit == S(6) && read.truths[1].recorded_wait == S(131 - 105));
    assert_true(read.truths[1].duration == S(69) && read.truths[1].outcome == OUTCOME_CANCELLED);
    assert_true(job->limit == S(540));
    assert_string_equal(trace_case_queue(&read, 1), "lab");
    assert_int_equal(job->group_count, 3);
    assert_true(job->first.count == 2 && job->first.request.gpus == 8 && job->first.request.cpu_milli == 4000);
    assert_int_equal(read.jobs[2].trace_id, 9);
    assert_true(read.truths[2].outcome == OUTCOME_FAILED && read.jobs[2].limit == TIME_NEVER);
    assert_int_equal(read.jobs[3].trace_id, 10); /* the row behind the components is read as ever */
    assert_int_equal(read.jobs[4].trace_id, 11); /* the file ends with components */
    assert_int_equal(read.truths[4].outcome, OUTCOME_CANCELLED);
    trace_case_release(&read);
}

/* What job_source_next lends ends with the next call, so groups are looked at while they are lent. */
TEST(test_groups)
{
    struct trace_case read = trace_case_read(HEADER PART("7+0", "100", "100", "110", "5", "COMPLETED", "1")
                                                 PART("7+1", "100", "100", "110", "5", "COMPLETED", "4")
                                                     PART("7+2", "100", "100", "110", "5", "COMPLETED", "4"),
                                             &sacct, NULL);
    assert_int_equal(read.count, 1);
    const struct job *job = &read.jobs[0];
    assert_int_equal(job->group_count, 3);
    assert_int_equal(job_gpu_milli(job), 9 * GPU_MILLI);
    for (uint32_t g = 0; g < 3; g++) {
        assert_int_equal(job_group(job, g)->request.gpus, g == 0 ? 1 : 4);
        assert_true(job_group(job, g)->count == 1 && job_group(job, g)->min_count == 1);
    }
    assert_int_equal(job->min_sets, 0); /* all must run */
    trace_case_release(&read);
}

/* A component far from the others is a job of its own, for nothing tells how many there are. */
TEST(test_components_apart)
{
    struct trace_case read = trace_case_read(HEADER PART("7+0", "100", "100", "110", "5", "COMPLETED", "1")
                                                 PART("8", "100", "100", "110", "5", "COMPLETED", "2")
                                                     PART("7+1", "100", "100", "110", "5", "COMPLETED", "3")
                                                         PART("7+2", "100", "100", "110", "5", "COMPLETED", "4"),
                                             &sacct, NULL);
    assert_int_equal(read.count, 3);
    assert_string_equal(read.jobs[0].name, "7+0");
    assert_int_equal(read.jobs[1].trace_id, 8);
    assert_string_equal(read.jobs[2].name, "7+1");
    assert_int_equal(read.jobs[2].group_count, 2);
    trace_case_release(&read);
}

/* A requeue is of the whole, and moves the submission of all components. */
TEST(test_heterogeneous_attempts)
{
    struct workload_spec spec = sacct;
    spec.attempts = ATTEMPTS_REPLAYED;
    struct trace_case read = trace_case_read(
        HEADER PART("7+0", "100", "110", "130", "5", "REQUEUED", "1")
            PART("7+1", "100", "110", "132", "5", "REQUEUED", "3") PART("8", "101", "110", "120", "5", "COMPLETED", "1")
                PART("9+0", "102", "110", "115", "5", "NODE_FAIL", "1")
                    PART("9+1", "102", "110", "116", "5", "COMPLETED", "2")
                        PART("7+0", "133", "140", "190", "5", "COMPLETED", "1")
                            PART("7+1", "133", "140", "180", "5", "COMPLETED", "3"),
        &spec, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].trace_id, 7);
    assert_int_equal(read.jobs[0].group_count, 2);
    assert_true(read.jobs[0].submit == 0 && read.truths[0].recorded_wait == S(10));
    assert_true(read.truths[0].duration == S(50) && read.truths[0].failures->count == 1);
    assert_true(read.truths[0].failures->work[0] == S(22));
    assert_int_equal(read.jobs[2].trace_id, 9); /* nothing follows: that was its end */
    assert_int_equal(read.jobs[2].group_count, 2);
    assert_true(read.truths[2].outcome == OUTCOME_FAILED && read.truths[2].duration == S(6));
    trace_case_release(&read);
}

TEST(test_bad_components)
{
    struct buffer text = {0};
    struct workload_spec spec = sacct;
    buffer_string(&text, HEADER);
    for (int i = 0; i <= JOB_GROUPS_MAX; i++)
        buffer_format(&text, "7+%d|u|a|100|100|110|120|5|COMPLETED|1|gres/gpu=1|cpu=1\n", i);
    trace_case_refused(buffer_c_string(&text), &sacct, NULL, JOB_GROUPS_MAX + 2, 1, "more than 64 components");
    spec.bad_lines_max = 1;
    struct trace_case read = trace_case_read(buffer_c_string(&text), &spec, NULL);
    assert_int_equal(read.count, 1);
    assert_int_equal(read.jobs[0].group_count, JOB_GROUPS_MAX);
    trace_case_release(&read);
    buffer_release(&text);
    /* the row behind them is told at its own place, and the whole is not lost with it */
    trace_case_refused(HEADER ROW("7+0") ROW("7+1") "8|u|a|100|100|110|109|5|COMPLETED|1|cpu=1|cpu=1\n", &sacct, NULL,
                       4, 19, "'End'");
    read = trace_case_read(HEADER ROW("7+0") "7+1|u|a|x\n" ROW("7+2") "8|u|a|100\n" ROW("9"),
                           &(struct workload_spec){.format = "sacct", .gpus_per_node = 8, .bad_lines_max = 2}, NULL);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.jobs[0].group_count, 2);
    trace_case_release(&read);
}

TEST(test_bad_rows)
{
    trace_case_refused(HEADER "1|u|a|yesterday|100|110|150|5|COMPLETED|1|cpu=1|cpu=1\n", &sacct, NULL, 2, 7,
                       "'Submit'");
    trace_case_refused(HEADER "1|u|a|100|100|110|109|5|COMPLETED|1|cpu=1|cpu=1\n", &sacct, NULL, 2, 19, "'End'");
    trace_case_refused(HEADER "1|u|a|100|100|110|150|x|COMPLETED|1|cpu=1|cpu=1\n", &sacct, NULL, 2, 23, "TimelimitRaw");
    trace_case_refused(HEADER "1|u|a|100|100|110|150|5|DONE|1|cpu=1|cpu=1\n", &sacct, NULL, 2, 25, "'State'");
    trace_case_refused(HEADER "1|u|a|100|100|110|150|5|COMPLETED|1|cpu|cpu=1\n", &sacct, NULL, 2, 37, "'ReqTRES'");
    trace_case_refused(HEADER "1|u|a|100|100|110|150|5|COMPLETED|1|gres/gpu=-1|cpu=1\n", &sacct, NULL, 2, 37,
                       "'ReqTRES'");
    trace_case_refused(HEADER "1|u|a|100|100|110|150|5|COMPLETED|1|cpu=1\n", &sacct, NULL, 2, 0, "12 fields");
    trace_case_refused("JobID|State|Start|End\n", &sacct, NULL, 1, 0, "Submit");
}

/* Made by Slurm 22.05 (tests/cli/sacct_slurm.sh); the numbers are those of its job completion plug-in. */
TEST(test_sample)
{
    const struct workload_spec spec = {.trace = "workloads/samples/sacct.txt", .gpus_per_node = 8};
    struct workload_facts facts = trace_real_read(&spec, NULL);
    assert_string_equal(facts.format, "sacct");
    assert_int_equal(facts.job_count, 20); /* three of them of two components, one of which was requeued */
    assert_int_equal(facts.skipped.count, 26);
}
