/* tests/support/state_text.h -- what a scheduler knows, as text to compare: its description (policies/describe.h), what
 * it counts and the hash of its ledger. */
#ifndef TESTS_SUPPORT_STATE_TEXT_H
#define TESTS_SUPPORT_STATE_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "policies/sched.h"

struct buffer state_text(const struct sched *sched); /* the caller releases it */

static inline bool state_text_is_same(const struct buffer *a, const struct buffer *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

#endif
