/* studies/fabric/nccl_tests.h -- times of collectives, from the text that nccl-tests prints.
 *
 * Words.  A run is one call of all_reduce_perf, all_gather_perf, reduce_scatter_perf or alltoall_perf; a file may hold
 * several, and what the launcher and NCCL print between them.  A run has lines "#  Rank N ... on HOST device ...", a
 * line of columns "#  size  count ... time algbw busbw ...", and a row for each size.
 *
 * Law.  The time is that of the out-of-place columns, the first "time" of the line of columns.  Ranks and hosts are
 * those of the Rank lines, with as many ranks on each host.  The collective is what a line before the rows names, anew
 * for each run ("all_reduce_perf" in "# Collective test starting: ..." or in the command).  From 2 GB/s on algbw must
 * be size / time, and busbw / algbw the collective's ratio for so many ranks, so that rows under a wrong name are
 * refused.
 * "[1,0]<stdout>:" of mpirun and "0: " of srun --label are cut off.  A line that does not begin with a number or with
 * '#' is passed over; any other that is not understood is an error with its file and line, and what to do.
 *
 *   struct nccl_tests tests = {0};
 *   TRY(nccl_tests_read(&tests, "all_reduce.txt"));
 *   tests.rows[0].s
 *   nccl_tests_release(&tests);
 *
 * Source of the format: NVIDIA/nccl-tests src/common.cu, from 2.0 to 2.18.
 *
 * It does not: read in-place columns, JSON, or runs of other collectives; know which machines these were.
 */
#ifndef STUDIES_FABRIC_NCCL_TESTS_H
#define STUDIES_FABRIC_NCCL_TESTS_H

#include "base/error.h"
#include "topologies/collective.h"

struct nccl_row {
    enum collective_kind kind;
    uint32_t hosts, ranks; /* ranks: of all hosts; a multiple of hosts, above 1 */
    double bytes, s;       /* above 0 */
    const char *file;      /* borrowed */
    uint64_t line;
};

struct nccl_tests {
    struct nccl_row *rows; /* owned */
    size_t count, capacity;
};

/* Append the rows of a file; path: outlives the rows.  After an error the rows of the file may stand there in part. */
struct error nccl_tests_read(struct nccl_tests *tests, const char *path) MUST_CHECK;
void nccl_tests_release(struct nccl_tests *tests);

#endif
