/* sim/job/life.h -- the life of a job in the simulated world, as a table.
 *
 *              submit   start     part     effect   short    evict    left     end   refuse   reject/cancel
 *   NONE       PENDING
 *   PENDING             STARTING                                                              GONE
 *   STARTING                      HOLDING  RUNNING                    PENDING  GONE  PENDING
 *   HOLDING                                RUNNING           LEAVING  PENDING  GONE
 *   RUNNING                                         HOLDING  LEAVING  PENDING  GONE
 *   LEAVING                                                           PENDING  GONE  RUNNING
 *
 * HOLDING: it holds members, but some set has less than its minimum, so that it idles and waits.  Members that
 * come or go without a change between these change the state of nothing.
 *
 * Law: any other step is a bug of the simulator, found at once.
 */
#ifndef SIM_JOB_LIFE_H
#define SIM_JOB_LIFE_H

enum life_state {
    LIFE_NONE,
    LIFE_PENDING,
    LIFE_STARTING,
    LIFE_HOLDING,
    LIFE_RUNNING,
    LIFE_LEAVING,
    LIFE_GONE,
    LIFE_STATE_COUNT
};

enum life_step {
    STEP_SUBMIT,
    STEP_START,  /* the first START was decided */
    STEP_PART,   /* a START took effect, but with fewer members than must run together */
    STEP_EFFECT, /* a START took effect, and the job has its minimum now */
    STEP_SHORT,  /* members left that must run together with the others */
    STEP_EVICT,  /* an EVICT of all members was decided */
    STEP_LEFT,   /* the job has left its space and waits again */
    STEP_END,
    STEP_REFUSE, /* the world could not carry out the decision */
    STEP_REJECT, /* the job will never be started */
    LIFE_STEP_COUNT
};

/* The state after the step; LIFE_NONE if the step is not allowed in this state. */
enum life_state life_next(enum life_state state, enum life_step step);

#endif
