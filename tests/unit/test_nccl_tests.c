/* tests/unit/test_nccl_tests.c -- what the reader of nccl-tests' text takes, and what it refuses and why. */
#include "tests/support/test.h"

#include "studies/fabric/nccl_tests.h"
#include "tests/support/scratch.h"

TEST_GROUP(scratch_make, scratch_remove)

#define COLUMNS                                                                                                        \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "   \
    "#wrong\n#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
#define NAME "# Collective test starting: all_reduce_perf\n"
#define HEAD "# nThread 1 nGpus 1 minBytes 8 maxBytes 1024\n# Using devices\n"
#define RANKS                                                                                                          \
    "#  Rank  0 Group  0 Pid 17 on a device  0 [0x1b] H100\n#  Rank  1 Group  0 Pid 18 on b device  0 [0x1b] H100\n"
#define ROW "  1000000  250000  float  sum  -1  100.0  10.00  10.00  0  200.0  5.00  5.00  0\n"

static struct nccl_tests read_text(const char *text)
{
    struct nccl_tests tests = {0};
    struct error error = nccl_tests_read(&tests, scratch_write("all.txt", text, strlen(text)));
    if (error_is(error)) {
        char *said = error_text_new(&error);
        fail_msg("%s", said);
    }
    return tests;
}

static void refused(const char *text, const char *place, const char *says)
{
    struct nccl_tests tests = {0};
    struct error error = nccl_tests_read(&tests, scratch_write("all.txt", text, strlen(text)));
    assert_true(error_is(error));
    char *said = error_text_new(&error);
    if (strstr(said, place) == NULL || strstr(said, says) == NULL)
        fail_msg("'%s' and '%s' are not in: %s", place, says, said);
    free(said);
    error_release(&error);
    nccl_tests_release(&tests);
}

/* The first "time" is out of place; microseconds become seconds; a size of 0 has no row. */
TEST(one_run)
{
    struct nccl_tests tests = read_text(NAME HEAD RANKS COLUMNS "0 0 float sum -1 9.0 0.00 0.00 0 9.0 0.00 0.00 0\n" ROW
                                                                "# Avg bus bandwidth : 7\n");
    assert_int_equal(tests.count, 1);
    assert_int_equal(tests.rows[0].kind, COLLECTIVE_ALL_REDUCE);
    assert_int_equal(tests.rows[0].hosts, 2);
    assert_int_equal(tests.rows[0].ranks, 2);
    assert_true(tests.rows[0].bytes == 1e6);
    assert_true(tests.rows[0].s == 100.0 / 1e6);
    assert_int_equal(tests.rows[0].line, 9);
    nccl_tests_release(&tests);
}

/* Runs of other collectives and other hosts, with what launchers print between and before; older texts have no group
 * and no line of the collective, but the command. */
TEST(several_runs)
{
    struct nccl_tests tests = read_text(
        NAME HEAD RANKS COLUMNS ROW
        "# Collective test concluded: all_reduce_perf\n\nnode-1: warning of a launcher\n10.0.0.7:123 up\n"
        "$ mpirun -np 4 ./alltoall_perf -b 1M\r\n"
        "[1,0]<stdout>:# nThread 1 nGpus 2\n"
        "[1,0]<stdout>:#   Rank  0 Pid 17 on a device  0 [0x1b] H100\n[1,0]<stdout>:#   Rank  1 Pid 17 on a device  1 "
        "H100\n"
        "[1,0]<stdout>:#   Rank  2 Pid 17 on a device  2 [0x1b] H100\n[1,0]<stdout>:#   Rank  3 Pid 17 on a device  3 "
        "H100\n"
        "[1,0]<stdout>:#  size  count  type  redop  root  time  algbw  busbw  error  time  algbw  busbw  error\n"
        "[1,0]<stdout>: 4000000 1000000 float none -1 1000 4.00 3.00 0e+00 900 4.44 3.33 N/A\n"
        "0: # Collective test starting: all_gather_perf\n0: # nThread 1\n"
        "0: #  Rank  0 Group 0 Pid 17 on a device  0 [0x1b] H100\n0: #  Rank  1 Group 0 Pid 1 on b device  1 H100\n"
        "0: #  size  count  type  redop  root  time  algbw  busbw  #wrong\n"
        "0: 4000000 1000000 float none -1 1000.5 4.00 2.00 0\n");
    assert_int_equal(tests.count, 3);
    assert_int_equal(tests.rows[1].kind, COLLECTIVE_ALL_TO_ALL);
    assert_int_equal(tests.rows[1].hosts, 1);
    assert_int_equal(tests.rows[1].ranks, 4);
    assert_true(tests.rows[1].s == 1000.0 / 1e6);
    assert_int_equal(tests.rows[2].kind, COLLECTIVE_ALL_GATHER);
    assert_int_equal(tests.rows[2].hosts, 2);
    assert_true(tests.rows[2].s == 1000.5 / 1e6);
    nccl_tests_release(&tests);
}

