#include "tests/support/activity_mean.h"

enum { MILLI = 1000, HOURS = 24 };

/* Part of the time in bursts or at work: an alternating renewal process spends mean / (sum of both means) in each of
 * its phases (D. R. Cox, Renewal Theory, 1962, chapter 7). */
static double active_share(const struct activity_plan *plan)
{
    const double active = distribution_mean(&plan->active, 0), quiet = distribution_mean(&plan->quiet, 0);
    return active / (active + quiet);
}

double activity_mean(const struct activity_plan *plan)
{
    double sum = 0;
    switch (plan->kind) {
    case ACTIVITY_BUSY:
        return plan->level.mean;
    case ACTIVITY_NOTEBOOK:
        return plan->abandoned > 0 ? 0 : plan->level.mean * active_share(plan);
    case ACTIVITY_TRAINING:
        return plan->level.mean * active_share(plan) + plan->stall_milli * (1 - active_share(plan)) / MILLI;
    case ACTIVITY_INFERENCE:
        break;
    }
    for (int h = 0; h < HOURS; h++)
        sum += plan->hour_milli[h];
    return sum / (HOURS * MILLI);
}

double activity_idle_mean(const struct activity_plan *plan)
{
    if (plan->kind == ACTIVITY_NOTEBOOK && plan->abandoned > 0)
        return 1;
    if (plan->kind == ACTIVITY_NOTEBOOK || (plan->kind == ACTIVITY_TRAINING && plan->stall_milli == 0))
        return 1 - active_share(plan);
    return 0;
}
