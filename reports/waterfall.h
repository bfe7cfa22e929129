/* reports/waterfall.h -- all GPU time, step by step down to the SMs that were busy.
 *
 * Law: the parts are at least 0 and add up to all GPU time in service, so to 100 % of it.  Each follows from integrals
 * of the timeline (sim/record/record.h), of any window:
 *
 *   unasked   free, beyond what waiting jobs asked for: cause `idle` less use `waited`
 *   waiting   free while jobs waited: use `waited`
 *   reserved  kept for jobs that do not run yet, held by incomplete gangs and by members that cannot work
 *   down      of nodes that are down
 *   cut       being repartitioned, or in no instance of a partitioned GPU
 *   start     held without work: pulls, loads, restarts, warm-ups, checkpoints
 *   unused    the rest of what jobs held that worked: SMs that the piece has and the program does not keep busy
 *   host      of closed programs: the time without a kernel, for host and input
 *   network   the time for which communication kept jobs from work, against the best place alone
 *   unknown   held by jobs that worked and whose SM activity the workload does not tell
 *   lost      SM activity of work that was thrown away
 *   active    SM activity of all other work; with `lost` it is the metric sm_active_ratio
 *
 * A client of a shared GPU may keep more SMs busy than its share (MPS, time-slices).  That is time that others were
 * granted and did not use, or that nobody held: it is taken from `unused`, and what is more than that from the parts
 * above it, the first one first.  What is lost in a window but was active before it is no part of the window.
 *
 *   double parts[FALL_COUNT];
 *   waterfall_of(spent_gpu_s, use_gpu_s, active_gpu_s, parts);
 */
#ifndef REPORTS_WATERFALL_H
#define REPORTS_WATERFALL_H

#include "sim/record/record.h"

enum waterfall_part {
    FALL_UNASKED,
    FALL_WAITING,
    FALL_RESERVED,
    FALL_DOWN,
    FALL_CUT,
    FALL_START,
    FALL_UNUSED,
    FALL_HOST,
    FALL_NETWORK,
    FALL_UNKNOWN,
    FALL_LOST,
    FALL_ACTIVE,
    FALL_COUNT
};

/* Of integrals over a window, in any unit of GPU time, which the parts have, too. */
void waterfall_of(const double spent[SPENT_COUNT], const double use[USE_COUNT], double active,
                  double parts[FALL_COUNT]);

#endif
