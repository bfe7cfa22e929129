/* studies/run/lengths.h -- what a policy that plans starts knows of how long jobs run, where that is not what the user
 * may expect.
 *
 * Law: a policy that plans starts with lengths that it does not have, or does not read, says so with the switch that
 * helps: `run` and `validate` print it.  Checked by tests/cli/lengths.sh.  The fault that it caught: `easy` on jobs
 * without limits was `fifo`, and perfect estimates changed nothing for jobs with limits, without a word.
 */
#ifndef STUDIES_RUN_LENGTHS_H
#define STUDIES_RUN_LENGTHS_H

#include "sim/scenario/scenario.h"

struct lengths_told { /* to the scheduler */
    uint64_t jobs, limits, estimates;
};

/* Append a sentence without an end; false: there is nothing to say. */
bool lengths_say(const struct scenario *scenario, const struct lengths_told *told, struct buffer *out);

#endif
