/* tools/what_if.h -- `windtunnel plan --what-if`: the scenario as it is beside the scenario with some changes.
 *
 * It does not: seek anything; the comparison is that of `windtunnel compare` (studies/comparison/comparison.h).
 */
#ifndef TOOLS_WHAT_IF_H
#define TOOLS_WHAT_IF_H

#include <signal.h>

#include "tools/progress_line.h"
#include "tools/sizing_question.h"

/* Run both sides and append the answer: the service levels on both, then what moved.  *is_complete: nothing failed, and
 * no signal came. */
struct error what_if_run(const struct args *args, struct progress_line *progress, const volatile sig_atomic_t *stop,
                         struct buffer *out, bool *is_complete) MUST_CHECK;

#endif
