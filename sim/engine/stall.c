#include "sim/engine/stall.h"

/* Simulated time, or work, that counts as progress. */
#define MEANINGFUL_SPAN (60 * TIME_NS_PER_S)

bool stall_cycle(struct stall *stall, uint64_t progress, time_ns now, bool has_more)
{
    if (progress != stall->progress) {
        stall->progress = progress;
        stall->cycles = stall->evictions = 0;
        stall->kept = 0;
    }
    if (stall->cycles == 0 || (has_more && now - stall->since >= MEANINGFUL_SPAN)) {
        stall->cycles = 0;
        stall->since = now;
    }
    stall->cycles++;
    return stall->limit != 0 && (stall->cycles > stall->limit || stall->evictions > stall->limit);
}

void stall_eviction(struct stall *stall, time_ns kept)
{
    stall->evictions++;
    stall->kept += kept;
    if (stall->kept >= MEANINGFUL_SPAN) {
        stall->evictions = 0;
        stall->kept = 0;
    }
}
