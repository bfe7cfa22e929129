#include "sim/engine/stall.h"

void stall_eviction(struct stall *stall, time_ns kept)
{
    stall->evictions++;
    stall->kept += kept;
    if (stall->kept >= MEANINGFUL_SPAN) {
        stall->evictions = 0;
        stall->kept = 0;
    }
}
