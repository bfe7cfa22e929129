/* tests/support/golden.h -- a text against the file that keeps what it was before, and is written anew with
 * WINDTUNNEL_GOLDEN_UPDATE=1 (make golden-update). */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "base/buffer.h"

/* Fails the test, printing the lines that are other than they were.  Takes the text. */
void golden_compare(const char *path, struct buffer *told);

#endif
