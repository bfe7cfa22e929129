/* sim/engine/cycle_watch.h -- functions that an engine calls around each cycle of the scheduler. */
#ifndef SIM_ENGINE_CYCLE_WATCH_H
#define SIM_ENGINE_CYCLE_WATCH_H

#include "base/error.h"

/* Called around each cycle of the scheduler, to watch plug-ins (sim/plugins/guard.h). */
struct cycle_watch {
    void (*begin)(void);
    struct error (*done)(void); /* after the cycle; an error of a plug-in ends the run */
};

#endif
