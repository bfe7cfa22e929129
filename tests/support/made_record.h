/* tests/support/made_record.h -- record folders for tests of what reads them.
 *
 * made_record_fake writes the rows of a fake run (tests/support/fake_run.h).
 *
 * made_record_hand writes five jobs on a cluster of 2 nodes with 4 GPUs, which a reader can follow; time in seconds:
 *
 *   0  "gang"   queue red, user ann: 6 GPUs on both nodes, n0:0-3 and n1:0-1, from 1 to 11
 *   1  "share"  queue blue: half of GPU 2 of n1, from 2 to 9; and
 *   2  "share2" the same half again, from 3 to 8
 *   3  number 3, queue red: all of GPU 3 of n1 from 2, evicted at 4 with 1 s lost, again from 6 to 10
 *   4  "host"   queue blue: no GPU, on n1, from 5 to 7
 *   5  "huge"   rejected at 3
 *
 * The folder must exist; a failure fails the test.
 */
#ifndef TESTS_SUPPORT_MADE_RECORD_H
#define TESTS_SUPPORT_MADE_RECORD_H

#include "tests/support/fake_run.h"

void made_record_fake(const char *folder, const struct fake_run *run);
void made_record_hand(const char *folder);

#endif
