/* sim/plugins/guard.c -- which plug-in runs now, and the first impossible answer; see sim/plugins/guard.h. */
#include "sim/plugins/guard_inside.h"

#include <assert.h>
#include <stdio.h>

static struct guard_slot slots[PLUGINS_MAX];
static const struct guard_frame *volatile innermost;
static volatile uint32_t ticks; /* CPU time in plug-ins and cycles since the last cycle ended */
static volatile bool is_in_cycle;
static char broken[512]; /* the first impossible answer; "": none */

struct guard_slot *guard_slot_at(uint32_t index)
{
    assert(index < PLUGINS_MAX);
    return &slots[index];
}

void guard_enter(struct guard_frame *frame, const struct guard_slot *slot, const char *doing)
{
    frame->slot = slot;
    frame->doing = doing;
    frame->outer = innermost;
    innermost = frame;
}

void guard_leave(const struct guard_frame *frame)
{
    innermost = frame->outer;
}

const struct guard_frame *guard_innermost(void)
{
    return innermost;
}

uint32_t guard_tick(void)
{
    if (innermost != NULL || is_in_cycle)
        ticks++;
    return ticks;
}

void guard_cycle_begin(void)
{
    is_in_cycle = true;
}

struct error guard_cycle_done(void)
{
    is_in_cycle = false;
    ticks = 0;
    if (broken[0] == '\0')
        return ERROR_OK;
    struct error error = error_new(ERROR_CONFIG, "%s", broken);
    broken[0] = '\0';
    return error;
}

void guard_blame(const struct guard_slot *slot, const char *what)
{
    if (broken[0] == '\0')
        snprintf(broken, sizeof broken, "%s %s", slot->label, what);
}
