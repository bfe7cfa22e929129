/* sim/live/process.h -- another program decides: it gets facts and cycles as lines, and answers each cycle in lines.
 *
 * The lines are those of policies/wire.h; docs/decide.md is for authors of such programs.
 *
 * Laws
 *  - At the end the program is always killed, with its whole process group.
 *  - A decision reaches the world only if the referee (sim/referee/referee.h) accepted it.
 *  - A program that ends, hangs, writes no JSON or makes an invalid decision is ERROR_DATA that names the command.
 *
 *  - Recorded answers are read as a program's are, and tested in the same way; they hear no facts.
 *
 *   TRY(process_open(&process, &options));
 *   config.decider = process_decider(process);
 *   ... run ...
 *   process_close(&process);
 *
 * It does not: read the program's standard error.
 */
#ifndef SIM_LIVE_PROCESS_H
#define SIM_LIVE_PROCESS_H

#include <signal.h>

#include "sim/engine/port.h"

struct process; /* opaque */

struct process_options {
    const char *command; /* for the shell; borrowed until process_close, like the fields below */
    struct text answers; /* of such a program, which are read in its place; at NULL: `command` is started */
    int64_t timeout_ms;  /* real time allowed for a cycle; for the first cycle this includes its start */
    const struct cluster *cluster;
    struct queue_table *queues;          /* may grow */
    struct text policy;                  /* for the header: see wire_write_header */
    bool gangs_are_whole;                /* see referee_new */
    const struct policy_config *sharing; /* see referee_share; NULL: as asked */
    /* Not NULL and not 0: the world ends.  A cycle then ends with the decisions that came, and the program is killed
     * without time to leave. */
    const volatile sig_atomic_t *stop;
};

struct error process_open(struct process **out, const struct process_options *options) MUST_CHECK;

const struct port_outside *process_decider(const struct process *process); /* borrowed from the process */

/* Close its input, let it end, then kill it.  NULL is allowed. */
void process_close(struct process **process);

#endif
