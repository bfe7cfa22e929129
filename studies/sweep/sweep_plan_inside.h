/* studies/sweep/sweep_plan_inside.h -- what the files of a plan share. */
#ifndef STUDIES_SWEEP_SWEEP_PLAN_INSIDE_H
#define STUDIES_SWEEP_SWEEP_PLAN_INSIDE_H

#include "studies/sweep/sweep_plan.h"

/* Find the runs with the same key: fills `first` of each run and distinct_count. */
void sweep_plan_index(struct sweep_plan *plan);

#endif
