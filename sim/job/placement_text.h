/* sim/job/placement_text.h -- the places of pieces as one short text: "n[0-7]:0-7 n9:2@142".
 *
 * Nodes and the indices of their GPUs; runs of equal neighbours whose names count up are joined; '@' and milli-GPUs
 * follow a share. */
#ifndef SIM_JOB_PLACEMENT_TEXT_H
#define SIM_JOB_PLACEMENT_TEXT_H

#include "base/buffer.h"
#include "policies/sched.h"

/* Append the text; nothing for no pieces. */
void placement_text(struct buffer *out, const struct cluster *cluster, const struct piece *pieces, uint32_t count);

#endif
