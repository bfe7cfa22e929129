/* The table of a job's life: what is drawn in sim/job/life.h, and nothing else. */
#include "tests/support/test.h"

#include "sim/job/life.h"

struct legal {
    enum life_state from;
    enum life_step step;
    enum life_state to;
};

static const struct legal drawn[] = {
    {LIFE_NONE, STEP_SUBMIT, LIFE_PENDING},     {LIFE_PENDING, STEP_START, LIFE_STARTING},
    {LIFE_PENDING, STEP_REJECT, LIFE_GONE},     {LIFE_STARTING, STEP_EFFECT, LIFE_RUNNING},
    {LIFE_STARTING, STEP_PART, LIFE_HOLDING},   {LIFE_HOLDING, STEP_EFFECT, LIFE_RUNNING},
    {LIFE_HOLDING, STEP_EVICT, LIFE_LEAVING},   {LIFE_HOLDING, STEP_LEFT, LIFE_PENDING},
    {LIFE_HOLDING, STEP_END, LIFE_GONE},        {LIFE_RUNNING, STEP_SHORT, LIFE_HOLDING},
    {LIFE_STARTING, STEP_LEFT, LIFE_PENDING},   {LIFE_STARTING, STEP_END, LIFE_GONE},
    {LIFE_STARTING, STEP_REFUSE, LIFE_PENDING}, {LIFE_RUNNING, STEP_EVICT, LIFE_LEAVING},
    {LIFE_RUNNING, STEP_LEFT, LIFE_PENDING},    {LIFE_RUNNING, STEP_END, LIFE_GONE},
    {LIFE_LEAVING, STEP_LEFT, LIFE_PENDING},    {LIFE_LEAVING, STEP_END, LIFE_GONE},
    {LIFE_LEAVING, STEP_REFUSE, LIFE_RUNNING},
};

TEST(test_table)
{
    for (enum life_state from = LIFE_NONE; from < LIFE_STATE_COUNT; from++)
        for (enum life_step step = STEP_SUBMIT; step < LIFE_STEP_COUNT; step++) {
            enum life_state want = LIFE_NONE;
            for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
                if (drawn[i].from == from && drawn[i].step == step)
                    want = drawn[i].to;
            assert_int_equal(life_next(from, step), want);
        }
}
