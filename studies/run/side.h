/* studies/run/side.h -- one side of a comparison: a scenario that is run repeatedly, whole or up to a time.
 *
 *   struct side side;
 *   TRY(side_open(&side, &options));
 *   TRY(side_run(&side, &(struct side_run){.until = TIME_NEVER, .listener = &listener}));
 *   side_release(&side);
 *
 * Law: every run of a side is the same run, as far as it goes.
 */
#ifndef STUDIES_RUN_SIDE_H
#define STUDIES_RUN_SIDE_H

#include "sim/scenario/scenario.h"

struct side {
    struct scenario scenario;
    const struct queue_table *queues; /* of the run that goes on; NULL: none does */
};

struct side_run {
    time_ns until;                       /* the last instant; TIME_NEVER: as the scenario says */
    const struct port_outside *listener; /* NULL: none */
    const struct record_sink *sink;      /* NULL: none */
    const volatile sig_atomic_t *stop;   /* not NULL and not 0: the run ends now, without an error */
    void (*on_end)(void *self, struct sched *sched, time_ns now); /* as in struct engine_config */
    void *end_self;
};

/* On error nothing needs to be released. */
struct error side_open(struct side *side, const struct scenario_options *options) MUST_CHECK;
struct error side_run(struct side *side, const struct side_run *run) MUST_CHECK;
void side_release(struct side *side);

#endif
