/* tests/support/made_record.h -- record folders in the scratch folder (tests/support/scratch.h), and exports of them.
 *
 * made_fake is a fake run (tests/support/fake_run.h) whose queues have names that need care.
 *
 * made_hand is six jobs on a cluster of 2 nodes with 4 GPUs, which a reader can follow; times in seconds:
 *
 *   0  "gang"   queue red, user ann: 6 GPUs on both nodes, n0:0-3 and n1:0-1, from 1 to 11
 *   1  "share"  queue blue: half of GPU 2 of n1, from 2 to 9; and
 *   2  "share2" the same half again, from 3 to 8
 *   3  number 3, queue red: all of GPU 3 of n1 from 2, evicted at 4 with 1 s lost, again from 6 to 10
 *   4  "host"   queue blue: no GPU, on n1, from 5 to 7
 *   5  "huge"   rejected at 3
 *
 * Each empties the scratch folder first.  A failure fails the test.
 */
#ifndef TESTS_SUPPORT_MADE_RECORD_H
#define TESTS_SUPPORT_MADE_RECORD_H

#include "base/buffer.h"
#include "reports/export/export.h"

/* The path of the folder "fake" or "hand"; borrowed until the scratch folder goes. */
const char *made_fake(void);
const char *made_hand(void);

/* All of the record, to that name in the scratch folder; NULL: standard output. */
struct export_request made_request(const char *record, const char *out);

void made_export_as(const char *format, const struct export_request *request);

/* The export as a text; it is the file "export". */
struct buffer made_export(const char *format, const char *record);

#endif
