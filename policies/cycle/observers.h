/* policies/cycle/observers.h -- the table of all observers (policies/state/observer.h).  Each scheduler keeps,
 * for each hook, a list of the observers that its policy needs. */
#ifndef POLICIES_CYCLE_OBSERVERS_H
#define POLICIES_CYCLE_OBSERVERS_H

#include "policies/state/observer.h"

struct observer_row {
    const struct observer *observer;
    const char *name;
    const char *after; /* names of rows that must stand above it, with blanks between; "": none */
};

extern const struct observer_row observer_rows[];
extern const uint32_t observer_row_count;

/* Call init of each row, and list the active observers by hook. */
void observers_init(struct sched *sched);
void observers_release(struct sched *sched);

#endif
