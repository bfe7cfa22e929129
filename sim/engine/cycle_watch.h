/* sim/engine/cycle_watch.h -- what an engine calls around each cycle of the scheduler. */
#ifndef SIM_ENGINE_CYCLE_WATCH_H
#define SIM_ENGINE_CYCLE_WATCH_H

#include "base/error.h"

/* What is called around each cycle of the scheduler: plug-ins are watched so (sim/plugins/guard.h). */
struct cycle_watch {
    void (*begin)(void);
    struct error (*done)(void); /* the cycle is over: an error that a plug-in made ends the run */
};

#endif
