/* tests/support/activity_mean.h -- what a plan of activity means over a long life, in closed form. */
#ifndef TESTS_SUPPORT_ACTIVITY_MEAN_H
#define TESTS_SUPPORT_ACTIVITY_MEAN_H

#include "workloads/activity/activity.h"

/* From 0 to 1: the mean level, and the part of the time at level 0.  A plan that
 * abandons notebooks has 0 and 1. */
double activity_mean(const struct activity_plan *plan);
double activity_idle_mean(const struct activity_plan *plan);

#endif