TEST(what_is_missing)
{
    refused("", "all.txt", "has no row of nccl-tests");
    refused(NAME HEAD RANKS COLUMNS, "all.txt", "has no row of nccl-tests");
    refused(NAME HEAD RANKS ROW, "all.txt:6", "before the line '#  size  count ...'");
    refused(NAME HEAD COLUMNS ROW, "all.txt:6", "'#  Rank ...' are missing");
    refused(HEAD RANKS COLUMNS ROW, "all.txt:7", "or leave the run out");
    refused("# Collective test starting: sendrecv_perf\n" HEAD RANKS COLUMNS ROW, "all.txt:8", "or leave the run out");
    /* The name of a run is not that of the next, also where a line says that the run ended. */
    refused(NAME HEAD RANKS COLUMNS ROW "# Collective test concluded: all_reduce_perf\n" HEAD RANKS COLUMNS ROW,
            "all.txt:16", "or leave the run out");
    refused(NAME HEAD "#  Rank  1 Group  0 Pid 17 on a device  0 H100\n", "all.txt:4:10", "a Rank line is missing");
    refused(NAME HEAD "#  Rank  0 Group  0 Pid 17\n", "all.txt:4",
            "this is no 'Rank N Group N Pid N on HOST device N'");
    refused(NAME HEAD RANKS "# size count type time\n", "all.txt:6", "no columns 'time algbw busbw'");
}

TEST(bad_rows)
{
    refused(NAME HEAD RANKS COLUMNS "1000000 250000 float\n", "all.txt:8",
            "3 columns where the line of columns has 13");
    refused(NAME HEAD RANKS COLUMNS "1000000 250000 float sum -1 0.00 9.00 9.00 0 0.00 0.00 0.00 0\n", "all.txt:8:29",
            "the time must be a number above 0");
    refused(NAME HEAD RANKS COLUMNS "1000000 250000 float sum -1 1OO 9.00 9.00 0 0.00 0.00 0.00 0\n", "all.txt:8:29",
            "the time must be a number above 0");
    refused(NAME HEAD RANKS COLUMNS "1000000 250000 float sum -1 100 10.00 1O.00 0 100 10.00 10.00 0\n", "all.txt:8",
            "algbw and busbw must be numbers");
    refused(NAME HEAD RANKS COLUMNS "1000000 250000 float sum -1 100 10.00 10.00 7 100 10.00 10.00 0\n", "all.txt:8:45",
            "7 values are wrong");
    refused(NAME HEAD RANKS COLUMNS "2000000 250000 float sum -1 100 10.00 10.00 0 100 10.00 10.00 0\n", "all.txt:8:33",
            "algbw is not size / time, 20 GB/s");
    /* Of two ranks an all-gather has half the bus bandwidth of an all-reduce. */
    refused(NAME HEAD RANKS COLUMNS "1000000 250000 float sum -1 100 10.00 5.00 0 100 10.00 5.00 0\n", "all.txt:8:39",
            "is this another collective?");
    refused(NAME HEAD "#  Rank 0 Group 0 Pid 17 on a device 0\n" COLUMNS ROW, "all.txt:7", "one rank sends nothing");
    refused(NAME HEAD RANKS "#  Rank 2 Group 0 Pid 17 on b device 1\n" COLUMNS ROW, "all.txt:9",
            "3 ranks do not spread evenly over 2 hosts");
}
