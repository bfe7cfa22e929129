#include "sim/engine/sharing_speed.h"

enum { MEMORY_SLICES = 8 };

/* From the nos table: 3.88 on 14 of 108 SMs and 1 of 8 slices; MPS and time-slicing fitted by least squares. */
const struct sharing_mix sharing_small_inference = {0.58, 0.27, 0.15};
const struct sharing_mix sharing_training = {0.05, 0.75, 0.20};
const struct sharing_mix sharing_interactive = {0.60, 0.25, 0.15};
const double sharing_busy_per_sm_active = 2;
/* From Lucid's pairs (Hu et al., ASPLOS 2023, simulation/data/colocate_info.csv): fitted by least squares, R2 0.40,
 * root mean square of the errors 0.097. */
static const double pair_speed = 0.985, pair_loss = 0.371, pair_busy_max = 2;
static const double mps_base = 0.535, switch_cost = 1.11;

static double at_least_one(double slow)
{
    return slow > 1 ? slow : 1;
}

double sharing_slow_mig(struct sharing_mix mix, double gpu_sms, double sms, double memory_slices)
{
    return at_least_one(mix.latency + mix.compute * gpu_sms / sms + mix.bandwidth * MEMORY_SLICES / memory_slices);
}

double sharing_slow_mps(double own, double used)
{
    return at_least_one((own + mps_base < 1 ? mps_base : 1 - own) + used);
}

double sharing_slow_timeslice(double used)
{
    return used <= 1 ? 1 : switch_cost * used;
}

double sharing_slow_bandwidth(double demand, double available)
{
    return at_least_one(demand / available);
}

double sharing_slow_pairs(double busy)
{
    const double measured = busy < pair_busy_max ? busy : pair_busy_max;
    const double slow = 1 / (pair_speed - (measured > 1 ? pair_loss * (measured - 1) : 0));
    return busy > pair_busy_max ? slow * busy / pair_busy_max : slow;
}
