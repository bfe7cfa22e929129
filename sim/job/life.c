#include "sim/job/life.h"

#include <stdint.h>

static const uint8_t next[LIFE_STATE_COUNT][LIFE_STEP_COUNT] = {
    [LIFE_NONE] = {[STEP_SUBMIT] = LIFE_PENDING},
    [LIFE_PENDING] = {[STEP_START] = LIFE_STARTING, [STEP_REJECT] = LIFE_GONE},
    [LIFE_STARTING] = {[STEP_PART] = LIFE_HOLDING,
                       [STEP_EFFECT] = LIFE_RUNNING,
                       [STEP_LEFT] = LIFE_PENDING,
                       [STEP_END] = LIFE_GONE,
                       [STEP_REFUSE] = LIFE_PENDING},
    [LIFE_HOLDING] =
        {[STEP_EFFECT] = LIFE_RUNNING, [STEP_EVICT] = LIFE_LEAVING, [STEP_LEFT] = LIFE_PENDING, [STEP_END] = LIFE_GONE},
    [LIFE_RUNNING] =
        {[STEP_SHORT] = LIFE_HOLDING, [STEP_EVICT] = LIFE_LEAVING, [STEP_LEFT] = LIFE_PENDING, [STEP_END] = LIFE_GONE},
    [LIFE_LEAVING] = {[STEP_LEFT] = LIFE_PENDING, [STEP_END] = LIFE_GONE, [STEP_REFUSE] = LIFE_RUNNING},
};

enum life_state life_next(enum life_state state, enum life_step step)
{
    return (enum life_state)next[state][step];
}
