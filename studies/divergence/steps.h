/* studies/divergence/steps.h -- a listener that cuts a run into units, to be compared with those of another run.
 *
 * A unit of facts is what the world told at one time between two cycles.  A unit of decisions is a cycle that decided
 * something; there may be several at one time.  The hash of a unit is that of its lines in the language of
 * policies/wire.h; ids of decisions are left out, since they count what was tried too.
 *
 *   struct steps steps;
 *   steps_begin(&steps, &side, &hooks);
 *   TRY(side_run(&side, &(struct side_run){.listener = &steps.listener, ...}));
 *   steps_end(&steps);
 *
 * It does not: keep anything.
 */
#ifndef STUDIES_DIVERGENCE_STEPS_H
#define STUDIES_DIVERGENCE_STEPS_H

#include "studies/divergence/trail.h"
#include "studies/run/side.h"

struct steps_hooks {
    void *self;
    /* A fact, with its newline.  NULL: not needed. */
    void (*on_fact_line)(void *self, struct text line);
    void (*on_facts)(void *self, const struct trail_unit *unit);
    void (*on_decisions)(void *self, const struct trail_unit *unit, const struct decision *decisions, size_t count);
};

struct steps {
    const struct side *side;
    struct steps_hooks hooks;
    struct port_outside listener;
    struct buffer line;
    struct trail_unit facts; /* the unit that goes on */
    bool has_facts;
    uint64_t fact_units; /* that are over */
    uint64_t decision_units;
    time_ns cycled_at; /* time of the last cycle; -1: none yet */
    bool was_empty;    /* it decided nothing */
};

/* steps: must not be moved.  side: borrowed, and with it the cluster and the queues of its run. */
void steps_begin(struct steps *steps, const struct side *side, const struct steps_hooks *hooks);
void steps_end(struct steps *steps); /* the last unit is over; frees */

/* The line of a decision, with its newline and this id.  Borrowed until the next line. */
struct text steps_decision_line(struct steps *steps, const struct decision *decision, decision_id id);

#endif
