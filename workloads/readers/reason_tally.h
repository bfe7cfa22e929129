/* workloads/readers/reason_tally.h -- how many of something, by reason: rows of a trace that are no jobs, or what is
 * lost of jobs.
 *
 *   reason_tally_add(&tally, "they never started");
 */
#ifndef WORKLOADS_READERS_REASON_TALLY_H
#define WORKLOADS_READERS_REASON_TALLY_H

#include "base/buffer.h"

enum { REASONS_MAX = 48, REASON_BYTES = 96 };

struct reason_tally {
    uint64_t count;
    struct {
        char why[REASON_BYTES];
        uint64_t count;
    } reasons[REASONS_MAX]; /* in the order of the first of each; further reasons count in `count` alone */
    uint32_t reason_count;
}; /* {0} is empty; it owns nothing */

void reason_tally_add(struct reason_tally *tally, const char *why);

/* Add what another tally holds. */
void reason_tally_join(struct reason_tally *tally, const struct reason_tally *other);

/* Append a line per reason: `label`, the number and the reason.  Nothing if it is empty. */
void reason_tally_show(const struct reason_tally *tally, const char *label, struct buffer *out);

/* Append {"reason": count, ...}. */
void reason_tally_json(const struct reason_tally *tally, struct buffer *out);

#endif
